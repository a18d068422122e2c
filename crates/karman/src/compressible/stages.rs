//! A stage of a time step: fluxes in one of the forms of the residual, sums, and repetitions with a lower order.

use super::detection::{Candidates, LowestOrder, corrected_flux, curvatures, raise_levels};
use super::error::CompressibleError;
use super::fused::FusedResidual;
use super::limiter::{Limited, Limiter, LimiterView, limiter_factors, scale_polynomials};
use super::on_backend::PolynomialsOnBackend;
use super::reconstruction::polynomial::Polynomials;
use super::residual::{StageView, advance_stage, face_flux};
use super::solver::{CompressibleSolver, Means, State, StepLength, gas, source_of};
use super::state::States;
use crate::backend::{View, blas};
use crate::finite_volume::CellFaces;
use crate::linear::Layout;
use crate::real::Real;
use crate::time::runge_kutta::ExplicitStage;

/// Most repetitions of a stage for troubled cells.
const MAX_REPETITIONS: usize = 32;

impl<F: Real> CompressibleSolver<F> {
    /// Computes the means of a stage into `next`; the number of cells of a lower order.
    pub(super) fn advance_stage(
        &mut self,
        stage: &ExplicitStage,
        is_first: bool,
        length: StepLength,
        time: f64,
    ) -> Result<usize, CompressibleError> {
        self.boundary.set_time(&self.backend, time)?;
        if let Some(source) = &mut self.source {
            source.set_mean(&self.backend, [time; 2])?;
        }
        self.evaluate_fluxes(Means::Now);
        self.sum_fluxes(stage, is_first, length);
        let troubled = self.read_count()?;
        let mut cells = 0;
        if troubled > 0 || self.bounds_extrema() {
            cells = self.lower_orders(stage, is_first, length)?;
        }
        self.mesh.cells.fetch(&mut [&mut self.state.next]);
        Ok(cells)
    }

    /// Computes the means of a stage again with a lower order in troubled cells; their number, over all repetitions.
    fn lower_orders(
        &mut self,
        stage: &ExplicitStage,
        is_first: bool,
        length: StepLength,
    ) -> Result<usize, CompressibleError> {
        if self.fused.is_some() {
            self.reconstruct(Means::Now);
        }
        blas::fill(&self.backend, self.mesh.n_polynomials(), 0, &mut self.polynomials.level);
        let mut cells = 0;
        for _ in 0..MAX_REPETITIONS {
            let risen = self.raise_levels()?;
            cells += risen;
            if risen == 0 {
                break;
            }
            self.limit(Limited::ByLevel, Means::Now);
            self.correct_fluxes(stage, is_first);
            self.sum_fluxes(stage, is_first, length);
        }
        Ok(cells)
    }

    /// Whether new extrema are troubled.
    fn bounds_extrema(&self) -> bool {
        self.numerics.limiter == Limiter::Mood && self.polynomials.stencils.terms() > 0
    }

    /// The number that the last count found.
    pub(super) fn read_count(&mut self) -> Result<usize, CompressibleError> {
        Ok(self.state.cell_sum.read(&self.backend)? as usize)
    }

    /// Fluxes of the polynomials of means, limited.
    pub(super) fn evaluate_fluxes(&mut self, of: Means) {
        if self.fused.is_some() {
            self.set_traces(of);
            self.compute_trace_fluxes();
        } else {
            self.reconstruct(of);
            self.compute_fluxes(of);
        }
    }

    /// Traces of the polynomials of means, of the fused residual.
    pub(super) fn set_traces(&mut self, of: Means) {
        if let Some(fused) = &mut self.fused {
            let means = self.state.means(of);
            let numerics = (self.gamma, &self.numerics);
            fused.set_traces(&self.backend, &self.mesh, &self.polynomials, means, numerics);
        }
    }

    /// Fluxes between traces, of the fused residual.
    pub(super) fn compute_trace_fluxes(&mut self) {
        if let Some(fused) = &self.fused {
            let gas = gas(self.gamma, &self.numerics, &self.boundary, &self.viscous);
            fused.compute_fluxes(&self.backend, &self.mesh.points, &gas, &mut self.state.flux);
        }
    }

    /// Σ rows over the items of stencils, of a fused residual with rows of weights.
    pub(super) fn row_count(&self) -> Option<usize> {
        self.fused.as_ref().and_then(FusedResidual::row_count)
    }

    /// Polynomials of means, limited.
    pub(super) fn reconstruct(&mut self, of: Means) {
        let n = self.mesh.n_polynomials();
        let PolynomialsOnBackend { stencils, second, coefficients, .. } = &mut self.polynomials;
        let means = self.state.means(of);
        let q = States::of(means);
        if stencils.terms() > 0 {
            stencils.reconstruct(&self.backend, n, second, &q, coefficients);
        }
        if matches!(self.numerics.limiter, Limiter::Venkatakrishnan | Limiter::Minmod) {
            self.limit(Limited::All, of);
        }
        self.limit_at_nodes(of);
    }

    /// Scales the polynomials by the extrema around nodes, with the limiter `mlp`.
    fn limit_at_nodes(&mut self, of: Means) {
        let terms = self.polynomials.stencils.terms();
        let PolynomialsOnBackend { nodes: Some(nodes), coefficients, factors, softness, .. } =
            &mut self.polynomials
        else {
            return;
        };
        let (backend, means) = (&self.backend, self.state.means(of));
        let (n, q) = (self.mesh.n_polynomials(), States::of(means));
        let polynomials = Polynomials::of(coefficients, means, terms);
        nodes.set_factors(backend, n, &q, &polynomials, softness, factors);
        let layout = Layout::of(backend);
        scale_polynomials(backend, n, &q, &States::of(factors), terms, layout, coefficients);
    }

    fn limit(&mut self, limited: Limited, of: Means) {
        let terms = self.polynomials.stencils.terms();
        if terms == 0 {
            return;
        }
        let means = self.state.means(of);
        let (n, q) = (self.mesh.n_polynomials(), States::of(means));
        let is_smooth =
            limited == Limited::All && self.numerics.limiter == Limiter::Venkatakrishnan;
        let PolynomialsOnBackend { stencils, coefficients, factors, softness, level, .. } =
            &mut self.polynomials;
        let limiter = LimiterView {
            level: if limited == Limited::ByLevel { level.view() } else { View::absent() },
            softness: if is_smooth { softness.view() } else { View::absent() },
            limited,
            limiter: if is_smooth { Limiter::Venkatakrishnan } else { Limiter::Minmod },
        };
        let polynomials = Polynomials::of(coefficients, means, terms);
        let points = &self.mesh.points;
        let cells = self.mesh.cell_faces();
        let backend = &self.backend;
        limiter_factors(
            backend,
            n,
            &q,
            &cells,
            &points.view(),
            &stencils.cells_alone(),
            &polynomials,
            &limiter,
            factors,
        );
        let layout = Layout::of(backend);
        scale_polynomials(backend, n, &q, &States::of(factors), terms, layout, coefficients);
    }

    /// Fluxes of the polynomials of means.
    pub(super) fn compute_fluxes(&mut self, of: Means) {
        let gas = gas(self.gamma, &self.numerics, &self.boundary, &self.viscous);
        let (faces, points) = (self.mesh.faces(), self.mesh.points.view());
        let State { now, next, flux, .. } = &mut self.state;
        let means = if of == Means::Now { &*now } else { &*next };
        let polynomials = self.polynomials.view(means);
        let n_faces = self.mesh.cells.n_faces();
        face_flux(&self.backend, n_faces, &faces, &points, &polynomials, &gas, flux);
    }

    /// Fluxes of a lower order around troubled cells. The lowest order has the means that the stage adds its change to: with a part
    /// of uⁿ and of u, those of u; with uⁿ alone and with a sum of stages, those of uⁿ, the latter for the sum of all fluxes.
    fn correct_fluxes(&mut self, stage: &ExplicitStage, is_first: bool) {
        let gas = gas(self.gamma, &self.numerics, &self.boundary, &self.viscous);
        let (faces, points) = (self.mesh.faces(), self.mesh.points.view());
        let State { now, old, flux, sums, .. } = &mut self.state;
        let polynomials = self.polynomials.view(now);
        let has_earlier = stage.sum != 0.0;
        let means = if stage.current == 0.0 && !is_first { &*old } else { &*now };
        let lowest = LowestOrder {
            level: self.polynomials.level.view(),
            means: Polynomials::of(means, means, 0),
            earlier: States::of(&sums.fluxes),
            scale: F::from_f64(1.0 / stage.step),
            has_earlier,
        };
        let n_faces = self.mesh.cells.n_faces();
        corrected_flux(&self.backend, n_faces, &faces, &points, &polynomials, &gas, &lowest, flux);
    }

    pub(super) fn sum_fluxes(&mut self, stage: &ExplicitStage, is_first: bool, length: StepLength) {
        let State { now, old, next, sums, flux, local, cell_sum, .. } = &mut self.state;
        let old = if is_first { &*now } else { &*old };
        let has_sum = stage.sum != 0.0;
        let view = StageView {
            old: States::of(old),
            old_weight: F::from_f64(stage.old),
            weight: F::from_f64(stage.current),
            sum: States::of(&sums.means),
            sum_weight: F::from_f64(stage.sum),
            step: F::from_f64(stage.step * length.factor()),
            local: if length == StepLength::Local { local.view() } else { View::absent() },
            is_local: length == StepLength::Local,
            has_sum,
            gamma: F::from_f64(self.gamma),
        };
        let (source, has_source) = source_of(&self.source);
        advance_stage(
            &self.backend,
            self.mesh.cells.n_cells(),
            &CellFaces::of(&self.mesh.cells, self.mesh.volume.view()),
            &States::of(flux),
            &States::of(now),
            &source,
            &view,
            has_source,
            next,
            &mut cell_sum.partials,
        );
    }

    fn raise_levels(&mut self) -> Result<usize, CompressibleError> {
        let (n, is_bounded) = (self.mesh.n_cells(), self.bounds_extrema());
        let PolynomialsOnBackend { coefficients, stencils, level, curvature, .. } =
            &mut self.polynomials;
        let backend = &self.backend;
        if is_bounded {
            let polynomials = Polynomials::of(coefficients, &self.state.now, stencils.terms());
            if curvature.is_empty() {
                *curvature = backend.zeros(self.mesh.n_polynomials());
            }
            curvatures(backend, n, &polynomials, curvature);
            self.mesh.cells.fetch(&mut [curvature]);
        }
        let candidates = Candidates {
            new: States::of(&self.state.next),
            old: States::of(&self.state.now),
            curvature: curvature.view(),
            gamma: F::from_f64(self.gamma),
            bounded: is_bounded,
        };
        let stencil = stencils.cells_alone();
        let partials = &mut self.state.cell_sum.partials;
        raise_levels(backend, n, &candidates, &stencil, level, partials);
        self.mesh.cells.fetch(&mut [level]);
        self.read_count()
    }
}
