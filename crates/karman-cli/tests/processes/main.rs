//! `mpirun karman run`: the files of one rank, checkpoints, and failures. Without the feature `mpi` there are no such tests.

#![cfg(feature = "mpi")]
#![allow(clippy::unwrap_used)]

use karman::mesh::files::write_mesh;
use karman::mesh::testing::{gmsh, with_halved_edges};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longest time from a failure to the end of all processes, with that of `mpirun` on a loaded machine.
const SOON: Duration = Duration::from_secs(15);

/// The program as `count` processes in `folder`: its exit code, stdout and stderr.
fn karman(count: usize, folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = match count {
        1 => Command::new(env!("CARGO_BIN_EXE_karman")),
        _ => Command::new("mpirun"),
    };
    if count > 1 {
        command.args(["-n", &count.to_string(), env!("CARGO_BIN_EXE_karman")]);
    }
    let started = command
        .args(arguments)
        .current_dir(folder)
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .stdin(Stdio::null())
        .output();
    let Output { status, stdout, stderr } = started.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// A case with output of many kinds; `rest` continues the section [heat].
fn case(mesh: &str, rest: &str) -> String {
    let z = if mesh.contains("2D") { "" } else { ", 0.33" };
    format!(
        "{mesh}\n[heat]\n{rest}\n[output]\nfields = [\"temperature\"]\n[output.picture]\nfield = \"temperature\"\n[[output.probe]]\n\
         name = \"middle\"\nat = [0.41, 0.57{z}]\n[[output.line]]\nname = \"axis\"\nfrom = [0.0, 0.3{z}]\nto = [1.0, 0.7{z}]\n\
         points = 31\n[[output.patch]]\nname = \"all\"\npatches = [\"xmin\", \"xmax\", \"ymax\"]\n[[output.surface]]\n\
         name = \"walls\"\npatches = [\"xmin\", \"ymin\"]\nfields = [\"temperature\", \"wall_heat_flux\"]\n[run]\nbackend = \"cpu\"\n\
         threads = 1\n"
    )
}

/// The files of a run by name; of the summary what a run computes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "summary.json" {
            let mut summary: Value =
                serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let map = summary.as_object_mut().unwrap();
            for of_machine in ["device", "ranks", "phases", "throughput", "memory"] {
                map.remove(of_machine);
            }
            if let Some(adaptation) = map.get_mut("adaptation").and_then(Value::as_object_mut) {
                adaptation.retain(|name, _| !name.ends_with("_seconds"));
            }
            if let Some(linear) = map.get_mut("linear").and_then(Value::as_object_mut) {
                linear.remove("setup_seconds");
                linear.remove("solve_seconds");
            }
            files.insert(name, summary.to_string().into_bytes());
        } else if !name.ends_with(".log") && name != "log.txt" && !name.starts_with('.') {
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
    files
}

/// Runs a case as one process and as several, and compares their files.
fn compare(text: &str, counts: &[usize]) {
    compare_in(&tempfile::tempdir().unwrap(), text, counts);
}

/// As [`compare`]; the files of n processes are in the folder `of_n`, the case is `case.toml`.
fn compare_in(folder: &tempfile::TempDir, text: &str, counts: &[usize]) {
    std::fs::write(folder.path().join("case.toml"), text).unwrap();
    let run = |count: usize| {
        let output = format!("of_{count}");
        let (code, out, err) =
            karman(count, folder.path(), &["run", "case.toml", "--output", &output]);
        assert_eq!(code, 0, "{err}");
        // The first process alone prints.
        assert_eq!(out.matches("results in ").count(), 1, "{out}");
        assert_eq!(err.matches("case\n").count(), 1, "{err}");
        files(&folder.path().join(output))
    };
    let want = run(1);
    let summary: Value = serde_json::from_slice(&want["summary.json"]).unwrap();
    // Whole chunks of 4096 cells for each rank.
    assert!(summary["mesh"]["cells"].as_u64().unwrap() > 3 * 2 * 4096, "{}", summary["mesh"]);
    for &count in counts {
        let found = run(count);
        assert!(found.keys().eq(want.keys()), "{:?} {:?}", found.keys(), want.keys());
        for (name, bytes) in &found {
            assert!(*bytes == want[name], "{name} of {count} processes");
        }
    }
}

const SIDES: &str = "[boundary]\nxmin.temperature = \"300 + y\"\nxmax.convection = { coefficient = 3.0, ambient = 250.0 }\n\
                     ymin.heat_flux = 5.0\nymax.temperature = 310.0\nzmin = \"insulated\"\nzmax = \"insulated\"";

#[test]
fn a_steady_solution_on_tetrahedra_has_the_files_of_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [17, 17, 17]\nelement = \"tetrahedron\"\njitter = 0.25";
    let rest = format!(
        "conductivity = \"1 + x*y\"\nsource = \"10*x\"\n[linear_solver]\nrelative_tolerance = 1e-4\n{SIDES}"
    );
    compare(&case(mesh, &rest), &[2, 3]);
}

#[test]
fn a_solution_in_time_on_tetrahedra_of_gmsh_has_the_files_of_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.msh");
    let raw = gmsh("cube_tetrahedron_medium");
    write_mesh(&file, &with_halved_edges(&with_halved_edges(&raw))).unwrap();
    let rest = format!(
        "source = \"10*x*t\"\n[initial]\ntemperature = \"300 + x\"\n[time]\nmethod = \"crank_nicolson\"\nstep = 0.001\n\
         end = 0.003\n[linear_solver]\nrelative_tolerance = 1e-4\n{SIDES}"
    );
    compare(&case(&format!("[mesh]\nfile = {file:?}\n"), &rest), &[2, 3]);
}

#[test]
fn solutions_on_hybrid_and_2d_meshes_have_the_files_of_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [20, 20, 20]\nelement = \"mixed\"\njitter = 0.2";
    let rest = format!(
        "source = \"if(x > 0.5, 100*sin(t), 3)\"\n[initial]\ntemperature = \"300 + 10*x\"\n[time]\nstep = 0.01\nend = 0.03\n\
         [linear_solver]\nrelative_tolerance = 1e-6\n[checkpoint]\nevery = 0.02\n{SIDES}\n[[output.average]]\n\
         fields = [\"temperature\"]\nrms = true"
    );
    compare(&case(mesh, &rest), &[2, 3]);
    let mesh = "# 2D\n[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [160, 160]\nelement = \"mixed\"\njitter = 0.2";
    let rest = "[initial]\ntemperature = 300.0\n[time]\nmethod = \"bdf2\"\ncfl = 20\nend = 0.0005\n[linear_solver]\n\
                method = \"single_reduction_cg\"\npreconditioner = \"jacobi\"\nrelative_tolerance = 1e-5\n[boundary]\n\
                xmin.temperature = 400.0\nxmax = \"insulated\"\nymin.temperature = \"300 + 10*x\"\nymax = \"insulated\"";
    compare(&case(mesh, rest), &[2, 3]);
}

/// A case in time on hexahedra, and its source.
fn block(source: &str) -> String {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [26, 26, 26]";
    let rest = format!(
        "source = \"{source}\"\n[initial]\ntemperature = 300.0\n[time]\nmethod = \"bdf2\"\nstep = 0.01\nend = 0.04\n[checkpoint]\n\
         every = 0.02\n[linear_solver]\npreconditioner = \"jacobi\"\n{SIDES}"
    );
    case(mesh, &rest)
}

#[test]
fn a_checkpoint_of_three_processes_goes_on_as_one_and_as_four() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), block("0")).unwrap();
    let (code, _, err) = karman(3, folder.path(), &["run", "case.toml"]);
    assert_eq!(code, 0, "{err}");
    let results = folder.path().join("case");
    let want = files(&results);
    std::fs::copy(results.join("checkpoint_00000002.safetensors"), folder.path().join("kept"))
        .unwrap();
    for count in [1, 4] {
        let (code, _, err) =
            karman(count, folder.path(), &["run", "case.toml", "--restart", "kept"]);
        assert_eq!(code, 0, "{err}");
        for (name, bytes) in files(&results).iter().filter(|(name, _)| *name != "summary.json") {
            assert!(*bytes == want[name], "{name} of {count} processes");
        }
    }
}

/// Runs a case that fails: its message stands once, and the end is near.
fn fails(count: usize, folder: &Path, arguments: &[&str], message: &str) {
    let begin = Instant::now();
    let (code, out, err) = karman(count, folder, arguments);
    assert_eq!(code, 1, "{out}{err}");
    assert_eq!(err.matches(message).count(), 1, "{err}");
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
}

#[test]
fn a_failure_of_one_process_or_of_all_ends_all_with_one_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // One rank alone has cells where the source is infinite.
    std::fs::write(path.join("source.toml"), block("if(x > 0.95 and y > 0.95, 1/(t - 0.02), 0)"))
        .unwrap();
    fails(3, path, &["run", "source.toml"], "the heat source");
    std::fs::write(path.join("case.toml"), block("0")).unwrap();
    fails(3, path, &["run", "none.toml"], "error: cannot read the case none.toml");
    fails(
        2,
        path,
        &["run", "case.toml", "--output", "case.toml/no"],
        "error: cannot write case.toml/no",
    );
    fails(2, path, &["run", "case.toml", "--restart", "none"], "cannot read the checkpoint none");
}

#[test]
fn cases_and_commands_of_one_process_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("case.toml"), block("0")).unwrap();
    let ranks =
        "error: --ranks 3: 2 processes were started, each of which is a rank; leave --ranks out";
    fails(2, path, &["run", "case.toml", "--ranks", "3"], ranks);
    std::fs::write(path.join("other.toml"), block("0") + "ranks = 3\n").unwrap();
    let ranks =
        "error: ranks = 3: 2 processes were started, each of which is a rank; leave `ranks` out";
    fails(2, path, &["run", "other.toml"], ranks);
    let command = "error: 2 processes were started: `karman run` alone runs as several";
    fails(2, path, &["check", "case.toml"], command);
}

/// A case of a flow on mixed elements with output of many kinds; `rest` continues the section [incompressible].
fn flow(rest: &str, inlet: &str) -> String {
    format!(
        "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [20, 20, 20]\nelement = \"mixed\"\njitter = 0.2\n[incompressible]\n\
         kinematic_viscosity = 0.01\n{rest}[boundary]\n{inlet}xmax.convective_outlet = true\nymin = \"no_slip\"\nymax = \"no_slip\"\n\
         zmin.moving_wall = [0.3, 0.1, 0.0]\nzmax = \"slip\"\n[output]\nfields = [\"velocity\", \"pressure\", \"vorticity\"]\n\
         [[output.probe]]\nname = \"middle\"\nat = [0.41, 0.57, 0.33]\n[[output.line]]\nname = \"axis\"\nfrom = [0.0, 0.3, 0.33]\n\
         to = [1.0, 0.7, 0.33]\npoints = 31\n[[output.patch]]\nname = \"wall\"\npatches = [\"ymin\"]\n[[output.surface]]\n\
         name = \"floor\"\npatches = [\"ymin\"]\nfields = [\"pressure\", \"wall_shear_stress\"]\n[run]\nbackend = \"cpu\"\n\
         threads = 1\n"
    )
}

/// Three steps with a checkpoint after the second.
const STEPS: &str = "[incompressible.pressure]\nrelative_tolerance = 1e-2\n[time]\nmethod = \"bdf2\"\nstep = 0.002\nend = 0.006\n\
                     [checkpoint]\nevery = 0.004\n[[output.average]]\nfields = [\"velocity\"]\n";

#[test]
fn a_flow_in_time_has_the_files_of_one_rank_and_goes_on_from_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let text = flow(STEPS, "xmin.flow_rate_inlet = \"0.5 + t\"\n");
    compare_in(&folder, &text, &[2, 3]);
    let results = folder.path().join("of_3");
    let want = files(&results);
    std::fs::copy(results.join("checkpoint_00000002.safetensors"), folder.path().join("kept"))
        .unwrap();
    let restart = ["run", "case.toml", "--output", "of_3", "--restart", "kept"];
    let (code, _, err) = karman(1, folder.path(), &restart);
    assert_eq!(code, 0, "{err}");
    for (name, bytes) in files(&results).iter().filter(|(name, _)| *name != "summary.json") {
        assert!(*bytes == want[name], "{name} of one process after three");
    }
}

#[test]
fn a_steady_flow_has_the_files_of_one_rank() {
    let steady = "[incompressible.pressure]\npreconditioner = \"jacobi\"\nrelative_tolerance = 1e-1\n[steady]\ntolerance = 5e-2\n";
    compare(&flow(steady, "xmin.velocity_inlet = [1.0, 0.0, 0.0]\n"), &[2]);
}

/// A shock in a closed box of mixed elements, whose limiter computes some cells again.
#[test]
fn a_compressible_flow_has_the_files_of_one_rank() {
    let text = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [20, 20, 20]\nelement = \"mixed\"\njitter = 0.2\n\
                [compressible]\ngas_constant = 1.0\nlimiter = \"mood\"\n[initial]\ndensity = \"if(x + 0.3*y < 0.5, 1, 0.02)\"\n\
                pressure = \"if(x + 0.3*y < 0.5, 1, 0.01)\"\n[boundary]\nxmin = \"slip_wall\"\nxmax = \"slip_wall\"\n\
                ymin = \"slip_wall\"\nymax = \"slip_wall\"\nzmin = \"slip_wall\"\nzmax = \"slip_wall\"\n[time]\ncfl = 0.4\n\
                end = 0.006\n[checkpoint]\nevery = 0.003\n[output]\nfields = [\"density\", \"mach\"]\n\
                picture = { field = \"density\", slice = { axis = \"z\", at = 0.5 } }\n[[output.probe]]\nname = \"middle\"\n\
                at = [0.41, 0.57, 0.33]\n[[output.line]]\nname = \"axis\"\nfrom = [0.0, 0.3, 0.33]\nto = [1.0, 0.7, 0.33]\n\
                points = 31\n[[output.patch]]\nname = \"wall\"\npatches = [\"xmin\"]\n[run]\nbackend = \"cpu\"\nthreads = 1\n";
    compare(text, &[2]);
}

#[test]
fn a_failure_of_one_process_ends_those_of_a_flow() {
    let folder = tempfile::tempdir().unwrap();
    // One rank alone has faces where the velocity is infinite.
    let inlet =
        "xmin.velocity_inlet = [\"if(y > 0.95 and z > 0.95, 1/(t - 0.004), 1)\", 0.0, 0.0]\n";
    std::fs::write(folder.path().join("case.toml"), flow(STEPS, inlet)).unwrap();
    fails(3, folder.path(), &["run", "case.toml"], "a velocity at the boundary");
}

#[test]
fn an_adapted_mesh_has_the_files_of_one_rank() {
    let text = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [120, 120]\nelement = \"triangle\"\njitter = 0.1\n[heat]\n\
                conductivity = 0.01\n[initial]\ntemperature = \"1 + tanh(20*(x - 0.4 + 0.1*y))\"\n[boundary]\nxmin = \"insulated\"\n\
                xmax = \"insulated\"\nymin.temperature = \"1 + x\"\nymax = \"insulated\"\n[time]\nstep = 0.01\nend = 0.03\n[adapt]\n\
                field = \"temperature\"\ncomplexity = 15000\nevery = 0.02\n[run]\nbackend = \"cpu\"\nthreads = 1\n";
    compare(text, &[2]);
}

/// Parts of METIS and output in pieces: processes have the files of as many ranks of one process.
#[test]
fn parts_of_metis_and_pieces_have_the_files_of_ranks_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.msh");
    write_mesh(&file, &with_halved_edges(&gmsh("cube_tetrahedron_medium"))).unwrap();
    let rest = format!(
        "[initial]\ntemperature = \"300 + x\"\n[time]\nmethod = \"bdf2\"\nstep = 0.001\nend = 0.003\n[checkpoint]\n\
         every = 0.002\n[linear_solver]\nrelative_tolerance = 1e-8\n{SIDES}"
    );
    let text = case(&format!("[mesh]\nfile = {file:?}\n"), &rest)
        .replace("[output]\n", "[output]\nformat = \"pvtu\"\nevery_steps = 2\n")
        .replace("[run]\n", "[run]\npartition = \"metis\"\n");
    std::fs::write(folder.path().join("case.toml"), text).unwrap();
    let run = |processes: usize, ranks: &[&str]| {
        let output = format!("of_{processes}");
        let arguments = [&["run", "case.toml", "--output", &output][..], ranks].concat();
        let (code, _, err) = karman(processes, folder.path(), &arguments);
        assert_eq!(code, 0, "{err}");
        assert_eq!(err.matches("sums are added in another order").count(), 1, "{err}");
        files(&folder.path().join(output))
    };
    let (want, found) = (run(1, &["--ranks", "3"]), run(3, &[]));
    assert!(want.contains_key("fields_0001_2.vtu") && want.contains_key("fields_0001.pvtu"));
    assert!(found.keys().eq(want.keys()), "{:?} {:?}", found.keys(), want.keys());
    for (name, bytes) in &found {
        assert!(*bytes == want[name], "{name}");
    }
}
