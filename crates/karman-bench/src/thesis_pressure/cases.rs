//! The three flows: tetrahedral meshes and boundary conditions.
//!
//! The thesis draws the domains of the cylinder and the jet but gives no sizes in its text. The unit of
//! length here is the side of the cylinder and of the jet's inlet.

use crate::BenchError;
use karman::incompressible::FlowCondition;
use karman::mesh::cell_shape::CellShape;
use karman::mesh::generate::{BoxParams, BoxWithObstacleParams, Element};
use karman::mesh::{Elements, RawMesh};
use karman_macros::Keyword;
use rayon::prelude::*;
use std::sync::Arc;

/// A flow of the thesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowCase {
    /// A unit cube whose lid ymax moves along x; no pressure is prescribed.
    Cavity,
    /// A channel 30 by 8 by 4 with a square cylinder across it, 8 from the inlet; its sides are walls.
    SquareCylinder,
    /// A jet from a square duct of length 2 into a box of about 6 by 6 by 12; its sides are walls.
    Jet,
}

/// Largest displacement of interior nodes over the spacing; 0 for the jet, whose duct is cut out.
const JITTER: f64 = 0.2;
const CHANNEL: [f64; 3] = [30.0, 8.0, 4.0];
const CYLINDER: [[f64; 2]; 2] = [[8.0, 3.5], [9.0, 4.5]];
/// Length of the jet's box, and about that of the duct.
const JET_LENGTHS: [f64; 2] = [12.0, 2.0];

impl FlowCase {
    /// Re = U L / ν with U = L = 1, as in the thesis' plots of the flow.
    pub fn reynolds(self) -> f64 {
        match self {
            FlowCase::Cavity => 100.0,
            FlowCase::SquareCylinder => 30.0,
            FlowCase::Jet => 10.0,
        }
    }

    /// About `cells` tetrahedra.
    pub(super) fn mesh(self, cells: usize) -> Result<RawMesh, BenchError> {
        let element = Some(Element::Tetrahedron);
        let made = match self {
            FlowCase::Cavity => {
                let m = ((cells as f64 / 6.0).cbrt().round() as usize).max(2);
                let jitter = JITTER;
                BoxParams { cells: vec![m; 3], element, jitter, ..BoxParams::default() }.generate()
            }
            FlowCase::SquareCylinder => {
                let [length, height, width] = CHANNEL;
                let volume = (length * height - 1.0) * width;
                let spacing = (6.0 * volume / cells as f64).cbrt();
                let blocks = |l: f64| ((l / spacing).round() as usize).max(3);
                let outer = BoxParams {
                    size: CHANNEL.to_vec(),
                    cells: CHANNEL.map(blocks).to_vec(),
                    element,
                    jitter: JITTER,
                    ..BoxParams::default()
                };
                let [obstacle_min, obstacle_max] = CYLINDER;
                BoxWithObstacleParams { outer, obstacle_min, obstacle_max }.generate()
            }
            FlowCase::Jet => jet(cells, element),
        };
        made.map_err(|reason| BenchError::Generate { cells, reason })
    }

    /// The boundary condition of a patch.
    pub(super) fn condition(self, patch: &str) -> FlowCondition {
        let velocity = |v: [f64; 3]| FlowCondition::Velocity(v.map(|v| Arc::new(v) as _));
        match (self, patch) {
            (FlowCase::Cavity, "ymax") | (FlowCase::SquareCylinder, "xmin") => {
                velocity([1.0, 0.0, 0.0])
            }
            (FlowCase::Jet, JET_INLET) => velocity([0.0, 0.0, 1.0]),
            (FlowCase::SquareCylinder, "xmax") | (FlowCase::Jet, "zmax") => {
                FlowCondition::PressureOutlet(Arc::new(0.0))
            }
            _ => velocity([0.0; 3]),
        }
    }
}

const JET_INLET: &str = "inlet";
const WALL: &str = "wall";

/// A box and a duct below the middle of its floor: a larger box without its lowest layers around the duct.
fn jet(
    cells: usize,
    element: Option<Element>,
) -> Result<RawMesh, karman::mesh::generate::GenerateError> {
    let [length, duct] = JET_LENGTHS;
    // Hexahedra along a side of the duct, and beside it; each gives six tetrahedra.
    let across = ((cells as f64 / 6.0 / (36.0 * length + duct)).cbrt().round() as usize).max(1);
    let beside = (2.5 * across as f64).round() as usize;
    let wide = across + 2 * beside;
    let area = (wide * wide) as f64 + (across * across) as f64 * duct / length;
    let layers = ((cells as f64 / 6.0 / area).round() as usize).max(2);
    let thickness = length / layers as f64;
    let duct_layers = ((duct / thickness).round() as usize).max(1);
    let side = wide as f64 / across as f64;
    let params = BoxParams {
        origin: vec![-0.5 * side, -0.5 * side, -thickness * duct_layers as f64],
        size: vec![side, side, thickness * (layers + duct_layers) as f64],
        cells: vec![wide, wide, layers + duct_layers],
        element,
        ..BoxParams::default()
    };
    let whole = params.generate()?;
    let is_kept = |x: [f64; 3]| x[2] > 0.0 || (x[0].abs() < 0.5 && x[1].abs() < 0.5);
    let mut nodes = vec![];
    for cell in 0..whole.cells.len() {
        let own = whole.cells.nodes_of(cell);
        if is_kept(mean(&whole, own)) {
            nodes.extend_from_slice(own);
        }
    }
    let groups = vec![0; nodes.len() / CellShape::Tetrahedron.node_count()];
    let cut = RawMesh { cells: Elements::uniform(CellShape::Tetrahedron, nodes, groups), ..whole };
    let small = 1e-9 * length;
    let ends = [-thickness * duct_layers as f64, length];
    let patch = |x: [f64; 3]| match x[2] {
        z if (z - ends[0]).abs() < small => 0,
        z if (z - ends[1]).abs() < small => 1,
        _ => 2,
    };
    Ok(with_boundary(cut, patch, &[JET_INLET, "zmax", WALL]))
}

fn mean(mesh: &RawMesh, nodes: &[u32]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for node in nodes {
        (0..3).for_each(|k| sum[k] += mesh.points[*node as usize][k] / nodes.len() as f64);
    }
    sum
}

/// A mesh of tetrahedra; faces of one cell only become its boundary, with patches by their centroids.
fn with_boundary(mesh: RawMesh, patch: impl Fn([f64; 3]) -> u32, patches: &[&str]) -> RawMesh {
    let shape = CellShape::Tetrahedron;
    let faces_of = |cell: usize| {
        let nodes = mesh.cells.nodes_of(cell);
        (0..shape.face_count()).map(move |face| {
            let ([a, b, c, _], _) = shape.face_nodes(nodes, face);
            let mut sorted = [a, b, c];
            sorted.sort_unstable();
            (sorted, [a, b, c])
        })
    };
    let mut faces: Vec<([u32; 3], [u32; 3])> =
        (0..mesh.cells.len()).into_par_iter().flat_map_iter(faces_of).collect();
    faces.par_sort_unstable();
    let mut boundary = Elements::new();
    for same in faces.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, nodes)] = same {
            boundary.push(CellShape::Triangle, nodes, patch(mean(&mesh, nodes)));
        }
    }
    let patches = patches.iter().map(|name| (*name).to_owned()).collect();
    RawMesh { boundary, patches, ..mesh }
}
