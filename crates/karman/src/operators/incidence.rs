//! The incidence operators of a mesh, ±1 matrices that are never stored as such: gradient, divergence,
//! curl, rotation and the nodal gradient.
//!
//! Their identities hold to the last bit for integer data, and to round-off otherwise: the divergence
//! is minus the transpose of the gradient (the gradient takes the exterior of a boundary face as 0),
//! div curl = 0, rot grad = 0 and curl of a nodal gradient = 0. Source: Perot & Subramanian,
//! J. Comput. Phys. 224 (2007) 59, §2; Menon's thesis, ch. 7, for the names.
//!
//! Traffic counts each array once, scalars of `s` bytes, indices of 4.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::View;
use crate::mesh::SIGN_BIT;
use crate::real::Real;
use karman_backend::prelude::*;

/// `value` with the sign in the top bit of an incidence item.
#[device]
#[inline(always)]
pub fn with_sign<F: Real>(item: u32, value: F) -> F {
    F::signed(item, value)
}

/// The entity of an incidence item.
#[device]
#[inline(always)]
pub fn without_sign(item: u32) -> usize {
    (item & comptime!(!SIGN_BIT)) as usize
}

/// Storage of the rows of an incidence map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// Every row has this many items; offsets are not read.
    Equal(usize),
    /// Compressed rows (CSR): row r from `offsets[r]` on.
    Compressed,
    /// Sliced ELLPACK: slices of [`LANES`] rows, slice s from `offsets[s]` on, stored by rank, short rows
    /// padded with [`NO_ITEM`], so that adjacent threads read adjacent items.
    Slices,
}

/// Rows of a slice.
pub const LANES: usize = 32;

/// Padding of the short rows of a slice.
pub const NO_ITEM: u32 = u32::MAX;

impl Rows {
    /// The length of all rows, 0 where lengths differ.
    pub fn length(self) -> usize {
        if let Rows::Equal(length) = self { length } else { 0 }
    }
}

/// Σ_k ± x over the items of row `r` of rows of one length.
#[device]
#[inline(always)]
fn sum_of_equal_row<F: Real>(
    r: usize,
    items: &View<u32>,
    x: &View<F>,
    #[comptime] length: usize,
) -> F {
    let mut sum = F::literal(0.0);
    #[unroll]
    for k in 0..length {
        let item = items[r * length + k];
        sum += with_sign::<F>(item, x[without_sign(item)]);
    }
    sum
}

/// Σ_k ± x over the items of row `r`.
#[device]
#[inline(always)]
pub fn signed_sum<F: Real>(
    r: usize,
    offsets: &View<u32>,
    items: &View<u32>,
    x: &View<F>,
    #[comptime] rows: Rows,
) -> F {
    let mut sum = F::literal(0.0);
    let length = comptime!(rows.length());
    // Triangles and tetrahedra: with a literal length the host's loop is unrolled too.
    if comptime!(length == 3) {
        sum = sum_of_equal_row::<F>(r, items, x, 3usize);
    } else if comptime!(length == 4) {
        sum = sum_of_equal_row::<F>(r, items, x, 4usize);
    } else if comptime!(length > 0) {
        sum = sum_of_equal_row::<F>(r, items, x, length);
    } else if comptime!(rows == Rows::Compressed) {
        for k in offsets[r] as usize..offsets[r + 1] as usize {
            let item = items[k];
            sum += with_sign::<F>(item, x[without_sign(item)]);
        }
    } else {
        let slice = r / comptime!(LANES);
        let mut k = offsets[slice] as usize + r % comptime!(LANES);
        let end = offsets[slice + 1] as usize;
        while k < end {
            let item = items[k];
            if item != comptime!(NO_ITEM) {
                sum += with_sign::<F>(item, x[without_sign(item)]);
            }
            k += comptime!(LANES);
        }
    }
    sum
}

/// (G p)_f = p_right − p_left, with p_right = 0 at a boundary face.
///
/// Traffic a face: 8 + s, and s a cell.
#[kernel(out(g), unroll(4))]
pub fn gradient<F: Real>(
    f: usize,
    left: &View<u32>,
    right: &View<u32>,
    p: &View<F>,
    n_interior: usize,
) -> F {
    let inside = p[left[f] as usize];
    if f < n_interior { p[right[f] as usize] - inside } else { -inside }
}

/// (D U)_c = Σ_f σ_cf U_f, by gather.
///
/// Traffic a cell: s, and 4 with compressed rows; an item 4, a face s.
#[kernel(out(d), unroll(2))]
pub fn divergence<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    flux: &View<F>,
    #[comptime] rows: Rows,
) -> F {
    signed_sum::<F>(c, offsets, faces, flux, rows)
}

/// (C a)_f = Σ_e ± a_e: the circulation around a face, a flux through it.
///
/// Traffic a face: s, and 4 with compressed rows; an item 4, an edge s.
#[kernel(out(flux), unroll(2))]
pub fn curl<F: Real>(
    f: usize,
    offsets: &View<u32>,
    edges: &View<u32>,
    circulation: &View<F>,
    #[comptime] rows: Rows,
) -> F {
    signed_sum::<F>(f, offsets, edges, circulation, rows)
}

/// (R v)_e = Σ_f ± v_f, the transpose of the curl.
///
/// Traffic an edge: s, and 4 with compressed rows; an item 4, padding of slices included, a face s.
#[kernel(out(r), unroll(4))]
pub fn rotation<F: Real>(
    e: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    v: &View<F>,
    #[comptime] rows: Rows,
) -> F {
    signed_sum::<F>(e, offsets, faces, v, rows)
}

/// Σ_k ± x over the items of a row, compressed rows in permuted order: `order[position]` is the row at a
/// position. Adjacent rows of equal length save the host a mispredicted branch a row.
///
/// Traffic a row: 8 + s; an item 4, and s an entry of x.
#[kernel(out(y), indexed)]
pub fn signed_sums_in_order<F: Real>(
    position: usize,
    _row: usize,
    offsets: &View<u32>,
    items: &View<u32>,
    x: &View<F>,
) -> F {
    signed_sum::<F>(position, offsets, items, x, Rows::Compressed)
}

/// (G_n φ)_e = φ_end − φ_start; `nodes` holds each edge's two nodes side by side.
///
/// Traffic an edge: 8 + s, and s a node.
#[kernel(out(g), unroll(4))]
pub fn nodal_gradient<F: Real>(e: usize, nodes: &View<u32>, phi: &View<F>) -> F {
    phi[nodes[2 * e + 1] as usize] - phi[nodes[2 * e] as usize]
}
