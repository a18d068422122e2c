//! Metrics: symmetric positive definite tensors that prescribe the length of an edge in each direction.
//!
//! An edge v has the length √(vᵀ M v) in the metric M = Σ hᵢ⁻² eᵢ eᵢᵀ, where hᵢ is the prescribed size in the direction eᵢ.
//! In 2D the third direction has the size 1, so that determinants, logarithms and lengths are those of the plane.

/// A symmetric tensor of order 3: a metric, or the logarithm of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// Entry (1, 1).
    pub xx: f64,
    /// Entry (1, 2).
    pub xy: f64,
    /// Entry (1, 3).
    pub xz: f64,
    /// Entry (2, 2).
    pub yy: f64,
    /// Entry (2, 3).
    pub yz: f64,
    /// Entry (3, 3).
    pub zz: f64,
}

/// Eigenvalues of a tensor and its eigenvectors, orthonormal, in the same order.
#[derive(Clone, Copy, Debug)]
pub struct Eigen {
    /// The eigenvalues.
    pub values: [f64; 3],
    /// The eigenvectors.
    pub vectors: [[f64; 3]; 3],
}

impl Metric {
    /// The metric of the Euclidean length.
    pub const IDENTITY: Metric = Metric { xx: 1.0, xy: 0.0, xz: 0.0, yy: 1.0, yz: 0.0, zz: 1.0 };
    /// The tensor 0.
    pub const ZERO: Metric = Metric { xx: 0.0, xy: 0.0, xz: 0.0, yy: 0.0, yz: 0.0, zz: 0.0 };

    /// The metric of the size `h` in every direction of a space of `dimension`.
    pub fn isotropic(h: f64, dimension: usize) -> Metric {
        let value = 1.0 / (h * h);
        let last = if dimension == 2 { 1.0 } else { value };
        Metric { xx: value, yy: value, zz: last, ..Metric::ZERO }
    }

    /// Σ λᵢ eᵢ eᵢᵀ.
    pub fn from_eigen(eigen: &Eigen) -> Metric {
        let entry = |i: usize, j: usize| {
            let term = |k: usize| eigen.values[k] * eigen.vectors[k][i] * eigen.vectors[k][j];
            term(0) + term(1) + term(2)
        };
        Metric {
            xx: entry(0, 0),
            xy: entry(0, 1),
            xz: entry(0, 2),
            yy: entry(1, 1),
            yz: entry(1, 2),
            zz: entry(2, 2),
        }
    }

    /// M v.
    #[inline]
    pub fn apply(&self, v: [f64; 3]) -> [f64; 3] {
        [
            self.xx * v[0] + self.xy * v[1] + self.xz * v[2],
            self.xy * v[0] + self.yy * v[1] + self.yz * v[2],
            self.xz * v[0] + self.yz * v[1] + self.zz * v[2],
        ]
    }

    /// vᵀ M v, the squared length of v.
    #[inline]
    pub fn squared_length(&self, v: [f64; 3]) -> f64 {
        self.xx * v[0] * v[0]
            + self.yy * v[1] * v[1]
            + self.zz * v[2] * v[2]
            + 2.0 * (self.xy * v[0] * v[1] + self.xz * v[0] * v[2] + self.yz * v[1] * v[2])
    }

    /// det M.
    #[inline]
    pub fn determinant(&self) -> f64 {
        self.xx * (self.yy * self.zz - self.yz * self.yz)
            - self.xy * (self.xy * self.zz - self.yz * self.xz)
            + self.xz * (self.xy * self.yz - self.yy * self.xz)
    }

    /// M⁻¹ by cofactors; the determinant must not vanish.
    #[inline]
    pub fn inverse(&self) -> Metric {
        let scale = 1.0 / self.determinant();
        Metric {
            xx: (self.yy * self.zz - self.yz * self.yz) * scale,
            xy: (self.xz * self.yz - self.xy * self.zz) * scale,
            xz: (self.xy * self.yz - self.xz * self.yy) * scale,
            yy: (self.xx * self.zz - self.xz * self.xz) * scale,
            yz: (self.xy * self.xz - self.xx * self.yz) * scale,
            zz: (self.xx * self.yy - self.xy * self.xy) * scale,
        }
    }

    /// The entries as rows xx xy xz yy yz zz.
    pub fn entries(&self) -> [f64; 6] {
        [self.xx, self.xy, self.xz, self.yy, self.yz, self.zz]
    }

    /// The tensor of these entries, in the order of [`Metric::entries`].
    pub fn from_entries(e: [f64; 6]) -> Metric {
        Metric { xx: e[0], xy: e[1], xz: e[2], yy: e[3], yz: e[4], zz: e[5] }
    }

    /// The tensor of its upper triangle by rows: xx xy yy in a plane, else as [`Metric::entries`].
    pub fn of_upper_triangle(dimension: usize, entry: impl Fn(usize) -> f64) -> Metric {
        match dimension {
            2 => Metric { xx: entry(0), xy: entry(1), yy: entry(2), zz: 1.0, ..Metric::ZERO },
            _ => Metric::from_entries([0, 1, 2, 3, 4, 5].map(entry)),
        }
    }

    /// w M.
    #[inline]
    pub fn scale(&self, w: f64) -> Metric {
        Metric::from_entries(self.entries().map(|entry| entry * w))
    }

    /// The sum of two tensors.
    #[inline]
    pub fn add(&self, other: &Metric) -> Metric {
        let (mut sum, terms) = (self.entries(), other.entries());
        sum.iter_mut().zip(terms).for_each(|(entry, term)| *entry += term);
        Metric::from_entries(sum)
    }

    /// Eigenvalues and eigenvectors by cyclic Jacobi rotations (Golub & Van Loan, *Matrix Computations*, 8.5).
    pub fn eigen(&self) -> Eigen {
        let mut a =
            [[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]];
        let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for _ in 0..60 {
            let mut rotated = false;
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                if a[p][q].abs() <= 1e-17 * (a[p][p].abs() * a[q][q].abs()).sqrt() || a[p][q] == 0.0
                {
                    a[p][q] = 0.0;
                    a[q][p] = 0.0;
                    continue;
                }
                rotated = true;
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                let apq = a[p][q];
                a[p][p] -= t * apq;
                a[q][q] += t * apq;
                a[p][q] = 0.0;
                a[q][p] = 0.0;
                let r = 3 - p - q;
                let (arp, arq) = (a[r][p], a[r][q]);
                a[r][p] = c * arp - s * arq;
                a[p][r] = a[r][p];
                a[r][q] = s * arp + c * arq;
                a[q][r] = a[r][q];
                for row in &mut v {
                    let (vp, vq) = (row[p], row[q]);
                    row[p] = c * vp - s * vq;
                    row[q] = s * vp + c * vq;
                }
            }
            if !rotated {
                break;
            }
        }
        let vector = |k: usize| [v[0][k], v[1][k], v[2][k]];
        Eigen { values: [a[0][0], a[1][1], a[2][2]], vectors: [vector(0), vector(1), vector(2)] }
    }

    /// The tensor with the same eigenvectors and the eigenvalues f(λᵢ).
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Metric {
        let mut eigen = self.eigen();
        eigen.values = eigen.values.map(f);
        Metric::from_eigen(&eigen)
    }

    /// ln M of a positive definite tensor.
    pub fn logarithm(&self) -> Metric {
        self.map(f64::ln)
    }

    /// exp M.
    pub fn exponential(&self) -> Metric {
        self.map(f64::exp)
    }

    /// Whether every entry is finite and every pivot of M = L D Lᵀ positive. Pivots have the rounding error of the
    /// largest entry; minors have that of its square and its cube and fail on metrics of high anisotropy.
    pub fn is_positive_definite(&self) -> bool {
        let is_finite = self.entries().iter().all(|entry| entry.is_finite());
        if !(is_finite && self.xx > 0.0) {
            return false;
        }
        let (y, z) = (self.xy / self.xx, self.xz / self.xx);
        let second = self.yy - self.xy * y;
        let coupling = self.yz - self.xz * y;
        let third = self.zz - self.xz * z;
        second > 0.0 && third - coupling * (coupling / second) > 0.0
    }

    /// Whether every length is larger than in `other`: M₁ − M₂ is positive definite, in 2D in the plane.
    pub fn is_finer_than(&self, other: &Metric, dimension: usize) -> bool {
        let difference = self.add(&other.scale(-1.0));
        if dimension == 2 {
            return Metric { xz: 0.0, yz: 0.0, zz: 1.0, ..difference }.is_positive_definite();
        }
        difference.is_positive_definite()
    }

    /// The prescribed sizes 1/√λᵢ, ascending.
    pub fn sizes(&self) -> [f64; 3] {
        let mut sizes = self.eigen().values.map(|value| 1.0 / value.sqrt());
        sizes.sort_unstable_by(f64::total_cmp);
        sizes
    }

    /// The metric whose sizes are at most those of both, by simultaneous reduction: with A = M₁^½ the eigenvalues of
    /// A⁻¹ M₂ A⁻¹ below 1 are raised to 1 (Alauzet, *Finite Elements in Analysis and Design* 46, 2010).
    pub fn intersection(&self, other: &Metric) -> Metric {
        let eigen = self.eigen();
        let of_roots =
            |f: fn(f64) -> f64| Metric::from_eigen(&Eigen { values: eigen.values.map(f), ..eigen });
        let root = of_roots(f64::sqrt);
        let inverse_root = of_roots(|value| 1.0 / value.sqrt());
        let reduced = inverse_root.congruence(other);
        root.congruence(&reduced.map(|value| value.max(1.0)))
    }

    /// S T S for symmetric S (self) and T.
    pub fn congruence(&self, t: &Metric) -> Metric {
        let rows = |m: &Metric| [[m.xx, m.xy, m.xz], [m.xy, m.yy, m.yz], [m.xz, m.yz, m.zz]];
        let (s, t) = (rows(self), rows(t));
        let product = |a: [[f64; 3]; 3], b: [[f64; 3]; 3]| {
            let entry =
                |i: usize, j: usize| a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
            [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
        };
        let result = product(product(s, t), s);
        let mean = |i: usize, j: usize| 0.5 * (result[i][j] + result[j][i]);
        Metric {
            xx: result[0][0],
            xy: mean(0, 1),
            xz: mean(0, 2),
            yy: result[1][1],
            yz: mean(1, 2),
            zz: result[2][2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rotated(sizes: [f64; 3], angles: [f64; 3]) -> Metric {
        let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for (axis, angle) in angles.into_iter().enumerate() {
            let (s, c) = angle.sin_cos();
            let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
            for vector in &mut vectors {
                let (a, b) = (vector[i], vector[j]);
                vector[i] = c * a - s * b;
                vector[j] = s * a + c * b;
            }
        }
        Metric::from_eigen(&Eigen { values: sizes.map(|h| 1.0 / (h * h)), vectors })
    }

    proptest! {
        #[test]
        fn eigenvalues_and_logarithms_return_the_metric(
            sizes in prop::array::uniform3(1e-2_f64..10.0), angles in prop::array::uniform3(-3.0_f64..3.0),
        ) {
            let metric = rotated(sizes, angles);
            let largest = metric.entries().iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            let again = Metric::from_eigen(&metric.eigen());
            let (log, inverse) = (metric.logarithm().exponential(), metric.inverse().inverse());
            for (i, entry) in metric.entries().into_iter().enumerate() {
                prop_assert!((again.entries()[i] - entry).abs() <= 1e-13 * largest);
                prop_assert!((log.entries()[i] - entry).abs() <= 1e-11 * largest);
                prop_assert!((inverse.entries()[i] - entry).abs() <= 1e-5 * largest);
            }
            prop_assert!(metric.is_positive_definite());
        }

        #[test]
        fn an_intersection_is_at_least_as_fine_as_both(
            a in prop::array::uniform3(1e-2_f64..1.0), b in prop::array::uniform3(1e-2_f64..1.0),
            angles in prop::array::uniform3(-3.0_f64..3.0), direction in prop::array::uniform3(-1.0_f64..1.0),
        ) {
            let (first, second) = (rotated(a, [0.0; 3]), rotated(b, angles));
            let both = first.intersection(&second);
            let finer = both.scale(1.0 + 1e-6);
            prop_assert!(finer.is_finer_than(&first, 3) && finer.is_finer_than(&second, 3));
            prop_assert!(!first.scale(1.0 - 1e-6).is_finer_than(&both, 3));
            let length = both.squared_length(direction);
            prop_assert!(length >= first.squared_length(direction) * (1.0 - 1e-9));
            prop_assert!(length >= second.squared_length(direction) * (1.0 - 1e-9));
        }
    }

    /// The difference to the first metric has the eigenvalues 9300, 1e-5 and 1e-5: its minors are round-off.
    #[test]
    fn metrics_of_different_anisotropy_are_compared_within_rounding() {
        let first =
            rotated([0.29424004183460334, 0.5217882767509785, 0.33490823145259174], [0.0; 3]);
        let sizes = [0.010369512359766802, 0.6420550534978086, 0.488276572720902];
        let second = rotated(sizes, [1.4487247761431137, -2.5148578301905316, -0.7805894593206635]);
        let finer = first.intersection(&second).scale(1.0 + 1e-6);
        assert!(finer.is_finer_than(&first, 3) && finer.is_finer_than(&second, 3));
        assert!(!first.is_finer_than(&finer, 3) && !second.is_finer_than(&finer, 3));
    }

    #[test]
    fn tensors_without_positive_eigenvalues_are_no_metrics() {
        let negative = Metric { xx: -1.0, ..Metric::IDENTITY };
        let zero = Metric { yy: 0.0, ..Metric::IDENTITY };
        let not_a_number = Metric { zz: f64::NAN, ..Metric::IDENTITY };
        let indefinite = Metric { xy: 2.0, ..Metric::IDENTITY };
        for tensor in [negative, zero, not_a_number, indefinite] {
            assert!(!tensor.is_positive_definite(), "{tensor:?}");
        }
        assert_eq!(Metric::isotropic(0.5, 3).sizes(), [0.5; 3]);
        assert_eq!(Metric::isotropic(0.5, 2).zz, 1.0);
    }
}
