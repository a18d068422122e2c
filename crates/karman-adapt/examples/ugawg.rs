//! The cubes `linear` and `polar-1` of the Unstructured Grid Adaptation Working Group, from a uniform mesh:
//! `cargo run --release -p karman-adapt --example ugawg -- CELLS [CYCLES]`, CELLS blocks of tetrahedra along each side.
#![allow(clippy::print_stdout)]

use karman_adapt::{AdaptOptions, AnalyticMetric, Eigen, Metric, adapt};
use karman_mesh::generate::{BoxParams, Element};
use karman_mesh::{Mesh, MeshOptions};
use std::error::Error;
use std::time::Instant;

/// Size across the layer at a distance from it.
fn across(distance: f64) -> f64 {
    0.001 + 2.0 * (0.1 - 0.001) * distance.abs()
}

fn of_sizes(sizes: [f64; 3], vectors: [[f64; 3]; 3]) -> Metric {
    Metric::from_eigen(&Eigen { values: sizes.map(|h| 1.0 / (h * h)), vectors })
}

fn linear([_, _, z]: [f64; 3]) -> Metric {
    of_sizes([0.1, 0.1, across(z - 0.5)], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
}

fn polar([x, y, _]: [f64; 3]) -> Metric {
    let r = x.hypot(y);
    let [c, s] = if r > 0.0 { [x / r, y / r] } else { [1.0, 0.0] };
    of_sizes([across(r - 0.5), 0.1, 0.1], [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument =
        |n: usize, default: usize| std::env::args().nth(n).map_or(Ok(default), |text| text.parse());
    let (cells, cycles) = (argument(1, 5)?, argument(2, 1)?);
    for (name, field) in [("linear", linear as fn([f64; 3]) -> Metric), ("polar-1", polar)] {
        let element = Some(Element::Tetrahedron);
        let params = BoxParams {
            size: vec![1.0; 3],
            cells: vec![cells; 3],
            element,
            ..BoxParams::default()
        };
        let mut mesh = Mesh::new(params.generate()?, &MeshOptions::default())?;
        for cycle in 1..=cycles {
            let start = Instant::now();
            let before = mesh.n_cells();
            let adapted = adapt(&mesh, &AnalyticMetric(field), &AdaptOptions::default())?;
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{name}, cycle {cycle}, from {before} cells: {seconds:.1} s, {} passes\n{}",
                adapted.passes, adapted.after
            );
            mesh = Mesh::new(adapted.mesh, &MeshOptions::default())?;
        }
    }
    Ok(())
}
