//! Kernels on periodic boxes: the neighbours of a cell are their images beside it.

use super::{Field, On};
use crate::backend::testing::{everywhere, values};
use crate::mesh::generate::Element;
use crate::mesh::{EdgeTopology, Geometry};
use crate::operators::tests::{ALL, Sample, difference, dot, sample};

/// Every element with displaced nodes, all pairs of patches periodic.
fn periodic() -> Vec<Sample> {
    let pairs = [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]];
    let of_element = |(element, dimension)| {
        let open = sample(element, dimension, 4, 0.2);
        // The opposite sides of a mixed 3D box match along y alone.
        let halves = element == Element::Mixed && dimension == 3;
        let pairs = if halves { &pairs[1..2] } else { &pairs[..dimension] };
        let mesh = open.mesh.connect_periodic(pairs).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        let edges = EdgeTopology::new(&mesh);
        Sample { name: format!("periodic {}", open.name), mesh, geometry, edges }
    };
    ALL.map(of_element).into()
}

#[test]
fn interpolation_and_integration_are_exact_and_each_others_transpose() {
    for s in periodic() {
        let (n, n_faces, dimension) = (s.mesh.n_cells(), s.mesh.n_faces(), s.mesh.dimension);
        let v = [1.0, -2.0, if dimension == 2 { 0.0 } else { 0.5 }];
        let through = |f: usize| {
            let area = s.geometry.area_vector_of(f);
            (0..3).map(|k| area[k] * v[k]).sum::<f64>()
        };
        let uniform: Vec<f64> = (0..n_faces).map(through).collect();
        let (flux, u) = (values(n_faces, 2), values(3 * n, 3));
        let u: Vec<f64> =
            u.iter().enumerate().map(|(i, u)| if i / n < dimension { *u } else { 0.0 }).collect();
        for backend in everywhere() {
            let on = On::<f64>::new(&backend, &s);
            // Interpolation is exact on planar faces alone.
            if dimension == 2 || s.name.contains("tetrahedron") {
                let found = on.interpolate(&uniform);
                let error = (0..3 * n).map(|i| (found[i] - v[i / n]).abs()).fold(0.0, f64::max);
                assert!(error < 1e-12, "{} {backend:?}: {error:e}", s.name);
            }
            let weighted: Vec<f64> =
                (0..3 * n).map(|i| s.geometry.cell_volume[i % n] * u[i]).collect();
            let (a, b) = (dot(&on.interpolate(&flux), &weighted), dot(&flux, &on.integrate(&u)));
            assert!((a - b).abs() < 1e-11 * n_faces as f64, "{} {backend:?}: {a} {b}", s.name);
        }
    }
}

#[test]
fn interpolated_fluxes_are_corrected_for_skewness() {
    for s in periodic() {
        let (n, n_faces) = (s.mesh.n_cells(), s.mesh.n_faces());
        let (p, grad_p) = (values(n, 4), values(3 * n, 5));
        let known = values(n_faces - s.mesh.n_interior_faces(), 6);
        let value = |f: usize| {
            if f >= s.mesh.n_interior_faces() {
                return known[f - s.mesh.n_interior_faces()];
            }
            let (l, r) = (s.mesh.face_left[f] as usize, s.mesh.face_right[f] as usize);
            let x = s.geometry.face_centre_of(f);
            let (xl, xr) = (s.geometry.cell_centre_of(l), s.geometry.right_centre_of(&s.mesh, f));
            let normal = s.geometry.area_vector_of(f);
            let along = |a: [f64; 3], b: [f64; 3]| -> f64 {
                (0..3).map(|k| (b[k] - a[k]) * normal[k]).sum()
            };
            let w = along(x, xr) / (along(xl, x) + along(x, xr));
            let correction: f64 = (0..3)
                .map(|k| {
                    let g = w * grad_p[k * n + l] + (1.0 - w) * grad_p[k * n + r];
                    g * (x[k] - w * xl[k] - (1.0 - w) * xr[k])
                })
                .sum();
            w * p[l] + (1.0 - w) * p[r] + correction
        };
        let want: Vec<f64> =
            (0..n_faces).map(|f| value(f) * s.geometry.area_vector_of(f)[0]).collect();
        for backend in everywhere() {
            let field = Field(&p, &grad_p, &known);
            let found = On::<f64>::new(&backend, &s).flux_of_component(0, field);
            let error = difference(&found, &want);
            assert!(error < 1e-12, "{} {backend:?}: {error:e}", s.name);
        }
    }
}
