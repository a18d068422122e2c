//! The specification of a compressible flow and of its discretisation.

use super::conditions::CompressibleCondition;
use super::flux::FluxForm;
use super::limiter::Limiter;
use super::reconstruction::Reconstruction;
use super::reconstruction::polynomial::WeightPrecision;
use super::state::VARIABLES;
use super::viscous::ViscousGas;
use crate::finite_volume::Prescribed;
use crate::mesh::quadrature::Degree;
use crate::time::RungeKutta;
use karman_macros::Keyword;
use std::sync::Arc;

/// Prescribed density, velocity components and pressure, or sources of the conserved variables.
pub type PrescribedFields = [Arc<dyn Prescribed>; VARIABLES];

/// A compressible flow.
#[derive(Clone)]
pub struct CompressibleProblem {
    /// γ, the ratio of specific heats.
    pub gamma: f64,
    /// The condition of each patch.
    pub conditions: Vec<CompressibleCondition>,
    /// ρ, u_x, u_y, u_z and p at the beginning.
    pub initial: PrescribedFields,
    /// Sources of ρ, ρu and ρE by volume and time.
    pub source: Option<PrescribedFields>,
    /// The viscous terms; `None`: the Euler equations.
    pub viscous: Option<ViscousGas>,
}

/// How a residual is computed; results agree to round-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Keyword)]
pub enum ResidualForm {
    /// The fastest: `fused_rows` where it exists; on a device `stages` with quadratic polynomials, several points a face and no limiter.
    Auto,
    /// Coefficients of all cells, fluxes of the polynomials of both cells of a face, sums.
    Stages,
    /// Traces without stored coefficients, fluxes between traces, sums; not with viscous terms and the limiters `mood` and
    /// `mlp`, which need them.
    Fused,
    /// As `fused`, with rows of weights up to twelve points, those of a tetrahedron of third order.
    FusedRows,
}

/// The discretisation of a compressible flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressibleNumerics {
    /// The flux between states.
    pub form: FluxForm,
    /// Degree of the polynomials.
    pub reconstruction: Reconstruction,
    /// The limiter.
    pub limiter: Limiter,
    /// Whether faces have one point; else as many as the degree of the reconstruction requires.
    pub one_point: bool,
    /// Whether states at faces have at least a tenth of the density and pressure of their cell: for the march to a steady state,
    /// whose steps do not fall back to a lower order.
    pub bounds_traces: bool,
    /// The time scheme.
    pub method: RungeKutta,
    /// How the residual is computed.
    pub residual: ResidualForm,
    /// Precision of the stored weights of stencils.
    pub weights: WeightPrecision,
}

impl CompressibleNumerics {
    /// The degree of the rules for faces.
    pub(super) fn degree(&self) -> Degree {
        match (self.one_point, self.reconstruction) {
            (false, Reconstruction::Quadratic) => Degree::Two,
            _ => Degree::One,
        }
    }

    /// Whether the residual is fused: it exists and is not ruled out or slower.
    pub(super) fn is_fused(&self, is_viscous: bool, is_on_device: bool) -> bool {
        let is_slower = is_on_device
            && self.residual == ResidualForm::Auto
            && self.reconstruction == Reconstruction::Quadratic
            && !self.one_point
            && self.limiter == Limiter::None;
        self.residual != ResidualForm::Stages
            && !is_viscous
            && !is_slower
            && !matches!(self.limiter, Limiter::Mood | Limiter::Mlp)
            && self.reconstruction != Reconstruction::Constant
    }
}
