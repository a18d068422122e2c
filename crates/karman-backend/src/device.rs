//! Choice and properties of a device. The only file that names CubeCL's runtimes.

#![allow(unsafe_code)]

use super::software_device::Calls;
use super::{BackendError, BackendKind, THREADS_PER_BLOCK};
use cubecl::prelude::*;

pub(super) use super::device_memory::Handle;

/// Recorded launches.
pub(super) struct Graph(cubecl::client::Graph);

impl Graph {
    /// Runs the launches once more. The buffers that they name must live.
    pub(super) fn replay(&self) -> Result<(), BackendError> {
        // SAFETY: a `Recording` lends the state that owns every buffer; all work goes through the one
        // client and its stream.
        unsafe { self.0.replay() }.map_err(|e| BackendError::Device(format!("{e}")))
    }
}

/// Devices looked for on one machine.
#[cfg(any(feature = "cuda", feature = "hip"))]
const MOST_DEVICES: usize = 16;

fn devices_of(kind: BackendKind) -> Vec<cubecl::Device> {
    #[cfg(feature = "cuda")]
    keep_compiled_kernels();
    match kind {
        #[cfg(feature = "cuda")]
        BackendKind::Cuda => {
            (0..MOST_DEVICES).map_while(|i| cubecl::Device::cuda(i).ok()).collect()
        }
        #[cfg(feature = "hip")]
        BackendKind::Hip => (0..MOST_DEVICES).map_while(|i| cubecl::Device::rocm(i).ok()).collect(),
        #[cfg(any(feature = "wgpu", feature = "vulkan"))]
        BackendKind::Wgpu | BackendKind::Vulkan => wgpu_devices(kind),
        _ => vec![],
    }
}

/// Has kernels kept in the user's cache directory, so that a process compiles only what none before it
/// has, unless the program has configured CubeCL already.
#[cfg(feature = "cuda")]
fn keep_compiled_kernels() {
    use cubecl_environment::{config::RuntimeConfig, persistence::CacheConfig};
    let mut config = cubecl::config::CubeClRuntimeConfig::default();
    config.compilation.cache = true;
    let directory = CacheConfig::Global.root().with_file_name("karman");
    config.environment.path = CacheConfig::Directory(directory);
    cubecl::config::CubeClRuntimeConfig::try_set(config);
}

/// WGSL by default; the `vulkan` feature compiles SPIR-V instead, on the same adapters. An adapter
/// is looked for among real devices first and software ones last.
#[cfg(any(feature = "wgpu", feature = "vulkan"))]
fn wgpu_devices(kind: BackendKind) -> Vec<cubecl::Device> {
    use cubecl::wgpu::WgpuDeviceKind as Kind;
    if !kind.is_built() {
        return vec![];
    }
    let open = |k: Kind| match kind {
        BackendKind::Vulkan => cubecl::Device::vulkan(k),
        _ => cubecl::Device::wgpu(k),
    };
    [Kind::DiscreteGpu(0), Kind::IntegratedGpu(0), Kind::VirtualGpu(0), Kind::Cpu]
        .into_iter()
        .find_map(|k| open(k).ok())
        .into_iter()
        .collect()
}

/// Whether the machine has a device of this kind.
pub(super) fn has_devices(kind: BackendKind) -> bool {
    !devices_of(kind).is_empty()
}

/// Names of the devices of this kind.
pub(super) fn device_names(kind: BackendKind) -> Vec<String> {
    devices_of(kind).iter().map(|device| Device::from_cubecl(kind, device).name).collect()
}

/// Numbers streams, which is all that backends of one process share.
static STREAMS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);

/// One device: its client and the properties launches need.
pub struct Device {
    client: Client,
    /// Of a software device.
    calls: Option<Calls>,
    name: String,
    planes: bool,
    graphs: bool,
    /// Devices of the ranks of this process, one each; empty where ranks share a device.
    pub(super) of_ranks: Vec<cubecl::device::DeviceId>,
    /// The exchange with the devices of other ranks.
    #[cfg(feature = "cuda")]
    pub(super) peers: Option<super::peer_exchange::PeerExchange>,
    processors: usize,
    shared_bytes: usize,
    largest_block: usize,
}

impl Device {
    pub(super) fn open(kind: BackendKind) -> Result<Device, BackendError> {
        Device::of_rank(kind, 0, 1)
    }

    /// The device of a rank among `size` ranks of this process. Ranks share devices where there are more ranks.
    pub(super) fn of_rank(
        kind: BackendKind,
        rank: usize,
        size: usize,
    ) -> Result<Device, BackendError> {
        kind.check_built()?;
        let mut found = devices_of(kind);
        if found.is_empty() {
            let reason = "`karman devices` lists what there is".to_owned();
            return Err(BackendError::NoDevice { kind: kind.word(), reason });
        }
        let mut device = Device::from_cubecl(kind, &found[rank % found.len()]);
        if size > 1 && size <= found.len() {
            found.truncate(size);
            device.of_ranks = found.iter().map(cubecl::Device::to_id).collect();
        }
        let double = f64::elem_type_native();
        let usage = device.client.properties().type_usage(double);
        if !usage.contains(cubecl::features::TypeUsage::Arithmetic) {
            return Err(BackendError::NoDouble { name: device.name });
        }
        Ok(device)
    }

    fn from_cubecl(kind: BackendKind, device: &cubecl::Device) -> Device {
        let mut client = device.client();
        // One stream for all host threads that use this backend, so that work runs in the order it
        // was submitted in and a graph replays where it was recorded; another for each backend, so
        // that they do not meet in a recording.
        let value = STREAMS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // SAFETY: buffers stay on the backend that made them, hence on its stream.
        unsafe { client.set_stream(cubecl_environment::stream::StreamId { value }) };
        let hardware = client.properties().hardware.clone();
        // Full planes of 32 threads are what the plane path of a reduction assumes.
        let planes = matches!(kind, BackendKind::Cuda | BackendKind::Hip)
            && hardware.plane_size_min == hardware.plane_size_max
            && hardware.plane_size_min >= 32;
        let graphs = matches!(kind, BackendKind::Cuda | BackendKind::Hip);
        let processors = hardware.num_streaming_multiprocessors.unwrap_or(8) as usize;
        // CubeCL names a CUDA device after its kind.
        let name = match client.name() {
            own if own == kind.word() => own.to_owned(),
            own => format!("{own} ({})", kind.word()),
        };
        Device {
            client,
            calls: Calls::of(device),
            name,
            planes,
            graphs,
            of_ranks: vec![],
            #[cfg(feature = "cuda")]
            peers: None,
            processors,
            shared_bytes: hardware.max_shared_memory_size,
            largest_block: hardware.max_units_per_cube as usize,
        }
    }

    /// Name for summaries.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The client, for a call. Waits until a software device has taken earlier ones.
    pub fn client(&self) -> &Client {
        if let Some(calls) = &self.calls {
            calls.begin(&self.client);
        }
        &self.client
    }

    /// Whether launches can be captured and replayed as a graph.
    pub fn has_graphs(&self) -> bool {
        self.graphs
    }

    /// Prepares the capture of `work` by running it once, which compiles its kernels.
    pub(super) fn prepare_capture(&self, work: impl FnOnce()) -> Result<(), BackendError> {
        self.client.graph_prepare().map_err(|e| BackendError::Device(e.to_string()))?;
        work();
        self.synchronize()
    }

    /// Captures the launches of `work`. Another thread that uses a device meanwhile makes it fail.
    pub(super) fn capture(&self, work: impl FnOnce()) -> Result<Graph, BackendError> {
        let failed = |e: &dyn std::fmt::Display| BackendError::Device(e.to_string());
        self.client.start_capture().map_err(|e| failed(&e))?;
        work();
        Ok(Graph(self.client.stop_capture().map_err(|e| failed(&e))?))
    }

    /// Whether the threads of a plane can exchange values.
    pub fn has_planes(&self) -> bool {
        self.planes
    }

    /// Entities below this number leave a device waiting for the chain of loads of each thread.
    pub(super) fn few_entities(&self) -> usize {
        self.processors * 1024
    }

    /// Number of multiprocessors.
    #[cfg(feature = "cuda")]
    pub(super) fn processors(&self) -> usize {
        self.processors
    }

    /// Memory that the threads of a block may share.
    pub(super) fn shared_bytes(&self) -> usize {
        self.shared_bytes
    }

    /// The most threads of one block.
    pub(super) fn largest_block(&self) -> usize {
        self.largest_block
    }

    /// At least `count` blocks of so many threads.
    pub(super) fn blocks_of(&self, count: usize, threads: usize) -> CubeCount {
        let size = CubeDim::new_1d(threads as u32);
        cubecl::calculate_cube_count_elemwise(&self.client, count * threads, size)
    }

    /// Blocks of a kernel over `entities`, of which each thread takes `per_thread`.
    pub fn entity_blocks(&self, entities: usize, per_thread: usize) -> CubeCount {
        cubecl::calculate_cube_count_elemwise(
            &self.client,
            entities.div_ceil(per_thread),
            block_size(),
        )
    }

    pub(super) fn synchronize(&self) -> Result<(), BackendError> {
        cubecl::future::block_on(self.client.sync())
            .map_err(|e| BackendError::Device(format!("{e}")))
    }

    pub(super) fn bytes_reserved(&self) -> u64 {
        let report = self.client.memory_report(cubecl::MemoryScope::Device);
        report.usage().bytes_reserved
    }
}

/// The shape of every block.
pub fn block_size() -> CubeDim {
    CubeDim::new_1d(THREADS_PER_BLOCK as u32)
}

/// A grid of one block.
pub fn one_block() -> CubeCount {
    CubeCount::Static(1, 1, 1)
}

/// A grid of `count` blocks.
pub fn blocks(count: usize) -> CubeCount {
    CubeCount::Static(count as u32, 1, 1)
}
