//! Shared by tests of kernels: the backends to compare and inputs with planted zeros.
#![allow(clippy::unwrap_used)] // a test fails where a backend is missing

use super::{Backend, BackendKind};

/// Sizes at which every kernel is compared across backends: empty, one, around a plane and a block,
/// more than a chunk.
pub const SIZES: [usize; 6] = [0, 1, 31, 33, 1000, 70_001];

/// The host with 1, 2 and 7 threads.
pub fn hosts() -> Vec<Backend> {
    [1, 2, 7].map(|t| Backend::host(t).unwrap()).into()
}

/// Every device backend built in and present here. Without one, kernels are compared between thread
/// counts only; `KARMAN_REQUIRE_DEVICE` (set where tests are meant to reach a device) forbids that.
pub fn devices() -> Vec<Backend> {
    let found: Vec<Backend> = [BackendKind::Cuda, BackendKind::Wgpu]
        .into_iter()
        .filter_map(|kind| Backend::new(kind, 2).ok())
        .collect();
    let required = std::env::var_os("KARMAN_REQUIRE_DEVICE").is_some();
    assert!(!(required && found.is_empty()), "KARMAN_REQUIRE_DEVICE is set and no device opens");
    found
}

/// `n` reproducible values in [-1, 1), every seventh one zero.
pub fn values(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64)
        .map(|i| {
            let mut z =
                (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd1b5_4a32);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let v = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
            if i % 7 == 3 { 0.0 } else { v }
        })
        .collect()
}

/// The host with several thread counts, and every device.
pub fn everywhere() -> Vec<Backend> {
    hosts().into_iter().chain(devices()).collect()
}

/// Rounding of two sums of `n` terms of size `scale` taken in different orders: each is within
/// n ε Σ|x| / 2 of the truth at worst; a fixed-order sum of chunks stays within √n of it.
pub fn round_off(n: usize, scale: f64) -> f64 {
    let n = n as f64;
    n.sqrt().max(4.0) * n.max(1.0) * scale * f64::EPSILON
}
