//! Convection: the value of a convected quantity at a face, and the explicit flux through it.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(unused_assignments)] // a variable of a kernel is born with a value

use super::interpolation::{cubic_part, linear_at_face};
use super::mesh_view::{
    CellFaces, CellField, FaceView, Quantities, Vectors, VelocityField, store_quantities,
};
use crate::backend::{Segment, View};
use crate::operators::incidence::{with_sign, without_sign};
use crate::real::{Real, Vec3};
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
    /// `linear_upwind` with a limited gradient, so that no face value is beyond those of the cells around: second order where
    /// the quantity has no extremum; for quantities with bounds, as a temperature or a concentration with steep fronts.
    LimitedLinear,
}

impl Convection {
    /// Whether gradients of the convected quantity are read.
    pub fn reads_gradients(self) -> bool {
        let (extrapolates, _) = self.extrapolates();
        extrapolates || self == Convection::Cubic
    }

    /// Whether the upstream value is extrapolated by its gradient, and whether this gradient is limited.
    pub fn extrapolates(self) -> (bool, bool) {
        let is_limited = self == Convection::LimitedLinear;
        (is_limited || self == Convection::LinearUpwind, is_limited)
    }
}

/// Outflow by hybrid differencing with upwinding schemes: a value is prescribed at the face.
pub const HYBRID_UPWIND: u32 = 1;

/// Outflow by hybrid differencing with any scheme: the value at the face follows other cells.
pub const HYBRID_ALWAYS: u32 = 2;

/// The mass flux of convection.
#[derive(Group, Clone, Copy)]
pub struct MassFlux<'a, F: Real> {
    /// F, from left to right: `[n_faces]`.
    pub flux: View<'a, F>,
    /// Factor of the cell's value in backflow through faces without a prescribed value, 0 at a pressure outlet, 1 at an
    /// opening: `[n_boundary]`.
    pub backflow_factor: View<'a, F>,
    /// Hybrid differencing of outflow: 0, none; [`HYBRID_UPWIND`], with upwinding schemes; [`HYBRID_ALWAYS`], with any
    /// scheme: `[n_boundary]`.
    pub hybrid_outflow: View<'a, u32>,
    /// a, the coefficient of the difference in the diffusive flux, read at boundary faces alone: `[n_faces]`.
    pub conductance: View<'a, F>,
}

/// The non-orthogonal correction of diffusive fluxes of one to three quantities, t·∇φ_f.
#[derive(Group, Clone, Copy)]
pub struct CorrectiveFlux<'a, F: Real> {
    /// t: `[3][n_faces]`.
    pub tangential: Vectors<'a, F>,
    /// ∇φ of the first quantity: `[3][n_cells]`.
    pub x: Vectors<'a, F>,
    /// ∇φ of the second.
    pub y: Vectors<'a, F>,
    /// ∇φ of the third.
    pub z: Vectors<'a, F>,
    /// Whether there is a correction.
    #[comptime]
    pub is_present: bool,
}

impl<'a, F: Real> CorrectiveFlux<'a, F> {
    /// No correction.
    pub fn absent() -> Self {
        let none = Vectors::absent();
        CorrectiveFlux { tangential: none, x: none, y: none, z: none, is_present: false }
    }
}

/// F_f φ_f, the convective flux.
///
/// Outflow through a face of prescribed value v or a convective outlet has the value φ_c + (v − φ_c) min(1, 2 a/F), a the conductance of diffusion: v up to a
/// face Péclet number F/a of 2, the upstream value far above it (hybrid differencing; Patankar, Numerical heat transfer and fluid flow, §5.2-4).
/// The flux F v does not depend on the cell: where convection is faster than diffusion, nothing would damp a
/// disturbance of the cell (decision 21). Central interpolation keeps a prescribed v.
#[device]
#[inline(always)]
fn convective_flux<F: Real>(
    f: usize,
    faces: &FaceView<'_, F>,
    mass: &MassFlux<'_, F>,
    phi: &CellField<'_, F>,
    #[comptime] convection: Convection,
) -> F {
    let through = mass.flux[f];
    let mut value = F::literal(0.0);
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
            if comptime!(
                convection == Convection::LinearUpwind || convection == Convection::LimitedLinear
            ) {
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
            value *= mass.backflow_factor[b];
        }
        let kind = mass.hybrid_outflow[b];
        let mut is_hybrid = kind == comptime!(HYBRID_ALWAYS);
        if comptime!(convection != Convection::Central && convection != Convection::Cubic) {
            is_hybrid = kind >= comptime!(HYBRID_UPWIND);
        }
        if is_hybrid && through > 0.0 {
            let upstream = phi.value[faces.left[f] as usize];
            let share = (2.0 * mass.conductance[f] / through).min(F::literal(1.0));
            value = upstream + (value - upstream) * share;
        }
    }
    through * value
}

/// F_f φ_f − t·∇φ_f of a quantity with the gradient `gradient` of the correction.
#[device]
#[inline(always)]
fn flux_of_quantity<F: Real>(
    f: usize,
    faces: &FaceView<'_, F>,
    mass: &MassFlux<'_, F>,
    phi: &CellField<'_, F>,
    correction: &CorrectiveFlux<'_, F>,
    gradient: &Vectors<'_, F>,
    #[comptime] convection: Convection,
) -> F {
    let mut explicit = convective_flux::<F>(f, faces, mass, phi, convection);
    if comptime!(correction.is_present) {
        let mut g = gradient.at(faces.left[f] as usize);
        if f < faces.n_interior {
            let w = faces.weight[f];
            g = g * w + gradient.at(faces.right[f] as usize) * (1.0 - w);
        }
        explicit -= g.dot(correction.tangential.at(f));
    }
    explicit
}

/// F_f φ_f − t·∇φ_f of d quantities, the explicit fluxes through a face from left to right: convection less the
/// non-orthogonal correction of diffusion. `explicit`: `[d][stride]`.
///
/// Traffic a face: 8 + (2 + d)s (3s more where skewed, 6s with gradients, 9s with correction), a boundary face 8 + (2 + d)s; a
/// cell d s (4d s with gradients, 7d s where both gradients differ).
#[kernel]
pub fn explicit_flux<F: Real>(
    f: usize,
    faces: &FaceView<F>,
    mass: &MassFlux<F>,
    phi: &VelocityField<F>,
    correction: &CorrectiveFlux<F>,
    #[comptime] convection: Convection,
    stride: usize,
    explicit: &mut Segment<F>,
) {
    let x = flux_of_quantity::<F>(f, faces, mass, &phi.x, correction, &correction.x, convection);
    let (mut y, mut z) = (F::literal(0.0), F::literal(0.0));
    if comptime!(phi.dimension > 1) {
        y = flux_of_quantity::<F>(f, faces, mass, &phi.y, correction, &correction.y, convection);
    }
    if comptime!(phi.dimension > 2) {
        z = flux_of_quantity::<F>(f, faces, mass, &phi.z, correction, &correction.z, convection);
    }
    store_quantities::<F>(f, Vec3::<F> { x, y, z }, stride, explicit, phi.dimension);
}

/// N_c = Σ_f ± N_f, the flux of d quantities out of a cell. Traffic a cell: 4 + d s, an item 4, a face d s.
#[kernel]
pub fn net_outflow<F: Real>(
    c: usize,
    cells: &CellFaces<F>,
    flux: &Quantities<F>,
    stride: usize,
    net: &mut Segment<F>,
) {
    let mut sum = Vec3::<F>::zero();
    for k in cells.offsets[c] as usize..cells.offsets[c + 1] as usize {
        let item = cells.items[k];
        sum += flux.at(without_sign(item)) * with_sign::<F>(item, F::literal(1.0));
    }
    store_quantities::<F>(c, sum, stride, net, flux.dimension);
}
