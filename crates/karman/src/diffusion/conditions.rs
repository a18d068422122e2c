//! What boundary and sources prescribe, sampled at points and in time.

use super::DiffusionError;
use super::forcing::{Forcing, Part};
use crate::backend::{Backend, Buffer};
use crate::real::Real;
use rayon::prelude::*;
use std::sync::Arc;

/// A quantity given at any place and time: a number, an expression, a table. Coordinates are
/// component-major, `points: [3][n]`.
pub trait Prescribed: Sync + Send {
    /// Values at `n` points at time `t` into `out: [n]`.
    fn sample(&self, points: &[f64], t: f64, out: &mut [f64]);
    /// Whether they change in time.
    fn depends_on_time(&self) -> bool;
    /// How they are brought to a backend at each new time.
    fn evaluation(&self, _backend: &Backend) -> Evaluation {
        Evaluation::OnHost
    }
}

/// How a quantity that changes in time comes to the place where the fields live.
pub enum Evaluation {
    /// [`Prescribed::sample`] at all its points; the values then cross to the backend.
    OnHost,
    /// It is the same everywhere: [`Prescribed::sample`] at one point.
    Uniform,
    /// By kernels; nothing but the time crosses.
    OnBackend(Box<dyn Evaluator>),
}

/// A quantity evaluated where the fields live.
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

/// The condition of one patch.
#[derive(Clone)]
pub enum Condition {
    /// T = value.
    Temperature(Arc<dyn Prescribed>),
    /// k ∂T/∂n = value, the heat that enters through a unit of area.
    HeatFlux(Arc<dyn Prescribed>),
    /// k ∂T/∂n = h (T∞ − T); h does not change in time.
    Convection {
        /// Heat transfer coefficient h ≥ 0.
        coefficient: Arc<dyn Prescribed>,
        /// Temperature of the fluid T∞.
        ambient: Arc<dyn Prescribed>,
    },
    /// No heat crosses: insulated, or a plane of symmetry.
    Insulated,
    /// The matrix has no flux there, and gradients of cells leave the face out: the pressure at a wall,
    /// whose slope follows from the flow.
    Extrapolated,
}

impl Condition {
    /// Whether it determines the level of the temperature and not its slope alone.
    pub fn fixes_the_level(&self) -> bool {
        matches!(self, Condition::Temperature(_) | Condition::Convection { .. })
    }
}

/// The values a boundary prescribes, one for each entry that carries one: a face (its temperature,
/// flux or ambient temperature) or, node-centred, a node held at a temperature.
#[derive(Default)]
pub struct BoundaryValues {
    spans: Vec<Span>,
    len: usize,
}

struct Span {
    prescribed: Arc<dyn Prescribed>,
    points: Vec<f64>,
}

impl BoundaryValues {
    /// Appends entries at `points` and returns the index of the first.
    pub fn push(&mut self, prescribed: &Arc<dyn Prescribed>, points: &[[f64; 3]]) -> usize {
        let first = self.len;
        self.len += points.len();
        let component_major = (0..3).flat_map(|k| points.iter().map(move |p| p[k])).collect();
        self.spans.push(Span { prescribed: prescribed.clone(), points: component_major });
        first
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is prescribed.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All entries at time `t`.
    pub fn at(&self, t: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.len];
        let mut rest = values.as_mut_slice();
        for span in &self.spans {
            let (own, after) = rest.split_at_mut(span.points.len() / 3);
            span.prescribed.sample(&span.points, t, own);
            rest = after;
        }
        values
    }

    /// The values on a backend; `what` names them in messages. There is one value at least: a boundary
    /// face without a prescribed value names value 0 with the factor 0, and kernels read it.
    ///
    /// # Errors
    /// [`DiffusionError`] where a value is not a number, or the backend failed.
    pub fn into_forcing<F: Real>(
        self,
        backend: &Backend,
        what: &'static str,
    ) -> Result<Forcing<F>, DiffusionError> {
        Forcing::new(backend, what, self.len.max(1), self.into_parts())
    }

    /// What each condition gives to its entries.
    fn into_parts(self) -> Vec<Part> {
        let mut first = 0;
        let part = |span: Span| {
            let count = span.points.len() / 3;
            let entries = (first..first + count as u32).collect();
            first += count as u32;
            let (value, points) = (span.prescribed, span.points);
            Part { value, entries, factors: vec![1.0; count], points }
        };
        self.spans.into_iter().map(part).collect()
    }
}
