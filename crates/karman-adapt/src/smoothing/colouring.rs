//! Colouring of the vertices of a mesh: vertices of one colour have no edge between them, so that all of them move at once.

use rayon::prelude::*;

/// No colour yet.
const NONE: u32 = u32::MAX;
/// Vertices that a task takes at once.
const CHUNK: usize = 4096;

/// Vertices by colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VertexColouring {
    /// Colour of each vertex: `[vertices]`.
    pub(crate) colour_of: Vec<u32>,
    /// Number of colours.
    pub(crate) colours: usize,
}

/// Neighbours by compressed rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Where rows begin: `[rows + 1]`.
    pub(crate) offsets: Vec<u32>,
    /// The items of all rows.
    pub(crate) items: Vec<u32>,
}

impl Rows {
    /// The rows of lists.
    pub(crate) fn of_lists(lists: &[Vec<u32>]) -> Rows {
        let mut offsets = Vec::with_capacity(lists.len() + 1);
        offsets.push(0);
        let mut end = 0;
        for list in lists {
            end += list.len() as u32;
            offsets.push(end);
        }
        Rows { offsets, items: lists.concat() }
    }

    /// Items of a row.
    #[inline]
    pub(crate) fn of(&self, row: usize) -> &[u32] {
        &self.items[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// A pseudo-random number of a vertex (the finaliser of splitmix64).
fn scrambled(vertex: u32) -> u32 {
    let mut z = (u64::from(vertex) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32) as u32
}

impl VertexColouring {
    /// Colours a symmetric graph by the method of Jones & Plassmann (*SIAM Journal on Scientific Computing* 14, 1993) with the
    /// largest degree first: in each round the vertices whose priority exceeds that of all uncoloured neighbours take the lowest
    /// colour that no neighbour has. Priorities are (degree, pseudo-random number, number), so that the result depends on the
    /// graph alone. At most the largest degree + 1 colours; O(edges) work in an expected number of rounds that grows like log n.
    pub(crate) fn of(graph: &Rows) -> VertexColouring {
        let n = graph.len();
        let priority = |vertex: u32| {
            let degree = graph.offsets[vertex as usize + 1] - graph.offsets[vertex as usize];
            (degree, scrambled(vertex), vertex)
        };
        let mut colour_of = vec![NONE; n];
        let mut remaining: Vec<u32> = (0..n as u32).collect();
        while !remaining.is_empty() {
            let known = &colour_of;
            let of_vertex = |&vertex: &u32| {
                let own = priority(vertex);
                let mut taken = 0_u64;
                let mut high = vec![];
                for &other in graph.of(vertex as usize) {
                    match known[other as usize] {
                        NONE if priority(other) > own => return NONE,
                        NONE => {}
                        colour if colour < 64 => taken |= 1 << colour,
                        colour => high.push(colour),
                    }
                }
                let mut colour = taken.trailing_ones();
                while colour >= 64 && high.contains(&colour) {
                    colour += 1;
                }
                colour
            };
            let chosen: Vec<u32> =
                remaining.par_iter().with_min_len(CHUNK).map(of_vertex).collect();
            for (&vertex, &colour) in remaining.iter().zip(&chosen) {
                colour_of[vertex as usize] = colour;
            }
            let mut chosen = chosen.into_iter();
            remaining.retain(|_| chosen.next() == Some(NONE));
        }
        let colours = colour_of.iter().max().map_or(0, |&last| last as usize + 1);
        VertexColouring { colour_of, colours }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_edges(n: usize, edges: &[[u32; 2]]) -> Rows {
        let mut lists = vec![vec![]; n];
        for &[a, b] in edges {
            lists[a as usize].push(b);
            lists[b as usize].push(a);
        }
        Rows::of_lists(&lists)
    }

    fn check(graph: &Rows) -> VertexColouring {
        let colouring = VertexColouring::of(graph);
        for vertex in 0..graph.len() {
            for &other in graph.of(vertex) {
                assert_ne!(colouring.colour_of[vertex], colouring.colour_of[other as usize]);
            }
            assert!((colouring.colour_of[vertex] as usize) <= graph.of(vertex).len());
        }
        colouring
    }

    #[test]
    fn neighbours_have_different_colours() {
        let mut grid = vec![];
        let side = 90_u32;
        for j in 0..side {
            for i in 0..side {
                let v = j * side + i;
                if i + 1 < side {
                    grid.push([v, v + 1]);
                }
                if j + 1 < side {
                    grid.push([v, v + side]);
                }
                if i + 1 < side && j + 1 < side {
                    grid.push([v, v + side + 1]);
                }
            }
        }
        let colouring = check(&of_edges((side * side) as usize, &grid));
        assert!((3..=7).contains(&colouring.colours), "{}", colouring.colours);
        assert_eq!(check(&of_edges(3, &[])).colours, 1);
        assert_eq!(check(&of_edges(0, &[])).colours, 0);
    }

    #[test]
    fn a_complete_graph_of_seventy_vertices_takes_seventy_colours() {
        let edges: Vec<[u32; 2]> = (0..70).flat_map(|a| (a + 1..70).map(move |b| [a, b])).collect();
        assert_eq!(check(&of_edges(70, &edges)).colours, 70);
    }

    #[test]
    fn colours_do_not_depend_on_the_number_of_threads() {
        let n = 20_000_u32;
        let edges: Vec<[u32; 2]> =
            (0..4 * n).map(|k| [k % n, scrambled(k) % n]).filter(|[a, b]| a != b).collect();
        let graph = of_edges(n as usize, &edges);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| check(&graph))
        };
        let one = run(1);
        assert!([2, 7].into_iter().all(|threads| run(threads) == one));
    }
}
