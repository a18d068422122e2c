//! The computation of the temperature by several ranks with parts of the mesh: threads of this process, or processes of which this is
//! one.
//!
//! Monitors, output and checkpoints use the temperature of the whole mesh, which the ranks hand over when it is needed, to every process.
//! A rank computes with the bits that one rank with all cells has: see [`DiffusionPart`] and [`Partials`](crate::backend::Partials).

use super::super::SimulationError;
use super::super::averages::Averages;
use super::super::rank_averages::{Averaging, RankAverages, Work};
use super::super::sampled::Sampled;
use super::computation::{Computation, HeatState, MarchState, OneRank, Settings};
use crate::backend::group::{Team, gather_lists, run_ranks};
use crate::backend::{Backend, Buffer, HOST_CHUNK, Halo, RankGroup};
use crate::finite_volume::{Condition, DiffusionPart, Functionals, Material, check_finite};
use crate::heat::node_centred::NodeRows;
use crate::heat::{Discretization, Heat, HeatError, HeatScheme, Problem, Source, WholeHeat};
use crate::linear::{SolveOutcome, SolverSetup, StopTest};
use crate::mesh::partition::{Ranges, node_starts};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Convergence checks of a steady solve after which the ranks agree whether to stop.
const CHECKS: usize = 16;

/// The ranks with the whole mesh's data for functionals.
pub(super) struct Ranks<F: Real> {
    backend: Backend,
    team: Arc<Team<Rank<F>>>,
    /// First unknown of each rank, then the number of unknowns.
    starts: Vec<usize>,
    whole: WholeHeat<F>,
    /// Whether the temperature of `whole` is that of the ranks.
    is_current: bool,
    clock: (f64, usize),
    setup: Option<SolverSetup>,
    setups: u64,
}

/// A rank with its part.
struct Rank<F: Real> {
    number: usize,
    backend: Backend,
    group: Arc<dyn RankGroup>,
    part: OneRank<F>,
    averages: RankAverages<F>,
}

/// The temperature of a rank, for averages.
struct Temperature<'a, F: Real>(&'a OneRank<F>);

impl<F: Real> Sampled<F> for Temperature<'_, F> {
    fn components(&mut self, _field: &str) -> Result<Vec<&Buffer<F>>, SimulationError> {
        Ok(vec![self.0.buffer()])
    }
}

impl<F: Real> Averaging for Rank<F> {
    fn perform(&mut self, work: &Work) -> Result<Vec<f64>, SimulationError> {
        let Rank { backend, part, averages, .. } = self;
        backend.install(|| averages.perform(work, backend, &mut Temperature(part)))
    }
}

/// The report of a step of a rank.
struct Report {
    outcome: SolveOutcome,
    rate: f64,
    clock: (f64, usize),
    setup: Option<SolverSetup>,
    setups: u64,
}

/// A cell-centred problem on the whole mesh, from which each rank takes its part.
struct Cells<'a> {
    place: (&'a Mesh, &'a Geometry),
    scheme: &'a HeatScheme,
    material: &'a Material,
    sources: &'a [Source],
    conditions: &'a [Condition],
    settings: &'a Settings,
}

impl<F: Real> Ranks<F> {
    /// A problem on `count` ranks. Those of this process share the threads of `backend`.
    ///
    /// # Errors
    /// [`HeatError`] where the problem is invalid, or a rank fails.
    pub(super) fn new(
        count: usize,
        backend: &Backend,
        place: (&Mesh, &Geometry),
        problem: Problem,
        settings: &Settings,
    ) -> Result<Self, HeatError> {
        let (team, starts, whole) = match problem.discretization {
            Discretization::Cell { .. } => Self::of_cells(count, backend, place, problem, settings),
            Discretization::Node => Self::of_nodes(count, backend, place, problem, settings),
        }?;
        Ok(Ranks {
            backend: backend.clone(),
            team: Arc::new(team),
            starts,
            whole,
            is_current: true,
            clock: (0.0, 0),
            setup: None,
            setups: 0,
        })
    }

    /// The ranks of this process, the first unknown of each rank, and the temperature of a cell-centred problem.
    fn of_cells(
        count: usize,
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        problem: Problem,
        settings: &Settings,
    ) -> Result<Parts<F>, HeatError> {
        let Problem { discretization, material, sources, conditions, initial } = problem;
        let corrected = discretization == Discretization::Cell { corrected: true };
        let mut temperature = vec![0.0; mesh.n_cells()];
        initial.sample(&geometry.cell_centre, 0.0, &mut temperature);
        check_finite("the initial temperature", &temperature, 0.0)?;
        let temperature: Vec<F> = temperature.into_iter().map(F::from_f64).collect();
        let of_cells = (&material, &conditions[..], corrected);
        let whole = WholeHeat::of_cells(backend, (mesh, geometry), of_cells, temperature.clone())?;
        let ranges = Ranges::new(mesh, count, HOST_CHUNK);
        let cells = Cells {
            place: (mesh, geometry),
            scheme: whole.scheme(),
            material: &material,
            sources: &sources,
            conditions: &conditions,
            settings,
        };
        let team = team((count, backend), &ranges.starts, |group, own| {
            cells.part(group, own, &ranges, &temperature[ranges.cells(group.rank())])
        })?;
        Ok((team, ranges.starts, whole))
    }

    /// As [`Ranks::of_cells`], of a node-centred problem.
    fn of_nodes(
        count: usize,
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        problem: Problem,
        settings: &Settings,
    ) -> Result<Parts<F>, HeatError> {
        let around = &mesh.node_to_cells();
        let heat_of = |backend: &Backend, rows: Range<usize>| {
            let rows = NodeRows { around, rows };
            Heat::of_rows(backend, (mesh, geometry), problem.clone(), &rows)
        };
        // Functionals need no equations.
        let whole = heat_of(backend, 0..0)?;
        let starts = node_starts(mesh, count, HOST_CHUNK);
        let team = team((count, backend), &starts, |group, own| {
            // The threads of the process wait for the ranks.
            let host = Backend::host(own.threads())?;
            let heat = heat_of(&host, starts[group.rank()]..starts[group.rank() + 1])?;
            Ok(OneRank::of(heat.of_nodes(own, group, &starts)?, settings))
        })?;
        Ok((team, starts, WholeHeat::of(whole)))
    }

    /// The results of `work` on each rank of this process, in the order of ranks.
    fn on_each<R: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank<F>) -> Result<R, HeatError> + Send + Sync + 'static,
    ) -> Result<Vec<R>, HeatError> {
        self.team.run(move |rank| {
            let backend = rank.backend.clone();
            backend.install(|| work(rank))
        })
    }

    /// The result of `work`, which is equal on all ranks, on the first rank of this process; all ranks take part.
    fn on_first<R: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank<F>) -> Result<R, HeatError> + Send + Sync + 'static,
    ) -> Result<R, HeatError> {
        Ok(self.on_each(work)?.swap_remove(0))
    }

    /// Lists of the unknowns of each rank of this process as a list of all unknowns.
    fn joined(&self, lists: Vec<Vec<F>>) -> Result<Vec<F>, HeatError> {
        Ok(self.backend.processes().joined(lists)?)
    }
}

/// The ranks of this process, the first unknown of each rank, and the temperature on the whole mesh.
type Parts<F> = (Team<Rank<F>>, Vec<usize>, WholeHeat<F>);

/// The ranks of this process, of `count` in all, with what `part` gives each on its backend; `starts` has the first unknown of each.
fn team<F: Real>(
    (count, backend): (usize, &Backend),
    starts: &[usize],
    part: impl Fn(&Arc<dyn RankGroup>, &Backend) -> Result<OneRank<F>, HeatError> + Sync,
) -> Result<Team<Rank<F>>, HeatError> {
    let groups = backend.processes().groups(count);
    let threads = (backend.threads() / groups.len()).max(1);
    let ranks = run_ranks(&groups, |group| -> Result<Rank<F>, HeatError> {
        let own = Backend::of_rank_on(backend.kind(), threads, group.clone())?;
        let part = own.install(|| part(group, &own))?;
        let number = group.rank();
        let averages = RankAverages::new(starts[number]..starts[number + 1], starts[count]);
        Ok(Rank { number, backend: own, group: group.clone(), part, averages })
    })?;
    Ok(Team::new(groups.into_iter().zip(ranks).collect())?)
}

impl Cells<'_> {
    /// The part of a rank with the temperature of its cells.
    fn part<F: Real>(
        &self,
        group: &Arc<dyn RankGroup>,
        backend: &Backend,
        ranges: &Ranges<'_>,
        temperature: &[F],
    ) -> Result<OneRank<F>, HeatError> {
        let (mesh, geometry) = self.place;
        let Some(scheme) = self.scheme.of_faces(mesh, geometry) else {
            unreachable!("a cell-centred problem")
        };
        let part = DiffusionPart::new(&scheme, ranges, group.rank());
        let halo = Halo::new(group.clone(), &ranges.starts, part.ghosts().to_vec())?.on(backend)?;
        let Material { conductivity, volumetric_heat_capacity } = self.material;
        let problem = Problem {
            discretization: Discretization::Cell { corrected: scheme.is_corrected() },
            material: Material {
                conductivity: part.restricted(conductivity),
                volumetric_heat_capacity: part.restricted(volumetric_heat_capacity),
            },
            sources: self.sources.to_vec(),
            conditions: self.conditions.to_vec(),
            // Replaced by the values of the whole mesh.
            initial: Arc::new(0.0),
        };
        let heat = Heat::of_part(backend, part, Arc::new(halo), problem)?;
        let mut part = OneRank::of(heat, self.settings);
        part.set_temperature(temperature);
        Ok(part)
    }
}

impl<F: Real> Rank<F> {
    /// Its unknowns of a list of all unknowns.
    fn own<'a>(&self, all: &'a [F], starts: &[usize]) -> &'a [F] {
        &all[starts[self.number]..starts[self.number + 1]]
    }
}

/// A stop test with one answer on all ranks: whether any is to stop, asked at every [`CHECKS`]th call.
fn agreed(group: Arc<dyn RankGroup>, should_stop: StopTest) -> StopTest {
    let (calls, has_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    Arc::new(move || {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        if !has_stopped.load(Ordering::Relaxed) && call.is_multiple_of(CHECKS) {
            let own = u32::from(should_stop());
            // A failure ends the solve; the next read reports it.
            let answer =
                gather_lists(&*group, &[own]).map_or(true, |(answers, _)| answers.contains(&1));
            has_stopped.store(answer, Ordering::Relaxed);
        }
        has_stopped.load(Ordering::Relaxed)
    })
}

impl<F: Real> Computation<F> for Ranks<F> {
    fn scheme(&self) -> &HeatScheme {
        self.whole.scheme()
    }

    fn stop_when(&mut self, should_stop: StopTest) {
        let given = self.on_each(move |rank| {
            rank.part.stop_when(agreed(rank.group.clone(), should_stop.clone()));
            Ok(())
        });
        // A failure of a rank shows at the next step.
        drop(given);
    }

    fn clock(&self) -> (f64, usize) {
        self.clock
    }

    fn set_clock(&mut self, time: f64, steps: usize) -> Result<(), HeatError> {
        self.on_each(move |rank| rank.part.set_clock(time, steps))?;
        self.clock = (time, steps);
        self.whole.set_time(time)
    }

    fn advance(&mut self, step: Option<f64>) -> Result<(SolveOutcome, f64), HeatError> {
        self.is_current = false;
        let report = self.on_first(move |rank| {
            let (outcome, rate) = rank.part.advance(step)?;
            let (setup, setups) = (rank.part.solver_setup().cloned(), rank.part.solver_setups());
            Ok(Report { outcome, rate, clock: rank.part.clock(), setup, setups })
        })?;
        (self.clock, self.setup, self.setups) = (report.clock, report.setup, report.setups);
        let (time, _) = self.clock;
        self.whole.set_time(time)?;
        Ok((report.outcome, report.rate))
    }

    fn unknowns(&self) -> usize {
        self.whole.temperature().len()
    }

    fn temperature(&self) -> Result<Vec<F>, HeatError> {
        match self.is_current {
            true => Ok(self.backend.read(self.whole.temperature())?),
            false => self.joined(self.on_each(|rank| rank.part.temperature())?),
        }
    }

    fn on_backend(&mut self) -> Result<&Buffer<F>, HeatError> {
        if !self.is_current {
            let values = self.temperature()?;
            self.whole.set_temperature(&values);
            if self.whole.has_dirichlet_nodes() {
                let rate = self.joined(self.on_each(|rank| rank.part.dirichlet_rate())?)?;
                self.whole.set_dirichlet_rate(&rate);
            }
            self.is_current = true;
        }
        Ok(self.whole.temperature())
    }

    fn evaluate<'a>(
        &mut self,
        functionals: &'a mut Functionals<F>,
    ) -> Result<&'a Buffer<F>, HeatError> {
        if self.is_current || functionals.need_load() {
            self.on_backend()?;
            return self.whole.evaluate(functionals);
        }
        let unknowns = functionals.involved(&self.backend)?;
        let starts = self.starts.clone();
        let of_ranks = self.on_each(move |rank| {
            let [start, end] = [0, 1].map(|next| starts[rank.number + next] as u32);
            let place = |of: u32| unknowns.partition_point(|unknown| *unknown < of);
            let own = &unknowns[place(start)..place(end)];
            let own: Vec<u32> = own.iter().map(|unknown| unknown - start).collect();
            rank.part.temperature_of(&own)
        })?;
        let temperatures = self.joined(of_ranks)?;
        Ok(self.whole.evaluate_involved(functionals, &temperatures))
    }

    fn leave_averages_to_ranks(&self, averages: &mut Averages<F>) -> Result<(), SimulationError> {
        averages.leave_to_ranks(&self.team, self.backend.processes())
    }

    fn imbalance(&self) -> Result<Option<[f64; 2]>, HeatError> {
        self.on_first(|rank| rank.part.imbalance())
    }

    fn largest_rate(&self) -> Result<f64, HeatError> {
        self.on_first(|rank| rank.part.largest_rate())
    }

    fn solver_setup(&self) -> Option<&SolverSetup> {
        self.setup.as_ref()
    }

    fn solver_setups(&self) -> u64 {
        self.setups
    }

    fn state(&self) -> Result<HeatState<F>, HeatError> {
        let parts = self.on_each(|rank| {
            let mut part = rank.part.state()?;
            // Each rank has those of the whole mesh.
            part.interpolations = part.interpolations.filter(|_| rank.number == 0);
            Ok(part)
        })?;
        let clock = parts[0].march.as_ref().map(|march| (march.time, march.steps, march.step));
        let (mut temperature, mut increment, mut before) = (vec![], vec![], vec![]);
        let mut interpolations = None;
        for part in parts {
            interpolations = interpolations.or(part.interpolations);
            temperature.push(part.temperature);
            if let Some(march) = part.march {
                increment.push(march.increment);
                before.push(march.before);
            }
        }
        let temperature = self.joined(temperature)?;
        let Some((time, steps, step)) = clock else {
            return Ok(HeatState { temperature, march: None, interpolations });
        };
        let (increment, before) = (self.joined(increment)?, self.joined(before)?);
        let march = Some(MarchState { increment, before, time, steps, step });
        Ok(HeatState { temperature, march, interpolations })
    }

    fn restore(&mut self, state: HeatState<F>) -> Result<(), HeatError> {
        let HeatState { temperature, march, interpolations } = state;
        self.whole.set_temperature(&temperature);
        self.is_current = true;
        let starts = self.starts.clone();
        self.clock = march.as_ref().map_or(self.clock, |march| (march.time, march.steps));
        self.on_each(move |rank| {
            let of_march = |march: &MarchState<F>| MarchState {
                increment: rank.own(&march.increment, &starts).to_vec(),
                before: rank.own(&march.before, &starts).to_vec(),
                ..*march
            };
            let own = HeatState {
                temperature: rank.own(&temperature, &starts).to_vec(),
                march: march.as_ref().map(of_march),
                interpolations: interpolations.clone(),
            };
            rank.part.restore(own)
        })?;
        let (time, _) = self.clock;
        self.whole.set_time(time)
    }
}
