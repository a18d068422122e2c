//! Fuzz targets of the readers: any bytes give a mesh, a matrix or an error.
//!
//! Under `cargo test` each runs for about a second; a long run is
//! `cargo bolero test -p karman-mesh --test fuzz_readers TARGET`.

use std::path::Path;
use std::time::Duration;

use karman_mesh::files::gmsh::GmshFormat;
use karman_mesh::files::matrix_market::{parse_matrix, parse_vector};
use karman_mesh::files::{parse_mesh, read_mesh, write_mesh};
use karman_mesh::{CellShape, Elements, RawMesh};

/// Changes to a file: bytes to put at places (modulo its length), and where to cut it, if at all.
type Changes = (Vec<(u16, u8)>, Option<u16>);

/// A tetrahedron, a prism and a pyramid with two patches.
fn mesh() -> RawMesh {
    let mut cells = Elements::new();
    cells.push(CellShape::Prism, &[0, 1, 2, 3, 4, 5], 0);
    cells.push(CellShape::Tetrahedron, &[3, 4, 5, 6], 1);
    cells.push(CellShape::Pyramid, &[1, 4, 5, 2, 7], 0);
    let mut boundary = Elements::new();
    boundary.push(CellShape::Triangle, &[0, 2, 1], 0);
    boundary.push(CellShape::Quadrilateral, &[0, 1, 4, 3], 1);
    let points =
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [0, 0, 2], [1, 1, 1]];
    RawMesh {
        dimension: 3,
        points: points.map(|point| point.map(f64::from)).to_vec(),
        cells,
        boundary,
        regions: vec!["solid".into(), "fluid".into()],
        patches: vec!["inlet".into(), "wall".into()],
    }
}

/// The content of a valid file, by the writer.
fn written(name: &str, write: impl Fn(&Path)) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    write(&path);
    assert!(read_mesh(&path).is_ok());
    std::fs::read(path).expect("the file just written")
}

/// Invariants of every mesh that was read.
fn check(mesh: &RawMesh) {
    for elements in [&mesh.cells, &mesh.boundary] {
        assert!(elements.nodes.iter().all(|&node| (node as usize) < mesh.points.len()));
        assert_eq!(elements.offsets.len(), elements.len() + 1);
    }
    assert!(!mesh.cells.is_empty());
    assert!(mesh.cells.groups.iter().all(|&group| (group as usize) < mesh.regions.len()));
    assert!(mesh.boundary.groups.iter().all(|&group| (group as usize) < mesh.patches.len()));
    assert!(mesh.points.iter().flatten().all(|coordinate| coordinate.is_finite()));
}

fn bytes(name: &str) {
    bolero::check!().with_test_time(Duration::from_millis(500)).for_each(|bytes| {
        if let Ok(mesh) = parse_mesh(name.as_ref(), bytes) {
            check(&mesh);
        }
    });
}

fn with_changes(valid: &[u8], (changes, cut): &Changes) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    for &(place, value) in changes {
        let place = usize::from(place) % bytes.len();
        bytes[place] = value;
    }
    if let Some(cut) = cut {
        bytes.truncate(usize::from(*cut) % valid.len());
    }
    bytes
}

fn changed(name: &str, valid: &[u8]) {
    bolero::check!().with_type::<Changes>().with_test_time(Duration::from_millis(500)).for_each(
        |changes| {
            if let Ok(mesh) = parse_mesh(name.as_ref(), &with_changes(valid, changes)) {
                check(&mesh);
            }
        },
    );
}

#[test]
fn gmsh_bytes() {
    bytes("m.msh");
}

#[test]
fn su2_bytes() {
    bytes("m.su2");
}

#[test]
fn vtu_bytes() {
    bytes("m.vtu");
}

#[test]
fn vtk_bytes() {
    bytes("m.vtk");
}

fn gmsh_changed(format: GmshFormat) {
    changed(
        "m.msh",
        &written("m.msh", |path| {
            karman_mesh::files::gmsh::write(path, &mesh(), format).expect("a file")
        }),
    );
}

#[test]
fn gmsh_22_ascii_changed() {
    gmsh_changed(GmshFormat::Ascii22);
}

#[test]
fn gmsh_22_binary_changed() {
    gmsh_changed(GmshFormat::Binary22);
}

#[test]
fn gmsh_41_ascii_changed() {
    gmsh_changed(GmshFormat::Ascii41);
}

#[test]
fn gmsh_41_binary_changed() {
    gmsh_changed(GmshFormat::Binary41);
}

#[test]
fn su2_changed() {
    changed("m.su2", &written("m.su2", |path| write_mesh(path, &mesh()).expect("a file")));
}

#[test]
fn vtu_changed() {
    changed("m.vtu", &written("m.vtu", |path| write_mesh(path, &mesh()).expect("a file")));
}

#[test]
fn vtk_changed() {
    let text = "# vtk DataFile Version 4.2\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n\
        POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 2 9\n4 0 1 2 3 3 0 2 1\n\
        CELL_TYPES 2\n10 5\n\
        CELL_DATA 2\nSCALARS region int 1\nLOOKUP_TABLE default\n0 -1\n\
        FIELD f 1\npatch 1 2 int\n-1 0\n\
        POINT_DATA 4\nVECTORS v float\n0 0 0 1 0 0 0 1 0 0 0 1\n";
    changed("m.vtk", text.as_bytes());
    let mut binary =
        b"# vtk DataFile Version 5.1\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n"
            .to_vec();
    let points = [0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1_f32];
    binary.extend(points.iter().flat_map(|value| value.to_be_bytes()));
    binary.extend(b"\nCELLS 2 4\nOFFSETS vtktypeint64\n");
    binary.extend([0_i64, 4].iter().flat_map(|value| value.to_be_bytes()));
    binary.extend(b"\nCONNECTIVITY vtktypeint64\n");
    binary.extend([0_i64, 1, 2, 3].iter().flat_map(|value| value.to_be_bytes()));
    binary.extend(b"\nCELL_TYPES 1\n\0\0\0\x0a\n");
    assert!(parse_mesh("m.vtk".as_ref(), &binary).is_ok());
    changed("m.vtk", &binary);
}

#[test]
fn matrix_market_bytes() {
    bolero::check!().with_test_time(Duration::from_millis(500)).for_each(|bytes| {
        let _ = parse_vector("m.mtx".as_ref(), bytes);
        let _ = parse_matrix("m.mtx".as_ref(), bytes);
    });
}

#[test]
fn matrix_market_changed() {
    let valid = b"%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 4\n1 1 2.0\n\
        2 1 -1e0\n2 2 2.0\n3 3 1e-3\n";
    assert!(parse_matrix("m.mtx".as_ref(), valid).is_ok());
    bolero::check!().with_type::<Changes>().with_test_time(Duration::from_millis(500)).for_each(
        |changes| {
            if let Ok(matrix) = parse_matrix("m.mtx".as_ref(), &with_changes(valid, changes)) {
                let inside = |&(row, column, value): &(u32, u32, f64)| {
                    (row as usize) < matrix.rows
                        && (column as usize) < matrix.columns
                        && value.is_finite()
                };
                assert!(matrix.entries.iter().all(inside));
            }
        },
    );
}
