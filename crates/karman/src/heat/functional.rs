//! Linear functionals of a temperature field and its prescribed values: a probe, a point of a line,
//! the heat through a face. All are rows of two sparse matrices, evaluated by one kernel, so that a
//! monitored step brings home only the numbers asked for.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::{Backend, Buffer, View};
use crate::real::Real;
use cubecl::prelude::*;
use karman_macros::kernel;

/// One functional Σ w_i T_i + Σ u_j v_j.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Functional {
    /// Unknowns and their weights.
    pub unknowns: Vec<(u32, f64)>,
    /// Prescribed values and their weights.
    pub values: Vec<(u32, f64)>,
}

impl Functional {
    /// This plus `factor` times another.
    pub fn add(&mut self, factor: f64, other: &Functional) {
        self.unknowns.extend(other.unknowns.iter().map(|(i, w)| (*i, factor * w)));
        self.values.extend(other.values.iter().map(|(i, w)| (*i, factor * w)));
    }

    /// Its value on host arrays.
    pub fn of(&self, temperature: &[f64], prescribed: &[f64]) -> f64 {
        let inner: f64 = self.unknowns.iter().map(|(i, w)| w * temperature[*i as usize]).sum();
        let outer: f64 = self.values.iter().map(|(i, w)| w * prescribed[*i as usize]).sum();
        inner + outer
    }
}

/// Functionals on a backend.
pub struct Functionals<F: Real> {
    offsets: Buffer<u32>,
    unknowns: Buffer<u32>,
    weights: Buffer<F>,
    value_offsets: Buffer<u32>,
    values: Buffer<u32>,
    value_weights: Buffer<F>,
    results: Buffer<F>,
}

impl<F: Real> Functionals<F> {
    /// Uploads a list of functionals.
    pub fn new(backend: &Backend, list: &[Functional]) -> Self {
        let compress = |pick: &dyn Fn(&Functional) -> &[(u32, f64)]| {
            let mut offsets = vec![0u32];
            let (mut items, mut weights) = (vec![], vec![]);
            for functional in list {
                items.extend(pick(functional).iter().map(|e| e.0));
                weights.extend(pick(functional).iter().map(|e| F::narrow(e.1)));
                offsets.push(items.len() as u32);
            }
            (backend.upload(offsets), backend.upload(items), backend.upload(weights))
        };
        let (offsets, unknowns, weights) = compress(&|f| &f.unknowns);
        let (value_offsets, values, value_weights) = compress(&|f| &f.values);
        let results = backend.zeros(list.len());
        Functionals { offsets, unknowns, weights, value_offsets, values, value_weights, results }
    }

    /// Number of functionals.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Evaluates all of them; the results stay on the backend.
    pub fn evaluate(
        &mut self,
        backend: &Backend,
        temperature: &Buffer<F>,
        prescribed: &Buffer<F>,
    ) -> &Buffer<F> {
        evaluate_functionals(
            backend,
            self.results.len(),
            &self.offsets,
            &self.unknowns,
            &self.weights,
            temperature,
            &self.value_offsets,
            &self.values,
            &self.value_weights,
            prescribed,
            &mut self.results,
        );
        &self.results
    }
}

/// Σ w_i T_i + Σ u_j v_j.
///
/// Traffic a functional: 8 + s, an entry 4 + 2s.
#[kernel(evaluate_functionals, out(result))]
pub fn value_of_functional<F: Real>(
    row: usize,
    offsets: &View<u32>,
    unknowns: &View<u32>,
    weights: &View<F>,
    temperature: &View<F>,
    value_offsets: &View<u32>,
    values: &View<u32>,
    value_weights: &View<F>,
    prescribed: &View<F>,
) -> F {
    let mut sum = F::literal(0.0);
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        sum += weights[k] * temperature[unknowns[k] as usize];
    }
    for k in value_offsets[row] as usize..value_offsets[row + 1] as usize {
        sum += value_weights[k] * prescribed[values[k] as usize];
    }
    sum
}
