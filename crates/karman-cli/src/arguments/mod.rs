//! The command line.
// Doc comments here are printed by clap, not rustdoc: brackets are those of the case file.
#![allow(rustdoc::broken_intra_doc_links)]

mod adapt;
mod plot;

use adapt::rule;
pub(crate) use adapt::{AdaptArguments, Frame, SmoothingArguments};
pub(crate) use plot::PlotArguments;

use clap::{Args, Parser, Subcommand, ValueEnum};
use karman::backend::BackendKind;
use karman::linear::{Method, PreconditionerKind};
use karman_adapt::Smoother;
use karman_bench::Group;
use karman_bench::ranks::RanksTest;
use karman_bench::thesis_pressure::FlowCase;
use std::path::PathBuf;

/// Flow and heat on unstructured meshes, on the CPU or the GPU
#[derive(Debug, Parser)]
#[command(name = "karman", version = env!("KARMAN_VERSION"), disable_help_subcommand = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// Print only warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Show and log details
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Solve a case
    Run(RunArguments),
    /// Check a case and its mesh: all that `karman run` does before its first step
    Check {
        /// The case file
        case: PathBuf,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a case from a template, as NAME/case.toml
    #[command(after_help = format!("Templates:\n{}", karman::case::templates::list()))]
    New {
        /// The folder to make
        name: PathBuf,
        /// The template
        #[arg(long, default_value = "heat")]
        template: String,
    },
    /// Inspect, convert and generate meshes
    #[command(subcommand)]
    Mesh(MeshCommand),
    /// Adapt a mesh of triangles or tetrahedra to prescribed sizes, to a metric or to a field of a result
    Adapt(AdaptArguments),
    /// Draw a mesh or a field of a result as PNG
    Plot(PlotArguments),
    /// List the processors this karman can use
    Devices {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure the speed of kernels against that of a copy
    Bench(BenchArguments),
    /// Solve a system of linear equations given as Matrix Market files
    Solve(SolveArguments),
    /// Solve cases and compare the results with their [expected] values
    Test {
        /// The case files
        #[arg(required = true)]
        cases: Vec<PathBuf>,
        /// The backend, in place of the cases' own
        #[arg(long, value_parser = backend)]
        backend: Option<BackendKind>,
        /// Print the comparisons as JSON
        #[arg(long)]
        json: bool,
    },
    /// Solve a suite of cases and write one page of HTML: each number and curve beside its reference
    Validate(ValidateArguments),
    /// Explain a command, or the case file: karman help case [SECTION]
    Help {
        /// A command, or `case`
        topic: Option<String>,
        /// A section of the case file, such as mesh or heat
        section: Option<String>,
    },
    /// Panic, to test the report of a bug
    #[command(hide = true)]
    ProvokeBug,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The case file
    pub(crate) case: PathBuf,
    /// The backend, in place of the case's own: auto, cpu, cuda, vulkan, wgpu or hip
    #[arg(long, value_parser = backend)]
    pub(crate) backend: Option<BackendKind>,
    /// The final time, in place of the case's own
    #[arg(long, value_name = "T", value_parser = positive_time)]
    pub(crate) end: Option<f64>,
    /// The output directory, in place of the case's own
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Threads of the CPU, in place of the case's own; 0: all
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Parts of the mesh, in place of the case's own; results do not depend on it
    #[arg(long, value_name = "N", value_parser = ranks)]
    pub(crate) ranks: Option<usize>,
    /// Continue from a checkpoint
    #[arg(long, value_name = "FILE")]
    pub(crate) restart: Option<PathBuf>,
    /// Print the summary as JSON when done
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArguments {
    /// A folder of cases with a validation/suite.toml, its name below `cases`, or the name of a built-in
    /// suite: compressible, incompressible
    pub(crate) suite: PathBuf,
    /// Cases of the suite, default all; * stands for any letters, ? for one letter
    pub(crate) cases: Vec<String>,
    /// Only cases that take seconds
    #[arg(long)]
    pub(crate) quick: bool,
    /// The folder of the page, index.html, and of the results; default: validation-SUITE
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// The backend, in place of the cases' own: auto, cpu, cuda, vulkan, wgpu or hip
    #[arg(long, value_parser = backend)]
    pub(crate) backend: Option<BackendKind>,
    /// Reuse results in the folder of an unchanged case and the same version of karman, and solve the others
    #[arg(long)]
    pub(crate) reuse: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MeshCommand {
    /// Count nodes, edges, faces and cells of a mesh
    Info {
        /// A mesh file, or a case with a mesh
        file: PathBuf,
        /// Print the counts as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a mesh: groups, faults, quality; and print a [boundary] section to fill in
    Check {
        /// A mesh file, or a case with a mesh
        file: PathBuf,
        /// Print the report as JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare the parts that ranks would have: cells, ghosts, and faces between parts
    Parts {
        /// A mesh file, or a case with a mesh; periodic patches are not connected
        file: PathBuf,
        /// The number of parts
        #[arg(value_parser = clap::value_parser!(u32).range(2..))]
        count: u32,
        /// Print the counts as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a mesh in another format, by the extensions: .msh, .su2, .vtu; .vtk can be read but not written
    Convert {
        /// A mesh file, or a case with a mesh
        input: PathBuf,
        /// The file to write
        output: PathBuf,
        /// Form of a .msh file
        #[arg(long, value_enum, default_value_t = GmshForm::Ascii22)]
        gmsh: GmshForm,
    },
    /// Generate a mesh from a [mesh.generate.…] section of a file, or from options
    Generate(Box<GenerateArguments>),
}

/// Versions of Gmsh's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GmshForm {
    #[value(name = "2.2")]
    Ascii22,
    #[value(name = "2.2-binary")]
    Binary22,
    #[value(name = "4.1")]
    Ascii41,
    #[value(name = "4.1-binary")]
    Binary41,
}

/// Options of generators are the keys of the case file; lists are written 20,20,20.
#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    /// box, box_with_obstacle, cylinder_in_channel, sphere_in_box or annulus; or a TOML file with
    /// [mesh.generate.…]
    pub(crate) what: String,
    /// The file to write: .msh, .su2 or .vtu
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// box: lowest corner
    #[arg(long, allow_hyphen_values = true)]
    origin: Option<String>,
    /// box, sphere_in_box: edge lengths; default of a box: 1 each
    #[arg(long)]
    size: Option<String>,
    /// box, annulus: cells along each direction
    #[arg(long)]
    cells: Option<String>,
    /// Shape of the cells
    #[arg(long)]
    element: Option<String>,
    /// box: random displacement of nodes, as a fraction of the spacing
    #[arg(long)]
    jitter: Option<String>,
    /// box: seed of the displacement
    #[arg(long)]
    seed: Option<String>,
    /// box: ratio of the last to the first spacing, along each direction
    #[arg(long)]
    grading: Option<String>,
    /// box: ratio of the spacing in the middle to that at both ends, along each direction
    #[arg(long)]
    wall_grading: Option<String>,
    /// box_with_obstacle: lowest corner of the obstacle
    #[arg(long, allow_hyphen_values = true)]
    obstacle_min: Option<String>,
    /// box_with_obstacle: highest corner of the obstacle
    #[arg(long, allow_hyphen_values = true)]
    obstacle_max: Option<String>,
    /// cylinder_in_channel, annulus: length
    #[arg(long)]
    length: Option<String>,
    /// cylinder_in_channel: height
    #[arg(long)]
    height: Option<String>,
    /// cylinder_in_channel: width; without it the mesh is 2D
    #[arg(long)]
    width: Option<String>,
    /// cylinder_in_channel, sphere_in_box: centre of the cylinder or sphere
    #[arg(long, allow_hyphen_values = true)]
    centre: Option<String>,
    /// cylinder_in_channel, sphere_in_box: diameter of the cylinder or sphere
    #[arg(long)]
    diameter: Option<String>,
    /// cylinder_in_channel: cells around the cylinder
    #[arg(long)]
    cells_around: Option<String>,
    /// cylinder_in_channel: cells from the cylinder outwards
    #[arg(long)]
    cells_radial: Option<String>,
    /// cylinder_in_channel: cells along the wake
    #[arg(long)]
    cells_wake: Option<String>,
    /// cylinder_in_channel: cells along z, with --width
    #[arg(long)]
    cells_width: Option<String>,
    /// sphere_in_box: edge length on the sphere
    #[arg(long)]
    surface_size: Option<String>,
    /// sphere_in_box: edge length on the box
    #[arg(long)]
    far_size: Option<String>,
    /// sphere_in_box: layers of cells around the sphere
    #[arg(long)]
    layers: Option<String>,
    /// annulus: inner radius
    #[arg(long)]
    inner: Option<String>,
    /// annulus: outer radius
    #[arg(long)]
    outer: Option<String>,
}

/// A time that a run can reach.
fn positive_time(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if time > 0.0 && time.is_finite() => Ok(time),
        _ => Err("the final time is a positive number".to_owned()),
    }
}

/// A number of parts of the mesh.
fn ranks(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(ranks) if ranks > 0 => Ok(ranks),
        _ => Err("the number of ranks is a whole number, at least 1".to_owned()),
    }
}

impl GenerateArguments {
    /// The options of the command line, by their keys in a case file.
    pub(crate) fn keys(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("origin", &self.origin),
            ("size", &self.size),
            ("cells", &self.cells),
            ("element", &self.element),
            ("jitter", &self.jitter),
            ("seed", &self.seed),
            ("grading", &self.grading),
            ("wall_grading", &self.wall_grading),
            ("obstacle_min", &self.obstacle_min),
            ("obstacle_max", &self.obstacle_max),
            ("length", &self.length),
            ("height", &self.height),
            ("width", &self.width),
            ("centre", &self.centre),
            ("diameter", &self.diameter),
            ("cells_around", &self.cells_around),
            ("cells_radial", &self.cells_radial),
            ("cells_wake", &self.cells_wake),
            ("cells_width", &self.cells_width),
            ("surface_size", &self.surface_size),
            ("far_size", &self.far_size),
            ("layers", &self.layers),
            ("inner", &self.inner),
            ("outer", &self.outer),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value.as_deref()?))).collect()
    }
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    pub(crate) command: Option<BenchCommand>,
    /// The backend
    #[arg(long, value_parser = backend, default_value = "auto")]
    pub(crate) backend: BackendKind,
    /// Numbers of cells, such as 1e4,1e6; vectors have as many entities
    #[arg(long, alias = "sizes", value_delimiter = ',', value_parser = count)]
    #[arg(default_value = "1e4,3e5,2.3e6")]
    pub(crate) cells: Vec<usize>,
    /// Only these groups: streaming, mesh, operators, solver, kernels, flow
    #[arg(long, value_delimiter = ',', value_parser = group)]
    pub(crate) only: Vec<Group>,
    /// f64, f32 or both
    #[arg(long, value_enum, default_value_t = BenchPrecision::Both)]
    pub(crate) precision: BenchPrecision,
    /// Seconds to spend on each line
    #[arg(long, default_value_t = 0.3)]
    pub(crate) seconds: f64,
    /// Host threads; 0: one for each processor
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Bytes of memory of the reference copy; more than the caches
    #[arg(long, value_parser = count, default_value = "5e8")]
    pub(crate) copy: usize,
    /// Write the systems of the group solver to this folder, as system-CELLS.mtx and
    /// system-CELLS-rhs.mtx
    #[arg(long, value_name = "FOLDER")]
    pub(crate) write_system: Option<PathBuf>,
    /// Write the lines to a file as JSON, or print nothing else
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Compare with the tables and curves of two theses and a paper
    #[command(subcommand)]
    Thesis(ThesisCommand),
    /// Several ranks beside one: vectors, heat with Jacobi and with multigrid, and a flow
    Ranks(RanksArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RanksArguments {
    /// The backend; ranks take the devices in turn, on the CPU its threads
    #[arg(long, value_parser = backend, default_value = "auto")]
    pub(crate) backend: BackendKind,
    /// Numbers of ranks; speed-ups are over one
    #[arg(long, value_delimiter = ',', value_parser = count, default_value = "1,2")]
    pub(crate) ranks: Vec<usize>,
    /// Numbers of cells, with --weak of each rank
    #[arg(long, value_delimiter = ',', value_parser = count, default_value = "3e5,2.3e6")]
    pub(crate) cells: Vec<usize>,
    /// Measurements: axpy, dot, jacobi, multigrid, flow; default all
    #[arg(long, value_delimiter = ',', value_parser = ranks_test)]
    pub(crate) only: Vec<RanksTest>,
    /// As many cells for each rank, in place of one mesh
    #[arg(long)]
    pub(crate) weak: bool,
    /// Largest number of unknowns of a coarse level of multigrid that each rank computes as a whole; default: that of cases
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) replicate_rows: Option<usize>,
    /// Repetitions, of which the median is printed
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repetitions: u32,
    /// Host threads of all ranks together; 0: one for each processor
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Draw the speed-ups to a file as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write the figures to a file as JSON, or print nothing else
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

fn ranks_test(name: &str) -> Result<RanksTest, String> {
    RanksTest::from_word(name)
        .ok_or_else(|| format!("measurements: {}", RanksTest::WORDS.join(", ")))
}

#[derive(Debug, Subcommand)]
pub(crate) enum ThesisCommand {
    /// Algebraic multigrid for heat transfer: tables 6.1 to 6.4 and 6.14 to 6.17 of Kamakolanu's thesis
    /// (2014)
    Amg(ThesisAmgArguments),
    /// Pressure Poisson systems of flows: tables 6.5 to 6.13 of Kamakolanu's thesis (2014)
    Flow(ThesisFlowArguments),
    /// Cost of an iteration of conjugate gradients by unknown for momentum, pressure and streamfunction:
    /// figures 7.3 to 7.5 of Menon's thesis (2011)
    Cg(ThesisCgArguments),
    /// Stages of a residual of compressible flow: tables 1 to 4 of Bogdanov, Gorobets & Sukov (2013)
    Stages(ThesisStagesArguments),
    /// Sweeps of smoothing in an anisotropic metric over the number of vertices: the diagrams of Rokos & Gorman
    Smoothing(ThesisSmoothingArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ThesisSmoothingArguments {
    /// The backends, such as cpu,cuda; the host is timed by each number of threads
    #[arg(long, value_delimiter = ',', value_parser = backend, default_value = "auto")]
    pub(crate) backend: Vec<BackendKind>,
    /// Numbers of vertices
    #[arg(long, value_delimiter = ',', value_parser = count)]
    #[arg(default_value = "1e3,3e3,1e4,3e4,1e5,3e5,1e6")]
    pub(crate) vertices: Vec<usize>,
    /// The rule: edge_lengths, the source's, or worst_quality
    #[arg(long, default_value = "edge_lengths", value_parser = rule)]
    pub(crate) rule: Smoother,
    /// Sweeps of a measurement; the first is not counted
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) sweeps: u32,
    /// Numbers of host threads of the CPU; 0: one for each processor
    #[arg(long, value_delimiter = ',', default_value = "1,0")]
    pub(crate) threads: Vec<usize>,
    /// Draw the curves to a file as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write the figures to a file as JSON, or print nothing else
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ThesisStagesArguments {
    /// The backends, such as cpu,cuda
    #[arg(long, value_delimiter = ',', value_parser = backend, default_value = "auto")]
    pub(crate) backend: Vec<BackendKind>,
    /// Number of tetrahedra
    #[arg(long, value_parser = count, default_value = "679339")]
    pub(crate) cells: usize,
    /// Seconds to spend on each part
    #[arg(long, default_value_t = 1.0)]
    pub(crate) seconds: f64,
    /// Numbers of host threads of the CPU; 0: one for each processor
    #[arg(long, value_delimiter = ',', default_value = "1,0")]
    pub(crate) threads: Vec<usize>,
    /// Write the figures to a file as JSON, or print nothing else
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ThesisFlowArguments {
    /// The backend
    #[arg(long, value_parser = backend, default_value = "auto")]
    pub(crate) backend: BackendKind,
    /// Only these flows: cavity, square_cylinder, jet
    #[arg(long, value_delimiter = ',', value_parser = flow_case)]
    pub(crate) only: Vec<FlowCase>,
    /// All four grids of each flow, in place of the largest
    #[arg(long)]
    pub(crate) all_grids: bool,
    /// Cells over those of the thesis
    #[arg(long, default_value_t = 1.0)]
    pub(crate) scale: f64,
    /// Time steps up to the system
    #[arg(long, default_value_t = 5)]
    pub(crate) steps: usize,
    /// Stop once |b - A x| is at most this times |b|
    #[arg(long, default_value_t = 1e-8)]
    pub(crate) tolerance: f64,
    /// Most cycles of Kamakolanu's AMG
    #[arg(long, value_parser = count, default_value = "20000")]
    pub(crate) cycles: usize,
    /// Beta of the thesis' transformation on the first coarse level, in place of its tabulated value
    #[arg(long)]
    pub(crate) beta: Option<f64>,
    /// Host threads; 0: one for each processor
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Write the figures to a file as JSON, or print nothing else
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ThesisCgArguments {
    /// The backends, such as cpu,cuda
    #[arg(long, value_delimiter = ',', value_parser = backend, default_value = "auto")]
    pub(crate) backend: Vec<BackendKind>,
    /// Numbers of triangles
    #[arg(long, value_delimiter = ',', value_parser = count)]
    #[arg(default_value = "2e3,6e3,2e4,6e4,2e5,6e5,2e6")]
    pub(crate) cells: Vec<usize>,
    /// Seconds to spend on each of the two solves of a system
    #[arg(long, default_value_t = 0.5)]
    pub(crate) seconds: f64,
    /// Host threads; 0: one for each processor
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Draw the curves to a file as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write the figures to a file as JSON, or print nothing else
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ThesisAmgArguments {
    /// The backend
    #[arg(long, value_parser = backend, default_value = "auto")]
    pub(crate) backend: BackendKind,
    /// Numbers of cells, such as 1e4,1e6; default: those of the thesis. Parameters are those of the
    /// thesis' nearest grid
    #[arg(long, value_delimiter = ',', value_parser = count)]
    pub(crate) cells: Vec<usize>,
    /// Stop once |b - A x| is at most this times |b|
    #[arg(long, default_value_t = 1e-8)]
    pub(crate) tolerance: f64,
    /// Time steps of the unsteady case, extrapolated to the thesis' 24000; 0 leaves it out
    #[arg(long, default_value_t = 240)]
    pub(crate) steps: usize,
    /// Beta of the thesis' transformation on the first coarse level; it grows by 1 per level
    #[arg(long, default_value_t = 0.0)]
    pub(crate) beta: f64,
    /// Host threads; 0: one for each processor
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Write the figures to a file as JSON, or print nothing else
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<PathBuf>,
}

/// Precisions to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchPrecision {
    F64,
    F32,
    Both,
}

#[derive(Debug, Args)]
pub(crate) struct SolveArguments {
    /// The matrix: coordinate real, general or symmetric
    pub(crate) matrix: PathBuf,
    /// The right-hand side: array real general, one column; default: 1 in each row
    #[arg(long, value_name = "FILE")]
    pub(crate) rhs: Option<PathBuf>,
    /// cg, single_reduction_cg, flexible_cg, bicgstab, fgmres or multigrid; default: cg for a symmetric
    /// matrix, bicgstab for an unsymmetric one
    #[arg(long, value_parser = method)]
    pub(crate) method: Option<Method>,
    /// none, jacobi, gauss_seidel, chebyshev or amg; default: amg for a large system on the CPU, else jacobi
    #[arg(long, value_parser = preconditioner)]
    pub(crate) preconditioner: Option<PreconditionerKind>,
    /// Stop once |b - A x| is at most this times |b|; default: 1e-8, in f32 1e-5
    #[arg(long)]
    pub(crate) tolerance: Option<f64>,
    /// Most iterations
    #[arg(long, default_value_t = 10_000)]
    pub(crate) max_iterations: usize,
    /// The backend: auto, cpu, cuda, vulkan, wgpu or hip
    #[arg(long, value_parser = backend, default_value = "auto")]
    pub(crate) backend: BackendKind,
    /// f64 or f32
    #[arg(long, value_enum, default_value_t = Precision::F64)]
    pub(crate) precision: Precision,
    /// Host threads; 0: one for each processor
    #[arg(long, default_value_t = 0)]
    pub(crate) threads: usize,
    /// Write the solution to this file, converged or not
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A precision to solve in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Precision {
    F64,
    F32,
}

fn method(name: &str) -> Result<Method, String> {
    Method::from_word(name).ok_or_else(|| format!("methods: {}", Method::WORDS.join(", ")))
}

fn preconditioner(name: &str) -> Result<PreconditionerKind, String> {
    let is_auto = |kind: &PreconditionerKind| matches!(kind, PreconditionerKind::Auto { .. });
    let known: Vec<_> = PreconditionerKind::ALL.into_iter().filter(|kind| !is_auto(kind)).collect();
    let words: Vec<&str> = known.iter().map(|kind| kind.word()).collect();
    let found = known.into_iter().find(|kind| kind.word() == name);
    found.ok_or_else(|| format!("preconditioners: {}", words.join(", ")))
}

fn backend(name: &str) -> Result<BackendKind, String> {
    BackendKind::from_word(name).ok_or_else(|| {
        let known: Vec<&str> = BackendKind::WORDS.to_vec();
        format!("backends: {}", known.join(", "))
    })
}

fn flow_case(name: &str) -> Result<FlowCase, String> {
    FlowCase::from_word(name).ok_or_else(|| format!("flows: {}", FlowCase::WORDS.join(", ")))
}

fn group(name: &str) -> Result<Group, String> {
    Group::from_word(name).ok_or_else(|| format!("groups: {}", Group::WORDS.join(", ")))
}

/// A count that may be written as 1e6.
fn count(text: &str) -> Result<usize, String> {
    match text.trim().parse::<f64>() {
        Ok(n) if (1.0..=4e9).contains(&n) && n.fract() == 0.0 => Ok(n as usize),
        _ => Err("a whole number such as 10000 or 1e6".to_owned()),
    }
}
