//! Exchange between devices of CUDA through memory that they read from each other: one kernel, without a library.
//!
//! Where messages are small it takes half of the time of a collective of NCCL with the kernels around it. The kernel waits
//! for other devices, which the source of `#[kernel]` cannot express, so its text is that of CUDA.

use super::device_exchange::{Entries, Exchanged, Side};
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

/// The most parts that it has room for.
const MOST_PARTS: usize = 4;

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

    /// Exchanges parts, as many of them at a time as have room in a window. All ranks call it.
    ///
    /// Traffic: twice what this rank gives and twice what it takes, of the latter what other ranks give between devices.
    pub(super) fn exchange(&self, device: &Device, parts: &[Exchanged<'_>]) {
        let mut together: Vec<Piece<'_>> = vec![];
        let mut offset = 0;
        for part in parts {
            let each = part.each();
            for low in (0..part.most()).step_by(HALF / each) {
                let entries = low..(low + HALF / each).min(part.most());
                // Pairs of words begin at even words.
                let words = (each * entries.len()).next_multiple_of(2);
                if together.len() == MOST_PARTS || offset + words > HALF {
                    self.launch(device, &std::mem::take(&mut together));
                    offset = 0;
                }
                together.push(Piece { part, entries, offset });
                offset += words;
            }
        }
        if !together.is_empty() {
            self.launch(device, &together);
        }
    }

    fn launch(&self, device: &Device, pieces: &[Piece<'_>]) {
        let PeerMemory { windows, states, failed, .. } = &self.memory;
        let numbers = [HALF, self.rank, windows.len(), *failed as usize];
        let mut message: Vec<u64> = numbers.map(|number| number as u64).into();
        extend(&mut message, windows, MOST_RANKS);
        extend(&mut message, states, MOST_RANKS);
        message.push(pieces.len() as u64);
        pieces.iter().for_each(|piece| piece.write(&mut message));
        message.resize(message.len() + (MOST_PARTS - pieces.len()) * PART, 0);
        let mut arguments = KernelArguments::new();
        for place in 0..MOST_PARTS {
            // Those beyond the last part are not used.
            for handle in pieces[place.min(pieces.len() - 1)].part.handles() {
                arguments = arguments.with_buffer(handle.clone().binding());
            }
        }
        // By value.
        let dynamic_metadata_offset = message.len();
        arguments.info = MetadataBindingInfo { data: message, dynamic_metadata_offset };
        let threads = pieces.iter().map(Piece::threads).max().unwrap_or(0);
        let most = BLOCKS_OF_PROCESSOR * device.processors();
        let blocks = threads.div_ceil(THREADS_PER_BLOCK).clamp(1, most);
        let count = CubeCount::Static(blocks as u32, 1, 1);
        device.client().launch(Box::new(PeerKernel), count, arguments);
        self.memory.flush();
    }
}

/// Numbers of `Part` of `peer_exchange.cu`.
const PART: usize = 2 * 4 + 5 + MOST_RANKS + 1;

/// Entries of each rank of a part, and where they are in half a window.
struct Piece<'a> {
    part: &'a Exchanged<'a>,
    entries: Range<usize>,
    offset: usize,
}

impl Piece<'_> {
    /// Writes `Part` of `peer_exchange.cu`.
    fn write(&self, message: &mut Vec<u64>) {
        let Exchanged { given, taken, starts } = self.part;
        for Side { entries, layout, .. } in [given, taken] {
            let (is_listed, first) = match *entries {
                Entries::From { first, .. } => (0, first),
                Entries::Listed { first, .. } => (1, first),
            };
            let numbers = [layout.stride, is_listed, first, entries.count()];
            message.extend(numbers.map(|number| number as u64));
        }
        let VectorLayout { components, words, .. } = given.layout;
        let Range { start, end } = self.entries;
        message.extend([components, words, start, end, self.offset].map(|n| n as u64));
        let starts: Vec<u64> = starts.iter().map(|start| *start as u64).collect();
        extend(message, &starts, MOST_RANKS + 1);
    }

    /// Threads, each of which moves a word or two.
    fn threads(&self) -> usize {
        let words = self.part.each() * self.part.taken.entries.count().max(self.entries.len());
        words.div_ceil(if self.part.given.layout.words.is_multiple_of(2) { 2 } else { 1 })
    }
}

impl Exchanged<'_> {
    /// Words of an entry with all components.
    fn each(&self) -> usize {
        self.given.layout.words * self.given.layout.components
    }

    /// The most entries that a rank gives.
    fn most(&self) -> usize {
        self.starts.windows(2).map(|of| of[1] - of[0]).max().unwrap_or(0)
    }

    /// Vector and list of what is given, then of what is taken; a vector where nothing is listed.
    fn handles(&self) -> [&Handle; 4] {
        let Exchanged { given, taken, .. } = self;
        [given.vector, given.list(), taken.vector, taken.list()]
    }
}

impl Side<'_> {
    /// The list of its entries, or its vector.
    fn list(&self) -> &Handle {
        match &self.entries {
            Entries::From { .. } => self.vector,
            Entries::Listed { list, .. } => list.device_handle(),
        }
    }
}

/// Appends a list with zeros up to `room` numbers.
fn extend(message: &mut Vec<u64>, list: &[u64], room: usize) {
    message.extend(list);
    message.extend((list.len()..room).map(|_| 0));
}
