//! Kernels of smoothing: the moves of the vertices of one colour, the metric at vertices, the quality of cells.
#![allow(clippy::collapsible_if)] // kernels evaluate both sides of `&&`
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::cavity::{CavityView, metric_of, place_of, store_vertex};
use super::lookup::{LookupView, Place};
use karman_backend::prelude::*;
use karman_backend::real::{Sym3, Vec3};
use karman_backend::{Segment, View};
use karman_macros::Keyword;

/// The rule by which a vertex moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Keyword)]
pub enum Smoother {
    /// The linear system of Pain et al. (*Computer Methods in Applied Mechanics and Engineering* 190, 2001):
    /// (D + A)(x − p) = ½ (q − A p), A = Σ_l M_l and q = Σ_l M_l y_l over the edges of the vertex with their mean metrics M_l and
    /// other ends y_l, D_jj = max(A_jj, 1.01 Σ_{m≠j} |A_jm|) and 0 off the diagonal.
    EdgeLengths,
    /// Steepest ascent of the lowest quality of the cavity in the metric at the vertex; near a ridge of the lowest quality, along
    /// the shortest convex combination of the gradients of the cells that meet there.
    WorstQuality,
}

/// Shares 1, ½, ¼, … of a move that are tried.
const TRIES: u32 = 4;
/// Least increase of the lowest quality for a move of the optimisation smoother, as a share.
const LEAST_GAIN: f64 = 1e-3;
/// Cells that the ascent direction takes in.
const ROUNDS: u32 = 2;
/// A step of the ascent below this share of the step to the quality 1 ends at another cell: its gradient is taken in.
const SHORT_STEP: f64 = 0.25;
/// Cells that rise at more than this share of the rate of the lowest one do not fall below it.
const SAME_RATE: f64 = 0.999;
/// Qualities and steps that differ by less than this share are equal: the first in the order of the cells counts.
const SAME: f64 = 1e-9;
/// Shortest move, as a length in the metric.
const SHORTEST_MOVE: f64 = 1e-6;

/// The move ½ (D + A)⁻¹ `pull` of a vertex with `pull` = q − A p.
#[device]
#[inline(always)]
fn pulled<F: Real>(v: usize, a: Sym3<F>, pull: Vec3<F>, cavities: &CavityView<F>) -> Vec3<F> {
    let dx = a.xx.max(1.01 * (a.xy.abs() + a.xz.abs()));
    let dy = a.yy.max(1.01 * (a.xy.abs() + a.yz.abs()));
    let dz = a.zz.max(1.01 * (a.xz.abs() + a.yz.abs()));
    let system =
        Sym3::<F> { xx: a.xx + dx, xy: a.xy, xz: a.xz, yy: a.yy + dy, yz: a.yz, zz: a.zz + dz };
    let wish = system.solve(cavities.allowed(v, pull) * 0.5);
    cavities.allowed(v, wish)
}

/// The move of [`Smoother::EdgeLengths`].
#[device]
#[inline(always)]
fn edge_length_move<F: Real>(
    v: usize,
    p: Vec3<F>,
    own: Sym3<F>,
    cavities: &CavityView<F>,
    state: &Segment<F>,
) -> Vec3<F> {
    let mut a = Sym3::<F>::zero();
    let mut pull = Vec3::<F>::zero();
    if comptime!(cavities.dimension == 2) {
        let around = cavities.around_in_plane(v, p, own, F::literal(-1.0), state);
        a = around.sum;
        pull = around.pull;
    } else {
        let mut k = cavities.first_neighbour[v] as usize;
        let end = k + cavities.neighbour_count[v] as usize * cavities.spacing;
        while k < end {
            let other = cavities.neighbours[k] as usize;
            let m = (own + metric_of::<F>(other, state, 3usize)) * 0.5;
            a += m;
            pull += m.times(place_of::<F>(other, state, 3usize) - p);
            k += cavities.spacing;
        }
    }
    pulled::<F>(v, a, pull, cavities)
}

/// M⁻¹ g within the constraint of vertex v.
#[device]
#[inline(always)]
fn ascent<F: Real>(v: usize, g: Vec3<F>, own: Sym3<F>, cavities: &CavityView<F>) -> Vec3<F> {
    cavities.allowed(v, own.solve(g))
}

/// The move of the optimisation smoother, to where the linear models of two cells meet or the lowest reaches 1.
#[device]
#[inline(always)]
fn worst_quality_move<F: Real>(
    v: usize,
    p: Vec3<F>,
    own: Sym3<F>,
    cavities: &CavityView<F>,
    state: &Segment<F>,
) -> Vec3<F> {
    let first = cavities.first_cell[v] as usize;
    let end = cavities.end_of_cells(v);
    let mut lowest = F::literal(2.0);
    let mut g = Vec3::<F>::zero();
    let mut k = first;
    while k < end {
        let cell = cavities.quality(k, p, own, state);
        if cell.value < lowest * F::literal(1.0 - SAME) {
            lowest = cell.value;
            g = cell.gradient;
        }
        k += cavities.spacing;
    }
    g = cavities.allowed(v, g);
    let mut step = F::literal(0.0);
    let mut direction = Vec3::<F>::zero();
    let mut round = 0u32;
    let mut is_open = true;
    while is_open && round < comptime!(ROUNDS) {
        direction = ascent::<F>(v, g, own, cavities);
        let slope = g.dot(direction);
        let mut to_one = F::literal(0.0);
        if slope > 1e-30 {
            to_one = (1.0 - lowest) / slope;
        }
        // The cell whose linear model falls below that of the lowest first.
        step = to_one;
        let mut other = Vec3::<F>::zero();
        k = first;
        while k < end {
            let cell = cavities.quality(k, p, own, state);
            let theirs = cell.gradient.dot(direction);
            // The cells that the direction takes in rise at its own rate, up to rounding.
            if theirs < F::literal(SAME_RATE) * slope {
                let meet = ((cell.value - lowest) / (slope - theirs)).max(0.0);
                if meet < step - F::literal(SAME) * to_one {
                    step = meet;
                    other = cavities.allowed(v, cell.gradient);
                }
            }
            k += cavities.spacing;
        }
        round += 1;
        is_open = step < F::literal(SHORT_STEP) * to_one;
        if is_open {
            // The shortest vector (1 − t) g + t g_other.
            let difference = other - g;
            let change = ascent::<F>(v, difference, own, cavities);
            let square = difference.dot(change);
            let mut t = F::literal(0.0);
            if square > 0.0 {
                t = (-(g.dot(change)) / square).max(0.0).min(1.0);
            }
            g += difference * t;
            step = F::literal(SHORT_STEP) * to_one;
        }
    }
    direction = ascent::<F>(v, g, own, cavities);
    direction * step
}

/// Moves vertex `first + i` of a colour. A move is made only where the lowest quality of the cavity does not fall and all its
/// cells stay positive; `moves` receives its length in the metric, 0 where the vertex stays.
///
/// Traffic of a sweep in double precision, topology and results once: a vertex 2D 8 (5 read, 5 written) + 8 + 12 (lists, length,
/// constraint), 3D 144 + 32; an item of a cell 4 or 12; in 3D a neighbour 4 (edge lengths alone). The places and metrics of
/// neighbours, 40 or 72 bytes a vertex, are read once for each colour. A lookup in the grid reads 4 × 24 or 8 × 48 bytes, most of
/// them from caches where neighbours in number are neighbours in space. Cells are evaluated from caches up to ten times.
#[kernel(
    specialize(cavities.dimension = 2, smoother = Smoother::EdgeLengths),
    specialize(cavities.dimension = 2, smoother = Smoother::WorstQuality),
    specialize(cavities.dimension = 3, smoother = Smoother::EdgeLengths)
)]
pub(super) fn smooth_colour<F: Real>(
    i: usize,
    first: usize,
    cavities: &CavityView<F>,
    lookup: &LookupView<F>,
    state: &mut Segment<F>,
    cells: &mut Segment<u32>,
    moves: &mut Segment<F>,
    #[comptime] smoother: Smoother,
) {
    let v = first + i;
    let dimension = comptime!(cavities.dimension);
    let p = place_of::<F>(v, &*state, dimension);
    let own = metric_of::<F>(v, &*state, dimension);
    let mut wish = Vec3::<F>::zero();
    let mut bound = F::literal(0.0);
    if comptime!(smoother == Smoother::EdgeLengths && cavities.dimension == 2) {
        let around = cavities.around_in_plane(v, p, own, F::literal(-1.0), &*state);
        bound = around.lowest;
        wish = pulled::<F>(v, around.sum, around.pull, cavities);
    } else if comptime!(smoother == Smoother::EdgeLengths) {
        bound = cavities.lowest(v, p, own, F::literal(-1.0), &*state);
        wish = edge_length_move::<F>(v, p, own, cavities, &*state);
    } else {
        bound =
            cavities.lowest(v, p, own, F::literal(-1.0), &*state) * (1.0 + F::literal(LEAST_GAIN));
        wish = worst_quality_move::<F>(v, p, own, cavities, &*state);
    }
    let mut length = wish.dot(own.times(wish)).sqrt();
    let mut made = F::literal(0.0);
    let mut tries = 0u32;
    let mut start = 0u32;
    if comptime!(lookup.place == Place::Mesh) {
        start = cells[v];
    }
    // The optimisation smoother tries the edge-length move where its own gains nothing.
    let mut has_other = comptime!(smoother == Smoother::WorstQuality).runtime();
    while tries < comptime!(TRIES) {
        let mut after = F::literal(-1.0);
        // Not a number: no move.
        if length > F::literal(SHORTEST_MOVE) {
            let place = p + wish;
            let (metric, cell, is_found) = lookup.at(place, start);
            if is_found {
                after = cavities.lowest(v, place, metric, bound, &*state);
            }
            if after >= bound && after > 0.0 {
                store_vertex::<F>(v, place, metric, state, dimension);
                if comptime!(lookup.place == Place::Mesh) {
                    cells[v] = cell;
                }
                made = length;
                tries = TRIES.runtime();
            }
        } else {
            tries = TRIES.runtime();
        }
        wish = wish * 0.5;
        length *= 0.5;
        tries += 1;
        if comptime!(smoother == Smoother::WorstQuality) {
            if tries >= comptime!(TRIES) && made == 0.0 && has_other {
                has_other = false;
                wish = edge_length_move::<F>(v, p, own, cavities, &*state);
                length = wish.dot(own.times(wish)).sqrt();
                tries = 0u32;
            }
        }
    }
    moves[v] = made;
}

/// The metric at vertex v by the lookup. Traffic 2D 40 + 4, 3D 72 + 4, and the lookup.
#[kernel]
pub(super) fn look_up<F: Real>(
    v: usize,
    lookup: &LookupView<F>,
    state: &mut Segment<F>,
    cells: &mut Segment<u32>,
) {
    let dimension = comptime!(lookup.dimension);
    let place = place_of::<F>(v, &*state, dimension);
    let mut start = 0u32;
    if comptime!(lookup.place == Place::Mesh) {
        start = cells[v];
    }
    let (metric, cell, _is_found) = lookup.at(place, start);
    store_vertex::<F>(v, place, metric, state, dimension);
    if comptime!(lookup.place == Place::Mesh) {
        cells[v] = cell;
    }
}

/// Block results of the lowest quality and of the sum of the qualities of cells; `corners`: `[dimension + 1][cells]`. Traffic: a
/// cell 4 × (dimension + 1), a vertex 40 or 72.
#[kernel(reduce(min, sum))]
pub(super) fn quality_partials<F: Real>(
    cell: usize,
    cavities: &CavityView<F>,
    corners: &View<u32>,
    n_cells: usize,
    state: &mut Segment<F>,
) -> (F, F) {
    let dimension = comptime!(cavities.dimension);
    let v = corners[cell] as usize;
    let a = corners[n_cells + cell] as usize;
    let b = corners[2 * n_cells + cell] as usize;
    let mut c = b;
    if comptime!(cavities.dimension == 3) {
        c = corners[3 * n_cells + cell] as usize;
    }
    let place = place_of::<F>(v, &*state, dimension);
    let own = metric_of::<F>(v, &*state, dimension);
    let q = cavities.quality_on(a, b, c, place, own, &*state).value;
    (q, q)
}

/// Block results of the number of moves longer than `least`. Traffic s.
#[kernel(reduce(sum), unroll(4))]
pub(super) fn moves_partials<F: Real>(v: usize, moves: &View<F>, least: F) -> F {
    let mut count = F::literal(0.0);
    if moves[v] > least {
        count = F::literal(1.0);
    }
    count
}

/// The finished lowest quality and sum.
#[kernel(combine(min, sum), out(lowest, total))]
pub(super) fn finish_quality(lowest: f64, total: f64) -> (f64, f64) {
    (lowest, total)
}
