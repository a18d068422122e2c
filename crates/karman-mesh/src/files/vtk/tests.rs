//! Legacy VTK files, written here because karman only reads them, and small ones by hand.

use crate::files::element_types::to_vtk;
use crate::files::number::push_float;
use crate::files::test_meshes::all;
use crate::files::{MeshFileError, MeshWithFields, parse_mesh};
use crate::{CellShape, RawMesh};

/// Layout of a test file: binary or text, and whether cells are two arrays (version 5).
#[derive(Clone, Copy, Debug)]
pub(in crate::files) struct Layout {
    binary: bool,
    split: bool,
}

/// Every layout.
pub(in crate::files) const LAYOUTS: [Layout; 4] = [
    Layout { binary: false, split: false },
    Layout { binary: false, split: true },
    Layout { binary: true, split: false },
    Layout { binary: true, split: true },
];

/// A legacy file with karman's convention for groups.
pub(in crate::files) fn written(mesh: &RawMesh, layout: Layout) -> Vec<u8> {
    let mut out = Vec::new();
    let text = |out: &mut Vec<u8>, line: &str| out.extend_from_slice(line.as_bytes());
    let ints = |out: &mut Vec<u8>, values: &[i64], wide: bool| {
        for value in values {
            match (layout.binary, wide) {
                (true, true) => out.extend(value.to_be_bytes()),
                (true, false) => out.extend((*value as i32).to_be_bytes()),
                (false, _) => out.extend(format!("{value} ").into_bytes()),
            }
        }
        out.push(b'\n');
    };
    let kind = if layout.binary { "BINARY" } else { "ASCII" };
    let version = if layout.split { "5.1" } else { "3.0" };
    text(&mut out, &format!("# vtk DataFile Version {version}\ntitle\n{kind}\n"));
    text(&mut out, "DATASET UNSTRUCTURED_GRID\n");
    text(&mut out, &format!("FIELD FieldData {}\n", mesh.regions.len() + mesh.patches.len()));
    for (prefix, names) in [("region", &mesh.regions), ("patch", &mesh.patches)] {
        for (number, name) in names.iter().enumerate() {
            let encoded: String = name.bytes().map(|b| format!("%{b:02X}")).collect();
            text(&mut out, &format!("{prefix}:{encoded} 1 1 int\n"));
            ints(&mut out, &[number as i64], false);
        }
    }
    text(&mut out, &format!("POINTS {} double\n", mesh.points.len()));
    for value in mesh.points.iter().flatten() {
        if layout.binary {
            out.extend(value.to_be_bytes());
        } else {
            push_float(&mut out, *value);
            out.push(b' ');
        }
    }
    text(&mut out, "\nMETADATA\nINFORMATION 0\n\n");
    let lists = [&mesh.cells, &mesh.boundary];
    let n: usize = lists.iter().map(|elements| elements.len()).sum();
    let nodes: Vec<Vec<i64>> = lists
        .iter()
        .flat_map(|list| {
            (0..list.len()).map(|e| list.nodes_of(e).iter().map(|&n| n.into()).collect())
        })
        .collect();
    if layout.split {
        let ends = nodes.iter().scan(0, |end, nodes| {
            *end += nodes.len() as i64;
            Some(*end)
        });
        let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
        let nodes = nodes.concat();
        text(&mut out, &format!("CELLS {} {}\nOFFSETS vtktypeint64\n", n + 1, nodes.len()));
        ints(&mut out, &offsets, true);
        text(&mut out, "CONNECTIVITY vtktypeint64\n");
        ints(&mut out, &nodes, true);
    } else {
        let counted = |nodes: &Vec<i64>| [&[nodes.len() as i64], nodes.as_slice()].concat();
        let flat: Vec<i64> = nodes.iter().flat_map(counted).collect();
        text(&mut out, &format!("CELLS {n} {}\n", flat.len()));
        ints(&mut out, &flat, false);
    }
    text(&mut out, &format!("CELL_TYPES {n}\n"));
    let shapes = lists.iter().flat_map(|list| list.shapes.iter());
    ints(&mut out, &shapes.map(|&shape| to_vtk(shape).into()).collect::<Vec<_>>(), false);
    let groups = |list: usize| {
        let values = lists.iter().enumerate().flat_map(move |(which, elements)| {
            elements.groups.iter().map(move |&g| if which == list { i64::from(g) } else { -1 })
        });
        values.collect::<Vec<_>>()
    };
    text(&mut out, &format!("CELL_DATA {n}\nSCALARS region int 1\nLOOKUP_TABLE default\n"));
    ints(&mut out, &groups(0), false);
    text(&mut out, &format!("FIELD FieldData 1\npatch 1 {n} vtktypeint64\n"));
    ints(&mut out, &groups(1), true);
    out
}

#[test]
fn every_layout_reads_back() {
    for mesh in all() {
        for layout in LAYOUTS {
            let read = parse_mesh("m.vtk".as_ref(), &written(&mesh, layout)).unwrap();
            assert_eq!(read, mesh, "{layout:?}");
        }
    }
}

fn read(text: &str) -> Result<MeshWithFields, MeshFileError> {
    super::parse(text.as_bytes())
        .map_err(|fault| fault.locate("mesh.vtk".as_ref(), text.as_bytes()))
}

/// A pixel, a voxel, a vertex and every kind of attribute.
const TEXT: &str = "# vtk DataFile Version 2.0\nby hand\nascii\nDATASET UNSTRUCTURED_GRID\n\
FIELD fields 1\nTimeValue 1 1 double\n2.5\n\
POINTS 8 float\n0 0 0 1 0 0 0 1 0 1 1 0\n0 0 1 1 0 1 0 1 1 1 1 1\n\
CELLS 5 25\n8 0 1 2 3 4 5 6 7\n4 0 2 1 3\n1 0\n4 4 5 6 7\n3 0 1 4\nCELL_TYPES 5\n11\n8\n1\n8 5\n\
CELL_DATA 5\nSCALARS CellEntityIds int\nLOOKUP_TABLE default\n0 3 9 0 3\n\
SCALARS temperature double 2\nLOOKUP_TABLE default\n1 2 3 4 5 6 7 8 9 10\n\
LOOKUP_TABLE default 1\n0 0 0 1\n\
VECTORS velocity%20mean float\n1 2 3 0 0 0 0 0 0 0 0 0 0 0 0\n\
COLOR_SCALARS c 1\n0 0 0 0 0\n\
POINT_DATA 8\nNORMALS n float\n0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 1 0 0 2\n\
TEXTURE_COORDINATES tc 1 float\n1 2 3 4 5 6 7 8\n\
FIELD FieldData 2\np 1 8 double\n1 2 3 4 5 6 7 8\nMETADATA\nINFORMATION 0\n\n\
q 1 8 unsigned_char\n1 2 3 4 5 6 7 8\n";

#[test]
fn attributes_and_foreign_groups() {
    let read = read(TEXT).unwrap();
    let mesh = &read.mesh;
    assert_eq!(mesh.cells.shapes, [CellShape::Hexahedron]);
    assert_eq!(mesh.cells.nodes, [0, 1, 3, 2, 4, 5, 7, 6]);
    assert_eq!(mesh.boundary.nodes, [0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 4]);
    assert_eq!(
        (&mesh.regions[..], &mesh.patches[..]),
        (&["group_0".into()][..], &["group_0".into(), "group_3".into()][..])
    );
    assert_eq!(mesh.boundary.groups, [1, 0, 1]);
    assert_eq!(read.time, Some(2.5));
    let names: Vec<_> =
        read.cell_fields.iter().map(|f| (f.name.as_str(), f.values.as_slice())).collect();
    assert_eq!(names, [("temperature", &[1., 2.][..]), ("velocity mean", &[1., 2., 3.])]);
    let names: Vec<_> = read.node_fields.iter().map(|f| (f.name.as_str(), f.components)).collect();
    assert_eq!(names, [("n", 3), ("tc", 1), ("p", 1), ("q", 1)]);
    assert_eq!(read.node_fields[0].component(2), [1., 1., 1., 1., 1., 1., 1., 2.]);
}

#[test]
fn messages_for_bad_files() {
    let with = |old: &str, new: &str| {
        assert!(TEXT.contains(old), "{old}");
        TEXT.replacen(old, new, 1)
    };
    let cases = [
        (
            with("UNSTRUCTURED_GRID", "POLYDATA"),
            ", line 4: data set POLYDATA cannot be read: convert it",
        ),
        (with("ascii", "text"), ", line 3: expected ASCII or BINARY, found `text`"),
        (
            with("# vtk DataFile", "# vtk"),
            ", line 1: expected `# vtk DataFile Version` on the first line",
        ),
        (
            with("POINTS 8", "POINTS 9"),
            ", line 11: `CELLS` is not a number that can stand for a number of an array",
        ),
        (
            with("POINTS 8", "POINTS 7"),
            ", line 10: expected a keyword of an unstructured grid, found `1`",
        ),
        (with("POINTS 8", "POINTS 800000"), ", line 9: 2400000 numbers of an array announced, but"),
        (
            with("POINTS 8 float", "POINTS 8 bit"),
            ", line 9: array `POINTS` of type bit cannot be read",
        ),
        (
            with("0 0 1 1 0 1", "0 0 1 1 0 nan"),
            ", line 9: node 5 has a coordinate that is not finite: NaN",
        ),
        (
            with("4 4 5 6 7", "4 4 5 6 8"),
            ", line 12: element 3 names node 8, which does not exist (the file has 8 nodes)",
        ),
        (with("4 4 5 6 7", "4 4 5 6 -1"), ", line 12: element 3 names node -1"),
        (with("CELLS 5 25", "CELLS 6 25"), ", line 12: array `CELLS` has 5 values instead of 6"),
        (with("3 0 1 4", "4 0 1 4"), ", line 12: array `CELLS` has 25 values instead of 26"),
        (
            with("8 5\nCELL_DATA", "24 5\nCELL_DATA"),
            ", line 18: element type 24 is a second-order tetrahedron",
        ),
        (with("8 5\nCELL_DATA", "7 5\nCELL_DATA"), ", line 18: unknown element type 7 (VTK)"),
        (
            with("8 5\nCELL_DATA", "5 5\nCELL_DATA"),
            ", line 12: element 3, a triangle, has 4 nodes instead of 3",
        ),
        (
            with("CELL_DATA 5", "CELL_DATA 4"),
            ", line 25: expected a keyword of an unstructured grid, found `3`",
        ),
        (with("p 1 8 double", "p 1 4 double"), ", line 41: array `p` has 4 values instead of 8"),
        (
            with("TimeValue 1 1 double", "note 1 1 string"),
            ", line 7: array `note` of type string cannot be read",
        ),
        (
            with("POINTS", "NODES"),
            ", line 8: expected a keyword of an unstructured grid, found `NODES`",
        ),
        (TEXT[..TEXT.find("POINTS").unwrap()].to_owned(), ": missing section `POINTS`"),
        (TEXT[..TEXT.find("CELLS").unwrap()].to_owned(), ": missing section `CELLS`"),
        (TEXT[..TEXT.find("CELL_TYPES").unwrap()].to_owned(), ": missing section `CELL_TYPES`"),
        (
            TEXT[..TEXT.find("11\n8").unwrap()].to_owned(),
            ", line 18: 5 numbers of an array announced, but the rest of the file can",
        ),
    ];
    let message = |text: &str| read(text).err().map(|e| e.to_string()).unwrap_or_default();
    let wrong = cases
        .iter()
        .map(|(text, expected)| (message(text), expected))
        .filter(|(message, expected)| !message.starts_with(&format!("mesh.vtk{expected}")));
    assert_eq!(wrong.collect::<Vec<_>>(), []);
}

#[test]
fn binary_errors_name_a_byte() {
    let mesh = crate::files::test_meshes::every_3d_shape();
    let bytes = written(&mesh, LAYOUTS[3]);
    let error = parse_mesh("m.vtk".as_ref(), &bytes[..bytes.len() - 10]).err().unwrap();
    assert!(error.to_string().contains("m.vtk, byte "), "{error}");
    let at = bytes.windows(6).position(|w| w == b"double").unwrap() + 7;
    let mut infinite = bytes.clone();
    infinite[at..at + 8].copy_from_slice(&f64::NEG_INFINITY.to_be_bytes());
    let error = parse_mesh("m.vtk".as_ref(), &infinite).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("m.vtk, byte {at}: node 0 has a coordinate that is not finite: -inf")
    );
}

#[test]
fn offsets_of_version_5_are_checked() {
    let mesh = crate::files::test_meshes::every_2d_shape();
    let text = String::from_utf8(written(&mesh, LAYOUTS[1])).unwrap();
    let offsets = "0 3 7 10 12 14 16 ";
    assert!(text.contains(offsets), "{text}");
    for (changed, expected) in [
        ("0 3 7 10 12 14 17 ", "array `connectivity` has 16 values instead of 17"),
        ("0 3 7 2 12 14 16 ", "array `connectivity` has 16 values instead of 7"),
        ("-1 3 7 10 12 14 16 ", "array `connectivity` has 16 values instead of 3"),
        ("0 3 6 10 12 14 16 ", "element 1, a quadrilateral, has 3 nodes instead of 4"),
    ] {
        let message = read(&text.replace(offsets, changed)).err().unwrap().to_string();
        assert!(message.contains(expected), "{message}\n{expected}");
    }
    let message = read(&text.replace("OFFSETS", "STARTS")).err().unwrap().to_string();
    assert!(message.contains("expected OFFSETS and CONNECTIVITY, found `STARTS`"), "{message}");
    let message = read(&text.replace("OFFSETS vtktypeint64", "OFFSETS double")).err().unwrap();
    assert!(message.to_string().contains("expected integers, found `double`"), "{message}");
    let message = read(&text.replace("CELL_TYPES 6\n5 ", "CELL_TYPES 5\n")).err().unwrap();
    assert!(message.to_string().contains("array `offsets` has 7 values instead of 6"), "{message}");
}
