//! From a case file as written to a checked case.

use super::error::{Problem, Source};
use super::file::{CaseFile, EquationFile};
use super::heat::HeatFile;
use super::incompressible::IncompressibleFile;
use super::linear_solver::LinearSolverFile;
use super::names::Names;
use super::places::Places;
use super::value::{Maybe, Reader, Value};
use super::{Case, Equation, SteadyCase, boundary, exact, expected, flow_boundary, flow_output};
use super::{
    average, heat, incompressible, initial, linear_solver, mesh, output, run, steady, surface, time,
};
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

/// Problems of all sections, so that one run reports every error of the file.
struct Problems(Vec<Problem>);

impl Problems {
    fn record<T>(&mut self, checked: Result<T, Problem>) -> Option<T> {
        checked.map_err(|problem| self.0.push(problem)).ok()
    }

    fn record_all<T>(&mut self, checked: Result<T, Vec<Problem>>) -> Option<T> {
        checked.map_err(|several| self.0.extend(several)).ok()
    }
}

pub(super) fn check(file: &CaseFile, folder: &Path, source: &Source) -> Result<Case, Vec<Problem>> {
    let name = Path::new(&source.name).file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let mut problems = Problems(Vec::new());
    // Without the equation, further checks would only raise consequential errors.
    let Some(equation_file) = problems.record(file.equation()) else { return Err(problems.0) };
    let names = Names::of(&equation_file);
    let time_span = file.time.as_ref().map(Spanned::span);
    let reader = Reader { text: &source.text, folder, steady: time_span.is_none() };

    let mesh = file.mesh.as_ref().ok_or_else(|| {
        Problem::at(0..0, "the case has no mesh").note("add [mesh] with `file` or a generator")
    });
    let mesh = problems.record(mesh.and_then(|mesh| mesh::check(mesh, folder)));
    let equation = match equation_file {
        EquationFile::Heat(keys) => {
            heat(file, keys, (names, time_span.clone()), reader, &mut problems)
        }
        EquationFile::Incompressible(keys) => flow(file, keys, names, reader, &mut problems),
    };
    let initial_result = initial::check_from(file.initial.as_ref(), folder, names);
    let initial_result = problems.record(initial_result).flatten();
    let time = file.time.as_ref().map(|time| time::check(time, names)).transpose();
    let time = problems.record(time);
    if let (Some(time), EquationFile::Incompressible(keys)) = (&time, equation_file) {
        let method = time.as_ref().map(|time| time.method);
        problems.record(incompressible::check_viscosity(keys, method));
        if let Some(Equation::Incompressible(flow)) = &equation {
            problems.record(incompressible::check_treatment(keys, flow, time.as_ref()));
        }
    }
    let steady = problems.record(check_steady(file, names));
    let linear_solver = check_linear_solver(file.linear_solver.as_ref(), names);
    let linear_solver = problems.record(linear_solver);
    problems.record(file.adaptation());
    let output = output::check(file.output.as_ref(), folder, &name, time_span.as_ref(), names);
    let output = problems.record(output);
    if let (Some(file), Some(time)) = (&file.output, &time) {
        problems.record(average::check_start(file.get_ref(), time.as_ref()));
    }
    if let (Some(file), Some(equation)) = (&file.output, &equation) {
        problems.record(average::check_scheme(file.get_ref(), equation));
        problems.record(surface::check_walls(file.get_ref(), equation));
        problems.record(flow_output::check_moments(file.get_ref(), equation));
    }
    if let Some(Equation::Incompressible(flow)) = &equation {
        problems.record(incompressible::check_mean_force(file.expected.as_ref(), flow));
    }
    let checkpoint = run::check_checkpoint(file.checkpoint.as_ref(), time_span.as_ref());
    let checkpoint = problems.record(checkpoint);
    let exact = problems.record(exact::check(file.exact.as_ref(), names, reader));
    let expected = match (&output, &exact) {
        (Some(output), Some(exact)) => {
            problems.record(expected::check(file.expected.as_ref(), output, exact, names))
        }
        _ => None,
    };
    match (mesh, equation, time, steady, linear_solver, output, checkpoint, exact, expected) {
        (
            Some(mesh),
            Some(equation),
            Some(time),
            Some(steady),
            Some(linear_solver),
            Some(output),
            Some(checkpoint),
            Some(exact),
            Some(expected),
        ) if problems.0.is_empty() => Ok(Case {
            title: file.title.clone().unwrap_or_else(|| name.clone()),
            name,
            mesh,
            equation,
            initial_result,
            time,
            steady,
            linear_solver,
            output,
            run: run::check(file.run.as_ref()),
            checkpoint,
            exact,
            expected,
            warnings: warnings(file).map(|problem| source.diagnose(problem)).collect(),
            places: Places::new(file, &equation_file, source),
        }),
        _ => Err(problems.0),
    }
}

fn heat(
    file: &CaseFile,
    keys: &Spanned<HeatFile>,
    (names, time): (Names, Option<Range<usize>>),
    reader: Reader<'_>,
    problems: &mut Problems,
) -> Option<Equation> {
    let initial = problems.record(initial::check_heat(file.initial.as_ref(), names, time, reader));
    let boundary = problems.record_all(boundary::check_heat(file.boundary.as_ref(), reader));
    // The rest of the section is checked even where these two are wrong.
    let initial = initial.unwrap_or(Value::Constant(0.0));
    let heat = heat::check(keys.get_ref(), initial, boundary.unwrap_or_default(), reader);
    problems.record(heat).map(Equation::Heat)
}

fn flow(
    file: &CaseFile,
    keys: &Spanned<IncompressibleFile>,
    names: Names,
    reader: Reader<'_>,
    problems: &mut Problems,
) -> Option<Equation> {
    let time = file.time.as_ref().map(Spanned::span);
    let initial = initial::check_flow(file.initial.as_ref(), names, time, reader);
    let initial = problems.record(initial).unwrap_or_default();
    let boundary = flow_boundary::check(file.boundary.as_ref(), names, reader);
    let boundary = problems.record_all(boundary).unwrap_or_default();
    let flow = incompressible::check(keys, initial, boundary, reader);
    problems.record(flow).map(|flow| Equation::Incompressible(Box::new(flow)))
}

/// The iteration of a flow without `[time]`.
fn check_steady(file: &CaseFile, names: Names) -> Result<Option<SteadyCase>, Problem> {
    let refused = match (names.is_flow(), &file.time) {
        (true, None) => return steady::check(file.steady.as_ref()).map(Some),
        (true, Some(_)) => "[steady] and [time] exclude each other: keep one",
        (false, _) => "[steady] is for flow: a heat case without [time] is one solution",
    };
    file.steady.as_ref().map_or(Ok(None), |section| Err(Problem::at(section.span(), refused)))
}

fn check_linear_solver(
    file: Option<&Spanned<LinearSolverFile>>,
    names: Names,
) -> Result<super::LinearSolverCase, Problem> {
    if let (Some(file), true) = (file, names.is_flow()) {
        let message = "[linear_solver] is for heat: a flow has two linear solvers";
        let note =
            "use [incompressible.pressure] and [incompressible.momentum], with the same keys";
        return Err(Problem::at(file.span(), message).note(note));
    }
    linear_solver::check(file, 1e-8)
}

/// Settings without effect.
fn warnings(file: &CaseFile) -> impl Iterator<Item = Problem> {
    let flow = file.incompressible.as_ref().map(Spanned::get_ref);
    let solvers: [(_, &Maybe<LinearSolverFile>); 3] = [
        ("linear_solver", &file.linear_solver),
        ("incompressible.pressure", flow.map_or(&None, |flow| &flow.pressure)),
        ("incompressible.momentum", flow.map_or(&None, |flow| &flow.momentum)),
    ];
    let solvers = solvers.into_iter().filter_map(|(section, keys)| {
        linear_solver::amg_without_effect(keys.as_ref()?.get_ref(), section)
    });
    let groups = file.output.iter().flat_map(|output| output.get_ref().patch.iter().flatten());
    let groups = groups.flat_map(|group| flow_output::without_effect(group.get_ref()));
    let surfaces = file.output.iter().flat_map(|output| output.get_ref().surface.iter().flatten());
    let surfaces = surfaces.filter_map(|surface| surface::without_effect(surface.get_ref()));
    solvers.chain(groups).chain(surfaces)
}
