//! Observed orders of convergence and Richardson extrapolation to zero mesh size.

use super::CaseResult;
use crate::expected::number_at;

/// Accepted range of observed orders: outside it the meshes are not in the asymptotic range.
const ORDERS: [f64; 2] = [0.5, 4.5];

/// A value on the finest mesh and its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extrapolation {
    pub(super) finest: f64,
    pub(super) limit: f64,
    /// Observed order.
    pub(super) order: f64,
}

/// Values of an entry of the summary, the finest mesh first; the refinement ratio is 2.
pub(super) fn values(result: &CaseResult, path: &str) -> Vec<f64> {
    result.runs.iter().map_while(|run| number_at(&run.summary, path)).collect()
}

/// Richardson extrapolation from the three finest meshes: p = log₂((f₄ − f₂)/(f₂ − f₁)),
/// f = f₁ + (f₁ − f₂)/(2ᵖ − 1). None where p is not finite or outside [`ORDERS`].
pub(super) fn extrapolation(result: &CaseResult, path: &str) -> Option<Extrapolation> {
    let [finest, coarser, coarsest, ..] = values(result, path)[..] else { return None };
    let (fine, coarse) = (finest - coarser, coarser - coarsest);
    let order = (coarse / fine).log2();
    let is_accepted = order.is_finite() && (ORDERS[0]..=ORDERS[1]).contains(&order);
    is_accepted.then(|| Extrapolation {
        finest,
        limit: finest + fine / (order.exp2() - 1.0),
        order,
    })
}

/// The observed order of an error between the two finest meshes.
pub(super) fn order_of_error(errors: &[f64]) -> Option<f64> {
    let [fine, coarse, ..] = errors else { return None };
    let order = (coarse / fine).log2();
    order.is_finite().then_some(order)
}
