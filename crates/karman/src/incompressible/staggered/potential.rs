//! Potentials of fluxes without divergence: U = U_b + C E x.
//!
//! s = E x lives on the edges, in a plane on the nodes. Where the flux through a face is held C s must vanish:
//! there s is the gradient of something, which may be left out, but for what goes around: in a
//! plane one value for each connected piece of such a boundary but one; in space one for each
//! loop in such a piece that bounds nothing in it. Those loops are found as the sides that neither a spanning
//! tree of the piece's nodes nor one of its faces has; each carries the value through the sides that its
//! faces then force. So a channel's through-flow and the flow around an obstacle are unknowns as others.
//!
//! Source: Chang, Giraldo & Perot, J. Comput. Phys. 180 (2002) 183, §3; the loops: Dłotko & Specogna, Commun.
//! Comput. Phys. 14 (2013) 48.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::StaggeredFaces;
use super::classes::Classes;
use super::inner_product::by_rows;
use super::rotation::Rotation;
use crate::backend::{Backend, Buffer, View, blas};
use crate::linear::{CsrMatrix, LinearError, Matrix, Operator};
use crate::mesh::{EdgeTopology, Mesh, SIGN_BIT, index_of, sign_of};
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::Real;
use karman_backend::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// Which potentials are unknowns, on the host.
pub(super) struct Ties {
    /// Edges whose potential is an unknown of its own, in their order.
    pub free: Vec<u32>,
    /// Signed edges that share an unknown, one list each.
    pub tied: Vec<Vec<u32>>,
}

impl Ties {
    /// Of a mesh whose boundary faces are `held` where that is not 0.
    pub(super) fn new(mesh: &Mesh, topology: &EdgeTopology, held: &[u32]) -> Ties {
        let inner = mesh.n_interior_faces();
        let is_held = |face: usize| face >= inner && held[face - inner] > 0;
        let on_held = |edge: usize| {
            topology.edge_to_faces.of(edge).iter().any(|item| is_held(index_of(*item)))
        };
        let mut free: Vec<u32> =
            (0..topology.n_edges).filter(|edge| !on_held(*edge)).map(|edge| edge as u32).collect();
        let faces: Vec<usize> = (inner..mesh.n_faces()).filter(|face| is_held(*face)).collect();
        let tied = if mesh.dimension == 2 {
            let mut pieces = pieces_of_nodes(topology, &faces);
            if pieces.is_empty() {
                // Nothing fixes the level of the potential but this.
                free.remove(0);
            } else {
                let (largest, _) = pieces.iter().enumerate().fold((0, 0), |best, (k, p)| {
                    if p.len() > best.1 { (k, p.len()) } else { best }
                });
                pieces.remove(largest);
            }
            pieces
        } else {
            loops_of_surface(mesh, topology, &faces)
        };
        Ties { free, tied }
    }

    /// Number of unknowns.
    pub(super) fn unknowns(&self) -> usize {
        self.free.len() + self.tied.len()
    }

    /// E, by edges.
    fn rows(&self, n_edges: usize) -> Vec<Vec<(u32, f64)>> {
        let mut rows = vec![vec![]; n_edges];
        for (k, edge) in self.free.iter().enumerate() {
            rows[*edge as usize].push((k as u32, 1.0));
        }
        for (k, edges) in self.tied.iter().enumerate() {
            for item in edges {
                let unknown = (self.free.len() + k) as u32;
                rows[index_of(*item)].push((unknown, f64::from(sign_of(*item))));
            }
        }
        rows
    }
}

/// Nodes of the connected pieces of a plane's boundary, each piece ascending, in the order of their first nodes.
fn pieces_of_nodes(topology: &EdgeTopology, faces: &[usize]) -> Vec<Vec<u32>> {
    let mut joined = Classes::new(topology.n_edges);
    let mut touched = vec![false; topology.n_edges];
    for face in faces {
        let nodes = topology.face_to_edges.of(*face);
        nodes.iter().for_each(|node| touched[index_of(*node)] = true);
        joined.join(index_of(nodes[0]) as u32, index_of(nodes[1]) as u32, 0);
    }
    let mut place = vec![usize::MAX; topology.n_edges];
    let mut pieces: Vec<Vec<u32>> = vec![];
    for node in (0..topology.n_edges as u32).filter(|node| touched[*node as usize]) {
        let first = joined.find(node).0 as usize;
        if place[first] == usize::MAX {
            place[first] = pieces.len();
            pieces.push(vec![]);
        }
        pieces[place[first]].push(node);
    }
    pieces
}

/// Signed edges of the loops of a surface: potentials of no circulation around any of its `faces` that are no
/// gradients.
fn loops_of_surface(mesh: &Mesh, topology: &EdgeTopology, faces: &[usize]) -> Vec<Vec<u32>> {
    let mut nodes = Classes::new(mesh.n_nodes());
    let mut kinds = vec![Side::Elsewhere; topology.n_edges];
    let mut sides = vec![];
    for face in faces {
        for item in topology.face_to_edges.of(*face) {
            let edge = index_of(*item);
            if kinds[edge] != Side::Elsewhere {
                continue;
            }
            let [a, b] = topology.edge_to_nodes[edge];
            kinds[edge] = if nodes.join(a, b, 0) { Side::Tree } else { Side::Left };
            sides.push(edge);
        }
    }
    // A tree of faces across sides that are left; a surface with a rim is rooted outside.
    let place = |face: usize| faces.binary_search(&face).ok();
    let across = |edge: usize| -> Vec<usize> {
        topology.edge_to_faces.of(edge).iter().filter_map(|item| place(index_of(*item))).collect()
    };
    let mut reached = vec![false; faces.len()];
    let mut order: Vec<(usize, usize)> = vec![];
    let mut queue = VecDeque::new();
    for edge in &sides {
        if let (Side::Left, [only]) = (kinds[*edge], &across(*edge)[..])
            && !reached[*only]
        {
            (reached[*only], kinds[*edge]) = (true, Side::Forced);
            order.push((*only, *edge));
            queue.push_back(*only);
        }
    }
    let mut next = 0;
    loop {
        while let Some(face) = queue.pop_front() {
            for item in topology.face_to_edges.of(faces[face]) {
                let edge = index_of(*item);
                if kinds[edge] != Side::Left {
                    continue;
                }
                for other in across(edge) {
                    if !reached[other] {
                        (reached[other], kinds[edge]) = (true, Side::Forced);
                        order.push((other, edge));
                        queue.push_back(other);
                    }
                }
            }
        }
        match (next..faces.len()).find(|face| !reached[*face]) {
            None => break,
            Some(face) => {
                (next, reached[face]) = (face + 1, true);
                queue.push_back(face);
            }
        }
    }
    let left: Vec<usize> = sides.iter().copied().filter(|e| kinds[*e] == Side::Left).collect();
    left.iter().map(|edge| carried_around(*edge, &order, faces, topology)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Not of this surface.
    Elsewhere,
    /// In the tree of nodes: potential 0.
    Tree,
    /// Follows from the faces beyond.
    Forced,
    /// Neither: it makes a loop.
    Left,
}

/// The potential of value 1 at `edge` that no face of the surface sees; faces determine their forced
/// sides from the leaves of their tree on.
fn carried_around(
    edge: usize,
    order: &[(usize, usize)],
    faces: &[usize],
    topology: &EdgeTopology,
) -> Vec<u32> {
    let mut values = std::collections::BTreeMap::from([(edge, 1i32)]);
    for (face, forced) in order.iter().rev() {
        let (mut sum, mut own) = (0, 0);
        for item in topology.face_to_edges.of(faces[*face]) {
            match values.get(&index_of(*item)) {
                _ if index_of(*item) == *forced => own = sign_of(*item),
                Some(value) => sum += sign_of(*item) * value,
                None => (),
            }
        }
        if sum != 0 {
            values.insert(*forced, -sum * own);
        }
    }
    let mut items = vec![];
    for (edge, value) in values {
        let sign = if value < 0 { SIGN_BIT } else { 0 };
        (0..value.abs()).for_each(|_| items.push(edge as u32 | sign));
    }
    items
}

/// Items of one sum: long rows are cut here, so that no thread has many.
const SEGMENT: usize = 32;

/// The potentials on a backend.
pub(super) struct Potentials<F: Real> {
    pub backend: Backend,
    pub rotation: Arc<Rotation<F>>,
    /// Cᵀ M C: `[n_edges]` squared.
    pub stiffness: Matrix<F>,
    free: Buffer<u32>,
    /// Edges that share unknowns, and which, counted from the first shared one.
    tied_edges: Buffer<u32>,
    tied_offsets: Buffer<u32>,
    tied_items: Buffer<u32>,
    /// Segments of the shared unknowns' signed edges.
    segments: Buffer<u32>,
    segment_items: Buffer<u32>,
    /// Segments of each shared unknown, and the unknowns.
    sums: Buffer<u32>,
    pub shared: Buffer<u32>,
    pub ties: Ties,
}

/// Sums of segments.
pub(super) struct PotentialScratch<F: Real>(Buffer<F>);

impl<F: Real> Potentials<F> {
    pub(super) fn new(
        faces: &StaggeredFaces<F>,
        rotation: Arc<Rotation<F>>,
        ties: Ties,
    ) -> Result<Self, LinearError> {
        let backend = faces.backend().clone();
        let stiffness =
            stiffness(&rotation.host.topology, &faces.mass.to_csr()?.converted::<f64>())?;
        let n_edges = rotation.host.topology.n_edges;
        let n_free = ties.free.len();
        let (mut tied_edges, mut tied_offsets, mut tied_items) = (vec![], vec![0u32], vec![]);
        for (edge, row) in ties.rows(n_edges).iter().enumerate() {
            let shared: Vec<_> = row.iter().filter(|(k, _)| *k as usize >= n_free).collect();
            if shared.is_empty() {
                continue;
            }
            tied_edges.push(edge as u32);
            for (k, sign) in shared {
                let sign = if *sign < 0.0 { SIGN_BIT } else { 0 };
                tied_items.push((*k - n_free as u32) | sign);
            }
            tied_offsets.push(tied_items.len() as u32);
        }
        let (mut segments, mut items, mut sums) = (vec![0u32], vec![], vec![0u32]);
        for edges in &ties.tied {
            for part in edges.chunks(SEGMENT) {
                items.extend_from_slice(part);
                segments.push(items.len() as u32);
            }
            sums.push(segments.len() as u32 - 1);
        }
        Ok(Potentials {
            stiffness: Matrix::new(&backend, stiffness.into_converted())?,
            free: backend.upload_slice(&ties.free),
            tied_edges: backend.upload(tied_edges),
            tied_offsets: backend.upload(tied_offsets),
            tied_items: backend.upload(tied_items),
            segments: backend.upload(segments),
            segment_items: backend.upload(items),
            sums: backend.upload(sums),
            shared: backend.upload((n_free as u32..ties.unknowns() as u32).collect()),
            ties,
            rotation,
            backend,
        })
    }

    /// Room that products need.
    pub(super) fn scratch(&self) -> PotentialScratch<F> {
        PotentialScratch(self.backend.zeros(self.segments.len() - 1))
    }

    /// v ← E x: `[n_edges]`; v is 0 where nothing is an unknown.
    fn spread(&self, x: &Buffer<F>, v: &mut Buffer<F>) {
        let backend = &self.backend;
        put_free(backend, self.free.len(), &self.free, x, v);
        let (edges, offsets) = (&self.tied_edges, &self.tied_offsets);
        if !edges.is_empty() {
            let (items, first) = (&self.tied_items, self.free.len());
            put_shared(backend, edges.len(), edges, offsets, items, x, first, v);
        }
    }

    /// y ← Eᵀ v.
    fn gather(&self, v: &Buffer<F>, scratch: &mut PotentialScratch<F>, y: &mut Buffer<F>) {
        let backend = &self.backend;
        take_free(backend, self.free.len(), &self.free, v, y);
        if !self.shared.is_empty() {
            let (n, partial) = (scratch.0.len(), &mut scratch.0);
            sum_segments(backend, n, &self.segments, &self.segment_items, v, partial);
            let (shared, sums) = (&self.shared, &self.sums);
            sum_shared(backend, shared.len(), shared, sums, partial, y);
        }
    }

    /// U ← C E x; with room for E x.
    pub(super) fn flux(&self, x: &Buffer<F>, v: &mut Buffer<F>, flux: &mut Buffer<F>) {
        self.spread(x, v);
        self.rotation.edges.curl(&self.backend, v, flux);
    }

    /// y ← Eᵀ Cᵀ r; with room for Cᵀ r.
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

    /// factor Eᵀ Cᵀ M C E, or its diagonal, for a preconditioner.
    pub(super) fn near(&self, factor: f64, whole: bool) -> Result<Matrix<F>, LinearError> {
        let ties = &self.ties;
        let stiffness = self.stiffness.to_csr()?.converted::<f64>();
        let rows = ties.rows(stiffness.rows());
        let signed = |item: &u32| (index_of(*item), f64::from(sign_of(*item)));
        let near = by_rows(ties.unknowns(), ties.unknowns(), |row, entries| {
            let own: Vec<(usize, f64)> = match row.checked_sub(ties.free.len()) {
                None => vec![(ties.free[row] as usize, 1.0)],
                Some(shared) => ties.tied[shared].iter().map(signed).collect(),
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
        })?;
        Matrix::new(&self.backend, near.into_converted())
    }
}

/// Cᵀ M C.
fn stiffness(
    topology: &EdgeTopology,
    mass: &CsrMatrix<f64>,
) -> Result<CsrMatrix<f64>, LinearError> {
    by_rows(topology.n_edges, topology.n_edges, |edge, entries| {
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
        let (backend, n) = (potentials.backend.clone(), potentials.stiffness.rows());
        PotentialOperator {
            scratch: potentials.scratch(),
            potentials,
            shift: F::from_f64(shift),
            diffusive: F::from_f64(diffusive),
            spread: backend.zeros(n),
            circulation: backend.zeros(n),
            vorticity: backend.zeros(n),
        }
    }
}

impl<F: Real> Operator<F> for PotentialOperator<F> {
    fn unknowns(&self) -> usize {
        self.potentials.ties.unknowns()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        let PotentialOperator { potentials, scratch, spread, circulation, vorticity, .. } = self;
        potentials.spread(x, spread);
        potentials.stiffness.multiply(spread, circulation);
        potentials.rotation.weights.multiply(circulation, vorticity);
        blas::axpby(backend, spread.len(), self.shift, spread, self.diffusive, vorticity);
        potentials.stiffness.multiply(vorticity, circulation);
        potentials.gather(circulation, scratch, y);
    }
}

/// v at a free edge ← x. Traffic 4 + 2s.
#[kernel(put_free, out(v), indexed)]
pub(super) fn potential_of_free<F: Real>(i: usize, _edge: usize, x: &View<F>) -> F {
    x[i]
}

/// v at an edge of a piece or a loop ← Σ ± x. Traffic 8 + 2s, an item 4.
#[kernel(put_shared, out(v), indexed)]
pub(super) fn potential_of_tied<F: Real>(
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

/// y ← v at a free edge. Traffic 4 + 2s.
#[kernel(take_free, out(y))]
pub(super) fn circulation_of_free<F: Real>(i: usize, edges: &View<u32>, v: &View<F>) -> F {
    v[edges[i] as usize]
}

/// Σ ± v over a segment. Traffic 4 + s, an item 4 + s.
#[kernel(sum_segments, out(partial))]
pub(super) fn sum_of_segment<F: Real>(
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

/// y of a shared unknown ← Σ over its segments. Traffic 8 + s, a segment s.
#[kernel(sum_shared, out(y), indexed)]
pub(super) fn sum_of_shared<F: Real>(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{
        AnnulusParams, BoxParams, BoxWithBoxParams, CylinderInChannelParams, Element,
    };
    use crate::mesh::{MeshOptions, RawMesh};

    /// The rank of a matrix by elimination.
    fn rank(mut rows: Vec<Vec<f64>>) -> usize {
        let mut found = 0;
        let columns = rows.first().map_or(0, Vec::len);
        for column in 0..columns {
            let size = |row: &Vec<f64>| row[column].abs();
            let best =
                (found..rows.len()).max_by(|a, b| size(&rows[*a]).total_cmp(&size(&rows[*b])));
            let Some(best) = best.filter(|row| size(&rows[*row]) > 1e-9) else { continue };
            rows.swap(found, best);
            let pivot = rows[found].clone();
            for row in rows.iter_mut().skip(found + 1) {
                let factor = row[column] / pivot[column];
                if factor != 0.0 {
                    row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
                }
            }
            found += 1;
        }
        found
    }

    /// Rank of C E, nullity of D on free faces, and how many unknowns stand for pieces or loops.
    fn ranks(raw: RawMesh, open: &[&str]) -> (usize, usize, usize) {
        let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
        let inner = mesh.n_interior_faces();
        let mut held = vec![1; mesh.n_faces() - inner];
        for name in open {
            let patch = mesh.patches.iter().find(|patch| patch.name == *name).unwrap();
            patch.faces.clone().for_each(|face| held[face - inner] = 0);
        }
        let free = |face: usize| face < inner || held[face - inner] == 0;
        let topology = EdgeTopology::new(&mesh);
        let ties = Ties::new(&mesh, &topology, &held);
        let columns = ties.rows(topology.n_edges);
        let mut of_potentials = vec![];
        for face in 0..mesh.n_faces() {
            let mut row = vec![0.0; ties.unknowns()];
            for item in topology.face_to_edges.of(face) {
                for (unknown, sign) in &columns[index_of(*item)] {
                    row[*unknown as usize] += f64::from(sign_of(*item)) * sign;
                }
            }
            let empty = row.iter().all(|entry| *entry == 0.0);
            assert!(free(face) || empty, "a potential moves the held face {face}");
            of_potentials.push(row);
        }
        let divergence: Vec<Vec<f64>> = (0..mesh.n_cells())
            .map(|cell| {
                let mut row = vec![0.0; mesh.n_faces()];
                for item in mesh.cell_to_faces.of(cell).iter().filter(|i| free(index_of(**i))) {
                    row[index_of(*item)] = f64::from(sign_of(*item));
                }
                row
            })
            .collect();
        let free_faces = (0..mesh.n_faces()).filter(|face| free(*face)).count();
        (rank(of_potentials), free_faces - rank(divergence), ties.tied.len())
    }

    fn plain(element: Element, cells: &[usize]) -> RawMesh {
        let (cells, element) = (cells.to_vec(), Some(element));
        let size = vec![1.0; cells.len()];
        BoxParams { size, cells, element, ..BoxParams::default() }.generate().unwrap()
    }

    fn around_a_box(cells: [usize; 3], dimension: usize) -> RawMesh {
        let outer = BoxParams {
            size: vec![1.0; dimension],
            cells: cells[..dimension].to_vec(),
            ..BoxParams::default()
        };
        let (body_from, body_to) = ([0.34, 0.34], [0.66, 0.66]);
        BoxWithBoxParams { outer, body_from, body_to }.generate().unwrap()
    }

    #[test]
    fn potentials_reach_every_flux_without_divergence() {
        let channel = CylinderInChannelParams {
            cells_around: 8,
            cells_radial: 1,
            cells_wake: 2,
            ..CylinderInChannelParams::default()
        };
        let ring = AnnulusParams { cells: vec![1, 6], ..AnnulusParams::default() };
        let tube =
            AnnulusParams { cells: vec![1, 6, 2], length: Some(1.0), ..AnnulusParams::default() };
        let all = ["xmin", "xmax", "ymin", "ymax"];
        let (triangles, tetrahedra) = (Element::Triangle, Element::Tetrahedron);
        let bricks = Element::Hexahedron;
        let cases: Vec<(&str, RawMesh, Vec<&str>, usize)> = vec![
            ("box", plain(triangles, &[3, 3]), vec![], 0),
            ("channel", plain(triangles, &[3, 3]), vec!["xmin", "xmax"], 1),
            ("open box", plain(triangles, &[3, 3]), all.to_vec(), 0),
            ("ring", ring.generate().unwrap(), vec![], 1),
            ("cylinder", channel.generate().unwrap(), vec!["outlet"], 1),
            ("box in space", plain(tetrahedra, &[2, 2, 2]), vec![], 0),
            ("duct", plain(tetrahedra, &[2, 2, 2]), vec!["xmin", "xmax"], 1),
            ("three sides open", plain(bricks, &[3, 3, 3]), vec!["xmin", "xmax", "zmax"], 0),
            ("open corner", plain(bricks, &[2, 2, 2]), vec!["xmin", "ymin"], 0),
            ("through-body", around_a_box([3, 3, 1], 3), vec![], 2),
            ("body in a duct", around_a_box([3, 3, 2], 3), vec!["xmin", "xmax"], 3),
            ("tube", tube.generate().unwrap(), vec!["zmin", "zmax"], 2),
        ];
        for (name, raw, open, shared) in cases {
            let (rank, nullity, tied) = ranks(raw, &open);
            assert_eq!(rank, nullity, "{name}: {tied} pieces or loops");
            assert_eq!(tied, shared, "{name}");
        }
    }
}
