//! Moments of forces on patches against exact values.

use super::surfaces::meshes;
use super::*;

#[test]
fn moments_of_a_sheared_flow_are_exact() {
    // u = (2·10⁻⁶ y, 0), ν = 5·10⁵, p = 1.5 − 3 y, ρ = 5 and p₀ = 10: on y = 0 the traction is 5 (1, 0.5, 0).
    // Fluxes as unknowns are exact for it on a rectangular lattice alone.
    let lattice =
        "[mesh.generate.box]\nsize = [1, 1]\ncells = [4, 5]\nelement = \"quadrilateral\"\n";
    for (scheme, meshes) in
        [("collocated", meshes()), ("staggered", vec![(lattice.to_owned(), true)])]
    {
        for (mesh, is_2d) in meshes {
            let zero = if is_2d { "" } else { ", 0.0" };
            let velocity = format!("[\"2e-6*y\", 0.0{zero}]");
            let mut patches = vec!["xmin", "xmax", "ymin", "ymax"];
            patches.extend(if is_2d { vec![] } else { vec!["zmin", "zmax"] });
            let condition = |p: &&str| match *p {
                "ymin" => "ymin = \"no_slip\"\n".to_owned(),
                p => format!("{p}.velocity_inlet = {velocity}\n"),
            };
            let boundary: String = patches.iter().map(condition).collect();
            let centre = if is_2d { [0.2, 0.3, 0.0] } else { [0.2, 0.3, -0.6] };
            let text = format!(
                "{mesh}[incompressible]\nscheme = \"{scheme}\"\nkinematic_viscosity = 5e5\nsource = [0.0, -3.0{zero}]\n\
                 [initial]\nvelocity = {velocity}\npressure = \"1.5 - 3*y\"\n[boundary]\n{boundary}\
                 [time]\nstep = 0.05\nend = 0.1\n[incompressible.pressure]\nrelative_tolerance = 1e-13\n\
                 [incompressible.momentum]\nrelative_tolerance = 1e-13\n[[output.patch]]\nname = \"wall\"\n\
                 patches = [\"ymin\"]\nmoment_centre = {centre:?}\n\
                 reference = {{ velocity = 2.0, area = 2.0, length = 0.5, density = 5.0, pressure = 10.0 }}\n"
            );
            let folder = tempfile::tempdir().unwrap();
            let (outcome, summary) = run(&text, folder.path());
            assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome} {text}");
            let found = |name: &str| number(&summary, &format!("/patch/wall/{name}"));
            let about_z = 5.0 * (0.5 * (0.5 - 0.2) + 0.3);
            let mut exact = vec![("moment_z", about_z), ("moment_coefficient", about_z / 10.0)];
            if !is_2d {
                exact.push(("moment_x", -5.0 * 0.5 * (0.5 + 0.6)));
                exact.push(("moment_y", 5.0 * (0.5 + 0.6)));
            }
            for (name, want) in exact {
                let found = found(name);
                assert!((found - want).abs() < 1e-6, "{name}: {found}, not {want}: {text}");
            }
        }
    }
}

#[test]
fn the_torque_between_rotating_cylinders_converges() {
    // u_θ = 4r/3 − 1/(3r): the torque on the inner cylinder, at rest, is 4πν/3.
    let lattice = |n: usize| {
        format!(
            "[mesh.generate.annulus]\ninner = 0.5\nouter = 1.0\ncells = [{n}, {}]\nelement = \"quadrilateral\"\n",
            6 * n
        )
    };
    let rings = ["coarse", "medium", "fine"].map(|size| gmsh(&format!("ring_{size}")));
    let exact = 4.0 * std::f64::consts::PI * 0.5 / 3.0;
    for meshes in [[3, 6, 12].map(lattice), rings] {
        for scheme in ["collocated", "staggered"] {
            let errors = meshes.each_ref().map(|mesh| {
                let speed = "(4/3 - 1/(3*(x^2 + y^2)))";
                let text = format!(
                    "{mesh}[incompressible]\nscheme = \"{scheme}\"\nkinematic_viscosity = 0.5\n[initial]\n\
                     velocity = [\"-y*{speed}\", \"x*{speed}\"]\n[boundary]\ninner = \"no_slip\"\n\
                     outer.moving_wall = [\"-y\", \"x\"]\n[time]\nstep = 0.02\nend = 0.8\n\
                     [[output.patch]]\nname = \"inner\"\npatches = [\"inner\"]\nmoment_centre = [0, 0]\n"
                );
                let folder = tempfile::tempdir().unwrap();
                let (outcome, summary) = run(&text, folder.path());
                assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome} {text}");
                let torque = number(&summary, "/patch/inner/moment_z");
                let error = (torque - exact).abs();
                let cells = number(&summary, "/mesh/cells");
                (cells.powf(-0.5), error / exact)
            });
            let [coarse, _, fine] = errors;
            let order = (coarse.1 / fine.1).ln() / (coarse.0 / fine.0).ln();
            eprintln!("{scheme}: {errors:.5?}, order {order:.2}");
            assert!(order >= 0.9 && fine.1 < 0.02, "{scheme}: {errors:?}, order {order}");
        }
    }
}
