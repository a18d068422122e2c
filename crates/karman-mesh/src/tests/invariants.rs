//! Closure, volumes, moments, incidence in integers, numberings and their inverses.
use super::*;
use crate::reorder::gathered_lines;
use crate::{EdgeTopology, SIGN_BIT, index_of, sign_of};
use proptest::prelude::*;

/// A tolerance for sums of n terms of the given size.
fn round_off(n: usize, scale: f64) -> f64 {
    16.0 * f64::EPSILON * (n as f64) * scale
}

fn meshes(jitter: f64, renumber: Renumbering) -> Vec<(String, Mesh, Geometry)> {
    let build = |(name, raw): (String, RawMesh)| {
        let mesh = Mesh::new(raw, &options(renumber)).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        (format!("{name}, {renumber:?}"), mesh, geometry)
    };
    samples(jitter).into_iter().map(build).collect()
}

const ALL: [Renumbering; 3] = [Renumbering::None, Renumbering::Rcm, Renumbering::Hilbert];

#[test]
fn cells_close_and_volumes_sum() {
    for (name, mesh, geometry) in ALL.into_iter().flat_map(|method| meshes(0.2, method)) {
        let total: f64 = geometry.cell_volume.iter().sum();
        let expected = if mesh.dimension == 2 { 2.0 } else { 3.0 };
        assert!((total - expected).abs() < round_off(mesh.n_cells(), 1.0), "{name}");
        for cell in 0..mesh.n_cells() {
            let (defect, allowed) = geometry.closure(&mesh, cell);
            assert!(defect <= allowed, "{name} {cell}: {defect}");
        }
    }
}

#[test]
fn faces_are_ordered_owned_and_oriented() {
    for (name, mesh, geometry) in ALL.into_iter().flat_map(|method| meshes(0.2, method)) {
        let interior = mesh.n_interior_faces();
        let pairs: Vec<(u32, u32)> = mesh.face_left[..interior]
            .iter()
            .zip(&mesh.face_right)
            .map(|(&left, &right)| (left, right))
            .collect();
        assert!(pairs.iter().all(|(left, right)| left < right), "{name}");
        assert!(pairs.is_sorted(), "{name}");
        let mut next = interior;
        for patch in &mesh.patches {
            assert_eq!(patch.faces.start, next, "{name}");
            assert!(mesh.face_left[patch.faces.clone()].is_sorted(), "{name}");
            next = patch.faces.end;
        }
        assert_eq!(next, mesh.n_faces(), "{name}");
        for face in 0..mesh.n_faces() {
            let centre = geometry.face_centre_of(face);
            let outward: f64 = (0..3)
                .map(|k| {
                    let from = geometry.cell_centre_of(mesh.face_left[face] as usize)[k];
                    (centre[k] - from) * geometry.area_vector_of(face)[k]
                })
                .sum();
            assert!(outward > 0.0, "{name} face {face}");
        }
        for cell in 0..mesh.n_cells() {
            let row = mesh.cell_to_faces.of(cell);
            assert_eq!(row.len(), mesh.cells.shapes[cell].face_count());
            assert!(row.is_sorted_by_key(|&item| index_of(item)), "{name}");
            for &item in row {
                let face = index_of(item);
                let owner =
                    if item & SIGN_BIT == 0 { mesh.face_left[face] } else { mesh.face_right[face] };
                assert_eq!(owner as usize, cell, "{name}");
            }
        }
    }
}

/// Σ ∫ x ⊗ n dA = V I from the triangles of the faces, warped ones included; x from the cell's
/// centre.
#[test]
fn moments_of_the_faces_triangles_give_the_volume() {
    for (name, mesh, geometry) in meshes(0.2, Renumbering::Auto) {
        for cell in 0..mesh.n_cells() {
            let origin = geometry.cell_centre_of(cell);
            let mut tensor = [[0.0; 3]; 3];
            for &item in mesh.cell_to_faces.of(cell) {
                let nodes = mesh.face_to_nodes.of(index_of(item));
                for (area, place) in face_triangles(nodes, &mesh.points) {
                    for i in 0..3 {
                        for j in 0..3 {
                            let sign = f64::from(sign_of(item));
                            tensor[i][j] += sign * (place[i] - origin[i]) * area[j];
                        }
                    }
                }
            }
            let volume = geometry.cell_volume[cell];
            assert_volume_times_identity(tensor, volume, mesh.dimension, &name);
        }
    }
}

fn assert_volume_times_identity(tensor: [[f64; 3]; 3], volume: f64, dimension: usize, name: &str) {
    for (i, row) in tensor.iter().enumerate().take(dimension) {
        for (j, &value) in row.iter().enumerate().take(dimension) {
            let expected = if i == j { volume } else { 0.0 };
            // Coordinates near 5 have errors of 5 ε, cells are 0.1 wide.
            assert!((value - expected).abs() < 1e4 * f64::EPSILON * volume, "{name} {i} {j}");
        }
    }
}

/// Area vectors and centres of a face's triangles (its segment in 2D).
fn face_triangles(nodes: &[u32], points: &[[f64; 3]]) -> Vec<([f64; 3], [f64; 3])> {
    let p: Vec<[f64; 3]> = nodes.iter().map(|&node| points[node as usize]).collect();
    let triangle = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
        let (u, v): ([f64; 3], [f64; 3]) =
            (std::array::from_fn(|k| b[k] - a[k]), std::array::from_fn(|k| c[k] - a[k]));
        let area = std::array::from_fn(|k| {
            let (l, m) = ((k + 1) % 3, (k + 2) % 3);
            0.5 * (u[l] * v[m] - u[m] * v[l])
        });
        (area, std::array::from_fn(|k| (a[k] + b[k] + c[k]) / 3.0))
    };
    match p.len() {
        2 => {
            let normal = [p[1][1] - p[0][1], p[0][0] - p[1][0], 0.0];
            vec![(normal, std::array::from_fn(|k| 0.5 * (p[0][k] + p[1][k])))]
        }
        3 => vec![triangle(p[0], p[1], p[2])],
        _ => {
            let middle = std::array::from_fn(|k| 0.25 * (p[0][k] + p[1][k] + p[2][k] + p[3][k]));
            (0..4).map(|i| triangle(middle, p[i], p[(i + 1) % 4])).collect()
        }
    }
}

/// Σ x_f ⊗ S_f = V I for planar faces: simplices with any jitter, other shapes without.
#[test]
fn face_centres_times_area_vectors_give_the_volume_on_planar_faces() {
    let simplices = |mesh: &Mesh| {
        mesh.dimension == 2 || mesh.cells.shapes.iter().all(|&s| s == CellShape::Tetrahedron)
    };
    let planar = meshes(0.0, Renumbering::Auto);
    let jittered = meshes(0.2, Renumbering::Auto);
    let jittered: Vec<_> = jittered.into_iter().filter(|(_, mesh, _)| simplices(mesh)).collect();
    assert_eq!((planar.len(), jittered.len()), (8, 4));
    for (name, mesh, geometry) in planar.into_iter().chain(jittered) {
        for cell in 0..mesh.n_cells() {
            let origin = geometry.cell_centre_of(cell);
            let mut tensor = [[0.0; 3]; 3];
            for &item in mesh.cell_to_faces.of(cell) {
                let area = geometry.area_vector_of(index_of(item));
                let centre = geometry.face_centre_of(index_of(item));
                for (i, row) in tensor.iter_mut().enumerate() {
                    let along = f64::from(sign_of(item)) * (centre[i] - origin[i]);
                    row.iter_mut().zip(area).for_each(|(value, area)| *value += along * area);
                }
            }
            let volume = geometry.cell_volume[cell];
            assert_volume_times_identity(tensor, volume, mesh.dimension, &name);
        }
    }
}

/// The centroid of every cell from tetrahedra between its first node and the triangles of its faces,
/// warped faces being divided about their mean points.
#[test]
fn centroids_follow_from_the_faces_triangles() {
    for (name, mesh, geometry) in meshes(0.2, Renumbering::Auto) {
        for cell in 0..mesh.n_cells() {
            let apex = mesh.points[mesh.cells.nodes_of(cell)[0] as usize];
            let weight = 1.0 / (mesh.dimension as f64 + 1.0);
            let (mut volume, mut moment) = (0.0, [0.0; 3]);
            for &item in mesh.cell_to_faces.of(cell) {
                let nodes = mesh.face_to_nodes.of(index_of(item));
                for (area, place) in face_triangles(nodes, &mesh.points) {
                    let height: f64 = (0..3).map(|k| (place[k] - apex[k]) * area[k]).sum();
                    let part = f64::from(sign_of(item)) * height / mesh.dimension as f64;
                    volume += part;
                    // A simplex's centroid lies between its apex and the middle of its base.
                    for k in 0..3 {
                        moment[k] += part * (1.0 - weight) * (place[k] - apex[k]);
                    }
                }
            }
            assert!((volume / geometry.cell_volume[cell] - 1.0).abs() < 1e-11, "{name}");
            for k in 0..3 {
                let centre = apex[k] + moment[k] / volume;
                assert!((centre - geometry.cell_centre_of(cell)[k]).abs() < 1e-12, "{name}");
            }
        }
    }
}

#[test]
fn divergence_of_curl_and_curl_of_gradient_vanish_in_integers() {
    for (name, mesh, _) in ALL.into_iter().flat_map(|method| meshes(0.2, method)) {
        let edges = EdgeTopology::new(&mesh);
        let whole = |i: usize| (i as i64 * 7919 + 13) % 1001 - 500;
        let circulation: Vec<i64> = (0..edges.n_edges).map(whole).collect();
        let curl = |values: &[i64], face: usize| -> i64 {
            let row = edges.face_to_edges.of(face).iter();
            row.map(|&item| i64::from(sign_of(item)) * values[index_of(item)]).sum()
        };
        let flux: Vec<i64> = (0..mesh.n_faces()).map(|face| curl(&circulation, face)).collect();
        assert!(flux.iter().any(|&value| value != 0));
        for cell in 0..mesh.n_cells() {
            let row = mesh.cell_to_faces.of(cell).iter();
            let sum: i64 = row.map(|&item| i64::from(sign_of(item)) * flux[index_of(item)]).sum();
            assert_eq!(sum, 0, "{name} cell {cell}");
        }
        let potential: Vec<i64> = (0..mesh.n_nodes()).map(whole).collect();
        let gradient: Vec<i64> = edges
            .edge_to_nodes
            .iter()
            .map(|&[from, to]| potential[to as usize] - potential[from as usize])
            .collect();
        if mesh.dimension == 3 {
            assert!((0..mesh.n_faces()).all(|face| curl(&gradient, face) == 0), "{name}");
            assert!(edges.edge_to_nodes.is_sorted());
            // Euler: nodes − edges + faces − cells = 1 for a ball.
            let count = mesh.n_nodes() + mesh.n_faces() - edges.n_edges - mesh.n_cells();
            assert_eq!(count, 1, "{name}");
        } else {
            assert_eq!(mesh.n_nodes() + mesh.n_cells() - mesh.n_faces(), 1, "{name}");
        }
        assert_eq!(edges.edge_to_faces.transpose(mesh.n_faces()).items.len(), {
            edges.face_to_edges.items.len()
        });
        let transposed = edges.node_to_edges(mesh.n_nodes());
        for node in 0..mesh.n_nodes() {
            for &item in transposed.of(node) {
                let end = usize::from(item & SIGN_BIT == 0);
                assert_eq!(edges.edge_to_nodes[index_of(item)][end] as usize, node);
            }
        }
    }
}

/// In 2D the flux through a→b of the curl of s along z is s_b − s_a, right-handed: u = (∂s/∂y,
/// −∂s/∂x).
#[test]
fn the_curl_in_two_dimensions_is_right_handed() {
    let (_, mesh, geometry) = meshes(0.2, Renumbering::Auto).swap_remove(0);
    let edges = EdgeTopology::new(&mesh);
    let (s_x, s_y) = (0.75, -2.0);
    for face in 0..mesh.n_faces() {
        let row = edges.face_to_edges.of(face).iter();
        let flux: f64 = row
            .map(|&item| {
                let [x, y, _] = mesh.points[index_of(item)];
                f64::from(sign_of(item)) * (s_x * x + s_y * y)
            })
            .sum();
        let [area_x, area_y, _] = geometry.area_vector_of(face);
        assert!((flux - (s_y * area_x - s_x * area_y)).abs() < 1e-14);
    }
}

#[test]
fn the_files_numbering_is_recovered() {
    for (name, raw) in samples(0.2) {
        for renumber in ALL {
            let mesh = Mesh::new(raw.clone(), &options(renumber)).unwrap();
            let back = mesh.to_raw();
            assert_eq!(back.points, raw.points, "{name}");
            assert_eq!(back.cells, raw.cells, "{name}");
            assert_eq!(back.patches, raw.patches, "{name}");
            let sorted = |elements: &Elements| {
                let mut list: Vec<(u32, Vec<u32>)> = (0..elements.len())
                    .map(|i| {
                        let mut nodes = elements.nodes_of(i).to_vec();
                        nodes.sort_unstable();
                        (elements.groups[i], nodes)
                    })
                    .collect();
                list.sort();
                list
            };
            assert_eq!(sorted(&back.boundary), sorted(&raw.boundary), "{name}");
            let mut cells = mesh.original_cell.clone();
            cells.sort_unstable();
            assert!(cells.iter().enumerate().all(|(i, &cell)| i as u32 == cell));
        }
    }
}

#[test]
fn scaling_scales_volumes_and_areas() {
    for (name, raw) in samples(0.2) {
        let plain = Geometry::new(&Mesh::new(raw.clone(), &MeshOptions::default()).unwrap());
        let half = MeshOptions { scale: 0.5, ..MeshOptions::default() };
        let dimension = raw.dimension as i32;
        let scaled = Geometry::new(&Mesh::new(raw, &half).unwrap()).unwrap();
        for (small, large) in scaled.cell_volume.iter().zip(&plain.unwrap().cell_volume) {
            assert_eq!(*small, large * 0.5f64.powi(dimension), "{name}");
        }
    }
}

#[test]
fn neighbours_and_cells_around_nodes_agree_with_the_faces() {
    for (name, mesh, _) in meshes(0.2, Renumbering::Auto) {
        let graph = mesh.cell_to_cells();
        assert_eq!(graph.items.len(), 2 * mesh.n_interior_faces(), "{name}");
        for face in 0..mesh.n_interior_faces() {
            let (left, right) = (mesh.face_left[face], mesh.face_right[face]);
            assert!(graph.of(left as usize).contains(&right), "{name}");
            assert!(graph.of(right as usize).contains(&left), "{name}");
        }
        let around = mesh.node_to_cells();
        for node in 0..mesh.n_nodes() {
            assert!(around.of(node).is_sorted());
            for &cell in around.of(node) {
                assert!(mesh.cells.nodes_of(cell as usize).contains(&(node as u32)), "{name}");
            }
        }
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    // Large enough for several chunks of cells and of nodes.
    let params = BoxParams { cells: vec![18, 17, 16], jitter: 0.1, ..BoxParams::default() };
    let raw = params.generate().unwrap();
    let mut results = Vec::new();
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        results.push(pool.install(|| {
            let mesh = Mesh::new(raw.clone(), &MeshOptions::default()).unwrap();
            let geometry = Geometry::new(&mesh).unwrap();
            let edges = EdgeTopology::new(&mesh);
            (mesh, geometry, edges)
        }));
    }
    assert!(results[0] == results[1] && results[0] == results[2]);
}

/// The mesh with cells, nodes and boundary elements in another order.
fn shuffled(raw: &RawMesh, cells: &[usize], nodes: &[usize]) -> RawMesh {
    let mut new_node = vec![0u32; nodes.len()];
    nodes.iter().enumerate().for_each(|(new, &old)| new_node[old] = new as u32);
    let renamed =
        |list: &[u32]| -> Vec<u32> { list.iter().map(|&node| new_node[node as usize]).collect() };
    let mut shuffled = RawMesh {
        points: nodes.iter().map(|&old| raw.points[old]).collect(),
        cells: Elements::new(),
        boundary: Elements::new(),
        ..raw.clone()
    };
    for &cell in cells {
        let nodes = renamed(raw.cells.nodes_of(cell));
        shuffled.cells.push(raw.cells.shapes[cell], &nodes, raw.cells.groups[cell]);
    }
    for element in (0..raw.boundary.len()).rev() {
        let nodes = renamed(raw.boundary.nodes_of(element));
        shuffled.boundary.push(raw.boundary.shapes[element], &nodes, raw.boundary.groups[element]);
    }
    shuffled
}

#[test]
fn renumbering_a_shuffled_mesh_brings_neighbours_together() {
    let raw = BoxParams { cells: vec![12; 3], ..BoxParams::default() }.generate().unwrap();
    let scattered = |n: usize| {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3);
        order
    };
    let mixed = shuffled(&raw, &scattered(raw.cells.len()), &scattered(raw.points.len()));
    let measures = |renumber| {
        let mesh = Mesh::new(mixed.clone(), &options(renumber)).unwrap();
        let distance = |face: usize| mesh.face_right[face] - mesh.face_left[face];
        let bandwidth = (0..mesh.n_interior_faces()).map(distance).max().unwrap();
        (gathered_lines(&mesh.cell_to_cells()), bandwidth)
    };
    let [(lines, band), (rcm_lines, rcm_band), (hilbert_lines, _)] = ALL.map(measures);
    // 10 368 cells: a slab of the box has about 12² · 6 of them.
    assert!(rcm_band < 1000 && band > 9000, "{rcm_band} {band}");
    assert!(lines > 4.0 * rcm_lines.max(hilbert_lines), "{lines} {rcm_lines} {hilbert_lines}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]
    #[test]
    fn a_shuffled_mesh_has_the_same_geometry(which in 0usize..8, seed in 0u64..1000) {
        let (_, raw) = samples(0.2).swap_remove(which);
        let order = |n: usize, seed: u64| {
            let mut keyed: Vec<(u64, usize)> = (0..n)
                .map(|i| ((i as u64 + 1).wrapping_mul(seed * 2 + 0x9e37_79b9_7f4a_7c15) >> 7, i))
                .collect();
            keyed.sort_unstable();
            keyed.into_iter().map(|(_, i)| i).collect::<Vec<_>>()
        };
        let mixed = shuffled(&raw, &order(raw.cells.len(), seed), &order(raw.points.len(), seed + 7));
        let totals = |raw: RawMesh, renumber| {
            let mesh = Mesh::new(raw, &options(renumber)).unwrap();
            let geometry = Geometry::new(&mesh).unwrap();
            let mut patches: Vec<f64> = mesh.patches.iter().map(|patch| {
                let areas = patch.faces.clone().map(|face| geometry.area_vector_of(face));
                areas.map(|s| (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt()).sum()
            }).collect();
            patches.push(geometry.cell_volume.iter().sum());
            (mesh.n_faces(), mesh.n_interior_faces(), EdgeTopology::new(&mesh).n_edges, patches)
        };
        let expected = totals(raw, Renumbering::None);
        for renumber in ALL {
            let found = totals(mixed.clone(), renumber);
            prop_assert_eq!((found.0, found.1, found.2), (expected.0, expected.1, expected.2));
            for (a, b) in found.3.iter().zip(&expected.3) {
                prop_assert!((a - b).abs() < 1e-13 * b);
            }
        }
    }
}
