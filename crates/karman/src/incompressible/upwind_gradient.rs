//! Gradients of linear upwinding: those of stencils of their own, and limited ones.

use super::quantity::Quantity;
use super::transported_field::{ConvectionInput, TransportedField, velocity_view};
use crate::backend::{Backend, Buffer, View, blas};
use crate::finite_volume::interpolation::boundary_value;
use crate::finite_volume::limiter::{BoundedCells, limit_gradients};
use crate::finite_volume::{CellFaces, CellField, CellGradient, Vectors, VelocityField};
use crate::operators::FaceCells;
use crate::real::Real;
use std::sync::Arc;

/// Gradients of linear upwinding that differ from those of the non-orthogonal correction.
pub(super) struct UpwindGradient<F: Real> {
    /// Stencils of their own; none where those of the correction serve.
    pub stencils: Option<CellGradient<F>>,
    /// Of each quantity: `[3][n_cells]`.
    values: Vec<Buffer<F>>,
    limited: Option<Limited<F>>,
}

/// Data of limited gradients.
struct Limited<F: Real> {
    cells: Arc<FaceCells>,
    /// Not 0 at boundary faces with a prescribed value: `[n_boundary]`.
    dirichlet_index: Buffer<u32>,
    /// Values at the boundary, extrapolated with the limited gradients, of each quantity: `[n_boundary]`.
    at_boundary: Vec<Buffer<F>>,
    /// The gradients of a second and a third quantity where there are none.
    none: [Buffer<F>; 2],
}

impl<F: Real> UpwindGradient<F> {
    /// Gradients of `dimension` quantities with stencils of their own if given.
    pub(super) fn new(
        backend: &Backend,
        stencils: Option<CellGradient<F>>,
        (n_cells, dimension): (usize, usize),
    ) -> Self {
        let values = (0..dimension).map(|_| backend.zeros(3 * n_cells)).collect();
        UpwindGradient { stencils, values, limited: None }
    }

    /// Limits the gradients; `dirichlet_index` as in [`boundary_value`].
    pub(super) fn limited(
        self,
        backend: &Backend,
        cells: Arc<FaceCells>,
        dirichlet_index: Vec<u32>,
    ) -> Self {
        let n = dirichlet_index.len();
        let limited = Limited {
            cells,
            dirichlet_index: backend.upload(dirichlet_index),
            at_boundary: self.values.iter().map(|_| backend.zeros(n)).collect(),
            none: [(); 2].map(|()| backend.zeros(0)),
        };
        UpwindGradient { limited: Some(limited), ..self }
    }

    /// Updates the gradients of `fields`, those of ghosts too; `of_correction`: the stencils of the correction.
    pub(super) fn update(
        &mut self,
        backend: &Backend,
        of_correction: &CellGradient<F>,
        (fields, quantities): (&[TransportedField<F>], &[Quantity<F>]),
        input: &ConvectionInput<'_, F>,
    ) {
        let UpwindGradient { stencils, values, limited } = self;
        if let Some(stencils) = &stencils {
            let prescribed: Vec<_> = quantities.iter().map(|q| q.prescribed.value()).collect();
            let now: Vec<_> = fields.iter().map(|field| &field.now).collect();
            stencils.apply_to_quantities(backend, &now, &prescribed, values.iter_mut().collect());
        } else {
            for (value, field) in values.iter_mut().zip(fields) {
                blas::copy(backend, value.len(), &field.gradient, value);
            }
        }
        let fetch = |values: &mut Vec<Buffer<F>>| {
            input.faces.cells.fetch(&mut values.iter_mut().collect::<Vec<_>>());
        };
        let Some(Limited { cells, dirichlet_index, at_boundary, none }) = limited else {
            return fetch(values);
        };
        let view = input.face_view();
        let bounded = BoundedCells {
            faces: CellFaces::of(cells, View::absent()),
            stencils: stencils.as_ref().unwrap_or(of_correction).view(backend),
            dirichlet_index: dirichlet_index.view(),
        };
        let phi = velocity_view(fields, |field| CellField {
            gradient: Vectors::absent(),
            ..field.view()
        });
        let [first, second] = none;
        let mut gradients = values.iter_mut();
        let Some(x) = gradients.next() else { unreachable!("one quantity at least") };
        let (y, z) = (gradients.next().unwrap_or(first), gradients.next().unwrap_or(second));
        let stride = x.len() / 3;
        limit_gradients(backend, cells.n_cells(), &bounded, &view, &phi, stride, x, y, z);
        fetch(values);
        for (k, at_boundary) in at_boundary.iter_mut().enumerate() {
            boundary_value(
                backend,
                dirichlet_index.len(),
                &view,
                dirichlet_index,
                quantities[k].prescribed.value(),
                &fields[k].now,
                &Vectors::of(&values[k]),
                at_boundary,
            );
        }
    }

    /// `phi` with these gradients.
    pub(super) fn replace<'a>(&'a self, mut phi: VelocityField<'a, F>) -> VelocityField<'a, F> {
        for (k, field) in [&mut phi.x, &mut phi.y, &mut phi.z].into_iter().enumerate() {
            let k = k.min(self.values.len() - 1);
            field.gradient = Vectors::of(&self.values[k]);
            if let Some(limited) = &self.limited {
                field.at_boundary = limited.at_boundary[k].view();
            }
        }
        phi
    }
}
