//! Least-squares gradients of cell fields on real meshes: ∇φ_c = Σ_k W_k Δφ_k.
//!
//! The equations of a cell are those of its faces, which [`super::diffusion`] states under any boundary condition, and of
//! further cells where its faces leave a direction undetermined ([`crate::mesh::gradient_stencil`], decision 11).
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::boundary::Kind;
use super::cell_scheme::{CellScheme, FaceEquation};
use super::functional::Functional;
use super::mesh_view::{
    BoundaryRowView, GradientStencilView, VectorField, Vectors, store_quantities,
};
use super::narrow;
use crate::backend::{Backend, Buffer, Segment, View};
use crate::mesh::check::cells_between_walls;
use crate::mesh::geometry::{dot, subtract};
use crate::mesh::gradient_stencil::{
    CellFit, Neighbour, Purpose, Rows, face_neighbours, fit_of_cell,
};
use crate::mesh::{Adjacency, CellShape, SIGN_BIT, index_of};
use crate::operators::FaceCells;
use crate::operators::incidence::without_sign;
use crate::operators::neighbours::is_cell;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

type Vector = [f64; 3];

/// Gradients of cells, ∇φ_c = Σ W_k (φ_k − φ_c).
#[derive(Clone, Debug, PartialEq)]
pub struct GradientStencils {
    /// The items of each cell: a cell, or a boundary face from the first on with
    /// [`SIGN_BIT`]. None where every stencil is that of the cell's faces.
    pub rows: Option<Adjacency>,
    /// W: `[3][items]`.
    pub weights: Vec<f64>,
    /// Number of cells whose stencil goes beyond their faces.
    pub widened: usize,
    /// Number of cells whose stencil leaves a direction undetermined.
    pub dropped: usize,
    /// Number of cells with limited weights, not exact for linear fields.
    pub limited: usize,
    /// What the purpose of each cell's gradient bounds, over its bound, by the smallest stencil; above 1 the stencil is a
    /// larger one: `[n_cells]`.
    pub bound_ratio: Vec<f64>,
}

impl GradientStencils {
    /// Whether every stencil is that of the faces of its cell, with its weights.
    pub fn is_of_faces(&self) -> bool {
        self.widened + self.limited == 0
    }
}

/// Gradients of cells by least squares, on a backend.
pub struct CellGradient<F: Real> {
    cells: Arc<FaceCells>,
    /// Offsets and items of the stencils, where they go beyond the faces of cells.
    rows: Option<[Buffer<u32>; 2]>,
    weights: Buffer<F>,
    boundary: Arc<BoundaryRows<F>>,
}

/// Equations of the boundary faces for a cell gradient, r·∇φ = `row_value` v − `row_cell` φ_c with prescribed values v.
pub(super) struct BoundaryRows<F: Real> {
    /// Index of v.
    pub value: Buffer<u32>,
    /// Factor of v.
    pub row_value: Buffer<F>,
    /// Factor of φ_c.
    pub row_cell: Buffer<F>,
}

impl<F: Real> CellGradient<F> {
    pub(super) fn new(
        backend: &Backend,
        cells: Arc<FaceCells>,
        stencils: GradientStencils,
        boundary: Arc<BoundaryRows<F>>,
    ) -> Self {
        cells.neighbours(backend);
        let GradientStencils { rows, weights, widened, dropped, limited, .. } = stencils;
        tracing::debug!(
            "gradients: {widened} stencils widened, {dropped} with a direction dropped, {limited} limited"
        );
        CellGradient {
            cells,
            rows: rows.map(|rows| [backend.upload(rows.offsets), backend.upload(rows.items)]),
            weights: narrow(backend, weights),
            boundary,
        }
    }

    /// Without stencils, of a mesh whose cells ranks compute.
    pub(super) fn absent(backend: &Backend, cells: Arc<FaceCells>) -> Self {
        let boundary = BoundaryRows {
            value: backend.zeros(0),
            row_value: backend.zeros(0),
            row_cell: backend.zeros(0),
        };
        let (rows, weights) = (None, backend.zeros(0));
        CellGradient { cells, rows, weights, boundary: Arc::new(boundary) }
    }

    /// Gradients of this field by other stencils.
    pub fn with_stencils(&self, backend: &Backend, stencils: GradientStencils) -> Self {
        CellGradient::new(backend, self.cells.clone(), stencils, self.boundary.clone())
    }

    /// ∇φ of each cell for two or three quantities with prescribed values v: `[3][n_cells]` each.
    pub fn apply_to_vector(
        &self,
        backend: &Backend,
        phi: &VectorField<'_, F>,
        prescribed: &VectorField<'_, F>,
        [x, y, z]: [&mut Buffer<F>; 3],
    ) {
        let boundary = VectorBoundaryRows {
            value: self.boundary.value.view(),
            row_value: self.boundary.row_value.view(),
            row_cell: self.boundary.row_cell.view(),
            prescribed: *prescribed,
        };
        let (n, stride) = (self.cells.n_cells(), x.len() / 3);
        let stencils = self.view(backend);
        least_squares_gradients(backend, n, &stencils, &boundary, phi, stride, x, y, z);
    }

    /// Gradients of one to three quantities, [`CellGradient::apply`] or [`CellGradient::apply_to_vector`].
    pub fn apply_to_quantities(
        &self,
        backend: &Backend,
        values: &[&Buffer<F>],
        prescribed: &[&Buffer<F>],
        gradients: Vec<&mut Buffer<F>>,
    ) {
        let mut gradients = gradients.into_iter();
        match (gradients.next(), gradients.next(), gradients.next()) {
            (Some(x), Some(y), z) => {
                let (values, prescribed) = (VectorField::of(values), VectorField::of(prescribed));
                let mut none = backend.zeros(0);
                let gradients = [x, y, z.unwrap_or(&mut none)];
                self.apply_to_vector(backend, &values, &prescribed, gradients);
            }
            (Some(x), ..) => self.apply(backend, values[0], (prescribed[0], F::literal(1.0)), x),
            (None, ..) => {}
        }
    }

    /// The stencils as kernels read them.
    pub(crate) fn view(&self, backend: &Backend) -> GradientStencilView<'_, F> {
        let (offsets, items) = match &self.rows {
            Some([offsets, items]) => (offsets, items),
            None => (&self.cells.offsets, self.cells.neighbours(backend)),
        };
        let weights = Vectors::of(&self.weights);
        GradientStencilView { offsets: offsets.view(), items: items.view(), weights }
    }

    /// ∇φ of each cell with prescribed values scale v: `[3][n_cells]`.
    pub fn apply(
        &self,
        backend: &Backend,
        phi: &Buffer<F>,
        (prescribed, scale): (&Buffer<F>, F),
        gradient: &mut Buffer<F>,
    ) {
        let boundary = &self.boundary;
        least_squares_gradient(
            backend,
            self.cells.n_cells(),
            &self.view(backend),
            &BoundaryRowView {
                value: boundary.value.view(),
                row_value: boundary.row_value.view(),
                row_cell: boundary.row_cell.view(),
                prescribed: prescribed.view(),
            },
            scale,
            phi,
            gradient,
        );
    }
}

/// The least-squares gradient of a cell with `scale` times the prescribed values: 1 for the gradient, 0 for its linear part
/// in φ.
///
/// Traffic a cell: 4 + 4s, an item 4 + 3s, a boundary face 4 + 3s.
#[kernel(out(gradient))]
pub fn least_squares_gradient<F: Real>(
    c: usize,
    stencils: &GradientStencilView<F>,
    boundary: &BoundaryRowView<F>,
    scale: F,
    phi: &View<F>,
) -> Vec3<F> {
    let own = phi[c];
    let mut g = Vec3::<F>::zero();
    for k in stencils.offsets[c] as usize..stencils.offsets[c + 1] as usize {
        let j = stencils.items[k];
        let difference = if is_cell(j) {
            phi[j as usize] - own
        } else {
            let b = without_sign(j);
            let value = boundary.prescribed[boundary.value[b] as usize];
            scale * boundary.row_value[b] * value - boundary.row_cell[b] * own
        };
        g += stencils.weights.at(k) * difference;
    }
    g
}

/// [`BoundaryRowView`] of two or three quantities with values of their own.
#[derive(Group, Clone, Copy)]
pub struct VectorBoundaryRows<'a, F: Real> {
    /// Index of the prescribed value v: `[n_boundary]`.
    pub value: View<'a, u32>,
    /// r: `[n_boundary]`.
    pub row_value: View<'a, F>,
    /// s: `[n_boundary]`.
    pub row_cell: View<'a, F>,
    /// Prescribed values: `[n_values]` each.
    pub prescribed: VectorField<'a, F>,
}

/// The least-squares gradients of a cell for d quantities, `[3][stride]` each; the third is not written if there are two.
///
/// Traffic a cell: 4 + 4d s, an item 4 + 3s, a boundary face 4 + (2 + d)s.
#[kernel]
pub fn least_squares_gradients<F: Real>(
    c: usize,
    stencils: &GradientStencilView<F>,
    boundary: &VectorBoundaryRows<F>,
    phi: &VectorField<F>,
    stride: usize,
    x: &mut Segment<F>,
    y: &mut Segment<F>,
    z: &mut Segment<F>,
) {
    let own = phi.at(c);
    let mut gx = Vec3::<F>::zero();
    let mut gy = Vec3::<F>::zero();
    let mut gz = Vec3::<F>::zero();
    for k in stencils.offsets[c] as usize..stencils.offsets[c + 1] as usize {
        let j = stencils.items[k];
        let mut difference = own;
        if is_cell(j) {
            difference = phi.at(j as usize) - own;
        } else {
            let b = without_sign(j);
            let value = boundary.prescribed.at(boundary.value[b] as usize);
            difference = value * boundary.row_value[b] - own * boundary.row_cell[b];
        }
        let weight = stencils.weights.at(k);
        gx += weight * difference.x;
        gy += weight * difference.y;
        if comptime!(phi.dimension > 2) {
            gz += weight * difference.z;
        }
    }
    store_quantities::<F>(c, gx, stride, x, 3usize);
    store_quantities::<F>(c, gy, stride, y, 3usize);
    if comptime!(phi.dimension > 2) {
        store_quantities::<F>(c, gz, stride, z, 3usize);
    }
}

/// Use of a gradient, a [`Purpose`] without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// [`Purpose::Derivative`].
    Derivative,
    /// [`Purpose::Correction`] of this scheme's fluxes: the two-point fluxes bound the explicit ones.
    Correction,
    /// [`Purpose::Extrapolation`].
    Extrapolation,
}

/// Stencils are computed where they are needed: a functional needs those of a few cells.
impl CellScheme<'_> {
    /// The temperature at a point of a cell: T_c + ∇T_c·(x − x_c).
    pub fn at_point(&self, cell: usize, point: Vector) -> Functional {
        let d = subtract(point, self.geometry.cell_centre_of(cell));
        let mut functional = self.derivative(cell, d);
        functional.unknowns.push((cell as u32, 1.0));
        functional
    }

    /// The stencil of a cell's gradient: the equations of its faces and, where they do not suffice for its
    /// purpose, of further cells. These are of the cell's material, as the temperature gradient is
    /// discontinuous with the conductivity.
    fn stencil(&self, cell: usize, purpose: Use) -> CellStencil {
        let (mesh, k) = (self.mesh, self.conductivity);
        let (mut rows, mut fluxes) = (Rows::new(), Rows::new());
        for item in mesh.cell_to_faces.of(cell) {
            let FaceEquation { row, flux } = self.face_equation(cell, *item);
            rows.push(row);
            fluxes.push(flux);
        }
        let region = |c: usize| mesh.cells.groups.get(c);
        let is_same_material = |other: usize| {
            let ratio = k.of(other) / k.of(cell);
            region(other) == region(cell) && ratio < 2.0 && ratio > 0.5
        };
        let purpose = match purpose {
            Use::Derivative => Purpose::Derivative,
            Use::Extrapolation => Purpose::Extrapolation,
            Use::Correction => Purpose::Correction(&fluxes),
        };
        let fit = fit_of_cell(mesh, self.geometry, cell, &rows, purpose, is_same_material);
        CellStencil { cell, fit }
    }

    /// The items of the faces of a cell: the cells across them, and boundary faces from the first on with [`SIGN_BIT`].
    fn items_of_faces(&self, cell: usize) -> impl Iterator<Item = u32> {
        let (mesh, inner) = (self.mesh, self.mesh.n_interior_faces());
        mesh.cell_to_faces.of(cell).iter().map(move |item| {
            let f = index_of(*item);
            if f >= inner {
                return (f - inner) as u32 | SIGN_BIT;
            }
            mesh.face_left[f] ^ mesh.face_right[f] ^ cell as u32
        })
    }

    /// The items of a stencil, those of the faces of its cell and further cells.
    fn items(&self, cell: usize, further: &[Neighbour]) -> impl Iterator<Item = u32> {
        self.items_of_faces(cell).chain(further.iter().map(|n| n.cell))
    }

    /// ∇T_c · direction by least squares.
    pub(super) fn derivative(&self, cell: usize, direction: Vector) -> Functional {
        let stencil = self.stencil(cell, Use::Derivative);
        let mut functional = Functional::default();
        let mut own = 0.0;
        for (item, weight) in self.items(cell, &stencil.fit.further).zip(&stencil.fit.weights) {
            let weight = dot(*weight, direction);
            if item < SIGN_BIT {
                functional.unknowns.push((item, weight));
                own -= weight;
            } else {
                let b = index_of(item);
                let flux = self.boundary_flux(b + self.mesh.n_interior_faces(), true);
                if let Some(value) = self.boundary.value(b) {
                    functional.values.push((value, weight * flux.row_value));
                }
                own -= weight * flux.row_cell;
            }
        }
        functional.unknowns.push((cell as u32, own));
        functional
    }

    /// The gradient stencils of all cells.
    pub fn stencils(&self, purpose: Use) -> GradientStencils {
        self.stencils_of(0..self.mesh.n_cells(), purpose)
    }

    /// The gradient stencils of consecutive cells. Weights are written to rows of the faces of cells; where a stencil goes
    /// beyond these, the rows are copied to longer ones.
    pub fn stencils_of(&self, cells: Range<usize>, purpose: Use) -> GradientStencils {
        const CELLS_A_TASK: usize = 1024;
        let n_items = self.n_face_items(&cells);
        let (mut weights, mut bound_ratio) = (vec![0.0; 3 * n_items], vec![0.0; cells.len()]);
        let mut planes = planes_of(&mut weights);
        let mut tasks = vec![];
        for (first, ratios) in
            cells.clone().step_by(CELLS_A_TASK).zip(bound_ratio.chunks_mut(CELLS_A_TASK))
        {
            let range = first..first + ratios.len();
            let own = split_off(&mut planes, self.n_face_items(&range));
            tasks.push((range, own, ratios));
        }
        let of_task = |(range, mut own, ratios): (Range<usize>, [&mut [f64]; 3], &mut [f64])| {
            let mut part = StencilPart { cells: range.clone(), ..StencilPart::default() };
            for (cell, ratio) in range.zip(ratios) {
                let stencil = self.stencil(cell, purpose);
                let fit = &stencil.fit;
                *ratio = fit.bound_ratio;
                part.dropped += usize::from(fit.dropped > 0);
                part.limited += usize::from(fit.limiter < 1.0);
                let row = split_off(&mut own, self.mesh.cell_to_faces.of(cell).len());
                fill_row(row, &fit.weights);
                if !fit.further.is_empty() {
                    part.widened.push(stencil);
                }
            }
            part
        };
        let parts: Vec<StencilPart> = tasks.into_par_iter().map(of_task).collect();
        let sum = |of: fn(&StencilPart) -> usize| parts.iter().map(of).sum::<usize>();
        let widened = sum(|part| part.widened.len());
        let (dropped, limited) = (sum(|part| part.dropped), sum(|part| part.limited));
        let mut rows = None;
        if widened > 0 {
            let (longer, of_rows) = self.widened_rows(&weights, &parts);
            (rows, weights) = (Some(longer), of_rows);
        }
        GradientStencils { rows, weights, widened, dropped, limited, bound_ratio }
    }

    /// The bound ratios of the stencils of some cells.
    pub fn bound_ratios(&self, cells: &[u32], purpose: Use) -> Vec<f64> {
        let ratio = |cell: &u32| self.stencil(*cell as usize, purpose).fit.bound_ratio;
        cells.par_iter().map(ratio).collect()
    }

    /// The weights of the stencil of a cell, the faces of the cell first.
    pub(super) fn weights(&self, cell: usize, purpose: Use) -> Vec<Vector> {
        self.stencil(cell, purpose).fit.weights.to_vec()
    }

    /// Number of faces of consecutive cells.
    fn n_face_items(&self, cells: &Range<usize>) -> usize {
        let offsets = &self.mesh.cell_to_faces.offsets;
        if cells.is_empty() {
            return 0;
        }
        (offsets[cells.end] - offsets[cells.start]) as usize
    }

    /// The rows of all cells with the stencils of `parts`, whose other cells have the weights `of_faces`: `[3][faces of the cells]`.
    fn widened_rows(&self, of_faces: &[f64], parts: &[StencilPart]) -> (Adjacency, Vec<f64>) {
        let n_items: usize = parts.iter().map(|part| self.n_items(part)).sum();
        let n_cells: usize = parts.iter().map(|part| part.cells.len()).sum();
        let mut rows = Adjacency { offsets: vec![0; n_cells + 1], items: vec![0; n_items] };
        let mut weights = vec![0.0; 3 * n_items];
        let mut offsets = &mut rows.offsets[1..];
        let (mut items, mut planes) = (&mut rows.items[..], planes_of(&mut weights));
        let (mut first, mut first_of_faces) = (0, 0);
        let mut tasks = vec![];
        for part in parts {
            let (length, of_cells) = (self.n_items(part), self.n_face_items(&part.cells));
            let (own_offsets, rest) = offsets.split_at_mut(part.cells.len());
            let (own_items, rest_of_items) = items.split_at_mut(length);
            let own = split_off(&mut planes, length);
            tasks.push((part, first as u32, first_of_faces, own_offsets, own_items, own));
            (offsets, items) = (rest, rest_of_items);
            (first, first_of_faces) = (first + length, first_of_faces + of_cells);
        }
        let n_of_faces = of_faces.len() / 3;
        tasks.into_par_iter().for_each(
            |(part, mut first, mut first_of_faces, offsets, mut items, mut planes)| {
                let mut widened = part.widened.iter().peekable();
                for (cell, offset) in part.cells.clone().zip(offsets) {
                    let n_faces = self.mesh.cell_to_faces.of(cell).len();
                    let stencil = widened.next_if(|stencil| stencil.cell == cell);
                    let length = stencil.map_or(n_faces, |stencil| stencil.fit.weights.len());
                    let (own_items, rest) = items.split_at_mut(length);
                    let row = split_off(&mut planes, length);
                    let further = stencil.map_or(&[][..], |stencil| &stencil.fit.further);
                    let all = self.items(cell, further);
                    own_items.iter_mut().zip(all).for_each(|(to, item)| *to = item);
                    match stencil {
                        Some(stencil) => fill_row(row, &stencil.fit.weights),
                        None => row.into_iter().enumerate().for_each(|(k, to)| {
                            let from = k * n_of_faces + first_of_faces;
                            to.copy_from_slice(&of_faces[from..from + n_faces]);
                        }),
                    }
                    first += length as u32;
                    first_of_faces += n_faces;
                    *offset = first;
                    items = rest;
                }
            },
        );
        (rows, weights)
    }

    /// Number of items of the stencils of a part.
    fn n_items(&self, part: &StencilPart) -> usize {
        let further = part.widened.iter().map(|stencil| stencil.fit.further.len());
        self.n_face_items(&part.cells) + further.sum::<usize>()
    }

    /// The stencils of consecutive cells whose gradients extrapolate from upstream. A tetrahedron alone
    /// between opposite faces with prescribed values has the gradient 0, so that its upstream value is that of the cell: extrapolated
    /// across a gap of one cell, a jet gains energy (decision 21). So have the `flat` cells among cells of other sizes and their face
    /// neighbours (decision 32).
    pub fn extrapolation_of(&self, cells: Range<usize>, flat: &[usize]) -> GradientStencils {
        let mut stencils = self.stencils_of(cells.clone(), Use::Extrapolation);
        let of_faces = &self.mesh.cell_to_faces.offsets;
        for cell in self.unextrapolated(flat).into_iter().filter(|cell| cells.contains(cell)) {
            let first_of = |cell: usize| match &stencils.rows {
                Some(rows) => rows.offsets[cell - cells.start] as usize,
                None => (of_faces[cell] - of_faces[cells.start]) as usize,
            };
            let (items, n_items) = (first_of(cell)..first_of(cell + 1), stencils.weights.len() / 3);
            for k in 0..3 {
                stencils.weights[k * n_items + items.start..k * n_items + items.end].fill(0.0);
            }
            stencils.limited += 1;
        }
        stencils
    }

    /// Cells whose upstream values are not extrapolated: tetrahedra between walls, flat cells among cells of other sizes and their face neighbours.
    fn unextrapolated(&self, flat: &[usize]) -> Vec<usize> {
        let around = flat.iter().flat_map(|cell| face_neighbours(self.mesh, self.geometry, *cell));
        let mut cells: Vec<usize> = around.map(|other| other.cell as usize).collect();
        cells.extend(flat);
        cells.extend(self.tetrahedra_between_walls());
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Tetrahedra in a single layer between opposite patches of prescribed values.
    fn tetrahedra_between_walls(&self) -> Vec<usize> {
        let (mesh, inner) = (self.mesh, self.mesh.n_interior_faces());
        let is_prescribed = |patch: usize| {
            let first = mesh.patches[patch].faces.clone().next();
            first.is_some_and(|f| matches!(self.boundary.kind(f - inner), Kind::Dirichlet))
        };
        let mut cells = cells_between_walls(mesh, self.geometry, is_prescribed);
        cells.retain(|cell| mesh.cells.shapes[*cell] == CellShape::Tetrahedron);
        cells
    }
}

/// The stencils of consecutive cells that have further cells, and counts of all.
#[derive(Default)]
struct StencilPart {
    cells: Range<usize>,
    /// Stencils with further cells, ascending.
    widened: Vec<CellStencil>,
    dropped: usize,
    limited: usize,
}

/// The gradient of one cell.
struct CellStencil {
    cell: usize,
    fit: CellFit,
}

/// The three components of an array `[3][n]`.
fn planes_of(values: &mut [f64]) -> [&mut [f64]; 3] {
    let (x, rest) = values.split_at_mut(values.len() / 3);
    let (y, z) = rest.split_at_mut(x.len());
    [x, y, z]
}

/// Splits the first `length` entries off each component.
fn split_off<'a>(planes: &mut [&'a mut [f64]; 3], length: usize) -> [&'a mut [f64]; 3] {
    planes.each_mut().map(|plane| {
        let (own, rest) = std::mem::take(plane).split_at_mut(length);
        *plane = rest;
        own
    })
}

/// Writes as many of the weights as the row has entries.
fn fill_row(row: [&mut [f64]; 3], weights: &[Vector]) {
    for (k, to) in row.into_iter().enumerate() {
        to.iter_mut().zip(weights).for_each(|(to, weight)| *to = weight[k]);
    }
}
