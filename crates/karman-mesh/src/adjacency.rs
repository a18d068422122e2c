//! Signed incidence lists in compressed form.

use rayon::prelude::*;

/// Set in an item of a signed [`Adjacency`] where the two orientations disagree: in `cell_to_faces`
/// where the face's normal points into the cell.
pub const SIGN_BIT: u32 = 1 << 31;

/// Rows that a task fills; fixed, so that results do not depend on the number of threads.
pub(crate) const CHUNK: usize = 4096;

/// The entity an item names, without its sign.
#[inline]
pub const fn index_of(item: u32) -> usize {
    (item & !SIGN_BIT) as usize
}

/// The sign of an item: −1 where [`SIGN_BIT`] is set, else +1.
#[inline]
pub const fn sign_of(item: u32) -> i32 {
    1 - 2 * (item >> 31) as i32
}

/// A map from entities to lists of entities: row i is `items[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjacency {
    /// Start of each row: `[n + 1]`, the first is 0.
    pub offsets: Vec<u32>,
    /// The rows one after the other, each item an index with an optional [`SIGN_BIT`].
    pub items: Vec<u32>,
}

impl Adjacency {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items of row `row`.
    #[inline]
    pub fn of(&self, row: usize) -> &[u32] {
        &self.items[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The transposed map, from `columns` targets to rows in ascending order; items keep their sign.
    pub fn transpose(&self, columns: usize) -> Adjacency {
        let mut offsets = vec![0u32; columns + 1];
        for &item in &self.items {
            offsets[index_of(item) + 1] += 1;
        }
        accumulate(&mut offsets);
        let mut items = vec![0u32; self.items.len()];
        for row in 0..self.len() {
            for &item in self.of(row) {
                let cursor = &mut offsets[index_of(item)];
                items[*cursor as usize] = row as u32 | (item & SIGN_BIT);
                *cursor += 1;
            }
        }
        // Each cursor has reached the start of the next row.
        offsets.rotate_right(1);
        offsets[0] = 0;
        Adjacency { offsets, items }
    }
}

/// Turns counts stored one place late (`[0, n_0, n_1, …]`) into offsets, in parallel: sums within chunks, then
/// the sum before each chunk.
pub(crate) fn accumulate(offsets: &mut [u32]) {
    let mut starts: Vec<u32> = offsets
        .par_chunks_mut(CHUNK)
        .map(|chunk| {
            let mut sum = 0;
            for offset in chunk {
                sum += *offset;
                *offset = sum;
            }
            sum
        })
        .collect();
    let mut sum = 0;
    for start in &mut starts {
        sum += std::mem::replace(start, sum);
    }
    offsets.par_chunks_mut(CHUNK).zip(starts).for_each(|(chunk, start)| {
        chunk.iter_mut().for_each(|offset| *offset += start);
    });
}

/// Offsets of `rows` rows whose lengths are given, in parallel: `[rows + 1]`.
pub fn offsets_of(rows: usize, length: impl Fn(usize) -> usize + Sync) -> Vec<u32> {
    let mut offsets = vec![0; rows + 1];
    let counts = offsets[1..].par_iter_mut().enumerate().with_min_len(CHUNK);
    counts.for_each(|(row, count)| *count = length(row) as u32);
    accumulate(&mut offsets);
    offsets
}

/// Calls `fill(row, items of the row)` for every row, in parallel.
pub fn fill_rows<T: Send>(offsets: &[u32], items: &mut [T], fill: impl Fn(usize, &mut [T]) + Sync) {
    fill_wide_rows(offsets, 1, items, fill);
}

/// As [`fill_rows`], of items of `width` numbers each.
pub fn fill_wide_rows<T: Send>(
    offsets: &[u32],
    width: usize,
    numbers: &mut [T],
    fill: impl Fn(usize, &mut [T]) + Sync,
) {
    let rows = offsets.len().saturating_sub(1);
    let length = |first: usize, last: usize| width * (offsets[last] - offsets[first]) as usize;
    let mut tasks = Vec::with_capacity(rows.div_ceil(CHUNK));
    let mut rest = numbers;
    for first in (0..rows).step_by(CHUNK) {
        let last = (first + CHUNK).min(rows);
        let (part, tail) = rest.split_at_mut(length(first, last));
        tasks.push((first..last, part));
        rest = tail;
    }
    tasks.into_par_iter().for_each(|(range, mut part)| {
        for row in range {
            let (items, tail) = part.split_at_mut(length(row, row + 1));
            fill(row, items);
            part = tail;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposing_keeps_the_sign_and_orders_the_rows() {
        let map = Adjacency { offsets: vec![0, 2, 2, 4], items: vec![1, 2 | SIGN_BIT, 1, 0] };
        let back = map.transpose(4);
        assert_eq!(back.offsets, vec![0, 1, 3, 4, 4]);
        assert_eq!(back.items, vec![2, 0, 2, SIGN_BIT]);
        assert_eq!(back.transpose(3).offsets, map.offsets);
        assert_eq!(sign_of(back.of(2)[0]), -1);
    }

    #[test]
    fn offsets_are_sums_of_lengths_across_chunks() {
        for rows in [0usize, 1, CHUNK - 1, CHUNK, 3 * CHUNK + 5] {
            let offsets = offsets_of(rows, |row| row % 7);
            assert_eq!(offsets[0], 0);
            assert!((0..rows).all(|row| offsets[row + 1] - offsets[row] == row as u32 % 7));
        }
    }

    #[test]
    fn rows_are_filled_whatever_their_number() {
        for rows in [0usize, 1, CHUNK, 2 * CHUNK + 3] {
            let offsets: Vec<u32> = (0..=rows as u32).map(|i| 2 * i).collect();
            let mut items = vec![0usize; 2 * rows];
            fill_rows(&offsets, &mut items, |row, items| items.fill(row));
            assert!(items.iter().enumerate().all(|(i, &row)| row == i / 2));
            let mut wide = vec![0usize; 3 * items.len()];
            fill_wide_rows(&offsets, 3, &mut wide, |row, numbers| numbers.fill(row));
            assert!(wide.iter().enumerate().all(|(i, &row)| row == i / 6));
        }
    }
}
