//! Convective outlets, ∂u/∂t + U ∂u/∂n = 0, U the mean speed through all of
//! them (Orlanski 1976; in this form Pauley, Moin & Reynolds, J. Fluid Mech. 220 (1990) 397).
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::gathered_flux::GatheredFlux;
use super::kernels::put_listed;
use super::outflow_stencil::OutflowStencils;
use super::transport_equation::{TransportEquation, faces_where};
use super::transported_field::TransportedField;
use super::{FlowCondition, IncompressibleError};
use crate::backend::{Backend, Buffer, Partials, View};
use crate::finite_volume::{PartValues, narrow};
use crate::mesh::{Geometry, Mesh};
use crate::operators::Part;
use crate::real::Real;
use karman_backend::prelude::*;
use std::ops::Range;

/// Faces of convective outlets and the velocity at them.
pub(super) struct Outflow<F: Real> {
    /// The faces.
    pub faces: Buffer<u32>,
    /// Whether there are such faces, on any of several ranks.
    pub is_present: bool,
    /// Those of all ranks, of one of several.
    of_ranks: Option<GatheredFlux>,
    /// Σ |S|.
    pub area: f64,
    indices: Buffer<u32>,
    stencils: StencilsOnBackend<F>,
    /// The velocity at the faces: `[component][faces]`.
    pub value: Vec<Buffer<F>>,
    partials: Partials,
    /// U: `[1]`.
    speed: Buffer<f64>,
}

/// [`OutflowStencils`] on a backend.
struct StencilsOnBackend<F: Real> {
    offsets: Buffer<u32>,
    cells: Buffer<u32>,
    weights: Buffer<F>,
    distances: Buffer<F>,
}

impl<F: Real> StencilsOnBackend<F> {
    fn new(backend: &Backend, stencils: OutflowStencils) -> Self {
        StencilsOnBackend {
            offsets: backend.upload(stencils.offsets),
            cells: backend.upload(stencils.cells),
            weights: narrow(backend, stencils.weights),
            distances: narrow(backend, stencils.distances),
        }
    }

    /// The stencils of the faces of a part at `places`.
    fn of_part(&self, part: &Part, places: &[u32]) -> Self {
        let on_host = |buffer: &Buffer<u32>| buffer.as_host().unwrap_or_default().to_vec();
        let [offsets, cells] = [&self.offsets, &self.cells].map(on_host);
        let (mut own_offsets, mut entries) = (vec![0], vec![]);
        for place in places.iter().map(|place| *place as usize) {
            entries.extend(offsets[place]..offsets[place + 1]);
            own_offsets.push(entries.len() as u32);
        }
        let cells = entries.iter().map(|entry| part.cell(cells[*entry as usize]));
        StencilsOnBackend {
            cells: part.backend.upload(cells.collect()),
            offsets: part.backend.upload(own_offsets),
            weights: part.of_list(&self.weights, &entries, self.weights.len()),
            distances: part.of_list(&self.distances, places, self.distances.len()),
        }
    }

    /// The stencils as kernels read them, with U.
    fn view<'a>(&'a self, speed: &'a Buffer<f64>) -> OutletFaces<'a, F> {
        OutletFaces {
            offsets: self.offsets.view(),
            cells: self.cells.view(),
            weights: self.weights.view(),
            distances: self.distances.view(),
            speed: speed.view(),
        }
    }
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
        let stencils = OutflowStencils::new(mesh, geometry, &faces);
        let mut outflow = Outflow {
            is_present: !faces.is_empty(),
            of_ranks: None,
            stencils: StencilsOnBackend::new(backend, stencils),
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

    /// The outlets of a part with the values `values` prescribed there.
    pub(super) fn of_part(
        &self,
        part: &Part,
        values: &PartValues,
    ) -> Result<Self, IncompressibleError> {
        let backend = &part.backend;
        let (faces, places) = part.listed_faces(&self.faces);
        let n = self.faces.len();
        let indices = self.indices.as_host().unwrap_or_default();
        let index = |place: &u32| values.local(indices[*place as usize]);
        Ok(Outflow {
            of_ranks: self
                .is_present
                .then(|| GatheredFlux::new(part, &faces, &places))
                .transpose()?,
            indices: backend.upload(places.iter().map(index).collect()),
            stencils: self.stencils.of_part(part, &places),
            value: self.value.iter().map(|value| part.of_list(value, &places, n)).collect(),
            // Over the faces of all ranks.
            partials: Partials::of_own(backend, n, 1),
            speed: backend.upload_slice(self.speed.as_host().unwrap_or_default()),
            faces: backend.upload(faces),
            ..*self
        })
    }

    /// The cells outside `own` of the stencils of faces of cells in `own`; `left`: the cell of each face.
    pub(super) fn cells_beyond(&self, left: &Buffer<u32>, own: &Range<usize>) -> Vec<u32> {
        let on_host = |buffer: &'_ Buffer<u32>| buffer.as_host().unwrap_or_default().to_vec();
        let [faces, offsets, cells] =
            [&self.faces, &self.stencils.offsets, &self.stencils.cells].map(on_host);
        let left = left.as_host().unwrap_or_default();
        let numbered = faces.iter().enumerate();
        let of_part = numbered.filter(|(_, face)| own.contains(&(left[**face as usize] as usize)));
        let stencils =
            of_part.flat_map(|(i, _)| &cells[offsets[i] as usize..offsets[i + 1] as usize]);
        stencils.copied().filter(|cell| !own.contains(&(*cell as usize))).collect()
    }

    /// Updates U.
    fn update_speed(&mut self, backend: &Backend, flux: &Buffer<F>) {
        let Outflow { faces, of_ranks, partials, .. } = self;
        match of_ranks {
            None => outgoing(backend, faces.len(), faces, flux, partials),
            Some(all) => {
                let flux = all.gather(backend, flux);
                outgoing(backend, flux.len(), &all.places, &flux, partials);
            }
        }
        mean_speed(backend, &self.partials, self.area, &mut self.speed);
    }

    /// Advances the velocity at the faces by a step; that upstream is extrapolated to its end.
    pub(super) fn advance(
        &mut self,
        backend: &Backend,
        flux: &Buffer<F>,
        components: &[TransportedField<F>],
        (step, extrapolation): (f64, f64),
    ) {
        let count = self.faces.len();
        if !self.is_present {
            return;
        }
        self.update_speed(backend, flux);
        let outlet = self.stencils.view(&self.speed);
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

    /// Advances the velocity at the faces by an explicit stage, v ← α vⁿ + (1 − α) (v + β (u_s − v)).
    pub(super) fn advance_stage(
        &mut self,
        backend: &Backend,
        flux: &Buffer<F>,
        components: &[TransportedField<F>],
        start: &[Buffer<F>],
        (alpha, step): (f64, f64),
    ) {
        let count = self.faces.len();
        if !self.is_present {
            return;
        }
        self.update_speed(backend, flux);
        let outlet = self.stencils.view(&self.speed);
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

/// Stencils of the faces of convective outlets.
#[derive(Group, Clone, Copy)]
pub(super) struct OutletFaces<'a, F: Real> {
    /// Start of the cells of each face: `[faces + 1]`.
    pub offsets: View<'a, u32>,
    /// Cells.
    pub cells: View<'a, u32>,
    /// Weights of the cells.
    pub weights: View<'a, F>,
    /// L: `[faces]`.
    pub distances: View<'a, F>,
    /// U: `[1]`.
    pub speed: View<'a, f64>,
}

#[device]
impl<F: Real> OutletFaces<'_, F> {
    /// β = U Δt / L.
    #[inline(always)]
    pub(super) fn courant(&self, i: usize, step: F) -> F {
        F::from_f64(self.speed[0]) * step / self.distances[i]
    }

    /// Σ w u over the stencil of outlet face `i`.
    #[inline(always)]
    pub(super) fn upstream(&self, i: usize, u: &View<'_, F>) -> F {
        let mut value = F::literal(0.0);
        for k in self.offsets[i] as usize..self.offsets[i + 1] as usize {
            value += self.weights[k] * u[self.cells[k] as usize];
        }
        value
    }
}

/// u_b ← (u_b + β u_s) / (1 + β), implicit and stable for any step. u_s, upstream by the stencil, is extrapolated to the end of the
/// step.
///
/// Traffic a face: 8 + 3s, a cell of its stencil 4 + 3s.
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
    let beta = outlet.courant(i, step);
    let now = outlet.upstream(i, u);
    let upstream = now + extrapolation * (now - outlet.upstream(i, before));
    (value + beta * upstream) / (1.0 + beta)
}

/// v ← α vⁿ + (1 − α) (v + β (u_s − v)): an explicit stage, stable within the step bound of the scheme.
///
/// Traffic a face: 8 + 4s, a cell of its stencil 4 + 2s.
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
    let beta = outlet.courant(i, step);
    let convected = value + beta * (outlet.upstream(i, u) - value);
    alpha * start[i] + (1.0 - alpha) * convected
}
