//! Flows against exact solutions, conservation, and host against device.

mod backends;
mod conservation;
mod exact;
mod forms;
mod manufactured;
mod node_limiter;
mod outputs;
mod steady;
mod walls;
