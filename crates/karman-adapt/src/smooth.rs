//! Smoothing: a vertex moves to where its cells are better.

use crate::change::{Change, VertexChange};
use crate::complex::{Complex, NONE};
use crate::energy::{self, CellPenalty};
use crate::mesh::AdaptiveMesh;
use crate::quality::{Vertex, edge_length, ideal_apex};
use crate::vector::{Point, add_scaled, cross, dot, norm, subtract};
use crate::vertex_kind::VertexKind;

/// Shares of the way to the target that are tried.
const STEPS: [f64; 3] = [1.0, 0.5, 0.2];
/// Step of the central differences, as a length in the metric.
const DIFFERENCE: f64 = 0.02;
/// Longest step along an axis of the metric.
const LONGEST_STEP: f64 = 0.2;

/// The quantity that a move must improve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objective {
    /// The energy of cells and edges falls.
    Energy,
    /// Σ 1/Q falls, and neither the lowest quality nor the sum of qualities does.
    Quality,
}

/// The cells and edges around a vertex, as a function of its place.
struct Star<'a> {
    mesh: &'a AdaptiveMesh<'a>,
    objective: Objective,
    vertex: u32,
    cavity: &'a [u32],
    neighbours: Vec<u32>,
}

/// Fit of the cells and edges around a vertex.
#[derive(Clone, Copy)]
struct Fit {
    energy: f64,
    lowest: f64,
    sum: f64,
}

impl Fit {
    const NONE: Fit = Fit { energy: 0.0, lowest: f64::INFINITY, sum: 0.0 };

    fn add_cell(&mut self, penalty: CellPenalty, distortion: f64) {
        self.energy += penalty.of_cell(distortion);
        self.lowest = self.lowest.min(1.0 / distortion);
        self.sum += 1.0 / distortion;
    }
}

impl<'a> Star<'a> {
    fn new(mesh: &'a AdaptiveMesh<'_>, vertex: u32, objective: Objective) -> Self {
        let mut neighbours = vec![];
        if objective == Objective::Energy {
            mesh.neighbours(vertex, &mut neighbours);
        }
        Star { mesh, objective, vertex, cavity: mesh.cells.around(vertex), neighbours }
    }

    /// The fit with the vertex at its place.
    fn present(&self) -> Fit {
        let mut fit = Fit::NONE;
        self.cavity.iter().for_each(|&cell| {
            fit.add_cell(self.mesh.cell_penalty, self.mesh.distortions[cell as usize])
        });
        fit.energy += self.edge_energy(&self.mesh.vertices[self.vertex as usize]);
        fit
    }

    fn edge_energy(&self, place: &Vertex) -> f64 {
        let of = |&node: &u32| {
            self.mesh.lengths.of_edge(edge_length(place, &self.mesh.vertices[node as usize]))
        };
        self.neighbours.iter().map(of).fold(0.0, |sum, energy| sum + energy)
    }

    /// The fit with the vertex at `place`; the energy is at least `bound` where it is not below it.
    fn fit(&self, place: &Vertex, bound: f64) -> Fit {
        let mut fit = Fit::NONE;
        // No cell has less energy than an equilateral one: the bound is passed before the last cell.
        fit.energy = energy::LEAST_OF_CELL * self.cavity.len() as f64;
        for &cell in self.cavity {
            let distortion =
                self.mesh.distortion_with(self.mesh.cells.padded(cell), (self.vertex, place));
            fit.add_cell(self.mesh.cell_penalty, distortion);
            fit.energy -= energy::LEAST_OF_CELL;
            if fit.energy >= bound {
                return fit;
            }
        }
        fit.energy += self.edge_energy(place);
        fit
    }

    /// The first of the places `start` + step × `along`, brought onto the surface, that improves the objective.
    fn descend(self, start: Point, along: Point, before: Fit) -> Option<Change> {
        let kind = self.mesh.kinds[self.vertex as usize];
        let tag = self
            .mesh
            .faces
            .around(self.vertex)
            .first()
            .map_or(0, |&face| self.mesh.faces.tag(face));
        let bound = before.energy * (1.0 - self.mesh.least_gain.share);
        for step in STEPS {
            let point = self.mesh.on_surface(kind, tag, add_scaled(start, step, along));
            let hint = self.mesh.hints[self.vertex as usize];
            let Some((moved, hint)) = self.mesh.vertex_at(point, hint) else { continue };
            let after = self.fit(&moved, bound);
            let keeps_quality = after.lowest >= before.lowest && after.sum >= before.sum;
            if after.energy < bound && (keeps_quality || self.objective == Objective::Energy) {
                let vertex = VertexChange::Move(self.vertex, moved, hint);
                return Some(Change::new(self.cavity.to_vec(), after.lowest, vertex));
            }
        }
        None
    }
}

/// The move of a vertex towards the apexes of the unit equilateral simplices on the opposite facets of its cells, weighted by
/// 1/Q.
pub(crate) fn smooth(mesh: &AdaptiveMesh<'_>, vertex: u32, objective: Objective) -> Option<Change> {
    let kind = mesh.kinds[vertex as usize];
    if kind == VertexKind::Corner || !mesh.cells.touches(vertex) {
        return None;
    }
    let own = &mesh.vertices[vertex as usize];
    let star = Star::new(mesh, vertex, objective);
    let (mut target, mut weights) = ([0.0; 3], 0.0);
    for &cell in star.cavity {
        let nodes = mesh.cells.padded(cell);
        if let Some(apex) = ideal_apex(mesh.dimension, own, facet_of(mesh, nodes, vertex)) {
            let weight = mesh.distortions[cell as usize].min(1e3);
            target = add_scaled(target, weight, apex);
            weights += weight;
        }
    }
    if weights <= 0.0 {
        return None;
    }
    let wish = subtract(target.map(|coordinate| coordinate / weights), own.point);
    let along = allowed(mesh, vertex, kind, wish)?;
    let before = star.present();
    star.descend(own.point, along, before)
}

/// The move of a vertex down the gradient of the energy, which is found by central differences along the axes of its metric and
/// divided by the second derivatives.
pub(crate) fn smooth_by_gradient(
    mesh: &AdaptiveMesh<'_>,
    vertex: u32,
    objective: Objective,
) -> Option<Change> {
    let kind = mesh.kinds[vertex as usize];
    if kind == VertexKind::Corner || !mesh.cells.touches(vertex) {
        return None;
    }
    let own = &mesh.vertices[vertex as usize];
    let star = Star::new(mesh, vertex, objective);
    let before = star.present();
    let eigen = own.metric.eigen();
    let mut wish = [0.0; 3];
    for (value, axis) in eigen.values.into_iter().zip(eigen.vectors) {
        if mesh.dimension == 2 && axis[2].abs() > 0.5 {
            continue;
        }
        let unit = axis.map(|coordinate| coordinate / value.sqrt());
        let unit = allowed(mesh, vertex, kind, unit)?;
        let at = |step: f64| {
            let place =
                mesh.vertex_at(add_scaled(own.point, step, unit), mesh.hints[vertex as usize]);
            place.map_or(f64::INFINITY, |(place, _)| star.fit(&place, f64::INFINITY).energy)
        };
        let (behind, ahead) = (at(-DIFFERENCE), at(DIFFERENCE));
        let step = if ahead.is_finite() && behind.is_finite() {
            let slope = (ahead - behind) / (2.0 * DIFFERENCE);
            let curvature = (ahead - 2.0 * before.energy + behind) / (DIFFERENCE * DIFFERENCE);
            let newton =
                if curvature > 0.0 { -slope / curvature } else { -slope.signum() * LONGEST_STEP };
            newton.clamp(-LONGEST_STEP, LONGEST_STEP)
        } else if behind < ahead {
            -DIFFERENCE
        } else {
            0.0
        };
        wish = add_scaled(wish, step, unit);
    }
    star.descend(own.point, wish, before)
}

/// The facet of a positive cell opposite to `vertex`, with the vertex on its positive side.
pub(crate) fn facet_of(mesh: &AdaptiveMesh<'_>, nodes: [u32; 4], vertex: u32) -> [Point; 3] {
    facet_nodes(nodes, vertex).map(|node| mesh.point(node))
}

/// The nodes of [`facet_of`]; in 2D the first of the two is there twice.
pub(crate) fn facet_nodes(nodes: [u32; 4], vertex: u32) -> [u32; 3] {
    let at = nodes.iter().position(|&node| node == vertex).unwrap_or(0);
    // With the apex last, an even permutation; in 2D the side before the third corner.
    let order = if nodes[3] == NONE {
        [[1, 2, 1], [2, 0, 2], [0, 1, 0], [0, 1, 0]][at]
    } else {
        [[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]][at]
    };
    order.map(|corner| nodes[corner])
}

/// The part of a displacement along the surface or ridge of a vertex; all of it in the interior.
fn allowed(mesh: &AdaptiveMesh<'_>, vertex: u32, kind: VertexKind, wish: Point) -> Option<Point> {
    if kind == VertexKind::Interior { Some(wish) } else { tangential(mesh, vertex, kind, wish) }
}

/// As [`allowed`], of a vertex of a surface or ridge: along its line, or in its plane.
fn tangential(
    mesh: &AdaptiveMesh<'_>,
    vertex: u32,
    kind: VertexKind,
    wish: Point,
) -> Option<Point> {
    let direction = line_or_normal(mesh, vertex, kind)?.direction;
    let square = dot(direction, direction);
    if square <= 0.0 {
        return None;
    }
    let share = dot(wish, direction) / square;
    if mesh.is_line(kind) {
        return Some(direction.map(|coordinate| coordinate * share));
    }
    Some(add_scaled(wish, -share, direction))
}

/// The direction of the line, or the normal of the surface, on which a vertex lies.
pub(crate) struct LineOrNormal {
    /// Of any length.
    pub(crate) direction: Point,
    /// Whether the line is straight, or the surface plane, around the vertex.
    pub(crate) is_straight: bool,
}

/// The line through the two neighbours of a vertex of a line, or the sum of the normals around a vertex of a surface. In a plane or
/// on a straight line the first face or edge gives the direction, so that rounding does not accumulate.
pub(crate) fn line_or_normal(
    mesh: &AdaptiveMesh<'_>,
    vertex: u32,
    kind: VertexKind,
) -> Option<LineOrNormal> {
    let is_line = mesh.is_line(kind);
    let complex: &Complex = if kind == VertexKind::Ridge { &mesh.ridges } else { &mesh.faces };
    let (mut first, mut sum, mut is_straight) = (None, [0.0; 3], true);
    for &element in complex.around(vertex) {
        let nodes = complex.padded(element);
        let edge = subtract(mesh.point(nodes[1]), mesh.point(nodes[0]));
        let own = match is_line {
            // Towards one neighbour and away from the other.
            true if first.is_some_and(|first| dot(first, edge) < 0.0) => {
                edge.map(|coordinate| -coordinate)
            }
            true => edge,
            false => cross(edge, subtract(mesh.point(nodes[2]), mesh.point(nodes[0]))),
        };
        let reference = *first.get_or_insert(own);
        is_straight &= norm(cross(reference, own)) <= 1e-9 * norm(reference) * norm(own);
        sum = add_scaled(sum, 1.0, own);
    }
    Some(LineOrNormal { direction: if is_straight { first? } else { sum }, is_straight })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::AnalyticMetric;
    use crate::metric::Metric;
    use crate::quality::oriented_measure;
    use karman_mesh::testing::gmsh;
    use karman_mesh::{Mesh, MeshOptions};

    #[test]
    fn facets_have_their_vertex_on_the_positive_side() {
        let field = AnalyticMetric(|_| Metric::IDENTITY);
        for name in ["pipe_coarse", "triangles_coarse"] {
            let mesh = Mesh::new(gmsh(name), &MeshOptions::default()).unwrap();
            let adaptive = AdaptiveMesh::new(&mesh, &field, 40.0).unwrap();
            for cell in adaptive.cells.elements() {
                let nodes = adaptive.cells.padded(cell);
                for &vertex in adaptive.cells.nodes_of(cell) {
                    let [a, b, c] = facet_of(&adaptive, nodes, vertex);
                    let apex = adaptive.point(vertex);
                    let points =
                        if mesh.dimension == 2 { [a, b, apex, apex] } else { [a, b, c, apex] };
                    assert!(oriented_measure(mesh.dimension, &points) > 0.0);
                }
            }
        }
    }
}
