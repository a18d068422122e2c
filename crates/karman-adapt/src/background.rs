//! A metric given at the nodes of a mesh, interpolated between them.

use crate::field::MetricField;
use crate::metric::Metric;
use crate::walk::CellWalk;
use karman_mesh::Mesh;

/// The metric of the nodes of a mesh of simplices, interpolated log-Euclideanly: exp Σ λᵢ ln Mᵢ with the barycentric coordinates λᵢ
/// of the cell that contains the place (Arsigny et al., *Magnetic Resonance in Medicine* 56, 2006). A place outside the mesh, as
/// beside a curved boundary, has the metric at the nearest place of the cell before it.
#[derive(Debug)]
pub struct NodalMetric {
    walk: CellWalk,
    logarithms: Vec<Metric>,
}

impl NodalMetric {
    /// The metric of `metrics`, one for each node of `mesh`, all positive definite.
    pub fn new(mesh: &Mesh, metrics: &[Metric]) -> Self {
        let logarithms = metrics.iter().map(Metric::logarithm).collect();
        NodalMetric { walk: CellWalk::new(mesh), logarithms }
    }
}

impl MetricField for NodalMetric {
    fn at(&self, point: [f64; 3], hint: u32) -> (Metric, u32) {
        let (cell, shares) = self.walk.locate(point, hint);
        let clipped = shares.map(|share| share.max(0.0));
        let total: f64 = clipped.iter().fold(0.0, |sum, share| sum + share);
        let mut sum = Metric::ZERO;
        for (node, share) in self.walk.cells[cell as usize].into_iter().zip(clipped) {
            sum = sum.add(&self.logarithms[node as usize].scale(share / total));
        }
        (sum.exponential(), cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::Point;
    use karman_mesh::MeshOptions;
    use karman_mesh::testing::gmsh;

    #[test]
    fn a_size_that_varies_exponentially_is_reproduced_on_meshes_of_gmsh() {
        for name in ["pipe_coarse", "tee", "ball", "triangles_coarse"] {
            let mesh = Mesh::new(gmsh(name), &MeshOptions::default()).unwrap();
            let exact = |p: Point| Metric {
                xx: (2.0 * p[0] + p[1]).exp(),
                yy: (p[1] - p[0]).exp(),
                zz: if mesh.dimension == 2 { 1.0 } else { (3.0 * p[2]).exp() },
                ..Metric::ZERO
            };
            let metrics: Vec<Metric> = mesh.points.iter().map(|&point| exact(point)).collect();
            let field = NodalMetric::new(&mesh, &metrics);
            let mut hint = 0;
            for cell in (0..mesh.n_cells()).step_by(7).rev() {
                let nodes = mesh.cells.nodes_of(cell);
                let mut point = [0.0; 3];
                for &node in nodes {
                    (0..3).for_each(|k| {
                        point[k] += mesh.points[node as usize][k] / nodes.len() as f64
                    });
                }
                let (found, next) = field.at(point, hint);
                assert_eq!(next, cell as u32, "{name}");
                hint = if cell % 2 == 0 { next } else { 0 };
                for (a, b) in found.entries().into_iter().zip(exact(point).entries()) {
                    assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{name}: {a} {b}");
                }
            }
        }
    }
}
