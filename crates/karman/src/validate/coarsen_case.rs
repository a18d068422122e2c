//! A case on a coarser mesh.

use crate::case::{Case, MeshSource, TimeStep};
use crate::mesh::generate::Generator;
use thiserror::Error;

/// Why a case cannot be coarsened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CoarsenError {
    /// Its mesh is a file, or its generator has no numbers of cells along directions.
    #[error(
        "only these generated meshes can be coarsened: box, box_with_obstacle, cylinder_in_channel and annulus"
    )]
    Mesh,
    /// Numbers of cells that the factor does not divide.
    #[error("{cells} cells are not a multiple of {factor}")]
    Cells {
        /// The number.
        cells: usize,
        /// The factor.
        factor: usize,
    },
}

/// A case with `factor` times fewer cells along each direction and a `factor` times larger time step, if
/// that is fixed.
///
/// # Errors
/// [`CoarsenError`].
pub fn coarsen_case(case: &Case, factor: usize) -> Result<Case, CoarsenError> {
    let mut case = case.clone();
    if factor == 1 {
        return Ok(case);
    }
    let counts: Vec<&mut usize> = match &mut case.mesh.source {
        MeshSource::Generate(Generator::Box(params)) => params.cells.iter_mut().collect(),
        MeshSource::Generate(Generator::BoxWithObstacle(params)) => {
            params.outer.cells.iter_mut().collect()
        }
        MeshSource::Generate(Generator::CylinderInChannel(params)) => {
            vec![&mut params.cells_around, &mut params.cells_radial, &mut params.cells_wake]
        }
        MeshSource::Generate(Generator::Annulus(params)) => params.cells.iter_mut().collect(),
        MeshSource::Generate(Generator::SphereInBox(_)) | MeshSource::File(_) => {
            return Err(CoarsenError::Mesh);
        }
    };
    for cells in counts {
        if !cells.is_multiple_of(factor) {
            return Err(CoarsenError::Cells { cells: *cells, factor });
        }
        *cells /= factor;
    }
    if let Some(TimeStep::Fixed(step)) = case.time.as_mut().map(|time| &mut time.step) {
        *step *= factor as f64;
    }
    Ok(case)
}
