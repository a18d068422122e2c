//! Which facets of a patch continue each other smoothly, and where they meet at an edge of the surface.
//!
//! Facets of a curved surface turn by similar angles at neighbouring sides; at an edge of the surface, as of a ramp, they turn
//! there alone. A side is an edge where the facets turn by more than 37°, or by more than [`RATIO`] times the largest angle at the
//! sides around it.

use crate::mesh::Mesh;
use crate::mesh::geometry::dot;
use std::ops::Range;

type Vector = [f64; 3];

/// Facets whose normals form an angle of a smaller cosine meet at an edge.
pub(super) const SMOOTH: f64 = 0.8;

/// Ratio of the angle at an edge to those around it. On equilateral triangles of a cylinder the angles at sides of different
/// directions differ by a factor of 2.
const RATIO: f64 = 4.0;

/// Angles of round-off of plane facets, radians.
const ROUND_OFF: f64 = 1e-7;

/// A side between two facets of a patch.
struct Side {
    /// Its nodes, ascending; in 2D the same node twice.
    nodes: [u32; 2],
    /// Its facets.
    facets: [u32; 2],
    /// The angle between their normals.
    angle: f64,
}

/// The facets of a patch and their sides.
pub(super) struct SmoothFacets {
    first: usize,
    sides: Vec<Side>,
    /// Whether the facets of each side continue each other.
    is_smooth: Vec<bool>,
    /// The sides of each facet.
    of_facet: Vec<Vec<u32>>,
}

impl SmoothFacets {
    /// Of the boundary faces `faces`, of unit normals `normals`.
    pub(super) fn new(mesh: &Mesh, faces: Range<usize>, normals: &[Vector]) -> SmoothFacets {
        let first = faces.start;
        let mut ends: Vec<([u32; 2], u32)> = vec![];
        for face in faces {
            let nodes = mesh.face_to_nodes.of(face);
            for k in 0..nodes.len() {
                // In 2D a facet has two nodes, which are its sides.
                let next =
                    if mesh.dimension == 2 { nodes[k] } else { nodes[(k + 1) % nodes.len()] };
                ends.push(([nodes[k].min(next), nodes[k].max(next)], (face - first) as u32));
            }
        }
        ends.sort_unstable();
        let mut sides = vec![];
        let mut of_facet = vec![vec![]; normals.len()];
        for pair in ends.chunk_by(|a, b| a.0 == b.0) {
            let [(nodes, left), (_, right)] = *pair else { continue };
            let facets = [left, right];
            let cosine = dot(normals[left as usize], normals[right as usize]);
            facets.iter().for_each(|facet| of_facet[*facet as usize].push(sides.len() as u32));
            sides.push(Side { nodes, facets, angle: cosine.clamp(-1.0, 1.0).acos() });
        }
        let mut found = SmoothFacets { first, sides, is_smooth: vec![], of_facet };
        found.is_smooth = (0..found.sides.len()).map(|side| found.is_smooth(side)).collect();
        found
    }

    /// Whether the facets of a side continue each other.
    fn is_smooth(&self, side: usize) -> bool {
        let angle = self.sides[side].angle;
        angle.cos() > SMOOTH && (angle < ROUND_OFF || angle <= RATIO * self.largest_around(side))
    }

    /// The largest angle at the other sides of the facets of a side, and at those sides of the facets beyond that do not
    /// touch it: an edge goes on there.
    fn largest_around(&self, side: usize) -> f64 {
        let Side { nodes, facets, .. } = &self.sides[side];
        let touches = |other: &Side| other.nodes.iter().any(|node| nodes.contains(node));
        let mut largest = 0.0_f64;
        for facet in facets {
            for next in self.of_facet[*facet as usize].iter().filter(|next| **next as usize != side)
            {
                let near = &self.sides[*next as usize];
                largest = largest.max(near.angle);
                let beyond = near.facets.iter().filter(|other| *other != facet);
                let far = beyond.flat_map(|other| &self.of_facet[*other as usize]);
                let far = far.map(|far| &self.sides[*far as usize]).filter(|far| !touches(far));
                largest = far.fold(largest, |largest, far| largest.max(far.angle));
            }
        }
        largest
    }

    /// The facets that share a node with `face` and continue it smoothly around that node, itself included, as boundary faces.
    pub(super) fn around(&self, mesh: &Mesh, face: usize) -> Vec<usize> {
        let own = (face - self.first) as u32;
        let mut found = vec![own];
        for node in mesh.face_to_nodes.of(face) {
            let mut at_node = vec![own];
            let mut next = 0;
            while let Some(facet) = at_node.get(next).copied() {
                next += 1;
                for side in &self.of_facet[facet as usize] {
                    let Side { nodes, facets, .. } = &self.sides[*side as usize];
                    if !self.is_smooth[*side as usize] || !nodes.contains(node) {
                        continue;
                    }
                    at_node.extend(
                        facets.iter().filter(|f| !at_node.contains(f)).copied().collect::<Vec<_>>(),
                    );
                }
            }
            found.extend(at_node);
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|facet| self.first + facet as usize).collect()
    }
}
