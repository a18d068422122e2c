//! `karman bench thesis amg`: the tables of Kamakolanu's thesis (2014, §6.2 and §6.4) on heat transfer,
//! with karman's figures beside them.
//!
//! The domain is a unit cube of jittered tetrahedra with nearly as many cells as the thesis' grids, five
//! faces at 300 and one at 600 (unsteady: 600 + 100 sin(2πt/24), steps of 0.01 by backward Euler from
//! 300), conductances a_ij = s_ij / d_ij. The initial guess is zero, unsteady the previous temperatures.
//! The thesis names no tolerance; here it is ‖b − A x‖ ≤ tolerance ‖b‖. Solve times leave out set-up, as
//! in the thesis.

pub(super) mod method;
mod published;
pub(super) mod report;
pub(super) mod solve;

pub use published::{COLUMNS, LEVELS_OF, Published, STEPS, VARIANTS, published, published_levels};
pub use report::ThesisAmgReport;
pub use solve::{LevelSize, Marched, Solved, Verdict};

use super::BenchError;
use super::mesh::TetrahedronMesh;
use super::system::System;
use karman::backend::Backend;
use method::{KamakolanuAmg, ThesisMethod};
use solve::Problem;

/// α of the improved coarsening.
const BOUNDARY_WEIGHT: f64 = 5.0;
/// Allowed cycles of Kamakolanu's AMG.
const MOST_CYCLES: usize = 2000;

/// Parameters of the thesis' tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThesisAmgPlan {
    /// Target of ‖b − A x‖ / ‖b‖. Default: 1e-8.
    pub tolerance: f64,
    /// Time steps of the unsteady case; 0 leaves it out. Default: 240.
    pub steps: usize,
    /// β on the first coarse level; it grows by 1 per level. Default: 0.
    ///
    /// In the thesis β starts with 1 "in the first level". With the improved coarsening its table 6.16 has
    /// as many nodes on level 3 with the transformation as without (167 931 and 167 499), so the
    /// transformation hardly changed the matrix of level 2, while level 4 has 1.4 times as many nodes.
    /// That fits 0, 1, 2, … better than 1, 2, 3, …; with the original coarsening neither fits well.
    pub beta: f64,
}

impl Default for ThesisAmgPlan {
    fn default() -> Self {
        ThesisAmgPlan { tolerance: 1e-8, steps: 240, beta: 0.0 }
    }
}

/// Measurements on one grid.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Grid {
    /// Requested cells, those of the thesis' grid.
    #[serde(rename = "asked")]
    pub requested: usize,
    /// Cells.
    pub cells: usize,
    /// Cells with a face on the boundary.
    pub boundary_cells: usize,
    /// θ of Kamakolanu's AMG.
    pub strength: f64,
    /// Most levels of Kamakolanu's AMG.
    pub levels: usize,
    /// Multicolour Gauss–Seidel without multigrid.
    pub plain: Solved,
    /// Variants of Kamakolanu's AMG: [`VARIANTS`]. The last is the method that the thesis proposes.
    pub variants: [Solved; 4],
    /// Conjugate gradients with Jacobi.
    pub jacobi: Solved,
    /// Conjugate gradients with a cycle of karman's default AMG.
    pub default: Solved,
    /// Unsteady: Gauss–Seidel, Kamakolanu's AMG, conjugate gradients with Jacobi and with the default
    /// AMG. None where no steps were requested.
    pub unsteady: Option<[Marched; 4]>,
}

/// Measures on the 6 m³ jittered tetrahedra nearest to `cells`; θ and levels are those of the thesis'
/// grid nearest in size. Divergence of a method is no error.
///
/// # Errors
/// [`BenchError`] where the mesh cannot be generated, the tolerance is out of range or the device failed.
pub fn measure_grid(
    backend: &Backend,
    cells: usize,
    plan: &ThesisAmgPlan,
) -> Result<Grid, BenchError> {
    let (strength, levels) = published::parameters(cells);
    let (system, n) = {
        let mesh = TetrahedronMesh::new(backend, cells)?;
        let system = super::on_threads(backend, || System::new(&mesh))?;
        (system, mesh.mesh.n_cells())
    };
    let boundary = system.boundary();
    let boundary_cells = boundary.iter().filter(|flag| **flag).count();
    let variant = |is_improved: bool, is_transformed: bool| {
        ThesisMethod::Kamakolanu(KamakolanuAmg {
            strength,
            levels,
            boundary_weight: if is_improved { BOUNDARY_WEIGHT } else { 1.0 },
            beta: is_transformed.then_some([plan.beta, 1.0]),
            cycles: MOST_CYCLES,
        })
    };
    let steady = Problem::steady(backend, &system, plan.tolerance)?;
    let solve = |method| steady.solve(method);
    let variants = [
        solve(variant(false, false))?,
        solve(variant(true, false))?,
        solve(variant(false, true))?,
        solve(variant(true, true))?,
    ];
    let plain = solve(ThesisMethod::GaussSeidel { sweeps: 10 })?;
    let [jacobi, default] = [solve(ThesisMethod::Jacobi)?, solve(ThesisMethod::Default)?];
    drop(steady);
    let mut unsteady = None;
    if plan.steps > 0 {
        let problem = Problem::unsteady(backend, &system, plan.tolerance)?;
        let march = |method| problem.march(method, plan.steps);
        unsteady = Some([
            march(ThesisMethod::GaussSeidel { sweeps: 2 })?,
            march(variant(true, true))?,
            march(ThesisMethod::Jacobi)?,
            march(ThesisMethod::Default)?,
        ]);
    }
    Ok(Grid {
        requested: cells,
        cells: n,
        boundary_cells,
        strength,
        levels,
        plain,
        variants,
        jacobi,
        default,
        unsteady,
    })
}

#[cfg(test)]
mod tests;
