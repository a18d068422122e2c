//! Backward differentiation with variable steps.

/// dT/dt at the new level ≈ `shift` δ − `memory` δ_before, δ = T_{n+1} − T_n, δ_before = T_n − T_{n−1}.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bdf {
    /// Factor of the new increment, 1/time.
    pub shift: f64,
    /// Factor of the one before, 1/time.
    pub memory: f64,
}

impl Bdf {
    /// First order: backward Euler.
    pub fn first(step: f64) -> Bdf {
        Bdf { shift: 1.0 / step, memory: 0.0 }
    }

    /// Second order, with r = step / step_before: shift = (1 + 2r)/(1 + r)/step,
    /// memory = r²/(1 + r)/step (Hairer, Nørsett & Wanner, Solving ODEs I, §III.5).
    pub fn second(step: f64, step_before: f64) -> Bdf {
        let r = step / step_before;
        Bdf { shift: (1.0 + 2.0 * r) / (1.0 + r) / step, memory: r * r / (1.0 + r) / step }
    }
}

#[cfg(test)]
mod tests {
    use super::Bdf;

    #[test]
    fn the_second_order_form_is_exact_for_parabolas_at_any_step_ratio() {
        for (h, before) in [(0.1, 0.1), (0.1, 0.3), (0.5, 0.2)] {
            let f = |t: f64| 2.0 + 3.0 * t - 1.5 * t * t;
            let (t0, t1) = (0.7 - h - before, 0.7 - h);
            let bdf = Bdf::second(h, before);
            let slope = bdf.shift * (f(0.7) - f(t1)) - bdf.memory * (f(t1) - f(t0));
            assert!((slope - (3.0 - 3.0 * 0.7)).abs() < 1e-12);
        }
    }
}
