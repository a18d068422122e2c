//! Scaled residuals of a steady flow.
//!
//! The residual of the momentum equation, and of that of the temperature, is Σ|r| / Σ|a_P φ| over cells and components, r the
//! terms of a cell and a_P = V (ν Σ a / V + Σ|F| / 2V) its diagonal coefficient; for the temperature φ is its difference from
//! the reference. That of continuity is Σ|D F*| / Σ Σ_f |F*| before the projection.
//!
//! Source: Ferziger & Perić, §5.4.4 and §7.3, on the normalisation of residuals.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use crate::backend::{Backend, BackendError, Buffer, Components, Partials, View, blas};
use crate::finite_volume::{CellFaces, Quantities, VectorField};
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::Real;
use karman_backend::prelude::*;

/// Scaled residuals of an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledResiduals {
    /// Of the momentum equation, all components together.
    pub momentum: f64,
    /// Of the continuity equation.
    pub mass: f64,
    /// Of the temperature equation, 0 without one.
    pub energy: f64,
}

impl ScaledResiduals {
    /// The largest of them.
    pub fn largest(&self) -> f64 {
        // `max` would hide a NaN.
        let larger = |a: f64, b: f64| if a >= b || a.is_nan() { a } else { b };
        larger(larger(self.momentum, self.mass), self.energy)
    }
}

/// Sums of a residual and of its scale.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct ResidualSums<F: Real> {
    /// Σ|r|.
    pub residual: F,
    /// Its scale.
    pub scale: F,
}

/// Buffers of the sums: of momentum, mass and temperature.
pub(super) struct Residuals {
    partials: Partials,
    sums: [Buffer<f64>; 3],
}

/// The equations of [`Residuals`].
#[derive(Clone, Copy)]
pub(super) enum Of {
    Momentum,
    Mass,
    Energy,
}

impl Residuals {
    pub(super) fn new(backend: &Backend, n_cells: usize) -> Self {
        let zeros = || backend.zeros(<ResidualSums<f64> as Components>::COUNT);
        Residuals {
            partials: Partials::new(backend, n_cells, 2),
            sums: [zeros(), zeros(), zeros()],
        }
    }

    /// Resets all sums.
    pub(super) fn clear(&mut self, backend: &Backend) {
        self.sums.iter_mut().for_each(|sums| blas::fill(backend, sums.len(), 0.0, sums));
    }

    /// Adds the residuals `r` of quantities φ, `[quantities][n_cells]`, whose scales are a_P |φ − `reference`|.
    pub(super) fn add<F: Real>(
        &mut self,
        backend: &Backend,
        of: Of,
        r: &Buffer<F>,
        (rate, volume): (&Buffer<F>, &Buffer<F>),
        (phi, reference): (&VectorField<'_, F>, f64),
    ) {
        let reference = F::from_f64(reference);
        let partials = &mut self.partials;
        let r = Quantities::of(r, phi.dimension);
        residual_and_scale(backend, r.stride, &r, rate, volume, phi, reference, partials);
        accumulate_residual(backend, partials, &mut self.sums[of as usize]);
    }

    /// Adds the imbalance D F* of `n` cells.
    pub(super) fn add_imbalance<F: Real>(
        &mut self,
        backend: &Backend,
        (n, cells): (usize, &CellFaces<'_, F>),
        flux: &Buffer<F>,
        imbalance: &Buffer<F>,
    ) {
        let partials = &mut self.partials;
        imbalance_and_flux(backend, n, cells, flux, imbalance, partials);
        accumulate_residual(backend, partials, &mut self.sums[Of::Mass as usize]);
    }

    /// The scaled residuals; 0 where the scale is.
    pub(super) fn read(&self, backend: &Backend) -> Result<ScaledResiduals, BackendError> {
        let scaled = |of: Of| {
            let sums = backend.read(&self.sums[of as usize])?;
            Ok(if sums[1] > 0.0 { sums[0] / sums[1] } else { sums[0] })
        };
        Ok(ScaledResiduals {
            momentum: scaled(Of::Momentum)?,
            mass: scaled(Of::Mass)?,
            energy: scaled(Of::Energy)?,
        })
    }
}

/// Σ|r| and V rate Σ|φ − reference| of the d quantities of a cell. Traffic (2 + 2d)s.
#[kernel(reduce(sum, sum))]
pub(super) fn residual_and_scale<F: Real>(
    c: usize,
    r: &Quantities<F>,
    rate: &View<F>,
    volume: &View<F>,
    phi: &VectorField<F>,
    reference: F,
) -> (F, F) {
    let (residual, value) = (r.at(c), phi.at(c));
    let mut scale = (value.x - reference).abs();
    if comptime!(phi.dimension > 1) {
        scale += (value.y - reference).abs();
    }
    if comptime!(phi.dimension > 2) {
        scale += (value.z - reference).abs();
    }
    let sum = residual.x.abs() + residual.y.abs() + residual.z.abs();
    (sum, rate[c] * volume[c] * scale)
}

/// |D F| and Σ_f |F| of a cell. Traffic a cell: 4 + s, an item 4, a face s.
#[kernel(reduce(sum, sum))]
pub(super) fn imbalance_and_flux<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    flux: &View<F>,
    imbalance: &View<F>,
) -> (F, F) {
    let mut through = F::literal(0.0);
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let item = cells.items[k];
        through += with_sign::<F>(item, flux[without_sign(item)]).abs();
    }
    (imbalance[c].abs(), through)
}

/// Accumulates one quantity.
#[kernel(combine(sum, sum), update(sums))]
pub(super) fn accumulate_residual(
    residual: f64,
    scale: f64,
    sums: ResidualSums<f64>,
) -> ResidualSums<f64> {
    ResidualSums::<f64> { residual: sums.residual + residual, scale: sums.scale + scale }
}
