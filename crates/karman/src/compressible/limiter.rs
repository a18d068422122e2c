//! Limiters: polynomials scaled about their means so that they have no new extrema at the points of faces.
//!
//! p ← q̄ + φ (p − q̄) for each conserved variable, φ the least over the points of f((q_max − q̄)/(p − q̄)) where p > q̄, and of
//! q_min where p < q̄; q_min and q_max are extrema of the means of the cell and of its stencil.
//!
//! Sources: Barth & Jespersen, AIAA paper 89-0366, f(y) = min(1, y); Venkatakrishnan, J. Comput. Phys. 118 (1995) 120,
//! f = ((Δ² + ε²) + 2Δδ)/(Δ² + 2δ² + Δδ + ε²), ε² = (K h)³ relative to the range of the variable, K = 5.
#![allow(missing_docs)] // on the modules that the attributes make

use super::face_points::FacePoints;
use super::reconstruction::polynomial::{Polynomials, StencilView, place_of, spacing};
use super::state::{Conserved, States, VARIABLES};
use crate::backend::{Segment, View};
use crate::finite_volume::CellFaces;
use crate::linear::Layout;
use crate::operators::incidence::without_sign;
use crate::real::Real;
use karman_backend::prelude::*;
use karman_macros::Keyword;

/// A limiter of the reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Keyword)]
pub enum Limiter {
    /// None: for flow without shocks.
    None,
    /// Venkatakrishnan's differentiable limiter: a steady flow converges, small overshoots stay.
    Venkatakrishnan,
    /// No value at a face beyond the means of the neighbours, as of Barth and Jespersen.
    Minmod,
    /// No value at a node beyond the means of the cells around the node, by Venkatakrishnan's function (MLP-u2).
    Mlp,
    /// A posteriori: cells whose new mean is a new extremum are computed again with a lower order.
    Mood,
}

/// The cells that a pass limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Limited {
    /// All.
    All,
    /// Those of level 1; those of a higher level become constant.
    ByLevel,
}

/// f(Δ, δ) of one point: the largest factor of δ, Δ of equal sign the bound.
#[device]
#[inline(always)]
fn factor<F: Real>(bound: F, delta: F, softness: F, #[comptime] is_smooth: bool) -> F {
    let one = F::literal(1.0);
    let mut phi = one;
    if comptime!(is_smooth) {
        let square = bound * bound + softness;
        phi = (square + 2.0 * bound * delta) / (square + 2.0 * delta * delta + bound * delta);
    } else if bound < delta {
        phi = bound / delta;
    }
    phi
}

/// The least factor φ of one variable at a point of value `q`, of mean `mean` in [`low`, `high`].
#[device]
#[inline(always)]
pub(super) fn least<F: Real>(
    phi: F,
    q: F,
    mean: F,
    low: F,
    high: F,
    softness: F,
    #[comptime] is_smooth: bool,
) -> F {
    let delta = q - mean;
    let one = F::literal(1.0);
    let round_off = F::literal(1e-14) * mean.abs();
    let mut allowed = one;
    if delta > round_off {
        allowed = factor::<F>(high - mean, delta, softness, is_smooth);
    }
    if delta < -round_off {
        allowed = factor::<F>(mean - low, -delta, softness, is_smooth);
    }
    phi.min(allowed)
}

/// Extrema of states, variable by variable.
#[device]
#[inline(always)]
pub(super) fn lower<F: Real>(a: Conserved<F>, b: Conserved<F>) -> Conserved<F> {
    Conserved::<F> {
        density: a.density.min(b.density),
        momentum_x: a.momentum_x.min(b.momentum_x),
        momentum_y: a.momentum_y.min(b.momentum_y),
        momentum_z: a.momentum_z.min(b.momentum_z),
        energy: a.energy.min(b.energy),
    }
}

#[device]
#[inline(always)]
pub(super) fn upper<F: Real>(a: Conserved<F>, b: Conserved<F>) -> Conserved<F> {
    -lower::<F>(-a, -b)
}

/// φ before the first point: 1.
#[device]
#[inline(always)]
pub(super) fn first_factors<F: Real>() -> Conserved<F> {
    let one = F::literal(1.0);
    Conserved::<F> { density: one, momentum_x: one, momentum_y: one, momentum_z: one, energy: one }
}

/// ε² of a variable of a cell: `relative` to the squares of the scales ρ, √(ρ ρE) of momentum, and ρE.
#[device]
#[inline(always)]
pub(super) fn squared_scale<F: Real>(relative: F, density: F, energy: F, variable: usize) -> F {
    let mut scale = relative * density * energy;
    if variable == 0 {
        scale = relative * density * density;
    }
    if variable == comptime!(VARIABLES - 1) {
        scale = relative * energy * energy;
    }
    scale
}

/// ε² of each variable of a cell; 0 unless the limiter is Venkatakrishnan's.
#[device]
#[inline(always)]
pub(super) fn squared_scales<F: Real>(
    mean: Conserved<F>,
    softness: &View<'_, F>,
    c: usize,
    #[comptime] limiter: Limiter,
) -> Conserved<F> {
    let mut scales = Conserved::<F>::zero();
    if comptime!(limiter == Limiter::Venkatakrishnan) {
        let (relative, density, energy) = (softness[c], mean.density, mean.energy);
        let of_momentum = squared_scale::<F>(relative, density, energy, 1usize);
        scales = Conserved::<F> {
            density: squared_scale::<F>(relative, density, energy, 0usize),
            momentum_x: of_momentum,
            momentum_y: of_momentum,
            momentum_z: of_momentum,
            energy: squared_scale::<F>(relative, density, energy, comptime!(VARIABLES - 1)),
        };
    }
    scales
}

/// The lesser of φ and the factors of a point of value `v`, variable by variable.
#[device]
#[inline(always)]
pub(super) fn least_factors<F: Real>(
    phi: Conserved<F>,
    v: Conserved<F>,
    mean: Conserved<F>,
    low: Conserved<F>,
    high: Conserved<F>,
    scales: Conserved<F>,
    #[comptime] limiter: Limiter,
) -> Conserved<F> {
    let smooth = comptime!(limiter == Limiter::Venkatakrishnan);
    Conserved::<F> {
        density: least::<F>(
            phi.density,
            v.density,
            mean.density,
            low.density,
            high.density,
            scales.density,
            smooth,
        ),
        momentum_x: least::<F>(
            phi.momentum_x,
            v.momentum_x,
            mean.momentum_x,
            low.momentum_x,
            high.momentum_x,
            scales.momentum_x,
            smooth,
        ),
        momentum_y: least::<F>(
            phi.momentum_y,
            v.momentum_y,
            mean.momentum_y,
            low.momentum_y,
            high.momentum_y,
            scales.momentum_y,
            smooth,
        ),
        momentum_z: least::<F>(
            phi.momentum_z,
            v.momentum_z,
            mean.momentum_z,
            low.momentum_z,
            high.momentum_z,
            scales.momentum_z,
            smooth,
        ),
        energy: least::<F>(
            phi.energy,
            v.energy,
            mean.energy,
            low.energy,
            high.energy,
            scales.energy,
            smooth,
        ),
    }
}

/// Data of a limiter.
#[derive(Group, Clone, Copy)]
pub(super) struct LimiterView<'a, F: Real> {
    /// Level of each cell: 0 unlimited, 1 limited, 2 constant; not read where all are limited.
    pub level: View<'a, u32>,
    /// K³ of Venkatakrishnan's limiter in units of a length³, for the cell size h = V^(1/d) as V^(3/d) K³.
    pub softness: View<'a, F>,
    /// Which cells.
    #[comptime]
    pub limited: Limited,
    /// The limiter.
    #[comptime]
    pub limiter: Limiter,
}

/// φ of each variable of a cell.
///
/// Traffic a cell: 40 (3 + terms), an item of its stencil 44, points of its faces 24 each.
#[kernel(out(factors))]
pub(super) fn limiter_factors<F: Real>(
    c: usize,
    q: &States<F>,
    cells: &CellFaces<F>,
    points: &FacePoints<F>,
    stencil: &StencilView<F>,
    polynomials: &Polynomials<F>,
    limiter: &LimiterView<F>,
) -> Conserved<F> {
    let kind = comptime!(limiter.limiter);
    let mut level = 1u32;
    if comptime!(limiter.limited == Limited::ByLevel) {
        level = limiter.level[c];
    }
    let mut phi = Conserved::<F>::zero();
    if level < 2 {
        phi = first_factors::<F>();
    }
    if level == 1 {
        let mean = q.at(c);
        let mut low = mean;
        let mut high = mean;
        let (first_item, end_of_items) = stencil.row(c);
        let mut item = first_item;
        while item < end_of_items {
            let other = q.at(stencil.cells[item] as usize);
            low = lower::<F>(low, other);
            high = upper::<F>(high, other);
            item += comptime!(spacing(stencil.layout));
        }
        let scales = squared_scales::<F>(mean, &limiter.softness, c, kind);
        for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
            let item = cells.items[k];
            let (first, end) = points.range(without_sign(item));
            for point in first..end {
                let v = polynomials.at_offset(c, points.from_side(item, point));
                phi = least_factors::<F>(phi, v, mean, low, high, scales, kind);
            }
        }
    }
    phi
}

/// Scales polynomials about their means, p ← q̄ + φ (p − q̄).
///
/// Traffic a cell: 80 (1 + terms) + 80.
#[kernel]
pub(super) fn scale_polynomials<F: Real>(
    c: usize,
    q: &States<F>,
    factors: &States<F>,
    #[comptime] terms: usize,
    #[comptime] layout: Layout,
    coefficients: &mut Segment<F>,
) {
    let n = q.stride;
    let (first, step) = place_of(c, 0usize, n, terms, layout);
    let (next, _step) = place_of(c, 1usize, n, terms, layout);
    let second = next - first;
    for v in 0..comptime!(VARIABLES) {
        let mean = q.values[v * n + c];
        let phi = factors.values[v * n + c];
        let place = first + v * step;
        coefficients[place] = mean + phi * (coefficients[place] - mean);
        for m in 1..comptime!(terms + 1) {
            coefficients[place + m * second] *= phi;
        }
    }
}
