//! Forces that keep the mean velocity of periodic flows.

use super::*;
use crate::backend::testing::everywhere;
use crate::mesh::generate::BoxWithObstacleParams;
use crate::mesh::testing::gmsh;
use crate::mesh::{Elements, RawMesh};
use crate::real::Real;

/// A mesh with connected periodic patches.
fn periodic(raw: RawMesh, pairs: &[[&str; 2]]) -> (Mesh, Geometry) {
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let mesh = mesh.connect_periodic(pairs).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

/// A channel of length 1 or 2 and height 1, periodic along x.
fn channel(element: Element, dimension: usize, n: usize, jitter: f64) -> (Mesh, Geometry) {
    let mut size = vec![1.0, 1.0, 0.5];
    size.truncate(dimension);
    let mut cells = vec![4.min(n), n, 2];
    cells.truncate(dimension);
    let params = BoxParams { size, cells, element: Some(element), jitter, ..BoxParams::default() };
    let pairs = [["xmin", "xmax"], ["zmin", "zmax"]];
    periodic(params.generate().unwrap(), &pairs[..dimension - 1])
}

/// Walls on all patches, from rest.
fn between_walls(mesh: &Mesh, viscosity: f64) -> Problem {
    from_rest(mesh, viscosity, |_| FlowCondition::Velocity(nothing()))
}

/// Σ V u / Σ V.
fn mean<F: Real>(
    backend: &Backend,
    flow: &IncompressibleSolver<F>,
    geometry: &Geometry,
) -> [f64; 3] {
    let volume = &geometry.cell_volume;
    let total: f64 = volume.iter().sum();
    let mut mean = [0.0; 3];
    for (k, mean) in mean.iter_mut().enumerate().take(flow.dimension()) {
        let u = backend.read(flow.velocity(k)).unwrap();
        *mean = u.iter().zip(volume).map(|(u, v)| Into::<f64>::into(*u) * v / total).sum();
    }
    mean
}

fn keep<F: Real>(
    flow: &mut IncompressibleSolver<F>,
    place: (&Mesh, &Geometry),
    target: [f64; 3],
) -> Result<(), IncompressibleError> {
    flow.prescribe_mean_velocity(place, target)?;
    flow.keep_mean_velocity()
}

/// The force at the end of `steps` steps; each level has the mean velocity, of its size up to `tolerance`.
fn force_of<F: Real>(
    what: &str,
    (mesh, geometry): (&Mesh, &Geometry),
    problem: &Problem,
    numerics: &Numerics,
    (target, tolerance): ([f64; 3], f64),
    (steps, step): (usize, f64),
) -> [f64; 3] {
    let backend = Backend::host(2).unwrap();
    backend.install(|| {
        let mut flow =
            IncompressibleSolver::<F>::new(&backend, mesh, geometry, problem, numerics).unwrap();
        keep(&mut flow, (mesh, geometry), target).unwrap();
        for k in 0..=steps {
            let found = mean(&backend, &flow, geometry);
            // No force acts across the channel.
            let controlled = found.into_iter().zip(target).filter(|(_, want)| *want != 0.0);
            for (found, want) in controlled {
                assert!((found - want).abs() < tolerance, "{what}, step {k}: {found} for {want}");
            }
            let report = flow.step(step).unwrap();
            assert_eq!(report.non_finite, 0, "{what}");
            assert!(report.divergence < 1e7 * tolerance, "{what}: {}", report.divergence);
        }
        flow.mean_force().unwrap().unwrap()
    })
}

/// Plane Poiseuille flow of mean velocity U between walls a distance 2h apart: f = 3 ν U / h². Errors of the force are of second
/// order in the spacing.
#[test]
fn the_force_of_a_plane_channel_converges_to_its_exact_value() {
    for (element, jitter, arrangement, scheme) in [
        (Element::Quadrilateral, 0.0, Arrangement::Collocated, TimeScheme::Bdf2),
        (Element::Quadrilateral, 0.0, Arrangement::Collocated, TimeScheme::Rk3),
        (Element::Triangle, 0.1, Arrangement::Collocated, TimeScheme::Ab2Cn),
        (Element::Quadrilateral, 0.0, Arrangement::Staggered, TimeScheme::Bdf2),
        (Element::Quadrilateral, 0.0, Arrangement::Staggered, TimeScheme::Ab2Cn),
        (Element::Quadrilateral, 0.0, Arrangement::Staggered, TimeScheme::Rk3),
        (Element::Quadrilateral, 0.0, Arrangement::Exact, TimeScheme::Bdf2),
    ] {
        let (viscosity, speed) = (0.1, 0.7);
        let exact = 3.0 * viscosity * speed / 0.25;
        let numerics = Numerics { arrangement, ..numerics(Convection::Central, scheme) };
        let errors = [8, 16].map(|n| {
            let (mesh, geometry) = channel(element, 2, n, jitter);
            let problem = between_walls(&mesh, viscosity);
            let what = format!("{element:?} {arrangement:?} {scheme:?} {n}");
            let step = if scheme == TimeScheme::Rk3 { 0.01 } else { 0.05 };
            let aim = ([speed, 0.0, 0.0], 1e-13);
            let steps = ((4.0 / step) as usize, step);
            let [f, g, _] =
                force_of::<f64>(&what, (&mesh, &geometry), &problem, &numerics, aim, steps);
            assert!(g.abs() < 1e-10, "{what}: {g}");
            (f - exact).abs() / exact
        });
        let order = (errors[0] / errors[1]).log2();
        eprintln!("{element:?} {arrangement:?} {scheme:?}: {errors:?}, order {order:.2}");
        assert!(
            errors[1] < 0.01 && order > 1.7,
            "{element:?} {arrangement:?} {scheme:?}: {errors:?}"
        );
    }
}

#[test]
fn the_force_on_meshes_of_gmsh_is_that_of_poiseuille_flow() {
    let x = ["xmin", "xmax"];
    for (name, pairs, arrangement, tolerance) in [
        ("channel", vec![x], Arrangement::Collocated, 0.02),
        ("channel", vec![x], Arrangement::Staggered, 0.03),
        ("channel", vec![x], Arrangement::Exact, 0.03),
        ("channel_tetrahedra", vec![x, ["zmin", "zmax"]], Arrangement::Collocated, 0.1),
    ] {
        let (mesh, geometry) = periodic(gmsh(name), &pairs);
        let problem = between_walls(&mesh, 0.1);
        let numerics =
            Numerics { arrangement, ..numerics(Convection::LinearUpwind, TimeScheme::Bdf2) };
        let what = format!("{name} {arrangement:?}");
        let aim = ([1.0, 0.0, 0.0], 1e-12);
        let place = (&mesh, &geometry);
        let [f, ..] = force_of::<f64>(&what, place, &problem, &numerics, aim, (100, 0.04));
        eprintln!("{what}: {f}, exact 1.2");
        assert!((f - 1.2).abs() < tolerance * 1.2, "{what}: {f}");
        if arrangement == Arrangement::Collocated {
            let mut numerics = numerics;
            numerics.pressure.relative_tolerance = 1e-5;
            numerics.momentum.relative_tolerance = 1e-5;
            let aim = ([1.0, 0.0, 0.0], 1e-6);
            let [single, ..] = force_of::<f32>(&what, place, &problem, &numerics, aim, (100, 0.04));
            assert!((single - f).abs() < 2e-3 * f, "{what}: {single} {f}");
        }
    }
}

/// Two controlled directions, and steady flow by pseudo-time steps.
#[test]
fn a_slanted_mean_velocity_is_kept_in_steady_flow() {
    let (mesh, geometry) = channel(Element::Hexahedron, 3, 16, 0.0);
    let numerics = steady(Convection::LinearUpwind);
    let problem = between_walls(&mesh, 0.1);
    let backend = Backend::host(2).unwrap();
    let mut flow =
        IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics).unwrap();
    keep(&mut flow, (&mesh, &geometry), [1.0, 0.0, -0.5]).unwrap();
    let mut iterations = 0;
    loop {
        let step = flow.pseudo_time_step(5.0);
        let residual = flow.step(step).unwrap().residuals.unwrap().largest();
        iterations += 1;
        assert!(iterations < 300, "{residual}");
        if residual < 1e-8 {
            break;
        }
    }
    let [u, v, w] = mean(&backend, &flow, &geometry);
    assert!((u - 1.0).abs() < 1e-13 && v.abs() < 1e-13 && (w + 0.5).abs() < 1e-13, "{u} {v} {w}");
    let [f, g, h] = flow.mean_force().unwrap().unwrap();
    eprintln!("{iterations} iterations: {f} {g} {h}, exact 1.2 0 -0.6");
    assert!((f - 1.2).abs() < 0.012 && g == 0.0 && (h + 0.6).abs() < 0.006, "{f} {g} {h}");
}

/// Periodic rows of square cylinders: the response to the force is not uniform. In the steady state the force on the fluid
/// balances that on cylinder and walls, and the flow rate is that of the mean velocity.
#[test]
fn the_force_past_obstacles_balances_their_drag() {
    for (element, arrangement) in [
        (Element::Quadrilateral, Arrangement::Collocated),
        (Element::Triangle, Arrangement::Collocated),
        (Element::Quadrilateral, Arrangement::Staggered),
        (Element::Quadrilateral, Arrangement::Exact),
    ] {
        let params = BoxWithObstacleParams {
            outer: BoxParams {
                size: vec![2.0, 1.0],
                cells: vec![32, 16],
                element: Some(element),
                ..BoxParams::default()
            },
            obstacle_min: [0.75, 0.375],
            obstacle_max: [1.25, 0.625],
        };
        let (mesh, geometry) = periodic(params.generate().unwrap(), &[["xmin", "xmax"]]);
        let problem = between_walls(&mesh, 0.1);
        let numerics =
            Numerics { arrangement, ..numerics(Convection::LinearUpwind, TimeScheme::Bdf2) };
        let backend = Backend::host(2).unwrap();
        let what = format!("{element:?} {arrangement:?}");
        backend.install(|| {
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            keep(&mut flow, (&mesh, &geometry), [0.5, 0.0, 0.0]).unwrap();
            for _ in 0..300 {
                let report = flow.step(0.02).unwrap();
                assert!(report.divergence < 1e-8, "{what}: {}", report.divergence);
                let [u, ..] = mean(&backend, &flow, &geometry);
                assert!((u - 0.5).abs() < 1e-13, "{what}: {u}");
            }
            let all = (mesh.n_interior_faces() as u32..mesh.n_faces() as u32).collect();
            let mut group = LoadedFaces::new(&backend, all);
            let load = flow.load(&mut group).unwrap();
            let drag = load.pressure_x + load.viscous_x;
            let [f, ..] = flow.mean_force().unwrap().unwrap();
            let volume: f64 = geometry.cell_volume.iter().sum();
            eprintln!("{what}: {} of drag {drag}", f * volume);
            // Friction at the corners of a cylinder is a reconstruction where fluxes are the unknowns.
            let tolerance = if arrangement == Arrangement::Collocated { 1e-9 } else { 0.03 };
            let error = (f * volume - drag).abs();
            assert!(error < tolerance * drag, "{what}: {} {drag}", f * volume);
        });
    }
}

/// As before, by pseudo-time steps, whose local lengths differ once the flow is known: the response to the force
/// changes with them.
#[test]
fn the_force_of_a_steady_flow_past_obstacles_balances_their_drag() {
    for element in [Element::Quadrilateral, Element::Triangle] {
        let params = BoxWithObstacleParams {
            outer: BoxParams {
                size: vec![2.0, 1.0],
                cells: vec![32, 16],
                element: Some(element),
                ..BoxParams::default()
            },
            obstacle_min: [0.75, 0.375],
            obstacle_max: [1.25, 0.625],
        };
        let (mesh, geometry) = periodic(params.generate().unwrap(), &[["xmin", "xmax"]]);
        let problem = between_walls(&mesh, 0.02);
        let numerics = steady(Convection::LinearUpwind);
        let backend = Backend::host(2).unwrap();
        backend.install(|| {
            let mut flow =
                IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            keep(&mut flow, (&mesh, &geometry), [0.5, 0.0, 0.0]).unwrap();
            let mut iterations = 0;
            loop {
                let step = flow.pseudo_time_step(10.0);
                let residual = flow.step(step).unwrap().residuals.unwrap().largest();
                iterations += 1;
                assert!(iterations < 150, "{element:?}: {residual}");
                let [u, ..] = mean(&backend, &flow, &geometry);
                assert!((u - 0.5).abs() < 1e-12, "{element:?}: {u}");
                if residual < 1e-9 {
                    break;
                }
            }
            let all = (mesh.n_interior_faces() as u32..mesh.n_faces() as u32).collect();
            let mut group = LoadedFaces::new(&backend, all);
            let load = flow.load(&mut group).unwrap();
            let drag = load.pressure_x + load.viscous_x;
            let [f, ..] = flow.mean_force().unwrap().unwrap();
            let volume: f64 = geometry.cell_volume.iter().sum();
            eprintln!("{element:?}, {iterations} iterations: {} of drag {drag}", f * volume);
            assert!((f * volume - drag).abs() < 1e-7 * drag, "{element:?}: {} {drag}", f * volume);
        });
    }
}

#[test]
fn a_mean_velocity_is_the_same_on_every_backend_and_after_a_restart() {
    for (element, jitter, scheme, arrangement) in [
        (Element::Triangle, 0.15, TimeScheme::Bdf2, Arrangement::Collocated),
        (Element::Quadrilateral, 0.1, TimeScheme::Ab2Cn, Arrangement::Collocated),
        (Element::Triangle, 0.15, TimeScheme::Rk3, Arrangement::Collocated),
        (Element::Hexahedron, 0.0, TimeScheme::Bdf2, Arrangement::Staggered),
        (Element::Quadrilateral, 0.0, TimeScheme::Ab2Cn, Arrangement::Exact),
    ] {
        let dimension = if element == Element::Hexahedron { 3 } else { 2 };
        let (mesh, geometry) = channel(element, dimension, 6, jitter);
        let mut numerics = Numerics { arrangement, ..numerics(Convection::Central, scheme) };
        numerics.pressure.relative_tolerance = 1e-13;
        numerics.momentum.relative_tolerance = 1e-13;
        let new = |backend: &Backend| {
            let mut problem = between_walls(&mesh, 0.05);
            problem.velocity[0] = Arc::new(Function(|p: [f64; 3], _| (7.0 * p[1]).sin()));
            let mut flow =
                IncompressibleSolver::<f64>::new(backend, &mesh, &geometry, &problem, &numerics)
                    .unwrap();
            keep(&mut flow, (&mesh, &geometry), [0.4, 0.0, 0.0]).unwrap();
            flow
        };
        let results = |backend: &Backend, flow: &IncompressibleSolver<f64>| -> Vec<f64> {
            let all = [flow.velocity(0), flow.velocity(1), flow.pressure(), flow.flux()];
            let fields = all.into_iter().flat_map(|buffer| backend.read(buffer).unwrap());
            fields.chain(flow.mean_force().unwrap().unwrap()).collect()
        };
        let steps = [0.02, 0.015, 0.01, 0.02];
        let run = |backend: &Backend| {
            let mut flow = new(backend);
            steps.iter().for_each(|step| drop(flow.step(*step).unwrap()));
            results(backend, &flow)
        };
        let host = Backend::host(1).unwrap();
        let want = host.install(|| run(&host));
        for backend in everywhere() {
            for (got, want) in backend.install(|| run(&backend)).iter().zip(&want) {
                let error = (got - want).abs();
                assert!(
                    error < 1e-9,
                    "{element:?} {scheme:?} {arrangement:?} {backend:?}: {error}"
                );
            }
        }
        let mut first = new(&host);
        steps[..2].iter().for_each(|step| drop(first.step(*step).unwrap()));
        let (state, force) = (first.state().unwrap(), first.mean_force().unwrap().unwrap());
        let mut second = new(&host);
        let read = |name: &str, _: usize| {
            state.arrays.iter().find(|(known, _)| known == name).unwrap().1.clone()
        };
        second.restore(read, state.clock).unwrap();
        second.set_mean_force(force);
        steps[2..].iter().for_each(|step| drop(second.step(*step).unwrap()));
        let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert!(bits(results(&host, &second)) == bits(want), "{element:?} {arrangement:?}");
    }
}

/// Shears x by z, so that the periodic patches of z are displaced along x too.
fn sheared(raw: RawMesh) -> RawMesh {
    let points = raw.points.iter().map(|[x, y, z]| [x + 0.5 * z, *y, *z]).collect();
    RawMesh { points, ..raw }
}

#[test]
fn a_mean_velocity_across_the_periodic_patches_is_refused() {
    let start = |raw: RawMesh, pairs: &[[&str; 2]], target: [f64; 3]| -> Result<(), String> {
        let (mesh, geometry) = periodic(raw, pairs);
        let numerics = numerics(Convection::Central, TimeScheme::Bdf2);
        let problem = between_walls(&mesh, 0.1);
        let backend = Backend::host(1).unwrap();
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics)
                .unwrap();
        let kept = keep(&mut flow, (&mesh, &geometry), target);
        kept.map_err(|error| error.to_string())
    };
    let box_of = || gmsh("channel_tetrahedra");
    let (x, z) = (["xmin", "xmax"], ["zmin", "zmax"]);
    assert_eq!(start(box_of(), &[x, z], [0.3, 0.0, -0.2]), Ok(()));
    assert_eq!(
        start(box_of(), &[x], [0.3, 0.1, 0.0]).unwrap_err(),
        "`mean_velocity` (0.3, 0.1, 0) has a component across the periodic patches, which lie along (1, 0, 0): no \
         uniform force keeps it; set that component to 0"
    );
    assert_eq!(
        start(box_of(), &[], [0.3, 0.0, 0.0]).unwrap_err(),
        "`mean_velocity` needs periodic patches, through which the flow returns"
    );
    // The mean velocity is parallel to the one translation.
    assert_eq!(start(sheared(box_of()), &[z], [0.1, 0.0, 0.2]), Ok(()));
    assert!(
        start(sheared(box_of()), &[z], [0.0, 0.0, 0.2]).unwrap_err().contains("(0.447, 0, 0.894)")
    );
}

/// Two boxes side by side without common nodes, walls between them: a wall from floor to ceiling.
fn cut_in_two() -> RawMesh {
    let [mut left, right] = [0.0, 1.0].map(|start| {
        let params = BoxParams {
            origin: vec![start, 0.0],
            size: vec![1.0, 1.0],
            cells: vec![4, 4],
            element: Some(Element::Quadrilateral),
            ..BoxParams::default()
        };
        params.generate().unwrap()
    });
    let group = |name: &str| left.patches.iter().position(|patch| patch == name).unwrap() as u32;
    let [xmin, xmax, wall] = ["xmin", "xmax", "ymin"].map(group);
    let close = |elements: &Elements, end: u32| -> Vec<u32> {
        elements.groups.iter().map(|g| if *g == end { wall } else { *g }).collect()
    };
    left.boundary.groups = close(&left.boundary, xmax);
    let (nodes, closed) = (left.points.len() as u32, close(&right.boundary, xmin));
    left.points.extend(right.points);
    let append = |own: &mut Elements, other: Elements, groups: Vec<u32>| {
        let last = own.nodes.len();
        own.shapes.extend(other.shapes);
        own.offsets.extend(other.offsets[1..].iter().map(|o| o + last as u32));
        own.nodes.extend(other.nodes.into_iter().map(|node| node + nodes));
        own.groups.extend(groups);
    };
    let groups = right.cells.groups.clone();
    append(&mut left.cells, right.cells, groups);
    append(&mut left.boundary, right.boundary, closed);
    left
}

#[test]
fn a_mean_velocity_through_a_wall_is_refused() {
    let (mesh, geometry) = periodic(cut_in_two(), &[["xmin", "xmax"]]);
    let backend = Backend::host(1).unwrap();
    let numerics = numerics(Convection::Central, TimeScheme::Bdf2);
    let problem = between_walls(&mesh, 0.1);
    let mut flow =
        IncompressibleSolver::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics).unwrap();
    let said = keep(&mut flow, (&mesh, &geometry), [1.0, 0.0, 0.0]).unwrap_err();
    assert_eq!(
        said.to_string(),
        "`mean_velocity` cannot be kept: walls close the way between the periodic patches, which lie along (1, 0, 0)"
    );
}
