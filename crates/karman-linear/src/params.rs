//! Parameters of a solver.

use super::{AmgParams, LinearError};
use karman_macros::Keyword;

/// The Krylov method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum Method {
    /// Conjugate gradients, for symmetric matrices.
    #[default]
    #[word = "cg"]
    ConjugateGradient,
    /// Conjugate gradients with one reduction a step (Chronopoulos & Gear 1989).
    #[word = "single_reduction_cg"]
    SingleReduction,
    /// Flexible conjugate gradients: the preconditioner may change from step to step.
    #[word = "flexible_cg"]
    FlexibleConjugateGradient,
    /// BiCGStab (van der Vorst 1992), for any matrix; each step has two products.
    #[word = "bicgstab"]
    BiCgStab,
    /// Flexible GMRES (Saad 1993), for any matrix.
    ///
    /// The residual is recomputed after `restart` steps.
    Fgmres,
    /// Multigrid cycles without a Krylov method.
    ///
    /// x ← x + M⁻¹ (b − A x).
    #[word = "multigrid"]
    Stationary,
}

/// The preconditioner. Its word stands for default parameters.
#[derive(Clone, Copy, Debug, PartialEq, Default, Keyword)]
pub enum PreconditionerKind {
    /// `amg` from 100 000 unknowns on (50 000 with non-orthogonal correction; on a device 5 000 000 and 2 000 000) unless
    /// the matrix is strongly diagonally dominant, else `jacobi`, or `chebyshev` for a steady case with correction.
    ///
    /// See [`Solver::selection`](super::Solver::selection).
    #[with(amg: AmgParams::DEFAULT, polynomial: false)]
    Auto {
        /// Parameters of multigrid.
        amg: AmgParams,
        /// Whether the cheaper preconditioner is a Chebyshev polynomial of degree 4 rather than Jacobi.
        polynomial: bool,
    },
    /// No preconditioner.
    None,
    /// Division by the diagonal.
    #[default]
    Jacobi,
    /// One symmetric Gauss–Seidel sweep, by colours.
    GaussSeidel,
    /// A Chebyshev polynomial in the matrix scaled by its diagonal.
    #[with(degree: 4, ratio: 30.0)]
    Chebyshev {
        /// Steps; one product fewer.
        degree: usize,
        /// Ratio of the largest to the smallest damped eigenvalue.
        ratio: f64,
    },
    /// A cycle of algebraic multigrid.
    #[with(AmgParams::DEFAULT)]
    Amg(AmgParams),
}

impl PreconditionerKind {
    /// The parameters of multigrid, where it may be used.
    pub fn amg_mut(&mut self) -> Option<&mut AmgParams> {
        match self {
            PreconditionerKind::Amg(amg) | PreconditionerKind::Auto { amg, .. } => Some(amg),
            _ => None,
        }
    }
}

/// Null space of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Nullspace {
    /// Nothing.
    #[default]
    None,
    /// Constant vectors, also of the transpose (all-Neumann pressure); they are projected out of b and x.
    Constant,
}

/// Parameters of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Krylov method. Default: conjugate gradients.
    pub method: Method,
    /// Preconditioner. Default: Jacobi.
    pub preconditioner: PreconditionerKind,
    /// Target of ‖b − A x‖ / ‖b‖; 0: iterate to `max_iterations` or stagnation. Default: 1e-8.
    pub relative_tolerance: f64,
    /// Maximum number of iterations. Default: 500.
    pub max_iterations: usize,
    /// Steps of FGMRES between restarts; each stores two vectors. Default: 30.
    pub restart: usize,
    /// Null space of the operator. Default: none.
    pub nullspace: Nullspace,
    /// Whether the outcome has the residual of each iteration. Default: no.
    pub record_history: bool,
    /// Iterations between two convergence checks by the host; `None`: chosen by size. The result does not
    /// depend on it.
    pub iterations_per_check: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            method: Method::default(),
            preconditioner: PreconditionerKind::default(),
            relative_tolerance: 1e-8,
            max_iterations: 500,
            restart: 30,
            nullspace: Nullspace::default(),
            record_history: false,
            iterations_per_check: None,
        }
    }
}

impl Params {
    /// Checks ranges.
    ///
    /// # Errors
    /// [`LinearError::Parameter`] for the first parameter out of range.
    pub fn check(&self) -> Result<(), LinearError> {
        let wrong = |name, value, rule| Err(LinearError::Parameter { name, value, rule });
        let tolerance = self.relative_tolerance;
        if !(0.0..1.0).contains(&tolerance) {
            return wrong("relative_tolerance", tolerance, "it lies in [0, 1)");
        }
        if self.restart == 0 || self.restart > 1000 {
            return wrong("restart", self.restart as f64, "it lies between 1 and 1000");
        }
        if self.iterations_per_check == Some(0) {
            return wrong("iterations_per_check", 0.0, "it is at least 1");
        }
        match self.preconditioner {
            PreconditionerKind::Chebyshev { degree, .. } if !(1..=100).contains(&degree) => {
                wrong("degree", degree as f64, "it lies between 1 and 100")
            }
            PreconditionerKind::Chebyshev { ratio, .. } if !(ratio > 1.0 && ratio < 1e6) => {
                wrong("ratio", ratio, "it lies between 1 and 1e6")
            }
            PreconditionerKind::Amg(amg) | PreconditionerKind::Auto { amg, .. } => amg.check(),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_for_default_parameters() {
        let words = ["auto", "none", "jacobi", "gauss_seidel", "chebyshev", "amg"];
        assert_eq!(PreconditionerKind::WORDS, words);
        for (kind, word) in PreconditionerKind::ALL.into_iter().zip(words) {
            assert_eq!((kind.word(), PreconditionerKind::from_word(word)), (word, Some(kind)));
            let params = Params { preconditioner: kind, ..Params::default() };
            assert_eq!(params.check(), Ok(()));
        }
        let mut amg = PreconditionerKind::from_word("amg").unwrap();
        assert_eq!(amg.amg_mut(), Some(&mut AmgParams::default()));
        assert_eq!(PreconditionerKind::Chebyshev { degree: 9, ratio: 2.0 }.word(), "chebyshev");
        assert_eq!(PreconditionerKind::from_word("ilu"), None);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let good = Params::default();
        assert_eq!(good.check(), Ok(()));
        let message = |p: Params| p.check().unwrap_err().to_string();
        let chebyshev = |degree, ratio| PreconditionerKind::Chebyshev { degree, ratio };
        let with = |preconditioner| Params { preconditioner, ..Params::default() };
        assert_eq!(
            message(Params { relative_tolerance: -1e-8, ..good.clone() }),
            "relative_tolerance = -0.00000001: it lies in [0, 1)"
        );
        assert_eq!(
            message(Params { relative_tolerance: f64::NAN, ..good.clone() }),
            "relative_tolerance = NaN: it lies in [0, 1)"
        );
        assert_eq!(
            message(Params { restart: 0, ..good.clone() }),
            "restart = 0: it lies between 1 and 1000"
        );
        assert_eq!(
            message(Params { iterations_per_check: Some(0), ..good }),
            "iterations_per_check = 0: it is at least 1"
        );
        assert_eq!(message(with(chebyshev(0, 30.0))), "degree = 0: it lies between 1 and 100");
        assert_eq!(message(with(chebyshev(3, 1.0))), "ratio = 1: it lies between 1 and 1e6");
    }
}
