//! Errors of matrices, preconditioners and solvers.

use karman_backend::BackendError;
use thiserror::Error;

/// An invalid matrix, preconditioner, right-hand side or parameter.
#[derive(Debug, Error, Clone, PartialEq)]
pub enum LinearError {
    /// The first offset is not 0, or a row ends before it begins.
    #[error("row {row} of the matrix begins at entry {first} and ends at entry {end}")]
    Offsets {
        /// The row.
        row: usize,
        /// Its first entry.
        first: usize,
        /// One past its last entry.
        end: usize,
    },
    /// The lengths of offsets, columns and values do not match.
    #[error("the matrix has {found} {what}, but {expected} are expected")]
    Length {
        /// The counted items.
        what: &'static str,
        /// The expected number.
        expected: usize,
        /// The actual number.
        found: usize,
    },
    /// An entry lies beyond the last column.
    #[error("row {row} has an entry in column {column}, but the matrix has {columns} columns")]
    ColumnOutOfRange {
        /// The row.
        row: usize,
        /// The entry's column.
        column: usize,
        /// Number of columns.
        columns: usize,
    },
    /// An entry lies beyond the last row.
    #[error("an entry is in row {row}, but the matrix has {rows} rows")]
    RowOutOfRange {
        /// The entry's row.
        row: usize,
        /// Number of rows.
        rows: usize,
    },
    /// The columns of a row do not ascend.
    #[error("row {row} has column {column} after column {before}: columns must ascend")]
    Unsorted {
        /// The row.
        row: usize,
        /// The previous column.
        before: usize,
        /// The column that is not larger.
        column: usize,
    },
    /// Two entries at the same position.
    #[error("row {row} has column {column} twice")]
    Duplicate {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// An entry that is infinite or NaN.
    #[error("the entry in row {row}, column {column} is {value}")]
    NotFinite {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// A method that needs the rows of all ranks.
    #[error("{item} does not run on several ranks; choose {instead}, or one rank")]
    Ranks {
        /// The method.
        item: &'static str,
        /// Methods that run.
        instead: &'static str,
    },
    /// More entries than 32-bit indices can address.
    #[error("the matrix would have {entries} stored entries; at most {} fit", u32::MAX)]
    TooLarge {
        /// Entries, padding included.
        entries: usize,
    },
    /// New values with another sparsity pattern.
    #[error("the new values belong to another pattern: it differs in row {row}")]
    Pattern {
        /// The first row that differs.
        row: usize,
    },
    /// A system must be square.
    #[error("the matrix has {rows} rows and {columns} columns; a system must be square")]
    NotSquare {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// A row without entries: its unknown is not determined.
    #[error("row {row} of the matrix is empty: nothing determines its unknown")]
    EmptyRow {
        /// The row.
        row: usize,
    },
    /// A diagonal entry without an inverse, where the preconditioner divides by it.
    #[error("the diagonal of row {row} is {value}; this preconditioner divides by it")]
    Diagonal {
        /// The row.
        row: usize,
        /// The diagonal entry, 0 where it is absent.
        value: f64,
    },
    /// A diagonal entry that is not positive, as multigrid requires.
    #[error("the diagonal of row {row} is {value}; algebraic multigrid needs positive ones")]
    PositiveDiagonal {
        /// The row.
        row: usize,
        /// The diagonal entry, 0 where it is absent.
        value: f64,
    },
    /// A vector of the wrong length.
    #[error("the {what} has {found} elements, but the system has {expected} unknowns")]
    VectorLength {
        /// Which vector.
        what: &'static str,
        /// Number of unknowns.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// A parameter out of its range.
    #[error("{name} = {value}: {rule}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The admissible range.
        rule: &'static str,
    },
    /// The preconditioner needs a matrix, but none was given.
    #[error("the preconditioner `{name}` needs a matrix, but none was given")]
    NeedsMatrix {
        /// The preconditioner.
        name: &'static str,
    },
    /// The method requires a fixed symmetric preconditioner.
    #[error(
        "this preconditioner is not a fixed symmetric operator: choose flexible conjugate gradients, \
         BiCGStab or FGMRES"
    )]
    VariablePreconditioner,
    /// The spectrum of D⁻¹A could not be estimated.
    #[error(
        "the Chebyshev preconditioner found no positive largest eigenvalue of D⁻¹A (estimate \
         {estimate}): is the matrix positive definite?"
    )]
    Spectrum {
        /// The estimate.
        estimate: f64,
    },
    /// A saved interpolation that does not fit its level.
    #[error("the interpolation to level {level} cannot be used: {problem}")]
    Interpolation {
        /// The level it interpolates to.
        level: usize,
        /// The reason.
        problem: String,
    },
    /// Saved interpolations of another system.
    #[error("the saved interpolations belong to another system: {reason}")]
    OtherSystem {
        /// The difference.
        reason: String,
    },
    /// The backend failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}
