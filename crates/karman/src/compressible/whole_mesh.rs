//! The mesh of a flow: the whole mesh, and the cells of it that a solver computes.

use super::limiter::Limiter;
use super::node_limiter::{CellNodes, NodeBounds};
use super::problem::CompressibleNumerics;
use super::reconstruction::stencil::Stencils;
use crate::mesh::quadrature::CellMoments;
use crate::mesh::{Geometry, Mesh};
use crate::operators::FaceCells;
use crate::real::Real;
use std::sync::Arc;

/// The whole mesh on the host.
pub struct WholeMesh<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its geometry.
    pub geometry: &'a Geometry,
    /// The moments of its cells.
    pub moments: CellMoments,
    /// Of the limiter `mlp`.
    pub(super) nodes: Option<CellNodes>,
    /// Its largest extent along an axis.
    pub(super) extent: f64,
}

impl<'a> WholeMesh<'a> {
    /// A mesh for solvers with some numerics.
    pub fn new(
        (mesh, geometry): (&'a Mesh, &'a Geometry),
        numerics: &CompressibleNumerics,
    ) -> Self {
        let extent = |k: usize| {
            let along = || mesh.points.iter().map(move |x| x[k]);
            along().fold(f64::MIN, f64::max) - along().fold(f64::MAX, f64::min)
        };
        WholeMesh {
            mesh,
            geometry,
            moments: CellMoments::new(mesh, geometry),
            nodes: (numerics.limiter == Limiter::Mlp).then(|| CellNodes::new(mesh)),
            extent: (0..3).map(extent).fold(0.0, f64::max),
        }
    }
}

/// The cells that a solver computes, all of the mesh or those of one rank, on the host. Ghosts are behind own cells.
pub(super) struct LocalMesh<'a, F: Real> {
    /// These cells and their faces.
    pub mesh: &'a Mesh,
    /// Their geometry.
    pub geometry: &'a Geometry,
    /// The moments of cells and ghosts.
    pub moments: &'a CellMoments,
    /// Those of cells with polynomials; of others they are empty.
    pub stencils: Stencils,
    /// The cells with polynomials, ascending.
    pub computed: &'a [u32],
    /// Of the limiter `mlp`, on the backend.
    pub nodes: Option<NodeBounds<F>>,
    /// The connectivity on the backend.
    pub cells: Arc<FaceCells>,
    /// Cells and boundary faces in the whole mesh, on one of several ranks.
    pub numbers: Option<&'a PartNumbers>,
}

/// Numbers of a part in the whole mesh.
pub struct PartNumbers {
    /// Those of its own cells, then of its ghosts.
    pub cells: Vec<u32>,
    /// Those of its boundary faces, ascending.
    pub(super) boundary_faces: Vec<u32>,
    /// Number of its interior faces, which come before those of the boundary.
    pub(super) n_interior: usize,
}

impl PartNumbers {
    /// The number in the part of a boundary face of one of its cells.
    pub fn boundary_face(&self, face: u32) -> u32 {
        match self.boundary_faces.binary_search(&face) {
            Ok(place) => (self.n_interior + place) as u32,
            Err(_) => unreachable!("a part has the boundary faces of its cells"),
        }
    }

    /// The number in the whole mesh of a boundary face of the part.
    pub(super) fn of_boundary_face(&self, face: usize) -> usize {
        self.boundary_faces[face - self.n_interior] as usize
    }
}
