//! `karman bench thesis flow`: the pressure Poisson systems of Kamakolanu's thesis (2014, §6.3), with
//! karman's figures beside them.
//!
//! Each flow is advanced a few steps (collocated, the classical projection with the thesis' equation
//! ∇²p = ∇·u / Δt; central differences, BDF2, Courant number about ½). Each method solves the system of
//! the last step from a zero initial guess to ‖b − A x‖ ≤ tolerance ‖b‖. The thesis names neither its
//! tolerance nor its initial guess, and Reynolds numbers in plots only. Solve times leave out set-up.

mod cases;
mod published;
mod report;

pub use cases::FlowCase;
pub use published::Published;
pub use report::PressureReport;

use super::BenchError;
use super::thesis_amg::Solved;
use super::thesis_amg::method::{KamakolanuAmg, ThesisMethod};
use karman::backend::{Backend, Buffer, blas};
use karman::finite_volume::Prescribed;
use karman::incompressible::{
    Arrangement, Convection, ConvectionTreatment, IncompressibleSolver, Numerics,
    PressureCorrection, Problem, TimeScheme,
};
use karman::linear::{AmgParams, Matrix, Nullspace, Params, PreconditionerKind};
use karman::mesh::{Geometry, Mesh, MeshOptions};
use std::sync::Arc;
use std::time::Instant;

/// Parameters of the thesis' pressure systems and their solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressurePlan {
    /// Target of ‖b − A x‖ / ‖b‖. Default: 1e-8.
    pub tolerance: f64,
    /// Time steps up to the system, at least one. Default: 5.
    pub steps: usize,
    /// Allowed cycles of Kamakolanu's AMG. Default: 20 000, which the thesis' work units need.
    pub cycles: usize,
    /// Cells over those of the thesis. Default: 1.
    pub scale: f64,
    /// β on the first coarse level of all flows. Default: none, [`FlowCase::beta`].
    pub beta: Option<f64>,
}

impl Default for PressurePlan {
    fn default() -> Self {
        PressurePlan { tolerance: 1e-8, steps: 5, cycles: 20_000, scale: 1.0, beta: None }
    }
}

impl PressurePlan {
    /// Checks ranges.
    ///
    /// # Errors
    /// [`BenchError::Plan`] for the first value out of range.
    pub fn check(&self) -> Result<(), BenchError> {
        let wrong = |name, value: f64, rule| Err(BenchError::Plan { name, value, rule });
        if self.steps == 0 {
            return wrong("steps", 0.0, "at least one step is needed for a right-hand side");
        }
        if self.cycles == 0 {
            return wrong("cycles", 0.0, "at least one cycle is needed");
        }
        if !(self.scale > 0.0 && self.scale <= 100.0) {
            return wrong("scale", self.scale, "it lies above 0 and up to 100");
        }
        Ok(())
    }
}

/// Measurements on one grid.
#[derive(Clone, Debug, serde::Serialize)]
pub struct PressureGrid {
    /// The flow.
    pub case: FlowCase,
    /// Cells of the thesis' grid.
    pub published_cells: usize,
    /// Cells.
    pub cells: usize,
    /// Cells with a face on the boundary.
    pub boundary_cells: usize,
    /// Reynolds number.
    pub reynolds: f64,
    /// Length of a time step.
    pub step: f64,
    /// ‖b‖ of the system.
    pub right_hand_side: f64,
    /// Mean seconds of a step; the first of several, with compilation and set-up, is left out.
    pub step_seconds: f64,
    /// θ of Kamakolanu's AMG.
    pub strength: f64,
    /// Most levels of Kamakolanu's AMG.
    pub levels: usize,
    /// α of Kamakolanu's AMG.
    pub boundary_weight: f64,
    /// β on the first coarse level and its increment per level.
    pub beta: [f64; 2],
    /// Conjugate gradients with Jacobi.
    pub jacobi: Solved,
    /// Kamakolanu's AMG.
    #[serde(rename = "source")]
    pub kamakolanu: Solved,
    /// Kamakolanu's AMG without the transformation of A_c.
    pub untransformed: Solved,
    /// Conjugate gradients with karman's AMG.
    pub default: Solved,
}

/// The pressure system of a time step.
struct PressureSystem {
    matrix: Arc<Matrix<f64>>,
    right_hand_side: Buffer<f64>,
    is_singular: bool,
    boundary: Vec<bool>,
    step: f64,
    step_seconds: f64,
}

/// Measures the system of a flow on about as many tetrahedra as a grid of the thesis has, times the plan's
/// scale. Divergence of a method is no error.
///
/// # Errors
/// [`BenchError`] where the mesh cannot be generated, the plan is out of range, the flow diverged or the
/// device failed.
pub fn measure_pressure(
    backend: &Backend,
    case: FlowCase,
    published: &Published,
    plan: &PressurePlan,
) -> Result<PressureGrid, BenchError> {
    plan.check()?;
    let cells = ((published.cells as f64 * plan.scale).round() as usize).max(1);
    let system = super::on_threads(backend, || advanced(backend, case, cells, plan.steps))?;
    let Published { strength, levels, boundary_weight, .. } = *published;
    let [first, increment] = case.beta();
    let beta = [plan.beta.unwrap_or(first), increment];
    let kamakolanu = |beta| {
        let cycles = plan.cycles;
        ThesisMethod::Kamakolanu(KamakolanuAmg { strength, levels, boundary_weight, beta, cycles })
    };
    let solve = |method| system.solve(backend, method, plan.tolerance);
    let boundary_cells = system.boundary.iter().filter(|flag| **flag).count();
    let n = system.matrix.rows();
    let norm = super::on_threads(backend, || {
        blas::dot(backend, n, &system.right_hand_side, &system.right_hand_side)
    })?;
    Ok(PressureGrid {
        case,
        published_cells: published.cells,
        cells: n,
        boundary_cells,
        reynolds: case.reynolds(),
        step: system.step,
        right_hand_side: norm.sqrt(),
        step_seconds: system.step_seconds,
        strength,
        levels,
        boundary_weight,
        beta,
        default: solve(ThesisMethod::Default)?,
        jacobi: solve(ThesisMethod::Jacobi)?,
        kamakolanu: solve(kamakolanu(Some(beta)))?,
        untransformed: solve(kamakolanu(None))?,
    })
}

impl PressureSystem {
    fn solve(
        &self,
        backend: &Backend,
        method: ThesisMethod,
        tolerance: f64,
    ) -> Result<Solved, BenchError> {
        let params = Params {
            relative_tolerance: tolerance,
            nullspace: if self.is_singular { Nullspace::Constant } else { Nullspace::None },
            ..Params::default()
        };
        let start = Instant::now();
        let make = || method.solver(backend, &self.matrix, &self.boundary, &params);
        let mut solver = super::on_threads(backend, make)?;
        backend.synchronize()?;
        let seconds = start.elapsed().as_secs_f64();
        Solved::measure(backend, &mut solver, seconds, &self.right_hand_side)
    }
}

/// The pressure system of a flow's last step.
fn advanced(
    backend: &Backend,
    case: FlowCase,
    cells: usize,
    steps: usize,
) -> Result<PressureSystem, BenchError> {
    let mesh = Mesh::new(case.mesh(cells)?, &MeshOptions::default())?;
    let geometry = Geometry::new(&mesh)?;
    let zero = || -> Arc<dyn Prescribed> { Arc::new(0.0) };
    let problem = Problem {
        viscosity: 1.0 / case.reynolds(),
        source: [zero(), zero(), zero()],
        conditions: mesh.patches.iter().map(|patch| case.condition(&patch.name)).collect(),
        velocity: [zero(), zero(), zero()],
        pressure: zero(),
        thermal: None,
    };
    let params = Params { relative_tolerance: 1e-6, ..Params::default() };
    let numerics = Numerics {
        arrangement: Arrangement::Collocated,
        convection: Convection::Central,
        convection_treatment: ConvectionTreatment::Explicit,
        time_scheme: TimeScheme::Bdf2,
        is_steady: false,
        pressure_correction: PressureCorrection::None,
        nonorthogonal_correctors: 0,
        pressure: Params {
            preconditioner: PreconditionerKind::Amg(AmgParams::default()),
            ..params.clone()
        },
        momentum: params,
    };
    let mut flow =
        IncompressibleSolver::<f64>::new(backend, &mesh, &geometry, &problem, &numerics)?;
    let step = 0.5 / flow.largest_rate();
    let mut start = Instant::now();
    for k in 0..steps {
        let report = flow.step(step)?;
        if report.non_finite > 0 {
            return Err(BenchError::Diverged { case: case.word(), step: k + 1 });
        }
        if k == 0 && steps > 1 {
            start = Instant::now();
        }
    }
    let step_seconds = start.elapsed().as_secs_f64() / (steps - 1).max(1) as f64;
    let system = flow.pressure_system();
    let mut right_hand_side = backend.zeros(mesh.n_cells());
    blas::copy(backend, mesh.n_cells(), system.right_hand_side, &mut right_hand_side);
    let mut boundary = vec![false; mesh.n_cells()];
    for face in mesh.n_interior_faces()..mesh.n_faces() {
        boundary[mesh.face_left[face] as usize] = true;
    }
    let (matrix, is_singular) = (system.preconditioning_matrix, system.is_singular);
    Ok(PressureSystem { matrix, right_hand_side, is_singular, boundary, step, step_seconds })
}

#[cfg(test)]
mod tests;
