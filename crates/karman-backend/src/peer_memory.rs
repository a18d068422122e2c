//! Memory of a device of CUDA that kernels of other devices read and write.
//!
//! It is mapped for the devices of the ranks alone. Access to all memory of a device would have each allocation wait for the
//! kernels of other devices, some of which wait for a kernel behind that allocation.

#![allow(unsafe_code)]

use super::BackendError;
use super::group::{Group, gather_lists};
use cubecl::cuda::CudaRuntime;
use cubecl::device_handle::DeviceHandle;
use cubecl_runtime::runtime::Runtime;
use cudarc::driver::{result, sys};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The thread of a device.
pub(super) type CudaThread = DeviceHandle<CudaServer>;

type CudaServer = <CudaRuntime as Runtime>::Server;

/// Words of a window.
pub(super) const WINDOW: usize = 1 << 23;

/// Words of the state of a rank.
const STATE: usize = 1024;

/// A window, followed by a state.
#[derive(Clone, Copy)]
struct Memory {
    ordinal: i32,
    address: u64,
}

/// Memory that no rank uses any more. Mapped memory is not given back: kernels of other devices may still read it.
static UNUSED: Mutex<Vec<Memory>> = Mutex::new(vec![]);

/// Words of the host that devices see, and how many of them are in use.
static WORDS: Mutex<Option<(usize, usize)>> = Mutex::new(None);

/// Bytes of a page of such words.
const PAGE: usize = 1 << 16;

/// The memory of a rank and where that of the other ranks is.
pub(super) struct PeerMemory {
    thread: CudaThread,
    own: Memory,
    /// Addresses of the windows of all ranks, by rank.
    pub(super) windows: Vec<u64>,
    /// Addresses of their states, zeros before the first exchange.
    pub(super) states: Vec<u64>,
    /// Address of a word of the host that is not 0 once the ranks have failed.
    pub(super) failed: u64,
}

impl PeerMemory {
    /// Memory for the devices of all ranks, one each, by the threads of their devices; none where the devices do not see each
    /// other's. All ranks call it.
    ///
    /// # Errors
    /// [`BackendError::Rank`] where a rank failed.
    pub(super) fn new(
        thread: CudaThread,
        group: &dyn Group,
    ) -> Result<Option<PeerMemory>, BackendError> {
        let ordinal = thread.submit_blocking(|_| ordinal_of_device()).ok().flatten();
        let (ordinals, _) = gather_lists(group, &[ordinal.unwrap_or(-1)])?;
        let is_distinct = (0..ordinals.len()).all(|a| !ordinals[..a].contains(&ordinals[a]));
        let own = match is_distinct && !ordinals.contains(&-1) {
            true => {
                let (rank, ordinals) = (group.rank(), ordinals);
                let memory = move |_: &mut CudaServer| shared_memory(&ordinals, rank);
                thread.submit_blocking(memory).ok().flatten()
            }
            false => None,
        };
        let failed = thread.submit_blocking(|_| new_host_word()).ok().flatten();
        let address = own.filter(|_| failed.is_some()).map_or(0, |memory| memory.address);
        let (all, _) = gather_lists(group, &[address as u32, (address >> 32) as u32])?;
        let windows: Vec<u64> =
            all.chunks_exact(2).map(|of| u64::from(of[0]) | u64::from(of[1]) << 32).collect();
        let (Some(own), Some(failed), false) = (own, failed, windows.contains(&0)) else {
            return Ok(None);
        };
        group.on_failure(Box::new(move || {
            // SAFETY: the word is never freed.
            unsafe { &*(failed as *const AtomicU32) }.store(1, Ordering::SeqCst);
        }));
        let states = windows.iter().map(|window| window + (4 * WINDOW) as u64).collect();
        Ok(Some(PeerMemory { thread, own, windows, states, failed }))
    }

    /// Has the thread of the device launch what is queued, for which other ranks wait.
    pub(super) fn flush(&self) {
        self.thread.flush_queue();
    }
}

impl Drop for PeerMemory {
    fn drop(&mut self) {
        // SAFETY: the word is never freed.
        let has_failed = unsafe { &*(self.failed as *const AtomicU32) }.load(Ordering::SeqCst) != 0;
        // After the last kernel of this rank. Kernels of ranks that failed may be anywhere.
        let ended = self.thread.submit_blocking(|_| {
            // SAFETY: a call of the driver on the thread of the device.
            unsafe { sys::cuCtxSynchronize().result().is_ok() }
        });
        if !has_failed && ended.unwrap_or(false) {
            UNUSED.lock().unwrap_or_else(PoisonError::into_inner).push(self.own);
        }
    }
}

/// The number of the device of this thread; none where it cannot pass arguments of kernels by value.
fn ordinal_of_device() -> Option<i32> {
    let (mut ordinal, mut major) = (0, 0);
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
    // SAFETY: calls of the driver on the thread of the device.
    unsafe {
        sys::cuCtxGetDevice(&mut ordinal).result().ok()?;
        sys::cuDeviceGetAttribute(&mut major, attribute, ordinal).result().ok()?;
    }
    (major >= 7).then_some(ordinal)
}

/// A window and a state of zeros on the device `ordinals[rank]` that all these devices see.
fn shared_memory(ordinals: &[i32], rank: usize) -> Option<Memory> {
    let ordinal = ordinals[rank];
    for other in ordinals.iter().filter(|other| **other != ordinal) {
        let mut can_access = 0;
        // SAFETY: a call of the driver.
        unsafe { sys::cuDeviceCanAccessPeer(&mut can_access, *other, ordinal).result().ok()? };
        (can_access != 0).then_some(())?;
    }
    let unused = || {
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        let place = unused.iter().position(|memory| memory.ordinal == ordinal)?;
        Some(unused.swap_remove(place))
    };
    let memory = match unused() {
        Some(memory) => memory,
        None => new_memory(ordinal)?,
    };
    let bytes = bytes_of_memory(ordinal)?;
    let access: Vec<sys::CUmemAccessDesc> = ordinals
        .iter()
        .map(|ordinal| {
            // SAFETY: zeros are a value of each field.
            let mut access: sys::CUmemAccessDesc = unsafe { std::mem::zeroed() };
            access.location = location(*ordinal);
            access.flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
            access
        })
        .collect();
    let mut state = [0u32; STATE];
    let of_state = memory.address + (4 * WINDOW) as u64;
    // SAFETY: the memory is mapped with this size. The second copy returns after the first.
    unsafe {
        let set = sys::cuMemSetAccess(memory.address, bytes, access.as_ptr(), access.len());
        set.result().ok()?;
        let host = state.as_mut_ptr().cast();
        sys::cuMemcpyHtoD_v2(of_state, host, 4 * STATE).result().ok()?;
        sys::cuMemcpyDtoH_v2(host, of_state, 4 * STATE).result().ok()?;
    }
    Some(memory)
}

/// Where memory of a device is.
fn location(ordinal: i32) -> sys::CUmemLocation {
    // SAFETY: zeros are a value of each field, and in each version the second word is the number of the device.
    unsafe {
        let mut location: sys::CUmemLocation = std::mem::zeroed();
        location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        (&raw mut location).cast::<i32>().add(1).write(ordinal);
        location
    }
}

fn properties(ordinal: i32) -> sys::CUmemAllocationProp {
    // SAFETY: zeros are a value of each field.
    let mut properties: sys::CUmemAllocationProp = unsafe { std::mem::zeroed() };
    properties.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = location(ordinal);
    properties
}

/// Bytes of a window and a state, whole pages.
fn bytes_of_memory(ordinal: i32) -> Option<usize> {
    let mut page = 0;
    let smallest = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    // SAFETY: a call of the driver.
    unsafe {
        let found = sys::cuMemGetAllocationGranularity(&mut page, &properties(ordinal), smallest);
        found.result().ok()?;
    }
    Some((4 * (WINDOW + STATE)).next_multiple_of(page.max(1)))
}

fn new_memory(ordinal: i32) -> Option<Memory> {
    let bytes = bytes_of_memory(ordinal)?;
    let (mut handle, mut address) = (0, 0);
    // SAFETY: calls of the driver; the memory lives as long as its mapping.
    unsafe {
        sys::cuMemCreate(&mut handle, bytes, &properties(ordinal), 0).result().ok()?;
        sys::cuMemAddressReserve(&mut address, bytes, 0, 0, 0).result().ok()?;
        sys::cuMemMap(address, bytes, 0, handle, 0).result().ok()?;
        sys::cuMemRelease(handle).result().ok()?;
    }
    Some(Memory { ordinal, address })
}

/// The address of a new word of the host, 0, that every device sees.
fn new_host_word() -> Option<u64> {
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    let (page, used) = match *words {
        Some((page, used)) if used < PAGE / 4 => (page, used),
        _ => {
            let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
            // SAFETY: a new page, which is never freed.
            let page = unsafe {
                let page = result::malloc_host(PAGE, flags).ok()?.cast::<u8>();
                page.write_bytes(0, PAGE);
                page as usize
            };
            (page, 0)
        }
    };
    *words = Some((page, used + 1));
    Some((page + 4 * used) as u64)
}
