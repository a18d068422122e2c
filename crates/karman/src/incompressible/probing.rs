//! Values of a flow at points, as functionals of cell and boundary values.

use super::derived::{DerivedBuffers, DerivedField};
use super::staggered::{Fluxes, vorticity_in_cells};
use super::transported_field::boundary_values;
use super::{IncompressibleError, IncompressibleSolver};
use crate::backend::Buffer;
use crate::finite_volume::CellScheme;
use crate::finite_volume::{BoundaryFaces, Functional, Functionals, narrow_slice};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// A field of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A component of the velocity.
    Velocity(usize),
    /// The pressure over the density.
    Pressure,
    /// The transported temperature.
    Temperature,
}

/// Faces per functional of the heat flux: many for few results, few for parallel evaluation.
const FACES_A_ROW: usize = 64;

impl<F: Real> IncompressibleSolver<F> {
    /// A field at points in cells, by the cell's gradient, which includes the boundary conditions; all
    /// velocity components share the functionals.
    pub fn at_points(
        &self,
        field: Field,
        mesh: &Mesh,
        geometry: &Geometry,
        points: &[(usize, [f64; 3])],
    ) -> Vec<Functional> {
        let Some(boundary) = self.boundary_of(field) else {
            return vec![Functional::default(); points.len()];
        };
        // A gradient does not depend on the conductivity.
        let scheme = CellScheme::new(mesh, geometry, 1.0, boundary, true);
        points.iter().map(|(cell, point)| scheme.at_point(*cell, *point)).collect()
    }

    /// The index, among the prescribed values of a field, of its Dirichlet value at a boundary face (counted
    /// from the first boundary face); none without a Dirichlet value.
    pub fn dirichlet_value(&self, field: Field, boundary_face: usize) -> Option<u32> {
        self.boundary_of(field).and_then(|boundary| boundary.dirichlet_value(boundary_face))
    }

    /// None for the temperature of a flow without one.
    fn boundary_of(&self, field: Field) -> Option<&BoundaryFaces> {
        match field {
            Field::Velocity(_) => Some(&self.flow.momentum.boundary),
            Field::Pressure => Some(&self.flow.pressure.conditions.boundary),
            Field::Temperature => {
                self.flow.thermal.as_ref().map(|thermal| &thermal.equation.boundary)
            }
        }
    }

    /// The heat over ρc that enters through boundary faces, as functionals of the temperature to be summed;
    /// none without temperature.
    pub fn heat_through(&self, mesh: &Mesh, geometry: &Geometry, faces: &[u32]) -> Vec<Functional> {
        let Some(thermal) = &self.flow.thermal else { return vec![] };
        let parts = thermal.heat_through(mesh, geometry, faces);
        let rows = parts.chunks(FACES_A_ROW).map(|chunk| {
            let mut sum = Functional::default();
            chunk.iter().for_each(|part| sum.add(1.0, part));
            sum.merged()
        });
        rows.collect()
    }

    /// A copy of the values of a field in the cells, of a part in its own; none of a temperature that the flow does not have.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn values(&self, field: Field) -> Result<Vec<f64>, IncompressibleError> {
        let buffer = match field {
            Field::Velocity(k) => Some(self.velocity(k)),
            Field::Pressure => Some(self.pressure()),
            Field::Temperature => self.temperature(),
        };
        let mut values = buffer.map_or(Ok(vec![]), |buffer| self.read_f64(buffer))?;
        values.truncate(self.flow.n_cells());
        Ok(values)
    }

    /// Evaluates functionals of a field; the results stay on the backend.
    pub fn evaluate<'a>(&self, field: Field, functionals: &'a mut Functionals<F>) -> &'a Buffer<F> {
        let (value, prescribed) = match field {
            Field::Velocity(k) => {
                (&self.flow.components[k].now, self.flow.momentum.quantities[k].prescribed.value())
            }
            Field::Pressure => (self.pressure(), self.flow.pressure.conditions.prescribed.value()),
            Field::Temperature => match &self.flow.thermal {
                Some(thermal) => return thermal.evaluate(&self.flow.backend, functionals),
                None => unreachable!("a functional of the temperature of a flow without one"),
            },
        };
        // Functionals of a flow involve no Dirichlet nodes.
        functionals.evaluate(&self.flow.backend, value, prescribed, value)
    }

    /// Whether the scheme has gradients of the velocity in cells: collocated. Staggered they are recovered on the host.
    pub fn has_velocity_gradients(&self) -> bool {
        self.stepper.staggered().is_none()
    }

    /// `gradient` ← ∇ of component `k` of the velocity, by the gradient of the collocated scheme: `[3][n_cells]`.
    pub(super) fn compute_velocity_gradient(&self, k: usize, gradient: &mut Buffer<F>) {
        self.flow.momentum.compute_gradient(k, &self.flow.components[k].now, gradient);
    }

    /// ∇ of each component of the velocity: `[3][n_cells]` each. Collocated it is the gradient of the scheme,
    /// staggered it is recovered from the fluxes.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn velocity_gradients(&self, mesh: &Mesh) -> Result<Vec<Vec<f64>>, IncompressibleError> {
        let n = mesh.n_cells();
        let Some(staggered) = self.stepper.staggered() else {
            let of_component = |k: usize| {
                let mut gradient = self.flow.backend.zeros(3 * n);
                self.compute_velocity_gradient(k, &mut gradient);
                self.read_f64(&gradient)
            };
            return (0..self.dimension()).map(of_component).collect();
        };
        let fluxes = Fluxes {
            mesh,
            cell_to_face: staggered.faces.cell_to_face()?,
            area: self.read_f64(&self.flow.faces.area)?,
            flux: self.read_f64(&self.flow.flux)?,
            prescribed: self.prescribed_velocities()?,
        };
        let cells = fluxes.gradients();
        let of_component = |k: usize| {
            (0..3).flat_map(|j| cells.iter().map(move |gradient| gradient[k][j])).collect()
        };
        Ok((0..self.dimension()).map(of_component).collect())
    }

    /// ∇ × u of each cell; staggered the vorticity of the scheme.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn vorticity(&self, mesh: &Mesh) -> Result<Vec<[f64; 3]>, IncompressibleError> {
        if self.stepper.staggered().is_some() {
            return Ok(vorticity_in_cells(mesh, &self.nodal_vorticity()?));
        }
        let (n, dimension) = (mesh.n_cells(), mesh.dimension);
        let mut buffers = DerivedBuffers::new(&self.flow.backend, n, dimension);
        let components = self.derived(DerivedField::Vorticity, &mut buffers).iter();
        let read: Vec<Vec<f64>> = components.map(|c| self.read_f64(c)).collect::<Result<_, _>>()?;
        let of_cell = |c: usize| match &read[..] {
            [z] => [0.0, 0.0, z[c]],
            components => [0, 1, 2].map(|k| components[k][c]),
        };
        Ok((0..n).map(of_cell).collect())
    }

    /// ∇ × u of each cell for staggered fluxes and the velocity at the boundary, by component.
    pub(super) fn vorticity_of(
        &self,
        mesh: &Mesh,
        samples: &[Vec<f64>],
    ) -> Result<Vec<[f64; 3]>, IncompressibleError> {
        let Some(staggered) = self.stepper.staggered() else { return Ok(vec![]) };
        let upload = |values: &Vec<f64>| narrow_slice(&self.flow.backend, values);
        let [flux, at_boundary] = [&samples[..1], &samples[1..]]
            .map(|part| part.iter().map(upload).collect::<Vec<Buffer<F>>>());
        let at_boundary: Vec<&Buffer<F>> = at_boundary.iter().collect();
        Ok(vorticity_in_cells(mesh, &staggered.nodal_vorticity(&flux[0], &at_boundary)?))
    }

    /// The vorticity of the fluxes at each node of the mesh.
    pub(super) fn nodal_vorticity(&self) -> Result<Vec<[f64; 3]>, IncompressibleError> {
        let Some(staggered) = self.stepper.staggered() else { return Ok(vec![]) };
        let at_boundary = boundary_values(&self.flow.components);
        staggered.nodal_vorticity(&self.flow.flux, &at_boundary)
    }
}
