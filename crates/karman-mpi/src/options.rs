//! How processes wait for each other and tell of failures.

use std::time::Duration;

/// How processes wait for each other and tell of failures.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Time that a process waits for another one before that one counts as hanging.
    pub patience: Duration,
    /// Prints the reason for the end of all processes.
    pub complain: fn(&str),
}
