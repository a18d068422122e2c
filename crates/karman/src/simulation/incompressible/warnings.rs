//! Warnings of a flow: time steps beyond the stability limit, cell Péclet numbers too large for central
//! differences, backflow at outlets. They are checked on the host, at steps 1, 2, 4 … 64 of a run and every
//! 64th step after them. At the end of a run, temperatures outside the range of their initial and boundary values.

use super::super::SimulationError;
use super::computation::{Computation, Reader};
use super::growth::{Growth, SpeedGrowth};
use crate::finite_volume::{BoundaryCondition, Prescribed};
use crate::incompressible::limits::{CourantLimits, has_outlet};
use crate::incompressible::{
    Convection, ConvectionTreatment, FlowCondition, Numerics, Problem, ReferenceSpeed,
    ThermalProblem, TimeScheme,
};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::sync::Arc;

/// Steps between checks after the first 64 steps.
const EVERY: usize = 64;
/// Least fraction of cells beyond a limit for a warning.
const CELL_FRACTION: f64 = 0.1;
/// Least backflow at an outlet for a warning, over the flow through the boundary.
const BACKFLOW: f64 = 1e-3;
/// Least overshoot of a temperature over its bounds for a warning, over their difference.
const OVERSHOOT: f64 = 0.01;

/// The checks of a flow and the warnings already given.
pub(super) struct FlowWarnings {
    scheme: TimeScheme,
    convection: Convection,
    conditions: Vec<FlowCondition>,
    limits: Option<Arc<CourantLimits>>,
    steps: usize,
    warned_courant: bool,
    warned_peclet: bool,
    warned_backflow: bool,
    /// Of an unsteady flow.
    growth: Option<SpeedGrowth>,
}

impl FlowWarnings {
    pub(super) fn new(
        numerics: &Numerics,
        problem: &Problem,
        reference: ReferenceSpeed,
    ) -> FlowWarnings {
        FlowWarnings {
            scheme: numerics.time_scheme,
            convection: numerics.convection,
            conditions: problem.conditions.clone(),
            growth: (!numerics.is_steady).then(|| SpeedGrowth::new(reference, numerics.convection)),
            limits: None,
            steps: 0,
            warned_courant: numerics.convection_treatment == ConvectionTreatment::Implicit,
            warned_peclet: numerics.convection != Convection::Central,
            warned_backflow: false,
        }
    }

    /// Gives none of the warnings that `earlier` gave.
    pub(super) fn go_on_after(&mut self, earlier: &FlowWarnings) {
        self.steps = earlier.steps;
        self.warned_courant = earlier.warned_courant;
        self.warned_peclet = earlier.warned_peclet;
        self.warned_backflow = earlier.warned_backflow;
        if let (Some(growth), Some(earlier)) = (&mut self.growth, &earlier.growth) {
            growth.go_on_after(earlier);
        }
    }

    /// Whether step `step` of the run is checked.
    fn is_due(step: usize) -> bool {
        step.is_power_of_two() && step < EVERY || step.is_multiple_of(EVERY)
    }

    /// The comparison of the speed with that expected; none in a steady flow.
    pub(super) fn growth(&self) -> Option<&SpeedGrowth> {
        self.growth.as_ref()
    }

    pub(super) fn growth_mut(&mut self) -> Option<&mut SpeedGrowth> {
        self.growth.as_mut()
    }

    /// Compares the speed of an unsteady flow with that expected, after a step and before [`Self::check`].
    pub(super) fn check_growth<F: Real>(
        &mut self,
        flow: &Computation<F>,
        mesh: &Mesh,
    ) -> Result<Growth, SimulationError> {
        let is_due = Self::is_due(self.steps + 1);
        match &mut self.growth {
            Some(growth) => growth.check(flow, mesh, is_due),
            None => Ok(Growth::default()),
        }
    }

    /// The new warnings after a step.
    pub(super) fn check<F: Real>(
        &mut self,
        flow: &Computation<F>,
        mesh: &Mesh,
    ) -> Result<Vec<String>, SimulationError> {
        self.steps += 1;
        let mut warnings = vec![];
        if !Self::is_due(self.steps) {
            return Ok(warnings);
        }
        let clock = flow.data().clock();
        if !self.warned_courant || !self.warned_peclet {
            let step = flow.data().step_before().unwrap_or(0.0);
            let (scheme, convection) = (self.scheme, self.convection);
            let limits =
                self.limits.get_or_insert_with(|| CourantLimits::new(scheme, convection).into());
            let found = flow.cell_limits(limits, step)?;
            let [beyond_courant, beyond_peclet] =
                [found.beyond_courant, found.beyond_peclet].map(|count| found.share(count));
            if !self.warned_courant && beyond_courant > CELL_FRACTION {
                self.warned_courant = true;
                warnings.push(format!(
                    "the Courant number exceeds the stability limit of {} with {} convection in {:.0} % of the \
                     cells; the largest is {:.2}, the limit {:.2} where convection dominates viscosity: set \
                     `cfl` below it, or expect growing oscillations",
                    scheme.word(),
                    convection.word(),
                    100.0 * beyond_courant,
                    found.courant,
                    limits.inviscid
                ));
            }
            if !self.warned_peclet && beyond_peclet > CELL_FRACTION {
                self.warned_peclet = true;
                warnings.push(format!(
                    "the cell Péclet number {} is above 2 in {:.0} % of the cells (largest {}), where \
                     central differences oscillate from cell to cell unless the mesh resolves the {}; \
                     `convection = \"linear_upwind\"` does not",
                    if found.is_thermal { "|u|h/α of the temperature" } else { "|u|h/ν" },
                    100.0 * beyond_peclet,
                    match found.peclet.is_finite() {
                        true => format!("{:.2e}", found.peclet),
                        false => "infinite".to_owned(),
                    },
                    if found.is_thermal { "temperature" } else { "flow" },
                ));
            }
        }
        if !self.warned_backflow && has_outlet(&self.conditions) {
            let flow = flow.fields_for(&Reader::BoundaryFluxes)?;
            let (entering, through) = flow.backflow(mesh, &self.conditions)?;
            let worst = entering.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((patch, entering)) = worst.filter(|(_, flow)| *flow > BACKFLOW * through) {
                self.warned_backflow = true;
                warnings.push(format!(
                    "backflow through the outlet \"{}\": {:.2} % of the flow through the boundary at step {}; \
                     move the outlet away from recirculation, or make it an `opening`",
                    mesh.patches[patch].name,
                    100.0 * entering / through,
                    clock.1
                ));
            }
        }
        Ok(warnings)
    }
}

/// The least and the largest value that a temperature can have: those of its boundary and, unless `is_steady`, its initial
/// values. None where it is heated otherwise, or where these values change in time.
pub(super) fn temperature_bounds(
    thermal: &ThermalProblem,
    (mesh, geometry): (&Mesh, &Geometry),
    is_steady: bool,
) -> Option<[f64; 2]> {
    let values = |of: &dyn Prescribed, points: &[f64]| {
        let mut values = vec![0.0; points.len() / 3];
        of.sample(points, 0.0, &mut values);
        values
    };
    let is_zero = |of: &dyn Prescribed, points: &[f64]| {
        !of.depends_on_time() && values(of, points).iter().all(|value| *value == 0.0)
    };
    let cells = &geometry.cell_centre;
    if !is_zero(&*thermal.source, cells) {
        return None;
    }
    let mut bounds = [f64::INFINITY, f64::NEG_INFINITY];
    let mut extend = |of: &dyn Prescribed, points: &[f64]| {
        for value in values(of, points) {
            bounds = [bounds[0].min(value), bounds[1].max(value)];
        }
    };
    if !is_steady {
        extend(&*thermal.initial, cells);
    }
    for (condition, patch) in thermal.conditions.iter().zip(&mesh.patches) {
        let n = mesh.n_faces();
        let points: Vec<f64> = (0..3)
            .flat_map(|k| patch.faces.clone().map(move |face| geometry.face_centre[k * n + face]))
            .collect();
        match condition {
            BoundaryCondition::Dirichlet(value)
            | BoundaryCondition::Robin { ambient: value, .. } => {
                if value.depends_on_time() {
                    return None;
                }
                extend(&**value, &points);
            }
            BoundaryCondition::Neumann(flux) => {
                if !is_zero(&**flux, &points) {
                    return None;
                }
            }
            BoundaryCondition::ZeroGradient | BoundaryCondition::Extrapolated => {}
        }
    }
    (bounds[0] < bounds[1]).then_some(bounds)
}

/// The warning of a temperature between `found` where it can lie between `bounds`.
pub(super) fn overshoot(
    convection: Convection,
    bounds: [f64; 2],
    found: (f64, f64),
) -> Option<String> {
    let overshoot = (bounds[0] - found.0).max(found.1 - bounds[1]) / (bounds[1] - bounds[0]);
    let advice = match convection {
        Convection::LimitedLinear => "refine the mesh where the temperature changes",
        _ => {
            "refine the mesh where the temperature changes, or set `convection = \"limited_linear\"`"
        }
    };
    (overshoot > OVERSHOOT).then(|| {
        format!(
            "the temperature, between {:.6} and {:.6}, leaves the range of its boundary and initial values, {} to {}, \
             by {:.0} % of it: {} convection overshoots; {advice}",
            found.0,
            found.1,
            bounds[0],
            bounds[1],
            100.0 * overshoot,
            convection.word()
        )
    })
}
