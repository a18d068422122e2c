//! A flow on several ranks with parts of the mesh: threads of this process, or processes of which this is one. They compute the bits of
//! one rank.
//!
//! Every process has what outputs read of the flow on the whole mesh: its conditions, data at the boundary, and room for fields, which the
//! ranks of all processes hand over.

use super::super::SimulationError;
use super::super::averages::Averages;
use super::super::rank_averages::{Averaging, RankAverages, Work};
use super::super::ranks::joined_arrays;
use super::averaged;
use crate::backend::group::{Team, run_ranks};
use crate::backend::{Backend, Buffer, HOST_CHUNK, Processes, RankGroup};
use crate::incompressible::limits::{CellLimits, CourantLimits};
use crate::incompressible::{
    DerivedBuffers, DerivedField, Entries, Field, IncompressibleError, IncompressibleSolver,
    PackedEntries, PartEntries, PartPlaces, Place, Problem, Progress, State, StepReport,
};
use crate::linear::SolverSetup;
use crate::mesh::partition::Ranges;
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The ranks of a flow.
pub(super) struct Ranks<F: Real> {
    processes: Processes,
    /// Those of this process.
    team: Arc<Team<Rank<F>>>,
    /// The places of each rank, of all processes, in the arrays of the whole mesh.
    places: Vec<Arc<PartPlaces>>,
}

/// A rank with its part.
struct Rank<F: Real> {
    backend: Backend,
    flow: IncompressibleSolver<F>,
    places: Arc<PartPlaces>,
    /// The entries of each selection that it hands over.
    packed: Vec<PackedEntries<F>>,
    averages: RankAverages<F>,
    /// For averages of derived fields.
    derived: DerivedBuffers<F>,
}

impl<F: Real> Averaging for Rank<F> {
    fn perform(&mut self, work: &Work) -> Result<Vec<f64>, SimulationError> {
        let Rank { backend, flow, averages, derived, .. } = self;
        if let Work::Begin(fields) = work
            && fields.iter().any(|field| DerivedField::from_word(&field.name).is_some())
        {
            *derived = flow.derived_buffers();
        }
        let source = &mut averaged::Fields { flow, derived };
        backend.install(|| averages.perform(work, backend, source))
    }
}

/// Entries that ranks hand over.
pub(super) struct Selection {
    number: usize,
    /// Those of each rank, of all processes.
    of_ranks: Vec<PartEntries>,
}

impl<F: Real> Rank<F> {
    /// The part of the flow `whole` that this rank computes, with its initial velocity projected.
    fn new(
        group: &Arc<dyn RankGroup>,
        backend: &Backend,
        (mesh, geometry, ranges): (&Mesh, &Geometry, &Ranges<'_>),
        (whole, problem): (&IncompressibleSolver<F>, &Problem),
    ) -> Result<Rank<F>, IncompressibleError> {
        let place = (mesh, geometry, ranges);
        let (mut flow, places) = whole.of_rank(backend, group, place, problem)?;
        flow.project()?;
        flow.keep_mean_velocity()?;
        Ok(Rank {
            backend: backend.clone(),
            packed: vec![],
            averages: RankAverages::new(ranges.cells(group.rank()), mesh.n_cells()),
            derived: DerivedBuffers::new(backend, 0, mesh.dimension),
            flow,
            places: Arc::new(places),
        })
    }
}

impl<F: Real> Ranks<F> {
    /// `count` ranks of the flow `whole`, one of [`IncompressibleSolver::of_ranks`]; they share the threads of `backend`, and compute on
    /// devices of its kind. They project the initial velocity and correct it to the prescribed mean.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a linear solver does not run on several ranks, or a rank fails.
    pub(super) fn new(
        count: usize,
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        (whole, problem): (&IncompressibleSolver<F>, &Problem),
    ) -> Result<Self, IncompressibleError> {
        let ranges = Ranges::new(mesh, count, HOST_CHUNK);
        let processes = backend.processes().clone();
        let groups = processes.groups(count);
        let threads = (backend.threads() / groups.len()).max(1);
        let ranks = run_ranks(&groups, |group| -> Result<Rank<F>, IncompressibleError> {
            let own = Backend::of_rank_on(backend.kind(), threads, group.clone())?;
            let place = (mesh, geometry, &ranges);
            own.install(|| Rank::new(group, &own, place, (whole, problem)))
        })?;
        let own = ranks.iter().map(|rank| &rank.places);
        let places = if processes.count() == 1 {
            own.cloned().collect()
        } else {
            let all = processes.lists_of_all(own.map(|places| places.to_numbers()).collect())?;
            all.iter().map(|numbers| Arc::new(PartPlaces::from_numbers(numbers))).collect()
        };
        let team = Arc::new(Team::new(groups.into_iter().zip(ranks).collect())?);
        Ok(Ranks { processes, team, places })
    }

    /// The results of `work` on each rank of this process, in the order of ranks.
    fn on_each<R: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank<F>) -> Result<R, IncompressibleError> + Send + Sync + 'static,
    ) -> Result<Vec<R>, IncompressibleError> {
        self.team.run(move |rank| {
            let backend = rank.backend.clone();
            backend.install(|| work(rank))
        })
    }

    /// Advances by a step.
    ///
    /// # Errors
    /// As [`IncompressibleSolver::step`].
    pub(super) fn step(&self, step: f64) -> Result<(StepReport, Progress), IncompressibleError> {
        let mut reports =
            self.on_each(move |rank| Ok((rank.flow.step(step)?, rank.flow.progress()?)))?;
        Ok(reports.swap_remove(0))
    }

    /// The set-up of the pressure solver.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn pressure_setup(&self) -> Result<Option<SolverSetup>, IncompressibleError> {
        Ok(self.on_each(|rank| Ok(rank.flow.pressure_setup().cloned()))?.swap_remove(0))
    }

    /// The progress of the ranks.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn progress(&self) -> Result<Progress, IncompressibleError> {
        Ok(self.on_each(|rank| rank.flow.progress())?.swap_remove(0))
    }

    /// The largest diffusive rate of all cells.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn diffusive_rate(&self) -> Result<f64, IncompressibleError> {
        Ok(self.on_each(|rank| Ok(rank.flow.diffusive_rate()))?.swap_remove(0))
    }

    /// Hands the fields over to the flow on the whole mesh.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn gather_fields(
        &self,
        whole: &mut IncompressibleSolver<F>,
    ) -> Result<(), IncompressibleError> {
        let places: Vec<Place> = whole.fields().into_iter().map(|of| of.place).collect();
        let values = self.on_each(|rank| {
            let mut values = vec![];
            for of in rank.flow.fields() {
                let array = rank.backend.read(of.array)?;
                rank.places.hand_over(of.place, &array, &mut values);
            }
            Ok(values)
        })?;
        let all = self.processes.lists_of_all(values)?;
        let mut rest: Vec<&[F]> = all.iter().map(Vec::as_slice).collect();
        let mut arrays = vec![];
        for (place, array) in places.into_iter().zip(whole.fields_mut()) {
            let Some(array) = array.as_host_mut() else { continue };
            let mut of_ranks = vec![];
            for (places, rest) in self.places.iter().zip(&mut rest) {
                let (own, after) = rest.split_at(places.value_count(place, array.len()));
                of_ranks.push(own);
                *rest = after;
            }
            arrays.push((place, array, of_ranks));
        }
        arrays.into_par_iter().for_each(|(place, array, mut of_ranks)| {
            self.take_over(place, &mut of_ranks, array);
        });
        Ok(())
    }

    /// Prepares the ranks to hand over some entries again and again.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn select(&self, entries: Entries) -> Result<Selection, IncompressibleError> {
        let of_ranks = self.places.iter().map(|places| places.entries(&entries)).collect();
        let numbers = self.on_each(move |rank| {
            let own = rank.places.entries(&entries);
            rank.packed.push(rank.flow.packed(&rank.places, &own));
            Ok(rank.packed.len() - 1)
        })?;
        Ok(Selection { number: numbers[0], of_ranks })
    }

    /// Hands the entries of a selection over to the flow on the whole mesh.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn gather(
        &self,
        selection: &Selection,
        whole: &mut IncompressibleSolver<F>,
    ) -> Result<(), IncompressibleError> {
        let number = selection.number;
        let values =
            self.on_each(move |rank| Ok(rank.flow.hand_over(&mut rank.packed[number])?))?;
        let all = self.processes.lists_of_all(values)?;
        let of_ranks = selection.of_ranks.iter().zip(all);
        of_ranks.for_each(|(entries, values)| whole.take_over(entries, &values));
        Ok(())
    }

    /// Leaves averages over time to the ranks.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn take_averages(&self, averages: &mut Averages<F>) -> Result<(), SimulationError> {
        averages.leave_to_ranks(&self.team, &self.processes)
    }

    /// The values of a field in all cells.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn values(&self, field: Field) -> Result<Vec<f64>, IncompressibleError> {
        let own = self.on_each(move |rank| rank.flow.values(field))?;
        Ok(self.processes.lists_of_all(own)?.concat())
    }

    /// The components of a field that each rank computes in its cells, with their number; none of other fields.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn local_field(
        &self,
        field: DerivedField,
    ) -> Result<Option<(usize, Vec<f64>)>, IncompressibleError> {
        let of_ranks = self.on_each(move |rank| rank.flow.local_field(field))?;
        let Some(of_ranks) = of_ranks.into_iter().collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let components = of_ranks[0].0;
        let own = of_ranks.into_iter().map(|(_, values)| values).collect();
        let all = self.processes.lists_of_all(own)?;
        Ok(Some((components, joined_arrays(&all, components))))
    }

    /// The mean pressure.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn mean_pressure(&self) -> Result<f64, IncompressibleError> {
        Ok(self.on_each(|rank| rank.flow.mean_pressure())?.swap_remove(0))
    }

    /// An upper bound of the speed, see [`IncompressibleSolver::speed_bound`].
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn speed_bound(&self) -> Result<f64, IncompressibleError> {
        Ok(self.on_each(|rank| rank.flow.speed_bound())?.swap_remove(0))
    }

    /// The least and the largest temperature.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn temperature_range(&self) -> Result<Option<(f64, f64)>, IncompressibleError> {
        Ok(self.on_each(|rank| rank.flow.temperature_range())?.swap_remove(0))
    }

    /// The cells beyond limits, see [`IncompressibleSolver::cell_limits`].
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn cell_limits(
        &self,
        limits: &Arc<CourantLimits>,
        step: f64,
    ) -> Result<CellLimits, IncompressibleError> {
        let limits = limits.clone();
        let found =
            self.on_each(move |rank| Ok(rank.flow.cell_limits(&limits, step)?.to_numbers()))?;
        let all = self.processes.lists_of_all(found)?;
        let parts = all.iter().map(|numbers| CellLimits::from_numbers(numbers));
        Ok(parts.fold(CellLimits::default(), CellLimits::joined))
    }

    /// Writes to an array of the whole mesh what the ranks have handed over of it.
    fn take_over(&self, place: Place, rest: &mut [&[F]], whole: &mut [F]) {
        for (places, values) in self.places.iter().zip(rest) {
            places.take_over(place, values, whole);
        }
    }

    /// Names, places and lengths of the arrays of a state on the whole mesh.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    fn stored(&self) -> Result<Vec<(String, Place, usize)>, IncompressibleError> {
        let of_ranks = self.on_each(|rank| {
            let of_array = |(name, place, array): (String, Place, &Buffer<F>)| {
                (name, place, rank.places.whole_length(place, array.len()))
            };
            Ok(rank.flow.stored().into_iter().map(of_array).collect())
        });
        Ok(of_ranks?.swap_remove(0))
    }

    /// The state on the whole mesh.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn state(&self) -> Result<State<F>, IncompressibleError> {
        let stored = self.stored()?;
        let places: Vec<Place> = stored.iter().map(|(_, place, _)| *place).collect();
        let of_ranks = self.on_each(move |rank| {
            let State { arrays, clock } = rank.flow.state()?;
            let mut values = vec![];
            for ((_, array), place) in arrays.iter().zip(&places) {
                rank.places.hand_over(*place, array, &mut values);
            }
            Ok((values, clock))
        })?;
        let clock = of_ranks[0].1;
        let values = of_ranks.into_iter().map(|(values, _)| values).collect();
        let all = self.processes.lists_of_all(values)?;
        let mut rest: Vec<&[F]> = all.iter().map(Vec::as_slice).collect();
        let gathered = stored.into_iter().map(|(name, place, length)| {
            let mut values = vec![F::from_f64(0.0); length];
            self.take_over(place, &mut rest, &mut values);
            (name, values)
        });
        Ok(State { arrays: gathered.collect(), clock })
    }

    /// Continues from a state of the flow on the whole mesh, of which `read` finds an array by name and length.
    ///
    /// # Errors
    /// As [`IncompressibleSolver::restore`].
    pub(super) fn restore(
        &self,
        mut read: impl FnMut(&str, usize) -> Vec<F>,
        clock: [f64; 3],
    ) -> Result<(), IncompressibleError> {
        let (mut places, mut arrays) = (BTreeMap::new(), BTreeMap::new());
        for (name, place, length) in self.stored()? {
            arrays.insert(name.clone(), read(&name, length));
            places.insert(name, place);
        }
        self.on_each(move |rank| {
            let of_part =
                |name: &str, length: usize| rank.places.read(places[name], &arrays[name], length);
            rank.flow.restore(of_part, clock)
        })?;
        Ok(())
    }

    /// Sets the force that keeps the mean velocity.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub(super) fn set_mean_force(&self, force: [f64; 3]) -> Result<(), IncompressibleError> {
        self.on_each(move |rank| {
            rank.flow.set_mean_force(force);
            Ok(())
        })?;
        Ok(())
    }
}
