//! Uniform flow, closed boxes, Riemann problems, negative states.

use super::exact::{GAMMA, advance_to, fields, numerics, problem, waves_2d, waves_3d};
use crate::backend::Backend;
use crate::compressible::{
    CompressibleBoundaryCondition, CompressibleError, CompressibleProblem, CompressibleSolver,
    FluxForm, Limiter, NumericalFlux, Reconstruction,
};
use crate::mesh::generate::{AnnulusParams, BoxParams, Element};
use crate::mesh::testing::{built, gmsh};
use crate::mesh::{Geometry, Mesh};
use crate::time::RungeKutta;

fn uniform(_: [f64; 3], _: f64) -> [f64; 5] {
    [1.2, 0.7, -0.4, 0.0, 0.9]
}

fn oblique(_: [f64; 3], _: f64) -> [f64; 5] {
    [1.2, 0.7, -0.4, 0.3, 0.9]
}

fn boxes() -> Vec<(Mesh, Geometry)> {
    use Element::{Hexahedron, Mixed, Prism, Pyramid, Quadrilateral, Tetrahedron, Triangle};
    let elements = [
        (Triangle, 2),
        (Quadrilateral, 2),
        (Tetrahedron, 3),
        (Hexahedron, 3),
        (Prism, 3),
        (Pyramid, 3),
        (Mixed, 3),
    ];
    let lattice = |(element, d): (Element, usize)| {
        let (size, cells) = (vec![1.0; d], vec![4; d]);
        let params =
            BoxParams { size, cells, element: Some(element), jitter: 0.2, ..BoxParams::default() };
        built(params.generate().unwrap())
    };
    let mut list: Vec<_> = elements.map(lattice).into();
    list.push(built(gmsh("cube_tetrahedron_coarse")));
    list.push(built(gmsh("triangles_coarse")));
    list
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn uniform_flow_stays_on_every_element() {
    let backend = Backend::host(2).unwrap();
    for (mesh, geometry) in boxes() {
        let exact = if mesh.dimension == 2 { uniform } else { oblique };
        for flux in NumericalFlux::ALL {
            let form = FluxForm { flux, low_mach: false };
            let numerics = crate::compressible::CompressibleNumerics {
                form,
                ..numerics(Reconstruction::Quadratic)
            };
            let problem = problem(&mesh, exact);
            let mut solver =
                CompressibleSolver::<f64>::new(&backend, (&mesh, &geometry), &problem, &numerics)
                    .unwrap();
            let before = backend.read(solver.means()).unwrap();
            for _ in 0..5 {
                let step = solver.step_of(0.6);
                solver.advance(step).unwrap();
            }
            let after = backend.read(solver.means()).unwrap();
            let change = largest_difference(&before, &after);
            assert!(change < 5e-13, "{flux:?} {} cells: {change:e}", mesh.n_cells());
        }
    }
}

/// An annulus, and a pipe of Gmsh tetrahedra.
fn curved() -> Vec<(Mesh, Geometry)> {
    let params = AnnulusParams {
        cells: vec![3, 16],
        element: Some(Element::Triangle),
        ..AnnulusParams::default()
    };
    vec![built(params.generate().unwrap()), built(gmsh("pipe_coarse"))]
}

#[test]
fn a_closed_box_keeps_mass_and_energy() {
    let backend = Backend::host(2).unwrap();
    for (mesh, geometry) in boxes().into_iter().chain(curved()) {
        let exact = if mesh.dimension == 2 { waves_2d } else { waves_3d };
        let conditions = mesh.patches.iter().map(|_| CompressibleBoundaryCondition::Slip).collect();
        let problem = CompressibleProblem { conditions, ..problem(&mesh, exact) };
        for limiter in [Limiter::None, Limiter::Minmod, Limiter::Mlp, Limiter::Mood] {
            let numerics = crate::compressible::CompressibleNumerics {
                limiter,
                ..numerics(Reconstruction::Quadratic)
            };
            let mut solver =
                CompressibleSolver::<f64>::new(&backend, (&mesh, &geometry), &problem, &numerics)
                    .unwrap();
            let reports = advance_to(&mut solver, 0.6, 0.3);
            for variable in [0, 4] {
                let [first, last] =
                    [&reports[0], &reports[reports.len() - 1]].map(|r| r.totals[variable]);
                assert!(
                    (last / first - 1.0).abs() < 1e-13,
                    "{limiter:?} {variable}: {first} {last}"
                );
            }
        }
    }
}

/// The problem of Sod: pressures 1 and 0.1, densities 1 and 0.125, from x = ½.
fn sod([x, _, _]: [f64; 3], t: f64) -> [f64; 5] {
    let (pressure, speed, left, right) = (0.303_130_18, 0.927_452_62, 0.426_319_43, 0.265_573_71);
    let c = GAMMA.sqrt();
    let slow = speed - (GAMMA * pressure / left).sqrt();
    let shock = speed / (1.0 - 0.125 / right);
    let xi = if t > 0.0 { (x - 0.5) / t } else { (x - 0.5) * f64::MAX };
    if xi < -c {
        [1.0, 0.0, 0.0, 0.0, 1.0]
    } else if xi < slow {
        let u = 2.0 / (GAMMA + 1.0) * (c + xi);
        let ratio = 1.0 - 0.5 * (GAMMA - 1.0) * u / c;
        [ratio.powf(5.0), u, 0.0, 0.0, ratio.powf(7.0)]
    } else if xi < speed {
        [left, speed, 0.0, 0.0, pressure]
    } else if xi < shock {
        [right, speed, 0.0, 0.0, pressure]
    } else {
        [0.125, 0.0, 0.0, 0.0, 0.1]
    }
}

#[test]
fn the_shock_tube_of_sod_is_bounded_and_converges() {
    let backend = Backend::host(2).unwrap();
    for limiter in [Limiter::Minmod, Limiter::Venkatakrishnan, Limiter::Mlp, Limiter::Mood] {
        let error = |n: usize| {
            let (size, cells) = (vec![1.0, 3.0 / n as f64], vec![n, 3]);
            let element = Some(Element::Mixed);
            let params = BoxParams { size, cells, element, jitter: 0.1, ..BoxParams::default() };
            let (mesh, geometry) = built(params.generate().unwrap());
            let place = (&mesh, &geometry);
            let conditions =
                mesh.patches.iter().map(|_| CompressibleBoundaryCondition::Slip).collect();
            let problem = CompressibleProblem { conditions, ..problem(&mesh, sod) };
            let numerics = crate::compressible::CompressibleNumerics {
                limiter,
                ..numerics(Reconstruction::Quadratic)
            };
            let mut solver =
                CompressibleSolver::<f64>::new(&backend, place, &problem, &numerics).unwrap();
            advance_to(&mut solver, 0.6, 0.2);
            let exact = crate::compressible::cell_means::conserved_means(
                place,
                place.0.n_cells(),
                &fields(sod),
                GAMMA,
                0.2,
            )
            .unwrap();
            let found = backend.read(solver.means()).unwrap();
            let n_cells = mesh.n_cells();
            let (low, high) = found[..n_cells]
                .iter()
                .fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(*x), h.max(*x)));
            // With ε² of the range of the means the overshoot is larger than with that of the size of the cells.
            let least = if limiter == Limiter::Mlp { 0.1225 } else { 0.1235 };
            assert!(low > least && high < 1.01, "{limiter:?}: {low} {high}");
            let volumes = &geometry.cell_volume;
            let terms = (0..n_cells).map(|c| volumes[c] * (found[c] - exact[c]).abs());
            terms.fold(0.0, |a, b| a + b) / volumes.iter().fold(0.0, |a, b| a + b)
        };
        let [coarse, fine] = [50, 100].map(error);
        assert!(fine < 0.6 * coarse && fine < 7e-3, "{limiter:?}: {coarse} {fine}");
    }
}

/// A wall in a stream of Mach 3, started at once: the state behind the body would be a vacuum.
#[test]
fn an_impulsive_start_falls_back_locally_and_stays_positive() {
    fn stream(_: [f64; 3], _: f64) -> [f64; 5] {
        [1.4, 3.0, 0.0, 0.0, 1.0]
    }
    let backend = Backend::host(2).unwrap();
    let (mesh, geometry) = built(gmsh("step"));
    let conditions = mesh.patches.iter().map(|_| CompressibleBoundaryCondition::Slip).collect();
    let problem = CompressibleProblem { conditions, ..problem(&mesh, stream) };
    // The last stage of the classical method has a negative weight: it takes the lowest order of all stages together.
    for method in [RungeKutta::SspRk2, RungeKutta::SspRk3, RungeKutta::Rk4] {
        let numerics = crate::compressible::CompressibleNumerics {
            method,
            ..numerics(Reconstruction::Quadratic)
        };
        let mut solver =
            CompressibleSolver::<f64>::new(&backend, (&mesh, &geometry), &problem, &numerics)
                .unwrap();
        let mut fallback_cells = 0;
        let before = solver.totals().unwrap();
        for _ in 0..40 {
            let step = solver.step_of(0.4);
            let report = solver.advance(step).unwrap();
            assert_eq!(report.invalid, 0, "{method:?} {:?}", solver.clock());
            fallback_cells += report.fallback_cells;
            let mass = report.totals[0] / before[0];
            assert!((mass - 1.0).abs() < 1e-13, "{method:?} {mass}");
        }
        assert!(fallback_cells > 0, "{method:?}");
    }
}

#[test]
fn an_initial_state_without_pressure_is_refused_with_its_place() {
    fn empty([x, _, _]: [f64; 3], _: f64) -> [f64; 5] {
        [1.0, 0.0, 0.0, 0.0, 0.5 - x]
    }
    let backend = Backend::host(1).unwrap();
    let (mesh, geometry) = built(gmsh("triangles_coarse"));
    let problem = problem(&mesh, empty);
    let numerics = numerics(Reconstruction::Linear);
    let result = CompressibleSolver::<f64>::new(&backend, (&mesh, &geometry), &problem, &numerics);
    let Err(error @ CompressibleError::NotPositive { quantity: "pressure", .. }) = result else {
        panic!("accepted")
    };
    assert!(error.to_string().contains("the initial pressure is -"), "{error}");
}
