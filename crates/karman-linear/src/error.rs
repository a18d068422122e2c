//! What can be wrong with a matrix or with a request to solve.

use karman_backend::BackendError;
use thiserror::Error;

/// A matrix, a preconditioner or a right-hand side that cannot be used.
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
    /// Offsets, columns and values do not belong together.
    #[error("the matrix has {found} {what}, but {expected} are expected")]
    Length {
        /// What is counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
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
    /// Columns of a row must ascend.
    #[error("row {row} has column {column} after column {before}: columns must ascend")]
    Unsorted {
        /// The row.
        row: usize,
        /// The column before.
        before: usize,
        /// The column that is not larger.
        column: usize,
    },
    /// Two entries at one place.
    #[error("row {row} has column {column} twice")]
    Duplicate {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
    },
    /// An infinite entry or one that is not a number.
    #[error("the entry in row {row}, column {column} is {value}")]
    NotFinite {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// Indices have 32 bits.
    #[error("the matrix would have {entries} stored entries; at most {} fit", u32::MAX)]
    TooLarge {
        /// Entries, padding included.
        entries: usize,
    },
    /// New values for an old pattern do not fit it.
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
    /// The preconditioner divides by the diagonal.
    #[error("the diagonal of row {row} is {value}; this preconditioner divides by it")]
    Diagonal {
        /// The row.
        row: usize,
        /// The diagonal entry, 0 where it is absent.
        value: f64,
    },
    /// Multigrid needs positive diagonals.
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
        /// What was given.
        value: f64,
        /// What it must be.
        rule: &'static str,
    },
    /// The preconditioner needs a matrix and the operator came without one.
    #[error("the preconditioner `{name}` is made from a matrix, but none was given")]
    NeedsMatrix {
        /// The preconditioner.
        name: &'static str,
    },
    /// A method that needs one symmetric preconditioner met another.
    #[error(
        "this preconditioner is not one symmetric operator: choose flexible conjugate gradients, \
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
    /// A saved interpolation that cannot be one.
    #[error("the interpolation to level {level} cannot be used: {problem}")]
    Interpolation {
        /// The level it leads to.
        level: usize,
        /// What is wrong.
        problem: String,
    },
    /// Saved interpolations that were made for something else.
    #[error("the saved interpolations belong to another system: {reason}")]
    OtherSystem {
        /// What differs.
        reason: String,
    },
    /// The backend failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}
