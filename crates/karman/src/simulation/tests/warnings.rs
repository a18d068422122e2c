//! Warnings of a run, and the message of a solution that diverged.

use super::*;

fn warnings(summary: &serde_json::Value) -> Vec<String> {
    let list = summary["warnings"].as_array().unwrap();
    list.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect()
}

fn cavity(keys: &str, step: &str, end: f64) -> String {
    format!(
        "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [8, 8]\nelement = \"triangle\"\n[incompressible]\n\
         {keys}\n[boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\nymin = \"no_slip\"\n\
         ymax.moving_wall = [1.0, 0.0]\n[time]\n{step}\nend = {end}\n"
    )
}

#[test]
fn large_courant_and_peclet_numbers_are_warned_of_before_the_flow_diverges() {
    let folder = tempfile::tempdir().unwrap();
    let keys = "kinematic_viscosity = 1e-3\nconvection = \"central\"";
    let (outcome, summary) = run(&cavity(keys, "step = 2.0", 2000.0), folder.path());
    assert_eq!(outcome.kind, OutcomeKind::Diverged);
    let said = outcome.to_string();
    assert!(said.starts_with("diverged: the speed has grown to "), "{said}");
    assert!(said.contains(", a triangle of mean ratio 0.866, "), "{said}");
    // Numbers of three digits with an exponent.
    let (_, rest) = said.split_once(", t = ").unwrap();
    let (time, rest) = rest.split_once("; ").unwrap();
    assert!(time.len() == "2.00e1".len() && time.contains('e'), "{said}");
    assert!(
        rest.contains("the Courant number of the step was ") && rest.contains("`cfl = 0.4`"),
        "{said}"
    );
    let listed = warnings(&summary);
    let [courant, peclet, growth] = &listed[..] else { panic!("{listed:?}") };
    assert!(
        growth.starts_with("the speed has grown to ")
            && growth.ends_with("refine it, or set `convection = \"upwind\"`"),
        "{growth}"
    );
    assert!(
        courant.starts_with(
            "the Courant number exceeds the stability limit of bdf2 with central convection in "
        ) && courant.contains(", the limit 0.18 where convection dominates viscosity"),
        "{courant}"
    );
    assert!(
        peclet.starts_with("the cell Péclet number |u|h/ν is above 2 in ")
            && peclet.ends_with("`convection = \"linear_upwind\"` does not"),
        "{peclet}"
    );
}

#[test]
fn limits_follow_the_scheme_and_a_flow_within_them_is_not_warned_of() {
    for (keys, step, end, expected) in [
        ("kinematic_viscosity = 1e-3", "step = 1.0", 4.0, 1),
        ("kinematic_viscosity = 1e-3", "cfl = 0.4", 1.0, 0),
        ("kinematic_viscosity = 0.5\nconvection = \"central\"", "cfl = 0.4", 1.0, 0),
        ("kinematic_viscosity = 1e-3", "method = \"rk3\"\ncfl = 0.9", 1.0, 0),
        ("kinematic_viscosity = 1e-3\nconvection = \"central\"", "cfl = 0.1", 1.0, 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (outcome, summary) = run(&cavity(keys, step, end), folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
        let listed = warnings(&summary);
        assert_eq!(listed.len(), expected, "{keys} {step}: {listed:?} {summary}");
    }
}

#[test]
fn backflow_through_an_outlet_is_warned_of_once() {
    // A vortex leaves the channel.
    let vortex =
        |sign: &str, way: &str| format!("if((x-1.85)^2 + (y-0.5)^2 < 0.09, {sign}20*({way}), 0)");
    let (u, v) = (vortex("-", "y-0.5"), vortex("", "x-1.85"));
    let channel = |outlet: &str, velocity: [&str; 2]| {
        format!(
            "[mesh.generate.box]\nsize = [2.0, 1.0]\ncells = [24, 12]\n[incompressible]\nkinematic_viscosity = 0.05\n\
             [initial]\nvelocity = [\"1 + {}\", \"{}\"]\n[boundary]\nxmin.velocity_inlet = [1.0, 0.0]\n{outlet}\n\
             ymin = \"slip\"\nymax = \"slip\"\n[time]\ncfl = 0.4\nend = 0.3\n",
            velocity[0], velocity[1]
        )
    };
    for (outlet, velocity, expected) in [
        ("xmax.pressure_outlet = 0.0", [u.as_str(), v.as_str()], 1),
        ("xmax.opening = 0.0", [u.as_str(), v.as_str()], 0),
        ("xmax.pressure_outlet = 0.0", ["0", "0"], 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (outcome, summary) = run(&channel(outlet, velocity), folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
        let listed = warnings(&summary);
        assert_eq!(listed.len(), expected, "{outlet}: {listed:?}");
        if let [warning] = &listed[..] {
            assert!(warning.starts_with("backflow through the outlet \"xmax\": "), "{warning}");
        }
    }
}

/// α = 0.5 is fifty times the viscosity: the step follows from the faster diffusion.
#[test]
fn explicit_stages_with_a_diffusive_temperature_hold_at_a_courant_number() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [16, 16]\n[incompressible]\nkinematic_viscosity = 0.01\n\
                [incompressible.thermal]\ndiffusivity = 0.5\nexpansion = 1.0\ngravity = [0.0, -1.0]\n\
                [initial]\nvelocity = [\"sin(pi*x)*cos(pi*y)\", \"-cos(pi*x)*sin(pi*y)\"]\ntemperature = \"x\"\n\
                [boundary]\nxmin = { slip = true, temperature = 0.0 }\nxmax = { slip = true, temperature = 1.0 }\n\
                ymin = \"slip\"\nymax = \"slip\"\n[time]\nmethod = \"rk3\"\ncfl = 0.9\nend = 0.2\n";
    let (outcome, summary) = run(text, folder.path());
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
    let temperature = &summary["fields"]["temperature"];
    let [least, largest] = ["min", "max"].map(|key| temperature[key].as_f64().unwrap());
    assert!(least > -1e-6 && largest < 1.0 + 1e-6, "{temperature}");
}

fn slanted_step(keys: &str, time: &str, temperature: [&str; 2]) -> String {
    let [left, below] = temperature;
    format!(
        "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [16, 16]\n[incompressible]\nkinematic_viscosity = 1.0\n{keys}\n\
         [incompressible.thermal]\ndiffusivity = 1e-6\n[initial]\nvelocity = [1.0, 0.7]\ntemperature = 293.0\n[boundary]\n\
         xmin = {{ velocity_inlet = [1.0, 0.7], {left} }}\nymin = {{ velocity_inlet = [1.0, 0.7], {below} }}\n\
         xmax.pressure_outlet = 0.0\nymax.pressure_outlet = 0.0\n{time}"
    )
}

#[test]
fn temperatures_beyond_their_initial_and_boundary_values_are_warned_of() {
    let steady = ["temperature = 293.0", "temperature = 313.0"];
    let unsteady = "[time]\ncfl = 0.4\nend = 1.0\n";
    for (keys, time, temperature, expected) in [
        ("", "", steady, Some("`convection = \"limited_linear\"`")),
        ("", unsteady, steady, Some("linear_upwind convection overshoots")),
        ("convection = \"limited_linear\"", unsteady, steady, None),
        ("convection = \"upwind\"", "", steady, None),
        // Heated by a flux, or by values that change: no bounds are known.
        ("", "", ["temperature = 293.0", "heat_flux = 1.0"], None),
        ("", unsteady, ["temperature = \"293 + 20*sin(9*t)\"", "temperature = 293.0"], None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (_, summary) = run(&slanted_step(keys, time, temperature), folder.path());
        let said: Vec<String> = warnings(&summary)
            .into_iter()
            .filter(|warning| warning.starts_with("the temperature, between "))
            .collect();
        match expected {
            None => assert_eq!(said, [""; 0], "{keys} {time}"),
            Some(part) => {
                assert_eq!(said.len(), 1, "{keys} {time}: {summary}");
                assert!(
                    said[0].contains(", 293 to 313, by ") && said[0].contains(part),
                    "{said:?}"
                );
            }
        }
    }
}

#[test]
fn an_iteration_to_a_steady_flow_that_diverges_says_how_to_begin() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [8, 8]\nelement = \"triangle\"\n[incompressible]\n\
                kinematic_viscosity = 1e-3\nsource = [\"1e300*y\", 0.0]\n[boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\n\
                ymin = \"no_slip\"\nymax = \"no_slip\"\n";
    let (outcome, _) = run(text, folder.path());
    assert_eq!(outcome.kind, OutcomeKind::Diverged);
    let said = outcome.to_string();
    assert!(
        said.contains(" after iteration ") && said.contains("a smaller `pseudo_cfl`"),
        "{said}"
    );
    assert!(!said.contains("t = "), "{said}");
}

#[test]
fn the_peclet_number_of_a_temperature_names_its_diffusivity() {
    let folder = tempfile::tempdir().unwrap();
    let keys = "kinematic_viscosity = 0.5\nconvection = \"central\"\nthermal = { diffusivity = 1e-4 }\n[initial]\n\
                temperature = 0.0";
    let text = cavity(keys, "cfl = 0.1", 0.1).replace(
        "ymax.moving_wall = [1.0, 0.0]",
        "ymax = { moving_wall = [1.0, 0.0], temperature = 1.0 }",
    );
    let (_, summary) = run(&text, folder.path());
    let listed = warnings(&summary);
    let peclet: Vec<_> = listed.iter().filter(|said| said.contains("Péclet")).collect();
    assert_eq!(peclet.len(), 1, "{listed:?}");
    assert!(
        peclet[0].starts_with("the cell Péclet number |u|h/α of the temperature is above 2 in ")
            && peclet[0].contains("unless the mesh resolves the temperature"),
        "{peclet:?}"
    );
}

#[test]
fn an_inlet_that_points_outwards_and_points_outside_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let channel = |inlet: &str, outlet: &str| {
        format!(
            "[mesh.generate.box]\nsize = [2.0, 1.0]\ncells = [4, 4]\n[incompressible]\nkinematic_viscosity = 0.1\n\
             [boundary]\nxmin.velocity_inlet = [{inlet}, 0.0]\nxmax{outlet}\nymin = \"slip\"\nymax = \"slip\"\n\
             [time]\nstep = 0.1\nend = 0.1\n[[output.line]]\nname = \"across\"\nfrom = [1.0, -0.5]\nto = [1.0, 1.5]\n\
             points = 5\n"
        )
    };
    let outside = "2 of 5 points of line \"across\" lie outside the mesh: they have no values";
    let outward = "the prescribed velocity of patch \"xmin\" points out of the domain at each face: the fluid \
                   leaves there; an inlet has a velocity towards the domain";
    for (inlet, outlet, expected) in [
        ("\"-4*y*(1 - y)\"", ".pressure_outlet = 0.0", &[outward, outside][..]),
        ("1.0", ".pressure_outlet = 0.0", &[outside]),
        // Fluid leaves there by intention.
        ("-1.0", ".velocity_inlet = [-1.0, 0.0]", &[outside]),
    ] {
        let simulation = new(&channel(inlet, outlet), folder.path()).unwrap();
        assert_eq!(simulation.warnings(), expected, "{inlet}");
    }
}

/// A stream of Mach number `mach` along x through conditions at xmin and xmax.
fn stream(mach: f64, inlet: &str, outlet: &str) -> String {
    format!(
        "[mesh.generate.box]\nsize = [2.0, 1.0]\ncells = [8, 4]\nelement = \"triangle\"\n[compressible]\n[initial]\n\
         density = 1.4\nvelocity = [{mach:?}, 0.0]\npressure = 1.0\n[boundary]\nxmin.{inlet}\nxmax.{outlet}\n\
         ymin = \"slip_wall\"\nymax = \"slip_wall\"\n[time]\nstep = 1e-3\nend = 1e-2\n"
    )
}

#[test]
fn patches_on_the_other_side_of_the_speed_of_sound_are_warned_of() {
    let state = |mach: f64| {
        format!("inflow = {{ density = 1.4, velocity = [{mach:?}, 0.0], pressure = 1.0 }}")
    };
    let (supersonic, pressure) = ("supersonic_outlet = true", "pressure_outlet = 1.0");
    let leaves = "the flow leaves `supersonic_outlet` \"xmax\" below the speed of sound at 100.0 % of its area, its Mach \
                  number normal to the patch down to 0.500: ";
    let no_effect = "the flow leaves `pressure_outlet` \"xmax\" faster than sound at 100.0 % of its area, its Mach number \
                     normal to the patch up to 2.000: there the pressure has no effect; ";
    let shock = "the state prescribed at patch \"xmin\" enters faster than sound, the gas inside is slower at 100.0 % of \
                 the area, its Mach number into the domain down to ";
    let fast = "the state prescribed at patch \"xmin\" enters below the speed of sound, the gas inside is faster at \
                100.0 % of the area, its Mach number into the domain up to ";
    for (mach, inlet, outlet, expected) in [
        (0.5, state(0.5), pressure, None),
        (2.0, state(2.0), supersonic, None),
        (0.5, state(0.5), supersonic, Some(leaves)),
        (2.0, state(2.0), pressure, Some(no_effect)),
        (0.5, state(2.0), pressure, Some(shock)),
        (2.0, state(0.5), supersonic, Some(fast)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (outcome, summary) = run(&stream(mach, &inlet, outlet), folder.path());
        assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome}");
        let listed = warnings(&summary);
        assert_eq!(listed.len(), usize::from(expected.is_some()), "{mach} {inlet}: {listed:?}");
        let said = listed.first().map_or("", |said| said.as_str());
        assert!(said.starts_with(expected.unwrap_or_default()), "{said}");
    }
}

/// Part of an outlet is slower than sound, as behind a wake; a boundary layer is no fault of a viscous flow.
#[test]
fn the_share_of_a_patch_and_its_least_mach_number_are_named() {
    let case = |share: f64, viscous: &str| {
        let slow = format!("if(y < {share}, 0.5, 2)");
        let state =
            format!("inflow = {{ density = 1.4, velocity = [\"{slow}\", 0.0], pressure = 1.0 }}");
        let text = stream(0.0, &state, "supersonic_outlet = true");
        let text = text.replace("velocity = [0.0, 0.0]", &format!("velocity = [\"{slow}\", 0.0]"));
        let text = text.replace("cells = [8, 4]", "cells = [8, 16]").replace("1e-2", "1e-5");
        let text = text.replace("[compressible]", "[compressible]\nreconstruction = \"constant\"");
        text.replace("[initial]", &format!("{viscous}[initial]")).replace("1e-3", "1e-6")
    };
    let layer = "[compressible.viscous]\nviscosity = 1e-5\n";
    for (share, viscous, expected) in [
        (0.25, "", Some("25.0 %")),
        (0.25, layer, Some("25.0 %")),
        (1.0 / 16.0, "", Some("6.2 %")),
        (1.0 / 16.0, layer, None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (_, summary) = run(&case(share, viscous), folder.path());
        let listed = warnings(&summary);
        let of_outlet = |said: &&String| said.contains("\"xmax\"");
        let said = listed.iter().find(of_outlet);
        assert_eq!(said.is_some(), expected.is_some(), "{share} {viscous}: {listed:?}");
        if let (Some(said), Some(expected)) = (said, expected) {
            assert!(said.contains(expected), "{said}");
        }
    }
}
