//! The device form of views and segments: slices of CubeCL.
#![allow(missing_docs)] // named by generated code alone

use super::{Buffer, Segment, View};
use cubecl::prelude::*;

impl<T: CubePrimitive> CubeType for View<'_, T> {
    type ExpandType = <[T] as CubeType>::ExpandType;
}

/// A view that is absent takes no binding; a kernel that reads it fails where it is compiled.
impl<T: CubePrimitive> LaunchArg for View<'static, T> {
    type RuntimeArg = Option<<[T] as LaunchArg>::RuntimeArg>;
    type CompilationArg = Option<<[T] as LaunchArg>::CompilationArg>;
    fn register(arg: Self::RuntimeArg, launcher: &mut KernelLauncher) -> Self::CompilationArg {
        arg.map(|arg| <[T]>::register(arg, launcher))
    }
    fn expand(arg: &Self::CompilationArg, builder: &mut KernelBuilder) -> NativeExpand<[T]> {
        match arg {
            Some(arg) => <[T]>::expand(arg, builder),
            None => NativeExpand::<u32>::from_lit(&builder.scope, 0u32).expand.into(),
        }
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

/// The argument of a launch for a group, or for a field of a group.
pub trait DeviceArg {
    /// The type of the launch's argument.
    type Arg;
    /// The argument.
    fn arg(&self) -> Self::Arg;
}
impl<T: super::Element> DeviceArg for View<'_, T> {
    type Arg = Option<BufferArg>;
    fn arg(&self) -> Option<BufferArg> {
        self.buffer().map(Buffer::arg)
    }
}
macro_rules! scalar { ($($t:ty)*) => { $(impl DeviceArg for $t { type Arg = $t; fn arg(&self) -> $t { *self } })* } }
scalar!(usize u32 i32 f32 f64);
