//! `karman plot`

use crate::common::karman;
use std::fs;
use std::path::Path;

/// A folder with a square of triangles, a cube of tetrahedra, and results on both.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, element, cells) in [
        ("square", "triangle", "8,8"),
        ("cube", "tetrahedron", "3,3,3"),
        ("flat", "prism", "2,2,2"),
    ] {
        let file = format!("{name}.msh");
        let arguments =
            ["mesh", "generate", "box", "--cells", cells, "--element", element, "-o", &file];
        assert_eq!(karman(folder.path(), &arguments).0, 0);
    }
    for (name, more) in [("square", ""), ("cube", "zmin = \"no_slip\"\nzmax = \"no_slip\"")] {
        let lid = if name == "cube" { "[1.0, 0.0, 0.0]" } else { "[1.0, 0.0]" };
        let case = format!(
            "[mesh]\nfile = \"{name}.msh\"\n[incompressible]\nkinematic_viscosity = 0.1\n\
             [boundary]\nymax.moving_wall = {lid}\nxmin = \"no_slip\"\nxmax = \"no_slip\"\n\
             ymin = \"no_slip\"\n{more}\n[time]\nstep = 0.05\nend = 0.1\n\
             [output]\ndirectory = \"{name}\"\nfields = [\"velocity\", \"pressure\"]\n"
        );
        fs::write(folder.path().join("case.toml"), case).unwrap();
        let (code, _, err) = karman(folder.path(), &["run", "-q", "case.toml"]);
        assert_eq!(code, 0, "{err}");
    }
    folder
}

/// Width and height in the header of a PNG.
fn size_of(path: &Path) -> [u32; 2] {
    let bytes = fs::read(path).unwrap();
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
    [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()))
}

#[test]
fn meshes_and_fields_are_drawn() {
    let folder = folder();
    let plot = |arguments: &[&str]| {
        let (code, out, err) = karman(folder.path(), &[&["plot"], arguments].concat());
        assert_eq!((code, err.as_str()), (0, ""), "{arguments:?}");
        out
    };
    assert_eq!(plot(&["square.msh", "-o", "a.png"]), "wrote a.png\n");
    let out = plot(&["cube.msh", "-o", "b.png"]);
    assert_eq!(out, "cube.msh is 3D: drawn at z = 0.5; --slice chooses\nwrote b.png\n");
    plot(&["flat.msh", "-o", "c.png", "--slice", "x = 0.25"]);
    let (square, cube) = ("square/fields_0000.vtu", "cube/fields_0000.vtu");
    plot(&[square, "-o", "d.png", "--field", "pressure", "--mesh"]);
    plot(&[square, "-o", "e.png", "--field", "velocity", "--range=-1,2.5"]);
    plot(&[
        cube,
        "-o",
        "f.png",
        "--field",
        "velocity_x",
        "--slice",
        "y=0.5",
        "--window",
        "0,0,1,0.25",
        "--title",
        "Velocity",
    ]);
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    for name in ["a.png", "b.png", "c.png", "d.png", "e.png"] {
        let [width, height] = size_of(&folder.path().join(name));
        assert!((800..1200).contains(&width) && (800..1000).contains(&height), "{name}");
    }
    let [width, height] = size_of(&folder.path().join("f.png"));
    assert!(width > 2 * height, "{width} {height}");
    plot(&[square, "-o", "g.png", "--field", "pressure"]);
    assert_ne!(read("d.png"), read("g.png"));
}

#[test]
fn wrong_plots_are_refused_by_name() {
    let folder = folder();
    let square = "square/fields_0000.vtu";
    for (arguments, expected) in [
        (
            vec![square, "-o", "a.png", "--field", "speed"],
            "no field `speed`; the file has: velocity, pressure",
        ),
        (vec![square, "-o", "a.png", "--field", "pressure_x"], "no field `pressure_x`"),
        (vec!["square.msh", "-o", "a.png", "--field", "t"], "no field `t`; the file has: none"),
        (
            vec!["cube.msh", "-o", "a.png", "--slice", "z=2"],
            "the plane z = 2 does not intersect cube.msh, which spans z from 0 to 1",
        ),
        (
            vec!["square.msh", "-o", "a.png", "--slice", "z=0"],
            "--slice is for 3D meshes, and square.msh is 2D",
        ),
        (vec!["cube.msh", "-o", "a.png", "--slice", "w=0"], "a plane is x, y or z and a number"),
        (vec!["cube.msh", "-o", "a.png", "--slice", "z=nan"], "a plane is x, y or z and a number"),
        (
            vec!["square.msh", "-o", "a.png", "--window", "2,2,3,3"],
            "`window` is outside the mesh, which spans 0 to 1 and 0 to 1",
        ),
        (
            vec!["square.msh", "-o", "a.png", "--window", "1,0,0,1"],
            "a window is x0,y0,x1,y1 with x0 < x1 and y0 < y1",
        ),
        (vec!["square.msh", "-o", "a.png", "--window", "1,0,2"], "a window is x0,y0,x1,y1"),
        (
            vec![square, "-o", "a.png", "--field", "pressure", "--range", "1,1"],
            "a range goes from a lower to a higher value",
        ),
        (vec!["square.msh", "-o", "a.png", "--range", "0,1"], "--field"),
        (vec!["square.msh", "-o", "a.jpg"], "a.jpg: pictures are written as .png"),
        (vec!["none.msh", "-o", "a.png"], "none.msh"),
        (vec!["square.msh", "-o", "no/such/a.png"], "cannot draw no/such/a.png"),
    ] {
        let (code, _, err) = karman(folder.path(), &[&["plot"], &arguments[..]].concat());
        assert_eq!(code, 1, "{arguments:?}: {err}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
        assert!(!folder.path().join("a.png").exists());
    }
}

#[test]
fn a_plane_mesh_in_space_is_rotated_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 5 0\n2 2 5 0\n3 0 5 1\n\
                $EndNodes\n$Elements\n1\n1 2 2 1 1 1 2 3\n$EndElements\n";
    fs::write(folder.path().join("a.msh"), mesh).unwrap();
    let (code, _, err) = karman(folder.path(), &["plot", "a.msh", "-o", "a.png"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("y = 5"), "{err}");
    let [width, height] = size_of(&folder.path().join("a.png"));
    assert!(width > height + 300, "{width} {height}");
}
