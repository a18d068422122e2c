//! The surface of a mesh: normals at the corners of its faces and tangents at the ends of its ridges.
//!
//! A normal is the mean over the faces around a vertex that no ridge separates, with the weights of Max (*Journal of Graphics Tools*
//! 4, 1999), which are exact on spheres.

use crate::complex::{Complex, NONE};
use crate::mesh::AdaptiveMesh;
use crate::surface::{Patch, Surface};
use crate::vector::{Point, add_scaled, cross, dot, norm, subtract};
use crate::vertex_kind::VertexKind;

/// Sine of the angle between two normals below which a face is flat.
const FLAT: f64 = 1e-7;

/// The surface that the faces and ridges of `mesh` approximate.
pub(crate) fn surface_of(mesh: &AdaptiveMesh<'_>) -> Surface {
    let patch = |complex: &Complex, element: u32, own: Point, directions: [Point; 3], tag: u32| {
        let turned = |&direction: &Point| norm(cross(direction, own)) > FLAT * norm(own);
        let is_flat = !directions.iter().any(turned);
        let corners = corners(complex, element).map(|node| mesh.point(node));
        Patch { corners, directions, tag, is_flat }
    };
    let face = |face: u32| {
        let own = normal(mesh, &mesh.faces, face);
        let directions = corners(&mesh.faces, face).map(|node| vertex_normal(mesh, face, node));
        patch(&mesh.faces, face, own, directions, mesh.faces.tag(face))
    };
    let ridge = |ridge: u32| {
        let nodes = corners(&mesh.ridges, ridge);
        let own = subtract(mesh.point(nodes[1]), mesh.point(nodes[0]));
        patch(&mesh.ridges, ridge, own, nodes.map(|node| tangent(mesh, ridge, node)), 0)
    };
    let faces = mesh.faces.elements().map(face).collect();
    let ridges = mesh.ridges.elements().map(ridge).collect();
    Surface::new(faces, ridges, mesh.dimension == 2)
}

/// Corners of a simplex; of a line its second twice.
fn corners(complex: &Complex, element: u32) -> [u32; 3] {
    let [a, b, c, _] = complex.padded(element);
    [a, b, if c == NONE { b } else { c }]
}

/// Unit normal of a face.
fn normal(mesh: &AdaptiveMesh<'_>, faces: &Complex, face: u32) -> Point {
    let [a, b, c] = corners(faces, face).map(|node| mesh.point(node));
    let along = subtract(b, a);
    let normal =
        if mesh.dimension == 2 { [along[1], -along[0], 0.0] } else { cross(along, subtract(c, a)) };
    unit(normal)
}

fn unit(v: Point) -> Point {
    let length = norm(v);
    if length > 0.0 { v.map(|coordinate| coordinate / length) } else { v }
}

/// Normal at a corner of a face: mean over the faces that a path without ridges joins to it.
fn vertex_normal(mesh: &AdaptiveMesh<'_>, face: u32, vertex: u32) -> Point {
    if mesh.dimension == 2 {
        if mesh.kinds[vertex as usize] != VertexKind::Surface {
            return normal(mesh, &mesh.faces, face);
        }
        let mut sum = [0.0; 3];
        for &other in mesh.faces.around(vertex) {
            let [a, b, _] = corners(&mesh.faces, other).map(|node| mesh.point(node));
            sum = add_scaled(sum, 1.0 / norm(subtract(b, a)), normal(mesh, &mesh.faces, other));
        }
        return unit(sum);
    }
    let mut joined = vec![face];
    let mut at = 0;
    while at < joined.len() {
        let nodes = mesh.faces.nodes_of(joined[at]).to_vec();
        for other in nodes.into_iter().filter(|&node| node != vertex) {
            if !mesh.is_ridge(vertex, other) {
                let next: Vec<u32> = mesh.faces.around_edge(vertex, other).collect();
                joined.extend(
                    next.iter().filter(|face| !joined.contains(face)).copied().collect::<Vec<_>>(),
                );
            }
        }
        at += 1;
    }
    let mut sum = [0.0; 3];
    for &other in &joined {
        let nodes = mesh.faces.nodes_of(other);
        let corner = nodes.iter().position(|&node| node == vertex).unwrap_or(0);
        let [p, q, r] = [0, 1, 2].map(|k| mesh.point(nodes[(corner + k) % 3]));
        let (u, v) = (subtract(q, p), subtract(r, p));
        sum = add_scaled(sum, 1.0 / (dot(u, u) * dot(v, v)), cross(u, v));
    }
    unit(sum)
}

/// Unit tangent at an end of a ridge, in its direction: mean with the other ridge of the vertex, unless it is a corner.
fn tangent(mesh: &AdaptiveMesh<'_>, ridge: u32, vertex: u32) -> Point {
    let along = |ridge: u32| {
        let nodes = mesh.ridges.nodes_of(ridge);
        subtract(mesh.point(nodes[1]), mesh.point(nodes[0]))
    };
    let own = along(ridge);
    let mut sum = own.map(|coordinate| coordinate / dot(own, own));
    if mesh.kinds[vertex as usize] == VertexKind::Ridge {
        for &other in mesh.ridges.around(vertex).iter().filter(|&&other| other != ridge) {
            let next = along(other);
            sum = add_scaled(sum, dot(own, next).signum() / dot(next, next), next);
        }
    }
    unit(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::AnalyticMetric;
    use crate::metric::Metric;
    use karman_mesh::generate::{AnnulusParams, Element};
    use karman_mesh::testing::gmsh;
    use karman_mesh::{Mesh, MeshOptions, RawMesh};

    fn with_surface(
        raw: RawMesh,
        ridge_angle_deg: f64,
        check: impl Fn(&AdaptiveMesh<'_>, &Surface),
    ) {
        let field = AnalyticMetric(|_| Metric::IDENTITY);
        let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
        let adaptive = AdaptiveMesh::new(&mesh, &field, ridge_angle_deg).unwrap();
        let surface = surface_of(&adaptive);
        check(&adaptive, &surface);
    }

    #[test]
    fn middles_of_faces_of_a_coarse_sphere_come_nearer_to_it() {
        with_surface(gmsh("ball"), 80.0, |mesh, surface| {
            let (mut flat, mut curved) = (0.0_f64, 0.0_f64);
            for face in mesh.faces.elements() {
                let nodes = corners(&mesh.faces, face);
                let points = nodes.map(|node| mesh.point(node));
                let radius = |p: Point| norm(subtract(p, [0.5, 0.5, 0.8]));
                if points.iter().any(|&p| (radius(p) - 0.2).abs() > 1e-6) {
                    continue;
                }
                let centre = [0, 1, 2].map(|k| (points[0][k] + points[1][k] + points[2][k]) / 3.0);
                let place = surface.place(VertexKind::Surface, mesh.faces.tag(face), centre);
                flat = flat.max((radius(centre) - 0.2).abs());
                curved = curved.max((radius(place) - 0.2).abs());
            }
            assert!(flat > 0.003 && curved < 0.4 * flat, "{flat} {curved}");
        });
    }

    #[test]
    fn middles_of_edges_of_a_circle_lie_on_it_and_planes_are_not_touched() {
        let annulus = AnnulusParams {
            inner: 1.0,
            outer: 2.0,
            cells: vec![3, 24],
            element: Some(Element::Triangle),
            ..AnnulusParams::default()
        };
        with_surface(annulus.generate().unwrap(), 40.0, |mesh, surface| {
            for face in mesh.faces.elements() {
                let [p, q, _] = corners(&mesh.faces, face).map(|node| mesh.point(node));
                let middle = [0, 1, 2].map(|k| 0.5 * (p[k] + q[k]));
                let place = surface.place(VertexKind::Surface, mesh.faces.tag(face), middle);
                let error = (norm(place) - norm(p)).abs();
                assert!(error < 0.02 * (norm(middle) - norm(p)).abs(), "{error}");
            }
        });
        with_surface(crate::tests::box_mesh(3), 40.0, |mesh, surface| {
            for face in mesh.faces.elements() {
                let [p, q, r] = corners(&mesh.faces, face).map(|node| mesh.point(node));
                let centre = [0, 1, 2].map(|k| (p[k] + q[k] + r[k]) / 3.0);
                assert_eq!(
                    surface.place(VertexKind::Surface, mesh.faces.tag(face), centre),
                    centre
                );
            }
        });
    }
}
