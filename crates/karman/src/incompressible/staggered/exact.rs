//! The exact fractional step: fluxes U = U_b + C E x without divergence at every step, whatever the tolerance
//! of any solver.
//!
//! U_b takes the boundary's fluxes: that of the start, and a new one, a projection cleared along a tree
//! of cells, where they change. A step solves Eᵀ Cᵀ A C E δx = Eᵀ Cᵀ r, r the residual of the momentum, so that
//! no pressure is wanted; p follows from what is left of the momentum, G p = r − A δU.
//!
//! Source: Chang, Giraldo & Perot, J. Comput. Phys. 180 (2002) 183.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::potential::{PotentialOperator, PotentialScratch, Potentials, Ties};
use super::remainder::Remainder;
use super::shared::with_shared;
use super::step::Staggered;
use super::{StaggeredOperator, curl_curl};
use crate::backend::{Backend, Buffer, View, blas};
use crate::incompressible::flow::Flow;
use crate::incompressible::scheme::Formula;
use crate::incompressible::{FlowCondition, IncompressibleError, StepSystem};
use crate::linear::{Operator, Params, Preconditioner, PreconditionerKind, SolveOutcome, Solver};
use crate::mesh::Mesh;
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// What the exact fractional step has besides.
pub(in crate::incompressible) struct Exact<F: Real> {
    potentials: Arc<Potentials<F>>,
    remainder: Remainder<F>,
    /// U_b: `[n_faces]`.
    pub base: Buffer<F>,
    /// x: `[unknowns]`.
    pub value: Buffer<F>,
    /// δx, the first guess of the next step.
    pub increment: Buffer<F>,
    right_hand_side: Buffer<F>,
    scratch: PotentialScratch<F>,
    /// E x on edges.
    spread: Buffer<F>,
    /// Cᵀ r on edges.
    circulation: Buffer<F>,
    /// A δU.
    momentum: Buffer<F>,
    /// Whether the fluxes of the boundary change.
    varies: bool,
    is_plane: bool,
    params: Params,
    /// What the first solver takes in space, where that is multigrid.
    preconditioner: Option<Box<dyn Preconditioner<F>>>,
    solver: Option<(f64, f64, Solver<F>, StaggeredOperator<F>)>,
}

impl<F: Real> Exact<F> {
    pub(in crate::incompressible) fn new(
        mesh: &Mesh,
        staggered: &Staggered<F>,
        (conditions, held): (&[FlowCondition], &[u32]),
        params: &Params,
    ) -> Result<Self, IncompressibleError> {
        let backend = staggered.faces.backend();
        if !mesh.joins.is_empty() && mesh.joins.len() >= mesh.dimension {
            return Err(IncompressibleError::NoBoundary);
        }
        let rotation = staggered.rotation.clone();
        let ties = Ties::new(mesh, &rotation.host.topology, held);
        let (n_faces, n_edges) = (mesh.n_faces(), rotation.host.topology.n_edges);
        let unknowns = ties.unknowns();
        tracing::debug!("{} potentials, {} of pieces or loops", unknowns, ties.tied.len());
        let potentials = Arc::new(Potentials::new(&staggered.faces, rotation, ties)?);
        let changes = |condition: &FlowCondition| match condition {
            FlowCondition::Velocity(value) => value.iter().any(|v| v.depends_on_time()),
            FlowCondition::ConvectiveOutlet => true,
            _ => false,
        };
        let is_plane = mesh.dimension == 2;
        let params = if is_plane { params.clone() } else { curl_curl::suited(params) };
        let preconditioner = match &params.preconditioner {
            PreconditionerKind::Amg(amg) if !is_plane => {
                let multigrid = curl_curl::multigrid(mesh, &staggered.faces, &potentials, amg)?;
                Some(with_shared(multigrid, &potentials, params.method)?)
            }
            _ => None,
        };
        Ok(Exact {
            preconditioner,
            params,
            scratch: potentials.scratch(),
            potentials,
            remainder: Remainder::new(backend, mesh, held),
            base: backend.zeros(n_faces),
            value: backend.zeros(unknowns),
            increment: backend.zeros(unknowns),
            right_hand_side: backend.zeros(unknowns),
            spread: backend.zeros(n_edges),
            circulation: backend.zeros(n_edges),
            momentum: backend.zeros(n_faces),
            varies: conditions.iter().any(changes),
            is_plane,
            solver: None,
        })
    }

    /// Clears what divergence `flux` has and takes it for U_b, x for 0.
    pub(in crate::incompressible) fn rebase(
        &mut self,
        staggered: &Staggered<F>,
        flux: &mut Buffer<F>,
    ) {
        let backend = staggered.faces.backend();
        self.remainder.clear(&staggered.faces, flux);
        blas::copy(backend, flux.len(), flux, &mut self.base);
        blas::fill(backend, self.value.len(), F::literal(0.0), &mut self.value);
    }

    /// The potential's system of the last step.
    pub(in crate::incompressible) fn system(
        &self,
        viscosity: f64,
    ) -> Result<Option<StepSystem<'_, F>>, IncompressibleError> {
        let Some((shift, theta, ..)) = &self.solver else { return Ok(None) };
        let potentials = self.potentials.clone();
        Ok(Some(StepSystem {
            near: Arc::new(potentials.near(*shift, self.is_plane)?),
            operator: Box::new(PotentialOperator::new(potentials, (*shift, theta * viscosity))),
            right_hand_side: &self.right_hand_side,
            is_singular: false,
        }))
    }

    /// U ← U_b + C E x.
    fn take_flux(&mut self, backend: &Backend, flux: &mut Buffer<F>) {
        self.potentials.flux(&self.value, &mut self.spread, flux);
        blas::axpy(backend, flux.len(), F::literal(1.0), &self.base, flux);
    }
}

impl<F: Real> Flow<F> {
    /// A step from `times[0]` to `times[1]`; `ahead` extrapolates to its end. The solves of the potential and of
    /// the pressure.
    pub(in crate::incompressible) fn step_exact(
        &mut self,
        (staggered, exact): (&mut Staggered<F>, &mut Exact<F>),
        formula: &Formula,
        times: [f64; 2],
        ahead: f64,
    ) -> Result<(SolveOutcome, SolveOutcome), IncompressibleError> {
        let backend = self.backend.clone();
        let n_faces = self.flux.len();
        self.begin_staggered(staggered, formula, times[1], ahead)?;
        if exact.varies {
            self.pressure.project(&self.faces, &self.volume, formula.bdf.shift, &mut self.flux)?;
            exact.rebase(staggered, &mut self.flux);
        }
        self.leave_momentum(staggered, formula, times, ahead)?;
        self.pressure.take_held(&self.faces, &mut staggered.at_faces);

        let (at_faces, circulation) = (&staggered.at_faces, &mut exact.circulation);
        let (scratch, b) = (&mut exact.scratch, &mut exact.right_hand_side);
        exact.potentials.circulation(at_faces, circulation, scratch, b);
        let momentum = self.predict_potential(staggered, exact, formula)?;
        let one = F::literal(1.0);
        blas::axpy(&backend, exact.value.len(), one, &exact.increment, &mut exact.value);
        // δU for what the pressure has to balance.
        let Staggered { increment, at_faces, faces, change, .. } = &mut *staggered;
        exact.potentials.flux(&exact.increment, &mut exact.spread, increment);
        if let Some((_, _, _, operator)) = &mut exact.solver {
            operator.apply(&backend, increment, &mut exact.momentum);
        }
        exact.take_flux(&backend, &mut self.flux);
        let (shift, a) = (F::from_f64(1.0 / formula.bdf.shift), &self.pressure.conductance);
        unbalanced_flux(
            &backend,
            n_faces,
            &faces.is_free,
            at_faces,
            &exact.momentum,
            a,
            shift,
            change,
        );
        let shift = formula.bdf.shift;
        let pressure = self.pressure.recover(&self.faces, &self.volume, shift, change)?;
        self.momentum.set_mean_time([times[1], times[1]])?;
        self.take_velocities(staggered);
        self.advance_pressure(formula);
        Ok((momentum, pressure))
    }

    /// Solves for δx.
    fn predict_potential(
        &mut self,
        staggered: &Staggered<F>,
        exact: &mut Exact<F>,
        formula: &Formula,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let (shift, theta) = (formula.bdf.shift, formula.theta);
        let made = exact.solver.as_ref();
        if !made.is_some_and(|(s, t, ..)| (*s, *t) == (shift, theta)) {
            let factors = (shift, theta * self.viscosity);
            let potentials = exact.potentials.clone();
            // In space one preconditioner serves any shift.
            let kept = match exact.solver.take() {
                Some((_, _, solver, _)) if !exact.is_plane => Some(solver.into_preconditioner()),
                _ => exact.preconditioner.take(),
            };
            let operator = Box::new(PotentialOperator::new(potentials.clone(), factors));
            let (backend, params) = (&self.backend, &exact.params);
            let solver = match kept {
                Some(kept) => Solver::with_preconditioner(backend, operator, kept, params)?,
                None => {
                    let factor = if exact.is_plane { shift } else { 1.0 };
                    let near = Some(Arc::new(potentials.near(factor, exact.is_plane)?));
                    Solver::with_operator(backend, operator, near, params)?
                }
            };
            let (faces, rotation) = (staggered.faces.clone(), staggered.rotation.clone());
            let momentum = StaggeredOperator::new(faces, rotation, factors);
            exact.solver = Some((shift, theta, solver, momentum));
        }
        let Some((_, _, solver, _)) = &mut exact.solver else { unreachable!("made just above") };
        Ok(solver.solve(&exact.right_hand_side, &mut exact.increment)?)
    }
}

/// a (r − A δU) / shift on free faces: what the pressure has to make free of divergence.
///
/// Traffic a face: 4 + 4s.
#[kernel(unbalanced_flux, out(flux))]
pub(super) fn unbalanced_flux_of_face<F: Real>(
    f: usize,
    is_free: &View<u32>,
    residual: &View<F>,
    momentum: &View<F>,
    conductance: &View<F>,
    factor: F,
) -> F {
    let mut left = F::literal(0.0);
    if is_free[f] != 0 {
        left = factor * conductance[f] * (residual[f] - momentum[f]);
    }
    left
}
