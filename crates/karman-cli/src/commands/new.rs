//! `karman new`

use crate::console;
use crate::failure::Failure;
use karman::case::templates;
use std::path::Path;

pub(crate) fn run(folder: &Path, template: &str, quiet: bool) -> Result<(), Failure> {
    let files = templates::find(template)
        .and_then(|template| template.write(folder, "case"))
        .map_err(Failure::input)?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let text = format!("wrote {}\nsolve it: karman run {}", names.join(", "), names[0]);
    console::tell(quiet, &text)
}
