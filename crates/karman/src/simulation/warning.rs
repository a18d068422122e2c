//! Warnings about a case on its mesh.

use crate::backend::HOST_CHUNK;
use crate::mesh::MeshWarning;

/// Cells of a rank below which two H200 are no faster than one ([section 41 of the log](../../../../docs/performance/log.md)).
pub(super) const FEWEST_CELLS: usize = 500_000;

/// A warning about a case on its mesh.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum SetupWarning {
    /// About the mesh.
    #[error(transparent)]
    Mesh(#[from] MeshWarning),
    /// Points of a line beside the mesh.
    #[error(
        "{outside} of {points} points of line \"{name}\" lie outside the mesh: they have no values"
    )]
    PointsOutside {
        /// Name of the line.
        name: String,
        /// Number of these points.
        outside: usize,
        /// Number of all points.
        points: usize,
    },
    /// Parts of ranks that are smaller than a chunk of reductions.
    #[error(
        "ranks = {ranks}: of {unknowns} {what} a part has fewer than the {HOST_CHUNK} that a sum takes together, so that results \
         agree with those of one rank to round-off; up to {chunks} ranks have its bits"
    )]
    SmallParts {
        /// Number of ranks.
        ranks: usize,
        /// Number of unknowns.
        unknowns: usize,
        /// Where they are: cells or nodes.
        what: &'static str,
        /// Largest number of ranks without this.
        chunks: usize,
    },
    /// Devices with few cells each.
    #[error(
        "ranks = {ranks}: each device has about {cells} cells; with fewer than {FEWEST_CELLS} exchanges take longer than the devices \
         spare: set ranks = 1"
    )]
    FewCells {
        /// Number of ranks.
        ranks: usize,
        /// Cells of a rank.
        cells: usize,
    },
    /// Parts of a graph, which are no whole chunks of reductions.
    #[error(
        "partition = \"metis\": sums are added in another order than on one rank{}",
        match has_ordered_stencils {
            false => ", so that results agree with those of other numbers of ranks to round-off",
            true => " and stencils take cells in their order, so that results agree with those of other numbers of ranks within the \
                     error of the discretization",
        }
    )]
    GraphParts {
        /// Whether polynomials depend on the order of the cells.
        has_ordered_stencils: bool,
    },
    /// A partition into one part.
    #[error("partition = \"metis\" has no effect on one rank")]
    OnePart,
    /// An inlet through which the fluid leaves.
    #[error(
        "the prescribed velocity of patch \"{patch}\" points out of the domain at each face: the fluid leaves \
         there; an inlet has a velocity towards the domain"
    )]
    OutwardInlet {
        /// The patch.
        patch: String,
    },
}
