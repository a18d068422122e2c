//! Entity functions of incompressible flow, collocated.
//!
//! A vector is three fields, `[n]` each, and its gradient three gradients, `[3][n]` each. In a plane mesh the
//! third of both is not read. Traffic counts each array once, scalars of `s` bytes, indices of 4, for d
//! components.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use crate::backend::View;
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// How the velocity that crosses a face carries itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convection {
    /// Linear between the two cells: second order, no dissipation.
    Central,
    /// The value of the cell it comes from: first order.
    Upwind,
    /// That value carried to the face by the cell's gradient: second order.
    LinearUpwind,
    /// The cubic that has the values and the gradients of both cells, for what is carried, for what carries
    /// it and for the pressure: second order like the first, with smaller errors on quadrilaterals and
    /// hexahedra.
    Cubic,
}

impl Convection {
    /// Whether the gradients of what is carried are read.
    pub fn reads_gradients(self) -> bool {
        matches!(self, Convection::LinearUpwind | Convection::Cubic)
    }
}

/// A component at a point of entity `i`, or 0 where a plane mesh has none.
#[device]
#[inline(always)]
fn vector_at<F: Real>(
    x: &View<F>,
    y: &View<F>,
    z: &View<F>,
    i: usize,
    #[comptime] dimension: usize,
) -> Vec3<F> {
    let mut last = F::literal(0.0);
    if comptime!(dimension == 3) {
        last = z[i];
    }
    Vec3::<F> { x: x[i], y: y[i], z: last }
}

/// φ at a face between two cells, linear along the line of their centroids; `slope` adds what carries it
/// from there to the centroid of the face.
#[device]
#[inline(always)]
fn between<F: Real>(
    phi: &View<F>,
    gradient: &View<F>,
    l: usize,
    r: usize,
    w: F,
    offset: Vec3<F>,
    n_cells: usize,
    #[comptime] straight: bool,
) -> F {
    let v = F::literal(1.0) - w;
    let mut value = w * phi[l] + v * phi[r];
    if comptime!(!straight) {
        let at_left = Vec3::<F>::at(gradient, l, n_cells).dot(offset);
        let at_right = Vec3::<F>::at(gradient, r, n_cells).dot(offset);
        value += w * at_left + v * at_right;
    }
    value
}

/// What Hermite's cubic, which has the values and the gradients of both cells, has at a face more than the
/// line through the values.
#[device]
#[inline(always)]
fn beyond_linear<F: Real>(
    phi: &View<F>,
    gradient: &View<F>,
    l: usize,
    r: usize,
    w: F,
    span: Vec3<F>,
    n_cells: usize,
) -> F {
    let v = F::literal(1.0) - w;
    let at_left = Vec3::<F>::at(gradient, l, n_cells).dot(span);
    let at_right = Vec3::<F>::at(gradient, r, n_cells).dot(span);
    w * v * ((w - v) * (phi[l] - phi[r]) + w * at_left - v * at_right)
}

/// φ at a boundary face: what is held there, or the cell's with no gradient along the normal. `held` is
/// 1 + the index of the prescribed value, 0 where there is none.
///
/// Traffic a boundary face: 8 + 6s.
#[kernel(boundary_value, out(value))]
pub fn value_at_boundary<F: Real>(
    b: usize,
    left: &View<u32>,
    held: &View<u32>,
    prescribed: &View<F>,
    phi: &View<F>,
    gradient: &View<F>,
    offset: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] straight: bool,
) -> F {
    let mut value = F::literal(0.0);
    if held[b] > 0 {
        value = prescribed[(held[b] - 1) as usize];
    } else {
        let c = left[n_interior + b] as usize;
        value = phi[c];
        if comptime!(!straight) {
            let o = Vec3::<F>::at(offset, n_interior + b, n_faces);
            value += Vec3::<F>::at(gradient, c, n_cells).dot(o);
        }
    }
    value
}

/// ∇p_c = (1/V_c) Σ_f σ p_f S_f, p_f interpolated as `faces` says with a gradient exact for
/// linear fields, which makes this one exact for them too. Where up and down alternate from cell to cell it
/// gives 0 on regular meshes of any element: fluxes of interpolated velocities have a divergence that
/// alternates so, the pressure that takes it out does, and a gradient that saw it, as that of least squares
/// does, would push the flow with a force that no refinement makes smaller.
///
/// Traffic a cell: 4 + 4s, an item 4, a face 8 + 4s (4s more where not straight, 3s where cubic), a
/// boundary face s, a cell across s (4s).
#[kernel(pressure_gradient, out(g))]
pub fn pressure_gradient_of_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    left: &View<u32>,
    right: &View<u32>,
    p: &View<F>,
    slope: &View<F>,
    at_boundary: &View<F>,
    weight: &View<F>,
    offset: &View<F>,
    span: &View<F>,
    area: &View<F>,
    volume: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] straight: bool,
    #[comptime] cubic: bool,
) -> Vec3<F> {
    let mut g = Vec3::<F>::zero();
    for k in offsets[c] as usize..offsets[c + 1] as usize {
        let item = faces[k];
        let f = without_sign(item);
        let mut value = F::literal(0.0);
        if f < n_interior {
            let mut o = Vec3::<F>::zero();
            if comptime!(!straight) {
                o = Vec3::<F>::at(offset, f, n_faces);
            }
            let (l, r) = (left[f] as usize, right[f] as usize);
            value = between::<F>(p, slope, l, r, weight[f], o, n_cells, straight);
            if comptime!(cubic) {
                let d = Vec3::<F>::at(span, f, n_faces);
                value += beyond_linear::<F>(p, slope, l, r, weight[f], d, n_cells);
            }
        } else {
            value = at_boundary[f - n_interior];
        }
        let outward = with_sign::<F>(item, value);
        g = g + Vec3::<F>::at(area, f, n_faces) * outward;
    }
    g * (F::literal(1.0) / volume[c])
}

/// g ← s g + (1 − s) g_lsq of listed components of gradients: a Gauss gradient blended with that of least
/// squares. Traffic 4 + 4s.
#[kernel(blend_gradients, update(g), indexed)]
pub fn blended_gradient<F: Real>(
    i: usize,
    place: usize,
    share: &View<F>,
    fitted: &View<F>,
    g: F,
) -> F {
    share[i] * g + (F::literal(1.0) - share[i]) * fitted[place]
}

/// F_f φ_f, what the flow carries through a face. What enters where nothing is held brings `entering`
/// times the cell's value: 0 at an outlet, 1 where flow may enter.
///
/// Traffic a face: 8 + 2s (5s where not straight, 8s with gradients), a boundary face 2s; a cell s (4s).
#[kernel(carried_flux, out(carried))]
pub fn carried_through_face<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    flux: &View<F>,
    phi: &View<F>,
    gradient: &View<F>,
    at_boundary: &View<F>,
    entering: &View<F>,
    weight: &View<F>,
    offset: &View<F>,
    span: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] convection: Convection,
    #[comptime] straight: bool,
) -> F {
    let through = flux[f];
    let zero = F::literal(0.0);
    let mut value = zero;
    if f < n_interior {
        let (l, r) = (left[f] as usize, right[f] as usize);
        let w = weight[f];
        let from_left = through >= zero;
        if comptime!(convection == Convection::Central || convection == Convection::Cubic) {
            let mut o = Vec3::<F>::zero();
            if comptime!(!straight) {
                o = Vec3::<F>::at(offset, f, n_faces);
            }
            value = between::<F>(phi, gradient, l, r, w, o, n_cells, straight);
            if comptime!(convection == Convection::Cubic) {
                let d = Vec3::<F>::at(span, f, n_faces);
                value += beyond_linear::<F>(phi, gradient, l, r, w, d, n_cells);
            }
        } else {
            let upwind = if from_left { l } else { r };
            value = phi[upwind];
            if comptime!(convection == Convection::LinearUpwind) {
                // x_f − x_l = x_f − x_i + (1 − w) d, x_f − x_r = x_f − x_i − w d.
                let along = if from_left { F::literal(1.0) - w } else { -w };
                let d = Vec3::<F>::at(span, f, n_faces) * along;
                let way = d + Vec3::<F>::at(offset, f, n_faces);
                value += Vec3::<F>::at(gradient, upwind, n_cells).dot(way);
            }
        }
    } else {
        let b = f - n_interior;
        value = at_boundary[b];
        if through < zero {
            value *= entering[b];
        }
    }
    through * value
}

/// r_c ← −r_c + V (s − ∂p) + m V (u − u_before) − a C − b C_before: what is left of a quantity's
/// equation, r on entry the diffusive matrix times u, C what the flow carries out of the cell; ∂p is left
/// out where no pressure drives it.
///
/// Traffic 10s (9s).
#[kernel(transport_residual, update(r))]
pub fn residual_of_transport<F: Real>(
    c: usize,
    volume: &View<F>,
    source: &View<F>,
    slope: &View<F>,
    memory: F,
    u: &View<F>,
    before: &View<F>,
    carried: &View<F>,
    carried_before: &View<F>,
    now: F,
    then: F,
    component: usize,
    n_cells: usize,
    #[comptime] driven: bool,
    r: F,
) -> F {
    let mut inertia = memory * (u[c] - before[c]);
    if comptime!(driven) {
        inertia -= slope[component * n_cells + c];
    }
    source[c] + volume[c] * inertia - r - now * carried[c] - then * carried_before[c]
}

/// The flux of an interpolated velocity through a face, u_f·S.
///
/// Traffic a face: 8 + (1 + d)s (4s more where not straight, d s where cubic), a boundary face d s, a cell
/// d s (4d s).
#[kernel(interpolated_flux, out(flux))]
pub fn interpolated_through_face<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    u: &View<F>,
    v: &View<F>,
    w: &View<F>,
    du: &View<F>,
    dv: &View<F>,
    dw: &View<F>,
    at_boundary_x: &View<F>,
    at_boundary_y: &View<F>,
    at_boundary_z: &View<F>,
    weight: &View<F>,
    offset: &View<F>,
    span: &View<F>,
    area: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] dimension: usize,
    #[comptime] straight: bool,
    #[comptime] cubic: bool,
) -> F {
    let mut value = Vec3::<F>::zero();
    if f < n_interior {
        let (l, r) = (left[f] as usize, right[f] as usize);
        let share = weight[f];
        let mut o = Vec3::<F>::zero();
        if comptime!(!straight) {
            o = Vec3::<F>::at(offset, f, n_faces);
        }
        value.x = between::<F>(u, du, l, r, share, o, n_cells, straight);
        value.y = between::<F>(v, dv, l, r, share, o, n_cells, straight);
        if comptime!(dimension == 3) {
            value.z = between::<F>(w, dw, l, r, share, o, n_cells, straight);
        }
        if comptime!(cubic) {
            let d = Vec3::<F>::at(span, f, n_faces);
            value.x += beyond_linear::<F>(u, du, l, r, share, d, n_cells);
            value.y += beyond_linear::<F>(v, dv, l, r, share, d, n_cells);
            if comptime!(dimension == 3) {
                value.z += beyond_linear::<F>(w, dw, l, r, share, d, n_cells);
            }
        }
    } else {
        let b = f - n_interior;
        value = vector_at::<F>(at_boundary_x, at_boundary_y, at_boundary_z, b, dimension);
    }
    value.dot(Vec3::<F>::at(area, f, n_faces))
}

/// r ← r − p at faces where the pressure is held. Traffic 8 + 3s.
#[kernel(take_held, update(r), indexed)]
pub fn residual_less_held<F: Real>(
    _i: usize,
    f: usize,
    held: &View<u32>,
    prescribed: &View<F>,
    n_interior: usize,
    r: F,
) -> F {
    r - prescribed[(held[f - n_interior] - 1) as usize]
}

/// F ← F + a (ψ_r − ψ_l) + t·∇ψ_f: the flux that the pressure corrects; t·∇ψ is left out where the
/// correction is `plain`. At the boundary ψ is given where a is not 0.
///
/// Traffic a face: 8 + 3s (7s), a cell s (4s).
#[kernel(correct_flux, update(flux))]
pub fn corrected_flux<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    conductance: &View<F>,
    psi: &View<F>,
    psi_at_boundary: &View<F>,
    tangential: &View<F>,
    weight: &View<F>,
    gradient: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] plain: bool,
    flux: F,
) -> F {
    let l = left[f] as usize;
    let mut difference = F::literal(0.0);
    let mut g = Vec3::<F>::zero();
    if comptime!(!plain) {
        g = Vec3::<F>::at(gradient, l, n_cells);
    }
    if f < n_interior {
        let r = right[f] as usize;
        difference = psi[r] - psi[l];
        if comptime!(!plain) {
            let w = weight[f];
            let other = Vec3::<F>::at(gradient, r, n_cells);
            g = g * w + other * (F::literal(1.0) - w);
        }
    } else {
        difference = psi_at_boundary[f - n_interior] - psi[l];
    }
    let mut corrected = flux + conductance[f] * difference;
    if comptime!(!plain) {
        corrected += g.dot(Vec3::<F>::at(tangential, f, n_faces));
    }
    corrected
}

/// A component at the new level, u* + ∂ψ, or u* as it is where it was not `projected` here; the old value becomes the one before. Reduced: the largest
/// |change|, V u²/2 and the number of values that are not finite.
///
/// Traffic 6s.
#[kernel(advance_velocity, update(u), out(before), reduce(max, sum, sum))]
pub fn advanced_velocity<F: Real>(
    c: usize,
    predicted: &View<F>,
    slope: &View<F>,
    volume: &View<F>,
    component: usize,
    n_cells: usize,
    #[comptime] projected: bool,
    u: F,
) -> (F, F, F, F, f64) {
    let mut new = predicted[c];
    if comptime!(projected) {
        new += slope[component * n_cells + c];
    }
    let mut fault = f64::literal(1.0);
    // Of what is not a number every comparison is false.
    if new.abs() <= F::literal(1e30) {
        fault = f64::literal(0.0);
    }
    let energy = F::literal(0.5) * volume[c] * new * new;
    (new, u, (new - u).abs(), energy, fault)
}

/// T ← T + δ; the old value becomes the one before. Reduced: the largest |δ|, 0 and the number of values
/// that are not finite.
///
/// Traffic 4s.
#[kernel(advance_scalar, update(t), out(before), reduce(max, sum, sum))]
pub fn advanced_scalar<F: Real>(c: usize, increment: &View<F>, t: F) -> (F, F, F, F, f64) {
    let new = t + increment[c];
    let mut fault = f64::literal(1.0);
    // Of what is not a number every comparison is false.
    if new.abs() <= F::literal(1e30) {
        fault = f64::literal(0.0);
    }
    (new, t, increment[c].abs(), F::literal(0.0), fault)
}

/// r ← r + V b (θ T + (1 − θ) T_before − T₀): Boussinesq's buoyancy along one axis, b = −β g.
///
/// Traffic 5s.
#[kernel(add_buoyancy, update(r))]
pub fn with_buoyancy<F: Real>(
    c: usize,
    volume: &View<F>,
    temperature: &View<F>,
    before: &View<F>,
    theta: F,
    reference: F,
    factor: F,
    r: F,
) -> F {
    let mean = theta * temperature[c] + (F::literal(1.0) - theta) * before[c];
    r + volume[c] * factor * (mean - reference)
}

/// p ← p − shift ψ − ν D F* / V: incremental with the rotational term (Timmermans, Minev & van de Vosse
/// 1996; Guermond & Shen 2004); ν = 0 leaves that out, `keep` = 0 the pressure before (the classical step).
///
/// Traffic 4s.
#[kernel(advance_pressure, update(p))]
pub fn advanced_pressure<F: Real>(
    c: usize,
    psi: &View<F>,
    divergence: &View<F>,
    volume: &View<F>,
    shift: F,
    viscosity: F,
    keep: F,
    p: F,
) -> F {
    keep * p - shift * psi[c] - viscosity * divergence[c] / volume[c]
}

/// The rate Σ|F| / 2V at which the flow exchanges what a cell holds, plus `viscous`. Reduced: the largest
/// Σ|F| / 2V (the step times it is the Courant number) and the largest |D F| / V.
///
/// Traffic a cell: 4 + 3s, an item 4, a face s.
#[kernel(exchange_rate, out(rate), reduce(max, max))]
pub fn exchange_rate_of_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    flux: &View<F>,
    volume: &View<F>,
    viscous: &View<F>,
) -> (F, F, F) {
    let mut through = F::literal(0.0);
    let mut divergence = F::literal(0.0);
    for k in offsets[c] as usize..offsets[c + 1] as usize {
        let item = faces[k];
        let outward = with_sign::<F>(item, flux[without_sign(item)]);
        through += outward.abs();
        divergence += outward;
    }
    let own = F::literal(0.5) * through / volume[c];
    (own + viscous[c], own, divergence.abs() / volume[c])
}

/// Component `component` of the tangential part u − (u·n) n of the velocity at a slip face: the cell's,
/// extrapolated in time by `ahead` (u − u_before) and carried along the wall to the face by its gradient.
///
/// Traffic a face: 8 + (2d + 4)s, (3d + 3)s more where not straight.
#[kernel(slip_velocity, out(prescribed), indexed)]
pub fn velocity_along_wall<F: Real>(
    i: usize,
    _place: usize,
    wall_faces: &View<u32>,
    left: &View<u32>,
    area: &View<F>,
    offset: &View<F>,
    u: &View<F>,
    v: &View<F>,
    w: &View<F>,
    before_x: &View<F>,
    before_y: &View<F>,
    before_z: &View<F>,
    du: &View<F>,
    dv: &View<F>,
    dw: &View<F>,
    ahead: F,
    component: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] dimension: usize,
    #[comptime] straight: bool,
) -> F {
    let f = wall_faces[i] as usize;
    let c = left[f] as usize;
    let now = vector_at::<F>(u, v, w, c, dimension);
    let then = vector_at::<F>(before_x, before_y, before_z, c, dimension);
    let mut guess = now + (now - then) * ahead;
    let s = Vec3::<F>::at(area, f, n_faces);
    if comptime!(!straight) {
        let o = Vec3::<F>::at(offset, f, n_faces);
        guess.x += Vec3::<F>::at(du, c, n_cells).dot(o);
        guess.y += Vec3::<F>::at(dv, c, n_cells).dot(o);
        if comptime!(dimension == 3) {
            guess.z += Vec3::<F>::at(dw, c, n_cells).dot(o);
        }
    }
    let along = guess.dot(s) / s.dot(s);
    let tangent = guess - s * along;
    let mut value = tangent.x;
    if component == 1 {
        value = tangent.y;
    } else if component == 2 {
        value = tangent.z;
    }
    value
}
