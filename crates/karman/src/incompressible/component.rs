//! A field that a flow carries: its levels in time, its gradient, what is carried out of each cell.

use super::IncompressibleError;
use super::faces::Faces;
use super::kernels::{Convection, boundary_value, carried_flux, transport_residual};
use super::scheme::Formula;
use super::transport::Transport;
use crate::backend::{Backend, Buffer};
use crate::diffusion::{Prescribed, check_finite, narrow};
use crate::mesh::{Geometry, Mesh};
use crate::operators::incidence::divergence;
use crate::real::Real;
use std::sync::Arc;

/// What a flow carries, a component of its velocity or a temperature, and what goes with it: `[n_cells]`
/// each but for the gradient.
pub(super) struct Component<F: Real> {
    /// At the present level.
    pub now: Buffer<F>,
    /// At the level before.
    pub before: Buffer<F>,
    /// u*, the velocity before its projection.
    pub predicted: Buffer<F>,
    /// δ, the first guess of the next predictor.
    pub increment: Buffer<F>,
    /// What the flow carries out of each cell.
    pub carried: Buffer<F>,
    /// The same at the level before.
    pub carried_before: Buffer<F>,
    /// `[3][n_cells]`.
    pub gradient: Buffer<F>,
    /// At boundary faces: `[n_boundary]`.
    pub at_boundary: Buffer<F>,
}

/// What carries.
pub(super) struct Carrying<'a, F: Real> {
    pub faces: &'a Faces<F>,
    /// F: `[n_faces]`.
    pub flux: &'a Buffer<F>,
    /// What part of a cell's value enters with the flow at a boundary that holds none: `[n_boundary]`.
    pub entering: &'a Buffer<F>,
    /// Share of the left cell in the value at a face: `[n_interior]`.
    pub weight: &'a Buffer<F>,
    /// Whether values are taken to faces without gradients.
    pub is_straight: bool,
    pub convection: Convection,
}

impl<F: Real> Component<F> {
    /// A field at the start; `what` names it in messages.
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        (initial, what): (&Arc<dyn Prescribed>, &'static str),
    ) -> Result<Self, IncompressibleError> {
        let n = mesh.n_cells();
        let mut start = vec![0.0; n];
        initial.sample(&geometry.cell_centre, 0.0, &mut start);
        check_finite(what, &start, 0.0)?;
        let before = narrow(backend, start.clone());
        Ok(Component {
            now: narrow(backend, start),
            before,
            predicted: backend.zeros(n),
            increment: backend.zeros(n),
            carried: backend.zeros(n),
            carried_before: backend.zeros(n),
            gradient: backend.zeros(3 * n),
            at_boundary: backend.zeros(mesh.n_faces() - mesh.n_interior_faces()),
        })
    }

    /// Takes the gradient, where it is wanted, and the values at the boundary of `now`, quantity `k` of
    /// `transport`; without the gradient's part along the boundary where `is_straight`.
    pub(super) fn take(
        &mut self,
        backend: &Backend,
        faces: &Faces<F>,
        (transport, k, held): (&Transport<F>, usize, &Buffer<u32>),
        (has_gradient, is_straight): (bool, bool),
    ) {
        if has_gradient {
            transport.differentiate(k, &self.now, &mut self.gradient);
        }
        boundary_value(
            backend,
            held.len(),
            &faces.cells.left,
            held,
            transport.quantities[k].prescribed.value(),
            &self.now,
            &self.gradient,
            &faces.offset,
            faces.cells.n_interior(),
            faces.cells.n_faces(),
            self.now.len(),
            is_straight,
            &mut self.at_boundary,
        );
    }

    /// Takes the convective flux out of each cell of quantity `k` of `transport`; the one taken before becomes that
    /// of the level before.
    pub(super) fn carry(
        &mut self,
        backend: &Backend,
        carrying: &Carrying<'_, F>,
        (transport, k): (&mut Transport<F>, usize),
        through: &mut Buffer<F>,
    ) {
        let gradient = transport.upstream_gradient(k, &self.now).unwrap_or(&self.gradient);
        let Carrying { faces, flux, entering, weight, is_straight, convection } = carrying;
        let cells = &faces.cells;
        let (n, n_faces) = (cells.n_cells(), cells.n_faces());
        std::mem::swap(&mut self.carried, &mut self.carried_before);
        carried_flux(
            backend,
            n_faces,
            &cells.left,
            &cells.right,
            flux,
            &self.now,
            gradient,
            &self.at_boundary,
            entering,
            weight,
            &faces.offset,
            &faces.span,
            cells.n_interior(),
            n_faces,
            n,
            *convection,
            *is_straight,
            through,
        );
        let carried = &mut self.carried;
        divergence(backend, n, &cells.offsets, &cells.faces, through, cells.rows, carried);
    }

    /// r becomes what is left of the equation, but for what the boundary gives: on entry the diffusive matrix
    /// times `now`. `slope` is ∇p, with the component of it that drives, where one does.
    pub(super) fn leave_residual(
        &self,
        backend: &Backend,
        volume: &Buffer<F>,
        formula: &Formula,
        source: &Buffer<F>,
        slope: Option<(&Buffer<F>, usize)>,
        r: &mut Buffer<F>,
    ) {
        let Formula { bdf, now, then, .. } = *formula;
        // What counts for nothing need not be read.
        let before = if bdf.memory == 0.0 { &self.now } else { &self.before };
        let carried_before = if then == 0.0 { &self.carried } else { &self.carried_before };
        let n = self.now.len();
        let (of_pressure, k) = slope.unwrap_or((volume, 0));
        transport_residual(
            backend,
            n,
            volume,
            source,
            of_pressure,
            F::from_f64(bdf.memory),
            &self.now,
            before,
            &self.carried,
            carried_before,
            F::from_f64(now),
            F::from_f64(then),
            k,
            n,
            slope.is_some(),
            r,
        );
    }
}
