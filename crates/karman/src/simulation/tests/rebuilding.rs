//! Simulations that go on with another mesh.

use crate::case::Case;
use crate::mesh::Mesh;
use crate::mesh::MeshOptions;
use crate::mesh::generate::{BoxParams, Element};
use crate::monitor::locate;
use crate::simulation::{RunOptions, Simulation, Transfer};
use std::path::Path;
use std::sync::Arc;

fn simulation(text: &str) -> Simulation {
    let case = Case::parse(text, Path::new(""), "rebuilt.toml").unwrap();
    Simulation::new(case, RunOptions::default()).unwrap()
}

fn square(cells: usize) -> Mesh {
    let params = BoxParams {
        size: vec![1.0, 1.0],
        cells: vec![cells, cells],
        element: Some(Element::Triangle),
        jitter: 0.1,
        ..BoxParams::default()
    };
    Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap()
}

pub(super) fn same_places() -> Transfer {
    Transfer::new(|values, points| {
        assert_eq!(3 * values.len(), points.len());
        values.to_vec()
    })
}

const MESH: &str = "[mesh.generate.box]\nsize = [1.0, 1.0]\ncells = [8, 8]\nelement = \"triangle\"\njitter = 0.1\n";

fn heat(place: &str, method: &str) -> String {
    format!(
        "{MESH}[heat]\ndiscretization = \"{place}\"\n[initial]\ntemperature = \"1 + 2*x - 3*y\"\n[boundary]\n\
         xmin.temperature = \"1 - 3*y\"\nxmax.temperature = \"3 - 3*y\"\nymin.temperature = \"1 + 2*x\"\n\
         ymax.temperature = \"2*x - 2\"\n[time]\nmethod = \"{method}\"\nstep = 0.1\nend = 1.0\n\
         [linear_solver]\nrelative_tolerance = 1e-13\n"
    )
}

#[test]
fn a_temperature_is_the_same_on_the_same_mesh() {
    for (place, method) in [("cell", "bdf2"), ("node", "crank_nicolson")] {
        // Nodes of prescribed temperature have its bits after a rebuild; steps of a device round them.
        let text = heat(place, method).replace("\"1 + 2*x - 3*y\"", "\"sin(7*x)*y\"")
            + "[run]\nbackend = \"cpu\"\n";
        let mut simulation = simulation(&text);
        for _ in 0..3 {
            simulation.step().unwrap();
        }
        let before = simulation.field("temperature").unwrap();
        let clock = (simulation.time(), simulation.steps());
        let mesh = simulation.mesh().clone();
        simulation.rebuild(mesh, &same_places()).unwrap();
        assert_eq!(simulation.field("temperature").unwrap(), before, "{place}");
        assert_eq!((simulation.time(), simulation.steps()), clock);
        simulation.step().unwrap();
        assert_eq!(simulation.steps(), 4);
    }
}

#[test]
fn a_linear_temperature_is_exact_on_a_finer_mesh() {
    let mut simulation = simulation(&heat("node", "bdf2"));
    simulation.step().unwrap();
    let old = Arc::new(simulation.mesh().clone());
    let linear = Transfer::new(move |values, points| {
        let n = points.len() / 3;
        let places: Vec<[f64; 3]> = (0..n).map(|i| [0, 1, 2].map(|k| points[k * n + i])).collect();
        let at = |found: Option<crate::monitor::Located>| {
            let found = found.unwrap();
            let nodes = old.cells.nodes_of(found.cell).iter();
            nodes.zip(&found.weights).map(|(node, w)| values[*node as usize] * w).sum::<f64>()
        };
        locate(&old, &places).into_iter().map(at).collect()
    });
    simulation.rebuild(square(13), &linear).unwrap();
    for step in 0..3 {
        let temperature = simulation.field("temperature").unwrap();
        assert_eq!(temperature.len(), 14 * 14);
        for (value, [x, y, _]) in temperature.iter().zip(&simulation.mesh().points) {
            let exact = 1.0 + 2.0 * x - 3.0 * y;
            assert!((value - exact).abs() < 1e-11, "step {step}: {value} {exact}");
        }
        simulation.step().unwrap();
    }
}

/// The velocity of the nearest cell, of one component.
fn nearest(old: Mesh) -> Transfer {
    let centres: Vec<[f64; 3]> =
        (0..old.n_cells()).map(|c| crate::mesh::geometry::cell_centre(&old, c)).collect();
    Transfer::new(move |values, points| {
        let n = points.len() / 3;
        let value = |i: usize| {
            let distance =
                |c: &[f64; 3]| (0..3).map(|k| (c[k] - points[k * n + i]).powi(2)).sum::<f64>();
            let order =
                |a: &usize, b: &usize| distance(&centres[*a]).total_cmp(&distance(&centres[*b]));
            values[(0..values.len()).min_by(order).unwrap()]
        };
        (0..n).map(value).collect()
    })
}

#[test]
fn a_flow_goes_on_free_of_divergence() {
    for scheme in ["collocated", "staggered", "exact_fractional_step"] {
        for method in ["bdf2", "ab2_cn"] {
            let text = format!(
                "{MESH}[incompressible]\nscheme = \"{scheme}\"\nkinematic_viscosity = 0.05\n\
                 [incompressible.thermal]\ndiffusivity = 0.1\n\
                 [incompressible.pressure]\nrelative_tolerance = 1e-12\n\
                 [incompressible.momentum]\nrelative_tolerance = 1e-12\n\
                 [initial]\ntemperature = \"x\"\n[boundary]\nxmin = \"no_slip\"\nxmax = \"no_slip\"\n\
                 ymin = \"no_slip\"\nymax.moving_wall = [\"1 + 0.1*sin(t)\", 0.0]\n\
                 [time]\nmethod = \"{method}\"\nstep = 0.02\nend = 1.0\n"
            );
            let mut simulation = simulation(&text);
            for _ in 0..20 {
                simulation.step().unwrap();
            }
            let clock = (simulation.time(), simulation.steps());
            let before = simulation.field("velocity_x").unwrap();
            let temperature = simulation.field("temperature").unwrap();
            let same = simulation.mesh().clone();
            simulation.rebuild(same.clone(), &nearest(same.clone())).unwrap();
            assert_eq!((simulation.time(), simulation.steps()), clock);
            assert_eq!(simulation.field("temperature").unwrap(), temperature);
            let after = simulation.field("velocity_x").unwrap();
            // The projection changes the velocity by the error of its interpolation to the faces.
            let change = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(change < 0.3, "{scheme} {method}: {change}");
            simulation.rebuild(square(12), &nearest(same)).unwrap();
            for _ in 0..3 {
                let advance = simulation.step().unwrap();
                let divergence = *advance.columns.get("divergence_max").unwrap();
                assert!(divergence < 1e-9, "{scheme} {method}: {divergence}");
            }
            assert_eq!(simulation.steps(), 23);
        }
    }
}
