//! Steps of a lid-driven cavity, on bricks and on jittered tetrahedra.

use super::mesh::TetrahedronMesh;
use super::{Bench, BenchError};
use crate::diffusion::Prescribed;
use crate::incompressible::{
    Arrangement, Convection, Flow, FlowCondition, IncompressibleError, Numerics,
    PressureCorrection, Problem, Scheme,
};
use crate::linear::{AmgParams, Params, PreconditionerKind};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::{Geometry, Mesh, MeshOptions};
use std::sync::Arc;

/// Steps before the clock starts: the flow is then past its jump at the start, and BDF2 has its levels.
const WARM_UP: usize = 5;

/// Times steps of a cavity at Re 1000, tolerance 1e-6 and Courant number about ½, in double precision.
///
/// # Errors
/// [`BenchError`] where the mesh cannot be made, a step fails, or the device failed.
pub fn flow(bench: &mut Bench, cells: usize) -> Result<(), BenchError> {
    let (bricks, sizes) = brick_mesh(bench, cells)?;
    for arrangement in [Arrangement::Collocated, Arrangement::Staggered, Arrangement::Exact] {
        steps(bench, "bricks", &bricks, &sizes, arrangement)?;
    }
    drop((bricks, sizes));
    let tetrahedra = TetrahedronMesh::new(bench.backend, cells)?;
    let arrangement = Arrangement::Collocated;
    steps(bench, "tetrahedra", &tetrahedra.mesh, &tetrahedra.geometry, arrangement)
}

fn brick_mesh(bench: &Bench, cells: usize) -> Result<(Mesh, Geometry), BenchError> {
    let m = ((cells as f64).cbrt().round() as usize).max(2);
    bench.backend.install(|| {
        let element = Some(Element::Hexahedron);
        let params = BoxParams { cells: vec![m; 3], element, ..BoxParams::default() };
        let raw = params.generate().map_err(|reason| BenchError::Generate { cells, reason })?;
        let mesh = Mesh::new(raw, &MeshOptions::default())?;
        let geometry = Geometry::new(&mesh)?;
        Ok((mesh, geometry))
    })
}

fn steps(
    bench: &mut Bench,
    elements: &str,
    mesh: &Mesh,
    geometry: &Geometry,
    arrangement: Arrangement,
) -> Result<(), BenchError> {
    let backend = bench.backend;
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
        scheme: Scheme::Bdf2,
        pressure_correction: PressureCorrection::IncrementalRotational,
        nonorthogonal_correctors: 0,
        pressure: Params { preconditioner: amg, ..params.clone() },
        momentum: params,
    };
    let n = mesh.n_cells();
    let name = match arrangement {
        Arrangement::Collocated => format!("step, {elements}"),
        Arrangement::Staggered => format!("step, staggered, {elements}"),
        Arrangement::Exact => format!("step, exact, {elements}"),
    };
    let made = super::on_threads(backend, || -> Result<_, IncompressibleError> {
        let mut flow = Flow::<f64>::new(backend, mesh, geometry, &problem, &numerics)?;
        // A Courant number of ½ for the speed of the lid.
        let step = 0.5 / flow.largest_rate();
        for _ in 0..WARM_UP {
            flow.step(step)?;
        }
        Ok((flow, step))
    });
    let (mut flow, step) = made?;
    let mut failed = None;
    bench.time(&name, "f64", n, 0.0, |_| {
        if let Err(error) = flow.step(step) {
            failed.get_or_insert(error);
        }
    })?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}
