//! The cavity of a vertex, its cells, as kernels read it; the quality of a cell and the gradient of the quality.
#![allow(missing_docs)] // on the modules the attribute makes
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::lookup::NONE;
use karman_backend::prelude::*;
use karman_backend::real::{Sym3, Vec3};
use karman_backend::{Segment, View};

/// Bits of a constraint word: 0 for a free vertex, else 1 + 2 × the number of its direction + 1 where it moves along the
/// direction (else normal to it).
pub(super) const ALONG: u32 = 1;

/// The cells, edges and constraints of vertices. Vertices are numbered by colour.
///
/// Lists are sliced: item j of vertex v is `first[v] + j × spacing`, where the vertices of a slice of `spacing` have their items
/// side by side; a spacing of 1 is compressed rows.
#[derive(Group, Clone, Copy)]
pub(super) struct CavityView<'a, F: Real> {
    /// 2 or 3.
    #[comptime]
    pub dimension: usize,
    /// First cell of each vertex: `[moving]`.
    pub first_cell: View<'a, u32>,
    /// Number of items of the cells of each vertex: `[moving]`.
    pub cell_count: View<'a, u32>,
    /// In 3D the facet opposite to the vertex in each of its cells, the vertex on its positive side: `[3][items]`. In 2D the
    /// vertices around it, counterclockwise, `[items]`: each with the next one has a cell. A closed round ends with its first
    /// vertex; [`NONE`] stands between rounds.
    pub facets: View<'a, u32>,
    /// Length of a row of `facets`.
    pub n_items: usize,
    /// In 3D the first neighbour of each vertex: `[moving]`. In 2D the facets have the neighbours.
    pub first_neighbour: View<'a, u32>,
    /// Number of neighbours: `[moving]`.
    pub neighbour_count: View<'a, u32>,
    /// Neighbours.
    pub neighbours: View<'a, u32>,
    /// Vertices of a slice.
    pub spacing: usize,
    /// Constraint of each vertex, see [`ALONG`]: `[moving]`.
    pub constraint: View<'a, u32>,
    /// Unit vectors: `[directions][3]`.
    pub directions: View<'a, F>,
    /// A determinant is positive where it exceeds this share of the product of the largest coordinates.
    pub filter: F,
}

/// A quality and its gradient with respect to the place of the vertex.
#[device]
#[derive(Clone, Copy, Debug)]
pub(super) struct Quality<F: Real> {
    /// The quality; 0 where no positive orientation is certain.
    pub value: F,
    /// Its gradient in a fixed metric.
    pub gradient: Vec3<F>,
}

/// The cells and the edges of a vertex of the plane at a place x.
#[device]
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<F: Real> {
    /// The lowest quality of the cells.
    pub lowest: F,
    /// Σ M over the edges with their mean metrics M.
    pub sum: Sym3<F>,
    /// Σ M (y − x) over the edges with their other ends y.
    pub pull: Vec3<F>,
}

/// Numbers of a vertex: its place, then the upper triangle of its metric.
#[device]
pub(super) fn width(#[comptime] dimension: usize) -> usize {
    comptime!(if dimension == 2 { 5usize } else { 9usize }).runtime()
}

/// The place of vertex v in `state`: `[vertices][width]`.
#[device]
#[inline(always)]
pub(super) fn place_of<F: Real>(
    v: usize,
    state: &Segment<F>,
    #[comptime] dimension: usize,
) -> Vec3<F> {
    let at = v * width(dimension);
    let mut z = F::literal(0.0);
    if comptime!(dimension == 3) {
        z = state[at + 2];
    }
    Vec3::<F> { x: state[at], y: state[at + 1], z }
}

/// The metric of vertex v in `state`.
#[device]
#[inline(always)]
pub(super) fn metric_of<F: Real>(
    v: usize,
    state: &Segment<F>,
    #[comptime] dimension: usize,
) -> Sym3<F> {
    let at = v * width(dimension) + dimension;
    let zero = F::literal(0.0);
    let mut m = Sym3::<F> { xx: zero, xy: zero, xz: zero, yy: zero, yz: zero, zz: 1.0 };
    m.xx = state[at];
    m.xy = state[at + 1];
    if comptime!(dimension == 2) {
        m.yy = state[at + 2];
    } else {
        m.xz = state[at + 2];
        m.yy = state[at + 3];
        m.yz = state[at + 4];
        m.zz = state[at + 5];
    }
    m
}

/// Stores the place and the metric of vertex v.
#[device]
#[inline(always)]
pub(super) fn store_vertex<F: Real>(
    v: usize,
    place: Vec3<F>,
    m: Sym3<F>,
    state: &mut Segment<F>,
    #[comptime] dimension: usize,
) {
    let at = v * width(dimension);
    state[at] = place.x;
    state[at + 1] = place.y;
    if comptime!(dimension == 2) {
        state[at + 2] = m.xx;
        state[at + 3] = m.xy;
        state[at + 4] = m.yy;
    } else {
        state[at + 2] = place.z;
        state[at + 3] = m.xx;
        state[at + 4] = m.xy;
        state[at + 5] = m.xz;
        state[at + 6] = m.yy;
        state[at + 7] = m.yz;
        state[at + 8] = m.zz;
    }
}

/// F(x) = (m(2 − m))³, m = min(x, 1/x), and the derivative of ln F, of x and 1/x.
#[device]
#[inline(always)]
fn size_factor<F: Real>(x: F, inverse: F) -> (F, F) {
    let mut m = x;
    let mut dm = F::literal(1.0);
    if x > 1.0 {
        m = inverse;
        dm = -m * m;
    }
    let factor = m * (2.0 - m);
    (factor * factor * factor, dm * 6.0 * (1.0 - m) / factor)
}

/// Quality of Vasilevskii and Lipnikov (see [`crate::size_and_shape`]) of the triangle with the vertex at 0 and the facet from a
/// to b, in the metric m.
#[device]
#[inline(always)]
fn triangle_quality<F: Real>(a: Vec3<F>, b: Vec3<F>, m: Sym3<F>, filter: F) -> Quality<F> {
    let mut value = F::literal(0.0);
    let mut gradient = Vec3::<F>::zero();
    let area = a.x * b.y - a.y * b.x;
    let c = b - a;
    let scale = largest::<F>(a).max(largest::<F>(b)).max(largest::<F>(c));
    if area > filter * scale * scale {
        let ma = m.times(a);
        let mb = m.times(b);
        let la = (a.x * ma.x + a.y * ma.y).sqrt();
        let lb = (b.x * mb.x + b.y * mb.y).sqrt();
        let lc = (c.x * (mb.x - ma.x) + c.y * (mb.y - ma.y)).sqrt();
        let sum = la + lb + lc;
        let inverse = 1.0 / sum;
        let (factor, rate) = size_factor::<F>(sum * 0.3333333333333333, inverse * 3.0);
        let density = (m.xx * m.yy - m.xy * m.xy).sqrt();
        let q = 10.392304845413264 * area * density * (inverse * inverse) * factor;
        if q > 0.0 {
            value = q;
            let by_area = q / area;
            let by_sum = q * (rate * 0.3333333333333333 - 2.0 * inverse);
            gradient = Vec3::<F> {
                x: by_area * (a.y - b.y) - by_sum * (ma.x / la + mb.x / lb),
                y: by_area * (b.x - a.x) - by_sum * (ma.y / la + mb.y / lb),
                z: 0.0,
            };
        }
    }
    Quality::<F> { value, gradient }
}

/// The largest absolute coordinate.
#[device]
#[inline(always)]
fn largest<F: Real>(a: Vec3<F>) -> F {
    a.x.abs().max(a.y.abs()).max(a.z.abs())
}

/// Quality of Vasilevskii and Lipnikov of the tetrahedron with the vertex at 0 on the positive side of the facet abc.
#[device]
#[inline(always)]
fn tetrahedron_quality<F: Real>(
    a: Vec3<F>,
    b: Vec3<F>,
    c: Vec3<F>,
    m: Sym3<F>,
    filter: F,
) -> Quality<F> {
    let mut value = F::literal(0.0);
    let mut gradient = Vec3::<F>::zero();
    let ab = b - a;
    let ac = c - a;
    let bc = c - b;
    let normal = ab.cross(ac);
    let volume = -normal.dot(a);
    let sides = largest::<F>(ab).max(largest::<F>(ac)).max(largest::<F>(bc));
    let scale = sides.max(largest::<F>(a)).max(largest::<F>(b)).max(largest::<F>(c));
    if volume > filter * scale * scale * scale {
        let ma = m.times(a);
        let mb = m.times(b);
        let mc = m.times(c);
        let la = a.dot(ma).sqrt();
        let lb = b.dot(mb).sqrt();
        let lc = c.dot(mc).sqrt();
        let sum =
            la + lb + lc + ab.dot(mb - ma).sqrt() + ac.dot(mc - ma).sqrt() + bc.dot(mc - mb).sqrt();
        let inverse = 1.0 / sum;
        let (factor, rate) = size_factor::<F>(sum * 0.16666666666666666, inverse * 6.0);
        let determinant = m.xx * (m.yy * m.zz - m.yz * m.yz) - m.xy * (m.xy * m.zz - m.yz * m.xz)
            + m.xz * (m.xy * m.yz - m.yy * m.xz);
        let q = 305.4701294725885
            * volume
            * determinant.sqrt()
            * (inverse * inverse * inverse)
            * factor;
        if q > 0.0 {
            value = q;
            let by_volume = q / volume;
            let by_sum = q * (rate * 0.16666666666666666 - 3.0 * inverse);
            gradient =
                normal * by_volume - (ma * (1.0 / la) + mb * (1.0 / lb) + mc * (1.0 / lc)) * by_sum;
        }
    }
    Quality::<F> { value, gradient }
}

#[device]
impl<F: Real> CavityView<'_, F> {
    /// The quality of a cell with its vertex at `place`, where the metric is `own`, and the facet abc (ab in 2D), in the mean metric
    /// of its vertices.
    #[inline(always)]
    pub(super) fn quality_on(
        &self,
        a: usize,
        b: usize,
        c: usize,
        place: Vec3<F>,
        own: Sym3<F>,
        state: &Segment<F>,
    ) -> Quality<F> {
        let dimension = comptime!(self.dimension);
        let pa = place_of::<F>(a, state, dimension) - place;
        let pb = place_of::<F>(b, state, dimension) - place;
        let sum = own + metric_of::<F>(a, state, dimension) + metric_of::<F>(b, state, dimension);
        let mut result = Quality::<F> { value: 0.0, gradient: Vec3::<F>::zero() };
        if comptime!(self.dimension == 2) {
            result = triangle_quality::<F>(pa, pb, sum * 0.3333333333333333, self.filter);
        } else {
            let pc = place_of::<F>(c, state, dimension) - place;
            let mean = (sum + metric_of::<F>(c, state, dimension)) * 0.25;
            result = tetrahedron_quality::<F>(pa, pb, pc, mean, self.filter);
        }
        result
    }

    /// The last item of the cells of vertex v, and one more.
    #[inline(always)]
    pub(super) fn end_of_cells(&self, v: usize) -> usize {
        let mut count = self.cell_count[v] as usize;
        if comptime!(self.dimension == 2) {
            count -= 1;
        }
        self.first_cell[v] as usize + count * self.spacing
    }

    /// The quality of the cell at item k with its vertex at `place`; 2 and no gradient where no cell begins there.
    #[inline(always)]
    pub(super) fn quality(
        &self,
        k: usize,
        place: Vec3<F>,
        own: Sym3<F>,
        state: &Segment<F>,
    ) -> Quality<F> {
        let mut result = Quality::<F> { value: 2.0, gradient: Vec3::<F>::zero() };
        let a = self.facets[k];
        if comptime!(self.dimension == 2) {
            let b = self.facets[k + self.spacing];
            if a != NONE && b != NONE {
                result = self.quality_on(a as usize, b as usize, b as usize, place, own, state);
            }
        } else {
            let b = self.facets[self.n_items + k] as usize;
            let c = self.facets[2 * self.n_items + k] as usize;
            result = self.quality_on(a as usize, b, c, place, own, state);
        }
        result
    }

    /// The lowest quality of the cells of vertex v at `place`; where that is below `bound`, a value below it.
    #[inline(always)]
    pub(super) fn lowest(
        &self,
        v: usize,
        place: Vec3<F>,
        own: Sym3<F>,
        bound: F,
        state: &Segment<F>,
    ) -> F {
        let mut lowest = F::literal(1.0);
        if comptime!(self.dimension == 2) {
            lowest = self.around_in_plane(v, place, own, bound, state).lowest;
        } else {
            let mut k = self.first_cell[v] as usize;
            let end = self.end_of_cells(v);
            while k < end && lowest >= bound {
                lowest = lowest.min(self.quality(k, place, own, state).value);
                k += self.spacing;
            }
        }
        lowest
    }

    /// Way once around a vertex of the plane, which reads each of its neighbours once. Ends at a quality below `bound`.
    #[inline(always)]
    pub(super) fn around_in_plane(
        &self,
        v: usize,
        place: Vec3<F>,
        own: Sym3<F>,
        bound: F,
        state: &Segment<F>,
    ) -> Around<F> {
        let mut lowest = F::literal(1.0);
        let mut sum = Sym3::<F>::zero();
        let mut pull = Vec3::<F>::zero();
        let mut k = self.first_cell[v] as usize;
        let end = k + self.cell_count[v] as usize * self.spacing;
        // Of the item before; the first item of the round.
        let mut before = NONE.runtime();
        let mut first = NONE.runtime();
        let mut place_before = Vec3::<F>::zero();
        let mut metric_before = Sym3::<F>::zero();
        while k < end && lowest >= bound {
            let item = self.facets[k];
            if item != NONE {
                let offset = place_of::<F>(item as usize, state, 2usize) - place;
                let theirs = metric_of::<F>(item as usize, state, 2usize);
                let both = own + theirs;
                if before == NONE {
                    first = item;
                } else {
                    let mean = (both + metric_before) * 0.3333333333333333;
                    let cell = triangle_quality::<F>(place_before, offset, mean, self.filter);
                    lowest = lowest.min(cell.value);
                }
                if before == NONE || item != first {
                    let metric = both * 0.5;
                    sum += metric;
                    pull += metric.times(offset);
                }
                place_before = offset;
                metric_before = theirs;
            }
            before = item;
            k += self.spacing;
        }
        Around::<F> { lowest, sum, pull }
    }

    /// The part of `wish` that the constraint of vertex v allows.
    #[inline(always)]
    pub(super) fn allowed(&self, v: usize, wish: Vec3<F>) -> Vec3<F> {
        let mut result = wish;
        let word = self.constraint[v];
        if word > 0 {
            let at = 3 * ((word - 1) / 2) as usize;
            let direction = Vec3::<F> {
                x: self.directions[at],
                y: self.directions[at + 1],
                z: self.directions[at + 2],
            };
            let part = direction * wish.dot(direction);
            result = wish - part;
            if (word - 1) % 2 == ALONG {
                result = part;
            }
        }
        result
    }
}
