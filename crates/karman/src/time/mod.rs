//! Time integration.

pub mod bdf;
