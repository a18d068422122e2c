//! Fields of a compressible flow on patches.

use super::super::SimulationError;
use super::super::surface::{SurfaceSamples, faces_of};
use super::computation::Computation;
use crate::case::Surface;
use crate::compressible::descriptor::{
    ENTROPY, MACH, PRESSURE, PRESSURE_COEFFICIENT, SKIN_FRICTION_COEFFICIENT, TEMPERATURE,
    WALL_SHEAR_STRESS, Y_PLUS,
};
use crate::compressible::viscous::ViscousGas;
use crate::descriptor::{FieldData, WALL_HEAT_FLUX};
use crate::mesh::geometry::{add_scaled, dot, norm, subtract};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// The gas of a flow: R, and its viscous terms.
#[derive(Clone, Copy)]
pub(super) struct Gas {
    pub constant: f64,
    pub viscous: Option<ViscousGas>,
}

/// The fields of a surface.
pub(super) fn sample<F: Real>(
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
