//! Element type numbers of the file formats.

use super::error::MeshFileProblem as Problem;
use crate::CellShape;

/// Treatment of an element of a known type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    /// An element of the mesh.
    Shape(CellShape),
    /// An element of the mesh with another node order: node `i` is node `order[i]` of the file.
    Reordered(CellShape, &'static [u8]),
    /// A vertex element of this number of nodes (`None`: any number), which is ignored.
    Vertex(Option<usize>),
}

const GMSH_REMEDY: &str = "make the mesh linear with `Merge \"in.msh\"; SetOrder 1; Save \
                           \"out.msh\";` in a Gmsh script, or mesh with Mesh.ElementOrder = 1";
const VTK_REMEDY: &str = "make the mesh linear where it was made, or with ParaView's filter \
                          Tessellate";
const SU2_REMEDY: &str = "make the mesh linear where it was made";

/// The element type of Gmsh's number `code`.
pub(super) fn from_gmsh(code: i64) -> Result<ElementKind, Problem> {
    let shape = match code {
        1 => CellShape::Segment,
        2 => CellShape::Triangle,
        3 => CellShape::Quadrilateral,
        4 => CellShape::Tetrahedron,
        5 => CellShape::Hexahedron,
        6 => CellShape::Prism,
        7 => CellShape::Pyramid,
        15 => return Ok(ElementKind::Vertex(Some(1))),
        _ => {
            let name = match code {
                8 => "second-order segment",
                9 | 16 => {
                    if code == 9 {
                        "second-order triangle"
                    } else {
                        "second-order quadrilateral"
                    }
                }
                10 => "second-order quadrilateral",
                11 => "second-order tetrahedron",
                12 | 17 => "second-order hexahedron",
                13 | 18 => "second-order prism",
                14 | 19 => "second-order pyramid",
                20..=33 | 36..=66 | 71..=83 | 90..=131 => "third- or higher-order element",
                _ => {
                    return Err(Problem::UnknownElementType { element_type: code, format: "Gmsh" });
                }
            };
            return Err(Problem::HigherOrder { element_type: code, name, remedy: GMSH_REMEDY });
        }
    };
    Ok(ElementKind::Shape(shape))
}

/// Gmsh's number for a shape.
pub(super) fn to_gmsh(shape: CellShape) -> u8 {
    match shape {
        CellShape::Segment => 1,
        CellShape::Triangle => 2,
        CellShape::Quadrilateral => 3,
        CellShape::Tetrahedron => 4,
        CellShape::Hexahedron => 5,
        CellShape::Prism => 6,
        CellShape::Pyramid => 7,
    }
}

/// The element type of VTK's number `code`.
pub(super) fn from_vtk(code: i64) -> Result<ElementKind, Problem> {
    let kind = match code {
        1 => ElementKind::Vertex(Some(1)),
        2 => ElementKind::Vertex(None),
        3 => ElementKind::Shape(CellShape::Segment),
        5 => ElementKind::Shape(CellShape::Triangle),
        8 => ElementKind::Reordered(CellShape::Quadrilateral, &[0, 1, 3, 2]),
        9 => ElementKind::Shape(CellShape::Quadrilateral),
        10 => ElementKind::Shape(CellShape::Tetrahedron),
        11 => ElementKind::Reordered(CellShape::Hexahedron, &[0, 1, 3, 2, 4, 5, 7, 6]),
        12 => ElementKind::Shape(CellShape::Hexahedron),
        13 => ElementKind::Shape(CellShape::Prism),
        14 => ElementKind::Shape(CellShape::Pyramid),
        _ => return Err(not_linear(code, "VTK", VTK_REMEDY)),
    };
    Ok(kind)
}

/// The element type of SU2's number `code`: VTK's numbers.
pub(super) fn from_su2(code: i64) -> Result<ElementKind, Problem> {
    match code {
        1 | 3 | 5 | 9 | 10 | 12 | 13 | 14 => from_vtk(code),
        _ => Err(not_linear(code, "SU2", SU2_REMEDY)),
    }
}

/// The error for a VTK number of no linear element.
fn not_linear(code: i64, format: &'static str, remedy: &'static str) -> Problem {
    let name = match code {
        21 | 35 => "second-order segment",
        22 | 34 => "second-order triangle",
        23 | 28 | 30 => "second-order quadrilateral",
        24 => "second-order tetrahedron",
        25 | 29 | 33 => "second-order hexahedron",
        26 | 31 | 32 => "second-order prism",
        27 | 37 => "second-order pyramid",
        68..=81 => "Lagrange or Bézier element",
        _ => return Problem::UnknownElementType { element_type: code, format },
    };
    Problem::HigherOrder { element_type: code, name, remedy }
}

/// VTK's and SU2's number for a shape.
pub(super) fn to_vtk(shape: CellShape) -> u8 {
    match shape {
        CellShape::Segment => 3,
        CellShape::Triangle => 5,
        CellShape::Quadrilateral => 9,
        CellShape::Tetrahedron => 10,
        CellShape::Hexahedron => 12,
        CellShape::Prism => 13,
        CellShape::Pyramid => 14,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_they_are_written() {
        for shape in CellShape::ALL {
            let kind = Some(ElementKind::Shape(shape));
            assert_eq!(from_gmsh(to_gmsh(shape).into()).ok(), kind);
            assert_eq!(from_vtk(to_vtk(shape).into()).ok(), kind);
            assert_eq!(from_su2(to_vtk(shape).into()).ok(), kind);
        }
    }

    #[test]
    fn every_other_number_is_refused_by_name() {
        let message = |result: Result<ElementKind, Problem>| result.unwrap_err().to_string();
        assert!(message(from_gmsh(11)).starts_with(
            "element type 11 is a second-order tetrahedron: only linear elements are read; make"
        ));
        assert!(message(from_gmsh(29)).contains("is a third- or higher-order element"));
        assert_eq!(message(from_gmsh(-7)), "unknown element type -7 (Gmsh)");
        assert!(message(from_vtk(24)).contains("ParaView's filter Tessellate"));
        assert_eq!(message(from_vtk(42)), "unknown element type 42 (VTK)");
        assert_eq!(message(from_su2(11)), "unknown element type 11 (SU2)");
        assert!(message(from_su2(25)).contains("second-order hexahedron"));
    }
}
