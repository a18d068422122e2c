//! Transfers: linear fields, integrals, bounds, equal results for any number of threads.

use super::*;
use crate::{AdaptOptions, AnalyticMetric, KeptParts, Metric, adapt};
use karman_mesh::generate::{BoxParams, Element, SphereInBoxParams};
use karman_mesh::geometry::cell_measure;
use karman_mesh::testing::gmsh;
use karman_mesh::{Mesh, MeshOptions};
use std::sync::Arc;

/// Meshes of Gmsh, each with its name and whether its boundary is plane.
const MESHES: [(&str, bool); 6] = [
    // Quadrilaterals around an airfoil, which are kept.
    ("airfoil", true),
    ("triangles_coarse", true),
    ("step", true),
    ("two_boxes", true),
    ("pipe_coarse", false),
    ("ball", false),
];

fn built(raw: karman_mesh::RawMesh) -> Mesh {
    Mesh::new(raw, &MeshOptions::default()).unwrap()
}

/// A mesh of Gmsh, the mesh adapted to sizes that vary over it, and the parts of it that were kept.
fn pair(name: &str) -> (Mesh, Mesh, KeptParts) {
    let old = built(gmsh(name));
    let d = old.dimension;
    let size = old.bounding_box_diagonal() / if d == 2 { 20.0 } else { 8.0 };
    let metric = AnalyticMetric(move |p: [f64; 3]| {
        let h = size * (1.0 + 0.5 * (4.0 * p[0] / size / 10.0).sin());
        let (xx, yy) = (1.0 / (h * h), 1.0 / (0.5 * h * h));
        Metric { xx, yy, zz: if d == 2 { 1.0 } else { xx }, ..Metric::ZERO }
    });
    let options = AdaptOptions { passes: 4, rounds: 1, ..AdaptOptions::default() };
    let adapted = adapt(&old, &metric, &options).unwrap();
    let new = built(adapted.mesh);
    let kept = adapted.kept.numbered_as(&new);
    (old, new, kept)
}

fn centroids(mesh: &Mesh) -> Vec<[f64; 3]> {
    let of =
        |cell| cell_measure(mesh.cells.shapes[cell], mesh.cells.nodes_of(cell), &mesh.points).1;
    (0..mesh.n_cells()).map(of).collect()
}

fn integral(mesh: &Mesh, field: &[f64]) -> f64 {
    let volume =
        |cell| cell_measure(mesh.cells.shapes[cell], mesh.cells.nodes_of(cell), &mesh.points).0;
    (0..mesh.n_cells()).map(|cell| volume(cell) * field[cell]).fold(0.0, |a, b| a + b)
}

/// ∫ u of a nodal field.
fn nodal_integral(mesh: &Mesh, field: &[f64]) -> f64 {
    let mean = |cell: usize| {
        let nodes = mesh.cells.nodes_of(cell);
        nodes.iter().map(|&n| field[n as usize]).fold(0.0, |a, b| a + b) / nodes.len() as f64
    };
    integral(mesh, &(0..mesh.n_cells()).map(mean).collect::<Vec<_>>())
}

/// Points as `[3][n]`.
fn component_major(points: &[[f64; 3]]) -> Vec<f64> {
    (0..3).flat_map(|axis| points.iter().map(move |point| point[axis])).collect()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn plane([x, y, z]: &[f64; 3]) -> f64 {
    3.0 + 2.0 * x - y + 0.5 * z
}

#[test]
fn linear_fields_are_exact() {
    for (name, has_planes) in MESHES {
        let (old, new, kept) = pair(name);
        let sampler = Arc::new(FieldSampler::new(&old).unwrap());
        let transfer =
            ConservativeTransfer::new(sampler.clone(), Arc::new(new.clone()), kept).unwrap();
        let cells = |mesh: &Mesh| centroids(mesh).iter().map(plane).collect::<Vec<f64>>();
        let nodes = |mesh: &Mesh| mesh.points.iter().map(plane).collect::<Vec<f64>>();
        let scale = nodes(&old).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let close = |found: &[f64], exact: &[f64], what: &str| {
            let difference = largest_difference(found, exact);
            assert!(difference < 1e-10 * scale, "{name} {what}: {difference:e}");
        };
        let points = component_major(&centroids(&new));
        close(&sampler.cells(&[&cells(&old)], &points, Limiter::None)[0], &cells(&new), "cells");
        close(&sampler.nodes(&nodes(&old), &component_major(&new.points)), &nodes(&new), "nodes");
        // Where the domains differ, the correction of the integral is added to the linear function.
        let without = |found: &Conserved| -> Vec<f64> {
            found.fields[0].iter().map(|value| value - found.correction[0]).collect()
        };
        let found = transfer.cells(&[&cells(&old)], Limiter::None);
        close(&without(&found), &cells(&new), "means");
        let projected = transfer.nodes(&nodes(&old));
        close(&without(&projected), &nodes(&new), "projection");
        for correction in [&found.correction, &projected.correction] {
            let limit = if has_planes { 1e-12 } else { 0.05 };
            assert!(correction[0].abs() < limit * scale, "{name}: {correction:?}");
        }
    }
}

#[test]
fn integrals_are_kept_to_round_off() {
    for (name, _) in MESHES {
        let (old, new, kept) = pair(name);
        let sampler = Arc::new(FieldSampler::new(&old).unwrap());
        let transfer =
            ConservativeTransfer::new(sampler.clone(), Arc::new(new.clone()), kept).unwrap();
        let rough =
            |p: &[f64; 3]| 2.0 + (31.0 * p[0]).sin() * (27.0 * p[1]).cos() + f64::from(p[0] > 0.4);
        let cells: Vec<f64> = centroids(&old).iter().map(rough).collect();
        let before = integral(&old, &cells);
        let is_positive = |state: &[f64]| state[0] > 0.0;
        for limiter in [Limiter::None, Limiter::Bounds, Limiter::Admissible(&is_positive)] {
            let found = transfer.cells(&[&cells], limiter);
            let after = integral(&new, &found.fields[0]);
            assert!(
                (after - before).abs() < 1e-13 * before,
                "{name} {limiter:?}: {before} {after}"
            );
        }
        let nodes: Vec<f64> = old.points.iter().map(rough).collect();
        let before = nodal_integral(&old, &nodes);
        let after = nodal_integral(&new, &transfer.nodes(&nodes).fields[0]);
        assert!((after - before).abs() < 1e-13 * before, "{name}: {before} {after}");
    }
}

#[test]
fn limited_means_keep_bounds_and_admissible_states() {
    for (name, has_planes) in MESHES {
        let (old, new, kept) = pair(name);
        let sampler = Arc::new(FieldSampler::new(&old).unwrap());
        let transfer =
            ConservativeTransfer::new(sampler.clone(), Arc::new(new.clone()), kept).unwrap();
        let middle =
            centroids(&old).iter().map(|p| p[0]).fold(0.0, |a, b| a + b) / old.n_cells() as f64;
        // A gas beside a strong discontinuity: density, momentum along x, total energy with a pressure of 1e-6 or 1.
        let state = |p: &[f64; 3]| match p[0] < middle {
            true => [1.0, 10.0, 50.0 + 2.5e-6],
            false => [0.01, 0.0, 2.5],
        };
        let states: Vec<[f64; 3]> = centroids(&old).iter().map(state).collect();
        let fields = [0, 1, 2].map(|k| states.iter().map(|s| s[k]).collect::<Vec<f64>>());
        let fields = fields.each_ref().map(Vec::as_slice);
        let pressure = |s: &[f64]| 0.4 * (s[2] - 0.5 * s[1] * s[1] / s[0]);
        let is_gas = |s: &[f64]| s[0] > 0.0 && pressure(s) > 0.0;
        let found = transfer.cells(&fields, Limiter::Admissible(&is_gas));
        for cell in 0..new.n_cells() {
            let state = [0, 1, 2].map(|k| found.fields[k][cell]);
            assert!(is_gas(&state), "{name}: {state:?}");
        }
        if has_planes {
            let bounded = transfer.cells(&fields, Limiter::Bounds);
            for (field, (low, high)) in bounded.fields.iter().zip([(0.01, 1.0), (0.0, 10.0)]) {
                let range = low - 1e-10..=high + 1e-10;
                assert!(field.iter().all(|value| range.contains(value)), "{name}");
            }
        }
        // Without a limiter the states are not those of a gas.
        let free = transfer.cells(&fields, Limiter::None).fields;
        let bad = (0..new.n_cells()).filter(|&c| !is_gas(&[free[0][c], free[1][c], free[2][c]]));
        assert!(bad.count() > 0, "{name}");
    }
}

#[test]
fn smooth_fields_converge_with_order_two() {
    let field = |p: &[f64; 3]| (2.0 * p[0]).sin() * (p[1] + 0.3).exp();
    let error = |n: usize| {
        let square = |cells: [usize; 2]| {
            let params = BoxParams {
                size: vec![1.0, 1.0],
                cells: cells.to_vec(),
                element: Some(Element::Triangle),
                ..BoxParams::default()
            };
            built(params.generate().unwrap())
        };
        let (old, new) = (square([n, n]), square([n + 1, n - 1]));
        let sampler = Arc::new(FieldSampler::new(&old).unwrap());
        let transfer =
            ConservativeTransfer::new(sampler.clone(), Arc::new(new.clone()), KeptParts::default())
                .unwrap();
        let exact = |mesh: &Mesh| centroids(mesh).iter().map(field).collect::<Vec<f64>>();
        let found = transfer.cells(&[&exact(&old)], Limiter::None).fields;
        let squares: Vec<f64> =
            found[0].iter().zip(exact(&new)).map(|(a, b)| (a - b) * (a - b)).collect();
        integral(&new, &squares).sqrt()
    };
    // The gradients of lattices are better than of first order, so that the coarse meshes converge faster.
    let errors = [20, 40, 80].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.85..2.5).contains(&order), "{errors:?}");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (old, new, kept) = pair("ball");
    let field: Vec<f64> = centroids(&old).iter().map(|p| (9.0 * p[0]).sin() + p[1]).collect();
    let nodes: Vec<f64> = old.points.iter().map(|p| (9.0 * p[0]).sin() + p[1]).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let sampler = Arc::new(FieldSampler::new(&old).unwrap());
            let transfer =
                ConservativeTransfer::new(sampler.clone(), Arc::new(new.clone()), kept.clone())
                    .unwrap();
            let points = component_major(&new.points);
            (
                transfer.cells(&[&field], Limiter::Bounds),
                transfer.nodes(&nodes),
                sampler.cells(&[&field], &points, Limiter::None),
            )
        })
    };
    let one = run(1);
    for threads in [2, 7] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
}

#[test]
fn places_outside_take_the_nearest_cell() {
    let (old, ..) = pair("ball");
    let sampler = Arc::new(FieldSampler::new(&old).unwrap());
    let values: Vec<f64> = centroids(&old).iter().map(plane).collect();
    let far = [[7.0, 3.0, -2.0], [0.0, 0.0, 1.5]];
    let found = &sampler.cells(&[&values], &component_major(&far), Limiter::None)[0];
    assert!(largest_difference(found, &far.each_ref().map(plane)) < 1e-8, "{found:?}");
    // With a limiter the values are those of the surface of the ball.
    let found = &sampler.cells(&[&values], &component_major(&far), Limiter::Bounds)[0];
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
    assert!(found.iter().all(|value| (low..=high).contains(value)), "{found:?}");
}

/// Prisms around a sphere, tetrahedra beyond them, and the mesh adapted to other sizes.
fn spheres() -> (Mesh, Mesh, KeptParts) {
    let params = SphereInBoxParams {
        size: [6.0; 3],
        surface_size: 0.3,
        far_size: 1.5,
        layers: 2,
        ..SphereInBoxParams::default()
    };
    let old = built(params.generate().unwrap());
    let metric = AnalyticMetric(|p: [f64; 3]| {
        Metric::isotropic(0.4 + 0.3 * (p[0] - 3.0).abs() + 0.1 * p[1], 3)
    });
    let options = AdaptOptions { passes: 4, rounds: 1, ..AdaptOptions::default() };
    let adapted = adapt(&old, &metric, &options).unwrap();
    let new = built(adapted.mesh);
    let kept = adapted.kept.numbered_as(&new);
    (old, new, kept)
}

#[test]
fn values_of_kept_cells_and_nodes_stay_bit_for_bit() {
    for (old, new, kept) in [spheres(), pair("airfoil")] {
        let is_simplex =
            |mesh: &Mesh, cell: usize| mesh.cells.shapes[cell].node_count() == mesh.dimension + 1;
        let others = (0..old.n_cells()).filter(|&cell| !is_simplex(&old, cell)).count();
        let n_kept = (0..new.n_cells()).filter(|&cell| kept.cell(cell).is_some()).count();
        assert!(others > 0 && n_kept == others && new.n_cells() != old.n_cells());
        for node in 0..new.n_nodes() {
            if let Some(before) = kept.node(node) {
                assert_eq!(new.points[node], old.points[before]);
            }
        }
        let sampler = Arc::new(FieldSampler::new(&old).unwrap());
        let transfer =
            ConservativeTransfer::new(sampler, Arc::new(new.clone()), kept.clone()).unwrap();
        let rough = |p: &[f64; 3]| 2.0 + (7.0 * p[0]).sin() * (5.0 * p[1]).cos() + p[2];
        let cells: Vec<f64> = centroids(&old).iter().map(rough).collect();
        let is_positive = |state: &[f64]| state[0] > 0.0;
        for limiter in [Limiter::None, Limiter::Bounds, Limiter::Admissible(&is_positive)] {
            let found = &transfer.cells(&[&cells], limiter).fields[0];
            for (cell, value) in found.iter().enumerate() {
                match kept.cell(cell) {
                    Some(before) => assert_eq!(*value, cells[before]),
                    None => assert!(is_simplex(&new, cell)),
                }
            }
            let [before, after] = [integral(&old, &cells), integral(&new, found)];
            assert!((after - before).abs() < 1e-13 * before, "{limiter:?}: {before} {after}");
        }
        let nodes: Vec<f64> = old.points.iter().map(rough).collect();
        let found = &transfer.nodes(&nodes).fields[0];
        for (node, value) in found.iter().enumerate() {
            if let Some(before) = kept.node(node) {
                assert_eq!(*value, nodes[before]);
            }
        }
        let [before, after] = [nodal_integral(&old, &nodes), nodal_integral(&new, found)];
        assert!((after - before).abs() < 1e-13 * before, "{before} {after}");
        // Linear fields are exact at any place, in the prisms too.
        let planar: Vec<f64> = centroids(&old).iter().map(plane).collect();
        let of_nodes: Vec<f64> = old.points.iter().map(plane).collect();
        let exact: Vec<f64> = centroids(&new).iter().map(plane).collect();
        let sampler = FieldSampler::new(&old).unwrap();
        let places = component_major(&centroids(&new));
        for found in [
            &sampler.cells(&[&planar], &places, Limiter::None)[0],
            &sampler.nodes(&of_nodes, &places),
            &transfer.cells(&[&planar], Limiter::None).fields[0],
        ] {
            assert!(largest_difference(found, &exact) < 1e-9);
        }
        let at_nodes: Vec<f64> = new.points.iter().map(plane).collect();
        assert!(largest_difference(&transfer.nodes(&of_nodes).fields[0], &at_nodes) < 1e-9);
    }
}

#[test]
fn other_cells_that_were_not_kept_are_refused() {
    let quadrilaterals = built(gmsh("quadrilaterals_coarse"));
    let triangles = built(gmsh("triangles_coarse"));
    let sampler = Arc::new(FieldSampler::new(&triangles).unwrap());
    let count = quadrilaterals.n_cells();
    let new = Arc::new(quadrilaterals);
    let error = ConservativeTransfer::new(sampler, new, KeptParts::default()).unwrap_err();
    let expected = format!(
        "{count} cells are no triangles and were not kept: fields cannot be transferred to them"
    );
    assert_eq!(error.to_string(), expected);
}
