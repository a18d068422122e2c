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
use cubecl::prelude::*;
use karman_macros::kernel;

/// `value` with the sign an incidence item carries in its top bit: by a product, since signs come in no
/// order and a branch on them is mispredicted every other time.
#[cube]
#[inline(always)]
pub fn with_sign<F: Real>(item: u32, value: F) -> F {
    value * (F::literal(1.0) - F::literal(2.0) * F::from_u32(item >> 31))
}

/// The entity an incidence item names.
#[cube]
#[inline(always)]
pub fn without_sign(item: u32) -> usize {
    (item & comptime!(!SIGN_BIT)) as usize
}

/// Σ_k ± x over the items of row `r`.
#[cube]
#[inline(always)]
pub fn signed_sum<F: Real>(r: usize, offsets: &View<u32>, items: &View<u32>, x: &View<F>) -> F {
    let mut sum = F::literal(0.0);
    for k in offsets[r] as usize..offsets[r + 1] as usize {
        let item = items[k];
        sum += with_sign::<F>(item, x[without_sign(item)]);
    }
    sum
}

/// (G p)_f = p_right − p_left; at a boundary face the exterior is 0.
///
/// Traffic a face: 8 + s, and s a cell.
#[kernel(gradient, out(g))]
pub fn gradient_of_face<F: Real>(
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
/// Traffic a cell: 4 + s, an item 4, a face s.
#[kernel(divergence, out(d))]
pub fn divergence_of_cell<F: Real>(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    flux: &View<F>,
) -> F {
    signed_sum::<F>(c, offsets, faces, flux)
}

/// (C a)_f = Σ_e ± a_e: the circulation around a face, which is a flux through it.
///
/// Traffic a face: 4 + s, an item 4, an edge s.
#[kernel(curl, out(flux))]
pub fn curl_of_face<F: Real>(
    f: usize,
    offsets: &View<u32>,
    edges: &View<u32>,
    circulation: &View<F>,
) -> F {
    signed_sum::<F>(f, offsets, edges, circulation)
}

/// (R v)_e = Σ_f ± v_f, the transpose of the curl.
///
/// Traffic an edge: 4 + s, an item 4, a face s.
#[kernel(rotation, out(r))]
pub fn rotation_of_edge<F: Real>(
    e: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    v: &View<F>,
) -> F {
    signed_sum::<F>(e, offsets, faces, v)
}

/// (G_n φ)_e = φ_end − φ_start; `nodes` holds each edge's two nodes side by side.
///
/// Traffic an edge: 8 + s, and s a node.
#[kernel(nodal_gradient, out(g))]
pub fn nodal_gradient_of_edge<F: Real>(e: usize, nodes: &View<u32>, phi: &View<F>) -> F {
    phi[nodes[2 * e + 1] as usize] - phi[nodes[2 * e] as usize]
}
