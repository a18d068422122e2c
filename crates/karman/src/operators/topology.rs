//! Connectivity of a mesh on a backend, as operators read it.

use super::incidence::{LANES, NO_ITEM, Rows, curl, rotation, signed_sums_in_order};
use super::neighbours::find_neighbours;
use crate::backend::{Backend, Buffer, Element, Halo};
use crate::mesh::{Adjacency, EdgeTopology, Mesh};
use crate::real::Real;
use std::sync::{Arc, OnceLock};

/// The cells of each face and the faces of each cell. Counts are of owned cells and of their faces; with ghost cells behind
/// the owned ones `offsets` and `faces` are longer.
#[derive(Debug)]
pub struct FaceCells {
    n_cells: usize,
    /// Left cell of each face: `[n_faces]`.
    pub left: Buffer<u32>,
    /// Right cell of each interior face: `[n_interior]`.
    pub right: Buffer<u32>,
    /// Start of each cell's faces: `[n_cells + 1]`.
    pub offsets: Buffer<u32>,
    /// Faces of each cell with the sign bit where the normal points in.
    pub faces: Buffer<u32>,
    /// Storage of `faces`: whether all cells have equally many.
    pub rows: Rows,
    /// Computed at the first call: not every operator reads it.
    neighbours: OnceLock<Buffer<u32>>,
    /// The exchange of the values of cells on one of several ranks.
    halo: Option<Arc<Halo>>,
}

impl FaceCells {
    /// Uploads the connectivity of `mesh`.
    pub fn new(backend: &Backend, mesh: &Mesh) -> FaceCells {
        let n_cells = mesh.cell_count.owned;
        FaceCells {
            offsets: backend.upload_slice(&mesh.cell_to_faces.offsets),
            faces: backend.upload_slice(&mesh.cell_to_faces.items),
            rows: equal_length(&mesh.cell_to_faces, n_cells).map_or(Rows::Compressed, Rows::Equal),
            ..FaceCells::sides(backend, mesh)
        }
    }

    /// The cells of each face alone, without the faces of each cell.
    pub fn sides(backend: &Backend, mesh: &Mesh) -> FaceCells {
        FaceCells {
            n_cells: mesh.cell_count.owned,
            left: backend.upload_slice(&mesh.face_left),
            right: backend.upload_slice(&mesh.face_right),
            offsets: backend.zeros(0),
            faces: backend.zeros(0),
            rows: Rows::Compressed,
            neighbours: OnceLock::new(),
            halo: None,
        }
    }

    /// The connectivity of the part of one of several ranks, whose cells and ghosts are those of `halo`.
    pub fn of_rank(backend: &Backend, mesh: &Mesh, halo: Arc<Halo>) -> FaceCells {
        FaceCells { halo: Some(halo), ..FaceCells::new(backend, mesh) }
    }

    /// Number of owned cells and ghosts: the stride of fields that kernels read across faces.
    pub fn n_local(&self) -> usize {
        self.n_cells + self.halo.as_ref().map_or(0, |halo| halo.ghosts())
    }

    /// Number of cells of all ranks.
    pub fn n_total(&self) -> usize {
        self.halo.as_ref().map_or(self.n_cells, |halo| halo.total())
    }

    /// The exchange of the values of cells on one of several ranks.
    pub fn halo(&self) -> Option<&Arc<Halo>> {
        self.halo.as_ref()
    }

    /// Fetches the ghosts of fields of cells on one of several ranks, which all call it: `[components][n_local]` each.
    pub fn fetch<T: Element>(&self, fields: &mut [&mut Buffer<T>]) {
        if let Some(halo) = &self.halo {
            halo.fill_all(fields);
        }
    }

    /// The ghosts of `to` ← those of `from` on one of several ranks: `[n_local]` each.
    pub fn copy_ghosts<T: Element>(&self, from: &Buffer<T>, to: &mut Buffer<T>) {
        if let Some(halo) = &self.halo {
            halo.copy_ghosts(from, to);
        }
    }

    /// For each item of `faces`, `[items]`: the cell across that face, or the boundary face, counted
    /// from the first one, with the top bit set ([`is_cell()`](super::neighbours::is_cell())). The first
    /// call computes the list on `backend`; call it before a recording that reads the list.
    pub fn neighbours(&self, backend: &Backend) -> &Buffer<u32> {
        self.neighbours.get_or_init(|| {
            let FaceCells { left, right, offsets, faces, .. } = self;
            let mut neighbours = backend.zeros(faces.len());
            let (n, inner) = (self.n_cells(), self.n_interior());
            find_neighbours(backend, n, offsets, faces, left, right, inner, &mut neighbours);
            neighbours
        })
    }

    /// Number of owned cells.
    pub fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// Number of faces of owned cells; those between two parts of a mesh belong to both.
    pub fn n_faces(&self) -> usize {
        self.left.len()
    }

    /// Number of faces of owned cells between two cells.
    pub fn n_interior(&self) -> usize {
        self.right.len()
    }
}

/// The rows of a map between entities, stored as a backend reads them fastest.
#[derive(Debug)]
pub struct Incidence {
    /// Storage of `offsets` and `items`.
    pub rows: Rows,
    /// Start of each row or slice.
    pub offsets: Buffer<u32>,
    /// Signed items.
    pub items: Buffer<u32>,
    /// Row of each position, where compressed rows are permuted; else empty.
    pub order: Buffer<u32>,
    /// Number of rows.
    pub len: usize,
}

/// Rows of a window, within which the host sorts them by length: few enough that a window's data stay in
/// the first-level cache, many enough that lengths seldom change.
const WINDOW: usize = 128;

impl Incidence {
    /// Uploads a map: unchanged where its rows have equal length, else in slices on a device and sorted by
    /// length within windows on the host.
    pub fn new(backend: &Backend, map: &Adjacency) -> Incidence {
        if let Some(length) = equal_length(map, map.len()) {
            return Incidence {
                rows: Rows::Equal(length),
                offsets: backend.upload_slice(&map.offsets),
                items: backend.upload_slice(&map.items),
                order: backend.upload(vec![]),
                len: map.len(),
            };
        }
        if backend.device().is_some() {
            Self::in_slices(backend, map)
        } else {
            Self::by_length(backend, map)
        }
    }

    fn by_length(backend: &Backend, map: &Adjacency) -> Incidence {
        let len = map.len();
        let mut order: Vec<u32> = (0..len as u32).collect();
        for window in order.chunks_mut(WINDOW) {
            window.sort_by_key(|row| map.of(*row as usize).len());
        }
        let (mut offsets, mut items) = (vec![0], Vec::with_capacity(map.items.len()));
        for row in &order {
            items.extend_from_slice(map.of(*row as usize));
            offsets.push(items.len() as u32);
        }
        let [offsets, items, order] = [offsets, items, order].map(|array| backend.upload(array));
        Incidence { rows: Rows::Compressed, offsets, items, order, len }
    }

    fn in_slices(backend: &Backend, map: &Adjacency) -> Incidence {
        let len = map.len();
        let (mut offsets, mut items) = (vec![0], vec![]);
        for first in (0..len).step_by(LANES) {
            let slice = first..(first + LANES).min(len);
            let longest = slice.clone().map(|row| map.of(row).len()).max().unwrap_or(0);
            let start = items.len();
            items.resize(start + LANES * longest, NO_ITEM);
            for row in slice {
                for (rank, item) in map.of(row).iter().enumerate() {
                    items[start + LANES * rank + row - first] = *item;
                }
            }
            offsets.push(items.len() as u32);
        }
        let [offsets, items, order] = [offsets, items, vec![]].map(|array| backend.upload(array));
        Incidence { rows: Rows::Slices, offsets, items, order, len }
    }
}

/// The length of the first `rows` rows of a map, where they are equal.
fn equal_length(map: &Adjacency, rows: usize) -> Option<usize> {
    let mut lengths = map.offsets.windows(2).take(rows).map(|pair| pair[1] - pair[0]);
    let first = lengths.next().filter(|first| *first > 0)?;
    lengths.all(|length| length == first).then_some(first as usize)
}

/// The edges of each face, the faces and the nodes of each edge.
#[derive(Debug)]
pub struct EdgeIncidence {
    /// Edges of each face.
    pub face_edges: Incidence,
    /// Faces of each edge.
    pub edge_faces: Incidence,
    /// Start and end node of each edge side by side; empty in 2D, where an edge is a node.
    pub edge_nodes: Buffer<u32>,
}

impl EdgeIncidence {
    /// Uploads the edges of a mesh.
    pub fn new(backend: &Backend, edges: &EdgeTopology) -> EdgeIncidence {
        EdgeIncidence {
            face_edges: Incidence::new(backend, &edges.face_to_edges),
            edge_faces: Incidence::new(backend, &edges.edge_to_faces),
            edge_nodes: backend.upload_slice(edges.edge_to_nodes.as_flattened()),
        }
    }

    /// Number of edges.
    pub fn n_edges(&self) -> usize {
        self.edge_faces.len
    }

    /// (C a)_f = Σ_e ± a_e, the circulation around each face. `circulation`: `[n_edges]`, `flux`:
    /// `[n_faces]`.
    pub fn curl<F: Real>(&self, backend: &Backend, circulation: &Buffer<F>, flux: &mut Buffer<F>) {
        let Incidence { rows, offsets, items, order, len } = &self.face_edges;
        if order.is_empty() {
            curl(backend, *len, offsets, items, circulation, *rows, flux);
        } else {
            signed_sums_in_order(backend, *len, order, offsets, items, circulation, flux);
        }
    }

    /// (R v)_e = Σ_f ± v_f, the transpose of the curl. `v`: `[n_faces]`, `r`: `[n_edges]`.
    pub fn rotation<F: Real>(&self, backend: &Backend, v: &Buffer<F>, r: &mut Buffer<F>) {
        let Incidence { rows, offsets, items, order, len } = &self.edge_faces;
        if order.is_empty() {
            rotation(backend, *len, offsets, items, v, *rows, r);
        } else {
            signed_sums_in_order(backend, *len, order, offsets, items, v, r);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_sorts_rows_by_length_within_windows() {
        let backend = Backend::host(1).unwrap();
        let lengths: Vec<usize> = (0..3 * WINDOW + 5).map(|row| row * 7 % 5).collect();
        let mut map = Adjacency { offsets: vec![0], items: vec![] };
        for (row, length) in lengths.iter().enumerate() {
            map.items.extend((0..*length).map(|k| (10 * row + k) as u32));
            map.offsets.push(map.items.len() as u32);
        }
        let made = Incidence::new(&backend, &map);
        assert_eq!((made.rows, made.len), (Rows::Compressed, lengths.len()));
        let read = |buffer| backend.read::<u32>(buffer).unwrap();
        let [order, offsets, items] = [read(&made.order), read(&made.offsets), read(&made.items)];
        for (position, row) in order.iter().enumerate() {
            assert_eq!(position / WINDOW, *row as usize / WINDOW);
            let range = offsets[position] as usize..offsets[position + 1] as usize;
            assert_eq!(&items[range], map.of(*row as usize));
        }
        for window in order.chunks(WINDOW) {
            assert!(window.is_sorted_by_key(|row| lengths[*row as usize]));
        }
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(k, row)| k == *row as usize));
    }
}
