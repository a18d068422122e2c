//! Location of unknowns.

/// Location of the unknowns of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Cells,
    Nodes,
}
