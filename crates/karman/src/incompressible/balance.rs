//! What flows in flows out: fluxes through a boundary that fixes no pressure are made to add up to zero.
//!
//! Velocities prescribed at the centroids of faces balance up to the error of that quadrature, and what is
//! left has no solution. It is taken off all fluxes, each by its share of Σ|F|, or off those of convective
//! outlets, each by its share of their area.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::outflow::Outflow;
use super::{FlowCondition, IncompressibleError};
use crate::backend::{Backend, Buffer, Components, Partials, View, blas};
use crate::mesh::Mesh;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Largest part of Σ|F| that is taken for an error of quadrature.
const TOLERATED: f64 = 0.02;

/// The flow through a boundary.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct Flow<F: Real> {
    /// Σ F, outward.
    pub net: F,
    /// Σ |F|.
    pub through: F,
}

/// Balances the fluxes of a boundary.
pub(super) struct Balance {
    /// The boundary faces, where they have to balance.
    faces: Buffer<u32>,
    partials: Partials,
    flow: Buffer<f64>,
    varies: bool,
    dimension: usize,
    /// The time at which the balance is to be looked at.
    look_at: Option<f64>,
}

impl Balance {
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        conditions: &[FlowCondition],
        needed: bool,
    ) -> Self {
        let range = mesh.n_interior_faces() as u32..mesh.n_faces() as u32;
        let faces: Vec<u32> = if needed { range.collect() } else { vec![] };
        let varies = conditions.iter().any(|condition| match condition {
            FlowCondition::Velocity(value) => value.iter().any(|v| v.depends_on_time()),
            _ => false,
        });
        Balance {
            partials: Partials::new(backend, faces.len(), 2),
            faces: backend.upload(faces),
            flow: backend.zeros(<Flow<f64> as Components>::COUNT),
            varies,
            dimension: mesh.dimension,
            look_at: Some(0.0),
        }
    }

    /// Has the next balance looked at, where it may have changed.
    pub(super) fn check(&mut self, time: f64) {
        if self.varies || time == 0.0 {
            self.look_at = Some(time);
        }
    }

    /// Balances the fluxes at the boundary.
    ///
    /// # Errors
    /// [`IncompressibleError::Unbalanced`] where they are off by more than quadrature explains.
    pub(super) fn apply<F: Real>(
        &mut self,
        backend: &Backend,
        outflow: &Outflow<F>,
        area: &Buffer<F>,
        flux: &mut Buffer<F>,
    ) -> Result<(), IncompressibleError> {
        let count = self.faces.len();
        if count == 0 {
            return Ok(());
        }
        boundary_flow(backend, count, &self.faces, flux, &mut self.partials);
        total_flow(backend, &self.partials, &mut self.flow);
        if !outflow.faces.is_empty() {
            // An outlet gives way by as much as it takes, evenly.
            let (list, n) = (&outflow.faces, outflow.faces.len());
            release_flux(backend, n, list, area, &self.flow, outflow.area, flux.len(), flux);
            return Ok(());
        }
        if let Some(time) = self.look_at.take() {
            let values = backend.read(&self.flow)?;
            let (net, through) = (values[0], values[1]);
            let round_off = 1e-12 * self.scale(backend, flux)?;
            if net.abs() > TOLERATED * through && net.abs() > round_off {
                let (net, dimension) = (-net, self.dimension);
                return Err(IncompressibleError::Unbalanced { net, dimension, time });
            }
        }
        balance_flux(backend, count, &self.faces, &self.flow, flux);
        Ok(())
    }

    /// A flux that is large on this mesh.
    fn scale<F: Real>(
        &self,
        backend: &Backend,
        flux: &Buffer<F>,
    ) -> Result<f64, IncompressibleError> {
        let range = blas::range(backend, flux.len(), flux)?;
        Ok(range.map_or(0.0, |(low, high)| low.abs().max(high.abs())))
    }
}

/// F and |F| of a boundary face. Traffic 4 + s.
#[kernel(boundary_flow, indexed, reduce(sum, sum))]
pub(super) fn flow_of_face<F: Real>(_i: usize, f: usize, flux: &View<F>) -> (F, F) {
    (flux[f], flux[f].abs())
}

/// Their sums.
#[kernel(total_flow, combine(sum, sum), out(flow))]
pub(super) fn flow_of_boundary(net: f64, through: f64) -> Flow<f64> {
    Flow::<f64> { net, through }
}

/// F ← F − |S| Σ F / Σ |S| at an outlet. Traffic 4 + 5s.
#[kernel(release_flux, update(flux), indexed)]
pub(super) fn released_flux<F: Real>(
    _i: usize,
    f: usize,
    area: &View<F>,
    flow: &View<f64>,
    total: f64,
    n_faces: usize,
    flux: F,
) -> F {
    let s = Vec3::<F>::at(area, f, n_faces);
    flux - s.dot(s).sqrt() * F::from_f64(flow[0] / total)
}

/// F ← F − |F| Σ F / Σ|F|. Traffic 4 + 2s.
#[kernel(balance_flux, update(flux), indexed)]
pub(super) fn balanced_flux<F: Real>(_i: usize, _f: usize, flow: &View<f64>, flux: F) -> F {
    let mut share = f64::literal(0.0);
    if flow[1] > f64::literal(0.0) {
        share = flow[0] / flow[1];
    }
    flux - flux.abs() * F::from_f64(share)
}
