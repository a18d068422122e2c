//! Timing of mesh set-up, and the mesh of the benchmarks of operators and solvers.

use super::{Bench, BenchError};
use karman::backend::Backend;
use karman::mesh::files::gmsh::{self, GmshFormat};
use karman::mesh::files::parse_mesh;
use karman::mesh::generate::{BoxParams, Element};
use karman::mesh::{EdgeTopology, Geometry, Mesh, MeshOptions, RawMesh, Renumbering};

/// The unit cube in jittered tetrahedra, renumbered.
pub struct TetrahedronMesh {
    /// Connectivity.
    pub mesh: Mesh,
    /// Volumes, areas and centres.
    pub geometry: Geometry,
}

impl TetrahedronMesh {
    /// Builds the 6 m³ cells nearest to `cells` on the threads of `backend`.
    ///
    /// # Errors
    /// [`BenchError::Generate`], [`BenchError::Mesh`].
    pub fn new(backend: &Backend, cells: usize) -> Result<TetrahedronMesh, BenchError> {
        backend.install(|| {
            let mesh = Mesh::new(raw_mesh(cells)?, &MeshOptions::default())?;
            let geometry = Geometry::new(&mesh)?;
            Ok(TetrahedronMesh { mesh, geometry })
        })
    }
}

fn raw_mesh(cells: usize) -> Result<RawMesh, BenchError> {
    let m = ((cells as f64 / 6.0).cbrt().round() as usize).max(1);
    let params = BoxParams {
        cells: vec![m; 3],
        element: Some(Element::Tetrahedron),
        jitter: 0.2,
        ..BoxParams::default()
    };
    params.generate().map_err(|reason| BenchError::Generate { cells, reason })
}

/// Times the stages from a file's content to a mesh; entities are cells, bytes those of the file.
///
/// # Errors
/// [`BenchError::Generate`], [`BenchError::File`], [`BenchError::Mesh`].
pub(super) fn set_up(bench: &mut Bench, cells: usize) -> Result<(), BenchError> {
    let raw = bench.backend.install(|| raw_mesh(cells))?;
    let n = raw.cells.len();
    bench.few("generation", n, 0.0, || (), |()| raw_mesh(cells))?;
    for (name, format) in [
        ("reading Gmsh 2.2 ASCII", GmshFormat::Ascii22),
        ("reading Gmsh 2.2 binary", GmshFormat::Binary22),
        ("reading Gmsh 4.1 ASCII", GmshFormat::Ascii41),
        ("reading Gmsh 4.1 binary", GmshFormat::Binary41),
    ] {
        let file = "box.msh".as_ref();
        let content = gmsh::content(file, &raw, format)?;
        let read = |()| Ok(parse_mesh(file, &content)?);
        bench.few(name, n, content.len() as f64, || (), read)?;
    }
    for (name, renumber) in [
        ("connectivity, file's order", Renumbering::None),
        ("connectivity, renumbered", Renumbering::Auto),
    ] {
        let options = MeshOptions { renumber, ..MeshOptions::default() };
        bench.few(name, n, 0.0, || raw.clone(), |raw| Ok(Mesh::new(raw, &options)?))?;
    }
    let mesh = bench.backend.install(|| Mesh::new(raw, &MeshOptions::default()))?;
    bench.few("geometry", n, 0.0, || (), |()| Ok(Geometry::new(&mesh)?))?;
    bench.few("edges", n, 0.0, || (), |()| Ok(EdgeTopology::new(&mesh)))
}
