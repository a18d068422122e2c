//! A uniform force that keeps the mean velocity of a flow through periodic patches.
//!
//! The mean velocity of a divergence-free field without flow through the other patches is a combination of the translations of
//! the periodic pairs, V ū = Σ Q_j t_j, Q_j the flow rate through pair j. Forces along an orthonormal basis d_j of these
//! translations control it; no force acts in other directions. The response to a force d_j is the projection of d_j,
//!
//! w_j = d_j − ∇π_j,  W_j = d_j·S − a G π_j,  D W_j = 0,
//!
//! with zero flux where the velocity is prescribed; a is the conductance of a face, G π_j the difference of π_j across it, D the
//! divergence. It is d_j itself in a straight channel. With the local steps s of a steady flow w_j = s (d_j − ∇π_j), and a face has
//! (s_l + s_r)/2 times the flux. After the projection of a step
//!
//! Σ_l (d_j·w̄_l) α_l = d_j·(ū₀ − ū),  u ← u + Σ α_j w_j,  F ← F + Σ α_j W_j,  f ← f + shift Σ α_j d_j,  p ← p + shift Σ α_j π_j,
//!
//! so that the mean is ū₀ to round-off at every level, and the momentum equation of the next step has the force f. As with the
//! pressure increment, the viscous term of the correction is left to the next step: the force is of second order in time with
//! steps of second order, and that of the steady equations in a steady state.
//!
//! Source: Benocci & Pinelli, in Rodi & Ganić (eds.), Engineering Turbulence Modelling and Experiments (1990), for a force
//! that keeps the flow rate of a channel at each step; here with its potential response.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::transported_field::{TransportedField, vector_field};
use crate::backend::{Backend, Buffer, Partials, Segment, View};
use crate::finite_volume::mesh_view::add_quantities;
use crate::finite_volume::{VectorField, Vectors};
use crate::operators::Part;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// A vector as a kernel returns it.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, Components)]
pub(super) struct Triple<F: Real> {
    /// Along x.
    pub x: F,
    /// Along y.
    pub y: F,
    /// Along z.
    pub z: F,
}

/// The response of a flow to a unit force.
pub(super) struct Response<F: Real> {
    /// W: `[n_faces]`.
    pub flux: Buffer<F>,
    /// w by component: `[n_cells]` each.
    pub velocity: Vec<Buffer<F>>,
    /// π: `[n_cells]`.
    pub pressure: Buffer<F>,
}

/// The control of the mean velocity.
pub(super) struct MeanVelocity<F: Real> {
    /// d_j.
    pub directions: Vec<[f64; 3]>,
    /// d_j·S, 0 where the velocity is prescribed: `[n_faces]` each.
    pub driving: Vec<Buffer<F>>,
    pub responses: Vec<Response<F>>,
    /// ū₀: `[3]`.
    pub target: Buffer<f64>,
    /// Two matrices by rows: that which gives α from ū₀ − ū, then that with the columns d_j: `[18]`.
    pub coefficients: Buffer<f64>,
    /// 1 / Σ V.
    pub inverse_volume: f64,
    /// α: `[3]`.
    pub amplitudes: Buffer<f64>,
    /// shift α, 0 where the force is unchanged: `[3]`.
    pub increments: Buffer<f64>,
    /// f: `[3]`.
    pub force: Buffer<f64>,
    /// Number of cells, on one of several ranks of its own.
    pub n_cells: usize,
    pub partials: Partials,
}

impl<F: Real> MeanVelocity<F> {
    /// The control towards a mean of `target` in `n_cells` own cells, before its responses; d_j, d_j·S and 1 / Σ V are given.
    pub(super) fn new(
        backend: &Backend,
        (directions, driving, inverse_volume): (Vec<[f64; 3]>, Vec<Buffer<F>>, f64),
        target: &[f64],
        n_cells: usize,
    ) -> Self {
        MeanVelocity {
            directions,
            driving,
            responses: vec![],
            target: backend.upload_slice(target),
            coefficients: backend.zeros(18),
            inverse_volume,
            amplitudes: backend.zeros(3),
            increments: backend.zeros(3),
            force: backend.zeros(3),
            n_cells,
            partials: Partials::new(backend, n_cells, 3),
        }
    }

    /// The control of a part with its d_j·S, before its responses.
    pub(super) fn of_part(&self, part: &Part, driving: Vec<Buffer<F>>) -> Self {
        let target = self.target.as_host().unwrap_or_default();
        let control = (self.directions.clone(), driving, self.inverse_volume);
        Self::new(&part.backend, control, target, part.own.len())
    }

    /// r ← r + V f of the components: `[dimension][n_cells]`.
    pub(super) fn add_force(
        &self,
        backend: &Backend,
        volume: &Buffer<F>,
        dimension: usize,
        r: &mut Buffer<F>,
    ) {
        let stride = r.len() / dimension;
        add_force(backend, stride, volume, &self.force, stride, dimension, r);
    }

    /// F ← F + Σ α_j W_j.
    pub(super) fn add_flux(&self, backend: &Backend, flux: &mut Buffer<F>) {
        for (j, response) in self.responses.iter().enumerate() {
            add_multiple(backend, flux.len(), &self.amplitudes, j, &response.flux, flux);
        }
    }

    /// p ← p + Σ shift α_j π_j.
    pub(super) fn add_pressure(&self, backend: &Backend, p: &mut Buffer<F>) {
        for (j, response) in self.responses.iter().enumerate() {
            add_multiple(backend, p.len(), &self.increments, j, &response.pressure, p);
        }
    }

    /// Corrects u* and the fluxes, with `shift` the force too. The mean before is that of u*, or of u* + ∇ψ where `grad_psi`
    /// is given.
    pub(super) fn correct(
        &mut self,
        backend: &Backend,
        (components, grad_psi): (&mut [TransportedField<F>], Option<&Buffer<F>>),
        volume: &Buffer<F>,
        flux: &mut Buffer<F>,
        shift: Option<f64>,
    ) {
        velocity_integrals(
            backend,
            self.n_cells,
            &vector_field(components, |c| &c.predicted),
            &grad_psi.map_or(Vectors::absent(), Vectors::of),
            volume,
            grad_psi.is_some(),
            &mut self.partials,
        );
        mean_correction(
            backend,
            &self.partials,
            &self.target,
            &self.coefficients,
            self.inverse_volume,
            shift.unwrap_or(0.0),
            &mut self.force,
            &mut self.amplitudes,
            &mut self.increments,
        );
        for (j, response) in self.responses.iter().enumerate() {
            for (component, w) in components.iter_mut().zip(&response.velocity) {
                add_multiple(
                    backend,
                    self.n_cells,
                    &self.amplitudes,
                    j,
                    w,
                    &mut component.predicted,
                );
            }
        }
        self.add_flux(backend, flux);
    }
}

/// V (u* + ∇ψ), ∇ψ only if `projected`. Traffic (2d + 1)s.
#[kernel(reduce(sum, sum, sum))]
pub(super) fn velocity_integrals<F: Real>(
    c: usize,
    predicted: &VectorField<F>,
    grad_psi: &Vectors<F>,
    volume: &View<F>,
    #[comptime] projected: bool,
) -> (F, F, F) {
    let mut u = predicted.at(c);
    if comptime!(projected) {
        u += grad_psi.at(c);
    }
    let v = volume[c];
    (v * u.x, v * u.y, v * u.z)
}

/// α = R (ū₀ − ū), shift α and f + shift Σ α_j d_j, ū from the integrals of the velocity.
#[kernel(combine(sum, sum, sum), update(force), out(amplitudes, increments))]
pub(super) fn mean_correction(
    x: f64,
    y: f64,
    z: f64,
    target: &View<f64>,
    coefficients: &View<f64>,
    inverse_volume: f64,
    shift: f64,
    force: Triple<f64>,
) -> (Triple<f64>, Triple<f64>, Triple<f64>) {
    let u = target[0] - x * inverse_volume;
    let v = target[1] - y * inverse_volume;
    let w = target[2] - z * inverse_volume;
    let a = coefficients[0] * u + coefficients[1] * v + coefficients[2] * w;
    let b = coefficients[3] * u + coefficients[4] * v + coefficients[5] * w;
    let c = coefficients[6] * u + coefficients[7] * v + coefficients[8] * w;
    let along_x = coefficients[9] * a + coefficients[10] * b + coefficients[11] * c;
    let along_y = coefficients[12] * a + coefficients[13] * b + coefficients[14] * c;
    let along_z = coefficients[15] * a + coefficients[16] * b + coefficients[17] * c;
    (
        Triple::<f64> {
            x: force.x + shift * along_x,
            y: force.y + shift * along_y,
            z: force.z + shift * along_z,
        },
        Triple::<f64> { x: a, y: b, z: c },
        Triple::<f64> { x: shift * a, y: shift * b, z: shift * c },
    )
}

/// y ← y + c_j x. Traffic 3s.
#[kernel(update(y))]
pub(super) fn add_multiple<F: Real>(
    i: usize,
    factors: &View<f64>,
    j: usize,
    x: &View<F>,
    y: F,
) -> F {
    y + F::from_f64(factors[j]) * x[i]
}

/// r ← r + V f of d components. Traffic (1 + 2d)s.
#[kernel]
pub(super) fn add_force<F: Real>(
    c: usize,
    volume: &View<F>,
    force: &View<f64>,
    stride: usize,
    #[comptime] dimension: usize,
    r: &mut Segment<F>,
) {
    let force =
        Vec3::<F> { x: F::from_f64(force[0]), y: F::from_f64(force[1]), z: F::from_f64(force[2]) };
    add_quantities::<F>(c, force * volume[c], stride, r, dimension);
}
