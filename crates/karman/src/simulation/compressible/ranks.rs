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
use super::monitors::Monitors;
use crate::backend::group::{Team, run_ranks};
use crate::backend::{Backend, HOST_CHUNK, Processes, RankGroup};
use crate::case::CompressibleCase;
use crate::compressible::state::VARIABLES;
use crate::compressible::{
    BoundaryLoad, CellEntries, CellQuantity, CompressibleSolver, PackedCells, PartLoads,
    PartNumbers, Progress, WholeMesh,
};
use crate::mesh::partition::Ranges;
use crate::real::Real;
use std::ops::Range;
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
    /// Its cells, ghosts and boundary faces in the whole mesh.
    numbers: PartNumbers,
    /// Its cells that probes read, and its faces of each group with loads.
    monitored: Option<(PackedCells<F>, PartLoads<F>)>,
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

/// The cells and faces that monitors read, of each rank of all processes.
pub(super) struct Selection {
    /// Entries of the cells in the flow on the whole mesh.
    cells: Vec<CellEntries>,
    /// Entries of the faces in each group.
    faces: Vec<Vec<Vec<usize>>>,
}

/// The entries of each group whose cells are in a range; `groups` has the cell of each face of a group.
fn entries_in(groups: &[Vec<u32>], range: Range<usize>) -> Vec<Vec<usize>> {
    let own = |cells: &Vec<u32>| -> Vec<usize> {
        let is_own = |(_, cell): &(usize, &u32)| range.contains(&(**cell as usize));
        cells.iter().enumerate().filter(is_own).map(|(entry, _)| entry).collect()
    };
    groups.iter().map(own).collect()
}

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
                let (flow, numbers) =
                    whole.of_rank(&own, group, (mesh, &ranges), &case.numerics)?;
                let domain = domain.of_range(&ranges.cells(group.rank()));
                let march = March::new(case, &own, domain, flow)?;
                Ok(Rank {
                    backend: own.clone(),
                    march,
                    numbers,
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

    /// Prepares the ranks to hand over what monitors of the flow `whole` read, again and again.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn select(
        &self,
        whole: &CompressibleSolver<F>,
        monitors: &mut Monitors<F>,
    ) -> Result<Selection, SimulationError> {
        let cells = monitors.cells();
        let place = |start: usize| cells.partition_point(|cell| (*cell as usize) < start);
        let entries = |range: &[usize]| whole.entries_of(&cells[place(range[0])..place(range[1])]);
        let of_ranks = self.starts.windows(2).map(entries).collect();
        let groups: Vec<(Vec<u32>, Vec<F>)> = monitors
            .groups()
            .map(|group| (group.faces().to_vec(), group.arms().to_vec()))
            .collect();
        let cells_of_groups: Vec<Vec<u32>> =
            groups.iter().map(|(faces, _)| whole.cells_of_faces(faces)).collect();
        let ranges = self.starts.windows(2);
        let faces = ranges.map(|range| entries_in(&cells_of_groups, range[0]..range[1])).collect();
        let starts = self.starts.clone();
        self.on_each(move |rank| {
            let Rank { march, numbers, monitored, backend, .. } = rank;
            let (flow, this) = (march.flow(), backend.ranks().map_or(0, |group| group.rank()));
            let local = (0u32..).zip(&numbers.cells[..flow.n_cells()]);
            let own_cells: Vec<u32> = local
                .filter(|(_, cell)| cells.binary_search(cell).is_ok())
                .map(|(local, _)| local)
                .collect();
            let own_faces = entries_in(&cells_of_groups, starts[this]..starts[this + 1]);
            let loads = groups.iter().zip(own_faces).map(|((faces, arms), entries)| {
                let local = |entry| (entry, numbers.boundary_face(faces[entry]));
                let own: Vec<(usize, u32)> = entries.into_iter().map(local).collect();
                flow.part_faces(arms, &own)
            });
            *monitored = Some((flow.packed_cells(&own_cells), flow.part_loads(loads.collect())));
            Ok(())
        })?;
        Ok(Selection { cells: of_ranks, faces })
    }

    /// Hands means and polynomials of the cells that probes read over to the flow on the whole mesh, and returns the loads on each
    /// group of faces.
    ///
    /// # Errors
    /// [`SimulationError`] where a prescribed value is not a number, or a rank failed.
    pub(super) fn gather_monitored(
        &self,
        selection: &Selection,
        whole: &mut CompressibleSolver<F>,
        monitors: &mut Monitors<F>,
    ) -> Result<Vec<[BoundaryLoad<f64>; 2]>, SimulationError> {
        let values = self.on_each(|rank| {
            let Some((cells, loads)) = &mut rank.monitored else { return Ok([vec![], vec![]]) };
            let of_cells = rank.march.flow_mut().hand_over(cells)?;
            Ok([of_cells, rank.march.flow().hand_over_loads(loads)?])
        })?;
        let (of_cells, of_loads) = values.into_iter().map(|[cells, loads]| (cells, loads)).unzip();
        let of_cells = self.processes.lists_of_all(of_cells)?;
        selection
            .cells
            .iter()
            .zip(of_cells)
            .for_each(|(entries, values)| whole.take_over(entries, &values));
        let of_loads = self.processes.lists_of_all(of_loads)?;
        let mut rest: Vec<&[F]> = of_loads.iter().map(Vec::as_slice).collect();
        let mut totals = vec![];
        for (g, group) in monitors.groups().enumerate() {
            let entries = selection.faces.iter().map(|groups| groups[g].as_slice());
            let mut parts: Vec<(&[usize], &[F])> = entries.zip(rest).collect();
            totals.push(whole.take_over_loads(group, &mut parts)?);
            rest = parts.into_iter().map(|(_, values)| values).collect();
        }
        Ok(totals)
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
            let of = |v: usize| rank.numbers.cells.iter().map(move |cell| v * n + *cell as usize);
            let own = (0..VARIABLES).flat_map(of).map(|i| means[i]).collect();
            rank.march.restore(own, clock)
        })?;
        Ok(())
    }
}
