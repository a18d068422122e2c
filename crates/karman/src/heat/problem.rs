//! The specification of a heat problem: properties, sources, boundary conditions, initial temperature.

use super::node_boundary::NodeBoundary;
use super::{Discretization, HeatError};
use crate::finite_volume::{BoundaryFaces, Condition, Material, Prescribed};
use crate::mesh::Mesh;
use std::sync::Arc;

/// A volumetric heat source in some of the cells.
#[derive(Clone)]
pub struct Source {
    /// Power per unit volume.
    pub value: Arc<dyn Prescribed>,
    /// Its region; none: everywhere.
    pub region: Option<u32>,
}

/// The specification of a heat problem.
#[derive(Clone)]
pub struct Problem {
    /// Location of the unknowns.
    pub discretization: Discretization,
    /// Properties of the cells.
    pub material: Material,
    /// Heat sources; they add up.
    pub sources: Vec<Source>,
    /// One condition a patch, in the order of the mesh's patches.
    pub conditions: Vec<Condition>,
    /// Initial T (unsteady) or initial guess (steady).
    pub initial: Arc<dyn Prescribed>,
}

impl Problem {
    pub(super) fn check(&self, mesh: &Mesh) -> Result<(), HeatError> {
        let (found, patches) = (self.conditions.len(), mesh.patches.len());
        if found != patches {
            return Err(HeatError::Conditions { found, patches });
        }
        Ok(self.material.check()?)
    }
}

/// The boundary conditions, for functionals.
pub(super) enum BoundaryKinds {
    /// Of each boundary face.
    Cells(BoundaryFaces),
    /// Of each patch, and of each Dirichlet node.
    Nodes(NodeBoundary),
}
