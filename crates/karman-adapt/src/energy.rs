//! The energy that the last operations minimise.
//!
//! E = Σ_cells (1/Q − 1 + γ) + β Σ_edges φ(l), φ(l) = ½ x² (1 + x⁸) with x = ln l / ln √2: φ = 1 at both ends of the range of
//! lengths, small inside and steep outside. An operation is accepted where it lowers E, so that none undoes another and the
//! sequence ends. γ makes a coarser mesh of the same fit the better one.

/// Weight β of the lengths of edges.
const LENGTH_WEIGHT: f64 = 0.4;
/// Weight γ of the number of cells.
const CELL_WEIGHT: f64 = 1.0;
/// Least decrease of the energy for a change.
pub(crate) const LEAST_DECREASE: f64 = 1e-3;

/// Edges that an operation makes are never longer: φ is above 500 there.
pub(crate) const LONGEST: f64 = 2.0;

/// 1/Q − 1 + γ; infinite for a cell that is not positively oriented.
#[inline]
pub(crate) fn of_cell(quality: f64) -> f64 {
    if quality > 0.0 { 1.0 / quality - 1.0 + CELL_WEIGHT } else { f64::INFINITY }
}

/// β φ(l).
#[inline]
pub(crate) fn of_edge(length: f64) -> f64 {
    let x = 2.0 * length.log2();
    let square = x * x;
    let fourth = square * square;
    LENGTH_WEIGHT * 0.5 * square * (1.0 + fourth * fourth)
}
