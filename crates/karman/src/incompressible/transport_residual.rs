//! The residual of transport equations at the current level.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use crate::backend::{Segment, View};
use crate::finite_volume::mesh_view::{add_quantities, store_quantities};
use crate::finite_volume::transport::TransportView;
use crate::finite_volume::{CellFaces, Quantities, VectorField, Vectors};
use crate::operators::incidence::without_sign;
use crate::operators::neighbours::is_cell;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Transported quantities and their explicit terms at two levels with the coefficients of a step.
#[derive(Group, Clone, Copy)]
pub(super) struct TransportLevels<'a, F: Real> {
    /// u.
    pub value: VectorField<'a, F>,
    /// u_before.
    pub before: VectorField<'a, F>,
    /// N, the explicit flux out of the cell.
    pub explicit: Quantities<'a, F>,
    /// N_before.
    pub explicit_before: Quantities<'a, F>,
    /// Factor of the previous increment.
    pub history: F,
    /// b₀.
    pub b0: F,
    /// b₁.
    pub b1: F,
}

/// Volumes and sources of the cells.
#[derive(Group, Clone, Copy)]
pub(super) struct CellSources<'a, F: Real> {
    /// V: `[n_cells]`.
    pub volume: View<'a, F>,
    /// V s.
    pub source: VectorField<'a, F>,
    /// ∇p.
    pub pressure_gradient: Vectors<'a, F>,
    /// Whether the equations contain ∇p.
    #[comptime]
    pub has_pressure: bool,
}

/// Two-point diffusion A, and the part of the implicit operator W that is extrapolated with it.
#[derive(Group, Clone, Copy)]
pub(super) struct Diffusion<'a, F: Real> {
    /// a: `[n_faces]`.
    pub conductance: View<'a, F>,
    /// W.
    pub implicit: TransportView<'a, F>,
    /// Factor e of (W − A) (u − u_before).
    pub extrapolation: F,
    /// Whether A is present.
    #[comptime]
    pub is_present: bool,
    /// Whether e is not 0 and W not A.
    #[comptime]
    pub extrapolates: bool,
}

/// r_c ← V (s − ∇p + history (u − u_before)) − b₀ N − b₁ N_before − A u + e (W − I − A)(u − u_before): the residual of d
/// transport equations without the contribution of prescribed values.
///
/// Traffic a cell: 4 + (1 + 7d)s, an item 8, a face s; where W is extrapolated a face 2s or 3s.
#[kernel]
pub(super) fn transport_residual<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    levels: &TransportLevels<F>,
    sources: &CellSources<F>,
    diffusion: &Diffusion<F>,
    stride: usize,
    r: &mut Segment<F>,
) {
    let own = levels.value.at(c);
    let change = own - levels.before.at(c);
    let mut inertia = change * levels.history;
    if comptime!(sources.has_pressure) {
        inertia -= sources.pressure_gradient.at(c);
    }
    let mut sum = sources.source.at(c) + inertia * sources.volume[c];
    sum = sum - levels.explicit.at(c) * levels.b0 - levels.explicit_before.at(c) * levels.b1;
    if comptime!(diffusion.is_present) {
        let mut diffusive = Vec3::<F>::zero();
        for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
            let item = cells.items[k];
            let j = diffusion.implicit.neighbours[k];
            let mut difference = own;
            if is_cell(j) {
                difference -= levels.value.at(j as usize);
            }
            let a = diffusion.conductance[without_sign(item)];
            diffusive += difference * a;
            if comptime!(diffusion.extrapolates) {
                let mut of_change = change;
                if is_cell(j) {
                    of_change =
                        of_change - levels.value.at(j as usize) + levels.before.at(j as usize);
                }
                let added = diffusion.implicit.coefficient(item) - a;
                diffusive -= of_change * (added * diffusion.extrapolation);
            }
        }
        sum -= diffusive;
    }
    store_quantities::<F>(c, sum, stride, r, levels.value.dimension);
}

/// −β g (θ T + (1 − θ) T_before − T₀): Boussinesq's buoyancy.
#[derive(Group, Clone, Copy)]
pub(super) struct Buoyancy<'a, F: Real> {
    /// T: `[n_cells]`.
    pub temperature: View<'a, F>,
    /// T_before: `[n_cells]`.
    pub before: View<'a, F>,
    /// θ.
    pub theta: F,
    /// T₀.
    pub reference: F,
    /// −β g, by components.
    pub x: F,
    pub y: F,
    pub z: F,
}

/// r ← r + V times the buoyancy. Traffic (3 + 2d)s.
#[kernel]
pub(super) fn add_buoyancy<F: Real>(
    c: usize,
    volume: &View<F>,
    buoyancy: &Buoyancy<F>,
    stride: usize,
    #[comptime] dimension: usize,
    r: &mut Segment<F>,
) {
    let theta = buoyancy.theta;
    let mean = theta * buoyancy.temperature[c] + (F::literal(1.0) - theta) * buoyancy.before[c];
    let along = Vec3::<F> { x: buoyancy.x, y: buoyancy.y, z: buoyancy.z };
    let force = along * (volume[c] * (mean - buoyancy.reference));
    add_quantities::<F>(c, force, stride, r, dimension);
}

/// u* ← u + δ of a quantity whose values begin at `first` of the increments. Traffic 3s.
#[kernel(out(next))]
pub(super) fn add_increment<F: Real>(
    c: usize,
    u: &View<F>,
    increments: &View<F>,
    first: usize,
) -> F {
    u[c] + increments[first + c]
}
