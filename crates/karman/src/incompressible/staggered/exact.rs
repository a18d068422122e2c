//! The exact fractional step: fluxes U = U_b + C E x, divergence-free at every step for any solver tolerance.
//!
//! U_b has the prescribed boundary fluxes: a projection with divergence cleaning, at the start and whenever
//! they change. A step solves Eᵀ Cᵀ A C E δx = Eᵀ Cᵀ r, r the momentum residual without pressure; p follows
//! from G p = r − A δU.
//!
//! Source: Chang, Giraldo & Perot, J. Comput. Phys. 180 (2002) 183.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::deflation::deflated;
use super::divergence_cleaning::DivergenceCleaning;
use super::potential::{PotentialConstraints, PotentialOperator, PotentialScratch, Potentials};
use super::step::Staggered;
use super::{StaggeredOperator, curl_curl};
use crate::backend::{Backend, Buffer, View, blas};
use crate::incompressible::scheme::TimeCoefficients;
use crate::incompressible::solver::IncompressibleSolver;
use crate::incompressible::{FlowCondition, IncompressibleError, StepSystem};
use crate::linear::{Operator, Params, Preconditioner, PreconditionerKind, SolveOutcome, Solver};
use crate::mesh::Mesh;
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// Data of the exact fractional step.
pub(in crate::incompressible) struct Exact<F: Real> {
    potentials: Arc<Potentials<F>>,
    divergence_cleaning: DivergenceCleaning<F>,
    /// U_b: `[n_faces]`.
    pub base: Buffer<F>,
    /// x: `[unknowns]`.
    pub value: Buffer<F>,
    /// δx, the initial guess of the next step.
    pub increment: Buffer<F>,
    right_hand_side: Buffer<F>,
    scratch: PotentialScratch<F>,
    /// E x on edges.
    spread: Buffer<F>,
    /// Cᵀ r on edges.
    circulation: Buffer<F>,
    /// A δU.
    momentum: Buffer<F>,
    /// Whether the prescribed boundary fluxes change in time.
    varies: bool,
    is_2d: bool,
    params: Params,
    /// Multigrid preconditioner of the first solver, in 3D.
    preconditioner: Option<Box<dyn Preconditioner<F>>>,
    solver: Option<(f64, f64, Solver<F>, StaggeredOperator<F>)>,
}

impl<F: Real> Exact<F> {
    pub(in crate::incompressible) fn new(
        mesh: &Mesh,
        staggered: &Staggered<F>,
        (conditions, dirichlet_index): (&[FlowCondition], &[u32]),
        params: &Params,
    ) -> Result<Self, IncompressibleError> {
        let backend = staggered.faces.backend();
        if !mesh.periodic_pairs.is_empty() && mesh.periodic_pairs.len() >= mesh.dimension {
            return Err(IncompressibleError::NoBoundary);
        }
        let rotation = staggered.rotation.clone();
        let constraints = PotentialConstraints::new(mesh, &rotation.host.topology, dirichlet_index);
        let (n_faces, n_edges) = (mesh.n_faces(), rotation.host.topology.n_edges);
        let unknowns = constraints.unknowns();
        tracing::debug!("{} potentials, {} of generators", unknowns, constraints.generators.len());
        let potentials = Arc::new(Potentials::new(&staggered.faces, rotation, constraints)?);
        let changes = |condition: &FlowCondition| match condition {
            FlowCondition::Velocity(value) => value.iter().any(|v| v.depends_on_time()),
            FlowCondition::ConvectiveOutlet => true,
            _ => false,
        };
        let is_2d = mesh.dimension == 2;
        let params = if is_2d { params.clone() } else { curl_curl::solver_params(params) };
        let preconditioner = match &params.preconditioner {
            PreconditionerKind::Amg(amg) if !is_2d => {
                let multigrid = curl_curl::multigrid(mesh, &staggered.faces, &potentials, amg)?;
                Some(deflated(multigrid, &potentials, params.method)?)
            }
            _ => None,
        };
        Ok(Exact {
            preconditioner,
            params,
            scratch: potentials.scratch(),
            potentials,
            divergence_cleaning: DivergenceCleaning::new(backend, mesh, dirichlet_index),
            base: backend.zeros(n_faces),
            value: backend.zeros(unknowns),
            increment: backend.zeros(unknowns),
            right_hand_side: backend.zeros(unknowns),
            spread: backend.zeros(n_edges),
            circulation: backend.zeros(n_edges),
            momentum: backend.zeros(n_faces),
            varies: conditions.iter().any(changes),
            is_2d,
            solver: None,
        })
    }

    /// U_b ← `flux` after divergence cleaning, x ← 0.
    pub(in crate::incompressible) fn rebase(
        &mut self,
        staggered: &Staggered<F>,
        flux: &mut Buffer<F>,
    ) {
        let backend = staggered.faces.backend();
        self.divergence_cleaning.clean(&staggered.faces, flux);
        blas::copy(backend, flux.len(), flux, &mut self.base);
        blas::fill(backend, self.value.len(), F::literal(0.0), &mut self.value);
    }

    /// The system of the potential in the last step.
    pub(in crate::incompressible) fn system(
        &self,
        viscosity: f64,
    ) -> Result<Option<StepSystem<'_, F>>, IncompressibleError> {
        let Some((shift, theta, ..)) = &self.solver else { return Ok(None) };
        let potentials = self.potentials.clone();
        Ok(Some(StepSystem {
            preconditioning_matrix: Arc::new(
                potentials.preconditioning_matrix(*shift, self.is_2d)?,
            ),
            operator: Box::new(PotentialOperator::new(potentials, (*shift, theta * viscosity))),
            right_hand_side: &self.right_hand_side,
            is_singular: false,
        }))
    }

    /// U ← U_b + C E x.
    fn update_flux(&mut self, backend: &Backend, flux: &mut Buffer<F>) {
        self.potentials.flux(&self.value, &mut self.spread, flux);
        blas::axpy(backend, flux.len(), F::literal(1.0), &self.base, flux);
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// A step from `times[0]` to `times[1]`; velocities are extrapolated to its end by
    /// u + extrapolation (u − u_before). Returns the solves of the potential and of the pressure.
    pub(in crate::incompressible) fn step_exact(
        &mut self,
        (staggered, exact): (&mut Staggered<F>, &mut Exact<F>),
        coefficients: &TimeCoefficients,
        times: [f64; 2],
        extrapolation: f64,
    ) -> Result<(SolveOutcome, SolveOutcome), IncompressibleError> {
        let backend = self.backend.clone();
        let n_faces = self.flux.len();
        self.prescribe_boundary_fluxes(staggered, coefficients, times[1], extrapolation)?;
        if exact.varies {
            self.pressure.project(
                &self.faces,
                &self.volume,
                coefficients.bdf.shift,
                &mut self.flux,
            )?;
            exact.rebase(staggered, &mut self.flux);
        }
        self.flux_residual(staggered, coefficients, times, extrapolation)?;
        self.pressure.subtract_prescribed(&self.faces, &mut staggered.at_faces);

        let (at_faces, circulation) = (&staggered.at_faces, &mut exact.circulation);
        let (scratch, b) = (&mut exact.scratch, &mut exact.right_hand_side);
        exact.potentials.circulation(at_faces, circulation, scratch, b);
        let momentum = self.predict_potential(staggered, exact, coefficients)?;
        let one = F::literal(1.0);
        blas::axpy(&backend, exact.value.len(), one, &exact.increment, &mut exact.value);
        // δU, for the residual that ∇p balances.
        let Staggered { increment, at_faces, faces, change, .. } = &mut *staggered;
        exact.potentials.flux(&exact.increment, &mut exact.spread, increment);
        if let Some((_, _, _, operator)) = &mut exact.solver {
            operator.apply(&backend, increment, &mut exact.momentum);
        }
        exact.update_flux(&backend, &mut self.flux);
        let (shift, a) = (F::from_f64(1.0 / coefficients.bdf.shift), &self.pressure.conductance);
        unbalanced_flux(
            &backend,
            n_faces,
            &faces.is_unknown,
            at_faces,
            &exact.momentum,
            a,
            shift,
            change,
        );
        let shift = coefficients.bdf.shift;
        let pressure = self.pressure.recover(&self.faces, &self.volume, shift, change)?;
        self.momentum.set_mean_time([times[1], times[1]])?;
        self.update_velocities(staggered);
        self.advance_pressure(coefficients);
        Ok((momentum, pressure))
    }

    /// Solves for δx.
    fn predict_potential(
        &mut self,
        staggered: &Staggered<F>,
        exact: &mut Exact<F>,
        coefficients: &TimeCoefficients,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let (shift, theta) = (coefficients.bdf.shift, coefficients.theta);
        let made = exact.solver.as_ref();
        if !made.is_some_and(|(s, t, ..)| (*s, *t) == (shift, theta)) {
            let factors = (shift, theta * self.viscosity);
            let potentials = exact.potentials.clone();
            // In 3D one preconditioner serves any shift.
            let preconditioner = match exact.solver.take() {
                Some((_, _, solver, _)) if !exact.is_2d => Some(solver.into_preconditioner()),
                _ => exact.preconditioner.take(),
            };
            let operator = Box::new(PotentialOperator::new(potentials.clone(), factors));
            let (backend, params) = (&self.backend, &exact.params);
            let solver = match preconditioner {
                Some(preconditioner) => {
                    Solver::with_preconditioner(backend, operator, preconditioner, params)?
                }
                None => {
                    let factor = if exact.is_2d { shift } else { 1.0 };
                    let matrix =
                        Some(Arc::new(potentials.preconditioning_matrix(factor, exact.is_2d)?));
                    Solver::with_operator(backend, operator, matrix, params)?
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

/// a (r − A δU) / shift on faces of unknown flux, 0 on the others: the flux a G p / shift.
///
/// Traffic a face: 4 + 4s.
#[kernel(unbalanced_flux, out(flux))]
pub(super) fn unbalanced_flux_of_face<F: Real>(
    f: usize,
    is_unknown: &View<u32>,
    residual: &View<F>,
    momentum: &View<F>,
    conductance: &View<F>,
    factor: F,
) -> F {
    let mut left = F::literal(0.0);
    if is_unknown[f] != 0 {
        left = factor * conductance[f] * (residual[f] - momentum[f]);
    }
    left
}
