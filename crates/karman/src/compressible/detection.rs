//! Cells whose new means are not admissible, and the fluxes of a lower order around them.
//!
//! A stage computes candidate means. A cell is troubled where its density or pressure is not positive or not a number and, with
//! the limiter `mood`, where its density or pressure is a new extremum that is not smooth. Its level rises: from level 1 on its polynomials
//! are limited, at level 2 its faces have Rusanov's flux between the means of both cells, which keeps density and pressure positive for
//! Δt λ ≤ ½. The fluxes of its faces are computed again, and the candidates, until no cell is troubled. Each face has one flux, so
//! that mass, momentum and energy are conserved.
//!
//! Sources: Clain, Diot & Loubère, J. Comput. Phys. 230 (2011) 4028; the smooth extrema of Diot, Clain & Loubère, Comput.
//! Fluids 64 (2012) 43; positivity of Rusanov's flux: Perthame & Shu, Numer. Math. 73 (1996) 119.
#![allow(missing_docs)] // on the modules that the attributes make

use super::face_points::FacePoints;
use super::flux::{FluxForm, NumericalFlux};
use super::reconstruction::polynomial::{Polynomials, StencilView, spacing};
use super::residual::{GasView, flux_through};
use super::state::{Conserved, States};
use crate::backend::View;
use crate::finite_volume::FaceView;
use crate::real::Real;
use karman_backend::prelude::*;

/// Highest level of a cell.
pub(super) const CONSTANT_LEVEL: u32 = 2;

/// Tolerance of new extrema relative to the range of the stencil, and to the density.
const RELATIVE_SLACK: f64 = 1e-3;
const SLACK: f64 = 1e-4;

/// Tests of candidate means.
#[derive(Group, Clone, Copy)]
pub(super) struct Candidates<'a, F: Real> {
    /// Means of the stage: `[5][n_cells]`.
    pub new: States<'a, F>,
    /// Means before it.
    pub old: States<'a, F>,
    /// ∇²ρ / 2 of the polynomials: `[n_cells]`; not read without bounds.
    pub curvature: View<'a, F>,
    /// γ.
    pub gamma: F,
    /// Whether new extrema are troubled.
    #[comptime]
    pub bounded: bool,
}

/// Whether a value is beyond the range of the stencil, up to a slack.
#[device]
#[inline(always)]
fn is_extremum<F: Real>(value: F, low: F, high: F, own: F) -> bool {
    let slack = (F::literal(RELATIVE_SLACK) * (high - low)).max(F::literal(SLACK) * own);
    value > high + slack || value < low - slack
}

/// ∇²ρ / 2 of the polynomial of a cell. Traffic 24 and 8 (f64).
#[kernel(out(curvature))]
pub(super) fn curvatures<F: Real>(c: usize, polynomials: &Polynomials<F>) -> F {
    polynomials.curvature(c)
}

/// Raises the level of a troubled cell; counts the cells whose level has risen.
///
/// Traffic a cell: 8 + 40, and 48 with bounds, an item of its stencil then 52.
#[kernel(update(level), reduce(sum))]
pub(super) fn raise_levels<F: Real>(
    c: usize,
    candidates: &Candidates<F>,
    stencil: &StencilView<F>,
    level: u32,
) -> (u32, F) {
    let zero = F::literal(0.0);
    let new = candidates.new.at(c);
    // Comparisons with a NaN are false.
    let mut is_troubled = true;
    if new.density > zero && new.pressure(candidates.gamma) > zero {
        is_troubled = false;
    }
    if comptime!(candidates.bounded) {
        let before = candidates.old.at(c);
        let own = before.density;
        let mut low = own;
        let mut high = own;
        let own_pressure = before.pressure(candidates.gamma);
        let mut low_pressure = own_pressure;
        let mut high_pressure = own_pressure;
        let mut least = candidates.curvature[c];
        let mut most = least;
        let (first, end) = stencil.row(c);
        let mut k = first;
        while k < end {
            let other = stencil.cells[k] as usize;
            let state = candidates.old.at(other);
            low = low.min(state.density);
            high = high.max(state.density);
            let pressure = state.pressure(candidates.gamma);
            low_pressure = low_pressure.min(pressure);
            high_pressure = high_pressure.max(pressure);
            let curvature = candidates.curvature[other];
            least = least.min(curvature);
            most = most.max(curvature);
            k += comptime!(spacing(stencil.layout));
        }
        let is_new = is_extremum::<F>(new.density, low, high, own)
            || is_extremum::<F>(
                new.pressure(candidates.gamma),
                low_pressure,
                high_pressure,
                own_pressure,
            );
        if end > first && is_new {
            // Curvatures of one sign and of one size: a smooth extremum.
            let is_smooth = least * most > zero
                && 2.0 * least.abs().min(most.abs()) >= least.abs().max(most.abs());
            if !is_smooth {
                is_troubled = true;
            }
        }
    }
    let mut next = level;
    let mut risen = zero;
    if is_troubled && level < CONSTANT_LEVEL {
        next = level + 1;
        risen = F::literal(1.0);
    }
    (next, risen)
}

/// The fluxes of the lowest order.
#[derive(Group, Clone, Copy)]
pub(super) struct LowestOrder<'a, F: Real> {
    /// Level of each cell.
    pub level: View<'a, u32>,
    /// Means that the fluxes are of.
    pub means: Polynomials<'a, F>,
    /// Σ b F of the earlier stages: `[5][n_faces]`.
    pub earlier: States<'a, F>,
    /// 1/b of this stage.
    pub scale: F,
    /// Whether the flux of the lowest order is that of all stages: that of this one is (F − Σ b F)/b.
    #[comptime]
    pub has_earlier: bool,
}

/// The flux of faces of cells with a level above 0, as [`face_flux()`](super::residual::face_flux()); other faces keep theirs.
///
/// Traffic a face: 16, and that of its flux where it is computed.
#[kernel(update(flux))]
pub(super) fn corrected_flux<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    points: &FacePoints<F>,
    polynomials: &Polynomials<F>,
    gas: &GasView<F>,
    lowest: &LowestOrder<F>,
    flux: Conserved<F>,
) -> Conserved<F> {
    let mut highest = lowest.level[faces.left[f] as usize];
    if f < faces.n_interior {
        let other = lowest.level[faces.right[f] as usize];
        if other > highest {
            highest = other;
        }
    }
    let mut result = flux;
    if highest == CONSTANT_LEVEL {
        let robust = comptime!(FluxForm { flux: NumericalFlux::Rusanov, low_mach: false });
        result = flux_through::<F>(f, faces, points, &lowest.means, gas, true, robust);
        if comptime!(lowest.has_earlier) {
            result = (result - lowest.earlier.at(f)) * lowest.scale;
        }
    } else if highest > 0 {
        result = flux_through::<F>(f, faces, points, polynomials, gas, false, comptime!(gas.form));
    }
    result
}
