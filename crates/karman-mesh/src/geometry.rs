//! Volumes, centres and face areas.
//!
//! A quadrilateral need not be planar: it is the four triangles about the mean of its nodes. Its
//! area vector is their sum, its centre their mean weighted by the area along that vector, and
//! volumes and first moments of cells come from the same triangles by the divergence theorem. So
//! Σ_f σ S = 0 and Σ ∫ x ⊗ n dA = V I hold to round-off in every cell.

use super::adjacency::{CHUNK, index_of, sign_of};
use super::cell_shape::CellShape;
use super::error::{MeshError, Place};
use super::{Mesh, cell_name};
use rayon::prelude::*;

/// Volumes, areas and centroids of a [`Mesh`], component-major. In 2D a volume is an area and an area
/// is a length, both per unit of depth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// Volume: `[n_cells]`.
    pub cell_volume: Vec<f64>,
    /// Centroid: `[3 * n_cells]`, all x, then all y, then all z.
    pub cell_centre: Vec<f64>,
    /// Area times unit normal from the left to the right cell, outward at a boundary:
    /// `[3 * n_faces]`.
    pub face_area_vector: Vec<f64>,
    /// Centroid: `[3 * n_faces]`.
    pub face_centre: Vec<f64>,
}

impl Geometry {
    /// Computes the geometry and checks the invariants of the mesh: positive volumes, positive face
    /// areas, closed cells.
    ///
    /// # Errors
    /// [`MeshError::Inverted`] or [`MeshError::ZeroVolume`], [`MeshError::ZeroArea`],
    /// [`MeshError::NotClosed`].
    pub fn new(mesh: &Mesh) -> Result<Geometry, MeshError> {
        let n_cells = mesh.cells.len();
        let n_faces = mesh.face_left.len();
        let mut geometry = Geometry {
            cell_volume: vec![0.0; n_cells],
            cell_centre: vec![0.0; 3 * n_cells],
            face_area_vector: vec![0.0; 3 * n_faces],
            face_centre: vec![0.0; 3 * n_faces],
        };
        let Geometry { cell_volume, cell_centre, face_area_vector, face_centre } = &mut geometry;
        let (x, y, z) = components(cell_centre);
        (cell_volume.par_iter_mut(), x, y, z)
            .into_par_iter()
            .enumerate()
            .with_min_len(CHUNK)
            .for_each(|(cell, (volume, x, y, z))| {
                let (v, centre) = measure_of_cell(mesh, cell);
                (*volume, [*x, *y, *z]) = (v, centre);
            });
        let (area_x, area_y, area_z) = components(face_area_vector);
        let (x, y, z) = components(face_centre);
        (area_x, area_y, area_z, x, y, z).into_par_iter().enumerate().with_min_len(CHUNK).for_each(
            |(face, (area_x, area_y, area_z, x, y, z))| {
                let (area, centre) = face_measure(mesh.face_to_nodes.of(face), &mesh.points);
                ([*area_x, *area_y, *area_z], [*x, *y, *z]) = (area, centre);
            },
        );
        geometry.check(mesh)?;
        Ok(geometry)
    }

    /// Centroid of a cell.
    #[inline]
    pub fn cell_centre_of(&self, cell: usize) -> [f64; 3] {
        gather(&self.cell_centre, cell)
    }

    /// Centroid of the right cell of an interior face, plus [`Mesh::periodic_offset`].
    #[inline]
    pub fn right_centre_of(&self, mesh: &Mesh, face: usize) -> [f64; 3] {
        let centre = self.cell_centre_of(mesh.face_right[face] as usize);
        if mesh.periodic_pairs.is_empty() {
            centre
        } else {
            add_scaled(centre, 1.0, mesh.periodic_offset(face))
        }
    }

    /// Area vector of a face, from left to right.
    #[inline]
    pub fn area_vector_of(&self, face: usize) -> [f64; 3] {
        gather(&self.face_area_vector, face)
    }

    /// Centroid of a face.
    #[inline]
    pub fn face_centre_of(&self, face: usize) -> [f64; 3] {
        gather(&self.face_centre, face)
    }

    /// |Σ σ S| / Σ |S| of a cell and its bound on round-off, 64 ε max(1, |x| / h), h the volume over the
    /// surface.
    pub fn closure(&self, mesh: &Mesh, cell: usize) -> (f64, f64) {
        let mut sum = [0.0; 3];
        let mut surface = 0.0;
        for &item in mesh.cell_to_faces.of(cell) {
            let area = self.area_vector_of(index_of(item));
            let sign = f64::from(sign_of(item));
            sum = [sum[0] + sign * area[0], sum[1] + sign * area[1], sum[2] + sign * area[2]];
            surface += norm(area);
        }
        let size = self.cell_volume[cell] / surface;
        let distance = norm(self.cell_centre_of(cell));
        (norm(sum) / surface, 64.0 * f64::EPSILON * (distance / size).max(1.0))
    }

    fn check(&self, mesh: &Mesh) -> Result<(), MeshError> {
        let flat = (0..mesh.face_left.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .find_first(|&face| !is_positive(norm(self.area_vector_of(face))));
        if let Some(face) = flat {
            let owner = match mesh.patch_of(face) {
                Some(patch) => format!("patch \"{}\"", mesh.patches[patch].name),
                None => "interior".to_string(),
            };
            let place = Place(mean_point(mesh.face_to_nodes.of(face), &mesh.points));
            let area = norm(self.area_vector_of(face));
            return Err(MeshError::ZeroArea { face, owner, place, area });
        }
        let bad =
            (0..mesh.cell_count.owned).into_par_iter().with_min_len(CHUNK).find_first(|&cell| {
                let (defect, allowed) = self.closure(mesh, cell);
                !(self.cell_volume[cell] > 0.0 && defect <= allowed)
            });
        let Some(cell) = bad else { return Ok(()) };
        let name = cell_name(mesh, cell);
        let volume = self.cell_volume[cell];
        if volume > 0.0 {
            let (defect, allowed) = self.closure(mesh, cell);
            Err(MeshError::NotClosed { cell: name, defect, allowed })
        } else {
            let count = self.cell_volume.iter().filter(|&&v| !is_positive(v)).count();
            Err(MeshError::Inverted { cell: name, volume, count })
        }
    }
}

/// False for a NaN.
fn is_positive(value: f64) -> bool {
    value > 0.0
}

type Component<'a> = rayon::slice::IterMut<'a, f64>;

fn components(values: &mut [f64]) -> (Component<'_>, Component<'_>, Component<'_>) {
    let n = values.len() / 3;
    let (x, rest) = values.split_at_mut(n);
    let (y, z) = rest.split_at_mut(n);
    (x.par_iter_mut(), y.par_iter_mut(), z.par_iter_mut())
}

#[inline]
fn gather(values: &[f64], index: usize) -> [f64; 3] {
    let n = values.len() / 3;
    [values[index], values[n + index], values[2 * n + index]]
}

/// a − b.
#[inline]
pub fn subtract(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a × b.
#[inline]
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a · b.
#[inline]
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// |a|.
#[inline]
pub fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

/// a + factor · b.
#[inline]
pub fn add_scaled(a: [f64; 3], factor: f64, b: [f64; 3]) -> [f64; 3] {
    [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]]
}

/// The lowest and the highest coordinates of points; `None` without points.
pub(crate) fn bounding_box(points: &[[f64; 3]]) -> Option<[[f64; 3]; 2]> {
    let first = *points.first()?;
    Some(points.iter().fold([first; 2], |[low, high], point| {
        [
            std::array::from_fn(|k| low[k].min(point[k])),
            std::array::from_fn(|k| high[k].max(point[k])),
        ]
    }))
}

/// Mean of the points of `nodes`.
#[inline]
pub fn mean_point(nodes: &[u32], points: &[[f64; 3]]) -> [f64; 3] {
    let sum = nodes.iter().fold([0.0; 3], |sum, &node| add_scaled(sum, 1.0, points[node as usize]));
    sum.map(|value| value / nodes.len() as f64)
}

/// Area vector and centre of a face: a segment a→b has the normal (dy, −dx); triangles and
/// quadrilaterals follow the right-hand rule.
#[inline]
pub fn face_measure(nodes: &[u32], points: &[[f64; 3]]) -> ([f64; 3], [f64; 3]) {
    let corner = |i: usize| points[nodes[i] as usize];
    let origin = corner(0);
    let b = subtract(corner(1), origin);
    match nodes.len() {
        2 => ([b[1], -b[0], 0.0], add_scaled(origin, 0.5, b)),
        3 => {
            let c = subtract(corner(2), origin);
            let centre = [(b[0] + c[0]) / 3.0, (b[1] + c[1]) / 3.0, (b[2] + c[2]) / 3.0];
            (cross(b, c).map(|value| 0.5 * value), add_scaled(origin, 1.0, centre))
        }
        _ => {
            let (c, d) = (subtract(corner(2), origin), subtract(corner(3), origin));
            let (area, centre) = quadrilateral([[0.0; 3], b, c, d]);
            (area, add_scaled(origin, 1.0, centre))
        }
    }
}

/// Area vector and centre of a quadrilateral, warped or not, as four triangles about its mean
/// point.
#[inline]
fn quadrilateral(corners: [[f64; 3]; 4]) -> ([f64; 3], [f64; 3]) {
    // The four triangles' area vectors sum to half the product of the diagonals.
    let diagonals = cross(subtract(corners[2], corners[0]), subtract(corners[3], corners[1]));
    let area = diagonals.map(|value| 0.5 * value);
    let middle = mean_of_four(corners);
    let mut weighted = [0.0; 3];
    let mut total = 0.0;
    for i in 0..4 {
        let (a, b) = (subtract(corners[i], middle), subtract(corners[(i + 1) % 4], middle));
        let weight = dot(cross(a, b), area);
        weighted = add_scaled(add_scaled(weighted, weight / 3.0, a), weight / 3.0, b);
        total += weight;
    }
    if total == 0.0 { (area, middle) } else { (area, add_scaled(middle, 1.0 / total, weighted)) }
}

#[inline]
fn mean_of_four(corners: [[f64; 3]; 4]) -> [f64; 3] {
    std::array::from_fn(|k| 0.25 * (corners[0][k] + corners[1][k] + corners[2][k] + corners[3][k]))
}

/// Volume of each cell, as in [`Geometry`]: `[n_cells]`.
pub fn cell_volumes(mesh: &Mesh) -> Vec<f64> {
    let cells = (0..mesh.n_cells()).into_par_iter().with_min_len(CHUNK);
    cells.map(|cell| measure_of_cell(mesh, cell).0).collect()
}

/// Centroid of a cell, as in [`Geometry`].
pub fn cell_centre(mesh: &Mesh, cell: usize) -> [f64; 3] {
    measure_of_cell(mesh, cell).1
}

fn measure_of_cell(mesh: &Mesh, cell: usize) -> (f64, [f64; 3]) {
    cell_measure(mesh.cells.shapes[cell], mesh.cells.nodes_of(cell), &mesh.points)
}

/// Volume (area in 2D) and centroid of a cell; the volume of an inverted cell is negative. Coordinates
/// enter as differences to a point of the cell, against cancellation.
#[inline]
pub fn cell_measure(shape: CellShape, nodes: &[u32], points: &[[f64; 3]]) -> (f64, [f64; 3]) {
    let corner = |i: usize| points[nodes[i] as usize];
    match shape {
        CellShape::Tetrahedron => {
            let origin = corner(0);
            let [a, b, c] = [1, 2, 3].map(|i| subtract(corner(i), origin));
            let centre = add_scaled(add_scaled(add_scaled(origin, 0.25, a), 0.25, b), 0.25, c);
            (dot(a, cross(b, c)) / 6.0, centre)
        }
        CellShape::Triangle => {
            let origin = corner(0);
            let [a, b] = [1, 2].map(|i| subtract(corner(i), origin));
            let centre = add_scaled(add_scaled(origin, 1.0 / 3.0, a), 1.0 / 3.0, b);
            (0.5 * (a[0] * b[1] - a[1] * b[0]), centre)
        }
        CellShape::Segment => {
            let along = subtract(corner(1), corner(0));
            (norm(along), add_scaled(corner(0), 0.5, along))
        }
        CellShape::Quadrilateral => {
            let origin = corner(0);
            let corners = [0, 1, 2, 3].map(|i| subtract(corner(i), origin));
            let (area, centre) = quadrilateral(corners);
            (area[2], add_scaled(origin, 1.0, centre))
        }
        _ => polyhedron(shape, nodes, points),
    }
}

/// Volume and centroid of a cell from the tetrahedra between its mean point and the triangles of its
/// faces.
fn polyhedron(shape: CellShape, nodes: &[u32], points: &[[f64; 3]]) -> (f64, [f64; 3]) {
    let reference = mean_point(nodes, points);
    let (mut volume, mut moment) = (0.0, [0.0; 3]);
    let mut add = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        let part = dot(a, cross(b, c)) / 6.0;
        let weight = 0.25 * part;
        moment = add_scaled(add_scaled(add_scaled(moment, weight, a), weight, b), weight, c);
        volume += part;
    };
    for face in 0..shape.face_count() {
        let (corners, count) = shape.face_nodes(nodes, face);
        let corners = corners.map(|node| subtract(points[node as usize], reference));
        if count == 3 {
            add(corners[0], corners[1], corners[2]);
        } else {
            let middle = mean_of_four(corners);
            for i in 0..4 {
                add(middle, corners[i], corners[(i + 1) % 4]);
            }
        }
    }
    if volume == 0.0 {
        (volume, reference)
    } else {
        (volume, add_scaled(reference, 1.0 / volume, moment))
    }
}
