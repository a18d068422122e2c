//! Node-centred heat on several ranks: the files of one rank.

use super::ranks::{assert_files_of_ranks, case, continues_with_one_and_four, results};
use super::*;
use crate::backend::HOST_CHUNK;
use crate::mesh::files::write_mesh;
use crate::mesh::testing;

/// Sides with prescribed temperatures, two of which share nodes, a flux and an ambient fluid.
const SIDES: &str = "[boundary]\nxmin.temperature = \"300 + 100*sin(20*t)*y\"\nxmax.convection = { coefficient = 3.0, ambient = 250.0 }\n\
                     ymin.heat_flux = \"50*t + 5\"\nymax.temperature = \"310 + t\"\nzmin = \"insulated\"\nzmax = \"insulated\"\n";

/// Compares the files on `ranks` ranks, each of which has whole chunks of nodes, with those on one.
fn compare(mesh: &str, rest: &str, ranks: &[usize]) {
    let case = |ranks: usize| case(mesh, &format!("discretization = \"node\"\n{rest}"), ranks);
    let want = results(&case(1));
    let summary: serde_json::Value = serde_json::from_slice(&want["summary.json"]).unwrap();
    let most = ranks.iter().max().unwrap() - 1;
    let nodes = summary["mesh"]["nodes"].as_u64().unwrap();
    assert!(nodes > (most * HOST_CHUNK) as u64, "{}", summary["mesh"]);
    assert_files_of_ranks(&case, ranks, &want);
}

const IN_TIME: &str = "source = \"if(x > 0.5, 100*sin(t), 3)\"\n[initial]\ntemperature = \"300 + 10*x\"\n[time]\nmethod = \"bdf2\"\n\
                       step = 0.01\nend = 0.04\n[checkpoint]\nevery = 0.02\n";

#[test]
fn tetrahedra_of_gmsh_have_the_bits_of_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.msh");
    let raw = testing::gmsh("cube_tetrahedron_fine");
    write_mesh(&file, &testing::with_halved_edges(&raw)).unwrap();
    let mesh = format!("[mesh]\nfile = {file:?}\n");
    let solver = "[linear_solver]\npreconditioner = \"amg\"\namg.replicate_rows = 400\n";
    let rest = format!("conductivity = \"1 + x*y\"\n{IN_TIME}{solver}{SIDES}");
    compare(&mesh, &rest, &[2, 3, 4, 7]);
}

#[test]
fn mixed_elements_have_the_bits_of_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [14, 14, 14]\nelement = \"mixed\"\njitter = 0.2";
    let steady = "conductivity = \"1 + x*y\"\nsource = \"10*x\"\n[linear_solver]\npreconditioner = \"chebyshev\"\n\
                  relative_tolerance = 1e-4\n";
    compare(
        mesh,
        &format!(
            "{steady}{}",
            SIDES.replace("100*sin(20*t)*y", "y").replace("*t", "").replace(" + t", "")
        ),
        &[2, 3, 4, 7],
    );
    let jacobi = "[linear_solver]\npreconditioner = \"jacobi\"\nrelative_tolerance = 1e-5\n";
    let averaged = "[[output.average]]\nfields = [\"temperature\"]\nrms = true";
    compare(mesh, &format!("{IN_TIME}{jacobi}{SIDES}{averaged}"), &[2, 3, 4, 7]);
}

#[test]
fn two_dimensional_and_singular_solutions_have_the_bits_of_one_rank() {
    let mesh = "# 2D\n[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [56, 56]\nelement = \"mixed\"\njitter = 0.2";
    let walls = "[boundary]\nxmin.temperature = 400.0\nxmax = \"insulated\"\nymin.temperature = \"300 + 10*x\"\nymax = \"insulated\"";
    let time = "[initial]\ntemperature = 300.0\n[time]\nmethod = \"crank_nicolson\"\ncfl = 20\nend = 0.0005\n";
    compare(mesh, &format!("{time}{walls}"), &[2, 3, 4, 7]);
    let fluxes = "source = \"x - 0.5\"\n[linear_solver]\nmethod = \"fgmres\"\npreconditioner = \"jacobi\"\n\
                  relative_tolerance = 0.1\n[boundary]\nxmin.heat_flux = 1.0\nxmax.heat_flux = -1.0\nymin = \"insulated\"\n\
                  ymax = \"insulated\"\n";
    compare(mesh, fluxes, &[2, 3, 4, 7]);
}

/// A process of one thread waited for itself.
#[test]
fn two_ranks_share_one_thread() {
    let mesh =
        "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [9, 9, 9]\nelement = \"tetrahedron\"";
    let rest = format!("discretization = \"node\"\n{IN_TIME}{SIDES}");
    let case = |ranks| case(mesh, &rest, ranks).replace("threads = 2", "threads = 1");
    assert!(case(2).contains("threads = 1\n"));
    assert_files_of_ranks(&case, &[2], &results(&case(1)));
}

#[test]
fn a_checkpoint_of_three_ranks_goes_on_with_one_and_four() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [13, 13, 13]";
    let solver = "[linear_solver]\npreconditioner = \"amg\"\namg.replicate_rows = 400\n";
    let rest = format!("discretization = \"node\"\n{IN_TIME}{solver}{SIDES}");
    continues_with_one_and_four(&|ranks| case(mesh, &rest, ranks));
}

#[test]
fn parts_with_few_nodes_are_warned_of() {
    let mesh =
        "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [8, 8, 8]\nelement = \"tetrahedron\"";
    let rest = format!("discretization = \"node\"\n{IN_TIME}{SIDES}");
    let folder = tempfile::tempdir().unwrap();
    let simulation = new(&case(mesh, &rest, 3), folder.path()).unwrap();
    let said = simulation.warnings().join("\n");
    // The cells would have been enough.
    let want = format!(
        "ranks = 3: of 729 nodes a part has fewer than the {HOST_CHUNK} that a sum takes together, so that results agree with those of \
         one rank to round-off; up to 2 ranks have its bits"
    );
    assert!(said.contains(&want), "{said}");
}
