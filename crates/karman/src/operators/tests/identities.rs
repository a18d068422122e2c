//! Identities of the operators: exact for integers, to round-off for real numbers.

use super::{On, Sample, dot, integers, jittered, largest, samples_of_elements};
use crate::backend::testing::{everywhere, values};
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

/// Every operator on integers, whose sums are exact.
fn everything<F: crate::real::Real>(on: &On<F>, s: &Sample) -> Vec<(&'static str, Vec<f64>)> {
    let [cells, faces, edges, nodes] = sizes(s);
    let mut all = vec![
        ("gradient", on.gradient(&integers(cells, 1))),
        ("divergence", on.divergence(&integers(faces, 2))),
        ("curl", on.curl(&integers(edges, 3))),
        ("rotation", on.rotation(&integers(faces, 4))),
    ];
    if s.mesh.dimension == 3 {
        all.push(("nodal gradient", on.nodal_gradient(&integers(nodes, 5))));
    }
    all
}

fn compare<F: crate::real::Real>() {
    let backends = everywhere();
    for s in &samples_of_elements() {
        let want = everything(&On::<F>::new(&backends[0], s), s);
        for backend in &backends[1..] {
            let found = everything(&On::<F>::new(backend, s), s);
            for ((what, want), (_, found)) in want.iter().zip(&found) {
                assert_eq!(want, found, "{what}, {}, {backend:?}", s.name);
            }
        }
    }
}

#[test]
fn all_backends_agree_in_double_precision() {
    compare::<f64>();
}

#[test]
fn all_backends_agree_in_single_precision() {
    compare::<f32>();
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
            assert!(none.iter().all(|(_, result)| result.is_empty()));
        }
    }
}
