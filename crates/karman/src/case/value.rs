//! Values of a case: a number, an expression of place and time, a table in time, one per region.

use super::error::Problem;
use super::table::TimeTable;
pub(crate) use crate::descriptor::Sign;
use crate::expression::{Expression, ExpressionErrorKind, Variables};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// A key that may be absent, with its place.
pub(crate) type Maybe<T> = Option<Spanned<T>>;

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A constant.
    Constant(f64),
    /// A formula of x, y, z and t.
    Expression(Expression),
    /// Numbers at times, linear between them.
    Table(TimeTable),
}

impl Value {
    /// Whether the value depends on time.
    pub fn depends_on_time(&self) -> bool {
        match self {
            Value::Constant(_) => false,
            Value::Expression(expression) => expression.depends_on_time(),
            Value::Table(table) => table.times().len() > 1,
        }
    }

    /// Whether the value depends on x, y or z.
    pub fn depends_on_place(&self) -> bool {
        match self {
            Value::Constant(_) | Value::Table(_) => false,
            Value::Expression(formula) => (0..3).any(|axis| formula.depends_on_component(axis)),
        }
    }

    /// The number of a value that is constant.
    pub fn constant(&self) -> Option<f64> {
        match self {
            Value::Constant(value) => Some(*value),
            Value::Expression(expression) => expression.is_constant(),
            Value::Table(_) => None,
        }
    }

    /// The value at a point (x, y, z) and a time.
    pub fn at(&self, point: &[f64], t: f64) -> f64 {
        match self {
            Value::Constant(value) => *value,
            Value::Expression(expression) => expression.evaluate(point, t),
            Value::Table(table) => table.at(t),
        }
    }

    /// Values at many points: `points: [3][n]` component-major, `out: [n]`.
    pub fn evaluate_many(&self, points: &[f64], t: f64, out: &mut [f64]) {
        match self {
            Value::Constant(value) => out.fill(*value),
            Value::Expression(expression) => expression.evaluate_many(points, t, out),
            Value::Table(table) => out.fill(table.at(t)),
        }
    }
}

/// A quantity that may differ from one region of the mesh to another.
#[derive(Clone, Debug, PartialEq)]
pub struct ByRegion {
    /// The value in regions not named; `None` where every region must be named.
    pub everywhere: Option<Value>,
    /// The value of each named region, in the order of the case file.
    pub regions: Vec<(String, Value)>,
}

impl ByRegion {
    /// The value in a region; `None` only for a region that the case fails to name, which
    /// [`super::Case::check_regions`] refuses.
    pub fn of(&self, region: &str) -> Option<&Value> {
        let named = self.regions.iter().find(|(name, _)| name == region);
        named.map(|(_, value)| value).or(self.everywhere.as_ref())
    }
}

/// A number or an expression, as written.
#[derive(Clone, Debug)]
pub(crate) enum ScalarFile {
    Number(f64),
    Text(String),
}

impl fmt::Display for ScalarFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarFile::Number(value) => write!(formatter, "{value}"),
            ScalarFile::Text(text) => formatter.write_str(text),
        }
    }
}

/// A number, an expression or `{ table = "file.csv" }`, as written.
#[derive(Clone, Debug)]
pub(crate) enum ValueFile {
    Scalar(ScalarFile),
    Table(TableFile),
}

/// A list of values, as written.
pub(crate) type VectorFile<T> = Vec<Spanned<T>>;

/// `{ table = "file.csv" }`
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableFile {
    pub(crate) table: Maybe<String>,
}

/// A number, an expression or `{ region = number }`, as written.
#[derive(Clone, Debug)]
pub(crate) enum QuantityFile {
    Scalar(ScalarFile),
    Regions(Named<ScalarFile>),
}

/// ab, in the form of a case file.
pub(crate) fn product_of_scalars(a: &ScalarFile, b: &ScalarFile) -> ScalarFile {
    match (a, b) {
        (ScalarFile::Number(a), ScalarFile::Number(b)) => ScalarFile::Number(a * b),
        (a, b) => ScalarFile::Text(format!("({a}) * ({b})")),
    }
}

/// ab, in the form of a case file: by region where a factor is, in the regions that both have.
pub(crate) fn product_of_quantities(a: &QuantityFile, b: &QuantityFile) -> QuantityFile {
    use QuantityFile::{Regions, Scalar};
    let product = |(name, a): &(Spanned<String>, Spanned<ScalarFile>), b: &ScalarFile| {
        let product = product_of_scalars(a.get_ref(), b);
        (name.clone(), Spanned::new(a.span(), product))
    };
    let entries = match (a, b) {
        (Scalar(a), Scalar(b)) => return Scalar(product_of_scalars(a, b)),
        (Regions(a), Scalar(b)) | (Scalar(b), Regions(a)) => {
            a.0.iter().map(|entry| product(entry, b)).collect()
        }
        (Regions(a), Regions(b)) => {
            let other = |name: &str| b.0.iter().find(|(region, _)| region.get_ref() == name);
            let entries = a.0.iter().filter_map(|entry| {
                let (_, b) = other(entry.0.get_ref())?;
                Some(product(entry, b.get_ref()))
            });
            entries.collect()
        }
    };
    Regions(Named(entries))
}

/// Named entries of a table, in the order of the file, each with its place.
#[derive(Clone, Debug)]
pub(crate) struct Named<T>(pub(crate) Vec<(Spanned<String>, Spanned<T>)>);

/// A value with its place, in the form that `wrap` gives it.
pub(crate) fn spanned<T, U>(file: Spanned<T>, wrap: impl Fn(T) -> U) -> Spanned<U> {
    Spanned::new(file.span(), wrap(file.into_inner()))
}

/// Reads one of the names as a key of a table. The error of another key has its place.
pub(crate) struct KnownKey(pub(crate) &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KnownKey {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KnownKey {
    type Value = &'static str;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<&'static str, E> {
        let known = self.0.iter().find(|known| **known == name);
        known.copied().ok_or_else(|| E::unknown_field(name, self.0))
    }
}

struct ScalarVisitor;
struct ValueVisitor;
struct QuantityVisitor;
struct NamedVisitor<T>(PhantomData<T>);

/// The reader of a type that is a number, a text or `$map`.
macro_rules! number_or_text {
    ($visitor:ident, $file:ty, $expecting:literal, $wrap:expr $(, $map:item)?) => {
        impl<'de> Visitor<'de> for $visitor {
            type Value = $file;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str($expecting)
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<$file, E> {
                Ok($wrap(ScalarFile::Number(value)))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<$file, E> {
                self.visit_f64(value as f64)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<$file, E> {
                self.visit_f64(value as f64)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<$file, E> {
                Ok($wrap(ScalarFile::Text(text.to_owned())))
            }

            $($map)?
        }

        impl<'de> Deserialize<'de> for $file {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }
    };
}

number_or_text!(ScalarVisitor, ScalarFile, "a number or an expression in quotes", |scalar| scalar);
number_or_text!(
    ValueVisitor,
    ValueFile,
    "a number, an expression in quotes or { table = \"file.csv\" }",
    ValueFile::Scalar,
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ValueFile, A::Error> {
        let table = TableFile::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(ValueFile::Table(table))
    }
);
number_or_text!(
    QuantityVisitor,
    QuantityFile,
    "a number, an expression in quotes or { region = number }",
    QuantityFile::Scalar,
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<QuantityFile, A::Error> {
        NamedVisitor(PhantomData).visit_map(map).map(QuantityFile::Regions)
    }
);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NamedVisitor<T> {
    type Value = Named<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry::<Spanned<String>, Spanned<T>>()? {
            entries.push(entry);
        }
        entries.sort_by_key(|(name, _)| name.span().start);
        Ok(Named(entries))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamedVisitor(PhantomData))
    }
}

/// Constraints on a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) sign: Sign,
    pub(crate) time: bool,
}

impl Rule {
    pub(crate) fn check_number(&self, value: f64, span: Range<usize>) -> Result<f64, Problem> {
        let name = self.name;
        let wrong = match self.sign {
            _ if !value.is_finite() => format!("`{name}` must be finite, not {value}"),
            Sign::Positive if value <= 0.0 => format!("`{name}` must be positive, not {value}"),
            Sign::NotNegative if value < 0.0 => {
                format!("`{name}` must not be negative, not {value}")
            }
            _ => return Ok(value),
        };
        Err(Problem::at(span, wrong))
    }
}

/// Requirements of the values of a case on its mesh and files.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// Formulas of z: the name of the value, and its place.
    pub(crate) third_coordinate: Vec<(&'static str, Range<usize>)>,
    /// Files of tables.
    pub(crate) tables: Vec<PathBuf>,
}

/// Context for reading values: the text of the case and the folder of its files.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'c> {
    pub(crate) text: &'c str,
    pub(crate) folder: &'c Path,
    /// Whether the case is steady, so that no value may depend on time.
    pub(crate) steady: bool,
    /// Needs of the values read so far.
    pub(crate) needs: &'c RefCell<Needs>,
}

impl Reader<'_> {
    pub(crate) fn scalar(
        &self,
        scalar: &ScalarFile,
        span: Range<usize>,
        rule: Rule,
    ) -> Result<Value, Problem> {
        let text = match scalar {
            ScalarFile::Number(value) => {
                return rule.check_number(*value, span).map(Value::Constant);
            }
            ScalarFile::Text(text) => text,
        };
        let expression = Expression::parse(text, Variables::CARTESIAN).map_err(|error| {
            let place = self.inside(&span, text, &error.span);
            let problem = Problem::at(place, format!("in an expression: {error}"));
            match error.kind {
                ExpressionErrorKind::UnknownName { known, .. } => {
                    problem.note(format!("valid names: {}", known.join(", ")))
                }
                _ => problem,
            }
        })?;
        if expression.depends_on_time() && !rule.time {
            let message = format!("`{}` may depend on x, y and z, but not on t", rule.name);
            return Err(Problem::at(span, message));
        }
        if expression.depends_on_time() && self.steady {
            return Err(no_time(rule.name, span));
        }
        if expression.depends_on_component(2) {
            self.needs.borrow_mut().third_coordinate.push((rule.name, span.clone()));
        }
        match expression.is_constant() {
            Some(value) => rule.check_number(value, span).map(Value::Constant),
            None => Ok(Value::Expression(expression)),
        }
    }

    pub(crate) fn value(&self, file: &Spanned<ValueFile>, rule: Rule) -> Result<Value, Problem> {
        let reference = match file.get_ref() {
            ValueFile::Scalar(scalar) => return self.scalar(scalar, file.span(), rule),
            ValueFile::Table(reference) => reference,
        };
        let Some(name) = &reference.table else {
            return Err(Problem::at(file.span(), "`table` is missing: { table = \"file.csv\" }"));
        };
        let path = self.folder.join(name.get_ref());
        self.needs.borrow_mut().tables.push(path.clone());
        let table =
            TimeTable::read(&path).map_err(|error| Problem::at(name.span(), error.to_string()))?;
        if self.steady {
            return Err(no_time(rule.name, name.span()));
        }
        for value in table.values() {
            rule.check_number(*value, name.span())?;
        }
        Ok(Value::Table(table))
    }

    /// The components of a vector; a third that is left out is 0.
    pub(crate) fn vector(
        &self,
        file: &Spanned<VectorFile<ValueFile>>,
        rule: Rule,
    ) -> Result<[Value; 3], Problem> {
        components(file, rule.name, |entry| self.value(entry, rule))
    }

    /// The components of a vector of numbers and expressions; zeros where the key is absent.
    pub(crate) fn vector_of_scalars(
        &self,
        file: &Maybe<VectorFile<ScalarFile>>,
        rule: Rule,
    ) -> Result<[Value; 3], Problem> {
        match file {
            None => Ok([0.0; 3].map(Value::Constant)),
            Some(file) => components(file, rule.name, |entry| {
                self.scalar(entry.get_ref(), entry.span(), rule)
            }),
        }
    }

    /// A quantity by region: its key in the section, then the `[….region.NAME]` tables. `unnamed` is
    /// the value in regions that `{ region = number }` leaves out, if it may leave out any.
    pub(crate) fn quantity<'f>(
        &self,
        file: &Maybe<QuantityFile>,
        default: f64,
        unnamed: Option<f64>,
        rule: Rule,
        tables: impl Iterator<Item = (&'f Spanned<String>, &'f Spanned<ScalarFile>)>,
    ) -> Result<ByRegion, Problem> {
        let mut everywhere = Some(Value::Constant(default));
        let mut regions: Vec<(String, Value)> = Vec::new();
        match file.as_ref().map(|file| (file.get_ref(), file.span())) {
            None => {}
            Some((QuantityFile::Scalar(scalar), span)) => {
                everywhere = Some(self.scalar(scalar, span, rule)?);
            }
            Some((QuantityFile::Regions(named), span)) => {
                everywhere = unnamed.map(Value::Constant);
                if named.0.is_empty() {
                    return Err(Problem::at(span, format!("`{}` names no region", rule.name)));
                }
                for (region, value) in &named.0 {
                    let checked = self.scalar(value.get_ref(), value.span(), rule)?;
                    regions.push((region.get_ref().clone(), checked));
                }
            }
        }
        for (region, value) in tables {
            if regions.iter().any(|(name, _)| name == region.get_ref()) {
                let message = format!("`{}` of region \"{region}\" is given twice", rule.name);
                return Err(Problem::at(value.span(), message));
            }
            let checked = self.scalar(value.get_ref(), value.span(), rule)?;
            regions.push((region.get_ref().clone(), checked));
        }
        Ok(ByRegion { everywhere, regions })
    }

    /// The place of bytes `part` of a string's content, given the place of the string. Exact
    /// where the content stands in the file as it is, the whole string where it has escapes.
    fn inside(&self, string: &Range<usize>, content: &str, part: &Range<usize>) -> Range<usize> {
        let raw = self.text.get(string.clone()).unwrap_or("");
        match raw.find(content) {
            Some(offset) if !content.is_empty() => {
                let start = string.start + offset;
                start + part.start..start + part.end
            }
            _ => string.clone(),
        }
    }
}

fn no_time(name: &str, span: Range<usize>) -> Problem {
    let message = format!("`{name}` depends on time and this case has no [time]");
    Problem::at(span, message)
}

fn components<T>(
    file: &Spanned<VectorFile<T>>,
    name: &str,
    checked: impl Fn(&Spanned<T>) -> Result<Value, Problem>,
) -> Result<[Value; 3], Problem> {
    let entries = file.get_ref();
    if !(2..=3).contains(&entries.len()) {
        let message = format!("`{name}` takes 2 or 3 components, {} given", entries.len());
        return Err(Problem::at(file.span(), message));
    }
    let mut vector = [0.0; 3].map(Value::Constant);
    for (component, entry) in vector.iter_mut().zip(entries) {
        *component = checked(entry)?;
    }
    Ok(vector)
}

/// A number of the case, finite and of the right sign.
pub(crate) fn number(
    file: &Maybe<f64>,
    default: f64,
    name: &'static str,
    sign: Sign,
) -> Result<f64, Problem> {
    match file {
        None => Ok(default),
        Some(value) => {
            Rule { name, sign, time: false }.check_number(*value.get_ref(), value.span())
        }
    }
}

/// Coordinates of a point: two (z = 0) or three finite numbers.
pub(crate) fn point(file: &Spanned<Vec<f64>>, name: &'static str) -> Result<[f64; 3], Problem> {
    let entries = file.get_ref();
    if !(2..=3).contains(&entries.len()) {
        let message = format!("`{name}` takes 2 or 3 numbers, {} given", entries.len());
        return Err(Problem::at(file.span(), message));
    }
    let mut point = [0.0; 3];
    for (component, value) in point.iter_mut().zip(entries) {
        *component =
            Rule { name, sign: Sign::Any, time: false }.check_number(*value, file.span())?;
    }
    Ok(point)
}

/// The value of a required key; `section` is the place shown where it is missing.
pub(crate) fn required<'f, T>(
    file: &'f Maybe<T>,
    name: &str,
    section: &Range<usize>,
) -> Result<&'f Spanned<T>, Problem> {
    file.as_ref().ok_or_else(|| Problem::at(section.clone(), format!("`{name}` is missing")))
}

/// Refuses a key of other equations.
pub(crate) fn refuse<T>(file: &Maybe<T>, name: &str, why: &str) -> Result<(), Problem> {
    match file {
        None => Ok(()),
        Some(value) => Err(Problem::at(value.span(), format!("`{name}` {why}"))),
    }
}
