//! Exactness of interpolation and gradients, and measured orders where they are not exact.

use super::{On, Sample, difference, jittered, linear, planar, sample};
use crate::backend::testing::{everywhere, hosts};
use crate::mesh::generate::Element;

const GRADIENT: [f64; 3] = [1.0, -2.0, 0.5];

/// The gradient in the dimensions of a mesh.
fn gradient(s: &Sample) -> [f64; 3] {
    if s.mesh.dimension == 2 { [GRADIENT[0], GRADIENT[1], 0.0] } else { GRADIENT }
}

/// A uniform vector field, `[3][n_cells]`.
fn uniform(s: &Sample, v: [f64; 3]) -> Vec<f64> {
    v.iter().flat_map(|component| vec![*component; s.mesh.n_cells()]).collect()
}

/// Values at the centroids of boundary faces, from those at all faces.
fn outer(s: &Sample, face_values: &[f64]) -> Vec<f64> {
    face_values[s.mesh.n_interior_faces()..].to_vec()
}

#[test]
fn interpolation_is_exact_for_constant_fields_on_planar_faces() {
    let samples = planar(4);
    for backend in everywhere() {
        for s in &samples {
            let u = gradient(s);
            let flux: Vec<f64> = (0..s.mesh.n_faces())
                .map(|f| s.geometry.area_vector_of(f).iter().zip(u).map(|(a, u)| a * u).sum())
                .collect();
            let found = On::<f64>::new(&backend, s).interpolate(&flux);
            let error = difference(&found, &uniform(s, u));
            assert!(error < 1e-12, "{}, {backend:?}: {error:e}", s.name);
        }
    }
}

#[test]
fn the_gauss_gradient_of_exact_face_values_is_exact_for_linear_fields_on_planar_faces() {
    let samples = planar(4);
    for backend in everywhere() {
        for s in &samples {
            let face_values = linear(&s.geometry.face_centre, gradient(s));
            let found = On::<f64>::new(&backend, s).gauss(&face_values);
            let error = difference(&found, &uniform(s, gradient(s)));
            assert!(error < 1e-12, "{}, {backend:?}: {error:e}", s.name);
        }
    }
}

#[test]
fn the_least_squares_gradient_is_exact_for_linear_fields_on_any_mesh() {
    let samples = jittered(4);
    for backend in everywhere() {
        for s in &samples {
            let p = linear(&s.geometry.cell_centre, gradient(s));
            let boundary = outer(s, &linear(&s.geometry.face_centre, gradient(s)));
            let ones = vec![1.0; boundary.len()];
            let on = On::<f64>::new(&backend, s);
            for found in [
                on.least_squares(&p, &boundary, &ones),
                on.precomputed_least_squares(&p, &boundary, &ones),
            ] {
                let error = difference(&found, &uniform(s, gradient(s)));
                assert!(error < 1e-11, "{}, {backend:?}: {error:e}", s.name);
            }
        }
    }
}

#[test]
fn an_unknown_boundary_value_has_no_weight() {
    for (element, dimension) in [(Element::Quadrilateral, 2), (Element::Hexahedron, 3)] {
        let s = sample(element, dimension, 4, 0.2);
        let p = linear(&s.geometry.cell_centre, gradient(&s));
        let nonsense = vec![1e6; s.mesh.n_faces() - s.mesh.n_interior_faces()];
        let zeros = vec![0.0; nonsense.len()];
        for backend in everywhere() {
            let on = On::<f64>::new(&backend, &s);
            for found in [
                on.least_squares(&p, &nonsense, &zeros),
                on.precomputed_least_squares(&p, &nonsense, &zeros),
            ] {
                let error = difference(&found, &uniform(&s, gradient(&s)));
                assert!(error < 1e-11, "{}, {backend:?}: {error:e}", s.name);
            }
        }
    }
}

/// The Gauss gradient after a number of sweeps of the skewness correction; uncorrected after none.
fn swept(on: &On<f64>, s: &Sample, p: &[f64], boundary: &[f64], sweeps: usize) -> Vec<f64> {
    let ones = vec![1.0; boundary.len()];
    let mut grad_p = vec![0.0; 3 * s.mesh.n_cells()];
    for _ in 0..=sweeps {
        grad_p = on.gauss(&on.face_values(p, &grad_p, boundary, &ones));
    }
    grad_p
}

#[test]
fn sweeps_of_the_skewness_correction_make_the_gauss_gradient_exact_for_linear_fields() {
    let backends = hosts();
    for s in planar(4) {
        let on = On::<f64>::new(&backends[1], &s);
        let p = linear(&s.geometry.cell_centre, gradient(&s));
        let boundary = outer(&s, &linear(&s.geometry.face_centre, gradient(&s)));
        let want = uniform(&s, gradient(&s));
        let error = |sweeps| difference(&swept(&on, &s, &p, &boundary, sweeps), &want);
        let errors = [0, 1, 2, 4, 8, 120].map(error);
        let text = errors.map(|e| format!("{e:.1e}")).join(", ");
        eprintln!("{}: error after 0, 1, 2, 4, 8, 120 sweeps {text}", s.name);
        assert!(errors[5] < 1e-10, "{}: {text}", s.name);
    }
}

/// Mean error of the gradient of a smooth field after `sweeps`.
fn smooth_error(s: &Sample, sweeps: usize) -> f64 {
    let backends = hosts();
    let on = On::<f64>::new(&backends[1], s);
    let field =
        |x: f64, y: f64, z: f64| (1.3 * x + 0.4).sin() * (1.1 * y + 0.2).cos() + 0.5 * z * z;
    let exact = |x: f64, y: f64, z: f64| {
        let (a, b) = (1.3 * x + 0.4, 1.1 * y + 0.2);
        [1.3 * a.cos() * b.cos(), -1.1 * a.sin() * b.sin(), z]
    };
    let at = |points: &[f64], i: usize| {
        let n = points.len() / 3;
        [points[i], points[n + i], points[2 * n + i]]
    };
    let sampled = |points: &[f64]| -> Vec<f64> {
        (0..points.len() / 3).map(|i| at(points, i)).map(|[x, y, z]| field(x, y, z)).collect()
    };
    let boundary = outer(s, &sampled(&s.geometry.face_centre));
    let found = swept(&on, s, &sampled(&s.geometry.cell_centre), &boundary, sweeps);
    let n = s.mesh.n_cells();
    let error = (0..n).map(|c| {
        let [x, y, z] = at(&s.geometry.cell_centre, c);
        let want = exact(x, y, z);
        let square: f64 = (0..3).map(|k| (found[k * n + c] - want[k]).powi(2)).sum();
        s.geometry.cell_volume[c] * square
    });
    error.sum::<f64>().sqrt()
}

#[test]
fn the_skewness_correction_gives_the_gauss_gradient_an_order() {
    for (element, sizes) in [(Element::Triangle, [10, 20, 40]), (Element::Tetrahedron, [4, 8, 16])]
    {
        let dimension = if element == Element::Triangle { 2 } else { 3 };
        let meshes = sizes.map(|n| sample(element, dimension, n, 0.2));
        let order = |sweeps: usize| {
            let e = [1, 2].map(|i| smooth_error(&meshes[i], sweeps));
            (e[0] / e[1]).log2()
        };
        let orders = [0, 1, 2, 20].map(order);
        eprintln!("{element:?}: order after 0, 1, 2, 20 sweeps {orders:.2?}");
        assert!(orders[3] > 0.9, "{element:?}: {orders:?}");
    }
}
