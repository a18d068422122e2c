//! Greedy colouring of a matrix's graph in smallest-degree-last order (Matula & Beck, J. ACM 30
//! (1983) 417): rows of one colour do not depend on each other.

use super::CsrMatrix;
use karman_backend::real::Real;

/// Rows by colour. Rows of one colour are not neighbours in the graph; a row of colour c has a neighbour
/// of every smaller colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colouring {
    /// Colour of each row: `[rows]`.
    pub colour_of: Vec<u32>,
    /// Where colours begin in `rows`: [colours + 1].
    pub offsets: Vec<usize>,
    /// Rows by colour, ascending within one: `[rows]`.
    pub rows: Vec<u32>,
}

impl Colouring {
    /// Colours the graph of the pattern of A + Aᵀ. O(entries).
    pub fn of<T: Real>(matrix: &CsrMatrix<T>) -> Colouring {
        let transposed = matrix.transposed();
        let graph = Graph { matrix, transposed: &transposed };
        let order = graph.smallest_degree_last();
        let mut colour_of = vec![u32::MAX; matrix.rows()];
        let mut taken_by: Vec<usize> = vec![];
        for (turn, row) in order.into_iter().enumerate() {
            graph.neighbours(row, |other| {
                if let Some(taken) = taken_by.get_mut(colour_of[other] as usize) {
                    *taken = turn + 1;
                }
            });
            let free = taken_by.iter().position(|t| *t != turn + 1).unwrap_or(taken_by.len());
            if free == taken_by.len() {
                taken_by.push(0);
            }
            colour_of[row] = free as u32;
        }
        Self::sorted(colour_of, taken_by.len())
    }

    fn sorted(colour_of: Vec<u32>, colours: usize) -> Colouring {
        let mut offsets = vec![0; colours + 1];
        for c in &colour_of {
            offsets[*c as usize + 1] += 1;
        }
        for c in 0..colours {
            offsets[c + 1] += offsets[c];
        }
        let mut next = offsets.clone();
        let mut rows = vec![0; colour_of.len()];
        for (row, c) in colour_of.iter().enumerate() {
            rows[next[*c as usize]] = row as u32;
            next[*c as usize] += 1;
        }
        Colouring { colour_of, offsets, rows }
    }

    /// Number of colours.
    pub fn colours(&self) -> usize {
        self.offsets.len() - 1
    }
}

struct Graph<'a, T> {
    matrix: &'a CsrMatrix<T>,
    transposed: &'a CsrMatrix<T>,
}

impl<T: Real> Graph<'_, T> {
    /// Calls `visit` for each neighbour of `row`, for some twice.
    fn neighbours(&self, row: usize, mut visit: impl FnMut(usize)) {
        let of = |m: &CsrMatrix<T>| m.offsets()[row] as usize..m.offsets()[row + 1] as usize;
        let own = &self.matrix.column_indices()[of(self.matrix)];
        let theirs = &self.transposed.column_indices()[of(self.transposed)];
        own.iter().map(|c| *c as usize).filter(|c| *c != row).for_each(&mut visit);
        if own != theirs {
            theirs.iter().map(|c| *c as usize).filter(|c| *c != row).for_each(visit);
        }
    }

    /// The order of colouring: the reverse of removing a row of smallest remaining degree, with rows in
    /// bins by degree (Batagelj & Zaveršnik 2003).
    fn smallest_degree_last(&self) -> Vec<usize> {
        let n = self.matrix.rows();
        let mut degree = vec![0; n];
        for (row, d) in degree.iter_mut().enumerate() {
            self.neighbours(row, |_| *d += 1);
        }
        let largest = degree.iter().copied().max().unwrap_or(0);
        let mut bin = vec![0; largest + 2];
        degree.iter().for_each(|d| bin[d + 1] += 1);
        for d in 0..=largest {
            bin[d + 1] += bin[d];
        }
        let mut order = vec![0; n];
        let mut place = vec![0; n];
        let mut next = bin.clone();
        for row in 0..n {
            place[row] = next[degree[row]];
            order[place[row]] = row;
            next[degree[row]] += 1;
        }
        for turn in 0..n {
            let row = order[turn];
            self.neighbours(row, |other| {
                if degree[other] > degree[row] {
                    // To the front of its bin, whose front moves on: one bin down.
                    let d = degree[other];
                    let front = bin[d].max(turn + 1);
                    let there = order[front];
                    order.swap(place[other], front);
                    place[there] = place[other];
                    place[other] = front;
                    bin[d] = front + 1;
                    degree[other] -= 1;
                }
            });
        }
        order.reverse();
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{poisson_2d, poisson_3d, scattered};

    fn check(a: &CsrMatrix<f64>) -> Colouring {
        let c = Colouring::of(a);
        assert_eq!(c.rows.len(), a.rows());
        let mut seen = vec![false; a.rows()];
        c.rows.iter().for_each(|r| seen[*r as usize] = true);
        assert!(seen.into_iter().all(|s| s));
        for row in 0..a.rows() {
            for (column, _) in a.row(row) {
                assert!(row == column || c.colour_of[row] != c.colour_of[column]);
            }
        }
        c
    }

    #[test]
    fn neighbours_have_different_colours_and_grids_few() {
        assert_eq!(check(&poisson_2d(30)).colours(), 2);
        assert_eq!(check(&poisson_3d(10)).colours(), 2);
        assert!(check(&scattered(3000)).colours() <= 8);
        assert_eq!(check(&CsrMatrix::from_entries(0, 0, vec![]).unwrap()).colours(), 0);
        let diagonal = (0..5).map(|r| (r, r, 1.0)).collect();
        assert_eq!(check(&CsrMatrix::from_entries(5, 5, diagonal).unwrap()).colours(), 1);
    }

    #[test]
    fn a_wheel_with_an_odd_rim_takes_four_colours() {
        let mut entries = vec![];
        for i in 0..7u32 {
            entries.extend([(i, (i + 1) % 7, 1.0), ((i + 1) % 7, i, 1.0)]);
            entries.extend([(i, 7, 1.0), (7, i, 1.0), (i, i, 1.0)]);
        }
        entries.push((7, 7, 1.0));
        assert_eq!(check(&CsrMatrix::from_entries(8, 8, entries).unwrap()).colours(), 4);
    }

    #[test]
    fn a_triangular_pattern_is_coloured_both_ways() {
        let entries = (0..20u32).flat_map(|r| (0..=r.min(2)).map(move |k| (r, r - k, 1.0)));
        let c = check(&CsrMatrix::from_entries(20, 20, entries.collect()).unwrap());
        assert_eq!(c.colours(), 3);
    }
}
