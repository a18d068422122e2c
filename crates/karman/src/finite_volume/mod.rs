//! The finite-volume library on which heat and flow stand.
//!
//! Diffusion ∇·(k ∇φ) of a scalar with its boundary conditions is discretised in [`diffusion`]: two-point fluxes of [`cell_scheme`], least-squares
//! gradients ([`least_squares`]) and the non-orthogonal correction made of them ([`nonorthogonal_correction`]); [`discrete`]
//! has the arrays of a discretisation. Heat conduction, the viscous terms of a flow, its pressure and its transported
//! scalars share it; symbols are those of heat: T, k, ρc. Boundary values and sources are vectors of time
//! ([`time_dependent`]), probes and fluxes through patches linear functionals ([`functional`]). [`time_average`] has means and
//! fluctuations of a field over time.
//!
//! Interpolation to faces, gradients, convection and the momentum interpolation of Rhie & Chow are kernels of fields in cells.
//! They take a mesh and its fields as groups of views ([`mesh_view`]); an entity function reads like its formula.

pub mod boundary;
pub mod boundary_contribution;
mod boundary_trace;
pub mod cell_scheme;
pub mod convection;
pub mod diffusion;
mod diffusion_part;
pub mod discrete;
mod error;
mod face_lines;
pub mod faces;
pub mod functional;
pub mod gradient;
pub mod interpolation;
pub mod laplacian;
pub mod least_squares;
pub mod limiter;
mod local_mesh;
pub mod majorant;
pub mod mesh_view;
pub mod nonorthogonal_correction;
mod part_stencils;
pub mod prescribed;
pub mod reconstruction;
pub mod rhie_chow;
pub mod time_average;
pub mod time_dependent;
pub mod transport;

pub use boundary::{BoundaryCondition, BoundaryFaces, Condition, PartValues};
pub use boundary_contribution::{BoundaryContribution, BoundaryContributionOnBackend};
pub use cell_scheme::{CellScheme, Conductivity};
pub use convection::Convection;
pub use diffusion::Material;
pub use diffusion_part::DiffusionPart;
pub use discrete::Discrete;
pub use error::DiffusionError;
pub use faces::Faces;
pub use functional::{Functional, Functionals};
pub use laplacian::Laplacian;
pub use least_squares::{CellGradient, GradientStencils, Use};
pub(crate) use local_mesh::first_points;
pub use local_mesh::{LocalMesh, PartMesh};
pub use mesh_view::{
    CellFaces, CellField, DiffusiveFaces, FaceView, Quantities, VectorField, Vectors, VelocityField,
};
pub use nonorthogonal_correction::{
    CorrectedOperator, NonOrthogonalCorrection, NonOrthogonalCorrectionOnBackend,
};
pub use prescribed::{Evaluation, Evaluator, Function, Prescribed};
pub use time_average::TimeAverage;
pub use time_dependent::{Term, TimeDependentData};

use crate::backend::{Backend, BackendError, Buffer, HOST_CHUNK, converted, converted_slice};
use crate::real::Real;
use rayon::prelude::*;

/// Vectors component by component: `[K][n]`.
pub(crate) fn component_major<const K: usize>(vectors: &[[f64; K]]) -> Vec<f64> {
    let mut components = Vec::with_capacity(K * vectors.len());
    for k in 0..K {
        components.par_extend(vectors.par_iter().with_min_len(HOST_CHUNK).map(|vector| vector[k]));
    }
    components
}

pub(crate) fn check_finite(
    what: &'static str,
    values: &[f64],
    time: f64,
) -> Result<(), DiffusionError> {
    match values.iter().find(|v| !v.is_finite()) {
        Some(value) => Err(DiffusionError::NotFinite { what, value: *value, time }),
        None => Ok(()),
    }
}

/// Values in a backend's precision: in double precision on the host they are moved, not copied.
pub(crate) fn narrow<F: Real>(backend: &Backend, values: Vec<f64>) -> Buffer<F> {
    backend.upload(backend.install(|| converted(values)))
}

/// A copy of values in a backend's precision.
pub(crate) fn narrow_slice<F: Real>(backend: &Backend, values: &[f64]) -> Buffer<F> {
    backend.upload(backend.install(|| converted_slice(values)))
}

/// The values of a buffer in double precision.
pub(crate) fn widen<F: Real>(
    backend: &Backend,
    buffer: &Buffer<F>,
) -> Result<Vec<f64>, BackendError> {
    let values = backend.read(buffer)?;
    Ok(backend.install(|| converted(values)))
}

#[cfg(test)]
mod tests;
