//! `[mesh.generate.box]`: a rectangle or a box.

use super::super::raw::RawMesh;
use super::block::{Grid, extruded, graded, graded_from_both_ends, grid};
use super::jitter::{displace_interior, least_spacing};
use super::split::{Class, converted};
use super::{Element, GenerateError, at_least, check_cells, check_size, positive};
use std::ops::Range;

/// Parameters of a rectangle (two entries in `size`) or a box (three). Patches: xmin, xmax, ymin,
/// ymax, and zmin, zmax.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxParams {
    /// Lowest corner. Default: the origin.
    pub origin: Vec<f64>,
    /// Lengths, m. Default: the unit cube.
    pub size: Vec<f64>,
    /// Blocks in each direction. Default: 10.
    pub cells: Vec<usize>,
    /// Elements the blocks are cut into. Default: triangle or tetrahedron.
    pub element: Option<Element>,
    /// Largest displacement of interior nodes over the spacing; up to 0.2 no cell inverts. Default:
    /// 0.
    pub jitter: f64,
    /// Seed of the displacements. Default: 1.
    pub seed: u64,
    /// Last over first spacing in each direction. Default: 1.
    pub grading: Vec<f64>,
    /// Spacing in the middle over spacing at both ends, in each direction. Default: 1. A direction has
    /// this or `grading`.
    pub wall_grading: Vec<f64>,
    /// Regions, slabs of equally many blocks one after the other in x. Default: `default` alone.
    pub regions: Vec<String>,
}

impl Default for BoxParams {
    fn default() -> Self {
        BoxParams {
            origin: Vec::new(),
            size: vec![1.0; 3],
            cells: Vec::new(),
            element: None,
            jitter: 0.0,
            seed: 1,
            grading: Vec::new(),
            wall_grading: Vec::new(),
            regions: vec!["default".to_string()],
        }
    }
}

/// Columns and rows left out of a grid.
pub(super) type Hole = (Range<usize>, Range<usize>);

impl BoxParams {
    /// Makes the mesh.
    ///
    /// # Errors
    /// See [`super::Generator::generate`].
    pub fn generate(&self) -> Result<RawMesh, GenerateError> {
        self.meshed(self.coordinates()?, None)
    }

    /// The coordinates of the grid in each direction; checks the parameters.
    pub(super) fn coordinates(&self) -> Result<Vec<Vec<f64>>, GenerateError> {
        let dimension = self.size.len();
        if !matches!(dimension, 2 | 3) {
            return Err(GenerateError::value(
                "size",
                &self.size,
                "two or three lengths are needed",
            ));
        }
        let origin = entries("origin", &self.origin, dimension, 0.0)?;
        let grading = entries("grading", &self.grading, dimension, 1.0)?;
        let wall_grading = entries("wall_grading", &self.wall_grading, dimension, 1.0)?;
        let cells = entries("cells", &self.cells, dimension, 10)?;
        for k in 0..dimension {
            positive("size", self.size[k])?;
            positive("grading", grading[k])?;
            positive("wall_grading", wall_grading[k])?;
            if grading[k] != 1.0 && wall_grading[k] != 1.0 {
                let reason = "a direction has `grading` or `wall_grading`, not both: set one to 1";
                return Err(GenerateError::value("wall_grading", wall_grading[k], reason));
            }
            at_least("cells", cells[k], 1)?;
            if !origin[k].is_finite() {
                return Err(GenerateError::value("origin", origin[k], "a number is needed"));
            }
        }
        check_size("cells", &cells, if dimension == 3 { 6 } else { 2 })?;
        if !(0.0..1.0).contains(&self.jitter) {
            let reason = "a fraction of the spacing from 0 to below 1 is needed";
            return Err(GenerateError::value("jitter", self.jitter, reason));
        }
        if self.regions.is_empty() || self.regions.len() > cells[0] {
            let reason = format!("from one to {} names are needed, a slab each", cells[0]);
            return Err(GenerateError::value("regions", &self.regions, reason));
        }
        let axis = |k: usize| match wall_grading[k] {
            1.0 => graded(origin[k], self.size[k], cells[k], grading[k]),
            ratio => graded_from_both_ends(origin[k], self.size[k], cells[k], ratio),
        };
        Ok((0..dimension).map(axis).collect())
    }

    /// The mesh through the given coordinates, without `hole`.
    pub(super) fn meshed(
        &self,
        coordinates: Vec<Vec<f64>>,
        hole: Option<Hole>,
    ) -> Result<RawMesh, GenerateError> {
        let dimension = coordinates.len();
        let element = Element::chosen(self.element, dimension)?;
        let columns = coordinates[0].len() - 1;
        let layers = coordinates.get(2).map_or(1, |z| z.len() - 1);
        if element == Element::Mixed && (columns < 2 || dimension == 3 && layers < 2) {
            let reason = "a mixed mesh needs two cells in x, and two in z";
            return Err(GenerateError::value("cells", [columns, layers], reason));
        }
        let Grid { mut mesh, places } = grid(&coordinates[0], &coordinates[1], hole);
        let column_of = |cell: usize| places[mesh.cells.nodes_of(cell)[0] as usize][0] as usize;
        let slabs = self.regions.len();
        let plane_columns: Vec<usize> = (0..mesh.cells.len()).map(column_of).collect();
        mesh.cells.groups =
            plane_columns.iter().map(|&column| (column * slabs / columns) as u32).collect();
        mesh.regions.clone_from(&self.regions);
        let mut blocks = match coordinates.get(2) {
            Some(z) => extruded(&mesh, z, "zmin", "zmax"),
            None => mesh,
        };
        displace_interior(&mut blocks, self.jitter, self.seed, |node| {
            let [i, j] = places[node % places.len()].map(|index| index as usize);
            let z = coordinates.get(2).map_or(0.0, |z| least_spacing(z, node / places.len()));
            [least_spacing(&coordinates[0], i), least_spacing(&coordinates[1], j), z]
        });
        let class = |block: usize| {
            let (cell, layer) = (block % plane_columns.len(), block / plane_columns.len());
            mixed_class(plane_columns[cell], columns, layer, layers)
        };
        let mesh = converted(blocks, element, class);
        if self.jitter > 0.0 {
            check_cells(mesh, "reduce jitter; up to 0.2 no cell inverts")
        } else {
            Ok(mesh)
        }
    }
}

/// In 3D the lower half of the layers has hexahedra, then prisms; the upper half has tetrahedra, with
/// pyramids over the hexahedra. In 2D quadrilaterals come before triangles.
fn mixed_class(column: usize, columns: usize, layer: usize, layers: usize) -> Class {
    let first_half = column < columns / 2;
    let flat = layers == 1;
    match (first_half, flat || layer < layers / 2) {
        (true, true) => Class::Whole,
        (false, true) if !flat => Class::Prisms,
        _ => Class::Simplices,
    }
}

/// A list with one entry for each direction; an empty one stands for the default.
fn entries<T: Copy + std::fmt::Debug>(
    key: &'static str,
    list: &[T],
    dimension: usize,
    default: T,
) -> Result<Vec<T>, GenerateError> {
    if list.is_empty() {
        Ok(vec![default; dimension])
    } else if list.len() == dimension {
        Ok(list.to_vec())
    } else {
        let reason = format!("{dimension} entries are needed, as many as in size");
        Err(GenerateError::value(key, list, reason))
    }
}
