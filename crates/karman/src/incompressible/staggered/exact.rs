//! The exact fractional step: fluxes U = U_b + C E x, divergence-free at every step for any solver tolerance.
//!
//! U_b has the prescribed boundary fluxes: a projection with divergence cleaning, at the start and whenever
//! they change. A step solves Eᵀ Cᵀ A C E δx = Eᵀ Cᵀ r, r the momentum residual without pressure; p follows
//! from G p = r − A δU.
//!
//! Source: Chang, Giraldo & Perot, J. Comput. Phys. 180 (2002) 183.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::curl_curl::PotentialMultigrid;
use super::deflation::deflated;
use super::divergence_cleaning::DivergenceCleaning;
use super::face_unknowns::Staggered;
use super::potential::{PotentialOperator, PotentialScratch, Potentials};
use super::potential_constraints::PotentialConstraints;
use super::{StaggeredOperator, curl_curl};
use crate::backend::{Buffer, View, blas};
use crate::incompressible::flow::Flow;
use crate::incompressible::places::{Place, UnknownPlaces};
use crate::incompressible::stage::{OldLevel, StageOfStep};
use crate::incompressible::step::{Step, StepSolves};
use crate::incompressible::stepper::Stepper;
use crate::incompressible::{FlowCondition, IncompressibleError, StepSystem};
use crate::linear::{AmgParams, Operator, Params, PreconditionerKind, SolveOutcome, Solver};
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
    /// A flux through the faces of the part of one of several ranks.
    at_faces: Option<Buffer<F>>,
}

impl<F: Real> ExactScratch<F> {
    fn new(staggered: &Staggered<F>, potentials: &Potentials<F>) -> Self {
        ExactScratch {
            potential: potentials.scratch(),
            spread: potentials.at_edges(),
            circulation: potentials.at_edges(),
            momentum: staggered.faces.fluxes(),
            at_faces: staggered.faces.room(),
        }
    }
}

/// The solver of the potential.
struct PotentialSolver<F: Real> {
    is_2d: bool,
    params: Params,
    /// Multigrid of the first solver, in 3D.
    multigrid: Option<(Arc<PotentialMultigrid>, AmgParams)>,
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
        let multigrid = match &params.preconditioner {
            PreconditionerKind::Amg(amg) if !is_2d => {
                let multigrid = PotentialMultigrid::new(mesh, &staggered.faces, potentials)?;
                Some((Arc::new(multigrid), *amg))
            }
            _ => None,
        };
        Ok(PotentialSolver { is_2d, params, multigrid, current: ImplicitOperator::default() })
    }

    /// That of one of several ranks, before its first step.
    fn of_rank(&self) -> Self {
        PotentialSolver {
            is_2d: self.is_2d,
            params: self.params.clone(),
            multigrid: self.multigrid.clone(),
            current: ImplicitOperator::default(),
        }
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
        let PotentialSolver { is_2d, params, multigrid, current } = self;
        let backend = &potentials.backend;
        current.prepare(shift, theta, |last| {
            let factors = (shift, theta * viscosity);
            // In 3D one preconditioner serves any shift.
            let preconditioner = match (last, multigrid.take()) {
                (Some((solver, _)), _) if !*is_2d => Some(solver.into_preconditioner()),
                (_, Some((multigrid, params_of_cycle))) => {
                    let inner = multigrid.preconditioner(potentials, &params_of_cycle)?;
                    Some(deflated(inner, potentials, params.method)?)
                }
                _ => None,
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
        let unknowns = constraints.unknowns();
        tracing::debug!("{} potentials, {} of generators", unknowns, constraints.generators.len());
        let potentials = Arc::new(Potentials::new(&staggered.faces, rotation, constraints)?);
        let changes = |condition: &FlowCondition| {
            condition.has_velocity_in_time() || condition.is_convective()
        };
        Ok(ExactStepper {
            solver: PotentialSolver::new(mesh, &staggered, &potentials, params)?,
            scratch: ExactScratch::new(&staggered, &potentials),
            potentials,
            divergence_cleaning: DivergenceCleaning::new(&backend, mesh, dirichlet_index),
            base: backend.zeros(mesh.n_faces()),
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

    /// A scratch flux ← U at the implicit time, extrapolated, for inlets of total pressure.
    fn extrapolate_flux(&mut self, flow: &Flow<F>, step: &Step) {
        if flow.pressure.conditions.of_flow.is_none() {
            return;
        }
        let to_midpoint = if step.coefficients.is_midpoint() { 0.5 } else { 1.0 };
        let factor = F::from_f64(to_midpoint * step.extrapolation);
        let (one, zero) = (F::literal(1.0), F::literal(0.0));
        let ExactScratch { momentum, at_faces, .. } = &mut self.scratch;
        let into = at_faces.as_mut().unwrap_or(momentum);
        let Staggered { faces, before, rooms: [_, room], .. } = &mut self.staggered;
        let before = faces.through_faces(before, room);
        let (n, flux) = (flow.n_faces(), &flow.flux);
        blas::axpbypcz(&flow.backend, n, one + factor, flux, -factor, before, zero, into);
    }

    /// The flux of [`ExactStepper::extrapolate_flux`].
    fn extrapolated_flux(&self) -> &Buffer<F> {
        self.scratch.at_faces.as_ref().unwrap_or(&self.scratch.momentum)
    }

    /// U ← U_b + C E x.
    fn update_flux(&mut self, flux: &mut Buffer<F>) {
        let Staggered { faces, curl, rooms: [_, room], .. } = &mut self.staggered;
        self.potentials.fetch(&mut self.value);
        self.potentials.flux(&self.value, &mut self.scratch.spread, curl);
        let backend = faces.backend();
        blas::copy(backend, flux.len(), faces.through_faces(curl, room), flux);
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
        let ExactScratch { potential, spread, circulation, momentum, .. } = scratch;
        staggered.faces.fetch(&mut staggered.at_faces);
        potentials.circulation(&staggered.at_faces, circulation, potential, right_hand_side);
        let (solver, operator) =
            solver.prepare(staggered, potentials, coefficients, flow.viscosity())?;
        let outcome = solver.solve(right_hand_side, increment)?;
        blas::axpy(&flow.backend, potentials.unknowns(), F::literal(1.0), increment, value);
        // δU, for the residual that ∇p balances.
        potentials.fetch(increment);
        potentials.flux(increment, spread, &mut staggered.increment);
        staggered.faces.fetch(&mut staggered.increment);
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
        flow.pressure.prescribe_of_flow(&flow.faces, self.extrapolated_flux());
        if self.varies {
            // Where the boundary fluxes are those of the last step, round-off is left to the divergence cleaning.
            if flow.pressure.has_divergence(&flow.faces, &flow.flux)? {
                flow.pressure.project(&flow.faces, shift, &mut flow.flux)?;
            }
            self.rebase(&mut flow.flux);
        }
        self.staggered.flux_residual(flow, step)?;
        let Flow { pressure, faces, .. } = &*flow;
        self.staggered.change_at_faces(|r| pressure.subtract_prescribed(faces, r));
        let momentum = self.predict(flow, coefficients)?;
        self.update_flux(&mut flow.flux);
        let Staggered { faces, at_faces, change, rooms: [_, room], .. } = &mut self.staggered;
        let ExactScratch { momentum: difference, at_faces: of_part, .. } = &mut self.scratch;
        let one = F::literal(1.0);
        blas::axpby(&flow.backend, faces.n_fluxes(), one, at_faces, -one, difference);
        let unbalanced = of_part.as_mut().unwrap_or(change);
        unbalanced_flux(
            &flow.backend,
            flow.n_faces(),
            &faces.is_unknown,
            faces.through_faces(difference, room),
            &flow.pressure.poisson.conductance,
            F::from_f64(1.0 / shift),
            unbalanced,
        );
        let pressure = flow.pressure.recover(&flow.faces, shift, unbalanced)?;
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

    fn of_part(
        &self,
        part: &Part,
        starts: &[usize],
    ) -> Result<(Box<dyn Stepper<F>>, UnknownPlaces), IncompressibleError> {
        let [unknowns, edges] = self.potentials.starts(part.halo.group().size());
        let stiffness = Some(&self.potentials.stiffness);
        let (staggered, set_up, fluxes) = self.staggered.of_part(part, starts, edges, stiffness)?;
        let rotation = staggered.rotation.clone();
        let of_rank = (&part.backend, &set_up);
        let (potentials, places) =
            Potentials::of_rank(&self.potentials, of_rank, rotation, unknowns)?;
        let n = self.value.len();
        let stepper = ExactStepper {
            scratch: ExactScratch::new(&staggered, &potentials),
            divergence_cleaning: self.divergence_cleaning.of_part(part, starts),
            base: part.of_faces(&self.base),
            value: part.of_list(&self.value, &places.entries, n),
            increment: part.of_list(&self.increment, &places.entries, n),
            right_hand_side: part.backend.zeros(potentials.unknowns()),
            varies: self.varies,
            solver: self.solver.of_rank(),
            potentials: Arc::new(potentials),
            staggered,
        };
        Ok((Box::new(stepper), UnknownPlaces { fluxes, potentials: places }))
    }

    fn arrays(&self) -> Vec<(&'static str, Place, &Buffer<F>)> {
        let own = [
            ("flux_base", Place::Faces, &self.base),
            ("potential", Place::Potentials, &self.value),
            ("potential_increment", Place::Potentials, &self.increment),
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
/// Traffic a face: 4 + 3s.
#[kernel(out(flux))]
pub(super) fn unbalanced_flux<F: Real>(
    f: usize,
    is_unknown: &View<u32>,
    difference: &View<F>,
    conductance: &View<F>,
    factor: F,
) -> F {
    let mut unbalanced = 0.0;
    if is_unknown[f] != 0 {
        unbalanced = factor * conductance[f] * difference[f];
    }
    unbalanced
}
