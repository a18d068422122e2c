//! Memory of a whole solve, counted allocation by allocation.
#![allow(clippy::unwrap_used)] // its helpers are tests too

use karman::case::Case;
use karman::simulation::{OutcomeKind, RunOptions, Simulation};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Most bytes a tetrahedron that a steady cell-centred solve may hold at any time.
const MOST_BYTES_A_TETRAHEDRON: f64 = 700.0;

const CASE: &str = r#"
[mesh.generate.box]
size = [1.0, 1.0, 1.0]
cells = [20, 20, 20]
element = "tetrahedron"
jitter = 0.2

[heat]

[boundary]
xmin.temperature = 300.0
xmax.temperature = 300.0
ymin.temperature = 300.0
ymax.temperature = 300.0
zmin.temperature = 300.0
zmax.temperature = 600.0

[run]
backend = "cpu"
threads = 2

[output]
directory = "DIRECTORY"
"#;

/// Generation, renumbering, connectivity, geometry, the corrected discretisation, the solve and the
/// results: what the program does. One test, since all of the process is counted.
#[test]
fn a_steady_solve_holds_at_most_700_bytes_a_tetrahedron() {
    let folder = tempfile::tempdir().unwrap();
    let text = CASE.replace("DIRECTORY", &folder.path().display().to_string());
    let case = Case::parse(&text, folder.path(), "cube.toml").unwrap();
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    let since = |tetrahedra: f64| {
        let bytes = (ALLOCATED.peak_usage() - before) as f64 / tetrahedra;
        ALLOCATED.reset_peak_usage();
        bytes
    };

    let mut simulation = Simulation::new(case, RunOptions::default()).unwrap();
    let tetrahedra = simulation.mesh().n_cells() as f64;
    assert_eq!(tetrahedra, 48_000.0);
    let set_up = since(tetrahedra);
    let held = (ALLOCATED.current_usage() - before) as f64 / tetrahedra;
    simulation.step().unwrap();
    let solve = since(tetrahedra);
    let outcome = simulation.run(&mut |_| {}).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Converged, "{}", outcome.message);
    let run = since(tetrahedra);
    eprintln!(
        "bytes a tetrahedron: {set_up:.0} at most in set-up, {held:.0} after it, \
         {solve:.0} in the solve, {run:.0} in a run with its results"
    );
    for bytes in [set_up, solve, run] {
        assert!(bytes <= MOST_BYTES_A_TETRAHEDRON, "{bytes:.0} bytes a tetrahedron");
    }
}
