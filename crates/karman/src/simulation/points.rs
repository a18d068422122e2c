//! Values of cell fields at points: of probes and lines.

use crate::diffusion::Functional;
use crate::mesh::{Geometry, Mesh};
use crate::monitor::{Located, Sampler, locate, rows_at_boundary};

/// Points in a mesh at which fields on cells are wanted.
pub(super) struct PointSampler<'a> {
    mesh: &'a Mesh,
    geometry: &'a Geometry,
    points: &'a [[f64; 3]],
    located: Vec<Option<Located>>,
    sampler: Sampler,
}

impl<'a> PointSampler<'a> {
    pub(super) fn new(mesh: &'a Mesh, geometry: &'a Geometry, points: &'a [[f64; 3]]) -> Self {
        let located = locate(mesh, points);
        let sampler = Sampler::of_cells(mesh, geometry, points);
        PointSampler { mesh, geometry, points, located, sampler }
    }

    /// Whether each point is in the mesh.
    pub(super) fn is_inside(&self) -> Vec<bool> {
        self.located.iter().map(Option::is_some).collect()
    }

    /// The value of a field at each point; nothing for points outside. On a face and near faces at which
    /// `held` knows the place of a prescribed value, that of the boundary takes part. Among cells a plane
    /// fitted about the point is more accurate than the slope of one of them; at the rest of the boundary
    /// `at_points` knows, of cells and points in them, what the boundary says of the slope.
    pub(super) fn functionals(
        &self,
        held: impl Fn(usize) -> Option<u32>,
        at_points: impl FnOnce(&[(usize, [f64; 3])]) -> Vec<Functional>,
    ) -> Vec<Functional> {
        let (mesh, geometry) = (self.mesh, self.geometry);
        let first = mesh.n_interior_faces();
        let is_known = |face: usize| held(face - first).is_some();
        let near = rows_at_boundary(mesh, geometry, self.points, &self.located, is_known);
        let mut rows: Vec<Functional> = vec![];
        let (mut sloped, mut places) = (vec![], vec![]);
        for (point, (near, located)) in near.into_iter().zip(&self.located).enumerate() {
            let Some(located) = located else {
                rows.push(Functional::default());
                continue;
            };
            rows.push(match near {
                Some(row) => {
                    let value = |(face, weight)| Some((held(face as usize - first)?, weight));
                    let values = row.faces.into_iter().filter_map(value).collect();
                    Functional { unknowns: row.cells, values, ..Functional::default() }
                }
                None if self.sampler.is_at_boundary(mesh, point) => {
                    sloped.push(point);
                    places.push((located.cell, self.points[point]));
                    Functional::default()
                }
                None => {
                    let unknowns = self.sampler.row(point).collect();
                    Functional { unknowns, ..Functional::default() }
                }
            });
        }
        for (point, functional) in sloped.into_iter().zip(at_points(&places)) {
            rows[point] = functional;
        }
        rows
    }
}

#[cfg(test)]
mod tests;
