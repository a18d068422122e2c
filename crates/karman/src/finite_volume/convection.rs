//! Convection: the value of a convected quantity at a face, and its flux.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::interpolation::{cubic_part, linear_at_face};
use super::mesh_view::{CellField, FaceView};
use crate::backend::View;
use crate::real::Real;
use karman_backend::prelude::*;
use karman_macros::Keyword;

/// Interpolation of a convected quantity to a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Keyword)]
pub enum Convection {
    /// The value of the upstream cell extrapolated to the face by its gradient: second order; damps unresolved scales.
    LinearUpwind,
    /// Linear between both cells: second order; conserves kinetic energy on regular meshes and has smaller errors up to
    /// a cell Péclet number of about 2, but oscillates from cell to cell on coarser meshes.
    Central,
    /// Hermite's cubic through the values and gradients of both cells, for the convected quantity, the mass
    /// flux and the pressure: second order, with the smallest errors on quadrilaterals and hexahedra and no advantage on
    /// triangles and tetrahedra.
    Cubic,
    /// The value of the upstream cell: first order.
    Upwind,
}

impl Convection {
    /// Whether gradients of the convected quantity are read.
    pub fn reads_gradients(self) -> bool {
        matches!(self, Convection::LinearUpwind | Convection::Cubic)
    }
}

/// F_f φ_f, the convective flux through a face. Backflow where φ is not prescribed has `backflow_factor`
/// times the cell's value: 0 at a pressure outlet, 1 at an opening.
///
/// Traffic a face: 8 + 2s (5s where skewed, 8s with gradients), a boundary face 2s; a cell s (4s).
#[kernel(out(convective))]
pub fn convective_flux<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    flux: &View<F>,
    phi: &CellField<F>,
    backflow_factor: &View<F>,
    #[comptime] convection: Convection,
) -> F {
    let through = flux[f];
    let mut value = 0.0;
    if f < faces.n_interior {
        let (l, r) = (faces.left[f] as usize, faces.right[f] as usize);
        let from_left = through >= 0.0;
        if comptime!(convection == Convection::Central || convection == Convection::Cubic) {
            value = linear_at_face::<F>(f, l, r, faces, phi);
            if comptime!(convection == Convection::Cubic) {
                value += cubic_part::<F>(f, l, r, faces, phi);
            }
        } else {
            let upwind = if from_left { l } else { r };
            value = phi.value[upwind];
            if comptime!(convection == Convection::LinearUpwind) {
                // x_f − x_l = x_f − x_i + (1 − w) d, x_f − x_r = x_f − x_i − w d.
                let w = faces.weight[f];
                let along = if from_left { 1.0 - w } else { -w };
                let to_face = faces.delta.at(f) * along + faces.skewness.at(f);
                value += phi.gradient.at(upwind).dot(to_face);
            }
        }
    } else {
        let b = f - faces.n_interior;
        value = phi.at_boundary[b];
        if through < 0.0 {
            value *= backflow_factor[b];
        }
    }
    through * value
}
