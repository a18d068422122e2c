//! Valid cases, and every message about invalid ones.

mod accepted;
mod adapt;
mod average;
mod compressible;
mod flow;
mod flow_messages;
mod heat_messages;
mod inlets;
mod mesh_names;
mod messages;
mod messages_by_section;
mod moments;
mod picture;
mod robustness;
mod steady;
mod surface;

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

/// A small flow.
const FLOW: &str = r#"[mesh.generate.box]
size = [1.0, 1.0]
cells = [4, 4]
[incompressible]
kinematic_viscosity = 0.01
[boundary]
xmin = "no_slip"
xmax = "slip"
ymin = "no_slip"
ymax.moving_wall = [1.0, 0.0]
[time]
step = 0.1
end = 1.0
[output]
[[output.probe]]
name = "middle"
at = [0.5, 0.5]
[[output.patch]]
name = "lid"
patches = ["ymax"]
"#;

/// A small flow with a temperature.
const THERMAL: &str = r#"[mesh.generate.box]
size = [1.0, 1.0]
cells = [4, 4]
[incompressible]
kinematic_viscosity = 0.01
[incompressible.thermal]
diffusivity = 0.02
expansion = 0.1
gravity = [0.0, -9.81]
reference_temperature = 300.0
source = "x*t"
[initial]
temperature = "300 + x"
[boundary]
xmin = { no_slip = true, temperature = 310.0 }
xmax = { no_slip = true, heat_flux = -1.0 }
ymin = "slip"
ymax = { symmetry = true, insulated = true }
[time]
step = 0.1
end = 1.0
[[output.patch]]
name = "hot"
patches = ["xmin"]
reference = { length = 0.5, temperature_difference = 20.0 }
"#;

fn parse(text: &str) -> Result<Case, CaseError> {
    Case::parse(text, Path::new("folder"), "folder/bar.toml")
}

fn heat(case: &Case) -> &HeatCase {
    match &case.equation {
        Equation::Heat(heat) => heat,
        _ => panic!("a flow"),
    }
}

fn flow(case: &Case) -> &IncompressibleCase {
    match &case.equation {
        Equation::Incompressible(flow) => flow,
        _ => panic!("another equation"),
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
