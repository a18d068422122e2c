//! Collapse of an edge: one of its vertices is removed, the cells around it are joined to the other.

use crate::change::{Change, VertexChange, replaced};
use crate::complex::{Complex, NONE};
use crate::energy;
use crate::mesh::AdaptiveMesh;
use crate::node_set::NodeSet;
use crate::vector::{Point, add_scaled, cross, dot, norm, subtract};
use crate::vertex_kind::VertexKind;

/// When a collapse is accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CollapseRule {
    /// Edges shorter than this are collapsed.
    pub(crate) shortest: f64,
    /// Longest edge behind the collapse.
    pub(crate) longest: f64,
    /// The lowest quality behind the collapse, as a share of that before it.
    pub(crate) quality_share: f64,
    /// Every quality above this is accepted.
    pub(crate) quality: f64,
    /// Largest distance of the vertex removed from the faces and ridges that replace its own.
    pub(crate) surface_tolerance: f64,
}

/// The collapse of the edge ab where it is shorter than the rule has it, by the removal of the vertex that leaves the better cells.
pub(crate) fn collapse_short(
    mesh: &AdaptiveMesh<'_>,
    [a, b]: [u32; 2],
    rule: &CollapseRule,
) -> Option<Change> {
    if mesh.length(a, b) >= rule.shortest {
        return None;
    }
    let removal = |vertex: u32, target: u32| {
        let before = mesh.highest_distortion(mesh.cells.around(vertex));
        let highest = 1.0 / rule.quality.min(rule.quality_share / before);
        let trial =
            Collapse::new(mesh, vertex, target, rule.longest, |distortion| distortion <= highest)?;
        trial.change(mesh, rule.surface_tolerance)
    };
    match (removal(a, b), removal(b, a)) {
        (Some(first), Some(second)) if second.quality > first.quality => Some(second),
        (first, second) => first.or(second),
    }
}

/// The collapse of the edge ab where it lowers the energy most.
pub(crate) fn collapse_for_energy(
    mesh: &AdaptiveMesh<'_>,
    [a, b]: [u32; 2],
    surface_tolerance: f64,
) -> Option<Change> {
    let removal = |vertex: u32, target: u32| {
        // The decrease if all cells that arise were equilateral and all edges of the length 1.
        let mut decrease = -mesh.least_gain.energy;
        for &cell in mesh.cells.around(vertex) {
            decrease += mesh.cell_penalty.of_cell(mesh.distortions[cell as usize]);
            if !mesh.cells.padded(cell).contains(&target) {
                decrease -= energy::LEAST_OF_CELL;
            }
        }
        let edges_of_vertex = || {
            let mut list = vec![];
            mesh.neighbours(vertex, &mut list);
            let of = |&node: &u32| mesh.lengths.of_edge(mesh.length(vertex, node));
            list.iter().map(of).fold(0.0, |sum, energy| sum + energy)
        };
        // Most removals fail by their cells alone, before the edges are listed.
        let mut has_edges = false;
        let mut add_edges = |decrease: &mut f64| {
            if !has_edges {
                has_edges = true;
                *decrease += edges_of_vertex();
            }
        };
        let trial = Collapse::new(mesh, vertex, target, energy::LONGEST, |distortion| {
            decrease -= mesh.cell_penalty.of_cell(distortion) - energy::LEAST_OF_CELL;
            if decrease <= 0.0 {
                add_edges(&mut decrease);
            }
            decrease > 0.0
        })?;
        add_edges(&mut decrease);
        trial.lengths.iter().for_each(|&length| decrease -= mesh.lengths.of_edge(length));
        (decrease > 0.0)
            .then(|| trial.change(mesh, surface_tolerance))
            .flatten()
            .map(|change| (decrease, change))
    };
    match (removal(a, b), removal(b, a)) {
        (Some(first), Some(second)) if second.0 > first.0 => Some(second.1),
        (first, second) => first.or(second).map(|(_, change)| change),
    }
}

/// The removal of `vertex`, whose cells take `target` in its place, before it is accepted.
struct Collapse {
    vertex: u32,
    target: u32,
    cavity: Vec<u32>,
    cells: Vec<([u32; 4], u32)>,
    /// Lengths of the edges that arise.
    lengths: Vec<f64>,
    /// Lowest quality of the cells that arise.
    lowest: f64,
}

impl Collapse {
    /// `None` where the kind of the vertex forbids it, a cell is not positively oriented or its distortion not accepted, or an edge
    /// longer than `longest`.
    fn new(
        mesh: &AdaptiveMesh<'_>,
        vertex: u32,
        target: u32,
        longest: f64,
        mut accept: impl FnMut(f64) -> bool,
    ) -> Option<Self> {
        if !is_along(mesh, vertex, target) {
            return None;
        }
        let cavity = mesh.cells.around(vertex);
        let mut cells = Vec::with_capacity(cavity.len());
        let mut highest = 0.0_f64;
        for &cell in cavity {
            let nodes = mesh.cells.padded(cell);
            if nodes.contains(&target) {
                continue;
            }
            let joined = replaced(nodes, vertex, target);
            let distortion = mesh.distortion(joined);
            if distortion == f64::INFINITY || !accept(distortion) {
                return None;
            }
            highest = highest.max(distortion);
            cells.push((joined, mesh.cells.tag(cell)));
        }
        if cells.is_empty() || cells.len() == cavity.len() {
            return None;
        }
        // The nodes of the cells with both vertices are neighbours of `target` already, those of the others are to be.
        let mut neighbours = NodeSet::new();
        neighbours.insert(vertex);
        let of = |&cell: &u32| mesh.cells.padded(cell);
        for nodes in cavity.iter().map(of).filter(|nodes| nodes.contains(&target)) {
            nodes[..mesh.dimension + 1].iter().for_each(|&node| _ = neighbours.insert(node));
        }
        let mut lengths = Vec::with_capacity(cells.len());
        for (nodes, _) in &cells {
            for &node in nodes[..mesh.dimension + 1].iter().filter(|&&n| neighbours.insert(n)) {
                lengths.push(mesh.length(target, node));
            }
        }
        let is_short = lengths.iter().all(|&length| length <= longest);
        let cavity = cavity.to_vec();
        is_short.then_some(Collapse {
            vertex,
            target,
            cavity,
            cells,
            lengths,
            lowest: 1.0 / highest,
        })
    }

    /// The change; `None` where the surface would turn or move by more than the tolerance.
    fn change(self, mesh: &AdaptiveMesh<'_>, surface_tolerance: f64) -> Option<Change> {
        let Collapse { vertex, target, cavity, cells, lowest, .. } = self;
        let mut change =
            Change { cells, ..Change::new(cavity, lowest, VertexChange::Remove(vertex)) };
        if mesh.kinds[vertex as usize] != VertexKind::Interior {
            let of =
                |complex, kind| joined(mesh, complex, kind, [vertex, target], surface_tolerance);
            (change.old_faces, change.faces) = of(&mesh.faces, VertexKind::Surface)?;
            (change.old_ridges, change.ridges) = of(&mesh.ridges, VertexKind::Ridge)?;
        }
        Some(change)
    }
}

/// Whether the kind of the vertex allows that it is joined to `target`.
fn is_along(mesh: &AdaptiveMesh<'_>, vertex: u32, target: u32) -> bool {
    match mesh.kinds[vertex as usize] {
        VertexKind::Corner => false,
        VertexKind::Ridge => mesh.is_ridge(vertex, target),
        VertexKind::Surface => mesh.faces.around_edge(vertex, target).count() == mesh.dimension - 1,
        VertexKind::Interior => true,
    }
}

/// Numbers of simplices removed, and the simplices inserted with their tags.
type Replacement = (Vec<u32>, Vec<([u32; 4], u32)>);

/// The faces or ridges around `vertex`, whose `kind` is given, joined to `target`; `None` where one turns over, or lies farther from the
/// surface than `tolerance` and than those before.
fn joined(
    mesh: &AdaptiveMesh<'_>,
    complex: &Complex,
    kind: VertexKind,
    [vertex, target]: [u32; 2],
    tolerance: f64,
) -> Option<Replacement> {
    let (mut old, mut new) = (vec![], vec![]);
    if !complex.touches(vertex) {
        return Some((old, new));
    }
    let deviation = |element: u32, nodes: [u32; 4]| {
        let count = nodes.iter().filter(|&&node| node != NONE).count();
        let mut centre = [0.0; 3];
        for &node in &nodes[..count] {
            centre = add_scaled(centre, 1.0 / count as f64, mesh.point(node));
        }
        let place = mesh.on_surface(kind, complex.tag(element), centre);
        norm(subtract(place, centre))
    };
    let before =
        complex.around(vertex).iter().map(|&element| deviation(element, complex.padded(element)));
    let limit = before.fold(tolerance, f64::max);
    for &element in complex.around(vertex) {
        old.push(element);
        let nodes = complex.padded(element);
        if nodes.contains(&target) {
            continue;
        }
        let moved = replaced(nodes, vertex, target);
        let (before, after) = (direction(mesh, nodes), direction(mesh, moved));
        // Half of the angle of a ridge at most.
        if dot(before, after) < 0.94 * norm(before) * norm(after) {
            return None;
        }
        let away = subtract(mesh.point(vertex), mesh.point(target));
        let distance = if nodes[2] == NONE {
            norm(cross(after, away)) / norm(after)
        } else {
            dot(after, away).abs() / norm(after)
        };
        if distance > limit || deviation(element, moved) > limit {
            return None;
        }
        new.push((moved, complex.tag(element)));
    }
    Some((old, new))
}

/// Normal of a triangle, direction of an edge.
fn direction(mesh: &AdaptiveMesh<'_>, nodes: [u32; 4]) -> Point {
    let [p, q] = [nodes[0], nodes[1]].map(|node| mesh.point(node));
    if nodes[2] == NONE {
        return subtract(q, p);
    }
    cross(subtract(q, p), subtract(mesh.point(nodes[2]), p))
}
