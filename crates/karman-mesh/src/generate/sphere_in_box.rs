//! `[mesh.generate.sphere_in_box]`: a sphere in a box, with layers of prisms around it.

use super::super::cell_shape::CellShape;
use super::super::raw::{Elements, RawMesh};
use super::block::fractions;
use super::split::{Class, converted};
use super::{Element, GenerateError, at_least, check_cells, check_size, positive};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// Parameters of a sphere in a box. Patches: sphere, farfield.
#[derive(Clone, Debug, PartialEq)]
pub struct SphereInBoxParams {
    /// Lengths of the box, m. Default: 20 in each direction.
    pub size: [f64; 3],
    /// Lowest corner of the box. Default: the sphere is in the middle.
    pub origin: Option<[f64; 3]>,
    /// Centre of the sphere. Default: the origin.
    pub centre: [f64; 3],
    /// Its diameter, m. Default: 1.
    pub diameter: f64,
    /// Spacing on the sphere, along it and away from it, m. Default: 0.1.
    pub surface_size: f64,
    /// Spacing along the radius at the box, m. Default: 2.
    pub far_size: f64,
    /// Layers around the sphere that are prisms in a mixed mesh. Default: 4.
    pub layers: usize,
    /// Mixed: prisms in the layers, tetrahedra beyond. Default: mixed.
    pub element: Option<Element>,
}

impl Default for SphereInBoxParams {
    fn default() -> Self {
        SphereInBoxParams {
            size: [20.0; 3],
            origin: None,
            centre: [0.0; 3],
            diameter: 1.0,
            surface_size: 0.1,
            far_size: 2.0,
            layers: 4,
            element: Some(Element::Mixed),
        }
    }
}

/// The quadrilaterals of the surface of a cube, n to an edge.
struct Surface {
    /// Nodes in [−1, 1]³.
    points: Vec<[f64; 3]>,
    /// Quadrilaterals, outward.
    faces: Vec<[u32; 4]>,
}

impl SphereInBoxParams {
    /// Makes the mesh: shells of hexahedra over the six sides of a cube, spherical up to the last
    /// layer and blending into the box beyond; the distance between shells grows by a constant
    /// factor from `surface_size` to `far_size`.
    ///
    /// # Errors
    /// See [`super::Generator::generate`].
    pub fn generate(&self) -> Result<RawMesh, GenerateError> {
        let element = Element::chosen(self.element.or(Some(Element::Mixed)), 3)?;
        let origin = self.check()?;
        let radius = 0.5 * self.diameter;
        let n = (FRAC_PI_2 * radius / self.surface_size).ceil().max(2.0) as usize;
        let distances = self.distances(origin)?;
        let shells = distances.len() - 1;
        check_size("surface_size", &[n, n, 6 * shells], 6)?;
        let surface = surface(at_least("surface_size", n, 2)?);
        let points = self.points(&surface, origin, &distances);

        let stride = surface.points.len() as u32;
        let mut nodes = Vec::with_capacity(8 * surface.faces.len() * shells);
        for shell in (0..shells as u32).map(|shell| shell * stride) {
            for face in &surface.faces {
                nodes.extend(face.map(|node| shell + node));
                nodes.extend(face.map(|node| shell + stride + node));
            }
        }
        let blocks = nodes.len() / 8;
        let mut boundary = Elements::new();
        for face in &surface.faces {
            let [a, b, c, d] = *face;
            boundary.push(CellShape::Quadrilateral, &[a, d, c, b], 0);
            let far = face.map(|node| shells as u32 * stride + node);
            boundary.push(CellShape::Quadrilateral, &far, 1);
        }
        let mesh = RawMesh {
            dimension: 3,
            points,
            cells: Elements::uniform(CellShape::Hexahedron, nodes, vec![0; blocks]),
            boundary,
            regions: vec!["default".to_string()],
            patches: vec!["sphere".to_string(), "farfield".to_string()],
        };
        let layer_blocks = self.layers * surface.faces.len();
        let class =
            |block: usize| if block < layer_blocks { Class::Prisms } else { Class::Simplices };
        let advice = "make the box larger, or put the sphere nearer to its middle";
        check_cells(converted(mesh, element, class), advice)
    }

    /// The lowest corner of the box; checks the parameters.
    fn check(&self) -> Result<[f64; 3], GenerateError> {
        for value in self.size {
            positive("size", value)?;
        }
        positive("diameter", self.diameter)?;
        positive("surface_size", self.surface_size)?;
        if !(self.far_size.is_finite() && self.far_size >= self.surface_size) {
            let reason = format!("at least surface_size, {}, is needed", self.surface_size);
            return Err(GenerateError::value("far_size", self.far_size, reason));
        }
        let middle = |k: usize| self.centre[k] - 0.5 * self.size[k];
        let origin = self.origin.unwrap_or_else(|| std::array::from_fn(middle));
        let radius = 0.5 * self.diameter;
        let inside = |k: usize| {
            let from_low = self.centre[k] - origin[k];
            radius < from_low && from_low < self.size[k] - radius
        };
        if (0..3).all(inside) {
            Ok(origin)
        } else {
            let reason = "the sphere must lie inside the box";
            Err(GenerateError::value("centre", self.centre, reason))
        }
    }

    /// Distances of the shells from the sphere, the last the mean distance to the box's sides.
    fn distances(&self, origin: [f64; 3]) -> Result<Vec<f64>, GenerateError> {
        let radius = 0.5 * self.diameter;
        let mean = self.size.iter().sum::<f64>() / 6.0 - radius;
        if self.far_size >= mean {
            let reason = format!("less than the distance to the box, {mean}, is needed");
            return Err(GenerateError::value("far_size", self.far_size, reason));
        }
        let growth = (mean - self.surface_size) / (mean - self.far_size);
        let shells = if growth > 1.0 + 1e-9 {
            (self.far_size / self.surface_size).ln() / growth.ln() + 1.0
        } else {
            mean / self.surface_size
        };
        // The cast saturates; the check of the number of cells refuses extreme sizes.
        let shells = at_least("surface_size", shells.round().max(2.0) as usize, 2)?;
        let ratio = self.far_size / self.surface_size;
        let growth = ratio.powf(1.0 / (shells as f64 - 1.0));
        let distances: Vec<f64> = fractions(shells, growth).into_iter().map(|t| t * mean).collect();
        let gap = |k: usize| {
            let low = self.centre[k] - origin[k];
            low.min(self.size[k] - low) - radius
        };
        let nearest = (0..3).map(gap).fold(f64::INFINITY, f64::min);
        let room = distances.iter().filter(|&&distance| distance < nearest).count() - 1;
        if self.layers > room.min(shells - 1) {
            let reason =
                format!("only {} fit between the sphere and the box", room.min(shells - 1));
            return Err(GenerateError::value("layers", self.layers, reason));
        }
        Ok(distances)
    }

    fn points(&self, surface: &Surface, origin: [f64; 3], distances: &[f64]) -> Vec<[f64; 3]> {
        let radius = 0.5 * self.diameter;
        let last_layer = distances[self.layers];
        let end = distances[distances.len() - 1];
        let mut points = Vec::with_capacity(surface.points.len() * distances.len());
        for &distance in distances {
            let on_sphere = radius + distance.min(last_layer);
            let t = ((distance - last_layer) / (end - last_layer)).max(0.0);
            for place in &surface.points {
                // Equiangular projection from the cube to the sphere.
                let ray = place.map(|value| (FRAC_PI_4 * value).tan());
                let length = ray.iter().map(|value| value * value).sum::<f64>().sqrt();
                points.push(std::array::from_fn(|k| {
                    let sphere = self.centre[k] + on_sphere * ray[k] / length;
                    let side = origin[k] + 0.5 * (place[k] + 1.0) * self.size[k];
                    (1.0 - t) * sphere + t * side
                }));
            }
        }
        points
    }
}

fn surface(n: usize) -> Surface {
    let n = n as u32;
    let mut places: Vec<[u32; 3]> = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            let inside = i > 0 && i < n && j > 0 && j < n;
            let step = if inside { n as usize } else { 1 };
            places.extend((0..=n).step_by(step).map(|k| [i, j, k]));
        }
    }
    // The places are in ascending order; each is there.
    let number = |place: [u32; 3]| places.binary_search(&place).map_or(0, |index| index as u32);
    let mut faces = Vec::with_capacity(6 * (n * n) as usize);
    for normal in 0..3 {
        for level in [0, n] {
            for a in 0..n {
                for b in 0..n {
                    let corner = |da: u32, db: u32| {
                        let mut place = [0; 3];
                        place[normal] = level;
                        place[(normal + 1) % 3] = a + da;
                        place[(normal + 2) % 3] = b + db;
                        number(place)
                    };
                    let [p, q, r, s] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    faces.push(if level == 0 { [p, s, r, q] } else { [p, q, r, s] });
                }
            }
        }
    }
    let scaled = |index: u32| 2.0 * f64::from(index) / f64::from(n) - 1.0;
    Surface { points: places.iter().map(|place| place.map(scaled)).collect(), faces }
}
