//! Partition of a mesh: owned entities, ghosts and exchange lists.
//!
//! A cell is owned by its part, a face by the part of its left cell, a node by the lowest part of
//! its cells. A part has its cells and one layer of ghost cells across their faces, all faces of its
//! own cells, and all nodes of both. Orientations are those of the whole mesh: a face has one sign in
//! all parts. So is the order of a cell's faces, and with it that of sums over them: values that a part computes
//! have the bits of the whole.
//!
//! [`Ranges`] are the parts of ranks, each of consecutive cells: a multiple of the chunk of reductions, or the parts of the mesh
//! ([`Mesh::in_parts`]).

use super::adjacency::{Adjacency, SIGN_BIT, fill_rows, index_of, offsets_of};
use super::entity_set::EntitySet;
use super::geometry::Geometry;
use super::half_faces::NONE;
use super::raw::Elements;
use super::{EntityCount, Mesh, Patch, PeriodicPair, PeriodicPairs};
use karman_macros::Keyword;
use rayon::prelude::*;
use std::sync::OnceLock;

/// The parts of the mesh that ranks compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Keyword)]
pub enum Partition {
    /// Consecutive cells in the order of `[mesh] renumber`, cut at multiples of 4096: results have the bits of one rank.
    #[default]
    Hilbert,
    /// Parts of the graph of cells with few faces between them, by METIS: results agree with those of one rank to round-off.
    Metis,
}

/// Send and receive lists between two parts for one kind of entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbour {
    /// The neighbouring part.
    pub part: u32,
    /// Local entities whose values are sent, in ascending global number.
    pub send: Vec<u32>,
    /// Local ghosts whose values are received, in ascending global number.
    pub receive: Vec<u32>,
}

/// Exchange of one kind of entity with every neighbouring part, ascending by part.
pub type Exchange = Vec<Neighbour>;

/// One part of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubMesh {
    /// Its number.
    pub part: u32,
    /// Its entities. Differences from a whole mesh: ghost cells have only the faces they share with
    /// owned cells, the left cell of a face may have the higher local number, a patch may be empty.
    pub mesh: Mesh,
    /// Local cell → cell of the whole mesh.
    pub global_cell: Vec<u32>,
    /// Local face → face of the whole mesh.
    pub global_face: Vec<u32>,
    /// Local node → node of the whole mesh.
    pub global_node: Vec<u32>,
    /// Exchange of cell values.
    pub cells: Exchange,
    /// Exchange of face values.
    pub faces: Exchange,
    /// Exchange of node values.
    pub nodes: Exchange,
}

impl SubMesh {
    /// Geometry of this part, copied from the geometry of the whole mesh.
    pub fn geometry(&self, whole: &Geometry) -> Geometry {
        let components = |values: &[f64], indices: &[u32]| {
            let n = values.len() / 3;
            let mut parts = Vec::with_capacity(3 * indices.len());
            for block in values.chunks_exact(n.max(1)) {
                parts.par_extend(indices.par_iter().map(|&i| block[i as usize]));
            }
            parts
        };
        Geometry {
            cell_volume: self
                .global_cell
                .par_iter()
                .map(|&c| whole.cell_volume[c as usize])
                .collect(),
            cell_centre: components(&whole.cell_centre, &self.global_cell),
            face_area_vector: components(&whole.face_area_vector, &self.global_face),
            face_centre: components(&whole.face_centre, &self.global_face),
        }
    }
}

/// Partitions a mesh; `parts` is the part of each cell (`[n_cells]`, numbered from 0).
pub fn cut(mesh: &Mesh, parts: &[u32]) -> Vec<SubMesh> {
    debug_assert_eq!(parts.len(), mesh.n_cells());
    let n_parts = parts.iter().max().map_or(0, |&last| last as usize + 1);
    let owners = Owners::new(mesh, parts.to_vec());
    let mut subs: Vec<SubMesh> =
        (0..n_parts as u32).map(|part| extract(&owners, part, [&[], &[]], true)).collect();
    for part in 0..n_parts {
        for kind in [Kind::Cell, Kind::Face, Kind::Node] {
            let ghosts = ghosts(&subs[part], kind, &owners);
            connect(&mut subs, part, kind, &ghosts);
        }
    }
    subs
}

/// Parts of consecutive cells.
pub struct Ranges<'m> {
    owners: Owners<'m>,
    /// First cell of each part, then the number of cells: `[parts + 1]`.
    pub starts: Vec<usize>,
}

impl<'m> Ranges<'m> {
    /// The parts of the mesh where it has as many. Else cuts the order of cells into parts of whole chunks, as equal as these allow;
    /// into parts of equally many cells where there are fewer chunks than parts.
    pub fn new(mesh: &'m Mesh, parts: usize, chunk: usize) -> Ranges<'m> {
        let starts = match is_in_parts(mesh, parts) {
            true => mesh.part_starts.clone(),
            false => range_starts(mesh.n_cells(), parts, chunk),
        };
        let part_of = |cell: usize| starts.partition_point(|start| *start <= cell) as u32 - 1;
        let cell = (0..mesh.n_cells()).into_par_iter().map(part_of).collect();
        Ranges { owners: Owners::new(mesh, cell), starts }
    }

    /// Whether each part consists of whole chunks, but for the end of the last one.
    pub fn are_of_chunks(&self, chunk: usize) -> bool {
        self.starts[..self.starts.len() - 1].iter().all(|start| start.is_multiple_of(chunk))
    }

    /// Cells of a part.
    pub fn cells(&self, part: usize) -> std::ops::Range<usize> {
        self.starts[part]..self.starts[part + 1]
    }

    /// Cells of each part, and cells of others across its faces.
    pub fn counts(&self) -> Vec<EntityCount> {
        let parts = (0..self.starts.len() - 1).into_par_iter();
        let of =
            |part| EntityCount { owned: self.cells(part).len(), ghost: self.layer(part).len() };
        parts.map(of).collect()
    }

    /// Number of interior faces between two parts.
    pub fn cut_faces(&self) -> usize {
        let Owners { cell, mesh, .. } = &self.owners;
        let sides = mesh.face_left.par_iter().zip(&mesh.face_right);
        sides.filter(|(left, right)| cell[**left as usize] != cell[**right as usize]).count()
    }

    /// A part, without nodes and exchange lists. Its ghosts are the cells across its faces and `further` ones, which have no faces.
    pub fn extract(&self, part: usize, further: &[u32]) -> SubMesh {
        extract(&self.owners, part as u32, [&[], further], false)
    }

    /// As [`Ranges::extract`], with nodes and all faces of the ghosts `layer`.
    pub fn extract_with_layer(&self, part: usize, layer: &[u32], further: &[u32]) -> SubMesh {
        extract(&self.owners, part as u32, [layer, further], true)
    }

    /// The cells of other parts across the faces of a part, ascending.
    pub fn layer(&self, part: usize) -> Vec<u32> {
        let (own, mesh) = (self.cells(part), self.owners.mesh);
        let interior = mesh.n_interior_faces();
        let beside = own.clone().into_par_iter().flat_map_iter(|cell| {
            let faces = mesh.cell_to_faces.of(cell).iter().map(|item| index_of(*item));
            let inner = faces.filter(|face| *face < interior);
            inner.flat_map(|face| [mesh.face_left[face], mesh.face_right[face]])
        });
        sorted_unique(beside.filter(|cell| !own.contains(&(*cell as usize))))
    }
}

/// Whether the cells of a mesh are in the order of so many parts.
fn is_in_parts(mesh: &Mesh, parts: usize) -> bool {
    mesh.part_starts.len() == parts + 1
}

/// The first node of each part and the number of nodes, `[parts + 1]`. Where the mesh has parts, a node is of the first part that has
/// a cell around it; else as [`range_starts`] of the nodes.
pub fn node_starts(mesh: &Mesh, parts: usize, chunk: usize) -> Vec<usize> {
    if !is_in_parts(mesh, parts) {
        return range_starts(mesh.n_nodes(), parts, chunk);
    }
    // Nodes are numbered by their first use.
    let mut starts = vec![0];
    for cells in mesh.part_starts.windows(2) {
        let nodes = mesh.cells.offsets[cells[0]] as usize..mesh.cells.offsets[cells[1]] as usize;
        let last = mesh.cells.nodes[nodes].iter().max().map_or(0, |node| *node as usize + 1);
        starts.push(last.max(starts[starts.len() - 1]));
    }
    starts
}

/// The first entity of each part and the number of all, `[parts + 1]`: parts of whole chunks of consecutive entities, as equal as these
/// allow; of equally many entities where there are fewer chunks than parts.
pub fn range_starts(cells: usize, parts: usize, chunk: usize) -> Vec<usize> {
    let chunks = cells.div_ceil(chunk);
    let of_chunks = |part: usize| (part * chunks / parts * chunk).min(cells);
    let of_cells = |part: usize| part * cells / parts;
    let is_large = chunks >= parts;
    (0..=parts).map(|part| if is_large { of_chunks(part) } else { of_cells(part) }).collect()
}

/// The part that owns each entity.
struct Owners<'m> {
    mesh: &'m Mesh,
    cell: Vec<u32>,
    /// Computed when it is first asked for.
    node: OnceLock<Vec<u32>>,
}

impl<'m> Owners<'m> {
    fn new(mesh: &'m Mesh, cell: Vec<u32>) -> Owners<'m> {
        Owners { mesh, cell, node: OnceLock::new() }
    }

    fn of_face(&self, face: u32) -> u32 {
        self.cell[self.mesh.face_left[face as usize] as usize]
    }

    /// That of each node.
    fn of_nodes(&self) -> &[u32] {
        self.node.get_or_init(|| {
            let n_parts = self.cell.par_iter().max().map_or(0, |last| last + 1);
            let nodes_of = |part: u32| {
                let cells = self.cell.par_iter().enumerate().filter(|(_, owner)| **owner == part);
                let nodes_of = |(cell, _)| self.mesh.cells.nodes_of(cell).iter().copied();
                EntitySet::of(cells.flat_map_iter(nodes_of))
            };
            let sets: Vec<EntitySet> = (0..n_parts).map(nodes_of).collect();
            let owner = |node| sets.iter().position(|set| set.contains(node));
            let nodes = (0..self.mesh.n_nodes() as u32).into_par_iter();
            nodes.map(|node| owner(node).map_or(NONE, |part| part as u32)).collect()
        })
    }

    fn of(&self, kind: Kind, entity: u32) -> u32 {
        match kind {
            Kind::Cell => self.cell[entity as usize],
            Kind::Face => self.of_face(entity),
            Kind::Node => self.of_nodes()[entity as usize],
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Cell,
    Face,
    Node,
}

fn globals(sub: &SubMesh, kind: Kind) -> &[u32] {
    match kind {
        Kind::Cell => &sub.global_cell,
        Kind::Face => &sub.global_face,
        Kind::Node => &sub.global_node,
    }
}

fn exchange(sub: &mut SubMesh, kind: Kind) -> &mut Exchange {
    match kind {
        Kind::Cell => &mut sub.cells,
        Kind::Face => &mut sub.faces,
        Kind::Node => &mut sub.nodes,
    }
}

/// (owner, global number, local number) of the entities a part does not own, sorted.
fn ghosts(sub: &SubMesh, kind: Kind, owners: &Owners<'_>) -> Vec<(u32, u32, u32)> {
    let all = globals(sub, kind).iter().enumerate();
    let mut list: Vec<(u32, u32, u32)> = all
        .map(|(local, &global)| (owners.of(kind, global), global, local as u32))
        .filter(|&(owner, ..)| owner != sub.part)
        .collect();
    list.sort_unstable();
    list
}

/// Enters the ghosts of `part` in its own lists and in those of their owners.
fn connect(subs: &mut [SubMesh], part: usize, kind: Kind, ghosts: &[(u32, u32, u32)]) {
    for group in ghosts.chunk_by(|a, b| a.0 == b.0) {
        let owner = group[0].0;
        let local = LocalNumbers::of_list(globals(&subs[owner as usize], kind));
        let send: Vec<u32> = group.iter().map(|&(_, global, _)| local.of(global)).collect();
        let receive = group.iter().map(|&(_, _, local)| local).collect();
        entry(exchange(&mut subs[part], kind), owner).receive = receive;
        entry(exchange(&mut subs[owner as usize], kind), part as u32).send = send;
    }
}

/// The entry of a neighbouring part, inserted where it is missing.
fn entry(exchange: &mut Exchange, part: u32) -> &mut Neighbour {
    let place = exchange.partition_point(|neighbour| neighbour.part < part);
    if exchange.get(place).is_none_or(|neighbour| neighbour.part != part) {
        exchange.insert(place, Neighbour { part, ..Neighbour::default() });
    }
    &mut exchange[place]
}

fn sorted_unique(list: impl ParallelIterator<Item = u32>) -> Vec<u32> {
    EntitySet::of(list).to_vec()
}

/// Owned entities, then ghosts, each in ascending global number.
fn owned_first(
    list: impl ParallelIterator<Item = u32>,
    owned: impl Fn(u32) -> bool + Sync,
) -> (Vec<u32>, EntityCount) {
    let (mut first, second): (Vec<u32>, Vec<u32>) =
        sorted_unique(list).into_par_iter().partition(|&entity| owned(entity));
    let count = EntityCount { owned: first.len(), ghost: second.len() };
    first.extend(second);
    (first, count)
}

/// Local numbers of the entities of a part.
struct LocalNumbers {
    /// Ascending runs of global numbers, as of owned entities and of ghosts, with the first local number of each.
    runs: Vec<(u32, EntitySet)>,
}

impl LocalNumbers {
    /// Of a list of global numbers by local ones.
    fn of_list(globals: &[u32]) -> LocalNumbers {
        let mut first = 0;
        let run = |numbers: &[u32]| {
            let begin = first;
            first += numbers.len() as u32;
            (begin, EntitySet::of(numbers.par_iter().copied()))
        };
        LocalNumbers { runs: globals.chunk_by(|a, b| a < b).map(run).collect() }
    }

    /// The local number of an entity of the whole mesh; [`NONE`] where the part does not have it.
    fn of(&self, global: u32) -> u32 {
        let place = |(first, set): &(u32, EntitySet)| Some(first + set.place(global)?);
        self.runs.iter().find_map(place).unwrap_or(NONE)
    }
}

/// A part with all faces of its cells and of the ghosts `layer`.
fn extract(
    owners: &Owners<'_>,
    part: u32,
    [layer, further]: [&[u32]; 2],
    has_nodes: bool,
) -> SubMesh {
    let mesh = owners.mesh;
    let interior = mesh.n_interior_faces();
    let all = (0..mesh.n_cells() as u32).into_par_iter();
    let own: Vec<u32> = all.filter(|&cell| owners.cell[cell as usize] == part).collect();
    let with_faces = own.par_iter().chain(layer);
    let items = with_faces.flat_map_iter(|&cell| mesh.cell_to_faces.of(cell as usize));
    let faces = sorted_unique(items.map(|&item| item & !SIGN_BIT));
    let (inner, outer) = faces.split_at(faces.partition_point(|&face| (face as usize) < interior));
    let sides = |&face: &u32| [mesh.face_left[face as usize], mesh.face_right[face as usize]];
    let cells = own.par_iter().chain(further).copied().chain(inner.par_iter().flat_map_iter(sides));
    let (global_cell, cell_count) = owned_first(cells, |cell| owners.cell[cell as usize] == part);
    let (mut global_face, inner_count) =
        owned_first(inner.par_iter().copied(), |face| owners.of_face(face) == part);
    global_face.extend_from_slice(outer);
    let corners = |&cell: &u32| mesh.cells.nodes_of(cell as usize).iter().copied();
    let nodes = || {
        let of_nodes = owners.of_nodes();
        let corners = global_cell.par_iter().flat_map_iter(corners);
        owned_first(corners, |node| of_nodes[node as usize] == part)
    };
    let (global_node, node_count) = has_nodes.then(nodes).unwrap_or_default();
    let counts = [
        cell_count,
        EntityCount { owned: global_face.len() - inner_count.ghost, ghost: inner_count.ghost },
        node_count,
    ];
    let maps =
        Maps { global_cell: &global_cell, global_face: &global_face, global_node: &global_node };
    let part_mesh = maps.restricted(mesh, inner_count.total(), counts);
    SubMesh { part, mesh: part_mesh, global_cell, global_face, global_node, ..SubMesh::default() }
}

/// Local → global numbers of a part.
struct Maps<'a> {
    global_cell: &'a [u32],
    global_face: &'a [u32],
    global_node: &'a [u32],
}

impl Maps<'_> {
    fn restricted(&self, mesh: &Mesh, interior: usize, counts: [EntityCount; 3]) -> Mesh {
        let [cell, face, node] =
            [self.global_cell, self.global_face, self.global_node].map(LocalNumbers::of_list);
        let nodes_of = |list: &[u32], offsets: &[u32], globals: &[u32]| {
            let of = |new: usize| {
                let old = globals[new] as usize;
                &list[offsets[old] as usize..offsets[old + 1] as usize]
            };
            if self.global_node.is_empty() {
                return (vec![0; globals.len() + 1], vec![]);
            }
            let offsets = offsets_of(globals.len(), |new| of(new).len());
            let mut items = vec![0; offsets[globals.len()] as usize];
            fill_rows(&offsets, &mut items, |new, row| {
                row.iter_mut().zip(of(new)).for_each(|(item, old)| *item = node.of(*old));
            });
            (offsets, items)
        };
        let (offsets, nodes) = nodes_of(&mesh.cells.nodes, &mesh.cells.offsets, self.global_cell);
        let shapes = self.global_cell.par_iter().map(|&old| mesh.cells.shapes[old as usize]);
        let groups = gather(&mesh.cells.groups, self.global_cell);
        let cells = Elements { shapes: shapes.collect(), offsets, nodes, groups };
        let of_faces = &mesh.face_to_nodes;
        let (offsets, items) = nodes_of(&of_faces.items, &of_faces.offsets, self.global_face);
        let face_to_nodes = Adjacency { offsets, items };
        // In the order of the whole mesh, which is not that of local numbers.
        let faces_of = |new: usize| {
            let faces = mesh.cell_to_faces.of(self.global_cell[new] as usize).iter();
            let local = faces.map(|&item| (face.of(item & !SIGN_BIT), item & SIGN_BIT));
            local.filter(|&(face, _)| face != NONE).map(|(face, sign)| face | sign)
        };
        let offsets = offsets_of(self.global_cell.len(), |new| faces_of(new).count());
        let mut items = vec![0; offsets[self.global_cell.len()] as usize];
        fill_rows(&offsets, &mut items, |new, row| {
            row.iter_mut().zip(faces_of(new)).for_each(|(item, face)| *item = face);
        });
        let cell_to_faces = Adjacency { offsets, items };
        let side = |list: &[u32], faces: &[u32]| {
            faces.par_iter().map(|&old| cell.of(list[old as usize])).collect()
        };
        let boundary = &self.global_face[interior..];
        let first_of =
            |global: usize| interior + boundary.partition_point(|&old| (old as usize) < global);
        let patch = |patch: &Patch| Patch {
            name: patch.name.clone(),
            faces: first_of(patch.faces.start)..first_of(patch.faces.end),
        };
        let [cell_count, face_count, node_count] = counts;
        Mesh {
            dimension: mesh.dimension,
            points: self.global_node.par_iter().map(|&old| mesh.points[old as usize]).collect(),
            cells,
            face_to_nodes,
            face_left: side(&mesh.face_left, self.global_face),
            face_right: side(&mesh.face_right, &self.global_face[..interior]),
            cell_to_faces,
            patches: mesh.patches.iter().map(patch).collect(),
            periodic_pairs: PeriodicPairs::new(
                mesh.periodic_pairs
                    .iter()
                    .map(|pair| restricted_pair(pair, &face, &node))
                    .collect(),
                self.global_face.len(),
            ),
            regions: mesh.regions.clone(),
            original_cell: gather(&mesh.original_cell, self.global_cell),
            original_node: gather(&mesh.original_node, self.global_node),
            orphan_nodes: Vec::new(),
            cell_count,
            face_count,
            node_count,
            part_starts: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// The values of a list of the whole mesh at the entities of a part.
fn gather(list: &[u32], globals: &[u32]) -> Vec<u32> {
    globals.par_iter().map(|&global| list[global as usize]).collect()
}

/// A periodic pair, restricted to the faces and nodes of a part.
fn restricted_pair(pair: &PeriodicPair, face: &LocalNumbers, node: &LocalNumbers) -> PeriodicPair {
    let local = pair.faces.iter().map(|&item| (face.of(item & !SIGN_BIT), item & SIGN_BIT));
    let present = local.filter(|&(face, _)| face != NONE);
    let mut faces: Vec<u32> = present.map(|(face, sign)| face | sign).collect();
    faces.sort_unstable_by_key(|&item| index_of(item));
    let pairs = pair.nodes.iter().map(|pair| pair.map(|corner| node.of(corner)));
    let mut nodes: Vec<[u32; 2]> = pairs.filter(|pair| !pair.contains(&NONE)).collect();
    nodes.sort_unstable();
    PeriodicPair { patches: pair.patches.clone(), translation: pair.translation, faces, nodes }
}
