//! The processes that a launcher as `mpirun` started, of which this is one: the first writes and prints; a failure of one ends all.

use crate::console;
use crate::failure::Failure;
use karman::backend::Processes;
use karman_mpi::{Launch, MpiGroup, Options};
use std::sync::Arc;
use std::time::Duration;

/// Time that a process waits for another one before that one counts as hanging.
const PATIENCE: Duration = Duration::from_secs(600);

/// This process as one of those that run together; by default a process by itself.
#[derive(Default)]
pub(crate) struct Started {
    group: Option<MpiGroup>,
}

/// Whether this process prints: the only one, or the first.
pub(crate) fn is_first() -> bool {
    Launch::of_environment().is_none_or(|launch| launch.number == 0)
}

impl Started {
    /// Starts MPI where a launcher started several processes of the command `run`.
    ///
    /// # Errors
    /// [`Failure::Input`] of another command, and of a program without MPI: they would do the same several times.
    pub(crate) fn of_environment(is_run: bool) -> Result<Started, Failure> {
        let Some(Launch { count, .. }) = Launch::of_environment() else {
            return Ok(Started::default());
        };
        let refused =
            |reason: &str| Failure::Input(format!("{count} processes were started: {reason}"));
        if !is_run {
            return Err(refused(
                "`karman run` alone runs as several; start other commands without mpirun",
            ));
        }
        let options = Options { patience: PATIENCE, complain: console::complain };
        let group = MpiGroup::start(options).map_err(|reason| refused(&reason))?;
        Ok(Started { group: Some(group) })
    }

    /// The processes that run the case.
    pub(crate) fn processes(&self) -> Processes {
        let group = self.group.clone();
        group.map_or_else(Processes::default, |group| Processes::of(Arc::new(group)))
    }

    /// Threads of each process where the case leaves it to the program: 0, all of the machine, of a process by itself.
    pub(crate) fn threads(&self) -> usize {
        self.group.as_ref().map_or(0, MpiGroup::threads)
    }

    /// Prints the message of a failure, of several processes once, and returns the exit code. Ends all processes where one fails.
    pub(crate) fn end(&self, code: u8, message: Option<&str>) -> u8 {
        match &self.group {
            Some(group) => group.end(code, message),
            None => {
                message.into_iter().for_each(console::complain);
                code
            }
        }
    }
}
