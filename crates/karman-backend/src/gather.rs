//! Vectors of which each rank has a part, gathered as a whole on every rank.

use super::device_gather::DeviceGather;
use super::group::{Group, bytes_of, bytes_of_mut};
use super::{Backend, Buffer, Element};
use std::ops::Range;
use std::sync::Arc;

/// Of a gather that has not been prepared for the device of a vector.
const ELSEWHERE: &str = "a gather for vectors on the host";

/// Consecutive parts of a vector, one of each rank.
pub struct Gather {
    group: Arc<dyn Group>,
    /// First entry of each rank, then the number of entries: `[ranks + 1]`.
    starts: Vec<usize>,
    on_device: Option<DeviceGather>,
}

impl Gather {
    /// For vectors of which rank r has the entries from `starts[r]` to `starts[r + 1]`.
    pub fn new(group: Arc<dyn Group>, starts: Vec<usize>) -> Gather {
        debug_assert_eq!(starts.len(), group.size() + 1);
        Gather { group, starts, on_device: None }
    }

    /// This gather for vectors of `backend`, which is the host or a device.
    pub fn on(mut self, backend: &Backend) -> Gather {
        let numbers = |n: usize| (0..n as u32).collect();
        let (own, all) = (numbers(self.own().len()), numbers(self.starts[self.group.size()]));
        self.on_device = DeviceGather::new(backend, self.group.rank(), [own, all], &self.starts);
        self
    }

    /// The entries of this rank.
    pub fn own(&self) -> Range<usize> {
        let rank = self.group.rank();
        self.starts[rank]..self.starts[rank + 1]
    }

    /// `all` ← the parts of all ranks, of which `part` is that of this rank. A failure of a rank ends the group, and reads
    /// of buffers return it; builds with debug assertions then leave values that are not numbers.
    pub fn gather<T: Element>(&self, part: &Buffer<T>, all: &mut Buffer<T>) {
        let (Some(part), Some(all)) = (part.as_host(), all.as_host_mut()) else {
            let Some(on_device) = &self.on_device else { panic!("{ELSEWHERE}") };
            return on_device.gather(part, all);
        };
        if cfg!(debug_assertions) {
            all.fill(T::POISON);
        }
        let places: Vec<usize> = self.starts.iter().map(|start| start * size_of::<T>()).collect();
        let gathered = self.group.gather_all(bytes_of(part), bytes_of_mut(all), &places);
        // The next read reports a failure.
        drop(gathered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::{ThreadGroup, run_ranks};
    use crate::{Backend, BackendError};

    #[test]
    fn parts_of_any_lengths_are_gathered_in_the_order_of_ranks() {
        let starts = [0, 5, 5, 12, 13];
        let want: Vec<f32> = (0..13).map(|i| i as f32).collect();
        let found = run_ranks(&ThreadGroup::new(4), |group| -> Result<_, BackendError> {
            let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
            let gather = Gather::new(Arc::new(group.clone()), starts.to_vec());
            let part = backend.upload_slice(&want[gather.own()]);
            let mut all = backend.zeros(13);
            for _ in 0..3 {
                gather.gather(&part, &mut all);
            }
            backend.read(&all)
        });
        assert!(found.unwrap().iter().all(|all| *all == want));
    }
}
