//! Identities of the operators: exact for integers, to round-off for real numbers.

use super::{On, Sample, difference, dot, integers, jittered, largest, sample};
use crate::backend::testing::{everywhere, values};
use crate::mesh::generate::Element;
use crate::mesh::{EdgeTopology, Geometry, Mesh};

/// Numbers of cells, faces, edges and nodes.
fn sizes(s: &Sample) -> [usize; 4] {
    [s.mesh.n_cells(), s.mesh.n_faces(), s.edges.n_edges, s.mesh.n_nodes()]
}

#[test]
fn products_of_successive_operators_vanish_up_to_the_boundary() {
    let samples = jittered(4);
    for backend in everywhere() {
        for s in &samples {
            let on = On::<f64>::new(&backend, s);
            let [cells, _, edges, nodes] = sizes(s);
            let name = &s.name;
            for (what, data, tolerance) in [
                ("integer", integers as fn(usize, u64) -> Vec<f64>, 0.0),
                // A sum of a few numbers below 1, each rounded a few times.
                ("real", values, 16.0 * f64::EPSILON),
            ] {
                let d = on.divergence(&on.curl(&data(edges, 1)));
                assert!(largest(&d) <= tolerance, "div curl, {what}, {name}: {}", largest(&d));
                let r = on.rotation(&on.gradient(&data(cells, 2)));
                assert!(largest(&r) <= tolerance, "rot grad, {what}, {name}: {}", largest(&r));
                if s.mesh.dimension == 3 {
                    let c = on.curl(&on.nodal_gradient(&data(nodes, 3)));
                    assert!(largest(&c) <= tolerance, "curl grad, {what}, {name}: {}", largest(&c));
                }
            }
        }
    }
}

#[test]
fn the_operators_are_not_zero_where_their_products_are() {
    for s in jittered(3) {
        let backend = &everywhere()[0];
        let on = On::<f64>::new(backend, &s);
        let [cells, faces, edges, _] = sizes(&s);
        assert!(largest(&on.gradient(&integers(cells, 1))) > 1.0, "{}", s.name);
        assert!(largest(&on.divergence(&integers(faces, 1))) > 1.0, "{}", s.name);
        assert!(largest(&on.curl(&integers(edges, 1))) > 1.0, "{}", s.name);
        assert!(largest(&on.rotation(&integers(faces, 1))) > 1.0, "{}", s.name);
    }
}

#[test]
fn divergence_is_minus_the_gradient_transposed_and_rotation_is_the_curl_transposed() {
    let samples = jittered(4);
    for backend in everywhere() {
        for s in &samples {
            let on = On::<f64>::new(&backend, s);
            let [cells, faces, edges, _] = sizes(s);
            let (p, u, a) = (integers(cells, 4), integers(faces, 5), integers(edges, 6));
            assert_eq!(dot(&p, &on.divergence(&u)), -dot(&on.gradient(&p), &u), "{}", s.name);
            assert_eq!(dot(&u, &on.curl(&a)), dot(&on.rotation(&u), &a), "{}", s.name);
        }
    }
}

#[test]
fn integration_is_interpolation_transposed_in_the_product_weighted_by_volume() {
    let samples = jittered(4);
    for backend in everywhere() {
        for s in &samples {
            let on = On::<f64>::new(&backend, s);
            let [cells, faces, ..] = sizes(s);
            let (flux, v) = (values(faces, 7), values(3 * cells, 8));
            let weighted: Vec<f64> =
                (0..3 * cells).map(|i| s.geometry.cell_volume[i % cells] * v[i]).collect();
            let (a, b) = (dot(&weighted, &on.interpolate(&flux)), dot(&on.integrate(&v), &flux));
            let scale = 1e-14 * faces as f64;
            assert!((a - b).abs() < scale && a.abs() > 1e3 * scale, "{}: {a} {b}", s.name);
        }
    }
}

/// Every operator on synthetic fields; the flag is set for sums of integers, which are exact.
fn everything<F: crate::real::Real>(on: &On<F>, s: &Sample) -> Vec<(&'static str, bool, Vec<f64>)> {
    let [cells, faces, edges, nodes] = sizes(s);
    let outer = faces - s.mesh.n_interior_faces();
    let (flux, boundary) = (values(faces, 3), values(outer, 4));
    let (p, ones) = (values(cells, 5), vec![1.0; outer]);
    let least_squares = on.least_squares(&p, &boundary, &ones);
    let half = vec![0.5; outer];
    let grad_p = values(3 * cells, 6);
    let mut all = vec![
        ("gradient", true, on.gradient(&integers(cells, 1))),
        ("divergence", true, on.divergence(&integers(faces, 2))),
        ("curl", true, on.curl(&integers(edges, 3))),
        ("rotation", true, on.rotation(&integers(faces, 4))),
        ("interpolation", false, on.interpolate(&flux)),
        ("integration", false, on.integrate(&values(3 * cells, 7))),
        ("Gauss gradient", false, on.gauss(&flux)),
        ("least-squares gradient", false, least_squares),
        ("corrected face value", false, on.face_values(&p, &grad_p, &boundary, &half)),
    ];
    if s.mesh.dimension == 3 {
        all.push(("nodal gradient", true, on.nodal_gradient(&integers(nodes, 5))));
    }
    all
}

fn compare<F: crate::real::Real>(tolerance: f64) {
    let backends = everywhere();
    let samples = [
        sample(Element::Mixed, 2, 2, 0.2),
        sample(Element::Triangle, 2, 40, 0.2),
        sample(Element::Mixed, 3, 2, 0.2),
        sample(Element::Pyramid, 3, 4, 0.2),
        sample(Element::Tetrahedron, 3, 9, 0.2),
    ];
    for s in &samples {
        let want = everything(&On::<F>::new(&backends[0], s), s);
        for backend in &backends[1..] {
            let found = everything(&On::<F>::new(backend, s), s);
            for ((what, exact, want), (_, _, found)) in want.iter().zip(&found) {
                let is_host = backend.device().is_none();
                let allowed = if *exact || is_host { 0.0 } else { tolerance * largest(want) };
                let error = difference(found, want);
                assert!(error <= allowed, "{what}, {}, {backend:?}: {error:e}", s.name);
            }
        }
    }
}

#[test]
fn all_backends_agree_in_double_precision() {
    compare::<f64>(1e-13);
}

#[test]
fn all_backends_agree_in_single_precision() {
    compare::<f32>(1e-5);
}

#[test]
fn a_mesh_without_cells_gives_empty_fields() {
    for dimension in [2, 3] {
        let mesh = Mesh { dimension, ..Mesh::default() };
        let edges = EdgeTopology::new(&mesh);
        let s = Sample { name: "nothing".into(), mesh, geometry: Geometry::default(), edges };
        for backend in everywhere() {
            let on = On::<f64>::new(&backend, &s);
            let none = everything(&on, &s);
            assert!(none.iter().all(|(_, _, result)| result.is_empty()));
        }
    }
}
