//! Temperature on boundary faces.

use super::IncompressibleSolver;
use crate::finite_volume::CellScheme;
use crate::finite_volume::Functional;
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

impl<F: Real> IncompressibleSolver<F> {
    /// Temperature of each boundary face, and heat over ρc that enters through it, as functionals of the
    /// temperature; none without temperature.
    pub fn temperature_at_faces(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &[u32],
    ) -> Option<[Vec<Functional>; 2]> {
        let diffusion = &self.flow.thermal.as_ref()?.equation;
        let diffusivity = diffusion.diffusivity();
        let scheme = CellScheme::new(mesh, geometry, diffusivity, &diffusion.boundary, true);
        Some([
            faces.iter().map(|face| scheme.value_at_face(*face as usize)).collect(),
            faces.iter().map(|face| scheme.heat_through(*face as usize)).collect(),
        ])
    }

    /// ν.
    pub fn viscosity(&self) -> f64 {
        self.flow.viscosity()
    }
}
