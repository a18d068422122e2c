//! Ghosts: copies of entries that other ranks own, behind the own entries of a vector.
//!
//! The ranks own consecutive ranges of the entries of a vector of the whole problem. A rank stores its own entries, then its ghosts
//! in ascending global number, so that the ghosts of one owner are consecutive. Builds with debug assertions set ghosts to
//! NaN until they are fetched: a missing first exchange shows in the result.

use super::group::{Group, bytes_of, bytes_of_mut, gather_lists};
use super::{Backend, BackendError, Buffer, Element};
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
        Ok(Halo { group, first: own.start, owned: own.len(), ghosts, total, neighbours })
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
    pub fn global(&self, local: usize) -> usize {
        if local < self.owned {
            self.first + local
        } else {
            self.ghosts[local - self.owned] as usize
        }
    }

    /// Local number of an entry; none where it is neither own nor a ghost.
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
            let stride = values.len() / components;
            for component in values.chunks_mut(stride.max(1)) {
                component[self.owned..].fill(T::POISON);
            }
        }
    }

    /// Fetches the ghosts of a vector from their owners: `[components][owned + ghosts]`. A failure of a rank ends the group,
    /// and reads of buffers return it.
    pub fn fill<T: Element>(&self, vector: &mut Buffer<T>, components: usize) {
        self.invalidate(vector, components);
        let Some(values) = vector.as_host_mut() else { return };
        let stride = self.owned + self.ghosts.len();
        assert_eq!(values.len(), components * stride, "a vector with room for its ghosts");
        let pack = |neighbour: &Neighbour| -> Vec<T> {
            let of = |k: usize| neighbour.send.iter().map(move |i| k * stride + *i as usize);
            (0..components).flat_map(of).map(|place| values[place]).collect()
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
            .map(|neighbour| vec![T::default(); components * neighbour.receive.len()])
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
            for (k, ghosts) in ghosts.chunks(neighbour.receive.len()).enumerate() {
                let Range { start, end } = neighbour.receive;
                values[k * stride + start..k * stride + end].copy_from_slice(ghosts);
            }
        }
    }
}
