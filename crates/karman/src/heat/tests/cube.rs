//! The unit cube with one hot face: order of accuracy away from the rim of that face, where the
//! prescribed temperatures are discontinuous.
//!
//! The discontinuity limits the error near the rim to first order in L2 and pollutes the rest of the cube at
//! second order only: the error of a face's heat flow there is O(h), the Green function vanishes on both
//! walls and so varies by O(h²) over a cell at the rim, and 1/h cells lie along it.

use super::*;
use rayon::prelude::*;
use std::f64::consts::PI;

/// Distance from the rim within which errors are not counted.
const AWAY: f64 = 0.25;

/// Height above which the series of the five other faces is used.
const SPLIT: f64 = 0.8;

/// Terms smaller than exp(−NEGLIGIBLE) are omitted.
const NEGLIGIBLE: f64 = 34.0;

/// Temperature in the unit cube whose face ζ = 1 is at 1 and the others at 0:
/// Σ 16/(mnπ²) sin(mπξ) sin(nπη) sinh(γζ)/sinh γ over odd m and n, γ = π√(m² + n²).
fn one_hot_face(xi: f64, eta: f64, zeta: f64) -> f64 {
    let gap = 1.0 - zeta;
    let largest = NEGLIGIBLE / (PI * gap);
    let odd = || (1..).step_by(2).map(f64::from).take_while(|m| *m < largest);
    let sines: Vec<f64> = odd().map(|n| (n * PI * eta).sin() / n).collect();
    let mut total = 0.0;
    for m in odd() {
        let of_m = (m * PI * xi).sin() / m;
        for (n, of_n) in odd().zip(&sines) {
            let gamma = PI * m.hypot(n);
            if gamma * gap > NEGLIGIBLE {
                break;
            }
            let ratio = (1.0 - (-2.0 * gamma * zeta).exp()) / (1.0 - (-2.0 * gamma).exp());
            total += of_m * of_n * ratio * (-gamma * gap).exp();
        }
    }
    16.0 / (PI * PI) * total
}

/// T with z = 1 at 600 and the other faces at 300. Near the hot face, where its series converges slowly, 1
/// minus the series of the five other faces.
fn exact_cube([x, y, z]: [f64; 3]) -> f64 {
    let hot = if z < SPLIT {
        one_hot_face(x, y, z)
    } else {
        let sides = one_hot_face(y, z, x)
            + one_hot_face(y, z, 1.0 - x)
            + one_hot_face(x, z, y)
            + one_hot_face(x, z, 1.0 - y);
        1.0 - sides - one_hot_face(x, y, 1.0 - z)
    };
    300.0 + 300.0 * hot
}

fn is_away_from_the_rim([x, y, z]: [f64; 3]) -> bool {
    let to_wall = x.min(1.0 - x).min(y.min(1.0 - y));
    to_wall.hypot(1.0 - z) >= AWAY
}

#[test]
fn the_series_has_its_known_values() {
    // Along the axis; both forms of the series are used.
    for (z, known) in
        [(0.1, 305.216357), (0.25, 315.304921), (0.5, 350.0), (0.75, 437.426044), (0.9, 528.142009)]
    {
        let found = exact_cube([0.5, 0.5, z]);
        assert!((found - known).abs() < 1e-6, "{z}: {found}");
    }
    for [x, y] in [[0.3, 0.4], [0.2, 0.55]] {
        let (direct, complement) = (one_hot_face(x, y, SPLIT), exact_cube([x, y, SPLIT]));
        assert!((300.0 + 300.0 * direct - complement).abs() < 1e-9, "{direct} {complement}");
    }
    assert!((exact_cube([0.5, 0.5, 1.0]) - 600.0).abs() < 1e-10);
    assert!((exact_cube([0.5, 0.0, 0.6]) - 300.0).abs() < 1e-10);
}

/// L2 error over the unknowns away from the rim, weighted by their volumes.
fn cube_error(element: Element, n: usize, discretization: Discretization) -> f64 {
    let (mesh, geometry) = box_mesh(element, n, 0.2);
    let backend = Backend::host(2).unwrap();
    let condition = |patch: &crate::mesh::Patch| {
        let value = if patch.name == "zmax" { 600.0 } else { 300.0 };
        Condition::Dirichlet(Arc::new(value))
    };
    let problem = Problem {
        discretization,
        material: Material::uniform(mesh.n_cells(), 1.0, 1.0),
        sources: vec![],
        conditions: mesh.patches.iter().map(condition).collect(),
        initial: Arc::new(300.0),
    };
    let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
    let params = Params { relative_tolerance: 1e-10, ..with_multigrid() };
    let outcome = heat.solve_steady(&params).unwrap();
    assert!(outcome.is_converged(), "{element:?} {n}: {outcome}");
    let temperature = backend.read(heat.temperature()).unwrap();
    let (volumes, points): (Vec<f64>, Vec<[f64; 3]>) = match discretization {
        Discretization::Cell { .. } => {
            let centre = |c| geometry.cell_centre_of(c);
            (geometry.cell_volume.clone(), (0..mesh.n_cells()).map(centre).collect())
        }
        Discretization::Node => (node_centred::node_volumes(&mesh), mesh.points.clone()),
    };
    let counted: Vec<usize> =
        (0..points.len()).filter(|i| is_away_from_the_rim(points[*i])).collect();
    let squares: Vec<f64> = counted
        .par_iter()
        .map(|i| volumes[*i] * (temperature[*i] - exact_cube(points[*i])).powi(2))
        .collect();
    let volume: f64 = counted.iter().map(|i| volumes[*i]).sum();
    (squares.iter().sum::<f64>() / volume).sqrt()
}

/// Slope of the logarithm of the error over that of the spacing, fitted to all meshes.
fn fitted_order(sizes: &[usize], errors: &[f64]) -> f64 {
    let points: Vec<[f64; 2]> =
        sizes.iter().zip(errors).map(|(n, e)| [-(*n as f64).ln(), e.ln()]).collect();
    let mean = |k: usize| points.iter().map(|p| p[k]).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(0), mean(1));
    let covariance: f64 = points.iter().map(|p| (p[0] - x) * (p[1] - y)).sum();
    covariance / points.iter().map(|p| (p[0] - x).powi(2)).sum::<f64>()
}

const DISCRETIZATIONS: [Discretization; 2] =
    [Discretization::Cell { corrected: true }, Discretization::Node];

fn assert_second_order(cases: [(Element, &[usize]); 5]) {
    let mut orders = vec![];
    for discretization in DISCRETIZATIONS {
        for (element, sizes) in cases {
            let errors: Vec<f64> =
                sizes.iter().map(|n| cube_error(element, *n, discretization)).collect();
            let order = fitted_order(sizes, &errors);
            eprintln!("{element:?} {discretization:?} {sizes:?}: {errors:.4?}, order {order:.3}");
            orders.push((element, discretization, order));
        }
    }
    let low: Vec<_> = orders.iter().filter(|(.., order)| *order < 1.9).collect();
    assert!(low.is_empty(), "{low:?}");
}

/// The coarsest meshes have three cells in the excluded distance. On coarser meshes, where the error of the
/// rim is included, the fit depends on the jitter: 1.898 for corrected tetrahedra of 6 to 16 cells an edge.
#[test]
fn away_from_the_hot_rim_the_error_of_the_cube_falls_with_the_square_of_the_spacing() {
    assert_second_order([
        (Element::Tetrahedron, &[12, 18]),
        (Element::Hexahedron, &[12, 18, 27]),
        (Element::Prism, &[15, 22]),
        (Element::Pyramid, &[12, 18]),
        (Element::Mixed, &[12, 18]),
    ]);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p karman --lib finer_cubes -- --ignored --nocapture"]
fn finer_cubes_have_second_order_too() {
    assert_second_order([
        (Element::Tetrahedron, &[8, 12, 18, 27, 40]),
        (Element::Hexahedron, &[12, 18, 27, 40, 60]),
        (Element::Prism, &[10, 15, 22, 33, 50]),
        (Element::Pyramid, &[8, 12, 18, 27, 40]),
        (Element::Mixed, &[8, 12, 18, 27, 40]),
    ]);
}
