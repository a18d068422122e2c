//! The set-up of a solver, for logs and summaries.

use super::{HierarchyReport, Method, Solver};
use karman_backend::real::Real;
use std::fmt;

/// Method and preconditioner of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverSetup {
    /// The Krylov method.
    pub method: Method,
    /// Name of the preconditioner.
    pub preconditioner: &'static str,
    /// Reason of its selection.
    pub reason: String,
    /// Its multigrid levels, if any.
    pub hierarchy: Option<HierarchyReport>,
    /// Seconds of set-up.
    pub seconds: f64,
}

impl SolverSetup {
    /// The set-up of `solver`, which took `seconds`.
    pub fn of<T: Real>(solver: &Solver<T>, seconds: f64) -> SolverSetup {
        let (preconditioner, reason) = solver.selection();
        SolverSetup {
            method: solver.params().method,
            preconditioner,
            reason: reason.to_owned(),
            hierarchy: solver.hierarchy().cloned(),
            seconds,
        }
    }
}

impl fmt::Display for SolverSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, name, reason) = (self.method.word(), self.preconditioner, &self.reason);
        let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
        write!(f, "{method} with {name}{reason}, set up in {:.3} s", self.seconds)?;
        self.hierarchy.as_ref().map_or(Ok(()), |hierarchy| write!(f, "\n{hierarchy}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::poisson_2d;
    use crate::{AmgParams, Matrix, Params, PreconditionerKind};
    use karman_backend::Backend;
    use std::sync::Arc;

    #[test]
    fn a_setup_names_the_preconditioner_its_reason_and_the_levels() {
        let backend = Backend::host(1).unwrap();
        let matrix = Arc::new(Matrix::new(&backend, poisson_2d(30)).unwrap());
        let setup = |preconditioner| {
            let params = Params { preconditioner, ..Params::default() };
            SolverSetup::of(&Solver::new(&backend, matrix.clone(), &params).unwrap(), 0.25)
        };
        let amg = AmgParams::default();
        let text = setup(PreconditionerKind::Auto { amg, polynomial: false }).to_string();
        let small = "cg with jacobi (900 unknowns are fewer than 100000), set up in 0.250 s";
        assert_eq!(text, small);
        let text = setup(PreconditionerKind::Amg(amg)).to_string();
        assert!(text.starts_with("cg with amg, set up in 0.250 s\nlevel "), "{text}");
        assert!(text.contains("\n    0        900 "), "{text}");
    }
}
