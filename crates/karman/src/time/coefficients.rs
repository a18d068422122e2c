//! Coefficients of multistep schemes with variable steps.

/// dT/dt at the new level ≈ `shift` δ_n − `history` δ_{n−1}, δ_n = T_{n+1} − T_n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bdf {
    /// Factor of the new increment δ_n, 1/time.
    pub shift: f64,
    /// Factor of the previous increment δ_{n−1}, 1/time.
    pub history: f64,
}

impl Bdf {
    /// First order: backward Euler.
    pub fn first(step: f64) -> Bdf {
        Bdf { shift: 1.0 / step, history: 0.0 }
    }

    /// Second order, with r = step / previous_step: shift = (1 + 2r)/(1 + r)/step,
    /// history = r²/(1 + r)/step (Hairer, Nørsett & Wanner, Solving ODEs I, §III.5).
    pub fn second(step: f64, previous_step: f64) -> Bdf {
        let r = step / previous_step;
        Bdf { shift: (1.0 + 2.0 * r) / (1.0 + r) / step, history: r * r / (1.0 + r) / step }
    }
}

/// The coefficients of one step of
///
/// shift δ − history δ_before = −b₀ C − b₁ C_before + θ L uⁿ⁺¹ + (1 − θ) L uⁿ,
///
/// δ the increment of u, C its explicit (convective) and L its implicit (diffusive) terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeCoefficients {
    /// Δt.
    pub step: f64,
    /// The difference in time.
    pub bdf: Bdf,
    /// θ, the weight of the new level in the implicit terms.
    pub theta: f64,
    /// b₀, the weight of the explicit terms at the current level.
    pub b0: f64,
    /// b₁, the weight of the explicit terms at the previous level.
    pub b1: f64,
}

impl TimeCoefficients {
    /// First order: backward Euler with explicit terms of the current level.
    pub fn first_order(step: f64) -> TimeCoefficients {
        TimeCoefficients { step, bdf: Bdf::first(step), theta: 1.0, b0: 1.0, b1: 0.0 }
    }

    /// Second order after a step of length `before`: BDF2, explicit terms extrapolated to the new level. First order
    /// where there is no previous step.
    pub fn bdf2(step: f64, before: Option<f64>) -> TimeCoefficients {
        let first = TimeCoefficients::first_order(step);
        before.map_or(first, |before| {
            let extrapolation = step / before;
            let bdf = Bdf::second(step, before);
            TimeCoefficients { bdf, b0: 1.0 + extrapolation, b1: -extrapolation, ..first }
        })
    }

    /// Second order after a step of length `before`: Crank–Nicolson, explicit terms by Adams–Bashforth, which
    /// extrapolates them to the midpoint of the step.
    pub fn ab2_cn(step: f64, before: Option<f64>) -> TimeCoefficients {
        let first = TimeCoefficients { theta: 0.5, ..TimeCoefficients::first_order(step) };
        before.map_or(first, |before| {
            let extrapolation = 0.5 * step / before;
            TimeCoefficients { b0: 1.0 + extrapolation, b1: -extrapolation, ..first }
        })
    }

    /// Whether the implicit terms are those of the midpoint of the step.
    pub fn is_midpoint(&self) -> bool {
        self.theta < 1.0
    }

    /// The times whose mean the implicit terms are evaluated at, for a step between `old` and `new`.
    pub fn mean_of(&self, old: f64, new: f64) -> [f64; 2] {
        [if self.is_midpoint() { old } else { new }, new]
    }
}

#[cfg(test)]
mod tests {
    use super::{Bdf, TimeCoefficients};

    #[test]
    fn the_second_order_form_is_exact_for_parabolas_at_any_step_ratio() {
        for (h, previous) in [(0.1, 0.1), (0.1, 0.3), (0.5, 0.2)] {
            let f = |t: f64| 2.0 + 3.0 * t - 1.5 * t * t;
            let (t0, t1) = (0.7 - h - previous, 0.7 - h);
            let bdf = Bdf::second(h, previous);
            let derivative = bdf.shift * (f(0.7) - f(t1)) - bdf.history * (f(t1) - f(t0));
            assert!((derivative - (3.0 - 3.0 * 0.7)).abs() < 1e-12);
        }
    }

    #[test]
    fn explicit_terms_are_extrapolated_to_the_time_of_the_implicit_terms() {
        // Linear in time: extrapolated to the new level for BDF2, to the midpoint for Adams–Bashforth.
        for (step, before) in [(0.1, 0.1), (0.1, 0.25)] {
            for (coefficients, place) in [
                (TimeCoefficients::bdf2(step, Some(before)), step),
                (TimeCoefficients::ab2_cn(step, Some(before)), 0.5 * step),
            ] {
                assert!((coefficients.b0 + coefficients.b1 - 1.0).abs() < 1e-14);
                assert!((-coefficients.b1 * before - place).abs() < 1e-14);
            }
        }
        for first in [TimeCoefficients::bdf2(0.1, None), TimeCoefficients::ab2_cn(0.1, None)] {
            assert_eq!((first.b0, first.b1, first.bdf.history), (1.0, 0.0, 0.0));
        }
    }
}
