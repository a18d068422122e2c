//! Stencils of the velocity upstream of a convective outlet.
//!
//! The velocity convected to a face is that at a point on the normal through the centroid of the face, at the distance L inside,
//! by a fit that is linear along the face: Σ_k w_k u_k with Σ w_k = 1 and Σ w_k t_k = 0, t_k the part of x_k − x_f along the face,
//! and Σ w_k²/ω_k least. A cell with a face opposite to the outlet is its own stencil where its centroid lies on the normal. In
//! other cells, as triangles and tetrahedra, the velocity follows the flux through the outlet itself, with a factor that may
//! exceed 1, so that the condition would amplify it; there ω_k is the square of the distance of x_k from the face, over all cells
//! that share a node. Where the weights of the fit are large or L is short, as with all cells to one side, the mean with the weights ω
//! replaces it. Decision 31.

use super::staggered::least_squares;
use super::surface_divergence::{has_opposite_face, normal};
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::gradient_stencil::{Neighbour, node_neighbours};
use crate::mesh::{Geometry, Mesh};
use rayon::prelude::*;

/// Largest |t| of a cell on the normal, over its distance from the face.
const ON_THE_NORMAL: f64 = 1e-9;

/// ω of the neighbours of a cell with an opposite face, over its own.
const NEIGHBOURS_BESIDE_OPPOSITE: f64 = 1e-3;

/// Largest Σ |w| of a stencil that extrapolates along the face.
const LARGEST_WEIGHTS: f64 = 3.0;

/// Least L of such a stencil over the distance of the cell.
const LEAST_DISTANCE: f64 = 0.5;

/// The stencils of the faces of convective outlets.
#[derive(Debug, Default)]
pub(super) struct OutflowStencils {
    /// Start of the cells of each face, and their number: `[faces + 1]`.
    pub offsets: Vec<u32>,
    /// Cells.
    pub cells: Vec<u32>,
    /// w of the cells.
    pub weights: Vec<f64>,
    /// L of each face (m): `[faces]`.
    pub distances: Vec<f64>,
}

/// The stencil of one face.
struct Row {
    cells: Vec<(u32, f64)>,
    distance: f64,
}

impl OutflowStencils {
    /// Of the boundary faces `faces`.
    pub(super) fn new(mesh: &Mesh, geometry: &Geometry, faces: &[u32]) -> Self {
        let rows: Vec<Row> =
            faces.par_iter().map(|face| row_of_face(mesh, geometry, *face)).collect();
        let mut stencils = OutflowStencils { offsets: vec![0], ..OutflowStencils::default() };
        for Row { cells, distance } in rows {
            for (cell, weight) in cells {
                stencils.cells.push(cell);
                stencils.weights.push(weight);
            }
            stencils.offsets.push(stencils.cells.len() as u32);
            stencils.distances.push(distance);
        }
        stencils
    }
}

/// A cell of a fit: its index, its distance from the face, the part of its position along the face, and ω.
#[derive(Clone, Copy)]
struct Candidate {
    cell: u32,
    depth: f64,
    along: [f64; 3],
    omega: f64,
}

fn row_of_face(mesh: &Mesh, geometry: &Geometry, face: u32) -> Row {
    let cell = mesh.face_left[face as usize];
    let n = normal(geometry, face);
    let to_cell =
        subtract(geometry.cell_centre_of(cell as usize), geometry.face_centre_of(face as usize));
    let candidate = |Neighbour { cell, offset }: Neighbour| {
        let r = [0, 1, 2].map(|k| to_cell[k] + offset[k]);
        let depth = -dot(r, n);
        let along = [0, 1, 2].map(|k| r[k] + depth * n[k]);
        Candidate { cell, depth, along, omega: depth * depth }
    };
    let own = candidate(Neighbour { cell, offset: [0.0; 3] });
    let has_opposite = has_opposite_face(mesh, face);
    let alone = Row { cells: vec![(cell, 1.0)], distance: own.depth };
    if has_opposite && norm(own.along) <= ON_THE_NORMAL * own.depth {
        return alone;
    }
    let around = node_neighbours(mesh, geometry, cell as usize, |_| true);
    let mut candidates: Vec<Candidate> = std::iter::once(own)
        .chain(around.into_iter().map(candidate))
        .filter(|candidate| candidate.depth > 0.0)
        .collect();
    if has_opposite {
        for other in candidates.iter_mut().filter(|other| other.cell != cell) {
            other.omega *= NEIGHBOURS_BESIDE_OPPOSITE * (own.depth / other.depth).powi(2);
        }
    }
    fit_or_mean(&candidates, own.depth)
}

/// The linear fit where it is well conditioned, else the mean with the weights ω, whose L is positive.
fn fit_or_mean(candidates: &[Candidate], depth: f64) -> Row {
    let row = fitted(candidates, depth, |along| along);
    let size = row.cells.iter().fold(0.0, |sum, (_, weight)| sum + weight.abs());
    if size <= LARGEST_WEIGHTS && row.distance >= LEAST_DISTANCE * depth {
        return row;
    }
    fitted(candidates, depth, |_| [0.0; 3])
}

/// The value of the fit at the normal, with positions along the face as `position` gives them.
fn fitted(candidates: &[Candidate], depth: f64, position: impl Fn([f64; 3]) -> [f64; 3]) -> Row {
    let places: Vec<[f64; 4]> = candidates
        .iter()
        .map(|Candidate { along, omega, .. }| {
            let [x, y, z] = position(*along).map(|x| x / depth);
            let root = omega.sqrt() / depth;
            [root, root * x, root * y, root * z]
        })
        .collect();
    let weight = |k: usize| {
        let unit = |(i, place): (usize, &[f64; 4])| (*place, [if i == k { place[0] } else { 0.0 }]);
        let rows: Vec<([f64; 4], [f64; 1])> = places.iter().enumerate().map(unit).collect();
        least_squares(&rows)[0][0]
    };
    let weights: Vec<f64> = (0..candidates.len()).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    let cells: Vec<(u32, f64)> =
        candidates.iter().zip(weights).map(|(of, weight)| (of.cell, weight / sum)).collect();
    let distance = candidates.iter().zip(&cells).map(|(of, (_, weight))| weight * of.depth).sum();
    Row { cells, distance }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::incompressible::tests::box_mesh;
    use crate::mesh::generate::Element;
    use crate::mesh::testing::{built, gmsh};

    /// A linear velocity has its value on the normal at the distance L inside.
    fn check((mesh, geometry): &(Mesh, Geometry), patch: &str) -> Vec<usize> {
        let patch = mesh.patches.iter().find(|of| of.name == patch).unwrap();
        let faces: Vec<u32> = patch.faces.clone().map(|face| face as u32).collect();
        let stencils = OutflowStencils::new(mesh, geometry, &faces);
        let u = |x: [f64; 3]| 0.3 + dot([1.1, -0.7, 0.4], x);
        let rows = stencils.offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize);
        let check_row = |(i, row): (usize, std::ops::Range<usize>)| {
            let weights = &stencils.weights[row.clone()];
            let centre = |k: usize| geometry.cell_centre_of(stencils.cells[k] as usize);
            let value: f64 = row.clone().zip(weights).map(|(k, w)| w * u(centre(k))).sum();
            let (n, distance) = (normal(geometry, faces[i]), stencils.distances[i]);
            let face = geometry.face_centre_of(faces[i] as usize);
            let want = u([0, 1, 2].map(|k| face[k] - distance * n[k]));
            assert!((value - want).abs() < 1e-8, "face {i}: {value} {want}");
            let size = weights.iter().fold(0.0, |sum, w| sum + w.abs());
            assert!(distance > 0.0 && size <= LARGEST_WEIGHTS, "face {i}: {distance} {size}");
            row.len()
        };
        rows.enumerate().map(check_row).collect()
    }

    /// A fit through cells to one side of the normal would extrapolate to a point outside.
    #[test]
    fn cells_to_one_side_have_a_mean() {
        let candidate = |cell, depth: f64, t: f64, omega: f64| Candidate {
            cell,
            depth,
            along: [t, 0.0, 0.0],
            omega,
        };
        let beside = [candidate(0, 0.3, 1.0, 1.0), candidate(1, 1.0, 2.0, 1.0)];
        assert!(fitted(&beside, 0.3, |along| along).distance < 0.0);
        let row = fit_or_mean(&beside, 0.3);
        assert!((row.distance - 0.65).abs() < 1e-6, "{}", row.distance);
        assert!(row.cells.iter().all(|(_, weight)| (weight - 0.5).abs() < 1e-6));
    }

    #[test]
    fn stencils_are_exact_for_linear_velocities() {
        for (name, patch) in
            [("pipe_medium", "outlet"), ("tee", "outlet"), ("triangles_medium", "xmax")]
        {
            assert!(check(&built(gmsh(name)), patch).iter().all(|cells| *cells > 3), "{name}");
        }
        for (element, dimension) in [(Element::Quadrilateral, 2), (Element::Hexahedron, 3)] {
            let alone = check(&box_mesh(element, dimension, 4, 0.0), "xmax");
            assert!(alone.iter().all(|cells| *cells == 1), "{element:?}");
            check(&box_mesh(element, dimension, 4, 0.1), "xmax");
        }
        check(&box_mesh(Element::Prism, 3, 4, 0.1), "xmax");
    }
}
