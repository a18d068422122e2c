//! Ghosts: copies of entries that other ranks own, behind the own entries of a vector.
//!
//! The ranks own consecutive ranges of the entries of a vector of the whole problem. A rank stores its own entries, then its ghosts
//! in ascending global number, so that the ghosts of one owner are consecutive. Builds with debug assertions set ghosts to
//! NaN until they are fetched: a missing first exchange shows in the result.

use super::buffer::ELSEWHERE;
use super::device_gather::DeviceGather;
use super::group::{Group, bytes_of, bytes_of_mut, gather_lists};
use super::{Backend, BackendError, Buffer, Element, HOST_CHUNK, Partials};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The entries that a rank exchanges with its neighbours.
pub struct Halo {
    group: Arc<dyn Group>,
    /// First own entry in global numbers.
    first: usize,
    owned: usize,
    /// Global numbers of the ghosts, ascending.
    ghosts: Vec<u32>,
    /// Entries of all ranks.
    total: usize,
    neighbours: Vec<Neighbour>,
    /// Of vectors on a device: the messages of all ranks follow each other, first by sender, then by receiver.
    on_device: Option<DeviceGather>,
}

/// The layout of a vector with ghosts.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "device"), allow(dead_code))]
pub(super) struct VectorLayout {
    pub stride: usize,
    pub components: usize,
    /// Words of an element.
    pub words: usize,
}

impl VectorLayout {
    /// Of a vector `[components][stride]` of such elements.
    pub(super) fn of<T: Element>(stride: usize, components: usize) -> VectorLayout {
        VectorLayout { stride, components, words: size_of::<T>() / size_of::<u32>() }
    }

    /// Of a vector with such a stride, of one component where it has no entries.
    pub(super) fn of_vector<T: Element>(vector: &Buffer<T>, stride: usize) -> VectorLayout {
        Self::of::<T>(stride, vector.len().checked_div(stride).unwrap_or(1))
    }
}

/// The exchange with one other rank.
struct Neighbour {
    rank: usize,
    /// Own entries that it needs.
    send: Vec<u32>,
    /// Places of the ghosts that it owns.
    receive: Range<usize>,
}

impl std::fmt::Debug for Halo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Halo({} entries, {} ghosts)", self.owned, self.ghosts.len())
    }
}

impl Halo {
    /// The halo of the ghosts with these global numbers, ascending; `starts`, `[ranks + 1]`, has the first entry of
    /// each rank. All ranks call it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    pub fn new(
        group: Arc<dyn Group>,
        starts: &[usize],
        ghosts: Vec<u32>,
    ) -> Result<Halo, BackendError> {
        let own = starts[group.rank()]..starts[group.rank() + 1];
        let (needed, of_ranks) = gather_lists(&*group, &ghosts)?;
        let is_own = |number: &u32| own.contains(&(*number as usize));
        let mut neighbours = vec![];
        for rank in (0..group.size()).filter(|rank| *rank != group.rank()) {
            let needed = needed[of_ranks[rank]..of_ranks[rank + 1]].iter().copied();
            let send: Vec<u32> =
                needed.filter(is_own).map(|number| number - own.start as u32).collect();
            let place = |bound: usize| ghosts.partition_point(|ghost| (*ghost as usize) < bound);
            let receive = own.len() + place(starts[rank])..own.len() + place(starts[rank + 1]);
            if !send.is_empty() || !receive.is_empty() {
                neighbours.push(Neighbour { rank, send, receive });
            }
        }
        let total = starts[group.size()];
        let (first, owned) = (own.start, own.len());
        Ok(Halo { group, first, owned, ghosts, total, neighbours, on_device: None })
    }

    /// This halo for vectors of `backend`, which is the host or a device. All ranks call it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    pub fn on(mut self, backend: &Backend) -> Result<Halo, BackendError> {
        if backend.device().is_none() {
            return Ok(self);
        }
        let (rank, size) = (self.group.rank(), self.group.size());
        let mut counts = vec![0u32; size];
        for neighbour in &self.neighbours {
            counts[neighbour.rank] = neighbour.send.len() as u32;
        }
        let (counts, _) = gather_lists(&*self.group, &counts)?;
        // The first entry of the message from rank a to rank b.
        let begin = |a: usize, b: usize| -> u32 { counts[..a * size + b].iter().sum() };
        let mut sources = vec![];
        for neighbour in &self.neighbours {
            let first = begin(neighbour.rank, rank);
            sources.extend(first..first + neighbour.receive.len() as u32);
        }
        let sent = self.neighbours.iter().flat_map(|neighbour| &neighbour.send);
        let starts: Vec<usize> = (0..=size).map(|rank| begin(rank, 0) as usize).collect();
        let lists = [sent.copied().collect(), sources];
        self.on_device = DeviceGather::new(backend, rank, lists, &starts);
        Ok(self)
    }

    /// Number of own entries.
    pub fn owned(&self) -> usize {
        self.owned
    }

    /// Number of ghosts.
    pub fn ghosts(&self) -> usize {
        self.ghosts.len()
    }

    /// Number of entries of all ranks.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Global number of the first own entry.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Global number of a local entry.
    #[inline]
    pub fn global(&self, local: usize) -> usize {
        if local < self.owned {
            self.first + local
        } else {
            self.ghosts[local - self.owned] as usize
        }
    }

    /// Global numbers of the ghosts, ascending.
    pub fn ghost_numbers(&self) -> &[u32] {
        &self.ghosts
    }

    /// Places of the ghosts in a vector.
    pub fn ghost_entries(&self) -> std::ops::Range<u32> {
        self.owned as u32..(self.owned + self.ghosts.len()) as u32
    }

    /// Local number of an entry; none where it is neither own nor a ghost.
    #[inline]
    pub fn local(&self, global: usize) -> Option<usize> {
        if (self.first..self.first + self.owned).contains(&global) {
            return Some(global - self.first);
        }
        let ghost = self.ghosts.binary_search(&(global as u32));
        ghost.ok().map(|place| self.owned + place)
    }

    /// A vector of zeros with room for ghosts, which are not yet known.
    pub fn zeros<T: Element>(&self, backend: &Backend, components: usize) -> Buffer<T> {
        let mut vector = backend.zeros(components * (self.owned + self.ghosts.len()));
        self.invalidate(&mut vector, components);
        vector
    }

    /// A vector of own values with room for ghosts, which are not yet known.
    pub fn vector<T: Element>(&self, backend: &Backend, own: &[T]) -> Buffer<T> {
        let mut values = own.to_vec();
        values.resize(self.owned + self.ghosts.len(), T::default());
        let mut vector = backend.upload(values);
        self.invalidate(&mut vector, 1);
        vector
    }

    /// Marks ghosts as out of date in builds with debug assertions: they become NaN.
    pub fn invalidate<T: Element>(&self, vector: &mut Buffer<T>, components: usize) {
        if cfg!(debug_assertions)
            && let Some(values) = vector.as_host_mut()
        {
            let stride = values.len() / components.max(1);
            for component in values.chunks_mut(stride.max(1)) {
                component[self.owned..].fill(T::POISON);
            }
        }
    }

    /// Fetches the ghosts of a vector from their owners: `[components][owned + ghosts]`. A failure of a rank ends the group,
    /// and reads of buffers return it.
    pub fn fill<T: Element>(&self, vector: &mut Buffer<T>, components: usize) {
        let stride = self.owned + self.ghosts.len();
        assert_eq!(vector.len(), components * stride, "a vector with room for its ghosts");
        self.fill_all(&mut [vector]);
    }

    /// Fetches the ghosts of vectors, `[components][owned + ghosts]` each, with one message to each neighbour.
    pub fn fill_all<T: Element>(&self, vectors: &mut [&mut Buffer<T>]) {
        let stride = self.owned + self.ghosts.len();
        let mut columns: Vec<&mut [T]> = vec![];
        for vector in vectors.iter_mut() {
            self.invalidate(vector, vector.len() / stride.max(1));
        }
        if vectors.iter().any(|vector| !vector.is_on_host()) {
            let Some(of_device) = &self.on_device else { panic!("{ELSEWHERE}") };
            return of_device.fill(vectors, stride, self.owned);
        }
        for vector in vectors {
            if let Some(values) = vector.as_host_mut() {
                columns.extend(values.chunks_exact_mut(stride.max(1)));
            }
        }
        let pack = |neighbour: &Neighbour| -> Vec<T> {
            let of = |column: &&mut [T]| -> Vec<T> {
                neighbour.send.iter().map(|place| column[*place as usize]).collect()
            };
            columns.iter().flat_map(of).collect()
        };
        let packed: Vec<Vec<T>> = self.neighbours.iter().map(pack).collect();
        let send: Vec<(usize, &[u8])> = self
            .neighbours
            .iter()
            .zip(&packed)
            .filter(|(neighbour, _)| !neighbour.send.is_empty())
            .map(|(neighbour, values)| (neighbour.rank, bytes_of(values)))
            .collect();
        let of_others = self.neighbours.iter().filter(|neighbour| !neighbour.receive.is_empty());
        let mut arrived: Vec<Vec<T>> = of_others
            .clone()
            .map(|neighbour| vec![T::default(); columns.len() * neighbour.receive.len()])
            .collect();
        let mut receive: Vec<(usize, &mut [u8])> = of_others
            .clone()
            .zip(&mut arrived)
            .map(|(neighbour, values)| (neighbour.rank, bytes_of_mut(values)))
            .collect();
        if self.group.exchange(&send, &mut receive).is_err() {
            return;
        }
        for (neighbour, ghosts) in of_others.zip(&arrived) {
            for (column, ghosts) in columns.iter_mut().zip(ghosts.chunks(neighbour.receive.len())) {
                column[neighbour.receive.clone()].copy_from_slice(ghosts);
            }
        }
    }

    /// Runs a reduction that writes `vector`, `[owned + ghosts]`, and fetches its ghosts. Devices that see each other's memory
    /// exchange ghosts and blocks of the reduction together.
    pub fn fill_after<T: Element>(
        &self,
        vector: &mut Buffer<T>,
        partials: &mut Partials,
        reduce: impl FnOnce(&mut Buffer<T>, &mut Partials),
    ) {
        match self.on_device.as_ref().filter(|of_device| of_device.has_peers()) {
            Some(of_device) => {
                partials.keep_own_blocks();
                reduce(vector, partials);
                self.invalidate(vector, 1);
                let stride = self.owned + self.ghosts.len();
                of_device.fill_with_blocks(vector, stride, self.owned, partials);
            }
            None => {
                reduce(vector, partials);
                self.fill(vector, 1);
            }
        }
    }

    /// `to`, `[components][owned + ghosts]`, ← the own entries of `from`, `[components][owned]`, and their ghosts.
    pub fn extend<T: Element>(&self, from: &Buffer<T>, to: &mut Buffer<T>) {
        let stride = self.owned + self.ghosts.len();
        if let (Some(from), Some(values)) = (from.as_host(), to.as_host_mut()) {
            let components = from.chunks_exact(self.owned.max(1));
            for (own, component) in components.zip(values.chunks_exact_mut(stride.max(1))) {
                let chunks = component[..self.owned].par_chunks_mut(HOST_CHUNK);
                let of = own.par_chunks(HOST_CHUNK);
                chunks.zip(of).for_each(|(to, from)| to.copy_from_slice(from));
            }
        } else {
            self.copy_on_device((from, self.owned), (to, stride), 0..self.owned);
        }
        self.fill_all(&mut [to]);
    }

    /// The ghosts of `to` ← those of `from`: `[owned + ghosts]` each.
    pub fn copy_ghosts<T: Element>(&self, from: &Buffer<T>, to: &mut Buffer<T>) {
        if let (Some(from), Some(to)) = (from.as_host(), to.as_host_mut()) {
            to[self.owned..].copy_from_slice(&from[self.owned..]);
        } else {
            let stride = self.owned + self.ghosts.len();
            self.copy_on_device((from, stride), (to, stride), self.owned..stride);
        }
    }

    fn copy_on_device<T: Element>(
        &self,
        from: (&Buffer<T>, usize),
        to: (&mut Buffer<T>, usize),
        places: Range<usize>,
    ) {
        let Some(of_device) = &self.on_device else { panic!("{ELSEWHERE}") };
        if let Some(device) = of_device.device() {
            device.copy_entries(from, to, places);
        }
    }

    /// The ranks that exchange.
    pub fn group(&self) -> &Arc<dyn Group> {
        &self.group
    }
}
