//! What a solver and the parts of ranks are made of.

use super::reconstruction::stencil::Stencils;
use crate::mesh::quadrature::CellMoments;
use crate::mesh::{Geometry, Mesh};

/// The whole mesh with the stencils of its cells, on the host.
#[derive(Clone, Copy)]
pub struct WholeMesh<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its geometry.
    pub geometry: &'a Geometry,
    /// The moments of its cells.
    pub moments: &'a CellMoments,
    /// Their stencils.
    pub stencils: &'a Stencils,
}
