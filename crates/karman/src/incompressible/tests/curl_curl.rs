//! Multigrid for the potential in space.

use super::*;

/// A cavity in space at Re 1000, Courant number ½: the most iterations of three steps, and the fluxes.
fn cavity(
    (element, n, jitter): (Element, usize, f64),
    preconditioner: PreconditionerKind,
) -> (usize, Vec<f64>) {
    let (mesh, geometry) = box_mesh(element, 3, n, jitter);
    let backend = Backend::host(2).unwrap();
    let lid = |name: &str| -> PrescribedVector {
        let speed = if name == "ymax" { 1.0 } else { 0.0 };
        [Arc::new(speed), Arc::new(0.0), Arc::new(0.0)]
    };
    let condition = |name: &str| FlowCondition::Velocity(lid(name));
    let problem = Problem {
        viscosity: 1e-3,
        source: nothing(),
        conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
        velocity: nothing(),
        pressure: Arc::new(0.0),
        thermal: None,
    };
    let mut numerics =
        Numerics { arrangement: Arrangement::Exact, ..numerics(Convection::Central, Scheme::Bdf2) };
    numerics.momentum = Params {
        preconditioner,
        relative_tolerance: 1e-8,
        max_iterations: 2000,
        ..Params::default()
    };
    backend.install(|| {
        let mut flow = Flow::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics).unwrap();
        let mut most = 0;
        for _ in 0..3 {
            let report = flow.step(0.5 / n as f64).unwrap();
            assert!(report.momentum.is_converged(), "{}", report.momentum);
            assert!(report.divergence < 1e-13, "{}", report.divergence);
            eprint!("{} ", report.momentum.iterations);
            most = most.max(report.momentum.iterations);
        }
        (most, backend.read(flow.flux()).unwrap())
    })
}

#[test]
fn iterations_grow_slowly() {
    let amg = PreconditionerKind::Amg(AmgParams::default());
    for (element, jitter) in [(Element::Hexahedron, 0.0), (Element::Tetrahedron, 0.15), (Element::Hexahedron, 0.15)] {
        for n in [8, 16, 24] {
            if n == 24 && jitter > 0.0 { continue; }
            let (many, want) = cavity((element, n, jitter), PreconditionerKind::Jacobi);
            let (few, got) = cavity((element, n, jitter), amg);
            let size = want.iter().fold(0.0, |m, u| f64::max(m, u.abs()));
            let apart = want.iter().zip(&got).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size;
            eprintln!("{element:?} {n} {jitter}: {many} and {few}, apart {apart:e}");
        }
    }
}
