//! The numbers karman computes with: [`Real`] scalars and small vectors that mean the same on the
//! host and inside a device kernel.

#![allow(missing_docs)] // on the modules CubeCL generates

use crate::Element;
use cubecl::prelude::*;
use karman_macros::Components;
use std::marker::PhantomData;

/// A floating-point scalar (`f32` or `f64`) usable in an entity function on both sides.
///
/// CubeCL's own generic `Float::sqrt`, `abs`, … panic when called on the host, so the functions an
/// entity function may use are these. Every method is an associated function because a `#[cube]`
/// trait cannot take `self` by value on both sides.
///
/// Exponentials, logarithms, powers and angles are in [`crate::functions`].
#[cube]
pub trait Real: Float + Element + Into<f64> {
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
    /// x, negated where the top bit of `word` is set.
    fn signed(word: u32, x: Self) -> Self;
}

/// A sign that is the top bit of a word. The host flips the bit of the number: signs come in no order,
/// so that a branch is mispredicted every other time, and a product with a ±1 that is computed first
/// takes up to twice as long. A device multiplies: WGSL does not show the bits of a double.
struct Sign<F>(PhantomData<F>);

impl Sign<f32> {
    #[inline(always)]
    fn apply(word: u32, x: f32) -> f32 {
        f32::from_bits(x.to_bits() ^ (word & TOP_BIT))
    }
}

impl Sign<f64> {
    #[inline(always)]
    fn apply(word: u32, x: f64) -> f64 {
        f64::from_bits(x.to_bits() ^ (u64::from(word & TOP_BIT) << 32))
    }
}

const TOP_BIT: u32 = 1 << 31;

impl<F: Real> Sign<F> {
    /// The device form of `apply`.
    fn __expand_apply(
        scope: &Scope,
        word: <u32 as CubeType>::ExpandType,
        x: <F as CubeType>::ExpandType,
    ) -> <F as CubeType>::ExpandType {
        signed_by_product::expand::<F>(scope, word, x)
    }
}

#[cube]
fn signed_by_product<F: Real>(word: u32, x: F) -> F {
    x * (F::literal(1.0) - F::literal(2.0) * F::from_u32(word >> 31))
}

// Inlined also where a program makes its own solver of these types: a build that is incremental
// calls them otherwise, once an entry.
macro_rules! real {
    ($t:ident) => {
        #[cube]
        impl Real for $t {
            #[inline]
            fn literal(#[comptime] v: f64) -> $t {
                comptime!(v as $t).runtime()
            }
            #[inline]
            fn root(x: $t) -> $t {
                x.sqrt()
            }
            #[inline]
            fn absolute(x: $t) -> $t {
                x.abs()
            }
            #[inline]
            fn larger(a: $t, b: $t) -> $t {
                max(a, b)
            }
            #[inline]
            fn smaller(a: $t, b: $t) -> $t {
                min(a, b)
            }
            #[inline]
            fn widen(x: $t) -> f64 {
                x as f64
            }
            #[inline]
            fn narrow(x: f64) -> $t {
                x as $t
            }
            #[inline]
            fn to_u32(x: $t) -> u32 {
                x as u32
            }
            #[inline]
            fn from_u32(x: u32) -> $t {
                x as $t
            }
            #[inline]
            fn signed(word: u32, x: $t) -> $t {
                Sign::<$t>::apply(word, x)
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

/// Three components: a point, a velocity, a gradient.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq, Components)]
#[expand(derive(Clone, Copy))]
pub struct Vec3<F: Real> {
    /// First component.
    pub x: F,
    /// Second component.
    pub y: F,
    /// Third component; 0 in a 2D mesh.
    pub z: F,
}

#[cube]
impl<F: Real> Vec3<F> {
    /// The zero vector.
    pub fn zero() -> Vec3<F> {
        Vec3::<F> { x: F::literal(0.0), y: F::literal(0.0), z: F::literal(0.0) }
    }
    /// a + b.
    pub fn plus(a: Vec3<F>, b: Vec3<F>) -> Vec3<F> {
        Vec3::<F> { x: a.x + b.x, y: a.y + b.y, z: a.z + b.z }
    }
    /// a − b.
    pub fn minus(a: Vec3<F>, b: Vec3<F>) -> Vec3<F> {
        Vec3::<F> { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z }
    }
    /// s a.
    pub fn scaled(a: Vec3<F>, s: F) -> Vec3<F> {
        Vec3::<F> { x: a.x * s, y: a.y * s, z: a.z * s }
    }
    /// a · b.
    pub fn dot(a: Vec3<F>, b: Vec3<F>) -> F {
        a.x * b.x + a.y * b.y + a.z * b.z
    }
    /// a × b.
    pub fn cross(a: Vec3<F>, b: Vec3<F>) -> Vec3<F> {
        Vec3::<F> { x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x }
    }
}

/// A symmetric 3 × 3 tensor, upper triangle by rows: a metric, a Hessian.
#[derive(CubeType, CubeTypeMut, Clone, Copy, Debug, PartialEq, Components)]
#[expand(derive(Clone, Copy))]
pub struct Sym3<F: Real> {
    /// Row 1, column 1.
    pub xx: F,
    /// Row 1, column 2.
    pub xy: F,
    /// Row 1, column 3.
    pub xz: F,
    /// Row 2, column 2.
    pub yy: F,
    /// Row 2, column 3.
    pub yz: F,
    /// Row 3, column 3.
    pub zz: F,
}

#[cube]
impl<F: Real> Sym3<F> {
    /// The zero tensor.
    pub fn zero() -> Sym3<F> {
        let zero = F::literal(0.0);
        Sym3::<F> { xx: zero, xy: zero, xz: zero, yy: zero, yz: zero, zz: zero }
    }
    /// w d dᵀ.
    pub fn outer(d: Vec3<F>, w: F) -> Sym3<F> {
        Sym3::<F> {
            xx: w * d.x * d.x,
            xy: w * d.x * d.y,
            xz: w * d.x * d.z,
            yy: w * d.y * d.y,
            yz: w * d.y * d.z,
            zz: w * d.z * d.z,
        }
    }
    /// M a.
    pub fn times(m: Sym3<F>, a: Vec3<F>) -> Vec3<F> {
        Vec3::<F> {
            x: m.xx * a.x + m.xy * a.y + m.xz * a.z,
            y: m.xy * a.x + m.yy * a.y + m.yz * a.z,
            z: m.xz * a.x + m.yz * a.y + m.zz * a.z,
        }
    }
    /// A + B.
    pub fn plus(a: Sym3<F>, b: Sym3<F>) -> Sym3<F> {
        Sym3::<F> {
            xx: a.xx + b.xx,
            xy: a.xy + b.xy,
            xz: a.xz + b.xz,
            yy: a.yy + b.yy,
            yz: a.yz + b.yz,
            zz: a.zz + b.zz,
        }
    }
    /// The solution x of M x = a, by cofactors; M must be regular.
    pub fn solve(m: Sym3<F>, a: Vec3<F>) -> Vec3<F> {
        let cxx = m.yy * m.zz - m.yz * m.yz;
        let cxy = m.xz * m.yz - m.xy * m.zz;
        let cxz = m.xy * m.yz - m.xz * m.yy;
        let cyy = m.xx * m.zz - m.xz * m.xz;
        let cyz = m.xy * m.xz - m.xx * m.yz;
        let czz = m.xx * m.yy - m.xy * m.xy;
        let scale = F::literal(1.0) / (m.xx * cxx + m.xy * cxy + m.xz * cxz);
        Vec3::<F> {
            x: (cxx * a.x + cxy * a.y + cxz * a.z) * scale,
            y: (cxy * a.x + cyy * a.y + cyz * a.z) * scale,
            z: (cxz * a.x + cyz * a.y + czz * a.z) * scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_and_a_product_are_the_same_sign() {
        for word in [0, 7, TOP_BIT, TOP_BIT | 7, u32::MAX] {
            for x in [0.0, -0.0, 1.5, -3e-310, f64::MAX, f64::INFINITY] {
                let (flipped, product) = (f64::signed(word, x), signed_by_product(word, x));
                assert_eq!(flipped.to_bits(), product.to_bits(), "{word} {x}");
                let x = x as f32;
                let (flipped, product) = (f32::signed(word, x), signed_by_product(word, x));
                assert_eq!(flipped.to_bits(), product.to_bits(), "{word} {x}");
            }
            assert!(f64::signed(word, f64::NAN).is_nan() && f32::signed(word, f32::NAN).is_nan());
        }
    }
}
