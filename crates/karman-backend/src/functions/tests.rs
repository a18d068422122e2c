//! Accuracy against the standard library, special values, and equality on every backend.

use super::*;
use crate::testing::{devices, everywhere};
use crate::{Backend, View};

const NAMES: [&str; 8] = ["exp", "ln", "sin", "cos", "tan", "tanh", "pow", "floor"];

/// Largest errors in ulp, with a compiler free to contract products and sums.
const OWN_ERROR: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 2.2, 2.5, 1.1, 0.0];
/// The errors that the GNU C library states for its own; its tanh is no better than ours.
const LIBRARY_ERROR: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 0.0];

/// Function number `which` at x (and y).
#[kernel(out(result))]
fn apply<F: Real>(i: usize, which: u32, x: &View<F>, y: &View<F>) -> F {
    let mut result = x[i];
    if which == 0 {
        result = exponential::<F>(x[i]);
    } else if which == 1 {
        result = logarithm::<F>(x[i]);
    } else if which == 2 {
        result = sine::<F>(x[i]);
    } else if which == 3 {
        result = cosine::<F>(x[i]);
    } else if which == 4 {
        result = tangent::<F>(x[i]);
    } else if which == 5 {
        result = hyperbolic_tangent::<F>(x[i]);
    } else if which == 6 {
        result = power::<F>(x[i], y[i]);
    } else if which == 7 {
        result = floor::<F>(x[i]);
    }
    result
}

/// xⁿ with its own exponent for each entity.
#[kernel(out(result))]
fn apply_integer_power<F: Real>(i: usize, x: &View<F>, n: &View<i32>) -> F {
    integer_power::<F>(x[i], n[i])
}

fn of_standard_library(which: u32, x: f64, y: f64) -> f64 {
    match which {
        0 => x.exp(),
        1 => x.ln(),
        2 => x.sin(),
        3 => x.cos(),
        4 => x.tan(),
        5 => x.tanh(),
        6 => x.powf(y),
        _ => x.floor(),
    }
}

fn computed<F: Real>(backend: &Backend, which: u32, x: &[F], y: &[F]) -> Vec<F> {
    let mut result = backend.zeros(x.len());
    let (x, y) = (backend.upload_slice(x), backend.upload_slice(y));
    apply(backend, x.len(), which, &x, &y, &mut result);
    backend.read(&result).unwrap()
}

/// Samples of [a, b], denser near the ends of smaller magnitude where `geometric`.
fn spread(a: f64, b: f64, count: usize, geometric: bool) -> impl Iterator<Item = f64> {
    (0..count).map(move |i| {
        let part = (i as f64 + 0.37) / count as f64;
        if geometric { a.powf(1.0 - part) * b.powf(part) } else { a + (b - a) * part }
    })
}

/// Where users evaluate each function, signs and magnitudes mixed.
fn samples(which: u32, count: usize) -> (Vec<f64>, Vec<f64>) {
    let both = |v: f64| [v, -v];
    let x: Vec<f64> = match which {
        0 => spread(-708.0, 709.0, count, false)
            .chain(spread(1e-20, 1.0, count, true).flat_map(both))
            .collect(),
        1 => spread(2.3e-308, 1.7e308, count, true)
            .chain(spread(0.5, 2.0, count, false))
            .chain(spread(1e-16, 1e-2, count, true).flat_map(|v| [1.0 + v, 1.0 - v]))
            .collect(),
        2..=4 => spread(1e-20, 1e5, count, true)
            .chain(spread(0.0, 1e5, count, false))
            .chain(spread(0.0, 7.0, count, false))
            .chain((1..count).map(|k| k as f64 * std::f64::consts::FRAC_PI_2))
            .flat_map(both)
            .collect(),
        5 => spread(1e-20, 30.0, count, true)
            .chain(spread(0.0, 2.0, count, false))
            .flat_map(both)
            .collect(),
        6 => spread(1e-12, 1e12, count, true)
            .chain(spread(0.9, 1.1, count, false))
            .chain(spread(1.0, 2.0, count, false))
            .collect(),
        _ => spread(1e-3, 1e18, count, true)
            .flat_map(both)
            .chain((-50..50).map(|k| f64::from(k) * 0.5))
            .collect(),
    };
    let y = x.iter().enumerate().map(|(i, x)| {
        let largest = 690.0 / x.ln().abs().max(1e-3);
        let part = (i as f64 * 0.618_033_988_749_895).fract() * 2.0 - 1.0;
        largest * part * part * part
    });
    let y = y.collect();
    (x, y)
}

/// Distance in units in the last place of `want`.
fn ulp(got: f64, want: f64) -> f64 {
    if got == want || (got.is_nan() && want.is_nan()) {
        return 0.0;
    }
    let unit = (want.abs().next_up() - want.abs()).max(f64::MIN_POSITIVE * f64::EPSILON);
    (got - want).abs() / unit
}

fn ulp_of_single(got: f32, want: f32) -> f64 {
    if got == want || (got.is_nan() && want.is_nan()) {
        return 0.0;
    }
    let unit = want.abs().next_up() - want.abs();
    f64::from((got - want).abs() / unit)
}

#[test]
fn double_precision_is_within_units_of_the_standard_library_everywhere() {
    for backend in everywhere() {
        for which in 0..8 {
            let count = if backend.device().is_some() { 5_000 } else { 50_000 };
            let (x, y) = samples(which, count);
            let mut worst = (0.0, 0.0, 0.0);
            for ((got, &x), &y) in computed(&backend, which, &x, &y).iter().zip(&x).zip(&y) {
                let distance = ulp(*got, of_standard_library(which, x, y));
                if distance > worst.0 || distance.is_nan() {
                    worst = (distance, x, y);
                }
            }
            let name = NAMES[which as usize];
            let limit = OWN_ERROR[which as usize] + LIBRARY_ERROR[which as usize];
            assert!(worst.0 <= limit, "{backend:?} {name}: ulp, x, y = {worst:?}");
        }
    }
}

#[test]
fn single_precision_is_within_one_unit_everywhere() {
    for backend in everywhere() {
        for which in 0..8 {
            let (x, y) = samples(which, 3_000);
            let inside = |v: &f64| (1e-30..1e30).contains(&v.abs());
            let kept = x.iter().zip(&y).filter(|(x, y)| {
                inside(x) && inside(y) && inside(&of_standard_library(which, **x, **y))
            });
            let (x, y): (Vec<f32>, Vec<f32>) = kept.map(|(x, y)| (*x as f32, *y as f32)).unzip();
            assert!(x.len() > 1000);
            for ((got, &x), &y) in computed(&backend, which, &x, &y).iter().zip(&x).zip(&y) {
                let want = of_standard_library(which, f64::from(x), f64::from(y)) as f32;
                let distance = ulp_of_single(*got, want);
                let name = NAMES[which as usize];
                assert!(distance <= 1.0, "{backend:?} {name}({x}, {y}) = {got}, not {want}");
            }
        }
    }
}

#[test]
fn devices_agree_with_the_host() {
    let host = Backend::host(1).unwrap();
    for device in devices() {
        for which in 0..8 {
            let (x, y) = samples(which, 2_000);
            let on_host = computed(&host, which, &x, &y);
            for (k, got) in computed(&device, which, &x, &y).iter().enumerate() {
                let name = NAMES[which as usize];
                assert!(ulp(*got, on_host[k]) <= 2.0, "{device:?} {name}({}, {})", x[k], y[k]);
            }
        }
    }
}

#[test]
fn special_values() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let big = 1e300;
    let lists: [&[(f64, f64)]; 8] = [
        &[(0.0, 0.0), (710.0, 0.0), (inf, 0.0), (-800.0, 0.0), (-inf, 0.0), (nan, 0.0)],
        &[(0.0, 0.0), (-1.0, 0.0), (-big, 0.0), (1.0, 0.0), (inf, 0.0), (nan, 0.0)],
        &[(0.0, 0.0), (inf, 0.0), (-inf, 0.0), (nan, 0.0)],
        &[(0.0, 0.0), (inf, 0.0), (-inf, 0.0), (nan, 0.0)],
        &[(0.0, 0.0), (inf, 0.0), (-inf, 0.0), (nan, 0.0)],
        &[(0.0, 0.0), (inf, 0.0), (-inf, 0.0), (big, 0.0), (-40.0, 0.0), (nan, 0.0)],
        &[
            (0.0, 2.0),
            (0.0, 0.5),
            (0.0, -1.0),
            (0.0, 0.0),
            (nan, 0.0),
            (1.0, nan),
            (nan, 1.0),
            (2.0, nan),
            (0.0, nan),
            (-2.0, 3.0),
            (-2.0, -2.0),
            (-2.0, 0.5),
            (-2.0, 9007199254740992.0),
            (-1.0, 1e300),
            (-1.0, inf),
            (-1.5, 101.0),
            (2.0, inf),
            (2.0, -inf),
            (0.5, inf),
            (0.5, -inf),
            (inf, 0.5),
            (inf, -2.0),
            (-inf, 3.0),
            (-inf, 2.0),
            (-inf, 0.5),
            (10.0, 400.0),
            (10.0, -400.0),
            (1.0 + f64::EPSILON, 1e17),
            (1.0 - f64::EPSILON, 1e300),
            (big, big),
        ],
        &[(0.0, 0.0), (inf, 0.0), (-inf, 0.0), (-0.5, 0.0), (1e17, 0.0), (nan, 0.0)],
    ];
    for backend in everywhere() {
        for (which, list) in lists.iter().enumerate() {
            let (x, y): (Vec<f64>, Vec<f64>) = list.iter().copied().unzip();
            let got = computed(&backend, which as u32, &x, &y);
            for ((x, y), got) in list.iter().zip(got) {
                let want = of_standard_library(which as u32, *x, *y);
                let name = NAMES[which];
                assert!(ulp(got, want) <= 2.0, "{backend:?} {name}({x}, {y}) = {got} not {want}");
            }
        }
    }
}

#[test]
fn small_results_underflow_gradually_on_the_host() {
    for x in spread(-746.0, -708.0, 10_000, false) {
        assert!(ulp(exponential(x), x.exp()) <= 1.0, "{x}");
    }
    for x in spread(5e-324, 2e-308, 10_000, true) {
        assert!(ulp(logarithm(x), x.ln()) <= 1.0, "{x}");
        assert!(ulp(power(x, 0.5), x.sqrt()) <= 1.0, "{x}");
    }
}

#[test]
fn angles_far_out_stay_bounded() {
    for x in spread(1e5, 1e300, 10_000, true) {
        let (s, c) = (sine(x), cosine(x));
        assert!(s.abs() <= 1.0 && c.abs() <= 1.0, "{x} {s} {c}");
        if x < 1e15 {
            assert!((s - x.sin()).abs() <= 2.0 * f64::EPSILON * (x + 1.0), "{x}");
        }
    }
}

#[test]
fn integer_powers_are_products() {
    let exponents: Vec<i32> = (-64..=64).chain([i32::MIN, i32::MAX]).collect();
    let bases = [1.0, -1.5, 0.75, 3.0, -0.1, 0.0];
    for backend in everywhere() {
        for base in bases {
            let x = backend.upload(vec![base; exponents.len()]);
            let n = backend.upload_slice(&exponents);
            let mut result = backend.zeros::<f64>(exponents.len());
            apply_integer_power(&backend, exponents.len(), &x, &n, &mut result);
            for (got, n) in backend.read(&result).unwrap().iter().zip(&exponents) {
                let want = base.powi(*n);
                assert!(ulp(*got, want) <= 64.0, "{backend:?} {base}^{n} = {got} not {want}");
            }
        }
    }
}
