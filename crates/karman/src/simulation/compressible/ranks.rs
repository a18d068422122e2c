//! A compressible flow on several ranks with parts of the mesh: threads of this process, or processes of which this is one. They compute
//! the bits of one rank.
//!
//! Every process has the flow on the whole mesh too, to which the ranks of all processes hand over their means.

use super::super::SimulationError;
use super::super::averages::Averages;
use super::super::equation::Advance;
use super::super::rank_averages::{Averaging, RankAverages, Work};
use super::fields::{FieldBuffers, Fields};
use super::march::{Domain, March};
use crate::backend::group::{Team, run_ranks};
use crate::backend::{Backend, HOST_CHUNK, Processes, RankGroup};
use crate::case::CompressibleCase;
use crate::compressible::state::VARIABLES;
use crate::compressible::{
    CellEntries, CellQuantity, CompressibleSolver, PackedCells, Progress, WholeMesh,
};
use crate::mesh::partition::Ranges;
use crate::real::Real;
use std::sync::Arc;

/// The ranks of a flow.
pub(super) struct Ranks<F: Real> {
    processes: Processes,
    /// Those of this process.
    team: Arc<Team<Rank<F>>>,
    /// First cell of each rank, of all processes, then the number of cells.
    starts: Vec<usize>,
}

/// A rank with its part.
struct Rank<F: Real> {
    backend: Backend,
    march: March<F>,
    /// Its cells and ghosts in the whole mesh.
    cells: Vec<u32>,
    /// Its cells that monitors read.
    monitored: Option<PackedCells<F>>,
    averages: RankAverages<F>,
    /// For averages.
    buffers: FieldBuffers<F>,
    gas_constant: f64,
    dimension: usize,
}

impl<F: Real> Averaging for Rank<F> {
    fn perform(&mut self, work: &Work) -> Result<Vec<f64>, SimulationError> {
        let Rank { backend, march, averages, buffers, gas_constant, dimension, .. } = self;
        let flow = march.flow();
        if let Work::Begin(_) = work {
            *buffers = [0; 3].map(|_| backend.zeros(flow.n_cells()));
        }
        let (gas_constant, dimension) = (*gas_constant, *dimension);
        let source = &mut Fields { flow, buffers, gas_constant, dimension };
        backend.install(|| averages.perform(work, backend, source))
    }
}

/// The entries of the cells that monitors read in the flow on the whole mesh, of each rank of all processes.
pub(super) struct MonitoredCells(Vec<CellEntries>);

/// A step of the ranks.
pub(super) struct Step {
    pub(super) advance: Advance,
    pub(super) progress: Progress,
    /// Courant number.
    pub(super) courant: f64,
}

impl<F: Real> Ranks<F> {
    /// `count` ranks of the flow `whole`, which is on the host; they share the threads of `backend`, and compute on devices of its kind.
    ///
    /// # Errors
    /// [`SimulationError`] where a march cannot be set up or a rank fails.
    pub(super) fn new(
        count: usize,
        backend: &Backend,
        case: &CompressibleCase,
        (mesh, domain): (WholeMesh<'_>, &Domain),
        whole: &CompressibleSolver<F>,
    ) -> Result<Self, SimulationError> {
        let ranges = Ranges::new(mesh.mesh, count, HOST_CHUNK);
        let processes = backend.processes().clone();
        let groups = processes.groups(count);
        let threads = (backend.threads() / groups.len()).max(1);
        let rank = |group: &Arc<dyn RankGroup>| -> Result<Rank<F>, SimulationError> {
            let own = Backend::of_rank_on(backend.kind(), threads, group.clone())?;
            own.install(|| {
                let (flow, cells) = whole.of_rank(&own, group, (mesh, &ranges), &case.numerics)?;
                let domain = domain.of_range(&ranges.cells(group.rank()));
                let march = March::new(case, &own, domain, flow)?;
                Ok(Rank {
                    backend: own.clone(),
                    march,
                    cells,
                    monitored: None,
                    averages: RankAverages::new(ranges.cells(group.rank()), mesh.mesh.n_cells()),
                    buffers: [0; 3].map(|_| own.zeros(0)),
                    gas_constant: case.gas_constant,
                    dimension: mesh.mesh.dimension,
                })
            })
        };
        let ranks = run_ranks(&groups, rank)?;
        let team = Arc::new(Team::new(groups.into_iter().zip(ranks).collect())?);
        Ok(Ranks { processes, team, starts: ranges.starts })
    }

    /// The results of `work` on each rank of this process, in the order of ranks.
    fn on_each<R: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank<F>) -> Result<R, SimulationError> + Send + Sync + 'static,
    ) -> Result<Vec<R>, SimulationError> {
        self.team.run(move |rank| {
            let backend = rank.backend.clone();
            backend.install(|| work(rank))
        })
    }

    /// One step of length `step`, or an iteration.
    ///
    /// # Errors
    /// As [`March::advance`].
    pub(super) fn advance(&self, step: Option<f64>) -> Result<Step, SimulationError> {
        let mut steps = self.on_each(move |rank| {
            let advance = rank.march.advance(step)?;
            let March { courant, .. } = rank.march;
            Ok(Step { advance, progress: rank.march.flow().progress(), courant })
        })?;
        Ok(steps.swap_remove(0))
    }

    /// The progress of the ranks.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn progress(&self) -> Result<Progress, SimulationError> {
        Ok(self.on_each(|rank| Ok(rank.march.flow().progress()))?.swap_remove(0))
    }

    /// Hands the means over to the flow on the whole mesh.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn gather(&self, whole: &mut CompressibleSolver<F>) -> Result<(), SimulationError> {
        let own = self.on_each(|rank| {
            let flow = rank.march.flow();
            let means = rank.backend.read(flow.means())?;
            let n_local = means.len() / VARIABLES;
            Ok((0..VARIABLES)
                .flat_map(|v| means[v * n_local..][..flow.n_cells()].to_vec())
                .collect::<Vec<F>>())
        })?;
        let of_ranks = self.processes.lists_of_all(own)?;
        let (means, n) = (whole.means_mut(), self.starts[self.starts.len() - 1]);
        for (values, range) in of_ranks.iter().zip(self.starts.windows(2)) {
            let count = range[1] - range[0];
            for v in 0..VARIABLES {
                let to = &mut means[v * n + range[0]..][..count];
                to.copy_from_slice(&values[v * count..][..count]);
            }
        }
        Ok(())
    }

    /// Leaves averages over time to the ranks.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn take_averages(&self, averages: &mut Averages<F>) -> Result<(), SimulationError> {
        averages.leave_to_ranks(&self.team, &self.processes)
    }

    /// Prepares the ranks to hand over cells of the flow `whole`, ascending, again and again.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn select(
        &self,
        whole: &CompressibleSolver<F>,
        cells: Vec<u32>,
    ) -> Result<MonitoredCells, SimulationError> {
        let place = |start: usize| cells.partition_point(|cell| (*cell as usize) < start);
        let of_rank = |range: &[usize]| whole.entries_of(&cells[place(range[0])..place(range[1])]);
        let of_ranks: Vec<CellEntries> = self.starts.windows(2).map(of_rank).collect();
        self.on_each(move |rank| {
            let n = rank.march.flow().n_cells();
            let (numbers, own) = ((0u32..).zip(&rank.cells[..n]), &cells);
            let own: Vec<u32> = numbers
                .filter(|(_, cell)| own.binary_search(cell).is_ok())
                .map(|(number, _)| number)
                .collect();
            rank.monitored = Some(rank.march.flow().packed_cells(&own));
            Ok(())
        })?;
        Ok(MonitoredCells(of_ranks))
    }

    /// Hands means and polynomials of the cells that monitors read over to the flow on the whole mesh.
    ///
    /// # Errors
    /// [`SimulationError`] where a prescribed value is not a number, or a rank failed.
    pub(super) fn gather_monitored(
        &self,
        MonitoredCells(of_ranks): &MonitoredCells,
        whole: &mut CompressibleSolver<F>,
    ) -> Result<(), SimulationError> {
        let values = self.on_each(|rank| match &mut rank.monitored {
            Some(cells) => Ok(rank.march.flow_mut().hand_over(cells)?),
            None => Ok(vec![]),
        })?;
        let all = self.processes.lists_of_all(values)?;
        of_ranks.iter().zip(all).for_each(|(entries, values)| whole.take_over(entries, &values));
        Ok(())
    }

    /// A quantity of all cells, computed by the ranks.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn quantity(&self, quantity: CellQuantity) -> Result<Vec<f64>, SimulationError> {
        let own = self.on_each(move |rank| {
            let flow = rank.march.flow();
            let mut values = rank.backend.zeros(flow.n_cells());
            flow.cell_quantity(quantity, rank.gas_constant, &mut values);
            Ok(flow.read(&values)?)
        })?;
        Ok(self.processes.lists_of_all(own)?.concat())
    }

    /// Continues from the means of the whole mesh with their time and number of steps.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn restore(
        &self,
        means: Vec<F>,
        clock: (f64, usize),
    ) -> Result<(), SimulationError> {
        let n = means.len() / VARIABLES;
        self.on_each(move |rank| {
            let of = |v: usize| rank.cells.iter().map(move |cell| v * n + *cell as usize);
            let own = (0..VARIABLES).flat_map(of).map(|i| means[i]).collect();
            rank.march.restore(own, clock)
        })?;
        Ok(())
    }
}
