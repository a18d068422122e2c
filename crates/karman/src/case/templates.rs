//! Cases to start from, written by `karman new`.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// The text of the template `heat_unsteady`, also the example of the reference.
pub(super) const HEAT_UNSTEADY: &str = include_str!("templates/heat_unsteady.toml");

/// A case to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name for `--template`.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The case file.
    pub text: &'static str,
    /// Files the case reads, by name.
    pub companions: &'static [(&'static str, &'static str)],
}

/// All templates.
pub static TEMPLATES: &[Template] = &[
    Template {
        name: "heat",
        about: "steady conduction in a cube, one face hot",
        text: include_str!("templates/heat.toml"),
        companions: &[],
    },
    Template {
        name: "heat_unsteady",
        about: "conduction in time with a source and a cooled side",
        text: HEAT_UNSTEADY,
        companions: &[],
    },
    Template {
        name: "heat_regions",
        about: "two materials, from a mesh file with named regions",
        text: include_str!("templates/heat_regions.toml"),
        companions: &[("two_regions.msh", include_str!("templates/two_regions.msh"))],
    },
    Template {
        name: "heat_exact",
        about: "comparison with an exact solution in an annulus",
        text: include_str!("templates/heat_exact.toml"),
        companions: &[],
    },
    Template {
        name: "cavity",
        about: "flow in a square driven by its lid",
        text: include_str!("templates/cavity.toml"),
        companions: &[],
    },
];

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
    TEMPLATES.iter().find(|template| template.name == name).ok_or_else(|| {
        let known: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
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
