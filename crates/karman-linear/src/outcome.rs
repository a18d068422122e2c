//! The outcome of a solve. Divergence is an outcome, not an error.

use std::fmt;

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status {
    /// ‖b − A x‖ ≤ tolerance ‖b‖, recomputed from x.
    Converged,
    /// The maximum number of iterations was reached.
    MaxIterations,
    /// The true residual no longer decreases.
    Stagnated,
    /// The method broke down.
    Breakdown(Breakdown),
    /// The residual is not finite: the matrix, b or x has a NaN or an infinity, or a number overflowed.
    NotANumber,
    /// The caller stopped it, see [`Solver::stop_when`](super::Solver::stop_when).
    Interrupted,
}

/// The cause of a breakdown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Breakdown {
    /// p·Ap is not positive.
    Operator {
        /// p·Ap.
        curvature: f64,
    },
    /// r·M⁻¹r is not positive.
    Preconditioner {
        /// r·M⁻¹r.
        product: f64,
    },
    /// r̂·r or r̂·v vanishes: the shadow residual is orthogonal to the residual or to the product.
    Shadow {
        /// The scalar product.
        product: f64,
    },
    /// ω = 0: the stabilisation step of BiCGStab vanishes.
    Omega {
        /// ω.
        omega: f64,
    },
}

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breakdown::Operator { curvature } => {
                write!(f, "p·Ap = {curvature:.3e}: the matrix is not positive definite")
            }
            Breakdown::Preconditioner { product } => {
                write!(f, "r·M⁻¹r = {product:.3e}: the preconditioner is not positive definite")
            }
            Breakdown::Shadow { product } => {
                write!(f, "the shadow residual is orthogonal to the residual ({product:.3e})")
            }
            Breakdown::Omega { omega } => {
                write!(f, "ω = {omega:.3e}: the stabilisation step of BiCGStab vanishes")
            }
        }
    }
}

/// The outcome of a solve. Equality ignores `seconds`.
#[derive(Clone, Debug)]
pub struct SolveOutcome {
    /// Status at the end.
    pub status: Status,
    /// Number of iterations; a BiCGStab step with its two products counts as one.
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖ of the x returned (‖r₀‖ in place of ‖b‖ where b = 0).
    pub relative_residual: f64,
    /// ‖b‖, or ‖r₀‖ where b = 0.
    pub reference: f64,
    /// Number of restarts from the true residual.
    pub restarts: usize,
    /// |Σ b| / (√n ‖b‖) where constants are projected out, 0 elsewhere: the share of b outside the range
    /// of A, between 0 and 1.
    pub incompatibility: f64,
    /// ‖r‖ / ‖b‖ at the start and after each iteration, if recorded.
    pub history: Vec<f64>,
    /// Seconds of the call; on a device they include work enqueued earlier.
    pub seconds: f64,
}

impl PartialEq for SolveOutcome {
    fn eq(&self, other: &SolveOutcome) -> bool {
        let compared = |o: &SolveOutcome| {
            (
                o.status,
                o.iterations,
                o.relative_residual,
                o.reference,
                o.restarts,
                o.incompatibility,
            )
        };
        compared(self) == compared(other) && self.history == other.history
    }
}

impl SolveOutcome {
    /// Whether the tolerance was met.
    pub fn is_converged(&self) -> bool {
        self.status == Status::Converged
    }

    /// The combined outcome of earlier solves and this one: summed iterations, restarts and seconds, and
    /// the status of the first solve that did not converge.
    pub fn after(self, before: Option<SolveOutcome>) -> SolveOutcome {
        let Some(before) = before else { return self };
        let iterations = before.iterations + self.iterations;
        let restarts = before.restarts + self.restarts;
        let seconds = before.seconds + self.seconds;
        let worse = if before.is_converged() { self } else { before };
        SolveOutcome { iterations, restarts, seconds, ..worse }
    }

    /// Whether the singular system has a solution up to round-off of b.
    pub fn is_compatible(&self) -> bool {
        self.incompatibility <= 1e-8
    }
}

impl fmt::Display for SolveOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Status::Converged => write!(f, "converged in")?,
            Status::MaxIterations => write!(f, "not converged after")?,
            Status::Stagnated => write!(f, "stagnated after")?,
            Status::Breakdown(why) => write!(f, "broke down ({why}) after")?,
            Status::NotANumber => write!(f, "not a number after")?,
            Status::Interrupted => write!(f, "interrupted after")?,
        }
        let (count, residual) = (self.iterations, self.relative_residual);
        let plural = if count == 1 { "" } else { "s" };
        write!(f, " {count} iteration{plural}, relative residual {residual:.2e}")?;
        if !self.is_compatible() {
            let part = self.incompatibility;
            write!(
                f,
                "; the right-hand side has a constant part ({part:.3e}), which was projected out"
            )?;
        }
        Ok(())
    }
}
