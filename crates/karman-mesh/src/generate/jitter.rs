//! Displacement of interior nodes, determined by the seed on every machine.

use super::super::adjacency::CHUNK;
use super::super::raw::RawMesh;
use rayon::prelude::*;

/// The splitmix64 mixing of a counter (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195).
fn mixed(counter: u64) -> u64 {
    let mut z = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A uniformly distributed point of the unit ball (unit disc in 2D), determined by seed and node.
fn in_unit_ball(seed: u64, node: u64, dimension: usize) -> [f64; 3] {
    let stream = mixed(mixed(seed.wrapping_add(1)) ^ node);
    for attempt in 0u64.. {
        let mut place = [0.0; 3];
        for (k, value) in place.iter_mut().enumerate().take(dimension) {
            let bits = mixed(stream.wrapping_add(3 * attempt + k as u64 + 1)) >> 11;
            *value = 2.0 * (bits as f64 / (1u64 << 53) as f64) - 1.0;
        }
        if place.iter().map(|value| value * value).sum::<f64>() <= 1.0 {
            return place;
        }
    }
    [0.0; 3]
}

/// Moves every node that no boundary element uses by at most `jitter` times the spacing around it:
/// the displacement over the spacing is a point of a ball of that radius. On a grid of boxes no
/// corner of a cell inverts below 1/(2√3) ≈ 0.29, half the least distance between opposite edges of
/// the tetrahedra of a cube.
pub(super) fn displace_interior(
    mesh: &mut RawMesh,
    jitter: f64,
    seed: u64,
    spacing: impl Fn(usize) -> [f64; 3] + Sync,
) {
    if jitter == 0.0 {
        return;
    }
    let mut fixed = vec![false; mesh.points.len()];
    mesh.boundary.nodes.iter().for_each(|&node| fixed[node as usize] = true);
    let dimension = mesh.dimension;
    mesh.points.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(node, point)| {
        if !fixed[node] {
            let place = in_unit_ball(seed, node as u64, dimension);
            let size = spacing(node);
            *point = std::array::from_fn(|k| point[k] + jitter * size[k] * place[k]);
        }
    });
}

/// The smaller of the two spacings at a grid line.
pub(super) fn least_spacing(coordinates: &[f64], index: usize) -> f64 {
    let before = index.checked_sub(1).map(|i| coordinates[index] - coordinates[i]);
    let after = coordinates.get(index + 1).map(|next| next - coordinates[index]);
    before.into_iter().chain(after).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacements_are_uniform_in_the_ball_and_reproducible() {
        let n = 20_000;
        let mut mean = [0.0; 3];
        let mut square = 0.0;
        for node in 0..n {
            let place = in_unit_ball(7, node, 3);
            assert_eq!(place, in_unit_ball(7, node, 3));
            (0..3).for_each(|k| mean[k] += place[k] / n as f64);
            square += place.iter().map(|value| value * value).sum::<f64>() / n as f64;
        }
        // The mean of r² in a ball is 3/5; four standard deviations of each mean.
        assert!(mean.iter().all(|value| value.abs() < 4.0 * (0.2f64 / n as f64).sqrt()));
        assert!((square - 0.6).abs() < 4.0 * (0.07f64 / n as f64).sqrt());
        assert_ne!(in_unit_ball(7, 0, 3), in_unit_ball(8, 0, 3));
        assert_eq!(in_unit_ball(7, 5, 2)[2], 0.0);
    }
}
