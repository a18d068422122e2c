//! Exact solutions on jittered meshes.

use super::*;
use crate::backend::Backend;
use crate::finite_volume::Function;
use crate::linear::{AmgParams, PreconditionerKind};
use crate::mesh::generate::{AnnulusParams, BoxParams, CylinderInChannelParams, Element};
use crate::mesh::{Geometry, Mesh, MeshOptions};
use std::f64::consts::PI;

mod backends;
mod convective_outlet;
mod coupling;
mod curl_curl;
mod explicit;
mod flow_dependent_pressure;
mod flow_rate;
mod implicit;
mod limited;
mod mean_velocity;
mod orders;
mod outputs;
mod periodic;
mod properties;
mod real_meshes;
mod staggered;
mod transport;

/// A velocity and a pressure of space and time.
type Velocity = fn([f64; 3], f64) -> [f64; 3];
type Scalar = fn([f64; 3], f64) -> f64;

/// An exact flow without a source.
#[derive(Clone, Copy)]
struct Exact {
    viscosity: f64,
    velocity: Velocity,
    pressure: Scalar,
}

/// Taylor & Green's decaying vortices, ν = 0.02.
const TAYLOR_GREEN: Exact = Exact {
    viscosity: 0.02,
    velocity: |[x, y, _], t| {
        let decay = (-2.0 * PI * PI * 0.02 * t).exp();
        let (x, y) = (PI * (x + 0.2), PI * (y + 0.1));
        [-x.cos() * y.sin() * decay, x.sin() * y.cos() * decay, 0.0]
    },
    pressure: |[x, y, _], t| {
        let decay = (-4.0 * PI * PI * 0.02 * t).exp();
        -0.25 * ((2.0 * PI * (x + 0.2)).cos() + (2.0 * PI * (y + 0.1)).cos()) * decay
    },
};

/// Ethier & Steinman's flow, a = π/4, d = π/2, ν = 0.1 (Int. J. Numer. Methods Fluids 19 (1994) 369).
const ETHIER_STEINMAN: Exact = Exact {
    viscosity: 0.1,
    velocity: |[x, y, z], t| {
        let (a, d) = (PI / 4.0, PI / 2.0);
        let decay = -a * (-0.1 * d * d * t).exp();
        let e = |s: f64| (a * s).exp();
        let (sin, cos) =
            (|p: f64, q: f64| (a * p + d * q).sin(), |p: f64, q: f64| (a * p + d * q).cos());
        [
            decay * (e(x) * sin(y, z) + e(z) * cos(x, y)),
            decay * (e(y) * sin(z, x) + e(x) * cos(y, z)),
            decay * (e(z) * sin(x, y) + e(y) * cos(z, x)),
        ]
    },
    pressure: |[x, y, z], t| {
        let (a, d) = (PI / 4.0, PI / 2.0);
        let decay = -0.5 * a * a * (-2.0 * 0.1 * d * d * t).exp();
        let e = |s: f64| (a * s).exp();
        let (sin, cos) =
            (|p: f64, q: f64| (a * p + d * q).sin(), |p: f64, q: f64| (a * p + d * q).cos());
        let terms = e(2.0 * x)
            + e(2.0 * y)
            + e(2.0 * z)
            + 2.0 * sin(x, y) * cos(z, x) * e(y + z)
            + 2.0 * sin(y, z) * cos(x, y) * e(z + x)
            + 2.0 * sin(z, x) * cos(y, z) * e(x + y);
        decay * terms
    },
};

fn component(exact: Exact, k: usize) -> Arc<dyn Prescribed> {
    Arc::new(Function(move |p, t| (exact.velocity)(p, t)[k]))
}

fn vector(exact: Exact) -> PrescribedVector {
    [0, 1, 2].map(|k| component(exact, k))
}

fn nothing() -> PrescribedVector {
    [0, 1, 2].map(|_| Arc::new(0.0) as Arc<dyn Prescribed>)
}

/// Dirichlet conditions of the exact velocity on every patch.
fn dirichlet_problem(mesh: &Mesh, exact: Exact) -> Problem {
    Problem {
        viscosity: exact.viscosity,
        source: nothing(),
        conditions: mesh.patches.iter().map(|_| FlowCondition::Velocity(vector(exact))).collect(),
        velocity: vector(exact),
        pressure: Arc::new(Function(move |p, t| (exact.pressure)(p, t))),
        thermal: None,
    }
}

/// A flow from rest with the condition of each patch by its name.
fn from_rest(mesh: &Mesh, viscosity: f64, condition: impl Fn(&str) -> FlowCondition) -> Problem {
    Problem {
        viscosity,
        source: nothing(),
        conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
        velocity: nothing(),
        pressure: Arc::new(0.0),
        thermal: None,
    }
}

/// An exact flow after `steps` steps to t = 0.2, as `measure` sees it.
fn measured<R: Send>(
    exact: Exact,
    (mesh, geometry): (&Mesh, &Geometry),
    steps: usize,
    numerics: &Numerics,
    measure: impl FnOnce(&Backend, &IncompressibleSolver<f64>) -> R + Send,
) -> R {
    let backend = Backend::host(2).unwrap();
    let problem = dirichlet_problem(mesh, exact);
    backend.install(|| {
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, mesh, geometry, &problem, numerics).unwrap();
        for _ in 0..steps {
            let report = flow.step(0.2 / steps as f64).unwrap();
            assert!(report.pressure.is_converged(), "{}", report.pressure);
            assert!(report.momentum.is_converged(), "{}", report.momentum);
            assert!(report.divergence < 1e-8, "{}", report.divergence);
        }
        measure(&backend, &flow)
    })
}

/// Steps towards a steady state with implicit convection and tight tolerances.
fn steady(convection: Convection) -> Numerics {
    let implicit = ConvectionTreatment::Implicit;
    let marching = numerics(convection, TimeScheme::Bdf2);
    Numerics { is_steady: true, convection_treatment: implicit, ..marching }
}

fn numerics(convection: Convection, scheme: TimeScheme) -> Numerics {
    let tight = Params { relative_tolerance: 1e-10, ..Params::default() };
    Numerics {
        arrangement: Arrangement::Collocated,
        convection,
        convection_treatment: ConvectionTreatment::Explicit,
        time_scheme: scheme,
        is_steady: false,
        pressure_correction: PressureCorrection::IncrementalRotational,
        nonorthogonal_correctors: 0,
        pressure: Params {
            preconditioner: PreconditionerKind::Amg(AmgParams::default()),
            ..tight.clone()
        },
        momentum: tight,
    }
}

pub(super) fn box_mesh(
    element: Element,
    dimension: usize,
    n: usize,
    jitter: f64,
) -> (Mesh, Geometry) {
    let params = BoxParams {
        size: vec![1.0; dimension],
        cells: vec![n; dimension],
        element: Some(element),
        jitter,
        ..BoxParams::default()
    };
    let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

/// √(Σ V |u − exact|² / Σ V) of the velocity, and of the pressure without its mean.
fn errors(
    backend: &Backend,
    flow: &IncompressibleSolver<f64>,
    geometry: &Geometry,
    exact: Exact,
) -> (f64, f64) {
    let (t, _) = flow.clock();
    let n = geometry.cell_volume.len();
    let dimension = flow.dimension();
    let u: Vec<Vec<f64>> =
        (0..dimension).map(|k| backend.read(flow.velocity(k)).unwrap()).collect();
    let p = backend.read(flow.pressure()).unwrap();
    let volume = &geometry.cell_volume;
    let total: f64 = volume.iter().sum();
    let difference: Vec<f64> =
        (0..n).map(|c| p[c] - (exact.pressure)(geometry.cell_centre_of(c), t)).collect();
    let mean = difference.iter().zip(volume).map(|(d, v)| d * v).sum::<f64>() / total;
    let (mut velocity, mut pressure) = (0.0, 0.0);
    for c in 0..n {
        let want = (exact.velocity)(geometry.cell_centre_of(c), t);
        for k in 0..dimension {
            velocity += volume[c] * (u[k][c] - want[k]).powi(2);
        }
        pressure += volume[c] * (difference[c] - mean).powi(2);
    }
    ((velocity / total).sqrt(), (pressure / total).sqrt())
}
