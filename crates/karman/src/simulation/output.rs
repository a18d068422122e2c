//! The output files of a run.

use super::averages::AverageResult;
use super::equation::{Advance, Monitored, Unknown};
use super::location::Location;
use super::outcome::Outcome;
use super::pieces::{self, Piece, file_of_pieces};
use super::surface::{self, SurfaceSamples, values_of};
use super::{Simulation, SimulationError};
use crate::backend::Processes;
use crate::case::{Axis, Case, OutputFormat, OutputInterval, Surface};
use crate::descriptor::{FieldData, Rank};
use crate::io::columns::{Columns, ColumnsError};
use crate::io::csv::{HistoryWriter, LineSamples, Row, short_number, write_line};
use crate::io::picture::{self, PictureContent, PictureField, Slice, history_plot};
use crate::mesh::files::FieldValues;
use crate::mesh::files::pvd::{self, PvdEntry};
use crate::mesh::files::vtu::{self, CompressedGrid, VtuData};
use crate::mesh::{Geometry, Mesh, RawMesh};
use crate::monitor::{error_norms, field_summary, line_points};
use crate::summary::{
    MemorySummary, MeshSummary, NamedList, Summary, ThroughputSummary, peak_host_bytes,
};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The files of a run.
pub(super) struct Output {
    directory: PathBuf,
    /// Of the process that writes files: the first.
    history: Option<HistoryWriter>,
    series: Vec<PvdEntry>,
    /// Made at the first output on a mesh.
    mesh: Option<FileMesh>,
    /// Those of this process, made at the first output in pieces on a mesh.
    pieces: Option<Vec<Piece>>,
    last_monitored: Monitored,
    written_at: Option<usize>,
    first_step: usize,
    /// Whether summary.json of an earlier run stays as the summary of this run.
    keeps_summary: bool,
}

/// The mesh in the numbering of its file.
struct FileMesh {
    raw: RawMesh,
    /// The unknowns in the order of the file.
    order: Vec<u32>,
    /// Points and cells as all files of the run have them, compressed at the first.
    grid: Option<CompressedGrid>,
}

impl FileMesh {
    fn new(mesh: &Mesh, location: Location) -> Self {
        let order = match location {
            Location::Cells => mesh.cells_in_file_order(),
            Location::Nodes => mesh.nodes_in_file_order(),
        };
        FileMesh { raw: mesh.to_raw(), order, grid: None }
    }

    /// Values in the order of the file.
    fn ordered(&self, field: &[f64]) -> Vec<f64> {
        self.order.par_iter().map(|&unknown| field[unknown as usize]).collect()
    }
}

/// Whether a multiple of `every` lies in (previous, current], up to round-off.
pub(super) fn crosses(previous: f64, current: f64, every: f64) -> bool {
    let count = |t: f64| (t / every + 1e-9).floor();
    count(current) > count(previous)
}

fn file_of(number: usize) -> String {
    format!("fields_{number:04}.vtu")
}

/// The entries up to `time` of the series of an earlier run; none where there is no series.
fn continued_series(path: &Path, time: f64) -> Result<Vec<PvdEntry>, SimulationError> {
    if !path.exists() {
        return Ok(vec![]);
    }
    let mut series = pvd::read(path)?;
    series.truncate(series.iter().position(|e| e.time > time).unwrap_or(series.len()));
    let is_other = |(number, entry): &(usize, &PvdEntry)| {
        entry.file != file_of(*number) && entry.file != file_of_pieces(*number)
    };
    match series.iter().enumerate().find(is_other) {
        None => Ok(series),
        Some((number, entry)) => Err(SimulationError::Series {
            path: path.to_owned(),
            number,
            found: entry.file.clone(),
            expected: file_of(number),
        }),
    }
}

impl Output {
    /// Begins the history and the series of fields; a restart at `step` and `time` continues them. Of several processes the first
    /// writes, and the others take part in what it needs.
    pub(super) fn open(
        case: &Case,
        processes: &Processes,
        restarted: bool,
        (time, step): (f64, u64),
    ) -> Result<Output, SimulationError> {
        let directory = case.output.directory.clone();
        let path = directory.join("history.csv");
        let is_first = processes.is_first();
        let history = match (is_first, restarted) {
            (false, _) => None,
            (true, true) => Some(HistoryWriter::resume(&path, step)?),
            (true, false) => Some(HistoryWriter::create(&path)?),
        };
        let series = match is_first && restarted && case.time.is_some() {
            true => continued_series(&directory.join("fields.pvd"), time)?,
            false => vec![],
        };
        // The last fields of the earlier run are not written again.
        let last = series.last().filter(|e| e.time == time && directory.join(&e.file).is_file());
        let is_written = processes.any(last.is_some())?;
        let written_at = is_written.then_some(step as usize);
        Ok(Output {
            directory,
            history,
            series,
            mesh: None,
            pieces: None,
            last_monitored: Monitored::default(),
            written_at,
            first_step: step as usize,
            keeps_summary: false,
        })
    }

    /// Whether this process writes the files.
    fn writes(&self) -> bool {
        self.history.is_some()
    }

    /// Takes the mesh of the simulation for the files that follow.
    pub(super) fn change_mesh(&mut self) {
        (self.mesh, self.pieces) = (None, None);
    }

    /// Number of field files in the series.
    pub(super) fn fields_written(&self) -> usize {
        self.series.len()
    }

    /// Sets the monitored values of a run without a step.
    pub(super) fn set_monitored(&mut self, monitored: Monitored) {
        self.last_monitored = monitored;
    }

    /// Keeps summary.json if it is of a run of this case with equal steps and final time.
    pub(super) fn keep_summary(
        &mut self,
        simulation: &Simulation,
    ) -> Result<bool, SimulationError> {
        let read = || -> Option<serde_json::Value> {
            let text = std::fs::read_to_string(self.directory.join("summary.json")).ok()?;
            serde_json::from_str(&text).ok()
        };
        let summary = if self.writes() { read() } else { None };
        let is_of_this = summary.is_some_and(|summary| {
            summary["case"] == simulation.case.name.as_str()
                && summary["time"]["steps"] == simulation.steps() as u64
                && summary["time"]["end"] == simulation.time()
        });
        self.keeps_summary = simulation.backend.processes().any(is_of_this)?;
        Ok(self.keeps_summary)
    }

    pub(super) fn history(
        &mut self,
        simulation: &Simulation,
        advance: &Advance,
        monitored: &Monitored,
    ) -> Result<(), SimulationError> {
        let mut row = Row::of_step(simulation.steps() as u64);
        if simulation.case.time.is_some() {
            row.push("time", simulation.time());
            row.push("dt", simulation.time_step);
            row.push("rate", advance.rate);
        }
        if let Some(solve) = advance.outcome() {
            row.push("residual", solve.relative_residual);
            row.push("iterations", solve.iterations as f64);
        }
        for (name, value) in advance.columns.iter() {
            row.push(name, *value);
        }
        for (probe, fields) in monitored.probes.iter() {
            for (field, value) in fields.iter() {
                row.push(format!("probe_{probe}_{field}"), *value);
            }
        }
        for (patch, quantities) in monitored.patches.iter() {
            for (quantity, value) in quantities.iter() {
                row.push(format!("patch_{patch}_{quantity}"), *value);
            }
        }
        self.last_monitored = monitored.clone();
        Ok(self.history.as_mut().map_or(Ok(()), |history| history.write(&row))?)
    }

    pub(super) fn fields_are_due(&self, simulation: &Simulation) -> bool {
        let time = simulation.time();
        match simulation.case.output.every {
            OutputInterval::End => false,
            OutputInterval::Steps(n) => simulation.steps().is_multiple_of(n.max(1) as usize),
            OutputInterval::Time(every) => crosses(time - simulation.time_step, time, every),
        }
    }

    pub(super) fn checkpoint_is_due(&self, simulation: &Simulation) -> bool {
        let time = simulation.time();
        let every = simulation.case.run.checkpoint.as_ref().map(|c| c.every);
        every.is_some_and(|every| crosses(time - simulation.time_step, time, every))
    }

    pub(super) fn checkpoint_path(&self, step: usize) -> PathBuf {
        self.directory.join(format!("checkpoint_{step:08}.safetensors"))
    }

    /// Writes the fields of the case, in the numbering of the mesh file, and those of its surfaces.
    pub(super) fn fields(&mut self, simulation: &mut Simulation) -> Result<(), SimulationError> {
        let start = Instant::now();
        let backend = simulation.backend.clone();
        backend.install(|| self.write_fields(simulation))?;
        simulation.phases.add("fields", start.elapsed().as_secs_f64());
        Ok(())
    }

    fn write_fields(&mut self, simulation: &mut Simulation) -> Result<(), SimulationError> {
        let mut values = vec![];
        for name in &simulation.case.output.fields {
            let field = simulation.equation.output_field(&simulation.mesh, name)?;
            values.push((name.clone(), field));
        }
        let averages = simulation.averages()?.into_iter();
        values.extend(averages.map(|average| (average.name, average.data)));
        match simulation.case.output.format {
            OutputFormat::Vtu if !self.writes() => {}
            OutputFormat::Vtu => self.write_volume(simulation, values)?,
            OutputFormat::Pvtu => self.write_pieces(simulation, &values)?,
        }
        let number = self.series.len().saturating_sub(1);
        for (surface, samples) in sample_surfaces(simulation)? {
            if self.writes() {
                self.write_surface(simulation, number, &surface, &samples)?;
            }
        }
        self.written_at = Some(simulation.steps());
        Ok(())
    }

    /// Writes the next file of the series.
    fn write_volume(
        &mut self,
        simulation: &Simulation,
        values: Vec<(String, FieldData)>,
    ) -> Result<(), SimulationError> {
        let location = simulation.equation.location();
        let mesh = self.mesh.get_or_insert_with(|| FileMesh::new(&simulation.mesh, location));
        let values: Vec<(String, FieldData)> =
            values.into_iter().map(|(name, field)| (name, ordered(mesh, field))).collect();
        let FileMesh { raw, grid, .. } = mesh;
        let mut data = VtuData::new(&raw.points, &raw.cells);
        data.regions = &raw.regions;
        data.time = Some(simulation.time());
        let list: Vec<(&str, FieldValues)> =
            values.iter().map(|(n, v)| (n.as_str(), values_of(v))).collect();
        match location {
            Location::Cells => data.cell_fields = list,
            Location::Nodes => data.node_fields = list,
        }
        let file = file_of(self.series.len());
        let grid = grid.get_or_insert_with(|| CompressedGrid::new(&data));
        vtu::write_on(&self.directory.join(&file), grid, &data)?;
        self.extend_series(simulation.time(), file)
    }

    /// As [`Output::write_volume`], in pieces; all processes call it.
    fn write_pieces(
        &mut self,
        simulation: &Simulation,
        values: &[(String, FieldData)],
    ) -> Result<(), SimulationError> {
        let processes = simulation.backend.processes();
        let (ranks, mesh) = (simulation.case.run.ranks, &simulation.mesh);
        let pieces = self.pieces.get_or_insert_with(|| Piece::of_process(mesh, ranks, processes));
        let number = processes.of_first(&[self.series.len() as u32])?[0] as usize;
        pieces::write(pieces, (simulation, &self.directory), number, values)?;
        match self.writes() {
            true => self.extend_series(simulation.time(), file_of_pieces(number)),
            false => Ok(()),
        }
    }

    /// Adds a file to the series.
    fn extend_series(&mut self, time: f64, file: String) -> Result<(), SimulationError> {
        self.series.push(PvdEntry { time, file });
        Ok(pvd::write(&self.directory.join("fields.pvd"), &self.series)?)
    }

    /// Writes file `number` of a surface, and its series.
    fn write_surface(
        &self,
        simulation: &Simulation,
        number: usize,
        surface: &Surface,
        samples: &SurfaceSamples,
    ) -> Result<(), SimulationError> {
        let file = surface_file(&surface.name, number);
        let (mesh, time) = (&simulation.mesh, simulation.time());
        surface::write_vtu(&self.directory.join(&file), mesh, surface, samples, time)?;
        let series = self.series.iter().enumerate().map(|(number, entry)| PvdEntry {
            time: entry.time,
            file: surface_file(&surface.name, number),
        });
        // Fields of an earlier run may have been written without the surface.
        let exists = |entry: &PvdEntry| self.directory.join(&entry.file).is_file();
        let series: Vec<PvdEntry> = series.filter(exists).collect();
        Ok(pvd::write(&self.directory.join(format!("surface_{}.pvd", surface.name)), &series)?)
    }

    /// Writes the final output: fields, lines, the picture and the summary.
    pub(super) fn finish(
        &mut self,
        simulation: &mut Simulation,
        outcome: &Outcome,
        start: Instant,
    ) -> Result<(), SimulationError> {
        let marching = start.elapsed().as_secs_f64();
        if self.written_at != Some(simulation.steps()) {
            self.fields(simulation)?;
        }
        let output_start = Instant::now();
        self.lines(simulation)?;
        let mut surfaces = NamedList::new();
        for (surface, samples) in sample_surfaces(simulation)? {
            if self.writes() {
                let path = self.directory.join(format!("surface_{}.csv", surface.name));
                surface::write_csv(&path, simulation.mesh.dimension, &samples)?;
            }
            surfaces.set(surface.name, samples.summary(simulation.mesh.dimension));
        }
        let backend = simulation.backend.clone();
        backend.install(|| self.picture(simulation))?;
        if simulation.case.output.history_plot && self.writes() {
            let history = self.directory.join("history.csv");
            let unreadable = |error: ColumnsError| SimulationError::Write {
                path: self.directory.join("history.png"),
                reason: error.to_string(),
            };
            let columns = Columns::read(&history).map_err(unreadable)?;
            let path = self.directory.join("history.png");
            history_plot::write(&path, &simulation.case.title, &columns)?;
        }
        simulation.phases.add("output", output_start.elapsed().as_secs_f64());
        if self.keeps_summary {
            return Ok(());
        }
        let path = self.directory.join("summary.json");
        let mut summary = backend.install(|| self.summary(simulation, outcome, marching))?;
        summary.surface = surfaces;
        simulation.equation.summarize(&mut summary)?;
        if !self.writes() {
            return Ok(());
        }
        let failed = |e: std::io::Error| SimulationError::Write {
            path: path.clone(),
            reason: e.to_string(),
        };
        summary.write(&path).map_err(failed)
    }

    fn lines(&self, simulation: &mut Simulation) -> Result<(), SimulationError> {
        for k in 0..simulation.case.output.lines.len() {
            let columns = simulation.equation.line(k)?;
            let line = &simulation.case.output.lines[k];
            let (distances, points) = line_points(line.from, line.to, line.points);
            let path = self.directory.join(format!("line_{}.csv", line.name));
            if !self.writes() {
                continue;
            }
            write_line(&path, &LineSamples { distances, points, columns })?;
        }
        Ok(())
    }

    fn picture(&mut self, simulation: &mut Simulation) -> Result<(), SimulationError> {
        let Some(picture) = &simulation.case.output.picture else { return Ok(()) };
        let location = simulation.equation.location();
        let Some(field) = field_of_picture(simulation, &picture.field)? else { return Ok(()) };
        let is_velocity =
            matches!(field, FieldData::Vector(_)) && picture.field.starts_with("velocity");
        let velocity = match (picture.vectors, is_velocity) {
            (false, _) => None,
            (true, true) => Some(field.clone()),
            (true, false) => Some(simulation.equation.output_field(&simulation.mesh, "velocity")?),
        };
        if !self.writes() {
            return Ok(());
        }
        let mesh = self.mesh.get_or_insert_with(|| FileMesh::new(&simulation.mesh, location));
        let values = mesh.ordered(&field.into_scalar());
        let raw = &mesh.raw;
        let (slice, mut note) = match (raw.dimension, picture.slice) {
            (2, _) => (Slice::of_2d_mesh(&raw.points, &raw.cells), String::new()),
            (_, slice) => {
                let (axis, at) = slice.map_or_else(|| (Axis::Z, mid_z(raw)), |s| (s.axis, s.at));
                let note = format!("{} = {at}", axis.word());
                (Slice::of_3d_mesh(&raw.points, &raw.cells, axis as usize, at), note)
            }
        };
        if simulation.case.time.is_some() {
            let comma = if note.is_empty() { "" } else { ", " };
            note = format!("{note}{comma}t = {}", short_number(simulation.time()));
        }
        let field = match location {
            Location::Cells => PictureField::Cells(&values),
            Location::Nodes => PictureField::Nodes(&values),
        };
        let arrows = velocity.map(|velocity| vectors_in_plane(velocity, mesh, slice.axes));
        let of = PictureContent {
            title: &simulation.case.title,
            note: &note,
            range: picture.range,
            window: picture.window,
            arrows: arrows.as_deref(),
            ..PictureContent::of(&picture.field, field)
        };
        let path = self.directory.join(format!("{}.png", picture.field));
        Ok(picture::write(&path, &slice, &of)?)
    }

    fn summary(
        &self,
        simulation: &mut Simulation,
        outcome: &Outcome,
        marching: f64,
    ) -> Result<Summary, SimulationError> {
        let mesh = &simulation.mesh;
        let volumes = simulation.equation.volumes(mesh);
        let mut summary = Summary {
            case: simulation.case.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend: simulation.backend.kind().word().to_owned(),
            device: simulation.backend.device_name(),
            precision: simulation.case.run.precision.word().to_owned(),
            threads: simulation.backend.threads(),
            ranks: simulation.case.run.ranks,
            mesh: MeshSummary::of(mesh),
            time: simulation.time_summary(),
            linear: simulation.linear.clone(),
            adaptation: simulation.adaptation_summary(),
            phases: simulation.phases.clone(),
            throughput: ThroughputSummary {
                cell_steps_per_second: (mesh.n_cells() * (simulation.steps() - self.first_step))
                    as f64
                    / marching.max(1e-9),
                ..ThroughputSummary::default()
            },
            memory: MemorySummary {
                peak_host_bytes: peak_host_bytes(),
                peak_device_bytes: simulation.backend.device_bytes(),
            },
            probe: self.last_monitored.probes.clone(),
            patch: self.last_monitored.patches.clone(),
            warnings: simulation.warnings.clone(),
            outcome: outcome.kind.name().to_owned(),
            message: outcome.message.clone(),
            ..Summary::default()
        };
        let descriptor = simulation.equation.descriptor();
        let unknowns = simulation.equation.unknowns();
        let mut of_vectors = vec![];
        let means = simulation.equation.exact_means(mesh, &simulation.case.exact)?;
        let exact_values = |simulation: &Simulation, unknown: Unknown, volumes: &[f64]| {
            means.get(unknown.name).cloned().or_else(|| exact_values(simulation, unknown, volumes))
        };
        for field in descriptor.unknowns {
            let mut square = vec![0.0; volumes.len()];
            for name in field.components() {
                let Some(unknown) = unknowns.iter().find(|unknown| unknown.name == *name) else {
                    continue;
                };
                let values = simulation.field(name)?;
                summary.fields.set(*name, field_summary(&volumes, &values));
                let Some(exact) = exact_values(simulation, *unknown, &volumes) else { continue };
                summary.errors.set(*name, error_norms(&volumes, &values, &exact));
                let errors = values.iter().zip(&exact).map(|(v, e)| (v - e) * (v - e));
                square.iter_mut().zip(errors).for_each(|(sum, e)| *sum += e);
            }
            let has_error = summary.errors.get(field.components()[0]).is_some();
            if has_error && matches!(field.rank, Rank::Vector(_)) {
                let size: Vec<f64> = square.iter().map(|s| s.sqrt()).collect();
                of_vectors.push((field.name, error_norms(&volumes, &size, &vec![0.0; size.len()])));
            }
        }
        for AverageResult { components, data, .. } in simulation.averages()? {
            let values = match data {
                FieldData::Scalar(values) => vec![values],
                FieldData::Vector(values) => values.into(),
            };
            for (name, values) in components.into_iter().zip(values) {
                summary.fields.set(name, field_summary(&volumes, &values));
            }
        }
        let of_probes = simulation.equation.averages().at_probes();
        for (probe, averages) in simulation.case.output.probes.iter().zip(of_probes) {
            let mut values = summary.probe.get(&probe.name).cloned().unwrap_or_default();
            averages.into_iter().for_each(|(name, value)| values.set(name, value));
            summary.probe.set(probe.name.clone(), values);
        }
        for field in descriptor.derived {
            let derived = Unknown { name: field.name, has_mean_zero: false };
            let Some(exact) = exact_values(simulation, derived, &volumes) else { continue };
            let values = simulation.equation.output_field(mesh, field.name)?.into_scalar();
            summary.errors.set(field.name, error_norms(&volumes, &values, &exact));
        }
        of_vectors.into_iter().for_each(|(name, norms)| summary.errors.set(name, norms));
        Ok(summary)
    }
}

/// A field in the order of the mesh file.
fn ordered(mesh: &FileMesh, field: FieldData) -> FieldData {
    match field {
        FieldData::Scalar(field) => FieldData::Scalar(mesh.ordered(&field)),
        FieldData::Vector(components) => FieldData::Vector(components.map(|c| mesh.ordered(&c))),
    }
}

/// The field of the picture: one of the equation, or of an average; none of an average that has not begun.
fn field_of_picture(
    simulation: &Simulation,
    name: &str,
) -> Result<Option<FieldData>, SimulationError> {
    let mut averages = simulation.case.output.averages.iter();
    if !averages.any(|average| average.has_result(name)) {
        return Ok(Some(simulation.equation.output_field(&simulation.mesh, name)?));
    }
    let mut results = simulation.averages()?.into_iter();
    Ok(results.find(|result| result.name == name).map(|result| result.data))
}

fn surface_file(name: &str, number: usize) -> String {
    format!("surface_{name}_{number:04}.vtu")
}

/// The surfaces of the case with their fields at the current time.
fn sample_surfaces(
    simulation: &mut Simulation,
) -> Result<Vec<(Surface, SurfaceSamples)>, SimulationError> {
    let Simulation { case, backend, mesh, equation, .. } = simulation;
    let surfaces = &case.output.surfaces;
    if surfaces.is_empty() {
        return Ok(vec![]);
    }
    backend.install(|| {
        let geometry = Geometry::new(mesh)?;
        let sample = |surface: &Surface| {
            Ok((surface.clone(), equation.surface((mesh, &geometry), surface)?))
        };
        surfaces.iter().map(sample).collect()
    })
}

/// The exact solution of a field, if the case has one, with mean zero where the field has.
fn exact_values(simulation: &Simulation, field: Unknown, volumes: &[f64]) -> Option<Vec<f64>> {
    let exact = simulation.case.exact.iter().find(|exact| exact.field == field.name)?;
    let position = |i| simulation.equation.position_of(&simulation.mesh, i);
    let points: Vec<[f64; 3]> = (0..volumes.len()).map(position).collect();
    let component_major: Vec<f64> = (0..3).flat_map(|k| points.iter().map(move |p| p[k])).collect();
    let mut values = vec![0.0; volumes.len()];
    exact.value.evaluate_many(&component_major, simulation.time(), &mut values);
    if field.has_mean_zero {
        let mean = field_summary(volumes, &values).mean;
        values.iter_mut().for_each(|v| *v -= mean);
    }
    Some(values)
}

/// A vector field along two axes, in the order of the mesh file: `[n_cells]`.
fn vectors_in_plane(field: FieldData, mesh: &FileMesh, axes: [char; 2]) -> Vec<[f64; 2]> {
    let FieldData::Vector(components) = field else { return vec![] };
    let [u, v] = axes.map(|axis| {
        let component = &components["xyz".find(axis).unwrap_or(0)];
        mesh.ordered(component)
    });
    u.into_iter().zip(v).map(|(u, v)| [u, v]).collect()
}

/// The middle of the extent along z.
fn mid_z(raw: &RawMesh) -> f64 {
    let z = || raw.points.iter().map(|p| p[2]);
    0.5 * (z().fold(f64::MAX, f64::min) + z().fold(f64::MIN, f64::max))
}
