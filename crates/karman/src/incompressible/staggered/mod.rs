//! The staggered arrangements: the unknowns are the fluxes U through the faces.
//!
//! Velocities of cells are u_c = (1/V) Σ σ U (x_f − x_c); convective terms are computed in the cells and
//! mapped to the faces by the transpose, y_f = Σ_c σ (x_f − x_c)·r_c / V. A step is
//!
//! (shift M + θ ν M C W Cᵀ M) δU
//!     = N V⁻¹ (V s − convection) − ν M C W (Cᵀ M U + boundary) + history M δU_before − G p,
//!
//! M the inner product of fluxes ([`inner_product`]), L/A on rectangles and rectangular hexahedra, and the
//! viscous terms in rotational form ([`rotation`]). The classical fractional step ([`step`]) projects by a
//! (p_r − p_l), a = A/L: the divergence falls to the tolerance of the pressure's solver. The exact one
//! ([`exact`]) solves for δU = C δs, which has none.
//!
//! Sources: Perot, J. Comput. Phys. 159 (2000) 58, §3; Menon's thesis, §7.2–7.3; Chang, Giraldo & Perot,
//! J. Comput. Phys. 180 (2002) 183.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

mod curl_curl;
mod deflation;
mod divergence_cleaning;
mod exact;
mod face_unknowns;
mod inner_product;
mod periodic_edges;
mod potential;
mod potential_constraints;
mod rank_faces;
mod recovery;
mod rotation;
mod step;
mod union_find;

pub(super) use exact::ExactStepper;
pub(super) use face_unknowns::Staggered;
pub(super) use recovery::{Fluxes, least_squares, vorticity_at_walls, vorticity_in_cells};
pub(super) use rotation::DualSegments;
pub(super) use step::StaggeredStepper;

use super::IncompressibleError;
use crate::backend::{Backend, Buffer, EntryOrder, Halo, View, blas};
use crate::finite_volume::{CellFaces, CellField, Faces, Quantities, VectorField, Vectors, narrow};
use crate::linear::{CsrMatrix, Matrix, Operator};
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of, sign_of};
use crate::operators::incidence::{with_sign, without_sign};
use crate::operators::{FaceCells, Part};
use crate::real::Real;
use inner_product::{InnerProduct, Vector, assembled};
use karman_backend::prelude::*;
use rank_faces::{RankFaces, RankSetUp, segments};
use rayon::prelude::*;
use rotation::{Rotation, Vorticity};
use std::sync::Arc;

/// Geometry and mass matrix of the fluxes.
pub(super) struct StaggeredFaces<F: Real> {
    backend: Backend,
    cells: Arc<FaceCells>,
    dimension: usize,
    /// x_f − x_l, and x_f − x_r inside: `[3][n_faces]` each.
    cell_to_face: [Buffer<F>; 2],
    /// T⁻¹ (x_f − x_l) and T⁻¹ (x_f − x_r), for meshes with non-planar faces.
    warp_corrected: Option<[Buffer<F>; 2]>,
    volume: Buffer<F>,
    /// M: `[n_faces]` squared.
    mass: Matrix<F>,
    /// Its diagonal.
    diagonal: Vec<f64>,
    inverse_diagonal: Buffer<F>,
    /// Whether M is diagonal.
    pub is_diagonal: bool,
    /// 1 where the flux is an unknown: `[n_faces]`.
    pub is_unknown: Buffer<u32>,
    /// ½ for each interior face.
    pub half: Buffer<F>,
    /// The backend of solvers of fluxes.
    of_fluxes: Backend,
    /// On one of several ranks, whose equations are those of the fluxes through its own faces.
    ranks: Option<OwnEquations<F>>,
}

/// The faces of whose fluxes one of several ranks has the equations.
struct OwnEquations<F: Real> {
    exchange: Arc<RankFaces>,
    /// As those of the faces of its part.
    cell_to_face: [Buffer<F>; 2],
    is_unknown: Buffer<u32>,
}

/// Largest |T − I| of planar faces.
const PLANAR: f64 = 1e-9;

impl<F: Real> StaggeredFaces<F> {
    /// The arrays of a mesh; the velocity at a boundary face is prescribed where `dirichlet_index` is not 0.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &Faces<F>,
        dirichlet_index: &[u32],
    ) -> Result<Self, IncompressibleError> {
        let (n, inner) = (mesh.n_faces(), mesh.n_interior_faces());
        check_sides(mesh, geometry)?;
        let cells = CellProducts { mesh, geometry };
        let warps = (0..mesh.n_cells()).into_par_iter().map(|cell| {
            let product = cells.product(cell).ok_or(cell);
            product.map(|product| product.warp)
        });
        let degenerate =
            |cell| IncompressibleError::DegenerateCell { place: geometry.cell_centre_of(cell) };
        let warp = warps.try_reduce(|| 0.0, |a, b| Ok(f64::max(a, b))).map_err(degenerate)?;
        let mut cell_to_face = [vec![0.0; 3 * n], vec![0.0; 3 * n]];
        for (side, faces) in [n, inner].into_iter().enumerate() {
            for face in 0..faces {
                let to_face = cell_to_face_vector(mesh, geometry, face, side);
                (0..3).for_each(|k| cell_to_face[side][k * n + face] = to_face[k]);
            }
        }
        let mass = assembled(
            n,
            |face| {
                [Some(mesh.face_left[face]), mesh.face_right.get(face).copied()]
                    .map(|c| c.map(|c| c as usize))
            },
            |cell| mesh.cell_to_faces.of(cell).iter().map(|item| index_of(*item) as u32).collect(),
            |cell| cells.product(cell),
        )?;
        let mut half = backend.zeros(inner);
        blas::fill(backend, inner, F::literal(0.5), &mut half);
        let unknown = |f: usize| u32::from(f < inner || dirichlet_index[f - inner] == 0);
        let order = segments((0u32..).zip(mesh.face_left.iter().copied()));
        let order = EntryOrder::of_one_rank(n).in_segments(order);
        Ok(StaggeredFaces {
            of_fluxes: backend.in_order(Arc::new(order)),
            backend: backend.clone(),
            cells: faces.cells.clone(),
            dimension: mesh.dimension,
            cell_to_face: cell_to_face.map(|a| narrow(backend, a)),
            warp_corrected: (warp > PLANAR)
                .then(|| cells.warp_corrected(n).map(|a| narrow(backend, a))),
            volume: narrow(backend, geometry.cell_volume.clone()),
            is_diagonal: mass.entries() == n,
            inverse_diagonal: narrow(backend, mass.diagonal().iter().map(|m| 1.0 / m).collect()),
            diagonal: mass.diagonal(),
            mass: Matrix::new(backend, mass.into_converted())?,
            is_unknown: backend.upload((0..n).map(unknown).collect()),
            half,
            ranks: None,
        })
    }

    /// The faces of a part, and the exchanges of its rank; `starts` has the first cell and the first edge of each rank, `stiffness` maps
    /// edges to edges. All ranks call it.
    fn of_part(
        &self,
        part: &Part,
        starts: (&[usize], Vec<usize>),
        (rotation, stiffness): (&Rotation<F>, Option<&Matrix<F>>),
    ) -> Result<(Self, RankSetUp), IncompressibleError> {
        let topology = &rotation.host.topology;
        let of_edges: Vec<&Matrix<F>> = [&rotation.weights].into_iter().chain(stiffness).collect();
        let matrices = (&self.mass, &of_edges[..]);
        let cells = &self.cells;
        let set_up = RankSetUp::new(part, starts, cells, matrices, topology, &self.is_unknown)?;
        let n = self.diagonal.len();
        let exchange = set_up.faces.clone();
        let own = exchange.own();
        let both = |both: &[Buffer<F>; 2]| [0, 1].map(|side| part.of_faces(&both[side]));
        let diagonal: Vec<f64> = own.iter().map(|face| self.diagonal[*face as usize]).collect();
        let local = |face: u32| set_up.face(face as usize);
        let faces = StaggeredFaces {
            of_fluxes: part.backend.in_order(set_up.order.clone()),
            backend: part.backend.clone(),
            cells: part.cells.clone(),
            dimension: self.dimension,
            cell_to_face: both(&self.cell_to_face),
            warp_corrected: self.warp_corrected.as_ref().map(both),
            volume: part.of_cells(&self.volume),
            mass: self.mass.listed_rows(&part.backend, own, exchange.fluxes.clone(), &local)?,
            inverse_diagonal: part.of_list(&self.inverse_diagonal, own, n),
            diagonal,
            is_diagonal: self.is_diagonal,
            is_unknown: part.of_faces(&self.is_unknown),
            half: part.of_interior_faces(&self.half),
            ranks: Some(OwnEquations {
                cell_to_face: [0, 1].map(|side| part.of_list(&self.cell_to_face[side], own, n)),
                is_unknown: part.of_list(&self.is_unknown, own, n),
                exchange,
            }),
        };
        Ok((faces, set_up))
    }

    /// Number of fluxes in the equations: through all faces, on one of several ranks through its own ones.
    pub(super) fn n_fluxes(&self) -> usize {
        self.exchange().map_or(self.cells.n_faces(), |exchange| exchange.fluxes.owned())
    }

    /// The exchange of fluxes on one of several ranks.
    fn exchange(&self) -> Option<&RankFaces> {
        self.ranks.as_ref().map(|own| &*own.exchange)
    }

    /// A vector of fluxes, with room for ghosts on one of several ranks.
    pub(super) fn fluxes(&self) -> Buffer<F> {
        match self.exchange() {
            None => self.backend.zeros(self.cells.n_faces()),
            Some(exchange) => exchange.fluxes.zeros(&self.backend, 1),
        }
    }

    /// Room for a flux through the faces of the part of one of several ranks; none on one rank.
    pub(super) fn room(&self) -> Option<Buffer<F>> {
        self.exchange().map(|_| self.backend.zeros(self.cells.n_faces()))
    }

    /// Fetches the ghosts of a vector of fluxes.
    pub(super) fn fetch(&self, fluxes: &mut Buffer<F>) {
        if let Some(exchange) = self.exchange() {
            exchange.fluxes.fill(fluxes, 1);
        }
    }

    /// `flux` as a vector of fluxes, in `room` on one of several ranks, whose own faces are not those of its part.
    pub(super) fn fluxes_of<'a>(
        &self,
        flux: &'a Buffer<F>,
        room: &'a mut Option<Buffer<F>>,
    ) -> &'a Buffer<F> {
        match (self.exchange(), room) {
            (Some(exchange), Some(room)) => {
                exchange.take(&self.backend, flux, room);
                room
            }
            _ => flux,
        }
    }

    /// A vector of fluxes as that through the faces of the part of one of several ranks, in `room`.
    pub(super) fn through_faces<'a>(
        &self,
        fluxes: &'a mut Buffer<F>,
        room: &'a mut Option<Buffer<F>>,
    ) -> &'a Buffer<F> {
        match (self.exchange(), room) {
            (Some(exchange), Some(room)) => {
                exchange.give(&self.backend, fluxes, room);
                room
            }
            _ => fluxes,
        }
    }

    /// The backend of solvers of fluxes.
    pub(super) fn of_fluxes(&self) -> &Backend {
        &self.of_fluxes
    }

    /// Component `k` of the velocities of cells: `u: [n_cells]`.
    pub(super) fn to_cells(&self, k: usize, flux: &Buffer<F>, u: &mut Buffer<F>) {
        let to_face = CellToFace::of(self.warp_corrected.as_ref().unwrap_or(&self.cell_to_face));
        let cells = CellFaces::of(&self.cells, self.volume.view());
        velocity_of_fluxes(&self.backend, self.cells.n_cells(), &cells, &to_face, flux, k, u);
    }

    /// y ← y + Σ_c σ (x_f − x_c)·r_c / V − (p_r − p_l) on faces of unknown flux, 0 on the others; r and p have their ghosts.
    pub(super) fn add_to_faces(
        &self,
        r: &Quantities<'_, F>,
        pressure: Option<CellField<'_, F>>,
        y: &mut Buffer<F>,
    ) {
        let (left, right, is_unknown, cell_to_face) = match &self.ranks {
            None => (&self.cells.left, &self.cells.right, &self.is_unknown, &self.cell_to_face),
            Some(OwnEquations { exchange, cell_to_face, is_unknown }) => {
                (&exchange.left, &exchange.right, is_unknown, cell_to_face)
            }
        };
        let faces = UnknownFaces {
            left: left.view(),
            right: right.view(),
            is_unknown: is_unknown.view(),
            volume: self.volume.view(),
            n_interior: right.len(),
        };
        let to_face = CellToFace::of(cell_to_face);
        let with_pressure = pressure.is_some();
        // Without pressure any field serves as argument.
        let p = pressure.unwrap_or_else(|| CellField::of_values(&self.volume));
        residual_at_faces(
            &self.backend,
            self.n_fluxes(),
            &faces,
            &to_face,
            r,
            &p,
            with_pressure,
            y,
        );
    }

    /// y ← M⁻¹ x, where M is diagonal.
    pub(super) fn divide_by_mass(&self, x: &Buffer<F>, y: &mut Buffer<F>) {
        blas::multiply(&self.backend, self.n_fluxes(), x, &self.inverse_diagonal, y);
    }

    /// shift times the diagonal of M, the preconditioning matrix.
    pub(super) fn diagonal(&self, shift: f64) -> Result<Matrix<F>, IncompressibleError> {
        let n = self.diagonal.len();
        let matrix = CsrMatrix::from_rows(
            n,
            n,
            |_| 1,
            |row, columns, values| {
                (columns[0], values[0]) = (row as u32, F::from_f64(shift * self.diagonal[row]));
            },
        )?;
        Ok(Matrix::new(&self.backend, matrix)?)
    }

    /// x_f − x_c of the left cells and of the right ones on the host: `[3][n_faces]` each.
    pub(super) fn cell_to_face(&self) -> Result<[Vec<f64>; 2], IncompressibleError> {
        let [left, right] = &self.cell_to_face;
        let read_f64 = |cell_to_face: &Buffer<F>| -> Result<Vec<f64>, IncompressibleError> {
            Ok(self.backend.read(cell_to_face)?.into_iter().map(Into::into).collect())
        };
        Ok([read_f64(left)?, read_f64(right)?])
    }

    /// The backend of the arrays.
    pub(super) fn backend(&self) -> &Backend {
        &self.backend
    }
}

/// x_f − x_c of the left cell, side 0, or of the right one.
fn cell_to_face_vector(mesh: &Mesh, geometry: &Geometry, face: usize, side: usize) -> Vector {
    let centre = match side {
        0 => geometry.cell_centre_of(mesh.face_left[face] as usize),
        _ => geometry.right_centre_of(mesh, face),
    };
    subtract(geometry.face_centre_of(face), centre)
}

/// Rejects a mesh where the centroid of a cell lies on the wrong side of one of its faces.
fn check_sides(mesh: &Mesh, geometry: &Geometry) -> Result<(), IncompressibleError> {
    for face in 0..mesh.n_interior_faces() {
        let [left, right] = [0, 1].map(|side| cell_to_face_vector(mesh, geometry, face, side));
        let area = geometry.area_vector_of(face);
        let along = dot(subtract(left, right), area) / norm(area);
        if along.is_nan() || along <= 0.0 {
            let place = geometry.face_centre_of(face);
            return Err(IncompressibleError::WrongSide { place, along });
        }
    }
    Ok(())
}

/// The inner products of the cells of a mesh.
struct CellProducts<'a> {
    mesh: &'a Mesh,
    geometry: &'a Geometry,
}

impl CellProducts<'_> {
    fn product(&self, cell: usize) -> Option<InnerProduct> {
        let (mut positions, mut areas, mut delta) = (vec![], vec![], vec![]);
        for item in self.mesh.cell_to_faces.of(cell) {
            let face = index_of(*item);
            let side = usize::from(sign_of(*item) < 0);
            let to_face = cell_to_face_vector(self.mesh, self.geometry, face, side);
            let area = self.geometry.area_vector_of(face);
            positions.push(to_face.map(|x| f64::from(sign_of(*item)) * x));
            areas.push(area);
            delta.push(dot(to_face, area).abs() / dot(area, area));
        }
        let standard = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let basis = &standard[..self.mesh.dimension];
        InnerProduct::new(&positions, &areas, delta, self.geometry.cell_volume[cell], basis)
    }

    /// T⁻¹ (x_f − x_c) of the left and of the right cells.
    fn warp_corrected(&self, n_faces: usize) -> [Vec<f64>; 2] {
        let mut cell_to_face = [vec![0.0; 3 * n_faces], vec![0.0; 3 * n_faces]];
        for cell in 0..self.mesh.n_cells() {
            let Some(product) = self.product(cell) else { continue };
            let items = self.mesh.cell_to_faces.of(cell);
            for (item, to_face) in items.iter().zip(product.reconstruction()) {
                let (face, sign) = (index_of(*item), f64::from(sign_of(*item)));
                let side = usize::from(sign < 0.0);
                (0..3).for_each(|k| cell_to_face[side][k * n_faces + face] = sign * to_face[k]);
            }
        }
        cell_to_face
    }
}

/// y = M (shift x + θ ν C W Cᵀ M x) on faces of unknown flux, x on the others.
struct StaggeredOperator<F: Real> {
    faces: Arc<StaggeredFaces<F>>,
    rotation: Arc<Rotation<F>>,
    shift: F,
    /// θ ν.
    diffusive: F,
    scratch: Vorticity<F>,
    blended: Buffer<F>,
}

impl<F: Real> StaggeredOperator<F> {
    pub(super) fn new(
        faces: Arc<StaggeredFaces<F>>,
        rotation: Arc<Rotation<F>>,
        (shift, diffusive): (f64, f64),
    ) -> Self {
        StaggeredOperator {
            scratch: rotation.scratch(&faces),
            blended: faces.fluxes(),
            faces,
            rotation,
            shift: F::from_f64(shift),
            diffusive: F::from_f64(diffusive),
        }
    }
}

impl<F: Real> Operator<F> for StaggeredOperator<F> {
    fn unknowns(&self) -> usize {
        self.faces.n_fluxes()
    }

    fn exchange(&self) -> Option<&Arc<Halo>> {
        self.faces.exchange().map(|exchange| &exchange.fluxes)
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let (faces, n) = (&self.faces, self.faces.n_fluxes());
        let blended = &mut self.blended;
        self.rotation.curl_of_vorticity(faces, x, None, &mut self.scratch, blended);
        blas::axpby(backend, n, self.shift, x, self.diffusive, blended);
        faces.fetch(blended);
        faces.mass.multiply(blended, y);
        let is_unknown = faces.ranks.as_ref().map_or(&faces.is_unknown, |own| &own.is_unknown);
        copy_prescribed(backend, n, is_unknown, x, y);
    }
}

/// x_f − x_c of the cells of each face.
#[derive(Group, Clone, Copy)]
pub(super) struct CellToFace<'a, F: Real> {
    /// Of the left cells: `[n_faces]`.
    pub left: Vectors<'a, F>,
    /// Of the right cells, at interior faces: `[n_faces]`.
    pub right: Vectors<'a, F>,
}

impl<'a, F: Real> CellToFace<'a, F> {
    fn of([left, right]: &'a [Buffer<F>; 2]) -> Self {
        CellToFace { left: Vectors::of(left), right: Vectors::of(right) }
    }
}

/// The faces as their fluxes' equations read them.
#[derive(Group, Clone, Copy)]
pub(super) struct UnknownFaces<'a, F: Real> {
    /// l: `[n_faces]`.
    pub left: View<'a, u32>,
    /// r: `[n_interior]`.
    pub right: View<'a, u32>,
    /// 1 where the flux is an unknown: `[n_faces]`.
    pub is_unknown: View<'a, u32>,
    /// V: `[n_cells]`.
    pub volume: View<'a, F>,
    /// Number of interior faces; those of the boundary follow.
    pub n_interior: usize,
}

/// One component of u_c = (1/V) Σ σ U (x_f − x_c).
///
/// Traffic a cell: 4 + 2s, an item 4, a face 3s.
#[kernel(out(u))]
pub(super) fn velocity_of_fluxes<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    to_face: &CellToFace<F>,
    flux: &View<F>,
    component: usize,
) -> F {
    let mut sum = F::literal(0.0);
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let item = cells.items[k];
        let f = without_sign(item);
        let place = component * to_face.left.stride + f;
        let is_left = item == f as u32;
        let along =
            if is_left { to_face.left.components[place] } else { to_face.right.components[place] };
        sum += with_sign::<F>(item, flux[f]) * along;
    }
    sum / cells.volume[c]
}

/// y_f ← y_f + Σ_c σ (x_f − x_c)·r_c / V − (p_r − p_l) on faces of unknown flux, 0 on the others.
///
/// Traffic a face: 12 + 8s, a cell (2 + d)s.
#[kernel(update(y))]
pub(super) fn residual_at_faces<F: Real>(
    f: usize,
    faces: &UnknownFaces<F>,
    to_face: &CellToFace<F>,
    r: &Quantities<F>,
    p: &CellField<F>,
    #[comptime] with_pressure: bool,
    y: F,
) -> F {
    let left = faces.left[f] as usize;
    let mut sum = y + r.at(left).dot(to_face.left.at(f)) / faces.volume[left];
    if f < faces.n_interior {
        let right = faces.right[f] as usize;
        sum -= r.at(right).dot(to_face.right.at(f)) / faces.volume[right];
        if comptime!(with_pressure) {
            sum -= p.value[right] - p.value[left];
        }
    } else {
        if comptime!(with_pressure) {
            sum -= p.at_boundary[f - faces.n_interior] - p.value[left];
        }
    }
    if faces.is_unknown[f] == 0 {
        sum = F::literal(0.0);
    }
    sum
}

/// y ← x where the flux is prescribed. Traffic 4 + 3s.
#[kernel(update(y))]
pub(super) fn copy_prescribed<F: Real>(f: usize, is_unknown: &View<u32>, x: &View<F>, y: F) -> F {
    if is_unknown[f] == 0 { x[f] } else { y }
}

/// F ← u_b·S where the flux is prescribed. Traffic 4 + (3 + d)s a boundary face.
#[kernel(update(flux), indexed)]
pub(super) fn prescribe_flux<F: Real>(
    i: usize,
    f: usize,
    is_unknown: &View<u32>,
    velocity: &VectorField<F>,
    area: &Vectors<F>,
    flux: F,
) -> F {
    let through = velocity.dot(i, area.at(f));
    if is_unknown[f] == 0 { through } else { flux }
}
