//! The solver: set up once, used for many right-hand sides. The host's side of the Krylov loop.

use super::amg::{Amg, AmgParams, HierarchyPrecision, HierarchyReport, SavedInterpolations};
use super::auto_selection::select;
use super::convergence_state::{ConvergenceState, status};
use super::krylov::{Krylov, System};
use super::nullspace::ConstantProjection;
use super::{
    BiCgStab, Breakdown, Chebyshev, ConjugateGradient, Fgmres, GaussSeidel, Identity, Jacobi,
    LinearError, Matrix, Method, MixedPrecision, Nullspace, Operator, Params, Preconditioner,
    PreconditionerKind, SingleReduction, SolveOutcome, Stationary, Status,
};
use karman_backend::real::{Real, epsilon};
use karman_backend::{Backend, Buffer, Recording, blas};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of restarts from the true residual; each must have halved it.
const RESTARTS: usize = 20;

/// The state a recording works on.
struct State<T> {
    system: System<T>,
    method: Box<dyn Krylov<T>>,
}

/// Whether a solve shall stop, asked between its iterations.
pub type StopTest = Arc<dyn Fn() -> bool + Send + Sync>;

type Work<T> = Box<dyn FnMut(&Backend, &mut State<T>) + Send + Sync>;

/// A linear system with its preconditioner, scratch and recorded iterations. A solve allocates
/// nothing that grows with the system.
pub struct Solver<T: Real> {
    backend: Backend,
    params: Params,
    state: State<T>,
    /// One for each step between restarts; a single one for methods without restarts.
    recordings: Vec<Recording<State<T>, Work<T>>>,
    /// Iterations of a replay, or between two convergence checks of a method with restarts.
    stride: usize,
    constants: Option<(ConstantProjection, Buffer<T>)>,
    /// The requested preconditioner.
    requested: PreconditionerKind,
    /// Reason of the selection of the preconditioner.
    reason: String,
    should_stop: Option<StopTest>,
}

impl<T: Real> Solver<T> {
    /// The solver of A x = b for a matrix, preconditioned as `params` says.
    ///
    /// # Errors
    /// [`LinearError`] where the matrix is not square, has an empty row or does not suit the
    /// preconditioner, where a parameter is out of range, or where the device failed.
    pub fn new(
        backend: &Backend,
        matrix: Arc<Matrix<T>>,
        params: &Params,
    ) -> Result<Self, LinearError> {
        check_square(&matrix)?;
        let operator = Box::new(Arc::clone(&matrix));
        Self::with_operator(backend, operator, Some(matrix), params)
    }

    /// The solver of any operator. The preconditioner of `params` is set up from `preconditioning_matrix`,
    /// an approximation of the operator; only [`PreconditionerKind::None`] needs none.
    ///
    /// # Errors
    /// As for [`Solver::new`]; [`LinearError::NeedsMatrix`] where the matrix is missing.
    pub fn with_operator(
        backend: &Backend,
        operator: Box<dyn Operator<T>>,
        preconditioning_matrix: Option<Arc<Matrix<T>>>,
        params: &Params,
    ) -> Result<Self, LinearError> {
        Self::with_interpolations(backend, operator, preconditioning_matrix, params, None)
    }

    /// As [`Solver::with_operator`], with saved multigrid interpolations. They are reused if the
    /// preconditioner is multigrid with the same setup key and `preconditioning_matrix` has their sparsity
    /// pattern; the log says so, or why not.
    ///
    /// # Errors
    /// As for [`Solver::with_operator`].
    pub fn with_interpolations(
        backend: &Backend,
        operator: Box<dyn Operator<T>>,
        preconditioning_matrix: Option<Arc<Matrix<T>>>,
        params: &Params,
        saved: Option<SavedInterpolations>,
    ) -> Result<Self, LinearError> {
        params.check()?;
        if let Some(matrix) = &preconditioning_matrix {
            check_square(matrix)?;
        }
        let requested = params.preconditioner;
        let mut params = params.clone();
        let mut reason = String::new();
        if let (PreconditionerKind::Auto { .. }, Some(matrix)) =
            (requested, &preconditioning_matrix)
        {
            let selection = select(backend, matrix, requested)?;
            (params.preconditioner, reason) = (selection.kind, selection.reason);
        }
        let rows = operator.unknowns();
        let is_from_operator =
            preconditioning_matrix.as_ref().is_some_and(|matrix| is_matrix(&*operator, matrix));
        let preconditioner =
            preconditioner(rows, preconditioning_matrix, params.preconditioner, saved)?;
        let mut solver = Self::of(backend, operator, preconditioner, &params, is_from_operator)?;
        (solver.requested, solver.reason) = (requested, reason);
        Ok(solver)
    }

    /// The solver of another operator whose preconditioning matrix has new values in the same sparsity
    /// pattern: the preconditioner is updated if that is cheaper than a new set-up. If it is not, or if
    /// `auto` selects another preconditioner for the new values, the operator is returned.
    ///
    /// # Errors
    /// As for [`Solver::with_operator`].
    #[allow(clippy::type_complexity)] // two outcomes, neither of them an error
    pub fn update_values(
        self,
        operator: Box<dyn Operator<T>>,
        preconditioning_matrix: &Matrix<T>,
    ) -> Result<Result<Self, Box<dyn Operator<T>>>, LinearError> {
        let Solver { backend, params, state, recordings, requested, mut reason, .. } = self;
        let State { system, method } = state;
        // Recordings point into levels that are freed below; a method's scratch may be large.
        drop((recordings, method));
        if let PreconditionerKind::Auto { .. } = requested {
            let selection = select(&backend, preconditioning_matrix, requested)?;
            if selection.kind != params.preconditioner {
                return Ok(Err(operator));
            }
            reason = selection.reason;
        }
        let mut preconditioner = system.preconditioner;
        if operator.unknowns() != preconditioning_matrix.rows()
            || !preconditioner.update_values(preconditioning_matrix)?
        {
            return Ok(Err(operator));
        }
        let is_from_operator = is_matrix(&*operator, preconditioning_matrix);
        let mut solver = Self::of(&backend, operator, preconditioner, &params, is_from_operator)?;
        (solver.requested, solver.reason) = (requested, reason);
        Ok(Ok(solver))
    }

    /// Its preconditioner, for another solver of the same size.
    pub fn into_preconditioner(self) -> Box<dyn Preconditioner<T>> {
        let Solver { state, recordings, .. } = self;
        // Recordings point into the state.
        drop(recordings);
        state.system.preconditioner
    }

    /// The interpolations of its preconditioner, if any. `preconditioning_matrix` has the sparsity pattern
    /// of the matrix the preconditioner was set up with.
    ///
    /// # Errors
    /// [`LinearError::Backend`] where the device failed.
    pub fn interpolations(
        &self,
        preconditioning_matrix: &Matrix<T>,
    ) -> Result<Option<SavedInterpolations>, LinearError> {
        self.state.system.preconditioner.interpolations(preconditioning_matrix)
    }

    /// The solver of any operator with any preconditioner; `params.preconditioner` is ignored.
    ///
    /// # Errors
    /// [`LinearError::Parameter`] where a parameter is out of range or plain conjugate gradients
    /// meet a preconditioner that is not symmetric; [`LinearError::Backend`] where the device failed.
    pub fn with_preconditioner(
        backend: &Backend,
        operator: Box<dyn Operator<T>>,
        preconditioner: Box<dyn Preconditioner<T>>,
        params: &Params,
    ) -> Result<Self, LinearError> {
        Self::of(backend, operator, preconditioner, params, false)
    }

    /// `is_from_operator`: whether the preconditioner was set up from the operator's own matrix.
    fn of(
        backend: &Backend,
        operator: Box<dyn Operator<T>>,
        preconditioner: Box<dyn Preconditioner<T>>,
        params: &Params,
        is_from_operator: bool,
    ) -> Result<Self, LinearError> {
        params.check()?;
        let needs_symmetry =
            matches!(params.method, Method::ConjugateGradient | Method::SingleReduction);
        if needs_symmetry && !preconditioner.is_symmetric() {
            return Err(LinearError::VariablePreconditioner);
        }
        let n = operator.unknowns();
        let mut system = System::new(backend, operator, preconditioner);
        system.history = params.record_history.then(|| backend.zeros(params.max_iterations + 1));
        let method = krylov(backend, &mut system, params, is_from_operator);
        let constants = match params.nullspace {
            Nullspace::None => None,
            Nullspace::Constant => {
                let projection = ConstantProjection::new(backend, n, system.total_rows());
                Some((projection, backend.zeros(n)))
            }
        };
        let mut solver = Solver {
            backend: backend.clone(),
            params: params.clone(),
            state: State { system, method },
            recordings: vec![],
            stride: 1,
            constants,
            requested: params.preconditioner,
            reason: "as given".to_owned(),
            should_stop: None,
        };
        solver.record()?;
        Ok(solver)
    }

    /// Records the iterations. The state is all zeros, hence inactive: the first run changes nothing.
    fn record(&mut self) -> Result<(), LinearError> {
        let backend = self.backend.clone();
        let graphs = backend.device().is_some();
        let chosen = self.params.iterations_per_check;
        let System { operator, preconditioner, .. } = &self.state.system;
        let is_diagonal = preconditioner.diagonal().is_some();
        // One number on all ranks, which check together.
        let by_size = match graphs {
            true => stride(backend.total(operator.unknowns())?, is_diagonal),
            false => 1,
        };
        self.stride = chosen.unwrap_or(by_size);
        let cycle = self.state.method.cycle();
        let mut repeats = if cycle.is_some() { 1 } else { self.stride };
        if graphs {
            repeats = repeats.next_multiple_of(self.state.method.period());
        }
        for k in 0..cycle.unwrap_or(1) {
            let work: Work<T> = Box::new(move |backend, state: &mut State<T>| {
                for _ in 0..repeats {
                    state.method.step(k, backend, &mut state.system);
                }
            });
            let state = &mut self.state;
            let recording = Recording::new(&backend, state, work, |_, _| {})?;
            self.recordings.push(recording);
        }
        Ok(())
    }

    /// Its backend.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Its parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Name of the preconditioner in use and the reason of its selection.
    pub fn selection(&self) -> (&'static str, &str) {
        (self.params.preconditioner.word(), &self.reason)
    }

    /// Its operator; None where it is of another type.
    pub fn operator<O: Operator<T>>(&self) -> Option<&O> {
        let operator: &dyn Any = &*self.state.system.operator;
        operator.downcast_ref()
    }

    /// Its operator, whose values may change between solves while its buffers stay; None where it is of another type.
    pub fn operator_mut<O: Operator<T>>(&mut self) -> Option<&mut O> {
        let operator: &mut dyn Any = &mut *self.state.system.operator;
        operator.downcast_mut()
    }

    /// Its operator and preconditioner, whose values may change between solves while their buffers stay; None where
    /// they are of other types.
    pub fn parts_mut<O: Operator<T>, P: Preconditioner<T>>(&mut self) -> Option<(&mut O, &mut P)> {
        let System { operator, preconditioner, .. } = &mut self.state.system;
        let (operator, preconditioner): (&mut dyn Any, &mut dyn Any) =
            (&mut **operator, &mut **preconditioner);
        operator.downcast_mut().zip(preconditioner.downcast_mut())
    }

    /// The multigrid levels of its preconditioner, if any.
    pub fn hierarchy(&self) -> Option<&HierarchyReport> {
        self.state.system.preconditioner.hierarchy()
    }

    /// Sets the relative tolerance.
    ///
    /// # Errors
    /// [`LinearError::Parameter`] where it is out of range.
    pub fn set_relative_tolerance(&mut self, tolerance: f64) -> Result<(), LinearError> {
        let params = Params { relative_tolerance: tolerance, ..self.params.clone() };
        params.check()?;
        self.params = params;
        Ok(())
    }

    /// Ends later solves with [`Status::Interrupted`] once `should_stop` is true, which is asked at each convergence check.
    pub fn stop_when(&mut self, should_stop: StopTest) {
        self.should_stop = Some(should_stop);
    }

    fn is_stopped(&self) -> bool {
        self.should_stop.as_ref().is_some_and(|should_stop| should_stop())
    }

    /// Estimate of the bytes one iteration moves, from those of a `product` with the operator.
    pub fn bytes_per_iteration(&self, product: usize) -> usize {
        let State { system, method } = &self.state;
        let fused = system.preconditioner.diagonal().is_some();
        let preconditioner = if fused { 0 } else { system.preconditioner.bytes() };
        let product = method.product_bytes().unwrap_or(product);
        system.rows() * method.vectors_moved() + product + preconditioner
    }

    /// Solves A x = b from the initial guess `x`, which becomes the solution. `b`, `x`: `[n]`; on one of several ranks they
    /// may have ghosts, those of `x` are out of date afterwards.
    ///
    /// # Errors
    /// [`LinearError::VectorLength`] where b or x has another length, [`LinearError::Backend`] where
    /// the device failed. Divergence is an outcome, not an error.
    pub fn solve(&mut self, b: &Buffer<T>, x: &mut Buffer<T>) -> Result<SolveOutcome, LinearError> {
        let expected = self.state.system.rows();
        let ghosts = self.state.system.halo.as_ref().map_or(0, |halo| halo.ghosts());
        for (what, found) in [("right-hand side", b.len()), ("solution", x.len())] {
            if found != expected && found != expected + ghosts {
                return Err(LinearError::VectorLength { what, expected, found });
            }
        }
        let backend = self.backend.clone();
        let start = Instant::now();
        backend.install(|| {
            blas::copy(&backend, expected, x, &mut self.state.system.iterate);
            let outcome = match self.constants.take() {
                None => self.iterate(b, None),
                Some((mut projection, mut rhs)) => {
                    let outcome = self.iterate_projected(b, &mut projection, &mut rhs);
                    self.constants = Some((projection, rhs));
                    outcome
                }
            }?;
            blas::copy(&backend, expected, &self.state.system.iterate, x);
            Ok(SolveOutcome { seconds: start.elapsed().as_secs_f64(), ..outcome })
        })
    }

    fn iterate_projected(
        &mut self,
        b: &Buffer<T>,
        projection: &mut ConstantProjection,
        rhs: &mut Buffer<T>,
    ) -> Result<SolveOutcome, LinearError> {
        let backend = self.backend.clone();
        projection.project(&backend, &mut self.state.system.iterate);
        blas::copy(&backend, rhs.len(), b, rhs);
        projection.project(&backend, rhs);
        let incompatibility = projection.share(&backend)?;
        let outcome = self.iterate(rhs, Some(projection))?;
        projection.project(&backend, &mut self.state.system.iterate);
        Ok(SolveOutcome { incompatibility, ..outcome })
    }

    /// The iteration, restarted from the true residual until that ends the solve. In single precision `constants` are projected
    /// out of each true residual: the operator cannot reduce those that round-off makes, and directions would tend to them.
    fn iterate(
        &mut self,
        b: &Buffer<T>,
        mut constants: Option<&mut ConstantProjection>,
    ) -> Result<SolveOutcome, LinearError> {
        let backend = self.backend.clone();
        let is_singular = constants.is_some();
        if size_of::<T>() > 4 {
            constants = None;
        }
        // A residual below the round-off of T cannot be reduced.
        let tolerance = self.params.relative_tolerance;
        let floor = 1e-3 * epsilon::<T>();
        let limit = self.params.max_iterations as f64;
        let system = &mut self.state.system;
        system.begin(&backend, b, tolerance.max(floor), limit);
        system.true_residual(&backend, b, constants.as_deref_mut());
        let mut restarts = 0;
        let mut before = f64::INFINITY;
        let mut is_resumed = false;
        loop {
            let State { system, method } = &mut self.state;
            match is_resumed {
                false => method.start(&backend, system),
                true => method.resume(&backend, system),
            }
            let stop = self.run_cycle(&backend)?;
            let is_stopped = self.is_stopped();
            let State { system, method } = &mut self.state;
            method.finish(&backend, system)?;
            system.true_residual(&backend, b, constants.as_deref_mut());
            let now = system.read_convergence(&backend)?;
            let mut verdict =
                check_outcome(&stop, &now, tolerance, (before, restarts), is_singular);
            if is_stopped && verdict.is_none() {
                verdict = Some(Status::Interrupted);
            }
            if let Some(status) = verdict {
                return self.outcome(status, restarts, &now);
            }
            before = now.residual;
            restarts += usize::from(stop.status != status::RUNNING);
            // The recurrence's residual is still that of the iterate.
            is_resumed = stop.status <= status::TARGET && now.residual <= 4.0 * stop.residual;
        }
    }

    /// Iterates until the method stops or its cycle ends; returns the state.
    fn run_cycle(&mut self, backend: &Backend) -> Result<ConvergenceState<f64>, LinearError> {
        let cycle = self.state.method.cycle();
        let mut k = 0;
        loop {
            let index = if cycle.is_some() { k } else { 0 };
            self.recordings[index].replay(&mut self.state)?;
            k += 1;
            let ended = cycle.is_some_and(|c| k == c);
            if ended || cycle.is_none() || k % self.stride == 0 {
                let now = self.state.system.read_convergence(backend)?;
                if ended || now.active == 0.0 || self.is_stopped() {
                    return Ok(now);
                }
            }
        }
    }

    fn outcome(
        &self,
        status: Status,
        restarts: usize,
        now: &ConvergenceState<f64>,
    ) -> Result<SolveOutcome, LinearError> {
        let reference = now.reference.sqrt();
        let iterations = now.iterations as usize;
        let mut history = vec![];
        if let Some(recorded) = &self.state.system.history {
            history = self.backend.read(recorded)?;
            history.truncate(iterations + 1);
            history.iter_mut().for_each(|r| *r = relative(*r, now.reference));
        }
        Ok(SolveOutcome {
            status,
            iterations,
            relative_residual: relative(now.residual, now.reference),
            reference,
            restarts,
            incompatibility: 0.0,
            history,
            seconds: 0.0,
        })
    }
}

/// √(rr / reference), 0 where both are 0.
fn relative(residual: f64, reference: f64) -> f64 {
    if residual == 0.0 { 0.0 } else { (residual / reference).sqrt() }
}

/// The status of an iteration that stopped as `stop`, from its true residual `now`, the one `before` and the number of
/// restarts; `None`: restart. A singular operator may lose its curvature to round-off, which a restart mends.
pub(super) fn check_outcome(
    stop: &ConvergenceState<f64>,
    now: &ConvergenceState<f64>,
    tolerance: f64,
    (before, restarts): (f64, usize),
    is_singular: bool,
) -> Option<Status> {
    let finite = now.residual.is_finite() && now.reference.is_finite() && stop.detail.is_finite();
    if !finite || stop.status == status::NOT_FINITE {
        return Some(Status::NotANumber);
    }
    if relative(now.residual, now.reference) <= tolerance {
        return Some(Status::Converged);
    }
    if now.iterations >= now.limit {
        return Some(Status::MaxIterations);
    }
    // Residuals are squared: 0.25 halves the norm.
    let improved = now.residual <= 0.25 * before && restarts < RESTARTS;
    let value = stop.detail;
    let broken =
        |b: Breakdown| (!improved || stop.iterations == 0.0).then_some(Status::Breakdown(b));
    match stop.status {
        s if s == status::OPERATOR && is_singular && (improved || restarts > 0) => {
            (!improved).then_some(Status::Stagnated)
        }
        s if s == status::OPERATOR => {
            Some(Status::Breakdown(Breakdown::Operator { curvature: value }))
        }
        s if s == status::PRECONDITIONER => {
            Some(Status::Breakdown(Breakdown::Preconditioner { product: value }))
        }
        s if s == status::SHADOW => broken(Breakdown::Shadow { product: value }),
        s if s == status::OMEGA => broken(Breakdown::Omega { omega: value }),
        // A cycle has ended: a slight decrease is enough.
        s if s == status::RUNNING => {
            (now.residual > (1.0 - 1e-6) * before).then_some(Status::Stagnated)
        }
        _ => (!improved).then_some(Status::Stagnated),
    }
}

/// Iterations between two convergence checks on a device: a check costs about 20 µs, steps past the end
/// cost their time, so k = √(2 · 20 µs · N / t) for N ≈ 250 iterations of about t = 11 µs + 0.05 ns a row.
/// A preconditioner that is not diagonal gives N ≈ 30 and t = 60 µs + 0.2 ns a row.
fn stride(rows: usize, is_diagonal: bool) -> usize {
    let rows = rows as f64;
    let (checks, microseconds) =
        if is_diagonal { (10_000.0, 11.0 + 5e-5 * rows) } else { (1200.0, 60.0 + 2e-4 * rows) };
    ((checks / microseconds).sqrt().round() as usize).clamp(1, 32)
}

fn check_square<T: Real>(matrix: &Matrix<T>) -> Result<(), LinearError> {
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if rows != columns && matrix.halo().is_none() {
        return Err(LinearError::NotSquare { rows, columns });
    }
    matrix.empty_row().map_or(Ok(()), |row| Err(LinearError::EmptyRow { row }))
}

/// Whether `operator` applies `matrix` itself.
fn is_matrix<T: Real>(operator: &dyn Operator<T>, matrix: &Matrix<T>) -> bool {
    operator.matrix().is_some_and(|own| std::ptr::eq(own, matrix))
}

fn krylov<T: Real>(
    backend: &Backend,
    system: &mut System<T>,
    params: &Params,
    is_from_operator: bool,
) -> Box<dyn Krylov<T>> {
    let is_double = size_of::<T>() > size_of::<f32>();
    let is_conjugate =
        [Method::ConjugateGradient, Method::FlexibleConjugateGradient].contains(&params.method);
    let rows = system.rows();
    let single = system.preconditioner.single();
    if let Some(single) = single.filter(|_| is_conjugate && is_from_operator && is_double) {
        return Box::new(MixedPrecision::new(backend, rows, single));
    }
    let system = &*system;
    match params.method {
        Method::ConjugateGradient => Box::new(ConjugateGradient::new(backend, system, false)),
        Method::FlexibleConjugateGradient => {
            Box::new(ConjugateGradient::new(backend, system, true))
        }
        Method::SingleReduction => Box::new(SingleReduction::new(backend, system)),
        Method::BiCgStab => Box::new(BiCgStab::new(backend, system)),
        Method::Stationary => Box::new(Stationary::new(backend, system)),
        Method::Fgmres => Box::new(Fgmres::new(backend, system, params.restart)),
    }
}

/// The preconditioner of this kind, set up from `preconditioning_matrix`.
fn preconditioner<T: Real>(
    rows: usize,
    preconditioning_matrix: Option<Arc<Matrix<T>>>,
    kind: PreconditionerKind,
    saved: Option<SavedInterpolations>,
) -> Result<Box<dyn Preconditioner<T>>, LinearError> {
    if saved.is_some() && !matches!(kind, PreconditionerKind::Amg(_)) {
        tracing::info!("saved interpolations not used: the preconditioner is {}", kind.word());
    }
    let matrix = match (kind, preconditioning_matrix) {
        (PreconditionerKind::None, _) => return Ok(Box::new(Identity { rows })),
        (_, Some(matrix)) => matrix,
        (_, None) => return Err(LinearError::NeedsMatrix { name: kind.word() }),
    };
    check_square(&matrix)?;
    if kind == PreconditionerKind::GaussSeidel && matrix.halo().is_some() {
        return Err(LinearError::Ranks {
            item: "the preconditioner `gauss_seidel`",
            instead: "`amg`, `jacobi`, `chebyshev` or `none`",
        });
    }
    if matrix.rows() != rows {
        let found = matrix.rows();
        return Err(LinearError::Length { what: "rows", expected: rows, found });
    }
    Ok(match kind {
        PreconditionerKind::None => Box::new(Identity { rows }),
        // Resolved before, as there is a matrix.
        PreconditionerKind::Auto { .. } => Box::new(Jacobi::<T>::new(&matrix)?),
        PreconditionerKind::Jacobi => Box::new(Jacobi::<T>::new(&matrix)?),
        PreconditionerKind::GaussSeidel => Box::new(GaussSeidel::<T, T>::new(&matrix)?),
        PreconditionerKind::Chebyshev { degree, ratio } => {
            Box::new(Chebyshev::<T, T>::new(matrix, degree, ratio)?)
        }
        PreconditionerKind::Amg(params) if params.precision == HierarchyPrecision::Single => {
            Box::new(multigrid::<T, f32>(&matrix, &params, saved)?)
        }
        PreconditionerKind::Amg(params) => Box::new(multigrid::<T, T>(&matrix, &params, saved)?),
    })
}

/// Multigrid with saved interpolations, or with a full set-up where they belong to another system.
fn multigrid<T: Real, S: Real>(
    matrix: &Matrix<T>,
    params: &AmgParams,
    saved: Option<SavedInterpolations>,
) -> Result<Amg<S>, LinearError> {
    let Some(saved) = saved else { return Amg::new(matrix, params) };
    let is_first_rank = matrix.first_row() == 0;
    match Amg::from_interpolations(matrix, params, saved) {
        Err(LinearError::OtherSystem { reason }) => {
            if is_first_rank {
                tracing::info!("saved interpolations not used: {reason}");
            }
            Amg::new(matrix, params)
        }
        Ok(amg) => {
            if is_first_rank {
                tracing::info!("multigrid reuses the saved interpolations");
            }
            Ok(amg)
        }
        Err(error) => Err(error),
    }
}
