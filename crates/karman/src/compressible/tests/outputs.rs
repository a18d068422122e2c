//! Quantities of cells, states at points and loads on boundary faces: equal on every backend.

use super::exact::GAMMA;
use super::exact::numerics;
use crate::backend::Backend;
use crate::backend::testing::everywhere;
use crate::compressible::viscous::{Viscosity, ViscousGas};
use crate::compressible::{
    CellPoints, CellQuantity, CompressibleBoundaryCondition, CompressibleProblem,
    CompressibleSolver, LoadedFaces, PrescribedFields, Reconstruction,
};
use crate::finite_volume::{Function, Prescribed};
use crate::mesh::testing::{built, gmsh};
use std::sync::Arc;

const QUANTITIES: [CellQuantity; 12] = [
    CellQuantity::Density,
    CellQuantity::VelocityX,
    CellQuantity::VelocityY,
    CellQuantity::VelocityZ,
    CellQuantity::Pressure,
    CellQuantity::Temperature,
    CellQuantity::Mach,
    CellQuantity::Entropy,
    CellQuantity::Schlieren,
    CellQuantity::VorticityX,
    CellQuantity::VorticityY,
    CellQuantity::VorticityZ,
];

fn smooth() -> PrescribedFields {
    [0, 1, 2, 3, 4].map(|k| {
        let f = move |x: [f64; 3], _: f64| {
            let wave = (2.0 * x[0] + 3.0 * x[1] - x[2] + k as f64).sin();
            if k == 0 || k == 4 { 1.5 + 0.3 * wave } else { wave }
        };
        Arc::new(Function(f)) as Arc<dyn Prescribed>
    })
}

/// All numbers that monitors and output read of a solver.
fn numbers(backend: &Backend, mesh: &str, reconstruction: Reconstruction) -> Vec<f64> {
    let (mesh, geometry) = built(gmsh(mesh));
    let place = (&mesh, &geometry);
    let mut conditions = vec![CompressibleBoundaryCondition::Slip; mesh.patches.len()];
    conditions[0] = CompressibleBoundaryCondition::NoSlip;
    conditions[1] = CompressibleBoundaryCondition::SupersonicOutlet;
    let viscosity = Viscosity::Constant(0.01);
    let problem = CompressibleProblem {
        gamma: GAMMA,
        conditions,
        initial: smooth(),
        source: None,
        viscous: Some(ViscousGas { viscosity, prandtl: 0.72, gas_constant: 2.0 }),
    };
    let mut flow =
        CompressibleSolver::<f64>::new(backend, place, &problem, &numerics(reconstruction))
            .unwrap();
    flow.refresh().unwrap();
    let mut found = vec![];
    let mut value = backend.zeros(mesh.n_cells());
    for quantity in QUANTITIES {
        flow.cell_quantity(quantity, 2.0, &mut value);
        found.extend(backend.read(&value).unwrap());
    }
    let points: Vec<(usize, [f64; 3])> =
        (0..mesh.n_cells()).map(|c| (c, mesh.points[mesh.cells.nodes_of(c)[0] as usize])).collect();
    let mut points = CellPoints::new(backend, place, &points);
    found.extend(flow.at_points(&mut points).unwrap().into_iter().flatten());
    let faces: Vec<u32> = (mesh.n_interior_faces() as u32..mesh.n_faces() as u32).collect();
    found.extend(flow.on_boundary(&faces).unwrap().into_iter().flatten());
    let mut group = LoadedFaces::new(backend, place, &faces, [0.1, 0.2, 0.3]);
    for load in flow.loads(&mut group).unwrap() {
        found.extend([load.force_x, load.force_y, load.force_z, load.mass]);
        found.extend([load.moment_x, load.moment_y, load.moment_z]);
    }
    found
}

#[test]
fn output_is_equal_on_every_backend() {
    let backends = everywhere();
    for mesh in ["triangles_coarse", "cube_prism_coarse"] {
        for reconstruction in [Reconstruction::Constant, Reconstruction::Quadratic] {
            let want = numbers(&backends[0], mesh, reconstruction);
            assert!(want.iter().all(|value| value.is_finite()));
            for backend in &backends[1..] {
                let allowed = if backend.device().is_none() { 0.0 } else { 1e-11 };
                for (found, want) in numbers(backend, mesh, reconstruction).iter().zip(&want) {
                    assert!((found - want).abs() <= allowed, "{backend:?}: {found} {want}");
                }
            }
        }
    }
}

/// The force of the viscous stress on a wall in a shear flow u = (y, 0), at ymin with the normal −y: τ = μ on the wall along x.
#[test]
fn the_force_of_a_shear_flow_is_that_of_its_stress() {
    let backend = Backend::host(1).unwrap();
    let (mesh, geometry) = built(gmsh("triangles_coarse"));
    let initial: PrescribedFields = [0, 1, 2, 3, 4].map(|k| {
        let f = move |x: [f64; 3], _: f64| [1.0, x[1], 0.0, 0.0, 2.0][k];
        Arc::new(Function(f)) as Arc<dyn Prescribed>
    });
    let problem = CompressibleProblem {
        gamma: GAMMA,
        conditions: vec![CompressibleBoundaryCondition::NoSlip; mesh.patches.len()],
        initial,
        source: None,
        viscous: Some(ViscousGas {
            viscosity: Viscosity::Constant(0.3),
            prandtl: 0.72,
            gas_constant: 2.0,
        }),
    };
    let place = (&mesh, &geometry);
    let numerics = numerics(Reconstruction::Quadratic);
    let mut flow = CompressibleSolver::<f64>::new(&backend, place, &problem, &numerics).unwrap();
    flow.refresh().unwrap();
    let wall = mesh.patches.iter().find(|patch| patch.name == "ymin").unwrap();
    let faces: Vec<u32> = wall.faces.clone().map(|face| face as u32).collect();
    let mut group = LoadedFaces::new(&backend, place, &faces, [0.0; 3]);
    let [pressure, viscous] = flow.loads(&mut group).unwrap();
    // Unit length: the gas drags the wall by μ ∂u/∂y, and the pressure acts along −y.
    assert!((viscous.force_x - 0.3).abs() < 1e-10, "{viscous:?}");
    assert!(viscous.force_y.abs() < 1e-10, "{viscous:?}");
    assert!((pressure.force_y + 2.0).abs() < 1e-9, "{pressure:?}");
    assert!((pressure.moment_z + 1.0).abs() < 1e-9, "{pressure:?}");
    assert!(pressure.mass.abs() < 1e-10, "{pressure:?}");
}
