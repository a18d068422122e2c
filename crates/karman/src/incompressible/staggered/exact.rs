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
use super::face_unknowns::Staggered;
use super::potential::{PotentialConstraints, PotentialOperator, PotentialScratch, Potentials};
use super::{StaggeredOperator, curl_curl};
use crate::backend::{Buffer, View, blas};
use crate::incompressible::flow::Flow;
use crate::incompressible::places::{OwnFirst, Place};
use crate::incompressible::stage::{OldLevel, StageOfStep};
use crate::incompressible::step::{Step, StepSolves};
use crate::incompressible::stepper::Stepper;
use crate::incompressible::{FlowCondition, IncompressibleError, StepSystem};
use crate::linear::{Operator, Params, Preconditioner, PreconditionerKind, SolveOutcome, Solver};
use crate::mesh::Mesh;
use crate::operators::Part;
use crate::real::Real;
use crate::time::{ImplicitOperator, TimeCoefficients};
use karman_backend::prelude::*;
use std::sync::Arc;

/// The exact fractional step.
pub(in crate::incompressible) struct ExactStepper<F: Real> {
    staggered: Staggered<F>,
    potentials: Arc<Potentials<F>>,
    divergence_cleaning: DivergenceCleaning<F>,
    /// U_b: `[n_faces]`.
    base: Buffer<F>,
    /// x: `[unknowns]`.
    value: Buffer<F>,
    /// δx, the initial guess of the next step.
    increment: Buffer<F>,
    /// Eᵀ Cᵀ r.
    right_hand_side: Buffer<F>,
    scratch: ExactScratch<F>,
    /// Whether the prescribed boundary fluxes change in time.
    varies: bool,
    solver: PotentialSolver<F>,
}

/// Arrays that a step overwrites.
struct ExactScratch<F: Real> {
    potential: PotentialScratch<F>,
    /// E x on edges.
    spread: Buffer<F>,
    /// Cᵀ r on edges.
    circulation: Buffer<F>,
    /// A δU.
    momentum: Buffer<F>,
}

/// The solver of the potential.
struct PotentialSolver<F: Real> {
    is_2d: bool,
    params: Params,
    /// Multigrid preconditioner of the first solver, in 3D.
    preconditioner: Option<Box<dyn Preconditioner<F>>>,
    /// The solver of Eᵀ Cᵀ A C E, and A.
    current: ImplicitOperator<(Solver<F>, StaggeredOperator<F>)>,
}

impl<F: Real> PotentialSolver<F> {
    fn new(
        mesh: &Mesh,
        staggered: &Staggered<F>,
        potentials: &Arc<Potentials<F>>,
        params: &Params,
    ) -> Result<Self, IncompressibleError> {
        let is_2d = mesh.dimension == 2;
        let params = if is_2d { params.clone() } else { curl_curl::solver_params(params) };
        let preconditioner = match &params.preconditioner {
            PreconditionerKind::Amg(amg) if !is_2d => {
                let multigrid = curl_curl::multigrid(mesh, &staggered.faces, potentials, amg)?;
                Some(deflated(multigrid, potentials, params.method)?)
            }
            _ => None,
        };
        Ok(PotentialSolver { is_2d, params, preconditioner, current: ImplicitOperator::default() })
    }

    /// The solver and A of a step.
    fn prepare(
        &mut self,
        staggered: &Staggered<F>,
        potentials: &Arc<Potentials<F>>,
        coefficients: &TimeCoefficients,
        viscosity: f64,
    ) -> Result<&mut (Solver<F>, StaggeredOperator<F>), IncompressibleError> {
        let (shift, theta) = (coefficients.bdf.shift, coefficients.theta);
        let PotentialSolver { is_2d, params, preconditioner, current } = self;
        let backend = staggered.faces.backend();
        current.prepare(shift, theta, |last| {
            let factors = (shift, theta * viscosity);
            // In 3D one preconditioner serves any shift.
            let preconditioner = match last {
                Some((solver, _)) if !*is_2d => Some(solver.into_preconditioner()),
                _ => preconditioner.take(),
            };
            let operator = Box::new(PotentialOperator::new(potentials.clone(), factors));
            let solver = match preconditioner {
                Some(preconditioner) => {
                    Solver::with_preconditioner(backend, operator, preconditioner, params)?
                }
                None => {
                    let factor = if *is_2d { shift } else { 1.0 };
                    let matrix = potentials.preconditioning_matrix(factor, *is_2d)?;
                    Solver::with_operator(backend, operator, Some(Arc::new(matrix)), params)?
                }
            };
            let (faces, rotation) = (staggered.faces.clone(), staggered.rotation.clone());
            Ok((solver, StaggeredOperator::new(faces, rotation, factors)))
        })
    }
}

impl<F: Real> ExactStepper<F> {
    pub(in crate::incompressible) fn new(
        mesh: &Mesh,
        staggered: Staggered<F>,
        (conditions, dirichlet_index): (&[FlowCondition], &[u32]),
        params: &Params,
    ) -> Result<Self, IncompressibleError> {
        let backend = staggered.faces.backend().clone();
        if !mesh.periodic_pairs.is_empty() && mesh.periodic_pairs.len() >= mesh.dimension {
            return Err(IncompressibleError::NoBoundary);
        }
        let rotation = staggered.rotation.clone();
        let constraints = PotentialConstraints::new(mesh, &rotation.host.topology, dirichlet_index);
        let (n_faces, n_edges) = (mesh.n_faces(), rotation.host.topology.n_edges);
        let unknowns = constraints.unknowns();
        tracing::debug!("{} potentials, {} of generators", unknowns, constraints.generators.len());
        let potentials = Arc::new(Potentials::new(&staggered.faces, rotation, constraints)?);
        let changes = |condition: &FlowCondition| {
            condition.has_velocity_in_time() || condition.is_convective()
        };
        Ok(ExactStepper {
            solver: PotentialSolver::new(mesh, &staggered, &potentials, params)?,
            scratch: ExactScratch {
                potential: potentials.scratch(),
                spread: backend.zeros(n_edges),
                circulation: backend.zeros(n_edges),
                momentum: backend.zeros(n_faces),
            },
            potentials,
            divergence_cleaning: DivergenceCleaning::new(&backend, mesh, dirichlet_index),
            base: backend.zeros(n_faces),
            value: backend.zeros(unknowns),
            increment: backend.zeros(unknowns),
            right_hand_side: backend.zeros(unknowns),
            varies: conditions.iter().any(changes),
            staggered,
        })
    }

    /// U_b ← `flux` after divergence cleaning, x ← 0.
    fn rebase(&mut self, flux: &mut Buffer<F>) {
        let faces = &self.staggered.faces;
        self.divergence_cleaning.clean(faces, flux);
        blas::copy(faces.backend(), flux.len(), flux, &mut self.base);
        blas::fill(faces.backend(), self.value.len(), F::literal(0.0), &mut self.value);
    }

    /// scratch.momentum ← U at the implicit time, extrapolated, for inlets of total pressure.
    fn extrapolate_flux(&mut self, flow: &Flow<F>, step: &Step) {
        if flow.pressure.conditions.of_flow.is_none() {
            return;
        }
        let to_midpoint = if step.coefficients.is_midpoint() { 0.5 } else { 1.0 };
        let factor = F::from_f64(to_midpoint * step.extrapolation);
        let (one, zero) = (F::literal(1.0), F::literal(0.0));
        let (before, into) = (&self.staggered.before, &mut self.scratch.momentum);
        let (n, flux) = (flow.n_faces(), &flow.flux);
        blas::axpbypcz(&flow.backend, n, one + factor, flux, -factor, before, zero, into);
    }

    /// U ← U_b + C E x.
    fn update_flux(&mut self, flux: &mut Buffer<F>) {
        self.potentials.flux(&self.value, &mut self.scratch.spread, flux);
        let backend = self.staggered.faces.backend();
        blas::axpy(backend, flux.len(), F::literal(1.0), &self.base, flux);
    }

    /// Solves for δx; `increment` of the staggered data ← δU, scratch.momentum ← A δU.
    fn predict(
        &mut self,
        flow: &Flow<F>,
        coefficients: &TimeCoefficients,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let ExactStepper {
            staggered,
            potentials,
            value,
            increment,
            right_hand_side,
            scratch,
            solver,
            ..
        } = self;
        let ExactScratch { potential, spread, circulation, momentum } = scratch;
        potentials.circulation(&staggered.at_faces, circulation, potential, right_hand_side);
        let (solver, operator) =
            solver.prepare(staggered, potentials, coefficients, flow.viscosity())?;
        let outcome = solver.solve(right_hand_side, increment)?;
        blas::axpy(&flow.backend, value.len(), F::literal(1.0), increment, value);
        // δU, for the residual that ∇p balances.
        potentials.flux(increment, spread, &mut staggered.increment);
        operator.apply(&flow.backend, &staggered.increment, momentum);
        Ok(outcome)
    }
}

impl<F: Real> Stepper<F> for ExactStepper<F> {
    fn set_initial_flux(&mut self, flow: &mut Flow<F>) -> Result<(), IncompressibleError> {
        self.staggered.prescribe_flux(flow)
    }

    fn finish_initial_flux(&mut self, flow: &mut Flow<F>) {
        self.rebase(&mut flow.flux);
        self.staggered.to_cells(&flow.flux, &mut flow.components);
    }

    /// U_b has the correction of the fluxes: any divergence-free flux with its boundary fluxes may take its place.
    fn follow_mean_velocity(&mut self, flow: &Flow<F>) {
        if let Some(mean) = &flow.mean_velocity {
            mean.add_flux(&flow.backend, &mut self.base);
        }
    }

    fn clean_response(&mut self, flux: &mut Buffer<F>) {
        self.divergence_cleaning.clean(&self.staggered.faces, flux);
    }

    fn copy_to_previous_level(&mut self, flow: &Flow<F>) {
        self.staggered.copy_to_previous_level(&flow.flux);
    }

    fn step(&mut self, flow: &mut Flow<F>, step: &Step) -> Result<StepSolves, IncompressibleError> {
        let coefficients = &step.coefficients;
        let shift = coefficients.bdf.shift;
        self.extrapolate_flux(flow, step);
        self.staggered.prescribe_boundary_fluxes(flow, step)?;
        flow.pressure.prescribe_of_flow(&flow.faces, &self.scratch.momentum);
        if self.varies {
            // Where the boundary fluxes are those of the last step, round-off is left to the divergence cleaning.
            if flow.pressure.has_divergence(&flow.faces, &flow.flux)? {
                flow.pressure.project(&flow.faces, shift, &mut flow.flux)?;
            }
            self.rebase(&mut flow.flux);
        }
        self.staggered.flux_residual(flow, step)?;
        flow.pressure.subtract_prescribed(&flow.faces, &mut self.staggered.at_faces);
        let momentum = self.predict(flow, coefficients)?;
        self.update_flux(&mut flow.flux);
        let Staggered { faces, at_faces, change, .. } = &mut self.staggered;
        unbalanced_flux(
            &flow.backend,
            flow.n_faces(),
            &faces.is_unknown,
            at_faces,
            &self.scratch.momentum,
            &flow.pressure.poisson.conductance,
            F::from_f64(1.0 / shift),
            change,
        );
        let pressure = flow.pressure.recover(&flow.faces, shift, change)?;
        flow.momentum.set_trapezoidal_mean([step.times[1]; 2])?;
        self.staggered.update_velocities(flow, shift);
        self.follow_mean_velocity(flow);
        flow.advance_pressure(coefficients);
        Ok(StepSolves { momentum, pressure })
    }

    /// Refused at set-up: its mass matrix is not diagonal.
    fn stage(
        &mut self,
        _flow: &mut Flow<F>,
        _old: &OldLevel<F>,
        _stage: &StageOfStep,
    ) -> Result<SolveOutcome, IncompressibleError> {
        Err(IncompressibleError::ExplicitMass)
    }

    /// Refused before: its unknowns are on the edges.
    fn of_part(
        &self,
        _part: &Part,
        _starts: &[usize],
    ) -> Result<(Box<dyn Stepper<F>>, OwnFirst), IncompressibleError> {
        unreachable!("the exact fractional step runs on one rank")
    }

    fn arrays(&self) -> Vec<(&'static str, Place, &Buffer<F>)> {
        let own = [
            ("flux_base", Place::Faces, &self.base),
            ("potential", Place::Faces, &self.value),
            ("potential_increment", Place::Faces, &self.increment),
        ];
        self.staggered.arrays().into_iter().chain(own).collect()
    }

    fn arrays_mut(&mut self) -> Vec<(&'static str, &mut Buffer<F>)> {
        let own = [
            ("flux_base", &mut self.base),
            ("potential", &mut self.value),
            ("potential_increment", &mut self.increment),
        ];
        self.staggered.arrays_mut().into_iter().chain(own).collect()
    }

    fn predictor_system(
        &self,
        viscosity: f64,
    ) -> Result<Option<StepSystem<'_, F>>, IncompressibleError> {
        let PotentialSolver { is_2d, current, .. } = &self.solver;
        let Some((shift, theta, _)) = current.last() else { return Ok(None) };
        let potentials = self.potentials.clone();
        Ok(Some(StepSystem {
            preconditioning_matrix: Arc::new(potentials.preconditioning_matrix(shift, *is_2d)?),
            operator: Box::new(PotentialOperator::new(potentials, (shift, theta * viscosity))),
            right_hand_side: &self.right_hand_side,
            is_singular: false,
        }))
    }

    fn staggered(&self) -> Option<&Staggered<F>> {
        Some(&self.staggered)
    }

    fn staggered_mut(&mut self) -> Option<&mut Staggered<F>> {
        Some(&mut self.staggered)
    }
}

/// a (r − A δU) / shift on faces of unknown flux, 0 on the others: the flux a G p / shift.
///
/// Traffic a face: 4 + 4s.
#[kernel(out(flux))]
pub(super) fn unbalanced_flux<F: Real>(
    f: usize,
    is_unknown: &View<u32>,
    residual: &View<F>,
    momentum: &View<F>,
    conductance: &View<F>,
    factor: F,
) -> F {
    let mut unbalanced = 0.0;
    if is_unknown[f] != 0 {
        unbalanced = factor * conductance[f] * (residual[f] - momentum[f]);
    }
    unbalanced
}
