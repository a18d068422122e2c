//! Cases that are right, and every message about cases that are wrong.

mod accepted;
mod mesh_names;
mod messages;
mod messages_by_section;
mod robustness;

use super::*;

/// A small steady case.
const STEADY: &str = r#"title = "bar"
[mesh.generate.box]
size = [1.0, 0.1]
cells = [10, 1]
[heat]
conductivity = 2.0
[boundary]
xmin.temperature = 300.0
xmax = "insulated"
[output]
directory = "out"
[[output.probe]]
name = "middle"
at = [0.5, 0.05]
[[output.patch]]
name = "left"
patches = ["xmin"]
"#;

/// A small unsteady case.
const UNSTEADY: &str = r#"[mesh.generate.box]
size = [1.0, 0.1]
cells = [10, 1]
[heat]
[initial]
temperature = 300.0
[boundary]
xmin.temperature = "300 + 10*sin(t)"
[time]
step = 0.1
end = 1.0
"#;

fn parse(text: &str) -> Result<Case, CaseError> {
    Case::parse(text, Path::new("folder"), "folder/bar.toml")
}

fn heat(case: &Case) -> &HeatCase {
    match &case.equation {
        Equation::Heat(heat) => heat,
        Equation::Incompressible(_) => panic!("a flow"),
    }
}

/// The message for a case in which `from` is replaced by `to`.
fn failure(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from} is not in the case");
    match parse(&text.replacen(from, to, 1)) {
        Ok(_) => panic!("accepted {to}"),
        Err(error) => error.to_string(),
    }
}
