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
        + "[linear_solver]\npreconditioner = \"none\"\nmethod = \"cg\"\n[run]\nbackend = \"cpu\"\n";
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

#[test]
fn a_restart_after_the_end_is_refused_and_removes_nothing() {
    for text in [HEAT, FLOW] {
        let folder = tempfile::tempdir().unwrap();
        run(text, folder.path());
        let results = folder.path().join("case");
        let count = || std::fs::read_dir(&results).unwrap().count();
        let before = count();
        let shorter = text.replace("end = 0.3", "end = 0.15");
        let case = Case::parse(&shorter, folder.path(), "case.toml").unwrap();
        let checkpoint = results.join("checkpoint_00000002.safetensors");
        let options = RunOptions { backend: None, restart: Some(checkpoint.clone()) };
        let error = Simulation::new(case, options).err().unwrap().to_string();
        assert_eq!(
            error,
            format!(
                "the checkpoint {} is at t = 0.2, after the end t = 0.15 of the case: choose a later end, or an earlier \
                 checkpoint",
                checkpoint.display()
            )
        );
        assert_eq!(count(), before);
    }
}

/// A steady flow: the number of iterations counts over restarts.
#[test]
fn a_restart_after_the_last_iteration_is_refused() {
    let text = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [4, 4]\n[incompressible]\nkinematic_viscosity = 0.1\n\
                [boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\nymin = \"no_slip\"\nymax.moving_wall = [1.0, 0.0]\n\
                [steady]\nmax_iterations = 10\n";
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = new(text, folder.path()).unwrap();
    let steps = Arc::new(AtomicUsize::new(0));
    let seen = steps.clone();
    simulation.stop_when(move || seen.load(Ordering::SeqCst) >= 3);
    simulation.run(&mut |progress| steps.store(progress.step as usize, Ordering::SeqCst)).unwrap();
    drop(simulation);
    let checkpoint = folder.path().join("case/checkpoint_00000003.safetensors");
    let restart = |text: &str| {
        let case = Case::parse(text, folder.path(), "case.toml").unwrap();
        let options = RunOptions { backend: None, restart: Some(checkpoint.clone()) };
        Simulation::new(case, options)
    };
    let fewer = text.replace("max_iterations = 10", "max_iterations = 3");
    let error = restart(&fewer).err().unwrap().to_string();
    assert_eq!(
        error,
        format!(
            "the checkpoint {} is of iteration 3, and [steady] max_iterations = 3 counts from the start: allow more, or \
             choose an earlier checkpoint",
            checkpoint.display()
        )
    );
    let more = text.replace("max_iterations = 10", "max_iterations = 4");
    let outcome = restart(&more).unwrap().run(&mut |_| ()).unwrap();
    assert!(outcome.message.starts_with("not steady after 4 iterations"), "{outcome}");
}

#[test]
fn inputs_among_the_results_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("case");
    run(HEAT, folder.path());
    std::fs::write(results.join("line_table.csv"), "t,value\n0,300\n1,301\n").unwrap();
    let from =
        |file: &str| HEAT.replace("temperature = \"300 + x\"", &format!("from = \"case/{file}\""));
    let table = HEAT.replace(
        "xmin.temperature = 300.0",
        "xmin.temperature = { table = \"case/line_table.csv\" }",
    );
    let mesh = HEAT.replace(
        "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [4, 4]",
        "[mesh]\nfile = \"case/fields_0001.vtu\"",
    );
    std::fs::copy(results.join("fields.pvd"), results.join("start.pvd")).unwrap();
    for (text, key, file) in [
        (from("fields.pvd"), "from", "fields.pvd"),
        (from("start.pvd"), "from", "fields_0000.vtu"),
        (from("fields_0003.vtu"), "from", "fields_0003.vtu"),
        (table, "table", "line_table.csv"),
        (mesh, "file", "fields_0001.vtu"),
    ] {
        let error = new(&text, folder.path()).err().unwrap().to_string();
        let expected = format!(
            "`{key}` reads {}, which lies in the output directory {} under the name of a result: the run would remove it. \
             Move or rename the file, or choose another [output] directory",
            results.join(file).display(),
            results.display()
        );
        assert_eq!(error, expected);
        assert!(results.join(file).is_file());
    }
    // A restart does not read the result, and files of other names stay.
    assert_eq!(
        restarted(&from("fields.pvd"), folder.path(), 2).run(&mut |_| ()).unwrap().kind,
        OutcomeKind::Finished
    );
    std::fs::rename(results.join("fields_0003.vtu"), results.join("start.vtu")).unwrap();
    assert_eq!(run(&from("start.vtu"), folder.path()).0.kind, OutcomeKind::Finished);
    assert!(results.join("start.vtu").is_file());
}
