//! How a step is formed in time.

use crate::time::bdf::Bdf;

/// A time scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Convection by Adams & Bashforth, second order, viscous terms by Crank & Nicolson.
    Ab2Cn,
    /// Viscous terms by backward differentiation, second order, convection extrapolated to the new level.
    Bdf2,
    /// Three explicit stages, third order.
    Rk3,
}

/// What a projection makes of the pressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressureCorrection {
    /// The predictor sees no pressure: the classical fractional step, first order in time.
    None,
    /// The predictor sees the pressure of the level before, the projection adds to it.
    Incremental,
    /// The same with the divergence of the predictor taken off the pressure, which leaves no numerical
    /// boundary layer in it.
    IncrementalRotational,
}

/// The numbers of one step: shift u − memory (u − u_before) … = −now C − then C_before + θ L u.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Formula {
    /// Length of the step.
    pub step: f64,
    pub bdf: Bdf,
    /// Share of the new level in the viscous terms.
    pub theta: f64,
    /// Weight of the convection at the present level.
    pub now: f64,
    /// Weight of that at the level before.
    pub then: f64,
}

impl Formula {
    /// A step of `step` after one of `before`, or the first one.
    pub(super) fn new(scheme: Scheme, step: f64, before: Option<f64>) -> Formula {
        let theta = if scheme == Scheme::Ab2Cn { 0.5 } else { 1.0 };
        let Some(before) = before else {
            return Formula { step, bdf: Bdf::first(step), theta, now: 1.0, then: 0.0 };
        };
        let (bdf, ahead) = match scheme {
            Scheme::Ab2Cn => (Bdf::first(step), 0.5 * step / before),
            Scheme::Bdf2 => (Bdf::second(step, before), step / before),
            Scheme::Rk3 => unreachable!("its stages have no formula of several levels"),
        };
        Formula { step, bdf, theta, now: 1.0 + ahead, then: -ahead }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn convection_is_extrapolated_to_where_the_viscous_terms_are_taken() {
        // A slope of 1 in time: to the new level for BDF2, to the middle for Adams & Bashforth.
        for (step, before) in [(0.1, 0.1), (0.1, 0.25)] {
            for (scheme, place) in [(Scheme::Bdf2, step), (Scheme::Ab2Cn, 0.5 * step)] {
                let formula = Formula::new(scheme, step, Some(before));
                assert!((formula.now + formula.then - 1.0).abs() < 1e-14);
                assert!((-formula.then * before - place).abs() < 1e-14);
            }
        }
        let first = Formula::new(Scheme::Bdf2, 0.1, None);
        assert_eq!((first.now, first.then, first.bdf.memory), (1.0, 0.0, 0.0));
    }
}
