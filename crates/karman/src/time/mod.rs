//! Time integration: coefficients of multistep schemes, Runge–Kutta stages, implicit operators kept over steps.

pub mod coefficients;
pub mod implicit_operator;
pub mod runge_kutta;

pub use coefficients::{Bdf, TimeCoefficients};
pub use implicit_operator::ImplicitOperator;
pub use runge_kutta::RungeKutta;
