//! The contribution C v of prescribed values v to a right-hand side.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::boundary::PartValues;
use super::narrow;
use crate::backend::{Backend, Buffer, View};
use crate::operators::Part;
use crate::real::Real;
use karman_backend::prelude::*;
use std::ops::Range;

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

    /// The rows of consecutive unknowns, counted from the first of them, on the backend of one of several ranks; and the prescribed
    /// values of these rows, ascending, which it numbers by their places in this list.
    pub fn of_rows(&self, backend: &Backend, own: Range<usize>) -> (Self, Vec<u32>) {
        let host = |buffer: &'_ Buffer<u32>| buffer.as_host().unwrap_or_default().to_vec();
        let [unknowns, offsets, values] = [&self.unknowns, &self.offsets, &self.values].map(host);
        let place = |unknown: usize| unknowns.partition_point(|i| (*i as usize) < unknown);
        let rows = place(own.start)..place(own.end);
        let entries = match rows.is_empty() {
            true => 0..0,
            false => offsets[rows.start] as usize..offsets[rows.end] as usize,
        };
        let first = entries.start as u32;
        let of_rows = &values[entries.clone()];
        let mut used = of_rows.to_vec();
        used.sort_unstable();
        used.dedup();
        let local = |value: &u32| used.partition_point(|other| other < value) as u32;
        let own_offsets = match rows.is_empty() {
            true => vec![0],
            false => offsets[rows.start..=rows.end].iter().map(|o| o - first).collect(),
        };
        let coefficients = &self.coefficients.as_host().unwrap_or_default()[entries];
        let own_unknowns = unknowns[rows].iter().map(|i| i - own.start as u32).collect();
        let contribution = BoundaryContributionOnBackend {
            unknowns: backend.upload(own_unknowns),
            offsets: backend.upload(own_offsets),
            values: backend.upload(of_rows.iter().map(local).collect()),
            coefficients: backend.upload(coefficients.to_vec()),
        };
        (contribution, used)
    }

    /// C of a part with the prescribed values `values`, of unknowns `[quantities][n_cells]`.
    pub fn of_part(&self, part: &Part, values: &PartValues) -> Self {
        let n = part.n_whole() as u32;
        let [unknowns, offsets, of_rows] = [&self.unknowns, &self.offsets, &self.values]
            .map(|buffer| buffer.as_host().unwrap_or_default());
        let (mut own_unknowns, mut own_offsets) = (vec![], vec![0]);
        let (mut own_values, mut places) = (vec![], vec![]);
        for (row, unknown) in unknowns.iter().enumerate() {
            let Some(cell) = part.own_cell(unknown % n) else { continue };
            own_unknowns.push(unknown / n * part.own.len() as u32 + cell);
            for place in offsets[row]..offsets[row + 1] {
                own_values.push(values.local(of_rows[place as usize]));
                places.push(place);
            }
            own_offsets.push(places.len() as u32);
        }
        let backend = &part.backend;
        BoundaryContributionOnBackend {
            unknowns: backend.upload(own_unknowns),
            offsets: backend.upload(own_offsets),
            values: backend.upload(own_values),
            coefficients: part.of_list(&self.coefficients, &places, self.coefficients.len()),
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
