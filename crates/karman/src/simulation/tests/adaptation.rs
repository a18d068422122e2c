//! Runs that adapt their mesh.

use super::*;
use crate::io::checkpoint::NamedArray;
use crate::mesh::geometry::cell_volumes;
use crate::simulation::location::Location;

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
        "[adapt]: 256 cells are no triangles and 0 are frozen: none is left to adapt"
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

/// Writes a VTK file of n² quadrilaterals of the unit square with tensors at their nodes.
fn write_tensors(path: &Path, n: usize, tensor: impl Fn([f64; 2]) -> Vec<f64>) {
    let at = |i: usize| i as f64 / n as f64;
    let nodes: Vec<[f64; 2]> =
        (0..(n + 1) * (n + 1)).map(|k| [at(k % (n + 1)), at(k / (n + 1))]).collect();
    let mut text = format!(
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
        nodes.len()
    );
    nodes.iter().for_each(|[x, y]| text += &format!("{x} {y} 0\n"));
    text += &format!("CELLS {} {}\n", n * n, 5 * n * n);
    for (j, i) in (0..n * n).map(|k| (k / n, k % n)) {
        let low = j * (n + 1) + i;
        text += &format!("4 {low} {} {} {}\n", low + 1, low + n + 2, low + n + 1);
    }
    text += &format!("CELL_TYPES {}\n{}", n * n, "9\n".repeat(n * n));
    let values: Vec<f64> = nodes.iter().flat_map(|point| tensor(*point)).collect();
    let size = values.len() / nodes.len();
    text += &format!(
        "POINT_DATA {0}\nFIELD FieldData 1\nm {size} {0} double\n{1}\n",
        nodes.len(),
        values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
    );
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_metric_of_a_file_is_that_of_its_formula() {
    let folder = tempfile::tempdir().unwrap();
    // log M is linear in x, so that the file and the formula prescribe the same metric.
    write_tensors(&folder.path().join("m.vtk"), 4, |[x, _]| {
        vec![100.0 * (4.0 * x).exp(), 0.0, 400.0]
    });
    let of_file = "metric = { file = \"m.vtk\", name = \"m\" }\nevery = 0.1";
    let of_formula = "metric = [\"100*exp(4*x)\", 0.0, 400.0]\nevery = 0.1";
    let adapted = |adapt: &str| {
        let other = tempfile::tempdir().unwrap();
        std::fs::copy(folder.path().join("m.vtk"), other.path().join("m.vtk")).unwrap();
        let mut simulation = new(&heat("cell", "bdf2", adapt), other.path()).unwrap();
        simulation.adapt().unwrap();
        simulation
    };
    let [file, formula] = [of_file, of_formula].map(adapted);
    let [a, b] = [&file, &formula].map(|simulation| simulation.mesh().n_nodes() as f64);
    assert!((a / b - 1.0).abs() < 0.02, "{a} {b}");
    // A second adaptation reads no file.
    std::fs::remove_file(folder.path().join("m.vtk")).unwrap();
    let mut file = file;
    file.adapt().unwrap();
    assert!((file.mesh().n_nodes() as f64 / a - 1.0).abs() < 0.1);
    for (tensor, name, message) in [
        (vec![-3.0, 0.0, 1.0], "m", "`m`: the metric at (0, 0, 0) is not positive definite"),
        (vec![1.0, 0.2, 0.1, 1.0], "m", "is not symmetric: 0.2 and 0.1"),
        (vec![1.0; 5], "m", "a metric of 2D has 3 components"),
        (vec![1.0, 0.0, 1.0], "n", "no field `n`; the file has: m"),
    ] {
        write_tensors(&folder.path().join("m.vtk"), 1, |_| tensor.clone());
        let adapt = of_file.replace("name = \"m\"", &format!("name = \"{name}\""));
        let refused = new(&heat("cell", "bdf2", &adapt), folder.path()).err().unwrap().to_string();
        assert!(refused.starts_with("[adapt]: ") && refused.contains(message), "{refused}");
    }
    std::fs::remove_file(folder.path().join("m.vtk")).unwrap();
    let refused = new(&heat("cell", "bdf2", of_file), folder.path()).err().unwrap().to_string();
    assert!(refused.starts_with("[adapt]: ") && refused.contains("m.vtk"), "{refused}");
    // The metric is among the files that a run does not remove.
    std::fs::create_dir(folder.path().join("case")).unwrap();
    write_tensors(&folder.path().join("case/fields_0001.vtu"), 1, |_| vec![1.0, 0.0, 1.0]);
    let among = of_file.replace("m.vtk", "case/fields_0001.vtu");
    let refused = new(&heat("cell", "bdf2", &among), folder.path()).err().unwrap().to_string();
    assert!(refused.starts_with("`metric` reads "), "{refused}");
}

#[test]
fn initial_fields_are_evaluated_again_on_their_meshes() {
    let cases = [
        (heat("cell", "bdf2", EVERY), "temperature"),
        (heat("node", "crank_nicolson", EVERY), "temperature"),
        (flow("collocated", "bdf2", EVERY), "temperature"),
        (flow("staggered", "ab2_cn", EVERY), "temperature"),
        (gas(&EVERY.replace("temperature", "density")), "density"),
    ];
    for (text, field) in cases {
        let folder = tempfile::tempdir().unwrap();
        // The convection of flows is explicit.
        let text = text.replace("step = 0.01\nend = 0.3", "step = 0.001\nend = 0.02");
        let with = text.replace("every = 0.1\nh_min", "every = 0.1\ninitial_cycles = 3\nh_min");
        let mut simulation = new(&with, folder.path()).unwrap();
        assert_eq!((simulation.time(), simulation.steps()), (0.0, 0), "{with}");
        let mesh = simulation.mesh();
        assert_ne!(mesh.n_cells(), 512, "{with}");
        // The initial field itself and not one that was transferred from the mesh before.
        let exact = |x: f64| match field {
            "density" if x < 0.5 => 1.0,
            "density" => 0.01,
            _ => 1.0 + (20.0 * (x - 0.4)).tanh(),
        };
        for (i, value) in simulation.field(field).unwrap().into_iter().enumerate() {
            let [x, ..] = simulation.equation.position_of(mesh, i);
            // A cell on the jump of the density has its mean.
            if field != "density" || (x - 0.5).abs() > 0.05 {
                assert!((value - exact(x)).abs() < 1e-12, "{with}: {value} at {x}");
            }
        }
        // Smaller cells at the front than elsewhere.
        let volumes = cell_volumes(mesh);
        let near = |cell: usize| {
            let [x, ..] = crate::mesh::geometry::cell_centre(mesh, cell);
            (x - if field == "density" { 0.5 } else { 0.4 }).abs() < 0.05
        };
        let mean = |is_near: bool| {
            let cells = (0..volumes.len()).filter(|&cell| near(cell) == is_near);
            let of: Vec<f64> = cells.map(|cell| volumes[cell]).collect();
            of.iter().sum::<f64>() / of.len() as f64
        };
        assert!(mean(true) < 0.5 * mean(false), "{with}: {} {}", mean(true), mean(false));
        let outcome = simulation.run(&mut |_| ()).unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
        let of_run = match (field, text.contains("incompressible")) {
            ("density", _) => 1.0,
            (_, true) => 0.0,
            _ => 2.0,
        };
        assert_eq!(number(&summary(folder.path()), "/adaptation/count"), 3.0 + of_run);
    }
}

#[test]
fn a_restart_adapts_to_no_initial_fields() {
    let adapt = EVERY.replace("every = 0.1", "every = 1.0\ninitial_cycles = 2");
    let text = heat("cell", "bdf2", &adapt);
    let folder = tempfile::tempdir().unwrap();
    let mut whole = new(&text, folder.path()).unwrap();
    whole.run(&mut |_| ()).unwrap();
    let path = first_checkpoint(folder.path());
    let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
    let options = RunOptions { restart: Some(path), ..RunOptions::default() };
    let mut restarted = Simulation::new(case, options).unwrap();
    assert_eq!(restarted.mesh(), whole.mesh());
    assert_eq!(restarted.adaptation_summary().unwrap().count, 0);
    drop(whole.folder.take());
    restarted.run(&mut |_| ()).unwrap();
    let [a, b] = [&whole, &restarted].map(|run| run.field("temperature").unwrap());
    assert_eq!(a, b);
}

/// The first checkpoint of a run.
fn first_checkpoint(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder.join("case")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|e| e == "safetensors")).min().unwrap()
}

#[test]
fn the_metric_of_an_interval_covers_what_passes_in_it() {
    // A front moves from x = 0.2 to 0.65 by convection.
    let case = |samples: usize| {
        let equation = "[incompressible]\nkinematic_viscosity = 1.0\n[incompressible.thermal]\ndiffusivity = 1e-6\n\
             [initial]\nvelocity = [1.0, 0.0]\ntemperature = \"tanh(30*(x - 0.2))\"\n[boundary]\n\
             xmin = { velocity_inlet = [1.0, 0.0], temperature = -1.0 }\nxmax.pressure_outlet = 0.0\nymin = { slip = true, insulated = true }\n\
             ymax = { slip = true, insulated = true }\n[time]\nmethod = \"bdf2\"\nstep = 0.01\nend = 0.5\n";
        let adapt = format!(
            "field = \"temperature\"\ncomplexity = 400\nevery = 0.4\nanisotropy = 1.0\nh_min = 0.01\nsamples = {samples}"
        );
        unsteady(equation, &adapt)
    };
    let sizes = [1, 8].map(|samples| {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&case(samples), folder.path()).unwrap();
        while simulation.time() < 0.395 {
            simulation.step().unwrap();
        }
        simulation.adapt().unwrap();
        let mesh = simulation.mesh();
        let volumes = cell_volumes(mesh);
        // Mean area of the cells that the front has passed.
        let passed = |&cell: &usize| {
            let [x, ..] = crate::mesh::geometry::cell_centre(mesh, cell);
            (0.25..0.5).contains(&x)
        };
        let of: Vec<f64> = (0..volumes.len()).filter(passed).map(|c| volumes[c]).collect();
        (of.iter().sum::<f64>() / of.len() as f64, mesh.n_nodes() as f64)
    });
    let [(at_end, few), (of_interval, many)] = sizes;
    assert!(of_interval < 0.6 * at_end, "{sizes:?}");
    // The intersection is scaled to the complexity.
    assert!((many / few - 1.0).abs() < 0.35, "{sizes:?}");
}

#[test]
fn a_metric_of_expressions_covers_the_coming_interval() {
    let adapt = |samples: &str| {
        format!(
            "metric = [\"1/(0.02 + 0.3*abs(x - 0.3 - 5*t))^2\", 0.0, 25.0]\nevery = 0.1\n{samples}gradation = 3.0"
        )
    };
    let mean_width = |samples: &str| {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&heat("cell", "bdf2", &adapt(samples)), folder.path()).unwrap();
        simulation.adapt().unwrap();
        let mesh = simulation.mesh();
        let near = |cell: &usize| {
            let [x, ..] = crate::mesh::geometry::cell_centre(mesh, *cell);
            (x - 0.8).abs() < 0.03
        };
        let volumes = cell_volumes(mesh);
        let of: Vec<f64> = (0..volumes.len()).filter(near).map(|c| volumes[c]).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    // x = 0.8 is where the metric is finest at the end of the interval.
    let [now, covered] = ["", "samples = 6\n"].map(mean_width);
    assert!(covered < 0.5 * now, "{now} {covered}");
}

#[test]
fn a_restart_goes_on_with_the_intersected_metric() {
    for place in ["cell", "node"] {
        let adapt = EVERY.replace("every = 0.1", "every = 0.2\nsamples = 5");
        let text = heat(place, "bdf2", &adapt);
        let folder = tempfile::tempdir().unwrap();
        let mut whole = new(&text, folder.path()).unwrap();
        whole.run(&mut |_| ()).unwrap();
        let path = first_checkpoint(folder.path());
        let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
        let options = RunOptions { restart: Some(path.clone()), ..RunOptions::default() };
        let mut restarted = Simulation::new(case.clone(), options.clone()).unwrap();
        // The checkpoint of t = 0.16 has the metrics of 0.04 to 0.16 on the first mesh.
        assert_eq!(restarted.adaptation.hessians.len(), restarted.mesh().n_nodes());
        drop(whole.folder.take());
        restarted.run(&mut |_| ()).unwrap();
        assert_eq!(restarted.mesh(), whole.mesh(), "{place}");
        let [a, b] = [&whole, &restarted].map(|run| run.field("temperature").unwrap());
        assert_eq!(a, b, "{place}");
        let mut damaged = Checkpoint::read(&path).unwrap();
        damaged.insert(NamedArray::reals("adaptation.hessians", vec![1.0; 7]));
        damaged.write(&path).unwrap();
        let refused = Simulation::new(case, options).err().unwrap().to_string();
        assert!(
            refused.starts_with("the checkpoint's array `adaptation.hessians` is "),
            "{refused}"
        );
    }
}

/// A case of the airfoil in layers of quadrilaterals, with triangles around them: of heat in `cell` or `node`, a `flow` or a `gas`.
fn airfoil(equation: &str, adapt: &str) -> String {
    let front = "\"1 + tanh(5*(x - 0.4))\"";
    let step = "[time]\nmethod = \"bdf2\"\nstep = 0.01\nend = 0.06\n";
    let (sections, wall) = match equation {
        "gas" => (
            "[compressible]\n[initial]\ndensity = \"1 + 0.2*exp(-20*((x - 0.5)^2 + (y - 0.4)^2))\"\n\
             pressure = 1.0\n[time]\ncfl = 0.4\nend = 0.02\n"
                .to_owned(),
            "slip_wall",
        ),
        "flow" => (
            format!(
                "[incompressible]\nkinematic_viscosity = 0.01\n[incompressible.thermal]\ndiffusivity = 0.01\n\
                 [initial]\ntemperature = {front}\n{step}"
            ),
            "no_slip",
        ),
        place => (
            format!(
                "[heat]\ndiscretization = \"{place}\"\nconductivity = 0.01\n[initial]\ntemperature = {front}\n\
                 {step}[linear_solver]\nrelative_tolerance = 1e-14\n"
            ),
            "insulated",
        ),
    };
    let patches = crate::mesh::testing::gmsh("airfoil").patches;
    let walls: String = patches.iter().map(|name| format!("{name} = \"{wall}\"\n")).collect();
    let every = if equation == "gas" { 0.01 } else { 0.03 };
    let mesh = gmsh("airfoil");
    format!("{mesh}{sections}[boundary]\n{walls}[adapt]\n{adapt}\n[checkpoint]\nevery = {every}\n")
}

#[test]
fn tetrahedra_around_prisms_are_adapted_in_cycles() {
    let case = "[mesh.generate.sphere_in_box]\nsize = [6.0, 6.0, 6.0]\ncentre = [3.0, 3.0, 3.0]\ndiameter = 1.0\n\
                surface_size = 0.25\nfar_size = 1.5\nlayers = 2\nelement = \"mixed\"\n[heat]\nconductivity = 1.0\n[boundary]\n\
                sphere.temperature = 1.0\nfarfield.temperature = 0.0\n[adapt]\nfield = \"temperature\"\n\
                complexity = 1500\nanisotropy = 2.0\ncycles = 2\n";
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = new(case, folder.path()).unwrap();
    let prisms = |simulation: &Simulation| {
        let shapes = &simulation.mesh().cells.shapes;
        let tetrahedra = shapes.iter().filter(|shape| shape.node_count() == 4).count();
        (shapes.len() - tetrahedra, tetrahedra)
    };
    let (kept, adapted) = prisms(&simulation);
    let outcome = simulation.run(&mut |_| ()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Converged, "{outcome}");
    assert_eq!(number(&summary(folder.path()), "/adaptation/count"), 2.0);
    let after = prisms(&simulation);
    assert!(kept > 0 && after.0 == kept && after.1 != adapted, "{:?} {after:?}", (kept, adapted));
}

#[test]
fn layers_of_other_elements_keep_their_values() {
    for (equation, field) in [
        ("cell", "temperature"),
        ("node", "temperature"),
        ("flow", "temperature"),
        ("gas", "density"),
    ] {
        for transfer in ["conservative", "interpolate"] {
            let every = if equation == "gas" { 0.008 } else { 0.02 };
            let adapt = format!(
                "field = \"{field}\"\ncomplexity = 600\nevery = {every}\nanisotropy = 2.0\nh_min = 0.02\n\
                 transfer = \"{transfer}\""
            );
            let text = airfoil(equation, &adapt);
            let folder = tempfile::tempdir().unwrap();
            let mut simulation = new(&text, folder.path()).unwrap();
            simulation.step().unwrap();
            // Values in the quadrilaterals, or at their nodes, by place.
            let values = |simulation: &Simulation| {
                let mesh = simulation.mesh();
                let field = simulation.field(field).unwrap();
                let quads = (0..mesh.n_cells()).filter(|&c| mesh.cells.nodes_of(c).len() == 4);
                let mut list: Vec<([f64; 3], f64)> = match simulation.equation.location() {
                    Location::Cells => quads
                        .map(|c| (crate::mesh::geometry::cell_centre(mesh, c), field[c]))
                        .collect(),
                    Location::Nodes => quads
                        .flat_map(|c| mesh.cells.nodes_of(c).to_vec())
                        .map(|node| (mesh.points[node as usize], field[node as usize]))
                        .collect(),
                };
                list.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
                let volumes = simulation.equation.volumes(mesh);
                (list, volumes.iter().zip(&field).map(|(v, t)| v * t).sum::<f64>())
            };
            let ((before, integral), cells) = (values(&simulation), simulation.mesh().n_cells());
            simulation.adapt().unwrap();
            assert_ne!(simulation.mesh().n_cells(), cells);
            let (after, integral_after) = values(&simulation);
            assert!(!before.is_empty());
            assert_eq!(before, after, "{equation} {transfer}");
            if transfer == "conservative" {
                let change = (integral_after - integral).abs();
                assert!(change < 1e-13 * integral, "{equation}: {integral} {integral_after}");
            }
        }
    }
}

#[test]
fn a_restart_goes_on_with_an_adapted_mesh_of_several_elements() {
    for (equation, field) in [
        ("cell", "temperature"),
        ("node", "temperature"),
        ("flow", "velocity_x"),
        ("gas", "density"),
    ] {
        let every = if equation == "gas" { 0.008 } else { 0.02 };
        let of = if equation == "gas" { "density" } else { "temperature" };
        let adapt = format!(
            "field = \"{of}\"\ncomplexity = 600\nevery = {every}\nanisotropy = 2.0\nh_min = 0.02"
        );
        let text = airfoil(equation, &adapt);
        let folder = tempfile::tempdir().unwrap();
        let mut whole = new(&text, folder.path()).unwrap();
        let cells = whole.mesh().n_cells();
        let outcome = whole.run(&mut |_| ()).unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{equation}: {outcome}");
        let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
        let restart = Some(first_checkpoint(folder.path()));
        let mut restarted =
            Simulation::new(case, RunOptions { restart, ..RunOptions::default() }).unwrap();
        assert_ne!(restarted.mesh().n_cells(), cells, "{equation}");
        drop(whole.folder.take());
        restarted.run(&mut |_| ()).unwrap();
        assert_eq!(restarted.mesh(), whole.mesh(), "{equation}");
        let [a, b] = [&whole, &restarted].map(|run| run.field(field).unwrap());
        assert_eq!(a, b, "{equation}");
    }
}

#[test]
fn frozen_regions_keep_their_cells_and_values() {
    let case = |place: &str, freeze: &str| {
        format!(
            "{}[heat]\ndiscretization = \"{place}\"\nconductivity = 0.01\n[initial]\ntemperature = \"1 + tanh(20*(x - 0.4))\"\n\
             [boundary]\nwall = \"insulated\"\n[time]\nstep = 0.01\nend = 0.06\n[adapt]\nfield = \"temperature\"\n\
             complexity = 300\nevery = 0.02\nanisotropy = 2.0\n{freeze}",
            gmsh("two_regions")
        )
    };
    for place in ["cell", "node"] {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&case(place, "freeze = [\"core\"]\n"), folder.path()).unwrap();
        // The cells of a region by the place of their centre, with the temperatures in them or at their nodes.
        let cells = |simulation: &Simulation, region: &str| {
            let mesh = simulation.mesh();
            let temperature = simulation.field("temperature").unwrap();
            let group = mesh.regions.iter().position(|name| name == region).unwrap() as u32;
            let of_region = (0..mesh.n_cells()).filter(|&c| mesh.cells.groups[c] == group);
            let mut list: Vec<([f64; 3], Vec<f64>)> = of_region
                .map(|c| {
                    let nodes = mesh.cells.nodes_of(c).iter();
                    let mut values: Vec<f64> = match simulation.equation.location() {
                        Location::Cells => vec![temperature[c]],
                        Location::Nodes => nodes.map(|&n| temperature[n as usize]).collect(),
                    };
                    values.sort_by(f64::total_cmp);
                    (crate::mesh::geometry::cell_centre(mesh, c), values)
                })
                .collect();
            list.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap());
            list
        };
        simulation.step().unwrap();
        let [core, fluid] = ["core", "fluid"].map(|region| cells(&simulation, region));
        simulation.adapt().unwrap();
        assert_eq!(cells(&simulation, "core"), core, "{place}");
        assert!(core.len() > 20 && cells(&simulation, "fluid").len() != fluid.len());
        let outcome = simulation.run(&mut |_| ()).unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{place}: {outcome}");
        assert_eq!(cells(&simulation, "core").len(), core.len());
    }
    let folder = tempfile::tempdir().unwrap();
    let mut all = new(&case("cell", "freeze = [\"core\", \"fluid\"]\n"), folder.path()).unwrap();
    let error = all.adapt().unwrap_err().to_string();
    assert!(error.contains("frozen"), "{error}");
}
