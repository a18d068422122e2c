//! Where fields live and kernels run: the host's threads or one device.
//!
//! This is the only crate that names CubeCL's runtimes and its client and, beside calls of MPI, writes `unsafe`. Above
//! it, an algorithm is a sequence of dispatch functions made by `#[kernel]` (see `karman-macros`),
//! each called with a [`Backend`] and [`Buffer`]s that live there; nothing above asks which one.
//!
//! The same run gives the same bits: every entity has one writer, there are no atomics, and a
//! reduction's order depends on the number of entities alone (and on the device).

mod available;
#[cfg(feature = "device")]
mod block;
mod buffer;
#[cfg(feature = "device")]
mod dense_device;
#[cfg(feature = "device")]
mod device;
#[cfg(feature = "device")]
mod device_collectives;
mod device_exchange;
mod device_gather;
#[cfg(feature = "device")]
mod device_memory;
mod entry_order;
mod gather;
pub mod group;
mod halo;
#[cfg(feature = "device")]
mod halo_device;
mod host;
mod host_memory;
mod kind;
mod local;
#[cfg(feature = "device")]
mod local_device;
#[cfg(feature = "device")]
mod merge_device;
#[cfg(not(feature = "device"))]
mod no_device;
#[cfg(feature = "cuda")]
mod peer_exchange;
#[cfg(feature = "cuda")]
mod peer_memory;
#[cfg(not(feature = "device"))]
use no_device as device;
mod rank_blocks;
mod ranked_list;
#[cfg(feature = "device")]
mod real_device;
mod record;
mod reduce;
#[cfg(feature = "device")]
mod reduce_device;
#[cfg(feature = "device")]
mod scan_device;
#[cfg(feature = "device")]
mod software_device;
#[cfg(feature = "device")]
mod sort_device;
mod split_sums;
#[cfg(feature = "device")]
mod split_sums_device;
mod view;
#[cfg(feature = "device")]
mod view_device;

pub mod blas;
pub mod functions;
pub mod merge;
pub mod prelude;
pub mod real;
pub mod scan;
pub mod sort;
pub mod test_kernels;
pub mod testing;

pub use available::{DeviceDescription, available_devices};
pub use buffer::{Buffer, Element};
pub use device::Device;
pub use entry_order::EntryOrder;
pub use gather::Gather;
pub use group::{Group as RankGroup, Processes};
pub use halo::Halo;
pub use host::{converted, converted_slice, for_each_entity};
pub use host_memory::return_large_arrays;
pub use kind::{BackendError, BackendKind};
pub use local::Local;
#[cfg(not(feature = "device"))]
pub use no_device::OnDevice;
pub use ranked_list::RankedList;
pub use real::Real;
#[cfg(feature = "device")]
pub use real_device::OnDevice;
pub use record::Recording;
pub use reduce::{Partials, Reduction};
pub use view::{Components, Group, Segment, View, Writer};
#[cfg(feature = "device")]
pub use view_device::DeviceArg;

#[doc(hidden)] // named by kernels that the attribute makes
#[cfg(feature = "device")]
pub use device::{block_size, blocks, one_block};
#[doc(hidden)]
pub use reduce::{accumulate, identity};
#[doc(hidden)]
#[cfg(feature = "device")]
pub use reduce_device::{combine_block, reduce_block, sum_of_blocks};
#[doc(hidden)]
pub use split_sums::sum_of_parts;

// The attribute names this crate by its name, here too.
extern crate self as karman_backend;

use std::sync::Arc;

/// Threads in a device block. 256 beat 128 by 15–23 % for sparse products on an H200.
pub const THREADS_PER_BLOCK: usize = 256;

/// Entities in one chunk of a host loop: the unit of work of a thread and of a reduction's order. Fewer with debug assertions, so that
/// small meshes have several chunks in tests of ranks.
pub const HOST_CHUNK: usize = if cfg!(debug_assertions) { 512 } else { 4096 };

/// The host's threads or one device; cheap to clone.
#[derive(Clone)]
pub struct Backend {
    kind: BackendKind,
    pool: Arc<rayon::ThreadPool>,
    device: Option<Arc<Device>>,
    /// The ranks of which this is the backend of one; none of a run with one rank.
    ranks: Option<Arc<dyn RankGroup>>,
    /// Components of the vectors that are reduced.
    components: usize,
    /// Order of their entries, where it is not that of the ranks.
    order: Option<Arc<EntryOrder>>,
    /// The processes that run together.
    processes: Processes,
}

impl Backend {
    /// The host, with `threads` threads (0: one for each processor).
    ///
    /// # Errors
    /// [`BackendError::Threads`] where the system gives no such number of threads.
    pub fn host(threads: usize) -> Result<Backend, BackendError> {
        let pool = Arc::new(thread_pool(threads)?);
        let processes = Processes::default();
        Ok(Backend {
            kind: BackendKind::Cpu,
            pool,
            device: None,
            ranks: None,
            components: 1,
            order: None,
            processes,
        })
    }

    /// The backend of one of several ranks on the host, with `threads` threads of its own. Its reductions run over the
    /// entities of all ranks, so all ranks make and use their [`Partials`] in the same order.
    ///
    /// # Errors
    /// As [`Backend::host`].
    pub fn of_rank(threads: usize, group: Arc<dyn RankGroup>) -> Result<Backend, BackendError> {
        let ranks = (group.size() > 1).then_some(group);
        Ok(Backend { ranks, ..Backend::host(threads)? })
    }

    /// The backend of this kind; `Auto` is CUDA where it is built in and a device is present, else
    /// the host. `threads` is the number of host threads, which set-up uses on every backend.
    ///
    /// # Errors
    /// [`BackendError`] where the kind is not built in or the machine has no such device.
    pub fn new(kind: BackendKind, threads: usize) -> Result<Backend, BackendError> {
        let kind = kind.resolve();
        let pool = Arc::new(thread_pool(threads)?);
        let device = match kind {
            BackendKind::Cpu => None,
            _ => Some(Arc::new(Device::open(kind)?)),
        };
        let processes = Processes::default();
        Ok(Backend { kind, pool, device, ranks: None, components: 1, order: None, processes })
    }

    /// The same threads or device without other ranks: reductions run over the entities of this rank alone.
    pub fn alone(&self) -> Backend {
        Backend { ranks: None, ..self.clone() }
    }

    /// The host threads of this backend without its device.
    #[must_use]
    pub fn on_host(&self) -> Backend {
        Backend { kind: BackendKind::Cpu, device: None, ..self.clone() }
    }

    /// This backend as that of one of several processes. Its own reductions stay those of the process.
    pub fn of_process(self, processes: Processes) -> Backend {
        Backend { processes, ..self }
    }

    /// The processes that run together, each with such a backend.
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// The backend of one of several ranks on a device of this kind, or on the host, with `threads` threads of its own. The ranks
    /// of a process take its devices in turn.
    ///
    /// # Errors
    /// As [`Backend::new`].
    pub fn of_rank_on(
        kind: BackendKind,
        threads: usize,
        group: Arc<dyn RankGroup>,
    ) -> Result<Backend, BackendError> {
        let kind = kind.resolve();
        if kind == BackendKind::Cpu {
            return Backend::of_rank(threads, group);
        }
        let mut device = Device::of_rank(kind, group.rank(), group.size())?;
        device.connect(&*group)?;
        let own = Backend::of_rank(threads, group)?;
        Ok(Backend { kind, device: Some(Arc::new(device)), ..own })
    }

    /// Whether launches, with the exchange between ranks, can be recorded and replayed.
    pub(crate) fn can_capture(&self) -> bool {
        let is_queued = |device: &Device| self.ranks.is_none() || device.exchanges_by_itself();
        self.device().is_some_and(|device| device.has_graphs() && is_queued(device))
    }

    /// The kind of this backend (never `Auto`).
    pub fn kind(&self) -> BackendKind {
        self.kind
    }

    /// The device, or none on the host.
    pub fn device(&self) -> Option<&Device> {
        self.device.as_deref()
    }

    /// A name of the processor for summaries.
    pub fn device_name(&self) -> String {
        match (self.device(), self.processes.count()) {
            (Some(device), _) => device.name().to_owned(),
            (None, 1) => available::host_threads(self.threads()),
            (None, n) => format!("{n} processes of {}", available::host_threads(self.threads())),
        }
    }

    /// Number of host threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `work` on this backend's host threads: every host loop inside it uses them.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let (mut work, mut result) = (Some(work), None);
        self.install_erased(&mut || result = work.take().map(|work| work()));
        match result {
            Some(result) => result,
            None => unreachable!("the pool has run the work, or passed its panic on"),
        }
    }

    /// Compiled once for all [`Backend::install`].
    #[inline(never)]
    fn install_erased(&self, work: &mut (dyn FnMut() + Send)) {
        self.pool.install(work);
    }

    /// Waits for everything submitted so far.
    ///
    /// # Errors
    /// [`BackendError::Device`] where the device reports a fault.
    pub fn synchronize(&self) -> Result<(), BackendError> {
        self.check_ranks()?;
        self.device().map_or(Ok(()), Device::synchronize)
    }

    /// The ranks of which this is the backend of one; none of a run with one rank.
    pub fn ranks(&self) -> Option<&Arc<dyn RankGroup>> {
        self.ranks.as_ref()
    }

    /// The sum of a number over all ranks, each of which calls it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    pub fn total(&self, own: usize) -> Result<usize, BackendError> {
        let Some(group) = &self.ranks else { return Ok(own) };
        let (of_ranks, _) = group::gather_lists(&**group, &[own as u32])?;
        Ok(of_ranks.into_iter().map(|number| number as usize).sum())
    }

    /// This backend for vectors of several components, `[components][entities]`, of which each of several ranks has some
    /// entities of all components. Reductions over so many entries have the blocks of one rank.
    #[must_use]
    pub fn of_vectors(&self, components: usize) -> Backend {
        Backend { components, ..self.clone() }
    }

    /// This backend for vectors of which a rank has entries in an order of its own. Reductions over so many entries have the blocks of
    /// one rank, on the host.
    #[must_use]
    pub fn in_order(&self, order: Arc<EntryOrder>) -> Backend {
        Backend { order: Some(order), ..self.clone() }
    }

    /// The order of the entries of vectors, see [`Backend::in_order`].
    pub(crate) fn order(&self) -> Option<&Arc<EntryOrder>> {
        self.order.as_ref()
    }

    /// Components of the vectors that are reduced, see [`Backend::of_vectors`].
    pub(crate) fn components(&self) -> usize {
        self.components
    }

    /// Whether all ranks are well.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where one failed: values that depend on others have no meaning.
    pub fn check_ranks(&self) -> Result<(), BackendError> {
        self.ranks.as_ref().and_then(|ranks| ranks.failure()).map_or(Ok(()), Err)
    }

    /// Bytes of device memory reserved now; 0 on the host.
    pub fn device_bytes(&self) -> u64 {
        self.device().map_or(0, Device::bytes_reserved)
    }
}

fn thread_pool(threads: usize) -> Result<rayon::ThreadPool, BackendError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| BackendError::Threads { threads, reason: e.to_string() })
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Backend({}, {})", self.kind.word(), self.device_name())
    }
}
