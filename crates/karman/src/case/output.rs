//! `[output]`: files of a run, their contents and times.

use super::average::{self, Average, AverageFile};
use super::error::Problem;
use super::names::Names;
use super::output_parts::{ends, field, points, unique_name};
use super::patch_group::{self, PatchGroup, PatchGroupFile};
use super::picture::{self, Picture, PictureFile};
use super::recirculation::{self, Recirculation, RecirculationFile};
use super::surface::{self, Surface, SurfaceFile};
use super::value::{Maybe, Sign, number, point, refuse, required};
use karman_macros::Keyword;
use serde::Deserialize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Files of a run, their contents and times.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputCase {
    /// The folder, resolved; default: beside the case file, named after it.
    pub directory: PathBuf,
    /// Interval between files of fields; default: at the end only.
    pub every: OutputInterval,
    /// The fields written; default: those solved for.
    pub fields: Vec<String>,
    /// Form of the files of fields; default `vtu`.
    pub format: OutputFormat,
    /// A picture of the last state.
    pub picture: Option<Picture>,
    /// Whether the history is drawn.
    pub history_plot: bool,
    /// Points with values in the history.
    pub probes: Vec<Probe>,
    /// Lines along which fields are sampled.
    pub lines: Vec<Line>,
    /// Groups of patches with integrals in the history.
    pub patches: Vec<PatchGroup>,
    /// Fields on patches.
    pub surfaces: Vec<Surface>,
    /// Averages over time.
    pub averages: Vec<Average>,
    /// Lines along which separation and reattachment are found; flow only.
    pub recirculations: Vec<Recirculation>,
}

/// Form of the files of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Keyword)]
pub enum OutputFormat {
    /// A file of the whole mesh, `fields_0000.vtu`.
    #[default]
    Vtu,
    /// A file `fields_0000.pvtu` that names a piece for each rank, `fields_0000_0.vtu` of the first; each process writes its own.
    Pvtu,
}

/// Interval between files of fields; the end is always written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutputInterval {
    /// At the end only.
    End,
    /// An interval of time.
    Time(f64),
    /// A number of steps.
    Steps(u64),
}

/// A point with values in the history and the summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Letters, digits, `_` and `-`; no other probe has it.
    pub name: String,
    /// Its coordinates.
    pub at: [f64; 3],
}

/// A line along which fields are sampled at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Letters, digits, `_` and `-`; no other line has it.
    pub name: String,
    /// First point.
    pub from: [f64; 3],
    /// Last point.
    pub to: [f64; 3],
    /// Number of points, ends included; default 101.
    pub points: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputFile {
    directory: Maybe<String>,
    every: Maybe<f64>,
    every_steps: Maybe<u64>,
    fields: Maybe<Vec<Spanned<String>>>,
    format: Option<OutputFormat>,
    picture: Maybe<PictureFile>,
    history_plot: Option<bool>,
    probe: Option<Vec<Spanned<ProbeFile>>>,
    line: Option<Vec<Spanned<LineFile>>>,
    pub(crate) patch: Option<Vec<Spanned<PatchGroupFile>>>,
    pub(crate) surface: Option<Vec<Spanned<SurfaceFile>>>,
    pub(crate) average: Option<Vec<Spanned<AverageFile>>>,
    recirculation: Maybe<Vec<Spanned<RecirculationFile>>>,
}

impl OutputFile {
    /// The fields of files, of averages and of the picture.
    pub(crate) fn requested_fields(&self) -> impl Iterator<Item = &Spanned<String>> {
        let averages =
            self.average.iter().flatten().filter_map(|file| file.get_ref().fields.as_ref());
        let fields = self.fields.iter().chain(averages).flat_map(Spanned::get_ref);
        fields.chain(self.picture.iter().filter_map(|file| file.get_ref().field.as_ref()))
    }

    /// The averages.
    pub(super) fn averages(&self) -> &[Spanned<AverageFile>] {
        self.average.as_deref().unwrap_or_default()
    }

    /// The surfaces.
    pub(super) fn surfaces(&self) -> &[Spanned<SurfaceFile>] {
        self.surface.as_deref().unwrap_or_default()
    }

    /// The groups of patches.
    pub(super) fn groups(&self) -> &[Spanned<PatchGroupFile>] {
        self.patch.as_deref().unwrap_or_default()
    }

    /// The place of the plane of the picture.
    pub(super) fn slice_of_picture(&self) -> Option<Range<usize>> {
        self.picture.as_ref()?.get_ref().slice.as_ref().map(Spanned::span)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProbeFile {
    name: Maybe<String>,
    at: Maybe<Vec<f64>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LineFile {
    name: Maybe<String>,
    from: Maybe<Vec<f64>>,
    to: Maybe<Vec<f64>>,
    points: Maybe<usize>,
}

pub(crate) fn check(
    file: Option<&Spanned<OutputFile>>,
    folder: &Path,
    name: &str,
    time: Option<&Range<usize>>,
    names: Names,
) -> Result<OutputCase, Problem> {
    let Some(file) = file else {
        return Ok(OutputCase {
            directory: folder.join(name),
            every: OutputInterval::End,
            fields: default_fields(names),
            format: OutputFormat::default(),
            picture: None,
            history_plot: false,
            probes: Vec::new(),
            lines: Vec::new(),
            patches: Vec::new(),
            surfaces: Vec::new(),
            averages: Vec::new(),
            recirculations: Vec::new(),
        });
    };
    let keys = file.get_ref();
    if let Some(why) = names.refusal(|equation| equation.has_summary_of("recirculation")) {
        refuse(&keys.recirculation, "recirculation", &why)?;
    }
    let recirculations = keys.recirculation.as_ref().map(|files| files.get_ref().as_slice());
    let averages = average::check(keys.averages(), time, names)?;
    let picture = keys.picture.as_ref().map(|file| picture::check(file, &averages, names));
    Ok(OutputCase {
        directory: match &keys.directory {
            None => folder.join(name),
            Some(directory) if directory.get_ref().is_empty() => {
                return Err(Problem::at(directory.span(), "`directory` is empty"));
            }
            Some(directory) => folder.join(directory.get_ref()),
        },
        every: interval(keys, time)?,
        fields: match &keys.fields {
            None => default_fields(names),
            Some(fields) => {
                let checked = fields.get_ref().iter().map(|name| field(name, names));
                checked.collect::<Result<_, _>>()?
            }
        },
        format: keys.format.unwrap_or_default(),
        picture: picture.transpose()?,
        history_plot: keys.history_plot.unwrap_or(false),
        probes: probes(keys.probe.as_deref().unwrap_or_default())?,
        lines: lines(keys.line.as_deref().unwrap_or_default())?,
        patches: patch_group::check(keys.groups(), names)?,
        surfaces: surface::check(keys.surfaces(), names)?,
        averages,
        recirculations: recirculation::check(recirculations.unwrap_or_default())?,
    })
}

fn default_fields(names: Names) -> Vec<String> {
    names.default_fields().into_iter().map(str::to_owned).collect()
}

fn interval(keys: &OutputFile, time: Option<&Range<usize>>) -> Result<OutputInterval, Problem> {
    match (&keys.every, &keys.every_steps) {
        (None, None) => Ok(OutputInterval::End),
        (Some(_), Some(steps)) => {
            let message = "`every` and `every_steps` exclude each other: keep one";
            Err(Problem::at(steps.span(), message))
        }
        (None, Some(steps)) => match steps.get_ref() {
            0 => Err(Problem::at(steps.span(), "`every_steps` must be 1 or more")),
            steps => Ok(OutputInterval::Steps(*steps)),
        },
        (Some(every), None) if time.is_none() => {
            let message = "`every` counts time and this case has no [time]";
            Err(Problem::at(every.span(), message).note("a steady case writes at its end"))
        }
        (Some(_), None) => {
            number(&keys.every, 0.0, "every", Sign::Positive).map(OutputInterval::Time)
        }
    }
}

fn probes(files: &[Spanned<ProbeFile>]) -> Result<Vec<Probe>, Problem> {
    let mut probes: Vec<Probe> = Vec::new();
    for file in files {
        let (keys, span) = (file.get_ref(), file.span());
        let used = probes.iter().map(|probe| probe.name.as_str());
        let name = unique_name(&keys.name, "probe", &span, used)?;
        probes.push(Probe { name, at: point(required(&keys.at, "at", &span)?, "at")? });
    }
    Ok(probes)
}

fn lines(files: &[Spanned<LineFile>]) -> Result<Vec<Line>, Problem> {
    let mut lines: Vec<Line> = Vec::new();
    for file in files {
        let (keys, span) = (file.get_ref(), file.span());
        let used = lines.iter().map(|line| line.name.as_str());
        let name = unique_name(&keys.name, "line", &span, used)?;
        let (from, to) = ends(&keys.from, &keys.to, &format!("line `{name}`"), &span)?;
        let points = points(&keys.points, 101)?;
        lines.push(Line { name, from, to, points });
    }
    Ok(lines)
}
