//! Curved walls: entropy errors around a cylinder.

use super::exact::{GAMMA, numerics, problem};
use crate::backend::Backend;
use crate::compressible::{CompressibleBoundaryCondition, CompressibleSolver, Reconstruction};
use crate::mesh::generate::{AnnulusParams, Element};
use crate::mesh::testing::built;

fn stream(_: [f64; 3], _: f64) -> [f64; 5] {
    [1.0, 0.38 * GAMMA.sqrt(), 0.0, 0.0, 1.0]
}

/// The L2 norm of p/ρ^γ − 1 within two diameters of a cylinder at Mach 0.38, of `n` faces.
fn entropy_error(n: usize, iterations: usize) -> f64 {
    let backend = Backend::host(2).unwrap();
    let params = AnnulusParams {
        inner: 0.5,
        outer: 20.0,
        cells: vec![n / 2, n],
        grading: 40.0,
        element: Some(Element::Quadrilateral),
        ..AnnulusParams::default()
    };
    let (mesh, geometry) = built(params.generate().unwrap());
    let mut problem = problem(&mesh, stream);
    let wall = mesh.patches.iter().position(|patch| patch.name == "inner").unwrap();
    problem.conditions[wall] = CompressibleBoundaryCondition::Slip;
    let numerics = numerics(Reconstruction::Quadratic);
    let mut solver =
        CompressibleSolver::<f64>::new(&backend, (&mesh, &geometry), &problem, &numerics).unwrap();
    for _ in 0..iterations {
        assert_eq!(solver.iterate(0.9).unwrap().invalid, 0);
    }
    let (q, cells) = (backend.read(solver.means()).unwrap(), mesh.n_cells());
    let (mut sum, mut total) = (0.0, 0.0);
    for c in 0..cells {
        let [x, y, _] = geometry.cell_centre_of(c);
        if x.hypot(y) < 2.0 {
            let [density, mx, my, _, energy] = [0, 1, 2, 3, 4].map(|v| q[v * cells + c]);
            let pressure = (GAMMA - 1.0) * (energy - 0.5 * (mx * mx + my * my) / density);
            let volume = geometry.cell_volume[c];
            sum += volume * (pressure / density.powf(GAMMA) - 1.0).powi(2);
            total += volume;
        }
    }
    (sum / total).sqrt()
}

#[test]
fn entropy_errors_at_a_curved_wall_fall_with_order_two_and_a_half() {
    let [coarse, fine] = [(32, 900), (64, 900)].map(|(n, iterations)| entropy_error(n, iterations));
    let order = (coarse / fine).log2();
    assert!(order > 2.5, "{coarse} {fine} order {order}");
}
