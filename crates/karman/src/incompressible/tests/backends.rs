//! Equal flows on every backend, and across a restart.

use super::*;
use crate::backend::testing::everywhere;
use crate::finite_volume::Condition;

/// A flow that uses every kernel: a moving wall, slip walls, a time-dependent inlet, a pressure or
/// convective outlet, buoyancy.
fn everything(mesh: &Mesh) -> Problem {
    let convective = mesh.dimension == 3;
    let value = |v: f64| -> Arc<dyn Prescribed> { Arc::new(v) };
    let vector = |v: [f64; 3]| v.map(value);
    let inlet = |k: usize| -> Arc<dyn Prescribed> {
        Arc::new(Function(move |p: [f64; 3], t: f64| {
            if k == 0 { 4.0 * p[1] * (1.0 - p[1]) * (1.0 + 0.5 * (9.0 * t).sin()) } else { 0.0 }
        }))
    };
    let flow = |name: &str| match name {
        "xmin" => FlowCondition::Velocity([0, 1, 2].map(inlet)),
        "xmax" if convective => FlowCondition::ConvectiveOutlet,
        "xmax" => FlowCondition::PressureOutlet(value(0.1)),
        "ymin" => FlowCondition::Velocity(vector([0.2, 0.0, 0.0])),
        _ => FlowCondition::Slip,
    };
    let heat = |name: &str| match name {
        "xmin" => Condition::Dirichlet(value(1.0)),
        "ymin" => Condition::Neumann(value(0.3)),
        "ymax" => Condition::Robin { coefficient: value(2.0), ambient: value(3.0) },
        _ => Condition::ZeroGradient,
    };
    let names = || mesh.patches.iter().map(|patch| patch.name.as_str());
    Problem {
        viscosity: 0.03,
        source: vector([0.1, 0.2, -0.1]),
        conditions: names().map(flow).collect(),
        velocity: vector([0.3, 0.1, 0.05]),
        pressure: value(0.0),
        thermal: Some(ThermalProblem {
            diffusivity: 0.02,
            expansion: 0.5,
            gravity: [0.0, -1.0, 0.3],
            reference: 0.5,
            source: value(0.1),
            conditions: names().map(heat).collect(),
            initial: Arc::new(Function(|p: [f64; 3], _| p[0] + 2.0 * p[1])),
        }),
    }
}

fn fields(backend: &Backend, flow: &IncompressibleSolver<f64>) -> Vec<f64> {
    let components = (0..flow.dimension()).map(|k| flow.velocity(k));
    let all = components.chain([flow.pressure(), flow.flux()]).chain(flow.temperature());
    all.flat_map(|buffer| backend.read(buffer).unwrap()).collect()
}

/// Element, dimension, cells per side and numerics.
const CASES: [(Element, usize, usize, Convection, TimeScheme, Arrangement); 15] = [
    (Element::Triangle, 2, 6, Convection::LinearUpwind, TimeScheme::Bdf2, Arrangement::Collocated),
    (Element::Quadrilateral, 2, 6, Convection::Central, TimeScheme::Ab2Cn, Arrangement::Collocated),
    (Element::Quadrilateral, 2, 6, Convection::Cubic, TimeScheme::Bdf2, Arrangement::Collocated),
    (Element::Tetrahedron, 3, 3, Convection::Central, TimeScheme::Bdf2, Arrangement::Collocated),
    (Element::Tetrahedron, 3, 3, Convection::Cubic, TimeScheme::Bdf2, Arrangement::Collocated),
    (Element::Hexahedron, 3, 4, Convection::Upwind, TimeScheme::Bdf2, Arrangement::Collocated),
    (Element::Quadrilateral, 2, 6, Convection::Central, TimeScheme::Ab2Cn, Arrangement::Staggered),
    (Element::Hexahedron, 3, 4, Convection::Upwind, TimeScheme::Bdf2, Arrangement::Staggered),
    (Element::Triangle, 2, 6, Convection::Central, TimeScheme::Bdf2, Arrangement::Staggered),
    (Element::Quadrilateral, 2, 6, Convection::Central, TimeScheme::Ab2Cn, Arrangement::Exact),
    (Element::Tetrahedron, 3, 3, Convection::Central, TimeScheme::Bdf2, Arrangement::Exact),
    (Element::Hexahedron, 3, 4, Convection::Central, TimeScheme::Bdf2, Arrangement::Exact),
    (Element::Triangle, 2, 6, Convection::LinearUpwind, TimeScheme::Rk3, Arrangement::Collocated),
    (Element::Hexahedron, 3, 4, Convection::Central, TimeScheme::Rk3, Arrangement::Collocated),
    (Element::Quadrilateral, 2, 6, Convection::Central, TimeScheme::Rk3, Arrangement::Staggered),
];

/// Unskewed and orthogonal meshes or not, for both variants of the kernels.
fn jitter(element: Element, scheme: TimeScheme, arrangement: Arrangement) -> f64 {
    let simplex = matches!(element, Element::Triangle | Element::Tetrahedron);
    let is_unskewed = match arrangement {
        Arrangement::Collocated => scheme == TimeScheme::Ab2Cn,
        _ => !simplex,
    };
    if is_unskewed { 0.0 } else { 0.15 }
}

/// Multigrid for 3D potentials.
fn preconditioner(arrangement: Arrangement, dimension: usize) -> PreconditionerKind {
    match (arrangement, dimension) {
        (Arrangement::Exact, 3) => {
            PreconditionerKind::Amg(AmgParams { coarse_rows: 8, ..AmgParams::default() })
        }
        _ => PreconditionerKind::Jacobi,
    }
}

/// The cases, with implicit convection and pseudo-time steps where they are available.
fn cases_and_treatments() -> impl Iterator<Item = (usize, ConvectionTreatment, bool)> {
    use ConvectionTreatment::{Explicit, Implicit};
    (0..CASES.len()).flat_map(|case| {
        let (.., scheme, arrangement) = CASES[case];
        let is_multistep = arrangement == Arrangement::Collocated && scheme != TimeScheme::Rk3;
        let own = [(Explicit, false), (Implicit, false), (Implicit, true)];
        let count = if is_multistep { 3 } else { 1 };
        own.into_iter().take(count).map(move |(treatment, is_steady)| (case, treatment, is_steady))
    })
}

#[test]
fn a_flow_is_the_same_on_every_backend() {
    for (case, convection_treatment, is_steady) in cases_and_treatments() {
        let (element, dimension, n, convection, scheme, arrangement) = CASES[case];
        let jitter = jitter(element, scheme, arrangement);
        let (mesh, geometry) = box_mesh(element, dimension, n, jitter);
        let numerics = numerics(convection, scheme);
        let mut numerics = Numerics { arrangement, convection_treatment, is_steady, ..numerics };
        numerics.nonorthogonal_correctors = usize::from(dimension == 2);
        numerics.pressure.relative_tolerance = 1e-13;
        numerics.momentum.relative_tolerance = 1e-13;
        numerics.momentum.preconditioner = preconditioner(arrangement, dimension);
        let run = |backend: &Backend| {
            let problem = everything(&mesh);
            let mut flow =
                IncompressibleSolver::<f64>::new(backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            let mut group = LoadedFaces::new(backend, boundary_faces(&mesh));
            let centre = [0.1, 0.2, 0.3];
            let mut moments = MomentFaces::new(backend, &geometry, &boundary_faces(&mesh), centre);
            let mut reports = vec![];
            for step in [0.02, 0.02, 0.03] {
                let report = flow.step(step).unwrap();
                reports.extend([report.kinetic_energy, report.courant, report.rate]);
                let residuals = report.residuals;
                assert_eq!(residuals.is_some(), is_steady);
                reports.extend(residuals.iter().flat_map(|r| [r.momentum, r.mass, r.energy]));
            }
            let load = flow.load(&mut group).unwrap();
            reports.extend([load.pressure_x, load.viscous_x, load.viscous_y, load.flow]);
            reports.extend(flow.moment(&group, &mut moments).unwrap());
            reports.extend(flow.pressure_on(&boundary_faces(&mesh)).unwrap());
            (fields(backend, &flow), reports)
        };
        let host = Backend::host(1).unwrap();
        let (want, want_reports) = host.install(|| run(&host));
        let size = want.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for backend in everywhere() {
            let (got, reports) = backend.install(|| run(&backend));
            for (got, want) in got.iter().zip(&want) {
                let error = (got - want).abs() / size;
                assert!(error < 1e-10, "{element:?} {backend:?}: {got} {want}");
            }
            for (got, want) in reports.iter().zip(&want_reports) {
                assert!((got - want).abs() < 1e-9 * (1.0 + want.abs()), "{backend:?} {got} {want}");
            }
        }
    }
}

fn boundary_faces(mesh: &Mesh) -> Vec<u32> {
    (mesh.n_interior_faces() as u32..mesh.n_faces() as u32).collect()
}

#[test]
fn a_restarted_flow_is_equal_bit_for_bit() {
    let multigrid = PreconditionerKind::Amg(AmgParams { coarse_rows: 8, ..AmgParams::default() });
    let own = cases_and_treatments()
        .filter(|(.., is_steady)| !is_steady)
        .map(|(k, treatment, _)| (CASES[k], treatment, preconditioner(CASES[k].5, CASES[k].1)));
    let explicit = ConvectionTreatment::Explicit;
    let by_multigrid = [0, 1, 3].map(|k| (CASES[k], explicit, multigrid));
    for (case, convection_treatment, preconditioner) in own.chain(by_multigrid) {
        let (element, dimension, n, convection, scheme, arrangement) = case;
        let jitter = jitter(element, scheme, arrangement);
        let (mesh, geometry) = box_mesh(element, dimension, n, jitter);
        let backend = Backend::host(1).unwrap();
        let numerics = numerics(convection, scheme);
        let mut numerics = Numerics { arrangement, convection_treatment, ..numerics };
        numerics.momentum.preconditioner = preconditioner;
        let new = || {
            let problem = everything(&mesh);
            IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                .unwrap()
        };
        let go = |flow: &mut IncompressibleSolver<f64>, steps: &[f64]| {
            steps.iter().for_each(|dt| drop(flow.step(*dt).unwrap()));
        };
        let steps = [0.02, 0.015, 0.01, 0.01, 0.02];
        let mut whole = new();
        go(&mut whole, &steps);
        let mut first = new();
        go(&mut first, &steps[..3]);
        let state = first.state().unwrap();
        let mut second = new();
        let read = |name: &str, len: usize| {
            let (_, values) = state.arrays.iter().find(|(known, _)| known == name).unwrap();
            assert_eq!(values.len(), len, "{name}");
            values.clone()
        };
        second.restore(read, state.clock).unwrap();
        go(&mut second, &steps[3..]);
        let bits = |flow: &IncompressibleSolver<f64>| -> Vec<u64> {
            fields(&backend, flow).into_iter().map(f64::to_bits).collect()
        };
        assert!(bits(&whole) == bits(&second), "{element:?} {arrangement:?}");
    }
}

/// A ring with rotating inner wall: its generator is an unknown.
#[test]
fn a_potential_with_a_generator_is_the_same_on_every_backend() {
    let ring = AnnulusParams { cells: vec![8, 64], ..AnnulusParams::default() };
    let mesh = Mesh::new(ring.generate().unwrap(), &MeshOptions::default()).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    let turning = |sign: f64, axis: usize| -> Arc<dyn Prescribed> {
        Arc::new(Function(move |p: [f64; 3], _| sign * p[axis]))
    };
    let condition = |name: &str| match name {
        "inner" => FlowCondition::Velocity([turning(-1.0, 1), turning(1.0, 0), Arc::new(0.0)]),
        _ => FlowCondition::Velocity(nothing()),
    };
    let mut numerics = Numerics {
        arrangement: Arrangement::Exact,
        ..numerics(Convection::Central, TimeScheme::Bdf2)
    };
    numerics.momentum.relative_tolerance = 1e-12;
    let run = |backend: &Backend| {
        let problem = Problem {
            viscosity: 0.1,
            source: nothing(),
            conditions: mesh.patches.iter().map(|patch| condition(&patch.name)).collect(),
            velocity: nothing(),
            pressure: Arc::new(0.0),
            thermal: None,
        };
        let mut flow =
            IncompressibleSolver::<f64>::new(backend, &mesh, &geometry, &problem, &numerics)
                .unwrap();
        for _ in 0..25 {
            let report = flow.step(0.1).unwrap();
            assert!(report.divergence < 1e-13, "{}", report.divergence);
        }
        (backend.read(flow.flux()).unwrap(), backend.read(flow.velocity(1)).unwrap())
    };
    let host = Backend::host(1).unwrap();
    let (want, v) = host.install(|| run(&host));
    // Couette: u = a r + b / r, 0 at 1 and ½ at ½; a = −1/3, b = 1/3.
    for (c, v) in v.iter().enumerate() {
        let [x, y, _] = geometry.cell_centre_of(c);
        let square = x * x + y * y;
        let exact = (-1.0 / 3.0 + 1.0 / (3.0 * square)) * x;
        assert!((v - exact).abs() < 0.02, "{v} {exact}");
    }
    for backend in everywhere() {
        let (got, _) = backend.install(|| run(&backend));
        for (got, want) in got.iter().zip(&want) {
            assert!((got - want).abs() < 1e-11, "{backend:?}: {got} {want}");
        }
    }
}
