//! The numbers karman computes with: [`Real`] scalars and small vectors that mean the same on the
//! host and inside a device kernel.

use crate::backend::Element;
use cubecl::prelude::*;

/// A floating-point scalar (`f32` or `f64`) usable in an entity function on both sides.
///
/// CubeCL's own generic `Float::sqrt`, `abs`, … panic when called on the host, so the functions an
/// entity function may use are these. Every method is an associated function because a `#[cube]`
/// trait cannot take `self` by value on both sides.
///
/// `exp`, `ln`, `sin` and `cos` use + − × ÷ only, since WGSL and Vulkan have no double-precision
/// versions of them: range reduction and a polynomial or rational kernel, within a few units in the
/// last place (tested against the host's own functions).
#[cube]
pub trait Real:
    Float + Element + LaunchArg<RuntimeArg = Self, CompilationArg = ()> + Into<f64>
{
    /// The literal `v`, rounded to this precision.
    fn literal(#[comptime] v: f64) -> Self;
    /// √x.
    fn root(x: Self) -> Self;
    /// |x|.
    fn absolute(x: Self) -> Self;
    /// The larger of two numbers; the other one where one is not a number.
    fn larger(a: Self, b: Self) -> Self;
    /// The smaller of two numbers; the other one where one is not a number.
    fn smaller(a: Self, b: Self) -> Self;
    /// To double precision.
    fn widen(x: Self) -> f64;
    /// From double precision, rounded.
    fn narrow(x: f64) -> Self;
    /// To an unsigned integer, rounding towards zero; `x` must be in range.
    fn to_u32(x: Self) -> u32;
    /// From an unsigned integer, rounded.
    fn from_u32(x: u32) -> Self;
}

macro_rules! real {
    ($t:ident) => {
        #[cube]
        impl Real for $t {
            fn literal(#[comptime] v: f64) -> $t {
                comptime!(v as $t).runtime()
            }
            fn root(x: $t) -> $t {
                x.sqrt()
            }
            fn absolute(x: $t) -> $t {
                x.abs()
            }
            fn larger(a: $t, b: $t) -> $t {
                max(a, b)
            }
            fn smaller(a: $t, b: $t) -> $t {
                min(a, b)
            }
            fn widen(x: $t) -> f64 {
                x as f64
            }
            fn narrow(x: f64) -> $t {
                x as $t
            }
            fn to_u32(x: $t) -> u32 {
                x as u32
            }
            fn from_u32(x: u32) -> $t {
                x as $t
            }
        }
    };
}
real!(f32);
real!(f64);

/// Converts between precisions, through double precision (exact for every pair).
#[cube]
pub fn convert<S: Real, T: Real>(x: S) -> T {
    T::narrow(S::widen(x))
}
