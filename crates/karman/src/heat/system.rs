//! A heat problem on a backend: its arrays, its residual, its steady solution.

use super::held::HeldNodes;
use super::node_centred::{self, NodeBoundary};
use super::{Discretization, HeatError};
use crate::backend::{Backend, Buffer, blas};
use crate::diffusion::cell_centred::{self, BoundaryFaces};
use crate::diffusion::{
    Condition, CorrectedOperator, CorrectionOnBackend, CouplingOnBackend, Discrete, Forcing,
    Material, Part, Prescribed, check_finite, component_major, narrow,
};
use crate::linear::{
    CsrMatrix, Matrix, Method, Nullspace, Operator, Params, SavedInterpolations, SolveOutcome,
    Solver, SolverSetup,
};
use crate::mesh::{Geometry, Mesh};
use crate::operators::FaceCells;
use crate::real::Real;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// Heat released in a unit of volume and time in some of the cells.
pub struct Source {
    /// Its value.
    pub value: Arc<dyn Prescribed>,
    /// The region it is in; none: everywhere.
    pub region: Option<u32>,
}

/// A heat problem as posed.
pub struct Problem {
    /// Where the unknowns are.
    pub discretization: Discretization,
    /// Properties of the cells.
    pub material: Material,
    /// Heat sources; they add up.
    pub sources: Vec<Source>,
    /// One condition a patch, in the order of the mesh's patches.
    pub conditions: Vec<Condition>,
    /// T at the start (unsteady), or the first guess (steady).
    pub initial: Arc<dyn Prescribed>,
}

/// A discretised heat problem and its temperature, on a backend.
pub struct Heat<F: Real> {
    pub(super) backend: Backend,
    pub(super) mass: Buffer<F>,
    pub(super) matrix: Arc<Matrix<F>>,
    pub(super) correction: Option<Arc<CorrectionOnBackend<F>>>,
    pub(super) temperature: Buffer<F>,
    pub(super) is_singular: bool,
    coupling: CouplingOnBackend<F>,
    pub(super) prescribed: Forcing<F>,
    source: Forcing<F>,
    pub(super) held: HeldNodes<F>,
    /// The times that prescribed values and sources are the mean of.
    pub(super) times: [f64; 2],
    /// Gradients of cells, made where they are first asked for.
    gradient: Buffer<F>,
    pub(super) boundary: BoundaryKinds,
    pub(super) conductivity: Vec<f64>,
    pub(super) discretization: Discretization,
    setup: Option<SolverSetup>,
    setups: u64,
}

/// What a solver may take over from what was before it.
pub(super) enum Earlier<F: Real> {
    /// Nothing.
    Nothing,
    /// What does not depend on values, of the solver of a matrix of the same pattern.
    Solver(Box<Solver<F>>),
    /// Interpolations of an earlier run.
    Interpolations(SavedInterpolations),
}

/// What the boundary is, for functionals.
pub(super) enum BoundaryKinds {
    /// Of each boundary face.
    Cells(BoundaryFaces),
    /// Of each patch, and of each held node.
    Nodes(NodeBoundary),
}

impl<F: Real> Heat<F> {
    /// Discretises a problem and puts it on a backend at time 0.
    ///
    /// # Errors
    /// [`HeatError`] where the problem makes no sense or the backend fails.
    pub fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        problem: Problem,
    ) -> Result<Heat<F>, HeatError> {
        let Problem { discretization, material, sources, conditions, initial } = problem;
        if conditions.len() != mesh.patches.len() {
            let (found, patches) = (conditions.len(), mesh.patches.len());
            return Err(HeatError::Conditions { found, patches });
        }
        material.check()?;
        let (discrete, mut boundary, points) = match discretization {
            Discretization::Cell { corrected } => {
                let (discrete, boundary) =
                    cell_centred::discretize(mesh, geometry, &material, &conditions, corrected)?;
                (discrete, BoundaryKinds::Cells(boundary), Cow::Borrowed(&geometry.cell_centre[..]))
            }
            Discretization::Node => {
                let (discrete, boundary) = node_centred::discretize(mesh, &material, &conditions)?;
                (
                    discrete,
                    BoundaryKinds::Nodes(boundary),
                    Cow::Owned(component_major(&mesh.points)),
                )
            }
        };
        let is_singular = !conditions.iter().any(Condition::fixes_the_level);
        let temperature = initial_temperature(&discrete, initial.as_ref(), &points)?;
        let n = discrete.mass.len();
        let (held, held_mass) = match &mut boundary {
            BoundaryKinds::Cells(_) => Default::default(),
            BoundaryKinds::Nodes(nodes) => {
                (nodes.held.clone(), std::mem::take(&mut nodes.held_mass))
            }
        };
        let held_points: Vec<_> = held.iter().map(|i| mesh.points[*i as usize]).collect();
        let held_points = component_major(&held_points);
        let (mut heating, mut held_heating) = (vec![], vec![]);
        for source in &sources {
            let mut volume = source_volume(mesh, geometry, source, discretization);
            // What is released where the temperature is held does not enter the equations.
            let at_held: Vec<f64> =
                held.iter().map(|i| std::mem::take(&mut volume[*i as usize])).collect();
            if !at_held.is_empty() {
                held_heating.push(source_part(source, &at_held, &held_points));
            }
            heating.push(source_part(source, &volume, &points));
        }
        let Discrete { matrix, mass, coupling, values, correction, .. } = discrete;
        let correction = correction.map(|c| {
            let cells = Arc::new(FaceCells::new(backend, mesh));
            Arc::new(CorrectionOnBackend::new(backend, cells, c))
        });
        Ok(Heat {
            backend: backend.clone(),
            mass: narrow(backend, mass),
            matrix: Arc::new(Matrix::new(backend, matrix.into_converted())?),
            coupling: CouplingOnBackend::new(backend, coupling),
            correction,
            temperature: narrow(backend, temperature),
            is_singular,
            prescribed: values.into_forcing(backend, "a boundary value")?,
            source: Forcing::new(backend, "the heat source", n, heating)?,
            held: HeldNodes::new(backend, held, held_mass, held_heating),
            times: [0.0; 2],
            gradient: backend.zeros(0),
            boundary,
            conductivity: material.conductivity,
            discretization,
            setup: None,
            setups: 0,
        })
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        self.mass.len()
    }

    /// The temperature of each unknown.
    pub fn temperature(&self) -> &Buffer<F> {
        &self.temperature
    }

    /// The values the boundary prescribes, as of the last time set.
    pub fn prescribed(&self) -> &Buffer<F> {
        self.prescribed.value()
    }

    /// The assembled two-point (or stiffness) matrix A.
    pub fn matrix(&self) -> &Arc<Matrix<F>> {
        &self.matrix
    }

    /// Replaces the temperature, as a restart does.
    pub fn set_temperature(&mut self, values: &[F]) {
        self.backend.write(&mut self.temperature, values);
    }

    /// Takes prescribed values and sources at time `t`; what does not change in time is left alone.
    ///
    /// # Errors
    /// [`HeatError::Diffusion`] where a value is not a number.
    pub fn set_time(&mut self, t: f64) -> Result<(), HeatError> {
        self.set_mean_time(t, t)
    }

    /// Takes the mean of prescribed values and sources at two times: what Crank–Nicolson's step sees.
    ///
    /// # Errors
    /// [`HeatError::Diffusion`] where a value is not a number.
    pub(super) fn set_mean_time(&mut self, old: f64, new: f64) -> Result<(), HeatError> {
        self.times = [old, new];
        self.prescribed.set_mean(&self.backend, self.times)?;
        Ok(self.source.set_mean(&self.backend, self.times)?)
    }

    /// r ← s + C v − A T + K(T, v): the heat that flows into each unknown.
    pub(super) fn residual(&mut self, r: &mut Buffer<F>) {
        self.matrix.multiply(&self.temperature, r);
        let n = self.unknowns();
        let (one, minus) = (F::literal(1.0), F::literal(-1.0));
        blas::axpby(&self.backend, n, one, self.source.value(), minus, r);
        self.add_coupling(r);
        if let Some(correction) = &self.correction {
            let prescribed = (self.prescribed.value(), one);
            let gradient = gradients(&self.backend, &mut self.gradient, n);
            correction.add(&self.backend, &self.temperature, prescribed, one, gradient, r);
        }
    }

    fn add_coupling(&self, r: &mut Buffer<F>) {
        self.coupling.add(&self.backend, self.prescribed.value(), r);
    }

    /// What the linear solver in use was set up with.
    pub fn solver_setup(&self) -> Option<&SolverSetup> {
        self.setup.as_ref()
    }

    /// How many times a linear solver was set up.
    pub fn solver_setups(&self) -> u64 {
        self.setups
    }

    /// A solver of B x − θ K(x, 0) = b for a matrix B near A; a detailed log says what it is.
    pub(super) fn solver(
        &mut self,
        matrix: Arc<Matrix<F>>,
        theta: f64,
        params: &Params,
        earlier: Earlier<F>,
    ) -> Result<Solver<F>, HeatError> {
        let start = Instant::now();
        let solver = self.new_solver(matrix, theta, params, earlier)?;
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
        earlier: Earlier<F>,
    ) -> Result<Solver<F>, HeatError> {
        let mut params = params.clone();
        let mut operator: Box<dyn Operator<F>> = match &self.correction {
            None => Box::new(matrix.clone()),
            Some(correction) => {
                params.method = for_unsymmetric(params.method);
                Box::new(CorrectedOperator::new(
                    &self.backend,
                    matrix.clone(),
                    correction.clone(),
                    theta,
                    self.prescribed.value().len(),
                ))
            }
        };
        let mut saved = None;
        match earlier {
            Earlier::Nothing => (),
            Earlier::Interpolations(interpolations) => saved = Some(interpolations),
            Earlier::Solver(solver) => match solver.renewed(operator, &matrix)? {
                Ok(solver) => return Ok(solver),
                Err(unused) => operator = unused,
            },
        }
        let backend = &self.backend;
        Ok(Solver::with_interpolations(backend, operator, Some(matrix), &params, saved)?)
    }

    /// The heat that the boundary and sources let in and take out, in W, where nothing fixes the level of the
    /// temperature and the two differ: there is no steady temperature then.
    ///
    /// # Errors
    /// [`HeatError::Backend`] where the device failed.
    pub fn unbalanced(&self) -> Result<Option<[f64; 2]>, HeatError> {
        if !self.is_singular {
            return Ok(None);
        }
        let mut through = self.backend.zeros(self.unknowns());
        self.add_coupling(&mut through);
        let [mut entering, mut leaving] = [0.0; 2];
        for part in [&through, self.source.value()] {
            for heat in self.backend.read(part)?.into_iter().map(Into::<f64>::into) {
                if heat > 0.0 { entering += heat } else { leaving -= heat }
            }
        }
        let tolerance = if size_of::<F>() < size_of::<f64>() { 1e-5 } else { 1e-8 };
        let differ = (entering - leaving).abs() > tolerance * (entering + leaving);
        Ok(differ.then_some([entering, leaving]))
    }

    /// Σ M T / Σ M.
    fn mean_temperature(&self) -> Result<f64, HeatError> {
        let (backend, n) = (&self.backend, self.unknowns());
        let stored = blas::dot(backend, n, &self.mass, &self.temperature)?;
        Ok(stored / blas::sum(backend, n, &self.mass)?)
    }

    /// Solves for the steady temperature from the present one as first guess. Where nothing fixes its
    /// level, the heat stored, Σ M T, stays that of the guess.
    ///
    /// # Errors
    /// [`HeatError`] where the solver refuses or the backend fails; that it does not converge is an
    /// outcome.
    pub fn solve_steady(&mut self, params: &Params) -> Result<SolveOutcome, HeatError> {
        let nullspace = if self.is_singular { Nullspace::Constant } else { Nullspace::None };
        let params = Params { nullspace, ..params.clone() };
        let n = self.unknowns();
        let mut b = self.backend.zeros(n);
        blas::copy(&self.backend, n, self.source.value(), &mut b);
        self.add_coupling(&mut b);
        if let Some(correction) = &self.correction {
            let zero = self.backend.zeros(n);
            let prescribed = (self.prescribed.value(), F::literal(1.0));
            let gradient = gradients(&self.backend, &mut self.gradient, n);
            correction.add(&self.backend, &zero, prescribed, F::literal(1.0), gradient, &mut b);
        }
        // The solver has gradients of its own.
        self.gradient = self.backend.zeros(0);
        self.solve_from(&b, &params)
    }

    fn solve_from(&mut self, b: &Buffer<F>, params: &Params) -> Result<SolveOutcome, HeatError> {
        let mut solver = self.solver(self.matrix.clone(), 1.0, params, Earlier::Nothing)?;
        let before = if self.is_singular { Some(self.mean_temperature()?) } else { None };
        let outcome = solver.solve(b, &mut self.temperature)?;
        if let Some(before) = before {
            let (shift, n) = (before - self.mean_temperature()?, self.unknowns());
            let mut ones = self.backend.zeros(n);
            blas::fill(&self.backend, n, F::literal(1.0), &mut ones);
            let one = F::literal(1.0);
            blas::axpby(&self.backend, n, F::from_f64(shift), &ones, one, &mut self.temperature);
        }
        Ok(outcome)
    }

    /// shift M + θ A.
    pub(super) fn implicit_matrix(&self, shift: f64, theta: f64) -> Result<Matrix<F>, HeatError> {
        let a = self.matrix.to_csr()?;
        let mass = self.backend.read(&self.mass)?;
        let n = a.rows();
        let length = |row: usize| a.row_length(row);
        let b = CsrMatrix::from_rows(n, n, length, |row, columns, values| {
            for (k, (column, value)) in a.row(row).enumerate() {
                let inertia =
                    if column == row { shift * Into::<f64>::into(mass[row]) } else { 0.0 };
                let value: f64 = value.into();
                (columns[k], values[k]) = (column as u32, F::from_f64(theta * value + inertia));
            }
        })?;
        Ok(Matrix::new(&self.backend, b)?)
    }

    /// Largest Σ a/(ρc V) over the unknowns: 1 / the step at which the cell Fourier number is 1.
    ///
    /// # Errors
    /// [`HeatError::Backend`] where the device failed.
    pub fn largest_rate(&self) -> Result<f64, HeatError> {
        let diagonal = self.matrix.to_csr()?.diagonal();
        let mass = self.backend.read(&self.mass)?;
        let rates = diagonal.iter().zip(&mass).filter(|(_, m)| Into::<f64>::into(**m) > 0.0);
        Ok(rates.map(|(a, m)| Into::<f64>::into(*a) / Into::<f64>::into(*m)).fold(0.0, f64::max))
    }
}

/// Gradients of `n` cells, zero where there were none.
fn gradients<'a, F: Real>(
    backend: &Backend,
    gradient: &'a mut Buffer<F>,
    n: usize,
) -> &'a mut Buffer<F> {
    if gradient.is_empty() {
        *gradient = backend.zeros(3 * n);
    }
    gradient
}

/// Conjugate gradients do not serve a corrected operator, which is not symmetric.
fn for_unsymmetric(method: Method) -> Method {
    match method {
        Method::Fgmres | Method::Stationary => method,
        _ => Method::BiCgStab,
    }
}

/// Initial values; held nodes start at what they are held at.
fn initial_temperature(
    discrete: &Discrete,
    initial: &dyn Prescribed,
    points: &[f64],
) -> Result<Vec<f64>, HeatError> {
    let mut temperature = vec![0.0; discrete.mass.len()];
    initial.sample(points, 0.0, &mut temperature);
    check_finite("the initial temperature", &temperature, 0.0)?;
    let prescribed = discrete.values.at(0.0);
    let coupling = &discrete.coupling;
    for (row, unknown) in coupling.unknowns.iter().enumerate() {
        let i = *unknown as usize;
        if discrete.is_held.get(i).copied().unwrap_or(false) {
            let range = coupling.offsets[row] as usize..coupling.offsets[row + 1] as usize;
            let (mut sum, mut weight) = (0.0, 0.0);
            for k in range {
                sum += coupling.coefficients[k] * prescribed[coupling.values[k] as usize];
                weight += coupling.coefficients[k];
            }
            temperature[i] = sum / weight;
        }
    }
    Ok(temperature)
}

/// A source at the unknowns it acts on.
fn source_part(source: &Source, volume: &[f64], points: &[f64]) -> Part {
    let n = volume.len();
    let entries: Vec<u32> = (0..n as u32).filter(|i| volume[*i as usize] != 0.0).collect();
    let of_entries =
        |values: &[f64]| entries.iter().map(|i| values[*i as usize]).collect::<Vec<f64>>();
    let points = points.chunks(n.max(1)).flat_map(of_entries).collect();
    let value = source.value.clone();
    Part { value, factors: of_entries(volume), entries, points }
}

/// Volume of each unknown that a source acts on.
fn source_volume(
    mesh: &Mesh,
    geometry: &Geometry,
    source: &Source,
    discretization: Discretization,
) -> Vec<f64> {
    let acts = |cell: usize| source.region.is_none_or(|r| mesh.cells.groups[cell] == r);
    match discretization {
        Discretization::Cell { .. } => {
            let volumes = geometry.cell_volume.iter().enumerate();
            volumes.map(|(c, v)| if acts(c) { *v } else { 0.0 }).collect()
        }
        Discretization::Node => {
            let share: Vec<f64> =
                (0..mesh.n_cells()).map(|c| if acts(c) { 1.0 } else { 0.0 }).collect();
            node_centred::lumped_mass(mesh, &share)
        }
    }
}
