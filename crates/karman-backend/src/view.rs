//! How an entity function sees buffers on the host: [`View`] to read, [`Writer`] to write its own
//! entity. Their indices are checked in debug builds and not in release: a bounds check costs a
//! sparse product 10–15 %, and connectivity was validated when the mesh or the matrix was built.
#![allow(unsafe_code)]

use super::Buffer;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A buffer lent to a kernel: on the host its elements, on a device the buffer itself.
pub struct View<'a, T> {
    start: *const T,
    len: usize,
    buffer: Option<&'a Buffer<T>>,
    lent: PhantomData<&'a [T]>,
}

impl<T> Clone for View<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for View<'_, T> {}
// SAFETY: a view reads alone.
unsafe impl<T: Sync> Send for View<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for View<'_, T> {}

impl<'a, T> View<'a, T> {
    /// The view of a slice.
    #[inline(always)]
    pub fn of(slice: &'a [T]) -> View<'a, T> {
        View { start: slice.as_ptr(), len: slice.len(), buffer: None, lent: PhantomData }
    }

    /// The view of a buffer, wherever it lives; `slice` has its elements where that is the host.
    #[inline(always)]
    pub(super) fn of_buffer(buffer: &'a Buffer<T>, slice: &'a [T]) -> View<'a, T> {
        View { buffer: Some(buffer), ..View::of(slice) }
    }

    /// A field of a group that the kernel does not read; it takes no binding of a device.
    pub fn absent() -> View<'a, T> {
        View::of(&[])
    }

    /// The buffer.
    pub fn buffer(&self) -> Option<&'a Buffer<T>> {
        self.buffer
    }

    /// Number of elements.
    #[allow(clippy::len_without_is_empty)]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }
}

impl<T> Index<usize> for View<'_, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        debug_assert!(i < self.len, "index {i} out of {}", self.len);
        // SAFETY: indices come from connectivity whose range was checked at set-up; debug builds
        // and every test check each one.
        unsafe { &*self.start.add(i) }
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

/// A struct of scalars stored component-major, `[component][entity]`; derive it. The derive also
/// makes the device's `gather` and `scatter`.
pub trait Components: Copy {
    /// The scalar.
    type Element: Copy;
    /// Number of components.
    const COUNT: usize;
    /// The struct with these components, in the order of its fields.
    fn of_components(values: &[Self::Element]) -> Self;
    /// Reads entity `i` of a field whose components are `stride` apart.
    fn load(from: Writer<Self::Element>, i: usize, stride: usize) -> Self;
    /// Writes entity `i`.
    fn store(self, to: Writer<Self::Element>, i: usize, stride: usize);
}

/// A struct of views, scalars, choices and other groups that kernels take as one argument; derive it.
pub trait Group: Copy {
    /// Panics unless all of it lives on the host.
    fn expect_on_host(&self);
}

impl<T> Group for View<'_, T> {
    #[inline]
    fn expect_on_host(&self) {
        assert!(self.buffer.is_none_or(Buffer::is_on_host), "{}", super::buffer::ELSEWHERE);
    }
}
