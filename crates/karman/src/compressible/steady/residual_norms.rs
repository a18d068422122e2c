//! The residual of the steady equations, R_c = Σ_f σ F_f − V S, and its scaled norms.
#![allow(missing_docs)] // on the modules that the attributes make
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::super::error::CompressibleError;
use super::super::solver::{CompressibleSolver, Means};
use super::super::state::{Conserved, States, VARIABLES};
use crate::backend::{Backend, Buffer, Components, Partials, View};
use crate::finite_volume::{CellFaces, FaceView};
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::Real;
use karman_backend::prelude::*;

/// The norms of the residual of each equation over those of its fluxes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledResiduals {
    /// Of the mass.
    pub mass: f64,
    /// Of the momentum.
    pub momentum: f64,
    /// Of the energy.
    pub energy: f64,
}

impl ScaledResiduals {
    /// The largest of the three, NaN where one is.
    pub fn largest(&self) -> f64 {
        let ScaledResiduals { mass, momentum, energy } = *self;
        if mass.is_nan() || momentum.is_nan() || energy.is_nan() {
            return f64::NAN;
        }
        mass.max(momentum).max(energy)
    }
}

/// Σ_f σ F_f − V S of cell `c`.
#[device]
#[inline(always)]
pub(super) fn balance_of<F: Real>(
    c: usize,
    cells: &CellFaces<'_, F>,
    flux: &States<'_, F>,
    source: &States<'_, F>,
    #[comptime] has_source: bool,
) -> Conserved<F> {
    let one = F::literal(1.0);
    let mut sum = Conserved::<F>::zero();
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let item = cells.items[k];
        sum += flux.at(without_sign(item)) * with_sign::<F>(item, one);
    }
    if comptime!(has_source) {
        sum -= source.at(c) * cells.volume[c];
    }
    sum
}

/// R. Traffic a cell: 8 + 40, a face 40, an item 4 (f64); a source 40.
#[kernel(out(residual))]
pub(super) fn balance<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    flux: &States<F>,
    source: &States<F>,
    #[comptime] has_source: bool,
) -> Conserved<F> {
    balance_of::<F>(c, cells, flux, source, has_source)
}

/// Squares of the norms of R and of the fluxes of a cell.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct SquaredNorms<F: Real> {
    /// R of the mass.
    pub mass: F,
    /// R of the momentum.
    pub momentum: F,
    /// R of the energy.
    pub energy: F,
    /// (½ Σ |ρu·S|)².
    pub mass_flux: F,
    /// (½ Σ (|ρu| |u·S| + |p − p₀| |S|))².
    pub momentum_flux: F,
    /// (½ Σ |(ρE + p) u·S|)².
    pub energy_flux: F,
}

impl SquaredNorms<f64> {
    /// ‖R‖ over the norm of the fluxes; 0 where both vanish.
    pub(super) fn scaled(&self) -> ScaledResiduals {
        let ratio = |square: f64, of_flux: f64| match square == 0.0 {
            true => 0.0,
            false => (square / of_flux).sqrt(),
        };
        ScaledResiduals {
            mass: ratio(self.mass, self.mass_flux),
            momentum: ratio(self.momentum, self.momentum_flux),
            energy: ratio(self.energy, self.energy_flux),
        }
    }
}

/// The squares of a cell, with the fluxes of its mean state and the level p₀ of the pressure.
///
/// Traffic a cell: 4 + 80, a face 24, an item 4 (f64).
#[kernel(reduce(sum, sum, sum, sum, sum, sum))]
pub(super) fn squared_parts<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    faces: &FaceView<F>,
    q: &States<F>,
    residual: &States<F>,
    gamma: F,
    level: F,
) -> (F, F, F, F, F, F) {
    let r = residual.at(c);
    let state = q.at(c);
    let p = state.pressure(gamma);
    let u = state.momentum() * (1.0 / state.density);
    let speed = u.dot(u).sqrt();
    let mut through = F::literal(0.0);
    let mut area = F::literal(0.0);
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let s = faces.area.at(without_sign(cells.items[k]));
        through += u.dot(s).abs();
        area += s.dot(s).sqrt();
    }
    let mass = 0.5 * state.density * through;
    let momentum = mass * speed + 0.5 * (p - level).abs() * area;
    let energy = 0.5 * (state.energy + p) * through;
    let of_momentum = r.momentum();
    (
        r.density * r.density,
        of_momentum.dot(of_momentum),
        r.energy * r.energy,
        mass * mass,
        momentum * momentum,
        energy * energy,
    )
}

/// The sums over all cells.
#[kernel(combine(sum, sum, sum, sum, sum, sum), out(norms))]
pub(super) fn total_of_squares(
    mass: f64,
    momentum: f64,
    energy: f64,
    mass_flux: f64,
    momentum_flux: f64,
    energy_flux: f64,
) -> SquaredNorms<f64> {
    SquaredNorms::<f64> { mass, momentum, energy, mass_flux, momentum_flux, energy_flux }
}

/// R of a flow, with the buffers of its norms.
pub(super) struct ResidualNorms<F: Real> {
    backend: Backend,
    /// R: `[5][n_cells]`.
    pub(super) residual: Buffer<F>,
    partials: Partials,
    norms: Buffer<f64>,
    /// Σ V.
    volume: f64,
}

impl<F: Real> ResidualNorms<F> {
    pub(super) fn new(backend: &Backend, n_cells: usize, volume: f64) -> Self {
        let count = <SquaredNorms<f64> as Components>::COUNT;
        ResidualNorms {
            residual: backend.zeros(VARIABLES * n_cells),
            partials: Partials::new(backend, n_cells, count),
            norms: backend.zeros(count),
            backend: backend.clone(),
            volume,
        }
    }

    /// Sets R to that of the state of a flow, and its scaled norms.
    pub(super) fn evaluate(
        &mut self,
        flow: &mut CompressibleSolver<F>,
    ) -> Result<ScaledResiduals, CompressibleError> {
        flow.evaluate_fluxes(Means::Now);
        let totals = flow.totals()?;
        let level = mean_pressure(&totals, flow.gamma(), self.volume);
        let (n, backend, gamma) = (flow.mesh.n_cells(), &self.backend, F::from_f64(flow.gamma()));
        let (source, has_source) = flow.source();
        let (cells, faces) = (flow.mesh.cell_faces(), flow.mesh.faces());
        let (flux, q) = (States::of(&flow.state.flux), States::of(&flow.state.now));
        balance(backend, n, &cells, &flux, &source, has_source, &mut self.residual);
        let (residual, level) = (States::of(&self.residual), F::from_f64(level));
        let partials = &mut self.partials;
        squared_parts(backend, n, &cells, &faces, &q, &residual, gamma, level, partials);
        total_of_squares(backend, partials, &mut self.norms);
        Ok(SquaredNorms::of_components(&backend.read(&self.norms)?).scaled())
    }
}

/// (γ − 1)(E − ½ |m|²/M)/V of the totals over a volume.
pub(super) fn mean_pressure(totals: &[f64; VARIABLES], gamma: f64, volume: f64) -> f64 {
    let [mass, x, y, z, energy] = *totals;
    (gamma - 1.0) * (energy - 0.5 * (x * x + y * y + z * z) / mass) / volume
}

/// Values that make the variables of order one.
#[derive(Group, Clone, Copy)]
pub(super) struct Scales<'a, F: Real> {
    /// ρ, ρu and ρE: `[3]`.
    pub values: View<'a, F>,
}

#[device]
impl<F: Real> Scales<'_, F> {
    /// D x.
    #[inline(always)]
    pub(super) fn times(&self, x: Conserved<F>) -> Conserved<F> {
        Conserved::<F>::of(
            x.density * self.values[0],
            x.momentum() * self.values[1],
            x.energy * self.values[2],
        )
    }

    /// D⁻¹ q.
    #[inline(always)]
    pub(super) fn divided(&self, q: Conserved<F>) -> Conserved<F> {
        Conserved::<F>::of(
            q.density / self.values[0],
            q.momentum() * (1.0 / self.values[1]),
            q.energy / self.values[2],
        )
    }
}
