//! Matching of faces: the half-faces of all cells are sorted into buckets by their smallest node and
//! paired within a bucket.
//!
//! Traffic for a tetrahedron (4 half-faces): its nodes are read three times (48 bytes), the buckets
//! written and read (32), the matches written (16); no hashing, no search.

use super::adjacency::{Adjacency, CHUNK, fill_rows, offsets_of};
use super::cell_shape::MAX_FACES;
use super::error::{MeshError, MeshWarning, Place};
use super::geometry::mean_point;
use super::raw::RawMesh;
use super::validate::{INDEX_LIMIT, raw_boundary_name, raw_cell_name};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// No entity.
pub(crate) const NONE: u32 = u32::MAX;

/// Marks the code of a boundary element among half-faces, and a patch among partners.
pub(crate) const BOUNDARY: u32 = 1 << 31;

/// Largest number of cells for half-face codes.
const CELL_LIMIT: usize = INDEX_LIMIT / MAX_FACES;

/// The code of a half-face: its cell and its local number.
pub(crate) fn code_of(cell: usize, face: usize) -> u32 {
    (cell * MAX_FACES + face) as u32
}

pub(crate) fn cell_of(code: u32) -> usize {
    code as usize / MAX_FACES
}

pub(crate) fn local_of(code: u32) -> usize {
    code as usize % MAX_FACES
}

/// The half-faces of all cells and their partners.
pub(crate) struct HalfFaces {
    /// Start of each cell's faces: `[n_cells + 1]`.
    pub(crate) offsets: Vec<u32>,
    /// Code of the other half-face, or [`BOUNDARY`] and a patch: `[offsets[n_cells]]`.
    pub(crate) partner: Vec<u32>,
    /// Memory of the same length, for reuse.
    pub(crate) spare: Vec<u32>,
}

/// An error among half-faces with the same nodes.
enum Fault {
    /// Several cells at one face: half-face codes.
    Cells(Vec<u32>),
    /// One face in two patches: two boundary elements.
    Patches(u32, u32),
}

/// Errors and irregularities found while a range of buckets was matched.
#[derive(Default)]
struct Findings {
    fault: Option<Fault>,
    /// Boundary half-faces without a patch: their number and the first.
    open: (usize, u32),
    /// Boundary elements without a face: their number and the first.
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
        let offsets = offsets_of(cells.len(), |cell| cells.shapes[cell].face_count());
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
        let warnings = check_findings(raw, original_cell, findings)?;
        let partner = partner.into_iter().map(AtomicU32::into_inner).collect();
        let mut spare = buckets.items;
        spare.resize(halves, NONE);
        Ok((HalfFaces { offsets, partner, spare }, warnings))
    }

    /// The half-faces with the cells in another order, new → old.
    pub(crate) fn permuted(self, order: &[u32]) -> HalfFaces {
        let HalfFaces { offsets: old_offsets, partner: old_partner, spare: mut partner } = self;
        let mut new_cell = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| new_cell[old as usize] = new as u32);
        let row = |cell: usize| old_offsets[cell] as usize..old_offsets[cell + 1] as usize;
        let offsets = offsets_of(order.len(), |new| row(order[new] as usize).len());
        fill_rows(&offsets, &mut partner, |new, items| {
            let codes = &old_partner[row(order[new] as usize)];
            for (item, &code) in items.iter_mut().zip(codes) {
                *item = if code & BOUNDARY == 0 {
                    code_of(new_cell[cell_of(code)] as usize, local_of(code))
                } else {
                    code
                };
            }
        });
        HalfFaces { offsets, partner, spare: old_partner }
    }

    /// Cells that share a face with each cell, in the order of the cell's faces.
    pub(crate) fn cell_graph(&self) -> Adjacency {
        let n = self.offsets.len() - 1;
        let across = |cell: usize| {
            let range = self.offsets[cell] as usize..self.offsets[cell + 1] as usize;
            self.partner[range].iter().filter(|&&code| code & BOUNDARY == 0)
        };
        let offsets = offsets_of(n, |cell| across(cell).count());
        let mut items = vec![0; offsets[n] as usize];
        fill_rows(&offsets, &mut items, |cell, row| {
            row.iter_mut().zip(across(cell)).for_each(|(item, &code)| *item = cell_of(code) as u32);
        });
        Adjacency { offsets, items }
    }
}

/// `n` entries of [`NONE`].
pub(crate) fn atomics(n: usize) -> Vec<AtomicU32> {
    (0..n).into_par_iter().with_min_len(CHUNK).map(|_| AtomicU32::new(NONE)).collect()
}

/// Visits every half-face and boundary element with its smallest node and its code, in parallel.
fn each_half(raw: &RawMesh, visit: impl Fn(u32, u32) + Sync) {
    let cells = &raw.cells;
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
}

/// Half-faces and boundary elements by smallest node, in any order within a bucket.
fn buckets(raw: &RawMesh) -> Adjacency {
    let n = raw.points.len();
    let ends: Vec<AtomicU32> = (0..=n).map(|_| AtomicU32::new(0)).collect();
    each_half(raw, |lowest, _| {
        ends[lowest as usize].fetch_add(1, Relaxed);
    });
    let mut sum = 0;
    for end in &ends {
        sum += end.load(Relaxed);
        end.store(sum, Relaxed);
    }
    let items = atomics(sum as usize);
    each_half(raw, |lowest, code| {
        let place = ends[lowest as usize].fetch_sub(1, Relaxed) - 1;
        items[place as usize].store(code, Relaxed);
    });
    // Filled from the back, every end has become a start.
    Adjacency {
        offsets: ends.into_iter().map(AtomicU32::into_inner).collect(),
        items: items.into_iter().map(AtomicU32::into_inner).collect(),
    }
}

/// The sort key of a face: from its smallest node, the smaller and the larger of the two adjacent
/// nodes, the opposite node, then the sense of rotation and the code.
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

pub(crate) fn corners_of(raw: &RawMesh, code: u32) -> ([u32; 4], usize) {
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

/// Matches half-faces and boundary elements with the same nodes, where they are not just two
/// half-faces.
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
fn check_findings(
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
            let region = |cell: usize| &raw.regions[raw.cells.groups[cell] as usize];
            if region(other) != region(cell) {
                let other = region(other).clone();
                return MeshError::CellInTwoRegions { cell: named(cell), other };
            }
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
