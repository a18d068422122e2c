//! The largest speed that the boundary, the initial velocity and the forces of a flow explain.
//!
//! It is the largest of: prescribed speeds |u_b| at the boundary, initial speeds, a prescribed mean velocity, √(2 Δp) of the
//! difference Δp of prescribed pressures (Bernoulli), and, of a body force a over the length L of the domain,
//! max(√(2 a L), a min(t, L²/ν)), the second for forces that do work along closed streamlines. The buoyancy
//! a = β |g| max |T − T₀| does so in a periodic domain. The temperature is the current one, and values in time are
//! those up to the current time.

use super::{IncompressibleError, IncompressibleSolver, Problem};
use crate::backend::blas;
use crate::mesh::geometry::norm;
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use rayon::prelude::*;

/// The reference speed of a flow so far.
#[derive(Clone, Debug)]
pub struct ReferenceSpeed {
    /// L, the diagonal of the bounding box.
    length: f64,
    is_periodic: bool,
    /// β |g| and T₀.
    buoyancy: Option<(f64, f64)>,
    /// The largest so far.
    largest: f64,
    /// The largest body force so far.
    force: f64,
    is_begun: bool,
}

impl ReferenceSpeed {
    /// That of the initial velocity and of a prescribed mean velocity.
    pub fn new(
        (mesh, geometry): (&Mesh, &Geometry),
        problem: &Problem,
        mean_velocity: Option<[f64; 3]>,
    ) -> Self {
        let mut squares = vec![0.0; mesh.n_cells()];
        let mut values = vec![0.0; mesh.n_cells()];
        for component in &problem.velocity {
            component.sample(&geometry.cell_centre, 0.0, &mut values);
            squares.par_iter_mut().zip(&values).for_each(|(square, u)| *square += u * u);
        }
        let initial = squares.into_iter().fold(0.0, f64::max).sqrt();
        let buoyancy = problem.thermal.as_ref().filter(|thermal| thermal.expansion != 0.0);
        ReferenceSpeed {
            length: mesh.bounding_box_diagonal(),
            is_periodic: mesh.periodic_pairs.iter().next().is_some(),
            buoyancy: buoyancy.map(|own| (own.expansion.abs() * norm(own.gravity), own.reference)),
            largest: mean_velocity.map_or(0.0, norm).max(initial),
            force: 0.0,
            is_begun: false,
        }
    }

    /// The largest speed (m/s) and the largest body force (m/s²) so far, for checkpoints.
    pub fn largest(&self) -> [f64; 2] {
        [self.largest, self.force]
    }

    /// Continues with the largest speed and body force of a checkpoint.
    pub fn restore(&mut self, [speed, force]: [f64; 2]) {
        (self.largest, self.force) = (self.largest.max(speed), self.force.max(force));
    }

    /// Whether the range of the temperature is needed.
    pub fn needs_temperature(&self) -> bool {
        self.buoyancy.is_some()
    }

    /// The reference speed up to the current time of a flow with this range of its temperature; 0 where nothing sets the fluid in
    /// motion.
    pub fn update<F: Real>(
        &mut self,
        solver: &IncompressibleSolver<F>,
        temperature: Option<(f64, f64)>,
    ) -> f64 {
        let flow = &solver.flow;
        let (bounds, t) = (&flow.monitors.step_bounds, flow.clock.time);
        let all = !self.is_begun;
        self.is_begun = true;
        let by_pressure = (2.0 * bounds.pressure_difference(t, all)).sqrt();
        self.force = self.force.max(bounds.body_force(t, all));
        let viscous = self.length * self.length / flow.viscosity();
        let of_force = |a: f64, does_work: bool| {
            let falling = (2.0 * a * self.length).sqrt();
            if does_work { falling.max(a * t.min(viscous)) } else { falling }
        };
        let mut largest = self.largest.max(bounds.boundary_speed(t, all)).max(by_pressure);
        if self.force > 0.0 {
            largest = largest.max(of_force(self.force, true));
        }
        if let Some((factor, reference)) = self.buoyancy {
            let deviation =
                temperature.map_or(0.0, |(low, high)| (high - reference).max(reference - low));
            largest = largest.max(of_force(factor * deviation, self.is_periodic));
        }
        self.largest = largest;
        largest
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// √(Σ max u_k²), an upper bound of the speed in cells, reduced on the backend; between 1 and √3 times the largest speed
    /// where one cell has it.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn speed_bound(&self) -> Result<f64, IncompressibleError> {
        let (backend, n) = (&self.flow.backend, self.flow.n_cells());
        let mut square = 0.0;
        for component in &self.flow.components {
            let range = blas::range(backend, n, &component.now)?;
            let largest = range.map_or(0.0, |(low, high)| high.max(-low));
            square += largest * largest;
        }
        Ok(square.sqrt())
    }

    /// The least and the largest temperature, reduced on the backend; none where no value is a number.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn temperature_range(&self) -> Result<Option<(f64, f64)>, IncompressibleError> {
        let Some(temperature) = self.temperature() else { return Ok(None) };
        Ok(blas::range(&self.flow.backend, self.flow.n_cells(), temperature)?)
    }

    /// The cell of the largest speed, and this speed; copies the velocity to the host.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn fastest_cell(&self) -> Result<(usize, f64), IncompressibleError> {
        let mut squares = vec![0.0; self.flow.n_cells()];
        for component in &self.flow.components {
            let u = self.read_f64(&component.now)?;
            squares.iter_mut().zip(u).for_each(|(square, u)| *square += u * u);
        }
        let fastest = squares.into_iter().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        Ok(fastest.map_or((0, 0.0), |(cell, square)| (cell, square.sqrt())))
    }
}
