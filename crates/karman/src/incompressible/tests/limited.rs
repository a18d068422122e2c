//! Limited convection: bounds of a convected step, order of a smooth profile, and steady states.

use super::real_meshes::constant;
use super::*;
use crate::backend::View;
use crate::backend::testing::{everywhere, values};
use crate::finite_volume::limiter::{BoundedCells, limit_gradients};
use crate::finite_volume::mesh_view::GradientStencilView;
use crate::finite_volume::{
    CellFaces, CellField, Condition, FaceView, Faces, Vectors, VelocityField, narrow_slice,
};
use crate::mesh::geometry::{dot, subtract};
use crate::mesh::index_of;
use crate::mesh::testing::{built, gmsh};
use crate::real::Real;

/// A velocity oblique to the sides of the unit square and cube.
const VELOCITY: [f64; 3] = [1.0, 0.6, 0.3];

/// A coordinate that is constant along it.
fn across(p: [f64; 3]) -> f64 {
    p[1] - 0.6 * p[0] - 0.2
}

fn step(p: [f64; 3]) -> f64 {
    if across(p) > 0.0 { 1.0 } else { 0.0 }
}

fn smooth(p: [f64; 3]) -> f64 {
    0.5 + 0.5 * (across(p) / 0.25).tanh()
}

type Profile = fn([f64; 3]) -> f64;

/// A temperature without diffusion in the uniform velocity: prescribed where fluid enters.
fn transport(mesh: &Mesh, profile: Profile, initial: Profile) -> Problem {
    let uniform = || -> PrescribedVector {
        let [x, y, z] = VELOCITY;
        [constant(x), constant(y), constant(if mesh.dimension == 3 { z } else { 0.0 })]
    };
    let given = |of: Profile| Arc::new(Function(move |p, _| of(p)));
    let temperature = |name: &str| match name.ends_with("min") {
        true => Condition::Dirichlet(given(profile)),
        false => Condition::ZeroGradient,
    };
    Problem {
        viscosity: 0.01,
        source: nothing(),
        conditions: mesh.patches.iter().map(|_| FlowCondition::Velocity(uniform())).collect(),
        velocity: uniform(),
        pressure: constant(0.0),
        thermal: Some(ThermalProblem {
            diffusivity: 1e-12,
            expansion: 0.0,
            gravity: [0.0; 3],
            reference: 0.0,
            source: constant(0.0),
            conditions: mesh.patches.iter().map(|patch| temperature(&patch.name)).collect(),
            initial: given(initial),
        }),
    }
}

/// The least value, and the largest less 1.
fn overshoot(values: &[f64]) -> [f64; 2] {
    let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
    let largest = |sign: f64| values.iter().map(|v| sign * v).fold(f64::NEG_INFINITY, larger);
    [-largest(-1.0), largest(1.0) - 1.0]
}

/// The steady temperature, and the number of iterations to a residual.
fn steady_temperature(
    (mesh, geometry): &(Mesh, Geometry),
    (profile, tolerance): (Profile, f64),
    convection: Convection,
) -> (Vec<f64>, usize) {
    let mut numerics = Numerics {
        convection_treatment: ConvectionTreatment::Implicit,
        is_steady: true,
        ..numerics(convection, TimeScheme::Bdf2)
    };
    numerics.pressure.relative_tolerance = 0.01;
    numerics.momentum.relative_tolerance = 0.01;
    let backend = Backend::host(2).unwrap();
    backend.install(|| {
        let problem = transport(mesh, profile, |_| 0.0);
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, mesh, geometry, &problem, &numerics)
                .unwrap();
        let mut residual = f64::INFINITY;
        while residual > tolerance && flow.clock().1 < 1000 {
            let report = flow.step(flow.pseudo_time_step(10.0)).unwrap();
            residual = report.residuals.unwrap().energy;
        }
        (backend.read(flow.temperature().unwrap()).unwrap(), flow.clock().1)
    })
}

/// The overshoot of a step on its way until time 1.
fn overshoot_on_the_way(place: &(Mesh, Geometry), numerics: &Numerics, courant: f64) -> [f64; 2] {
    let (mesh, geometry) = place;
    let backend = Backend::host(2).unwrap();
    backend.install(|| {
        let problem = transport(mesh, step, step);
        let mut flow =
            IncompressibleSolver::<f64>::new(&backend, mesh, geometry, &problem, numerics).unwrap();
        let steps = (flow.largest_rate() / courant).ceil() as usize;
        let mut worst = [0.0f64; 2];
        for _ in 0..steps {
            flow.step(1.0 / steps as f64).unwrap();
            let [low, high] = overshoot(&backend.read(flow.temperature().unwrap()).unwrap());
            assert!(low.is_finite() && high.is_finite());
            worst = [worst[0].min(low), worst[1].max(high)];
        }
        worst
    })
}

const MESHES: [&str; 3] = ["triangles_medium", "quadrilaterals_medium", "cube_tetrahedron_medium"];

#[test]
fn a_limited_step_stays_between_0_and_1() {
    for name in MESHES {
        let place = built(gmsh(name));
        // The uniform velocity is divergence-free: the projection corrects round-off alone, to a part of it.
        let numerics = |convection, scheme, convection_treatment| {
            let numerics = numerics(convection, scheme);
            let pressure = Params { relative_tolerance: 0.01, ..numerics.pressure };
            Numerics { convection_treatment, pressure, ..numerics }
        };
        let (explicit, implicit) = (ConvectionTreatment::Explicit, ConvectionTreatment::Implicit);
        let of = Convection::LimitedLinear;
        // Implicit convection extrapolates in time, and its bound is measured.
        for (scheme, treatment, courant, allowed) in [
            (TimeScheme::Rk3, explicit, 0.4, 1e-10),
            (TimeScheme::Bdf2, explicit, 0.2, 1e-10),
            (TimeScheme::Ab2Cn, explicit, 0.2, 1e-10),
            (TimeScheme::Bdf2, implicit, 1.0, 1e-3),
        ] {
            let [low, high] =
                overshoot_on_the_way(&place, &numerics(of, scheme, treatment), courant);
            eprintln!("{name}, {scheme:?} {treatment:?}: {low:e} {high:e}");
            assert!(low > -allowed && high < allowed, "{name} {scheme:?}: {low} {high}");
        }
        let unlimited = numerics(Convection::LinearUpwind, TimeScheme::Rk3, explicit);
        let [low, high] = overshoot_on_the_way(&place, &unlimited, 0.4);
        assert!(low < -0.05 && high > 0.05, "{name} without limiter: {low} {high}");
    }
}

/// The bound is that of the iterations: 2e-3 at a residual of 1e-6.
#[test]
fn a_limited_step_becomes_steady() {
    for name in MESHES {
        let place = built(gmsh(name));
        let (t, iterations) = steady_temperature(&place, (step, 1e-7), Convection::LimitedLinear);
        let [low, high] = overshoot(&t);
        eprintln!("{name}: {iterations} iterations, {low:e} {high:e}");
        assert!(iterations < 300, "{name}: {iterations} iterations");
        assert!(low > -1e-3 && high < 1e-3, "{name}: {low} {high}");
    }
}

/// A smooth steady profile, away from the outflow, whose condition is not that of the profile.
#[test]
fn limited_convection_is_second_order() {
    let boxes = |element, dimension, sizes: [usize; 2]| {
        sizes.map(|n| box_mesh(element, dimension, n, 0.15))
    };
    let meshes = |name: &str| ["medium", "fine"].map(|size| built(gmsh(&format!("{name}_{size}"))));
    for (name, places) in [
        ("triangles of Gmsh", meshes("triangles")),
        ("quadrilaterals of Gmsh", meshes("quadrilaterals")),
        ("triangles", boxes(Element::Triangle, 2, [20, 40])),
        ("tetrahedra", boxes(Element::Tetrahedron, 3, [8, 16])),
    ] {
        let errors = places.each_ref().map(|place| {
            let (mesh, geometry) = place;
            let (t, iterations) =
                steady_temperature(place, (smooth, 1e-8), Convection::LimitedLinear);
            assert!(iterations < 100, "{name}: {iterations} iterations");
            let (mut sum, mut volume) = (0.0, 0.0);
            for (c, t) in t.iter().enumerate() {
                let (x, v) = (geometry.cell_centre_of(c), geometry.cell_volume[c]);
                if x[..mesh.dimension].iter().all(|x| *x < 0.8) {
                    sum += v * (t - smooth(x)).powi(2);
                    volume += v;
                }
            }
            let spacing = (t.len() as f64).powf(-1.0 / mesh.dimension as f64);
            (spacing, (sum / volume).sqrt())
        });
        let order = (errors[0].1 / errors[1].1).ln() / (errors[0].0 / errors[1].0).ln();
        eprintln!("{name}: {errors:?}, order {order:.2}");
        assert!(order > 1.8, "{name}: {errors:?}, {order}");
    }
}

/// The factor of a gradient g by its definition.
fn factor(
    (mesh, geometry): (&Mesh, &Geometry),
    c: usize,
    (phi, at_boundary, is_given): (&[f64], &[f64], &[u32]),
    g: [f64; 3],
) -> f64 {
    let inner = mesh.n_interior_faces();
    let (mut low, mut high) = (0.0f64, 0.0f64);
    let mut rises = vec![];
    for item in mesh.cell_to_faces.of(c) {
        let f = index_of(*item);
        let (left, x) = (mesh.face_left[f] as usize, geometry.face_centre_of(f));
        let (mut to_face, mut difference) = (subtract(x, geometry.cell_centre_of(c)), 0.0);
        if f < inner {
            let other = if left == c { mesh.face_right[f] as usize } else { left };
            difference = phi[other] - phi[c];
            if left != c {
                to_face = subtract(x, geometry.right_centre_of(mesh, f));
            }
        } else if is_given[f - inner] > 0 {
            difference = at_boundary[f - inner] - phi[c];
            to_face = to_face.map(|x| 0.5 * x);
        }
        (low, high) = (low.min(difference), high.max(difference));
        rises.push(dot(g, to_face));
    }
    let of_rise = |rise: &f64| {
        let y = if *rise > 0.0 { high / rise } else { low / rise };
        if y < 1.75 { y - 8.0 / 49.0 * y * y - 16.0 / 343.0 * y.powi(3) } else { 1.0 }
    };
    rises.iter().map(of_rise).fold(1.0, f64::min)
}

fn compare<F: Real>(tolerance: f64) {
    for name in ["triangles_coarse", "cube_tetrahedron_coarse", "cube_prism_coarse"] {
        let (mesh, geometry) = built(gmsh(name));
        let (n, inner) = (mesh.n_cells(), mesh.n_interior_faces());
        let n_boundary = mesh.n_faces() - inner;
        let phi = [1, 2, 3].map(|seed| values(n, seed));
        let at_boundary = [4, 5, 6].map(|seed| values(n_boundary, seed));
        let gradients = [7, 8, 9].map(|seed| {
            let steep = values(3 * n, seed).into_iter();
            steep.map(|g| 20.0 * g).collect::<Vec<f64>>()
        });
        let is_given: Vec<u32> = (0..n_boundary as u32).map(|b| b % 3).collect();
        let mut limited = 0;
        for backend in everywhere() {
            let up = |v: &Vec<f64>| narrow_slice::<F>(&backend, v);
            let faces = backend.install(|| Faces::<F>::new(&backend, &mesh, &geometry, false));
            let given = backend.upload(is_given.clone());
            let cells = BoundedCells {
                faces: CellFaces::of(&faces.cells, View::absent()),
                stencils: GradientStencilView {
                    offsets: faces.cells.offsets.view(),
                    items: faces.cells.neighbours(&backend).view(),
                    weights: Vectors::absent(),
                },
                dirichlet_index: given.view(),
            };
            let (on_phi, on_boundary) = (phi.each_ref().map(up), at_boundary.each_ref().map(up));
            let field = |k: usize| CellField {
                at_boundary: on_boundary[k].view(),
                ..CellField::of_values(&on_phi[k])
            };
            for dimension in 1..=mesh.dimension {
                let mut found = gradients.each_ref().map(up);
                let [x, y, z] = &mut found;
                let field = VelocityField { x: field(0), y: field(1), z: field(2), dimension };
                let view: FaceView<'_, F> = faces.view();
                backend.install(|| limit_gradients(&backend, n, &cells, &view, &field, n, x, y, z));
                for (k, found) in found.iter().enumerate() {
                    let found = backend.read(found).unwrap();
                    for c in 0..n {
                        let g = [0, 1, 2].map(|axis| gradients[k][axis * n + c]);
                        let of = (&phi[k][..], &at_boundary[k][..], &is_given[..]);
                        let want = factor((&mesh, &geometry), c, of, g);
                        let want = if k < dimension { want } else { 1.0 };
                        limited += usize::from(want < 1.0);
                        for (axis, g) in g.into_iter().enumerate() {
                            let error = (found[axis * n + c].to_f64() - want * g).abs();
                            assert!(error < tolerance, "{name} {backend:?} {c}: {error:e}");
                        }
                    }
                }
            }
        }
        assert!(limited > n, "{name}: {limited}");
    }
}

#[test]
fn gradients_are_limited_alike_on_every_backend() {
    compare::<f64>(1e-11);
    compare::<f32>(2e-3);
}
