//! The numbering of faces: interior by (left, right) cell, then boundary by patch, and the lists
//! that follow from it.
//!
//! Traffic for a tetrahedron (2 faces): matches read twice (32 bytes), numbers written and read
//! (32), faces written (40).

use super::Patch;
use super::adjacency::{Adjacency, CHUNK, SIGN_BIT, fill_rows, index_of};
use super::cell_shape::MAX_FACES;
use super::error::MeshWarning;
use super::half_faces::{BOUNDARY, HalfFaces, cell_of, code_of, corners_of, local_of};
use super::raw::{Elements, RawMesh};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Numbered faces.
pub(crate) struct Faces {
    pub(crate) face_to_nodes: Adjacency,
    pub(crate) face_left: Vec<u32>,
    pub(crate) face_right: Vec<u32>,
    pub(crate) cell_to_faces: Adjacency,
    pub(crate) patches: Vec<Patch>,
}

impl Faces {
    /// Numbers the faces: interior by (left, right), then boundary by patch and cell. Patches
    /// without faces are left out, with a warning.
    pub(crate) fn numbered(
        raw: &RawMesh,
        mut halves: HalfFaces,
        warnings: &mut Vec<MeshWarning>,
    ) -> Faces {
        let cells = &raw.cells;
        let chunks = cells.len().div_ceil(CHUNK);
        let chunk_cells = |chunk: usize| chunk * CHUNK..((chunk + 1) * CHUNK).min(cells.len());
        let counts: Vec<[usize; 2]> = (0..chunks)
            .into_par_iter()
            .map(|chunk| {
                let mut count = [0, 0];
                for cell in chunk_cells(chunk) {
                    for (face, &code) in partners(&halves, cell).iter().enumerate() {
                        if is_owned(code, cell) {
                            let nodes = cells.shapes[cell].face_node_count(face);
                            count = [count[0] + 1, count[1] + nodes];
                        }
                    }
                }
                count
            })
            .collect();
        let boundary = boundary_halves(&halves, cells.len());
        let n_interior: usize = counts.iter().map(|count| count[0]).sum();
        let n_items: usize = counts.iter().map(|count| count[1]).sum();
        let n_faces = n_interior + boundary.len();
        let boundary_items: usize = boundary.iter().map(|&(_, code)| corners_of(raw, code).1).sum();

        let spare = std::mem::take(&mut halves.spare);
        let number: Vec<AtomicU32> = spare.into_iter().map(AtomicU32::new).collect();
        let mut face_left = vec![0; n_faces];
        let mut face_right = vec![0; n_interior];
        let mut offsets = vec![0u32; n_faces + 1];
        let mut items = vec![0; n_items + boundary_items];
        {
            let mut tasks = Vec::with_capacity(chunks);
            let mut left = &mut face_left[..];
            let mut right = &mut face_right[..];
            let mut ends = &mut offsets[1..];
            let mut nodes = &mut items[..];
            let mut first = [0, 0];
            for (chunk, count) in counts.iter().enumerate() {
                let task = Task {
                    cells: chunk_cells(chunk),
                    first_face: first[0] as u32,
                    first_item: first[1] as u32,
                    left: split_off(&mut left, count[0]),
                    right: split_off(&mut right, count[0]),
                    ends: split_off(&mut ends, count[0]),
                    nodes: split_off(&mut nodes, count[1]),
                };
                tasks.push(task);
                first = [first[0] + count[0], first[1] + count[1]];
            }
            tasks.into_par_iter().for_each(|task| task.run(&halves, cells, &number));
        }
        let (mut face, mut item) = (n_interior, n_items);
        for &(_, code) in &boundary {
            let (corners, count) = corners_of(raw, code);
            items[item..item + count].copy_from_slice(&corners[..count]);
            item += count;
            face_left[face] = cell_of(code) as u32;
            offsets[face + 1] = item as u32;
            let place = halves.offsets[cell_of(code)] as usize + local_of(code);
            number[place].store(face as u32, Relaxed);
            face += 1;
        }
        let patches = patches(raw, &boundary, n_interior, warnings);
        let HalfFaces { offsets: cell_offsets, .. } = halves;
        let mut cell_items: Vec<u32> = number.into_iter().map(AtomicU32::into_inner).collect();
        fill_rows(&cell_offsets, &mut cell_items, |_, row| {
            row.sort_unstable_by_key(|&item| index_of(item));
        });
        Faces {
            face_to_nodes: Adjacency { offsets, items },
            face_left,
            face_right,
            cell_to_faces: Adjacency { offsets: cell_offsets, items: cell_items },
            patches,
        }
    }
}

fn split_off<'a, T>(slice: &mut &'a mut [T], n: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(slice).split_at_mut(n);
    *slice = tail;
    head
}

/// Partner code of each face of a cell.
fn partners(halves: &HalfFaces, cell: usize) -> &[u32] {
    &halves.partner[halves.offsets[cell] as usize..halves.offsets[cell + 1] as usize]
}

/// Whether a cell owns the interior face with partner `code`.
fn is_owned(code: u32, cell: usize) -> bool {
    code & BOUNDARY == 0 && cell_of(code) > cell
}

/// Visits the interior faces a cell owns, by ascending neighbour: local face, partner, nodes.
fn each_owned(
    halves: &HalfFaces,
    cells: &Elements,
    cell: usize,
    mut visit: impl FnMut(usize, u32, ([u32; 4], usize)),
) {
    let mut owned = [(0u32, 0usize); MAX_FACES];
    let mut count = 0;
    for (face, &code) in partners(halves, cell).iter().enumerate() {
        if is_owned(code, cell) {
            owned[count] = (code, face);
            count += 1;
        }
    }
    owned[..count].sort_unstable();
    for &(code, face) in &owned[..count] {
        visit(face, code, cells.shapes[cell].face_nodes(cells.nodes_of(cell), face));
    }
}

/// The interior faces owned by a range of cells, and the slices they are written to.
struct Task<'a> {
    cells: std::ops::Range<usize>,
    first_face: u32,
    first_item: u32,
    left: &'a mut [u32],
    right: &'a mut [u32],
    ends: &'a mut [u32],
    nodes: &'a mut [u32],
}

impl Task<'_> {
    fn run(self, halves: &HalfFaces, cells: &Elements, number: &[AtomicU32]) {
        let (mut next, mut item) = (0, 0);
        for cell in self.cells {
            each_owned(halves, cells, cell, |face, code, (corners, count)| {
                self.left[next] = cell as u32;
                self.right[next] = cell_of(code) as u32;
                self.nodes[item..item + count].copy_from_slice(&corners[..count]);
                item += count;
                self.ends[next] = self.first_item + item as u32;
                let index = self.first_face + next as u32;
                number[halves.offsets[cell] as usize + face].store(index, Relaxed);
                let across = halves.offsets[cell_of(code)] as usize + local_of(code);
                number[across].store(index | SIGN_BIT, Relaxed);
                next += 1;
            });
        }
    }
}

/// (patch, half-face) of the boundary, by patch, then cell, then local face.
fn boundary_halves(halves: &HalfFaces, n_cells: usize) -> Vec<(u32, u32)> {
    let of_chunk = |chunk: usize| {
        let mut found = Vec::new();
        for cell in chunk * CHUNK..((chunk + 1) * CHUNK).min(n_cells) {
            for (face, &code) in partners(halves, cell).iter().enumerate() {
                if code & BOUNDARY != 0 {
                    found.push((code & !BOUNDARY, code_of(cell, face)));
                }
            }
        }
        found
    };
    let chunks: Vec<Vec<(u32, u32)>> =
        (0..n_cells.div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
    let mut all = chunks.concat();
    all.par_sort_unstable();
    all
}

fn patches(
    raw: &RawMesh,
    boundary: &[(u32, u32)],
    n_interior: usize,
    warnings: &mut Vec<MeshWarning>,
) -> Vec<Patch> {
    let mut patches = Vec::with_capacity(raw.patches.len());
    for (patch, name) in raw.patches.iter().enumerate() {
        let start = boundary.partition_point(|&(p, _)| (p as usize) < patch);
        let end = boundary.partition_point(|&(p, _)| p as usize <= patch);
        if start == end {
            warnings.push(MeshWarning::EmptyPatch { patch: name.clone() });
        } else {
            patches.push(Patch { name: name.clone(), faces: n_interior + start..n_interior + end });
        }
    }
    patches
}
