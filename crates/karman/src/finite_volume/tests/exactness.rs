//! Exactness of interpolation and of gradients.

use super::{Field, On};
use crate::backend::testing::{everywhere, values};
use crate::operators::tests::{Sample, difference, dot, jittered, linear, planar};

const GRADIENT: [f64; 3] = [1.0, -2.0, 0.5];

/// The gradient in the dimensions of a mesh.
fn gradient(s: &Sample) -> [f64; 3] {
    if s.mesh.dimension == 2 { [GRADIENT[0], GRADIENT[1], 0.0] } else { GRADIENT }
}

/// A uniform vector field, `[3][n_cells]`.
fn uniform(s: &Sample, v: [f64; 3]) -> Vec<f64> {
    v.iter().flat_map(|component| vec![*component; s.mesh.n_cells()]).collect()
}

/// A linear field at the centroids of cells and of boundary faces.
fn linear_field(s: &Sample) -> (Vec<f64>, Vec<f64>) {
    let at_faces = linear(&s.geometry.face_centre, gradient(s));
    let at_boundary = at_faces[s.mesh.n_interior_faces()..].to_vec();
    (linear(&s.geometry.cell_centre, gradient(s)), at_boundary)
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
fn the_gauss_gradient_is_exact_for_linear_fields_on_planar_faces() {
    let samples = planar(4);
    for backend in everywhere() {
        for s in &samples {
            let (p, at_boundary) = linear_field(s);
            let exact = uniform(s, gradient(s));
            let field = Field(&p, &exact, &at_boundary);
            let found = On::<f64>::new(&backend, s).gauss_gradient(field);
            let error = difference(&found, &exact);
            assert!(error < 1e-11, "{}, {backend:?}: {error:e}", s.name);
        }
    }
}

#[test]
fn the_least_squares_gradient_is_exact_for_linear_fields_on_any_mesh() {
    let samples = jittered(4);
    for backend in everywhere() {
        for s in &samples {
            let (p, at_boundary) = linear_field(s);
            let found = On::<f64>::new(&backend, s).least_squares_gradient(&p, &at_boundary);
            let error = difference(&found, &uniform(s, gradient(s)));
            assert!(error < 1e-11, "{}, {backend:?}: {error:e}", s.name);
        }
    }
}

#[test]
fn integration_is_interpolation_transposed_in_the_product_weighted_by_volume() {
    let samples = jittered(4);
    for backend in everywhere() {
        for s in &samples {
            let on = On::<f64>::new(&backend, s);
            let (cells, faces) = (s.mesh.n_cells(), s.mesh.n_faces());
            let (flux, v) = (values(faces, 7), values(3 * cells, 8));
            let weighted: Vec<f64> =
                (0..3 * cells).map(|i| s.geometry.cell_volume[i % cells] * v[i]).collect();
            let (a, b) = (dot(&weighted, &on.interpolate(&flux)), dot(&on.integrate(&v), &flux));
            let scale = 1e-14 * faces as f64;
            assert!((a - b).abs() < scale && a.abs() > 1e3 * scale, "{}: {a} {b}", s.name);
        }
    }
}
