//! `[mesh.generate.annulus]`: the space between two circles, or that extruded.

use super::super::raw::RawMesh;
use super::block::{extruded, graded, plane};
use super::split::{Class, converted};
use super::{Element, GenerateError, at_least, check_cells, check_size, positive};
use std::f64::consts::TAU;

/// Parameters of an annulus about the z axis through `centre`. Patches: inner, outer, and in 3D
/// zmin and zmax.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnulusParams {
    /// Inner radius, m. Default: 0.5.
    pub inner: f64,
    /// Outer radius, m. Default: 1.
    pub outer: f64,
    /// Length along z from 0, m; absent: a 2D mesh.
    pub length: Option<f64>,
    /// Blocks along the radius, around, and in 3D along z. Default: 10, 40, 10.
    pub cells: Vec<usize>,
    /// Elements the blocks are cut into. Default: triangle or tetrahedron.
    pub element: Option<Element>,
    /// Last over first spacing along the radius. Default: 1.
    pub grading: f64,
    /// x and y of the axis. Default: 0, 0.
    pub centre: [f64; 2],
}

impl Default for AnnulusParams {
    fn default() -> Self {
        AnnulusParams {
            inner: 0.5,
            outer: 1.0,
            length: None,
            cells: Vec::new(),
            element: None,
            grading: 1.0,
            centre: [0.0; 2],
        }
    }
}

impl AnnulusParams {
    /// Makes the mesh.
    ///
    /// # Errors
    /// See [`super::Generator::generate`].
    pub fn generate(&self) -> Result<RawMesh, GenerateError> {
        let dimension = if self.length.is_some() { 3 } else { 2 };
        let element = Element::chosen(self.element, dimension)?;
        positive("inner", self.inner)?;
        positive("grading", self.grading)?;
        if !(self.outer.is_finite() && self.outer > self.inner) {
            let reason = format!("the outer radius must exceed the inner, {}", self.inner);
            return Err(GenerateError::value("outer", self.outer, reason));
        }
        let cells = match &self.cells[..] {
            [] => [10, 40, 10][..dimension].to_vec(),
            cells if cells.len() == dimension => cells.to_vec(),
            cells => {
                let reason = format!("{dimension} entries are needed: radial, around and along z");
                return Err(GenerateError::value("cells", cells, reason));
            }
        };
        let radial = at_least("cells", cells[0], if element == Element::Mixed { 3 } else { 1 })?;
        let around = at_least("cells", cells[1], 3)?;
        check_size("cells", &cells, if dimension == 3 { 6 } else { 2 })?;

        let radii = graded(self.inner, self.outer - self.inner, radial, self.grading);
        let ring = |radius: f64| {
            let [x, y] = self.centre;
            (0..around).map(move |i| {
                let angle = TAU * i as f64 / around as f64;
                [x + radius * angle.cos(), y + radius * angle.sin(), 0.0]
            })
        };
        let points = radii.iter().flat_map(|&radius| ring(radius)).collect();
        let node = |i: usize, j: usize| (j * around + i % around) as u32;
        let mut quadrilaterals = Vec::with_capacity(4 * radial * around);
        for j in 0..radial {
            for i in 0..around {
                let corners = [node(i, j), node(i, j + 1), node(i + 1, j + 1), node(i + 1, j)];
                quadrilaterals.extend(corners);
            }
        }
        let inner = (0..around).map(|i| (0, [node(i + 1, 0), node(i, 0)]));
        let outer = (0..around).map(|i| (1, [node(i, radial), node(i + 1, radial)]));
        let patches = ["inner", "outer"].map(String::from).to_vec();
        let flat = plane(points, quadrilaterals, inner.chain(outer).collect(), patches);
        let plane_cells = flat.cells.len();
        let blocks = match self.length {
            None => flat,
            Some(length) => {
                let layers = at_least("cells", cells[2], 1)?;
                let z = graded(0.0, positive("length", length)?, layers, 1.0);
                extruded(&flat, &z, "zmin", "zmax")
            }
        };
        let class = |block: usize| radial_class(block % plane_cells / around, radial, dimension);
        check_cells(converted(blocks, element, class), "use more cells around")
    }
}

/// Subdivision from the inner wall outwards: whole blocks, in 3D prisms, then simplices.
pub(super) fn radial_class(row: usize, rows: usize, dimension: usize) -> Class {
    match 3 * row / rows {
        0 => Class::Whole,
        1 if dimension == 3 => Class::Prisms,
        1 => Class::Whole,
        _ => Class::Simplices,
    }
}
