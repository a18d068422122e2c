//! Tests of adaptation as a whole.

pub(crate) mod cube;
mod frozen;
mod invariants;

pub(crate) use invariants::measures;

/// A unit cube of tetrahedra.
pub(crate) fn box_mesh(cells: usize) -> karman_mesh::RawMesh {
    cube::cube(cells).to_raw()
}
