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
use super::least_squares::LeastSquares;
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
pub const MAX_EXTRAPOLATION: f64 = 0.9;

/// The same at an interior face of a cell with a boundary face, whose stencil lies on one side.
const MAX_EXTRAPOLATION_BESIDE_BOUNDARIES: f64 = 1.2;

/// The same at a boundary face, which no cell lies behind.
const MAX_BOUNDARY_EXTRAPOLATION: f64 = 2.4;

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

/// The stencil of a cell: the first cells of the list of [`Workspace`], and their weights there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fit {
    /// Number of cells.
    size: usize,
    level: usize,
}

/// Memory of the stencil of a cell.
#[derive(Default)]
struct Workspace {
    neighbours: Vec<Neighbour>,
    problem: LeastSquares,
    row_weights: Vec<f64>,
    /// Weights of a functional.
    functional: Vec<f64>,
    /// Weights of the last fit, and of the best: `[size][terms]`.
    weights: Vec<f64>,
    best: Vec<f64>,
}

/// The stencils of consecutive cells.
#[derive(Default)]
struct Part {
    sizes: Vec<u32>,
    cells: Vec<u32>,
    weights: Vec<f64>,
    reduced: usize,
    levels: [usize; MAX_LEVELS + 1],
}

/// Cells of a part.
const PART: usize = 512;

/// The parts of all arrays one after the other, by the threads of the current pool.
fn concatenated<T: Copy + Send + Sync + Default>(
    parts: &[Part],
    of: fn(&Part) -> &Vec<T>,
) -> Vec<T> {
    let total = parts.iter().map(|part| of(part).len()).sum();
    let mut all = vec![T::default(); total];
    let (mut rest, mut places) = (&mut all[..], Vec::with_capacity(parts.len()));
    for part in parts {
        let (place, behind) = rest.split_at_mut(of(part).len());
        places.push(place);
        rest = behind;
    }
    let pairs = places.into_par_iter().zip(parts);
    pairs.with_min_len(8).for_each(|(place, part)| place.copy_from_slice(of(part)));
    all
}

impl Stencils {
    /// The stencils of a mesh, in parallel.
    pub fn new(
        mesh: &Mesh,
        geometry: &Geometry,
        moments: &CellMoments,
        degree: Reconstruction,
    ) -> Stencils {
        Self::of_cells(mesh, geometry, moments, degree, (mesh.n_cells(), |cell| cell))
    }

    /// The stencils of `n` cells of a mesh, in parallel; `cell` has their numbers.
    pub fn of_cells(
        mesh: &Mesh,
        geometry: &Geometry,
        moments: &CellMoments,
        degree: Reconstruction,
        (n, cell): (usize, impl Fn(usize) -> usize + Sync),
    ) -> Stencils {
        let terms = degree.terms(mesh.dimension);
        let around = Around { mesh, geometry, moments, terms };
        let firsts: Vec<usize> = (0..n).step_by(PART).collect();
        let part = |workspace: &mut Workspace, first: &usize| {
            let mut part = Part::default();
            for k in *first..(first + PART).min(n) {
                let (fit, is_reduced) = around.stencil(cell(k), degree, workspace);
                let cells = workspace.neighbours.iter().take(fit.size);
                part.cells.extend(cells.map(|neighbour| neighbour.cell));
                part.weights.extend_from_slice(&workspace.weights[..fit.size * terms]);
                part.sizes.push(fit.size as u32);
                part.reduced += usize::from(is_reduced);
                part.levels[fit.level] += 1;
            }
            part
        };
        let parts: Vec<Part> = firsts.par_iter().map_init(Workspace::default, part).collect();
        let (mut offsets, mut end) = (Vec::with_capacity(n + 1), 0);
        offsets.push(0);
        for size in parts.iter().flat_map(|part| &part.sizes) {
            end += size;
            offsets.push(end);
        }
        let mut levels = [0; MAX_LEVELS + 1];
        for part in &parts {
            levels.iter_mut().zip(part.levels).for_each(|(sum, count)| *sum += count);
        }
        Stencils {
            offsets,
            cells: concatenated(&parts, |part| &part.cells),
            weights: concatenated(&parts, |part| &part.weights),
            terms,
            reduced: parts.iter().map(|part| part.reduced).sum(),
            levels,
        }
    }

    /// The same stencils as those of the cells `rows`, ascending, of `n` cells with other numbers, of which `number` gives the new ones; the
    /// stencils of the other cells are empty.
    pub fn renumbered(
        self,
        n: usize,
        rows: &[u32],
        number: impl Fn(u32) -> u32 + Sync,
    ) -> Stencils {
        let Stencils { offsets: ends, mut cells, .. } = self;
        let mut offsets = vec![0; n + 1];
        for (row, range) in rows.iter().zip(ends.windows(2)) {
            offsets[*row as usize + 1] = range[1] - range[0];
        }
        (0..n).for_each(|row| offsets[row + 1] += offsets[row]);
        cells.par_iter_mut().with_min_len(PART).for_each(|cell| *cell = number(*cell));
        Stencils { offsets, cells, ..self }
    }

    /// How many of the first `n` cells have a stencil of each size.
    pub fn histogram(&self, n: usize) -> Vec<usize> {
        let sizes = self.offsets[..=n].windows(2).map(|w| (w[1] - w[0]) as usize);
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
#[derive(Clone, Copy)]
struct Basis {
    /// Axes of the coordinates, in units of the extent of cells around.
    axes: [Vector; 3],
    /// Number of axes.
    d: usize,
    quadratic: bool,
}

impl Basis {
    fn terms(&self) -> usize {
        let d = self.d;
        if self.quadratic { d + d * (d + 1) / 2 } else { d }
    }

    /// Pairs of axes of the quadratic part.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let d = if self.quadratic { self.d } else { 0 };
        (0..d).flat_map(move |a| (a..d).map(move |b| (a, b)))
    }

    /// The means of the basis over a cell at `r` whose second moments exceed those of the own cell by `dg`.
    fn row(&self, r: Vector, dg: &[f64; 6]) -> [f64; MAX_TERMS] {
        let along = self.axes.map(|axis| dot(axis, r));
        let mut row = [0.0; MAX_TERMS];
        row[..self.d].copy_from_slice(&along[..self.d]);
        for (entry, (a, b)) in row[self.d..].iter_mut().zip(self.pairs()) {
            *entry = along[a] * along[b] + contract(dg, self.axes[a], self.axes[b]);
        }
        row
    }

    /// Coefficients of x, y, z, xx, … of the basis function `k`.
    fn physical(&self, k: usize, dimension: usize) -> [f64; MAX_TERMS] {
        let mut terms = [0.0; MAX_TERMS];
        if k < self.d {
            terms[..dimension].copy_from_slice(&self.axes[k][..dimension]);
        } else if let Some((a, b)) = self.pairs().nth(k - self.d) {
            let (a, b) = (self.axes[a], self.axes[b]);
            let inside = SYMMETRIC.iter().filter(|[i, j]| (*i).max(*j) < dimension);
            for (term, [i, j]) in terms[dimension..].iter_mut().zip(inside) {
                *term = if i == j { a[*i] * b[*i] } else { a[*i] * b[*j] + a[*j] * b[*i] };
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
    /// Weights of an item, zeros for those of a higher degree than the cell's polynomial.
    terms: usize,
}

impl Around<'_> {
    /// x_j − x_c between the centroids of the cells' moments.
    fn offset(&self, cell: usize, other: &Neighbour) -> Vector {
        let moved = |c: usize| subtract(self.moments.centre[c], self.geometry.cell_centre_of(c));
        add_scaled(subtract(other.offset, moved(cell)), 1.0, moved(other.cell as usize))
    }

    /// Axes in units of the extent of the cells around, of a plane where these lie in one.
    fn axes(&self, cell: usize, stencil: &[Neighbour]) -> ([Vector; 3], usize) {
        let d = self.mesh.dimension;
        let mut moment = [0.0; 6];
        let nearest = stencil.iter().take(NEAREST).map(|n| n.cell as usize);
        let share = 1.0 / (1 + stencil.len().min(NEAREST)) as f64;
        for c in std::iter::once(cell).chain(nearest) {
            for (sum, g) in moment.iter_mut().zip(self.moments.second[c]) {
                *sum += g * share;
            }
        }
        let [xx, xy, xz, yy, yz, zz] = moment;
        let frame = Frame::of_moment([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], d);
        let volume = self.moments.volume[cell];
        let size = 1.0 / if d == 2 { volume.sqrt() } else { volume.cbrt() };
        let stretched = frame.stretching > MIN_STRETCHING;
        let mut axes = [[0.0; 3]; 3];
        for (k, axis) in axes.iter_mut().enumerate().take(d) {
            axis[k] = size;
            if stretched {
                *axis = frame.apply(*axis);
            }
        }
        // Cells in one plane: coordinates of the plane alone.
        if d == 3
            && let Some(normal) = normal_of_plane(|| stencil.iter().map(|n| self.offset(cell, n)))
        {
            let [first, second] = tangents(normal).map(|t| t.map(|x| x * size));
            return ([first, second, [0.0; 3]], 2);
        }
        (axes, d)
    }

    /// The stencil of a cell and its weights in the workspace, and whether its degree is lower than asked for.
    fn stencil(
        &self,
        cell: usize,
        degree: Reconstruction,
        workspace: &mut Workspace,
    ) -> (Fit, bool) {
        const NONE: Fit = Fit { size: 0, level: 0 };
        let Workspace { neighbours, .. } = workspace;
        neighbours.clear();
        if degree == Reconstruction::Constant {
            return (NONE, false);
        }
        let quadratic = degree == Reconstruction::Quadratic;
        neighbours.extend(face_neighbours(self.mesh, self.geometry, cell));
        let mut newest = 0;
        let mut best: Option<(f64, Fit)> = None;
        let mut level = 1;
        loop {
            if let Some(merit) = self.fit(cell, quadratic, workspace) {
                let fit = Fit { size: workspace.neighbours.len(), level };
                if merit <= 1.0 {
                    return (fit, false);
                }
                if best.is_none_or(|(least, _)| merit < least) {
                    best = Some((merit, fit));
                    std::mem::swap(&mut workspace.weights, &mut workspace.best);
                }
            }
            if level == MAX_LEVELS {
                break;
            }
            let neighbours = &mut workspace.neighbours;
            let begin = neighbours.len();
            grow(self.mesh, self.geometry, cell, newest, neighbours, |_| true);
            newest = begin;
            level += 1;
            if neighbours.len() == begin {
                break;
            }
        }
        match best {
            Some((merit, fit)) if merit <= UNUSABLE => {
                std::mem::swap(&mut workspace.weights, &mut workspace.best);
                (fit, false)
            }
            _ if quadratic => (self.stencil(cell, Reconstruction::Linear, workspace).0, true),
            _ => (NONE, true),
        }
    }

    /// The larger of condition number and extrapolation relative to their bounds, and the weights of a stencil in the workspace; none
    /// where it has too few cells.
    fn fit(&self, cell: usize, quadratic: bool, workspace: &mut Workspace) -> Option<f64> {
        let Workspace { neighbours, problem, row_weights, functional, weights, .. } = workspace;
        let m = neighbours.len();
        // Fewer cells than a polynomial in a plane needs.
        let least = if quadratic { 5.0 } else { 2.0 };
        if (m as f64) < CELLS_PER_TERM * least {
            return None;
        }
        let (axes, d) = self.axes(cell, neighbours);
        let basis = Basis { axes, d, quadratic };
        let n = basis.terms();
        if (m as f64) < CELLS_PER_TERM * n as f64 {
            return None;
        }
        let own = self.moments.second[cell];
        problem.begin(m, n);
        row_weights.clear();
        for (j, other) in neighbours.iter().enumerate() {
            let r = self.offset(cell, other);
            let g = self.moments.second[other.cell as usize];
            let mut difference = [0.0; 6];
            (0..6).for_each(|k| difference[k] = g[k] - own[k]);
            let row = basis.row(r, &difference);
            let square = row[..d].iter().map(|x| x * x).fold(0.0, |a, b| a + b);
            let weight = 1.0 / square.sqrt();
            row.iter().enumerate().take(n).for_each(|(k, x)| problem.set(j, k, x * weight));
            row_weights.push(weight);
        }
        let condition = problem.factorise()?;
        let is_at_boundary = self.to_faces(cell).any(|(_, is_boundary)| is_boundary);
        let mut extrapolation = 0.0f64; // over its bound
        for (r, is_boundary) in self.to_faces(cell) {
            let at_face = basis.row(r, &own.map(|g| -g));
            problem.row(&problem.functional(&at_face), functional);
            let norm = row_weights.iter().zip(&*functional).map(|(a, b)| (a * b).abs());
            let bound = match (is_boundary, is_at_boundary) {
                (true, _) => MAX_BOUNDARY_EXTRAPOLATION,
                (false, true) => MAX_EXTRAPOLATION_BESIDE_BOUNDARIES,
                (false, false) => MAX_EXTRAPOLATION,
            };
            extrapolation = extrapolation.max(norm.fold(0.0, |a, b| a + b) / bound);
        }
        // The functionals of the coefficients, of the basis functions' parts in them.
        let parts: [[f64; MAX_TERMS]; MAX_TERMS] = std::array::from_fn(|k| match k < n {
            true => basis.physical(k, self.mesh.dimension),
            false => [0.0; MAX_TERMS],
        });
        let terms = self.terms;
        weights.clear();
        weights.resize(m * terms, 0.0);
        for term in 0..terms {
            let of_term: [f64; MAX_TERMS] = std::array::from_fn(|k| parts[k][term]);
            problem.row(&problem.functional(&of_term), functional);
            for (j, (a, b)) in row_weights.iter().zip(&*functional).enumerate() {
                weights[j * terms + term] = a * b;
            }
        }
        Some((condition / MAX_CONDITION).max(extrapolation))
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
fn normal_of_plane<I: Iterator<Item = Vector>>(offsets: impl Fn() -> I) -> Option<Vector> {
    use crate::mesh::geometry::{cross, norm};
    let longer = |best: Vector, v: Vector| if dot(v, v) > dot(best, best) { v } else { best };
    let first = offsets().fold([0.0; 3], longer);
    let normal = offsets().map(|r| cross(first, r)).fold([0.0; 3], longer);
    let size = norm(normal);
    if size <= 1e-9 * dot(first, first) {
        return None;
    }
    let normal = normal.map(|x| x / size);
    let is_in_plane = offsets().all(|r| dot(normal, r).abs() <= 1e-6 * norm(r));
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

/// The pseudo-inverse `[n][m]` of a matrix `[m][n]` of full rank and the condition number of the matrix with columns of unit norm; none
/// where a column vanishes.
pub(in crate::compressible) fn pseudo_inverse(
    a: &mut [f64],
    m: usize,
    n: usize,
) -> Option<(f64, Vec<f64>)> {
    let mut problem = LeastSquares::default();
    problem.begin(m, n);
    for (j, row) in a.chunks(n).enumerate() {
        row.iter().enumerate().for_each(|(k, x)| problem.set(j, k, *x));
    }
    let condition = problem.factorise()?;
    Some((condition, problem.pseudo_inverse()))
}

#[cfg(test)]
mod tests;
