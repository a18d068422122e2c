//! The flow of a run, on one rank or on several.

use super::super::SimulationError;
use super::super::averages::Averages;
use super::super::equation::Advance;
use super::march::{Domain, March};
use super::monitors::{Loads, Places, PointStates};
use super::ranks::{Ranks, ReadFaces, Step};
use crate::backend::Backend;
use crate::case::CompressibleCase;
use crate::compressible::state::VARIABLES;
use crate::compressible::{
    CellPoints, CellQuantity, CompressibleProblem, CompressibleSolver, LoadedFaces, Progress,
    WholeMesh,
};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A flow that advances.
pub(super) struct Computation<F: Real> {
    form: Mutex<Form<F>>,
    /// Courant number of the last step.
    pub(super) courant: f64,
    gamma: f64,
    n_cells: usize,
    /// Numbers of cells by size of their stencil.
    stencil_sizes: Vec<usize>,
}

enum Form<F: Real> {
    One(Box<OneRank<F>>),
    Several { ranks: Box<Ranks<F>>, progress: Progress },
}

/// The flow of one rank, with where it is monitored.
struct OneRank<F: Real> {
    march: March<F>,
    /// Of the probes, then of each line.
    points: Vec<CellPoints<F>>,
    groups: Vec<LoadedFaces<F>>,
}

impl<F: Real> Computation<F> {
    /// The flow on `ranks` ranks, at time 0, with where it is monitored.
    ///
    /// # Errors
    /// As [`March::new`] and [`Ranks::new`].
    pub(super) fn new(
        ranks: usize,
        backend: &Backend,
        case: &CompressibleCase,
        place: (&Mesh, &Geometry),
        problem: &CompressibleProblem,
        places: Places,
    ) -> Result<Self, SimulationError> {
        let domain = Domain::new(case, place)?;
        let (form, stencil_sizes) = if ranks == 1 {
            let flow = CompressibleSolver::new(backend, place, problem, &case.numerics)?;
            let sizes = flow.stencil_sizes().to_vec();
            let points = places.points.iter().map(|set| CellPoints::new(backend, place, set, 0));
            let groups = places.groups.iter();
            let one = OneRank {
                points: points.collect(),
                groups: groups
                    .map(|group| LoadedFaces::new(backend, place, &group.faces, group.centre))
                    .collect(),
                march: March::new(case, backend, domain, flow)?,
            };
            (Form::One(Box::new(one)), sizes)
        } else {
            let whole = WholeMesh::new(place, &case.numerics);
            let ranks = Ranks::new(ranks, backend, case, (&whole, &domain), problem, places)?;
            let (progress, sizes) = (ranks.progress()?, ranks.stencil_sizes()?);
            (Form::Several { ranks: Box::new(ranks), progress }, sizes)
        };
        Ok(Computation {
            form: Mutex::new(form),
            courant: 0.0,
            gamma: problem.gamma,
            n_cells: place.0.n_cells(),
            stencil_sizes,
        })
    }

    fn form(&self) -> MutexGuard<'_, Form<F>> {
        self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// γ.
    pub(super) fn gamma(&self) -> f64 {
        self.gamma
    }

    /// Number of cells of the mesh.
    pub(super) fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// Numbers of cells by size of their stencil.
    pub(super) fn stencil_sizes(&self) -> &[usize] {
        &self.stencil_sizes
    }

    fn progress(&self) -> Progress {
        match &*self.form() {
            Form::One(one) => one.march.flow().progress(),
            Form::Several { progress, .. } => *progress,
        }
    }

    /// Time and number of steps.
    pub(super) fn clock(&self) -> (f64, usize) {
        let Progress { time, steps, .. } = self.progress();
        (time, steps)
    }

    /// The time step of a CFL number.
    pub(super) fn step_of(&self, cfl: f64) -> f64 {
        cfl / self.progress().largest_rate
    }

    /// The flow of one rank; none of several.
    pub(super) fn of_one(&mut self) -> Option<&CompressibleSolver<F>> {
        match self.form.get_mut().unwrap_or_else(PoisonError::into_inner) {
            Form::One(one) => Some(one.march.flow()),
            Form::Several { .. } => None,
        }
    }

    /// Leaves averages over time to several ranks.
    ///
    /// # Errors
    /// [`SimulationError`] where a rank failed.
    pub(super) fn leave_averages_to_ranks(
        &self,
        averages: &mut Averages<F>,
    ) -> Result<(), SimulationError> {
        match &*self.form() {
            Form::One(_) => Ok(()),
            Form::Several { ranks, .. } => ranks.take_averages(averages),
        }
    }

    /// The states at the points of the probes and the loads on each group of faces.
    ///
    /// # Errors
    /// [`SimulationError`] where a prescribed value is not a number, or a rank failed.
    pub(super) fn monitored(&self) -> Result<(PointStates, Vec<Loads>), SimulationError> {
        match &mut *self.form() {
            Form::One(one) => {
                let OneRank { march, points, groups } = &mut **one;
                let flow = march.flow_mut();
                flow.refresh()?;
                let states = flow.at_points(&mut points[0])?;
                let loads = groups.iter_mut().map(|group| flow.loads(group));
                Ok((states, loads.collect::<Result<_, _>>()?))
            }
            Form::Several { ranks, .. } => ranks.monitored(),
        }
    }

    /// The states at the points of a line.
    ///
    /// # Errors
    /// As [`Computation::monitored`].
    pub(super) fn on_line(&self, line: usize) -> Result<PointStates, SimulationError> {
        match &mut *self.form() {
            Form::One(one) => {
                let flow = one.march.flow_mut();
                flow.refresh()?;
                Ok(flow.at_points(&mut one.points[1 + line])?)
            }
            Form::Several { ranks, .. } => ranks.at_points(1 + line),
        }
    }

    /// Means of ρ, u_x, u_y, u_z and p on boundary faces.
    ///
    /// # Errors
    /// As [`Computation::monitored`].
    pub(super) fn on_boundary(&self, faces: &[u32]) -> Result<PointStates, SimulationError> {
        self.on_faces(faces, CompressibleSolver::on_boundary)
    }

    /// Means of the viscous stress, x, y and z, and of the heat flux into the domain on boundary faces.
    ///
    /// # Errors
    /// As [`Computation::monitored`].
    pub(super) fn stress_on_boundary(
        &self,
        faces: &[u32],
    ) -> Result<[Vec<f64>; 4], SimulationError> {
        self.on_faces(faces, CompressibleSolver::stress_on_boundary)
    }

    /// Values on boundary faces, which `read` gives from the polynomials of the current time.
    fn on_faces<const K: usize>(
        &self,
        faces: &[u32],
        read: ReadFaces<F, K>,
    ) -> Result<[Vec<f64>; K], SimulationError> {
        match &mut *self.form() {
            Form::One(one) => {
                let flow = one.march.flow_mut();
                flow.refresh()?;
                Ok(read(flow, faces)?)
            }
            Form::Several { ranks, .. } => ranks.on_faces(faces, read),
        }
    }

    /// A quantity of all cells.
    ///
    /// # Errors
    /// [`SimulationError`] where the backend or a rank failed.
    pub(super) fn quantity(
        &self,
        quantity: CellQuantity,
        gas_constant: f64,
    ) -> Result<Vec<f64>, SimulationError> {
        match &*self.form() {
            Form::One(one) => Ok(one.march.flow().values_of(quantity, gas_constant)?),
            Form::Several { ranks, .. } => ranks.quantity(quantity),
        }
    }

    /// Means of ρ, ρu and ρE of all cells: `[5][n_cells]`.
    ///
    /// # Errors
    /// [`SimulationError`] where the backend or a rank failed.
    pub(super) fn means(&self) -> Result<Vec<F>, SimulationError> {
        match &*self.form() {
            Form::One(one) => Ok(one.march.flow().own_means()?),
            Form::Several { ranks, .. } => ranks.means(),
        }
    }

    /// Σ V (ρ, ρu_x, ρu_y, ρu_z, ρE) and Σ V ½ |ρu|²/ρ.
    ///
    /// # Errors
    /// [`SimulationError`] where the backend or a rank failed.
    pub(super) fn totals(&self) -> Result<([f64; VARIABLES], f64), SimulationError> {
        match &mut *self.form() {
            Form::One(one) => {
                let flow = one.march.flow_mut();
                Ok((flow.totals()?, flow.kinetic_energy()?))
            }
            Form::Several { ranks, .. } => ranks.totals(),
        }
    }

    /// One step of length `step`, or an iteration.
    ///
    /// # Errors
    /// As [`March::advance`].
    pub(super) fn advance(&mut self, step: Option<f64>) -> Result<Advance, SimulationError> {
        let form = self.form.get_mut().unwrap_or_else(PoisonError::into_inner);
        match form {
            Form::One(one) => {
                let advance = one.march.advance(step)?;
                self.courant = one.march.courant;
                Ok(advance)
            }
            Form::Several { ranks, progress } => {
                let found = ranks.advance(step)?;
                let Step { advance, courant, .. } = found;
                (*progress, self.courant) = (found.progress, courant);
                Ok(advance)
            }
        }
    }

    /// Sets the means, of the whole mesh, with their time and number of steps.
    ///
    /// # Errors
    /// [`SimulationError`] where the backend or a rank failed.
    pub(super) fn restore(
        &mut self,
        means: Vec<F>,
        clock: (f64, usize),
    ) -> Result<(), SimulationError> {
        let form = self.form.get_mut().unwrap_or_else(PoisonError::into_inner);
        match form {
            Form::One(one) => one.march.restore(means, clock),
            Form::Several { ranks, progress } => {
                ranks.restore(means, clock)?;
                *progress = ranks.progress()?;
                Ok(())
            }
        }
    }
}
