//! Collectives of the runtime of devices.

use super::{Buffer, Device, Element};
use cubecl::device::DeviceId;
use cubecl::ir::{ElemType, UIntKind};
use cubecl::server::ReduceOperation;

impl Device {
    /// Joins the devices of the ranks of this process, one each, where the runtime copies data between them.
    pub(super) fn join(&mut self, devices: Vec<DeviceId>) {
        if self.client().has_device_transport() {
            self.collective = devices;
        }
    }

    /// Whether the runtime copies data to the devices of the other ranks.
    pub(super) fn has_collectives(&self) -> bool {
        !self.collective.is_empty()
    }

    /// The first `count` elements of `sums` ← Σ over ranks of those of `own`, as unsigned words.
    pub(super) fn sum_words<T: Element>(
        &self,
        own: &Buffer<T>,
        sums: &mut Buffer<T>,
        count: usize,
    ) {
        let unused = ((own.len() - count) * size_of::<T>()) as u64;
        let part = |buffer: &Buffer<T>| buffer.device_handle().clone().offset_end(unused);
        let mut client = self.client().clone();
        let words = ElemType::UInt(UIntKind::U32);
        let devices = self.collective.clone();
        client.all_reduce(part(own), part(sums), words, devices, ReduceOperation::Sum);
        client.sync_collective();
    }
}
