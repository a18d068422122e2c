//! Saved interpolations of a hierarchy. With them all levels follow from the matrix without coarsening and
//! interpolation.

use super::params::AmgParams;
use super::pattern::Pattern;
use crate::{CsrMatrix, LinearError, Matrix};
use karman_backend::real::Real;

/// Interpolation to one level from the next one.
#[derive(Clone, Debug, PartialEq)]
pub enum SavedInterpolation {
    /// P is piecewise constant on aggregates.
    Aggregates {
        /// The aggregate of each unknown: `[rows]`, below `count`.
        of: Vec<u32>,
        /// Number of aggregates.
        count: usize,
    },
    /// P: `[rows, unknowns of the next level]`.
    Weighted(CsrMatrix<f64>),
}

impl SavedInterpolation {
    /// Unknowns of the level and of the next one.
    pub fn shape(&self) -> [usize; 2] {
        match self {
            SavedInterpolation::Aggregates { of, count } => [of.len(), *count],
            SavedInterpolation::Weighted(p) => [p.rows(), p.columns()],
        }
    }

    /// The coarse unknown of each entry of P.
    fn columns(&self) -> &[u32] {
        match self {
            SavedInterpolation::Aggregates { of, .. } => of,
            SavedInterpolation::Weighted(p) => p.column_indices(),
        }
    }

    /// Why it does not fit a level of `unknowns` unknowns.
    fn problem(&self, unknowns: usize) -> Option<String> {
        let [rows, count] = self.shape();
        if rows != unknowns {
            return Some(format!("it has {rows} rows, but the level has {unknowns} unknowns"));
        }
        if count >= rows {
            return Some(format!(
                "it interpolates from {count} unknowns to {rows}, which are not more"
            ));
        }
        let mut is_named = vec![false; count];
        for column in self.columns() {
            match is_named.get_mut(*column as usize) {
                Some(named) => *named = true,
                None => return Some(format!("aggregate {column} is not below {count}")),
            }
        }
        let unused = is_named.iter().position(|named| !named)?;
        Some(format!("nothing is interpolated from unknown {unused} of the next level"))
    }
}

/// The interpolations of a hierarchy, the finest first, with setup key and sparsity pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedInterpolations {
    parameters: Vec<f64>,
    pattern: Pattern,
    levels: Vec<SavedInterpolation>,
}

impl SavedInterpolations {
    /// Interpolations of `parameters` ([`AmgParams::setup_key`]) for a matrix of `pattern`.
    ///
    /// # Errors
    /// [`LinearError::Interpolation`] for the first that does not fit its levels.
    pub fn new(
        parameters: Vec<f64>,
        pattern: Pattern,
        levels: Vec<SavedInterpolation>,
    ) -> Result<Self, LinearError> {
        let mut unknowns = pattern.rows;
        for (level, interpolation) in levels.iter().enumerate() {
            if let Some(problem) = interpolation.problem(unknowns) {
                return Err(LinearError::Interpolation { level, problem });
            }
            unknowns = interpolation.shape()[1];
        }
        Ok(SavedInterpolations { parameters, pattern, levels })
    }

    /// The interpolations of a hierarchy of `matrix` with `params`.
    pub(super) fn of_hierarchy<T: Real>(
        matrix: &Matrix<T>,
        params: &AmgParams,
        levels: Vec<SavedInterpolation>,
    ) -> Result<Self, LinearError> {
        let parameters = params.setup_key().iter().map(|(_, value)| *value).collect();
        Ok(SavedInterpolations { parameters, pattern: Pattern::of(matrix)?, levels })
    }

    /// The numbers of [`AmgParams::setup_key`].
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// The sparsity pattern of the finest matrix.
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// One for each level but the coarsest, the finest first.
    pub fn levels(&self) -> &[SavedInterpolation] {
        &self.levels
    }

    pub(super) fn into_levels(self) -> Vec<SavedInterpolation> {
        self.levels
    }

    /// Checks that setup key and sparsity pattern are those of `params` and `matrix`.
    ///
    /// # Errors
    /// [`LinearError::OtherSystem`] with the difference.
    pub(super) fn check_for<T: Real>(
        &self,
        matrix: &Matrix<T>,
        params: &AmgParams,
    ) -> Result<(), LinearError> {
        let other = |reason: String| Err(LinearError::OtherSystem { reason });
        let key = params.setup_key();
        if key.len() != self.parameters.len() {
            return other("another version of karman saved them".to_owned());
        }
        for ((name, new), old) in key.iter().zip(&self.parameters) {
            if old != new {
                return other(format!("{name} is {new} and was {old}"));
            }
        }
        let (new, old) = (Pattern::of(matrix)?, self.pattern);
        if (new.rows, new.entries) != (old.rows, old.entries) {
            return other(format!(
                "the matrix has {} rows and {} entries and had {} and {}",
                new.rows, new.entries, old.rows, old.entries
            ));
        }
        if new != old {
            return other("the sparsity pattern of the matrix differs".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amg::{Amg, Coarsening, CycleParams, HierarchySource, Smoother, Sparsification};
    use crate::testing::{diamond, poisson_2d, with};
    use crate::{Method, Preconditioner, PreconditionerKind, Solver};
    use karman_backend::Backend;
    use karman_backend::testing::{devices, everywhere, values};
    use std::sync::Arc;

    fn small() -> AmgParams {
        AmgParams { coarse_rows: 40, ..AmgParams::default() }
    }

    /// `a` with couplings and diagonals changed unevenly.
    fn other_values(a: &CsrMatrix<f64>) -> CsrMatrix<f64> {
        let of_row = |r: usize| {
            a.row(r).map(move |(c, v)| {
                let uneven = 1.0 + (r.min(c) * 7 + r.max(c) * 3) as f64 % 11.0 / 20.0;
                if c == r { 1.6 * v + 0.3 } else { uneven * v }
            })
        };
        let values = (0..a.rows()).flat_map(of_row).collect();
        let (offsets, columns) = (a.offsets().to_vec(), a.column_indices().to_vec());
        CsrMatrix::new(a.columns(), offsets, columns, values).unwrap()
    }

    fn applied(amg: &mut Amg<f32>, backend: &Backend, n: usize) -> Vec<f64> {
        let mut z = backend.zeros(n);
        amg.apply(backend, &backend.upload(values(n, 5)), &mut z);
        backend.read(&z).unwrap()
    }

    #[test]
    fn a_saved_hierarchy_equals_the_one_it_was_saved_from() {
        let a = diamond(10);
        let n = a.rows();
        let sparsification = Some(Sparsification { beta: 1.0, increment: 0.5, symmetric: true });
        let all = [
            small(),
            AmgParams { pairwise_passes: 0, ..small() },
            AmgParams { pairwise_passes: 2, drop_tolerance: 0.0, ..small() },
            AmgParams {
                cycling: CycleParams { smoother: Smoother::GaussSeidel, ..CycleParams::DEFAULT },
                ..small()
            },
            AmgParams { coarsening: Coarsening::Aggregation, ..small() },
            AmgParams { coarsening: Coarsening::RugeStuben, sparsification, ..small() },
        ];
        for backend in everywhere() {
            let [matrix, changed] =
                [a.clone(), other_values(&a)].map(|a| Matrix::new(&backend, a).unwrap());
            for params in all {
                let what = format!("{backend:?} {params:?}");
                let mut computed = Amg::<f32>::new(&matrix, &params).unwrap();
                let saved = computed.interpolations(&matrix).unwrap();
                assert!(saved.levels().len() >= 2, "{what}");
                let pairs = matches!(saved.levels()[0], SavedInterpolation::Aggregates { .. });
                assert_eq!(pairs, params.over_correction_at(0) != 1.0, "{what}");
                let mut back =
                    Amg::<f32>::from_interpolations(&matrix, &params, saved.clone()).unwrap();
                assert_eq!(back.report().levels, computed.report().levels, "{what}");
                assert_eq!(back.report().source, HierarchySource::Saved);
                assert_eq!(back.interpolations(&matrix).unwrap(), saved, "{what}");
                let equal = applied(&mut back, &backend, n) == applied(&mut computed, &backend, n);
                assert!(equal, "{what}: the cycles differ");

                // New values before saving, as in a run whose time step changes before a checkpoint.
                computed.set_values(&changed).unwrap();
                let saved = computed.interpolations(&changed).unwrap();
                let mut back = Amg::<f32>::from_interpolations(&changed, &params, saved).unwrap();
                let size = |level: &super::super::LevelReport| (level.rows, level.entries);
                let sizes =
                    |amg: &Amg<f32>| amg.report().levels.iter().map(size).collect::<Vec<_>>();
                assert_eq!(sizes(&back), sizes(&computed), "{what}");
                let equal = applied(&mut back, &backend, n) == applied(&mut computed, &backend, n);
                assert!(equal, "{what}: the cycles differ after new values");
            }
        }
    }

    #[test]
    fn interpolations_saved_on_one_backend_fit_another() {
        let a = diamond(10);
        let host = Backend::host(2).unwrap();
        for device in devices() {
            for (from, to) in [(&host, &device), (&device, &host)] {
                let [from, to] = [from, to].map(|b| Matrix::new(b, a.clone()).unwrap());
                let computed = Amg::<f32>::new(&from, &small()).unwrap();
                let saved = computed.interpolations(&from).unwrap();
                let back = Amg::<f32>::from_interpolations(&to, &small(), saved).unwrap();
                for (got, want) in back.report().levels.iter().zip(&computed.report().levels) {
                    assert_eq!((got.rows, got.entries), (want.rows, want.entries));
                }
            }
        }
    }

    #[test]
    fn interpolations_of_another_system_are_recognised() {
        let backend = Backend::host(1).unwrap();
        let matrix = Matrix::new(&backend, poisson_2d(20)).unwrap();
        let saved = Amg::<f64>::new(&matrix, &small()).unwrap().interpolations(&matrix).unwrap();
        let refused = |a: CsrMatrix<f64>, params: AmgParams, saved: &SavedInterpolations| {
            let matrix = Matrix::new(&backend, a).unwrap();
            let found = Amg::<f64>::from_interpolations(&matrix, &params, saved.clone());
            found.err().unwrap().to_string()
        };
        let begin = "the saved interpolations belong to another system: ";
        assert_eq!(
            refused(poisson_2d(20), AmgParams { strength: 0.5, ..small() }, &saved),
            format!("{begin}strength is 0.5 and was 0.25")
        );
        assert_eq!(
            refused(poisson_2d(21), small(), &saved),
            format!("{begin}the matrix has 441 rows and 2121 entries and had 400 and 1920")
        );
        let n = 400u32;
        let mut entries: Vec<(u32, u32, f64)> = (0..n).map(|r| (r, r, 4.0)).collect();
        entries.extend((0..1520).map(|k| (k % n, (k % n + 1 + k / n) % n, -1.0)));
        let shuffled = CsrMatrix::from_entries(400, 400, entries).unwrap();
        assert_eq!(
            refused(shuffled, small(), &saved),
            format!("{begin}the sparsity pattern of the matrix differs")
        );
        let older = SavedInterpolations { parameters: vec![0.25], ..saved.clone() };
        assert_eq!(
            refused(poisson_2d(20), small(), &older),
            format!("{begin}another version of karman saved them")
        );
        // Parameters outside the setup key may change.
        let params = AmgParams {
            cycling: CycleParams { sweeps: [2, 2], ..CycleParams::DEFAULT },
            ..small()
        };
        assert!(Amg::<f64>::from_interpolations(&matrix, &params, saved).is_ok());
    }

    #[test]
    fn a_solver_reuses_saved_interpolations_that_fit_with_the_same_result() {
        let a = diamond(10);
        let b = values(a.rows(), 3);
        let kind = PreconditionerKind::Amg(small());
        let params = with(Method::ConjugateGradient, kind);
        for backend in everywhere() {
            let on = |a: &CsrMatrix<f64>| Arc::new(Matrix::new(&backend, a.clone()).unwrap());
            let (matrix, changed) = (on(&a), on(&other_values(&a)));
            let solved = |mut solver: Solver<f64>| {
                let mut x = backend.zeros(b.len());
                let outcome = solver.solve(&backend.upload_slice(&b), &mut x).unwrap();
                assert!(outcome.is_converged(), "{outcome}");
                (outcome.iterations, backend.read(&x).unwrap())
            };
            let source_of = |solver: &Solver<f64>| solver.hierarchy().map(|report| report.source);
            let with_saved = |matrix: &Arc<Matrix<f64>>, params, saved| {
                let (operator, own) = (Box::new(matrix.clone()), Some(matrix.clone()));
                Solver::with_interpolations(&backend, operator, own, params, saved).unwrap()
            };
            let computed = Solver::new(&backend, matrix.clone(), &params).unwrap();
            let saved = computed.interpolations(&matrix).unwrap();
            assert!(saved.is_some());
            let reused = with_saved(&matrix, &params, saved.clone());
            assert_eq!(source_of(&reused), Some(HierarchySource::Saved));
            assert_eq!(solved(reused), solved(computed));

            // With other values a restart equals the update of a run.
            let computed = Solver::new(&backend, matrix.clone(), &params).unwrap();
            let updated = computed.update_values(Box::new(changed.clone()), &changed).unwrap();
            let updated = updated.ok().unwrap();
            assert_eq!(source_of(&updated), Some(HierarchySource::Reused));
            let reused = with_saved(&changed, &params, saved.clone());
            assert_eq!(solved(reused), solved(updated));

            // Where they do not fit, multigrid computes its own.
            let smaller = on(&diamond(9));
            let own = with_saved(&smaller, &params, saved.clone());
            assert_eq!(source_of(&own), Some(HierarchySource::Computed));
            let jacobi = with(Method::ConjugateGradient, PreconditionerKind::Jacobi);
            let other = with_saved(&matrix, &jacobi, saved);
            assert_eq!(source_of(&other), None);
            assert_eq!(other.interpolations(&matrix).unwrap(), None);
            // A diagonal is not worth an update.
            assert!(other.update_values(Box::new(changed.clone()), &changed).unwrap().is_err());
        }
    }

    fn refused(levels: Vec<SavedInterpolation>) -> String {
        let pattern = Pattern { rows: 5, entries: 13, hash: 1 };
        SavedInterpolations::new(vec![], pattern, levels).unwrap_err().to_string()
    }

    #[test]
    fn interpolations_that_do_not_fit_their_levels_are_refused() {
        let aggregates =
            |of: &[u32], count| SavedInterpolation::Aggregates { of: of.to_vec(), count };
        assert_eq!(
            refused(vec![aggregates(&[0, 0, 1, 1], 2)]),
            "the interpolation to level 0 cannot be used: it has 4 rows, but the level has 5 unknowns"
        );
        assert_eq!(
            refused(vec![aggregates(&[0, 1, 2, 3, 4], 5)]),
            "the interpolation to level 0 cannot be used: it interpolates from 5 unknowns to 5, \
             which are not more"
        );
        let good = aggregates(&[0, 0, 1, 1, 2], 3);
        assert_eq!(
            refused(vec![good.clone(), aggregates(&[0, 1, 2], 2)]),
            "the interpolation to level 1 cannot be used: aggregate 2 is not below 2"
        );
        let p = CsrMatrix::from_entries(3, 2, vec![(0, 1, 1.0), (2, 1, 0.5)]).unwrap();
        assert_eq!(
            refused(vec![good, SavedInterpolation::Weighted(p)]),
            "the interpolation to level 1 cannot be used: nothing is interpolated from unknown 0 of \
             the next level"
        );
    }
}
