//! Time steps of a lid-driven cavity, on hexahedra and on jittered tetrahedra.

use super::mesh::TetrahedronMesh;
use super::{Bench, BenchError};
use karman::backend::Backend;
use karman::finite_volume::Prescribed;
use karman::incompressible::{
    Arrangement, Convection, ConvectionTreatment, FlowCondition, IncompressibleError,
    IncompressibleSolver, Numerics, PressureCorrection, Problem, TimeScheme,
};
use karman::linear::{AmgParams, Params, PreconditionerKind, SolveOutcome};
use karman::mesh::generate::{BoxParams, Element};
use karman::mesh::{Geometry, Mesh, MeshOptions};
use std::sync::Arc;

/// Steps before the timing: the impulsive start is over, and BDF2 has its two previous time levels.
pub(super) const WARM_UP: usize = 5;

/// Times steps of a cavity at Re 1000, tolerance 1e-6 and Courant number about ½, in double precision.
///
/// # Errors
/// [`BenchError`] where the mesh cannot be made, a step fails, or the device failed.
pub fn flow(bench: &mut Bench, cells: usize) -> Result<(), BenchError> {
    let tetrahedra = TetrahedronMesh::new(bench.backend, cells)?;
    let arrangement = Arrangement::Collocated;
    steps(bench, "tetrahedra", &tetrahedra.mesh, &tetrahedra.geometry, arrangement)?;
    drop(tetrahedra);
    let (hexahedra, geometry) = hexahedron_mesh(bench.backend, cells)?;
    for arrangement in [Arrangement::Collocated, Arrangement::Staggered, Arrangement::Exact] {
        steps(bench, "hexahedra", &hexahedra, &geometry, arrangement)?;
    }
    Ok(())
}

pub(super) fn hexahedron_mesh(
    backend: &Backend,
    cells: usize,
) -> Result<(Mesh, Geometry), BenchError> {
    let m = ((cells as f64).cbrt().round() as usize).max(2);
    backend.install(|| {
        let element = Some(Element::Hexahedron);
        let params = BoxParams { cells: vec![m; 3], element, ..BoxParams::default() };
        let raw = params.generate().map_err(|reason| BenchError::Generate { cells, reason })?;
        let mesh = Mesh::new(raw, &MeshOptions::default())?;
        let geometry = Geometry::new(&mesh)?;
        Ok((mesh, geometry))
    })
}

/// A cavity with a moving lid, and its numerics.
pub(super) fn cavity(mesh: &Mesh, arrangement: Arrangement) -> (Problem, Numerics) {
    let value = |v: f64| -> Arc<dyn Prescribed> { Arc::new(v) };
    let condition = |name: &str| {
        let speed = if name == "zmax" { 1.0 } else { 0.0 };
        FlowCondition::Velocity([value(speed), value(0.0), value(0.0)])
    };
    let problem = Problem {
        viscosity: 1e-3,
        source: [0.0; 3].map(value),
        conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
        velocity: [0.0; 3].map(value),
        pressure: value(0.0),
        thermal: None,
    };
    let params = Params { relative_tolerance: 1e-6, ..Params::default() };
    let amg = PreconditionerKind::Amg(AmgParams::default());
    let numerics = Numerics {
        arrangement,
        convection: Convection::Central,
        convection_treatment: ConvectionTreatment::Explicit,
        time_scheme: TimeScheme::Bdf2,
        is_steady: false,
        pressure_correction: PressureCorrection::IncrementalRotational,
        nonorthogonal_correctors: 0,
        pressure: Params { preconditioner: amg, ..params.clone() },
        momentum: match arrangement {
            Arrangement::Exact => Params { preconditioner: amg, ..params },
            Arrangement::Collocated | Arrangement::Staggered => params,
        },
    };
    (problem, numerics)
}

/// The step of a Courant number of ½ at the speed of the lid.
pub(super) fn step_length(flow: &IncompressibleSolver<f64>) -> f64 {
    0.5 / flow.largest_rate()
}

fn steps(
    bench: &mut Bench,
    elements: &str,
    mesh: &Mesh,
    geometry: &Geometry,
    arrangement: Arrangement,
) -> Result<(), BenchError> {
    let backend = bench.backend;
    let (problem, numerics) = cavity(mesh, arrangement);
    let n = mesh.n_cells();
    let name = match arrangement {
        Arrangement::Collocated => elements.to_owned(),
        Arrangement::Staggered => format!("staggered, {elements}"),
        Arrangement::Exact => format!("exact, {elements}"),
    };
    let made = super::on_threads(backend, || -> Result<_, IncompressibleError> {
        let mut flow =
            IncompressibleSolver::<f64>::new(backend, mesh, geometry, &problem, &numerics)?;
        let step = step_length(&flow);
        for _ in 0..WARM_UP {
            flow.step(step)?;
        }
        Ok((flow, step))
    });
    let (mut flow, step) = made?;
    let mut reports = vec![];
    let mut failed = None;
    bench.time(&format!("step, {name}"), "f64", n, 0.0, |_| match flow.step(step) {
        Ok(report) => reports.push(report),
        Err(error) => _ = failed.get_or_insert(error),
    })?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let bytes = flow.pressure_bytes_per_iteration() as f64;
    solves(bench, &format!("  predictor, {name}"), n, 0.0, reports.iter().map(|r| &r.momentum));
    solves(bench, &format!("  pressure, {name}"), n, bytes, reports.iter().map(|r| &r.pressure));
    Ok(())
}

/// Adds the median of some solves, of which an iteration moves `bytes`. On a device the time of a solve
/// includes work that was enqueued before it.
fn solves<'a>(
    bench: &mut Bench,
    name: &str,
    n: usize,
    bytes: f64,
    solves: impl Iterator<Item = &'a SolveOutcome>,
) {
    let mut all: Vec<_> = solves.map(|solve| (solve.seconds, solve.iterations)).collect();
    let Some((first, _)) = all.first().copied() else { return };
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (seconds, iterations) = all[all.len() / 2];
    bench.add(name, "f64", n, bytes * iterations as f64, [first, seconds]);
    if let Some(row) = bench.rows.last_mut() {
        row.iterations = Some(iterations);
    }
}
