//! Solves and steps on several ranks beside those of one: strong scaling on a mesh, weak scaling on meshes that grow with the
//! number of ranks.
//!
//! All ranks compute the same bits, so that iterations are equal; [`measure_ranks`] refuses others.

mod flow;
mod linear;
mod report;
mod vectors;

pub use report::RanksReport;

use super::BenchError;
use karman::backend::group::{ThreadGroup, run_ranks};
use karman::backend::{Backend, BackendKind, RankGroup};
use karman_macros::Keyword;
use serde::Serialize;
use std::sync::Arc;

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RanksTest {
    /// An update y ← y + α x of vectors as long as the mesh has cells.
    Axpy,
    /// A scalar product of such vectors.
    Dot,
    /// An iteration of conjugate gradients with Jacobi, from solves of two lengths.
    Jacobi,
    /// A solve to 1e-8 by conjugate gradients with multigrid, and its set-up.
    Multigrid,
    /// A step of a lid-driven cavity of hexahedra.
    Flow,
}

/// How the mesh follows the number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scaling {
    /// One mesh.
    Strong,
    /// So many cells a rank.
    Weak,
}

/// The measurements.
#[derive(Clone, Debug)]
pub struct RanksPlan {
    /// Kind of the backends.
    pub kind: BackendKind,
    /// Threads of all ranks together; 0: all.
    pub threads: usize,
    /// Numbers of ranks.
    pub ranks: Vec<usize>,
    /// Measurements.
    pub tests: Vec<RanksTest>,
    /// Scaling.
    pub scaling: Scaling,
    /// Repetitions, of which the median is taken.
    pub repetitions: usize,
    /// See [`CycleParams::replicate_rows`](karman::linear::amg::CycleParams::replicate_rows).
    pub replicate_rows: Option<usize>,
}

/// A measurement on a number of ranks.
#[derive(Clone, Debug, Serialize)]
pub struct RanksPoint {
    /// The measurement.
    pub test: RanksTest,
    /// Strong or weak.
    pub scaling: Scaling,
    /// Requested cells, of weak scaling those of a rank.
    pub cells: usize,
    /// Unknowns, of a flow cells, of all ranks.
    pub unknowns: usize,
    /// Number of ranks.
    pub ranks: usize,
    /// Median seconds of an iteration, a solve or a step.
    pub seconds: f64,
    /// Seconds of the set-up of the solver; none where it is not measured.
    pub setup_seconds: Option<f64>,
    /// Iterations of the solve, of a flow those of the pressure in the last step.
    pub iterations: usize,
}

/// The result of a rank.
#[derive(Clone, Copy)]
struct Measured {
    seconds: f64,
    setup_seconds: Option<f64>,
    iterations: usize,
}

impl RanksPlan {
    /// Runs `work` on each of so many ranks, on one without a group; the slowest rank is the result.
    fn on_ranks(
        &self,
        ranks: usize,
        work: impl Fn(&Backend, Option<&Arc<dyn RankGroup>>) -> Result<Measured, BenchError> + Sync,
    ) -> Result<Measured, BenchError> {
        let all = Backend::new(self.kind, self.threads)?;
        if ranks == 1 {
            return all.install(|| work(&all, None));
        }
        let threads = (all.threads() / ranks).max(1);
        let of_ranks = run_ranks(&ThreadGroup::new(ranks), |group| {
            let group: Arc<dyn RankGroup> = Arc::new(group.clone());
            let own = Backend::of_rank_on(self.kind, threads, group.clone())?;
            own.install(|| work(&own, Some(&group)))
        })?;
        let slowest = |a: Measured, b: Measured| Measured {
            seconds: a.seconds.max(b.seconds),
            setup_seconds: a.setup_seconds.zip(b.setup_seconds).map(|(a, b)| a.max(b)),
            iterations: a.iterations,
        };
        Ok(of_ranks[1..].iter().fold(of_ranks[0], |a, b| slowest(a, *b)))
    }
}

/// Measures on meshes of about `cells` cells.
///
/// # Errors
/// [`BenchError`] where a mesh cannot be made, a solve did not converge, a device failed, or ranks do not have the iterations of
/// one.
pub fn measure_ranks(plan: &RanksPlan, cells: usize) -> Result<Vec<RanksPoint>, BenchError> {
    let mut points: Vec<RanksPoint> = vec![];
    let sizes: Vec<(usize, Vec<usize>)> = match plan.scaling {
        Scaling::Strong => vec![(cells, plan.ranks.clone())],
        Scaling::Weak => plan.ranks.iter().map(|ranks| (cells * ranks, vec![*ranks])).collect(),
    };
    for (all_cells, ranks) in sizes {
        let chosen = |of: &[RanksTest]| -> Vec<RanksTest> {
            plan.tests.iter().filter(|test| of.contains(test)).copied().collect()
        };
        let of_vectors = chosen(&[RanksTest::Axpy, RanksTest::Dot]);
        let of_systems = chosen(&[RanksTest::Jacobi, RanksTest::Multigrid]);
        let mut found = vectors::measure(plan, all_cells, &ranks, &of_vectors)?;
        found.extend(linear::measure(plan, all_cells, &ranks, &of_systems)?);
        if plan.tests.contains(&RanksTest::Flow) {
            found.extend(flow::measure(plan, all_cells, &ranks)?);
        }
        points.extend(found.into_iter().map(|(test, unknowns, ranks, measured)| RanksPoint {
            test,
            scaling: plan.scaling,
            cells,
            unknowns,
            ranks,
            seconds: measured.seconds,
            setup_seconds: measured.setup_seconds,
            iterations: measured.iterations,
        }));
    }
    for point in &points {
        let same = |of: &&RanksPoint| of.test == point.test && of.unknowns == point.unknowns;
        if let Some(first) = points.iter().find(same).filter(|of| of.iterations != point.iterations)
        {
            let (ranks, iterations) = (point.ranks, [first.iterations, point.iterations]);
            return Err(BenchError::Iterations { ranks, iterations });
        }
    }
    Ok(points)
}

/// The median.
fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Tests, unknowns, ranks and measurements.
type Found = Vec<(RanksTest, usize, usize, Measured)>;

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(scaling: Scaling) -> RanksPlan {
        RanksPlan {
            kind: BackendKind::Cpu,
            threads: 2,
            ranks: vec![1, 2],
            tests: RanksTest::ALL.to_vec(),
            scaling,
            repetitions: 1,
            replicate_rows: None,
        }
    }

    #[test]
    fn two_ranks_are_compared_with_one_in_all_tests() {
        let points = measure_ranks(&plan(Scaling::Strong), 10_000).unwrap();
        assert_eq!(points.len(), 2 * RanksTest::ALL.len());
        assert!(points.iter().all(|p| p.seconds > 0.0 && p.iterations > 0 && p.cells == 10_000));
        let report = RanksReport::new(&plan(Scaling::Strong), points);
        let text = report.to_string();
        let lines = [
            "Conjugate gradients with multigrid, strong scaling",
            "Kamakolanu, 2345137 cells: 1.35 1.49 1.53 times as fast by 2, 3, 4 devices",
            "Menon, 600000 entities: 2.04 3.05 times as fast by 2, 3 devices",
        ];
        for line in lines {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let svg = report.svg();
        assert!(svg.contains("flow, 10000") && svg.contains("ideal"), "{svg}");
    }

    #[test]
    fn weak_scaling_has_so_many_cells_a_rank() {
        let tests = vec![RanksTest::Jacobi, RanksTest::Dot];
        let points = measure_ranks(&RanksPlan { tests, ..plan(Scaling::Weak) }, 6000).unwrap();
        let unknowns: Vec<usize> =
            points.iter().filter(|p| p.test == RanksTest::Dot).map(|p| p.unknowns).collect();
        assert_eq!(unknowns, [6000, 12_000]);
        let report = RanksReport::new(&plan(Scaling::Weak), points);
        assert!(report.to_string().contains("weak scaling"), "{report}");
    }
}
