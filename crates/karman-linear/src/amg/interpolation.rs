//! Interpolation from coarse unknowns: extended+i, direct, piecewise constant, smoothed.
//!
//! Constants are interpolated exactly where the row sums of the matrix vanish, also after truncation.

use super::aggregates::Aggregates;
use super::parallel::{Loops, Rows, SparseAccumulator};
use super::strength::{FINE, Splitting};
use crate::{CsrMatrix, LinearError};

/// The interpolation whose row i is the sum that `write(sums, i)` adds up, times the factor it returns,
/// truncated to its `max_entries` largest entries; empty where the factor is 0.
fn from_rows(
    loops: &Loops,
    [rows, columns]: [usize; 2],
    max_entries: usize,
    write: impl Fn(&mut SparseAccumulator, usize) -> f64 + Sync + Send,
) -> Result<CsrMatrix<f64>, LinearError> {
    let scratch = || (SparseAccumulator::new(columns), Rows::default());
    let write = |(sums, row): &mut (SparseAccumulator, Rows), i: usize, rows: &mut Rows| {
        row.clear();
        let factor = write(sums, i);
        sums.finish(row);
        if factor != 0.0 {
            truncated(row, max_entries, factor, rows);
        }
    };
    loops.matrix_of(rows, columns, scratch, write)
}

/// As [`from_rows`] for a splitting: rows of coarse unknowns are the identity, `write` adds those of fine
/// unknowns.
fn from_fine_rows(
    loops: &Loops,
    splitting: &Splitting,
    max_entries: usize,
    write: impl Fn(&mut SparseAccumulator, usize) -> f64 + Sync + Send,
) -> Result<CsrMatrix<f64>, LinearError> {
    let coarse = &splitting.coarse[..];
    from_rows(loops, [coarse.len(), splitting.count], max_entries, |sums, i| match coarse[i] {
        FINE => write(sums, i),
        own => {
            sums.add(own, 1.0);
            1.0
        }
    })
}

/// Extended+i interpolation (De Sterck, Falgout, Nolting & Yang, Numer. Linear Algebra Appl. 15
/// (2008) 115, eq. 4.10), rows truncated to their `max_entries` largest entries and rescaled to their
/// sum:
///
/// w_ij = −(a_ij + Σ_{k∈F_i} a_ik ā_kj / b_ik) / ã_ii over Ĉ_i, the coarse unknowns strong for i or for
/// a fine unknown that is; b_ik = Σ_{l∈Ĉ_i∪{i}} ā_kl; ã_ii = a_ii + Σ_{weak, not in Ĉ_i} a_in +
/// Σ_{k∈F_i} a_ik ā_ki / b_ik; ā is a without entries of the sign of the diagonal. A fine unknown with
/// empty Ĉ_i has an empty row: only the smoother corrects it.
///
/// # Errors
/// [`LinearError::TooLarge`] where it has too many entries.
pub(super) fn extended_i(
    loops: &Loops,
    a: &CsrMatrix<f64>,
    thresholds: &[f64],
    splitting: &Splitting,
    max_entries: usize,
) -> Result<CsrMatrix<f64>, LinearError> {
    let coarse = &splitting.coarse[..];
    let to_coarse = negative_couplings_to_coarse(loops, a, splitting)?;
    from_fine_rows(loops, splitting, max_entries, |sums, i| {
        let is_strong = |value: f64| -value >= thresholds[i];
        let off_diagonal = || a.row(i).filter(|(j, _)| *j != i);
        for (j, value) in off_diagonal().filter(|(_, value)| is_strong(*value)) {
            if coarse[j] != FINE {
                sums.add(coarse[j], value);
                continue;
            }
            for (l, _) in to_coarse.row(j).filter(|(_, value)| -value >= thresholds[j]) {
                sums.add(l as u32, 0.0);
            }
        }
        for (j, value) in off_diagonal().filter(|(_, value)| !is_strong(*value)) {
            if coarse[j] != FINE && sums.has(coarse[j]) {
                sums.add(coarse[j], value);
            }
        }
        let mut diagonal = 0.0;
        for (j, value) in a.row(i) {
            if j == i {
                diagonal += value;
            } else if coarse[j] == FINE && is_strong(value) {
                let back = a.row(j).find(|(l, _)| *l == i).map_or(0.0, |(_, back)| back.min(0.0));
                diagonal += distributed(&to_coarse, sums, (j, value, back));
            } else if coarse[j] == FINE || !sums.has(coarse[j]) {
                diagonal += value;
            }
        }
        if diagonal > 0.0 { -1.0 / diagonal } else { 0.0 }
    })
}

/// ā_jl for fine j and coarse l, columns by coarse numbers.
fn negative_couplings_to_coarse(
    loops: &Loops,
    a: &CsrMatrix<f64>,
    splitting: &Splitting,
) -> Result<CsrMatrix<f64>, LinearError> {
    let coarse = &splitting.coarse[..];
    let write = |_: &mut (), j: usize, rows: &mut Rows| {
        if coarse[j] != FINE {
            return;
        }
        for (l, value) in a.row(j).filter(|(l, value)| *value < 0.0 && coarse[*l] != FINE) {
            rows.push(coarse[l], value);
        }
    };
    loops.matrix_of(a.rows(), splitting.count, || (), write)
}

/// Distributes a_ij over the couplings of the fine unknown j to Ĉ_i and over ā_ji; returns the part of i,
/// or all of a_ij where these couplings sum to zero.
#[inline(always)]
fn distributed(
    to_coarse: &CsrMatrix<f64>,
    sums: &mut SparseAccumulator,
    (j, value, back): (usize, f64, f64),
) -> f64 {
    let mut sum = back;
    for (l, coupling) in to_coarse.row(j) {
        sum += if sums.has(l as u32) { coupling } else { 0.0 };
    }
    if sum == 0.0 {
        return value;
    }
    let share = value / sum;
    for (l, coupling) in to_coarse.row(j) {
        if sums.has(l as u32) {
            sums.add(l as u32, share * coupling);
        }
    }
    share * back
}

/// Adds `factor` times the `max_entries` largest entries of `row` to `rows`, rescaled to the sum of all.
fn truncated(row: &mut Rows, max_entries: usize, mut factor: f64, rows: &mut Rows) {
    let n = row.columns.len();
    // Partial selection sort by size; ties to the smaller column.
    let count = max_entries.min(n);
    if count < n {
        let total: f64 = row.values.iter().sum();
        for k in 0..count {
            let mut best = k;
            for other in k + 1..n {
                let (x, y) = (row.values[other].abs(), row.values[best].abs());
                if x > y || (x == y && row.columns[other] < row.columns[best]) {
                    best = other;
                }
            }
            row.columns.swap(k, best);
            row.values.swap(k, best);
        }
        let sum: f64 = row.values[..count].iter().sum();
        if sum != 0.0 {
            factor *= total / sum;
        }
    }
    let start = rows.columns.len();
    for k in 0..count {
        rows.push(row.columns[k], factor * row.values[k]);
    }
    super::parallel::sort_last_row(rows, start);
}

/// Direct interpolation from strong coarse neighbours C_i, w_ij = a_ij / Σ_{k∈C_i} a_ik (Kamakolanu
/// 2014, §3.2.2). A fine unknown without one takes the mean of the coarse unknowns that are strong for its
/// strong neighbours; without those its row is empty.
///
/// # Errors
/// [`LinearError::TooLarge`] where it has too many entries.
pub(super) fn direct(
    loops: &Loops,
    a: &CsrMatrix<f64>,
    thresholds: &[f64],
    splitting: &Splitting,
) -> Result<CsrMatrix<f64>, LinearError> {
    let coarse = &splitting.coarse[..];
    from_fine_rows(loops, splitting, usize::MAX, |sums, i| {
        let strong =
            |i: usize| a.row(i).filter(move |(j, value)| *j != i && -value >= thresholds[i]);
        let mut sum = 0.0;
        for (j, value) in strong(i).filter(|(j, _)| coarse[*j] != FINE) {
            sums.add(coarse[j], value);
            sum += value;
        }
        if sum == 0.0 {
            for (j, value) in strong(i) {
                for (l, beyond) in strong(j).filter(|(l, _)| coarse[*l] != FINE) {
                    sums.add(coarse[l], value * beyond);
                    sum += value * beyond;
                }
            }
        }
        if sum == 0.0 { 0.0 } else { 1.0 / sum }
    })
}

/// Smoothed aggregation: piecewise constant interpolation smoothed by one ℓ1-Jacobi step with relaxation
/// factor 4/3 of the filtered matrix (weak couplings added to the diagonal), rows truncated to
/// `max_entries` entries.
///
/// # Errors
/// [`LinearError::TooLarge`] where it has too many entries.
pub(super) fn smoothed(
    loops: &Loops,
    a: &CsrMatrix<f64>,
    thresholds: &[f64],
    aggregates: &Aggregates,
    max_entries: usize,
) -> Result<CsrMatrix<f64>, LinearError> {
    from_rows(loops, [a.rows(), aggregates.count], max_entries, |sums, i| {
        let is_strong =
            |j: usize, value: f64| j != i && (-value >= thresholds[i] || -value >= thresholds[j]);
        let (mut diagonal, mut off_diagonal) = (0.0, 0.0);
        for (j, value) in a.row(i) {
            if is_strong(j, value) {
                off_diagonal += value.abs();
            } else {
                diagonal += value;
            }
        }
        let bound = diagonal.abs() + off_diagonal;
        let weight = if bound > 0.0 { 4.0 / 3.0 / bound } else { 0.0 };
        sums.add(aggregates.of[i], 1.0 - weight * diagonal);
        for (j, value) in a.row(i) {
            if is_strong(j, value) {
                sums.add(aggregates.of[j], -weight * value);
            }
        }
        1.0
    })
}

#[cfg(test)]
mod tests {
    use super::super::matching::aggregates;
    use super::super::pmis::pmis;
    use super::super::strength::thresholds;
    use super::*;
    use crate::testing::{diamond, neumann_2d};
    use karman_backend::testing::hosts;

    /// The diamond lattice with Neumann walls: row sums vanish.
    fn neumann_diamond(m: usize) -> CsrMatrix<f64> {
        let a = diamond(m);
        let mut entries = vec![];
        for r in 0..a.rows() {
            let off_diagonal: Vec<_> = a.row(r).filter(|(c, _)| *c != r).collect();
            let sum: f64 = off_diagonal.iter().map(|e| e.1).sum();
            entries.extend(off_diagonal.iter().map(|(c, v)| (r as u32, *c as u32, *v)));
            entries.push((r as u32, r as u32, -sum));
        }
        CsrMatrix::from_entries(a.rows(), a.rows(), entries).unwrap()
    }

    #[test]
    fn constants_are_interpolated_exactly() {
        for a in [neumann_2d(37), neumann_diamond(12)] {
            let t = thresholds(&Loops::ALONE, &a, 0.25).unwrap();
            let set = pmis(&Loops::ALONE, &a, &t).unwrap();
            let aggregates = aggregates(&Loops::ALONE, &a, 0.25, 2).unwrap();
            let all = [
                extended_i(&Loops::ALONE, &a, &t, &set, 100).unwrap(),
                extended_i(&Loops::ALONE, &a, &t, &set, 3).unwrap(),
                direct(&Loops::ALONE, &a, &t, &set).unwrap(),
                aggregates.piecewise_constant(),
                smoothed(&Loops::ALONE, &a, &t, &aggregates, 100).unwrap(),
                smoothed(&Loops::ALONE, &a, &t, &aggregates, 4).unwrap(),
            ];
            for (k, p) in all.iter().enumerate() {
                let ones = p.times(&vec![1.0; p.columns()]);
                let worst = ones.iter().map(|one| (one - 1.0).abs()).fold(0.0, f64::max);
                assert!(worst < 1e-14, "interpolation {k}: {worst}");
            }
            assert!((0..a.rows()).all(|r| all[1].row_length(r) <= 3));
            assert!((0..a.rows()).all(|r| all[5].row_length(r) <= 4));
        }
    }

    #[test]
    fn interpolations_do_not_depend_on_the_threads() {
        let a = diamond(15);
        let t = thresholds(&Loops::ALONE, &a, 0.25).unwrap();
        let set = pmis(&Loops::ALONE, &a, &t).unwrap();
        let mut all: Vec<_> = hosts()
            .iter()
            .map(|h| h.install(|| extended_i(&Loops::ALONE, &a, &t, &set, 3).unwrap()))
            .collect();
        all.dedup();
        assert_eq!(all.len(), 1);
    }

    #[test]
    fn weights_are_those_of_the_formula() {
        // A chain of five, coarse at both ends: 1 is coupled to 0, 2 to neither end directly.
        let mut entries = vec![];
        for i in 0..5u32 {
            entries.push((i, i, 2.0));
            if i < 4 {
                entries.extend([(i, i + 1, -1.0), (i + 1, i, -1.0)]);
            }
        }
        let a = CsrMatrix::from_entries(5, 5, entries).unwrap();
        let t = thresholds(&Loops::ALONE, &a, 0.25).unwrap();
        let set = Splitting::new([true, false, false, false, true].into_iter());
        let p = extended_i(&Loops::ALONE, &a, &t, &set, 9).unwrap();
        // Row 1: Ĉ = {0}; its fine neighbour 2 is coupled only to 1 of {0, 1}: ã = 2 − 1.
        assert_eq!(p.row(1).collect::<Vec<_>>(), [(0, 1.0)]);
        // Row 2: Ĉ = {0, 4}; 1 is coupled equally to 0 and 2: ã = 2 − ½ − ½, weights ½.
        assert_eq!(p.row(2).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
        let d = direct(&Loops::ALONE, &a, &t, &set).unwrap();
        assert_eq!(d.row(1).collect::<Vec<_>>(), [(0, 1.0)]);
        assert_eq!(d.row(2).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
    }
}
