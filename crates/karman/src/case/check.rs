//! From a case file as written to a checked case.

use super::CaseFile;
use super::equation::{EquationSection, Sections};
use super::error::{Problem, Source};
use super::places::Places;
use super::problems::Problems;
use super::time::TimeFile;
use super::value::Reader;
use super::{Case, adapt, average, exact, expected, initial};
use super::{linear_solver, mesh, output, patch_group, run, surface, time};
use std::cell::RefCell;
use std::path::Path;
use toml::Spanned;

pub(super) fn check(file: &CaseFile, folder: &Path, source: &Source) -> Result<Case, Vec<Problem>> {
    let name = Path::new(&source.name).file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let mut problems = Problems(Vec::new());
    // Without the equation, further checks would only raise consequential errors.
    let Some(equation_file) = problems.record(file.equation()) else { return Err(problems.0) };
    let names = equation_file.names();
    let local_steps =
        |time: &TimeFile| time.has_local_steps() && names.time_schemes().has_local_steps;
    let time_file = file.time.as_ref().filter(|time| !local_steps(time.get_ref()));
    let time_span = time_file.map(Spanned::span);
    let needs = RefCell::default();
    let steady = time_span.is_none();
    let reader = Reader { text: &source.text, folder, steady, needs: &needs };

    let mesh = file.mesh.as_ref().ok_or_else(|| {
        Problem::at(0..0, "the case has no mesh").note("add [mesh] with `file` or a generator")
    });
    let mesh = problems.record(mesh.and_then(|mesh| mesh::check(mesh, folder)));
    let sections = Sections { file, names, reader };
    let equation = equation_file.check(sections, &mut problems);
    let initial_result = initial::check_from(file.initial.as_ref(), folder, names);
    let initial_result = problems.record(initial_result);
    let time = file.time.as_ref().map(|time| time::check(time, names)).transpose();
    let time = problems.record(time).map(Option::flatten);
    let adapt = adapt::check(file.adapt.as_ref(), time_span.as_ref(), names, reader);
    let adapt = problems.record(adapt);
    let output = output::check(file.output.as_ref(), folder, &name, time_span.as_ref(), names);
    let output = problems.record(output);
    if let (Some(file), Some(time)) = (&file.output, &time) {
        problems.record(average::check_start(file.get_ref().averages(), time.as_ref()));
    }
    let run = run::check(file.run.as_ref(), file.checkpoint.as_ref(), time_span.as_ref());
    let run = problems.record(run);
    let exact = problems.record(exact::check(file.exact.as_ref(), names, reader));
    let expected = match (&output, &exact) {
        (Some(output), Some(exact)) => {
            problems.record(expected::check(file.expected.as_ref(), output, exact, names))
        }
        _ => None,
    };
    match (mesh, equation, initial_result, time, (adapt, output), run, exact, expected) {
        (
            Some(mesh),
            Some(equation),
            Some(initial_result),
            Some(time),
            (Some(adapt), Some(output)),
            Some(run),
            Some(exact),
            Some(expected),
        ) if problems.0.is_empty() => Ok(Case {
            title: file.title.clone().unwrap_or_else(|| name.clone()),
            name,
            mesh,
            equation,
            initial_result,
            time,
            adapt,
            output,
            run,
            exact,
            expected,
            warnings: warnings(file, equation_file)
                .into_iter()
                .map(|problem| source.diagnose(problem))
                .collect(),
            places: Places::new(file, equation_file, source, needs.into_inner()),
        }),
        _ => Err(problems.0),
    }
}

/// Settings without effect.
fn warnings(file: &CaseFile, equation: &dyn EquationSection) -> Vec<Problem> {
    let of_case = file.linear_solver.as_ref().map(|keys| ("linear_solver", keys.get_ref()));
    let solvers = equation.linear_solvers().into_iter().chain(of_case);
    let solvers =
        solvers.filter_map(|(section, keys)| linear_solver::amg_without_effect(keys, section));
    let groups = file.output.iter().flat_map(|output| output.get_ref().patch.iter().flatten());
    let groups = groups.flat_map(|group| patch_group::without_effect(group.get_ref()));
    let surfaces = file.output.iter().flat_map(|output| output.get_ref().surface.iter().flatten());
    let surfaces = surfaces.filter_map(|surface| surface::without_effect(surface.get_ref()));
    solvers.chain(groups).chain(surfaces).chain(equation.warnings(file)).collect()
}
