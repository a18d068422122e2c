//! Small Gmsh files written by hand, good and bad.

use crate::files::{MeshFileError, MeshFileProblem as Problem, Place, parse_mesh};
use crate::testing::gmsh_file;
use crate::{CellShape, Mesh, MeshOptions, RawMesh};

fn read(bytes: &[u8]) -> Result<RawMesh, MeshFileError> {
    parse_mesh("mesh.msh".as_ref(), bytes)
}

fn message(bytes: impl AsRef<[u8]>) -> String {
    read(bytes.as_ref()).err().map(|error| error.to_string()).unwrap_or_default()
}

/// Two triangles and a quadrilateral, with gaps in the tags, comments, elements of a point and of a
/// curve, and sections that are not read.
const ASCII_22: &str = "$Comments\nmade by hand\n$EndComments\n\
$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
$PhysicalNames\n3\n1 7 \"hot wall\"\n2 3 \"left\"\n2 5 \"right\"\n$EndPhysicalNames\n\
$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 1 1 0\r\n100000 0 1 0\n-4 2 0 0\n5 2e0 1. +0\n$EndNodes\n\
$Periodic\n1\n0 1 2\n1\n1 2\n$EndPeriodic\n\
$Elements\n7\n1 15 2 9 1 1\n2 1 2 7 1 1 2\n3 1 2 0 1 2 3\n4 1 4 -8 1 1 1 3 100000\n\
5 2 2 3 1 1 2 3\n6 2 2 3 1 1 3 100000\n7 3 2 5 1 2 -4 5 3\n$EndElements\n\
$NodeData\n1\n\"T\"\n$EndNodeData\n";

fn check_plane(mesh: &RawMesh) {
    assert_eq!(mesh.dimension, 2);
    assert_eq!(mesh.points[3..], [[0., 1., 0.], [2., 0., 0.], [2., 1., 0.]]);
    assert_eq!(mesh.regions, ["left", "right"]);
    assert_eq!(mesh.patches, ["hot wall", "group_8"]);
    assert_eq!(mesh.cells.groups, [0, 0, 1]);
    assert_eq!(mesh.cells.nodes, [0, 1, 2, 0, 2, 3, 1, 4, 5, 2]);
    assert_eq!(mesh.boundary.nodes, [0, 1, 2, 3]);
    assert_eq!(mesh.boundary.groups, [0, 1]);
}

#[test]
fn format_22_ascii() {
    check_plane(&read(ASCII_22.as_bytes()).unwrap());
    check_plane(&read(ASCII_22.replace('\n', "\r\n").as_bytes()).unwrap());
}

/// Builds binary files from numbers.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn text(mut self, text: &str) -> Self {
        self.0.extend(text.as_bytes());
        self
    }
    fn ints(mut self, values: &[i32]) -> Self {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }
    fn sizes(mut self, values: &[u64]) -> Self {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }
    fn reals(mut self, values: &[f64]) -> Self {
        self.0.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        self
    }
}

const POINTS: [(i32, [f64; 3]); 6] = [
    (1, [0., 0., 0.]),
    (2, [1., 0., 0.]),
    (3, [1., 1., 0.]),
    (100000, [0., 1., 0.]),
    (7, [2., 0., 0.]),
    (5, [2., 1., 0.]),
];
const NAMES: &str = "$PhysicalNames\n3\n1 7 \"hot wall\"\n2 3 \"left\"\n2 5 \"right\"\n\
                     $EndPhysicalNames\n";

fn binary_22() -> Vec<u8> {
    let mut bytes = Bytes::default().text("$MeshFormat\n2.2 1 8\n").ints(&[1]);
    bytes = bytes.text("\n$EndMeshFormat\n").text(NAMES).text("$Nodes\n6\n");
    for (tag, point) in POINTS {
        bytes = bytes.ints(&[tag]).reals(&point);
    }
    bytes = bytes.text("\n$EndNodes\n$Elements\n7\n");
    bytes = bytes.ints(&[15, 1, 2, 1, 9, 1, 1]);
    bytes =
        bytes.ints(&[1, 2, 2, 2, 7, 1, 1, 2, 3, 0, 1, 2, 3]).ints(&[1, 1, 2, 4, -8, 1, 3, 100000]);
    bytes = bytes.ints(&[2, 2, 2, 5, 3, 1, 1, 2, 3, 6, 3, 1, 1, 3, 100000]);
    bytes.ints(&[3, 1, 2, 7, 5, 1, 2, 7, 5, 3]).text("\n$EndElements\n").0
}

#[test]
fn format_22_binary() {
    check_plane(&read(&binary_22()).unwrap());
}

#[test]
fn format_41_ascii() {
    let text = format!(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n{NAMES}\
         $Entities\n1 3 2 0\n1 0 0 0 1 9\n\
         1 0 0 0 1 0 0 1 7 2 1 -2\n2 1 0 0 1 1 0 0 2 2 3\n3 0 1 0 1 1 0 1 -8 2 1 2\n\
         1 0 0 0 1 1 0 1 3 4 1 2 3 -4\n2 1 0 0 2 1 0 1 5 0\n$EndEntities\n\
         $PartitionedEntities\n1\n1\n4 1\n0 0 0 0\n$EndPartitionedEntities\n\
         $Nodes\n3 6 1 100000\n0 1 0 1\n1\n0 0 0\n\
         1 2 1 2\n2\n3\n1 0 0 0.5\n1 1 0 0.75\n2 1 0 3\n100000\n7\n5\n\
         0 1 0\n2 0 0\n2 1 0\n$EndNodes\n\
         $Elements\n6 7 1 7\n0 1 15 1\n1 1\n1 1 1 1\n2 1 2\n1 2 1 1\n3 2 3\n1 3 1 1\n4 3 100000\n\
         2 1 2 2\n5 1 2 3\n6 1 3 100000\n2 2 3 1\n7 2 7 5 3\n$EndElements\n"
    );
    check_plane(&read(text.as_bytes()).unwrap());
}

/// The entities and nodes of the binary 4.1 file, whose elements a test may replace.
fn binary_41(elements: Bytes) -> Vec<u8> {
    let mut bytes = Bytes::default().text("$MeshFormat\n4.1 1 8\n").ints(&[1]);
    bytes = bytes.text("\n$EndMeshFormat\n").text(NAMES).text("$Entities\n").sizes(&[1, 3, 2, 0]);
    bytes = bytes.ints(&[1]).reals(&[0.; 3]).sizes(&[1]).ints(&[9]);
    bytes = bytes.ints(&[1]).reals(&[0.; 6]).sizes(&[1]).ints(&[7]).sizes(&[2]).ints(&[1, -2]);
    bytes = bytes.ints(&[2]).reals(&[0.; 6]).sizes(&[0, 0]);
    bytes = bytes.ints(&[3]).reals(&[0.; 6]).sizes(&[1]).ints(&[-8]).sizes(&[0]);
    bytes = bytes.ints(&[1]).reals(&[0.; 6]).sizes(&[1]).ints(&[3]).sizes(&[1]).ints(&[4]);
    bytes = bytes.ints(&[2]).reals(&[0.; 6]).sizes(&[1]).ints(&[5]).sizes(&[0]);
    bytes = bytes.text("\n$EndEntities\n$Nodes\n").sizes(&[2, 6, 1, 100000]);
    bytes = bytes.ints(&[1, 2, 1]).sizes(&[2, 1, 2]);
    for (_, point) in &POINTS[..2] {
        bytes = bytes.reals(point).reals(&[0.5]);
    }
    bytes = bytes.ints(&[2, 1, 0]).sizes(&[4, 3, 100000, 7, 5]);
    for (_, point) in &POINTS[2..] {
        bytes = bytes.reals(point);
    }
    bytes = bytes.text("\n$EndNodes\n$Elements\n");
    bytes.0.extend(elements.0);
    bytes.text("\n$EndElements\n").0
}

#[test]
fn format_41_binary() {
    let elements = Bytes::default().sizes(&[6, 7, 1, 7]);
    let elements = elements.ints(&[0, 1, 15]).sizes(&[1, 1, 1]);
    let elements = elements.ints(&[1, 1, 1]).sizes(&[1, 2, 1, 2]);
    let elements = elements.ints(&[1, 2, 1]).sizes(&[1, 3, 2, 3]);
    let elements = elements.ints(&[1, 3, 1]).sizes(&[1, 4, 3, 100000]);
    let elements = elements.ints(&[2, 1, 2]).sizes(&[2, 5, 1, 2, 3, 6, 1, 3, 100000]);
    let elements = elements.ints(&[2, 2, 3]).sizes(&[1, 7, 2, 7, 5, 3]);
    check_plane(&read(&binary_41(elements)).unwrap());
}

#[test]
fn entities_of_a_partitioned_mesh_have_their_physical_groups() {
    let text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"rock\"\n\
        $EndPhysicalNames\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 1 1 0\n$EndEntities\n\
        $PartitionedEntities\n2\n0\n1 0 0 1\n9 0 1 2 1 2 0.5 0 0 0\n\
        2 3 1 1 2 0 0 0 1 1 1 1 1 2 5 6\n$EndPartitionedEntities\n\
        $Nodes\n1 4 1 4\n3 2 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n\
        $Elements\n1 1 1 1\n3 2 4 1\n1 1 2 3 4\n$EndElements\n";
    let mesh = read(text.as_bytes()).unwrap();
    assert_eq!((mesh.dimension, mesh.regions), (3, vec!["rock".to_owned()]));
    assert_eq!(mesh.cells.shapes, [CellShape::Tetrahedron]);
}

#[test]
fn cells_without_a_physical_group_are_the_default_region() {
    let text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n\
                1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\
                $EndNodes\n$Elements\n2\n1 4 0 1 2 3 4\n2 2 2 0 6 1 3 2\n$EndElements\n";
    let mesh = read(text.as_bytes()).unwrap();
    assert_eq!((mesh.dimension, mesh.regions), (3, vec!["default".to_owned()]));
    assert!(mesh.boundary.is_empty() && mesh.patches.is_empty());
}

/// Replaces an existing part of the ASCII file.
fn with(old: &str, new: &str) -> String {
    assert!(ASCII_22.contains(old), "{old}");
    ASCII_22.replacen(old, new, 1)
}

#[test]
fn messages_for_bad_text() {
    let cases = [
        (with("1 1 0\r", "1 x 0\r"), ", line 17: `x` is not a number that can stand for a node's"),
        (with("3 1 1", "3 nan 1"), ", line 17: node 3 has a coordinate that is not finite: NaN"),
        (with("3 1 1", "3 1e400 1"), ", line 17: node 3 has a coordinate that is not finite: inf"),
        (with("100000 0 1", "2 0 1"), ", line 18: node tag 2 is given twice"),
        (
            with("7 3 2 5 1 2 -4 5 3", "7 3 2 5 1 2 -4 6 3"),
            ", line 36: element 7 names node 6, which does not exist (the file has 6 nodes)",
        ),
        (
            with("7 3 2 5", "7 99 2 5"),
            ", line 36: element type 99 is a third- or higher-order element",
        ),
        (with("7 3 2 5", "7 140 2 5"), ", line 36: unknown element type 140 (Gmsh)"),
        (with("$Nodes\n6", "$Nodes\n5"), ", line 20: expected $EndNodes, found `5`"),
        (with("$Nodes\n6", "$Nodes\n7"), ", line 21: `$EndNodes` is not a number that can stand"),
        (
            with("$Nodes\n6", "$Nodes\n123456789"),
            ", line 14: 123456789 nodes announced, but the rest of the file can hold at most",
        ),
        (
            with("$Elements\n7", "$Elements\n77777"),
            ", line 29: 77777 elements announced, but the rest of the file can hold at most",
        ),
        (with("$PhysicalNames\n3", "$PhysicalNames\n-3"), ", line 8: `-3` is not a number"),
        (with("\"left\"", "left"), ", line 10: expected a name in double quotes, found `left`"),
        (with("2.2 0 8", "4.0 0 8"), ", line 5: Gmsh format 4.0 cannot be read: save it from Gmsh"),
        (
            with("2.2 0 8", "2.2 2 8"),
            ", line 5: expected the file type (0 ASCII, 1 binary), found `2`",
        ),
        (with("2.2 0 8", "2.2 0 4"), ", line 5: expected the size of a number, 8, found `4`"),
        (
            with("$Nodes", "$Knots").replace("$EndNodes", "$EndKnots"),
            ", line 28: missing section `$Nodes`",
        ),
        (
            with("$NodeData", "NodeData"),
            ", line 38: expected the start of another section, found `NodeData`",
        ),
        (with("$EndNodeData", ""), ", line 38: the file ends where the end of the section"),
        ("$NOD\n4\n".into(), ", line 1: Gmsh format 1 cannot be read"),
        ("".into(), ": missing section `$MeshFormat`"),
        ("mesh".into(), ", line 1: expected $MeshFormat, found `mesh`"),
        ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n".into(), ": missing section `$Nodes`"),
        (
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n".into(),
            ": missing section `$Elements`",
        ),
        (
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n$Nodes\n".into(),
            ", line 7: expected the start of another section, found `$Nodes`",
        ),
        (
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n$Elements\n0\n\
             $EndElements\n"
                .into(),
            ": the mesh has no cells: neither 3D elements nor 2D ones (0 nodes read). Name the surface or volume in a physical group too.",
        ),
    ];
    let wrong = cases
        .into_iter()
        .map(|(text, expected)| (message(text), expected))
        .filter(|(message, expected)| !message.starts_with(&format!("mesh.msh{expected}")));
    assert_eq!(wrong.collect::<Vec<_>>(), []);
}

#[test]
fn the_error_of_a_truncated_text_names_the_missing_part() {
    let text = &ASCII_22[..ASCII_22.find("-4 2 0 0").unwrap()];
    assert_eq!(
        message(text.replacen("$Nodes\n6", "$Nodes\n4", 1)),
        "mesh.msh, line 19: the file ends where $EndNodes should follow: it is truncated"
    );
    let text = &ASCII_22[..ASCII_22.find("3 100000\n7 3").unwrap()];
    assert!(message(text).contains("the file ends where an element's node should follow"));
}

#[test]
fn a_second_order_element_comes_with_a_remedy() {
    let message = message(with("7 3 2 5", "7 9 2 5"));
    assert!(message.contains("line 36: element type 9 is a second-order triangle"), "{message}");
    assert!(message.contains("SetOrder 1;"), "{message}");
}

#[test]
fn messages_for_bad_binary() {
    let error = |bytes: &[u8]| read(bytes).err().unwrap();
    let mut other = binary_22();
    let one = 20;
    other[one..one + 4].copy_from_slice(&1_i32.to_be_bytes());
    let found = error(&other);
    assert!(matches!(found.problem, Problem::WrongEndianness { found: 16777216 }), "{found}");
    assert_eq!(found.place, Place::Byte(20));
    assert!(
        found.to_string().starts_with("mesh.msh, byte 20: binary file of the other endianness")
    );

    let good = binary_22();
    let nodes = 7 + good.windows(7).position(|w| w == b"$Nodes\n").unwrap();
    let mut huge = good.clone();
    huge.splice(nodes..nodes + 1, *b"99999999");
    let found = error(&huge);
    assert!(matches!(found.problem, Problem::CountTooLarge { what: "nodes", count: 99999999, .. }));
    assert!(matches!(found.place, Place::Byte(_)), "{found}");

    let mut infinite = good.clone();
    infinite[nodes + 6..nodes + 14].copy_from_slice(&f64::INFINITY.to_le_bytes());
    let found = error(&infinite);
    assert!(matches!(found.problem, Problem::NotFinite { node: 1, .. }), "{found}");
    assert_eq!(found.place, Place::Byte(nodes + 6));

    let elements = 12 + good.windows(10).position(|w| w == b"$Elements\n").unwrap();
    let mut follow = good.clone();
    follow[elements + 4..elements + 8].copy_from_slice(&(-1_i32).to_le_bytes());
    assert!(matches!(error(&follow).problem, Problem::CountTooLarge { count: -1, limit: 7, .. }));

    let truncated = error(&good[..elements + 100]);
    assert!(matches!(truncated.problem, Problem::Truncated { .. }), "{truncated}");

    let mut no_line_end = good;
    no_line_end[nodes + 1] = b'7';
    no_line_end[nodes + 2] = b'x';
    assert!(read(&no_line_end).is_err());
    assert!(matches!(
        error(&[b"$MeshFormat\n2.2 1 8".as_slice(), &[9; 8]].concat()).problem,
        Problem::BadNumber { .. } | Problem::Unexpected { .. }
    ));
}

#[test]
fn bad_blocks_of_format_41() {
    let cases = [
        (
            Bytes::default().sizes(&[1, 2, 1, 2]).ints(&[2, 1, 2]).sizes(&[1, 5, 1, 2, 3]),
            "array `$Elements` has 1 values instead of 2",
        ),
        (Bytes::default().sizes(&[1, u64::MAX, 1, 2]), "`18446744073709551615` is not a number"),
        (Bytes::default().sizes(&[1, 1 << 40, 1, 2]), "1099511627776 elements announced, but"),
        (
            Bytes::default().sizes(&[1, 1, 1, 2]).ints(&[2, 1, 2]).sizes(&[1 << 40]),
            "1099511627776 elements in a block announced",
        ),
        (
            Bytes::default().sizes(&[1, 1, 1, 1]).ints(&[2, 1, 11]).sizes(&[1]),
            "element type 11 is a second-order tetrahedron",
        ),
        (
            Bytes::default().sizes(&[1, 1, 1, 1]).ints(&[2, 1, 2]).sizes(&[1, 5, 1, 2, 4]),
            "element 5 names node 4, which",
        ),
    ];
    for (elements, expected) in cases {
        let message = message(binary_41(elements));
        assert!(message.contains(expected), "{message}\n{expected}");
        assert!(message.starts_with("mesh.msh, byte "), "{message}");
    }
    let start = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n";
    for (nodes, expected) in [
        (
            "1 2 1 2\n2 1 0 1\n1\n0 0 0\n$EndNodes\n",
            "line 8: array `$Nodes` has 1 values instead of 2",
        ),
        ("1 2 1 2\n2 1 0 2\n1\n1\n0 0 0\n0 0 0\n", "line 8: node tag 1 is given twice"),
        (
            "1 1 1 1\n2 1 0 1\n1\n0 0 inf\n",
            "line 8: node 1 has a coordinate that is not finite: inf",
        ),
    ] {
        let message = message(format!("{start}{nodes}"));
        assert!(message.contains(expected), "{message}\n{expected}");
    }
}

#[test]
fn an_entity_in_two_groups_is_refused_by_the_names_of_both() {
    let bytes = std::fs::read(gmsh_file("overlap41")).unwrap();
    assert_eq!(
        message(&bytes),
        "mesh.msh: curve 1 is in the physical groups \"heated\" and \"ymin\": a boundary face belongs to \
         one patch; leave the curve in one of these groups"
    );
    // Format 2.2 repeats the elements; the matching of faces finds them.
    let raw = read(&std::fs::read(gmsh_file("overlap22")).unwrap()).unwrap();
    let error = Mesh::new(raw, &MeshOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("(segment of patch \"") && error.contains("is also in patch \""),
        "{error}"
    );
    assert!(error.contains("\"heated\"") && error.contains("\"ymin\""), "{error}");
}

/// A square of four triangles about its centre on two surfaces, in format 4.1, with the groups of the
/// curve between them, of the outline and of both surfaces.
fn two_surfaces(inner: &str, outer: &str, surface: &str) -> String {
    format!(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n1 1 \"one\"\n1 2 \"two\"\n\
         1 3 \"one\"\n2 1 \"steel\"\n2 2 \"all\"\n$EndPhysicalNames\n\
         $Entities\n0 2 2 0\n1 0 0 0 1 1 0 {inner} 0\n2 0 0 0 1 1 0 {outer} 0\n\
         1 0 0 0 1 1 0 {surface} 0\n2 0 0 0 1 1 0 1 1 0\n$EndEntities\n\
         $Nodes\n1 5 1 5\n2 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 0.5 0\n$EndNodes\n\
         $Elements\n4 10 1 10\n1 1 1 2\n1 1 5\n2 5 3\n1 2 1 4\n3 1 2\n4 2 3\n5 3 4\n6 4 1\n\
         2 1 2 2\n7 1 2 5\n8 2 3 5\n2 2 2 2\n9 3 4 5\n10 4 1 5\n$EndElements\n"
    )
}

#[test]
fn groups_that_overlap_between_cells_or_have_one_name_are_accepted() {
    let mesh_of = |text: &str| Mesh::new(read(text.as_bytes()).unwrap(), &MeshOptions::default());
    let mesh = mesh_of(&two_surfaces("2 1 2", "1 1", "1 1")).unwrap();
    assert_eq!(mesh.patches.len(), 1);
    let warnings: Vec<String> = mesh.warnings.iter().map(ToString::to_string).collect();
    for patch in ["one", "two"] {
        let line =
            format!("2 elements of patch \"{patch}\" lie between two cells and are left out");
        assert!(warnings.contains(&line), "{warnings:?}");
    }
    // Groups 1 and 3 are both called "one".
    let mesh = mesh_of(&two_surfaces("0", "2 1 3", "1 1")).unwrap();
    assert_eq!((mesh.patches.len(), mesh.patches[0].faces.len()), (1, 4));
    assert_eq!(
        message(two_surfaces("0", "2 1 2", "1 1")),
        "mesh.msh: curve 2 is in the physical groups \"one\" and \"two\": a boundary face belongs to one \
         patch; leave the curve in one of these groups"
    );
    assert_eq!(
        message(two_surfaces("0", "1 1", "2 1 -2")),
        "mesh.msh: surface 1 is in the physical groups \"steel\" and \"all\": a cell belongs to one \
         region; leave the surface in one of these groups"
    );
}
