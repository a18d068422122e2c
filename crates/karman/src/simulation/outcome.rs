//! Progress and outcome of a run.

use std::fmt;

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Number of time steps.
    pub step: u64,
    /// Current time.
    pub time: f64,
    /// Final time; 0 in a steady run.
    pub end: f64,
    /// Largest rate of change of the fields; 0 in a steady run.
    pub rate: f64,
    /// Scaled residual of an iteration towards a steady state; none elsewhere.
    pub scaled_residual: Option<f64>,
    /// Courant number of the step; none without convection.
    pub courant: Option<f64>,
    /// Relative residual of the last linear system.
    pub residual: f64,
    /// Its iterations.
    pub iterations: u64,
    /// Seconds since the first step began.
    pub seconds: f64,
}

/// The kind of end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// A steady state within its tolerance.
    Converged,
    /// The final time was reached.
    Finished,
    /// A linear solver did not meet its tolerance within the allowed iterations.
    NotConverged,
    /// Values grew without bound or are NaN.
    Diverged,
    /// An error, such as a file that cannot be written.
    Failed,
    /// Interrupted by a signal or the caller; the results so far are written.
    Interrupted,
}

impl OutcomeKind {
    /// The word in the summary.
    pub const fn name(self) -> &'static str {
        match self {
            OutcomeKind::Converged => "converged",
            OutcomeKind::Finished => "finished",
            OutcomeKind::NotConverged => "not converged",
            OutcomeKind::Diverged => "diverged",
            OutcomeKind::Failed => "failed",
            OutcomeKind::Interrupted => "interrupted",
        }
    }

    /// Whether the run succeeded.
    pub const fn is_success(self) -> bool {
        matches!(self, OutcomeKind::Converged | OutcomeKind::Finished)
    }
}

/// The end of a run and its reason. Displayed as `kind: message`, or as the message if it begins with the
/// kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its kind.
    pub kind: OutcomeKind,
    /// The reason, in a sentence.
    pub message: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, message) = (self.kind.name(), &self.message);
        if message.starts_with(kind) {
            write!(f, "{message}")
        } else {
            write!(f, "{kind}: {message}")
        }
    }
}
