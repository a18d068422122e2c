//! Deflation of the generators in the preconditioner of a 3D potential.
//!
//! B on the other unknowns becomes B + Σ q_k q_kᵀ: q_k is 1 at a generator and −H⁻¹ H e_k on the others,
//! orthonormal in H = Eᵀ Cᵀ M C E. Jacobi alone leaves a small eigenvalue for each generator: the ratio of
//! the energy of the smoothest flow through a loop to that of a flow along its walls.
//!
//! Source: Nicolaides, SIAM J. Numer. Anal. 24 (1987) 355.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::potential::{PotentialOperator, Potentials};
use crate::backend::{Backend, Buffer, Halo, Partials, View, blas};
use crate::linear::{
    HierarchyReport, LinearError, Method, Operator, Params, Preconditioner, Solver,
};
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// Largest number of deflation vectors; more generators are left to Jacobi.
const MAX_VECTORS: usize = 8;

/// Relative tolerance of H q = −H e_k.
const TOLERANCE: f64 = 1e-3;

/// `inner` with deflation of at most [`MAX_VECTORS`] generators.
pub(super) fn deflated<F: Real>(
    inner: Box<dyn Preconditioner<F>>,
    potentials: &Arc<Potentials<F>>,
    method: Method,
) -> Result<Box<dyn Preconditioner<F>>, LinearError> {
    let count = potentials.constraints.generators.len();
    let generators = &potentials.generator_unknowns;
    if count == 0 || count > MAX_VECTORS {
        return Ok(inner);
    }
    let (backend, own) = (potentials.backend.clone(), potentials.own());
    let (n, total) = (own.len(), potentials.constraints.unknowns());
    let product = || PotentialOperator::new(potentials.clone(), (1.0, 0.0));
    let others = ReducedOperator { product: product(), potentials: potentials.clone() };
    let params = Params { method, relative_tolerance: TOLERANCE, ..Params::default() };
    let mut solver = Solver::with_preconditioner(&backend, Box::new(others), inner, &params)?;
    let (mut product, mut vectors, mut products) = (product(), vec![], vec![]);
    for k in total - count..total {
        let mut unit = vec![F::literal(0.0); n];
        if let Some(entry) = k.checked_sub(own.start).and_then(|place| unit.get_mut(place)) {
            *entry = F::literal(-1.0);
        }
        let own_unit = backend.upload(unit);
        let mut unit = potentials.vector();
        blas::copy(&backend, n, &own_unit, &mut unit);
        potentials.fetch(&mut unit);
        let (mut b, mut vector) = (backend.zeros(n), potentials.vector());
        product.apply(&backend, &unit, &mut b);
        // Its only term that is not 0 is −b_k.
        let largest = blas::dot(&backend, n, &b, &own_unit)?;
        zero_generators(&backend, generators.len(), generators, &mut b);
        let outcome = solver.solve(&b, &mut vector)?;
        tracing::debug!("deflation vector {k}: {outcome}");
        blas::axpy(&backend, n, F::literal(-1.0), &unit, &mut vector);
        for (other, product) in vectors.iter().zip(&products) {
            let coefficient = blas::dot(&backend, n, product, &vector)?;
            blas::axpy(&backend, n, F::from_f64(-coefficient), other, &mut vector);
        }
        potentials.fetch(&mut vector);
        product.apply(&backend, &vector, &mut b);
        let energy = blas::dot(&backend, n, &b, &vector)?;
        // Skips linearly dependent vectors.
        if energy > 1e-10 * largest {
            let factor = F::from_f64(1.0 / energy.sqrt());
            blas::scale(&backend, n, factor, &mut vector);
            blas::scale(&backend, n, factor, &mut b);
            vectors.push(vector);
            products.push(b);
        }
    }
    let partials = Partials::new(&backend, n, 1);
    let inner = solver.into_preconditioner();
    Ok(Box::new(DeflatedPreconditioner { inner, vectors, partials }))
}

/// z = B r + Σ q_k (q_k·r).
struct DeflatedPreconditioner<F: Real> {
    inner: Box<dyn Preconditioner<F>>,
    /// q_k.
    vectors: Vec<Buffer<F>>,
    partials: Partials,
}

impl<F: Real> Preconditioner<F> for DeflatedPreconditioner<F> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<F>, z: &mut Buffer<F>) {
        self.inner.apply(backend, r, z);
        for vector in &self.vectors {
            blas::dot_partials(backend, r.len(), vector, r, &mut self.partials);
            add_projection(backend, r.len(), &mut self.partials, vector, z);
        }
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn hierarchy(&self) -> Option<&HierarchyReport> {
        self.inner.hierarchy()
    }

    fn bytes(&self) -> usize {
        self.inner.bytes() + self.vectors.iter().map(|vector| 5 * vector.bytes()).sum::<usize>()
    }
}

/// H restricted to the unknowns without generators; x must be 0 on the generators.
struct ReducedOperator<F: Real> {
    product: PotentialOperator<F>,
    potentials: Arc<Potentials<F>>,
}

impl<F: Real> Operator<F> for ReducedOperator<F> {
    fn unknowns(&self) -> usize {
        self.product.unknowns()
    }

    fn exchange(&self) -> Option<&Arc<Halo>> {
        self.product.exchange()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        self.product.apply(backend, x, y);
        let generators = &self.potentials.generator_unknowns;
        zero_generators(backend, generators.len(), generators, y);
    }
}

/// y of a generator ← 0. Traffic 4 + s.
#[kernel(out(y), indexed)]
pub(super) fn zero_generators<F: Real>(_i: usize, _unknown: usize) -> F {
    F::literal(0.0)
}

#[device]
fn identity(sum: f64) -> f64 {
    sum
}

/// z ← z + q (q·r). Traffic 3s.
#[kernel(scalar(coefficient = identity(1)), update(z), unroll(4))]
pub(super) fn add_projection<F: Real>(i: usize, coefficient: f64, q: &View<F>, z: F) -> F {
    z + F::from_f64(coefficient) * q[i]
}
