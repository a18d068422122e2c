//! Strength, pairs and independent sets, row by row, with the results of `strength`, `matching` and `pmis`
//! on the host. Flags and numbers are `[rows]`; s is the size of a matrix value.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(clippy::collapsible_if)] // kernels evaluate both sides of `&&`

use super::share::Share;
use crate::Matrix;
use crate::amg::hashing::hash;
use crate::amg::matching::{NONE, ROUNDS};
use crate::amg::strength::FINE;
use crate::amg::views::StrengthGraph;
use crate::matrix::MatrixView;
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::{BackendError, Buffer, Partials, View, blas};
use std::ops::Range;

/// A numbering of aggregates, or of coarse unknowns.
pub(super) struct Numbering {
    /// The number of each unknown: `[rows]`.
    pub of: Buffer<u32>,
    /// The first number of each rank, and how many there are.
    pub starts: Vec<usize>,
}

impl Numbering {
    /// Number of aggregates or coarse unknowns.
    pub(super) fn count(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }
}

const UNDECIDED: u32 = 0;
const COARSE: u32 = 1;
const FOUND_FINE: u32 = 2;

/// θ max_k(−a_ik), the largest number where no off-diagonal entry is negative. Traffic of the matrix
/// and 8.
#[kernel(out(thresholds))]
pub(super) fn find_thresholds<S: Real>(row: usize, a: &MatrixView<S>, theta: f64) -> f64 {
    let (first, end) = a.row(row);
    let mut largest = f64::literal(0.0);
    let mut k = first;
    while k < end {
        if a.columns[k] as usize != row {
            largest = largest.max(-a.values[k].to_f64());
        }
        k += comptime!(a.layout.spacing());
    }
    let mut threshold = f64::literal(f64::MAX);
    if largest > f64::literal(0.0) {
        threshold = (theta * largest).max(f64::literal(f64::MIN_POSITIVE));
    }
    threshold
}

/// The unmatched neighbour of strongest coupling, strong for both, ties broken by a hash of the pair; none
/// for a row that has a mate. Traffic of the matrix and 16 a row.
#[kernel(out(proposals))]
pub(super) fn propose<S: Real>(row: usize, graph: &StrengthGraph<S>, mates: &View<u32>) -> u32 {
    let mut best = comptime!(NONE).runtime();
    if mates[row] == comptime!(NONE) {
        let (first, end) = graph.matrix.row(row);
        let threshold = graph.thresholds[row];
        let own = hash(row as u32);
        let mut heaviest = f64::literal(0.0);
        let mut best_tie = 0u32;
        let mut k = first;
        while k < end {
            let column = graph.matrix.columns[k] as usize;
            let weight = -graph.matrix.values[k].to_f64();
            if column != row && weight >= threshold && weight >= heaviest {
                if weight >= graph.thresholds[column] && mates[column] == comptime!(NONE) {
                    let tie = own ^ hash(column as u32);
                    if weight > heaviest || tie > best_tie {
                        heaviest = weight;
                        best_tie = tie;
                        best = column as u32;
                    }
                }
            }
            k += comptime!(graph.matrix.layout.spacing());
        }
    }
    best
}

/// Two rows that propose to each other are mates. Traffic 12.
#[kernel(update(mates))]
pub(super) fn agree(row: usize, proposals: &View<u32>, mates: u32) -> u32 {
    let mut mate = mates;
    let proposed = proposals[row];
    if mates == comptime!(NONE) && proposed != comptime!(NONE) {
        if proposals[proposed as usize] as usize == row {
            mate = proposed;
        }
    }
    mate
}

/// For an unmatched row its matched neighbour of strongest coupling, and 1 for the first row of an
/// aggregate. Traffic of the matrix and 16.
#[kernel(out(joined, begins))]
pub(super) fn join<S: Real>(row: usize, graph: &StrengthGraph<S>, mates: &View<u32>) -> (u32, u32) {
    let mut joined = comptime!(NONE).runtime();
    let mut begins = 0u32;
    let mate = mates[row];
    if mate == comptime!(NONE) {
        let (first, end) = graph.matrix.row(row);
        let mut heaviest = f64::literal(0.0);
        let mut k = first;
        while k < end {
            let column = graph.matrix.columns[k] as usize;
            let weight = -graph.matrix.values[k].to_f64();
            if column != row && weight >= graph.thresholds[row] && weight > heaviest {
                if mates[column] != comptime!(NONE) {
                    heaviest = weight;
                    joined = column as u32;
                }
            }
            k += comptime!(graph.matrix.layout.spacing());
        }
        if joined == comptime!(NONE) {
            begins = 1u32;
        }
    } else if row < mate as usize {
        begins = 1u32;
    }
    (joined, begins)
}

/// The number of a row's aggregate where it has a mate or none, that of its first row. Traffic 12.
#[kernel(out(of))]
pub(super) fn number_pairs(row: usize, mates: &View<u32>, numbers: &View<u32>) -> u32 {
    let mut first = row;
    let mate = mates[row];
    if mate != comptime!(NONE) && (mate as usize) < first {
        first = mate as usize;
    }
    numbers[first]
}

/// The number of a row's aggregate, that of the row that it joined if any. Traffic 12.
#[kernel(out(of))]
pub(super) fn number_joined(row: usize, joined: &View<u32>, of_pairs: &View<u32>) -> u32 {
    let mut first = row;
    if joined[row] != comptime!(NONE) {
        first = joined[row] as usize;
    }
    of_pairs[first]
}

/// The thresholds of strength: `[rows]`.
fn thresholds<S: Real>(a: &Matrix<S>, share: &Share, theta: f64) -> Buffer<f64> {
    let mut thresholds = a.backend().scratch(a.rows());
    find_thresholds(a.backend(), a.rows(), &a.view(), theta, &mut thresholds);
    share.fill(&mut thresholds);
    thresholds
}

/// Pairs of strongly coupled unknowns, numbered in the order of their first rows.
pub(super) fn pairs<S: Real>(
    a: &Matrix<S>,
    share: &Share,
    theta: f64,
) -> Result<Numbering, BackendError> {
    let (backend, n) = (a.backend(), a.rows());
    let thresholds = thresholds(a, share, theta);
    let graph = StrengthGraph::of(a, &thresholds);
    let mut mates = backend.scratch(n);
    blas::fill(backend, n, NONE, &mut mates);
    let mut proposals = backend.scratch(n);
    for _ in 0..ROUNDS {
        propose(backend, n, &graph, &mates, &mut proposals);
        share.fill(&mut proposals);
        agree(backend, n, &proposals, &mut mates);
        share.fill(&mut mates);
    }
    let (mut joined, mut begins) = (backend.scratch(n), backend.scratch(n));
    join(backend, n, &graph, &mates, &mut joined, &mut begins);
    let (mut numbers, starts) = share.ranges().places(backend, &mut begins)?;
    share.fill(&mut numbers);
    let (mut of_pairs, mut of) = (proposals, begins);
    number_pairs(backend, n, &mates, &numbers, &mut of_pairs);
    share.fill(&mut of_pairs);
    number_joined(backend, n, &joined, &of_pairs, &mut of);
    share.fill(&mut of);
    Ok(Numbering { of, starts })
}

/// The aggregate of an aggregate. Traffic 12.
#[kernel(update(of))]
pub(super) fn follow(_i: usize, next: &View<u32>, of: u32) -> u32 {
    next[of as usize]
}

/// The number of rows that depend on a row, above 24 bits of a hash; a row of weight 0 is fine. Traffic of
/// the matrix, 8 an entry, and 16.
#[kernel(out(weights, roles))]
pub(super) fn weigh<S: Real>(row: usize, graph: &StrengthGraph<S>) -> (u32, u32) {
    let (first, end) = graph.matrix.row(row);
    let mut count = 0u32;
    let mut k = first;
    while k < end {
        let column = graph.matrix.columns[k] as usize;
        if column != row && count < 255u32 {
            if -graph.matrix.values[k].to_f64() >= graph.thresholds[column] {
                count += 1u32;
            }
        }
        k += comptime!(graph.matrix.layout.spacing());
    }
    let mut weight = 0u32;
    let mut role = comptime!(FOUND_FINE).runtime();
    if count > 0 {
        weight = (count << 24) | (hash(row as u32) >> 8);
        role = comptime!(UNDECIDED).runtime();
    }
    (weight, role)
}

/// Coarse where no undecided neighbour has a larger weight. Traffic of the matrix, 16 an entry, and 16.
#[kernel(out(chosen))]
pub(super) fn choose<S: Real>(
    row: usize,
    graph: &StrengthGraph<S>,
    weights: &View<u32>,
    roles: &View<u32>,
) -> u32 {
    let mut role = roles[row];
    if role == comptime!(UNDECIDED) {
        let (first, end) = graph.matrix.row(row);
        let own = weights[row];
        let threshold = graph.thresholds[row];
        role = comptime!(COARSE).runtime();
        let mut k = first;
        while k < end {
            let column = graph.matrix.columns[k] as usize;
            if column != row && roles[column] == comptime!(UNDECIDED) {
                let weight = weights[column];
                let is_heavier = weight > own || (weight == own && column > row);
                let value = -graph.matrix.values[k].to_f64();
                if is_heavier && (value >= threshold || value >= graph.thresholds[column]) {
                    role = comptime!(UNDECIDED).runtime();
                }
            }
            k += comptime!(graph.matrix.layout.spacing());
        }
    }
    role
}

/// Fine where strongly coupled to a coarse unknown; also the number of undecided unknowns from row `first` to
/// `end`. Traffic of the matrix, 4 an entry, and 16.
#[kernel(out(roles), reduce(sum))]
pub(super) fn settle<S: Real>(
    row: usize,
    graph: &StrengthGraph<S>,
    chosen: &View<u32>,
    first: usize,
    end: usize,
) -> (u32, f64) {
    let mut role = chosen[row];
    let mut left = f64::literal(0.0);
    if role == comptime!(UNDECIDED) {
        let (begin, stop) = graph.matrix.row(row);
        let threshold = graph.thresholds[row];
        let mut k = begin;
        while k < stop {
            if chosen[graph.matrix.columns[k] as usize] == comptime!(COARSE)
                && -graph.matrix.values[k].to_f64() >= threshold
            {
                role = comptime!(FOUND_FINE).runtime();
            }
            k += comptime!(graph.matrix.layout.spacing());
        }
        if role == comptime!(UNDECIDED) && row >= first && row < end {
            left = f64::literal(1.0);
        }
    }
    (role, left)
}

/// 1 for coarse unknowns. Traffic 8.
#[kernel(out(flags))]
pub(super) fn flag_coarse(row: usize, roles: &View<u32>) -> u32 {
    let mut flag = 0u32;
    if roles[row] == comptime!(COARSE) {
        flag = 1u32;
    }
    flag
}

/// The coarse number of coarse unknowns, [`FINE`] for the others. Traffic 12.
#[kernel(out(coarse))]
pub(super) fn number_coarse(row: usize, flags: &View<u32>, numbers: &View<u32>) -> u32 {
    let mut number = comptime!(FINE).runtime();
    if flags[row] == 1u32 {
        number = numbers[row];
    }
    number
}

/// Coarse unknowns of `a` by the parallel modified independent set, and the thresholds of strength.
pub(super) fn pmis<S: Real>(
    a: &Matrix<S>,
    share: &Share,
    theta: f64,
) -> Result<(Numbering, Buffer<f64>), BackendError> {
    let (backend, n) = (a.backend(), a.rows());
    let thresholds = thresholds(a, share, theta);
    let graph = StrengthGraph::of(a, &thresholds);
    let (mut weights, mut roles) = (backend.scratch(n), backend.scratch(n));
    weigh(backend, n, &graph, &mut weights, &mut roles);
    share.fill(&mut weights);
    share.fill(&mut roles);
    let mut chosen = backend.scratch(n);
    let mut partials = Partials::new(backend, n, 1);
    let mut left = backend.scratch(1);
    let Range { start, end } = share.ranges().own();
    // Most sets need five to eight rounds; a further round changes nothing.
    let mut rounds = 4;
    loop {
        for _ in 0..rounds {
            choose(backend, n, &graph, &weights, &roles, &mut chosen);
            share.fill(&mut chosen);
            settle(backend, n, &graph, &chosen, start, end, &mut roles, &mut partials);
            share.fill(&mut roles);
        }
        blas::finish_sum(backend, &partials, &mut left);
        let left = share.ranges().of_all([backend.read(&left)?[0]])?;
        if left.iter().all(|[left]| *left == 0.0) {
            break;
        }
        rounds = 2;
    }
    let (mut flags, mut coarse) = (chosen, weights);
    flag_coarse(backend, n, &roles, &mut flags);
    let (numbers, starts) = share.ranges().places(backend, &mut flags)?;
    number_coarse(backend, n, &flags, &numbers, &mut coarse);
    share.fill(&mut coarse);
    Ok((Numbering { of: coarse, starts }, thresholds))
}
