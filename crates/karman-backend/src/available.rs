//! Devices of this machine.

use super::BackendKind;
use super::device::{device_names, has_devices};

impl BackendKind {
    /// The kind that `auto` selects on this machine.
    pub(super) fn resolve(self) -> BackendKind {
        match self {
            BackendKind::Auto if has_devices(BackendKind::Cuda) => BackendKind::Cuda,
            BackendKind::Auto => BackendKind::Cpu,
            other => other,
        }
    }
}

/// One line of `karman devices`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DeviceDescription {
    /// The kind that opens it.
    pub backend: &'static str,
    /// Name.
    pub name: String,
}

/// The host by its threads.
pub(super) fn host_threads(count: usize) -> String {
    if count == 1 { "1 host thread".to_owned() } else { format!("{count} host threads") }
}

/// Every device this build can open on this machine, the host first.
pub fn available_devices() -> Vec<DeviceDescription> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let host = DeviceDescription { backend: BackendKind::Cpu.word(), name: host_threads(threads) };
    let of_kind = |kind: BackendKind| {
        let described = move |name| DeviceDescription { backend: kind.word(), name };
        device_names(kind).into_iter().map(described)
    };
    std::iter::once(host).chain(BackendKind::ALL.into_iter().skip(2).flat_map(of_kind)).collect()
}
