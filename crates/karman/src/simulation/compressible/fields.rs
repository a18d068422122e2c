//! The fields of a compressible flow by name: in cells for output and averages, on faces for surfaces.

use super::super::SimulationError;
use super::super::averages::{Averages, Sampled, Sampling};
use super::super::surface::{SurfaceSamples, faces_of};
use crate::backend::{Backend, Buffer};
use crate::case::{Case, Surface};
use crate::compressible::descriptor::{
    DENSITY, ENTROPY, MACH, PRESSURE, PRESSURE_COEFFICIENT, SCHLIEREN, TEMPERATURE, VELOCITY,
    VORTICITY,
};
use crate::compressible::{CellQuantity, CompressibleSolver};
use crate::descriptor::{self, FieldData};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

const AXES: [&str; 3] = ["x", "y", "z"];

/// The components of a field, or one of them by its name; none where compressible flow has no such field.
pub(super) fn quantities(name: &str, dimension: usize) -> Vec<CellQuantity> {
    let component = VELOCITY.iter().position(|known| *known == name);
    match name {
        DENSITY => vec![CellQuantity::Density],
        PRESSURE => vec![CellQuantity::Pressure],
        TEMPERATURE => vec![CellQuantity::Temperature],
        MACH => vec![CellQuantity::Mach],
        ENTROPY => vec![CellQuantity::Entropy],
        SCHLIEREN => vec![CellQuantity::Schlieren],
        VORTICITY if dimension == 2 => vec![CellQuantity::VorticityZ],
        VORTICITY => CellQuantity::VORTICITY.to_vec(),
        descriptor::VELOCITY => CellQuantity::VELOCITY[..dimension].to_vec(),
        _ => component.map(|k| CellQuantity::VELOCITY[k]).into_iter().collect(),
    }
}

/// The averages of a flow; `unknowns` are the names of the fields solved for.
pub(super) fn averages<F: Real>(
    backend: &Backend,
    case: &Case,
    mesh: &Mesh,
    unknowns: &[&str],
) -> Averages<F> {
    let sampling = |name: &str| {
        let names: Vec<String> = match quantities(name, mesh.dimension).len() {
            1 => vec![name.to_owned()],
            several => AXES[..several].iter().map(|axis| format!("{name}_{axis}")).collect(),
        };
        Sampling { lengths: vec![mesh.n_cells(); names.len()], names, is_direct: true }
    };
    Averages::new(backend, case, unknowns, sampling)
}

/// The components of a field on the backend.
pub(super) type FieldBuffers<F> = [Buffer<F>; 3];

/// Buffers for fields, empty where there are no averages.
pub(super) fn buffers<F: Real>(backend: &Backend, case: &Case, mesh: &Mesh) -> FieldBuffers<F> {
    let n = if case.output.averages.is_empty() { 0 } else { mesh.n_cells() };
    [0; 3].map(|_| backend.zeros(n))
}

/// The fields of a flow as averages over time sample them.
pub(super) struct Fields<'a, F: Real> {
    pub flow: &'a CompressibleSolver<F>,
    pub buffers: &'a mut FieldBuffers<F>,
    pub gas_constant: f64,
    pub dimension: usize,
}

impl<F: Real> Sampled<F> for Fields<'_, F> {
    fn components(&mut self, field: &str) -> Result<Vec<&Buffer<F>>, SimulationError> {
        let quantities = quantities(field, self.dimension);
        for (quantity, buffer) in quantities.iter().zip(self.buffers.iter_mut()) {
            self.flow.cell_quantity(*quantity, self.gas_constant, buffer);
        }
        Ok(self.buffers.iter().take(quantities.len()).collect())
    }

    fn level(&self, _field: &str) -> Result<f64, SimulationError> {
        Ok(0.0)
    }
}

/// The fields of a surface.
pub(super) fn surface<F: Real>(
    flow: &mut CompressibleSolver<F>,
    gas_constant: f64,
    (mesh, geometry): (&Mesh, &Geometry),
    surface: &Surface,
) -> Result<SurfaceSamples, SimulationError> {
    flow.refresh()?;
    let faces = faces_of(mesh, &surface.patches);
    let mut samples = SurfaceSamples::of_faces(geometry, &faces);
    let [density, x, y, z, pressure] = flow.on_boundary(&faces)?;
    let reference = surface.reference;
    for name in &surface.fields {
        let value = |i: usize| match name.as_str() {
            PRESSURE => Some(pressure[i]),
            PRESSURE_COEFFICIENT => {
                let dynamic = 0.5 * reference.density * reference.velocity * reference.velocity;
                Some((pressure[i] - reference.pressure) / dynamic)
            }
            TEMPERATURE => Some(pressure[i] / (density[i] * gas_constant)),
            MACH => {
                let speed = (x[i] * x[i] + y[i] * y[i] + z[i] * z[i]).sqrt();
                Some(speed / (flow.gamma() * pressure[i] / density[i]).sqrt())
            }
            _ => None,
        };
        let Some(values) = (0..faces.len()).map(value).collect::<Option<Vec<f64>>>() else {
            let known = "those of `[[output.surface]]`".to_owned();
            return Err(SimulationError::NoField { name: name.clone(), known });
        };
        samples.fields.push((name.clone(), FieldData::Scalar(values)));
    }
    Ok(samples)
}
