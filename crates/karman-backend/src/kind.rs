//! Kinds of backends, and what can fail.

use karman_macros::Keyword;
use thiserror::Error;

/// A failure of the backend.
#[derive(Debug, Error, Clone, PartialEq)]
pub enum BackendError {
    /// The kind was not compiled in.
    #[error("this karman was built without the `{kind}` backend; {hint}")]
    NotBuilt {
        /// Name of the kind.
        kind: &'static str,
        /// How to get it.
        hint: String,
    },
    /// The machine has no such device.
    #[error("no device for the backend `{kind}`: {reason}")]
    NoDevice {
        /// Name of the kind.
        kind: &'static str,
        /// The reason.
        reason: String,
    },
    /// A kernel or a copy failed.
    #[error("the device failed: {0}")]
    Device(String),
    /// No threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// Threads asked for (0: all).
        threads: usize,
        /// The system's answer.
        reason: String,
    },
    /// A rank failed, panicked or hangs.
    #[error("rank {rank}: {reason}")]
    Rank {
        /// Its number.
        rank: usize,
        /// The reason.
        reason: String,
    },
    /// The device lacks double precision, which reductions use.
    #[error("the device `{name}` has no double precision, which karman's reductions need")]
    NoDouble {
        /// The device.
        name: String,
    },
}

/// A kind of backend, as `[run] backend` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Keyword)]
pub enum BackendKind {
    /// CUDA where it is built in and a device is present, else the CPU.
    #[default]
    Auto,
    /// Threads of the CPU.
    Cpu,
    /// NVIDIA, through NVRTC.
    Cuda,
    /// SPIR-V on AMD, Intel or NVIDIA.
    Vulkan,
    /// WGSL: for tests without a GPU.
    Wgpu,
    /// AMD.
    Hip,
}

impl BackendKind {
    /// Fails where the kind is not built in.
    pub(super) fn check_built(self) -> Result<(), BackendError> {
        let hint = || format!("build it with `--features {}`", self.word());
        match self.is_built() {
            true => Ok(()),
            false => Err(BackendError::NotBuilt { kind: self.word(), hint: hint() }),
        }
    }

    pub(super) const fn is_built(self) -> bool {
        match self {
            BackendKind::Auto | BackendKind::Cpu => true,
            BackendKind::Cuda => cfg!(feature = "cuda"),
            BackendKind::Vulkan => cfg!(feature = "vulkan"),
            BackendKind::Wgpu => cfg!(feature = "wgpu"),
            BackendKind::Hip => cfg!(feature = "hip"),
        }
    }
}
