//! Averages over time of the fields of several ranks: each accumulates its own unknowns, and hands them over for output and
//! checkpoints alone.

use super::SimulationError;
use super::ranks::joined_arrays;
use super::sampled::Sampled;
use crate::backend::group::Team;
use crate::backend::{Backend, BackendError, Processes};
use crate::finite_volume::TimeAverage;
use crate::real::Real;
use std::ops::Range;
use std::sync::Arc;

/// A field of which ranks accumulate averages.
pub(super) struct RankField {
    /// Its name.
    pub name: String,
    /// Number of its components.
    pub components: usize,
    /// Whether its variances are accumulated too.
    pub rms: bool,
}

impl RankField {
    /// Number of arrays: the mean of each component, followed by its variance if there is one.
    fn arrays(&self) -> usize {
        self.components * (1 + usize::from(self.rms))
    }
}

/// A task of the ranks. Fields have the numbers of [`Work::Begin`].
pub(super) enum Work {
    /// Begin to accumulate these fields.
    Begin(Vec<RankField>),
    /// Add the fields of the current level, less a level, with a weight over the sum of all weights.
    Add { field: usize, level: f64, fraction: f64 },
    /// Hand over.
    Read { field: usize },
    /// Replace by these values of all unknowns.
    Set { field: usize, values: Vec<f64> },
}

/// The averages of one rank.
pub(super) struct RankAverages<F: Real> {
    /// Its unknowns, and the number of all.
    own: Range<usize>,
    unknowns: usize,
    fields: Vec<(String, Vec<TimeAverage<F>>)>,
}

impl<F: Real> RankAverages<F> {
    /// Of a rank with the unknowns `own` of `unknowns`.
    pub(super) fn new(own: Range<usize>, unknowns: usize) -> Self {
        RankAverages { own, unknowns, fields: vec![] }
    }

    /// Does a piece of work; the values of [`Work::Read`]: of each component the mean in own unknowns and the variance.
    ///
    /// # Errors
    /// [`SimulationError`] where the device failed.
    pub(super) fn perform(
        &mut self,
        work: &Work,
        backend: &Backend,
        source: &mut impl Sampled<F>,
    ) -> Result<Vec<f64>, SimulationError> {
        let n = self.own.len();
        match work {
            Work::Begin(fields) => {
                let averages = |field: &RankField| {
                    let average = |_| TimeAverage::new(backend, n, field.rms);
                    (field.name.clone(), (0..field.components).map(average).collect())
                };
                self.fields = fields.iter().map(averages).collect();
            }
            Work::Add { field, level, fraction } => {
                let (name, averages) = &mut self.fields[*field];
                for (average, q) in averages.iter_mut().zip(source.components(name)?) {
                    average.add(backend, q, *level, *fraction);
                }
            }
            Work::Read { field } => {
                let (_, averages) = &self.fields[*field];
                let read = averages.iter().map(|average| Ok(average.read(backend)?.concat()));
                return Ok(read.collect::<Result<Vec<_>, BackendError>>()?.concat());
            }
            Work::Set { field, values } => {
                let (_, averages) = &mut self.fields[*field];
                let mut arrays = values.chunks(self.unknowns);
                for average in averages {
                    let own: Vec<f64> = arrays
                        .by_ref()
                        .take(average.value_count() / n)
                        .flat_map(|array| array[self.own.clone()].iter().copied())
                        .collect();
                    average.set(backend, &own);
                }
            }
        }
        Ok(vec![])
    }
}

/// A rank that accumulates averages.
pub(super) trait Averaging {
    /// See [`RankAverages::perform`].
    fn perform(&mut self, work: &Work) -> Result<Vec<f64>, SimulationError>;
}

/// The averages of all ranks.
pub(super) trait AveragesOfRanks: Send + Sync {
    /// Adds a field of the current level.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    fn add(&self, field: usize, level: f64, fraction: f64) -> Result<(), SimulationError>;
    /// The mean of each component of a field in all unknowns, followed by its variance if there is one.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    fn read(&self, field: usize) -> Result<Vec<f64>, SimulationError>;
    /// Replaces what [`AveragesOfRanks::read`] returns.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    fn set(&self, field: usize, values: Vec<f64>) -> Result<(), SimulationError>;
}

/// The averages that the ranks of a team accumulate.
pub(super) struct TeamAverages<R> {
    /// The ranks of this process.
    team: Arc<Team<R>>,
    processes: Processes,
    /// Number of arrays of each field.
    arrays: Vec<usize>,
}

impl<R: Averaging + Send + 'static> TeamAverages<R> {
    /// Begins to accumulate fields.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn begin(
        team: Arc<Team<R>>,
        processes: Processes,
        fields: Vec<RankField>,
    ) -> Result<Self, SimulationError> {
        let arrays = fields.iter().map(RankField::arrays).collect();
        let averages = TeamAverages { team, processes, arrays };
        averages.perform(Work::Begin(fields))?;
        Ok(averages)
    }

    /// Has the ranks of this process work.
    fn perform(&self, work: Work) -> Result<Vec<Vec<f64>>, SimulationError> {
        self.team.run(move |rank| rank.perform(&work))
    }
}

impl<R: Averaging + Send + 'static> AveragesOfRanks for TeamAverages<R> {
    fn add(&self, field: usize, level: f64, fraction: f64) -> Result<(), SimulationError> {
        self.perform(Work::Add { field, level, fraction }).map(drop)
    }

    fn read(&self, field: usize) -> Result<Vec<f64>, SimulationError> {
        let of_ranks = self.processes.lists_of_all(self.perform(Work::Read { field })?)?;
        Ok(joined_arrays(&of_ranks, self.arrays[field]))
    }

    fn set(&self, field: usize, values: Vec<f64>) -> Result<(), SimulationError> {
        self.perform(Work::Set { field, values }).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Buffer;

    /// Two components that grow by one from sample to sample.
    struct Growing(Vec<Buffer<f64>>);

    impl Sampled<f64> for Growing {
        fn components(&mut self, field: &str) -> Result<Vec<&Buffer<f64>>, SimulationError> {
            assert_eq!(field, "velocity");
            Ok(self.0.iter().collect())
        }
    }

    #[test]
    fn ranks_hand_over_means_and_variances_of_their_unknowns() {
        let backend = Backend::host(1).unwrap();
        let mut averages = RankAverages::new(2..5, 6);
        let field = |rms| RankField { name: "velocity".into(), components: 2, rms };
        let mut source = Growing(vec![]);
        averages.perform(&Work::Begin(vec![field(true)]), &backend, &mut source).unwrap();
        for (k, fraction) in [1.0, 0.5].into_iter().enumerate() {
            let component = |first: f64| {
                // With a ghost behind.
                let values = [first, first + 10.0, first + 20.0, f64::NAN];
                backend.upload(values.map(|v| v + k as f64).to_vec())
            };
            source.0 = vec![component(1.0), component(-1.0)];
            let add = Work::Add { field: 0, level: 1.0, fraction };
            averages.perform(&add, &backend, &mut source).unwrap();
        }
        let read = averages.perform(&Work::Read { field: 0 }, &backend, &mut source).unwrap();
        let quarter = [0.25; 3];
        assert_eq!(read, [[0.5, 10.5, 20.5], quarter, [-1.5, 8.5, 18.5], quarter].concat());

        let values: Vec<f64> = (0..24).map(f64::from).collect();
        let set = Work::Set { field: 0, values };
        averages.perform(&set, &backend, &mut source).unwrap();
        let read = averages.perform(&Work::Read { field: 0 }, &backend, &mut source).unwrap();
        assert_eq!(read, [2, 3, 4, 8, 9, 10, 14, 15, 16, 20, 21, 22].map(f64::from));
        assert_eq!(
            joined_arrays(&[vec![0.0, 1.0, 3.0, 4.0], read[..2].to_vec()], 2),
            [0.0, 1.0, 2.0, 3.0, 4.0, 3.0]
        );
    }
}
