//! `[mesh.generate.cylinder_in_channel]`: a channel along x with a cylinder across it.

use super::super::raw::RawMesh;
use super::annulus::radial_class;
use super::block::{extruded, fractions, graded, growth_from, plane};
use super::split::{Class, converted};
use super::{Element, GenerateError, at_least, check_cells, check_size, positive};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Parameters of a channel from the origin to (length, height), with a circular cylinder along z.
/// The defaults are the benchmark of Schäfer & Turek 1996 (doi:10.1007/978-3-322-89849-4_39).
/// Patches: inlet, outlet, bottom, top, cylinder, and in 3D back (z = 0) and front.
#[derive(Clone, Debug, PartialEq)]
pub struct CylinderInChannelParams {
    /// Length in x, m. Default: 2.2.
    pub length: f64,
    /// Height in y, m. Default: 0.41.
    pub height: f64,
    /// Width in z, m; absent: a 2D mesh.
    pub width: Option<f64>,
    /// x and y of the cylinder's axis. Default: 0.2, 0.2.
    pub centre: [f64; 2],
    /// Its diameter, m. Default: 0.1.
    pub diameter: f64,
    /// Blocks around the cylinder, a multiple of 4. Default: 80.
    pub cells_around: usize,
    /// Blocks from the cylinder to the walls. Default: 20.
    pub cells_radial: usize,
    /// Blocks along the wake. Default: 60.
    pub cells_wake: usize,
    /// Blocks across the width. Default: 8.
    pub cells_width: usize,
    /// Elements the blocks are cut into. Default: triangle or tetrahedron.
    pub element: Option<Element>,
}

impl Default for CylinderInChannelParams {
    fn default() -> Self {
        CylinderInChannelParams {
            length: 2.2,
            height: 0.41,
            width: None,
            centre: [0.2; 2],
            diameter: 0.1,
            cells_around: 80,
            cells_radial: 20,
            cells_wake: 60,
            cells_width: 8,
            element: None,
        }
    }
}

const INLET: u32 = 0;
const OUTLET: u32 = 1;
const BOTTOM: u32 = 2;
const TOP: u32 = 3;
const CYLINDER: u32 = 4;

/// The 2D mesh under construction.
#[derive(Default)]
struct Plane {
    points: Vec<[f64; 3]>,
    cells: Vec<u32>,
    sides: Vec<(u32, [u32; 2])>,
}

impl CylinderInChannelParams {
    /// Makes the mesh: rings about the cylinder that blend from the circle to a rectangle over the
    /// height of the channel, a graded block downstream, and a block upstream where the cylinder is
    /// far from the inlet.
    ///
    /// # Errors
    /// See [`super::Generator::generate`].
    pub fn generate(&self) -> Result<RawMesh, GenerateError> {
        let dimension = if self.width.is_some() { 3 } else { 2 };
        let element = Element::chosen(self.element, dimension)?;
        self.check(element)?;
        let [x, y] = self.centre;
        let reach = y.max(self.height - y);
        let before = if x - reach > 0.25 * reach { x - reach } else { 0.0 };
        let behind = (x + reach).min(0.5 * (x + 0.5 * self.diameter + self.length));
        let mut mesh = Plane::default();
        self.rings(&mut mesh, before, behind);
        self.wake(&mut mesh, behind);
        if before > 0.0 {
            self.upstream(&mut mesh, before);
        } else {
            let side = self.cells_around / 4;
            self.edge(&mut mesh, 2 * side, INLET);
        }
        let names = ["inlet", "outlet", "bottom", "top", "cylinder"].map(String::from);
        let flat = plane(mesh.points, mesh.cells, mesh.sides, names.to_vec());
        let plane_cells = flat.cells.len();
        let blocks = match self.width {
            None => flat,
            Some(width) => {
                extruded(&flat, &graded(0.0, width, self.cells_width, 1.0), "back", "front")
            }
        };
        let class = |block: usize| {
            let row = block % plane_cells / self.cells_around;
            if row < self.cells_radial {
                radial_class(row, self.cells_radial, dimension)
            } else {
                Class::Simplices
            }
        };
        let advice = "use more cells around, or a cylinder nearer to the middle of the channel";
        check_cells(converted(blocks, element, class), advice)
    }

    fn check(&self, element: Element) -> Result<(), GenerateError> {
        positive("length", self.length)?;
        positive("height", self.height)?;
        positive("diameter", self.diameter)?;
        if let Some(width) = self.width {
            positive("width", width)?;
            at_least("cells_width", self.cells_width, 1)?;
        }
        let radius = 0.5 * self.diameter;
        let inside = |value: f64, size: f64| radius < value && value < size - radius;
        if !(inside(self.centre[0], self.length) && inside(self.centre[1], self.height)) {
            let reason = "the cylinder must lie inside the channel";
            return Err(GenerateError::value("centre", self.centre, reason));
        }
        at_least("cells_around", self.cells_around, 8)?;
        if !self.cells_around.is_multiple_of(4) {
            let reason = "a multiple of 4 is needed, a quarter for each side of the channel";
            return Err(GenerateError::value("cells_around", self.cells_around, reason));
        }
        let least = if element == Element::Mixed { 3 } else { 1 };
        at_least("cells_radial", self.cells_radial, least)?;
        at_least("cells_wake", self.cells_wake, 1)?;
        let rows = self.cells_radial + self.cells_wake;
        let span = if self.width.is_some() { self.cells_width } else { 1 };
        check_size("cells_around", &[2 * self.cells_around, rows, span], 6)
    }

    /// Fractions of the distance from the circle to the rectangle; the first step is half the spacing
    /// around the circle.
    fn ring_fractions(&self) -> Vec<f64> {
        let [x, y] = self.centre;
        let distance = y.min(self.height - y).min(x) - 0.5 * self.diameter;
        let n = self.cells_radial;
        let first = 0.5 * PI * self.diameter / self.cells_around as f64 / distance;
        fractions(n, growth_from(first.min(1.0 / n as f64), n))
    }

    /// A node of the rings; counting around starts at −45°.
    fn ring_node(&self, around: usize, row: usize) -> u32 {
        (row * self.cells_around + around % self.cells_around) as u32
    }

    fn rings(&self, mesh: &mut Plane, before: f64, behind: f64) {
        let (around, side) = (self.cells_around, self.cells_around / 4);
        let corners = [[behind, 0.0], [behind, self.height], [before, self.height], [before, 0.0]];
        for t in self.ring_fractions() {
            for i in 0..around {
                let angle = FRAC_PI_2 * i as f64 / side as f64 - FRAC_PI_4;
                let (from, to) = (corners[i / side], corners[(i / side + 1) % 4]);
                let along = (i % side) as f64 / side as f64;
                let place = |k: usize, turn: f64| {
                    let circle = self.centre[k] + 0.5 * self.diameter * turn;
                    (1.0 - t) * circle + t * (from[k] + along * (to[k] - from[k]))
                };
                mesh.points.push([place(0, angle.cos()), place(1, angle.sin()), 0.0]);
            }
        }
        let node = |i, j| self.ring_node(i, j);
        for j in 0..self.cells_radial {
            for i in 0..around {
                mesh.cells.extend([node(i, j), node(i, j + 1), node(i + 1, j + 1), node(i + 1, j)]);
            }
        }
        mesh.sides.extend((0..around).map(|i| (CYLINDER, [node(i + 1, 0), node(i, 0)])));
        self.edge(mesh, side, TOP);
        self.edge(mesh, 3 * side, BOTTOM);
    }

    /// The outer edge of the rings along one side of the rectangle, as a boundary.
    fn edge(&self, mesh: &mut Plane, first: usize, patch: u32) {
        let node = |i| self.ring_node(i, self.cells_radial);
        let side = self.cells_around / 4;
        mesh.sides.extend((first..first + side).map(|i| (patch, [node(i), node(i + 1)])));
    }

    fn wake(&self, mesh: &mut Plane, behind: f64) {
        let rows = self.cells_around / 4;
        let t = self.ring_fractions();
        let last = (1.0 - t[t.len() - 2]) * (behind - self.centre[0] - 0.5 * self.diameter);
        let length = self.length - behind;
        let n = self.cells_wake;
        let growth = growth_from((last / length).min(1.0 / n as f64), n);
        let columns = fractions(n, growth).into_iter().map(|t| behind + length * t);
        let side: Vec<u32> = (0..=rows).map(|i| self.ring_node(i, self.cells_radial)).collect();
        let end = mesh.columns(side, columns.skip(1), false);
        mesh.sides.extend(end.windows(2).map(|pair| (OUTLET, [pair[0], pair[1]])));
    }

    fn upstream(&self, mesh: &mut Plane, before: f64) {
        let rows = self.cells_around / 4;
        let t = self.ring_fractions();
        let last = (1.0 - t[t.len() - 2]) * (self.centre[0] - 0.5 * self.diameter - before);
        let n = (before / last).ceil().clamp(1.0, 1e4) as usize;
        let columns = (1..=n).map(|i| before * (n - i) as f64 / n as f64);
        // Counted around, the left side runs downwards.
        let first = 2 * rows;
        let side = (0..=rows).rev().map(|i| self.ring_node(first + i, self.cells_radial)).collect();
        let end = mesh.columns(side, columns, true);
        mesh.sides.extend(end.windows(2).map(|pair| (INLET, [pair[1], pair[0]])));
    }
}

impl Plane {
    /// Adds columns of quadrilaterals beside a column of nodes given from bottom to top; returns
    /// the nodes of the last.
    fn columns(
        &mut self,
        mut side: Vec<u32>,
        at: impl Iterator<Item = f64>,
        leftwards: bool,
    ) -> Vec<u32> {
        for x in at {
            let first = self.points.len() as u32;
            for &node in &side {
                let y = self.points[node as usize][1];
                self.points.push([x, y, 0.0]);
            }
            let next: Vec<u32> = (first..first + side.len() as u32).collect();
            let (left, right) = if leftwards { (&next, &side) } else { (&side, &next) };
            for j in 0..side.len() - 1 {
                self.cells.extend([left[j], right[j], right[j + 1], left[j + 1]]);
            }
            let top = side.len() - 1;
            self.sides.push((BOTTOM, [left[0], right[0]]));
            self.sides.push((TOP, [right[top], left[top]]));
            side = next;
        }
        side
    }
}
