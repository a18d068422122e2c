//! Compressible flow through the run loop: output against exact values, restart, divergence.

use super::rebuilding::same_places;
use super::surfaces::meshes;
use super::*;

/// A case on a mesh: `section` are keys of `[compressible]`, `initial` the state.
fn case_of(mesh: &str, is_2d: bool, section: &str, initial: &str, boundary: &str) -> String {
    let mut patches = vec!["xmin", "xmax", "ymin", "ymax"];
    patches.extend(if is_2d { vec![] } else { vec!["zmin", "zmax"] });
    let conditions = patches.iter().map(|patch| format!("{patch}{boundary}\n"));
    let conditions: String = conditions.collect();
    format!(
        "{mesh}[compressible]\ngas_constant = 2.0\n{section}\n[initial]\n{initial}\n[boundary]\n{conditions}"
    )
}

const SMALL_STEP: &str = "[time]\nstep = 1e-9\nend = 1e-9\n";

/// Meshes on which polynomials of degree one are exact in all cells: among the coarse tetrahedra a few cells are too badly surrounded, and
/// their polynomials are constant.
fn meshes_with_gradients() -> Vec<(String, bool)> {
    let replaced = |(mesh, is_2d): (String, bool)| {
        (mesh.replace("cube_tetrahedron_coarse", "cube_tetrahedron_medium"), is_2d)
    };
    meshes().into_iter().map(replaced).collect()
}

/// A vortex between walls with all kinds of output.
fn vortex(mesh: &str, is_2d: bool) -> String {
    let zero = if is_2d { "" } else { ", 0.1" };
    let initial = format!(
        "density = \"1 + 0.2*x*y\"\nvelocity = [\"0.3*sin(pi*x)*cos(pi*y)\", \"-0.3*cos(pi*x)*sin(pi*y)\"{zero}]\npressure = 1.0"
    );
    let (third, name) = if is_2d { ("", "") } else { (", 0.5", ", \"entropy\"") };
    case_of(mesh, is_2d, "flux = \"hllc\"", &initial, " = \"slip_wall\"")
        + &format!(
            "[time]\ncfl = 0.5\nend = 0.2\n[output]\nevery = 0.1\n\
             fields = [\"density\", \"velocity\", \"pressure\", \"temperature\", \"mach\", \"entropy\", \"schlieren\", \"vorticity\"]\n\
             [[output.probe]]\nname = \"middle\"\nat = [0.5, 0.5{third}]\n\
             [[output.line]]\nname = \"axis\"\nfrom = [0.0, 0.5{third}]\nto = [1.0, 0.5{third}]\npoints = 5\n\
             [[output.patch]]\nname = \"left\"\npatches = [\"xmin\"]\nmoment_centre = [0.0, 0.0{third}]\nreference = {{ velocity = 0.3 }}\n\
             [[output.surface]]\nname = \"right\"\npatches = [\"xmax\"]\nfields = [\"pressure\", \"mach\"]\n\
             [[output.average]]\nfields = [\"velocity\", \"mach\", \"vorticity\"{name}]\nstart = 0.05\nrms = true\n\
             [checkpoint]\nevery = 0.1\n"
        )
}

#[test]
fn a_restart_continues_bit_for_bit_and_all_output_is_there() {
    for (mesh, is_2d) in meshes() {
        for precision in ["f64", "f32"] {
            let text = format!("{}[run]\nprecision = \"{precision}\"\n", vortex(&mesh, is_2d));
            let folder = tempfile::tempdir().unwrap();
            let (outcome, first) = run(&text, folder.path());
            assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome} {text}");
            let results = folder.path().join("case");
            let files = ["history.csv", "line_axis.csv", "surface_right.csv"];
            let contents = || files.map(|file| std::fs::read(results.join(file)).unwrap());
            let before = contents();
            let heading = String::from_utf8(before[0].clone()).unwrap();
            let expected = "step,time,dt,rate,cfl,mass,energy,kinetic_energy,fallback_cells,probe_middle_density";
            assert!(heading.starts_with(expected), "{heading}");
            let mut checkpoints: Vec<PathBuf> = std::fs::read_dir(&results)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.extension().is_some_and(|e| e == "safetensors"))
                .collect();
            checkpoints.sort();
            let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
            let options = RunOptions { restart: Some(checkpoints[0].clone()), backend: None };
            let mut simulation = Simulation::new(case, options).unwrap();
            assert_eq!(simulation.run(&mut |_| ()).unwrap().kind, OutcomeKind::Finished);
            assert_eq!(contents(), before, "{text}");
            let second = summary(folder.path());
            for part in ["fields", "probe", "patch", "flow", "time"] {
                assert_eq!(first[part], second[part], "{part}");
            }
            assert!(number(&first, "/flow/courant") <= 0.5);
            let sizes = first["flow"]["stencil_sizes"].as_object().unwrap();
            let counted: u64 = sizes.values().map(|count| count.as_u64().unwrap()).sum();
            assert_eq!(counted as f64, number(&first, "/mesh/cells"), "{sizes:?}");
            assert!(number(&first, "/fields/velocity_mean_x/max").is_finite());
        }
    }
}

#[test]
fn a_uniform_flow_is_kept() {
    for (mesh, is_2d) in meshes() {
        let zero = if is_2d { "" } else { ", 0.1" };
        let state = format!("density = 1.4, velocity = [0.5, 0.2{zero}], pressure = 1.0");
        for flux in NumericalFlux::ALL {
            let section = format!("flux = \"{}\"", flux.word());
            let initial = state.replace(", v", "\nv").replace(", p", "\np");
            let exterior = format!(".farfield = {{ {state} }}");
            let text = case_of(&mesh, is_2d, &section, &initial, &exterior)
                + &format!("[time]\ncfl = 0.5\nend = 0.1\n[exact]\n{initial}\n")
                + "[[output.patch]]\nname = \"out\"\npatches = [\"xmax\"]\n";
            let folder = tempfile::tempdir().unwrap();
            let (outcome, summary) = run(&text, folder.path());
            assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome} {text}");
            for field in ["density", "velocity", "pressure"] {
                let error = number(&summary, &format!("/errors/{field}/linf"));
                assert!(error < 1e-12, "{field}: {error} {text}");
            }
            let area = number(&summary, "/patch/out/area");
            let mass = number(&summary, "/patch/out/mass_flow");
            assert!((mass + 1.4 * 0.5 * area).abs() < 1e-12 * area, "{mass}");
            assert!((number(&summary, "/patch/out/force_x") - area).abs() < 1e-12 * area);
        }
    }
}

#[test]
fn errors_compare_means_over_cells() {
    // After a small step from the exact state: means differ from values at centroids by O(h²).
    for (mesh, is_2d) in meshes() {
        let zero = if is_2d { "" } else { ", 0.0" };
        let fields = format!(
            "density = \"1 + 0.5*x^2\"\nvelocity = [\"0.2*y^2\", \"x\"{zero}]\npressure = \"1 + x*y\""
        );
        let text = case_of(&mesh, is_2d, "", &fields, " = \"slip_wall\"")
            + SMALL_STEP
            + &format!("[exact]\n{fields}\n");
        let folder = tempfile::tempdir().unwrap();
        let (_, summary) = run(&text, folder.path());
        for field in ["density", "velocity", "pressure"] {
            let error = number(&summary, &format!("/errors/{field}/linf"));
            assert!(error < 1e-6, "{field}: {error} {text}");
        }
        let density = text.split("[exact]").next().unwrap().to_owned()
            + "[exact]\ndensity = \"1 + 0.5*x^2\"\n";
        let (_, summary) = run(&density, folder.path());
        assert!(number(&summary, "/errors/density/linf") < 1e-6);
        assert!(summary.pointer("/errors/pressure").is_none());
    }
}

#[test]
fn monitors_of_a_linear_pressure_are_exact() {
    // At rest with p = 2 + x: polynomials are exact, and walls bear the pressure.
    for (mesh, is_2d) in meshes_with_gradients() {
        let (third, last) = if is_2d { ("", "") } else { (", 0.3", ", 0.0") };
        let fields = "density = \"1 + 0.5*x^2 + y\"\npressure = \"2 + x\"";
        let text = case_of(&mesh, is_2d, "", fields, " = \"slip_wall\"")
            + SMALL_STEP
            + &format!(
                "[output]\nfields = [\"temperature\", \"mach\", \"entropy\", \"schlieren\"]\n[[output.probe]]\nname = \"inside\"\nat = [0.37, 0.61{third}]\n\
                 [[output.patch]]\nname = \"right\"\npatches = [\"xmax\"]\nmoment_centre = [0.0, 0.0{last}]\n\
                 reference = {{ velocity = 2.0, density = 3.0, pressure = 1.0, area = 0.5, length = 2.0 }}\n\
                 [[output.surface]]\nname = \"right\"\npatches = [\"xmax\"]\nfields = [\"pressure\", \"pressure_coefficient\", \"temperature\", \"mach\"]\n\
                 reference = {{ velocity = 2.0, density = 3.0, pressure = 1.0 }}\n"
            );
        let folder = tempfile::tempdir().unwrap();
        let (outcome, summary) = run(&text, folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
        let check = |path: &str, want: f64| {
            let found = number(&summary, path);
            assert!((found - want).abs() < 1e-7, "{path}: {found}, not {want} {text}");
        };
        check("/probe/inside/pressure", 2.37);
        check("/probe/inside/density", 1.0 + 0.5 * 0.37 * 0.37 + 0.61);
        check("/probe/inside/velocity_x", 0.0);
        let area = number(&summary, "/patch/right/area");
        check("/patch/right/force_x", 2.0 * area);
        check("/patch/right/pressure_force_x", 2.0 * area);
        check("/patch/right/viscous_force_x", 0.0);
        check("/patch/right/mass_flow", 0.0);
        check("/patch/right/drag_coefficient", 2.0 * area / (0.5 * 3.0 * 4.0 * 0.5));
        check("/patch/right/lift_coefficient", 0.0);
        let moment = -2.0 * area * 0.5;
        check("/patch/right/moment_z", moment);
        check("/patch/right/moment_coefficient", moment / (0.5 * 3.0 * 4.0 * 0.5 * 2.0));
        let csv = std::fs::read_to_string(folder.path().join("case/surface_right.csv")).unwrap();
        let mut lines = csv.lines();
        let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
        let column = |name: &str| heading.iter().position(|known| *known == name).unwrap();
        for line in lines {
            let row: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            assert!((row[column("pressure")] - 3.0).abs() < 1e-7, "{line}");
            assert!((row[column("pressure_coefficient")] - 2.0 / 6.0).abs() < 1e-7, "{line}");
            assert!(row[column("mach")].abs() < 1e-6, "{line}");
            let y = row[column("y")];
            assert!((row[column("temperature")] - 1.5 / (1.5 + y)).abs() < 1e-2, "{line}");
        }
    }
}

#[test]
fn derived_fields_are_those_of_the_means() {
    for (mesh, is_2d) in meshes_with_gradients() {
        let zero = if is_2d { "" } else { ", 0.0" };
        // Of equal density and pressure the momentum of a solid rotation is linear.
        let fields = format!("density = 2.0\nvelocity = [\"-y\", \"x\"{zero}]\npressure = 3.0");
        let text = case_of(&mesh, is_2d, "gamma = 1.5", &fields, " = \"slip_wall\"")
            + SMALL_STEP
            + "[output]\nfields = [\"vorticity\", \"mach\", \"entropy\", \"temperature\"]\n";
        let folder = tempfile::tempdir().unwrap();
        let simulation = new(&text, folder.path()).unwrap();
        let field = |name: &str| simulation.equation.output_field(&simulation.mesh, name).unwrap();
        let vorticity = match field("vorticity") {
            FieldData::Scalar(values) => values,
            FieldData::Vector([x, y, z]) => {
                assert!(x.iter().chain(&y).all(|w| w.abs() < 1e-11));
                z
            }
        };
        assert!(vorticity.iter().all(|w| (w - 2.0).abs() < 1e-11), "{text}");
        let scalar = |name: &str| field(name).into_scalar();
        let (density, pressure) = (scalar("density"), scalar("pressure"));
        let states = density.iter().zip(&pressure);
        for ((entropy, temperature), (rho, p)) in
            scalar("entropy").iter().zip(scalar("temperature")).zip(states.clone())
        {
            assert!((entropy - p / rho.powf(1.5)).abs() < 1e-13, "{entropy}");
            assert!((temperature - p / (rho * 2.0)).abs() < 1e-13, "{temperature}");
        }
        let speed = scalar("velocity");
        for ((mach, speed), (rho, p)) in scalar("mach").iter().zip(speed).zip(states) {
            assert!((mach - speed / (1.5 * p / rho).sqrt()).abs() < 1e-13, "{mach}");
        }
        let gradient = text.replace("density = 2.0", "density = \"2 + x + 2*y\"");
        let gradient = gradient.replace("\"-y\", \"x\"", "0.0, 0.0");
        let simulation = new(&gradient, folder.path()).unwrap();
        let schlieren = simulation.equation.output_field(&simulation.mesh, "schlieren").unwrap();
        assert!(schlieren.into_scalar().iter().all(|g| (g - 5f64.sqrt()).abs() < 1e-10));
        let error = simulation.field("mach").unwrap_err().to_string();
        assert!(error.contains("there is no field `mach`"), "{error}");
    }
}

#[test]
fn a_state_that_is_not_of_a_gas_ends_the_run_with_its_cell() {
    let mesh = gmsh("triangles_coarse");
    let fields = "density = \"if(x < 0.5, 1, 0.01)\"\npressure = \"if(x < 0.5, 1, 0.001)\"";
    let text = case_of(&mesh, true, "", fields, " = \"slip_wall\"")
        + "[time]\nmethod = \"euler\"\nstep = 0.5\nend = 5.0\n";
    let folder = tempfile::tempdir().unwrap();
    let (outcome, summary) = run(&text, folder.path());
    assert_eq!(outcome.kind, OutcomeKind::Diverged, "{outcome}");
    let message = outcome.message;
    assert!(message.contains("is not positive after step"), "{message}");
    assert!(message.contains("first in cell"), "{message}");
    assert!(message.contains("use `limiter = \"minmod\"` or \"mood\""), "{message}");
    assert!(message.contains("the Courant number of the step was"), "{message}");
    assert_eq!(summary["outcome"], "diverged");
}

#[test]
fn initial_states_and_third_components_are_refused() {
    let mesh = gmsh("triangles_coarse");
    let refused = |text: &str| {
        let error = new(text, Path::new("folder")).err().unwrap_or_else(|| panic!("{text}"));
        error.to_string()
    };
    let of = |fields: &str, boundary: &str| {
        case_of(&mesh, true, "", fields, boundary) + "[time]\ncfl = 0.5\nend = 1.0\n"
    };
    let message = refused(&of("density = \"x - 2\"\npressure = 1.0", " = \"slip_wall\""));
    assert!(message.contains("the initial density is -"), "{message}");
    assert!(message.contains("it must be positive"), "{message}");
    let fields = "density = 1.0\npressure = 1.0";
    let slipping = ".farfield = { density = 1.0, pressure = 1.0, mach = 0.5, side_slip_deg = 3.0 }";
    let message = refused(&of(fields, slipping));
    assert!(message.contains("the velocity of patch \"xmin\""), "{message}");
    let text =
        case_of(&mesh, true, "source = [0.0, 0.0, 0.0, 1.0, 0.0]", fields, " = \"slip_wall\"");
    let message = refused(&(text + "[time]\ncfl = 0.5\nend = 1.0\n"));
    assert!(message.contains("the source of momentum"), "{message}");
}

#[test]
fn sources_act() {
    for (mesh, is_2d) in meshes() {
        let section = "source = [0.1, 0.2, 0.0, 0.0, 0.3]";
        let zero = if is_2d { "" } else { ", 0.0" };
        let state = format!("density = 1.0, velocity = [1.0, 0.0{zero}], pressure = 1.0");
        let initial = state.replace(", v", "\nv").replace(", p", "\np");
        let text = case_of(&mesh, is_2d, section, &initial, &format!(".exact = {{ {state} }}"))
            + "[time]\nstep = 1e-6\nend = 1e-6\n";
        let folder = tempfile::tempdir().unwrap();
        let (_, summary) = run(&text, folder.path());
        let volume: f64 = 1.0;
        let mass = number(&summary, "/flow/mass") / volume;
        assert!((mass - number(&summary, "/fields/density/mean")).abs() < 1e-12, "{mass}");
        assert!((mass - 1.0 - 1e-7).abs() < 1e-10, "{mass}");
        let energy = number(&summary, "/flow/energy");
        assert!((energy - 3.0 - 3e-7).abs() < 1e-10, "{energy}");
    }
}

#[test]
fn a_flow_goes_on_with_another_mesh() {
    let mesh = gmsh("triangles_coarse");
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = new(&vortex(&mesh, true), folder.path()).unwrap();
    for _ in 0..3 {
        simulation.step().unwrap();
    }
    let fields = |simulation: &Simulation| {
        ["density", "velocity_x", "velocity_y", "pressure"].map(|f| simulation.field(f).unwrap())
    };
    let (before, clock) = (fields(&simulation), (simulation.time(), simulation.steps()));
    let same = simulation.mesh().clone();
    simulation.rebuild(same, &same_places()).unwrap();
    assert_eq!(fields(&simulation), before);
    assert_eq!((simulation.time(), simulation.steps()), clock);
    simulation.step().unwrap();
    assert!(fields(&simulation).iter().flatten().all(|value| value.is_finite()));
}

#[test]
fn initial_fields_come_from_a_result() {
    let mesh = gmsh("triangles_coarse");
    let folder = tempfile::tempdir().unwrap();
    let fields = "density = \"1 + 0.1*x\"\nvelocity = [0.1, 0.2]\npressure = \"2 + y\"";
    let text = case_of(&mesh, true, "", fields, " = \"slip_wall\"") + SMALL_STEP;
    run(&text, folder.path());
    let from = "from = \"case/fields.pvd\"";
    let again = text.replace(fields, from) + "[output]\ndirectory = \"again\"\n";
    let simulation = new(&again, folder.path()).unwrap();
    let pressure = simulation.field("pressure").unwrap();
    let places =
        (0..pressure.len()).map(|c| crate::mesh::geometry::cell_centre(&simulation.mesh, c));
    for (p, at) in pressure.iter().zip(places) {
        assert!((p - 2.0 - at[1]).abs() < 0.02, "{p} {at:?}");
    }
}

/// Fluid enters through outlets for supersonic flow: nothing bounds the state outside, and density and pressure stay positive.
#[test]
fn a_flow_whose_energy_grows_without_bound_has_diverged() {
    let text = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [8, 8]\nelement = \"triangle\"\n[compressible]\ngamma = 1.4\n\
                [initial]\ndensity = 1.0\nvelocity = [\"0.1*(x - 0.3)\", \"-0.3*(y - 0.4)\"]\npressure = 0.714\n[boundary]\n\
                xmin = \"supersonic_outlet\"\nxmax = \"supersonic_outlet\"\nymin = \"supersonic_outlet\"\n\
                ymax = \"supersonic_outlet\"\n[time]\ncfl = 0.8\nend = 1e3\n";
    let folder = tempfile::tempdir().unwrap();
    let outcome = new(text, folder.path()).unwrap().run(&mut |_| ()).unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Diverged, "{outcome}");
    let said = outcome.to_string();
    assert!(
        said.contains("the total energy is ") && said.contains(" times that of the first step"),
        "{said}"
    );
    assert!(said.contains("`karman mesh check`"), "{said}");
    let summary = summary(folder.path());
    let listed = summary["warnings"].as_array().unwrap();
    let of_outlet = |warning: &serde_json::Value| {
        warning.as_str().unwrap().starts_with("the flow leaves `supersonic_outlet` \"")
    };
    assert!(listed.iter().any(of_outlet), "{listed:?}");
}
