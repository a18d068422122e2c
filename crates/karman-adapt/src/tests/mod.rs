//! Tests of adaptation as a whole.

mod cube;
mod invariants;

/// A unit cube of tetrahedra.
pub(crate) fn box_mesh(cells: usize) -> karman_mesh::RawMesh {
    cube::cube(cells).to_raw()
}
