//! A case of compressible flow on the run loop.

mod computation;
mod fields;
mod march;
mod monitors;
mod ranks;
mod setup;
mod speeds;
mod surface;

use super::averages::{Averages, TimeAverages};
use super::equation::{Advance, Equation, Monitored, Unknown};
use super::location::Location;
use super::partition::ArrayPlace;
use super::prescribed::shared;
use super::surface::SurfaceSamples;
use super::{OutcomeKind, SimulationError, Transfer, state_error};
use crate::backend::{Backend, converted};
use crate::case::{Case, CompressibleCase, Equation as EquationCase, ExactField, Surface};
use crate::compressible::cell_means::{conserved_means, means};
use crate::compressible::descriptor::{DENSITY, PRESSURE, VELOCITY};
use crate::compressible::state::VARIABLES;
use crate::compressible::viscous::ViscousGas;
use crate::compressible::{
    CellQuantity, CompressibleBoundaryCondition, CompressibleCondition, CompressibleProblem,
    DESCRIPTOR, PrescribedFields,
};
use crate::descriptor::{Descriptor, FieldData};
use crate::finite_volume::Prescribed;
use crate::io::checkpoint::{Checkpoint, CheckpointError, Checkpointed, NamedArray};
use crate::mesh::{Geometry, Mesh, Patch};
use crate::real::Real;
use crate::summary::{FlowSummary, GasSummary, LinearSummary, NamedList, Summary};
use computation::Computation;
use fields::{FieldBuffers, quantities};
use monitors::Monitors;
use speeds::OpenPatches;
use std::sync::Arc;

/// The array of the means in checkpoints, `[variable][n_cells]`.
const MEANS: &str = "conserved_means";

/// A compressible flow with its monitors.
struct CompressibleRun<F: Real> {
    backend: Backend,
    computation: Computation<F>,
    unknowns: Vec<Unknown>,
    dimension: usize,
    gas_constant: f64,
    viscous: Option<ViscousGas>,
    monitors: Monitors,
    open_patches: OpenPatches,
    averages: Averages<F>,
    buffers: FieldBuffers<F>,
}

impl<F: Real> CompressibleRun<F> {
    /// The flow at a time and number of steps with prescribed ρ, u_x, u_y, u_z and p.
    fn start(
        case: &Case,
        own: &CompressibleCase,
        backend: &Backend,
        place: (&Mesh, &Geometry),
        initial: PrescribedFields,
    ) -> Result<Self, SimulationError> {
        let (mesh, _) = place;
        let problem = CompressibleProblem {
            gamma: own.gamma,
            conditions: mesh.patches.iter().map(|patch| condition(own, patch)).collect(),
            initial,
            source: own.source.as_ref().map(|source| source.each_ref().map(shared)),
            viscous: own.viscous,
        };
        let mut names = vec![DENSITY];
        names.extend(&VELOCITY[..mesh.dimension]);
        names.push(PRESSURE);
        let unknown = |name: &&'static str| Unknown { name, has_mean_zero: false };
        let monitors = Monitors::new(case, place)?;
        let (ranks, places) = (case.run.ranks, monitors.places());
        let computation = Computation::new(ranks, backend, own, place, &problem, places)?;
        // Several ranks accumulate the averages: no device has them on the whole mesh.
        let of_averages = &if ranks == 1 { backend.clone() } else { backend.on_host() };
        let mut averages = fields::averages(of_averages, case, mesh, &names);
        computation.leave_averages_to_ranks(&mut averages)?;
        Ok(CompressibleRun {
            monitors,
            open_patches: OpenPatches::new(place, &problem.conditions, own.viscous.is_some()),
            averages,
            buffers: fields::buffers(backend, case, mesh),
            computation,
            backend: backend.clone(),
            unknowns: names.iter().map(unknown).collect(),
            dimension: mesh.dimension,
            gas_constant: own.gas_constant,
            viscous: own.viscous,
        })
    }

    fn quantity(&self, quantity: CellQuantity) -> Result<Vec<f64>, SimulationError> {
        self.computation.quantity(quantity, self.gas_constant)
    }

    fn no_field(&self, name: &str) -> SimulationError {
        let known: Vec<&str> = self.unknowns.iter().map(|unknown| unknown.name).collect();
        let known = format!("`{}`", known.join("`, `"));
        SimulationError::NoField { name: name.to_owned(), known }
    }
}

/// Whether ρ, ρu and ρE have a positive density and pressure; such states are a convex set.
fn is_gas(q: &[f64]) -> bool {
    let kinetic = 0.5 * (q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) / q[0];
    q[0] > 0.0 && q[4] - kinetic > 0.0
}

fn condition(case: &CompressibleCase, patch: &Patch) -> CompressibleCondition {
    let given = case.boundary.iter().find(|p| p.patch == patch.name);
    // Patches without a condition were refused; periodic patches no longer exist.
    let condition = given.and_then(|given| given.condition.condition());
    condition.map_or(CompressibleBoundaryCondition::Slip, |condition| condition.map(shared))
}

impl<F: Real> Equation for CompressibleRun<F> {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn unknowns(&self) -> &[Unknown] {
        &self.unknowns
    }

    fn location(&self) -> Location {
        Location::Cells
    }

    fn clock(&self) -> (f64, usize) {
        self.computation.clock()
    }

    fn advance(&mut self, _mesh: &Mesh, step: Option<f64>) -> Result<Advance, SimulationError> {
        self.computation.advance(step)
    }

    fn fault(&self, name: &str, value: f64) -> Option<&'static str> {
        let must_be_positive = name == DENSITY || name == PRESSURE;
        (must_be_positive && value <= 0.0).then_some("is not positive")
    }

    fn monitor(&mut self) -> Result<Monitored, SimulationError> {
        if self.monitors.are_none() {
            return Ok(Monitored::default());
        }
        let (states, loads) = self.computation.monitored()?;
        let monitored = self.monitors.evaluate(states, &loads);
        self.averages.add_probes(&monitored.probes);
        Ok(monitored)
    }

    fn accumulate(&mut self, before: f64) -> Result<(), SimulationError> {
        let CompressibleRun { computation, averages, buffers, .. } = self;
        if averages.is_empty() {
            return Ok(());
        }
        let (gas_constant, dimension) = (self.gas_constant, self.dimension);
        let (after, _) = computation.clock();
        let mut fields = match computation.of_one() {
            Some(flow) => Some(fields::Fields { flow, buffers, gas_constant, dimension }),
            None => None,
        };
        averages.add([before, after], |_| 0.0, fields.as_mut())
    }

    fn averages(&self) -> &dyn TimeAverages {
        &self.averages
    }

    fn warnings_at_end(&mut self, _end: OutcomeKind) -> Result<Vec<String>, SimulationError> {
        self.open_patches.warnings(&self.computation)
    }

    fn line(&mut self, line: usize) -> Result<Vec<(String, Vec<f64>)>, SimulationError> {
        Ok(self.monitors.line(line, self.computation.on_line(line)?))
    }

    fn surface(
        &mut self,
        place: (&Mesh, &Geometry),
        of: &Surface,
    ) -> Result<SurfaceSamples, SimulationError> {
        let gas = surface::Gas { constant: self.gas_constant, viscous: self.viscous };
        surface::sample(&self.computation, gas, place, of)
    }

    fn field(&self, name: &str) -> Result<Vec<f64>, SimulationError> {
        let is_unknown = self.unknowns.iter().any(|unknown| unknown.name == name);
        match quantities(name, self.dimension).as_slice() {
            [quantity] if is_unknown => self.quantity(*quantity),
            _ => Err(self.no_field(name)),
        }
    }

    fn output_field(&self, mesh: &Mesh, name: &str) -> Result<FieldData, SimulationError> {
        let quantities = quantities(name, mesh.dimension);
        match quantities.as_slice() {
            [] => Err(self.no_field(name)),
            [quantity] => Ok(FieldData::Scalar(self.quantity(*quantity)?)),
            several => {
                let mut components = [vec![], vec![], vec![0.0; mesh.n_cells()]];
                for (component, quantity) in components.iter_mut().zip(several) {
                    *component = self.quantity(*quantity)?;
                }
                Ok(FieldData::Vector(components))
            }
        }
    }

    /// The means of exact density, momentum and energy as density, velocity and pressure; NaN where these are no state of a gas.
    fn exact_means(
        &self,
        mesh: &Mesh,
        exact: &[ExactField],
    ) -> Result<NamedList<Vec<f64>>, SimulationError> {
        let (time, _) = self.clock();
        let given = |name: &str| exact.iter().find(|exact| exact.field == name);
        let prescribed = |name: &str| given(name).map(|exact| shared(&exact.value));
        let Some(density) = prescribed(DENSITY) else { return Ok(NamedList::new()) };
        let geometry = Geometry::new(mesh)?;
        let place = (mesh, &geometry);
        let (Some(x), Some(pressure)) = (prescribed(VELOCITY[0]), prescribed(PRESSURE)) else {
            let means = means(place, density.as_ref(), time);
            return Ok([(DENSITY, means)].into_iter().collect());
        };
        let zero: Arc<dyn Prescribed> = Arc::new(0.0);
        let [y, z] = [1, 2].map(|k| prescribed(VELOCITY[k]).unwrap_or_else(|| zero.clone()));
        let n = mesh.n_cells();
        let gamma = self.computation.gamma();
        let found = conserved_means(place, n, &[density, x, y, z, pressure], gamma, time);
        let q = found.unwrap_or_else(|_| vec![f64::NAN; 5 * n]);
        let density = &q[..n];
        let velocity = |k: usize| -> Vec<f64> {
            density.iter().zip(&q[(1 + k) * n..]).map(|(rho, momentum)| momentum / rho).collect()
        };
        let components: Vec<Vec<f64>> = (0..self.dimension).map(velocity).collect();
        let pressure = |c: usize| {
            let square = components.iter().map(|u| u[c] * u[c]).fold(0.0, |a, b| a + b);
            (gamma - 1.0) * (q[4 * n + c] - 0.5 * q[c] * square)
        };
        let pressure: Vec<f64> = (0..n).map(pressure).collect();
        let named = [(DENSITY, density.to_vec()), (PRESSURE, pressure)];
        Ok(named.into_iter().chain(VELOCITY.into_iter().zip(components)).collect())
    }

    fn array_places(&self) -> Vec<(String, ArrayPlace)> {
        let mut places = self.averages.array_places(Location::Cells);
        places.push((MEANS.to_owned(), ArrayPlace::Unknowns(Location::Cells)));
        places
    }

    fn longest_step(&self, number: f64, longest: f64) -> Result<f64, SimulationError> {
        Ok(self.computation.step_of(number).min(longest))
    }

    fn rebuild(
        &mut self,
        case: &Case,
        place: (&Mesh, &Geometry),
        transfer: &Transfer,
    ) -> Result<(), SimulationError> {
        let EquationCase::Compressible(own) = &case.equation else {
            unreachable!("a case of compressible flow")
        };
        let transferred = |values: Vec<f64>| transfer.values(&values, &place.1.cell_centre);
        let means: Vec<f64> = converted(self.computation.means()?);
        let n = means.len() / VARIABLES;
        let fields: Vec<&[f64]> = means.chunks(n).collect();
        let states = transfer.states(&fields, &place.1.cell_centre, &is_gas);
        let means: Vec<F> = states.concat().into_iter().map(F::from_f64).collect();
        // Any state: the means replace it.
        let initial = [1.0, 0.0, 0.0, 0.0, 1.0].map(|value| Arc::new(value) as Arc<dyn Prescribed>);
        let mut rebuilt = CompressibleRun::start(case, own, &self.backend, place, initial)?;
        rebuilt.computation.restore(means, self.clock())?;
        rebuilt.computation.courant = self.computation.courant;
        rebuilt.averages.go_on_after(&self.averages, transferred)?;
        *self = rebuilt;
        Ok(())
    }

    fn linear_summary(&self) -> Option<LinearSummary> {
        None
    }

    fn summarize(&mut self, summary: &mut Summary) -> Result<(), SimulationError> {
        let courant = self.computation.courant;
        let ([mass, .., energy], kinetic_energy) = self.computation.totals()?;
        let sizes = self.computation.stencil_sizes().iter().enumerate();
        let found = sizes.filter(|(size, count)| *size > 0 && **count > 0);
        let stencil_sizes = found.map(|(size, count)| (size.to_string(), *count)).collect();
        let gas = GasSummary { mass, energy, kinetic_energy, courant, stencil_sizes };
        summary.flow = Some(FlowSummary::Compressible(gas));
        Ok(())
    }
}

/// Values are stored as `f64`, which represents every `f32` exactly.
impl<F: Real> Checkpointed for CompressibleRun<F> {
    fn arrays(&self) -> Result<Vec<NamedArray>, CheckpointError> {
        let means = self.computation.means().map_err(state_error)?;
        let (time, steps) = self.clock();
        let mut arrays = vec![
            NamedArray::reals(MEANS, converted(means)),
            NamedArray::reals("clock", vec![time, steps as f64]),
            NamedArray::reals("courant", vec![self.computation.courant]),
        ];
        arrays.extend(self.averages.arrays()?);
        Ok(arrays)
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let size = VARIABLES * self.computation.n_cells();
        let means = checkpoint.reals(MEANS, &[size])?;
        let clock = checkpoint.reals("clock", &[2])?;
        let (time, steps) = (clock[0], clock[1] as usize);
        self.computation.courant = checkpoint.reals("courant", &[1])?[0];
        let means: Vec<F> = means.iter().map(|value| F::from_f64(*value)).collect();
        self.computation.restore(means, (time, steps)).map_err(state_error)?;
        self.averages.restore(checkpoint, time)
    }
}
