//! Periodic pairs of patches: the outflow through the first is the inflow through the second.
//!
//! The second patch is the translated first, node by node. Two matching boundary faces become one
//! interior face at its left cell. Relative to this face the centroid of its right cell is
//! x_r + [`Mesh::periodic_offset`]. Nodes are not merged.

use super::adjacency::{Adjacency, CHUNK, SIGN_BIT, fill_rows, index_of, offsets_of};
use super::error::{MeshError, MeshWarning, Place};
use super::geometry::{add_scaled, dot, face_measure, mean_point, norm, subtract};
use super::{EntityCount, Mesh, Patch, cell_name};
use rayon::prelude::*;
use std::ops::Range;

/// Two patches whose faces are periodic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeriodicPair {
    /// Their names; they are no patches of the mesh any more.
    pub patches: [String; 2],
    /// From a point of the first patch to its image on the second.
    pub translation: [f64; 3],
    /// The periodic faces, ascending; [`SIGN_BIT`] set where the left cell is at the second patch.
    pub faces: Vec<u32>,
    /// Nodes of the first patch, ascending, each with its image on the second.
    pub nodes: Vec<[u32; 2]>,
}

impl PeriodicPair {
    /// The periodic faces, each with the nodes of the right cell, the images of those in
    /// `face_to_nodes` and in their order.
    pub fn images(&self, mesh: &Mesh) -> impl Iterator<Item = (usize, Vec<u32>)> {
        let mut back: Vec<[u32; 2]> = self.nodes.iter().map(|[a, b]| [*b, *a]).collect();
        back.sort_unstable();
        let image = |pairs: &[[u32; 2]], node: u32| {
            let place = pairs.partition_point(|pair| pair[0] < node);
            pairs[place][1]
        };
        self.faces.iter().map(move |&item| {
            let pairs = if item & SIGN_BIT == 0 { &self.nodes } else { &back };
            let nodes = mesh.face_to_nodes.of(index_of(item)).iter();
            (index_of(item), nodes.map(|&node| image(pairs, node)).collect())
        })
    }

    /// Whether the left cell of a face is at the second patch; `None` for a face of no periodic patch.
    fn is_from_second(&self, face: usize) -> Option<bool> {
        let place = self.faces.binary_search_by_key(&face, |&item| index_of(item)).ok()?;
        Some(self.faces[place] & SIGN_BIT != 0)
    }
}

/// The periodic pairs of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeriodicPairs {
    pairs: Vec<PeriodicPair>,
    /// A bit for each face, set where it is periodic, so that the search for the pair of a face is seldom
    /// needed; empty without pairs.
    is_periodic: Vec<u64>,
}

impl PeriodicPairs {
    /// The pairs of a mesh of `n_faces` faces.
    pub(crate) fn new(pairs: Vec<PeriodicPair>, n_faces: usize) -> Self {
        let words = if pairs.is_empty() { 0 } else { n_faces.div_ceil(64) };
        let mut is_periodic = vec![0; words];
        for face in pairs.iter().flat_map(|pair| &pair.faces).map(|&item| index_of(item)) {
            is_periodic[face / 64] |= 1 << (face % 64);
        }
        PeriodicPairs { pairs, is_periodic }
    }

    /// Whether a face is periodic.
    #[inline]
    fn contain(&self, face: usize) -> bool {
        self.is_periodic.get(face / 64).is_some_and(|word| word >> (face % 64) & 1 == 1)
    }
}

impl std::ops::Deref for PeriodicPairs {
    type Target = [PeriodicPair];

    fn deref(&self) -> &[PeriodicPair] {
        &self.pairs
    }
}

impl Mesh {
    /// Offset that moves the centroid of the right cell of an interior face beside the face: ± the
    /// translation for periodic faces, else 0.
    #[inline]
    pub fn periodic_offset(&self, face: usize) -> [f64; 3] {
        if self.periodic_pairs.contain(face) { self.offset_of_pair(face) } else { [0.0; 3] }
    }

    #[inline(never)]
    fn offset_of_pair(&self, face: usize) -> [f64; 3] {
        for pair in self.periodic_pairs.iter() {
            if let Some(from_second) = pair.is_from_second(face) {
                return pair.translation.map(|t| if from_second { t } else { -t });
            }
        }
        [0.0; 3]
    }

    /// Whether an interior face lies on periodic patches.
    pub fn is_periodic(&self, face: usize) -> bool {
        self.periodic_pairs.contain(face)
    }

    /// Pairs of nodes that coincide under the translation of a periodic pair.
    pub fn periodic_nodes(&self) -> impl Iterator<Item = [u32; 2]> {
        self.periodic_pairs.iter().flat_map(|pair| pair.nodes.iter().copied())
    }

    /// Makes pairs of patches periodic, one after the other, and renumbers the faces. Nodes of a second
    /// patch within the tolerance of their images are moved onto them.
    ///
    /// # Errors
    /// [`MeshError::NoPatch`], [`MeshError::PeriodicTwice`], [`MeshError::PeriodicCounts`],
    /// [`MeshError::PeriodicNodes`], [`MeshError::PeriodicFaces`], [`MeshError::PeriodicSides`],
    /// [`MeshError::PeriodicCell`].
    pub fn connect_periodic(mut self, pairs: &[[&str; 2]]) -> Result<Mesh, MeshError> {
        let mut merged = vec![];
        let mut periodic = vec![];
        for names in pairs {
            let is_used = |name: &str| {
                periodic.iter().any(|pair: &PeriodicPair| pair.patches.iter().any(|p| p == name))
            };
            if let Some(patch) = names.iter().find(|name| is_used(name)) {
                return Err(MeshError::PeriodicTwice { patch: (*patch).to_owned() });
            }
            let (pair, faces) = matched(&mut self, *names)?;
            merged.extend(faces.into_iter().map(|[a, b]| (a, b, periodic.len() as u32)));
            periodic.push(pair);
        }
        Ok(if pairs.is_empty() { self } else { renumbered(self, &merged, periodic) })
    }
}

/// Largest distance of a node from its image over the shortest side of a face of the two patches.
const TOLERANCE: f64 = 1e-4;

/// Distance of a node from its image over the largest coordinate that is round-off.
const ROUND_OFF: f64 = 8.0 * f64::EPSILON;

/// Matches nodes and faces of two patches; returns the periodic pair without its faces, and the faces.
fn matched(
    mesh: &mut Mesh,
    [first, second]: [&str; 2],
) -> Result<(PeriodicPair, Vec<[u32; 2]>), MeshError> {
    let patches = [first.to_owned(), second.to_owned()];
    let a = Side::new(mesh, first)?;
    let b = Side::new(mesh, second)?;
    if a.faces.len() != b.faces.len() {
        let faces = [a.faces.len(), b.faces.len()];
        return Err(MeshError::PeriodicCounts { patches, faces });
    }
    let guess = subtract(b.centre, a.centre);
    let tolerance = TOLERANCE * a.shortest.min(b.shortest);
    let bins = Bins::new(&b.nodes, &mesh.points, a.shortest.min(b.shortest));
    let mut nodes = Vec::with_capacity(a.nodes.len());
    for &node in &a.nodes {
        let image = add_scaled(mesh.points[node as usize], 1.0, guess);
        let Some(found) = bins.nearest(&mesh.points, image, tolerance) else {
            let place = Place(mesh.points[node as usize]);
            let gaps = b.nodes.iter().map(|&b| norm(subtract(mesh.points[b as usize], image)));
            let gap = gaps.fold(f64::INFINITY, f64::min);
            let translation = Place(guess);
            return Err(MeshError::PeriodicNodes { patches, translation, place, gap, tolerance });
        };
        nodes.push([node, found]);
    }
    let faces = matched_faces(mesh, &patches, (&a, &b), &nodes)?;
    for [left, right] in &faces {
        let (l, r) = (mesh.face_left[*left as usize], mesh.face_left[*right as usize]);
        if l == r {
            let cell = cell_name(mesh, l as usize);
            return Err(MeshError::PeriodicCell { patches, cell });
        }
    }
    let translation = median_translation(mesh, &nodes);
    snap(mesh, &patches, translation, &nodes);
    Ok((PeriodicPair { patches, translation, faces: vec![], nodes }, faces))
}

/// A patch of a periodic pair.
struct Side {
    faces: Range<usize>,
    /// Its nodes, ascending.
    nodes: Vec<u32>,
    /// Area-weighted mean of its faces' centres.
    centre: [f64; 3],
    /// Shortest side of a face.
    shortest: f64,
}

impl Side {
    fn new(mesh: &Mesh, name: &str) -> Result<Side, MeshError> {
        let Some(patch) = mesh.patches.iter().find(|patch| patch.name == name) else {
            let known: Vec<&str> = mesh.patches.iter().map(|patch| patch.name.as_str()).collect();
            return Err(MeshError::NoPatch { patch: name.to_owned(), known: known.join(", ") });
        };
        let faces = patch.faces.clone();
        let mut nodes = vec![];
        let (mut moment, mut total, mut shortest) = ([0.0; 3], 0.0, f64::INFINITY);
        for face in faces.clone() {
            let corners = mesh.face_to_nodes.of(face);
            nodes.extend_from_slice(corners);
            let (area, centre) = face_measure(corners, &mesh.points);
            moment = add_scaled(moment, norm(area), centre);
            total += norm(area);
            for (k, &corner) in corners.iter().enumerate() {
                let next = corners[(k + 1) % corners.len()];
                let side = subtract(mesh.points[next as usize], mesh.points[corner as usize]);
                shortest = shortest.min(norm(side));
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        Ok(Side { faces, nodes, centre: moment.map(|m| m / total), shortest })
    }
}

/// Nodes sorted into the cubes of a uniform grid.
struct Bins {
    low: [f64; 3],
    size: f64,
    /// Sorted.
    entries: Vec<([i64; 3], u32)>,
}

impl Bins {
    fn new(nodes: &[u32], points: &[[f64; 3]], size: f64) -> Bins {
        let low = nodes.iter().fold([f64::INFINITY; 3], |low, &node| {
            std::array::from_fn(|k| low[k].min(points[node as usize][k]))
        });
        let mut bins = Bins { low, size, entries: vec![] };
        bins.entries = nodes.iter().map(|&node| (bins.of(points[node as usize]), node)).collect();
        bins.entries.sort_unstable();
        bins
    }

    fn of(&self, x: [f64; 3]) -> [i64; 3] {
        std::array::from_fn(|k| ((x[k] - self.low[k]) / self.size).floor() as i64)
    }

    /// The node nearest to x within `reach`, which is less than the size of a bin.
    fn nearest(&self, points: &[[f64; 3]], x: [f64; 3], reach: f64) -> Option<u32> {
        let (low, high) = (self.of(x.map(|x| x - reach)), self.of(x.map(|x| x + reach)));
        let mut best: Option<(f64, u32)> = None;
        for i in low[0]..=high[0] {
            for j in low[1]..=high[1] {
                for k in low[2]..=high[2] {
                    let bin = [i, j, k];
                    let start = self.entries.partition_point(|entry| entry.0 < bin);
                    let here = self.entries[start..].iter().take_while(|entry| entry.0 == bin);
                    for (_, node) in here {
                        let gap = norm(subtract(points[*node as usize], x));
                        if gap <= reach && best.is_none_or(|(least, _)| gap < least) {
                            best = Some((gap, *node));
                        }
                    }
                }
            }
        }
        best.map(|(_, node)| node)
    }
}

/// Corners of a face in ascending order.
fn key(corners: impl Iterator<Item = u32>) -> [u32; 4] {
    let mut key = [u32::MAX; 4];
    key.iter_mut().zip(corners).for_each(|(slot, corner)| *slot = corner);
    key.sort_unstable();
    key
}

fn matched_faces(
    mesh: &Mesh,
    patches: &[String; 2],
    (a, b): (&Side, &Side),
    nodes: &[[u32; 2]],
) -> Result<Vec<[u32; 2]>, MeshError> {
    let corners = |face: usize| mesh.face_to_nodes.of(face).iter().copied();
    let mut known: Vec<([u32; 4], u32)> =
        b.faces.clone().map(|face| (key(corners(face)), face as u32)).collect();
    known.sort_unstable();
    let image = |node: u32| nodes[nodes.partition_point(|pair| pair[0] < node)][1];
    let area = |face: usize| face_measure(mesh.face_to_nodes.of(face), &mesh.points).0;
    let pair = |face: usize| {
        let place = || Place(mean_point(mesh.face_to_nodes.of(face), &mesh.points));
        let patches = || patches.clone();
        let key = key(corners(face).map(image));
        let Ok(found) = known.binary_search_by_key(&key, |entry| entry.0) else {
            return Err(MeshError::PeriodicFaces { patches: patches(), place: place() });
        };
        let other = known[found].1;
        if dot(area(face), area(other as usize)) >= 0.0 {
            return Err(MeshError::PeriodicSides { patches: patches(), place: place() });
        }
        Ok([face as u32, other])
    };
    a.faces.clone().map(pair).collect()
}

/// The median translation of the nodes, axis by axis: exact for a generated mesh.
fn median_translation(mesh: &Mesh, nodes: &[[u32; 2]]) -> [f64; 3] {
    let along = |axis: usize| {
        let of_pair =
            |[a, b]: &[u32; 2]| mesh.points[*b as usize][axis] - mesh.points[*a as usize][axis];
        let mut all: Vec<f64> = nodes.iter().map(of_pair).collect();
        all.sort_unstable_by(f64::total_cmp);
        all[all.len() / 2]
    };
    [0, 1, 2].map(along)
}

/// Moves nodes of the second patch onto their images, so that the cells of both sides close.
fn snap(mesh: &mut Mesh, patches: &[String; 2], translation: [f64; 3], nodes: &[[u32; 2]]) {
    let sizes = mesh.points.as_flattened().par_iter().with_min_len(CHUNK).map(|x| x.abs());
    // The largest number does not depend on the order.
    #[allow(clippy::disallowed_methods)]
    let round_off = ROUND_OFF * sizes.reduce(|| 0.0, f64::max);
    let (mut count, mut largest) = (0, 0.0f64);
    for [a, b] in nodes {
        let image = add_scaled(mesh.points[*a as usize], 1.0, translation);
        let off = norm(subtract(mesh.points[*b as usize], image));
        if off > round_off {
            mesh.points[*b as usize] = image;
            (count, largest) = (count + 1, largest.max(off));
        }
    }
    if count > 0 {
        let patches = patches.clone();
        mesh.warnings.push(MeshWarning::Snapped { count, patches, largest });
    }
}

/// Two boundary faces that become one interior face.
struct MergedFace {
    /// Left and right cell.
    cells: [u32; 2],
    /// The old boundary face at the left cell, whose nodes the new face has.
    remaining: u32,
    /// The other.
    removed: u32,
    /// Number of the periodic pair.
    pair: usize,
    /// Whether the left cell is at the second patch.
    from_second: bool,
    /// Its new number, once known.
    number: u32,
}

/// Merges pairs of boundary faces (first, second, periodic pair) into interior faces.
fn renumbered(mesh: Mesh, merged: &[(u32, u32, u32)], mut periodic: Vec<PeriodicPair>) -> Mesh {
    debug_assert_eq!(mesh.cell_count.ghost, 0, "periodic patches come before the partition");
    let inner = mesh.n_interior_faces();
    let mut merged: Vec<MergedFace> = merged
        .iter()
        .map(|&(a, b, pair)| {
            let (l, r) = (mesh.face_left[a as usize], mesh.face_left[b as usize]);
            let from_second = r < l;
            let (remaining, removed) = if from_second { (b, a) } else { (a, b) };
            let cells = [l.min(r), l.max(r)];
            MergedFace { cells, remaining, removed, pair: pair as usize, from_second, number: 0 }
        })
        .collect();
    merged.sort_unstable_by_key(|face| (face.cells, face.remaining));
    // The old interior faces are in order, with the new ones between them.
    let mut old_faces: Vec<u32> = Vec::with_capacity(mesh.n_faces() - merged.len());
    // New number of each old face; for a removed face that of its partner, with the sign set.
    let mut new_face: Vec<u32> = Vec::with_capacity(mesh.n_faces());
    let mut new_right = vec![0; mesh.n_faces() - inner];
    for face in &mut merged {
        let known = new_face.len();
        let place = position_from(known, inner, |old| {
            [mesh.face_left[old], mesh.face_right[old]] <= face.cells
        });
        let next = old_faces.len() as u32;
        new_face.extend(next..next + (place - known) as u32);
        old_faces.extend(known as u32..place as u32);
        face.number = old_faces.len() as u32;
        old_faces.push(face.remaining);
        new_right[face.remaining as usize - inner] = face.cells[1];
    }
    let (known, next) = (new_face.len(), old_faces.len());
    new_face.extend(next as u32..(next + inner - known) as u32);
    old_faces.extend(known as u32..inner as u32);
    new_face.resize(mesh.n_faces(), u32::MAX);
    let n_interior = old_faces.len();
    for face in &merged {
        let new = face.number;
        new_face[face.remaining as usize] = new;
        new_face[face.removed as usize] = new | SIGN_BIT;
        periodic[face.pair].faces.push(if face.from_second { new | SIGN_BIT } else { new });
    }
    let mut patches = vec![];
    for patch in &mesh.patches {
        if periodic.iter().any(|pair| pair.patches.contains(&patch.name)) {
            continue;
        }
        let start = old_faces.len();
        for face in patch.faces.clone() {
            new_face[face] = old_faces.len() as u32;
            old_faces.push(face as u32);
        }
        patches.push(Patch { name: patch.name.clone(), faces: start..old_faces.len() });
    }
    let renamed = |item: u32| new_face[index_of(item)] | (item & SIGN_BIT);
    let mut cell_to_faces = mesh.cell_to_faces;
    let Adjacency { offsets, items } = &mut cell_to_faces;
    fill_rows(offsets, items, |_, row| {
        row.iter_mut().for_each(|item| *item = renamed(*item));
        row.sort_unstable_by_key(|&item| index_of(item));
    });
    let mut all: Vec<PeriodicPair> = mesh.periodic_pairs.pairs;
    for pair in &mut all {
        pair.faces.iter_mut().for_each(|item| *item = renamed(*item));
    }
    all.extend(periodic);
    for pair in &mut all {
        pair.faces.sort_unstable_by_key(|&item| index_of(item));
    }
    let nodes = |new: usize| mesh.face_to_nodes.of(old_faces[new] as usize);
    let offsets = offsets_of(old_faces.len(), |new| nodes(new).len());
    let mut items = vec![0; offsets[old_faces.len()] as usize];
    fill_rows(&offsets, &mut items, |new, row| row.copy_from_slice(nodes(new)));
    let right = |&old: &u32| match (old as usize).checked_sub(inner) {
        None => mesh.face_right[old as usize],
        Some(outer) => new_right[outer],
    };
    let left = |&old: &u32| mesh.face_left[old as usize];
    Mesh {
        face_left: old_faces.par_iter().with_min_len(CHUNK).map(left).collect(),
        face_right: old_faces[..n_interior].par_iter().with_min_len(CHUNK).map(right).collect(),
        face_count: EntityCount { owned: old_faces.len(), ghost: 0 },
        face_to_nodes: Adjacency { offsets, items },
        cell_to_faces,
        patches,
        periodic_pairs: PeriodicPairs::new(all, old_faces.len()),
        ..mesh
    }
}

/// The first of `start..end` for which `is_before`, true up to some place and false from there on, is false.
fn position_from(start: usize, end: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (start, end);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
