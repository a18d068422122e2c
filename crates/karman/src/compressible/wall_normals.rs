//! Normals of curved walls, of which the mesh has facets.
//!
//! In the plane of a facet a quadratic height z(x, y) is fitted to the nodes of the facet and of the facets of the same patch that share a
//! node with it and continue it smoothly; the normal at a point is along (−∂z/∂x, −∂z/∂y, 1), with an error of second order in
//! the size of the facets where that of the facet is of first order. A state is reflected about this normal while the flux passes
//! the facet: cells stay closed.
//!
//! Source: Krivodonova & Berger, J. Comput. Phys. 211 (2006) 492.

use super::reconstruction::stencil::pseudo_inverse;
use super::smooth_facets::{SMOOTH, SmoothFacets};
use crate::mesh::geometry::{add_scaled, cross, dot, norm, subtract};
use crate::mesh::quadrature::{Degree, for_each_point};
use crate::mesh::{Geometry, Mesh};
use rayon::prelude::*;
use std::ops::Range;

type Vector = [f64; 3];

/// Largest condition number of a fit.
const MAX_CONDITION: f64 = 1e3;

/// Normals at the points of a rule on some faces of a curved patch, which has the faces `patch`, face by face.
pub(super) fn wall_normals(
    (mesh, geometry): (&Mesh, &Geometry),
    degree: Degree,
    patch: Range<usize>,
    faces: impl IndexedParallelIterator<Item = usize>,
) -> Vec<Vector> {
    let first = patch.start;
    let points_of = |face: usize| {
        let mut points = vec![];
        for_each_point(mesh, geometry, face, degree, |point| points.push(point));
        points
    };
    let facet_of = |face: usize| {
        let points = points_of(face).into_iter();
        unit(points.fold([0.0; 3], |sum, point| add_scaled(sum, 1.0, point.area)))
    };
    let facet: Vec<Vector> = patch.clone().into_par_iter().map(facet_of).collect();
    let smooth = SmoothFacets::new(mesh, patch, &facet);
    let of_face = |face: usize| -> Vec<Vector> {
        let normal = facet[face - first];
        let own = mesh.face_to_nodes.of(face);
        let mut nodes: Vec<u32> = smooth
            .around(mesh, face)
            .into_iter()
            .filter(|other| dot(normal, facet[*other - first]) > SMOOTH)
            .flat_map(|other| mesh.face_to_nodes.of(other).iter().copied())
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let places: Vec<Vector> = points_of(face).into_iter().map(|point| point.at).collect();
        fitted(mesh, own, &nodes, normal, &places).unwrap_or_else(|| vec![normal; places.len()])
    };
    faces.with_min_len(64).flat_map_iter(of_face).collect()
}

fn unit(v: Vector) -> Vector {
    let size = norm(v);
    v.map(|x| x / size)
}

/// Normals at `places` of the surface through `nodes` above the plane of a facet; none where the nodes do not determine it.
fn fitted(
    mesh: &Mesh,
    own: &[u32],
    nodes: &[u32],
    normal: Vector,
    places: &[Vector],
) -> Option<Vec<Vector>> {
    let origin = mesh.points[own[0] as usize];
    let along = subtract(mesh.points[own[1] as usize], origin);
    let size = norm(along);
    let e1 = along.map(|x| x / size);
    // In 2D the facet is the first axis alone.
    let axes: Vec<Vector> =
        if mesh.dimension == 2 { vec![e1] } else { vec![e1, unit(cross(normal, e1))] };
    let coordinates = |x: Vector| {
        let r = subtract(x, origin);
        let in_plane: Vec<f64> = axes.iter().map(|axis| dot(*axis, r) / size).collect();
        (in_plane, dot(normal, r) / size)
    };
    let d = axes.len();
    let pairs: Vec<(usize, usize)> = (0..d).flat_map(|a| (a..d).map(move |b| (a, b))).collect();
    let n = 1 + d + pairs.len();
    let m = nodes.len();
    if m < n {
        return None;
    }
    let (mut matrix, mut heights) = (Vec::with_capacity(m * n), Vec::with_capacity(m));
    for node in nodes {
        let (x, height) = coordinates(mesh.points[*node as usize]);
        matrix.push(1.0);
        matrix.extend_from_slice(&x);
        matrix.extend(pairs.iter().map(|(a, b)| x[*a] * x[*b]));
        heights.push(height);
    }
    let (condition, inverse) = pseudo_inverse(&mut matrix, m, n)?;
    if condition > MAX_CONDITION {
        return None;
    }
    let coefficient =
        |k: usize| (0..m).map(|j| inverse[k * m + j] * heights[j]).fold(0.0, |a, b| a + b);
    let c: Vec<f64> = (0..n).map(coefficient).collect();
    let at = |place: &Vector| {
        let (x, _) = coordinates(*place);
        let mut direction = normal;
        for k in 0..d {
            let curved = pairs.iter().zip(&c[1 + d..]).map(|((a, b), c)| {
                f64::from(u8::from(*a == k)) * c * x[*b] + f64::from(u8::from(*b == k)) * c * x[*a]
            });
            let slope = curved.fold(c[1 + k], |sum, term| sum + term);
            direction = add_scaled(direction, -slope, axes[k]);
        }
        // Round-off of a plane wall.
        if norm(subtract(direction, normal)) < 1e-9 { normal } else { unit(direction) }
    };
    Some(places.iter().map(at).collect())
}
