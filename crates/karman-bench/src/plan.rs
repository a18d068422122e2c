//! The groups of lines to measure, and their meshes.

use super::mesh::{TetrahedronMesh, set_up};
use super::{Bench, BenchError, adapt, compressible, flow, kernels, operators, solver, streaming};
use karman::mesh::EdgeTopology;
use karman_macros::Keyword;
use std::path::PathBuf;

/// Lines that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Group {
    /// Vector updates and reductions.
    Streaming,
    /// Reading a mesh file and building the mesh: jittered tetrahedra.
    Mesh,
    /// Discrete operators on that mesh, renumbered.
    Operators,
    /// Conjugate gradients for heat conduction on that mesh.
    Solver,
    /// The kernels of [`karman::backend::test_kernels`].
    Kernels,
    /// Time steps of a lid-driven cavity.
    Flow,
    /// Parts of a stage of compressible flow.
    Compressible,
    /// Sweeps of the smoothing of a square of triangles in an anisotropic metric.
    Adapt,
}

impl Group {
    /// The position in the table of the group of this name.
    pub(super) fn place(name: &str) -> usize {
        Group::ALL.iter().position(|group| group.word() == name).unwrap_or(0)
    }
}

/// The measurements on a mesh of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The groups.
    pub groups: Vec<Group>,
    /// Whether kernels run in double precision.
    pub double: bool,
    /// Whether kernels run in single precision. The solver group runs in double, its products in both; flow in double.
    pub single: bool,
    /// Folder that the solver group writes its systems to, as Matrix Market files.
    pub write_system: Option<PathBuf>,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { groups: Group::ALL.to_vec(), double: true, single: true, write_system: None }
    }
}

/// Measures on vectors of `cells` entities and on meshes of the 6 m³ tetrahedra nearest to `cells`.
///
/// # Errors
/// [`BenchError`] where the mesh cannot be generated, a solve did not converge, or the device failed.
pub fn measure(bench: &mut Bench, cells: usize, plan: &Plan) -> Result<(), BenchError> {
    bench.cells = cells;
    let has = |group| plan.groups.contains(&group);
    if has(Group::Streaming) {
        bench.group = Group::Streaming.word();
        if plan.double {
            streaming::<f64>(bench, cells)?;
        }
        if plan.single {
            streaming::<f32>(bench, cells)?;
        }
    }
    if has(Group::Mesh) {
        bench.group = Group::Mesh.word();
        set_up(bench, cells)?;
    }
    if has(Group::Operators) || has(Group::Solver) {
        let mesh = TetrahedronMesh::new(bench.backend, cells)?;
        if has(Group::Operators) {
            bench.group = Group::Operators.word();
            let edges = bench.backend.install(|| EdgeTopology::new(&mesh.mesh));
            if plan.double {
                operators::<f64>(bench, &mesh, &edges)?;
            }
            if plan.single {
                operators::<f32>(bench, &mesh, &edges)?;
            }
        }
        if has(Group::Solver) {
            bench.group = Group::Solver.word();
            solver(bench, &mesh, plan.write_system.as_deref())?;
        }
    }
    if has(Group::Kernels) {
        bench.group = Group::Kernels.word();
        kernels(bench, cells)?;
    }
    if has(Group::Flow) {
        bench.group = Group::Flow.word();
        flow(bench, cells)?;
    }
    if has(Group::Compressible) {
        bench.group = Group::Compressible.word();
        compressible(bench, cells)?;
    }
    if has(Group::Adapt) {
        bench.group = Group::Adapt.word();
        adapt(bench, cells)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use karman::backend::testing::everywhere;

    #[test]
    fn every_group_is_measured_on_every_backend_and_shown_in_order() {
        for backend in everywhere() {
            let mut bench = Bench::new(&backend, 0.0);
            bench.copy(1 << 16).unwrap();
            measure(&mut bench, 3000, &Plan::default()).unwrap();
            for row in &bench.rows {
                assert!(row.seconds > 0.0 && row.seconds.is_finite(), "{row:?}");
            }
            let find = |name: &str, precision: &str| {
                let same =
                    |row: &&super::super::Row| row.name == name && row.precision == precision;
                bench.rows.iter().rfind(same).unwrap()
            };
            for precision in ["f64", "f32"] {
                for name in ["gradient", "divergence", "curl", "rotation", "nodal gradient"] {
                    assert!(find(name, precision).bytes > 0.0);
                }
            }
            for name in ["reading Gmsh 2.2 ASCII", "reading Gmsh 4.1 binary"] {
                let row = find(name, "f64");
                assert!(row.bytes > 40.0 * 3072.0 && row.entities == 3072, "{row:?}");
            }
            for name in ["connectivity, file's order", "connectivity, renumbered", "edges"] {
                assert_eq!((find(name, "f64").group, find(name, "f64").entities), ("mesh", 3072));
            }
            // 6 · 8³ tetrahedra.
            assert_eq!(find("divergence", "f64").entities, 3072);
            let ratio = find("gradient", "f64").bytes / find("gradient", "f32").bytes;
            assert!(ratio > 1.2 && ratio < 2.0, "{ratio}");
            let per_row = find("CG + Jacobi, an iteration", "f64").bytes / 3072.0;
            assert!(per_row > 155.0 && per_row < 164.0, "{per_row}");
            let solve = find("CG + Jacobi to 1e-8", "f64");
            assert!(solve.iterations.unwrap() > 10);
            for name in
                ["edge lengths, grid", "worst quality, walk", "worst quality, grid, one thread"]
            {
                let row = find(name, "f64");
                assert!(row.group == "adapt" && row.entities == 1521 && row.bytes > 0.0, "{row:?}");
            }
            let table = bench.table(3000);
            let places = Group::ALL.map(|g| table.find(&format!("-- {}", g.word())).unwrap());
            assert!(places.is_sorted(), "{table}");
        }
    }

    #[test]
    fn a_mesh_too_large_for_its_numbers_is_refused() {
        let backend = karman::backend::Backend::host(1).unwrap();
        let mut bench = Bench::new(&backend, 0.0);
        let plan = Plan { groups: vec![Group::Operators], ..Plan::default() };
        let error = measure(&mut bench, 3_900_000_000, &plan).unwrap_err().to_string();
        assert!(error.starts_with("a mesh of about 3900000000 cells: cells = "), "{error}");
    }

    #[test]
    fn groups_have_names() {
        for group in Group::ALL {
            assert_eq!(Group::from_word(group.word()), Some(group));
        }
        assert_eq!(Group::from_word("stream"), None);
    }
}
