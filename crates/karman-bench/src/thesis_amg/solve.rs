//! Timed steady solves and time marching by one method.

use super::method::ThesisMethod;
use super::published;
use crate::solver::solved;
use crate::system::{COLD, HOT, System};
use crate::{BenchError, on_threads};
use karman::backend::{Backend, Buffer, blas};
use karman::linear::{CsrMatrix, HierarchyReport, Matrix, Params, SolveOutcome, Solver, Status};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// Time step.
const STEP: f64 = 0.01;
/// A solve shorter than this many seconds is repeated: the first may include the compilation of kernels.
const REPEATED_BELOW: f64 = 2.0;
/// Repeated solves; their median is reported.
const REPETITIONS: usize = 3;

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The tolerance was met.
    Converged,
    /// The residual stopped falling or is not a number.
    Diverging,
    /// The iteration limit was reached.
    Unfinished,
}

impl Verdict {
    fn of(outcome: &SolveOutcome) -> Verdict {
        match outcome.status {
            Status::Converged => Verdict::Converged,
            Status::MaxIterations => Verdict::Unfinished,
            _ => Verdict::Diverging,
        }
    }
}

/// One level of a hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelSize {
    /// Unknowns.
    pub rows: usize,
    /// Boundary unknowns; none where the coarsening does not weight them.
    pub boundary: Option<usize>,
    /// Mean number of neighbours of an unknown.
    pub degree: f64,
}

/// A steady solve.
#[derive(Clone, Debug, Serialize)]
pub struct Solved {
    /// How it ended.
    pub verdict: Verdict,
    /// Multigrid cycles, iterations of conjugate gradients, or residual evaluations (Gauss–Seidel).
    pub iterations: usize,
    /// Updates of unknowns on all levels over the cells; iterations of conjugate gradients with Jacobi.
    pub work_units: f64,
    /// ‖b − A x‖ / ‖b‖; none where it is not finite.
    pub relative_residual: Option<f64>,
    /// Seconds of set-up.
    pub setup_seconds: f64,
    /// Seconds of the solve.
    pub seconds: f64,
    /// Levels, the finest first; empty without a hierarchy.
    pub levels: Vec<LevelSize>,
    /// ‖r‖ / ‖b‖ at the start and after each iteration; stationary methods only.
    #[serde(skip)]
    pub history: Vec<f64>,
}

impl Solved {
    /// Solves for `b` from zero; a short solve is repeated.
    ///
    /// # Errors
    /// [`BenchError`] where the device failed.
    pub(crate) fn measure(
        backend: &Backend,
        solver: &mut Solver<f64>,
        setup_seconds: f64,
        b: &Buffer<f64>,
    ) -> Result<Solved, BenchError> {
        let mut x = backend.zeros(b.len());
        let mut solve = || solved(backend, solver, b, &mut x);
        let (mut seconds, mut outcome) = solve()?;
        if seconds < REPEATED_BELOW {
            let mut times = vec![];
            for _ in 0..REPETITIONS {
                (seconds, outcome) = solve()?;
                times.push(seconds);
            }
            times.sort_by(f64::total_cmp);
            seconds = times[REPETITIONS / 2];
        }
        let hierarchy = solver.hierarchy();
        let residual = outcome.relative_residual;
        Ok(Solved {
            verdict: Verdict::of(&outcome),
            iterations: outcome.iterations,
            work_units: outcome.iterations as f64 * work_units(hierarchy),
            relative_residual: residual.is_finite().then_some(residual),
            setup_seconds,
            seconds,
            levels: hierarchy.map_or(vec![], sizes),
            history: outcome.history,
        })
    }

    /// ‖r‖ / ‖b‖ after `work_units`, of stationary methods that reached that work.
    pub fn residual_after(&self, work_units: f64) -> Option<f64> {
        let each = self.work_units / self.iterations.max(1) as f64;
        self.history.get((work_units / each).round() as usize).copied()
    }

    /// Work units until ‖r‖ / ‖b‖ ≤ `residual`, of stationary methods that reach it.
    pub fn work_units_to(&self, residual: f64) -> Option<f64> {
        let each = self.work_units / self.iterations.max(1) as f64;
        let at = self.history.iter().position(|r| *r <= residual)?;
        Some(at as f64 * each)
    }
}

/// A timed time march.
#[derive(Clone, Debug, Serialize)]
pub struct Marched {
    /// Verdict of the last step; the march stops at the first that does not converge.
    pub verdict: Verdict,
    /// Completed steps.
    pub steps: usize,
    /// Mean work units of a step.
    pub work_units: f64,
    /// Seconds of set-up.
    pub setup_seconds: f64,
    /// Seconds of the completed steps.
    pub seconds: f64,
}

impl Marched {
    /// Seconds of the thesis' number of steps at the mean cost of the completed steps.
    pub fn extrapolated(&self) -> f64 {
        self.seconds / self.steps.max(1) as f64 * published::STEPS as f64
    }
}

/// (A + mass) x = cold + T hot + mass x_old; mass = 0 in steady problems.
pub(super) struct Problem<'a> {
    backend: &'a Backend,
    matrix: Arc<Matrix<f64>>,
    boundary: Vec<bool>,
    cold: Buffer<f64>,
    hot: Buffer<f64>,
    /// Volumes over the time step: [n], empty in steady problems.
    mass: Buffer<f64>,
    tolerance: f64,
}

impl<'a> Problem<'a> {
    /// A T = b.
    pub(super) fn steady(
        backend: &'a Backend,
        system: &System,
        tolerance: f64,
    ) -> Result<Self, BenchError> {
        Self::new(backend, system, system.matrix.clone(), &[], tolerance)
    }

    /// The matrix of backward Euler: A plus the volumes over the time step on the diagonal.
    pub(super) fn unsteady(
        backend: &'a Backend,
        system: &System,
        tolerance: f64,
    ) -> Result<Self, BenchError> {
        let mass: Vec<f64> = system.mass.iter().map(|volume| volume / STEP).collect();
        let a = &system.matrix;
        let mut values = a.values().to_vec();
        let (offsets, columns) = (a.offsets().to_vec(), a.column_indices().to_vec());
        for (row, mass) in mass.iter().enumerate() {
            for k in offsets[row] as usize..offsets[row + 1] as usize {
                if columns[k] as usize == row {
                    values[k] += mass;
                }
            }
        }
        let matrix = CsrMatrix::new(a.columns(), offsets, columns, values)?;
        Self::new(backend, system, matrix, &mass, tolerance)
    }

    fn new(
        backend: &'a Backend,
        system: &System,
        matrix: CsrMatrix<f64>,
        mass: &[f64],
        tolerance: f64,
    ) -> Result<Self, BenchError> {
        let matrix = Arc::new(on_threads(backend, || Matrix::new(backend, matrix))?);
        let [cold, hot, mass] =
            [&system.cold, &system.hot, mass].map(|values| backend.upload_slice(values));
        let boundary = system.boundary();
        Ok(Problem { backend, matrix, boundary, cold, hot, mass, tolerance })
    }

    /// The solver of a method and the seconds of its set-up.
    fn set_up(
        &self,
        method: ThesisMethod,
        record_history: bool,
    ) -> Result<(Solver<f64>, f64), BenchError> {
        let start = Instant::now();
        let (backend, matrix) = (self.backend, &self.matrix);
        let flags = &self.boundary;
        let params =
            Params { relative_tolerance: self.tolerance, record_history, ..Params::default() };
        let make = || method.solver(backend, matrix, flags, &params);
        let solver = on_threads(backend, make)?;
        backend.synchronize()?;
        Ok((solver, start.elapsed().as_secs_f64()))
    }

    /// b ← cold + T hot + mass x.
    fn right_side(&self, hot: f64, x: &Buffer<f64>, b: &mut Buffer<f64>) {
        let (backend, n) = (self.backend, b.len());
        on_threads(backend, || {
            match self.mass.len() == n {
                true => blas::multiply(backend, n, &self.mass, x, b),
                false => blas::fill(backend, n, 0.0, b),
            }
            blas::axpbypcz(backend, n, 1.0, &self.cold, hot, &self.hot, 1.0, b);
        });
    }

    /// Solves from a zero initial guess.
    pub(super) fn solve(&self, method: ThesisMethod) -> Result<Solved, BenchError> {
        let (backend, n) = (self.backend, self.matrix.rows());
        let (mut solver, setup_seconds) = self.set_up(method, true)?;
        let (x, mut b) = (backend.zeros(n), backend.zeros(n));
        self.right_side(HOT, &x, &mut b);
        Solved::measure(backend, &mut solver, setup_seconds, &b)
    }

    /// Advances `steps` time steps from 300, or until a solve does not converge.
    pub(super) fn march(&self, method: ThesisMethod, steps: usize) -> Result<Marched, BenchError> {
        let (backend, n) = (self.backend, self.matrix.rows());
        let (mut solver, setup_seconds) = self.set_up(method, false)?;
        let (mut x, mut b) = (backend.zeros(n), backend.zeros(n));
        // The first solve may compile kernels.
        self.right_side(HOT, &x, &mut b);
        solver.solve(&b, &mut x)?;
        on_threads(backend, || blas::fill(backend, n, COLD, &mut x));
        backend.synchronize()?;
        let start = Instant::now();
        let (mut made, mut iterations, mut verdict) = (0, 0, Verdict::Converged);
        while made < steps && verdict == Verdict::Converged {
            made += 1;
            self.right_side(hot_face(made as f64 * STEP), &x, &mut b);
            let outcome = solver.solve(&b, &mut x)?;
            iterations += outcome.iterations;
            verdict = Verdict::of(&outcome);
        }
        backend.synchronize()?;
        let per_step = iterations as f64 / made.max(1) as f64;
        Ok(Marched {
            verdict,
            steps: made,
            work_units: per_step * work_units(solver.hierarchy()),
            setup_seconds,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

/// 600 + 100 sin(2πt/24).
fn hot_face(t: f64) -> f64 {
    HOT + 100.0 * (std::f64::consts::TAU * t / 24.0).sin()
}

/// Work units of one iteration.
fn work_units(hierarchy: Option<&HierarchyReport>) -> f64 {
    hierarchy.map_or(1.0, |report| report.work_units)
}

fn sizes(report: &HierarchyReport) -> Vec<LevelSize> {
    let size = |level: &karman::linear::amg::LevelReport| LevelSize {
        rows: level.rows,
        boundary: level.boundary,
        degree: level.entries as f64 / level.rows.max(1) as f64 - 1.0,
    };
    report.levels.iter().map(size).collect()
}
