//! Momentum interpolation of Rhie & Chow: fluxes at the faces from velocities in the cells.
//!
//! F = u_i·S + E, u_i the velocity interpolated along the line between the centroids. The correction E is
//! driven by the difference of the compact and the interpolated pressure gradient and relaxes to the
//! skewness correction K of u_i·S; see [`momentum_interpolation`].
//!
//! Sources: Rhie & Chow, AIAA J. 21 (1983) 1525; Cubero & Fueyo, Numer. Heat Transfer B 52 (2007) 507.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::faces::Faces;
use super::kernels::interpolated_flux;
use super::scheme::TimeCoefficients;
use super::solver::{IncompressibleSolver, three};
use super::transported_field::TransportedField;
use crate::backend::{Backend, Buffer, View};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

impl<F: Real> IncompressibleSolver<F> {
    /// flux ← u_f·S of `now`.
    pub(super) fn interpolate_flux(&mut self) {
        let (faces, flux) = (&self.faces, &mut self.flux);
        interpolate(&self.backend, faces, &self.components, faces.is_unskewed, flux);
    }

    /// flux ← u_i·S of `now`, interpolated without the skewness correction.
    pub(super) fn interpolate_unskewed(&mut self) {
        // Slip walls extrapolate by the latest gradients.
        let has_gradients = self.faces.is_cubic || !self.slip.indices.is_empty();
        self.update_gradients_with(has_gradients && self.has_gradients(), true);
        interpolate(&self.backend, &self.faces, &self.components, true, &mut self.flux);
    }

    /// Updates E and K of the current level; the old E becomes that of the previous level.
    pub(super) fn update_rhie_chow_correction(&mut self) {
        let (backend, n_faces, n) = (self.backend.clone(), self.flux.len(), self.volume.len());
        std::mem::swap(&mut self.rhie_chow_correction, &mut self.rhie_chow_correction_before);
        let (faces, correction) = (&self.faces, &mut self.rhie_chow_correction);
        interpolate(&backend, faces, &self.components, true, correction);
        let [du, dv, dw] = three(&self.components, |c| &c.gradient);
        rhie_chow_correction(
            &backend,
            n_faces,
            &faces.cells.left,
            &faces.cells.right,
            &self.flux,
            du,
            dv,
            dw,
            &self.dirichlet_index,
            &faces.weight,
            faces.velocity_skewness(),
            &faces.area,
            faces.cells.n_interior(),
            n_faces,
            n,
            self.dimension,
            faces.is_unskewed,
            correction,
            &mut self.skewness_flux,
        );
    }

    /// flux ← F*; on entry u*_i·S.
    pub(super) fn interpolate_momentum(&mut self, coefficients: &TimeCoefficients) {
        let (backend, n_faces) = (self.backend.clone(), self.flux.len());
        let (cells, pressure) = (&self.faces.cells, &self.pressure);
        let (shift, history) = (coefficients.bdf.shift, coefficients.bdf.history);
        momentum_interpolation(
            &backend,
            n_faces,
            &cells.left,
            &cells.right,
            &self.rhie_chow_correction,
            &self.rhie_chow_correction_before,
            &self.skewness_flux,
            &pressure.value,
            &pressure.grad_p,
            &pressure.at_boundary,
            &pressure.is_dirichlet,
            &pressure.conductance,
            &self.faces.weight,
            self.faces.momentum_delta(),
            &self.decay_rate,
            F::from_f64(shift),
            F::from_f64(history),
            cells.n_interior(),
            n_faces,
            self.volume.len(),
            self.is_incremental(),
            self.faces.is_unskewed,
            &mut self.flux,
        );
    }
}

fn interpolate<F: Real>(
    backend: &Backend,
    faces: &Faces<F>,
    components: &[TransportedField<F>],
    is_unskewed: bool,
    flux: &mut Buffer<F>,
) {
    let [u, v, w] = three(components, |c| &c.now);
    let [du, dv, dw] = three(components, |c| &c.gradient);
    let [bu, bv, bw] = three(components, |c| &c.at_boundary);
    let cells = &faces.cells;
    interpolated_flux(
        backend,
        cells.n_faces(),
        &cells.left,
        &cells.right,
        u,
        v,
        w,
        du,
        dv,
        dw,
        bu,
        bv,
        bw,
        &faces.weight,
        &faces.skewness,
        &faces.delta,
        &faces.area,
        cells.n_interior(),
        cells.n_faces(),
        u.len(),
        components.len(),
        is_unskewed,
        faces.is_cubic,
        flux,
    );
}

/// Terms of dE/dt = R + (K − E)/τ at a face.
#[device]
#[derive(Clone, Copy)]
pub(super) struct RhieChowTerms<F: Real> {
    /// R.
    pub source: F,
    /// 1/τ.
    pub decay_rate: F,
    /// 1, or 0 at boundary faces of prescribed velocity.
    pub applies: F,
}

/// R and 1/τ of [`momentum_interpolation`]; R = 0 unless `with_pressure`.
#[device]
#[inline(always)]
pub(super) fn rhie_chow_terms<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    pressure: &View<F>,
    grad_p: &View<F>,
    pressure_at_boundary: &View<F>,
    is_dirichlet: &View<u32>,
    conductance: &View<F>,
    weight: &View<F>,
    delta: &View<F>,
    rate: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] with_pressure: bool,
) -> RhieChowTerms<F> {
    let l = left[f] as usize;
    let mut difference = F::literal(0.0);
    let mut decay_rate = rate[l];
    let mut applies = F::literal(1.0);
    let mut d = Vec3::<F>::zero();
    if comptime!(with_pressure) {
        d = Vec3::<F>::at(delta, f, n_faces);
        difference = Vec3::<F>::at(grad_p, l, n_cells).dot(d);
    }
    if f < n_interior {
        let r = right[f] as usize;
        if comptime!(with_pressure) {
            let w = weight[f];
            let along_right = Vec3::<F>::at(grad_p, r, n_cells).dot(d);
            difference = w * difference + (F::literal(1.0) - w) * along_right;
            difference -= pressure[r] - pressure[l];
        }
        decay_rate = F::literal(0.5) * (decay_rate + rate[r]);
    } else {
        let b = f - n_interior;
        if comptime!(with_pressure) {
            difference -= pressure_at_boundary[b] - pressure[l];
        }
        if is_dirichlet[b] == 0 {
            applies = F::literal(0.0);
        }
    }
    RhieChowTerms::<F> { source: conductance[f] * difference, decay_rate, applies }
}

/// Momentum interpolation of Rhie & Chow in a form whose steady state does not depend on the step
/// (Choi 1999; Cubero & Fueyo 2007):
///
/// dE/dt = R + (K − E)/τ,
/// F* = u*_i·S + (shift E + history (E − E_before) + R + K/τ) / (shift + 1/τ).
///
/// u_i is the velocity interpolated along the line between the centroids, E = F − u_i·S, R = a (∇p_f·d −
/// (p_r − p_l)) the difference of the interpolated and the compact pressure gradient (0 unless
/// `with_pressure`), K the skewness correction of u_i·S, and 1/τ = ν Σ a / V + Σ |F| / 2V the decay rate of
/// E.
///
/// In a steady state E = K + τR. With K in u*_f itself the projection has negative eigenvalues on
/// tetrahedra: decision 11. On entry `flux` is u*_i·S. It is unchanged at boundary faces of prescribed
/// velocity.
///
/// Traffic a face: 8 + 11s (s more where skewed), a cell 5s.
#[kernel(momentum_interpolation, update(flux))]
pub(super) fn interpolated_by_momentum<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    correction: &View<F>,
    correction_before: &View<F>,
    skewness_flux: &View<F>,
    pressure: &View<F>,
    grad_p: &View<F>,
    pressure_at_boundary: &View<F>,
    is_dirichlet: &View<u32>,
    conductance: &View<F>,
    weight: &View<F>,
    delta: &View<F>,
    decay_rate: &View<F>,
    shift: F,
    history: F,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] with_pressure: bool,
    #[comptime] unskewed: bool,
    flux: F,
) -> F {
    let terms = rhie_chow_terms::<F>(
        f,
        left,
        right,
        pressure,
        grad_p,
        pressure_at_boundary,
        is_dirichlet,
        conductance,
        weight,
        delta,
        decay_rate,
        n_interior,
        n_faces,
        n_cells,
        with_pressure,
    );
    let mut change =
        shift * correction[f] + history * (correction[f] - correction_before[f]) + terms.source;
    if comptime!(!unskewed) {
        change += terms.decay_rate * skewness_flux[f];
    }
    flux + terms.applies * change / (shift + terms.decay_rate)
}

/// K_f = (w ∇u_l + (1 − w) ∇u_r)·(x_f − x_i)·S, the skewness correction of the interpolated flux; ∇u_l·(x_f
/// − x_i)·S at boundary faces without prescribed velocity.
#[device]
#[inline(always)]
fn skewness_flux_of_face<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    du: &View<F>,
    dv: &View<F>,
    dw: &View<F>,
    dirichlet_index: &View<u32>,
    weight: &View<F>,
    skewness: &View<F>,
    area: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] dimension: usize,
) -> F {
    let o = Vec3::<F>::at(skewness, f, n_faces);
    let s = Vec3::<F>::at(area, f, n_faces);
    let l = left[f] as usize;
    let mut share = F::literal(1.0);
    let mut other = l;
    if f < n_interior {
        share = weight[f];
        other = right[f] as usize;
    } else if dirichlet_index[f - n_interior] > 0 {
        share = F::literal(0.0);
    }
    let mut at_left = Vec3::<F>::at(du, l, n_cells).dot(o) * s.x;
    let mut at_right = Vec3::<F>::at(du, other, n_cells).dot(o) * s.x;
    at_left += Vec3::<F>::at(dv, l, n_cells).dot(o) * s.y;
    at_right += Vec3::<F>::at(dv, other, n_cells).dot(o) * s.y;
    if comptime!(dimension == 3) {
        at_left += Vec3::<F>::at(dw, l, n_cells).dot(o) * s.z;
        at_right += Vec3::<F>::at(dw, other, n_cells).dot(o) * s.z;
    }
    let mut correction = share * at_left;
    if f < n_interior {
        correction += (F::literal(1.0) - share) * at_right;
    }
    correction
}

/// E = F − u_i·S and K, u_i interpolated without skewness correction; K = 0 if `unskewed`. On entry
/// `correction` is u_i·S, at the boundary the flux of the velocity there.
///
/// Traffic a face: 4s (8 + 11s where skewed), a cell 3d s where skewed.
#[kernel(rhie_chow_correction, update(correction), out(skewness_flux))]
pub(super) fn rhie_chow_correction_of_face<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    flux: &View<F>,
    du: &View<F>,
    dv: &View<F>,
    dw: &View<F>,
    dirichlet_index: &View<u32>,
    weight: &View<F>,
    skewness: &View<F>,
    area: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] dimension: usize,
    #[comptime] unskewed: bool,
    correction: F,
) -> (F, F) {
    let mut skewness_flux = F::literal(0.0);
    if comptime!(!unskewed) {
        skewness_flux = skewness_flux_of_face::<F>(
            f,
            left,
            right,
            du,
            dv,
            dw,
            dirichlet_index,
            weight,
            skewness,
            area,
            n_interior,
            n_faces,
            n_cells,
            dimension,
        );
    }
    let mut value = flux[f] - correction;
    if f >= n_interior {
        value += skewness_flux;
    }
    (value, skewness_flux)
}
