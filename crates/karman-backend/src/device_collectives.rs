//! Collectives of the runtime of devices.

use super::device_exchange::Exchanged;
use super::group::Group;
use super::{BackendError, Buffer, Device, Element};
use cubecl::ir::{ElemType, UIntKind};
use cubecl::server::ReduceOperation;

impl Device {
    /// Connects the devices of the ranks, where each rank of this process has one. All ranks call it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    #[cfg(feature = "cuda")]
    pub(super) fn connect(&mut self, group: &dyn Group) -> Result<(), BackendError> {
        if self.has_graphs() && !self.of_ranks.is_empty() {
            let own = self.of_ranks[group.rank()];
            self.peers = super::peer_exchange::PeerExchange::new(own, group)?;
        }
        Ok(())
    }

    /// Nothing: no runtime of this build has memory that several devices see.
    #[cfg(not(feature = "cuda"))]
    pub(super) fn connect(&mut self, _: &dyn Group) -> Result<(), BackendError> {
        Ok(())
    }

    /// Exchanges where the devices of the ranks see each other's memory, else false. All ranks call it.
    #[cfg(feature = "cuda")]
    pub(super) fn exchange(&self, parts: &[Exchanged<'_>]) -> bool {
        let Some(peers) = &self.peers else { return false };
        peers.exchange(self, parts);
        true
    }

    /// False: no runtime of this build has memory that several devices see.
    #[cfg(not(feature = "cuda"))]
    pub(super) fn exchange(&self, _: &[Exchanged<'_>]) -> bool {
        false
    }

    /// Whether the devices of the ranks see each other's memory.
    pub(super) fn has_peers(&self) -> bool {
        #[cfg(feature = "cuda")]
        let has_peers = self.peers.is_some();
        #[cfg(not(feature = "cuda"))]
        let has_peers = false;
        has_peers
    }

    /// Whether numbers go from device to device, which can be recorded.
    pub(super) fn exchanges_by_itself(&self) -> bool {
        self.has_peers() || self.has_collectives()
    }

    /// Whether the runtime copies data to the devices of the other ranks.
    pub(super) fn has_collectives(&self) -> bool {
        !self.of_ranks.is_empty() && self.client().has_device_transport()
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
        let devices = self.of_ranks.clone();
        client.all_reduce(part(own), part(sums), words, devices, ReduceOperation::Sum);
        client.sync_collective();
    }
}
