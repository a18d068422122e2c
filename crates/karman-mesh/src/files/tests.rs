//! Round trips through every format that is written, choice of the format, and damaged files.

use proptest::prelude::*;

use super::gmsh::GmshFormat;
use super::test_meshes::{all, every_2d_shape, every_3d_shape, with_one_region};
use super::*;
use crate::testing::shared_mesh;
use std::sync::LazyLock;

const GMSH_FORMATS: [GmshFormat; 4] =
    [GmshFormat::Ascii22, GmshFormat::Binary22, GmshFormat::Ascii41, GmshFormat::Binary41];

#[test]
fn gmsh_round_trip() {
    for mesh in all() {
        for format in GMSH_FORMATS {
            let bytes = gmsh::to_bytes(&mesh, format).unwrap();
            let read = parse_mesh("m.msh".as_ref(), &bytes).unwrap();
            assert_eq!(read, mesh, "{format:?}");
        }
    }
}

#[test]
fn su2_round_trip() {
    for mesh in all() {
        let mesh = with_one_region(&mesh);
        let bytes = su2::to_bytes(&mesh).unwrap();
        assert_eq!(parse_mesh("m.su2".as_ref(), &bytes).unwrap(), mesh);
    }
}

#[test]
fn vtu_round_trip() {
    for mesh in all() {
        let bytes = vtu::to_bytes(&vtu::VtuData::of_mesh(&mesh)).unwrap();
        assert_eq!(parse_mesh("m.vtu".as_ref(), &bytes).unwrap(), mesh);
    }
}

#[test]
fn files_on_disk_by_extension() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = with_one_region(&every_3d_shape());
    for name in ["a.msh", "b.SU2", "c.vtu"] {
        let path = folder.path().join(name);
        write_mesh(&path, &mesh).unwrap();
        assert_eq!(read_mesh(&path).unwrap(), mesh, "{name}");
        // The content determines the format where the extension does not.
        let other = folder.path().join("mesh.dat");
        std::fs::rename(&path, &other).unwrap();
        assert_eq!(read_mesh(&other).unwrap(), mesh, "{name}");
        let read = read_mesh_with_fields(&other).unwrap();
        assert_eq!((read.mesh, read.cell_fields.len()), (mesh.clone(), 0));
    }
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "no temporary file is left");
}

#[test]
fn gmsh_files_on_disk_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for format in GMSH_FORMATS {
        let path = folder.path().join("m.msh");
        gmsh::write(&path, &every_2d_shape(), format).unwrap();
        assert_eq!(read_mesh(&path).unwrap(), every_2d_shape());
    }
}

fn message(result: Result<impl Sized, MeshFileError>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn an_unknown_format_is_refused_with_the_known_ones() {
    assert_eq!(
        message(parse_mesh("a/mesh.CGNS".as_ref(), b"\x89HDF")),
        "a/mesh.CGNS: not a known mesh format (extension `cgns`): expected .msh (Gmsh), .su2, \
         .vtu or .vtk (legacy VTK)"
    );
    assert_eq!(
        message(write_mesh("mesh.vtk".as_ref(), &every_2d_shape())),
        "mesh.vtk: cannot write `.vtk` files: write .msh (Gmsh), .su2 or .vtu"
    );
}

#[test]
fn a_missing_file_is_named() {
    let error = read_mesh("no/such/mesh.msh".as_ref()).err().unwrap();
    assert!(matches!(error.problem, MeshFileProblem::Io(_)), "{error:?}");
    assert!(error.to_string().starts_with("no/such/mesh.msh: No such file"), "{error}");
    assert!(read_mesh_with_fields("no/such/mesh.msh".as_ref()).is_err());
    assert!(
        message(write_mesh("no/such/mesh.msh".as_ref(), &every_2d_shape())).contains("no/such")
    );
}

#[test]
fn names_that_a_format_cannot_represent_are_refused() {
    let mut mesh = every_2d_shape();
    for (name, path) in [("a\"b", "m.msh"), ("a\nb", "m.msh"), (" a", "m.su2"), ("a\tb", "m.vtu")] {
        mesh.patches[0] = name.into();
        let error = write_mesh(path.as_ref(), &mesh).unwrap_err();
        assert!(
            matches!(&error.problem, MeshFileProblem::UnwritableName { name: n, .. } if n == name),
            "{path}: {error}"
        );
        assert!(error.to_string().starts_with(&format!("{path}: the name `{name}` cannot be")));
    }
}

#[test]
fn large_meshes_have_their_known_numbers_of_elements() {
    let known = [
        ("cube100k.msh", 19_313, 99_778, 6, vec!["fluid"]),
        ("shaft180k.msh", 38_970, 185_003, 3, vec!["steel"]),
        ("sphere_hybrid.msh", 21_198, 81_952 + 13_560, 2, vec!["fluid"]),
    ];
    for (name, n_points, n_cells, n_patches, regions) in known {
        let Some(bytes) = shared_mesh(name) else { continue };
        let mesh = parse_mesh(name.as_ref(), &bytes).unwrap();
        assert_eq!((mesh.dimension, mesh.points.len(), mesh.cells.len()), (3, n_points, n_cells));
        assert_eq!((mesh.patches.len(), &mesh.regions), (n_patches, &names(&regions)));
        let vtu = vtu::to_bytes(&vtu::VtuData::of_mesh(&mesh)).unwrap();
        assert_eq!(parse_mesh("m.vtu".as_ref(), &vtu).unwrap(), mesh);
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.into()).collect()
}

#[test]
#[ignore = "a measurement: cargo test --release -p karman-mesh --lib speed_of_reading_gmsh_ascii \
            -- --ignored --nocapture"]
fn speed_of_reading_gmsh_ascii() {
    for name in ["cube100k.msh", "shaft180k.msh", "sphere_hybrid.msh"] {
        let Some(bytes) = shared_mesh(name) else { continue };
        let n_cells = parse_mesh(name.as_ref(), &bytes).unwrap().cells.len();
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let start = std::time::Instant::now();
            assert_eq!(parse_mesh(name.as_ref(), &bytes).unwrap().cells.len(), n_cells);
            best = best.min(start.elapsed().as_secs_f64());
        }
        let (cells, size) = (n_cells as f64 * 1e-6 / best, bytes.len() as f64 * 1e-6 / best);
        eprintln!("{name}: {:.2} ms, {cells:.2} M cells/s, {size:.0} MB/s", best * 1e3);
    }
}

/// Content of a valid file of each format.
static VALID_FILES: LazyLock<Vec<(&'static str, Vec<u8>)>> = LazyLock::new(|| {
    let mut files = Vec::new();
    for mesh in [every_3d_shape(), every_2d_shape()] {
        for format in GMSH_FORMATS {
            files.push(("m.msh", gmsh::to_bytes(&mesh, format).unwrap()));
        }
        files.push(("m.su2", su2::to_bytes(&mesh).unwrap()));
        files.push(("m.vtu", vtu::to_bytes(&vtu::VtuData::of_mesh(&mesh)).unwrap()));
        files.extend(
            vtu::tests::encodings()
                .into_iter()
                .map(|encoding| ("m.vtu", vtu::tests::encoded(&mesh, encoding))),
        );
        files.extend(
            vtk::tests::LAYOUTS
                .into_iter()
                .map(|layout| ("m.vtk", vtk::tests::written(&mesh, layout))),
        );
    }
    files
});

#[test]
fn every_truncation_of_a_file_is_an_error_or_a_mesh() {
    for (name, bytes) in VALID_FILES.iter() {
        assert!(parse_mesh(name.as_ref(), bytes).is_ok());
        let mut errors = 0;
        for length in 0..bytes.len() {
            errors += usize::from(parse_mesh(name.as_ref(), &bytes[..length]).is_err());
        }
        // The last bytes are white space, or digits that may be absent.
        assert!(errors * 10 >= bytes.len() * 5, "{name}: {errors} of {}", bytes.len());
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for name in ["m.msh", "m.su2", "m.vtu", "m.vtk"] {
            prop_assert!(parse_mesh(name.as_ref(), &bytes).is_err());
        }
    }

    #[test]
    fn random_text_never_panics(text in "[0-9eE+.\\-$<>=\"a-zA-Z \n%_/]{0,300}") {
        let starts = [
            ("m.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n"),
            ("m.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n"),
            ("m.su2", "NDIME= 3\nNPOIN= "),
            ("m.vtu", "<VTKFile type=\"UnstructuredGrid\"><Piece><Points><DataArray "),
            ("m.vtk", "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"),
        ];
        for (name, start) in starts {
            let content = format!("{start}{text}");
            prop_assert!(parse_mesh(name.as_ref(), content.as_bytes()).is_err());
        }
    }

    #[test]
    fn altered_files_never_panic(
        choice in any::<proptest::sample::Index>(),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        digits in any::<bool>(),
    ) {
        let (name, mut bytes) = VALID_FILES[choice.index(VALID_FILES.len())].clone();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            // A changed digit tests more of a text reader than a changed letter.
            bytes[place] = if digits { b'0' + value % 10 } else { value };
        }
        if let Ok(mesh) = parse_mesh(name.as_ref(), &bytes) {
            for elements in [&mesh.cells, &mesh.boundary] {
                prop_assert!(elements.nodes.iter().all(|&n| (n as usize) < mesh.points.len()));
                prop_assert_eq!(elements.offsets.len(), elements.len() + 1);
            }
            prop_assert!(mesh.cells.groups.iter().all(|&g| (g as usize) < mesh.regions.len()));
            prop_assert!(mesh.boundary.groups.iter().all(|&g| (g as usize) < mesh.patches.len()));
            prop_assert!(mesh.points.iter().flatten().all(|x| x.is_finite()));
        }
    }
}
