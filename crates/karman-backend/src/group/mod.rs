//! Ranks: the parts of a run that compute one problem together, each with a backend of its own.
//!
//! Algorithms know nothing of the transport. They exchange the values of ghosts ([`Halo`](super::Halo)) and gather the
//! partial results of reductions ([`Partials`](super::Partials)); both reach the other ranks through a [`Group`]. All
//! ranks call its collective functions in the same order.
//!
//! A failure ends all ranks: each function returns it, and reads of buffers do too, as they do for a fault of a
//! device. Kernels between a failure and the next read compute with values of no meaning.
#![allow(unsafe_code)] // numbers as bytes

mod processes;
mod team;
mod threads;
mod waited_time;

pub use processes::Processes;
pub use team::{Team, run_ranks};
pub use threads::ThreadGroup;
pub use waited_time::WaitedTime;

use super::{BackendError, Element};
use std::sync::Arc;

/// The ranks of a run as one of them sees them.
pub trait Group: Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Sends to and receives from other ranks: (rank, bytes), each rank once at most. Both ends of a message agree in
    /// its length.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed, hangs, or sent another number of bytes.
    fn exchange(
        &self,
        send: &[(usize, &[u8])],
        receive: &mut [(usize, &mut [u8])],
    ) -> Result<(), BackendError>;

    /// Gathers the contributions of all ranks on every rank: that of rank r becomes `all[starts[r]..starts[r + 1]]`.
    /// `starts`: `[size + 1]`.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    fn gather_all(&self, own: &[u8], all: &mut [u8], starts: &[usize]) -> Result<(), BackendError>;

    /// Ends all ranks: their waiting and later calls return this rank and its reason. The first reason stays.
    fn abort(&self, reason: &str);

    /// The failure that ended the ranks, if any.
    fn failure(&self) -> Option<BackendError>;

    /// Has `end` run when the ranks fail: it ends what waits for another rank without a function of the group, as kernels do.
    /// Ranks of several processes have no such kernels.
    fn on_failure(&self, end: Box<dyn Fn() + Send + Sync>) {
        drop(end);
    }
}

impl<G: Group + ?Sized> Group for Arc<G> {
    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn size(&self) -> usize {
        (**self).size()
    }

    fn exchange(
        &self,
        send: &[(usize, &[u8])],
        receive: &mut [(usize, &mut [u8])],
    ) -> Result<(), BackendError> {
        (**self).exchange(send, receive)
    }

    fn gather_all(&self, own: &[u8], all: &mut [u8], starts: &[usize]) -> Result<(), BackendError> {
        (**self).gather_all(own, all, starts)
    }

    fn abort(&self, reason: &str) {
        (**self).abort(reason);
    }

    fn failure(&self) -> Option<BackendError> {
        (**self).failure()
    }

    fn on_failure(&self, end: Box<dyn Fn() + Send + Sync>) {
        (**self).on_failure(end);
    }
}

/// Gathers lists of numbers, of any lengths, on every rank; the lists follow each other by rank.
///
/// # Errors
/// As [`Group::exchange`].
pub fn gather_lists<T: Element>(
    group: &dyn Group,
    own: &[T],
) -> Result<(Vec<T>, Vec<usize>), BackendError> {
    let mut lengths = vec![0u32; group.size()];
    let places: Vec<usize> = (0..=group.size()).map(|rank| rank * size_of::<u32>()).collect();
    group.gather_all(bytes_of(&[own.len() as u32]), bytes_of_mut(&mut lengths), &places)?;
    let mut starts = vec![0];
    for length in lengths {
        starts.push(starts[starts.len() - 1] + length as usize);
    }
    let mut all = vec![T::default(); starts[group.size()]];
    let places: Vec<usize> = starts.iter().map(|start| start * size_of::<T>()).collect();
    group.gather_all(bytes_of(own), bytes_of_mut(&mut all), &places)?;
    Ok((all, starts))
}

/// Waits until all ranks have called it.
///
/// # Errors
/// As [`Group::exchange`].
#[cfg_attr(not(feature = "device"), allow(dead_code))]
pub(super) fn wait_for_all(group: &dyn Group) -> Result<(), BackendError> {
    gather_lists(group, &[0u32]).map(|_| ())
}

/// Numbers as bytes.
pub(super) fn bytes_of<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: an element is a plain number without padding; any byte is valid.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Numbers as bytes to be written.
pub(super) fn bytes_of_mut<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and any bytes are a number.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

#[cfg(test)]
mod tests;
