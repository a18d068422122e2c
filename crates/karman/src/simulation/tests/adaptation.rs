//! Runs that adapt their mesh.

use super::*;
use crate::mesh::geometry::cell_volumes;

const ADAPT: &str = "[adapt]\nfield = \"temperature\"\ncomplexity = 400\nanisotropy = 1.0\n";

/// A boundary layer of thickness 0.05 on a mesh of Gmsh.
fn layer(place: &str, rest: &str) -> String {
    format!(
        "{}[heat]\ndiscretization = \"{place}\"\nconductivity = 1.0\nsource = \"-400*exp(-x*20)\"\n[boundary]\n\
         xmin.temperature = 1.0\nxmax.temperature = \"exp(-20)\"\nymin = \"insulated\"\nymax = \"insulated\"\n{rest}",
        gmsh("triangles_coarse")
    )
}

fn unsteady(equation: &str, adapt: &str) -> String {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [16, 16]\nelement = \"triangle\"\njitter = 0.1\n";
    format!("{mesh}{equation}[adapt]\n{adapt}\n[output]\nevery = 0.1\n[checkpoint]\nevery = 0.15\n")
}

fn heat(place: &str, method: &str, adapt: &str) -> String {
    let equation = format!(
        "[heat]\ndiscretization = \"{place}\"\nconductivity = 0.01\n[initial]\n\
         temperature = \"1 + tanh(20*(x - 0.4))\"\n[boundary]\nxmin = \"insulated\"\nxmax = \"insulated\"\n\
         ymin = \"insulated\"\nymax = \"insulated\"\n[time]\nmethod = \"{method}\"\nstep = 0.02\nend = 0.3\n\
         [linear_solver]\nrelative_tolerance = 1e-14\n"
    );
    unsteady(&equation, adapt)
}

fn flow(scheme: &str, method: &str, adapt: &str) -> String {
    let equation = format!(
        "[incompressible]\nscheme = \"{scheme}\"\nkinematic_viscosity = 0.01\n[incompressible.thermal]\ndiffusivity = 0.01\n\
         [initial]\ntemperature = \"1 + tanh(20*(x - 0.4))\"\n[boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\n\
         ymin = \"no_slip\"\nymax.moving_wall = [1.0, 0.0]\n[time]\nmethod = \"{method}\"\nstep = 0.01\nend = 0.3\n"
    );
    unsteady(&equation, adapt)
}

fn gas(adapt: &str) -> String {
    let equation = "[compressible]\n[initial]\ndensity = \"if(x < 0.5, 1, 0.01)\"\npressure = \"if(x < 0.5, 1, 0.001)\"\n\
                    [boundary]\nxmin = \"slip_wall\"\nxmax = \"slip_wall\"\nymin = \"slip_wall\"\nymax = \"slip_wall\"\n\
                    [time]\ncfl = 0.4\nend = 0.2\n";
    unsteady(equation, adapt)
}

const EVERY: &str = "field = \"temperature\"\ncomplexity = 300\nevery = 0.1\nh_min = 0.005";

#[test]
fn cycles_of_a_steady_case_converge() {
    for place in ["cell", "node"] {
        let errors = ["", "cycles = 1\n", "cycles = 4\n"].map(|cycles| {
            let folder = tempfile::tempdir().unwrap();
            let adapt = if cycles.is_empty() { String::new() } else { format!("{ADAPT}{cycles}") };
            let exact = "[exact]\ntemperature = \"exp(-x*20)\"\n";
            let (outcome, summary) = run(&layer(place, &(adapt + exact)), folder.path());
            assert_eq!(outcome.kind, OutcomeKind::Converged, "{outcome}");
            let expected =
                cycles.chars().find(char::is_ascii_digit).map(|c| f64::from(c as u8 - 48));
            let count = summary.pointer("/adaptation/count").and_then(serde_json::Value::as_f64);
            assert_eq!(count, expected, "{summary}");
            number(&summary, "/errors/temperature/l2")
        });
        assert!(errors[2] < 0.1 * errors[0] && errors[2] < 1.2 * errors[1], "{place}: {errors:?}");
    }
}

#[test]
fn tetrahedra_are_adapted_in_cycles() {
    let case = |adapt: &str| {
        let exact = "\"exp(-x*20)\"";
        format!(
            "{}[heat]\nconductivity = 1.0\nsource = \"-400*exp(-x*20)\"\n[boundary]\nxmin.temperature = {exact}\n\
             xmax.temperature = {exact}\nymin = \"insulated\"\nymax = \"insulated\"\nzmin = \"insulated\"\n\
             zmax = \"insulated\"\n{adapt}[exact]\ntemperature = {exact}\n",
            gmsh("cube_tetrahedron_coarse")
        )
    };
    let errors = ["".to_owned(), format!("{ADAPT}cycles = 3\n")].map(|adapt| {
        let folder = tempfile::tempdir().unwrap();
        let (outcome, summary) = run(&case(&adapt), folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Converged, "{outcome}");
        number(&summary, "/errors/temperature/l2")
    });
    assert!(errors[1] < 0.5 * errors[0], "{errors:?}");
}

#[test]
fn multistep_schemes_are_known() {
    let is_multistep = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        new(text, folder.path()).unwrap().equation.is_multistep()
    };
    assert!(is_multistep(&heat("cell", "bdf2", EVERY)));
    assert!(!is_multistep(&heat("cell", "crank_nicolson", EVERY)));
    assert!(is_multistep(&flow("collocated", "ab2_cn", EVERY)));
    assert!(!is_multistep(&flow("collocated", "rk3", EVERY)));
    assert!(!is_multistep(&gas(&EVERY.replace("temperature", "density"))));
}

#[test]
fn the_integral_of_a_field_is_kept() {
    for place in ["cell", "node"] {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&heat(place, "bdf2", EVERY), folder.path()).unwrap();
        let integral = |simulation: &Simulation| {
            let volumes = simulation.equation.volumes(&simulation.mesh);
            let field = simulation.field("temperature").unwrap();
            volumes.iter().zip(field).map(|(v, t)| v * t).sum::<f64>()
        };
        simulation.step().unwrap();
        let before = integral(&simulation);
        let cells = simulation.mesh().n_cells();
        simulation.adapt().unwrap();
        assert_ne!(simulation.mesh().n_cells(), cells);
        let after = integral(&simulation);
        assert!((after - before).abs() < 1e-13 * before, "{place}: {before} {after}");
    }
}

#[test]
fn a_gas_keeps_mass_and_energy_and_stays_a_gas() {
    let folder = tempfile::tempdir().unwrap();
    let adapt = "field = \"density\"\ncomplexity = 600\nevery = 0.02\nh_min = 0.004";
    let (outcome, summary) = run(&gas(adapt), folder.path());
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
    assert_eq!(number(&summary, "/adaptation/count"), 9.0);
    let without = gas(adapt);
    let without = &without[..without.find("[adapt]").unwrap()];
    let other = tempfile::tempdir().unwrap();
    let (_, reference) = run(without, other.path());
    for quantity in ["/flow/mass", "/flow/energy"] {
        let (found, exact) = (number(&summary, quantity), number(&reference, quantity));
        assert!((found - exact).abs() < 1e-12 * exact, "{quantity}: {found} {exact}");
    }
    assert!(number(&summary, "/fields/pressure/min") > 0.0);
    // Interpolated states are those of a gas too, without the integrals.
    let interpolated = gas(&format!("{adapt}\ntransfer = \"interpolate\""));
    let (outcome, summary) = run(&interpolated, folder.path());
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
    assert!((number(&summary, "/flow/mass") - 0.505).abs() < 0.01);
}

#[test]
fn flows_go_on_free_of_divergence() {
    for (scheme, method) in
        [("collocated", "bdf2"), ("staggered", "ab2_cn"), ("exact_fractional_step", "bdf2")]
    {
        let folder = tempfile::tempdir().unwrap();
        let (outcome, summary) = run(&flow(scheme, method, EVERY), folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{scheme}: {outcome}");
        assert_eq!(number(&summary, "/adaptation/count"), 2.0);
        assert!(number(&summary, "/flow/divergence_max") < 1e-6, "{scheme}: {summary}");
        // The fluid exchanges no heat.
        let mean = number(&summary, "/fields/temperature/mean");
        assert!((mean - 1.2).abs() < 2e-3, "{scheme}: {mean}");
    }
}

#[test]
fn every_file_of_fields_has_the_mesh_of_its_time() {
    let folder = tempfile::tempdir().unwrap();
    run(&heat("cell", "bdf2", EVERY), folder.path());
    let cells = |number: usize| {
        let path = folder.path().join(format!("case/fields_{number:04}.vtu"));
        let read = crate::mesh::files::read_mesh_with_fields(&path).unwrap();
        assert_eq!(read.cell_fields[0].values.len(), read.mesh.cells.len());
        read.mesh.cells.len()
    };
    // Fields are written before the mesh is adapted.
    assert_eq!((cells(0), cells(1)), (512, 512));
    assert!(cells(2) != 512 && cells(3) != 512);
    let series = crate::mesh::files::pvd::read(&folder.path().join("case/fields.pvd")).unwrap();
    assert_eq!(series.len(), 4);
}

#[test]
fn a_restart_goes_on_with_the_adapted_mesh() {
    let density = EVERY.replace("temperature", "density").replace("0.1", "0.05");
    let cases = [
        (heat("cell", "bdf2", EVERY), "temperature"),
        (heat("node", "crank_nicolson", EVERY), "temperature"),
        (flow("collocated", "bdf2", EVERY), "velocity_x"),
        (flow("staggered", "ab2_cn", EVERY), "velocity_x"),
        (gas(&density), "density"),
    ];
    for (text, field) in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut whole = new(&text, folder.path()).unwrap();
        whole.run(&mut |_| ()).unwrap();
        let mut files: Vec<_> = std::fs::read_dir(folder.path().join("case")).unwrap().collect();
        files.retain(|file| {
            file.as_ref().unwrap().path().extension().is_some_and(|e| e == "safetensors")
        });
        let path = files.first().unwrap().as_ref().unwrap().path();
        let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
        let options = RunOptions { restart: Some(path), ..RunOptions::default() };
        let mut restarted = Simulation::new(case, options).unwrap();
        assert_ne!(restarted.mesh().n_cells(), 512, "{text}");
        drop(whole.folder.take());
        restarted.run(&mut |_| ()).unwrap();
        assert_eq!(restarted.mesh(), whole.mesh(), "{text}");
        let (a, b) = (whole.field(field).unwrap(), restarted.field(field).unwrap());
        assert_eq!(a, b, "{text}");
    }
}

#[test]
fn an_analytic_metric_follows_the_time() {
    let adapt =
        "metric = [\"1/(0.02 + 0.2*abs(x - t))^2\", 0.0, 25.0]\nevery = 0.1\ngradation = 2.0";
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = new(&heat("cell", "backward_euler", adapt), folder.path()).unwrap();
    simulation.run(&mut |_| ()).unwrap();
    // Smallest cells near x = 0.2, the time of the last adaptation.
    let mesh = simulation.mesh();
    let smallest = cell_volumes(mesh).into_iter().enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    let [x, ..] = crate::mesh::geometry::cell_centre(mesh, smallest.unwrap().0);
    assert!((x - 0.2).abs() < 0.1, "{x}");
}

#[test]
fn meshes_and_metrics_that_cannot_be_used_are_refused() {
    let refused = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        match new(text, folder.path()) {
            Ok(_) => panic!("accepted:\n{text}"),
            Err(error) => error.to_string(),
        }
    };
    let heat = heat("cell", "bdf2", EVERY);
    assert_eq!(
        refused(&heat.replace("\"triangle\"", "\"quadrilateral\"")),
        "[adapt]: 256 cells are no triangles; fields are transferred between meshes of triangles alone"
    );
    let periodic = flow("collocated", "bdf2", EVERY)
        .replace("xmin = \"no_slip\"", "xmin.periodic = \"xmax\"")
        .replace("xmax = \"no_slip\"\n", "");
    assert_eq!(
        refused(&periodic),
        "[adapt]: the mesh has periodic patches, which adaptation does not keep"
    );
    let metric = |entries: &str| heat.replace(EVERY, &format!("metric = [{entries}]\nevery = 0.1"));
    assert_eq!(
        refused(&metric("1.0, 0.0, 0.0, 1.0, 0.0, 1.0")),
        "[adapt]: `metric` has 6 entries; a 2D mesh needs 3"
    );
    let said = refused(&metric("1.0, 2.0, 1.0"));
    assert!(said.starts_with("[adapt]: the metric at ("), "{said}");
    assert!(said.contains("is not positive definite: its eigenvalues are "), "{said}");
    // A metric that fails later ends the run with the same message.
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = new(&metric("\"1 - 20*t\", 0.0, 1.0"), folder.path()).unwrap();
    let said = simulation.run(&mut |_| ()).unwrap_err().to_string();
    assert!(said.starts_with("[adapt]: the metric at ("), "{said}");
    // A field of plane flows in 3D.
    let vorticity = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [2, 2, 2]\nelement = \"tetrahedron\"\n\
                     [incompressible]\nkinematic_viscosity = 1.0\n[boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\n\
                     ymin = \"no_slip\"\nymax = \"no_slip\"\nzmin = \"no_slip\"\nzmax = \"no_slip\"\n[time]\nstep = 0.1\nend = 1.0\n\
                     [adapt]\nfield = \"streamfunction\"\ncomplexity = 100\nevery = 0.1\n";
    assert_eq!(
        refused(vorticity),
        "the field `streamfunction` exists on 2D meshes only, this mesh is 3D"
    );
}
