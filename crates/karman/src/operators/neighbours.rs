//! The neighbour of a cell across each of its faces, in the order of its faces: kernels read the list
//! instead of looking up the cells of each face; see [`FaceCells::neighbours`](super::FaceCells::neighbours).
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::incidence::without_sign;
use crate::backend::{Segment, View};
use crate::mesh::SIGN_BIT;
use karman_backend::prelude::*;

/// Whether a neighbour is a cell; otherwise it is boundary face [`without_sign()`].
#[device]
#[inline(always)]
pub fn is_cell(neighbour: u32) -> bool {
    neighbour < comptime!(SIGN_BIT)
}

/// Traffic a cell: 4, an item 8, an interior face 8.
#[kernel]
pub fn find_neighbours(
    c: usize,
    offsets: &View<u32>,
    faces: &View<u32>,
    left: &View<u32>,
    right: &View<u32>,
    n_interior: usize,
    neighbours: &mut Segment<u32>,
) {
    for k in offsets[c] as usize..offsets[c + 1] as usize {
        let f = without_sign(faces[k]);
        if f < n_interior {
            let l = left[f];
            neighbours[k] = if l as usize == c { right[f] } else { l };
        } else {
            neighbours[k] = (f - n_interior) as u32 | comptime!(SIGN_BIT);
        }
    }
}
