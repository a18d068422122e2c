//! Stencils on lattices and on meshes of Gmsh.

use super::*;
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::testing::{built, gmsh};

fn stencils(mesh: &Mesh, geometry: &Geometry, degree: Reconstruction) -> (CellMoments, Stencils) {
    let moments = CellMoments::new(mesh, geometry);
    let stencils = Stencils::new(mesh, geometry, &moments, degree);
    (moments, stencils)
}

/// A polynomial and its coefficients about a point, by the order of terms of three dimensions.
fn polynomial([x, y, z]: [f64; 3]) -> f64 {
    1.0 + 0.3 * x - 0.7 * y + 0.2 * z + 0.5 * x * x - 0.4 * x * y + 0.6 * x * z - 0.1 * y * y
        + 0.8 * y * z
        - 0.3 * z * z
}

fn coefficients([x, y, z]: [f64; 3], dimension: usize) -> Vec<f64> {
    let gradient = [
        0.3 + x - 0.4 * y + 0.6 * z,
        -0.7 - 0.4 * x - 0.2 * y + 0.8 * z,
        0.2 + 0.6 * x + 0.8 * y - 0.6 * z,
    ];
    match dimension {
        2 => vec![gradient[0], gradient[1], 0.5, -0.4, -0.1],
        _ => [&gradient[..], &[0.5, -0.4, 0.6, -0.1, 0.8, -0.3]].concat(),
    }
}

/// The mean of the polynomial over a cell: its value at the centroid and its second derivatives with the second moments.
fn mean(moments: &CellMoments, cell: usize, dimension: usize) -> f64 {
    let all = coefficients(moments.centre[cell], 3);
    let g = moments.second[cell];
    let in_dimension = |k: usize| dimension == 3 || ![2, 4, 5].contains(&k);
    let curved = (0..6).filter(|k| in_dimension(*k)).map(|k| all[3 + k] * g[k]);
    polynomial(moments.centre[cell]) + curved.fold(0.0, |a, b| a + b)
}

#[test]
fn coefficients_of_quadratic_polynomials_are_exact() {
    for name in [
        "triangles_coarse",
        "quadrilaterals_coarse",
        "pipe_coarse",
        "cube_prism_coarse",
        "ball",
        "cube_hexahedron_coarse",
    ] {
        let (mesh, geometry) = built(gmsh(name));
        let (moments, found) = stencils(&mesh, &geometry, Reconstruction::Quadratic);
        let d = mesh.dimension;
        let share = found.reduced as f64 / mesh.n_cells() as f64;
        // Most cells of the coarsest pipe are at its wall.
        let allowed = if name == "pipe_coarse" { 0.12 } else { 0.02 };
        assert!(share < allowed, "{name}: {} of {} cells reduced", found.reduced, mesh.n_cells());
        let mut exact = 0;
        for cell in 0..mesh.n_cells() {
            let range = found.offsets[cell] as usize..found.offsets[cell + 1] as usize;
            let own = mean(&moments, cell, d);
            let expected = coefficients(moments.centre[cell], d);
            let error = (0..found.terms).map(|m| {
                let terms = range.clone().map(|k| {
                    let other = mean(&moments, found.cells[k] as usize, d);
                    found.weights[k * found.terms + m] * (other - own)
                });
                (terms.fold(0.0, |a, b| a + b) - expected[m]).abs()
            });
            exact += usize::from(error.fold(0.0, f64::max) < 1e-7);
        }
        assert_eq!(exact, mesh.n_cells() - found.reduced, "{name}");
    }
}

#[test]
fn six_pyramids_of_a_block_take_more_than_two_levels() {
    let params = BoxParams {
        cells: vec![4; 3],
        element: Some(Element::Pyramid),
        jitter: 0.2,
        ..BoxParams::default()
    };
    let (mesh, geometry) = built(params.generate().unwrap());
    let (_, found) = stencils(&mesh, &geometry, Reconstruction::Quadratic);
    assert!(found.levels[1] + found.levels[2] == 0, "{:?}", found.levels);
    assert_eq!(found.histogram(mesh.n_cells()).iter().sum::<usize>(), mesh.n_cells());
}

#[test]
fn one_layer_of_prisms_has_polynomials_of_its_plane() {
    let params = BoxParams {
        size: vec![1.0, 1.0, 0.1],
        cells: vec![6, 6, 1],
        element: Some(Element::Prism),
        ..BoxParams::default()
    };
    let (mesh, geometry) = built(params.generate().unwrap());
    let (_, found) = stencils(&mesh, &geometry, Reconstruction::Quadratic);
    assert_eq!(found.reduced, 0);
    for (k, weights) in found.weights.chunks(found.terms).enumerate() {
        // z, xz, yz, z².
        for m in [2, 5, 7, 8] {
            assert!(weights[m].abs() < 1e-9, "{k}: {weights:?}");
        }
    }
}
