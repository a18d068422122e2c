//! Divides blocks of quadrilaterals and hexahedra into the requested elements.
//!
//! A quadrilateral is divided along the diagonal from its node of smallest number: both adjacent cells
//! divide it alike (Dompierre, Labbé, Vallet & Camarero, "How to
//! subdivide pyramids, prisms and hexahedra into tetrahedra", CERCA report 1999). On a grid
//! numbered direction by direction this is Kuhn's division of the cube into six tetrahedra.

use super::super::cell_shape::CellShape;
use super::super::geometry::mean_point;
use super::super::raw::{Elements, RawMesh};
use super::Element;
use rayon::prelude::*;

/// Subdivision of a block in a mixed mesh. Prisms divide the first two faces of the hexahedron: these
/// must not be faces of a whole block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// No subdivision.
    Whole,
    /// Two prisms along the third direction of the hexahedron.
    Prisms,
    /// Simplices; in a 3D block with a face that is not divided, tetrahedra and pyramids about the
    /// block's centre.
    Simplices,
}

/// Divides every block; `class` is the subdivision of a block in a mixed mesh.
pub(super) fn converted(
    blocks: RawMesh,
    element: Element,
    class: impl Fn(usize) -> Class,
) -> RawMesh {
    match element {
        Element::Quadrilateral | Element::Hexahedron => blocks,
        Element::Triangle => triangles(blocks, |_| Class::Simplices),
        Element::Tetrahedron => tetrahedra(blocks),
        Element::Pyramid => pyramids(blocks),
        Element::Prism => by_class(blocks, |_| Class::Prisms),
        Element::Mixed if blocks.dimension == 2 => triangles(blocks, class),
        Element::Mixed => by_class(blocks, class),
    }
}

/// A quadrilateral as two triangles of the same sense, from its smallest node.
fn cut([a, b, c, d]: [u32; 4]) -> [[u32; 3]; 2] {
    let lowest = a.min(b).min(c.min(d));
    if lowest == a || lowest == c { [[a, b, c], [a, c, d]] } else { [[b, c, d], [b, d, a]] }
}

/// The six tetrahedra of a hexahedron, between its smallest node and the triangles of the faces
/// without this node.
fn hexahedron_cut(nodes: &[u32]) -> [[u32; 4]; 6] {
    let lowest = nodes.iter().copied().min().unwrap_or(0);
    let mut parts = [[0; 4]; 6];
    let mut count = 0;
    for face in 0..CellShape::Hexahedron.face_count() {
        let (corners, _) = CellShape::Hexahedron.face_nodes(nodes, face);
        if corners.contains(&lowest) {
            continue;
        }
        for [a, b, c] in cut(corners) {
            parts[count] = [a, c, b, lowest];
            count += 1;
        }
    }
    parts
}

fn tetrahedra(blocks: RawMesh) -> RawMesh {
    let RawMesh { cells, boundary, .. } = &blocks;
    let mut nodes = vec![0; 24 * cells.len()];
    nodes.par_chunks_mut(24).enumerate().for_each(|(block, items)| {
        items.copy_from_slice(hexahedron_cut(cells.nodes_of(block)).as_flattened());
    });
    let groups = cells.groups.par_iter().flat_map_iter(|&group| [group; 6]).collect();
    let mut walls = Vec::with_capacity(6 * boundary.len());
    let mut wall_groups = Vec::with_capacity(2 * boundary.len());
    for element in 0..boundary.len() {
        let &[a, b, c, d] = boundary.nodes_of(element) else { continue };
        walls.extend(cut([a, b, c, d]).as_flattened());
        wall_groups.extend([boundary.groups[element]; 2]);
    }
    RawMesh {
        cells: Elements::uniform(CellShape::Tetrahedron, nodes, groups),
        boundary: Elements::uniform(CellShape::Triangle, walls, wall_groups),
        ..blocks
    }
}

fn pyramids(blocks: RawMesh) -> RawMesh {
    let RawMesh { cells, points, .. } = &blocks;
    let first = points.len() as u32;
    let mut nodes = vec![0; 30 * cells.len()];
    nodes.par_chunks_mut(30).enumerate().for_each(|(block, items)| {
        for (face, item) in items.chunks_mut(5).enumerate() {
            let ([a, b, c, d], _) = CellShape::Hexahedron.face_nodes(cells.nodes_of(block), face);
            item.copy_from_slice(&[a, d, c, b, first + block as u32]);
        }
    });
    let groups = cells.groups.par_iter().flat_map_iter(|&group| [group; 6]).collect();
    let mut points = points.clone();
    points.extend((0..cells.len()).map(|block| mean_point(cells.nodes_of(block), &blocks.points)));
    let cells = Elements::uniform(CellShape::Pyramid, nodes, groups);
    RawMesh { points, cells, ..blocks }
}

fn triangles(blocks: RawMesh, class: impl Fn(usize) -> Class) -> RawMesh {
    let mut cells = Elements::new();
    for block in 0..blocks.cells.len() {
        let group = blocks.cells.groups[block];
        let &[a, b, c, d] = blocks.cells.nodes_of(block) else { continue };
        if class(block) == Class::Simplices {
            for part in cut([a, b, c, d]) {
                cells.push(CellShape::Triangle, &part, group);
            }
        } else {
            cells.push(CellShape::Quadrilateral, &[a, b, c, d], group);
        }
    }
    RawMesh { cells, ..blocks }
}

fn sorted(mut nodes: [u32; 4]) -> [u32; 4] {
    nodes.sort_unstable();
    nodes
}

fn by_class(blocks: RawMesh, class: impl Fn(usize) -> Class) -> RawMesh {
    let RawMesh { cells, boundary, .. } = &blocks;
    let face =
        |block: usize, face: usize| CellShape::Hexahedron.face_nodes(cells.nodes_of(block), face).0;
    // The faces that are not divided.
    let mut whole: Vec<[u32; 4]> = Vec::new();
    for block in 0..cells.len() {
        let faces = match class(block) {
            Class::Whole => 0..6,
            Class::Prisms => 2..6,
            Class::Simplices => continue,
        };
        whole.extend(faces.map(|i| sorted(face(block, i))));
    }
    whole.par_sort_unstable();
    whole.dedup();
    let is_whole = |corners: [u32; 4]| whole.binary_search(&sorted(corners)).is_ok();

    let mut points = blocks.points.clone();
    let mut parts = Elements::new();
    for block in 0..cells.len() {
        let (nodes, group) = (cells.nodes_of(block), cells.groups[block]);
        let faces: [[u32; 4]; 6] = std::array::from_fn(|i| face(block, i));
        match class(block) {
            Class::Whole => parts.push(CellShape::Hexahedron, nodes, group),
            Class::Prisms => push_prisms(&mut parts, nodes, group),
            Class::Simplices if faces.iter().any(|&corners| is_whole(corners)) => {
                let centre = points.len() as u32;
                points.push(mean_point(nodes, &blocks.points));
                push_about_centre(&mut parts, faces, centre, group, is_whole);
            }
            Class::Simplices => {
                for part in hexahedron_cut(nodes) {
                    parts.push(CellShape::Tetrahedron, &part, group);
                }
            }
        }
    }
    let mut walls = Elements::new();
    for element in 0..boundary.len() {
        let group = boundary.groups[element];
        let &[a, b, c, d] = boundary.nodes_of(element) else { continue };
        if is_whole([a, b, c, d]) {
            walls.push(CellShape::Quadrilateral, &[a, b, c, d], group);
        } else {
            for part in cut([a, b, c, d]) {
                walls.push(CellShape::Triangle, &part, group);
            }
        }
    }
    RawMesh { points, cells: parts, boundary: walls, ..blocks }
}

/// Two prisms between the first and the second face of a hexahedron, divided along the diagonal of the
/// first face. Layers are numbered one after the other: the smallest node of the second face is above
/// that of the first.
fn push_prisms(parts: &mut Elements, nodes: &[u32], group: u32) {
    let base: [u32; 4] = [0, 1, 2, 3];
    let lowest = base.into_iter().min_by_key(|&i| nodes[i as usize]).unwrap_or(0);
    let corner = |i: u32| ((lowest + i) % 4) as usize;
    for [a, b, c] in [[0, 1, 2], [0, 2, 3]].map(|triangle: [u32; 3]| triangle.map(corner)) {
        let part = [a, b, c, a + 4, b + 4, c + 4].map(|i| nodes[i]);
        parts.push(CellShape::Prism, &part, group);
    }
}

fn push_about_centre(
    parts: &mut Elements,
    faces: [[u32; 4]; 6],
    centre: u32,
    group: u32,
    is_whole: impl Fn([u32; 4]) -> bool,
) {
    for [a, b, c, d] in faces {
        if is_whole([a, b, c, d]) {
            parts.push(CellShape::Pyramid, &[a, d, c, b, centre], group);
        } else {
            for [a, b, c] in cut([a, b, c, d]) {
                parts.push(CellShape::Tetrahedron, &[a, c, b, centre], group);
            }
        }
    }
}
