//! Sets of entity numbers that know the place of each in ascending order.

use super::half_faces::NONE;
use rayon::prelude::*;

/// Words of a page, 64 numbers each.
const WORDS: usize = 8;
const PAGE: usize = 64 * WORDS;

/// A set of numbers of entities. Memory: 68 bytes for each 512 consecutive numbers of which one is in the set, 4 for the others
/// up to the largest.
#[derive(Default)]
pub(crate) struct EntitySet {
    /// The page of each 512 numbers, or [`NONE`].
    pages: Vec<u32>,
    /// One bit a number.
    bits: Vec<[u64; WORDS]>,
    /// Numbers of the set below those of each page.
    first: Vec<u32>,
}

impl EntitySet {
    /// The set of some numbers, in any order and any number of times.
    pub(crate) fn of(numbers: impl ParallelIterator<Item = u32>) -> EntitySet {
        let with = |mut set: EntitySet, number| {
            set.insert(number);
            set
        };
        // A union does not depend on the order.
        #[allow(clippy::disallowed_methods)]
        let mut all =
            numbers.fold(EntitySet::default, with).reduce(EntitySet::default, EntitySet::united);
        all.count();
        all
    }

    /// The bits of a page, which is added where it is missing.
    fn page(&mut self, page: usize) -> &mut [u64; WORDS] {
        if page >= self.pages.len() {
            self.pages.resize(page + 1, NONE);
        }
        if self.pages[page] == NONE {
            self.pages[page] = self.bits.len() as u32;
            self.bits.push([0; WORDS]);
        }
        &mut self.bits[self.pages[page] as usize]
    }

    fn insert(&mut self, number: u32) {
        let bit = number as usize % PAGE;
        self.page(number as usize / PAGE)[bit / 64] |= 1 << (bit % 64);
    }

    /// The numbers of two sets.
    fn united(self, other: EntitySet) -> EntitySet {
        let (mut all, smaller) =
            if self.bits.len() < other.bits.len() { (other, self) } else { (self, other) };
        for (page, place) in smaller.pages.iter().enumerate().filter(|(_, place)| **place != NONE) {
            let words = all.page(page).iter_mut().zip(&smaller.bits[*place as usize]);
            words.for_each(|(word, of_smaller)| *word |= of_smaller);
        }
        all
    }

    fn count(&mut self) {
        self.first = vec![0; self.bits.len()];
        let mut count = 0;
        for page in self.pages.iter().filter(|page| **page != NONE) {
            self.first[*page as usize] = count;
            count += self.bits[*page as usize].iter().map(|word| word.count_ones()).sum::<u32>();
        }
    }

    /// The page of a number, its word there and its bit; none where the set does not have it.
    fn found(&self, number: u32) -> Option<(usize, usize, u64)> {
        let page = self.pages.get(number as usize / PAGE).copied().filter(|page| *page != NONE)?;
        let (word, bit) = (number as usize % PAGE / 64, 1u64 << (number % 64));
        let has_bit = self.bits[page as usize][word] & bit != 0;
        has_bit.then_some((page as usize, word, bit))
    }

    /// How many numbers of the set are below `number`; none where it is not in the set.
    pub(crate) fn place(&self, number: u32) -> Option<u32> {
        let (page, word, bit) = self.found(number)?;
        let bits = &self.bits[page];
        let before: u32 = bits[..word].iter().map(|word| word.count_ones()).sum();
        Some(self.first[page] + before + (bits[word] & (bit - 1)).count_ones())
    }

    /// Whether a number is in the set.
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.found(number).is_some()
    }

    /// The numbers, ascending.
    pub(crate) fn to_vec(&self) -> Vec<u32> {
        let pages = self.pages.par_iter().enumerate().filter(|(_, place)| **place != NONE);
        let numbers = pages.flat_map_iter(|(page, place)| {
            let words = self.bits[*place as usize].iter().enumerate();
            words.flat_map(move |(word, bits)| {
                let first = (page * PAGE + word * 64) as u32;
                (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| first + bit)
            })
        });
        numbers.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn places_are_those_of_a_sorted_list() {
        let numbers: Vec<u32> =
            (0..4000u32).map(|i| i.wrapping_mul(2_654_435_761) % 9001).collect();
        let sorted: Vec<u32> = BTreeSet::from_iter(numbers.iter().copied()).into_iter().collect();
        let set = EntitySet::of(numbers.into_par_iter());
        assert_eq!(set.to_vec(), sorted);
        for number in 0..9100 {
            let expected = sorted.binary_search(&number).ok().map(|place| place as u32);
            assert_eq!(set.place(number), expected, "{number}");
        }
        assert_eq!(EntitySet::of([].into_par_iter()).place(0), None);
    }
}
