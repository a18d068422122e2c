//! The heat flow through Dirichlet patches of the node-centred scheme: balance, exactness, order.

use super::*;
use crate::backend::testing::everywhere;
use crate::heat::node_centred::node_volumes;

/// A wave that travels through the box, with Neumann and Robin conditions that it does not satisfy.
fn moving_problem(mesh: &Mesh, is_dirichlet_steady: bool) -> Problem {
    let wave = |p: [f64; 3], t: f64| (1.3 * p[0] + 0.4 - t).sin() * (1.1 * p[1] - 0.8 * p[2]).cos();
    let prescribed: Arc<dyn Prescribed> = if is_dirichlet_steady {
        of_place(move |p| wave(p, 0.0))
    } else {
        Arc::new(Function(wave))
    };
    let condition = |patch: &crate::mesh::Patch| match patch.name.as_str() {
        "ymin" => Condition::Neumann(Arc::new(Function(|p: [f64; 3], t: f64| p[0] + 3.0 * t))),
        "ymax" => Condition::Robin {
            coefficient: of_place(|p| 1.0 + p[0]),
            ambient: Arc::new(Function(|p: [f64; 3], t: f64| 2.0 - p[0] * t)),
        },
        "zmin" => Condition::ZeroGradient,
        _ => Condition::Dirichlet(prescribed.clone()),
    };
    Problem {
        discretization: Discretization::Node,
        material: Material::uniform(mesh.n_cells(), 1.7, 2.3),
        sources: vec![
            Source { value: Arc::new(Function(heat_source)), region: None },
            Source { value: of_place(|p| p[1]), region: None },
        ],
        conditions: mesh.patches.iter().map(condition).collect(),
        initial: of_place(move |p| wave(p, 0.0)),
    }
}

fn heat_source(p: [f64; 3], t: f64) -> f64 {
    (1.0 + p[0] * p[1]) * (2.0 * t).cos()
}

/// The sum of the heat flows through patches and from sources at a time, and the largest of them.
fn heat_inflow(heat: &mut Heat<f64>, mesh: &Mesh, geometry: &Geometry, t: f64) -> (f64, f64) {
    let mut parts = heat_through_patches(heat, mesh, geometry);
    let volumes = node_volumes(mesh);
    let nodes = mesh.points.iter().zip(&volumes);
    parts.push(nodes.map(|(p, v)| v * (heat_source(*p, t) + p[1])).sum());
    (parts.iter().sum(), parts.iter().fold(0.0, |most, q| most.max(q.abs())))
}

#[test]
fn all_heat_balances_in_a_steady_state_on_every_element() {
    for (element, [n, _, _]) in ELEMENTS {
        let (mesh, geometry) = box_mesh(element, n, 0.2);
        let backend = Backend::host(2).unwrap();
        let problem = moving_problem(&mesh, false);
        let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
        assert!(heat.solve_steady(&tight()).unwrap().is_converged());
        let (sum, largest) = heat_inflow(&mut heat, &mesh, &geometry, 0.0);
        assert!(sum.abs() < 1e-9 * largest, "{element:?}: {sum:e} of {largest}");
    }
}

#[test]
fn the_heat_inflow_of_a_step_is_stored_on_every_backend() {
    for (element, backend) in [Element::Triangle, Element::Mixed]
        .into_iter()
        .flat_map(|e| everywhere().into_iter().map(move |b| (e, b)))
    {
        let (mesh, geometry) = box_mesh(element, 4, 0.2);
        let volumes = node_volumes(&mesh);
        for scheme in [TimeScheme::BackwardEuler, TimeScheme::Bdf2, TimeScheme::CrankNicolson] {
            let is_midpoint = scheme == TimeScheme::CrankNicolson;
            let problem = moving_problem(&mesh, is_midpoint);
            let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
            let mut march = March::new(&heat, scheme, &tight());
            let mut history = vec![backend.read(heat.temperature()).unwrap()];
            let (mut previous, _) = heat_inflow(&mut heat, &mesh, &geometry, 0.0);
            let steps =
                if scheme == TimeScheme::Bdf2 { vec![0.1, 0.15, 0.08] } else { vec![0.1; 5] };
            for (k, step) in steps.iter().copied().enumerate() {
                assert!(march.step(&mut heat, step).unwrap().0.is_converged());
                heat.set_time(march.time).unwrap();
                history.push(backend.read(heat.temperature()).unwrap());
                let bdf = match (scheme, k) {
                    (TimeScheme::Bdf2, 1..) => crate::time::Bdf::second(step, steps[k - 1]),
                    _ => crate::time::Bdf::first(step),
                };
                let change = |k: usize, i: usize| history[k + 1][i] - history[k][i];
                let rate = |i: usize| {
                    let history = if k > 0 { bdf.history * change(k - 1, i) } else { 0.0 };
                    bdf.shift * change(k, i) - history
                };
                let stored: f64 = volumes.iter().enumerate().map(|(i, v)| 2.3 * v * rate(i)).sum();
                let (current, largest) = heat_inflow(&mut heat, &mesh, &geometry, march.time);
                // Crank–Nicolson stores the mean of the inflows at both ends of a step, after its first
                // steps of two halves each.
                let expected = if is_midpoint { 0.5 * (previous + current) } else { current };
                let error = (stored - expected).abs() / largest;
                assert!(
                    error < 1e-9 || is_midpoint && k < 2,
                    "{element:?} {scheme:?} {backend:?}, step {k}: {error:e}"
                );
                previous = current;
            }
        }
    }
}

#[test]
fn the_heat_flow_of_a_linear_field_through_each_patch_is_exact() {
    let gradient = [2.0, -1.0, 0.5];
    let k = 1.7;
    for (element, [n, _, _]) in ELEMENTS {
        let (mesh, geometry) = box_mesh(element, n, 0.2);
        let d = mesh.dimension;
        let field = move |p: [f64; 3]| (0..d).map(|k| gradient[k] * p[k]).sum::<f64>();
        let dirichlet = || Condition::Dirichlet(of_place(field));
        for are_all_dirichlet in [true, false] {
            let condition = |patch: &crate::mesh::Patch| match patch.name.as_str() {
                "ymin" if !are_all_dirichlet => Condition::Neumann(Arc::new(-k * gradient[1])),
                "ymax" if !are_all_dirichlet => Condition::Robin {
                    coefficient: Arc::new(2.0),
                    ambient: of_place(move |p| field(p) + k * gradient[1] / 2.0),
                },
                _ => dirichlet(),
            };
            let problem = Problem {
                discretization: Discretization::Node,
                material: Material::uniform(mesh.n_cells(), k, 1.0),
                sources: vec![],
                conditions: mesh.patches.iter().map(condition).collect(),
                initial: Arc::new(0.0),
            };
            let backend = Backend::host(2).unwrap();
            let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
            heat.solve_steady(&Params { relative_tolerance: 1e-13, ..tight() }).unwrap();
            let found = heat_through_patches(&mut heat, &mesh, &geometry);
            for (patch, found) in mesh.patches.iter().zip(found) {
                let direction = ["x", "y", "z"].iter().position(|x| patch.name.starts_with(x));
                let sign = if patch.name.ends_with("min") { -1.0 } else { 1.0 };
                let expected = sign * k * gradient[direction.unwrap()];
                let error = (found - expected).abs();
                assert!(error < 1e-10, "{element:?} {}: {found}, not {expected}", patch.name);
            }
        }
    }
}

/// The heat flow of [`exact`] through the Dirichlet patches of [`conditions`].
fn exact_heat(name: &str, dimension: usize) -> Option<f64> {
    let x = |x: f64| 1.3 * x + 0.4;
    let z = |z: f64| 0.7 * z - 0.2;
    let over_x = (x(0.0).cos() - x(1.0).cos()) / 1.3;
    let over_y = (1.4f64.sin() - 0.3f64.sin()) / 1.1;
    let over_z = if dimension == 3 { (z(1.0).sin() - z(0.0).sin()) / 0.7 } else { 1.0 };
    match name {
        "xmin" => Some(-1.3 * x(0.0).cos() * over_y * over_z),
        "xmax" => Some(1.3 * x(1.0).cos() * over_y * over_z),
        "zmin" => Some(0.7 * z(0.0).sin() * over_x * over_y),
        "zmax" => Some(-0.7 * z(1.0).sin() * over_x * over_y),
        _ => None,
    }
}

#[test]
fn the_heat_flow_through_dirichlet_patches_has_second_order() {
    for (element, sizes) in ELEMENTS {
        let errors = sizes.map(|n| {
            let (mesh, geometry) = box_mesh(element, n, 0.2);
            let d = mesh.dimension;
            let problem = Problem {
                discretization: Discretization::Node,
                material: Material::uniform(mesh.n_cells(), 1.0, 1.0),
                sources: vec![Source { value: of_place(move |p| source(p, d)), region: None }],
                conditions: conditions(&mesh),
                initial: Arc::new(0.0),
            };
            let backend = Backend::host(2).unwrap();
            let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
            assert!(heat.solve_steady(&tight()).unwrap().is_converged());
            let found = heat_through_patches(&mut heat, &mesh, &geometry);
            let error = |(patch, found): (&crate::mesh::Patch, f64)| {
                exact_heat(&patch.name, d).map_or(0.0, |exact| (found - exact).abs())
            };
            mesh.patches.iter().zip(found).map(error).fold(0.0, f64::max)
        });
        let order = |a: usize, b: usize| {
            (errors[a] / errors[b]).ln() / (sizes[b] as f64 / sizes[a] as f64).ln()
        };
        eprintln!("{element:?}: {errors:.3?}, orders {:.3?}", [order(0, 1), order(1, 2)]);
        assert!(order(0, 2) > 1.8, "{element:?}: {errors:?}");
    }
}
