//! Values of cell fields at the points of probes and lines.

use crate::finite_volume::Functional;
use crate::mesh::{Geometry, Mesh};
use crate::monitor::{Located, Sampler, locate, rows_at_boundary};

/// Points at which cell fields are sampled.
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
        let sampler = Sampler::of_located(mesh, geometry, points, &located);
        PointSampler { mesh, geometry, points, located, sampler }
    }

    /// Whether each point is in the mesh.
    pub(super) fn is_inside(&self) -> Vec<bool> {
        self.located.iter().map(Option::is_some).collect()
    }

    /// The value of a field at each point; empty for points outside. On and near boundary faces with a
    /// prescribed value, whose index `dirichlet` gives, that value has a weight. In the interior a
    /// least-squares plane about the point is more accurate than the gradient of its cell. Near other
    /// boundary faces `at_points` gives the value at points in cells, with the boundary condition in its
    /// gradient.
    pub(super) fn functionals(
        &self,
        dirichlet: impl Fn(usize) -> Option<u32>,
        at_points: impl FnOnce(&[(usize, [f64; 3])]) -> Vec<Functional>,
    ) -> Vec<Functional> {
        let (mesh, geometry) = (self.mesh, self.geometry);
        let first = mesh.n_interior_faces();
        let is_known = |face: usize| dirichlet(face - first).is_some();
        let boundary_rows = rows_at_boundary(mesh, geometry, self.points, &self.located, is_known);
        let mut rows: Vec<Functional> = vec![];
        let (mut remaining, mut places) = (vec![], vec![]);
        for (point, (row, located)) in boundary_rows.into_iter().zip(&self.located).enumerate() {
            let Some(located) = located else {
                rows.push(Functional::default());
                continue;
            };
            rows.push(match row {
                Some(row) => {
                    let value = |(face, weight)| Some((dirichlet(face as usize - first)?, weight));
                    let values = row.faces.into_iter().filter_map(value).collect();
                    Functional { unknowns: row.cells, values, ..Functional::default() }
                }
                None if self.sampler.is_at_boundary(mesh, point) => {
                    remaining.push(point);
                    places.push((located.cell, self.points[point]));
                    Functional::default()
                }
                None => {
                    let unknowns = self.sampler.row(point).collect();
                    Functional { unknowns, ..Functional::default() }
                }
            });
        }
        for (point, functional) in remaining.into_iter().zip(at_points(&places)) {
            rows[point] = functional;
        }
        rows
    }
}

#[cfg(test)]
mod tests;
