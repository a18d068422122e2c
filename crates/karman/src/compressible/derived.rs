//! Quantities of cells that follow from the means of conserved variables.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::error::CompressibleError;
use super::reconstruction::polynomial::Polynomials;
use super::solver::CompressibleSolver;
use super::state::States;
use crate::backend::Buffer;
use crate::backend::functions::power;
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

/// A quantity of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellQuantity {
    /// ρ.
    Density,
    /// u_x.
    VelocityX,
    /// u_y.
    VelocityY,
    /// u_z.
    VelocityZ,
    /// p.
    Pressure,
    /// T = p/(ρR).
    Temperature,
    /// |u|/c.
    Mach,
    /// p/ρ^γ.
    Entropy,
    /// |∇ρ|.
    Schlieren,
    /// ∂w/∂y − ∂v/∂z.
    VorticityX,
    /// ∂u/∂z − ∂w/∂x.
    VorticityY,
    /// ∂v/∂x − ∂u/∂y.
    VorticityZ,
}

impl CellQuantity {
    /// The components of the velocity.
    pub const VELOCITY: [CellQuantity; 3] =
        [CellQuantity::VelocityX, CellQuantity::VelocityY, CellQuantity::VelocityZ];
    /// The components of the vorticity.
    pub const VORTICITY: [CellQuantity; 3] =
        [CellQuantity::VorticityX, CellQuantity::VorticityY, CellQuantity::VorticityZ];

    /// Whether it follows from gradients.
    pub fn needs_gradients(self) -> bool {
        self == CellQuantity::Schlieren || CellQuantity::VORTICITY.contains(&self)
    }
}

/// A quantity of the state that has the means of cell `c`; with gradients, of its polynomial at the centroid.
///
/// Traffic a cell: 48 (f64); with gradients 40 (1 + d) + 8.
#[kernel(out(value))]
pub(super) fn quantity_of_cells<F: Real>(
    c: usize,
    q: &States<F>,
    polynomials: &Polynomials<F>,
    gamma: F,
    gas_constant: F,
    #[comptime] quantity: CellQuantity,
) -> F {
    let zero = F::literal(0.0);
    let state = q.at(c).primitive(gamma);
    let mut value = state.density;
    if comptime!(quantity == CellQuantity::VelocityX) {
        value = state.velocity_x;
    }
    if comptime!(quantity == CellQuantity::VelocityY) {
        value = state.velocity_y;
    }
    if comptime!(quantity == CellQuantity::VelocityZ) {
        value = state.velocity_z;
    }
    if comptime!(quantity == CellQuantity::Pressure) {
        value = state.pressure;
    }
    if comptime!(quantity == CellQuantity::Temperature) {
        value = state.pressure / (state.density * gas_constant);
    }
    if comptime!(quantity == CellQuantity::Mach) {
        let u = state.velocity();
        value = u.dot(u).sqrt() / state.sound_speed(gamma);
    }
    if comptime!(quantity == CellQuantity::Entropy) {
        value = state.pressure / power::<F>(state.density, gamma);
    }
    if comptime!(quantity.needs_gradients()) {
        let centroid = Vec3::<F> { x: zero, y: zero, z: zero };
        let gradient = polynomials.gradient(c, centroid);
        let at_centroid = polynomials.at_offset(c, centroid).primitive(gamma);
        let u = at_centroid.velocity();
        let (x, y, z) = (gradient.x, gradient.y, gradient.z);
        value = (x.density * x.density + y.density * y.density + z.density * z.density).sqrt();
        // ρ ∂u_i/∂x_j = ∂(ρu_i)/∂x_j − u_i ∂ρ/∂x_j.
        if comptime!(quantity == CellQuantity::VorticityX) {
            value = (y.momentum_z - u.z * y.density - z.momentum_y + u.y * z.density)
                / at_centroid.density;
        }
        if comptime!(quantity == CellQuantity::VorticityY) {
            value = (z.momentum_x - u.x * z.density - x.momentum_z + u.z * x.density)
                / at_centroid.density;
        }
        if comptime!(quantity == CellQuantity::VorticityZ) {
            value = (x.momentum_y - u.y * x.density - y.momentum_x + u.x * y.density)
                / at_centroid.density;
        }
    }
    value
}

impl<F: Real> CompressibleSolver<F> {
    /// A quantity in all cells, `[n_cells]`; those of gradients from polynomials that no limiter has scaled.
    pub fn cell_quantity(&self, quantity: CellQuantity, gas_constant: f64, value: &mut Buffer<F>) {
        let (n, backend) = (self.mesh.n_cells(), &self.backend);
        let q = States::of(&self.state.now);
        let terms = self.polynomials.stencils.terms();
        let has_gradients = quantity.needs_gradients() && terms > 0;
        let scratch = has_gradients.then(|| {
            let mut coefficients = backend.zeros(self.polynomials.coefficients.len());
            let (stencils, second) = (&self.polynomials.stencils, &self.polynomials.second);
            stencils.reconstruct(backend, n, second, &q, &mut coefficients);
            coefficients
        });
        let polynomials = match &scratch {
            Some(coefficients) => Polynomials::of(coefficients, &self.state.now, terms),
            None if quantity.needs_gradients() => {
                Polynomials::of(&self.state.now, &self.state.now, 0)
            }
            None => Polynomials::absent(),
        };
        let (gamma, gas_constant) = (F::from_f64(self.gamma), F::from_f64(gas_constant));
        quantity_of_cells(backend, n, &q, &polynomials, gamma, gas_constant, quantity, value);
    }

    /// As [`CompressibleSolver::cell_quantity`], in double precision.
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn values_of(
        &self,
        quantity: CellQuantity,
        gas_constant: f64,
    ) -> Result<Vec<f64>, CompressibleError> {
        let mut values = self.backend.zeros(self.n_cells());
        self.cell_quantity(quantity, gas_constant, &mut values);
        self.read(&values)
    }
}
