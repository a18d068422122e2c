//! A transported field: its time levels, its gradient, its convective flux out of each cell.

use super::IncompressibleError;
use super::implicit_diffusion::ImplicitDiffusion;
use super::kernels::{CellSources, PressureGradient, TransportLevels, transport_residual};
use super::total_pressure::normal_inflow;
use crate::backend::{Backend, Buffer};
use crate::finite_volume::convection::{Convection, convective_flux};
use crate::finite_volume::interpolation::boundary_value;
use crate::finite_volume::{
    CellField, FaceView, Faces, Prescribed, VectorField, Vectors, VelocityField, check_finite,
    narrow, narrow_slice,
};
use crate::mesh::{Geometry, Mesh};
use crate::operators::incidence::divergence;
use crate::real::Real;
use crate::time::TimeCoefficients;
use std::sync::Arc;

/// A transported field, a component of the velocity or a temperature: arrays `[n_cells]` unless stated.
pub(super) struct TransportedField<F: Real> {
    /// At the current level.
    pub now: Buffer<F>,
    /// At the previous level.
    pub before: Buffer<F>,
    /// u*, the velocity before its projection.
    pub predicted: Buffer<F>,
    /// δ, the initial guess of the next predictor.
    pub increment: Buffer<F>,
    /// C, the convective flux out of each cell.
    pub convection: Buffer<F>,
    /// C of the previous level.
    pub convection_before: Buffer<F>,
    /// `[3][n_cells]`.
    pub gradient: Buffer<F>,
    /// At boundary faces: `[n_boundary]`.
    pub at_boundary: Buffer<F>,
}

/// Mass flux and interpolation of a convective term.
pub(super) struct ConvectionInput<'a, F: Real> {
    pub faces: &'a Faces<F>,
    /// F: `[n_faces]`.
    pub flux: &'a Buffer<F>,
    /// Factor of the cell's value in backflow through boundaries without a prescribed value: `[n_boundary]`.
    pub backflow_factor: &'a Buffer<F>,
    /// Weight of the left cell in the interpolation to a face: `[n_interior]`.
    pub weight: &'a Buffer<F>,
    /// Whether the skewness correction of the interpolation to faces is left out.
    pub is_unskewed: bool,
    pub convection: Convection,
    /// Faces whose inflow has a velocity along the normal.
    pub normal_inflow: Option<&'a Buffer<u32>>,
}

impl<F: Real> TransportedField<F> {
    /// The initial field; `what` names it in messages.
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        (initial, what): (&Arc<dyn Prescribed>, &'static str),
    ) -> Result<Self, IncompressibleError> {
        let n = mesh.n_cells();
        let mut start = vec![0.0; n];
        initial.sample(&geometry.cell_centre, 0.0, &mut start);
        check_finite(what, &start, 0.0)?;
        let before = narrow_slice(backend, &start);
        Ok(TransportedField {
            now: narrow(backend, start),
            before,
            predicted: backend.zeros(n),
            increment: backend.zeros(n),
            convection: backend.zeros(n),
            convection_before: backend.zeros(n),
            gradient: backend.zeros(3 * n),
            at_boundary: backend.zeros(mesh.n_faces() - mesh.n_interior_faces()),
        })
    }

    /// The field at the current level as kernels read it.
    pub(super) fn view(&self) -> CellField<'_, F> {
        CellField {
            value: self.now.view(),
            gradient: Vectors::of(&self.gradient),
            at_boundary: self.at_boundary.view(),
        }
    }

    /// Updates the boundary values of `now`, quantity `k` of `diffusion`, and its gradient if `has_gradient`;
    /// `is_unskewed` leaves out the tangential correction of the boundary values.
    pub(super) fn update_gradient(
        &mut self,
        backend: &Backend,
        faces: &Faces<F>,
        (diffusion, k, dirichlet_index): (&ImplicitDiffusion<F>, usize, &Buffer<u32>),
        (has_gradient, is_unskewed): (bool, bool),
    ) {
        if has_gradient {
            diffusion.differentiate(k, &self.now, &mut self.gradient);
        }
        boundary_value(
            backend,
            dirichlet_index.len(),
            &FaceView { is_unskewed, ..faces.view() },
            dirichlet_index,
            diffusion.quantities[k].prescribed.value(),
            &self.now,
            &Vectors::of(&self.gradient),
            &mut self.at_boundary,
        );
    }

    /// Updates the convective flux of quantity `k` of `diffusion`; the old one becomes that of the previous
    /// level.
    pub(super) fn update_convection(
        &mut self,
        backend: &Backend,
        input: &ConvectionInput<'_, F>,
        (diffusion, k): (&mut ImplicitDiffusion<F>, usize),
        face_flux: &mut Buffer<F>,
    ) {
        let gradient = diffusion.upwind_gradient(k, &self.now).unwrap_or(&self.gradient);
        let ConvectionInput { faces, flux, backflow_factor, weight, convection, .. } = input;
        let cells = &faces.cells;
        let n = cells.n_cells();
        std::mem::swap(&mut self.convection, &mut self.convection_before);
        let is_unskewed = input.is_unskewed;
        let phi = CellField {
            value: self.now.view(),
            gradient: Vectors::of(gradient),
            at_boundary: self.at_boundary.view(),
        };
        convective_flux(
            backend,
            cells.n_faces(),
            &FaceView { weight: weight.view(), is_unskewed, ..faces.view() },
            flux,
            &phi,
            backflow_factor,
            *convection,
            face_flux,
        );
        if let Some(inlets) = input.normal_inflow {
            normal_inflow(backend, inlets.len(), inlets, &faces.view(), flux, k, face_flux);
        }
        let convection = &mut self.convection;
        divergence(backend, n, &cells.offsets, &cells.faces, face_flux, cells.rows, convection);
    }

    /// r ← the residual of the transport equation without its boundary contribution; on entry r = A u with A
    /// the diffusive matrix. `grad_p`: ∇p and its component in this equation.
    pub(super) fn interior_residual(
        &self,
        backend: &Backend,
        volume: &Buffer<F>,
        coefficients: &TimeCoefficients,
        source: &Buffer<F>,
        grad_p: Option<(&Buffer<F>, usize)>,
        r: &mut Buffer<F>,
    ) {
        let TimeCoefficients { bdf, b0, b1, .. } = *coefficients;
        // Arrays of weight 0 are not read.
        let before = if bdf.history == 0.0 { &self.now } else { &self.before };
        let convection_before = if b1 == 0.0 { &self.convection } else { &self.convection_before };
        let (pressure, k) = grad_p.map_or((Vectors::absent(), 0), |(g, k)| (Vectors::of(g), k));
        transport_residual(
            backend,
            self.now.len(),
            &CellSources { volume: volume.view(), source: source.view() },
            &TransportLevels {
                value: self.now.view(),
                before: before.view(),
                convection: self.convection.view(),
                convection_before: convection_before.view(),
            },
            &PressureGradient { vectors: pressure, component: k, is_present: grad_p.is_some() },
            F::from_f64(bdf.history),
            F::from_f64(b0),
            F::from_f64(b1),
            r,
        );
    }
}

/// The velocity of two or three components as kernels read it; `of` gives the view of a component.
pub(super) fn velocity_view<'a, F: Real>(
    components: &'a [TransportedField<F>],
    of: impl Fn(&'a TransportedField<F>) -> CellField<'a, F>,
) -> VelocityField<'a, F> {
    let [x, y] = [&components[0], &components[1]].map(&of);
    let z = components.get(2).map_or(x, of);
    VelocityField { x, y, z, dimension: components.len() }
}

/// One array of each component as kernels read the vector.
pub(super) fn vector_field<'a, F: Real>(
    components: &'a [TransportedField<F>],
    of: impl Fn(&'a TransportedField<F>) -> &'a Buffer<F>,
) -> VectorField<'a, F> {
    VectorField::of(&components.iter().map(of).collect::<Vec<_>>())
}
