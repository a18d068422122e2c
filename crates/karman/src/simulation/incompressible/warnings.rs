//! Warnings of a flow: time steps beyond the stability limit, cell Péclet numbers too large for central
//! differences, backflow at outlets. They are checked on the host, at steps 1, 2, 4 … 64 of a run and every
//! 64th step after them.

use super::super::SimulationError;
use crate::incompressible::limits::CourantLimits;
use crate::incompressible::{
    Convection, ConvectionTreatment, FlowCondition, IncompressibleSolver, Numerics, TimeScheme,
};
use crate::mesh::Mesh;
use crate::real::Real;

/// Steps between checks after the first 64 steps.
const EVERY: usize = 64;
/// Least fraction of cells beyond a limit for a warning.
const CELL_FRACTION: f64 = 0.1;
/// Least backflow at an outlet for a warning, over the flow through the boundary.
const BACKFLOW: f64 = 1e-3;

/// The checks of a flow and the warnings already given.
pub(super) struct FlowWarnings {
    scheme: TimeScheme,
    convection: Convection,
    conditions: Vec<FlowCondition>,
    limits: Option<CourantLimits>,
    steps: usize,
    warned_courant: bool,
    warned_peclet: bool,
    warned_backflow: bool,
}

impl FlowWarnings {
    pub(super) fn new(numerics: &Numerics, conditions: &[FlowCondition]) -> FlowWarnings {
        FlowWarnings {
            scheme: numerics.time_scheme,
            convection: numerics.convection,
            conditions: conditions.to_vec(),
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
    }

    /// The new warnings after a step.
    pub(super) fn check<F: Real>(
        &mut self,
        flow: &IncompressibleSolver<F>,
        mesh: &Mesh,
    ) -> Result<Vec<String>, SimulationError> {
        self.steps += 1;
        let is_due =
            self.steps.is_power_of_two() && self.steps < EVERY || self.steps.is_multiple_of(EVERY);
        let mut warnings = vec![];
        if !is_due {
            return Ok(warnings);
        }
        if !self.warned_courant || !self.warned_peclet {
            let step = flow.step_before().unwrap_or(0.0);
            let (scheme, convection) = (self.scheme, self.convection);
            let limits = self.limits.get_or_insert_with(|| CourantLimits::new(scheme, convection));
            let found = flow.cell_limits(limits, step)?;
            if !self.warned_courant && found.beyond_courant > CELL_FRACTION {
                self.warned_courant = true;
                warnings.push(format!(
                    "the Courant number exceeds the stability limit of {} with {} convection in {:.0} % of the \
                     cells; the largest is {:.2}, the limit {:.2} where convection dominates viscosity: set \
                     `cfl` below it, or expect growing oscillations",
                    scheme.word(),
                    convection.word(),
                    100.0 * found.beyond_courant,
                    found.courant,
                    limits.inviscid
                ));
            }
            if !self.warned_peclet && found.beyond_peclet > CELL_FRACTION {
                self.warned_peclet = true;
                warnings.push(format!(
                    "the cell Péclet number |u|h/ν is above 2 in {:.0} % of the cells (largest {}), where \
                     central differences oscillate from cell to cell unless the mesh resolves the flow; \
                     `convection = \"linear_upwind\"` does not",
                    100.0 * found.beyond_peclet,
                    match found.peclet.is_finite() {
                        true => format!("{:.2e}", found.peclet),
                        false => "infinite".to_owned(),
                    }
                ));
            }
        }
        if !self.warned_backflow {
            let (entering, through) = flow.backflow(mesh, &self.conditions)?;
            let worst = entering.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((patch, entering)) = worst.filter(|(_, flow)| *flow > BACKFLOW * through) {
                self.warned_backflow = true;
                warnings.push(format!(
                    "backflow through the outlet \"{}\": {:.2} % of the flow through the boundary at step {}; \
                     move the outlet away from recirculation, or make it an `opening`",
                    mesh.patches[patch].name,
                    100.0 * entering / through,
                    flow.clock().1
                ));
            }
        }
        Ok(warnings)
    }
}
