//! Global mass correction, Σ F = 0 over a boundary without prescribed pressure.
//!
//! Velocities prescribed at the centroids of faces balance up to the error of that quadrature; with an
//! imbalance the Poisson equation of the pressure has no solution. Σ F is subtracted from all fluxes in
//! proportion to |F|, or from those of convective outlets in proportion to |S|. Patches of prescribed flow rate keep theirs.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::gathered_flux::GatheredFlux;
use super::outflow::Outflow;
use super::{FlowCondition, IncompressibleError};
use crate::backend::{Backend, Buffer, Components, Partials, View, blas};
use crate::mesh::Mesh;
use crate::operators::Part;
use crate::real::{Real, Vec3, epsilon};
use karman_backend::prelude::*;

/// Largest |Σ F| / Σ|F| attributed to quadrature.
const LARGEST_IMBALANCE: f64 = 0.02;

/// Largest |Σ F| / Σ|F| attributed to the rounding of fluxes, in roundings.
const ROUNDINGS: f64 = 4.0;

/// The flux through a boundary.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct BoundaryFlux<F: Real> {
    /// Σ F, outward.
    pub net: F,
    /// Σ |F|.
    pub gross: F,
    /// Σ |F| over the faces that may be corrected.
    pub free: F,
}

/// Global mass correction of the boundary fluxes.
pub(super) struct MassCorrection {
    /// The boundary faces; none where a pressure is prescribed.
    faces: Buffer<u32>,
    /// 1 where the flux may be corrected, 0 where a flow rate is prescribed: as `faces`.
    is_free: Buffer<u32>,
    /// The faces of all ranks with their `is_free`, of one of several.
    of_ranks: Option<(GatheredFlux, Buffer<u32>)>,
    partials: Partials,
    boundary_flux: Buffer<f64>,
    varies: bool,
    dimension: usize,
    /// The time at which the imbalance is to be checked.
    check_time: Option<f64>,
}

impl MassCorrection {
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        conditions: &[FlowCondition],
        is_needed: bool,
    ) -> Self {
        let range = mesh.n_interior_faces() as u32..mesh.n_faces() as u32;
        let faces: Vec<u32> = if is_needed { range.collect() } else { vec![] };
        let mut is_free = vec![1; faces.len()];
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            if is_needed && condition.data().keeps_flow_rate {
                let inner = mesh.n_interior_faces();
                is_free[patch.faces.start - inner..patch.faces.end - inner].fill(0);
            }
        }
        let varies = conditions.iter().any(FlowCondition::has_velocity_in_time);
        MassCorrection {
            partials: Partials::new(backend, faces.len(), 3),
            faces: backend.upload(faces),
            is_free: backend.upload(is_free),
            of_ranks: None,
            boundary_flux: backend.zeros(<BoundaryFlux<f64> as Components>::COUNT),
            varies,
            dimension: mesh.dimension,
            check_time: Some(0.0),
        }
    }

    /// The correction of the boundary fluxes of a part.
    pub(super) fn of_part(&self, part: &Part) -> Result<Self, IncompressibleError> {
        let backend = &part.backend;
        let (faces, places) = part.listed_faces(&self.faces);
        let is_needed = !self.faces.is_empty();
        let all = backend.upload_slice(self.is_free.as_host().unwrap_or_default());
        let of_ranks = is_needed.then(|| GatheredFlux::new(part, &faces, &places)).transpose()?;
        Ok(MassCorrection {
            // Over the faces of all ranks.
            partials: Partials::of_own(backend, all.len(), 3),
            faces: backend.upload(faces),
            is_free: part.of_list(&self.is_free, &places, all.len()),
            of_ranks: of_ranks.map(|of_ranks| (of_ranks, all)),
            boundary_flux: backend.zeros(<BoundaryFlux<f64> as Components>::COUNT),
            ..*self
        })
    }

    /// Sums the fluxes of all faces.
    fn sum<F: Real>(&mut self, backend: &Backend, flux: &Buffer<F>) {
        let MassCorrection { faces, is_free, of_ranks, partials, boundary_flux, .. } = self;
        match of_ranks {
            None => boundary_flow(backend, faces.len(), faces, is_free, flux, partials),
            Some((all, is_free)) => {
                let flux = all.gather(backend, flux);
                boundary_flow(backend, flux.len(), &all.places, is_free, &flux, partials);
            }
        }
        total_flow(backend, partials, boundary_flux);
    }

    /// Schedules a check of the imbalance where the boundary data depend on time, and at time 0.
    pub(super) fn schedule_check(&mut self, time: f64) {
        if self.varies || time == 0.0 {
            self.check_time = Some(time);
        }
    }

    /// Corrects the boundary fluxes.
    ///
    /// # Errors
    /// [`IncompressibleError::Unbalanced`] where the imbalance exceeds an error of quadrature.
    pub(super) fn apply<F: Real>(
        &mut self,
        backend: &Backend,
        outflow: &Outflow<F>,
        area: &Buffer<F>,
        flux: &mut Buffer<F>,
    ) -> Result<(), IncompressibleError> {
        let count = self.faces.len();
        if count == 0 && self.of_ranks.is_none() {
            return Ok(());
        }
        self.sum(backend, flux);
        if outflow.is_present {
            // Convective outlets take the imbalance, in proportion to area.
            let (list, n) = (&outflow.faces, outflow.faces.len());
            release_flux(
                backend,
                n,
                list,
                area,
                &self.boundary_flux,
                outflow.area,
                flux.len(),
                flux,
            );
            return Ok(());
        }
        if let Some(time) = self.check_time.take() {
            let values = backend.read(&self.boundary_flux)?;
            let (net, gross, free) = (values[0], values[1], values[2]);
            let round_off =
                (1e-12 * self.scale(backend, flux)?).max(ROUNDINGS * epsilon::<F>() * gross);
            if net.abs() > LARGEST_IMBALANCE * free && net.abs() > round_off {
                let (net, dimension) = (-net, self.dimension);
                return Err(IncompressibleError::Unbalanced { net, dimension, time });
            }
        }
        balance_flux(backend, count, &self.faces, &self.is_free, &self.boundary_flux, flux);
        Ok(())
    }

    /// max |F|.
    fn scale<F: Real>(
        &self,
        backend: &Backend,
        flux: &Buffer<F>,
    ) -> Result<f64, IncompressibleError> {
        let range = blas::range(backend, flux.len(), flux)?;
        Ok(range.map_or(0.0, |(low, high)| low.abs().max(high.abs())))
    }
}

/// F, |F|, and |F| where the flux may be corrected, of a boundary face. Traffic 8 + s.
#[kernel(indexed, reduce(sum, sum, sum))]
pub(super) fn boundary_flow<F: Real>(
    i: usize,
    f: usize,
    is_free: &View<u32>,
    flux: &View<F>,
) -> (F, F, F) {
    let size = flux[f].abs();
    let free = if is_free[i] == 1 { size } else { F::literal(0.0) };
    (flux[f], size, free)
}

/// Σ F and Σ|F|.
#[kernel(combine(sum, sum, sum), out(boundary_flux))]
pub(super) fn total_flow(net: f64, gross: f64, free: f64) -> BoundaryFlux<f64> {
    BoundaryFlux::<f64> { net, gross, free }
}

/// F ← F − |S| Σ F / Σ |S| at an outlet. Traffic 4 + 5s.
#[kernel(update(flux), indexed)]
pub(super) fn release_flux<F: Real>(
    _i: usize,
    f: usize,
    area: &View<F>,
    boundary_flux: &View<f64>,
    total: f64,
    n_faces: usize,
    flux: F,
) -> F {
    let s = Vec3::<F>::at(area, f, n_faces);
    flux - s.dot(s).sqrt() * F::from_f64(boundary_flux[0] / total)
}

/// F ← F − |F| Σ F / Σ|F|, the second sum and the correction where the flux may be corrected. Traffic 8 + 2s.
#[kernel(update(flux), indexed)]
pub(super) fn balance_flux<F: Real>(
    i: usize,
    _f: usize,
    is_free: &View<u32>,
    boundary_flux: &View<f64>,
    flux: F,
) -> F {
    let mut share = f64::literal(0.0);
    if boundary_flux[2] > f64::literal(0.0) && is_free[i] == 1 {
        share = boundary_flux[0] / boundary_flux[2];
    }
    flux - flux.abs() * F::from_f64(share)
}
