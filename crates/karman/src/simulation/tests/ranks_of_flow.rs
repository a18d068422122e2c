//! Collocated flows on several ranks: the files of one rank, and what they refuse.

use super::ranks::{
    CHUNKS, agrees_to_round_off, compare_cases, continues_with_one_and_four, on_devices,
};
use super::*;
use crate::mesh::files::write_mesh;
use crate::mesh::testing;

pub(super) const TETRAHEDRA: &str = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [9, 9, 9]\nelement = \"tetrahedron\"\njitter = 0.25";
pub(super) const MIXED: &str = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [11, 11, 11]\nelement = \"mixed\"\njitter = 0.2";
pub(super) const SQUARE: &str =
    "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [48, 48]\nelement = \"mixed\"\njitter = 0.2";

/// An inlet, an outlet, walls at rest and in motion, a slip wall.
pub(super) const CHANNEL: &str = "xmin.velocity_inlet = [\"1 + 0.2*sin(20*t)*y\", 0.0, \"0.1*x*z\"]\nxmax.pressure_outlet = \"0.1*y*t\"\n\
                       ymin = \"no_slip\"\nymax = \"slip\"\nzmin.moving_wall = [0.3, 0.1, 0.0]\nzmax = \"no_slip\"\n";

/// Sums over faces of all ranks: a prescribed flow rate, a convective outlet.
pub(super) const CONVECTIVE: &str = "xmin.flow_rate_inlet = \"0.5 + t\"\nxmax.convective_outlet = true\nymin = \"no_slip\"\n\
                          ymax = \"no_slip\"\nzmin = \"no_slip\"\nzmax = \"slip\"\n";

/// Pressures that depend on the flow.
pub(super) const OPEN: &str = "xmin.total_pressure_inlet = \"0.5 + 0.1*t\"\nxmax.pressure_loss_outlet = { pressure = 0.0, coefficient = 1.5 }\n\
                    ymin = \"no_slip\"\nymax.opening = 0.0\nzmin = \"no_slip\"\nzmax = \"symmetry\"\n";

/// The solver of the pressure.
pub(super) fn pressure(preconditioner: &str) -> String {
    format!(
        "[incompressible.pressure]\npreconditioner = \"{preconditioner}\"\nrelative_tolerance = 1e-2\nmax_iterations = 2000\n"
    )
}

/// Three steps with a checkpoint after the second.
fn time(method: &str, step: f64) -> String {
    let (second, end) = (2.0 * step, 3.0 * step);
    format!(
        "[time]\nmethod = \"{method}\"\nstep = {step}\nend = {end}\n[checkpoint]\nevery = {second}\n\
         [[output.average]]\nfields = [\"velocity\", \"vorticity\"]\nrms = true\n"
    )
}

/// Steps for software devices, which are slow.
pub(super) fn few_steps(method: &str, step: f64, steps: usize) -> String {
    let end = step * steps as f64;
    format!(
        "[time]\nmethod = \"{method}\"\nstep = {step}\nend = {end}\n[checkpoint]\nevery = {end}\n"
    )
}

/// A case on `ranks` ranks with output of every kind; `flow` continues the section [incompressible].
pub(super) fn case(mesh: &str, flow: &str, boundary: &str, ranks: usize) -> String {
    let (z, slice) = match boundary.contains("zmin") {
        false => ("", ""),
        true => (", 0.33", ", slice = { axis = \"z\", at = 0.5 }"),
    };
    let sides = match boundary.contains("periodic") {
        false => "[[output.patch]]\nname = \"sides\"\npatches = [\"xmin\", \"xmax\"]\n",
        true => "",
    };
    format!(
        "{mesh}\n[incompressible]\nkinematic_viscosity = 0.01\n{flow}[boundary]\n{boundary}[output]\n\
         fields = [\"velocity\", \"pressure\", \"vorticity\", \"q_criterion\"]\npicture = {{ field = \"velocity\"{slice} }}\n\
         [[output.probe]]\nname = \"middle\"\nat = [0.41, 0.57{z}]\n[[output.line]]\nname = \"axis\"\nfrom = [0.0, 0.3{z}]\n\
         to = [1.0, 0.7{z}]\npoints = 31\n{sides}[[output.patch]]\nname = \"wall\"\npatches = [\"ymin\"]\n\
         moment_centre = [0.1, 0.2{z}]\nreference = {{ velocity = 1.0, area = 2.0, length = 0.5 }}\n[[output.surface]]\n\
         name = \"floor\"\npatches = [\"ymin\"]\nfields = [\"pressure\", \"wall_shear_stress\", \"y_plus\"]\n\
         [run]\nbackend = \"cpu\"\nthreads = 2\nranks = {ranks}\n"
    )
}

/// A mesh of tetrahedra of Gmsh, in a file in `folder`.
pub(super) fn gmsh(folder: &Path) -> String {
    let file = folder.join("cube.msh");
    let raw = testing::gmsh("cube_tetrahedron_medium");
    write_mesh(&file, &testing::with_halved_edges(&raw)).unwrap();
    format!("[mesh]\nfile = {file:?}\n")
}

/// A case of one rank for processes: sums over faces of all ranks, prescribed values that change, averages.
pub(super) fn text_of_processes() -> String {
    case(MIXED, &(pressure("jacobi") + &time("ab2_cn", 0.002)), CONVECTIVE, 1)
}

fn compare(mesh: &str, flow: &str, boundary: &str) {
    compare_cases(&|ranks| case(mesh, flow, boundary, ranks), CHUNKS);
}

#[test]
fn a_channel_of_tetrahedra_has_the_bits_of_one_rank() {
    compare(TETRAHEDRA, &(pressure("chebyshev") + &time("bdf2", 0.002)), CHANNEL);
}

#[test]
fn implicit_convection_on_tetrahedra_of_gmsh_has_the_bits_of_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let flow = "convection_treatment = \"implicit\"\nnonorthogonal_correctors = 1\nconvection = \"limited_linear\"\n";
    let flow = flow.to_owned() + &pressure("jacobi") + &time("ab2_cn", 0.002);
    compare(&gmsh(folder.path()), &flow, CHANNEL);
}

#[test]
fn explicit_steps_to_a_convective_outlet_have_the_bits_of_one_rank() {
    let flow = "convection = \"cubic\"\n".to_owned() + &pressure("jacobi") + &time("rk3", 0.002);
    compare(MIXED, &flow, CONVECTIVE);
}

#[test]
fn pressures_that_depend_on_the_flow_have_the_bits_of_one_rank() {
    compare(MIXED, &(pressure("jacobi") + &time("ab2_cn", 0.002)), OPEN);
}

#[test]
fn periodic_flows_have_the_bits_of_one_rank() {
    let mesh = TETRAHEDRA.replace("jitter = 0.25", "jitter = 0.0");
    let boundary = "xmin.periodic = \"xmax\"\nymin = \"no_slip\"\nymax.moving_wall = [0.5, 0.0, 0.0]\nzmin.periodic = \"zmax\"\n";
    let initial = "[initial]\nvelocity = [\"sin(2*pi*z)\", 0.0, \"0.3*y\"]\n";
    let flow = "mean_velocity = [1.0, 0.0, 0.0]\n".to_owned();
    compare(&mesh, &(flow + &pressure("chebyshev") + initial + &time("bdf2", 0.002)), boundary);
}

/// A heated cavity.
pub(super) const CAVITY: &str = "xmin = { no_slip = true, temperature = \"1 + y\" }\nxmax = { no_slip = true, heat_flux = 0.1 }\n\
                      ymin = \"no_slip\"\nymax.moving_wall = [1.0, 0.0]\n";

pub(super) const THERMAL: &str =
    "[incompressible.thermal]\ndiffusivity = 0.01\nexpansion = 1.0\ngravity = [0.0, -1.0]\n";

/// Steps of a heated cavity.
fn compare_cavity(method: &str, step: f64) {
    let thermal = format!("{THERMAL}source = \"x*t\"\n[initial]\ntemperature = \"x*y\"\n");
    compare(SQUARE, &(pressure("jacobi") + &thermal + &time(method, step)), CAVITY);
}

#[test]
fn buoyant_flows_in_2d_have_the_bits_of_one_rank() {
    compare_cavity("bdf2", 0.002);
}

#[test]
fn buoyant_flows_of_explicit_steps_have_the_bits_of_one_rank() {
    compare_cavity("rk3", 0.0002);
}

#[test]
fn steady_buoyant_flows_have_the_bits_of_one_rank() {
    let steady = "[steady]\ntolerance = 4e-2\n";
    compare(SQUARE, &(pressure("jacobi") + THERMAL + steady), CAVITY);
}

#[test]
fn steady_flows_have_the_bits_of_one_rank() {
    let steady = "[steady]\ntolerance = 3e-2\n";
    let boundary = CHANNEL.replace("\"1 + 0.2*sin(20*t)*y\"", "1.0").replace("\"0.1*y*t\"", "0.0");
    compare(TETRAHEDRA, &(pressure("chebyshev") + steady), &boundary);
}

/// Its responses are computed anew after changes of the local steps.
#[test]
fn steady_flows_that_keep_their_mean_velocity_have_the_bits_of_one_rank() {
    let flow = "mean_velocity = [1.0, 0.0, 0.0]\n".to_owned() + &pressure("chebyshev");
    let mesh = TETRAHEDRA.replace("jitter = 0.25", "jitter = 0.0");
    let boundary = "xmin.periodic = \"xmax\"\nymin = \"no_slip\"\nymax = \"no_slip\"\nzmin = \"slip\"\nzmax.moving_wall = [0.5, 0.0, 0.0]\n";
    compare(&mesh, &(flow + "[steady]\ntolerance = 3e-2\n"), boundary);
}

#[test]
fn an_assembled_operator_of_the_momentum_has_the_bits_of_one_rank() {
    let momentum = "[incompressible.momentum]\npreconditioner = \"chebyshev\"\n";
    let flow = "convection = \"upwind\"\n".to_owned() + &pressure("jacobi") + momentum;
    compare(TETRAHEDRA, &(flow + &time("bdf2", 0.002)), CHANNEL);
}

/// Compares several ranks with one on each device. The state has the bits of one rank. The host evaluates forces, derived fields and
/// the mean pressure of several ranks, so that tables are equal up to round-off.
pub(super) fn compare_on_devices(mesh: &str, flow: &str, boundary: &str, several: &[usize]) {
    let flow = flow.replace("relative_tolerance = 1e-2", "relative_tolerance = 1e-1");
    on_devices(&|ranks| case(mesh, &flow, boundary, ranks), several, &|found, want, ranks| {
        assert!(found.keys().eq(want.keys()), "{:?} {:?}", found.keys(), want.keys());
        let states: Vec<_> =
            found.iter().filter(|(name, _)| name.ends_with(".safetensors")).collect();
        assert!(!states.is_empty());
        for (name, bytes) in states {
            assert!(*bytes == want[name], "{name} on {ranks} ranks");
        }
        for table in ["history.csv", "line_axis.csv"] {
            assert_close(&found[table], &want[table]);
        }
    });
}

#[test]
fn flows_on_devices_of_ranks_have_the_bits_of_one() {
    let tetrahedra = pressure("chebyshev") + &few_steps("bdf2", 0.002, 2);
    compare_on_devices(&TETRAHEDRA.replace("9", "7"), &tetrahedra, CHANNEL, &[3]);
    let mixed = pressure("jacobi") + &few_steps("rk3", 0.002, 1);
    compare_on_devices(&MIXED.replace("11", "7"), &mixed, CONVECTIVE, &[2]);
    let thermal = format!("{THERMAL}source = \"x*t\"\n[initial]\ntemperature = \"x*y\"\n");
    let cavity = pressure("amg") + &thermal + &few_steps("ab2_cn", 0.002, 1);
    compare_on_devices(&SQUARE.replace("48", "30"), &cavity, CAVITY, &[2]);
}

/// The ranks compute the response, which is the force itself here: many projections take long.
#[test]
fn a_mean_velocity_on_devices_of_ranks_has_the_bits_of_one() {
    let flow = "mean_velocity = [1.0, 0.0]\n".to_owned() + &pressure("jacobi");
    let boundary = "xmin.periodic = \"xmax\"\nymin = \"no_slip\"\nymax = \"no_slip\"\n";
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [34, 34]";
    compare_on_devices(mesh, &(flow + &few_steps("bdf2", 0.002, 2)), boundary, &[2]);
}

/// Two tables of flows with speeds and areas of order 1 agree up to round-off, also of sums in which large terms cancel.
fn assert_close(found: &[u8], want: &[u8]) {
    let table = |bytes: &[u8]| -> Vec<Vec<f64>> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let rows = text.lines().skip(1);
        rows.map(|row| row.split(',').map(|v| v.parse().unwrap()).collect()).collect()
    };
    let (found, want) = (table(found), table(want));
    assert_eq!(found.len(), want.len());
    for column in 0..want[0].len() {
        let scale = want.iter().map(|row| row[column].abs()).fold(1.0, f64::max);
        for (a, b) in found.iter().zip(&want) {
            let difference = (a[column] - b[column]).abs();
            assert!(difference <= 1e-12 * scale, "column {column}: {} {}", a[column], b[column]);
        }
    }
}

#[test]
fn a_checkpoint_of_three_ranks_goes_on_with_one_and_four() {
    let flow = pressure("chebyshev") + &time("ab2_cn", 0.002);
    continues_with_one_and_four(&|ranks| case(MIXED, &flow, CONVECTIVE, ranks));
}

#[test]
fn parts_smaller_than_a_chunk_agree_to_round_off_with_a_warning() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [4, 4, 4]\nelement = \"tetrahedron\"\njitter = 0.2";
    let flow = pressure("jacobi").replace("1e-2", "1e-13")
        + "[incompressible.momentum]\nrelative_tolerance = 1e-13\n";
    let flow = flow + &time("bdf2", 0.002);
    agrees_to_round_off(&|ranks| case(mesh, &flow, CHANNEL, ranks), "velocity_x");
}

/// A step fails where one rank fails, with its message.
#[test]
fn an_invalid_value_on_one_rank_is_the_error_of_the_run() {
    let boundary = CHANNEL.replace("0.3, 0.1, 0.0", "\"if(x > 0.9, 1/(t - 0.004), 0)\", 0.1, 0.0");
    let flow = pressure("jacobi") + &time("bdf2", 0.002);
    let said = [1, 2].map(|ranks| {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&case(MIXED, &flow, &boundary, ranks), folder.path()).unwrap();
        simulation.run(&mut |_| ()).unwrap_err().to_string()
    });
    assert!(said.iter().all(|said| said.contains("a velocity at the boundary")), "{said:?}");
}

#[test]
fn flows_of_one_rank_are_refused_by_name() {
    let said = |flow: &str| {
        let walls = "xmin = \"no_slip\"\nxmax = \"no_slip\"\nymin = \"no_slip\"\nymax.moving_wall = [1.0, 0.0]\n";
        let text = format!(
            "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [8, 8]\n[run]\nbackend = \"cpu\"\nranks = 2\n\
             [incompressible]\nkinematic_viscosity = 0.1\n{flow}[boundary]\n{walls}"
        );
        let folder = tempfile::tempdir().unwrap();
        new(&text, folder.path()).err().unwrap().to_string()
    };
    let time = "[time]\nstep = 0.1\nend = 1.0\n";
    let solver = |section: &str, keys: &str| {
        let other = if section == "momentum" { pressure("jacobi") } else { String::new() };
        format!("{other}[incompressible.{section}]\n{keys}\n{time}")
    };
    let advice =
        "runs on one rank; set preconditioner = \"amg\", \"chebyshev\" or \"jacobi\", or ranks = 1";
    for (flow, want) in [
        (
            solver("pressure", "preconditioner = \"gauss_seidel\""),
            format!("[incompressible.pressure] preconditioner = \"gauss_seidel\" {advice}"),
        ),
        (
            solver("momentum", "preconditioner = \"gauss_seidel\""),
            format!("[incompressible.momentum] preconditioner = \"gauss_seidel\" {advice}"),
        ),
        (
            solver("pressure", "preconditioner = \"amg\"\namg.smoother = \"gauss_seidel\""),
            "[incompressible.pressure] amg.smoother = \"gauss_seidel\" runs on one rank; set amg.smoother = \"l1_jacobi\" or \
             \"chebyshev\", or ranks = 1"
                .to_owned(),
        ),
    ] {
        assert_eq!(said(&flow), format!("ranks = 2: {want}"));
    }
}

/// Multigrid of the pressure and of an assembled momentum.
#[test]
fn multigrid_of_a_flow_has_the_bits_of_one_rank() {
    let amg = pressure("amg") + "amg.replicate_rows = 400\n";
    compare(TETRAHEDRA, &(amg.clone() + &time("bdf2", 0.002)), CHANNEL);
    let momentum =
        "[incompressible.momentum]\npreconditioner = \"amg\"\namg.replicate_rows = 400\n";
    let walls = "xmin = \"no_slip\"\nxmax = \"no_slip\"\nymin = \"no_slip\"\nymax.moving_wall = [1.0, 0.0]\n";
    compare(SQUARE, &(amg + momentum + &time("bdf2", 0.002)), walls);
}
