//! Small SU2 files written by hand, good and bad.

use crate::files::{MeshFileError, parse_mesh, write_mesh};
use crate::{CellShape, RawMesh};

fn read(text: &str) -> Result<RawMesh, MeshFileError> {
    parse_mesh("mesh.su2".as_ref(), text.as_bytes())
}

const SQUARE: &str = "% made by hand\nNDIME= 2\n%\nNELEM= 2\n5 0 1 2 0\n% between\n5 0 2 3 1\n\
NPOIN= 4 4\n0 0 0\n1.0 0.0 1\n1 1 2\n 0 1 3\nNMARK= 3\nMARKER_TAG= lower wall\nMARKER_ELEMS= 1\n\
3 0 1 7\nMARKER_TAG= rest\nMARKER_ELEMS= 1\nSEND_RECV= 0\n3 1 2\nMARKER_TAG=lower wall \n\
MARKER_ELEMS = 2\n3 2 3\n1 0 0\nFFD_NBOX= 0\n";

#[test]
fn a_square() {
    let text = SQUARE.replace("SEND_RECV= 0\n", "");
    for text in [text.replace('\n', "\r\n"), text] {
        let mesh = read(&text).unwrap();
        assert_eq!(mesh.dimension, 2);
        assert_eq!(mesh.points[2], [1.0, 1.0, 0.0]);
        assert_eq!(mesh.cells.nodes, [0, 1, 2, 0, 2, 3]);
        assert_eq!(mesh.regions, ["default"]);
        assert_eq!(mesh.patches, ["lower wall", "rest"]);
        assert_eq!(mesh.boundary.groups, [0, 1, 0]);
        assert_eq!(mesh.boundary.shapes, [CellShape::Segment; 3]);
    }
}

#[test]
fn points_may_come_first_and_prisms_either_way() {
    let text = "NDIME= 3\nNPOIN= 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 1\n0 1 1\nNELEM= 2\n\
                13 0 2 1 3 5 4\n13 0 1 2 3 4 5\nNMARK= 0\n";
    let mesh = read(text).unwrap();
    assert_eq!(mesh.cells.nodes, [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]);
}

#[test]
fn messages_for_bad_files() {
    let square = SQUARE.replace("SEND_RECV= 0\n", "");
    let with = |old: &str, new: &str| {
        assert!(square.contains(old), "{old}");
        square.replacen(old, new, 1)
    };
    let cases = [
        (
            with("5 0 2 3 1", "5 0 2 4 1"),
            ", line 7: element 1 names node 4, which does not exist (the file has 4 nodes)",
        ),
        (with("5 0 2 3 1", "5 0 2 -1 1"), ", line 7: element 1 names node -1"),
        (with("5 0 2 3 1", "6 0 2 3 1"), ", line 7: unknown element type 6 (SU2)"),
        (
            with("5 0 2 3 1", "22 0 2 3 1 4 5"),
            ", line 7: element type 22 is a second-order triangle",
        ),
        (with("5 0 2 3 1", "5 0 2"), ", line 7: expected an element's node, found `end of line`"),
        (
            with("5 0 2 3 1", "5 0 2 3.5 1"),
            ", line 7: `3.5` is not a number that can stand for an element's node",
        ),
        (
            with("1.0 0.0 1", "1.0 nan 1"),
            ", line 10: node 1 has a coordinate that is not finite: NaN",
        ),
        (
            with("1.0 0.0 1", "1.0 0,0 1"),
            ", line 10: `0,0` is not a number that can stand for a node's coordinate",
        ),
        (
            with("NPOIN= 4", "NPOIN= 400000"),
            ", line 8: 400000 nodes announced, but the rest of the file can hold at most",
        ),
        (with("NELEM= 2", "NELEM= 400000"), ", line 4: 400000 elements announced, but"),
        (with("NMARK= 3", "NPOIN= 3"), ", line 13: expected one NPOIN, found `NPOIN= 3`"),
        (with("NDIME= 2", "NDIME= 4"), ": expected NDIME= 2 or 3, found `4`"),
        (
            with("NDIME= 2", "NZONE= 2\nNDIME= 2"),
            ", line 2: a mesh of 2 zones cannot be read: write each zone",
        ),
        (with("NDIME= 2\n", ""), ": missing section `NDIME`"),
        (with("NPOIN= 4", "POINTS= 4"), ": missing section `NPOIN`"),
        (with("NELEM= 2", "CELLS= 2"), ": missing section `NELEM`"),
        (with("MARKER_TAG= lower wall\n", ""), ", line 14: missing section `MARKER_TAG`"),
        (
            with("NDIME= 2", "NDIME= x"),
            ", line 2: `x` is not a number that can stand for the number after a keyword",
        ),
        (with("NELEM= 2\n5 0 1 2 0\n% between\n5 0 2 3 1", "NELEM= 0"), ": the mesh has no cells"),
        (
            square[..square.find("1 1 2\n").unwrap()].to_owned(),
            ", line 11: the file ends where a node's coordinate should follow: it is truncated",
        ),
    ];
    let message = |text: &str| read(text).err().map(|e| e.to_string()).unwrap_or_default();
    let wrong = cases
        .iter()
        .map(|(text, expected)| (message(text), expected))
        .filter(|(message, expected)| !message.starts_with(&format!("mesh.su2{expected}")));
    assert_eq!(wrong.collect::<Vec<_>>(), []);
}

#[test]
fn patches_are_written_and_regions_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.su2");
    let mesh = crate::files::test_meshes::every_3d_shape();
    write_mesh(&path, &mesh).unwrap();
    let read = crate::files::read_mesh(&path).unwrap();
    assert_eq!(read.regions, ["default"]);
    assert_eq!(read.patches, mesh.patches);
    assert_eq!((read.cells.nodes, read.points), (mesh.cells.nodes, mesh.points));
}

#[test]
fn a_tilted_2d_mesh_is_rotated_to_xy_and_a_non_planar_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plane.su2");
    let mut mesh = read(&SQUARE.replace("SEND_RECV= 0\n", "")).unwrap();
    let flat = mesh.points.clone();
    mesh.points.iter_mut().for_each(|point| *point = [point[0], 3.0, point[1]]);
    write_mesh(&path, &mesh).unwrap();
    assert_eq!(read(&std::fs::read_to_string(&path).unwrap()).unwrap().points, flat);
    mesh.points[2][1] = 4.0;
    let text = write_mesh(&path, &mesh).unwrap_err().to_string();
    assert!(
        text.contains("cannot be written with two coordinates: the 2D mesh is not planar"),
        "{text}"
    );
}
