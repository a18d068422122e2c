//! Averages over time against their definition, exact solutions, and after a restart.

use super::rebuilding::same_places;
use super::*;
use std::cmp::Ordering;

/// The components of a field of the equation.
fn components(simulation: &Simulation, name: &str) -> Vec<Vec<f64>> {
    match simulation.equation.output_field(simulation.mesh(), name).unwrap() {
        FieldData::Scalar(values) => vec![values],
        FieldData::Vector(values) => values.into(),
    }
}

/// Weight and values of each step: `[step]`.
type Samples = Vec<(f64, Vec<Vec<f64>>)>;

/// Mean and root mean square of the fluctuations, by definition: for each component.
fn by_definition(samples: &Samples) -> [Vec<Vec<f64>>; 2] {
    let total: f64 = samples.iter().map(|(weight, _)| weight).sum();
    let (count, n) = (samples[0].1.len(), samples[0].1[0].len());
    let sum = |k: usize, i: usize, f: &dyn Fn(f64) -> f64| {
        samples.iter().map(|(weight, values)| weight * f(values[k][i])).sum::<f64>() / total
    };
    let of = |f: &dyn Fn(usize, usize) -> f64| {
        (0..count).map(|k| (0..n).map(|i| f(k, i)).collect()).collect()
    };
    let mean = |k, i| sum(k, i, &|q| q);
    let rms = |k, i| {
        let m = mean(k, i);
        sum(k, i, &|q| (q - m) * (q - m)).sqrt()
    };
    [of(&mean), of(&rms)]
}

/// Steps to the end; compares the averages of all fields from `start` with the definition, of `linear` the mean alone.
fn compare(
    what: &str,
    text: &str,
    (fields, linear): (&[&str], &[&str]),
    start: f64,
    tolerance: f64,
) {
    let folder = tempfile::tempdir().unwrap();
    let list = fields.join("\", \"");
    let mut text = format!(
        "{text}[[output.average]]\nfields = [\"{list}\"]\nstart = {start}\nrms = true\n\
         [[output.average]]\nname = \"all\"\nfields = [\"{}\"]\n",
        fields[0]
    );
    if !linear.is_empty() {
        let list = linear.join("\", \"");
        text += &format!("[[output.average]]\nfields = [\"{list}\"]\nstart = {start}\n");
    }
    let mut simulation = new(&text, folder.path()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let end = simulation.case.time.as_ref().unwrap().end;
    let averaged: Vec<(&str, f64)> = fields
        .iter()
        .map(|field| (*field, start))
        .chain([(fields[0], 0.0)])
        .chain(linear.iter().map(|field| (*field, start)))
        .collect();
    let mut samples: Vec<Samples> = vec![vec![]; averaged.len()];
    while !simulation.is_at_end(end) {
        let (before, _) = simulation.equation.clock();
        simulation.step().unwrap();
        let (after, _) = simulation.equation.clock();
        for ((field, start), list) in averaged.iter().zip(&mut samples) {
            if after > start + 1e-12 {
                list.push((after - before.max(*start), components(&simulation, field)));
            }
        }
    }
    let results = simulation.averages().unwrap();
    assert_eq!(results.len(), 2 * fields.len() + 1 + linear.len());
    for (k, samples) in samples.iter().enumerate() {
        assert!(samples.len() > 3, "{what}");
        for (statistic, want) in ["mean", "rms"].into_iter().zip(by_definition(samples)) {
            let field = averaged[k].0;
            let name = match k.cmp(&fields.len()) {
                Ordering::Less => format!("{field}_{statistic}"),
                _ if statistic == "rms" => continue,
                Ordering::Equal => format!("{field}_all_mean"),
                Ordering::Greater => format!("{field}_mean"),
            };
            let found = results.iter().find(|result| result.name == name).unwrap();
            let found = match &found.data {
                FieldData::Scalar(values) => std::slice::from_ref(values),
                FieldData::Vector(values) => &values[..],
            };
            let size = want.iter().flatten().fold(1e-300, |size: f64, v| size.max(v.abs()));
            let pairs = found.iter().flatten().zip(want.iter().flatten());
            let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < tolerance * size, "{what} {name}: {error:e} of {size:e}");
        }
    }
}

#[test]
fn averages_of_a_temperature_are_those_of_the_definition() {
    for (precision, tolerance) in [("f64", 1e-12), ("f32", 3e-6)] {
        for (mesh, place, sides) in [
            ("triangles_coarse", "cell", ""),
            ("triangles_coarse", "node", ""),
            ("cube_tetrahedron_coarse", "cell", "zmin = \"insulated\"\nzmax = \"insulated\"\n"),
        ] {
            let text = gmsh(mesh)
                + &format!(
                    "[heat]\ndiscretization = \"{place}\"\n[initial]\ntemperature = \"1 + x\"\n[boundary]\n\
                     xmin.temperature = \"1 + sin(9*t)\"\nxmax.temperature = \"2 + y*t\"\nymin = \"insulated\"\n\
                     ymax.heat_flux = \"cos(5*t)\"\n{sides}[time]\nstep = 0.07\nend = 1.0\n\
                     [run]\nprecision = \"{precision}\"\n"
                );
            // A step contains the start.
            compare(&format!("{mesh} {place}"), &text, (&["temperature"], &[]), 0.33, tolerance);
        }
    }
}

#[test]
fn averages_of_a_flow_are_those_of_the_definition() {
    let local = ["velocity", "pressure", "temperature", "vorticity", "q_criterion"];
    let linear = ["vorticity", "streamfunction"];
    for (mesh, scheme, time, fields, linear) in [
        ("triangles_coarse", "collocated", "cfl = 0.4", &local[..], &linear[1..]),
        ("cube_tetrahedron_coarse", "collocated", "step = 0.02", &local[..], &[]),
        ("triangles_coarse", "staggered", "step = 0.02", &local[..3], &linear[..]),
        ("cube_tetrahedron_coarse", "staggered", "step = 0.02", &local[..3], &linear[..1]),
        ("triangles_coarse", "exact_fractional_step", "cfl = 0.3", &local[..3], &linear[..]),
    ] {
        let is_2d = mesh.starts_with("tri");
        let sides = if is_2d { "" } else { "zmin = \"slip\"\nzmax = \"slip\"\n" };
        let zero = if is_2d { "" } else { ", 0.0" };
        for (precision, tolerance) in [("f64", 1e-11), ("f32", 2e-5)] {
            // The level of the pressure is free in some cases, prescribed in the others.
            let is_closed = precision == "f64" && (is_2d || scheme == "collocated");
            let side = if is_closed { " = \"no_slip\"" } else { ".pressure_outlet = 0.0" };
            let text = gmsh(mesh)
                + &format!(
                    "[incompressible]\nscheme = \"{scheme}\"\nkinematic_viscosity = 0.05\n\
                     [incompressible.thermal]\ndiffusivity = 0.1\n[initial]\ntemperature = \"x\"\n[boundary]\n\
                     xmin = {{ no_slip = true, temperature = \"sin(9*t)\" }}\nxmax{side}\nymin = \"no_slip\"\n\
                     ymax.moving_wall = [\"1 + 0.5*sin(9*t)\", 0.0{zero}]\n{sides}\
                     [time]\n{time}\nend = 0.4\n[run]\nprecision = \"{precision}\"\n"
                );
            let what = format!("{mesh} {scheme} {precision}");
            compare(&what, &text, (fields, linear), 0.111, tolerance);
        }
    }
}

/// T = 5 + sin 2πt everywhere: over a period the mean is 5 and the root mean square 1/√2; the probe has both.
#[test]
fn an_oscillation_has_its_mean_and_root_mean_square() {
    let text = gmsh("triangles_coarse")
        + "[heat]\nsource = \"2*pi*cos(2*pi*t)\"\n[initial]\ntemperature = 5.0\n[boundary]\nxmin = \"insulated\"\n\
           xmax = \"insulated\"\nymin = \"insulated\"\nymax = \"insulated\"\n[time]\nmethod = \"bdf2\"\nstep = 0.005\n\
           end = 2.0\n[linear_solver]\nrelative_tolerance = 1e-12\n[output]\nevery = 0.5\n\
           picture = { field = \"temperature_rms\" }\n[[output.probe]]\nname = \"p\"\nat = [0.3, 0.4]\n\
           [[output.average]]\nfields = [\"temperature\"]\nstart = 1.0\nrms = true\n";
    let folder = tempfile::tempdir().unwrap();
    let (outcome, summary) = run(text.as_str(), folder.path());
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
    for path in ["/fields/NAME/min", "/fields/NAME/max", "/fields/NAME/mean", "/probe/p/NAME"] {
        let of = |name: &str| number(&summary, &path.replace("NAME", name));
        assert!((of("temperature_mean") - 5.0).abs() < 2e-3, "{path}: {summary}");
        assert!((of("temperature_rms") - 0.5f64.sqrt()).abs() < 1e-3, "{path}: {summary}");
    }
    let read = |number: usize| {
        let path = folder.path().join(format!("case/fields_000{number}.vtu"));
        crate::mesh::files::read_mesh_with_fields(&path).unwrap()
    };
    let names = |number: usize| -> Vec<String> {
        read(number).cell_fields.iter().map(|field| field.name.clone()).collect()
    };
    assert_eq!(names(2), ["temperature"], "no average has begun at t = 1");
    assert_eq!(names(4), ["temperature", "temperature_mean", "temperature_rms"]);
    let last = read(4);
    let rms = last.cell_fields[2].component(0);
    assert!(rms.iter().all(|v| (v - 0.5f64.sqrt()).abs() < 1e-3));
    assert!(folder.path().join("case/temperature_rms.png").is_file());
}

/// A decay exp(−at) has the mean (1 − exp(−aT))/(aT), to the half step by which samples at the ends of steps lag.
#[test]
fn a_decaying_vortex_has_the_mean_of_the_integral() {
    let text = gmsh("triangles_coarse").replace("[mesh]\n", "[mesh]\nscale = 1.0\n")
        + "[incompressible]\nkinematic_viscosity = 0.1\n[initial]\n\
           velocity = [\"sin(pi*x)*cos(pi*y)\", \"-cos(pi*x)*sin(pi*y)\"]\n[boundary]\nxmin = \"symmetry\"\n\
           xmax = \"symmetry\"\nymin = \"symmetry\"\nymax = \"symmetry\"\n[time]\nstep = 0.005\nend = 0.5\n\
           [exact]\nvelocity = [\"sin(pi*x)*cos(pi*y)*exp(-0.2*pi^2*t)\", \"-cos(pi*x)*sin(pi*y)*exp(-0.2*pi^2*t)\"]\n\
           [[output.average]]\nfields = [\"velocity\"]\nrms = true\n";
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = new(&text, folder.path()).unwrap();
    simulation.run(&mut |_| ()).unwrap();
    let a = 0.2 * std::f64::consts::PI.powi(2);
    let at = 0.5 * a;
    let mean = (1.0 - (-at).exp()) / at;
    let rms = ((1.0 - (-2.0 * at).exp()) / (2.0 * at) - mean * mean).sqrt();
    let results = simulation.averages().unwrap();
    for (result, factor) in results.iter().zip([mean, rms]) {
        let FieldData::Vector([u, ..]) = &result.data else { panic!("{}", result.name) };
        let volumes = simulation.equation.volumes(simulation.mesh());
        let mut sums = [0.0, 0.0];
        for (i, (u, v)) in u.iter().zip(&volumes).enumerate() {
            let [x, y, _] = simulation.equation.position_of(simulation.mesh(), i);
            let sine = (std::f64::consts::PI * x).sin() * (std::f64::consts::PI * y).cos();
            // A root mean square has no sign.
            let exact = if result.name.ends_with("rms") { sine.abs() } else { sine } * factor;
            sums[0] += v * (u - exact) * (u - exact);
            sums[1] += v * exact * exact;
        }
        let error = (sums[0] / sums[1]).sqrt();
        assert!(error < 0.03, "{}: {error}", result.name);
    }
}

const RESTARTED: &str = "[incompressible]\nkinematic_viscosity = 0.02\n[boundary]\nxmin = \"no_slip\"\n\
    xmax = \"no_slip\"\nymin = \"no_slip\"\nymax.moving_wall = [\"1 + 0.5*sin(9*t)\", 0.0]\n[time]\ncfl = 0.3\nend = 0.8\n\
    [checkpoint]\nevery = 0.4\n[output]\nevery = 0.2\n[[output.probe]]\nname = \"p\"\nat = [0.5, 0.5]\n\
    [[output.average]]\nfields = [\"velocity\", \"pressure\"]\nstart = 0.1\nrms = true\n\
    [[output.average]]\nname = \"late\"\nfields = [\"vorticity\"]\nstart = 0.5\n\
    [[output.average]]\nname = \"psi\"\nfields = [\"streamfunction\"]\nstart = 0.15\n";

fn first_checkpoint(results: &Path) -> std::path::PathBuf {
    let entries = std::fs::read_dir(results).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "safetensors")).collect();
    found.sort();
    found.remove(0)
}

fn restarted(text: &str, folder: &Path, checkpoint: &Path) -> Outcome {
    let case = Case::parse(text, folder, "case.toml").unwrap();
    let options = RunOptions { restart: Some(checkpoint.to_owned()), backend: None };
    Simulation::new(case, options).unwrap().run(&mut |_| ()).unwrap()
}

#[test]
fn a_restart_continues_averages_bit_for_bit() {
    for precision in ["f64", "f32"] {
        let text =
            gmsh("triangles_coarse") + RESTARTED + &format!("[run]\nprecision = \"{precision}\"\n");
        let text = match precision {
            "f32" => text.replace("xmax = \"no_slip\"", "xmax.pressure_outlet = 0.0"),
            _ => text,
        };
        let folder = tempfile::tempdir().unwrap();
        let (outcome, before) = run(&text, folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
        let results = folder.path().join("case");
        let files = ["fields_0003.vtu", "fields_0004.vtu"];
        let read = || files.map(|file| std::fs::read(results.join(file)).unwrap());
        let fields = read();
        restarted(&text, folder.path(), &first_checkpoint(&results));
        assert!(read() == fields, "{precision}");
        let after = summary(folder.path());
        assert_eq!(after["fields"], before["fields"]);
        assert_eq!(after["probe"], before["probe"]);
        assert!(number(&after, "/probe/p/velocity_rms_x") > 0.0);
        assert!(number(&after, "/fields/vorticity_late_mean/max") > 0.0);
    }
}

#[test]
fn a_checkpoint_without_the_average_begins_it_anew() {
    let text = gmsh("triangles_coarse") + RESTARTED;
    let (without, _) = text.split_once("[[output.average]]").unwrap();
    let folder = tempfile::tempdir().unwrap();
    run(without, folder.path());
    let checkpoint = first_checkpoint(&folder.path().join("case"));
    restarted(&text, folder.path(), &checkpoint);
    let found = summary(folder.path());
    let warnings = found["warnings"].to_string();
    let expected = "the checkpoint has no average of `pressure` from t = 0.1: it begins at t = 0.4";
    assert!(warnings.contains(expected), "{warnings}");
    assert!(!warnings.contains("vorticity"), "its start lies after the checkpoint: {warnings}");
    assert!(number(&found, "/fields/velocity_rms_x/max") > 0.0);
    // Another start is another average.
    run(&text, folder.path());
    let checkpoint = first_checkpoint(&folder.path().join("case"));
    restarted(&text.replace("start = 0.1", "start = 0.2"), folder.path(), &checkpoint);
    let warnings = summary(folder.path())["warnings"].to_string();
    assert!(warnings.contains("no average of `velocity` from t = 0.2"), "{warnings}");
    // Further statistics are not in the checkpoint.
    let text = text.replace("start = 0.5", "start = 0.3\nrms = true");
    let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
    let without = text.replace("rms = true\n[[", "[[");
    run(&without, folder.path());
    let checkpoint = first_checkpoint(&folder.path().join("case"));
    let options = RunOptions { restart: Some(checkpoint), backend: None };
    let Err(error) = Simulation::new(case, options) else { panic!("accepted") };
    let expected = "the checkpoint's array `average.velocity_mean.fields` is ";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn an_average_that_does_not_begin_is_reported() {
    let text = gmsh("triangles_coarse")
        + "[heat]\n[initial]\ntemperature = 1.0\n[boundary]\nxmin.temperature = 1.0\nxmax = \"insulated\"\n\
           ymin = \"insulated\"\nymax = \"insulated\"\n[time]\nstep = 0.1\nend = 9.0\nsteady_tolerance = 1e-6\n[output]\n\
           picture = { field = \"temperature_mean\" }\n[[output.average]]\nfields = [\"temperature\"]\nstart = 5.0\n\
           [[output.average]]\nname = \"late\"\nfields = [\"temperature\"]\nstart = 7.0\n";
    let folder = tempfile::tempdir().unwrap();
    let (outcome, summary) = run(&text, folder.path());
    assert_eq!(outcome.kind, OutcomeKind::Converged, "{outcome}");
    let expected =
        "there is no average of `temperature`: it starts at t = 5, and the run ended at t = 0.1";
    assert_eq!(summary["warnings"][0], expected);
    assert_eq!(summary["warnings"][1], expected.replace("t = 5", "t = 7"));
    assert!(summary.pointer("/fields/temperature_mean").is_none());
    assert!(!folder.path().join("case/temperature_mean.png").exists());
}

#[test]
fn averages_go_on_with_another_mesh() {
    let cases = [
        "[heat]\ndiscretization = \"node\"\n[initial]\ntemperature = \"x\"\n[boundary]\nxmin.temperature = \"sin(9*t)\"\n\
         xmax = \"insulated\"\nymin = \"insulated\"\nymax = \"insulated\"\n[time]\nstep = 0.1\nend = 1.0\n\
         [[output.average]]\nfields = [\"temperature\"]\nrms = true\n"
            .to_owned(),
        RESTARTED.to_owned(),
    ];
    for text in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&(gmsh("triangles_coarse") + &text), folder.path()).unwrap();
        let average = |simulation: &Simulation| simulation.averages().unwrap().remove(1).data;
        while simulation.time() < 0.3 {
            simulation.step().unwrap();
        }
        let before = average(&simulation);
        let mesh = simulation.mesh().clone();
        simulation.rebuild(mesh, &same_places()).unwrap();
        assert!(average(&simulation) == before);
        simulation.step().unwrap();
        assert!(average(&simulation) != before);
    }
}

/// Mean fluxes belong to the mesh on which they were sampled.
#[test]
fn averages_of_fluxes_begin_anew_on_another_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let text = gmsh("triangles_coarse") + &RESTARTED.replace("start = 0.15", "start = 0.0");
    let mut simulation = new(&text, folder.path()).unwrap();
    let psi = |simulation: &Simulation| {
        let results = simulation.averages().unwrap();
        let found = results.into_iter().find(|result| result.name == "streamfunction_psi_mean");
        found.map(|result| result.data)
    };
    for _ in 0..3 {
        simulation.step().unwrap();
    }
    assert!(psi(&simulation).is_some());
    let mesh = simulation.mesh().clone();
    simulation.rebuild(mesh, &same_places()).unwrap();
    assert!(psi(&simulation).is_none());
    assert_eq!(
        simulation.warnings.last().unwrap(),
        "the average of `streamfunction` begins anew on the new mesh: it follows from the mean fluxes of a mesh"
    );
    simulation.step().unwrap();
    assert!(psi(&simulation).is_some());
}
