//! Kernels as hard as any that karman will need, each written once as an entity function: what the
//! `kernel` attribute is held to. Compared on every backend by the tests below and timed by
//! `karman bench`; the equation systems bring their own versions.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::{Segment, View};
use crate::prelude::*;
use crate::real::{Real, Sym3, Vec3, convert};

/// Density, momentum and energy per volume.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub struct Conserved<F: Real> {
    pub density: F,
    pub momentum_x: F,
    pub momentum_y: F,
    pub momentum_z: F,
    pub energy: F,
}

/// The way a residual couples two states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Upwinding {
    /// Roe (1981) with Harten's entropy fix.
    Roe,
    /// The fastest wave's speed.
    Rusanov,
}

#[device]
fn pressure<F: Real>(q: Conserved<F>, gamma: F) -> F {
    let m = q.momentum_x * q.momentum_x + q.momentum_y * q.momentum_y + q.momentum_z * q.momentum_z;
    (gamma - F::literal(1.0)) * (q.energy - F::literal(0.5) * m / q.density)
}

/// |λ| with Harten's parabola below `delta`.
#[device]
fn fixed_speed<F: Real>(lambda: F, delta: F) -> F {
    let speed = lambda.abs();
    if speed < delta { F::literal(0.5) * (speed * speed / delta + delta) } else { speed }
}

/// Flux of the Euler equations through `s` (area included), Roe, J. Comput. Phys. 43 (1981) 357,
/// in the wave-strength form of Toro's book (3rd ed., §11.2.2).
#[device]
pub fn upwind_flux<F: Real>(
    l: Conserved<F>,
    r: Conserved<F>,
    s: Vec3<F>,
    gamma: F,
    #[comptime] upwinding: Upwinding,
) -> Conserved<F> {
    let one = F::literal(1.0);
    let half = F::literal(0.5);
    let area = s.dot(s).sqrt();
    let n = s * (one / area);
    let ul = Vec3::<F> {
        x: l.momentum_x / l.density,
        y: l.momentum_y / l.density,
        z: l.momentum_z / l.density,
    };
    let ur = Vec3::<F> {
        x: r.momentum_x / r.density,
        y: r.momentum_y / r.density,
        z: r.momentum_z / r.density,
    };
    let pl = pressure::<F>(l, gamma);
    let pr = pressure::<F>(r, gamma);
    let unl = ul.dot(n);
    let unr = ur.dot(n);
    let hl = (l.energy + pl) / l.density;
    let hr = (r.energy + pr) / r.density;
    let mut d0 = r.density - l.density;
    let mut d1 = r.momentum_x - l.momentum_x;
    let mut d2 = r.momentum_y - l.momentum_y;
    let mut d3 = r.momentum_z - l.momentum_z;
    let mut d4 = r.energy - l.energy;
    if comptime!(upwinding == Upwinding::Roe) {
        let wl = l.density.sqrt();
        let wr = r.density.sqrt();
        let w = one / (wl + wr);
        let u = (ul * wl + ur * wr) * w;
        let h = (wl * hl + wr * hr) * w;
        let un = u.dot(n);
        let q2 = u.dot(u);
        let c2 = (gamma - one) * (h - half * q2);
        let c = c2.sqrt();
        let density = wl * wr;
        let dp = pr - pl;
        let dun = unr - unl;
        let delta = F::literal(0.05) * (un.abs() + c);
        let a1 = half * (dp - density * c * dun) / c2 * fixed_speed::<F>(un - c, delta);
        let a2 = (d0 - dp / c2) * fixed_speed::<F>(un, delta);
        let a5 = half * (dp + density * c * dun) / c2 * fixed_speed::<F>(un + c, delta);
        let shear = density * fixed_speed::<F>(un, delta);
        let du = ur - ul - n * dun;
        d0 = a1 + a2 + a5;
        d1 = a1 * (u.x - c * n.x) + a2 * u.x + shear * du.x + a5 * (u.x + c * n.x);
        d2 = a1 * (u.y - c * n.y) + a2 * u.y + shear * du.y + a5 * (u.y + c * n.y);
        d3 = a1 * (u.z - c * n.z) + a2 * u.z + shear * du.z + a5 * (u.z + c * n.z);
        d4 = a1 * (h - c * un) + a2 * half * q2 + shear * u.dot(du) + a5 * (h + c * un);
    } else {
        let speed = (unl.abs() + (gamma * pl / l.density).sqrt())
            .max(unr.abs() + (gamma * pr / r.density).sqrt());
        d0 *= speed;
        d1 *= speed;
        d2 *= speed;
        d3 *= speed;
        d4 *= speed;
    }
    let a = half * area;
    Conserved::<F> {
        density: a * (l.density * unl + r.density * unr - d0),
        momentum_x: a * (l.momentum_x * unl + r.momentum_x * unr + (pl + pr) * n.x - d1),
        momentum_y: a * (l.momentum_y * unl + r.momentum_y * unr + (pl + pr) * n.y - d2),
        momentum_z: a * (l.momentum_z * unl + r.momentum_z * unr + (pl + pr) * n.z - d3),
        energy: a * (l.density * hl * unl + r.density * hr * unr - d4),
    }
}

#[device]
fn mean<F: Real>(q: &View<F>, c: usize, n: usize) -> Conserved<F> {
    Conserved::<F> {
        density: q[c],
        momentum_x: q[n + c],
        momentum_y: q[2 * n + c],
        momentum_z: q[3 * n + c],
        energy: q[4 * n + c],
    }
}

/// The state of cell `c` at its side `side`: q_c + Σ_j w_j (q_j − q_c), with stored weights `S`.
#[device]
fn reconstructed<F: Real, S: Real>(
    c: usize,
    side: usize,
    q: &View<F>,
    stencil: &View<u32>,
    weights: &View<S>,
    n: usize,
    #[comptime] width: usize,
) -> Conserved<F> {
    let own = mean::<F>(q, c, n);
    let mut v = own;
    for j in 0..width {
        let w = convert::<S, F>(weights[(side * width + j) * n + c]);
        let other = mean::<F>(q, stencil[j * n + c] as usize, n);
        v.density += w * (other.density - own.density);
        v.momentum_x += w * (other.momentum_x - own.momentum_x);
        v.momentum_y += w * (other.momentum_y - own.momentum_y);
        v.momentum_z += w * (other.momentum_z - own.momentum_z);
        v.energy += w * (other.energy - own.energy);
    }
    v
}

/// −Σ_sides flux of a cell of four sides, states reconstructed from both sides by weight rows kept
/// in a lower precision. Layouts: `neighbour`, `neighbour_side`: `[4][n]`; `stencil`: `[width][n]`;
/// `weights`: `[4][width][n]`; `area`: `[3][4][n]`; `q`: `[5][n]`.
///
/// Traffic a cell: 32 of neighbours, 96 of areas, 4 width of stencil, 16 width of weights, 80 of
/// state and result (f64), each once.
#[kernel(residual, out(result))]
pub fn residual_of_cell<F: Real, S: Real>(
    c: usize,
    q: &View<F>,
    neighbour: &View<u32>,
    neighbour_side: &View<u32>,
    area: &View<F>,
    stencil: &View<u32>,
    weights: &View<S>,
    gamma: F,
    n: usize,
    #[comptime] width: usize,
    #[comptime] upwinding: Upwinding,
) -> Conserved<F> {
    let zero = F::literal(0.0);
    let mut total = Conserved::<F> {
        density: zero,
        momentum_x: zero,
        momentum_y: zero,
        momentum_z: zero,
        energy: zero,
    };
    for side in 0..4usize {
        let k = side * n + c;
        let other = neighbour[k] as usize;
        let left = reconstructed::<F, S>(c, side, q, stencil, weights, n, width);
        let right =
            reconstructed::<F, S>(other, neighbour_side[k] as usize, q, stencil, weights, n, width);
        let s = Vec3::<F>::at(area, k, 4 * n);
        let f = upwind_flux::<F>(left, right, s, gamma, upwinding);
        total.density -= f.density;
        total.momentum_x -= f.momentum_x;
        total.momentum_y -= f.momentum_y;
        total.momentum_z -= f.momentum_z;
        total.energy -= f.energy;
    }
    total
}

/// Values of row I of the Galerkin product A_c = Pᵀ A P, whose pattern (`offsets`, `columns`, sorted)
/// is known. `r_*` is Pᵀ by rows. Each term is added where a binary search of the row finds its
/// column, in the order of the sources, so that bits repeat.
///
/// Traffic: each matrix once, 12 bytes an entry in f64.
#[kernel(galerkin)]
pub fn galerkin_row<F: Real>(
    row: usize,
    r_offsets: &View<u32>,
    r_columns: &View<u32>,
    r_values: &View<F>,
    a_offsets: &View<u32>,
    a_columns: &View<u32>,
    a_values: &View<F>,
    p_offsets: &View<u32>,
    p_columns: &View<u32>,
    p_values: &View<F>,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &mut Segment<F>,
) {
    let first = offsets[row] as usize;
    let end = offsets[row + 1] as usize;
    for k in first..end {
        values[k] = F::literal(0.0);
    }
    for kr in r_offsets[row] as usize..r_offsets[row + 1] as usize {
        let i = r_columns[kr] as usize;
        for ka in a_offsets[i] as usize..a_offsets[i + 1] as usize {
            let j = a_columns[ka] as usize;
            let ra = r_values[kr] * a_values[ka];
            for kp in p_offsets[j] as usize..p_offsets[j + 1] as usize {
                let column = p_columns[kp];
                let mut low = first;
                let mut high = end;
                while low + 1 < high {
                    let middle = (low + high) / 2;
                    if columns[middle] <= column {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                values[low] += ra * p_values[kp];
            }
        }
    }
}

/// Six √2 times the volume over the cube of the root-mean-square edge in the metric `m`: 1 for the
/// unit equilateral tetrahedron, negative where inverted.
#[device]
fn quality<F: Real>(a: Vec3<F>, b: Vec3<F>, c: Vec3<F>, d: Vec3<F>, m: Sym3<F>) -> F {
    let ab = b - a;
    let ac = c - a;
    let ad = d - a;
    let bc = c - b;
    let bd = d - b;
    let cd = d - c;
    let volume = ab.dot(ac.cross(ad)) / F::literal(6.0);
    let square = ab.dot(m.times(ab))
        + ac.dot(m.times(ac))
        + ad.dot(m.times(ad))
        + bc.dot(m.times(bc))
        + bd.dot(m.times(bd))
        + cd.dot(m.times(cd));
    let edge = (square / F::literal(6.0)).sqrt();
    F::literal(8.485281374238571) * volume / (edge * edge * edge)
}

/// The worst quality of the cells around node `v` when it sits at `place`.
#[device]
fn worst_of_cavity<F: Real>(
    v: usize,
    place: Vec3<F>,
    offsets: &View<u32>,
    cells: &View<u32>,
    nodes: &View<u32>,
    points: &View<F>,
    metric: Sym3<F>,
    n_nodes: usize,
    n_cells: usize,
) -> F {
    let mut worst = F::literal(1.0);
    for k in offsets[v] as usize..offsets[v + 1] as usize {
        let cell = cells[k] as usize;
        let ia = nodes[cell] as usize;
        let ib = nodes[n_cells + cell] as usize;
        let ic = nodes[2 * n_cells + cell] as usize;
        let id = nodes[3 * n_cells + cell] as usize;
        let mut a = Vec3::<F>::at(points, ia, n_nodes);
        let mut b = Vec3::<F>::at(points, ib, n_nodes);
        let mut c = Vec3::<F>::at(points, ic, n_nodes);
        let mut d = Vec3::<F>::at(points, id, n_nodes);
        if ia == v {
            a = place;
        }
        if ib == v {
            b = place;
        }
        if ic == v {
            c = place;
        }
        if id == v {
            d = place;
        }
        worst = worst.min(quality::<F>(a, b, c, d, metric));
    }
    worst
}

/// The place of node `v` after one smoothing of its cavity by Pain et al. (2001, eq. 27):
/// (D + A)(x − p) = ½ (q − A p), kept only where the worst cell of the cavity does not get worse.
/// `nodes`: `[4][n_cells]`, `points`: `[3][n_nodes]`, `metric`: `[6][n_nodes]`.
#[kernel(smooth, out(moved))]
pub fn smoothed_node<F: Real>(
    v: usize,
    offsets: &View<u32>,
    cells: &View<u32>,
    nodes: &View<u32>,
    points: &View<F>,
    metric: &View<F>,
    n_nodes: usize,
    n_cells: usize,
) -> Vec3<F> {
    let p = Vec3::<F>::at(points, v, n_nodes);
    let own = Sym3::<F>::at(metric, v, n_nodes);
    let mut q = Vec3::<F>::zero();
    let zero = F::literal(0.0);
    let mut a = Sym3::<F> { xx: zero, xy: zero, xz: zero, yy: zero, yz: zero, zz: zero };
    for k in offsets[v] as usize..offsets[v + 1] as usize {
        let cell = cells[k] as usize;
        for corner in 0..4usize {
            let other = nodes[corner * n_cells + cell] as usize;
            if other != v {
                let m = own + Sym3::<F>::at(metric, other, n_nodes);
                a += m;
                let y = Vec3::<F>::at(points, other, n_nodes);
                q += m.times(y);
            }
        }
    }
    let floor = F::literal(1.01);
    let dx = a.xx.max(floor * (a.xy.abs() + a.xz.abs()));
    let dy = a.yy.max(floor * (a.xy.abs() + a.yz.abs()));
    let dz = a.zz.max(floor * (a.xz.abs() + a.yz.abs()));
    let system =
        Sym3::<F> { xx: a.xx + dx, xy: a.xy, xz: a.xz, yy: a.yy + dy, yz: a.yz, zz: a.zz + dz };
    let pull = (q - a.times(p)) * F::literal(0.5);
    let x = p + system.solve(pull);
    let before = worst_of_cavity::<F>(v, p, offsets, cells, nodes, points, own, n_nodes, n_cells);
    let after = worst_of_cavity::<F>(v, x, offsets, cells, nodes, points, own, n_nodes, n_cells);
    let mut result = p;
    if after >= before {
        result = x;
    }
    result
}
