//! Compressible flows on several ranks: the files of one rank.

use super::ranks::{
    CHUNKS, agrees_to_round_off, assert_files_of_ranks, compare_cases, continues_with_one_and_four,
    on_devices, results,
};
use super::*;
use crate::mesh::files::write_mesh;
use crate::mesh::testing;

const TETRAHEDRA: &str = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [9, 9, 9]\nelement = \"tetrahedron\"\njitter = 0.25";
const MIXED: &str = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [11, 11, 11]\nelement = \"mixed\"\njitter = 0.2";
const SQUARE: &str =
    "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [48, 48]\nelement = \"mixed\"\njitter = 0.2";

/// A stream whose inflow changes, an outlet, walls with and without slip.
const CHANNEL: &str = "xmin.inflow = { density = \"1.2 + 0.1*sin(20*t)*y\", velocity = [\"0.5 + 0.1*y\", 0.0, 0.0], pressure = \"1 + 0.1*t\" }\n\
                       xmax.pressure_outlet = \"1 + 0.01*y*t\"\nymin = \"slip_wall\"\nymax = \"symmetry\"\nzmin = \"slip_wall\"\nzmax = \"slip_wall\"\n";

/// A shock tube.
const TUBE: &str = "[initial]\ndensity = \"if(x + 0.3*y < 0.5, 1, 0.02)\"\npressure = \"if(x + 0.3*y < 0.5, 1, 0.01)\"\n";

const CLOSED: &str = "xmin = \"slip_wall\"\nxmax = \"slip_wall\"\nymin = \"slip_wall\"\nymax = \"slip_wall\"\nzmin = \"slip_wall\"\n\
                      zmax = \"slip_wall\"\n";

const STREAM: &str =
    "[initial]\ndensity = \"1.2 + 0.1*x*y\"\nvelocity = [0.5, 0.0, 0.0]\npressure = 1.0\n";

const AVERAGE: &str = "[[output.average]]\nfields = [\"velocity\", \"vorticity\"]\nrms = true\n";

/// Steps of one Courant number with a checkpoint and averages.
fn time(method: &str, end: f64) -> String {
    let half = 0.5 * end;
    format!(
        "[time]\nmethod = \"{method}\"\ncfl = 0.4\nend = {end}\n[checkpoint]\nevery = {half}\n{AVERAGE}"
    )
}

/// A case on `ranks` ranks with output of every kind; `flow` continues the section [compressible].
fn case(mesh: &str, flow: &str, boundary: &str, ranks: usize) -> String {
    let (z, slice) = match boundary.contains("zmin") {
        false => ("", ""),
        true => (", 0.33", ", slice = { axis = \"z\", at = 0.5 }"),
    };
    let flow = if z.is_empty() { flow.replace(", 0.0]", "]") } else { flow.to_owned() };
    let boundary = if z.is_empty() { boundary.replace(", 0.0]", "]") } else { boundary.to_owned() };
    format!(
        "{mesh}\n[compressible]\ngas_constant = 1.0\n{flow}[boundary]\n{boundary}[output]\n\
         fields = [\"density\", \"velocity\", \"pressure\", \"mach\", \"schlieren\"]\npicture = {{ field = \"density\"{slice} }}\n\
         [[output.probe]]\nname = \"middle\"\nat = [0.41, 0.57{z}]\n[[output.line]]\nname = \"axis\"\nfrom = [0.0, 0.3{z}]\n\
         to = [1.0, 0.7{z}]\npoints = 31\n[[output.patch]]\nname = \"wall\"\npatches = [\"ymin\"]\n\
         reference = {{ density = 1.0, velocity = 1.0, pressure = 1.0, area = 2.0, length = 0.5 }}\n[[output.patch]]\n\
         name = \"sides\"\npatches = [\"ymax\", \"ymin\"]\n[[output.surface]]\n\
         name = \"floor\"\npatches = [\"ymin\"]\nfields = [\"pressure\", \"mach\"]\n\
         [run]\nbackend = \"cpu\"\nthreads = 2\nranks = {ranks}\n"
    )
}

/// A case of one rank for processes: cells that are computed again, averages, probes.
pub(super) fn text_of_processes() -> String {
    let flow = "flux = \"hllc\"\nlimiter = \"mood\"\n".to_owned() + TUBE + &time("ssp_rk2", 0.005);
    case(MIXED, &flow, CLOSED, 1)
}

fn compare(mesh: &str, flow: &str, boundary: &str) {
    let of_ranks = |ranks| case(mesh, flow, boundary, ranks);
    assert_files_of_ranks(&of_ranks, &[3, 7], &results(&of_ranks(1)));
}

/// Traces by rows of weights, of third order.
#[test]
fn a_quadratic_reconstruction_on_tetrahedra_has_the_bits_of_one_rank() {
    let flow = STREAM.to_owned() + &time("ssp_rk3", 0.005);
    compare_cases(&|ranks| case(TETRAHEDRA, &flow, CHANNEL, ranks), CHUNKS);
}

/// Traces by polynomials, with a limiter.
#[test]
fn a_limited_reconstruction_on_mixed_cells_has_the_bits_of_one_rank() {
    let flow = "flux = \"hllc\"\nlimiter = \"venkatakrishnan\"\nlow_mach = true\n".to_owned();
    compare(MIXED, &(flow + STREAM + &time("rk4", 0.006)), CHANNEL);
}

/// Cells that are computed again: new extrema, and states that are not positive.
#[test]
fn fallback_cells_have_the_bits_of_one_rank() {
    let flow = "flux = \"hllc\"\nlimiter = \"mood\"\n".to_owned() + TUBE + &time("ssp_rk3", 0.01);
    compare(MIXED, &flow, CLOSED);
    let fallbacks = |text: &str| {
        let table = results(text).remove("history.csv").unwrap();
        let table = String::from_utf8(table).unwrap();
        let mut rows = table.lines().map(|row| row.split(','));
        let column = rows.next().unwrap().position(|name| name == "fallback_cells").unwrap();
        rows.map(|mut row| row.nth(column).unwrap().parse::<f64>().unwrap()).sum::<f64>()
    };
    assert!(fallbacks(&case(MIXED, &flow, CLOSED, 2)) > 100.0);
}

#[test]
fn the_limiter_at_nodes_on_tetrahedra_of_gmsh_has_the_bits_of_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cube.msh");
    let raw = testing::gmsh("cube_tetrahedron_medium");
    write_mesh(&file, &testing::with_halved_edges(&raw)).unwrap();
    let mesh = format!("[mesh]\nfile = {file:?}\n");
    let flow = "reconstruction = \"linear\"\nflux = \"rusanov\"\nlimiter = \"mlp\"\n".to_owned();
    compare(&mesh, &(flow + TUBE + &time("ssp_rk2", 0.01)), CLOSED);
}

#[test]
fn a_viscous_periodic_flow_in_2d_has_the_bits_of_one_rank() {
    let flow = "source = [0.0, \"0.1*t\", 0.0, 0.0, 0.1]\n[compressible.viscous]\nviscosity = 0.001\nprandtl = 0.7\n[initial]\ndensity = 1.0\n\
                velocity = [\"sin(2*pi*y)\", 0.0, 0.0]\npressure = 1.0\n";
    let mesh = SQUARE.replace("jitter = 0.2", "jitter = 0.0");
    let boundary = "xmin.periodic = \"xmax\"\nymin.isothermal = 1.1\nymax = \"no_slip\"\n";
    compare(&mesh, &(flow.to_owned() + &time("ssp_rk3", 0.002)), boundary);
}

const STEADY: &str = "[steady]\nmax_iterations = 2\n";

/// The files after some iterations, which are not converged.
fn compare_steady(mesh: &str, flow: &str, boundary: &str) {
    let of_ranks =
        |ranks| case(mesh, flow, boundary, ranks).replace("20*t", "0.2").replace("*t", "");
    let folder = tempfile::tempdir().unwrap();
    let (outcome, _) = run(&of_ranks(1), folder.path());
    assert!(matches!(outcome.kind, OutcomeKind::NotConverged), "{}", outcome.message);
    let want = super::ranks::files(folder.path());
    for ranks in [2, 7] {
        let folder = tempfile::tempdir().unwrap();
        run(&of_ranks(ranks), folder.path());
        for (name, bytes) in super::ranks::files(folder.path()) {
            assert!(bytes == want[&name], "{name} on {ranks} ranks");
        }
    }
}

#[test]
fn newton_steps_have_the_bits_of_one_rank() {
    compare_steady(TETRAHEDRA, &(STREAM.to_owned() + STEADY), CHANNEL);
    let limited = "limiter = \"venkatakrishnan\"\n".to_owned() + STREAM + STEADY;
    compare_steady(SQUARE, &limited, &CHANNEL[..CHANNEL.find("zmin").unwrap()]);
}

#[test]
fn local_steps_have_the_bits_of_one_rank() {
    let steps = "[time]\nmethod = \"ssp_rk3\"\ncfl = 0.5\nlocal_step = true\n";
    let flow = "limiter = \"minmod\"\n".to_owned() + STREAM + STEADY + steps;
    compare_steady(MIXED, &flow, CHANNEL);
}

#[test]
fn a_checkpoint_of_three_ranks_goes_on_with_one_and_four() {
    let flow = STREAM.to_owned() + &time("ssp_rk3", 0.02).replace("cfl = 0.4", "step = 0.005");
    continues_with_one_and_four(&|ranks| case(MIXED, &flow, CHANNEL, ranks));
}

#[test]
fn parts_smaller_than_a_chunk_agree_to_round_off_with_a_warning() {
    let mesh = "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [4, 4, 4]\nelement = \"tetrahedron\"\njitter = 0.2";
    let flow = STREAM.to_owned() + &time("ssp_rk3", 0.01);
    agrees_to_round_off(&|ranks| case(mesh, &flow, CHANNEL, ranks), "pressure");
}

/// A step fails where one rank fails, with its message.
#[test]
fn an_invalid_value_on_one_rank_is_the_error_of_the_run() {
    let boundary = CHANNEL.replace("1 + 0.1*t", "if(z > 0.9, 1 + 0/(t - 0.004), 1)");
    let flow = STREAM.to_owned() + &time("euler", 0.01).replace("cfl = 0.4", "step = 0.002");
    let said = [1, 2].map(|ranks| {
        let folder = tempfile::tempdir().unwrap();
        let mut simulation = new(&case(MIXED, &flow, &boundary, ranks), folder.path()).unwrap();
        simulation.run(&mut |_| ()).unwrap_err().to_string()
    });
    assert!(
        said.iter().all(|said| said.contains("boundary state is NaN at t = 0.004")),
        "{said:?}"
    );
}

/// The state has the bits of one rank; the host evaluates forces and derived fields.
#[test]
fn devices_of_ranks_have_the_bits_of_one() {
    let compare = |mesh: &str, flow: &str, boundary: &str, several: &[usize]| {
        on_devices(&|ranks| case(mesh, flow, boundary, ranks), several, &|found, want, ranks| {
            let states = found.iter().filter(|(name, _)| name.ends_with(".safetensors"));
            assert!(states.clone().count() > 0);
            for (name, bytes) in states {
                assert!(*bytes == want[name], "{name} on {ranks} ranks");
            }
        });
    };
    let tetrahedra = TETRAHEDRA.replace("9", "7");
    let of_state = |flow: String| flow.replace(AVERAGE, "");
    compare(&tetrahedra, &of_state(STREAM.to_owned() + &time("euler", 0.002)), CHANNEL, &[3]);
    let mixed = MIXED.replace("11", "7");
    let flow = "flux = \"hllc\"\nlimiter = \"mood\"\n".to_owned() + TUBE + &time("euler", 0.004);
    compare(&mixed, &of_state(flow), CLOSED, &[2]);
}

#[test]
fn adapted_meshes_have_the_bits_of_one_rank() {
    let adapt = "[adapt]\nevery = 0.005\nfield = \"density\"\ncomplexity = 1000\n";
    let mesh = SQUARE.replace("mixed", "triangle").replace("jitter = 0.2", "jitter = 0.0");
    let flow = "limiter = \"minmod\"\nflux = \"hllc\"\n".to_owned() + TUBE + &time("ssp_rk2", 0.01);
    let boundary = &CLOSED[..CLOSED.find("zmin").unwrap()];
    let of_ranks = |ranks| {
        let text = case(&mesh, &flow, boundary, ranks) + adapt;
        text.replace(AVERAGE, "")
    };
    assert_files_of_ranks(&of_ranks, &[2, 3], &results(&of_ranks(1)));
}
