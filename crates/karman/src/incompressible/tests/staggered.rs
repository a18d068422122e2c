//! Fluxes at the faces: order, divergence, energy.

use super::*;
use std::f64::consts::PI;

fn staggered(correction: PressureCorrection) -> Numerics {
    Numerics {
        arrangement: Arrangement::Staggered,
        pressure_correction: correction,
        ..numerics(Convection::Central, Scheme::Bdf2)
    }
}

/// √(Σ (F − u·S)² / Σ S²) over the faces, u the exact velocity at their centroids.
fn flux_error(backend: &Backend, flow: &Flow<f64>, geometry: &Geometry, exact: Exact) -> f64 {
    let (t, _) = flow.clock();
    let flux = backend.read(flow.flux()).unwrap();
    let (mut error, mut size) = (0.0, 0.0);
    for (face, flux) in flux.iter().enumerate() {
        let s = geometry.area_vector_of(face);
        let u = (exact.velocity)(geometry.face_centre_of(face), t);
        let through: f64 = (0..3).map(|k| u[k] * s[k]).sum();
        error += (flux - through).powi(2);
        size += s.iter().map(|s| s * s).sum::<f64>();
    }
    (error / size).sqrt()
}

/// Taylor & Green's vortices after 0.2 s.
fn after(n: usize, steps: usize, numerics: &Numerics) -> f64 {
    let (mesh, geometry) = box_mesh(Element::Quadrilateral, 2, n, 0.0);
    let backend = Backend::host(2).unwrap();
    let problem = held(&mesh, TAYLOR_GREEN);
    backend.install(|| {
        let mut flow = Flow::<f64>::new(&backend, &mesh, &geometry, &problem, numerics).unwrap();
        for _ in 0..steps {
            let report = flow.step(0.2 / steps as f64).unwrap();
            assert!(report.pressure.is_converged(), "{}", report.pressure);
            assert!(report.momentum.is_converged(), "{}", report.momentum);
            assert!(report.divergence < 1e-8, "{}", report.divergence);
        }
        flux_error(&backend, &flow, &geometry, TAYLOR_GREEN)
    })
}

#[test]
fn fluxes_are_second_order_on_rectangles() {
    let numerics = staggered(PressureCorrection::IncrementalRotational);
    let errors = [8, 16, 32].map(|n| after(n, 2 * n, &numerics));
    let order = 0.5 * (errors[0] / errors[2]).log2();
    eprintln!("staggered: {errors:?}, order {order:.2}");
    assert!(order > 1.9, "{errors:?}, {order}");
}

#[test]
fn a_mesh_that_is_not_of_rectangles_is_refused() {
    let (mesh, geometry) = box_mesh(Element::Triangle, 2, 4, 0.0);
    let backend = Backend::host(1).unwrap();
    let numerics = staggered(PressureCorrection::Incremental);
    let problem = held(&mesh, TAYLOR_GREEN);
    let made = Flow::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics);
    let Err(error) = made else { panic!("accepted") };
    assert_eq!(
        error.to_string(),
        "scheme = \"staggered\" is for meshes of rectangles or bricks, whose centroids are joined by \
         normals of their faces; for this mesh use scheme = \"collocated\""
    );
}

/// The source's scheme: first order in time.
#[test]
fn the_classical_step_is_of_first_order_in_time() {
    let error = |steps: usize| after(24, steps, &staggered(PressureCorrection::None));
    let errors = [4, 8, 16].map(error);
    let order = (errors[0] / errors[1]).log2();
    eprintln!("classical step: {errors:.4?}, order {order:.2}");
    assert!(order > 0.5 && errors[1] < errors[0] && errors[2] < errors[1], "{errors:?}");
}

/// Vortices between slip walls without viscosity: what the scheme in time takes falls with the step, and
/// nothing else does.
#[test]
fn central_means_keep_the_kinetic_energy_of_the_fluxes() {
    let (mesh, geometry) = box_mesh(Element::Quadrilateral, 2, 12, 0.0);
    let backend = Backend::host(1).unwrap();
    let velocity = |k: usize| -> Arc<dyn Prescribed> {
        Arc::new(Function(move |p: [f64; 3], _| match k {
            0 => {
                (PI * p[0]).sin() * (PI * p[1]).cos() + (2.0 * PI * p[0]).sin() * (PI * p[1]).cos()
            }
            1 => {
                -(PI * p[0]).cos() * (PI * p[1]).sin()
                    - 2.0 * (2.0 * PI * p[0]).cos() * (PI * p[1]).sin()
            }
            _ => 0.0,
        }))
    };
    let problem = Problem {
        viscosity: 1e-14,
        source: nothing(),
        conditions: mesh.patches.iter().map(|_| FlowCondition::Slip).collect(),
        velocity: [0, 1, 2].map(velocity),
        pressure: Arc::new(0.0),
        thermal: None,
    };
    let numerics = staggered(PressureCorrection::Incremental);
    let mass: Vec<f64> = (0..mesh.n_faces())
        .map(|f| {
            let s = geometry.area_vector_of(f);
            let square: f64 = s.iter().map(|s| s * s).sum();
            let cells = [Some(mesh.face_left[f]), mesh.face_right.get(f).copied()];
            let arm = |c: u32| {
                let (x, y) = (geometry.face_centre_of(f), geometry.cell_centre_of(c as usize));
                (0..3).map(|k| (x[k] - y[k]) * s[k]).sum::<f64>().abs() / square
            };
            cells.into_iter().flatten().map(arm).sum()
        })
        .collect();
    let drift = |steps: usize| {
        let mut flow = Flow::<f64>::new(&backend, &mesh, &geometry, &problem, &numerics).unwrap();
        let energy = |flow: &Flow<f64>| -> f64 {
            let flux = backend.read(flow.flux()).unwrap();
            flux.iter().zip(&mass).map(|(u, m)| 0.5 * m * u * u).sum()
        };
        let start = energy(&flow);
        (0..steps).for_each(|_| drop(flow.step(0.5 / steps as f64).unwrap()));
        ((energy(&flow) - start) / start).abs()
    };
    let drifts = [20, 40, 80].map(drift);
    let order = (drifts[1] / drifts[2]).log2();
    eprintln!("energy: {drifts:?}, order {order:.2}");
    assert!(order > 1.7 && drifts[2] < 1e-3, "{drifts:?}, {order}");
}
