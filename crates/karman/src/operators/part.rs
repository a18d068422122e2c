//! The part of a mesh that one of several ranks has, and arrays of the whole mesh restricted to it.

use super::FaceCells;
use crate::backend::group::gather_lists;
use crate::backend::{Backend, BackendError, Buffer, Element, HOST_CHUNK, Halo};
use crate::mesh::Mesh;
use crate::mesh::partition::SubMesh;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// A part, from which the arrays of a rank are made of those of the whole mesh on the host. Restricted arrays of cells have the
/// values of ghosts.
pub struct Part {
    /// The backend of the rank.
    pub backend: Backend,
    /// Its cells with their faces.
    pub cells: Arc<FaceCells>,
    /// The exchange of the values of its cells.
    pub halo: Arc<Halo>,
    /// Its own cells in the whole mesh.
    pub own: Range<usize>,
    /// Cell of the whole mesh of each cell and ghost.
    global_cell: Vec<u32>,
    /// Face of the whole mesh of each face.
    global_face: Vec<u32>,
    /// Ascending runs of `global_face`.
    runs: Vec<Range<usize>>,
    /// Faces of the whole mesh, and interior ones.
    whole_faces: [usize; 2],
}

/// The entries `indices` of each component of an array `[components][n]`.
fn selected<T: Element>(whole: &Buffer<T>, indices: &[u32], n: usize) -> Vec<T> {
    let components = whole.as_host().unwrap_or_default().chunks_exact(n.max(1));
    let mut values = Vec::with_capacity(components.len() * indices.len());
    for component in components {
        let of_indices = indices.par_iter().with_min_len(HOST_CHUNK);
        values.par_extend(of_indices.map(|index| component[*index as usize]));
    }
    values
}

impl Part {
    /// The part `sub` of `mesh`, whose own cells are `own`.
    pub fn new(
        backend: &Backend,
        sub: &SubMesh,
        halo: Arc<Halo>,
        own: Range<usize>,
        mesh: &Mesh,
    ) -> Part {
        let mut end = 0;
        let run = |faces: &[u32]| {
            end += faces.len();
            end - faces.len()..end
        };
        let runs = sub.global_face.chunk_by(|a, b| a < b).map(run).collect();
        let cells = Arc::new(FaceCells::of_rank(backend, &sub.mesh, halo.clone()));
        cells.neighbours(backend);
        Part {
            backend: backend.clone(),
            cells,
            halo,
            own,
            global_cell: sub.global_cell.clone(),
            global_face: sub.global_face.clone(),
            runs,
            whole_faces: [mesh.n_faces(), mesh.n_interior_faces()],
        }
    }

    /// Whether `is` holds on any rank. All ranks call it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    pub fn any_rank(&self, is: bool) -> Result<bool, BackendError> {
        let (all, _) = gather_lists(&**self.halo.group(), &[u32::from(is)])?;
        Ok(all.contains(&1))
    }

    /// The largest number of all ranks. All ranks call it.
    ///
    /// # Errors
    /// As of [`Part::any_rank`].
    pub fn largest_of_ranks(&self, own: f64) -> Result<f64, BackendError> {
        let (all, _) = gather_lists(&**self.halo.group(), &[own])?;
        Ok(all.into_iter().fold(own, f64::max))
    }

    /// Number of cells of the whole mesh.
    pub fn n_whole(&self) -> usize {
        self.halo.total()
    }

    /// Number of its faces.
    pub fn n_faces(&self) -> usize {
        self.global_face.len()
    }

    /// Number of its boundary faces.
    pub fn n_boundary(&self) -> usize {
        self.cells.n_faces() - self.cells.n_interior()
    }

    /// Number of boundary faces of the whole mesh.
    pub fn n_whole_boundary(&self) -> usize {
        self.whole_faces[0] - self.whole_faces[1]
    }

    /// Local number of a cell that the part has as its own or as a ghost.
    pub fn cell(&self, global: u32) -> u32 {
        let Some(local) = self.halo.local(global as usize) else {
            unreachable!("cell {global} is neither own nor a ghost")
        };
        local as u32
    }

    /// Local number of a cell, if it is own.
    pub fn own_cell(&self, global: u32) -> Option<u32> {
        let is_own = self.own.contains(&(global as usize));
        is_own.then(|| global - self.own.start as u32)
    }

    /// Local number of a face, if the part has it.
    pub fn face(&self, global: u32) -> Option<u32> {
        let in_run = |run: &Range<usize>| {
            let place = self.global_face[run.clone()].binary_search(&global).ok()?;
            Some((run.start + place) as u32)
        };
        self.runs.iter().find_map(in_run)
    }

    /// Cell of the whole mesh of each of its cells and ghosts.
    pub fn global_cells(&self) -> &[u32] {
        &self.global_cell
    }

    /// Face of the whole mesh of each of its faces.
    pub fn faces(&self) -> &[u32] {
        &self.global_face
    }

    /// The boundary faces of the whole mesh that it has, ascending, counted from the first of these.
    pub fn boundary_faces(&self) -> impl Iterator<Item = u32> {
        let outer = self.global_face[self.cells.n_interior()..].iter();
        outer.map(|face| face - self.whole_faces[1] as u32)
    }

    /// Of some faces those that the part has: their local numbers, and their places in the list.
    pub fn listed_faces(&self, list: &Buffer<u32>) -> (Vec<u32>, Vec<u32>) {
        let list = list.as_host().unwrap_or_default();
        let numbered = list.iter().zip(0u32..);
        numbered.filter_map(|(face, place)| Some((self.face(*face)?, place))).unzip()
    }

    /// Values of cells, `[components][n_cells]`, at own cells and ghosts.
    pub fn of_cells<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        self.backend.upload(selected(whole, &self.global_cell, self.n_whole()))
    }

    /// Values of faces, `[components][n_faces]`.
    pub fn of_faces<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        self.backend.upload(selected(whole, &self.global_face, self.whole_faces[0]))
    }

    /// Values of interior faces, `[components][n_interior]`.
    pub fn of_interior_faces<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        let inner = &self.global_face[..self.cells.n_interior()];
        self.backend.upload(selected(whole, inner, self.whole_faces[1]))
    }

    /// Values of boundary faces, `[components][n_boundary]`.
    pub fn of_boundary<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        let faces: Vec<u32> = self.boundary_faces().collect();
        self.backend.upload(selected(whole, &faces, self.n_whole_boundary()))
    }

    /// Entries of an array `[components][n]`.
    pub fn of_list<T: Element>(&self, whole: &Buffer<T>, indices: &[u32], n: usize) -> Buffer<T> {
        self.backend.upload(selected(whole, indices, n))
    }
}
