//! Strength, pairs and independent sets, row by row, with the results of `strength`, `matching` and `pmis`
//! on the host. Flags and numbers are `[rows]`; s is the size of a matrix value.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(clippy::collapsible_if)] // kernels evaluate both sides of `&&`

use crate::amg::hashing::hash;
use crate::amg::matching::{NONE, ROUNDS};
use crate::amg::strength::FINE;
use crate::matrix::row_places;
use crate::{Layout, Matrix};
use karman_backend::prelude::*;
use karman_backend::real::Real;
use karman_backend::scan::offsets_of;
use karman_backend::{BackendError, Buffer, Partials, View, blas};

/// A numbering of aggregates, or of coarse unknowns.
pub(super) struct Numbering {
    /// The number of each unknown: `[rows]`.
    pub of: Buffer<u32>,
    /// Number of aggregates or coarse unknowns.
    pub count: usize,
}

const UNDECIDED: u32 = 0;
const COARSE: u32 = 1;
const FOUND_FINE: u32 = 2;

/// θ max_k(−a_ik), the largest number where no off-diagonal entry is negative. Traffic of the matrix
/// and 8.
#[kernel(find_thresholds, out(thresholds))]
pub(super) fn threshold_of<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    theta: f64,
    #[comptime] layout: Layout,
) -> f64 {
    let (first, end) = row_places(row, offsets, layout);
    let mut largest = f64::literal(0.0);
    let mut k = first;
    while k < end {
        if columns[k] as usize != row {
            largest = largest.max(-values[k].to_f64());
        }
        k += comptime!(layout.spacing());
    }
    let mut threshold = f64::literal(f64::MAX);
    if largest > f64::literal(0.0) {
        threshold = (theta * largest).max(f64::literal(f64::MIN_POSITIVE));
    }
    threshold
}

/// The unmatched neighbour of strongest coupling, strong for both, ties broken by a hash of the pair; none
/// for a row that has a mate. Traffic of the matrix and 16 a row.
#[kernel(propose, out(proposals))]
pub(super) fn proposal_of<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    thresholds: &View<f64>,
    mates: &View<u32>,
    #[comptime] layout: Layout,
) -> u32 {
    let mut best = comptime!(NONE).runtime();
    if mates[row] == comptime!(NONE) {
        let (first, end) = row_places(row, offsets, layout);
        let threshold = thresholds[row];
        let own = hash(row as u32);
        let mut heaviest = f64::literal(0.0);
        let mut best_tie = 0u32;
        let mut k = first;
        while k < end {
            let column = columns[k] as usize;
            let weight = -values[k].to_f64();
            if column != row && weight >= threshold && weight >= heaviest {
                if weight >= thresholds[column] && mates[column] == comptime!(NONE) {
                    let tie = own ^ hash(column as u32);
                    if weight > heaviest || tie > best_tie {
                        heaviest = weight;
                        best_tie = tie;
                        best = column as u32;
                    }
                }
            }
            k += comptime!(layout.spacing());
        }
    }
    best
}

/// Two rows that propose to each other are mates. Traffic 12.
#[kernel(agree, update(mates))]
pub(super) fn mate_of(row: usize, proposals: &View<u32>, mates: u32) -> u32 {
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
#[kernel(join, out(joined, begins))]
pub(super) fn joined_by<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    thresholds: &View<f64>,
    mates: &View<u32>,
    #[comptime] layout: Layout,
) -> (u32, u32) {
    let mut joined = comptime!(NONE).runtime();
    let mut begins = 0u32;
    let mate = mates[row];
    if mate == comptime!(NONE) {
        let (first, end) = row_places(row, offsets, layout);
        let mut heaviest = f64::literal(0.0);
        let mut k = first;
        while k < end {
            let column = columns[k] as usize;
            let weight = -values[k].to_f64();
            if column != row && weight >= thresholds[row] && weight > heaviest {
                if mates[column] != comptime!(NONE) {
                    heaviest = weight;
                    joined = column as u32;
                }
            }
            k += comptime!(layout.spacing());
        }
        if joined == comptime!(NONE) {
            begins = 1u32;
        }
    } else if row < mate as usize {
        begins = 1u32;
    }
    (joined, begins)
}

/// The number of a row's aggregate. Traffic 16.
#[kernel(number_pairs, out(of))]
pub(super) fn pair_of(
    row: usize,
    mates: &View<u32>,
    joined: &View<u32>,
    numbers: &View<u32>,
) -> u32 {
    let mut first = row;
    if joined[row] != comptime!(NONE) {
        first = joined[row] as usize;
    }
    let mate = mates[first];
    if mate != comptime!(NONE) && (mate as usize) < first {
        first = mate as usize;
    }
    numbers[first]
}

/// Pairs of strongly coupled unknowns, numbered in the order of their first rows.
pub(super) fn pairs<S: Real>(a: &Matrix<S>, theta: f64) -> Result<Numbering, BackendError> {
    let (backend, n, layout) = (a.backend(), a.rows(), a.layout());
    let (offsets, columns, values) = a.arrays();
    let mut thresholds = backend.scratch(n);
    find_thresholds(backend, n, offsets, columns, values, theta, layout, &mut thresholds);
    let mut mates = backend.scratch(n);
    blas::fill(backend, n, NONE, &mut mates);
    let mut proposals = backend.scratch(n);
    for _ in 0..ROUNDS {
        let to = &mut proposals;
        propose(backend, n, offsets, columns, values, &thresholds, &mates, layout, to);
        agree(backend, n, &proposals, &mut mates);
    }
    let (mut joined, mut begins, mut of) = (backend.scratch(n), backend.scratch(n), proposals);
    join(
        backend,
        n,
        offsets,
        columns,
        values,
        &thresholds,
        &mates,
        layout,
        &mut joined,
        &mut begins,
    );
    let (numbers, count) = offsets_of(backend, &begins)?;
    number_pairs(backend, n, &mates, &joined, &numbers, &mut of);
    Ok(Numbering { of, count })
}

/// The aggregate of an aggregate. Traffic 12.
#[kernel(follow, update(of))]
pub(super) fn followed(_i: usize, next: &View<u32>, of: u32) -> u32 {
    next[of as usize]
}

/// The number of rows that depend on a row, above 24 bits of a hash; a row of weight 0 is fine. Traffic of
/// the matrix, 8 an entry, and 16.
#[kernel(weigh, out(weights, roles))]
pub(super) fn weight_of<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    thresholds: &View<f64>,
    #[comptime] layout: Layout,
) -> (u32, u32) {
    let (first, end) = row_places(row, offsets, layout);
    let mut count = 0u32;
    let mut k = first;
    while k < end {
        let column = columns[k] as usize;
        if column != row && count < 255u32 {
            if -values[k].to_f64() >= thresholds[column] {
                count += 1u32;
            }
        }
        k += comptime!(layout.spacing());
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
#[kernel(choose, out(chosen))]
pub(super) fn role_chosen<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    thresholds: &View<f64>,
    weights: &View<u32>,
    roles: &View<u32>,
    #[comptime] layout: Layout,
) -> u32 {
    let mut role = roles[row];
    if role == comptime!(UNDECIDED) {
        let (first, end) = row_places(row, offsets, layout);
        let own = weights[row];
        let threshold = thresholds[row];
        role = comptime!(COARSE).runtime();
        let mut k = first;
        while k < end {
            let column = columns[k] as usize;
            if column != row && roles[column] == comptime!(UNDECIDED) {
                let weight = weights[column];
                let is_heavier = weight > own || (weight == own && column > row);
                let value = -values[k].to_f64();
                if is_heavier && (value >= threshold || value >= thresholds[column]) {
                    role = comptime!(UNDECIDED).runtime();
                }
            }
            k += comptime!(layout.spacing());
        }
    }
    role
}

/// Fine where strongly coupled to a coarse unknown; also the number of undecided unknowns. Traffic of the
/// matrix, 4 an entry, and 16.
#[kernel(settle, out(roles), reduce(sum))]
pub(super) fn role_settled<S: Real>(
    row: usize,
    offsets: &View<u32>,
    columns: &View<u32>,
    values: &View<S>,
    thresholds: &View<f64>,
    chosen: &View<u32>,
    #[comptime] layout: Layout,
) -> (u32, f64) {
    let mut role = chosen[row];
    let mut left = f64::literal(0.0);
    if role == comptime!(UNDECIDED) {
        let (first, end) = row_places(row, offsets, layout);
        let threshold = thresholds[row];
        let mut k = first;
        while k < end {
            if chosen[columns[k] as usize] == comptime!(COARSE) && -values[k].to_f64() >= threshold
            {
                role = comptime!(FOUND_FINE).runtime();
            }
            k += comptime!(layout.spacing());
        }
        if role == comptime!(UNDECIDED) {
            left = f64::literal(1.0);
        }
    }
    (role, left)
}

/// 1 for coarse unknowns. Traffic 8.
#[kernel(flag_coarse, out(flags))]
pub(super) fn coarse_flag(row: usize, roles: &View<u32>) -> u32 {
    let mut flag = 0u32;
    if roles[row] == comptime!(COARSE) {
        flag = 1u32;
    }
    flag
}

/// The coarse number of coarse unknowns, [`FINE`] for the others. Traffic 12.
#[kernel(number_coarse, out(coarse))]
pub(super) fn coarse_number(row: usize, flags: &View<u32>, numbers: &View<u32>) -> u32 {
    let mut number = comptime!(FINE).runtime();
    if flags[row] == 1u32 {
        number = numbers[row];
    }
    number
}

/// Coarse unknowns of `a` by the parallel modified independent set, and the thresholds of strength.
pub(super) fn pmis<S: Real>(
    a: &Matrix<S>,
    theta: f64,
) -> Result<(Numbering, Buffer<f64>), BackendError> {
    let (backend, n, layout) = (a.backend(), a.rows(), a.layout());
    let (offsets, columns, values) = a.arrays();
    let mut thresholds = backend.scratch(n);
    find_thresholds(backend, n, offsets, columns, values, theta, layout, &mut thresholds);
    let (mut weights, mut roles) = (backend.scratch(n), backend.scratch(n));
    let t = &thresholds;
    weigh(backend, n, offsets, columns, values, t, layout, &mut weights, &mut roles);
    let mut chosen = backend.scratch(n);
    let mut partials = Partials::new(backend, n, 1);
    let mut left = backend.scratch(1);
    // Most sets need five to eight rounds; a further round changes nothing.
    let mut rounds = 4;
    loop {
        for _ in 0..rounds {
            let to = &mut chosen;
            choose(backend, n, offsets, columns, values, t, &weights, &roles, layout, to);
            let to = &mut roles;
            settle(backend, n, offsets, columns, values, t, &chosen, layout, to, &mut partials);
        }
        blas::finish_sum(backend, &partials, &mut left);
        if backend.read(&left)?[0] == 0.0 {
            break;
        }
        rounds = 2;
    }
    let (mut flags, mut coarse) = (chosen, weights);
    flag_coarse(backend, n, &roles, &mut flags);
    let (numbers, count) = offsets_of(backend, &flags)?;
    number_coarse(backend, n, &flags, &numbers, &mut coarse);
    Ok((Numbering { of: coarse, count }, thresholds))
}
