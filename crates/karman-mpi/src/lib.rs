//! Ranks as processes: how many a launcher started, and the [`RankGroup`](karman_backend::RankGroup) that they form by MPI.
//!
//! Without the feature `mpi`, `no_mpi.rs` stands in for `world.rs` with a type without values. The crate is apart from the backend, so
//! that a build with MPI compiles this crate and the program alone once more.

mod launch;
#[cfg(feature = "mpi")]
mod library;
#[cfg(not(feature = "mpi"))]
mod no_mpi;
mod options;
#[cfg(feature = "mpi")]
mod processors;
#[cfg(feature = "mpi")]
mod world;

pub use launch::Launch;
#[cfg(not(feature = "mpi"))]
pub use no_mpi::MpiGroup;
pub use options::Options;
#[cfg(feature = "mpi")]
pub use world::MpiGroup;
