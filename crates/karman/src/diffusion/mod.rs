//! Diffusion of a scalar on a mesh, ∇·(k ∇T) with its boundary: what conduction of heat, the viscous
//! terms of a flow, its pressure and what it carries have in common.
//!
//! [`cell_centred`] discretises it with a value in each cell; [`discrete`] says what a discretisation is
//! made of, [`correction`] brings the part of it that is no matrix to a backend, [`forcing`] what
//! boundary and sources impose. Names are those of heat.

pub mod cell_centred;
pub mod conditions;
pub mod correction;
pub mod coupling;
pub mod discrete;
mod error;
pub mod forcing;
pub mod functional;
pub mod kernels;

pub use conditions::{Condition, Evaluation, Evaluator, Function, Prescribed};
pub use correction::{CellGradient, CorrectedOperator, CorrectionOnBackend};
pub use coupling::CouplingOnBackend;
pub use discrete::{Correction, Discrete, GradientStencils};
pub use error::DiffusionError;
pub use forcing::{Forcing, Part};
pub use functional::{Functional, Functionals};

use crate::backend::{Backend, Buffer};
use crate::real::Real;

/// Properties of each cell, in the order of the mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// k > 0: `[n_cells]`.
    pub conductivity: Vec<f64>,
    /// ρc > 0: `[n_cells]`.
    pub heat_capacity: Vec<f64>,
}

impl Material {
    /// The same everywhere.
    pub fn uniform(n_cells: usize, conductivity: f64, heat_capacity: f64) -> Material {
        Material {
            conductivity: vec![conductivity; n_cells],
            heat_capacity: vec![heat_capacity; n_cells],
        }
    }

    /// That all of them are positive and finite.
    ///
    /// # Errors
    /// [`DiffusionError::Property`].
    pub fn check(&self) -> Result<(), DiffusionError> {
        for (name, values) in
            [("conductivity", &self.conductivity), ("heat_capacity", &self.heat_capacity)]
        {
            let bad = values.iter().position(|v| !(*v > 0.0 && v.is_finite()));
            if let Some(cell) = bad {
                return Err(DiffusionError::Property { name, cell, value: values[cell] });
            }
        }
        Ok(())
    }
}

/// A coefficient at points; it does not change in time.
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

/// Values in a backend's precision: in double precision on the host they are taken over, not copied.
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
