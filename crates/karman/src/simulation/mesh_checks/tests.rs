//! Refused meshes, and extreme meshes that are solved without a division by zero.

use crate::case::Case;
use crate::mesh::MeshWarning;
use crate::mesh::generate::Element;
use crate::mesh::testing::{built, gmsh, one_layer_channel};
use crate::simulation::warning::SetupWarning;
use crate::simulation::{OutcomeKind, RunOptions, Simulation, SimulationError};
use std::path::Path;

/// Two adjacent quadrilaterals and an isolated quadrilateral.
const ISLANDS: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n\
    $PhysicalNames\n3\n1 1 \"wall\"\n1 3 \"shore\"\n2 2 \"fluid\"\n$EndPhysicalNames\n\
    $Nodes\n10\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n7 10 0 0\n8 11 0 0\n9 11 1 0\n\
    10 10 1 0\n$EndNodes\n\
    $Elements\n13\n1 1 2 1 1 1 2\n2 1 2 1 1 2 3\n3 1 2 1 1 3 6\n4 1 2 1 1 6 5\n5 1 2 1 1 5 4\n\
    6 1 2 1 1 4 1\n7 1 2 3 1 7 8\n8 1 2 3 1 8 9\n9 1 2 3 1 9 10\n10 1 2 3 1 10 7\n\
    11 3 2 2 2 1 2 5 4\n12 3 2 2 2 2 3 6 5\n13 3 2 2 2 7 8 9 10\n$EndElements\n";

fn set_up(text: &str) -> Result<Simulation, SimulationError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("islands.msh"), ISLANDS).unwrap();
    Simulation::new(Case::parse(text, folder.path(), "case.toml").unwrap(), RunOptions::default())
}

fn refusal(text: &str) -> String {
    set_up(text).err().expect(text).to_string()
}

const MESH: &str = "[mesh]\nfile = \"islands.msh\"\n";

#[test]
fn an_isolated_cell_is_named() {
    let neither = refusal(&format!(
        "{MESH}[heat]\n[boundary]\nwall.heat_flux = 1.0\nshore = \"insulated\"\n"
    ));
    assert_eq!(
        neither,
        "the mesh has 2 connected components that share no face, and nothing fixes the temperature of 2 of them: 1 \
         cell, cell 2 (quadrilateral of region \"fluid\" at (10.5, 0.5, 0)); 2 cells, the first cell 0 \
         (quadrilateral of region \"fluid\" at (0.5, 0.5, 0)). It needs a patch with a temperature or \
         convection, or [time], or to share nodes with the rest, or to be left out of the mesh"
    );
    for place in ["cell", "node"] {
        let one = refusal(&format!(
            "{MESH}[heat]\ndiscretization = \"{place}\"\n[boundary]\nwall.temperature = 1.0\n\
             shore = \"insulated\"\n"
        ));
        assert!(one.contains("of 1 of them: 1 cell, cell 2 (quadrilateral"), "{one}");
    }
    let flow = refusal(&format!(
        "{MESH}[incompressible]\nkinematic_viscosity = 1.0\n[boundary]\nwall.pressure_outlet = 0.0\nshore = \"no_slip\"\n\
         [time]\nstep = 0.1\nend = 0.1\n"
    ));
    assert!(flow.contains("fixes the pressure of 1 of them: 1 cell, cell 2 (quad"), "{flow}");
    assert!(flow.contains("It needs an outlet"), "{flow}");
}

#[test]
fn components_that_are_each_determined_are_solved() {
    let mut simulation = set_up(&format!(
        "{MESH}[heat]\n[boundary]\nwall.temperature = 1.0\nshore.temperature = 2.0\n"
    ))
    .unwrap();
    simulation.step().unwrap();
    let t = simulation.field("temperature").unwrap();
    let of =
        |cell: u32| t[simulation.mesh().original_cell.iter().position(|&c| c == cell).unwrap()];
    assert!((of(0) - 1.0).abs() < 1e-9 && (of(2) - 2.0).abs() < 1e-9, "{t:?}");
    // Unsteady systems are not singular.
    let mut simulation = set_up(&format!(
        "{MESH}[heat]\n[boundary]\nwall = \"insulated\"\nshore.heat_flux = 1.0\n[time]\nstep = 0.5\nend = 1.0\n\
         method = \"backward_euler\"\n[initial]\ntemperature = 3.0\n"
    ))
    .unwrap();
    simulation.step().unwrap();
    simulation.step().unwrap();
    let t = simulation.field("temperature").unwrap();
    let of =
        |cell: u32| t[simulation.mesh().original_cell.iter().position(|&c| c == cell).unwrap()];
    // Unit heat flux through four sides of length 1 adds 4 per unit of time to a cell of area 1.
    assert!((of(0) - 3.0).abs() < 1e-9 && (of(2) - 7.0).abs() < 1e-9, "{t:?}");
}

#[test]
fn third_components_on_a_2d_mesh_are_refused() {
    let case = |velocity: &str, probe: &str| {
        format!(
            "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [4, 4]\n[incompressible]\nkinematic_viscosity = 1.0\n\
             [boundary]\nxmin.velocity_inlet = {velocity}\nxmax.pressure_outlet = 0.0\nymin = \"no_slip\"\nymax = \"slip\"\n\
             [time]\nstep = 0.1\nend = 0.1\n[output]\n[[output.probe]]\nname = \"p\"\nat = {probe}\n"
        )
    };
    assert_eq!(
        refusal(&case("[0.0, 0.0, 1.0]", "[0.5, 0.5]")),
        "the velocity of patch \"xmin\": the third number is 1, but the mesh is 2D; x and y of the case are \
         the coordinates in the plane of the mesh, and the third number is 0 or left out"
    );
    let probe = refusal(&case("[1.0, 0.0]", "[0.5, 0.0, 0.5]"));
    assert!(probe.starts_with("probe \"p\": the third number is 0.5"), "{probe}");
    let group =
        "[[output.patch]]\nname = \"side\"\npatches = [\"ymin\"]\nmoment_centre = [0, 0, 2]\n";
    let centre = refusal(&(case("[1.0, 0.0]", "[0.5, 0.5]") + group));
    let about = "the moment centre of patch group \"side\": the third number is 2";
    assert!(centre.starts_with(about), "{centre}");
    assert!(set_up(&case("[1.0, 0.0, 0.0]", "[0.5, 0.5, 0.0]")).is_ok());
}

#[test]
fn a_flow_is_warned_of_one_layer_between_walls_alone() {
    let (mesh, geometry) = built(one_layer_channel(Element::Quadrilateral, 2));
    let case = |side: &str| {
        let text = format!(
            "[mesh.generate.box]\nsize = [4.0, 1.0]\ncells = [6, 1]\n[incompressible]\nkinematic_viscosity = 1.0\n\
             [boundary]\nxmin.velocity_inlet = [1.0, 0.0]\nxmax.pressure_outlet = 0.0\nymin = \"{side}\"\nymax = \"{side}\"\n\
             [time]\nstep = 0.1\nend = 0.1\n"
        );
        Case::parse(&text, Path::new(""), "case.toml").unwrap()
    };
    let warnings = super::check_mesh(&case("no_slip"), &mesh, &geometry).unwrap();
    assert!(
        matches!(warnings[..], [SetupWarning::Mesh(MeshWarning::OneLayer { count: 6, .. })]),
        "{warnings:?}"
    );
    assert!(
        warnings[0].to_string().starts_with("6 cells lie alone between opposite walls, the first")
    );
    assert_eq!(super::check_mesh(&case("slip"), &mesh, &geometry).unwrap(), []);
}

#[test]
fn a_flow_on_tetrahedra_squeezed_after_meshing_is_refused() {
    let case = |scheme: &str| {
        let text = format!(
            "[mesh.generate.box]\nsize = [1.0, 1.0, 1.0]\ncells = [2, 2, 2]\n[incompressible]\nscheme = \"{scheme}\"\nkinematic_viscosity = 1.0\n\
             [boundary]\ninlet.velocity_inlet = [0.0, 0.0, 1.0]\noutlet.pressure_outlet = 0.0\nwall = \"no_slip\"\n\
             [time]\nstep = 0.1\nend = 0.1\n"
        );
        Case::parse(&text, Path::new(""), "case.toml").unwrap()
    };
    let refusal = |squeezed: f64, scheme: &str| {
        let mut raw = gmsh("pipe_medium");
        raw.points.iter_mut().for_each(|x| x[1] /= squeezed);
        let (mesh, geometry) = built(raw);
        super::check_mesh(&case(scheme), &mesh, &geometry).err().map(|error| error.to_string())
    };
    assert_eq!(refusal(1.0, "collocated"), None);
    assert_eq!(refusal(5.0, "staggered"), None);
    let message = refusal(5.0, "collocated").unwrap();
    assert!(message.starts_with("the non-orthogonality is 5"), "{message}");
    assert!(
        message.contains("° on average and ") && message.contains("between cell "),
        "{message}"
    );
}

/// Checks that every field of a case is finite after some steps; returns a refusal of `Simulation::new`.
fn runs(text: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let case = Case::parse(text, folder.path(), "case.toml").unwrap();
    let names: &[&str] = match text.contains("[heat]") {
        true => &["temperature"],
        false => &["velocity_x", "velocity_y", "pressure"],
    };
    let mut simulation =
        Simulation::new(case, RunOptions::default()).map_err(|error| error.to_string())?;
    let outcome = simulation.run(&mut |_| ()).unwrap();
    let done = matches!(outcome.kind, OutcomeKind::Finished | OutcomeKind::Converged);
    assert!(done, "{text}\n{}", outcome.message);
    for name in names {
        let field = simulation.field(name).unwrap();
        assert!(field.iter().all(|value| value.is_finite()), "{name}: {field:?}\n{text}");
    }
    Ok(())
}

#[test]
fn cells_with_one_neighbour_or_none_divide_nothing_by_zero() {
    let boxes: [(&str, &str, &[&str]); 2] = [
        ("1.0, 1.0", "1, 1; 1, 3; 3, 1; 2, 2", &["quadrilateral", "triangle"]),
        (
            "1.0, 1.0, 1.0",
            "1, 1, 1; 1, 1, 3; 3, 1, 1; 2, 1, 2",
            &["hexahedron", "tetrahedron", "prism", "pyramid"],
        ),
    ];
    for (size, all_cells, elements) in boxes {
        let solid = size.len() > 8;
        for (cells, element) in
            all_cells.split("; ").flat_map(|cells| elements.iter().map(move |e| (cells, e)))
        {
            let mesh = format!(
                "[mesh.generate.box]\nsize = [{size}]\ncells = [{cells}]\nelement = \"{element}\"\n"
            );
            let rest = |kind: &str| {
                let ends = format!("ymin = {kind}\n");
                if solid { format!("{ends}zmin = {kind}\nzmax = {kind}\n") } else { ends }
            };
            for place in ["cell", "node"] {
                let heat = format!(
                    "{mesh}[heat]\ndiscretization = \"{place}\"\n[boundary]\nxmin.temperature = 1.0\n\
                     xmax.heat_flux = 0.5\nymax.convection = {{ coefficient = 1.0, ambient = 0.0 }}\n{}",
                    rest("\"insulated\"")
                );
                assert_eq!(runs(&heat), Ok(()));
            }
            for scheme in ["collocated", "staggered"] {
                let flow = format!(
                    "{mesh}[incompressible]\nkinematic_viscosity = 0.1\nscheme = \"{scheme}\"\n[boundary]\n\
                     xmin.velocity_inlet = [1.0, 0.0]\nxmax.pressure_outlet = 0.0\nymax = \"no_slip\"\n{}[time]\n\
                     step = 0.01\nend = 0.03\n",
                    rest("\"no_slip\"")
                );
                assert_eq!(runs(&flow), Ok(()));
                let closed = flow
                    .replace("xmin.velocity_inlet = [1.0, 0.0]", "xmin = \"no_slip\"")
                    .replace("xmax.pressure_outlet = 0.0", "xmax = \"no_slip\"")
                    .replace("ymax = \"no_slip\"", "ymax.moving_wall = [1.0, 0.0]");
                match runs(&closed) {
                    Ok(()) => (),
                    Err(text) => assert!(
                        text.starts_with(
                            "the mesh is a single cell, and nothing fixes its pressure: 1 cell"
                        ),
                        "{text}"
                    ),
                }
            }
        }
    }
}
