//! Faces from cells: halves of faces are sorted into buckets by their smallest node, matched
//! within a bucket, and numbered.
//!
//! Traffic for a tetrahedron (4 half-faces, 2 faces): nodes read three times (48 bytes), buckets
//! written and read (32), matches (32), numbers (32), faces written (48); no hashing, no search.

use super::adjacency::{Adjacency, CHUNK, SIGN_BIT, accumulate, fill_rows, index_of};
use super::cell_shape::MAX_FACES;
use super::error::{MeshError, MeshWarning, Place};
use super::geometry::mean_point;
use super::raw::RawMesh;
use super::reorder::NONE;
use super::validate::{INDEX_LIMIT, raw_boundary_name, raw_cell_name};
use super::{Elements, Patch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Marks the code of a boundary element among half-faces, and a patch among partners.
const BOUNDARY: u32 = 1 << 31;

/// Cells that a half-face code can name.
const CELL_LIMIT: usize = INDEX_LIMIT / MAX_FACES;

/// The code of one side of a face: its cell and the face's place in it.
fn code_of(cell: usize, face: usize) -> u32 {
    (cell * MAX_FACES + face) as u32
}

fn cell_of(code: u32) -> usize {
    code as usize / MAX_FACES
}

fn local_of(code: u32) -> usize {
    code as usize % MAX_FACES
}

/// Every face of every cell, and what lies across it.
pub(crate) struct HalfFaces {
    /// Start of each cell's faces: `[n_cells + 1]`.
    offsets: Vec<u32>,
    /// Code of the half-face across, or [`BOUNDARY`] and a patch: `[offsets[n_cells]]`.
    partner: Vec<u32>,
}

/// What one bucket of faces with the same nodes may reveal.
enum Fault {
    /// Several cells at one face: half-face codes.
    Cells(Vec<u32>),
    /// One face in two patches: two boundary elements.
    Patches(u32, u32),
}

/// What matching a run of buckets found beside pairs.
#[derive(Default)]
struct Findings {
    fault: Option<Fault>,
    /// Half-faces on no patch: how many, and the first.
    open: (usize, u32),
    /// Boundary elements on no face: how many, and the first.
    stray: (usize, u32),
    /// Boundary elements between two cells.
    inner: Vec<u32>,
    /// Boundary elements beyond the first on a face.
    repeated: usize,
}

impl HalfFaces {
    /// Matches the faces of all cells with one another and with the boundary elements.
    ///
    /// # Errors
    /// Duplicate or overlapping cells, a face of more than two cells or in two patches, boundary
    /// faces without a patch, boundary elements without a face, too many cells.
    pub(crate) fn matched(
        raw: &RawMesh,
        original_cell: &[u32],
    ) -> Result<(HalfFaces, Vec<MeshWarning>), MeshError> {
        let cells = &raw.cells;
        if cells.len() > CELL_LIMIT {
            let (count, limit) = (cells.len(), CELL_LIMIT);
            return Err(MeshError::TooLarge { what: "cells", count, limit });
        }
        let halves: usize = cells.shapes.iter().map(|shape| shape.face_count()).sum();
        if halves > INDEX_LIMIT {
            let (count, limit) = (halves, INDEX_LIMIT);
            return Err(MeshError::TooLarge { what: "faces of cells", count, limit });
        }
        let mut offsets = Vec::with_capacity(cells.len() + 1);
        offsets.push(0);
        offsets.extend(cells.shapes.iter().scan(0, |sum, shape| {
            *sum += shape.face_count() as u32;
            Some(*sum)
        }));
        let buckets = buckets(raw);
        let partner: Vec<AtomicU32> = atomics(halves);
        let findings: Vec<Findings> = (0..raw.points.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let nodes = chunk * CHUNK..((chunk + 1) * CHUNK).min(raw.points.len());
                let store = |code: u32, value: u32| {
                    let place = offsets[cell_of(code)] as usize + local_of(code);
                    partner[place].store(value, Relaxed);
                };
                match_buckets(raw, &buckets, nodes, store)
            })
            .collect();
        let warnings = judge(raw, original_cell, findings)?;
        let partner = partner.into_iter().map(AtomicU32::into_inner).collect();
        Ok((HalfFaces { offsets, partner }, warnings))
    }

    /// Cells that share a face with each cell, in the order of the cell's faces.
    pub(crate) fn cell_graph(&self) -> Adjacency {
        let n = self.offsets.len() - 1;
        let mut offsets = vec![0u32; n + 1];
        let across = |cell: usize| {
            let range = self.offsets[cell] as usize..self.offsets[cell + 1] as usize;
            self.partner[range].iter().filter(|&&code| code & BOUNDARY == 0)
        };
        offsets[1..]
            .par_iter_mut()
            .enumerate()
            .for_each(|(cell, count)| *count = across(cell).count() as u32);
        accumulate(&mut offsets);
        let mut items = vec![0; offsets[n] as usize];
        fill_rows(&offsets, &mut items, |cell, row| {
            row.iter_mut().zip(across(cell)).for_each(|(item, &code)| *item = cell_of(code) as u32);
        });
        Adjacency { offsets, items }
    }
}

fn atomics(n: usize) -> Vec<AtomicU32> {
    let mut values = Vec::with_capacity(n);
    values.resize_with(n, || AtomicU32::new(NONE));
    values
}

/// Half-faces and boundary elements by smallest node, in any order within a bucket.
fn buckets(raw: &RawMesh) -> Adjacency {
    let cells = &raw.cells;
    let n = raw.points.len();
    let ends: Vec<AtomicU32> = (0..=n).map(|_| AtomicU32::new(0)).collect();
    let each_cell = |visit: &(dyn Fn(u32, u32) + Sync)| {
        (0..cells.len()).into_par_iter().with_min_len(CHUNK).for_each(|cell| {
            let (shape, nodes) = (cells.shapes[cell], cells.nodes_of(cell));
            for face in 0..shape.face_count() {
                let ([a, b, c, d], _) = shape.face_nodes(nodes, face);
                visit(a.min(b).min(c.min(d)), code_of(cell, face));
            }
        });
        (0..raw.boundary.len()).into_par_iter().with_min_len(CHUNK).for_each(|element| {
            let lowest = raw.boundary.nodes_of(element).iter().copied().min().unwrap_or(0);
            visit(lowest, BOUNDARY | element as u32);
        });
    };
    each_cell(&|lowest, _| {
        ends[lowest as usize].fetch_add(1, Relaxed);
    });
    let mut sum = 0;
    for end in &ends {
        sum += end.load(Relaxed);
        end.store(sum, Relaxed);
    }
    let items = atomics(sum as usize);
    each_cell(&|lowest, code| {
        let place = ends[lowest as usize].fetch_sub(1, Relaxed) - 1;
        items[place as usize].store(code, Relaxed);
    });
    // Filled from behind, every end has become a start.
    Adjacency {
        offsets: ends.into_iter().map(AtomicU32::into_inner).collect(),
        items: items.into_iter().map(AtomicU32::into_inner).collect(),
    }
}

/// A face as it sorts: seen from its smallest node, the smaller and the larger of the two next nodes,
/// the opposite node, then the sense of rotation and the code.
fn sort_key(corners: [u32; 4], count: usize, code: u32) -> u128 {
    const ABSENT: u32 = INDEX_LIMIT as u32;
    let (a, b, opposite) = match count {
        2 => {
            return pack(corners[0].max(corners[1]), ABSENT, ABSENT, corners[0] > corners[1], code);
        }
        3 => {
            let [p, q, r, _] = corners;
            let (a, b) = if p < q && p < r {
                (q, r)
            } else if q < r {
                (r, p)
            } else {
                (p, q)
            };
            (a, b, ABSENT)
        }
        _ => {
            let mut lowest = 0;
            for i in 1..4 {
                if corners[i] < corners[lowest] {
                    lowest = i;
                }
            }
            let at = |i: usize| corners[(lowest + i) & 3];
            (at(1), at(3), at(2))
        }
    };
    pack(a.min(b), a.max(b), opposite, a > b, code)
}

fn pack(a: u32, b: u32, c: u32, sense: bool, code: u32) -> u128 {
    let nodes = (u128::from(a) << 31 | u128::from(b)) << 31 | u128::from(c);
    (nodes << 1 | u128::from(sense)) << 32 | u128::from(code)
}

const NODES_SHIFT: u32 = 33;
const SENSE: u128 = 1 << 32;

fn match_buckets(
    raw: &RawMesh,
    buckets: &Adjacency,
    nodes: std::ops::Range<usize>,
    store: impl Fn(u32, u32),
) -> Findings {
    let mut findings = Findings::default();
    let mut keys: Vec<u128> = Vec::new();
    for node in nodes {
        keys.clear();
        keys.extend(buckets.of(node).iter().map(|&code| {
            let (corners, count) = corners_of(raw, code);
            sort_key(corners, count, code)
        }));
        keys.sort_unstable();
        let mut start = 0;
        while start < keys.len() {
            let mut end = start + 1;
            while end < keys.len() && keys[end] >> NODES_SHIFT == keys[start] >> NODES_SHIFT {
                end += 1;
            }
            if let [a, b] = keys[start..end]
                && (a ^ b) & SENSE != 0
                && (a as u32 | b as u32) & BOUNDARY == 0
            {
                store(a as u32, b as u32);
                store(b as u32, a as u32);
            } else {
                match_group(raw, &keys[start..end], &store, &mut findings);
            }
            start = end;
        }
    }
    findings
}

fn corners_of(raw: &RawMesh, code: u32) -> ([u32; 4], usize) {
    if code & BOUNDARY == 0 {
        let cell = cell_of(code);
        raw.cells.shapes[cell].face_nodes(raw.cells.nodes_of(cell), local_of(code))
    } else {
        let nodes = raw.boundary.nodes_of((code & !BOUNDARY) as usize);
        let mut corners = [nodes[nodes.len() - 1]; 4];
        corners[..nodes.len()].copy_from_slice(nodes);
        (corners, nodes.len())
    }
}

/// Treats the half-faces and boundary elements with the same nodes, where they are not simply two
/// cells.
fn match_group(raw: &RawMesh, keys: &[u128], store: &impl Fn(u32, u32), findings: &mut Findings) {
    let codes = keys.iter().map(|&key| key as u32);
    let (mut elements, mut halves): (Vec<u32>, Vec<u32>) =
        codes.partition(|code| code & BOUNDARY != 0);
    elements.iter_mut().for_each(|element| *element &= !BOUNDARY);
    elements.sort_unstable();
    let same_side = {
        let senses = keys.iter().filter(|&&key| key as u32 & BOUNDARY == 0).map(|key| key & SENSE);
        let senses: Vec<u128> = senses.collect();
        senses.len() == 2 && senses[0] == senses[1]
    };
    if halves.len() > 2 || same_side {
        halves.sort_unstable();
        findings.fault.get_or_insert(Fault::Cells(halves));
        return;
    }
    let patch = |element: u32| raw.boundary.groups[element as usize];
    if let Some(&other) = elements.iter().find(|&&other| patch(other) != patch(elements[0]))
        && halves.len() == 1
    {
        findings.fault.get_or_insert(Fault::Patches(other, elements[0]));
        return;
    }
    match (&halves[..], elements.first()) {
        (&[a, b], _) => {
            store(a, b);
            store(b, a);
            findings.inner.extend(elements);
        }
        (&[half], Some(&element)) => {
            store(half, BOUNDARY | patch(element));
            findings.repeated += elements.len() - 1;
        }
        (&[half], None) => note(&mut findings.open, half, 1),
        (_, Some(&element)) => note(&mut findings.stray, element, elements.len()),
        (_, None) => {}
    }
}

fn note(tally: &mut (usize, u32), first: u32, count: usize) {
    tally.1 = if tally.0 == 0 { first } else { tally.1.min(first) };
    tally.0 += count;
}

/// Turns findings into the first error, or into warnings.
fn judge(
    raw: &RawMesh,
    original_cell: &[u32],
    findings: Vec<Findings>,
) -> Result<Vec<MeshWarning>, MeshError> {
    let mut open = (0, 0);
    let mut stray = (0, 0);
    let mut inner = vec![0usize; raw.patches.len()];
    let mut repeated = 0;
    for found in findings {
        if let Some(fault) = found.fault {
            return Err(explain(raw, original_cell, fault));
        }
        if found.open.0 > 0 {
            note(&mut open, found.open.1, found.open.0);
        }
        if found.stray.0 > 0 {
            note(&mut stray, found.stray.1, found.stray.0);
        }
        for element in found.inner {
            inner[raw.boundary.groups[element as usize] as usize] += 1;
        }
        repeated += found.repeated;
    }
    if let (count @ 1.., first) = stray {
        let element = raw_boundary_name(raw, first as usize);
        return Err(MeshError::ElementWithoutFace { element, count });
    }
    if let (count @ 1.., first) = open {
        let index = cell_of(first);
        let cell = raw_cell_name(raw, index, original_cell[index]);
        return Err(MeshError::FaceWithoutPatch { count, face: face_place(raw, first), cell });
    }
    let mut warnings = Vec::new();
    for (patch, count) in inner.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        warnings.push(MeshWarning::InnerElements { count, patch: raw.patches[patch].clone() });
    }
    if repeated > 0 {
        warnings.push(MeshWarning::RepeatedElements { count: repeated });
    }
    Ok(warnings)
}

fn face_place(raw: &RawMesh, code: u32) -> Place {
    let (corners, count) = corners_of(raw, code);
    Place(mean_point(&corners[..count], &raw.points))
}

fn explain(raw: &RawMesh, original_cell: &[u32], fault: Fault) -> MeshError {
    let codes = match fault {
        Fault::Cells(codes) => codes,
        Fault::Patches(element, other) => {
            let group = raw.boundary.groups[other as usize] as usize;
            let element = raw_boundary_name(raw, element as usize);
            return MeshError::FaceInTwoPatches { element, other: raw.patches[group].clone() };
        }
    };
    let face = face_place(raw, codes[0]);
    let mut cells: Vec<usize> = codes.iter().map(|&code| cell_of(code)).collect();
    cells.sort_unstable_by_key(|&cell| original_cell[cell]);
    let sorted_nodes = |cell: usize| {
        let mut nodes = raw.cells.nodes_of(cell).to_vec();
        nodes.sort_unstable();
        nodes
    };
    let named = |cell: usize| raw_cell_name(raw, cell, original_cell[cell]);
    for (i, &cell) in cells.iter().enumerate() {
        let same = cells[..i].iter().find(|&&other| sorted_nodes(other) == sorted_nodes(cell));
        if let Some(&other) = same {
            return MeshError::DuplicateCell { cell: named(cell), other: original_cell[other] };
        }
    }
    if let [other, cell] = cells[..] {
        let other = original_cell[other];
        return MeshError::OverlappingCells { cell: named(cell), other, face };
    }
    let cells = cells.iter().map(|&cell| original_cell[cell]).collect();
    MeshError::FaceSharedByManyCells { cells, face }
}

/// Numbered faces.
pub(crate) struct Faces {
    pub(crate) face_to_nodes: Adjacency,
    pub(crate) face_left: Vec<u32>,
    pub(crate) face_right: Vec<u32>,
    pub(crate) cell_to_faces: Adjacency,
    pub(crate) patches: Vec<Patch>,
}

impl Faces {
    /// Numbers the faces: interior by (left, right), then boundary by patch and cell. Patches without
    /// faces are left out, with a warning.
    pub(crate) fn numbered(
        raw: &RawMesh,
        halves: HalfFaces,
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
                    each_owned(&halves, cells, cell, |_, _, nodes| {
                        count = [count[0] + 1, count[1] + nodes.1];
                    });
                }
                count
            })
            .collect();
        let boundary = boundary_halves(&halves, cells.len());
        let n_interior: usize = counts.iter().map(|count| count[0]).sum();
        let n_items: usize = counts.iter().map(|count| count[1]).sum();
        let n_faces = n_interior + boundary.len();
        let boundary_items: usize = boundary.iter().map(|&(_, code)| corners_of(raw, code).1).sum();

        let number = atomics(halves.partner.len());
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
        let HalfFaces { offsets: cell_offsets, partner } = halves;
        drop(partner);
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

/// Visits the interior faces a cell owns, by ascending neighbour: local face, partner, nodes.
fn each_owned(
    halves: &HalfFaces,
    cells: &Elements,
    cell: usize,
    mut visit: impl FnMut(usize, u32, ([u32; 4], usize)),
) {
    let start = halves.offsets[cell] as usize;
    let partners = &halves.partner[start..halves.offsets[cell + 1] as usize];
    let mut owned = [(0u32, 0usize); MAX_FACES];
    let mut count = 0;
    for (face, &code) in partners.iter().enumerate() {
        if code & BOUNDARY == 0 && cell_of(code) > cell {
            owned[count] = (code, face);
            count += 1;
        }
    }
    owned[..count].sort_unstable();
    for &(code, face) in &owned[..count] {
        visit(face, code, cells.shapes[cell].face_nodes(cells.nodes_of(cell), face));
    }
}

/// The interior faces owned by a run of cells, and the places they are written to.
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
            let start = halves.offsets[cell] as usize;
            let partners = &halves.partner[start..halves.offsets[cell + 1] as usize];
            for (face, &code) in partners.iter().enumerate() {
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
