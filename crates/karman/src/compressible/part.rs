//! The part of a compressible flow that one of several ranks computes.
//!
//! Around its own cells a rank has a layer, the cells across their faces, whose polynomials and traces it computes as their owners do;
//! what their stencils need are ghosts too. So the means are all that ranks exchange, once a stage, and in cells that are computed again the levels. A flux
//! through a face between two parts is computed by both, from equal numbers.

use super::error::CompressibleError;
use super::face_points::{FacePointsOnBackend, FaceRule};
use super::fused::{FusedResidual, has_rows};
use super::on_backend::{MeshOnBackend, PolynomialsOnBackend};
use super::problem::CompressibleNumerics;
use super::reconstruction::polynomial::AnyStencils;
use super::reconstruction::stencil::Stencils;
use super::solver::{CompressibleSolver, State};
use super::state::VARIABLES;
use super::whole_mesh::WholeMesh;
use crate::backend::group::Group;
use crate::backend::{Backend, Halo};
use crate::mesh::Geometry;
use crate::mesh::adjacency::{fill_rows, fill_wide_rows, offsets_of};
use crate::mesh::partition::{Ranges, SubMesh};
use crate::mesh::quadrature::CellMoments;
use crate::operators::Part;
use crate::real::Real;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The progress of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    time: f64,
    steps: usize,
    /// The largest rate λ.
    largest_rate: f64,
}

/// Numbers of a part in the whole mesh.
pub struct PartNumbers {
    /// Those of its own cells, then of its ghosts.
    pub cells: Vec<u32>,
    /// Those of its boundary faces, ascending.
    boundary_faces: Vec<u32>,
    /// Number of its interior faces, which come before those of the boundary.
    n_interior: usize,
}

impl PartNumbers {
    /// The number in the part of a boundary face of one of its cells.
    pub fn boundary_face(&self, face: u32) -> u32 {
        match self.boundary_faces.binary_search(&face) {
            Ok(place) => (self.n_interior + place) as u32,
            Err(_) => unreachable!("a part has the boundary faces of its cells"),
        }
    }
}

/// A part of the mesh.
struct MeshPart {
    sub: SubMesh,
    geometry: Geometry,
    moments: CellMoments,
    /// Those of other cells than its own and of the layer are empty.
    stencils: Stencils,
    /// Local numbers of its own cells and of the layer, ascending.
    computed: Vec<u32>,
    halo: Arc<Halo>,
}

impl MeshPart {
    /// The part of the rank of a group, whose ghosts include `further` ones of its own cells and of the layer.
    fn new(
        whole: WholeMesh<'_>,
        backend: &Backend,
        group: &Arc<dyn Group>,
        ranges: &Ranges<'_>,
        further: impl Fn(u32) -> Vec<u32> + Sync,
    ) -> Result<MeshPart, CompressibleError> {
        let WholeMesh { geometry, moments, stencils, .. } = whole;
        let own = ranges.cells(group.rank());
        let layer = ranges.layer(group.rank());
        let computed: Vec<u32> =
            (own.start as u32..own.end as u32).chain(layer.iter().copied()).collect();
        let beside = |cell: &u32| {
            let mut cells = further(*cell);
            cells.extend_from_slice(&stencils.cells[row(stencils, *cell as usize)]);
            cells.retain(|cell| !own.contains(&(*cell as usize)));
            cells
        };
        let beyond: Vec<u32> = computed.par_iter().flat_map_iter(beside).collect();
        let sub = ranges.extract_with_layer(group.rank(), &layer, &beyond);
        let ghosts = sub.global_cell[sub.mesh.cell_count.owned..].to_vec();
        let halo = Arc::new(Halo::new(group.clone(), &ranges.starts, ghosts)?.on(backend)?);
        let of = |cell: &u32| *cell as usize;
        Ok(MeshPart {
            geometry: sub.geometry(geometry),
            moments: CellMoments {
                volume: sub.global_cell.par_iter().map(|cell| moments.volume[of(cell)]).collect(),
                centre: sub.global_cell.par_iter().map(|cell| moments.centre[of(cell)]).collect(),
                second: sub.global_cell.par_iter().map(|cell| moments.second[of(cell)]).collect(),
            },
            stencils: restricted(stencils, &sub, &halo, &computed),
            computed: computed.iter().filter_map(|cell| local(&halo, *cell)).collect(),
            sub,
            halo,
        })
    }
}

/// The items of a cell.
fn row(stencils: &Stencils, cell: usize) -> Range<usize> {
    stencils.offsets[cell] as usize..stencils.offsets[cell + 1] as usize
}

fn local(halo: &Halo, global: u32) -> Option<u32> {
    halo.local(global as usize).map(|cell| cell as u32)
}

/// The stencils of the cells `computed` in the numbers of a part.
fn restricted(whole: &Stencils, sub: &SubMesh, halo: &Halo, computed: &[u32]) -> Stencils {
    let terms = whole.terms;
    let mut is_computed = vec![false; sub.global_cell.len()];
    for cell in computed.iter().filter_map(|cell| local(halo, *cell)) {
        is_computed[cell as usize] = true;
    }
    let n = sub.global_cell.len();
    let of = |cell: usize| match is_computed[cell] {
        true => row(whole, sub.global_cell[cell] as usize),
        false => 0..0,
    };
    let offsets = offsets_of(n, |cell| of(cell).len());
    let mut cells = vec![0; offsets[n] as usize];
    fill_rows(&offsets, &mut cells, |cell, items| {
        let of_stencil = whole.cells[of(cell)].iter().filter_map(|cell| local(halo, *cell));
        items.iter_mut().zip(of_stencil).for_each(|(item, cell)| *item = cell);
    });
    let mut weights = vec![0.0; terms * cells.len()];
    fill_wide_rows(&offsets, terms, &mut weights, |cell, weights| {
        weights.copy_from_slice(&whole.weights[of(cell).start * terms..of(cell).end * terms]);
    });
    Stencils { offsets, cells, weights, terms, reduced: 0, levels: Default::default() }
}

impl<F: Real> CompressibleSolver<F> {
    /// The part of this flow, which is on the host, that the rank of a group computes on `backend`: the cells of `ranges`, parts of the
    /// mesh `whole`, with the form of the residual and the precision of the weights of `numerics`. All ranks call it at the same time.
    ///
    /// # Errors
    /// [`CompressibleError::Backend`] where a rank failed.
    pub fn of_rank(
        &self,
        backend: &Backend,
        group: &Arc<dyn Group>,
        (whole, ranges): (WholeMesh<'_>, &Ranges<'_>),
        numerics: &CompressibleNumerics,
    ) -> Result<(Self, PartNumbers), CompressibleError> {
        let nodes = self.polynomials.nodes.as_ref();
        let around_nodes = |cell| nodes.map_or(vec![], |nodes| nodes.cells_around(cell));
        let MeshPart { sub, geometry, moments, stencils, computed, halo } =
            MeshPart::new(whole, backend, group, ranges, around_nodes)?;
        let part = Part::new(backend, &sub, halo, ranges.cells(group.rank()), whole.mesh);
        let (n, n_faces) = (part.cells.n_local(), part.cells.n_faces());
        let rule = FaceRule::new(&sub.mesh, &geometry, &moments, numerics.degree());
        let first_point = rule.offsets[sub.mesh.n_interior_faces()] as usize;
        let is_fused = numerics.is_fused(self.viscous.is_viscous(), backend.device().is_some());
        let fused = is_fused.then(|| {
            let has_rows = has_rows(whole.mesh, stencils.terms, numerics);
            let with_rows = if has_rows { &computed[..] } else { &[] };
            let (place, of_cells) = ((&sub.mesh, &rule), (&moments, &stencils));
            FusedResidual::of_part(backend, place, of_cells, with_rows, numerics.weights)
        });
        let polynomials = PolynomialsOnBackend {
            second: part.of_cells(&self.polynomials.second),
            softness: part.of_cells(&self.polynomials.softness),
            nodes: nodes.map(|nodes| nodes.of_part(&part, &computed)),
            ..PolynomialsOnBackend::zeros(
                backend,
                n,
                AnyStencils::of(backend, stencils, numerics.weights),
            )
        };
        let own_entries: Vec<u32> = (0..VARIABLES)
            .flat_map(|v| part.own.clone().map(move |cell| (v, cell)))
            .map(|(v, cell)| (v * part.n_whole() + cell) as u32)
            .collect();
        let mesh = MeshOnBackend {
            volume: part.of_cells(&self.mesh.volume),
            area: part.of_faces(&self.mesh.area),
            points: FacePointsOnBackend::new(backend, &rule),
            cells: part.cells.clone(),
        };
        let has_sum = numerics.method.has_sum();
        let mut solver = CompressibleSolver {
            backend: backend.clone(),
            gamma: self.gamma,
            numerics: *numerics,
            boundary: self.boundary.of_part(&part, &self.mesh.points, first_point),
            viscous: Arc::new(self.viscous.of_part(&part)),
            source: self.source.as_ref().map(|source| source.of_rank(backend, &own_entries)),
            state: State::new(
                backend,
                part.of_cells(&self.state.now),
                part.own.len(),
                n_faces,
                has_sum,
            ),
            mesh: Arc::new(mesh),
            polynomials,
            fused,
            stencil_sizes: vec![],
        };
        (solver.state.time, solver.state.steps) = self.clock();
        solver.finish_step(false)?;
        let n_interior = part.cells.n_interior();
        let boundary_faces = part.faces()[n_interior..].to_vec();
        let numbers = PartNumbers { cells: sub.global_cell, boundary_faces, n_interior };
        Ok((solver, numbers))
    }

    /// The numbers that the flow on the whole mesh takes over after a step of its parts.
    pub fn progress(&self) -> Progress {
        let State { time, steps, largest_rate, .. } = self.state;
        Progress { time, steps, largest_rate }
    }

    /// Takes over the progress of its parts.
    pub fn follow(&mut self, Progress { time, steps, largest_rate }: Progress) {
        let state = &mut self.state;
        (state.time, state.steps, state.largest_rate) = (time, steps, largest_rate);
    }

    /// The means, `[5][n_cells]`, to be written on the host.
    pub fn means_mut(&mut self) -> &mut [F] {
        self.state.now.as_host_mut().unwrap_or_default()
    }
}
