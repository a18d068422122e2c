//! Boundary conditions at nodes, and the corners of faces and cells.

use crate::finite_volume::Functional;
use crate::mesh::{CellShape, Mesh};

/// The condition of a patch at its nodes. Prescribed values are those of the nodes of its faces, face by
/// face, from `first` on.
pub enum NodePatch {
    /// No flux.
    ZeroGradient,
    /// A prescribed temperature.
    Dirichlet,
    /// A prescribed flux.
    Neumann {
        /// First prescribed value.
        first: usize,
    },
    /// Heat transfer to an ambient fluid.
    Robin {
        /// First prescribed value.
        first: usize,
        /// h at each entry.
        coefficients: Vec<f64>,
    },
}

impl NodePatch {
    /// The heat flow into the domain at a node through one of its faces, if that is not Dirichlet: `entry`
    /// counts the nodes of the patch's faces, `area` is the node's share of the face.
    pub(super) fn heat_inflow(&self, node: u32, entry: usize, area: f64) -> Functional {
        let mut functional = Functional::default();
        match self {
            NodePatch::ZeroGradient | NodePatch::Dirichlet => {}
            NodePatch::Neumann { first } => functional.values.push(((first + entry) as u32, area)),
            NodePatch::Robin { first, coefficients } => {
                let conductance = coefficients[entry] * area;
                functional.values.push(((first + entry) as u32, conductance));
                functional.unknowns.push((node, -conductance));
            }
        }
        functional
    }
}

/// The boundary conditions at the nodes.
pub struct NodeBoundary {
    /// Of each patch.
    pub patches: Vec<NodePatch>,
    /// Dirichlet nodes, ascending.
    pub dirichlet_nodes: Vec<u32>,
    /// ρc ∫ N_i of each of them: `[dirichlet_nodes]`.
    pub dirichlet_mass: Vec<f64>,
}

/// Shape of a face from its number of nodes.
pub(super) fn face_shape(nodes: usize) -> CellShape {
    match nodes {
        2 => CellShape::Segment,
        3 => CellShape::Triangle,
        _ => CellShape::Quadrilateral,
    }
}

/// Corners of a cell.
pub(super) fn corners(mesh: &Mesh, cell: usize) -> Vec<[f64; 3]> {
    mesh.cells.nodes_of(cell).iter().map(|i| mesh.points[*i as usize]).collect()
}
