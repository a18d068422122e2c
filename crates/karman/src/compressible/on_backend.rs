//! Mesh and polynomials of a flow on a backend.

use super::face_points::FacePointsOnBackend;
use super::node_limiter::NodeBounds;
use super::reconstruction::polynomial::{AnyStencils, Polynomials};
use crate::backend::Buffer;
use crate::finite_volume::{CellFaces, FaceView, Vectors};
use crate::operators::FaceCells;
use crate::real::Real;

/// Connectivity and geometry.
pub(super) struct MeshOnBackend<F: Real> {
    pub(super) cells: FaceCells,
    pub(super) volume: Buffer<F>,
    pub(super) area: Buffer<F>,
    pub(super) points: FacePointsOnBackend<F>,
}

impl<F: Real> MeshOnBackend<F> {
    pub(super) fn n_cells(&self) -> usize {
        self.cells.n_cells()
    }

    pub(super) fn cell_faces(&self) -> CellFaces<'_, F> {
        CellFaces::of(&self.cells, self.volume.view())
    }

    pub(super) fn faces(&self) -> FaceView<'_, F> {
        FaceView { area: Vectors::of(&self.area), ..FaceView::of_cells(&self.cells) }
    }
}

/// Stencils, coefficients and what limits them.
pub(super) struct PolynomialsOnBackend<F: Real> {
    pub(super) stencils: AnyStencils<F>,
    pub(super) second: Buffer<F>,
    pub(super) coefficients: Buffer<F>,
    pub(super) factors: Buffer<F>,
    pub(super) softness: Buffer<F>,
    /// Of the limiter `mlp`.
    pub(super) nodes: Option<NodeBounds<F>>,
    pub(super) level: Buffer<u32>,
}

impl<F: Real> PolynomialsOnBackend<F> {
    pub(super) fn view<'a>(&'a self, means: &'a Buffer<F>) -> Polynomials<'a, F> {
        Polynomials::of(&self.coefficients, means, self.stencils.terms())
    }
}
