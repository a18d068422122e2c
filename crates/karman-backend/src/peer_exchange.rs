//! Exchange between devices of CUDA through memory that they read from each other: one kernel, without a library.
//!
//! Where messages are small it takes a third of the time of a collective of NCCL. The kernel waits for other devices, which the
//! source of `#[kernel]` cannot express, so its text is that of CUDA.

use super::device_exchange::Entries;
use super::group::Group;
use super::halo::VectorLayout;
use super::peer_memory::{CudaThread, PeerMemory, WINDOW};
use super::{BackendError, Device, THREADS_PER_BLOCK, block_size};
use cubecl::device::DeviceId;
use cubecl::ir::metadata::Info;
use cubecl::ir::{AddressType, ElemType, Scope, UIntKind};
use cubecl::prelude::*;
use cubecl::server::{Handle, KernelArguments, MetadataBindingInfo};
use cubecl::{CubeKernel, PrecompiledSource};
use std::ops::Range;

/// Words of half a window: 16 MB. Larger messages are several exchanges.
const HALF: usize = WINDOW / 2;

/// The most ranks that `Message` has room for.
const MOST_RANKS: usize = 16;

/// Blocks of a launch for each multiprocessor, few enough that all of them run at once.
const BLOCKS_OF_PROCESSOR: usize = 4;

const SOURCE: &str = include_str!("peer_exchange.cu");

/// The exchange of a rank with the devices of the others.
pub(super) struct PeerExchange {
    rank: usize,
    memory: PeerMemory,
}

/// The kernel of `peer_exchange.cu`.
struct PeerKernel;

impl KernelMetadata for PeerKernel {
    fn id(&self) -> KernelId {
        KernelId::new::<PeerKernel>().info(SOURCE).cube_dim(block_size().0)
    }

    fn address_type(&self) -> ElemType {
        ElemType::UInt(UIntKind::U32)
    }
}

impl CubeKernel for PeerKernel {
    fn define(&self) -> KernelDefinition {
        let settings =
            KernelSettings::new(block_size().0, ExecutionMode::Unchecked, AddressType::U32);
        let body = Scope::root(settings.clone());
        KernelDefinition { body, settings, info: Info::default() }
    }

    fn source(&self) -> Option<PrecompiledSource> {
        let (source, entrypoint_name) = (SOURCE.to_owned(), "exchange".to_owned());
        Some(PrecompiledSource { source, entrypoint_name, lang: "cuda" })
    }
}

impl PeerExchange {
    /// Connects the devices of all ranks, of which `device` is that of this one; none where they do not see each other's
    /// memory. All ranks call it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    pub(super) fn new(
        device: DeviceId,
        group: &dyn Group,
    ) -> Result<Option<PeerExchange>, BackendError> {
        if group.size() > MOST_RANKS {
            return Ok(None);
        }
        let memory = PeerMemory::new(CudaThread::new(device), group)?;
        Ok(memory.map(|memory| PeerExchange { rank: group.rank(), memory }))
    }

    /// The entries `given` of a vector go to all ranks, and `taken` of another come from them, of which rank r gives
    /// `starts[r]..starts[r + 1]`. All ranks call it.
    ///
    /// Traffic: twice what this rank gives and twice what it takes, of the latter what other ranks give between devices.
    pub(super) fn exchange(
        &self,
        device: &Device,
        (given, of_given, from): (Entries<'_>, VectorLayout, &Handle),
        (taken, of_taken, to): (Entries<'_>, VectorLayout, &Handle),
        starts: &[usize],
    ) {
        let each = of_given.words * of_given.components;
        let most = starts.windows(2).map(|of| of[1] - of[0]).max().unwrap_or(0);
        let entries = HALF / each;
        let handle = |entries: &Entries<'_>, vector: &Handle| match entries {
            Entries::From { .. } => vector.clone(),
            Entries::Listed { list, .. } => list.device_handle().clone(),
        };
        let lists = [handle(&given, from), handle(&taken, to)];
        let sides: Vec<u64> =
            [side(&given, of_given), side(&taken, of_taken)].into_iter().flatten().collect();
        for low in (0..most).step_by(entries) {
            let part = low..(low + entries).min(most);
            let words = each * taken.count().max(part.len());
            let mut message = sides.clone();
            message.extend([of_given.components, of_given.words].map(|number| number as u64));
            message.extend(self.of_ranks(part, starts));
            let [given, taken] = lists.clone().map(Handle::binding);
            let mut arguments = KernelArguments::new()
                .with_buffer(from.clone().binding())
                .with_buffer(given)
                .with_buffer(to.clone().binding())
                .with_buffer(taken);
            // By value.
            let dynamic_metadata_offset = message.len();
            arguments.info = MetadataBindingInfo { data: message, dynamic_metadata_offset };
            // A thread moves a word or two.
            let threads = words.div_ceil(if of_given.words % 2 == 0 { 2 } else { 1 });
            let most = BLOCKS_OF_PROCESSOR * device.processors();
            let blocks = threads.div_ceil(THREADS_PER_BLOCK).clamp(1, most);
            let count = CubeCount::Static(blocks as u32, 1, 1);
            device.client().launch(Box::new(PeerKernel), count, arguments);
            self.memory.flush();
        }
    }

    /// The numbers of `Message` from `low` on.
    fn of_ranks(&self, part: Range<usize>, starts: &[usize]) -> Vec<u64> {
        let PeerMemory { windows, states, failed, .. } = &self.memory;
        let numbers = [part.start, part.end, HALF, self.rank, windows.len(), *failed as usize];
        let mut message: Vec<u64> = numbers.map(|number| number as u64).into();
        let starts: Vec<u64> = starts.iter().map(|start| *start as u64).collect();
        for (list, room) in [(&starts, MOST_RANKS + 1), (windows, MOST_RANKS), (states, MOST_RANKS)]
        {
            message.extend(list);
            message.extend((list.len()..room).map(|_| 0));
        }
        message
    }
}

/// `Side` of `peer_exchange.cu`.
fn side(entries: &Entries<'_>, layout: VectorLayout) -> [u64; 4] {
    let (is_listed, first) = match *entries {
        Entries::From { first, .. } => (0, first),
        Entries::Listed { first, .. } => (1, first),
    };
    [layout.stride, is_listed, first, entries.count()].map(|number| number as u64)
}
