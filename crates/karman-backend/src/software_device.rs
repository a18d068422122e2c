//! Calls of a device that is the processor.

use cubecl::device::WgpuDeviceKind;
use cubecl::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls ahead of the thread of the device. CubeCL's queue holds 32; a caller that finds it full spins for up to 30 ms on a processor
/// that the device needs.
const AHEAD: usize = 16;

/// The number of calls of a software device.
pub(super) struct Calls(AtomicUsize);

impl Calls {
    /// None of a device that is not the processor.
    pub(super) fn of(device: &cubecl::Device) -> Option<Calls> {
        let is_software =
            matches!(device, cubecl::Device::Wgpu(device) if device.kind == WgpuDeviceKind::Cpu);
        is_software.then(|| Calls(AtomicUsize::new(0)))
    }

    /// Waits before each call number [`AHEAD`] until the device has taken those before it.
    pub(super) fn begin(&self, client: &Client) {
        if self.0.fetch_add(1, Ordering::Relaxed).is_multiple_of(AHEAD) {
            // Where the device has failed, the call that follows tells.
            let _ = client.exclusive(|| ());
        }
    }
}
