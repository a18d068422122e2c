//! Each kind of boundary condition on all patches of a mesh at once. A kind without a prescribed value leaves
//! lists empty, and a kernel that reads element 0 of an empty list reads foreign memory; test builds check
//! each index.

use super::*;

/// A mesh of a single kind of element, and its patches.
fn mesh(element: &str) -> (String, Vec<&'static str>) {
    let is_2d = ["triangle", "quadrilateral"].contains(&element);
    let (size, cells) = if is_2d { ("1.0, 1.0", "4, 4") } else { ("1.0, 1.0, 1.0", "3, 3, 3") };
    let mut patches = vec!["xmin", "xmax", "ymin", "ymax"];
    if !is_2d {
        patches.extend(["zmin", "zmax"]);
    }
    let text = format!(
        "[mesh.generate.box]\nsize = [{size}]\ncells = [{cells}]\nelement = \"{element}\"\njitter = 0.1\n"
    );
    (text, patches)
}

/// Probes, a line and integrals over all patches, which index prescribed values too.
fn output(patches: &[&str], fields: &str) -> String {
    format!(
        "[output]\nfields = [{fields}]\n[[output.probe]]\nname = \"wall\"\nat = [0.5, 0.0]\n\
         [[output.probe]]\nname = \"centre\"\nat = [0.5, 0.5]\n[[output.line]]\nname = \"across\"\n\
         from = [0.0, 0.5]\nto = [1.0, 0.5]\npoints = 5\n[[output.patch]]\nname = \"all\"\npatches = {patches:?}\n"
    )
}

#[test]
fn heat_runs_with_each_kind_of_boundary_alone() {
    for element in ["triangle", "quadrilateral", "tetrahedron", "prism", "hexahedron"] {
        let (mesh, patches) = mesh(element);
        for discretization in ["cell", "node"] {
            for kind in [
                " = \"insulated\"",
                " = \"symmetry\"",
                ".temperature = 300.0",
                ".heat_flux = 0.0",
                ".heat_flux = \"t\"",
                ".convection = { coefficient = 2.0, ambient = 300.0 }",
                ".convection = { coefficient = 0.0, ambient = 300.0 }",
            ] {
                for corrected in [true, false] {
                    if discretization == "node" && !corrected {
                        continue;
                    }
                    let boundary: String =
                        patches.iter().map(|patch| format!("{patch}{kind}\n")).collect();
                    let correction = match discretization {
                        "cell" => format!("nonorthogonal_correction = {corrected}\n"),
                        _ => String::new(),
                    };
                    let text = format!(
                        "{mesh}[heat]\ndiscretization = \"{discretization}\"\n{correction}\
                         [initial]\ntemperature = \"300 + 50*x\"\n[boundary]\n{boundary}\
                         [time]\nstep = 0.01\nend = 0.03\n{}",
                        output(&patches, "\"temperature\"")
                    );
                    let folder = tempfile::tempdir().unwrap();
                    let (outcome, summary) = run(&text, folder.path());
                    assert_eq!(outcome.kind, OutcomeKind::Finished, "{outcome} {text}");
                    let mean = number(&summary, "/fields/temperature/mean");
                    let closed = ["insulated", "symmetry", "flux = 0.0", "= 0.0,"];
                    if closed.iter().any(|word| kind.contains(word)) {
                        // The mean of 300 + 50 x over the box, up to the centroids of jittered cells.
                        assert!((mean - 325.0).abs() < 0.5, "{element} {kind}: {mean}");
                    }
                }
            }
        }
    }
}

#[test]
fn insulated_heat_conserves_its_mean_unsteady_and_steady() {
    let spot = "if((x-0.5)^2 + (y-0.5)^2 < 0.04, 400, 300)";
    for element in ["triangle", "quadrilateral"] {
        let (mesh, patches) = mesh(element);
        let mesh = mesh.replace("cells = [4, 4]", "cells = [16, 16]\ngrading = [3.0, 1.0]");
        let boundary: String = patches.iter().map(|p| format!("{p} = \"insulated\"\n")).collect();
        let case = |rest: &str, temperature: &str| {
            format!(
                "{mesh}[heat]\n[initial]\ntemperature = \"{temperature}\"\n[boundary]\n{boundary}\
                 [linear_solver]\nrelative_tolerance = 1e-12\n{rest}"
            )
        };
        let folder = tempfile::tempdir().unwrap();
        let start = {
            let text = case("[time]\nstep = 0.001\nend = 0.1\n", spot);
            let simulation = new(&text, folder.path()).unwrap();
            let volumes = simulation.equation.volumes(simulation.mesh());
            let field = simulation.field("temperature").unwrap();
            crate::monitor::field_summary(&volumes, &field).mean
        };
        assert!(start > 305.0 && start < 320.0, "{start}");
        for rest in ["[time]\nstep = 0.001\nend = 0.1\n", ""] {
            let (outcome, summary) = run(&case(rest, spot), folder.path());
            assert!(outcome.kind.is_success(), "{outcome}");
            let mean = number(&summary, "/fields/temperature/mean");
            assert!((mean - start).abs() < 1e-7 * start, "{element} {rest:?}: {mean}, {start}");
            if rest.is_empty() {
                let range =
                    [&"min", &"max"].map(|k| number(&summary, &format!("/fields/temperature/{k}")));
                assert!(range[1] - range[0] < 1e-6 * start, "{range:?}");
            }
        }
    }
}

#[test]
fn flow_runs_with_each_kind_of_boundary_alone() {
    for element in ["triangle", "quadrilateral", "tetrahedron", "hexahedron"] {
        let (mesh, patches) = mesh(element);
        for (scheme, method) in [
            ("collocated", "bdf2"),
            ("collocated", "ab2_cn"),
            ("collocated", "rk3"),
            ("staggered", "bdf2"),
            ("exact_fractional_step", "bdf2"),
        ] {
            for kind in [
                "no_slip = true",
                "slip = true",
                "symmetry = true",
                "pressure_outlet = 0.0",
                "opening = 0.0",
                "opening = \"t\"",
                "moving_wall = [0.0, 0.0, 0.0]",
                "flow_rate_inlet = 0.0",
                "total_pressure_inlet = \"0.1*t\"",
                "pressure_loss_outlet = { pressure = 0.0, coefficient = \"2 + t\" }",
                "convective_outlet = true",
                "periodic",
            ] {
                let periodic = |patch: &str| {
                    let other = if patch.ends_with("min") { "max" } else { "min" };
                    format!("{patch}.periodic = \"{}{other}\"\n", &patch[..1])
                };
                let boundary = |patch: &&str| match kind {
                    "periodic" => periodic(patch),
                    _ => format!("{patch} = {{ {kind}, insulated = true }}\n"),
                };
                let plain = |patch: &&str| match kind {
                    "periodic" => periodic(patch),
                    "symmetry = true" => format!("{patch} = \"symmetry\"\n"),
                    _ => boundary(patch),
                };
                let boundary: String = patches.iter().map(plain).collect();
                let (mesh, jitter) = match kind {
                    "periodic" => (mesh.replace("jitter = 0.1", "jitter = 0.0"), true),
                    _ => (mesh.clone(), false),
                };
                let results = match jitter {
                    // There is no boundary to integrate over.
                    true => "[[output.probe]]\nname = \"wall\"\nat = [0.5, 0.0]\n".to_owned(),
                    false => output(&patches, "\"velocity\", \"pressure\", \"temperature\""),
                };
                let text = format!(
                    "{mesh}[incompressible]\nkinematic_viscosity = 0.1\nscheme = \"{scheme}\"\n\
                     [incompressible.thermal]\ndiffusivity = 0.1\nexpansion = 1.0\ngravity = [0.0, -1.0]\n\
                     [initial]\ntemperature = \"x\"\n[boundary]\n{boundary}\
                     [time]\nmethod = \"{method}\"\nstep = 0.01\nend = 0.02\n{results}"
                );
                let folder = tempfile::tempdir().unwrap();
                let case = Case::parse(&text, folder.path(), "case.toml").unwrap();
                let what = format!("{element} {scheme} {method} {kind}");
                let mut simulation = match Simulation::new(case, RunOptions::default()) {
                    Ok(simulation) => simulation,
                    Err(refused) => {
                        // Refusals: explicit steps with coupled fluxes, no boundary for a potential.
                        let known = ["scheme", "method", "periodic", "wrong sides"];
                        let said = refused.to_string();
                        assert!(known.iter().any(|word| said.contains(word)), "{what}: {said}");
                        continue;
                    }
                };
                let outcome = simulation.run(&mut |_| ());
                let outcome = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(outcome.kind, OutcomeKind::Finished, "{what}: {outcome}");
            }
        }
    }
}

#[test]
fn an_insulated_pipe_of_tetrahedra_conserves_its_mean() {
    let case = |rest: &str| {
        gmsh("pipe_coarse")
            + "[heat]\n[initial]\ntemperature = \"300 + 50*z\"\n[boundary]\ninlet = \"insulated\"\n\
               outlet = \"insulated\"\nwall = \"insulated\"\n[linear_solver]\n\
               relative_tolerance = 1e-12\n"
            + rest
    };
    let folder = tempfile::tempdir().unwrap();
    let means = ["[time]\nstep = 0.01\nend = 0.1\n", ""].map(|rest| {
        let (outcome, summary) = run(&case(rest), folder.path());
        assert!(outcome.kind.is_success(), "{outcome}");
        number(&summary, "/fields/temperature/mean")
    });
    // 300 + 50/2, up to the facets of the wall.
    assert!(means.iter().all(|mean| (mean - 325.0).abs() < 1e-4), "{means:?}");
}
