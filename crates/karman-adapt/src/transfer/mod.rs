//! The transfer of fields from a mesh of simplices to another: interpolation, and a conservative form.
//!
//! A field of cell means is reconstructed by a linear function in each cell, a field of nodes is linear in each cell. Interpolation
//! evaluates this function; the conservative form integrates it over the intersections of old and new cells, which is exact to
//! round-off (Farrell, Piggott, Pain, Gorman & Wilson, *Computer Methods in Applied Mechanics and Engineering* 198, 2009; Alauzet,
//! *ibid.* 299, 2016). Both are exact for linear fields, and the same for any number of threads.

mod boxes;
mod clip;
mod conserve;
mod overlap;
mod project;
mod reconstruct;
mod sampler;
mod volumes;

#[cfg(test)]
mod tests;

pub use conserve::{ConservativeTransfer, Conserved};
pub use reconstruct::Limiter;
pub use sampler::FieldSampler;
