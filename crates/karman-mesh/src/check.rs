//! The report of `karman mesh info` and `karman mesh check`.
mod coincident_faces;
mod faults;
mod flat;
mod text;

pub use faults::{cells_between_walls, refuse_distorted, require_regular, warn_of_one_layer};
pub use flat::{flat_cells, warn_of_flat};

use coincident_faces::CoincidentPair;

use super::components::ConnectedComponents;
use super::edges::EdgeTopology;
use super::error::CellName;
use super::geometry::{bounding_box, norm};
use super::raw::RawMesh;
use super::validate::{check_structure, is_inverted_or_flat, raw_cell_name, transform_points};
use super::{Geometry, Mesh, MeshOptions, MeshWarning, cell_name};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// A histogram: `counts[i]` values from `from[i]` to below `from[i + 1]`, the last bin open above.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Histogram {
    /// Lower ends of the bins; values below the first count in it.
    pub from: Vec<f64>,
    /// Values in each bin.
    pub counts: Vec<usize>,
    /// The smallest value.
    #[serde(rename = "least")]
    pub min: f64,
    /// The largest value.
    #[serde(rename = "greatest")]
    pub max: f64,
    /// The mean.
    pub mean: f64,
}

impl Histogram {
    fn new(values: &[f64], from: &[f64]) -> Histogram {
        let mut counts = vec![0; from.len()];
        let (mut min, mut max, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        for &value in values {
            let bin = from.partition_point(|&start| start <= value).saturating_sub(1);
            counts[bin] += 1;
            min = min.min(value);
            max = max.max(value);
            sum += value;
        }
        let from = from.to_vec();
        if values.is_empty() {
            return Histogram { from, counts, ..Histogram::default() };
        }
        Histogram { from, counts, min, max, mean: sum / values.len() as f64 }
    }
}

/// A region of a mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegionReport {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub cells: usize,
    /// Its volume (area in 2D); absent where the mesh is bad.
    pub volume: Option<f64>,
}

/// A group of boundary elements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatchReport {
    /// Its name.
    pub name: String,
    /// Its elements in the file.
    pub elements: usize,
    /// Its boundary faces; absent where the mesh is bad.
    pub faces: Option<usize>,
    /// Their area (length in 2D); absent where the mesh is bad.
    pub area: Option<f64>,
}

/// Results that need the faces of a valid mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopologyReport {
    /// Faces.
    pub faces: usize,
    /// Faces between two cells.
    pub interior_faces: usize,
    /// Edges (nodes in 2D).
    pub edges: usize,
    /// Volume (area in 2D).
    pub volume: f64,
    /// Volumes of the smallest and the largest cell.
    pub cell_volume: [f64; 2],
    /// The largest |Σ S| / Σ |S| of a cell.
    pub closure: f64,
    /// Mean ratio of the cells: 1 is ideal, 0 flat.
    pub quality: Histogram,
    /// Angle between the normal of an interior face and its cells' line of centres, degrees.
    pub nonorthogonality_deg: Histogram,
    /// Larger over smaller volume of the two cells of each interior face.
    pub volume_ratio: Histogram,
    /// Cells of a mean ratio below 0.05, the worst first.
    pub poor_cells: FaultyCells,
    /// Interior faces with a non-orthogonality above 80°, the worst first.
    #[serde(rename = "skewed_faces")]
    pub nonorthogonal_faces: FaultyCells,
    /// Cells in a single layer between opposite boundaries.
    pub thin_cells: FaultyCells,
    /// [`flat_cells`].
    pub flat_cells: FaultyCells,
    /// Cells whose face neighbours alone do not determine a least-squares gradient: their stencils are
    /// extended.
    pub grown_stencils: usize,
    /// Cells whose gradient is 0 along a direction that their extended stencil does not determine.
    pub dropped_directions: FaultyCells,
    /// Boundary faces that coincide with a boundary face of another cell.
    pub coincident_faces: usize,
    /// Connected components by faces, the smallest first, ten at most; empty for a connected mesh.
    #[serde(rename = "pieces")]
    pub components: Vec<ComponentReport>,
}

/// A connected component of a mesh.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComponentReport {
    /// Its cells.
    pub cells: usize,
    /// Name of its first cell in the file's order.
    pub first: String,
}

/// Cells or faces with a defect: their number and the first ten.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FaultyCells {
    /// Their number.
    pub count: usize,
    /// Names of the first ten, or of the worst ten.
    pub first: Vec<String>,
}

impl FaultyCells {
    /// Of cells of a mesh, those to be named first.
    fn of_cells(mesh: &Mesh, cells: &[usize]) -> FaultyCells {
        let first = cells.iter().take(faults::NAMED).map(|&cell| cell_name(mesh, cell).to_string());
        FaultyCells { count: cells.len(), first: first.collect() }
    }

    fn new(cells: &[CellName]) -> FaultyCells {
        FaultyCells {
            count: cells.len(),
            first: cells.iter().take(10).map(CellName::to_string).collect(),
        }
    }
}

/// Templates of the `[boundary]` table of a case file, one for each kind of case.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BoundaryTemplates {
    /// For `[heat]`.
    pub heat: String,
    /// For `[incompressible]`.
    pub incompressible: String,
    /// For `[euler]`.
    pub euler: String,
}

/// Report on the mesh of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeshReport {
    /// 2 or 3.
    pub dimension: usize,
    /// Nodes.
    pub nodes: usize,
    /// Cells.
    pub cells: usize,
    /// Boundary elements.
    pub boundary_elements: usize,
    /// Cells by shape.
    pub by_element: BTreeMap<&'static str, usize>,
    /// Lowest and highest corner; absent without nodes.
    pub bounding_box: Option<[[f64; 3]; 2]>,
    /// Regions.
    pub regions: Vec<RegionReport>,
    /// Patches.
    pub patches: Vec<PatchReport>,
    /// Nodes that no cell uses.
    pub orphan_nodes: usize,
    /// Inverted and flat cells.
    pub inverted_cells: FaultyCells,
    /// Cells with the nodes of an earlier one.
    pub duplicate_cells: FaultyCells,
    /// Results that need faces; absent where the mesh is bad.
    pub connected: Option<TopologyReport>,
    /// Irregularities that do not prevent the use of the mesh.
    pub warnings: Vec<String>,
    /// The error that prevents the use of the mesh.
    pub error: Option<String>,
    /// Templates of the `[boundary]` table.
    pub boundary: BoundaryTemplates,
}

impl MeshReport {
    /// Examines a mesh. The report of a bad mesh has `error` set and lacks results that need faces.
    pub fn new(raw: &RawMesh, options: &MeshOptions) -> MeshReport {
        let mut report = MeshReport::of_lists(raw);
        if let Err(error) = check_structure(raw) {
            report.error = Some(error.to_string());
            return report;
        }
        let mut used = vec![false; raw.points.len()];
        raw.cells.nodes.iter().for_each(|&node| used[node as usize] = true);
        report.orphan_nodes = used.iter().filter(|used| !**used).count();
        report.duplicate_cells = duplicate_cells(raw);
        let mut placed = raw.clone();
        let _ = transform_points(&mut placed, 1.0, &mut vec![]);
        let built = Mesh::new(raw.clone(), options).and_then(|mesh| {
            let geometry = Geometry::new(&mesh)?;
            Ok((mesh, geometry))
        });
        match built {
            Ok((mesh, geometry)) => report.add_connected(&mesh, &geometry),
            Err(error) => {
                report.error = Some(error.to_string());
                report.inverted_cells = inverted_cells(&placed);
            }
        }
        report
    }

    /// Counts that need no valid mesh.
    fn of_lists(raw: &RawMesh) -> MeshReport {
        let mut by_element = BTreeMap::new();
        for shape in &raw.cells.shapes {
            *by_element.entry(shape.name()).or_insert(0) += 1;
        }
        let tally = |groups: &[u32], names: usize| {
            let mut count = vec![0; names];
            let known = groups.iter().filter(|&&group| (group as usize) < names);
            known.for_each(|&group| count[group as usize] += 1);
            count
        };
        let region = |(name, cells): (&String, usize)| RegionReport {
            name: name.clone(),
            cells,
            volume: None,
        };
        let patch = |(name, elements): (&String, usize)| PatchReport {
            name: name.clone(),
            elements,
            faces: None,
            area: None,
        };
        let cells = tally(&raw.cells.groups, raw.regions.len());
        let elements = tally(&raw.boundary.groups, raw.patches.len());
        MeshReport {
            dimension: raw.dimension,
            nodes: raw.points.len(),
            cells: raw.cells.len(),
            boundary_elements: raw.boundary.len(),
            by_element,
            bounding_box: bounding_box(&raw.points),
            regions: raw.regions.iter().zip(cells).map(region).collect(),
            patches: raw.patches.iter().zip(elements).map(patch).collect(),
            orphan_nodes: 0,
            inverted_cells: FaultyCells::default(),
            duplicate_cells: FaultyCells::default(),
            connected: None,
            warnings: Vec::new(),
            error: None,
            boundary: boundary_templates(&raw.patches),
        }
    }

    fn add_connected(&mut self, mesh: &Mesh, geometry: &Geometry) {
        // With the scale of the options.
        self.bounding_box = mesh.bounding_box();
        let mut volume = vec![0.0; mesh.regions.len()];
        for (&group, cell_volume) in mesh.cells.groups.iter().zip(&geometry.cell_volume) {
            volume[group as usize] += cell_volume;
        }
        let totals = self.regions.iter_mut().zip(volume);
        totals.for_each(|(region, volume)| region.volume = Some(volume));
        for patch in &mut self.patches {
            let faces = mesh.patches.iter().find(|found| found.name == patch.name);
            let faces = faces.map_or(0..0, |found| found.faces.clone());
            patch.faces = Some(faces.len());
            patch.area = Some(faces.map(|face| norm(geometry.area_vector_of(face))).sum());
        }
        let names: Vec<String> = mesh.patches.iter().map(|patch| patch.name.clone()).collect();
        self.boundary = boundary_templates(&names);
        let connectivity = Connectivity::new(mesh, geometry, ConnectedComponents::by_faces(mesh));
        let found = connectivity.warnings(mesh);
        self.warnings = mesh.warnings.iter().chain(&found).map(ToString::to_string).collect();
        self.connected = Some(connected(mesh, geometry, &connectivity));
    }
}

/// Warnings about a valid mesh: coincident boundary faces, and several connected components. Periodic
/// faces of `mesh` connect their cells; `components` are those by faces.
pub fn inspect(
    mesh: &Mesh,
    geometry: &Geometry,
    components: ConnectedComponents,
) -> Vec<MeshWarning> {
    Connectivity::new(mesh, geometry, components).warnings(mesh)
}

/// Coincident boundary faces and connected components of a mesh.
struct Connectivity {
    coincident_faces: Vec<CoincidentPair>,
    components: ConnectedComponents,
}

impl Connectivity {
    fn new(mesh: &Mesh, geometry: &Geometry, components: ConnectedComponents) -> Connectivity {
        let coincident_faces = coincident_faces::coincident_faces(mesh, geometry);
        Connectivity { coincident_faces, components }
    }

    fn warnings(&self, mesh: &Mesh) -> Vec<MeshWarning> {
        let Connectivity { coincident_faces, components } = self;
        let disconnected = (components.len() > 1).then(|| {
            let smallest = components.smallest_first(mesh)[0];
            MeshWarning::Disconnected {
                count: components.len(),
                cells: components.cells[smallest],
                cell: components.name_of(mesh, smallest),
            }
        });
        coincident_faces::warning(mesh, coincident_faces).into_iter().chain(disconnected).collect()
    }
}

fn connected(mesh: &Mesh, geometry: &Geometry, connectivity: &Connectivity) -> TopologyReport {
    let quality = faults::qualities(mesh);
    let cells_of = |face: usize| (mesh.face_left[face] as usize, mesh.face_right[face] as usize);
    let angle = |face: usize| faults::nonorthogonality_deg(mesh, geometry, face);
    let ratio = |face: usize| {
        let (left, right) = cells_of(face);
        let (a, b) = (geometry.cell_volume[left], geometry.cell_volume[right]);
        a.max(b) / a.min(b)
    };
    let of_faces = |value: &(dyn Fn(usize) -> f64 + Sync)| -> Vec<f64> {
        (0..mesh.n_interior_faces()).into_par_iter().map(value).collect()
    };
    let volumes = Histogram::new(&geometry.cell_volume, &[0.0]);
    let closure: Vec<f64> =
        (0..mesh.n_cells()).into_par_iter().map(|cell| geometry.closure(mesh, cell).0).collect();
    let tenths: Vec<f64> = (0..10).map(|i| f64::from(i) / 10.0).collect();
    let quality_bins: Vec<f64> = [-1.0].into_iter().chain(tenths).collect();
    let angle_bins: Vec<f64> = (0..10).map(|i| 10.0 * f64::from(i)).collect();
    let angles = of_faces(&angle);
    let (grown_stencils, dropped_directions) = faults::gradient_stencils(mesh, geometry);
    let components = &connectivity.components;
    let component = |&component: &usize| ComponentReport {
        cells: components.cells[component],
        first: components.name_of(mesh, component).to_string(),
    };
    let order = if components.len() > 1 { components.smallest_first(mesh) } else { vec![] };
    TopologyReport {
        faces: mesh.n_faces(),
        interior_faces: mesh.n_interior_faces(),
        edges: EdgeTopology::new(mesh).n_edges,
        volume: geometry.cell_volume.iter().sum(),
        cell_volume: [volumes.min, volumes.max],
        closure: closure.into_iter().fold(0.0, f64::max),
        quality: Histogram::new(&quality, &quality_bins),
        nonorthogonality_deg: Histogram::new(&angles, &angle_bins),
        volume_ratio: Histogram::new(
            &of_faces(&ratio),
            &[1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0],
        ),
        poor_cells: faults::poor_cells(mesh, &quality),
        nonorthogonal_faces: faults::nonorthogonal_faces(mesh, geometry, &angles),
        thin_cells: faults::thin_cells(mesh, geometry),
        flat_cells: flat::named(mesh, geometry),
        grown_stencils,
        dropped_directions,
        coincident_faces: connectivity.coincident_faces.len(),
        components: order.iter().take(10).map(component).collect(),
    }
}

fn inverted_cells(raw: &RawMesh) -> FaultyCells {
    let bad = (0..raw.cells.len()).filter(|&cell| is_inverted_or_flat(raw, cell));
    FaultyCells::new(&bad.map(|cell| raw_cell_name(raw, cell, cell as u32)).collect::<Vec<_>>())
}

fn duplicate_cells(raw: &RawMesh) -> FaultyCells {
    let sorted = |cell: u32| {
        let mut nodes = [u32::MAX; 8];
        let unsorted = raw.cells.nodes_of(cell as usize);
        nodes[..unsorted.len()].copy_from_slice(unsorted);
        nodes.sort_unstable();
        nodes
    };
    let hash = |cell: u32| {
        sorted(cell).iter().fold(0u64, |hash, &node| {
            (hash ^ u64::from(node)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        })
    };
    let n = raw.cells.len() as u32;
    let mut keyed: Vec<(u64, u32)> =
        (0..n).into_par_iter().map(|cell| (hash(cell), cell)).collect();
    keyed.par_sort_unstable();
    let mut duplicates: Vec<u32> = Vec::new();
    for group in keyed.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
        for (i, &(_, cell)) in group.iter().enumerate() {
            if group[..i].iter().any(|&(_, other)| sorted(other) == sorted(cell)) {
                duplicates.push(cell);
            }
        }
    }
    duplicates.sort_unstable();
    let named = |&cell: &u32| raw_cell_name(raw, cell as usize, cell);
    FaultyCells::new(&duplicates.iter().map(named).collect::<Vec<_>>())
}

/// Kind of boundary that the name of a patch suggests.
enum Role {
    Inlet,
    Outlet,
    Farfield,
    Symmetry,
    Wall,
}

fn role(name: &str) -> Role {
    let name = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&["inlet", "inflow"]) {
        Role::Inlet
    } else if has(&["outlet", "outflow"]) {
        Role::Outlet
    } else if has(&["far"]) {
        Role::Farfield
    } else if has(&["symmetry", "sym"]) {
        Role::Symmetry
    } else {
        Role::Wall
    }
}

/// A TOML key, quoted where necessary.
fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        return name.to_string();
    }
    let escaped = name.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn boundary_templates(patches: &[String]) -> BoundaryTemplates {
    let template = |hint: &str, line: fn(Role) -> &'static str| {
        let lines = patches.iter().map(|name| format!("{}{}\n", key(name), line(role(name))));
        format!("[boundary]\n# {hint}\n{}", lines.collect::<String>())
    };
    BoundaryTemplates {
        heat: template(
            "name.temperature = 300.0 | name.heat_flux = 0.0 | \
             name.convection = { coefficient = 10.0, ambient = 300.0 } | \"insulated\" | \"symmetry\"",
            |role| match role {
                Role::Symmetry => " = \"symmetry\"",
                _ => " = \"insulated\"",
            },
        ),
        incompressible: template(
            "name.moving_wall = [0.0, 0.0, 0.0] | name.velocity_inlet = [1.0, 0.0, 0.0] | \
             name.flow_rate_inlet = 1.0 | name.total_pressure_inlet = 1.0 | name.pressure_outlet = 0.0 | \
             name.opening = 0.0 | name.periodic = \"other\" | \"no_slip\" | \"slip\" | \"symmetry\" | \"convective_outlet\"",
            |role| match role {
                Role::Inlet => ".velocity_inlet = [1.0, 0.0, 0.0]",
                Role::Outlet => ".pressure_outlet = 0.0",
                Role::Farfield => " = \"slip\"",
                Role::Symmetry => " = \"symmetry\"",
                Role::Wall => " = \"no_slip\"",
            },
        ),
        euler: template(
            "\"slip_wall\" | \"no_slip\" | name.isothermal = 300.0 | \"symmetry\" | \
             \"supersonic_outlet\" | name.pressure_outlet = 1.0 | name.periodic = \"other\" | \
             name.inflow = {…} | name.exact = {…} | name.farfield = {…}",
            |role| match role {
                Role::Inlet => {
                    ".inflow = { density = 1.0, velocity = [1.0, 0.0, 0.0], \
                     pressure = 1.0 }"
                }
                Role::Outlet => ".pressure_outlet = 1.0",
                Role::Farfield => {
                    ".farfield = { mach = 0.1, angle_of_attack_deg = 0.0, side_slip_deg = 0.0, \
                     pressure = 1.0, density = 1.0 }"
                }
                Role::Symmetry => " = \"symmetry\"",
                Role::Wall => " = \"slip_wall\"",
            },
        ),
    }
}
