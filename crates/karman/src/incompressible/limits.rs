//! Stability limits and warnings: steps beyond the stability limit of extrapolated convection, meshes too
//! coarse for central differences, backflow at outlets.
//!
//! Stability is that of u_t + U u_x = ν u_xx on a uniform grid. With the Courant number C = UΔt/h, the cell
//! Reynolds number R = Uh/ν, h u_x ≈ λ(θ) u and h² u_xx ≈ −μ(θ) u for the wave e^{iθj}, a step of the
//! schemes is
//!
//! BDF2: (3/2 + Cμ/R) z² − (2 − 2Cλ) z + 1/2 − Cλ = 0,
//! AB2 with Crank–Nicolson: (1 + Cμ/2R) z² − (1 − Cμ/2R − 3Cλ/2) z − Cλ/2 = 0,
//! RK3: z = 1 + q + q²/2 + q³/6, q = −C (λ + μ/R),
//!
//! and C is stable if |z| ≤ 1 + 10⁻³ for every wave: without viscosity central differences grow at any C
//! with both multistep schemes, by less than 10⁻³ for small C.
//!
//! In a cell C is Δt Σ|F| / 2V and R the ratio of that rate to ν Σa / 2dV, d the dimension.

use super::{Convection, FlowCondition, IncompressibleError, IncompressibleSolver, TimeScheme};
use crate::backend::blas;
use crate::mesh::Mesh;
use crate::real::Real;
use std::ops::{Add, Mul};

/// Tolerated growth of a wave per step.
const GROWTH_TOLERANCE: f64 = 1e-3;
/// Increment and end of the search for a limit.
const COURANT_INCREMENT: f64 = 0.005;
const LARGEST_COURANT: f64 = 4.0;
/// Number of waves.
const WAVES: usize = 180;
/// Cell Reynolds numbers of the table: powers of two from 2⁻⁴.
const LEAST_POWER: i32 = -4;
const POWERS: usize = 20;

/// A complex number.
#[derive(Clone, Copy)]
struct Complex(f64, f64);

impl Add for Complex {
    type Output = Complex;

    fn add(self, other: Complex) -> Complex {
        Complex(self.0 + other.0, self.1 + other.1)
    }
}

impl Mul for Complex {
    type Output = Complex;

    fn mul(self, other: Complex) -> Complex {
        Complex(self.0 * other.0 - self.1 * other.1, self.0 * other.1 + self.1 * other.0)
    }
}

impl Complex {
    fn scale(self, factor: f64) -> Complex {
        Complex(factor * self.0, factor * self.1)
    }
    fn abs(self) -> f64 {
        self.0.hypot(self.1)
    }
    fn sqrt(self) -> Complex {
        let abs = self.abs();
        let (real, imaginary) = ((0.5 * (abs + self.0)).max(0.0), (0.5 * (abs - self.0)).max(0.0));
        Complex(real.sqrt(), imaginary.sqrt().copysign(self.1))
    }
}

/// λ of a wave, the difference of the values at both faces of a cell.
fn convective_symbol(convection: Convection, theta: f64) -> Complex {
    let (next, last) = (Complex(theta.cos(), theta.sin()), Complex(theta.cos(), -theta.sin()));
    let one = Complex(1.0, 0.0);
    let difference = one + last.scale(-1.0);
    let slope = (next + last.scale(-1.0)).scale(0.5);
    let face = match convection {
        Convection::Central => (one + next).scale(0.5),
        Convection::Upwind => one,
        // A linear analysis sees no limiter.
        Convection::LinearUpwind | Convection::LimitedLinear => one + slope.scale(0.5),
        Convection::Cubic => {
            let slopes = slope + (slope * next).scale(-1.0);
            (one + next).scale(0.5) + slopes.scale(0.125)
        }
    };
    difference * face
}

/// λ and μ of each wave.
fn symbols(convection: Convection) -> Vec<(Complex, f64)> {
    let of_wave = |k: usize| {
        let theta = std::f64::consts::PI * k as f64 / WAVES as f64;
        (convective_symbol(convection, theta), 2.0 - 2.0 * theta.cos())
    };
    (1..=WAVES).map(of_wave).collect()
}

/// The largest |z| of the wave with λ and μ.
fn amplification(
    scheme: TimeScheme,
    (convective, diffusive): (Complex, f64),
    [courant, diffusion]: [f64; 2],
) -> f64 {
    let advection = convective.scale(courant);
    let damping = diffusion * diffusive;
    let real = |x: f64| Complex(x, 0.0);
    let [a, b, c] = match scheme {
        TimeScheme::Bdf2 => [
            real(1.5 + damping),
            real(-2.0) + advection.scale(2.0),
            real(0.5) + advection.scale(-1.0),
        ],
        TimeScheme::Ab2Cn => [
            real(1.0 + 0.5 * damping),
            real(-1.0 + 0.5 * damping) + advection.scale(1.5),
            advection.scale(-0.5),
        ],
        TimeScheme::Rk3 => {
            let q = (advection + real(damping)).scale(-1.0);
            let third = real(1.0) + q.scale(1.0 / 3.0);
            let second = real(1.0) + q.scale(0.5) * third;
            return (real(1.0) + q * second).abs();
        }
    };
    let root = (b * b + (a * c).scale(-4.0)).sqrt();
    let [one, other] = [1.0, -1.0].map(|sign| (root.scale(sign) + b.scale(-1.0)).abs());
    one.max(other) / (2.0 * a.abs())
}

/// The largest stable Courant number of a scheme, with the λ and μ of all waves, at a cell Reynolds number, infinite without
/// viscosity; at most 4.
fn courant_limit(scheme: TimeScheme, waves: &[(Complex, f64)], cell_reynolds: f64) -> f64 {
    let grows = |courant: f64| {
        let numbers = [courant, courant / cell_reynolds];
        waves.iter().any(|wave| amplification(scheme, *wave, numbers) > 1.0 + GROWTH_TOLERANCE)
    };
    let tried =
        (1..=(LARGEST_COURANT / COURANT_INCREMENT) as usize).map(|k| COURANT_INCREMENT * k as f64);
    tried.take_while(|courant| !grows(*courant)).last().unwrap_or(0.0)
}

/// Table of the limit over the cell Reynolds number.
pub struct CourantLimits {
    table: Vec<f64>,
    /// The limit without viscosity.
    pub inviscid: f64,
}

impl CourantLimits {
    /// The limits of a scheme.
    pub fn new(scheme: TimeScheme, convection: Convection) -> CourantLimits {
        let waves = symbols(convection);
        let reynolds = |k: usize| 2.0f64.powi(LEAST_POWER + k as i32);
        let table = (0..POWERS).map(|k| courant_limit(scheme, &waves, reynolds(k))).collect();
        CourantLimits { table, inviscid: courant_limit(scheme, &waves, f64::INFINITY) }
    }

    /// The limit at a cell Reynolds number, interpolated linearly in its logarithm.
    pub fn at(&self, cell_reynolds: f64) -> f64 {
        let place = (cell_reynolds.log2() - f64::from(LEAST_POWER)).max(0.0);
        if place >= (self.table.len() - 1) as f64 {
            return self.inviscid;
        }
        let (k, share) = (place.floor() as usize, place.fract());
        (1.0 - share) * self.table[k] + share * self.table[k + 1]
    }
}

/// Cells beyond the limits of the numerics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellLimits {
    /// Number of cells.
    pub cells: usize,
    /// Number of cells whose Courant number exceeds the limit.
    pub beyond_courant: usize,
    /// The largest Courant number.
    pub courant: f64,
    /// Number of cells whose Péclet number max(|u|h/ν, |u|h/κ) exceeds 2.
    pub beyond_peclet: usize,
    /// The largest Péclet number; infinite without viscosity.
    pub peclet: f64,
    /// Whether it is that of the temperature: κ < ν.
    pub is_thermal: bool,
}

impl CellLimits {
    /// A count as a fraction of the cells.
    pub fn share(&self, count: usize) -> f64 {
        count as f64 / self.cells.max(1) as f64
    }

    /// With the cells of another part of the mesh.
    pub fn joined(self, other: CellLimits) -> CellLimits {
        CellLimits {
            cells: self.cells + other.cells,
            beyond_courant: self.beyond_courant + other.beyond_courant,
            courant: self.courant.max(other.courant),
            beyond_peclet: self.beyond_peclet + other.beyond_peclet,
            peclet: self.peclet.max(other.peclet),
            is_thermal: self.is_thermal || other.is_thermal,
        }
    }

    /// As numbers, for another process.
    pub fn to_numbers(&self) -> Vec<f64> {
        let counts = [self.cells, self.beyond_courant, self.beyond_peclet].map(|n| n as f64);
        let largest = [self.courant, self.peclet, f64::from(u8::from(self.is_thermal))];
        [counts, largest].concat()
    }

    /// From the numbers of [`CellLimits::to_numbers`].
    pub fn from_numbers(numbers: &[f64]) -> CellLimits {
        let count = |k: usize| numbers[k] as usize;
        CellLimits {
            cells: count(0),
            beyond_courant: count(1),
            courant: numbers[3],
            beyond_peclet: count(2),
            peclet: numbers[4],
            is_thermal: numbers[5] > 0.0,
        }
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// Compares each cell with the limits of a step of length `step`; copies fields to the host.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn cell_limits(
        &self,
        limits: &CourantLimits,
        step: f64,
    ) -> Result<CellLimits, IncompressibleError> {
        let (rate, viscous) = (
            self.read_f64(&self.flow.monitors.momentum_diagonal)?,
            self.read_f64(&self.flow.monitors.viscous_rate)?,
        );
        let prandtl = self
            .flow
            .thermal
            .as_ref()
            .map_or(1.0, |thermal| self.flow.viscosity() / thermal.equation.diffusivity());
        let directions = 2.0 * self.dimension() as f64;
        let [mut courant, mut peclet] = [0.0f64; 2];
        let [mut beyond_courant, mut beyond_peclet] = [0usize; 2];
        for (rate, viscous) in rate.iter().zip(&viscous) {
            let convective = rate - viscous;
            if convective <= 0.0 {
                continue;
            }
            let reynolds =
                if *viscous > 0.0 { directions * convective / viscous } else { f64::INFINITY };
            courant = courant.max(convective * step);
            peclet = peclet.max(reynolds * prandtl.max(1.0));
            beyond_courant += usize::from(convective * step > limits.at(reynolds));
            beyond_peclet += usize::from(reynolds * prandtl.max(1.0) > 2.0);
        }
        Ok(CellLimits {
            cells: viscous.len(),
            beyond_courant,
            courant,
            beyond_peclet,
            peclet,
            is_thermal: prandtl > 1.0,
        })
    }

    /// The backflow through each outlet, by the index of its patch, and the flow through the whole boundary,
    /// Σ|F| / 2. Copies the fluxes there to the host; without outlets there is nothing to copy, and both are empty.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn backflow(
        &self,
        mesh: &Mesh,
        conditions: &[FlowCondition],
    ) -> Result<(Vec<(usize, f64)>, f64), IncompressibleError> {
        if !has_outlet(conditions) {
            return Ok((vec![], 0.0));
        }
        let (backend, inner) = (&self.flow.backend, mesh.n_interior_faces());
        let mut boundary = backend.zeros(mesh.n_faces() - inner);
        blas::copy_from_range(backend, boundary.len(), &self.flow.flux, inner, &mut boundary);
        let flux = self.read_f64(&boundary)?;
        let through = flux.iter().fold(0.0, |sum, f| sum + 0.5 * f.abs());
        let patches = mesh.patches.iter().zip(conditions).enumerate();
        let outlets = patches.filter(|(_, (_, condition))| condition.data().is_outlet);
        let backflow = outlets.map(|(place, (patch, _))| {
            let faces = patch.faces.start - inner..patch.faces.end - inner;
            let inward = flux[faces].iter().filter(|f| **f < 0.0);
            (place, inward.fold(0.0, |sum, f| sum - f))
        });
        Ok((backflow.collect(), through))
    }
}

/// Whether a patch is an outlet.
pub fn has_outlet(conditions: &[FlowCondition]) -> bool {
    conditions.iter().any(|condition| condition.data().is_outlet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_extrapolated_convection_are_those_of_the_table() {
        let infinite = f64::INFINITY;
        for (scheme, convection, reynolds, expected) in [
            (TimeScheme::Bdf2, Convection::Upwind, infinite, 0.66),
            (TimeScheme::Bdf2, Convection::LinearUpwind, infinite, 0.47),
            (TimeScheme::Bdf2, Convection::LinearUpwind, 100.0, 0.47),
            (TimeScheme::Bdf2, Convection::LinearUpwind, 10.0, 0.52),
            (TimeScheme::Bdf2, Convection::LinearUpwind, 2.0, 0.72),
            (TimeScheme::Bdf2, Convection::Central, infinite, 0.18),
            (TimeScheme::Bdf2, Convection::Central, 10.0, 0.55),
            (TimeScheme::Ab2Cn, Convection::Upwind, infinite, 0.50),
            (TimeScheme::Ab2Cn, Convection::LinearUpwind, infinite, 0.49),
            (TimeScheme::Rk3, Convection::Central, infinite, 1.73),
            (TimeScheme::Rk3, Convection::LinearUpwind, infinite, 1.17),
            (TimeScheme::Rk3, Convection::Upwind, infinite, 1.255),
            (TimeScheme::Rk3, Convection::Central, 1.0, 0.625),
        ] {
            let limit = courant_limit(scheme, &symbols(convection), reynolds);
            assert!(
                (limit - expected).abs() < 0.0101,
                "{scheme:?} {convection:?} {reynolds}: {limit}, {expected}"
            );
        }
    }

    /// The scheme itself on a periodic row of cells, from a random field: it grows above the limit, not
    /// below.
    #[test]
    fn a_periodic_row_of_cells_grows_above_the_limit_and_not_below() {
        let n = 64;
        let face = |convection: Convection, u: &[f64], i: usize| {
            let at = |k: i64| u[(i as i64 + k).rem_euclid(n as i64) as usize];
            let slope = |k: i64| 0.5 * (at(k + 1) - at(k - 1));
            match convection {
                Convection::Central => 0.5 * (at(0) + at(1)),
                Convection::Upwind => at(0),
                Convection::LinearUpwind | Convection::LimitedLinear => at(0) + 0.5 * slope(0),
                Convection::Cubic => 0.5 * (at(0) + at(1)) + 0.125 * (slope(0) - slope(1)),
            }
        };
        for convection in
            [Convection::Central, Convection::Upwind, Convection::LinearUpwind, Convection::Cubic]
        {
            let limit = courant_limit(TimeScheme::Bdf2, &symbols(convection), f64::INFINITY);
            let size_after = |courant: f64| {
                let mut seed = 1u64;
                let mut random = || {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (seed >> 33) as f64 / 2f64.powi(31) - 0.5
                };
                let mut now: Vec<f64> = (0..n).map(|_| random()).collect();
                let mut before = now.clone();
                for _ in 0..4000 {
                    let convected = |u: &[f64], i: usize| {
                        face(convection, u, i) - face(convection, u, (i + n - 1) % n)
                    };
                    let next: Vec<f64> = (0..n)
                        .map(|i| {
                            let extrapolated = 2.0 * convected(&now, i) - convected(&before, i);
                            (2.0 * now[i] - 0.5 * before[i] - courant * extrapolated) / 1.5
                        })
                        .collect();
                    before = std::mem::replace(&mut now, next);
                }
                // Overflow counts as large.
                let abs = |u: &f64| if u.is_finite() { u.abs() } else { f64::INFINITY };
                now.iter().map(abs).fold(0.0, f64::max)
            };
            let (above, below) = (size_after(1.25 * limit), size_after(0.5 * limit));
            assert!(above > 10.0 && below < 2.0, "{convection:?} {limit}: {above} {below}");
        }
    }

    #[test]
    fn limits_between_those_of_the_table_are_between_them() {
        let limits = CourantLimits::new(TimeScheme::Bdf2, Convection::Central);
        for reynolds in [0.01, 0.3, 1.0, 3.0, 50.0, 1e9, f64::INFINITY] {
            let waves = symbols(Convection::Central);
            let exact = courant_limit(TimeScheme::Bdf2, &waves, reynolds.max(0.0625));
            assert!((limits.at(reynolds) - exact).abs() < 0.1 * exact, "{reynolds}");
        }
    }
}
