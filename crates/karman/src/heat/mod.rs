//! Conduction of heat: ∂(ρc T)/∂t = ∇·(k ∇T) + S, steady and unsteady.
//!
//! Space: [`cell_centred`] or [`node_centred`], both of the form
//! M dT/dt = s + C v(t) − A T + K(T, v) (see [`discrete`]). A step solves for the increment of the
//! temperature, so that a converged state is kept to the last bit whatever the solver's tolerance.
//! Source: Menon's thesis, ch. 6; Kamakolanu's thesis, §6.2.

pub mod cell_centred;
pub mod conditions;
pub mod discrete;
mod error;
pub mod finite_element;
mod forcing;
pub mod functional;
mod held;
pub mod kernels;
pub mod march;
pub mod matrix_free;
mod monitor;
pub mod node_centred;
mod system;

pub use conditions::{Condition, Evaluation, Evaluator, Function, Prescribed};
pub use error::HeatError;
pub use functional::{Functional, Functionals};
pub use march::{March, Scheme, StepReport};
pub use matrix_free::MatrixFree;
pub use system::{Heat, Problem, Source};

use crate::backend::{Backend, Buffer};
use crate::real::Real;

/// Where the unknowns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discretization {
    /// Finite volumes, a value in each cell; `corrected` for cells that are not orthogonal to their
    /// faces.
    Cell {
        /// Whether fluxes carry the non-orthogonal correction.
        corrected: bool,
    },
    /// A value at each node.
    Node,
}

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

    fn check(&self) -> Result<(), HeatError> {
        for (name, values) in
            [("conductivity", &self.conductivity), ("heat_capacity", &self.heat_capacity)]
        {
            let bad = values.iter().position(|v| !(*v > 0.0 && v.is_finite()));
            if let Some(cell) = bad {
                return Err(HeatError::Property { name, cell, value: values[cell] });
            }
        }
        Ok(())
    }
}

/// A coefficient at points; it does not change in time.
fn coefficients_at(coefficient: &dyn Prescribed, points: &[[f64; 3]]) -> Vec<f64> {
    let mut values = vec![0.0; points.len()];
    coefficient.sample(&component_major(points), 0.0, &mut values);
    values
}

fn component_major(points: &[[f64; 3]]) -> Vec<f64> {
    (0..3).flat_map(|k| points.iter().map(move |p| p[k])).collect()
}

fn check_finite(what: &'static str, values: &[f64], time: f64) -> Result<(), HeatError> {
    match values.iter().find(|v| !v.is_finite()) {
        Some(value) => Err(HeatError::NotFinite { what, value: *value, time }),
        None => Ok(()),
    }
}

/// Values in a backend's precision: in double precision on the host they are taken over, not copied.
fn narrow<F: Real>(backend: &Backend, values: Vec<f64>) -> Buffer<F> {
    backend.upload(values.into_iter().map(F::narrow).collect())
}

fn check_coefficients(patch: &str, coefficients: &[f64]) -> Result<(), HeatError> {
    match coefficients.iter().find(|h| !(**h >= 0.0 && h.is_finite())) {
        Some(value) => Err(HeatError::Coefficient { patch: patch.to_owned(), value: *value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
