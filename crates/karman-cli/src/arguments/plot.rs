//! Arguments of `karman plot`.

use clap::Args;
use std::path::PathBuf;

/// 2D meshes are drawn whole, 3D meshes where a plane intersects them.
#[derive(Debug, Args)]
pub(crate) struct PlotArguments {
    /// A mesh file, or a VTU file of a result
    pub(crate) input: PathBuf,
    /// The file to write: .png
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// A field of the file; of a vector its magnitude, as velocity_x one component. Default: the regions and the lines of
    /// the mesh
    #[arg(long, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// The plane of a 3D mesh, as z=0.5; default: halfway along z
    #[arg(long, value_name = "AXIS=AT", value_parser = plane)]
    pub(crate) slice: Option<(usize, f64)>,
    /// Draw the lines of the mesh over a field
    #[arg(long)]
    pub(crate) mesh: bool,
    /// The part to draw, in the coordinates of the plane: x0,y0,x1,y1
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true, value_parser = window)]
    pub(crate) window: Option<[[f64; 2]; 2]>,
    /// Values at the ends of the colours; default: those of the field in the picture
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, requires = "field", value_parser = range)]
    pub(crate) range: Option<[f64; 2]>,
    /// Heading; default: the name of the file
    #[arg(long)]
    pub(crate) title: Option<String>,
}

/// An axis and a place on it.
fn plane(text: &str) -> Result<(usize, f64), String> {
    let parsed = text.split_once('=').and_then(|(axis, at)| {
        let axis = ["x", "y", "z"].iter().position(|own| *own == axis.trim())?;
        Some((axis, at.trim().parse::<f64>().ok().filter(|at| at.is_finite())?))
    });
    parsed.ok_or_else(|| "a plane is x, y or z and a number, as z=0.5".to_owned())
}

/// `N` finite numbers between commas.
fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let parse = |part: &str| part.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    text.split(',').map(parse).collect::<Option<Vec<f64>>>()?.try_into().ok()
}

/// Lowest and highest corner of a rectangle.
fn window(text: &str) -> Result<[[f64; 2]; 2], String> {
    match numbers(text) {
        Some([x0, y0, x1, y1]) if x0 < x1 && y0 < y1 => Ok([[x0, y0], [x1, y1]]),
        _ => Err("a window is x0,y0,x1,y1 with x0 < x1 and y0 < y1".to_owned()),
    }
}

/// A lower and a higher value.
fn range(text: &str) -> Result<[f64; 2], String> {
    numbers(text)
        .filter(|[low, high]| low < high)
        .ok_or_else(|| "a range goes from a lower to a higher value, as 0,1".to_owned())
}
