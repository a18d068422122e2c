//! The kinds of vertices.

/// How a vertex may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum VertexKind {
    /// Not at all.
    Corner,
    /// Along a ridge, where surfaces meet at an angle or patches meet.
    Ridge,
    /// In a surface.
    Surface,
    /// Everywhere.
    Interior,
}
