//! Lines and probes that end on walls of Gmsh meshes.

use crate::case::Case;
use crate::mesh::testing::gmsh_folder;
use crate::simulation::{OutcomeKind, RunOptions, Simulation};

/// The columns of a line of a case by name, and the values of its probes.
fn sampled(text: &str) -> (Vec<(String, Vec<f64>)>, serde_json::Value) {
    let folder = tempfile::tempdir().unwrap();
    let text = text.replace("MESHES", &gmsh_folder().display().to_string());
    let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
    let mut simulation = Simulation::new(case, RunOptions::default()).unwrap();
    let outcome = simulation.run(&mut |_| ()).unwrap();
    assert!(
        matches!(outcome.kind, OutcomeKind::Finished | OutcomeKind::Converged),
        "{}",
        outcome.message
    );
    let line = std::fs::read_to_string(folder.path().join("case/line_across.csv")).unwrap();
    let mut rows = line.lines().map(|row| row.split(',').map(str::to_owned).collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let mut columns: Vec<(String, Vec<f64>)> = names.into_iter().map(|n| (n, vec![])).collect();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.1.push(value.parse().unwrap());
        }
    }
    let summary = std::fs::read_to_string(folder.path().join("case/summary.json")).unwrap();
    (columns, serde_json::from_str(&summary).unwrap())
}

fn column<'a>(columns: &'a [(String, Vec<f64>)], name: &str) -> &'a [f64] {
    &columns.iter().find(|(known, _)| known == name).unwrap().1
}

#[test]
fn a_line_across_a_hot_pipe_begins_and_ends_with_the_temperature_of_its_wall() {
    for place in ["cell", "node"] {
        let (columns, summary) = sampled(&format!(
            "[mesh]\nfile = \"MESHES/pipe_medium.msh\"\n[heat]\ndiscretization = \"{place}\"\n\
             [boundary]\ninlet.temperature = 300.0\noutlet = \"insulated\"\nwall.temperature = 350.0\n\
             [output]\n[[output.line]]\nname = \"across\"\nfrom = [-0.5, 0.0, 0.31]\n\
             to = [0.5, 0.0, 0.31]\npoints = 101\n\
             [[output.probe]]\nname = \"wall\"\nat = [0.3, 0.4, 0.77]\n"
        ));
        let t = column(&columns, "temperature");
        for end in [t[0], t[100]] {
            assert!((end - 350.0).abs() < 1e-9, "{place}: {end}");
        }
        let wall = summary["probe"]["wall"]["temperature"].as_f64().unwrap();
        assert!((wall - 350.0).abs() < 1e-9, "{place}: {wall}");
        // The wall is the hottest, without a discontinuity between it and the first cells.
        assert!(t.iter().all(|t| (300.0..=350.5).contains(t)), "{place}: {t:?}");
        let steps = t.windows(2).map(|pair| (pair[1] - pair[0]).abs());
        let largest = steps.fold(0.0, f64::max);
        assert!(largest < 3.0, "{place}: {largest}");
    }
}

#[test]
fn a_line_across_a_flow_has_the_velocities_of_its_walls() {
    // Couette flow, exact from the start: linear between the walls.
    let (columns, summary) = sampled(
        "[mesh]\nfile = \"MESHES/triangles_coarse.msh\"\n[incompressible]\nkinematic_viscosity = 0.1\n\
         convection = \"upwind\"\n[initial]\nvelocity = [\"2*y - 0.5\", 0.0]\n\
         [boundary]\nxmin.velocity_inlet = [\"2*y - 0.5\", 0.0]\nxmax.velocity_inlet = [\"2*y - 0.5\", 0.0]\n\
         ymin.moving_wall = [-0.5, 0.0]\nymax.moving_wall = [1.5, 0.0]\n[time]\nstep = 1e-3\nend = 1e-3\n\
         [output]\n[[output.line]]\nname = \"across\"\nfrom = [0.37, 0.0]\nto = [0.37, 1.0]\npoints = 51\n\
         [[output.probe]]\nname = \"inlet\"\nat = [0.0, 0.4]\n",
    );
    let (y, u) = (column(&columns, "y"), column(&columns, "velocity_x"));
    assert!((u[0] + 0.5).abs() < 1e-12 && (u[50] - 1.5).abs() < 1e-12, "{} {}", u[0], u[50]);
    for (y, u) in y.iter().zip(u) {
        assert!((u - (2.0 * y - 0.5)).abs() < 0.02, "y = {y}: {u}");
    }
    let inlet = summary["probe"]["inlet"]["velocity_x"].as_f64().unwrap();
    assert!((inlet - 0.3).abs() < 1e-12, "{inlet}");
}
