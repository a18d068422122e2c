//! Partition of the graph of cells by METIS, and a mesh whose cells are in the order of its parts.
//!
//! The edges of the graph are the interior faces, periodic ones too; all cells have equal weight. METIS minimizes the number of edges
//! between parts (Karypis & Kumar 1998, doi:10.1137/S1064827595287997).

use super::Mesh;
use super::adjacency::Adjacency;
use super::permutation::Permutation;
use metis::Graph;
use metis::option::{NIter, Seed, UFactor};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// METIS draws random numbers from one sequence of the process and handles signals while it runs: two calls at a time would disturb
/// each other.
static METIS: Mutex<()> = Mutex::new(());

/// The begin of the sequence of random numbers.
const SEED: i32 = 1;

/// Largest number of cells of a part over the mean, minus 1, in thousandths.
const IMBALANCE: i32 = 30;

/// As METIS takes it for bisection: of u it allows a bisection into p parts (1 + u)^(1 / ln p), so that one part may have the mean times
/// (1 + u)^1.9, where p = 5.
const IMBALANCE_OF_BISECTION: i32 = 15;

/// Passes of refinement of each level; METIS has 10 by default.
const REFINEMENTS: i32 = 20;

/// Most parts that recursive bisection makes; more are made by k-way partitioning.
const MOST_BISECTED: usize = 8;

/// Why the graph of a mesh has no partition.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PartitionError {
    /// Less than two cells a part, of which METIS leaves parts empty.
    #[error("METIS needs two cells a part, the mesh has {cells} cells for {parts} parts")]
    TooFew {
        /// Number of parts.
        parts: usize,
        /// Number of cells.
        cells: usize,
    },
    /// METIS failed.
    #[error("METIS failed: {0}")]
    Failed(String),
}

/// The part of each vertex of a symmetric graph, `[n]`, from 0 in the order of their first vertices: `parts` parts of about equal
/// numbers of vertices with few edges between them. No part is empty. Equal graphs have equal parts.
///
/// # Errors
/// [`PartitionError`].
pub fn metis_parts(graph: &Adjacency, parts: usize) -> Result<Vec<u32>, PartitionError> {
    let n = graph.len();
    if parts <= 1 {
        return Ok(vec![0; n]);
    }
    // METIS writes a message where it is to bisect a graph without vertices.
    if n < 2 * parts {
        return Err(PartitionError::TooFew { parts, cells: n });
    }
    // Numbers of a mesh have at most 31 bits.
    let [offsets, items] = [&graph.offsets, &graph.items]
        .map(|list| list.iter().map(|&item| item as i32).collect::<Vec<i32>>());
    let mut part = vec![0; n];
    {
        let _alone = METIS.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error: &dyn std::fmt::Display| PartitionError::Failed(error.to_string());
        let graph = Graph::new(1, parts as i32, &offsets, &items)
            .map_err(|error| failed(&error))?
            .set_option(Seed(SEED))
            .set_option(NIter(REFINEMENTS));
        let result = match parts <= MOST_BISECTED {
            true => graph.set_option(UFactor(IMBALANCE_OF_BISECTION)).part_recursive(&mut part),
            false => graph.set_option(UFactor(IMBALANCE)).part_kway(&mut part),
        };
        result.map_err(|error| failed(&error))?;
    }
    numbered_by_first(&part, parts)
}

/// Parts numbered in the order of their first vertices.
///
/// # Errors
/// [`PartitionError::Failed`] where one is empty.
fn numbered_by_first(part: &[i32], parts: usize) -> Result<Vec<u32>, PartitionError> {
    let mut number = vec![None; parts];
    let mut known = 0;
    let mut numbered = Vec::with_capacity(part.len());
    for part in part {
        numbered.push(*number[*part as usize].get_or_insert_with(|| {
            known += 1;
            known - 1
        }));
    }
    match number.iter().position(Option::is_none) {
        None => Ok(numbered),
        Some(empty) => Err(PartitionError::Failed(format!("part {empty} is empty"))),
    }
}

impl Mesh {
    /// The mesh with its cells ordered by `parts`, the part of each cell, and within a part as they are here; `part_starts` then has the
    /// first cell of each part.
    pub fn in_parts(&self, parts: &[u32]) -> (Mesh, Permutation) {
        let mut order: Vec<u32> = (0..self.n_cells() as u32).collect();
        order.sort_by_key(|cell| parts[*cell as usize]);
        let (mut mesh, permutation) = self.permuted(&order);
        let count = parts.iter().max().map_or(0, |last| last + 1);
        let first = |part: u32| order.partition_point(|cell| parts[*cell as usize] < part);
        mesh.part_starts = (0..=count).map(first).collect();
        (mesh, permutation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{BoxParams, Element};
    use crate::testing::{gmsh, with_halved_edges};
    use crate::{MeshOptions, index_of};

    fn cut_faces(mesh: &Mesh, parts: &[u32]) -> usize {
        let sides = mesh.face_right.iter().zip(&mesh.face_left);
        sides.filter(|(right, left)| parts[**right as usize] != parts[**left as usize]).count()
    }

    fn meshes() -> Vec<(String, Mesh)> {
        let mut meshes = vec![];
        for name in ["cube_tetrahedron_medium", "airfoil", "cube_prism_coarse", "two_boxes"] {
            let raw = with_halved_edges_of_simplices(name);
            meshes.push((name.to_owned(), Mesh::new(raw, &MeshOptions::default()).unwrap()));
        }
        let params = BoxParams {
            size: vec![1.0, 1.0, 3.0],
            cells: vec![8, 8, 24],
            element: Some(Element::Mixed),
            jitter: 0.2,
            ..BoxParams::default()
        };
        let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
        meshes.push(("box".to_owned(), mesh));
        meshes
    }

    fn with_halved_edges_of_simplices(name: &str) -> crate::RawMesh {
        let raw = gmsh(name);
        if name.contains("tetrahedron") { with_halved_edges(&raw) } else { raw }
    }

    #[test]
    fn parts_are_balanced_deterministic_and_cut_fewer_faces_than_ranges() {
        for (name, mesh) in meshes() {
            let graph = mesh.cell_to_cells();
            for count in [2, 3, 4, 8, 11] {
                let parts = metis_parts(&graph, count).unwrap();
                assert_eq!(parts, metis_parts(&graph, count).unwrap(), "{name}");
                let mut sizes = vec![0; count];
                parts.iter().for_each(|part| sizes[*part as usize] += 1);
                let largest = *sizes.iter().max().unwrap() as f64;
                let mean = mesh.n_cells() as f64 / count as f64;
                // One cell more where 3 % are less than one.
                assert!(largest <= (1.03 * mean).max(mean + 2.0), "{name}, {count}: {sizes:?}");
                assert!(sizes.iter().all(|size| *size > 0), "{name}, {count}: {sizes:?}");
                let range_of = |cell: usize| (cell * count / mesh.n_cells()) as u32;
                let ranges: Vec<u32> = (0..mesh.n_cells()).map(range_of).collect();
                let cut = [&parts, &ranges].map(|parts| cut_faces(&mesh, parts));
                let is_fewer = cut[0] < cut[1] || cut[0] == cut[1] && mesh.n_cells() < 200;
                assert!(is_fewer, "{name}, {count} parts: {cut:?}");
            }
        }
    }

    #[test]
    fn periodic_faces_are_edges_of_the_graph() {
        // A ring of squares: two cuts, wherever they are, where a strip has one.
        let params =
            BoxParams { size: vec![40.0, 1.0], cells: vec![40, 1], ..BoxParams::default() };
        let strip = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
        let ring = strip.clone().connect_periodic(&[["xmin", "xmax"]]).unwrap();
        let cut = |mesh: &Mesh| cut_faces(mesh, &metis_parts(&mesh.cell_to_cells(), 2).unwrap());
        assert_eq!([cut(&strip), cut(&ring)], [1, 2]);
    }

    #[test]
    fn cells_of_a_part_are_consecutive_and_keep_their_order() {
        for (name, mesh) in meshes() {
            let parts = metis_parts(&mesh.cell_to_cells(), 4).unwrap();
            let (ordered, permutation) = mesh.in_parts(&parts);
            assert_eq!(ordered.part_starts.len(), 5, "{name}");
            assert_eq!(ordered.part_starts[4], mesh.n_cells());
            for (part, range) in ordered.part_starts.windows(2).enumerate() {
                let cells = &permutation.cells[range[0]..range[1]];
                assert!(cells.is_sorted(), "{name}");
                assert!(cells.iter().all(|cell| parts[*cell as usize] == part as u32), "{name}");
            }
            for (new, old) in permutation.faces.iter().enumerate() {
                assert_eq!(ordered.patch_of(new), mesh.patch_of(index_of(*old)), "{name}");
            }
        }
    }

    #[test]
    fn too_many_parts_are_refused() {
        let (_, mesh) = meshes().pop().unwrap();
        let cells = mesh.n_cells();
        let refused = metis_parts(&mesh.cell_to_cells(), cells).unwrap_err().to_string();
        let want = "METIS needs two cells a part, the mesh has ";
        assert_eq!(refused, format!("{want}{cells} cells for {cells} parts"));
        assert_eq!(metis_parts(&mesh.cell_to_cells(), 1).unwrap(), vec![0; cells]);
        assert_eq!(numbered_by_first(&[2, 0, 2, 1], 3).unwrap(), [0, 1, 0, 2]);
        let refused = numbered_by_first(&[0, 2], 3).unwrap_err().to_string();
        assert_eq!(refused, "METIS failed: part 1 is empty");
    }
}
