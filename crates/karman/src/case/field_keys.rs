//! Keys of `[initial]` and `[exact]`: one for each field of an equation that has a key there.

use super::EQUATIONS;
use super::error::Problem;
use super::names::Names;
use super::value::{KnownKey, Maybe, ScalarFile, VectorFile};
use crate::descriptor::{Field, FieldKey, Need, Rank};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::sync::LazyLock;
use toml::Spanned;

/// A section with keys of fields.
pub(crate) trait FieldSection: 'static {
    /// The key of a field, if the section has one.
    fn key(field: &Field) -> Option<FieldKey>;
    /// Names of all keys, each once.
    fn names() -> &'static [&'static str];
}

/// The key of a result from which fields are taken.
const FROM: &str = "from";

/// `[initial]`
#[derive(Clone, Debug)]
pub(crate) struct Initial;
/// `[exact]`
#[derive(Clone, Debug)]
pub(crate) struct Exact;

impl FieldSection for Initial {
    fn key(field: &Field) -> Option<FieldKey> {
        field.initial
    }

    fn names() -> &'static [&'static str] {
        static NAMES: LazyLock<Vec<&str>> =
            LazyLock::new(|| all_names::<Initial>().into_iter().chain([FROM]).collect());
        &NAMES
    }
}

impl FieldSection for Exact {
    fn key(field: &Field) -> Option<FieldKey> {
        field.exact
    }

    fn names() -> &'static [&'static str] {
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(all_names::<Exact>);
        &NAMES
    }
}

fn all_names<S: FieldSection>() -> Vec<&'static str> {
    fields::<S>().map(|(field, _)| field.name).collect()
}

/// The fields with a key in the section, each name once.
pub(super) fn fields<S: FieldSection>() -> impl Iterator<Item = (&'static Field, FieldKey)> {
    let mut known: Vec<&str> = Vec::new();
    EQUATIONS.iter().flat_map(|equation| equation.fields()).filter_map(move |field| {
        let key = S::key(field).filter(|_| !known.contains(&field.name))?;
        known.push(field.name);
        Some((field, key))
    })
}

/// The section as written.
#[derive(Clone, Debug)]
pub(crate) struct FieldKeys<S> {
    scalars: Vec<(&'static str, Spanned<ScalarFile>)>,
    vectors: Vec<(&'static str, Spanned<VectorFile<ScalarFile>>)>,
    /// The result from which fields are taken; of `[initial]`.
    pub(crate) from: Maybe<String>,
    section: PhantomData<S>,
}

impl<S: FieldSection> FieldKeys<S> {
    /// The value of a scalar field.
    pub(crate) fn scalar(&self, name: &str) -> Option<&Spanned<ScalarFile>> {
        self.scalars.iter().find(|(known, _)| *known == name).map(|(_, file)| file)
    }

    /// The value of a vector field.
    pub(crate) fn vector(&self, name: &str) -> Maybe<VectorFile<ScalarFile>> {
        self.vectors.iter().find(|(known, _)| *known == name).map(|(_, file)| file.clone())
    }

    /// Whether the section has the key of a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.scalar(name).is_some() || self.vectors.iter().any(|(known, _)| *known == name)
    }

    /// Refuses fields that the equation of the case does not have.
    pub(crate) fn check(&self, names: Names) -> Result<(), Problem> {
        let scalars = self.scalars.iter().map(|(name, file)| (*name, file.span()));
        let vectors = self.vectors.iter().map(|(name, file)| (*name, file.span()));
        for (name, span) in scalars.chain(vectors) {
            let is_key = |field: &Field| field.name == name && S::key(field).is_some();
            let known = names.all_fields().find(|field| is_key(field));
            let why = match known {
                None => names.refusal(|equation| equation.fields().any(is_key)).unwrap_or_default(),
                Some(field) if field.needs.contains(&Need::Temperature) && !names.is_thermal() => {
                    super::NEEDS_THERMAL.to_owned()
                }
                Some(_) => continue,
            };
            return Err(Problem::at(span, format!("`{name}` {why}")));
        }
        Ok(())
    }
}

impl<'de, S: FieldSection> Deserialize<'de> for FieldKeys<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("FieldKeys", S::names(), FieldKeysVisitor(PhantomData))
    }
}

struct FieldKeysVisitor<S>(PhantomData<S>);

impl<'de, S: FieldSection> Visitor<'de> for FieldKeysVisitor<S> {
    type Value = FieldKeys<S>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FieldKeys<S>, A::Error> {
        let (scalars, vectors) = (Vec::new(), Vec::new());
        let mut keys = FieldKeys { scalars, vectors, from: None, section: PhantomData };
        while let Some(name) = map.next_key_seed(KnownKey(S::names()))? {
            if name == FROM {
                keys.from = Some(map.next_value()?);
            } else if let Some((field, _)) = fields::<S>().find(|(field, _)| field.name == name) {
                match field.rank {
                    Rank::Vector(_) => keys.vectors.push((field.name, map.next_value()?)),
                    Rank::Scalar | Rank::Axial => {
                        keys.scalars.push((field.name, map.next_value()?))
                    }
                }
            }
        }
        Ok(keys)
    }
}
