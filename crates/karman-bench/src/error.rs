//! Why a benchmark could not be run.

use karman::backend::BackendError;
use karman::compressible::CompressibleError;
use karman::finite_volume::DiffusionError;
use karman::incompressible::IncompressibleError;
use karman::linear::LinearError;
use karman::mesh::MeshError;
use karman::mesh::files::MeshFileError;
use karman::mesh::generate::GenerateError;
use karman_adapt::AdaptError;

/// Why a benchmark could not be run.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The device failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A mesh of that size cannot be generated.
    #[error("a mesh of about {cells} cells: {reason}")]
    Generate {
        /// Requested cells.
        cells: usize,
        /// Why it cannot.
        reason: GenerateError,
    },
    /// The generated mesh was refused.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The generated mesh could not be written or read back, or the system not written.
    #[error(transparent)]
    File(#[from] MeshFileError),
    /// The heat problem could not be discretised.
    #[error(transparent)]
    Diffusion(#[from] DiffusionError),
    /// A flow could not be set up or advanced.
    #[error(transparent)]
    Flow(#[from] IncompressibleError),
    /// A compressible flow could not be set up or advanced.
    #[error(transparent)]
    Gas(#[from] CompressibleError),
    /// A mesh could not be smoothed.
    #[error(transparent)]
    Adapt(#[from] AdaptError),
    /// A matrix does not fit, or the device failed in a solver.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// A parameter of a plan is out of range.
    #[error("{name} = {value}: {rule}")]
    Plan {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its allowed range.
        rule: &'static str,
    },
    /// A flow has values that are not finite.
    #[error("the flow `{case}` diverged in step {step}")]
    Diverged {
        /// The flow.
        case: &'static str,
        /// Steps taken.
        step: usize,
    },
    /// Several ranks did not compute the same as one.
    #[error("{ranks} ranks took {} iterations, not {}", iterations[1], iterations[0])]
    Iterations {
        /// Number of ranks.
        ranks: usize,
        /// Iterations of the first number of ranks, and of these.
        iterations: [usize; 2],
    },
    /// Conjugate gradients did not reach their tolerance.
    #[error("conjugate gradients on {cells} cells: {outcome}")]
    NotConverged {
        /// Cells.
        cells: usize,
        /// The outcome of the solve.
        outcome: String,
    },
}
