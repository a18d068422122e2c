//! The two-point heat equation on the cube of the benchmarks: Dirichlet conditions, one face hot, the
//! others at 300.

use super::BenchError;
use super::mesh::TetrahedronMesh;
use karman::finite_volume::diffusion::discretize;
use karman::finite_volume::{CellScheme, Condition, Material};
use karman::linear::CsrMatrix;
use std::sync::Arc;

/// Temperature of the hot face, in steady cases.
pub(super) const HOT: f64 = 600.0;
/// Temperature of the other faces.
pub(super) const COLD: f64 = 300.0;
/// The hot face.
const HOT_FACE: &str = "zmax";

/// A T = cold + T_hot hot with a_ij = s_ij / d_ij, conductivity and heat capacity being 1.
pub(super) struct System {
    /// A: [n] rows.
    pub(super) matrix: CsrMatrix<f64>,
    /// Boundary contribution of the cold faces: [n].
    pub(super) cold: Vec<f64>,
    /// Boundary contribution of the hot face per degree: [n].
    pub(super) hot: Vec<f64>,
    /// Volumes: [n].
    pub(super) mass: Vec<f64>,
    /// s/d of each face: [faces].
    pub(super) conductances: Vec<f64>,
}

impl System {
    /// The system of a mesh.
    pub(super) fn new(m: &TetrahedronMesh) -> Result<System, BenchError> {
        let (mesh, geometry) = (&m.mesh, &m.geometry);
        let material = Material::uniform(mesh.n_cells(), 1.0, 1.0);
        let temperature = |name: &str| if name == HOT_FACE { HOT } else { COLD };
        let conditions: Vec<Condition> = mesh
            .patches
            .iter()
            .map(|patch| Condition::Dirichlet(Arc::new(temperature(&patch.name))))
            .collect();
        let (heat, boundary) = discretize(mesh, geometry, &material, &conditions, false)?;
        let scheme = CellScheme::new(mesh, geometry, &material.conductivity, &boundary, false);
        let conductances = scheme.conductances();
        let (mut cold, mut hot) = (vec![0.0; mesh.n_cells()], vec![0.0; mesh.n_cells()]);
        for patch in &mesh.patches {
            for face in patch.faces.clone() {
                let cell = mesh.face_left[face] as usize;
                match patch.name == HOT_FACE {
                    true => hot[cell] += conductances[face],
                    false => cold[cell] += conductances[face] * COLD,
                }
            }
        }
        Ok(System { matrix: heat.matrix, cold, hot, mass: heat.mass, conductances })
    }

    /// cold + T hot.
    pub(super) fn right_side(&self, hot: f64) -> Vec<f64> {
        self.cold.iter().zip(&self.hot).map(|(c, h)| c + hot * h).collect()
    }

    /// Whether a cell has a face on the boundary: [n].
    pub(super) fn boundary(&self) -> Vec<bool> {
        self.cold.iter().zip(&self.hot).map(|(c, h)| *c > 0.0 || *h > 0.0).collect()
    }
}
