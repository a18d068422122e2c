//! How far a run is and how it ended.

use std::fmt;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps taken.
    pub step: u64,
    /// Time reached.
    pub time: f64,
    /// Time at the end; 0 of a steady run.
    pub end: f64,
    /// Relative residual of the last linear system.
    pub residual: f64,
    /// Its iterations.
    pub iterations: u64,
    /// Seconds since the first step began.
    pub seconds: f64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// A steady state within its tolerance.
    Converged,
    /// The end of time.
    Finished,
    /// A tolerance not met in the iterations allowed.
    NotConverged,
    /// Values that grow without bound or are not numbers.
    Diverged,
    /// An error on the way, such as a file that cannot be written.
    Failed,
    /// Stopped from outside; what was reached is written.
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

    /// Whether the solution is one.
    pub const fn is_success(self) -> bool {
        matches!(self, OutcomeKind::Converged | OutcomeKind::Finished)
    }
}

/// How a run ended, and why. Displayed as `kind: message`, or the message alone where it begins with the kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How.
    pub kind: OutcomeKind,
    /// Why, in a sentence.
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
