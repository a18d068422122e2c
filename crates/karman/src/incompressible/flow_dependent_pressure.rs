//! Prescribed pressures that depend on the flow through their face, as those of inlets of total pressure and of outlets with a loss:
//! p = p₀ + ½ (k⁻ min(u, 0)² + k⁺ max(u, 0)²), u = F/|S| the outward normal velocity.
//!
//! u² at the new level is linearized about the flux F₀ of the old one:
//!
//! p_b = P + θ s (F − F₀)/|S|,  P = p(F₀),  s = ∂p/∂u = k⁻ min(u₀, 0) + k⁺ max(u₀, 0) ≥ 0,
//!
//! of second order in time and exact in a steady state. θ and γ are those of the time scheme (γ: `shift`), a is the conductance
//! of the face, c its cell. With φ_b = p_b − p_b,before = −γ ψ_b and the flux F = F* + a (ψ_b − ψ_c)
//! of the projection the condition on ψ is one of Robin,
//!
//! ψ_b = (1 − χ) (p_b,before − P)/γ + χ (F₀ − F*)/a + χ ψ_c,  χ = β/(1 + β),  β = θ a s/(γ |S|),
//!
//! which subtracts χ a from the diagonal of its matrix: the face is stable at any Courant number. Explicit stages take p_b of
//! the last stage, the exact fractional step takes P of extrapolated fluxes, of second order in time too.
//!
//! Inflow has the momentum F u, u along the normal; the velocity of the cell does not enter it.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::conditions::Through;
use super::kernels::put_listed;
use super::{FlowCondition, IncompressibleError};
use crate::backend::{Backend, Buffer, Halo, Segment, View, blas};
use crate::finite_volume::boundary::BoundaryValues;
use crate::finite_volume::mesh_view::store_quantities;
use crate::finite_volume::{FaceView, Faces, PartValues, TimeDependentData, Vectors};
use crate::linear::{Matrix, Operator};
use crate::mesh::{Geometry, Mesh};
use crate::operators::Part;
use crate::real::Real;
use karman_backend::prelude::*;
use std::sync::Arc;

/// Faces whose prescribed pressure depends on the flow; arrays `[faces]` unless stated.
pub(super) struct FlowDependentPressure<F: Real> {
    /// The faces.
    pub faces: Buffer<u32>,
    /// Indices of their pressures among those prescribed.
    indices: Buffer<u32>,
    law: PressureLaw<F>,
    /// F₀.
    flux: Buffer<F>,
    /// P, then p_b.
    pressure: Buffer<F>,
    /// χ.
    share: Buffer<F>,
    /// ψ_b − χ ψ_c.
    reduced: Buffer<F>,
    /// ψ_b.
    increment: Buffer<F>,
    /// Whether a projection with χ is going on.
    pub is_linearized: bool,
    /// The cells of the faces, each once, ascending.
    cells: Vec<u32>,
    /// Start of each cell in `entries`: `[cells + 1]`.
    offsets: Buffer<u32>,
    /// Places of the faces of each cell.
    entries: Buffer<u32>,
}

/// The data of the pressure as a function of the flow: `[faces]`.
struct PressureLaw<F: Real> {
    /// p₀.
    at_rest: TimeDependentData<F>,
    /// k⁻.
    inflow: TimeDependentData<F>,
    /// k⁺.
    outflow: TimeDependentData<F>,
}

impl<F: Real> PressureLaw<F> {
    fn view(&self) -> PressureLawView<'_, F> {
        PressureLawView {
            at_rest: self.at_rest.value().view(),
            inflow: self.inflow.value().view(),
            outflow: self.outflow.value().view(),
        }
    }
}

impl<F: Real> FlowDependentPressure<F> {
    /// None without such faces; `dirichlet_index`: 1 + the index of the prescribed pressure of each boundary face.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        conditions: &[FlowCondition],
        dirichlet_index: &[u32],
    ) -> Result<Option<Self>, IncompressibleError> {
        let mut at_rest = BoundaryValues::default();
        let [mut inflow, mut outflow] = [BoundaryValues::default(), BoundaryValues::default()];
        let (mut faces, mut indices, mut sides) = (vec![], vec![], vec![]);
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            let Some(value) = condition.pressure_at_rest() else { continue };
            let points: Vec<[f64; 3]> =
                patch.faces.clone().map(|f| geometry.face_centre_of(f)).collect();
            at_rest.push(value, &points);
            let of_inflow = condition.dynamic_pressure(Through::Inflow, points.len());
            let of_outflow = condition.dynamic_pressure(Through::Outflow, points.len());
            inflow.push_sum(&points, of_inflow);
            outflow.push_sum(&points, of_outflow);
            for face in patch.faces.clone() {
                sides.push((mesh.face_left[face], faces.len() as u32));
                faces.push(face as u32);
                indices.push(dirichlet_index[face - mesh.n_interior_faces()] - 1);
            }
        }
        if faces.is_empty() {
            return Ok(None);
        }
        sides.sort_unstable();
        let (mut cells, mut offsets): (Vec<u32>, Vec<u32>) = (vec![], vec![]);
        for (place, (cell, _)) in sides.iter().enumerate() {
            if cells.last() != Some(cell) {
                cells.push(*cell);
                offsets.push(place as u32);
            }
        }
        offsets.push(sides.len() as u32);
        let zeros = || backend.zeros(faces.len());
        let law = PressureLaw {
            at_rest: at_rest.into_time_dependent_data(backend, "a pressure at the boundary")?,
            inflow: inflow.into_time_dependent_data(backend, "a loss coefficient")?,
            outflow: outflow.into_time_dependent_data(backend, "a loss coefficient")?,
        };
        Ok(Some(FlowDependentPressure {
            flux: zeros(),
            pressure: zeros(),
            share: zeros(),
            reduced: zeros(),
            increment: zeros(),
            is_linearized: false,
            faces: backend.upload(faces),
            indices: backend.upload(indices),
            law,
            cells,
            offsets: backend.upload(offsets),
            entries: backend.upload(sides.into_iter().map(|(_, entry)| entry).collect()),
        }))
    }

    /// The faces of a part with the pressures `values` prescribed there.
    pub(super) fn of_part(&self, part: &Part, values: &PartValues) -> Self {
        let backend = &part.backend;
        let (faces, places) = part.listed_faces(&self.faces);
        let n = self.faces.len();
        let of_faces = |of: &Buffer<F>| part.of_list(of, &places, n);
        let on_host = |of: &Buffer<u32>| of.as_host().unwrap_or_default().to_vec();
        let [indices, offsets, entries] =
            [&self.indices, &self.offsets, &self.entries].map(on_host);
        let (mut cells, mut own_offsets, mut own_entries) = (vec![], vec![], vec![]);
        for (k, cell) in self.cells.iter().enumerate() {
            let Some(cell) = part.own_cell(*cell) else { continue };
            cells.push(cell);
            own_offsets.push(own_entries.len() as u32);
            let of_cell = &entries[offsets[k] as usize..offsets[k + 1] as usize];
            let place = |entry: &u32| places.partition_point(|place| place < entry) as u32;
            own_entries.extend(of_cell.iter().map(place));
        }
        own_offsets.push(own_entries.len() as u32);
        let PressureLaw { at_rest, inflow, outflow } = &self.law;
        let [at_rest, inflow, outflow] =
            [at_rest, inflow, outflow].map(|data| data.of_rank(backend, &places));
        let index = |place: &u32| values.local(indices[*place as usize]);
        FlowDependentPressure {
            faces: backend.upload(faces),
            indices: backend.upload(places.iter().map(index).collect()),
            law: PressureLaw { at_rest, inflow, outflow },
            flux: of_faces(&self.flux),
            pressure: of_faces(&self.pressure),
            share: of_faces(&self.share),
            reduced: of_faces(&self.reduced),
            increment: of_faces(&self.increment),
            is_linearized: self.is_linearized,
            cells,
            offsets: backend.upload(own_offsets),
            entries: backend.upload(own_entries),
        }
    }

    /// Sets p₀, k⁻ and k⁺ to their means over a step by the trapezoidal rule.
    pub(super) fn set_trapezoidal_mean(
        &mut self,
        backend: &Backend,
        times: [f64; 2],
    ) -> Result<(), IncompressibleError> {
        let PressureLaw { at_rest, inflow, outflow } = &mut self.law;
        for data in [at_rest, inflow, outflow] {
            data.set_mean(backend, times)?;
        }
        Ok(())
    }

    /// Puts P of the fluxes into the prescribed pressures.
    pub(super) fn prescribe(
        &mut self,
        backend: &Backend,
        area: &Buffer<F>,
        flux: &Buffer<F>,
        prescribed: &mut Buffer<F>,
    ) {
        let (n, list, law) = (self.faces.len(), &self.faces, self.law.view());
        let area = Vectors::of(area);
        pressure_of_flow(backend, n, list, &area, &law, flux, &mut self.flux, &mut self.pressure);
        put_listed(backend, n, &self.indices, &self.pressure, prescribed);
    }

    /// Prepares a projection of `flux`, F*, with the factor γ/θ: χ, the reduced ψ_b from those given in `increment`, and the
    /// diagonal of the operator.
    pub(super) fn linearize(
        &mut self,
        backend: &Backend,
        (faces, conductance): (&Faces<F>, &Buffer<F>),
        (shift, flux): (f64, &Buffer<F>),
        increment: &Buffer<F>,
        operator: &mut ReducedOperator<F>,
    ) {
        let n = self.faces.len();
        let at = PressureFaces {
            law: self.law.view(),
            list: self.faces.view(),
            indices: self.indices.view(),
            area: Vectors::of(&faces.area),
            conductance: conductance.view(),
            before: self.flux.view(),
        };
        let shift = F::from_f64(shift);
        let (share, reduced) = (&mut self.share, &mut self.reduced);
        robin_condition(backend, n, &at, flux, increment, shift, share, reduced);
        diagonal_of_faces(
            backend,
            self.cells.len(),
            &self.offsets,
            &self.entries,
            &at,
            &self.share,
            &mut operator.diagonal,
        );
        self.is_linearized = true;
    }

    /// Puts ψ_b − χ ψ_c into the Dirichlet values of ψ.
    pub(super) fn put_reduced(&self, backend: &Backend, prescribed: &mut Buffer<F>) {
        put_listed(backend, self.faces.len(), &self.indices, &self.reduced, prescribed);
    }

    /// Puts ψ_b into the Dirichlet values of ψ.
    pub(super) fn put_complete(
        &mut self,
        backend: &Backend,
        left: &Buffer<u32>,
        psi: &Buffer<F>,
        prescribed: &mut Buffer<F>,
    ) {
        let n = self.faces.len();
        let FlowDependentPressure { faces, share, reduced, increment, indices, .. } = self;
        complete_increment(backend, n, faces, left, share, reduced, psi, increment);
        put_listed(backend, n, indices, increment, prescribed);
    }

    /// Ends a projection with the factor γ: p_b ← p_b,before − γ ψ_b.
    pub(super) fn finish(
        &mut self,
        backend: &Backend,
        shift: f64,
        before: &Buffer<F>,
        prescribed: &mut Buffer<F>,
        operator: &mut ReducedOperator<F>,
    ) {
        let n = self.faces.len();
        let shift = F::from_f64(shift);
        pressure_of_increment(
            backend,
            n,
            &self.indices,
            before,
            &self.increment,
            shift,
            &mut self.pressure,
        );
        put_listed(backend, n, &self.indices, &self.pressure, prescribed);
        let diagonal = &mut operator.diagonal;
        blas::fill(backend, diagonal.len(), F::literal(0.0), diagonal);
        self.is_linearized = false;
    }

    /// The matrix of ψ with the diagonal of these faces, 0 at first.
    pub(super) fn operator(&self, backend: &Backend, matrix: Arc<Matrix<F>>) -> ReducedOperator<F> {
        ReducedOperator {
            matrix,
            cells: backend.upload_slice(&self.cells),
            diagonal: backend.zeros(self.cells.len()),
        }
    }
}

/// A x − d x with d on some cells.
pub(super) struct ReducedOperator<F: Real> {
    matrix: Arc<Matrix<F>>,
    cells: Buffer<u32>,
    /// d: `[cells]`.
    diagonal: Buffer<F>,
}

impl<F: Real> Operator<F> for ReducedOperator<F> {
    fn unknowns(&self) -> usize {
        self.matrix.rows()
    }

    fn exchange(&self) -> Option<&Arc<Halo>> {
        self.matrix.halo()
    }

    fn apply(&mut self, backend: &Backend, x: &Buffer<F>, y: &mut Buffer<F>) {
        self.matrix.multiply(x, y);
        subtract_diagonal(backend, self.cells.len(), &self.cells, &self.diagonal, x, y);
    }
}

/// p₀, k⁻ and k⁺ as kernels read them: `[faces]`.
#[derive(Group, Clone, Copy)]
pub(super) struct PressureLawView<'a, F: Real> {
    /// p₀.
    pub at_rest: View<'a, F>,
    /// k⁻.
    pub inflow: View<'a, F>,
    /// k⁺.
    pub outflow: View<'a, F>,
}

#[device]
impl<'a, F: Real> PressureLawView<'a, F> {
    /// p₀ + ½ (k⁻ min(u, 0)² + k⁺ max(u, 0)²) at face `i` of the list.
    pub(super) fn pressure(&self, i: usize, u: F) -> F {
        let (inflow, outflow) = (u.min(0.0), u.max(0.0));
        let squares = self.inflow[i] * inflow * inflow + self.outflow[i] * outflow * outflow;
        self.at_rest[i] + 0.5 * squares
    }

    /// ∂p/∂u, at least 0.
    pub(super) fn slope(&self, i: usize, u: F) -> F {
        (self.inflow[i] * u.min(0.0) + self.outflow[i] * u.max(0.0)).max(0.0)
    }
}

/// Faces with such a pressure as kernels read them.
#[derive(Group, Clone, Copy)]
pub(super) struct PressureFaces<'a, F: Real> {
    /// The faces: `[faces]`.
    pub list: View<'a, u32>,
    /// Indices of their prescribed pressures: `[faces]`.
    pub indices: View<'a, u32>,
    /// S: `[3][n_faces]`.
    pub area: Vectors<'a, F>,
    /// a: `[n_faces]`.
    pub conductance: View<'a, F>,
    /// F₀: `[faces]`.
    pub before: View<'a, F>,
    /// The pressure as a function of the flow.
    pub law: PressureLawView<'a, F>,
}

/// F and P = p(F). Traffic a face: 4 + 9s.
#[kernel(out(old, pressure))]
pub(super) fn pressure_of_flow<F: Real>(
    i: usize,
    list: &View<u32>,
    area: &Vectors<F>,
    law: &PressureLawView<F>,
    flux: &View<F>,
) -> (F, F) {
    let f = list[i] as usize;
    let s = area.at(f);
    (flux[f], law.pressure(i, flux[f] / s.dot(s).sqrt()))
}

/// χ and ψ_b − χ ψ_c from (p_b,before − P)/γ, given in `increment`; `shift` is γ/θ. Traffic a face: 8 + 11s.
#[kernel(out(share, reduced))]
pub(super) fn robin_condition<F: Real>(
    i: usize,
    at: &PressureFaces<F>,
    flux: &View<F>,
    increment: &View<F>,
    shift: F,
) -> (F, F) {
    let f = at.list[i] as usize;
    let s = at.area.at(f);
    let a = at.conductance[f];
    let before = at.before[i];
    let size = s.dot(s).sqrt();
    let beta = a * at.law.slope(i, before / size) / (shift * size);
    let share = beta / (1.0 + beta);
    let given = increment[at.indices[i] as usize];
    (share, (1.0 - share) * given + share * (before - flux[f]) / a)
}

/// Σ χ a over the faces of a cell. Traffic a cell: 8 + s, a face 8 + 2s.
#[kernel(out(diagonal))]
pub(super) fn diagonal_of_faces<F: Real>(
    i: usize,
    offsets: &View<u32>,
    entries: &View<u32>,
    at: &PressureFaces<F>,
    share: &View<F>,
) -> F {
    let mut sum = F::literal(0.0);
    for k in offsets[i] as usize..offsets[i + 1] as usize {
        let entry = entries[k] as usize;
        sum += share[entry] * at.conductance[at.list[entry] as usize];
    }
    sum
}

/// y ← y − d x on listed cells. Traffic a cell: 4 + 4s.
#[kernel(update(y), indexed)]
pub(super) fn subtract_diagonal<F: Real>(
    i: usize,
    c: usize,
    diagonal: &View<F>,
    x: &View<F>,
    y: F,
) -> F {
    y - diagonal[i] * x[c]
}

/// ψ_b. Traffic a face: 8 + 4s.
#[kernel(out(increment))]
pub(super) fn complete_increment<F: Real>(
    i: usize,
    list: &View<u32>,
    left: &View<u32>,
    share: &View<F>,
    reduced: &View<F>,
    psi: &View<F>,
) -> F {
    reduced[i] + share[i] * psi[left[list[i] as usize] as usize]
}

/// p_b,before − γ ψ_b. Traffic a face: 4 + 3s.
#[kernel(out(pressure))]
pub(super) fn pressure_of_increment<F: Real>(
    i: usize,
    indices: &View<u32>,
    before: &View<F>,
    increment: &View<F>,
    shift: F,
) -> F {
    before[indices[i] as usize] - shift * increment[i]
}

/// The explicit fluxes F u of d components where flow enters along the normal, u = F S/|S|²: `[d][stride]`. Traffic a face:
/// 4 + (4 + d)s.
#[kernel]
pub(super) fn normal_inflow<F: Real>(
    i: usize,
    inlets: &View<u32>,
    faces: &FaceView<F>,
    flux: &View<F>,
    stride: usize,
    #[comptime] dimension: usize,
    explicit: &mut Segment<F>,
) {
    let f = inlets[i] as usize;
    let s = faces.area.at(f);
    let through = flux[f];
    if through < F::literal(0.0) {
        let inflow = s * (through * through / s.dot(s));
        store_quantities::<F>(f, inflow, stride, explicit, dimension);
    }
}
