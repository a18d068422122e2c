//! The division of cells into simplices, alike on both sides of every face.

use crate::complex::NONE;
use karman_mesh::{CellShape, Mesh};

/// The simplex of a dimension, and the word for several of them.
pub(crate) fn simplex_of(dimension: usize) -> (CellShape, &'static str) {
    match dimension {
        2 => (CellShape::Triangle, "triangles"),
        _ => (CellShape::Tetrahedron, "tetrahedra"),
    }
}

/// The simplices of all cells and the cell of each; a triangle has its first corner again as the last. The lowest node of a cell is joined to the
/// triangles of the faces without it, and the lowest node of a quadrilateral to both of its triangles.
pub(crate) fn split_cells(mesh: &Mesh) -> (Vec<[u32; 4]>, Vec<u32>) {
    let (mut simplices, mut owners) = (vec![], vec![]);
    for cell in 0..mesh.n_cells() {
        let nodes = mesh.cells.nodes_of(cell);
        if mesh.dimension == 2 {
            simplices.extend(fan(nodes).map(|[a, b, c]| [a, b, c, a]));
            owners.resize(simplices.len(), cell as u32);
            continue;
        }
        let Some(&apex) = nodes.iter().min() else { continue };
        for face in mesh.cells.shapes[cell].faces() {
            let face: Vec<u32> = face.iter().map(|local| nodes[*local as usize]).collect();
            if !face.contains(&apex) {
                // Faces turn outwards: the apex is behind them.
                simplices.extend(fan(&face).map(|[a, b, c]| [a, c, b, apex]));
            }
        }
        owners.resize(simplices.len(), cell as u32);
    }
    (simplices, owners)
}

/// The triangles of a polygon around its lowest node, in its orientation.
fn fan(polygon: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    let n = polygon.len();
    let lowest = (0..n).min_by_key(|&corner| polygon[corner]).unwrap_or(0);
    let at = move |step: usize| polygon[(lowest + step) % n];
    (1..n.max(2) - 1).map(move |step| [at(0), at(step), at(step + 1)])
}

/// The simplex behind the facet opposite to each corner, [`NONE`] at the boundary.
pub(crate) fn behind_facets(dimension: usize, simplices: &[[u32; 4]]) -> Vec<[u32; 4]> {
    let mut behind = vec![[NONE; 4]; simplices.len()];
    let mut facets = Vec::with_capacity((dimension + 1) * simplices.len());
    for (simplex, corners) in simplices.iter().enumerate() {
        for apex in 0..=dimension {
            let mut facet = [NONE; 3];
            let others = (0..=dimension).filter(|&corner| corner != apex);
            facet.iter_mut().zip(others).for_each(|(node, corner)| *node = corners[corner]);
            facet.sort_unstable();
            facets.push((facet, simplex as u32, apex));
        }
    }
    facets.sort_unstable();
    for pair in facets.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let [(_, first, p), (_, second, q)] = [pair[0], pair[1]];
        behind[first as usize][p] = second;
        behind[second as usize][q] = first;
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oriented_measure;
    use karman_mesh::geometry::cell_measure;
    use karman_mesh::testing::gmsh;
    use karman_mesh::{Mesh, MeshOptions};

    #[test]
    fn simplices_fill_the_cells_and_meet_across_faces() {
        for name in ["cube_prism_coarse", "cube_hexahedron_coarse", "quadrilaterals_coarse", "tee"]
        {
            let mesh = Mesh::new(gmsh(name), &MeshOptions::default()).unwrap();
            let (simplices, owners) = split_cells(&mesh);
            assert_eq!(owners.len(), simplices.len());
            for (corners, &owner) in simplices.iter().zip(&owners) {
                let nodes = mesh.cells.nodes_of(owner as usize);
                assert!(corners.iter().all(|corner| nodes.contains(corner)), "{name}");
            }
            let factor = if mesh.dimension == 2 { 2.0 } else { 6.0 };
            let measure = |corners: &[u32; 4]| {
                let points = corners.map(|node| mesh.points[node as usize]);
                oriented_measure(mesh.dimension, &points) / factor
            };
            let total = simplices.iter().map(measure).inspect(|volume| {
                assert!(*volume > 0.0, "{name}: {volume}");
            });
            let total = total.fold(0.0, |sum, volume| sum + volume);
            let exact = (0..mesh.n_cells())
                .map(|c| cell_measure(mesh.cells.shapes[c], mesh.cells.nodes_of(c), &mesh.points).0)
                .fold(0.0, |sum, volume| sum + volume);
            assert!((total / exact - 1.0).abs() < 1e-9, "{name}: {total} {exact}");
            let behind = behind_facets(mesh.dimension, &simplices);
            let open = behind
                .iter()
                .map(|all| all[..=mesh.dimension].iter().filter(|other| **other == NONE).count());
            // Triangles of the boundary; in 2D its edges.
            let sides = |face: usize| match (mesh.dimension, mesh.face_to_nodes.of(face).len()) {
                (3, 4) => 2,
                _ => 1,
            };
            let boundary = mesh.n_interior_faces()..mesh.n_faces();
            assert_eq!(open.sum::<usize>(), boundary.map(sides).sum::<usize>(), "{name}");
        }
    }
}
