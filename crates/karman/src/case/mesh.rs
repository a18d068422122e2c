//! `[mesh]`: a file or one generator.

use super::error::Problem;
use super::value::{Maybe, Rule, Sign, number, required};
use crate::mesh::Renumbering;
use crate::mesh::generate::{
    AnnulusParams, BoxParams, BoxWithObstacleParams, CylinderInChannelParams, Element, Generator,
    SphereInBoxParams,
};
use serde::Deserialize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// Source of the mesh, its scale and numbering.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshCase {
    /// A file or a generator.
    pub source: MeshSource,
    /// Factor on all coordinates; default 1.
    pub scale: f64,
    /// Order of the cells in memory; default `auto`.
    pub renumber: Renumbering,
}

/// A mesh file or a generator.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshSource {
    /// A mesh file, its path resolved from the folder of the case.
    File(PathBuf),
    /// A mesh generated at the start of the run.
    Generate(Generator),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeshFile {
    file: Maybe<String>,
    scale: Maybe<f64>,
    renumber: Option<Renumbering>,
    generate: Maybe<GenerateFile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GenerateFile {
    r#box: Maybe<BoxFile>,
    box_with_obstacle: Maybe<BoxWithObstacleFile>,
    cylinder_in_channel: Maybe<CylinderInChannelFile>,
    sphere_in_box: Maybe<SphereInBoxFile>,
    annulus: Maybe<AnnulusFile>,
}

/// A section with the keys of a box and further keys; `serde(flatten)` would lose places and accept
/// any key.
macro_rules! box_file {
    ($name:ident $(, $more:ident)*) => {
        #[derive(Clone, Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            origin: Maybe<Vec<f64>>,
            size: Maybe<Vec<f64>>,
            cells: Maybe<Vec<usize>>,
            element: Maybe<Element>,
            jitter: Maybe<f64>,
            seed: Option<u64>,
            grading: Maybe<Vec<f64>>,
            wall_grading: Maybe<Vec<f64>>,
            $($more: Maybe<Vec<f64>>,)*
        }

        impl $name {
            fn checked(&self, span: &Range<usize>) -> Result<BoxParams, Problem> {
                let size_file = required(&self.size, "size", span)?;
                let dimensions = size_file.get_ref().len();
                if !(2..=3).contains(&dimensions) {
                    let message = format!("`size` takes 2 or 3 numbers, {dimensions} given");
                    return Err(Problem::at(size_file.span(), message));
                }
                let list = |file: &Maybe<Vec<f64>>, default: f64, name, sign| match file {
                    None => Ok(vec![default; dimensions]),
                    Some(file) => numbers(file, dimensions, name, sign),
                };
                let grading = list(&self.grading, 1.0, "grading", Sign::Positive)?;
                let wall_grading =
                    list(&self.wall_grading, 1.0, "wall_grading", Sign::Positive)?;
                let both = (0..dimensions).find(|&k| grading[k] != 1.0 && wall_grading[k] != 1.0);
                if let (Some(k), Some(file)) = (both, &self.wall_grading) {
                    let message = format!(
                        "along {} the box has `grading` and `wall_grading`: set one of them to 1",
                        ["x", "y", "z"][k]
                    );
                    return Err(Problem::at(file.span(), message));
                }
                Ok(BoxParams {
                    origin: list(&self.origin, 0.0, "origin", Sign::Any)?,
                    size: list(&self.size, 1.0, "size", Sign::Positive)?,
                    cells: counts(required(&self.cells, "cells", span)?, dimensions)?,
                    element: element(&self.element, dimensions)?,
                    jitter: jitter(&self.jitter)?,
                    seed: self.seed.unwrap_or(1),
                    grading,
                    wall_grading,
                    ..BoxParams::default()
                })
            }
        }
    };
}
box_file!(BoxFile);
box_file!(BoxWithObstacleFile, obstacle_min, obstacle_max);

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CylinderInChannelFile {
    length: Maybe<f64>,
    height: Maybe<f64>,
    width: Maybe<f64>,
    centre: Maybe<Vec<f64>>,
    diameter: Maybe<f64>,
    cells_around: Maybe<usize>,
    cells_radial: Maybe<usize>,
    cells_wake: Maybe<usize>,
    cells_width: Maybe<usize>,
    element: Maybe<Element>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SphereInBoxFile {
    size: Maybe<Vec<f64>>,
    centre: Maybe<Vec<f64>>,
    diameter: Maybe<f64>,
    surface_size: Maybe<f64>,
    far_size: Maybe<f64>,
    layers: Option<usize>,
    element: Maybe<Element>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnnulusFile {
    inner: Maybe<f64>,
    outer: Maybe<f64>,
    length: Maybe<f64>,
    cells: Maybe<Vec<usize>>,
    grading: Maybe<f64>,
    element: Maybe<Element>,
}

const GENERATORS: [&str; 5] =
    ["box", "box_with_obstacle", "cylinder_in_channel", "sphere_in_box", "annulus"];

pub(crate) fn check(file: &Spanned<MeshFile>, folder: &Path) -> Result<MeshCase, Problem> {
    let (keys, span) = (file.get_ref(), file.span());
    let source = match (&keys.file, &keys.generate) {
        (Some(name), None) => MeshSource::File(mesh_file(name, folder)?),
        (None, Some(generate)) => MeshSource::Generate(generator(generate)?),
        (Some(_), Some(generate)) => {
            let message = "a mesh is read from `file` or generated, not both";
            return Err(Problem::at(generate.span(), message));
        }
        (None, None) => {
            let problem = Problem::at(span, "the mesh has neither `file` nor a generator");
            return Err(problem.note(format!("generators: {}", GENERATORS.join(", "))));
        }
    };
    Ok(MeshCase {
        source,
        scale: number(&keys.scale, 1.0, "scale", Sign::Positive)?,
        renumber: keys.renumber.unwrap_or_default(),
    })
}

fn mesh_file(name: &Spanned<String>, folder: &Path) -> Result<PathBuf, Problem> {
    let path = folder.join(name.get_ref());
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("there is no mesh file {}", path.display());
    Err(Problem::at(name.span(), message).note("paths start at the folder of the case file"))
}

fn generator(file: &Spanned<GenerateFile>) -> Result<Generator, Problem> {
    let keys = file.get_ref();
    let given: Vec<Range<usize>> = [
        keys.r#box.as_ref().map(Spanned::span),
        keys.box_with_obstacle.as_ref().map(Spanned::span),
        keys.cylinder_in_channel.as_ref().map(Spanned::span),
        keys.sphere_in_box.as_ref().map(Spanned::span),
        keys.annulus.as_ref().map(Spanned::span),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let [_, second, ..] = given.as_slice() {
        return Err(Problem::at(second.clone(), "a mesh has one generator, this is the second"));
    }
    if let Some(keys) = &keys.r#box {
        return keys.get_ref().checked(&keys.span()).map(Generator::Box);
    }
    if let Some(keys) = &keys.box_with_obstacle {
        return box_with_obstacle(keys.get_ref(), keys.span()).map(Generator::BoxWithObstacle);
    }
    if let Some(keys) = &keys.cylinder_in_channel {
        return cylinder(keys.get_ref(), keys.span()).map(Generator::CylinderInChannel);
    }
    if let Some(keys) = &keys.sphere_in_box {
        return sphere(keys.get_ref(), keys.span()).map(Generator::SphereInBox);
    }
    if let Some(keys) = &keys.annulus {
        return annulus(keys.get_ref(), keys.span()).map(Generator::Annulus);
    }
    let problem = Problem::at(file.span(), "no generator is named");
    Err(problem.note(format!("generators: {}", GENERATORS.join(", "))))
}

fn jitter(file: &Maybe<f64>) -> Result<f64, Problem> {
    let jitter = number(file, 0.0, "jitter", Sign::NotNegative)?;
    match file.as_ref().filter(|_| jitter >= 0.5) {
        None => Ok(jitter),
        Some(file) => {
            let message =
                format!("`jitter` must be below 0.5, not {jitter}: cells would be inverted");
            Err(Problem::at(file.span(), message))
        }
    }
}

fn box_with_obstacle(
    keys: &BoxWithObstacleFile,
    span: Range<usize>,
) -> Result<BoxWithObstacleParams, Problem> {
    let outer = keys.checked(&span)?;
    let min_file = required(&keys.obstacle_min, "obstacle_min", &span)?;
    let max_file = required(&keys.obstacle_max, "obstacle_max", &span)?;
    let entries = min_file.get_ref().len();
    if entries != 2 && entries != outer.size.len() {
        let expected = if outer.size.len() == 2 { "2" } else { "2 or 3" };
        let message = format!("`obstacle_min` takes {expected} numbers here, {entries} given");
        return Err(Problem::at(min_file.span(), message));
    }
    let obstacle_min = numbers(min_file, entries, "obstacle_min", Sign::Any)?;
    let obstacle_max = numbers(max_file, entries, "obstacle_max", Sign::Any)?;
    for direction in 0..entries {
        let low = outer.origin[direction];
        let high = low + outer.size[direction];
        let inside = low <= obstacle_min[direction]
            && obstacle_min[direction] < obstacle_max[direction]
            && obstacle_max[direction] <= high;
        if !inside {
            let axis = ["x", "y", "z"][direction];
            let message = format!(
                "along {axis} the obstacle from {} to {} is not inside the box from {low} to {high}",
                obstacle_min[direction], obstacle_max[direction]
            );
            return Err(Problem::at(max_file.span(), message));
        }
    }
    if let ([_, _, min], [_, _, max]) = (&obstacle_min[..], &obstacle_max[..]) {
        let (low, high) = (outer.origin[2], outer.origin[2] + outer.size[2]);
        if (*min, *max) != (low, high) {
            let message = format!("the obstacle must span the box along z, from {low} to {high}");
            return Err(Problem::at(max_file.span(), message));
        }
    }
    let plane = |corner: Vec<f64>| [corner[0], corner[1]];
    Ok(BoxWithObstacleParams {
        outer,
        obstacle_min: plane(obstacle_min),
        obstacle_max: plane(obstacle_max),
    })
}

fn cylinder(
    keys: &CylinderInChannelFile,
    span: Range<usize>,
) -> Result<CylinderInChannelParams, Problem> {
    let length = positive(&keys.length, "length", &span)?;
    let height = positive(&keys.height, "height", &span)?;
    let diameter = positive(&keys.diameter, "diameter", &span)?;
    let centre_file = required(&keys.centre, "centre", &span)?;
    let centre = numbers(centre_file, 2, "centre", Sign::Any)?;
    let (centre, radius) = ([centre[0], centre[1]], diameter / 2.0);
    let inside =
        radius < centre[0].min(length - centre[0]) && radius < centre[1].min(height - centre[1]);
    if !inside {
        let message = "the cylinder is not inside the channel (x from 0 to length, y to height)";
        return Err(Problem::at(centre_file.span(), message));
    }
    let width = keys.width.as_ref().map(|_| positive(&keys.width, "width", &span)).transpose()?;
    let default = CylinderInChannelParams::default();
    let cells_width = match &keys.cells_width {
        None => default.cells_width,
        Some(file) if width.is_none() => {
            let message = "`cells_width` needs `width`: without it the mesh is 2D";
            return Err(Problem::at(file.span(), message));
        }
        Some(_) => count(&keys.cells_width, "cells_width", &span)?,
    };
    Ok(CylinderInChannelParams {
        length,
        height,
        width,
        centre,
        diameter,
        cells_around: count(&keys.cells_around, "cells_around", &span)?,
        cells_radial: count(&keys.cells_radial, "cells_radial", &span)?,
        cells_wake: count(&keys.cells_wake, "cells_wake", &span)?,
        cells_width,
        element: element(&keys.element, if width.is_some() { 3 } else { 2 })?,
    })
}

fn sphere(keys: &SphereInBoxFile, span: Range<usize>) -> Result<SphereInBoxParams, Problem> {
    let three = |file: &Maybe<Vec<f64>>, name: &'static str, sign| {
        let entries = numbers(required(file, name, &span)?, 3, name, sign)?;
        Ok::<_, Problem>([entries[0], entries[1], entries[2]])
    };
    let size = three(&keys.size, "size", Sign::Positive)?;
    let centre = three(&keys.centre, "centre", Sign::Any)?;
    let diameter = positive(&keys.diameter, "diameter", &span)?;
    let inside = (0..3).all(|i| diameter / 2.0 < centre[i].min(size[i] - centre[i]));
    if let Some(file) = keys.centre.as_ref().filter(|_| !inside) {
        let message = "the sphere is not inside the box (from 0 to size)";
        return Err(Problem::at(file.span(), message));
    }
    Ok(SphereInBoxParams {
        size,
        origin: Some([0.0; 3]),
        centre,
        diameter,
        surface_size: positive(&keys.surface_size, "surface_size", &span)?,
        far_size: positive(&keys.far_size, "far_size", &span)?,
        layers: keys.layers.unwrap_or(0),
        element: match &keys.element {
            None => Some(Element::Tetrahedron),
            Some(_) => element(&keys.element, 3)?,
        },
    })
}

fn annulus(keys: &AnnulusFile, span: Range<usize>) -> Result<AnnulusParams, Problem> {
    let inner = positive(&keys.inner, "inner", &span)?;
    let outer = positive(&keys.outer, "outer", &span)?;
    if let Some(file) = keys.outer.as_ref().filter(|_| outer <= inner) {
        let message = format!("`outer` ({outer}) must be larger than `inner` ({inner})");
        return Err(Problem::at(file.span(), message));
    }
    let length =
        keys.length.as_ref().map(|_| positive(&keys.length, "length", &span)).transpose()?;
    let dimensions = if length.is_some() { 3 } else { 2 };
    Ok(AnnulusParams {
        inner,
        outer,
        length,
        cells: counts(required(&keys.cells, "cells", &span)?, dimensions)?,
        grading: number(&keys.grading, 1.0, "grading", Sign::Positive)?,
        element: element(&keys.element, dimensions)?,
        ..AnnulusParams::default()
    })
}

/// The element, checked against `dimensions`; by default quadrilateral or hexahedron.
fn element(file: &Maybe<Element>, dimensions: usize) -> Result<Option<Element>, Problem> {
    let Some(file) = file else {
        let block = if dimensions == 2 { Element::Quadrilateral } else { Element::Hexahedron };
        return Ok(Some(block));
    };
    let element = *file.get_ref();
    if element.fits(dimensions) {
        return Ok(Some(element));
    }
    let fitting = Element::ALL.into_iter().filter(|e| e.fits(dimensions)).map(Element::word);
    let message = format!("a {dimensions}D mesh has no cells of shape `{}`", element.word());
    let valid = format!("valid values: {}", fitting.collect::<Vec<_>>().join(", "));
    Err(Problem::at(file.span(), message).note(valid))
}

fn numbers(
    file: &Spanned<Vec<f64>>,
    entries: usize,
    name: &'static str,
    sign: Sign,
) -> Result<Vec<f64>, Problem> {
    let given = file.get_ref();
    if given.len() != entries {
        let message = format!("`{name}` takes {entries} numbers here, {} given", given.len());
        return Err(Problem::at(file.span(), message));
    }
    let rule = Rule { name, sign, time: false };
    given.iter().map(|value| rule.check_number(*value, file.span())).collect()
}

fn counts(file: &Spanned<Vec<usize>>, entries: usize) -> Result<Vec<usize>, Problem> {
    let given = file.get_ref();
    if given.len() != entries || given.contains(&0) {
        let message = format!("`cells` takes {entries} whole numbers here, 1 or more each");
        return Err(Problem::at(file.span(), message));
    }
    Ok(given.clone())
}

fn count(file: &Maybe<usize>, name: &str, section: &Range<usize>) -> Result<usize, Problem> {
    let file = required(file, name, section)?;
    match file.get_ref() {
        0 => Err(Problem::at(file.span(), format!("`{name}` must be 1 or more"))),
        count => Ok(*count),
    }
}

fn positive(file: &Maybe<f64>, name: &'static str, section: &Range<usize>) -> Result<f64, Problem> {
    required(file, name, section)?;
    number(file, 0.0, name, Sign::Positive)
}
