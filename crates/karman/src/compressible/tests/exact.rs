//! Exact solutions, and flows of them.

use crate::backend::Backend;
use crate::compressible::cell_means::conserved_means;
use crate::compressible::viscous::{Viscosity, ViscousGas};
use crate::compressible::{
    CompressibleBoundaryCondition, CompressibleCondition, CompressibleNumerics,
    CompressibleProblem, CompressibleSolver, CompressibleStep, FluxForm, Limiter, NumericalFlux,
    PrescribedFields, PrescribedState, Reconstruction, ResidualForm, WeightPrecision,
};
use crate::finite_volume::{Function, Prescribed};
use crate::mesh::{Geometry, Mesh};
use crate::time::RungeKutta;
use std::sync::Arc;

pub(super) const GAMMA: f64 = 1.4;
const PRANDTL: f64 = 0.72;

/// ρ, u, v, w and p at a place and a time.
pub(super) type Exact = fn([f64; 3], f64) -> [f64; 5];

/// The variables of a function of place and time as prescribed fields.
pub(super) fn fields(f: Exact) -> PrescribedFields {
    [0, 1, 2, 3, 4].map(|k| Arc::new(Function(move |x, t| f(x, t)[k])) as Arc<dyn Prescribed>)
}

/// The state of an exact solution outside a patch.
pub(super) fn state_of(exact: Exact) -> CompressibleCondition {
    let [density, x, y, z, pressure] = fields(exact);
    CompressibleBoundaryCondition::State(PrescribedState { density, velocity: [x, y, z], pressure })
}

/// The problem of an inviscid exact solution with it at every patch.
pub(super) fn problem(mesh: &Mesh, exact: Exact) -> CompressibleProblem {
    CompressibleProblem {
        gamma: GAMMA,
        conditions: vec![state_of(exact); mesh.patches.len()],
        initial: fields(exact),
        source: None,
        viscous: None,
    }
}

/// Roe's flux, three stages, no limiter.
pub(super) fn numerics(reconstruction: Reconstruction) -> CompressibleNumerics {
    CompressibleNumerics {
        form: FluxForm { flux: NumericalFlux::Roe, low_mach: false },
        reconstruction,
        limiter: Limiter::None,
        one_point: false,
        bounds_traces: false,
        method: RungeKutta::SspRk3,
        residual: ResidualForm::Auto,
        weights: WeightPrecision::Same,
    }
}

/// Advances to `end`; the reports of the steps.
pub(super) fn advance_to(
    solver: &mut CompressibleSolver<f64>,
    cfl: f64,
    end: f64,
) -> Vec<CompressibleStep> {
    let mut reports = vec![];
    while solver.clock().0 < end {
        let left = end - solver.clock().0;
        let steps = (left / solver.step_of(cfl)).ceil().max(1.0);
        let report = solver.advance(left / steps).unwrap();
        assert_eq!(report.invalid, 0, "{:?}", solver.clock());
        reports.push(report);
    }
    reports
}

/// The L2 norm of the errors of all means at `end`.
pub(super) fn error_at(
    place: (&Mesh, &Geometry),
    problem: &CompressibleProblem,
    numerics: &CompressibleNumerics,
    (cfl, end): (f64, f64),
) -> f64 {
    let backend = Backend::host(2).unwrap();
    let mut solver = CompressibleSolver::new(&backend, place, problem, numerics).unwrap();
    advance_to(&mut solver, cfl, end);
    error_of(place, problem, &backend.read(solver.means()).unwrap(), end)
}

/// The L2 norm of the errors of means at a time.
pub(super) fn error_of(
    place: (&Mesh, &Geometry),
    problem: &CompressibleProblem,
    found: &[f64],
    time: f64,
) -> f64 {
    let expected = conserved_means(place, &problem.initial, GAMMA, time).unwrap();
    let volumes = &place.1.cell_volume;
    let (mut sum, mut total) = (0.0, 0.0);
    for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
        sum += volumes[i % volumes.len()] * (a - b).powi(2);
        total += volumes[i % volumes.len()];
    }
    (sum / total).sqrt()
}

/// A steady field of waves in two dimensions, and in three.
pub(super) fn waves_2d([x, y, _]: [f64; 3], _: f64) -> [f64; 5] {
    let u = 0.5 + 0.2 * (y + 0.3 * x).cos();
    let v = 0.3 + 0.2 * (x - 0.4 * y).sin();
    [1.0 + 0.1 * (x + 0.5 * y).sin(), u, v, 0.0, 1.0 + 0.1 * (x - y).cos()]
}

pub(super) fn waves_3d([x, y, z]: [f64; 3], _: f64) -> [f64; 5] {
    let [density, u, v, _, pressure] = waves_2d([x + 0.3 * z, y - 0.5 * z, 0.0], 0.0);
    [density, u, v, 0.1 * (x + y + z).cos(), pressure]
}

/// Sixth-order difference along axis `k`.
fn derivative(f: &dyn Fn([f64; 3]) -> f64, x: [f64; 3], k: usize) -> f64 {
    const STEP: f64 = 0.01;
    let at = |steps: f64| {
        let mut moved = x;
        moved[k] += steps * STEP;
        f(moved)
    };
    let [one, two, three] = [1.0, 2.0, 3.0].map(|s| at(s) - at(-s));
    (45.0 * one - 9.0 * two + three) / (60.0 * STEP)
}

/// Component `k` of the flux of variable `v` of a field in `d` dimensions with viscosity μ.
fn flux(exact: Exact, d: usize, mu: f64, x: [f64; 3], k: usize, v: usize) -> f64 {
    let [density, ux, uy, uz, pressure] = exact(x, 0.0);
    let u = [ux, uy, uz];
    let kinetic = 0.5 * density * (ux * ux + uy * uy + uz * uz);
    let gradient = |i: usize, j: usize| derivative(&|y| exact(y, 0.0)[1 + i], x, j);
    let divergence = || (0..d).map(|i| gradient(i, i)).fold(0.0, |a, b| a + b);
    let stress = |i: usize, j: usize| {
        if mu == 0.0 {
            return 0.0;
        }
        let dilatation = if i == j { 2.0 / 3.0 * divergence() } else { 0.0 };
        mu * (gradient(i, j) + gradient(j, i) - dilatation)
    };
    match v {
        0 => density * u[k],
        4 => {
            let work = (0..d).map(|i| u[i] * stress(i, k)).fold(0.0, |a, b| a + b);
            let theta = |y: [f64; 3]| exact(y, 0.0)[4] / exact(y, 0.0)[0];
            let conduction = mu * GAMMA / ((GAMMA - 1.0) * PRANDTL);
            let heat = if mu == 0.0 { 0.0 } else { conduction * derivative(&theta, x, k) };
            u[k] * (pressure / (GAMMA - 1.0) + kinetic + pressure) - work - heat
        }
        _ => {
            let of_pressure = if v - 1 == k { pressure } else { 0.0 };
            density * u[v - 1] * u[k] + of_pressure - stress(v - 1, k)
        }
    }
}

/// The source that keeps a field steady.
struct Manufactured {
    exact: Exact,
    dimension: usize,
    viscosity: f64,
    variable: usize,
}

impl Prescribed for Manufactured {
    fn sample(&self, points: &[f64], _: f64, out: &mut [f64]) {
        let n = out.len();
        for (i, value) in out.iter_mut().enumerate() {
            let x = [points[i], points[n + i], points[2 * n + i]];
            let Manufactured { exact, dimension: d, viscosity, variable } = *self;
            let term = |k| derivative(&|y| flux(exact, d, viscosity, y, k, variable), x, k);
            *value = (0..d)
                .filter(|_| variable < d + 1 || variable == 4)
                .map(term)
                .fold(0.0, |a, b| a + b);
        }
    }

    fn depends_on_time(&self) -> bool {
        false
    }
}

/// The problem that a steady field solves with its source; inviscid for μ = 0.
pub(super) fn manufactured(mesh: &Mesh, viscosity: f64) -> CompressibleProblem {
    let dimension = mesh.dimension;
    let exact: Exact = if dimension == 2 { waves_2d } else { waves_3d };
    let source = [0, 1, 2, 3, 4].map(|variable| {
        Arc::new(Manufactured { exact, dimension, viscosity, variable }) as Arc<dyn Prescribed>
    });
    let law = Viscosity::Constant(viscosity);
    let gas = ViscousGas { viscosity: law, prandtl: PRANDTL, gas_constant: 1.0 };
    CompressibleProblem {
        source: Some(source),
        viscous: (viscosity > 0.0).then_some(gas),
        ..problem(mesh, exact)
    }
}
