//! Conditions of boundary faces on a backend: what lies outside, prescribed states at the points of faces, normals of walls.

use super::boundary::{ExteriorState, is_wall};
use super::conditions::CompressibleCondition;
use super::error::CompressibleError;
use super::face_points::FaceRule;
use super::residual::BoundaryView;
use super::state::{States, VARIABLES};
use super::wall_normals::wall_normals;
use super::whole_mesh::PartNumbers;
use crate::backend::{Backend, Buffer};
use crate::finite_volume::{Term, TimeDependentData, Vectors, component_major, narrow};
use crate::mesh::geometry::norm;
use crate::mesh::quadrature::Degree;
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use rayon::prelude::*;

/// The boundary of a flow.
pub(super) struct BoundaryData<F: Real> {
    kind: Buffer<u32>,
    prescribed: TimeDependentData<F>,
    normal: Buffer<F>,
    first_point: usize,
    is_closed: bool,
}

impl<F: Real> BoundaryData<F> {
    /// The conditions at time 0 of the patches of a mesh whose faces have the points of a rule of `degree`; of a part of the whole mesh with
    /// their numbers there.
    pub(super) fn new(
        backend: &Backend,
        whole: (&Mesh, &Geometry),
        (mesh, numbers): (&Mesh, Option<&PartNumbers>),
        (rule, degree): (&FaceRule, Degree),
        conditions: &[CompressibleCondition],
    ) -> Result<Self, CompressibleError> {
        let inner = mesh.n_interior_faces();
        let first_point = rule.offsets[inner] as usize;
        let n_points = rule.at.len() - first_point;
        let mut kind = vec![0; mesh.n_faces() - inner];
        let mut terms = vec![];
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            kind[patch.faces.start - inner..patch.faces.end - inner]
                .fill(condition.exterior() as u32);
            let points =
                rule.offsets[patch.faces.start] as usize..rule.offsets[patch.faces.end] as usize;
            for (variable, value) in condition.prescribed() {
                let first = variable * n_points + points.start - first_point;
                terms.push(Term {
                    value: value.clone(),
                    entries: (first..first + points.len()).map(|entry| entry as u32).collect(),
                    factors: vec![1.0; points.len()],
                    points: (0..3)
                        .flat_map(|k| rule.at[points.clone()].iter().map(move |x| x[k]))
                        .collect(),
                });
            }
        }
        let facet = |s: &[f64; 3]| {
            let size = norm(*s);
            s.map(|x| x / size)
        };
        let mut normals: Vec<[f64; 3]> = rule.area[first_point..].iter().map(facet).collect();
        let patches = mesh.patches.iter().zip(&whole.0.patches);
        for ((patch, of_whole), condition) in patches.zip(conditions) {
            if condition.exterior() == ExteriorState::Reflected && !patch.faces.is_empty() {
                let [begin, end] = [patch.faces.start, patch.faces.end]
                    .map(|face| rule.offsets[face] as usize - first_point);
                let number = |face| numbers.map_or(face, |numbers| numbers.of_boundary_face(face));
                let faces = patch.faces.clone().into_par_iter().map(number);
                let fitted = wall_normals(whole, degree, of_whole.faces.clone(), faces);
                normals[begin..end].copy_from_slice(&fitted);
            }
        }
        let what = "boundary state";
        let mut walls = whole.0.patches.iter().zip(conditions);
        Ok(BoundaryData {
            is_closed: walls.all(|(patch, condition)| {
                patch.faces.is_empty() || is_wall(condition.exterior() as u32)
            }),
            kind: backend.upload(kind),
            prescribed: TimeDependentData::new(backend, what, VARIABLES * n_points, terms)?,
            normal: narrow(backend, component_major(&normals)),
            first_point,
        })
    }

    /// Sets the time of the prescribed states.
    pub(super) fn set_time(
        &mut self,
        backend: &Backend,
        time: f64,
    ) -> Result<(), CompressibleError> {
        Ok(self.prescribed.set_mean(backend, [time; 2])?)
    }

    /// The conditions as kernels read them.
    pub(super) fn view(&self) -> BoundaryView<'_, F> {
        BoundaryView {
            kind: self.kind.view(),
            prescribed: States::of(self.prescribed.value()),
            normal: Vectors::of(&self.normal),
            first_point: self.first_point,
            is_closed: self.is_closed,
        }
    }
}
