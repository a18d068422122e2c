//! A device in a build without one: types that have no value, so that callers need no `cfg`.

use super::device_exchange::Exchanged;
use super::group::Group;
use super::halo::VectorLayout;
use super::merge::{Block, Rows};
use super::{Backend, BackendError, BackendKind, Buffer, Element, Real};
use std::ops::Range;

/// An element needs nothing more.
pub trait OnDevice {}
impl<T> OnDevice for T {}
/// A number needs nothing more.
pub trait NumberOnDevice {}
impl<T> NumberOnDevice for T {}

/// A value that a device would have at run time: itself.
pub trait IntoRuntime: Sized {
    /// The value.
    #[inline(always)]
    fn runtime(self) -> Self {
        self
    }
}
impl<T> IntoRuntime for T {}

/// A value that a device would be compiled for: itself.
#[macro_export]
macro_rules! comptime {
    ($($value:tt)*) => { { $($value)* } };
}

/// No device.
pub enum Device {}
/// No memory of a device.
#[derive(Clone)]
pub(super) enum Handle {}
/// No recorded launches.
pub(super) enum Graph {}

pub(super) fn has_devices(_: BackendKind) -> bool {
    false
}

pub(super) fn device_names(_: BackendKind) -> Vec<String> {
    vec![]
}

impl Graph {
    pub(super) fn replay(&self) -> Result<(), BackendError> {
        match *self {}
    }
}

impl Device {
    pub(super) fn open(kind: BackendKind) -> Result<Device, BackendError> {
        kind.check_built()?;
        let reason = "this karman was built without devices".to_owned();
        Err(BackendError::NoDevice { kind: kind.word(), reason })
    }

    pub(super) fn of_rank(kind: BackendKind, _: usize, _: usize) -> Result<Device, BackendError> {
        Device::open(kind)
    }

    pub(super) fn connect(&mut self, _: &dyn Group) -> Result<(), BackendError> {
        match *self {}
    }

    pub(super) fn exchange(&self, _: &[Exchanged<'_>]) -> bool {
        match *self {}
    }

    pub(super) fn has_peers(&self) -> bool {
        match *self {}
    }

    pub(super) fn exchanges_by_itself(&self) -> bool {
        match *self {}
    }

    pub(super) fn has_collectives(&self) -> bool {
        match *self {}
    }

    pub(super) fn sum_words<T: Element>(&self, _: &Buffer<T>, _: &mut Buffer<T>, _: usize) {
        match *self {}
    }

    pub(super) fn pack<T: Element>(
        &self,
        _: VectorLayout,
        _: &Buffer<T>,
        _: &Buffer<u32>,
        _: &mut Buffer<u32>,
        _: usize,
    ) {
        match *self {}
    }

    pub(super) fn copy_entries<T: Element>(
        &self,
        _: (&Buffer<T>, usize),
        _: (&mut Buffer<T>, usize),
        _: Range<usize>,
    ) {
        match *self {}
    }

    pub(super) fn unpack<T: Element>(
        &self,
        _: VectorLayout,
        _: &Buffer<u32>,
        _: &Buffer<u32>,
        _: &mut Buffer<T>,
        _: usize,
    ) {
        match *self {}
    }

    /// Name for summaries.
    pub fn name(&self) -> &str {
        match *self {}
    }

    /// Whether launches can be captured and replayed as a graph.
    pub fn has_graphs(&self) -> bool {
        match *self {}
    }

    pub(super) fn few_entities(&self) -> usize {
        match *self {}
    }

    pub(super) fn shared_bytes(&self) -> usize {
        match *self {}
    }

    pub(super) fn prepare_capture(&self, _: impl FnOnce()) -> Result<(), BackendError> {
        match *self {}
    }

    pub(super) fn capture(&self, _: impl FnOnce()) -> Result<Graph, BackendError> {
        match *self {}
    }

    pub(super) fn scan(&self, _: &Backend, _: &Buffer<u32>, _: usize, _: &mut Buffer<u32>) {
        match *self {}
    }

    pub(super) fn count_digits(&self, _: &Buffer<u32>, _: usize, _: u32, _: &mut Buffer<u32>) {
        match *self {}
    }

    pub(super) fn move_by_digit(
        &self,
        _: [&Buffer<u32>; 2],
        _: &Buffer<u32>,
        _: usize,
        _: u32,
        _: [&mut Buffer<u32>; 2],
    ) {
        match *self {}
    }

    /// Whether a block inverts matrices of this order.
    pub fn can_invert(&self, _: usize) -> bool {
        match *self {}
    }

    /// The inverse of a small dense matrix.
    pub fn invert(
        &self,
        _: usize,
        _: &Buffer<f64>,
        _: f64,
        _: &mut Buffer<f64>,
        _: &mut Buffer<u32>,
    ) {
        match *self {}
    }

    /// Terms of the rows of a product, sorted.
    #[allow(clippy::too_many_arguments)]
    pub fn sort_terms<S: Real>(
        &self,
        _: Block,
        _: usize,
        _: &Rows<S>,
        _: &Rows<f64>,
        _: &Buffer<u32>,
        _: &mut Buffer<u32>,
        _: &mut Buffer<u32>,
    ) {
        match *self {}
    }

    /// Rows of a product of sorted terms.
    #[allow(clippy::too_many_arguments)]
    pub fn merge<S: Real>(
        &self,
        _: Block,
        _: usize,
        _: &Rows<S>,
        _: &Rows<f64>,
        _: f64,
        _: [&Buffer<u32>; 2],
        _: &Buffer<u32>,
        _: &mut Buffer<u32>,
        _: &mut Buffer<f64>,
    ) {
        match *self {}
    }

    pub(super) fn synchronize(&self) -> Result<(), BackendError> {
        match *self {}
    }

    pub(super) fn bytes_reserved(&self) -> u64 {
        match *self {}
    }

    #[allow(clippy::extra_unused_type_parameters)] // that of the device
    pub(super) fn allocate<T: Element>(&self, _: usize, _: super::buffer::Content) -> Handle {
        match *self {}
    }

    pub(super) fn create<T: Element>(&self, _: Vec<T>) -> Handle {
        match *self {}
    }

    pub(super) fn write<T: Element>(&self, _: &Handle, _: &[T]) {
        match *self {}
    }

    pub(super) fn read<T: Element>(&self, _: &Handle, _: usize) -> Result<Vec<T>, BackendError> {
        match *self {}
    }

    pub(super) fn read_last<T: Element, const N: usize>(
        &self,
        _: [&Buffer<T>; N],
    ) -> Result<[T; N], BackendError> {
        match *self {}
    }
}
