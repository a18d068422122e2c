//! Sets of entity numbers that know the place of each in ascending order.

use super::half_faces::NONE;

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
    fn insert(&mut self, number: u32) {
        let page = number as usize / PAGE;
        if page >= self.pages.len() {
            self.pages.resize(page + 1, NONE);
        }
        if self.pages[page] == NONE {
            self.pages[page] = self.bits.len() as u32;
            self.bits.push([0; WORDS]);
        }
        let bit = number as usize % PAGE;
        self.bits[self.pages[page] as usize][bit / 64] |= 1 << (bit % 64);
    }

    fn count(&mut self) {
        self.first = vec![0; self.bits.len()];
        let mut count = 0;
        for page in self.pages.iter().filter(|page| **page != NONE) {
            self.first[*page as usize] = count;
            count += self.bits[*page as usize].iter().map(|word| word.count_ones()).sum::<u32>();
        }
    }

    /// How many numbers of the set are below `number`; none where it is not in the set.
    pub(crate) fn place(&self, number: u32) -> Option<u32> {
        let page = self.pages.get(number as usize / PAGE).copied().filter(|page| *page != NONE)?;
        let bits = &self.bits[page as usize];
        let (word, bit) = (number as usize % PAGE / 64, 1u64 << (number % 64));
        if bits[word] & bit == 0 {
            return None;
        }
        let before: u32 = bits[..word].iter().map(|word| word.count_ones()).sum();
        Some(self.first[page as usize] + before + (bits[word] & (bit - 1)).count_ones())
    }

    /// The numbers, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let pages = self.pages.iter().enumerate().filter(|(_, page)| **page != NONE);
        pages.flat_map(|(number, page)| {
            let words = self.bits[*page as usize].iter().enumerate();
            words.flat_map(move |(word, bits)| {
                let first = (number * PAGE + word * 64) as u32;
                (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| first + bit)
            })
        })
    }
}

impl FromIterator<u32> for EntitySet {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> EntitySet {
        let mut set = EntitySet::default();
        numbers.into_iter().for_each(|number| set.insert(number));
        set.count();
        set
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
        let set = EntitySet::from_iter(numbers);
        assert!(set.iter().eq(sorted.iter().copied()));
        for number in 0..9100 {
            let expected = sorted.binary_search(&number).ok().map(|place| place as u32);
            assert_eq!(set.place(number), expected, "{number}");
        }
        assert_eq!(EntitySet::from_iter([]).place(0), None);
    }
}
