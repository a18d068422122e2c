//! Report of a hierarchy.

use std::fmt;

/// One level of a hierarchy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelReport {
    /// Unknowns.
    pub rows: usize,
    /// Entries of its matrix.
    pub entries: usize,
    /// Entries of the interpolation from the next level; 0 on the coarsest.
    pub interpolation_entries: usize,
    /// Boundary unknowns, where the coarsening weights them.
    pub boundary: Option<usize>,
    /// Colours of a Gauss–Seidel smoother.
    pub colours: Option<usize>,
    /// Bytes for cycles: matrices, transfers, vectors; those of one of several ranks alone.
    pub bytes: usize,
}

/// The source of the interpolations of a hierarchy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HierarchySource {
    /// Computed from its matrix.
    #[default]
    Computed,
    /// Reused from an earlier matrix with other values.
    Reused,
    /// Saved by an earlier run.
    Saved,
}

/// A hierarchy, the finest level first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HierarchyReport {
    /// Its levels.
    pub levels: Vec<LevelReport>,
    /// The source of its interpolations.
    pub source: HierarchySource,
    /// Whether the coarsest level is solved by a dense inverse; otherwise it is only smoothed.
    pub is_coarsest_direct: bool,
    /// Work of a cycle: updates of unknowns on all levels over the unknowns of the finest.
    pub work_units: f64,
    /// Seconds of set-up.
    pub setup_seconds: f64,
}

impl HierarchyReport {
    /// Operator complexity: entries of the matrices of all levels over those of the finest.
    pub fn operator_complexity(&self) -> f64 {
        self.ratio(|level| level.entries)
    }

    /// Grid complexity: unknowns of all levels over those of the finest.
    pub fn grid_complexity(&self) -> f64 {
        self.ratio(|level| level.rows)
    }

    /// Bytes of all levels.
    pub fn bytes(&self) -> usize {
        self.levels.iter().map(|level| level.bytes).sum()
    }

    fn ratio(&self, of: impl Fn(&LevelReport) -> usize) -> f64 {
        let finest = self.levels.first().map_or(1, &of).max(1);
        self.levels.iter().map(of).sum::<usize>() as f64 / finest as f64
    }
}

impl fmt::Display for HierarchyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "level       rows    entries  a row  interpolation  boundary  colours       MB"
        )?;
        let count = |number: Option<usize>| number.map_or("-".to_owned(), |n| n.to_string());
        for (k, level) in self.levels.iter().enumerate() {
            let rows = level.rows.max(1) as f64;
            writeln!(
                f,
                "{k:5} {:10} {:10} {:6.1} {:14.2} {:>9} {:>8} {:8.2}",
                level.rows,
                level.entries,
                level.entries as f64 / rows,
                level.interpolation_entries as f64 / rows,
                count(level.boundary),
                count(level.colours),
                level.bytes as f64 / 1e6,
            )?;
        }
        let coarsest = if self.is_coarsest_direct { "dense inverse" } else { "smoothing" };
        let source = match self.source {
            HierarchySource::Computed => "",
            HierarchySource::Reused => ", interpolations of earlier values",
            HierarchySource::Saved => ", saved interpolations",
        };
        write!(
            f,
            "operator complexity {:.2}, grid complexity {:.2}, {:.0} bytes a row, work units a cycle \
             {:.2}, coarsest by {coarsest}{source}",
            self.operator_complexity(),
            self.grid_complexity(),
            self.bytes() as f64 / self.levels.first().map_or(1, |l| l.rows).max(1) as f64,
            self.work_units,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complexities_are_ratios_to_the_finest_level() {
        let level =
            |rows, entries, bytes| LevelReport { rows, entries, bytes, ..Default::default() };
        let report = HierarchyReport {
            levels: vec![level(1000, 5000, 90_000), level(300, 3000, 30_000), level(50, 500, 1000)],
            source: HierarchySource::Computed,
            is_coarsest_direct: true,
            work_units: 2.7,
            setup_seconds: 0.1,
        };
        assert_eq!(report.operator_complexity(), 1.7);
        assert_eq!(report.grid_complexity(), 1.35);
        let text = report.to_string();
        assert!(text.contains("    1        300       3000   10.0"), "{text}");
        let last = "operator complexity 1.70, grid complexity 1.35, 121 bytes a row, work units a \
                    cycle 2.70, coarsest by dense inverse";
        assert!(text.ends_with(last), "{text}");
        let text =
            HierarchyReport { source: HierarchySource::Reused, ..report.clone() }.to_string();
        assert!(text.ends_with("dense inverse, interpolations of earlier values"), "{text}");
        let text = HierarchyReport { source: HierarchySource::Saved, ..report }.to_string();
        assert!(text.ends_with("dense inverse, saved interpolations"), "{text}");
    }
}
