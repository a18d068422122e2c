//! The operations of adaptation.

/// Operations. A candidate is evaluated again only where a cell of its vertices has changed since the last
/// sweep of the operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    CollapseShort,
    Collapse,
    Split,
    SwapEdges,
    SwapFaces,
    Smooth,
    SmoothByGradient,
}

impl Operation {
    /// Number of operations.
    pub(crate) const COUNT: usize = 7;
}
