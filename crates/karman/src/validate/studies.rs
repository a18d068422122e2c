//! What several meshes tell: orders of errors, values extrapolated to no spacing.

use super::CaseResult;
use crate::expected::number_at;

/// Orders between which an extrapolation is believed: outside, the meshes are too coarse for one.
const ORDERS: [f64; 2] = [0.5, 4.5];

/// A value on the finest mesh and its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extrapolation {
    pub(super) finest: f64,
    pub(super) limit: f64,
    /// Order observed.
    pub(super) order: f64,
}

/// Values of an entry of the summary, the finest mesh first, each mesh half as fine as that before.
pub(super) fn values(result: &CaseResult, path: &str) -> Vec<f64> {
    result.runs.iter().map_while(|run| number_at(&run.summary, path)).collect()
}

/// Richardson's extrapolation from the three finest meshes: p = log₂((f₄ − f₂)/(f₂ − f₁)),
/// f = f₁ + (f₁ − f₂)/(2ᵖ − 1). None where differences do not fall, or by an order beyond belief.
pub(super) fn extrapolation(result: &CaseResult, path: &str) -> Option<Extrapolation> {
    let [finest, coarser, coarsest, ..] = values(result, path)[..] else { return None };
    let (fine, coarse) = (finest - coarser, coarser - coarsest);
    let order = (coarse / fine).log2();
    let believed = order.is_finite() && (ORDERS[0]..=ORDERS[1]).contains(&order);
    believed.then(|| Extrapolation { finest, limit: finest + fine / (order.exp2() - 1.0), order })
}

/// The order at which an error falls between the two finest meshes.
pub(super) fn order_of_error(errors: &[f64]) -> Option<f64> {
    let [fine, coarse, ..] = errors else { return None };
    let order = (coarse / fine).log2();
    order.is_finite().then_some(order)
}
