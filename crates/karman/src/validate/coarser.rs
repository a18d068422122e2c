//! The same case on a coarser mesh.

use crate::case::{Case, MeshSource, TimeStep};
use crate::mesh::generate::Generator;
use thiserror::Error;

/// Why a case has no coarser mesh.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CoarserError {
    /// Its mesh is a file, or of a generator without numbers of cells along its directions.
    #[error("a mesh is made coarser of box, box_with_box, cylinder_in_channel and annulus alone")]
    Mesh,
    /// Numbers of cells that the factor does not divide.
    #[error("{cells} cells are no multiple of {factor}")]
    Cells {
        /// The number.
        cells: usize,
        /// The factor.
        factor: usize,
    },
}

/// A case with `factor` times fewer cells along each direction, and steps as many times longer where their
/// length is given.
///
/// # Errors
/// [`CoarserError`].
pub fn coarser(case: &Case, factor: usize) -> Result<Case, CoarserError> {
    let mut case = case.clone();
    if factor == 1 {
        return Ok(case);
    }
    let counts: Vec<&mut usize> = match &mut case.mesh.source {
        MeshSource::Generate(Generator::Box(params)) => params.cells.iter_mut().collect(),
        MeshSource::Generate(Generator::BoxWithBox(params)) => {
            params.outer.cells.iter_mut().collect()
        }
        MeshSource::Generate(Generator::CylinderInChannel(params)) => {
            vec![&mut params.cells_around, &mut params.cells_radial, &mut params.cells_wake]
        }
        MeshSource::Generate(Generator::Annulus(params)) => params.cells.iter_mut().collect(),
        MeshSource::Generate(Generator::SphereInBox(_)) | MeshSource::File(_) => {
            return Err(CoarserError::Mesh);
        }
    };
    for cells in counts {
        if !cells.is_multiple_of(factor) {
            return Err(CoarserError::Cells { cells: *cells, factor });
        }
        *cells /= factor;
    }
    if let Some(TimeStep::Fixed(step)) = case.time.as_mut().map(|time| &mut time.step) {
        *step *= factor as f64;
    }
    Ok(case)
}
