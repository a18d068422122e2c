//! The fluxes and circulations that one of several ranks has.
//!
//! A rank owns the faces with a left cell of its own: interior ones, which are consecutive in the whole mesh, then those of the
//! boundary. A vector of fluxes has its own faces, then ghosts; the faces of the part, which other parts of the flow read, are all
//! among them. Edges, in 2D nodes, are shared out in equal ranges of their numbers. Each matrix of a step is applied to own rows,
//! whose terms have the order of the whole mesh, after an exchange of the ghosts of its vector.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::{Backend, BackendError, Buffer, EntryOrder, Halo, RankGroup, View};
use crate::incompressible::IncompressibleError;
use crate::linear::Matrix;
use crate::mesh::partition::range_starts;
use crate::mesh::{Adjacency, EdgeTopology, SIGN_BIT, index_of};
use crate::operators::Part;
use crate::real::Real;
use karman_backend::prelude::*;
use std::ops::Range;
use std::sync::Arc;

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

    /// The exchange of the own entities of a rank and of those of `needed` that others own. All ranks call it.
    fn halo(
        &self,
        group: &Arc<dyn RankGroup>,
        needed: impl Iterator<Item = usize>,
    ) -> Result<Arc<Halo>, BackendError> {
        let rank = group.rank();
        let own = self.starts[rank]..self.starts[rank + 1];
        let numbers = needed.map(|entity| self.number[entity]);
        let mut ghosts: Vec<u32> =
            numbers.filter(|number| !own.contains(&(*number as usize))).collect();
        ghosts.sort_unstable();
        ghosts.dedup();
        Ok(Arc::new(Halo::new(group.clone(), &self.starts, ghosts)?))
    }
}

/// The exchanges of one of several ranks, and the rows that it has of maps between faces and edges.
pub(super) struct RankFaces {
    /// The backend of solvers of fluxes.
    pub of_fluxes: Backend,
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
    /// The own edges.
    pub own_edges: Range<usize>,
    /// Number of each face of the whole mesh in the order of ranks.
    face_number: Vec<u32>,
    /// That of each boundary face among these.
    boundary_number: Vec<u32>,
}

impl RankSetUp {
    /// Of the flow on the whole mesh: the left cells of its faces, its mass matrix and W, its edges with their faces, and 1 where a flux
    /// is unknown. `starts` has the first cell of each rank. All ranks call it.
    pub(super) fn new<F: Real>(
        part: &Part,
        starts: &[usize],
        left: &Buffer<u32>,
        (mass, weights): (&Matrix<F>, &Matrix<F>),
        topology: &EdgeTopology,
        is_unknown: &Buffer<u32>,
    ) -> Result<RankSetUp, IncompressibleError> {
        let (backend, group) = (&part.backend, part.halo.group());
        let (rank, ranks) = (group.rank(), group.size());
        let left = left.as_host().unwrap_or_default();
        let n_faces = left.len();
        let owner = |cell: &u32| starts.partition_point(|start| *start <= *cell as usize) - 1;
        let faces = RankNumbers::new(ranks, left.iter().map(owner));
        let is_own = |face: &u32| owner(&left[*face as usize]) == rank;
        let inner = part.cells.n_interior();
        let is_of_boundary = |k: usize| k >= inner;
        let of_part = part.faces();
        let own_faces: Vec<u32> = (0..of_part.len() as u32)
            .filter(|k| is_of_boundary(*k as usize) || is_own(&of_part[*k as usize]))
            .collect();
        let of_whole: Vec<u32> = own_faces.iter().map(|k| of_part[*k as usize]).collect();
        let n_inner = own_faces.partition_point(|k| !is_of_boundary(*k as usize));
        debug_assert!(of_whole[..n_inner].windows(2).all(|pair| pair[1] == pair[0] + 1));
        let edge_starts = range_starts(topology.n_edges, ranks, 1);
        let own_edges = edge_starts[rank]..edge_starts[rank + 1];
        let at_edges = own_edges.clone().flat_map(|edge| topology.edge_to_faces.of(edge));
        let around: Vec<usize> = at_edges.map(|item| index_of(*item)).collect();
        let columns = columns_of(mass, &of_whole);
        let needed = columns.into_iter().chain(around.iter().copied());
        let needed = needed.chain(of_part.iter().map(|face| *face as usize));
        let fluxes = faces.halo(group, needed)?;
        let edges =
            RankNumbers { number: (0..topology.n_edges as u32).collect(), starts: edge_starts };
        let of_rows = of_whole.iter().flat_map(|face| topology.face_to_edges.of(*face as usize));
        let of_weights = weights.columns_beyond(own_edges.clone());
        let of_weights = of_weights.into_iter().map(|edge| edge as usize);
        let edges = edges.halo(group, of_rows.map(|item| index_of(*item)).chain(of_weights))?;
        let whole_inner = n_faces - part.n_whole_boundary();
        let boundary = RankNumbers::new(ranks, left[whole_inner..].iter().map(owner));
        let outer = around.iter().filter_map(|face| face.checked_sub(whole_inner));
        let boundary_halo = boundary.halo(group, outer)?;
        let mut entries = of_whole;
        let mut of_number = vec![0u32; n_faces];
        faces.number.iter().zip(0u32..).for_each(|(n, face)| of_number[*n as usize] = face);
        let ghosts = fluxes.owned()..fluxes.owned() + fluxes.ghosts();
        entries.extend(ghosts.map(|entry| of_number[fluxes.global(entry)]));
        let local = |face: &u32| match fluxes.local(faces.number[*face as usize] as usize) {
            Some(entry) => entry as u32,
            None => unreachable!("faces of the part are among its own and ghosts"),
        };
        let unknown = is_unknown.as_host().unwrap_or_default();
        let singles: Vec<(u32, u32)> = (n_inner..own_faces.len())
            .map(|k| (k as u32, entries[k]))
            .filter(|(_, face)| unknown[*face as usize] != 0)
            .collect();
        let order = EntryOrder::new(group, (own_faces.len(), n_inner), &singles, n_faces)?;
        let part_left = part.cells.left.as_host().unwrap_or_default();
        let part_right = part.cells.right.as_host().unwrap_or_default();
        let of = |list: &[u32], faces: &[u32]| {
            backend.upload(faces.iter().map(|face| list[*face as usize]).collect::<Vec<u32>>())
        };
        let faces_of_rank = RankFaces {
            of_fluxes: backend.in_order(Arc::new(order)),
            left: of(part_left, &own_faces),
            right: of(part_right, &own_faces[..n_inner]),
            entry: backend.upload(of_part.iter().map(local).collect()),
            own_faces: backend.upload(own_faces),
            fluxes,
            edges,
            boundary: boundary_halo,
            entries,
        };
        Ok(RankSetUp {
            faces: Arc::new(faces_of_rank),
            own_edges,
            face_number: faces.number,
            boundary_number: boundary.number,
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

/// Columns of some rows of a matrix on the host.
fn columns_of<F: Real>(matrix: &Matrix<F>, rows: &[u32]) -> Vec<usize> {
    let mut columns: Vec<u32> =
        rows.iter().flat_map(|row| matrix.columns_of_row(*row as usize)).copied().collect();
    columns.sort_unstable();
    columns.dedup();
    columns.into_iter().map(|column| column as usize).collect()
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
