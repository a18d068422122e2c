//! A hash for breaking ties, equal on every machine.

use karman_backend::prelude::*;

/// A permutation of 32-bit numbers without a pattern, for breaking ties: four rounds of a Feistel
/// network, none of whose products exceeds 32 bits.
#[device]
#[inline(always)]
pub(super) fn hash(number: u32) -> u32 {
    let mut low = number & 0xffffu32;
    let mut high = number >> 16u32;
    for round in 0..4u32 {
        let mixed = low * 40_503u32 + 51_749u32 + round;
        let next = high ^ ((mixed >> 7u32) & 0xffffu32);
        high = low;
        low = next;
    }
    (high << 16u32) | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_numbers_have_hashes_without_order() {
        let n = 1 << 16;
        let mut all: Vec<u32> = (0..n).map(hash).collect();
        let rises = all.windows(2).filter(|w| w[0] < w[1]).count() as f64 / f64::from(n);
        assert!((rises - 0.5).abs() < 0.01, "{rises}");
        // Of three random numbers the middle one is the largest in a third of all cases.
        let peaks = all.windows(3).filter(|w| w[0] < w[1] && w[2] < w[1]).count();
        let peaks = peaks as f64 / f64::from(n);
        assert!((peaks - 1.0 / 3.0).abs() < 0.01, "{peaks}");
        let high = all.iter().map(|h| f64::from(*h) / f64::from(u32::MAX)).sum::<f64>();
        assert!((high / f64::from(n) - 0.5).abs() < 0.01, "{high}");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n as usize);
    }
}
