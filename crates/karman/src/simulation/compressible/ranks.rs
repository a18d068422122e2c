//! A compressible flow on several ranks with parts of the mesh: threads of this process, or processes of which this is one. They compute
//! the bits of one rank.
//!
//! Each rank makes the flow of its cells from the mesh, which every process has; no process has the flow on the whole mesh. What
//! monitors, output and checkpoints read, each rank computes of its cells and faces.

use super::super::SimulationError;
use super::super::averages::Averages;
use super::super::equation::Advance;
use super::super::rank_averages::{Averaging, RankAverages, Work};
use super::super::ranks::joined_arrays;
use super::fields::{FieldBuffers, Fields};
use super::march::{Domain, March};
use super::monitors::{CellPoint, LoadGroup, Loads, Places, PointStates};
use crate::backend::group::{Team, run_ranks};
use crate::backend::{Backend, Element, HOST_CHUNK, Processes, RankGroup};
use crate::case::CompressibleCase;
use crate::compressible::state::VARIABLES;
use crate::compressible::{
    CellPoints, CellQuantity, CompressibleError, CompressibleProblem, CompressibleSolver,
    FaceLoads, GatheredLoads, PartLoads, PartNumbers, Progress, WholeMesh,
};
use crate::mesh::Mesh;
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
    /// Number of interior faces of the mesh.
    n_interior: usize,
    /// The cell of each boundary face of the mesh.
    boundary_cells: Vec<u32>,
    /// The ranks with the points of the probes, then of each line.
    points: Vec<Shares>,
    groups: Vec<GatheredLoads<F>>,
    has_stress: bool,
}

/// A rank with its part.
struct Rank<F: Real> {
    number: usize,
    backend: Backend,
    march: March<F>,
    /// Its cells, ghosts and boundary faces in the whole mesh.
    numbers: PartNumbers,
    /// Its points of each list.
    points: Vec<CellPoints<F>>,
    /// Its faces of each group.
    loads: PartLoads<F>,
    averages: RankAverages<F>,
    /// For averages.
    buffers: FieldBuffers<F>,
    gas_constant: f64,
    dimension: usize,
}

/// The items of a list that each rank has.
#[derive(Clone)]
struct Shares(Vec<Vec<usize>>);

impl Shares {
    /// Items in some cells; `starts` has the first cell of each rank, then their number.
    fn new(cells: impl Iterator<Item = usize>, starts: &[usize]) -> Shares {
        let mut of_ranks = vec![vec![]; starts.len() - 1];
        for (item, cell) in cells.enumerate() {
            of_ranks[starts.partition_point(|start| *start <= cell) - 1].push(item);
        }
        Shares(of_ranks)
    }

    /// The items of a rank in a list.
    fn of<T: Copy>(&self, rank: usize, list: &[T]) -> Vec<T> {
        self.0[rank].iter().map(|item| list[*item]).collect()
    }

    /// Arrays of all items from those of the items of each rank, one after the other. Leaves what follows in the lists.
    fn joined<const K: usize>(&self, lists: &mut [&[f64]]) -> [Vec<f64>; K] {
        let n = self.0.iter().map(Vec::len).sum();
        [0; K].map(|_| {
            let mut values = vec![0.0; n];
            for (items, list) in self.0.iter().zip(&mut *lists) {
                let (own, rest) = list.split_at(items.len());
                *list = rest;
                items.iter().zip(own).for_each(|(item, value)| values[*item] = *value);
            }
            values
        })
    }
}

/// Gives K values on each of some boundary faces of a flow.
pub(super) type ReadFaces<F, const K: usize> =
    fn(&CompressibleSolver<F>, &[u32]) -> Result<[Vec<f64>; K], CompressibleError>;

/// The cell of each boundary face of a list.
fn cells_of<'a>(mesh: &'a Mesh, faces: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
    faces.iter().map(|face| mesh.face_left[*face as usize] as usize)
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

/// A step of the ranks.
pub(super) struct Step {
    pub(super) advance: Advance,
    pub(super) progress: Progress,
    /// Courant number.
    pub(super) courant: f64,
}

impl<F: Real> Ranks<F> {
    /// `count` ranks of a flow at time 0 with where it is monitored; they share the threads of `backend`, and compute on devices of its kind.
    ///
    /// # Errors
    /// [`SimulationError`] where the problem is invalid, a march cannot be set up, or a rank fails.
    pub(super) fn new(
        count: usize,
        backend: &Backend,
        case: &CompressibleCase,
        (whole, domain): (&WholeMesh<'_>, &Domain),
        problem: &CompressibleProblem,
        places: Places,
    ) -> Result<Self, SimulationError> {
        let mesh = whole.mesh;
        let ranges = Ranges::new(mesh, count, HOST_CHUNK);
        let starts = &ranges.starts;
        let of_points =
            |set: &Vec<CellPoint>| Shares::new(set.iter().map(|(cell, _)| *cell), starts);
        let of_group = |group: &LoadGroup| Shares::new(cells_of(mesh, &group.faces), starts);
        let points: Vec<Shares> = places.points.iter().map(of_points).collect();
        let of_groups: Vec<Shares> = places.groups.iter().map(of_group).collect();
        let processes = backend.processes().clone();
        let groups = processes.groups(count);
        let threads = (backend.threads() / groups.len()).max(1);
        let rank = |group: &Arc<dyn RankGroup>| -> Result<Rank<F>, SimulationError> {
            let own = Backend::of_rank_on(backend.kind(), threads, group.clone())?;
            own.install(|| {
                let number = group.rank();
                let (flow, numbers) = CompressibleSolver::of_rank(
                    &own,
                    group,
                    (whole, &ranges),
                    problem,
                    &case.numerics,
                )?;
                let place = (mesh, whole.geometry);
                let sets = points.iter().zip(&places.points).map(|(shares, set)| {
                    CellPoints::new(&own, place, &shares.of(number, set), starts[number])
                });
                let loads = of_groups.iter().zip(&places.groups).map(|(shares, group)| {
                    let faces = shares.of(number, &group.faces);
                    let local = faces.iter().map(|face| numbers.boundary_face(*face)).collect();
                    FaceLoads::new(&own, place, &faces, local, group.centre)
                });
                Ok(Rank {
                    number,
                    backend: own.clone(),
                    points: sets.collect(),
                    loads: flow.part_loads(loads.collect()),
                    march: March::new(case, &own, domain.of_range(&ranges.cells(number)), flow)?,
                    numbers,
                    averages: RankAverages::new(ranges.cells(number), mesh.n_cells()),
                    buffers: [0; 3].map(|_| own.zeros(0)),
                    gas_constant: case.gas_constant,
                    dimension: mesh.dimension,
                })
            })
        };
        let ranks = run_ranks(&groups, rank)?;
        let gathered = |(Shares(entries), group): (Shares, &LoadGroup)| {
            GatheredLoads::new(backend, entries, group.faces.len())
        };
        let n_interior = mesh.n_interior_faces();
        Ok(Ranks {
            processes,
            team: Arc::new(Team::new(groups.into_iter().zip(ranks).collect())?),
            n_interior,
            boundary_cells: mesh.face_left[n_interior..].to_vec(),
            points,
            groups: of_groups.into_iter().zip(&places.groups).map(gathered).collect(),
            has_stress: problem.viscous.is_some(),
            starts: ranges.starts,
        })
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

    /// The result of `work`, which is equal on all ranks, on the first rank of this process; all ranks take part.
    fn on_first<R: Send + 'static>(
        &self,
        work: impl Fn(&mut Rank<F>) -> Result<R, SimulationError> + Send + Sync + 'static,
    ) -> Result<R, SimulationError> {
        Ok(self.on_each(work)?.swap_remove(0))
    }

    /// The list that `work` makes on each rank, of all processes.
    fn lists<T: Element>(
        &self,
        work: impl Fn(&mut Rank<F>) -> Result<Vec<T>, SimulationError> + Send + Sync + 'static,
    ) -> Result<Vec<Vec<T>>, SimulationError> {
        Ok(self.processes.lists_of_all(self.on_each(work)?)?)
    }

    /// One step of length `step`, or an iteration.
    ///
    /// # Errors
    /// As [`March::advance`].
    pub(super) fn advance(&self, step: Option<f64>) -> Result<Step, SimulationError> {
        self.on_first(move |rank| {
            let advance = rank.march.advance(step)?;
            let March { courant, .. } = rank.march;
            Ok(Step { advance, progress: rank.march.flow().progress(), courant })
        })
    }

    /// The progress of the ranks.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn progress(&self) -> Result<Progress, SimulationError> {
        self.on_first(|rank| Ok(rank.march.flow().progress()))
    }

    /// Numbers of cells by size of their stencil.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn stencil_sizes(&self) -> Result<Vec<usize>, SimulationError> {
        let of_ranks = self.lists(|rank| {
            let sizes = rank.march.flow().stencil_sizes().iter();
            Ok(sizes.map(|count| *count as u32).collect())
        })?;
        let mut sizes = vec![0; of_ranks.iter().map(Vec::len).max().unwrap_or(0)];
        for of_rank in of_ranks {
            sizes.iter_mut().zip(of_rank).for_each(|(sum, count)| *sum += count as usize);
        }
        Ok(sizes)
    }

    /// Means of all cells, `[5][n_cells]`.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn means(&self) -> Result<Vec<F>, SimulationError> {
        let of_ranks = self.lists(|rank| Ok(rank.march.flow().own_means()?))?;
        Ok(joined_arrays(&of_ranks, VARIABLES))
    }

    /// Σ V (ρ, ρu_x, ρu_y, ρu_z, ρE) and Σ V ½ |ρu|²/ρ.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn totals(&self) -> Result<([f64; VARIABLES], f64), SimulationError> {
        self.on_first(|rank| {
            let flow = rank.march.flow_mut();
            Ok((flow.totals()?, flow.kinetic_energy()?))
        })
    }

    /// Leaves averages over time to the ranks.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn take_averages(&self, averages: &mut Averages<F>) -> Result<(), SimulationError> {
        averages.leave_to_ranks(&self.team, &self.processes)
    }

    /// The states at the points of the probes and the loads on each group of faces.
    ///
    /// # Errors
    /// [`SimulationError`] where a prescribed value is not a number, or a rank failed.
    pub(super) fn monitored(&mut self) -> Result<(PointStates, Vec<Loads>), SimulationError> {
        let lists = self.lists(|rank| {
            let Rank { march, points, loads, .. } = rank;
            let flow = march.flow_mut();
            flow.refresh()?;
            let mut values = flow.at_points(&mut points[0])?.concat();
            values.extend(flow.loads_of_part(loads)?);
            Ok(values)
        })?;
        let mut rest: Vec<&[f64]> = lists.iter().map(Vec::as_slice).collect();
        let states = self.points[0].joined(&mut rest);
        let groups = self.groups.iter_mut();
        let totals = groups.map(|group| group.totals(&mut rest, self.has_stress));
        Ok((states, totals.collect::<Result<_, CompressibleError>>()?))
    }

    /// The states at the points of a list.
    ///
    /// # Errors
    /// As [`Ranks::monitored`].
    pub(super) fn at_points(&self, list: usize) -> Result<PointStates, SimulationError> {
        let lists = self.lists(move |rank| {
            let flow = rank.march.flow_mut();
            flow.refresh()?;
            Ok(flow.at_points(&mut rank.points[list])?.concat())
        })?;
        Ok(self.points[list].joined(&mut lists.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    }

    /// Values on boundary faces of the mesh, which `read` gives on those of a rank from the polynomials of the current time.
    ///
    /// # Errors
    /// As [`Ranks::monitored`].
    pub(super) fn on_faces<const K: usize>(
        &self,
        faces: &[u32],
        read: ReadFaces<F, K>,
    ) -> Result<[Vec<f64>; K], SimulationError> {
        let cells = faces.iter().map(|face| self.boundary_cells[*face as usize - self.n_interior]);
        let shares = Shares::new(cells.map(|cell| cell as usize), &self.starts);
        let (of_ranks, faces) = (shares.clone(), faces.to_vec());
        let lists = self.lists(move |rank| {
            rank.march.flow_mut().refresh()?;
            let own = of_ranks.of(rank.number, &faces).into_iter();
            let own: Vec<u32> = own.map(|face| rank.numbers.boundary_face(face)).collect();
            Ok(read(rank.march.flow(), &own)?.concat())
        })?;
        Ok(shares.joined(&mut lists.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    }

    /// A quantity of all cells.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn quantity(&self, quantity: CellQuantity) -> Result<Vec<f64>, SimulationError> {
        let of_rank = move |rank: &mut Rank<F>| {
            Ok(rank.march.flow().values_of(quantity, rank.gas_constant)?)
        };
        Ok(self.lists(of_rank)?.concat())
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
