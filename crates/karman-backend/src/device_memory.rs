//! Arrays in the memory of a device.
#![allow(unsafe_code)]

use super::buffer::Content;
use super::{BackendError, Buffer, Device, Element};
use cubecl::bytes::Bytes;
use cubecl::prelude::*;

pub(super) use cubecl::server::Handle;

/// Upper half of the greatest double, and the greatest single.
const GREATEST: u32 = 0x7f7f_ffff;

#[cube(launch_unchecked)]
fn set_words(out: &mut [u32], word: u32) {
    if ABSOLUTE_POS < out.len() {
        out[ABSOLUTE_POS] = word;
    }
}

impl Device {
    /// An array of `len` elements with this content.
    pub(super) fn allocate<T: Element>(&self, len: usize, content: Content) -> Handle {
        // A kernel cannot be given an array without memory.
        let handle = self.client().empty(len.max(1) * size_of::<T>());
        let word = match content {
            Content::Zeros => 0,
            Content::Greatest => GREATEST,
            Content::Anything => return handle,
        };
        if len == 0 {
            return handle;
        }
        let words = len * size_of::<T>() / size_of::<u32>();
        // SAFETY: the array was allocated with this number of words, against which each is tested.
        unsafe {
            set_words::launch_unchecked(
                self.client(),
                self.entity_blocks(words, 1),
                super::block_size(),
                BufferArg::from_raw_parts(handle.clone(), words),
                word,
            );
        }
        handle
    }

    /// An array with these values, never empty. The thread of the device copies them and frees them, while the caller goes on.
    pub(super) fn create<T: Element>(&self, mut values: Vec<T>) -> Handle {
        if values.is_empty() {
            values.push(T::default());
        }
        self.client().create(Bytes::from_elems(values))
    }

    pub(super) fn write<T: Element>(&self, handle: &Handle, values: &[T]) {
        self.client().write(handle, Bytes::from_bytes_vec(T::as_bytes(values).to_vec()));
    }

    pub(super) fn read<T: Element>(
        &self,
        handle: &Handle,
        len: usize,
    ) -> Result<Vec<T>, BackendError> {
        let bytes = self.client().read_one(handle.clone());
        let bytes = bytes.map_err(|e| BackendError::Device(format!("{e}")))?;
        Ok(T::from_bytes(&bytes)[..len].to_vec())
    }

    /// The last elements of buffers of this device.
    pub(super) fn read_last<T: Element, const N: usize>(
        &self,
        buffers: [&Buffer<T>; N],
    ) -> Result<[T; N], BackendError> {
        let last = |buffer: &Buffer<T>| {
            let handle = buffer.device_handle().clone();
            handle.offset_start(((buffer.len() - 1) * size_of::<T>()) as u64)
        };
        let read = self.client().read(buffers.iter().map(|buffer| last(buffer)).collect());
        let read = read.map_err(|e| BackendError::Device(format!("{e}")))?;
        let mut lasts = [T::default(); N];
        for (last, bytes) in lasts.iter_mut().zip(&read) {
            *last = T::from_bytes(bytes)[0];
        }
        Ok(lasts)
    }
}
