//! Arrays that live on the host or on a device.
#![allow(unsafe_code)]
#![cfg_attr(not(feature = "device"), allow(unreachable_code))] // a device has no value there

use super::device::Handle;
use super::host::copied;
use super::{Backend, BackendError, OnDevice, View, Writer};

/// A number that a buffer may hold.
pub trait Element: OnDevice + Copy + Default + PartialEq + Send + Sync + 'static {
    /// A value that no result may depend on.
    const POISON: Self;
}
impl Element for f32 {
    const POISON: f32 = f32::NAN;
}
impl Element for f64 {
    const POISON: f64 = f64::NAN;
}
impl Element for u32 {
    const POISON: u32 = u32::MAX;
}
impl Element for i32 {
    const POISON: i32 = i32::MAX;
}

/// An array on the backend that made it.
pub struct Buffer<T> {
    storage: Storage<T>,
    len: usize,
}

enum Storage<T> {
    Host(Vec<T>),
    Device(Handle),
}

pub(super) const ELSEWHERE: &str = "a buffer was used on a backend other than the one that made it";

impl<T> Buffer<T> {
    /// Whether its elements are in the memory of the host.
    pub fn is_on_host(&self) -> bool {
        matches!(self.storage, Storage::Host(_))
    }
}

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

    /// The elements, to be written, where they live on the host.
    pub fn as_host_mut(&mut self) -> Option<&mut [T]> {
        match &mut self.storage {
            Storage::Host(v) => Some(v),
            Storage::Device(_) => None,
        }
    }

    /// The buffer, lent to a kernel.
    #[inline]
    pub fn view(&self) -> View<'_, T> {
        View::of_buffer(self, self.as_host().unwrap_or_default())
    }

    /// The elements of a buffer of the host, to be written by the threads of one loop.
    pub fn writer(&mut self) -> Writer<T> {
        match &mut self.storage {
            Storage::Host(v) => Writer::of(v),
            Storage::Device(_) => panic!("{ELSEWHERE}"),
        }
    }

    /// The array of a buffer of a device.
    pub(super) fn device_handle(&self) -> &Handle {
        match &self.storage {
            Storage::Host(_) => panic!("{ELSEWHERE}"),
            Storage::Device(handle) => handle,
        }
    }

    /// The buffer as an argument of a launch.
    #[cfg(feature = "device")]
    pub fn arg(&self) -> cubecl::prelude::BufferArg {
        // SAFETY: the handle was allocated for `len` elements of `T`.
        unsafe {
            cubecl::prelude::BufferArg::from_raw_parts(self.device_handle().clone(), self.len)
        }
    }
}

impl<T> std::fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if matches!(self.storage, Storage::Host(_)) { "host" } else { "device" };
        write!(f, "Buffer<{}>[{}] on the {place}", std::any::type_name::<T>(), self.len)
    }
}

/// The initial content of a new buffer of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Content {
    Zeros,
    /// Huge numbers, which show where an element is read before it is written.
    Greatest,
    /// The previous content of its memory.
    Anything,
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
        Buffer { storage: Storage::Device(device.allocate::<T>(len, content)), len }
    }

    /// A buffer holding `values`; on the host they are moved, not copied, and a device copies them while the caller goes on.
    pub fn upload<T: Element>(&self, values: Vec<T>) -> Buffer<T> {
        let len = values.len();
        let storage = match self.device() {
            None => Storage::Host(values),
            Some(device) => Storage::Device(device.create(values)),
        };
        Buffer { storage, len }
    }

    /// A copy of `values` on this backend.
    pub fn upload_slice<T: Element>(&self, values: &[T]) -> Buffer<T> {
        let storage = match self.device() {
            None => Storage::Host(self.install(|| copied(values))),
            Some(device) => Storage::Device(device.create(self.install(|| copied(values)))),
        };
        Buffer { storage, len: values.len() }
    }

    /// Overwrites the whole of `buffer`, which has as many elements as `values`.
    pub fn write<T: Element>(&self, buffer: &mut Buffer<T>, values: &[T]) {
        assert_eq!(buffer.len, values.len(), "a write replaces the whole buffer");
        match (self.device(), &mut buffer.storage) {
            (None, Storage::Host(v)) => v.copy_from_slice(values),
            (Some(_), Storage::Device(_)) if values.is_empty() => {}
            (Some(device), Storage::Device(handle)) => {
                device.write(handle, values);
            }
            _ => panic!("{ELSEWHERE}"),
        }
    }

    /// The elements of `buffer`, after everything submitted before.
    ///
    /// # Errors
    /// [`BackendError::Device`] where a kernel that wrote the buffer failed, [`BackendError::Rank`] where a rank did.
    pub fn read<T: Element>(&self, buffer: &Buffer<T>) -> Result<Vec<T>, BackendError> {
        self.check_ranks()?;
        match (self.device(), &buffer.storage) {
            (None, Storage::Host(v)) => Ok(self.install(|| copied(v))),
            (Some(_), Storage::Device(_)) if buffer.len == 0 => Ok(vec![]),
            (Some(device), Storage::Device(handle)) => device.read(handle, buffer.len),
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
        match self.device() {
            None => Ok(buffers.map(|buffer| buffer.view()[buffer.len - 1])),
            Some(device) => device.read_last(buffers),
        }
    }
}
