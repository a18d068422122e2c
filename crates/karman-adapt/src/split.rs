//! Split of an edge: a vertex in its middle, two simplices for each one around it.

use crate::change::{Change, VertexChange, replaced};
use crate::complex::Complex;
use crate::energy;
use crate::mesh::{AdaptiveMesh, NEW};
use crate::quality::{Vertex, edge_length, middle};
use crate::vector::between;
use crate::vertex_kind::VertexKind;

/// When a split is accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitRule {
    /// Edges longer than this are split.
    pub(crate) longest: f64,
    /// The lowest quality behind the split, as a share of that before it.
    pub(crate) quality_share: f64,
    /// Every quality above this is accepted.
    pub(crate) quality: f64,
    /// Shortest length of the new edges to the vertices around, for an edge of at most twice `longest`.
    pub(crate) shortest: f64,
}

/// The lowest quality behind the split of an edge longer than twice `longest`, as a share of that before it.
const LONG_EDGE_SHARE: f64 = 1e-4;

/// The split of the edge ab where it is longer than the rule has it.
pub(crate) fn split_long(
    mesh: &AdaptiveMesh<'_>,
    [a, b]: [u32; 2],
    rule: &SplitRule,
) -> Option<Change> {
    let length = mesh.length(a, b);
    if length <= rule.longest {
        return None;
    }
    let is_moderate = length <= 2.0 * rule.longest;
    let share = if is_moderate { rule.quality_share } else { LONG_EDGE_SHARE };
    first_accepted(mesh, [a, b], |trial| {
        let before = mesh.highest_distortion(&trial.cavity);
        let least = rule.quality.min(share / before);
        let lowest = 1.0 / trial.distortions(mesh).fold(0.0, f64::max);
        let is_close = |node: &u32| trial.length_to(mesh, *node) < rule.shortest;
        let is_refused = lowest <= 0.0
            || lowest < least
            || (is_moderate && trial.ring(mesh).iter().any(is_close));
        (!is_refused).then_some(lowest)
    })
}

/// The split of the edge ab where it lowers the energy.
pub(crate) fn split_for_energy(mesh: &AdaptiveMesh<'_>, [a, b]: [u32; 2]) -> Option<Change> {
    let mut before = mesh.lengths.of_edge(mesh.length(a, b)) - mesh.least_gain.energy;
    for cell in mesh.cells.around_edge(a, b) {
        // Two cells arise of each.
        before += mesh.cell_penalty.of_cell(mesh.distortions[cell as usize])
            - 2.0 * energy::LEAST_OF_CELL;
    }
    if before <= 0.0 {
        return None;
    }
    first_accepted(mesh, [a, b], |trial| {
        let mut decrease = before + 2.0 * energy::LEAST_OF_CELL * trial.cavity.len() as f64;
        for node in trial.ring(mesh).into_iter().chain([a, b]) {
            decrease -= mesh.lengths.of_edge(trial.length_to(mesh, node));
        }
        if decrease <= 0.0 {
            return None;
        }
        let mut highest = 0.0_f64;
        for distortion in trial.distortions(mesh) {
            decrease -= mesh.cell_penalty.of_cell(distortion);
            highest = highest.max(distortion);
            if decrease <= 0.0 {
                return None;
            }
        }
        Some(1.0 / highest)
    })
}

/// The split with its vertex on the surface, or else on the edge, whichever `accept` takes first; `accept` gives the lowest quality.
fn first_accepted(
    mesh: &AdaptiveMesh<'_>,
    [a, b]: [u32; 2],
    accept: impl Fn(&Split) -> Option<f64>,
) -> Option<Change> {
    let trial = Split::new(mesh, a, b, true)?;
    if let Some(lowest) = accept(&trial) {
        return Some(trial.change(mesh, lowest));
    }
    if !trial.is_moved {
        return None;
    }
    let trial = Split::new(mesh, a, b, false)?;
    accept(&trial).map(|lowest| trial.change(mesh, lowest))
}

/// The split of an edge before it is accepted.
struct Split {
    a: u32,
    b: u32,
    vertex: Vertex,
    hint: u32,
    kind: VertexKind,
    /// Whether the surface moved the vertex off the edge.
    is_moved: bool,
    cavity: Vec<u32>,
    old_faces: Vec<u32>,
    old_ridges: Vec<u32>,
}

impl Split {
    fn new(mesh: &AdaptiveMesh<'_>, a: u32, b: u32, on_surface: bool) -> Option<Self> {
        if mesh.kept.is_fixed_edge(a, b) {
            return None;
        }
        let on_edge = |complex: &Complex| -> Vec<u32> {
            match complex.touches(a) && complex.touches(b) {
                true => complex.around_edge(a, b).collect(),
                false => vec![],
            }
        };
        let cavity: Vec<u32> = mesh.cells.around_edge(a, b).collect();
        if cavity.is_empty() {
            return None;
        }
        let (old_faces, old_ridges) = (on_edge(&mesh.faces), on_edge(&mesh.ridges));
        let kind = match (old_ridges.is_empty(), old_faces.is_empty()) {
            (false, _) => VertexKind::Ridge,
            (true, false) => VertexKind::Surface,
            (true, true) => VertexKind::Interior,
        };
        let [from, to] = [a, b].map(|vertex| &mesh.vertices[vertex as usize]);
        let middle = between(from.point, to.point, middle(from, to));
        let tag = old_faces.first().map_or(0, |&face| mesh.faces.tag(face));
        let point = if on_surface { mesh.on_surface(kind, tag, middle) } else { middle };
        let (vertex, hint) = mesh.vertex_at(point, mesh.hints[a as usize])?;
        Some(Split {
            a,
            b,
            vertex,
            hint,
            kind,
            is_moved: point != middle,
            cavity,
            old_faces,
            old_ridges,
        })
    }

    fn length_to(&self, mesh: &AdaptiveMesh<'_>, node: u32) -> f64 {
        edge_length(&self.vertex, &mesh.vertices[node as usize])
    }

    /// Vertices around the edge, each once.
    fn ring(&self, mesh: &AdaptiveMesh<'_>) -> Vec<u32> {
        let nodes = self.cavity.iter().flat_map(|&cell| mesh.cells.nodes_of(cell));
        let mut ring: Vec<u32> =
            nodes.copied().filter(|&node| node != self.a && node != self.b).collect();
        ring.sort_unstable();
        ring.dedup();
        ring
    }

    /// Distortions of the cells behind the split.
    fn distortions(&self, mesh: &AdaptiveMesh<'_>) -> impl Iterator<Item = f64> {
        let cells = self.cavity.iter().flat_map(|&cell| {
            let nodes = mesh.cells.padded(cell);
            [replaced(nodes, self.a, NEW), replaced(nodes, self.b, NEW)]
        });
        cells.map(|nodes| mesh.distortion_with(nodes, (NEW, &self.vertex)))
    }

    fn change(self, mesh: &AdaptiveMesh<'_>, quality: f64) -> Change {
        let Split { a, b, vertex, hint, kind, cavity, old_faces, old_ridges, .. } = self;
        let halves = |complex: &Complex, elements: &[u32]| {
            let mut new = Vec::with_capacity(2 * elements.len());
            for &element in elements {
                let (nodes, tag) = (complex.padded(element), complex.tag(element));
                new.extend([a, b].map(|end| (replaced(nodes, end, NEW), tag)));
            }
            new
        };
        Change {
            cells: halves(&mesh.cells, &cavity),
            faces: halves(&mesh.faces, &old_faces),
            ridges: halves(&mesh.ridges, &old_ridges),
            old_faces,
            old_ridges,
            ..Change::new(cavity, quality, VertexChange::Add(vertex, hint, kind))
        }
    }
}
