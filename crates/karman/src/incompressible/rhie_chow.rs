//! Momentum interpolation in the steps of a flow: fluxes of the current and of the predicted velocity by
//! [`crate::finite_volume::rhie_chow`].

use super::scheme::TimeCoefficients;
use super::solver::IncompressibleSolver;
use super::transported_field::{TransportedField, velocity_view};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::interpolation::interpolated_flux;
use crate::finite_volume::rhie_chow::{RhieChow, momentum_interpolation, rhie_chow_correction};
use crate::finite_volume::{FaceView, Faces};
use crate::real::Real;

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
        let (backend, n_faces) = (self.backend.clone(), self.flux.len());
        std::mem::swap(&mut self.rhie_chow_correction, &mut self.rhie_chow_correction_before);
        let (faces, correction) = (&self.faces, &mut self.rhie_chow_correction);
        interpolate(&backend, faces, &self.components, true, correction);
        rhie_chow_correction(
            &backend,
            n_faces,
            &faces.velocity_view(),
            &self.flux,
            &velocity_view(&self.components, TransportedField::view),
            &self.dirichlet_index,
            correction,
            &mut self.skewness_flux,
        );
    }

    /// flux ← F*; on entry u*_i·S.
    pub(super) fn interpolate_momentum(&mut self, coefficients: &TimeCoefficients) {
        let (backend, n_faces) = (self.backend.clone(), self.flux.len());
        let (shift, history) = (coefficients.bdf.shift, coefficients.bdf.history);
        momentum_interpolation(
            &backend,
            n_faces,
            &self.faces.momentum_view(),
            &self.pressure.view(),
            &RhieChow {
                correction: self.rhie_chow_correction.view(),
                before: self.rhie_chow_correction_before.view(),
                skewness_flux: self.skewness_flux.view(),
                conductance: self.pressure.conductance.view(),
                decay_rate: self.decay_rate.view(),
                is_dirichlet: self.pressure.is_dirichlet.view(),
                with_pressure: self.is_incremental(),
            },
            F::from_f64(shift),
            F::from_f64(history),
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
    interpolated_flux(
        backend,
        faces.cells.n_faces(),
        &FaceView { is_unskewed, ..faces.view() },
        &velocity_view(components, TransportedField::view),
        flux,
    );
}
