//! Potentials of divergence-free fluxes: U = U_b + C E x.
//!
//! s = E x lives on the edges, in 2D on the nodes; E has the constraints by prescribed fluxes (`potential_constraints.rs`).
//!
//! Source: Chang, Giraldo & Perot, J. Comput. Phys. 180 (2002) 183, §3.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::StaggeredFaces;
use super::inner_product::by_rows;
use super::potential_constraints::PotentialConstraints;
use super::rank_faces::{RankSetUp, outside};
use super::rotation::Rotation;
use crate::backend::{Backend, Buffer, EntryOrder, HOST_CHUNK, Halo, RankedList, View, blas};
use crate::incompressible::IncompressibleError;
use crate::incompressible::places::OwnFirst;
use crate::linear::{CsrMatrix, LinearError, Matrix, Operator};
use crate::mesh::partition::range_starts;
use crate::mesh::{EdgeTopology, SIGN_BIT, index_of, sign_of};
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::Real;
use karman_backend::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Largest number of items summed by a thread; longer rows are split.
const SEGMENT: usize = 32;

/// The potentials on a backend.
pub(super) struct Potentials<F: Real> {
    /// That of vectors of unknowns.
    pub backend: Backend,
    pub rotation: Arc<Rotation<F>>,
    /// Cᵀ M C: `[n_edges]` squared.
    pub stiffness: Matrix<F>,
    /// The own unconstrained edges.
    free: Buffer<u32>,
    /// Edges of generators, and their unknowns, counted from the first of a generator.
    generator_edges: Buffer<u32>,
    generator_offsets: Buffer<u32>,
    generator_items: Buffer<u32>,
    /// Segments of the signed edges of generators.
    segments: Buffer<u32>,
    segment_items: Buffer<u32>,
    /// Segments of each generator, and their unknowns.
    sums: Buffer<u32>,
    pub generator_unknowns: Buffer<u32>,
    /// Place of the first generator in a vector of unknowns.
    first_generator: usize,
    /// Of the whole mesh.
    pub constraints: Arc<PotentialConstraints>,
    ranks: Option<RankPotentials<F>>,
}

/// The unknowns of one of several ranks: those of consecutive edges; the generators are on the last one.
struct RankPotentials<F: Real> {
    whole: Arc<Potentials<F>>,
    /// The first unknown of each rank, then the number of all.
    starts: Vec<usize>,
    /// Of vectors of unknowns, see [`Potentials::ghosts`].
    halo: Arc<Halo>,
    /// v at the edges of generators.
    at_generators: RankedList,
}

/// Sums of segments.
pub(super) struct PotentialScratch<F: Real>(Buffer<F>);

impl<F: Real> Potentials<F> {
    pub(super) fn new(
        faces: &StaggeredFaces<F>,
        rotation: Arc<Rotation<F>>,
        constraints: PotentialConstraints,
    ) -> Result<Self, LinearError> {
        let backend = faces.backend().clone();
        let stiffness =
            stiffness(&rotation.host.topology, &faces.mass.to_csr()?.converted::<f64>())?;
        let n_edges = rotation.host.topology.n_edges;
        let n_free = constraints.free.len();
        let (mut generator_edges, mut generator_offsets, mut generator_items) =
            (vec![], vec![0u32], vec![]);
        for (edge, row) in constraints.rows(n_edges).iter().enumerate() {
            let of_generators: Vec<_> = row.iter().filter(|(k, _)| *k as usize >= n_free).collect();
            if of_generators.is_empty() {
                continue;
            }
            generator_edges.push(edge as u32);
            for (k, sign) in of_generators {
                let sign = if *sign < 0.0 { SIGN_BIT } else { 0 };
                generator_items.push((*k - n_free as u32) | sign);
            }
            generator_offsets.push(generator_items.len() as u32);
        }
        let (mut segments, mut items, mut sums) = (vec![0u32], vec![], vec![0u32]);
        for edges in &constraints.generators {
            for part in edges.chunks(SEGMENT) {
                items.extend_from_slice(part);
                segments.push(items.len() as u32);
            }
            sums.push(segments.len() as u32 - 1);
        }
        Ok(Potentials {
            stiffness: Matrix::new(&backend, stiffness.into_converted())?,
            free: backend.upload_slice(&constraints.free),
            generator_edges: backend.upload(generator_edges),
            generator_offsets: backend.upload(generator_offsets),
            generator_items: backend.upload(generator_items),
            segments: backend.upload(segments),
            segment_items: backend.upload(items),
            sums: backend.upload(sums),
            generator_unknowns: backend
                .upload((n_free as u32..constraints.unknowns() as u32).collect()),
            first_generator: n_free,
            constraints: Arc::new(constraints),
            rotation,
            backend,
            ranks: None,
        })
    }

    /// The first unknown and the first edge of each of several ranks, then the numbers of all; ranks have whole chunks of sums where
    /// there are enough.
    pub(super) fn starts(&self, ranks: usize) -> [Vec<usize>; 2] {
        let free = &self.constraints.free;
        let mut unknowns = range_starts(free.len(), ranks, HOST_CHUNK);
        let first_edge = |unknown: &usize| match *unknown {
            0 => 0,
            unknown => free.get(unknown).map_or(self.stiffness.rows(), |edge| *edge as usize),
        };
        let mut edges: Vec<usize> = unknowns.iter().map(first_edge).collect();
        edges[ranks] = self.stiffness.rows();
        unknowns[ranks] = self.constraints.unknowns();
        [unknowns, edges]
    }

    /// The unknowns of one of several ranks with the first unknowns `starts`, and their places. All ranks call it.
    pub(super) fn of_rank(
        whole: &Arc<Potentials<F>>,
        (backend, set_up): (&Backend, &RankSetUp),
        rotation: Arc<Rotation<F>>,
        starts: Vec<usize>,
    ) -> Result<(Self, OwnFirst), IncompressibleError> {
        let (edges, group) = (&set_up.faces.edges, set_up.faces.edges.group());
        let (rank, n_free) = (group.rank(), whole.constraints.free.len());
        let (own, total) = (starts[rank]..starts[rank + 1], whole.constraints.unknowns());
        let has_generators = own.end > n_free;
        let halo = Halo::new(group.clone(), &starts, whole.ghosts(&own)?)?.on(backend)?;
        let halo = Arc::new(halo);
        let all = 0..halo.owned() + halo.ghosts();
        let places = all.map(|entry| halo.global(entry) as u32).collect();
        let order = EntryOrder::new(group, (own.len(), own.len()), &[], total)?;
        let lists = [&whole.generator_edges, &whole.generator_offsets, &whole.generator_items];
        let [at, offsets, items] = lists.map(|list| list.as_host().unwrap_or_default());
        let first_edge = edges.first() as u32;
        let own_edge = |edge: u32| {
            let local = edges.local(edge as usize).filter(|local| *local < edges.owned());
            local.map(|local| local as u32)
        };
        let rows = [edges.first(), edges.first() + edges.owned()]
            .map(|bound| at.partition_point(|edge| (*edge as usize) < bound));
        let of_rows = offsets[rows[0]] as usize..offsets[rows[1]] as usize;
        let of_segments = whole.segment_items.as_host().unwrap_or_default();
        let numbered = (0u32..).zip(of_segments);
        let owned = numbered.filter_map(|(k, item)| Some((k, own_edge(index_of(*item) as u32)?)));
        let (listed, at_edges): (Vec<u32>, Vec<u32>) = owned.unzip();
        let signed_places = (0u32..).zip(of_segments).map(|(k, item)| k | (item & SIGN_BIT));
        let copied = |list: &Buffer<u32>| backend.upload_slice(list.as_host().unwrap_or_default());
        let own_free = own.start..own.end.min(n_free);
        let free = &whole.constraints.free[own_free.clone()];
        let first_generator = halo.local(n_free).unwrap_or(0);
        let unknowns = first_generator as u32..(first_generator + total - n_free) as u32;
        let of_generators = if has_generators { unknowns.collect() } else { vec![] };
        let potentials = Potentials {
            backend: backend.in_order(Arc::new(order)),
            rotation,
            stiffness: whole.stiffness.rows_of_rank(backend, edges.clone())?,
            free: backend.upload(free.iter().map(|edge| edge - first_edge).collect()),
            generator_edges: backend
                .upload(at[rows[0]..rows[1]].iter().map(|edge| edge - first_edge).collect()),
            generator_offsets: backend.upload(
                offsets[rows[0]..=rows[1]].iter().map(|k| k - of_rows.start as u32).collect(),
            ),
            generator_items: backend.upload_slice(&items[of_rows]),
            segments: copied(&whole.segments),
            segment_items: backend.upload(signed_places.collect()),
            sums: copied(&whole.sums),
            generator_unknowns: backend.upload(of_generators),
            first_generator,
            constraints: whole.constraints.clone(),
            ranks: Some(RankPotentials {
                whole: whole.clone(),
                starts,
                halo,
                at_generators: RankedList::new(backend, group.clone(), &listed, at_edges)?,
            }),
        };
        Ok((potentials, OwnFirst { own: own.len(), entries: places }))
    }

    /// The unknowns of other ranks that a rank with the unknowns `own` of the whole mesh needs: generators, and in 2D those that its rows
    /// of the preconditioning matrix name.
    fn ghosts(&self, own: &Range<usize>) -> Result<Vec<u32>, LinearError> {
        let generators = self.constraints.free.len() as u32..self.constraints.unknowns() as u32;
        let is_2d = self.rotation.host.topology.edge_to_nodes.is_empty();
        Ok(match is_2d {
            true => {
                let rows = self.preconditioning_rows(own.clone(), 1.0, true)?;
                outside(own, rows.column_indices().iter().copied().chain(generators))
            }
            false => outside(own, generators),
        })
    }

    /// Numbers of the own unknowns.
    pub(super) fn own(&self) -> Range<usize> {
        match &self.ranks {
            None => 0..self.constraints.unknowns(),
            Some(ranks) => ranks.halo.first()..ranks.halo.first() + ranks.halo.owned(),
        }
    }

    /// Number of own unknowns.
    pub(super) fn unknowns(&self) -> usize {
        self.own().len()
    }

    /// The exchange of vectors of unknowns on one of several ranks.
    pub(super) fn halo(&self) -> Option<&Arc<Halo>> {
        self.ranks.as_ref().map(|ranks| &ranks.halo)
    }

    /// A vector of unknowns, with room for ghosts on one of several ranks.
    pub(super) fn vector(&self) -> Buffer<F> {
        match self.halo() {
            None => self.backend.zeros(self.unknowns()),
            Some(halo) => halo.zeros(&self.backend, 1),
        }
    }

    /// Fetches the ghosts of a vector of unknowns.
    pub(super) fn fetch(&self, x: &mut Buffer<F>) {
        if let Some(halo) = self.halo() {
            halo.fill(x, 1);
        }
    }

    /// Values at edges, with room for ghosts on one of several ranks.
    pub(super) fn at_edges(&self) -> Buffer<F> {
        self.rotation.at_edges(&self.backend)
    }

    /// Potentials of the whole mesh.
    fn whole(&self) -> &Potentials<F> {
        self.ranks.as_ref().map_or(self, |ranks| &ranks.whole)
    }

    /// The exchange of own unknowns and those of `needed` that other ranks own, on one of several ranks, which all call it.
    pub(super) fn halo_of(
        &self,
        needed: impl Iterator<Item = u32>,
    ) -> Result<Option<Arc<Halo>>, LinearError> {
        let Some(RankPotentials { starts, halo, .. }) = &self.ranks else { return Ok(None) };
        let ghosts = outside(&self.own(), needed);
        let halo = Halo::new(halo.group().clone(), starts, ghosts)?.on(&self.backend)?;
        Ok(Some(Arc::new(halo)))
    }

    /// The matrix with these own rows of unknowns. All ranks call it.
    pub(super) fn matrix(&self, rows: CsrMatrix<f64>) -> Result<Matrix<F>, LinearError> {
        match self.halo_of(rows.column_indices().iter().copied())? {
            None => Matrix::new(&self.backend, rows.into_converted()),
            Some(halo) => Matrix::of_rank(&self.backend, rows.into_converted(), halo),
        }
    }

    /// Scratch buffers of products.
    pub(super) fn scratch(&self) -> PotentialScratch<F> {
        PotentialScratch(self.backend.zeros(self.segments.len() - 1))
    }

    /// v ← E x with its ghosts: `[n_edges]`; entries of constrained edges without a generator are left at 0. x has its ghosts.
    fn spread(&self, x: &Buffer<F>, v: &mut Buffer<F>) {
        let backend = &self.backend;
        put_free(backend, self.free.len(), &self.free, x, v);
        let (edges, offsets) = (&self.generator_edges, &self.generator_offsets);
        if !edges.is_empty() {
            let (items, first) = (&self.generator_items, self.first_generator);
            put_generators(backend, edges.len(), edges, offsets, items, x, first, v);
        }
        self.rotation.fetch(v);
    }

    /// y ← Eᵀ v.
    fn gather(&self, v: &Buffer<F>, scratch: &mut PotentialScratch<F>, y: &mut Buffer<F>) {
        let backend = &self.backend;
        take_free(backend, self.free.len(), &self.free, v, y);
        let (n, partial) = (scratch.0.len(), &mut scratch.0);
        if n > 0 {
            let gathered = self.ranks.as_ref().map(|of| of.at_generators.gather(backend, v));
            let v = gathered.as_ref().unwrap_or(v);
            sum_segments(backend, n, &self.segments, &self.segment_items, v, partial);
            let (unknowns, sums) = (&self.generator_unknowns, &self.sums);
            sum_generators(backend, unknowns.len(), unknowns, sums, partial, y);
        }
    }

    /// U ← C E x; v ← E x; x has its ghosts.
    pub(super) fn flux(&self, x: &Buffer<F>, v: &mut Buffer<F>, flux: &mut Buffer<F>) {
        self.spread(x, v);
        self.rotation.edges.curl(&self.backend, v, flux);
    }

    /// y ← Eᵀ Cᵀ r; v ← Cᵀ r; r has its ghosts.
    pub(super) fn circulation(
        &self,
        r: &Buffer<F>,
        v: &mut Buffer<F>,
        scratch: &mut PotentialScratch<F>,
        y: &mut Buffer<F>,
    ) {
        self.rotation.edges.rotation(&self.backend, r, v);
        self.gather(v, scratch, y);
    }

    /// The preconditioning matrix factor Eᵀ Cᵀ M C E, or its diagonal; of one of several ranks in 3D its diagonal alone.
    pub(super) fn preconditioning_matrix(
        &self,
        factor: f64,
        whole: bool,
    ) -> Result<Matrix<F>, LinearError> {
        let rows = self.preconditioning_rows(self.own(), factor, whole)?.into_converted();
        match self.halo() {
            None => Matrix::new(&self.backend, rows),
            // Preconditioners fetch the ghosts of vectors of the solver.
            Some(halo) => Matrix::of_rank(&self.backend, rows, halo.clone()),
        }
    }

    /// Rows of [`Potentials::preconditioning_matrix`].
    fn preconditioning_rows(
        &self,
        own: Range<usize>,
        factor: f64,
        whole: bool,
    ) -> Result<CsrMatrix<f64>, LinearError> {
        let constraints = &self.constraints;
        let stiffness = self.whole_stiffness()?;
        let rows = constraints.rows(stiffness.rows());
        let signed = |item: &u32| (index_of(*item), f64::from(sign_of(*item)));
        by_rows(own, constraints.unknowns(), |row, entries| {
            let own: Vec<(usize, f64)> = match row.checked_sub(constraints.free.len()) {
                None => vec![(constraints.free[row] as usize, 1.0)],
                Some(generator) => constraints.generators[generator].iter().map(signed).collect(),
            };
            for (edge, sign) in own {
                for (column, value) in stiffness.row(edge) {
                    for (unknown, other) in &rows[column] {
                        if whole || *unknown as usize == row {
                            entries.push((*unknown, factor * sign * other * value));
                        }
                    }
                }
            }
        })
    }

    /// Cᵀ M C of the whole mesh.
    pub(super) fn whole_stiffness(&self) -> Result<CsrMatrix<f64>, LinearError> {
        Ok(self.whole().stiffness.to_csr()?.into_converted())
    }
}

/// Cᵀ M C.
fn stiffness(
    topology: &EdgeTopology,
    mass: &CsrMatrix<f64>,
) -> Result<CsrMatrix<f64>, LinearError> {
    by_rows(0..topology.n_edges, topology.n_edges, |edge, entries| {
        for item in topology.edge_to_faces.of(edge) {
            let sign = f64::from(sign_of(*item));
            for (face, value) in mass.row(index_of(*item)) {
                for other in topology.face_to_edges.of(face) {
                    let product = sign * f64::from(sign_of(*other)) * value;
                    entries.push((index_of(*other) as u32, product));
                }
            }
        }
    })
}

/// y = Eᵀ H (shift + θ ν W H) E x, H = Cᵀ M C.
pub(super) struct PotentialOperator<F: Real> {
    potentials: Arc<Potentials<F>>,
    scratch: PotentialScratch<F>,
    shift: F,
    /// θ ν.
    diffusive: F,
    spread: Buffer<F>,
    circulation: Buffer<F>,
    vorticity: Buffer<F>,
}

impl<F: Real> PotentialOperator<F> {
    pub(super) fn new(potentials: Arc<Potentials<F>>, (shift, diffusive): (f64, f64)) -> Self {
        PotentialOperator {
            scratch: potentials.scratch(),
            shift: F::from_f64(shift),
            diffusive: F::from_f64(diffusive),
            spread: potentials.at_edges(),
            circulation: potentials.at_edges(),
            vorticity: potentials.at_edges(),
            potentials,
        }
    }
}

impl<F: Real> Operator<F> for PotentialOperator<F> {
    fn unknowns(&self) -> usize {
        self.potentials.unknowns()
    }

    fn exchange(&self) -> Option<&Arc<Halo>> {
        self.potentials.halo()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let PotentialOperator { potentials, scratch, spread, circulation, vorticity, .. } = self;
        let (rotation, n_edges) = (&potentials.rotation, potentials.stiffness.rows());
        potentials.spread(x, spread);
        potentials.stiffness.multiply(spread, circulation);
        rotation.fetch(circulation);
        rotation.weights.multiply(circulation, vorticity);
        blas::axpby(backend, n_edges, self.shift, spread, self.diffusive, vorticity);
        rotation.fetch(vorticity);
        potentials.stiffness.multiply(vorticity, circulation);
        potentials.gather(circulation, scratch, y);
    }
}

/// v at an unconstrained edge ← x. Traffic 4 + 2s.
#[kernel(out(v), indexed)]
pub(super) fn put_free<F: Real>(i: usize, _edge: usize, x: &View<F>) -> F {
    x[i]
}

/// v at an edge of generators ← Σ ± x. Traffic 8 + 2s, an item 4.
#[kernel(out(v), indexed)]
pub(super) fn put_generators<F: Real>(
    i: usize,
    _edge: usize,
    offsets: &View<u32>,
    items: &View<u32>,
    x: &View<F>,
    first: usize,
) -> F {
    let mut sum = F::literal(0.0);
    for k in offsets[i] as usize..offsets[i + 1] as usize {
        let item = items[k];
        sum += with_sign::<F>(item, x[first + without_sign(item)]);
    }
    sum
}

/// y ← v at an unconstrained edge. Traffic 4 + 2s.
#[kernel(out(y))]
pub(super) fn take_free<F: Real>(i: usize, edges: &View<u32>, v: &View<F>) -> F {
    v[edges[i] as usize]
}

/// Σ ± v over a segment. Traffic 4 + s, an item 4 + s.
#[kernel(out(partial))]
pub(super) fn sum_segments<F: Real>(
    i: usize,
    offsets: &View<u32>,
    items: &View<u32>,
    v: &View<F>,
) -> F {
    let mut sum = F::literal(0.0);
    for k in offsets[i] as usize..offsets[i + 1] as usize {
        let item = items[k];
        sum += with_sign::<F>(item, v[without_sign(item)]);
    }
    sum
}

/// y of a generator ← Σ over its segments. Traffic 8 + s, a segment s.
#[kernel(out(y), indexed)]
pub(super) fn sum_generators<F: Real>(
    i: usize,
    _unknown: usize,
    offsets: &View<u32>,
    partial: &View<F>,
) -> F {
    let mut sum = F::literal(0.0);
    for k in offsets[i] as usize..offsets[i + 1] as usize {
        sum += partial[k];
    }
    sum
}
