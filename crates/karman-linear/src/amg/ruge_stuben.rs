//! The first pass of Ruge & Stüben's coarsening with weighted boundary unknowns (Kamakolanu 2014,
//! algorithm 1; α = 1 is the original): the undecided unknown of largest weight becomes coarse, those that
//! depend on it fine. The weights of the unknowns these depend on grow by one; the weights of the unknowns
//! the new coarse unknown depends on fall by one. Sequential, as in the thesis.

use super::strength::Splitting;
use crate::CsrMatrix;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Undecided,
    Coarse,
    Fine,
}

/// Coarse unknowns of `a`; the weights of those in `boundary` are multiplied by `alpha`. An unknown without
/// strong couplings is fine; a fine unknown whose strong neighbours are all fine becomes coarse.
pub(super) fn ruge_stuben(
    a: &CsrMatrix<f64>,
    thresholds: &[f64],
    boundary: &[bool],
    alpha: f64,
) -> Splitting {
    let n = a.rows();
    // Unknowns that `row` depends on, and those that depend on it.
    let influences = |row: usize| {
        let strong = move |e: &(usize, f64)| e.0 != row && -e.1 >= thresholds[row];
        a.row(row).filter(strong).map(|e| e.0)
    };
    let dependents = |row: usize| {
        let strong = move |e: &(usize, f64)| e.0 != row && -e.1 >= thresholds[e.0];
        a.row(row).filter(strong).map(|e| e.0)
    };
    let mut weights: Vec<f64> = (0..n)
        .map(|row| dependents(row).count() as f64 * if boundary[row] { alpha } else { 1.0 })
        .collect();
    // Bits of non-negative numbers have the order of the numbers; of equal weights the first unknown
    // wins. Entries with outdated weights are skipped.
    let entry = |weight: f64, row: usize| (weight.max(0.0).to_bits(), Reverse(row));
    let mut queue: BinaryHeap<(u64, Reverse<usize>)> =
        weights.iter().enumerate().map(|(row, weight)| entry(*weight, row)).collect();
    let mut roles = vec![Role::Undecided; n];
    while let Some((bits, Reverse(row))) = queue.pop() {
        if roles[row] != Role::Undecided || bits != weights[row].max(0.0).to_bits() {
            continue;
        }
        if weights[row] <= 0.0 {
            roles[row] = Role::Fine;
            continue;
        }
        roles[row] = Role::Coarse;
        for fine in dependents(row) {
            if roles[fine] != Role::Undecided {
                continue;
            }
            roles[fine] = Role::Fine;
            for other in influences(fine).filter(|o| roles[*o] == Role::Undecided) {
                weights[other] += 1.0;
                queue.push(entry(weights[other], other));
            }
        }
        for other in influences(row).filter(|o| roles[*o] == Role::Undecided) {
            weights[other] -= 1.0;
            queue.push(entry(weights[other], other));
        }
    }
    for row in 0..n {
        let mut strong = influences(row).peekable();
        let is_cut_off = roles[row] == Role::Fine
            && strong.peek().is_some()
            && strong.all(|other| roles[other] != Role::Coarse);
        if is_cut_off {
            roles[row] = Role::Coarse;
        }
    }
    Splitting::new(roles.into_iter().map(|role| role == Role::Coarse))
}

/// Boundary rows detected from the matrix alone: their entries do not sum to zero.
pub(super) fn rows_with_nonzero_sum(a: &CsrMatrix<f64>) -> Vec<bool> {
    super::parallel::each(a.rows(), |row| {
        let (mut sum, mut size) = (0.0, 0.0);
        for (_, value) in a.row(row) {
            sum += value;
            size += value.abs();
        }
        sum.abs() > 1e-10 * size
    })
}

#[cfg(test)]
mod tests {
    use super::super::parallel::Loops;
    use super::super::strength::thresholds;
    use super::*;
    use crate::testing::{diamond, poisson_2d};

    #[test]
    fn every_fine_unknown_has_a_strong_coarse_neighbour() {
        for (a, alpha) in [(poisson_2d(30), 1.0), (poisson_2d(30), 5.0), (diamond(9), 5.0)] {
            let t = thresholds(&Loops::ALONE, &a, 0.25).unwrap();
            let set = ruge_stuben(&a, &t, &rows_with_nonzero_sum(&a), alpha);
            for (row, threshold) in t.iter().enumerate() {
                let coarse = a.row(row).filter(|(c, v)| *c != row && -v >= *threshold);
                let count = coarse.filter(|(c, _)| set.is_coarse(*c)).count();
                assert!(set.is_coarse(row) || count > 0, "row {row}");
            }
        }
    }

    #[test]
    fn a_grid_is_coarsened_in_a_checkerboard_and_boundaries_by_their_weight() {
        let a = poisson_2d(30);
        let t = thresholds(&Loops::ALONE, &a, 0.25).unwrap();
        let flags = rows_with_nonzero_sum(&a);
        assert_eq!(flags.iter().filter(|b| **b).count(), 4 * 29);
        let set = ruge_stuben(&a, &t, &flags, 1.0);
        assert!(set.count > 430 && set.count < 470, "{}", set.count);
        let b = diamond(9);
        let t = thresholds(&Loops::ALONE, &b, 0.25).unwrap();
        let flags = rows_with_nonzero_sum(&b);
        let coarse_boundary = |alpha| {
            let set = ruge_stuben(&b, &t, &flags, alpha);
            (0..b.rows()).filter(|r| flags[*r] && set.is_coarse(*r)).count()
        };
        let (weighted, original) = (coarse_boundary(5.0), coarse_boundary(1.0));
        assert!(weighted > original, "{weighted} {original}");
    }
}
