//! Time-step bounds of a flow at rest, whose Courant number is 0 at any step.
//!
//! A uniform velocity u gives a cell the Courant number Δt Σ|u·S| / 2V. From rest an acceleration a makes u
//! = a Δt, so Δt² Σ|a·S| / 2V ≤ C bounds the first step; a is the body force, the buoyancy |β g (T − T₀)| of
//! the initial and the boundary temperatures, and Δp / L between patches of prescribed pressure a distance L
//! apart. A moving boundary bounds it by Δt |u_b| |S| / V ≤ C for u_b at the start and over the whole step.
//! Without any of these the diffusive rate, (ν or κ) Σ a / V, replaces the convective one. Later steps
//! follow from the flow.

use super::{PrescribedVector, Problem};
use crate::finite_volume::{Condition, Prescribed, component_major};
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of};
use rayon::prelude::*;
use std::sync::Arc;

/// Subintervals of a step at whose ends time-dependent quantities are sampled.
const SAMPLES: usize = 8;

/// Largest number of halvings in the search for a step.
const HALVINGS: usize = 100;

/// Relative difference of equal steps, by round-off.
const ROUND_OFF: f64 = 1e-9;

/// Forces and boundary velocities that set a flow at rest in motion.
pub(super) struct StepBounds {
    walls: Vec<Wall>,
    body: Option<Body>,
    pressures: Vec<PrescribedPressure>,
    /// max Σ|b·S| / 2V of the buoyancy b.
    buoyancy: f64,
    /// max Σ|S| / 2V.
    inverse_length: f64,
    /// Largest diffusive rate.
    diffusion: f64,
}

/// A value and its direction at each face, `[3][faces]`.
type DirectedValue = (Arc<dyn Prescribed>, [Vec<f64>; 3]);

/// A boundary of prescribed velocity.
struct Wall {
    /// The velocity is the sum of these values in their directions.
    velocity: Vec<DirectedValue>,
    /// `[3][faces]`.
    points: Vec<f64>,
    /// |S| / V of each face.
    factors: Vec<f64>,
    varies: bool,
}

/// A body force.
struct Body {
    force: PrescribedVector,
    /// `[3][n_cells]`.
    points: Vec<f64>,
    /// Σ|S_k| / 2V of each cell: `[3][n_cells]`.
    factors: Vec<f64>,
    varies: bool,
}

/// A patch of prescribed pressure.
struct PrescribedPressure {
    value: Arc<dyn Prescribed>,
    /// `[3][faces]`.
    points: Vec<f64>,
    centre: [f64; 3],
}

fn depends_on_time(vector: &PrescribedVector) -> bool {
    vector.iter().any(|component| component.depends_on_time())
}

/// Σ|S_k| / 2V of each cell: `[3][n_cells]`.
fn cell_factors(mesh: &Mesh, geometry: &Geometry) -> Vec<f64> {
    let of_cell = |cell: usize| {
        let mut factors = [0.0; 3];
        for item in mesh.cell_to_faces.of(cell) {
            let area = geometry.area_vector_of(index_of(*item));
            let volume = geometry.cell_volume[cell];
            (0..3).for_each(|k| factors[k] += 0.5 * area[k].abs() / volume);
        }
        factors
    };
    let cells = (0..mesh.n_cells()).into_par_iter().with_min_len(1024);
    component_major(&cells.map(of_cell).collect::<Vec<_>>())
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

/// The samples of a vector at points, `[3][n]`, at time `t`.
fn sampled(vector: &PrescribedVector, points: &[f64], t: f64) -> [Vec<f64>; 3] {
    vector.each_ref().map(|component| {
        let mut values = vec![0.0; points.len() / 3];
        component.sample(points, t, &mut values);
        values
    })
}

impl Wall {
    /// |u_b| of each face at time `t`.
    fn speeds(&self, t: f64) -> Vec<f64> {
        let mut velocity = vec![[0.0; 3]; self.factors.len()];
        let mut values = vec![0.0; self.factors.len()];
        for (value, direction) in &self.velocity {
            value.sample(&self.points, t, &mut values);
            for (i, u) in velocity.iter_mut().enumerate() {
                (0..3).for_each(|k| u[k] += values[i] * direction[k][i]);
            }
        }
        velocity.into_iter().map(norm).collect()
    }

    /// The largest |u_b| |S| / V at time `t`.
    fn rate(&self, t: f64) -> f64 {
        largest(self.factors.iter().zip(self.speeds(t)).map(|(factor, speed)| factor * speed))
    }
}

impl Body {
    /// The largest Σ|s·S| / 2V at time `t`, at most: Σ_k |s_k| Σ|S_k| / 2V.
    fn rate(&self, t: f64) -> f64 {
        let n = self.points.len() / 3;
        let force = sampled(&self.force, &self.points, t);
        let of_cell =
            |c: usize| (0..3).fold(0.0, |sum, k| sum + force[k][c].abs() * self.factors[k * n + c]);
        largest((0..n).map(of_cell))
    }
}

impl PrescribedPressure {
    fn mean(&self, t: f64) -> f64 {
        let mut values = vec![0.0; self.points.len() / 3];
        self.value.sample(&self.points, t, &mut values);
        values.iter().fold(0.0, |sum, p| sum + p) / values.len() as f64
    }
}

impl StepBounds {
    /// The bounds of a problem; `diffusion` is the largest diffusive rate.
    pub(super) fn new(
        mesh: &Mesh,
        geometry: &Geometry,
        problem: &Problem,
        diffusion: f64,
    ) -> StepBounds {
        let n = mesh.n_cells();
        let (mut walls, mut pressures) = (vec![], vec![]);
        for (patch, condition) in mesh.patches.iter().zip(&problem.conditions) {
            let faces: Vec<usize> = patch.faces.clone().collect();
            if faces.is_empty() {
                continue;
            }
            let centres: Vec<[f64; 3]> =
                faces.iter().map(|f| geometry.face_centre_of(*f)).collect();
            let points = component_major(&centres);
            if let Some(terms) = condition.velocity_terms(geometry, patch.faces.clone()) {
                let velocity = terms.into_iter().map(|(v, direction)| (v.clone(), direction));
                let velocity = velocity.collect();
                let factor = |face: &usize| {
                    let volume = geometry.cell_volume[mesh.face_left[*face] as usize];
                    norm(geometry.area_vector_of(*face)) / volume
                };
                let factors = faces.iter().map(factor).collect();
                let varies = condition.has_velocity_in_time();
                walls.push(Wall { velocity, points: points.clone(), factors, varies });
            }
            if let Some(value) = condition.data().pressure {
                let mut centre = [0.0; 3];
                for x in &centres {
                    (0..3).for_each(|k| centre[k] += x[k] / centres.len() as f64);
                }
                pressures.push(PrescribedPressure { value: value.clone(), points, centre });
            }
        }
        let varies = depends_on_time(&problem.source);
        let force = sampled(&problem.source, &geometry.cell_centre, 0.0);
        let has_body = varies || force.iter().flatten().any(|component| *component != 0.0);
        let is_buoyant = problem.thermal.as_ref().is_some_and(|thermal| thermal.expansion != 0.0);
        // Sums over the faces of each cell only where they are read.
        if !has_body && !is_buoyant && pressures.len() < 2 {
            let (body, buoyancy, inverse_length) = (None, 0.0, 0.0);
            return StepBounds { walls, body, pressures, buoyancy, inverse_length, diffusion };
        }
        let factors = cell_factors(mesh, geometry);
        let inverse_length = largest((0..n).map(|c| {
            (0..3).fold(0.0, |sum, k| sum + factors[k * n + c] * factors[k * n + c]).sqrt()
        }));
        let buoyancy = buoyancy(mesh, geometry, problem, &factors);
        let body = has_body.then(|| Body {
            force: problem.source.clone(),
            points: geometry.cell_centre.clone(),
            factors,
            varies,
        });
        StepBounds { walls, body, pressures, buoyancy, inverse_length, diffusion }
    }

    /// The bound by the largest diffusive rate alone.
    pub(super) fn of_diffusion(diffusion: f64) -> StepBounds {
        StepBounds {
            walls: vec![],
            body: None,
            pressures: vec![],
            buoyancy: 0.0,
            inverse_length: 0.0,
            diffusion,
        }
    }

    /// Takes over the largest diffusive rate.
    pub(super) fn set_diffusion(&mut self, diffusion: f64) {
        self.diffusion = diffusion;
    }

    /// The largest diffusive rate.
    pub(super) fn diffusion(&self) -> f64 {
        self.diffusion
    }

    /// The largest |u_b| |S| / V at time `t`.
    pub(super) fn wall_rate(&self, t: f64) -> f64 {
        largest(self.walls.iter().map(|wall| wall.rate(t)))
    }

    /// The largest prescribed speed at the boundary at time `t`; of time-dependent ones alone unless `all`.
    pub(super) fn boundary_speed(&self, t: f64, all: bool) -> f64 {
        let walls = self.walls.iter().filter(|wall| all || wall.varies);
        largest(walls.flat_map(|wall| wall.speeds(t)))
    }

    /// The largest difference of prescribed pressures at time `t`; 0 where none depends on time, unless `all`.
    pub(super) fn pressure_difference(&self, t: f64, all: bool) -> f64 {
        if !all && !self.pressures.iter().any(|p| p.value.depends_on_time()) {
            return 0.0;
        }
        let mut bounds = [f64::INFINITY, f64::NEG_INFINITY];
        for pressure in &self.pressures {
            let mut values = vec![0.0; pressure.points.len() / 3];
            pressure.value.sample(&pressure.points, t, &mut values);
            for value in values {
                bounds = [bounds[0].min(value), bounds[1].max(value)];
            }
        }
        (bounds[1] - bounds[0]).max(0.0)
    }

    /// The largest body force at time `t`; 0 where it does not depend on time, unless `all`.
    pub(super) fn body_force(&self, t: f64, all: bool) -> f64 {
        let Some(body) = self.body.as_ref().filter(|body| all || body.varies) else { return 0.0 };
        let [x, y, z] = sampled(&body.force, &body.points, t);
        largest((0..x.len()).map(|c| norm([x[c], y[c], z[c]])))
    }

    /// The longest step up to `longest` from time `t` within the Courant number `number` of walls of
    /// time-dependent velocity and, for a flow at rest, of the accelerations. Diffusion bounds the `first`
    /// step if nothing else does.
    pub(super) fn longest_step(
        &self,
        number: f64,
        (t, longest): (f64, f64),
        (at_rest, first): (bool, bool),
    ) -> f64 {
        let over = |step: f64| (0..=SAMPLES).map(move |k| t + step * k as f64 / SAMPLES as f64);
        let mut step = longest;
        if self.walls.iter().any(|wall| wall.varies) {
            let varying = || self.walls.iter().filter(|wall| wall.varies);
            let rate = |s: f64| largest(varying().flat_map(|w| over(s).map(|t| w.rate(t))));
            step = bounded_step(step, |step| number / rate(step));
        }
        if at_rest {
            let by_body = |step: f64| match &self.body {
                Some(body) if body.varies => largest(over(step).map(|t| body.rate(t))),
                Some(body) => body.rate(t),
                None => 0.0,
            };
            let by_pressures = |step: f64| largest(over(step).map(|t| self.pressure_rate(t)));
            let rate = |step: f64| self.buoyancy + by_body(step) + by_pressures(step);
            step = bounded_step(step, |step| (number / rate(step)).sqrt());
        }
        if first && step == longest && self.diffusion > 0.0 {
            step = step.min(number / self.diffusion);
        }
        step
    }

    /// An upper bound of Σ|a·S| / 2V of the acceleration by the prescribed pressures at time `t`.
    fn pressure_rate(&self, t: f64) -> f64 {
        let means: Vec<f64> = self.pressures.iter().map(|p| p.mean(t)).collect();
        let mut gradient = 0.0f64;
        for (i, one) in self.pressures.iter().enumerate() {
            for (j, other) in self.pressures.iter().enumerate().take(i) {
                let separation = subtract(one.centre, other.centre);
                let distance = dot(separation, separation).sqrt();
                let difference = (means[i] - means[j]).abs();
                if distance > 0.0 && difference > 0.0 {
                    gradient = gradient.max(difference / distance);
                }
            }
        }
        gradient * self.inverse_length
    }
}

/// A step up to `longest` within the `bound` evaluated over the step itself.
fn bounded_step(longest: f64, bound: impl Fn(f64) -> f64) -> f64 {
    let mut step = longest;
    for _ in 0..HALVINGS {
        let most = bound(step);
        if step <= most * (1.0 + ROUND_OFF) {
            break;
        }
        // The bound does not decrease as the step shrinks.
        if most >= 0.5 * step {
            return most;
        }
        step *= 0.5;
    }
    step
}

/// max Σ|b·S| / 2V of the buoyancy b = −β g (T − T₀), T the initial temperatures and those of the boundary at
/// time 0.
fn buoyancy(mesh: &Mesh, geometry: &Geometry, problem: &Problem, factors: &[f64]) -> f64 {
    let Some(thermal) = &problem.thermal else { return 0.0 };
    let n = mesh.n_cells();
    let acceleration = thermal.gravity.map(|g| (thermal.expansion * g).abs());
    let of_cell = |c: usize, temperature: f64| {
        let deviation = (temperature - thermal.reference).abs();
        (0..3).fold(0.0, |sum, k| sum + acceleration[k] * deviation * factors[k * n + c])
    };
    let mut temperature = vec![0.0; n];
    thermal.initial.sample(&geometry.cell_centre, 0.0, &mut temperature);
    let mut rate = largest(temperature.iter().enumerate().map(|(c, t)| of_cell(c, *t)));
    for (patch, condition) in mesh.patches.iter().zip(&thermal.conditions) {
        let prescribed = match condition {
            Condition::Dirichlet(value) => value,
            Condition::Robin { ambient, .. } => ambient,
            Condition::Neumann(_) | Condition::ZeroGradient | Condition::Extrapolated => continue,
        };
        for face in patch.faces.clone() {
            let mut value = [0.0];
            prescribed.sample(&geometry.face_centre_of(face), 0.0, &mut value);
            rate = rate.max(of_cell(mesh.face_left[face] as usize, value[0]));
        }
    }
    rate
}
