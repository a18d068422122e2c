//! The projection: a Poisson equation for the pressure's increment, set up once for a run.
//!
//! A ψ − K ψ = D F*, A the two-point Laplacian over faces where the flux may change; F = F* + a (ψ_r − ψ_l)
//! is divergence-free to the tolerance of the solver, u = u* + ∇ψ, p ← p − shift ψ. The step length is
//! factored out, so that one hierarchy serves all steps.

use super::implicit_diffusion::dirichlet_indices;
use super::kernels::{advance_pressure, correct_flux, subtract_prescribed};
use super::{Arrangement, FlowCondition, IncompressibleError, Numerics, Problem, Scheme};
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::diffusion::{CellScheme, discretize};
use crate::finite_volume::faces::{Faces, SkewedCells};
use crate::finite_volume::gradient::{blend_gradients, pressure_gradient};
use crate::finite_volume::interpolation::boundary_value;
use crate::finite_volume::{
    BoundaryContributionOnBackend, BoundaryFaces, CellField, Condition, DiffusiveFaces, FaceView,
    Material, NonOrthogonalCorrectionOnBackend, TimeDependentData, Vectors, check_finite, narrow,
};
use crate::linear::{InitialGuess, Matrix, Nullspace, Params, SolveOutcome, Solver, SolverSetup};
use crate::mesh::{Geometry, Mesh};
use crate::operators::incidence::divergence;
use crate::real::Real;
use std::sync::Arc;
use std::time::Instant;

/// Non-orthogonal corrections of the first projection.
const START_CORRECTORS: usize = 4;

/// The pressure and the projection.
pub(super) struct Pressure<F: Real> {
    backend: Backend,
    /// p: `[n_cells]`.
    pub value: Buffer<F>,
    /// ∇p: `[3][n_cells]`.
    pub grad_p: Buffer<F>,
    /// p at boundary faces: `[n_boundary]`.
    pub at_boundary: Buffer<F>,
    /// ψ of the last projection: `[n_cells]`.
    pub psi: Buffer<F>,
    /// Initial guess of ψ from the last two projections; none if each begins from 0 or another guess.
    pub guess: Option<InitialGuess<F>>,
    /// ∇ψ: `[3][n_cells]`.
    pub grad_psi: Buffer<F>,
    /// D F*: `[n_cells]`.
    pub divergence: Buffer<F>,
    /// a: `[n_faces]`, 0 where the flux is prescribed.
    pub conductance: Buffer<F>,
    /// 1 where the pressure is prescribed, 0 where the velocity is: `[n_boundary]`.
    pub is_dirichlet: Buffer<u32>,
    /// Whether no pressure is prescribed: constants are the nullspace.
    pub is_singular: bool,
    /// Prescribed values of the boundary faces.
    pub boundary: BoundaryFaces,
    /// Setup of the solver.
    pub setup: SolverSetup,
    /// Prescribed pressures.
    prescribed: TimeDependentData<F>,
    /// Prescribed pressures of the previous step, and the resulting Dirichlet values of ψ.
    prescribed_before: Buffer<F>,
    psi_prescribed: Buffer<F>,
    psi_at_boundary: Buffer<F>,
    dirichlet_index: Buffer<u32>,
    /// Faces of prescribed pressure.
    outlets: Buffer<u32>,
    coupling: BoundaryContributionOnBackend<F>,
    correction: NonOrthogonalCorrectionOnBackend<F>,
    /// A: `[n_cells]` squared.
    pub matrix: Arc<Matrix<F>>,
    /// Right-hand side of the last solve: `[n_cells]`.
    pub right_hand_side: Buffer<F>,
    /// Least-squares gradient: `[3][n_cells]`.
    lsq_gradient: Buffer<F>,
    /// ∇ψ of the non-orthogonal correction in the last right-hand side; of length 1 without correction.
    correction_gradient: Buffer<F>,
    solver: Solver<F>,
    correctors: usize,
    /// Midpoint pressures, for time schemes that centre the pressure.
    pub midpoint: Option<MidpointPressure<F>>,
}

/// Pressures at the midpoints of steps and their extrapolation to the end of the step.
pub(super) struct MidpointPressure<F: Real> {
    /// p and p at the boundary at the midpoint of the previous step.
    pub before: [Buffer<F>; 2],
    /// p and p at the boundary at the end of the step.
    pub at_end: [Buffer<F>; 2],
}

impl<F: Real> Pressure<F> {
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &Faces<F>,
        problem: &Problem,
        numerics: &Numerics,
    ) -> Result<Self, IncompressibleError> {
        let n = mesh.n_cells();
        let n_boundary = mesh.n_faces() - mesh.n_interior_faces();
        let conditions: Vec<Condition> =
            problem.conditions.iter().map(FlowCondition::pressure_condition).collect();
        let material = Material::uniform(n, 1.0, 1.0);
        let (discrete, boundary) = discretize(mesh, geometry, &material, &conditions, true)?;
        let scheme = CellScheme::new(mesh, geometry, &material.conductivity, &boundary, true);
        let conductance = narrow(backend, scheme.conductances());
        let is_singular = !problem.conditions.iter().any(FlowCondition::prescribes_pressure);
        let mut start = vec![0.0; n];
        problem.pressure.sample(&geometry.cell_centre, 0.0, &mut start);
        check_finite("the initial pressure", &start, 0.0)?;
        let dirichlet_index = dirichlet_indices(mesh, &conditions);
        let first = mesh.n_interior_faces() as u32;
        let outlets: Vec<u32> = (first..)
            .zip(&dirichlet_index)
            .filter(|(_, index)| **index > 0)
            .map(|(face, _)| face)
            .collect();
        let prescribed: TimeDependentData<F> =
            discrete.values.into_time_dependent_data(backend, "a pressure at the boundary")?;
        let values = prescribed.value().len();
        let matrix = Arc::new(Matrix::new(backend, discrete.matrix.into_converted())?);
        let nullspace = if is_singular { Nullspace::Constant } else { Nullspace::None };
        let params = Params { nullspace, ..numerics.pressure.clone() };
        let begun = Instant::now();
        let solver = Solver::new(backend, Arc::clone(&matrix), &params)?;
        let setup = SolverSetup::of(&solver, begun.elapsed().as_secs_f64());
        tracing::debug!("pressure: {setup}");
        let Some(correction) = discrete.correction else { unreachable!("requested above") };
        let mut prescribed_before = backend.zeros(values);
        blas::copy(backend, values, prescribed.value(), &mut prescribed_before);
        Ok(Pressure {
            value: narrow(backend, start),
            grad_p: backend.zeros(3 * n),
            at_boundary: backend.zeros(n_boundary),
            psi: backend.zeros(n),
            guess: (numerics.arrangement != Arrangement::Exact && numerics.scheme != Scheme::Rk3)
                .then(|| InitialGuess::new(backend, n)),
            grad_psi: backend.zeros(3 * n),
            divergence: backend.zeros(n),
            conductance,
            is_dirichlet: backend
                .upload(dirichlet_index.iter().map(|h| u32::from(*h > 0)).collect()),
            is_singular,
            boundary,
            setup,
            prescribed,
            prescribed_before,
            psi_prescribed: backend.zeros(values),
            psi_at_boundary: backend.zeros(n_boundary),
            outlets: backend.upload(outlets),
            dirichlet_index: backend.upload(dirichlet_index),
            coupling: BoundaryContributionOnBackend::new(backend, discrete.boundary_contribution),
            correction: NonOrthogonalCorrectionOnBackend::new(
                backend,
                faces.cells.clone(),
                correction,
            ),
            matrix,
            right_hand_side: backend.zeros(n),
            lsq_gradient: backend.zeros(3 * n),
            correction_gradient: backend.zeros(if numerics.nonorthogonal_correctors > 0 {
                3 * n
            } else {
                1
            }),
            solver,
            correctors: numerics.nonorthogonal_correctors,
            midpoint: (numerics.scheme == Scheme::Ab2Cn).then(|| {
                let both = || [backend.zeros(n), backend.zeros(n_boundary)];
                MidpointPressure { before: both(), at_end: both() }
            }),
            backend: backend.clone(),
        })
    }

    /// Sets the prescribed pressures to their mean at two times.
    pub(super) fn set_mean_time(&mut self, times: [f64; 2]) -> Result<(), IncompressibleError> {
        let values = self.prescribed_before.len();
        blas::copy(&self.backend, values, self.prescribed.value(), &mut self.prescribed_before);
        Ok(self.prescribed.set_mean(&self.backend, times)?)
    }

    /// r ← r − p at faces of prescribed pressure.
    pub(super) fn subtract_prescribed(&self, faces: &Faces<F>, r: &mut Buffer<F>) {
        let (outlets, n_interior) = (&self.outlets, faces.cells.n_interior());
        let value = self.prescribed.value();
        subtract_prescribed(
            &self.backend,
            outlets.len(),
            outlets,
            &self.dirichlet_index,
            value,
            n_interior,
            r,
        );
    }

    /// Solves D (F − a G p / shift) = 0 with p = 0 at faces of prescribed pressure.
    pub(super) fn recover(
        &mut self,
        faces: &Faces<F>,
        volume: &Buffer<F>,
        shift: f64,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let backend = self.backend.clone();
        let (n, inverse) = (self.value.len(), F::from_f64(-1.0 / shift));
        let zero = F::literal(0.0);
        blas::fill(&backend, self.psi_prescribed.len(), zero, &mut self.psi_prescribed);
        blas::axpby(&backend, n, inverse, &self.value, zero, &mut self.psi);
        self.correct(faces, volume, flux)
    }

    /// Bytes moved by an iteration.
    pub(super) fn bytes_per_iteration(&self) -> usize {
        let vectors = 2 * self.psi.bytes();
        self.solver.bytes_per_iteration(self.matrix.bytes() + vectors)
    }

    /// Discards earlier projections as initial guesses.
    pub(super) fn reset_guess(&mut self) {
        blas::fill(&self.backend, self.psi.len(), F::literal(0.0), &mut self.psi);
        if let Some(guess) = &mut self.guess {
            guess.is_new = true;
        }
    }

    /// Projects the initial flux, whose divergence may be large: on non-orthogonal meshes with at least
    /// [`START_CORRECTORS`] corrections, so that ∇ψ of the cells agrees with the correction of the fluxes.
    pub(super) fn project_start(
        &mut self,
        faces: &Faces<F>,
        volume: &Buffer<F>,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let correctors = self.correctors;
        if !faces.is_orthogonal && correctors < START_CORRECTORS {
            self.correctors = START_CORRECTORS;
            self.correction_gradient = self.backend.zeros(3 * self.value.len());
        }
        let solved = self.project(faces, volume, 1.0, flux);
        if self.correctors != correctors {
            self.correctors = correctors;
            self.correction_gradient = self.backend.zeros(self.correction_gradient_length());
        }
        solved
    }

    /// Length of the gradient of the non-orthogonal correction.
    fn correction_gradient_length(&self) -> usize {
        if self.correctors > 0 { 3 * self.value.len() } else { 1 }
    }

    /// Projects F* onto divergence-free fluxes; sets ψ, ∇ψ and D F*.
    pub(super) fn project(
        &mut self,
        faces: &Faces<F>,
        volume: &Buffer<F>,
        shift: f64,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let backend = self.backend.clone();
        let values = self.prescribed_before.len();
        // At a prescribed pressure ψ = (p_before − p) / shift.
        let inverse = 1.0 / shift;
        blas::copy(&backend, values, &self.prescribed_before, &mut self.psi_prescribed);
        blas::axpby(
            &backend,
            values,
            F::from_f64(-inverse),
            self.prescribed.value(),
            F::from_f64(inverse),
            &mut self.psi_prescribed,
        );
        self.correct(faces, volume, flux)
    }

    /// Projects a flux with the Dirichlet values of ψ.
    fn correct(
        &mut self,
        faces: &Faces<F>,
        volume: &Buffer<F>,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let backend = self.backend.clone();
        let n = self.value.len();
        let cells = &faces.cells;
        divergence(
            &backend,
            n,
            &cells.offsets,
            &cells.faces,
            flux,
            cells.rows,
            &mut self.divergence,
        );
        let mut total: Option<SolveOutcome> = None;
        if let Some(guess) = &mut self.guess {
            guess.store_right_hand_side(&backend, &mut self.right_hand_side);
        }
        for pass in 0..=self.correctors {
            blas::copy(&backend, n, &self.divergence, &mut self.right_hand_side);
            self.coupling.add(&backend, &self.psi_prescribed, &mut self.right_hand_side);
            if pass > 0 {
                let one = F::literal(1.0);
                let (gradient, rhs) = (&self.correction_gradient, &mut self.right_hand_side);
                self.correction.add_fluxes(&backend, gradient, one, rhs);
            }
            if let Some(guess) = self.guess.as_mut().filter(|_| pass == 0) {
                guess.extrapolate(&backend, &self.right_hand_side, &mut self.psi);
            }
            let outcome = self.solver.solve(&self.right_hand_side, &mut self.psi)?;
            total = Some(outcome.after(total));
            // The flux correction below reads the gradient of the last right-hand side.
            if pass < self.correctors {
                let values = (&self.psi_prescribed, F::literal(1.0));
                let gradient = &mut self.correction_gradient;
                self.correction.differentiate(&backend, &self.psi, values, gradient);
            }
        }
        let conditions = (&self.dirichlet_index, &self.psi_prescribed);
        let into = (&mut self.lsq_gradient, &mut self.psi_at_boundary, &mut self.grad_psi);
        differentiate(&backend, &self.correction, faces, volume, conditions, &self.psi, into);
        let (tangential, left_weight) = self.correction.face_coefficients();
        let psi = CellField {
            value: self.psi.view(),
            gradient: Vectors::of(&self.correction_gradient),
            at_boundary: self.psi_at_boundary.view(),
        };
        correct_flux(
            &backend,
            cells.n_faces(),
            &FaceView { weight: left_weight.view(), ..faces.view() },
            &psi,
            &DiffusiveFaces {
                conductance: self.conductance.view(),
                tangential: Vectors::of(tangential),
                two_point: self.correctors == 0,
            },
            flux,
        );
        let Some(mut outcome) = total else { unreachable!("there is one pass at least") };
        // Global mass correction precedes: the remaining incompatibility is round-off.
        outcome.incompatibility = 0.0;
        Ok(outcome)
    }

    /// p with its Gauss gradient as kernels read it.
    pub(super) fn view(&self) -> CellField<'_, F> {
        CellField {
            value: self.value.view(),
            gradient: Vectors::of(&self.grad_p),
            at_boundary: self.at_boundary.view(),
        }
    }

    /// The prescribed pressures.
    pub(super) fn prescribed(&self) -> &Buffer<F> {
        self.prescribed.value()
    }

    /// ∇p, and p at the boundary.
    pub(super) fn differentiate(&mut self, faces: &Faces<F>, volume: &Buffer<F>) {
        let conditions = (&self.dirichlet_index, self.prescribed.value());
        let into = (&mut self.lsq_gradient, &mut self.at_boundary, &mut self.grad_p);
        let backend = &self.backend;
        differentiate(backend, &self.correction, faces, volume, conditions, &self.value, into);
    }

    /// p and p at the boundary at the end of the last step: `[n_cells]`, `[n_boundary]`.
    pub(super) fn at_end(&self) -> [&Buffer<F>; 2] {
        match &self.midpoint {
            None => [&self.value, &self.at_boundary],
            Some(MidpointPressure { at_end: [value, at_boundary], .. }) => [value, at_boundary],
        }
    }

    /// Stores p for [`Pressure::extrapolate_to_end`].
    pub(super) fn store_midpoint(&mut self) {
        let Some(MidpointPressure { before, .. }) = &mut self.midpoint else { return };
        for (from, to) in [&self.value, &self.at_boundary].into_iter().zip(before) {
            blas::copy(&self.backend, from.len(), from, to);
        }
    }

    /// p at the end of a step, p + extrapolation (p − p_before).
    pub(super) fn extrapolate_to_end(&mut self, extrapolation: f64) {
        let Some(MidpointPressure { before, at_end }) = &mut self.midpoint else { return };
        let (zero, extrapolation) = (F::literal(0.0), F::from_f64(extrapolation));
        let now = [&self.value, &self.at_boundary];
        for ((now, before), at_end) in now.into_iter().zip(before).zip(at_end) {
            let (n, weight) = (now.len(), F::literal(1.0) + extrapolation);
            blas::axpbypcz(&self.backend, n, weight, now, -extrapolation, before, zero, at_end);
        }
    }

    /// p ← previous_weight p − shift ψ − ν D F* / V.
    pub(super) fn advance(
        &mut self,
        volume: &Buffer<F>,
        shift: f64,
        viscosity: f64,
        previous_weight: f64,
    ) {
        advance_pressure(
            &self.backend,
            self.value.len(),
            &self.psi,
            &self.divergence,
            volume,
            F::from_f64(shift),
            F::from_f64(viscosity),
            F::from_f64(previous_weight),
            &mut self.value,
        );
    }
}

/// Least-squares gradient of a pressure, its boundary values (prescribed, or extrapolated by that gradient),
/// and its Gauss gradient.
fn differentiate<F: Real>(
    backend: &Backend,
    correction: &NonOrthogonalCorrectionOnBackend<F>,
    faces: &Faces<F>,
    volume: &Buffer<F>,
    (dirichlet_index, prescribed): (&Buffer<u32>, &Buffer<F>),
    value: &Buffer<F>,
    (lsq_gradient, at_boundary, gradient): (&mut Buffer<F>, &mut Buffer<F>, &mut Buffer<F>),
) {
    correction.differentiate(backend, value, (prescribed, F::literal(1.0)), lsq_gradient);
    let cells = &faces.cells;
    let lsq = Vectors::of(lsq_gradient);
    // Extrapolated from the centroid of the cell to that of the face.
    let to_boundary =
        FaceView { skewness: Vectors::of(&faces.delta), is_unskewed: false, ..faces.view() };
    boundary_value(
        backend,
        dirichlet_index.len(),
        &to_boundary,
        dirichlet_index,
        prescribed,
        value,
        &lsq,
        at_boundary,
    );
    let p = CellField { value: value.view(), gradient: lsq, at_boundary: at_boundary.view() };
    pressure_gradient(
        backend,
        cells.n_cells(),
        &faces.of_cells(volume),
        &faces.view(),
        &p,
        gradient,
    );
    let SkewedCells { cells, share } = &faces.skewed;
    if !cells.is_empty() {
        blend_gradients(backend, cells.len(), cells, share, &lsq, gradient);
    }
}
