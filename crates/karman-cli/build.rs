//! Tells the program the commit it is built from, where it is built from a checkout.

use std::process::Command;

fn main() {
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
