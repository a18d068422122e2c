//! PVD files: the list of a simulation's VTU files with their times, a time series in ParaView.

use std::path::Path;

use super::error::{At, Fault, MeshFileError, MeshFileProblem as Problem, Parsed};
use super::{load, save};
use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};

/// One time level of a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct PvdEntry {
    /// Simulated time.
    pub time: f64,
    /// The VTU file, relative to the PVD file.
    pub file: String,
}

/// Writes the collection, which is complete after each new file.
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

/// Reads the entries of a collection, which a restart continues. Attributes other than the time and
/// the file are skipped.
///
/// # Errors
/// The file cannot be read, or is not a complete collection of files with their times.
pub fn read(path: &Path) -> Result<Vec<PvdEntry>, MeshFileError> {
    let bytes = load(path)?;
    parse(&bytes).map_err(|fault| fault.locate(path, &bytes))
}

fn parse(bytes: &[u8]) -> Parsed<Vec<PvdEntry>> {
    let mut entries = vec![];
    let mut reader = Reader::from_reader(bytes);
    let mut is_closed = false;
    loop {
        let at = At::LineOf(reader.buffer_position() as usize);
        match reader.read_event() {
            Err(error) => {
                let problem = Problem::Xml { reason: error.to_string() };
                return Err(Fault::new(At::LineOf(reader.error_position() as usize), problem));
            }
            Ok(Event::Start(element) | Event::Empty(element))
                if element.name().as_ref() == b"DataSet" =>
            {
                entries.push(entry(&element, at)?);
            }
            Ok(Event::End(element)) => is_closed |= element.name().as_ref() == b"Collection",
            Ok(Event::Eof) if is_closed => return Ok(entries),
            Ok(Event::Eof) => {
                return Err(Fault::whole(Problem::MissingSection { section: "Collection" }));
            }
            Ok(_) => {}
        }
    }
}

fn entry(element: &BytesStart, at: At) -> Parsed<PvdEntry> {
    let text = |name: &str| {
        let attribute = element.try_get_attribute(name).ok().flatten();
        attribute.and_then(|a| a.unescape_value().ok()).map(|value| value.into_owned())
    };
    let (Some(time), Some(file)) = (text("timestep"), text("file")) else {
        let found = String::from_utf8_lossy(element).chars().take(60).collect();
        let expected = "a DataSet with the attributes timestep and file";
        return Err(Fault::new(at, Problem::Unexpected { expected, found }));
    };
    match time.trim().parse() {
        Ok(time) => Ok(PvdEntry { time, file }),
        Err(_) => {
            let expected = "the time of a file";
            Err(Fault::new(at, Problem::BadNumber { found: time, expected }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_entries_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fields.pvd");
        let times = [0.0, 0.1 + 0.2, 1e-300, 2.5e7];
        let entry = |(k, time)| PvdEntry { time, file: format!("a&<b>\"{k}.vtu") };
        for count in 0..=times.len() {
            let entries: Vec<_> = times[..count].iter().copied().enumerate().map(entry).collect();
            write(&path, &entries).unwrap();
            assert_eq!(read(&path).unwrap(), entries);
        }
    }

    #[test]
    fn a_file_that_is_no_collection_is_refused_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fields.pvd");
        let expected = "a DataSet with the attributes timestep and file";
        for (text, message) in [
            ("", ": missing section `Collection`".to_owned()),
            ("time,file\n", ": missing section `Collection`".to_owned()),
            (
                "<Collection>\n<DataSet file=\"a\"/>\n</Collection>",
                format!(", line 2: expected {expected}, found `DataSet file=\"a\"`"),
            ),
            (
                "<Collection>\n\n<DataSet timestep=\"now\" file=\"a\"/>\n</Collection>",
                ", line 3: `now` is not a number that can stand for the time of a file".to_owned(),
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert_eq!(error, format!("{}{message}", path.display()));
        }
        std::fs::write(&path, "<Collection>\n<DataSet timestep=\"1\"\n").unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(error.contains("malformed XML: "), "{error}");
        let error = read(&folder.path().join("none.pvd")).unwrap_err().to_string();
        assert!(error.contains("none.pvd: No such file"), "{error}");
    }

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
