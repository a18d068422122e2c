//! The output directory of a run: a test that it can be written, a lock against other runs, and the removal
//! of results of an earlier run.

use super::SimulationError;
use crate::case::{Case, EQUATIONS};
use crate::mesh::files::pvd;
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Locked during a run; it contains the process id.
const LOCK_FILE: &str = ".karman.lock";

/// An output directory locked by this run. The lock ends with its process, so that a killed run leaves no
/// lock.
#[derive(Debug)]
pub(super) struct OutputFolder {
    path: PathBuf,
    _lock: File,
}

fn cannot_write(path: &Path, error: &std::io::Error) -> SimulationError {
    SimulationError::Write { path: path.to_owned(), reason: error.to_string() }
}

/// Checks that files can be created in a folder, which need not exist yet; leaves no file behind.
///
/// # Errors
/// [`SimulationError::Write`].
pub(super) fn check_writable(path: &Path) -> Result<(), SimulationError> {
    let here = Path::new(".");
    let existing = path.ancestors().find(|folder| folder.exists() || folder.as_os_str().is_empty());
    let existing = existing.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(here);
    let trial = existing.join(format!(".karman.{}.trial", std::process::id()));
    let written = File::create(&trial).and_then(|_| std::fs::remove_file(&trial));
    written.map_err(|error| cannot_write(path, &error))
}

/// Checks that no file that a run reads lies in its output directory under the name of a result. A restart does not read the
/// result of `[initial] from`, and keeps its checkpoint.
///
/// # Errors
/// [`SimulationError::InputAmongResults`].
pub(super) fn check_inputs(case: &Case, is_restart: bool) -> Result<(), SimulationError> {
    let Ok(directory) = case.output.directory.canonicalize() else { return Ok(()) };
    let is_among_results = |path: &Path| {
        path.canonicalize().is_ok_and(|real| {
            let name = real.file_name().unwrap_or_default().to_string_lossy();
            real.parent() == Some(directory.as_path()) && is_result(&name)
        })
    };
    for (key, path) in case.input_files() {
        if is_restart && key == "from" {
            continue;
        }
        let files = std::iter::once(path.to_owned()).chain(files_of_series(path));
        if let Some(path) = files.into_iter().find(|file| is_among_results(file)) {
            let directory = case.output.directory.clone();
            return Err(SimulationError::InputAmongResults { key, path, directory });
        }
    }
    Ok(())
}

/// The files that a series names; none of another file or of one that cannot be read, which is refused later.
fn files_of_series(path: &Path) -> Vec<PathBuf> {
    if path.extension().is_none_or(|extension| extension != "pvd") {
        return vec![];
    }
    let entries = pvd::read(path).unwrap_or_default();
    entries.iter().map(|entry| path.with_file_name(&entry.file)).collect()
}

impl OutputFolder {
    /// Creates the folder and locks it for this run.
    ///
    /// # Errors
    /// [`SimulationError::Write`], or [`SimulationError::InUse`] where another run has locked it.
    pub(super) fn claim(path: &Path) -> Result<OutputFolder, SimulationError> {
        std::fs::create_dir_all(path).map_err(|error| cannot_write(path, &error))?;
        let place = path.join(LOCK_FILE);
        let failed = |error: std::io::Error| cannot_write(&place, &error);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut lock = options.open(&place).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut process = String::new();
                let _ = lock.read_to_string(&mut process);
                let (path, process) = (path.to_owned(), process.trim().to_owned());
                return Err(SimulationError::InUse { path, process });
            }
            // A file system without locks does not exclude a second run.
            Err(TryLockError::Error(error)) => {
                tracing::warn!("cannot lock {}: {error}", place.display());
            }
        }
        lock.set_len(0).and_then(|()| lock.rewind()).map_err(failed)?;
        writeln!(lock, "{}", std::process::id()).map_err(failed)?;
        Ok(OutputFolder { path: path.to_owned(), _lock: lock })
    }

    /// Removes results of an earlier run and logs that.
    ///
    /// # Errors
    /// [`SimulationError::Write`] where a file cannot be removed.
    pub(super) fn remove_results(&self, case: &str) -> Result<(), SimulationError> {
        let found = self.results(is_result)?;
        if found.is_empty() {
            return Ok(());
        }
        let before = earlier_case(&self.path.join("summary.json"));
        self.remove(&found)?;
        let (folder, files) = (self.path.display(), counted(found.len()));
        match before.filter(|name| name != case) {
            Some(other) => {
                tracing::warn!(
                    "{folder} contained results of another case, `{other}`: {files} removed"
                )
            }
            None => {
                tracing::info!("{folder} contained results of an earlier run: {files} removed")
            }
        }
        Ok(())
    }

    /// Removes field files from number `first` on, which a restart writes again.
    ///
    /// # Errors
    /// [`SimulationError::Write`] where a file cannot be removed.
    pub(super) fn remove_fields_from(&self, first: usize) -> Result<(), SimulationError> {
        let is_later = |name: &str| field_number(name).is_some_and(|number| number >= first);
        let found = self.results(is_later)?;
        self.remove(&found)?;
        if !found.is_empty() {
            let (folder, files) = (self.path.display(), counted(found.len()));
            tracing::info!("{folder} contained fields of later times: {files} removed");
        }
        Ok(())
    }

    fn results(&self, is_selected: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, SimulationError> {
        let entries = std::fs::read_dir(&self.path).map_err(|e| cannot_write(&self.path, &e))?;
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .filter(|entry| is_selected(&entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .collect();
        found.sort();
        Ok(found)
    }

    fn remove(&self, files: &[PathBuf]) -> Result<(), SimulationError> {
        files.iter().try_for_each(|file| {
            std::fs::remove_file(file).map_err(|error| cannot_write(file, &error))
        })
    }
}

fn counted(files: usize) -> String {
    format!("{files} file{}", if files == 1 { "" } else { "s" })
}

/// The number of a file of fields, of the cells, of a piece of them or of a surface.
fn field_number(name: &str) -> Option<usize> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some(number) = name.strip_prefix("fields_").and_then(|name| name.strip_suffix(".pvtu")) {
        return is_number(number).then(|| number.parse().ok())?;
    }
    let name = name.strip_suffix(".vtu")?;
    if let Some((number, rank)) = name.strip_prefix("fields_").and_then(|name| name.split_once('_'))
    {
        return (is_number(number) && is_number(rank)).then(|| number.parse().ok())?;
    }
    let (series, number) = name.rsplit_once('_')?;
    if series != "fields" && !series.starts_with("surface_") {
        return None;
    }
    is_number(number).then(|| number.parse().ok())?
}

/// Whether a run writes a file of this name; the log is opened elsewhere.
fn is_result(name: &str) -> bool {
    let between = |start: &str, end: &str| name.strip_prefix(start)?.strip_suffix(end);
    let is_checkpoint = between("checkpoint_", ".safetensors")
        .is_some_and(|step| step.bytes().all(|b| b.is_ascii_digit()));
    field_number(name).is_some()
        || is_checkpoint
        || between("line_", ".csv").is_some()
        || between("surface_", ".csv").or(between("surface_", ".pvd")).is_some()
        || ["fields.pvd", "history.csv", "history.png", "summary.json"].contains(&name)
        || name.strip_suffix(".png").is_some_and(is_field)
}

/// Whether this is the name of a field, or of an average of a field.
fn is_field(name: &str) -> bool {
    let of_average = name.strip_suffix("_mean").or(name.strip_suffix("_rms"));
    let is_average_of = |field: &str| {
        let rest = of_average.and_then(|average| average.strip_prefix(field));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let mut fields = EQUATIONS.iter().flat_map(|equation| equation.fields());
    fields.any(|field| {
        field.name == name || field.components().contains(&name) || is_average_of(field.name)
    })
}

/// The name of the case of a summary.
fn earlier_case(summary: &Path) -> Option<String> {
    let text = std::fs::read_to_string(summary).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(value.get("case")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_run_are_distinguished_from_other_files() {
        for name in [
            "fields_0000.vtu",
            "fields_12345.vtu",
            "fields_0000.pvtu",
            "fields_0000_0.vtu",
            "fields_0012_12.vtu",
            "fields.pvd",
            "history.csv",
            "line_axis.csv",
            "surface_hot_wall_0012.vtu",
            "surface_hot_wall.pvd",
            "surface_hot_wall.csv",
            "checkpoint_00000010.safetensors",
            "summary.json",
            "velocity.png",
            "velocity_mean.png",
            "pressure_late_rms.png",
            "history.png",
        ] {
            assert!(is_result(name), "{name}");
        }
        for name in [
            "fields_mine.vtu",
            "fields_.pvtu",
            "fields_0000_mine.vtu",
            "fields_0000_.vtu",
            "fields_0000_1_2.vtu",
            "surface_hot_0000.pvtu",
            "fields_0000.vtk",
            "surface_mine.vtu",
            "my_surface_0000.vtu",
            "case.toml",
            "log.txt",
            "mesh.msh",
            "checkpoint_best.safetensors",
            "photo.png",
            "photo_mean.png",
            "velocity_sketch.png",
            "notes.csv",
            ".karman.lock",
        ] {
            assert!(!is_result(name), "{name}");
        }
    }

    #[test]
    fn a_folder_is_locked_by_one_run_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out/deep");
        let first = OutputFolder::claim(&path).unwrap();
        let refused = OutputFolder::claim(&path).unwrap_err().to_string();
        let process = std::process::id();
        let expected = format!("another run, process {process}, writes to {}", path.display());
        assert!(refused.starts_with(&expected), "{refused}");
        drop(first);
        // A released lock is taken over, whatever the content of its file.
        std::fs::write(path.join(LOCK_FILE), "4294967295\n").unwrap();
        let again = OutputFolder::claim(&path).unwrap();
        let text = std::fs::read_to_string(path.join(LOCK_FILE)).unwrap();
        assert_eq!(text, format!("{process}\n"));
        drop(again);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_refused_and_none_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        check_writable(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let below = file.join("out");
        let refused = check_writable(&below).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("cannot write {}: ", below.display())), "{refused}");
        assert!(OutputFolder::claim(&below).is_err());
    }
}
