//! The cells that a solver has: those of a mesh, or of the part of one of several ranks.

use crate::backend::{Backend, Buffer};
use crate::mesh::partition::SubMesh;
use crate::mesh::{Geometry, Mesh, index_of};
use crate::operators::{FaceCells, Part};
use crate::real::Real;
use std::borrow::Cow;
use std::sync::Arc;

/// The part of a mesh that one of several ranks has: its own cells and ghosts.
pub struct PartMesh<'a> {
    /// Its numbers in the whole mesh.
    pub numbers: Part,
    /// Its cells, ghosts and faces.
    pub sub: SubMesh,
    /// Their geometry.
    pub geometry: Geometry,
    /// The whole mesh.
    pub whole: (&'a Mesh, &'a Geometry),
}

/// A mesh, or a part of one with its own numbers.
#[derive(Clone, Copy)]
pub struct LocalMesh<'a> {
    /// Its cells, ghosts behind own ones.
    pub mesh: &'a Mesh,
    /// Their geometry.
    pub geometry: &'a Geometry,
    part: Option<&'a PartMesh<'a>>,
}

impl<'a> LocalMesh<'a> {
    /// A whole mesh.
    pub fn whole(mesh: &'a Mesh, geometry: &'a Geometry) -> Self {
        LocalMesh { mesh, geometry, part: None }
    }

    /// A part.
    pub fn of_part(part: &'a PartMesh<'a>) -> Self {
        LocalMesh { mesh: &part.sub.mesh, geometry: &part.geometry, part: Some(part) }
    }

    /// Number of own cells.
    pub fn owned(self) -> usize {
        self.mesh.cell_count.owned
    }

    /// Number of own cells and ghosts.
    pub fn n_local(self) -> usize {
        self.mesh.n_cells()
    }

    /// Number of faces of the boundary.
    pub fn n_boundary(self) -> usize {
        self.mesh.n_faces() - self.mesh.n_interior_faces()
    }

    /// Volumes and centroids of own cells: `[owned]`, `[3][owned]`.
    pub fn own_cells(self) -> (&'a [f64], Cow<'a, [f64]>) {
        let Geometry { cell_volume, cell_centre, .. } = self.geometry;
        (&cell_volume[..self.owned()], first_points(cell_centre, self.owned()))
    }

    /// The number of a cell in the whole mesh.
    pub fn global_cell(self, cell: usize) -> usize {
        self.part.map_or(cell, |part| part.sub.global_cell[cell] as usize)
    }

    /// The whole mesh with its geometry.
    pub fn whole_mesh(self) -> (&'a Mesh, &'a Geometry) {
        self.part.map_or((self.mesh, self.geometry), |part| part.whole)
    }

    /// The faces of its cells on a backend.
    pub fn face_cells(self, backend: &Backend) -> Arc<FaceCells> {
        let cells = match self.part {
            None => Arc::new(FaceCells::new(backend, self.mesh)),
            Some(part) => part.numbers.cells.clone(),
        };
        cells.neighbours(backend);
        cells
    }

    /// Copies the values at the faces that the part has from those at all faces of a ghost, which have one order.
    pub(super) fn restrict_to_faces(self, ghost: usize, of_faces: &[f64], own: &mut [f64]) {
        let Some(part) = self.part else { return };
        let (whole, _) = part.whole;
        let all =
            whole.cell_to_faces.of(self.global_cell(ghost)).iter().map(|item| index_of(*item));
        let mut all = all.zip(of_faces);
        for (item, own) in self.mesh.cell_to_faces.of(ghost).iter().zip(own) {
            let face = part.sub.global_face[index_of(*item)] as usize;
            match all.find(|(other, _)| *other == face) {
                Some((_, value)) => *own = *value,
                None => unreachable!("face {face} is not of the ghost"),
            }
        }
    }
}

/// The points of the first `n` of all entities; `points` is component-major.
pub(crate) fn first_points(points: &[f64], n: usize) -> Cow<'_, [f64]> {
    match points.len() == 3 * n {
        true => Cow::Borrowed(points),
        false => {
            let stride = points.len() / 3;
            Cow::Owned(
                (0..3).flat_map(|k| points[k * stride..k * stride + n].iter().copied()).collect(),
            )
        }
    }
}

/// An array of the faces, `[K][n_faces]`, with the values `of` faces of the boundary, and 0 at the others.
pub(crate) fn at_boundary_faces<F: Real, const K: usize>(
    backend: &Backend,
    mesh: &Mesh,
    of: impl Fn(usize) -> [f64; K],
) -> Buffer<F> {
    let n = mesh.n_faces();
    let mut values = vec![F::from_f64(0.0); K * n];
    for face in mesh.n_interior_faces()..n {
        for (k, value) in of(face).into_iter().enumerate() {
            values[k * n + face] = F::from_f64(value);
        }
    }
    backend.upload(values)
}
