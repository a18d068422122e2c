//! Viscosity and heat conduction of a gas.

/// The dynamic viscosity μ, Pa s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Viscosity {
    /// Equal everywhere.
    Constant(f64),
    /// Sutherland's law, μ = μ_r (T/T_r)^(3/2) (T_r + S)/(T + S).
    Sutherland {
        /// μ_r, Pa s.
        reference: f64,
        /// T_r, K.
        temperature: f64,
        /// S, K.
        constant: f64,
    },
}

/// Viscous terms of a perfect gas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViscousGas {
    /// μ.
    pub viscosity: Viscosity,
    /// Pr = μ c_p / λ.
    pub prandtl: f64,
    /// R = p/(ρT), J/(kg K).
    pub gas_constant: f64,
}
