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
            difference = difference - x.at(j as usize);
        }
        sum += difference * of.coefficient(cells.items[k]);
    }
    sum
}

/// y ← W x of d quantities; the stride of y is that of x. Traffic a cell: 4 + (1 + 2d)s, an item 8, a face s (2s with
/// convection).
#[kernel]
pub fn transport_product<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    x: &Quantities<F>,
    y: &mut Segment<F>,
) {
    let sum = product::<F>(c, cells, of, x);
    store_quantities::<F>(c, sum, x.stride, y, x.dimension);
}

/// [`transport_product()`] with x·y.
#[kernel(reduce(sum))]
pub fn transport_product_dot<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    x: &Quantities<F>,
    y: &mut Segment<F>,
) -> f64 {
    let sum = product::<F>(c, cells, of, x);
    store_quantities::<F>(c, sum, x.stride, y, x.dimension);
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

/// z ← D⁻¹ (b − (W − D) y): a Jacobi sweep. Traffic as [`transport_product()`], a cell d s more.
#[kernel]
pub fn transport_sweep<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    of: &TransportView<F>,
    b: &Quantities<F>,
    y: &Quantities<F>,
    stride: usize,
    z: &mut Segment<F>,
) {
    let mut sum = b.at(c);
    let mut diagonal = of.inertia[c];
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let own = of.coefficient(cells.items[k]);
        diagonal += own;
        let j = of.neighbours[k];
        if is_cell(j) {
            sum += y.at(j as usize) * own;
        }
    }
    store_quantities::<F>(c, sum * (F::literal(1.0) / diagonal), stride, z, y.dimension);
}

/// The coefficients of W on a backend.
struct Coefficients<F: Real> {
    cells: Arc<FaceCells>,
    conductance: Arc<Buffer<F>>,
    /// I: `[n_cells]`.
    inertia: Buffer<F>,
    /// F: `[n_faces]`; empty without convection.
    flux: Buffer<F>,
    alpha: F,
    beta: F,
}

impl<F: Real> Coefficients<F> {
    /// The coefficients as kernels read them, with factors α and β of one's own.
    fn view_with<'a>(&'a self, backend: &Backend, [alpha, beta]: [F; 2]) -> TransportView<'a, F> {
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

    /// The coefficients as kernels read them.
    fn view<'a>(&'a self, backend: &Backend) -> TransportView<'a, F> {
        self.view_with(backend, [self.alpha, self.beta])
    }

    /// See [`TransportOperator::inverse_diagonal`].
    fn inverse_diagonal(
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

/// W on a backend.
pub struct TransportOperator<F: Real> {
    /// Shared with the sweeps of [`TransportSweeps::of`].
    coefficients: Arc<Coefficients<F>>,
    dimension: usize,
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
        let coefficients = Coefficients {
            inertia: backend.zeros(cells.n_cells()),
            flux: backend.zeros(if beta == 0.0 { 0 } else { cells.n_faces() }),
            cells,
            conductance,
            alpha: F::from_f64(alpha),
            beta: F::from_f64(beta),
        };
        TransportOperator { coefficients: Arc::new(coefficients), dimension }
    }

    /// Sets inertia, `shift` times that given, and with convection the flux. The sweeps of the operator are set by
    /// [`TransportSweeps::set`].
    pub fn set(&mut self, backend: &Backend, shift: f64, inertia: &Buffer<F>, flux: &Buffer<F>) {
        let Some(own) = Arc::get_mut(&mut self.coefficients) else {
            unreachable!("sweeps that share the coefficients set them")
        };
        let (shift, zero, n) = (F::from_f64(shift), F::literal(0.0), own.inertia.len());
        blas::axpby(backend, n, shift, inertia, zero, &mut own.inertia);
        if !own.flux.is_empty() {
            blas::copy(backend, own.flux.len(), flux, &mut own.flux);
        }
    }

    /// The coefficients as kernels read them, with factors α and β of one's own.
    pub fn view_with<'a>(&'a self, backend: &Backend, factors: [F; 2]) -> TransportView<'a, F> {
        self.coefficients.view_with(backend, factors)
    }

    /// `inverse` ← the inverse of the diagonal of W for `dimension` quantities, `[dimension][n_cells]`; the sum of `partials` is
    /// the number of cells whose inertia is less than `least` times the diagonal.
    pub fn inverse_diagonal(
        &self,
        backend: &Backend,
        share: (f64, usize),
        inverse: &mut Buffer<F>,
        partials: &mut Partials,
    ) {
        self.coefficients.inverse_diagonal(backend, share, inverse, partials);
    }
}

impl<F: Real> Operator<F> for TransportOperator<F> {
    fn unknowns(&self) -> usize {
        self.dimension * self.coefficients.cells.n_cells()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let (own, x) = (&self.coefficients, Quantities::of(x, self.dimension));
        let cells = CellFaces::of(&own.cells, View::absent());
        transport_product(backend, own.cells.n_cells(), &cells, &own.view(backend), &x, y);
    }

    fn apply_dot(
        &mut self,
        backend: &Backend,
        x: &Buffer<F>,
        y: &mut Buffer<F>,
        partials: &mut Partials,
    ) {
        let (own, x) = (&self.coefficients, Quantities::of(x, self.dimension));
        let cells = CellFaces::of(&own.cells, View::absent());
        let of = own.view(backend);
        transport_product_dot(backend, own.cells.n_cells(), &cells, &of, &x, y, partials);
    }
}

/// Jacobi sweeps from 0 with W. An odd number, so that modes of D⁻¹W near 2 are not lost; W is diagonally dominant, so that
/// sweeps converge.
pub struct TransportSweeps<F: Real> {
    /// Those of the operator; none while it sets them.
    coefficients: Option<Arc<Coefficients<F>>>,
    dimension: usize,
    /// D⁻¹: `[n_cells]`.
    inverse: Buffer<F>,
    /// Scratch: `[dimension][n_cells]`.
    other: Buffer<F>,
    partials: Partials,
}

/// Pairs of sweeps after the first.
const SWEEP_PAIRS: usize = 2;

impl<F: Real> TransportSweeps<F> {
    /// The sweeps of an operator, whose coefficients they share.
    pub fn of(backend: &Backend, operator: &TransportOperator<F>) -> Self {
        let (n, unknowns) = (operator.coefficients.cells.n_cells(), operator.unknowns());
        TransportSweeps {
            coefficients: Some(operator.coefficients.clone()),
            dimension: operator.dimension,
            inverse: backend.zeros(n),
            other: backend.zeros(unknowns),
            partials: Partials::new(backend, n, 1),
        }
    }

    /// Sets the operator of these sweeps as [`TransportOperator::set`] does, and updates D⁻¹.
    pub fn set(
        &mut self,
        operator: &mut TransportOperator<F>,
        backend: &Backend,
        shift: f64,
        inertia: &Buffer<F>,
        flux: &Buffer<F>,
    ) {
        self.coefficients = None;
        operator.set(backend, shift, inertia, flux);
        operator.inverse_diagonal(backend, (0.0, 1), &mut self.inverse, &mut self.partials);
        self.coefficients = Some(operator.coefficients.clone());
    }
}

impl<F: Real> Preconditioner<F> for TransportSweeps<F> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<F>, z: &mut Buffer<F>) {
        let TransportSweeps { coefficients, dimension, inverse, other, .. } = self;
        let Some(coefficients) = coefficients else { unreachable!("set before") };
        let (n, dimension) = (coefficients.cells.n_cells(), *dimension);
        let cells = CellFaces::of(&coefficients.cells, View::absent());
        let of = coefficients.view(backend);
        let right = Quantities::of(r, dimension);
        let strides = [z.len(), other.len()].map(|len| len / dimension);
        first_sweep(backend, n, inverse, &right, strides[0], z);
        for _ in 0..SWEEP_PAIRS {
            let from = Quantities::of(z, dimension);
            transport_sweep(backend, n, &cells, &of, &right, &from, strides[1], other);
            let from = Quantities::of(other, dimension);
            transport_sweep(backend, n, &cells, &of, &right, &from, strides[0], z);
        }
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn bytes(&self) -> usize {
        let own = self
            .coefficients
            .as_ref()
            .map_or(0, |own| own.inertia.bytes() + own.flux.bytes() + own.conductance.bytes());
        3 * self.inverse.bytes() + 2 * SWEEP_PAIRS * (own + 4 * self.inverse.bytes())
    }
}
