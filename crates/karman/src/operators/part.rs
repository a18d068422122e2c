//! The part of a mesh that one of several ranks has, and arrays of the whole mesh restricted to it.

use super::FaceCells;
use crate::backend::{Backend, Buffer, Element, HOST_CHUNK, Halo};
use crate::mesh::Mesh;
use crate::mesh::partition::SubMesh;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// No entity of the part.
const NONE: u32 = u32::MAX;

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
    /// Face of the part of each face of the whole mesh.
    local_face: Vec<u32>,
    /// Interior faces of the whole mesh.
    whole_interior: usize,
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
        let mut local_face = vec![NONE; mesh.n_faces()];
        for (local, global) in sub.global_face.iter().enumerate() {
            local_face[*global as usize] = local as u32;
        }
        let cells = Arc::new(FaceCells::of_rank(backend, &sub.mesh, halo.clone()));
        cells.neighbours(backend);
        Part {
            backend: backend.clone(),
            cells,
            halo,
            own,
            global_cell: sub.global_cell.clone(),
            global_face: sub.global_face.clone(),
            local_face,
            whole_interior: mesh.n_interior_faces(),
        }
    }

    /// Number of cells of the whole mesh.
    pub fn n_whole(&self) -> usize {
        self.halo.total()
    }

    /// Number of boundary faces of the whole mesh.
    pub fn n_whole_boundary(&self) -> usize {
        self.local_face.len() - self.whole_interior
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
        Some(self.local_face[global as usize]).filter(|local| *local != NONE)
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
        outer.map(|face| face - self.whole_interior as u32)
    }

    /// Local number of a boundary face, both counted from the first of these, if the part has it.
    pub fn boundary_face(&self, global: u32) -> Option<u32> {
        let face = self.face(global + self.whole_interior as u32);
        face.map(|face| face - self.cells.n_interior() as u32)
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

    /// Values of cells, `[components][n_cells]`, at own cells.
    pub fn of_own_cells<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        self.backend.upload(selected(whole, &self.global_cell[..self.own.len()], self.n_whole()))
    }

    /// Zeros in place of values of cells that are 0, `[components][n_cells]`, at own cells and ghosts.
    pub fn zeros_of_cells<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        self.zeros(whole, self.n_whole(), self.global_cell.len())
    }

    /// As [`Part::zeros_of_cells`], at own cells.
    pub fn zeros_of_own_cells<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        self.zeros(whole, self.n_whole(), self.own.len())
    }

    /// Zeros in place of values of faces that are 0, `[components][n_faces]`.
    pub fn zeros_of_faces<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        self.zeros(whole, self.local_face.len(), self.global_face.len())
    }

    /// Zeros in place of an array `[components][n]` of zeros, `[components][entries]`.
    fn zeros<T: Element>(&self, whole: &Buffer<T>, n: usize, entries: usize) -> Buffer<T> {
        let mut values = whole.as_host().unwrap_or_default().iter();
        debug_assert!(values.all(|value| *value == T::default()), "an array of zeros");
        self.backend.zeros(whole.len() / n.max(1) * entries)
    }

    /// Values of faces, `[components][n_faces]`.
    pub fn of_faces<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        self.backend.upload(selected(whole, &self.global_face, self.local_face.len()))
    }

    /// Values of interior faces, `[components][n_interior]`.
    pub fn of_interior_faces<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        let inner = &self.global_face[..self.cells.n_interior()];
        self.backend.upload(selected(whole, inner, self.whole_interior))
    }

    /// Values of boundary faces, `[components][n_boundary]`.
    pub fn of_boundary<T: Element>(&self, whole: &Buffer<T>) -> Buffer<T> {
        let faces: Vec<u32> = self.boundary_faces().collect();
        self.backend.upload(selected(whole, &faces, self.n_whole_boundary()))
    }

    /// Consecutive entries of an array `[components][n]`.
    pub fn of_range<T: Element>(
        &self,
        whole: &Buffer<T>,
        range: Range<usize>,
        n: usize,
    ) -> Buffer<T> {
        let components = whole.as_host().unwrap_or_default().chunks_exact(n.max(1));
        let mut values = Vec::with_capacity(components.len() * range.len());
        for component in components {
            values.par_extend(component[range.clone()].par_iter().copied());
        }
        self.backend.upload(values)
    }

    /// Entries of an array `[components][n]`.
    pub fn of_list<T: Element>(&self, whole: &Buffer<T>, indices: &[u32], n: usize) -> Buffer<T> {
        self.backend.upload(selected(whole, indices, n))
    }
}
