//! Velocity and pressure in the cells, fluxes at the faces: a step of the projection method.
//!
//! 1. Predictor, component by component: (shift V + θ A) δ = V (s − ∇p + history δ_before) − C − A u.
//! 2. Flux F*: momentum interpolation of u* = u + δ.
//! 3. Projection: A_p ψ = D F*; F = F* + a G ψ, u = u* + ∇ψ, p ← p − shift ψ − θ ν ∇·u*.
//!
//! Sources: Menon's thesis, ch. 7, for the fractional step; Guermond, Minev & Shen, Comput. Methods Appl.
//! Mech. Engrg. 195 (2006) 6011, §3, for the incremental rotational form; Rhie & Chow, AIAA J. 21 (1983)
//! 1525, and Cubero & Fueyo, Numer. Heat Transfer B 52 (2007) 507, for momentum interpolation.

use super::scheme::TimeCoefficients;
use super::solver::IncompressibleSolver;
use super::{Arrangement, IncompressibleError, PressureCorrection};
use crate::backend::blas;
use crate::linear::SolveOutcome;
use crate::real::Real;

impl<F: Real> IncompressibleSolver<F> {
    /// A step to time `new`; velocities are extrapolated to it by u + extrapolation (u − u_before). Returns
    /// the solves of the predictor and of the pressure.
    pub(super) fn step_collocated(
        &mut self,
        coefficients: &TimeCoefficients,
        (new, extrapolation): (f64, f64),
    ) -> Result<(SolveOutcome, SolveOutcome), IncompressibleError> {
        let momentum = self.predict(coefficients)?;
        self.set_time(new, extrapolation)?;
        let pressure = self.project(coefficients)?;
        self.advance_velocity(true);
        self.advance_pressure(coefficients);
        Ok((momentum, pressure))
    }

    /// Solves for u* of each component.
    fn predict(
        &mut self,
        coefficients: &TimeCoefficients,
    ) -> Result<SolveOutcome, IncompressibleError> {
        self.momentum.prepare(coefficients)?;
        let backend = self.backend.clone();
        let n = self.volume.len();
        let mut total: Option<SolveOutcome> = None;
        for k in 0..self.dimension {
            self.momentum_residual(k, coefficients);
            let component = &mut self.components[k];
            let outcome = self.momentum.solve(&self.residual, &mut component.increment)?;
            let one = F::literal(1.0);
            let (u, increment) = (&component.now, &component.increment);
            let zero = F::literal(0.0);
            blas::axpbypcz(&backend, n, one, u, one, increment, zero, &mut component.predicted);
            total = Some(outcome.after(total));
        }
        let Some(total) = total else { unreachable!("there are two components at least") };
        Ok(total)
    }

    /// `residual` ← the residual of the momentum equation of component `k`.
    pub(super) fn momentum_residual(&mut self, k: usize, coefficients: &TimeCoefficients) {
        let grad_p = self.is_incremental().then_some((&self.pressure.grad_p, k));
        let (backend, volume, component) = (&self.backend, &self.volume, &self.components[k]);
        let r = &mut self.residual;
        self.momentum.multiply(&component.now, r);
        let source = self.momentum.quantities[k].source.value();
        component.interior_residual(backend, volume, coefficients, source, grad_p, r);
        if let Some(thermal) = &self.thermal {
            thermal.add_buoyancy(backend, volume, k, coefficients.theta, r);
        }
        self.momentum.add_boundary(k, &component.now, r);
    }

    /// Computes F* and projects it.
    fn project(
        &mut self,
        coefficients: &TimeCoefficients,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let backend = self.backend.clone();
        self.swap_predicted();
        self.interpolate_unskewed();
        self.swap_predicted();
        self.interpolate_momentum(coefficients);
        let shift = coefficients.bdf.shift;
        self.mass_correction.apply(&backend, &self.outflow, &self.faces.area, &mut self.flux)?;
        self.pressure.project(&self.faces, &self.volume, shift, &mut self.flux)
    }

    /// Swaps u and u*, for functions that read `now`.
    pub(super) fn swap_predicted(&mut self) {
        for component in &mut self.components {
            std::mem::swap(&mut component.now, &mut component.predicted);
        }
    }

    /// The pressure at the new level.
    pub(super) fn advance_pressure(&mut self, coefficients: &TimeCoefficients) {
        // Viscous terms in rotational form do not depend on ∇·u*.
        let rotational = match self.numerics.arrangement {
            Arrangement::Collocated => coefficients.theta * self.viscosity,
            Arrangement::Staggered | Arrangement::Exact => 0.0,
        };
        let (previous_weight, viscosity) = match self.numerics.pressure_correction {
            _ if !self.is_incremental() => (0.0, 0.0),
            PressureCorrection::IncrementalRotational => (1.0, rotational),
            _ => (1.0, 0.0),
        };
        let step = coefficients.step;
        self.pressure_extrapolation = self.step_before.map_or(0.0, |before| step / (step + before));
        self.pressure.store_midpoint();
        self.pressure.advance(&self.volume, coefficients.bdf.shift, viscosity, previous_weight);
    }
}
