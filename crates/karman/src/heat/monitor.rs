//! Functionals of a heat problem: the temperature at a point, the heat through a patch.

use super::cell_centred::CellScheme;
use super::functional::Functional;
use super::node_centred;
use super::system::BoundaryKinds;
use super::{Discretization, Heat};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// Faces whose heat makes one functional of a patch: enough to keep results few, few enough to
/// evaluate in parallel.
const FACES_A_ROW: usize = 64;

impl<F: Real> Heat<F> {
    /// The temperature at a point of `cell`; `weights` are those of the cell's nodes there.
    pub fn at_point(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
        (cell, weights): (usize, &[f64]),
        point: [f64; 3],
    ) -> Functional {
        match &self.boundary {
            BoundaryKinds::Cells(boundary) => {
                let conductivity = &self.conductivity;
                let corrected = self.is_corrected();
                CellScheme::new(mesh, geometry, conductivity, boundary, corrected)
                    .at_point(cell, point)
            }
            BoundaryKinds::Nodes(_) => Functional {
                unknowns: mesh.cells.nodes_of(cell).iter().copied().zip(weights.to_vec()).collect(),
                values: vec![],
            },
        }
    }

    /// The heat that enters through a patch: the sum of these functionals.
    pub fn heat_through(&self, mesh: &Mesh, geometry: &Geometry, patch: usize) -> Vec<Functional> {
        let faces: Vec<Functional> = match &self.boundary {
            BoundaryKinds::Cells(boundary) => {
                let conductivity = &self.conductivity;
                let corrected = self.is_corrected();
                let scheme = CellScheme::new(mesh, geometry, conductivity, boundary, corrected);
                mesh.patches[patch].faces.clone().map(|f| scheme.heat_through(f)).collect()
            }
            BoundaryKinds::Nodes(patches) => {
                node_centred::heat_through(mesh, &self.conductivity, patch, &patches[patch])
            }
        };
        let rows = faces.chunks(FACES_A_ROW).map(|chunk| {
            let mut sum = Functional::default();
            chunk.iter().for_each(|f| sum.add(1.0, f));
            sum
        });
        rows.collect()
    }

    fn is_corrected(&self) -> bool {
        matches!(self.discretization, Discretization::Cell { corrected: true })
    }
}
