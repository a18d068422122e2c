//! The keys of `[boundary]`: each equation lists those of its conditions in this form, from which the reader of a case,
//! its checks and messages, and the case reference follow.

/// A key of `[boundary]`. `V` is a prescribed value, `C` the condition made of it.
#[derive(Debug)]
pub struct ConditionKey<V, C> {
    /// The key.
    pub name: &'static str,
    /// The value of the key, and the condition of a value.
    pub value: KeyValue<V, C>,
    /// SI unit of the value.
    pub units: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// An example, as TOML.
    pub example: &'static str,
}

/// The value of a key with a condition.
#[derive(Debug)]
pub enum KeyValue<V, C> {
    /// `true`, or the key as a word; the condition is made with the value 0.
    Flag(fn(V) -> C),
    /// A number.
    Scalar(Quantity, fn(V) -> C),
    /// A vector.
    Vector(Quantity, fn([V; 3]) -> C),
    /// Numbers by name; the condition is made of all of them, in the order of the entries.
    Table(ValueTable, fn(&[V]) -> C),
}

/// A prescribed quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The words that stand for its value in messages.
    pub words: &'static str,
    /// The sign its value may have.
    pub sign: Sign,
    /// Whether it belongs to a whole patch: it may depend on time, not on place.
    pub is_uniform: bool,
}

/// The sign allowed for a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Any.
    Any,
    /// ≥ 0.
    NotNegative,
    /// > 0.
    Positive,
}

/// The names of a table of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueTable {
    /// Its section in the reference: `boundary.PATCH.KEY`.
    pub section: &'static str,
    /// Its meaning, a sentence.
    pub meaning: &'static str,
    /// Its entries, all required.
    pub entries: &'static [Entry],
}

/// An entry of a table of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub name: &'static str,
    /// The value.
    pub quantity: Quantity,
    /// SI unit.
    pub units: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// An example, as TOML.
    pub example: &'static str,
}

/// The form of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `true`.
    Flag,
    /// A number.
    Scalar(Quantity),
    /// A list of two or three numbers.
    Vector(Quantity),
    /// Numbers by name.
    Table(ValueTable),
}

impl Quantity {
    /// A quantity of any sign, in place and time.
    pub const fn new(words: &'static str) -> Self {
        Quantity { words, sign: Sign::Any, is_uniform: false }
    }

    /// The quantity with a bound of its sign.
    pub const fn with_sign(self, sign: Sign) -> Self {
        Quantity { sign, ..self }
    }

    /// The quantity of a whole patch.
    pub const fn uniform(self) -> Self {
        Quantity { is_uniform: true, ..self }
    }

    /// Its value, for the reference.
    pub const fn kind(&self) -> &'static str {
        match (self.is_uniform, self.sign) {
            (false, Sign::Any) => "value",
            (false, Sign::NotNegative) => "value ≥ 0",
            (false, Sign::Positive) => "value > 0",
            (true, Sign::Any) => "value of t",
            (true, Sign::NotNegative) => "value of t, ≥ 0",
            (true, Sign::Positive) => "value of t, > 0",
        }
    }
}

impl ValueTable {
    /// The names in braces: `{ coefficient, ambient }`.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.entries.iter().map(|entry| entry.name).collect();
        format!("{{ {} }}", names.join(", "))
    }
}

impl Form {
    /// The value in the words of a message; none of a flag.
    pub fn words(&self) -> Option<String> {
        match self {
            Form::Flag => None,
            Form::Scalar(quantity) | Form::Vector(quantity) => Some(quantity.words.to_owned()),
            Form::Table(table) => Some(table.names()),
        }
    }

    /// The value, for the reference.
    pub fn kind(&self) -> String {
        match self {
            Form::Flag => "true".to_owned(),
            Form::Scalar(quantity) => quantity.kind().to_owned(),
            Form::Vector(_) => "list of 2 or 3 values".to_owned(),
            Form::Table(table) => table.names(),
        }
    }
}

impl<V, C> ConditionKey<V, C> {
    /// The form of the value.
    pub const fn form(&self) -> Form {
        match &self.value {
            KeyValue::Flag(_) => Form::Flag,
            KeyValue::Scalar(quantity, _) => Form::Scalar(*quantity),
            KeyValue::Vector(quantity, _) => Form::Vector(*quantity),
            KeyValue::Table(table, _) => Form::Table(*table),
        }
    }
}
