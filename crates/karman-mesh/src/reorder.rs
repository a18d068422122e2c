//! Numbering of cells and nodes for locality.
//!
//! A matrix–vector product or a face gradient reads the values of a cell's neighbours: they should
//! lie in few cache lines, and a block of consecutive rows should use each line again.
//! On a Hilbert curve every range of consecutive cells is compact, whatever its length. Reverse
//! Cuthill–McKee makes the bandwidth small; a range of its cells is a thin slab.
//!
//! Measured, 256 rows a block, bytes in 32-byte sectors a row gathered for a product / a divergence
//! / a gradient (file's order; Cuthill–McKee; Hilbert): 185 000 tetrahedra of a shaft 110/69/32;
//! 28/35/10; 20/25/8. 100 000 of a cube 81/58/26; 30/36/11; 20/25/8. So `Auto` is the Hilbert
//! curve, which also costs less at load. On one CPU core both take the same time at these sizes; on
//! a box of 2.3 million tetrahedra, whose slabs the prefetcher follows, the product takes 4.5 ns a
//! row after Cuthill–McKee and 7.2 ns after Hilbert.
use super::adjacency::{Adjacency, CHUNK, fill_rows, offsets_of};
use super::error::{MeshError, MeshWarning, Place};
use super::geometry::mean_point;
use super::half_faces::{HalfFaces, NONE, atomics};
use super::raw::{Elements, RawMesh};
use karman_macros::Keyword;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Numbering of the cells at load; nodes are numbered by their first use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Keyword)]
pub enum Renumbering {
    /// `hilbert`, which reads the least memory on unstructured meshes.
    #[default]
    Auto,
    /// The file's order.
    None,
    /// Reverse Cuthill–McKee on the graph of cells that share a face: smallest bandwidth.
    Rcm,
    /// A Hilbert curve through the cell centres.
    Hilbert,
}

/// A raw mesh in the solver's numbering, its matched faces, and the maps to the file's numbering.
pub(crate) struct Numbered {
    pub(crate) raw: RawMesh,
    pub(crate) halves: HalfFaces,
    /// Solver cell → file cell.
    pub(crate) original_cell: Vec<u32>,
    /// Solver node → file node.
    pub(crate) original_node: Vec<u32>,
    /// File nodes that no cell uses.
    pub(crate) orphan_nodes: Vec<u32>,
}

/// Numbers cells by `method` and nodes by first use (in the file's order with
/// [`Renumbering::None`]), leaves out the nodes that no cell uses, and matches the faces.
pub(crate) fn renumbered(
    raw: RawMesh,
    method: Renumbering,
    warnings: &mut Vec<MeshWarning>,
) -> Result<Numbered, MeshError> {
    let by_graph = method == Renumbering::Rcm;
    // Faces are matched several times faster in a coherent numbering.
    let along_curve = match method {
        Renumbering::None => false,
        Renumbering::Auto | Renumbering::Hilbert => true,
        Renumbering::Rcm => !is_coherent(&raw.cells),
    };
    let order =
        if along_curve { hilbert_order(&raw) } else { (0..raw.cells.len() as u32).collect() };
    let first = apply(raw, order, along_curve);
    if let (Some(&node), Some(place)) = (first.orphan_nodes.first(), first.first_orphan) {
        let count = first.orphan_nodes.len();
        warnings.push(MeshWarning::OrphanNodes { count, first: node, place });
    }
    let (halves, more) = HalfFaces::matched(&first.raw, &first.original_cell)?;
    warnings.extend(more);
    let Applied { raw, mut original_cell, mut original_node, orphan_nodes, .. } = first;
    if !by_graph {
        return Ok(Numbered { raw, halves, original_cell, original_node, orphan_nodes });
    }
    let order = reverse_cuthill_mckee(&halves.cell_graph());
    let halves = halves.permuted(&order);
    let second = apply(raw, order, true);
    original_cell = compose(&second.original_cell, &original_cell);
    original_node = compose(&second.original_node, &original_node);
    Ok(Numbered { raw: second.raw, halves, original_cell, original_node, orphan_nodes })
}

/// next ∘ map.
pub(crate) fn compose(map: &[u32], next: &[u32]) -> Vec<u32> {
    map.par_iter().map(|&item| next[item as usize]).collect()
}

/// Whether consecutive cells use nodes whose numbers lie together: in samples of 256 cells, fewer
/// groups of 16 nodes than cells.
fn is_coherent(cells: &Elements) -> bool {
    const SAMPLES: usize = 64;
    let stride = (cells.len() / SAMPLES).max(CELLS_A_BLOCK);
    let (mut groups, mut sampled) = (0, 0);
    for first in (0..cells.len()).step_by(stride) {
        let last = (first + CELLS_A_BLOCK).min(cells.len());
        let range = cells.offsets[first] as usize..cells.offsets[last] as usize;
        groups += distinct_groups(cells.nodes[range].iter().copied());
        sampled += last - first;
    }
    groups < sampled
}

const CELLS_A_BLOCK: usize = 256;

/// Number of distinct groups of 16 consecutive numbers, the f64 values of a 128-byte line.
fn distinct_groups(numbers: impl Iterator<Item = u32>) -> usize {
    let mut groups: Vec<u32> = numbers.map(|number| number / 16).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.len()
}

/// A raw mesh with its cells and nodes in another order.
struct Applied {
    raw: RawMesh,
    original_cell: Vec<u32>,
    original_node: Vec<u32>,
    orphan_nodes: Vec<u32>,
    /// Place of the first orphan node.
    first_orphan: Option<Place>,
}

/// Puts the cells in `order` (new → old) and renumbers the nodes.
fn apply(raw: RawMesh, order: Vec<u32>, nodes_by_first_use: bool) -> Applied {
    let RawMesh { dimension, points, cells, mut boundary, regions, patches } = raw;
    let mut cells = if order.iter().enumerate().all(|(new, &old)| new as u32 == old) {
        cells
    } else {
        permuted(&cells, &order)
    };
    let (mut new_node, original_node) = if nodes_by_first_use {
        numbered_by_first_use(&cells.nodes, points.len())
    } else {
        let mut new_node = vec![NONE; points.len()];
        let mut original_node = Vec::with_capacity(points.len());
        cells.nodes.iter().for_each(|&node| new_node[node as usize] = 0);
        for (old, new) in new_node.iter_mut().enumerate().filter(|(_, new)| **new == 0) {
            *new = original_node.len() as u32;
            original_node.push(old as u32);
        }
        (new_node, original_node)
    };
    let orphans = new_node.iter().enumerate().filter(|(_, new)| **new == NONE);
    let orphan_nodes: Vec<u32> = orphans.map(|(old, _)| old as u32).collect();
    let first_orphan = orphan_nodes.first().map(|&node| Place(points[node as usize]));
    cells.nodes.par_iter_mut().for_each(|node| *node = new_node[*node as usize]);
    let mut points_in_order: Vec<[f64; 3]> =
        original_node.par_iter().map(|&old| points[old as usize]).collect();
    if boundary.nodes.iter().any(|&node| new_node[node as usize] == NONE) {
        // The element is no face of a cell; the error message needs its nodes.
        for &node in &orphan_nodes {
            new_node[node as usize] = points_in_order.len() as u32;
            points_in_order.push(points[node as usize]);
        }
    }
    boundary.nodes.iter_mut().for_each(|node| *node = new_node[*node as usize]);
    Applied {
        raw: RawMesh { dimension, points: points_in_order, cells, boundary, regions, patches },
        original_cell: order,
        original_node,
        orphan_nodes,
        first_orphan,
    }
}

/// New number of each of `n` nodes by its first place in `list`, [`NONE`] where it has none, and the nodes in
/// that order.
pub(crate) fn numbered_by_first_use(list: &[u32], n: usize) -> (Vec<u32>, Vec<u32>) {
    let first = atomics(n);
    let places = |chunk: usize| chunk * CHUNK..((chunk + 1) * CHUNK).min(list.len());
    let chunks = list.len().div_ceil(CHUNK);
    (0..chunks).into_par_iter().for_each(|chunk| {
        for place in places(chunk) {
            let known = &first[list[place] as usize];
            // A later place, as most are, need not be written.
            if known.load(Relaxed) > place as u32 {
                known.fetch_min(place as u32, Relaxed);
            }
        }
    });
    let is_first = |place: &usize| first[list[*place] as usize].load(Relaxed) == *place as u32;
    let starts = offsets_of(chunks, |chunk| places(chunk).filter(is_first).count());
    let mut original = vec![0; starts[chunks] as usize];
    // The new number k of a node replaces its first place p. As k ≤ p, no later place of the node equals k:
    // `is_first` stays false there.
    fill_rows(&starts, &mut original, |chunk, row| {
        for ((place, old), new) in places(chunk).filter(is_first).zip(row).zip(starts[chunk]..) {
            *old = list[place];
            first[*old as usize].store(new, Relaxed);
        }
    });
    (first.into_iter().map(AtomicU32::into_inner).collect(), original)
}

/// Entities in the order of their numbers in the file, which are distinct.
pub(crate) fn in_file_order(original: &[u32]) -> Vec<u32> {
    let largest = original.par_iter().copied().max();
    let places = atomics(largest.map_or(0, |largest| largest as usize + 1));
    original.par_iter().enumerate().with_min_len(CHUNK).for_each(|(entity, &number)| {
        places[number as usize].store(entity as u32, Relaxed);
    });
    let mut order: Vec<u32> = places.into_iter().map(AtomicU32::into_inner).collect();
    if order.len() > original.len() {
        order.retain(|&entity| entity != NONE);
    }
    order
}

/// Elements in another order, new → old.
pub(crate) fn permuted(cells: &Elements, order: &[u32]) -> Elements {
    let shapes: Vec<_> = order.par_iter().map(|&old| cells.shapes[old as usize]).collect();
    let groups = order.par_iter().map(|&old| cells.groups[old as usize]).collect();
    let offsets = offsets_of(shapes.len(), |cell| shapes[cell].node_count());
    let mut nodes = vec![0u32; cells.nodes.len()];
    fill_rows(&offsets, &mut nodes, |new, items| {
        items.copy_from_slice(cells.nodes_of(order[new] as usize));
    });
    Elements { shapes, offsets, nodes, groups }
}

/// Bits of a Hilbert index per direction.
const BITS: u32 = 16;

/// Cells along a Hilbert curve through their mean points, new → old; ties keep the file's order.
fn hilbert_order(raw: &RawMesh) -> Vec<u32> {
    let nowhere = || ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let joined = |(low, high): ([f64; 3], [f64; 3]), (from, to): ([f64; 3], [f64; 3])| {
        let low: [f64; 3] = std::array::from_fn(|k| low[k].min(from[k]));
        (low, std::array::from_fn(|k| high[k].max(to[k])))
    };
    let points = raw.points.par_iter().with_min_len(CHUNK);
    // Smallest and largest numbers do not depend on the order.
    #[allow(clippy::disallowed_methods)]
    let (low, high) = points.map(|&point| (point, point)).reduce(nowhere, joined);
    let extent = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
    let scale = if extent > 0.0 { f64::from((1u32 << BITS) - 1) / extent } else { 0.0 };
    let key = |cell: u32| {
        let centre = mean_point(raw.cells.nodes_of(cell as usize), &raw.points);
        // The conversion saturates, so that round-off at the edges of the box is harmless.
        let place: [u32; 3] = std::array::from_fn(|k| ((centre[k] - low[k]) * scale) as u32);
        if raw.dimension == 3 { hilbert_index(place) } else { hilbert_index([place[0], place[1]]) }
    };
    let mut keyed: Vec<(u64, u32)> =
        (0..raw.cells.len() as u32).into_par_iter().map(|cell| (key(cell), cell)).collect();
    keyed.par_sort_unstable();
    keyed.into_par_iter().map(|(_, cell)| cell).collect()
}

/// Index along the Hilbert curve of a cell of the 2^BITS grid (Skilling, "Programming the Hilbert
/// curve", AIP Conf. Proc. 707 (2004) 381, doi:10.1063/1.1751381: axes to transposed index).
fn hilbert_index<const D: usize>(mut x: [u32; D]) -> u64 {
    // Branch-free: the branches would be unpredictable.
    for level in (1..BITS).rev() {
        let below = (1u32 << level) - 1;
        for i in 0..D {
            let set = 0u32.wrapping_sub(x[i] >> level & 1);
            let exchange = (x[0] ^ x[i]) & below & !set;
            x[0] ^= exchange | below & set;
            x[i] ^= exchange;
        }
    }
    for i in 1..D {
        x[i] ^= x[i - 1];
    }
    let mut flip = 0;
    for level in (1..BITS).rev() {
        let set = 0u32.wrapping_sub(x[D - 1] >> level & 1);
        flip ^= set & ((1 << level) - 1);
    }
    x.iter().fold(0, |index, value| index << 1 | spread::<D>(value ^ flip))
}

/// The 16 bits of a number D places apart: halves of the number are moved apart, then halves of
/// those.
fn spread<const D: usize>(value: u32) -> u64 {
    let mut bits = u64::from(value);
    let mut width = BITS / 2;
    while width > 0 {
        // Fields of `width` bits, D · width apart.
        let field = (1u64 << width) - 1;
        let mut mask = 0;
        let mut place = 0;
        while place < BITS * D as u32 {
            mask |= field << place;
            place += D as u32 * width;
        }
        bits = (bits | bits << ((D as u32 - 1) * width)) & mask;
        width /= 2;
    }
    bits
}

/// The reverse Cuthill–McKee order of a graph, new → old: breadth first from a pseudo-peripheral
/// vertex (George & Liu 1979, doi:10.1145/355841.355845), neighbours by ascending degree, reversed.
/// Connected components follow one another.
pub fn reverse_cuthill_mckee(graph: &Adjacency) -> Vec<u32> {
    let n = graph.len();
    let mut search = Search { level: vec![NONE; n], queue: VecDeque::new() };
    let mut order = Vec::with_capacity(n);
    let mut placed = vec![false; n];
    let mut ready: Vec<u32> = Vec::new();
    for seed in 0..n {
        if placed[seed] {
            continue;
        }
        let start = search.peripheral_vertex(graph, seed as u32);
        let mut head = order.len();
        placed[start as usize] = true;
        order.push(start);
        while head < order.len() {
            let vertex = order[head] as usize;
            head += 1;
            ready.clear();
            ready.extend(graph.of(vertex).iter().filter(|&&next| !placed[next as usize]));
            ready.sort_unstable_by_key(|&next| (graph.of(next as usize).len(), next));
            ready.dedup();
            for &next in &ready {
                placed[next as usize] = true;
                order.push(next);
            }
        }
    }
    order.reverse();
    order
}

/// Breadth-first searches that share their arrays.
struct Search {
    level: Vec<u32>,
    queue: VecDeque<u32>,
}

impl Search {
    /// A vertex of large eccentricity in the connected component of `seed`.
    fn peripheral_vertex(&mut self, graph: &Adjacency, seed: u32) -> u32 {
        let (mut start, mut depth) = (seed, 0);
        // The depth seldom grows after the third search.
        for _ in 0..4 {
            let (end, reached) = self.farthest(graph, start);
            if reached <= depth {
                break;
            }
            (start, depth) = (end, reached);
        }
        start
    }

    /// The vertex of smallest degree in the last level of a search from `start`, and that level.
    fn farthest(&mut self, graph: &Adjacency, start: u32) -> (u32, u32) {
        let mut visited = vec![start];
        self.level[start as usize] = 0;
        self.queue.push_back(start);
        let mut best = (0, std::cmp::Reverse((graph.of(start as usize).len(), start)));
        while let Some(vertex) = self.queue.pop_front() {
            let next_level = self.level[vertex as usize] + 1;
            for &next in graph.of(vertex as usize) {
                if self.level[next as usize] == NONE {
                    self.level[next as usize] = next_level;
                    self.queue.push_back(next);
                    visited.push(next);
                    let degree = graph.of(next as usize).len();
                    best = best.max((next_level, std::cmp::Reverse((degree, next))));
                }
            }
        }
        visited.into_iter().for_each(|vertex| self.level[vertex as usize] = NONE);
        let (depth, std::cmp::Reverse((_, end))) = best;
        (end, depth)
    }
}

/// How many 128-byte lines of f64 values a block of 256 consecutive rows reads of its
/// neighbours, over the 16 that its own values fill: the mean over all blocks, 1 at best.
#[cfg(test)]
pub(crate) fn gathered_lines(graph: &Adjacency) -> f64 {
    let n = graph.len();
    if n == 0 {
        return 1.0;
    }
    let lines: Vec<usize> = (0..n.div_ceil(CELLS_A_BLOCK))
        .into_par_iter()
        .map(|block| {
            let rows = block * CELLS_A_BLOCK..((block + 1) * CELLS_A_BLOCK).min(n);
            distinct_groups(rows.flat_map(|row| graph.of(row).iter().copied().chain([row as u32])))
        })
        .collect();
    lines.iter().sum::<usize>() as f64 / n.div_ceil(16) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hilbert_curve_visits_neighbours_one_after_the_other() {
        // The corner 2^4 cells wide of the curve is itself a whole curve, in 2D and 3D.
        let mut places: Vec<(u64, [u32; 3])> = Vec::new();
        for x in 0..16 {
            for y in 0..16 {
                for z in 0..16 {
                    places.push((hilbert_index([x, y, z]), [x, y, z]));
                }
            }
        }
        places.sort_unstable();
        for (i, pair) in places.windows(2).enumerate() {
            assert_eq!(pair[0].0, i as u64);
            let distance: u32 = (0..3).map(|k| pair[0].1[k].abs_diff(pair[1].1[k])).sum();
            assert_eq!(distance, 1);
        }
        let mut flat: Vec<(u64, [u32; 2])> =
            (0..256).map(|i| [i / 16, i % 16]).map(|p| (hilbert_index(p), p)).collect();
        flat.sort_unstable();
        for pair in flat.windows(2) {
            assert_eq!(
                pair[0].1[0].abs_diff(pair[1].1[0]) + pair[0].1[1].abs_diff(pair[1].1[1]),
                1
            );
        }
    }

    #[test]
    fn cuthill_mckee_gives_a_path_bandwidth_one_and_numbers_components_in_turn() {
        // A path 3-0-4-1 and a pair 2-5.
        let edges = [(3, 0), (0, 4), (4, 1), (2, 5)];
        let mut rows = vec![Vec::new(); 6];
        for (a, b) in edges {
            rows[a as usize].push(b);
            rows[b as usize].push(a);
        }
        let mut offsets = vec![0];
        offsets.extend(rows.iter().scan(0, |sum, row| {
            *sum += row.len() as u32;
            Some(*sum)
        }));
        let graph = Adjacency { offsets, items: rows.concat() };
        let order = reverse_cuthill_mckee(&graph);
        let mut position = [0usize; 6];
        order.iter().enumerate().for_each(|(new, &old)| position[old as usize] = new);
        for (a, b) in edges {
            assert_eq!(position[a as usize].abs_diff(position[b as usize]), 1);
        }
    }
}
