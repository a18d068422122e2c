//! Solvers on several ranks: the bits of one rank.

use super::testing::{convection_2d, host, narrow, neumann_2d, poisson_2d, with};
use super::*;
use karman_backend::group::{ThreadGroup, run_ranks};
use karman_backend::real::Real;
use karman_backend::testing::{devices, values};
use karman_backend::{Backend, BackendError, BackendKind, HOST_CHUNK, Halo, RankGroup};
use std::sync::Arc;

/// An error of either kind, as the ranks of a run have it.
#[derive(Debug)]
pub(crate) struct Failed(String);

impl From<BackendError> for Failed {
    fn from(error: BackendError) -> Self {
        Failed(error.to_string())
    }
}

impl From<LinearError> for Failed {
    fn from(error: LinearError) -> Self {
        Failed(error.to_string())
    }
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// First rows of ranks at multiples of the chunk of reductions.
pub(crate) fn starts(rows: usize, ranks: usize) -> Vec<usize> {
    let chunks = rows.div_ceil(HOST_CHUNK);
    (0..=ranks).map(|rank| (rank * chunks / ranks * HOST_CHUNK).min(rows)).collect()
}

/// The rows of one rank.
pub(crate) fn part<T: Real>(
    backend: &Backend,
    group: &ThreadGroup,
    a: &CsrMatrix<f64>,
    starts: &[usize],
) -> Result<Matrix<T>, Failed> {
    let own = starts[group.rank()]..starts[group.rank() + 1];
    let length = |row: usize| a.row_length(own.start + row);
    let rows = CsrMatrix::from_rows(own.len(), a.columns(), length, |row, columns, values| {
        for (k, (column, value)) in a.row(own.start + row).enumerate() {
            (columns[k], values[k]) = (column as u32, T::from_f64(value));
        }
    })?;
    let mut ghosts: Vec<u32> = rows.column_indices().to_vec();
    ghosts.retain(|column| !own.contains(&(*column as usize)));
    ghosts.sort_unstable();
    ghosts.dedup();
    let halo = Halo::new(Arc::new(group.clone()), starts, ghosts)?.on(backend)?;
    let matrix = Matrix::of_rank(backend, rows.clone(), Arc::new(halo))?;
    assert_eq!(matrix.to_csr()?, rows);
    Ok(matrix)
}

/// Solution, outcome, and of multigrid the hierarchy without what depends on the machine.
type Solution<T> = (Vec<T>, SolveOutcome, Option<HierarchyReport>);

fn hierarchy<T: Real>(solver: &Solver<T>) -> Option<HierarchyReport> {
    let mut report = solver.hierarchy()?.clone();
    report.levels.iter_mut().for_each(|level| level.bytes = 0);
    Some(HierarchyReport { setup_seconds: 0.0, ..report })
}

fn solution_of_one<T: Real>(
    backend: &Backend,
    a: &CsrMatrix<f64>,
    b: &[T],
    params: &Params,
) -> Solution<T> {
    let matrix = Arc::new(Matrix::new(backend, a.converted::<T>()).unwrap());
    let mut solver = Solver::new(backend, matrix, params).unwrap();
    let mut x = backend.zeros(b.len());
    let outcome = solver.solve(&backend.upload_slice(b), &mut x).unwrap();
    (backend.read(&x).unwrap(), outcome, hierarchy(&solver))
}

pub(crate) fn solution_of_ranks<T: Real>(
    kind: BackendKind,
    a: &CsrMatrix<f64>,
    b: &[T],
    params: &Params,
    ranks: usize,
) -> Result<Solution<T>, Failed> {
    let starts = starts(a.rows(), ranks);
    let parts = run_ranks(&ThreadGroup::new(ranks), |group| -> Result<Solution<T>, Failed> {
        let backend = Backend::of_rank_on(kind, 1, Arc::new(group.clone()))?;
        let matrix = Arc::new(part::<T>(&backend, group, a, &starts)?);
        let own = &b[starts[group.rank()]..starts[group.rank() + 1]];
        let mut solver = Solver::new(&backend, matrix, params)?;
        let mut x = backend.zeros(own.len());
        let outcome = solver.solve(&backend.upload_slice(own), &mut x)?;
        Ok((backend.read(&x)?, outcome, hierarchy(&solver)))
    })?;
    let (_, outcome, levels) = parts[0].clone();
    assert!(parts.iter().all(|part| part.1 == outcome && part.2 == levels));
    Ok((parts.into_iter().flat_map(|part| part.0).collect(), outcome, levels))
}

pub(crate) fn compare<T: Real>(a: &CsrMatrix<f64>, params: &Params, ranks: &[usize]) {
    compare_on::<T>(&host(), a, params, ranks);
}

pub(crate) fn compare_on<T: Real>(
    whole: &Backend,
    a: &CsrMatrix<f64>,
    params: &Params,
    ranks: &[usize],
) {
    let b = narrow::<T>(&values(a.rows(), 4));
    let bits = |x: &[T]| x.iter().map(|v| v.to_f64().to_bits()).collect::<Vec<_>>();
    let fewer = Params { max_iterations: 6, restart: 4, ..params.clone() };
    let is_slow = !matches!(whole.kind(), BackendKind::Cpu | BackendKind::Cuda);
    let params = if is_slow { &fewer } else { params };
    let (want, outcome, levels) = solution_of_one(whole, a, &b, params);
    assert!(outcome.iterations > 1, "{outcome}");
    for &ranks in ranks {
        let (found, of_ranks, levels_of_ranks) =
            solution_of_ranks(whole.kind(), a, &b, params, ranks).unwrap();
        assert_eq!(of_ranks, outcome, "{ranks} ranks, {params:?}");
        assert_eq!(levels_of_ranks, levels, "{ranks} ranks, {params:?}");
        assert!(bits(&found) == bits(&want), "{ranks} ranks, {params:?}");
    }
}

/// Few enough iterations for a test; the bits of an unconverged solution show as much.
pub(crate) fn params(method: Method, preconditioner: PreconditionerKind) -> Params {
    Params { max_iterations: 25, record_history: true, restart: 10, ..with(method, preconditioner) }
}

const CHEBYSHEV: PreconditionerKind = PreconditionerKind::Chebyshev { degree: 4, ratio: 30.0 };

#[test]
fn symmetric_methods_have_the_bits_of_one_rank() {
    // Eight chunks.
    let a = poisson_2d(64);
    for preconditioner in [PreconditionerKind::None, PreconditionerKind::Jacobi, CHEBYSHEV] {
        for method in
            [Method::ConjugateGradient, Method::FlexibleConjugateGradient, Method::SingleReduction]
        {
            compare::<f64>(&a, &params(method, preconditioner), &[1, 2, 3, 4, 7]);
        }
    }
    compare::<f32>(&a, &params(Method::ConjugateGradient, CHEBYSHEV), &[1, 3]);
}

#[test]
fn devices_of_ranks_have_the_bits_of_one() {
    for whole in devices() {
        // Software devices are slow: three chunks of rows there.
        let (size, most) = match whole.kind() {
            BackendKind::Cuda => (64, 7),
            _ => (39, 3),
        };
        let (a, unsymmetric) = (poisson_2d(size), convection_2d(size, 20.0));
        for preconditioner in [PreconditionerKind::Jacobi, CHEBYSHEV] {
            let symmetric = params(Method::ConjugateGradient, preconditioner);
            compare_on::<f64>(&whole, &a, &symmetric, &[2, 3]);
            compare_on::<f32>(&whole, &a, &symmetric, &[most]);
            let params = params(Method::BiCgStab, preconditioner);
            compare_on::<f64>(&whole, &unsymmetric, &params, &[2]);
        }
        let jacobi = params(Method::Fgmres, PreconditionerKind::Jacobi);
        compare_on::<f64>(&whole, &unsymmetric, &jacobi, &[3]);
    }
}

#[test]
fn unsymmetric_methods_have_the_bits_of_one_rank() {
    let a = convection_2d(64, 20.0);
    for method in [Method::BiCgStab, Method::Fgmres, Method::Stationary] {
        compare::<f64>(&a, &params(method, PreconditionerKind::Jacobi), &[1, 2, 3, 4, 7]);
    }
    compare::<f64>(&a, &params(Method::BiCgStab, CHEBYSHEV), &[2, 7]);
}

#[test]
fn a_singular_system_has_the_bits_of_one_rank() {
    let a = neumann_2d(64);
    let params = Params {
        nullspace: Nullspace::Constant,
        ..params(Method::ConjugateGradient, PreconditionerKind::Jacobi)
    };
    compare::<f64>(&a, &params, &[1, 2, 3, 4, 7]);
    compare::<f32>(&a, &params, &[4]);
}

#[test]
fn auto_counts_the_rows_of_all_ranks() {
    let a = poisson_2d(64);
    let polynomial = true;
    let auto = PreconditionerKind::Auto { amg: AmgParams::default(), polynomial };
    compare::<f64>(&a, &params(Method::ConjugateGradient, auto), &[1, 3]);
}

#[test]
fn gauss_seidel_is_refused_by_name() {
    let a = poisson_2d(40);
    let params = params(Method::ConjugateGradient, PreconditionerKind::GaussSeidel);
    let error = solution_of_ranks::<f64>(BackendKind::Cpu, &a, &vec![1.0; a.rows()], &params, 2)
        .unwrap_err();
    let want = "the preconditioner `gauss_seidel` does not run on several ranks; choose `amg`, `jacobi`, `chebyshev` or \
                `none`, or one rank";
    assert_eq!(error.to_string(), want);
}

#[test]
fn a_row_without_a_diagonal_is_named_by_its_number_in_the_whole_matrix() {
    let n = 3 * HOST_CHUNK as u32;
    let wrong = 2 * HOST_CHUNK as u32 + 5;
    let entries = (0..n).map(|row| (row, row, if row == wrong { 0.0 } else { 2.0 })).collect();
    let a = CsrMatrix::from_entries(n as usize, n as usize, entries).unwrap();
    let params = params(Method::ConjugateGradient, PreconditionerKind::Jacobi);
    let error = solution_of_ranks::<f64>(BackendKind::Cpu, &a, &vec![1.0; n as usize], &params, 3)
        .unwrap_err();
    assert!(error.to_string().starts_with(&format!("the diagonal of row {wrong} is 0")), "{error}");
}

/// A product whose ghosts were not fetched.
#[cfg(debug_assertions)]
struct Forgetful(Arc<Matrix<f64>>);

#[cfg(debug_assertions)]
impl Operator<f64> for Forgetful {
    fn unknowns(&self) -> usize {
        self.0.rows()
    }

    fn exchange(&self) -> Option<&Arc<Halo>> {
        self.0.halo()
    }

    fn apply(
        &mut self,
        backend: &Backend,
        x: &karman_backend::Buffer<f64>,
        y: &mut karman_backend::Buffer<f64>,
    ) {
        let mut forgotten = self.0.vector();
        karman_backend::blas::copy(backend, self.0.rows(), x, &mut forgotten);
        self.0.multiply(&forgotten, y);
    }
}

#[test]
#[cfg(debug_assertions)]
fn a_missing_exchange_shows_in_builds_with_debug_assertions() {
    let a = poisson_2d(40);
    let starts = starts(a.rows(), 2);
    let outcomes = run_ranks(&ThreadGroup::new(2), |group| -> Result<SolveOutcome, Failed> {
        let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
        let operator = Forgetful(Arc::new(part(&backend, group, &a, &starts)?));
        let n = operator.unknowns();
        let params = params(Method::ConjugateGradient, PreconditionerKind::None);
        let mut solver = Solver::with_operator(&backend, Box::new(operator), None, &params)?;
        Ok(solver.solve(&backend.upload(vec![1.0; n]), &mut backend.zeros(n))?)
    });
    assert!(outcomes.unwrap().iter().all(|outcome| outcome.status == Status::NotANumber));
}
