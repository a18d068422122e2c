//! Cases through the run loop.

mod adaptation;
mod at_rest;
mod averages;
mod boundaries;
mod compressible;
mod endings;
mod growth;
mod initial;
mod moments;
mod pieces;
mod processes;
mod ranks;
mod ranks_by_metis;
mod ranks_of_flow;
mod ranks_of_fluxes;
mod ranks_of_gas;
mod ranks_of_nodes;
mod ranks_with_adaptation;
mod rebuilding;
mod refusals;
mod surfaces;
mod warnings;

use super::*;
use crate::compressible::NumericalFlux;
use crate::descriptor::FieldData;
use crate::mesh::testing::gmsh_file;

/// The simulation of a case in a folder.
fn new(text: &str, folder: &Path) -> Result<Simulation, SimulationError> {
    let case = Case::parse(text, folder, "case.toml").unwrap_or_else(|e| panic!("{e}\n{text}"));
    Simulation::new(case, RunOptions::default())
}

/// The outcome of a case and its summary.
fn run(text: &str, folder: &Path) -> (Outcome, serde_json::Value) {
    let mut simulation = new(text, folder).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let outcome = simulation.run(&mut |_| ()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (outcome, summary(folder))
}

fn summary(folder: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("case/summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A number of a summary.
fn number(summary: &serde_json::Value, path: &str) -> f64 {
    let value = summary.pointer(path).and_then(serde_json::Value::as_f64);
    value.unwrap_or_else(|| panic!("{path}: {summary}"))
}

/// The section of a case for a Gmsh mesh.
fn gmsh(name: &str) -> String {
    format!("[mesh]\nfile = {:?}\n", gmsh_file(name))
}
