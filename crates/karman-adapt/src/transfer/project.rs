//! The L² projection of a nodal field onto the nodal fields of another mesh.

use super::clip::measure;
use super::overlap::{Scratch, corners_of, intersect};
use super::sampler::FieldSampler;
use super::volumes::{volumes, weighted_sum};
use crate::kept_parts::KeptParts;
use crate::vector::{Point, dot, subtract};
use karman_mesh::{Adjacency, Mesh};
use rayon::prelude::*;

/// Relative residual at which the system of the mass matrix is solved.
const TOLERANCE: f64 = 1e-15;
/// Most iterations for it; the matrix with its diagonal as preconditioner has a condition number of a few units.
const ITERATIONS: usize = 200;

/// A linear function: value at the origin and gradient.
#[derive(Clone, Copy)]
struct Linear {
    origin: Point,
    value: f64,
    gradient: Point,
}

impl Linear {
    fn at(&self, point: Point) -> f64 {
        self.value + dot(self.gradient, subtract(point, self.origin))
    }
}

/// The projection of `values` at the nodes of the old mesh, with the nodes of kept cells fixed, and the integral of the old field over the
/// cells that were not kept.
pub(super) fn project(
    (old, is_kept): (&FieldSampler, &[bool]),
    (new, kept): (&Mesh, &KeptParts),
    values: &[f64],
) -> (Vec<f64>, f64) {
    let d = new.dimension;
    let of_old = |cell: u32| linear(d, &old.walk.cells[cell as usize], &old.walk.points, values);
    // ∫ φ_i u over each new cell, for its corners.
    let loads: Vec<[f64; 4]> = (0..new.n_cells())
        .into_par_iter()
        .map_init(Scratch::default, |scratch, cell| {
            if kept.cell(cell).is_some() {
                return [0.0; 4];
            }
            let corners = corners_of(new, cell);
            let nodes = [0, 1, 2, 3].map(|corner: usize| corner as u32);
            let shape = |corner: usize| {
                let mut unit = [0.0; 4];
                unit[corner] = 1.0;
                linear(d, &nodes, &corners, &unit)
            };
            let shapes = [0, 1, 2, 3].map(|corner| shape(corner.min(d)));
            let mut parts: Vec<(u32, [Point; 4])> = vec![];
            let of = (&old.walk, &old.tree, is_kept);
            let largest = intersect(new, cell, of, scratch, |cell, pieces| {
                parts.extend(pieces.iter().map(|piece| (cell, *piece)));
            });
            let middle = super::overlap::centroid(d, &corners);
            let outside = of_old(largest.unwrap_or_else(|| old.locate(middle, &mut vec![]).0));
            let mut load = [0.0; 4];
            for (load, shape) in load.iter_mut().zip(&shapes).take(d + 1) {
                *load = product(d, &corners, shape, |point| outside.at(point));
            }
            for (cell, piece) in parts {
                let inside = of_old(cell);
                for (load, shape) in load.iter_mut().zip(&shapes).take(d + 1) {
                    *load += product(d, &piece, shape, |p| inside.at(p) - outside.at(p));
                }
            }
            load
        })
        .collect();
    let system = MassMatrix::new(new, kept);
    let load: Vec<f64> = system.gather(|cell, corner| loads[cell][corner]);
    let integral_of = |cell: &[u32; 4]| {
        let corners = cell.map(|node| old.walk.points[node as usize]);
        let sum = cell[..=d].iter().fold(0.0, |sum, &node| sum + values[node as usize]);
        measure(d, &corners) * sum / (d + 1) as f64
    };
    let simplices = old.walk.cells.iter().zip(&old.walk.owners);
    let changed = simplices.filter(|(_, owner)| !is_kept[**owner as usize]);
    let integral = changed.fold(0.0, |sum, (cell, _)| sum + integral_of(cell));
    let fixed: Vec<Option<f64>> =
        (0..new.n_nodes()).map(|node| kept.node(node).map(|before| values[before])).collect();
    (system.solve(&load, &fixed), integral)
}

/// The linear function with given values at the corners of a simplex.
fn linear(d: usize, nodes: &[u32; 4], points: &[Point], values: &[f64]) -> Linear {
    let [a, b, c, e] = nodes.map(|node| points[(node as usize).min(points.len() - 1)]);
    let value = |corner: usize| values[nodes[corner] as usize];
    let (u, v) = (subtract(b, a), subtract(c, a));
    let (du, dv) = (value(1) - value(0), value(2) - value(0));
    let gradient = if d == 2 {
        let area = u[0] * v[1] - u[1] * v[0];
        [(du * v[1] - dv * u[1]) / area, (dv * u[0] - du * v[0]) / area, 0.0]
    } else {
        let (w, dw) = (subtract(e, a), value(3) - value(0));
        let [vw, wu, uv] = [(v, w), (w, u), (u, v)].map(|(p, q)| crate::vector::cross(p, q));
        let volume = dot(u, vw);
        [0, 1, 2].map(|axis| (du * vw[axis] + dv * wu[axis] + dw * uv[axis]) / volume)
    };
    Linear { origin: a, value: value(0), gradient }
}

/// ∫ f g over a simplex of two linear functions.
fn product(d: usize, corners: &[Point; 4], f: &Linear, g: impl Fn(Point) -> f64) -> f64 {
    let n = d + 1;
    let (mut sum_f, mut sum_g, mut both) = (0.0, 0.0, 0.0);
    for &corner in &corners[..n] {
        let (f, g) = (f.at(corner), g(corner));
        sum_f += f;
        sum_g += g;
        both += f * g;
    }
    measure(d, corners) * (sum_f * sum_g + both) / (n * (n + 1)) as f64
}

/// ∫ φ_i φ_j over the cells of a mesh that were not kept, without storage of its entries.
struct MassMatrix<'a> {
    mesh: &'a Mesh,
    kept: &'a KeptParts,
    around: Adjacency,
    /// Volume over (d + 1)(d + 2), `[n_cells]`; 0 of kept cells.
    scaled: Vec<f64>,
}

impl<'a> MassMatrix<'a> {
    fn new(mesh: &'a Mesh, kept: &'a KeptParts) -> Self {
        let n = mesh.dimension + 1;
        let scaled = volumes(mesh, kept).iter().map(|v| v / (n * (n + 1)) as f64).collect();
        MassMatrix { mesh, kept, around: mesh.node_to_cells(), scaled }
    }

    /// Σ over the cells of each node that were not kept of a number of the cell and of the node's corner in it.
    fn gather(&self, of: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f64> {
        let at = |node: usize| {
            let cells = self.around.of(node).iter();
            let changed = cells.filter(|&&cell| self.kept.cell(cell as usize).is_none());
            let terms = changed.map(|&cell| {
                let nodes = self.mesh.cells.nodes_of(cell as usize);
                let corner = nodes.iter().position(|&other| other as usize == node);
                of(cell as usize, corner.unwrap_or(0))
            });
            terms.fold(0.0, |sum, term| sum + term)
        };
        (0..self.mesh.n_nodes()).into_par_iter().map(at).collect()
    }

    fn multiply(&self, x: &[f64]) -> Vec<f64> {
        self.gather(|cell, corner| {
            let nodes = self.mesh.cells.nodes_of(cell);
            let sum = nodes.iter().fold(0.0, |sum, &node| sum + x[node as usize]);
            self.scaled[cell] * (sum + x[nodes[corner] as usize])
        })
    }

    /// Conjugate gradients with the diagonal as preconditioner, for the values that are not `fixed`, `[n_nodes]`.
    fn solve(&self, load: &[f64], fixed: &[Option<f64>]) -> Vec<f64> {
        let diagonal = self.gather(|cell, _| 2.0 * self.scaled[cell]);
        let sum = |a: &[f64], b: &[f64]| weighted_sum(a, b.iter().copied());
        let divide = |r: &[f64]| -> Vec<f64> {
            let of_node = |((r, d), fixed): ((&f64, &f64), &Option<f64>)| match fixed {
                Some(_) => 0.0,
                None => r / d,
            };
            r.iter().zip(&diagonal).zip(fixed).map(of_node).collect()
        };
        let lumped = divide(load).into_iter().map(|x| 2.0 * x / (self.mesh.dimension + 2) as f64);
        let mut x: Vec<f64> = lumped.zip(fixed).map(|(x, fixed)| fixed.unwrap_or(x)).collect();
        let mut r: Vec<f64> = load.iter().zip(self.multiply(&x)).map(|(b, ax)| b - ax).collect();
        let mut z = divide(&r);
        let mut p = z.clone();
        let mut rz = sum(&r, &z);
        let target = TOLERANCE * TOLERANCE * sum(load, &divide(load));
        for _ in 0..ITERATIONS {
            if rz <= target {
                break;
            }
            let ap = self.multiply(&p);
            let alpha = rz / sum(&p, &ap);
            x.iter_mut().zip(&p).for_each(|(x, p)| *x += alpha * p);
            r.iter_mut().zip(&ap).for_each(|(r, ap)| *r -= alpha * ap);
            z = divide(&r);
            let next = sum(&r, &z);
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / rz * *p);
            rz = next;
        }
        x
    }
}
