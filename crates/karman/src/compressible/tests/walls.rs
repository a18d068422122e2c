//! Curved walls: entropy errors around a cylinder.

use super::exact::{GAMMA, numerics, problem};
use crate::backend::Backend;
use crate::compressible::face_points::FaceRule;
use crate::compressible::wall_normals::wall_normals;
use crate::compressible::{CompressibleBoundaryCondition, CompressibleSolver, Reconstruction};
use crate::mesh::generate::BoxParams;
use crate::mesh::generate::{AnnulusParams, Element};
use crate::mesh::geometry::norm;
use crate::mesh::quadrature::{CellMoments, Degree};
use crate::mesh::testing::{built, gmsh};
use crate::mesh::{Geometry, Mesh};
use rayon::prelude::*;

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

/// The fitted normals at the points of a patch, with their places and the normals of the facets.
fn normals_of(mesh: &Mesh, geometry: &Geometry, patch: &str) -> Vec<[[f64; 3]; 3]> {
    let moments = CellMoments::new(mesh, geometry);
    let rule = FaceRule::new(mesh, geometry, &moments, Degree::Two);
    let faces = mesh.patches.iter().find(|p| p.name == patch).unwrap().faces.clone();
    let points = rule.offsets[faces.start] as usize..rule.offsets[faces.end] as usize;
    let all = faces.clone().into_par_iter();
    let normals = wall_normals((mesh, geometry), Degree::Two, faces, all);
    let facet = |k: usize| rule.area[k].map(|s| s / norm(rule.area[k]));
    points.clone().map(|k| [rule.at[k], normals[k - points.start], facet(k)]).collect()
}

/// A ramp of 15° is two planes; before, the normals of the facets at its edge were those of a smooth surface.
#[test]
fn an_edge_between_planes_has_the_normals_of_both() {
    for element in [Element::Triangle, Element::Tetrahedron, Element::Hexahedron] {
        let d = if element == Element::Triangle { 2 } else { 3 };
        let params = BoxParams {
            size: vec![1.0; d],
            cells: vec![6; d],
            element: Some(element),
            ..BoxParams::default()
        };
        let mut raw = params.generate().unwrap();
        let slope = 15.0_f64.to_radians().tan();
        raw.points.iter_mut().for_each(|x| x[1] += slope * (x[0] - 0.5).max(0.0) * (1.0 - x[1]));
        let (mesh, geometry) = built(raw);
        let found = normals_of(&mesh, &geometry, "ymin");
        assert!(!found.is_empty());
        for [place, fitted, facet] in found {
            let far = norm([0, 1, 2].map(|k| fitted[k] - facet[k]));
            assert!(far < 1e-9, "{element:?} {place:?}: {fitted:?} {facet:?}");
        }
    }
}

/// The wall of a pipe of Gmsh triangles: normals of the facets have errors of first order, fitted ones of second.
#[test]
fn normals_of_a_pipe_are_second_order() {
    let error = |name: &str, fitted: bool| {
        let (mesh, geometry) = built(gmsh(name));
        let (mut largest, mut sum, mut count) = (0.0_f64, 0.0, 0.0);
        for [x, of_fit, facet] in normals_of(&mesh, &geometry, "wall") {
            let radius = x[0].hypot(x[1]);
            let n = if fitted { of_fit } else { facet };
            let off = norm([n[0] - x[0] / radius, n[1] - x[1] / radius, n[2]]);
            largest = largest.max(off);
            sum += off * off;
            count += 1.0;
        }
        (largest, f64::sqrt(sum / count))
    };
    let names = ["pipe_coarse", "pipe_medium", "pipe_fine"];
    let of_fit = names.map(|name| error(name, true));
    let of_facets = names.map(|name| error(name, false));
    let order = (of_fit[0].1 / of_fit[2].1).log2();
    assert!(order > 1.6, "{of_fit:?} {order}");
    assert!(of_fit[2].0 < 0.5 * of_facets[2].0, "{of_fit:?} {of_facets:?}");
}
