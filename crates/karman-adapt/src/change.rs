//! Changes of the mesh and their application in batches.
//!
//! Candidates of an operation are evaluated in parallel on an unchanged mesh, in batches of a size that depends on the mesh alone.
//! The changes of a batch are then applied one after the other in the order of the candidates; a candidate whose cavity was
//! touched in this batch is evaluated again in the next one. The changes applied in a batch have disjoint cavities: they are an
//! independent set, chosen by the order of the candidates, and the result does not depend on the number of threads.

use crate::mesh::{AdaptiveMesh, NEW};
use crate::operation::Operation;
use crate::quality::Vertex;
use crate::vertex_kind::VertexKind;
use rayon::prelude::*;

/// Most candidates of a batch: the cells around them are in the second cache of a core.
const MOST_OF_BATCH: usize = 512;

/// The change of a vertex.
pub(crate) enum VertexChange {
    /// Nothing.
    None,
    /// A vertex is added, which the simplices of the change call [`NEW`].
    Add(Vertex, u32, VertexKind),
    /// The vertex is no longer used.
    Remove(u32),
    /// The vertex moves; its cells stay.
    Move(u32, Vertex, u32),
}

/// A change of a cavity: simplices removed and inserted.
pub(crate) struct Change {
    /// The cells of the cavity: removed, unless the vertex moves.
    pub(crate) cavity: Vec<u32>,
    /// Cells inserted, with their regions.
    pub(crate) cells: Vec<([u32; 4], u32)>,
    /// Faces removed.
    pub(crate) old_faces: Vec<u32>,
    /// Faces inserted, with their tags.
    pub(crate) faces: Vec<([u32; 4], u32)>,
    /// Ridges removed.
    pub(crate) old_ridges: Vec<u32>,
    /// Ridges inserted.
    pub(crate) ridges: Vec<([u32; 4], u32)>,
    /// The vertex.
    pub(crate) vertex: VertexChange,
    /// Lowest quality of the cavity behind the change.
    pub(crate) quality: f64,
}

impl Change {
    /// A change of these cells.
    pub(crate) fn new(cavity: Vec<u32>, quality: f64, vertex: VertexChange) -> Self {
        Change {
            cavity,
            cells: vec![],
            old_faces: vec![],
            faces: vec![],
            old_ridges: vec![],
            ridges: vec![],
            vertex,
            quality,
        }
    }
}

/// The simplex with `from` replaced by `to`.
#[inline]
pub(crate) fn replaced(nodes: [u32; 4], from: u32, to: u32) -> [u32; 4] {
    nodes.map(|node| if node == from { to } else { node })
}

impl AdaptiveMesh<'_> {
    /// Begins a sweep of `operation`; vertices whose cells changed in the sweep of this number or a later one are to be evaluated.
    pub(crate) fn begin(&mut self, operation: Operation) -> u32 {
        let last = self.last_sweep[operation as usize];
        self.sweeps += 1;
        self.last_sweep[operation as usize] = self.sweeps;
        last
    }

    /// Notes that the cells of these vertices change in this sweep.
    pub(crate) fn mark(&mut self, cavity: &[u32]) {
        for &cell in cavity {
            for node in self.cells.padded(cell).into_iter().filter(|&node| node < NEW) {
                self.changed[node as usize] = self.sweeps;
            }
        }
    }

    /// Applies a change; the numbers of the cells inserted are added to `inserted`.
    fn apply(&mut self, change: Change, inserted: &mut Vec<u32>) {
        self.mark(&change.cavity);
        let number = match change.vertex {
            VertexChange::None => NEW,
            VertexChange::Move(vertex, place, hint) => {
                self.vertices[vertex as usize] = place;
                self.hints[vertex as usize] = hint;
                change.cavity.iter().for_each(|&cell| self.measure_cell(cell));
                return;
            }
            VertexChange::Remove(vertex) => {
                self.free_vertices.push(vertex);
                NEW
            }
            VertexChange::Add(place, hint, kind) => self.add_vertex(place, hint, kind),
        };
        change.cavity.iter().for_each(|&cell| self.cells.remove(cell));
        change.old_faces.iter().for_each(|&face| self.faces.remove(face));
        change.old_ridges.iter().for_each(|&ridge| self.ridges.remove(ridge));
        for (nodes, region) in change.cells {
            let cell = self.cells.insert(replaced(nodes, NEW, number), region);
            self.measure_cell(cell);
            inserted.push(cell);
        }
        for (nodes, tag) in change.faces {
            self.faces.insert(replaced(nodes, NEW, number), tag);
        }
        for (nodes, tag) in change.ridges {
            self.ridges.insert(replaced(nodes, NEW, number), tag);
        }
    }

    fn add_vertex(&mut self, place: Vertex, hint: u32, kind: VertexKind) -> u32 {
        if let Some(vertex) = self.free_vertices.pop() {
            self.vertices[vertex as usize] = place;
            self.hints[vertex as usize] = hint;
            self.kinds[vertex as usize] = kind;
            self.changed[vertex as usize] = self.sweeps;
            return vertex;
        }
        self.vertices.push(place);
        self.hints.push(hint);
        self.kinds.push(kind);
        self.changed.push(self.sweeps);
        self.cells.add_vertex();
        self.faces.add_vertex();
        self.ridges.add_vertex();
        (self.vertices.len() - 1) as u32
    }

    /// Number of candidates that are evaluated on an unchanged mesh.
    pub(crate) fn batch_size(&self) -> usize {
        (self.cells.len() / 64).clamp(16, MOST_OF_BATCH)
    }

    /// Evaluates the candidates in their order and applies the changes; returns the number applied.
    pub(crate) fn change_in_batches<C: Copy + Send + Sync>(
        &mut self,
        candidates: &[C],
        evaluate: impl Fn(&AdaptiveMesh<'_>, C) -> Option<Change> + Sync,
    ) -> usize {
        let size = self.batch_size();
        let mut touched = vec![0u32; self.cells.capacity()];
        let (mut applied, mut batch_number) = (0, 0u32);
        let mut remaining = candidates.iter().copied();
        let mut again: Vec<C> = vec![];
        let mut inserted = vec![];
        loop {
            let mut batch = std::mem::take(&mut again);
            batch.extend(remaining.by_ref().take(size.saturating_sub(batch.len())));
            if batch.is_empty() {
                return applied;
            }
            batch_number += 1;
            let mesh = &*self;
            let changes: Vec<Option<Change>> = batch
                .par_iter()
                .with_min_len(8)
                .map(|&candidate| evaluate(mesh, candidate))
                .collect();
            for (candidate, change) in batch.iter().zip(changes) {
                let Some(change) = change else { continue };
                if change.cavity.iter().any(|&cell| touched[cell as usize] == batch_number) {
                    again.push(*candidate);
                    continue;
                }
                change.cavity.iter().for_each(|&cell| touched[cell as usize] = batch_number);
                inserted.clear();
                self.apply(change, &mut inserted);
                touched.resize(self.cells.capacity().max(touched.len()), 0);
                inserted.iter().for_each(|&cell| touched[cell as usize] = batch_number);
                applied += 1;
            }
        }
    }
}
