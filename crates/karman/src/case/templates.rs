//! Cases to start from, written by `karman new`.

use super::EQUATIONS;
use std::path::{Path, PathBuf};
use thiserror::Error;

pub use crate::descriptor::Template;

/// All templates, those of each equation in turn.
pub fn templates() -> impl Iterator<Item = &'static Template> {
    EQUATIONS.iter().flat_map(|equation| equation.templates)
}

/// Names and one line about each of the templates, for a terminal.
pub fn list() -> String {
    let width = templates().map(|template| template.name.len()).max().unwrap_or(0);
    let line = |template: &Template| format!("  {:width$}  {}\n", template.name, template.about);
    templates().map(line).collect()
}

/// Why a template was not written.
#[derive(Debug, Error)]
pub enum TemplateError {
    /// No template has this name.
    #[error("there is no template `{name}`; templates: {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The existing names.
        known: String,
    },
    /// A file is in the way; nothing was written.
    #[error("{} exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The message of the system.
        source: std::io::Error,
    },
}

/// The template of a name.
///
/// # Errors
/// [`TemplateError::Unknown`], with all names.
pub fn find(name: &str) -> Result<&'static Template, TemplateError> {
    templates().find(|template| template.name == name).ok_or_else(|| {
        let known: Vec<&str> = templates().map(|template| template.name).collect();
        TemplateError::Unknown { name: name.to_owned(), known: known.join(", ") }
    })
}

impl Template {
    /// Writes the case as `folder/name.toml`, and the files it reads beside it, and returns the
    /// paths, the case first. `folder` is made if need be.
    ///
    /// # Errors
    /// Never overwrites: [`TemplateError::Exists`] before anything is written.
    pub fn write(&self, folder: &Path, name: &str) -> Result<Vec<PathBuf>, TemplateError> {
        let case = (folder.join(format!("{name}.toml")), self.text);
        let companions = self.companions.iter().map(|(file, text)| (folder.join(file), *text));
        let files: Vec<(PathBuf, &str)> = std::iter::once(case).chain(companions).collect();
        if let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
            return Err(TemplateError::Exists { path: path.clone() });
        }
        let unwritable = |path: &Path| {
            let path = path.to_owned();
            move |source| TemplateError::Unwritable { path, source }
        };
        std::fs::create_dir_all(folder).map_err(unwritable(folder))?;
        for (path, text) in &files {
            std::fs::write(path, text).map_err(unwritable(path))?;
        }
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }
}
