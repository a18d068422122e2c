//! The contribution of prescribed values to a right-hand side, on a backend.

use super::discrete::BoundaryContribution;
use super::kernels::add_boundary_contribution;
use super::narrow;
use crate::backend::{Backend, Buffer};
use crate::real::Real;

/// C by rows.
pub struct BoundaryContributionOnBackend<F: Real> {
    unknowns: Buffer<u32>,
    offsets: Buffer<u32>,
    values: Buffer<u32>,
    coefficients: Buffer<F>,
}

impl<F: Real> BoundaryContributionOnBackend<F> {
    /// Uploads C.
    pub fn new(backend: &Backend, contribution: BoundaryContribution) -> Self {
        BoundaryContributionOnBackend {
            unknowns: backend.upload(contribution.unknowns),
            offsets: backend.upload(contribution.offsets),
            values: backend.upload(contribution.values),
            coefficients: narrow(backend, contribution.coefficients),
        }
    }

    /// b ← b + C v.
    pub fn add(&self, backend: &Backend, prescribed: &Buffer<F>, b: &mut Buffer<F>) {
        add_boundary_contribution(
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
