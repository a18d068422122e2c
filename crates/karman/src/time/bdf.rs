//! Backward differentiation formulas with variable steps.

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

#[cfg(test)]
mod tests {
    use super::Bdf;

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
}
