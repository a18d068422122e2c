//! PVD files: the list of a simulation's VTU files with their times, which ParaView opens as one.

use std::path::Path;

use super::error::MeshFileError;
use super::save;
use quick_xml::escape::escape;

/// One time level of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct PvdEntry {
    /// Simulated time.
    pub time: f64,
    /// The VTU file, relative to the PVD file.
    pub file: String,
}

/// Writes the collection; called after each new file, it leaves a complete one at all times.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, entries: &[PvdEntry]) -> Result<(), MeshFileError> {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for PvdEntry { time, file } in entries {
        let file = escape(file);
        text += &format!("<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{file}\"/>\n");
    }
    text += "</Collection>\n</VTKFile>\n";
    save(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_files_and_times() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fields.pvd");
        let entry = |time, file: &str| PvdEntry { time, file: file.into() };
        write(&path, &[entry(0.0, "fields_0000.vtu"), entry(0.1, "a<b>&\"c\".vtu")]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[3], "<DataSet timestep=\"0.0\" part=\"0\" file=\"fields_0000.vtu\"/>");
        assert_eq!(
            lines[4],
            "<DataSet timestep=\"0.1\" part=\"0\" file=\"a&lt;b&gt;&amp;&quot;c&quot;.vtu\"/>"
        );
        assert_eq!(lines[5..], ["</Collection>", "</VTKFile>"]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none/fields.pvd");
        let error = write(&path, &[]).unwrap_err();
        assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    }
}
