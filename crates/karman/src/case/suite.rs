//! A suite of cases that are validated together, `validation/suite.toml` in the folder of the cases: the cases,
//! the names of their numbers, the figures with curves and reference values.

mod figure;
#[cfg(test)]
mod tests;

pub use figure::{Axis as FigureAxis, Curve, Figure, FigureKind, Reference, ReferenceData};

use super::error::{CaseError, Problem, Source};
use super::value::{Maybe, Named, Reader, Rule, Sign, required};
use figure::FigureFile;
use serde::Deserialize;
use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The file, from the folder of the cases; beside it are the tables of reference values.
pub const SUITE_FILE: &str = "validation/suite.toml";

/// A checked suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its folder, where the cases are.
    pub folder: PathBuf,
    /// Heading of its page.
    pub title: String,
    /// A paragraph below the heading.
    pub about: String,
    /// Its sections; at least one.
    pub sections: Vec<SuiteSection>,
}

/// Cases that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct SuiteSection {
    /// Heading.
    pub title: String,
    /// A paragraph below the heading.
    pub about: String,
    /// Sources of the reference values.
    pub sources: Vec<String>,
    /// The cases; at least one.
    pub cases: Vec<SuiteCase>,
    /// Names of entries of the summary: path and name.
    pub quantities: Vec<(String, String)>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// A case of the suite.
#[derive(Clone, Debug, PartialEq)]
pub struct SuiteCase {
    /// Its file without extension.
    pub name: String,
    /// Whether it takes seconds.
    pub quick: bool,
    /// Number of coarser meshes, each with half the cells of the one before along each direction; at most
    /// [`MAX_HALVINGS`].
    pub halvings: usize,
    /// Entries of the summary that are compared with their value extrapolated from three meshes, with the
    /// relative tolerance.
    pub extrapolated: Vec<(String, f64)>,
}

/// Maximum number of coarser meshes.
pub const MAX_HALVINGS: usize = 3;

impl Suite {
    /// Reads and checks [`SUITE_FILE`] of a folder of cases, and the tables of reference values it names.
    ///
    /// # Errors
    /// [`CaseError`], with the place.
    pub fn read(folder: &Path) -> Result<Self, CaseError> {
        let path = folder.join(SUITE_FILE);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| CaseError::Unreadable { path: path.clone(), source })?;
        Self::parse(&text, folder, &path.display().to_string())
    }

    /// Checks the text of a suite; `folder` is that of the cases, `name` the file's name for messages.
    ///
    /// # Errors
    /// As [`Suite::read`].
    pub fn parse(text: &str, folder: &Path, name: &str) -> Result<Self, CaseError> {
        let source = Source { name: name.to_owned(), text: text.to_owned() };
        let file: SuiteFile = toml::from_str(text)
            .map_err(|error| source.invalid(vec![Problem::from_toml(&error, text)]))?;
        check(&file, folder, &source).map_err(|problem| source.invalid(vec![problem]))
    }

    /// All cases, in order.
    pub fn cases(&self) -> impl Iterator<Item = &SuiteCase> {
        self.sections.iter().flat_map(|section| &section.cases)
    }

    /// The cases whose names match one of `patterns`, all where there is none; `*` stands for any characters,
    /// `?` for one. Of these, where `quick`, those that take seconds.
    ///
    /// # Errors
    /// The first pattern that no case matches.
    pub fn choose<'p>(
        &self,
        patterns: &'p [String],
        quick: bool,
    ) -> Result<Vec<&SuiteCase>, &'p str> {
        let unmatched = patterns.iter().find(|p| !self.cases().any(|case| matches(p, &case.name)));
        if let Some(pattern) = unmatched {
            return Err(pattern);
        }
        let is_named = |case: &&SuiteCase| {
            patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, &case.name))
        };
        Ok(self.cases().filter(is_named).filter(|case| case.quick || !quick).collect())
    }
}

impl SuiteSection {
    /// The name of an entry of the summary; its path where it has none.
    pub fn name_of<'n>(&'n self, path: &'n str) -> &'n str {
        let named = self.quantities.iter().find(|(known, _)| known == path);
        named.map_or(path, |(_, name)| name)
    }
}

/// Whether a name fits a pattern of `*` and `?`.
fn matches(pattern: &str, name: &str) -> bool {
    fn fits(pattern: &[char], name: &[char]) -> bool {
        match (pattern.first(), name.first()) {
            (None, None) => true,
            (Some('*'), _) => {
                fits(&pattern[1..], name) || (!name.is_empty() && fits(pattern, &name[1..]))
            }
            (Some(p), Some(n)) => (*p == '?' || p == n) && fits(&pattern[1..], &name[1..]),
            _ => false,
        }
    }
    let letters = |text: &str| text.chars().collect::<Vec<char>>();
    fits(&letters(pattern), &letters(name))
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuiteFile {
    title: Maybe<String>,
    about: Option<String>,
    section: Option<Vec<Spanned<SectionFile>>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionFile {
    title: Maybe<String>,
    about: Option<String>,
    sources: Option<Vec<String>>,
    cases: Maybe<Vec<Spanned<MemberFile>>>,
    quantities: Option<Named<String>>,
    figure: Option<Vec<Spanned<FigureFile>>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberFile {
    name: Maybe<String>,
    quick: Option<bool>,
    halvings: Maybe<usize>,
    extrapolated: Maybe<Named<f64>>,
}

fn check(file: &SuiteFile, folder: &Path, source: &Source) -> Result<Suite, Problem> {
    let title = required(&file.title, "title", &(0..0))?.get_ref().clone();
    let files = file.section.as_deref().unwrap_or_default();
    if files.is_empty() {
        return Err(Problem::at(0..0, "the suite has no [[section]]"));
    }
    let mut names: Vec<String> = Vec::new();
    let mut sections = Vec::new();
    for file in files {
        let span = file.span();
        for member in required(&file.get_ref().cases, "cases", &span)?.get_ref() {
            let name = required(&member.get_ref().name, "name", &member.span())?;
            check_member(name, folder, &names)?;
            names.push(name.get_ref().clone());
        }
    }
    let tables = folder.join(SUITE_FILE).with_file_name("");
    let needs = RefCell::default();
    let reader = Reader { text: &source.text, folder: &tables, steady: true, needs: &needs };
    for file in files {
        sections.push(section(file.get_ref(), file.span(), &names, reader)?);
    }
    Ok(Suite {
        folder: folder.to_owned(),
        title,
        about: paragraph(file.about.as_deref()),
        sections,
    })
}

fn check_member(name: &Spanned<String>, folder: &Path, names: &[String]) -> Result<(), Problem> {
    let text = name.get_ref();
    if names.contains(text) {
        return Err(Problem::at(name.span(), format!("case `{text}` is listed twice")));
    }
    let path = folder.join(format!("{text}.toml"));
    if !path.is_file() {
        return Err(Problem::at(name.span(), format!("there is no case {}", path.display())));
    }
    Ok(())
}

fn section(
    file: &SectionFile,
    span: Range<usize>,
    names: &[String],
    reader: Reader<'_>,
) -> Result<SuiteSection, Problem> {
    let members = required(&file.cases, "cases", &span)?;
    if members.get_ref().is_empty() {
        return Err(Problem::at(members.span(), "`cases` lists no case"));
    }
    let figures = file.figure.as_deref().unwrap_or_default().iter();
    let quantities = file.quantities.iter().flat_map(|named| &named.0);
    Ok(SuiteSection {
        title: required(&file.title, "title", &span)?.get_ref().clone(),
        about: paragraph(file.about.as_deref()),
        sources: file.sources.clone().unwrap_or_default(),
        cases: members.get_ref().iter().map(member).collect::<Result<_, _>>()?,
        quantities: quantities
            .map(|(path, name)| (path.get_ref().clone(), name.get_ref().clone()))
            .collect(),
        figures: figures
            .map(|file| figure::check(file.get_ref(), file.span(), names, reader))
            .collect::<Result<_, _>>()?,
    })
}

fn member(file: &Spanned<MemberFile>) -> Result<SuiteCase, Problem> {
    let keys = file.get_ref();
    let halvings = keys.halvings.as_ref().map_or(0, |halvings| *halvings.get_ref());
    if let Some(file) = keys.halvings.as_ref().filter(|_| halvings > MAX_HALVINGS) {
        let message = format!("`halvings` is at most {MAX_HALVINGS}, not {halvings}");
        return Err(Problem::at(file.span(), message));
    }
    if let Some(file) = keys.extrapolated.as_ref().filter(|_| halvings < 2) {
        let message = "`extrapolated` takes three meshes: `halvings` must be 2 or more";
        return Err(Problem::at(file.span(), message));
    }
    let rule = Rule { name: "extrapolated", sign: Sign::Positive, time: false };
    let entries = keys.extrapolated.iter().flat_map(|entries| &entries.get_ref().0);
    Ok(SuiteCase {
        name: required(&keys.name, "name", &file.span())?.get_ref().clone(),
        quick: keys.quick.unwrap_or(false),
        halvings,
        extrapolated: entries
            .map(|(path, tolerance)| {
                let tolerance = rule.check_number(*tolerance.get_ref(), tolerance.span())?;
                Ok((path.get_ref().clone(), tolerance))
            })
            .collect::<Result<_, Problem>>()?,
    })
}

/// A text of several lines as one paragraph.
fn paragraph(text: Option<&str>) -> String {
    text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
