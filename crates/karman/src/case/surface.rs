//! `[[output.surface]]`: fields on patches.

use super::boundary::PatchCondition;
use super::compressible_boundary::CompressibleBoundary;
use super::error::Problem;
use super::flow_boundary::FlowBoundary;
use super::names::Names;
use super::output_parts::{patch_names, unique_name};
use super::value::{Maybe, Sign, number, refuse, required};
use crate::compressible::descriptor::SKIN_FRICTION_COEFFICIENT;
use crate::descriptor::{Descriptor, WALL_HEAT_FLUX};
use crate::incompressible::FlowBoundaryCondition;
use crate::incompressible::descriptor::{PRESSURE_COEFFICIENT, WALL_SHEAR_STRESS, Y_PLUS};
use serde::Deserialize;
use toml::Spanned;

/// Fields on patches, written with the fields of the cells and as a table at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Letters, digits, `_` and `-`; no other surface has it.
    pub name: String,
    /// Names of patches of the mesh.
    pub patches: Vec<String>,
    /// Names of the fields.
    pub fields: Vec<String>,
    /// The reference of the pressure coefficient; its default without `reference`.
    pub reference: SurfaceReference,
}

/// Reference quantities of the pressure coefficient (p − p₀/ρ) / (½U²), p the pressure over the density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceReference {
    /// Speed U > 0; default 1.
    pub velocity: f64,
    /// Density ρ > 0; default 1.
    pub density: f64,
    /// Pressure p₀; default 0.
    pub pressure: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SurfaceFile {
    name: Maybe<String>,
    pub(crate) patches: Maybe<Vec<Spanned<String>>>,
    fields: Maybe<Vec<Spanned<String>>>,
    reference: Maybe<SurfaceReferenceFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SurfaceReferenceFile {
    velocity: Maybe<f64>,
    density: Maybe<f64>,
    pressure: Maybe<f64>,
}

/// Fields of patches where the velocity is prescribed.
const OF_WALLS: [&str; 2] = [WALL_SHEAR_STRESS, Y_PLUS];
/// Fields of walls of a viscous gas.
const OF_WALLS_OF_GAS: [&str; 4] =
    [WALL_SHEAR_STRESS, SKIN_FRICTION_COEFFICIENT, Y_PLUS, WALL_HEAT_FLUX];
/// Fields that need reference quantities.
const WITH_REFERENCE: [&str; 2] = [PRESSURE_COEFFICIENT, SKIN_FRICTION_COEFFICIENT];
/// The components of the field that is a vector.
const SHEAR_COMPONENTS: [&str; 3] =
    ["wall_shear_stress_x", "wall_shear_stress_y", "wall_shear_stress_z"];

impl Surface {
    /// The names of the components of its fields, `_z` in 3D alone.
    pub(super) fn components(&self) -> Vec<&str> {
        let fields = self.fields.iter().map(String::as_str);
        let of = |field| {
            if field == WALL_SHEAR_STRESS { SHEAR_COMPONENTS.to_vec() } else { vec![field] }
        };
        fields.flat_map(of).collect()
    }
}

/// The fields that a surface of a case may have.
fn known_fields(names: Names) -> Vec<&'static str> {
    let fields = names.surface_fields().iter().filter(|field| names.provides(field.needs));
    fields.map(|field| field.name).collect()
}

pub(crate) fn check(files: &[Spanned<SurfaceFile>], names: Names) -> Result<Vec<Surface>, Problem> {
    let mut surfaces: Vec<Surface> = Vec::new();
    for file in files {
        let (keys, span) = (file.get_ref(), file.span());
        let used = surfaces.iter().map(|surface| surface.name.as_str());
        let name = unique_name(&keys.name, "surface", &span, used)?;
        let patches = patch_names(&keys.patches, &span)?;
        let fields = required(&keys.fields, "fields", &span)?;
        if fields.get_ref().is_empty() {
            return Err(Problem::at(fields.span(), "`fields` names no field"));
        }
        let mut checked: Vec<String> = Vec::new();
        for field in fields.get_ref() {
            check_field(field, &checked, keys, names)?;
            checked.push(field.get_ref().clone());
        }
        let has_coefficient = |e: &Descriptor| e.has_surface_field(PRESSURE_COEFFICIENT);
        if let Some(why) = names.refusal(has_coefficient) {
            refuse(&keys.reference, "reference", &why)?;
        }
        let reference = check_reference(keys.reference.as_ref().map(Spanned::get_ref))?;
        surfaces.push(Surface { name, patches, fields: checked, reference });
    }
    Ok(surfaces)
}

/// Checks that a field exists, is named once and has its reference.
fn check_field(
    field: &Spanned<String>,
    before: &[String],
    keys: &SurfaceFile,
    names: Names,
) -> Result<(), Problem> {
    let text = field.get_ref();
    let known = known_fields(names);
    if !known.contains(&text.as_str()) {
        let problem = format!("a surface of {} has no field `{text}`", names.case());
        let problem = Problem::at(field.span(), problem).among(text, "valid fields", known);
        let field = names.surface_fields().iter().find(|field| field.name == text.as_str());
        let need = field.and_then(|field| field.needs.first());
        return Err(need.map(|need| need.remedy()).into_iter().fold(problem, Problem::note));
    }
    if before.contains(text) {
        return Err(Problem::at(field.span(), format!("field `{text}` is named twice")));
    }
    if WITH_REFERENCE.contains(&text.as_str()) && keys.reference.is_none() {
        let problem = Problem::at(field.span(), format!("`{text}` needs `reference`"));
        return Err(problem.note("add, for example: reference = { velocity = 1.0 }"));
    }
    Ok(())
}

fn check_reference(file: Option<&SurfaceReferenceFile>) -> Result<SurfaceReference, Problem> {
    let (velocity, density, pressure) =
        file.map_or((&None, &None, &None), |file| (&file.velocity, &file.density, &file.pressure));
    Ok(SurfaceReference {
        velocity: number(velocity, 1.0, "velocity", Sign::Positive)?,
        density: number(density, 1.0, "density", Sign::Positive)?,
        pressure: number(pressure, 0.0, "pressure", Sign::Any)?,
    })
}

/// Checks that surfaces with fields of walls lie where the velocity of a viscous flow is prescribed.
pub(crate) fn check_walls(
    files: &[Spanned<SurfaceFile>],
    boundary: &[PatchCondition<FlowBoundary>],
    viscosity: f64,
) -> Result<(), Problem> {
    let is_wall = |patch: &str| {
        let of_patch = |given: &&PatchCondition<FlowBoundary>| given.patch == patch;
        let given = boundary.iter().find(of_patch);
        // A patch without a condition is reported with the mesh.
        let is_prescribed = |given: &PatchCondition<FlowBoundary>| {
            given.condition.condition().is_some_and(FlowBoundaryCondition::prescribes_velocity)
        };
        given.is_none_or(is_prescribed)
    };
    let is_inviscid = viscosity == 0.0;
    for (surface, field) in surfaces_with(files, &OF_WALLS) {
        if is_inviscid {
            let message = format!("`{}` needs a viscosity: this flow is inviscid", field.get_ref());
            return Err(Problem::at(field.span(), message));
        }
        for patch in surface.patches.iter().flat_map(Spanned::get_ref) {
            if !is_wall(patch.get_ref()) {
                let message = format!(
                    "`{}` is a field of walls: no velocity is prescribed on patch \"{}\"",
                    field.get_ref(),
                    patch.get_ref()
                );
                let note = "it exists on patches with no_slip, moving_wall, velocity_inlet or flow_rate_inlet";
                return Err(Problem::at(patch.span(), message).note(note));
            }
        }
    }
    Ok(())
}

/// Surfaces that have one of some fields, each with the first of them.
fn surfaces_with<'f>(
    files: &'f [Spanned<SurfaceFile>],
    names: &'f [&str],
) -> impl Iterator<Item = (&'f SurfaceFile, &'f Spanned<String>)> {
    files.iter().map(Spanned::get_ref).filter_map(|surface| {
        let mut fields = surface.fields.iter().flat_map(Spanned::get_ref);
        Some((surface, fields.find(|field| names.contains(&field.get_ref().as_str()))?))
    })
}

/// Checks that surfaces with fields of walls with friction lie on such walls.
pub(crate) fn check_walls_of_gas(
    files: &[Spanned<SurfaceFile>],
    boundary: &[PatchCondition<CompressibleBoundary>],
    is_viscous: bool,
) -> Result<(), Problem> {
    for (surface, field) in surfaces_with(files, &OF_WALLS_OF_GAS) {
        if !is_viscous {
            let message = format!("`{}` needs [compressible.viscous]", field.get_ref());
            return Err(Problem::at(field.span(), message));
        }
        for patch in surface.patches.iter().flat_map(Spanned::get_ref) {
            let given = boundary.iter().find(|given| given.patch == *patch.get_ref());
            // A patch without a condition is reported with the mesh.
            let condition = given.and_then(|given| given.condition.condition());
            if condition.is_some_and(|condition| !condition.has_friction()) {
                let message = format!(
                    "`{}` is a field of walls with friction: patch \"{}\" is none",
                    field.get_ref(),
                    patch.get_ref()
                );
                let note = "it exists on patches with no_slip, isothermal or moving_wall";
                return Err(Problem::at(patch.span(), message).note(note));
            }
        }
    }
    Ok(())
}

/// A reference without effect.
pub(crate) fn without_effect(keys: &SurfaceFile) -> Option<Problem> {
    let mut fields = keys.fields.iter().flat_map(Spanned::get_ref);
    let reference = keys.reference.as_ref()?;
    let has_effect = fields.any(|field| WITH_REFERENCE.contains(&field.get_ref().as_str()));
    let message = format!("`reference` has no effect without `{PRESSURE_COEFFICIENT}`");
    (!has_effect).then(|| Problem::at(reference.span(), message))
}
