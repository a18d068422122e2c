//! Symmetric Gauss–Seidel sweeps by colours with the Jacobian of a flux of first order, without a matrix: LU-SGS.
//!
//! Through face f of cell i with neighbour j and outward area S the flux is ½ (F(q_i)·S + F(q_j)·S) − ½ λ_f (q_j − q_i), λ_f the
//! mean of |u·S| + c|S| on both sides plus 2ν'|S|/d, ν' = max(4/3, γ/Pr) μ/ρ. Since the areas of a cell sum to 0, its block on
//! the diagonal is the number 1 + (Δτ/V) ½ Σ λ_f; the blocks beside it act as ½ (A(q_j)·S − λ_f), A the Jacobian of F.
//!
//! Source: Yoon & Jameson, AIAA J. 26 (1988) 1025; Luo, Baum & Löhner, J. Comput. Phys. 146 (1998) 664.
#![allow(missing_docs)] // on the modules that the attributes make

use super::super::on_backend::MeshOnBackend;
use super::super::state::{Conserved, Primitive, States, VARIABLES};
use super::super::viscous::{ViscosityLaw, ViscousData, ViscousView};
use super::residual_norms::Scales;
use crate::backend::{Backend, Buffer, Segment, View, blas};
use crate::finite_volume::{CellFaces, FaceView};
use crate::linear::{Colouring, CsrMatrix, LinearError, Preconditioner};
use crate::mesh::Mesh;
use crate::operators::incidence::{with_sign, without_sign};
use crate::operators::neighbours::is_cell;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Number of symmetric sweeps.
const SWEEPS: usize = 3;

/// The cells by colour; those of one colour share no face.
#[derive(Clone, Debug)]
pub struct Colours {
    /// Where colours begin in `cells`: `[colours + 1]`.
    offsets: Vec<usize>,
    cells: Vec<u32>,
}

impl Colours {
    /// Colours the cells of a mesh.
    ///
    /// # Errors
    /// [`LinearError::TooLarge`] of a mesh of too many faces.
    pub fn new(mesh: &Mesh) -> Result<Colours, LinearError> {
        let Colouring { offsets, rows: cells, .. } = Colouring::of(&face_graph(mesh)?);
        Ok(Colours { offsets, cells })
    }

    /// The cells of a range, counted from its first.
    #[must_use]
    pub fn of_range(&self, own: &Range<usize>) -> Colours {
        let (mut offsets, mut cells) = (vec![0], vec![]);
        for colour in self.offsets.windows(2) {
            let all = self.cells[colour[0]..colour[1]].iter();
            let inside = all.filter(|cell| own.contains(&(**cell as usize)));
            cells.extend(inside.map(|cell| cell - own.start as u32));
            offsets.push(cells.len());
        }
        Colours { offsets, cells }
    }
}

/// The sweeps at a state.
pub(super) struct LuSgs<F: Real> {
    pub(super) mesh: Arc<MeshOnBackend<F>>,
    pub(super) viscous: Arc<ViscousData<F>>,
    gamma: F,
    /// Where colours begin in `order`.
    offsets: Vec<usize>,
    /// Cells by colour.
    order: Buffer<u32>,
    /// z with its ghosts, `[5][n_local]`, on one of several ranks.
    extended: Option<Buffer<F>>,
    /// q: `[5][n_cells]`.
    pub(super) means: Buffer<F>,
    /// Δτ: `[n_cells]`.
    pub(super) local: Buffer<F>,
    scales: Buffer<F>,
}

impl<F: Real> LuSgs<F> {
    /// The sweeps by colours; the state is set before each use.
    pub(super) fn new(
        backend: &Backend,
        colours: Colours,
        (on_backend, viscous): (Arc<MeshOnBackend<F>>, Arc<ViscousData<F>>),
        gamma: f64,
        scales: [f64; 3],
    ) -> Self {
        let (n, n_local) = (on_backend.n_cells(), on_backend.cells.n_local());
        let is_part = on_backend.cells.halo().is_some();
        on_backend.cells.neighbours(backend);
        LuSgs {
            mesh: on_backend,
            viscous,
            gamma: F::from_f64(gamma),
            offsets: colours.offsets,
            order: backend.upload(colours.cells),
            extended: is_part.then(|| backend.zeros(VARIABLES * n_local)),
            means: backend.zeros(VARIABLES * n_local),
            local: backend.zeros(n),
            scales: backend.upload(scales.map(F::from_f64).to_vec()),
        }
    }
}

/// The graph of cells that share a face.
fn face_graph(mesh: &Mesh) -> Result<CsrMatrix<f32>, LinearError> {
    let n = mesh.n_cells();
    let pairs = mesh.face_left.iter().zip(&mesh.face_right);
    let entries = (0..n as u32).map(|c| (c, c, 1.0));
    let entries = entries.chain(pairs.flat_map(|(l, r)| [(*l, *r, 1.0), (*r, *l, 1.0)]));
    CsrMatrix::from_entries(n, n, entries.collect())
}

impl<F: Real> Preconditioner<F> for LuSgs<F> {
    fn apply(&mut self, backend: &Backend, r: &Buffer<F>, z: &mut Buffer<F>) {
        let neighbours = self.mesh.cells.neighbours(backend);
        let sweep_data = SweepView {
            order: self.order.view(),
            neighbours: neighbours.view(),
            q: States::of(&self.means),
            local: self.local.view(),
            scales: Scales { values: self.scales.view() },
            gamma: self.gamma,
            viscous: self.viscous.view(),
            stride: self.mesh.cells.n_local(),
        };
        let (cells, faces) = (self.mesh.cell_faces(), self.mesh.faces());
        let n = self.mesh.n_cells();
        let own = z;
        let z = match &mut self.extended {
            None => &mut *own,
            Some(extended) => extended,
        };
        blas::fill(backend, z.len(), F::literal(0.0), z);
        let colours = self.offsets.windows(2).map(|bounds| (bounds[0], bounds[1] - bounds[0]));
        for _ in 0..SWEEPS {
            for (first, count) in colours.clone().chain(colours.clone().rev()) {
                sweep(backend, count, first, &cells, &faces, &sweep_data, &States::of(r), z);
                self.mesh.cells.fetch(&mut [z]);
            }
        }
        if let Some(extended) = &self.extended {
            own_entries(backend, n, &States::of(extended), own);
        }
    }

    fn bytes(&self) -> usize {
        2 * (self.means.bytes() + self.local.bytes() + self.order.bytes())
            + 6 * self.mesh.cells.faces.bytes()
    }
}

/// What a sweep reads besides the mesh.
#[derive(Group, Clone, Copy)]
pub(super) struct SweepView<'a, F: Real> {
    /// Cells by colour: `[n_cells]`.
    pub order: View<'a, u32>,
    /// The cell across each face of a cell: `[items]`.
    pub neighbours: View<'a, u32>,
    /// The state: `[5][n_cells]`.
    pub q: States<'a, F>,
    /// Δτ: `[n_cells]`.
    pub local: View<'a, F>,
    /// D.
    pub scales: Scales<'a, F>,
    /// γ.
    pub gamma: F,
    /// Viscous terms.
    pub viscous: ViscousView<'a, F>,
    /// Distance between the variables of z.
    pub stride: usize,
}

/// The entries of own cells. Traffic a cell: 80 (f64).
#[kernel(out(own))]
pub(super) fn own_entries<F: Real>(c: usize, extended: &States<F>) -> Conserved<F> {
    extended.at(c)
}

/// |u·S| + c|S| + 2ν'|S|/d of a state.
#[device]
#[inline(always)]
fn wave_speed<F: Real>(
    f: usize,
    state: Primitive<F>,
    s: Vec3<F>,
    gamma: F,
    viscous: &ViscousView<'_, F>,
) -> F {
    let size = s.dot(s).sqrt();
    let mut speed = state.velocity().dot(s).abs() + state.sound_speed(gamma) * size;
    if comptime!(viscous.law != ViscosityLaw::Inviscid) {
        speed += 2.0 * viscous.diffusivity(state, gamma) * size / viscous.spacing[f];
    }
    speed
}

/// A(q)·S δ, the change of the flux of a state by that of the state.
#[device]
#[inline(always)]
pub(in crate::compressible) fn flux_change<F: Real>(
    state: Primitive<F>,
    change: Conserved<F>,
    s: Vec3<F>,
    gamma: F,
) -> Conserved<F> {
    let u = state.velocity();
    let square = u.dot(u);
    let through = u.dot(s);
    let momentum = change.momentum();
    let of_mass = momentum.dot(s);
    let pressure =
        (gamma - 1.0) * (change.energy - u.dot(momentum) + 0.5 * square * change.density);
    let enthalpy = gamma / (gamma - 1.0) * state.pressure / state.density + 0.5 * square;
    let convected = of_mass - through * change.density;
    Conserved::<F>::of(
        of_mass,
        u * convected + momentum * through + s * pressure,
        enthalpy * convected + through * (change.energy + pressure),
    )
}

/// z_i ← (r_i − (Δτ/V) Σ ½ (A(q_j)·S − λ_f) z_j) / (1 + (Δτ/V) ½ Σ λ_f) for the cells of a colour.
///
/// Traffic of all colours: a cell 92 + 80 (1 + neighbours), a face 24, an item 8 (f64).
#[kernel]
pub(super) fn sweep<F: Real>(
    i: usize,
    first: usize,
    cells: &CellFaces<F>,
    faces: &FaceView<F>,
    data: &SweepView<F>,
    r: &States<F>,
    z: &mut Segment<F>,
) {
    let c = data.order[first + i] as usize;
    let n = data.stride;
    let own = data.q.at(c).primitive(data.gamma);
    let mut sum = Conserved::<F>::zero();
    let mut rate = F::literal(0.0);
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let item = cells.items[k];
        let f = without_sign(item);
        let s = faces.area.at(f) * with_sign::<F>(item, F::literal(1.0));
        let mut speed = wave_speed::<F>(f, own, s, data.gamma, &data.viscous);
        let neighbour = data.neighbours[k];
        if is_cell(neighbour) {
            let j = neighbour as usize;
            let state = data.q.at(j).primitive(data.gamma);
            speed = 0.5 * (speed + wave_speed::<F>(f, state, s, data.gamma, &data.viscous));
            let momentum = Vec3::<F> { x: z[n + j], y: z[2 * n + j], z: z[3 * n + j] };
            let scaled = Conserved::<F>::of(z[j], momentum, z[4 * n + j]);
            let change = data.scales.times(scaled);
            sum += flux_change::<F>(state, change, s, data.gamma) - change * speed;
        }
        rate += speed;
    }
    let factor = 0.5 * data.local[c] / cells.volume[c];
    let value = (r.at(c) - data.scales.divided(sum) * factor) * (1.0 / (1.0 + factor * rate));
    Conserved::<F>::put(value, z, c, n);
}
