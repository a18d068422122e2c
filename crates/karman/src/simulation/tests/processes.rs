//! Ranks as processes, for which threads with a simulation each stand in: the files of one rank, and what is refused.

use super::ranks::{Files, case, files, results};
use super::*;
use crate::backend::group::{ThreadGroup, run_ranks};
use crate::backend::{BackendError, Processes, RankGroup};
use std::sync::Arc;

/// The result of `work` of each process with its simulation of its text, or the message of the refusal.
pub(super) fn on_processes<R: Send>(
    texts: &[String],
    (folder, restart): (&Path, Option<&Path>),
    work: impl Fn(usize, Simulation) -> R + Sync,
) -> Vec<Result<R, String>> {
    let groups = ThreadGroup::new(texts.len());
    std::thread::scope(|scope| {
        let work = &work;
        let start = |(number, (text, group)): (usize, (&'_ String, ThreadGroup))| {
            let text = text.clone();
            scope.spawn(move || {
                let case = Case::parse(&text, folder, "case.toml").unwrap();
                let processes = Processes::of(Arc::new(group));
                let restart = restart.map(Path::to_owned);
                let options = RunOptions { restart, ..RunOptions::default() };
                let simulation = Simulation::of_processes(case, options, &processes);
                Ok(work(number, simulation.map_err(|error| error.to_string())?))
            })
        };
        let threads: Vec<_> = texts.iter().zip(groups).enumerate().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The outcome of each process after its run.
pub(super) fn run_processes(
    text: &str,
    count: usize,
    place: (&Path, Option<&Path>),
) -> Vec<String> {
    let run = |_, mut simulation: Simulation| simulation.run(&mut |_| ()).unwrap().to_string();
    let said = on_processes(&vec![text.to_owned(); count], place, run);
    said.into_iter().map(Result::unwrap).collect()
}

const BLOCK: &str = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [10, 10, 10]\nelement = \"mixed\"\njitter = 0.2";

const IN_TIME: &str = "source = \"if(x > 0.5, 100*sin(t), 3)\"\n[initial]\ntemperature = \"300 + 10*x\"\n[time]\nmethod = \"bdf2\"\n\
    step = 0.01\nend = 0.04\n[linear_solver]\nrelative_tolerance = 1e-6\n[checkpoint]\nevery = 0.02\n[boundary]\n\
    xmin.temperature = \"300 + 100*sin(20*t)*y\"\nxmax.temperature = \"300 + t\"\nymin.heat_flux = \"50*t\"\n\
    ymax = \"insulated\"\nzmin = \"insulated\"\nzmax = \"insulated\"\n[[output.average]]\nfields = [\"temperature\"]\n\
    rms = true";

const STEADY: &str = "conductivity = \"1 + x*y\"\n[linear_solver]\npreconditioner = \"chebyshev\"\nrelative_tolerance = 1e-6\n[boundary]\nxmin.temperature = 1.0\n\
    xmax.temperature = 2.0\nymin = \"insulated\"\nymax = \"insulated\"\nzmin = \"insulated\"\nzmax = \"insulated\"";

/// The files of a case as `count` processes are these.
pub(super) fn assert_files_of_processes(text: &str, count: usize, want: &Files) {
    let folder = tempfile::tempdir().unwrap();
    let said = run_processes(text, count, (folder.path(), None));
    assert!(said.iter().all(|outcome| *outcome == said[0]), "{said:?}");
    let found = files(folder.path());
    assert!(found.keys().eq(want.keys()), "{:?} {:?}", found.keys(), want.keys());
    for (name, bytes) in &found {
        assert!(*bytes == want[name], "{name} of {count} processes");
    }
    let summary = summary(folder.path());
    assert_eq!(summary["ranks"], count);
    assert_eq!(summary["device"], format!("{count} processes of 2 host threads"));
}

#[test]
fn processes_have_the_files_of_one_rank_and_the_first_writes_them() {
    let flow = super::ranks_of_flow::text_of_processes();
    let fluxes = super::ranks_of_fluxes::text_of_processes();
    let gas = super::ranks_of_gas::text_of_processes();
    let heat = [(case(BLOCK, STEADY, 1), 2), (case(BLOCK, IN_TIME, 1), 3)];
    for (text, count) in heat.into_iter().chain([(flow, 3), (fluxes, 2), (gas, 2)]) {
        assert_files_of_processes(&text, count, &results(&text));
    }
}

#[test]
fn processes_go_on_from_a_checkpoint_and_have_nothing_left_to_do_after_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let text = case(BLOCK, IN_TIME, 1);
    run(&text, folder.path());
    let checkpoint =
        |step: usize| folder.path().join(format!("case/checkpoint_{step:08}.safetensors"));
    let kept = [2, 4].map(|step| {
        let kept = folder.path().join(format!("{step}.safetensors"));
        std::fs::copy(checkpoint(step), &kept).unwrap();
        kept
    });
    let want = files(folder.path());
    run_processes(&text, 2, (folder.path(), Some(&kept[0])));
    let found = files(folder.path());
    for (name, bytes) in found.iter().filter(|(name, _)| *name != "summary.json") {
        assert!(*bytes == want[name], "{name}");
    }
    let before = summary(folder.path());
    for outcome in run_processes(&text, 3, (folder.path(), Some(&kept[1]))) {
        let kept = "summary.json stays as the earlier run left it";
        assert!(outcome.contains("nothing left to do") && outcome.ends_with(kept), "{outcome}");
    }
    assert_eq!(summary(folder.path()), before);
}

#[test]
fn a_process_that_is_stopped_ends_all() {
    let folder = tempfile::tempdir().unwrap();
    let text = case(BLOCK, IN_TIME, 1);
    let said =
        on_processes(&[text.clone(), text], (folder.path(), None), |number, mut simulation| {
            simulation.stop_when(move || number == 1);
            simulation.run(&mut |_| ()).unwrap()
        });
    for outcome in said {
        assert_eq!(outcome.unwrap().kind, OutcomeKind::Interrupted);
    }
}

#[test]
fn processes_with_other_ranks_cases_or_meshes_are_refused() {
    let refused = |texts: &[String]| -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let said = on_processes(texts, (folder.path(), None), |_, _| ());
        said.into_iter().map(Result::unwrap_err).collect()
    };
    let of = |ranks: usize| case(BLOCK, STEADY, ranks);
    let want = "ranks = 3: 2 processes were started, each of which is a rank; leave `ranks` out";
    assert_eq!(refused(&[of(3), of(3)]), [want; 2]);
    let other = |name: &str, number: usize| {
        let count = number + 1;
        format!(
            "ranks = {count}: the {name} of process {number} is not that of process 0; start all with the same arguments, and with \
             the same files on each machine"
        )
    };
    let warmer = of(1).replace("xmax.temperature = 2.0", "xmax.temperature = 3.0");
    assert_eq!(refused(&[of(1), of(1), warmer]), vec![other("case", 2); 3]);

    // Files of one name may differ between machines.
    let folder = tempfile::tempdir().unwrap();
    let case = Case::parse(&of(1), folder.path(), "case.toml").unwrap();
    let mesh = crate::mesh_source::mesh(&case.mesh).unwrap();
    let mut moved = mesh.clone();
    moved.points[77][1] += 1e-15;
    let mut checkpoint = Checkpoint::new();
    checkpoint.set("steps", 7);
    let check = |of_1: (&Mesh, Option<&Checkpoint>)| {
        let said = run_ranks(&ThreadGroup::new(2), |group| {
            let (mesh, checkpoint) = [(&mesh, Some(&checkpoint)), of_1][group.rank()];
            let processes = Processes::of(Arc::new(group.clone()));
            let checked =
                crate::simulation::ranks::check_equal(&processes, (&case, mesh), checkpoint);
            Ok::<_, BackendError>(checked.map_err(|error| error.to_string()))
        });
        said.unwrap()
    };
    assert_eq!(check((&mesh.clone(), Some(&checkpoint.clone()))), [const { Ok(()) }; 2]);
    assert_eq!(check((&moved, Some(&checkpoint))), vec![Err(other("mesh", 1)); 2]);
    let mut later = checkpoint.clone();
    later.set("steps", 8);
    assert_eq!(check((&mesh, Some(&later))), vec![Err(other("checkpoint", 1)); 2]);

    // Each process adapts its mesh.
    let adapted = |of_1: &Mesh| {
        let said = run_ranks(&ThreadGroup::new(2), |group| {
            let processes = Processes::of(Arc::new(group.clone()));
            let own = [&mesh, of_1][group.rank()];
            let checked = crate::simulation::ranks::check_equal_meshes(&processes, own);
            Ok::<_, BackendError>(checked.map_err(|error| error.to_string()))
        });
        said.unwrap()
    };
    assert_eq!(adapted(&mesh.clone()), [const { Ok(()) }; 2]);
    let want = "ranks = 2: the new mesh of process 1 is not that of process 0; start all on processors of one kind, or adapt the mesh \
                before";
    assert_eq!(adapted(&moved), vec![Err(want.to_owned()); 2]);
}
