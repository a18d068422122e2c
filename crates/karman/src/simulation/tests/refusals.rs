//! Refusals of a run before its first step, which are those of `karman check`.

use super::*;

fn refused(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let said = match new(text, folder.path()) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
    said
}

fn square(boundary: &str, rest: &str) -> String {
    format!(
        "[mesh.generate.box]\nsize = [4.0, 1.0]\ncells = [8, 4]\n{rest}\n[boundary]\n{boundary}\n"
    )
}

#[test]
fn flow_that_cannot_leave_or_enter_is_refused() {
    let rest =
        "[incompressible]\nkinematic_viscosity = 0.01\nSCHEME\n[time]\nstep = 0.05\nend = 1.0";
    for scheme in ["", "scheme = \"staggered\"", "scheme = \"exact_fractional_step\""] {
        let walls = "ymin = \"no_slip\"\nymax = \"no_slip\"\n";
        let said = |boundary: &str| {
            refused(&square(&format!("{walls}{boundary}"), &rest.replace("SCHEME", scheme)))
        };
        assert_eq!(
            said("xmin.velocity_inlet = [1.0, 0.0]\nxmax = \"no_slip\""),
            "Inflow exceeds outflow by 1.0 m²/s and there is no outlet."
        );
        assert_eq!(
            said("xmin.velocity_inlet = [1.0, 0.0]\nxmax.velocity_inlet = [-1.0, 0.0]"),
            "Inflow exceeds outflow by 2.0 m²/s and there is no outlet."
        );
        assert_eq!(
            said("xmin.velocity_inlet = [-0.25, 0.0]\nxmax = \"no_slip\""),
            "Outflow exceeds inflow by 0.25 m²/s and there is no outlet."
        );
    }
}

#[test]
fn steady_heat_without_a_level_must_balance() {
    let walls = "xmin = \"insulated\"\nxmax = \"insulated\"\n";
    for place in ["cell", "node"] {
        let rest = format!("[heat]\ndiscretization = \"{place}\"");
        let said = |boundary: &str| refused(&square(&format!("{walls}{boundary}"), &rest));
        assert_eq!(
            said("ymin = \"insulated\"\nymax.heat_flux = 0.25"),
            "No steady solution exists: 1 W enters, nothing leaves and no temperature is fixed. Add a \
             temperature or convection, or [time]."
        );
        assert_eq!(
            said("ymin.heat_flux = -0.5\nymax.heat_flux = 0.25"),
            "No steady solution exists: 1 W enters, 2 W leaves and no temperature is fixed. Add a \
             temperature or convection, or [time]."
        );
        let heated = format!("{rest}\nsource = -3.0");
        let said = refused(&square(
            &format!("{walls}ymin = \"insulated\"\nymax = \"insulated\""),
            &heated,
        ));
        assert!(
            said.starts_with("No steady solution exists: nothing enters, 12 W leaves and no"),
            "{said}"
        );
        // Balanced fluxes have a steady solution; an unsteady case always has a solution.
        let folder = tempfile::tempdir().unwrap();
        let balanced =
            square(&format!("{walls}ymin.heat_flux = -0.25\nymax.heat_flux = 0.25"), &rest);
        assert_eq!(run(&balanced, folder.path()).0.kind, OutcomeKind::Converged);
        let unsteady =
            format!("{rest}\n[initial]\ntemperature = 1.0\n[time]\nstep = 0.1\nend = 0.2");
        let text =
            square(&format!("{walls}ymin = \"insulated\"\nymax.heat_flux = 0.25"), &unsteady);
        assert_eq!(run(&text, folder.path()).0.kind, OutcomeKind::Finished);
    }
}

#[test]
fn an_output_directory_that_cannot_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let text = square(
        "xmin.temperature = 1.0\nxmax = \"insulated\"\nymin = \"insulated\"\nymax = \"insulated\"",
        "[heat]\n[output]\ndirectory = \"file/out\"",
    );
    let said = new(&text, folder.path()).err().unwrap().to_string();
    let path = folder.path().join("file/out");
    assert!(said.starts_with(&format!("cannot write {}: ", path.display())), "{said}");
}

#[test]
fn a_mean_velocity_that_no_force_can_keep_is_refused() {
    let case = |mean: &str, boundary: &str| {
        let rest = format!(
            "[incompressible]\nkinematic_viscosity = 0.1\nmean_velocity = {mean}\n[time]\nstep = 0.05\nend = 1.0"
        );
        square(boundary, &rest)
    };
    let periodic = "xmin.periodic = \"xmax\"\nymin = \"no_slip\"\nymax = \"no_slip\"";
    let folder = tempfile::tempdir().unwrap();
    assert!(new(&case("[1.0, 0.0]", periodic), folder.path()).is_ok());
    assert_eq!(
        refused(&case("[1.0, -0.25]", periodic)),
        "`mean_velocity` (1, -0.25, 0) has a component across the periodic patches, which lie along (1, 0, 0): no \
         uniform force keeps it; set that component to 0"
    );
    let third = refused(&case("[1.0, 0.0, 2.0]", periodic));
    assert!(third.starts_with("the mean velocity: the third number is 2"), "{third}");
}

#[test]
fn a_plane_beside_the_mesh_is_refused() {
    let case = |at: &str| {
        format!(
            "[mesh.generate.box]\nsize = [1.0, 1.0, 2.0]\ncells = [2, 2, 2]\n[heat]\n[boundary]\nxmin.temperature = 1.0\n\
             xmax = \"insulated\"\nymin = \"insulated\"\nymax = \"insulated\"\nzmin = \"insulated\"\n\
             zmax = \"insulated\"\n[output]\npicture = {{ field = \"temperature\", slice = {{ axis = \"z\", at = {at} }} }}\n"
        )
    };
    for at in ["-0.1", "2.5"] {
        assert_eq!(
            refused(&case(at)),
            format!(
                "[output] picture: the plane z = {at} does not intersect the mesh, which spans z from 0 to 2"
            )
        );
    }
    for at in ["0.0", "1.0", "2.0"] {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(run(&case(at), folder.path()).0.kind, OutcomeKind::Converged);
        assert!(folder.path().join("case/temperature.png").is_file());
    }
}

#[test]
fn third_components_are_refused_in_2d_with_their_line() {
    let case = |inlet: &str, rest: &str| {
        square(
            &format!(
                "xmin.velocity_inlet = {inlet}\nxmax.pressure_outlet = 0.0\nymin = \"slip\"\nymax = \"slip\""
            ),
            &format!(
                "[incompressible]\nkinematic_viscosity = 0.01\n[time]\nstep = 0.05\nend = 0.05\n{rest}"
            ),
        )
    };
    let inlet = "[1.0, 0.0]";
    for (text, line, said) in [
        (
            case("[\"4*z*(1 - z)\", 0.0]", ""),
            11,
            "the formula of `velocity_inlet` has z, but the mesh is 2D",
        ),
        (
            case(
                inlet,
                "[output]\npicture = { field = \"pressure\", slice = { axis = \"z\", at = 0.0 } }",
            ),
            10,
            "`slice` is the plane of a picture in 3D, but the mesh is 2D",
        ),
        (
            case(
                inlet,
                "[[output.patch]]\nname = \"floor\"\npatches = [\"ymin\"]\nlift_direction = [0.0, 0.0, 1.0]",
            ),
            12,
            "`lift_direction` has a z component, but the mesh is 2D",
        ),
        (
            case(inlet, "[expected]\n\"fields.velocity_z.max\" = { value = 0.0, absolute = 1.0 }"),
            10,
            "the result has no `fields.velocity_z.max`: the mesh is 2D",
        ),
    ] {
        let message = refused(&text);
        assert!(message.starts_with(&format!("case.toml:{line}:")), "{message}");
        assert!(message.contains(said), "{message}");
    }
    // Names are free.
    let named = "[[output.probe]]\nname = \"upper_z\"\nat = [0.5, 0.5]\n[expected]\n\"probe.upper_z.pressure\" = { value = 0.0, absolute = 1.0 }";
    let folder = tempfile::tempdir().unwrap();
    assert!(new(&case(inlet, named), folder.path()).is_ok());
}
