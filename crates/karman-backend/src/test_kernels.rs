//! Kernels as hard as any that karman will need, each written once as an entity function, to test the `kernel`
//! attribute. Tests compare them on every backend and `karman bench` times them; the equation systems have
//! kernels of their own.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::{Local, Segment, View};
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

/// The state of the cells.
#[derive(Group, Clone, Copy)]
pub struct CellState<'a, F: Real> {
    /// Means of the conserved quantities: `[5][n]`.
    pub mean: View<'a, F>,
    /// Number of cells.
    pub n: usize,
}

#[device]
impl<F: Real> CellState<'_, F> {
    /// The state of cell `c`.
    #[inline(always)]
    pub fn at(&self, c: usize) -> Conserved<F> {
        Conserved::<F> {
            density: self.mean[c],
            momentum_x: self.mean[self.n + c],
            momentum_y: self.mean[2 * self.n + c],
            momentum_z: self.mean[3 * self.n + c],
            energy: self.mean[4 * self.n + c],
        }
    }
}

/// The four sides of each cell.
#[derive(Group, Clone, Copy)]
pub struct CellSides<'a, F: Real> {
    /// The cell across: `[4][n]`.
    pub neighbour: View<'a, u32>,
    /// The number of the side in that cell: `[4][n]`.
    pub neighbour_side: View<'a, u32>,
    /// Area vectors: `[3][4][n]`.
    pub area: View<'a, F>,
}

/// Cells and weights of the reconstruction at the sides of each cell.
#[derive(Group, Clone, Copy)]
pub struct Reconstruction<'a, S: Real> {
    /// Cells of the stencil: `[width][n]`.
    pub cells: View<'a, u32>,
    /// Weights of each side: `[4][width][n]`.
    pub weights: View<'a, S>,
    /// Number of cells of a stencil.
    #[comptime]
    pub width: usize,
}

/// The state of cell `c` at its side `side`: q_c + Σ_j w_j (q_j − q_c), with stored weights `S`.
#[device]
fn reconstructed<F: Real, S: Real>(
    c: usize,
    side: usize,
    q: &CellState<F>,
    stencil: &Reconstruction<S>,
) -> Conserved<F> {
    let width = comptime!(stencil.width);
    let own = q.at(c);
    let mut v = own;
    for j in 0..width {
        let w = convert::<S, F>(stencil.weights[(side * width + j) * q.n + c]);
        let other = q.at(stencil.cells[j * q.n + c] as usize);
        v.density += w * (other.density - own.density);
        v.momentum_x += w * (other.momentum_x - own.momentum_x);
        v.momentum_y += w * (other.momentum_y - own.momentum_y);
        v.momentum_z += w * (other.momentum_z - own.momentum_z);
        v.energy += w * (other.energy - own.energy);
    }
    v
}

/// −Σ_sides flux of a cell of four sides, states reconstructed on both sides with weights stored in a lower
/// precision.
///
/// Traffic a cell: 32 of neighbours, 96 of areas, 4 width of stencil, 16 width of weights, 80 of
/// state and result (f64), each once.
#[kernel(out(result))]
pub fn residual<F: Real, S: Real>(
    c: usize,
    q: &CellState<F>,
    sides: &CellSides<F>,
    stencil: &Reconstruction<S>,
    gamma: F,
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
        let k = side * q.n + c;
        let other = sides.neighbour[k] as usize;
        let left = reconstructed::<F, S>(c, side, q, stencil);
        let right = reconstructed::<F, S>(other, sides.neighbour_side[k] as usize, q, stencil);
        let s = Vec3::<F>::at(&sides.area, k, 4 * q.n);
        let f = upwind_flux::<F>(left, right, s, gamma, upwinding);
        total.density -= f.density;
        total.momentum_x -= f.momentum_x;
        total.momentum_y -= f.momentum_y;
        total.momentum_z -= f.momentum_z;
        total.energy -= f.energy;
    }
    total
}

/// A sparse matrix by compressed rows.
#[derive(Group, Clone, Copy)]
pub struct CsrView<'a, F: Real> {
    /// Where rows begin: `[rows + 1]`.
    pub offsets: View<'a, u32>,
    /// Columns: `[entries]`.
    pub columns: View<'a, u32>,
    /// Values: `[entries]`.
    pub values: View<'a, F>,
}

/// The sparsity pattern of a matrix by compressed rows, columns ascending.
#[derive(Group, Clone, Copy)]
pub struct PatternView<'a> {
    /// Where rows begin: `[rows + 1]`.
    pub offsets: View<'a, u32>,
    /// Columns: `[entries]`.
    pub columns: View<'a, u32>,
}

/// Values of row I of the Galerkin product A_c = R A P, R = Pᵀ, whose `pattern` is known. Each term is added
/// where a binary search of the row finds its column, in the order of the sources, so that bits repeat.
///
/// Traffic: each matrix once, 12 bytes an entry in f64.
#[kernel]
pub fn galerkin<F: Real>(
    row: usize,
    r: &CsrView<F>,
    a: &CsrView<F>,
    p: &CsrView<F>,
    pattern: &PatternView,
    values: &mut Segment<F>,
) {
    let first = pattern.offsets[row] as usize;
    let end = pattern.offsets[row + 1] as usize;
    for k in first..end {
        values[k] = F::literal(0.0);
    }
    for kr in r.offsets[row] as usize..r.offsets[row + 1] as usize {
        let i = r.columns[kr] as usize;
        for ka in a.offsets[i] as usize..a.offsets[i + 1] as usize {
            let j = a.columns[ka] as usize;
            let ra = r.values[kr] * a.values[ka];
            for kp in p.offsets[j] as usize..p.offsets[j + 1] as usize {
                let column = p.columns[kp];
                let mut low = first;
                let mut high = end;
                while low + 1 < high {
                    let middle = (low + high) / 2;
                    if pattern.columns[middle] <= column {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                values[low] += ra * p.values[kp];
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

/// Tetrahedra and the cells around each node.
#[derive(Group, Clone, Copy)]
pub struct Tetrahedra<'a, F: Real> {
    /// First item of each node in `cells`: `[n_nodes + 1]`.
    pub offsets: View<'a, u32>,
    /// Cells around nodes: `[offsets.last]`.
    pub cells: View<'a, u32>,
    /// Corners: `[4][n_cells]`.
    pub nodes: View<'a, u32>,
    /// Coordinates: `[3][n_nodes]`.
    pub points: View<'a, F>,
    /// Number of nodes.
    pub n_nodes: usize,
    /// Number of cells.
    pub n_cells: usize,
}

#[device]
impl<F: Real> Tetrahedra<'_, F> {
    /// The point of node `v`.
    #[inline(always)]
    fn point(&self, v: usize) -> Vec3<F> {
        Vec3::<F>::at(&self.points, v, self.n_nodes)
    }
}

/// The worst quality of the cells around node `v` when it sits at `place`.
#[device]
fn worst_of_cavity<F: Real>(v: usize, place: Vec3<F>, mesh: &Tetrahedra<F>, metric: Sym3<F>) -> F {
    let mut worst = F::literal(1.0);
    for k in mesh.offsets[v] as usize..mesh.offsets[v + 1] as usize {
        let cell = mesh.cells[k] as usize;
        let ia = mesh.nodes[cell] as usize;
        let ib = mesh.nodes[mesh.n_cells + cell] as usize;
        let ic = mesh.nodes[2 * mesh.n_cells + cell] as usize;
        let id = mesh.nodes[3 * mesh.n_cells + cell] as usize;
        let mut a = mesh.point(ia);
        let mut b = mesh.point(ib);
        let mut c = mesh.point(ic);
        let mut d = mesh.point(id);
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
/// `metric`: `[6][n_nodes]`.
#[kernel(out(moved))]
pub fn smooth<F: Real>(v: usize, mesh: &Tetrahedra<F>, metric: &View<F>) -> Vec3<F> {
    let p = mesh.point(v);
    let own = Sym3::<F>::at(metric, v, mesh.n_nodes);
    let mut q = Vec3::<F>::zero();
    let zero = F::literal(0.0);
    let mut a = Sym3::<F> { xx: zero, xy: zero, xz: zero, yy: zero, yz: zero, zz: zero };
    for k in mesh.offsets[v] as usize..mesh.offsets[v + 1] as usize {
        let cell = mesh.cells[k] as usize;
        for corner in 0..4usize {
            let other = mesh.nodes[corner * mesh.n_cells + cell] as usize;
            if other != v {
                let m = own + Sym3::<F>::at(metric, other, mesh.n_nodes);
                a += m;
                q += m.times(mesh.point(other));
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
    let before = worst_of_cavity::<F>(v, p, mesh, own);
    let after = worst_of_cavity::<F>(v, x, mesh, own);
    let mut result = p;
    if after >= before {
        result = x;
    }
    result
}
/// Independent chains of [`multiply_add()`].
const CHAINS: usize = 16;

/// Links of a chain of [`multiply_add()`].
const LINKS: usize = 64;

/// Operations of an entity of [`multiply_add()`].
pub const MULTIPLY_ADD_OPERATIONS: usize = 2 * CHAINS * LINKS;

/// Independent chains x ← a x + b, for the arithmetic a machine can do. Traffic 2s; [`MULTIPLY_ADD_OPERATIONS`] operations.
#[kernel(out(y))]
pub fn multiply_add<F: Real>(i: usize, x: &View<F>, a: F, b: F) -> F {
    let mut chains = Local::<F, CHAINS>::zeros();
    chains[0] = x[i];
    #[unroll]
    for k in 1..CHAINS {
        chains[k] = chains[k - 1] * b + a;
    }
    for _link in 0..LINKS {
        #[unroll]
        for k in 0..CHAINS {
            chains[k] = chains[k] * a + b;
        }
    }
    let mut sum = F::literal(0.0);
    #[unroll]
    for k in 0..CHAINS {
        sum += chains[k];
    }
    sum
}
