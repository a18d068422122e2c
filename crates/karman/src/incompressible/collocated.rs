//! Velocity and pressure in the cells, fluxes at the faces: a step of the projection method.
//!
//! 1. Predictor, component by component: (shift V + θ A) δ = V (s − ∇p) + memory − convection − A u.
//! 2. Flux F*: the interpolated velocity u* = u + δ with what momentum interpolation keeps of F − u_f·S.
//! 3. Projection: A_p ψ = D F*; F = F* + a G ψ, u = u* + ∇ψ, p ← p − shift ψ − θ ν ∇·u*.
//!
//! Sources: Menon's thesis, ch. 7, for the fractional step; Guermond, Minev & Shen, Comput. Methods Appl.
//! Mech. Engrg. 195 (2006) 6011, §3, for the incremental rotational form; Rhie & Chow, AIAA J. 21 (1983)
//! 1525, and Cubero & Fueyo, Numer. Heat Transfer B 52 (2007) 507, for momentum interpolation.

use super::flow::Flow;
use super::kernels::{advance_velocity, momentum_interpolation, transport_residual};
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
        self.advance_collocated(formula);
        Ok((momentum, pressure))
    }

    /// Solves for u* of each component.
    fn predict(&mut self, formula: &Formula) -> Result<SolveOutcome, IncompressibleError> {
        self.momentum.prepare(formula)?;
        let backend = self.backend.clone();
        let n = self.volume.len();
        let sees_pressure = self.sees_pressure();
        let mut total: Option<SolveOutcome> = None;
        for (k, component) in self.components.iter_mut().enumerate() {
            self.momentum.multiply(&component.now, &mut self.residual);
            transport_residual(
                &backend,
                n,
                &self.volume,
                self.momentum.quantities[k].source.value(),
                &self.pressure.slope,
                F::narrow(formula.bdf.memory),
                &component.now,
                &component.before,
                &component.carried,
                &component.carried_before,
                F::narrow(formula.now),
                F::narrow(formula.then),
                k,
                n,
                sees_pressure,
                &mut self.residual,
            );
            if let Some(thermal) = &self.thermal {
                let volume = &self.volume;
                thermal.add_buoyancy(&backend, volume, k, formula.theta, &mut self.residual);
            }
            self.momentum.add_boundary(k, &component.now, &mut self.residual);
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

    /// The flux F*, made free of divergence.
    fn project(&mut self, formula: &Formula) -> Result<SolveOutcome, IncompressibleError> {
        let backend = self.backend.clone();
        for component in &mut self.components {
            std::mem::swap(&mut component.now, &mut component.predicted);
        }
        self.take_values();
        self.interpolate_flux();
        for component in &mut self.components {
            std::mem::swap(&mut component.now, &mut component.predicted);
        }
        if self.sees_pressure() {
            self.interpolate_momentum(formula);
        }
        let shift = formula.bdf.shift;
        self.balance.apply(&backend, &self.outflow, &self.faces.area, &mut self.flux)?;
        self.pressure.project(&self.faces, &self.volume, shift, &mut self.flux)
    }

    fn interpolate_momentum(&mut self, formula: &Formula) {
        let (backend, n_faces) = (self.backend.clone(), self.flux.len());
        let (cells, pressure) = (&self.faces.cells, &self.pressure);
        let (shift, memory) = (formula.bdf.shift, formula.bdf.memory);
        momentum_interpolation(
            &backend,
            n_faces,
            &cells.left,
            &cells.right,
            &self.excess,
            &self.excess_before,
            &pressure.value,
            &pressure.slope,
            &pressure.at_boundary,
            &pressure.is_free,
            &pressure.conductance,
            &self.faces.weight,
            &self.faces.span,
            &self.rate,
            F::narrow(shift),
            F::narrow(memory),
            cells.n_interior(),
            n_faces,
            self.volume.len(),
            &mut self.flux,
        );
    }

    /// The new level of velocity and pressure.
    fn advance_collocated(&mut self, formula: &Formula) {
        let backend = self.backend.clone();
        let n = self.volume.len();
        for (k, component) in self.components.iter_mut().enumerate() {
            advance_velocity(
                &backend,
                n,
                &component.predicted,
                &self.pressure.psi_slope,
                &self.volume,
                k,
                n,
                true,
                &mut component.now,
                &mut component.before,
                &mut self.statistics.partials,
            );
            self.statistics.gather(&backend);
        }
        self.advance_pressure(formula);
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
