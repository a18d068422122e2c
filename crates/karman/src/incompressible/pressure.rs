//! The pressure: its values, gradient and boundary data.

use super::IncompressibleError;
use super::kernels::{advance_pressure, subtract_prescribed, subtract_smoothed_divergence};
use super::poisson_system::{PoissonSystem, PressureIncrement};
use super::pressure_conditions::PressureConditions;
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::faces::{BlendedCells, Faces};
use crate::finite_volume::gradient::{blend_gradients, pressure_gradient};
use crate::finite_volume::interpolation::boundary_value;
use crate::finite_volume::{CellField, FaceView, NonOrthogonalCorrectionOnBackend, Vectors};
use crate::real::Real;

/// The pressure and its increment by the projection.
pub(super) struct Pressure<F: Real> {
    pub(super) backend: Backend,
    /// p at the end of the step, with AB2/CN at its midpoint: `[n_cells]`.
    pub value: Buffer<F>,
    /// ∇p: `[3][n_cells]`.
    pub gradient: Buffer<F>,
    /// p at boundary faces: `[n_boundary]`.
    pub at_boundary: Buffer<F>,
    /// Scratch, the least-squares gradient: `[3][n_cells]`.
    pub(super) lsq_gradient: Buffer<F>,
    pub conditions: PressureConditions<F>,
    /// ψ of the last projection.
    pub increment: PressureIncrement<F>,
    pub poisson: PoissonSystem<F>,
    /// a of momentum interpolation: `[n_faces]`; None where it is that of the projection.
    pub(super) interpolation_conductance: Option<Buffer<F>>,
    /// Cells whose gradient is not that of Gauss alone.
    pub(super) blended: BlendedCells<F>,
    /// w, the weight of the rotational term: `[n_cells]`.
    pub(super) rotational_weight: Buffer<F>,
    /// Midpoint pressures, for time schemes that centre the pressure.
    pub midpoint: Option<MidpointPressure<F>>,
}

/// Pressures at the midpoints of steps and their extrapolation to the end of the step.
pub(super) struct MidpointPressure<F: Real> {
    /// p and p at the boundary at the midpoint of the previous step.
    pub before: [Buffer<F>; 2],
    /// p and p at the boundary at the end of the step.
    pub at_end: [Buffer<F>; 2],
    /// Factor of the last change of p in the extrapolation.
    pub extrapolation: f64,
}

impl<F: Real> Pressure<F> {
    /// Sets the prescribed pressures to their mean over a step by the trapezoidal rule.
    pub(super) fn set_trapezoidal_mean(
        &mut self,
        times: [f64; 2],
    ) -> Result<(), IncompressibleError> {
        let PressureConditions { prescribed, prescribed_before, .. } = &mut self.conditions;
        let values = prescribed_before.len();
        blas::copy(&self.backend, values, prescribed.value(), prescribed_before);
        prescribed.set_mean(&self.backend, times)?;
        self.conditions
            .of_flow
            .as_mut()
            .map_or(Ok(()), |of_flow| of_flow.set_trapezoidal_mean(&self.backend, times))
    }

    /// Sets the prescribed pressures that depend on the flow to those of fluxes.
    pub(super) fn prescribe_of_flow(&mut self, faces: &Faces<F>, flux: &Buffer<F>) {
        let PressureConditions { prescribed, of_flow, .. } = &mut self.conditions;
        if let Some(of_flow) = of_flow {
            of_flow.prescribe(&self.backend, &faces.area, flux, prescribed.value_mut());
        }
    }

    /// r ← r − p at faces of prescribed pressure.
    pub(super) fn subtract_prescribed(&self, faces: &Faces<F>, r: &mut Buffer<F>) {
        let PressureConditions { outlets, prescribed, dirichlet_index, .. } = &self.conditions;
        subtract_prescribed(
            &self.backend,
            outlets.len(),
            outlets,
            dirichlet_index,
            prescribed.value(),
            faces.cells.n_interior(),
            r,
        );
    }

    /// The inertia of the cells over the shift: V, of a steady flow V / s with the local steps s.
    pub(super) fn inertia<'a>(&'a self, volume: &'a Buffer<F>) -> &'a Buffer<F> {
        self.poisson.local.as_ref().map_or(volume, |local| &local.inertia)
    }

    /// a of momentum interpolation: `[n_faces]`.
    pub(super) fn interpolation_conductance(&self) -> &Buffer<F> {
        self.interpolation_conductance.as_ref().unwrap_or(&self.poisson.conductance)
    }

    /// p with its Gauss gradient as kernels read it.
    pub(super) fn view(&self) -> CellField<'_, F> {
        CellField {
            value: self.value.view(),
            gradient: Vectors::of(&self.gradient),
            at_boundary: self.at_boundary.view(),
        }
    }

    /// ∇p, and p at the boundary.
    pub(super) fn update_gradients(&mut self, faces: &Faces<F>) {
        let PressureConditions { dirichlet_index, prescribed, .. } = &self.conditions;
        let conditions = (dirichlet_index, prescribed.value());
        let into = (&mut self.lsq_gradient, &mut self.at_boundary, &mut self.gradient);
        let stencils = (&self.poisson.correction, &self.blended);
        compute_pressure_gradients(&self.backend, stencils, faces, conditions, &self.value, into);
        faces.cells.fetch(&mut [&mut self.gradient]);
    }

    /// p and p at the boundary at the end of the last step: `[n_cells]`, `[n_boundary]`.
    pub(super) fn at_end(&self) -> [&Buffer<F>; 2] {
        match &self.midpoint {
            None => [&self.value, &self.at_boundary],
            Some(MidpointPressure { at_end: [value, at_boundary], .. }) => [value, at_boundary],
        }
    }

    /// The pressures at the midpoint of a step before the first, and at its end: those at the start.
    pub(super) fn start_midpoint(&mut self) {
        let Some(MidpointPressure { before, at_end, .. }) = &mut self.midpoint else { return };
        for levels in [before, at_end] {
            for (from, to) in [&self.value, &self.at_boundary].into_iter().zip(levels) {
                blas::copy(&self.backend, from.len(), from, to);
            }
        }
    }

    /// Stores p for [`Pressure::extrapolate_to_end`] and the factor of its next change there.
    pub(super) fn store_midpoint(&mut self, factor: f64) {
        let Some(MidpointPressure { before, extrapolation, .. }) = &mut self.midpoint else {
            return;
        };
        *extrapolation = factor;
        for (from, to) in [&self.value, &self.at_boundary].into_iter().zip(before) {
            blas::copy(&self.backend, from.len(), from, to);
        }
    }

    /// p at the end of a step, p + extrapolation (p − p_before).
    pub(super) fn extrapolate_to_end(&mut self) {
        let Some(MidpointPressure { before, at_end, extrapolation }) = &mut self.midpoint else {
            return;
        };
        let (zero, extrapolation) = (F::literal(0.0), F::from_f64(*extrapolation));
        let now = [&self.value, &self.at_boundary];
        for ((now, before), at_end) in now.into_iter().zip(before).zip(at_end) {
            let (n, weight) = (now.len(), F::literal(1.0) + extrapolation);
            blas::axpbypcz(&self.backend, n, weight, now, -extrapolation, before, zero, at_end);
        }
    }

    /// p ← previous_weight p − shift ψ − ν q, q = D F* / V, smoothed where lines between centroids are not normal to faces
    /// or a pressure is prescribed.
    pub(super) fn advance(
        &mut self,
        faces: &Faces<F>,
        shift: f64,
        viscosity: f64,
        previous_weight: f64,
    ) {
        let is_bounded = faces.is_orthogonal && self.conditions.is_singular;
        let is_smoothed = viscosity > 0.0 && !is_bounded;
        let Pressure {
            backend,
            value,
            increment,
            interpolation_conductance,
            poisson,
            rotational_weight,
            ..
        } = self;
        let conductance = interpolation_conductance.as_ref().unwrap_or(&poisson.conductance);
        let n = faces.cells.n_cells();
        advance_pressure(
            backend,
            n,
            &increment.value,
            &increment.divergence,
            &faces.volume,
            F::from_f64(shift),
            F::from_f64(if is_smoothed { 0.0 } else { viscosity }),
            F::from_f64(previous_weight),
            value,
        );
        if is_smoothed {
            faces.cells.fetch(&mut [&mut increment.divergence]);
            subtract_smoothed_divergence(
                backend,
                n,
                &faces.of_cells(),
                faces.cells.neighbours(backend),
                conductance,
                &increment.divergence,
                rotational_weight,
                F::from_f64(viscosity),
                value,
            );
        }
    }
}

/// Least-squares gradient of a pressure, its boundary values (prescribed, or extrapolated by that gradient),
/// and its Gauss gradient, without ghosts.
pub(super) fn compute_pressure_gradients<F: Real>(
    backend: &Backend,
    (correction, blended): (&NonOrthogonalCorrectionOnBackend<F>, &BlendedCells<F>),
    faces: &Faces<F>,
    (dirichlet_index, prescribed): (&Buffer<u32>, &Buffer<F>),
    value: &Buffer<F>,
    (lsq_gradient, at_boundary, gradient): (&mut Buffer<F>, &mut Buffer<F>, &mut Buffer<F>),
) {
    correction.compute_gradient(backend, value, (prescribed, F::literal(1.0)), lsq_gradient);
    if !faces.is_unskewed || faces.is_cubic {
        faces.cells.fetch(&mut [&mut *lsq_gradient]);
    }
    let cells = &faces.cells;
    let lsq = Vectors::of(lsq_gradient);
    // Extrapolated from the centroid of the cell to that of the face.
    let to_boundary =
        FaceView { skewness: Vectors::of(&faces.delta), is_unskewed: false, ..faces.view() };
    boundary_value(
        backend,
        dirichlet_index.len(),
        &to_boundary,
        dirichlet_index,
        prescribed,
        value,
        &lsq,
        at_boundary,
    );
    let p = CellField { value: value.view(), gradient: lsq, at_boundary: at_boundary.view() };
    pressure_gradient(backend, cells.n_cells(), &faces.of_cells(), &faces.view(), &p, gradient);
    let BlendedCells { cells, share } = blended;
    if !cells.is_empty() {
        blend_gradients(backend, cells.len(), cells, share, &lsq, gradient);
    }
}
