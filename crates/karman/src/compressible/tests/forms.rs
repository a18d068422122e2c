//! The forms of the residual agree.

use super::exact::{manufactured, numerics};
use crate::backend::Backend;
use crate::backend::testing::everywhere;
use crate::compressible::{
    CompressibleNumerics, CompressibleSolver, Limiter, Reconstruction, ResidualForm,
    WeightPrecision,
};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::testing::{built, gmsh};
use crate::mesh::{Geometry, Mesh};

fn meshes() -> Vec<(&'static str, (Mesh, Geometry))> {
    let mixed = BoxParams {
        size: vec![1.0; 3],
        cells: vec![4; 3],
        element: Some(Element::Mixed),
        jitter: 0.2,
        ..BoxParams::default()
    };
    let names = [
        "triangles_coarse",
        "quadrilaterals_coarse",
        "cube_tetrahedron_coarse",
        "cube_prism_coarse",
        "cube_hexahedron_coarse",
    ];
    let mut list: Vec<_> = names.map(|name| (name, built(gmsh(name)))).into();
    list.push(("mixed", built(mixed.generate().unwrap())));
    list
}

/// Means after two steps.
fn means(
    backend: &Backend,
    place: (&Mesh, &Geometry),
    numerics: &CompressibleNumerics,
) -> Vec<f64> {
    let problem = manufactured(place.0, 0.0);
    let mut solver = CompressibleSolver::<f64>::new(backend, place, &problem, numerics).unwrap();
    for _ in 0..2 {
        let step = solver.step_of(0.5);
        solver.advance(step).unwrap();
    }
    backend.read(solver.means()).unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn fused_residuals_are_those_of_the_stages() {
    let backend = Backend::host(2).unwrap();
    for (name, (mesh, geometry)) in meshes() {
        for (reconstruction, one_point, limiter) in [
            (Reconstruction::Linear, false, Limiter::Minmod),
            (Reconstruction::Quadratic, false, Limiter::None),
            (Reconstruction::Quadratic, true, Limiter::None),
            (Reconstruction::Quadratic, true, Limiter::Venkatakrishnan),
            (Reconstruction::Quadratic, false, Limiter::Minmod),
        ] {
            let of = |residual: ResidualForm| {
                let numerics = CompressibleNumerics {
                    one_point,
                    limiter,
                    residual,
                    bounds_traces: limiter == Limiter::Venkatakrishnan,
                    ..numerics(reconstruction)
                };
                means(&backend, (&mesh, &geometry), &numerics)
            };
            let stages = of(ResidualForm::Stages);
            // `auto` is one of the others.
            for form in [ResidualForm::Fused, ResidualForm::FusedRows] {
                let difference = largest_difference(&stages, &of(form));
                assert!(
                    difference < 1e-12,
                    "{name} {reconstruction:?} {one_point} {limiter:?} {form:?}: {difference:e}"
                );
            }
        }
    }
}

const SAME: &[WeightPrecision] = &[WeightPrecision::Same];

#[test]
fn every_form_is_the_same_on_every_backend() {
    let backends = everywhere();
    for (name, (mesh, geometry)) in meshes() {
        for (residual, one_point, limiter) in [
            (ResidualForm::Stages, true, Limiter::None),
            (ResidualForm::Fused, true, Limiter::Venkatakrishnan),
            (ResidualForm::Fused, false, Limiter::None),
            (ResidualForm::FusedRows, false, Limiter::Minmod),
        ] {
            // Each kernel with weights in single precision, on the meshes that have them all.
            let has_single = ["cube_tetrahedron_coarse", "mixed"].contains(&name);
            let precisions = if has_single { &WeightPrecision::ALL[..] } else { SAME };
            for &weights in precisions {
                let numerics = CompressibleNumerics {
                    residual,
                    one_point,
                    limiter,
                    weights,
                    ..numerics(Reconstruction::Quadratic)
                };
                let of = |backend| means(backend, (&mesh, &geometry), &numerics);
                let want = of(&backends[0]);
                for (k, backend) in backends.iter().enumerate().skip(1) {
                    let difference = largest_difference(&want, &of(backend));
                    let allowed = if backend.device().is_none() { 0.0 } else { 1e-12 };
                    assert!(
                        difference <= allowed,
                        "{name} {residual:?} {one_point} {limiter:?} backend {k}: {difference:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn weights_in_single_precision_change_the_flow_by_their_round_off() {
    let backend = Backend::host(2).unwrap();
    for (name, (mesh, geometry)) in meshes() {
        for residual in [ResidualForm::Stages, ResidualForm::Fused] {
            let of = |weights| {
                let numerics = CompressibleNumerics {
                    residual,
                    weights,
                    ..numerics(Reconstruction::Quadratic)
                };
                means(&backend, (&mesh, &geometry), &numerics)
            };
            let difference =
                largest_difference(&of(WeightPrecision::Same), &of(WeightPrecision::Single));
            assert!(difference > 0.0 && difference < 1e-7, "{name} {residual:?} {difference:e}");
        }
    }
}
