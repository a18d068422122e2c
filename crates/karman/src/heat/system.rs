//! A heat problem on a backend: arrays, residual, steady solution.

use super::data::{initial_temperature, source_terms, source_volume};
use super::dirichlet::DirichletNodes;
use super::node_centred::{self, NodeRows};
use super::problem::{BoundaryKinds, Problem, Source};
use super::{Discretization, HeatError};
use crate::backend::group::gather_lists;
use crate::backend::{Backend, BackendError, Buffer, Halo, blas};
use crate::finite_volume::CellScheme;
use crate::finite_volume::boundary::BoundaryValues;
use crate::finite_volume::diffusion::discretize;
use crate::finite_volume::{
    BoundaryContributionOnBackend, BoundaryFaces, Condition, CorrectedOperator, DiffusionPart,
    Discrete, Material, NonOrthogonalCorrectionOnBackend, TimeDependentData, component_major,
    first_points, narrow,
};
use crate::linear::{
    CsrMatrix, Matrix, Method, Nullspace, Operator, Params, SavedInterpolations, SolveOutcome,
    Solver, SolverSetup, StopTest,
};
use crate::mesh::{Adjacency, Geometry, Mesh};
use crate::operators::FaceCells;
use crate::real::Real;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// A discretised heat problem and its temperature, on a backend.
pub struct Heat<F: Real> {
    pub(super) backend: Backend,
    pub(super) system: HeatSystem<F>,
    pub(super) correction: Option<Correction<F>>,
    pub(super) temperature: Buffer<F>,
    pub(super) boundary: HeatBoundary<F>,
    pub(super) source: TimeDependentData<F>,
    /// Prescribed values and sources are the mean of these two times.
    pub(super) times: [f64; 2],
    pub(super) scheme: HeatScheme,
    /// The set-up of the linear solver in use.
    pub(super) setup: Option<SolverSetup>,
    /// Number of set-ups.
    pub(super) setups: u64,
}

/// M dT/dt + A T.
pub(super) struct HeatSystem<F: Real> {
    /// The diagonal of M: `[n]`.
    pub mass: Buffer<F>,
    /// A.
    pub matrix: Arc<Matrix<F>>,
    /// Whether A determines T up to a constant.
    pub is_singular: bool,
}

/// The boundary conditions on the backend.
pub(super) struct HeatBoundary<F: Real> {
    /// C.
    pub(super) contribution: BoundaryContributionOnBackend<F>,
    /// v.
    pub prescribed: TimeDependentData<F>,
    pub dirichlet_nodes: DirichletNodes<F>,
}

/// The non-orthogonal correction K.
pub(super) struct Correction<F: Real> {
    operator: Arc<NonOrthogonalCorrectionOnBackend<F>>,
    /// Gradients of cells, allocated at first use: `[3][n]`.
    gradient: Buffer<F>,
}

impl<F: Real> Correction<F> {
    /// r ← r + K(T, v).
    fn add(
        &mut self,
        backend: &Backend,
        temperature: &Buffer<F>,
        prescribed: &Buffer<F>,
        r: &mut Buffer<F>,
    ) {
        if self.gradient.is_empty() {
            self.gradient = backend.zeros(3 * temperature.len());
        }
        let one = F::literal(1.0);
        self.operator.add(backend, temperature, (prescribed, one), one, &mut self.gradient, r);
    }
}

/// The earlier set-up that a solver reuses.
pub(super) enum Reuse<F: Real> {
    /// None.
    Nothing,
    /// The part that does not depend on values, of the solver of a matrix of equal pattern.
    Solver(Box<Solver<F>>),
    /// Interpolations of an earlier run.
    Interpolations(SavedInterpolations),
}

/// The data of the fluxes of single cells and faces, which functionals need after set-up.
pub struct HeatScheme {
    pub(super) kinds: BoundaryKinds,
    /// k: `[n_cells]`.
    pub(super) conductivity: Vec<f64>,
    pub(super) discretization: Discretization,
}

impl HeatScheme {
    /// The scheme of a cell-centred problem without its equations, and its prescribed values.
    ///
    /// # Errors
    /// [`HeatError::Diffusion`] where a property, a coefficient or a prescribed value is invalid.
    pub fn of_cells<F: Real>(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        material: &Material,
        conditions: &[Condition],
        corrected: bool,
    ) -> Result<(HeatScheme, TimeDependentData<F>), HeatError> {
        material.check()?;
        let mut values = BoundaryValues::default();
        let boundary = BoundaryFaces::new(mesh, geometry, conditions, &mut values)?;
        let scheme = HeatScheme {
            kinds: BoundaryKinds::Cells(boundary),
            conductivity: material.conductivity.clone(),
            discretization: Discretization::Cell { corrected },
        };
        Ok((scheme, values.into_time_dependent_data(backend, BOUNDARY_VALUE)?))
    }

    /// The fluxes of cells and faces; none of a node-centred problem.
    pub fn of_faces<'a>(
        &'a self,
        mesh: &'a Mesh,
        geometry: &'a Geometry,
    ) -> Option<CellScheme<'a>> {
        let BoundaryKinds::Cells(boundary) = &self.kinds else { return None };
        let corrected = matches!(self.discretization, Discretization::Cell { corrected: true });
        Some(CellScheme::new(mesh, geometry, &self.conductivity, boundary, corrected))
    }
}

/// A value of the boundary in messages.
const BOUNDARY_VALUE: &str = "a boundary value";

impl<F: Real> Heat<F> {
    /// Discretises a problem and puts it on a backend at time 0.
    ///
    /// # Errors
    /// [`HeatError`] where the problem is invalid or the backend fails.
    pub fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        problem: Problem,
    ) -> Result<Heat<F>, HeatError> {
        let Discretization::Cell { corrected } = problem.discretization else {
            let rows = NodeRows { around: &mesh.node_to_cells(), rows: 0..mesh.n_nodes() };
            return Heat::of_rows(backend, (mesh, geometry), problem, &rows);
        };
        problem.check(mesh)?;
        let Problem { material, conditions, .. } = &problem;
        let (discrete, boundary) = discretize(mesh, geometry, material, conditions, corrected)?;
        let discretized = (discrete, BoundaryKinds::Cells(boundary));
        Heat::of_discrete(backend, (mesh, geometry), problem, discretized, (None, None))
    }

    /// A node-centred problem with some rows of its equations: those of one of several ranks, or none where functionals alone are of interest.
    ///
    /// # Errors
    /// As [`Heat::new`].
    pub fn of_rows(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        problem: Problem,
        rows: &NodeRows<'_>,
    ) -> Result<Heat<F>, HeatError> {
        problem.check(mesh)?;
        let Problem { material, conditions, .. } = &problem;
        let (discrete, boundary) = node_centred::discretize(mesh, material, conditions, rows)?;
        let discretized = (discrete, BoundaryKinds::Nodes(boundary));
        let around = Some(rows.around);
        Heat::of_discrete(backend, (mesh, geometry), problem, discretized, (None, around))
    }

    /// The part of a cell-centred problem that one of several ranks computes, on the backend of that rank. `halo` has the
    /// cells and ghosts of the part; materials are those of its cells and ghosts.
    ///
    /// # Errors
    /// As [`Heat::new`].
    pub fn of_part(
        backend: &Backend,
        mut part: DiffusionPart,
        halo: Arc<Halo>,
        problem: Problem,
    ) -> Result<Heat<F>, HeatError> {
        problem.check(&part.sub.mesh)?;
        let (discrete, boundary) = part.discretize(&problem.material, &problem.conditions)?;
        let discretized = (discrete, BoundaryKinds::Cells(boundary));
        let place = (&part.sub.mesh, &part.geometry);
        Heat::of_discrete(backend, place, problem, discretized, (Some(halo), None))
    }

    /// The problem of these arrays, with the halo of a part of cells, or the cells around each node.
    fn of_discrete(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        problem: Problem,
        (discrete, mut kinds): (Discrete, BoundaryKinds),
        (halo, around): (Option<Arc<Halo>>, Option<&Adjacency>),
    ) -> Result<Heat<F>, HeatError> {
        let Problem { discretization, material, sources, conditions, initial } = problem;
        let n = discrete.mass.len();
        let points = match discretization {
            Discretization::Cell { .. } => first_points(&geometry.cell_centre, n),
            Discretization::Node => Cow::Owned(component_major(&mesh.points)),
        };
        let is_singular = !conditions.iter().any(Condition::fixes_the_constant);
        let temperature = initial_temperature(&discrete, initial.as_ref(), &points)?;
        let (dirichlet_nodes, terms) = {
            let volume_of = |source: &Source| source_volume((mesh, geometry), source, around);
            source_terms(backend, mesh, &mut kinds, &sources, (volume_of, &points))
        };
        let Discrete { matrix, mass, boundary_contribution, values, correction, .. } = discrete;
        let correction = correction.map(|c| {
            let cells = match &halo {
                None => FaceCells::new(backend, mesh),
                Some(halo) => FaceCells::of_rank(backend, mesh, halo.clone()),
            };
            let operator = NonOrthogonalCorrectionOnBackend::new(backend, Arc::new(cells), c);
            Correction { operator: Arc::new(operator), gradient: backend.zeros(0) }
        });
        let matrix = match &halo {
            None => Matrix::new(backend, matrix.into_converted())?,
            Some(halo) => {
                let rows = matrix.in_global_columns(halo)?;
                Matrix::of_rank(backend, rows.into_converted(), halo.clone())?
            }
        };
        let system =
            HeatSystem { mass: narrow(backend, mass), matrix: Arc::new(matrix), is_singular };
        let boundary = HeatBoundary {
            contribution: BoundaryContributionOnBackend::new(backend, boundary_contribution),
            prescribed: values.into_time_dependent_data(backend, BOUNDARY_VALUE)?,
            dirichlet_nodes,
        };
        let temperature = match &halo {
            None => narrow(backend, temperature),
            Some(halo) => halo.vector(backend, &backend.read(&narrow(backend, temperature))?),
        };
        Ok(Heat {
            backend: backend.clone(),
            system,
            correction,
            temperature,
            boundary,
            source: TimeDependentData::new(backend, "the heat source", n, terms)?,
            times: [0.0; 2],
            scheme: HeatScheme { kinds, conductivity: material.conductivity, discretization },
            setup: None,
            setups: 0,
        })
    }

    /// The data for functionals of the temperature.
    pub fn scheme(&self) -> &HeatScheme {
        &self.scheme
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        self.system.mass.len()
    }

    /// The temperature of each unknown, on one of several ranks with ghosts behind.
    pub fn temperature(&self) -> &Buffer<F> {
        &self.temperature
    }

    /// A copy of the temperature of some unknowns.
    ///
    /// # Errors
    /// [`BackendError`] where the backend failed.
    pub fn temperature_of(&self, unknowns: &[u32]) -> Result<Vec<F>, BackendError> {
        let (backend, n) = (&self.backend, unknowns.len());
        let (unknowns, mut found) = (backend.upload_slice(unknowns), backend.zeros(n));
        blas::copy_entries_to_range(backend, n, &self.temperature, 0, &unknowns, 0, &mut found);
        backend.read(&found)
    }

    /// A copy of the temperature of each unknown.
    ///
    /// # Errors
    /// [`BackendError`] where the backend failed.
    pub fn own_temperature(&self) -> Result<Vec<F>, BackendError> {
        let mut values = self.backend.read(&self.temperature)?;
        values.truncate(self.unknowns());
        Ok(values)
    }

    /// Replaces the temperature, as a restart does.
    pub fn set_temperature(&mut self, values: &[F]) {
        match self.system.matrix.halo() {
            None => self.backend.write(&mut self.temperature, values),
            Some(halo) => self.temperature = halo.vector(&self.backend, values),
        }
    }

    /// Sets prescribed values and sources to time `t`; steady ones are not evaluated again.
    ///
    /// # Errors
    /// [`HeatError::Diffusion`] where a value is not a number.
    pub fn set_time(&mut self, t: f64) -> Result<(), HeatError> {
        self.set_trapezoidal_mean(t, t)
    }

    /// Sets prescribed values and sources to their mean over a step of Crank–Nicolson by the trapezoidal rule.
    ///
    /// # Errors
    /// [`HeatError::Diffusion`] where a value is not a number.
    pub(super) fn set_trapezoidal_mean(&mut self, old: f64, new: f64) -> Result<(), HeatError> {
        self.times = [old, new];
        self.boundary.prescribed.set_mean(&self.backend, self.times)?;
        Ok(self.source.set_mean(&self.backend, self.times)?)
    }

    /// r ← s + C v − A T + K(T, v): the heat flow into each unknown.
    pub(super) fn residual(&mut self, r: &mut Buffer<F>) {
        if let Some(halo) = self.system.matrix.halo() {
            halo.fill(&mut self.temperature, 1);
        }
        self.system.matrix.multiply(&self.temperature, r);
        let n = self.unknowns();
        let (one, minus) = (F::literal(1.0), F::literal(-1.0));
        blas::axpby(&self.backend, n, one, self.source.value(), minus, r);
        self.add_boundary_contribution(r);
        if let Some(correction) = &mut self.correction {
            correction.add(&self.backend, &self.temperature, self.boundary.prescribed.value(), r);
        }
    }

    fn add_boundary_contribution(&self, r: &mut Buffer<F>) {
        self.boundary.contribution.add(&self.backend, self.boundary.prescribed.value(), r);
    }

    /// The set-up of the linear solver in use.
    pub fn solver_setup(&self) -> Option<&SolverSetup> {
        self.setup.as_ref()
    }

    /// Number of set-ups of a linear solver.
    pub fn solver_setups(&self) -> u64 {
        self.setups
    }

    /// A solver of B x − θ K(x, 0) = b with preconditioning matrix B; a detailed log describes it.
    pub(super) fn solver(
        &mut self,
        matrix: Arc<Matrix<F>>,
        theta: f64,
        params: &Params,
        reuse: Reuse<F>,
    ) -> Result<Solver<F>, HeatError> {
        let start = Instant::now();
        let solver = self.new_solver(matrix, theta, params, reuse)?;
        let setup = SolverSetup::of(&solver, start.elapsed().as_secs_f64());
        tracing::debug!("{setup}");
        self.setup = Some(setup);
        self.setups += 1;
        Ok(solver)
    }

    fn new_solver(
        &self,
        matrix: Arc<Matrix<F>>,
        theta: f64,
        params: &Params,
        reuse: Reuse<F>,
    ) -> Result<Solver<F>, HeatError> {
        let mut params = params.clone();
        let mut operator: Box<dyn Operator<F>> = match &self.correction {
            None => Box::new(matrix.clone()),
            Some(correction) => {
                params.method = for_unsymmetric(params.method);
                Box::new(CorrectedOperator::new(
                    &self.backend,
                    matrix.clone(),
                    correction.operator.clone(),
                    theta,
                    self.boundary.prescribed.value().len(),
                ))
            }
        };
        let mut saved = None;
        match reuse {
            Reuse::Nothing => (),
            Reuse::Interpolations(interpolations) => saved = Some(interpolations),
            Reuse::Solver(solver) => match solver.update_values(operator, &matrix)? {
                Ok(solver) => return Ok(solver),
                Err(unused) => operator = unused,
            },
        }
        let backend = &self.backend;
        Ok(Solver::with_interpolations(backend, operator, Some(matrix), &params, saved)?)
    }

    /// The heat flows in and out by boundary and sources, in W, where no condition fixes the constant of the
    /// temperature and the two differ: the compatibility condition of a steady solution is violated.
    ///
    /// # Errors
    /// [`HeatError::Backend`] where the device failed.
    pub fn imbalance(&self) -> Result<Option<[f64; 2]>, HeatError> {
        if !self.system.is_singular {
            return Ok(None);
        }
        let mut through = self.backend.zeros(self.unknowns());
        self.add_boundary_contribution(&mut through);
        let [mut entering, mut leaving] = [0.0; 2];
        for part in [&through, self.source.value()] {
            for heat in self.of_all_ranks(part)?.into_iter().map(Into::<f64>::into) {
                if heat > 0.0 { entering += heat } else { leaving -= heat }
            }
        }
        let tolerance = if size_of::<F>() < size_of::<f64>() { 1e-5 } else { 1e-8 };
        let differ = (entering - leaving).abs() > tolerance * (entering + leaving);
        Ok(differ.then_some([entering, leaving]))
    }

    /// The entries of a vector of all ranks, in the order of ranks.
    fn of_all_ranks(&self, vector: &Buffer<F>) -> Result<Vec<F>, HeatError> {
        let own = self.backend.read(vector)?;
        Ok(match self.backend.ranks() {
            None => own,
            Some(group) => gather_lists(&**group, &own)?.0,
        })
    }

    /// Σ M T / Σ M.
    fn mean_temperature(&self) -> Result<f64, HeatError> {
        let (backend, n) = (&self.backend, self.unknowns());
        let stored = blas::dot(backend, n, &self.system.mass, &self.temperature)?;
        Ok(stored / blas::sum(backend, n, &self.system.mass)?)
    }

    /// Solves for the steady temperature with the current one as initial guess. Where no condition fixes the
    /// constant, the stored heat Σ M T stays that of the guess.
    ///
    /// # Errors
    /// [`HeatError`] where the solver refuses or the backend fails; a solver that does not converge is an
    /// outcome, not an error.
    pub fn solve_steady(&mut self, params: &Params) -> Result<SolveOutcome, HeatError> {
        self.solve_steady_until(params, None)
    }

    /// As [`Heat::solve_steady`]; the solve ends once `should_stop` is true.
    ///
    /// # Errors
    /// As [`Heat::solve_steady`].
    pub fn solve_steady_until(
        &mut self,
        params: &Params,
        should_stop: Option<StopTest>,
    ) -> Result<SolveOutcome, HeatError> {
        let nullspace = if self.system.is_singular { Nullspace::Constant } else { Nullspace::None };
        let params = Params { nullspace, ..params.clone() };
        let n = self.unknowns();
        let mut b = self.backend.zeros(n);
        blas::copy(&self.backend, n, self.source.value(), &mut b);
        self.add_boundary_contribution(&mut b);
        if let Some(correction) = &mut self.correction {
            let zero = self.backend.zeros(self.temperature.len());
            correction.add(&self.backend, &zero, self.boundary.prescribed.value(), &mut b);
            // Memory: the solver allocates its own gradients.
            correction.gradient = self.backend.zeros(0);
        }
        self.solve_from(&b, &params, should_stop)
    }

    fn solve_from(
        &mut self,
        b: &Buffer<F>,
        params: &Params,
        should_stop: Option<StopTest>,
    ) -> Result<SolveOutcome, HeatError> {
        let mut solver = self.solver(self.system.matrix.clone(), 1.0, params, Reuse::Nothing)?;
        if let Some(should_stop) = should_stop {
            solver.stop_when(should_stop);
        }
        let initial = if self.system.is_singular { Some(self.mean_temperature()?) } else { None };
        let outcome = solver.solve(b, &mut self.temperature)?;
        if let Some(initial) = initial {
            let (shift, n) = (initial - self.mean_temperature()?, self.unknowns());
            let mut ones = self.backend.zeros(n);
            blas::fill(&self.backend, n, F::literal(1.0), &mut ones);
            let one = F::literal(1.0);
            blas::axpby(&self.backend, n, F::from_f64(shift), &ones, one, &mut self.temperature);
        }
        Ok(outcome)
    }

    /// shift M + θ A.
    pub(super) fn implicit_matrix(&self, shift: f64, theta: f64) -> Result<Matrix<F>, HeatError> {
        let a = self.system.matrix.to_csr()?;
        let mass = self.backend.read(&self.system.mass)?;
        let first = self.system.matrix.first_row();
        let length = |row: usize| a.row_length(row);
        let b = CsrMatrix::from_rows(a.rows(), a.columns(), length, |row, columns, values| {
            for (k, (column, value)) in a.row(row).enumerate() {
                let is_diagonal = column == first + row;
                let inertia = if is_diagonal { shift * Into::<f64>::into(mass[row]) } else { 0.0 };
                let value: f64 = value.into();
                (columns[k], values[k]) = (column as u32, F::from_f64(theta * value + inertia));
            }
        })?;
        Ok(self.system.matrix.similar(b)?)
    }

    /// Largest Σ a/(ρc V) over the unknowns: 1 / the step at which the cell Fourier number is 1.
    ///
    /// # Errors
    /// [`HeatError::Backend`] where the device failed.
    pub fn largest_rate(&self) -> Result<f64, HeatError> {
        let diagonal = self.of_all_ranks(&self.system.matrix.diagonal())?;
        let mass = self.of_all_ranks(&self.system.mass)?;
        let rates = diagonal.iter().zip(&mass).filter(|(_, m)| Into::<f64>::into(**m) > 0.0);
        Ok(rates.map(|(a, m)| Into::<f64>::into(*a) / Into::<f64>::into(*m)).fold(0.0, f64::max))
    }
}

/// A Krylov method for a corrected operator, which is not symmetric.
fn for_unsymmetric(method: Method) -> Method {
    match method {
        Method::Fgmres | Method::Stationary => method,
        _ => Method::BiCgStab,
    }
}
