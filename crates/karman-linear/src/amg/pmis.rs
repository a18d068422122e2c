//! The parallel modified independent set (De Sterck, Yang & Heys, SIAM J. Matrix Anal. Appl. 27 (2006)
//! 1019): undecided unknowns whose weight no undecided neighbour exceeds become coarse; unknowns strongly
//! coupled to a coarse one become fine; this repeats until all are decided.
//!
//! The weight of an unknown is the number of unknowns that depend on it, ties broken by a hash of its
//! number: the set does not depend on the number of threads.

use super::hashing::hash;
use super::parallel::Loops;
use super::strength::Splitting;
use crate::{CsrMatrix, LinearError};

/// The role of an unknown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Undecided,
    Coarse,
    Fine,
}

/// Number of rows that depend on `row`, above 24 bits of a hash; 0 where there is none.
#[inline(always)]
fn weight(a: &CsrMatrix<f64>, thresholds: &[f64], row: usize) -> u32 {
    let depends = |(column, value): &(usize, f64)| *column != row && -value >= thresholds[*column];
    let count = a.row(row).filter(depends).count().min(255) as u32;
    if count == 0 { 0 } else { count << 24 | hash(row as u32) >> 8 }
}

/// Whether no undecided neighbour of `row` exceeds its weight.
#[inline(always)]
fn is_heaviest(
    a: &CsrMatrix<f64>,
    thresholds: &[f64],
    weights: &[u32],
    roles: &[Role],
    row: usize,
) -> bool {
    let (own, threshold) = ((weights[row], row), thresholds[row]);
    a.row(row).all(|(column, value)| {
        let is_rival = roles[column] == Role::Undecided
            && column != row
            && (-value >= threshold || -value >= thresholds[column]);
        !is_rival || (weights[column], column) < own
    })
}

/// Coarse unknowns of `a` for its `thresholds` of strength. An unknown on which no other depends
/// is fine.
///
/// # Errors
/// As for [`Loops::each`].
pub(super) fn pmis(
    loops: &Loops,
    a: &CsrMatrix<f64>,
    thresholds: &[f64],
) -> Result<Splitting, LinearError> {
    let n = a.rows();
    let weights = loops.each(n, |row| weight(a, thresholds, row))?;
    let alone = |w: &u32| if *w == 0 { Role::Fine } else { Role::Undecided };
    let mut roles: Vec<Role> = weights.iter().map(alone).collect();
    let undecided = |row: &u32| weights[*row as usize] != 0;
    let mut active: Vec<u32> = (0..n as u32).filter(undecided).collect();
    while !active.is_empty() {
        let wins = loops.each(active.len(), |k| {
            u32::from(is_heaviest(a, thresholds, &weights, &roles, active[k] as usize))
        })?;
        for (row, wins) in active.iter().zip(&wins) {
            if *wins == 1 {
                roles[*row as usize] = Role::Coarse;
            }
        }
        // Whether an unknown depends on a coarse one.
        let depends = loops.each(active.len(), |k| {
            let row = active[k] as usize;
            let threshold = thresholds[row];
            let depends = |(column, value): (usize, f64)| {
                roles[column] == Role::Coarse && -value >= threshold
            };
            u32::from(roles[row] != Role::Coarse && a.row(row).any(depends))
        })?;
        let mut rest = Vec::with_capacity(active.len() / 2);
        for (row, depends) in active.iter().zip(&depends) {
            let role = &mut roles[*row as usize];
            if *depends == 1 {
                *role = Role::Fine;
            }
            if *role == Role::Undecided {
                rest.push(*row);
            }
        }
        active = rest;
    }
    Ok(Splitting::new(roles.into_iter().map(|role| role == Role::Coarse)))
}

#[cfg(test)]
mod tests {
    use super::super::strength::thresholds;
    use super::*;
    use crate::testing::{diamond, poisson_2d, poisson_3d};
    use karman_backend::testing::hosts;

    #[test]
    fn coarse_unknowns_are_independent_and_reach_all_others() {
        for a in [poisson_2d(40), poisson_3d(17), diamond(14)] {
            let t = thresholds(&Loops::ALONE, &a, 0.25).unwrap();
            let mut sets: Vec<Splitting> = hosts()
                .iter()
                .map(|host| host.install(|| pmis(&Loops::ALONE, &a, &t).unwrap()))
                .collect();
            sets.dedup();
            assert_eq!(sets.len(), 1, "the set depends on the number of threads");
            let set = &sets[0];
            let mut count = 0;
            for (row, threshold) in t.iter().enumerate() {
                let strong = a.row(row).filter(|(c, v)| *c != row && -v >= *threshold);
                let coarse = strong.filter(|(c, _)| set.is_coarse(*c)).count();
                assert_eq!(set.is_coarse(row), coarse == 0, "row {row}");
                count += usize::from(set.is_coarse(row));
            }
            assert_eq!(count, set.count);
        }
    }
}
