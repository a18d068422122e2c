//! What became of a solve. Divergence is an outcome, not an error.

use std::fmt;

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status {
    /// ‖b − A x‖ ≤ tolerance ‖b‖, recomputed from x.
    Converged,
    /// The iterations allowed were made.
    MaxIterations,
    /// The true residual does not become smaller any more.
    Stagnated,
    /// The method cannot go on.
    Breakdown(Breakdown),
    /// A residual that is not finite: the matrix, b or x holds such a number, or it overflowed.
    NotANumber,
}

/// Why a method cannot go on.
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
    /// The shadow residual has become orthogonal to the residual or to the product.
    Shadow {
        /// The scalar product.
        product: f64,
    },
    /// The stabilising step of BiCGStab has length zero.
    Stabiliser {
        /// The length.
        length: f64,
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
            Breakdown::Stabiliser { length } => {
                write!(f, "the stabilising step has length {length:.3e}")
            }
        }
    }
}

/// What became of a solve. Outcomes are equal where all but their seconds are.
#[derive(Clone, Debug)]
pub struct SolveOutcome {
    /// How it ended.
    pub status: Status,
    /// Iterations made, exactly; a step of BiCGStab, with its two products, counts as one.
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖ of the x returned (‖r₀‖ in place of ‖b‖ where b = 0).
    pub relative_residual: f64,
    /// ‖b‖, or ‖r₀‖ where b = 0.
    pub reference: f64,
    /// Times the recurrence was started anew from the true residual.
    pub restarts: usize,
    /// |Σ b| / (√n ‖b‖) where constants are projected out, 0 elsewhere: how far b is from having a
    /// solution, between 0 and 1.
    pub incompatibility: f64,
    /// ‖r‖ / ‖b‖ at the start and after each iteration, where it was asked for.
    pub history: Vec<f64>,
    /// Seconds from the call to the host's last look. On a device they begin with whatever was enqueued
    /// there before.
    pub seconds: f64,
}

impl PartialEq for SolveOutcome {
    fn eq(&self, other: &SolveOutcome) -> bool {
        let told = |o: &SolveOutcome| {
            (
                o.status,
                o.iterations,
                o.relative_residual,
                o.reference,
                o.restarts,
                o.incompatibility,
            )
        };
        told(self) == told(other) && self.history == other.history
    }
}

impl SolveOutcome {
    /// Whether the tolerance was reached.
    pub fn is_converged(&self) -> bool {
        self.status == Status::Converged
    }

    /// The outcome of this solve and those before it: their iterations and seconds together, and the
    /// worst ending.
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
        }
        let (count, residual) = (self.iterations, self.relative_residual);
        let plural = if count == 1 { "" } else { "s" };
        write!(f, " {count} iteration{plural}, relative residual {residual:.2e}")?;
        if !self.is_compatible() {
            let part = self.incompatibility;
            write!(
                f,
                "; the right-hand side has a constant part ({part:.3e}), which was left out"
            )?;
        }
        Ok(())
    }
}
