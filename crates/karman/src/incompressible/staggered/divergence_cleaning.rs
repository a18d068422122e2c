//! Spanning-tree divergence cleaning: removes the divergence left by a solver to round-off.
//!
//! The tree is a breadth-first one over the cells, rooted at a boundary face without prescribed flux if
//! there is one. Each cell passes the divergence of its subtree through the face towards the root.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::StaggeredFaces;
use super::rank_faces::listed;
use crate::backend::{Backend, Buffer, Gather, View};
use crate::mesh::{Mesh, SIGN_BIT, index_of};
use crate::operators::incidence::{divergence, with_sign};
use crate::operators::{FaceCells, Part};
use crate::real::Real;
use karman_backend::prelude::*;

/// Cells at one distance from the root.
struct Level<F: Real> {
    cells: Buffer<u32>,
    /// Start of each cell's children in the next level.
    children: Buffer<u32>,
    /// The face towards the root, with its sign outward from the cell; none at an interior root.
    faces: Buffer<u32>,
    signs: Buffer<u32>,
    /// Divergence of the subtree of each cell.
    subtree: Buffer<F>,
}

/// The tree by levels, from the root. Each of several ranks has that of the whole mesh and passes the divergence through its faces.
pub(super) struct DivergenceCleaning<F: Real> {
    levels: Vec<Level<F>>,
    /// Of the cells of the whole mesh.
    divergence: Buffer<F>,
    ranks: Option<RankCells<F>>,
}

/// The cells of one of several ranks.
struct RankCells<F: Real> {
    /// Of the own cells.
    divergence: Buffer<F>,
    gather: Gather,
    /// Of each level, the places in it of the faces that the part has, and what passes through these.
    passed: Vec<(Buffer<u32>, Buffer<F>)>,
}

impl<F: Real> DivergenceCleaning<F> {
    /// Of a mesh whose boundary fluxes are prescribed where `dirichlet_index` is not 0.
    pub(super) fn new(backend: &Backend, mesh: &Mesh, dirichlet_index: &[u32]) -> Self {
        let (n, inner) = (mesh.n_cells(), mesh.n_interior_faces());
        let outlet = (inner..mesh.n_faces()).find(|face| dirichlet_index[face - inner] == 0);
        let mut reached = vec![false; n];
        let mut levels = vec![];
        // A mesh may have several connected components.
        let mut roots: Vec<(usize, Option<u32>)> = outlet
            .map(|face| (mesh.face_left[face] as usize, Some(face as u32)))
            .into_iter()
            .collect();
        let mut next = 0;
        loop {
            if roots.is_empty() {
                match (next..n).find(|cell| !reached[*cell]) {
                    None => break,
                    Some(cell) => (next, roots) = (cell, vec![(cell, None)]),
                }
            }
            grow(backend, mesh, &mut reached, std::mem::take(&mut roots), &mut levels);
        }
        DivergenceCleaning { levels, divergence: backend.zeros(n), ranks: None }
    }

    /// The tree of the part of one of several ranks; `starts` has the first cell of each, then their number.
    pub(super) fn of_part(&self, part: &Part, starts: &[usize]) -> Self {
        let backend = &part.backend;
        let copied = |list: &Buffer<u32>| backend.upload_slice(list.as_host().unwrap_or_default());
        let (mut levels, mut passed) = (vec![], vec![]);
        for level in &self.levels {
            let (faces, places) = part.listed_faces(&level.faces);
            let signs = part.of_list(&level.signs, &places, level.signs.len());
            levels.push(Level {
                cells: copied(&level.cells),
                children: copied(&level.children),
                faces: backend.upload(faces),
                signs,
                subtree: backend.zeros(level.cells.len()),
            });
            let through = backend.zeros(places.len());
            passed.push((backend.upload(places), through));
        }
        let gather = Gather::new(part.halo.group().clone(), starts.to_vec()).on(backend);
        let divergence = backend.zeros(part.own.len());
        DivergenceCleaning {
            levels,
            divergence: backend.zeros(part.n_whole()),
            ranks: Some(RankCells { divergence, gather, passed }),
        }
    }

    /// Makes a flux divergence-free to round-off.
    pub(super) fn clean(&mut self, faces: &StaggeredFaces<F>, flux: &mut Buffer<F>) {
        let FaceCells { offsets, faces: items, rows, .. } = &*faces.cells;
        let backend = faces.backend();
        let own = self.ranks.as_mut().map_or(&mut self.divergence, |ranks| &mut ranks.divergence);
        divergence(backend, own.len(), offsets, items, flux, *rows, own);
        if let Some(RankCells { divergence, gather, .. }) = &self.ranks {
            gather.gather(divergence, &mut self.divergence);
        }
        for k in (0..self.levels.len()).rev() {
            let (above, below) = self.levels.split_at_mut(k + 1);
            let level = &mut above[k];
            // The last level of a component has no children; the next belongs to another component.
            let behind = below.first().map_or(&self.divergence, |next| &next.subtree);
            let (cells, children) = (&level.cells, &level.children);
            gather_divergence(
                backend,
                cells.len(),
                cells,
                children,
                &self.divergence,
                behind,
                &mut level.subtree,
            );
        }
        for (k, level) in self.levels.iter().enumerate() {
            let Level { faces, signs, subtree, .. } = level;
            let through = match &mut self.ranks {
                None => subtree,
                Some(ranks) => {
                    let (places, through) = &mut ranks.passed[k];
                    listed(backend, places.len(), places, subtree, through);
                    &*through
                }
            };
            pass_divergence(backend, faces.len(), faces, signs, through, flux);
        }
    }
}

/// Adds the levels of one tree.
fn grow<F: Real>(
    backend: &Backend,
    mesh: &Mesh,
    reached: &mut [bool],
    roots: Vec<(usize, Option<u32>)>,
    levels: &mut Vec<Level<F>>,
) {
    roots.iter().for_each(|(cell, _)| reached[*cell] = true);
    let mut front = roots;
    while !front.is_empty() {
        let mut next: Vec<(usize, Option<u32>)> = vec![];
        let mut children = vec![0u32];
        for (cell, _) in &front {
            for item in mesh.cell_to_faces.of(*cell) {
                let face = index_of(*item);
                let Some(right) = mesh.face_right.get(face) else { continue };
                let inward = item & SIGN_BIT != 0;
                let other = if inward { mesh.face_left[face] } else { *right } as usize;
                if !reached[other] {
                    reached[other] = true;
                    // The sign is opposite for the other cell.
                    next.push((other, Some(face as u32 | (!item & SIGN_BIT))));
                }
            }
            children.push(next.len() as u32);
        }
        let faces: Vec<u32> = front.iter().filter_map(|(_, face)| *face).collect();
        levels.push(Level {
            cells: backend.upload(front.iter().map(|(cell, _)| *cell as u32).collect()),
            children: backend.upload(children),
            signs: backend.upload(faces.iter().map(|face| face & SIGN_BIT).collect()),
            faces: backend.upload(faces.iter().map(|face| index_of(*face) as u32).collect()),
            subtree: backend.zeros(front.len()),
        });
        front = next;
    }
}

/// The divergence of the subtree of a cell. Traffic 12 + 2s, a child s.
#[kernel(out(subtree))]
pub(super) fn gather_divergence<F: Real>(
    i: usize,
    cells: &View<u32>,
    children: &View<u32>,
    divergence: &View<F>,
    behind: &View<F>,
) -> F {
    let mut sum = divergence[cells[i] as usize];
    for k in children[i] as usize..children[i + 1] as usize {
        sum += behind[k];
    }
    sum
}

/// F ← F ∓ the divergence of the subtree, at the face towards the root. Traffic 8 + 3s.
#[kernel(update(flux), indexed)]
pub(super) fn pass_divergence<F: Real>(
    i: usize,
    _face: usize,
    signs: &View<u32>,
    subtree: &View<F>,
    flux: F,
) -> F {
    flux - with_sign::<F>(signs[i], subtree[i])
}
