//! States at points of cells and on boundary faces, from the polynomials of cells.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::boundary::{ISOTHERMAL, at_wall, has_friction, is_wall};
use super::error::CompressibleError;
use super::face_points::FacePoints;
use super::reconstruction::polynomial::Polynomials;
use super::residual::{GasView, boundary_flux, trace};
use super::solver::{CompressibleSolver, gas};
use super::state::{Primitive, VARIABLES};
use crate::backend::{Backend, Buffer, View};
use crate::finite_volume::{FaceView, Vectors, component_major, narrow};
use crate::mesh::geometry::subtract;
use crate::mesh::quadrature::centroid_of_cell;
use crate::mesh::{Geometry, Mesh};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

type Vector = [f64; 3];

/// Points of cells, for [`CompressibleSolver::at_points`].
pub struct CellPoints<F: Real> {
    cells: Buffer<u32>,
    offsets: Buffer<F>,
    states: Buffer<F>,
}

impl<F: Real> CellPoints<F> {
    /// Points of a mesh, each with its cell, for a solver whose first cell is `first`.
    pub fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        points: &[(usize, Vector)],
        first: usize,
    ) -> CellPoints<F> {
        let offsets: Vec<Vector> = points
            .iter()
            .map(|(cell, x)| subtract(*x, centroid_of_cell(mesh, geometry, *cell)))
            .collect();
        CellPoints {
            cells: backend.upload(points.iter().map(|(cell, _)| (cell - first) as u32).collect()),
            offsets: narrow(backend, component_major(&offsets)),
            states: backend.zeros(VARIABLES * points.len()),
        }
    }
}

/// The state of the polynomial at point `i`.
///
/// Traffic a point: 4 + 24 + 40 (1 + terms) + 40 (f64).
#[kernel(out(state))]
pub(super) fn point_states<F: Real>(
    i: usize,
    cells: &View<u32>,
    offsets: &Vectors<F>,
    polynomials: &Polynomials<F>,
    gamma: F,
) -> Primitive<F> {
    polynomials.at_offset(cells[i] as usize, offsets.at(i)).primitive(gamma)
}

/// The state, the forces and the mass flow at a point of a boundary face.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BoundaryPoint<F: Real> {
    /// ρ, u and p of the flow at the boundary.
    pub state: Primitive<F>,
    /// Force of the pressure.
    pub pressure: Vec3<F>,
    /// Force of the viscous stress.
    pub viscous: Vec3<F>,
    /// Mass that leaves, by time.
    pub mass: F,
    /// Heat that enters by conduction, by time.
    pub heat: F,
}

/// Point `k` of boundary face `f` of cell `c`. On a wall the force of the pressure is the convective flux of momentum, so that
/// the balance of momentum has it, and the velocity is the mean of both sides, with friction that of the wall; its temperature is
/// that of an isothermal wall, else that inside. Elsewhere the state is that inside.
#[device]
pub(super) fn boundary_point<F: Real>(
    f: usize,
    c: usize,
    k: usize,
    faces: &FaceView<'_, F>,
    points: &FacePoints<'_, F>,
    polynomials: &Polynomials<'_, F>,
    gas: &GasView<'_, F>,
) -> BoundaryPoint<F> {
    let kind = gas.boundary.kind[f - faces.n_interior];
    let s = points.area.at(k);
    let size = s.dot(s).sqrt();
    let n = s * (1.0 / size);
    let of_cell = trace::<F>(c, points.from_left.at(k), polynomials, gas, false);
    let through = boundary_flux::<F>(f, k, kind, of_cell, n, gas, comptime!(gas.form));
    let inside = of_cell.state.primitive(gas.gamma);
    let mut state = inside;
    let mut pressure = s * inside.pressure;
    if is_wall(kind) {
        pressure = through.convective.momentum() * size;
        let prescribed = gas.boundary.prescribed.primitive_at(k - gas.boundary.first_point);
        let of_wall = at_wall::<F>(prescribed, n);
        let mut velocity = (inside.velocity() + through.outside.velocity()) * F::literal(0.5);
        if has_friction(kind) {
            velocity = of_wall.velocity();
        }
        let at_surface = pressure.dot(n) / size;
        let mut density = inside.density;
        if kind == ISOTHERMAL {
            density = at_surface / (of_wall.density * gas.viscous.gas_constant);
        }
        state = Primitive::<F>::of(density, velocity, at_surface);
    }
    BoundaryPoint::<F> {
        state,
        pressure,
        viscous: through.viscous.momentum() * size,
        mass: through.convective.density * size,
        heat: through.heat * size,
    }
}

/// The mean state on boundary face `faces_listed[i]`.
///
/// Traffic a face: 12 + 40, a point 88, a cell 40 (1 + terms) (f64).
#[kernel(out(state))]
pub(super) fn boundary_states<F: Real>(
    i: usize,
    listed: &View<u32>,
    faces: &FaceView<F>,
    points: &FacePoints<F>,
    polynomials: &Polynomials<F>,
    gas: &GasView<F>,
) -> Primitive<F> {
    let f = listed[i] as usize;
    let c = faces.left[f] as usize;
    let (first, end) = points.range(f);
    let zero = F::literal(0.0);
    let mut area = zero;
    let mut density = zero;
    let mut pressure = zero;
    let mut velocity = Vec3::<F>::zero();
    for k in first..end {
        let s = points.area.at(k);
        let size = s.dot(s).sqrt();
        let state = boundary_point::<F>(f, c, k, faces, points, polynomials, gas).state;
        area += size;
        density += state.density * size;
        pressure += state.pressure * size;
        velocity += state.velocity() * size;
    }
    Primitive::<F>::of(density / area, velocity * (1.0 / area), pressure / area)
}

/// The viscous stress on the boundary, and the heat that enters there, by area.
#[device]
#[derive(Clone, Copy, Debug, Default, PartialEq, Components)]
pub(super) struct BoundaryStress<F: Real> {
    /// Force of the fluid by area, Pa.
    pub x: F,
    /// Along y.
    pub y: F,
    /// Along z.
    pub z: F,
    /// Heat into the domain by area, W/m².
    pub heat: F,
}

/// The mean viscous stress and heat flux on boundary face `listed[i]`.
///
/// Traffic a face: 12 + 32, a point 88, a cell 40 (1 + terms) (f64).
#[kernel(out(stress))]
pub(super) fn boundary_stresses<F: Real>(
    i: usize,
    listed: &View<u32>,
    faces: &FaceView<F>,
    points: &FacePoints<F>,
    polynomials: &Polynomials<F>,
    gas: &GasView<F>,
) -> BoundaryStress<F> {
    let f = listed[i] as usize;
    let c = faces.left[f] as usize;
    let (first, end) = points.range(f);
    let zero = F::literal(0.0);
    let mut area = zero;
    let mut heat = zero;
    let mut force = Vec3::<F>::zero();
    for k in first..end {
        let s = points.area.at(k);
        let at_point = boundary_point::<F>(f, c, k, faces, points, polynomials, gas);
        area += s.dot(s).sqrt();
        heat += at_point.heat;
        force += at_point.viscous;
    }
    let scale = 1.0 / area;
    BoundaryStress::<F> {
        x: force.x * scale,
        y: force.y * scale,
        z: force.z * scale,
        heat: heat * scale,
    }
}

impl<F: Real> CompressibleSolver<F> {
    /// ρ, u_x, u_y, u_z and p at points, `[n]` each, of the polynomials of the last [`CompressibleSolver::refresh`].
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn at_points(
        &self,
        points: &mut CellPoints<F>,
    ) -> Result<[Vec<f64>; VARIABLES], CompressibleError> {
        let CellPoints { cells, offsets, states } = points;
        let (polynomials, gamma) =
            (self.polynomials.view(&self.state.now), F::from_f64(self.gamma));
        let offsets = Vectors::of(offsets);
        point_states(&self.backend, cells.len(), cells, &offsets, &polynomials, gamma, states);
        self.separate(states)
    }

    /// Means of ρ, u_x, u_y, u_z and p on boundary faces, `[n]` each, as [`CompressibleSolver::at_points`].
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn on_boundary(&self, faces: &[u32]) -> Result<[Vec<f64>; VARIABLES], CompressibleError> {
        let backend = &self.backend;
        let listed = backend.upload_slice(faces);
        let mut states = backend.zeros(VARIABLES * faces.len());
        boundary_states(
            backend,
            faces.len(),
            &listed,
            &self.mesh.faces(),
            &self.mesh.points.view(),
            &self.polynomials.view(&self.state.now),
            &gas(self.gamma, &self.numerics, &self.boundary, &self.viscous),
            &mut states,
        );
        self.separate(&states)
    }

    /// The viscous stress on boundary faces, x, y and z, and the heat flux into the domain, `[n]` each, means over each face, as
    /// [`CompressibleSolver::at_points`].
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn stress_on_boundary(&self, faces: &[u32]) -> Result<[Vec<f64>; 4], CompressibleError> {
        let backend = &self.backend;
        let listed = backend.upload_slice(faces);
        let mut stresses = backend.zeros(4 * faces.len());
        boundary_stresses(
            backend,
            faces.len(),
            &listed,
            &self.mesh.faces(),
            &self.mesh.points.view(),
            &self.polynomials.view(&self.state.now),
            &gas(self.gamma, &self.numerics, &self.boundary, &self.viscous),
            &mut stresses,
        );
        let (values, n) = (self.read(&stresses)?, faces.len());
        Ok([0, 1, 2, 3].map(|k| values[k * n..(k + 1) * n].to_vec()))
    }

    /// The variables of states `[5][n]`.
    fn separate(&self, states: &Buffer<F>) -> Result<[Vec<f64>; VARIABLES], CompressibleError> {
        let values = self.read(states)?;
        let n = values.len() / VARIABLES;
        Ok([0, 1, 2, 3, 4].map(|v| values[v * n..(v + 1) * n].to_vec()))
    }
}
