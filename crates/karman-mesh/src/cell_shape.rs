//! The table of element types: node counts, faces and edges of each cell shape, in VTK node order.
//!
//! Adding an element type is adding one row here. Nodes are numbered as Gmsh and VTK number linear
//! cells, with a positive Jacobian: the first triangle or quadrilateral of a prism or hexahedron
//! has its right-hand normal towards the opposite one (VTK's documentation draws the prism the
//! other way round while its parametric coordinates agree with this; readers accept both). Every
//! face is ordered so that the right-hand rule gives the normal that points out of the cell.

/// A linear element of a mesh, as a cell or as a boundary face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum CellShape {
    /// Two nodes: the boundary face of a 2D mesh.
    Segment,
    /// Three nodes.
    Triangle,
    /// Four nodes, in order around the element.
    Quadrilateral,
    /// Four nodes.
    Tetrahedron,
    /// Five nodes: the quadrilateral base, then the apex.
    Pyramid,
    /// Six nodes: a triangle, then the opposite triangle.
    Prism,
    /// Eight nodes: a quadrilateral, then the opposite quadrilateral.
    Hexahedron,
}

impl CellShape {
    /// Every shape, in the order of the enum.
    pub const ALL: [CellShape; 7] = [
        CellShape::Segment,
        CellShape::Triangle,
        CellShape::Quadrilateral,
        CellShape::Tetrahedron,
        CellShape::Pyramid,
        CellShape::Prism,
        CellShape::Hexahedron,
    ];

    /// The shape's name as the case file and the summary write it.
    pub const fn name(self) -> &'static str {
        match self {
            CellShape::Segment => "segment",
            CellShape::Triangle => "triangle",
            CellShape::Quadrilateral => "quadrilateral",
            CellShape::Tetrahedron => "tetrahedron",
            CellShape::Pyramid => "pyramid",
            CellShape::Prism => "prism",
            CellShape::Hexahedron => "hexahedron",
        }
    }

    /// Number of dimensions the shape spans: 1, 2 or 3.
    pub const fn dimension(self) -> usize {
        match self {
            CellShape::Segment => 1,
            CellShape::Triangle | CellShape::Quadrilateral => 2,
            _ => 3,
        }
    }

    /// Number of nodes.
    pub const fn node_count(self) -> usize {
        match self {
            CellShape::Segment => 2,
            CellShape::Triangle => 3,
            CellShape::Quadrilateral | CellShape::Tetrahedron => 4,
            CellShape::Pyramid => 5,
            CellShape::Prism => 6,
            CellShape::Hexahedron => 8,
        }
    }

    /// Local nodes of each face (codimension 1), outward by the right-hand rule; of a 2D shape, its
    /// sides, with the cell on the left of the direction of travel.
    pub const fn faces(self) -> &'static [&'static [u8]] {
        match self {
            CellShape::Segment => &[&[0], &[1]],
            CellShape::Triangle => &[&[0, 1], &[1, 2], &[2, 0]],
            CellShape::Quadrilateral => &[&[0, 1], &[1, 2], &[2, 3], &[3, 0]],
            CellShape::Tetrahedron => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
            CellShape::Pyramid => &[&[0, 3, 2, 1], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]],
            CellShape::Prism => {
                &[&[0, 2, 1], &[3, 4, 5], &[0, 1, 4, 3], &[1, 2, 5, 4], &[2, 0, 3, 5]]
            }
            CellShape::Hexahedron => &[
                &[0, 3, 2, 1],
                &[4, 5, 6, 7],
                &[0, 1, 5, 4],
                &[1, 2, 6, 5],
                &[2, 3, 7, 6],
                &[3, 0, 4, 7],
            ],
        }
    }

    /// Local nodes of each edge (3D shapes: the lines; 2D shapes: the sides as node pairs).
    pub const fn edges(self) -> &'static [[u8; 2]] {
        match self {
            CellShape::Segment => &[[0, 1]],
            CellShape::Triangle => &[[0, 1], [1, 2], [2, 0]],
            CellShape::Quadrilateral => &[[0, 1], [1, 2], [2, 3], [3, 0]],
            CellShape::Tetrahedron => &[[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]],
            CellShape::Pyramid => &[[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 4], [3, 4]],
            CellShape::Prism => {
                &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]]
            }
            CellShape::Hexahedron => &[
                [0, 1],
                [1, 2],
                [2, 3],
                [3, 0],
                [4, 5],
                [5, 6],
                [6, 7],
                [7, 4],
                [0, 4],
                [1, 5],
                [2, 6],
                [3, 7],
            ],
        }
    }

    /// Number of faces (sides of a 2D shape).
    #[inline]
    pub const fn face_count(self) -> usize {
        FACE_TABLES[self as usize].count
    }

    /// Number of nodes of local face `face`.
    #[inline]
    pub const fn face_node_count(self, face: usize) -> usize {
        FACE_TABLES[self as usize].node_count[face] as usize
    }

    /// Global nodes of local face `face` of a cell whose nodes are `nodes`: four entries, of which
    /// the first `count` are valid, and `count`.
    #[inline]
    pub fn face_nodes(self, nodes: &[u32], face: usize) -> ([u32; 4], usize) {
        let table = &FACE_TABLES[self as usize];
        (table.nodes[face].map(|local| nodes[local as usize]), table.node_count[face] as usize)
    }

    /// Local nodes in the opposite orientation: a cell of negative volume becomes a cell of positive
    /// volume with the same faces.
    pub const fn reversed(self) -> &'static [u8] {
        match self {
            CellShape::Segment => &[1, 0],
            CellShape::Triangle => &[0, 2, 1],
            CellShape::Quadrilateral => &[0, 3, 2, 1],
            CellShape::Tetrahedron => &[0, 2, 1, 3],
            CellShape::Pyramid => &[0, 3, 2, 1, 4],
            CellShape::Prism => &[0, 2, 1, 3, 5, 4],
            CellShape::Hexahedron => &[0, 3, 2, 1, 4, 7, 6, 5],
        }
    }
}

/// Largest number of faces of a shape.
pub(crate) const MAX_FACES: usize = 6;

/// The faces of a shape in arrays of fixed size, so that loops over all cells make no indirect
/// access; triangles and segments repeat their last node.
struct FaceTable {
    count: usize,
    node_count: [u8; MAX_FACES],
    nodes: [[u8; 4]; MAX_FACES],
}

static FACE_TABLES: [FaceTable; 7] = {
    const EMPTY: FaceTable =
        FaceTable { count: 0, node_count: [0; MAX_FACES], nodes: [[0; 4]; MAX_FACES] };
    let mut tables = [EMPTY; 7];
    let mut shape = 0;
    while shape < 7 {
        let faces = CellShape::ALL[shape].faces();
        tables[shape].count = faces.len();
        let mut face = 0;
        while face < faces.len() {
            let nodes = faces[face];
            tables[shape].node_count[face] = nodes.len() as u8;
            let mut node = 0;
            while node < 4 {
                let last = nodes.len() - 1;
                tables[shape].nodes[face][node] = nodes[if node < last { node } else { last }];
                node += 1;
            }
            face += 1;
        }
        shape += 1;
    }
    tables
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_side_of_every_face_is_shared_once_in_each_sense() {
        for shape in CellShape::ALL.into_iter().filter(|s| s.dimension() == 3) {
            let mut sides: Vec<(u8, u8)> = Vec::new();
            for face in shape.faces() {
                for (i, &node) in face.iter().enumerate() {
                    sides.push((node, face[(i + 1) % face.len()]));
                }
            }
            sides.sort_unstable();
            let mut edges: Vec<(u8, u8)> = shape.edges().iter().map(|e| (e[0], e[1])).collect();
            edges.extend(shape.edges().iter().map(|e| (e[1], e[0])));
            edges.sort_unstable();
            assert_eq!(sides, edges, "{}", shape.name());
        }
    }

    #[test]
    fn reversing_twice_is_the_identity() {
        for shape in CellShape::ALL {
            let order = shape.reversed();
            let twice: Vec<u8> = order.iter().map(|&i| order[i as usize]).collect();
            assert_eq!(twice, (0..shape.node_count() as u8).collect::<Vec<_>>());
        }
    }
}
