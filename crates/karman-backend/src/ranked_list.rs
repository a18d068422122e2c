//! A list of entities of which each rank has some, in an order of its own, as the faces of the boundary by patches.

use super::device_gather::DeviceGather;
use super::group::{Group, bytes_of, bytes_of_mut, gather_lists};
use super::{Backend, BackendError, Buffer, Element};
use std::sync::Arc;

/// The entries of a list that each rank has. Where chunks of the list are not those of ranks, each rank reduces the whole list.
pub struct RankedList {
    group: Arc<dyn Group>,
    /// Place in the list of each entry, by rank.
    places: Vec<u32>,
    /// First of each rank in `places`, and the number of entries.
    starts: Vec<usize>,
    /// Places in a vector of the entries of this rank.
    own: Vec<u32>,
    on_device: Option<DeviceGather>,
}

impl RankedList {
    /// The list of which this rank has the entries at `places`, each entry of the list on one rank: the values at `own` of
    /// vectors of `backend`. All ranks call it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    pub fn new(
        backend: &Backend,
        group: Arc<dyn Group>,
        places: &[u32],
        own: Vec<u32>,
    ) -> Result<RankedList, BackendError> {
        let (places, starts) = gather_lists(&*group, places)?;
        let mut sources = vec![0; places.len()];
        for (source, place) in places.iter().enumerate() {
            sources[*place as usize] = source as u32;
        }
        let on_device = DeviceGather::new(backend, group.rank(), [own.clone(), sources], &starts);
        Ok(RankedList { group, places, starts, own, on_device })
    }

    /// Number of entries of all ranks.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no rank has an entry.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The values of the whole list, of which this rank has those in `vector`; zeros where a rank failed, which the next read
    /// reports.
    pub fn gather<T: Element>(&self, backend: &Backend, vector: &Buffer<T>) -> Buffer<T> {
        let mut list = backend.zeros(self.len());
        if let Some(on_device) = &self.on_device {
            on_device.gather(vector, &mut list);
        } else if let (Some(values), Some(all)) = (vector.as_host(), list.as_host_mut()) {
            let own: Vec<T> = self.own.iter().map(|place| values[*place as usize]).collect();
            self.gather_on_host(&own, all);
        }
        list
    }

    fn gather_on_host<T: Element>(&self, own: &[T], all: &mut [T]) {
        let mut by_rank = vec![T::default(); self.len()];
        let bytes: Vec<usize> = self.starts.iter().map(|start| start * size_of::<T>()).collect();
        if self.group.gather_all(bytes_of(own), bytes_of_mut(&mut by_rank), &bytes).is_ok() {
            for (place, value) in self.places.iter().zip(by_rank) {
                all[*place as usize] = value;
            }
        }
    }
}
