//! Polynomials of cells on a backend: coefficients from the means of stencils, values at points.
//!
//! Stencils are compressed rows on the host, with the weights of an item side by side; on a device sliced rows, with one array
//! a coefficient, so that the threads of a plane read consecutive numbers. Padding has the cell itself and weights 0.
#![allow(missing_docs)] // on the modules that the attributes make
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::stencil::Stencils;
use crate::backend::{Backend, Buffer, Local, Segment, View};
use crate::compressible::share::{BATCH, MOST_DIFFERENCES, Part, Share, share_of};
use crate::compressible::state::{Conserved, States, VARIABLES};
use crate::finite_volume::{component_major, narrow, narrow_slice};
use crate::linear::{Layout, SLICE};
use crate::mesh::adjacency::{fill_rows, offsets_of};
use crate::mesh::quadrature::CellMoments;
use crate::real::{Real, Vec3, convert};
use karman_backend::prelude::*;
use karman_macros::Keyword;
use rayon::prelude::*;

/// Most coefficients of the polynomials of all variables.
const MOST_COEFFICIENTS: usize = 9 * VARIABLES;

/// Stencils as kernels read them, with weights stored in `S`.
#[derive(Group, Clone, Copy)]
pub struct StencilView<'a, S: Real> {
    /// First item of each cell, or of each slice of cells.
    pub offsets: View<'a, u32>,
    /// Cells of the items.
    pub cells: View<'a, u32>,
    /// Weights: `[items][terms]` in compressed rows, `[terms][items]` in slices.
    pub weights: View<'a, S>,
    /// Number of items, padding included.
    pub items: usize,
    /// Number of coefficients without the value at the centroid: 0, 2, 3, 5 or 9.
    #[comptime]
    pub terms: usize,
    /// The storage layout.
    #[comptime]
    pub layout: Layout,
}

#[device]
impl<S: Real> StencilView<'_, S> {
    /// Place of the first item of a cell, and the end of its items.
    #[inline(always)]
    pub fn row(&self, c: usize) -> (usize, usize) {
        let mut group = c;
        let mut lane = 0usize;
        if comptime!(self.layout == Layout::SlicedEll) {
            group = c / comptime!(SLICE);
            lane = c % comptime!(SLICE);
        }
        (self.offsets[group] as usize + lane, self.offsets[group + 1] as usize)
    }

    /// Weight of the item at place `k` in row `term`.
    #[inline(always)]
    pub fn weight_of<F: Real>(&self, k: usize, term: usize, #[comptime] terms: usize) -> F {
        let mut place = k * terms + term;
        if comptime!(self.layout == Layout::SlicedEll) {
            place = term * self.items + k;
        }
        convert::<S, F>(self.weights[place])
    }
}

/// Stencils on a backend.
pub struct StencilsOnBackend<S: Real> {
    offsets: Buffer<u32>,
    cells: Buffer<u32>,
    weights: Buffer<S>,
    terms: usize,
    layout: Layout,
}

impl<S: Real> StencilsOnBackend<S> {
    /// The stencils in the layout that suits a backend.
    pub fn new(backend: &Backend, stencils: &Stencils) -> Self {
        Self::of_cells(backend, stencils, None)
    }

    /// As [`StencilsOnBackend::new`]; on the host arrays are moved.
    fn of(backend: &Backend, stencils: Stencils) -> Self {
        let layout = Layout::of(backend);
        if layout == Layout::SlicedEll {
            return Self::new(backend, &stencils);
        }
        let Stencils { offsets, cells, weights, terms, .. } = stencils;
        StencilsOnBackend {
            offsets: backend.upload(offsets),
            cells: backend.upload(cells),
            weights: narrow(backend, weights),
            terms,
            layout,
        }
    }

    /// The stencils of the cells `own`, in the layout that suits a backend; without a list, of all cells.
    pub fn of_cells(backend: &Backend, stencils: &Stencils, own: Option<&[u32]>) -> Self {
        let layout = Layout::of(backend);
        let Stencils { offsets, cells, weights, terms, .. } = stencils;
        let (offsets, cells, weights) = match layout {
            Layout::Csr => (
                backend.upload_slice(offsets),
                backend.upload_slice(cells),
                narrow_slice(backend, weights),
            ),
            Layout::SlicedEll => {
                let (offsets, cells, weights) = sliced(stencils, own);
                (backend.upload(offsets), backend.upload(cells), backend.upload(weights))
            }
        };
        StencilsOnBackend { offsets, cells, weights, terms: *terms, layout }
    }

    /// The stencils without weights.
    pub fn cells_alone<F: Real>(&self) -> StencilView<'_, F> {
        StencilView {
            offsets: self.offsets.view(),
            cells: self.cells.view(),
            weights: View::absent(),
            items: self.cells.len(),
            terms: self.terms,
            layout: self.layout,
        }
    }

    /// The stencils as kernels read them.
    pub fn view(&self) -> StencilView<'_, S> {
        StencilView {
            offsets: self.offsets.view(),
            cells: self.cells.view(),
            weights: self.weights.view(),
            items: self.cells.len(),
            terms: self.terms,
            layout: self.layout,
        }
    }

    /// Number of coefficients without the value at the centroid.
    pub fn terms(&self) -> usize {
        self.terms
    }
}

/// Precision that weights are stored in; sums have that of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Keyword)]
pub enum WeightPrecision {
    /// Of the flow.
    #[word = "same"]
    Same,
    /// Single: half the traffic of a flow in double precision, differences to 1e-7 of a mean's change over a stencil.
    #[word = "f32"]
    Single,
}

/// Stencils with weights in the precision of the flow or in single precision.
pub enum AnyStencils<F: Real> {
    /// Of the flow.
    Same(StencilsOnBackend<F>),
    /// Single.
    Single(StencilsOnBackend<f32>),
}

impl<F: Real> AnyStencils<F> {
    /// The stencils of the cells `own` on a backend; without a list, of all cells.
    pub fn new(
        backend: &Backend,
        stencils: &Stencils,
        own: Option<&[u32]>,
        precision: WeightPrecision,
    ) -> Self {
        match precision {
            WeightPrecision::Same => {
                AnyStencils::Same(StencilsOnBackend::of_cells(backend, stencils, own))
            }
            WeightPrecision::Single => {
                AnyStencils::Single(StencilsOnBackend::of_cells(backend, stencils, own))
            }
        }
    }

    /// The stencils of all cells on a backend; on the host arrays are moved.
    pub fn of(backend: &Backend, stencils: Stencils, precision: WeightPrecision) -> Self {
        match precision {
            WeightPrecision::Same => AnyStencils::Same(StencilsOnBackend::of(backend, stencils)),
            WeightPrecision::Single => {
                AnyStencils::Single(StencilsOnBackend::of(backend, stencils))
            }
        }
    }

    /// Number of rows of weights.
    pub fn terms(&self) -> usize {
        match self {
            AnyStencils::Same(stencils) => stencils.terms,
            AnyStencils::Single(stencils) => stencils.terms,
        }
    }

    /// The stencils without weights.
    pub fn cells_alone(&self) -> StencilView<'_, F> {
        match self {
            AnyStencils::Same(stencils) => stencils.cells_alone(),
            AnyStencils::Single(stencils) => stencils.cells_alone(),
        }
    }

    /// Coefficients of the polynomials of all `n` cells.
    pub fn reconstruct(
        &self,
        backend: &Backend,
        n: usize,
        second: &Buffer<F>,
        q: &States<'_, F>,
        coefficients: &mut Buffer<F>,
    ) {
        let share = if backend.device().is_none() { Share::Cell } else { Share::HalfPairs };
        let threads = share.threads(n);
        match self {
            AnyStencils::Same(s) => {
                reconstruct(backend, threads, n, &s.view(), second, q, share, coefficients);
            }
            AnyStencils::Single(s) => {
                reconstruct(backend, threads, n, &s.view(), second, q, share, coefficients);
            }
        }
    }
}

/// Slices that a task fills.
const SLICES: usize = 32;

/// Offsets of slices, cells and weights `[terms][items]`, padded with the cell itself and weights 0.
fn sliced<S: Real>(stencils: &Stencils, own: Option<&[u32]>) -> (Vec<u32>, Vec<u32>, Vec<S>) {
    let Stencils { offsets, cells, weights, terms, .. } = stencils;
    let n = offsets.len() - 1;
    let rows = |slice: usize| slice * SLICE..((slice + 1) * SLICE).min(n);
    let length = |c: usize| (offsets[c + 1] - offsets[c]) as usize;
    let starts = offsets_of(n.div_ceil(SLICE), |slice| {
        rows(slice).map(length).max().unwrap_or(0).next_multiple_of(BATCH) * SLICE
    });
    let items = starts[starts.len() - 1] as usize;
    let (mut list, mut values) = (vec![0; items], vec![S::from_f64(0.0); terms * items]);
    fill_rows(&starts, &mut list, |slice, entries| {
        for (k, entry) in entries.iter_mut().enumerate() {
            let row = (slice * SLICE + k % SLICE).min(n - 1);
            *entry = own.map_or(row as u32, |cells| cells[row]);
        }
        for (lane, c) in rows(slice).enumerate() {
            for k in 0..length(c) {
                entries[lane + k * SLICE] = cells[offsets[c] as usize + k];
            }
        }
    });
    // The numbers of some slices in each row of weights.
    let mut rest: Vec<&mut [S]> = values.chunks_mut(items.max(1)).collect();
    let tasks = (0..starts.len() - 1).step_by(SLICES).map(|first| {
        let slices = first..(first + SLICES).min(starts.len() - 1);
        let count = (starts[slices.end] - starts[slices.start]) as usize;
        let of_slices = rest.iter_mut().map(|row| row.split_off_mut(..count).unwrap_or_default());
        (slices, of_slices.collect::<Vec<_>>())
    });
    let tasks: Vec<_> = tasks.collect();
    tasks.into_par_iter().for_each(|(slices, mut of_terms)| {
        let begin = starts[slices.start];
        for c in slices.flat_map(rows) {
            let first = (starts[c / SLICE] - begin) as usize + c % SLICE;
            for k in 0..length(c) {
                let of_item = &weights[(offsets[c] as usize + k) * terms..][..*terms];
                for (row, weight) in of_terms.iter_mut().zip(of_item) {
                    row[first + k * SLICE] = S::from_f64(*weight);
                }
            }
        }
    });
    (starts, list, values)
}

/// Derivatives of the conserved variables along x, y and z.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateGradient<F: Real> {
    /// ∂q/∂x.
    pub x: Conserved<F>,
    /// ∂q/∂y.
    pub y: Conserved<F>,
    /// ∂q/∂z.
    pub z: Conserved<F>,
}

/// Polynomials of cells, values at the centroids first, then x, y, z, xx, xy, xz, yy, yz, zz as far as the dimension and the degree
/// have them: `[n_cells][1 + terms][5]` on the host, so that a cell's numbers are side by side, `[1 + terms][5][stride]` on a device.
/// Constants have no array.
#[derive(Group, Clone, Copy)]
pub struct Polynomials<'a, F: Real> {
    /// Values and coefficients.
    pub coefficients: View<'a, F>,
    /// Means: `[5][stride]`.
    pub means: View<'a, F>,
    /// Distance between the components of a cell in the array.
    pub stride: usize,
    /// Number of coefficients.
    #[comptime]
    pub terms: usize,
    /// The storage layout.
    #[comptime]
    pub layout: Layout,
}

/// Place of coefficient `m` of cell `c` of the first variable, and the distance to the next variable.
#[device]
#[inline(always)]
pub(in crate::compressible) fn place_of(
    c: usize,
    m: usize,
    stride: usize,
    #[comptime] terms: usize,
    #[comptime] layout: Layout,
) -> (usize, usize) {
    let mut first = (c * comptime!(terms + 1) + m) * comptime!(VARIABLES);
    let mut step = 1usize;
    if comptime!(layout == Layout::SlicedEll) {
        first = m * comptime!(VARIABLES) * stride + c;
        step = stride;
    }
    (first, step)
}

#[device]
impl<F: Real> Polynomials<'_, F> {
    /// Coefficient number `m` of cell `c`, 0 the value at the centroid.
    #[inline(always)]
    fn coefficient(&self, c: usize, m: usize) -> Conserved<F> {
        let terms = comptime!(self.terms);
        let (first, step) = place_of(c, m, self.stride, terms, comptime!(self.layout));
        Conserved::<F>::at(&self.coefficients, first, step)
    }

    /// Coefficient number `m` of the density of cell `c`.
    #[inline(always)]
    fn of_density(&self, c: usize, m: usize) -> F {
        let terms = comptime!(self.terms);
        let (first, _step) = place_of(c, m, self.stride, terms, comptime!(self.layout));
        self.coefficients[first]
    }

    /// The mean of cell `c`.
    #[inline(always)]
    pub fn mean(&self, c: usize) -> Conserved<F> {
        Conserved::<F>::at(&self.means, c, self.stride)
    }

    /// The gradient of cell `c`'s polynomial at `d` from its centroid.
    #[inline(always)]
    pub fn gradient(&self, c: usize, d: Vec3<F>) -> StateGradient<F> {
        let terms = comptime!(self.terms);
        let mut x = Conserved::<F>::zero();
        let mut y = Conserved::<F>::zero();
        let mut z = Conserved::<F>::zero();
        if comptime!(terms > 0) {
            x = self.coefficient(c, 1usize);
            y = self.coefficient(c, 2usize);
        }
        if comptime!(terms == 3 || terms == 9) {
            z = self.coefficient(c, 3usize);
        }
        if comptime!(terms == 5) {
            let xy = self.coefficient(c, 4usize);
            x += self.coefficient(c, 3usize) * (2.0 * d.x) + xy * d.y;
            y += self.coefficient(c, 5usize) * (2.0 * d.y) + xy * d.x;
        }
        if comptime!(terms == 9) {
            let xy = self.coefficient(c, 5usize);
            let xz = self.coefficient(c, 6usize);
            let yz = self.coefficient(c, 8usize);
            x += self.coefficient(c, 4usize) * (2.0 * d.x) + xy * d.y + xz * d.z;
            y += self.coefficient(c, 7usize) * (2.0 * d.y) + xy * d.x + yz * d.z;
            z += self.coefficient(c, 9usize) * (2.0 * d.z) + xz * d.x + yz * d.y;
        }
        StateGradient::<F> { x, y, z }
    }

    /// ∇²ρ / 2 of cell `c`; 0 of a linear polynomial.
    #[inline(always)]
    pub fn curvature(&self, c: usize) -> F {
        let terms = comptime!(self.terms);
        let mut sum = F::literal(0.0);
        if comptime!(terms == 5) {
            sum = self.of_density(c, 3usize) + self.of_density(c, 5usize);
        }
        if comptime!(terms == 9) {
            sum = self.of_density(c, 4usize)
                + self.of_density(c, 7usize)
                + self.of_density(c, 9usize);
        }
        sum
    }

    /// The value of cell `c`'s polynomial at `d` from its centroid.
    #[inline(always)]
    pub fn at_offset(&self, c: usize, d: Vec3<F>) -> Conserved<F> {
        let terms = comptime!(self.terms);
        let mut q = Conserved::<F>::zero();
        if comptime!(terms == 0) {
            q = self.mean(c);
        } else {
            q = self.coefficient(c, 0usize);
            q += self.coefficient(c, 1usize) * d.x + self.coefficient(c, 2usize) * d.y;
        }
        if comptime!(terms == 3 || terms == 9) {
            q += self.coefficient(c, 3usize) * d.z;
        }
        if comptime!(terms == 5) {
            q += self.coefficient(c, 3usize) * (d.x * d.x)
                + self.coefficient(c, 4usize) * (d.x * d.y)
                + self.coefficient(c, 5usize) * (d.y * d.y);
        }
        if comptime!(terms == 9) {
            q += self.coefficient(c, 4usize) * (d.x * d.x)
                + self.coefficient(c, 5usize) * (d.x * d.y)
                + self.coefficient(c, 6usize) * (d.x * d.z)
                + self.coefficient(c, 7usize) * (d.y * d.y)
                + self.coefficient(c, 8usize) * (d.y * d.z)
                + self.coefficient(c, 9usize) * (d.z * d.z);
        }
        q
    }
}

impl<'a, F: Real> Polynomials<'a, F> {
    /// Polynomials that a kernel does not read.
    pub fn absent() -> Self {
        let none = View::absent();
        Polynomials { coefficients: none, means: none, stride: 0, terms: 0, layout: Layout::Csr }
    }

    /// The polynomials of a buffer.
    pub fn of(coefficients: &'a Buffer<F>, means: &'a Buffer<F>, terms: usize) -> Self {
        let stride = means.len() / VARIABLES;
        let layout = if means.is_on_host() { Layout::Csr } else { Layout::SlicedEll };
        let coefficients = if terms > 0 { coefficients.view() } else { View::absent() };
        Polynomials { coefficients, means: means.view(), stride, terms, layout }
    }
}

/// Second moments of cells: `[6][n_cells]`, on a backend.
pub fn second_moments<F: Real>(backend: &Backend, moments: &CellMoments) -> Buffer<F> {
    narrow(backend, component_major(&moments.second))
}

/// The coefficients of the variables of `part` of the polynomial of a cell.
#[device]
#[inline(always)]
fn put_coefficients<F: Real, S: Real>(
    c: usize,
    stencil: &StencilView<'_, S>,
    second: &View<'_, F>,
    q: &States<'_, F>,
    coefficients: &mut Segment<F>,
    #[comptime] terms: usize,
    #[comptime] part: Part,
) {
    let count = comptime!(part.count);
    let variable = comptime!(part.first);
    let batch = comptime!(part.batch);
    let layout = comptime!(stencil.layout);
    let item = comptime!(spacing(stencil.layout));
    let n = q.stride;
    let mut own = Local::<F, VARIABLES>::zeros();
    #[unroll]
    for v in 0..count {
        own[v] = q.values[(variable + v) * n + c];
    }
    let mut sums = Local::<F, MOST_COEFFICIENTS>::zeros();
    let (first, end) = stencil.row(c);
    let mut k = first;
    while k < end {
        let mut d = Local::<F, MOST_DIFFERENCES>::zeros();
        #[unroll]
        for u in 0..batch {
            let j = stencil.cells[k + u * item] as usize;
            #[unroll]
            for v in 0..count {
                d[u * VARIABLES + v] = q.values[(variable + v) * n + j] - own[v];
            }
        }
        #[unroll]
        for u in 0..batch {
            #[unroll]
            for m in 0..terms {
                let w = stencil.weight_of::<F>(k + u * item, m, terms);
                #[unroll]
                for v in 0..count {
                    sums[m * VARIABLES + v] += d[u * VARIABLES + v] * w;
                }
            }
        }
        k += batch * item;
    }
    #[unroll]
    for v in 0..count {
        let mut value = own[v];
        if comptime!(terms == 5) {
            value -= sums[2 * VARIABLES + v] * second[c]
                + sums[3 * VARIABLES + v] * second[n + c]
                + sums[4 * VARIABLES + v] * second[3 * n + c];
        }
        if comptime!(terms == 9) {
            #[unroll]
            for m in 0..6 {
                value -= sums[(m + 3) * VARIABLES + v] * second[m * n + c];
            }
        }
        let (at, step) = place_of(c, 0usize, n, terms, layout);
        coefficients[at + (variable + v) * step] = value;
        #[unroll]
        for m in 0..terms {
            let (at, step) = place_of(c, m + 1, n, terms, layout);
            coefficients[at + (variable + v) * step] = sums[m * VARIABLES + v];
        }
    }
}

/// The coefficients of the variables of a share.
#[device]
#[inline(always)]
fn put_share<F: Real, S: Real>(
    c: usize,
    part: usize,
    stencil: &StencilView<'_, S>,
    second: &View<'_, F>,
    q: &States<'_, F>,
    coefficients: &mut Segment<F>,
    #[comptime] terms: usize,
    #[comptime] share: Share,
) {
    if part == 0 {
        put_coefficients::<F, S>(
            c,
            stencil,
            second,
            q,
            coefficients,
            terms,
            comptime!(share.part(0)),
        );
    } else if comptime!(share != Share::Cell) {
        put_coefficients::<F, S>(
            c,
            stencil,
            second,
            q,
            coefficients,
            terms,
            comptime!(share.part(1)),
        );
    }
}

/// Coefficients of the polynomials of `n` cells: a = Σ_j w_j (q̄_j − q̄), and their values at the centroids, q̄ − Σ a_m g_m; thread `i`
/// has a share of a cell.
///
/// Traffic a cell: 40 of its mean, once for each cell, 48 of second moments, 40 (1 + terms) of results; an item
/// 4 + s terms with weights of `s` bytes. 2 · 5 · terms operations an item. With two threads a cell list and weights are read twice,
/// from memory once.
#[kernel(
    specialize(share = Share::Cell, stencil.layout = Layout::Csr, stencil.terms = 9),
    specialize(share = Share::Cell, stencil.layout = Layout::Csr)
)]
pub fn reconstruct<F: Real, S: Real>(
    i: usize,
    n: usize,
    stencil: &StencilView<S>,
    second: &View<F>,
    q: &States<F>,
    #[comptime] share: Share,
    coefficients: &mut Segment<F>,
) {
    let terms = comptime!(stencil.terms);
    let (c, part) = share_of(i, share);
    if c < n {
        if comptime!(terms == 2) {
            put_share::<F, S>(c, part, stencil, second, q, coefficients, 2usize, share);
        } else if comptime!(terms == 3) {
            put_share::<F, S>(c, part, stencil, second, q, coefficients, 3usize, share);
        } else if comptime!(terms == 5) {
            put_share::<F, S>(c, part, stencil, second, q, coefficients, 5usize, share);
        } else {
            put_share::<F, S>(c, part, stencil, second, q, coefficients, 9usize, share);
        }
    }
}

/// Distance between the items of a row.
pub(in crate::compressible) const fn spacing(layout: Layout) -> usize {
    match layout {
        Layout::Csr => 1,
        Layout::SlicedEll => SLICE,
    }
}
