//! The numbers karman computes with, [`Real`] scalars and small vectors, which mean the same on the host and in a
//! device kernel.

#![allow(missing_docs)] // on the modules that the attribute makes

use crate::Element;
use crate::prelude::*;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A floating-point scalar (`f32` or `f64`) usable in an entity function on both sides.
///
/// Exponentials, logarithms, powers and angles are in [`crate::functions`].
pub trait Real:
    Element
    + NumberOnDevice
    + Into<f64>
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + std::iter::Sum
    + std::fmt::Debug
    + std::fmt::Display
{
    /// The literal `v`, rounded to this precision. Inside a kernel a float without a suffix is one already.
    fn literal(v: f64) -> Self;
    /// From double precision, rounded.
    fn from_f64(x: f64) -> Self;
    /// From an unsigned integer, rounded.
    fn from_u32(x: u32) -> Self;
    /// x, negated where the top bit of `word` is set.
    fn signed(word: u32, x: Self) -> Self;
    /// √x.
    fn sqrt(self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// The larger of two numbers; the other one where one is not a number.
    fn max(self, other: Self) -> Self;
    /// The smaller of two numbers; the other one where one is not a number.
    fn min(self, other: Self) -> Self;
    /// To double precision.
    fn to_f64(self) -> f64;
    /// To an unsigned integer, rounding towards zero; `x` must be in range.
    fn to_u32(self) -> u32;
}

/// The distance from 1 to the next number of a precision.
pub fn epsilon<F: Real>() -> f64 {
    if size_of::<F>() == 4 { f32::EPSILON.into() } else { f64::EPSILON }
}

const TOP_BIT: u32 = 1 << 31;

// Inlined also where a program makes its own solver of these types: a build that is incremental
// calls them otherwise, once an entry.
macro_rules! real {
    ($t:ident, $bits:ident, $shift:literal) => {
        impl Real for $t {
            #[inline(always)]
            fn literal(v: f64) -> $t {
                v as $t
            }
            #[inline(always)]
            fn from_f64(x: f64) -> $t {
                x as $t
            }
            #[inline(always)]
            fn from_u32(x: u32) -> $t {
                x as $t
            }
            // The host flips the bit of the number: signs come in no order, so that a branch is mispredicted
            // every other time, and a product with a ±1 that is computed first takes up to twice as long.
            #[inline(always)]
            fn signed(word: u32, x: $t) -> $t {
                $t::from_bits(x.to_bits() ^ ($bits::from(word & TOP_BIT) << $shift))
            }
            #[inline(always)]
            fn sqrt(self) -> $t {
                <$t>::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> $t {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn max(self, other: $t) -> $t {
                <$t>::max(self, other)
            }
            #[inline(always)]
            fn min(self, other: $t) -> $t {
                <$t>::min(self, other)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn to_u32(self) -> u32 {
                self as u32
            }
        }
    };
}
real!(f32, u32, 0);
real!(f64, u64, 32);

/// Converts between precisions, through double precision (exact for every pair).
#[device]
#[inline(always)]
pub fn convert<S: Real, T: Real>(x: S) -> T {
    T::from_f64(x.to_f64())
}

/// Three components: a point, a velocity, a gradient.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components, Linear)]
pub struct Vec3<F: Real> {
    /// First component.
    pub x: F,
    /// Second component.
    pub y: F,
    /// Third component; 0 in a 2D mesh.
    pub z: F,
}

#[device]
impl<F: Real> Vec3<F> {
    /// The zero vector.
    #[inline(always)]
    pub fn zero() -> Vec3<F> {
        Vec3::<F> { x: 0.0, y: 0.0, z: 0.0 }
    }
    /// a · b.
    #[inline(always)]
    pub fn dot(self, b: Vec3<F>) -> F {
        self.x * b.x + self.y * b.y + self.z * b.z
    }
    /// a × b.
    #[inline(always)]
    pub fn cross(self, b: Vec3<F>) -> Vec3<F> {
        Vec3::<F> {
            x: self.y * b.z - self.z * b.y,
            y: self.z * b.x - self.x * b.z,
            z: self.x * b.y - self.y * b.x,
        }
    }
}

/// A symmetric 3 × 3 tensor, upper triangle by rows: a metric, a Hessian.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components, Linear)]
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

#[device]
impl<F: Real> Sym3<F> {
    /// The zero tensor.
    #[inline(always)]
    pub fn zero() -> Sym3<F> {
        Sym3::<F> { xx: 0.0, xy: 0.0, xz: 0.0, yy: 0.0, yz: 0.0, zz: 0.0 }
    }
    /// w d dᵀ.
    #[inline(always)]
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
    #[inline(always)]
    pub fn times(self, a: Vec3<F>) -> Vec3<F> {
        Vec3::<F> {
            x: self.xx * a.x + self.xy * a.y + self.xz * a.z,
            y: self.xy * a.x + self.yy * a.y + self.yz * a.z,
            z: self.xz * a.x + self.yz * a.y + self.zz * a.z,
        }
    }
    /// The solution x of M x = a, by cofactors; M must be regular.
    #[inline(always)]
    pub fn solve(self, a: Vec3<F>) -> Vec3<F> {
        let cxx = self.yy * self.zz - self.yz * self.yz;
        let cxy = self.xz * self.yz - self.xy * self.zz;
        let cxz = self.xy * self.yz - self.xz * self.yy;
        let cyy = self.xx * self.zz - self.xz * self.xz;
        let cyz = self.xy * self.xz - self.xx * self.yz;
        let czz = self.xx * self.yy - self.xy * self.xy;
        let scale = 1.0 / (self.xx * cxx + self.xy * cxy + self.xz * cxz);
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

    /// The device's form of [`Real::signed`].
    fn signed_by_product<F: Real>(word: u32, x: F) -> F {
        x * (F::literal(1.0) - F::literal(2.0) * F::from_u32(word >> 31))
    }

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
