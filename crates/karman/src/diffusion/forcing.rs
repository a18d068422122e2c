//! What boundary and sources impose on the unknowns, assembled where the fields live: of a field only
//! the time and numbers that are the same everywhere come from the host.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::conditions::{Evaluation, Evaluator, Prescribed};
use super::{DiffusionError, check_finite, narrow};
use crate::backend::{Backend, Buffer, Partials, View, blas};
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// A prescribed quantity and what it acts on.
pub struct Part {
    /// The quantity.
    pub value: Arc<dyn Prescribed>,
    /// Entries it adds to, each once.
    pub entries: Vec<u32>,
    /// Factor of its value at each of them.
    pub factors: Vec<f64>,
    /// Where it is evaluated: `[3][entries]`.
    pub points: Vec<f64>,
}

/// A vector v_e(t) = Σ w_e p(x_e, t) over the parts that act on entry e. Sums are taken in double
/// precision and rounded once.
pub struct Forcing<F: Real> {
    what: &'static str,
    value: Buffer<F>,
    /// The times `value` is the mean of.
    times: Option<[f64; 2]>,
    varying: Option<Varying>,
}

/// What it takes to follow the time.
struct Varying {
    parts: Vec<VaryingPart>,
    /// The sum of the parts that do not change.
    steady: Buffer<f64>,
    sum: Buffer<f64>,
    time: Buffer<f64>,
    partials: Partials,
    /// Number of values found not to be finite.
    faults: Buffer<f64>,
}

struct VaryingPart {
    value: Arc<dyn Prescribed>,
    source: ValueSource,
    entries: Buffer<u32>,
    factors: Buffer<f64>,
    values: Buffer<f64>,
}

enum ValueSource {
    Host { points: Vec<f64> },
    Uniform,
    Backend { evaluator: Box<dyn Evaluator>, points: Buffer<f64> },
}

impl<F: Real> Forcing<F> {
    /// A vector of `len` entries at time 0; `what` names it in messages.
    pub fn new(
        backend: &Backend,
        what: &'static str,
        len: usize,
        parts: Vec<Part>,
    ) -> Result<Self, DiffusionError> {
        let (varying, steady): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|p| p.value.depends_on_time());
        let mut sum = vec![0.0; len];
        for part in steady {
            let mut values = vec![0.0; part.entries.len()];
            part.value.sample(&part.points, 0.0, &mut values);
            check_finite(what, &values, 0.0)?;
            for ((entry, factor), value) in part.entries.iter().zip(&part.factors).zip(values) {
                sum[*entry as usize] += factor * value;
            }
        }
        let value = narrow(backend, sum.clone());
        let varying = (!varying.is_empty()).then(|| Varying::new(backend, sum, varying));
        let mut forcing = Forcing { what, value, times: None, varying };
        forcing.set_mean(backend, [0.0; 2])?;
        Ok(forcing)
    }

    /// The vector as last set.
    pub fn value(&self) -> &Buffer<F> {
        &self.value
    }

    /// The same, for entries that follow from the solution; what varies in time overwrites them with what
    /// it says when a time is taken.
    pub fn value_mut(&mut self) -> &mut Buffer<F> {
        &mut self.value
    }

    /// Takes the mean of two times, which may be the same.
    ///
    /// # Errors
    /// [`DiffusionError::NotFinite`] where a value is not a number; the backend failed.
    pub fn set_mean(&mut self, backend: &Backend, times: [f64; 2]) -> Result<(), DiffusionError> {
        let Some(varying) = &mut self.varying else { return Ok(()) };
        if self.times == Some(times) {
            return Ok(());
        }
        self.times = None;
        varying.take_mean(backend, times);
        if backend.read(&varying.faults)?[0] > 0.0 {
            return varying.refuse(backend, self.what, times);
        }
        round(backend, self.value.len(), &varying.sum, &mut self.value);
        self.times = Some(times);
        Ok(())
    }
}

impl Varying {
    fn new(backend: &Backend, steady: Vec<f64>, parts: Vec<Part>) -> Varying {
        let most = parts.iter().map(|p| p.entries.len()).max().unwrap_or(0);
        Varying {
            sum: backend.zeros(steady.len()),
            steady: backend.upload(steady),
            time: backend.zeros(1),
            partials: Partials::new(backend, most, 1),
            faults: backend.zeros(1),
            parts: parts.into_iter().map(|part| VaryingPart::new(backend, part)).collect(),
        }
    }

    fn take_mean(&mut self, backend: &Backend, [old, new]: [f64; 2]) {
        blas::copy(backend, self.sum.len(), &self.steady, &mut self.sum);
        blas::fill(backend, 1, 0.0, &mut self.faults);
        if old == new {
            self.add(backend, new, 1.0);
        } else {
            self.add(backend, old, 0.5);
            self.add(backend, new, 0.5);
        }
    }

    /// Adds `weight` times the parts at time `t`.
    fn add(&mut self, backend: &Backend, t: f64, weight: f64) {
        backend.write(&mut self.time, &[t]);
        for part in &mut self.parts {
            part.evaluate(backend, t, &self.time);
            add_part(
                backend,
                part.entries.len(),
                &part.entries,
                &part.factors,
                weight,
                &part.values,
                &mut self.sum,
                &mut self.partials,
            );
            count_faults(backend, &self.partials, &mut self.faults);
        }
    }

    /// The error that names the first value that is not finite.
    fn refuse(
        &mut self,
        backend: &Backend,
        what: &'static str,
        times: [f64; 2],
    ) -> Result<(), DiffusionError> {
        for t in times {
            backend.write(&mut self.time, &[t]);
            for part in &mut self.parts {
                part.evaluate(backend, t, &self.time);
                check_finite(what, &backend.read(&part.values)?, t)?;
            }
        }
        Err(DiffusionError::NotFinite { what, value: f64::NAN, time: times[1] })
    }
}

impl VaryingPart {
    fn new(backend: &Backend, part: Part) -> VaryingPart {
        let source = match part.value.evaluation(backend) {
            Evaluation::OnHost => ValueSource::Host { points: part.points },
            Evaluation::Uniform => ValueSource::Uniform,
            Evaluation::OnBackend(evaluator) => {
                ValueSource::Backend { evaluator, points: backend.upload(part.points) }
            }
        };
        VaryingPart {
            value: part.value,
            source,
            values: backend.zeros(part.entries.len()),
            entries: backend.upload(part.entries),
            factors: backend.upload(part.factors),
        }
    }

    fn evaluate(&mut self, backend: &Backend, t: f64, time: &Buffer<f64>) {
        let n = self.values.len();
        match &self.source {
            ValueSource::Host { points } => {
                let mut values = vec![0.0; n];
                self.value.sample(points, t, &mut values);
                backend.write(&mut self.values, &values);
            }
            ValueSource::Uniform => {
                let mut value = [0.0];
                self.value.sample(&[0.0; 3], t, &mut value);
                blas::fill(backend, n, value[0], &mut self.values);
            }
            ValueSource::Backend { evaluator, points } => {
                evaluator.evaluate(backend, points, time, &mut self.values);
            }
        }
    }
}

/// v_e ← v_e + weight w_i p_i for the entries e of a part; counts the p_i that are not finite.
///
/// Traffic 36.
#[kernel(add_part, update(v), indexed, reduce(sum))]
pub(crate) fn with_part(
    i: usize,
    _entry: usize,
    factors: &View<f64>,
    weight: f64,
    values: &View<f64>,
    v: f64,
) -> (f64, f64) {
    let value = values[i];
    let mut fault = f64::literal(1.0);
    // Of what is not a number every comparison is false.
    if value.abs() <= f64::literal(f64::MAX) {
        fault = f64::literal(0.0);
    }
    (v + weight * (factors[i] * value), fault)
}

/// The faults of one part more.
#[kernel(count_faults, combine(sum), update(faults))]
pub(crate) fn with_faults(found: f64, faults: f64) -> f64 {
    faults + found
}

/// y ← x, rounded. Traffic 8 + s.
#[kernel(round, out(y), unroll(4))]
pub(crate) fn rounded<F: Real>(i: usize, x: &View<f64>) -> F {
    F::from_f64(x[i])
}

#[cfg(test)]
mod tests;
