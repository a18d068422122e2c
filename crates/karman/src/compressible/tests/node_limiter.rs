//! The limiter by the cells around nodes.

use super::super::node_limiter::{CellNodes, NodeBounds};
use super::super::reconstruction::polynomial::{AnyStencils, Polynomials, second_moments};
use super::super::reconstruction::stencil::Stencils;
use super::super::state::{States, VARIABLES};
use super::exact::{Exact, GAMMA, fields, numerics, problem};
use crate::backend::testing::everywhere;
use crate::backend::{Backend, Buffer};
use crate::compressible::cell_means::conserved_means;
use crate::compressible::{
    CompressibleNumerics, CompressibleSolver, Limiter, Reconstruction, WeightPrecision,
};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::quadrature::CellMoments;
use crate::mesh::testing::{built, gmsh};
use crate::mesh::{Geometry, Mesh};

/// Gas at rest whose density and pressure increase along an oblique direction.
fn linear([x, y, z]: [f64; 3], _: f64) -> [f64; 5] {
    let s = 0.3 * x + 0.2 * y + 0.1 * z;
    [1.0 + s, 0.0, 0.0, 0.0, 1.0 + s]
}

/// A contact discontinuity at rest, oblique to the faces.
fn discontinuity([x, y, _]: [f64; 3], _: f64) -> [f64; 5] {
    [if x + 0.7 * y < 0.8 { 1.0 } else { 4.0 }, 0.0, 0.0, 0.0, 1.0]
}

/// φ of all variables and cells, and the values at corners relative to the bounds of their nodes.
struct Limited {
    /// `[5][n_cells]`.
    factors: Vec<f64>,
    /// Largest overshoot of the limited density beyond the extrema around the nodes.
    overshoot: f64,
    /// The same before the limiter.
    overshoot_before: f64,
}

/// The limiter on the means of a field, with ε² = `softness` relative to the variables.
fn limited(
    backend: &Backend,
    (mesh, geometry): (&Mesh, &Geometry),
    exact: Exact,
    degree: Reconstruction,
    softness: f64,
) -> Limited {
    let n = mesh.n_cells();
    let moments = CellMoments::new(mesh, geometry);
    let stencils = Stencils::new(mesh, geometry, &moments, degree);
    let means =
        conserved_means((mesh, geometry), mesh.n_cells(), &fields(exact), GAMMA, 0.0).unwrap();
    let on_backend: Buffer<f64> = backend.upload(means.clone());
    let q = States::of(&on_backend);
    let second = second_moments(backend, &moments);
    let mut coefficients = backend.zeros(VARIABLES * n * (1 + stencils.terms));
    let all = AnyStencils::new(backend, &stencils, None, WeightPrecision::Same);
    all.reconstruct(backend, n, &second, &q, &mut coefficients);
    let mut factors = backend.zeros(VARIABLES * n);
    let polynomials = Polynomials::of(&coefficients, &on_backend, stencils.terms);
    let softness = backend.upload(vec![softness; n]);
    let mut nodes = NodeBounds::new(backend, (mesh, &moments), &CellNodes::new(mesh));
    nodes.set_factors(backend, n, &q, &polynomials, &softness, &mut factors);
    let factors = backend.read(&factors).unwrap();
    // The density at the corners, on the host; a node at the boundary has the bounds of the field.
    let around = mesh.node_to_cells();
    let is_at_boundary = boundary_nodes(mesh);
    let density = means[..n].iter().fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
    let bounds = |node: u32| {
        if is_at_boundary[node as usize] {
            return density;
        }
        around.of(node as usize).iter().fold((f64::MAX, f64::MIN), |(low, high), cell| {
            let value = means[*cell as usize];
            (low.min(value), high.max(value))
        })
    };
    let mut overshoots = [0.0f64; 2];
    if backend.device().is_none() {
        for c in 0..n {
            for node in mesh.cells.nodes_of(c) {
                let d: [f64; 3] =
                    std::array::from_fn(|k| mesh.points[*node as usize][k] - moments.centre[c][k]);
                let d = crate::real::Vec3 { x: d[0], y: d[1], z: d[2] };
                let change = polynomials.at_offset(c, d).density - means[c];
                let (low, high) = bounds(*node);
                for (overshoot, phi) in overshoots.iter_mut().zip([factors[c], 1.0]) {
                    let value = means[c] + phi * change;
                    *overshoot = overshoot.max(value - high).max(low - value);
                }
            }
        }
    }
    Limited { factors, overshoot: overshoots[0], overshoot_before: overshoots[1] }
}

fn boundary_nodes(mesh: &Mesh) -> Vec<bool> {
    let mut is_at_boundary = vec![false; mesh.n_nodes()];
    for face in mesh.n_interior_faces()..mesh.n_faces() {
        mesh.face_to_nodes.of(face).iter().for_each(|node| is_at_boundary[*node as usize] = true);
    }
    is_at_boundary
}

fn meshes() -> Vec<(&'static str, (Mesh, Geometry))> {
    let names = ["triangles_coarse", "quadrilaterals_coarse", "cube_tetrahedron_coarse"];
    names.map(|name| (name, built(gmsh(name)))).into()
}

/// The value of a linear field at a node is within the centroids around it: f(Δ, δ) ≥ ¾ there.
#[test]
fn a_linear_field_is_hardly_limited() {
    let backend = Backend::host(2).unwrap();
    let mut list = meshes();
    // A cube with cells that have no node at the boundary.
    let (size, cells, element) = (vec![1.0; 3], vec![5; 3], Some(Element::Tetrahedron));
    let params = BoxParams { size, cells, element, jitter: 0.1, ..BoxParams::default() };
    list[2] = ("tetrahedra", built(params.generate().unwrap()));
    for (name, (mesh, geometry)) in list {
        let place = (&mesh, &geometry);
        let found = limited(&backend, place, linear, Reconstruction::Linear, 0.0);
        let is_at_boundary = boundary_nodes(&mesh);
        let n = mesh.n_cells();
        let is_inner =
            |c: &usize| !mesh.cells.nodes_of(*c).iter().any(|n| is_at_boundary[*n as usize]);
        let inner: Vec<f64> = (0..n).filter(is_inner).map(|c| found.factors[c]).collect();
        let least = inner.iter().fold(1.0, |a: f64, b| a.min(*b));
        let mean = inner.iter().fold(0.0, |a, b| a + b) / inner.len() as f64;
        assert!(!inner.is_empty() && least > 0.75 - 1e-9 && mean > 0.85, "{name}: {least} {mean}");
    }
}

#[test]
fn a_discontinuity_has_no_new_extremum_at_nodes() {
    let backend = Backend::host(2).unwrap();
    for (name, (mesh, geometry)) in meshes() {
        for degree in [Reconstruction::Linear, Reconstruction::Quadratic] {
            let place = (&mesh, &geometry);
            let found = limited(&backend, place, discontinuity, degree, 0.0);
            assert!(found.overshoot_before > 0.1, "{name} {degree:?}: {}", found.overshoot_before);
            assert!(found.overshoot < 1e-12, "{name} {degree:?}: {}", found.overshoot);
            // With ε the overshoot is at most ε/√8: 0.18 for a density of 4.
            let soft = limited(&backend, place, discontinuity, degree, 1e-4);
            assert!(soft.overshoot < 0.19, "{name} {degree:?}: {}", soft.overshoot);
        }
    }
}

#[test]
fn factors_are_the_same_on_every_backend() {
    for (name, (mesh, geometry)) in meshes() {
        let on = |backend: &Backend| {
            let place = (&mesh, &geometry);
            limited(backend, place, discontinuity, Reconstruction::Quadratic, 1e-4).factors
        };
        let all: Vec<Vec<f64>> = everywhere().iter().map(on).collect();
        for (k, other) in all.iter().enumerate().skip(1) {
            let error = all[0].iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // The hosts agree to the bit.
            let allowed = if k < 3 { 0.0 } else { 1e-12 };
            assert!(error <= allowed, "{name} backend {k}: {error:e}");
        }
    }
}

/// A flow that is periodic along both axes, displaced by half of the domain: the limiter does not see where the mesh is cut.
#[test]
fn periodic_nodes_see_the_cells_of_both_sides() {
    fn square([x, y, _]: [f64; 3], _: f64) -> [f64; 5] {
        let is_inside = (x - 0.5).abs() < 0.3 && (y - 0.5).abs() < 0.3;
        [if is_inside { 2.0 } else { 1.0 }, 1.0, 1.0, 0.0, 1.0]
    }
    fn displaced([x, y, _]: [f64; 3], t: f64) -> [f64; 5] {
        square([(x + 0.5) % 1.0, (y + 0.5) % 1.0, 0.0], t)
    }
    let backend = Backend::host(2).unwrap();
    let (size, cells) = (vec![1.0; 2], vec![10; 2]);
    let params =
        BoxParams { size, cells, element: Some(Element::Quadrilateral), ..BoxParams::default() };
    let pairs = [["xmin", "xmax"], ["ymin", "ymax"]];
    let mesh = built(params.generate().unwrap()).0.connect_periodic(&pairs).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    let run = |exact: Exact| {
        let numerics =
            CompressibleNumerics { limiter: Limiter::Mlp, ..numerics(Reconstruction::Linear) };
        let problem = problem(&mesh, exact);
        let place = (&mesh, &geometry);
        let mut solver =
            CompressibleSolver::<f64>::new(&backend, place, &problem, &numerics).unwrap();
        for _ in 0..4 {
            solver.advance(0.01).unwrap();
        }
        let means = backend.read(solver.means()).unwrap();
        // By the place of the cell, in columns and rows.
        let mut density = vec![0.0; 100];
        for (c, value) in means.iter().enumerate().take(mesh.n_cells()) {
            let centre = geometry.cell_centre_of(c);
            let [i, j] = [centre[0], centre[1]].map(|x| (x * 10.0) as usize);
            density[10 * i + j] = *value;
        }
        density
    };
    let (centred, moved) = (run(square), run(displaced));
    for i in 0..10 {
        for j in 0..10 {
            let (a, b) = (centred[10 * i + j], moved[10 * ((i + 5) % 10) + (j + 5) % 10]);
            assert!((a - b).abs() < 1e-12, "{i} {j}: {a} {b}");
        }
    }
}

#[test]
fn uniform_flow_stays() {
    fn uniform(_: [f64; 3], _: f64) -> [f64; 5] {
        [1.2, 0.7, -0.4, 0.0, 0.9]
    }
    let backend = Backend::host(2).unwrap();
    for (name, (mesh, geometry)) in meshes() {
        let numerics =
            CompressibleNumerics { limiter: Limiter::Mlp, ..numerics(Reconstruction::Quadratic) };
        let problem = problem(&mesh, uniform);
        let place = (&mesh, &geometry);
        let mut solver =
            CompressibleSolver::<f64>::new(&backend, place, &problem, &numerics).unwrap();
        let before = backend.read(solver.means()).unwrap();
        for _ in 0..5 {
            let step = solver.step_of(0.6);
            solver.advance(step).unwrap();
        }
        let after = backend.read(solver.means()).unwrap();
        let change = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(change < 5e-13, "{name}: {change:e}");
    }
}
