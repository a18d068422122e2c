//! Entries of vectors on the devices of ranks, gathered as a list on each of them.

use super::halo::VectorLayout;
use super::{Backend, Buffer, Element};
use std::sync::{Mutex, PoisonError};

/// A list of which each rank has some entries.
#[cfg_attr(not(feature = "device"), allow(dead_code))]
pub(super) struct DeviceGather {
    backend: Backend,
    rank: usize,
    /// Places in a vector of the entries of this rank.
    own: Buffer<u32>,
    /// Of each entry of the list its number among those of all ranks, by rank.
    sources: Buffer<u32>,
    /// First entry of each rank among those of all, then their number.
    starts: Vec<usize>,
    /// Own entries among zeros, and those of all ranks; by the words of an entry.
    messages: Mutex<Vec<(usize, [Buffer<u32>; 2])>>,
}

impl DeviceGather {
    /// None on the host. `[own, sources]` as above.
    pub(super) fn new(
        backend: &Backend,
        rank: usize,
        lists: [Vec<u32>; 2],
        starts: &[usize],
    ) -> Option<DeviceGather> {
        backend.device()?;
        let [own, sources] = lists.map(|list| backend.upload(list));
        let (backend, starts) = (backend.clone(), starts.to_vec());
        Some(DeviceGather { backend, rank, own, sources, starts, messages: Mutex::default() })
    }

    /// `all` ← the entries of all ranks, of which this rank has those in `from`. A failure of a rank ends the group, and reads of
    /// buffers return it.
    ///
    /// Traffic: twice what this rank gives, and three times what all give.
    pub(super) fn gather<T: Element>(&self, from: &Buffer<T>, all: &mut Buffer<T>) {
        let DeviceGather { backend, own, sources, starts, messages, .. } = self;
        let Some(device) = backend.device().filter(|_| !sources.is_empty()) else { return };
        let words = size_of::<T>() / size_of::<u32>();
        let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
        let place = messages.iter().position(|(of, _)| *of == words).unwrap_or_else(|| {
            let zeros = || backend.zeros(words * sources.len());
            messages.push((words, [zeros(), zeros()]));
            messages.len() - 1
        });
        let (_, [given, gathered]) = &mut messages[place];
        let layout = |stride: usize| VectorLayout { stride, components: 1, words };
        device.pack(layout(from.len()), from, own, given, starts[self.rank]);
        let starts: Vec<usize> = starts.iter().map(|start| words * start).collect();
        let gathered = match backend.ranks() {
            None => given,
            Some(_) => {
                backend.gather_on_devices(given, gathered, 1, &starts);
                gathered
            }
        };
        device.unpack(layout(all.len()), gathered, sources, all, 0);
    }
}
