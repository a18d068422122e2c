//! Exact solutions.

use crate::finite_volume::{Function, Prescribed};
use std::sync::Arc;

pub(super) const GAMMA: f64 = 1.4;

/// The isentropic vortex of Shu (NASA/CR-97-206253), strength β = 5, centred at (5, 5) in a periodic square of 10, moving by (1, 1).
/// At time `t`: ρ, u, v, w, p.
pub(super) fn vortex(x: [f64; 3], t: f64) -> [f64; 5] {
    let wrapped = |x: f64| x - 10.0 * (x / 10.0).floor();
    let (dx, dy) = (wrapped(x[0] - t) - 5.0, wrapped(x[1] - t) - 5.0);
    let square = dx * dx + dy * dy;
    let beta = 5.0;
    let envelope = beta / (2.0 * std::f64::consts::PI) * (0.5 * (1.0 - square)).exp();
    let temperature = 1.0
        - (GAMMA - 1.0) * beta * beta / (8.0 * GAMMA * std::f64::consts::PI.powi(2))
            * (1.0 - square).exp();
    let density = temperature.powf(1.0 / (GAMMA - 1.0));
    [density, 1.0 - envelope * dy, 1.0 + envelope * dx, 0.0, density * temperature]
}

/// The variables of a function of place and time as prescribed fields.
pub(super) fn fields(f: fn([f64; 3], f64) -> [f64; 5]) -> [Arc<dyn Prescribed>; 5] {
    [0, 1, 2, 3, 4].map(|k| Arc::new(Function(move |x, t| f(x, t)[k])) as Arc<dyn Prescribed>)
}
