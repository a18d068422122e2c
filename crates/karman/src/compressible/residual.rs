//! Fluxes through faces, their sums in cells, and the stages of a time step.
#![allow(missing_docs)] // on the modules that the attributes make

use super::boundary::exterior;
use super::face_points::FacePoints;
use super::flux::{FluxForm, numerical_flux};
use super::reconstruction::polynomial::Polynomials;
use super::state::{Conserved, States};
use super::viscous::{
    PrimitiveGradient, ViscosityLaw, ViscousView, boundary_viscous_flux, viscous_flux,
};
use crate::backend::View;
use crate::finite_volume::{CellFaces, FaceView, Vectors};
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::Real;
use karman_backend::prelude::*;

/// Conditions of boundary faces.
#[derive(Group, Clone, Copy)]
pub(super) struct BoundaryView<'a, F: Real> {
    /// [`ExteriorState`](super::boundary::ExteriorState) of each boundary face: `[n_boundary]`.
    pub kind: View<'a, u32>,
    /// Prescribed density, velocity and pressure: `[5][n_boundary_points]`.
    pub prescribed: States<'a, F>,
    /// Unit normal of the true wall: `[3][n_boundary_points]`.
    pub normal: Vectors<'a, F>,
    /// Number of points of interior faces.
    pub first_point: usize,
}

/// The gas, its numerical flux and what lies outside the boundary.
#[derive(Group, Clone, Copy)]
pub(super) struct GasView<'a, F: Real> {
    /// γ.
    pub gamma: F,
    /// Conditions of boundary faces.
    pub boundary: BoundaryView<'a, F>,
    /// Viscous terms.
    pub viscous: ViscousView<'a, F>,
    /// The numerical flux.
    #[comptime]
    pub form: FluxForm,
}

/// Σ_q F(q_l(x_q), q_r(x_q), n_q) |S_q| over the points of a face, with the polynomials of both cells; at a boundary the right state
/// is the exterior one.
#[device]
#[inline(always)]
pub(super) fn flux_through<F: Real>(
    f: usize,
    faces: &FaceView<'_, F>,
    points: &FacePoints<'_, F>,
    polynomials: &Polynomials<'_, F>,
    gas: &GasView<'_, F>,
    #[comptime] form: FluxForm,
) -> Conserved<F> {
    let gamma = gas.gamma;
    let l = faces.left[f] as usize;
    let (first, end) = points.range(f);
    let mut sum = Conserved::<F>::zero();
    if f < faces.n_interior {
        let r = faces.right[f] as usize;
        for k in first..end {
            let s = points.area.at(k);
            let size = s.dot(s).sqrt();
            let n = s * (1.0 / size);
            let to_left = points.from_left.at(k);
            let to_right = points.from_right.at(k);
            let q_left = polynomials.at_offset(l, to_left);
            let q_right = polynomials.at_offset(r, to_right);
            let left = q_left.primitive(gamma);
            let right = q_right.primitive(gamma);
            let mut flux = numerical_flux::<F>(left, right, n, gamma, form);
            if comptime!(gas.viscous.law != ViscosityLaw::Inviscid) {
                let of_left = polynomials.gradient(l, to_left);
                let of_right = polynomials.gradient(r, to_right);
                let mean = (PrimitiveGradient::<F>::of(q_left, of_left, gamma)
                    + PrimitiveGradient::<F>::of(q_right, of_right, gamma))
                    * F::literal(0.5);
                let spacing = gas.viscous.spacing[f];
                flux += viscous_flux::<F>(left, right, mean, n, spacing, &gas.viscous);
            }
            sum += flux * size;
        }
    } else {
        let kind = gas.boundary.kind[f - faces.n_interior];
        for k in first..end {
            let s = points.area.at(k);
            let size = s.dot(s).sqrt();
            let n = s * (1.0 / size);
            let b = k - gas.boundary.first_point;
            let to_left = points.from_left.at(k);
            let q = polynomials.at_offset(l, to_left);
            let inside = q.primitive(gamma);
            let prescribed = gas.boundary.prescribed.primitive_at(b);
            let wall_normal = gas.boundary.normal.at(b);
            let outside = exterior::<F>(kind, inside, prescribed, wall_normal, gamma);
            let mut flux = numerical_flux::<F>(inside, outside, n, gamma, form);
            if comptime!(gas.viscous.law != ViscosityLaw::Inviscid) {
                let of_cell = polynomials.gradient(l, to_left);
                let gradient = PrimitiveGradient::<F>::of(q, of_cell, gamma);
                let spacing = gas.viscous.spacing[f];
                flux += boundary_viscous_flux::<F>(
                    kind,
                    inside,
                    prescribed.density,
                    gradient,
                    n,
                    spacing,
                    &gas.viscous,
                );
            }
            sum += flux * size;
        }
    }
    sum
}

/// Flux through each face, from left to right, area included.
///
/// Traffic a face: 8 and 40 of the result, a point 72 (88 at a boundary), a cell 40 (1 + terms), each array once (f64).
#[kernel(out(flux))]
pub(super) fn face_flux<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    points: &FacePoints<F>,
    polynomials: &Polynomials<F>,
    gas: &GasView<F>,
) -> Conserved<F> {
    flux_through::<F>(f, faces, points, polynomials, gas, comptime!(gas.form))
}

/// Coefficients of a stage.
#[derive(Group, Clone, Copy)]
pub(super) struct StageView<'a, F: Real> {
    /// qⁿ: `[5][n_cells]`.
    pub old: States<'a, F>,
    /// a.
    pub old_weight: F,
    /// b.
    pub weight: F,
    /// s: `[5][n_cells]`.
    pub sum: States<'a, F>,
    /// e.
    pub sum_weight: F,
    /// c Δt; with local steps c.
    pub step: F,
    /// Local steps Δt: `[n_cells]`.
    pub local: View<'a, F>,
    /// Whether Δt is local.
    #[comptime]
    pub is_local: bool,
    /// Whether s is added.
    #[comptime]
    pub has_sum: bool,
}

/// q of a stage, a qⁿ + b q + e s + c Δt R with R = −(1/V) Σ_f σ F_f + S, S a source and s a sum of earlier stages.
///
/// Traffic a cell: 8 + 120, a face 40, an item 4 (f64); a source and a sum 40 each.
#[kernel(out(next))]
pub(super) fn advance_stage<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    flux: &States<F>,
    q: &States<F>,
    source: &States<F>,
    stage: &StageView<F>,
    #[comptime] has_source: bool,
) -> Conserved<F> {
    let one = F::literal(1.0);
    let mut sum = Conserved::<F>::zero();
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let item = cells.items[k];
        let through = flux.at(without_sign(item));
        sum += through * with_sign::<F>(item, one);
    }
    let mut step = stage.step;
    if comptime!(stage.is_local) {
        step *= stage.local[c];
    }
    let mut next = stage.old.at(c) * stage.old_weight + q.at(c) * stage.weight;
    if comptime!(stage.has_sum) {
        next += stage.sum.at(c) * stage.sum_weight;
    }
    next -= sum * (step / cells.volume[c]);
    if comptime!(has_source) {
        next += source.at(c) * step;
    }
    next
}

/// λ = (1/2V) Σ_f (|u·S| + c|S|) + (2ν'/V²) Σ_f |S|², ν' = max(4/3, γ/Pr) μ/ρ: Δt = CFL/λ.
///
/// Traffic a cell 8 + 48, a face 24, an item 4 (f64).
#[kernel(out(rate))]
pub(super) fn spectral_rate<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    faces: &FaceView<F>,
    q: &States<F>,
    gamma: F,
    viscous: &ViscousView<F>,
) -> F {
    let state = q.at(c).primitive(gamma);
    let speed = state.sound_speed(gamma);
    let u = state.velocity();
    let mut sum = F::literal(0.0);
    let mut squares = F::literal(0.0);
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let s = faces.area.at(without_sign(cells.items[k]));
        let square = s.dot(s);
        sum += u.dot(s).abs() + speed * square.sqrt();
        squares += square;
    }
    let volume = cells.volume[c];
    let mut rate = 0.5 * sum / volume;
    if comptime!(viscous.law != ViscosityLaw::Inviscid) {
        let of_heat = viscous.conduction * (gamma - 1.0);
        let largest = of_heat.max(F::literal(4.0) / 3.0);
        let diffusivity =
            largest * viscous.viscosity_at(state.pressure / state.density) / state.density;
        rate += 2.0 * diffusivity * squares / (volume * volume);
    }
    rate
}
