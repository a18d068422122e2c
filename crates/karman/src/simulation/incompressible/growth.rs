//! Growth of the speed of an unsteady flow beyond what its boundary, initial velocity and forces explain.
//!
//! The expected speed is U max(1, A): U is the reference speed of the problem ([`ReferenceSpeed`]), A the largest speed over U
//! after the first step. The projection of that step already accelerates the fluid in gaps and around edges, whatever
//! their width. A speed of 5 times the expected one is warned of once; one of 200 times it ends the run.
//!
//! The speed is reduced on the backend when the flow is checked and whenever Σ|F| / 2V has doubled since. Fields are copied to
//! the host where a limit may be exceeded.

use super::super::SimulationError;
use super::super::equation::named_cell;
use super::computation::Computation;
use crate::incompressible::{Convection, ReferenceSpeed};
use crate::io::csv::short_number;
use crate::mesh::Mesh;
use crate::real::Real;

/// Speed over the expected one that is warned of.
const UNEXPECTED: f64 = 5.0;
/// Speed over the expected one of a flow that has diverged.
const DIVERGED: f64 = 200.0;
/// Growth of Σ|F| / 2V after which the speed is compared again.
const GROWTH: f64 = 2.0;

/// The array of a checkpoint and its length.
pub(super) const GROWTH_ARRAY: (&str, usize) = ("speed_growth", 4);

/// The comparison of the speed with that expected.
pub(super) struct SpeedGrowth {
    reference: ReferenceSpeed,
    convection: Convection,
    /// A.
    amplification: Option<f64>,
    /// Largest Σ|F| / 2V at the last comparison.
    rate: f64,
    is_warned: bool,
}

/// The result of a comparison.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Growth {
    /// A new warning.
    pub warning: Option<String>,
    /// Why the flow has diverged.
    pub divergence: Option<String>,
}

impl SpeedGrowth {
    pub(super) fn new(reference: ReferenceSpeed, convection: Convection) -> Self {
        SpeedGrowth { reference, convection, amplification: None, rate: 0.0, is_warned: false }
    }

    /// Goes on with the expected speed of `earlier`.
    pub(super) fn go_on_after(&mut self, earlier: &SpeedGrowth) {
        self.reference = earlier.reference.clone();
        self.amplification = earlier.amplification;
        self.is_warned = earlier.is_warned;
    }

    /// The values of a checkpoint: largest reference speed, body force and A so far, A = 0 before the first comparison; 1 after
    /// the warning.
    pub(super) fn values(&self) -> Vec<f64> {
        let [speed, force] = self.reference.largest();
        let amplification = self.amplification.unwrap_or(0.0);
        vec![speed, force, amplification, f64::from(u8::from(self.is_warned))]
    }

    /// Continues from the values of a checkpoint.
    pub(super) fn restore(&mut self, values: &[f64]) {
        let &[speed, force, amplification, warned] = values else { return };
        self.reference.restore([speed, force]);
        self.amplification = Some(amplification).filter(|a| *a > 0.0);
        self.is_warned = warned > 0.0;
    }

    /// Compares the speed after a step, if that `is_due` or the convective rate has doubled.
    pub(super) fn check<F: Real>(
        &mut self,
        flow: &Computation<F>,
        mesh: &Mesh,
        is_due: bool,
    ) -> Result<Growth, SimulationError> {
        let rate = flow.data().convective_rate();
        if !is_due && rate <= GROWTH * self.rate {
            return Ok(Growth::default());
        }
        self.rate = rate;
        let needs_temperature = self.reference.needs_temperature();
        let temperature = if needs_temperature { flow.temperature_range()? } else { None };
        let reference = self.reference.update(&flow.data(), temperature);
        let bound = flow.speed_bound()?;
        if reference == 0.0 || !bound.is_finite() {
            return Ok(Growth::default());
        }
        let amplification = *self.amplification.get_or_insert(bound / reference);
        let expected = reference * amplification.max(1.0);
        let limit = if self.is_warned { DIVERGED } else { UNEXPECTED };
        if bound <= limit * expected {
            return Ok(Growth::default());
        }
        let flow = flow.fields()?;
        let (cell, speed) = flow.fastest_cell()?;
        let ratio = speed / expected;
        let said = format!(
            "the speed has grown to {} m/s in {}, {} times the {} m/s that boundary, initial velocity and forces explain",
            rounded(speed),
            named_cell(mesh, cell),
            rounded(ratio),
            rounded(expected),
        );
        if ratio > DIVERGED {
            return Ok(Growth { divergence: Some(said), warning: None });
        }
        let is_new = ratio > UNEXPECTED && !self.is_warned;
        self.is_warned |= is_new;
        let upwind = match self.convection {
            Convection::Upwind => "",
            _ => ", or set `convection = \"upwind\"`",
        };
        let warning = is_new.then(|| {
            format!(
                "{said}, at step {}: look at the mesh there with `karman mesh check` and refine it{upwind}",
                flow.clock().1
            )
        });
        Ok(Growth { warning, divergence: None })
    }
}

/// A number of three digits.
fn rounded(value: f64) -> String {
    short_number(format!("{value:.2e}").parse().unwrap_or(value))
}
