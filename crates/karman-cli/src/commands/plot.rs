//! `karman plot`

use crate::arguments::PlotArguments;
use crate::console;
use crate::failure::Failure;
use karman::io::picture::{self, PictureContent, PictureField, Slice};
use karman::mesh::RawMesh;
use karman::mesh::files::{FieldLocation, read_mesh_with_fields};

/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];

pub(crate) fn run(arguments: &PlotArguments, quiet: bool) -> Result<(), Failure> {
    let output = &arguments.output;
    if output.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("png")) {
        let message = format!("{}: pictures are written as .png", output.display());
        return Err(Failure::Input(message));
    }
    let mut read = read_mesh_with_fields(&arguments.input).map_err(Failure::input)?;
    let scalar = arguments.field.as_deref().map(|name| read.scalar(&arguments.input, name));
    let scalar = scalar.transpose().map_err(Failure::input)?;
    if read.mesh.dimension == 2
        && let Some(rotated) = read.mesh.rotate_to_xy_plane().map_err(Failure::input)?
    {
        tracing::warn!("{rotated}");
    }
    let raw = &read.mesh;
    let (slice, place) = slice(arguments, raw, quiet)?;
    let field = match &scalar {
        Some((FieldLocation::Cells, values)) => PictureField::Cells(values),
        Some((FieldLocation::Nodes, values)) => PictureField::Nodes(values),
        None => PictureField::Regions { of_cells: &raw.cells.groups, names: &raw.regions },
    };
    let whole = arguments.window.is_none();
    let mut cells = slice.cells.clone();
    // A warped cell may have two polygons.
    cells.dedup();
    let drawn = whole.then(|| console::count(cells.len() as u64, "cell"));
    let time = read.time.map(|time| format!("t = {time}"));
    let note: Vec<String> = place.into_iter().chain(time).chain(drawn).collect();
    let file = arguments.input.file_name().unwrap_or_default().to_string_lossy();
    let content = PictureContent {
        title: arguments.title.as_deref().unwrap_or(&file),
        note: &note.join(", "),
        range: arguments.range,
        window: arguments.window,
        mesh_lines: arguments.mesh || arguments.field.is_none(),
        ..PictureContent::of(arguments.field.as_deref().unwrap_or_default(), field)
    };
    picture::write(output, &slice, &content).map_err(Failure::input)?;
    console::tell(quiet, &format!("wrote {}", output.display()))
}

/// A 2D mesh, or the section of a 3D mesh by the plane of the arguments, with the text of the plane.
fn slice(
    arguments: &PlotArguments,
    raw: &RawMesh,
    quiet: bool,
) -> Result<(Slice, Option<String>), Failure> {
    let file = arguments.input.display();
    if raw.dimension == 2 {
        if arguments.slice.is_some() {
            let message = format!("--slice is for 3D meshes, and {file} is 2D");
            return Err(Failure::Input(message));
        }
        return Ok((Slice::of_2d_mesh(&raw.points, &raw.cells), None));
    }
    let bounds = |axis: usize| {
        let along = raw.points.iter().map(|point| point[axis]);
        along.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
    };
    let (axis, at) = match arguments.slice {
        Some(plane) => plane,
        None => {
            let [low, high] = bounds(2);
            let middle = 0.5 * (low + high);
            console::tell(quiet, &format!("{file} is 3D: drawn at z = {middle}; --slice chooses"))?;
            (2, middle)
        }
    };
    let place = format!("{} = {at}", AXES[axis]);
    let slice = Slice::of_3d_mesh(&raw.points, &raw.cells, axis, at);
    if slice.is_empty() {
        let ([low, high], name) = (bounds(axis), AXES[axis]);
        let message = format!(
            "the plane {place} does not intersect {file}, which spans {name} from {low} to {high}"
        );
        return Err(Failure::Input(message));
    }
    Ok((slice, Some(place)))
}
