//! Stencils of least-squares gradients that determine every direction, and bounded gradients.
//!
//! A row is r·g = Δ: the difference Δ to a value at the distance r, or a derivative along r. With unit rows
//! e = r/|r| the gradient is g = (Σ e eᵀ)⁻¹ Σ e Δ/|r|, least squares weighted by 1/|r|. Its norm is at most
//! √(m / λ₁) max|Δ|/|r|, λ₁ the least eigenvalue of Σ e eᵀ and m the number of rows. As m ≤ d λ_d in
//! d dimensions, λ₁ ≥ [`WELL_DETERMINED`] λ_d bounds it by √(d / WELL_DETERMINED) max|Δ|/|r|.
//!
//! The centroids of a tetrahedron with one wall face and of its three neighbours are often coplanar: λ₁ = 0
//! for any weights. This stencil is completed by cells that share a node with its own cell, one at a time,
//! the cell best aligned with the eigenvector of λ₁ first; one cell is nearly always enough. Where all these
//! cells leave a direction undetermined, the stencil grows by levels of face neighbours. Where three levels
//! do too, as in one layer of cells between two walls, the derivative along that direction is 0.
//!
//! A stencil of stretched cells has λ₁ ≪ λ_d too, but determines every direction on the scale of the cells in
//! that direction. Where the cells around are stretched by more than [`MIN_STRETCHING`], the least-squares
//! problem is solved in the coordinates J^(−1/2) x, J the second moment of the nodes of the cell and of the
//! cells that share a node with it. J of fewer cells would mistake the flat set of a wall cell's face
//! neighbours for stretching.
//!
//! Sources: Mavriplis, AIAA paper 2003-3986, on weighted least squares on stretched meshes; the bound is the
//! bound of the pseudo-inverse (Golub & Van Loan, Matrix Computations, §5.5).

use super::geometry::{dot, norm, subtract};
use super::{Geometry, Mesh, index_of};
use smallvec::SmallVec;

type Vector = [f64; 3];
type Tensor = [[f64; 3]; 3];

/// Data of the rows of a stencil; the rows of the faces of a cell need no allocation.
pub type Rows<T> = SmallVec<[T; 8]>;

/// Least λ₁ / λ_d of Σ e eᵀ, its reciprocal condition number, of a stencil that determines the gradient.
pub const WELL_DETERMINED: f64 = 0.1;

/// Largest number of levels of face neighbours in a stencil.
pub const MAX_LEVELS: usize = 3;

/// Least stretching of cells whose stencils are scaled by J^(−1/2).
pub const MIN_STRETCHING: f64 = 3.0;

/// A cell of a stencil and the vector to its centroid, periodic offsets included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// The cell.
    pub cell: u32,
    /// x_j − x_c.
    pub offset: Vector,
}

impl Neighbour {
    /// Whether it is the same cell with the same periodic offset.
    fn is(&self, other: &Neighbour) -> bool {
        let is_near = || {
            let apart = subtract(self.offset, other.offset);
            dot(apart, apart) < 1e-12 * dot(other.offset, other.offset)
        };
        self.cell == other.cell && is_near()
    }
}

/// Largest ‖g‖ for |Δ| ≤ |r| without dropped directions and stretching: √(d / WELL_DETERMINED).
pub fn gradient_bound(dimension: usize) -> f64 {
    (dimension as f64 / WELL_DETERMINED).sqrt()
}

/// The cells across the faces of a cell, in the order of its faces.
pub fn face_neighbours<'a>(
    mesh: &'a Mesh,
    geometry: &'a Geometry,
    cell: usize,
) -> impl Iterator<Item = Neighbour> + 'a {
    let inner = mesh.n_interior_faces();
    let faces = mesh.cell_to_faces.of(cell).iter().map(|item| index_of(*item));
    faces.filter(move |face| *face < inner).map(move |face| {
        let left = mesh.face_left[face] as usize;
        let across = subtract(geometry.right_centre_of(mesh, face), geometry.cell_centre_of(left));
        if left == cell {
            Neighbour { cell: mesh.face_right[face], offset: across }
        } else {
            Neighbour { cell: left as u32, offset: across.map(|x| -x) }
        }
    })
}

/// Appends the next level of a stencil: allowed face neighbours of `stencil[newest..]` that are not in it.
pub fn grow(
    mesh: &Mesh,
    geometry: &Geometry,
    cell: usize,
    newest: usize,
    stencil: &mut Vec<Neighbour>,
    is_allowed: impl Fn(&Neighbour) -> bool,
) {
    for known in newest..stencil.len() {
        let from = stencil[known];
        for next in face_neighbours(mesh, geometry, from.cell as usize) {
            let next = Neighbour { cell: next.cell, offset: sum(from.offset, next.offset) };
            if next.cell as usize != cell
                && !stencil.iter().any(|known| known.is(&next))
                && is_allowed(&next)
            {
                stencil.push(next);
            }
        }
    }
}

/// The allowed cells that share a node with a cell and that faces between them connect to it, its face
/// neighbours first.
pub fn node_neighbours(
    mesh: &Mesh,
    geometry: &Geometry,
    cell: usize,
    is_allowed: impl Fn(usize) -> bool,
) -> Vec<Neighbour> {
    // Relative to the cell's centroid, so that periodic neighbours share its nodes too.
    let nodes_of = |n: &Neighbour| {
        let n = *n;
        let centre = geometry.cell_centre_of(n.cell as usize);
        let nodes = mesh.cells.nodes_of(n.cell as usize).iter();
        nodes.map(move |node| sum(subtract(mesh.points[*node as usize], centre), n.offset))
    };
    let own: Vec<Vector> = nodes_of(&Neighbour { cell: cell as u32, offset: [0.0; 3] }).collect();
    let tolerance = 1e-12 * own.iter().map(|x| dot(*x, *x)).fold(0.0, f64::max);
    let is_own = |x: Vector| {
        own.iter().any(|y| {
            let apart = subtract(x, *y);
            dot(apart, apart) <= tolerance
        })
    };
    let is_node_neighbour = |n: &Neighbour| is_allowed(n.cell as usize) && nodes_of(n).any(is_own);
    let mut found: Vec<Neighbour> =
        face_neighbours(mesh, geometry, cell).filter(is_node_neighbour).collect();
    let mut newest = 0;
    while newest < found.len() {
        let begin = found.len();
        grow(mesh, geometry, cell, newest, &mut found, is_node_neighbour);
        newest = begin;
    }
    found
}

/// J of a cell: the second moment, about its centroid, of its nodes and of the nodes of its node neighbours.
pub fn second_moment(mesh: &Mesh, geometry: &Geometry, cell: usize) -> Tensor {
    let mut moment = [[0.0; 3]; 3];
    let mut count = 0.0;
    let own = Neighbour { cell: cell as u32, offset: [0.0; 3] };
    let around = node_neighbours(mesh, geometry, cell, |_| true);
    for Neighbour { cell, offset } in std::iter::once(own).chain(around) {
        let centre = geometry.cell_centre_of(cell as usize);
        for node in mesh.cells.nodes_of(cell as usize) {
            let x = sum(subtract(mesh.points[*node as usize], centre), offset);
            for (row, a) in moment.iter_mut().zip(x) {
                row.iter_mut().zip(x).for_each(|(entry, b)| *entry += a * b);
            }
            count += 1.0;
        }
    }
    moment.map(|row| row.map(|entry| entry / count))
}

/// Eigenvalues, ascending, and eigenvectors, as rows, of a symmetric tensor in the first `dimension`
/// coordinates, by Jacobi rotations; an excluded coordinate comes last, with the value 0 and its axis.
fn eigen(mut a: Tensor, dimension: usize) -> ([f64; 3], [Vector; 3]) {
    let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let scale: f64 = (0..dimension).map(|i| a[i][i].abs()).fold(0.0, f64::max);
    for _ in 0..24 {
        let pairs: &[(usize, usize)] =
            if dimension == 2 { &[(0, 1)] } else { &[(0, 1), (0, 2), (1, 2)] };
        let off = pairs.iter().map(|(i, j)| a[*i][*j].abs()).fold(0.0, f64::max);
        if off <= 1e-16 * scale {
            break;
        }
        for &(p, q) in pairs {
            if a[p][q] == 0.0 {
                continue;
            }
            let tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            let (ap, aq) = (a[p], a[q]);
            let (vp, vq) = (vectors[p], vectors[q]);
            for k in 0..3 {
                (a[p][k], a[q][k]) = (c * ap[k] - s * aq[k], s * ap[k] + c * aq[k]);
                (vectors[p][k], vectors[q][k]) = (c * vp[k] - s * vq[k], s * vp[k] + c * vq[k]);
            }
        }
    }
    let mut order = [0, 1, 2];
    order[..dimension].sort_by(|i, j| a[*i][*i].total_cmp(&a[*j][*j]));
    let value = |i: usize| if i < dimension { a[i][i] } else { 0.0 };
    (order.map(value), order.map(|i| vectors[i]))
}

/// Coordinates in which the least-squares problem of a stencil is solved.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// J^(−1/2), or the identity.
    to_unit: Tensor,
    /// Stretching of the cells, √(largest / least eigenvalue of J).
    pub stretching: f64,
}

impl Frame {
    /// The Cartesian coordinates.
    pub const IDENTITY: Frame =
        Frame { to_unit: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], stretching: 1.0 };

    /// The coordinates in which cells of second moment J have equal extents along every axis, scaled to
    /// preserve the largest extent.
    pub fn of_moment(moment: Tensor, dimension: usize) -> Frame {
        let (values, vectors) = eigen(moment, dimension);
        let largest = values[dimension - 1];
        let factor = |i: usize| {
            if i < dimension { (largest / values[i].max(1e-12 * largest)).sqrt() } else { 1.0 }
        };
        let mut to_unit = [[0.0; 3]; 3];
        for (i, vector) in vectors.iter().enumerate() {
            for (row, a) in to_unit.iter_mut().zip(vector) {
                row.iter_mut().zip(vector).for_each(|(entry, b)| *entry += factor(i) * a * b);
            }
        }
        Frame { to_unit, stretching: factor(0) }
    }

    /// The coordinates of a cell whose faces' rows do not determine every direction.
    fn of_cell(mesh: &Mesh, geometry: &Geometry, cell: usize) -> Frame {
        let frame = Frame::of_moment(second_moment(mesh, geometry, cell), mesh.dimension);
        if frame.stretching > MIN_STRETCHING { frame } else { Frame::IDENTITY }
    }

    /// J^(−1/2) r.
    pub fn apply(&self, r: Vector) -> Vector {
        self.to_unit.map(|row| dot(row, r))
    }
}

/// A least-squares problem for a gradient.
#[derive(Clone, Debug)]
pub struct LeastSquaresFit {
    frame: Frame,
    dimension: usize,
    /// Unit rows e and 1/|r|; both 0 for a row of zeros.
    rows: Rows<(Vector, f64)>,
    values: [f64; 3],
    vectors: [Vector; 3],
}

impl LeastSquaresFit {
    /// The problem of `rows` in a frame; rows of zeros have no effect.
    pub fn new(
        rows: impl Iterator<Item = Vector>,
        frame: Frame,
        dimension: usize,
    ) -> LeastSquaresFit {
        let unit = |r: Vector| {
            let r = frame.apply(r);
            let size = norm(r);
            if size > 0.0 { (r.map(|x| x / size), 1.0 / size) } else { ([0.0; 3], 0.0) }
        };
        let rows: Rows<(Vector, f64)> = rows.map(unit).collect();
        let mut a = [[0.0; 3]; 3];
        for (e, _) in &rows {
            for (row, x) in a.iter_mut().zip(e) {
                row.iter_mut().zip(e).for_each(|(entry, y)| *entry += x * y);
            }
        }
        let (values, vectors) = eigen(a, dimension);
        LeastSquaresFit { frame, dimension, rows, values, vectors }
    }

    /// Reciprocal condition number λ₁ / λ_d of Σ e eᵀ; 0 without rows.
    pub fn reciprocal_condition(&self) -> f64 {
        let largest = self.values[self.dimension - 1];
        if largest > 0.0 { (self.values[0] / largest).max(0.0) } else { 0.0 }
    }

    /// Whether the rows determine every direction.
    pub fn is_well_determined(&self) -> bool {
        self.reciprocal_condition() >= WELL_DETERMINED
    }

    /// cos² of the angle between r and the eigenvector of λ₁.
    fn alignment(&self, r: Vector) -> f64 {
        let r = self.frame.apply(r);
        dot(self.vectors[0], r).powi(2) / dot(r, r)
    }

    /// Number of directions along which the gradient is set to 0.
    pub fn dropped(&self) -> usize {
        (0..self.dimension).filter(|i| !self.is_retained(*i)).count()
    }

    /// Whether the pseudo-inverse retains eigenvalue `i`.
    fn is_retained(&self, i: usize) -> bool {
        let largest = self.values[self.dimension - 1];
        i < self.dimension && largest > 0.0 && self.values[i] >= WELL_DETERMINED * largest
    }

    /// W of each row, g = Σ W Δ, by the truncated pseudo-inverse.
    pub fn weights(&self) -> Rows<Vector> {
        let retained: SmallVec<[(Vector, f64); 3]> = (0..self.dimension)
            .filter(|i| self.is_retained(*i))
            .map(|i| (self.vectors[i], 1.0 / self.values[i]))
            .collect();
        let weight = |(e, inverse): &(Vector, f64)| {
            let mut solved = [0.0; 3];
            for (v, factor) in &retained {
                let along = factor * inverse * dot(*v, *e);
                solved = sum(solved, v.map(|x| along * x));
            }
            self.frame.apply(solved)
        };
        self.rows.iter().map(weight).collect()
    }
}

fn sum(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// Use of a gradient, which determines the size of its stencil.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// A gradient determined in every direction.
    Derivative,
    /// A gradient of a non-orthogonal correction, which adds explicit fluxes to those of two points, here of each
    /// face of the cell: their ratio κ is at most [`MAX_CORRECTION`].
    Correction(&'a [CorrectedFlux]),
    /// A gradient that also extrapolates the cell's value to its faces, for upwind values, with a norm of at
    /// most [`MAX_EXTRAPOLATION`].
    ///
    /// Upwinding with a linear reconstruction over face neighbours alone is unstable on tetrahedra for any
    /// time step (Haider, Croisille & Courbet, Numer. Math. 113 (2009) 555): the convection operator has
    /// eigenvalues in the right half plane, up to the Courant rate of its median cell on meshes of Gmsh,
    /// Netgen and TetGen. More neighbours make the weights smaller and move all eigenvalues to the left.
    Extrapolation,
}

/// The flux a (φ_other − φ_own) + t·∇φ through a face, t here with the weight of the cell's gradient at the face.
#[derive(Clone, Copy, Debug, Default)]
pub struct CorrectedFlux {
    /// a; 0 where the flux is prescribed.
    pub conductance: f64,
    /// t.
    pub tangential: Vector,
}

/// Largest κ of a cell, the explicit fluxes of its gradient over its two-point fluxes. A face counts in the sums of its two cells, so that
/// κ ≤ ½ everywhere bounds the explicit power Σ Δ t·∇φ by the two-point power Σ a Δ² where stencils are face neighbours. On tetrahedra of
/// Gmsh the median of κ is 0.3; acute corners and cells alone between walls have 2 to 5, and such cells make the corrected
/// operator indefinite (decision 20).
pub const MAX_CORRECTION: f64 = 0.5;

/// κ of a cell with gradient weights W: the largest |Σ_f Δ_f t_f·Σ_k W_k Δ_k| over fields with Σ_f a_f Δ_f² = Σ_k a_k Δ_k² = 1,
/// κ² = λ_max((Σ_f t tᵀ/a)(Σ_k W Wᵀ/a)), f the faces of the cell and k the rows of its gradient. Rows of further cells count with the
/// mean a of the faces.
fn correction_ratio(fluxes: &[CorrectedFlux], weights: &[Vector], dimension: usize) -> f64 {
    let open = || fluxes.iter().filter(|flux| flux.conductance > 0.0);
    let n_open = open().count();
    if n_open == 0 {
        return 0.0;
    }
    let mean = open().fold(0.0, |sum, flux| sum + flux.conductance) / n_open as f64;
    let add = |sum: &mut Tensor, x: Vector, factor: f64| {
        for (row, a) in sum.iter_mut().zip(x) {
            row.iter_mut().zip(x).for_each(|(entry, b)| *entry += factor * a * b);
        }
    };
    let mut explicit = [[0.0; 3]; 3];
    open().for_each(|flux| add(&mut explicit, flux.tangential, 1.0 / flux.conductance));
    let mut gradient = [[0.0; 3]; 3];
    for (k, weight) in weights.iter().enumerate() {
        let conductance = match fluxes.get(k) {
            Some(flux) if flux.conductance > 0.0 => flux.conductance,
            Some(_) => continue,
            None => mean,
        };
        add(&mut gradient, *weight, 1.0 / conductance);
    }
    // The eigenvalues of a product of symmetric tensors E G are those of the symmetric E^½ G E^½.
    let (values, vectors) = eigen(explicit, dimension);
    let roots = [0, 1, 2].map(|i| vectors[i].map(|x| values[i].max(0.0).sqrt() * x));
    let product = roots.map(|a| roots.map(|b| dot(a, gradient.map(|row| dot(row, b)))));
    eigen(product, dimension).0[dimension - 1].max(0.0).sqrt()
}

/// Largest Σ_k |W_k·(x_f − x_c)| of a cell's faces over the rows of cells. With face neighbours alone: ½ on
/// rectangles and cuboids, ⅔ on regular triangles, ¾ on regular tetrahedra.
pub const MAX_EXTRAPOLATION: f64 = 0.75;

/// The gradient of a cell as weights of its rows.
#[derive(Clone, Debug)]
pub struct CellFit {
    /// Cells besides the face neighbours; their rows follow the rows of the faces.
    pub further: Vec<Neighbour>,
    /// W of each row, g = Σ W Δ.
    pub weights: Rows<Vector>,
    /// Number of directions along which the gradient is set to 0.
    pub dropped: usize,
    /// Factor on the weights, below 1 where no stencil bounds the extrapolation or the correction.
    pub limiter: f64,
    /// The quantity that its purpose bounds over its bound, by the smallest stencil that determines the gradient.
    pub bound_ratio: f64,
}

/// Least-squares gradient of a cell from `own_rows` of its faces and, where these do not suffice for its
/// purpose, from cells that `is_allowed` accepts: single node neighbours, then levels of face neighbours.
pub fn fit_of_cell(
    mesh: &Mesh,
    geometry: &Geometry,
    cell: usize,
    own_rows: &[Vector],
    purpose: Purpose<'_>,
    is_allowed: impl Fn(usize) -> bool,
) -> CellFit {
    let dimension = mesh.dimension;
    let inner = mesh.n_interior_faces();
    let faces = mesh.cell_to_faces.of(cell);
    let cell_to_face: Rows<Vector> = match purpose {
        Purpose::Derivative | Purpose::Correction(_) => Rows::new(),
        Purpose::Extrapolation => {
            let interior = faces.iter().map(|item| index_of(*item)).filter(|face| *face < inner);
            interior.map(|face| cell_to_face_vector(mesh, geometry, cell, face)).collect()
        }
    };
    // Prescribed boundary values are no unknowns: their weights do not affect stability.
    let is_unknown = |row: usize| faces.get(row).is_none_or(|item| index_of(*item) < inner);
    let extrapolation = |weights: &[Vector]| {
        let unknowns = || weights.iter().enumerate().filter(|(row, _)| is_unknown(*row));
        let norm =
            |vector: &Vector| unknowns().fold(0.0, |sum, (_, w)| sum + dot(*w, *vector).abs());
        cell_to_face.iter().map(norm).fold(0.0, f64::max)
    };
    let bound_ratio_of = |weights: &[Vector]| match purpose {
        Purpose::Derivative => 0.0,
        Purpose::Correction(fluxes) => {
            correction_ratio(fluxes, weights, dimension) / MAX_CORRECTION
        }
        Purpose::Extrapolation => extrapolation(weights) / MAX_EXTRAPOLATION,
    };
    let mut first_ratio = None;
    let mut stencil: Vec<Neighbour> = vec![];
    let (mut first_further, mut newest) = (0, 0);
    let mut completion = None;
    for level in 1..=MAX_LEVELS {
        if level == 2 {
            stencil.extend(
                face_neighbours(mesh, geometry, cell).filter(|n| is_allowed(n.cell as usize)),
            );
            first_further = stencil.len();
        }
        if level > 1 {
            let begin = stencil.len();
            grow(mesh, geometry, cell, newest, &mut stencil, |n| is_allowed(n.cell as usize));
            newest = begin;
        }
        let mut further = stencil[first_further..].to_vec();
        let fit_in = |frame: Frame, further: &[Neighbour]| {
            let rows = own_rows.iter().copied().chain(further.iter().map(|n| n.offset));
            LeastSquaresFit::new(rows, frame, dimension)
        };
        let mut fit = fit_in(Frame::IDENTITY, &further);
        if !fit.is_well_determined() {
            let Completion { frame, candidates } = completion
                .get_or_insert_with(|| Completion::of_cell(mesh, geometry, cell, &is_allowed));
            let mut candidates = candidates.clone();
            candidates.retain(|n| !further.iter().any(|known| known.is(n)));
            fit = fit_in(*frame, &further);
            while !fit.is_well_determined() {
                let Some(next) = best_aligned(&fit, &mut candidates) else { break };
                further.push(next);
                fit = fit_in(*frame, &further);
            }
        }
        if level < MAX_LEVELS && !fit.is_well_determined() {
            continue;
        }
        let mut weights = fit.weights();
        let bound_ratio = bound_ratio_of(&weights);
        let first = *first_ratio.get_or_insert(bound_ratio);
        let limiter = if bound_ratio > 1.0 { 1.0 / bound_ratio } else { 1.0 };
        if level < MAX_LEVELS && limiter < 1.0 {
            continue;
        }
        weights.iter_mut().flatten().for_each(|w| *w *= limiter);
        return CellFit { further, weights, dropped: fit.dropped(), limiter, bound_ratio: first };
    }
    unreachable!("the last level returns")
}

/// Data to complete a stencil that does not determine every direction.
struct Completion {
    frame: Frame,
    /// Cells that share a node and no face with the cell.
    candidates: Vec<Neighbour>,
}

impl Completion {
    fn of_cell(
        mesh: &Mesh,
        geometry: &Geometry,
        cell: usize,
        is_allowed: impl Fn(usize) -> bool,
    ) -> Completion {
        let mut candidates = node_neighbours(mesh, geometry, cell, is_allowed);
        let across: Vec<Neighbour> = face_neighbours(mesh, geometry, cell).collect();
        candidates.retain(|n| !across.iter().any(|known| known.is(n)));
        Completion { frame: Frame::of_cell(mesh, geometry, cell), candidates }
    }
}

/// Removes and returns the candidate best aligned with the eigenvector of λ₁; `None` where each would
/// increase the other eigenvalues more.
fn best_aligned(fit: &LeastSquaresFit, candidates: &mut Vec<Neighbour>) -> Option<Neighbour> {
    let least = WELL_DETERMINED / fit.dimension as f64;
    let (mut best, mut largest) = (None, least);
    for (i, candidate) in candidates.iter().enumerate() {
        let alignment = fit.alignment(candidate.offset);
        if alignment > largest {
            (best, largest) = (Some(i), alignment);
        }
    }
    best.map(|i| candidates.swap_remove(i))
}

/// Cell-to-face vector x_f − x_c of an interior face of a cell, periodic offset included.
fn cell_to_face_vector(mesh: &Mesh, geometry: &Geometry, cell: usize, face: usize) -> Vector {
    let x = geometry.face_centre_of(face);
    if mesh.face_left[face] as usize == cell {
        subtract(x, geometry.cell_centre_of(cell))
    } else {
        subtract(x, geometry.right_centre_of(mesh, face))
    }
}
