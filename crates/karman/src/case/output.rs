//! `[output]`: files of a run, their contents and times.

use super::average::{self, Average, AverageFile};
use super::error::Problem;
use super::flow_output::{
    FlowReference, Recirculation, RecirculationFile, ReferenceFile, check_recirculations,
    check_reference,
};
use super::names::Names;
use super::picture::{self, Picture, PictureFile};
use super::surface::{self, Surface, SurfaceFile};
use super::value::{Maybe, Sign, number, point, refuse, required};
use crate::descriptor::Need;
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

/// Patches that are integrated together.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchGroup {
    /// Letters, digits, `_` and `-`; no other group has it.
    pub name: String,
    /// Names of patches of the mesh.
    pub patches: Vec<String>,
    /// Reference quantities; `Some` for a flow.
    pub flow: Option<FlowReference>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputFile {
    directory: Maybe<String>,
    every: Maybe<f64>,
    every_steps: Maybe<u64>,
    fields: Maybe<Vec<Spanned<String>>>,
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

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PatchGroupFile {
    name: Maybe<String>,
    pub(crate) patches: Maybe<Vec<Spanned<String>>>,
    pub(super) reference: Maybe<ReferenceFile>,
    pub(super) drag_direction: Maybe<Vec<f64>>,
    pub(super) lift_direction: Maybe<Vec<f64>>,
    pub(super) moment_centre: Maybe<Vec<f64>>,
}

impl PatchGroupFile {
    /// Its directions, each with its key.
    pub(super) fn directions(&self) -> impl Iterator<Item = (&'static str, &Spanned<Vec<f64>>)> {
        let drag = self.drag_direction.iter().map(|file| ("drag_direction", file));
        drag.chain(self.lift_direction.iter().map(|file| ("lift_direction", file)))
    }
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
    let averages = average::check(keys.average.as_deref().unwrap_or_default(), time, names)?;
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
        picture: picture.transpose()?,
        history_plot: keys.history_plot.unwrap_or(false),
        probes: probes(keys.probe.as_deref().unwrap_or_default())?,
        lines: lines(keys.line.as_deref().unwrap_or_default())?,
        patches: groups(keys.patch.as_deref().unwrap_or_default(), names)?,
        surfaces: surface::check(keys.surface.as_deref().unwrap_or_default(), names)?,
        averages,
        recirculations: check_recirculations(recirculations.unwrap_or_default())?,
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

/// A field of the equation.
pub(super) fn field(name: &Spanned<String>, names: Names) -> Result<String, Problem> {
    let text = name.get_ref();
    if names.fields().contains(&text.as_str()) {
        return Ok(text.clone());
    }
    let problem = Problem::at(name.span(), format!("{} has no field `{text}`", names.case()));
    let problem = problem.among(text, "valid fields", names.fields());
    Err(names.remedy(text).into_iter().fold(problem, Problem::note))
}

/// A name that is valid in a column heading and a file name, and unique among its kind.
pub(super) fn unique_name<'n>(
    file: &Maybe<String>,
    kind: &str,
    section: &Range<usize>,
    mut used: impl Iterator<Item = &'n str>,
) -> Result<String, Problem> {
    let name = required(file, "name", section)?;
    let text = plain_name(name, kind)?;
    if used.any(|other| other == text) {
        return Err(Problem::at(name.span(), format!("there are two {kind}s named `{text}`")));
    }
    Ok(text)
}

/// A name that is valid in a column heading and a file name.
pub(super) fn plain_name(name: &Spanned<String>, kind: &str) -> Result<String, Problem> {
    let text = name.get_ref();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if text.is_empty() || !text.chars().all(plain) {
        let article = if kind.starts_with('a') { "an" } else { "a" };
        let message =
            format!("the name of {article} {kind} is made of letters, digits, `_` and `-`");
        return Err(Problem::at(name.span(), message));
    }
    Ok(text.clone())
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

/// Two distinct points.
pub(super) fn ends(
    from: &Maybe<Vec<f64>>,
    to: &Maybe<Vec<f64>>,
    owner: &str,
    section: &Range<usize>,
) -> Result<([f64; 3], [f64; 3]), Problem> {
    let from = point(required(from, "from", section)?, "from")?;
    let to_file = required(to, "to", section)?;
    let to = point(to_file, "to")?;
    if from == to {
        return Err(Problem::at(to_file.span(), format!("{owner} ends where it starts")));
    }
    Ok((from, to))
}

pub(super) fn points(file: &Maybe<usize>, default: usize) -> Result<usize, Problem> {
    match file {
        None => Ok(default),
        Some(points) if *points.get_ref() >= 2 => Ok(*points.get_ref()),
        Some(points) => Err(Problem::at(points.span(), "`points` must be 2 or more")),
    }
}

/// Names of patches, at least one, each once.
pub(super) fn patch_names(
    file: &Maybe<Vec<Spanned<String>>>,
    section: &Range<usize>,
) -> Result<Vec<String>, Problem> {
    let files = required(file, "patches", section)?;
    if files.get_ref().is_empty() {
        return Err(Problem::at(files.span(), "`patches` names no patch"));
    }
    let mut patches: Vec<String> = Vec::new();
    for patch in files.get_ref() {
        if patches.contains(patch.get_ref()) {
            let message = format!("patch \"{}\" is named twice", patch.get_ref());
            return Err(Problem::at(patch.span(), message));
        }
        patches.push(patch.get_ref().clone());
    }
    Ok(patches)
}

fn groups(files: &[Spanned<PatchGroupFile>], names: Names) -> Result<Vec<PatchGroup>, Problem> {
    let no_coefficients = names.refusal(|equation| equation.has_quantity_with(Need::Reference));
    let no_moments = names.refusal(|equation| equation.has_quantity_with(Need::MomentCentre));
    let mut groups: Vec<PatchGroup> = Vec::new();
    for file in files {
        let (keys, span) = (file.get_ref(), file.span());
        if let Some(why) = &no_coefficients {
            refuse(&keys.reference, "reference", why)?;
            refuse(&keys.drag_direction, "drag_direction", why)?;
            refuse(&keys.lift_direction, "lift_direction", why)?;
        }
        if let Some(why) = &no_moments {
            refuse(&keys.moment_centre, "moment_centre", why)?;
        }
        let used = groups.iter().map(|group| group.name.as_str());
        let name = unique_name(&keys.name, "patch group", &span, used)?;
        let patches = patch_names(&keys.patches, &span)?;
        let flow = no_coefficients.is_none().then(|| check_reference(keys)).transpose()?;
        groups.push(PatchGroup { name, patches, flow });
    }
    Ok(groups)
}
