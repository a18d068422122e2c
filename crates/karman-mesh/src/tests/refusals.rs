//! Error messages and warnings, each from a mesh that causes it.
use super::*;
use crate::{MeshError, MeshWarning, SIGN_BIT};

fn refusal(raw: RawMesh) -> String {
    // The error is of the same kind in every numbering.
    let error = Mesh::new(raw.clone(), &options(Renumbering::None)).unwrap_err();
    for renumber in [Renumbering::Hilbert, Renumbering::Rcm] {
        let other = Mesh::new(raw.clone(), &options(renumber)).unwrap_err();
        assert_eq!(std::mem::discriminant(&other), std::mem::discriminant(&error));
    }
    error.to_string()
}

#[test]
fn the_two_tetrahedra_are_good() {
    let mesh = Mesh::new(two_tetrahedra(), &options(Renumbering::None)).unwrap();
    assert_eq!((mesh.n_cells(), mesh.n_faces(), mesh.n_interior_faces()), (2, 7, 1));
    assert_eq!(mesh.face_to_nodes.of(0), [1, 2, 3]);
    assert_eq!((mesh.face_left[0], mesh.face_right[0]), (0, 1));
    assert_eq!(mesh.cell_to_faces.of(0), [0, 1, 2, 3]);
    assert_eq!(mesh.cell_to_faces.of(1), [SIGN_BIT, 4, 5, 6]);
    assert_eq!(mesh.patches[0].faces, 1..7);
    assert_eq!(mesh.patch_of(0), None);
    assert_eq!(mesh.patch_of(3), Some(0));
}

#[test]
fn empty_meshes_and_bad_lists() {
    let good = two_tetrahedra();
    let mut raw = RawMesh { cells: Elements::new(), ..good.clone() };
    assert_eq!(refusal(raw.clone()), "the mesh has 5 nodes and no cell of dimension 3");
    raw.dimension = 1;
    assert_eq!(refusal(raw), "a mesh has 2 or 3 dimensions, not 1");
    let mut raw = good.clone();
    raw.cells.groups.pop();
    assert_eq!(refusal(raw), "the lists of cells disagree: 2 shapes, 3 offsets, 1 groups, 8 nodes");
    let mut raw = good.clone();
    raw.cells.offsets[1] = 3;
    assert_eq!(refusal(raw), "cell 0: a tetrahedron has 4 nodes, 3 are given");
    let mut raw = good.clone();
    raw.cells.push(CellShape::Triangle, &[0, 1, 2], 0);
    assert_eq!(refusal(raw), "cell 2 is a triangle, which does not fit a mesh of dimension 3");
    let mut raw = good.clone();
    raw.boundary.push(CellShape::Segment, &[0, 1], 0);
    let expected = "boundary element 6 is a segment, which does not fit a mesh of dimension 3";
    assert_eq!(refusal(raw), expected);
    let mut raw = good.clone();
    raw.boundary.groups[2] = 4;
    let expected = "boundary element 2 is in group 4, but only 1 groups have names";
    assert_eq!(refusal(raw), expected);
    let bad = MeshOptions { scale: 0.0, ..MeshOptions::default() };
    let error = Mesh::new(good, &bad).unwrap_err().to_string();
    assert_eq!(error, "the scale of a mesh is a positive number, not 0");
}

#[test]
fn bad_nodes() {
    let mut raw = two_tetrahedra();
    raw.cells.nodes[7] = 9;
    assert_eq!(refusal(raw), "cell 1 uses node 9, but the mesh has 5 nodes (0 to 4)");
    let mut raw = two_tetrahedra();
    raw.points[3][1] = f64::NAN;
    assert_eq!(refusal(raw), "node 3 has the coordinates (0, NaN, 1); each must be finite");
    let mut raw = two_tetrahedra();
    raw.cells.nodes[4] = 2;
    let text = refusal(raw);
    assert!(text.starts_with("cell 1 (tetrahedron of region \"steel\" at ("), "{text}");
    assert!(text.contains("uses node 2 twice"), "{text}");
    let (_, mut flat) = samples(0.0).swap_remove(0);
    flat.points[4][2] = 0.5;
    let text = refusal(flat);
    assert!(text.starts_with("the 2D mesh is not planar: node "), "{text}");
}

#[test]
fn inverted_and_flat_cells() {
    let mut raw = two_tetrahedra();
    raw.cells.nodes.swap(4, 5);
    assert_eq!(
        refusal(raw),
        "cell 1 (tetrahedron of region \"steel\" at (0.5, 0.5, 0.5)) is inverted: its volume is \
         -3.3333e-1 (1 cell in all)"
    );
    let mut raw = two_tetrahedra();
    raw.points[4] = [0.5, 0.5, 0.0];
    let text = refusal(raw);
    assert!(text.contains("cell 1 (tetrahedron") && text.contains("is flat"), "{text}");
}

#[test]
fn duplicate_and_overlapping_cells() {
    let mut raw = two_tetrahedra();
    raw.cells.push(CellShape::Tetrahedron, &[2, 3, 1, 4], 0);
    assert_eq!(
        refusal(raw.clone()),
        "cell 2 (tetrahedron of region \"steel\" at (0.5, 0.5, 0.5)) has the same nodes as cell 1: \
         one of them is a duplicate"
    );
    raw.cells.groups[2] = 1;
    raw.regions.push("copper".to_string());
    let text = refusal(raw);
    assert!(
        text.starts_with(
            "cell 2 (tetrahedron of region \"copper\" at (0.5, 0.5, 0.5)) is also in region \
                          \"steel\": a cell belongs to one region"
        ),
        "{text}"
    );
    let mut raw = two_tetrahedra();
    raw.points.push([0.9, 0.8, 0.9]);
    raw.cells.push(CellShape::Tetrahedron, &[1, 2, 3, 5], 0);
    assert_eq!(
        refusal(raw),
        "the face at (0.333333, 0.333333, 0.333333) is shared by 3 cells: 0, 1, 2; a face has at \
         most two"
    );
    let mut raw = two_tetrahedra();
    raw.points.push([0.9, 0.8, 0.9]);
    raw.cells = Elements::new();
    raw.cells.push(CellShape::Tetrahedron, &[1, 2, 3, 4], 0);
    raw.cells.push(CellShape::Tetrahedron, &[1, 2, 3, 5], 0);
    let text = refusal(raw);
    assert!(text.contains("cell 1 (tetra") && text.contains("overlaps cell 0"), "{text}");
}

#[test]
fn boundary_elements_that_do_not_fit() {
    let mut raw = two_tetrahedra();
    let mut boundary = Elements::new();
    for element in [0, 2, 4] {
        boundary.push(CellShape::Triangle, raw.boundary.nodes_of(element), 0);
    }
    raw.boundary = boundary;
    let text = refusal(raw);
    assert!(text.starts_with("3 boundary faces belong to no patch; the first is at (0.333333, 0,"));
    assert!(text.contains("on cell 0 (tetrahedron") && text.contains("named boundary group"));

    let mut raw = two_tetrahedra();
    raw.boundary.push(CellShape::Triangle, &[0, 1, 4], 0);
    let text = refusal(raw);
    assert!(text.starts_with("boundary element 6 (triangle of patch \"wall\" at ("), "{text}");
    assert!(text.contains("is not a face of any cell"), "{text}");

    // An element with an orphan node.
    let mut raw = two_tetrahedra();
    raw.points.push([0.25, 9.0, 0.0]);
    raw.boundary.push(CellShape::Triangle, &[0, 1, 5], 0);
    let text = refusal(raw);
    assert!(text.contains("boundary element 6") && text.contains("(0.416667, 3, 0)"), "{text}");

    let mut raw = two_tetrahedra();
    raw.patches.push("hot".to_string());
    raw.boundary.push(CellShape::Triangle, &[1, 0, 2], 1);
    let text = refusal(raw);
    assert!(text.starts_with("boundary element 6 (triangle of patch \"hot\""), "{text}");
    assert!(text.contains("is also in patch \"wall\""), "{text}");
}

#[test]
fn irregularities_give_warnings() {
    let mut raw = two_tetrahedra();
    raw.points.insert(2, [7.0, 8.0, 9.0]);
    let shift = |node: &mut u32| *node += u32::from(*node >= 2);
    raw.cells.nodes.iter_mut().for_each(shift);
    raw.boundary.nodes.iter_mut().for_each(shift);
    raw.patches.extend(["inside".to_string(), "nothing".to_string()]);
    raw.boundary.push(CellShape::Triangle, &[1, 3, 4], 1);
    raw.boundary.push(CellShape::Triangle, &[0, 1, 3], 0);
    for renumber in [Renumbering::None, Renumbering::Hilbert, Renumbering::Rcm] {
        let mesh = Mesh::new(raw.clone(), &options(renumber)).unwrap();
        let texts: Vec<String> = mesh.warnings.iter().map(MeshWarning::to_string).collect();
        assert_eq!(
            texts,
            [
                "1 nodes belong to no cell and are left out; the first is node 2 at (7, 8, 9)",
                "1 elements of patch \"inside\" lie between two cells and are left out",
                "1 boundary elements are given more than once; each counts once",
                "patch \"inside\" has no boundary face and is left out",
                "patch \"nothing\" has no boundary face and is left out",
            ]
        );
        assert_eq!(mesh.n_nodes(), 5);
        assert_eq!(mesh.orphan_nodes, [2]);
        assert_eq!(mesh.patches.len(), 1);
        for (node, &original) in mesh.original_node.iter().enumerate() {
            assert_eq!(mesh.points[node], raw.points[original as usize]);
        }
    }
}

#[test]
fn cells_of_a_shape_that_are_all_inverted_are_reversed() {
    for (name, raw) in samples(0.1) {
        let mut reversed = raw.clone();
        for cell in 0..raw.cells.len() {
            let start = raw.cells.offsets[cell] as usize;
            for (i, &local) in raw.cells.shapes[cell].reversed().iter().enumerate() {
                reversed.cells.nodes[start + i] = raw.cells.nodes[start + local as usize];
            }
        }
        let mesh = Mesh::new(reversed, &MeshOptions::default()).unwrap();
        let Some(MeshWarning::Reversed { count, .. }) = mesh.warnings.first() else {
            panic!("{name}: no warning")
        };
        assert!(*count > 1);
        assert_eq!(mesh.to_raw().cells, raw.cells, "{name}");
    }
}

#[test]
fn coinciding_nodes_leave_a_face_without_area() {
    // A prism with a collapsed triangle has a volume.
    let mut cells = Elements::new();
    cells.push(CellShape::Prism, &[0, 1, 2, 3, 4, 5], 0);
    let mut boundary = Elements::new();
    for &face in CellShape::Prism.faces() {
        let nodes: Vec<u32> = face.iter().map(|&node| u32::from(node)).collect();
        let shape = if face.len() == 3 { CellShape::Triangle } else { CellShape::Quadrilateral };
        boundary.push(shape, &nodes, 0);
    }
    let top = [0.0, 0.0, 1.0];
    let raw = RawMesh {
        dimension: 3,
        points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], top, top, top],
        cells,
        boundary,
        regions: vec!["air".to_string()],
        patches: vec!["wall".to_string()],
    };
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let error = Geometry::new(&mesh).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, MeshError::ZeroArea { .. }));
    assert_eq!(
        text,
        "face 1 (patch \"wall\", at (0, 0, 1)) has area 0.0000e0: some of its nodes coincide"
    );
}

#[test]
fn a_cell_with_a_wrong_face_is_not_closed() {
    let mut mesh = Mesh::new(two_tetrahedra(), &options(Renumbering::None)).unwrap();
    mesh.cell_to_faces.items[1] |= SIGN_BIT;
    let error = Geometry::new(&mesh).unwrap_err().to_string();
    assert!(error.starts_with("cell 0 (tetrahedron of region \"steel\""), "{error}");
    assert!(error.contains("is not closed: its outward face areas sum to"), "{error}");
    mesh.points[0] = [1.0; 3];
    let error = Geometry::new(&mesh).unwrap_err();
    assert!(matches!(error, MeshError::Inverted { .. }), "{error}");
}
