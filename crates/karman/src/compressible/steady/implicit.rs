//! The implicit march to a steady state: pseudo-transient continuation with Newton–Krylov steps.
//!
//! A step solves (V/Δτ + ∂R/∂q) δq = −R(q), R_c = Σ_f σ F_f − V S, with local steps Δτ = C/λ: FGMRES with products of the Jacobian by
//! differences of the residual (`JacobianProduct`), preconditioned by LU-SGS (`LuSgs`). The Courant number C grows as the residual falls.
//! A step that changes density or pressure of a cell by more than `LARGEST_CHANGE` of them is shortened in that cell, since the
//! path to the steady state does not matter; one that raises the residual much is taken back.
//!
//! Source: Kelley & Keyes, SIAM J. Numer. Anal. 35 (1998) 508; Mulder & van Leer, J. Comput. Phys. 59 (1985) 232.
#![allow(missing_docs)] // on the modules that the attributes make

use super::super::error::CompressibleError;
use super::super::solver::CompressibleSolver;
use super::super::state::{Conserved, States, VARIABLES};
use super::SteadyIteration;
use super::jacobian::{JacobianProduct, right_hand_side};
use super::lu_sgs::{Colours, LuSgs};
use super::residual_norms::{ResidualNorms, ScaledResiduals, Scales, mean_pressure};
use crate::backend::{Backend, Buffer, Partials, blas};
use crate::linear::{Method, Params, SolveOutcome, Solver};
use crate::real::Real;
use karman_backend::prelude::*;

/// Largest change of density and pressure of a cell in a step, as a fraction.
const LARGEST_CHANGE: f64 = 0.3;

/// Vectors of FGMRES, also the largest number of its steps.
const KRYLOV_STEPS: usize = 60;

/// ‖b − A x‖/‖b‖ of a step.
const LINEAR_TOLERANCE: f64 = 0.03;

/// ‖b − A x‖/‖b‖ above which the Courant number does not grow: larger steps that are not solved lead away from the steady state.
const HARD: f64 = 0.1;

/// ‖b − A x‖/‖b‖ above which the Courant number falls.
const UNSOLVED: f64 = 0.3;

/// Rise of the residual that takes a step back.
const LARGEST_RISE: f64 = 10.0;

/// Steps without a new least residual after which steps are halved: where fluxes have kinks, as those of limiters, full Newton steps may
/// repeat themselves.
const PATIENCE: usize = 6;

/// Least fraction of a step.
const LEAST_FRACTION: f64 = 0.25;

/// Bounds of the Courant number over its first value.
const COURANT_BOUNDS: [f64; 2] = [1e-4, 1e7];

/// The fraction of a Newton step that is taken.
struct Damping {
    /// The least residual.
    least: f64,
    /// Steps since, or since the fraction changed.
    steps: usize,
    fraction: f64,
}

impl Damping {
    const NONE: Damping = Damping { least: f64::INFINITY, steps: 0, fraction: 1.0 };

    /// Takes a residual after a step.
    fn follow(&mut self, residual: f64) {
        self.steps += 1;
        if residual < self.least {
            *self = Damping { least: residual, steps: 0, fraction: (2.0 * self.fraction).min(1.0) };
        } else if self.steps == PATIENCE {
            (self.steps, self.fraction) = (0, (0.5 * self.fraction).max(LEAST_FRACTION));
        }
    }
}

/// The march of a flow to its steady state.
pub struct ImplicitMarch<F: Real> {
    backend: Backend,
    solver: Solver<F>,
    rhs: Buffer<F>,
    increment: Buffer<F>,
    shortening: Buffer<f64>,
    factors: Partials,
    first_courant: f64,
    courant: f64,
    damping: Damping,
    /// The scaled residuals of the state, once they are known.
    residuals: Option<ScaledResiduals>,
}

impl<F: Real> ImplicitMarch<F> {
    /// The march of a flow in a domain of a volume from its present state, with the Courant number of the first step; `colours` are those of the
    /// cells of the flow.
    ///
    /// # Errors
    /// [`CompressibleError`] where the solver cannot be set up or the backend failed.
    pub fn new(
        backend: &Backend,
        mut flow: CompressibleSolver<F>,
        (volume, colours): (f64, Colours),
        first_courant: f64,
    ) -> Result<Self, CompressibleError> {
        let of_vectors = &backend.of_vectors(VARIABLES);
        let n = flow.n_cells();
        flow.refresh()?;
        flow.set_local_steps(first_courant);
        let scales = scales(&flow.totals()?, flow.gamma(), volume);
        let shared = (flow.mesh.clone(), flow.viscous.clone());
        let sweeps = LuSgs::new(backend, colours, shared, flow.gamma(), scales);
        let norms = ResidualNorms::new(backend, n, volume);
        let operator = JacobianProduct::new(of_vectors, flow, norms, scales);
        let params = Params {
            method: Method::Fgmres,
            relative_tolerance: LINEAR_TOLERANCE,
            max_iterations: KRYLOV_STEPS,
            restart: KRYLOV_STEPS,
            ..Params::default()
        };
        Ok(ImplicitMarch {
            solver: Solver::with_preconditioner(
                of_vectors,
                Box::new(operator),
                Box::new(sweeps),
                &params,
            )?,
            rhs: backend.zeros(VARIABLES * n),
            increment: backend.zeros(VARIABLES * n),
            factors: Partials::new(backend, n, 1),
            shortening: backend.zeros(1),
            backend: backend.clone(),
            first_courant,
            courant: first_courant,
            damping: Damping::NONE,
            residuals: None,
        })
    }

    /// The flow.
    pub fn flow(&self) -> &CompressibleSolver<F> {
        match self.solver.operator::<JacobianProduct<F>>() {
            Some(operator) => &operator.flow,
            None => unreachable!("the operator is a Jacobian"),
        }
    }

    /// The flow. After a change of its means [`ImplicitMarch::restart`] begins the march anew.
    pub fn flow_mut(&mut self) -> &mut CompressibleSolver<F> {
        &mut parts(&mut self.solver).0.flow
    }

    /// Begins anew with the first Courant number from the means of the flow.
    pub fn restart(&mut self) {
        (self.courant, self.residuals) = (self.first_courant, None);
        self.damping = Damping::NONE;
    }

    /// One Newton step.
    ///
    /// # Errors
    /// [`CompressibleError::NoStep`] where no step keeps the state valid; where the backend failed.
    pub fn iterate(&mut self) -> Result<SteadyIteration, CompressibleError> {
        let before = match self.residuals {
            Some(residuals) => residuals,
            None => self.evaluate()?,
        };
        let courant = self.courant;
        let outcome = self.solve(courant)?;
        let (least_factor, change, totals) = self.update()?;
        let after = self.evaluate()?;
        let rise = after.largest() / before.largest();
        // Comparisons with a NaN are false.
        let is_kept = change.is_finite() && rise < LARGEST_RISE;
        if !is_kept {
            self.take_back()?;
        }
        let factor = match (is_kept, least_factor < 1.0) {
            (false, _) => 0.2,
            (true, true) => 1.0,
            (true, false) => growth(rise, outcome.relative_residual),
        };
        let [least, most] = COURANT_BOUNDS.map(|bound| bound * self.first_courant);
        self.courant = (courant * factor).min(most);
        if self.courant < least {
            return Err(CompressibleError::NoStep { courant });
        }
        let residuals = if is_kept { after } else { before };
        self.damping.follow(residuals.largest());
        self.residuals = Some(residuals);
        self.flow_mut().state.steps += 1;
        Ok(SteadyIteration {
            residuals,
            courant,
            products: outcome.iterations,
            fallback_cells: 0,
            change: if is_kept { change } else { 0.0 },
            totals,
        })
    }

    /// R of the state, and its scaled norms.
    fn evaluate(&mut self) -> Result<ScaledResiduals, CompressibleError> {
        let JacobianProduct { flow, norms, .. } = parts(&mut self.solver).0;
        norms.evaluate(flow)
    }

    /// Solves for the increment of a Courant number.
    fn solve(&mut self, courant: f64) -> Result<SolveOutcome, CompressibleError> {
        let backend = self.backend.clone();
        let ImplicitMarch { solver, rhs, increment, .. } = self;
        let (operator, sweeps) = parts(solver);
        operator.flow.set_local_steps(courant);
        let state = &operator.flow.state;
        let n = operator.flow.mesh.n_cells();
        blas::copy(&backend, state.now.len(), &state.now, &mut sweeps.means);
        blas::copy(&backend, n, &state.local, &mut sweeps.local);
        let residual = States::of(&operator.norms.residual);
        let volume = &operator.flow.mesh.volume;
        right_hand_side(&backend, n, &residual, &state.local, volume, &operator.scales(), rhs);
        blas::fill(&backend, increment.len(), F::literal(0.0), increment);
        Ok(solver.solve(rhs, increment)?)
    }

    /// Adds the increment to the state: the least factor of a cell, the largest relative change, and the totals.
    fn update(&mut self) -> Result<(f64, f64, [f64; VARIABLES]), CompressibleError> {
        let backend = self.backend.clone();
        let ImplicitMarch { solver, increment, factors, shortening, damping, .. } = self;
        let (operator, _) = parts(solver);
        let scales = Scales { values: operator.scales.view() };
        let flow = &mut operator.flow;
        let (n, gamma) = (flow.mesh.n_cells(), F::from_f64(flow.gamma()));
        let state = &mut flow.state;
        let size = state.now.len();
        blas::copy(&backend, size, &state.now, &mut state.old);
        let (x, q) = (States::of(increment), States::of(&state.old));
        let (largest, fraction) = (F::from_f64(LARGEST_CHANGE), F::from_f64(damping.fraction));
        bounded_update(
            &backend,
            n,
            &q,
            &x,
            &scales,
            gamma,
            largest,
            fraction,
            &mut state.now,
            factors,
        );
        flow.mesh.cells.fetch(&mut [&mut flow.state.now]);
        largest_of(&backend, factors, shortening);
        let least = 1.0 - backend.read(shortening)?[0];
        let sums = flow.finish_step(true)?;
        let change = if sums.invalid > 0.0 { f64::NAN } else { sums.change };
        Ok((least, change, sums.totals()))
    }

    /// Restores the state before the step and its residual.
    fn take_back(&mut self) -> Result<(), CompressibleError> {
        let backend = self.backend.clone();
        let state = &mut self.flow_mut().state;
        let size = state.now.len();
        blas::copy(&backend, size, &state.old, &mut state.now);
        self.flow_mut().finish_step(false)?;
        self.evaluate().map(|_| ())
    }
}

fn parts<F: Real>(solver: &mut Solver<F>) -> (&mut JacobianProduct<F>, &mut LuSgs<F>) {
    match solver.parts_mut() {
        Some(parts) => parts,
        None => unreachable!("the operator is a Jacobian, its preconditioner LU-SGS"),
    }
}

/// The factor of the Courant number after a step that changed the residual by `rise` and left `linear` of the linear system's.
fn growth(rise: f64, linear: f64) -> f64 {
    match rise {
        _ if linear > UNSOLVED => 0.7,
        rise if rise > 2.0 => 0.5,
        rise if rise > 1.1 || linear > HARD => 1.0,
        rise => (1.0 / rise).clamp(1.5, 3.0),
    }
}

/// The mean ρ, ρ(c + |u|) and ρE, of totals.
fn scales(totals: &[f64; VARIABLES], gamma: f64, volume: f64) -> [f64; 3] {
    let [mass, x, y, z, energy] = *totals;
    let density = mass / volume;
    let pressure = mean_pressure(totals, gamma, volume);
    let momentum = (x * x + y * y + z * z).sqrt() / volume;
    let sound = (gamma * pressure * density).sqrt();
    [density, sound + momentum, energy / volume]
}

/// q + θ φ D x, θ such that density and pressure change by at most a fraction, and the velocity by that of c, φ the fraction of the step; with
/// 1 − θ. Traffic a cell: 120 (f64).
#[kernel(out(next), reduce(max))]
pub(super) fn bounded_update<F: Real>(
    c: usize,
    q: &States<F>,
    x: &States<F>,
    scales: &Scales<F>,
    gamma: F,
    largest: F,
    fraction: F,
) -> (Conserved<F>, F) {
    let one = F::literal(1.0);
    let own = q.at(c);
    let change = scales.times(x.at(c));
    let u = own.momentum() * (1.0 / own.density);
    let pressure = own.pressure(gamma);
    let of_pressure = (gamma - 1.0)
        * (change.energy - u.dot(change.momentum()) + 0.5 * u.dot(u) * change.density);
    let of_velocity = change.momentum() - u * change.density;
    let sound = (gamma * pressure * own.density).sqrt();
    let relative = (change.density.abs() / own.density)
        .max(of_pressure.abs() / pressure)
        .max(of_velocity.dot(of_velocity).sqrt() / sound);
    let mut factor = one;
    if relative > largest {
        factor = largest / relative;
    }
    (own + change * (factor * fraction), one - factor)
}

/// The largest 1 − θ.
#[kernel(combine(max), out(shortening))]
pub(super) fn largest_of(largest: f64) -> f64 {
    largest
}
