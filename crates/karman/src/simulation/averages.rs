//! Averages over time, `[[output.average]]`: their accumulation in a run, their names, their place in a checkpoint.
//!
//! Fields are accumulated on the backend after each step, the values of probes on the host.

use super::location::Location;
use super::partition::ArrayPlace;
use super::rank_averages::{AveragesOfRanks, Averaging, RankField, TeamAverages};
use super::sampled::Sampled;
use super::{SimulationError, state_error};
use crate::backend::group::Team;
use crate::backend::{Backend, Processes};
use crate::case::{Average, Case};
use crate::descriptor::FieldData;
use crate::finite_volume::TimeAverage;
use crate::io::checkpoint::{Checkpoint, CheckpointError, NamedArray};
use crate::io::csv::short_number;
use crate::real::Real;
use crate::summary::NamedList;
use std::sync::Arc;

/// A part of a time step that is round-off of the time.
const ROUND_OFF: f64 = 1e-9;

/// The samples of a field that an average takes.
pub(super) struct Sampling {
    /// The names of the components of the field.
    pub names: Vec<String>,
    /// Lengths of the sampled arrays: of the components themselves, or of the arrays of which they are linear functions.
    pub lengths: Vec<usize>,
    /// Whether the arrays are the components.
    pub is_direct: bool,
}

/// The components of a field that is a linear function of the sampled arrays, from their means.
pub(super) type Linear<'a> =
    &'a dyn Fn(&str, Vec<Vec<f64>>) -> Result<Vec<Vec<f64>>, SimulationError>;

/// The averages of a run.
pub(super) struct Averages<F: Real> {
    /// That of the fields.
    backend: Backend,
    fields: Vec<AveragedField<F>>,
    /// Of several ranks, which accumulate those that are not linear functions of other arrays.
    of_ranks: Option<Arc<dyn AveragesOfRanks>>,
    warnings_of_start: Vec<String>,
}

/// The averages of a run as output reads them.
pub(super) trait TimeAverages {
    /// The averages that have begun; `linear` gives fields that follow from means of other arrays.
    ///
    /// # Errors
    /// [`SimulationError`] where the device failed.
    fn results(&self, linear: Linear<'_>) -> Result<Vec<AverageResult>, SimulationError>;
    /// Names and values at each probe, in the order of the case.
    fn at_probes(&self) -> Vec<Vec<(String, f64)>>;
    /// Warnings of a start from a checkpoint or from another mesh.
    fn warnings_of_start(&self) -> &[String];
    /// Warnings at the end of a run, at time `end`.
    fn warnings_at_end(&self, end: f64) -> Vec<String>;
}

/// A result of an average, as the files of fields and the summary have it.
pub(super) struct AverageResult {
    /// Its name: `velocity_mean`.
    pub name: String,
    /// Names of its components: `velocity_mean_x`.
    pub components: Vec<String>,
    /// Its values.
    pub data: FieldData,
}

/// The average of one field.
struct AveragedField<F: Real> {
    average: Average,
    field: String,
    /// The names of the components.
    names: Vec<String>,
    /// Lengths of the sampled arrays.
    lengths: Vec<usize>,
    /// The averages of the sampled arrays; empty where ranks accumulate them.
    sums: Vec<TimeAverage<F>>,
    /// The number by which ranks know the field.
    on_ranks: Option<usize>,
    /// Whether these are the components.
    is_direct: bool,
    /// T, the sum of the weights.
    duration: f64,
    /// The weight of the steps since the probes were sampled.
    of_probes: f64,
    /// Mean and variance of each probe and component; empty for a derived field, which probes do not have.
    probes: Vec<Vec<[f64; 2]>>,
}

impl<F: Real> Averages<F> {
    /// The averages of a case; `unknowns` are the fields that probes have.
    pub(super) fn new(
        backend: &Backend,
        case: &Case,
        unknowns: &[&str],
        sampling: impl Fn(&str) -> Sampling,
    ) -> Self {
        let mut fields = vec![];
        for average in &case.output.averages {
            for field in &average.fields {
                let Sampling { names, lengths, is_direct } = sampling(field);
                let sum = |n: usize| TimeAverage::new(backend, n, average.rms);
                let has_probes = unknowns.contains(&names[0].as_str());
                let probes = if has_probes { case.output.probes.len() } else { 0 };
                fields.push(AveragedField {
                    average: average.clone(),
                    field: field.clone(),
                    probes: vec![vec![[0.0; 2]; names.len()]; probes],
                    names,
                    sums: lengths.iter().map(|n| sum(*n)).collect(),
                    lengths,
                    on_ranks: None,
                    is_direct,
                    duration: 0.0,
                    of_probes: 0.0,
                });
            }
        }
        Averages { backend: backend.clone(), fields, of_ranks: None, warnings_of_start: vec![] }
    }

    /// Leaves the fields that are no linear functions of other arrays to the ranks of `team`, which begin to accumulate them.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn leave_to_ranks<R: Averaging + Send + 'static>(
        &mut self,
        team: &Arc<Team<R>>,
        processes: &Processes,
    ) -> Result<(), SimulationError> {
        let mut left = vec![];
        for of in self.fields.iter_mut().filter(|of| of.is_direct) {
            of.on_ranks = Some(left.len());
            let components = std::mem::take(&mut of.sums).len();
            left.push(RankField { name: of.field.clone(), components, rms: of.average.rms });
        }
        if !left.is_empty() {
            let averages = TeamAverages::begin(team.clone(), processes.clone(), left)?;
            self.of_ranks = Some(Arc::new(averages));
        }
        Ok(())
    }

    /// Whether ranks accumulate all fields.
    pub(super) fn are_on_ranks(&self) -> bool {
        self.fields.iter().all(|of| of.on_ranks.is_some())
    }

    /// Adds the fields at the end of a step from one time to another, less their levels; `source` has those that ranks do not accumulate.
    ///
    /// # Errors
    /// [`SimulationError`] where the device failed.
    pub(super) fn add(
        &mut self,
        [before, after]: [f64; 2],
        level: impl Fn(&str) -> f64,
        mut source: Option<&mut impl Sampled<F>>,
    ) -> Result<(), SimulationError> {
        for of in &mut self.fields {
            let weight = after - before.max(of.average.start);
            if weight <= ROUND_OFF * (after - before) {
                continue;
            }
            of.duration += weight;
            of.of_probes += weight;
            let (level, fraction) = (level(&of.field), weight / of.duration);
            if let Some((ranks, field)) = self.of_ranks.as_ref().zip(of.on_ranks) {
                ranks.add(field, level, fraction)?;
            } else if let Some(source) = &mut source {
                for (average, q) in of.sums.iter_mut().zip(source.components(&of.field)?) {
                    average.add(&self.backend, q, level, fraction);
                }
            }
        }
        Ok(())
    }

    /// Whether the run has none.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Mean and variance of each sampled array of a field; the variance is empty where it is not accumulated.
    fn moments(&self, of: &AveragedField<F>) -> Result<Vec<[Vec<f64>; 2]>, SimulationError> {
        let Some((ranks, field)) = self.of_ranks.as_ref().zip(of.on_ranks) else {
            let read = of.sums.iter().map(|average| Ok(average.read(&self.backend)?));
            return read.collect();
        };
        let values = ranks.read(field)?;
        let mut rest = &values[..];
        let mut next = |n: usize| {
            let (array, after) = rest.split_at(n);
            rest = after;
            array.to_vec()
        };
        let moments = |n: &usize| [next(*n), next(if of.average.rms { *n } else { 0 })];
        Ok(of.lengths.iter().map(moments).collect())
    }

    /// Whether a field is averaged.
    pub(super) fn have(&self, field: &str) -> bool {
        self.fields.iter().any(|of| of.field == field)
    }

    /// Adds the values of the probes at the end of the last step.
    pub(super) fn add_probes(&mut self, probes: &NamedList<NamedList<f64>>) {
        for of in &mut self.fields {
            let fraction = of.of_probes / of.duration;
            if of.of_probes == 0.0 {
                continue;
            }
            of.of_probes = 0.0;
            for (sums, (_, values)) in of.probes.iter_mut().zip(probes.iter()) {
                for (name, [mean, variance]) in of.names.iter().zip(sums) {
                    let d = values.get(name).copied().unwrap_or(f64::NAN) - *mean;
                    *mean += fraction * d;
                    *variance = (1.0 - fraction) * (*variance + fraction * d * d);
                }
            }
        }
    }

    /// Takes the averages of another mesh: `transfer` gives the values of a field on the new mesh, from those on the old.
    ///
    /// # Errors
    /// [`SimulationError`] where the device failed.
    pub(super) fn go_on_after(
        &mut self,
        earlier: &Averages<F>,
        transfer: impl Fn(Vec<f64>) -> Vec<f64>,
    ) -> Result<(), SimulationError> {
        for (of, before) in self.fields.iter_mut().zip(&earlier.fields) {
            if !of.is_direct {
                if before.duration > 0.0 {
                    self.warnings_of_start.push(format!(
                        "the average of `{}` begins anew on the new mesh: it follows from the mean fluxes of a mesh",
                        of.field
                    ));
                }
                continue;
            }
            of.duration = before.duration;
            of.of_probes = before.of_probes;
            of.probes.clone_from(&before.probes);
            let mut values = vec![];
            for [mean, variance] in earlier.moments(before)? {
                values.extend(transfer(mean));
                if of.average.rms {
                    values.extend(transfer(variance).into_iter().map(|v| v.max(0.0)));
                }
            }
            of.set(&self.backend, self.of_ranks.as_deref(), &values)?;
        }
        Ok(())
    }

    /// The arrays of a checkpoint: `average.NAME.clock` (start and duration), `.fields` and `.probes` (mean and variance
    /// of the components) for each result `NAME`.
    ///
    /// # Errors
    /// [`CheckpointError`] where the device failed.
    pub(super) fn arrays(&self) -> Result<Vec<NamedArray>, CheckpointError> {
        let mut arrays = vec![];
        for of in &self.fields {
            let mut fields = vec![];
            for moments in self.moments(of).map_err(state_error)? {
                fields.extend(moments.concat());
            }
            let probes = of.probes.iter().flatten().flatten().copied().collect();
            arrays.push(NamedArray::reals(of.array("clock"), vec![of.average.start, of.duration]));
            arrays.push(NamedArray::reals(of.array("fields"), fields));
            arrays.push(NamedArray::reals(of.array("probes"), probes));
        }
        Ok(arrays)
    }

    /// The places of the arrays of fields of [`Averages::arrays`]: those of the unknowns, or of the fluxes of which the field is a linear
    /// function.
    pub(super) fn array_places(&self, location: Location) -> Vec<(String, ArrayPlace)> {
        let place = |of: &AveragedField<F>| match of.is_direct {
            true => (of.array("fields"), ArrayPlace::Unknowns(location)),
            false => (of.array("fields"), ArrayPlace::Fluxes),
        };
        self.fields.iter().map(place).collect()
    }

    /// Goes on with the averages of a checkpoint. One that it does not have, or that has another start, begins anew.
    ///
    /// # Errors
    /// [`CheckpointError`] where an array has another shape.
    pub(super) fn restore(
        &mut self,
        checkpoint: &Checkpoint,
        time: f64,
    ) -> Result<(), CheckpointError> {
        for of in &mut self.fields {
            let clock = of.array("clock");
            let saved = match checkpoint.has_array(&clock) {
                true => Some(checkpoint.reals(&clock, &[2])?),
                false => None,
            };
            let Some([_, duration]) = saved.filter(|saved| saved[0] == of.average.start) else {
                if time > of.average.start {
                    self.warnings_of_start.push(format!(
                        "the checkpoint has no average of `{}` from t = {}: it begins at t = {}",
                        of.field,
                        short_number(of.average.start),
                        short_number(time)
                    ));
                }
                continue;
            };
            of.duration = *duration;
            let n = of.lengths.iter().sum::<usize>() * (1 + usize::from(of.average.rms));
            let fields = checkpoint.reals(&of.array("fields"), &[n])?;
            of.set(&self.backend, self.of_ranks.as_deref(), fields).map_err(state_error)?;
            let count = 2 * of.probes.iter().map(Vec::len).sum::<usize>();
            let probes = checkpoint.reals(&of.array("probes"), &[count])?;
            let pairs = of.probes.iter_mut().flatten().zip(probes.chunks_exact(2));
            pairs.for_each(|(moments, saved)| moments.copy_from_slice(saved));
        }
        Ok(())
    }
}

impl<F: Real> TimeAverages for Averages<F> {
    fn results(&self, linear: Linear<'_>) -> Result<Vec<AverageResult>, SimulationError> {
        let mut results = vec![];
        for of in self.fields.iter().filter(|of| of.duration > 0.0) {
            let mut read = self.moments(of)?;
            if !of.is_direct {
                let means = read.into_iter().map(|[mean, _]| mean).collect();
                let of_field = linear(&of.field, means)?;
                read = of_field.into_iter().map(|mean| [mean, vec![]]).collect();
            }
            for (k, statistic) in of.average.statistics().iter().enumerate() {
                let values = read.iter().map(|moments| match k {
                    0 => moments[0].clone(),
                    _ => moments[1].iter().map(|variance| variance.sqrt()).collect(),
                });
                results.push(AverageResult {
                    name: of.average.name_of(&of.field, statistic),
                    components: of.component_names(statistic),
                    data: field_data(values.collect()),
                });
            }
        }
        Ok(results)
    }

    fn at_probes(&self) -> Vec<Vec<(String, f64)>> {
        let probes = self.fields.iter().map(|of| of.probes.len()).max().unwrap_or(0);
        let mut results = vec![vec![]; probes];
        for of in self.fields.iter().filter(|of| of.duration > 0.0) {
            for (moments, result) in of.probes.iter().zip(&mut results) {
                for (k, statistic) in of.average.statistics().iter().enumerate() {
                    let values = moments.iter().map(|m| if k == 0 { m[0] } else { m[1].sqrt() });
                    result.extend(of.component_names(statistic).into_iter().zip(values));
                }
            }
        }
        results
    }

    fn warnings_of_start(&self) -> &[String] {
        &self.warnings_of_start
    }

    fn warnings_at_end(&self, end: f64) -> Vec<String> {
        let waiting = self.fields.iter().filter(|of| of.duration == 0.0);
        let warning = |of: &AveragedField<F>| {
            format!(
                "there is no average of `{}`: it starts at t = {}, and the run ended at t = {}",
                of.field,
                short_number(of.average.start),
                short_number(end)
            )
        };
        waiting.map(warning).collect()
    }
}

impl<F: Real> AveragedField<F> {
    /// Replaces the mean of each sampled array, followed by its variance if there is one.
    fn set(
        &mut self,
        backend: &Backend,
        ranks: Option<&dyn AveragesOfRanks>,
        values: &[f64],
    ) -> Result<(), SimulationError> {
        if let Some((ranks, field)) = ranks.zip(self.on_ranks) {
            return ranks.set(field, values.to_vec());
        }
        let mut rest = values;
        for average in &mut self.sums {
            let (own, after) = rest.split_at(average.value_count());
            average.set(backend, own);
            rest = after;
        }
        Ok(())
    }

    /// The names of the components of a result.
    fn component_names(&self, statistic: &str) -> Vec<String> {
        let name = self.average.name_of(&self.field, statistic);
        let suffix =
            |component: &String| component.strip_prefix(&self.field).unwrap_or("").to_owned();
        self.names.iter().map(|component| name.clone() + &suffix(component)).collect()
    }

    fn array(&self, what: &str) -> String {
        format!("average.{}.{what}", self.average.name_of(&self.field, "mean"))
    }
}

/// One, two or three components as a field.
fn field_data(mut components: Vec<Vec<f64>>) -> FieldData {
    if components.len() == 1 {
        return FieldData::Scalar(components.remove(0));
    }
    let n = components[0].len();
    components.resize(3, vec![0.0; n]);
    FieldData::Vector([0, 1, 2].map(|k| std::mem::take(&mut components[k])))
}
