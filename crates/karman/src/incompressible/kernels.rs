//! Entity functions of the collocated arrangement.
//!
//! A vector is three fields, `[n]` each, and its gradient three gradients, `[3][n]` each. In 2D the third of
//! both is not read. Traffic counts each array once, scalars of `s` bytes, indices of 4, for d
//! components.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use crate::backend::View;
use crate::finite_volume::{CellFaces, CellField, DiffusiveFaces, FaceView, VelocityField};
use crate::operators::incidence::{with_sign, without_sign};
use crate::operators::neighbours::is_cell;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// β, the weight of the neighbouring cells in the rotational term, so that an alternating ∇·u* is multiplied by 0.4 (decision 18).
const DIVERGENCE_SMOOTHING: f64 = 0.3;

/// y at the listed places ← x. Traffic 4 + 2s.
#[kernel(out(y), indexed)]
pub(super) fn put_listed<F: Real>(i: usize, _place: usize, x: &View<F>) -> F {
    x[i]
}

/// r ← r − p at faces of prescribed pressure. Traffic 8 + 3s.
#[kernel(update(r), indexed)]
pub fn subtract_prescribed<F: Real>(
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
#[kernel(update(flux))]
pub fn correct_flux<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    psi: &CellField<F>,
    diffusion: &DiffusiveFaces<F>,
    flux: F,
) -> F {
    let l = faces.left[f] as usize;
    let mut difference = 0.0;
    let mut g = Vec3::<F>::zero();
    if comptime!(!diffusion.two_point) {
        g = psi.gradient.at(l);
    }
    if f < faces.n_interior {
        let r = faces.right[f] as usize;
        difference = psi.value[r] - psi.value[l];
        if comptime!(!diffusion.two_point) {
            let w = faces.weight[f];
            g = g * w + psi.gradient.at(r) * (1.0 - w);
        }
    } else {
        difference = psi.at_boundary[f - faces.n_interior] - psi.value[l];
    }
    let mut corrected = flux + diffusion.conductance[f] * difference;
    if comptime!(!diffusion.two_point) {
        corrected += g.dot(diffusion.tangential.at(f));
    }
    corrected
}

/// u ← u* + ∂ψ, or u* unless `projected`; the old value becomes that of the previous level. Reduced: the
/// largest |change|, V u²/2 and the number of non-finite values.
///
/// Traffic 6s.
#[kernel(update(u), out(before), reduce(max, sum, sum))]
pub fn advance_velocity<F: Real>(
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
#[kernel(update(t), out(before), reduce(max, sum, sum))]
pub fn advance_scalar<F: Real>(c: usize, increment: &View<F>, t: F) -> (F, F, F, F, f64) {
    let new = t + increment[c];
    let mut non_finite = f64::literal(1.0);
    // Comparisons with NaN are false.
    if new.abs() <= F::literal(1e30) {
        non_finite = f64::literal(0.0);
    }
    (new, t, increment[c].abs(), F::literal(0.0), non_finite)
}

/// p ← p − shift ψ − ν D F* / V: incremental with the rotational term (Timmermans, Minev & van de Vosse
/// 1996; Guermond & Shen 2004). ν = 0 leaves out that term, `previous_weight` = 0 the old p (classical step).
///
/// Traffic 4s.
#[kernel(update(p))]
pub fn advance_pressure<F: Real>(
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

/// p ← p − w ν q̄, q̄ = (1 − β) q + β × the mean of q over the neighbouring cells by conductances a, q = D F* / V; β = 0.3, w = `weight`.
///
/// Traffic a cell: 4 + 5s, an item 8, a face s.
#[kernel(update(p))]
pub fn subtract_smoothed_divergence<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    neighbours: &View<u32>,
    conductance: &View<F>,
    divergence: &View<F>,
    weight: &View<F>,
    viscosity: F,
    p: F,
) -> F {
    let own = divergence[c] / cells.volume[c];
    let zero = F::literal(0.0);
    let mut difference = zero;
    let mut sum = zero;
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let j = neighbours[k];
        if is_cell(j) {
            let other = j as usize;
            let a = conductance[without_sign(cells.items[k])];
            difference += a * (divergence[other] / cells.volume[other] - own);
            sum += a;
        }
    }
    let mut mean = zero;
    if sum > zero {
        mean = difference / sum;
    }
    p - weight[c] * viscosity * (own + F::literal(DIVERGENCE_SMOOTHING) * mean)
}

/// The convective rate Σ|F| / 2V plus `viscous`. Reduced: the largest Σ|F| / 2V (times Δt the Courant
/// number) and the largest |D F| / V.
///
/// Traffic a cell: 4 + 3s, an item 4, a face s.
#[kernel(out(rate), reduce(max, max))]
pub fn convective_rate<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    flux: &View<F>,
    viscous: &View<F>,
) -> (F, F, F) {
    let mut through = F::literal(0.0);
    let mut divergence = F::literal(0.0);
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let item = cells.items[k];
        let outward = with_sign::<F>(item, flux[without_sign(item)]);
        through += outward.abs();
        divergence += outward;
    }
    let own = 0.5 * through / cells.volume[c];
    (own + viscous[c], own, divergence.abs() / cells.volume[c])
}

/// Component `component` of the tangential part u − (u·n) n of the velocity at a slip face: the cell's,
/// extrapolated in time by `extrapolation` (u − u_before) and in space by its gradient.
///
/// Traffic a face: 8 + (2d + 4)s, (3d + 3)s more where skewed.
#[kernel(out(prescribed), indexed)]
pub fn slip_velocity<F: Real>(
    i: usize,
    _place: usize,
    wall_faces: &View<u32>,
    faces: &FaceView<F>,
    velocity: &VelocityField<F>,
    before: &VelocityField<F>,
    extrapolation: F,
    component: usize,
) -> F {
    let f = wall_faces[i] as usize;
    let c = faces.left[f] as usize;
    let current = velocity.at(c);
    let mut guess = current + (current - before.at(c)) * extrapolation;
    let s = faces.area.at(f);
    if comptime!(!faces.is_unskewed) {
        guess += velocity.derivative(c, faces.skewness.at(f));
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
