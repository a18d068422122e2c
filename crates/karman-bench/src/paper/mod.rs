//! `karman bench amg --paper`: the tables of Kamakolanu's thesis (2014, §6.2 and §6.4) on heat
//! transfer beside the same computed here.
//!
//! The domain is a unit cube of jittered tetrahedra with nearly as many cells, five faces at 300 and
//! one at 600 (in time: 600 + 100 sin(2πt/24), steps of 0.01 by backward Euler from 300), conductances
//! a_ij = s_ij / d_ij. Solves begin at zero, in time at the last step's temperatures. The thesis names
//! no tolerance; here it is ‖b − A x‖ ≤ tolerance ‖b‖. Solve times leave out set-up, as in the thesis.

pub(super) mod method;
pub(super) mod report;
pub(super) mod solve;
mod thesis;

pub use report::PaperReport;
pub use solve::{LevelSize, Marched, Solved, Verdict};
pub use thesis::{
    BOUNDARY_NODES, COLUMNS, LEVELS_OF, NODES, PUBLISHED, Published, STEPS, VARIANTS,
};

use super::BenchError;
use super::mesh::TetrahedronMesh;
use super::system::System;
use karman::backend::Backend;
use method::{PaperMethod, SourceMultigrid};
use solve::Problem;

/// α of the improved coarsening.
const BOUNDARY_WEIGHT: f64 = 5.0;
/// Cycles allowed of the source's multigrid.
const MOST_CYCLES: usize = 2000;

/// How the thesis' tables are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperPlan {
    /// Target of ‖b − A x‖ / ‖b‖. Default: 1e-8.
    pub tolerance: f64,
    /// Time steps of the unsteady case; 0 leaves it out. Default: 240.
    pub steps: usize,
    /// β on the first coarse level; each further one has one more. Default: 0.
    ///
    /// The thesis has β start with 1 "in the first level". Its table 6.16 has, improved, as many nodes
    /// on level 3 with the transformation as without (167 931 and 167 499), so it can hardly have
    /// changed the matrix of level 2, while level 4 has 1.4 times as many: that is more like
    /// 0, 1, 2, … than 1, 2, 3, …; original, the numbers fit neither well.
    pub beta: f64,
}

impl Default for PaperPlan {
    fn default() -> Self {
        PaperPlan { tolerance: 1e-8, steps: 240, beta: 0.0 }
    }
}

/// What was measured on one grid.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Grid {
    /// Cells asked for: those of the thesis' grid.
    pub asked: usize,
    /// Cells.
    pub cells: usize,
    /// Cells with a face on the boundary.
    pub boundary_cells: usize,
    /// θ of the source's multigrid.
    pub strength: f64,
    /// Most levels of the source's multigrid.
    pub levels: usize,
    /// Gauss–Seidel alone, by colours.
    pub plain: Solved,
    /// The source's multigrid: [`VARIANTS`]. The last one is the thesis' own.
    pub variants: [Solved; 4],
    /// Conjugate gradients with Jacobi.
    pub jacobi: Solved,
    /// Conjugate gradients with a cycle of the default multigrid.
    pub default: Solved,
    /// In time: plain, the source's multigrid, conjugate gradients with Jacobi and with the default
    /// multigrid. None where no steps were asked for.
    pub unsteady: Option<[Marched; 4]>,
}

/// Measures on the 6 m³ jittered tetrahedra nearest to `cells`; θ and levels are those of the thesis'
/// grid nearest in size. A method that diverges is a result.
///
/// # Errors
/// [`BenchError`] where no such mesh can be made, the tolerance is out of range or the device failed.
pub fn measure_grid(backend: &Backend, cells: usize, plan: &PaperPlan) -> Result<Grid, BenchError> {
    let (strength, levels) = thesis::parameters(cells);
    let (system, n) = {
        let mesh = TetrahedronMesh::new(backend, cells)?;
        let system = super::on_threads(backend, || System::new(&mesh))?;
        (system, mesh.mesh.n_cells())
    };
    let boundary = system.boundary();
    let boundary_cells = boundary.iter().filter(|flag| **flag).count();
    let variant = |is_improved: bool, is_transformed: bool| {
        PaperMethod::Source(SourceMultigrid {
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
    let plain = solve(PaperMethod::GaussSeidel { sweeps: 10 })?;
    let [jacobi, default] = [solve(PaperMethod::Jacobi)?, solve(PaperMethod::Default)?];
    drop(steady);
    let mut unsteady = None;
    if plan.steps > 0 {
        let problem = Problem::unsteady(backend, &system, plan.tolerance)?;
        let march = |method| problem.march(method, plan.steps);
        unsteady = Some([
            march(PaperMethod::GaussSeidel { sweeps: 2 })?,
            march(variant(true, true))?,
            march(PaperMethod::Jacobi)?,
            march(PaperMethod::Default)?,
        ]);
    }
    Ok(Grid {
        asked: cells,
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
