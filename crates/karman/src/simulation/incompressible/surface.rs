//! Fields of a flow on patches.

use super::super::SimulationError;
use super::super::surface::{SurfaceSamples, faces_of};
use crate::backend::Backend;
use crate::case::Surface;
use crate::descriptor::{FieldData, WALL_HEAT_FLUX};
use crate::finite_volume::Functionals;
use crate::incompressible::descriptor::{
    PRESSURE, PRESSURE_COEFFICIENT, TEMPERATURE, WALL_SHEAR_STRESS, Y_PLUS,
};
use crate::incompressible::{Entries, Field, IncompressibleSolver, LoadedFaces};
use crate::mesh::geometry::{add_scaled, dot, norm, subtract};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// The entries of the arrays of `flow`, on the host, from which the fields of a surface are computed; none where these are whole arrays, as
/// of fluxes as unknowns.
pub(super) fn entries<F: Real>(
    host: &Backend,
    flow: &IncompressibleSolver<F>,
    (mesh, geometry): (&Mesh, &Geometry),
    surface: &Surface,
) -> Option<Entries> {
    if !flow.has_velocity_gradients() {
        return None;
    }
    let faces = faces_of(mesh, &surface.patches);
    let mut entries = Entries::default();
    for functionals in flow.temperature_at_faces(mesh, geometry, &faces).into_iter().flatten() {
        let functionals = Functionals::new(host, &functionals);
        flow.add_functionals(Field::Temperature, &functionals, &mut entries);
    }
    flow.add_loads(&LoadedFaces::new(host, faces), &mut entries);
    Some(entries)
}

/// The fields of a surface; `level` is subtracted from the pressure.
pub(super) fn sample<F: Real>(
    backend: &Backend,
    flow: &IncompressibleSolver<F>,
    (mesh, geometry): (&Mesh, &Geometry),
    surface: &Surface,
    level: f64,
) -> Result<SurfaceSamples, SimulationError> {
    let faces = faces_of(mesh, &surface.patches);
    let mut samples = SurfaceSamples::of_faces(geometry, &faces);
    let of_temperature = |heat: bool| -> Result<Vec<f64>, SimulationError> {
        let functionals = flow.temperature_at_faces(mesh, geometry, &faces).unwrap_or_default();
        let mut functionals = Functionals::new(backend, &functionals[usize::from(heat)]);
        let values = backend.read(flow.evaluate(Field::Temperature, &mut functionals))?;
        Ok(values.into_iter().map(Into::into).collect())
    };
    let reference = surface.reference;
    for name in &surface.fields {
        let pressure = |of: &dyn Fn(f64) -> f64| -> Result<FieldData, SimulationError> {
            let values = flow.pressure_on(&faces)?.into_iter().map(|p| of(p - level));
            Ok(FieldData::Scalar(values.collect()))
        };
        let field = match name.as_str() {
            PRESSURE => pressure(&|p| p)?,
            PRESSURE_COEFFICIENT => {
                let dynamic = 0.5 * reference.velocity * reference.velocity;
                pressure(&|p| (p - reference.pressure / reference.density) / dynamic)?
            }
            WALL_SHEAR_STRESS => {
                let stress = flow.wall_traction((mesh, geometry), &faces)?;
                let component = |k: usize| stress.iter().map(|s| s[k]).collect();
                FieldData::Vector([0, 1, 2].map(component))
            }
            Y_PLUS => {
                let stress = flow.wall_traction((mesh, geometry), &faces)?;
                let y_plus = |((stress, normal), face): ((&[f64; 3], &[f64; 3]), &u32)| {
                    let tangential = add_scaled(*stress, -dot(*stress, *normal), *normal);
                    let cell = mesh.face_left[*face as usize] as usize;
                    let centre = geometry.cell_centre_of(cell);
                    let d = subtract(geometry.face_centre_of(*face as usize), centre);
                    norm(tangential).sqrt() * dot(d, *normal) / flow.viscosity()
                };
                let entries = stress.iter().zip(&samples.normals).zip(&faces);
                FieldData::Scalar(entries.map(y_plus).collect())
            }
            TEMPERATURE => FieldData::Scalar(of_temperature(false)?),
            WALL_HEAT_FLUX => {
                let heat = of_temperature(true)?.into_iter().zip(&samples.areas);
                FieldData::Scalar(heat.map(|(heat, area)| heat / area).collect())
            }
            _ => {
                let known = "those of `[[output.surface]]`".to_owned();
                return Err(SimulationError::NoField { name: name.clone(), known });
            }
        };
        samples.fields.push((name.clone(), field));
    }
    Ok(samples)
}
