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
    let expected =
        conserved_means(place, place.0.n_cells(), &problem.initial, GAMMA, time).unwrap();
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

/// Sixth-order differences along axis `k`.
fn derivative<const N: usize>(f: &dyn Fn([f64; 3]) -> [f64; N], x: [f64; 3], k: usize) -> [f64; N] {
    const STEP: f64 = 0.01;
    let at = |steps: f64| {
        let mut moved = x;
        moved[k] += steps * STEP;
        f(moved)
    };
    let [one, two, three] = [1.0, 2.0, 3.0].map(|steps| (at(steps), at(-steps)));
    std::array::from_fn(|v| {
        let of = |(ahead, behind): &([f64; N], [f64; N])| ahead[v] - behind[v];
        (45.0 * of(&one) - 9.0 * of(&two) + of(&three)) / (60.0 * STEP)
    })
}

/// Component `k` of the fluxes of all variables of a field in `d` dimensions with viscosity μ.
fn fluxes(exact: Exact, d: usize, mu: f64, x: [f64; 3], k: usize) -> [f64; 5] {
    let [density, ux, uy, uz, pressure] = exact(x, 0.0);
    let u = [ux, uy, uz];
    let energy = pressure / (GAMMA - 1.0) + 0.5 * density * (ux * ux + uy * uy + uz * uz);
    let mut flux = [0.0; 5];
    flux[0] = density * u[k];
    for i in 0..3 {
        flux[1 + i] = density * u[i] * u[k] + if i == k { pressure } else { 0.0 };
    }
    flux[4] = u[k] * (energy + pressure);
    if mu == 0.0 {
        return flux;
    }
    // Of ρ, u and p along each axis.
    let slopes: Vec<[f64; 5]> = (0..3).map(|j| derivative(&|y| exact(y, 0.0), x, j)).collect();
    let divergence = (0..d).map(|i| slopes[i][1 + i]).fold(0.0, |a, b| a + b);
    for i in 0..d {
        let dilatation = if i == k { 2.0 / 3.0 * divergence } else { 0.0 };
        let stress = mu * (slopes[k][1 + i] + slopes[i][1 + k] - dilatation);
        flux[1 + i] -= stress;
        flux[4] -= u[i] * stress;
    }
    let of_temperature = (slopes[k][4] - pressure / density * slopes[k][0]) / density;
    flux[4] -= mu * GAMMA / ((GAMMA - 1.0) * PRANDTL) * of_temperature;
    flux
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
            let of_axis = |k| derivative(&|y| fluxes(exact, d, viscosity, y, k), x, k)[variable];
            let is_solved = variable < d + 1 || variable == 4;
            *value = (0..d).filter(|_| is_solved).map(of_axis).fold(0.0, |a, b| a + b);
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
