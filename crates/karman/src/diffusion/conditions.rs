//! Boundary conditions and prescribed quantities, sampled at points and in time.

use super::DiffusionError;
use super::time_dependent::{Term, TimeDependentData};
use crate::backend::{Backend, Buffer};
use crate::real::Real;
use rayon::prelude::*;
use std::sync::Arc;

/// A quantity given at any place and time: a number, an expression, a table. Coordinates are
/// component-major, `points: [3][n]`.
pub trait Prescribed: Sync + Send {
    /// Values at `n` points at time `t` into `out: [n]`.
    fn sample(&self, points: &[f64], t: f64, out: &mut [f64]);
    /// Whether the values change in time.
    fn depends_on_time(&self) -> bool;
    /// How the values reach a backend at each new time.
    fn evaluation(&self, _backend: &Backend) -> Evaluation {
        Evaluation::OnHost
    }
}

/// How the values of a time-dependent quantity reach a backend.
pub enum Evaluation {
    /// [`Prescribed::sample`] at all points on the host; the values are then uploaded.
    OnHost,
    /// Uniform in space: [`Prescribed::sample`] at one point.
    Uniform,
    /// By kernels; only the time is uploaded.
    OnBackend(Box<dyn Evaluator>),
}

/// A quantity evaluated by kernels on a backend.
pub trait Evaluator: Send {
    /// Values at `points: [3][n]` at `time: [1]` into `out: [n]`.
    fn evaluate(
        &self,
        backend: &Backend,
        points: &Buffer<f64>,
        time: &Buffer<f64>,
        out: &mut Buffer<f64>,
    );
}

impl Prescribed for f64 {
    fn sample(&self, _: &[f64], _: f64, out: &mut [f64]) {
        out.fill(*self);
    }
    fn depends_on_time(&self) -> bool {
        false
    }
}

/// A closure of (point, time), for exact solutions and library use.
pub struct Function<F>(pub F);

impl<F: Fn([f64; 3], f64) -> f64 + Sync + Send> Prescribed for Function<F> {
    fn sample(&self, points: &[f64], t: f64, out: &mut [f64]) {
        let n = out.len();
        out.par_iter_mut().enumerate().with_min_len(1024).for_each(|(i, o)| {
            *o = self.0([points[i], points[n + i], points[2 * n + i]], t);
        });
    }
    fn depends_on_time(&self) -> bool {
        true
    }
}

/// The boundary condition of one patch, for a scalar T of conductivity k.
#[derive(Clone)]
pub enum Condition {
    /// T = value.
    Dirichlet(Arc<dyn Prescribed>),
    /// k ∂T/∂n = value, the flux into the domain.
    Neumann(Arc<dyn Prescribed>),
    /// k ∂T/∂n = h (T∞ − T); h does not change in time.
    Robin {
        /// Transfer coefficient h ≥ 0.
        coefficient: Arc<dyn Prescribed>,
        /// Ambient value T∞.
        ambient: Arc<dyn Prescribed>,
    },
    /// ∂T/∂n = 0: an adiabatic wall, a symmetry plane, an outlet.
    ZeroGradient,
    /// No flux in the matrix, no equation in the least-squares gradients: the pressure at a wall, whose
    /// normal gradient follows from the flow.
    Extrapolated,
}

impl Condition {
    /// Whether the condition fixes the additive constant of the solution.
    pub fn fixes_the_constant(&self) -> bool {
        matches!(self, Condition::Dirichlet(_) | Condition::Robin { .. })
    }
}

/// The values a boundary prescribes, one for each entry: a face (its temperature, flux or ambient
/// temperature) or, node-centred, a Dirichlet node.
#[derive(Default)]
pub struct BoundaryValues {
    patches: Vec<PatchValues>,
    len: usize,
}

struct PatchValues {
    prescribed: Arc<dyn Prescribed>,
    points: Vec<f64>,
}

impl BoundaryValues {
    /// Appends entries at `points` and returns the index of the first.
    pub fn push(&mut self, prescribed: &Arc<dyn Prescribed>, points: &[[f64; 3]]) -> usize {
        let first = self.len;
        self.len += points.len();
        let component_major = (0..3).flat_map(|k| points.iter().map(move |p| p[k])).collect();
        self.patches.push(PatchValues { prescribed: prescribed.clone(), points: component_major });
        first
    }

    /// All entries at time `t`.
    pub fn at(&self, t: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.len];
        let mut rest = values.as_mut_slice();
        for patch in &self.patches {
            let (own, after) = rest.split_at_mut(patch.points.len() / 3);
            patch.prescribed.sample(&patch.points, t, own);
            rest = after;
        }
        values
    }

    /// The values on a backend; `what` names them in messages. There is at least one value: a boundary
    /// face without a prescribed value refers to value 0 with the factor 0, and kernels read it.
    ///
    /// # Errors
    /// [`DiffusionError`] where a value is not a number, or the backend failed.
    pub fn into_time_dependent_data<F: Real>(
        self,
        backend: &Backend,
        what: &'static str,
    ) -> Result<TimeDependentData<F>, DiffusionError> {
        TimeDependentData::new(backend, what, self.len.max(1), self.into_terms())
    }

    /// One term for each condition.
    fn into_terms(self) -> Vec<Term> {
        let mut first = 0;
        let term = |patch: PatchValues| {
            let count = patch.points.len() / 3;
            let entries = (first..first + count as u32).collect();
            first += count as u32;
            let (value, points) = (patch.prescribed, patch.points);
            Term { value, entries, factors: vec![1.0; count], points }
        };
        self.patches.into_iter().map(term).collect()
    }
}
