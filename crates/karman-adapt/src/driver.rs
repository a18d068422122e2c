//! The sequence of operations that adapts a mesh.

use crate::collapse::{CollapseRule, collapse_for_energy, collapse_short};
use crate::energy::{self, CellPenalty, LeastGain, LengthPenalty};
use crate::error::AdaptError;
use crate::field::MetricField;
use crate::kept_parts::KeptParts;
use crate::mesh::AdaptiveMesh;
use crate::operation::Operation;
use crate::quality::LENGTH_RANGE;
use crate::report::FitReport;
use crate::smooth::{Objective, smooth, smooth_by_gradient};
use crate::split::{SplitRule, split_for_energy, split_long};
use crate::swap::{swap_edge, swap_face};
use karman_mesh::{Mesh, RawMesh};
use rayon::prelude::*;

/// Vertices that a task takes at once.
const CHUNK: usize = 1024;
/// Longest edge that the first pass leaves, unless few edges are as long; it falls by [`FALL`] in each pass.
const FIRST_LONGEST: f64 = 8.0;
/// See [`FIRST_LONGEST`].
const FALL: f64 = 0.75;
/// Passes in which cells may become much worse, since the first meshes are far from the metric.
const ROUGH_PASSES: usize = 3;
/// Share of the vertices below which the collapses and splits of a pass end the passes.
const FEW_CHANGES: f64 = 0.002;
/// One cell in so many is repaired in the end.
const WORST: usize = 400;
/// Most sweeps of repairs.
const REPAIRS: usize = 10;
/// Edges shorter and longer than this are tried in the rounds of relaxation.
const TRIED: [f64; 2] = [0.9, 1.2];

/// Parameters of [`adapt`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptOptions {
    /// Most passes of collapses, splits, swaps and smoothing. Default 25.
    pub passes: usize,
    /// Rounds in which every operation lowers the energy of lengths and qualities. Default 3.
    pub rounds: usize,
    /// Surfaces that meet at more than this angle have a ridge between them. Default 40°.
    pub ridge_angle_deg: f64,
    /// Largest distance of a removed vertex from the faces that replace its own, as a share of the diagonal of the bounding box.
    /// Default 1e-3.
    pub surface_tolerance: f64,
    /// Vertices move and nothing else changes. Default false.
    pub smooth_only: bool,
    /// The weight of edge lengths beside qualities. Default steep.
    pub lengths: LengthPenalty,
}

impl Default for AdaptOptions {
    fn default() -> Self {
        AdaptOptions {
            passes: 25,
            rounds: 3,
            ridge_angle_deg: 40.0,
            surface_tolerance: 1e-3,
            smooth_only: false,
            lengths: LengthPenalty::Steep,
        }
    }
}

/// An adapted mesh.
#[derive(Clone, Debug)]
pub struct Adapted {
    /// The mesh, with the patches and regions of the mesh given.
    pub mesh: RawMesh,
    /// The parts of `mesh` that were kept.
    pub kept: KeptParts,
    /// How well the mesh given fits the metric.
    pub before: FitReport,
    /// How well the adapted mesh fits it.
    pub after: FitReport,
    /// Passes made.
    pub passes: usize,
}

/// Adapts a mesh to a metric. Cells that are no simplices stay as they are, and so do the faces between them and the simplices.
///
/// # Errors
/// [`AdaptError`]: a mesh without simplices, periodic patches, a metric that is not positive definite at a vertex, parameters
/// out of range.
pub fn adapt(
    mesh: &Mesh,
    field: &dyn MetricField,
    options: &AdaptOptions,
) -> Result<Adapted, AdaptError> {
    adapt_around_frozen(mesh, field, options, &[])
}

/// As [`adapt`], with the cells that are `frozen`, `[n_cells]`, kept as they are.
///
/// # Errors
/// As [`adapt`]; every cell is frozen.
pub fn adapt_around_frozen(
    mesh: &Mesh,
    field: &dyn MetricField,
    options: &AdaptOptions,
    frozen: &[bool],
) -> Result<Adapted, AdaptError> {
    check(options)?;
    let mut adaptive = AdaptiveMesh::around_frozen(mesh, field, options.ridge_angle_deg, frozen)?;
    adaptive.lengths = options.lengths;
    let before = FitReport::of(&adaptive);
    let tolerance = options.surface_tolerance * mesh.bounding_box_diagonal();
    let mut passes = 0;
    if options.smooth_only {
        passes = adaptive.smooth_to_equilibrium(options.passes);
    } else {
        adaptive.least_gain = LeastGain::OF_PASSES;
        let first = adaptive.usual_longest().min(FIRST_LONGEST);
        while passes < options.passes {
            let longest = LENGTH_RANGE[1].max(first * FALL.powi(passes as i32));
            let changed = adaptive.pass(longest, tolerance, passes < ROUGH_PASSES);
            passes += 1;
            let n = adaptive.vertex_count();
            tracing::debug!("pass {passes}: {changed} collapses and splits, {n} vertices");
            if longest == LENGTH_RANGE[1] && (changed as f64) < FEW_CHANGES * n as f64 {
                break;
            }
        }
        for round in 0..options.rounds {
            adaptive.least_gain = LeastGain::of_round(options.rounds - 1 - round);
            // The gradient takes longer than the way to equilateral cells: every second round has it, the last one too.
            let by_gradient = (options.rounds - 1 - round).is_multiple_of(2);
            let changed = adaptive.relax(tolerance, by_gradient);
            tracing::debug!("round {}: {changed} changes", round + 1);
            if changed == 0 {
                break;
            }
        }
        if options.rounds > 0 {
            adaptive.repair(tolerance);
        }
    }
    let after = FitReport::of(&adaptive);
    Ok(Adapted { mesh: adaptive.to_raw(), kept: adaptive.kept_parts(), before, after, passes })
}

fn check(options: &AdaptOptions) -> Result<(), AdaptError> {
    let refuse = |key, value, reason| Err(AdaptError::Value { key, value, reason });
    if !(options.ridge_angle_deg > 0.0 && options.ridge_angle_deg < 180.0) {
        return refuse(
            "ridge_angle_deg",
            options.ridge_angle_deg,
            "an angle between 0 and 180 degrees",
        );
    }
    if !(options.surface_tolerance >= 0.0 && options.surface_tolerance < 1.0) {
        return refuse(
            "surface_tolerance",
            options.surface_tolerance,
            "a number from 0 to below 1",
        );
    }
    Ok(())
}

impl AdaptiveMesh<'_> {
    /// One pass: short edges are collapsed, edges longer than `split_above` split, cells improved. Returns the number of collapses
    /// and splits.
    fn pass(&mut self, split_above: f64, surface_tolerance: f64, is_rough: bool) -> usize {
        let [shortest, longest] = LENGTH_RANGE;
        let quality_share = if is_rough { 0.3 } else { 0.7 };
        let rule =
            CollapseRule { shortest, longest, quality_share, quality: 0.4, surface_tolerance };
        let since = self.begin(Operation::CollapseShort);
        let edges = self.edges_where(|length| length < shortest, true, since);
        let collapsed =
            self.change_in_batches(&edges, |mesh, edge| collapse_short(mesh, edge, &rule));
        let rule = SplitRule {
            longest: split_above,
            quality_share,
            quality: 0.4,
            shortest: 0.75 * shortest,
        };
        let edges = self.edges_where(|length| length > split_above, false, 0);
        let split = self.change_in_batches(&edges, |mesh, edge| split_long(mesh, edge, &rule));
        self.swap();
        self.sweep(Operation::Smooth, Objective::Energy);
        collapsed + split
    }

    /// One round of relaxation: collapses, splits, swaps and moves that lower the energy, moves down its gradient if `by_gradient`.
    /// Returns their number.
    fn relax(&mut self, surface_tolerance: f64, by_gradient: bool) -> usize {
        let since = self.begin(Operation::Collapse);
        let edges = self.edges_where(|length| length < TRIED[0], true, since);
        let collapse =
            |mesh: &AdaptiveMesh<'_>, edge| collapse_for_energy(mesh, edge, surface_tolerance);
        let mut changed = self.change_in_batches(&edges, collapse);
        let since = self.begin(Operation::Split);
        let edges = self.edges_where(|length| length > TRIED[1], false, since);
        changed += self.change_in_batches(&edges, split_for_energy);
        changed += self.swap();
        changed += self.sweep(Operation::Smooth, Objective::Energy);
        if by_gradient {
            changed += self.sweep(Operation::SmoothByGradient, Objective::Energy);
        }
        changed
    }

    /// Improves the cells of largest distortion: operations on their vertices lower an energy in which these cells count by the square.
    fn repair(&mut self, surface_tolerance: f64) {
        let mut distortions: Vec<f64> =
            self.cells.elements().map(|cell| self.distortions[cell as usize]).collect();
        if distortions.is_empty() {
            return;
        }
        let rank = distortions.len() - 1 - distortions.len() / WORST;
        let (_, acceptable, _) = distortions.select_nth_unstable_by(rank, f64::total_cmp);
        self.cell_penalty = CellPenalty { acceptable: *acceptable };
        self.least_gain = LeastGain::OF_REPAIRS;
        for sweep in 1..=REPAIRS {
            let changed = self.repair_once(surface_tolerance);
            tracing::debug!("repair {sweep}: {changed} changes");
            if changed == 0 {
                break;
            }
        }
        self.cell_penalty = CellPenalty::default();
    }

    /// Operations on the vertices of cells that are not acceptable. Returns their number.
    fn repair_once(&mut self, surface_tolerance: f64) -> usize {
        self.sweeps += 1;
        let since = self.sweeps;
        let is_poor = |cell: &u32| self.distortions[*cell as usize] > self.cell_penalty.acceptable;
        let poor: Vec<u32> = self.cells.elements().filter(is_poor).collect();
        self.mark(&poor);
        let edges = self.edges_since(since, Some);
        let mut changed = self.change_in_batches(&edges, swap_edge);
        if self.dimension == 3 {
            changed += self.change_in_batches(&self.interior_faces(since), swap_face);
        }
        let edges = self.edges_where(|_| true, true, since);
        changed += self.change_in_batches(&edges, |mesh, edge| {
            collapse_for_energy(mesh, edge, surface_tolerance)
        });
        let edges = self.edges_where(|_| true, false, since);
        changed += self.change_in_batches(&edges, split_for_energy);
        changed += self.sweep_since(Operation::Smooth, Objective::Energy, since);
        changed + self.sweep_since(Operation::SmoothByGradient, Objective::Energy, since)
    }

    /// Moves vertices towards equilateral cells, or down the gradient. Returns the number of moves.
    fn sweep(&mut self, operation: Operation, objective: Objective) -> usize {
        let since = self.begin(operation);
        self.sweep_since(operation, objective, since)
    }

    /// As [`AdaptiveMesh::sweep`], of vertices whose cells changed in the sweep `since` or later.
    fn sweep_since(&mut self, operation: Operation, objective: Objective, since: u32) -> usize {
        let mut order = self.scattered_vertices();
        order.retain(|&vertex| self.changed[vertex as usize] >= since);
        match operation {
            Operation::SmoothByGradient => {
                self.change_in_batches(&order, |mesh, v| smooth_by_gradient(mesh, v, objective))
            }
            _ => self.change_in_batches(&order, |mesh, v| smooth(mesh, v, objective)),
        }
    }

    /// Swaps edges, in 3D faces too.
    fn swap(&mut self) -> usize {
        let since = self.begin(Operation::SwapEdges);
        let edges = self.edges_since(since, Some);
        let mut changed = self.change_in_batches(&edges, swap_edge);
        if self.dimension == 3 {
            let since = self.begin(Operation::SwapFaces);
            changed += self.change_in_batches(&self.interior_faces(since), swap_face);
        }
        changed
    }

    /// Sweeps of smoothing until fewer than 1 in 1000 vertices move, at most `most`. Returns their number.
    fn smooth_to_equilibrium(&mut self, most: usize) -> usize {
        for sweep in 1..=most {
            let mut moved = self.sweep(Operation::Smooth, Objective::Quality);
            moved += self.sweep(Operation::SmoothByGradient, Objective::Quality);
            if moved * 1000 < self.vertex_count() {
                return sweep;
            }
        }
        most
    }

    /// Edges whose length `is_wanted`, by ascending or descending length, with a vertex whose cells changed in the sweep `since` or
    /// later.
    fn edges_where(
        &self,
        is_wanted: impl Fn(f64) -> bool + Sync,
        is_ascending: bool,
        since: u32,
    ) -> Vec<[u32; 2]> {
        let mut edges: Vec<(f64, [u32; 2])> = self.edges_since(since, |edge| {
            let length = self.length(edge[0], edge[1]);
            is_wanted(length).then_some((length, edge))
        });
        edges.par_sort_unstable_by(|a, b| {
            let by_length = a.0.total_cmp(&b.0);
            let by_length = if is_ascending { by_length } else { by_length.reverse() };
            by_length.then(a.1.cmp(&b.1))
        });
        edges.into_iter().map(|(_, edge)| edge).collect()
    }

    /// The values of `of` for each edge with a vertex whose cells changed in the sweep `since` or later, in an order that keeps edges of
    /// a neighbourhood together.
    fn edges_since<T: Clone + Send + Sync>(
        &self,
        since: u32,
        of: impl Fn([u32; 2]) -> Option<T> + Sync,
    ) -> Vec<T> {
        let is_recent = |vertex: u32| self.changed[vertex as usize] >= since;
        let of_chunk = |chunk: usize| {
            let first = chunk * CHUNK;
            let mut found = vec![];
            let mut list = vec![];
            let vertices = first..(first + CHUNK).min(self.vertices.len());
            for vertex in vertices.map(|vertex| vertex as u32).filter(|&vertex| is_recent(vertex)) {
                self.neighbours(vertex, &mut list);
                // An edge of two recent vertices is found from the lower one.
                let edges = list.iter().filter(|&&other| other > vertex || !is_recent(other));
                found.extend(edges.filter_map(|&o| of([vertex.min(o), vertex.max(o)])));
            }
            found
        };
        let chunks = 0..self.vertices.len().div_ceil(CHUNK);
        let lists: Vec<Vec<T>> = chunks.into_par_iter().map(of_chunk).collect();
        lists.concat()
    }

    /// The length that 1 in 100 edges exceed.
    fn usual_longest(&self) -> f64 {
        let edges = self.edges_where(|_| true, false, 0);
        edges.get(edges.len() / 100).map_or(1.0, |&[a, b]| self.length(a, b))
    }

    /// All vertices, so that those of a batch are far apart in number and follow those of the batch before in number: cavities of a
    /// batch are mostly disjoint, and its parts of the mesh are in the cache since the batch before.
    fn scattered_vertices(&self) -> Vec<u32> {
        let n = self.vertices.len();
        let stride = n.div_ceil(self.batch_size());
        (0..stride).flat_map(|first| (first..n).step_by(stride)).map(|v| v as u32).collect()
    }

    /// Faces between two cells of which one is distorted, each once, with a vertex whose cells changed in the sweep `since` or later.
    fn interior_faces(&self, since: u32) -> Vec<[u32; 3]> {
        let of_cell = |cell: u32| {
            let [a, b, c, d] = self.cells.padded(cell);
            let faces = [[b, c, d], [a, c, d], [a, b, d], [a, b, c]];
            let is_recent =
                |face: &[u32; 3]| face.iter().any(|&vertex| self.changed[vertex as usize] >= since);
            let is_first = move |face: &[u32; 3]| {
                let others = self.cells.around_edge(face[0], face[1]);
                let mut behind = others
                    .filter(|&other| other != cell && self.cells.padded(other).contains(&face[2]));
                behind.next().is_some_and(|other| other > cell || !self.is_distorted(other))
            };
            faces.into_iter().filter(is_recent).filter(is_first)
        };
        let cells: Vec<u32> = self.cells.elements().collect();
        let distorted = cells.par_iter().copied().filter(|&cell| self.is_distorted(cell));
        distorted.flat_map_iter(of_cell).collect()
    }

    /// Whether a swap of a face of the cell and of another one not worse can lower the energy: three cells arise.
    fn is_distorted(&self, cell: u32) -> bool {
        2.0 * self.cell_penalty.of_cell(self.distortions[cell as usize])
            > 3.0 * energy::LEAST_OF_CELL
    }
}
