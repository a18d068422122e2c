//! Pictures: a PNG of a field on a slice, with axes and a colour bar.

mod arrows;
pub mod history_plot;
mod legend;
mod mesh_lines;
mod palette;
mod raster;
mod slice;

use std::path::{Path, PathBuf};

use plotters::backend::BitMapBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{PathElement, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, TextStyle, register_font};
use thiserror::Error;

pub(crate) use palette::ticks;
use palette::{Palette, range_of, short};
use raster::{FINENESS, Raster, Vertex};
pub use slice::{Corner, Slice};

/// DejaVu Sans, reduced; see `assets/`.
const FONT: &[u8] = include_bytes!("../../../assets/DejaVuSans-subset.ttf");
/// Its name in plotters.
const FONT_NAME: &str = "karman";

/// Largest width and height of the drawn slice, in pixels.
const LARGEST: [f64; 2] = [900.0, 760.0];
/// Least height and width, which leave room for the ticks of the colour bar.
const LOWEST: f64 = 180.0;
const MARGIN_LEFT: u32 = 96;
const MARGIN_TOP: u32 = 84;
const MARGIN_BOTTOM: u32 = 72;
const BAR_GAP: u32 = 36;
const BAR_WIDTH: u32 = 26;
const MARGIN_RIGHT: u32 = 112;

/// Sizes of the title and of the line below it, in pixels.
const TITLE_SIZE: f64 = 26.0;
const SECOND_SIZE: f64 = 18.0;
/// Width of the words about arrows in that line.
const ARROW_TEXT: u32 = 180;

const INK: RGBColor = RGBColor(34, 34, 34);
const FAINT: RGBColor = RGBColor(96, 96, 96);

/// Why there is no picture.
#[derive(Debug, Error)]
pub enum PictureError {
    /// The slice is empty.
    #[error("there is nothing to draw in {}: the plane does not intersect the mesh", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The window is beside the slice.
    #[error(
        "there is nothing to draw in {}: `window` is outside the mesh, which spans {} to {} and {} to {}",
        path.display(), mesh[0][0], mesh[1][0], mesh[0][1], mesh[1][1]
    )]
    Window {
        /// The file.
        path: PathBuf,
        /// Lowest and highest corner of the slice.
        mesh: [[f64; 2]; 2],
    },
    /// Too few values for the mesh.
    #[error("a picture takes a value for each of {expected} {of}, {found} given")]
    Length {
        /// "cells" or "nodes".
        of: &'static str,
        /// Their number.
        expected: usize,
        /// Number of values.
        found: usize,
    },
    /// The file cannot be written, or a text cannot be drawn.
    #[error("cannot draw {}: {reason}", path.display())]
    Draw {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
}

/// Values of the drawn field.
#[derive(Clone, Copy, Debug)]
pub enum PictureField<'a> {
    /// One colour per cell: `[n_cells]`.
    Cells(&'a [f64]),
    /// Colours blend between nodes: `[n_nodes]`.
    Nodes(&'a [f64]),
    /// No field: a pale colour for each region.
    Regions {
        /// Region of each cell: `[n_cells]`.
        of_cells: &'a [u32],
        /// Names of the regions.
        names: &'a [String],
    },
}

impl PictureField<'_> {
    /// The value of a cell; of a field at nodes, none.
    fn value_in(&self, cell: u32) -> f64 {
        match self {
            PictureField::Cells(values) => values[cell as usize],
            PictureField::Regions { of_cells, .. } => f64::from(of_cells[cell as usize]),
            PictureField::Nodes(_) => f64::NAN,
        }
    }
}

/// The drawn field and the texts of the picture.
#[derive(Clone, Copy, Debug)]
pub struct PictureContent<'a> {
    /// Heading, such as the title of the case.
    pub title: &'a str,
    /// Name of the field, over the colour bar and in the second line.
    pub name: &'a str,
    /// Further text of the second line, such as `z = 0.5` or a time; may be empty.
    pub note: &'a str,
    /// Its values.
    pub field: PictureField<'a>,
    /// Values at the ends of the colours; `None`: those of the field in the picture.
    pub range: Option<[f64; 2]>,
    /// Lowest and highest corner of the part of the plane that is drawn; `None`: all.
    pub window: Option<[[f64; 2]; 2]>,
    /// Vectors in the coordinates of the plane, shown as arrows: `[n_cells]`.
    pub arrows: Option<&'a [[f64; 2]]>,
    /// Whether the lines of the mesh are drawn: the sides of the polygons.
    pub mesh_lines: bool,
}

impl<'a> PictureContent<'a> {
    /// A field without texts, range, window, arrows or lines of the mesh.
    pub fn of(name: &'a str, field: PictureField<'a>) -> Self {
        PictureContent {
            title: "",
            name,
            note: "",
            field,
            range: None,
            window: None,
            arrows: None,
            mesh_lines: false,
        }
    }
}

/// Draws a field on a slice and writes it as PNG. The file is
/// renamed to its name once complete.
///
/// # Errors
/// [`PictureError`]: an empty slice, too few values for the mesh, a file that cannot be written.
pub fn write(path: &Path, slice: &Slice, of: &PictureContent<'_>) -> Result<(), PictureError> {
    save(path, draw(path, slice, of)?)
}

/// Writes pixels as PNG. The file is renamed to its name once complete.
fn save(path: &Path, (width, height, bytes): (u32, u32, Vec<u8>)) -> Result<(), PictureError> {
    let failed = |reason: String| PictureError::Draw { path: path.to_owned(), reason };
    // The temporary name keeps the extension, which selects the encoder.
    let partial = path.with_extension("partial.png");
    let mut image = BitMapBackend::new(&partial, (width, height));
    let copied =
        plotters::backend::DrawingBackend::blit_bitmap(&mut image, (0, 0), (width, height), &bytes);
    copied.map_err(|error| failed(error.to_string()))?;
    let written = plotters::backend::DrawingBackend::present(&mut image);
    written.map_err(|error| failed(error.to_string()))?;
    drop(image);
    std::fs::rename(&partial, path).map_err(|error| failed(error.to_string()))
}

/// The picture's pixels: width, height, and `[height][width]` of red, green, blue.
fn draw(
    path: &Path,
    slice: &Slice,
    of: &PictureContent<'_>,
) -> Result<(u32, u32, Vec<u8>), PictureError> {
    let bounds = slice.bounds().ok_or_else(|| PictureError::Empty { path: path.to_owned() })?;
    check_length(slice, of)?;
    let view = View::fit(of.window.unwrap_or(bounds));
    let shown: Vec<usize> = (0..slice.len()).filter(|p| view.shows(slice.corners_of(*p))).collect();
    if shown.is_empty() {
        return Err(PictureError::Window { path: path.to_owned(), mesh: bounds });
    }
    let values = range_shown(slice, &shown, of.field);
    let palette = match of.field {
        PictureField::Regions { names, .. } => Palette::of_regions(names.len()),
        _ => {
            let (low, high) = of.range.map_or(values, |[low, high]| (low, high));
            let palette = Palette::new(low, high);
            if of.mesh_lines { palette.paler() } else { palette }
        }
    };
    let texts = [(of.title, TITLE_SIZE), (&*legend::description(of, values, None), SECOND_SIZE)];
    let widths = texts.map(|(text, size)| text_width(text, size));
    let widest = widths.into_iter().try_fold(0, |widest, width| Ok(width?.max(widest)));
    let widest = widest.map_err(|reason| PictureError::Draw { path: path.to_owned(), reason })?;
    let arrows = if of.arrows.is_some() { ARROW_TEXT } else { 0 };
    let beside = (view.width + legend::width(of)).max(widest + arrows + BAR_GAP);
    let width = MARGIN_LEFT + beside;
    let mut raster = Raster::new(width, MARGIN_TOP + view.height + MARGIN_BOTTOM);
    raster.clip([MARGIN_LEFT, MARGIN_TOP], [MARGIN_LEFT + view.width, MARGIN_TOP + view.height]);
    draw_field(&mut raster, slice, &shown, of.field, &view, &palette);
    if of.mesh_lines {
        mesh_lines::draw(&mut raster, slice, &shown, &view);
    }
    legend::fill(&mut raster, &view, of, &palette);
    let labelled = label(&mut raster, slice, (of, values), &view, &palette);
    labelled.map_err(|reason| PictureError::Draw { path: path.to_owned(), reason })?;
    Ok(raster.averaged())
}

/// Smallest and largest value of a field on the polygons `shown`.
fn range_shown(slice: &Slice, shown: &[usize], field: PictureField<'_>) -> (f64, f64) {
    match field {
        PictureField::Nodes(values) => {
            let corners = shown.iter().flat_map(|p| slice.corners_of(*p));
            range_of(corners.map(|corner| corner.value(values)))
        }
        _ => range_of(shown.iter().map(|p| field.value_in(slice.cells[*p]))),
    }
}

fn check_length(slice: &Slice, content: &PictureContent<'_>) -> Result<(), PictureError> {
    let cells = slice.cells.iter().max().map_or(0, |cell| *cell as usize + 1);
    if let Some(arrows) = content.arrows.filter(|arrows| arrows.len() < cells) {
        let (of, found) = ("cells", arrows.len());
        return Err(PictureError::Length { of, expected: cells, found });
    }
    let (of, needed, found) = match content.field {
        PictureField::Cells(values) => ("cells", cells, values.len()),
        PictureField::Regions { of_cells, .. } => ("cells", cells, of_cells.len()),
        PictureField::Nodes(values) => {
            let nodes = slice.corners.iter().flat_map(|corner| corner.nodes);
            ("nodes", nodes.max().map_or(0, |node| node as usize + 1), values.len())
        }
    };
    if found < needed {
        return Err(PictureError::Length { of, expected: needed, found });
    }
    Ok(())
}

/// Position and scale of the slice in the picture.
struct View {
    bounds: [[f64; 2]; 2],
    /// Pixels per unit of length, equal along both axes.
    scale: f64,
    /// Pixels of the frame around the slice.
    width: u32,
    height: u32,
    /// Pixels between the frame and the slice, which centre thin slices.
    inset: [f64; 2],
}

impl View {
    fn fit(bounds: [[f64; 2]; 2]) -> View {
        let extent = [0, 1].map(|axis| (bounds[1][axis] - bounds[0][axis]).max(f64::MIN_POSITIVE));
        let scale = (LARGEST[0] / extent[0]).min(LARGEST[1] / extent[1]);
        let size = [(extent[0] * scale).max(LOWEST), (extent[1] * scale).max(LOWEST)];
        let inset = [0, 1].map(|axis| (size[axis] - extent[axis] * scale) / 2.0);
        View { bounds, scale, width: size[0].round() as u32, height: size[1].round() as u32, inset }
    }

    /// Whether the rectangle around corners intersects the part that is drawn.
    fn shows(&self, corners: &[Corner]) -> bool {
        (0..2).all(|axis| {
            let along = || corners.iter().map(|corner| corner.position[axis]);
            along().any(|x| x >= self.bounds[0][axis]) && along().any(|x| x <= self.bounds[1][axis])
        })
    }

    /// Position in pixels, y downwards, of a point of the plane.
    fn place(&self, point: [f64; 2]) -> [f64; 2] {
        let x = (point[0] - self.bounds[0][0]) * self.scale + self.inset[0];
        let y = (point[1] - self.bounds[0][1]) * self.scale + self.inset[1];
        [f64::from(MARGIN_LEFT) + x, f64::from(MARGIN_TOP + self.height) - y]
    }
}

fn draw_field(
    raster: &mut Raster,
    slice: &Slice,
    shown: &[usize],
    field: PictureField<'_>,
    view: &View,
    palette: &Palette,
) {
    let fine = f64::from(FINENESS);
    for &polygon in shown {
        let vertices: Vec<Vertex> = slice
            .corners_of(polygon)
            .iter()
            .map(|corner| {
                let value = match field {
                    PictureField::Nodes(values) => corner.value(values),
                    _ => field.value_in(slice.cells[polygon]),
                };
                (view.place(corner.position).map(|pixels| pixels * fine), value)
            })
            .collect();
        if let [a, b, c] = vertices[..] {
            raster.triangle([a, b, c], palette);
            continue;
        }
        let n = vertices.len() as f64;
        let mean = |of: &dyn Fn(&Vertex) -> f64| vertices.iter().map(of).sum::<f64>() / n;
        let value = match field {
            PictureField::Nodes(_) => mean(&|vertex| vertex.1),
            _ => field.value_in(slice.cells[polygon]),
        };
        let centre = ([mean(&|vertex| vertex.0[0]), mean(&|vertex| vertex.0[1])], value);
        for (corner, &vertex) in vertices.iter().enumerate() {
            let next = vertices[(corner + 1) % vertices.len()];
            raster.triangle([vertex, next, centre], palette);
        }
    }
}

type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// Makes the font known to plotters.
fn font() -> Result<(), String> {
    register_font(FONT_NAME, FontStyle::Normal, FONT).map_err(|_| "its font is damaged".to_owned())
}

/// Width of a text of a size, in pixels. The error is a text.
fn text_width(text: &str, size: f64) -> Result<u32, String> {
    font()?;
    let (width, _) = (FONT_NAME, size).into_font().box_size(text).map_err(|e| e.to_string())?;
    Ok(width)
}

/// Draws texts and lines on the fine image, so that averaging smooths them. The error is a text.
fn label(
    raster: &mut Raster,
    slice: &Slice,
    (of, values): (&PictureContent<'_>, (f64, f64)),
    view: &View,
    palette: &Palette,
) -> Result<(), String> {
    font()?;
    let size = (raster.width, raster.height);
    let area = BitMapBackend::with_buffer(&mut raster.bytes, size).into_drawing_area();
    let pen = Pen { area: &area };
    let (left, right) = (f64::from(MARGIN_LEFT), f64::from(MARGIN_LEFT + view.width));
    let (top, bottom) = (f64::from(MARGIN_TOP), f64::from(MARGIN_TOP + view.height));
    let longest = of.arrows.map(|arrows| arrows::draw(&pen, slice, arrows, view)).transpose()?;
    pen.frame([left, top], [right, bottom])?;
    let at_left = (HPos::Left, VPos::Top);
    pen.text(of.title, [left, 16.0], TITLE_SIZE, INK, at_left)?;
    let second = legend::description(of, values, longest);
    pen.text(&second, [left, 50.0], SECOND_SIZE, FAINT, at_left)?;
    label_axes(&pen, slice, view)?;
    legend::label(&pen, view, of, palette)?;
    area.present().map_err(|error| error.to_string())
}

fn label_axes(pen: &Pen<'_, '_>, slice: &Slice, view: &View) -> Result<(), String> {
    let (left, right) = (f64::from(MARGIN_LEFT), f64::from(MARGIN_LEFT + view.width));
    let (top, bottom) = (f64::from(MARGIN_TOP), f64::from(MARGIN_TOP + view.height));
    let [low, high] = view.bounds;
    let count = |pixels: f64, each: f64| ((pixels / each) as usize).clamp(3, 8);
    let drawn = [0, 1].map(|axis| (high[axis] - low[axis]) * view.scale);
    for (value, text) in ticks(low[0], high[0], count(drawn[0], 110.0)) {
        let [x, _] = view.place([value, low[1]]);
        pen.line([x, bottom], [x, bottom + 6.0])?;
        pen.text(&text, [x, bottom + 12.0], 17.0, INK, (HPos::Center, VPos::Top))?;
    }
    for (value, text) in ticks(low[1], high[1], count(drawn[1], 90.0)) {
        let [_, y] = view.place([low[0], value]);
        pen.line([left - 6.0, y], [left, y])?;
        pen.text(&text, [left - 12.0, y], 17.0, INK, (HPos::Right, VPos::Center))?;
    }
    let names = slice.axes.map(String::from);
    let middle = [(left + right) / 2.0, (top + bottom) / 2.0];
    pen.text(&names[0], [middle[0], bottom + 38.0], 19.0, INK, (HPos::Center, VPos::Top))?;
    pen.text(&names[1], [28.0, middle[1]], 19.0, INK, (HPos::Center, VPos::Center))
}

/// Draws in pixels on an image of subpixels.
struct Pen<'d, 'b> {
    area: &'d Area<'b>,
}

impl Pen<'_, '_> {
    fn fine(pixels: f64) -> i32 {
        (pixels * f64::from(FINENESS)).round() as i32
    }

    fn text(
        &self,
        text: &str,
        at: [f64; 2],
        size: f64,
        colour: RGBColor,
        (horizontal, vertical): (HPos, VPos),
    ) -> Result<(), String> {
        let font = (FONT_NAME, size * f64::from(FINENESS)).into_font();
        // Corrects for the space of descenders, which shifts centred text upwards.
        let drop = if matches!(vertical, VPos::Center) { 0.1 * size } else { 0.0 };
        let place = (Self::fine(at[0]), Self::fine(at[1] + drop));
        let style = TextStyle::from(font).color(&colour).pos(Pos::new(horizontal, vertical));
        self.area.draw(&Text::new(text, place, style)).map_err(|error| error.to_string())
    }

    fn line(&self, from: [f64; 2], to: [f64; 2]) -> Result<(), String> {
        let path = [from, to].map(|[x, y]| (Self::fine(x), Self::fine(y)));
        let line = PathElement::new(path, INK.stroke_width(FINENESS));
        self.area.draw(&line).map_err(|error| error.to_string())
    }

    fn frame(&self, from: [f64; 2], to: [f64; 2]) -> Result<(), String> {
        let corners = [from, [to[0], from[1]], to, [from[0], to[1]], from];
        corners.windows(2).try_for_each(|pair| self.line(pair[0], pair[1]))
    }
}

#[cfg(test)]
mod tests;
