//! `karman bench thesis cg`: the cost of an iteration of conjugate gradients by unknown, for the systems
//! of Menon's thesis (2011, §7.5, figures 7.3 to 7.5).
//!
//! The flow is that of the thesis: a square of triangles whose lid y = 1 moves along x, viscous terms
//! implicit. The systems are those of the second step: momentum (unknowns: fluxes through the faces) and
//! pressure (cells) of the classical fractional step, the streamfunction (interior nodes) of the exact one.
//! Conjugate gradients with Jacobi solve each system twice, without a tolerance; an iteration takes the
//! difference of the two times over that of the iterations. The viscosity is so high that neither solve
//! converges early. The text of the thesis gives no numbers for the figures, but "roughly 3x" of GPU
//! over CPU.

mod report;

pub use report::CostReport;

use super::BenchError;
use super::solver::{repeated, solved};
use karman::backend::Backend;
use karman::finite_volume::Prescribed;
use karman::incompressible::{
    Arrangement, Convection, ConvectionTreatment, FlowCondition, IncompressibleSolver, Numerics,
    PressureCorrection, Problem, StepSystem, TimeScheme,
};
use karman::linear::{AmgParams, Nullspace, Params, PreconditionerKind, Solver};
use karman::mesh::generate::{BoxParams, Element};
use karman::mesh::{Geometry, Mesh, MeshOptions};
use std::sync::Arc;

/// Iterations of the two solves, multiples of [`CHECK_INTERVAL`].
const ITERATIONS: [usize; 2] = [32, 96];
/// Iterations between two convergence checks of the host.
const CHECK_INTERVAL: usize = 32;
/// Most solves of either length.
const MOST_SOLVES: usize = 200;
/// Steps before the timing: BDF2 then has its two previous time levels.
const STEPS: usize = 2;
/// Iterations of the predictor in these steps, converged or not.
const PREDICTOR: usize = 50;
const VISCOSITY: f64 = 1.0;

/// A system of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSystem {
    /// Fluxes of the classical fractional step: figure 7.3.
    Momentum,
    /// Pressure of the classical fractional step: figure 7.4.
    Pressure,
    /// The streamfunction of the exact fractional step: figure 7.5.
    Streamfunction,
}

impl CostSystem {
    /// All, in the order of the figures.
    pub const ALL: [CostSystem; 3] =
        [CostSystem::Momentum, CostSystem::Pressure, CostSystem::Streamfunction];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            CostSystem::Momentum => "momentum",
            CostSystem::Pressure => "pressure",
            CostSystem::Streamfunction => "streamfunction",
        }
    }
}

/// The cost of an iteration on one system of one size.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CostPoint {
    /// Kind of backend.
    pub backend: &'static str,
    /// The system.
    pub system: CostSystem,
    /// Triangles.
    pub cells: usize,
    /// Unknowns.
    pub unknowns: usize,
    /// Timed iterations.
    pub iterations: usize,
    /// Seconds of an iteration.
    pub seconds: f64,
}

impl CostPoint {
    /// Nanoseconds of an iteration by unknown.
    pub fn nanoseconds(&self) -> f64 {
        1e9 * self.seconds / self.unknowns.max(1) as f64
    }
}

/// The cost of an iteration on the three systems of the 2 m² jittered triangles nearest to `cells`, with
/// about `budget` seconds for each of the two solves of a system.
///
/// # Errors
/// [`BenchError`] where the mesh cannot be generated, the flow cannot be advanced or the device failed.
pub fn measure_cost(
    backend: &Backend,
    cells: usize,
    budget: f64,
) -> Result<Vec<CostPoint>, BenchError> {
    if !(budget > 0.0 && budget.is_finite()) {
        let rule = "it must be positive and finite";
        return Err(BenchError::Plan { name: "seconds", value: budget, rule });
    }
    super::on_threads(backend, || measured(backend, cells, budget))
}

fn measured(backend: &Backend, cells: usize, budget: f64) -> Result<Vec<CostPoint>, BenchError> {
    let (mesh, geometry) = triangles(cells)?;
    let place = (&mesh, &geometry);
    let mut points = vec![];
    let mut add = |system, timed: Timed| {
        let (backend, cells) = (backend.kind().word(), mesh.n_cells());
        let Timed { unknowns, iterations, seconds } = timed;
        points.push(CostPoint { backend, system, cells, unknowns, iterations, seconds });
    };
    let classical = advanced(backend, place, Arrangement::Staggered)?;
    add(CostSystem::Momentum, iteration(backend, budget, || predictor(&classical))?);
    let pressure = || Ok(classical.pressure_system());
    add(CostSystem::Pressure, iteration(backend, budget, pressure)?);
    drop(classical);
    let exact = advanced(backend, place, Arrangement::Exact)?;
    add(CostSystem::Streamfunction, iteration(backend, budget, || predictor(&exact))?);
    Ok(points)
}

fn triangles(cells: usize) -> Result<(Mesh, Geometry), BenchError> {
    let m = ((cells as f64 / 2.0).sqrt().round() as usize).max(3);
    let params = BoxParams {
        size: vec![1.0; 2],
        cells: vec![m; 2],
        element: Some(Element::Triangle),
        jitter: 0.2,
        ..BoxParams::default()
    };
    let raw = params.generate().map_err(|reason| BenchError::Generate { cells, reason })?;
    let mesh = Mesh::new(raw, &MeshOptions::default())?;
    let geometry = Geometry::new(&mesh)?;
    Ok((mesh, geometry))
}

fn advanced(
    backend: &Backend,
    (mesh, geometry): (&Mesh, &Geometry),
    arrangement: Arrangement,
) -> Result<IncompressibleSolver<f64>, BenchError> {
    let value = |v: f64| -> Arc<dyn Prescribed> { Arc::new(v) };
    let condition = |name: &str| {
        let speed = if name == "ymax" { 1.0 } else { 0.0 };
        FlowCondition::Velocity([value(speed), value(0.0), value(0.0)])
    };
    let problem = Problem {
        viscosity: VISCOSITY,
        source: [0.0; 3].map(value),
        conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
        velocity: [0.0; 3].map(value),
        pressure: value(0.0),
        thermal: None,
    };
    let params = Params { relative_tolerance: 1e-6, ..Params::default() };
    let numerics = Numerics {
        arrangement,
        convection: Convection::Central,
        convection_treatment: ConvectionTreatment::Explicit,
        time_scheme: TimeScheme::Bdf2,
        is_steady: false,
        pressure_correction: PressureCorrection::Incremental,
        nonorthogonal_correctors: 0,
        pressure: Params {
            preconditioner: PreconditionerKind::Amg(AmgParams::default()),
            ..params.clone()
        },
        momentum: Params { max_iterations: PREDICTOR, ..params },
    };
    let mut flow = IncompressibleSolver::<f64>::new(backend, mesh, geometry, &problem, &numerics)?;
    let step = 0.5 / flow.largest_rate();
    for k in 0..STEPS {
        if flow.step(step)?.non_finite > 0 {
            return Err(BenchError::Diverged { case: "cavity", step: k + 1 });
        }
    }
    Ok(flow)
}

fn predictor(flow: &IncompressibleSolver<f64>) -> Result<StepSystem<'_, f64>, BenchError> {
    match flow.predictor_system()? {
        Some(system) => Ok(system),
        None => unreachable!("fluxes are unknowns, and steps were taken"),
    }
}

/// The time of an iteration.
struct Timed {
    unknowns: usize,
    iterations: usize,
    seconds: f64,
}

fn iteration<'a>(
    backend: &Backend,
    budget: f64,
    system: impl Fn() -> Result<StepSystem<'a, f64>, BenchError>,
) -> Result<Timed, BenchError> {
    let (mut seconds, mut iterations, mut unknowns) = ([0.0; 2], [0; 2], 0);
    for (k, length) in ITERATIONS.into_iter().enumerate() {
        let StepSystem { operator, preconditioning_matrix, right_hand_side: b, is_singular } =
            system()?;
        let params = Params {
            relative_tolerance: 0.0,
            max_iterations: length,
            iterations_per_check: Some(CHECK_INTERVAL),
            nullspace: if is_singular { Nullspace::Constant } else { Nullspace::None },
            ..Params::default()
        };
        let mut solver =
            Solver::with_operator(backend, operator, Some(preconditioning_matrix), &params)?;
        let mut x = backend.zeros(b.len());
        let solve = || solved(backend, &mut solver, b, &mut x);
        let ([_, median], outcome) = repeated(budget, MOST_SOLVES, solve)?;
        (seconds[k], iterations[k], unknowns) = (median, outcome.iterations, b.len());
    }
    let more = iterations[1].saturating_sub(iterations[0]);
    let longer = seconds[1] - seconds[0];
    // On a loaded machine the longer solve may take less time.
    let (iterations, seconds) = match more > 0 && longer > 0.0 {
        true => (more, longer / more as f64),
        false => (iterations[1], seconds[1] / iterations[1].max(1) as f64),
    };
    Ok(Timed { unknowns, iterations, seconds })
}

#[cfg(test)]
mod tests;
