//! Convective outlets, ∂u/∂t + U ∂u/∂n = 0, U the mean speed through all of
//! them (Orlanski 1976; in this form Pauley, Moin & Reynolds, J. Fluid Mech. 220 (1990) 397).
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::FlowCondition;

use super::transport_equation::{TransportEquation, faces_where};
use super::transported_field::TransportedField;
use crate::backend::{Backend, Buffer, Partials, View};
use crate::finite_volume::{FaceView, Faces};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
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
        let (faces, indices) =
            faces_where(mesh, conditions, dirichlet_index, FlowCondition::is_convective);
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
        let outlet =
            OutletFaces { list: self.faces.view(), faces: faces.view(), speed: self.speed.view() };
        for (value, component) in self.value.iter_mut().zip(components) {
            advance_outflow(
                backend,
                count,
                &outlet,
                &component.now,
                &component.before,
                F::from_f64(step),
                F::from_f64(extrapolation),
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
        let outlet =
            OutletFaces { list: self.faces.view(), faces: faces.view(), speed: self.speed.view() };
        for ((value, component), start) in self.value.iter_mut().zip(components).zip(start) {
            stage_outflow(
                backend,
                count,
                &outlet,
                &component.now,
                start,
                F::from_f64(step),
                F::from_f64(alpha),
                value,
            );
        }
    }

    /// Copies the velocity at the faces into the boundary values of the momentum.
    pub(super) fn prescribe(&self, backend: &Backend, momentum: &mut TransportEquation<F>) {
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
#[kernel(out(value))]
pub(super) fn start_outflow<F: Real>(
    i: usize,
    outlet_faces: &View<u32>,
    left: &View<u32>,
    u: &View<F>,
) -> F {
    u[left[outlet_faces[i] as usize] as usize]
}

/// F of a face. Traffic 4 + s.
#[kernel(indexed, reduce(sum))]
pub(super) fn outgoing<F: Real>(_i: usize, f: usize, flux: &View<F>) -> F {
    flux[f]
}

/// U = Σ F / Σ |S|, not less than 0.
#[kernel(combine(sum), out(speed))]
pub(super) fn mean_speed(sum: f64, area: f64) -> f64 {
    (sum / area).max(f64::literal(0.0))
}

/// Faces of convective outlets.
#[derive(Group, Clone, Copy)]
pub(super) struct OutletFaces<'a, F: Real> {
    /// Indices of the faces.
    pub list: View<'a, u32>,
    /// All faces.
    pub faces: FaceView<'a, F>,
    /// U: `[1]`.
    pub speed: View<'a, f64>,
}

#[device]
impl<F: Real> OutletFaces<'_, F> {
    /// β = U Δt / δ, δ the distance of the cell's centroid from face `f`.
    #[inline(always)]
    pub(super) fn courant(&self, f: usize, step: F) -> F {
        let s = self.faces.area.at(f);
        let distance = self.faces.delta.at(f).dot(s) / s.dot(s).sqrt();
        F::from_f64(self.speed[0]) * step / distance
    }
}

/// u_b ← (u_b + β u_c) / (1 + β), implicit and stable for any step. u_c is extrapolated to the end of the
/// step.
///
/// Traffic a face: 8 + 10s.
#[kernel(update(value))]
pub(super) fn advance_outflow<F: Real>(
    i: usize,
    outlet: &OutletFaces<F>,
    u: &View<F>,
    before: &View<F>,
    step: F,
    extrapolation: F,
    value: F,
) -> F {
    let f = outlet.list[i] as usize;
    let c = outlet.faces.left[f] as usize;
    let beta = outlet.courant(f, step);
    let cell = u[c] + extrapolation * (u[c] - before[c]);
    (value + beta * cell) / (1.0 + beta)
}

/// v ← α vⁿ + (1 − α) (v + β (u_c − v)): an explicit stage, stable within the step bound of the scheme.
///
/// Traffic a face: 8 + 10s.
#[kernel(update(value))]
pub(super) fn stage_outflow<F: Real>(
    i: usize,
    outlet: &OutletFaces<F>,
    u: &View<F>,
    start: &View<F>,
    step: F,
    alpha: F,
    value: F,
) -> F {
    let f = outlet.list[i] as usize;
    let c = outlet.faces.left[f] as usize;
    let beta = outlet.courant(f, step);
    let convected = value + beta * (u[c] - value);
    alpha * start[i] + (1.0 - alpha) * convected
}

/// y at the listed places ← x. Traffic 4 + 2s.
#[kernel(out(y), indexed)]
pub(super) fn put_listed<F: Real>(i: usize, _place: usize, x: &View<F>) -> F {
    x[i]
}
