//! `[exact]`: exact solutions to compare a result with.

use super::error::Problem;
use super::names::Names;
use super::value::{Maybe, Reader, Rule, ScalarFile, Sign, Value, VectorFile, refuse};
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

/// A field and its exact solution.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactField {
    /// The field; a velocity has one entry for each component, `velocity_x` and so on. The vorticity is
    /// that of a 2D flow.
    pub field: String,
    /// The exact solution, a function of x and t.
    pub value: Value,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExactFile {
    temperature: Maybe<ScalarFile>,
    velocity: Maybe<VectorFile<ScalarFile>>,
    pressure: Maybe<ScalarFile>,
    vorticity: Maybe<ScalarFile>,
    density: Maybe<IgnoredAny>,
}

pub(crate) fn check(
    file: Option<&Spanned<ExactFile>>,
    names: Names,
    reader: Reader<'_>,
) -> Result<Vec<ExactField>, Problem> {
    let Some(file) = file else {
        return Ok(Vec::new());
    };
    let keys = file.get_ref();
    if names.is_flow() {
        refuse(&keys.density, "density", super::EULER_ONLY)?;
    } else {
        const FLOW: &str = "belongs to a flow case, this one is of heat";
        refuse(&keys.velocity, "velocity", FLOW)?;
        refuse(&keys.pressure, "pressure", FLOW)?;
        refuse(&keys.vorticity, "vorticity", FLOW)?;
        refuse(&keys.density, "density", FLOW)?;
    }
    if !names.is_thermal() {
        refuse(&keys.temperature, "temperature", super::NEEDS_THERMAL)?;
    }
    let rule = |name| Rule { name, sign: Sign::Any, time: true };
    let mut exact = Vec::new();
    let mut add = |field: &str, value| exact.push(ExactField { field: field.to_owned(), value });
    if keys.velocity.is_some() {
        let velocity = reader.vector_of_scalars(&keys.velocity, rule("velocity"))?;
        for (component, value) in ["velocity_x", "velocity_y", "velocity_z"].iter().zip(velocity) {
            add(component, value);
        }
    }
    let scalars = [
        ("pressure", &keys.pressure),
        ("temperature", &keys.temperature),
        ("vorticity", &keys.vorticity),
    ];
    for (name, file) in scalars {
        if let Some(file) = file {
            add(name, reader.scalar(file.get_ref(), file.span(), rule(name))?);
        }
    }
    Ok(exact)
}
