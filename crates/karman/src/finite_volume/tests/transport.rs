//! The implicit operator of a transport equation.

use super::On;
use crate::backend::Backend;
use crate::backend::testing::values;
use crate::operators::tests::samples_of_elements;

/// Every entry from the definition.
#[test]
fn the_transport_operator_is_inertia_diffusion_and_upwind_convection() {
    let backend = Backend::host(2).unwrap();
    for s in &samples_of_elements() {
        let mesh = &s.mesh;
        let (n, n_faces, inner) = (mesh.n_cells(), mesh.n_faces(), mesh.n_interior_faces());
        let (flux, conductance, x) = (values(n_faces, 1), values(n_faces, 2), values(n, 3));
        let on = On::<f64> { tail: 0, ..On::new(&backend, s) };
        let found = on.transport(&flux, &conductance, &x);
        for c in 0..n {
            // W with the factors 1.5 and 2 and the inertia 0.7; without inertia with 0.5 and 1.
            let (mut product, mut diagonal, mut other) = (0.7 * x[c], 0.7, 0.0);
            for f in 0..n_faces {
                let left = mesh.face_left[f] as usize;
                let right = (f < inner).then(|| mesh.face_right[f] as usize);
                let (sign, across) = match (left == c, right == Some(c)) {
                    (true, _) => (1.0, right),
                    (_, true) => (-1.0, Some(left)),
                    _ => continue,
                };
                let inflow = (-sign * flux[f]).max(0.0);
                let difference = x[c] - across.map_or(0.0, |across| x[across]);
                let coefficient = 1.5 * conductance[f].abs() + 2.0 * inflow;
                product += coefficient * difference;
                diagonal += coefficient;
                other += (0.5 * conductance[f].abs() + inflow) * difference;
            }
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
            assert!(close(found[c], product), "{}: {} {product}", s.name, found[c]);
            assert!(close(found[n + c], 1.0 / diagonal), "{}", s.name);
            assert!(close(found[2 * n + c], 0.5 * other), "{}", s.name);
        }
        // z ← z + D⁻¹ (x − W z), four times.
        let inverse = &found[n..2 * n];
        let mut z: Vec<f64> = x.iter().zip(inverse).map(|(x, d)| x * d).collect();
        for _ in 0..4 {
            let product = on.transport(&flux, &conductance, &z);
            (0..n).for_each(|c| z[c] += inverse[c] * (x[c] - product[c]));
        }
        for (found, z) in found[3 * n..].iter().zip(&z) {
            assert!((found - z).abs() < 1e-12 * (1.0 + z.abs()), "{}: {found} {z}", s.name);
        }
    }
}
