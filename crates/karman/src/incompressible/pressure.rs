//! The projection: a Poisson equation for the pressure's increment, set up once for a run.
//!
//! ψ solves A ψ − K ψ = D F*, A the two-point Laplacian of faces where the flux may change; then
//! F = F* + a (ψ_r − ψ_l) is free of divergence to the solver's tolerance, u = u* + ∇ψ, and the pressure
//! changes by −shift ψ. The step is factored out, so one hierarchy serves all of them.

use super::faces::{Faces, SkewedCells};
use super::kernels::{
    advance_pressure, blend_gradients, boundary_value, correct_flux, pressure_gradient, take_held,
};
use super::transport::held_faces;
use super::{Arrangement, FlowCondition, IncompressibleError, Numerics, Problem, Scheme};
use crate::backend::{Backend, Buffer, blas};
use crate::diffusion::cell_centred::{BoundaryFaces, CellScheme, discretize};
use crate::diffusion::{
    Condition, CorrectionOnBackend, CouplingOnBackend, Forcing, Material, check_finite, narrow,
};
use crate::linear::{FirstGuess, Matrix, Nullspace, Params, SolveOutcome, Solver, SolverSetup};
use crate::mesh::{Geometry, Mesh};
use crate::operators::incidence::divergence;
use crate::real::Real;
use std::sync::Arc;
use std::time::Instant;

/// Passes of the first projection after the one without correction.
const START_CORRECTORS: usize = 4;

/// The pressure with what it takes to project a flux.
pub(super) struct Pressure<F: Real> {
    backend: Backend,
    /// p: `[n_cells]`.
    pub value: Buffer<F>,
    /// ∇p: `[3][n_cells]`.
    pub slope: Buffer<F>,
    /// p at boundary faces: `[n_boundary]`.
    pub at_boundary: Buffer<F>,
    /// ψ of the last projection: `[n_cells]`.
    pub psi: Buffer<F>,
    /// How ψ of the next one is guessed from the last two; none where each begins from 0 or from elsewhere.
    pub guess: Option<FirstGuess<F>>,
    /// ∇ψ: `[3][n_cells]`.
    pub psi_slope: Buffer<F>,
    /// D F*: `[n_cells]`.
    pub divergence: Buffer<F>,
    /// a: `[n_faces]`, 0 where a flux is held.
    pub conductance: Buffer<F>,
    /// Whether a boundary face's flux is free: `[n_boundary]`.
    pub is_free: Buffer<u32>,
    /// Whether nothing fixes the level of the pressure.
    pub is_singular: bool,
    /// What the boundary holds.
    pub boundary: BoundaryFaces,
    /// What the solver is.
    pub setup: SolverSetup,
    /// Prescribed pressures.
    prescribed: Forcing<F>,
    /// The same before, and by how much ψ differs at the boundary.
    prescribed_before: Buffer<F>,
    psi_prescribed: Buffer<F>,
    psi_at_boundary: Buffer<F>,
    held: Buffer<u32>,
    /// Faces where the pressure is held.
    outlets: Buffer<u32>,
    coupling: CouplingOnBackend<F>,
    correction: CorrectionOnBackend<F>,
    /// A: `[n_cells]` squared.
    pub matrix: Arc<Matrix<F>>,
    /// That of the last solve: `[n_cells]`.
    pub right_hand_side: Buffer<F>,
    /// Gradients by least squares: `[3][n_cells]`.
    fitted: Buffer<F>,
    /// ∇ψ that the last right-hand side was corrected with; empty where none is.
    carried: Buffer<F>,
    solver: Solver<F>,
    correctors: usize,
    /// Where the time scheme centres the pressure.
    pub halfway: Option<Halfway<F>>,
}

/// A pressure that belongs to the middle of a step, carried to its end by that of the step before.
pub(super) struct Halfway<F: Real> {
    /// p and p at the boundary in the middle of the step before.
    pub before: [Buffer<F>; 2],
    /// The same at the end of the step.
    pub shown: [Buffer<F>; 2],
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
            problem.conditions.iter().map(FlowCondition::of_pressure).collect();
        let material = Material::uniform(n, 1.0, 1.0);
        let (discrete, boundary) = discretize(mesh, geometry, &material, &conditions, true)?;
        let scheme = CellScheme::new(mesh, geometry, &material.conductivity, &boundary, true);
        let conductance = narrow(backend, scheme.conductances());
        let is_singular = !problem.conditions.iter().any(FlowCondition::holds_pressure);
        let mut start = vec![0.0; n];
        problem.pressure.sample(&geometry.cell_centre, 0.0, &mut start);
        check_finite("the initial pressure", &start, 0.0)?;
        let held = held_faces(mesh, &conditions);
        let first = mesh.n_interior_faces() as u32;
        let outlets: Vec<u32> =
            (first..).zip(&held).filter(|(_, held)| **held > 0).map(|(face, _)| face).collect();
        let prescribed: Forcing<F> =
            discrete.values.into_forcing(backend, "a pressure at the boundary")?;
        let values = prescribed.value().len();
        let matrix = Arc::new(Matrix::new(backend, discrete.matrix.into_converted())?);
        let nullspace = if is_singular { Nullspace::Constant } else { Nullspace::None };
        let params = Params { nullspace, ..numerics.pressure.clone() };
        let begun = Instant::now();
        let solver = Solver::new(backend, Arc::clone(&matrix), &params)?;
        let setup = SolverSetup::of(&solver, begun.elapsed().as_secs_f64());
        tracing::debug!("pressure: {setup}");
        let Some(correction) = discrete.correction else { unreachable!("asked for above") };
        let mut prescribed_before = backend.zeros(values);
        blas::copy(backend, values, prescribed.value(), &mut prescribed_before);
        Ok(Pressure {
            value: narrow(backend, start),
            slope: backend.zeros(3 * n),
            at_boundary: backend.zeros(n_boundary),
            psi: backend.zeros(n),
            guess: (numerics.arrangement != Arrangement::Exact && numerics.scheme != Scheme::Rk3)
                .then(|| FirstGuess::new(backend, n)),
            psi_slope: backend.zeros(3 * n),
            divergence: backend.zeros(n),
            conductance,
            is_free: backend.upload(held.iter().map(|h| u32::from(*h > 0)).collect()),
            is_singular,
            boundary,
            setup,
            prescribed,
            prescribed_before,
            psi_prescribed: backend.zeros(values),
            psi_at_boundary: backend.zeros(n_boundary),
            outlets: backend.upload(outlets),
            held: backend.upload(held),
            coupling: CouplingOnBackend::new(backend, discrete.coupling),
            correction: CorrectionOnBackend::new(backend, faces.cells.clone(), correction),
            matrix,
            right_hand_side: backend.zeros(n),
            fitted: backend.zeros(3 * n),
            carried: backend.zeros(if numerics.nonorthogonal_correctors > 0 { 3 * n } else { 1 }),
            solver,
            correctors: numerics.nonorthogonal_correctors,
            halfway: (numerics.scheme == Scheme::Ab2Cn).then(|| {
                let both = || [backend.zeros(n), backend.zeros(n_boundary)];
                Halfway { before: both(), shown: both() }
            }),
            backend: backend.clone(),
        })
    }

    /// Takes the pressures at the boundary, the mean of two times.
    pub(super) fn set_mean_time(&mut self, times: [f64; 2]) -> Result<(), IncompressibleError> {
        let values = self.prescribed_before.len();
        blas::copy(&self.backend, values, self.prescribed.value(), &mut self.prescribed_before);
        Ok(self.prescribed.set_mean(&self.backend, times)?)
    }

    /// r ← r − p at faces where the pressure is held.
    pub(super) fn take_held(&self, faces: &Faces<F>, r: &mut Buffer<F>) {
        let (outlets, n_interior) = (&self.outlets, faces.cells.n_interior());
        let value = self.prescribed.value();
        take_held(&self.backend, outlets.len(), outlets, &self.held, value, n_interior, r);
    }

    /// p of F = a G p / shift, where p counts as 0 where it is held.
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

    /// Bytes an iteration moves.
    pub(super) fn bytes_per_iteration(&self) -> usize {
        let vectors = 2 * self.psi.bytes();
        self.solver.bytes_per_iteration(self.matrix.bytes() + vectors)
    }

    /// Forgets earlier projections, of which none is a guess of the next.
    pub(super) fn forget(&mut self) {
        blas::fill(&self.backend, self.psi.len(), F::literal(0.0), &mut self.psi);
        if let Some(guess) = &mut self.guess {
            guess.is_new = true;
        }
    }

    /// Projects the flux at the start, of a velocity that may be far from divergence-free: where lines
    /// between centroids are not normal to their faces ψ takes [`START_CORRECTORS`] passes at least, so that
    /// ∇ψ of the cells agrees with what the fluxes are corrected by.
    pub(super) fn project_start(
        &mut self,
        faces: &Faces<F>,
        volume: &Buffer<F>,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let correctors = self.correctors;
        if !faces.is_orthogonal && correctors < START_CORRECTORS {
            self.correctors = START_CORRECTORS;
            self.carried = self.backend.zeros(3 * self.value.len());
        }
        let solved = self.project(faces, volume, 1.0, flux);
        if self.correctors != correctors {
            self.correctors = correctors;
            self.carried = self.backend.zeros(self.carried_length());
        }
        solved
    }

    /// Length of the gradients that corrected fluxes are kept for.
    fn carried_length(&self) -> usize {
        if self.correctors > 0 { 3 * self.value.len() } else { 1 }
    }

    /// Makes flux `F*` free of divergence; ψ, ∇ψ and D F* are left behind.
    pub(super) fn project(
        &mut self,
        faces: &Faces<F>,
        volume: &Buffer<F>,
        shift: f64,
        flux: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let backend = self.backend.clone();
        let values = self.prescribed_before.len();
        // At a held pressure ψ = (p before − p now) / shift.
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

    /// Makes a flux free of divergence by ψ of the values held.
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
            guess.keep(&backend, &mut self.right_hand_side);
        }
        for pass in 0..=self.correctors {
            blas::copy(&backend, n, &self.divergence, &mut self.right_hand_side);
            self.coupling.add(&backend, &self.psi_prescribed, &mut self.right_hand_side);
            if pass > 0 {
                let one = F::literal(1.0);
                let (slope, rhs) = (&self.carried, &mut self.right_hand_side);
                self.correction.add_carried(&backend, slope, one, rhs);
            }
            if let Some(guess) = self.guess.as_mut().filter(|_| pass == 0) {
                guess.improve(&backend, &self.right_hand_side, &mut self.psi);
            }
            let outcome = self.solver.solve(&self.right_hand_side, &mut self.psi)?;
            total = Some(outcome.after(total));
            // The last pass needs the gradient that its right-hand side was made with.
            if pass < self.correctors {
                let values = (&self.psi_prescribed, F::literal(1.0));
                let carried = &mut self.carried;
                self.correction.differentiate(&backend, &self.psi, values, carried);
            }
        }
        let held = (&self.held, &self.psi_prescribed);
        let into = (&mut self.fitted, &mut self.psi_at_boundary, &mut self.psi_slope);
        differentiate(&backend, &self.correction, faces, volume, held, &self.psi, into);
        let (tangential, left_weight) = self.correction.of_faces();
        correct_flux(
            &backend,
            cells.n_faces(),
            &cells.left,
            &cells.right,
            &self.conductance,
            &self.psi,
            &self.psi_at_boundary,
            tangential,
            left_weight,
            &self.carried,
            cells.n_interior(),
            cells.n_faces(),
            n,
            self.correctors == 0,
            flux,
        );
        let Some(mut outcome) = total else { unreachable!("there is one pass at least") };
        // The fluxes of a boundary that fixes no pressure were balanced: what is left is round-off.
        outcome.incompatibility = 0.0;
        Ok(outcome)
    }

    /// The pressures held at the boundary.
    pub(super) fn prescribed(&self) -> &Buffer<F> {
        self.prescribed.value()
    }

    /// ∇p, and p at the boundary.
    pub(super) fn differentiate(&mut self, faces: &Faces<F>, volume: &Buffer<F>) {
        let held = (&self.held, self.prescribed.value());
        let into = (&mut self.fitted, &mut self.at_boundary, &mut self.slope);
        let backend = &self.backend;
        differentiate(backend, &self.correction, faces, volume, held, &self.value, into);
    }

    /// p and p at the boundary at the end of the last step: `[n_cells]`, `[n_boundary]`.
    pub(super) fn shown(&self) -> [&Buffer<F>; 2] {
        match &self.halfway {
            None => [&self.value, &self.at_boundary],
            Some(Halfway { shown: [value, at_boundary], .. }) => [value, at_boundary],
        }
    }

    /// Keeps p for [`Pressure::show`].
    pub(super) fn keep(&mut self) {
        let Some(Halfway { before, .. }) = &mut self.halfway else { return };
        for (from, to) in [&self.value, &self.at_boundary].into_iter().zip(before) {
            blas::copy(&self.backend, from.len(), from, to);
        }
    }

    /// p at the end of a step, p + ahead (p − p before).
    pub(super) fn show(&mut self, ahead: f64) {
        let Some(Halfway { before, shown }) = &mut self.halfway else { return };
        let (zero, ahead) = (F::literal(0.0), F::from_f64(ahead));
        let now = [&self.value, &self.at_boundary];
        for ((now, before), shown) in now.into_iter().zip(before).zip(shown) {
            let (n, more) = (now.len(), F::literal(1.0) + ahead);
            blas::axpbypcz(&self.backend, n, more, now, -ahead, before, zero, shown);
        }
    }

    /// p ← keep p − shift ψ − ν D F* / V.
    pub(super) fn advance(&mut self, volume: &Buffer<F>, shift: f64, viscosity: f64, keep: f64) {
        advance_pressure(
            &self.backend,
            self.value.len(),
            &self.psi,
            &self.divergence,
            volume,
            F::from_f64(shift),
            F::from_f64(viscosity),
            F::from_f64(keep),
            &mut self.value,
        );
    }
}

/// A pressure's gradient by least squares, its values at the boundary (what is held, or the cell's value
/// carried there by that gradient), and its gradient from the values at faces.
fn differentiate<F: Real>(
    backend: &Backend,
    correction: &CorrectionOnBackend<F>,
    faces: &Faces<F>,
    volume: &Buffer<F>,
    (held, prescribed): (&Buffer<u32>, &Buffer<F>),
    value: &Buffer<F>,
    (fitted, at_boundary, slope): (&mut Buffer<F>, &mut Buffer<F>, &mut Buffer<F>),
) {
    correction.differentiate(backend, value, (prescribed, F::literal(1.0)), fitted);
    let cells = &faces.cells;
    let (n_interior, n_faces, n) = (cells.n_interior(), cells.n_faces(), cells.n_cells());
    boundary_value(
        backend,
        held.len(),
        &cells.left,
        held,
        prescribed,
        value,
        fitted,
        &faces.span,
        n_interior,
        n_faces,
        n,
        false,
        at_boundary,
    );
    pressure_gradient(
        backend,
        n,
        &cells.offsets,
        &cells.faces,
        &cells.left,
        &cells.right,
        value,
        fitted,
        at_boundary,
        &faces.weight,
        &faces.offset,
        &faces.span,
        &faces.area,
        volume,
        n_interior,
        n_faces,
        n,
        faces.is_straight,
        faces.is_cubic,
        slope,
    );
    let SkewedCells { places, share } = &faces.skewed;
    if !places.is_empty() {
        blend_gradients(backend, places.len(), places, share, fitted, slope);
    }
}
