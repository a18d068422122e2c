//! Every generator and element: conforming, positive, closed, of the right volume; bad parameters.
use super::super::{CellShape, Geometry, Mesh, MeshOptions};
use super::*;

fn built(generator: &Generator) -> (Mesh, Geometry) {
    let raw = generator.generate().unwrap();
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    assert!(mesh.warnings.is_empty(), "{:?}", mesh.warnings);
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

fn volume(geometry: &Geometry) -> f64 {
    geometry.cell_volume.iter().sum()
}

fn shapes(mesh: &Mesh) -> Vec<CellShape> {
    let mut shapes = mesh.cells.shapes.clone();
    shapes.sort_unstable();
    shapes.dedup();
    shapes
}

fn patch_area(mesh: &Mesh, geometry: &Geometry, name: &str) -> f64 {
    let patch = mesh.patches.iter().find(|patch| patch.name == name).unwrap();
    let area = |face| geometry.area_vector_of(face).iter().map(|a| a * a).sum::<f64>().sqrt();
    patch.faces.clone().map(area).sum()
}

const FLAT: [Element; 3] = [Element::Triangle, Element::Quadrilateral, Element::Mixed];
const SOLID: [Element; 5] =
    [Element::Tetrahedron, Element::Hexahedron, Element::Prism, Element::Pyramid, Element::Mixed];

#[test]
fn a_box_of_every_element_fills_its_volume() {
    for (dimension, elements) in [(2, &FLAT[..]), (3, &SOLID[..])] {
        for &element in elements {
            for jitter in [0.0, 0.2] {
                let params = BoxParams {
                    origin: vec![1.0, -2.0, 0.5][..dimension].to_vec(),
                    size: vec![1.0, 2.0, 0.5][..dimension].to_vec(),
                    cells: vec![4, 5, 4][..dimension].to_vec(),
                    element: Some(element),
                    jitter,
                    grading: vec![1.0, 3.0, 0.5][..dimension].to_vec(),
                    ..BoxParams::default()
                };
                let (mesh, geometry) = built(&Generator::Box(params));
                let expected = if dimension == 2 { 2.0 } else { 1.0 };
                assert!((volume(&geometry) - expected).abs() < 1e-13, "{element:?}");
                assert_eq!(mesh.patches.len(), 2 * dimension);
                let side = if dimension == 2 { 2.0 } else { 1.0 };
                assert!((patch_area(&mesh, &geometry, "xmax") - side).abs() < 1e-14);
            }
        }
    }
}

/// The nodes of a line along x.
fn lines_in_x(cells: usize, ratio: f64) -> Vec<f64> {
    let params = BoxParams {
        origin: vec![-1.0, 0.0],
        size: vec![3.0, 1.0],
        cells: vec![cells, 1],
        wall_grading: vec![ratio, 1.0],
        ..BoxParams::default()
    };
    let mut x: Vec<f64> = params.generate().unwrap().points.iter().map(|p| p[0]).collect();
    x.sort_by(f64::total_cmp);
    x.dedup();
    x
}

#[test]
fn wall_grading_refines_towards_both_ends_alike() {
    for (cells, ratio) in [(16, 5.0), (17, 5.0), (9, 0.25), (3, 2.0)] {
        let x = lines_in_x(cells, ratio);
        assert_eq!((x.len(), x[0], x[cells]), (cells + 1, -1.0, 2.0));
        let steps: Vec<f64> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (step, mirrored) in steps.iter().zip(steps.iter().rev()) {
            assert!((step - mirrored).abs() < 1e-14, "{cells}: {steps:?}");
        }
        let middle = (cells - 1) / 2;
        assert!((steps[middle] / steps[0] - ratio).abs() < 1e-12, "{cells}: {steps:?}");
        let growths: Vec<f64> = steps[..=middle].windows(2).map(|p| p[1] / p[0]).collect();
        assert!(growths.iter().all(|growth| (growth - growths[0]).abs() < 1e-12), "{growths:?}");
    }
    // Too few cells to differ.
    assert_eq!(lines_in_x(2, 5.0), [-1.0, 0.5, 2.0]);
    assert_eq!(lines_in_x(1, 5.0), [-1.0, 2.0]);
}

#[test]
fn a_cube_becomes_six_tetrahedra_or_pyramids_or_two_prisms() {
    let counts = [(Element::Tetrahedron, 6), (Element::Pyramid, 6), (Element::Prism, 2)];
    for (element, per_cube) in counts {
        let params =
            BoxParams { cells: vec![3, 2, 2], element: Some(element), ..BoxParams::default() };
        let (mesh, geometry) = built(&Generator::Box(params));
        assert_eq!(mesh.n_cells(), 12 * per_cube);
        let each = 1.0 / (12.0 * per_cube as f64);
        assert!(geometry.cell_volume.iter().all(|volume| (volume - each).abs() < 1e-15));
    }
}

#[test]
fn a_mixed_box_has_every_shape_of_its_dimension() {
    let solid =
        BoxParams { cells: vec![4, 3, 4], element: Some(Element::Mixed), ..BoxParams::default() };
    let (mesh, _) = built(&Generator::Box(solid.clone()));
    let expected = CellShape::ALL.into_iter().filter(|shape| shape.dimension() == 3);
    assert_eq!(shapes(&mesh), expected.collect::<Vec<_>>());
    let flat = BoxParams { size: vec![1.0; 2], cells: vec![4, 3], ..solid };
    let (mesh, _) = built(&Generator::Box(flat));
    assert_eq!(shapes(&mesh), [CellShape::Triangle, CellShape::Quadrilateral]);
}

#[test]
fn jitter_moves_interior_nodes_by_the_seed_and_no_boundary_nodes() {
    let params = BoxParams { cells: vec![4; 3], jitter: 0.2, ..BoxParams::default() };
    let regular = BoxParams { jitter: 0.0, ..params.clone() }.generate().unwrap();
    let first = params.generate().unwrap();
    assert_eq!(first, params.generate().unwrap());
    assert_ne!(first.points, BoxParams { seed: 2, ..params }.generate().unwrap().points);
    for (moved, place) in first.points.iter().zip(&regular.points) {
        let distance = (0..3).map(|k| (moved[k] - place[k]).powi(2)).sum::<f64>().sqrt();
        let interior = place.iter().all(|&value| value > 0.0 && value < 1.0);
        assert!(if interior { distance > 0.0 && distance <= 0.05 } else { distance == 0.0 });
    }
}

#[test]
fn no_cell_inverts_at_jitter_one_fifth_and_above_the_first_is_named() {
    for element in SOLID {
        for seed in 0..5 {
            let params = BoxParams {
                cells: vec![8; 3],
                element: Some(element),
                jitter: 0.2,
                seed,
                grading: vec![4.0, 1.0, 0.25],
                ..BoxParams::default()
            };
            assert!(params.generate().is_ok(), "{element:?} {seed}");
        }
    }
    let params = BoxParams { cells: vec![8; 3], jitter: 0.9, ..BoxParams::default() };
    let error = params.generate().unwrap_err();
    assert!(matches!(error, GenerateError::Inverted { .. }));
    let text = error.to_string();
    assert!(
        text.starts_with("cell ") && text.contains("tetrahedron at (") && text.contains("jitter")
    );
}

#[test]
fn regions_are_slabs_in_x() {
    let regions = vec!["steel".to_string(), "copper".to_string()];
    let params = BoxParams { cells: vec![4, 2, 2], regions, ..BoxParams::default() };
    let (mesh, geometry) = built(&Generator::Box(params));
    let steel: f64 = (0..mesh.n_cells())
        .filter(|&cell| mesh.cells.groups[cell] == 0)
        .map(|cell| {
            assert!(geometry.cell_centre_of(cell)[0] < 0.5);
            geometry.cell_volume[cell]
        })
        .sum();
    assert!((steel - 0.5).abs() < 1e-14);
}

#[test]
fn an_obstacle_is_cut_out_of_a_box() {
    for (dimension, elements) in [(2, &FLAT[..]), (3, &SOLID[..])] {
        for &element in elements {
            let outer = BoxParams {
                size: vec![4.0, 2.0, 0.5][..dimension].to_vec(),
                cells: vec![17, 10, 2][..dimension].to_vec(),
                element: Some(element),
                jitter: 0.15,
                grading: vec![3.0, 1.0, 1.0][..dimension].to_vec(),
                ..BoxParams::default()
            };
            let params =
                BoxWithObstacleParams { outer, obstacle_min: [0.9, 0.7], obstacle_max: [1.6, 1.3] };
            let (mesh, geometry) = built(&Generator::BoxWithObstacle(params));
            let depth = if dimension == 2 { 1.0 } else { 0.5 };
            assert!((volume(&geometry) - depth * (8.0 - 0.42)).abs() < 1e-13, "{element:?}");
            assert!((patch_area(&mesh, &geometry, "obstacle") - depth * 2.6).abs() < 1e-13);
        }
    }
}

#[test]
fn an_annulus_has_the_area_of_its_polygons() {
    for (length, elements) in [(None, &FLAT[..]), (Some(0.7), &SOLID[..])] {
        for &element in elements {
            let params = AnnulusParams {
                length,
                cells: if length.is_some() { vec![4, 12, 3] } else { vec![4, 12] },
                element: Some(element),
                grading: 2.0,
                centre: [0.3, -0.1],
                ..AnnulusParams::default()
            };
            let (mesh, geometry) = built(&Generator::Annulus(params));
            // A regular polygon of n corners on the radius r has the area n r² sin(2π/n) / 2.
            let area = 6.0 * (std::f64::consts::TAU / 12.0).sin() * (1.0 - 0.25);
            let depth = length.unwrap_or(1.0);
            assert!((volume(&geometry) - depth * area).abs() < 1e-13, "{element:?}");
            let side = 24.0 * (std::f64::consts::PI / 12.0).sin() * 0.5;
            assert!((patch_area(&mesh, &geometry, "inner") - depth * side).abs() < 1e-13);
            assert_eq!(mesh.patches.len(), if length.is_some() { 4 } else { 2 });
            if element == Element::Mixed {
                assert_eq!(shapes(&mesh).len(), if length.is_some() { 4 } else { 2 });
            }
        }
    }
}

#[test]
fn a_channel_has_its_area_less_the_cylinder() {
    // The second channel has a block upstream of the cylinder.
    for (length, x) in [(2.2, 0.2), (3.0, 1.0)] {
        for (width, elements) in [(None, &FLAT[..]), (Some(0.2), &SOLID[..])] {
            for &element in elements {
                let params = CylinderInChannelParams {
                    length,
                    width,
                    centre: [x, 0.2],
                    cells_around: 32,
                    cells_radial: 6,
                    cells_wake: 12,
                    cells_width: 2,
                    element: Some(element),
                    ..CylinderInChannelParams::default()
                };
                let (mesh, geometry) = built(&Generator::CylinderInChannel(params));
                let polygon = 16.0 * (std::f64::consts::TAU / 32.0).sin() * 0.0025;
                let depth = width.unwrap_or(1.0);
                let expected = depth * (0.41 * length - polygon);
                assert!((volume(&geometry) - expected).abs() < 1e-13, "{element:?}");
                for (patch, side) in
                    [("inlet", 0.41), ("outlet", 0.41), ("top", length), ("bottom", length)]
                {
                    let area = patch_area(&mesh, &geometry, patch);
                    assert!((area - depth * side).abs() < 1e-13, "{patch}");
                }
                assert_eq!(mesh.patches.len(), if width.is_some() { 7 } else { 5 });
            }
        }
    }
}

#[test]
fn a_sphere_in_a_box_is_hybrid_and_closes() {
    let mut previous = f64::INFINITY;
    for surface_size in [0.2, 0.1] {
        let params = SphereInBoxParams {
            size: [6.0, 5.0, 4.0],
            origin: Some([-2.0, -2.5, -2.0]),
            surface_size,
            far_size: 0.8,
            layers: 3,
            ..SphereInBoxParams::default()
        };
        let (mesh, geometry) = built(&Generator::SphereInBox(params));
        assert_eq!(shapes(&mesh), [CellShape::Tetrahedron, CellShape::Prism]);
        let area = std::f64::consts::PI;
        let defect = (patch_area(&mesh, &geometry, "sphere") - area).abs() / area;
        assert!(defect < previous / 3.5 && defect < 0.04, "{defect}");
        previous = defect;
        let sphere = 120.0 - volume(&geometry);
        // The relative defect of volume is about twice the relative defect of area.
        assert!((sphere - area / 6.0).abs() < 3.0 * defect * area / 6.0);
        assert!((patch_area(&mesh, &geometry, "farfield") - 148.0).abs() < 1e-11);
    }
    for element in SOLID {
        let params = SphereInBoxParams {
            element: Some(element),
            surface_size: 0.2,
            ..SphereInBoxParams::default()
        };
        let (mesh, _) = built(&Generator::SphereInBox(params));
        assert!(mesh.n_cells() > 0);
    }
}

#[test]
fn every_generator_makes_a_mesh_of_its_defaults() {
    for generator in [
        Generator::Box(BoxParams::default()),
        Generator::BoxWithObstacle(BoxWithObstacleParams::default()),
        Generator::CylinderInChannel(CylinderInChannelParams::default()),
        Generator::SphereInBox(SphereInBoxParams::default()),
        Generator::Annulus(AnnulusParams::default()),
    ] {
        assert!(generator.generate().is_ok(), "{generator:?}");
    }
    for (element, name) in Element::ALL.into_iter().zip(Element::WORDS) {
        assert_eq!((element.word(), Element::from_word(name)), (*name, Some(element)));
    }
}

#[test]
fn bad_parameters_are_named() {
    let cube = BoxParams::default;
    let obstacle = BoxWithObstacleParams::default;
    let channel = CylinderInChannelParams::default;
    let sphere = SphereInBoxParams::default;
    let ring = AnnulusParams::default;
    let cases: Vec<(Generator, &str)> = vec![
        (Generator::Box(BoxParams { size: vec![1.0], ..cube() }), "size = [1.0]: two or three"),
        (Generator::Box(BoxParams { size: vec![1.0, -1.0], ..cube() }), "size = -1.0: a positive"),
        (Generator::Box(BoxParams { cells: vec![4], ..cube() }), "cells = [4]: 3 entries"),
        (Generator::Box(BoxParams { cells: vec![0, 1, 1], ..cube() }), "cells = 0: from 1 to"),
        (Generator::Box(BoxParams { cells: vec![2000; 3], ..cube() }), "too many cells"),
        (Generator::Box(BoxParams { grading: vec![0.0; 3], ..cube() }), "grading = 0.0"),
        (
            Generator::Box(BoxParams { wall_grading: vec![-2.0; 3], ..cube() }),
            "wall_grading = -2.0",
        ),
        (
            Generator::Box(BoxParams {
                grading: vec![1.0, 1.0, 2.0],
                wall_grading: vec![3.0, 1.0, 3.0],
                ..cube()
            }),
            "wall_grading = 3.0: a direction has `grading` or `wall_grading`, not both",
        ),
        (Generator::Box(BoxParams { origin: vec![f64::NAN; 3], ..cube() }), "origin = NaN"),
        (Generator::Box(BoxParams { jitter: -0.1, ..cube() }), "jitter = -0.1: a fraction"),
        (Generator::Box(BoxParams { regions: vec![], ..cube() }), "regions = []: from one"),
        (
            Generator::Box(BoxParams { element: Some(Element::Triangle), ..cube() }),
            "element = \"triangle\" does not fit a mesh of dimension 3: tetrahedron",
        ),
        (
            Generator::Box(BoxParams {
                element: Some(Element::Mixed),
                cells: vec![4, 4, 1],
                ..cube()
            }),
            "a mixed mesh needs two cells",
        ),
        (
            Generator::BoxWithObstacle(BoxWithObstacleParams {
                obstacle_max: [1.5, 0.6],
                ..obstacle()
            }),
            "the obstacle must lie inside the box, which spans 0 to 1",
        ),
        (
            Generator::BoxWithObstacle(BoxWithObstacleParams {
                outer: BoxParams { size: vec![1.0; 2], cells: vec![2, 9], ..cube() },
                ..obstacle()
            }),
            "cells = 2: a direction with the obstacle",
        ),
        (
            Generator::CylinderInChannel(CylinderInChannelParams { cells_around: 30, ..channel() }),
            "cells_around = 30: a multiple of 4",
        ),
        (
            Generator::CylinderInChannel(CylinderInChannelParams { diameter: 0.5, ..channel() }),
            "centre = [0.2, 0.2]: the cylinder must lie inside",
        ),
        (
            Generator::SphereInBox(SphereInBoxParams { far_size: 0.01, ..sphere() }),
            "far_size = 0.01: at least surface_size, 0.1",
        ),
        (
            Generator::SphereInBox(SphereInBoxParams { layers: 1000, ..sphere() }),
            "layers = 1000: only",
        ),
        (
            Generator::SphereInBox(SphereInBoxParams { diameter: 30.0, ..sphere() }),
            "the sphere must lie inside the box",
        ),
        (
            Generator::SphereInBox(SphereInBoxParams { surface_size: 1e-9, ..sphere() }),
            "surface_size",
        ),
        (Generator::Annulus(AnnulusParams { outer: 0.1, ..ring() }), "outer = 0.1: the outer"),
        (Generator::Annulus(AnnulusParams { cells: vec![1], ..ring() }), "cells = [1]: 2 entries"),
        (Generator::Annulus(AnnulusParams { length: Some(0.0), ..ring() }), "length = 0.0"),
    ];
    for (generator, expected) in cases {
        let text = generator.generate().unwrap_err().to_string();
        assert!(text.contains(expected), "{text:?} lacks {expected:?}");
    }
}
