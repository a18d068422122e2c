//! Conditions of boundary faces on a backend: what lies outside, prescribed states at the points of faces, normals of walls.

use super::boundary::{ExteriorState, is_wall};
use super::conditions::CompressibleCondition;
use super::error::CompressibleError;
use super::face_points::{FacePointsOnBackend, FaceRule};
use super::residual::BoundaryView;
use super::state::{States, VARIABLES};
use super::wall_normals::set_normals;
use crate::backend::{Backend, Buffer};
use crate::finite_volume::{Term, TimeDependentData, Vectors};
use crate::mesh::Mesh;
use crate::mesh::geometry::norm;
use crate::operators::Part;
use crate::real::Real;

/// The boundary of a flow.
pub(super) struct BoundaryData<F: Real> {
    kind: Buffer<u32>,
    prescribed: TimeDependentData<F>,
    normal: Buffer<F>,
    first_point: usize,
    is_closed: bool,
}

impl<F: Real> BoundaryData<F> {
    /// The conditions of the patches at time 0.
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        rule: &FaceRule,
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
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            if condition.exterior() == ExteriorState::Reflected {
                let [begin, end] = [patch.faces.start, patch.faces.end]
                    .map(|face| rule.offsets[face] as usize - first_point);
                set_normals(mesh, rule, patch.faces.clone(), &mut normals[begin..end]);
            }
        }
        let components = (0..3).flat_map(|k| normals.iter().map(move |n| F::from_f64(n[k])));
        let what = "boundary state";
        Ok(BoundaryData {
            is_closed: kind.iter().all(|kind| is_wall(*kind)),
            kind: backend.upload(kind),
            prescribed: TimeDependentData::new(backend, what, VARIABLES * n_points, terms)?,
            normal: backend.upload(components.collect()),
            first_point,
        })
    }

    /// The boundary of a part, whose points follow `first_point` others; `points` are those of the whole mesh.
    pub(super) fn of_part(
        &self,
        part: &Part,
        points: &FacePointsOnBackend<F>,
        first_point: usize,
    ) -> Self {
        let n_points = self.normal.len() / 3;
        let faces = part.faces()[part.cells.n_interior()..].iter();
        let at_boundary = |point: usize| (point - self.first_point) as u32;
        let own: Vec<u32> =
            faces.flat_map(|face| points.of_face(*face as usize)).map(at_boundary).collect();
        let entries: Vec<u32> = (0..VARIABLES)
            .flat_map(|v| own.iter().map(move |point| (v * n_points) as u32 + point))
            .collect();
        BoundaryData {
            kind: part.of_boundary(&self.kind),
            prescribed: self.prescribed.of_rank(&part.backend, &entries),
            normal: part.of_list(&self.normal, &own, n_points),
            first_point,
            is_closed: self.is_closed,
        }
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
