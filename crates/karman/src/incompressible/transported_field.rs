//! A transported field: its time levels, its gradient, its values at the boundary.

use super::{Extent, IncompressibleError};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::Convection;
use crate::finite_volume::interpolation::boundary_value;
use crate::finite_volume::{
    CellField, FaceView, Faces, Prescribed, VectorField, Vectors, VelocityField, check_finite,
    narrow, narrow_slice,
};
use crate::mesh::{Geometry, Mesh};
use crate::operators::Part;
use crate::real::Real;
use std::sync::Arc;

/// A transported field, a component of the velocity or a temperature: arrays `[n_cells]` unless stated.
pub(super) struct TransportedField<F: Real> {
    /// At the current level.
    pub now: Buffer<F>,
    /// At the previous level.
    pub before: Buffer<F>,
    /// u*, the velocity before its projection.
    pub predicted: Buffer<F>,
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
    /// Hybrid differencing of outflow, see [`MassFlux`](crate::finite_volume::convection::MassFlux): `[n_boundary]`.
    pub hybrid_outflow: &'a Buffer<u32>,
    /// Weight of the left cell in the interpolation to a face: `[n_interior]`.
    pub weight: &'a Buffer<F>,
    /// Whether the skewness correction of the interpolation to faces is left out.
    pub is_unskewed: bool,
    pub convection: Convection,
    /// Faces whose inflow has a velocity along the normal.
    pub normal_inflow: Option<&'a Buffer<u32>>,
}

impl<F: Real> ConvectionInput<'_, F> {
    /// Faces with the weights of this interpolation.
    pub(super) fn face_view(&self) -> FaceView<'_, F> {
        let (weight, is_unskewed) = (self.weight.view(), self.is_unskewed);
        FaceView { weight, is_unskewed, ..self.faces.view() }
    }
}

impl<F: Real> TransportedField<F> {
    /// The initial field; `what` names it in messages.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry, extent): (&Mesh, &Geometry, Extent),
        (initial, what): (&Arc<dyn Prescribed>, &'static str),
    ) -> Result<Self, IncompressibleError> {
        let n = mesh.n_cells();
        let mut start = vec![0.0; n];
        initial.sample(&geometry.cell_centre, 0.0, &mut start);
        check_finite(what, &start, 0.0)?;
        let (before, predicted) = match extent {
            Extent::Cells => (narrow_slice(backend, &start), backend.zeros(n)),
            Extent::Boundary => (backend.zeros(0), backend.zeros(0)),
        };
        Ok(TransportedField {
            now: narrow(backend, start),
            before,
            predicted,
            gradient: backend.zeros(3 * n),
            at_boundary: backend.zeros(mesh.n_faces() - mesh.n_interior_faces()),
        })
    }

    /// The initial field on a part, with its values at ghosts.
    pub(super) fn of_part(&self, part: &Part) -> Self {
        let (backend, n) = (&part.backend, part.cells.n_local());
        TransportedField {
            now: part.of_cells(&self.now),
            before: part.of_cells(&self.now),
            predicted: backend.zeros(n),
            gradient: backend.zeros(3 * n),
            at_boundary: backend.zeros(part.n_boundary()),
        }
    }

    /// The field at the current level as kernels read it.
    pub(super) fn view(&self) -> CellField<'_, F> {
        CellField {
            value: self.now.view(),
            gradient: Vectors::of(&self.gradient),
            at_boundary: self.at_boundary.view(),
        }
    }

    /// Updates the boundary values of `now` from its gradient and the prescribed values; `is_unskewed` leaves out their
    /// tangential correction.
    pub(super) fn update_boundary_values(
        &mut self,
        backend: &Backend,
        faces: &Faces<F>,
        (prescribed, dirichlet_index): (&Buffer<F>, &Buffer<u32>),
        is_unskewed: bool,
    ) {
        boundary_value(
            backend,
            dirichlet_index.len(),
            &FaceView { is_unskewed, ..faces.view() },
            dirichlet_index,
            prescribed,
            &self.now,
            &Vectors::of(&self.gradient),
            &mut self.at_boundary,
        );
    }
}

/// The quantities of one to three fields as kernels read them; `of` gives the view of a component.
pub(super) fn velocity_view<'a, F: Real>(
    components: &'a [TransportedField<F>],
    of: impl Fn(&'a TransportedField<F>) -> CellField<'a, F>,
) -> VelocityField<'a, F> {
    let x = of(&components[0]);
    let [y, z] = [1, 2].map(|k| components.get(k).map_or(x, &of));
    VelocityField { x, y, z, dimension: components.len() }
}

/// The values of components at the boundary: `[n_boundary]` each.
pub(super) fn boundary_values<F: Real>(components: &[TransportedField<F>]) -> Vec<&Buffer<F>> {
    components.iter().map(|component| &component.at_boundary).collect()
}

/// One array of each component as kernels read the vector.
pub(super) fn vector_field<'a, F: Real>(
    components: &'a [TransportedField<F>],
    of: impl Fn(&'a TransportedField<F>) -> &'a Buffer<F>,
) -> VectorField<'a, F> {
    VectorField::of(&components.iter().map(of).collect::<Vec<_>>())
}
