//! Flows against exact solutions, conservation, and host against device.

mod exact;
mod outputs;
mod vortex;
