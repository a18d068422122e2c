//! Values of a flow at points, as functionals of what is in the cells and at the boundary.

use super::{Collocated, IncompressibleError};
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
}

impl<F: Real> Collocated<F> {
    /// A field at a point of a cell by the cell's gradient, which knows what the boundary holds; the same
    /// functional serves all components of the velocity.
    pub fn at_point(
        &self,
        field: Field,
        (mesh, geometry): (&Mesh, &Geometry),
        cell: usize,
        point: [f64; 3],
    ) -> Functional {
        let boundary: &BoundaryFaces = match field {
            Field::Velocity(_) => &self.momentum.boundary,
            Field::Pressure => &self.pressure.boundary,
        };
        let conductivity = vec![1.0; mesh.n_cells()];
        CellScheme::new(mesh, geometry, &conductivity, boundary, true).at_point(cell, point)
    }

    /// Evaluates functionals of a field; the results stay on the backend.
    pub fn evaluate<'a>(
        &self,
        field: Field,
        functionals: &'a mut Functionals<F>,
    ) -> &'a Buffer<F> {
        let (value, prescribed) = match field {
            Field::Velocity(k) => {
                (&self.components[k].now, self.momentum.components[k].prescribed.value())
            }
            Field::Pressure => (&self.pressure.value, self.pressure.prescribed()),
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
