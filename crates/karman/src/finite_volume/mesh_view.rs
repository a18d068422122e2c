//! Meshes and fields as kernels read them: groups of views.
//!
//! A count that a kernel takes, and the number of entities it runs over, is that of the *owned* entities of a part of a mesh:
//! its cells, and the faces of these cells, of which those between two parts belong to both. Arrays may be longer, with ghost
//! cells behind the owned ones: a shape is the least length of an array. Component-major arrays therefore have a stride of
//! their own ([`Vectors`]), the distance between the components of an entity, never less than the count.
#![allow(missing_docs)] // on the modules that the attributes make

use crate::backend::{Buffer, Segment, View};
use crate::operators::FaceCells;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Vectors of entities, component-major: `[3][stride]`, the stride at least the number of entities.
#[derive(Group, Clone, Copy)]
pub struct Vectors<'a, F: Real> {
    /// Components.
    pub components: View<'a, F>,
    /// Distance between the components of an entity in the array.
    pub stride: usize,
}

#[device]
impl<F: Real> Vectors<'_, F> {
    /// The vector of entity `i`.
    #[inline(always)]
    pub fn at(&self, i: usize) -> Vec3<F> {
        Vec3::<F>::at(&self.components, i, self.stride)
    }
}

impl<'a, F: Real> Vectors<'a, F> {
    /// The vectors of a buffer `[3][stride]`.
    pub fn of(buffer: &'a Buffer<F>) -> Self {
        Vectors { components: buffer.view(), stride: buffer.len() / 3 }
    }

    /// Vectors that a kernel does not read.
    pub fn absent() -> Self {
        Vectors { components: View::absent(), stride: 0 }
    }
}

/// Connectivity and geometry of faces. Left and right cells: l and r; interpolation is linear along d = x_r − x_l with
/// weight w of the left cell, with a skewness correction from x_i = w x_l + (1 − w) x_r to the centroid x_f.
#[derive(Group, Clone, Copy)]
pub struct FaceView<'a, F: Real> {
    /// l: `[n_faces]`.
    pub left: View<'a, u32>,
    /// r: `[n_interior]`.
    pub right: View<'a, u32>,
    /// w: `[n_interior]`.
    pub weight: View<'a, F>,
    /// x_f − x_i; at a boundary d − (d·n) n with d = x_f − x_l: `[3][n_faces]`.
    pub skewness: Vectors<'a, F>,
    /// d; at a boundary x_f − x_l: `[3][n_faces]`.
    pub delta: Vectors<'a, F>,
    /// S, from left to right: `[3][n_faces]`.
    pub area: Vectors<'a, F>,
    /// Number of interior faces of owned cells; the boundary faces follow.
    pub n_interior: usize,
    /// Whether interpolation has no skewness correction.
    #[comptime]
    pub is_unskewed: bool,
    /// Whether interpolation along d is cubic.
    #[comptime]
    pub is_cubic: bool,
}

impl<'a, F: Real> FaceView<'a, F> {
    /// Connectivity alone.
    pub fn of_cells(cells: &'a FaceCells) -> Self {
        FaceView {
            left: cells.left.view(),
            right: cells.right.view(),
            weight: View::absent(),
            skewness: Vectors::absent(),
            delta: Vectors::absent(),
            area: Vectors::absent(),
            n_interior: cells.n_interior(),
            is_unskewed: true,
            is_cubic: false,
        }
    }
}

/// Coefficients of the diffusive flux a (φ_r − φ_l) + t·∇φ_f.
#[derive(Group, Clone, Copy)]
pub struct DiffusiveFaces<'a, F: Real> {
    /// a: `[n_faces]`.
    pub conductance: View<'a, F>,
    /// t: `[3][n_faces]`.
    pub tangential: Vectors<'a, F>,
    /// Whether t·∇φ_f is left out.
    #[comptime]
    pub two_point: bool,
}

/// Faces of the cells, and their volumes.
#[derive(Group, Clone, Copy)]
pub struct CellFaces<'a, F: Real> {
    /// First item of each cell: `[n_cells + 1]`.
    pub offsets: View<'a, u32>,
    /// Faces, the sign in the top bit: `[offsets.last]`.
    pub items: View<'a, u32>,
    /// V: `[n_cells]`.
    pub volume: View<'a, F>,
}

impl<'a, F: Real> CellFaces<'a, F> {
    /// The faces of the cells, with volumes.
    pub fn of(cells: &'a FaceCells, volume: View<'a, F>) -> Self {
        CellFaces { offsets: cells.offsets.view(), items: cells.faces.view(), volume }
    }
}

/// Centroids of cells and faces.
#[derive(Group, Clone, Copy)]
pub struct CentroidView<'a, F: Real> {
    /// x_c: `[3][n_cells]`.
    pub cell: Vectors<'a, F>,
    /// x_f: `[3][n_faces]`.
    pub face: Vectors<'a, F>,
    /// Translation of the right cell of a face to the face: `[3][n_interior]`; not read unless a face is periodic.
    pub shift: Vectors<'a, F>,
    /// Whether a face is periodic.
    #[comptime]
    pub is_periodic: bool,
}

/// Stencils of cell gradients, ∇φ_c = Σ_k W_k Δφ_k.
#[derive(Group, Clone, Copy)]
pub struct GradientStencilView<'a, F: Real> {
    /// First item of each cell: `[n_cells + 1]`.
    pub offsets: View<'a, u32>,
    /// A cell, or a boundary face, counted from the first of these, with the top bit set: `[items]`.
    pub items: View<'a, u32>,
    /// W: `[3][items]`.
    pub weights: Vectors<'a, F>,
}

/// Equations of boundary faces in cell gradients, Δφ = r v − s φ_c.
#[derive(Group, Clone, Copy)]
pub struct BoundaryRowView<'a, F: Real> {
    /// Index of the prescribed value v: `[n_boundary]`.
    pub value: View<'a, u32>,
    /// r: `[n_boundary]`.
    pub row_value: View<'a, F>,
    /// s: `[n_boundary]`.
    pub row_cell: View<'a, F>,
    /// Prescribed values: `[n_values]`.
    pub prescribed: View<'a, F>,
}

/// A scalar in the cells, with its gradient and its values at the boundary.
#[derive(Group, Clone, Copy)]
pub struct CellField<'a, F: Real> {
    /// φ: `[n_cells]`.
    pub value: View<'a, F>,
    /// ∇φ: `[3][n_cells]`; not read where faces are unskewed and interpolation is linear.
    pub gradient: Vectors<'a, F>,
    /// φ at the boundary: `[n_boundary]`.
    pub at_boundary: View<'a, F>,
}

impl<'a, F: Real> CellField<'a, F> {
    /// Values alone.
    pub fn of_values(value: &'a Buffer<F>) -> Self {
        CellField { value: value.view(), gradient: Vectors::absent(), at_boundary: View::absent() }
    }
}

/// A vector in the cells by its components, or one quantity. Those beyond the dimension are not read.
#[derive(Group, Clone, Copy)]
pub struct VelocityField<'a, F: Real> {
    /// First component.
    pub x: CellField<'a, F>,
    /// Second component.
    pub y: CellField<'a, F>,
    /// Third component.
    pub z: CellField<'a, F>,
    /// 1, 2 or 3.
    #[comptime]
    pub dimension: usize,
}

#[device]
impl<F: Real> VelocityField<'_, F> {
    /// The vector of cell `c`.
    #[inline(always)]
    pub fn at(&self, c: usize) -> Vec3<F> {
        let mut z = F::literal(0.0);
        if comptime!(self.dimension == 3) {
            z = self.z.value[c];
        }
        Vec3::<F> { x: self.x.value[c], y: self.y.value[c], z }
    }

    /// The vector at boundary face `b`.
    #[inline(always)]
    pub fn at_boundary(&self, b: usize) -> Vec3<F> {
        let mut z = F::literal(0.0);
        if comptime!(self.dimension == 3) {
            z = self.z.at_boundary[b];
        }
        Vec3::<F> { x: self.x.at_boundary[b], y: self.y.at_boundary[b], z }
    }

    /// ∇u·a for each component u of cell `c`.
    #[inline(always)]
    pub fn derivative(&self, c: usize, a: Vec3<F>) -> Vec3<F> {
        let mut z = F::literal(0.0);
        if comptime!(self.dimension == 3) {
            z = self.z.gradient.at(c).dot(a);
        }
        Vec3::<F> { x: self.x.gradient.at(c).dot(a), y: self.y.gradient.at(c).dot(a), z }
    }
}

/// One to three quantities of entities by their arrays, `[n]` each: the components of a vector, or a scalar. Arrays beyond
/// the number of quantities are not read.
#[derive(Group, Clone, Copy)]
pub struct VectorField<'a, F: Real> {
    /// First component.
    pub x: View<'a, F>,
    /// Second component.
    pub y: View<'a, F>,
    /// Third component.
    pub z: View<'a, F>,
    /// 1, 2 or 3.
    #[comptime]
    pub dimension: usize,
}

#[device]
impl<F: Real> VectorField<'_, F> {
    /// The quantities of entity `i`; 0 beyond their number.
    #[inline(always)]
    pub fn at(&self, i: usize) -> Vec3<F> {
        let (mut y, mut z) = (F::literal(0.0), F::literal(0.0));
        if comptime!(self.dimension > 1) {
            y = self.y[i];
        }
        if comptime!(self.dimension > 2) {
            z = self.z[i];
        }
        Vec3::<F> { x: self.x[i], y, z }
    }

    /// The product of the vector of entity `i`, of two or three components, with `v`. It is not `at(i).dot(v)`, which in 2D
    /// reads v_z and adds 0 v_z: that makes 0 of −0, so that fluxes at rest have other bits.
    #[inline(always)]
    pub fn dot(&self, i: usize, v: Vec3<F>) -> F {
        let mut sum = self.x[i] * v.x + self.y[i] * v.y;
        if comptime!(self.dimension == 3) {
            sum += self.z[i] * v.z;
        }
        sum
    }
}

impl<'a, F: Real> VectorField<'a, F> {
    /// The quantities of one to three buffers.
    pub fn of(components: &[&'a Buffer<F>]) -> Self {
        let at = |k: usize| components.get(k).map_or(View::absent(), |buffer| buffer.view());
        VectorField { x: at(0), y: at(1), z: at(2), dimension: components.len() }
    }
}

/// One to three quantities of entities in one array: `[dimension][stride]`.
#[derive(Group, Clone, Copy)]
pub struct Quantities<'a, F: Real> {
    /// Values.
    pub values: View<'a, F>,
    /// Distance between the quantities of an entity in the array.
    pub stride: usize,
    /// 1, 2 or 3.
    #[comptime]
    pub dimension: usize,
}

#[device]
impl<F: Real> Quantities<'_, F> {
    /// The quantities of entity `i`; 0 beyond their number.
    #[inline(always)]
    pub fn at(&self, i: usize) -> Vec3<F> {
        let (mut y, mut z) = (F::literal(0.0), F::literal(0.0));
        if comptime!(self.dimension > 1) {
            y = self.values[self.stride + i];
        }
        if comptime!(self.dimension > 2) {
            z = self.values[2 * self.stride + i];
        }
        Vec3::<F> { x: self.values[i], y, z }
    }
}

impl<'a, F: Real> Quantities<'a, F> {
    /// The quantities of a buffer `[dimension][stride]`.
    pub fn of(buffer: &'a Buffer<F>, dimension: usize) -> Self {
        Quantities { values: buffer.view(), stride: buffer.len() / dimension, dimension }
    }
}

/// Adds to the quantities of entity `i` in an array `[dimension][stride]`.
#[device]
#[inline(always)]
pub fn add_quantities<F: Real>(
    i: usize,
    v: Vec3<F>,
    stride: usize,
    to: &mut Segment<F>,
    #[comptime] dimension: usize,
) {
    to[i] += v.x;
    if comptime!(dimension > 1) {
        to[stride + i] += v.y;
    }
    if comptime!(dimension > 2) {
        to[2 * stride + i] += v.z;
    }
}

/// Stores quantities of entity `i` in an array `[dimension][stride]`.
#[device]
#[inline(always)]
pub fn store_quantities<F: Real>(
    i: usize,
    v: Vec3<F>,
    stride: usize,
    to: &mut Segment<F>,
    #[comptime] dimension: usize,
) {
    to[i] = v.x;
    if comptime!(dimension > 1) {
        to[stride + i] = v.y;
    }
    if comptime!(dimension > 2) {
        to[2 * stride + i] = v.z;
    }
}
