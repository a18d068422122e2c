//! The intersections of the cells of two meshes of simplices.

use super::boxes::{Bounds, BoxTree};
use super::clip::{ClipCell, Pieces, measure};
use crate::complex::NONE;
use crate::kept_parts::KeptParts;
use crate::vector::Point;
use crate::walk::CellWalk;
use karman_mesh::Mesh;
use rayon::prelude::*;

/// New cells that a task takes at once.
const CHUNK: usize = 256;

/// The tree of the boxes of simplices.
pub(crate) fn tree_of(walk: &CellWalk) -> BoxTree {
    let bounds = |cell: &[u32; 4]| Bounds::of(cell.map(|node| walk.points[node as usize]));
    BoxTree::new(walk.cells.iter().map(bounds).collect())
}

/// Corners of a simplex; a triangle has its first corner again as the last.
pub(crate) fn corners_of(mesh: &Mesh, cell: usize) -> [Point; 4] {
    let nodes = mesh.cells.nodes_of(cell);
    let mut corners = [mesh.points[nodes[0] as usize]; 4];
    corners.iter_mut().zip(nodes).for_each(|(corner, &node)| *corner = mesh.points[node as usize]);
    corners
}

/// Mean of the corners of a simplex.
pub(crate) fn centroid(dimension: usize, corners: &[Point; 4]) -> Point {
    let n = (dimension + 1) as f64;
    [0, 1, 2]
        .map(|axis| corners[..=dimension].iter().fold(0.0, |sum, corner| sum + corner[axis]) / n)
}

/// The intersection of a new cell with an old simplex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    /// The old simplex.
    pub(crate) cell: u32,
    pub(crate) volume: f64,
    pub(crate) centroid: Point,
}

/// Calls `visit` with the simplices of each intersection of a new simplex with the old ones whose cells were not kept, in ascending order
/// of these. Returns the old simplex with the largest intersection.
pub(crate) fn intersect(
    new: &Mesh,
    cell: usize,
    (old, tree, is_kept): OldCells<'_>,
    scratch: &mut Scratch,
    mut visit: impl FnMut(u32, &[[Point; 4]]),
) -> Option<u32> {
    let d = new.dimension;
    let corners = corners_of(new, cell);
    tree.find(&Bounds::of(corners), &mut scratch.found);
    let mut largest = (0.0, None);
    for &candidate in &scratch.found {
        if is_kept[old.owners[candidate as usize] as usize] {
            continue;
        }
        let nodes = &old.cells[candidate as usize][..=d];
        ClipCell::new(nodes, &old.points).clip(corners, &mut scratch.pieces);
        let volume = scratch.pieces.list.iter().fold(0.0, |sum, piece| sum + measure(d, piece));
        if volume > 0.0 {
            visit(candidate, &scratch.pieces.list);
            if volume > largest.0 {
                largest = (volume, Some(candidate));
            }
        }
    }
    largest.1
}

/// The simplices of the old mesh, the tree of their boxes, and whether each cell was kept.
pub(crate) type OldCells<'a> = (&'a CellWalk, &'a BoxTree, &'a [bool]);

/// Space for intersections.
#[derive(Default)]
pub(crate) struct Scratch {
    found: Vec<u32>,
    pieces: Pieces,
}

/// The intersections of all new cells: CSR by new cell.
#[derive(Debug)]
pub(crate) struct Overlaps {
    offsets: Vec<usize>,
    list: Vec<Overlap>,
    /// The old simplex with the largest intersection, of a cell outside of the old mesh the nearest; none of a kept cell.
    pub(crate) largest: Vec<u32>,
}

impl Overlaps {
    /// The intersections of the cells of `new` that were not kept; `nearest` gives the old simplex nearest to a place.
    pub(crate) fn new(
        new: &Mesh,
        kept: &KeptParts,
        old: OldCells<'_>,
        nearest: impl Fn(Point) -> u32 + Sync,
    ) -> Self {
        let d = new.dimension;
        let of_chunk = |chunk: usize| {
            let mut scratch = Scratch::default();
            let (mut list, mut counts, mut largest) = (vec![], vec![], vec![]);
            for cell in chunk * CHUNK..((chunk + 1) * CHUNK).min(new.n_cells()) {
                let before = list.len();
                if kept.cell(cell).is_some() {
                    counts.push(0);
                    largest.push(NONE);
                    continue;
                }
                let found = intersect(new, cell, old, &mut scratch, |cell, pieces| {
                    let mut moment = [0.0; 3];
                    let mut volume = 0.0;
                    for piece in pieces {
                        let part = measure(d, piece);
                        let middle = centroid(d, piece);
                        volume += part;
                        (0..3).for_each(|axis| moment[axis] += part * middle[axis]);
                    }
                    list.push(Overlap { cell, volume, centroid: moment.map(|m| m / volume) });
                });
                counts.push(list.len() - before);
                largest.push(found.unwrap_or_else(|| nearest(centroid(d, &corners_of(new, cell)))));
            }
            (list, counts, largest)
        };
        let chunks = (0..new.n_cells().div_ceil(CHUNK)).into_par_iter();
        let parts: Vec<(Vec<Overlap>, Vec<usize>, Vec<u32>)> = chunks.map(of_chunk).collect();
        let mut all = Overlaps { offsets: vec![0], list: vec![], largest: vec![] };
        let mut end = 0;
        for (list, counts, largest) in parts {
            all.list.extend(list);
            all.largest.extend(largest);
            for count in counts {
                end += count;
                all.offsets.push(end);
            }
        }
        all
    }

    /// The intersections of a new cell.
    pub(crate) fn of(&self, cell: usize) -> &[Overlap] {
        &self.list[self.offsets[cell]..self.offsets[cell + 1]]
    }
}
