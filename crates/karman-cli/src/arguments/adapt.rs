//! Arguments of `karman adapt`.

use super::backend;
use clap::{Args, ValueEnum};
use karman::backend::BackendKind;
use karman_adapt::{LengthPenalty, MetricLookup, Smoother};
use std::path::PathBuf;

/// Directions along which sizes are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Frame {
    /// x, y, z
    Cartesian,
    /// r, t, z about the z axis
    Cylindrical,
}

/// One of --metric, --sizes, --metric-file and --field prescribes the sizes.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("prescription").required(true).args(["metric", "sizes", "metric_file", "field"]))]
pub(crate) struct AdaptArguments {
    /// The mesh to adapt
    pub(crate) input: PathBuf,
    /// The file to write: .msh, .su2 or .vtu
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// Upper triangle of the metric, expressions of x y z: m11,m12,m13,m22,m23,m33; in 2D m11,m12,m22
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) metric: Option<String>,
    /// Sizes along the directions of --frame, expressions of x y z r t: h1,h2,h3; in 2D h1,h2
    #[arg(long)]
    pub(crate) sizes: Option<String>,
    /// Directions of --sizes
    #[arg(long, value_enum, default_value_t = Frame::Cartesian, requires = "sizes")]
    pub(crate) frame: Frame,
    /// Tensors at the nodes of a file, as metric.vtu:metric, on this mesh or another one: in 3D xx,yy,zz,xy,yz,xz or 9 entries by
    /// rows; in 2D xx,xy,yy or 4 entries
    #[arg(long, value_name = "FILE:NAME")]
    pub(crate) metric_file: Option<String>,
    /// A field of a result, as fields_0001.vtu:temperature; sizes follow from its second derivatives
    #[arg(long, value_name = "FILE:NAME", requires = "complexity")]
    pub(crate) field: Option<String>,
    /// p of the Lp norm of the interpolation error of --field
    #[arg(long, default_value_t = 2.0, requires = "field")]
    pub(crate) norm: f64,
    /// Complexity of the metric of --field: the vertices will be about 1.6 times as many in 3D
    #[arg(long, requires = "field")]
    pub(crate) complexity: Option<f64>,
    /// Smallest size of --field
    #[arg(long, requires = "field")]
    pub(crate) h_min: Option<f64>,
    /// Largest size of --field; default: the diagonal of the bounding box
    #[arg(long, requires = "field")]
    pub(crate) h_max: Option<f64>,
    /// Largest ratio of the sizes of --field at a place
    #[arg(long, default_value_t = 1e3, requires = "field")]
    pub(crate) anisotropy: f64,
    /// Largest growth of the size over an edge, or none; default: 1.5 with --field, else none
    #[arg(long, value_parser = gradation)]
    pub(crate) gradation: Option<f64>,
    /// Adapt so many times, each time the mesh of the time before
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cycles: u32,
    /// Surfaces that meet at more degrees than this have a ridge between them, which is kept
    #[arg(long, default_value_t = 40.0)]
    pub(crate) ridge_angle: f64,
    /// Regions whose cells stay as they are, separated by commas; cells that are no triangles or tetrahedra always stay
    #[arg(long, value_name = "REGIONS", value_delimiter = ',', conflicts_with = "rule")]
    pub(crate) freeze: Vec<String>,
    /// The weight of edge lengths beside qualities of cells: steep keeps nearly all edges in the range; even, with sizes enlarged by 10 to 15 %,
    /// needs fewer vertices where the metric turns within a cell
    #[arg(long, value_name = "PENALTY", default_value = "steep", value_parser = lengths, conflicts_with = "rule")]
    pub(crate) lengths: LengthPenalty,
    /// Move vertices and change nothing else
    #[arg(long)]
    pub(crate) smooth_only: bool,
    #[command(flatten)]
    pub(crate) smoothing: SmoothingArguments,
    /// Threads of the CPU; 0: one for each processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Print the fit before and after as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of --smooth-only by colours.
#[derive(Debug, Args)]
pub(crate) struct SmoothingArguments {
    /// With --smooth-only: move the vertices of one colour at once, by edge_lengths or worst_quality
    #[arg(long, requires = "smooth_only", conflicts_with = "cycles", value_parser = rule)]
    pub(crate) rule: Option<Smoother>,
    /// With --rule: where moved vertices look up the metric, grid or walk
    #[arg(long, value_name = "LOOKUP", requires = "rule", default_value = "grid", value_parser = lookup)]
    pub(crate) metric_lookup: MetricLookup,
    /// With --rule: largest deviation of lengths by the grid; default 0.02
    #[arg(long, value_name = "SHARE", requires = "rule")]
    pub(crate) grid_tolerance: Option<f64>,
    /// With --rule: most sweeps
    #[arg(long, value_name = "N", requires = "rule", default_value_t = 200)]
    pub(crate) sweeps: usize,
    /// With --rule: the backend, auto, cpu, cuda, vulkan, wgpu or hip
    #[arg(long, requires = "rule", default_value = "auto", value_parser = backend)]
    pub(crate) backend: BackendKind,
}

/// The rule of a word.
pub(super) fn rule(name: &str) -> Result<Smoother, String> {
    Smoother::from_word(name).ok_or_else(|| format!("rules: {}", Smoother::WORDS.join(", ")))
}

fn lengths(name: &str) -> Result<LengthPenalty, String> {
    let known = || format!("penalties: {}", LengthPenalty::WORDS.join(", "));
    LengthPenalty::from_word(name).ok_or_else(known)
}

fn lookup(name: &str) -> Result<MetricLookup, String> {
    let known = || format!("lookups: {}", MetricLookup::WORDS.join(", "));
    MetricLookup::from_word(name).ok_or_else(known)
}

/// A growth above 1; 0 for none.
fn gradation(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        _ if text == "none" => Ok(0.0),
        Ok(growth) if growth > 1.0 && growth.is_finite() => Ok(growth),
        _ => Err("a number above 1, or none".to_owned()),
    }
}
