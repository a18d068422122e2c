//! Initial fields from a result on another mesh.

use super::*;
use crate::mesh::files::vtu::{self, VtuData};
use crate::mesh::files::{FieldValues, pvd, read_mesh};
use crate::simulation::equation::Unknown;

type Function = fn([f64; 3]) -> f64;

/// A divergence-free linear velocity, a pressure and a temperature, as functions and as text.
const LINEAR: [(&str, Function, &str); 5] = [
    ("velocity_x", |[x, y, z]| 1.0 + 2.0 * x - 3.0 * y + z, "1 + 2*x - 3*y + z"),
    ("velocity_y", |[x, y, _]| 0.5 + x - 2.0 * y, "0.5 + x - 2*y"),
    ("velocity_z", |[x, y, _]| x + y, "x + y"),
    ("pressure", |[x, y, z]| 4.0 - x + 2.0 * y - z, "4 - x + 2*y - z"),
    ("temperature", |[x, y, z]| 300.0 + 5.0 * x + 7.0 * y - 2.0 * z, "300 + 5*x + 7*y - 2*z"),
];

/// Writes linear fields on a Gmsh mesh, in its cells or at its nodes; `only` selects them.
fn write_linear(path: &Path, name: &str, at_nodes: bool, only: &[&str]) {
    let raw = read_mesh(&gmsh_file(name)).unwrap();
    let (mesh, geometry) = crate::mesh::testing::built(raw.clone());
    let points: Vec<[f64; 3]> = match at_nodes {
        true => raw.points.clone(),
        false => {
            let order = mesh.cells_in_file_order();
            order.iter().map(|cell| geometry.cell_centre_of(*cell as usize)).collect()
        }
    };
    let of = |k: usize| points.iter().map(|x| LINEAR[k].1(*x)).collect::<Vec<f64>>();
    let zero = vec![0.0; points.len()];
    let (u, v, p, t) = (of(0), of(1), of(3), of(4));
    let w = if raw.dimension == 3 { of(2) } else { zero };
    let mut fields = vec![
        ("velocity", FieldValues::Vector([&u, &v, &w])),
        ("pressure", FieldValues::Scalar(&p)),
        ("temperature", FieldValues::Scalar(&t)),
    ];
    fields.retain(|(name, _)| only.contains(name));
    let mut data = VtuData::new(&raw.points, &raw.cells);
    match at_nodes {
        true => data.node_fields = fields,
        false => data.cell_fields = fields,
    }
    vtu::write(path, &data).unwrap();
}

const ALL: [&str; 3] = ["velocity", "pressure", "temperature"];

/// A flow with a temperature and the linear velocity on its boundary.
fn flow(mesh: &str, patches: &[&str], initial: &str) -> String {
    let is_2d = !mesh.starts_with("cube");
    let [u, v, w] = [0, 1, 2].map(|k| LINEAR[k].2);
    let velocity = match is_2d {
        true => format!("[\"{}\", \"{v}\"]", u.replace(" + z", "")),
        false => format!("[\"{u}\", \"{v}\", \"{w}\"]"),
    };
    let boundary: String =
        patches.iter().map(|patch| format!("{patch}.velocity_inlet = {velocity}\n")).collect();
    gmsh(mesh)
        + &format!(
            "[incompressible]\nkinematic_viscosity = 0.1\n[incompressible.pressure]\nrelative_tolerance = 1e-13\n\
             [incompressible.thermal]\ndiffusivity = 0.1\n[initial]\n{}\n[boundary]\n{boundary}\
             [time]\nstep = 0.01\nend = 0.05\n",
            initial.replace("VELOCITY", &velocity)
        )
}

const BOX: [&str; 6] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];

#[test]
fn linear_fields_are_exact_on_another_mesh() {
    for (from, to, patches) in [
        ("triangles_coarse", "quadrilaterals_medium", &BOX[..4]),
        ("quadrilaterals_coarse", "triangles_medium", &BOX[..4]),
        ("cube_tetrahedron_coarse", "cube_prism_medium", &BOX[..]),
        ("cube_hexahedron_coarse", "cube_tetrahedron_medium", &BOX[..]),
        ("cube_prism_coarse", "cube_hexahedron_coarse", &BOX[..]),
    ] {
        for at_nodes in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            write_linear(&folder.path().join("linear.vtu"), from, at_nodes, &ALL);
            let simulation =
                new(&flow(to, patches, "from = \"linear.vtu\""), folder.path()).unwrap();
            let mut given = "velocity = VELOCITY\npressure = \"4 - x + 2*y - z\"\n\
                             temperature = \"300 + 5*x + 7*y - 2*z\""
                .to_owned();
            if patches.len() == 4 {
                given = given.replace(" - z", "").replace(" - 2*z", "");
            }
            let reference = new(&flow(to, patches, &given), folder.path()).unwrap();
            for Unknown { name, .. } in simulation.equation.unknowns() {
                let (found, want) =
                    (simulation.field(name).unwrap(), reference.field(name).unwrap());
                let pairs = found.iter().zip(&want);
                let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                // The temperature is about 300; the projection starts from equal velocities.
                let allowed = if *name == "temperature" { 2e-11 } else { 1e-11 };
                assert!(error < allowed, "{from} {to} {at_nodes} {name}: {error:e}");
            }
        }
    }
}

#[test]
fn a_temperature_is_taken_by_cells_and_by_nodes_and_around_curved_boundaries() {
    for (from, to) in [("ring_coarse", "ring_fine"), ("pipe_coarse", "pipe_medium")] {
        let raw = read_mesh(&gmsh_file(to)).unwrap();
        let boundary: String =
            raw.patches.iter().map(|patch| format!("\"{patch}\" = \"insulated\"\n")).collect();
        for (at_nodes, place, time) in [
            (false, "cell", "[time]\nstep = 0.1\nend = 1.0\n"),
            (false, "node", "[time]\nstep = 0.1\nend = 1.0\n"),
            (true, "cell", "[time]\nstep = 0.1\nend = 1.0\n"),
            (true, "node", "[time]\nstep = 0.1\nend = 1.0\n"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            write_linear(&folder.path().join("linear.vtu"), from, at_nodes, &["temperature"]);
            let text = gmsh(to)
                + &format!(
                    "[heat]\ndiscretization = \"{place}\"\n[initial]\nfrom = \"linear.vtu\"\n\
                     [boundary]\n{boundary}{time}"
                );
            let simulation = new(&text, folder.path()).unwrap_or_else(|e| panic!("{e}\n{text}"));
            for (i, value) in simulation.field("temperature").unwrap().iter().enumerate() {
                let point = simulation.equation.position_of(simulation.mesh(), i);
                let error = (value - LINEAR[4].1(point)).abs();
                assert!(error < 1e-9, "{from} {at_nodes} {place} {point:?}: {error:e}");
            }
        }
    }
}

#[test]
fn keys_beside_from_take_precedence_and_the_last_state_of_a_series_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let coarse = folder.path().join("coarse");
    std::fs::create_dir(&coarse).unwrap();
    write_linear(&coarse.join("first.vtu"), "triangles_coarse", false, &["pressure"]);
    write_linear(&coarse.join("last.vtu"), "triangles_coarse", false, &["velocity", "temperature"]);
    let entry = |time, file: &str| pvd::PvdEntry { time, file: file.into() };
    pvd::write(&coarse.join("fields.pvd"), &[entry(0.0, "first.vtu"), entry(1.0, "last.vtu")])
        .unwrap();
    let initial = "from = \"coarse/fields.pvd\"\npressure = \"x\"";
    let simulation =
        new(&flow("quadrilaterals_medium", &BOX[..4], initial), folder.path()).unwrap();
    let n = simulation.mesh().n_cells();
    let (pressure, temperature) =
        (simulation.field("pressure").unwrap(), simulation.field("temperature").unwrap());
    let volumes = simulation.equation.volumes(simulation.mesh());
    let mean: f64 = (0..n)
        .map(|c| volumes[c] * simulation.equation.position_of(simulation.mesh(), c)[0])
        .sum::<f64>()
        / volumes.iter().sum::<f64>();
    for c in 0..n {
        let x = simulation.equation.position_of(simulation.mesh(), c);
        assert!((pressure[c] - (x[0] - mean)).abs() < 1e-11, "the pressure is that of the case");
        assert!((temperature[c] - LINEAR[4].1(x)).abs() < 2e-11);
    }
}

#[test]
fn results_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_linear(&at("linear.vtu"), "triangles_coarse", false, &ALL);
    write_linear(&at("cube.vtu"), "cube_tetrahedron_coarse", false, &ALL);
    write_linear(&at("velocity.vtu"), "triangles_coarse", false, &["velocity"]);
    write_linear(&at("none.vtu"), "triangles_coarse", false, &[]);
    std::fs::write(at("text.vtu"), "not a result").unwrap();
    std::fs::write(at("table.csv"), "t,value\n0,1\n").unwrap();
    pvd::write(&at("empty.pvd"), &[]).unwrap();
    let lost = pvd::PvdEntry { time: 0.0, file: "lost.vtu".into() };
    pvd::write(&at("lost.pvd"), &[lost]).unwrap();
    let raw = read_mesh(&gmsh_file("triangles_coarse")).unwrap();
    let n = raw.cells.len();
    let (ones, mut hole) = (vec![1.0; n], vec![1.0; n]);
    hole[7] = f64::NAN;
    let write = |name: &str, fields| {
        let data = VtuData { cell_fields: fields, ..VtuData::new(&raw.points, &raw.cells) };
        vtu::write(&at(name), &data).unwrap();
    };
    let scalar = FieldValues::Scalar;
    write("scalar.vtu", ALL.map(|name| (name, scalar(&ones))).into());
    let vector = FieldValues::Vector([&ones, &ones, &ones]);
    let fields =
        vec![("velocity", vector), ("pressure", scalar(&hole)), ("temperature", scalar(&ones))];
    write("hole.vtu", fields);
    let refused = |file: &str, further: &str| {
        let initial = format!("from = \"{file}\"\n{further}");
        match new(&flow("triangles_medium", &BOX[..4], &initial), folder.path()) {
            Ok(_) => panic!("accepted {file}"),
            Err(error) => error.to_string().replace(&folder.path().display().to_string(), "FOLDER"),
        }
    };
    insta::assert_snapshot!(refused("no.pvd", ""), @"[initial] from: FOLDER/no.pvd: No such file or directory (os error 2)");
    insta::assert_snapshot!(refused("lost.pvd", ""), @"[initial] from: FOLDER/lost.vtu: No such file or directory (os error 2)");
    insta::assert_snapshot!(refused("empty.pvd", ""), @"[initial] from: FOLDER/empty.pvd is a series without a file");
    let text = refused("text.vtu", "");
    assert!(text.starts_with("[initial] from: FOLDER/text.vtu"), "{text}");
    let text = refused("table.csv", "");
    assert!(text.starts_with("[initial] from: FOLDER/table.csv: "), "{text}");
    insta::assert_snapshot!(refused("velocity.vtu", ""), @"[initial] from: FOLDER/velocity.vtu has no `pressure`, `temperature`; it has `velocity`. Give the missing fields in [initial], or write them with `fields` of [output]");
    insta::assert_snapshot!(refused("none.vtu", "pressure = 0.0\ntemperature = 1.0"), @"[initial] from: FOLDER/none.vtu has no `velocity`; it has no field. Give the missing fields in [initial], or write them with `fields` of [output]");
    insta::assert_snapshot!(refused("cube.vtu", ""), @"[initial] from: FOLDER/cube.vtu is a result in 3D, the mesh of the case is 2D");
    insta::assert_snapshot!(refused("scalar.vtu", ""), @"[initial] from: `velocity` of FOLDER/scalar.vtu has 1 components, the case needs 2");
    insta::assert_snapshot!(refused("hole.vtu", ""), @"[initial] from: `pressure` of FOLDER/hole.vtu is NaN in cell 7");
    // A mesh without fields is a result without fields.
    let mesh = gmsh_file("triangles_coarse");
    let text = refused(&mesh.display().to_string(), "");
    assert!(
        text.contains("has no `velocity`, `pressure`, `temperature`; it has no field"),
        "{text}"
    );
}

#[test]
fn a_mesh_beyond_the_result_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_linear(&folder.path().join("linear.vtu"), "triangles_coarse", false, &["temperature"]);
    let text = |length: f64, place: &str| {
        format!(
            "[mesh.generate.box]\nsize = [{length:?}, 1.0]\ncells = [20, 10]\n[heat]\ndiscretization = \"{place}\"\n\
             [initial]\nfrom = \"linear.vtu\"\n[boundary]\nxmin = \"insulated\"\nxmax = \"insulated\"\n\
             ymin = \"insulated\"\nymax = \"insulated\"\n[time]\nstep = 0.1\nend = 1.0\n"
        )
    };
    assert!(new(&text(1.1, "cell"), folder.path()).is_ok(), "less than a cell beyond");
    for (place, what, total) in [("cell", "cell centres", "200"), ("node", "nodes", "231")] {
        let Err(error) = new(&text(2.0, place), folder.path()) else { panic!("accepted") };
        let error = error.to_string();
        assert!(error.contains(&format!(" of {total} {what} lie beyond the mesh of ")), "{error}");
        assert!(error.contains("the farthest at (") && error.contains("linear.vtu"), "{error}");
    }
}

#[test]
fn a_steady_flow_from_a_coarse_result_takes_fewer_iterations_to_the_same_state() {
    let text = |cells: usize, initial: &str| {
        format!(
            "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [{cells}, {cells}]\nelement = \"triangle\"\njitter = 0.1\n\
             [incompressible]\nkinematic_viscosity = 0.01\n{initial}\n[boundary]\nymax.moving_wall = [1.0, 0.0]\n\
             ymin = \"no_slip\"\nxmin = \"no_slip\"\nxmax = \"no_slip\"\n[steady]\ntolerance = 1e-7\n"
        )
    };
    let root = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let folder = root.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    };
    let iterations = |summary: &serde_json::Value| number(summary, "/time/steps");
    run(&text(10, ""), &folder("coarse"));
    let (_, rest) = run(&text(20, ""), &folder("rest"));
    let from = "[initial]\nfrom = \"../coarse/case/fields.pvd\"";
    let (outcome, fine) = run(&text(20, from), &folder("fine"));
    assert_eq!(outcome.kind, OutcomeKind::Converged, "{outcome}");
    assert!(
        iterations(&fine) < 0.9 * iterations(&rest),
        "{} {}",
        iterations(&fine),
        iterations(&rest)
    );
    for entry in ["velocity_x/min", "velocity_y/max", "pressure/max"] {
        let of = |summary| number(summary, &format!("/fields/{entry}"));
        assert!((of(&fine) - of(&rest)).abs() < 1e-4 * of(&rest).abs(), "{entry}");
    }
}

#[test]
fn a_restart_does_not_read_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("linear.vtu");
    write_linear(&result, "triangles_coarse", false, &["temperature"]);
    let text = gmsh("triangles_medium")
        + "[heat]\n[initial]\nfrom = \"linear.vtu\"\n[boundary]\nxmin = \"insulated\"\nxmax = \"insulated\"\n\
           ymin = \"insulated\"\nymax = \"insulated\"\n[time]\nstep = 0.01\nend = 0.1\n[checkpoint]\nevery = 0.05\n";
    run(&text, folder.path());
    let fields = folder.path().join("case/fields_0000.vtu");
    let before = std::fs::read(&fields).unwrap();
    std::fs::remove_file(result).unwrap();
    let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
    let restart = Some(folder.path().join("case/checkpoint_00000005.safetensors"));
    Simulation::new(case, RunOptions { restart, backend: None }).unwrap().run(&mut |_| ()).unwrap();
    assert!(std::fs::read(&fields).unwrap() == before);
}
