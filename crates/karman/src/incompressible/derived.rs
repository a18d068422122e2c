//! Fields derived from the velocity: names and values.

use super::{IncompressibleError, IncompressibleSolver};
use crate::descriptor::{Field, FieldData, FieldKey, Rank};
use crate::mesh::Mesh;
use crate::real::Real;
use karman_macros::Keyword;
use std::collections::VecDeque;

/// A field that follows from the velocity. The documentation of a variant is the text of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum DerivedField {
    /// the vorticity
    Vorticity,
    /// Q, positive where rotation dominates
    QCriterion,
    /// the streamfunction
    Streamfunction,
}

impl DerivedField {
    /// Its description.
    pub(super) const FIELDS: [Field; Self::ALL.len()] = {
        let mut fields = [Self::ALL[0].field(); Self::ALL.len()];
        let mut k = 0;
        while k < fields.len() {
            fields[k] = Self::ALL[k].field();
            k += 1;
        }
        fields
    };

    const fn field(self) -> Field {
        let scalar = Field {
            name: self.word(),
            rank: Rank::Scalar,
            units: "",
            meaning: self.meaning(),
            needs: &[],
            only_2d: false,
            initial: None,
            exact: None,
        };
        match self {
            DerivedField::Vorticity => Field {
                rank: Rank::Axial,
                units: "1/s",
                exact: Some(FieldKey {
                    default: "none",
                    meaning: "The exact vorticity ∂v/∂x − ∂u/∂y of a 2D flow.",
                    example: "vorticity = \"2*pi*cos(pi*x)\"",
                }),
                ..scalar
            },
            DerivedField::QCriterion => Field { units: "1/s²", ..scalar },
            DerivedField::Streamfunction => Field { units: "m²/s", only_2d: true, ..scalar },
        }
    }

    /// Its values in cells.
    ///
    /// # Errors
    /// Of the backend.
    pub fn evaluate<F: Real>(
        self,
        flow: &IncompressibleSolver<F>,
        mesh: &Mesh,
    ) -> Result<FieldData, IncompressibleError> {
        Ok(match self {
            DerivedField::Vorticity => {
                let vorticity = flow.vorticity(mesh)?;
                let component = |k: usize| -> Vec<f64> { vorticity.iter().map(|w| w[k]).collect() };
                match mesh.dimension {
                    2 => FieldData::Scalar(component(2)),
                    _ => FieldData::Vector([0, 1, 2].map(component)),
                }
            }
            DerivedField::QCriterion => {
                FieldData::Scalar(q_criterion(&flow.velocity_gradients(mesh)?))
            }
            DerivedField::Streamfunction => {
                FieldData::Scalar(streamfunction(mesh, &flow.read_f64(flow.flux())?))
            }
        })
    }
}

/// ∂u_i/∂x_j in cell `c`, from gradients `[component][3][n_cells]`.
fn derivative(gradients: &[Vec<f64>], i: usize, j: usize, c: usize) -> f64 {
    gradients.get(i).map_or(0.0, |g| g[j * (g.len() / 3) + c])
}

/// Q = (‖Ω‖² − ‖S‖²)/2 = −½ Σ ∂u_i/∂x_j ∂u_j/∂x_i (Hunt, Wray & Moin 1988), positive where rotation
/// dominates.
fn q_criterion(gradients: &[Vec<f64>]) -> Vec<f64> {
    let (n, d) = (gradients[0].len() / 3, gradients.len());
    let of_cell = |c: usize| {
        let mut sum = 0.0;
        for i in 0..d {
            for j in 0..d {
                sum += derivative(gradients, i, j, c) * derivative(gradients, j, i, c);
            }
        }
        -0.5 * sum
    };
    (0..n).map(of_cell).collect()
}

/// ψ with u = ∂ψ/∂y, v = −∂ψ/∂x on a 2D mesh, averaged over the nodes of each cell. Along a face from its
/// first to its second node, with the normal (dy, −dx), ψ grows by the flux through the face; divergence-free
/// fluxes make ψ independent of the path. Across periodic patches ψ grows by the flow between them. ψ is 0 at
/// the first boundary node of each connected component.
fn streamfunction(mesh: &Mesh, flux: &[f64]) -> Vec<f64> {
    let n = mesh.n_nodes();
    let mut around: Vec<Vec<(u32, f64)>> = vec![vec![]; n];
    let mut along = |nodes: &[u32], flux: f64| {
        around[nodes[0] as usize].push((nodes[1], flux));
        around[nodes[1] as usize].push((nodes[0], -flux));
    };
    flux.iter().enumerate().for_each(|(face, flux)| along(mesh.face_to_nodes.of(face), *flux));
    for (face, nodes) in mesh.periodic_pairs.iter().flat_map(|join| join.images(mesh)) {
        along(&nodes, flux[face]);
    }
    let mut psi = vec![f64::NAN; n];
    let boundary = (mesh.n_interior_faces()..mesh.n_faces()).map(|f| mesh.face_to_nodes.of(f)[0]);
    let mut queue = VecDeque::new();
    for start in boundary.chain(0..n as u32) {
        if psi[start as usize].is_nan() {
            psi[start as usize] = 0.0;
            queue.push_back(start);
        }
        while let Some(node) = queue.pop_front() {
            for (next, step) in &around[node as usize] {
                if psi[*next as usize].is_nan() {
                    psi[*next as usize] = psi[node as usize] + step;
                    queue.push_back(*next);
                }
            }
        }
    }
    let of_cell = |cell: usize| {
        let nodes = mesh.cells.nodes_of(cell);
        nodes.iter().map(|node| psi[*node as usize]).fold(0.0, |a, b| a + b) / nodes.len() as f64
    };
    (0..mesh.n_cells()).map(of_cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{BoxParams, Element};
    use crate::mesh::{Geometry, MeshOptions};

    #[test]
    fn a_solid_rotation_has_its_q_and_streamfunction() {
        // u = (−2y, 2x): Q = 4, ψ = −(x² + y²) up to a constant.
        let gradients = vec![vec![0.0, -2.0, 0.0], vec![2.0, 0.0, 0.0]];
        assert_eq!(q_criterion(&gradients)[0], 4.0);
        let params = BoxParams {
            size: vec![1.0, 1.0],
            cells: vec![6, 6],
            element: Some(Element::Triangle),
            jitter: 0.2,
            ..BoxParams::default()
        };
        let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        let at = |p: [f64; 3]| -(p[0] * p[0] + p[1] * p[1]);
        let flux: Vec<f64> = (0..mesh.n_faces())
            .map(|f| {
                let (x, s) = (geometry.face_centre_of(f), geometry.area_vector_of(f));
                -2.0 * x[1] * s[0] + 2.0 * x[0] * s[1]
            })
            .collect();
        let psi = streamfunction(&mesh, &flux);
        let mean = |c: usize| {
            let nodes = mesh.cells.nodes_of(c);
            nodes.iter().map(|n| at(mesh.points[*n as usize])).sum::<f64>() / nodes.len() as f64
        };
        let shift = psi[0] - mean(0);
        for (c, psi) in psi.iter().enumerate() {
            assert!((psi - mean(c) - shift).abs() < 1e-13, "{c}: {psi} {}", mean(c) + shift);
        }
    }

    #[test]
    fn a_rotation_about_an_oblique_axis_has_its_q() {
        // u = ω × x, ω = (1, 2, 3): Q = ω².
        let gradients = vec![vec![0.0, -3.0, 2.0], vec![3.0, 0.0, -1.0], vec![-2.0, 1.0, 0.0]];
        assert_eq!(q_criterion(&gradients)[0], 14.0);
    }
}
