//! Entity functions of the collocated arrangement.
//!
//! A vector is three fields, `[n]` each, and its gradient three gradients, `[3][n]` each. In 2D the third of
//! both is not read. Traffic counts each array once, scalars of `s` bytes, indices of 4, for d
//! components.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use crate::backend::View;
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Interpolation of a convected quantity to a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convection {
    /// Linear between the two cells: second order, no dissipation.
    Central,
    /// The value of the upwind cell: first order.
    Upwind,
    /// The upwind value extrapolated to the face by the gradient of the upwind cell: second order.
    LinearUpwind,
    /// Hermite's cubic through the values and gradients of both cells, for the convected quantity, the mass
    /// flux and the pressure: second order, with smaller errors than central on quadrilaterals and
    /// hexahedra.
    Cubic,
}

impl Convection {
    /// Whether gradients of the convected quantity are read.
    pub fn reads_gradients(self) -> bool {
        matches!(self, Convection::LinearUpwind | Convection::Cubic)
    }
}

/// The vector of entity `i`; its third component is 0 in 2D.
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

/// φ at an interior face, linear along the line between the centroids, with the skewness correction by
/// `gradient` unless `unskewed`.
#[device]
#[inline(always)]
fn linear_at_face<F: Real>(
    phi: &View<F>,
    gradient: &View<F>,
    l: usize,
    r: usize,
    w: F,
    skewness: Vec3<F>,
    n_cells: usize,
    #[comptime] unskewed: bool,
) -> F {
    let v = F::literal(1.0) - w;
    let mut value = w * phi[l] + v * phi[r];
    if comptime!(!unskewed) {
        let at_left = Vec3::<F>::at(gradient, l, n_cells).dot(skewness);
        let at_right = Vec3::<F>::at(gradient, r, n_cells).dot(skewness);
        value += w * at_left + v * at_right;
    }
    value
}

/// The difference at a face of Hermite's cubic through values and gradients of both cells and the linear
/// interpolant.
#[device]
#[inline(always)]
fn cubic_part<F: Real>(
    phi: &View<F>,
    gradient: &View<F>,
    l: usize,
    r: usize,
    w: F,
    delta: Vec3<F>,
    n_cells: usize,
) -> F {
    let v = F::literal(1.0) - w;
    let at_left = Vec3::<F>::at(gradient, l, n_cells).dot(delta);
    let at_right = Vec3::<F>::at(gradient, r, n_cells).dot(delta);
    w * v * ((w - v) * (phi[l] - phi[r]) + w * at_left - v * at_right)
}

/// φ at a boundary face: the Dirichlet value, or that of the cell extrapolated with ∂φ/∂n = 0.
/// `dirichlet_index` is 1 + the index of the prescribed value, 0 where there is none.
///
/// Traffic a boundary face: 8 + 6s.
#[kernel(boundary_value, out(value))]
pub fn value_at_boundary<F: Real>(
    b: usize,
    left: &View<u32>,
    dirichlet_index: &View<u32>,
    prescribed: &View<F>,
    phi: &View<F>,
    gradient: &View<F>,
    skewness: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] unskewed: bool,
) -> F {
    let mut value = F::literal(0.0);
    if dirichlet_index[b] > 0 {
        value = prescribed[(dirichlet_index[b] - 1) as usize];
    } else {
        let c = left[n_interior + b] as usize;
        value = phi[c];
        if comptime!(!unskewed) {
            let o = Vec3::<F>::at(skewness, n_interior + b, n_faces);
            value += Vec3::<F>::at(gradient, c, n_cells).dot(o);
        }
    }
    value
}

/// ∇p_c = (1/V_c) Σ_f σ p_f S_f, p_f interpolated as in `faces` with a gradient exact for linear fields; the
/// result is exact for them too. On regular meshes of any element a checkerboard has no gradient: the
/// divergence of interpolated velocities has a checkerboard part, hence also the pressure that removes it,
/// and a gradient that does not filter it, as that of least squares, would exert a force that refinement
/// does not reduce.
///
/// Traffic a cell: 4 + 4s, an item 4, a face 8 + 4s (4s more where skewed, 3s where cubic), a
/// boundary face s, a cell across s (4s).
#[kernel(pressure_gradient, out(g))]
pub fn pressure_gradient_of_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    left: &View<u32>,
    right: &View<u32>,
    p: &View<F>,
    lsq_gradient: &View<F>,
    at_boundary: &View<F>,
    weight: &View<F>,
    skewness: &View<F>,
    delta: &View<F>,
    area: &View<F>,
    volume: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] unskewed: bool,
    #[comptime] cubic: bool,
) -> Vec3<F> {
    let mut g = Vec3::<F>::zero();
    for k in offsets[c] as usize..offsets[c + 1] as usize {
        let item = faces[k];
        let f = without_sign(item);
        let mut value = F::literal(0.0);
        if f < n_interior {
            let mut o = Vec3::<F>::zero();
            if comptime!(!unskewed) {
                o = Vec3::<F>::at(skewness, f, n_faces);
            }
            let (l, r) = (left[f] as usize, right[f] as usize);
            value = linear_at_face::<F>(p, lsq_gradient, l, r, weight[f], o, n_cells, unskewed);
            if comptime!(cubic) {
                let d = Vec3::<F>::at(delta, f, n_faces);
                value += cubic_part::<F>(p, lsq_gradient, l, r, weight[f], d, n_cells);
            }
        } else {
            value = at_boundary[f - n_interior];
        }
        let outward = with_sign::<F>(item, value);
        g = g + Vec3::<F>::at(area, f, n_faces) * outward;
    }
    g * (F::literal(1.0) / volume[c])
}

/// g ← s g + (1 − s) g_lsq of listed entries: the Gauss gradient blended with the
/// least-squares gradient. Traffic 4 + 4s.
#[kernel(blend_gradients, update(g), indexed)]
pub fn blended_gradient<F: Real>(
    i: usize,
    place: usize,
    share: &View<F>,
    lsq_gradient: &View<F>,
    g: F,
) -> F {
    share[i] * g + (F::literal(1.0) - share[i]) * lsq_gradient[place]
}

/// F_f φ_f, the convective flux through a face. Backflow where φ is not prescribed has `backflow_factor`
/// times the cell's value: 0 at a pressure outlet, 1 at an opening.
///
/// Traffic a face: 8 + 2s (5s where skewed, 8s with gradients), a boundary face 2s; a cell s (4s).
#[kernel(convective_flux, out(convective))]
pub fn convective_flux_of_face<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    flux: &View<F>,
    phi: &View<F>,
    gradient: &View<F>,
    at_boundary: &View<F>,
    backflow_factor: &View<F>,
    weight: &View<F>,
    skewness: &View<F>,
    delta: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] convection: Convection,
    #[comptime] unskewed: bool,
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
            if comptime!(!unskewed) {
                o = Vec3::<F>::at(skewness, f, n_faces);
            }
            value = linear_at_face::<F>(phi, gradient, l, r, w, o, n_cells, unskewed);
            if comptime!(convection == Convection::Cubic) {
                let d = Vec3::<F>::at(delta, f, n_faces);
                value += cubic_part::<F>(phi, gradient, l, r, w, d, n_cells);
            }
        } else {
            let upwind = if from_left { l } else { r };
            value = phi[upwind];
            if comptime!(convection == Convection::LinearUpwind) {
                // x_f − x_l = x_f − x_i + (1 − w) d, x_f − x_r = x_f − x_i − w d.
                let along = if from_left { F::literal(1.0) - w } else { -w };
                let d = Vec3::<F>::at(delta, f, n_faces) * along;
                let to_face = d + Vec3::<F>::at(skewness, f, n_faces);
                value += Vec3::<F>::at(gradient, upwind, n_cells).dot(to_face);
            }
        }
    } else {
        let b = f - n_interior;
        value = at_boundary[b];
        if through < zero {
            value *= backflow_factor[b];
        }
    }
    through * value
}

/// r_c ← −r_c + V (s − ∂p) + history V (u − u_before) − b₀ C − b₁ C_before: the residual of a transport
/// equation, r on entry the diffusive matrix times u, C the convective flux out of the cell; ∂p only
/// `with_pressure`.
///
/// Traffic 10s (9s).
#[kernel(transport_residual, update(r))]
pub fn residual_of_transport<F: Real>(
    c: usize,
    volume: &View<F>,
    source: &View<F>,
    grad_p: &View<F>,
    history: F,
    u: &View<F>,
    before: &View<F>,
    convection: &View<F>,
    convection_before: &View<F>,
    b0: F,
    b1: F,
    component: usize,
    n_cells: usize,
    #[comptime] with_pressure: bool,
    r: F,
) -> F {
    let mut inertia = history * (u[c] - before[c]);
    if comptime!(with_pressure) {
        inertia -= grad_p[component * n_cells + c];
    }
    source[c] + volume[c] * inertia - r - b0 * convection[c] - b1 * convection_before[c]
}

/// The flux of an interpolated velocity through a face, u_f·S.
///
/// Traffic a face: 8 + (1 + d)s (4s more where skewed, d s where cubic), a boundary face d s, a cell
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
    skewness: &View<F>,
    delta: &View<F>,
    area: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] dimension: usize,
    #[comptime] unskewed: bool,
    #[comptime] cubic: bool,
) -> F {
    let mut value = Vec3::<F>::zero();
    if f < n_interior {
        let (l, r) = (left[f] as usize, right[f] as usize);
        let share = weight[f];
        let mut o = Vec3::<F>::zero();
        if comptime!(!unskewed) {
            o = Vec3::<F>::at(skewness, f, n_faces);
        }
        value.x = linear_at_face::<F>(u, du, l, r, share, o, n_cells, unskewed);
        value.y = linear_at_face::<F>(v, dv, l, r, share, o, n_cells, unskewed);
        if comptime!(dimension == 3) {
            value.z = linear_at_face::<F>(w, dw, l, r, share, o, n_cells, unskewed);
        }
        if comptime!(cubic) {
            let d = Vec3::<F>::at(delta, f, n_faces);
            value.x += cubic_part::<F>(u, du, l, r, share, d, n_cells);
            value.y += cubic_part::<F>(v, dv, l, r, share, d, n_cells);
            if comptime!(dimension == 3) {
                value.z += cubic_part::<F>(w, dw, l, r, share, d, n_cells);
            }
        }
    } else {
        let b = f - n_interior;
        value = vector_at::<F>(at_boundary_x, at_boundary_y, at_boundary_z, b, dimension);
    }
    value.dot(Vec3::<F>::at(area, f, n_faces))
}

/// r ← r − p at faces of prescribed pressure. Traffic 8 + 3s.
#[kernel(subtract_prescribed, update(r), indexed)]
pub fn residual_less_prescribed<F: Real>(
    _i: usize,
    f: usize,
    dirichlet_index: &View<u32>,
    prescribed: &View<F>,
    n_interior: usize,
    r: F,
) -> F {
    r - prescribed[(dirichlet_index[f - n_interior] - 1) as usize]
}

/// F ← F + a (ψ_r − ψ_l) + t·∇ψ_f, without t·∇ψ if `two_point`. At the boundary a = 0 where ψ is not
/// prescribed.
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
    #[comptime] two_point: bool,
    flux: F,
) -> F {
    let l = left[f] as usize;
    let mut difference = F::literal(0.0);
    let mut g = Vec3::<F>::zero();
    if comptime!(!two_point) {
        g = Vec3::<F>::at(gradient, l, n_cells);
    }
    if f < n_interior {
        let r = right[f] as usize;
        difference = psi[r] - psi[l];
        if comptime!(!two_point) {
            let w = weight[f];
            let other = Vec3::<F>::at(gradient, r, n_cells);
            g = g * w + other * (F::literal(1.0) - w);
        }
    } else {
        difference = psi_at_boundary[f - n_interior] - psi[l];
    }
    let mut corrected = flux + conductance[f] * difference;
    if comptime!(!two_point) {
        corrected += g.dot(Vec3::<F>::at(tangential, f, n_faces));
    }
    corrected
}

/// u ← u* + ∂ψ, or u* unless `projected`; the old value becomes that of the previous level. Reduced: the
/// largest |change|, V u²/2 and the number of non-finite values.
///
/// Traffic 6s.
#[kernel(advance_velocity, update(u), out(before), reduce(max, sum, sum))]
pub fn advanced_velocity<F: Real>(
    c: usize,
    predicted: &View<F>,
    grad_psi: &View<F>,
    volume: &View<F>,
    component: usize,
    n_cells: usize,
    #[comptime] projected: bool,
    u: F,
) -> (F, F, F, F, f64) {
    let mut new = predicted[c];
    if comptime!(projected) {
        new += grad_psi[component * n_cells + c];
    }
    let mut non_finite = f64::literal(1.0);
    // Comparisons with NaN are false.
    if new.abs() <= F::literal(1e30) {
        non_finite = f64::literal(0.0);
    }
    let energy = F::literal(0.5) * volume[c] * new * new;
    (new, u, (new - u).abs(), energy, non_finite)
}

/// T ← T + δ; the old value becomes that of the previous level. Reduced: the largest |δ|, 0 and the number of
/// non-finite values.
///
/// Traffic 4s.
#[kernel(advance_scalar, update(t), out(before), reduce(max, sum, sum))]
pub fn advanced_scalar<F: Real>(c: usize, increment: &View<F>, t: F) -> (F, F, F, F, f64) {
    let new = t + increment[c];
    let mut non_finite = f64::literal(1.0);
    // Comparisons with NaN are false.
    if new.abs() <= F::literal(1e30) {
        non_finite = f64::literal(0.0);
    }
    (new, t, increment[c].abs(), F::literal(0.0), non_finite)
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
/// 1996; Guermond & Shen 2004). ν = 0 leaves out that term, `previous_weight` = 0 the old p (classical step).
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
    previous_weight: F,
    p: F,
) -> F {
    previous_weight * p - shift * psi[c] - viscosity * divergence[c] / volume[c]
}

/// The convective rate Σ|F| / 2V plus `viscous`. Reduced: the largest Σ|F| / 2V (times Δt the Courant
/// number) and the largest |D F| / V.
///
/// Traffic a cell: 4 + 3s, an item 4, a face s.
#[kernel(convective_rate, out(rate), reduce(max, max))]
pub fn convective_rate_of_cell<F: Real>(
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
/// extrapolated in time by `extrapolation` (u − u_before) and in space by its gradient.
///
/// Traffic a face: 8 + (2d + 4)s, (3d + 3)s more where skewed.
#[kernel(slip_velocity, out(prescribed), indexed)]
pub fn velocity_along_wall<F: Real>(
    i: usize,
    _place: usize,
    wall_faces: &View<u32>,
    left: &View<u32>,
    area: &View<F>,
    skewness: &View<F>,
    u: &View<F>,
    v: &View<F>,
    w: &View<F>,
    before_x: &View<F>,
    before_y: &View<F>,
    before_z: &View<F>,
    du: &View<F>,
    dv: &View<F>,
    dw: &View<F>,
    extrapolation: F,
    component: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] dimension: usize,
    #[comptime] unskewed: bool,
) -> F {
    let f = wall_faces[i] as usize;
    let c = left[f] as usize;
    let current = vector_at::<F>(u, v, w, c, dimension);
    let previous = vector_at::<F>(before_x, before_y, before_z, c, dimension);
    let mut guess = current + (current - previous) * extrapolation;
    let s = Vec3::<F>::at(area, f, n_faces);
    if comptime!(!unskewed) {
        let o = Vec3::<F>::at(skewness, f, n_faces);
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
