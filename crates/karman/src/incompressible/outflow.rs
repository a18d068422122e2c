//! Convective outlets, ∂u/∂t + U ∂u/∂n = 0, U the mean speed through all of
//! them (Orlanski 1976; in this form Pauley, Moin & Reynolds, J. Fluid Mech. 220 (1990) 397).
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::FlowCondition;
use super::implicit_diffusion::{ImplicitDiffusion, faces_where};
use super::transported_field::TransportedField;
use crate::backend::{Backend, Buffer, Partials, View};
use crate::finite_volume::Faces;
use crate::mesh::{Geometry, Mesh};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// Faces of convective outlets and the velocity at them.
pub(super) struct Outflow<F: Real> {
    /// The faces.
    pub faces: Buffer<u32>,
    /// Σ |S|.
    pub area: f64,
    indices: Buffer<u32>,
    /// The velocity at the faces: `[component][faces]`.
    pub value: Vec<Buffer<F>>,
    partials: Partials,
    /// U: `[1]`.
    speed: Buffer<f64>,
}

impl<F: Real> Outflow<F> {
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        conditions: &[FlowCondition],
        dirichlet_index: &[u32],
        components: &[TransportedField<F>],
    ) -> Self {
        let is_outlet = |c: &FlowCondition| matches!(c, FlowCondition::ConvectiveOutlet);
        let (faces, indices) = faces_where(mesh, conditions, dirichlet_index, is_outlet);
        let size = |f: &u32| {
            let area = geometry.area_vector_of(*f as usize);
            area.iter().map(|a| a * a).fold(0.0, |a, b| a + b).sqrt()
        };
        let left = backend.upload_slice(&mesh.face_left);
        let mut outflow = Outflow {
            area: faces.iter().map(size).fold(0.0, |a, b| a + b),
            indices: backend.upload(indices),
            value: components.iter().map(|_| backend.zeros(faces.len())).collect(),
            partials: Partials::new(backend, faces.len(), 1),
            speed: backend.zeros(1),
            faces: backend.upload(faces),
        };
        for (value, component) in outflow.value.iter_mut().zip(components) {
            start_outflow(backend, value.len(), &outflow.faces, &left, &component.now, value);
        }
        outflow
    }

    /// Updates U.
    fn update_speed(&mut self, backend: &Backend, flux: &Buffer<F>) {
        outgoing(backend, self.faces.len(), &self.faces, flux, &mut self.partials);
        mean_speed(backend, &self.partials, self.area, &mut self.speed);
    }

    /// Advances the velocity at the faces by a step; that of the cells is extrapolated to its end.
    pub(super) fn advance(
        &mut self,
        backend: &Backend,
        faces: &Faces<F>,
        flux: &Buffer<F>,
        components: &[TransportedField<F>],
        (step, extrapolation): (f64, f64),
    ) {
        let count = self.faces.len();
        if count == 0 {
            return;
        }
        self.update_speed(backend, flux);
        for (value, component) in self.value.iter_mut().zip(components) {
            advance_outflow(
                backend,
                count,
                &self.faces,
                &faces.cells.left,
                &faces.delta,
                &faces.area,
                &component.now,
                &component.before,
                &self.speed,
                F::from_f64(step),
                F::from_f64(extrapolation),
                faces.cells.n_faces(),
                value,
            );
        }
    }

    /// Advances the velocity at the faces by an explicit stage, v ← α vⁿ + (1 − α) (v + β (u_c − v)).
    pub(super) fn advance_stage(
        &mut self,
        backend: &Backend,
        faces: &Faces<F>,
        flux: &Buffer<F>,
        components: &[TransportedField<F>],
        start: &[Buffer<F>],
        (alpha, step): (f64, f64),
    ) {
        let count = self.faces.len();
        if count == 0 {
            return;
        }
        self.update_speed(backend, flux);
        for ((value, component), start) in self.value.iter_mut().zip(components).zip(start) {
            stage_outflow(
                backend,
                count,
                &self.faces,
                &faces.cells.left,
                &faces.delta,
                &faces.area,
                &component.now,
                start,
                &self.speed,
                F::from_f64(alpha),
                F::from_f64(step),
                faces.cells.n_faces(),
                value,
            );
        }
    }

    /// Copies the velocity at the faces into the boundary values of the momentum.
    pub(super) fn prescribe(&self, backend: &Backend, momentum: &mut ImplicitDiffusion<F>) {
        let count = self.faces.len();
        if count == 0 {
            return;
        }
        for (value, quantity) in self.value.iter().zip(&mut momentum.quantities) {
            let prescribed = quantity.prescribed.value_mut();
            put_listed(backend, count, &self.indices, value, prescribed);
        }
    }
}

/// u of the cell at an outlet face. Traffic 8 + 2s.
#[kernel(start_outflow, out(value))]
pub(super) fn velocity_of_cell<F: Real>(
    i: usize,
    outlet_faces: &View<u32>,
    left: &View<u32>,
    u: &View<F>,
) -> F {
    u[left[outlet_faces[i] as usize] as usize]
}

/// F of a face. Traffic 4 + s.
#[kernel(outgoing, indexed, reduce(sum))]
pub(super) fn flux_of_face<F: Real>(_i: usize, f: usize, flux: &View<F>) -> F {
    flux[f]
}

/// U = Σ F / Σ |S|, not less than 0.
#[kernel(mean_speed, combine(sum), out(speed))]
pub(super) fn speed_through(sum: f64, area: f64) -> f64 {
    (sum / area).max(f64::literal(0.0))
}

/// β = U Δt / δ, δ the distance of the cell's centroid from the face.
#[device]
#[inline(always)]
fn outflow_courant<F: Real>(
    f: usize,
    delta: &View<F>,
    area: &View<F>,
    speed: &View<f64>,
    step: F,
    n_faces: usize,
) -> F {
    let s = Vec3::<F>::at(area, f, n_faces);
    let distance = Vec3::<F>::at(delta, f, n_faces).dot(s) / s.dot(s).sqrt();
    F::from_f64(speed[0]) * step / distance
}

/// u_b ← (u_b + β u_c) / (1 + β), implicit and stable for any step. u_c is extrapolated to the end of the
/// step.
///
/// Traffic a face: 8 + 10s.
#[kernel(advance_outflow, update(value))]
pub(super) fn advanced_outflow<F: Real>(
    i: usize,
    outlet_faces: &View<u32>,
    left: &View<u32>,
    delta: &View<F>,
    area: &View<F>,
    u: &View<F>,
    before: &View<F>,
    speed: &View<f64>,
    step: F,
    extrapolation: F,
    n_faces: usize,
    value: F,
) -> F {
    let f = outlet_faces[i] as usize;
    let c = left[f] as usize;
    let beta = outflow_courant::<F>(f, delta, area, speed, step, n_faces);
    let cell = u[c] + extrapolation * (u[c] - before[c]);
    (value + beta * cell) / (F::literal(1.0) + beta)
}

/// v ← α vⁿ + (1 − α) (v + β (u_c − v)): an explicit stage, stable within the step bound of the scheme.
///
/// Traffic a face: 8 + 10s.
#[kernel(stage_outflow, update(value))]
pub(super) fn outflow_of_stage<F: Real>(
    i: usize,
    outlet_faces: &View<u32>,
    left: &View<u32>,
    delta: &View<F>,
    area: &View<F>,
    u: &View<F>,
    start: &View<F>,
    speed: &View<f64>,
    alpha: F,
    step: F,
    n_faces: usize,
    value: F,
) -> F {
    let f = outlet_faces[i] as usize;
    let c = left[f] as usize;
    let beta = outflow_courant::<F>(f, delta, area, speed, step, n_faces);
    let convected = value + beta * (u[c] - value);
    alpha * start[i] + (F::literal(1.0) - alpha) * convected
}

/// y at the listed places ← x. Traffic 4 + 2s.
#[kernel(put_listed, out(y), indexed)]
pub(super) fn listed<F: Real>(i: usize, _place: usize, x: &View<F>) -> F {
    x[i]
}
