//! How an entity function sees buffers on the host: [`View`] to read, [`Writer`] to write its own
//! entity. Their indices are checked in debug builds and not in release: a bounds check costs a
//! sparse product 10–15 %, and connectivity was validated when the mesh or the matrix was built.
#![allow(unsafe_code)]

use cubecl::prelude::*;
use std::ops::{Index, IndexMut};

/// A read-only slice inside an entity function; on a device, the buffer itself.
#[repr(transparent)]
pub struct View<T>([T]);

impl<T> View<T> {
    /// The view of a slice.
    #[inline(always)]
    pub fn of(slice: &[T]) -> &View<T> {
        // SAFETY: `View<T>` is `repr(transparent)` over `[T]`, so the reference has the same layout.
        unsafe { &*(std::ptr::from_ref(slice) as *const View<T>) }
    }

    /// Number of elements.
    #[allow(clippy::len_without_is_empty)]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T> Index<usize> for View<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        debug_assert!(i < self.0.len(), "index {i} out of {}", self.0.len());
        // SAFETY: indices come from connectivity whose range was checked at set-up; debug builds
        // and every test check each one.
        unsafe { self.0.get_unchecked(i) }
    }
}

impl<T: CubePrimitive> CubeType for View<T> {
    type ExpandType = <[T] as CubeType>::ExpandType;
}

impl<T: CubePrimitive> View<T> {
    /// The device form of [`View::of`]: the buffer itself.
    pub fn __expand_of<'a>(
        _: &Scope,
        slice: &'a <[T] as CubeType>::ExpandType,
    ) -> &'a <[T] as CubeType>::ExpandType {
        slice
    }
}

/// The right to write entities of a host buffer, shared by the threads of one loop.
///
/// Each entity has one writer, so threads never touch the same element; that is what makes sharing
/// the pointer sound, and what the generated loops guarantee (an index list has no repetition).
pub struct Writer<T> {
    start: *mut T,
    len: usize,
}

impl<T> Clone for Writer<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Writer<T> {}
// SAFETY: see the type's documentation: elements written by different threads are disjoint.
unsafe impl<T: Send> Send for Writer<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Writer<T> {}

impl<T: Copy> Writer<T> {
    pub(super) fn of(slice: &mut [T]) -> Self {
        Writer { start: slice.as_mut_ptr(), len: slice.len() }
    }

    /// Number of elements.
    #[allow(clippy::len_without_is_empty)]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Element `i`.
    #[inline(always)]
    pub fn get(&self, i: usize) -> T {
        debug_assert!(i < self.len, "index {i} out of {}", self.len);
        // SAFETY: in range (checked in debug builds), and no other thread writes this element.
        unsafe { *self.start.add(i) }
    }

    /// Sets element `i`.
    #[inline(always)]
    pub fn set(&self, i: usize, value: T) {
        debug_assert!(i < self.len, "index {i} out of {}", self.len);
        // SAFETY: as for `get`.
        unsafe { *self.start.add(i) = value }
    }
}

/// An output of which an entity writes any elements that no other entity touches: the row of a
/// matrix, a place found by a scan.
pub struct Segment<T>(Writer<T>);

impl<T: Copy> Segment<T> {
    /// The whole output, for the entity of one call.
    #[inline(always)]
    pub fn on_host(output: Writer<T>) -> Segment<T> {
        Segment(output)
    }
}

impl<T: Copy> Index<usize> for Segment<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        debug_assert!(i < self.0.len, "index {i} out of {}", self.0.len);
        // SAFETY: in range as for `View`; only this entity touches the element.
        unsafe { &*self.0.start.add(i) }
    }
}

impl<T: Copy> IndexMut<usize> for Segment<T> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        debug_assert!(i < self.0.len, "index {i} out of {}", self.0.len);
        // SAFETY: as for `index`.
        unsafe { &mut *self.0.start.add(i) }
    }
}

impl<T: CubePrimitive> CubeType for Segment<T> {
    type ExpandType = <[T] as CubeType>::ExpandType;
}

impl<T: CubePrimitive> Segment<T> {
    /// The buffer as a segment; exists on a device only.
    pub fn of(_: &mut [T]) -> &mut Segment<T> {
        unreachable!("generated kernels run on a device")
    }

    /// The device form of [`Segment::of`]: the buffer itself.
    pub fn __expand_of<'a>(
        _: &Scope,
        slice: &'a mut <[T] as CubeType>::ExpandType,
    ) -> &'a mut <[T] as CubeType>::ExpandType {
        slice
    }
}

/// A struct of scalars stored component-major, `[component][entity]`; derive it. The derive also
/// makes the device's `gather` and `scatter`.
pub trait Components: Copy {
    /// The scalar.
    type Element: Copy;
    /// Number of components.
    const COUNT: usize;
    /// Reads entity `i` of a field whose components are `stride` apart.
    fn load(from: Writer<Self::Element>, i: usize, stride: usize) -> Self;
    /// Writes entity `i`.
    fn store(self, to: Writer<Self::Element>, i: usize, stride: usize);
}
