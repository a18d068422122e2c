//! Reference quantities of force coefficients.

use crate::mesh::geometry::{cross, norm};

/// Reference quantities for the forces and the heat of a group of patches.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowReference {
    /// Whether the case gives a reference; without it there are no coefficients.
    pub has_reference: bool,
    /// Speed U > 0; default 1.
    pub velocity: f64,
    /// Area A > 0, in 2D per unit width; default 1.
    pub area: f64,
    /// Length L > 0, of the Strouhal and the Nusselt number; default 1.
    pub length: f64,
    /// Density ρ > 0; default 1.
    pub density: f64,
    /// Pressure that exerts no force; default 0.
    pub pressure: f64,
    /// Temperature difference > 0 of the Nusselt number; default 1.
    pub temperature_difference: f64,
    /// Unit vector along the drag; default x.
    pub drag_direction: [f64; 3],
    /// Unit vector along the lift; default y.
    pub lift_direction: [f64; 3],
    /// The point about which the moment is taken; without it there is none.
    pub moment_centre: Option<[f64; 3]>,
}

impl FlowReference {
    /// The axis of the moment coefficient: the unit vector along drag × lift direction, z by default; zero
    /// where these are parallel.
    pub fn moment_axis(&self) -> [f64; 3] {
        let axis = cross(self.drag_direction, self.lift_direction);
        let length = norm(axis);
        if length > 1e-9 { axis.map(|x| x / length) } else { [0.0; 3] }
    }
}
