//! Helpers of the tests of the program.

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The program, run in `folder` with `arguments`: its exit code, stdout and stderr.
pub(crate) fn karman(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_karman"));
    // Software Vulkan complains where this is missing.
    let run = command.current_dir(folder).env("XDG_RUNTIME_DIR", folder).args(arguments).output();
    let Output { status, stdout, stderr } = run.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// The folder of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A small steady case with Dirichlet conditions of 0 and 1 at two sides.
pub(crate) const BAR: &str = r#"
title = "Bar"

[mesh.generate.box]
size = [1.0, 0.2]
cells = [10, 2]

[heat]

[boundary]
xmin.temperature = 0.0
xmax.temperature = 1.0
ymin = "insulated"
ymax = "insulated"

[[output.probe]]
name = "middle"
at = [0.5, 0.1]

[expected]
"probe.middle.temperature" = { value = 0.5, absolute = 1e-6 }
"#;
