//! The staggered arrangement: the unknowns are the fluxes U through the faces and the pressures in the cells.
//!
//! Velocities of cells are u_c = (1/V) Σ σ U (x_f − x_c); what is carried and diffuses is computed in the
//! cells and taken to the faces by the transpose, y_f = Σ_c σ (x_f − x_c)·r_c / V. So a step is
//!
//! (shift M + θ N V⁻¹ A V⁻¹ Nᵀ) δU = N V⁻¹ (V s − convection − A u) + memory − G p,
//!
//! with the pressure's difference exact and its flux correction a (p_r − p_l), a = A/L: the divergence falls
//! to the tolerance of the pressure's solver. M = L/A, L the distance of two centroids, is a mass where the
//! line between them is normal to their face and runs through its centroid: on rectangles and bricks, graded
//! or not. Other meshes are refused.
//!
//! Sources: Perot, J. Comput. Phys. 159 (2000) 58, §3; Menon's thesis, §7.2–7.3.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::faces::Faces;
use crate::backend::{Backend, Buffer, View};
use crate::diffusion::narrow;
use crate::linear::{CsrMatrix, LinearError, Matrix, Operator};
use crate::mesh::{Geometry, Mesh};
use crate::operators::FaceCells;
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::{Real, Vec3};
use cubecl::prelude::*;
use karman_macros::kernel;
use std::sync::Arc;

/// What the faces of a staggered mesh know.
pub(super) struct StaggeredFaces<F: Real> {
    backend: Backend,
    cells: Arc<FaceCells>,
    dimension: usize,
    /// x_f − x_l, and x_f − x_r inside: `[3][n_faces]` each.
    left_arm: Buffer<F>,
    right_arm: Buffer<F>,
    volume: Buffer<F>,
    /// L/A, L the distance of the centroids along the normal: `[n_faces]`.
    mass: Buffer<F>,
    masses: Vec<f64>,
    /// 1 where the flux is an unknown: `[n_faces]`.
    pub is_free: Buffer<u32>,
}

type Vector = [f64; 3];

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl<F: Real> StaggeredFaces<F> {
    /// The arrays of a mesh; `held` says where the velocity at a boundary face is given.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &Faces<F>,
        held: &[u32],
    ) -> Self {
        let (n, inner) = (mesh.n_faces(), mesh.n_interior_faces());
        let mut arms = [vec![0.0; 3 * n], vec![0.0; 3 * n]];
        let mut masses = vec![0.0; n];
        for face in 0..n {
            let area = geometry.area_vector_of(face);
            let (square, x) = (dot(area, area), geometry.face_centre_of(face));
            let left = geometry.cell_centre_of(mesh.face_left[face] as usize);
            let right = (face < inner).then(|| geometry.right_centre_of(mesh, face));
            for (side, centre) in [Some(left), right].into_iter().enumerate() {
                let Some(centre) = centre else { continue };
                let arm = [0, 1, 2].map(|k| x[k] - centre[k]);
                (0..3).for_each(|k| arms[side][k * n + face] = arm[k]);
                masses[face] += dot(arm, area).abs() / square;
            }
        }
        let free = |f: usize| u32::from(f < inner || held[f - inner] == 0);
        let [left_arm, right_arm] = arms.map(|a| narrow(backend, a));
        StaggeredFaces {
            backend: backend.clone(),
            cells: faces.cells.clone(),
            dimension: mesh.dimension,
            left_arm,
            right_arm,
            volume: narrow(backend, geometry.cell_volume.clone()),
            mass: narrow(backend, masses.clone()),
            masses,
            is_free: backend.upload((0..n).map(free).collect()),
        }
    }

    /// Component `k` of the velocities of cells: `u: [n_cells]`.
    pub(super) fn to_cells(&self, k: usize, flux: &Buffer<F>, u: &mut Buffer<F>) {
        velocity_of_fluxes(
            &self.backend,
            u.len(),
            &self.cells.offsets,
            &self.cells.faces,
            flux,
            &self.left_arm,
            &self.right_arm,
            &self.volume,
            k,
            self.cells.n_faces(),
            u,
        );
    }

    /// y ← y + Σ_c σ (x_f − x_c)·r_c / V − (p_r − p_l) on free faces, 0 on the others; r by components, in
    /// place of a third the first again.
    pub(super) fn add_to_faces(
        &self,
        r: [&Buffer<F>; 3],
        pressure: Option<(&Buffer<F>, &Buffer<F>)>,
        y: &mut Buffer<F>,
    ) {
        let n_faces = self.cells.n_faces();
        // Where no pressure drives, any buffer stands for it.
        let (p, p_at_boundary) = pressure.unwrap_or((&self.volume, &self.volume));
        residual_at_faces(
            &self.backend,
            n_faces,
            &self.cells.left,
            &self.cells.right,
            &self.is_free,
            r[0],
            r[1],
            r[2],
            &self.left_arm,
            &self.right_arm,
            &self.volume,
            p,
            p_at_boundary,
            self.cells.n_interior(),
            n_faces,
            self.dimension,
            pressure.is_some(),
            y,
        );
    }

    /// y ← factor M x on free faces, 0 on the others.
    pub(super) fn multiply_mass(&self, factor: F, x: &Buffer<F>, y: &mut Buffer<F>) {
        mass_product(&self.backend, x.len(), &self.is_free, x, &self.mass, factor, y);
    }

    /// y ← M⁻¹ x.
    pub(super) fn divide_by_mass(&self, x: &Buffer<F>, y: &mut Buffer<F>) {
        mass_quotient(&self.backend, x.len(), x, &self.mass, y);
    }

    /// shift M, for a preconditioner.
    pub(super) fn diagonal(&self, shift: f64) -> Result<Matrix<F>, LinearError> {
        let n = self.masses.len();
        let matrix = CsrMatrix::from_rows(
            n,
            n,
            |_| 1,
            |row, columns, values| {
                (columns[0], values[0]) = (row as u32, F::narrow(shift * self.masses[row]));
            },
        )?;
        Matrix::new(&self.backend, matrix)
    }

    /// Where its arrays are.
    pub(super) fn backend(&self) -> &Backend {
        &self.backend
    }
}

/// y = shift M x + θ N V⁻¹ A V⁻¹ Nᵀ x on free faces, x on the others.
pub(super) struct StaggeredOperator<F: Real> {
    faces: Arc<StaggeredFaces<F>>,
    diffusion: Arc<Matrix<F>>,
    shift: F,
    theta: F,
    velocity: Buffer<F>,
    /// −θ A u by component.
    diffused: Vec<Buffer<F>>,
}

impl<F: Real> StaggeredOperator<F> {
    pub(super) fn new(
        faces: Arc<StaggeredFaces<F>>,
        diffusion: Arc<Matrix<F>>,
        (shift, theta): (f64, f64),
    ) -> Self {
        let (backend, n) = (faces.backend.clone(), faces.cells.n_cells());
        StaggeredOperator {
            velocity: backend.zeros(n),
            diffused: (0..faces.dimension).map(|_| backend.zeros(n)).collect(),
            faces,
            diffusion,
            shift: F::narrow(shift),
            theta: F::narrow(theta),
        }
    }
}

impl<F: Real> Operator<F> for StaggeredOperator<F> {
    fn unknowns(&self) -> usize {
        self.faces.cells.n_faces()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let faces = &self.faces;
        for (k, diffused) in self.diffused.iter_mut().enumerate() {
            faces.to_cells(k, x, &mut self.velocity);
            self.diffusion.multiply(&self.velocity, diffused);
            crate::backend::blas::scale(backend, diffused.len(), self.theta, diffused);
        }
        faces.multiply_mass(self.shift, x, y);
        let last = self.diffused.len() - 1;
        let r = [0, 1, 2].map(|k| &self.diffused[if k <= last { k } else { 0 }]);
        faces.add_to_faces(r, None, y);
        keep_held(backend, y.len(), &faces.is_free, x, y);
    }
}

/// One component of u_c = (1/V) Σ σ U (x_f − x_c).
///
/// Traffic a cell: 4 + 2s, an item 4, a face 3s.
#[kernel(velocity_of_fluxes, out(u))]
pub(super) fn velocity_of_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    flux: &View<F>,
    left_arm: &View<F>,
    right_arm: &View<F>,
    volume: &View<F>,
    component: usize,
    n_faces: usize,
) -> F {
    let mut sum = F::literal(0.0);
    for k in offsets[c] as usize..offsets[c + 1] as usize {
        let item = faces[k];
        let f = without_sign(item);
        let place = component * n_faces + f;
        let arm = if item == f as u32 { left_arm[place] } else { right_arm[place] };
        sum += with_sign::<F>(item, flux[f]) * arm;
    }
    sum / volume[c]
}

/// r·(x_f − x_c) / V of one side.
#[cube]
#[inline(always)]
fn moment_of<F: Real>(
    c: usize,
    x: &View<F>,
    y: &View<F>,
    z: &View<F>,
    arm: Vec3<F>,
    volume: &View<F>,
    #[comptime] dimension: usize,
) -> F {
    let mut sum = x[c] * arm.x + y[c] * arm.y;
    if comptime!(dimension == 3) {
        sum += z[c] * arm.z;
    }
    sum / volume[c]
}

/// y_f ← y_f + Σ_c σ (x_f − x_c)·r_c / V − (p_r − p_l) on free faces, 0 on the others.
///
/// Traffic a face: 12 + 8s, a cell (2 + d)s.
#[kernel(residual_at_faces, update(y))]
pub(super) fn residual_of_face<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    is_free: &View<u32>,
    rx: &View<F>,
    ry: &View<F>,
    rz: &View<F>,
    left_arm: &View<F>,
    right_arm: &View<F>,
    volume: &View<F>,
    p: &View<F>,
    p_at_boundary: &View<F>,
    n_interior: usize,
    n_faces: usize,
    #[comptime] dimension: usize,
    #[comptime] driven: bool,
    y: F,
) -> F {
    let l = left[f] as usize;
    let arm = Vec3::<F>::at(left_arm, f, n_faces);
    let mut sum = y + moment_of::<F>(l, rx, ry, rz, arm, volume, dimension);
    if f < n_interior {
        let r = right[f] as usize;
        let other = Vec3::<F>::at(right_arm, f, n_faces);
        sum -= moment_of::<F>(r, rx, ry, rz, other, volume, dimension);
        if comptime!(driven) {
            sum -= p[r] - p[l];
        }
    } else {
        if comptime!(driven) {
            sum -= p_at_boundary[f - n_interior] - p[l];
        }
    }
    if is_free[f] == 0 {
        sum = F::literal(0.0);
    }
    sum
}

/// factor (L/A) x on free faces, 0 on the others.
///
/// Traffic a face: 4 + 3s.
#[kernel(mass_product, out(y))]
pub(super) fn mass_of_face<F: Real>(
    f: usize,
    is_free: &View<u32>,
    x: &View<F>,
    mass: &View<F>,
    factor: F,
) -> F {
    if is_free[f] == 0 { F::literal(0.0) } else { factor * mass[f] * x[f] }
}

/// x / (L/A). Traffic 3s.
#[kernel(mass_quotient, out(y))]
pub(super) fn quotient_of_face<F: Real>(f: usize, x: &View<F>, mass: &View<F>) -> F {
    x[f] / mass[f]
}

/// y ← x where the flux is held. Traffic 4 + 3s.
#[kernel(keep_held, update(y))]
pub(super) fn held_or_free<F: Real>(f: usize, is_free: &View<u32>, x: &View<F>, y: F) -> F {
    if is_free[f] == 0 { x[f] } else { y }
}

/// F ← u_b·S where the flux is held. Traffic 4 + (3 + d)s a boundary face.
#[kernel(hold_flux, update(flux), indexed)]
pub(super) fn held_flux<F: Real>(
    i: usize,
    f: usize,
    is_free: &View<u32>,
    at_boundary_x: &View<F>,
    at_boundary_y: &View<F>,
    at_boundary_z: &View<F>,
    area: &View<F>,
    n_faces: usize,
    #[comptime] dimension: usize,
    flux: F,
) -> F {
    let s = Vec3::<F>::at(area, f, n_faces);
    let mut through = at_boundary_x[i] * s.x + at_boundary_y[i] * s.y;
    if comptime!(dimension == 3) {
        through += at_boundary_z[i] * s.z;
    }
    if is_free[f] == 0 { through } else { flux }
}
