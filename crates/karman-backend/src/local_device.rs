//! The device form of scratch arrays: registers or local memory.
#![allow(missing_docs)] // on the modules CubeCL generates
#![allow(clippy::disallowed_methods)] // `Array`, which never runs on the host

use super::{Element, Local};
use cubecl::prelude::*;

impl<F: Element, const N: usize> CubeType for Local<F, N> {
    type ExpandType = <Array<F> as CubeType>::ExpandType;
}

impl<F: Element, const N: usize> Local<F, N> {
    /// The device form of [`Local::uninitialised`].
    pub fn __expand_uninitialised(scope: &Scope) -> <Array<F> as CubeType>::ExpandType {
        Array::<F>::__expand_new(scope, N)
    }

    /// The device form of [`Local::zeros`].
    pub fn __expand_zeros(scope: &Scope) -> <Array<F> as CubeType>::ExpandType {
        zeros_on_device::expand::<F>(scope, N)
    }
}

#[cube]
fn zeros_on_device<F: Element>(#[comptime] n: usize) -> Array<F> {
    let mut array = Array::<F>::new(n);
    #[unroll]
    for i in 0..n {
        array[i] = F::cast_from(0u32);
    }
    array
}

#[allow(missing_docs)]
impl<F: Element, const N: usize> Local<F, N> {
    pub fn gather(_: &[F], _: usize, _: usize) -> Self {
        unreachable!("generated kernels run on a device")
    }
    pub fn scatter(_: Self, _: &mut [F], _: usize, _: usize) {
        unreachable!("generated kernels run on a device")
    }
    pub fn __expand_gather(
        scope: &Scope,
        field: &<[F] as CubeType>::ExpandType,
        i: <usize as CubeType>::ExpandType,
        stride: <usize as CubeType>::ExpandType,
    ) -> <Array<F> as CubeType>::ExpandType {
        gather_on_device::expand::<F>(scope, field, i, stride, N)
    }
    pub fn __expand_scatter(
        scope: &Scope,
        value: <Array<F> as CubeType>::ExpandType,
        field: &mut <[F] as CubeType>::ExpandType,
        i: <usize as CubeType>::ExpandType,
        stride: <usize as CubeType>::ExpandType,
    ) {
        scatter_on_device::expand::<F>(scope, value, field, i, stride, N)
    }
}

#[cube]
fn gather_on_device<F: Element>(
    field: &[F],
    i: usize,
    stride: usize,
    #[comptime] n: usize,
) -> Array<F> {
    let mut array = Array::<F>::new(n);
    #[unroll]
    for k in 0..n {
        array[k] = field[k * stride + i];
    }
    array
}

#[cube]
fn scatter_on_device<F: Element>(
    value: Array<F>,
    field: &mut [F],
    i: usize,
    stride: usize,
    #[comptime] n: usize,
) {
    #[unroll]
    for k in 0..n {
        field[k * stride + i] = value[k];
    }
}
