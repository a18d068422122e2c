//! The metric at any place as kernels find it: in a regular grid, or by a walk in the initial mesh.
//!
//! Both interpolate the tensor of sizes H = M^(−1/2) and return M = H⁻²: a linear variation of sizes is exact, and M is
//! positive definite wherever the tensors given are.
#![allow(missing_docs)] // on the modules the attribute makes
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use karman_backend::View;
use karman_backend::prelude::*;
use karman_backend::real::{Sym3, Vec3};

/// No cell behind a facet.
pub(super) const NONE: u32 = u32::MAX;
/// Most cells that a walk passes.
const LONGEST_WALK: u32 = 64;
/// Least barycentric coordinate of a place inside a cell: rounding on the boundary.
const INSIDE: f64 = -1e-6;
/// A walk leaves a cell through a facet whose coordinate is below this. A node has coordinates of 0 up to rounding in all its cells;
/// a walk that compared with 0 would circle about it.
const OUTSIDE: f64 = -1e-12;

/// Where the metric at a vertex that moves is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// In a regular grid, by multilinear interpolation.
    Grid,
    /// In the initial mesh, by a walk from cell to cell and linear interpolation.
    Mesh,
}

/// The tensors of sizes on a grid or at the nodes of the initial mesh.
#[derive(Group, Clone, Copy)]
pub(super) struct LookupView<'a, F: Real> {
    #[comptime]
    pub place: Place,
    /// 2 or 3.
    #[comptime]
    pub dimension: usize,
    /// Upper triangles of the tensors: `[nodes][3]` in 2D, `[nodes][6]` in 3D.
    pub sizes: View<'a, F>,
    /// Corner of the grid.
    pub low_x: F,
    pub low_y: F,
    pub low_z: F,
    /// Intervals of the grid per length.
    pub per_x: F,
    pub per_y: F,
    pub per_z: F,
    /// Intervals of the grid.
    pub intervals_x: u32,
    pub intervals_y: u32,
    pub intervals_z: u32,
    /// Places of the nodes of the initial mesh: `[nodes][dimension]`.
    pub points: View<'a, F>,
    /// Corners of the cells: `[cells][dimension + 1]`.
    pub corners: View<'a, u32>,
    /// Cell behind the facet opposite to each corner: `[cells][dimension + 1]`.
    pub behind: View<'a, u32>,
}

/// Number of the interval that contains x, and the position in it.
#[device]
#[inline(always)]
fn interval<F: Real>(x: F, count: u32) -> (u32, F) {
    let last = F::from_u32(count);
    let clipped = x.max(0.0).min(last);
    let mut number = clipped.to_u32();
    if number >= count {
        number = count - 1;
    }
    (number, clipped - F::from_u32(number))
}

/// H⁻² = (H⁻¹)²; the third direction of a plane has the size 1.
#[device]
#[inline(always)]
pub(super) fn metric_of_sizes<F: Real>(h: Sym3<F>, #[comptime] dimension: usize) -> Sym3<F> {
    let zero = F::literal(0.0);
    let mut m = Sym3::<F> { xx: zero, xy: zero, xz: zero, yy: zero, yz: zero, zz: 1.0 };
    if comptime!(dimension == 2) {
        let scale = 1.0 / (h.xx * h.yy - h.xy * h.xy);
        let (xx, xy, yy) = (h.yy * scale, -h.xy * scale, h.xx * scale);
        m.xx = xx * xx + xy * xy;
        m.xy = xy * (xx + yy);
        m.yy = yy * yy + xy * xy;
    } else {
        let cxx = h.yy * h.zz - h.yz * h.yz;
        let cxy = h.xz * h.yz - h.xy * h.zz;
        let cxz = h.xy * h.yz - h.xz * h.yy;
        let scale = 1.0 / (h.xx * cxx + h.xy * cxy + h.xz * cxz);
        let xx = cxx * scale;
        let xy = cxy * scale;
        let xz = cxz * scale;
        let yy = (h.xx * h.zz - h.xz * h.xz) * scale;
        let yz = (h.xy * h.xz - h.xx * h.yz) * scale;
        let zz = (h.xx * h.yy - h.xy * h.xy) * scale;
        m.xx = xx * xx + xy * xy + xz * xz;
        m.xy = xx * xy + xy * yy + xz * yz;
        m.xz = xx * xz + xy * yz + xz * zz;
        m.yy = xy * xy + yy * yy + yz * yz;
        m.yz = xy * xz + yy * yz + yz * zz;
        m.zz = xz * xz + yz * yz + zz * zz;
    }
    m
}

#[device]
impl<F: Real> LookupView<'_, F> {
    /// The tensor of a node.
    #[inline(always)]
    fn tensor(&self, node: usize) -> Sym3<F> {
        let zero = F::literal(0.0);
        let mut h = Sym3::<F> { xx: zero, xy: zero, xz: zero, yy: zero, yz: zero, zz: 1.0 };
        if comptime!(self.dimension == 2) {
            h.xx = self.sizes[3 * node];
            h.xy = self.sizes[3 * node + 1];
            h.yy = self.sizes[3 * node + 2];
        } else {
            h.xx = self.sizes[6 * node];
            h.xy = self.sizes[6 * node + 1];
            h.xz = self.sizes[6 * node + 2];
            h.yy = self.sizes[6 * node + 3];
            h.yz = self.sizes[6 * node + 4];
            h.zz = self.sizes[6 * node + 5];
        }
        h
    }

    /// (1 − s) H_a + s H_b for two nodes side by side.
    #[inline(always)]
    fn along_x(&self, node: usize, s: F) -> Sym3<F> {
        self.tensor(node) * (1.0 - s) + self.tensor(node + 1) * s
    }

    /// The tensor of sizes at a place of the grid; a place outside has that of the nearest on its boundary.
    #[inline(always)]
    fn in_grid(&self, place: Vec3<F>) -> Sym3<F> {
        let (i, s) = interval::<F>((place.x - self.low_x) * self.per_x, self.intervals_x);
        let (j, t) = interval::<F>((place.y - self.low_y) * self.per_y, self.intervals_y);
        let row = self.intervals_x as usize + 1;
        let mut node = j as usize * row + i as usize;
        let mut h = Sym3::<F>::zero();
        if comptime!(self.dimension == 2) {
            h = self.along_x(node, s) * (1.0 - t) + self.along_x(node + row, s) * t;
        } else {
            let (k, r) = interval::<F>((place.z - self.low_z) * self.per_z, self.intervals_z);
            let layer = row * (self.intervals_y as usize + 1);
            node += k as usize * layer;
            let low = self.along_x(node, s) * (1.0 - t) + self.along_x(node + row, s) * t;
            node += layer;
            let high = self.along_x(node, s) * (1.0 - t) + self.along_x(node + row, s) * t;
            h = low * (1.0 - r) + high * r;
        }
        h
    }

    /// The place of a node of the initial mesh.
    #[inline(always)]
    fn point(&self, node: usize) -> Vec3<F> {
        let mut z = F::literal(0.0);
        if comptime!(self.dimension == 3) {
            z = self.points[3 * node + 2];
        }
        let at = node * comptime!(self.dimension);
        Vec3::<F> { x: self.points[at], y: self.points[at + 1], z }
    }

    /// Barycentric coordinates of a place in a cell of the initial mesh, those of corners 1, 2 and 3; 0 for the last in 2D.
    #[inline(always)]
    fn barycentric(&self, cell: usize, place: Vec3<F>) -> Vec3<F> {
        let at = cell * comptime!(self.dimension + 1);
        let a = self.point(self.corners[at] as usize);
        let u = self.point(self.corners[at + 1] as usize) - a;
        let v = self.point(self.corners[at + 2] as usize) - a;
        let p = place - a;
        let mut result = Vec3::<F>::zero();
        if comptime!(self.dimension == 2) {
            let scale = 1.0 / (u.x * v.y - u.y * v.x);
            result.x = (p.x * v.y - p.y * v.x) * scale;
            result.y = (u.x * p.y - u.y * p.x) * scale;
        } else {
            let w = self.point(self.corners[at + 3] as usize) - a;
            let of_facet = v.cross(w);
            let scale = 1.0 / u.dot(of_facet);
            result.x = p.dot(of_facet) * scale;
            result.y = w.cross(u).dot(p) * scale;
            result.z = u.cross(v).dot(p) * scale;
        }
        result
    }

    /// The tensor of sizes at a place of the initial mesh, the cell that contains it, and whether one was found by the walk from
    /// the cell `start`.
    #[inline(always)]
    fn in_mesh(&self, place: Vec3<F>, start: u32) -> (Sym3<F>, u32, bool) {
        let corners = comptime!(self.dimension + 1);
        let mut cell = start;
        let mut from = NONE.runtime();
        let mut l = Vec3::<F>::zero();
        let mut steps = 0u32;
        let mut is_walking = true;
        let mut is_found = false;
        while is_walking {
            l = self.barycentric(cell as usize, place);
            let first = 1.0 - l.x - l.y - l.z;
            let at = cell as usize * corners;
            // The facet opposite to the corner of the lowest coordinate that has another cell behind it.
            let mut next = NONE.runtime();
            let mut lowest = F::literal(OUTSIDE);
            let mut least = first.min(l.x).min(l.y);
            let mut behind = self.behind[at];
            if first < lowest && behind != NONE && behind != from {
                lowest = first;
                next = behind;
            }
            behind = self.behind[at + 1];
            if l.x < lowest && behind != NONE && behind != from {
                lowest = l.x;
                next = behind;
            }
            behind = self.behind[at + 2];
            if l.y < lowest && behind != NONE && behind != from {
                lowest = l.y;
                next = behind;
            }
            if comptime!(self.dimension == 3) {
                least = least.min(l.z);
                behind = self.behind[at + 3];
                if l.z < lowest && behind != NONE && behind != from {
                    lowest = l.z;
                    next = behind;
                }
            }
            steps += 1;
            // The coordinates are those of the last cell.
            if next == NONE || steps == comptime!(LONGEST_WALK) {
                is_walking = false;
                is_found = least >= F::literal(INSIDE);
            } else {
                from = cell;
                cell = next;
            }
        }
        let first = (1.0 - l.x - l.y - l.z).max(0.0);
        let at = cell as usize * corners;
        let mut h = self.tensor(self.corners[at] as usize) * first;
        h += self.tensor(self.corners[at + 1] as usize) * l.x.max(0.0);
        h += self.tensor(self.corners[at + 2] as usize) * l.y.max(0.0);
        let mut total = first + l.x.max(0.0) + l.y.max(0.0);
        if comptime!(self.dimension == 3) {
            h += self.tensor(self.corners[at + 3] as usize) * l.z.max(0.0);
            total += l.z.max(0.0);
        }
        (h * (1.0 / total), cell, is_found)
    }

    /// The metric at a place, the cell of the initial mesh that contains it (`start` with a grid), and whether it was found.
    #[inline(always)]
    pub(super) fn at(&self, place: Vec3<F>, start: u32) -> (Sym3<F>, u32, bool) {
        let mut h = Sym3::<F>::zero();
        let mut cell = start;
        let mut is_found = true;
        if comptime!(self.place == Place::Grid) {
            h = self.in_grid(place);
        } else {
            let (tensor, last, is_inside) = self.in_mesh(place, start);
            h = tensor;
            cell = last;
            is_found = is_inside;
        }
        (metric_of_sizes::<F>(h, comptime!(self.dimension)), cell, is_found)
    }
}
