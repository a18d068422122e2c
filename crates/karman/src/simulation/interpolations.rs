//! Interpolations of a multigrid hierarchy as arrays of a checkpoint.
//!
//! `multigrid.parameters`, `multigrid.pattern` (rows, entries, low and high half of the hash of the
//! finest matrix), `multigrid.inertia` and `multigrid.rows` (unknowns of each level); and for each level
//! k but the coarsest `multigrid.k.groups`, or `multigrid.k.offsets`, `.columns` and `.values`.

use crate::io::checkpoint::{ArrayValues, Checkpoint, CheckpointError, NamedArray};
use crate::linear::amg::{Pattern, SavedInterpolation, SavedInterpolations};
use crate::linear::{CsrMatrix, LinearError};

const PARAMETERS: &str = "multigrid.parameters";
const PATTERN: &str = "multigrid.pattern";
const INERTIA: &str = "multigrid.inertia";
const ROWS: &str = "multigrid.rows";

fn of_level(level: usize, list: &str) -> String {
    format!("multigrid.{level}.{list}")
}

/// The arrays for [`read`]. `inertia`: see `March::interpolations`.
pub(super) fn arrays(saved: &SavedInterpolations, inertia: f64) -> Vec<NamedArray> {
    let Pattern { rows, entries, hash } = saved.pattern();
    let pattern = vec![rows as u32, entries as u32, hash as u32, (hash >> 32) as u32];
    let mut unknowns = vec![rows as u32];
    let mut arrays = vec![
        NamedArray::reals(PARAMETERS, saved.parameters().to_vec()),
        NamedArray::indices(PATTERN, pattern),
        NamedArray::reals(INERTIA, vec![inertia]),
    ];
    for (level, interpolation) in saved.levels().iter().enumerate() {
        unknowns.push(interpolation.shape()[1] as u32);
        let indices =
            |list, values: &[u32]| NamedArray::indices(of_level(level, list), values.into());
        match interpolation {
            SavedInterpolation::Aggregates { of, .. } => arrays.push(indices("groups", of)),
            SavedInterpolation::Weighted(p) => arrays.extend([
                indices("offsets", p.offsets()),
                indices("columns", p.column_indices()),
                NamedArray::reals(of_level(level, "values"), p.values().to_vec()),
            ]),
        }
    }
    arrays.push(NamedArray::indices(ROWS, unknowns));
    arrays
}

/// The interpolations of a checkpoint with their inertia; none where it has none.
///
/// # Errors
/// [`CheckpointError`] where an array is missing, of another shape, or inconsistent.
pub(super) fn read(
    checkpoint: &Checkpoint,
) -> Result<Option<(SavedInterpolations, f64)>, CheckpointError> {
    if !checkpoint.has_array(ROWS) {
        return Ok(None);
    }
    let length = |name: &str| -> Result<usize, CheckpointError> {
        Ok(match &checkpoint.array(name)?.values {
            ArrayValues::F64(values) => values.len(),
            ArrayValues::U32(values) => values.len(),
        })
    };
    let unknowns = checkpoint.indices(ROWS, &[length(ROWS)?])?;
    let parameters = checkpoint.reals(PARAMETERS, &[length(PARAMETERS)?])?.to_vec();
    let pattern = checkpoint.indices(PATTERN, &[4])?;
    let inertia = checkpoint.reals(INERTIA, &[1])?[0];
    let hash = u64::from(pattern[2]) | u64::from(pattern[3]) << 32;
    let pattern = Pattern { rows: pattern[0] as usize, entries: pattern[1] as usize, hash };
    let mut levels = vec![];
    for (level, pair) in unknowns.windows(2).enumerate() {
        let [rows, count] = [pair[0] as usize, pair[1] as usize];
        let groups = of_level(level, "groups");
        levels.push(if checkpoint.has_array(&groups) {
            let of = checkpoint.indices(&groups, &[rows])?.to_vec();
            SavedInterpolation::Aggregates { of, count }
        } else {
            SavedInterpolation::Weighted(weighted(checkpoint, level, rows, count)?)
        });
    }
    let saved = SavedInterpolations::new(parameters, pattern, levels);
    Ok(Some((saved.map_err(|error| unusable("multigrid".to_owned(), &error))?, inertia)))
}

fn weighted(
    checkpoint: &Checkpoint,
    level: usize,
    rows: usize,
    count: usize,
) -> Result<CsrMatrix<f64>, CheckpointError> {
    let offsets = checkpoint.indices(&of_level(level, "offsets"), &[rows + 1])?;
    let entries = offsets[rows] as usize;
    let columns = checkpoint.indices(&of_level(level, "columns"), &[entries])?;
    let values = checkpoint.reals(&of_level(level, "values"), &[entries])?;
    CsrMatrix::new(count, offsets.to_vec(), columns.to_vec(), values.to_vec())
        .map_err(|error| unusable(format!("multigrid.{level}"), &error))
}

fn unusable(name: String, error: &LinearError) -> CheckpointError {
    CheckpointError::Unusable { name, reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six unknowns in three pairs, and two unknowns below that.
    fn example() -> (SavedInterpolations, f64) {
        let groups = SavedInterpolation::Aggregates { of: vec![0, 0, 1, 1, 2, 2], count: 3 };
        let entries = vec![(0, 0, 1.0), (1, 0, 0.25), (1, 1, 0.75), (2, 1, 1.0)];
        let p = SavedInterpolation::Weighted(CsrMatrix::from_entries(3, 2, entries).unwrap());
        let pattern = Pattern { rows: 6, entries: 16, hash: 0x1234_5678_9abc_def0 };
        (SavedInterpolations::new(vec![0.25, 1.0 / 3.0], pattern, vec![groups, p]).unwrap(), 12.5)
    }

    fn checkpoint(change: Option<NamedArray>) -> Checkpoint {
        let (saved, inertia) = example();
        let mut checkpoint = Checkpoint::new();
        arrays(&saved, inertia).into_iter().for_each(|array| checkpoint.insert(array));
        change.into_iter().for_each(|array| checkpoint.insert(array));
        checkpoint
    }

    fn refused(change: NamedArray) -> String {
        read(&checkpoint(Some(change))).unwrap_err().to_string()
    }

    #[test]
    fn interpolations_are_restored_and_old_checkpoints_have_none() {
        assert_eq!(read(&checkpoint(None)).unwrap(), Some(example()));
        assert_eq!(read(&Checkpoint::new()).unwrap(), None);
    }

    #[test]
    fn inconsistent_arrays_are_refused() {
        let indices = |name: &str, values: &[u32]| NamedArray::indices(name, values.to_vec());
        insta::assert_snapshot!(
            refused(indices("multigrid.rows", &[6, 4, 2])),
            @"the checkpoint's array `multigrid.1.offsets` is [4] indices, the run needs [5] indices"
        );
        insta::assert_snapshot!(
            refused(indices("multigrid.rows", &[6, 3, 2, 1])),
            @"the checkpoint has no array `multigrid.2.offsets`; it has multigrid.0.groups, multigrid.1.columns, multigrid.1.offsets, multigrid.1.values, multigrid.inertia, multigrid.parameters, multigrid.pattern, multigrid.rows: it is of another case"
        );
        insta::assert_snapshot!(
            refused(NamedArray::reals("multigrid.rows", vec![6.0, 3.0])),
            @"the checkpoint's array `multigrid.rows` is [2] reals, the run needs [2] indices"
        );
        insta::assert_snapshot!(
            refused(indices("multigrid.parameters", &[1])),
            @"the checkpoint's array `multigrid.parameters` is [1] indices, the run needs [1] reals"
        );
        insta::assert_snapshot!(
            refused(indices("multigrid.pattern", &[6, 16])),
            @"the checkpoint's array `multigrid.pattern` is [2] indices, the run needs [4] indices"
        );
        insta::assert_snapshot!(
            refused(indices("multigrid.pattern", &[7, 16, 0, 0])),
            @"the checkpoint's `multigrid` cannot be used: the interpolation to level 0 cannot be used: it has 6 rows, but the level has 7 unknowns"
        );
        insta::assert_snapshot!(
            refused(indices("multigrid.0.groups", &[0, 0, 1, 1, 3, 2])),
            @"the checkpoint's `multigrid` cannot be used: the interpolation to level 0 cannot be used: aggregate 3 is not below 3"
        );
        insta::assert_snapshot!(
            refused(indices("multigrid.1.offsets", &[0, 1, 0, 4])),
            @"the checkpoint's `multigrid.1` cannot be used: row 1 of the matrix begins at entry 1 and ends at entry 0"
        );
        insta::assert_snapshot!(
            refused(indices("multigrid.1.offsets", &[0, 1, 3, u32::MAX])),
            @"the checkpoint's array `multigrid.1.columns` is [4] indices, the run needs [4294967295] indices"
        );
        insta::assert_snapshot!(
            refused(indices("multigrid.1.columns", &[0, 0, 2, 1])),
            @"the checkpoint's `multigrid.1` cannot be used: row 1 has an entry in column 2, but the matrix has 2 columns"
        );
        insta::assert_snapshot!(
            refused(indices("multigrid.1.columns", &[0, 1, 0, 1])),
            @"the checkpoint's `multigrid.1` cannot be used: row 1 has column 0 after column 1: columns must ascend"
        );
        insta::assert_snapshot!(
            refused(NamedArray::reals("multigrid.1.values", vec![1.0, f64::NAN, 0.5, 1.0])),
            @"the checkpoint's `multigrid.1` cannot be used: the entry in row 1, column 0 is NaN"
        );
        insta::assert_snapshot!(
            refused(NamedArray::reals("multigrid.1.values", vec![1.0])),
            @"the checkpoint's array `multigrid.1.values` is [1] reals, the run needs [4] reals"
        );
    }
}
