//! Transport equations of quantities with common conditions: the velocity components, or a temperature,
//!
//! ∂φ/∂t + ∇·(u φ) = ∇·(D ∇φ) + s.
//!
//! The two-point part A of diffusion is implicit, convection and the non-orthogonal correction K are explicit, N = C − K; see
//! [`ImplicitTransport`] for the implicit operator.

use super::flow_dependent_pressure::normal_inflow;
use super::implicit_transport::ImplicitTransport;
use super::quantity::Quantity;
use super::transport_residual::{CellSources, Diffusion, TransportLevels, transport_residual};
use super::transported_field::{ConvectionInput, TransportedField, vector_field, velocity_view};
use super::upwind_gradient::UpwindGradient;
use super::{FlowCondition, IncompressibleError};
use crate::backend::{Backend, Buffer, View};
use crate::finite_volume::convection::{CorrectiveFlux, MassFlux, explicit_flux, net_outflow};
use crate::finite_volume::transport::TransportView;
use crate::finite_volume::{
    BoundaryFaces, CellFaces, Condition, NonOrthogonalCorrectionOnBackend, Quantities, VectorField,
    Vectors,
};
use crate::linear::SolveOutcome;
use crate::mesh::Mesh;
use crate::operators::FaceCells;
use crate::real::Real;
use crate::time::TimeCoefficients;
use std::sync::Arc;

/// Transport equations of one to three quantities with the same operators.
pub(super) struct TransportEquation<F: Real> {
    pub(super) backend: Backend,
    pub(super) cells: Arc<FaceCells>,
    pub(super) diffusion: DiffusiveFlux<F>,
    /// Prescribed values of the boundary faces.
    pub(super) boundary: BoundaryFaces,
    /// Quantities whose conditions apply to the same faces with different values.
    pub quantities: Vec<Quantity<F>>,
    /// Gradients of linear upwinding that differ from those of the non-orthogonal correction.
    pub(super) upwind: Option<UpwindGradient<F>>,
    pub(super) implicit: ImplicitTransport<F>,
    /// N, the explicit flux out of each cell: `[quantities][n_cells]`.
    pub(super) explicit_flux: Buffer<F>,
    /// N of the previous level.
    pub explicit_flux_before: Buffer<F>,
    /// Scratch for the explicit fluxes of the faces: `[quantities][n_faces]`.
    pub(super) face_flux: Buffer<F>,
    /// The residual r: `[quantities][n_cells]`.
    pub residual: Buffer<F>,
    /// The increment δ, the initial guess of the next: `[quantities][n_cells]`.
    pub increment: Buffer<F>,
}

/// The diffusive flux of a transport equation.
pub(super) struct DiffusiveFlux<F: Real> {
    /// D.
    pub diffusivity: f64,
    /// D a of each face: `[n_faces]`.
    pub conductance: Arc<Buffer<F>>,
    /// D Σ a / V, the diffusive rate of the cells: `[n_cells]`.
    pub rates: Vec<f64>,
    pub correction: NonOrthogonalCorrectionOnBackend<F>,
    /// Whether lines between centroids are normal to their faces.
    pub is_orthogonal: bool,
}

/// The diffusive terms of a residual.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffusiveTerms {
    /// None: those of another discretisation are added elsewhere.
    Absent,
    /// Those of the current level.
    Current,
    /// Those of the current level, and the extrapolation of those that the operator of an implicit step replaces; after
    /// [`TransportEquation::prepare`].
    Extrapolated,
}

/// 1 + the index of each boundary face's Dirichlet value among those prescribed, 0 where the face has none.
pub(super) fn dirichlet_indices(mesh: &Mesh, conditions: &[Condition]) -> Vec<u32> {
    let inner = mesh.n_interior_faces();
    let mut dirichlet_index = vec![0; mesh.n_faces() - inner];
    let mut next = 1;
    for (patch, condition) in mesh.patches.iter().zip(conditions) {
        match condition {
            Condition::ZeroGradient | Condition::Extrapolated => continue,
            Condition::Dirichlet(_) => {
                for (k, face) in patch.faces.clone().enumerate() {
                    dirichlet_index[face - inner] = next + k as u32;
                }
            }
            Condition::Neumann(_) | Condition::Robin { .. } => (),
        }
        next += patch.faces.len() as u32;
    }
    dirichlet_index
}

/// The faces of the patches whose condition `matches`, and the indices of their values among those
/// prescribed.
pub(super) fn faces_where(
    mesh: &Mesh,
    conditions: &[FlowCondition],
    dirichlet_index: &[u32],
    matches: impl Fn(&FlowCondition) -> bool,
) -> (Vec<u32>, Vec<u32>) {
    let inner = mesh.n_interior_faces();
    let patches = mesh.patches.iter().zip(conditions).filter(|(_, condition)| matches(condition));
    let faces = patches.flat_map(|(patch, _)| patch.faces.clone());
    faces.map(|face| (face as u32, dirichlet_index[face - inner] - 1)).unzip()
}

impl<F: Real> TransportEquation<F> {
    /// The cells with their faces.
    pub(super) fn cells(&self) -> &Arc<FaceCells> {
        &self.cells
    }

    /// D.
    pub(super) fn diffusivity(&self) -> f64 {
        self.diffusion.diffusivity
    }

    /// D Σ a / V of each cell, the diffusive rate.
    pub(super) fn diffusive_rates(&self) -> &[f64] {
        &self.diffusion.rates
    }

    /// Coefficients of the difference and of the gradient in the flux of each face: `[n_faces]`,
    /// `[3][n_faces]`.
    pub(super) fn face_coefficients(&self) -> (&Buffer<F>, &Buffer<F>) {
        (&self.diffusion.conductance, self.diffusion.correction.face_coefficients().0)
    }

    /// ∇ of a quantity with its boundary values.
    pub(super) fn compute_gradient(
        &self,
        quantity: usize,
        u: &Buffer<F>,
        gradient: &mut Buffer<F>,
    ) {
        let prescribed = (self.quantities[quantity].prescribed.value(), F::literal(1.0));
        self.diffusion.correction.compute_gradient(&self.backend, u, prescribed, gradient);
    }

    /// Updates the gradients of `fields` with their boundary values.
    pub(super) fn update_gradients(&mut self, fields: &mut [TransportedField<F>]) {
        let TransportEquation { backend, diffusion, quantities, .. } = self;
        let prescribed: Vec<_> = quantities.iter().map(|q| q.prescribed.value()).collect();
        let mut values = vec![];
        let mut gradients = vec![];
        for TransportedField { now, gradient, .. } in fields {
            values.push(&*now);
            gradients.push(gradient);
        }
        diffusion.correction.gradient().apply_to_quantities(
            backend,
            &values,
            &prescribed,
            gradients,
        );
    }

    /// Updates the explicit fluxes out of the cells for `fields` with their gradients, with the non-orthogonal correction if
    /// `is_corrected`; the old ones become those of the previous level.
    pub(super) fn update_explicit_flux(
        &mut self,
        fields: &[TransportedField<F>],
        input: &ConvectionInput<'_, F>,
        is_corrected: bool,
    ) {
        let ConvectionInput { faces, flux, backflow_factor, hybrid_outflow, convection, .. } =
            *input;
        let TransportEquation { backend, cells, diffusion, quantities, upwind, face_flux, .. } =
            self;
        let DiffusiveFlux { correction, conductance, is_orthogonal, .. } = diffusion;
        let (n, n_faces, dimension) = (cells.n_cells(), cells.n_faces(), fields.len());
        let mut phi = velocity_view(fields, TransportedField::view);
        if let Some(upwind) = upwind {
            upwind.update(backend, correction.gradient(), (fields, quantities), input);
            phi = upwind.replace(phi);
        }
        let of = |k: usize| Vectors::of(&fields.get(k).unwrap_or(&fields[0]).gradient);
        let correction = match is_corrected && !*is_orthogonal {
            false => CorrectiveFlux::absent(),
            true => CorrectiveFlux {
                tangential: Vectors::of(correction.face_coefficients().0),
                x: of(0),
                y: of(1),
                z: of(2),
                is_present: true,
            },
        };
        let mass = MassFlux {
            flux: flux.view(),
            backflow_factor: backflow_factor.view(),
            hybrid_outflow: hybrid_outflow.view(),
            conductance: conductance.view(),
        };
        explicit_flux(
            backend,
            n_faces,
            &input.face_view(),
            &mass,
            &phi,
            &correction,
            convection,
            n_faces,
            face_flux,
        );
        if let Some(inlets) = input.normal_inflow {
            let (inlet_count, view) = (inlets.len(), faces.view());
            normal_inflow(backend, inlet_count, inlets, &view, flux, n_faces, dimension, face_flux);
        }
        std::mem::swap(&mut self.explicit_flux, &mut self.explicit_flux_before);
        let cell_faces = CellFaces::of(cells, View::absent());
        let face_flux = Quantities { values: face_flux.view(), stride: n_faces, dimension };
        net_outflow(backend, n, &cell_faces, &face_flux, n, &mut self.explicit_flux);
    }

    /// Sets up the implicit operator of a step from the fluxes F.
    pub(super) fn prepare(
        &mut self,
        coefficients: &TimeCoefficients,
        flux: &Buffer<F>,
        volume: &Buffer<F>,
    ) -> Result<(), IncompressibleError> {
        self.implicit.prepare(coefficients, flux, volume)
    }

    /// `residual` ← the residual of the equations of `fields`, with ∇p if given.
    pub(super) fn compute_residual(
        &mut self,
        fields: &[TransportedField<F>],
        volume: &Buffer<F>,
        coefficients: &TimeCoefficients,
        pressure_gradient: Option<&Buffer<F>>,
        terms: DiffusiveTerms,
    ) {
        let TransportEquation { backend, cells, quantities, implicit, residual, .. } = self;
        let (dimension, TimeCoefficients { bdf, b0, b1, .. }) = (fields.len(), *coefficients);
        // Levels of weight 0 are not read.
        let explicit_before =
            if b1 == 0.0 { &self.explicit_flux } else { &self.explicit_flux_before };
        let extrapolation = match terms {
            DiffusiveTerms::Extrapolated => implicit.extrapolation(),
            DiffusiveTerms::Absent | DiffusiveTerms::Current => None,
        };
        let neighbours = cells.neighbours(backend);
        let is_present = terms != DiffusiveTerms::Absent;
        let mut diffusion = Diffusion {
            conductance: self.diffusion.conductance.view(),
            implicit: TransportView::of_connectivity(neighbours),
            extrapolation: F::literal(0.0),
            is_present,
            extrapolates: false,
        };
        if let Some((view, factor)) = extrapolation {
            diffusion.implicit = view;
            (diffusion.extrapolation, diffusion.extrapolates) = (F::from_f64(factor), true);
        }
        let sources: Vec<_> = quantities.iter().map(|q| q.source.value()).collect();
        transport_residual(
            backend,
            cells.n_cells(),
            &CellFaces::of(cells, View::absent()),
            &TransportLevels {
                value: vector_field(fields, |field| &field.now),
                before: vector_field(fields, |field| match bdf.history == 0.0 && b1 == 0.0 {
                    true => &field.now,
                    false => &field.before,
                }),
                explicit: Quantities::of(&self.explicit_flux, dimension),
                explicit_before: Quantities::of(explicit_before, dimension),
                history: F::from_f64(bdf.history),
                b0: F::from_f64(b0),
                b1: F::from_f64(b1),
            },
            &CellSources {
                volume: volume.view(),
                source: VectorField::of(&sources),
                pressure_gradient: pressure_gradient.map_or(Vectors::absent(), Vectors::of),
                has_pressure: pressure_gradient.is_some(),
            },
            &diffusion,
            residual.len() / dimension,
            residual,
        );
        if is_present {
            for Quantity { contribution, prescribed, .. } in quantities {
                contribution.add(backend, prescribed.value(), residual);
            }
        }
    }

    /// Solves for `increment` from `residual`.
    pub(super) fn solve(&mut self) -> Result<SolveOutcome, IncompressibleError> {
        self.implicit.solve(&self.residual, &mut self.increment)
    }

    /// Sets boundary values and sources to their mean over a step by the trapezoidal rule, (v(t₀) + v(t₁)) / 2; two equal
    /// times give the values at one.
    pub(super) fn set_trapezoidal_mean(
        &mut self,
        times: [f64; 2],
    ) -> Result<(), IncompressibleError> {
        for quantity in &mut self.quantities {
            quantity.prescribed.set_mean(&self.backend, times)?;
            quantity.source.set_mean(&self.backend, times)?;
        }
        Ok(())
    }
}
