//! What prescribed values add to a right-hand side, on a backend.

use super::discrete::Coupling;
use super::kernels::add_coupling;
use super::narrow;
use crate::backend::{Backend, Buffer};
use crate::real::Real;

/// C by rows.
pub struct CouplingOnBackend<F: Real> {
    unknowns: Buffer<u32>,
    offsets: Buffer<u32>,
    values: Buffer<u32>,
    coefficients: Buffer<F>,
}

impl<F: Real> CouplingOnBackend<F> {
    /// Uploads C.
    pub fn new(backend: &Backend, coupling: Coupling) -> Self {
        CouplingOnBackend {
            unknowns: backend.upload(coupling.unknowns),
            offsets: backend.upload(coupling.offsets),
            values: backend.upload(coupling.values),
            coefficients: narrow(backend, coupling.coefficients),
        }
    }

    /// b ← b + C v.
    pub fn add(&self, backend: &Backend, prescribed: &Buffer<F>, b: &mut Buffer<F>) {
        add_coupling(
            backend,
            self.unknowns.len(),
            &self.unknowns,
            &self.offsets,
            &self.values,
            &self.coefficients,
            prescribed,
            b,
        );
    }
}
