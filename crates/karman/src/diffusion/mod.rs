//! Diffusion of a scalar on a mesh, ∇·(k ∇T), with its boundary conditions. Heat conduction, the viscous
//! terms of a flow, its pressure and its transported scalars share it.
//!
//! [`cell_centred`] discretises it by finite volumes; [`discrete`] has the arrays of a discretisation,
//! [`correction`] the non-orthogonal correction on a backend, [`time_dependent`] boundary values and
//! sources. Symbols are those of heat: T, k, ρc.

pub mod boundary_contribution;
pub mod cell_centred;
pub mod conditions;
pub mod correction;
pub mod discrete;
mod error;
pub mod functional;
pub mod kernels;
pub mod time_dependent;

pub use boundary_contribution::BoundaryContributionOnBackend;
pub use conditions::{Condition, Evaluation, Evaluator, Function, Prescribed};
pub use correction::{CellGradient, CorrectedOperator, NonOrthogonalCorrectionOnBackend};
pub use discrete::{Discrete, GradientStencils, NonOrthogonalCorrection};
pub use error::DiffusionError;
pub use functional::{Functional, Functionals};
pub use time_dependent::{Term, TimeDependentData};

use crate::backend::{Backend, Buffer};
use crate::real::Real;

/// Properties of each cell, in the order of the mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// k > 0: `[n_cells]`.
    pub conductivity: Vec<f64>,
    /// ρc > 0: `[n_cells]`.
    pub volumetric_heat_capacity: Vec<f64>,
}

impl Material {
    /// Properties that are uniform in space.
    pub fn uniform(n_cells: usize, conductivity: f64, volumetric_heat_capacity: f64) -> Material {
        Material {
            conductivity: vec![conductivity; n_cells],
            volumetric_heat_capacity: vec![volumetric_heat_capacity; n_cells],
        }
    }

    /// Checks that all properties are positive and finite.
    ///
    /// # Errors
    /// [`DiffusionError::Property`].
    pub fn check(&self) -> Result<(), DiffusionError> {
        for (name, values) in [
            ("conductivity", &self.conductivity),
            ("volumetric_heat_capacity", &self.volumetric_heat_capacity),
        ] {
            let bad = values.iter().position(|v| !(*v > 0.0 && v.is_finite()));
            if let Some(cell) = bad {
                return Err(DiffusionError::Property { name, cell, value: values[cell] });
            }
        }
        Ok(())
    }
}

/// A coefficient at points, constant in time.
pub(crate) fn coefficients_at(coefficient: &dyn Prescribed, points: &[[f64; 3]]) -> Vec<f64> {
    let mut values = vec![0.0; points.len()];
    coefficient.sample(&component_major(points), 0.0, &mut values);
    values
}

pub(crate) fn component_major(points: &[[f64; 3]]) -> Vec<f64> {
    (0..3).flat_map(|k| points.iter().map(move |p| p[k])).collect()
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
    backend.upload(values.into_iter().map(F::from_f64).collect())
}

pub(crate) fn check_coefficients(patch: &str, coefficients: &[f64]) -> Result<(), DiffusionError> {
    match coefficients.iter().find(|h| !(**h >= 0.0 && h.is_finite())) {
        Some(value) => Err(DiffusionError::Coefficient { patch: patch.to_owned(), value: *value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
