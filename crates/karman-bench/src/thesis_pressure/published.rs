//! Tables 6.5 to 6.13 of Kamakolanu's thesis (2014), as printed there.

use super::FlowCase;

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

const fn grid(
    cells: usize,
    (strength, levels, boundary_weight): (f64, usize, f64),
    work_units: [f64; 2],
    seconds: [f64; 4],
) -> Published {
    Published { cells, strength, levels, boundary_weight, work_units, seconds }
}

/// d days, h hours, m minutes, s seconds.
const fn time(d: u32, h: u32, m: u32, s: f64) -> f64 {
    (((d * 24 + h) * 60 + m) * 60) as f64 + s
}

/// Tables 6.5 to 6.7: the lid-driven cavity.
const CAVITY: [Published; 4] = [
    grid(
        1_060_000,
        (0.05, 4, 5.0),
        [19_604.0, 1226.86],
        [time(0, 3, 8, 54.0), time(0, 1, 2, 20.0), 21.09, 9.69],
    ),
    grid(
        1_580_000,
        (0.25, 4, 5.0),
        [26_620.0, 1784.54],
        [time(0, 5, 23, 33.0), time(0, 1, 52, 13.0), 42.89, 18.84],
    ),
    grid(
        2_100_000,
        (0.05, 4, 5.0),
        [36_036.0, 3175.43],
        [time(0, 11, 30, 50.0), time(0, 3, 14, 20.0), 76.0, 33.09],
    ),
    grid(
        2_620_000,
        (0.05, 4, 5.0),
        [47_242.0, 8644.2],
        [time(0, 20, 8, 37.0), time(0, 10, 48, 34.0), 124.0, 79.0],
    ),
];

/// Tables 6.8 to 6.10: the square cylinder.
const SQUARE_CYLINDER: [Published; 4] = [
    grid(
        203_748,
        (0.12, 3, 5.0),
        [179_829.0, 11_030.0],
        [time(0, 2, 2, 25.0), time(0, 0, 55, 7.0), 41.35, 6.61],
    ),
    grid(
        302_310,
        (0.1, 3, 5.0),
        [189_092.0, 12_087.1],
        [time(0, 3, 4, 40.0), time(0, 1, 39, 10.0), 57.09, 9.19],
    ),
    grid(
        403_510,
        (0.01, 4, 5.0),
        [326_385.0, 15_430.6],
        [time(0, 7, 13, 14.0), time(0, 1, 55, 22.0), 121.0, 15.47],
    ),
    grid(
        1_713_160,
        (0.05, 4, 5.0),
        [634_579.0, 31_458.3],
        [time(0, 26, 19, 48.0), time(0, 14, 56, 10.0), time(0, 0, 13, 53.0), 93.0],
    ),
];

/// Tables 6.11 to 6.13: the plain jet.
const JET: [Published; 4] = [
    grid(
        281_328,
        (0.15, 3, 30.0),
        [518_388.0, 79_350.9],
        [time(0, 5, 17, 7.0), time(0, 5, 40, 7.0), time(0, 0, 7, 33.0), time(0, 0, 5, 0.0)],
    ),
    grid(
        1_547_208,
        (0.05, 5, 30.0),
        [924_602.0, 51_743.5],
        [time(1, 10, 8, 39.0), time(1, 21, 24, 4.0), time(0, 1, 6, 42.0), time(0, 0, 34, 5.0)],
    ),
    grid(
        1_930_968,
        (0.05, 5, 30.0),
        [1_038_050.0, 59_595.8],
        [time(1, 15, 46, 20.0), time(2, 15, 52, 53.0), time(0, 1, 33, 37.0), time(0, 0, 41, 7.0)],
    ),
    grid(
        2_698_488,
        (0.05, 5, 30.0),
        [1_334_640.0, 67_704.0],
        [time(1, 17, 53, 41.0), time(4, 9, 23, 53.0), time(0, 2, 46, 53.0), time(0, 0, 53, 55.0)],
    ),
];

impl FlowCase {
    /// The thesis' grids, the largest last.
    pub fn published(self) -> &'static [Published] {
        match self {
            FlowCase::Cavity => &CAVITY,
            FlowCase::SquareCylinder => &SQUARE_CYLINDER,
            FlowCase::Jet => &JET,
        }
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
