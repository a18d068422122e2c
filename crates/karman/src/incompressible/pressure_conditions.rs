//! Prescribed pressures.

use super::flow_dependent_pressure::FlowDependentPressure;
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::{BoundaryFaces, PartValues, TimeDependentData};
use crate::mesh::Mesh;
use crate::operators::Part;
use crate::real::Real;

/// Prescribed pressures.
pub(super) struct PressureConditions<F: Real> {
    /// Prescribed values of the boundary faces.
    pub boundary: BoundaryFaces,
    pub prescribed: TimeDependentData<F>,
    /// Prescribed pressures of the previous step.
    pub prescribed_before: Buffer<F>,
    /// 1 + the index of the prescribed pressure, 0 where none is: `[n_boundary]`.
    pub dirichlet_index: Buffer<u32>,
    /// 1 where the pressure is prescribed, 0 where the velocity is: `[n_boundary]`.
    pub is_dirichlet: Buffer<u32>,
    /// Faces of prescribed pressure.
    pub outlets: Buffer<u32>,
    /// Faces whose prescribed pressure depends on the flow, if there are any.
    pub of_flow: Option<FlowDependentPressure<F>>,
    /// Whether no pressure is prescribed: constants are the nullspace.
    pub is_singular: bool,
}

impl<F: Real> PressureConditions<F> {
    /// The conditions of a part with the pressures `values` prescribed there.
    pub(super) fn of_part(&self, part: &Part, values: &PartValues) -> Self {
        let n = self.prescribed_before.len();
        let (outlets, _) = part.listed_faces(&self.outlets);
        PressureConditions {
            boundary: self.boundary.of_part(part, values),
            prescribed: self.prescribed.of_rank(&part.backend, values.whole()),
            prescribed_before: part.of_list(&self.prescribed_before, values.whole(), n),
            dirichlet_index: values.indices(part, &self.dirichlet_index),
            is_dirichlet: part.of_boundary(&self.is_dirichlet),
            outlets: part.backend.upload(outlets),
            of_flow: self.of_flow.as_ref().map(|of_flow| of_flow.of_part(part, values)),
            is_singular: self.is_singular,
        }
    }

    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        is_singular: bool,
        boundary: BoundaryFaces,
        mut prescribed: TimeDependentData<F>,
        mut of_flow: Option<FlowDependentPressure<F>>,
        (dirichlet_index, area): (Vec<u32>, &Buffer<F>),
    ) -> Self {
        if let Some(of_flow) = &mut of_flow {
            let at_rest = backend.zeros(mesh.n_faces());
            of_flow.prescribe(backend, area, &at_rest, prescribed.value_mut());
        }
        let is_prescribed = |index: &u32| *index > 0;
        let faces = (mesh.n_interior_faces() as u32..).zip(&dirichlet_index);
        let outlets = faces.filter(|(_, index)| is_prescribed(index)).map(|(face, _)| face);
        let values = prescribed.value().len();
        let mut prescribed_before = backend.zeros(values);
        blas::copy(backend, values, prescribed.value(), &mut prescribed_before);
        PressureConditions {
            boundary,
            prescribed,
            prescribed_before,
            outlets: backend.upload(outlets.collect()),
            is_dirichlet: backend
                .upload(dirichlet_index.iter().map(|i| u32::from(is_prescribed(i))).collect()),
            dirichlet_index: backend.upload(dirichlet_index),
            of_flow,
            is_singular,
        }
    }
}
