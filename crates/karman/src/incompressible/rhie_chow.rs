//! Momentum interpolation of Rhie & Chow: fluxes of velocities that lie in the cells.
//!
//! A flux is F = u_i·S + E, u_i the velocity interpolated along the line between the centroids. E keeps what the
//! pressure's difference across the face drives beyond the interpolated gradient, and tends to the
//! skewness correction K of u_i·S; [`momentum_interpolation`] has the equation.
//!
//! Sources: Rhie & Chow, AIAA J. 21 (1983) 1525; Cubero & Fueyo, Numer. Heat Transfer B 52 (2007) 507.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::component::Component;
use super::faces::Faces;
use super::flow::{Flow, three};
use super::kernels::interpolated_flux;
use super::scheme::Formula;
use crate::backend::{Backend, Buffer, View};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

impl<F: Real> Flow<F> {
    /// flux ← u_f·S of `now`.
    pub(super) fn interpolate_flux(&mut self) {
        let (faces, flux) = (&self.faces, &mut self.flux);
        interpolate(&self.backend, faces, &self.components, faces.is_straight, flux);
    }

    /// flux ← u_i·S of `now`, interpolated without the skewness correction.
    pub(super) fn interpolate_straight(&mut self) {
        // Slip walls extrapolate by the latest gradients.
        let has_gradients = self.faces.is_cubic || !self.slip.places.is_empty();
        self.take(has_gradients && self.has_gradients(), true);
        interpolate(&self.backend, &self.faces, &self.components, true, &mut self.flux);
    }

    /// E and K of the present level; E of the level before is kept.
    pub(super) fn take_excess(&mut self) {
        let (backend, n_faces, n) = (self.backend.clone(), self.flux.len(), self.volume.len());
        std::mem::swap(&mut self.excess, &mut self.excess_before);
        let (faces, excess) = (&self.faces, &mut self.excess);
        interpolate(&backend, faces, &self.components, true, excess);
        let [du, dv, dw] = three(&self.components, |c| &c.gradient);
        excess_flux(
            &backend,
            n_faces,
            &faces.cells.left,
            &faces.cells.right,
            &self.flux,
            du,
            dv,
            dw,
            &self.held,
            &faces.weight,
            faces.velocity_offset(),
            &faces.area,
            faces.cells.n_interior(),
            n_faces,
            n,
            self.dimension,
            faces.is_straight,
            excess,
            &mut self.skewness,
        );
    }

    /// F* of the flux of the interpolated velocity u*.
    pub(super) fn interpolate_momentum(&mut self, formula: &Formula) {
        let (backend, n_faces) = (self.backend.clone(), self.flux.len());
        let (cells, pressure) = (&self.faces.cells, &self.pressure);
        let (shift, memory) = (formula.bdf.shift, formula.bdf.memory);
        momentum_interpolation(
            &backend,
            n_faces,
            &cells.left,
            &cells.right,
            &self.excess,
            &self.excess_before,
            &self.skewness,
            &pressure.value,
            &pressure.slope,
            &pressure.at_boundary,
            &pressure.is_free,
            &pressure.conductance,
            &self.faces.weight,
            self.faces.momentum_span(),
            &self.rate,
            F::from_f64(shift),
            F::from_f64(memory),
            cells.n_interior(),
            n_faces,
            self.volume.len(),
            self.sees_pressure(),
            self.faces.is_straight,
            &mut self.flux,
        );
    }
}

fn interpolate<F: Real>(
    backend: &Backend,
    faces: &Faces<F>,
    components: &[Component<F>],
    is_straight: bool,
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
        &faces.offset,
        &faces.span,
        &faces.area,
        cells.n_interior(),
        cells.n_faces(),
        u.len(),
        components.len(),
        is_straight,
        faces.is_cubic,
        flux,
    );
}

/// How E of a face changes, dE/dt = R + (K − E)/τ.
#[device]
#[derive(Clone, Copy)]
pub(super) struct Departure<F: Real> {
    /// R.
    pub drive: F,
    /// 1/τ.
    pub forgotten: F,
    /// 1, or 0 where the velocity is held at the boundary.
    pub applies: F,
}

/// R and 1/τ as [`momentum_interpolation`] has them; R is 0 where no pressure drives.
#[device]
#[inline(always)]
pub(super) fn departure<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    pressure: &View<F>,
    slope: &View<F>,
    pressure_at_boundary: &View<F>,
    is_free: &View<u32>,
    conductance: &View<F>,
    weight: &View<F>,
    span: &View<F>,
    rate: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] driven: bool,
) -> Departure<F> {
    let l = left[f] as usize;
    let mut difference = F::literal(0.0);
    let mut forgotten = rate[l];
    let mut applies = F::literal(1.0);
    let mut d = Vec3::<F>::zero();
    if comptime!(driven) {
        d = Vec3::<F>::at(span, f, n_faces);
        difference = Vec3::<F>::at(slope, l, n_cells).dot(d);
    }
    if f < n_interior {
        let r = right[f] as usize;
        if comptime!(driven) {
            let w = weight[f];
            let along_right = Vec3::<F>::at(slope, r, n_cells).dot(d);
            difference = w * difference + (F::literal(1.0) - w) * along_right;
            difference -= pressure[r] - pressure[l];
        }
        forgotten = F::literal(0.5) * (forgotten + rate[r]);
    } else {
        let b = f - n_interior;
        if comptime!(driven) {
            difference -= pressure_at_boundary[b] - pressure[l];
        }
        if is_free[b] == 0 {
            applies = F::literal(0.0);
        }
    }
    Departure::<F> { drive: conductance[f] * difference, forgotten, applies }
}

/// The momentum interpolation of Rhie & Chow in a form whose steady state does not depend on the step
/// (Choi 1999; Cubero & Fueyo 2007). The flux differs by E from that of the velocity u_i interpolated along the line
/// between the centroids. E follows dE/dt = R + (K − E)/τ with R = a (∇p_f·d − (p_r − p_l)), the difference of the
/// interpolated and the compact gradient of the pressure (0 where no pressure is `driven` by), K the skewness
/// correction of the interpolated velocity, and 1/τ = ν Σ a / V + Σ |F| / 2V, the rate at which a cell forgets:
///
/// F* = u*_i·S + (shift E + memory (E − E_before) + R + K/τ) / (shift + 1/τ).
///
/// In a steady state E = K + τR. With K in u*_f itself the projection has negative eigenvalues on
/// tetrahedra: decision 11. On entry `flux` is u*_i·S. Where the velocity is prescribed at the boundary it is unchanged.
///
/// Traffic a face: 8 + 11s (s more where not straight), a cell 5s.
#[kernel(momentum_interpolation, update(flux))]
pub(super) fn interpolated_by_momentum<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    excess: &View<F>,
    excess_before: &View<F>,
    skewness: &View<F>,
    pressure: &View<F>,
    slope: &View<F>,
    pressure_at_boundary: &View<F>,
    is_free: &View<u32>,
    conductance: &View<F>,
    weight: &View<F>,
    span: &View<F>,
    rate: &View<F>,
    shift: F,
    memory: F,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] driven: bool,
    #[comptime] straight: bool,
    flux: F,
) -> F {
    let law = departure::<F>(
        f,
        left,
        right,
        pressure,
        slope,
        pressure_at_boundary,
        is_free,
        conductance,
        weight,
        span,
        rate,
        n_interior,
        n_faces,
        n_cells,
        driven,
    );
    let mut change = shift * excess[f] + memory * (excess[f] - excess_before[f]) + law.drive;
    if comptime!(!straight) {
        change += law.forgotten * skewness[f];
    }
    flux + law.applies * change / (shift + law.forgotten)
}

/// K_f = (w ∇u_l + (1 − w) ∇u_r)·(x_f − x_i)·S, the skewness correction of the flux of an interpolated velocity; at
/// a boundary face that prescribes no velocity ∇u_l·(x_f − x_i)·S.
#[device]
#[inline(always)]
fn skewness_of_flux<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    du: &View<F>,
    dv: &View<F>,
    dw: &View<F>,
    held: &View<u32>,
    weight: &View<F>,
    offset: &View<F>,
    area: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] dimension: usize,
) -> F {
    let o = Vec3::<F>::at(offset, f, n_faces);
    let s = Vec3::<F>::at(area, f, n_faces);
    let l = left[f] as usize;
    let mut share = F::literal(1.0);
    let mut other = l;
    if f < n_interior {
        share = weight[f];
        other = right[f] as usize;
    } else if held[f - n_interior] > 0 {
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

/// E = F − u_i·S, u_i the velocity interpolated to a face without its skewness correction, and that correction's
/// flux K, 0 where lines between centroids meet faces at their centroids. On entry `excess` is u_i·S, at the boundary
/// that of the whole velocity there.
///
/// Traffic a face: 4s (8 + 11s where not straight), a cell 3d s where not straight.
#[kernel(excess_flux, update(excess), out(skewness))]
pub(super) fn excess_of_face<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    flux: &View<F>,
    du: &View<F>,
    dv: &View<F>,
    dw: &View<F>,
    held: &View<u32>,
    weight: &View<F>,
    offset: &View<F>,
    area: &View<F>,
    n_interior: usize,
    n_faces: usize,
    n_cells: usize,
    #[comptime] dimension: usize,
    #[comptime] straight: bool,
    excess: F,
) -> (F, F) {
    let mut skewness = F::literal(0.0);
    if comptime!(!straight) {
        skewness = skewness_of_flux::<F>(
            f, left, right, du, dv, dw, held, weight, offset, area, n_interior, n_faces, n_cells,
            dimension,
        );
    }
    let mut departure = flux[f] - excess;
    if f >= n_interior {
        departure += skewness;
    }
    (departure, skewness)
}
