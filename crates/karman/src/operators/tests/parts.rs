//! Operators on a part with ghost cells agree with those on the whole mesh.

use super::{On, Sample, integers, jittered};
use crate::backend::group::{Group, ThreadGroup, run_ranks};
use crate::backend::testing::everywhere;
use crate::backend::{Backend, BackendError, Halo};
use crate::mesh::EdgeTopology;
use crate::mesh::partition::{Ranges, SubMesh, cut};
use crate::operators::Part;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Entries of a field of the whole mesh, `[components][n]`, at the entities of a part.
pub(crate) fn restricted(field: &[f64], entities: &[u32], components: usize) -> Vec<f64> {
    let n = field.len() / components;
    let component = |k: usize| entities.iter().map(move |&i| field[k * n + i as usize]);
    (0..components).flat_map(component).collect()
}

/// Edge values of the whole mesh at a part's edges, which run from the lower local node.
fn edge_values(whole: &Sample, part: &Sample, sub: &SubMesh, field: &[f64]) -> Vec<f64> {
    if whole.mesh.dimension == 2 {
        return restricted(field, &sub.global_node, 1);
    }
    let pairs = whole.edges.edge_to_nodes.iter().copied();
    let number: BTreeMap<[u32; 2], usize> = pairs.zip(0..).collect();
    let value = |local: &[u32; 2]| {
        let [a, b] = local.map(|node| sub.global_node[node as usize]);
        let sign = if a < b { 1.0 } else { -1.0 };
        sign * field[number[&[a.min(b), a.max(b)]]]
    };
    part.edges.edge_to_nodes.iter().map(value).collect()
}

#[test]
fn a_part_with_ghost_cells_has_the_values_of_the_whole_mesh_at_owned_entities() {
    let backends = everywhere();
    for whole in jittered(3) {
        let mesh = &whole.mesh;
        let middle = |c: usize| whole.geometry.cell_centre_of(c)[0] + 0.2 * (c % 3) as f64 > 0.6;
        let parts: Vec<u32> = (0..mesh.n_cells()).map(|c| u32::from(middle(c))).collect();
        let reference = On::<f64>::new(&backends[0], &whole);
        let (p, flux) = (integers(mesh.n_cells(), 1), integers(mesh.n_faces(), 2));
        let a = integers(whole.edges.n_edges, 3);
        for sub in cut(mesh, &parts) {
            let part = Sample {
                name: whole.name.clone(),
                geometry: sub.geometry(&whole.geometry),
                edges: EdgeTopology::new(&sub.mesh),
                mesh: sub.mesh.clone(),
            };
            let (cells, faces) = (&sub.global_cell, &sub.global_face);
            let n = sub.mesh.cell_count.owned;
            let owned_cells = &cells[..n];
            for backend in &backends {
                let on = On::<f64>::new(backend, &part);
                let name = format!("{}, part {}, {backend:?}", whole.name, sub.part);
                let found = on.gradient(&restricted(&p, cells, 1));
                let want = restricted(&reference.gradient(&p), faces, 1);
                assert_eq!(found, want, "gradient, {name}");
                let found = on.divergence(&restricted(&flux, faces, 1));
                let want = restricted(&reference.divergence(&flux), owned_cells, 1);
                assert_eq!(found, want, "divergence, {name}");
                let found = on.curl(&edge_values(&whole, &part, &sub, &a));
                let want = restricted(&reference.curl(&a), faces, 1);
                assert_eq!(found, want, "curl, {name}");
                let d = on.divergence(&found);
                assert_eq!(d, vec![0.0; n], "div curl, {name}");
            }
        }
    }
}

#[test]
fn parts_of_ranks_have_the_values_of_the_whole_mesh_and_fetch_those_of_ghosts() {
    let host = Backend::host(1).unwrap();
    for Sample { mesh, name, .. } in jittered(3) {
        let numbers = |n: usize| host.upload((0..n).map(|i| i as f64).collect());
        let (cells, faces) = (numbers(2 * mesh.n_cells()), numbers(mesh.n_faces()));
        let boundary = numbers(mesh.n_faces() - mesh.n_interior_faces());
        let ranges = Ranges::new(&mesh, 3, 1);
        run_ranks(&ThreadGroup::new(3), |group| -> Result<(), BackendError> {
            let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
            let own = ranges.cells(group.rank());
            let sub = ranges.extract(group.rank(), &[]);
            let owned = own.len();
            let ghosts = sub.global_cell[owned..].to_vec();
            let halo = Halo::new(Arc::new(group.clone()), &ranges.starts, ghosts)?;
            let part = Part::new(&backend, &sub, Arc::new(halo), own, &mesh);
            let numbers = |list: &[u32]| list.iter().map(|i| f64::from(*i)).collect::<Vec<_>>();
            let first = numbers(&sub.global_cell);
            let both = first.iter().map(|i| i + mesh.n_cells() as f64);
            let both: Vec<f64> = first.iter().copied().chain(both).collect();
            let mut found = part.of_cells(&cells);
            assert_eq!(backend.read(&found)?, both, "{name}");
            let stride = part.cells.n_local();
            assert_eq!((stride, part.cells.n_total()), (first.len(), mesh.n_cells()));
            assert_eq!(backend.read(&part.of_faces(&faces))?, numbers(&sub.global_face));
            let outer: Vec<u32> = part.boundary_faces().collect();
            assert_eq!(backend.read(&part.of_boundary(&boundary))?, numbers(&outer));
            let faces = 0..mesh.n_faces() as u32;
            let locals: Vec<u32> = faces.filter_map(|face| part.face(face)).collect();
            assert_eq!(locals.len(), sub.global_face.len());
            let mut numbered = (0u32..).zip(&sub.global_face);
            assert!(numbered.all(|(local, face)| part.face(*face) == Some(local)));
            assert_eq!((part.n_faces(), part.n_boundary()), (sub.global_face.len(), outer.len()));
            let number = f64::from(group.rank() as u32);
            assert_eq!(part.largest_of_ranks(number)?, 2.0);
            assert!(part.any_rank(number == 1.0)? && !part.any_rank(false)?);
            // Ghosts after a change of own values.
            let mut changed = backend.read(&found)?;
            for component in changed.chunks_mut(stride) {
                component[..owned].iter_mut().for_each(|value| *value += 0.5);
            }
            backend.write(&mut found, &changed);
            part.cells.fetch(&mut [&mut found]);
            let want: Vec<f64> = both.iter().map(|value| value + 0.5).collect();
            assert_eq!(backend.read(&found)?, want);
            Ok(())
        })
        .unwrap();
    }
}
