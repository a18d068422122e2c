//! Swaps: the cells around an edge, or on both sides of a face, are replaced by better ones on the same vertices.

use crate::change::{Change, VertexChange};
use crate::complex::NONE;
use crate::energy;
use crate::mesh::AdaptiveMesh;
use crate::vector::{cross, dot, norm, subtract};

/// Largest number of vertices around an edge that is swapped.
const LARGEST_RING: usize = 9;

/// The cells, or the vertices, around an edge that is swapped.
#[derive(Default)]
struct Ring {
    items: [u32; LARGEST_RING + 1],
    len: usize,
}

impl Ring {
    /// Appends an item; `None` where there are too many.
    fn push(&mut self, item: u32) -> Option<()> {
        *self.items.get_mut(self.len)? = item;
        self.len += 1;
        Some(())
    }

    fn list(&self) -> &[u32] {
        &self.items[..self.len]
    }
}

/// The swap of the edge ab: the polygon of the vertices around it is triangulated anew, and each triangle joined to both ends
/// (Freitag & Ollivier-Gooch, *International Journal for Numerical Methods in Engineering* 40, 1997). The best triangulation is
/// found by dynamic programming. A surface edge is swapped where its two faces lie in a plane.
pub(crate) fn swap_edge(mesh: &AdaptiveMesh<'_>, [a, b]: [u32; 2]) -> Option<Change> {
    if mesh.kept.is_fixed_edge(a, b) {
        return None;
    }
    if mesh.dimension == 2 {
        return flip(mesh, [a, b]);
    }
    let surface: Vec<u32> = match mesh.faces.touches(a) && mesh.faces.touches(b) {
        true => mesh.faces.around_edge(a, b).collect(),
        false => vec![],
    };
    let mut before = 0.0;
    let mut cavity = Ring::default();
    for cell in mesh.cells.around_edge(a, b) {
        before += mesh.cell_penalty.of_cell(mesh.distortions[cell as usize]);
        cavity.push(cell)?;
    }
    let cavity = cavity.list();
    let budget = before + mesh.lengths.of_edge(mesh.length(a, b)) - mesh.least_gain.energy;
    // A polygon of n corners has n − 2 triangles.
    let triangles = (cavity.len() + surface.len() / 2).checked_sub(2)?;
    let is_hopeless = 2.0 * triangles as f64 * energy::LEAST_OF_CELL >= budget;
    if is_hopeless || cavity.len() > LARGEST_RING || !is_flat(mesh, [a, b], &surface) {
        return None;
    }
    let region = mesh.cells.tag(cavity[0]);
    let mut sides = [[NONE; 2]; LARGEST_RING];
    for (side, &cell) in sides.iter_mut().zip(cavity) {
        let nodes = mesh.cells.padded(cell);
        *side = opposite(nodes, a, b)?;
        if mesh.cells.tag(cell) != region {
            return None;
        }
    }
    let ring = chain(&sides[..cavity.len()], surface.is_empty())?;
    let ring = ring.list();
    let n = ring.len();
    if n < 3 {
        return None;
    }
    const SIZE: usize = LARGEST_RING + 1;
    // Least energy of the cells and edges on the polygon from i to j, and the third corner of the triangle on the side ij.
    let mut best = [[0.0_f64; SIZE]; SIZE];
    let mut corner = [[0usize; SIZE]; SIZE];
    for span in 2..n {
        for i in 0..n - span {
            let j = i + span;
            let is_new = !(i == 0 && j == n - 1 && surface.is_empty());
            let edge =
                if is_new { mesh.lengths.of_edge(mesh.length(ring[i], ring[j])) } else { 0.0 };
            best[i][j] = f64::INFINITY;
            for k in i + 1..j {
                let bound = best[i][j].min(budget);
                let mut sum = best[i][k] + best[k][j] + edge;
                if sum >= bound {
                    continue;
                }
                let [p, q, r] = [ring[i], ring[k], ring[j]];
                sum += mesh.cell_penalty.of_cell(mesh.distortion([p, q, r, b]));
                if sum < bound {
                    sum += mesh.cell_penalty.of_cell(mesh.distortion([p, r, q, a]));
                }
                if sum < bound {
                    best[i][j] = sum;
                    corner[i][j] = k;
                }
            }
        }
    }
    if best[0][n - 1] >= budget {
        return None;
    }
    let after = best[0][n - 1];
    let mut change = Change::new(cavity.to_vec(), after, VertexChange::None);
    let mut open = vec![(0, n - 1)];
    while let Some((i, j)) = open.pop() {
        if j < i + 2 {
            continue;
        }
        let k = corner[i][j];
        let [p, q, r] = [ring[i], ring[k], ring[j]];
        change.cells.extend([([p, q, r, b], region), ([p, r, q, a], region)]);
        open.extend([(i, k), (k, j)]);
    }
    if let [first, second] = surface[..] {
        let tag = mesh.faces.tag(first);
        change.old_faces = vec![first, second];
        // The ring turns about the direction from a to b, from the first face to the second.
        let (start, end) = (ring[0], ring[n - 1]);
        change.faces = vec![([end, start, b, NONE], tag), ([start, end, a, NONE], tag)];
    }
    Some(change)
}

/// Whether the edge is in no face, or in two of one plane and one tag, so that it can vanish.
fn is_flat(mesh: &AdaptiveMesh<'_>, [a, b]: [u32; 2], surface: &[u32]) -> bool {
    match *surface {
        [] => true,
        [first, second] => {
            let normal = |face: u32| {
                let [p, q, r, _] = mesh
                    .faces
                    .padded(face)
                    .map(|v| mesh.point(v.min(mesh.vertices.len() as u32 - 1)));
                cross(subtract(q, p), subtract(r, p))
            };
            let (m, n) = (normal(first), normal(second));
            let is_boundary = mesh.faces.tag(first) == mesh.faces.tag(second);
            is_boundary
                && !mesh.is_ridge(a, b)
                && norm(cross(m, n)) <= 1e-9 * norm(m) * norm(n)
                && dot(m, n) > 0.0
        }
        _ => false,
    }
}

/// Vertices c, d of the cell abcd in positive orientation; `None` where a or b is missing.
fn opposite(nodes: [u32; 4], a: u32, b: u32) -> Option<[u32; 2]> {
    let i = nodes.iter().position(|&node| node == a)?;
    let j = nodes.iter().position(|&node| node == b)?;
    // Even permutations that begin with i, j.
    const REST: [[[usize; 2]; 4]; 4] = [
        [[0, 0], [2, 3], [3, 1], [1, 2]],
        [[3, 2], [0, 0], [0, 3], [2, 0]],
        [[1, 3], [3, 0], [0, 0], [0, 1]],
        [[2, 1], [0, 2], [1, 0], [0, 0]],
    ];
    let [c, d] = REST[i][j];
    Some([nodes[c], nodes[d]])
}

/// The vertices around an edge in order: sides c → d joined to a polygon, which is closed or begins and ends at the surface.
fn chain(sides: &[[u32; 2]], is_closed: bool) -> Option<Ring> {
    let start = match is_closed {
        true => sides[0][0],
        false => {
            sides.iter().map(|side| side[0]).find(|&c| sides.iter().all(|side| side[1] != c))?
        }
    };
    let mut ring = Ring::default();
    ring.push(start)?;
    let mut last = start;
    for _ in 0..sides.len() {
        let next = sides.iter().find(|side| side[0] == last)?[1];
        if next == start {
            break;
        }
        ring.push(next)?;
        last = next;
    }
    let complete = sides.len() + usize::from(!is_closed);
    (ring.len == complete).then_some(ring)
}

/// The swap of an edge between two triangles (2D).
fn flip(mesh: &AdaptiveMesh<'_>, [a, b]: [u32; 2]) -> Option<Change> {
    if mesh.faces.touches(a) && mesh.faces.around_edge(a, b).next().is_some() {
        return None;
    }
    let cavity: Vec<u32> = mesh.cells.around_edge(a, b).collect();
    let [first, second] = cavity[..] else { return None };
    let region = mesh.cells.tag(first);
    if mesh.cells.tag(second) != region {
        return None;
    }
    let third = |cell: u32| mesh.cells.nodes_of(cell).iter().copied().find(|&v| v != a && v != b);
    // The vertex on the left of a → b, and that on the right.
    let nodes = mesh.cells.nodes_of(first);
    let at = nodes.iter().position(|&node| node == a)?;
    let (left, right) = match nodes[(at + 1) % 3] == b {
        true => (third(first)?, third(second)?),
        false => (third(second)?, third(first)?),
    };
    let cells = [[left, right, b, NONE], [right, left, a, NONE]];
    let of_cells =
        |sum: f64, nodes: [u32; 4]| sum + mesh.cell_penalty.of_cell(mesh.distortion(nodes));
    let old = [first, second].map(|cell| mesh.cells.padded(cell));
    let before = old.into_iter().fold(mesh.lengths.of_edge(mesh.length(a, b)), of_cells);
    let after = cells.into_iter().fold(mesh.lengths.of_edge(mesh.length(left, right)), of_cells);
    if after >= before - mesh.least_gain.energy {
        return None;
    }
    let cells = cells.map(|cell| (cell, region)).to_vec();
    Some(Change { cells, ..Change::new(cavity, after, VertexChange::None) })
}

/// The swap of the face abc between two cells: an edge between the vertices on both sides, three cells around it (3D).
pub(crate) fn swap_face(mesh: &AdaptiveMesh<'_>, [a, b, c]: [u32; 3]) -> Option<Change> {
    let shared = |cell: &u32| mesh.cells.nodes_of(*cell).contains(&c);
    let cavity: Vec<u32> = mesh.cells.around_edge(a, b).filter(shared).collect();
    let [first, second] = cavity[..] else { return None };
    let region = mesh.cells.tag(first);
    if mesh.cells.tag(second) != region {
        return None;
    }
    let apex =
        |cell: u32| mesh.cells.nodes_of(cell).iter().copied().find(|v| ![a, b, c].contains(v));
    let (mut below, mut above) = (apex(first)?, apex(second)?);
    // abc with `above` is positive.
    if opposite(mesh.cells.padded(first), a, b)? == [c, below] {
        std::mem::swap(&mut below, &mut above);
    }
    let old =
        [first, second].map(|cell| mesh.cell_penalty.of_cell(mesh.distortions[cell as usize]));
    let budget = old[0] + old[1] - mesh.least_gain.energy;
    let cells = [[a, b], [b, c], [c, a]].map(|[p, q]| [p, q, below, above]);
    let mut after = mesh.lengths.of_edge(mesh.length(above, below));
    for cell in cells {
        if after >= budget {
            return None;
        }
        after += mesh.cell_penalty.of_cell(mesh.distortion(cell));
    }
    if after >= budget {
        return None;
    }
    let cells = cells.map(|cell| (cell, region)).to_vec();
    Some(Change { cells, ..Change::new(cavity, after, VertexChange::None) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_vertices_complete_an_even_permutation() {
        let is_even = |p: [u32; 4]| {
            let inversions = (0..4)
                .flat_map(|i| (i + 1..4).map(move |j| (i, j)))
                .filter(|&(i, j)| p[i] > p[j])
                .count();
            inversions % 2 == 0
        };
        for a in 0..4 {
            for b in (0..4).filter(|&b| b != a) {
                let [c, d] = opposite([0, 1, 2, 3], a, b).unwrap();
                assert!(is_even([a, b, c, d]), "{a} {b} {c} {d}");
            }
        }
    }

    #[test]
    fn sides_are_joined_to_a_polygon() {
        let joined = |sides: &[[u32; 2]], is_closed| {
            chain(sides, is_closed).map(|ring| ring.list().to_vec())
        };
        assert_eq!(joined(&[[3, 1], [7, 3], [1, 7]], true), Some(vec![3, 1, 7]));
        assert_eq!(joined(&[[3, 1], [7, 3]], false), Some(vec![7, 3, 1]));
        assert_eq!(joined(&[[3, 1], [1, 3], [5, 6], [6, 5]], true), None);
    }
}
