//! Linear functionals of a field and its prescribed values: a probe, a point of a line,
//! the heat through a face. All are rows of sparse matrices, evaluated by one kernel, so that a monitored
//! step downloads only the requested numbers.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::{Backend, BackendError, Buffer, View};
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// One functional Σ w_i T_i + Σ u_j v_j + Σ l_h (M dT/dt − s)_h, the last over Dirichlet nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Functional {
    /// Unknowns and their weights.
    pub unknowns: Vec<(u32, f64)>,
    /// Prescribed values and their weights.
    pub values: Vec<(u32, f64)>,
    /// Dirichlet nodes, by their position among these, and the weights of their load M dT/dt − s.
    pub dirichlet: Vec<(u32, f64)>,
}

impl Functional {
    /// Adds `factor` times another functional.
    pub fn add(&mut self, factor: f64, other: &Functional) {
        let times = |(i, w): &(u32, f64)| (*i, factor * w);
        self.unknowns.extend(other.unknowns.iter().map(times));
        self.values.extend(other.values.iter().map(times));
        self.dirichlet.extend(other.dirichlet.iter().map(times));
    }

    /// `factor` times this functional.
    pub fn times(&self, factor: f64) -> Functional {
        let mut product = Functional::default();
        product.add(factor, self);
        product
    }

    /// This functional with one weight an entry, entries ascending.
    pub fn merged(mut self) -> Functional {
        for list in [&mut self.unknowns, &mut self.values, &mut self.dirichlet] {
            list.sort_by_key(|entry| entry.0);
            list.dedup_by(|next, entry| {
                let is_same = next.0 == entry.0;
                if is_same {
                    entry.1 += next.1;
                }
                is_same
            });
            list.shrink_to_fit();
        }
        self
    }
}

/// Functionals on a backend.
pub struct Functionals<F: Real> {
    unknowns: Weights<F>,
    values: Weights<F>,
    dirichlet: Weights<F>,
    results: Buffer<F>,
    involved: Option<Involved>,
}

/// The unknowns of all functionals.
struct Involved {
    /// Ascending.
    unknowns: Arc<[u32]>,
    /// The number of each item among them.
    items: Buffer<u32>,
}

/// Weights of each functional, by rows.
struct Weights<F: Real> {
    offsets: Buffer<u32>,
    items: Buffer<u32>,
    weights: Buffer<F>,
}

impl<F: Real> Weights<F> {
    fn view(&self) -> WeightRows<'_, F> {
        self.with_items(&self.items)
    }

    /// With other numbers of the items.
    fn with_items<'a>(&'a self, items: &'a Buffer<u32>) -> WeightRows<'a, F> {
        let Weights { offsets, weights, .. } = self;
        WeightRows { offsets: offsets.view(), items: items.view(), weights: weights.view() }
    }

    fn new<'a>(backend: &Backend, lists: impl Iterator<Item = &'a Vec<(u32, f64)>>) -> Self {
        let mut offsets = vec![0u32];
        let (mut items, mut weights) = (vec![], vec![]);
        for list in lists {
            items.extend(list.iter().map(|e| e.0));
            weights.extend(list.iter().map(|e| F::from_f64(e.1)));
            offsets.push(items.len() as u32);
        }
        Weights {
            offsets: backend.upload(offsets),
            items: backend.upload(items),
            weights: backend.upload(weights),
        }
    }
}

impl<F: Real> Functionals<F> {
    /// Uploads a list of functionals.
    pub fn new(backend: &Backend, list: &[Functional]) -> Self {
        Functionals {
            unknowns: Weights::new(backend, list.iter().map(|f| &f.unknowns)),
            values: Weights::new(backend, list.iter().map(|f| &f.values)),
            dirichlet: Weights::new(backend, list.iter().map(|f| &f.dirichlet)),
            results: backend.zeros(list.len()),
            involved: None,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Whether one of them needs the load of Dirichlet nodes.
    pub fn need_load(&self) -> bool {
        !self.dirichlet.items.is_empty()
    }

    /// The unknowns and the prescribed values of all of them.
    pub fn items(&self) -> [&Buffer<u32>; 2] {
        [&self.unknowns.items, &self.values.items]
    }

    /// The unknowns that they involve, ascending.
    ///
    /// # Errors
    /// [`BackendError`] where the device failed.
    pub fn involved(&mut self, backend: &Backend) -> Result<Arc<[u32]>, BackendError> {
        if let Some(involved) = &self.involved {
            return Ok(involved.unknowns.clone());
        }
        let items = backend.read(&self.unknowns.items)?;
        let mut unknowns = items.clone();
        unknowns.sort_unstable();
        unknowns.dedup();
        let number = |unknown: &u32| unknowns.partition_point(|other| other < unknown) as u32;
        let items = backend.upload(items.iter().map(number).collect());
        let unknowns: Arc<[u32]> = unknowns.into();
        self.involved = Some(Involved { unknowns: unknowns.clone(), items });
        Ok(unknowns)
    }

    /// Evaluates all of them; the results stay on the backend.
    pub fn evaluate(
        &mut self,
        backend: &Backend,
        field: &Buffer<F>,
        prescribed: &Buffer<F>,
        load: &Buffer<F>,
    ) -> &Buffer<F> {
        self.evaluate_rows((backend, false), field, prescribed, load)
    }

    /// As [`Functionals::evaluate`], from the values of the unknowns of [`Functionals::involved`] alone.
    pub fn evaluate_involved(
        &mut self,
        backend: &Backend,
        values: &Buffer<F>,
        prescribed: &Buffer<F>,
        load: &Buffer<F>,
    ) -> &Buffer<F> {
        self.evaluate_rows((backend, true), values, prescribed, load)
    }

    fn evaluate_rows(
        &mut self,
        (backend, of_involved): (&Backend, bool),
        field: &Buffer<F>,
        prescribed: &Buffer<F>,
        load: &Buffer<F>,
    ) -> &Buffer<F> {
        let involved = self.involved.as_ref().filter(|_| of_involved);
        let items = involved.map_or(&self.unknowns.items, |involved| &involved.items);
        evaluate_functionals(
            backend,
            self.results.len(),
            &self.unknowns.with_items(items),
            field,
            &self.values.view(),
            prescribed,
            &self.dirichlet.view(),
            load,
            &mut self.results,
        );
        &self.results
    }
}

/// Weights of each functional as kernels read them.
#[derive(Group, Clone, Copy)]
pub struct WeightRows<'a, F: Real> {
    /// First item of each functional: `[n + 1]`.
    pub offsets: View<'a, u32>,
    /// Entries of the vector that the weights multiply.
    pub items: View<'a, u32>,
    /// Weights.
    pub weights: View<'a, F>,
}

/// Σ w_i T_i + Σ u_j v_j + Σ l_h m_h, m = M dT/dt − s of Dirichlet nodes.
///
/// Traffic a functional: 24 + s, an entry 4 + 2s.
#[kernel(out(result))]
pub fn evaluate_functionals<F: Real>(
    row: usize,
    unknowns: &WeightRows<F>,
    field: &View<F>,
    values: &WeightRows<F>,
    prescribed: &View<F>,
    dirichlet: &WeightRows<F>,
    load: &View<F>,
) -> F {
    let mut sum = F::literal(0.0);
    for k in unknowns.offsets[row] as usize..unknowns.offsets[row + 1] as usize {
        sum += unknowns.weights[k] * field[unknowns.items[k] as usize];
    }
    for k in values.offsets[row] as usize..values.offsets[row + 1] as usize {
        sum += values.weights[k] * prescribed[values.items[k] as usize];
    }
    for k in dirichlet.offsets[row] as usize..dirichlet.offsets[row + 1] as usize {
        sum += dirichlet.weights[k] * load[dirichlet.items[k] as usize];
    }
    sum
}
