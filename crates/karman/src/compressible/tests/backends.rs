//! The same flow on every backend.

use super::exact::{manufactured, numerics};
use crate::backend::testing::everywhere;
use crate::compressible::{
    CompressibleNumerics, CompressibleSolver, FluxForm, Limiter, NumericalFlux, Reconstruction,
};
use crate::mesh::testing::{built, gmsh};

/// Means after three steps of two kinds.
fn run(name: &str, viscosity: f64, numerics: &CompressibleNumerics) -> Vec<Vec<f64>> {
    let (mesh, geometry) = built(gmsh(name));
    let problem = manufactured(&mesh, viscosity);
    let run_on = |backend: crate::backend::Backend| {
        let mut solver =
            CompressibleSolver::<f64>::new(&backend, (&mesh, &geometry), &problem, numerics)
                .unwrap();
        for _ in 0..2 {
            let step = solver.step_of(0.5);
            solver.advance(step).unwrap();
        }
        solver.iterate(0.5).unwrap();
        backend.read(solver.means()).unwrap()
    };
    everywhere().into_iter().map(run_on).collect()
}

#[test]
fn a_flow_is_the_same_on_every_backend() {
    let cases = [
        ("triangles_coarse", 0.0, Limiter::None, Reconstruction::Quadratic),
        ("triangles_coarse", 0.02, Limiter::Mood, Reconstruction::Linear),
        ("cube_prism_coarse", 0.02, Limiter::Venkatakrishnan, Reconstruction::Quadratic),
        ("cube_tetrahedron_coarse", 0.0, Limiter::Minmod, Reconstruction::Linear),
        ("cube_prism_coarse", 0.02, Limiter::Mlp, Reconstruction::Quadratic),
    ];
    // Every flux with the first case, every case with the first flux.
    for (k, flux) in NumericalFlux::ALL.into_iter().enumerate() {
        for (name, viscosity, limiter, reconstruction) in
            &cases[..if k == 0 { cases.len() } else { 1 }]
        {
            let (limiter, reconstruction) = (*limiter, *reconstruction);
            let form = FluxForm { flux, low_mach: flux.has_low_mach_form() };
            let numerics = CompressibleNumerics { form, limiter, ..numerics(reconstruction) };
            let all = run(name, *viscosity, &numerics);
            for (k, other) in all.iter().enumerate().skip(1) {
                let error =
                    all[0].iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                // The hosts agree to the bit.
                let allowed = if k < 3 { 0.0 } else { 1e-12 };
                assert!(error <= allowed, "{flux:?} {name} {limiter:?} backend {k}: {error:e}");
            }
        }
    }
}
