//! Ranks as processes: each process runs the same program on the same case and computes one rank.
//!
//! All processes take the same decisions, since these depend on numbers that all have, or are agreed here. The first process alone
//! writes.

use super::{Group, ThreadGroup, gather_lists};
use crate::{BackendError, Element};
use std::sync::Arc;

/// The processes that run a case together, as one of them sees them; by default a process by itself.
#[derive(Clone, Default)]
pub struct Processes {
    group: Option<Arc<dyn Group>>,
}

impl std::fmt::Debug for Processes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Processes({} of {})", self.number(), self.count())
    }
}

impl Processes {
    /// The processes of a group, each of which is a rank of it.
    pub fn of(group: Arc<dyn Group>) -> Processes {
        Processes { group: (group.size() > 1).then_some(group) }
    }

    /// Number of processes.
    pub fn count(&self) -> usize {
        self.group.as_ref().map_or(1, |group| group.size())
    }

    /// The number of this process, from 0.
    pub fn number(&self) -> usize {
        self.group.as_ref().map_or(0, |group| group.rank())
    }

    /// Whether this process writes files and prints.
    pub fn is_first(&self) -> bool {
        self.number() == 0
    }

    /// The ranks that this process computes: of several processes its own, of one all `ranks` as threads.
    pub fn groups(&self, ranks: usize) -> Vec<Arc<dyn Group>> {
        match &self.group {
            Some(group) => vec![group.clone()],
            None => {
                let threads = ThreadGroup::new(ranks).into_iter();
                threads.map(|group| -> Arc<dyn Group> { Arc::new(group) }).collect()
            }
        }
    }

    /// Lists of the ranks of this process, in their order, as one list of all ranks. All processes call it.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn joined<T: Element>(&self, lists: Vec<Vec<T>>) -> Result<Vec<T>, BackendError> {
        let own: Vec<T> = lists.into_iter().flatten().collect();
        match &self.group {
            Some(group) => Ok(gather_lists(&**group, &own)?.0),
            None => Ok(own),
        }
    }

    /// Lists of the ranks of this process as the lists of all ranks, by rank. All processes call it.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn lists_of_all<T: Element>(
        &self,
        lists: Vec<Vec<T>>,
    ) -> Result<Vec<Vec<T>>, BackendError> {
        let Some(group) = &self.group else { return Ok(lists) };
        let own: Vec<T> = lists.into_iter().flatten().collect();
        let (all, starts) = gather_lists(&**group, &own)?;
        Ok(starts.windows(2).map(|range| all[range[0]..range[1]].to_vec()).collect())
    }

    /// The list of the first process. All processes call it.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn of_first(&self, own: &[u32]) -> Result<Vec<u32>, BackendError> {
        let Some(group) = &self.group else { return Ok(own.to_vec()) };
        let given = if self.is_first() { own } else { &[] };
        Ok(gather_lists(&**group, given)?.0)
    }

    /// Whether something is true of any process. All processes call it.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn any(&self, own: bool) -> Result<bool, BackendError> {
        let Some(group) = &self.group else { return Ok(own) };
        Ok(gather_lists(&**group, &[u32::from(own)])?.0.contains(&1))
    }

    /// The first process whose `number` is not that of process 0; none where all are equal. All processes call it.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn first_other(&self, number: u64) -> Result<Option<usize>, BackendError> {
        let Some(group) = &self.group else { return Ok(None) };
        let (numbers, _) = gather_lists(&**group, &[number as u32, (number >> 32) as u32])?;
        Ok(numbers.chunks(2).position(|number| *number != numbers[..2]))
    }
}
