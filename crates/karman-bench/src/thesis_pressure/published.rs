//! Tables 6.5 to 6.13 of Kamakolanu's thesis (2014), as printed there.

use super::FlowCase;
use crate::published::rows;

/// Figures of the thesis for one grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Cells.
    pub cells: usize,
    /// θ.
    pub strength: f64,
    /// Levels.
    pub levels: usize,
    /// α.
    pub boundary_weight: f64,
    /// Work units without and with multigrid.
    pub work_units: [f64; 2],
    /// Seconds of one pressure Poisson solve on the CPU and the GPU, each without and with multigrid.
    pub seconds: [f64; 4],
}

impl FlowCase {
    /// The thesis' grids, the largest last.
    pub fn published(self) -> Vec<Published> {
        let row = |[cells, strength, levels, boundary_weight, a, b, seconds @ ..]: [f64; 10]| {
            let (cells, levels) = (cells as usize, levels as usize);
            Published { cells, strength, levels, boundary_weight, work_units: [a, b], seconds }
        };
        let csv = match self {
            FlowCase::Cavity => include_str!("../../data/kamakolanu_cavity.csv"),
            FlowCase::SquareCylinder => include_str!("../../data/kamakolanu_square_cylinder.csv"),
            FlowCase::Jet => include_str!("../../data/kamakolanu_jet.csv"),
        };
        rows(csv).into_iter().map(row).collect()
    }

    /// Table numbers of the flow: parameters, work units, seconds.
    pub(super) fn tables(self) -> [&'static str; 3] {
        match self {
            FlowCase::Cavity => ["6.5", "6.6", "6.7"],
            FlowCase::SquareCylinder => ["6.8", "6.9", "6.10"],
            FlowCase::Jet => ["6.11", "6.12", "6.13"],
        }
    }

    /// β on the first coarse level and its increment per level. For the cavity the text says 1,
    /// "incremented for each level"; tables 6.8 and 6.11 have a single value.
    pub fn beta(self) -> [f64; 2] {
        match self {
            FlowCase::Cavity => [1.0, 1.0],
            FlowCase::SquareCylinder | FlowCase::Jet => [0.2, 0.0],
        }
    }
}
