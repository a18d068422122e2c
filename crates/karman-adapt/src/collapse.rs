//! Collapse of an edge: one of its vertices is removed, the cells around it are joined to the other.

use crate::change::{Change, VertexChange, replaced};
use crate::complex::{Complex, NONE};
use crate::energy;
use crate::mesh::AdaptiveMesh;
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
        let trial = Collapse::new(mesh, vertex, target, rule.longest, f64::INFINITY)?;
        let before = mesh.highest_distortion(&trial.cavity);
        let least = rule.quality.min(rule.quality_share / before);
        if trial.lowest < least {
            return None;
        }
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
        if !is_along(mesh, vertex, target) {
            return None;
        }
        let mut decrease = -energy::LEAST_DECREASE;
        for &cell in mesh.cells.around(vertex) {
            decrease += energy::of_cell(mesh.distortions[cell as usize]);
        }
        let mut list = vec![];
        mesh.neighbours(vertex, &mut list);
        list.iter().for_each(|&node| decrease += mesh.lengths.of_edge(mesh.length(vertex, node)));
        let trial = Collapse::new(mesh, vertex, target, energy::LONGEST, decrease)?;
        trial.lengths.iter().for_each(|&length| decrease -= mesh.lengths.of_edge(length));
        decrease -= trial.energy;
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
    /// Lowest quality of the cells that arise, and their energy.
    lowest: f64,
    energy: f64,
}

impl Collapse {
    /// `None` where the kind of the vertex forbids it, a cell is not positively oriented, an edge longer than `longest` or the energy of
    /// the cells not below `budget`.
    fn new(
        mesh: &AdaptiveMesh<'_>,
        vertex: u32,
        target: u32,
        longest: f64,
        budget: f64,
    ) -> Option<Self> {
        if !is_along(mesh, vertex, target) {
            return None;
        }
        let cavity = mesh.cells.around(vertex).to_vec();
        // The nodes of the cells with both vertices, those of the others.
        let (mut shared, mut arising) = (vec![], vec![]);
        let mut remaining = 0.0;
        for contains_target in [true, false] {
            for &cell in &cavity {
                let nodes = mesh.cells.padded(cell);
                if nodes.contains(&target) != contains_target {
                    continue;
                }
                remaining += f64::from(u8::from(!contains_target));
                for &node in &nodes[..mesh.dimension + 1] {
                    if node != vertex && !shared.contains(&node) && !arising.contains(&node) {
                        let list = if contains_target { &mut shared } else { &mut arising };
                        list.push(node);
                    }
                }
            }
        }
        if shared.is_empty() || remaining == 0.0 {
            return None;
        }
        let mut lengths = Vec::with_capacity(arising.len());
        for node in arising {
            let length = mesh.length(target, node);
            if length > longest {
                return None;
            }
            lengths.push(length);
        }
        let mut cells = Vec::with_capacity(cavity.len());
        let (mut lowest, mut total) = (f64::INFINITY, 0.0);
        for &cell in &cavity {
            let nodes = mesh.cells.padded(cell);
            if nodes.contains(&target) {
                continue;
            }
            let joined = replaced(nodes, vertex, target);
            let distortion = mesh.distortion(joined);
            if distortion == f64::INFINITY {
                return None;
            }
            lowest = lowest.min(1.0 / distortion);
            total += energy::of_cell(distortion);
            remaining -= 1.0;
            if total + remaining * energy::LEAST_OF_CELL >= budget {
                return None;
            }
            cells.push((joined, mesh.cells.tag(cell)));
        }
        Some(Collapse { vertex, target, cavity, cells, lengths, lowest, energy: total })
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
