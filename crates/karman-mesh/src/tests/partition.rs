//! Results on the parts of a mesh equal those on the whole.
use super::*;
use crate::partition::{Exchange, Ranges, SubMesh, cut};
use crate::{index_of, sign_of};

/// Parts that meet along a jagged surface: by x, with a third in a corner.
fn parts(mesh: &Mesh, geometry: &Geometry) -> Vec<u32> {
    (0..mesh.n_cells())
        .map(|cell| {
            let [x, y, _] = geometry.cell_centre_of(cell);
            if x < 0.7 { 0 } else { 1 + u32::from(y > 0.4) }
        })
        .collect()
}

fn samples_in_parts() -> Vec<(String, Mesh, Geometry, Vec<SubMesh>)> {
    samples(0.2)
        .into_iter()
        .map(|(name, raw)| {
            let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
            let geometry = Geometry::new(&mesh).unwrap();
            let subs = cut(&mesh, &parts(&mesh, &geometry));
            assert_eq!(subs.len(), 3);
            (name, mesh, geometry, subs)
        })
        .collect()
}

#[test]
fn every_entity_is_owned_once() {
    for (name, mesh, _, subs) in samples_in_parts() {
        let owned = |n: usize, list: &dyn Fn(&SubMesh) -> Vec<u32>| {
            let mut all: Vec<u32> = subs.iter().flat_map(list).collect();
            all.sort_unstable();
            assert!(all.iter().copied().eq(0..n as u32), "{name}");
        };
        owned(mesh.n_cells(), &|sub| sub.global_cell[..sub.mesh.cell_count.owned].to_vec());
        owned(mesh.n_nodes(), &|sub| sub.global_node[..sub.mesh.node_count.owned].to_vec());
        owned(mesh.n_faces(), &|sub| {
            let end = sub.mesh.n_interior_faces();
            let ghosts = end - sub.mesh.face_count.ghost..end;
            let faces = (0..sub.mesh.n_faces()).filter(|face| !ghosts.contains(face));
            faces.map(|face| sub.global_face[face]).collect()
        });
        for sub in &subs {
            assert_eq!(sub.mesh.cell_count.total(), sub.mesh.n_cells());
            assert_eq!(sub.mesh.face_count.total(), sub.mesh.n_faces());
            assert_eq!(sub.mesh.node_count.total(), sub.mesh.n_nodes());
            for (patch, whole) in sub.mesh.patches.iter().zip(&mesh.patches) {
                let inside = |face| whole.faces.contains(&(sub.global_face[face] as usize));
                assert!(patch.faces.clone().all(inside), "{name}");
            }
        }
    }
}

#[test]
fn geometry_of_a_part_equals_that_of_the_whole_to_the_last_bit() {
    for (name, _, geometry, subs) in samples_in_parts() {
        for sub in subs {
            assert_eq!(Geometry::new(&sub.mesh).unwrap(), sub.geometry(&geometry), "{name}");
        }
    }
}

/// Fills ghosts from their owners, as messages between processes would.
fn exchanged(fields: &mut [Vec<i64>], lists: &[&Exchange]) {
    let before = fields.to_vec();
    for (part, list) in lists.iter().enumerate() {
        for neighbour in *list {
            let other = lists[neighbour.part as usize];
            let back = other.iter().find(|back| back.part as usize == part).unwrap();
            assert_eq!(back.send.len(), neighbour.receive.len());
            for (&from, &to) in back.send.iter().zip(&neighbour.receive) {
                fields[part][to as usize] = before[neighbour.part as usize][from as usize];
            }
        }
    }
}

#[test]
fn exchanges_bring_every_ghost_its_owners_value() {
    let value = |global: u32| i64::from(global) * 31 + 7;
    for (name, _, _, subs) in samples_in_parts() {
        let check = |globals: &dyn Fn(&SubMesh) -> Vec<u32>,
                     owned: &dyn Fn(&SubMesh, usize) -> bool,
                     lists: Vec<&Exchange>| {
            let mut fields: Vec<Vec<i64>> = subs
                .iter()
                .map(|sub| {
                    let list = globals(sub).into_iter().enumerate();
                    list.map(|(i, g)| if owned(sub, i) { value(g) } else { -1 }).collect()
                })
                .collect();
            exchanged(&mut fields, &lists);
            for (sub, field) in subs.iter().zip(fields) {
                let expected: Vec<i64> = globals(sub).into_iter().map(value).collect();
                assert_eq!(field, expected, "{name}");
            }
        };
        check(
            &|sub| sub.global_cell.clone(),
            &|sub, i| i < sub.mesh.cell_count.owned,
            subs.iter().map(|sub| &sub.cells).collect(),
        );
        check(
            &|sub| sub.global_node.clone(),
            &|sub, i| i < sub.mesh.node_count.owned,
            subs.iter().map(|sub| &sub.nodes).collect(),
        );
        check(
            &|sub| sub.global_face.clone(),
            &|sub, i| {
                let end = sub.mesh.n_interior_faces();
                i < end - sub.mesh.face_count.ghost || i >= end
            },
            subs.iter().map(|sub| &sub.faces).collect(),
        );
    }
}

#[test]
fn divergence_of_gradient_on_parts_equals_the_wholes_in_integers() {
    let value = |global: u32| (i64::from(global) * 7919) % 1001;
    let laplacian = |mesh: &Mesh, field: &[i64], cell: usize| -> i64 {
        let flux = |face: usize| {
            let left = field[mesh.face_left[face] as usize];
            mesh.face_right.get(face).map_or(0, |&right| field[right as usize]) - left
        };
        let row = mesh.cell_to_faces.of(cell).iter();
        row.map(|&item| i64::from(sign_of(item)) * flux(index_of(item))).sum()
    };
    for (name, mesh, _, subs) in samples_in_parts() {
        let whole: Vec<i64> = (0..mesh.n_cells() as u32).map(value).collect();
        for sub in subs {
            let field: Vec<i64> = sub.global_cell.iter().map(|&cell| value(cell)).collect();
            for cell in 0..sub.mesh.cell_count.owned {
                let expected = laplacian(&mesh, &whole, sub.global_cell[cell] as usize);
                assert_eq!(laplacian(&sub.mesh, &field, cell), expected, "{name}");
            }
        }
    }
}

#[test]
fn one_part_is_the_whole_and_has_no_neighbour() {
    let (_, raw) = samples(0.1).swap_remove(3);
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let subs = cut(&mesh, &vec![0; mesh.n_cells()]);
    assert_eq!(subs[0].mesh, mesh);
    assert!(subs[0].cells.is_empty() && subs[0].faces.is_empty() && subs[0].nodes.is_empty());
}

#[test]
fn a_part_keeps_the_order_of_the_faces_of_its_cells() {
    for (name, mesh, _, subs) in samples_in_parts() {
        for sub in subs {
            for cell in 0..sub.mesh.cell_count.owned {
                let row = sub.mesh.cell_to_faces.of(cell).iter();
                let globals = row.map(|&item| sub.global_face[index_of(item)] as usize);
                let whole = mesh.cell_to_faces.of(sub.global_cell[cell] as usize).iter();
                assert!(globals.eq(whole.map(|&item| index_of(item))), "{name}");
            }
        }
    }
}

#[test]
fn ranges_are_whole_chunks_or_equally_many_cells() {
    let (_, raw) = samples(0.1).swap_remove(3);
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let n = mesh.n_cells();
    for (parts, chunk) in [(1, 16), (2, 16), (3, 16), (7, 16), (3, n), (4, 10 * n)] {
        let ranges = Ranges::new(&mesh, parts, chunk);
        assert_eq!((ranges.starts[0], ranges.starts[parts]), (0, n));
        let lengths: Vec<usize> = (0..parts).map(|part| ranges.cells(part).len()).collect();
        let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
        let is_large = n.div_ceil(chunk) >= parts;
        assert!(*least > 0 && most - least <= if is_large { 2 * chunk } else { 1 });
        assert_eq!(ranges.are_of_chunks(chunk), is_large);
    }
    assert!(!Ranges::new(&mesh, 3, n).are_of_chunks(n));
}

#[test]
fn a_range_has_the_ghosts_of_its_faces_and_the_further_ones() {
    for (name, raw) in samples(0.2) {
        let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
        let ranges = Ranges::new(&mesh, 3, 16);
        let parts: Vec<u32> =
            (0..3).flat_map(|part| vec![part as u32; ranges.cells(part).len()]).collect();
        for (part, want) in cut(&mesh, &parts).into_iter().enumerate() {
            let with_nodes = ranges.extract_with_layer(part, &[], &[]);
            assert_eq!(with_nodes.mesh, want.mesh, "{name}");
            let found = ranges.extract(part, &[]);
            assert_eq!((found.mesh.n_nodes(), found.global_node.len()), (0, 0), "{name}");
            let connectivity = |sub: &SubMesh| {
                let Mesh { face_left, face_right, cell_to_faces, patches, .. } = &sub.mesh;
                let faces = (face_left.clone(), face_right.clone(), cell_to_faces.clone());
                (faces, patches.clone(), sub.global_cell.clone(), sub.global_face.clone())
            };
            assert_eq!(connectivity(&found), connectivity(&want), "{name}");
            assert_eq!(found.mesh.cells.shapes, want.mesh.cells.shapes, "{name}");
            // All other cells: ghosts without faces where they are not adjacent.
            let own = ranges.cells(part);
            let others: Vec<u32> =
                (0..mesh.n_cells() as u32).filter(|c| !own.contains(&(*c as usize))).collect();
            let more = ranges.extract(part, &others);
            assert_eq!(more.global_face, want.global_face, "{name}");
            assert_eq!(more.global_cell[own.len()..], others[..], "{name}");
        }
    }
}
