//! The tables of Kamakolanu's thesis (2014) on heat transfer, as printed there.

/// Figures of the thesis for one grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Cells. Tables 6.3 and 6.4 have 89 153 for the first grid.
    pub cells: usize,
    /// Table 6.1: θ.
    pub strength: f64,
    /// Table 6.1: levels.
    pub levels: usize,
    /// Table 6.2: work units without and with multigrid.
    pub work_units: [f64; 2],
    /// Table 6.3: seconds of the steady solve; see [`COLUMNS`].
    pub steady_seconds: [f64; 4],
    /// Table 6.4: seconds of 24 000 steps; see [`COLUMNS`].
    pub unsteady_seconds: [f64; 4],
    /// Table 6.14: work units of the variants, none where they diverge; see [`VARIANTS`].
    pub variant_work_units: [Option<f64>; 4],
    /// Table 6.15: seconds of the variants on the GPU, none where they diverge.
    pub variant_seconds: [Option<f64>; 4],
}

/// Columns of tables 6.3 and 6.4: Xeon E5-2600, one thread, and Kepler K20Xm.
pub const COLUMNS: [&str; 4] = ["CPU", "CPU-MG", "GPU", "GPU-MG"];

/// Columns of tables 6.14 to 6.17: coarsening, without and with the transformation of A_c.
pub const VARIANTS: [&str; 4] = ["original", "improved", "original A_c", "improved A_c"];

/// Steps of table 6.4.
pub const STEPS: usize = 24_000;

/// Tables 6.1 to 6.4, 6.14 and 6.15.
pub const PUBLISHED: [Published; 7] = [
    Published {
        cells: 89_126,
        strength: 0.15,
        levels: 4,
        work_units: [810.0, 25.88],
        steady_seconds: [14.68, 3.86, 1.19, 0.11],
        unsteady_seconds: [545.0, 489.0, 69.0, 40.16],
        variant_work_units: [Some(21.2), Some(18.58), Some(28.11), Some(25.88)],
        variant_seconds: [Some(1.97), Some(2.0), Some(0.11), Some(0.11)],
    },
    Published {
        cells: 200_337,
        strength: 0.1,
        levels: 4,
        work_units: [1293.0, 38.73],
        steady_seconds: [59.85, 7.69, 3.43, 0.21],
        unsteady_seconds: [1426.0, 1280.0, 112.0, 73.0],
        variant_work_units: [None, Some(20.72), None, Some(38.73)],
        variant_seconds: [None, Some(1.47), None, Some(0.21)],
    },
    Published {
        cells: 305_334,
        strength: 0.15,
        levels: 5,
        work_units: [1528.0, 23.63],
        steady_seconds: [100.0, 15.52, 5.4, 0.22],
        unsteady_seconds: [2026.0, 1866.0, 143.0, 96.0],
        variant_work_units: [Some(62.63), Some(19.79), Some(52.84), Some(23.63)],
        variant_seconds: [Some(17.98), Some(10.04), Some(0.45), Some(0.22)],
    },
    Published {
        cells: 510_940,
        strength: 0.1,
        levels: 5,
        work_units: [2019.0, 25.44],
        steady_seconds: [233.0, 19.83, 11.09, 0.3],
        unsteady_seconds: [3489.0, 3289.0, 212.0, 147.0],
        variant_work_units: [None, Some(17.4), Some(92.73), Some(25.44)],
        variant_seconds: [None, Some(3.22), Some(1.05), Some(0.3)],
    },
    Published {
        cells: 701_161,
        strength: 0.1,
        levels: 5,
        work_units: [2369.0, 28.95],
        steady_seconds: [385.0, 27.81, 17.62, 0.4],
        unsteady_seconds: [4825.0, 4620.0, 280.0, 198.0],
        variant_work_units: [None, Some(18.43), None, Some(28.95)],
        variant_seconds: [None, Some(3.6), None, Some(0.4)],
    },
    Published {
        cells: 1_699_751,
        strength: 0.1,
        levels: 5,
        work_units: [3555.0, 28.76],
        steady_seconds: [1477.0, 108.0, 60.0, 0.92],
        unsteady_seconds: [12_883.0, 12_343.0, 644.0, 454.0],
        variant_work_units: [None, Some(33.37), None, Some(28.76)],
        variant_seconds: [None, Some(14.23), None, Some(0.92)],
    },
    Published {
        cells: 2_345_137,
        strength: 0.2,
        levels: 6,
        work_units: [4219.0, 29.21],
        steady_seconds: [2438.0, 126.0, 98.0, 1.13],
        unsteady_seconds: [17_687.0, 17_114.0, 874.0, 604.0],
        variant_work_units: [None, Some(18.39), None, Some(29.21)],
        variant_seconds: [None, Some(38.26), None, Some(1.13)],
    },
];

/// Grid of tables 6.16 and 6.17.
pub const LEVELS_OF: usize = 2_345_137;

/// Table 6.16: nodes of each level.
pub const NODES: [[usize; 4]; 6] = [
    [2_345_137; 4],
    [596_299, 613_230, 596_299, 613_230],
    [150_016, 167_499, 128_159, 167_931],
    [45_110, 56_712, 68_207, 81_205],
    [16_721, 23_773, 24_091, 27_686],
    [6819, 10_950, 8566, 9578],
];

/// Table 6.17: boundary nodes of each level.
pub const BOUNDARY_NODES: [[usize; 4]; 6] = [
    [62_683; 4],
    [13_858, 36_194, 13_858, 36_194],
    [5860, 18_154, 4335, 18_106],
    [2159, 9796, 1584, 9726],
    [824, 5162, 606, 4805],
    [316, 2580, 268, 2314],
];

/// Figures of the thesis for the grid of exactly `cells` cells.
pub(super) fn published(cells: usize) -> Option<&'static Published> {
    PUBLISHED.iter().find(|row| row.cells == cells)
}

/// θ and levels of the thesis' grid nearest in size.
pub(super) fn parameters(cells: usize) -> (f64, usize) {
    let distance = |row: &&Published| (row.cells as f64 / cells.max(1) as f64).ln().abs();
    let nearest = PUBLISHED.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.map_or((0.15, 4), |row| (row.strength, row.levels))
}
