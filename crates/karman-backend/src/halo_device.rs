//! Ghosts of vectors on a device: words of own entries into messages, words of messages into ghosts.

#![allow(unsafe_code)]
#![allow(missing_docs)] // on the modules CubeCL generates

use super::halo::VectorLayout;
use super::{Buffer, Device, Element, block_size};
use cubecl::prelude::*;
use std::ops::Range;

/// Entries that ranks give, `[entry][component][word]`, from a vector `[component][stride][word]`.
///
/// Traffic an entry: 4 + 2 d s.
#[cube(launch_unchecked)]
fn pack_words(
    vector: &[u32],
    places: &[u32],
    messages: &mut [u32],
    first: usize,
    stride: usize,
    count: usize,
    #[comptime] words: usize,
    #[comptime] components: usize,
) {
    if ABSOLUTE_POS < count {
        let each = comptime!(words * components);
        let (entry, rest) = (ABSOLUTE_POS / each, ABSOLUTE_POS % each);
        let (component, word) = (rest / words, rest % words);
        let place = component * stride + places[entry] as usize;
        messages[first * each + ABSOLUTE_POS] = vector[place * words + word];
    }
}

/// Ghosts of a vector, which follow its own entries, from the messages of all ranks.
///
/// Traffic a ghost: 4 + 2 d s.
#[cube(launch_unchecked)]
fn unpack_words(
    messages: &[u32],
    sources: &[u32],
    vector: &mut [u32],
    first: usize,
    stride: usize,
    count: usize,
    #[comptime] words: usize,
    #[comptime] components: usize,
) {
    if ABSOLUTE_POS < count {
        let each = comptime!(words * components);
        let (ghost, rest) = (ABSOLUTE_POS / each, ABSOLUTE_POS % each);
        let (component, word) = (rest / words, rest % words);
        let place = component * stride + first + ghost;
        vector[place * words + word] = messages[sources[ghost] as usize * each + rest];
    }
}

/// Words of entries from `first` on of each component of a vector to the same places of another.
///
/// Traffic a component and entry: 2 s.
#[cube(launch_unchecked)]
fn copy_words(
    from: &[u32],
    to: &mut [u32],
    first: usize,
    from_stride: usize,
    to_stride: usize,
    each: usize,
    count: usize,
) {
    if ABSOLUTE_POS < count {
        let (component, word) = (ABSOLUTE_POS / each, ABSOLUTE_POS % each);
        to[component * to_stride + first + word] = from[component * from_stride + first + word];
    }
}

fn argument<T: Element>(vector: &Buffer<T>, words: usize) -> BufferArg {
    // SAFETY: an element has this number of words.
    unsafe { BufferArg::from_raw_parts(vector.device_handle().clone(), vector.len() * words) }
}

impl Device {
    /// The entries at `places` into `messages`, from entry `first` on.
    pub(super) fn pack<T: Element>(
        &self,
        layout: VectorLayout,
        vector: &Buffer<T>,
        places: &Buffer<u32>,
        messages: &mut Buffer<u32>,
        first: usize,
    ) {
        let VectorLayout { stride, components, words } = layout;
        let count = places.len() * words * components;
        if count == 0 {
            return;
        }
        // SAFETY: places are own entries, and messages have room for those of all ranks.
        unsafe {
            pack_words::launch_unchecked(
                self.client(),
                self.entity_blocks(count, 1),
                block_size(),
                argument(vector, words),
                places.arg(),
                messages.arg(),
                first,
                stride,
                count,
                words,
                components,
            );
        }
    }

    /// The ghosts, which begin at entry `first`, from the entries `sources` of `messages`.
    pub(super) fn unpack<T: Element>(
        &self,
        layout: VectorLayout,
        messages: &Buffer<u32>,
        sources: &Buffer<u32>,
        vector: &mut Buffer<T>,
        first: usize,
    ) {
        let VectorLayout { stride, components, words } = layout;
        let count = sources.len() * words * components;
        if count == 0 {
            return;
        }
        // SAFETY: sources are entries of the messages of all ranks, and ghosts have their room.
        unsafe {
            unpack_words::launch_unchecked(
                self.client(),
                self.entity_blocks(count, 1),
                block_size(),
                messages.arg(),
                sources.arg(),
                argument(vector, words),
                first,
                stride,
                count,
                words,
                components,
            );
        }
    }

    /// The entries `places` of each component of `from` to the same places of `to`; each vector has its number of entries a
    /// component.
    pub(super) fn copy_entries<T: Element>(
        &self,
        (from, from_stride): (&Buffer<T>, usize),
        (to, to_stride): (&mut Buffer<T>, usize),
        places: Range<usize>,
    ) {
        let words = size_of::<T>() / size_of::<u32>();
        let components = to.len() / to_stride.max(1);
        let count = components * places.len() * words;
        if count == 0 {
            return;
        }
        // SAFETY: each component of both vectors has these places.
        unsafe {
            copy_words::launch_unchecked(
                self.client(),
                self.entity_blocks(count, 1),
                block_size(),
                argument(from, words),
                argument(to, words),
                places.start * words,
                from_stride * words,
                to_stride * words,
                places.len() * words,
                count,
            );
        }
    }
}
