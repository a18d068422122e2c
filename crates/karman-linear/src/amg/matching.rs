//! Pairwise aggregation: each unmatched unknown proposes to its unmatched neighbour of strongest coupling;
//! two that propose to each other are a pair. After a few rounds an unmatched unknown joins the pair of its
//! strongest neighbour, or stays alone. Further passes aggregate pairs of pairs.

use super::aggregates::Aggregates;
use super::galerkin::between_aggregates;
use super::hashing::hash;
use super::parallel::Loops;
use crate::{CsrMatrix, LinearError};

/// No unknown.
pub(super) const NONE: u32 = u32::MAX;
/// Rounds of proposals: each matches more than half of the unknowns that still find a partner.
pub(super) const ROUNDS: usize = 8;

/// The unmatched neighbour of `row` with the strongest of its strong couplings, ties broken by a hash of
/// the pair.
#[inline(always)]
fn proposal(a: &CsrMatrix<f64>, thresholds: &[f64], mates: &[u32], row: usize) -> u32 {
    let tie = |column: u32| hash(row as u32) ^ hash(column);
    let mut best = (0.0, NONE);
    for (column, value) in a.row(row) {
        // Without unpredictable branches.
        let is_strong = (-value >= thresholds[row]) & (-value >= thresholds[column]);
        let is_open = is_strong & (column != row) & (mates[column] == NONE);
        let weight = if is_open { -value } else { -1.0 };
        if weight == best.0 && tie(column as u32) > tie(best.1) {
            best.1 = column as u32;
        }
        best = if weight > best.0 { (weight, column as u32) } else { best };
    }
    best.1
}

/// Pairs of strongly coupled unknowns; an unknown without a partner joins a neighbour's pair.
fn pairs(loops: &Loops, a: &CsrMatrix<f64>, thresholds: &[f64]) -> Result<Aggregates, LinearError> {
    let n = a.rows();
    let mut mates = vec![NONE; n];
    let mut proposals = vec![NONE; n];
    let mut active: Vec<u32> = (0..n as u32).collect();
    for _ in 0..ROUNDS {
        let proposed =
            loops.each(active.len(), |k| proposal(a, thresholds, &mates, active[k] as usize))?;
        for (row, mate) in active.iter().zip(&proposed) {
            proposals[*row as usize] = *mate;
        }
        let before = active.len();
        // Without a proposal an unknown stays unmatched: its unmatched neighbours only become fewer.
        active.retain(|row| {
            let row = *row as usize;
            let mate = proposals[row];
            if mate == NONE {
                return false;
            }
            let agree = proposals[mate as usize] == row as u32;
            if agree {
                mates[row] = mate;
            }
            !agree
        });
        if active.len() == before || active.is_empty() {
            break;
        }
    }
    let joined = loops.each(n, |row| {
        if mates[row] != NONE {
            return NONE;
        }
        let mut best = (0.0, NONE);
        for (column, value) in a.row(row) {
            if column != row
                && mates[column] != NONE
                && -value >= thresholds[row]
                && -value > best.0
            {
                best = (-value, column as u32);
            }
        }
        best.1
    })?;
    let mut of = vec![NONE; n];
    let mut count = 0;
    for row in 0..n {
        if of[row] == NONE && joined[row] == NONE {
            of[row] = count;
            if mates[row] != NONE {
                of[mates[row] as usize] = count;
            }
            count += 1;
        }
    }
    for row in 0..n {
        if joined[row] != NONE {
            of[row] = of[joined[row] as usize];
        }
    }
    Ok(Aggregates { of, count: count as usize })
}

/// Aggregates of about 2^`passes` unknowns: pairs, then pairs of the pairs' matrix, …
///
/// # Errors
/// As for [`Loops::matrix_of`].
pub(super) fn aggregates(
    loops: &Loops,
    a: &CsrMatrix<f64>,
    theta: f64,
    passes: usize,
) -> Result<Aggregates, LinearError> {
    let thresholds = |a: &CsrMatrix<f64>| super::strength::thresholds(loops, a, theta);
    let mut all = pairs(loops, a, &thresholds(a)?)?;
    for _ in 1..passes {
        let members = all.piecewise_constant().transposed();
        let coarse = between_aggregates(loops, &members, a, &all.of, 1.0)?;
        let next = pairs(loops, &coarse, &thresholds(&coarse)?)?;
        all.of.iter_mut().for_each(|of| *of = next.of[*of as usize]);
        all.count = next.count;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::super::strength::thresholds;
    use super::*;
    use crate::testing::{diamond, poisson_2d};
    use karman_backend::testing::hosts;

    #[test]
    fn aggregates_are_of_coupled_unknowns_and_the_same_for_any_threads() {
        for a in [poisson_2d(50), diamond(13)] {
            for passes in [1, 2, 3] {
                let make = || aggregates(&Loops::ALONE, &a, 0.25, passes).unwrap();
                let mut all: Vec<Aggregates> = hosts().iter().map(|h| h.install(make)).collect();
                all.dedup();
                assert_eq!(all.len(), 1);
                let Aggregates { of, count } = all.remove(0);
                let mut sizes = vec![0; count];
                of.iter().for_each(|of| sizes[*of as usize] += 1);
                let mean = a.rows() as f64 / count as f64;
                let expected = f64::from(1 << passes);
                assert!(mean > expected && mean < 1.6 * expected, "{mean} for {passes} passes");
                assert!(sizes.iter().all(|s| *s > 0));
            }
        }
    }

    #[test]
    fn the_strongest_coupling_of_all_is_a_pair() {
        let mut entries: Vec<(u32, u32, f64)> = (0..9).map(|i| (i, i, 10.0)).collect();
        for i in 0..8u32 {
            let weight = if i == 4 { -5.0 } else { -1.0 };
            entries.extend([(i, i + 1, weight), (i + 1, i, weight)]);
        }
        let a = CsrMatrix::from_entries(9, 9, entries).unwrap();
        let Aggregates { of, .. } =
            pairs(&Loops::ALONE, &a, &thresholds(&Loops::ALONE, &a, 0.1).unwrap()).unwrap();
        assert_eq!(of[4], of[5]);
        assert_ne!(of[3], of[4]);
        // With θ = 0.25 neighbours of this pair are weak for it.
        let Aggregates { of, .. } =
            pairs(&Loops::ALONE, &a, &thresholds(&Loops::ALONE, &a, 0.25).unwrap()).unwrap();
        assert_eq!(of[4], of[5]);
        assert_eq!(of.iter().filter(|o| **o == of[4]).count(), 2);
    }
}
