//! The residual of transport equations from its definition, on every backend; the implicit operator as a matrix.

use super::real_meshes::duct;
use super::*;
use crate::backend::View;
use crate::backend::testing::{everywhere, values};
use crate::finite_volume::transport::TransportView;
use crate::finite_volume::{CellFaces, Quantities, VectorField, Vectors};
use crate::incompressible::transport_residual::{
    Buoyancy, CellSources, Diffusion, TransportLevels, add_buoyancy, transport_residual,
};
use crate::mesh::index_of;
use crate::operators::FaceCells;
use crate::operators::tests::{largest, samples_of_elements};
use crate::real::Real;

const HISTORY: f64 = 0.3;
const B: [f64; 2] = [1.7, -0.7];
const ALPHA: f64 = 1.5;
const BETA: f64 = 2.0;
const EXTRAPOLATION: f64 = 0.7;

/// The residuals of `dimension` equations and of their buoyancy by the kernels; the last axis is that of the buoyancy.
fn compare<F: Real>(tolerance: f64) {
    for sample in &samples_of_elements() {
        let mesh = &sample.mesh;
        let (n, n_faces, inner) = (mesh.n_cells(), mesh.n_faces(), mesh.n_interior_faces());
        let [volume, temperature, before_t] = [1, 2, 3].map(|seed| values(n, seed));
        let [a, a_implicit, flux] = [4, 5, 6].map(|seed| values(n_faces, seed));
        for (dimension, diffuses, extrapolates) in
            [(1, true, false), (2, true, true), (3, false, false), (3, true, true)]
        {
            let levels = [7, 8, 9, 10, 11].map(|seed| values(dimension * n, seed));
            let [u, before, explicit, explicit_before, source] = &levels;
            let grad_p = values(3 * n, 12);
            let mut want = vec![0.0; dimension * n];
            for (place, want) in want.iter_mut().enumerate() {
                let (k, c) = (place / n, place % n);
                let change = u[place] - before[place];
                *want = source[place] + volume[c] * (HISTORY * change - grad_p[k * n + c])
                    - B[0] * explicit[place]
                    - B[1] * explicit_before[place];
                for item in mesh.cell_to_faces.of(c) {
                    let f = index_of(*item);
                    let is_left = mesh.face_left[f] as usize == c;
                    let across = (f < inner).then(|| {
                        let other = if is_left { mesh.face_right[f] } else { mesh.face_left[f] };
                        k * n + other as usize
                    });
                    let difference = |x: &[f64]| x[place] - across.map_or(0.0, |across| x[across]);
                    let out = if is_left { flux[f] } else { -flux[f] };
                    if diffuses {
                        *want -= a[f] * difference(u);
                    }
                    if extrapolates {
                        let w = ALPHA * a_implicit[f] + BETA * (-out).max(0.0);
                        let of_change = difference(u) - difference(before);
                        *want += EXTRAPOLATION * (w - a[f]) * of_change;
                    }
                }
                *want += volume[c]
                    * [0.1, -0.2, 0.3][k]
                    * (0.6 * temperature[c] + 0.4 * before_t[c] - 0.25);
            }
            for backend in everywhere() {
                let up = |v: &[f64]| backend.upload(v.iter().map(|v| F::from_f64(*v)).collect());
                let cells = FaceCells::new(&backend, mesh);
                let split = |of: &[f64]| of.chunks(n).map(up).collect::<Vec<_>>();
                let fields = [u, before, source].map(|of| split(of));
                let [u, before, source] =
                    [0, 1, 2].map(|k| VectorField::of(&fields[k].iter().collect::<Vec<_>>()));
                let explicit = [explicit, explicit_before].map(|of| up(of));
                let [explicit, explicit_before] =
                    [0, 1].map(|k| Quantities::of(&explicit[k], dimension));
                let [volume, a, a_implicit, flux, grad_p] =
                    [&volume, &a, &a_implicit, &flux, &grad_p].map(|v| up(v));
                let [temperature, before_t] = [&temperature, &before_t].map(|v| up(v));
                let f = F::from_f64;
                let mut r = backend.zeros(dimension * n);
                transport_residual(
                    &backend,
                    n,
                    &CellFaces::of(&cells, View::absent()),
                    &TransportLevels {
                        value: u,
                        before,
                        explicit,
                        explicit_before,
                        history: f(HISTORY),
                        b0: f(B[0]),
                        b1: f(B[1]),
                    },
                    &CellSources {
                        volume: volume.view(),
                        source,
                        pressure_gradient: Vectors::of(&grad_p),
                        has_pressure: true,
                    },
                    &Diffusion {
                        conductance: a.view(),
                        implicit: TransportView {
                            neighbours: cells.neighbours(&backend).view(),
                            inertia: View::absent(),
                            conductance: a_implicit.view(),
                            flux: flux.view(),
                            alpha: f(ALPHA),
                            beta: f(BETA),
                            convects: true,
                        },
                        extrapolation: f(EXTRAPOLATION),
                        is_present: diffuses,
                        extrapolates,
                    },
                    n,
                    &mut r,
                );
                let buoyancy = Buoyancy {
                    temperature: temperature.view(),
                    before: before_t.view(),
                    theta: f(0.6),
                    reference: f(0.25),
                    x: f(0.1),
                    y: f(-0.2),
                    z: f(0.3),
                };
                add_buoyancy(&backend, n, &volume, &buoyancy, n, dimension, &mut r);
                for (found, want) in backend.read(&r).unwrap().iter().zip(&want) {
                    let error = (found.to_f64() - want).abs();
                    let allowed = tolerance * (1.0 + largest(&levels[0]));
                    assert!(error < allowed, "{}, {dimension}, {backend:?}", sample.name);
                }
            }
        }
    }
}

#[test]
fn the_residual_is_that_of_its_definition_in_double_precision() {
    compare::<f64>(1e-12);
}

#[test]
fn the_residual_is_that_of_its_definition_in_single_precision() {
    compare::<f32>(2e-5);
}

/// Multigrid needs the operator as a matrix, and solves for one component after another.
#[test]
fn an_assembled_operator_gives_the_same_flow() {
    let (mesh, geometry) = crate::mesh::testing::built(crate::mesh::testing::gmsh("pipe_medium"));
    let problem = duct(&mesh, 0.05);
    for backend in everywhere() {
        let flows = [PreconditionerKind::Jacobi, PreconditionerKind::Amg(AmgParams::default())]
            .map(|preconditioner| {
                let mut numerics = numerics(Convection::LinearUpwind, TimeScheme::Bdf2);
                numerics.pressure.relative_tolerance = 1e-11;
                numerics.momentum.relative_tolerance = 1e-11;
                numerics.momentum.preconditioner = preconditioner;
                backend.install(|| {
                    let mut flow = IncompressibleSolver::<f64>::new(
                        &backend, &mesh, &geometry, &problem, &numerics,
                    )
                    .unwrap();
                    // The second step length needs another matrix.
                    for step in [0.01, 0.01, 0.02] {
                        let report = flow.step(step).unwrap();
                        assert!(report.momentum.is_converged(), "{preconditioner:?}, {backend:?}");
                    }
                    (0..3).flat_map(|k| backend.read(flow.velocity(k)).unwrap()).collect::<Vec<_>>()
                })
            });
        let apart = flows[0].iter().zip(&flows[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart > 0.0 && apart < 1e-8, "{backend:?}: {apart:e}");
    }
}
