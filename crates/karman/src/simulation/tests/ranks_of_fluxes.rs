//! Flows with fluxes as unknowns on several ranks: the files of one rank, and what they refuse.

use super::ranks::{
    CHUNKS, agrees_to_round_off, assert_files_of_ranks, compare_cases, continues_with_one_and_four,
    results,
};
use super::ranks_of_flow::{
    CAVITY, CHANNEL, CONVECTIVE, MIXED, OPEN, SQUARE, TETRAHEDRA, THERMAL, case,
    compare_on_devices, few_steps, gmsh, pressure,
};

/// The key of the scheme, and a loose solver of the momentum.
fn fluxes(scheme: &str) -> String {
    format!(
        "scheme = \"{scheme}\"\n[incompressible.momentum]\nrelative_tolerance = 1e-3\nmax_iterations = 2000\n{}",
        pressure("jacobi")
    )
}

/// Three steps with a checkpoint after the second.
fn time(method: &str, step: f64) -> String {
    let (second, end) = (2.0 * step, 3.0 * step);
    format!(
        "[time]\nmethod = \"{method}\"\nstep = {step}\nend = {end}\n[checkpoint]\nevery = {second}\n\
         [[output.average]]\nfields = [\"velocity\"]\nrms = true\n[[output.average]]\nname = \"curl\"\nfields = [\"vorticity\"]\n"
    )
}

/// A case of one rank for processes.
pub(super) fn text_of_processes() -> String {
    case(MIXED, &(fluxes("staggered") + &time("bdf2", 0.002)), CHANNEL, 1)
}

/// Compares the files on any number of ranks with those on one.
fn compare_all(mesh: &str, flow: &str, boundary: &str) {
    compare_cases(&|ranks| case(mesh, flow, boundary, ranks), CHUNKS);
}

/// As [`compare_all`] on three and seven ranks, of which several share a chunk of a sum over fluxes.
fn compare(mesh: &str, flow: &str, boundary: &str) {
    let case = |ranks: usize| case(mesh, flow, boundary, ranks);
    assert_files_of_ranks(&case, &[3, 7], &results(&case(1)));
}

#[test]
fn staggered_fluxes_on_tetrahedra_have_the_bits_of_one_rank() {
    compare_all(TETRAHEDRA, &(fluxes("staggered") + &time("bdf2", 0.002)), CHANNEL);
}

#[test]
fn staggered_fluxes_on_tetrahedra_of_gmsh_have_the_bits_of_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    compare(&gmsh(folder.path()), &(fluxes("staggered") + &time("ab2_cn", 0.002)), OPEN);
}

#[test]
fn staggered_fluxes_to_a_convective_outlet_have_the_bits_of_one_rank() {
    compare(MIXED, &(fluxes("staggered") + &time("ab2_cn", 0.002)), CONVECTIVE);
}

/// Rectangular hexahedra: explicit steps need a diagonal mass matrix.
#[test]
fn explicit_steps_of_staggered_fluxes_have_the_bits_of_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [15, 15, 15]";
    let rk3 = fluxes("staggered") + &time("rk3", 0.002);
    compare(mesh, &rk3, CONVECTIVE);
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [57, 57]\ngrading = [2.0, 1.0]";
    let thermal = format!("{THERMAL}source = \"x*t\"\n[initial]\ntemperature = \"x*y\"\n");
    compare(mesh, &(fluxes("staggered") + &thermal + &time("rk3", 0.0002)), CAVITY);
}

const PERIODIC: &str = "xmin.periodic = \"xmax\"\nymin = \"no_slip\"\nymax.moving_wall = [0.5, 0.0, 0.0]\nzmin.periodic = \"zmax\"\n";

/// Periodic fluxes whose mean velocity is kept.
fn periodic(scheme: &str) -> String {
    let initial = "[initial]\nvelocity = [\"sin(2*pi*z)\", 0.0, \"0.3*y\"]\n";
    "mean_velocity = [1.0, 0.0, 0.0]\n".to_owned() + &fluxes(scheme) + initial
}

#[test]
fn periodic_staggered_fluxes_have_the_bits_of_one_rank() {
    let mesh = TETRAHEDRA.replace("jitter = 0.25", "jitter = 0.0");
    compare(&mesh, &(periodic("staggered") + &time("bdf2", 0.002)), PERIODIC);
}

#[test]
fn buoyant_staggered_fluxes_in_2d_have_the_bits_of_one_rank() {
    let thermal = format!("{THERMAL}source = \"x*t\"\n[initial]\ntemperature = \"x*y\"\n");
    compare(SQUARE, &(fluxes("staggered") + &thermal + &time("bdf2", 0.002)), CAVITY);
    let momentum = fluxes("staggered").replace("1e-3", "1e-3\nmethod = \"single_reduction_cg\"");
    let boundary = "xmin.velocity_inlet = [\"4*y*(1 - y)\", 0.0]\nxmax.pressure_outlet = 0.0\nymin = \"no_slip\"\nymax = \"slip\"\n";
    // Cells in any order: a rank may own fewer faces than a sum takes together.
    let mesh = SQUARE.replace("jitter = 0.2", "jitter = 0.2\n[mesh]\nrenumber = \"rcm\"");
    compare(&mesh, &(momentum + &time("ab2_cn", 0.002)), boundary);
}

#[test]
fn a_checkpoint_of_staggered_fluxes_of_three_ranks_goes_on_with_one_and_four() {
    let flow = fluxes("staggered") + &time("ab2_cn", 0.002);
    continues_with_one_and_four(&|ranks| case(MIXED, &flow, CONVECTIVE, ranks));
}

#[test]
fn small_parts_of_staggered_fluxes_agree_to_round_off_with_a_warning() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [4, 4, 4]\nelement = \"tetrahedron\"\njitter = 0.2";
    let flow = fluxes("staggered").replace("1e-2", "1e-13").replace("1e-3", "1e-13");
    agrees_to_round_off(
        &|ranks| case(mesh, &(flow.clone() + &time("bdf2", 0.002)), CHANNEL, ranks),
        "velocity_x",
    );
}

/// Two open ends, so that the walls have a loop: one generator of potentials.
const DUCT: &str = "xmin.total_pressure_inlet = \"0.5 + 0.1*t\"\nxmax.pressure_outlet = \"0.1*y*t\"\nymin = \"no_slip\"\n\
                    ymax.moving_wall = [0.3, 0.0, 0.1]\nzmin = \"no_slip\"\nzmax = \"no_slip\"\n";

const EXACT: &str = "exact_fractional_step";

#[test]
fn exact_steps_on_tetrahedra_have_the_bits_of_one_rank() {
    compare_all(TETRAHEDRA, &(fluxes(EXACT) + &time("bdf2", 0.002)), CHANNEL);
}

/// Deflation of a generator.
#[test]
fn exact_steps_through_a_duct_of_gmsh_have_the_bits_of_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    compare(&gmsh(folder.path()), &(fluxes(EXACT) + &time("ab2_cn", 0.002)), DUCT);
}

#[test]
fn exact_steps_to_a_convective_outlet_have_the_bits_of_one_rank() {
    let jacobi = fluxes(EXACT).replace("1e-3", "1e-3\npreconditioner = \"jacobi\"");
    compare(MIXED, &(jacobi + &time("ab2_cn", 0.002)), CONVECTIVE);
}

/// Multigrid for the potentials of parallel edges.
#[test]
fn exact_steps_on_rectangular_hexahedra_have_the_bits_of_one_rank() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [15, 15, 15]";
    let flow = fluxes(EXACT).replace("1e-3", "1e-3\namg = { replicate_rows = 400, cycle = \"k\" }");
    compare(mesh, &(flow + &time("bdf2", 0.002)), DUCT);
}

#[test]
fn periodic_exact_steps_have_the_bits_of_one_rank() {
    let mesh = TETRAHEDRA.replace("jitter = 0.25", "jitter = 0.0");
    compare(&mesh, &(periodic(EXACT) + &time("bdf2", 0.002)), PERIODIC);
}

#[test]
fn exact_steps_in_2d_have_the_bits_of_one_rank() {
    let thermal = format!("{THERMAL}source = \"x*t\"\n[initial]\ntemperature = \"x*y\"\n");
    compare(SQUARE, &(fluxes(EXACT) + &thermal + &time("bdf2", 0.002)), CAVITY);
    let chebyshev = fluxes(EXACT).replace("1e-3", "1e-3\npreconditioner = \"chebyshev\"");
    let boundary = "xmin.velocity_inlet = [\"4*y*(1 - y)*(1 + t)\", 0.0]\nxmax.pressure_outlet = 0.0\nymin = \"no_slip\"\nymax = \"slip\"\n";
    compare(SQUARE, &(chebyshev + &time("ab2_cn", 0.002)), boundary);
}

#[test]
fn a_checkpoint_of_exact_steps_of_three_ranks_goes_on_with_one_and_four() {
    let flow = fluxes(EXACT) + &time("ab2_cn", 0.002);
    continues_with_one_and_four(&|ranks| case(MIXED, &flow, CHANNEL, ranks));
}

#[test]
fn small_parts_of_exact_steps_agree_to_round_off_with_a_warning() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [4, 4, 4]\nelement = \"tetrahedron\"\njitter = 0.2";
    let flow = fluxes(EXACT).replace("1e-2", "1e-13").replace("1e-3", "1e-13");
    agrees_to_round_off(
        &|ranks| case(mesh, &(flow.clone() + &time("bdf2", 0.002)), DUCT, ranks),
        "velocity_x",
    );
}

#[test]
fn fluxes_on_devices_of_ranks_have_the_bits_of_one() {
    let mesh = TETRAHEDRA.replace("9", "6");
    let staggered = fluxes("staggered") + &few_steps("bdf2", 0.002, 2);
    compare_on_devices(&mesh, &staggered, CHANNEL, &[2]);
    compare_on_devices(&mesh, &(fluxes(EXACT) + &few_steps("ab2_cn", 0.002, 1)), DUCT, &[2]);
}
