//! VTU files in every encoding, written here, and bad ones.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use quick_xml::escape::escape;

use super::{VtuData, to_bytes, write};
use crate::RawMesh;
use crate::files::element_types::to_vtk;
use crate::files::fields::{FieldLocation, FieldValues};
use crate::files::test_meshes::{all, every_2d_shape, every_3d_shape};
use crate::files::{MeshFileError, MeshFileProblem as Problem, MeshWithFields, parse_mesh};

/// Storage of the numbers of a test file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::files) struct TestEncoding {
    storage: TestStorage,
    wide_header: bool,
    compressed: bool,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TestStorage {
    Ascii,
    Base64,
    AppendedRaw,
    AppendedBase64,
}

/// Every combination.
pub(in crate::files) fn encodings() -> Vec<TestEncoding> {
    let storages = [TestStorage::Base64, TestStorage::AppendedRaw, TestStorage::AppendedBase64];
    let ascii = TestEncoding {
        storage: TestStorage::Ascii,
        wide_header: false,
        compressed: false,
        big_endian: false,
    };
    let mut all = vec![ascii];
    for storage in storages {
        for bits in 0..8 {
            let (wide_header, compressed) = (bits & 1 > 0, bits & 2 > 0);
            all.push(TestEncoding { storage, wide_header, compressed, big_endian: bits & 4 > 0 });
        }
    }
    all
}

/// An array of a test file: type, name, components, text, little-endian bytes, bytes a value.
struct TestArray(&'static str, String, usize, String, Vec<u8>, usize);

impl TestEncoding {
    fn header(self, values: &[usize]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &value in values {
            match (self.wide_header, self.big_endian) {
                (true, true) => bytes.extend((value as u64).to_be_bytes()),
                (true, false) => bytes.extend((value as u64).to_le_bytes()),
                (false, true) => bytes.extend((value as u32).to_be_bytes()),
                (false, false) => bytes.extend((value as u32).to_le_bytes()),
            }
        }
        bytes
    }

    /// Header and data of an array in blocks of 40 bytes, as base64 where the file has it.
    fn bytes(self, array: &TestArray) -> Vec<u8> {
        let mut data = array.4.clone();
        if self.big_endian {
            data.chunks_exact_mut(array.5).for_each(|value| value.reverse());
        }
        let (header, data) = if self.compressed {
            let deflate = |block: &[u8]| {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(block).unwrap();
                encoder.finish().unwrap()
            };
            let blocks: Vec<Vec<u8>> = data.chunks(40).map(deflate).collect();
            let mut header = vec![blocks.len(), 40, data.len() % 40];
            header.extend(blocks.iter().map(Vec::len));
            (self.header(&header), blocks.concat())
        } else {
            (self.header(&[data.len()]), data)
        };
        if self.storage == TestStorage::AppendedRaw {
            return [header, data].concat();
        }
        // VTK encodes the header of compressed data separately.
        let text = if self.compressed {
            STANDARD.encode(header) + &STANDARD.encode(data)
        } else {
            STANDARD.encode([header, data].concat())
        };
        text.into_bytes()
    }

    /// The element of an array; its data may go to the appended ones.
    fn element(self, array: &TestArray, appended: &mut Vec<u8>) -> String {
        let TestArray(kind, name, components, text, ..) = array;
        let start = format!(
            "<DataArray type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{components}\" ",
            escape(name)
        );
        let information =
            "<InformationKey name=\"k\"><Value index=\"0\">7</Value></InformationKey>";
        match self.storage {
            TestStorage::Ascii => {
                format!("{start}format=\"ascii\">{information}\n{text}\n</DataArray>\n")
            }
            TestStorage::Base64 => {
                let text = String::from_utf8(self.bytes(array)).unwrap();
                format!("{start}format=\"binary\">\n  {information}{text}\n</DataArray>\n")
            }
            _ => {
                let offset = appended.len();
                appended.extend(self.bytes(array));
                format!(
                    "{start}format=\"appended\" offset=\"{offset}\">{information}</DataArray>\n"
                )
            }
        }
    }
}

fn ints(name: &str, values: impl Iterator<Item = i64>) -> TestArray {
    let values: Vec<i64> = values.collect();
    let text: Vec<String> = values.iter().map(i64::to_string).collect();
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    TestArray("Int64", name.into(), 1, text.join(" "), bytes, 8)
}

/// A VTU file in any encoding, with karman's convention for groups and three fields.
pub(in crate::files) fn encoded(mesh: &RawMesh, encoding: TestEncoding) -> Vec<u8> {
    let mut appended = Vec::new();
    let mut element = |array: &TestArray| encoding.element(array, &mut appended);
    let lists = [&mesh.cells, &mesh.boundary];
    let n: usize = lists.iter().map(|elements| elements.len()).sum();
    let mut xml = format!(
        "<?xml version=\"1.0\"?>\n<!-- a test -->\n\
         <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
         byte_order=\"{}\" header_type=\"{}\"{}>\n<UnstructuredGrid>\n<FieldData>\n\
         <Array type=\"String\" Name=\"note\" format=\"ascii\">104 105 0</Array>\n",
        if encoding.big_endian { "BigEndian" } else { "LittleEndian" },
        if encoding.wide_header { "UInt64" } else { "UInt32" },
        if encoding.compressed { " compressor=\"vtkZLibDataCompressor\"" } else { "" },
    );
    for (kind, names) in [("region", &mesh.regions), ("patch", &mesh.patches)] {
        for (number, name) in names.iter().enumerate() {
            xml += &element(&ints(&format!("{kind}:{name}"), std::iter::once(number as i64)));
        }
    }
    xml += &format!(
        "</FieldData>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{n}\">\n<PointData>\n",
        mesh.points.len()
    );
    xml += &element(&ints("number", (0..mesh.points.len()).map(|node| node as i64)));
    xml += "</PointData>\n<CellData>\n";
    let groups = |list: usize| {
        lists.into_iter().enumerate().flat_map(move |(which, elements)| {
            elements.groups.iter().map(move |&g| if which == list { i64::from(g) } else { -1 })
        })
    };
    xml += &element(&ints("region", groups(0)));
    xml += &element(&ints("patch", groups(1)));
    let halves: Vec<f32> = (0..2 * n).map(|k| k as f32 / 2.0).collect();
    let text: Vec<String> = halves.iter().map(f32::to_string).collect();
    let bytes = halves.iter().flat_map(|value| value.to_le_bytes()).collect();
    xml += &element(&TestArray("Float32", "halves".into(), 2, text.join("\n"), bytes, 4));
    xml += "</CellData>\n<Points>\n";
    let text: Vec<String> = mesh.points.iter().flatten().map(|x| format!("{x:e}")).collect();
    let bytes = mesh.points.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    xml += &element(&TestArray("Float64", "Points".into(), 3, text.join(" "), bytes, 8));
    xml += "</Points>\n<Cells>\n";
    let nodes = lists.into_iter().flat_map(|list| list.nodes.iter().map(|&node| node.into()));
    xml += &element(&ints("connectivity", nodes));
    let mut end = 0;
    let ends = lists.into_iter().flat_map(|list| list.shapes.iter()).map(|shape| {
        end += shape.node_count() as i64;
        end
    });
    xml += &element(&ints("offsets", ends));
    let shapes: Vec<u8> =
        lists.into_iter().flat_map(|list| list.shapes.iter()).map(|&s| to_vtk(s)).collect();
    let text: Vec<String> = shapes.iter().map(u8::to_string).collect();
    xml += &element(&TestArray("UInt8", "types".into(), 1, text.join(" "), shapes, 1));
    xml += "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
    let mut bytes = xml.into_bytes();
    let kind = match encoding.storage {
        TestStorage::AppendedRaw => Some("raw"),
        TestStorage::AppendedBase64 => Some("base64"),
        _ => None,
    };
    if let Some(kind) = kind {
        bytes.extend(format!("<AppendedData encoding=\"{kind}\">\n   _").into_bytes());
        bytes.extend(appended);
        bytes.extend(b"\n  </AppendedData>\n");
    }
    bytes.extend(b"</VTKFile>\n");
    bytes
}

fn read(bytes: &[u8]) -> Result<MeshWithFields, MeshFileError> {
    super::parse(bytes).map_err(|fault| fault.locate("mesh.vtu".as_ref(), bytes))
}

#[test]
fn every_encoding_reads_back() {
    for mesh in all() {
        let n = mesh.cells.len();
        for encoding in encodings() {
            let read = read(&encoded(&mesh, encoding)).unwrap();
            assert_eq!(read.mesh, mesh, "{encoding:?}");
            let (fields, nodes) = (&read.cell_fields, &read.node_fields);
            assert_eq!((fields.len(), fields[0].name.as_str(), nodes.len()), (1, "halves", 1));
            let second: Vec<f64> = (0..n).map(|cell| cell as f64 + 0.5).collect();
            assert_eq!(fields[0].component(1), second);
            assert_eq!(nodes[0].values[mesh.points.len() - 1], (mesh.points.len() - 1) as f64);
        }
    }
}

#[test]
fn written_fields_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fields_0001.vtu");
    let mesh = every_3d_shape();
    let values = |n: usize, seed: f64| (0..n).map(|k| (k as f64 + seed).sin()).collect::<Vec<_>>();
    let (n, n_nodes) = (mesh.cells.len(), mesh.points.len());
    let temperature = values(n, 0.1);
    let velocity = [values(n_nodes, 1.0), values(n_nodes, 2.0), values(n_nodes, 3.0)];
    let components = [velocity[0].as_slice(), &velocity[1], &velocity[2]];
    let mut data = VtuData::of_mesh(&mesh);
    data.time = Some(0.1);
    data.cell_fields.push(("temperature <K>", FieldValues::Scalar(&temperature)));
    data.node_fields.push(("velocity", FieldValues::Vector(components)));
    for with_boundary in [true, false] {
        if !with_boundary {
            data.boundary = None;
        }
        write(&path, &data).unwrap();
        let read = crate::files::read_mesh_with_fields(&path).unwrap();
        assert_eq!(
            (read.time, &read.mesh.cells, &read.mesh.regions),
            (Some(0.1), &mesh.cells, &mesh.regions)
        );
        assert_eq!(read.mesh.boundary.len(), if with_boundary { mesh.boundary.len() } else { 0 });
        let (location, field) = read.field(&path, "temperature <K>").unwrap();
        assert_eq!((location, &field.values), (FieldLocation::Cells, &temperature));
        let (location, field) = read.field(&path, "velocity").unwrap();
        assert_eq!((location, field.components), (FieldLocation::Nodes, 3));
        assert_eq!(field.values, velocity.concat());
        assert_eq!(read.cell_fields.len() + read.node_fields.len(), 2);
    }
}

#[test]
fn large_arrays_are_written_in_several_blocks() {
    let mesh = every_2d_shape();
    let points: Vec<[f64; 3]> = (0..20_000).map(|k| [k as f64, (k as f64).sqrt(), 0.0]).collect();
    let values: Vec<f64> = points.iter().map(|p| p[1].sin()).collect();
    let mut data = VtuData::new(&points, &mesh.cells);
    data.node_fields.push(("values", FieldValues::Scalar(&values)));
    let read = read(&to_bytes(&data).unwrap()).unwrap();
    assert_eq!(read.mesh.points, points);
    assert_eq!(read.node_fields[0].values, values);
    assert_eq!(read.mesh.regions, ["default"]);
}

#[test]
fn a_field_of_the_wrong_length_is_not_written() {
    let mesh = every_2d_shape();
    let mut data = VtuData::of_mesh(&mesh);
    data.cell_fields.push(("temperature", FieldValues::Scalar(&[1.0, 2.0])));
    let error = write("f.vtu".as_ref(), &data).unwrap_err();
    assert_eq!(error.to_string(), "f.vtu: array `temperature` has 2 values instead of 3");
}

#[test]
fn foreign_groups_of_meshio() {
    let bytes = encoded(&every_2d_shape(), encodings()[0]);
    let text = String::from_utf8(bytes).unwrap();
    let text = text.replace("Name=\"patch\"", "Name=\"other\"");
    let text = text.replace("Name=\"region\"", "Name=\"gmsh:physical\"");
    let text = text.replace("0 1 1 -1 -1 -1", "4 4 0 7 0 6");
    let mesh = read(text.as_bytes()).unwrap().mesh;
    assert_eq!(
        (mesh.regions, mesh.cells.groups),
        (vec!["group_4".into(), "default".into()], vec![0, 0, 1])
    );
    assert_eq!(mesh.patches, ["group_6", "group_7"]);
    assert_eq!(mesh.boundary.groups, [1, 0]);
}

#[test]
fn messages_for_bad_files() {
    let text = String::from_utf8(encoded(&every_2d_shape(), encodings()[0])).unwrap();
    let with = |old: &str, new: &str| {
        assert!(text.contains(old), "{old}\n{text}");
        text.replacen(old, new, 1)
    };
    let cases = [
        (
            with("type=\"UnstructuredGrid\"", "type=\"PolyData\""),
            ", line 3: VTK file of type `PolyData` cannot be read: save",
        ),
        (
            with("header_type=\"UInt32\"", "header_type=\"UInt16\""),
            ", line 3: header type `UInt16` cannot be read",
        ),
        (
            with("<VTKFile ", "<VTKFile compressor=\"vtkLZ4DataCompressor\" "),
            ", line 3: data compressed by `vtkLZ4DataCompressor` cannot be read: save it",
        ),
        (
            with("</Piece>", "</Piece><Piece></Piece>"),
            ": a grid of several pieces cannot be read: merge them",
        ),
        (
            with("NumberOfPoints=\"6\"", "NumberOfPoints=\"7\""),
            ": array `Points` has 18 values instead of 21",
        ),
        (
            with("NumberOfPoints=\"6\"", "NumberOfPoints=\"99999999999999999999\""),
            ": `99999999999999999999` is not a number that can stand for NumberOfPoints",
        ),
        (
            with("NumberOfCells=\"6\"", "NumberOfCells=\"18446744073709551615\""),
            ": array `types` has 6 values instead of 18446744073709551615",
        ),
        (with("5 9 5 3 3 3", "5 9 22 3 3 3"), ": element type 22 is a second-order triangle"),
        (with("5 9 5 3 3 3", "5 9 42 3 3 3"), ": unknown element type 42 (VTK)"),
        (with("5 9 5 3 3 3", "5 5 5 3 3 3"), ": element 1, a triangle, has 4 nodes instead of 3"),
        (
            with("0 1 2 1 3 4 2", "0 1 6 1 3 4 2"),
            ": element 0 names node 6, which does not exist (the file has 6 nodes)",
        ),
        (
            with("0 1 2 1 3 4 2", "0 1 x 1 3 4 2"),
            ": `x` is not a number that can stand for an integer of an array",
        ),
        (
            with("3 7 10 12 14 16", "3 7 10 12 14 17"),
            ": array `connectivity` has 16 values instead of 17",
        ),
        (with("3 7 10 12 14 16", "3 7 10 12 14"), ": array `offsets` has 5 values instead of 6"),
        (
            with("type=\"Int64\" Name=\"connectivity\"", "type=\"Float64\" Name=\"connectivity\""),
            ": expected integers, found `floating-point connectivity`",
        ),
        (
            with("type=\"Int64\" Name=\"number\"", "type=\"Bit\" Name=\"number\""),
            ": array `number` of type `Bit` cannot be read",
        ),
        (with("\n0 1 2 3 4 5\n", "\n0 1 2 3 4\n"), ": array `number` has 5 values instead of 6"),
        (
            with("NumberOfComponents=\"1\" format=\"ascii\"", "format=\"hex\""),
            ": expected format ascii, binary or appended, found `hex`",
        ),
        (with("Name=\"types\"", "Name=\"kinds\""), ": missing section `DataArray types`"),
        (with("Name=\"offsets\"", "Name=\"ends\""), ": missing section `DataArray offsets`"),
        (
            with("Name=\"connectivity\"", "Name=\"nodes\""),
            ": missing section `DataArray connectivity`",
        ),
        (
            with("<Points>", "<Nodes>").replace("</Points>", "</Nodes>"),
            ": missing section `Points`",
        ),
        (with("<Piece", "<Part").replace("</Piece>", "</Part>"), ": missing section `Piece`"),
        ("<?xml version=\"1.0\"?>\n".into(), ": missing section `VTKFile`"),
        (with("</Cells>", "</Cell>"), ": malformed XML: "),
        (
            text[..text.find("</UnstructuredGrid>").unwrap()].to_owned(),
            ": the file ends where </VTKFile> should follow: it is truncated",
        ),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let message =
            read(text.as_bytes()).err().map(|error| error.to_string()).unwrap_or_default();
        let after_place = message.find(": ").map(|at| &message[at..]).unwrap_or_default();
        let is_right = message.starts_with(&format!("mesh.vtu{expected}"))
            || after_place.starts_with(expected)
                && (expected.starts_with(": missing") || message.starts_with("mesh.vtu, line "));
        if !is_right {
            wrong.push((message, expected));
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn a_nan_coordinate_is_named() {
    let mut mesh = every_2d_shape();
    mesh.points[4][1] = f64::NAN;
    let error = read(&to_bytes(&VtuData::of_mesh(&mesh)).unwrap()).err().unwrap();
    assert!(matches!(error.problem, Problem::NotFinite { node: 4, .. }), "{error}");
    assert!(error.to_string().starts_with("mesh.vtu, byte "), "{error}");
}

#[test]
fn damaged_data_are_named() {
    let mesh = every_2d_shape();
    let find = |bytes: &[u8], pattern: &[u8]| {
        bytes.windows(pattern.len()).position(|window| window == pattern).unwrap()
    };
    let encoding = |storage, compressed| TestEncoding {
        storage,
        wide_header: true,
        compressed,
        big_endian: false,
    };
    let error = |bytes: &[u8]| read(bytes).err().unwrap().to_string();

    let raw = encoded(&mesh, encoding(TestStorage::AppendedRaw, false));
    let start = find(&raw, b"   _") + 4;
    let message = error(&raw[..raw.len() - 33]);
    assert!(message.contains(": the file ends where the data of an array should"), "{message}");
    let message = error(&raw[..start + 20]);
    assert!(
        message.contains(": the file ends where appended data of an array should"),
        "{message}"
    );
    let message = error(&raw[..start - 1]);
    assert!(message.contains("ends where the underscore before appended data should"), "{message}");
    let mut bytes = raw.clone();
    bytes[start - 1] = b'x';
    assert!(error(&bytes).contains("expected an underscore before appended data, found `x`"));
    let mut bytes = raw.clone();
    bytes[start] = 7;
    assert!(error(&bytes).contains("cannot be decoded: 7 bytes are no whole number of Int64"));
    let text = find(&raw, b"\"raw\"");
    let mut bytes = raw.clone();
    bytes[text + 1..text + 4].copy_from_slice(b"hex");
    assert!(error(&bytes).contains("expected encoding raw or base64, found"));

    let packed = encoded(&mesh, encoding(TestStorage::AppendedRaw, true));
    let start = find(&packed, b"   _") + 4;
    let mut bytes = packed.clone();
    bytes[start + 32..start + 34].copy_from_slice(b"no");
    assert!(
        error(&bytes).contains("array `region:left` cannot be decoded: zlib: "),
        "{}",
        error(&bytes)
    );
    let mut bytes = packed.clone();
    bytes[start + 16] = 9;
    assert!(error(&bytes).contains("cannot be decoded: block 0 has 8 bytes instead of 9"));
    let mut bytes = packed.clone();
    bytes[start..start + 8].copy_from_slice(&[255; 8]);
    assert!(error(&bytes).contains(": the file ends where the data of an array should"));

    let base64 = encoded(&mesh, encoding(TestStorage::Base64, false));
    let mut bytes = base64.clone();
    let text = find(&base64, b"AAAA");
    bytes[text] = b'*';
    assert!(error(&bytes).contains("array `region:left` cannot be decoded: base64: "));

    let none = String::from_utf8_lossy(&raw[..find(&raw, b"<AppendedData")]).into_owned();
    assert!(error((none + "</VTKFile>").as_bytes()).contains("missing section `AppendedData`"));
    let kind = parse_mesh("m.vtu".as_ref(), b"<VTKFile type=\"UnstructuredGrid\"><AppendedData");
    assert!(kind.err().unwrap().to_string().contains("ends where the end of <AppendedData>"));
}
