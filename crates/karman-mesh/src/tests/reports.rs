//! Reports on good and bad meshes.
use super::*;
use crate::MeshReport;

fn cube(element: Element) -> RawMesh {
    let params = BoxParams { cells: vec![3; 3], element: Some(element), ..BoxParams::default() };
    params.generate().unwrap()
}

#[test]
fn a_good_mesh_is_counted_and_measured() {
    let report = MeshReport::new(&cube(Element::Hexahedron), &MeshOptions::default());
    assert_eq!(report.error, None);
    assert_eq!((report.nodes, report.cells, report.boundary_elements), (64, 27, 54));
    assert_eq!(report.by_element.into_iter().collect::<Vec<_>>(), [("hexahedron", 27)]);
    assert_eq!(report.bounding_box, Some([[0.0; 3], [1.0; 3]]));
    let mesh = Mesh::new(cube(Element::Hexahedron), &MeshOptions::default()).unwrap();
    assert_eq!(mesh.bounding_box(), report.bounding_box);
    assert!((mesh.bounding_box_diagonal() - 3.0_f64.sqrt()).abs() < 1e-15);
    assert_eq!(Mesh::default().bounding_box_diagonal(), 0.0);
    assert!((report.regions[0].volume.unwrap() - 1.0).abs() < 1e-14);
    for patch in &report.patches {
        assert_eq!((patch.elements, patch.faces), (9, Some(9)));
        assert!((patch.area.unwrap() - 1.0).abs() < 1e-14);
    }
    let connected = report.connected.unwrap();
    assert_eq!((connected.faces, connected.interior_faces, connected.edges), (108, 54, 144));
    assert!(connected.closure < 1e-14);
    assert!((connected.quality.min - 1.0).abs() < 1e-12);
    assert_eq!(connected.quality.counts.iter().sum::<usize>(), 27);
    assert!(connected.nonorthogonality_deg.max < 1e-5);
    assert!((connected.volume_ratio.max - 1.0).abs() < 1e-12);
    assert_eq!(connected.volume_ratio.counts[0], 54);
}

#[test]
fn histograms_of_kuhn_tetrahedra_have_their_known_range() {
    let report = MeshReport::new(&cube(Element::Tetrahedron), &MeshOptions::default());
    let connected = report.connected.unwrap();
    // All six tetrahedra of a cube are congruent: V = h³/6, Σ l² = (3 + 2·2 + 3) h² = 10 h².
    let quality = 12.0 * 0.5f64.powf(2.0 / 3.0) / 10.0;
    assert!((connected.quality.min - quality).abs() < 1e-12);
    assert!((connected.quality.max - quality).abs() < 1e-12);
    // The non-orthogonality is 0 at some faces and large at others.
    assert!(connected.nonorthogonality_deg.min < 1e-5);
    let largest = connected.nonorthogonality_deg.max;
    assert!(largest > 30.0 && largest < 60.0, "{largest}");
}

#[test]
fn a_bad_mesh_lists_all_its_inverted_and_duplicate_cells() {
    let mut raw = cube(Element::Tetrahedron);
    for cell in [5, 17] {
        let start = raw.cells.offsets[cell] as usize;
        raw.cells.nodes.swap(start, start + 1);
    }
    let copy: Vec<u32> = raw.cells.nodes_of(40).to_vec();
    raw.cells.push(CellShape::Tetrahedron, &copy, 0);
    raw.points.push([5.0; 3]);
    let report = MeshReport::new(&raw, &MeshOptions::default());
    assert_eq!(report.inverted_cells.count, 2);
    assert!(report.inverted_cells.first[0].starts_with("cell 5 (tetrahedron"));
    assert_eq!(report.duplicate_cells.count, 1);
    assert!(report.duplicate_cells.first[0].starts_with("cell 162 (tetrahedron"));
    assert_eq!(report.orphan_nodes, 1);
    assert!(report.error.as_ref().unwrap().contains("cell 5"));
    let text = report.to_string();
    assert!(text.contains("Inverted or flat cells: 2\n  cell 5 ("), "{text}");
    assert!(text.contains("\nError: cell 5 (") && !text.contains("[boundary]"), "{text}");
}

#[test]
fn broken_lists_give_a_report_and_no_panic() {
    let mut raw = two_tetrahedra();
    raw.cells.nodes[2] = 77;
    raw.cells.groups[0] = 3;
    raw.boundary.groups[0] = 9;
    let report = MeshReport::new(&raw, &MeshOptions::default());
    assert!(report.error.unwrap().contains("cell 0 is in group 3"));
    assert_eq!((report.regions[0].cells, report.patches[0].elements), (1, 5));
    let empty = MeshReport::new(&RawMesh::default(), &MeshOptions::default());
    assert!(empty.error.is_some() && empty.bounding_box.is_none());
}

#[test]
fn boundary_templates_are_toml_with_every_patch_once() {
    let mut raw = cube(Element::Prism);
    let names = ["inlet", "Outlet-1", "far.field", "symmetry plane", "a\\b\"c\t", "lid"];
    raw.patches = names.map(String::from).to_vec();
    let report = MeshReport::new(&raw, &MeshOptions::default());
    let templates = &report.boundary;
    for template in [&templates.heat, &templates.incompressible, &templates.euler] {
        let table: toml::Table = toml::from_str(template).unwrap();
        let boundary = table["boundary"].as_table().unwrap();
        assert_eq!(boundary.len(), 6);
        assert!(names.iter().all(|name| boundary.contains_key(*name)));
    }
    assert!(templates.incompressible.contains("\ninlet.velocity_inlet = [1.0, 0.0, 0.0]\n"));
    assert!(templates.incompressible.contains("\nOutlet-1.pressure_outlet = 0.0\n"));
    assert!(templates.euler.contains("\n\"far.field\".farfield = { mach = 0.1"));
    assert!(templates.heat.contains("\n\"symmetry plane\" = \"symmetry\"\n"));
    let text = report.to_string();
    assert!(text.contains("To begin a heat case:\n[boundary]\n"));
    assert!(text.contains("To begin an incompressible case:\n[boundary]\n"));
    assert!(!text.contains("euler"), "no template for what cannot be run: {text}");
}

#[test]
fn a_report_is_json_with_its_names() {
    let report = MeshReport::new(&cube(Element::Mixed), &MeshOptions::default());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["dimension"], 3);
    assert_eq!(json["by_element"]["hexahedron"], 3);
    assert!(json["connected"]["quality"]["counts"].is_array());
    assert_eq!(json["error"], serde_json::Value::Null);
    assert_eq!(json["patches"][0]["name"], "xmin");
}
