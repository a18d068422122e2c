//! The table of element types: node counts, faces and edges of each cell shape, in VTK node order.
//!
//! Adding an element type is adding one row here. Nodes are numbered as Gmsh and VTK number linear
//! cells, with a positive Jacobian: the first triangle or quadrilateral of a prism or hexahedron has
//! its right-hand normal towards the opposite one (VTK's documentation draws the prism the other way
//! round while its parametric coordinates agree with this; readers accept both). Every face is
//! ordered so that the right-hand rule gives the normal that points out of the cell.

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
            CellShape::Pyramid => {
                &[[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 4], [3, 4]]
            }
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
}
