//! Transport equations of quantities with common conditions: the velocity components, or a temperature,
//!
//! ∂φ/∂t + ∇·(u φ) = ∇·(D ∇φ) + s.
//!
//! The two-point part A of diffusion is implicit, convection and the non-orthogonal correction K are explicit, N = C − K; see
//! [`ImplicitTransport`] for the implicit operator.

use super::flow_dependent_pressure::normal_inflow;
use super::implicit_transport::{ImplicitForm, ImplicitTransport};
use super::quantity::Quantity;
use super::transport_residual::{CellSources, Diffusion, TransportLevels, transport_residual};
use super::transported_field::{ConvectionInput, TransportedField, vector_field, velocity_view};
use super::upwind_gradient::UpwindGradient;
use super::{ConvectionTreatment, FlowCondition, IncompressibleError, Numerics};
use crate::backend::{Backend, Buffer, View};
use crate::finite_volume::CellScheme;
use crate::finite_volume::boundary::WeightedValue;
use crate::finite_volume::convection::{CorrectiveFlux, MassFlux, explicit_flux, net_outflow};
use crate::finite_volume::diffusion::discretize_boundary;
use crate::finite_volume::majorant::majorant_conductances;
use crate::finite_volume::transport::TransportView;
use crate::finite_volume::{
    BoundaryContributionOnBackend, BoundaryFaces, CellFaces, Condition, Faces, Material,
    NonOrthogonalCorrectionOnBackend, PartValues, Prescribed, Quantities, TimeDependentData,
    VectorField, Vectors, narrow,
};
use crate::linear::SolveOutcome;
use crate::mesh::{Geometry, Mesh, index_of};
use crate::operators::{FaceCells, Part};
use crate::real::Real;
use crate::time::TimeCoefficients;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Boundary conditions and source of a transport equation.
pub(super) struct EquationSpec {
    /// Name of its boundary values in messages.
    pub what: &'static str,
    /// One condition per patch, of equal kind for all quantities of a [`TransportEquation`].
    pub conditions: Vec<Condition>,
    /// Prescribed values that replace those of the conditions: of a patch the index of the first, and their terms.
    pub prescribed: Vec<(usize, Vec<WeightedValue>)>,
    /// Source per unit of volume and time.
    pub source: Arc<dyn Prescribed>,
}

/// Conductances of the implicit operator of a steady flow over those of two-point diffusion, where fluxes have a
/// non-orthogonal correction. A pseudo-time step is of first order and stable up to eigenvalues of twice the operator's;
/// larger conductances would only slow it down.
const STEADY_DIFFUSION: f64 = 1.5;

/// Transport equations of one to three quantities with the same operators.
pub(super) struct TransportEquation<F: Real> {
    backend: Backend,
    cells: Arc<FaceCells>,
    diffusion: DiffusiveFlux<F>,
    /// Prescribed values of the boundary faces.
    pub(super) boundary: BoundaryFaces,
    /// Quantities whose conditions apply to the same faces with different values.
    pub quantities: Vec<Quantity<F>>,
    /// Gradients of linear upwinding that differ from those of the non-orthogonal correction.
    upwind: Option<UpwindGradient<F>>,
    implicit: ImplicitTransport<F>,
    /// N, the explicit flux out of each cell: `[quantities][n_cells]`.
    explicit_flux: Buffer<F>,
    /// N of the previous level.
    pub explicit_flux_before: Buffer<F>,
    /// Scratch for the explicit fluxes of the faces: `[quantities][n_faces]`.
    face_flux: Buffer<F>,
    /// The residual r: `[quantities][n_cells]`.
    pub residual: Buffer<F>,
    /// The increment δ, the initial guess of the next: `[quantities][n_cells]`.
    pub increment: Buffer<F>,
}

/// The diffusive flux of a transport equation.
struct DiffusiveFlux<F: Real> {
    /// D.
    diffusivity: f64,
    /// D a of each face: `[n_faces]`.
    conductance: Arc<Buffer<F>>,
    /// D Σ a / V, the diffusive rate of the cells: `[n_cells]`.
    rates: Vec<f64>,
    correction: NonOrthogonalCorrectionOnBackend<F>,
    /// Whether lines between centroids are normal to their faces.
    is_orthogonal: bool,
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
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &Faces<F>,
        (diffusivity, numerics): (f64, &Numerics),
        specs: Vec<EquationSpec>,
    ) -> Result<Self, IncompressibleError> {
        let (n, dimension) = (mesh.n_cells(), specs.len());
        // Gradients do not depend on the diffusivity; at 0 the diffusive terms are zeroed.
        let diffuses = diffusivity > 0.0;
        let material = Material::uniform(n, if diffuses { diffusivity } else { 1.0 }, 1.0);
        let mut boundary = None;
        let mut quantities = vec![];
        let dirichlet_index = dirichlet_indices(mesh, &specs[0].conditions);
        for (k, EquationSpec { what, conditions, prescribed, source }) in
            specs.into_iter().enumerate()
        {
            let (mut discrete, of_quantity) =
                discretize_boundary(mesh, geometry, &material, &conditions)?;
            let mut contribution = discrete.boundary_contribution;
            contribution.unknowns.iter_mut().for_each(|unknown| *unknown += (k * n) as u32);
            if !diffuses {
                contribution.coefficients.fill(0.0);
            }
            for (first, terms) in prescribed {
                discrete.values.set_terms(first, terms);
            }
            quantities.push(Quantity {
                contribution: BoundaryContributionOnBackend::new(backend, contribution),
                prescribed: discrete.values.into_time_dependent_data(backend, what)?,
                source: TimeDependentData::of_cells(backend, "the source", source, geometry)?,
            });
            boundary.get_or_insert(of_quantity);
        }
        let Some(boundary) = boundary else { unreachable!("one quantity at least") };
        let scheme = CellScheme::new(mesh, geometry, &material.conductivity, &boundary, true);
        let (mut conductance, mut correction) = (scheme.conductances(), scheme.correction());
        if !diffuses {
            conductance.fill(0.0);
            correction.tangential.fill(0.0);
        }
        let of_implicit = match (faces.is_orthogonal, numerics.is_steady) {
            (true, _) => None,
            (false, true) => Some(conductance.iter().map(|a| STEADY_DIFFUSION * a).collect()),
            (false, false) => Some(majorant_conductances(mesh, &correction, &conductance)),
        };
        let rates = diffusive_rates(mesh, geometry, &conductance);
        let correction =
            NonOrthogonalCorrectionOnBackend::new(backend, faces.cells.clone(), correction);
        let (extrapolates, is_limited) = numerics.convection.extrapolates();
        let stencils = extrapolates.then(|| scheme.extrapolation(&faces.flat)).flatten();
        let stencils =
            stencils.map(|stencils| correction.gradient().with_stencils(backend, stencils));
        let mut upwind = (is_limited || stencils.is_some())
            .then(|| UpwindGradient::new(backend, stencils, (n, dimension)));
        if is_limited {
            let cells = faces.cells.clone();
            upwind = upwind.map(|upwind| upwind.limited(backend, cells, dirichlet_index));
        }
        let conductance = Arc::new(narrow(backend, conductance));
        let of_implicit = of_implicit.map(|a| Arc::new(narrow(backend, a)));
        let form = ImplicitForm {
            cells: faces.cells.clone(),
            conductance: of_implicit.unwrap_or_else(|| conductance.clone()),
            is_orthogonal: faces.is_orthogonal,
            convects: numerics.convection_treatment == ConvectionTreatment::Implicit,
            is_steady: numerics.is_steady,
            dimension,
        };
        Ok(TransportEquation {
            backend: backend.clone(),
            cells: faces.cells.clone(),
            diffusion: DiffusiveFlux {
                diffusivity,
                conductance,
                rates,
                correction,
                is_orthogonal: faces.is_orthogonal,
            },
            boundary,
            quantities,
            upwind,
            implicit: ImplicitTransport::new(backend, form, numerics.momentum.clone()),
            explicit_flux: backend.zeros(dimension * n),
            explicit_flux_before: backend.zeros(dimension * n),
            face_flux: backend.zeros(dimension * mesh.n_faces()),
            residual: backend.zeros(dimension * n),
            increment: backend.zeros(dimension * n),
        })
    }

    /// The equations of a part with the values prescribed there.
    pub(super) fn of_part(&self, part: &Part) -> (Self, PartValues) {
        let backend = &part.backend;
        let values = PartValues::new(&self.boundary, part);
        let own: Vec<u32> = part.own.clone().map(|cell| cell as u32).collect();
        let of_quantity = |quantity: &Quantity<F>| Quantity {
            contribution: quantity.contribution.of_part(part, &values),
            prescribed: quantity.prescribed.of_rank(backend, values.whole()),
            source: quantity.source.of_rank(backend, &own),
        };
        let DiffusiveFlux { diffusivity, conductance, rates, correction, is_orthogonal } =
            &self.diffusion;
        let equation = TransportEquation {
            backend: backend.clone(),
            cells: part.cells.clone(),
            diffusion: DiffusiveFlux {
                diffusivity: *diffusivity,
                conductance: Arc::new(part.of_faces(conductance)),
                rates: rates[part.own.clone()].to_vec(),
                correction: correction.of_part(part, &values),
                is_orthogonal: *is_orthogonal,
            },
            boundary: self.boundary.of_part(part, &values),
            quantities: self.quantities.iter().map(of_quantity).collect(),
            upwind: self.upwind.as_ref().map(|upwind| upwind.of_part(part, &values)),
            implicit: self.implicit.of_part(part),
            explicit_flux: part.zeros_of_own_cells(&self.explicit_flux),
            explicit_flux_before: part.zeros_of_own_cells(&self.explicit_flux_before),
            face_flux: part.zeros_of_faces(&self.face_flux),
            residual: part.zeros_of_own_cells(&self.residual),
            increment: part.zeros_of_own_cells(&self.increment),
        };
        (equation, values)
    }

    /// The cells with their faces.
    pub(super) fn cells(&self) -> &Arc<FaceCells> {
        &self.cells
    }

    /// The cells outside `own` that the gradients of these cells use.
    pub(super) fn cells_beyond(&self, own: &Range<usize>) -> Vec<u32> {
        let mut cells = self.diffusion.correction.gradient().cells_beyond(own);
        if let Some(stencils) = self.upwind.as_ref().and_then(|upwind| upwind.stencils.as_ref()) {
            cells.extend(stencils.cells_beyond(own));
        }
        cells
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

/// Σ a / V of each cell.
fn diffusive_rates(mesh: &Mesh, geometry: &Geometry, conductance: &[f64]) -> Vec<f64> {
    let of_cell = |(cell, volume): (usize, &f64)| {
        let faces = mesh.cell_to_faces.of(cell).iter();
        faces.map(|item| conductance[index_of(*item)]).sum::<f64>() / volume
    };
    let volumes = geometry.cell_volume.par_iter().enumerate();
    volumes.with_min_len(1024).map(of_cell).collect()
}
