//! Temperature and heat flux on parts of the boundary, as functionals.

use super::HeatScheme;
use super::finite_element::{shares, vector_shares};
use super::node_boundary::{NodePatch, face_shape};
use super::node_centred;
use super::problem::BoundaryKinds;
use crate::finite_volume::Functional;
use crate::mesh::{Geometry, Mesh};
use std::collections::BTreeMap;

/// A node of patches.
#[derive(Clone, Debug, Default)]
pub struct SurfaceNode {
    /// ∫ N_i dS over the patches.
    pub area: f64,
    /// ∫ N_i n dS, out of the domain.
    pub area_vector: [f64; 3],
    /// The heat flow into the domain at the node through the patches.
    pub heat: Functional,
}

impl HeatScheme {
    /// Temperature of, and heat flow into the domain through, each of the boundary faces; cell-centred.
    pub fn at_faces(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &[usize],
    ) -> Option<[Vec<Functional>; 2]> {
        let scheme = self.of_faces(mesh, geometry)?;
        Some([
            faces.iter().map(|face| scheme.value_at_face(*face)).collect(),
            faces.iter().map(|face| scheme.heat_through(*face)).collect(),
        ])
    }

    /// The nodes of patches, ascending; node-centred. Sums over the nodes are the areas of the patches and
    /// the heat through them, that of [`HeatScheme::heat_through`].
    pub fn surface_nodes(
        &self,
        mesh: &Mesh,
        patches: &[usize],
    ) -> Option<BTreeMap<u32, SurfaceNode>> {
        let BoundaryKinds::Nodes(boundary) = &self.kinds else { return None };
        let mut found: BTreeMap<u32, SurfaceNode> = BTreeMap::new();
        for &patch in patches {
            let described = &boundary.patches[patch];
            let mut entry = 0;
            for face in mesh.patches[patch].faces.clone() {
                let nodes = mesh.face_to_nodes.of(face);
                let corners: Vec<_> = nodes.iter().map(|i| mesh.points[*i as usize]).collect();
                let shape = face_shape(nodes.len());
                let vectors = vector_shares(shape, &corners);
                for (k, (node, area)) in nodes.iter().zip(shares(shape, &corners)).enumerate() {
                    let own = found.entry(*node).or_default();
                    own.area += area;
                    (0..3).for_each(|i| own.area_vector[i] += vectors[k][i]);
                    own.heat.add(1.0, &described.heat_inflow(*node, entry + k, area));
                }
                entry += nodes.len();
            }
            if let NodePatch::Dirichlet = described {
                let heat = node_centred::heat_through(mesh, &self.conductivity, patch, boundary);
                let nodes = super::dirichlet::nodes_of_patch(mesh, patch);
                for (node, heat) in nodes.into_iter().zip(heat) {
                    found.entry(node).or_default().heat.add(1.0, &heat);
                }
            }
        }
        Some(found)
    }
}
