//! Multigrid for the 3D potential.

use super::*;
use crate::mesh::generate::BoxWithObstacleParams;

/// The most iterations of three steps at Courant number ½, and the fluxes.
fn after(mesh: &Mesh, problem: &Problem, n: usize, multigrid: bool) -> (usize, Vec<f64>) {
    let geometry = Geometry::new(mesh).unwrap();
    let backend = Backend::host(2).unwrap();
    let mut numerics = Numerics {
        arrangement: Arrangement::Exact,
        ..numerics(Convection::Central, TimeScheme::Bdf2)
    };
    numerics.momentum = Params {
        preconditioner: match multigrid {
            true => PreconditionerKind::Amg(AmgParams::default()),
            false => PreconditionerKind::Jacobi,
        },
        relative_tolerance: 1e-8,
        max_iterations: 2000,
        ..Params::default()
    };
    backend.install(|| {
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, mesh, &geometry, problem, &numerics)
                .unwrap();
        let mut most = 0;
        for _ in 0..3 {
            let report = flow.step(0.5 / n as f64).unwrap();
            assert!(report.momentum.is_converged(), "{}", report.momentum);
            assert!(report.divergence < 1e-12, "{}", report.divergence);
            most = most.max(report.momentum.iterations);
        }
        (most, backend.read(flow.flux()).unwrap())
    })
}

/// Iterations of Jacobi and of multigrid; their fluxes agree.
fn both(mesh: &Mesh, problem: &Problem, n: usize) -> [usize; 2] {
    let (many, want) = after(mesh, problem, n, false);
    let (few, got) = after(mesh, problem, n, true);
    let size = want.iter().fold(0.0, |m, u| f64::max(m, u.abs()));
    let apart = want.iter().zip(&got).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-7 * size, "{apart:e} of {size:e}");
    [many, few]
}

/// ν = 1e-3 and no-slip walls unless `condition` returns another.
fn at_rest(mesh: &Mesh, source: [f64; 3], condition: fn(&str) -> Option<FlowCondition>) -> Problem {
    let still = |name: &str| condition(name).unwrap_or(FlowCondition::Velocity(nothing()));
    let source = source.map(|s| Arc::new(s) as Arc<dyn Prescribed>);
    Problem { source, ..from_rest(mesh, 1e-3, still) }
}

fn stream() -> Option<FlowCondition> {
    let speed = [1.0, 0.0, 0.0].map(|u| Arc::new(u) as Arc<dyn Prescribed>);
    Some(FlowCondition::Velocity(speed))
}

fn lid(name: &str) -> Option<FlowCondition> {
    if name == "ymax" { stream() } else { None }
}

/// A lid-driven cavity at Re 1000.
#[test]
fn iterations_in_3d_hardly_grow() {
    for (element, jitter, sizes, most) in [
        (Element::Hexahedron, 0.0, [8, 16, 24], 16),
        (Element::Hexahedron, 0.15, [4, 8, 16], 26),
        (Element::Tetrahedron, 0.15, [4, 8, 12], 48),
    ] {
        let measured = sizes.map(|n| {
            let (mesh, _) = box_mesh(element, 3, n, jitter);
            both(&mesh, &at_rest(&mesh, [0.0; 3], lid), n)
        });
        eprintln!("{element:?}, jitter {jitter}: Jacobi and multigrid {measured:?}");
        assert!(measured.iter().all(|[_, few]| *few <= most), "{measured:?}");
        assert!(4 * measured[2][1] < measured[2][0] + 20, "{measured:?}");
    }
}

/// Ducts between walls with inlet and outlet or periodic ends, with and without a body across: generators,
/// walls of several components, periodic edges.
#[test]
fn multigrid_handles_components_generators_and_periodic_edges() {
    let ends = |name: &str| match name {
        "xmin" => stream(),
        "xmax" => Some(FlowCondition::PressureOutlet(Arc::new(0.0))),
        _ => None,
    };
    let (x, z) = (["xmin", "xmax"], ["zmin", "zmax"]);
    let pairs: [&[[&str; 2]]; 4] = [&[], &[x], &[z], &[x, z]];
    for (element, n, most) in [(Element::Hexahedron, 10, 24), (Element::Tetrahedron, 6, 56)] {
        for (has_body, periodic) in [(true, 0), (true, 2), (true, 3), (false, 1), (false, 3)] {
            let outer = BoxParams {
                size: vec![1.0; 3],
                cells: vec![n; 3],
                element: Some(element),
                ..BoxParams::default()
            };
            let raw = match has_body {
                true => {
                    BoxWithObstacleParams { outer, obstacle_min: [0.4; 2], obstacle_max: [0.6; 2] }
                        .generate()
                }
                false => outer.generate(),
            };
            let mesh = Mesh::new(raw.unwrap(), &MeshOptions::default()).unwrap();
            let mesh = mesh.connect_periodic(pairs[periodic]).unwrap();
            let iterations = both(&mesh, &at_rest(&mesh, [1.0, 0.0, 0.0], ends), n);
            let what = format!("{element:?}, body {has_body}, periodic {:?}", pairs[periodic]);
            eprintln!("{what}: Jacobi and multigrid {iterations:?}");
            assert!(iterations[1] <= most, "{what}: {iterations:?}");
        }
    }
}

/// All nodes are at walls.
#[test]
fn a_layer_between_walls_is_solved_too() {
    for element in [Element::Hexahedron, Element::Tetrahedron, Element::Prism] {
        let layer = BoxParams {
            size: vec![1.0, 1.0, 0.1],
            cells: vec![8, 8, 1],
            element: Some(element),
            ..BoxParams::default()
        };
        let mesh = Mesh::new(layer.generate().unwrap(), &MeshOptions::default()).unwrap();
        let iterations = both(&mesh, &at_rest(&mesh, [0.0; 3], lid), 8);
        eprintln!("layer, {element:?}: Jacobi and multigrid {iterations:?}");
        assert!(iterations[1] <= iterations[0], "{element:?}: {iterations:?}");
    }
}
