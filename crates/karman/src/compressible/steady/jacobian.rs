//! The operator of a Newton step, A x = x + D⁻¹ (Δτ/V) (R(q + ε D x) − R(q))/ε: a derivative of the residual along x, without a
//! matrix.
//!
//! ε = √(η N)/‖x‖, η the relative round-off and N the number of unknowns, so that a variable changes by √η on average.
//!
//! Source: Knoll & Keyes, J. Comput. Phys. 193 (2004) 357.
#![allow(missing_docs)] // on the modules that the attributes make

use super::super::solver::{CompressibleSolver, Means};
use super::super::state::{Conserved, States, VARIABLES};
use super::residual_norms::{ResidualNorms, Scales, balance_of};
use crate::backend::{Backend, Buffer, Partials, View, blas};
use crate::finite_volume::CellFaces;
use crate::linear::Operator;
use crate::real::Real;
use karman_backend::prelude::*;

/// A, with the flow it belongs to.
pub(super) struct JacobianProduct<F: Real> {
    pub(super) flow: CompressibleSolver<F>,
    /// R(q).
    pub(super) norms: ResidualNorms<F>,
    /// D: `[3]`.
    pub(super) scales: Buffer<F>,
    partials: Partials,
    square: Buffer<f64>,
}

impl<F: Real> JacobianProduct<F> {
    /// The operator of a flow with the scales D of its variables.
    pub(super) fn new(
        backend: &Backend,
        flow: CompressibleSolver<F>,
        norms: ResidualNorms<F>,
        scales: [f64; 3],
    ) -> Self {
        let n = norms.residual.len();
        JacobianProduct {
            norms,
            scales: backend.upload(scales.map(F::from_f64).to_vec()),
            partials: Partials::new(backend, n, 1),
            square: backend.zeros(1),
            flow,
        }
    }

    pub(super) fn scales(&self) -> Scales<'_, F> {
        Scales { values: self.scales.view() }
    }
}

impl<F: Real> Operator<F> for JacobianProduct<F> {
    fn unknowns(&self) -> usize {
        self.norms.residual.len()
    }

    fn total_unknowns(&self) -> usize {
        VARIABLES * self.flow.mesh.cells.n_total()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let unknowns = x.len();
        let n = self.flow.mesh.n_cells();
        let total = self.total_unknowns();
        blas::dot_partials(backend, unknowns, x, x, &mut self.partials);
        blas::finish_sum(backend, &self.partials, &mut self.square);
        let increment = IncrementView {
            x: States::of(x),
            scales: Scales { values: self.scales.view() },
            square: self.square.view(),
            length: F::from_f64((f64::EPSILON * total as f64).sqrt()),
        };
        let state = &mut self.flow.state;
        perturbed(backend, n, &States::of(&state.now), &increment, &mut state.next);
        self.flow.mesh.cells.fetch(&mut [&mut state.next]);
        self.flow.evaluate_fluxes(Means::Next);
        let (source, has_source) = self.flow.source();
        derivative(
            backend,
            n,
            &self.flow.mesh.cell_faces(),
            &States::of(&self.flow.state.flux),
            &source,
            &States::of(&self.norms.residual),
            &self.flow.state.local,
            &increment,
            has_source,
            y,
        );
    }
}

/// A direction in the space of the unknowns.
#[derive(Group, Clone, Copy)]
pub(super) struct IncrementView<'a, F: Real> {
    /// x: `[5][n_cells]`.
    pub x: States<'a, F>,
    /// D.
    pub scales: Scales<'a, F>,
    /// ‖x‖²: `[1]`.
    pub square: View<'a, f64>,
    /// ε ‖x‖.
    pub length: F,
}

#[device]
impl<F: Real> IncrementView<'_, F> {
    /// ε; 0 where x vanishes.
    #[inline(always)]
    fn epsilon(&self) -> F {
        let square = self.square[0];
        let mut epsilon = F::literal(0.0);
        if square > f64::literal(0.0) {
            epsilon = self.length / F::from_f64(square.sqrt());
        }
        epsilon
    }
}

/// q + ε D x. Traffic a cell: 120 (f64).
#[kernel(out(next))]
pub(super) fn perturbed<F: Real>(
    c: usize,
    q: &States<F>,
    increment: &IncrementView<F>,
) -> Conserved<F> {
    q.at(c) + increment.scales.times(increment.x.at(c)) * increment.epsilon()
}

/// A x from the fluxes of the perturbed state. Traffic a cell: 4 + 136, a face 40, an item 4 (f64); a source 40.
#[kernel(out(y))]
pub(super) fn derivative<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    flux: &States<F>,
    source: &States<F>,
    residual: &States<F>,
    local: &View<F>,
    increment: &IncrementView<F>,
    #[comptime] has_source: bool,
) -> Conserved<F> {
    let x = increment.x.at(c);
    let epsilon = increment.epsilon();
    let mut y = x;
    if epsilon > F::literal(0.0) {
        let difference = balance_of::<F>(c, cells, flux, source, has_source) - residual.at(c);
        let factor = local[c] / (cells.volume[c] * epsilon);
        y += increment.scales.divided(difference) * factor;
    }
    y
}

/// −D⁻¹ (Δτ/V) R. Traffic a cell: 96 (f64).
#[kernel(out(b))]
pub(super) fn right_hand_side<F: Real>(
    c: usize,
    residual: &States<F>,
    local: &View<F>,
    volume: &View<F>,
    scales: &Scales<F>,
) -> Conserved<F> {
    scales.divided(residual.at(c)) * (F::literal(0.0) - local[c] / volume[c])
}
