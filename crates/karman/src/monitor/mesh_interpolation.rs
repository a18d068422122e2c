//! Fields of a mesh at points anywhere: the transfer of a result to another mesh.

use super::locate::locate;
use super::point_tree::PointTree;
use super::sampler::{NodeAdjacency, least_squares_row, least_squares_weights};
use crate::mesh::files::FieldLocation;
use crate::mesh::geometry::{norm, subtract};
use crate::mesh::{Geometry, Mesh};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// Interpolation of fields from a mesh to points. In cells: the least-squares plane about the point through the cell and
/// the cells of its region that share a node with it. At nodes: linear interpolation in the cell, outside the mesh the
/// least-squares plane through the nodes of the nearest cell. Exact for linear fields.
pub struct MeshInterpolation {
    mesh: Mesh,
    geometry: Geometry,
    /// The places of the last points: several fields are interpolated to equal points.
    places: Mutex<Option<Arc<Places>>>,
}

/// Points and the cells from which fields are interpolated to them.
struct Places {
    points: Vec<[f64; 3]>,
    cells: Vec<Place>,
    around: NodeAdjacency,
}

/// A cell and the position of a point in it.
struct Place {
    cell: usize,
    /// Weights of the cell's nodes; empty outside the mesh.
    weights: Vec<f64>,
    /// Distance of the point from the centre of the cell, over that of its farthest node; 0 in the mesh or slightly
    /// outside, where a curved boundary was meshed differently.
    distance: f64,
}

/// Points far outside a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FarPoints {
    /// Their number.
    pub count: usize,
    /// The farthest.
    pub point: [f64; 3],
    /// Its distance from the centre of the nearest cell.
    pub distance: f64,
}

/// Largest distance from the centre of the nearest cell, over that of its farthest node, of a point that is not far
/// outside: a diameter of the cell beyond its surface.
const REACH: f64 = 3.0;

impl MeshInterpolation {
    /// The interpolation from a mesh.
    pub fn new(mesh: Mesh, geometry: Geometry) -> Self {
        MeshInterpolation { mesh, geometry, places: Mutex::new(None) }
    }

    /// The mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The field `values`, `[n_cells]` or `[n_nodes]`, at `points`: `[3][n]` component-major.
    pub fn values(&self, location: FieldLocation, values: &[f64], points: &[f64]) -> Vec<f64> {
        let places = self.places(points);
        let value = |(point, place): (&[f64; 3], &Place)| {
            let nodes = self.mesh.cells.nodes_of(place.cell);
            let sum = |items: &mut dyn Iterator<Item = (u32, f64)>| {
                items.fold(0.0, |sum, (item, weight)| sum + weight * values[item as usize])
            };
            match location {
                FieldLocation::Cells => {
                    let around = places.around.of_cell(&self.mesh, place.cell);
                    let row = least_squares_row(&self.geometry, place.cell, &around, point);
                    sum(&mut row.into_iter())
                }
                FieldLocation::Nodes if place.weights.is_empty() => {
                    let corners = nodes.iter().map(|node| self.mesh.points[*node as usize]);
                    let weights = least_squares_weights(&corners.collect::<Vec<_>>(), *point);
                    sum(&mut nodes.iter().copied().zip(weights))
                }
                FieldLocation::Nodes => {
                    sum(&mut nodes.iter().copied().zip(place.weights.iter().copied()))
                }
            }
        };
        places.points.par_iter().zip(&places.cells).map(value).collect()
    }

    /// The points, `[3][n]`, that are farther outside the mesh than the diameter of the nearest cell; none where all are
    /// within.
    pub fn far_points(&self, points: &[f64]) -> Option<FarPoints> {
        let places = self.places(points);
        let far = places.points.iter().zip(&places.cells);
        let far: Vec<_> = far.filter(|(_, place)| place.distance > REACH).collect();
        let farthest = far.iter().max_by(|a, b| a.1.distance.total_cmp(&b.1.distance))?;
        let (point, place) = *farthest;
        let distance = norm(subtract(*point, self.geometry.cell_centre_of(place.cell)));
        Some(FarPoints { count: far.len(), point: *point, distance })
    }

    /// The places of points, those of the last call where they are equal.
    fn places(&self, points: &[f64]) -> Arc<Places> {
        let n = points.len() / 3;
        let points: Vec<[f64; 3]> = (0..n).map(|i| [0, 1, 2].map(|k| points[k * n + i])).collect();
        let mut last = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(places) if places.points == points => places.clone(),
            _ => last.insert(Arc::new(self.find(points))).clone(),
        }
    }

    fn find(&self, points: Vec<[f64; 3]>) -> Places {
        let Self { mesh, geometry, .. } = self;
        let centres: Vec<[f64; 3]> =
            (0..mesh.n_cells()).map(|cell| geometry.cell_centre_of(cell)).collect();
        let located = locate(mesh, &points);
        let tree = match located.iter().all(Option::is_some) {
            true => PointTree::new(&[], mesh.dimension),
            false => PointTree::new(&centres, mesh.dimension),
        };
        let place = |(point, located): (&[f64; 3], _)| match located {
            Some(super::Located { cell, weights, outside }) => {
                let weights = if outside == 0.0 { weights } else { vec![] };
                Place { cell, weights, distance: 0.0 }
            }
            None => {
                let cell = tree.nearest(*point).unwrap_or(0);
                let from_centre = |x: [f64; 3]| norm(subtract(x, centres[cell]));
                let nodes = mesh.cells.nodes_of(cell).iter();
                let radius = nodes.map(|node| from_centre(mesh.points[*node as usize]));
                let distance = from_centre(*point) / radius.fold(0.0, f64::max);
                Place { cell, weights: vec![], distance }
            }
        };
        let cells: Vec<Place> = points.par_iter().zip(located).map(place).collect();
        let around = NodeAdjacency::of_cells(mesh, cells.iter().map(|place| place.cell));
        Places { points, cells, around }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finite_volume::component_major;
    use crate::mesh::testing::{built, gmsh};

    fn interpolation(name: &str) -> MeshInterpolation {
        let (mesh, geometry) = built(gmsh(name));
        MeshInterpolation::new(mesh, geometry)
    }

    #[test]
    fn linear_fields_are_exact_in_and_around_meshes() {
        let field = |x: &[f64; 3]| 2.0 + 3.0 * x[0] - 5.0 * x[1] + 7.0 * x[2];
        for name in [
            "triangles_coarse",
            "quadrilaterals_coarse",
            "cube_tetrahedron_coarse",
            "cube_prism_coarse",
            "cube_hexahedron_coarse",
        ] {
            let from = interpolation(name);
            let is_2d = from.mesh.dimension == 2;
            // From −0.05 to 1.04: a part of the points is outside.
            let steps = 13;
            let x = |i: usize| -0.05 + 0.09 * i as f64 + 1e-4 * (i * i) as f64;
            let mut points = vec![];
            for (i, j) in (0..steps).flat_map(|i| (0..steps).map(move |j| (i, j))) {
                points.push([x(i), x(j), if is_2d { 0.0 } else { x((i + j) % steps) }]);
            }
            let list = component_major(&points);
            assert!(from.far_points(&list).is_none(), "{name}");
            let centres = (0..from.mesh.n_cells()).map(|c| from.geometry.cell_centre_of(c));
            let in_cells: Vec<f64> = centres.map(|x| field(&x)).collect();
            let at_nodes: Vec<f64> = from.mesh.points.iter().map(field).collect();
            for (location, values) in
                [(FieldLocation::Cells, &in_cells), (FieldLocation::Nodes, &at_nodes)]
            {
                let found = from.values(location, values, &list);
                for (value, point) in found.iter().zip(&points) {
                    let error = (value - field(point)).abs();
                    assert!(error < 2e-12, "{name} {location:?} {point:?}: {error:e}");
                }
            }
        }
    }

    #[test]
    fn points_far_outside_are_counted_and_the_farthest_is_named() {
        let from = interpolation("triangles_coarse");
        let points = [[0.5, 0.5, 0.0], [4.0, 0.5, 0.0], [0.5, -7.0, 0.0], [1.01, 0.5, 0.0]];
        let far = from.far_points(&component_major(&points)).unwrap();
        assert_eq!((far.count, far.point), (2, [0.5, -7.0, 0.0]));
        assert!((7.0..7.5).contains(&far.distance), "{far:?}");
        assert!(from.far_points(&[]).is_none());
    }
}
