//! Names, fields, points and patches as the entries of `[output]` give them.

use super::error::Problem;
use super::names::Names;
use super::value::{Maybe, point, required};
use std::ops::Range;
use toml::Spanned;

/// A field of the equation.
pub(super) fn field(name: &Spanned<String>, names: Names) -> Result<String, Problem> {
    let text = name.get_ref();
    if names.fields().contains(&text.as_str()) {
        return Ok(text.clone());
    }
    let problem = Problem::at(name.span(), format!("{} has no field `{text}`", names.case()));
    let problem = problem.among(text, "valid fields", names.fields());
    Err(names.remedy(text).into_iter().fold(problem, Problem::note))
}

/// A name that is valid in a column heading and a file name, and unique among its kind.
pub(super) fn unique_name<'n>(
    file: &Maybe<String>,
    kind: &str,
    section: &Range<usize>,
    mut used: impl Iterator<Item = &'n str>,
) -> Result<String, Problem> {
    let name = required(file, "name", section)?;
    let text = plain_name(name, kind)?;
    if used.any(|other| other == text) {
        return Err(Problem::at(name.span(), format!("there are two {kind}s named `{text}`")));
    }
    Ok(text)
}

/// A name that is valid in a column heading and a file name.
pub(super) fn plain_name(name: &Spanned<String>, kind: &str) -> Result<String, Problem> {
    let text = name.get_ref();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if text.is_empty() || !text.chars().all(plain) {
        let article = if kind.starts_with('a') { "an" } else { "a" };
        let message =
            format!("the name of {article} {kind} is made of letters, digits, `_` and `-`");
        return Err(Problem::at(name.span(), message));
    }
    Ok(text.clone())
}

/// Two distinct points.
pub(super) fn ends(
    from: &Maybe<Vec<f64>>,
    to: &Maybe<Vec<f64>>,
    owner: &str,
    section: &Range<usize>,
) -> Result<([f64; 3], [f64; 3]), Problem> {
    let from = point(required(from, "from", section)?, "from")?;
    let to_file = required(to, "to", section)?;
    let to = point(to_file, "to")?;
    if from == to {
        return Err(Problem::at(to_file.span(), format!("{owner} ends where it starts")));
    }
    Ok((from, to))
}

pub(super) fn points(file: &Maybe<usize>, default: usize) -> Result<usize, Problem> {
    match file {
        None => Ok(default),
        Some(points) if *points.get_ref() >= 2 => Ok(*points.get_ref()),
        Some(points) => Err(Problem::at(points.span(), "`points` must be 2 or more")),
    }
}

/// Names of patches, at least one, each once.
pub(super) fn patch_names(
    file: &Maybe<Vec<Spanned<String>>>,
    section: &Range<usize>,
) -> Result<Vec<String>, Problem> {
    let files = required(file, "patches", section)?;
    if files.get_ref().is_empty() {
        return Err(Problem::at(files.span(), "`patches` names no patch"));
    }
    let mut patches: Vec<String> = Vec::new();
    for patch in files.get_ref() {
        if patches.contains(patch.get_ref()) {
            let message = format!("patch \"{}\" is named twice", patch.get_ref());
            return Err(Problem::at(patch.span(), message));
        }
        patches.push(patch.get_ref().clone());
    }
    Ok(patches)
}
