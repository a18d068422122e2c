//! Outcomes of runs, and their output in a folder that is not empty.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const HEAT: &str = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [4, 4]\n[heat]\n[initial]\n\
    temperature = \"300 + x\"\n[boundary]\nxmin.temperature = 300.0\nxmax = \"insulated\"\n\
    ymin = \"insulated\"\nymax = \"insulated\"\n[time]\nstep = 0.1\nend = 0.3\n[checkpoint]\nevery = 0.1\n\
    [output]\nevery = 0.1\n[[output.probe]]\nname = \"middle\"\nat = [0.5, 0.5]\n[[output.patch]]\n\
    name = \"left\"\npatches = [\"xmin\"]\n[[output.line]]\nname = \"along\"\nfrom = [0.0, 0.5]\n\
    to = [1.0, 0.5]\n";

const FLOW: &str = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [4, 4]\n[incompressible]\n\
    kinematic_viscosity = 0.1\n[boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\nymin = \"no_slip\"\n\
    ymax.moving_wall = [1.0, 0.0]\n[time]\nstep = 0.1\nend = 0.3\n[checkpoint]\nevery = 0.1\n[[output.probe]]\n\
    name = \"middle\"\nat = [0.5, 0.5]\n[[output.patch]]\nname = \"lid\"\npatches = [\"ymax\"]\n";

fn restarted(text: &str, folder: &Path, step: usize) -> Simulation {
    let case = Case::parse(text, folder, "case.toml").unwrap();
    let checkpoint = folder.join(format!("case/checkpoint_{step:08}.safetensors"));
    Simulation::new(case, RunOptions { backend: None, restart: Some(checkpoint) }).unwrap()
}

#[test]
fn a_restart_with_nothing_left_to_do_keeps_the_summary_or_completes_it() {
    for text in [HEAT, FLOW] {
        let folder = tempfile::tempdir().unwrap();
        let (_, before) = run(text, folder.path());
        let path = folder.path().join("case/summary.json");
        let bytes = std::fs::read(&path).unwrap();
        let outcome = restarted(text, folder.path(), 3).run(&mut |_| ()).unwrap();
        assert_eq!(
            outcome.to_string(),
            "finished: nothing left to do: the checkpoint is at t = 0.3, the end; summary.json stays as the \
             earlier run left it"
        );
        assert!(std::fs::read(&path).unwrap() == bytes);

        // A missing summary is written again, with the monitored values.
        std::fs::remove_file(&path).unwrap();
        let outcome = restarted(text, folder.path(), 3).run(&mut |_| ()).unwrap();
        assert!(outcome.message.ends_with("t = 0.3, the end"), "{outcome}");
        let after = summary(folder.path());
        for part in ["probe", "patch", "fields", "time", "mesh"] {
            assert_eq!(
                after[part].as_object().unwrap().len(),
                before[part].as_object().unwrap().len()
            );
        }
        for (part, name) in [("probe", "middle"), ("patch", "lid"), ("patch", "left")] {
            let Some(quantities) = before[part][name].as_object() else { continue };
            for (quantity, value) in quantities {
                let (was, is) = (
                    value.as_f64().unwrap(),
                    number(&after, &format!("/{part}/{name}/{quantity}")),
                );
                assert!(
                    (was - is).abs() < 1e-9 * was.abs().max(1e-3),
                    "{name} {quantity}: {was} {is}"
                );
            }
        }
        for quantity in ["kinetic_energy", "courant"] {
            let Some(was) = before["flow"][quantity].as_f64() else { continue };
            let is = number(&after, &format!("/flow/{quantity}"));
            assert!((was - is).abs() < 1e-9 * was, "{quantity}: {was} {is}");
        }

        // A final time at an earlier checkpoint has nothing left to do either.
        let shorter = text.replace("end = 0.3", "end = 0.2");
        let outcome = restarted(&shorter, folder.path(), 2).run(&mut |_| ()).unwrap();
        assert!(outcome.message.ends_with("t = 0.2, the end"), "{outcome}");
        assert_eq!(number(&summary(folder.path()), "/time/end"), 0.2);
    }
}

#[test]
fn an_interrupted_run_writes_its_output_and_a_restart_continues() {
    let folder = tempfile::tempdir().unwrap();
    run(HEAT, folder.path());
    let results = folder.path().join("case");
    let history = std::fs::read(results.join("history.csv")).unwrap();

    let text = HEAT.replace("[checkpoint]\nevery = 0.1\n", "");
    let mut simulation = new(&text, folder.path()).unwrap();
    let steps = Arc::new(AtomicUsize::new(0));
    let seen = steps.clone();
    simulation.stop_when(move || seen.load(Ordering::SeqCst) >= 2);
    let outcome = simulation
        .run(&mut |progress| steps.store(progress.step as usize, Ordering::SeqCst))
        .unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Interrupted);
    assert!(!outcome.kind.is_success());
    let checkpoint = results.join("checkpoint_00000002.safetensors");
    assert_eq!(
        outcome.to_string(),
        format!(
            "interrupted: stopped at t = 0.2, step 2; go on with --restart {}",
            checkpoint.display()
        )
    );
    let written = summary(folder.path());
    assert_eq!(
        (&written["outcome"], number(&written, "/time/steps")),
        (&"interrupted".into(), 2.0)
    );
    assert!(number(&written, "/probe/middle/temperature") > 300.0);
    assert!(results.join("fields_0002.vtu").is_file() && checkpoint.is_file());
    drop(simulation);

    let outcome = restarted(&text, folder.path(), 2).run(&mut |_| ()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Finished);
    assert!(std::fs::read(results.join("history.csv")).unwrap() == history);
}

#[test]
fn results_of_an_earlier_run_are_removed_and_other_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("case");
    std::fs::create_dir(&results).unwrap();
    for name in [
        "fields_0000.vtu",
        "fields_0099.vtu",
        "fields.pvd",
        "history.csv",
        "line_old.csv",
        "checkpoint_00000099.safetensors",
        "temperature.png",
        "mine.csv",
        "photo.png",
        "notes.txt",
    ] {
        std::fs::write(results.join(name), "old").unwrap();
    }
    std::fs::write(results.join("summary.json"), "{\"case\": \"other\"}").unwrap();
    run(HEAT, folder.path());
    let mut names: Vec<String> = std::fs::read_dir(&results)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            ".karman.lock",
            "checkpoint_00000001.safetensors",
            "checkpoint_00000002.safetensors",
            "checkpoint_00000003.safetensors",
            "fields.pvd",
            "fields_0000.vtu",
            "fields_0001.vtu",
            "fields_0002.vtu",
            "fields_0003.vtu",
            "history.csv",
            "line_along.csv",
            "mine.csv",
            "notes.txt",
            "photo.png",
            "summary.json"
        ]
    );
    for name in ["mine.csv", "photo.png", "notes.txt"] {
        assert_eq!(std::fs::read_to_string(results.join(name)).unwrap(), "old");
    }

    // A restart keeps the results up to its time.
    let outcome = restarted(HEAT, folder.path(), 1).run(&mut |_| ()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Finished);
    let shorter = HEAT.replace("end = 0.3", "end = 0.2");
    restarted(&shorter, folder.path(), 1).run(&mut |_| ()).unwrap();
    assert!(results.join("fields_0002.vtu").is_file() && !results.join("fields_0003.vtu").exists());
    assert!(results.join("checkpoint_00000001.safetensors").is_file());
}

#[test]
fn two_runs_in_one_folder_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = new(HEAT, folder.path()).unwrap();
    first.claim_output().unwrap();
    let mut second = new(HEAT, folder.path()).unwrap();
    let refused = second.run(&mut |_| ()).unwrap_err().to_string();
    let expected = format!(
        "another run, process {}, writes to {}: wait for its end, or choose another [output] directory",
        std::process::id(),
        folder.path().join("case").display()
    );
    assert_eq!(refused, expected);
    first.run(&mut |_| ()).unwrap();
    drop(first);
    assert_eq!(second.run(&mut |_| ()).unwrap().kind, OutcomeKind::Finished);
}

#[test]
fn times_are_reported_without_the_round_off_of_their_sum() {
    let folder = tempfile::tempdir().unwrap();
    let text = HEAT
        .replace("step = 0.1\nend = 0.3", "step = 0.01\nend = 2.0")
        .replace("[checkpoint]\nevery = 0.1\n", "")
        .replace("every = 0.1", "every = 0.5");
    let (outcome, summary) = run(&text, folder.path());
    assert_eq!(outcome.to_string(), "finished: reached t = 2");
    assert_eq!(number(&summary, "/time/end"), 2.0);
    let read = |name: &str| std::fs::read_to_string(folder.path().join("case").join(name)).unwrap();
    let history = read("history.csv");
    let longest = |line: &str| line.split(',').nth(1).unwrap().len();
    assert!(history.lines().skip(1).all(|line| longest(line) <= 4), "{history}");
    let series = read("fields.pvd");
    assert!(series.contains("timestep=\"1.5\"") && series.contains("timestep=\"2.0\""), "{series}");
}

#[test]
fn an_interrupted_iteration_to_a_steady_flow_goes_on_from_its_checkpoint() {
    let incompressible =
        FLOW.replace("[time]\nstep = 0.1\nend = 0.3\n[checkpoint]\nevery = 0.1\n", "");
    let compressible = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [6, 4]\n[compressible]\n[initial]\ndensity = 1.4\n\
        velocity = [\"0.3 + 0.1*y\", 0.0]\npressure = 1.0\n[boundary]\n\
        xmin.farfield = { mach = 0.3, density = 1.4, pressure = 1.0 }\n\
        xmax.farfield = { mach = 0.3, density = 1.4, pressure = 1.0 }\n\
        ymin = \"slip_wall\"\nymax = \"slip_wall\"\n";
    for text in [incompressible.as_str(), compressible] {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(text, folder.path()).unwrap();
        let steps = Arc::new(AtomicUsize::new(0));
        let seen = steps.clone();
        simulation.stop_when(move || seen.load(Ordering::SeqCst) >= 2);
        let observe = |progress: &Progress| steps.store(progress.step as usize, Ordering::SeqCst);
        let outcome = simulation.run(&mut { observe }).unwrap();
        let checkpoint = folder.path().join("case/checkpoint_00000002.safetensors");
        assert_eq!(
            outcome.to_string(),
            format!(
                "interrupted: stopped after 2 iterations; go on with --restart {}",
                checkpoint.display()
            )
        );
        drop(simulation);
        let outcome = restarted(text, folder.path(), 2).run(&mut |_| ()).unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Converged, "{outcome}");
        let history = std::fs::read_to_string(folder.path().join("case/history.csv")).unwrap();
        let first: Vec<&str> =
            history.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        let expected: Vec<String> = (1..=first.len()).map(|step| step.to_string()).collect();
        assert_eq!(first, expected);
    }
}

#[test]
fn a_steady_solve_of_heat_is_interrupted() {
    let text = HEAT
        .replace(
            "[time]\nstep = 0.1\nend = 0.3\n[checkpoint]\nevery = 0.1\n[output]\nevery = 0.1\n",
            "",
        )
        .replace("[4, 4]", "[40, 40]")
        + "[linear_solver]\npreconditioner = \"none\"\nmethod = \"cg\"\n";
    for discretization in ["cell", "node"] {
        let text =
            text.replace("[heat]", &format!("[heat]\ndiscretization = \"{discretization}\""));
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&text, folder.path()).unwrap();
        // Asked before the step, then in the solve.
        let asked = AtomicUsize::new(0);
        simulation.stop_when(move || asked.fetch_add(1, Ordering::SeqCst) >= 5);
        let outcome = simulation.run(&mut |_| ()).unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Interrupted, "{outcome}");
        let said = outcome.message;
        assert!(said.starts_with("the linear solve was interrupted after "), "{said}");
        assert!(said.ends_with("the fields have not converged"), "{said}");
        let written = summary(folder.path());
        assert!(number(&written, "/linear/iterations") < 20.0, "{written}");
        assert!(folder.path().join("case/fields_0000.vtu").is_file());
    }
}
