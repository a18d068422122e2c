//! A compressible flow on several ranks with parts of the mesh: threads of this process, or processes of which this is one. They compute
//! the bits of one rank.
//!
//! Every process has the flow on the whole mesh too, to which the ranks of all processes hand over their means.

use super::super::SimulationError;
use super::super::equation::Advance;
use super::march::{Domain, March};
use crate::backend::group::{Team, run_ranks};
use crate::backend::{Backend, HOST_CHUNK, Processes, RankGroup};
use crate::case::CompressibleCase;
use crate::compressible::state::VARIABLES;
use crate::compressible::{CompressibleSolver, Progress, WholeMesh};
use crate::mesh::partition::Ranges;
use crate::real::Real;
use std::sync::Arc;

/// The ranks of a flow.
pub(super) struct Ranks<F: Real> {
    processes: Processes,
    /// Those of this process.
    team: Team<Rank<F>>,
    /// First cell of each rank, of all processes, then the number of cells.
    starts: Vec<usize>,
}

/// A rank with its part.
struct Rank<F: Real> {
    backend: Backend,
    march: March<F>,
    /// Its cells and ghosts in the whole mesh.
    cells: Vec<u32>,
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
                let (flow, cells) = whole.of_rank(&own, group, (mesh, &ranges), &case.numerics)?;
                let domain = domain.of_range(&ranges.cells(group.rank()));
                let march = March::new(case, &own, domain, flow)?;
                Ok(Rank { backend: own.clone(), march, cells })
            })
        };
        let ranks = run_ranks(&groups, rank)?;
        let team = Team::new(groups.into_iter().zip(ranks).collect())?;
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
