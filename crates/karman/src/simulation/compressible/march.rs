//! The march of a compressible flow: in time, or to a steady state.

use super::super::SimulationError;
use super::super::equation::{Advance, SteadyProgress};
use crate::backend::Backend;
use crate::case::{CompressibleCase, SteadyCase, SteadyMarch};
use crate::compressible::steady::{Colours, ImplicitMarch, LocalMarch, SteadyIteration};
use crate::compressible::{CompressibleError, CompressibleSolver};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use crate::summary::NamedList;
use std::ops::Range;

/// A flow with its march.
pub(super) struct March<F: Real> {
    form: MarchForm<F>,
    /// Courant number of the last step.
    pub(super) courant: f64,
    /// Total energy after the first step of this run.
    first_energy: Option<f64>,
}

/// Growth of the total energy of a flow that has diverged: what enters through inlets does not multiply it so much.
const DIVERGED: f64 = 1e9;

enum MarchForm<F: Real> {
    InTime(Box<CompressibleSolver<F>>),
    Local(Box<LocalMarch<F>>, SteadyCase),
    Implicit(Box<ImplicitMarch<F>>, SteadyCase),
}

/// What a march to a steady state needs of the mesh of a flow.
pub(super) struct Domain {
    /// Σ V over all cells.
    volume: f64,
    /// Of the implicit march.
    colours: Option<Colours>,
}

impl Domain {
    /// The domain of the whole mesh.
    ///
    /// # Errors
    /// [`SimulationError`] where the cells cannot be coloured.
    pub(super) fn new(
        case: &CompressibleCase,
        (mesh, geometry): (&Mesh, &Geometry),
    ) -> Result<Domain, SimulationError> {
        let is_implicit = case.steady.is_some_and(|steady| steady.march == SteadyMarch::Implicit);
        let colours = is_implicit.then(|| Colours::new(mesh)).transpose();
        Ok(Domain {
            volume: geometry.cell_volume.iter().sum(),
            colours: colours.map_err(CompressibleError::from)?,
        })
    }

    /// That of the flow of a rank with a range of the cells.
    pub(super) fn of_range(&self, own: &Range<usize>) -> Domain {
        let colours = self.colours.as_ref().map(|colours| colours.of_range(own));
        Domain { volume: self.volume, colours }
    }
}

impl<F: Real> March<F> {
    pub(super) fn new(
        case: &CompressibleCase,
        backend: &Backend,
        Domain { volume, colours }: Domain,
        flow: CompressibleSolver<F>,
    ) -> Result<Self, SimulationError> {
        let form = match case.steady.map(|steady| (steady.march, steady.settings)) {
            None => MarchForm::InTime(Box::new(flow)),
            Some((SteadyMarch::LocalSteps { cfl }, settings)) => {
                let march = LocalMarch::new(backend, flow, volume, cfl);
                MarchForm::Local(Box::new(march), settings)
            }
            Some((SteadyMarch::Implicit, settings)) => {
                let Some(colours) = colours else { unreachable!("an implicit march has colours") };
                let of_mesh = (volume, colours);
                let march = ImplicitMarch::new(backend, flow, of_mesh, settings.pseudo_cfl)?;
                MarchForm::Implicit(Box::new(march), settings)
            }
        };
        Ok(March { form, courant: 0.0, first_energy: None })
    }

    /// The flow.
    pub(super) fn flow(&self) -> &CompressibleSolver<F> {
        match &self.form {
            MarchForm::InTime(flow) => flow,
            MarchForm::Local(march, _) => march.flow(),
            MarchForm::Implicit(march, _) => march.flow(),
        }
    }

    /// The flow, whose means stay as they are.
    pub(super) fn flow_mut(&mut self) -> &mut CompressibleSolver<F> {
        match &mut self.form {
            MarchForm::InTime(flow) => flow,
            MarchForm::Local(march, _) => march.flow_mut(),
            MarchForm::Implicit(march, _) => march.flow_mut(),
        }
    }

    /// Sets the means with their time and number of steps.
    pub(super) fn restore(
        &mut self,
        means: Vec<F>,
        clock: (f64, usize),
    ) -> Result<(), SimulationError> {
        self.flow_mut().restore(means, clock)?;
        if let MarchForm::Implicit(march, _) = &mut self.form {
            march.restart();
        }
        Ok(())
    }

    /// One step of length `step`, or an iteration.
    pub(super) fn advance(&mut self, step: Option<f64>) -> Result<Advance, SimulationError> {
        let (iteration, settings) = match (&mut self.form, step) {
            (MarchForm::InTime(flow), Some(step)) => {
                self.courant = step / flow.step_of(1.0);
                let report = flow.advance(step)?;
                let [mass, .., energy] = report.totals;
                let columns = [
                    ("cfl", self.courant),
                    ("mass", mass),
                    ("energy", energy),
                    ("kinetic_energy", flow.kinetic_energy()?),
                    ("fallback_cells", report.fallback_cells as f64),
                ];
                let rate = if report.invalid > 0 { f64::NAN } else { report.rate };
                let growth = energy / *self.first_energy.get_or_insert(energy);
                let divergence = (growth > DIVERGED).then(|| {
                    format!("the total energy is {growth:.1e} times that of the first step")
                });
                return Ok(Advance {
                    divergence,
                    ..report_of(rate, columns.into_iter().collect(), None)
                });
            }
            (MarchForm::Local(march, settings), None) => (march.iterate()?, *settings),
            (MarchForm::Implicit(march, settings), None) => (march.iterate()?, *settings),
            (MarchForm::InTime(_), None) => unreachable!("a flow in time has [time]"),
            (_, Some(_)) => unreachable!("a steady flow has no time step"),
        };
        let (_, steps) = self.flow().clock();
        self.courant = iteration.courant;
        Ok(report_of_iteration(&iteration, &settings, steps))
    }
}

/// The report of iteration number `steps`.
fn report_of_iteration(
    iteration: &SteadyIteration,
    settings: &SteadyCase,
    steps: usize,
) -> Advance {
    let residuals = iteration.residuals;
    let [mass, .., energy] = iteration.totals;
    let columns = [
        ("cfl", iteration.courant),
        ("mass", mass),
        ("energy", energy),
        ("fallback_cells", iteration.fallback_cells as f64),
        ("jacobian_products", iteration.products as f64),
        ("momentum_residual", residuals.momentum),
        ("mass_residual", residuals.mass),
        ("energy_residual", residuals.energy),
    ];
    let residual = residuals.largest();
    let progress = SteadyProgress {
        residual,
        is_converged: residual <= settings.tolerance,
        is_last: steps >= settings.max_iterations,
    };
    report_of(iteration.change, columns.into_iter().collect(), Some(progress))
}

/// The report of a step without a linear solve that must converge.
fn report_of(rate: f64, columns: NamedList<f64>, steady: Option<SteadyProgress>) -> Advance {
    Advance { solves: vec![], rate, columns, steady, warnings: vec![], divergence: None }
}
