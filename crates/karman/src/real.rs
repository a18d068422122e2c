//! The numbers karman computes with: [`Real`] scalars and small vectors that mean the same on the
//! host and inside a device kernel.

#![allow(missing_docs)] // on the modules CubeCL generates

use crate::backend::Element;
use cubecl::prelude::*;
use karman_macros::Components;

/// A floating-point scalar (`f32` or `f64`) usable in an entity function on both sides.
///
/// CubeCL's own generic `Float::sqrt`, `abs`, … panic when called on the host, so the functions an
/// entity function may use are these. Every method is an associated function because a `#[cube]`
/// trait cannot take `self` by value on both sides.
///
/// Exponentials, logarithms, powers and angles are in [`crate::functions`].
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
