//! Periodic pairs of patches on every element, and invalid pairs.

use super::*;
use crate::{SIGN_BIT, index_of, partition, sign_of};

const PAIRS: [[&str; 2]; 3] = [["xmin", "xmax"], ["ymax", "ymin"], ["zmin", "zmax"]];

/// The pairs of a box; those of a mixed 3D box match along y alone.
fn pairs(name: &str, dimension: usize) -> &'static [[&'static str; 2]] {
    if name == "Mixed in 3D" { &PAIRS[1..2] } else { &PAIRS[..dimension] }
}

fn periodic_mesh(raw: RawMesh, pairs: &[[&str; 2]], renumber: Renumbering) -> Mesh {
    Mesh::new(raw, &options(renumber)).unwrap().connect_periodic(pairs).unwrap()
}

#[test]
fn a_periodic_box_of_every_element_closes() {
    for (name, raw) in samples(0.2) {
        for renumber in [Renumbering::None, Renumbering::Rcm, Renumbering::Hilbert] {
            let before = Mesh::new(raw.clone(), &options(renumber)).unwrap();
            let dimension = before.dimension;
            let pairs = pairs(&name, dimension);
            let mesh = periodic_mesh(raw.clone(), pairs, renumber);
            assert_eq!(mesh.patches.len(), 2 * (dimension - pairs.len()), "{name}");
            assert!(mesh.warnings.is_empty(), "{name}");
            let outer = |mesh: &Mesh| mesh.n_faces() - mesh.n_interior_faces();
            let merged = (outer(&before) - outer(&mesh)) / 2;
            assert_eq!(mesh.n_interior_faces(), before.n_interior_faces() + merged, "{name}");
            assert_eq!(mesh.n_faces(), before.n_faces() - merged, "{name}");
            assert_eq!(mesh.points, before.points, "{name}");
            let cells = || mesh.face_left.iter().zip(&mesh.face_right);
            assert!(cells().is_sorted() && cells().all(|(l, r)| l < r), "{name}");
            let sizes = [1.0, -2.0, 1.5];
            for periodic in mesh.periodic_pairs.iter() {
                let k = PAIRS.iter().position(|pair| periodic.patches == *pair).unwrap();
                let moved = [0, 1, 2].map(|axis| if axis == k { sizes[k] } else { 0.0 });
                for (found, expected) in periodic.translation.iter().zip(moved) {
                    assert!((found - expected).abs() < 4e-15, "{name}: {:?}", periodic.translation);
                }
                for [a, b] in &periodic.nodes {
                    let (a, b) = (mesh.points[*a as usize], mesh.points[*b as usize]);
                    assert!((0..3).all(|k| (b[k] - a[k] - moved[k]).abs() < 4e-15), "{name}");
                }
            }
            let pairs = mesh.periodic_pairs.iter().flat_map(|pair| &pair.nodes);
            assert_eq!(mesh.periodic_nodes().count(), pairs.count(), "{name}");
            assert_moments(&mesh, &name);
        }
    }
}

/// Σ σ (x_f − x_c) S = V I, x_c with the periodic offset; to round-off on planar faces alone.
fn assert_moments(mesh: &Mesh, name: &str) {
    let geometry = Geometry::new(mesh).unwrap();
    for cell in 0..mesh.n_cells() {
        let row = mesh.cell_to_faces.of(cell);
        assert_eq!(row.len(), mesh.cells.shapes[cell].face_count(), "{name}");
        assert!(row.is_sorted_by_key(|&item| index_of(item)), "{name}");
        let (defect, allowed) = geometry.closure(mesh, cell);
        assert!(defect <= allowed, "{name} {cell}: {defect}");
        let mut trace = 0.0;
        for &item in row {
            let face = index_of(item);
            let (owner, centre) = if item & SIGN_BIT == 0 {
                (mesh.face_left[face], geometry.cell_centre_of(cell))
            } else {
                (mesh.face_right[face], geometry.right_centre_of(mesh, face))
            };
            assert_eq!(owner as usize, cell, "{name}");
            let (x, s) = (geometry.face_centre_of(face), geometry.area_vector_of(face));
            let moment: f64 = (0..3).map(|k| (x[k] - centre[k]) * s[k]).sum();
            let outward = f64::from(sign_of(item)) * moment;
            assert!(outward > 0.0, "{name} {cell}");
            trace += outward;
        }
        let volume = mesh.dimension as f64 * geometry.cell_volume[cell];
        // The centre of a warped face is off the plane of its area vector.
        assert!((trace - volume).abs() < 0.05 * volume, "{name} {cell}: {trace} {volume}");
        if mesh.dimension == 2 {
            assert!((trace - volume).abs() < 1e-12 * volume, "{name} {cell}: {trace} {volume}");
        }
    }
}

#[test]
fn one_pair_changes_neither_the_other_patches_nor_the_file() {
    for (name, raw) in samples(0.2) {
        let before = Mesh::new(raw.clone(), &options(Renumbering::None)).unwrap();
        let mesh = periodic_mesh(raw, &[["ymin", "ymax"]], Renumbering::None);
        assert_eq!(mesh.patches.len(), before.patches.len() - 2, "{name}");
        for patch in &mesh.patches {
            let old = before.patches.iter().find(|old| old.name == patch.name).unwrap();
            let nodes = |mesh: &Mesh, faces: std::ops::Range<usize>| -> Vec<Vec<u32>> {
                faces.map(|face| mesh.face_to_nodes.of(face).to_vec()).collect()
            };
            assert_eq!(
                nodes(&mesh, patch.faces.clone()),
                nodes(&before, old.faces.clone()),
                "{name}"
            );
        }
        let geometry = Geometry::new(&mesh).unwrap();
        for face in 0..mesh.n_faces() {
            assert_eq!(mesh.periodic_offset(face) != [0.0; 3], mesh.is_periodic(face), "{name}");
            if !mesh.is_periodic(face) {
                continue;
            }
            let right = geometry.right_centre_of(&mesh, face);
            let left = geometry.cell_centre_of(mesh.face_left[face] as usize);
            assert!((0..3).all(|k| (right[k] - left[k]).abs() < 0.9), "{name}: {left:?} {right:?}");
        }
        // Written and read again, the mesh has all its patches.
        let again = Mesh::new(mesh.to_raw(), &options(Renumbering::None)).unwrap();
        assert_eq!(again.n_interior_faces(), before.n_interior_faces(), "{name}");
        for patch in &before.patches {
            let found = again.patches.iter().find(|found| found.name == patch.name).unwrap();
            let cells = |mesh: &Mesh, faces: std::ops::Range<usize>| mesh.face_left[faces].to_vec();
            let (new, old) =
                (cells(&again, found.faces.clone()), cells(&before, patch.faces.clone()));
            assert_eq!(new, old, "{name} {}", patch.name);
        }
        let second = again.connect_periodic(&[["ymin", "ymax"]]).unwrap();
        assert_eq!(second.face_right, mesh.face_right, "{name}");
    }
}

#[test]
fn two_pairs_one_after_the_other_equal_two_at_once() {
    for (name, raw) in samples(0.0).into_iter().filter(|(name, _)| name != "Mixed in 3D") {
        let at_once = periodic_mesh(raw.clone(), &PAIRS[..2], Renumbering::Hilbert);
        let first = periodic_mesh(raw, &PAIRS[..1], Renumbering::Hilbert);
        assert_eq!(first.connect_periodic(&PAIRS[1..2]).unwrap(), at_once, "{name}");
    }
}

#[test]
fn a_part_has_the_periodic_offsets_of_the_whole() {
    for (name, raw) in samples(0.1) {
        let mesh = periodic_mesh(raw, pairs(&name, 2), Renumbering::Hilbert);
        let geometry = Geometry::new(&mesh).unwrap();
        let parts: Vec<u32> = (0..mesh.n_cells())
            .map(|cell| u32::from(geometry.cell_centre_of(cell)[0] > 0.8))
            .collect();
        for sub in partition::cut(&mesh, &parts) {
            let own = sub.geometry(&geometry);
            for face in 0..sub.mesh.n_interior_faces() {
                let global = sub.global_face[face] as usize;
                assert_eq!(sub.mesh.periodic_offset(face), mesh.periodic_offset(global), "{name}");
                let (here, there) =
                    (own.right_centre_of(&sub.mesh, face), geometry.right_centre_of(&mesh, global));
                assert_eq!(here, there, "{name}");
            }
            for (pair, whole) in sub.mesh.periodic_pairs.iter().zip(mesh.periodic_pairs.iter()) {
                let all: Vec<(usize, Vec<u32>)> = whole.images(&mesh).collect();
                for (face, nodes) in pair.images(&sub.mesh) {
                    let global = sub.global_face[face] as usize;
                    let expected = &all.iter().find(|(face, _)| *face == global).unwrap().1;
                    let nodes: Vec<u32> =
                        nodes.iter().map(|&node| sub.global_node[node as usize]).collect();
                    assert_eq!(&nodes, expected, "{name}");
                }
            }
        }
    }
}

fn rectangle(cells: [usize; 2]) -> RawMesh {
    let params = BoxParams {
        size: vec![1.0, 1.0],
        cells: cells.to_vec(),
        element: Some(Element::Quadrilateral),
        ..BoxParams::default()
    };
    params.generate().unwrap()
}

fn refused(raw: RawMesh, pairs: &[[&str; 2]]) -> String {
    let mesh = Mesh::new(raw, &options(Renumbering::None)).unwrap();
    mesh.connect_periodic(pairs).unwrap_err().to_string()
}

#[test]
fn patches_that_are_no_pair_are_refused() {
    insta::assert_snapshot!(refused(rectangle([4, 5]), &[["xmin", "left"]]), @r#"the mesh has no patch "left"; its patches are xmin, xmax, ymin, ymax"#);
    insta::assert_snapshot!(refused(rectangle([4, 5]), &[["xmin", "ymin"]]), @r#"patches "xmin" and "ymin" are no periodic pair: they have 5 and 4 faces; the second must be the first moved by a translation, face by face"#);
    insta::assert_snapshot!(refused(rectangle([4, 4]), &[["xmin", "ymin"]]), @r#"patches "xmin" and "ymin" are no periodic pair: moved by (0.5, -0.5, 0), which maps the centre of the first to that of the second, the node of the first at (0, 0, 0) is 5.000e-1 off the nearest node of the second (2.5e-5 is tolerated)"#);
    insta::assert_snapshot!(
        refused(rectangle([4, 4]), &[["xmin", "xmax"], ["xmax", "ymin"]]), @r#"patch "xmax" is in two periodic pairs"#);
    insta::assert_snapshot!(refused(rectangle([4, 1]), &[["ymin", "ymax"]]), @r#"cell 0 (quadrilateral of region "default" at (0.125, 0.5, 0)) reaches from patch "ymin" to its periodic partner "ymax" and would be its own neighbour: two layers of cells are needed between them, or make both a plane of symmetry"#);
    insta::assert_snapshot!(refused(rectangle([4, 4]), &[["ymin", "ymin"]]), @r#"patches "ymin" and "ymin" are no periodic pair: at (0.125, 0, 0) the mesh lies on the same side of both, so that the outflow through one is not the inflow through the other"#);
    let mut bent = rectangle([4, 4]);
    for point in bent.points.iter_mut().filter(|point| point[0] == 1.0 && point[1] == 0.5) {
        point[1] += 0.01;
    }
    insta::assert_snapshot!(refused(bent, &[["xmin", "xmax"]]), @r#"patches "xmin" and "xmax" are no periodic pair: moved by (1, 0, 0), which maps the centre of the first to that of the second, the node of the first at (0, 0.5, 0) is 1.000e-2 off the nearest node of the second (2.4e-5 is tolerated)"#);
}

/// Two boxes of tetrahedra whose triangles are divided along different diagonals.
#[test]
fn faces_cut_along_another_diagonal_are_refused() {
    let params = BoxParams {
        size: vec![1.0; 3],
        cells: vec![2, 2, 2],
        element: Some(Element::Tetrahedron),
        ..BoxParams::default()
    };
    let raw = params.generate().unwrap();
    let mut mirrored = raw.clone();
    // The mirror image of a box is a box with the other diagonals.
    let n = raw.points.len() as u32;
    mirrored
        .points
        .iter_mut()
        .for_each(|point| *point = [1.0 - point[0], point[1], point[2] + 3.0]);
    let mut both = raw;
    both.points.extend(&mirrored.points);
    both.patches = ["low", "other", "high"].map(str::to_owned).to_vec();
    let group = |patch: &str, upper: bool| match (patch, upper) {
        ("zmin", false) => 0,
        ("zmax", true) => 2,
        _ => 1,
    };
    let names: Vec<String> = params.generate().unwrap().patches;
    for k in 0..both.boundary.len() {
        both.boundary.groups[k] = group(&names[both.boundary.groups[k] as usize], false);
    }
    for k in 0..mirrored.cells.len() {
        let nodes: Vec<u32> = mirrored.cells.nodes_of(k).iter().map(|node| node + n).collect();
        // Mirrored cells are inverted: exchange two nodes.
        both.cells.push(mirrored.cells.shapes[k], &[nodes[1], nodes[0], nodes[2], nodes[3]], 0);
    }
    for k in 0..mirrored.boundary.len() {
        let nodes: Vec<u32> = mirrored.boundary.nodes_of(k).iter().map(|node| node + n).collect();
        let patch = group(&names[mirrored.boundary.groups[k] as usize], true);
        both.boundary.push(mirrored.boundary.shapes[k], &nodes, patch);
    }
    insta::assert_snapshot!(refused(both, &[["low", "high"]]), @r#"patches "low" and "high" are no periodic pair: their nodes lie on each other, but the face of the first at (0.333333, 0.166667, 0) connects nodes that no face of the second connects"#);
}

#[test]
fn nodes_slightly_off_are_moved_onto_their_images() {
    let mut raw = rectangle([4, 4]);
    for point in raw.points.iter_mut().filter(|point| point[0] == 1.0 && point[1] == 0.5) {
        point[1] += 1e-6;
    }
    let mesh = periodic_mesh(raw, &[["xmin", "xmax"]], Renumbering::None);
    insta::assert_snapshot!(mesh.warnings[0], @r#"1 nodes of patch "xmax" were moved by up to 1.000e-6 onto those of its periodic partner "xmin""#);
    assert_eq!(mesh.periodic_pairs[0].translation, [1.0, 0.0, 0.0]);
    assert_moments(&mesh, "snapped");
}
