//! `karman bench`

use crate::arguments::{
    BenchArguments, BenchCommand, BenchPrecision, RanksArguments, ThesisAmgArguments,
    ThesisCgArguments, ThesisCommand, ThesisFlowArguments, ThesisSmoothingArguments,
    ThesisStagesArguments,
};
use crate::console;
use crate::failure::Failure;
use karman::backend::{Backend, BackendKind};
use karman_bench::ranks::{RanksPlan, RanksReport, RanksTest, Scaling, measure_ranks};
use karman_bench::thesis_amg::{ThesisAmgPlan, ThesisAmgReport, measure_grid, published};
use karman_bench::thesis_cost::{CostReport, measure_cost};
use karman_bench::thesis_pressure::{FlowCase, PressurePlan, PressureReport, measure_pressure};
use karman_bench::thesis_smoothing::{SmoothingReport, measure_smoothing};
use karman_bench::thesis_stages::{StagesReport, measure_stages};
use karman_bench::{Bench, Group, Machine, Plan, Report, measure};
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::Path;

pub(crate) fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    match &arguments.command {
        None => groups(arguments),
        Some(BenchCommand::Ranks(arguments)) => ranks(arguments),
        Some(BenchCommand::Thesis(ThesisCommand::Amg(arguments))) => thesis_amg(arguments),
        Some(BenchCommand::Thesis(ThesisCommand::Flow(arguments))) => thesis_flow(arguments),
        Some(BenchCommand::Thesis(ThesisCommand::Cg(arguments))) => thesis_cg(arguments),
        Some(BenchCommand::Thesis(ThesisCommand::Stages(arguments))) => thesis_stages(arguments),
        Some(BenchCommand::Thesis(ThesisCommand::Smoothing(arguments))) => {
            thesis_smoothing(arguments)
        }
    }
}

/// Groups of lines on meshes of the requested sizes.
fn groups(arguments: &BenchArguments) -> Result<(), Failure> {
    if !(arguments.seconds > 0.0 && arguments.seconds.is_finite()) {
        let message = format!("--seconds must be above 0, not {}", arguments.seconds);
        return Err(Failure::Input(message));
    }
    let backend = Backend::new(arguments.backend, arguments.threads).map_err(Failure::input)?;
    let output = Output::new(arguments.json.as_deref())?;
    let groups =
        if arguments.only.is_empty() { Group::ALL.to_vec() } else { arguments.only.clone() };
    let plan = Plan {
        groups,
        double: arguments.precision != BenchPrecision::F32,
        single: arguments.precision != BenchPrecision::F64,
        write_system: arguments.write_system.clone(),
    };
    let mut bench = Bench::new(&backend, arguments.seconds);
    bench.copy(arguments.copy).map_err(Failure::input)?;
    output.show(|| heading(&backend, &bench))?;
    for &cells in &arguments.cells {
        measure(&mut bench, cells, &plan).map_err(Failure::input)?;
        output.show(|| bench.table(cells))?;
    }
    let mut report = Report::new(&bench);
    report.machine.karman = env!("KARMAN_VERSION");
    output.finish(&report)
}

fn ranks(arguments: &RanksArguments) -> Result<(), Failure> {
    let output = Output::new(arguments.json.as_deref())?;
    let drawing = arguments.svg.as_deref().map(Drawing::new).transpose()?;
    let plan = RanksPlan {
        kind: arguments.backend,
        threads: arguments.threads,
        ranks: arguments.ranks.clone(),
        tests: match &arguments.only[..] {
            [] => RanksTest::ALL.to_vec(),
            only => only.to_vec(),
        },
        scaling: if arguments.weak { Scaling::Weak } else { Scaling::Strong },
        repetitions: arguments.repetitions as usize,
        replicate_rows: arguments.replicate_rows,
    };
    let mut points = vec![];
    for &cells in &arguments.cells {
        let start = std::time::Instant::now();
        points.extend(measure_ranks(&plan, cells).map_err(Failure::input)?);
        tracing::info!("{cells} cells: measured in {:.0} s", start.elapsed().as_secs_f64());
    }
    let report = RanksReport { karman: env!("KARMAN_VERSION"), ..RanksReport::new(&plan, points) };
    output.show(|| report.to_string())?;
    drawing.map_or(Ok(()), |drawing| drawing.finish(&report.svg()))?;
    output.finish(&report)
}

fn thesis_amg(arguments: &ThesisAmgArguments) -> Result<(), Failure> {
    let backend = Backend::new(arguments.backend, arguments.threads).map_err(Failure::input)?;
    let output = Output::new(arguments.json.as_deref())?;
    let ThesisAmgArguments { tolerance, steps, beta, .. } = *arguments;
    let plan = ThesisAmgPlan { tolerance, steps, beta };
    let sizes = match &arguments.cells[..] {
        [] => published().iter().map(|row| row.cells).collect(),
        requested => requested.to_vec(),
    };
    let mut grids = vec![];
    for cells in sizes {
        let start = std::time::Instant::now();
        grids.push(measure_grid(&backend, cells, &plan).map_err(Failure::input)?);
        tracing::info!("{cells} cells: measured in {:.0} s", start.elapsed().as_secs_f64());
    }
    let mut report = ThesisAmgReport::new(&backend, &plan, grids);
    report.machine.karman = env!("KARMAN_VERSION");
    output.show(|| report.to_string())?;
    output.finish(&report)
}

fn thesis_flow(arguments: &ThesisFlowArguments) -> Result<(), Failure> {
    let ThesisFlowArguments { tolerance, steps, cycles, scale, beta, .. } = *arguments;
    let plan = PressurePlan { tolerance, steps, cycles, scale, beta };
    plan.check().map_err(Failure::input)?;
    let backend = Backend::new(arguments.backend, arguments.threads).map_err(Failure::input)?;
    let output = Output::new(arguments.json.as_deref())?;
    let cases: &[FlowCase] = match &arguments.only[..] {
        [] => &FlowCase::ALL,
        requested => requested,
    };
    let mut grids = vec![];
    for &case in cases {
        let published = case.published();
        let first = if arguments.all_grids { 0 } else { published.len().saturating_sub(1) };
        for row in &published[first..] {
            let start = std::time::Instant::now();
            grids.push(measure_pressure(&backend, case, row, &plan).map_err(Failure::input)?);
            let seconds = start.elapsed().as_secs_f64();
            tracing::info!("{}, {} cells: measured in {seconds:.0} s", case.word(), row.cells);
        }
    }
    let mut report = PressureReport::new(&backend, &plan, grids);
    report.machine.karman = env!("KARMAN_VERSION");
    output.show(|| report.to_string())?;
    output.finish(&report)
}

/// The file of a drawing, made before anything is measured.
struct Drawing<'a> {
    path: &'a Path,
    file: File,
}

impl Drawing<'_> {
    fn new(path: &Path) -> Result<Drawing<'_>, Failure> {
        let file = File::create(path).map_err(|e| cannot_write(path, &e))?;
        Ok(Drawing { path, file })
    }

    fn finish(mut self, svg: &str) -> Result<(), Failure> {
        self.file.write_all(svg.as_bytes()).map_err(|e| cannot_write(self.path, &e))
    }
}

fn thesis_cg(arguments: &ThesisCgArguments) -> Result<(), Failure> {
    let open = |kind: &_| Backend::new(*kind, arguments.threads);
    let backends: Result<Vec<Backend>, _> = arguments.backend.iter().map(open).collect();
    let backends = backends.map_err(Failure::input)?;
    let output = Output::new(arguments.json.as_deref())?;
    let drawing = arguments.svg.as_deref().map(Drawing::new).transpose()?;
    let mut points = vec![];
    for backend in &backends {
        for &cells in &arguments.cells {
            let start = std::time::Instant::now();
            points.extend(measure_cost(backend, cells, arguments.seconds).map_err(Failure::input)?);
            let (kind, seconds) = (backend.kind().word(), start.elapsed().as_secs_f64());
            tracing::info!("{kind}, {cells} triangles: measured in {seconds:.0} s");
        }
    }
    let report = CostReport::new(&backends, points);
    let report = CostReport { karman: env!("KARMAN_VERSION"), ..report };
    output.show(|| report.to_string())?;
    drawing.map_or(Ok(()), |drawing| drawing.finish(&report.svg()))?;
    output.finish(&report)
}

fn thesis_smoothing(arguments: &ThesisSmoothingArguments) -> Result<(), Failure> {
    let mut backends = vec![];
    for &kind in &arguments.backend {
        let first = Backend::new(kind, 0).map_err(Failure::input)?;
        if first.device().is_some() {
            backends.push(first);
            continue;
        }
        for &threads in &arguments.threads {
            backends.push(Backend::new(kind, threads).map_err(Failure::input)?);
        }
    }
    let output = Output::new(arguments.json.as_deref())?;
    let drawing = arguments.svg.as_deref().map(Drawing::new).transpose()?;
    let mut points = vec![];
    for backend in &backends {
        for &vertices in &arguments.vertices {
            let sweeps = arguments.sweeps as usize;
            let measured = measure_smoothing(backend, vertices, arguments.rule, sweeps);
            points.extend(measured.map_err(Failure::input)?);
        }
    }
    let report = SmoothingReport::new(&backends, arguments.rule, points);
    let report = SmoothingReport { karman: env!("KARMAN_VERSION"), ..report };
    output.show(|| report.to_string())?;
    drawing.map_or(Ok(()), |drawing| drawing.finish(&report.svg()))?;
    output.finish(&report)
}

fn thesis_stages(arguments: &ThesisStagesArguments) -> Result<(), Failure> {
    let output = Output::new(arguments.json.as_deref())?;
    let mut points = vec![];
    for &kind in &arguments.backend {
        // A device computes alike with any number of host threads.
        let is_host = kind == BackendKind::Cpu;
        let threads = if is_host { &arguments.threads[..] } else { &[0] };
        for &threads in threads {
            let backend = Backend::new(kind, threads).map_err(Failure::input)?;
            let measured = measure_stages(&backend, arguments.cells, arguments.seconds);
            points.extend(measured.map_err(Failure::input)?);
        }
    }
    let report = StagesReport { karman: env!("KARMAN_VERSION"), ..StagesReport::new(points) };
    output.show(|| report.to_string())?;
    output.finish(&report)
}

/// Destination of the figures: a table on stdout, JSON on stdout, or a table on stdout and JSON in a file.
struct Output<'a> {
    json: Option<&'a Path>,
    /// Created before the measurements, which may take hours.
    file: Option<File>,
}

impl<'a> Output<'a> {
    fn new(json: Option<&'a Path>) -> Result<Self, Failure> {
        let path = json.filter(|path| *path != Path::new("-"));
        let create = |path: &Path| File::create(path).map_err(|e| cannot_write(path, &e));
        Ok(Output { json, file: path.map(create).transpose()? })
    }

    /// Prints a table unless stdout is for JSON.
    fn show(&self, table: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.json.is_some() && self.file.is_none() { Ok(()) } else { console::print(&table()) }
    }

    /// Writes the JSON, if requested.
    fn finish(self, report: &impl Serialize) -> Result<(), Failure> {
        match (self.json, self.file) {
            (Some(path), Some(file)) => {
                serde_json::to_writer_pretty(file, report).map_err(|e| cannot_write(path, &e))
            }
            (Some(_), None) => console::print_json(report),
            (None, _) => Ok(()),
        }
    }
}

fn cannot_write(path: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::Input(format!("cannot write {}: {error}", path.display()))
}

fn heading(backend: &Backend, bench: &Bench) -> String {
    let copy = |precision| bench.copy_bandwidth(precision).unwrap_or(0.0) / 1e9;
    format!(
        "{}; copy {:.1} GB/s in f64, {:.1} GB/s in f32",
        Machine { karman: env!("KARMAN_VERSION"), ..Machine::new(backend) },
        copy("f64"),
        copy("f32"),
    )
}
