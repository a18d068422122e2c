//! The run of a case: set-up, steps, output.

use crate::backend::{BackendError, BackendKind};
use crate::case::{Case, CaseError};
use crate::io::MeshFileError;
use crate::io::checkpoint::CheckpointError;
use crate::mesh::MeshError;
use crate::monitor::MonitorError;
use std::path::PathBuf;
use thiserror::Error;

/// What the command line may change about a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// The backend, in place of the case's own.
    pub backend: Option<BackendKind>,
    /// A checkpoint to continue from.
    pub restart: Option<PathBuf>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps taken; of a steady run, corrector passes.
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
}

impl OutcomeKind {
    /// The word in the summary.
    pub const fn name(self) -> &'static str {
        match self {
            OutcomeKind::Converged => "converged",
            OutcomeKind::Finished => "finished",
            OutcomeKind::NotConverged => "not converged",
            OutcomeKind::Diverged => "diverged",
        }
    }

    /// Whether the solution is one.
    pub const fn is_success(self) -> bool {
        matches!(self, OutcomeKind::Converged | OutcomeKind::Finished)
    }
}

/// How a run ended, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How.
    pub kind: OutcomeKind,
    /// Why, in a sentence.
    pub message: String,
}

/// Why a run cannot begin or go on.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The case does not fit its mesh.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The mesh file.
    #[error(transparent)]
    MeshFile(#[from] MeshFileError),
    /// The mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The backend.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A probe or a group of patches.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// A file of results.
    #[error("cannot write {}: {reason}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
}

/// A case that is set up.
#[derive(Debug)]
pub struct Simulation {
    /// The case.
    pub case: Case,
}

impl Simulation {
    /// Opens the backend of a case.
    ///
    /// # Errors
    /// [`SimulationError`].
    pub fn new(case: Case, options: RunOptions) -> Result<Simulation, SimulationError> {
        let kind = options.backend.or(BackendKind::from_name(case.run.backend.word()));
        crate::backend::Backend::new(kind.unwrap_or_default(), case.run.threads)?;
        Ok(Simulation { case })
    }

    /// Placeholder of the run loop, which the equations bring with them.
    ///
    /// # Errors
    /// [`SimulationError`].
    pub fn run(&mut self, _observer: &mut dyn FnMut(&Progress)) -> Result<Outcome, SimulationError> {
        let path = self.case.output.directory.clone();
        Err(SimulationError::Write { path, reason: "no equation is solved yet".to_owned() })
    }
}
