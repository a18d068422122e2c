//! Kernels of the fused residual: traces of cells at the points of their faces, and fluxes between traces.
//!
//! A cell writes the values of its polynomial at the points of its faces, each to a place of its own; a face reads both sides of
//! its points. With weights of values (rows) the value of point p is q̄ + Σ_j w_pj (q̄_j − q̄); else the coefficients of the
//! polynomial stay in registers.
#![allow(missing_docs)] // on the modules that the attributes make
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use crate::backend::{Local, Segment, View};
use crate::compressible::face_points::FacePoints;
use crate::compressible::flux::{FluxForm, NumericalFlux, Side, flux_between};
use crate::compressible::limiter::{
    Limiter, first_factors, least, least_factors, lower, squared_scale, squared_scales, upper,
};
use crate::compressible::reconstruction::polynomial::{StateGradient, StencilView, spacing};
use crate::compressible::residual::{GasView, Trace, boundary_flux, bounded};
use crate::compressible::share::{MOST_DIFFERENCES, Part, Share, share_of};
use crate::compressible::state::{Conserved, States, VARIABLES};
use crate::finite_volume::Vectors;
use crate::linear::Layout;
use crate::mesh::SIGN_BIT;
use crate::operators::incidence::without_sign;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Most rows of weights of a cell: four triangles of three points.
pub(super) const MOST_ROWS: usize = 12;

/// Those of all variables.
const MOST_SUMS: usize = VARIABLES * MOST_ROWS;

/// Most coefficients of a polynomial.
const MOST_TERMS: usize = 9;

/// Places of the points of faces in arrays of traces: point j of face f has the place j n_faces + f where all faces have equally
/// many, else that of the rule.
#[derive(Group, Clone, Copy)]
pub(super) struct TracePlaces<'a, F: Real> {
    /// The rule of the faces.
    pub points: FacePoints<'a, F>,
    /// Number of faces.
    pub n_faces: usize,
    /// Distance between the variables of a trace in the array.
    pub stride: usize,
}

#[device]
impl<F: Real> TracePlaces<'_, F> {
    /// Place of point `j` of face `f`, `k` in the order of the rule.
    #[inline(always)]
    fn place(&self, f: usize, j: usize, k: usize) -> usize {
        let mut place = k;
        if comptime!(self.points.per_face > 0) {
            place = j * self.n_faces + f;
        }
        place
    }
}

/// The sides of cells that traces are written to, and their bounds.
#[derive(Group, Clone, Copy)]
pub(super) struct CellSides<'a, F: Real> {
    /// First item of each cell: `[n_cells + 1]`.
    pub offsets: View<'a, u32>,
    /// Faces, the sign in the top bit.
    pub items: View<'a, u32>,
    /// Places of traces.
    pub places: TracePlaces<'a, F>,
    /// Second moments of cells: `[6][n_cells]`.
    pub second: View<'a, F>,
    /// Softness of Venkatakrishnan's limiter: `[n_cells]`.
    pub softness: View<'a, F>,
    /// γ.
    pub gamma: F,
    /// The limiter of all cells.
    #[comptime]
    pub limiter: Limiter,
    /// Whether traces are bounded.
    #[comptime]
    pub bounds_traces: bool,
}

#[device]
impl<F: Real> CellSides<'_, F> {
    /// The place of the density of a trace on the side of `item` of the point at `place`.
    #[inline(always)]
    fn on_side(&self, item: u32, place: usize) -> usize {
        let mut first = place;
        if item >= comptime!(SIGN_BIT) {
            first += comptime!(VARIABLES) * self.places.stride;
        }
        first
    }

    /// Writes the trace q̄ + φ δ of cell `c` on its side of a point.
    #[inline(always)]
    fn put(
        &self,
        own: Conserved<F>,
        change: Conserved<F>,
        item: u32,
        place: usize,
        traces: &mut Segment<F>,
    ) {
        let mut state = own + change;
        if comptime!(self.bounds_traces) {
            state = bounded::<F>(state, own, self.gamma);
        }
        Conserved::<F>::put(state, traces, self.on_side(item, place), self.places.stride);
    }

    /// The lesser of φ and the factor of variable `variable` of cell `c` at a point with the value `own` + `change`, whose means around lie
    /// between `low` and `high`.
    #[inline(always)]
    fn least(
        &self,
        phi: F,
        change: F,
        own: F,
        low: F,
        high: F,
        q: &States<'_, F>,
        c: usize,
        variable: usize,
    ) -> F {
        let smooth = comptime!(self.limiter == Limiter::Venkatakrishnan);
        let mut softness = F::literal(0.0);
        if smooth {
            let energy = q.values[comptime!(VARIABLES - 1) * q.stride + c];
            softness = squared_scale::<F>(self.softness[c], q.values[c], energy, variable);
        }
        least::<F>(phi, own + change, own, low, high, softness, smooth)
    }
}

/// φ δ, variable by variable.
#[device]
#[inline(always)]
fn scaled<F: Real>(delta: Conserved<F>, phi: Conserved<F>) -> Conserved<F> {
    Conserved::<F> {
        density: delta.density * phi.density,
        momentum_x: delta.momentum_x * phi.momentum_x,
        momentum_y: delta.momentum_y * phi.momentum_y,
        momentum_z: delta.momentum_z * phi.momentum_z,
        energy: delta.energy * phi.energy,
    }
}

/// All variables.
#[device]
#[inline(always)]
fn state_of<F: Real>(values: Local<F, VARIABLES>) -> Conserved<F> {
    Conserved::<F> {
        density: values[0],
        momentum_x: values[1],
        momentum_y: values[2],
        momentum_z: values[3],
        energy: values[4],
    }
}

/// The traces of `count` variables from `first` on of a cell by `rows` rows of weights, all faces having equally many points; `batch`
/// items of its stencil at a time.
#[device]
#[inline(always)]
fn put_rows<F: Real, S: Real>(
    position: usize,
    c: usize,
    stencil: &StencilView<'_, S>,
    q: &States<'_, F>,
    cell: &CellSides<'_, F>,
    traces: &mut Segment<F>,
    #[comptime] rows: usize,
    #[comptime] part: Part,
) {
    let limits = comptime!(cell.limiter != Limiter::None);
    let count = comptime!(part.count);
    let variable = comptime!(part.first);
    let batch = comptime!(part.batch);
    let step = comptime!(spacing(stencil.layout));
    let n = q.stride;
    // An array of a device is assigned by reference.
    let mut own = Local::<F, VARIABLES>::zeros();
    let mut low = Local::<F, VARIABLES>::zeros();
    let mut high = Local::<F, VARIABLES>::zeros();
    #[unroll]
    for v in 0..count {
        own[v] = q.values[(variable + v) * n + c];
        low[v] = own[v];
        high[v] = own[v];
    }
    let mut sums = Local::<F, MOST_SUMS>::zeros();
    let (begin, end) = stencil.row(position);
    let mut k = begin;
    while k < end {
        let mut d = Local::<F, MOST_DIFFERENCES>::zeros();
        #[unroll]
        for u in 0..batch {
            let j = stencil.cells[k + u * step] as usize;
            #[unroll]
            for v in 0..count {
                let value = q.values[(variable + v) * n + j];
                if limits {
                    low[v] = low[v].min(value);
                    high[v] = high[v].max(value);
                }
                d[u * VARIABLES + v] = value - own[v];
            }
        }
        #[unroll]
        for u in 0..batch {
            #[unroll]
            for p in 0..rows {
                let w = stencil.weight_of::<F>(k + u * step, p, rows);
                #[unroll]
                for v in 0..count {
                    sums[p * VARIABLES + v] += d[u * VARIABLES + v] * w;
                }
            }
        }
        k += batch * step;
    }
    let mut phi = Local::<F, VARIABLES>::zeros();
    #[unroll]
    for v in 0..count {
        phi[v] = F::literal(1.0);
        if limits {
            #[unroll]
            for p in 0..rows {
                let change = sums[p * VARIABLES + v];
                phi[v] = cell.least(phi[v], change, own[v], low[v], high[v], q, c, variable + v);
            }
        }
    }
    let per_face = comptime!(cell.places.points.per_face);
    let first_item = cell.offsets[c] as usize;
    #[unroll]
    for p in 0..rows {
        let item = cell.items[first_item + p / per_face];
        let place = p % per_face * cell.places.n_faces + without_sign(item);
        if comptime!(count == VARIABLES) {
            let mut change = Local::<F, VARIABLES>::zeros();
            #[unroll]
            for v in 0..count {
                change[v] = sums[p * VARIABLES + v] * phi[v];
            }
            cell.put(state_of::<F>(own), state_of::<F>(change), item, place, traces);
        } else {
            let at = cell.on_side(item, place);
            #[unroll]
            for v in 0..count {
                traces[at + (variable + v) * cell.places.stride] =
                    own[v] + sums[p * VARIABLES + v] * phi[v];
            }
        }
    }
}

/// The traces of the variables of a share, as [`put_rows`].
#[device]
#[inline(always)]
fn put_share<F: Real, S: Real>(
    position: usize,
    c: usize,
    part: usize,
    stencil: &StencilView<'_, S>,
    q: &States<'_, F>,
    cell: &CellSides<'_, F>,
    traces: &mut Segment<F>,
    #[comptime] rows: usize,
    #[comptime] share: Share,
) {
    if part == 0 {
        put_rows::<F, S>(position, c, stencil, q, cell, traces, rows, comptime!(share.part(0)));
    } else if comptime!(share != Share::Cell) {
        put_rows::<F, S>(position, c, stencil, q, cell, traces, rows, comptime!(share.part(1)));
    }
}

/// Traces of the `n` cells of a list at the points of their faces, by rows of weights, `stencil.terms` of them; thread `i` has a share of
/// a cell.
///
/// Traffic a cell: 8 + 40 and 4 + 40 a point of results, an item 4 + s rows with weights of s bytes (f64). 10 rows operations an item.
/// With two threads a cell, list and weights are read twice, from memory once.
#[kernel(
    specialize(share = Share::Cell, stencil.layout = Layout::Csr, stencil.terms = 4, cell.places.points.per_face = 1, cell.limiter = Limiter::None, cell.bounds_traces = false),
    specialize(share = Share::Cell, stencil.layout = Layout::Csr, stencil.terms = 12, cell.places.points.per_face = 3, cell.limiter = Limiter::None, cell.bounds_traces = false),
    specialize(share = Share::Cell, stencil.layout = Layout::Csr)
)]
pub(super) fn traces_by_rows<F: Real, S: Real>(
    i: usize,
    n: usize,
    cells: &View<u32>,
    stencil: &StencilView<S>,
    q: &States<F>,
    cell: &CellSides<F>,
    #[comptime] share: Share,
    traces: &mut Segment<F>,
) {
    let rows = comptime!(stencil.terms);
    let (at, part) = share_of(i, share);
    if at < n {
        let c = cells[at] as usize;
        if comptime!(rows == 3) {
            put_share::<F, S>(at, c, part, stencil, q, cell, traces, 3usize, share);
        } else if comptime!(rows == 4) {
            put_share::<F, S>(at, c, part, stencil, q, cell, traces, 4usize, share);
        } else if comptime!(rows == 5) {
            put_share::<F, S>(at, c, part, stencil, q, cell, traces, 5usize, share);
        } else if comptime!(rows == 6) {
            put_share::<F, S>(at, c, part, stencil, q, cell, traces, 6usize, share);
        } else {
            put_share::<F, S>(at, c, part, stencil, q, cell, traces, 12usize, share);
        }
    }
}

/// φ_m(d) − mean of φ_m over a cell of second moments g.
#[device]
#[inline(always)]
fn basis_at<F: Real>(
    d: Vec3<F>,
    c: usize,
    n: usize,
    second: &View<F>,
    #[comptime] terms: usize,
) -> Local<F, MOST_TERMS> {
    let mut basis = Local::<F, MOST_TERMS>::zeros();
    basis[0] = d.x;
    basis[1] = d.y;
    if comptime!(terms == 3 || terms == 9) {
        basis[2] = d.z;
    }
    if comptime!(terms == 5) {
        basis[2] = d.x * d.x - second[c];
        basis[3] = d.x * d.y - second[n + c];
        basis[4] = d.y * d.y - second[3 * n + c];
    }
    if comptime!(terms == 9) {
        basis[3] = d.x * d.x - second[c];
        basis[4] = d.x * d.y - second[n + c];
        basis[5] = d.x * d.z - second[2 * n + c];
        basis[6] = d.y * d.y - second[3 * n + c];
        basis[7] = d.y * d.z - second[4 * n + c];
        basis[8] = d.z * d.z - second[5 * n + c];
    }
    basis
}

/// p(x) − q̄ of the coefficients of a polynomial.
#[device]
#[inline(always)]
fn change_at<F: Real>(
    basis: Local<F, MOST_TERMS>,
    density: Local<F, MOST_TERMS>,
    momentum_x: Local<F, MOST_TERMS>,
    momentum_y: Local<F, MOST_TERMS>,
    momentum_z: Local<F, MOST_TERMS>,
    energy: Local<F, MOST_TERMS>,
    #[comptime] terms: usize,
) -> Conserved<F> {
    let mut change = Conserved::<F>::zero();
    #[unroll]
    for m in 0..terms {
        change.density += density[m] * basis[m];
        change.momentum_x += momentum_x[m] * basis[m];
        change.momentum_y += momentum_y[m] * basis[m];
        change.momentum_z += momentum_z[m] * basis[m];
        change.energy += energy[m] * basis[m];
    }
    change
}

/// The traces of a cell by the `terms` coefficients of its polynomial, which stay in registers.
#[device]
#[inline(always)]
fn put_polynomial<F: Real, S: Real>(
    c: usize,
    stencil: &StencilView<'_, S>,
    q: &States<'_, F>,
    cell: &CellSides<'_, F>,
    traces: &mut Segment<F>,
    #[comptime] terms: usize,
) {
    let limits = comptime!(cell.limiter != Limiter::None);
    let own = q.at(c);
    let mut density = Local::<F, MOST_TERMS>::zeros();
    let mut momentum_x = Local::<F, MOST_TERMS>::zeros();
    let mut momentum_y = Local::<F, MOST_TERMS>::zeros();
    let mut momentum_z = Local::<F, MOST_TERMS>::zeros();
    let mut energy = Local::<F, MOST_TERMS>::zeros();
    let mut low = own;
    let mut high = own;
    let (first, end) = stencil.row(c);
    let mut k = first;
    while k < end {
        let other = q.at(stencil.cells[k] as usize);
        if limits {
            low = lower::<F>(low, other);
            high = upper::<F>(high, other);
        }
        let d = other - own;
        #[unroll]
        for m in 0..terms {
            let w = stencil.weight_of::<F>(k, m, terms);
            density[m] += d.density * w;
            momentum_x[m] += d.momentum_x * w;
            momentum_y[m] += d.momentum_y * w;
            momentum_z[m] += d.momentum_z * w;
            energy[m] += d.energy * w;
        }
        k += comptime!(spacing(stencil.layout));
    }
    let n = q.stride;
    let mut phi = first_factors::<F>();
    if limits {
        let scales = squared_scales::<F>(own, &cell.softness, c, cell.limiter);
        for i in cell.offsets[c] as usize..cell.offsets[c + 1] as usize {
            let item = cell.items[i];
            let (first, end) = cell.places.points.range(without_sign(item));
            for k in first..end {
                let d = cell.places.points.from_side(item, k);
                let basis = basis_at::<F>(d, c, n, &cell.second, terms);
                let delta = change_at::<F>(
                    basis, density, momentum_x, momentum_y, momentum_z, energy, terms,
                );
                phi = least_factors::<F>(phi, own + delta, own, low, high, scales, cell.limiter);
            }
        }
    }
    for i in cell.offsets[c] as usize..cell.offsets[c + 1] as usize {
        let item = cell.items[i];
        let f = without_sign(item);
        let (first, end) = cell.places.points.range(f);
        for k in first..end {
            let d = cell.places.points.from_side(item, k);
            let basis = basis_at::<F>(d, c, n, &cell.second, terms);
            let mut delta =
                change_at::<F>(basis, density, momentum_x, momentum_y, momentum_z, energy, terms);
            if limits {
                delta = scaled::<F>(delta, phi);
            }
            cell.put(own, delta, item, cell.places.place(f, k - first, k), traces);
        }
    }
}

/// Traces of all cells at the points of their faces, by polynomials whose coefficients are not stored.
///
/// Traffic a cell: 4 + 40, 48 of second moments with quadratic polynomials, and 24 + 40 a point of results, an item 4 + s terms with
/// weights of s bytes (f64). 10 terms operations an item and a point.
#[kernel(
    specialize(stencil.layout = Layout::Csr, stencil.terms = 9, cell.places.points.per_face = 3, cell.limiter = Limiter::None, cell.bounds_traces = false),
    specialize(stencil.layout = Layout::Csr)
)]
pub(super) fn traces_by_polynomials<F: Real, S: Real>(
    c: usize,
    stencil: &StencilView<S>,
    q: &States<F>,
    cell: &CellSides<F>,
    traces: &mut Segment<F>,
) {
    let terms = comptime!(stencil.terms);
    if comptime!(terms == 2) {
        put_polynomial::<F, S>(c, stencil, q, cell, traces, 2usize);
    } else if comptime!(terms == 3) {
        put_polynomial::<F, S>(c, stencil, q, cell, traces, 3usize);
    } else if comptime!(terms == 5) {
        put_polynomial::<F, S>(c, stencil, q, cell, traces, 5usize);
    } else {
        put_polynomial::<F, S>(c, stencil, q, cell, traces, 9usize);
    }
}

/// Traces as faces read them: `[2][5][stride]`, left sides first.
#[derive(Group, Clone, Copy)]
pub(super) struct TraceView<'a, F: Real> {
    /// Conserved variables.
    pub values: View<'a, F>,
    /// Shares of area vectors of interior faces in the order of places: `[3][stride]`.
    pub area: Vectors<'a, F>,
    /// Places of traces.
    pub places: TracePlaces<'a, F>,
}

#[device]
impl<F: Real> TraceView<'_, F> {
    /// The flux through the share of a face at a place.
    #[inline(always)]
    fn flux(&self, place: usize, gamma: F, #[comptime] form: FluxForm) -> Conserved<F> {
        let s = self.area.at(place);
        let size = s.dot(s).sqrt();
        let n = s * (1.0 / size);
        let stride = self.places.stride;
        let left = Conserved::<F>::at(&self.values, place, stride);
        let right = Conserved::<F>::at(&self.values, comptime!(VARIABLES) * stride + place, stride);
        let left = Side::<F>::of_conserved(left, n, gamma);
        let right = Side::<F>::of_conserved(right, n, gamma);
        flux_between::<F>(left, right, n, gamma, form) * size
    }
}

const ROE: FluxForm = FluxForm { flux: NumericalFlux::Roe, low_mach: false };
const ROE_LOW_MACH: FluxForm = FluxForm { flux: NumericalFlux::Roe, low_mach: true };
const HLLC: FluxForm = FluxForm { flux: NumericalFlux::Hllc, low_mach: false };
const RUSANOV: FluxForm = FluxForm { flux: NumericalFlux::Rusanov, low_mach: false };

/// Flux through each interior face, from left to right, area included.
///
/// Traffic a face: 40 of the result, a point 104 (f64). About 220 operations a point with Roe's flux, 6 roots and 7 divisions among
/// them.
#[kernel(
    out(flux),
    specialize(form = ROE, traces.places.points.per_face = 1),
    specialize(form = ROE, traces.places.points.per_face = 3),
    specialize(form = ROE_LOW_MACH, traces.places.points.per_face = 1),
    specialize(form = ROE_LOW_MACH, traces.places.points.per_face = 3),
    specialize(form = HLLC),
    specialize(form = RUSANOV)
)]
pub(super) fn interior_flux<F: Real>(
    f: usize,
    traces: &TraceView<F>,
    gamma: F,
    #[comptime] form: FluxForm,
) -> Conserved<F> {
    let per_face = comptime!(traces.places.points.per_face);
    let n = traces.places.n_faces;
    let mut sum = Conserved::<F>::zero();
    if comptime!(per_face > 0) {
        sum = traces.flux(f, gamma, form);
        if comptime!(per_face > 1) {
            sum += traces.flux(n + f, gamma, form);
        }
        if comptime!(per_face > 2) {
            sum += traces.flux(2 * n + f, gamma, form);
        }
        if comptime!(per_face > 3) {
            sum += traces.flux(3 * n + f, gamma, form);
        }
    } else {
        let (first, end) = traces.places.points.range(f);
        for k in first..end {
            sum += traces.flux(k, gamma, form);
        }
    }
    sum
}

/// Flux through each boundary face of a list, outwards, area included.
///
/// Traffic a face: 8 and 40 of the result, a point 128 (f64).
#[kernel(out(flux), indexed)]
pub(super) fn boundary_face_flux<F: Real>(
    position: usize,
    f: usize,
    traces: &TraceView<F>,
    gas: &GasView<F>,
) -> Conserved<F> {
    let kind = gas.boundary.kind[position];
    let (first, end) = traces.places.points.range(f);
    let zero = Conserved::<F>::zero();
    let mut sum = zero;
    for k in first..end {
        let s = traces.places.points.area.at(k);
        let size = s.dot(s).sqrt();
        let n = s * (1.0 / size);
        let place = traces.places.place(f, k - first, k);
        let state = Conserved::<F>::at(&traces.values, place, traces.places.stride);
        let gradient = StateGradient::<F> { x: zero, y: zero, z: zero };
        let inside = Trace::<F> { state, gradient };
        let through = boundary_flux::<F>(f, k, kind, inside, n, gas, comptime!(gas.form));
        sum += through.convective * size;
    }
    sum
}
