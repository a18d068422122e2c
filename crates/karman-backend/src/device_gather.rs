//! Entries of vectors on the devices of ranks, which each of them gathers: as a list, or as the ghosts of a vector.

use super::device::Handle;
use super::device_exchange::{Entries, Exchanged, Side};
use super::halo::VectorLayout;
use super::{Backend, Buffer, Device, Element, Partials};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Own entries among zeros, and those of all ranks; by the words of an entry.
type Messages = Vec<(usize, [Buffer<u32>; 2])>;

/// Entries that ranks give, and those that this rank takes.
#[cfg_attr(not(feature = "device"), allow(dead_code))]
pub(super) struct DeviceGather {
    backend: Backend,
    rank: usize,
    /// Places in a vector of the entries of this rank.
    own: Buffer<u32>,
    /// Of each entry that this rank takes its number among those of all ranks, by rank.
    sources: Buffer<u32>,
    /// First entry of each rank among those of all, then their number.
    starts: Vec<usize>,
    messages: Mutex<Messages>,
}

/// The entries that all ranks have given.
#[cfg_attr(not(feature = "device"), allow(dead_code))]
struct Arrived<'a> {
    device: &'a Device,
    sources: &'a Buffer<u32>,
    messages: MutexGuard<'a, Messages>,
    place: usize,
    /// Which of the two buffers has them.
    side: usize,
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

    /// The device.
    pub(super) fn device(&self) -> Option<&Device> {
        self.backend.device()
    }

    /// `all` ← the entries of all ranks, of which this rank has those in `from`. A failure of a rank ends the group, and reads of
    /// buffers return it.
    ///
    /// Traffic: twice what this rank gives, and three times what all give.
    pub(super) fn gather<T: Element>(&self, from: &Buffer<T>, all: &mut Buffer<T>) {
        let layout = |stride: usize| VectorLayout::of::<T>(stride, 1);
        let given = (layout(from.len()), from.device_handle());
        let taken = (layout(all.len()), all.device_handle());
        if self.exchange(&[self.part(given, taken, 0)]) {
            return;
        }
        if let Some(arrived) = self.give(layout(from.len()), from) {
            arrived.take(layout(all.len()), all, 0);
        }
    }

    /// The entries from `first` on of each of some vectors ← those that this rank takes. Failures and traffic as of
    /// [`DeviceGather::gather`].
    pub(super) fn fill<T: Element>(
        &self,
        vectors: &mut [&mut Buffer<T>],
        stride: usize,
        first: usize,
    ) {
        let layout = |vector: &Buffer<T>| VectorLayout::of_vector(vector, stride);
        let parts: Vec<Exchanged<'_>> =
            vectors.iter().map(|vector| self.ghosts(layout(vector), vector, first)).collect();
        if self.exchange(&parts) {
            return;
        }
        for vector in vectors {
            let layout = layout(vector);
            if let Some(arrived) = self.give(layout, vector) {
                arrived.take(layout, vector, first);
            }
        }
    }

    /// As [`DeviceGather::fill`] of a vector, together with the blocks of a reduction that has not been gathered. For devices that
    /// see each other's memory.
    pub(super) fn fill_with_blocks<T: Element>(
        &self,
        vector: &mut Buffer<T>,
        stride: usize,
        first: usize,
        partials: &mut Partials,
    ) {
        let layout = VectorLayout::of_vector(vector, stride);
        let ghosts = self.ghosts(layout, vector, first);
        let blocks = partials.blocks_to_gather(self.rank);
        self.exchange(&blocks.into_iter().chain([ghosts]).collect::<Vec<_>>());
    }

    /// Whether devices exchange that see each other's memory.
    pub(super) fn has_peers(&self) -> bool {
        self.backend.ranks().is_some() && self.device().is_some_and(Device::has_peers)
    }

    /// Has devices exchange that see each other's memory; false where there are none.
    fn exchange(&self, parts: &[Exchanged<'_>]) -> bool {
        self.has_peers() && self.device().is_some_and(|device| device.exchange(parts))
    }

    fn ghosts<'a, T: Element>(
        &'a self,
        layout: VectorLayout,
        vector: &'a Buffer<T>,
        first: usize,
    ) -> Exchanged<'a> {
        let vector = vector.device_handle();
        self.part((layout, vector), (layout, vector), first)
    }

    /// The own entries of one vector, and those that this rank takes from entry `first` of another on.
    fn part<'a>(
        &'a self,
        from: (VectorLayout, &'a Handle),
        to: (VectorLayout, &'a Handle),
        first: usize,
    ) -> Exchanged<'a> {
        let DeviceGather { own, sources, starts, .. } = self;
        let given = Entries::Listed { list: own, first: 0 };
        let taken = Entries::Listed { list: sources, first };
        Exchanged {
            given: Side { entries: given, layout: from.0, vector: from.1 },
            taken: Side { entries: taken, layout: to.0, vector: to.1 },
            starts,
        }
    }

    /// Gives the own entries of a vector; none where no rank gives any.
    fn give<T: Element>(&self, layout: VectorLayout, from: &Buffer<T>) -> Option<Arrived<'_>> {
        let DeviceGather { backend, own, sources, starts, messages, .. } = self;
        let (device, total) = (backend.device()?, *starts.last()?);
        if total == 0 {
            return None;
        }
        let each = layout.words * layout.components;
        let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
        let place = messages.iter().position(|(of, _)| *of == each).unwrap_or_else(|| {
            let zeros = || backend.zeros(each * total);
            messages.push((each, [zeros(), zeros()]));
            messages.len() - 1
        });
        let (_, [given, gathered]) = &mut messages[place];
        device.pack(layout, from, own, given, starts[self.rank]);
        // A rank by itself has given all entries.
        let side = usize::from(backend.ranks().is_some());
        if side == 1 {
            let starts: Vec<usize> = starts.iter().map(|start| each * start).collect();
            backend.gather_on_devices(given, gathered, 1, &starts);
        }
        Some(Arrived { device, sources, messages, place, side })
    }
}

impl Arrived<'_> {
    /// Writes the entries that this rank takes from entry `first` of a vector on.
    fn take<T: Element>(self, layout: VectorLayout, vector: &mut Buffer<T>, first: usize) {
        let (_, buffers) = &self.messages[self.place];
        self.device.unpack(layout, &buffers[self.side], self.sources, vector, first);
    }
}
