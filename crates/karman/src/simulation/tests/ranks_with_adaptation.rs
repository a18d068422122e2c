//! Runs on several ranks that adapt their mesh: the files of one rank.

use super::processes::assert_files_of_processes;
use super::ranks::{assert_files_of_ranks, results};
use crate::backend::HOST_CHUNK;

/// Two adaptations of 2178 triangles, an average and checkpoints; `equation` has `ranks` and the fields.
fn case(equation: &str, field: &str, ranks: usize) -> String {
    format!(
        "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [33, 33]\nelement = \"triangle\"\njitter = 0.1\n{equation}[adapt]\n\
         field = \"{field}\"\ncomplexity = 1200\nevery = 0.02\nh_min = 0.002\n[output]\nevery = 0.02\n[[output.probe]]\n\
         name = \"middle\"\nat = [0.41, 0.57]\n[[output.average]]\nfields = [\"{field}\"]\n[checkpoint]\nevery = 0.03\n\
         [run]\nbackend = \"cpu\"\nthreads = 2\nranks = {ranks}\n"
    )
}

fn heat(place: &str) -> String {
    format!(
        "[heat]\ndiscretization = \"{place}\"\nconductivity = 0.01\n[initial]\ntemperature = \"1 + tanh(20*(x - 0.4 + 0.1*y))\"\n\
         [boundary]\nxmin = \"insulated\"\nxmax = \"insulated\"\nymin.temperature = \"1 + x\"\nymax = \"insulated\"\n[time]\n\
         method = \"bdf2\"\nstep = 0.01\nend = 0.05\n"
    )
}

const FLOW: &str = "[incompressible]\nkinematic_viscosity = 0.01\n[incompressible.thermal]\ndiffusivity = 0.01\n[initial]\n\
                    temperature = \"1 + tanh(20*(x - 0.4))\"\n[boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\nymin = \"no_slip\"\n\
                    ymax.moving_wall = [1.0, 0.0]\n[time]\nmethod = \"bdf2\"\nstep = 0.002\nend = 0.006\n";

/// Compares the files on several ranks, and of two processes, with those on one; cells or nodes of the last mesh are at least so many
/// that parts have whole chunks.
fn compare(case: &dyn Fn(usize) -> String, unknowns: &str, ranks: &[usize]) {
    let want = results(&case(1));
    let summary: serde_json::Value = serde_json::from_slice(&want["summary.json"]).unwrap();
    assert_eq!(summary["adaptation"]["count"], 2, "{}", summary["adaptation"]);
    let most = ranks.iter().max().unwrap() - 1;
    assert!(
        summary["mesh"][unknowns].as_u64().unwrap() > (most * HOST_CHUNK) as u64,
        "{}",
        summary["mesh"]
    );
    assert_files_of_ranks(case, ranks, &want);
    assert_files_of_processes(&case(1), 2, &want);
}

#[test]
fn cell_centred_heat_has_the_bits_of_one_rank() {
    compare(&|ranks| case(&heat("cell"), "temperature", ranks), "cells", &[2, 3]);
}

#[test]
fn node_centred_heat_has_the_bits_of_one_rank() {
    compare(&|ranks| case(&heat("node"), "temperature", ranks), "nodes", &[2]);
}

#[test]
fn flows_have_the_bits_of_one_rank() {
    let case = |ranks: usize| {
        case(FLOW, "temperature", ranks).replace("every = 0.02\nh_min", "every = 0.002\nh_min")
    };
    compare(&case, "cells", &[2, 3]);
}

#[test]
fn cycles_of_a_steady_case_have_the_bits_of_one_rank() {
    let steady = "[heat]\nsource = \"-400*exp(-x*20)\"\n[boundary]\nxmin.temperature = 1.0\nxmax.temperature = \"exp(-20)\"\n\
                  ymin = \"insulated\"\nymax = \"insulated\"\n";
    let cycles = |ranks: usize| {
        let text =
            case(steady, "temperature", ranks).replace("every = 0.02\nh_min", "cycles = 2\nh_min");
        let average = "[[output.average]]\nfields = [\"temperature\"]\n";
        text.replace(average, "")
            .replace("[checkpoint]\nevery = 0.03\n", "")
            .replace("[output]\nevery = 0.02\n", "[output]\n")
    };
    compare(&cycles, "cells", &[3]);
}
