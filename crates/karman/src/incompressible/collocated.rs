//! Velocity and pressure in the cells, fluxes at the faces: a step of the projection method.
//!
//! 1. Predictor, component by component: (shift V + θ A) δ = V (s − ∇p) + memory − convection − A u.
//! 2. Flux F*: the interpolated velocity u* = u + δ with what momentum interpolation keeps of F − u_i·S.
//! 3. Projection: A_p ψ = D F*; F = F* + a G ψ, u = u* + ∇ψ, p ← p − shift ψ − θ ν ∇·u*.
//!
//! Sources: Menon's thesis, ch. 7, for the fractional step; Guermond, Minev & Shen, Comput. Methods Appl.
//! Mech. Engrg. 195 (2006) 6011, §3, for the incremental rotational form; Rhie & Chow, AIAA J. 21 (1983)
//! 1525, and Cubero & Fueyo, Numer. Heat Transfer B 52 (2007) 507, for momentum interpolation.

use super::flow::Flow;
use super::scheme::Formula;
use super::{Arrangement, IncompressibleError, PressureCorrection};
use crate::backend::blas;
use crate::linear::SolveOutcome;
use crate::real::Real;

impl<F: Real> Flow<F> {
    /// A step to time `new`; `ahead` extrapolates to it. The solves of the predictor and of the pressure.
    pub(super) fn step_collocated(
        &mut self,
        formula: &Formula,
        (new, ahead): (f64, f64),
    ) -> Result<(SolveOutcome, SolveOutcome), IncompressibleError> {
        let momentum = self.predict(formula)?;
        self.take_time(new, ahead)?;
        let pressure = self.project(formula)?;
        self.advance_velocity(true);
        self.advance_pressure(formula);
        Ok((momentum, pressure))
    }

    /// Solves for u* of each component.
    fn predict(&mut self, formula: &Formula) -> Result<SolveOutcome, IncompressibleError> {
        self.momentum.prepare(formula)?;
        let backend = self.backend.clone();
        let n = self.volume.len();
        let mut total: Option<SolveOutcome> = None;
        for k in 0..self.dimension {
            self.leave_momentum_of(k, formula);
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

    /// `residual` becomes what is left of the momentum of component `k`.
    pub(super) fn leave_momentum_of(&mut self, k: usize, formula: &Formula) {
        let slope = self.sees_pressure().then_some((&self.pressure.slope, k));
        let (backend, volume, component) = (&self.backend, &self.volume, &self.components[k]);
        let r = &mut self.residual;
        self.momentum.multiply(&component.now, r);
        let source = self.momentum.quantities[k].source.value();
        component.leave_residual(backend, volume, formula, source, slope, r);
        if let Some(thermal) = &self.thermal {
            thermal.add_buoyancy(backend, volume, k, formula.theta, r);
        }
        self.momentum.add_boundary(k, &component.now, r);
    }

    /// The flux F*, made free of divergence.
    fn project(&mut self, formula: &Formula) -> Result<SolveOutcome, IncompressibleError> {
        let backend = self.backend.clone();
        self.exchange_predicted();
        self.interpolate_straight();
        self.exchange_predicted();
        self.interpolate_momentum(formula);
        let shift = formula.bdf.shift;
        self.balance.apply(&backend, &self.outflow, &self.faces.area, &mut self.flux)?;
        self.pressure.project(&self.faces, &self.volume, shift, &mut self.flux)
    }

    /// Exchanges u and u*, for what is made of `now`.
    pub(super) fn exchange_predicted(&mut self) {
        for component in &mut self.components {
            std::mem::swap(&mut component.now, &mut component.predicted);
        }
    }

    /// The pressure at the new level.
    pub(super) fn advance_pressure(&mut self, formula: &Formula) {
        // Viscous terms in rotational form do not see the divergence of the predictor.
        let rotational = match self.numerics.arrangement {
            Arrangement::Collocated => formula.theta * self.viscosity,
            Arrangement::Staggered | Arrangement::Exact => 0.0,
        };
        let (keep, viscosity) = match self.numerics.pressure_correction {
            _ if !self.sees_pressure() => (0.0, 0.0),
            PressureCorrection::IncrementalRotational => (1.0, rotational),
            _ => (1.0, 0.0),
        };
        let step = formula.step;
        self.pressure_ahead = self.step_before.map_or(0.0, |before| step / (step + before));
        self.pressure.keep();
        self.pressure.advance(&self.volume, formula.bdf.shift, viscosity, keep);
    }
}
