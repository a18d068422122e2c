//! The lines of the mesh on a slice: the sides of its polygons, smoothed at their edges, faint where cells are smaller than a few
//! pixels.

use super::View;
use super::raster::{FINENESS, Raster};
use super::slice::Slice;

/// Width of a line in pixels.
pub(super) const WIDTH: f64 = 0.8;
/// Most ink of lines at once: where cells are narrow, this part of the area.
const DENSEST: f64 = 0.5;
/// Colour of the lines.
pub(super) const INK: f64 = 16.0;

/// Draws the sides of the polygons `shown` in the part of the image that is open to drawing.
pub(super) fn draw(raster: &mut Raster, slice: &Slice, shown: &[usize], view: &View) {
    let fine = f64::from(FINENESS);
    let mut ink = Ink::over(raster.open_area());
    for &polygon in shown {
        let corners = slice.corners_of(polygon);
        let places: Vec<[f64; 2]> =
            corners.iter().map(|corner| view.place(corner.position).map(|x| x * fine)).collect();
        for (side, &from) in places.iter().enumerate() {
            let to = places[(side + 1) % places.len()];
            ink.line(from, to, opacity(extent_across(&places, from, to) / fine));
        }
    }
    ink.cover(raster);
}

/// Opacity of the sides of a cell that extends `pixels` across them. Lines of full opacity would fill narrow cells.
fn opacity(pixels: f64) -> f64 {
    (DENSEST * pixels / WIDTH).min(1.0)
}

/// Largest distance of the corners of a polygon from the line of a side.
fn extent_across(corners: &[[f64; 2]], from: [f64; 2], to: [f64; 2]) -> f64 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let length = along[0].hypot(along[1]);
    if length == 0.0 {
        return 0.0;
    }
    let distance =
        |p: &[f64; 2]| ((p[0] - from[0]) * along[1] - (p[1] - from[1]) * along[0]).abs() / length;
    corners.iter().map(distance).fold(0.0, f64::max)
}

/// The part of each subpixel that lines cover, in a rectangle. Lines that cross or coincide cover as the strongest of them.
struct Ink {
    from: [usize; 2],
    size: [usize; 2],
    part: Vec<f32>,
}

impl Ink {
    fn over([from, to]: [[u32; 2]; 2]) -> Ink {
        let from = from.map(|x| x as usize);
        let size = [0, 1].map(|axis| (to[axis] as usize).saturating_sub(from[axis]));
        Ink { from, size, part: vec![0.0; size[0] * size[1]] }
    }

    /// Covers a line between two places in subpixels.
    fn line(&mut self, from: [f64; 2], to: [f64; 2], opacity: f64) {
        let along = [to[0] - from[0], to[1] - from[1]];
        let square = along[0] * along[0] + along[1] * along[1];
        if opacity <= 0.0 || !square.is_finite() {
            return;
        }
        let half = WIDTH * f64::from(FINENESS) / 2.0;
        let reach = half + 0.5;
        // Rows outermost: a row meets a steep line in few columns.
        let rows = self.range(1, from[1].min(to[1]) - reach, from[1].max(to[1]) + reach);
        for row in rows {
            let y = (row + self.from[1]) as f64 + 0.5;
            let [low, high] = columns_of(from, to, [y - reach, y + reach]);
            for column in self.range(0, low - reach, high + reach) {
                let x = (column + self.from[0]) as f64 + 0.5;
                let away = [x - from[0], y - from[1]];
                let share = if square > 0.0 {
                    ((away[0] * along[0] + away[1] * along[1]) / square).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let distance = (away[0] - share * along[0]).hypot(away[1] - share * along[1]);
                let part = ((reach - distance).clamp(0.0, 1.0) * opacity) as f32;
                let own = &mut self.part[row * self.size[0] + column];
                *own = own.max(part);
            }
        }
    }

    /// Rows or columns of the rectangle between two places of the image.
    fn range(&self, axis: usize, low: f64, high: f64) -> std::ops::Range<usize> {
        let (first, size) = (self.from[axis] as f64, self.size[axis] as f64);
        let start = (low - first).floor().clamp(0.0, size) as usize;
        start..(high - first).ceil().clamp(0.0, size) as usize
    }

    /// Blends the ink into the image.
    fn cover(&self, raster: &mut Raster) {
        for (index, &part) in self.part.iter().enumerate().filter(|(_, part)| **part > 0.0) {
            let (x, y) = (index % self.size[0] + self.from[0], index / self.size[0] + self.from[1]);
            let part = f64::from(part);
            let mixed = |below: u8| (1.0 - part) * f64::from(below) + part * INK;
            raster.set(x, y, raster.colour_at(x, y).map(|below| mixed(below).round() as u8));
        }
    }
}

/// The columns between which a line passes the rows from `rows[0]` to `rows[1]`.
fn columns_of(from: [f64; 2], to: [f64; 2], rows: [f64; 2]) -> [f64; 2] {
    let height = to[1] - from[1];
    let at = |y: f64| {
        if height == 0.0 {
            return [from[0], to[0]];
        }
        let share = ((y - from[1]) / height).clamp(0.0, 1.0);
        [from[0] + share * (to[0] - from[0]); 2]
    };
    let ends = [at(rows[0]), at(rows[1])].concat();
    [ends.iter().copied().fold(f64::INFINITY, f64::min), ends.into_iter().fold(f64::MIN, f64::max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ink of a line on a square of subpixels.
    fn ink_of(from: [f64; 2], to: [f64; 2]) -> Ink {
        let mut ink = Ink::over([[0, 0], [300, 300]]);
        ink.line(from, to, 1.0);
        ink
    }

    #[test]
    fn a_line_covers_its_length_times_its_width_in_every_direction() {
        let width = WIDTH * f64::from(FINENESS);
        for k in 0..24 {
            let (sine, cosine) = (f64::from(k) * 0.261).sin_cos();
            let [from, to] = [-1.0, 1.0]
                .map(|sign: f64| [150.3 + sign * 100.0 * cosine, 149.8 + sign * 100.0 * sine]);
            let ink = ink_of(from, to);
            let covered = ink.part.iter().fold(0.0, |sum, &part| sum + f64::from(part));
            // The caps add half a circle at each end.
            let expected = 200.0 * width + std::f64::consts::PI * width * width / 4.0;
            assert!((covered / expected - 1.0).abs() < 0.02, "{k}: {covered} {expected}");
        }
    }

    #[test]
    fn lines_outside_and_without_length_leave_no_trace_beside_themselves() {
        assert!(ink_of([-50.0, -50.0], [-10.0, 400.0]).part.iter().all(|part| *part == 0.0));
        assert!(ink_of([f64::NAN, 0.0], [10.0, 10.0]).part.iter().all(|part| *part == 0.0));
        let dot = ink_of([100.0, 100.0], [100.0, 100.0]);
        assert!(dot.part.iter().filter(|part| **part > 0.0).count() <= 16);
    }

    #[test]
    fn narrow_cells_have_faint_lines() {
        assert_eq!(opacity(10.0), 1.0);
        assert!(opacity(0.4) < 0.3 && opacity(0.0) == 0.0);
        let thin = [[0.0, 0.0], [30.0, 0.0], [0.0, 1.5]];
        assert_eq!(extent_across(&thin, thin[0], thin[1]), 1.5);
        assert_eq!(extent_across(&thin, thin[2], thin[0]), 30.0);
        assert_eq!(extent_across(&thin, thin[0], thin[0]), 0.0);
    }
}
