//! The line between the centroids at each face, with the point where it passes the face.

use super::cell_scheme::{LEAST_COSINE, limiter};
use super::local_mesh::LocalMesh;
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of};
use rayon::prelude::*;

/// Largest |x_f − x_i| / |d|. Between two slivers whose centroids nearly coincide it reaches 1000, beyond
/// the range of any gradient across them; on meshes of Gmsh without slivers it is 1.2 at most.
const LARGEST_FACE_SKEWNESS: f64 = 1.5;

/// |x_f − x_i| / |d| up to this is round-off.
const ROUND_OFF: f64 = 1e-9;

/// Faces of a task.
pub(super) const CHUNK: usize = 4096;

type Vector = [f64; 3];

/// The components of a component-major array, in chunks of [`CHUNK`] entities.
pub(super) fn component_chunks(
    values: &mut [f64],
) -> impl IndexedParallelIterator<Item = [&mut [f64]; 3]> {
    let (x, rest) = values.split_at_mut(values.len() / 3);
    let (y, z) = rest.split_at_mut(x.len());
    let [x, y, z] = [x, y, z].map(|component| component.par_chunks_mut(CHUNK));
    x.zip(y).zip(z).map(|((x, y), z)| [x, y, z])
}

/// A face and the line between the centroids at it.
struct FaceLine {
    /// w; 0 at a boundary.
    weight: f64,
    /// n.
    normal: Vector,
    /// d.
    delta: Vector,
    /// x_f − x_i; at a boundary d − (d·n) n.
    skewness: Vector,
    /// The same, at most [`LARGEST_FACE_SKEWNESS`] |d|.
    bounded_skewness: Vector,
}

impl FaceLine {
    fn new(mesh: &Mesh, geometry: &Geometry, face: usize) -> Self {
        let area = geometry.area_vector_of(face);
        let s = dot(area, area).sqrt();
        let n = area.map(|a| a / s);
        let x = geometry.face_centre_of(face);
        let xl = geometry.cell_centre_of(mesh.face_left[face] as usize);
        let from_left = subtract(x, xl);
        let (w, d, o) = if face < mesh.n_interior_faces() {
            let xr = geometry.right_centre_of(mesh, face);
            let (dl, dr) = (dot(from_left, n).max(0.0), dot(subtract(xr, x), n).max(0.0));
            let w = if dl + dr > 0.0 { dr / (dl + dr) } else { 0.5 };
            let foot = [0, 1, 2].map(|k| w * xl[k] + (1.0 - w) * xr[k]);
            (w, subtract(xr, xl), subtract(x, foot))
        } else {
            let along = dot(from_left, n);
            (0.0, from_left, [0, 1, 2].map(|k| from_left[k] - along * n[k]))
        };
        let reduction = (LARGEST_FACE_SKEWNESS * norm(d) / norm(o)).min(1.0);
        FaceLine {
            weight: w,
            normal: n,
            delta: d,
            skewness: o,
            bounded_skewness: o.map(|o| o * reduction),
        }
    }
}

/// Properties of faces.
#[derive(Default)]
pub(super) struct FaceProperties {
    /// Whether x_f − x_i of one of them is not 0.
    pub has_skewed: bool,
    /// Whether d of one of them is not along n.
    pub has_nonorthogonal: bool,
    /// Faces with a limited d, and that d.
    pub limited: Vec<(usize, Vector)>,
}

impl FaceProperties {
    /// Those of the faces of a mesh, without limited ones.
    pub(super) fn of_mesh(mesh: &Mesh, geometry: &Geometry) -> Self {
        let of_chunk = |first: usize| {
            let mut properties = FaceProperties::default();
            for face in first..(first + CHUNK).min(mesh.n_faces()) {
                properties.add_directions(&FaceLine::new(mesh, geometry, face));
            }
            properties
        };
        let chunks = (0..mesh.n_faces()).into_par_iter().step_by(CHUNK).map(of_chunk);
        Self::joined(chunks.collect())
    }

    /// Those of all faces from those of some.
    fn joined(of_chunks: Vec<FaceProperties>) -> Self {
        FaceProperties {
            has_skewed: of_chunks.iter().any(|of| of.has_skewed),
            has_nonorthogonal: of_chunks.iter().any(|of| of.has_nonorthogonal),
            limited: of_chunks.into_iter().flat_map(|of| of.limited).collect(),
        }
    }

    fn add_directions(&mut self, line: &FaceLine) {
        let FaceLine { normal: n, delta: d, skewness: o, .. } = *line;
        let along = dot(d, n);
        let least = ROUND_OFF * ROUND_OFF * dot(d, d);
        self.has_skewed |= dot(o, o) > least || dot(o, o).is_nan();
        let off = dot(d, d) - along * along;
        self.has_nonorthogonal |= off > least.max(8.0 * f64::EPSILON * dot(d, d)) || off.is_nan();
    }

    fn add(&mut self, face: usize, line: &FaceLine) {
        self.add_directions(line);
        let FaceLine { normal: n, delta: d, .. } = *line;
        let normal = dot(d, n).max(LEAST_COSINE * norm(d));
        let tangent = [0, 1, 2].map(|k| d[k] - normal * n[k]);
        let share = limiter(tangent, normal);
        if share < 1.0 {
            self.limited.push((face, [0, 1, 2].map(|k| normal * n[k] + share * tangent[k])));
        }
    }
}

/// The lines of all faces, component-major.
pub(super) struct FaceLines {
    /// w: `[n_faces]`, 0 at a boundary.
    pub weight: Vec<f64>,
    /// x_f − x_i, at most [`LARGEST_FACE_SKEWNESS`] |d|: `[3][n_faces]`.
    pub skewness: Vec<f64>,
    /// d: `[3][n_faces]`.
    pub delta: Vec<f64>,
    pub properties: FaceProperties,
}

impl FaceLines {
    pub(super) fn new(mesh: &Mesh, geometry: &Geometry) -> Self {
        let n_faces = mesh.n_faces();
        let mut weight = vec![0.0; n_faces];
        let mut skewness = vec![0.0; 3 * n_faces];
        let mut delta = vec![0.0; 3 * n_faces];
        let chunks = component_chunks(&mut skewness)
            .zip(component_chunks(&mut delta))
            .zip(weight.par_chunks_mut(CHUNK))
            .enumerate();
        let properties = chunks.map(|(chunk, ((skewness, delta), weight))| {
            let mut properties = FaceProperties::default();
            for (k, weight) in weight.iter_mut().enumerate() {
                let face = FaceLine::new(mesh, geometry, chunk * CHUNK + k);
                *weight = face.weight;
                properties.add(chunk * CHUNK + k, &face);
                for i in 0..3 {
                    (skewness[i][k], delta[i][k]) = (face.bounded_skewness[i], face.delta[i]);
                }
            }
            properties
        });
        let properties = FaceProperties::joined(properties.collect());
        FaceLines { weight, skewness, delta, properties }
    }
}

/// Σ |x_f − x_i| |S| / V of each cell, and of the ghosts across faces: `[n_local]`; `skewness`: x_f − x_i, `[3][n_faces]`.
pub(super) fn cell_skewness(place: LocalMesh<'_>, skewness: &[f64]) -> Vec<f64> {
    let n_faces = place.mesh.n_faces();
    let of_own = |cell: usize| {
        let vector = |face: usize| [0, 1, 2].map(|k| skewness[k * n_faces + face]);
        skewness_of(place.mesh, place.geometry, cell, vector)
    };
    let of_ghost = |cell: usize| {
        if place.mesh.cell_to_faces.of(cell).is_empty() {
            return 0.0;
        }
        let (mesh, geometry) = place.whole_mesh();
        let vector = |face: usize| FaceLine::new(mesh, geometry, face).bounded_skewness;
        skewness_of(mesh, geometry, place.global_cell(cell), vector)
    };
    let owned = place.owned();
    let of_cell = |cell: usize| if cell < owned { of_own(cell) } else { of_ghost(cell) };
    (0..place.n_local()).into_par_iter().map(of_cell).collect()
}

/// Σ |x_f − x_i| |S| / V of a cell; `vector`: x_f − x_i of a face.
fn skewness_of(
    mesh: &Mesh,
    geometry: &Geometry,
    cell: usize,
    vector: impl Fn(usize) -> Vector,
) -> f64 {
    let term = |item: &u32| {
        let face = index_of(*item);
        norm(vector(face)) * norm(geometry.area_vector_of(face))
    };
    let sum = mesh.cell_to_faces.of(cell).iter().map(term).fold(0.0, |a, b| a + b);
    sum / geometry.cell_volume[cell]
}
