//! The reference of the case file: one table, printed by `karman help case` and as `docs/cases.md`.

mod table;

pub use table::SECTIONS;

use std::borrow::Cow;
use std::fmt::Write;

/// A section of the case file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its path, as in the header: `heat`, `mesh.generate.box`, `heat.region.NAME`; empty for
    /// keys outside all sections.
    pub path: &'static str,
    /// Whether it is a list, with the header in double brackets.
    pub list: bool,
    /// Its purpose.
    pub meaning: Cow<'static, str>,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// A key of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key as written.
    pub name: &'static str,
    /// The allowed values; words are separated by ` | `.
    pub kind: Cow<'static, str>,
    /// The default, as TOML or in words.
    pub default: Cow<'static, str>,
    /// The SI unit of the value; empty for none.
    pub units: &'static str,
    /// Its meaning.
    pub meaning: Cow<'static, str>,
    /// An example, as TOML.
    pub example: &'static str,
}

impl Section {
    /// The header of the section; empty for keys outside all sections.
    pub fn header(&self) -> String {
        match (self.path, self.list) {
            ("", _) => String::new(),
            (path, true) => format!("[[{path}]]"),
            (path, false) => format!("[{path}]"),
        }
    }
}

/// The sections whose path is `path` or starts with it: `mesh` gives the generators as well.
pub fn sections(path: &str) -> impl Iterator<Item = &'static Section> {
    let inside = move |section: &&Section| match section.path.strip_prefix(path) {
        Some(rest) => rest.is_empty() || rest.starts_with('.'),
        None => false,
    };
    SECTIONS.iter().filter(inside)
}

/// Text about sections for a terminal: all of them, or those of [`sections`].
/// `None` where there is no such section.
pub fn help(path: Option<&str>) -> Option<String> {
    let chosen: Vec<&Section> = match path {
        None => SECTIONS.iter().collect(),
        Some(path) => sections(path.trim_matches(['[', ']'])).collect(),
    };
    if chosen.is_empty() {
        return None;
    }
    let mut text = String::new();
    if path.is_none() {
        wrap(&mut text, INTRODUCTION, "");
        text.push('\n');
    }
    for section in chosen {
        let header = section.header();
        if !header.is_empty() {
            text.push_str(&header);
            text.push('\n');
        }
        wrap(&mut text, &section.meaning, "  ");
        for key in &section.keys {
            let units =
                if key.units.is_empty() { String::new() } else { format!(" [{}]", key.units) };
            // Writing to a String cannot fail.
            text.push('\n');
            wrap(&mut text, &format!("{} : {}{units}", key.name, key.kind), "  ");
            let _ = writeln!(text, "      default: {}", key.default);
            wrap(&mut text, &key.meaning, "      ");
            let _ = writeln!(text, "      {}", key.example);
        }
        text.push('\n');
    }
    if path.is_none() {
        text.push_str(&EXPRESSIONS.replace('`', ""));
    }
    Some(text)
}

/// The page `docs/cases.md`.
pub fn markdown() -> String {
    let mut text = String::from("# The case file\n\n");
    text.push_str(INTRODUCTION);
    for section in SECTIONS.iter() {
        let header = section.header();
        let header = match header.as_str() {
            "" => "Outside sections".to_owned(),
            header => format!("`{header}`"),
        };
        let _ = write!(text, "\n## {header}\n\n{}\n", section.meaning);
        if section.keys.is_empty() {
            continue;
        }
        text.push_str("\n| Key | Value | Default | Unit | Meaning | Example |\n");
        text.push_str("|---|---|---|---|---|---|\n");
        for key in &section.keys {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} | `{}` |",
                key.name,
                key.kind.replace('|', "\\|"),
                key.default.replace('|', "\\|"),
                key.units,
                key.meaning.replace('|', "\\|"),
                key.example.replace('|', "\\|"),
            );
        }
    }
    text.push_str("\n## Expressions\n\n");
    text.push_str(EXPRESSIONS);
    text.push_str("\n## An example\n\n```toml\n");
    let example = super::templates::templates().find(|template| template.name == "heat_unsteady");
    text.push_str(example.map_or("", |template| template.text));
    text.push_str("```\n");
    text
}

const INTRODUCTION: &str = "\
A case is one TOML file. Quantities are in SI units or consistently dimensionless; the units below
are those of SI. An unknown key is an error that shows the line and the valid keys. Paths start at
the folder of the case file. Where `number | expression` is a value, a formula stands in quotes. The
values of `[boundary]` may also be `{ table = \"file.csv\" }`, a CSV file with the columns `t,value`,
linear between its rows and constant before the first and after the last.
";

const EXPRESSIONS: &str = "\
Formulas in quotes use `x y z t pi`, the operators `+ - * / ^`, the comparisons `< <= > >= == !=`,
`and or not`, `if(condition, a, b)`, `sin cos tan exp log sqrt abs floor tanh`, and `min max` of two
or more arguments. `log` is the natural logarithm. From loose to tight: `or`, `and`, `not`,
comparisons, `+ -`, `* /`, sign, `^`; so `-x^2` is `-(x^2)`, and `2^3^2` is `2^(3^2)`. Comparisons do
not chain; they give 1 or 0, and any number but 0 counts as true. Both branches of `if` are computed,
so an undefined value in the branch not taken does no harm.
";

/// Appends `words` in lines of at most 96 columns.
fn wrap(text: &mut String, words: &str, indent: &str) {
    let mut column = 0;
    for word in words.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 96 {
            text.push('\n');
            column = 0;
        }
        if column == 0 {
            text.push_str(indent);
            column = indent.len();
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word.replace('`', ""));
        column += width;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests;
