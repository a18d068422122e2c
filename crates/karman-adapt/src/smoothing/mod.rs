//! Smoothing by kernels: vertices of one colour move at once, on the threads of the host or on a device.
//!
//! Vertices are coloured so that neighbours differ. A kernel for each colour moves its vertices by a [`Smoother`], one writer a
//! vertex, and accepts a move only where the lowest quality of the cavity does not fall; cavities of one colour share no cell, so
//! that the lowest quality of the mesh never falls. The metric at a vertex that has moved is looked up in a [`MetricGrid`] or by a
//! walk in the initial mesh. Vertices of straight edges and planes slide on them; those of curved boundaries stay.

pub mod benchmark;
mod cavity;
mod colouring;
mod grid;
mod kernels;
mod lookup;
mod smoothed;
mod smoother;
mod topology;

#[cfg(test)]
mod tests;

pub use grid::MetricGrid;
pub use kernels::Smoother;
pub use smoothed::{SmoothReport, Smoothed, smooth_by_colours};
pub use smoother::{MeshQuality, MetricLookup, SmoothOptions, VertexSmoother};
