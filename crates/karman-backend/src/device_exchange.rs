//! Exchange between the devices of ranks.
//!
//! Where each rank has a device of its own in this process and devices read each other's memory, kernels exchange. Where the
//! runtime copies data between devices otherwise (NCCL), numbers are gathered by a sum of words: each rank has its own among
//! zeros, so that the sum has the bits of all. Both are queued as kernels are, and can be recorded. Else numbers pass through the
//! host, and the ranks wait for them.

use super::device::Handle;
use super::group::{bytes_of, bytes_of_mut};
use super::halo::VectorLayout;
use super::{Backend, BackendError, Buffer, Element, blas};

/// Entries of a vector that a rank gives or takes.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
pub(super) enum Entries<'a> {
    /// Consecutive ones.
    From {
        /// The first.
        first: usize,
        /// Their number.
        count: usize,
    },
    /// Those that are given are at the listed places. Of all that ranks give, the listed ones are taken to consecutive
    /// places from the first on.
    Listed {
        /// The places.
        list: &'a Buffer<u32>,
        /// The first place.
        first: usize,
    },
}

/// Entries of a vector of which a rank gives or takes some.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
pub(super) struct Side<'a> {
    pub entries: Entries<'a>,
    pub layout: VectorLayout,
    pub vector: &'a Handle,
}

/// The entries `given` of a vector go to all ranks, and `taken` of another come from them, of which rank r gives
/// `starts[r]..starts[r + 1]`.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
pub(super) struct Exchanged<'a> {
    pub given: Side<'a>,
    pub taken: Side<'a>,
    pub starts: &'a [usize],
}

impl Entries<'_> {
    /// Their number.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub(super) fn count(&self) -> usize {
        match self {
            Entries::From { count, .. } => *count,
            Entries::Listed { list, .. } => list.len(),
        }
    }
}

impl Backend {
    /// The parts that all ranks have of a list, of which `part` is that of this rank: rank r gives `starts[r]..starts[r + 1]`. All
    /// ranks call it. A failure ends the group, and reads of buffers return it.
    ///
    /// Traffic: the whole list twice, and what all ranks give.
    pub fn parts_of_all_ranks<T: Element>(&self, part: &Buffer<T>, starts: &[usize]) -> Buffer<T> {
        let Some(group) = self.ranks() else { panic!("the backend of one of several ranks") };
        let (rank, total) = (group.rank(), starts[group.size()]);
        assert_eq!(part.len(), starts[rank + 1] - starts[rank], "the part of rank {rank}");
        let mut all = self.scratch(total);
        if total == 0 {
            return all;
        }
        if let Some(device) = self.device() {
            if device.exchange(&[part_of_list((part, &all), starts)]) {
                return all;
            }
            if device.has_collectives() {
                let mut own = self.zeros(total);
                blas::copy_to_range(self, part.len(), part, starts[rank], &mut own);
                device.sum_words(&own, &mut all, total);
                return all;
            }
        }
        let mut gathered = vec![T::default(); total];
        let places: Vec<usize> = starts.iter().map(|start| start * size_of::<T>()).collect();
        let gather = self
            .read(part)
            .and_then(|own| group.gather_all(bytes_of(&own), bytes_of_mut(&mut gathered), &places));
        match gather {
            Ok(()) => self.write(&mut all, &gathered),
            // The first failure stays.
            Err(error) => group.abort(&error.to_string()),
        }
        all
    }

    /// Gathers the numbers of the ranks on all of them. `own` and `all` have `lists` lists of `starts[ranks]` numbers each, one
    /// behind the other, of which rank r gives `starts[r]..starts[r + 1]`; the others of `own` are zeros. A failure ends the
    /// group, and reads of buffers return it.
    ///
    /// Traffic: what all ranks give.
    #[cfg_attr(not(feature = "device"), allow(dead_code))]
    pub(super) fn gather_on_devices<T: Element>(
        &self,
        own: &Buffer<T>,
        all: &mut Buffer<T>,
        lists: usize,
        starts: &[usize],
    ) {
        let (Some(device), Some(group)) = (self.device(), self.ranks()) else { return };
        let (rank, total) = (group.rank(), starts[group.size()]);
        assert!(own.len() == all.len() && lists * total <= all.len());
        let part = list_of_ranks((own, all), lists, starts, rank);
        if device.exchange(&[part]) {
            return;
        }
        if device.has_collectives() {
            return device.sum_words(own, all, lists * total);
        }
        let mut gathered = vec![T::default(); all.len()];
        let places: Vec<usize> = starts.iter().map(|start| start * size_of::<T>()).collect();
        let mut gather = || -> Result<(), BackendError> {
            let values = self.read(own)?;
            for list in 0..lists {
                let of_list = &mut gathered[list * total..(list + 1) * total];
                let of_rank = &values[list * total..][starts[rank]..starts[rank + 1]];
                group.gather_all(bytes_of(of_rank), bytes_of_mut(of_list), &places)?;
            }
            Ok(())
        };
        match gather() {
            Ok(()) => self.write(all, &gathered),
            // The first failure stays.
            Err(error) => group.abort(&error.to_string()),
        }
    }
}

/// The exchange of [`Backend::parts_of_all_ranks`].
fn part_of_list<'a, T: Element>(
    (part, all): (&'a Buffer<T>, &'a Buffer<T>),
    starts: &'a [usize],
) -> Exchanged<'a> {
    // An empty list has no memory.
    let of = |list: &'a Buffer<T>| if list.is_empty() { all } else { list };
    let side = |list: &'a Buffer<T>| Side {
        entries: Entries::From { first: 0, count: list.len() },
        layout: VectorLayout::of::<T>(list.len(), 1),
        vector: of(list).device_handle(),
    };
    Exchanged { given: side(part), taken: side(all), starts }
}

/// The exchange of [`Backend::gather_on_devices`].
pub(super) fn list_of_ranks<'a, T: Element>(
    (own, all): (&'a Buffer<T>, &'a Buffer<T>),
    lists: usize,
    starts: &'a [usize],
    rank: usize,
) -> Exchanged<'a> {
    let total = starts[starts.len() - 1];
    let layout = VectorLayout::of::<T>(total, lists);
    let given = Entries::From { first: starts[rank], count: starts[rank + 1] - starts[rank] };
    let taken = Entries::From { first: 0, count: total };
    Exchanged {
        given: Side { entries: given, layout, vector: own.device_handle() },
        taken: Side { entries: taken, layout, vector: all.device_handle() },
        starts,
    }
}
