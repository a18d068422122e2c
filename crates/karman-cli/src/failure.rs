//! Failures and their exit codes: 1 for a wrong case or file, 2 for a solution that failed, 3 for a bug in
//! karman, 130 for a run ended by a signal.

use karman::simulation::{Outcome, OutcomeKind};
use std::fmt;
use std::panic::PanicHookInfo;

/// Exit code of a bug.
pub(crate) const BUG: u8 = 3;

/// Exit code after a signal.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The arguments, the case or a file.
    Input(String),
    /// The solution diverged, did not converge, or differs from the expected values.
    Solution(String),
    /// A signal ended the run; its results so far are written.
    Interrupted(String),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::Input(_) => 1,
            Failure::Solution(_) => 2,
            Failure::Interrupted(_) => INTERRUPTED,
        }
    }

    /// The failure of a run with this outcome, if it is one.
    pub(crate) fn of(outcome: &Outcome) -> Option<Failure> {
        match outcome.kind {
            kind if kind.is_success() => None,
            OutcomeKind::Interrupted => Some(Failure::Interrupted(outcome.to_string())),
            _ => Some(Failure::Solution(outcome.to_string())),
        }
    }

    /// A failure of the input.
    pub(crate) fn input(error: impl fmt::Display) -> Failure {
        Failure::Input(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(message) => write!(formatter, "error: {message}"),
            Failure::Solution(message) => write!(formatter, "failed: {message}"),
            Failure::Interrupted(message) => formatter.write_str(message),
        }
    }
}

/// The message to the user after a panic.
pub(crate) fn bug_report(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map_or(String::new(), |place| format!(" ({place})"));
    let payload = panic.payload();
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or(payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!(
        "this is a bug in karman, not a fault of yours: {message}{place}\n\
         Please report it with the case file, the command and log.txt."
    )
}
