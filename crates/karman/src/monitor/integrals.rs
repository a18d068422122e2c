//! Integrals over patches, and means and norms over the mesh. Sums run over chunks of fixed size
//! in order, so they do not depend on the number of threads.

use super::MonitorError;
use crate::mesh::{Geometry, Mesh};
use crate::summary::{ErrorSummary, FieldSummary};
use rayon::prelude::*;
use std::ops::Range;

/// Entities per chunk.
const CHUNK: usize = 4096;

/// Σ of each of the terms, over all entities.
fn sums<const N: usize>(n: usize, terms: impl Fn(usize) -> [f64; N] + Sync) -> [f64; N] {
    let starts: Vec<usize> = (0..n).step_by(CHUNK).collect();
    let partial_sums: Vec<[f64; N]> = starts
        .into_par_iter()
        .map(|first| {
            let mut sum = [0.0; N];
            for entity in first..(first + CHUNK).min(n) {
                let term = terms(entity);
                (0..N).for_each(|i| sum[i] += term[i]);
            }
            sum
        })
        .collect();
    let mut sum = [0.0; N];
    partial_sums.iter().for_each(|partial| (0..N).for_each(|i| sum[i] += partial[i]));
    sum
}

/// The boundary faces of a group of patches.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceGroup {
    /// Faces, in the numbering of the mesh.
    pub faces: Vec<Range<usize>>,
    /// Σ |S|, the length in 2D.
    pub area: f64,
}

impl FaceGroup {
    /// The faces of the patches of these names, each once.
    ///
    /// # Errors
    /// [`MonitorError::NoPatch`].
    pub fn new(
        mesh: &Mesh,
        geometry: &Geometry,
        name: &str,
        patches: &[String],
    ) -> Result<FaceGroup, MonitorError> {
        let mut faces = Vec::new();
        for patch in patches {
            let found =
                mesh.patches.iter().find(|known| known.name == *patch).ok_or_else(|| {
                    let known: Vec<&str> = mesh.patches.iter().map(|p| p.name.as_str()).collect();
                    let (group, patch) = (name.to_owned(), patch.clone());
                    MonitorError::NoPatch { group, patch, known: known.join(", ") }
                })?;
            if !faces.contains(&found.faces) {
                faces.push(found.faces.clone());
            }
        }
        let size = |face: usize| {
            let [x, y, z] = geometry.area_vector_of(face);
            (x * x + y * y + z * z).sqrt()
        };
        let of_range = |range: &Range<usize>| sums(range.len(), |i| [size(range.start + i)])[0];
        let area = faces.iter().map(of_range).sum();
        Ok(FaceGroup { faces, area })
    }
}

/// Volume mean, smallest and largest value; `volumes` and `values`: `[n]`. NaN if a value is NaN.
pub fn field_summary(volumes: &[f64], values: &[f64]) -> FieldSummary {
    let [volume, integral] = sums(values.len(), |i| [volumes[i], volumes[i] * values[i]]);
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    for &value in values {
        // f64::min ignores NaN.
        min = if value < min || value.is_nan() { value } else { min };
        max = if value > max || value.is_nan() { value } else { max };
    }
    FieldSummary { mean: integral / volume, min, max }
}

/// Norms of `values − exact`, each `[n]`; see [`ErrorSummary`].
pub fn error_norms(volumes: &[f64], values: &[f64], exact: &[f64]) -> ErrorSummary {
    let [volume, absolute, square] = sums(values.len(), |i| {
        let error = (values[i] - exact[i]).abs();
        [volumes[i], volumes[i] * error, volumes[i] * error * error]
    });
    let mut linf = 0.0;
    for (value, exact) in values.iter().zip(exact) {
        let error = (value - exact).abs();
        linf = if error > linf || error.is_nan() { error } else { linf };
    }
    ErrorSummary { l1: absolute / volume, l2: (square / volume).sqrt(), linf }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_norms_are_weighted_by_volume() {
        let volumes = [1.0, 3.0];
        let field = field_summary(&volumes, &[4.0, 8.0]);
        assert_eq!(field, FieldSummary { mean: 7.0, min: 4.0, max: 8.0 });
        let errors = error_norms(&volumes, &[4.0, 8.0], &[2.0, 8.0]);
        assert_eq!(errors, ErrorSummary { l1: 0.5, l2: 1.0, linf: 2.0 });
        let broken = field_summary(&volumes, &[1.0, f64::NAN]);
        assert!(broken.mean.is_nan() && broken.max.is_nan());
        assert!(error_norms(&volumes, &[f64::NAN, 1.0], &[0.0, 0.0]).linf.is_nan());
    }

    #[test]
    fn sums_do_not_depend_on_the_number_of_threads() {
        let n = 70_001;
        let values: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin() / (1.0 + i as f64)).collect();
        let sum = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| sums(n, |i| [values[i], 1.0]))
        };
        let [first, count] = sum(1);
        assert_eq!(count, n as f64);
        assert!([2, 7].into_iter().all(|threads| sum(threads)[0].to_bits() == first.to_bits()));
    }
}
