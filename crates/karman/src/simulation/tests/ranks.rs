//! Several ranks: the files of one rank, and what they refuse.

use super::*;
use crate::backend::HOST_CHUNK;
use crate::backend::testing::devices;
use crate::mesh::files::write_mesh;
use crate::mesh::testing;
use std::collections::BTreeMap;

pub(super) const RANKS: [usize; 4] = [2, 3, 4, 7];

/// A case on `ranks` ranks with output of every kind; `rest` continues the section [heat].
pub(super) fn case(mesh: &str, rest: &str, ranks: usize) -> String {
    format!(
        "{mesh}\n[heat]\n{rest}\n[output]\nfields = [\"temperature\"]\n[[output.probe]]\nname = \"middle\"\n\
         at = [0.41, 0.57{z}]\n[[output.line]]\nname = \"axis\"\nfrom = [0.0, 0.3{z}]\nto = [1.0, 0.7{z}]\npoints = 31\n\
         [[output.patch]]\nname = \"all\"\npatches = [\"xmin\", \"xmax\", \"ymax\"]\n[[output.surface]]\nname = \"walls\"\n\
         patches = [\"xmin\", \"ymin\"]\nfields = [\"temperature\", \"wall_heat_flux\"]\n[run]\nbackend = \"cpu\"\nthreads = 2\nranks = {ranks}\n",
        z = if mesh.contains("2D") { "" } else { ", 0.33" }
    )
}

/// Files by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// The files of a run by name; of the summary what a run computes.
pub(super) fn files(folder: &Path) -> Files {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder.join("case")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name != "summary.json" && !name.ends_with(".log") && !name.starts_with('.') {
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
    let mut summary = summary(folder);
    let map = summary.as_object_mut().unwrap();
    for of_machine in ["device", "ranks", "phases", "throughput", "memory"] {
        map.remove(of_machine);
    }
    if let Some(linear) = map.get_mut("linear").and_then(|of| of.as_object_mut()) {
        linear.remove("setup_seconds");
        linear.remove("solve_seconds");
    }
    if let Some(adaptation) = map.get_mut("adaptation").and_then(|of| of.as_object_mut()) {
        adaptation.retain(|name, _| !name.ends_with("_seconds"));
    }
    files.insert("summary.json".into(), summary.to_string().into_bytes());
    files
}

pub(super) fn results(text: &str) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let (outcome, _) = run(text, folder.path());
    assert!(
        matches!(outcome.kind, OutcomeKind::Converged | OutcomeKind::Finished),
        "{}: {}",
        outcome.kind.name(),
        outcome.message
    );
    files(folder.path())
}

fn compare(mesh: &str, rest: &str, least_cells: u64) {
    compare_cases(&|ranks| case(mesh, rest, ranks), least_cells);
}

/// The files of a case on several ranks are those on one; the summary, with its warnings, too.
pub(super) fn compare_cases(case: &dyn Fn(usize) -> String, least_cells: u64) {
    let want = results(&case(1));
    let summary: serde_json::Value = serde_json::from_slice(&want["summary.json"]).unwrap();
    assert!(summary["mesh"]["cells"].as_u64().unwrap() >= least_cells, "{}", summary["mesh"]);
    assert_files_of_ranks(case, &RANKS, &want);
}

/// The files of a case on several ranks are these.
pub(super) fn assert_files_of_ranks(case: &dyn Fn(usize) -> String, ranks: &[usize], want: &Files) {
    for &ranks in ranks {
        let found = results(&case(ranks));
        assert!(found.keys().eq(want.keys()), "{:?} {:?}", found.keys(), want.keys());
        for (name, bytes) in &found {
            assert!(*bytes == want[name], "{name} on {ranks} ranks");
        }
    }
}

/// Seven chunks of cells.
pub(super) const CHUNKS: u64 = 6 * HOST_CHUNK as u64 + 1;

#[test]
fn a_steady_corrected_solution_on_tetrahedra_has_the_bits_of_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [9, 9, 9]\nelement = \"tetrahedron\"\n\
                jitter = 0.25";
    let rest = "conductivity = \"1 + x*y\"\nsource = \"10*x\"\n[linear_solver]\nrelative_tolerance = 1e-4\n[boundary]\n\
                xmin.temperature = \"300 + y\"\nxmax.convection = { coefficient = 3.0, ambient = 250.0 }\n\
                ymin.heat_flux = 5.0\nymax.temperature = 310.0\nzmin = \"insulated\"\nzmax = \"insulated\"";
    compare(mesh, rest, CHUNKS);
}

#[test]
fn solutions_on_tetrahedra_of_gmsh_have_the_bits_of_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.msh");
    let raw = testing::gmsh("cube_tetrahedron_medium");
    write_mesh(&file, &testing::with_halved_edges(&raw)).unwrap();
    let mesh = format!("[mesh]\nfile = {file:?}\n");
    let boundary = "[boundary]\nxmin.temperature = \"300 + y\"\nxmax.convection = { coefficient = 3.0, ambient = 250.0 }\n\
                    ymin.heat_flux = 5.0\nymax.temperature = 310.0\nzmin = \"insulated\"\nzmax = \"insulated\"";
    let steady = "conductivity = \"1 + x*y\"\nsource = \"10*x\"\n[linear_solver]\nmethod = \"bicgstab\"\n\
                  relative_tolerance = 1e-2\n";
    compare(&mesh, &format!("{steady}{boundary}"), CHUNKS);
    let unsteady = "nonorthogonal_correction = false\nsource = \"10*x*t\"\n[initial]\ntemperature = \"300 + x\"\n[time]\n\
                    method = \"crank_nicolson\"\nstep = 0.001\nend = 0.003\n[linear_solver]\npreconditioner = \"jacobi\"\n\
                    relative_tolerance = 1e-4\n";
    compare(&mesh, &format!("{unsteady}{boundary}"), CHUNKS);
}

#[test]
fn an_unsteady_solution_on_mixed_elements_has_the_bits_of_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [11, 11, 11]\nelement = \"mixed\"\njitter = 0.2";
    let rest = "source = \"if(x > 0.5, 100*sin(t), 3)\"\n[initial]\ntemperature = \"300 + 10*x\"\n[time]\nstep = 0.01\n\
                end = 0.03\n[linear_solver]\nrelative_tolerance = 1e-6\n[checkpoint]\nevery = 0.02\n[boundary]\n\
                xmin.temperature = \"300 + 100*sin(20*t)*y\"\nxmax.temperature = \"300 + t\"\n\
                ymin.heat_flux = \"50*t\"\nymax = \"insulated\"\nzmin = \"insulated\"\nzmax = \"insulated\"\n\
                [[output.average]]\nfields = [\"temperature\"]\nrms = true";
    compare(mesh, rest, CHUNKS);
}

#[test]
fn two_dimensional_and_singular_solutions_have_the_bits_of_one_rank() {
    let mesh = "# 2D\n[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [48, 48]\nelement = \"mixed\"\njitter = 0.2";
    let time =
        "[initial]\ntemperature = 300.0\n[time]\nmethod = \"bdf2\"\ncfl = 20\nend = 0.0005\n";
    let rest = format!(
        "nonorthogonal_correction = false\n{time}[linear_solver]\nmethod = \"single_reduction_cg\"\n\
         preconditioner = \"chebyshev\"\nrelative_tolerance = 1e-5\n[boundary]\nxmin.temperature = 400.0\n\
         xmax = \"insulated\"\nymin.temperature = \"300 + 10*x\"\nymax = \"insulated\""
    );
    compare(mesh, &rest, CHUNKS);
    let rest = "source = \"x - 0.5\"\n[linear_solver]\nmethod = \"fgmres\"\npreconditioner = \"jacobi\"\n\
                relative_tolerance = 0.1\n[boundary]\nxmin.heat_flux = 1.0\nxmax.heat_flux = -1.0\nymin = \"insulated\"\n\
                ymax = \"insulated\"\n";
    compare(mesh, rest, CHUNKS);
}

#[test]
fn a_checkpoint_of_three_ranks_goes_on_with_one_and_four() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [13, 13, 13]";
    let rest = "[initial]\ntemperature = 300.0\n[time]\nmethod = \"bdf2\"\nstep = 0.01\nend = 0.04\n[checkpoint]\n\
                every = 0.02\n[linear_solver]\npreconditioner = \"jacobi\"\n[boundary]\nxmin.temperature = 400.0\n\
                xmax = \"insulated\"\nymin = \"insulated\"\nymax.temperature = \"300 + 100*t\"\nzmin = \"insulated\"\n\
                zmax = \"insulated\"";
    continues_with_one_and_four(&|ranks| case(mesh, rest, ranks));
}

/// Continues the checkpoint of three ranks after the second of four steps.
pub(super) fn continues_with_one_and_four(case: &dyn Fn(usize) -> String) {
    let folder = tempfile::tempdir().unwrap();
    run(&case(3), folder.path());
    let want = files(folder.path());
    let checkpoint = folder.path().join("case/checkpoint_00000002.safetensors");
    let kept = folder.path().join("kept.safetensors");
    std::fs::copy(checkpoint, &kept).unwrap();
    for ranks in [1, 4] {
        let case = Case::parse(&case(ranks), folder.path(), "case.toml").unwrap();
        let options = RunOptions { restart: Some(kept.clone()), ..RunOptions::default() };
        let mut simulation = Simulation::new(case, options).unwrap();
        simulation.run(&mut |_| ()).unwrap();
        let found = files(folder.path());
        for (name, bytes) in found.iter().filter(|(name, _)| *name != "summary.json") {
            assert!(*bytes == want[name], "{name} on {ranks} ranks");
        }
    }
}

/// Boundary conditions on a cube.
const CUBE: &str = "[boundary]\nxmin.temperature = \"300 + y\"\nxmax.convection = { coefficient = 3.0, ambient = 250.0 }\n\
                    ymin.heat_flux = 5.0\nymax.temperature = 310.0\nzmin = \"insulated\"\nzmax = \"insulated\"\n";

#[test]
fn multigrid_on_tetrahedra_of_gmsh_has_the_bits_of_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.msh");
    let raw = testing::gmsh("cube_tetrahedron_medium");
    write_mesh(&file, &testing::with_halved_edges(&raw)).unwrap();
    let mesh = format!("[mesh]\nfile = {file:?}\n");
    let steady = "conductivity = \"1 + x*y\"\nsource = \"10*x\"\n[linear_solver]\npreconditioner = \"amg\"\n\
                  amg.replicate_rows = 400\n";
    compare(&mesh, &format!("{steady}{CUBE}"), CHUNKS);
    let cycles = "nonorthogonal_correction = false\nsource = \"10*x\"\n[linear_solver]\nmethod = \"multigrid\"\n\
                  relative_tolerance = 1e-5\namg = { replicate_rows = 400, cycle = \"k\", smoother = \"chebyshev\" }\n";
    compare(&mesh, &format!("{cycles}{CUBE}"), CHUNKS);
}

#[test]
fn multigrid_on_jittered_and_mixed_elements_has_the_bits_of_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [9, 9, 9]\nelement = \"tetrahedron\"\n\
                jitter = 0.25";
    let solver = "[linear_solver]\npreconditioner = \"amg\"\namg.replicate_rows = 400\n";
    compare(mesh, &format!("source = \"10*x\"\n{solver}{CUBE}"), CHUNKS);
    // The first step of BDF2 has another matrix: its hierarchy is updated.
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [11, 11, 11]\nelement = \"mixed\"\njitter = 0.2";
    let time = "[initial]\ntemperature = 300.0\n[time]\nmethod = \"bdf2\"\nstep = 0.01\nend = 0.04\n[checkpoint]\n\
                every = 0.02\n";
    compare(mesh, &format!("{time}{solver}{CUBE}"), CHUNKS);
}

#[test]
fn multigrid_that_auto_selects_in_2d_has_the_bits_of_one_rank() {
    let mesh = "# 2D\n[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [160, 160]\nelement = \"triangle\"\njitter = 0.2";
    let rest = "[linear_solver]\namg.replicate_rows = 5000\n[boundary]\nxmin.temperature = 1.0\nxmax = \"insulated\"\n\
                ymin = \"insulated\"\nymax.temperature = \"x\"";
    compare(mesh, rest, 50_000);
    let folder = tempfile::tempdir().unwrap();
    run(&case(mesh, rest, 2), folder.path());
    assert_eq!(summary(folder.path())["linear"]["preconditioner"], "amg");
}

#[test]
fn a_hierarchy_of_three_ranks_goes_on_with_one_and_four() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [9, 9, 9]\nelement = \"tetrahedron\"\n\
                jitter = 0.25";
    let rest = format!(
        "nonorthogonal_correction = false\n[initial]\ntemperature = 300.0\n[time]\nmethod = \"bdf2\"\nstep = 0.01\nend = 0.04\n\
         [checkpoint]\nevery = 0.02\n[linear_solver]\npreconditioner = \"amg\"\namg.replicate_rows = 400\n{CUBE}"
    );
    continues_with_one_and_four(&|ranks| case(mesh, &rest, ranks));
}

#[test]
fn parts_smaller_than_a_chunk_agree_to_round_off_with_a_warning() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [4, 4, 4]\nelement = \"tetrahedron\"\njitter = 0.2";
    let rest = "[linear_solver]\nrelative_tolerance = 1e-13\n[boundary]\nxmin.temperature = 1.0\nxmax.temperature = 2.0\n\
                ymin = \"insulated\"\nymax = \"insulated\"\nzmin = \"insulated\"\nzmax = \"insulated\"";
    let warnings = agrees_to_round_off(&|ranks| case(mesh, rest, ranks), "temperature");
    assert_eq!(warnings, "");
}

/// Compares a field after a step on parts smaller than a chunk, which are warned of, with that of one rank; the warnings of one rank.
pub(super) fn agrees_to_round_off(case: &dyn Fn(usize) -> String, field: &str) -> String {
    let after_a_step = |ranks: usize| {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&case(ranks), folder.path()).unwrap();
        simulation.step().unwrap();
        (simulation.field(field).unwrap(), simulation.warnings().join("\n"))
    };
    let (want, warnings_of_one) = after_a_step(1);
    for ranks in [2, 5] {
        let (found, warnings) = after_a_step(ranks);
        assert!(warnings.contains(&format!("ranks = {ranks}: of ")), "{warnings}");
        let pairs = found.iter().zip(&want);
        let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(largest < 1e-12, "{largest:e}");
    }
    warnings_of_one
}

#[test]
fn a_steady_solve_of_several_ranks_is_stopped() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [21, 21, 21]";
    let rest = "[linear_solver]\npreconditioner = \"none\"\nrelative_tolerance = 1e-12\n[boundary]\nxmin.temperature = 1.0\n\
                xmax.temperature = 2.0\nymin = \"insulated\"\nymax = \"insulated\"\nzmin = \"insulated\"\nzmax = \"insulated\"";
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = new(&case(mesh, rest, 2), folder.path()).unwrap();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    // Not at the test before the step.
    simulation.stop_when(move || asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) > 2);
    let outcome = simulation.run(&mut |_| ()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Interrupted, "{}", outcome.message);
}

#[test]
fn an_invalid_value_on_one_rank_is_the_error_of_the_run() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [11, 11, 11]";
    let rest = "source = \"if(x > 0.9, 1/(t - 0.02), 0)\"\n[initial]\ntemperature = 1.0\n[time]\nmethod = \"backward_euler\"\n\
                step = 0.01\nend = 0.1\n[linear_solver]\npreconditioner = \"jacobi\"\n[boundary]\nxmin.temperature = 1.0\n\
                xmax.temperature = 2.0\nymin = \"insulated\"\nymax = \"insulated\"\nzmin = \"insulated\"\nzmax = \"insulated\"";
    let said = [1, 2].map(|ranks| {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&case(mesh, rest, ranks), folder.path()).unwrap();
        simulation.run(&mut |_| ()).unwrap_err().to_string()
    });
    assert!(said[0].contains("the heat source"), "{}", said[0]);
    assert!(said[1].contains("the heat source"), "{}", said[1]);
}

#[test]
fn cases_of_one_rank_are_refused_by_name() {
    let said = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        new(text, folder.path()).err().unwrap().to_string()
    };
    let square = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [8, 8]\n[run]\nbackend = \"cpu\"\nranks = 2\n";
    let walls = "[boundary]\nxmin.temperature = 1.0\nxmax = \"insulated\"\nymin = \"insulated\"\nymax = \"insulated\"\n";
    let heat = |rest: &str| format!("{square}[heat]\n{rest}\n{walls}");
    for (text, want) in [
        (
            heat("[linear_solver]\npreconditioner = \"gauss_seidel\""),
            "ranks = 2: [linear_solver] preconditioner = \"gauss_seidel\" runs on one rank; set preconditioner = \"amg\", \
             \"chebyshev\" or \"jacobi\", or ranks = 1",
        ),
        (
            heat("[linear_solver]\nmethod = \"multigrid\"\namg.smoother = \"gauss_seidel\""),
            "ranks = 2: [linear_solver] amg.smoother = \"gauss_seidel\" runs on one rank; set amg.smoother = \
             \"l1_jacobi\" or \"chebyshev\", or ranks = 1",
        ),
        (
            heat("").replace("ranks = 2", "ranks = 100"),
            "ranks = 100: the mesh has only 64 cells; set ranks = 1",
        ),
    ] {
        assert_eq!(said(&text), want);
    }
}

#[test]
fn devices_of_ranks_have_the_bits_of_one() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [7, 7, 7]\nelement = \"tetrahedron\"\n\
                jitter = 0.25";
    let rest = "conductivity = \"1 + x*y\"\nsource = \"10*x\"\n[initial]\ntemperature = \"300 + x\"\n[time]\nstep = 0.01\n\
                end = 0.02\n[linear_solver]\npreconditioner = \"chebyshev\"\nrelative_tolerance = 1e-3\n[boundary]\n\
                xmin.temperature = \"300 + y\"\nxmax.convection = { coefficient = 3.0, ambient = 250.0 }\n\
                ymin.heat_flux = 5.0\nymax.temperature = 310.0\nzmin = \"insulated\"\nzmax = \"insulated\"";
    // Meshes of a few chunks: software devices are slow.
    compare_on_devices(&|ranks| case(mesh, rest, ranks), &[3]);
    let (mesh, amg) = (mesh.replace("7", "6"), rest.replace("chebyshev", "amg"));
    compare_on_devices(&|ranks| case(&mesh, &amg, ranks), &[2]);
}

/// As [`compare_cases`], on devices.
fn compare_on_devices(case: &dyn Fn(usize) -> String, several: &[usize]) {
    on_devices(case, several, &|found, want, ranks| {
        assert!(found.keys().eq(want.keys()), "{:?} {:?}", found.keys(), want.keys());
        let other = found.iter().filter(|(name, bytes)| **bytes != want[*name]);
        let other: Vec<&String> = other.map(|(name, _)| name).collect();
        assert!(other.is_empty(), "{other:?} on {ranks} ranks");
    });
}

/// Calls `check` with the files of `several` ranks and of one, on each device.
pub(super) fn on_devices(
    case: &dyn Fn(usize) -> String,
    several: &[usize],
    check: &dyn Fn(&Files, &Files, usize),
) {
    for device in devices() {
        let on = |ranks: usize| {
            let backend = format!("backend = \"{}\"", device.kind().word());
            results(&case(ranks).replace("backend = \"cpu\"", &backend))
        };
        let want = on(1);
        for ranks in several {
            check(&on(*ranks), &want, *ranks);
        }
    }
}

#[test]
fn nodes_on_devices_of_ranks_have_the_bits_of_one() {
    // 1331 nodes, more than two chunks.
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [10, 10, 10]\nelement = \"tetrahedron\"\n\
                jitter = 0.25";
    let rest = "discretization = \"node\"\nconductivity = \"1 + x*y\"\nsource = \"10*x\"\n[initial]\n\
                temperature = \"300 + x\"\n[time]\nstep = 0.01\nend = 0.02\n[linear_solver]\n\
                preconditioner = \"jacobi\"\nrelative_tolerance = 1e-3\n[boundary]\n\
                xmin.temperature = \"300 + y + 20*t\"\nxmax.convection = { coefficient = 3.0, ambient = 250.0 }\n\
                ymin.heat_flux = 5.0\nymax.temperature = 310.0\nzmin = \"insulated\"\nzmax = \"insulated\"";
    compare_on_devices(&|ranks| case(mesh, rest, ranks), &[2]);
}
