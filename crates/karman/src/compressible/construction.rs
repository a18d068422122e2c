//! Construction of a solver: of all cells of a mesh, or of those that one of several ranks computes.

use super::boundary_data::BoundaryData;
use super::cell_means::{conserved_means, most_points, source_terms};
use super::error::CompressibleError;
use super::face_points::{FacePointsOnBackend, FaceRule};
use super::fused::{FusedResidual, has_rows};
use super::node_limiter::NodeBounds;
use super::on_backend::{MeshOnBackend, PolynomialsOnBackend};
use super::problem::{CompressibleNumerics, CompressibleProblem};
use super::reconstruction::polynomial::{AnyStencils, second_moments};
use super::reconstruction::stencil::Stencils;
use super::solver::{CompressibleSolver, State};
use super::state::VARIABLES;
use super::viscous::ViscousData;
use super::whole_mesh::{LocalMesh, WholeMesh};
use crate::backend::Backend;
use crate::finite_volume::{TimeDependentData, narrow, narrow_slice};
use crate::mesh::quadrature::CellMoments;
use crate::mesh::{Geometry, Mesh};
use crate::operators::FaceCells;
use crate::real::Real;
use rayon::prelude::*;
use std::sync::Arc;

/// K of Venkatakrishnan's limiter.
const SOFTNESS: f64 = 5.0;

impl<F: Real> CompressibleSolver<F> {
    /// The solver at time 0.
    ///
    /// # Errors
    /// [`CompressibleError`] for an invalid problem or a failure of the backend.
    pub fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        problem: &CompressibleProblem,
        numerics: &CompressibleNumerics,
    ) -> Result<Self, CompressibleError> {
        let whole = WholeMesh::new((mesh, geometry), numerics);
        let stencils = Stencils::new(mesh, geometry, &whole.moments, numerics.reconstruction);
        Self::with_stencils(backend, &whole, stencils, problem, numerics)
    }

    /// As [`CompressibleSolver::new`], with stencils of the degree of `numerics`.
    ///
    /// # Errors
    /// As [`CompressibleSolver::new`].
    pub fn with_stencils(
        backend: &Backend,
        whole: &WholeMesh<'_>,
        stencils: Stencils,
        problem: &CompressibleProblem,
        numerics: &CompressibleNumerics,
    ) -> Result<Self, CompressibleError> {
        tracing::debug!(
            "reconstruction: {} cells of a lower degree, levels {:?}",
            stencils.reduced,
            stencils.levels
        );
        let WholeMesh { mesh, geometry, moments, nodes, .. } = whole;
        let computed: Vec<u32> = (0..mesh.n_cells() as u32).collect();
        let all = LocalMesh {
            mesh,
            geometry,
            moments,
            stencils,
            computed: &computed,
            nodes: nodes.as_ref().map(|nodes| NodeBounds::new(backend, (mesh, moments), nodes)),
            cells: Arc::new(FaceCells::new(backend, mesh)),
            numbers: None,
        };
        Self::of_local(backend, whole, all, problem, numerics)
    }

    /// The solver at time 0 of some cells of a mesh.
    ///
    /// # Errors
    /// As [`CompressibleSolver::new`].
    pub(super) fn of_local(
        backend: &Backend,
        whole: &WholeMesh<'_>,
        local: LocalMesh<'_, F>,
        problem: &CompressibleProblem,
        numerics: &CompressibleNumerics,
    ) -> Result<Self, CompressibleError> {
        let (found, patches) = (problem.conditions.len(), whole.mesh.patches.len());
        if found != patches {
            return Err(CompressibleError::Conditions { found, patches });
        }
        if !(problem.gamma > 1.0 && problem.gamma.is_finite()) {
            return Err(CompressibleError::Gamma { value: problem.gamma });
        }
        let LocalMesh { mesh, geometry, moments, stencils, computed, nodes, cells, numbers } =
            local;
        let (own, n) = (cells.n_cells(), cells.n_local());
        let place = (mesh, geometry);
        let rule = FaceRule::new(mesh, geometry, moments, numerics.degree());
        let initial = conserved_means(place, own, &problem.initial, problem.gamma, 0.0)?;
        let source = problem.source.as_ref().map(|sources| {
            let terms = source_terms(place, (own, most_points(whole.mesh)), sources);
            TimeDependentData::new(backend, "source", VARIABLES * own, terms)
        });
        // A rank that fails takes part in no exchange.
        let source = source.transpose()?;
        let is_fused = numerics.is_fused(problem.viscous.is_some(), backend.device().is_some());
        let fused = is_fused.then(|| {
            let has_rows = has_rows(whole.mesh, stencils.terms, numerics);
            let with_rows = if has_rows { computed } else { &[] };
            let of_cells = (moments, &stencils);
            FusedResidual::new(backend, (mesh, &rule), of_cells, with_rows, numerics.weights)
        });
        let stencil_sizes = stencils.histogram(own);
        let polynomials = PolynomialsOnBackend {
            second: second_moments(backend, moments),
            softness: narrow(backend, softness(mesh.dimension, whole.extent, moments)),
            nodes,
            ..PolynomialsOnBackend::zeros(
                backend,
                n,
                AnyStencils::of(backend, stencils, numerics.weights),
            )
        };
        let mut now = vec![F::from_f64(0.0); VARIABLES * n];
        for (now, initial) in now.chunks_mut(n.max(1)).zip(initial.chunks(own.max(1))) {
            now.iter_mut().zip(initial).for_each(|(now, mean)| *now = F::from_f64(*mean));
        }
        drop(initial);
        let mut now = backend.upload(now);
        cells.fetch(&mut [&mut now]);
        let has_sum = numerics.method.has_sum();
        let of_rule = (&rule, numerics.degree());
        let whole = (whole.mesh, whole.geometry);
        let mut solver = CompressibleSolver {
            boundary: BoundaryData::new(
                backend,
                whole,
                (mesh, numbers),
                of_rule,
                &problem.conditions,
            )?,
            viscous: Arc::new(ViscousData::new(backend, place, problem.viscous, problem.gamma)),
            state: State::new(backend, now, own, mesh.n_faces(), has_sum),
            mesh: Arc::new(MeshOnBackend {
                cells,
                volume: narrow_slice(backend, &moments.volume),
                area: narrow_slice(backend, &geometry.face_area_vector),
                points: FacePointsOnBackend::new(backend, &rule),
            }),
            backend: backend.clone(),
            gamma: problem.gamma,
            numerics: *numerics,
            polynomials,
            source,
            fused,
            stencil_sizes,
        };
        solver.finish_step(false)?;
        Ok(solver)
    }
}

/// (K h/L)³ of each cell, h = V^(1/d), L the largest extent of the mesh.
fn softness(dimension: usize, extent: f64, moments: &CellMoments) -> Vec<f64> {
    let d = dimension as f64;
    let of_cell = |volume: &f64| (SOFTNESS * volume.powf(1.0 / d) / extent).powi(3);
    moments.volume.par_iter().map(of_cell).collect()
}
