//! Stands in for MPI in builds without it: no process is one of several.

use crate::options::Options;
use karman_backend::{BackendError, RankGroup};

/// This process as a rank among those that MPI started: none.
#[derive(Clone, Debug)]
pub enum MpiGroup {}

impl MpiGroup {
    /// Refuses.
    ///
    /// # Errors
    /// How to get a program with MPI.
    pub fn start(_: Options) -> Result<MpiGroup, String> {
        Err("this karman was built without MPI, and each of the processes would run the whole case. Build it with `cargo build \
             --release -p karman-cli --features mpi`, or start one process with --ranks"
            .to_owned())
    }

    /// Threads for which this process has processors, at least 1.
    pub fn threads(&self) -> usize {
        match *self {}
    }

    /// Ends this process's part.
    pub fn end(&self, _code: u8, _message: Option<&str>) -> u8 {
        match *self {}
    }
}

impl RankGroup for MpiGroup {
    fn rank(&self) -> usize {
        match *self {}
    }

    fn size(&self) -> usize {
        match *self {}
    }

    fn exchange(
        &self,
        _send: &[(usize, &[u8])],
        _receive: &mut [(usize, &mut [u8])],
    ) -> Result<(), BackendError> {
        match *self {}
    }

    fn gather_all(
        &self,
        _own: &[u8],
        _all: &mut [u8],
        _starts: &[usize],
    ) -> Result<(), BackendError> {
        match *self {}
    }

    fn abort(&self, _reason: &str) {
        match *self {}
    }

    fn failure(&self) -> Option<BackendError> {
        match *self {}
    }
}
