//! The implicit operator of a transport equation.

use super::On;
use crate::backend::Backend;
use crate::backend::testing::values;
use crate::finite_volume::transport::SWEEP_PAIRS;
use crate::operators::tests::samples_of_elements;

/// Every entry from the definition.
#[test]
fn the_transport_operator_is_inertia_diffusion_and_upwind_convection() {
    let backend = Backend::host(2).unwrap();
    for s in &samples_of_elements() {
        let mesh = &s.mesh;
        let (n, n_faces, inner) = (mesh.n_cells(), mesh.n_faces(), mesh.n_interior_faces());
        let (flux, conductance) = (values(n_faces, 1), values(n_faces, 2));
        for (dimension, beta) in [(1, 0.0), (2, 2.0), (3, 0.0), (3, 2.0)] {
            let x = values(dimension * n, 3);
            let on = On::<f64> { tail: 0, ..On::new(&backend, s) };
            let with_flux = (beta > 0.0).then_some(&flux[..]);
            let found = on.transport(with_flux, &conductance, &x);
            let mut dot = 0.0;
            for place in 0..dimension * n {
                let (c, x) = (place % n, &x[place - place % n..]);
                // W with the factor 1.5 of diffusion and the inertia 0.7.
                let (mut product, mut diagonal) = (0.7 * x[c], 0.7);
                for f in 0..n_faces {
                    let left = mesh.face_left[f] as usize;
                    let right = (f < inner).then(|| mesh.face_right[f] as usize);
                    let (sign, across) = match (left == c, right == Some(c)) {
                        (true, _) => (1.0, right),
                        (_, true) => (-1.0, Some(left)),
                        _ => continue,
                    };
                    let difference = x[c] - across.map_or(0.0, |across| x[across]);
                    let coefficient =
                        1.5 * conductance[f].abs() + beta * (-sign * flux[f]).max(0.0);
                    product += coefficient * difference;
                    diagonal += coefficient;
                }
                dot += product * x[c];
                let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
                assert!(close(found[place], product), "{}: {} {product}", s.name, found[place]);
                assert!(close(found[dimension * n + place], 1.0 / diagonal), "{}", s.name);
            }
            let (unknowns, sum) = (dimension * n, found[3 * dimension * n]);
            assert!((sum - dot).abs() < 1e-10 * (1.0 + dot.abs()), "{}: {sum} {dot}", s.name);
            // z ← z + D⁻¹ (x − W z), twice for each pair of sweeps.
            let inverse = &found[unknowns..2 * unknowns];
            let mut z: Vec<f64> = x.iter().zip(inverse).map(|(x, d)| x * d).collect();
            for _ in 0..2 * SWEEP_PAIRS {
                let product = on.transport(with_flux, &conductance, &z);
                (0..unknowns).for_each(|k| z[k] += inverse[k] * (x[k] - product[k]));
            }
            for (found, z) in found[2 * unknowns..3 * unknowns].iter().zip(&z) {
                assert!((found - z).abs() < 1e-12 * (1.0 + z.abs()), "{}: {found} {z}", s.name);
            }
        }
    }
}
