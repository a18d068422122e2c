//! Fluxes through faces, their sums in cells, and the stages of a time step.
#![allow(missing_docs)] // on the modules that the attributes make
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::boundary::{exterior, is_wall};
use super::face_points::FacePoints;
use super::flux::{FluxForm, numerical_flux};
use super::reconstruction::polynomial::{Polynomials, StateGradient};
use super::state::{Conserved, Primitive, States};
use super::viscous::{
    PrimitiveGradient, ViscosityLaw, ViscousView, boundary_viscous_flux, viscous_flux,
};
use crate::backend::View;
use crate::finite_volume::{CellFaces, FaceView, Vectors};
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::{Real, Vec3};
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
    /// Whether all conditions are those of walls.
    #[comptime]
    pub is_closed: bool,
}

/// The gas, its numerical flux and its boundary conditions.
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
    /// Whether traces are bounded.
    #[comptime]
    pub bounds_traces: bool,
}

/// A state and its gradient on one side of a point of a face.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trace<F: Real> {
    /// ρ, ρu, ρE.
    pub state: Conserved<F>,
    /// Their derivatives; not read without viscous terms.
    pub gradient: StateGradient<F>,
}

/// The flux by area between two traces.
#[device]
#[inline(always)]
fn flux_between<F: Real>(
    f: usize,
    left: Trace<F>,
    right: Trace<F>,
    n: Vec3<F>,
    gas: &GasView<'_, F>,
    #[comptime] form: FluxForm,
) -> Conserved<F> {
    let gamma = gas.gamma;
    let l = left.state.primitive(gamma);
    let r = right.state.primitive(gamma);
    let mut flux = numerical_flux::<F>(l, r, n, gamma, form);
    if comptime!(gas.viscous.law != ViscosityLaw::Inviscid) {
        let mean = (PrimitiveGradient::<F>::of(left.state, left.gradient, gamma)
            + PrimitiveGradient::<F>::of(right.state, right.gradient, gamma))
            * F::literal(0.5);
        flux += viscous_flux::<F>(l, r, mean, n, gas.viscous.spacing[f], &gas.viscous);
    }
    flux
}

/// The state outside a point of a boundary face, and the fluxes by area through it.
#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BoundaryFlux<F: Real> {
    /// ρ, u and p outside.
    pub outside: Primitive<F>,
    /// The convective flux, the pressure included.
    pub convective: Conserved<F>,
    /// The viscous flux, zero without viscous terms.
    pub viscous: Conserved<F>,
    /// The heat that enters by conduction.
    pub heat: F,
}

/// The fluxes at point `k` of boundary face `f` with the trace inside, by a condition of kind `kind`. With a state
/// reflected about the normal of a curved wall some mass and energy pass its facets, in at one point and out at another; their sum is of the
/// order of the error. In a closed domain both are left out, so that it keeps mass and energy; where the flow enters and leaves they stay, since
/// without them the flow follows the facets: on a coarse sphere the drag is 1.7 times as large.
#[device]
#[inline(always)]
pub(super) fn boundary_flux<F: Real>(
    f: usize,
    k: usize,
    kind: u32,
    inside: Trace<F>,
    n: Vec3<F>,
    gas: &GasView<'_, F>,
    #[comptime] form: FluxForm,
) -> BoundaryFlux<F> {
    let gamma = gas.gamma;
    let b = k - gas.boundary.first_point;
    let q = inside.state.primitive(gamma);
    let prescribed = gas.boundary.prescribed.primitive_at(b);
    let wall_normal = gas.boundary.normal.at(b);
    let outside = exterior::<F>(kind, q, prescribed, wall_normal, gamma);
    let mut convective = numerical_flux::<F>(q, outside, n, gamma, form);
    if comptime!(gas.boundary.is_closed) && is_wall(kind) {
        convective = Conserved::<F>::of(F::literal(0.0), convective.momentum(), F::literal(0.0));
    }
    let mut viscous = Conserved::<F>::zero();
    let mut heat = F::literal(0.0);
    if comptime!(gas.viscous.law != ViscosityLaw::Inviscid) {
        let gradient = PrimitiveGradient::<F>::of(inside.state, inside.gradient, gamma);
        let spacing = gas.viscous.spacing[f];
        let through =
            boundary_viscous_flux::<F>(kind, q, prescribed, gradient, n, spacing, &gas.viscous);
        viscous = through.flux;
        heat = through.heat;
    }
    BoundaryFlux::<F> { outside, convective, viscous, heat }
}

/// Least density and pressure of a bounded trace over those of the mean.
const LEAST_FRACTION: f64 = 0.1;

/// q̄ + θ (q − q̄), θ the largest in [0, 1] such that density and, by its concavity, pressure are at least a fraction of those of q̄.
///
/// Source: Zhang & Shu, J. Comput. Phys. 229 (2010) 8918.
#[device]
#[inline(always)]
pub(super) fn bounded<F: Real>(q: Conserved<F>, mean: Conserved<F>, gamma: F) -> Conserved<F> {
    let one = F::literal(1.0);
    let allowed = F::literal(1.0 - LEAST_FRACTION);
    let mut state = q;
    let fall = mean.density - q.density;
    if fall > allowed * mean.density {
        state = mean + (q - mean) * (allowed * mean.density / fall);
    }
    let pressure = mean.pressure(gamma);
    let fall_of_pressure = pressure - state.pressure(gamma);
    if fall_of_pressure > allowed * pressure {
        state = mean + (state - mean) * (allowed * pressure / fall_of_pressure).min(one);
    }
    state
}

/// The trace of cell `c` at `d` from its centroid: of its polynomial or, if `is_constant`, of its mean.
#[device]
#[inline(always)]
pub(super) fn trace<F: Real>(
    c: usize,
    d: Vec3<F>,
    polynomials: &Polynomials<'_, F>,
    gas: &GasView<'_, F>,
    #[comptime] is_constant: bool,
) -> Trace<F> {
    let has_gradient = comptime!(gas.viscous.law != ViscosityLaw::Inviscid);
    let zero = Conserved::<F>::zero();
    let mut gradient = StateGradient::<F> { x: zero, y: zero, z: zero };
    let mut state = zero;
    if comptime!(is_constant) {
        state = polynomials.mean(c);
    } else {
        state = polynomials.at_offset(c, d);
        if comptime!(gas.bounds_traces) {
            state = bounded::<F>(state, polynomials.mean(c), gas.gamma);
        }
        if has_gradient {
            gradient = polynomials.gradient(c, d);
        }
    }
    Trace::<F> { state, gradient }
}

/// Σ_q F(q_l(x_q), q_r(x_q), n_q) |S_q| over the points of a face, with the polynomials of both cells or their means; at a boundary
/// the right state is the exterior one.
#[device]
#[inline(always)]
pub(super) fn flux_through<F: Real>(
    f: usize,
    faces: &FaceView<'_, F>,
    points: &FacePoints<'_, F>,
    polynomials: &Polynomials<'_, F>,
    gas: &GasView<'_, F>,
    #[comptime] is_constant: bool,
    #[comptime] form: FluxForm,
) -> Conserved<F> {
    let viscous = comptime!(gas.viscous.law != ViscosityLaw::Inviscid);
    let l = faces.left[f] as usize;
    let (first, end) = points.range(f);
    let mut sum = Conserved::<F>::zero();
    if f < faces.n_interior {
        let r = faces.right[f] as usize;
        for k in first..end {
            let s = points.area.at(k);
            let size = s.dot(s).sqrt();
            let n = s * (1.0 / size);
            let from_left = points.from_left.at(k);
            let from_right = points.from_right.at(k);
            let left = trace::<F>(l, from_left, polynomials, gas, is_constant);
            let right = trace::<F>(r, from_right, polynomials, gas, is_constant);
            sum += flux_between::<F>(f, left, right, n, gas, form) * size;
        }
    } else {
        let kind = gas.boundary.kind[f - faces.n_interior];
        for k in first..end {
            let s = points.area.at(k);
            let size = s.dot(s).sqrt();
            let n = s * (1.0 / size);
            let from_left = points.from_left.at(k);
            let inside = trace::<F>(l, from_left, polynomials, gas, is_constant);
            let through = boundary_flux::<F>(f, k, kind, inside, n, gas, form);
            let mut flux = through.convective;
            if viscous {
                flux += through.viscous;
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
    flux_through::<F>(f, faces, points, polynomials, gas, false, comptime!(gas.form))
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
    /// γ.
    pub gamma: F,
    /// Whether Δt is local.
    #[comptime]
    pub is_local: bool,
    /// Whether s is added.
    #[comptime]
    pub has_sum: bool,
}

/// q of a stage, a qⁿ + b q + e s + c Δt R with R = −(1/V) Σ_f σ F_f + S, S a source and s a sum of earlier stages; counts cells
/// without a positive density and pressure.
///
/// Traffic a cell: 8 + 120, a face 40, an item 4 (f64); a source and a sum 40 each.
#[kernel(
    out(next),
    reduce(sum),
    specialize(has_source = false, stage.is_local = false, stage.has_sum = false)
)]
pub(super) fn advance_stage<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    flux: &States<F>,
    q: &States<F>,
    source: &States<F>,
    stage: &StageView<F>,
    #[comptime] has_source: bool,
) -> (Conserved<F>, F) {
    let one = F::literal(1.0);
    let zero = F::literal(0.0);
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
    let mut troubled = one;
    // Comparisons with a NaN are false.
    if next.density > zero && next.pressure(stage.gamma) > zero {
        troubled = zero;
    }
    (next, troubled)
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
        rate += 2.0 * viscous.diffusivity(state, gamma) * squares / (volume * volume);
    }
    rate
}

/// CFL/λ. Traffic 2s.
#[kernel(out(step))]
pub(super) fn step_of_rate<F: Real>(c: usize, rate: &View<F>, cfl: F) -> F {
    cfl / rate[c]
}
