//! Time schemes.

use crate::time::TimeCoefficients;
use karman_macros::Keyword;

/// A time scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum TimeScheme {
    /// Second order: Adams–Bashforth for convection, Crank–Nicolson for viscous terms.
    Ab2Cn,
    /// Second order: backward differentiation, convection extrapolated to the new time.
    Bdf2,
    /// Third order: Runge–Kutta with three explicit stages, stable up to a Courant number of 1.7, which includes the
    /// viscous terms where `cfl` sets the step.
    Rk3,
}

impl TimeScheme {
    /// The coefficients of a step of length `step` after one of length `before`, none before the first; C the
    /// convective and L the viscous terms.
    pub(super) fn coefficients(self, step: f64, before: Option<f64>) -> TimeCoefficients {
        match self {
            TimeScheme::Ab2Cn => TimeCoefficients::ab2_cn(step, before),
            TimeScheme::Bdf2 => TimeCoefficients::bdf2(step, before),
            TimeScheme::Rk3 => TimeCoefficients::first_order(step),
        }
    }
}

/// Level at which a step takes the convected quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum ConvectionTreatment {
    /// Extrapolated from earlier levels: the Courant number is bounded.
    Explicit,
    /// Extrapolated, with upwind convection of the second difference in time at the new level: any Courant number.
    Implicit,
}

/// Update of the pressure by a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum PressureCorrection {
    /// Predictor without ∇p: the classical fractional step, first order in time; it diverges on skewed tetrahedra.
    None,
    /// Predictor with ∇p of the previous time; the projection adds an increment.
    Incremental,
    /// Incremental, with ν ∇·u* subtracted from the pressure, which removes its numerical boundary layer.
    IncrementalRotational,
}
