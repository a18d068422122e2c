//! Metrics given by the entries of tensors at the nodes of a mesh.

use crate::error::AdaptError;
use crate::metric::Metric;
use karman_mesh::{Mesh, Place};

/// Largest difference of the entries (i, j) and (j, i) of a symmetric tensor over its largest entry: that of single precision.
const SYMMETRIC: f64 = 1e-6;

/// The metrics of tensors at the nodes of `mesh`. `components` has the entries, each `[n_nodes]` in the order of the nodes:
/// in 3D 6 (xx, yy, zz, xy, yz, xz, the order of VTK) or 9 (row by row), in 2D 3 (xx, xy, yy), 4 (row by row), or those of 3D, of
/// which the entries of the plane are taken.
///
/// # Errors
/// [`AdaptError::Components`] for another number, [`AdaptError::NotSymmetric`] and [`AdaptError::NotPositive`] with the place of the
/// first node whose tensor is no metric.
pub fn metrics_of_tensors(mesh: &Mesh, components: &[&[f64]]) -> Result<Vec<Metric>, AdaptError> {
    let dimension = mesh.dimension;
    // Components of the entries (1,1), (1,2), (1,3), (2,2), (2,3), (3,3), and pairs of components that are equal.
    let (entries, pairs): ([usize; 6], &[[usize; 2]]) = match (dimension, components.len()) {
        (2, 3) => ([0, 1, 0, 2, 0, 0], &[]),
        (2, 4) => ([0, 1, 0, 3, 0, 0], &[[1, 2]]),
        (2, 9) => ([0, 1, 0, 4, 0, 0], &[[1, 3]]),
        (2 | 3, 6) => ([0, 3, 5, 1, 4, 2], &[]),
        (3, 9) => ([0, 1, 2, 4, 5, 8], &[[1, 3], [2, 6], [5, 7]]),
        (_, found) => return Err(AdaptError::Components { found, dimension }),
    };
    let metric_of = |node: usize| {
        let value = |component: usize| components[component][node];
        let largest = (0..components.len()).map(|c| value(c).abs()).fold(0.0, f64::max);
        let differs = |pair: &&[usize; 2]| {
            let [upper, lower] = pair.map(value);
            (upper - lower).abs() > SYMMETRIC * largest
        };
        let place = Place(mesh.points[node]);
        if let Some(pair) = pairs.iter().find(differs) {
            return Err(AdaptError::NotSymmetric { place, entries: pair.map(value) });
        }
        let tensor = Metric::from_entries(entries.map(value));
        let metric = match dimension {
            2 => Metric { xz: 0.0, yz: 0.0, zz: 1.0, ..tensor },
            _ => tensor,
        };
        if !metric.is_positive_definite() {
            let eigenvalues = metric.eigen().values;
            return Err(AdaptError::NotPositive { place, eigenvalues });
        }
        Ok(metric)
    };
    (0..mesh.n_nodes()).map(metric_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::cube::cube;
    use karman_mesh::MeshOptions;
    use karman_mesh::testing::gmsh;

    fn of(mesh: &Mesh, tensor: &[f64]) -> Result<Vec<Metric>, AdaptError> {
        let components: Vec<Vec<f64>> = tensor.iter().map(|e| vec![*e; mesh.n_nodes()]).collect();
        let slices: Vec<&[f64]> = components.iter().map(Vec::as_slice).collect();
        metrics_of_tensors(mesh, &slices)
    }

    #[test]
    fn entries_are_read_in_the_order_of_their_number() {
        let (square, cube) =
            (Mesh::new(gmsh("triangles_coarse"), &MeshOptions::default()).unwrap(), cube(2));
        let plane = Metric { xx: 4.0, xy: 1.0, yy: 9.0, zz: 1.0, ..Metric::ZERO };
        let rows = [4.0, 1.0, 2.0, 1.0, 9.0, 3.0, 2.0, 3.0, 16.0];
        for tensor in
            [&[4.0, 1.0, 9.0][..], &[4.0, 1.0, 1.0, 9.0], &[4.0, 9.0, 7.0, 1.0, 8.0, 8.0], &rows]
        {
            assert_eq!(of(&square, tensor).unwrap()[5], plane, "{tensor:?}");
        }
        let solid = Metric { xx: 4.0, xy: 1.0, xz: 2.0, yy: 9.0, yz: 3.0, zz: 16.0 };
        for tensor in [&[4.0, 9.0, 16.0, 1.0, 3.0, 2.0][..], &rows] {
            assert_eq!(of(&cube, tensor).unwrap()[5], solid, "{tensor:?}");
        }
    }

    #[test]
    fn tensors_that_are_no_metrics_are_refused_with_their_place() {
        let cube = cube(2);
        for (tensor, expected) in [
            (&[1.0, 2.0, 3.0][..], "a metric of 3D has 6 components"),
            (&[1.0; 4], "4 given"),
            (
                &[1.0, 0.5, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0, 1.0],
                "is not symmetric: 0.5 and 0.4 in its places (i, j) and (j, i)",
            ),
            (&[1.0, 0.0, 1.0, 0.0, 0.0, 0.0], "is not positive definite"),
            (&[1.0, f64::NAN, 1.0, 0.0, 0.0, 0.0], "is not positive definite"),
        ] {
            let message = of(&cube, tensor).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        let flat = Mesh::new(gmsh("triangles_coarse"), &MeshOptions::default()).unwrap();
        let message = of(&flat, &[1.0; 5]).unwrap_err().to_string();
        assert!(message.contains("a metric of 2D has 3 components (xx, xy, yy)"), "{message}");
    }
}
