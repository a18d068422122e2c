//! Boundary data of the velocity.

use super::kernels::slip_velocity;
use super::mass_correction::MassCorrection;
use super::outflow::Outflow;
use super::surface_divergence::{SurfaceDivergence, has_opposite_face};
use super::transport_equation::{TransportEquation, faces_where};
use super::transported_field::{TransportedField, velocity_view};
use super::{FlowCondition, IncompressibleError};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::convection::{HYBRID_ALWAYS, HYBRID_UPWIND};
use crate::finite_volume::{CellField, Faces, PartValues, narrow};
use crate::mesh::{Geometry, Mesh};
use crate::operators::Part;
use crate::real::Real;

/// Faces whose velocity depends on the flow, and the correction of the boundary fluxes.
pub(super) struct FlowBoundary<F: Real> {
    /// 1 + the index of the prescribed velocity, 0 where none is: `[n_boundary]`.
    pub dirichlet_index: Buffer<u32>,
    /// Factor of the cell's momentum in backflow: `[n_boundary]`.
    pub backflow_factor: Buffer<F>,
    /// Hybrid differencing of outflow, see [`MassFlux`](crate::finite_volume::convection::MassFlux): `[n_boundary]`.
    pub hybrid_outflow: Buffer<u32>,
    pub slip: SlipFaces,
    pub outflow: Outflow<F>,
    pub mass_correction: MassCorrection,
    /// tr H of the prescribed velocities.
    pub divergence: SurfaceDivergence<F>,
}

/// Faces of slip walls.
pub(super) struct SlipFaces {
    pub faces: Buffer<u32>,
    /// Indices of their values among those prescribed.
    pub indices: Buffer<u32>,
    /// Whether there are such faces, on any of several ranks.
    pub is_present: bool,
}

impl SlipFaces {
    fn new(
        backend: &Backend,
        mesh: &Mesh,
        conditions: &[FlowCondition],
        dirichlet_index: &[u32],
    ) -> Self {
        let (faces, indices) =
            faces_where(mesh, conditions, dirichlet_index, FlowCondition::is_slip);
        let is_present = !faces.is_empty();
        SlipFaces { faces: backend.upload(faces), indices: backend.upload(indices), is_present }
    }

    /// The faces of a part with the values `values` prescribed there.
    fn of_part(&self, part: &Part, values: &PartValues) -> Self {
        let (faces, places) = part.listed_faces(&self.faces);
        let indices = self.indices.as_host().unwrap_or_default();
        let index = |place: &u32| values.local(indices[*place as usize]);
        SlipFaces {
            faces: part.backend.upload(faces),
            indices: part.backend.upload(places.iter().map(index).collect()),
            is_present: self.is_present,
        }
    }
}

impl<F: Real> FlowBoundary<F> {
    /// `is_closed`: no pressure is prescribed, so that the boundary fluxes have to balance.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        conditions: &[FlowCondition],
        dirichlet_index: &[u32],
        components: &[TransportedField<F>],
        is_closed: bool,
    ) -> Self {
        let inner = mesh.n_interior_faces();
        let mut backflow_factor = vec![1.0; mesh.n_faces() - inner];
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            backflow_factor[patch.faces.start - inner..patch.faces.end - inner]
                .fill(condition.data().backflow_factor);
        }
        let place = (mesh, geometry);
        let mut is_prescribed = vec![false; mesh.n_faces() - inner];
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            let prescribes = condition.prescribes_velocity();
            is_prescribed[patch.faces.start - inner..patch.faces.end - inner].fill(prescribes);
        }
        FlowBoundary {
            divergence: SurfaceDivergence::new(backend, place, &is_prescribed),
            backflow_factor: narrow(backend, backflow_factor),
            hybrid_outflow: backend.upload(hybrid_outflow(mesh, conditions, &is_prescribed)),
            slip: SlipFaces::new(backend, mesh, conditions, dirichlet_index),
            outflow: Outflow::new(backend, place, conditions, dirichlet_index, components),
            mass_correction: MassCorrection::new(backend, mesh, conditions, is_closed),
            dirichlet_index: backend.upload_slice(dirichlet_index),
        }
    }

    /// The boundary of a part with the velocities `values` prescribed there.
    pub(super) fn of_part(
        &self,
        part: &Part,
        values: &PartValues,
    ) -> Result<Self, IncompressibleError> {
        Ok(FlowBoundary {
            dirichlet_index: values.indices(part, &self.dirichlet_index),
            backflow_factor: part.of_boundary(&self.backflow_factor),
            hybrid_outflow: part.of_boundary(&self.hybrid_outflow),
            slip: self.slip.of_part(part, values),
            outflow: self.outflow.of_part(part, values)?,
            mass_correction: self.mass_correction.of_part(part)?,
            divergence: SurfaceDivergence::absent(&part.backend),
        })
    }

    /// Updates the velocities at slip walls, extrapolated in time, and at convective outlets.
    pub(super) fn update(
        &self,
        backend: &Backend,
        faces: &Faces<F>,
        components: &[TransportedField<F>],
        extrapolation: f64,
        momentum: &mut TransportEquation<F>,
    ) {
        self.outflow.prescribe(backend, momentum);
        let count = self.slip.indices.len();
        if count == 0 {
            return;
        }
        for k in 0..components.len() {
            slip_velocity(
                backend,
                count,
                &self.slip.indices,
                &self.slip.faces,
                &faces.view(),
                &velocity_view(components, TransportedField::view),
                &velocity_view(components, |c| CellField::of_values(&c.before)),
                F::from_f64(extrapolation),
                k,
                momentum.quantities[k].prescribed.value_mut(),
            );
        }
    }

    /// Corrects the boundary fluxes so that they balance.
    pub(super) fn balance(
        &mut self,
        backend: &Backend,
        faces: &Faces<F>,
        flux: &mut Buffer<F>,
    ) -> Result<(), IncompressibleError> {
        self.mass_correction.apply(backend, &self.outflow, &faces.area, flux)
    }
}

/// Hybrid differencing of outflow at each boundary face: with upwinding schemes where the velocity is prescribed, with any scheme at
/// convective outlets whose velocity does not follow that of the cell alone.
fn hybrid_outflow(mesh: &Mesh, conditions: &[FlowCondition], is_prescribed: &[bool]) -> Vec<u32> {
    let inner = mesh.n_interior_faces();
    let mut kinds: Vec<u32> =
        is_prescribed.iter().map(|is| if *is { HYBRID_UPWIND } else { 0 }).collect();
    for (patch, _) in mesh.patches.iter().zip(conditions).filter(|(_, of)| of.is_convective()) {
        for face in patch.faces.clone().filter(|face| !has_opposite_face(mesh, *face as u32)) {
            kinds[face - inner] = HYBRID_ALWAYS;
        }
    }
    kinds
}
