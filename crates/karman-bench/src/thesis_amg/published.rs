//! The tables of Kamakolanu's thesis (2014) on heat transfer, as printed there.

use crate::published::rows;

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

/// Grid of tables 6.16 and 6.17.
pub const LEVELS_OF: usize = 2_345_137;

/// Tables 6.1 to 6.4, 6.14 and 6.15, the largest grid last.
pub fn published() -> Vec<Published> {
    let row = |[cells, strength, levels, a, b, rest @ ..]: [f64; 21]| {
        let four = |from: usize| std::array::from_fn(|k| rest[from + k]);
        let known = |from| four(from).map(|figure: f64| figure.is_finite().then_some(figure));
        Published {
            cells: cells as usize,
            strength,
            levels: levels as usize,
            work_units: [a, b],
            steady_seconds: four(0),
            unsteady_seconds: four(4),
            variant_work_units: known(8),
            variant_seconds: known(12),
        }
    };
    rows(include_str!("../../data/kamakolanu_heat.csv")).into_iter().map(row).collect()
}

/// Tables 6.16 and 6.17: nodes and boundary nodes of each level; see [`VARIANTS`].
pub fn published_levels() -> [Vec<[f64; 4]>; 2] {
    let rows: Vec<[f64; 8]> = rows(include_str!("../../data/kamakolanu_levels.csv"));
    [0, 4].map(|from| rows.iter().map(|row| std::array::from_fn(|k| row[from + k])).collect())
}

/// Figures of the thesis for the grid of exactly `cells` cells.
pub(super) fn published_for(cells: usize) -> Option<Published> {
    published().into_iter().find(|row| row.cells == cells)
}

/// θ and levels of the thesis' grid nearest in size.
pub(super) fn parameters(cells: usize) -> (f64, usize) {
    let distance = |row: &Published| (row.cells as f64 / cells.max(1) as f64).ln().abs();
    let nearest = published().into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.map_or((0.15, 4), |row| (row.strength, row.levels))
}
