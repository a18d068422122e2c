//! Scratch arrays inside entity functions.
#![allow(clippy::disallowed_methods)] // `Array` in the device forms, which never run on the host

use super::{Components, Writer};
use crate::real::Real;
use cubecl::prelude::*;
use std::ops::{Index, IndexMut};

/// A small array of `N` scalars that an entity function keeps to itself: `[F; N]` on the host,
/// registers or local memory on a device. As an output it is stored component-major.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Local<F, const N: usize>([F; N]);

impl<F: Real, const N: usize> CubeType for Local<F, N> {
    type ExpandType = <Array<F> as CubeType>::ExpandType;
}

impl<F: Real, const N: usize> Local<F, N> {
    /// All zeros on the host; on a device **uninitialised**: write before reading.
    #[inline(always)]
    pub fn uninitialised() -> Self {
        Local([F::from_int(0); N])
    }

    /// The device form of [`Local::uninitialised`].
    pub fn __expand_uninitialised(scope: &Scope) -> <Array<F> as CubeType>::ExpandType {
        Array::<F>::__expand_new(scope, N)
    }

    /// All zeros.
    #[inline(always)]
    pub fn zeros() -> Self {
        Self::uninitialised()
    }

    /// The device form of [`Local::zeros`].
    pub fn __expand_zeros(scope: &Scope) -> <Array<F> as CubeType>::ExpandType {
        zeros_on_device::expand::<F>(scope, N)
    }
}

#[cube]
fn zeros_on_device<F: Real>(#[comptime] n: usize) -> Array<F> {
    let mut array = Array::<F>::new(n);
    #[unroll]
    for i in 0..n {
        array[i] = F::literal(0.0);
    }
    array
}

impl<F, const N: usize> Index<usize> for Local<F, N> {
    type Output = F;
    #[inline(always)]
    fn index(&self, i: usize) -> &F {
        &self.0[i]
    }
}

impl<F, const N: usize> IndexMut<usize> for Local<F, N> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut F {
        &mut self.0[i]
    }
}

impl<F: Real, const N: usize> Components for Local<F, N> {
    type Element = F;
    const COUNT: usize = N;
    #[inline(always)]
    fn load(from: Writer<F>, i: usize, stride: usize) -> Self {
        Local(std::array::from_fn(|k| from.get(k * stride + i)))
    }
    #[inline(always)]
    fn store(self, to: Writer<F>, i: usize, stride: usize) {
        for k in 0..N {
            to.set(k * stride + i, self.0[k]);
        }
    }
}

#[allow(missing_docs)]
impl<F: Real, const N: usize> Local<F, N> {
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
fn gather_on_device<F: Real>(
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
fn scatter_on_device<F: Real>(
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
