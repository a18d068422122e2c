//! Boundary values and sources as vectors of time, assembled on the backend: only the time and values
//! that are uniform in space come from the host.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::prescribed::{Evaluation, Evaluator, Prescribed};
use super::{DiffusionError, check_finite, narrow, narrow_slice};
use crate::backend::{Backend, Buffer, Partials, View, blas};
use crate::real::Real;
use karman_backend::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// A prescribed quantity and the entries it acts on.
pub struct Term {
    /// The quantity.
    pub value: Arc<dyn Prescribed>,
    /// Entries the term adds to, each once.
    pub entries: Vec<u32>,
    /// Factor of the value at each entry.
    pub factors: Vec<f64>,
    /// Points of evaluation: `[3][entries]`.
    pub points: Vec<f64>,
}

/// A vector v_e(t) = Σ w_e p(x_e, t) over the terms that act on entry e, summed in double precision and
/// rounded once.
pub struct TimeDependentData<F: Real> {
    what: &'static str,
    value: Buffer<F>,
    /// `value` is the mean of these two times.
    times: Option<[f64; 2]>,
    varying: Option<VaryingTerms>,
}

/// The terms that change in time.
struct VaryingTerms {
    terms: Vec<VaryingTerm>,
    /// The sum of the steady terms.
    steady: Buffer<f64>,
    sum: Buffer<f64>,
    time: Buffer<f64>,
    partials: Partials,
    /// Number of values that are not finite.
    non_finite: Buffer<f64>,
}

struct VaryingTerm {
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

impl<F: Real> TimeDependentData<F> {
    /// A vector of `len` entries at time 0; `what` names it in messages.
    pub fn new(
        backend: &Backend,
        what: &'static str,
        len: usize,
        terms: Vec<Term>,
    ) -> Result<Self, DiffusionError> {
        let (varying, steady): (Vec<_>, Vec<_>) =
            terms.into_iter().partition(|term| term.value.depends_on_time());
        let mut sum = vec![0.0; len];
        for term in steady {
            let mut values = vec![0.0; term.entries.len()];
            term.value.sample(&term.points, 0.0, &mut values);
            check_finite(what, &values, 0.0)?;
            for ((entry, factor), value) in term.entries.iter().zip(&term.factors).zip(values) {
                sum[*entry as usize] += factor * value;
            }
        }
        let value = narrow_slice(backend, &sum);
        let varying = (!varying.is_empty()).then(|| VaryingTerms::new(backend, sum, varying));
        let mut data = TimeDependentData { what, value, times: None, varying };
        data.set_mean(backend, [0.0; 2])?;
        Ok(data)
    }

    /// V s of a source s at the centroids of cells, of volumes V, at time 0; `what` names it in messages.
    ///
    /// # Errors
    /// [`DiffusionError`] where a value is not a number, or the backend failed.
    pub fn of_cells(
        backend: &Backend,
        what: &'static str,
        source: Arc<dyn Prescribed>,
        (volume, centre): (&[f64], &[f64]),
    ) -> Result<Self, DiffusionError> {
        let n = volume.len();
        if source.depends_on_time() {
            let (factors, points) = (volume.to_vec(), centre.to_vec());
            let entries = (0..n as u32).collect();
            let term = Term { value: source, entries, factors, points };
            return TimeDependentData::new(backend, what, n, vec![term]);
        }
        let mut values = vec![0.0; n];
        source.sample(centre, 0.0, &mut values);
        check_finite(what, &values, 0.0)?;
        let products = values.par_iter_mut().zip(volume).with_min_len(1024);
        // A product −0 becomes 0, as in a sum of terms.
        products.for_each(|(value, volume)| *value = 0.0 + volume * *value);
        let value = narrow(backend, values);
        Ok(TimeDependentData { what, value, times: None, varying: None })
    }

    /// Some entries of the vector, ascending, on the backend of one of several ranks. All ranks call it with entries of
    /// their own.
    pub fn of_rank(&self, backend: &Backend, entries: &[u32]) -> Self {
        let select = |values: &Buffer<F>| -> Buffer<F> {
            let values = values.as_host().unwrap_or_default();
            backend.upload(entries.iter().map(|entry| values[*entry as usize]).collect())
        };
        let varying = self.varying.as_ref().map(|varying| {
            let steady = varying.steady.as_host().unwrap_or_default();
            let steady = entries.iter().map(|entry| steady[*entry as usize]).collect();
            let terms = varying.terms.iter().map(|term| term.restricted(entries)).collect();
            VaryingTerms::new(backend, steady, terms)
        });
        TimeDependentData {
            what: self.what,
            value: select(&self.value),
            times: self.times,
            varying,
        }
    }

    /// The vector as last set.
    pub fn value(&self) -> &Buffer<F> {
        &self.value
    }

    /// The vector, mutable for entries that follow from the solution. Where a term varies in time,
    /// [`TimeDependentData::set_mean`] overwrites them.
    pub fn value_mut(&mut self) -> &mut Buffer<F> {
        &mut self.value
    }

    /// Sets the vector to the mean of its values at two times, which may be equal.
    ///
    /// # Errors
    /// [`DiffusionError::NotFinite`] where a value is not a number; the backend failed.
    pub fn set_mean(&mut self, backend: &Backend, times: [f64; 2]) -> Result<(), DiffusionError> {
        let Some(varying) = &mut self.varying else { return Ok(()) };
        if self.times == Some(times) {
            return Ok(());
        }
        self.times = None;
        varying.evaluate_mean(backend, times);
        if backend.read(&varying.non_finite)?[0] > 0.0 {
            return varying.locate_non_finite(backend, self.what, times);
        }
        round(backend, self.value.len(), &varying.sum, &mut self.value);
        self.times = Some(times);
        Ok(())
    }
}

impl VaryingTerms {
    fn new(backend: &Backend, steady: Vec<f64>, terms: Vec<Term>) -> VaryingTerms {
        let most = terms.iter().map(|term| term.entries.len()).max().unwrap_or(0);
        VaryingTerms {
            sum: backend.zeros(steady.len()),
            steady: backend.upload(steady),
            time: backend.zeros(1),
            partials: Partials::new(backend, most, 1),
            non_finite: backend.zeros(1),
            terms: terms.into_iter().map(|term| VaryingTerm::new(backend, term)).collect(),
        }
    }

    fn evaluate_mean(&mut self, backend: &Backend, [old, new]: [f64; 2]) {
        blas::copy(backend, self.sum.len(), &self.steady, &mut self.sum);
        blas::fill(backend, 1, 0.0, &mut self.non_finite);
        if old == new {
            self.add(backend, new, 1.0);
        } else {
            self.add(backend, old, 0.5);
            self.add(backend, new, 0.5);
        }
    }

    /// Adds `weight` times the terms at time `t`.
    fn add(&mut self, backend: &Backend, t: f64, weight: f64) {
        backend.write(&mut self.time, &[t]);
        for term in &mut self.terms {
            term.evaluate(backend, t, &self.time);
            add_term(
                backend,
                term.entries.len(),
                &term.entries,
                &term.factors,
                weight,
                &term.values,
                &mut self.sum,
                &mut self.partials,
            );
            count_non_finite(backend, &self.partials, &mut self.non_finite);
        }
    }

    /// The error that names the first value that is not finite.
    fn locate_non_finite(
        &mut self,
        backend: &Backend,
        what: &'static str,
        times: [f64; 2],
    ) -> Result<(), DiffusionError> {
        for t in times {
            backend.write(&mut self.time, &[t]);
            for term in &mut self.terms {
                term.evaluate(backend, t, &self.time);
                check_finite(what, &backend.read(&term.values)?, t)?;
            }
        }
        Err(DiffusionError::NotFinite { what, value: f64::NAN, time: times[1] })
    }
}

impl VaryingTerm {
    fn new(backend: &Backend, term: Term) -> VaryingTerm {
        let source = match term.value.evaluation(backend) {
            Evaluation::OnHost => ValueSource::Host { points: term.points },
            Evaluation::Uniform => ValueSource::Uniform,
            Evaluation::OnBackend(evaluator) => {
                ValueSource::Backend { evaluator, points: backend.upload(term.points) }
            }
        };
        VaryingTerm {
            value: term.value,
            source,
            values: backend.zeros(term.entries.len()),
            entries: backend.upload(term.entries),
            factors: backend.upload(term.factors),
        }
    }

    /// The term of some entries, which take the place of the whole vector.
    fn restricted(&self, entries: &[u32]) -> Term {
        let own = self.entries.as_host().unwrap_or_default();
        let factors = self.factors.as_host().unwrap_or_default();
        let found = own.iter().enumerate().filter_map(|(place, entry)| {
            let local = entries.binary_search(entry).ok()?;
            Some((local as u32, place))
        });
        let (locals, places): (Vec<u32>, Vec<usize>) = found.unzip();
        let points = match &self.source {
            ValueSource::Host { points } => points,
            ValueSource::Uniform => &[][..],
            ValueSource::Backend { points, .. } => points.as_host().unwrap_or_default(),
        };
        let n = own.len();
        // Uniform values have no points.
        let at = |place: usize| points.get(place).copied().unwrap_or(0.0);
        let component = |k: usize| places.iter().map(move |place| at(k * n + place));
        Term {
            value: self.value.clone(),
            entries: locals,
            factors: places.iter().map(|place| factors[*place]).collect(),
            points: (0..3).flat_map(component).collect(),
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

/// v_e ← v_e + weight w_i p_i for the entries e of a term; counts the p_i that are not finite.
///
/// Traffic 36.
#[kernel(update(v), indexed, reduce(sum))]
pub(crate) fn add_term(
    i: usize,
    _entry: usize,
    factors: &View<f64>,
    weight: f64,
    values: &View<f64>,
    v: f64,
) -> (f64, f64) {
    let value = values[i];
    let mut is_non_finite = f64::literal(1.0);
    // Every comparison with a NaN is false.
    if value.abs() <= f64::literal(f64::MAX) {
        is_non_finite = f64::literal(0.0);
    }
    (v + weight * (factors[i] * value), is_non_finite)
}

/// Adds the count of one more term.
#[kernel(combine(sum), update(count))]
pub(crate) fn count_non_finite(found: f64, count: f64) -> f64 {
    count + found
}

/// y ← x, rounded. Traffic 8 + s.
#[kernel(out(y), unroll(4))]
pub(crate) fn round<F: Real>(i: usize, x: &View<f64>) -> F {
    F::from_f64(x[i])
}

#[cfg(test)]
mod tests;
