//! Time schemes.

use crate::time::bdf::Bdf;
use karman_macros::Keyword;

/// A time scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Scheme {
    /// Convection by Adams–Bashforth, second order, viscous terms by Crank–Nicolson.
    Ab2Cn,
    /// Viscous terms by backward differentiation, second order, convection extrapolated to the new level.
    Bdf2,
    /// Three explicit stages, third order.
    Rk3,
}

/// Update of the pressure by a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum PressureCorrection {
    /// Predictor without ∇p: the classical fractional step, first order in time.
    None,
    /// Predictor with ∇p of the previous level; the projection adds an increment.
    Incremental,
    /// Incremental, with ν ∇·u* subtracted from the pressure, which removes its numerical boundary layer.
    IncrementalRotational,
}

/// shift δ − history δ_before = −b₀ C − b₁ C_before + θ L uⁿ⁺¹ + (1 − θ) L uⁿ: the coefficients of one step,
/// C the convective and L the viscous terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeCoefficients {
    /// Δt.
    pub step: f64,
    pub bdf: Bdf,
    /// θ, the weight of the new level in the viscous terms.
    pub theta: f64,
    /// b₀, the weight of the convection at the current level.
    pub b0: f64,
    /// b₁, the weight of the convection at the previous level.
    pub b1: f64,
}

impl TimeCoefficients {
    /// A step of length `step` after one of length `before`; `None` before the first.
    pub(super) fn new(scheme: Scheme, step: f64, before: Option<f64>) -> TimeCoefficients {
        let theta = if scheme == Scheme::Ab2Cn { 0.5 } else { 1.0 };
        let Some(before) = before else {
            return TimeCoefficients { step, bdf: Bdf::first(step), theta, b0: 1.0, b1: 0.0 };
        };
        let (bdf, extrapolation) = match scheme {
            Scheme::Ab2Cn => (Bdf::first(step), 0.5 * step / before),
            Scheme::Bdf2 => (Bdf::second(step, before), step / before),
            Scheme::Rk3 => unreachable!("a one-step method"),
        };
        TimeCoefficients { step, bdf, theta, b0: 1.0 + extrapolation, b1: -extrapolation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convection_is_extrapolated_to_the_time_of_the_viscous_terms() {
        // Linear in time: extrapolated to the new level for BDF2, to the midpoint for Adams–Bashforth.
        for (step, before) in [(0.1, 0.1), (0.1, 0.25)] {
            for (scheme, place) in [(Scheme::Bdf2, step), (Scheme::Ab2Cn, 0.5 * step)] {
                let coefficients = TimeCoefficients::new(scheme, step, Some(before));
                assert!((coefficients.b0 + coefficients.b1 - 1.0).abs() < 1e-14);
                assert!((-coefficients.b1 * before - place).abs() < 1e-14);
            }
        }
        let first = TimeCoefficients::new(Scheme::Bdf2, 0.1, None);
        assert_eq!((first.b0, first.b1, first.bdf.history), (1.0, 0.0, 0.0));
    }
}
