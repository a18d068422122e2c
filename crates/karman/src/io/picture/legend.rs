//! Beside a picture: the colour bar of a field with its ticks, or the names of the regions.

use super::palette::{Palette, ticks};
use super::raster::{FINENESS, Raster};
use super::{BAR_GAP, BAR_WIDTH, INK, MARGIN_LEFT, MARGIN_TOP, Pen, PictureContent, PictureField};
use super::{MARGIN_RIGHT, View, short};
use plotters::style::text_anchor::{HPos, VPos};

/// Most regions whose names are shown.
const MOST_NAMES: usize = 12;
/// Most letters of a name that are shown.
const LETTERS: usize = 13;
/// Pixels between the names of regions.
const LINE: u32 = 30;
/// Least distance between the ticks of the colour bar.
const TICKS: u32 = 40;
/// Height and width of the colour of a region.
const SWATCH: u32 = 18;

/// The regions whose names are shown: none where the mesh has one region or very many.
fn names<'a>(content: &PictureContent<'a>) -> &'a [String] {
    match content.field {
        PictureField::Regions { names, .. } if (2..=MOST_NAMES).contains(&names.len()) => names,
        _ => &[],
    }
}

/// Pixels right of the frame: the bar or the regions, and a margin.
pub(super) fn width(content: &PictureContent<'_>) -> u32 {
    if matches!(content.field, PictureField::Regions { .. }) && names(content).is_empty() {
        return BAR_GAP;
    }
    BAR_GAP + BAR_WIDTH + MARGIN_RIGHT
}

fn left(view: &View) -> u32 {
    MARGIN_LEFT + view.width + BAR_GAP
}

/// Fills the colour bar, or a square for each region.
pub(super) fn fill(
    raster: &mut Raster,
    view: &View,
    content: &PictureContent<'_>,
    palette: &Palette,
) {
    let left = left(view) * FINENESS;
    if matches!(content.field, PictureField::Regions { .. }) {
        for region in 0..names(content).len() as u32 {
            let top = (MARGIN_TOP + region * LINE) * FINENESS;
            let to = [left + SWATCH * FINENESS, top + SWATCH * FINENESS];
            raster.fill([left, top], to, palette.colour(f64::from(region)));
        }
        return;
    }
    let (low, high) = palette.range();
    let rows = view.height * FINENESS;
    for row in 0..rows {
        let share = 1.0 - (f64::from(row) + 0.5) / f64::from(rows);
        let colour = palette.colour(low * (1.0 - share) + high * share);
        let y = MARGIN_TOP * FINENESS + row;
        raster.fill([left, y], [left + BAR_WIDTH * FINENESS, y + 1], colour);
    }
}

/// Draws the ticks of the colour bar, or the names of the regions. The error is a text.
pub(super) fn label(
    pen: &Pen<'_, '_>,
    view: &View,
    content: &PictureContent<'_>,
    palette: &Palette,
) -> Result<(), String> {
    let bar = f64::from(left(view));
    let top = f64::from(MARGIN_TOP);
    if matches!(content.field, PictureField::Regions { .. }) {
        for (region, name) in names(content).iter().enumerate() {
            let (y, size) = (top + region as f64 * f64::from(LINE), f64::from(SWATCH));
            pen.frame([bar, y], [bar + size, y + size])?;
            let place = [bar + size + 10.0, y + size / 2.0];
            let name: String = name.chars().take(LETTERS).collect();
            pen.text(&name, place, 17.0, INK, (HPos::Left, VPos::Center))?;
        }
        return Ok(());
    }
    let (bar_right, bottom) = (bar + f64::from(BAR_WIDTH), f64::from(MARGIN_TOP + view.height));
    pen.frame([bar, top], [bar_right, bottom])?;
    let (low, high) = palette.range();
    for (value, text) in ticks(low, high, tick_count(view.height)) {
        let y = bottom - (value - low) / (high - low) * (bottom - top);
        pen.line([bar_right, y], [bar_right + 6.0, y])?;
        pen.text(&text, [bar_right + 12.0, y], 17.0, INK, (HPos::Left, VPos::Center))?;
    }
    Ok(())
}

/// About the number of ticks of a bar of `height` pixels.
fn tick_count(height: u32) -> usize {
    (height / TICKS).clamp(3, 10) as usize
}

/// The second line of a picture: the field with its range, the note, the size of the longest arrow.
pub(super) fn description(
    content: &PictureContent<'_>,
    (low, high): (f64, f64),
    longest_arrow: Option<f64>,
) -> String {
    let mut parts = vec![];
    if !matches!(content.field, PictureField::Regions { .. }) {
        parts.push(format!("{} from {} to {}", content.name, short(low), short(high)));
    }
    if !content.note.is_empty() {
        parts.push(content.note.to_owned());
    }
    parts.extend(longest_arrow.map(|longest| format!("longest arrow {}", short(longest))));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{tick_count, ticks};

    #[test]
    fn the_bar_of_a_flat_picture_has_several_ticks() {
        let texts = |low, high, height| -> Vec<String> {
            ticks(low, high, tick_count(height)).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(0.04, 3.338, 300), ["0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]);
        assert_eq!(texts(0.0, 0.9078, 225), ["0.0", "0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(texts(0.0, 1.0, 60), ["0.0", "0.5", "1.0"]);
    }
}
