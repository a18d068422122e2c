//! The fields of a compressible flow by name: in cells for output and averages, on faces for surfaces.

use super::super::SimulationError;
use super::super::averages::{Averages, Sampling};
use super::super::sampled::Sampled;
use super::super::surface::{SurfaceSamples, faces_of};
use super::computation::Computation;
use crate::backend::{Backend, Buffer};
use crate::case::{Case, Surface};
use crate::compressible::descriptor::{
    DENSITY, ENTROPY, MACH, PRESSURE, PRESSURE_COEFFICIENT, SCHLIEREN, SKIN_FRICTION_COEFFICIENT,
    TEMPERATURE, VELOCITY, VORTICITY, WALL_SHEAR_STRESS, Y_PLUS,
};
use crate::compressible::viscous::ViscousGas;
use crate::compressible::{CellQuantity, CompressibleSolver};
use crate::descriptor::{self, FieldData, WALL_HEAT_FLUX};
use crate::mesh::geometry::{add_scaled, dot, norm, subtract};
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
        let count = quantities(name, mesh.dimension).len();
        let names = match count {
            1 => vec![name.to_owned()],
            several => AXES[..several].iter().map(|axis| format!("{name}_{axis}")).collect(),
        };
        Sampling { names, lengths: vec![mesh.n_cells(); count], is_direct: true }
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
}

/// The gas of a flow: R, and its viscous terms.
#[derive(Clone, Copy)]
pub(super) struct Gas {
    pub constant: f64,
    pub viscous: Option<ViscousGas>,
}

/// The fields of a surface.
pub(super) fn surface<F: Real>(
    flow: &Computation<F>,
    gas: Gas,
    (mesh, geometry): (&Mesh, &Geometry),
    surface: &Surface,
) -> Result<SurfaceSamples, SimulationError> {
    let faces = faces_of(mesh, &surface.patches);
    let mut samples = SurfaceSamples::of_faces(geometry, &faces);
    let [density, x, y, z, pressure] = flow.on_boundary(&faces)?;
    let [stress @ .., heat] = match gas.viscous {
        Some(_) => flow.stress_on_boundary(&faces)?,
        None => [(); 4].map(|()| vec![0.0; faces.len()]),
    };
    let shear = |i: usize| {
        let (stress, normal) = ([0, 1, 2].map(|k| stress[k][i]), samples.normals[i]);
        norm(add_scaled(stress, -dot(stress, normal), normal))
    };
    let temperature = |i: usize| pressure[i] / (density[i] * gas.constant);
    let y_plus = |i: usize| {
        let face = faces[i] as usize;
        let centre = geometry.cell_centre_of(mesh.face_left[face] as usize);
        let distance = dot(subtract(geometry.face_centre_of(face), centre), samples.normals[i]);
        let viscosity = gas.viscous.map_or(0.0, |gas| gas.viscosity_at(temperature(i)));
        (density[i] * shear(i)).sqrt() * distance / viscosity
    };
    let reference = surface.reference;
    let dynamic = 0.5 * reference.density * reference.velocity * reference.velocity;
    let mut fields = vec![];
    for name in &surface.fields {
        let scalar =
            |value: &dyn Fn(usize) -> f64| FieldData::Scalar((0..faces.len()).map(value).collect());
        let field = match name.as_str() {
            PRESSURE => scalar(&|i| pressure[i]),
            PRESSURE_COEFFICIENT => scalar(&|i| (pressure[i] - reference.pressure) / dynamic),
            TEMPERATURE => scalar(&temperature),
            MACH => scalar(&|i| {
                let speed = (x[i] * x[i] + y[i] * y[i] + z[i] * z[i]).sqrt();
                speed / (flow.gamma() * pressure[i] / density[i]).sqrt()
            }),
            ENTROPY => scalar(&|i| pressure[i] / density[i].powf(flow.gamma())),
            WALL_SHEAR_STRESS => FieldData::Vector(stress.clone()),
            SKIN_FRICTION_COEFFICIENT => scalar(&|i| shear(i) / dynamic),
            Y_PLUS => scalar(&y_plus),
            WALL_HEAT_FLUX => scalar(&|i| heat[i]),
            _ => {
                let known = "those of `[[output.surface]]`".to_owned();
                return Err(SimulationError::NoField { name: name.clone(), known });
            }
        };
        fields.push((name.clone(), field));
    }
    samples.fields = fields;
    Ok(samples)
}
