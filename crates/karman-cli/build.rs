//! Builds into the program the commit of its checkout, if any, and the suites of `cases/`, so that an
//! installed program has them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    suites();
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
    };
    let commit = git(&["describe", "--always", "--dirty", "--abbrev=12"]);
    let version = env!("CARGO_PKG_VERSION");
    println!(
        "cargo::rustc-env=KARMAN_VERSION={}",
        commit.map_or(version.to_owned(), |commit| format!("{version} ({commit})"))
    );
    if let Some(head) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
    }
}

/// The files of each folder of cases that has a suite, as `suites.rs`: name, then paths and contents.
fn suites() {
    let manifest = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    let cases = Path::new(&manifest).join("../../cases");
    let mut text = String::from("&[");
    for folder in sorted(&cases).into_iter().filter(|f| f.join("validation/suite.toml").is_file()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let _ = write!(text, "({name:?}, &[");
        for file in sorted(&folder).into_iter().chain(sorted(&folder.join("validation"))) {
            let is_used = |e: &std::ffi::OsStr| e == "toml" || e == "csv" || e == "msh";
            let is_used = file.extension().is_some_and(is_used);
            let Ok(path) = file.strip_prefix(&folder) else { continue };
            if is_used && file.is_file() {
                let _ = write!(text, "({path:?}, include_bytes!({:?})),", file);
            }
        }
        text.push_str("]),");
    }
    text.push(']');
    let out = std::env::var("OUT_DIR").expect("cargo says where output goes");
    std::fs::write(Path::new(&out).join("suites.rs"), text).expect("the folder can be written");
}

/// The entries of a folder, sorted by name; none of a missing folder.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
