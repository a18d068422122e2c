//! The computation of the temperature by several ranks, threads of this process with parts of the mesh.
//!
//! Monitors, output and checkpoints use the temperature of the whole mesh, which the ranks hand over when it is needed.
//! A rank computes with the bits that one rank with all cells has: see [`MeshPart`] and [`Partials`](crate::backend::Partials).

use super::computation::{Computation, HeatState, MarchState, OneRank, Settings};
use crate::backend::group::{Group, Team, ThreadGroup, gather_lists, run_ranks};
use crate::backend::{Backend, Buffer, HOST_CHUNK, Halo};
use crate::finite_volume::{
    Condition, Functionals, Material, MeshPart, TimeDependentData, check_finite,
};
use crate::heat::{Discretization, Heat, HeatError, HeatScheme, Problem, Source};
use crate::linear::{SolveOutcome, SolverSetup, StopTest};
use crate::mesh::partition::Ranges;
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Convergence checks of a steady solve after which the ranks agree whether to stop.
const CHECKS: usize = 16;

/// The ranks with the whole mesh's data for functionals.
pub(super) struct Ranks<F: Real> {
    backend: Backend,
    team: Team<Rank<F>>,
    /// First cell of each rank, then the number of cells.
    starts: Vec<usize>,
    scheme: HeatScheme,
    prescribed: TimeDependentData<F>,
    /// The temperature of the whole mesh, and whether it is that of the ranks.
    temperature: Buffer<F>,
    is_current: bool,
    clock: (f64, usize),
    setup: Option<SolverSetup>,
    setups: u64,
}

/// A rank with its part.
struct Rank<F: Real> {
    number: usize,
    backend: Backend,
    group: ThreadGroup,
    part: OneRank<F>,
}

/// The report of a step of a rank.
struct Report {
    outcome: SolveOutcome,
    rate: f64,
    clock: (f64, usize),
    setup: Option<SolverSetup>,
    setups: u64,
}

/// The problem on the whole mesh, from which each rank takes its part.
struct Whole<'a> {
    place: (&'a Mesh, &'a Geometry),
    scheme: &'a HeatScheme,
    material: &'a Material,
    sources: &'a [Source],
    conditions: &'a [Condition],
    settings: &'a Settings,
}

impl<F: Real> Ranks<F> {
    /// A cell-centred problem on `ranks` ranks, which share the threads of `backend`.
    ///
    /// # Errors
    /// [`HeatError`] where the problem is invalid, or a rank fails.
    pub(super) fn new(
        ranks: usize,
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        problem: Problem,
        settings: &Settings,
    ) -> Result<Self, HeatError> {
        let Problem { discretization, material, sources, conditions, initial } = problem;
        let corrected = discretization == Discretization::Cell { corrected: true };
        let (scheme, prescribed) =
            HeatScheme::of_cells(backend, (mesh, geometry), &material, &conditions, corrected)?;
        let mut temperature = vec![0.0; mesh.n_cells()];
        initial.sample(&geometry.cell_centre, 0.0, &mut temperature);
        check_finite("the initial temperature", &temperature, 0.0)?;
        let temperature: Vec<F> = temperature.into_iter().map(F::from_f64).collect();
        let ranges = Ranges::new(mesh, ranks, HOST_CHUNK);
        let whole = Whole {
            place: (mesh, geometry),
            scheme: &scheme,
            material: &material,
            sources: &sources,
            conditions: &conditions,
            settings,
        };
        let threads = (backend.threads() / ranks).max(1);
        let groups = ThreadGroup::new(ranks);
        let states = run_ranks(&groups, |group| -> Result<Rank<F>, HeatError> {
            let own = Backend::of_rank(threads, Arc::new(group.clone()))?;
            let start = || Rank::new(group, &own, &whole, &ranges, &temperature);
            own.install(start)
        })?;
        let starts = ranges.starts;
        Ok(Ranks {
            backend: backend.clone(),
            team: Team::new(groups.into_iter().zip(states).collect())?,
            starts,
            scheme,
            prescribed,
            temperature: backend.upload(temperature),
            is_current: true,
            clock: (0.0, 0),
            setup: None,
            setups: 0,
        })
    }

    /// The results of `work` on each rank, in the order of ranks.
    fn on_each<R: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank<F>) -> Result<R, HeatError> + Send + Sync + 'static,
    ) -> Result<Vec<R>, HeatError> {
        self.team.run(move |rank| {
            let backend = rank.backend.clone();
            backend.install(|| work(rank))
        })
    }

    /// The result of `work` on the first rank; all ranks take part.
    fn on_first<R: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank<F>) -> Result<R, HeatError> + Send + Sync + 'static,
    ) -> Result<R, HeatError> {
        Ok(self.on_each(work)?.swap_remove(0))
    }

    /// Lists of the cells of each rank as lists of all cells.
    fn joined<T>(parts: impl IntoIterator<Item = Vec<T>>) -> Vec<T> {
        parts.into_iter().flatten().collect()
    }
}

impl<F: Real> Rank<F> {
    fn new(
        group: &ThreadGroup,
        backend: &Backend,
        whole: &Whole<'_>,
        ranges: &Ranges<'_>,
        temperature: &[F],
    ) -> Result<Rank<F>, HeatError> {
        let (mesh, geometry) = whole.place;
        let number = group.rank();
        let Some(scheme) = whole.scheme.of_faces(mesh, geometry) else {
            unreachable!("a cell-centred problem")
        };
        let part = MeshPart::new(&scheme, ranges, number);
        let halo = Halo::new(Arc::new(group.clone()), &ranges.starts, part.ghosts().to_vec())?;
        let Material { conductivity, volumetric_heat_capacity } = whole.material;
        let problem = Problem {
            discretization: Discretization::Cell { corrected: scheme.is_corrected() },
            material: Material {
                conductivity: part.restricted(conductivity),
                volumetric_heat_capacity: part.restricted(volumetric_heat_capacity),
            },
            sources: whole.sources.to_vec(),
            conditions: whole.conditions.to_vec(),
            // Replaced by the values of the whole mesh.
            initial: Arc::new(0.0),
        };
        let heat = Heat::of_part(backend, part, Arc::new(halo), problem)?;
        let mut part = OneRank::of(heat, whole.settings);
        part.set_temperature(&temperature[ranges.cells(number)]);
        Ok(Rank { number, backend: backend.clone(), group: group.clone(), part })
    }

    /// Its cells of a list of all cells.
    fn own<'a>(&self, all: &'a [F], starts: &[usize]) -> &'a [F] {
        &all[starts[self.number]..starts[self.number + 1]]
    }
}

/// A stop test with one answer on all ranks: that of the first, asked at every [`CHECKS`]th call.
fn agreed(group: ThreadGroup, should_stop: StopTest) -> StopTest {
    let (calls, has_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    Arc::new(move || {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        if !has_stopped.load(Ordering::Relaxed) && call.is_multiple_of(CHECKS) {
            let own = u32::from(should_stop());
            // A failure ends the solve; the next read reports it.
            let answer = gather_lists(&group, &[own]).map_or(1, |(answers, _)| answers[0]);
            has_stopped.store(answer == 1, Ordering::Relaxed);
        }
        has_stopped.load(Ordering::Relaxed)
    })
}

impl<F: Real> Computation<F> for Ranks<F> {
    fn scheme(&self) -> &HeatScheme {
        &self.scheme
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
        Ok(self.prescribed.set_mean(&self.backend, [time; 2])?)
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
        self.prescribed.set_mean(&self.backend, [time; 2])?;
        Ok((report.outcome, report.rate))
    }

    fn unknowns(&self) -> usize {
        self.temperature.len()
    }

    fn temperature(&self) -> Result<Vec<F>, HeatError> {
        match self.is_current {
            true => Ok(self.backend.read(&self.temperature)?),
            false => Ok(Self::joined(self.on_each(|rank| rank.part.temperature())?)),
        }
    }

    fn on_backend(&mut self) -> Result<&Buffer<F>, HeatError> {
        if !self.is_current {
            let values = self.temperature()?;
            self.backend.write(&mut self.temperature, &values);
            self.is_current = true;
        }
        Ok(&self.temperature)
    }

    fn evaluate<'a>(
        &mut self,
        functionals: &'a mut Functionals<F>,
    ) -> Result<&'a Buffer<F>, HeatError> {
        self.on_backend()?;
        let no_load = self.backend.zeros(0);
        let (field, prescribed) = (&self.temperature, self.prescribed.value());
        Ok(functionals.evaluate(&self.backend, field, prescribed, &no_load))
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
        let (mut temperature, mut march): (Vec<F>, Option<MarchState<F>>) = (vec![], None);
        for part in self.on_each(|rank| rank.part.state())? {
            temperature.extend(part.temperature);
            match (&mut march, part.march) {
                (Some(all), Some(own)) => {
                    all.increment.extend(own.increment);
                    all.before.extend(own.before);
                }
                (_, own) => march = own,
            }
        }
        Ok(HeatState { temperature, march, interpolations: None })
    }

    fn restore(&mut self, state: HeatState<F>) -> Result<(), HeatError> {
        let HeatState { temperature, march, .. } = state;
        self.backend.write(&mut self.temperature, &temperature);
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
                interpolations: None,
            };
            rank.part.restore(own)
        })?;
        let (time, _) = self.clock;
        Ok(self.prescribed.set_mean(&self.backend, [time; 2])?)
    }
}
