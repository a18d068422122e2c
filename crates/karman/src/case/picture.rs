//! `[output] picture`: a picture of a field.

use super::average::Average;
use super::error::Problem;
use super::names::Names;
use super::output_parts::field;
use super::value::{Maybe, Rule, Sign, number, required};
use crate::descriptor::VELOCITY;
use karman_macros::Keyword;
use serde::Deserialize;
use toml::Spanned;

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Axis {
    /// First.
    X,
    /// Second.
    Y,
    /// Third.
    Z,
}

/// A picture of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The field.
    pub field: String,
    /// The plane; `None` shows a 2D mesh whole and cuts a 3D mesh halfway along z.
    pub slice: Option<Slice>,
    /// Values at the ends of the colours; default: those of the field.
    pub range: Option<[f64; 2]>,
    /// Lowest and highest corner of the part shown, in the coordinates of the plane; default: all.
    pub window: Option<[[f64; 2]; 2]>,
    /// Whether arrows show the velocity, of a mean velocity this mean.
    pub vectors: bool,
}

/// A plane normal to an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The normal.
    pub axis: Axis,
    /// Coordinate along it.
    pub at: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PictureFile {
    pub(super) field: Maybe<String>,
    pub(super) slice: Maybe<SliceFile>,
    range: Maybe<Vec<f64>>,
    window: Maybe<Vec<f64>>,
    vectors: Maybe<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SliceFile {
    axis: Maybe<Axis>,
    at: Maybe<f64>,
}

pub(crate) fn check(
    file: &Spanned<PictureFile>,
    averages: &[Average],
    names: Names,
) -> Result<Picture, Problem> {
    let keys = file.get_ref();
    let slice = match &keys.slice {
        None => None,
        Some(slice) => {
            let (keys, span) = (slice.get_ref(), slice.span());
            required(&keys.at, "at", &span)?;
            Some(Slice {
                axis: *required(&keys.axis, "axis", &span)?.get_ref(),
                at: number(&keys.at, 0.0, "at", Sign::Any)?,
            })
        }
    };
    let name = required(&keys.field, "field", &file.span())?;
    let vectors = keys.vectors.as_ref();
    let no_velocity = names.refusal(|equation| equation.has_field(VELOCITY));
    if let (Some(vectors), Some(_)) = (vectors, no_velocity) {
        let message = "`vectors` belongs to a flow case: arrows show the velocity";
        return Err(Problem::at(vectors.span(), message));
    }
    let range = keys.range.as_ref().map(|range| numbers(range, "range")).transpose()?;
    let window = keys.window.as_ref().map(|window| numbers(window, "window")).transpose()?;
    let window = window.map(|[x0, y0, x1, y1]| [[x0, y0], [x1, y1]]);
    if let (Some(file), Some([low, high])) = (&keys.range, range)
        && low >= high
    {
        let message =
            format!("`range` goes from a lower to a higher value, not from {low} to {high}");
        return Err(Problem::at(file.span(), message));
    }
    if let (Some(file), Some([low, high])) = (&keys.window, window)
        && (low[0] >= high[0] || low[1] >= high[1])
    {
        let message = "`window` is [x0, y0, x1, y1] with x0 < x1 and y0 < y1";
        return Err(Problem::at(file.span(), message));
    }
    let average = averages.iter().find(|average| average.has_result(name.get_ref()));
    let is_mean_velocity =
        average.is_some_and(|average| average.name_of(VELOCITY, "mean") == *name.get_ref());
    if let (Some(vectors), Some(_), false) = (vectors, average, is_mean_velocity) {
        let message = "`vectors` in a picture of an average shows the mean velocity alone";
        return Err(Problem::at(vectors.span(), message));
    }
    Ok(Picture {
        field: match average {
            Some(_) => name.get_ref().clone(),
            None => field(name, names)?,
        },
        slice,
        range,
        window,
        vectors: vectors.is_some_and(|vectors| *vectors.get_ref()),
    })
}

/// `N` finite numbers.
fn numbers<const N: usize>(
    file: &Spanned<Vec<f64>>,
    name: &'static str,
) -> Result<[f64; N], Problem> {
    let rule = Rule { name, sign: Sign::Any, time: false };
    for value in file.get_ref() {
        rule.check_number(*value, file.span())?;
    }
    <[f64; N]>::try_from(file.get_ref().as_slice()).map_err(|_| {
        let message = format!("`{name}` takes {N} numbers, {} given", file.get_ref().len());
        Problem::at(file.span(), message)
    })
}
