//! Sweeps of smoothing over the colours of a mesh.

use super::cavity::CavityView;
use super::grid::{MetricGrid, components};
use super::kernels::{
    Smoother, finish_quality, look_up, moves_partials, quality_partials, smooth_colour,
};
use super::lookup::{LookupView, Place};
use super::topology::Topology;
use crate::complex::NONE;
use crate::error::AdaptError;
use crate::field::MetricField;
use crate::mesh::AdaptiveMesh;
use crate::quality::{FLAT, Vertex};
use crate::vector::Point;
use crate::walk::CellWalk;
use karman_backend::blas::finish_sum;
use karman_backend::{Backend, Buffer, Partials, View};
use karman_macros::Keyword;
use karman_mesh::Mesh;
use serde::Serialize;

/// Vertices of a slice of lists on a device: the threads that read together.
const DEVICE_SLICE: usize = 32;
/// A determinant is positive where it exceeds this multiple of the largest coordinate of an edge, squared or cubed: 2 and 3 √3 times
/// the bounds of [`FLAT`], since an edge is at most √2 or √3 times as long. Rounding errors are smaller.
const FILTER: [f64; 2] = [2.0 * FLAT[0], 5.2 * FLAT[1]];
/// Least length of a move that counts, in the metric.
const LEAST_MOVE: f64 = 1e-3;

/// Where the metric at a vertex that has moved is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Keyword)]
pub enum MetricLookup {
    /// In a [`MetricGrid`] of this tolerance and of at most so many nodes.
    #[with(tolerance: 0.02, most_nodes: 1 << 22)]
    Grid {
        /// Largest deviation of lengths, as a share.
        tolerance: f64,
        /// Most nodes.
        most_nodes: usize,
    },
    /// By a walk in the initial mesh, with linear interpolation of the tensors of sizes at its nodes.
    Walk,
}

/// Parameters of [`VertexSmoother`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothOptions {
    /// The rule by which vertices move. Default [`Smoother::WorstQuality`].
    pub smoother: Smoother,
    /// The lookup of the metric. Default a grid with a tolerance of 2 % and at most 2²² nodes.
    pub lookup: MetricLookup,
    /// Most sweeps. Default 200.
    pub sweeps: usize,
    /// Share of the vertices below which moves longer than 1/1000 in the metric end the sweeps: the equilibrium. Default 1e-3.
    pub equilibrium: f64,
    /// Surfaces that meet at more than this angle have a ridge between them. Default 40°.
    pub ridge_angle_deg: f64,
}

impl Default for SmoothOptions {
    fn default() -> Self {
        SmoothOptions {
            smoother: Smoother::WorstQuality,
            lookup: MetricLookup::Grid { tolerance: 0.02, most_nodes: 1 << 22 },
            sweeps: 200,
            equilibrium: 1e-3,
            ridge_angle_deg: 40.0,
        }
    }
}

/// Qualities of Vasilevskii and Lipnikov of the cells of a mesh, see [`crate::size_and_shape`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeshQuality {
    /// The lowest.
    pub lowest: f64,
    /// The mean.
    pub mean: f64,
}

/// A mesh whose vertices move, colour by colour, where its backend computes.
pub struct VertexSmoother {
    backend: Backend,
    options: SmoothOptions,
    dimension: usize,
    /// The vertex of the mesh of each number.
    vertices: Vec<u32>,
    colour_offsets: Vec<usize>,
    spacing: usize,
    n_items: usize,
    first_cell: Buffer<u32>,
    cell_count: Buffer<u32>,
    facets: Buffer<u32>,
    first_neighbour: Buffer<u32>,
    neighbour_count: Buffer<u32>,
    neighbours: Buffer<u32>,
    constraint: Buffer<u32>,
    directions: Buffer<f64>,
    corners: Buffer<u32>,
    metric: MetricData,
    /// Places and metrics: `[vertices][width]`.
    state: Buffer<f64>,
    /// Cell of the initial mesh of each vertex; with a grid one number that is not read.
    cells: Buffer<u32>,
    moves: Buffer<f64>,
}

/// The tensors of sizes on a grid or at the nodes of the initial mesh.
struct MetricData {
    place: Place,
    sizes: Buffer<f64>,
    low: Point,
    per_length: Point,
    intervals: [u32; 3],
    points: Buffer<f64>,
    corners: Buffer<u32>,
    behind: Buffer<u32>,
    error: Option<f64>,
}

impl MetricData {
    fn of_grid(backend: &Backend, grid: &MetricGrid) -> MetricData {
        MetricData {
            place: Place::Grid,
            sizes: backend.upload_slice(grid.sizes()),
            low: grid.low(),
            per_length: grid.per_length(),
            intervals: grid.intervals().map(|count| count as u32),
            points: backend.zeros(1),
            corners: backend.zeros(1),
            behind: backend.zeros(1),
            error: Some(grid.error()),
        }
    }

    fn of_walk(backend: &Backend, walk: &CellWalk, adaptive: &AdaptiveMesh<'_>) -> MetricData {
        let dimension = adaptive.dimension;
        let sizes = adaptive.vertices.iter().flat_map(|vertex| {
            components(dimension, &vertex.metric.map(|value| 1.0 / value.sqrt()))
        });
        let padded = |lists: &[[u32; 4]]| {
            backend.upload(lists.iter().flat_map(|list| list[..=dimension].to_vec()).collect())
        };
        let points = walk.points.iter().flat_map(|point| point[..dimension].to_vec()).collect();
        MetricData {
            place: Place::Mesh,
            sizes: backend.upload(sizes.collect()),
            low: [0.0; 3],
            per_length: [0.0; 3],
            intervals: [0; 3],
            points: backend.upload(points),
            corners: padded(&walk.cells),
            behind: padded(&walk.behind),
            error: None,
        }
    }

    fn view(&self, dimension: usize) -> LookupView<'_, f64> {
        LookupView {
            place: self.place,
            dimension,
            sizes: self.sizes.view(),
            low_x: self.low[0],
            low_y: self.low[1],
            low_z: self.low[2],
            per_x: self.per_length[0],
            per_y: self.per_length[1],
            per_z: self.per_length[2],
            intervals_x: self.intervals[0],
            intervals_y: self.intervals[1],
            intervals_z: self.intervals[2],
            points: self.points.view(),
            corners: self.corners.view(),
            behind: self.behind.view(),
        }
    }
}

impl VertexSmoother {
    /// The vertices of `mesh` in the metric `field`, on `backend`.
    ///
    /// # Errors
    /// [`AdaptError`]: cells that are no simplices, periodic patches, a metric that is not positive definite at a vertex or in the
    /// bounding box, parameters out of range.
    pub fn new(
        backend: &Backend,
        mesh: &Mesh,
        field: &dyn MetricField,
        options: &SmoothOptions,
    ) -> Result<VertexSmoother, AdaptError> {
        check(options)?;
        backend.install(|| {
            let adaptive = AdaptiveMesh::new(mesh, field, options.ridge_angle_deg)?;
            VertexSmoother::of(backend, mesh, &adaptive, options)
        })
    }

    pub(super) fn of(
        backend: &Backend,
        mesh: &Mesh,
        adaptive: &AdaptiveMesh<'_>,
        options: &SmoothOptions,
    ) -> Result<VertexSmoother, AdaptError> {
        let dimension = mesh.dimension;
        let spacing = if backend.device().is_some() { DEVICE_SLICE } else { 1 };
        let topology = Topology::new(adaptive, spacing);
        let (metric, cells) = match options.lookup {
            MetricLookup::Grid { tolerance, most_nodes } => {
                let field = adaptive.field;
                let bounds = mesh.bounding_box().unwrap_or_default();
                let grid = MetricGrid::new(field, dimension, bounds, tolerance, most_nodes)?;
                (MetricData::of_grid(backend, &grid), vec![0])
            }
            MetricLookup::Walk => {
                let walk = CellWalk::new(mesh);
                let cells = first_cells(&walk, &topology.vertices);
                (MetricData::of_walk(backend, &walk, adaptive), cells)
            }
        };
        let n = topology.vertices.len();
        let moving = topology.constraint.len();
        let state = topology.vertices.iter().flat_map(|&vertex| {
            let Vertex { point, metric, .. } = &adaptive.vertices[vertex as usize];
            point[..dimension]
                .iter()
                .copied()
                .chain(components(dimension, metric))
                .collect::<Vec<_>>()
        });
        let state = backend.upload(state.collect());
        let upload_directions =
            if topology.directions.is_empty() { vec![0.0; 3] } else { topology.directions };
        let mut smoother = VertexSmoother {
            backend: backend.clone(),
            options: *options,
            dimension,
            vertices: topology.vertices,
            colour_offsets: topology.colour_offsets,
            spacing,
            n_items: topology.cells.n_items,
            first_cell: backend.upload(topology.cells.first),
            cell_count: backend.upload(topology.cells.count),
            facets: backend.upload(topology.cells.items),
            first_neighbour: backend.upload(topology.neighbours.first),
            neighbour_count: backend.upload(topology.neighbours.count),
            neighbours: backend.upload(topology.neighbours.items),
            constraint: backend.upload(topology.constraint),
            directions: backend.upload(upload_directions),
            corners: backend.upload(topology.corners),
            metric,
            state,
            cells: backend.upload(cells),
            moves: backend.zeros(moving),
        };
        // The metric is one function of the place: that of the lookup.
        let VertexSmoother { metric, state, cells, .. } = &mut smoother;
        look_up(backend, n, &metric.view(dimension), state, cells);
        Ok(smoother)
    }

    /// One sweep over the colours. Returns the number of vertices that moved by more than 1/1000 in the metric.
    ///
    /// # Errors
    /// [`AdaptError::Backend`] where the device failed.
    pub fn sweep(&mut self) -> Result<usize, AdaptError> {
        self.submit_sweep();
        let backend = &self.backend;
        let moving = self.moves.len();
        let mut partials = Partials::new(backend, moving, 1);
        backend.install(|| moves_partials(backend, moving, &self.moves, LEAST_MOVE, &mut partials));
        let mut count = backend.zeros(1);
        finish_sum(backend, &partials, &mut count);
        Ok(backend.read(&count)?[0] as usize)
    }

    /// The kernels of a sweep, without a wait for their end.
    pub fn submit_sweep(&mut self) {
        let VertexSmoother { backend, options, dimension, metric, state, cells, moves, .. } = self;
        let cavities = CavityView {
            dimension: *dimension,
            first_cell: self.first_cell.view(),
            cell_count: self.cell_count.view(),
            facets: self.facets.view(),
            n_items: self.n_items,
            first_neighbour: self.first_neighbour.view(),
            neighbour_count: self.neighbour_count.view(),
            neighbours: self.neighbours.view(),
            spacing: self.spacing,
            constraint: self.constraint.view(),
            directions: self.directions.view(),
            filter: FILTER[*dimension - 2],
        };
        let lookup = metric.view(*dimension);
        let smoother = options.smoother;
        backend.install(|| {
            for bounds in self.colour_offsets.windows(2) {
                let (first, count) = (bounds[0], bounds[1] - bounds[0]);
                smooth_colour(
                    backend, count, first, &cavities, &lookup, state, cells, moves, smoother,
                );
            }
        });
    }

    /// Sweeps until an equilibrium or the most sweeps of the options. Returns their number, and whether there is an equilibrium.
    ///
    /// # Errors
    /// [`AdaptError::Backend`] where the device failed.
    pub fn to_equilibrium(&mut self) -> Result<(usize, bool), AdaptError> {
        for sweep in 1..=self.options.sweeps {
            let moved = self.sweep()?;
            tracing::debug!("sweep {sweep}: {moved} vertices moved");
            if (moved as f64) < self.options.equilibrium * self.vertices.len() as f64 {
                return Ok((sweep, true));
            }
        }
        Ok((self.options.sweeps, false))
    }

    /// The qualities of the cells in the metric of the lookup.
    ///
    /// # Errors
    /// [`AdaptError::Backend`] where the device failed.
    pub fn quality(&mut self) -> Result<MeshQuality, AdaptError> {
        let VertexSmoother { backend, dimension, corners, state, .. } = self;
        let n_cells = corners.len() / (*dimension + 1);
        let absent = CavityView {
            dimension: *dimension,
            first_cell: View::absent(),
            cell_count: View::absent(),
            facets: View::absent(),
            n_items: 0,
            first_neighbour: View::absent(),
            neighbour_count: View::absent(),
            neighbours: View::absent(),
            spacing: 1,
            constraint: View::absent(),
            directions: View::absent(),
            filter: FILTER[*dimension - 2],
        };
        let mut partials = Partials::new(backend, n_cells, 2);
        backend.install(|| {
            quality_partials(backend, n_cells, &absent, corners, n_cells, state, &mut partials);
        });
        let (mut lowest, mut total) = (backend.zeros::<f64>(1), backend.zeros::<f64>(1));
        finish_quality(backend, &partials, &mut lowest, &mut total);
        let (lowest, total) = (backend.read(&lowest)?[0], backend.read(&total)?[0]);
        Ok(MeshQuality { lowest, mean: total / n_cells as f64 })
    }

    /// The places of the vertices in the order of the mesh; the third coordinate of a plane is `otherwise`.
    ///
    /// # Errors
    /// [`AdaptError::Backend`] where the device failed.
    pub fn points(&self) -> Result<Vec<[f64; 3]>, AdaptError> {
        let state = self.backend.read(&self.state)?;
        let mut points = vec![[0.0; 3]; self.vertices.len()];
        let width = state.len() / points.len().max(1);
        for (&vertex, numbers) in self.vertices.iter().zip(state.chunks(width.max(1))) {
            points[vertex as usize][..self.dimension].copy_from_slice(&numbers[..self.dimension]);
        }
        Ok(points)
    }

    /// Least bytes of a sweep: lists, constraints and lengths once, the place and the metric of every vertex once for each colour
    /// and once more where they are written. The lookups of the metric are not counted.
    pub fn sweep_bytes(&self) -> f64 {
        let lists = [&self.first_cell, &self.cell_count, &self.facets, &self.constraint];
        let mut bytes = lists.iter().fold(self.moves.bytes(), |sum, list| sum + list.bytes());
        if self.options.smoother == Smoother::EdgeLengths && self.dimension == 3 {
            let lists = [&self.first_neighbour, &self.neighbour_count, &self.neighbours];
            bytes += lists.iter().fold(0, |sum, list| sum + list.bytes());
        }
        (bytes + (self.colours() + 1) * self.state.bytes()) as f64
    }

    /// Number of colours.
    pub fn colours(&self) -> usize {
        self.colour_offsets.len() - 1
    }

    /// Number of vertices that may move.
    pub fn moving(&self) -> usize {
        self.moves.len()
    }

    /// Estimate of the largest deviation of lengths in the metric of the grid, see [`MetricGrid::error`]; none with a walk.
    pub fn grid_error(&self) -> Option<f64> {
        self.metric.error
    }
}

pub(super) fn check(options: &SmoothOptions) -> Result<(), AdaptError> {
    let refuse = |key, value, reason| Err(AdaptError::Value { key, value, reason });
    let angle = options.ridge_angle_deg;
    if !(angle > 0.0 && angle < 180.0) {
        return refuse("ridge_angle_deg", angle, "an angle between 0 and 180 degrees");
    }
    if let MetricLookup::Grid { tolerance, .. } = options.lookup
        && !(tolerance > 0.0 && tolerance < 1.0)
    {
        return refuse("tolerance", tolerance, "a number between 0 and 1");
    }
    Ok(())
}

/// A simplex of the walk for each vertex.
fn first_cells(walk: &CellWalk, vertices: &[u32]) -> Vec<u32> {
    let mut first = vec![NONE; walk.points.len()];
    for (cell, corners) in walk.cells.iter().enumerate().rev() {
        corners.iter().for_each(|&node| first[node as usize] = cell as u32);
    }
    let known = |&vertex: &u32| first[vertex as usize];
    vertices.iter().map(known).map(|cell| if cell == NONE { 0 } else { cell }).collect()
}
