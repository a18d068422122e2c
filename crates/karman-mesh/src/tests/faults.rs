//! Reports on valid meshes that are difficult for a scheme, or disconnected.
use super::*;
use crate::check::{flat_cells, inspect, require_regular, warn_of_flat, warn_of_one_layer};
use crate::testing::{built, gmsh, one_layer_channel, sheared_box, with_sliver};
use crate::{ConnectedComponents, MeshError, MeshReport, MeshWarning};

fn report(raw: &RawMesh) -> MeshReport {
    let report = MeshReport::new(raw, &MeshOptions::default());
    assert_eq!(report.error, None);
    report
}

#[test]
fn a_sliver_is_named_with_its_number_place_and_quality() {
    for name in ["pipe_coarse", "tee"] {
        let good = report(&gmsh(name)).connected.unwrap();
        assert_eq!((good.poor_cells.count, good.nonorthogonal_faces.count), (0, 0), "{name}");
        let (raw, cell) = with_sliver(&gmsh(name), 0.01);
        let report = report(&raw);
        let poor = &report.connected.as_ref().unwrap().poor_cells;
        assert_eq!(poor.count, 1, "{name}");
        let start = format!("cell {cell} (tetrahedron of region \"fluid\" at (");
        assert!(poor.first[0].starts_with(&start), "{}", poor.first[0]);
        assert!(poor.first[0].ends_with("): quality 0.0100"), "{}", poor.first[0]);
        let text = report.to_string();
        assert!(text.contains(&format!("Cells of quality below 0.05: 1\n  {start}")), "{text}");
    }
}

#[test]
fn faces_of_large_nonorthogonality_are_named_and_above_89_degrees_refused_for_a_flow() {
    for (element, dimension) in [(Element::Hexahedron, 3), (Element::Quadrilateral, 2)] {
        let raw = sheared_box(element, dimension, 3, 85.0);
        let found = report(&raw);
        let poor = &found.connected.as_ref().unwrap().nonorthogonal_faces;
        let faces = 2 * 2 * 3usize.pow(dimension as u32 - 1);
        assert_eq!(poor.count, faces);
        assert!(poor.first[0].starts_with("face at (") && poor.first[0].ends_with(": 85.00°"));
        assert!(poor.first[0].contains("between cells 0 and 1"), "{:?}", poor.first);
        let text = found.to_string();
        let line = format!("Faces of non-orthogonality above 80°: {faces}\n  face at (");
        assert!(text.contains(&line) && text.contains("  and "), "{text}");
        let (mesh, geometry) = built(raw);
        assert_eq!(require_regular(&mesh, &geometry), Ok(()));
        let (mesh, geometry) = built(sheared_box(element, dimension, 3, 89.5));
        let error = require_regular(&mesh, &geometry).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, MeshError::NotOrthogonal { .. }), "{text}");
        assert!(
            text.starts_with("cell 0 (")
                && text.contains(" and cell 1: ")
                && text.contains("89.50°"),
            "{text}"
        );
    }
    for name in ["pipe_coarse", "pipe_hxt", "ball", "tee", "triangles_coarse"] {
        let (mesh, geometry) = built(gmsh(name));
        assert_eq!(require_regular(&mesh, &geometry), Ok(()), "{name}");
    }
}

#[test]
fn a_cell_whose_centre_lies_outside_its_boundary_face_is_refused_for_a_flow() {
    // A non-convex quadrilateral: its centre lies outside the sides at its reflex corner.
    let mut raw = one_layer_channel(Element::Quadrilateral, 2);
    let last: Vec<u32> = raw.cells.nodes_of(5).to_vec();
    let corner = *last
        .iter()
        .find(|&&node| {
            let [x, y, _] = raw.points[node as usize];
            (x, y) == (4.0, 1.0)
        })
        .unwrap();
    raw.points[corner as usize] = [3.4, 0.1, 0.0];
    let (mesh, geometry) = built(raw);
    let error = require_regular(&mesh, &geometry).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, MeshError::CentreOutside { .. }), "{text}");
    assert!(text.starts_with("cell 5 (quadrilateral") && text.contains("not convex"), "{text}");
}

#[test]
fn a_flat_tetrahedron_is_refused_by_name_for_a_flow() {
    let (raw, cell) = with_sliver(&gmsh("ball"), 1e-4);
    let (mesh, geometry) = built(raw);
    let error = require_regular(&mesh, &geometry).unwrap_err();
    assert!(matches!(error, MeshError::Flat { .. }), "{error}");
    let text = error.to_string();
    assert!(text.starts_with(&format!("cell {cell} (tetrahedron")), "{text}");
    assert!(text.contains("its mean ratio is 1.0e-4"), "{text}");
    let (mesh, geometry) = built(with_sliver(&gmsh("ball"), 0.002).0);
    assert_eq!(require_regular(&mesh, &geometry), Ok(()));
}

#[test]
fn one_layer_of_cells_between_walls_is_counted() {
    let walls = |mesh: &Mesh| -> Vec<bool> {
        mesh.patches.iter().map(|patch| patch.name == "ymin" || patch.name == "ymax").collect()
    };
    for (element, dimension) in [
        (Element::Quadrilateral, 2),
        (Element::Triangle, 2),
        (Element::Hexahedron, 3),
        (Element::Prism, 3),
        (Element::Tetrahedron, 3),
    ] {
        let (mesh, geometry) = built(one_layer_channel(element, dimension));
        let is_wall = walls(&mesh);
        let warning = warn_of_one_layer(&mesh, &geometry, |patch| is_wall[patch]).unwrap();
        let MeshWarning::OneLayer { count, ref cell } = warning else { panic!("{warning}") };
        assert_eq!((count, cell.index), (mesh.n_cells(), 0), "{element:?}");
        let text = warning.to_string();
        assert!(
            text.starts_with(&format!("{count} cells lie alone between opposite walls")),
            "{text}"
        );
        assert!(warn_of_one_layer(&mesh, &geometry, |_| false).is_none());
    }
    // Between the ball and the walls of its box some gaps have one layer of tetrahedra.
    for (name, count) in [("pipe_coarse", 0), ("triangles_coarse", 0), ("ball", 26)] {
        let found = report(&gmsh(name));
        let thin = &found.connected.as_ref().unwrap().thin_cells;
        assert_eq!(thin.count, count, "{name}: {:?}", thin.first);
        assert_eq!(found.to_string().contains("alone between"), count > 0);
    }
    let text = report(&one_layer_channel(Element::Prism, 3)).to_string();
    assert!(
        text.contains("Cells alone between opposite boundaries: 36\n  cell 0 (prism"),
        "{text}"
    );
}

/// At both ends of the edge of a thin plate; neither in usual ducts nor among flat tetrahedra of one size.
#[test]
fn flat_cells_beside_a_thin_plate_are_warned_of() {
    let (mesh, geometry) = built(gmsh("plate"));
    let flat = flat_cells(&mesh, &geometry);
    let near_edge = |cell: &usize| {
        let [_, y, z] = geometry.cell_centre_of(*cell);
        (y - 0.6).abs() < 0.1 && (z - 0.805).abs() < 0.1
    };
    assert!(flat.iter().all(near_edge), "{flat:?}");
    let x = |cell: &usize| geometry.cell_centre_of(*cell)[0];
    assert!(flat.iter().any(|cell| x(cell) < 0.3) && flat.iter().any(|cell| x(cell) > 0.7));
    let text = warn_of_flat(&mesh, &geometry).unwrap().to_string();
    let start = format!("{} flat cells among cells of other sizes, the first is cell", flat.len());
    assert!(text.starts_with(&start), "{text}");
    let found = report(&gmsh("plate"));
    assert_eq!(found.connected.as_ref().unwrap().flat_cells.count, flat.len());
    let line = format!("Flat cells among cells of other sizes: {}\n  cell", flat.len());
    assert!(found.to_string().contains(&line), "{found}");
    for name in ["pipe_fine", "pipe_hxt", "ball", "tee", "cube_prism_medium"] {
        let (mesh, geometry) = built(gmsh(name));
        assert!(warn_of_flat(&mesh, &geometry).is_none(), "{name}");
    }
    let layer = BoxParams {
        size: vec![1.0, 0.02, 1.0],
        cells: vec![4; 3],
        element: Some(Element::Tetrahedron),
        ..BoxParams::default()
    };
    let (mesh, geometry) = built(layer.generate().unwrap());
    assert_eq!(flat_cells(&mesh, &geometry), [0; 0]);
}

#[test]
fn boxes_that_share_no_nodes_are_coincident_and_disconnected() {
    let found = report(&gmsh("two_boxes"));
    let (mesh, _) = built(gmsh("two_boxes"));
    let beside = |face: usize| {
        mesh.face_to_nodes
            .of(face)
            .iter()
            .all(|&node| (mesh.points[node as usize][0] - 0.5).abs() < 1e-9)
    };
    let interface = (mesh.n_interior_faces()..mesh.n_faces()).filter(|&face| beside(face)).count();
    let connected = found.connected.as_ref().unwrap();
    // Every face of each side coincides with a face of the other.
    assert_eq!(connected.coincident_faces, interface);
    assert_eq!(connected.components.len(), 2);
    assert_eq!(connected.components.iter().map(|component| component.cells).sum::<usize>(), 194);
    assert!(connected.components[0].cells < connected.components[1].cells);
    let [coincident, disconnected] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
    assert!(
        coincident
            .starts_with(&format!("{interface} boundary faces lie on boundary faces of other"))
    );
    assert!(coincident.contains("in patch \"wall\""), "{coincident}");
    assert!(coincident.contains("Coherence"), "{coincident}");
    assert!(disconnected.starts_with("the mesh has 2 connected components that share no face; "));
    let text = found.to_string();
    assert!(text.contains(&format!("Coincident boundary faces: {interface}\n")), "{text}");
    assert!(text.contains("Connected components, the smallest first:\n  "), "{text}");
}

#[test]
fn duplicated_nodes_are_found_and_connected_meshes_give_no_warning() {
    // A box cut at x = 0.5 into two that have their own nodes there.
    let side = |origin: f64| {
        let params = BoxParams {
            origin: vec![origin, 0.0],
            size: vec![0.5, 1.0],
            cells: vec![2, 4],
            element: Some(Element::Triangle),
            ..BoxParams::default()
        };
        params.generate().unwrap()
    };
    let (mut raw, right) = (side(0.0), side(0.5));
    let shift = raw.points.len() as u32;
    raw.points.extend(&right.points);
    for (own, other) in [(&mut raw.cells, &right.cells), (&mut raw.boundary, &right.boundary)] {
        for e in 0..other.len() {
            let nodes: Vec<u32> = other.nodes_of(e).iter().map(|node| node + shift).collect();
            own.push(other.shapes[e], &nodes, other.groups[e]);
        }
    }
    let (mesh, geometry) = built(raw.clone());
    let found = inspect(&mesh, &geometry, ConnectedComponents::by_faces(&mesh));
    assert!(
        matches!(
            found[..],
            [
                MeshWarning::CoincidentFaces { count: 8, .. },
                MeshWarning::Disconnected { count: 2, cells: 16, .. }
            ]
        ),
        "{found:?}"
    );
    for (name, raw) in samples(0.2).into_iter().chain(
        ["pipe_coarse", "ball", "tee", "triangles_fine"].map(|name| (name.to_owned(), gmsh(name))),
    ) {
        let (mesh, geometry) = built(raw);
        assert_eq!(inspect(&mesh, &geometry, ConnectedComponents::by_faces(&mesh)), [], "{name}");
        assert_eq!(
            (
                ConnectedComponents::by_faces(&mesh).len(),
                ConnectedComponents::by_nodes(&mesh).len()
            ),
            (1, 1),
            "{name}"
        );
    }
}

#[test]
fn components_connect_by_faces_or_by_nodes() {
    // Two squares that share a corner, and a distant square, the first in the file.
    let mut raw = RawMesh { dimension: 2, regions: vec!["a".into()], ..RawMesh::default() };
    raw.patches = vec!["side".into()];
    (raw.cells, raw.boundary) = (Elements::new(), Elements::new());
    for (x, y) in [(9.0, 9.0), (0.0, 0.0), (1.0, 1.0)] {
        let first = raw.points.len() as u32;
        let corners = [[x, y, 0.0], [x + 1.0, y, 0.0], [x + 1.0, y + 1.0, 0.0], [x, y + 1.0, 0.0]];
        raw.points.extend(corners);
        let shared = if x == 1.0 { 6 } else { first };
        let nodes = [shared, first + 1, first + 2, first + 3];
        raw.cells.push(CellShape::Quadrilateral, &nodes, 0);
        for i in 0..4 {
            raw.boundary.push(CellShape::Segment, &[nodes[i], nodes[(i + 1) % 4]], 0);
        }
    }
    let (mesh, _) = built(raw);
    let (faces, nodes) =
        (ConnectedComponents::by_faces(&mesh), ConnectedComponents::by_nodes(&mesh));
    assert_eq!((faces.len(), nodes.len(), faces.is_empty()), (3, 2, false));
    let first = nodes.smallest_first(&mesh)[0];
    assert_eq!((nodes.cells[first], nodes.name_of(&mesh, first).index), (1, 0));
    assert_eq!(faces.touch_patches(&mesh, |_| true), [true; 3]);
    assert_eq!(faces.touch_patches(&mesh, |_| false), [false; 3]);
}

#[test]
fn cells_whose_neighbours_do_not_determine_a_gradient_are_counted() {
    // Every cell of a block of hexahedra has neighbours in all directions, at its ends on one side.
    let hexahedra = report(&sheared_box(Element::Hexahedron, 3, 3, 0.0)).connected.unwrap();
    assert_eq!((hexahedra.grown_stencils, hexahedra.dropped_directions.count), (0, 0));
    // All neighbours in one layer lie in a plane.
    let found = report(&one_layer_channel(Element::Hexahedron, 3));
    let layer = found.connected.as_ref().unwrap();
    assert_eq!((layer.grown_stencils, layer.dropped_directions.count), (18, 18));
    let text = found.to_string();
    assert!(
        text.contains("Cells whose face neighbours do not determine a gradient: 18 of 18"),
        "{text}"
    );
    assert!(
        text.contains("Cells without a gradient along some direction: 18\n  cell 0 (hexa"),
        "{text}"
    );
    // A tetrahedron with a wall face has three neighbours, which may be coplanar with it.
    for name in ["pipe_coarse", "pipe_medium", "ball", "tee"] {
        let found = report(&gmsh(name)).connected.unwrap();
        let share = found.grown_stencils as f64 / found.quality.counts.iter().sum::<usize>() as f64;
        assert!(share > 0.05 && share < 0.7, "{name}: {share}");
        assert!(found.dropped_directions.count <= 1, "{name}: {:?}", found.dropped_directions);
    }
}

#[test]
fn planes_of_gmsh_are_rotated_to_xy() {
    for (name, expected) in [
        (
            "triangles_xz",
            "lies in the plane y = 0: x and y of the case and of the results are x and z",
        ),
        ("triangles_tilted", "lies in the plane with the normal ("),
    ] {
        let found = report(&gmsh(name));
        assert!(found.warnings[0].contains(expected), "{:?}", found.warnings);
        let volume = found.regions[0].volume.unwrap();
        assert!((volume - 1.0).abs() < 1e-12, "{name}: {volume}");
        let lengths = found.patches.iter().map(|patch| patch.area.unwrap());
        assert!(lengths.into_iter().all(|length| (length - 1.0).abs() < 1e-12), "{name}");
        assert_eq!(found.inverted_cells.count, 0);
    }
}
