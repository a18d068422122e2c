//! What pieces and loops share, in the preconditioner of a potential in space.
//!
//! B of the other unknowns becomes B + Σ q_k q_kᵀ: q_k is 1 at a shared unknown and −H⁻¹ H e_k on
//! the others, made orthonormal in H = Eᵀ Cᵀ M C E. Jacobi alone would leave one small eigenvalue for each of
//! them: the flow of least energy through a loop against that along its walls.
//!
//! Source: Nicolaides, SIAM J. Numer. Anal. 24 (1987) 355, the correction in few vectors.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::potential::{PotentialOperator, Potentials};
use crate::backend::{Backend, Buffer, Partials, View, blas};
use crate::linear::{
    HierarchyReport, LinearError, Method, Operator, Params, Preconditioner, Solver,
};
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// More shared unknowns than this are left to Jacobi: each takes a vector.
const MOST: usize = 8;

/// How far H q = −H e_k is solved.
const TOLERANCE: f64 = 1e-3;

/// `inner` with the vectors of the shared unknowns, where there are some and not too many.
pub(super) fn with_shared<F: Real>(
    inner: Box<dyn Preconditioner<F>>,
    potentials: &Arc<Potentials<F>>,
    method: Method,
) -> Result<Box<dyn Preconditioner<F>>, LinearError> {
    let count = potentials.shared.len();
    if count == 0 || count > MOST {
        return Ok(inner);
    }
    let (backend, n) = (potentials.backend.clone(), potentials.ties.unknowns());
    let product = || PotentialOperator::new(potentials.clone(), (1.0, 0.0));
    let others = OtherUnknowns { product: product(), potentials: potentials.clone() };
    let params = Params { method, relative_tolerance: TOLERANCE, ..Params::default() };
    let mut solver = Solver::with_preconditioner(&backend, Box::new(others), inner, &params)?;
    let (mut product, mut modes, mut products) = (product(), vec![], vec![]);
    for k in n - count..n {
        let mut unit = vec![F::literal(0.0); n];
        unit[k] = F::literal(-1.0);
        let unit = backend.upload(unit);
        let (mut b, mut mode) = (backend.zeros(n), backend.zeros(n));
        product.apply(&backend, &unit, &mut b);
        let largest = -backend.read(&b)?[k].to_f64();
        clear_shared(&backend, count, &potentials.shared, &mut b);
        let outcome = solver.solve(&b, &mut mode)?;
        tracing::debug!("shared potential {k}: {outcome}");
        blas::axpy(&backend, n, F::literal(-1.0), &unit, &mut mode);
        for (other, product) in modes.iter().zip(&products) {
            let share = blas::dot(&backend, n, product, &mode)?;
            blas::axpy(&backend, n, F::from_f64(-share), other, &mut mode);
        }
        product.apply(&backend, &mode, &mut b);
        let energy = blas::dot(&backend, n, &b, &mode)?;
        // A combination of the others is no new vector.
        if energy > 1e-10 * largest {
            let factor = F::from_f64(1.0 / energy.sqrt());
            blas::scale(&backend, n, factor, &mut mode);
            blas::scale(&backend, n, factor, &mut b);
            modes.push(mode);
            products.push(b);
        }
    }
    let partials = Partials::new(&backend, n, 1);
    let inner = solver.into_preconditioner();
    Ok(Box::new(SharedPotentials { inner, modes, partials }))
}

/// z = B r + Σ q_k (q_k·r).
struct SharedPotentials<F: Real> {
    inner: Box<dyn Preconditioner<F>>,
    /// q_k.
    modes: Vec<Buffer<F>>,
    partials: Partials,
}

impl<F: Real> Preconditioner<F> for SharedPotentials<F> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<F>, z: &mut Buffer<F>) {
        self.inner.apply(backend, r, z);
        for mode in &self.modes {
            blas::dot_partials(backend, r.len(), mode, r, &mut self.partials);
            add_share(backend, r.len(), &mut self.partials, mode, z);
        }
    }

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric()
    }

    fn hierarchy(&self) -> Option<&HierarchyReport> {
        self.inner.hierarchy()
    }

    fn bytes(&self) -> usize {
        self.inner.bytes() + self.modes.iter().map(|mode| 5 * mode.bytes()).sum::<usize>()
    }
}

/// H on what is not shared, which x must be 0 on.
struct OtherUnknowns<F: Real> {
    product: PotentialOperator<F>,
    potentials: Arc<Potentials<F>>,
}

impl<F: Real> Operator<F> for OtherUnknowns<F> {
    fn unknowns(&self) -> usize {
        self.product.unknowns()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        self.product.apply(backend, x, y);
        let shared = &self.potentials.shared;
        clear_shared(backend, shared.len(), shared, y);
    }
}

/// y of a shared unknown ← 0. Traffic 4 + s.
#[kernel(clear_shared, out(y), indexed)]
pub(super) fn nothing_shared<F: Real>(_i: usize, _unknown: usize) -> F {
    F::literal(0.0)
}

#[device]
fn whole(sum: f64) -> f64 {
    sum
}

/// z ← z + q (q·r). Traffic 3s.
#[kernel(add_share, given(share = whole(1)), update(z), unroll(4))]
pub(super) fn with_share<F: Real>(i: usize, share: f64, q: &View<F>, z: F) -> F {
    z + F::from_f64(share) * q[i]
}
