//! Inner products of the fluxes through the faces of a cell, exact for uniform fields (mimetic finite
//! differences).
//!
//! With r the vectors from the centre of the cell to its faces, s their outward areas, V the volume and B a
//! basis of the admissible fields (all, or those along one normal):
//!
//! M = R T⁻¹ Rᵀ/V + Pᵀ δ P,  R = r B,  N = s B,  T = RᵀN/V,  P = I − N T⁻¹ Rᵀ/V.
//!
//! T = I if all faces are planar. M N = R: M maps the fluxes of a uniform field to its integrals along r. On
//! a box with δ = |r·s|/s² M is diagonal. The dual cell of a node has such a product too, its faces those
//! around the edges of the node. Source: Brezzi, Lipnikov & Simoncini, Math. Models Methods Appl. Sci. 15
//! (2005) 1533.

use crate::linear::{CsrMatrix, LinearError};
use crate::mesh::geometry::dot;
use rayon::prelude::*;
use std::ops::Range;

pub(super) type Vector = [f64; 3];

type Matrix3 = [Vector; 3];

const IDENTITY: Matrix3 = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// The inverse by cofactors; `None` if singular to round-off.
fn inverse(a: Matrix3) -> Option<Matrix3> {
    let cofactor = |i: usize, j: usize| {
        let (p, q, r, s) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
        a[p][r] * a[q][s] - a[p][s] * a[q][r]
    };
    let determinant = (0..3).map(|j| a[0][j] * cofactor(0, j)).fold(0.0, |x, y| x + y);
    let invertible = determinant.abs() > 1e-9;
    invertible.then(|| [0, 1, 2].map(|i| [0, 1, 2].map(|j| cofactor(j, i) / determinant)))
}

fn times(a: &Matrix3, x: Vector) -> Vector {
    a.map(|row| dot(row, x))
}

/// The inner product of one cell.
pub(super) struct InnerProduct {
    /// R, zero-padded beyond the dimension of the basis.
    positions: Vec<Vector>,
    /// N T⁻¹.
    normals_by_t: Vec<Vector>,
    delta: Vec<f64>,
    /// T⁻¹/V + Σ δ K Kᵀ/V², K the rows of N T⁻¹.
    core: Matrix3,
    inverse: Matrix3,
    measure: f64,
    /// Largest entry of |T − I|.
    pub warp: f64,
}

impl InnerProduct {
    /// Of a cell of volume `measure`; `None` if its face vectors do not span the basis.
    pub(super) fn new(
        positions: &[Vector],
        areas: &[Vector],
        delta: Vec<f64>,
        measure: f64,
        basis: &[Vector],
    ) -> Option<InnerProduct> {
        let within = |v: &Vector| {
            let mut coordinates = [0.0; 3];
            basis.iter().zip(&mut coordinates).for_each(|(b, c)| *c = dot(*b, *v));
            coordinates
        };
        let positions: Vec<Vector> = positions.iter().map(within).collect();
        let normals: Vec<Vector> = areas.iter().map(within).collect();
        let mut t = IDENTITY;
        for (i, row) in t.iter_mut().enumerate().take(basis.len()) {
            for (j, entry) in row.iter_mut().enumerate().take(basis.len()) {
                let products = positions.iter().zip(&normals).map(|(r, n)| r[i] * n[j]);
                *entry = products.fold(0.0, |a, b| a + b) / measure;
            }
        }
        let symmetric = [0, 1, 2].map(|i| [0, 1, 2].map(|j| 0.5 * (t[i][j] + t[j][i])));
        let (full, mut core) = (inverse(t)?, inverse(symmetric)?);
        let transposed = [0, 1, 2].map(|i| [0, 1, 2].map(|j| full[j][i]));
        // Row k of N T⁻¹ is T⁻ᵀ N_k.
        let normals_by_t: Vec<Vector> = normals.iter().map(|n| times(&transposed, *n)).collect();
        for (i, row) in core.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                let spread = delta.iter().zip(&normals_by_t).map(|(d, k)| d * k[i] * k[j]);
                *entry = (*entry + spread.fold(0.0, |a, b| a + b) / measure) / measure;
            }
        }
        let off = |i: usize, j: usize| (t[i][j] - IDENTITY[i][j]).abs();
        let warp = (0..9).map(|k| off(k / 3, k % 3)).fold(0.0, f64::max);
        Some(InnerProduct { positions, normals_by_t, delta, core, inverse: full, measure, warp })
    }

    /// Entry (a, b) of M.
    pub(super) fn entry(&self, a: usize, b: usize) -> f64 {
        let (r, s) = (self.positions[a], self.positions[b]);
        let crossed = self.delta[a] * dot(self.normals_by_t[a], s)
            + self.delta[b] * dot(self.normals_by_t[b], r);
        let own = if a == b { self.delta[a] } else { 0.0 };
        dot(r, times(&self.core, s)) - crossed / self.measure + own
    }

    /// T⁻¹ r of each face: Σ T⁻¹ r U / V is the uniform field of fluxes U, in the standard basis.
    pub(super) fn reconstruction(&self) -> Vec<Vector> {
        self.positions.iter().map(|r| times(&self.inverse, *r)).collect()
    }
}

/// Entries below this fraction of the largest in the row are round-off.
const NEGLIGIBLE: f64 = 1e-13;

/// The sum of the products of cells, at most two per row: `own(row)` are the cells of a row, `items(cell)`
/// the rows of a cell and `product(cell)` its product.
pub(super) fn assembled(
    rows: usize,
    own: impl Fn(usize) -> [Option<usize>; 2] + Sync,
    items: impl Fn(usize) -> Vec<u32> + Sync,
    product: impl Fn(usize) -> Option<InnerProduct> + Sync,
) -> Result<CsrMatrix<f64>, LinearError> {
    by_rows(0..rows, rows, |row, entries| {
        for owner in own(row).into_iter().flatten() {
            let (items, product) = (items(owner), product(owner));
            let place = items.iter().position(|item| *item as usize == row);
            if let (Some(a), Some(product)) = (place, product) {
                let row = items.iter().enumerate();
                entries.extend(row.map(|(b, item)| (*item, product.entry(a, b))));
            }
        }
    })
}

/// Columns and values of a row.
type Entries = Vec<(u32, f64)>;

/// The rows of a matrix whose row r sums the entries listed by `collect(r)` in any order; entries of round-off are
/// dropped.
pub(super) fn by_rows(
    rows: Range<usize>,
    columns: usize,
    collect: impl Fn(usize, &mut Entries) + Sync,
) -> Result<CsrMatrix<f64>, LinearError> {
    const CHUNK: usize = 2048;
    type Part = (Vec<u32>, Vec<u32>, Vec<f64>);
    let part = |chunk: usize| -> Part {
        let (mut lengths, mut indices, mut values) = (vec![], vec![], vec![]);
        let (mut entries, mut summed): (Entries, Entries) = (vec![], vec![]);
        let first = rows.start + chunk * CHUNK;
        for row in first..(first + CHUNK).min(rows.end) {
            entries.clear();
            summed.clear();
            collect(row, &mut entries);
            entries.sort_by_key(|(column, _)| *column);
            for (column, value) in &entries {
                match summed.last_mut() {
                    Some((last, sum)) if last == column => *sum += value,
                    _ => summed.push((*column, *value)),
                }
            }
            let largest = summed.iter().map(|(_, v)| v.abs()).fold(0.0, f64::max);
            let before = indices.len();
            for (column, value) in &summed {
                // The diagonal is kept, so that no row is empty.
                if value.abs() > NEGLIGIBLE * largest || *column as usize == row {
                    indices.push(*column);
                    values.push(*value);
                }
            }
            lengths.push((indices.len() - before) as u32);
        }
        (lengths, indices, values)
    };
    let parts: Vec<Part> = (0..rows.len().div_ceil(CHUNK)).into_par_iter().map(part).collect();
    let (mut offsets, mut indices, mut values) = (vec![0u32], vec![], vec![]);
    for (lengths, own_indices, own_values) in parts {
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        indices.extend(own_indices);
        values.extend(own_values);
    }
    CsrMatrix::new(columns, offsets, indices, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::geometry::{cross, subtract};

    const STANDARD: [Vector; 3] = IDENTITY;

    /// Face vectors, outward areas and volume of a tetrahedron.
    fn tetrahedron() -> (Vec<Vector>, Vec<Vector>, f64) {
        let p = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.3, 0.2, 1.1]];
        let mean =
            |q: &[Vector]| [0, 1, 2].map(|k| q.iter().map(|v| v[k]).sum::<f64>() / q.len() as f64);
        let centre = mean(&p);
        let (mut positions, mut areas) = (vec![], vec![]);
        for [a, b, c] in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
            let area = cross(subtract(p[b], p[a]), subtract(p[c], p[a])).map(|x| 0.5 * x);
            areas.push(area);
            positions.push(subtract(mean(&[p[a], p[b], p[c]]), centre));
        }
        let [u, v, w] = [1, 2, 3].map(|k| subtract(p[k], p[0]));
        (positions, areas, dot(u, cross(v, w)) / 6.0)
    }

    #[test]
    fn a_uniform_field_is_integrated_and_reconstructed_exactly() {
        let (positions, areas, volume) = tetrahedron();
        let delta = positions.iter().zip(&areas).map(|(r, s)| dot(*r, *s).abs() / dot(*s, *s));
        let product =
            InnerProduct::new(&positions, &areas, delta.collect(), volume, &STANDARD).unwrap();
        assert!(product.warp < 1e-12, "{}", product.warp);
        let field = [0.3, -1.2, 0.7];
        let vectors = product.reconstruction();
        let mut back = [0.0; 3];
        for a in 0..4 {
            let sum: f64 = (0..4).map(|b| product.entry(a, b) * dot(areas[b], field)).sum();
            assert!((sum - dot(positions[a], field)).abs() < 1e-13);
            (0..3).for_each(|k| back[k] += vectors[a][k] * dot(areas[a], field) / volume);
            (0..4).for_each(|b| {
                assert!((product.entry(a, b) - product.entry(b, a)).abs() < 1e-14);
            });
        }
        assert!((0..3).all(|k| (back[k] - field[k]).abs() < 1e-13), "{back:?}");
    }

    #[test]
    fn a_box_has_a_diagonal_product() {
        let size = [1.0, 2.0, 0.5];
        let (mut positions, mut areas) = (vec![], vec![]);
        for k in 0..3 {
            for side in [-1.0, 1.0] {
                let (mut place, mut area) = ([0.0; 3], [0.0; 3]);
                place[k] = 0.5 * side * size[k];
                area[k] = side / size[k];
                positions.push(place);
                areas.push(area);
            }
        }
        let delta = positions.iter().zip(&areas).map(|(r, s)| dot(*r, *s).abs() / dot(*s, *s));
        let product =
            InnerProduct::new(&positions, &areas, delta.collect(), 1.0, &STANDARD).unwrap();
        for a in 0..6 {
            for b in 0..6 {
                let k = a / 2;
                let expected = if a == b { 0.5 * size[k] * size[k] } else { 0.0 };
                assert!((product.entry(a, b) - expected).abs() < 1e-14, "{a} {b}");
            }
        }
    }

    #[test]
    fn coplanar_face_vectors_are_rejected() {
        let coplanar = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, -1.0, 0.0]];
        assert!(InnerProduct::new(&coplanar, &coplanar, vec![1.0; 3], 1.0, &STANDARD).is_none());
    }
}
