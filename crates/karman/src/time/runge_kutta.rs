//! Runge–Kutta methods; strong-stability-preserving ones in the form of Shu & Osher, J. Comput. Phys. 77 (1988) 439.

use karman_macros::Keyword;

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

/// A method without solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum RungeKutta {
    /// One stage: first order.
    Euler,
    /// Two stages of second order, strong-stability-preserving.
    SspRk2,
    /// Three stages of third order, strong-stability-preserving.
    SspRk3,
    /// The classical four stages of fourth order.
    Rk4,
}

/// A stage of any method: u ← a uⁿ + b u + e s + d Δt f(u), u of the previous stage, at first uⁿ, and s ← s + w u of its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExplicitStage {
    /// a.
    pub old: f64,
    /// b.
    pub current: f64,
    /// e.
    pub sum: f64,
    /// d.
    pub step: f64,
    /// w.
    pub into_sum: f64,
    /// The time at which f is evaluated, in Δt after tⁿ.
    pub time: f64,
    /// b, the weight of f in the step, of methods with a sum: uⁿ⁺¹ = uⁿ + Δt Σ b f.
    pub of_flux: f64,
}

const fn stage(
    old: f64,
    current: f64,
    sum: f64,
    step: f64,
    into_sum: f64,
    time: f64,
) -> ExplicitStage {
    ExplicitStage { old, current, sum, step, into_sum, time, of_flux: 0.0 }
}

const THIRD: f64 = 1.0 / 3.0;

const EULER: [ExplicitStage; 1] = [stage(0.0, 1.0, 0.0, 1.0, 0.0, 0.0)];

const SSP_RK2: [ExplicitStage; 2] =
    [stage(0.0, 1.0, 0.0, 1.0, 0.0, 0.0), stage(0.5, 0.5, 0.0, 0.5, 0.0, 1.0)];

const SSP_RK3_EXPLICIT: [ExplicitStage; 3] = [
    stage(0.0, 1.0, 0.0, 1.0, 0.0, 0.0),
    stage(0.75, 0.25, 0.0, 0.25, 0.0, 1.0),
    stage(THIRD, 2.0 * THIRD, 0.0, 2.0 * THIRD, 0.0, 0.5),
];

const SIXTH: f64 = 1.0 / 6.0;

const RK4: [ExplicitStage; 4] = [
    ExplicitStage { of_flux: SIXTH, ..stage(1.0, 0.0, 0.0, 0.5, 1.0, 0.0) },
    ExplicitStage { of_flux: THIRD, ..stage(1.0, 0.0, 0.0, 0.5, 2.0, 0.5) },
    ExplicitStage { of_flux: THIRD, ..stage(1.0, 0.0, 0.0, 1.0, 1.0, 0.5) },
    ExplicitStage { of_flux: SIXTH, ..stage(-THIRD, 0.0, THIRD, SIXTH, 0.0, 1.0) },
];

impl RungeKutta {
    /// The stages. Classical: uⁿ⁺¹ = (−uⁿ + u₁ + 2 u₂ + u₃)/3 + Δt f(u₃)/6.
    pub const fn stages(self) -> &'static [ExplicitStage] {
        match self {
            RungeKutta::Euler => &EULER,
            RungeKutta::SspRk2 => &SSP_RK2,
            RungeKutta::SspRk3 => &SSP_RK3_EXPLICIT,
            RungeKutta::Rk4 => &RK4,
        }
    }

    /// Whether a stage reads the sum s.
    pub fn has_sum(self) -> bool {
        self.stages().iter().any(|stage| stage.sum != 0.0)
    }

    /// The order of the method.
    pub const fn order(self) -> usize {
        match self {
            RungeKutta::Euler => 1,
            RungeKutta::SspRk2 => 2,
            RungeKutta::SspRk3 => 3,
            RungeKutta::Rk4 => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// u' = λ u + t^(p − 1): the amplification agrees with e^z up to order p, and quadrature in time has order p.
    #[test]
    fn explicit_stages_have_the_order_of_their_method() {
        for method in RungeKutta::ALL {
            let advance = |u: f64, t: f64, f: &dyn Fn(f64, f64) -> f64| {
                let (mut v, mut sum) = (u, 0.0);
                for s in method.stages() {
                    v = s.old * u + s.current * v + s.sum * sum + s.step * f(v, t + s.time);
                    sum += s.into_sum * v;
                }
                v
            };
            let order = method.order();
            let z: f64 = 0.3;
            let (mut term, mut expected) = (1.0, 1.0);
            for k in 1..=order {
                term *= z / k as f64;
                expected += term;
            }
            let found = advance(1.0, 0.0, &|u, _| z * u);
            assert!((found - expected).abs() < 1e-15, "{method:?}: {found} {expected}");
            let power = order as i32 - 1;
            let found = advance(0.0, 0.0, &|_, t| t.powi(power));
            assert!((found - 1.0 / order as f64).abs() < 1e-15, "{method:?}: {found}");
        }
    }

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
