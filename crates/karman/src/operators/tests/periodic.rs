//! Operators on periodic boxes: the neighbours of a cell are their images beside it.

use super::{ALL, On, Sample, difference, dot, largest, sample};
use crate::backend::testing::{everywhere, values};
use crate::mesh::generate::Element;
use crate::mesh::{EdgeTopology, Geometry, index_of};

/// Every element with displaced nodes, all pairs of patches periodic.
fn periodic() -> Vec<Sample> {
    let pairs = [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]];
    let of_element = |(element, dimension)| {
        let open = sample(element, dimension, 4, 0.2);
        // The opposite sides of a mixed 3D box match along y alone.
        let halves = element == Element::Mixed && dimension == 3;
        let pairs = if halves { &pairs[1..2] } else { &pairs[..dimension] };
        let mesh = open.mesh.connect_periodic(pairs).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        let edges = EdgeTopology::new(&mesh);
        Sample { name: format!("periodic {}", open.name), mesh, geometry, edges }
    };
    ALL.map(of_element).into()
}

/// From the centre of a cell to its neighbour's across each of its faces.
fn deltas(s: &Sample, cell: usize) -> Vec<(usize, [f64; 3])> {
    let of_face = |item: &u32| {
        let face = index_of(*item);
        if face >= s.mesh.n_interior_faces() {
            let (x, c) = (s.geometry.face_centre_of(face), s.geometry.cell_centre_of(cell));
            return (usize::MAX, [0, 1, 2].map(|k| x[k] - c[k]));
        }
        let (l, r) = (s.mesh.face_left[face] as usize, s.mesh.face_right[face] as usize);
        let (left, right) =
            (s.geometry.cell_centre_of(l), s.geometry.right_centre_of(&s.mesh, face));
        let (other, sign) = if l == cell { (r, 1.0) } else { (l, -1.0) };
        (other, [0, 1, 2].map(|k| sign * (right[k] - left[k])))
    };
    s.mesh.cell_to_faces.of(cell).iter().map(of_face).collect()
}

#[test]
fn least_squares_reach_across_periodic_faces() {
    for s in periodic() {
        let n = s.mesh.n_cells();
        let p = values(n, 1);
        let known = values(s.mesh.n_faces() - s.mesh.n_interior_faces(), 6);
        let ones = vec![1.0; known.len()];
        let at = |c: usize, k: usize, other: usize| {
            let face = index_of(s.mesh.cell_to_faces.of(c)[k]);
            if other == usize::MAX { known[face - s.mesh.n_interior_faces()] } else { p[other] }
        };
        for backend in everywhere() {
            let on = On::<f64>::new(&backend, &s);
            let g = on.least_squares(&p, &known, &ones);
            // The normal equations: Σ w d (d·g − Δp) = 0.
            for c in 0..n {
                let mut residual = [0.0; 3];
                for (k, (other, d)) in deltas(&s, c).into_iter().enumerate() {
                    let square: f64 = d.iter().map(|d| d * d).sum();
                    assert!(square < 1.0, "{}: {d:?}", s.name);
                    let along: f64 = (0..3).map(|i| d[i] * g[i * n + c]).sum();
                    let off = along - (at(c, k, other) - p[c]);
                    (0..3).for_each(|i| residual[i] += d[i] * off / square);
                }
                assert!(largest(&residual) < 1e-9, "{} {backend:?} {c}: {residual:?}", s.name);
            }
            let precomputed = on.precomputed_least_squares(&p, &known, &ones);
            let error = difference(&precomputed, &g) / largest(&g);
            assert!(error < 1e-10, "{} {backend:?}: {error:e}", s.name);
        }
    }
}

#[test]
fn interpolation_and_integration_are_exact_and_each_others_transpose() {
    for s in periodic() {
        let (n, n_faces, dimension) = (s.mesh.n_cells(), s.mesh.n_faces(), s.mesh.dimension);
        let v = [1.0, -2.0, if dimension == 2 { 0.0 } else { 0.5 }];
        let through = |f: usize| {
            let area = s.geometry.area_vector_of(f);
            (0..3).map(|k| area[k] * v[k]).sum::<f64>()
        };
        let uniform: Vec<f64> = (0..n_faces).map(through).collect();
        let (flux, u) = (values(n_faces, 2), values(3 * n, 3));
        let u: Vec<f64> =
            u.iter().enumerate().map(|(i, u)| if i / n < dimension { *u } else { 0.0 }).collect();
        for backend in everywhere() {
            let on = On::<f64>::new(&backend, &s);
            // Interpolation is exact on planar faces alone.
            if dimension == 2 || s.name.contains("tetrahedron") {
                let found = on.interpolate(&uniform);
                let error = (0..3 * n).map(|i| (found[i] - v[i / n]).abs()).fold(0.0, f64::max);
                assert!(error < 1e-12, "{} {backend:?}: {error:e}", s.name);
            }
            let weighted: Vec<f64> =
                (0..3 * n).map(|i| s.geometry.cell_volume[i % n] * u[i]).collect();
            let (a, b) = (dot(&on.interpolate(&flux), &weighted), dot(&flux, &on.integrate(&u)));
            assert!((a - b).abs() < 1e-11 * n_faces as f64, "{} {backend:?}: {a} {b}", s.name);
        }
    }
}

#[test]
fn face_values_are_corrected_for_skewness() {
    for s in periodic() {
        let (n, n_faces) = (s.mesh.n_cells(), s.mesh.n_faces());
        let (p, grad_p) = (values(n, 4), values(3 * n, 5));
        let known = values(n_faces - s.mesh.n_interior_faces(), 6);
        let ones = vec![1.0; known.len()];
        let want = |f: usize| {
            if f >= s.mesh.n_interior_faces() {
                return known[f - s.mesh.n_interior_faces()];
            }
            let (l, r) = (s.mesh.face_left[f] as usize, s.mesh.face_right[f] as usize);
            let x = s.geometry.face_centre_of(f);
            let (xl, xr) = (s.geometry.cell_centre_of(l), s.geometry.right_centre_of(&s.mesh, f));
            let normal = s.geometry.area_vector_of(f);
            let along = |a: [f64; 3], b: [f64; 3]| -> f64 {
                (0..3).map(|k| (b[k] - a[k]) * normal[k]).sum()
            };
            let w = along(x, xr) / (along(xl, x) + along(x, xr));
            let correction: f64 = (0..3)
                .map(|k| {
                    let g = w * grad_p[k * n + l] + (1.0 - w) * grad_p[k * n + r];
                    g * (x[k] - w * xl[k] - (1.0 - w) * xr[k])
                })
                .sum();
            w * p[l] + (1.0 - w) * p[r] + correction
        };
        let want: Vec<f64> = (0..n_faces).map(want).collect();
        for backend in everywhere() {
            let found = On::<f64>::new(&backend, &s).face_values(&p, &grad_p, &known, &ones);
            let error = difference(&found, &want);
            assert!(error < 1e-12, "{} {backend:?}: {error:e}", s.name);
        }
    }
}
