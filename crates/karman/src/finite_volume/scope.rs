//! The cells and faces whose data a discretization computes: all of a mesh, or those around some cells.
//!
//! One of several ranks discretizes its cells on arrays of the whole mesh, from which it takes its part. Of these only the entries in its
//! scope are written: the system gives memory to pages that are written, so that the memory of all ranks is that of one. Data
//! in scope have the bits of the whole mesh, as they are computed from its geometry.

use crate::backend::group::{Group, gather_lists};
use crate::backend::{BackendError, HOST_CHUNK};
use crate::mesh::entity_set::EntitySet;
use crate::mesh::{Geometry, Mesh, index_of};
use rayon::prelude::*;
use std::sync::Arc;

use super::Prescribed;

/// Some cells of a mesh, the cells across their faces, and the faces of all these; or all.
#[derive(Clone, Default)]
pub struct Scope {
    around: Option<Arc<Around>>,
    /// The ranks of whose scopes this is one.
    group: Option<Arc<dyn Group>>,
}

struct Around {
    cells: EntitySet,
    faces: EntitySet,
}

impl Scope {
    /// All cells and faces.
    pub fn all() -> Scope {
        Scope::default()
    }

    /// The cells at the boundary of a mesh with the cells across their faces.
    pub fn of_boundary(mesh: &Mesh) -> Scope {
        Scope::around(mesh, mesh.face_left[mesh.n_interior_faces()..].par_iter().copied())
    }

    /// Some cells with the cells across their faces.
    pub fn around(mesh: &Mesh, cells: impl ParallelIterator<Item = u32>) -> Scope {
        let faces_of =
            |cell: u32| mesh.cell_to_faces.of(cell as usize).iter().map(|i| index_of(*i));
        let with_neighbours = cells.flat_map_iter(|cell| {
            let inner = faces_of(cell).filter(|face| *face < mesh.n_interior_faces());
            let beside = inner.flat_map(|face| [mesh.face_left[face], mesh.face_right[face]]);
            std::iter::once(cell).chain(beside)
        });
        let cells = EntitySet::of(with_neighbours);
        let faces = cells.to_vec().into_par_iter().flat_map_iter(faces_of);
        let faces = EntitySet::of(faces.map(|face| face as u32));
        Scope { around: Some(Arc::new(Around { cells, faces })), group: None }
    }

    /// The scope as that of one of several ranks.
    #[must_use]
    pub fn of_rank(self, group: Arc<dyn Group>) -> Scope {
        Scope { group: Some(group), ..self }
    }

    /// Whether all cells and faces are in it.
    pub fn is_all(&self) -> bool {
        self.around.is_none()
    }

    /// Whether it is that of one of several ranks.
    pub fn is_of_rank(&self) -> bool {
        self.group.is_some()
    }

    /// Whether a cell is in it.
    pub fn has_cell(&self, cell: usize) -> bool {
        self.around.as_ref().is_none_or(|around| around.cells.contains(cell as u32))
    }

    /// Whether a face is in it.
    pub fn has_face(&self, face: usize) -> bool {
        self.around.as_ref().is_none_or(|around| around.faces.contains(face as u32))
    }

    /// Its cells of a mesh, ascending.
    pub fn cells(&self, mesh: &Mesh) -> Vec<u32> {
        match &self.around {
            None => (0..mesh.n_cells() as u32).collect(),
            Some(around) => around.cells.to_vec(),
        }
    }

    /// Whether something is true on any of several ranks, which all ask.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn any(&self, is_true: bool) -> Result<bool, BackendError> {
        let Some(group) = &self.group else { return Ok(is_true) };
        Ok(gather_lists(&**group, &[u32::from(is_true)])?.0.contains(&1))
    }

    /// The largest of the numbers of several ranks, which all ask.
    ///
    /// # Errors
    /// As [`Group::exchange`].
    pub fn largest(&self, number: f64) -> Result<f64, BackendError> {
        let Some(group) = &self.group else { return Ok(number) };
        Ok(gather_lists(&**group, &[number])?.0.into_iter().fold(number, f64::max))
    }

    /// Values of which those in scope are to be written: 0 elsewhere, with debug assertions NaN, so that one which is read shows.
    fn unwritten(&self, n: usize) -> Vec<f64> {
        match cfg!(debug_assertions) && !self.is_all() {
            true => vec![f64::NAN; n],
            false => vec![0.0; n],
        }
    }

    /// Values of cells in scope: `[n_cells]`.
    pub fn cell_values(&self, mesh: &Mesh, of: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let mut values = self.unwritten(mesh.n_cells());
        fill(&mut values, &|cell| self.has_cell(cell), &of);
        values
    }

    /// Values of faces in scope: `[n_faces]`.
    pub fn face_values(&self, mesh: &Mesh, of: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
        let mut values = self.unwritten(mesh.n_faces());
        fill(&mut values, &|face| self.has_face(face), &of);
        values
    }

    /// Vectors of faces in scope: `[3][n_faces]`.
    pub fn face_vectors(&self, mesh: &Mesh, of: impl Fn(usize) -> [f64; 3] + Sync) -> Vec<f64> {
        let n = mesh.n_faces();
        let mut vectors = self.unwritten(3 * n);
        let (x, rest) = vectors.split_at_mut(n);
        let (y, z) = rest.split_at_mut(n);
        let faces = x.par_iter_mut().zip(y).zip(z).enumerate().with_min_len(HOST_CHUNK);
        faces.filter(|(face, _)| self.has_face(*face)).for_each(|(face, ((x, y), z))| {
            [*x, *y, *z] = of(face);
        });
        vectors
    }

    /// A prescribed quantity at the centroids of cells, 0 outside: `[n_cells]`.
    pub fn sampled(&self, geometry: &Geometry, value: &dyn Prescribed, t: f64) -> Vec<f64> {
        let mut values = vec![0.0; geometry.cell_volume.len()];
        let Some(around) = &self.around else {
            value.sample(&geometry.cell_centre, t, &mut values);
            return values;
        };
        let cells = around.cells.to_vec();
        let mut found = vec![0.0; cells.len()];
        value.sample_some(&geometry.cell_centre, &cells, t, &mut found);
        cells.iter().zip(found).for_each(|(cell, value)| values[*cell as usize] = value);
        values
    }
}

/// Writes the values of the entities in scope; compiled once.
fn fill(
    values: &mut [f64],
    is_in_scope: &(dyn Fn(usize) -> bool + Sync),
    of: &(dyn Fn(usize) -> f64 + Sync),
) {
    values.par_chunks_mut(HOST_CHUNK).enumerate().for_each(|(chunk, values)| {
        for (k, value) in values.iter_mut().enumerate() {
            let entity = chunk * HOST_CHUNK + k;
            if is_in_scope(entity) {
                *value = of(entity);
            }
        }
    });
}
