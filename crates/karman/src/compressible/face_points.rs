//! Quadrature points of faces on a backend.
#![allow(missing_docs)] // on the modules that the attributes make

use crate::backend::{Backend, Buffer, View};
use crate::finite_volume::{Vectors, component_major, narrow};
use crate::mesh::SIGN_BIT;
use crate::mesh::adjacency::{fill_rows, offsets_of};
use crate::mesh::geometry::{add_scaled, subtract};
use crate::mesh::quadrature::{CellMoments, Degree, for_each_point, points_of_face};
use crate::mesh::{Geometry, Mesh};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;
use rayon::prelude::*;

type Vector = [f64; 3];

/// Points of faces, in the order of faces.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceRule {
    /// First point of each face: `[n_faces + 1]`.
    pub offsets: Vec<u32>,
    /// Places: `[n_points]`.
    pub at: Vec<Vector>,
    /// Shares of the area vector: `[n_points]`.
    pub area: Vec<Vector>,
    /// From the centroid of the left cell: `[n_points]`.
    pub from_left: Vec<Vector>,
    /// From the centroid of the right cell, of interior faces: `[n_interior_points]`.
    pub from_right: Vec<Vector>,
}

impl FaceRule {
    /// The rule of a degree on all faces.
    pub fn new(
        mesh: &Mesh,
        geometry: &Geometry,
        moments: &CellMoments,
        degree: Degree,
    ) -> FaceRule {
        let inner = mesh.n_interior_faces();
        let count = |face| points_of_face(mesh.face_to_nodes.of(face).len(), degree);
        let offsets = offsets_of(mesh.n_faces(), count);
        let mut points = vec![([0.0; 3], [0.0; 3]); offsets[mesh.n_faces()] as usize];
        fill_rows(&offsets, &mut points, |face, places| {
            let mut places = places.iter_mut();
            for_each_point(mesh, geometry, face, degree, |point| {
                if let Some(place) = places.next() {
                    *place = (point.at, point.area);
                }
            });
        });
        let (at, area): (Vec<Vector>, Vec<Vector>) = points.into_par_iter().unzip();
        let set_vectors = |face: usize, centre: Vector, vectors: &mut [Vector]| {
            let points = &at[offsets[face] as usize..offsets[face + 1] as usize];
            vectors.iter_mut().zip(points).for_each(|(d, x)| *d = subtract(*x, centre));
        };
        let mut from_left = vec![[0.0; 3]; at.len()];
        fill_rows(&offsets, &mut from_left, |face, vectors| {
            set_vectors(face, moments.centre[mesh.face_left[face] as usize], vectors);
        });
        let mut from_right = vec![[0.0; 3]; offsets[inner] as usize];
        fill_rows(&offsets[..=inner], &mut from_right, |face, vectors| {
            let centre = moments.centre[mesh.face_right[face] as usize];
            let centre = match mesh.periodic_pairs.is_empty() {
                true => centre,
                false => add_scaled(centre, 1.0, mesh.periodic_offset(face)),
            };
            set_vectors(face, centre, vectors);
        });
        FaceRule { offsets, at, area, from_left, from_right }
    }

    /// Number of points of each face, 0 where faces differ.
    pub fn per_face(&self) -> usize {
        let first = self.offsets.get(1).map_or(0, |end| *end as usize);
        let is_equal = self.offsets.windows(2).all(|w| (w[1] - w[0]) as usize == first);
        if is_equal { first } else { 0 }
    }
}

/// Points of faces as kernels read them.
#[derive(Group, Clone, Copy)]
pub struct FacePoints<'a, F: Real> {
    /// First point of each face: `[n_faces + 1]`; not read where all faces have equally many.
    pub offsets: View<'a, u32>,
    /// Shares of area vectors: `[3][n_points]`.
    pub area: Vectors<'a, F>,
    /// Vectors from the centroid of the left cell: `[3][n_points]`.
    pub from_left: Vectors<'a, F>,
    /// Vectors from the centroid of the right cell: `[3][n_interior_points]`.
    pub from_right: Vectors<'a, F>,
    /// Number of points of each face, 0 where faces differ.
    #[comptime]
    pub per_face: usize,
}

#[device]
impl<F: Real> FacePoints<'_, F> {
    /// The first point of a face, and the end of its points.
    #[inline(always)]
    pub fn range(&self, f: usize) -> (usize, usize) {
        let per_face = comptime!(self.per_face);
        let mut first = f * per_face;
        let mut end = first + per_face;
        if comptime!(per_face == 0) {
            first = self.offsets[f] as usize;
            end = self.offsets[f + 1] as usize;
        }
        (first, end)
    }

    /// The vector from the centroid of a cell to point `k` of its face `item`.
    #[inline(always)]
    pub fn from_side(&self, item: u32, k: usize) -> Vec3<F> {
        let mut d = self.from_left.at(k);
        if item >= comptime!(SIGN_BIT) {
            d = self.from_right.at(k);
        }
        d
    }
}

/// Points of faces on a backend.
pub struct FacePointsOnBackend<F: Real> {
    offsets: Buffer<u32>,
    area: Buffer<F>,
    from_left: Buffer<F>,
    from_right: Buffer<F>,
    per_face: usize,
}

impl<F: Real> FacePointsOnBackend<F> {
    /// Uploads a rule.
    pub fn new(backend: &Backend, rule: &FaceRule) -> Self {
        let upload = |vectors: &[Vector]| narrow(backend, component_major(vectors));
        FacePointsOnBackend {
            offsets: backend.upload_slice(&rule.offsets),
            area: upload(&rule.area),
            from_left: upload(&rule.from_left),
            from_right: upload(&rule.from_right),
            per_face: rule.per_face(),
        }
    }

    /// Numbers of points, and of sides of points with a cell.
    pub fn counts(&self) -> [usize; 2] {
        let [points, inner] = [&self.area, &self.from_right].map(|vectors| vectors.len() / 3);
        [points, points + inner]
    }

    /// The points as kernels read them.
    pub fn view(&self) -> FacePoints<'_, F> {
        FacePoints {
            offsets: self.offsets.view(),
            area: Vectors::of(&self.area),
            from_left: Vectors::of(&self.from_left),
            from_right: Vectors::of(&self.from_right),
            per_face: self.per_face,
        }
    }
}
