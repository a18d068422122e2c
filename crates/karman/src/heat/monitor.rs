//! Functionals of a heat problem: the temperature at a point, the heat through a patch.

use super::node_centred;
use super::problem::BoundaryKinds;
use super::{Discretization, Heat, HeatError, HeatScheme};
use crate::backend::Buffer;
use crate::finite_volume::CellScheme;
use crate::finite_volume::{Functional, Functionals};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// Faces or Dirichlet nodes summed into one functional of a patch: enough for few results, few enough for
/// parallel evaluation.
const PARTS_A_ROW: usize = 64;

impl HeatScheme {
    /// The temperature at a point of `cell`; `weights` are those of the cell's nodes at the point.
    pub fn at_point(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
        (cell, weights): (usize, &[f64]),
        point: [f64; 3],
    ) -> Functional {
        if let Some(scheme) = self.of_faces(mesh, geometry) {
            return scheme.at_point(cell, point);
        }
        Functional {
            unknowns: mesh.cells.nodes_of(cell).iter().copied().zip(weights.to_vec()).collect(),
            ..Functional::default()
        }
    }

    /// Index, among the prescribed values, of the Dirichlet temperature of a boundary face (counted from the
    /// first of these); none at a face of another condition, or where unknowns are at nodes.
    pub fn dirichlet_value(&self, boundary_face: usize) -> Option<u32> {
        match &self.kinds {
            BoundaryKinds::Cells(boundary) => boundary.dirichlet_value(boundary_face),
            BoundaryKinds::Nodes(_) => None,
        }
    }

    /// The heat flow into the domain through a patch: the sum of these functionals.
    pub fn heat_through(&self, mesh: &Mesh, geometry: &Geometry, patch: usize) -> Vec<Functional> {
        let parts: Vec<Functional> = match &self.kinds {
            BoundaryKinds::Cells(boundary) => {
                let corrected = self.discretization == Discretization::Cell { corrected: true };
                let conductivity = &self.conductivity;
                let scheme = CellScheme::new(mesh, geometry, conductivity, boundary, corrected);
                mesh.patches[patch].faces.clone().map(|f| scheme.heat_through(f)).collect()
            }
            BoundaryKinds::Nodes(boundary) => {
                node_centred::heat_through(mesh, &self.conductivity, patch, boundary)
            }
        };
        let rows = parts.chunks(PARTS_A_ROW).map(|chunk| {
            let mut sum = Functional::default();
            chunk.iter().for_each(|f| sum.add(1.0, f));
            sum.merged()
        });
        rows.collect()
    }
}

impl<F: Real> Heat<F> {
    /// Evaluates functionals of the temperature, the prescribed values at the last time set and the load of
    /// Dirichlet nodes in the last step; the results stay on the backend.
    ///
    /// # Errors
    /// [`HeatError::Diffusion`] where a source is not a number; the backend failed.
    pub fn evaluate<'a>(
        &mut self,
        functionals: &'a mut Functionals<F>,
    ) -> Result<&'a Buffer<F>, HeatError> {
        if functionals.need_load() {
            self.boundary.dirichlet_nodes.update_load(&self.backend, self.times)?;
        }
        let (prescribed, load) =
            (self.boundary.prescribed.value(), self.boundary.dirichlet_nodes.load());
        Ok(functionals.evaluate(&self.backend, &self.temperature, prescribed, load))
    }
}
