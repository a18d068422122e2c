//! Steady flow by the implicit march and by local steps.

use super::super::residual::bounded;
use super::super::state::{Conserved, Primitive};
use super::super::steady::lu_sgs::flux_change;
use super::exact::{GAMMA, error_of, manufactured, numerics, problem};
use crate::backend::Backend;
use crate::backend::testing::everywhere;
use crate::compressible::steady::{Colours, ImplicitMarch, LocalMarch, SteadyIteration};
use crate::compressible::{
    CompressibleBoundaryCondition, CompressibleError, CompressibleNumerics, CompressibleProblem,
    CompressibleSolver, Limiter, Reconstruction,
};
use crate::mesh::testing::{built, gmsh};
use crate::mesh::{Geometry, Mesh};
use crate::real::Vec3;

const QUADRATIC: Reconstruction = Reconstruction::Quadratic;

fn with_bounds(reconstruction: Reconstruction) -> CompressibleNumerics {
    CompressibleNumerics { bounds_traces: true, ..numerics(reconstruction) }
}

fn march(
    backend: &Backend,
    place: (&Mesh, &Geometry),
    problem: &CompressibleProblem,
    numerics: &CompressibleNumerics,
    courant: f64,
) -> ImplicitMarch<f64> {
    let flow = CompressibleSolver::new(backend, place, problem, numerics).unwrap();
    let of_mesh = (volume(place.1), Colours::new(place.0).unwrap());
    ImplicitMarch::new(backend, flow, of_mesh, courant).unwrap()
}

fn volume(geometry: &Geometry) -> f64 {
    geometry.cell_volume.iter().sum()
}

fn iterate(march: &mut ImplicitMarch<f64>, count: usize) -> Vec<SteadyIteration> {
    (0..count).map(|_| march.iterate().unwrap()).collect()
}

fn residuals(reports: &[SteadyIteration]) -> Vec<f64> {
    reports.iter().map(|report| report.residuals.largest()).collect()
}

#[test]
fn the_implicit_march_converges_to_round_off_on_every_element() {
    let backend = Backend::host(2).unwrap();
    for (name, viscosity, reconstruction) in [
        ("triangles_coarse", 0.02, QUADRATIC),
        ("triangles_coarse", 0.0, Reconstruction::Linear),
        ("quadrilaterals_coarse", 0.0, QUADRATIC),
        ("cube_tetrahedron_coarse", 0.02, QUADRATIC),
        ("cube_prism_coarse", 0.0, QUADRATIC),
    ] {
        let (mesh, geometry) = built(gmsh(name));
        let place = (&mesh, &geometry);
        let problem = manufactured(&mesh, viscosity);
        let mut march = march(&backend, place, &problem, &with_bounds(reconstruction), 20.0);
        let reports = iterate(&mut march, 14);
        let last = reports[reports.len() - 1].residuals.largest();
        assert!(last < 1e-12, "{name}: {:?}", residuals(&reports));
        // A steady state of explicit steps too.
        let means = backend.read(march.flow().means()).unwrap();
        let mut explicit =
            CompressibleSolver::<f64>::new(&backend, place, &problem, &numerics(reconstruction))
                .unwrap();
        explicit.restore(means.clone(), (0.0, 0)).unwrap();
        let rate = explicit.iterate(0.5).unwrap().rate;
        assert!(rate < 1e-10, "{name}: {rate}");
        assert!(error_of(place, &problem, &means, 0.0) < 0.02, "{name}");
    }
}

#[test]
fn the_courant_number_grows_and_the_totals_are_those_of_the_state() {
    let backend = Backend::host(2).unwrap();
    let (mesh, geometry) = built(gmsh("triangles_coarse"));
    let problem = manufactured(&mesh, 0.02);
    let mut march = march(&backend, (&mesh, &geometry), &problem, &with_bounds(QUADRATIC), 5.0);
    let reports = iterate(&mut march, 6);
    assert_eq!(reports[0].courant, 5.0);
    assert!(reports[5].courant > 30.0, "{reports:?}");
    let (n, means) = (mesh.n_cells(), backend.read(march.flow().means()).unwrap());
    let mass: f64 = (0..n).map(|c| geometry.cell_volume[c] * means[c]).sum();
    assert!((reports[5].totals[0] - mass).abs() < 1e-12 * mass);
    assert_eq!(march.flow().clock(), (0.0, 6));
    march.restart();
    assert_eq!(march.iterate().unwrap().courant, 5.0);
}

#[test]
fn a_march_is_the_same_on_every_backend() {
    for (name, viscosity, limiter) in [
        ("triangles_coarse", 0.02, Limiter::None),
        ("cube_tetrahedron_coarse", 0.0, Limiter::Venkatakrishnan),
    ] {
        let (mesh, geometry) = built(gmsh(name));
        let problem = manufactured(&mesh, viscosity);
        let numerics = CompressibleNumerics { limiter, ..with_bounds(QUADRATIC) };
        let run_on = |backend: Backend| {
            let place = (&mesh, &geometry);
            let mut march = march(&backend, place, &problem, &numerics, 20.0);
            let reports = iterate(&mut march, 2);
            let means = backend.read(march.flow().means()).unwrap();
            (reports[1].residuals.largest(), reports[1].products, means)
        };
        let all: Vec<_> = everywhere().into_iter().map(run_on).collect();
        let (residual, products, means) = &all[0];
        for (k, (other_residual, other_products, other)) in all.iter().enumerate().skip(1) {
            let error = means.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // The hosts agree to the bit; differences of residuals magnify round-off elsewhere.
            let allowed = if k < 3 { 0.0 } else { 1e-6 };
            assert!(error <= allowed, "{name} backend {k}: {error:e}");
            assert!((other_residual / residual - 1.0).abs() <= 1e3 * allowed, "{name} {k}");
            assert!(products.abs_diff(*other_products) <= usize::from(k >= 3), "{name} {k}");
        }
    }
}

#[test]
fn local_steps_reach_the_state_of_the_implicit_march() {
    let backend = Backend::host(2).unwrap();
    let (mesh, geometry) = built(gmsh("triangles_coarse"));
    let place = (&mesh, &geometry);
    let problem = manufactured(&mesh, 0.02);
    let mut implicit = march(&backend, place, &problem, &with_bounds(QUADRATIC), 20.0);
    iterate(&mut implicit, 12);
    let flow =
        CompressibleSolver::<f64>::new(&backend, place, &problem, &numerics(QUADRATIC)).unwrap();
    let mut local = LocalMarch::new(&backend, flow, volume(&geometry), 0.8);
    let reports: Vec<SteadyIteration> = (0..400).map(|_| local.iterate().unwrap()).collect();
    let [first, last] = [reports[0], reports[399]].map(|report| report.residuals.largest());
    assert!(last < 1e-2 * first, "{first} {last}");
    let [a, b] = [implicit.flow(), local.flow()].map(|flow| backend.read(flow.means()).unwrap());
    let error = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(error < 1e-5, "{error}");
}

/// The impulsive start of a stream of Mach 3 around a step, with a limiter: density and pressure stay positive, and the residual
/// falls.
#[test]
fn a_supersonic_stream_starts_at_once() {
    fn stream(_: [f64; 3], _: f64) -> [f64; 5] {
        [1.4, 3.0, 0.0, 0.0, 1.0]
    }
    let backend = Backend::host(2).unwrap();
    let (mesh, geometry) = built(gmsh("step"));
    let mut problem = problem(&mesh, stream);
    for (patch, condition) in mesh.patches.iter().zip(&mut problem.conditions) {
        match patch.name.as_str() {
            "inlet" => {}
            "outlet" => *condition = CompressibleBoundaryCondition::SupersonicOutlet,
            _ => *condition = CompressibleBoundaryCondition::Slip,
        }
    }
    let numerics = CompressibleNumerics {
        limiter: Limiter::Venkatakrishnan,
        ..with_bounds(Reconstruction::Linear)
    };
    let mut march = march(&backend, (&mesh, &geometry), &problem, &numerics, 1.0);
    let reports = iterate(&mut march, 40);
    let n = mesh.n_cells();
    let q = backend.read(march.flow().means()).unwrap();
    for c in 0..n {
        let square = q[n + c] * q[n + c] + q[2 * n + c] * q[2 * n + c];
        assert!(q[c] > 0.0 && q[4 * n + c] > 0.5 * square / q[c], "cell {c}");
    }
    let found = residuals(&reports);
    assert!(found[39] < 0.5 * found[0], "{found:?}");
}

/// A(q)·S δ against differences of F(q)·S.
#[test]
fn the_change_of_a_flux_is_its_derivative() {
    let q = Conserved::of(1.2, Vec3 { x: 0.5, y: -0.3, z: 0.2 }, 2.9);
    let s = Vec3 { x: 0.4, y: 0.1, z: -0.7 };
    let flux = |q: Conserved<f64>| {
        let through = q.momentum().dot(s) / q.density;
        let p = q.pressure(GAMMA);
        Conserved::of(q.density * through, q.momentum() * through + s * p, (q.energy + p) * through)
    };
    let e = 1e-6;
    for k in 0..5 {
        let unit = |j: usize| if j == k { 1.0 } else { 0.0 };
        let change = Conserved::of(unit(0), Vec3 { x: unit(1), y: unit(2), z: unit(3) }, unit(4));
        let difference = (flux(q + change * e) - flux(q - change * e)) * (0.5 / e);
        let error = flux_change(q.primitive(GAMMA), change, s, GAMMA) - difference;
        let parts = [error.density, error.momentum().dot(error.momentum()).sqrt(), error.energy];
        assert!(parts.iter().all(|part| part.abs() < 1e-8), "{k}: {parts:?}");
    }
}

#[test]
fn bounded_traces_are_positive_and_others_stay() {
    let mean = Primitive::of(1.0, Vec3 { x: 3.0, y: 0.0, z: 0.0 }, 1.0).conserved(GAMMA);
    let near = mean * 0.9;
    assert_eq!(bounded(near, mean, GAMMA), near);
    for state in [
        Conserved { density: -0.5, ..mean },
        Conserved { energy: 3.0, ..mean },
        Conserved { momentum_x: 9.0, ..mean },
        Conserved { density: 0.01, momentum_y: -4.0, ..mean },
    ] {
        let found = bounded(state, mean, GAMMA);
        let least = 0.1 - 1e-12;
        assert!(found.density >= least && found.pressure(GAMMA) >= least, "{state:?} {found:?}");
    }
}

#[test]
fn a_march_without_a_valid_step_ends_with_an_error() {
    let error = CompressibleError::NoStep { courant: 2e-4 };
    assert_eq!(
        error.to_string(),
        "no step towards the steady state keeps density and pressure positive, down to a Courant number of 2.0e-4: use \
         a `limiter` where there are shocks, begin with `reconstruction = \"constant\"` or initial fields nearer to the flow, or \
         compute in time with [time]"
    );
}
