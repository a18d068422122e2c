//! Warnings of a flow: steps beyond what the scheme bears, cells too large for central differences, backflow at
//! outlets. Fields come to the host for it, at the steps 1, 2, 4 … 64 of a run and every 64th after them.

use super::super::SimulationError;
use crate::incompressible::limits::CourantLimits;
use crate::incompressible::{Convection, Flow, FlowCondition, Numerics, Scheme};
use crate::mesh::Mesh;
use crate::real::Real;

/// Steps between looks in the long run.
const EVERY: usize = 64;
/// The share of the cells beyond a limit that is worth a warning.
const SHARE: f64 = 0.1;
/// The part of the flow through the boundary that has to enter through an outlet for a warning.
const BACKFLOW: f64 = 1e-3;

/// What is watched, and what was told.
pub(super) struct Watch {
    scheme: Scheme,
    convection: Convection,
    conditions: Vec<FlowCondition>,
    limits: Option<CourantLimits>,
    steps: usize,
    told_courant: bool,
    told_peclet: bool,
    told_backflow: bool,
}

impl Watch {
    pub(super) fn new(numerics: &Numerics, conditions: &[FlowCondition]) -> Watch {
        Watch {
            scheme: numerics.scheme,
            convection: numerics.convection,
            conditions: conditions.to_vec(),
            limits: None,
            steps: 0,
            told_courant: false,
            told_peclet: numerics.convection != Convection::Central,
            told_backflow: false,
        }
    }

    /// What there is to say after a step.
    pub(super) fn look<F: Real>(
        &mut self,
        flow: &Flow<F>,
        mesh: &Mesh,
    ) -> Result<Vec<String>, SimulationError> {
        self.steps += 1;
        let is_due =
            self.steps.is_power_of_two() && self.steps < EVERY || self.steps.is_multiple_of(EVERY);
        let mut warnings = vec![];
        if !is_due {
            return Ok(warnings);
        }
        if !self.told_courant || !self.told_peclet {
            let step = flow.step_before().unwrap_or(0.0);
            let (scheme, convection) = (self.scheme, self.convection);
            let limits = self.limits.get_or_insert_with(|| CourantLimits::new(scheme, convection));
            let found = flow.cell_limits(limits, step)?;
            if !self.told_courant && found.beyond_courant > SHARE {
                self.told_courant = true;
                warnings.push(format!(
                    "the Courant number is beyond what {} with {} convection bears in {:.0} % of the cells; \
                     the largest is {:.2}, the limit {:.2} where convection outweighs viscosity: set `cfl` \
                     below it, or expect growing oscillations",
                    scheme_name(scheme),
                    convection_name(convection),
                    100.0 * found.beyond_courant,
                    found.courant,
                    limits.inviscid
                ));
            }
            if !self.told_peclet && found.beyond_peclet > SHARE {
                self.told_peclet = true;
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
        if !self.told_backflow {
            let (entering, through) = flow.backflow(mesh, &self.conditions)?;
            let worst = entering.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((patch, entering)) = worst.filter(|(_, flow)| *flow > BACKFLOW * through) {
                self.told_backflow = true;
                warnings.push(format!(
                    "fluid enters through the outlet \"{}\": {:.2} % of the flow through the boundary at step \
                     {}; move the outlet away from where the flow turns back, or make it `open`",
                    mesh.patches[patch].name,
                    100.0 * entering / through,
                    flow.clock().1
                ));
            }
        }
        Ok(warnings)
    }
}

fn scheme_name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Ab2Cn => "ab2_cn",
        Scheme::Bdf2 => "bdf2",
        Scheme::Rk3 => "rk3",
    }
}

fn convection_name(convection: Convection) -> &'static str {
    match convection {
        Convection::Central => "central",
        Convection::Upwind => "upwind",
        Convection::LinearUpwind => "linear_upwind",
        Convection::Cubic => "cubic",
    }
}
