//! Arrays that live on the host or on a device.
#![allow(unsafe_code, missing_docs)]

use super::{Backend, BackendError, View, Writer};
use cubecl::bytes::Bytes;
use cubecl::prelude::*;
use cubecl::server::Handle;

/// A number a buffer may hold.
pub trait Element:
    CubeElement
    + Numeric
    + LaunchArg<RuntimeArg = Self, CompilationArg = ()>
    + Copy
    + Default
    + PartialEq
    + Send
    + Sync
{
}
impl Element for f32 {}
impl Element for f64 {}
impl Element for u32 {}
impl Element for i32 {}

/// An array on the backend that made it.
pub struct Buffer<T> {
    storage: Storage<T>,
    len: usize,
}

enum Storage<T> {
    Host(Vec<T>),
    Device(Handle),
}

const ELSEWHERE: &str = "a buffer was used on a backend other than the one that made it";

impl<T: Element> Buffer<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The elements, where they live on the host.
    pub fn as_host(&self) -> Option<&[T]> {
        match &self.storage {
            Storage::Host(v) => Some(v),
            Storage::Device(_) => None,
        }
    }

    pub fn view(&self) -> &View<T> {
        View::of(self.as_host().expect(ELSEWHERE))
    }

    pub fn writer(&mut self) -> Writer<T> {
        match &mut self.storage {
            Storage::Host(v) => Writer::of(v),
            Storage::Device(_) => panic!("{ELSEWHERE}"),
        }
    }

    pub(super) fn handle(&self) -> Option<&Handle> {
        match &self.storage {
            Storage::Host(_) => None,
            Storage::Device(handle) => Some(handle),
        }
    }

    pub fn arg(&self) -> BufferArg {
        let handle = self.handle().expect(ELSEWHERE);
        // SAFETY: the handle was allocated for `len` elements of `T`.
        unsafe { BufferArg::from_raw_parts(handle.clone(), self.len) }
    }
}

impl<T> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if matches!(self.storage, Storage::Host(_)) { "host" } else { "device" };
        write!(f, "Buffer<{}>[{}] on the {place}", std::any::type_name::<T>(), self.len)
    }
}

/// What a new buffer of a device holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Content {
    Zeros,
    /// The greatest numbers: they show where something is read before it is written.
    Greatest,
    /// What its memory held before.
    Anything,
}

#[cube(launch_unchecked)]
fn set<T: Element>(out: &mut [T], #[comptime] content: Content) {
    if ABSOLUTE_POS < out.len() {
        if comptime!(content == Content::Zeros) {
            out[ABSOLUTE_POS] = T::from_int(0);
        } else {
            out[ABSOLUTE_POS] = T::max_value();
        }
    }
}

impl Backend {
    /// A buffer of `len` zeros.
    pub fn zeros<T: Element>(&self, len: usize) -> Buffer<T> {
        self.allocated(len, Content::Zeros)
    }

    /// A buffer of `len` elements of which each is written before it is read; a device saves the launch
    /// that would make them zeros, but for builds with debug assertions.
    pub fn scratch<T: Element>(&self, len: usize) -> Buffer<T> {
        let content = if cfg!(debug_assertions) { Content::Greatest } else { Content::Anything };
        self.allocated(len, content)
    }

    /// A new buffer; the host's holds zeros.
    fn allocated<T: Element>(&self, len: usize, content: Content) -> Buffer<T> {
        let Some(device) = self.device().filter(|_| len > 0) else {
            return self.upload(vec![T::default(); len]);
        };
        let handle = device.client().empty(len * size_of::<T>());
        let buffer = Buffer { storage: Storage::Device(handle), len };
        if content != Content::Anything {
            // SAFETY: each element of the new buffer is tested against its length.
            unsafe {
                set::launch_unchecked::<T>(
                    device.client(),
                    device.entity_blocks(len, 1),
                    super::block_size(),
                    buffer.arg(),
                    content,
                );
            }
        }
        buffer
    }

    /// A buffer holding `values`; on the host they are moved, not copied.
    pub fn upload<T: Element>(&self, values: Vec<T>) -> Buffer<T> {
        let len = values.len();
        let storage = match self.device() {
            None => Storage::Host(values),
            Some(device) => {
                let bytes = match values.is_empty() {
                    true => vec![0; size_of::<T>()],
                    false => T::as_bytes(&values).to_vec(),
                };
                Storage::Device(device.client().create(Bytes::from_bytes_vec(bytes)))
            }
        };
        Buffer { storage, len }
    }

    /// A copy of `values` on this backend.
    pub fn upload_slice<T: Element>(&self, values: &[T]) -> Buffer<T> {
        self.upload(values.to_vec())
    }

    /// Overwrites the whole of `buffer`, which has as many elements as `values`.
    pub fn write<T: Element>(&self, buffer: &mut Buffer<T>, values: &[T]) {
        assert_eq!(buffer.len, values.len(), "a write replaces the whole buffer");
        match (self.device(), &mut buffer.storage) {
            (None, Storage::Host(v)) => v.copy_from_slice(values),
            (Some(_), Storage::Device(_)) if values.is_empty() => {}
            (Some(device), Storage::Device(handle)) => {
                let bytes = Bytes::from_bytes_vec(T::as_bytes(values).to_vec());
                device.client().write(handle, bytes);
            }
            _ => panic!("{ELSEWHERE}"),
        }
    }

    /// The elements of `buffer`, after everything submitted before.
    ///
    /// # Errors
    /// [`BackendError::Device`] where a kernel that wrote the buffer failed.
    pub fn read<T: Element>(&self, buffer: &Buffer<T>) -> Result<Vec<T>, BackendError> {
        match (self.device(), &buffer.storage) {
            (None, Storage::Host(v)) => Ok(v.clone()),
            (Some(_), Storage::Device(_)) if buffer.len == 0 => Ok(vec![]),
            (Some(device), Storage::Device(handle)) => {
                let bytes = device.client().read_one(handle.clone());
                let bytes = bytes.map_err(|e| BackendError::Device(format!("{e}")))?;
                Ok(T::from_bytes(&bytes)[..buffer.len].to_vec())
            }
            _ => panic!("{ELSEWHERE}"),
        }
    }

    /// The last element of each of some buffers that have one, all after one wait for what was submitted
    /// before.
    ///
    /// # Errors
    /// [`BackendError::Device`] where a kernel that wrote a buffer failed.
    pub(super) fn read_last<T: Element, const N: usize>(
        &self,
        buffers: [&Buffer<T>; N],
    ) -> Result<[T; N], BackendError> {
        let Some(device) = self.device() else {
            return Ok(buffers.map(|buffer| buffer.view()[buffer.len - 1]));
        };
        let last = |buffer: &Buffer<T>| {
            let handle = buffer.handle().expect(ELSEWHERE).clone();
            handle.offset_start(((buffer.len - 1) * size_of::<T>()) as u64)
        };
        let read = device.client().read(buffers.iter().map(|buffer| last(buffer)).collect());
        let read = read.map_err(|e| BackendError::Device(format!("{e}")))?;
        let mut lasts = [T::default(); N];
        for (last, bytes) in lasts.iter_mut().zip(&read) {
            *last = T::from_bytes(bytes)[0];
        }
        Ok(lasts)
    }
}
