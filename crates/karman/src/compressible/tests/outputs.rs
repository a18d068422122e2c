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
use crate::mesh::geometry::norm;
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
    conditions[2] = CompressibleBoundaryCondition::MovingWall {
        velocity: [0.3, -0.2, 0.1].map(|u| Arc::new(u) as Arc<dyn Prescribed>),
        temperature: Some(Arc::new(0.4)),
    };
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
    let mut points = CellPoints::new(backend, place, &points, 0);
    found.extend(flow.at_points(&mut points).unwrap().into_iter().flatten());
    let faces: Vec<u32> = (mesh.n_interior_faces() as u32..mesh.n_faces() as u32).collect();
    found.extend(flow.on_boundary(&faces).unwrap().into_iter().flatten());
    found.extend(flow.stress_on_boundary(&faces).unwrap().into_iter().flatten());
    let mut group = LoadedFaces::new(backend, place, &faces, [0.1, 0.2, 0.3]);
    for load in flow.loads(&mut group).unwrap() {
        found.extend([load.force_x, load.force_y, load.force_z, load.entering]);
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
    assert!(pressure.entering.abs() < 1e-10, "{pressure:?}");
}

/// Gas at rest of temperature 1 + y between a wall at ymax that moves with (0.5, 3), of temperature 2.5, and one without heat flux:
/// at the first the jumps of u and T to the wall act on the distance of the cells, 4/3 (φ_w − φ)/d + ∂φ/∂n; no mass and no work of the
/// part of the velocity along the normal passes.
#[test]
fn a_moving_wall_of_a_temperature_drags_and_heats_the_gas() {
    let backend = Backend::host(1).unwrap();
    let (mesh, geometry) = built(gmsh("triangles_coarse"));
    let constant = 2.0;
    // ρ = p/(RT) is no polynomial: p such that ρ = 1, θ = RT = 2 (1 + y).
    let initial: PrescribedFields = [0, 1, 2, 3, 4].map(|k| {
        let f = move |x: [f64; 3], _: f64| [1.0, 0.0, 0.0, 0.0, constant * (1.0 + x[1])][k];
        Arc::new(Function(f)) as Arc<dyn Prescribed>
    });
    let moving = CompressibleBoundaryCondition::MovingWall {
        velocity: [0.5, 3.0, 0.0].map(|u| Arc::new(u) as Arc<dyn Prescribed>),
        temperature: Some(Arc::new(2.5)),
    };
    let condition = |name: &str| match name {
        "ymax" => moving.clone(),
        _ => CompressibleBoundaryCondition::NoSlip,
    };
    let (mu, prandtl) = (0.3, 0.72);
    let viscosity = Viscosity::Constant(mu);
    let problem = CompressibleProblem {
        gamma: GAMMA,
        conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
        initial,
        source: None,
        viscous: Some(ViscousGas { viscosity, prandtl, gas_constant: constant }),
    };
    let place = (&mesh, &geometry);
    let numerics = numerics(Reconstruction::Linear);
    let mut flow = CompressibleSolver::<f64>::new(&backend, place, &problem, &numerics).unwrap();
    flow.refresh().unwrap();
    let faces = |name: &str| -> Vec<u32> {
        let patch = mesh.patches.iter().find(|patch| patch.name == name).unwrap();
        patch.faces.clone().map(|face| face as u32).collect()
    };
    let conductivity = mu * GAMMA * constant / ((GAMMA - 1.0) * prandtl);
    let [x, y, _, heat] = flow.stress_on_boundary(&faces("ymax")).unwrap();
    for (i, face) in faces("ymax").into_iter().enumerate() {
        let [_, below, _] = geometry.cell_centre_of(mesh.face_left[face as usize] as usize);
        let slope = |jump: f64| 4.0 / 3.0 * jump / (1.0 - below);
        assert!((x[i] + mu * slope(0.5)).abs() < 1e-9, "{} {}", x[i], mu * slope(0.5));
        assert!(y[i].abs() < 1e-9, "{}", y[i]);
        let expected = conductivity * (1.0 + slope(0.5));
        assert!((heat[i] - expected).abs() < 1e-9 * expected, "{} {expected}", heat[i]);
    }
    let mut group = LoadedFaces::new(&backend, place, &faces("ymax"), [0.0; 3]);
    let [pressure, viscous] = flow.loads(&mut group).unwrap();
    assert!(pressure.entering.abs() < 1e-12, "{pressure:?}");
    let total: f64 = faces("ymax")
        .iter()
        .zip(&heat)
        .map(|(f, q)| q * norm(geometry.area_vector_of(*f as usize)))
        .sum();
    assert!((viscous.entering - total).abs() < 1e-9 * total, "{viscous:?} {total}");
    let mut group = LoadedFaces::new(&backend, place, &faces("ymin"), [0.0; 3]);
    assert_eq!(flow.loads(&mut group).unwrap()[1].entering, 0.0);
    // The state at the wall is that of the wall.
    let [density, u, v, _, p] = flow.on_boundary(&faces("ymax")).unwrap();
    for i in 0..density.len() {
        assert!((p[i] / (density[i] * constant) - 2.5).abs() < 1e-9);
        assert!((u[i] - 0.5).abs() < 1e-12 && v[i].abs() < 1e-12);
    }
}
