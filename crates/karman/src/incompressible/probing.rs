//! Values of a flow at points, as functionals of what is in the cells and at the boundary.

use super::{Flow, IncompressibleError};
use crate::backend::Buffer;
use crate::diffusion::cell_centred::{BoundaryFaces, CellScheme};
use crate::diffusion::{Functional, Functionals};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// A field of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A component of the velocity.
    Velocity(usize),
    /// The pressure over the density.
    Pressure,
    /// The temperature carried by the flow.
    Temperature,
}

/// Faces whose heat makes one functional: enough to keep results few, few enough to evaluate in parallel.
const FACES_A_ROW: usize = 64;

impl<F: Real> Flow<F> {
    /// A field at points, each of a cell, by the cell's gradient, which knows what the boundary holds; the
    /// same functionals serve all components of the velocity.
    pub fn at_points(
        &self,
        field: Field,
        mesh: &Mesh,
        geometry: &Geometry,
        points: &[(usize, [f64; 3])],
    ) -> Vec<Functional> {
        let boundary: &BoundaryFaces = match (field, &self.thermal) {
            (Field::Velocity(_), _) => &self.momentum.boundary,
            (Field::Pressure, _) => &self.pressure.boundary,
            (Field::Temperature, Some(thermal)) => &thermal.transport.boundary,
            (Field::Temperature, None) => return vec![Functional::default(); points.len()],
        };
        // What conducts is even: how well does not show in a gradient.
        let even = vec![1.0; mesh.n_cells()];
        let scheme = CellScheme::new(mesh, geometry, &even, boundary, true);
        points.iter().map(|(cell, point)| scheme.at_point(*cell, *point)).collect()
    }

    /// The heat over ρc that enters through some boundary faces, in functionals of the temperature that add
    /// up; none where there is no temperature.
    pub fn heat_through(&self, mesh: &Mesh, geometry: &Geometry, faces: &[u32]) -> Vec<Functional> {
        let Some(thermal) = &self.thermal else { return vec![] };
        let parts = thermal.heat_through(mesh, geometry, faces);
        let rows = parts.chunks(FACES_A_ROW).map(|chunk| {
            let mut sum = Functional::default();
            chunk.iter().for_each(|part| sum.add(1.0, part));
            sum.merged()
        });
        rows.collect()
    }

    /// Evaluates functionals of a field; the results stay on the backend.
    pub fn evaluate<'a>(&self, field: Field, functionals: &'a mut Functionals<F>) -> &'a Buffer<F> {
        let (value, prescribed) = match field {
            Field::Velocity(k) => {
                (&self.components[k].now, self.momentum.quantities[k].prescribed.value())
            }
            Field::Pressure => (self.pressure(), self.pressure.prescribed()),
            Field::Temperature => match &self.thermal {
                Some(thermal) => return thermal.evaluate(&self.backend, functionals),
                None => unreachable!("asked of a flow without temperature"),
            },
        };
        // No functional of a flow has to do with held nodes.
        functionals.evaluate(&self.backend, value, prescribed, value)
    }

    /// ∇ of a component of the velocity: `[3][n_cells]`.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn velocity_gradient(&self, k: usize) -> Result<Vec<F>, IncompressibleError> {
        let now = &self.components[k].now;
        let mut gradient = self.backend.zeros(3 * now.len());
        self.momentum.differentiate(k, now, &mut gradient);
        Ok(self.backend.read(&gradient)?)
    }
}
