//! Generators of meshes: `[mesh.generate.<name>]` of the case file.
//!
//! Every generator makes quadrilaterals or hexahedra in structured blocks (`block`), displaces
//! interior nodes (`jitter`), and cuts the blocks into the requested elements (`split`).
mod annulus;
mod block;
mod box_mesh;
mod box_with_obstacle;
mod cylinder_in_channel;
mod jitter;
mod sphere_in_box;
mod split;

pub use annulus::AnnulusParams;
pub use box_mesh::BoxParams;
pub use box_with_obstacle::BoxWithObstacleParams;
pub use cylinder_in_channel::CylinderInChannelParams;
pub use sphere_in_box::SphereInBoxParams;

use super::adjacency::CHUNK;
use super::cell_shape::CellShape;
use super::error::Place;
use super::geometry::{cell_measure, mean_point};
use super::quality::mean_ratio;
use super::raw::RawMesh;
use karman_macros::Keyword;
use rayon::prelude::*;

/// Element types of a generated mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Element {
    /// 2D.
    Triangle,
    /// 2D.
    Quadrilateral,
    /// 3D.
    Tetrahedron,
    /// 3D.
    Hexahedron,
    /// 3D.
    Prism,
    /// 3D, six to a block about its centre.
    Pyramid,
    /// Triangles and quadrilaterals in 2D; all four shapes in 3D.
    Mixed,
}

impl Element {
    /// Whether a mesh of this dimension can consist of it.
    pub fn fits(self, dimension: usize) -> bool {
        let flat = matches!(self, Element::Triangle | Element::Quadrilateral);
        self == Element::Mixed || flat == (dimension == 2)
    }

    /// The requested element, by default the simplex, where it fits the dimension.
    fn chosen(element: Option<Element>, dimension: usize) -> Result<Element, GenerateError> {
        let default = if dimension == 2 { Element::Triangle } else { Element::Tetrahedron };
        let element = element.unwrap_or(default);
        if element.fits(dimension) {
            Ok(element)
        } else {
            Err(GenerateError::Element { element: element.word(), dimension })
        }
    }
}

/// Errors of mesh generation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// A key with a value that makes no mesh.
    #[error("{key} = {value}: {reason}")]
    Value {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// The values required.
        reason: String,
    },
    /// An element of the other dimension.
    #[error(
        "element = \"{element}\" does not fit a mesh of dimension {dimension}: {}",
        if *dimension == 2 { "triangle, quadrilateral or mixed" }
        else { "tetrahedron, hexahedron, prism, pyramid or mixed" }
    )]
    Element {
        /// The element.
        element: &'static str,
        /// The dimension by the other keys.
        dimension: usize,
    },
    /// An inverted cell.
    #[error(
        "cell {cell} ({} at {place}) came out inverted (volume {volume:.3e}, quality \
         {quality:.3}): {advice}", shape.name()
    )]
    Inverted {
        /// The first such cell.
        cell: usize,
        /// Its shape.
        shape: CellShape,
        /// Its place.
        place: Place,
        /// Its volume.
        volume: f64,
        /// Its mean ratio.
        quality: f64,
        /// The remedy.
        advice: &'static str,
    },
}

impl GenerateError {
    fn value(key: &'static str, value: impl std::fmt::Debug, reason: impl Into<String>) -> Self {
        GenerateError::Value { key, value: format!("{value:?}"), reason: reason.into() }
    }
}

/// A generator and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Generator {
    /// A rectangle or a box.
    Box(BoxParams),
    /// A rectangle with a rectangular obstacle cut out, or its extrusion.
    BoxWithObstacle(BoxWithObstacleParams),
    /// A channel with a cylinder across it.
    CylinderInChannel(CylinderInChannelParams),
    /// A sphere in a box.
    SphereInBox(SphereInBoxParams),
    /// The space between two circles, or that extruded.
    Annulus(AnnulusParams),
}

impl Generator {
    /// Makes the mesh.
    ///
    /// # Errors
    /// [`GenerateError`] names the key with a wrong value, or the first inverted cell.
    pub fn generate(&self) -> Result<RawMesh, GenerateError> {
        match self {
            Generator::Box(params) => params.generate(),
            Generator::BoxWithObstacle(params) => params.generate(),
            Generator::CylinderInChannel(params) => params.generate(),
            Generator::SphereInBox(params) => params.generate(),
            Generator::Annulus(params) => params.generate(),
        }
    }
}

/// Refuses a mesh with an inverted cell or corner.
fn check_cells(mesh: RawMesh, advice: &'static str) -> Result<RawMesh, GenerateError> {
    let measures = |cell: usize| {
        let (shape, nodes) = (mesh.cells.shapes[cell], mesh.cells.nodes_of(cell));
        let (volume, _) = cell_measure(shape, nodes, &mesh.points);
        (volume, mean_ratio(shape, nodes, &mesh.points))
    };
    let bad = (0..mesh.cells.len()).into_par_iter().with_min_len(CHUNK).find_first(|&cell| {
        let (volume, quality) = measures(cell);
        !(volume > 0.0 && quality > 0.0)
    });
    let Some(cell) = bad else { return Ok(mesh) };
    let (volume, quality) = measures(cell);
    let place = Place(mean_point(mesh.cells.nodes_of(cell), &mesh.points));
    let shape = mesh.cells.shapes[cell];
    Err(GenerateError::Inverted { cell, shape, place, volume, quality, advice })
}

fn positive(key: &'static str, value: f64) -> Result<f64, GenerateError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(GenerateError::value(key, value, "a positive number is needed"))
    }
}

fn at_least(key: &'static str, value: usize, least: usize) -> Result<usize, GenerateError> {
    // With more than 2^21 cells in a direction an index of a 3D grid would overflow.
    if (least..1 << 21).contains(&value) {
        Ok(value)
    } else {
        Err(GenerateError::value(key, value, format!("from {least} to 2097151 cells are needed")))
    }
}

/// Refuses grids whose nodes or elements do not fit 32-bit numbers.
fn check_size(
    key: &'static str,
    cells: &[usize],
    elements_a_cell: usize,
) -> Result<(), GenerateError> {
    let count = cells.iter().fold(1f64, |product, &n| product * (n + 1) as f64);
    // A block has at most six elements, of which the pyramid has most nodes.
    if count * elements_a_cell as f64 * 5.0 < f64::from(u32::MAX) {
        Ok(())
    } else {
        Err(GenerateError::value(key, cells, "too many cells for 32-bit numbers"))
    }
}

#[cfg(test)]
mod tests;
