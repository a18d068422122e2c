//! What a flow may run into without a word from its numbers: steps longer than the extrapolation of convection
//! bears, meshes too coarse for central differences, fluid that enters where it should leave.
//!
//! Stability is that of u_t + U u_x = ν u_xx on a uniform grid. With the Courant number C = UΔt/h, the cell Reynolds
//! number R = Uh/ν, h u_x ≈ λ(θ) u and h² u_xx ≈ −μ(θ) u for the wave e^{iθj}, a step of the schemes is
//!
//! BDF2: (3/2 + Cμ/R) z² − (2 − 2Cλ) z + 1/2 − Cλ = 0,
//! AB2 with Crank–Nicolson: (1 + Cμ/2R) z² − (1 − Cμ/2R − 3Cλ/2) z − Cλ/2 = 0,
//! RK3: z = 1 + q + q²/2 + q³/6, q = −C (λ + μ/R),
//!
//! and C is borne where |z| ≤ 1 + 10⁻³ for every wave: central differences without viscosity grow at any C with
//! both multistep schemes, by less than that as long as C is small.
//!
//! In a cell C is Δt Σ|F| / 2V and R the ratio of that rate to ν Σa / 2dV, d the dimension.

use super::{Convection, Flow, FlowCondition, IncompressibleError, Scheme};
use crate::mesh::Mesh;
use crate::real::Real;

/// Growth of a wave in a step that is borne.
const BORNE: f64 = 1e-3;
/// Steps of the search for a limit, and where it ends.
const SEARCH: f64 = 0.005;
const MOST: f64 = 4.0;
/// Waves that are looked at.
const WAVES: usize = 180;
/// Cell Reynolds numbers of the table: powers of two from 2⁻⁴.
const LEAST_POWER: i32 = -4;
const POWERS: usize = 20;

/// A complex number.
#[derive(Clone, Copy)]
struct Complex(f64, f64);

impl Complex {
    fn plus(self, other: Complex) -> Complex {
        Complex(self.0 + other.0, self.1 + other.1)
    }
    fn times(self, other: Complex) -> Complex {
        Complex(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
    fn scaled(self, factor: f64) -> Complex {
        Complex(factor * self.0, factor * self.1)
    }
    fn size(self) -> f64 {
        self.0.hypot(self.1)
    }
    fn root(self) -> Complex {
        let size = self.size();
        let (real, imaginary) =
            ((0.5 * (size + self.0)).max(0.0), (0.5 * (size - self.0)).max(0.0));
        Complex(real.sqrt(), imaginary.sqrt().copysign(self.1))
    }
}

/// λ of a wave: h times the difference of the values at both faces of a cell.
fn convective_symbol(convection: Convection, theta: f64) -> Complex {
    let (next, last) = (Complex(theta.cos(), theta.sin()), Complex(theta.cos(), -theta.sin()));
    let one = Complex(1.0, 0.0);
    let difference = one.plus(last.scaled(-1.0));
    let slope = next.plus(last.scaled(-1.0)).scaled(0.5);
    let face = match convection {
        Convection::Central => one.plus(next).scaled(0.5),
        Convection::Upwind => one,
        Convection::LinearUpwind => one.plus(slope.scaled(0.5)),
        Convection::Cubic => {
            let slopes = slope.plus(slope.times(next).scaled(-1.0));
            one.plus(next).scaled(0.5).plus(slopes.scaled(0.125))
        }
    };
    difference.times(face)
}

/// The largest |z| of a wave.
fn amplification(
    scheme: Scheme,
    convection: Convection,
    theta: f64,
    [courant, diffusion]: [f64; 2],
) -> f64 {
    let transport = convective_symbol(convection, theta).scaled(courant);
    let damping = diffusion * (2.0 - 2.0 * theta.cos());
    let real = |x: f64| Complex(x, 0.0);
    let [a, b, c] = match scheme {
        Scheme::Bdf2 => [
            real(1.5 + damping),
            real(-2.0).plus(transport.scaled(2.0)),
            real(0.5).plus(transport.scaled(-1.0)),
        ],
        Scheme::Ab2Cn => [
            real(1.0 + 0.5 * damping),
            real(-1.0 + 0.5 * damping).plus(transport.scaled(1.5)),
            transport.scaled(-0.5),
        ],
        Scheme::Rk3 => {
            let q = transport.plus(real(damping)).scaled(-1.0);
            let third = real(1.0).plus(q.scaled(1.0 / 3.0));
            let second = real(1.0).plus(q.scaled(0.5).times(third));
            return real(1.0).plus(q.times(second)).size();
        }
    };
    let root = b.times(b).plus(a.times(c).scaled(-4.0)).root();
    let [one, other] = [1.0, -1.0].map(|sign| root.scaled(sign).plus(b.scaled(-1.0)).size());
    one.max(other) / (2.0 * a.size())
}

/// The largest Courant number that a scheme bears at a cell Reynolds number, infinite where there is no
/// viscosity; at most 4.
pub fn courant_limit(scheme: Scheme, convection: Convection, cell_reynolds: f64) -> f64 {
    let grows = |courant: f64| {
        (1..=WAVES).any(|k| {
            let theta = std::f64::consts::PI * k as f64 / WAVES as f64;
            let numbers = [courant, courant / cell_reynolds];
            amplification(scheme, convection, theta, numbers) > 1.0 + BORNE
        })
    };
    let tried = (1..=(MOST / SEARCH) as usize).map(|k| SEARCH * k as f64);
    tried.take_while(|courant| !grows(*courant)).last().unwrap_or(0.0)
}

/// Limits over cell Reynolds numbers.
pub struct CourantLimits {
    table: Vec<f64>,
    /// That without viscosity.
    pub inviscid: f64,
}

impl CourantLimits {
    /// Those of a scheme.
    pub fn new(scheme: Scheme, convection: Convection) -> CourantLimits {
        let reynolds = |k: usize| 2.0f64.powi(LEAST_POWER + k as i32);
        let table = (0..POWERS).map(|k| courant_limit(scheme, convection, reynolds(k))).collect();
        CourantLimits { table, inviscid: courant_limit(scheme, convection, f64::INFINITY) }
    }

    /// The limit at a cell Reynolds number, linear in its logarithm between those known.
    pub fn at(&self, cell_reynolds: f64) -> f64 {
        let place = (cell_reynolds.log2() - f64::from(LEAST_POWER)).max(0.0);
        if place >= (self.table.len() - 1) as f64 {
            return self.inviscid;
        }
        let (k, share) = (place.floor() as usize, place.fract());
        (1.0 - share) * self.table[k] + share * self.table[k + 1]
    }
}

/// How far the cells of a flow are from what its numerics bear.
#[derive(Clone, Debug, PartialEq)]
pub struct CellLimits {
    /// The share of the cells whose Courant number is beyond the limit.
    pub beyond_courant: f64,
    /// The largest Courant number.
    pub courant: f64,
    /// The share of the cells whose Péclet number |u|h/ν, or |u|h/κ where that is larger, is above 2.
    pub beyond_peclet: f64,
    /// The largest Péclet number; infinite without viscosity.
    pub peclet: f64,
}

impl<F: Real> Flow<F> {
    /// Compares each cell with the limits of a step of length `step`; the fields come to the host.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn cell_limits(
        &self,
        limits: &CourantLimits,
        step: f64,
    ) -> Result<CellLimits, IncompressibleError> {
        let (rate, viscous) = (self.read_wide(&self.rate)?, self.read_wide(&self.viscous_rate)?);
        let prandtl =
            self.thermal.as_ref().map_or(1.0, |thermal| self.viscosity / thermal.diffusivity());
        let directions = 2.0 * self.dimension as f64;
        let [mut courant, mut peclet] = [0.0f64; 2];
        let [mut beyond_courant, mut beyond_peclet] = [0usize; 2];
        for (rate, viscous) in rate.iter().zip(&viscous) {
            let own = rate - viscous;
            if own <= 0.0 {
                continue;
            }
            let reynolds = if *viscous > 0.0 { directions * own / viscous } else { f64::INFINITY };
            courant = courant.max(own * step);
            peclet = peclet.max(reynolds * prandtl.max(1.0));
            beyond_courant += usize::from(own * step > limits.at(reynolds));
            beyond_peclet += usize::from(reynolds * prandtl.max(1.0) > 2.0);
        }
        let share = |count: usize| count as f64 / rate.len().max(1) as f64;
        Ok(CellLimits {
            beyond_courant: share(beyond_courant),
            courant,
            beyond_peclet: share(beyond_peclet),
            peclet,
        })
    }

    /// Of each patch that is an outlet, by its place in the mesh: the flow that enters through it, and the flow
    /// through all of the boundary, Σ|F| / 2. The fluxes come to the host.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn backflow(
        &self,
        mesh: &Mesh,
        conditions: &[FlowCondition],
    ) -> Result<(Vec<(usize, f64)>, f64), IncompressibleError> {
        let flux = self.read_wide(&self.flux)?;
        let boundary = &flux[mesh.n_interior_faces()..];
        let through = boundary.iter().fold(0.0, |sum, f| sum + 0.5 * f.abs());
        let outlets =
            mesh.patches.iter().zip(conditions).enumerate().filter(|(_, (_, condition))| {
                matches!(condition, FlowCondition::Outlet(_) | FlowCondition::ConvectiveOutlet)
            });
        let entering = outlets.map(|(place, (patch, _))| {
            let inward = flux[patch.faces.clone()].iter().filter(|f| **f < 0.0);
            (place, inward.fold(0.0, |sum, f| sum - f))
        });
        Ok((entering.collect(), through))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_extrapolated_convection_are_those_of_the_table() {
        let infinite = f64::INFINITY;
        for (scheme, convection, reynolds, expected) in [
            (Scheme::Bdf2, Convection::Upwind, infinite, 0.66),
            (Scheme::Bdf2, Convection::LinearUpwind, infinite, 0.47),
            (Scheme::Bdf2, Convection::LinearUpwind, 100.0, 0.47),
            (Scheme::Bdf2, Convection::LinearUpwind, 10.0, 0.52),
            (Scheme::Bdf2, Convection::LinearUpwind, 2.0, 0.72),
            (Scheme::Bdf2, Convection::Central, infinite, 0.18),
            (Scheme::Bdf2, Convection::Central, 10.0, 0.55),
            (Scheme::Ab2Cn, Convection::Upwind, infinite, 0.50),
            (Scheme::Ab2Cn, Convection::LinearUpwind, infinite, 0.49),
            (Scheme::Rk3, Convection::Central, infinite, 1.73),
            (Scheme::Rk3, Convection::LinearUpwind, infinite, 1.17),
            (Scheme::Rk3, Convection::Upwind, infinite, 1.255),
            (Scheme::Rk3, Convection::Central, 1.0, 0.625),
        ] {
            let limit = courant_limit(scheme, convection, reynolds);
            assert!(
                (limit - expected).abs() < 0.0101,
                "{scheme:?} {convection:?} {reynolds}: {limit}, {expected}"
            );
        }
    }

    /// The scheme itself on a ring of cells, from a small random field: it grows above the limit and does not
    /// below.
    #[test]
    fn a_ring_of_cells_grows_above_the_limit_and_not_below() {
        let n = 64;
        let face = |convection: Convection, u: &[f64], i: usize| {
            let at = |k: i64| u[(i as i64 + k).rem_euclid(n as i64) as usize];
            let slope = |k: i64| 0.5 * (at(k + 1) - at(k - 1));
            match convection {
                Convection::Central => 0.5 * (at(0) + at(1)),
                Convection::Upwind => at(0),
                Convection::LinearUpwind => at(0) + 0.5 * slope(0),
                Convection::Cubic => 0.5 * (at(0) + at(1)) + 0.125 * (slope(0) - slope(1)),
            }
        };
        for convection in
            [Convection::Central, Convection::Upwind, Convection::LinearUpwind, Convection::Cubic]
        {
            let limit = courant_limit(Scheme::Bdf2, convection, f64::INFINITY);
            let size_after = |courant: f64| {
                let mut seed = 1u64;
                let mut random = || {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (seed >> 33) as f64 / 2f64.powi(31) - 0.5
                };
                let mut now: Vec<f64> = (0..n).map(|_| random()).collect();
                let mut before = now.clone();
                for _ in 0..4000 {
                    let carried = |u: &[f64], i: usize| {
                        face(convection, u, i) - face(convection, u, (i + n - 1) % n)
                    };
                    let next: Vec<f64> = (0..n)
                        .map(|i| {
                            let extrapolated = 2.0 * carried(&now, i) - carried(&before, i);
                            (2.0 * now[i] - 0.5 * before[i] - courant * extrapolated) / 1.5
                        })
                        .collect();
                    before = std::mem::replace(&mut now, next);
                }
                // Beyond all numbers is large, too.
                let size = |u: &f64| if u.is_finite() { u.abs() } else { f64::INFINITY };
                now.iter().map(size).fold(0.0, f64::max)
            };
            let (above, below) = (size_after(1.25 * limit), size_after(0.5 * limit));
            assert!(above > 10.0 && below < 2.0, "{convection:?} {limit}: {above} {below}");
        }
    }

    #[test]
    fn limits_between_those_of_the_table_are_between_them() {
        let limits = CourantLimits::new(Scheme::Bdf2, Convection::Central);
        for reynolds in [0.01, 0.3, 1.0, 3.0, 50.0, 1e9, f64::INFINITY] {
            let exact = courant_limit(Scheme::Bdf2, Convection::Central, reynolds.max(0.0625));
            assert!((limits.at(reynolds) - exact).abs() < 0.1 * exact, "{reynolds}");
        }
    }
}
