//! The mesh that operators and solvers are measured on.

use super::{Bench, BenchError};
use crate::mesh::generate::{BoxParams, Element};
use crate::mesh::{Geometry, Mesh, MeshOptions};

/// The unit cube in jittered tetrahedra, renumbered.
pub struct TetrahedronMesh {
    /// Connectivity.
    pub mesh: Mesh,
    /// Sizes and centres.
    pub geometry: Geometry,
}

impl TetrahedronMesh {
    /// Builds the 6 m³ cells nearest to `cells`, and adds lines for the steps: entities are cells.
    pub fn new(bench: &mut Bench, cells: usize) -> Result<TetrahedronMesh, BenchError> {
        let m = ((cells as f64 / 6.0).cbrt().round() as usize).max(1);
        let n = 6 * m * m * m;
        let params = BoxParams {
            cells: vec![m; 3],
            element: Some(Element::Tetrahedron),
            jitter: 0.2,
            ..BoxParams::default()
        };
        let raw = bench
            .once("mesh: generation", n, || params.generate())
            .map_err(|reason| BenchError::Generate { cells, reason })?;
        let options = MeshOptions::default();
        let mesh = bench.once("mesh: numbering, connectivity", n, || Mesh::new(raw, &options))?;
        let geometry = bench.once("mesh: geometry", n, || Geometry::new(&mesh))?;
        Ok(TetrahedronMesh { mesh, geometry })
    }
}
