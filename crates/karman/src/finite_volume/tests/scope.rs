//! Data in a scope have the bits of those of the whole mesh; elsewhere nothing is written.

use super::super::boundary::{BoundaryFaces, BoundaryValues};
use super::super::majorant::majorant_conductances;
use super::super::{CellScheme, Condition, Faces, Function, GradientStencils, Scope};
use crate::backend::{Backend, Buffer};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::testing::{built, gmsh};
use crate::mesh::{Geometry, Mesh, index_of};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

fn jittered(element: Element, cells: Vec<usize>) -> (Mesh, Geometry) {
    let size = cells.iter().map(|n| *n as f64).collect();
    let params =
        BoxParams { size, cells, element: Some(element), jitter: 0.25, ..BoxParams::default() };
    built(params.generate().unwrap())
}

fn meshes() -> Vec<(&'static str, (Mesh, Geometry))> {
    vec![
        ("tetrahedra of Gmsh", built(gmsh("cube_tetrahedron_medium"))),
        ("mixed cells of a channel", jittered(Element::Mixed, vec![40, 3, 3])),
        ("triangles", jittered(Element::Triangle, vec![30, 8])),
    ]
}

/// The faces of some cells, ascending.
fn faces_of(mesh: &Mesh, cells: Range<usize>) -> Vec<usize> {
    let items = cells.flat_map(|cell| mesh.cell_to_faces.of(cell));
    let mut faces: Vec<usize> = items.map(|item| index_of(*item)).collect();
    faces.sort_unstable();
    faces.dedup();
    faces
}

/// Items and weights of the stencil of a cell.
fn row(mesh: &Mesh, stencils: &GradientStencils, cell: usize) -> (Vec<u32>, Vec<f64>) {
    let (offsets, items) = match &stencils.rows {
        Some(rows) => (&rows.offsets, rows.of(cell).to_vec()),
        None => (&mesh.cell_to_faces.offsets, vec![]),
    };
    let range = offsets[cell] as usize..offsets[cell + 1] as usize;
    let n = stencils.weights.len() / 3;
    let weights = (0..3).flat_map(|k| &stencils.weights[k * n..][range.clone()]);
    (items, weights.copied().collect())
}

#[test]
fn data_of_some_cells_are_those_of_the_whole_mesh() {
    for (name, (mesh, geometry)) in meshes() {
        let n = mesh.n_cells();
        let own = n / 3..n / 2;
        let scope = Scope::around(&mesh, own.clone().into_par_iter().map(|cell| cell as u32));
        let in_scope = (0..n).filter(|cell| scope.has_cell(*cell)).count();
        assert!(in_scope < 2 * n / 3, "{name}: {in_scope} of {n} cells");
        let conditions: Vec<Condition> =
            mesh.patches.iter().map(|_| Condition::Dirichlet(Arc::new(0.0))).collect();
        let mut values = BoundaryValues::default();
        let boundary = BoundaryFaces::new(&mesh, &geometry, &conditions, &mut values).unwrap();
        let uniform = vec![1.0; n];
        let scheme = || CellScheme::new(&mesh, &geometry, &uniform, &boundary, true);
        let [whole, within] = [scheme(), scheme().within(&scope)];
        let [all, some] = [&whole, &within].map(|of| of.bounded_correction());
        for cell in own.clone() {
            // Where no stencil in scope is widened items are those of faces.
            let [want, found] = [&all, &some].map(|of| row(&mesh, &of.stencils, cell));
            assert_eq!(want.1, found.1, "{name} cell {cell}");
            assert!(found.0.is_empty() || want.0 == found.0, "{name} cell {cell}");
        }
        let [conductances, of_scope] = [&whole, &within].map(CellScheme::conductances);
        let projection = |of: &CellScheme<'_>, conductances: &[f64], ratio: &[f64]| {
            let found = of.projection_conductances(conductances, ratio);
            found.unwrap_or_else(|| conductances.to_vec())
        };
        let majorant = majorant_conductances(&mesh, &Scope::all(), &all, &conductances);
        let pairs = [
            (conductances.clone(), of_scope.clone()),
            (
                projection(&whole, &conductances, &all.stencils.bound_ratio),
                projection(&within, &of_scope, &some.stencils.bound_ratio),
            ),
            (majorant, majorant_conductances(&mesh, &scope, &some, &of_scope)),
        ];
        let n_faces = mesh.n_faces();
        for face in faces_of(&mesh, own.clone()) {
            for (k, (want, found)) in pairs.iter().enumerate() {
                assert_eq!(want[face].to_bits(), found[face].to_bits(), "{name} {k} face {face}");
            }
            for k in 0..3 {
                let [want, found] = [&all, &some].map(|of| of.tangential[k * n_faces + face]);
                assert_eq!(want.to_bits(), found.to_bits(), "{name} face {face}");
            }
        }
        let outside = (0..n_faces).find(|face| !scope.has_face(*face)).unwrap();
        assert!(!(of_scope[outside] > 0.0), "{name}: {}", of_scope[outside]);
        let [want, found] =
            [(&whole, &conductances), (&within, &of_scope)].map(|(of, a)| of.two_point_matrix(a));
        let (want, found) = (want.unwrap(), found.unwrap());
        for cell in own {
            assert!(want.row(cell).eq(found.row(cell)), "{name} row {cell}");
        }
        assert!(found.entries() < 2 * want.entries() / 3);
    }
}

#[test]
fn faces_in_scope_and_kinds_of_meshes_are_those_of_the_whole_mesh() {
    let backend = Backend::host(2).unwrap();
    for (name, (mesh, geometry)) in meshes() {
        let n = mesh.n_cells();
        let own = 0..n / 4;
        let cells = own.clone().into_par_iter().map(|cell| cell as u32);
        let scope = Scope::around(&mesh, cells);
        let whole = Faces::<f64>::new(&backend, &mesh, &geometry, false);
        let place = (&mesh, &geometry);
        let other = Scope::of_boundary(&mesh);
        let other = Faces::<f64>::within(&backend, place, (None, &other), false);
        let within = Faces::<f64>::within(&backend, place, (Some(&other), &scope), false);
        assert_eq!(
            (whole.is_unskewed, whole.is_orthogonal),
            (within.is_unskewed, within.is_orthogonal)
        );
        let n_faces = mesh.n_faces();
        let arrays = |of: &Faces<f64>| -> Vec<Vec<f64>> {
            let (momentum, velocity) = (of.momentum_view(), of.velocity_view());
            let at = |x: [Vec<f64>; 3]| x.concat();
            let read = |buffer: &Buffer<f64>| backend.read(buffer).unwrap();
            let vectors = |of: &dyn Fn(usize) -> [f64; 3]| {
                at([0, 1, 2].map(|k| (0..n_faces).map(|face| of(face)[k]).collect()))
            };
            vec![
                read(&of.skewness),
                read(&of.delta),
                read(&of.area),
                vectors(&|face| {
                    let d = momentum.delta.at(face);
                    [d.x, d.y, d.z]
                }),
                vectors(&|face| {
                    let o = velocity.skewness.at(face);
                    [o.x, o.y, o.z]
                }),
            ]
        };
        let (want, found) = (arrays(&whole), arrays(&within));
        for face in faces_of(&mesh, own.clone()) {
            for (want, found) in want.iter().zip(&found) {
                for k in 0..3 {
                    let place = k * n_faces + face;
                    assert_eq!(want[place].to_bits(), found[place].to_bits(), "{name} face {face}");
                }
            }
        }
        let own_skewed = |of: &Faces<f64>| -> Vec<(u32, u64)> {
            let cells = of.skewed.iter().filter(|(cell, _)| own.contains(&(*cell as usize)));
            cells.map(|(cell, share)| (*cell, share.to_bits())).collect()
        };
        assert_eq!(own_skewed(&whole), own_skewed(&within), "{name}");
    }
}

#[test]
fn a_field_is_sampled_in_the_cells_of_a_scope() {
    let (mesh, geometry) = jittered(Element::Tetrahedron, vec![6, 6, 6]);
    let n = mesh.n_cells();
    let value = Function(|x: [f64; 3], t: f64| x[0] + 2.0 * x[1] - x[2] * t);
    let want = Scope::all().sampled(&geometry, &value, 0.5);
    let scope = Scope::around(&mesh, (10..20u32).into_par_iter());
    let found = scope.sampled(&geometry, &value, 0.5);
    for cell in 0..n {
        let expected = if scope.has_cell(cell) { want[cell] } else { 0.0 };
        assert_eq!(found[cell].to_bits(), expected.to_bits(), "cell {cell}");
    }
    assert_eq!(scope.cells(&mesh).len(), (0..n).filter(|cell| scope.has_cell(*cell)).count());
    let boundary = Scope::of_boundary(&mesh);
    assert!(
        mesh.face_left[mesh.n_interior_faces()..].iter().all(|c| boundary.has_cell(*c as usize))
    );
}
