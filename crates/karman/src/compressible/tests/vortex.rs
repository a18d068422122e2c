//! The isentropic vortex: order of accuracy on lattices and on meshes of Gmsh.

use super::exact::{GAMMA, fields, vortex};
use crate::backend::Backend;
use crate::compressible::cell_means::conserved_means;
use crate::compressible::{
    CompressibleBoundaryCondition, CompressibleNumerics, CompressibleProblem, CompressibleSolver,
    FluxForm, Limiter, NumericalFlux, PrescribedState, Reconstruction,
};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::{Geometry, Mesh, MeshOptions};
use crate::time::RungeKutta;

pub(super) fn numerics(reconstruction: Reconstruction) -> CompressibleNumerics {
    CompressibleNumerics {
        form: FluxForm { flux: NumericalFlux::Roe, low_mach: false },
        reconstruction,
        limiter: Limiter::None,
        one_point: false,
        method: RungeKutta::SspRk3,
    }
}

/// A square of 10 of n blocks a side, periodic; in 3D one of thickness `10 layers / n`.
fn periodic_square(element: Element, n: usize, layers: usize, jitter: f64) -> (Mesh, Geometry) {
    let (mut size, mut cells) = (vec![10.0, 10.0], vec![n, n]);
    let mut pairs = vec![["xmin", "xmax"], ["ymin", "ymax"]];
    if layers > 0 {
        size.push(10.0 * layers as f64 / n as f64);
        cells.push(layers);
        pairs.push(["zmin", "zmax"]);
    }
    let element = Some(element);
    let raw =
        BoxParams { size, cells, element, jitter, ..BoxParams::default() }.generate().unwrap();
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let mesh = mesh.connect_periodic(&pairs).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

/// The L2 error of the density at t = `end`.
fn error(place: (&Mesh, &Geometry), numerics: &CompressibleNumerics, cfl: f64, end: f64) -> f64 {
    let backend = Backend::host(2).unwrap();
    let exact = fields(vortex);
    let [density, x, y, z, pressure] = exact.clone();
    let state = PrescribedState { density, velocity: [x, y, z], pressure };
    let problem = CompressibleProblem {
        gamma: GAMMA,
        conditions: vec![CompressibleBoundaryCondition::State(state); place.0.patches.len()],
        initial: exact.clone(),
        source: None,
        viscous: None,
    };
    let mut solver = CompressibleSolver::<f64>::new(&backend, place, &problem, numerics).unwrap();
    while solver.clock().0 < end {
        let left = end - solver.clock().0;
        let steps = (left / solver.step_of(cfl)).ceil().max(1.0);
        let report = solver.advance(left / steps).unwrap();
        assert_eq!((report.invalid, report.fallback_cells), (0, 0), "{:?}", solver.clock());
    }
    let expected = conserved_means(place, &exact, GAMMA, end).unwrap();
    let found = backend.read(solver.means()).unwrap();
    let volumes = crate::mesh::quadrature::CellMoments::new(place.0, place.1).volume;
    let (mut sum, mut total) = (0.0, 0.0);
    for (c, volume) in volumes.iter().enumerate() {
        sum += volume * (found[c] - expected[c]).powi(2);
        total += volume;
    }
    (sum / total).sqrt()
}

/// Observed order between two lattices of n and 2n blocks a side.
fn order(element: Element, n: usize, layers: usize, reconstruction: Reconstruction) -> f64 {
    let error = |n: usize| {
        let (mesh, geometry) = periodic_square(element, n, layers, 0.2);
        error((&mesh, &geometry), &numerics(reconstruction), 0.8, 1.0)
    };
    let (coarse, fine) = (error(n), error(2 * n));
    let order = (coarse / fine).log2();
    eprintln!(
        "{} {reconstruction:?} {n}: {coarse:.3e} {fine:.3e} order {order:.2}",
        element.word()
    );
    order
}

#[test]
fn the_order_of_the_vortex_in_2d() {
    for element in [Element::Triangle, Element::Quadrilateral, Element::Mixed] {
        assert!(order(element, 40, 0, Reconstruction::Linear) > 1.9);
        assert!(order(element, 40, 0, Reconstruction::Quadratic) > 2.8);
    }
}
