//! The vertices of a mesh by colour, and the lists of their cells and neighbours.

use super::cavity::ALONG;
use super::colouring::{Rows, VertexColouring};
use crate::complex::NONE;
use crate::mesh::AdaptiveMesh;
use crate::smooth::{facet_nodes, line_or_normal};
use crate::vector::{Point, norm};
use crate::vertex_kind::VertexKind;
use rayon::prelude::*;

/// Vertices that a task takes at once.
const CHUNK: usize = 4096;

/// How a vertex moves.
enum Constraint {
    Fixed,
    Free,
    Normal(Point),
    Along(Point),
}

/// Vertices numbered by colour, those that do not move last, and their lists.
pub(super) struct Topology {
    /// The vertex of the mesh of each number: `[vertices]`.
    pub(super) vertices: Vec<u32>,
    /// Where colours begin; the last is the number of vertices that move.
    pub(super) colour_offsets: Vec<usize>,
    /// Constraint words of the vertices that move.
    pub(super) constraint: Vec<u32>,
    /// Unit vectors: `[directions][3]`.
    pub(super) directions: Vec<f64>,
    /// Cells of the vertices that move: see [`super::cavity::CavityView::facets`].
    pub(super) cells: SlicedLists,
    /// Neighbours of the vertices that move; none in 2D.
    pub(super) neighbours: SlicedLists,
    /// Corners of all cells, the facet of the first behind it: `[dimension + 1][cells]`.
    pub(super) corners: Vec<u32>,
}

/// Lists of items of `width` numbers, sliced: see [`super::cavity::CavityView`].
#[derive(Default)]
pub(super) struct SlicedLists {
    /// First item of each list.
    pub(super) first: Vec<u32>,
    /// Number of items of each list.
    pub(super) count: Vec<u32>,
    /// `[width][items]`.
    pub(super) items: Vec<u32>,
    /// Number of items, with those that fill up the slices.
    pub(super) n_items: usize,
}

impl SlicedLists {
    /// Lists that nothing reads.
    fn empty() -> SlicedLists {
        SlicedLists { first: vec![0], count: vec![0], items: vec![0], n_items: 0 }
    }

    /// The lists that `of` appends for each of `n` entities, `width` numbers an item.
    fn new(
        n: usize,
        width: usize,
        spacing: usize,
        of: impl Fn(usize, &mut Vec<u32>) + Sync,
    ) -> SlicedLists {
        let chunk = |chunk: usize| {
            let (mut counts, mut all) = (vec![], vec![]);
            for entity in chunk * CHUNK..((chunk + 1) * CHUNK).min(n) {
                let before = all.len();
                of(entity, &mut all);
                counts.push(((all.len() - before) / width) as u32);
            }
            (counts, all)
        };
        let chunks: Vec<(Vec<u32>, Vec<u32>)> =
            (0..n.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
        let count: Vec<u32> =
            chunks.iter().flat_map(|(counts, _)| counts.iter().copied()).collect();
        let mut first = Vec::with_capacity(n);
        let mut end = 0;
        for slice in count.chunks(spacing) {
            first.extend((0..slice.len()).map(|lane| (end + lane) as u32));
            end += slice.iter().copied().max().unwrap_or(0) as usize * spacing;
        }
        let mut items = vec![0; width * end];
        let mut entity = 0;
        for (counts, all) in &chunks {
            let mut from = all.iter();
            for &own in counts {
                for j in 0..own as usize {
                    let at = first[entity] as usize + j * spacing;
                    for part in 0..width {
                        items[part * end + at] = from.next().copied().unwrap_or(0);
                    }
                }
                entity += 1;
            }
        }
        SlicedLists { first, count, items, n_items: end }
    }
}

/// Appends the vertices of sides of the plane, each after the one before it: a round for sides that follow each other, [`NONE`] between
/// rounds. An open round begins at its first side; a closed one at the first of `sides`, and ends there.
fn append_rounds(mut sides: Vec<[u32; 2]>, all: &mut Vec<u32>) {
    let mut is_first = true;
    while !sides.is_empty() {
        let begins = |side: &[u32; 2]| sides.iter().all(|other| other[1] != side[0]);
        let mut next = sides.iter().position(begins).or(Some(0));
        let mut end = NONE;
        if !std::mem::replace(&mut is_first, false) {
            all.push(NONE);
        }
        while let Some(at) = next {
            let [from, to] = sides.remove(at);
            if end == NONE {
                all.push(from);
            }
            all.push(to);
            end = to;
            next = sides.iter().position(|side| side[0] == end);
        }
    }
}

fn constraint_of(mesh: &AdaptiveMesh<'_>, vertex: u32) -> Constraint {
    let kind = mesh.kinds[vertex as usize];
    if kind == VertexKind::Corner || !mesh.cells.touches(vertex) {
        return Constraint::Fixed;
    }
    if kind == VertexKind::Interior {
        return Constraint::Free;
    }
    match line_or_normal(mesh, vertex, kind) {
        Some(place) if place.is_straight && norm(place.direction) > 0.0 => {
            let size = norm(place.direction);
            let unit = place.direction.map(|coordinate| coordinate / size);
            if mesh.is_line(kind) { Constraint::Along(unit) } else { Constraint::Normal(unit) }
        }
        _ => Constraint::Fixed,
    }
}

impl Topology {
    /// The vertices of `mesh`; lists in slices of `spacing` vertices.
    pub(super) fn new(mesh: &AdaptiveMesh<'_>, spacing: usize) -> Topology {
        let n = mesh.vertices.len();
        let dimension = mesh.dimension;
        let constraints: Vec<Constraint> =
            (0..n as u32).into_par_iter().map(|vertex| constraint_of(mesh, vertex)).collect();
        let lists: Vec<Vec<u32>> = (0..n as u32)
            .into_par_iter()
            .map(|vertex| {
                let mut list = vec![];
                mesh.neighbours(vertex, &mut list);
                list
            })
            .collect();
        let graph = Rows::of_lists(&lists);
        drop(lists);
        let colouring = VertexColouring::of(&graph);
        // By colour, those that do not move in a group of their own behind.
        let group = |vertex: usize| match constraints[vertex] {
            Constraint::Fixed => colouring.colours,
            _ => colouring.colour_of[vertex] as usize,
        };
        let mut offsets = vec![0; colouring.colours + 2];
        (0..n).for_each(|vertex| offsets[group(vertex) + 1] += 1);
        (0..=colouring.colours).for_each(|colour| offsets[colour + 1] += offsets[colour]);
        let mut next = offsets.clone();
        let (mut vertices, mut number) = (vec![0; n], vec![0; n]);
        for vertex in 0..n {
            let place = &mut next[group(vertex)];
            vertices[*place] = vertex as u32;
            number[vertex] = *place as u32;
            *place += 1;
        }
        offsets.pop();
        let moving = offsets[colouring.colours];
        let (mut constraint, mut directions) = (vec![0; moving], vec![]);
        for (word, &vertex) in constraint.iter_mut().zip(&vertices) {
            let index = (directions.len() / 3) as u32;
            let (kind, direction) = match &constraints[vertex as usize] {
                Constraint::Normal(direction) => (0, direction),
                Constraint::Along(direction) => (ALONG, direction),
                _ => continue,
            };
            *word = 1 + 2 * index + kind;
            directions.extend(direction);
        }
        let width = if dimension == 2 { 1 } else { 3 };
        let cells = SlicedLists::new(moving, width, spacing, |v, all| {
            let vertex = vertices[v];
            let mut around = mesh.cells.around(vertex).to_vec();
            around.sort_unstable();
            let facets = around.iter().map(|&cell| {
                facet_nodes(mesh.cells.padded(cell), vertex).map(|node| number[node as usize])
            });
            match dimension {
                2 => append_rounds(facets.map(|[a, b, _]| [a, b]).collect(), all),
                _ => all.extend(facets.flatten()),
            }
        });
        let neighbours = match dimension {
            2 => SlicedLists::empty(),
            _ => SlicedLists::new(moving, 1, spacing, |v, all| {
                let others = graph.of(vertices[v] as usize).iter();
                all.extend(others.map(|&other| number[other as usize]));
            }),
        };
        let numbers: Vec<u32> = mesh.cells.elements().collect();
        let mut corners = Vec::with_capacity((dimension + 1) * numbers.len());
        for corner in 0..=dimension {
            corners.extend(numbers.iter().map(|&cell| {
                let nodes = mesh.cells.padded(cell);
                let facet = facet_nodes(nodes, nodes[0]);
                let node = if corner == 0 { nodes[0] } else { facet[corner - 1] };
                number[node as usize]
            }));
        }
        Topology {
            vertices,
            colour_offsets: offsets,
            constraint,
            directions,
            cells,
            neighbours,
            corners,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_sides_follow_each_other() {
        let rounds = |sides: &[[u32; 2]]| {
            let mut all = vec![];
            append_rounds(sides.to_vec(), &mut all);
            all
        };
        assert_eq!(rounds(&[[4, 2], [7, 4], [2, 7]]), [4, 2, 7, 4]);
        assert_eq!(rounds(&[[4, 2], [7, 4]]), [7, 4, 2]);
        assert_eq!(rounds(&[[5, 6], [1, 2], [2, 3]]), [5, 6, NONE, 1, 2, 3]);
        assert_eq!(rounds(&[[5, 6], [6, 5], [2, 3]]), [2, 3, NONE, 5, 6, 5]);
    }
}
