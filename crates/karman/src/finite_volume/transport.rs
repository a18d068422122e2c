//! The implicit operator of transport equations of one to three quantities, without an assembled matrix: inertia, two-point
//! diffusion and upwind convection,
//!
//! (W x)_c = I_c x_c + Σ_f (α a_f + β max(−σF_f, 0)) (x_c − x_n),
//!
//! n the cell across face f and x_n = 0 at the boundary, I the inertia, a the conductances, σF the flux out of the cell.
//! W is an M-matrix for any flux and any positive inertia: its entries off the diagonal are at most 0, its row sums at least
//! I_c. Without convection it is symmetric. It approximates the full spatial operator in increments, whose exact terms are on the right-hand side (deferred correction; Ferziger &
//! Perić, §5.6). All quantities have the same W, so that a product reads the mesh once.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::mesh_view::{CellFaces, Quantities, store_quantities};
use crate::backend::{Backend, Buffer, Partials, Segment, View, blas};
use crate::linear::{Operator, Preconditioner};
use crate::operators::FaceCells;
use crate::operators::incidence::{with_sign, without_sign};
use crate::operators::neighbours::is_cell;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;
use std::sync::Arc;

/// The coefficients of W.
#[derive(Group, Clone, Copy)]
pub struct TransportView<'a, F: Real> {
    /// The neighbour of a cell across each of its faces, in their order.
    pub neighbours: View<'a, u32>,
    /// I: `[n_cells]`.
    pub inertia: View<'a, F>,
    /// a: `[n_faces]`.
    pub conductance: View<'a, F>,
    /// F, from left to right: `[n_faces]`; not read without convection.
    pub flux: View<'a, F>,
    /// α, the factor of diffusion.
    pub alpha: F,
    /// β, the factor of upwind convection.
    pub beta: F,
    /// Whether W contains convection.
    #[comptime]
    pub convects: bool,
}

#[device]
impl<F: Real> TransportView<'_, F> {
    /// The coefficient of a face: α a + β max(−σF, 0).
    #[inline(always)]
    pub fn coefficient(&self, item: u32) -> F {
        let f = without_sign(item);
        let mut sum = self.alpha * self.conductance[f];
        if comptime!(self.convects) {
            sum += self.beta * (-with_sign::<F>(item, self.flux[f])).max(F::literal(0.0));
        }
        sum
    }
}

impl<'a, F: Real> TransportView<'a, F> {
    /// Connectivity alone.
    pub fn of_connectivity(neighbours: &'a Buffer<u32>) -> Self {
        TransportView {
            neighbours: neighbours.view(),
            inertia: View::absent(),
            conductance: View::absent(),
            flux: View::absent(),
            alpha: F::literal(0.0),
            beta: F::literal(0.0),
            convects: false,
        }
    }
}

/// (W x)_c.
#[device]
#[inline(always)]
fn product<F: Real>(
    c: usize,
    cells: &CellFaces<'_, F>,
    of: &TransportView<'_, F>,
    x: &Quantities<'_, F>,
) -> Vec3<F> {
    let own = x.at(c);
    let mut sum = own * of.inertia[c];
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let mut difference = own;
        let j = of.neighbours[k];
        if is_cell(j) {
            difference -= x.at(j as usize);
        }
        sum += difference * of.coefficient(cells.items[k]);
    }
    sum
}

/// y ← W x of d quantities, `[d][stride]`. Traffic a cell: 4 + (1 + 2d)s, an item 8, a face s (2s with
/// convection).
#[kernel]
pub fn transport_product<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    x: &Quantities<F>,
    stride: usize,
    y: &mut Segment<F>,
) {
    let sum = product::<F>(c, cells, of, x);
    store_quantities::<F>(c, sum, stride, y, x.dimension);
}

/// [`transport_product()`] with x·y.
#[kernel(reduce(sum))]
pub fn transport_product_dot<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    x: &Quantities<F>,
    stride: usize,
    y: &mut Segment<F>,
) -> f64 {
    let sum = product::<F>(c, cells, of, x);
    store_quantities::<F>(c, sum, stride, y, x.dimension);
    let own = x.at(c);
    own.x.to_f64() * sum.x.to_f64()
        + own.y.to_f64() * sum.y.to_f64()
        + own.z.to_f64() * sum.z.to_f64()
}

/// The inverse of the diagonal of W, equal for d quantities; the sum counts the cells whose I is below `least` times the
/// diagonal.
/// Traffic a cell: 4 + (1 + d)s, an item 4, a face s (2s with convection).
#[kernel(reduce(sum))]
pub fn transport_inverse_diagonal<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    least: F,
    stride: usize,
    #[comptime] dimension: usize,
    inverse: &mut Segment<F>,
) -> F {
    let inertia = of.inertia[c];
    let mut sum = inertia;
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        sum += of.coefficient(cells.items[k]);
    }
    let value = F::literal(1.0) / sum;
    store_quantities::<F>(
        c,
        Vec3::<F> { x: value, y: value, z: value },
        stride,
        inverse,
        dimension,
    );
    if inertia < least * sum { F::literal(1.0) } else { F::literal(0.0) }
}

/// The coefficients of Jacobi sweeps: the inverse of the diagonal D of W, and D⁻¹ (D − W) at each item, 0 at the boundary.
/// Traffic a cell: 4 + 2s, an item 8 + s, a face s (2s with convection).
#[kernel(out(inverse))]
pub fn sweep_coefficients<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    coefficients: &mut Segment<F>,
) -> F {
    let mut diagonal = of.inertia[c];
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let own = of.coefficient(cells.items[k]);
        diagonal += own;
        coefficients[k] = if is_cell(of.neighbours[k]) { own } else { F::literal(0.0) };
    }
    let inverse = F::literal(1.0) / diagonal;
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        coefficients[k] *= inverse;
    }
    inverse
}

/// z ← D⁻¹ b, D the diagonal of W: the Jacobi sweep from 0. Traffic (1 + 2d)s.
#[kernel]
pub fn first_sweep<F: Real>(
    c: usize,
    inverse: &View<F>,
    b: &Quantities<F>,
    stride: usize,
    z: &mut Segment<F>,
) {
    store_quantities::<F>(c, b.at(c) * inverse[c], stride, z, b.dimension);
}

/// The coefficients of Jacobi sweeps, by [`sweep_coefficients()`].
#[derive(Group, Clone, Copy)]
pub struct SweepView<'a, F: Real> {
    /// First item of each cell: `[n_cells + 1]`.
    pub offsets: View<'a, u32>,
    /// The neighbour of a cell across each of its faces.
    pub neighbours: View<'a, u32>,
    /// D⁻¹ (D − W) at each item.
    pub coefficients: View<'a, F>,
    /// D⁻¹: `[n_cells]`.
    pub inverse: View<'a, F>,
}

/// z ← D⁻¹ (b − (W − D) y): a Jacobi sweep. Traffic a cell: 4 + (1 + 3d)s, an item 4 + s.
#[kernel]
pub fn transport_sweep<F: Real>(
    c: usize,
    of: &SweepView<F>,
    b: &Quantities<F>,
    y: &Quantities<F>,
    stride: usize,
    z: &mut Segment<F>,
) {
    let mut sum = b.at(c) * of.inverse[c];
    for k in of.offsets[c] as usize..of.offsets[c + 1] as usize {
        let j = of.neighbours[k];
        if is_cell(j) {
            sum += y.at(j as usize) * of.coefficients[k];
        }
    }
    store_quantities::<F>(c, sum, stride, z, y.dimension);
}

/// W on a backend.
pub struct TransportOperator<F: Real> {
    cells: Arc<FaceCells>,
    conductance: Arc<Buffer<F>>,
    /// I: `[n_cells]`.
    inertia: Buffer<F>,
    /// F: `[n_faces]`; empty without convection.
    flux: Buffer<F>,
    alpha: F,
    beta: F,
    dimension: usize,
    /// x with its ghosts, on one of several ranks.
    with_ghosts: Option<Buffer<F>>,
}

impl<F: Real> TransportOperator<F> {
    /// The operator of `dimension` quantities with factors α and β, without inertia and flux; β = 0 leaves convection out.
    pub fn new(
        backend: &Backend,
        cells: Arc<FaceCells>,
        conductance: Arc<Buffer<F>>,
        [alpha, beta]: [f64; 2],
        dimension: usize,
    ) -> Self {
        cells.neighbours(backend);
        let with_ghosts = cells.halo().map(|halo| halo.zeros(backend, dimension));
        TransportOperator {
            inertia: backend.zeros(cells.n_cells()),
            flux: backend.zeros(if beta == 0.0 { 0 } else { cells.n_faces() }),
            cells,
            conductance,
            alpha: F::from_f64(alpha),
            beta: F::from_f64(beta),
            dimension,
            with_ghosts,
        }
    }

    /// On one of several ranks fetches the ghosts of x.
    fn fetch(&mut self, x: &Buffer<F>) {
        if let (Some(halo), Some(with_ghosts)) = (self.cells.halo(), &mut self.with_ghosts) {
            halo.extend(x, with_ghosts);
        }
    }

    /// Sets inertia, `shift` times that given, and with convection the flux.
    pub fn set(&mut self, backend: &Backend, shift: f64, inertia: &Buffer<F>, flux: &Buffer<F>) {
        let (shift, zero, n) = (F::from_f64(shift), F::literal(0.0), self.inertia.len());
        blas::axpby(backend, n, shift, inertia, zero, &mut self.inertia);
        if !self.flux.is_empty() {
            blas::copy(backend, self.flux.len(), flux, &mut self.flux);
        }
    }

    /// The coefficients as kernels read them.
    fn view<'a>(&'a self, backend: &Backend) -> TransportView<'a, F> {
        self.view_with(backend, [self.alpha, self.beta])
    }

    /// The coefficients as kernels read them, with factors α and β of one's own.
    pub fn view_with<'a>(
        &'a self,
        backend: &Backend,
        [alpha, beta]: [F; 2],
    ) -> TransportView<'a, F> {
        let convects = !self.flux.is_empty();
        TransportView {
            neighbours: self.cells.neighbours(backend).view(),
            inertia: self.inertia.view(),
            conductance: self.conductance.view(),
            flux: if convects { self.flux.view() } else { View::absent() },
            alpha,
            beta,
            convects,
        }
    }

    /// `inverse` ← the inverse of the diagonal of W for `dimension` quantities, `[dimension][n_cells]`; the sum of `partials` is
    /// the number of cells whose inertia is less than `least` times the diagonal.
    pub fn inverse_diagonal(
        &self,
        backend: &Backend,
        (least, dimension): (f64, usize),
        inverse: &mut Buffer<F>,
        partials: &mut Partials,
    ) {
        transport_inverse_diagonal(
            backend,
            self.cells.n_cells(),
            &CellFaces::of(&self.cells, View::absent()),
            &self.view(backend),
            F::from_f64(least),
            inverse.len() / dimension,
            dimension,
            inverse,
            partials,
        );
    }
}

impl<F: Real> Operator<F> for TransportOperator<F> {
    fn unknowns(&self) -> usize {
        self.dimension * self.cells.n_cells()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        self.fetch(x);
        let (cells, n) = (CellFaces::of(&self.cells, View::absent()), self.cells.n_cells());
        let x = Quantities::of(self.with_ghosts.as_ref().unwrap_or(x), self.dimension);
        transport_product(backend, n, &cells, &self.view(backend), &x, y.len() / self.dimension, y);
    }

    fn apply_dot(
        &mut self,
        backend: &Backend,
        x: &Buffer<F>,
        y: &mut Buffer<F>,
        partials: &mut Partials,
    ) {
        self.fetch(x);
        let (cells, n) = (CellFaces::of(&self.cells, View::absent()), self.cells.n_cells());
        let x = Quantities::of(self.with_ghosts.as_ref().unwrap_or(x), self.dimension);
        let (of, stride) = (self.view(backend), y.len() / self.dimension);
        transport_product_dot(backend, n, &cells, &of, &x, stride, y, partials);
    }
}

/// Jacobi sweeps from 0 with W. An odd number, so that modes of D⁻¹W near 2 are not lost; W is diagonally dominant, so that
/// sweeps converge.
pub struct TransportSweeps<F: Real> {
    cells: Arc<FaceCells>,
    dimension: usize,
    /// D⁻¹ (D − W): `[items]`.
    coefficients: Buffer<F>,
    /// D⁻¹: `[n_cells]`.
    inverse: Buffer<F>,
    /// Scratch: `[dimension][n_local]`.
    other: Buffer<F>,
    /// The result with room for ghosts, on one of several ranks.
    with_ghosts: Option<Buffer<F>>,
}

/// Pairs of sweeps after the first.
pub(super) const SWEEP_PAIRS: usize = 4;

impl<F: Real> TransportSweeps<F> {
    /// Sweeps for `dimension` quantities, before [`TransportSweeps::update`].
    pub fn new(backend: &Backend, cells: Arc<FaceCells>, dimension: usize) -> Self {
        let n = cells.n_cells();
        TransportSweeps {
            dimension,
            coefficients: backend.zeros(cells.faces.len()),
            inverse: backend.zeros(n),
            other: backend.zeros(dimension * cells.n_local()),
            with_ghosts: cells.halo().map(|halo| halo.zeros(backend, dimension)),
            cells,
        }
    }

    /// Updates the coefficients to those of W.
    pub fn update(&mut self, backend: &Backend, operator: &TransportOperator<F>) {
        let TransportSweeps { cells, coefficients, inverse, .. } = self;
        let of_cells = CellFaces::of(cells, View::absent());
        let (n, of) = (cells.n_cells(), operator.view(backend));
        sweep_coefficients(backend, n, &of_cells, &of, coefficients, inverse);
    }
}

impl<F: Real> Preconditioner<F> for TransportSweeps<F> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<F>, z: &mut Buffer<F>) {
        let TransportSweeps { cells, dimension, coefficients, inverse, other, with_ghosts } = self;
        let (n, dimension) = (cells.n_cells(), *dimension);
        let of = SweepView {
            offsets: cells.offsets.view(),
            neighbours: cells.neighbours(backend).view(),
            coefficients: coefficients.view(),
            inverse: inverse.view(),
        };
        let right = Quantities::of(r, dimension);
        let strides = [z.len(), other.len()].map(|len| len / dimension);
        let Some(own) = with_ghosts else {
            first_sweep(backend, n, inverse, &right, strides[0], z);
            for _ in 0..SWEEP_PAIRS {
                let from = Quantities::of(z, dimension);
                transport_sweep(backend, n, &of, &right, &from, strides[1], other);
                let from = Quantities::of(other, dimension);
                transport_sweep(backend, n, &of, &right, &from, strides[0], z);
            }
            return;
        };
        first_sweep(backend, n, inverse, &right, strides[1], own);
        for pair in 0..SWEEP_PAIRS {
            cells.fetch(&mut [own]);
            let from = Quantities::of(own, dimension);
            transport_sweep(backend, n, &of, &right, &from, strides[1], other);
            cells.fetch(&mut [other]);
            let from = Quantities::of(other, dimension);
            match pair + 1 < SWEEP_PAIRS {
                true => transport_sweep(backend, n, &of, &right, &from, strides[1], own),
                false => transport_sweep(backend, n, &of, &right, &from, strides[0], z),
            }
        }
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn bytes(&self) -> usize {
        let TransportSweeps { coefficients, inverse, other, .. } = self;
        let sweep = coefficients.bytes() + inverse.bytes() + 3 * other.bytes();
        inverse.bytes() + 2 * other.bytes() + 2 * SWEEP_PAIRS * sweep
    }
}
