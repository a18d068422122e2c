//! Momentum interpolation of Rhie & Chow: fluxes at the faces from velocities in the cells.
//!
//! F = u_i·S + E, u_i the velocity interpolated along the line between the centroids. The correction E is
//! driven by the difference of the compact and the interpolated pressure gradient and relaxes to the
//! skewness correction K of u_i·S; see [`momentum_interpolation()`].
//!
//! Sources: Rhie & Chow, AIAA J. 21 (1983) 1525; Cubero & Fueyo, Numer. Heat Transfer B 52 (2007) 507.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::mesh_view::{CellField, FaceView, VelocityField};
use crate::backend::View;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// State of momentum interpolation, arrays of faces unless stated.
#[derive(Group, Clone, Copy)]
pub struct RhieChow<'a, F: Real> {
    /// E.
    pub correction: View<'a, F>,
    /// E of the previous level, or at the start of an explicit step.
    pub before: View<'a, F>,
    /// K.
    pub skewness_flux: View<'a, F>,
    /// a.
    pub conductance: View<'a, F>,
    /// a_P/V = 1/τ: `[n_cells]`.
    pub momentum_diagonal: View<'a, F>,
    /// Whether the pressure's normal derivative is not prescribed, hence the velocity free: `[n_boundary]`.
    pub is_dirichlet: View<'a, u32>,
    /// Local steps of a steady flow over the step: `[n_cells]`; absent otherwise.
    pub relative_step: View<'a, F>,
    /// The least shift of a steady flow over 1/τ.
    pub least_shift: F,
    /// Whether R counts.
    #[comptime]
    pub with_pressure: bool,
    /// Whether the flow is steady.
    #[comptime]
    pub is_steady: bool,
}

/// Terms of dE/dt = R + (K − E)/τ at a face.
#[device]
#[derive(Clone, Copy)]
pub struct RhieChowTerms<F: Real> {
    /// R.
    pub source: F,
    /// 1/τ of the face.
    pub momentum_diagonal: F,
    /// 1, or 0 at boundary faces of prescribed velocity.
    pub applies: F,
}

/// R and 1/τ of [`momentum_interpolation()`]; R = 0 unless `with_pressure`.
#[device]
#[inline(always)]
pub fn rhie_chow_terms<F: Real>(
    f: usize,
    faces: &FaceView<'_, F>,
    p: &CellField<'_, F>,
    state: &RhieChow<'_, F>,
) -> RhieChowTerms<F> {
    let l = faces.left[f] as usize;
    let mut difference = 0.0;
    let mut momentum_diagonal = state.momentum_diagonal[l];
    let mut applies = 1.0;
    let mut d = Vec3::<F>::zero();
    if comptime!(state.with_pressure) {
        d = faces.delta.at(f);
        difference = p.gradient.at(l).dot(d);
    }
    if f < faces.n_interior {
        let r = faces.right[f] as usize;
        if comptime!(state.with_pressure) {
            let w = faces.weight[f];
            difference = w * difference + (1.0 - w) * p.gradient.at(r).dot(d);
            difference -= p.value[r] - p.value[l];
        }
        momentum_diagonal = 0.5 * (momentum_diagonal + state.momentum_diagonal[r]);
    } else {
        let b = f - faces.n_interior;
        if comptime!(state.with_pressure) {
            difference -= p.at_boundary[b] - p.value[l];
        }
        if state.is_dirichlet[b] == 0 {
            applies = 0.0;
        }
    }
    RhieChowTerms::<F> { source: state.conductance[f] * difference, momentum_diagonal, applies }
}

/// Momentum interpolation of Rhie & Chow in a form whose steady state does not depend on the step
/// (Choi 1999; Cubero & Fueyo 2007):
///
/// dE/dt = R + (K − E)/τ,
/// F* = u*_i·S + (shift E + history (E − E_before) + R + K/τ) / (shift + 1/τ).
///
/// u_i is the velocity interpolated along the line between the centroids, E = F − u_i·S, R = a (∇p_f·d −
/// (p_r − p_l)) the difference of the interpolated and the compact pressure gradient (0 unless
/// `with_pressure`), K the skewness correction of u_i·S, and 1/τ = a_P/V = ν Σ a / V + Σ |F| / 2V the
/// diagonal coefficient of diffusion and upwind convection over the volume.
///
/// In a steady state E = K + τR. With K in u*_f itself the projection has negative eigenvalues on
/// tetrahedra: decision 11. On entry `flux` is u*_i·S. It is unchanged at boundary faces of prescribed
/// velocity.
///
/// In a steady flow the shift of a face is that of its local step s, at least `least_shift` / τ.
///
/// Traffic a face: 8 + 11s (s more where skewed), a cell 5s (6s).
#[kernel(update(flux))]
pub fn momentum_interpolation<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    p: &CellField<F>,
    state: &RhieChow<F>,
    shift: F,
    history: F,
    flux: F,
) -> F {
    let terms = rhie_chow_terms::<F>(f, faces, p, state);
    let correction = state.correction[f];
    let mut own = shift;
    if comptime!(state.is_steady) {
        let mut relative = state.relative_step[faces.left[f] as usize];
        if f < faces.n_interior {
            relative = 0.5 * (relative + state.relative_step[faces.right[f] as usize]);
        }
        own = (shift / relative).max(state.least_shift * terms.momentum_diagonal);
    }
    let mut change = own * correction + history * (correction - state.before[f]) + terms.source;
    if comptime!(!faces.is_unskewed) {
        change += terms.momentum_diagonal * state.skewness_flux[f];
    }
    flux + terms.applies * change / (own + terms.momentum_diagonal)
}

/// K_f = (w ∇u_l + (1 − w) ∇u_r)·(x_f − x_i)·S, the skewness correction of the interpolated flux; ∇u_l·(x_f
/// − x_i)·S at boundary faces without prescribed velocity.
#[device]
#[inline(always)]
fn skewness_flux_of_face<F: Real>(
    f: usize,
    faces: &FaceView<'_, F>,
    velocity: &VelocityField<'_, F>,
    dirichlet_index: &View<'_, u32>,
) -> F {
    let o = faces.skewness.at(f);
    let s = faces.area.at(f);
    let l = faces.left[f] as usize;
    let mut share = 1.0;
    let mut other = l;
    if f < faces.n_interior {
        share = faces.weight[f];
        other = faces.right[f] as usize;
    } else if dirichlet_index[f - faces.n_interior] > 0 {
        share = 0.0;
    }
    let mut correction = share * velocity.derivative(l, o).dot(s);
    if f < faces.n_interior {
        correction += (1.0 - share) * velocity.derivative(other, o).dot(s);
    }
    correction
}

/// E = F − u_i·S and K, u_i interpolated without skewness correction; K = 0 if `unskewed`. On entry
/// `correction` is u_i·S, at the boundary the flux of the velocity there.
///
/// Traffic a face: 4s (8 + 11s where skewed), a cell 3d s where skewed.
#[kernel(update(correction), out(skewness_flux))]
pub fn rhie_chow_correction<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    flux: &View<F>,
    velocity: &VelocityField<F>,
    dirichlet_index: &View<u32>,
    correction: F,
) -> (F, F) {
    let mut skewness_flux = 0.0;
    if comptime!(!faces.is_unskewed) {
        skewness_flux = skewness_flux_of_face::<F>(f, faces, velocity, dirichlet_index);
    }
    let mut value = flux[f] - correction;
    if f >= faces.n_interior {
        value += skewness_flux;
    }
    (value, skewness_flux)
}
