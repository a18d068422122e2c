//! Convective outlets through cells with and without an opposite face, on meshes of Gmsh and on lattices.

use super::real_meshes::{DUCTS, check_march, constant, defaults, duct, march};
use super::*;
use crate::mesh::testing::{built, gmsh};
use crate::real::Real;

/// Relative L2 error of the velocity of Poiseuille's flow u = 6 y (1 − y), ν = 0.05, at t = 3, by its profile at the inlet, from rest.
fn error_of_poiseuille(
    what: &str,
    (mesh, geometry): &(Mesh, Geometry),
    convection: Convection,
) -> f64 {
    let backend = Backend::host(2).unwrap();
    let profile: Arc<dyn Prescribed> =
        Arc::new(Function(|[_, y, _]: [f64; 3], _| 6.0 * y * (1.0 - y)));
    let problem = from_rest(mesh, 0.05, |name| match name {
        "xmin" => FlowCondition::Velocity([profile.clone(), constant(0.0), constant(0.0)]),
        "xmax" => FlowCondition::ConvectiveOutlet,
        _ => FlowCondition::Velocity(nothing()),
    });
    let numerics = Numerics { convection, ..defaults(1e-8) };
    let mut flow =
        IncompressibleSolver::<f64>::new(&backend, mesh, geometry, &problem, &numerics).unwrap();
    march(what, &mut flow, 3.0, 10_000);
    let poiseuille = Exact {
        viscosity: 0.05,
        velocity: |[_, y, _], _| [6.0 * y * (1.0 - y), 0.0, 0.0],
        pressure: |[x, _, _], _| -0.6 * x,
    };
    let (velocity, pressure) = errors(&backend, &flow, geometry, poiseuille);
    eprintln!("{what}, {convection:?}: {velocity:.2e} {pressure:.2e}");
    velocity
}

/// With the velocity of the cell alone convected to the face, the flow of a lattice of triangles turned to one side at the outlet, by the angle
/// between the normal and the line from the centroid to the face.
#[test]
fn a_developed_flow_leaves_unchanged() {
    let coarse = built(gmsh("triangles_coarse"));
    let fine = built(gmsh("triangles_fine"));
    for convection in [Convection::LinearUpwind, Convection::Central] {
        let [coarse, fine] = [("coarse", &coarse), ("fine", &fine)]
            .map(|(what, mesh)| error_of_poiseuille(what, mesh, convection));
        // h falls from 0.1 to 0.03: an order of 1.9.
        assert!(coarse < 0.01 && fine < 0.1 * coarse, "{convection:?}: {coarse} {fine}");
    }
    let lattice = box_mesh(Element::Triangle, 2, 12, 0.0);
    assert!(error_of_poiseuille("triangles", &lattice, Convection::LinearUpwind) < 0.008);
    let lattice = box_mesh(Element::Quadrilateral, 2, 12, 0.15);
    assert!(error_of_poiseuille("quadrilaterals", &lattice, Convection::LinearUpwind) < 0.008);
}

/// With the velocity of the cell alone these flows diverged: the velocity of a tetrahedron follows the flux through its outlet face
/// with a factor above 1.
#[test]
fn ducts_of_tetrahedra_are_stable() {
    for name in DUCTS {
        run::<f64>(name, TimeScheme::Bdf2, 2.0);
    }
    run::<f32>("pipe_medium", TimeScheme::Bdf2, 2.0);
    run::<f64>("pipe_medium", TimeScheme::Rk3, 0.5);
}

fn run<F: Real>(name: &str, time_scheme: TimeScheme, end: f64) {
    let backend = Backend::host(2).unwrap();
    let (mesh, geometry) = built(gmsh(name));
    let problem = with_convective_outlet(&mesh);
    let is_single = size_of::<F>() == 4;
    let numerics = Numerics { time_scheme, ..defaults(if is_single { 1e-5 } else { 1e-7 }) };
    let mut flow =
        IncompressibleSolver::<F>::new(&backend, &mesh, &geometry, &problem, &numerics).unwrap();
    let bounds = [2.5, if is_single { 1e-5 } else { 1e-12 }];
    check_march(name, (&mut flow, &mesh), &backend, (end, usize::MAX), bounds);
}

fn with_convective_outlet(mesh: &Mesh) -> Problem {
    let mut problem = duct(mesh, 0.01);
    for (patch, condition) in mesh.patches.iter().zip(&mut problem.conditions) {
        if patch.name == "outlet" {
            *condition = FlowCondition::ConvectiveOutlet;
        }
    }
    problem
}
