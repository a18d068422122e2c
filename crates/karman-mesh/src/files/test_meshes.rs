//! Small meshes for the tests of readers and writers.

use crate::{CellShape, Elements, RawMesh};

/// A coordinate with a full mantissa.
fn coordinate(node: usize, axis: usize) -> f64 {
    let phase = (node * 3 + axis) as f64;
    phase.sin() * 10.0_f64.powi(((node + axis) % 41) as i32 - 20)
}

fn elements(list: &[(CellShape, &[u32], u32)]) -> Elements {
    let mut elements = Elements::new();
    for &(shape, nodes, group) in list {
        elements.push(shape, nodes, group);
    }
    elements
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.into()).collect()
}

/// Every 3D shape, two regions, three patches in mixed order. Prisms stand on a unit triangle, so
/// that readers do not renumber them; the other nodes are arbitrary.
pub(super) fn every_3d_shape() -> RawMesh {
    use CellShape::{Hexahedron, Prism, Pyramid, Quadrilateral, Tetrahedron, Triangle};
    let mut points: Vec<[f64; 3]> =
        (0..14).map(|node| std::array::from_fn(|axis| coordinate(node, axis))).collect();
    let prism =
        [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 0., 1.], [0., 1., 1.]];
    points[8..14].copy_from_slice(&prism);
    RawMesh {
        dimension: 3,
        points,
        cells: elements(&[
            (Hexahedron, &[0, 1, 2, 3, 4, 5, 6, 7], 1),
            (Prism, &[8, 9, 10, 11, 12, 13], 0),
            (Tetrahedron, &[3, 1, 4, 13], 0),
            (Pyramid, &[4, 5, 6, 7, 10], 1),
            (Tetrahedron, &[0, 2, 5, 9], 1),
        ]),
        boundary: elements(&[
            (Triangle, &[0, 2, 1], 2),
            (Quadrilateral, &[4, 5, 6, 7], 0),
            (Triangle, &[8, 10, 9], 1),
            (Quadrilateral, &[8, 9, 12, 11], 0),
        ]),
        regions: names(&["steel", "molten salt"]),
        patches: names(&["inlet", "äußere Wand", "out<let> & 'co'"]),
    }
}

/// Every 2D shape, two regions, two patches.
pub(super) fn every_2d_shape() -> RawMesh {
    use CellShape::{Quadrilateral, Segment, Triangle};
    RawMesh {
        dimension: 2,
        points: (0..6).map(|node| [coordinate(node, 0), coordinate(node, 1), 0.0]).collect(),
        cells: elements(&[
            (Triangle, &[0, 1, 2], 0),
            (Quadrilateral, &[1, 3, 4, 2], 1),
            (Triangle, &[2, 4, 5], 1),
        ]),
        boundary: elements(&[(Segment, &[0, 1], 1), (Segment, &[1, 3], 0), (Segment, &[5, 0], 1)]),
        regions: names(&["left", "right"]),
        patches: names(&["wall", "inlet"]),
    }
}

/// The mesh with one region, and its boundary elements in the order of the patches.
pub(super) fn with_one_region(mesh: &RawMesh) -> RawMesh {
    let mut one = mesh.clone();
    one.cells.groups.fill(0);
    one.regions = names(&["default"]);
    one.boundary = Elements::new();
    for patch in 0..mesh.patches.len() as u32 {
        for e in (0..mesh.boundary.len()).filter(|&e| mesh.boundary.groups[e] == patch) {
            one.boundary.push(mesh.boundary.shapes[e], mesh.boundary.nodes_of(e), patch);
        }
    }
    one
}

/// One cell of a shape, in a region of its own name, and its faces, each a patch.
pub(super) fn single_cell(shape: CellShape) -> RawMesh {
    let n = shape.node_count();
    let side = |k: usize| (k as f64 * std::f64::consts::TAU / 3.0).sin_cos();
    let mut mesh = RawMesh { dimension: shape.dimension(), ..RawMesh::default() };
    mesh.points = (0..n)
        .map(|k| {
            let ((x, y), level) = (side(k % 3), (k / 3) as f64);
            if mesh.dimension == 2 { [x + level, y, 0.0] } else { [y, x, level] }
        })
        .collect();
    mesh.cells = elements(&[(shape, &(0..n as u32).collect::<Vec<_>>(), 0)]);
    mesh.regions = names(&[shape.name()]);
    mesh.boundary = Elements::new();
    for (patch, face) in shape.faces().iter().enumerate() {
        let shape = match face.len() {
            2 => CellShape::Segment,
            3 => CellShape::Triangle,
            _ => CellShape::Quadrilateral,
        };
        let nodes: Vec<u32> = face.iter().map(|&node| node.into()).collect();
        mesh.boundary.push(shape, &nodes, patch as u32);
        mesh.patches.push(format!("face {patch}"));
    }
    mesh
}

/// All of the above: single cells of each shape, and the mixed meshes.
pub(super) fn all() -> Vec<RawMesh> {
    let shapes = CellShape::ALL.into_iter().filter(|shape| shape.dimension() > 1);
    let mut meshes: Vec<RawMesh> = shapes.map(single_cell).collect();
    meshes.push(every_3d_shape());
    meshes.push(every_2d_shape());
    meshes
}
