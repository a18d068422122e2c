//! The contribution C v of prescribed values v to a right-hand side.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::narrow;
use crate::backend::{Backend, Buffer, View};
use crate::real::Real;
use karman_backend::prelude::*;

/// C by its rows that are not empty: the unknowns next to a prescribed value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundaryContribution {
    /// Unknown of each row, ascending.
    pub unknowns: Vec<u32>,
    /// Start of each row: `[rows + 1]`.
    pub offsets: Vec<u32>,
    /// Index of the prescribed value.
    pub values: Vec<u32>,
    /// Coefficient of the prescribed value.
    pub coefficients: Vec<f64>,
}

impl BoundaryContribution {
    /// From entries (unknown, value, coefficient) in any order; a row keeps the order of its entries.
    pub fn from_entries(mut entries: Vec<(u32, u32, f64)>) -> BoundaryContribution {
        entries.sort_by_key(|e| e.0);
        let mut contribution = BoundaryContribution { offsets: vec![0], ..Default::default() };
        for (unknown, value, coefficient) in entries {
            if contribution.unknowns.last() != Some(&unknown) {
                contribution.unknowns.push(unknown);
                contribution.offsets.push(contribution.values.len() as u32);
            }
            contribution.values.push(value);
            contribution.coefficients.push(coefficient);
            if let Some(end) = contribution.offsets.last_mut() {
                *end = contribution.values.len() as u32;
            }
        }
        contribution
    }
}

/// C by rows, on a backend.
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

/// b_i ← b_i + Σ C_ij v_j for the unknowns next to prescribed values.
///
/// Traffic a row: 8 + 2s, an entry 4 + 2s.
#[kernel(update(b), indexed)]
pub fn add_boundary_contribution<F: Real>(
    row: usize,
    _unknown: usize,
    offsets: &View<u32>,
    values: &View<u32>,
    coefficients: &View<F>,
    prescribed: &View<F>,
    b: F,
) -> F {
    let mut sum = b;
    for k in offsets[row] as usize..offsets[row + 1] as usize {
        sum += coefficients[k] * prescribed[values[k] as usize];
    }
    sum
}
