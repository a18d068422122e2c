//! The fluxes and circulations that one of several ranks has.
//!
//! A rank owns the faces with a left cell of its own: interior ones, which are consecutive in the whole mesh, then those of the
//! boundary. A vector of fluxes has its own faces, then ghosts; the faces of the part, which other parts of the flow read, are all
//! among them. Edges, in 2D nodes, are shared out in ranges of their numbers. Each matrix of a step is applied to own rows,
//! whose terms have the order of the whole mesh, after an exchange of the ghosts of its vector.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::{
    Backend, BackendError, Buffer, EntryOrder, HOST_CHUNK, Halo, RankGroup, View,
};
use crate::incompressible::IncompressibleError;
use crate::linear::Matrix;
use crate::mesh::{Adjacency, EdgeTopology, SIGN_BIT, index_of};
use crate::operators::{FaceCells, Part};
use crate::real::Real;
use karman_backend::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Numbers outside a range, ascending, each once.
pub(super) fn outside(own: &Range<usize>, numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut outside: Vec<u32> = numbers.filter(|n| !own.contains(&(*n as usize))).collect();
    outside.sort_unstable();
    outside.dedup();
    outside
}

/// Ranges of a vector of fluxes which blocks of sums on a device do not cross; `faces` has the face of each entry and its left cell.
///
/// The faces of a range follow each other in the whole mesh, and their left cells belong to one chunk. Ranges come in the order of
/// these chunks, so that those of ranks with whole chunks are, rank after rank, those of one rank.
pub(super) fn segments(faces: impl Iterator<Item = (u32, u32)>) -> Vec<Range<usize>> {
    let mut segments: Vec<(u32, Range<usize>)> = vec![];
    let mut next = 0;
    for (entry, (face, left)) in faces.enumerate() {
        let chunk = left / HOST_CHUNK as u32;
        match segments.last_mut() {
            Some((of, segment)) if *of == chunk && face == next => segment.end += 1,
            _ => segments.push((chunk, entry..entry + 1)),
        }
        next = face + 1;
    }
    segments.sort_by_key(|(chunk, _)| *chunk);
    segments.into_iter().map(|(_, segment)| segment).collect()
}

/// Entities of the whole mesh, numbered rank after rank, those of a rank in their order.
struct RankNumbers {
    /// First number of each rank, then that of all.
    starts: Vec<usize>,
    number: Vec<u32>,
}

impl RankNumbers {
    fn new(ranks: usize, owners: impl Iterator<Item = usize> + Clone) -> RankNumbers {
        let mut starts = vec![0; ranks + 1];
        owners.clone().for_each(|rank| starts[rank + 1] += 1);
        (0..ranks).for_each(|rank| starts[rank + 1] += starts[rank]);
        let mut next = starts.clone();
        let number = owners.map(|rank| {
            next[rank] += 1;
            next[rank] as u32 - 1
        });
        RankNumbers { number: number.collect(), starts }
    }

    /// The exchange of the own entities of the rank of a part and of those of `needed` that others own. All ranks call it.
    fn halo(
        &self,
        part: &Part,
        needed: impl Iterator<Item = usize>,
    ) -> Result<Arc<Halo>, BackendError> {
        let group = part.halo.group();
        let own = self.starts[group.rank()]..self.starts[group.rank() + 1];
        let ghosts = outside(&own, needed.map(|entity| self.number[entity]));
        Ok(Arc::new(Halo::new(group.clone(), &self.starts, ghosts)?.on(&part.backend)?))
    }
}

/// The faces that a rank owns: those inside, which are consecutive in the whole mesh, then those of the boundary.
struct OwnFaces {
    of_part: Vec<u32>,
    of_whole: Vec<u32>,
    /// Number of those inside.
    inner: usize,
}

impl OwnFaces {
    /// Those of a part with all faces of its cells, by the owner of a face of the whole mesh.
    fn new(part: &Part, is_own: impl Fn(u32) -> bool) -> OwnFaces {
        let (all, inner) = (part.faces(), part.cells.n_interior() as u32);
        let of_part: Vec<u32> = (0..all.len() as u32)
            .filter(|face| *face >= inner || is_own(all[*face as usize]))
            .collect();
        let of_whole: Vec<u32> = of_part.iter().map(|face| all[*face as usize]).collect();
        let inner = of_part.partition_point(|face| *face < inner);
        debug_assert!(of_whole[..inner].windows(2).all(|pair| pair[1] == pair[0] + 1));
        OwnFaces { of_part, of_whole, inner }
    }

    /// The order of sums over fluxes, of which those at the boundary that are no unknowns are 0; `left` has the left cell of each
    /// face of the whole mesh. All ranks call it.
    fn order(
        &self,
        group: &Arc<dyn RankGroup>,
        is_unknown: &Buffer<u32>,
        left: &[u32],
    ) -> Result<EntryOrder, BackendError> {
        let is_unknown = is_unknown.as_host().unwrap_or_default();
        let numbered = (0u32..).zip(self.of_whole.iter().copied()).skip(self.inner);
        let singles: Vec<(u32, u32)> =
            numbered.filter(|(_, face)| is_unknown[*face as usize] != 0).collect();
        let order =
            EntryOrder::new(group, (self.of_whole.len(), self.inner), &singles, left.len())?;
        let faces = self.of_whole.iter().map(|face| (*face, left[*face as usize]));
        Ok(order.in_segments(segments(faces)))
    }
}

/// The exchanges of one of several ranks, and the rows that it has of maps between faces and edges.
pub(super) struct RankFaces {
    /// Of vectors of fluxes.
    pub fluxes: Arc<Halo>,
    /// Of values at edges.
    pub edges: Arc<Halo>,
    /// Of values at faces of the boundary.
    pub boundary: Arc<Halo>,
    /// Faces of the whole mesh of a vector of fluxes.
    pub entries: Vec<u32>,
    /// Face of the part of each own face.
    own_faces: Buffer<u32>,
    /// Entry of each face of the part in a vector of fluxes.
    entry: Buffer<u32>,
    /// Left and right cells of the own faces.
    pub left: Buffer<u32>,
    pub right: Buffer<u32>,
}

/// The exchanges of one of several ranks, and its numbers of entities of the whole mesh, which its set-up alone needs.
pub(super) struct RankSetUp {
    pub faces: Arc<RankFaces>,
    /// The order of vectors of fluxes.
    pub order: Arc<EntryOrder>,
    /// The own edges.
    pub own_edges: Range<usize>,
    /// Number of each face of the whole mesh in the order of ranks.
    face_number: Vec<u32>,
    /// That of each boundary face among these.
    boundary_number: Vec<u32>,
}

impl RankSetUp {
    /// Of the flow on the whole mesh: the cells of its faces, its mass matrix and those that map edges to edges, its edges with
    /// their faces, and 1 where a flux is unknown. `starts` has the first cell and the first edge of each rank. All ranks call it.
    pub(super) fn new<F: Real>(
        part: &Part,
        (starts, edge_starts): (&[usize], Vec<usize>),
        cells: &FaceCells,
        (mass, of_edges): (&Matrix<F>, &[&Matrix<F>]),
        topology: &EdgeTopology,
        is_unknown: &Buffer<u32>,
    ) -> Result<RankSetUp, IncompressibleError> {
        let group = part.halo.group();
        let (rank, ranks) = (group.rank(), group.size());
        let sides = [&cells.left, &cells.right].map(|side| side.as_host().unwrap_or_default());
        let left = sides[0];
        let owner = |cell: &u32| starts.partition_point(|start| *start <= *cell as usize) - 1;
        let own = OwnFaces::new(part, |face| owner(&left[face as usize]) == rank);
        let own_edges = edge_starts[rank]..edge_starts[rank + 1];
        let at_edges = own_edges.clone().flat_map(|edge| topology.edge_to_faces.of(edge));
        let around: Vec<usize> = at_edges.map(|item| index_of(*item)).collect();
        let numbers = RankNumbers::new(ranks, left.iter().map(owner));
        let of_part = part.faces().iter().map(|face| *face as usize);
        let of_rows = own.of_whole.iter().flat_map(|face| mass.columns_of_row(*face as usize));
        let of_rows = of_rows.map(|column| *column as usize);
        let fluxes = numbers.halo(part, of_rows.chain(of_part).chain(around.iter().copied()))?;
        let edges =
            RankNumbers { number: (0..topology.n_edges as u32).collect(), starts: edge_starts };
        let items = own.of_whole.iter().flat_map(|face| topology.face_to_edges.of(*face as usize));
        let columns = of_edges.iter().flat_map(|matrix| matrix.columns_beyond(own_edges.clone()));
        let columns = columns.map(|edge| edge as usize);
        let edges = edges.halo(part, items.map(|item| index_of(*item)).chain(columns))?;
        let inner = left.len() - part.n_whole_boundary();
        let of_boundary = RankNumbers::new(ranks, left[inner..].iter().map(owner));
        let outer = around.iter().filter_map(|face| face.checked_sub(inner));
        let boundary = of_boundary.halo(part, outer)?;
        let order = Arc::new(own.order(group, is_unknown, left)?);
        let faces = RankFaces::new(part, own, sides, (&numbers, fluxes), [edges, boundary]);
        Ok(RankSetUp {
            faces: Arc::new(faces),
            order,
            own_edges,
            face_number: numbers.number,
            boundary_number: of_boundary.number,
        })
    }

    /// Entry of a face of the whole mesh in a vector of fluxes.
    pub(super) fn face(&self, face: usize) -> Option<u32> {
        let entry = self.faces.fluxes.local(self.face_number[face] as usize)?;
        Some(entry as u32)
    }

    /// The own rows of a map from faces to edges, with local edges.
    pub(super) fn rows_of_faces(&self, face_to_edges: &Adjacency) -> Adjacency {
        let rows = self.faces.own().iter().map(|face| *face as usize);
        local_rows(face_to_edges, rows, |edge| Some(self.faces.edges.local(edge)? as u32))
    }

    /// The own rows of a map from edges to faces, with local faces.
    pub(super) fn rows_of_edges(&self, edge_to_faces: &Adjacency) -> Adjacency {
        local_rows(edge_to_faces, self.own_edges.clone(), |face| self.face(face))
    }

    /// Place of a boundary face of the whole mesh among the own ones and ghosts.
    pub(super) fn boundary_face(&self, face: usize) -> Option<u32> {
        let place = self.faces.boundary.local(self.boundary_number[face] as usize)?;
        Some(place as u32)
    }
}

impl RankFaces {
    /// Of the exchanges of fluxes, whose faces have these numbers, of values at edges and at faces of the boundary; the left and the
    /// right cells of the faces of the whole mesh are given.
    fn new(
        part: &Part,
        own: OwnFaces,
        [left, right]: [&[u32]; 2],
        (numbers, fluxes): (&RankNumbers, Arc<Halo>),
        [edges, boundary]: [Arc<Halo>; 2],
    ) -> RankFaces {
        let backend = &part.backend;
        let mut face_of = vec![0; numbers.number.len()];
        (0u32..).zip(&numbers.number).for_each(|(face, n)| face_of[*n as usize] = face);
        let all = 0..fluxes.owned() + fluxes.ghosts();
        let entries = all.map(|entry| face_of[fluxes.global(entry)]).collect();
        let local = |face: &u32| match fluxes.local(numbers.number[*face as usize] as usize) {
            Some(entry) => entry as u32,
            None => unreachable!("faces of the part are among its own and ghosts"),
        };
        let cells = |of_face: &[u32], faces: &[u32]| {
            let cells = faces.iter().map(|face| part.cell(of_face[*face as usize]));
            backend.upload(cells.collect())
        };
        RankFaces {
            left: cells(left, &own.of_whole),
            right: cells(right, &own.of_whole[..own.inner]),
            entry: backend.upload(part.faces().iter().map(local).collect()),
            own_faces: backend.upload(own.of_part),
            fluxes,
            edges,
            boundary,
            entries,
        }
    }

    /// Faces of the whole mesh that the rank owns.
    pub(super) fn own(&self) -> &[u32] {
        &self.entries[..self.fluxes.owned()]
    }

    /// `fluxes`, own ones and ghosts, ← those through the faces of the part.
    pub(super) fn take<F: Real>(
        &self,
        backend: &Backend,
        flux: &Buffer<F>,
        fluxes: &mut Buffer<F>,
    ) {
        listed(backend, self.own_faces.len(), &self.own_faces, flux, fluxes);
        self.fluxes.fill(fluxes, 1);
    }

    /// `flux` through the faces of the part ← `fluxes`, whose ghosts are fetched.
    pub(super) fn give<F: Real>(
        &self,
        backend: &Backend,
        fluxes: &mut Buffer<F>,
        flux: &mut Buffer<F>,
    ) {
        self.fluxes.fill(fluxes, 1);
        listed(backend, self.entry.len(), &self.entry, fluxes, flux);
    }
}

/// Some rows of a map, with local items.
fn local_rows(
    map: &Adjacency,
    rows: impl Iterator<Item = usize>,
    local: impl Fn(usize) -> Option<u32>,
) -> Adjacency {
    let mut part = Adjacency { offsets: vec![0], items: vec![] };
    for row in rows {
        for item in map.of(row) {
            let Some(own) = local(index_of(*item)) else {
                unreachable!("items of own rows are own or ghosts")
            };
            part.items.push(own | (item & SIGN_BIT));
        }
        part.offsets.push(part.items.len() as u32);
    }
    part
}

/// y_i ← x of the entry `list`ed. Traffic 4 + 2s.
#[kernel(out(y))]
pub(super) fn listed<F: Real>(i: usize, list: &View<u32>, x: &View<F>) -> F {
    x[list[i] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{BoxParams, Element};
    use crate::mesh::{Mesh, MeshOptions};

    /// The faces of each range, of ranks whose first cells are `starts`, rank after rank.
    fn faces_of_segments(mesh: &Mesh, starts: &[usize]) -> Vec<Vec<u32>> {
        let faces = || (0u32..).zip(mesh.face_left.iter().copied());
        let of_ranks = starts.windows(2).map(|rank| {
            let is_own = |(_, left): &(u32, u32)| (rank[0]..rank[1]).contains(&(*left as usize));
            let own: Vec<(u32, u32)> = faces().filter(is_own).collect();
            let segments = segments(own.iter().copied());
            let faces = segments
                .into_iter()
                .map(|range| own[range].iter().map(|(face, _)| *face).collect());
            faces.collect::<Vec<Vec<u32>>>()
        });
        of_ranks.flatten().collect()
    }

    #[test]
    fn segments_of_ranks_are_those_of_one() {
        let params = BoxParams {
            size: vec![1.0, 1.0, 1.0],
            cells: vec![13, 13, 13],
            element: Some(Element::Tetrahedron),
            ..BoxParams::default()
        };
        let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
        let n = mesh.n_cells();
        assert!(n > 3 * HOST_CHUNK);
        let one = faces_of_segments(&mesh, &[0, n]);
        let mut all = one.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..mesh.n_faces() as u32));
        for starts in [vec![0, HOST_CHUNK, n], vec![0, HOST_CHUNK, 3 * HOST_CHUNK, n]] {
            assert_eq!(faces_of_segments(&mesh, &starts), one);
        }
    }
}
