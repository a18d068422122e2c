//! Equal results on every backend, in longer arrays, and on parts with ghost cells.

use super::{Field, On};
use crate::backend::testing::{everywhere, values};
use crate::finite_volume::Vectors;
use crate::finite_volume::gradient::blend_gradients;
use crate::mesh::partition::cut;
use crate::mesh::{EdgeTopology, Geometry, Mesh};
use crate::operators::tests::parts::restricted;
use crate::operators::tests::{Sample, difference, jittered, largest, samples_of_elements};
use crate::real::Real;

/// Every kernel on synthetic fields.
fn everything<F: Real>(on: &On<F>) -> Vec<(&'static str, Vec<f64>)> {
    let (n, n_faces) = (on.mesh().n_cells(), on.mesh().n_faces());
    let outer = n_faces - on.mesh().n_interior_faces();
    let (p, grad_p, at_boundary) = (values(n, 5), values(3 * n, 6), values(outer, 4));
    let field = || Field(&p, &grad_p, &at_boundary);
    vec![
        ("interpolation", on.interpolate(&values(n_faces, 3))),
        ("integration", on.integrate(&values(3 * n, 7))),
        ("Gauss gradient", on.gauss_gradient(field())),
        ("interpolated flux", on.flux_of_component(1, field())),
        ("least-squares gradient", on.least_squares_gradient(&p, &at_boundary)),
        ("non-orthogonal fluxes", on.nonorthogonal_fluxes(&grad_p)),
        ("diffusion of a scalar", on.transport(None, &values(n_faces, 8), &p)),
        ("transport of a vector", {
            let (flux, conductance) = (values(n_faces, 9), values(n_faces, 8));
            on.transport(Some(&flux), &conductance, &values(3 * n, 5))
        }),
        ("Laplacian", on.laplacian(&values(n_faces, 8), &p)),
    ]
}

fn compare<F: Real>(tolerance: f64) {
    let backends = everywhere();
    for s in &samples_of_elements() {
        let want = everything(&On::<F>::new(&backends[0], s));
        for backend in &backends {
            for tail in [0, super::TAIL] {
                let found = everything(&On::<F> { tail, ..On::new(backend, s) });
                for ((what, want), (_, found)) in want.iter().zip(&found) {
                    let is_host = backend.device().is_none();
                    let allowed = if is_host { 0.0 } else { tolerance * largest(want) };
                    let error = difference(found, want);
                    assert!(error <= allowed, "{what}, {}, {backend:?}, {tail}: {error:e}", s.name);
                }
            }
        }
    }
}

#[test]
fn backends_agree_in_double_precision_in_arrays_of_any_length() {
    compare::<f64>(1e-13);
}

#[test]
fn backends_agree_in_single_precision_in_arrays_of_any_length() {
    compare::<f32>(1e-5);
}

#[test]
fn a_mesh_without_cells_gives_empty_fields() {
    for dimension in [2, 3] {
        let mesh = Mesh { dimension, ..Mesh::default() };
        let edges = EdgeTopology::new(&mesh);
        let s = Sample { name: "nothing".into(), mesh, geometry: Geometry::default(), edges };
        for backend in everywhere() {
            let none = everything(&On::<f64>::new(&backend, &s));
            assert!(none.iter().all(|(_, result)| result.is_empty()));
        }
    }
}

#[test]
fn a_part_with_ghost_cells_has_the_values_of_the_whole_mesh_at_owned_entities() {
    let backends = everywhere();
    for whole in jittered(3) {
        let mesh = &whole.mesh;
        let (n, n_faces, inner) = (mesh.n_cells(), mesh.n_faces(), mesh.n_interior_faces());
        let middle = |c: usize| whole.geometry.cell_centre_of(c)[0] + 0.2 * (c % 3) as f64 > 0.6;
        let parts: Vec<u32> = (0..n).map(|c| u32::from(middle(c))).collect();
        let reference = On::<f64>::new(&backends[0], &whole);
        let (p, grad_p, u) = (values(n, 1), values(3 * n, 2), values(3 * n, 4));
        let (flux, conductance) = (values(n_faces, 3), values(n_faces, 6));
        let at_boundary = values(n_faces - inner, 5);
        let field = Field(&p, &grad_p, &at_boundary);
        let want = [
            ("interpolation", 3, reference.interpolate(&flux)),
            ("Gauss gradient", 3, reference.gauss_gradient(field)),
            ("Laplacian", 1, reference.laplacian(&conductance, &p)),
        ];
        let integrated = reference.integrate(&u);
        for sub in cut(mesh, &parts) {
            let part = Sample {
                name: whole.name.clone(),
                geometry: sub.geometry(&whole.geometry),
                edges: EdgeTopology::new(&sub.mesh),
                mesh: sub.mesh.clone(),
            };
            let (cells, faces) = (&sub.global_cell, &sub.global_face);
            let owned = &cells[..sub.mesh.cell_count.owned];
            let outer = faces[sub.mesh.n_interior_faces()..].iter();
            let at_boundary: Vec<f64> = outer.map(|f| at_boundary[*f as usize - inner]).collect();
            let [flux, conductance] = [&flux, &conductance].map(|v| restricted(v, faces, 1));
            let (p, grad_p) = (restricted(&p, cells, 1), restricted(&grad_p, cells, 3));
            for backend in &backends {
                let on = On::<f64>::new(backend, &part);
                let found = [
                    on.interpolate(&flux),
                    on.gauss_gradient(Field(&p, &grad_p, &at_boundary)),
                    on.laplacian(&conductance, &p),
                ];
                for ((what, components, want), found) in want.iter().zip(&found) {
                    let want = restricted(want, owned, *components);
                    let error = difference(found, &want) / largest(&want);
                    let name = &whole.name;
                    assert!(error < 1e-13, "{what}, {name}, {}, {backend:?}: {error:e}", sub.part);
                }
                let found = on.integrate(&restricted(&u, cells, 3));
                assert!(difference(&found, &restricted(&integrated, faces, 1)) < 1e-14);
            }
        }
    }
}

#[test]
fn blended_gradients_are_the_same_everywhere() {
    for n in [0usize, 1, 31, 33, 1000, 70_001] {
        let (g, lsq_gradient) = (values(3 * n, 1), values(3 * n, 2));
        let cells: Vec<u32> = (0..n as u32).step_by(3).collect();
        let share: Vec<f64> = values(cells.len(), 3).iter().map(|v| v.abs()).collect();
        let mut want = g.clone();
        for (cell, share) in cells.iter().zip(&share) {
            for place in (0..3).map(|k| k * n + *cell as usize) {
                want[place] = share * g[place] + (1.0 - share) * lsq_gradient[place];
            }
        }
        for backend in everywhere() {
            let [share, lsq_gradient] = [&share, &lsq_gradient].map(|v| backend.upload_slice(v));
            let listed = backend.upload_slice(&cells);
            let mut found = backend.upload_slice(&g);
            let lsq_gradient = Vectors::of(&lsq_gradient);
            blend_gradients(&backend, cells.len(), &listed, &share, &lsq_gradient, &mut found);
            for (found, want) in backend.read(&found).unwrap().iter().zip(&want) {
                assert!((found - want).abs() < 1e-14, "{n}, {backend:?}: {found} {want}");
            }
        }
    }
}
