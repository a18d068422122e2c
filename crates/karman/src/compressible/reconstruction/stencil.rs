//! Stencils and weights of the reconstruction, found once on the host.
//!
//! The stencil of a cell grows by levels of face neighbours until it has at least 1.5 cells for each coefficient and its
//! least-squares matrix is well conditioned. The row of cell j is the mean over j of the basis of cell c, whose means over c
//! are zero: r_j for the linear part, g_j + r_j r_jᵀ − g_c for the quadratic part, r_j = x_j − x_c and g the second moments.
//! Rows have the weight 1/|r_j|, lengths are relative to the extent of the cells around (J^(−1/2) x where these are stretched),
//! columns have unit norm; the condition number is that of this matrix, in the Frobenius norm.
//!
//! The weights of the values at faces are bounded too: an upwind scheme whose polynomials extrapolate is unstable (Haider,
//! Croisille & Courbet, Numer. Math. 113 (2009) 555).
//!
//! Where the largest stencil does not determine a quadratic polynomial the cell has a linear one, and where it does not determine
//! a gradient, a constant. Cells in one plane, as in a mesh of one layer, have polynomials of the plane's coordinates.
//!
//! Source: Bogdanov, Gorobets & Sukov; Barth & Frederickson, AIAA paper 90-0013, for the means of the basis.

use super::Reconstruction;
use crate::mesh::geometry::{add_scaled, dot, subtract};
use crate::mesh::gradient_stencil::{Frame, MIN_STRETCHING, Neighbour, face_neighbours, grow};
use crate::mesh::quadrature::{CellMoments, SYMMETRIC};
use crate::mesh::{Geometry, Mesh, index_of, sign_of};
use rayon::prelude::*;

type Vector = [f64; 3];

/// Most coefficients of a polynomial besides its mean.
pub const MAX_TERMS: usize = 9;

/// Least number of cells of a stencil for each coefficient.
pub const CELLS_PER_TERM: f64 = 1.5;

/// Largest condition number of a stencil's matrix, in the Frobenius norm; orthogonal columns have that of the number of
/// coefficients.
pub const MAX_CONDITION: f64 = 60.0;

/// Largest Σ_j |w_j| of the value p(x_f) − q̄ = Σ_j w_j (q̄_j − q̄) at the centroid x_f of a face. Stencils of two levels
/// have 0.5 to 0.8 on triangles, quadrilaterals, tetrahedra, hexahedra and prisms, but 4 on average where six pyramids fill a block:
/// with these a quadratic reconstruction is unstable at any time step, with three levels (0.6) it is stable.
pub const MAX_EXTRAPOLATION: f64 = 1.2;

/// Multiple of this bound at a boundary face, which no cell lies behind.
const BOUNDARY_FACTOR: f64 = 2.0;

/// Multiple of either bound beyond which coefficients are not used, also of the largest stencil.
pub const UNUSABLE: f64 = 4.0;

/// Number of cells of a stencil whose extent determines its coordinates.
const NEAREST: usize = 6;

/// Largest number of levels of face neighbours.
pub const MAX_LEVELS: usize = 4;

/// Stencils of all cells with the weights of coefficients.
#[derive(Clone, Debug, PartialEq)]
pub struct Stencils {
    /// First item of each cell: `[n_cells + 1]`.
    pub offsets: Vec<u32>,
    /// Cells of the stencils, without the cell itself.
    pub cells: Vec<u32>,
    /// Weight of each item in each coefficient: `[items][terms]`.
    pub weights: Vec<f64>,
    /// Number of coefficients.
    pub terms: usize,
    /// Number of cells with a polynomial of a lower degree than asked for.
    pub reduced: usize,
    /// Number of cells of each number of levels.
    pub levels: [usize; MAX_LEVELS + 1],
}

/// The stencil of one cell.
#[derive(Clone, Debug, PartialEq)]
struct CellStencil {
    cells: Vec<u32>,
    weights: Vec<[f64; MAX_TERMS]>,
    is_reduced: bool,
    level: usize,
}

impl Stencils {
    /// The stencils of a mesh, in parallel.
    pub fn new(
        mesh: &Mesh,
        geometry: &Geometry,
        moments: &CellMoments,
        degree: Reconstruction,
    ) -> Stencils {
        let terms = degree.terms(mesh.dimension);
        let around = Around { mesh, geometry, moments };
        let cells = (0..mesh.n_cells()).into_par_iter().with_min_len(64);
        let all: Vec<CellStencil> = cells.map(|cell| around.stencil(cell, degree)).collect();
        let mut offsets = vec![0];
        let (mut reduced, mut levels) = (0, [0; MAX_LEVELS + 1]);
        let (mut items, mut weights) = (vec![], vec![]);
        for stencil in &all {
            items.extend_from_slice(&stencil.cells);
            weights.extend(stencil.weights.iter().flat_map(|w| w[..terms].iter().copied()));
            offsets.push(items.len() as u32);
            reduced += usize::from(stencil.is_reduced);
            levels[stencil.level] += 1;
        }
        Stencils { offsets, cells: items, weights, terms, reduced, levels }
    }

    /// Number of cells with a stencil of each size.
    pub fn histogram(&self) -> Vec<usize> {
        let sizes = self.offsets.windows(2).map(|w| (w[1] - w[0]) as usize);
        let mut count = vec![];
        for size in sizes {
            if count.len() <= size {
                count.resize(size + 1, 0);
            }
            count[size] += 1;
        }
        count
    }
}

/// Columns of the basis of a cell: coordinates and products of them.
struct Basis {
    /// Axes of the coordinates, in units of the extent of cells around.
    axes: Vec<Vector>,
    quadratic: bool,
}

impl Basis {
    fn terms(&self) -> usize {
        let d = self.axes.len();
        if self.quadratic { d + d * (d + 1) / 2 } else { d }
    }

    /// Pairs of axes of the quadratic part.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let d = if self.quadratic { self.axes.len() } else { 0 };
        (0..d).flat_map(move |a| (a..d).map(move |b| (a, b)))
    }

    /// The means of the basis over a cell at `r` whose second moments exceed those of the own cell by `dg`.
    fn row(&self, r: Vector, dg: &[f64; 6], row: &mut [f64]) {
        let along = |k: usize| dot(self.axes[k], r);
        for (k, entry) in row.iter_mut().enumerate().take(self.axes.len()) {
            *entry = along(k);
        }
        for (entry, (a, b)) in row[self.axes.len()..].iter_mut().zip(self.pairs()) {
            *entry = along(a) * along(b) + contract(dg, self.axes[a], self.axes[b]);
        }
    }

    /// Coefficients of x, y, z, xx, … from those of the basis.
    fn physical(&self, own: &[f64], dimension: usize) -> [f64; MAX_TERMS] {
        let mut gradient = [0.0; 3];
        for (a, axis) in own.iter().zip(&self.axes) {
            gradient = add_scaled(gradient, *a, *axis);
        }
        let mut second = [[0.0; 3]; 3];
        for (coefficient, (a, b)) in own[self.axes.len()..].iter().zip(self.pairs()) {
            for (i, row) in second.iter_mut().enumerate() {
                *row = add_scaled(*row, coefficient * self.axes[a][i], self.axes[b]);
            }
        }
        let mut terms = [0.0; MAX_TERMS];
        terms[..dimension].copy_from_slice(&gradient[..dimension]);
        if self.quadratic {
            let inside = SYMMETRIC.iter().filter(|[i, j]| (*i).max(*j) < dimension);
            for (term, [i, j]) in terms[dimension..].iter_mut().zip(inside) {
                *term = if i == j { second[*i][*i] } else { second[*i][*j] + second[*j][*i] };
            }
        }
        terms
    }
}

/// aᵀ g b of a symmetric tensor.
fn contract(g: &[f64; 6], a: Vector, b: Vector) -> f64 {
    let [xx, xy, xz, yy, yz, zz] = *g;
    let gb = [
        xx * b[0] + xy * b[1] + xz * b[2],
        xy * b[0] + yy * b[1] + yz * b[2],
        xz * b[0] + yz * b[1] + zz * b[2],
    ];
    dot(a, gb)
}

struct Around<'a> {
    mesh: &'a Mesh,
    geometry: &'a Geometry,
    moments: &'a CellMoments,
}

impl Around<'_> {
    /// x_j − x_c between the centroids of the cells' moments.
    fn offset(&self, cell: usize, other: &Neighbour) -> Vector {
        let moved = |c: usize| subtract(self.moments.centre[c], self.geometry.cell_centre_of(c));
        add_scaled(subtract(other.offset, moved(cell)), 1.0, moved(other.cell as usize))
    }

    /// Axes in units of the extent of the cells around, of a plane where these lie in one.
    fn axes(&self, cell: usize, stencil: &[Neighbour]) -> Vec<Vector> {
        let d = self.mesh.dimension;
        let mut moment = [[0.0; 3]; 3];
        let nearest = stencil.iter().take(NEAREST).map(|n| n.cell as usize);
        let list: Vec<usize> = std::iter::once(cell).chain(nearest).collect();
        for &c in &list {
            for (g, [i, j]) in self.moments.second[c].iter().zip(SYMMETRIC) {
                moment[i][j] += g / list.len() as f64;
                if i != j {
                    moment[j][i] += g / list.len() as f64;
                }
            }
        }
        let frame = Frame::of_moment(moment, d);
        let size = 1.0 / self.moments.volume[cell].powf(1.0 / d as f64);
        let stretched = frame.stretching > MIN_STRETCHING;
        let mut axes: Vec<Vector> = (0..d)
            .map(|k| {
                let mut axis = [0.0; 3];
                axis[k] = size;
                if stretched { frame.apply(axis) } else { axis }
            })
            .collect();
        // Cells in one plane: coordinates of the plane alone.
        let offsets: Vec<Vector> = stencil.iter().map(|n| self.offset(cell, n)).collect();
        if d == 3
            && let Some(normal) = normal_of_plane(&offsets)
        {
            axes = tangents(normal).iter().map(|t| t.map(|x| x * size)).collect();
        }
        axes
    }

    fn stencil(&self, cell: usize, degree: Reconstruction) -> CellStencil {
        let none =
            |is_reduced| CellStencil { cells: vec![], weights: vec![], is_reduced, level: 0 };
        if degree == Reconstruction::Constant {
            return none(false);
        }
        let quadratic = degree == Reconstruction::Quadratic;
        let mut stencil: Vec<Neighbour> = face_neighbours(self.mesh, self.geometry, cell).collect();
        let mut newest = 0;
        let mut best: Option<(f64, CellStencil)> = None;
        let mut level = 1;
        loop {
            if let Some((merit, fit)) = self.fit(cell, &stencil, quadratic, level) {
                if merit <= 1.0 {
                    return fit;
                }
                if best.as_ref().is_none_or(|(least, _)| merit < *least) {
                    best = Some((merit, fit));
                }
            }
            if level == MAX_LEVELS {
                break;
            }
            let begin = stencil.len();
            grow(self.mesh, self.geometry, cell, newest, &mut stencil, |_| true);
            newest = begin;
            level += 1;
            if stencil.len() == begin {
                break;
            }
        }
        match best {
            Some((merit, fit)) if merit <= UNUSABLE => fit,
            _ if quadratic => {
                let linear = self.stencil(cell, Reconstruction::Linear);
                CellStencil { is_reduced: true, ..linear }
            }
            _ => none(true),
        }
    }

    /// The larger of condition number and extrapolation relative to their bounds, and the weights of a stencil; none where it has too few cells.
    fn fit(
        &self,
        cell: usize,
        stencil: &[Neighbour],
        quadratic: bool,
        level: usize,
    ) -> Option<(f64, CellStencil)> {
        let basis = Basis { axes: self.axes(cell, stencil), quadratic };
        let (m, n) = (stencil.len(), basis.terms());
        if (m as f64) < CELLS_PER_TERM * n as f64 {
            return None;
        }
        let own = self.moments.second[cell];
        let mut matrix = vec![0.0; m * n];
        let mut row_weights = Vec::with_capacity(m);
        for (row, other) in matrix.chunks_mut(n).zip(stencil) {
            let r = self.offset(cell, other);
            let g = self.moments.second[other.cell as usize];
            let mut difference = [0.0; 6];
            (0..6).for_each(|k| difference[k] = g[k] - own[k]);
            basis.row(r, &difference, row);
            let along = basis.axes.iter().map(|axis| dot(*axis, r).powi(2)).fold(0.0, |a, b| a + b);
            let weight = 1.0 / along.sqrt();
            row.iter_mut().for_each(|entry| *entry *= weight);
            row_weights.push(weight);
        }
        let (condition, inverse) = pseudo_inverse(&mut matrix, m, n)?;
        let weight_at = |basis_at: &[f64], j: usize| {
            let terms = (0..n).map(|k| basis_at[k] * inverse[k * m + j] * row_weights[j]);
            terms.fold(0.0, |a, b| a + b).abs()
        };
        let mut extrapolation = 0.0f64;
        let mut basis_at = vec![0.0; n];
        for (r, is_boundary) in self.to_faces(cell) {
            basis.row(r, &own.map(|g| -g), &mut basis_at);
            let norm = (0..m).map(|j| weight_at(&basis_at, j)).fold(0.0, |a, b| a + b);
            let factor = if is_boundary { BOUNDARY_FACTOR } else { 1.0 };
            extrapolation = extrapolation.max(norm / factor);
        }
        let merit = (condition / MAX_CONDITION).max(extrapolation / MAX_EXTRAPOLATION);
        let weights = (0..m).map(|j| {
            let column: Vec<f64> = (0..n).map(|k| inverse[k * m + j] * row_weights[j]).collect();
            basis.physical(&column, self.mesh.dimension)
        });
        let fit = CellStencil {
            cells: stencil.iter().map(|n| n.cell).collect(),
            weights: weights.collect(),
            is_reduced: false,
            level,
        };
        Some((merit, fit))
    }

    /// Vectors from the centroid of a cell to those of its faces, and whether these are at the boundary.
    fn to_faces(&self, cell: usize) -> impl Iterator<Item = (Vector, bool)> {
        self.mesh.cell_to_faces.of(cell).iter().map(move |item| {
            let x = self.geometry.face_centre_of(index_of(*item));
            let is_periodic = !self.mesh.periodic_pairs.is_empty();
            let x = match sign_of(*item) < 0 && is_periodic {
                true => subtract(x, self.mesh.periodic_offset(index_of(*item))),
                false => x,
            };
            let is_boundary = index_of(*item) >= self.mesh.n_interior_faces();
            (subtract(x, self.moments.centre[cell]), is_boundary)
        })
    }
}

/// The unit normal of a plane that contains all offsets, if there is one.
fn normal_of_plane(offsets: &[Vector]) -> Option<Vector> {
    use crate::mesh::geometry::{cross, norm};
    let longest = |vectors: &mut dyn Iterator<Item = Vector>| {
        vectors.fold([0.0; 3], |best, v| if dot(v, v) > dot(best, best) { v } else { best })
    };
    let first = longest(&mut offsets.iter().copied());
    let normal = longest(&mut offsets.iter().map(|r| cross(first, *r)));
    let size = norm(normal);
    if size <= 1e-9 * dot(first, first) {
        return None;
    }
    let normal = normal.map(|x| x / size);
    let is_in_plane = offsets.iter().all(|r| dot(normal, *r).abs() <= 1e-6 * norm(*r));
    is_in_plane.then_some(normal)
}

/// Two unit vectors normal to `normal` and to each other.
fn tangents(normal: Vector) -> [Vector; 2] {
    use crate::mesh::geometry::{cross, norm};
    let least = (0..3).min_by(|a, b| normal[*a].abs().total_cmp(&normal[*b].abs())).unwrap_or(0);
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    let first = cross(normal, axis);
    let size = norm(first);
    let first = first.map(|x| x / size);
    [first, cross(normal, first)]
}

/// The pseudo-inverse `[n][m]` of a matrix `[m][n]` of full rank by a QR factorisation, and the condition number, in the Frobenius
/// norm, of the matrix with columns of unit norm; none where a column vanishes.
///
/// Modified Gram–Schmidt with reorthogonalisation: Björck, Linear Algebra Appl. 197 (1994) 297.
pub(in crate::compressible) fn pseudo_inverse(
    a: &mut [f64],
    m: usize,
    n: usize,
) -> Option<(f64, Vec<f64>)> {
    let mut scale = vec![0.0; n];
    for (k, scale) in scale.iter_mut().enumerate() {
        let square = (0..m).map(|j| a[j * n + k].powi(2)).fold(0.0, |s, x| s + x);
        if square == 0.0 {
            return None;
        }
        *scale = 1.0 / square.sqrt();
        (0..m).for_each(|j| a[j * n + k] *= *scale);
    }
    let mut r = vec![0.0; n * n];
    for k in 0..n {
        for _ in 0..2 {
            for i in 0..k {
                let product = (0..m).map(|j| a[j * n + i] * a[j * n + k]).fold(0.0, |s, x| s + x);
                r[i * n + k] += product;
                (0..m).for_each(|j| a[j * n + k] -= product * a[j * n + i]);
            }
        }
        let size = (0..m).map(|j| a[j * n + k].powi(2)).fold(0.0, |s, x| s + x).sqrt();
        if size < 1e-14 {
            return None;
        }
        r[k * n + k] = size;
        (0..m).for_each(|j| a[j * n + k] /= size);
    }
    // R⁻¹ by columns.
    let mut inverse = vec![0.0; n * n];
    for k in 0..n {
        inverse[k * n + k] = 1.0 / r[k * n + k];
        for i in (0..k).rev() {
            let sum =
                (i + 1..=k).map(|l| r[i * n + l] * inverse[l * n + k]).fold(0.0, |s, x| s + x);
            inverse[i * n + k] = -sum / r[i * n + i];
        }
    }
    let norm = |x: &[f64]| x.iter().map(|v| v * v).fold(0.0, |s, x| s + x).sqrt();
    let condition = norm(&r) * norm(&inverse);
    let mut result = vec![0.0; n * m];
    for (i, row) in result.chunks_mut(m).enumerate() {
        for (j, entry) in row.iter_mut().enumerate() {
            let sum = (i..n).map(|k| inverse[i * n + k] * a[j * n + k]).fold(0.0, |s, x| s + x);
            *entry = scale[i] * sum;
        }
    }
    Some((condition, result))
}

#[cfg(test)]
mod tests;
