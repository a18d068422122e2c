//! Invariants of meshes on every element type, and errors of bad meshes.
mod faults;
mod invariants;
mod partition;
mod periodic;
mod permutation;
mod refusals;
mod reports;

use super::generate::{BoxParams, Element};
use super::{CellShape, Elements, Geometry, Mesh, MeshOptions, RawMesh, Renumbering};

/// Small jittered boxes of every element, 2D and 3D, with a name each.
fn samples(jitter: f64) -> Vec<(String, RawMesh)> {
    let flat = [Element::Triangle, Element::Quadrilateral, Element::Mixed].map(|e| (2, e));
    let solid = [
        Element::Tetrahedron,
        Element::Hexahedron,
        Element::Prism,
        Element::Pyramid,
        Element::Mixed,
    ]
    .map(|e| (3, e));
    flat.into_iter()
        .chain(solid)
        .map(|(dimension, element)| {
            let params = BoxParams {
                origin: vec![0.3, -0.7, 5.0][..dimension].to_vec(),
                size: vec![1.0, 2.0, 1.5][..dimension].to_vec(),
                cells: vec![5, 4, 4][..dimension].to_vec(),
                element: Some(element),
                jitter,
                grading: vec![2.0, 1.0, 0.5][..dimension].to_vec(),
                ..BoxParams::default()
            };
            (format!("{element:?} in {dimension}D"), params.generate().unwrap())
        })
        .collect()
}

fn options(renumber: Renumbering) -> MeshOptions {
    MeshOptions { renumber, ..MeshOptions::default() }
}

/// Two tetrahedra on the triangle 1 2 3, every outer face in the patch "wall".
fn two_tetrahedra() -> RawMesh {
    let mut cells = Elements::new();
    cells.push(CellShape::Tetrahedron, &[0, 1, 2, 3], 0);
    cells.push(CellShape::Tetrahedron, &[1, 2, 3, 4], 0);
    let mut boundary = Elements::new();
    for face in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4], [2, 3, 4], [1, 4, 3]] {
        boundary.push(CellShape::Triangle, &face, 0);
    }
    RawMesh {
        dimension: 3,
        points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0; 3]],
        cells,
        boundary,
        regions: vec!["steel".to_string()],
        patches: vec!["wall".to_string()],
    }
}
