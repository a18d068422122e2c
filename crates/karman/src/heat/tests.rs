//! Measured orders of accuracy, exactness and balance of heat conduction.

use super::*;
use crate::backend::Backend;
use crate::finite_volume::{Condition, Function, Functionals, Material, Prescribed};
use crate::linear::amg::AmgParams;
use crate::linear::{Params, PreconditionerKind};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::{Geometry, Mesh, MeshOptions};
use std::sync::Arc;

mod cube;
mod dirichlet;
mod reuse;
mod sphere;

fn box_mesh(element: Element, n: usize, jitter: f64) -> (Mesh, Geometry) {
    let dimension = match element {
        Element::Triangle | Element::Quadrilateral => 2,
        _ => 3,
    };
    let params = BoxParams {
        size: vec![1.0; dimension],
        cells: vec![n; dimension],
        element: Some(element),
        jitter,
        seed: 7,
        ..BoxParams::default()
    };
    let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

/// A manufactured T with all gradients nonzero; its source −∇²T below.
fn exact(p: [f64; 3], dimension: usize) -> f64 {
    let z = if dimension == 3 { (0.7 * p[2] - 0.2).cos() } else { 1.0 };
    (1.3 * p[0] + 0.4).sin() * (1.1 * p[1] + 0.3).cos() * z
}

fn source(p: [f64; 3], dimension: usize) -> f64 {
    let factor = 1.3 * 1.3 + 1.1 * 1.1 + if dimension == 3 { 0.49 } else { 0.0 };
    factor * exact(p, dimension)
}

fn gradient(p: [f64; 3], dimension: usize) -> [f64; 3] {
    let h = 1e-5;
    [0, 1, 2].map(|k| {
        let (mut a, mut b) = (p, p);
        a[k] += h;
        b[k] -= h;
        (exact(a, dimension) - exact(b, dimension)) / (2.0 * h)
    })
}

fn of_place(f: impl Fn([f64; 3]) -> f64 + Sync + Send + 'static) -> Arc<dyn Prescribed> {
    Arc::new(Function(move |p, _| f(p)))
}

/// Dirichlet, Neumann and Robin conditions, exact for the manufactured field.
fn conditions(mesh: &Mesh) -> Vec<Condition> {
    let d = mesh.dimension;
    mesh.patches
        .iter()
        .map(|patch| match patch.name.as_str() {
            "ymin" => Condition::Neumann(of_place(move |p| -gradient(p, d)[1])),
            "ymax" => Condition::Robin {
                coefficient: Arc::new(2.0),
                // k ∂T/∂y = h (T∞ − T)
                ambient: of_place(move |p| exact(p, d) + gradient(p, d)[1] / 2.0),
            },
            _ => Condition::Dirichlet(of_place(move |p| exact(p, d))),
        })
        .collect()
}

fn tight() -> Params {
    Params { relative_tolerance: 1e-11, max_iterations: 4000, ..Params::default() }
}

/// With few iterations on fine meshes.
fn with_multigrid() -> Params {
    Params { preconditioner: PreconditionerKind::Amg(AmgParams::default()), ..tight() }
}

/// The heat flow into the domain through each patch.
fn heat_through_patches(heat: &mut Heat<f64>, mesh: &Mesh, geometry: &Geometry) -> Vec<f64> {
    let of_patch = |patch: usize| -> f64 {
        let mut rows =
            Functionals::new(&heat.backend, &heat.scheme().heat_through(mesh, geometry, patch));
        let found = heat.evaluate(&mut rows).unwrap();
        heat.backend.read(found).unwrap().into_iter().sum()
    };
    (0..mesh.patches.len()).map(of_patch).collect()
}

/// L2 error of the steady manufactured problem.
fn steady_error(element: Element, n: usize, jitter: f64, discretization: Discretization) -> f64 {
    let (mesh, geometry) = box_mesh(element, n, jitter);
    let d = mesh.dimension;
    let backend = Backend::host(2).unwrap();
    let problem = Problem {
        discretization,
        material: Material::uniform(mesh.n_cells(), 1.0, 1.0),
        sources: vec![Source { value: of_place(move |p| source(p, d)), region: None }],
        conditions: conditions(&mesh),
        initial: Arc::new(0.0),
    };
    let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
    let outcome = heat.solve_steady(&with_multigrid()).unwrap();
    assert!(outcome.is_converged(), "{element:?} {n}: {outcome}");
    let temperature = backend.read(heat.temperature()).unwrap();
    let volumes = match discretization {
        Discretization::Cell { .. } => geometry.cell_volume.clone(),
        Discretization::Node => node_centred::node_volumes(&mesh),
    };
    let point = |i: usize| match discretization {
        Discretization::Cell { .. } => geometry.cell_centre_of(i),
        Discretization::Node => mesh.points[i],
    };
    let (mut square, mut total) = (0.0, 0.0);
    for (i, v) in volumes.iter().enumerate() {
        square += v * (temperature[i] - exact(point(i), d)).powi(2);
        total += v;
    }
    (square / total).sqrt()
}

fn orders(element: Element, sizes: [usize; 3], discretization: Discretization) -> [f64; 2] {
    let e = sizes.map(|n| steady_error(element, n, 0.2, discretization));
    let ratio = |a: usize, b: usize| (sizes[b] as f64 / sizes[a] as f64).ln();
    let orders = [(e[0] / e[1]).ln() / ratio(0, 1), (e[1] / e[2]).ln() / ratio(1, 2)];
    eprintln!("{element:?} {discretization:?}: errors {e:.3?} orders {orders:.3?}");
    orders
}

const ELEMENTS: [(Element, [usize; 3]); 7] = [
    (Element::Triangle, [12, 24, 48]),
    (Element::Quadrilateral, [12, 24, 48]),
    (Element::Tetrahedron, [5, 10, 20]),
    (Element::Hexahedron, [6, 12, 24]),
    (Element::Prism, [6, 12, 24]),
    (Element::Pyramid, [5, 10, 20]),
    (Element::Mixed, [6, 12, 24]),
];

#[test]
fn cell_centred_error_falls_with_the_square_of_the_spacing_on_jittered_meshes() {
    for (element, sizes) in ELEMENTS {
        let [_, order] = orders(element, sizes, Discretization::Cell { corrected: true });
        assert!((order - 2.0).abs() < 0.15, "{element:?}: order {order}");
    }
}

#[test]
fn node_centred_error_falls_with_the_square_of_the_spacing_on_jittered_meshes() {
    for (element, sizes) in ELEMENTS {
        let [_, order] = orders(element, sizes, Discretization::Node);
        assert!((order - 2.0).abs() < 0.15, "{element:?}: order {order}");
    }
}

#[test]
fn a_linear_field_is_exact_on_any_mesh_even_across_a_discontinuity_of_conductivity() {
    // k = 1 below x = ½ and 4 above; T is continuous with k ∂T/∂x = 2.
    let field = |p: [f64; 3]| {
        let x = if p[0] < 0.5 { 2.0 * p[0] } else { 1.0 + 0.5 * (p[0] - 0.5) };
        x + 0.7 * p[1] - 0.3 * p[2]
    };
    for element in [Element::Tetrahedron, Element::Triangle] {
        let dimension = if element == Element::Triangle { 2 } else { 3 };
        let (mesh, geometry) = box_mesh(element, 6, 0.0);
        let field =
            move |p: [f64; 3]| if dimension == 3 { field(p) } else { field([p[0], p[1], 0.0]) };
        let conductivity = (0..mesh.n_cells())
            .map(|c| if geometry.cell_centre_of(c)[0] < 0.5 { 1.0 } else { 4.0 })
            .collect();
        let volumetric_heat_capacity = vec![1.0; mesh.n_cells()];
        for discretization in [Discretization::Cell { corrected: true }, Discretization::Node] {
            let conditions = mesh.patches.iter().map(|_| Condition::Dirichlet(of_place(field)));
            let problem = Problem {
                discretization,
                material: Material {
                    conductivity: Clone::clone(&conductivity),
                    volumetric_heat_capacity: volumetric_heat_capacity.clone(),
                },
                sources: vec![],
                conditions: conditions.collect(),
                initial: Arc::new(0.0),
            };
            let backend = Backend::host(1).unwrap();
            let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
            let params = Params { relative_tolerance: 1e-14, ..tight() };
            heat.solve_steady(&params).unwrap();
            let temperature = backend.read(heat.temperature()).unwrap();
            for (i, t) in temperature.iter().enumerate() {
                let p = match discretization {
                    Discretization::Cell { .. } => geometry.cell_centre_of(i),
                    Discretization::Node => mesh.points[i],
                };
                assert!((t - field(p)).abs() < 1e-11, "{element:?} {discretization:?} {t} {p:?}");
            }
        }
    }
}

/// T at t = 1 of sin(…) with the time factor 1 + sin(3t)/2. Comparison with a run of a much smaller step
/// excludes the spatial error.
fn unsteady(scheme: TimeScheme, steps: usize, discretization: Discretization) -> Vec<f64> {
    let (mesh, geometry) = box_mesh(Element::Triangle, 8, 0.2);
    let in_time = |t: f64| 1.0 + 0.5 * (3.0 * t).sin();
    let space = |p: [f64; 3]| (1.3 * p[0] + 0.4).sin() * (1.1 * p[1]).cos();
    let value: Arc<dyn Prescribed> = Arc::new(Function(move |p, t| space(p) * in_time(t)));
    let heat_source: Arc<dyn Prescribed> = Arc::new(Function(move |p, t: f64| {
        space(p) * (1.5 * (3.0 * t).cos() + (1.3 * 1.3 + 1.1 * 1.1) * in_time(t))
    }));
    let problem = Problem {
        discretization,
        material: Material::uniform(mesh.n_cells(), 1.0, 1.0),
        sources: vec![Source { value: heat_source, region: None }],
        conditions: mesh.patches.iter().map(|_| Condition::Dirichlet(value.clone())).collect(),
        initial: value,
    };
    let backend = Backend::host(1).unwrap();
    let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
    let mut march = March::new(&heat, scheme, &tight());
    for _ in 0..steps {
        let (outcome, _) = march.step(&mut heat, 1.0 / steps as f64).unwrap();
        assert!(outcome.is_converged(), "{outcome}");
    }
    backend.read(heat.temperature()).unwrap()
}

#[test]
fn time_schemes_have_orders_one_two_two() {
    for discretization in [Discretization::Cell { corrected: true }, Discretization::Node] {
        let reference = unsteady(TimeScheme::CrankNicolson, 640, discretization);
        let error = |scheme, steps| {
            let t = unsteady(scheme, steps, discretization);
            t.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        for (scheme, expected) in [
            (TimeScheme::BackwardEuler, 1.0),
            (TimeScheme::CrankNicolson, 2.0),
            (TimeScheme::Bdf2, 2.0),
        ] {
            let errors = [20, 40, 80].map(|steps| error(scheme, steps));
            let order = (errors[1] / errors[2]).log2();
            eprintln!("{scheme:?} {discretization:?}: {errors:.3?}, order {order:.3}");
            assert!((order - expected).abs() < 0.15, "{scheme:?}: order {order}");
        }
    }
}

/// A discontinuity between the initial temperature and the patches, at a cell Fourier number above 1.
#[test]
fn an_initial_discontinuity_does_not_oscillate_with_crank_nicolson() {
    for discretization in [Discretization::Cell { corrected: true }, Discretization::Node] {
        let (mesh, geometry) = box_mesh(Element::Quadrilateral, 20, 0.0);
        let constant =
            |value: f64| -> Arc<dyn Prescribed> { Arc::new(Function(move |_, _| value)) };
        let condition = |_: &_| Condition::Dirichlet(constant(400.0));
        let problem = Problem {
            discretization,
            material: Material::uniform(mesh.n_cells(), 1.0, 1.0),
            sources: vec![],
            conditions: mesh.patches.iter().map(condition).collect(),
            initial: constant(300.0),
        };
        let backend = Backend::host(1).unwrap();
        let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
        let mut march = March::new(&heat, TimeScheme::CrankNicolson, &tight());
        let mut previous = 0.0;
        for step in 0..6 {
            march.step(&mut heat, 7.0 / 400.0).unwrap();
            let temperature = backend.read(heat.temperature()).unwrap();
            let least = temperature.iter().copied().fold(f64::MAX, f64::min);
            let most = temperature.iter().copied().fold(f64::MIN, f64::max);
            assert!(most < 400.5, "{discretization:?}, step {step}: {most}");
            assert!(least > previous - 0.5, "{discretization:?}, step {step}: {least}, {previous}");
            previous = least;
        }
    }
}
