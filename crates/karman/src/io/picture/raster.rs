//! An image of coloured triangles, drawn without gaps or overlaps on subpixels, which are then averaged.

use super::palette::Palette;

/// Subpixels along each side of a pixel.
pub(super) const FINENESS: u32 = 3;

/// Pixels before they are averaged: `[height][width]` of red, green, blue.
#[derive(Clone, Debug)]
pub(super) struct Raster {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) bytes: Vec<u8>,
    /// Subpixels in which triangles are drawn: the first, and the one after the last.
    clip: [[u32; 2]; 2],
}

/// A corner of a triangle: position in subpixels, y downwards, and the value there.
pub(super) type Vertex = ([f64; 2], f64);

impl Raster {
    /// A white image of `width` × `height` pixels, each of [`FINENESS`]² subpixels.
    pub(super) fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width * FINENESS, height * FINENESS);
        let bytes = vec![255; 3 * width as usize * height as usize];
        Raster { width, height, bytes, clip: [[0, 0], [width, height]] }
    }

    /// Draws further triangles only in a rectangle of pixels, ends excluded.
    pub(super) fn clip(&mut self, from: [u32; 2], to: [u32; 2]) {
        let fine =
            |[x, y]: [u32; 2]| [(x * FINENESS).min(self.width), (y * FINENESS).min(self.height)];
        self.clip = [fine(from), fine(to)];
    }

    /// The rectangle of [`Raster::clip`] in subpixels, its end excluded.
    pub(super) fn open_area(&self) -> [[u32; 2]; 2] {
        self.clip
    }

    pub(super) fn colour_at(&self, x: usize, y: usize) -> [u8; 3] {
        let at = 3 * (y * self.width as usize + x);
        [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2]]
    }

    pub(super) fn set(&mut self, x: usize, y: usize, colour: [u8; 3]) {
        let at = 3 * (y * self.width as usize + x);
        self.bytes[at..at + 3].copy_from_slice(&colour);
    }

    /// Fills a rectangle of subpixels, ends excluded.
    pub(super) fn fill(&mut self, from: [u32; 2], to: [u32; 2], colour: [u8; 3]) {
        for y in from[1]..to[1].min(self.height) {
            for x in from[0]..to[0].min(self.width) {
                self.set(x as usize, y as usize, colour);
            }
        }
    }

    /// Draws a triangle in which the value is linear. A subpixel belongs to the triangle that contains its
    /// centre.
    pub(super) fn triangle(&mut self, vertices: [Vertex; 3], palette: &Palette) {
        let [a, b, c] = vertices.map(|(place, _)| place);
        let doubled = cross(a, b, c);
        if doubled == 0.0 || !doubled.is_finite() {
            return;
        }
        let values = vertices.map(|(_, value)| value);
        let flat = values[0] == values[1] && values[1] == values[2];
        let flat_colour = palette.colour(values[0]);
        let covered = |axis: usize| {
            let [from, limit] = self.clip.map(|corner| corner[axis]);
            let low = a[axis].min(b[axis]).min(c[axis]);
            let high = a[axis].max(b[axis]).max(c[axis]);
            let first = (low - 0.5).ceil().max(f64::from(from)) as usize;
            first..((high - 0.5).floor() + 1.0).clamp(0.0, f64::from(limit)) as usize
        };
        let (columns, rows) = (covered(0), covered(1));
        for y in rows {
            for x in columns.clone() {
                let centre = [x as f64 + 0.5, y as f64 + 0.5];
                let barycentric = [
                    cross(b, c, centre) / doubled,
                    cross(c, a, centre) / doubled,
                    cross(a, b, centre) / doubled,
                ];
                if barycentric.iter().all(|coordinate| *coordinate >= 0.0) {
                    let value = || (0..3).map(|i| barycentric[i] * values[i]).sum();
                    let colour = if flat { flat_colour } else { palette.colour(value()) };
                    self.set(x, y, colour);
                }
            }
        }
    }

    /// The image, each pixel the mean of its subpixels: `[height][width]` of red, green, blue.
    pub(super) fn averaged(&self) -> (u32, u32, Vec<u8>) {
        let (width, height) = (self.width / FINENESS, self.height / FINENESS);
        let fineness = FINENESS as usize;
        let mut bytes = Vec::with_capacity(3 * width as usize * height as usize);
        for y in 0..height as usize {
            for x in 0..width as usize {
                for channel in 0..3 {
                    let subpixels = (0..fineness * fineness).map(|i| {
                        let (row, column) =
                            (fineness * y + i / fineness, fineness * x + i % fineness);
                        u32::from(self.bytes[3 * (row * self.width as usize + column) + channel])
                    });
                    let count = FINENESS * FINENESS;
                    bytes.push(((subpixels.sum::<u32>() + count / 2) / count) as u8);
                }
            }
        }
        (width, height, bytes)
    }
}

/// Twice the signed area of the triangle a b c.
fn cross(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_that_share_an_edge_leave_no_gap_and_either_orientation_is_drawn() {
        let palette = Palette::new(0.0, 1.0);
        let mut raster = Raster::new(5, 4);
        let (w, h) = (f64::from(raster.width), f64::from(raster.height));
        let corners = [[0.0, 0.0], [w, 0.0], [w, h], [0.0, h]];
        let vertex = |i: usize| (corners[i], 1.0);
        raster.triangle([vertex(0), vertex(1), vertex(2)], &palette);
        raster.triangle([vertex(0), vertex(3), vertex(2)], &palette);
        let expected = palette.colour(1.0);
        assert!(raster.bytes.chunks(3).all(|pixel| pixel == expected));
        let (width, height, bytes) = raster.averaged();
        assert_eq!((width, height, bytes.len()), (5, 4, 60));
        assert!(bytes.chunks(3).all(|pixel| pixel == expected));
    }

    #[test]
    fn values_are_linear_and_the_outside_is_left_white() {
        let palette = Palette::new(0.0, 4.0);
        let mut raster = Raster::new(4, 2);
        let vertices = [([0.0, 0.0], 0.0), ([12.0, 0.0], 4.0), ([0.0, 6.0], 0.0)];
        raster.triangle(vertices, &palette);
        assert_eq!(raster.bytes[..3], palette.colour(0.5 / 3.0));
        assert_eq!(raster.bytes[3 * 8..3 * 9], palette.colour(8.5 / 3.0));
        assert_eq!(raster.bytes[raster.bytes.len() - 3..], [255; 3]);
        let mut same = raster.clone();
        same.triangle([([0.0, 0.0], 0.0); 3], &palette);
        same.triangle([([0.0, 0.0], 0.0), ([f64::NAN, 1.0], 0.0), ([5.0, 5.0], 1.0)], &palette);
        same.triangle([([-9.0, -9.0], 0.0), ([-1.0, -9.0], 0.0), ([-5.0, -1.0], 1.0)], &palette);
        assert_eq!(same.bytes, raster.bytes, "nothing of no area or outside is drawn");
        same.fill([10, 4], [99, 99], [1, 2, 3]);
        assert_eq!(same.bytes[same.bytes.len() - 3..], [1, 2, 3]);
    }
}
