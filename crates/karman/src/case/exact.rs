//! `[exact]`: exact solutions to compare a result with.

use super::error::Problem;
use super::field_keys::{Exact, FieldKeys};
use super::names::Names;
use super::value::{Reader, Rule, Sign, Value};
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

pub(crate) type ExactFile = FieldKeys<Exact>;

pub(crate) fn check(
    file: Option<&Spanned<ExactFile>>,
    names: Names,
    reader: Reader<'_>,
) -> Result<Vec<ExactField>, Problem> {
    let Some(file) = file else {
        return Ok(Vec::new());
    };
    let keys = file.get_ref();
    keys.check(names)?;
    let mut exact = Vec::new();
    for field in names.all_fields() {
        let rule = Rule { name: field.name, sign: Sign::Any, time: true };
        let vector = keys.vector(field.name);
        let values = match keys.scalar(field.name) {
            Some(file) => vec![reader.scalar(file.get_ref(), file.span(), rule)?],
            None if vector.is_some() => reader.vector_of_scalars(&vector, rule)?.into(),
            None => continue,
        };
        let names = field.components().iter().map(|name| name.to_string());
        exact.extend(names.zip(values).map(|(field, value)| ExactField { field, value }));
    }
    Ok(exact)
}
