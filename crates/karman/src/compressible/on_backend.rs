//! Mesh and polynomials of a flow on a backend.

use super::face_points::FacePointsOnBackend;
use super::node_limiter::NodeBounds;
use super::reconstruction::polynomial::{AnyStencils, Polynomials};
use super::state::VARIABLES;
use crate::backend::{Backend, Buffer};
use crate::finite_volume::{CellFaces, FaceView, Vectors};
use crate::operators::FaceCells;
use crate::real::Real;
use std::sync::Arc;

/// Connectivity and geometry.
pub(super) struct MeshOnBackend<F: Real> {
    pub(super) cells: Arc<FaceCells>,
    pub(super) volume: Buffer<F>,
    pub(super) area: Buffer<F>,
    pub(super) points: FacePointsOnBackend<F>,
}

impl<F: Real> MeshOnBackend<F> {
    /// Number of cells, on one of several ranks of its own.
    pub(super) fn n_cells(&self) -> usize {
        self.cells.n_cells()
    }

    /// Number of cells with polynomials, on one of several ranks its ghosts too.
    pub(super) fn n_polynomials(&self) -> usize {
        self.cells.n_local()
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
    /// ∇²ρ / 2, of the limiter `mood`; empty before the first.
    pub(super) curvature: Buffer<F>,
}

impl<F: Real> PolynomialsOnBackend<F> {
    /// Polynomials of `n` cells that are zero, without moments.
    pub(super) fn zeros(backend: &Backend, n: usize, stencils: AnyStencils<F>) -> Self {
        PolynomialsOnBackend {
            coefficients: backend.zeros(match stencils.terms() {
                0 => 0,
                terms => VARIABLES * n * (1 + terms),
            }),
            factors: backend.zeros(VARIABLES * n),
            level: backend.zeros(n),
            curvature: backend.zeros(0),
            second: backend.zeros(0),
            softness: backend.zeros(0),
            nodes: None,
            stencils,
        }
    }

    pub(super) fn view<'a>(&'a self, means: &'a Buffer<F>) -> Polynomials<'a, F> {
        Polynomials::of(&self.coefficients, means, self.stencils.terms())
    }
}
