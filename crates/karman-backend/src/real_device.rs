//! The device forms of numbers and small vectors.
#![allow(missing_docs)] // named by generated code alone
#![allow(clippy::disallowed_methods)] // these are the device forms

use super::real::Real;
use cubecl::prelude::*;

/// The traits of CubeCL that an element has.
pub trait OnDevice:
    CubePrimitive<Scalar = Self>
    + Scalar
    + CubeElement
    + LaunchArg<RuntimeArg = Self, CompilationArg = ()>
{
}
impl<T> OnDevice for T where
    T: CubePrimitive<Scalar = T>
        + Scalar
        + CubeElement
        + LaunchArg<RuntimeArg = T, CompilationArg = ()>
{
}

/// The traits of CubeCL that a number has, and the device forms of its functions.
pub trait NumberOnDevice:
    OnDevice
    + super::DeviceArg<Arg = Self>
    + ScalarAdd
    + ScalarSub
    + ScalarMul
    + ScalarDiv
    + ScalarNeg
    + ScalarPartialOrd
    + Into<NativeExpand<Self>>
{
    fn __expand_literal(scope: &Scope, v: f64) -> NativeExpand<Self>;
    fn __expand_from_f64(scope: &Scope, x: NativeExpand<f64>) -> NativeExpand<Self>;
    fn __expand_from_u32(scope: &Scope, x: NativeExpand<u32>) -> NativeExpand<Self>;
    fn __expand_signed(
        scope: &Scope,
        word: NativeExpand<u32>,
        x: NativeExpand<Self>,
    ) -> NativeExpand<Self>;
    fn expand_sqrt(scope: &Scope, x: NativeExpand<Self>) -> NativeExpand<Self>;
    fn expand_abs(scope: &Scope, x: NativeExpand<Self>) -> NativeExpand<Self>;
    fn expand_max(
        scope: &Scope,
        x: NativeExpand<Self>,
        y: NativeExpand<Self>,
    ) -> NativeExpand<Self>;
    fn expand_min(
        scope: &Scope,
        x: NativeExpand<Self>,
        y: NativeExpand<Self>,
    ) -> NativeExpand<Self>;
}

/// A sign by a product: WGSL does not show the bits of a double.
#[cube]
fn signed_by_product<F: Float>(word: u32, x: F) -> F {
    x * (F::from_int(1) - F::from_int(2) * F::cast_from(word >> 31))
}

macro_rules! on_device {
    ($t:ident) => {
        impl NumberOnDevice for $t {
            fn __expand_literal(_: &Scope, v: f64) -> NativeExpand<$t> {
                (v as $t).into()
            }
            fn __expand_from_f64(scope: &Scope, x: NativeExpand<f64>) -> NativeExpand<$t> {
                $t::__expand_cast_from(scope, x)
            }
            fn __expand_from_u32(scope: &Scope, x: NativeExpand<u32>) -> NativeExpand<$t> {
                $t::__expand_cast_from(scope, x)
            }
            fn __expand_signed(
                scope: &Scope,
                word: NativeExpand<u32>,
                x: NativeExpand<$t>,
            ) -> NativeExpand<$t> {
                signed_by_product::expand::<$t>(scope, word, x)
            }
            fn expand_sqrt(scope: &Scope, x: NativeExpand<$t>) -> NativeExpand<$t> {
                SqrtExpand::__expand_sqrt_method(x, scope)
            }
            fn expand_abs(scope: &Scope, x: NativeExpand<$t>) -> NativeExpand<$t> {
                AbsExpand::__expand_abs_method(x, scope)
            }
            fn expand_max(
                scope: &Scope,
                x: NativeExpand<$t>,
                y: NativeExpand<$t>,
            ) -> NativeExpand<$t> {
                max::expand(scope, x, y)
            }
            fn expand_min(
                scope: &Scope,
                x: NativeExpand<$t>,
                y: NativeExpand<$t>,
            ) -> NativeExpand<$t> {
                min::expand(scope, x, y)
            }
        }
    };
}
on_device!(f32);
on_device!(f64);

/// The methods of [`Real`] in a device kernel.
pub trait RealExpand: Sized {
    fn __expand_sqrt_method(self, scope: &Scope) -> Self;
    fn __expand_abs_method(self, scope: &Scope) -> Self;
    fn __expand_max_method(self, scope: &Scope, other: Self) -> Self;
    fn __expand_min_method(self, scope: &Scope, other: Self) -> Self;
    fn __expand_to_f64_method(self, scope: &Scope) -> NativeExpand<f64>;
    fn __expand_to_u32_method(self, scope: &Scope) -> NativeExpand<u32>;
}

impl<F: Real> RealExpand for NativeExpand<F> {
    fn __expand_sqrt_method(self, scope: &Scope) -> Self {
        F::expand_sqrt(scope, self)
    }
    fn __expand_abs_method(self, scope: &Scope) -> Self {
        F::expand_abs(scope, self)
    }
    fn __expand_max_method(self, scope: &Scope, other: Self) -> Self {
        F::expand_max(scope, self, other)
    }
    fn __expand_min_method(self, scope: &Scope, other: Self) -> Self {
        F::expand_min(scope, self, other)
    }
    fn __expand_to_f64_method(self, scope: &Scope) -> NativeExpand<f64> {
        f64::__expand_cast_from(scope, self)
    }
    fn __expand_to_u32_method(self, scope: &Scope) -> NativeExpand<u32> {
        u32::__expand_cast_from(scope, self)
    }
}
