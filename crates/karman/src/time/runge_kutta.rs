//! Strong-stability-preserving Runge–Kutta methods in the form of Shu & Osher, J. Comput. Phys. 77 (1988) 439.

/// A stage: u ← α uⁿ + (1 − α) (u + Δt f(u)), u of the previous stage, at first uⁿ; its result approximates u(tⁿ + c Δt).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// α.
    pub alpha: f64,
    /// c, the time of the result in Δt.
    pub c: f64,
}

/// Three stages of third order, Shu & Osher, eq. 2.18.
pub const SSP_RK3: [Stage; 3] = [
    Stage { alpha: 0.0, c: 1.0 },
    Stage { alpha: 0.75, c: 0.5 },
    Stage { alpha: 1.0 / 3.0, c: 1.0 },
];

#[cfg(test)]
mod tests {
    use super::SSP_RK3;

    #[test]
    fn the_stages_have_the_order_of_the_method_and_end_at_their_times() {
        // u' = λ u: the amplification is 1 + z + z²/2 + z³/6; u' = 1: stages end at c Δt.
        for z in [-0.7, 0.3, 1.9] {
            let amplification =
                SSP_RK3.iter().fold(1.0, |u, s| s.alpha + (1.0 - s.alpha) * (u + z * u));
            let expected = 1.0 + z + z * z / 2.0 + z * z * z / 6.0;
            assert!((amplification - expected).abs() < 1e-14, "{amplification} {expected}");
        }
        let mut time = 0.0;
        for stage in SSP_RK3 {
            time = (1.0 - stage.alpha) * (time + 1.0);
            assert!((time - stage.c).abs() < 1e-15, "{time} {stage:?}");
        }
    }
}
