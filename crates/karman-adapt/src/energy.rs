//! The energy that the last operations minimise.
//!
//! E = Σ_cells (1/Q − 1 + γ) + β Σ_edges φ(l), with x = ln l / ln √2 in φ, which is 1 at both ends of the range of lengths. An operation
//! is accepted where it lowers E, so that none undoes another and the sequence ends. γ makes a coarser mesh of the same fit the better one.

use karman_macros::Keyword;

/// Weight β and shape φ of the lengths of edges beside the qualities of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Keyword)]
pub enum LengthPenalty {
    /// φ = ½ x² (1 + x⁸), β = 0.4: small inside of the range of lengths and steep outside.
    #[default]
    Steep,
    /// φ = x², β = 5: lengths count more than qualities. Fewer vertices have the same share of edges in the range where the metric turns
    /// within a cell.
    Even,
}

/// Weight γ of the number of cells.
const CELL_WEIGHT: f64 = 1.0;
/// Least energy of a cell: that of an equilateral one.
pub(crate) const LEAST_OF_CELL: f64 = CELL_WEIGHT;
/// The decrease of the energy below which an operation is not made.
///
/// A change lets the operations of its cells be evaluated again: without a least gain the last sweeps visit the whole mesh for changes
/// that do not show in the fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeastGain {
    /// Of a change of cells.
    pub(crate) energy: f64,
    /// Of a move, as a share of the energy of the cells and edges of the vertex.
    pub(crate) share: f64,
}

impl LeastGain {
    /// Of passes, whose meshes are still far from the metric.
    pub(crate) const OF_PASSES: LeastGain = LeastGain { energy: 0.05, share: 0.02 };
    /// Of the repair of the worst cells, which is no further round of the cells around them.
    pub(crate) const OF_REPAIRS: LeastGain = LeastGain { energy: 0.03, share: 0.008 };
    /// Of smoothing alone.
    pub(crate) const OF_SMOOTHING: LeastGain = LeastGain { energy: 1e-3, share: 3e-4 };

    /// Of a round of relaxation with so many to follow: half of that of the round before, so that large gains come first.
    pub(crate) fn of_round(following: usize) -> LeastGain {
        let factor = 2.0_f64.powi(following.min(4) as i32);
        LeastGain { energy: 0.005 * factor, share: 0.00125 * factor }
    }
}

/// Edges that an operation makes are never longer: φ is 4 or more there.
pub(crate) const LONGEST: f64 = 2.0;

/// The energy of a cell of the distortion 1/Q: 1/Q − 1 + γ, and above an acceptable distortion q the square of 1/Q − q besides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellPenalty {
    /// q; infinite by default.
    pub(crate) acceptable: f64,
}

impl Default for CellPenalty {
    fn default() -> Self {
        CellPenalty { acceptable: f64::INFINITY }
    }
}

impl CellPenalty {
    #[inline]
    pub(crate) fn of_cell(self, distortion: f64) -> f64 {
        let energy = distortion - 1.0 + CELL_WEIGHT;
        if distortion <= self.acceptable {
            return energy;
        }
        let beyond = distortion - self.acceptable;
        energy + beyond * beyond
    }
}

/// ln l; of lengths about 1 by the series of 2 artanh z, z = (l − 1)/(l + 1), whose next term is below 1e-13.
#[inline]
fn logarithm(length: f64) -> f64 {
    let z = (length - 1.0) / (length + 1.0);
    if z.abs() > 0.2 {
        return length.ln();
    }
    let terms = [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0];
    let series = terms.iter().fold(1.0 / 17.0, |sum, n| sum * z * z + 1.0 / n);
    2.0 * z * (1.0 + z * z * series)
}

impl LengthPenalty {
    /// β φ(l).
    #[inline]
    pub(crate) fn of_edge(self, length: f64) -> f64 {
        let x = 2.0 * std::f64::consts::LOG2_E * logarithm(length);
        let square = x * x;
        let fourth = square * square;
        match self {
            LengthPenalty::Steep => 0.4 * 0.5 * square * (1.0 + fourth * fourth),
            LengthPenalty::Even => 5.0 * square,
        }
    }
}
