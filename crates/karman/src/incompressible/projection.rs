//! The projection: a Poisson equation for ψ, the potential of the velocity correction u = u* + ∇ψ, set up once for a run.
//!
//! A ψ − K ψ = D F*, A the two-point Laplacian over faces where the flux may change; F = F* + a (ψ_r − ψ_l)
//! is divergence-free to the tolerance of the solver, u = u* + ∇ψ, p ← p − shift ψ. The step length is
//! factored out, so that one hierarchy serves all steps.

use super::IncompressibleError;
use super::kernels::correct_flux;
use super::local_steps::{LocalSteps, scale_vectors};
use super::poisson_system::{PoissonSystem, PressureIncrement, correction_gradient_length};
use super::pressure::{Pressure, compute_pressure_gradients};
use super::pressure_conditions::PressureConditions;
use crate::backend::{Buffer, blas};
use crate::finite_volume::{CellField, DiffusiveFaces, FaceView, Faces, Vectors};
use crate::linear::{SolveOutcome, Solver};
use crate::operators::incidence::divergence;
use crate::real::{Real, epsilon};

/// Non-orthogonal corrections of the first projection.
const START_CORRECTORS: usize = 4;

/// Net outflow of a cell attributed to the rounding of fluxes, in roundings of the largest flux: fluxes of potentials are
/// differences of larger numbers.
const ROUNDINGS: f64 = 1e3;

impl<F: Real> Pressure<F> {
    /// Solves D (F − a G p / shift) = 0 with p = 0 at faces of prescribed pressure.
    pub(super) fn recover(
        &mut self,
        faces: &Faces<F>,
        shift: f64,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let PressureIncrement { value, prescribed, .. } = &mut self.increment;
        let (n, inverse) = (value.len(), F::from_f64(-1.0 / shift));
        let zero = F::literal(0.0);
        blas::fill(&self.backend, prescribed.len(), zero, prescribed);
        blas::axpby(&self.backend, n, inverse, &self.value, zero, value);
        self.correct(faces, flux)
    }

    /// Updates the local steps of a steady flow from the rates of its cells; whether they changed. With prescribed
    /// pressures that depend on the flow, whose contributions have the conductances of uniform steps, they stay uniform.
    pub(super) fn update_steps(
        &mut self,
        faces: &Faces<F>,
        rates: [&Buffer<F>; 2],
    ) -> Result<bool, IncompressibleError> {
        if self.conditions.of_flow.is_some() {
            return Ok(false);
        }
        let changed = self.poisson.update_steps(&self.backend, faces, rates)?;
        if changed {
            self.reset_guess();
        }
        Ok(changed)
    }

    /// Discards earlier projections as initial guesses.
    pub(super) fn reset_guess(&mut self) {
        let PressureIncrement { value, guess, .. } = &mut self.increment;
        blas::fill(&self.backend, value.len(), F::literal(0.0), value);
        if let Some(guess) = guess {
            guess.is_new = true;
        }
    }

    /// Projects the initial flux, whose divergence may be large: on non-orthogonal meshes with at least
    /// [`START_CORRECTORS`] corrections, so that ∇ψ of the cells agrees with the correction of the fluxes.
    pub(super) fn project_start(
        &mut self,
        faces: &Faces<F>,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        self.with_start_correctors(faces, |pressure| pressure.project(faces, 1.0, flux))
    }

    /// Projects the flux of a force with ψ = 0 where the pressure is prescribed, as that of the start; the initial guess is 0.
    pub(super) fn project_response(
        &mut self,
        faces: &Faces<F>,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        self.reset_guess();
        let prescribed = &mut self.increment.prescribed;
        blas::fill(&self.backend, prescribed.len(), F::literal(0.0), prescribed);
        self.with_start_correctors(faces, |pressure| pressure.correct(faces, flux))
    }

    fn with_start_correctors<T>(
        &mut self,
        faces: &Faces<F>,
        project: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let correctors = self.poisson.correctors;
        if faces.is_orthogonal || correctors >= START_CORRECTORS {
            return project(self);
        }
        self.set_correctors(START_CORRECTORS);
        let solved = project(self);
        self.set_correctors(correctors);
        solved
    }

    fn set_correctors(&mut self, correctors: usize) {
        self.poisson.correctors = correctors;
        let len = correction_gradient_length(self.value.len(), correctors);
        self.increment.correction_gradient = self.backend.zeros(len);
    }

    /// As [`Pressure::project`], with the prescribed pressures that depend on the flow linearized in the new fluxes, which
    /// count with the weight θ.
    pub(super) fn project_step(
        &mut self,
        faces: &Faces<F>,
        (shift, theta): (f64, f64),
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        self.set_increment(shift);
        self.prepare_solver()?;
        let Pressure { backend, conditions, increment, poisson, .. } = self;
        let at = (faces, &poisson.conductance);
        let operator = poisson.solver.as_mut().and_then(Solver::operator_mut);
        if let (Some(of_flow), Some(operator)) = (&mut conditions.of_flow, operator) {
            let of_step = (shift / theta, &*flux);
            of_flow.linearize(backend, at, of_step, &increment.prescribed, operator);
        }
        let outcome = self.correct(faces, flux)?;
        let Pressure { backend, conditions, poisson, .. } = self;
        let PressureConditions { of_flow, prescribed, prescribed_before, .. } = conditions;
        let operator = poisson.solver.as_mut().and_then(Solver::operator_mut);
        if let (Some(of_flow), Some(operator)) = (of_flow, operator) {
            of_flow.finish(backend, shift, prescribed_before, prescribed.value_mut(), operator);
        }
        Ok(outcome)
    }

    /// Projects F* onto divergence-free fluxes; sets ψ, ∇ψ and D F*.
    pub(super) fn project(
        &mut self,
        faces: &Faces<F>,
        shift: f64,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        self.set_increment(shift);
        self.correct(faces, flux)
    }

    /// Whether the net outflow of a cell exceeds the round-off of the fluxes. Where it does not, a solver with a relative
    /// tolerance would iterate on noise.
    pub(super) fn has_divergence(
        &mut self,
        faces: &Faces<F>,
        flux: &Buffer<F>,
    ) -> Result<bool, IncompressibleError> {
        let (backend, cells) = (&self.backend, &faces.cells);
        let (n, imbalance) = (cells.n_cells(), &mut self.increment.divergence);
        divergence(backend, n, &cells.offsets, &cells.faces, flux, cells.rows, imbalance);
        let largest = |(low, high): (f64, f64)| low.abs().max(high.abs());
        let imbalance = blas::range(backend, n, imbalance)?.map_or(0.0, largest);
        let scale = blas::range(backend, flux.len(), flux)?.map_or(0.0, largest);
        Ok(imbalance.is_nan() || imbalance > ROUNDINGS * epsilon::<F>() * scale)
    }

    /// Sets the Dirichlet values of ψ.
    fn set_increment(&mut self, shift: f64) {
        let (backend, values) = (&self.backend, self.increment.prescribed.len());
        let PressureConditions { prescribed, prescribed_before, .. } = &self.conditions;
        // At a prescribed pressure ψ = (p_before − p) / shift.
        let (inverse, of_increment) = (1.0 / shift, &mut self.increment.prescribed);
        blas::copy(backend, values, prescribed_before, of_increment);
        let (minus, plus) = (F::from_f64(-inverse), F::from_f64(inverse));
        blas::axpby(backend, values, minus, prescribed.value(), plus, of_increment);
    }

    /// Sets the solver up, where it is not yet.
    pub(super) fn prepare_solver(&mut self) -> Result<(), IncompressibleError> {
        self.poisson.prepare(&self.backend, &self.conditions)
    }

    /// Projects a flux with the Dirichlet values of ψ.
    fn correct(
        &mut self,
        faces: &Faces<F>,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        self.prepare_solver()?;
        let (backend, cells) = (&self.backend, &faces.cells);
        let n = cells.n_cells();
        let PoissonSystem { coupling, correction, correctors, solver, .. } = &mut self.poisson;
        let Some(solver) = solver else { unreachable!("the solver is set up above") };
        let PressureIncrement {
            value: psi,
            prescribed,
            divergence: imbalance,
            right_hand_side,
            correction_gradient,
            guess,
            ..
        } = &mut self.increment;
        divergence(backend, n, &cells.offsets, &cells.faces, flux, cells.rows, imbalance);
        let mut total: Option<SolveOutcome> = None;
        let mut of_flow = self.conditions.of_flow.as_mut().filter(|faces| faces.is_linearized);
        if let Some(guess) = guess {
            guess.store_right_hand_side(backend, right_hand_side);
        }
        let one = F::literal(1.0);
        for pass in 0..=*correctors {
            blas::copy(backend, n, imbalance, right_hand_side);
            if let Some(of_flow) = &of_flow {
                of_flow.put_reduced(backend, prescribed);
            }
            coupling.add(backend, prescribed, right_hand_side);
            if pass > 0 {
                correction.add_fluxes(backend, correction_gradient, one, right_hand_side);
            }
            if let Some(guess) = guess.as_mut().filter(|_| pass == 0) {
                guess.extrapolate(backend, right_hand_side, psi);
            }
            let outcome = solver.solve(right_hand_side, psi)?;
            cells.fetch(&mut [&mut *psi]);
            total = Some(outcome.after(total));
            if let Some(of_flow) = &mut of_flow {
                of_flow.put_complete(backend, &cells.left, psi, prescribed);
            }
            // The flux correction below reads the gradient of the last right-hand side.
            if pass < *correctors {
                correction.compute_gradient(backend, psi, (prescribed, one), correction_gradient);
                cells.fetch(&mut [&mut *correction_gradient]);
            }
        }
        self.correct_flux(faces, flux);
        let Some(mut outcome) = total else { unreachable!("there is one pass at least") };
        // Global mass correction precedes: the remaining incompatibility is round-off.
        outcome.incompatibility = 0.0;
        Ok(outcome)
    }

    /// Computes ∇ψ and adds a G ψ to the fluxes.
    fn correct_flux(&mut self, faces: &Faces<F>, flux: &mut Buffer<F>) {
        let PoissonSystem { correction, conductance, correctors, local, .. } = &self.poisson;
        let PressureIncrement {
            value, gradient, at_boundary, prescribed, correction_gradient, ..
        } = &mut self.increment;
        let conditions = (&self.conditions.dirichlet_index, &*prescribed);
        let into = (&mut self.lsq_gradient, &mut *at_boundary, &mut *gradient);
        let stencils = (correction, &self.blended);
        compute_pressure_gradients(&self.backend, stencils, faces, conditions, value, into);
        if let Some(LocalSteps { relative, .. }) = local {
            scale_vectors(&self.backend, gradient.len(), relative, relative.len(), gradient);
        }
        let (tangential, left_weight) = correction.face_coefficients();
        let psi = CellField {
            value: value.view(),
            gradient: Vectors::of(correction_gradient),
            at_boundary: at_boundary.view(),
        };
        correct_flux(
            &self.backend,
            faces.cells.n_faces(),
            &FaceView { weight: left_weight.view(), ..faces.view() },
            &psi,
            &DiffusiveFaces {
                conductance: conductance.view(),
                tangential: Vectors::of(tangential),
                two_point: *correctors == 0,
            },
            flux,
        );
    }
}
