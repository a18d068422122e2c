//! Parameters of algebraic multigrid.

use crate::LinearError;
use karman_backend::Backend;
use karman_macros::Keyword;

/// Defaults of [`CycleParams::replicate_rows`].
const HOST_REPLICATE_ROWS: usize = 16_384;
const DEVICE_REPLICATE_ROWS: usize = 65_536;

/// Selection of coarse unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum Coarsening {
    /// Pairwise aggregation on the finest level, then the parallel modified independent set (De Sterck, Yang & Heys 2006)
    /// with extended+i interpolation.
    #[default]
    Pmis,
    /// The first pass of Ruge & Stüben (1987) with weighted boundary unknowns and direct interpolation.
    ///
    /// Kamakolanu 2014, algorithm 1 and §3.2.2.
    RugeStuben,
    /// Smoothed aggregation (Vaněk, Mandel & Brezina 1996) with aggregates from passes of pairwise
    /// matching.
    Aggregation,
}

/// The smoother.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum Smoother {
    /// Jacobi with the ℓ1 norms of rows (Baker, Falgout, Kolev & Yang 2011).
    #[default]
    L1Jacobi,
    /// Chebyshev polynomials of the fourth kind with optimal weights (Lottes 2023).
    ///
    /// In the matrix scaled by the ℓ1 norms of its rows, whose spectrum is bounded by 1.
    #[with(degree: 2)]
    Chebyshev {
        /// Products of one sweep: 1 to 4.
        degree: usize,
    },
    /// Gauss–Seidel by colours: forwards before the coarse correction, backwards after it.
    GaussSeidel,
}

/// The multigrid cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum Cycle {
    /// Each level once.
    #[default]
    V,
    /// Each coarser level twice.
    W,
    /// Each coarser level by an F cycle, then by a V cycle.
    F,
    /// Each coarser level by two steps of flexible conjugate gradients (Notay & Vassilevski 2008).
    K,
}

/// The precision of the hierarchy and its cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Keyword)]
pub enum HierarchyPrecision {
    /// The precision of the solver, of whatever width.
    #[word = "f64"]
    Same,
    /// Single; conjugate gradients then store direction and residual in single precision too, the solution and the
    /// stopping criterion in that of the solver.
    #[default]
    #[word = "f32"]
    Single,
}

/// Sparsification of coarse matrices: couplings weaker than β times the average of their row are dropped
/// and their sum is spread equally over the remaining couplings (Kamakolanu 2014, §4.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sparsification {
    /// β on the first coarse level. Default: 1.
    pub beta: f64,
    /// Increment of β on each further level. Default: 1.
    pub increment: f64,
    /// Whether a coupling is dropped only where both its rows find it weak and is added to the diagonals,
    /// so that the matrix stays symmetric. Default: no.
    pub symmetric: bool,
}

impl Default for Sparsification {
    fn default() -> Self {
        Sparsification { beta: 1.0, increment: 1.0, symmetric: false }
    }
}

/// A parameter of multigrid with a key in cases.
#[derive(Debug)]
pub struct AmgParameter {
    /// The key.
    pub name: &'static str,
    /// Its values.
    pub kind: ParameterKind,
    /// The default in words where it is not that of [`AmgParams::DEFAULT`] alone.
    pub default: Option<&'static str>,
    /// Its meaning.
    pub meaning: &'static str,
    /// An example, as TOML.
    pub example: &'static str,
}

/// The values of a parameter, with access to it.
#[derive(Debug)]
pub enum ParameterKind {
    /// One of several words.
    Word {
        /// The words.
        words: &'static [&'static str],
        /// The meaning of each.
        meanings: &'static [&'static str],
        /// The word of the present choice.
        get: fn(&AmgParams) -> &'static str,
        /// Sets the choice of a word; another word changes nothing.
        set: fn(&mut AmgParams, &str),
    },
    /// A number.
    Number {
        /// The valid numbers.
        range: Range,
        /// The range as a sentence, for messages.
        rule: &'static str,
        /// Reads it.
        get: fn(&AmgParams) -> f64,
        /// Sets it.
        set: fn(&mut AmgParams, f64),
    },
    /// A whole number.
    Count {
        /// Smallest value.
        least: usize,
        /// Largest value.
        most: usize,
        /// The range as a sentence, for messages.
        rule: &'static str,
        /// Reads it.
        get: fn(&AmgParams) -> usize,
        /// Sets it.
        set: fn(&mut AmgParams, usize),
    },
    /// Sweeps before and after the coarse correction.
    Sweeps,
    /// [`Sparsification`], or none.
    Sparsification,
}

/// Valid numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// From 0 to 1.
    Fraction,
    /// From 0 to 1, without 1.
    BelowOne,
    /// Above 0, at most 1e6.
    Positive,
}

impl Range {
    /// Whether a number is valid; NaN is not.
    pub fn contains(self, value: f64) -> bool {
        match self {
            Range::Fraction => (0.0..=1.0).contains(&value),
            Range::BelowOne => (0.0..1.0).contains(&value),
            Range::Positive => value > 0.0 && value <= 1e6,
        }
    }
}

/// The parameter of a field of [`AmgParams`] that has words.
macro_rules! word_parameter {
    ($name:literal, $($field:ident).+: $choice:ty, $meaning:literal, $example:literal) => {
        AmgParameter {
            name: $name,
            kind: ParameterKind::Word {
                words: <$choice>::WORDS,
                meanings: <$choice>::MEANINGS,
                get: |params| params.$($field).+.word(),
                set: |params, word| {
                    let field = &mut params.$($field).+;
                    *field = <$choice>::from_word(word).unwrap_or(*field);
                },
            },
            default: None,
            meaning: $meaning,
            example: $example,
        }
    };
}

/// The parameters with a key in cases, in the order of the reference. A new one is a field of [`AmgParams`] with its
/// default, and its entry here.
pub static AMG_PARAMETERS: &[AmgParameter] = &[
    word_parameter!(
        "coarsening",
        coarsening: Coarsening,
        "Selection of coarse unknowns.",
        "coarsening = \"pmis\""
    ),
    AmgParameter {
        name: "pairwise_passes",
        kind: ParameterKind::Count {
            least: 0,
            most: 4,
            rule: "it is at most 4",
            get: |params| params.pairwise_passes,
            set: |params, passes| params.pairwise_passes = passes,
        },
        default: Some("1, in 2D 0"),
        meaning: "Passes of pairwise matching for the first coarse level (`pmis`) or every level (`aggregation`, 3 \
                  by default); each pass halves the unknowns.",
        example: "pairwise_passes = 2",
    },
    AmgParameter {
        name: "strength",
        kind: ParameterKind::Number {
            range: Range::Fraction,
            rule: "it lies between 0 and 1",
            get: |params| params.strength,
            set: |params, strength| params.strength = strength,
        },
        default: None,
        meaning: "θ: couplings with −a_ij ≥ θ max(−a_ik) are strong.",
        example: "strength = 0.25",
    },
    AmgParameter {
        name: "drop_tolerance",
        kind: ParameterKind::Number {
            range: Range::BelowOne,
            rule: "it lies in [0, 1)",
            get: |params| params.drop_tolerance,
            set: |params, tolerance| params.drop_tolerance = tolerance,
        },
        default: None,
        meaning: "Couplings of coarse matrices below this fraction of the largest in their row are added to the \
                  diagonals, as all positive couplings are; 0 drops none.",
        example: "drop_tolerance = 0.0",
    },
    AmgParameter {
        name: "max_levels",
        kind: ParameterKind::Count {
            least: 1,
            most: usize::MAX,
            rule: "it is at least 1",
            get: |params| params.max_levels,
            set: |params, levels| params.max_levels = levels,
        },
        default: None,
        meaning: "Maximum number of levels.",
        example: "max_levels = 6",
    },
    AmgParameter {
        name: "boundary_weight",
        kind: ParameterKind::Number {
            range: Range::Positive,
            rule: "it lies between 0 and 1e6",
            get: |params| params.boundary_weight,
            set: |params, weight| params.boundary_weight = weight,
        },
        default: None,
        meaning: "α: weight of boundary unknowns, with `ruge_stuben`.",
        example: "boundary_weight = 5.0",
    },
    AmgParameter {
        name: "sparsification",
        kind: ParameterKind::Sparsification,
        default: Some("\"none\""),
        meaning: "Drop couplings of coarse matrices weaker than β times the mean of their row.",
        example: "sparsification = { beta = 1.0, increment = 1.0, symmetric = true }",
    },
    word_parameter!("smoother", cycling.smoother: Smoother, "", "smoother = \"chebyshev\""),
    AmgParameter {
        name: "sweeps",
        kind: ParameterKind::Sweeps,
        default: None,
        meaning: "Sweeps before and after the coarse correction.",
        example: "sweeps = [2, 2]",
    },
    word_parameter!("cycle", cycling.cycle: Cycle, "", "cycle = \"w\""),
    AmgParameter {
        name: "replicate_rows",
        kind: ParameterKind::Count {
            least: 0,
            most: usize::MAX,
            rule: "it is not negative",
            get: |params| params.cycling.replicate_rows.unwrap_or(HOST_REPLICATE_ROWS),
            set: |params, rows| params.cycling.replicate_rows = Some(rows),
        },
        default: Some("16384, on devices 65536"),
        meaning: "Several ranks share a coarse level of more unknowns; each of them computes all of a smaller level and of \
                  those below it. Results do not depend on it.",
        example: "replicate_rows = 50000",
    },
    word_parameter!(
        "hierarchy_precision",
        precision: HierarchyPrecision,
        "Precision of the stored hierarchy.",
        "hierarchy_precision = \"f64\""
    ),
];

/// Parameters of algebraic multigrid. The defaults were chosen by measurement, see
/// `docs/decisions/0006-default-multigrid.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmgParams {
    /// Selection of coarse unknowns. Default: PMIS.
    pub coarsening: Coarsening,
    /// Passes of pairwise matching for the first coarse level (PMIS) or every level (aggregation); each
    /// halves the unknowns. Default: 1.
    pub pairwise_passes: usize,
    /// Over-correction factor of pairwise aggregation: piecewise constant interpolation is too stiff.
    /// Default: 1.5.
    pub over_correction: f64,
    /// θ: j is strong for i where −a_ij ≥ θ max_k(−a_ik). Default: 0.25.
    pub strength: f64,
    /// α: weight of boundary unknowns in Ruge & Stüben's coarsening. Default: 1.
    pub boundary_weight: f64,
    /// Maximum entries a row of an interpolation; truncated rows are rescaled to their sum. Default: 3.
    pub interpolation_entries: usize,
    /// Negative couplings of coarse matrices below this share of the largest of both their rows are added
    /// to the diagonals where a third unknown is coupled five times as much to both ends; so are all
    /// positive couplings. 0 drops none. Default: 0.1.
    pub drop_tolerance: f64,
    /// Kamakolanu's sparsification, in place of `drop_tolerance`. Default: none.
    pub sparsification: Option<Sparsification>,
    /// The cycle and its smoother.
    pub cycling: CycleParams,
    /// Precision of the hierarchy. Default: single.
    pub precision: HierarchyPrecision,
    /// Largest number of unknowns solved by a dense inverse. Default: 256.
    pub coarse_rows: usize,
    /// Maximum number of levels, the coarsest included. Default: 25.
    pub max_levels: usize,
}

/// Parameters of a cycle; the levels do not depend on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleParams {
    /// The cycle. Default: V.
    pub cycle: Cycle,
    /// The smoother. Default: ℓ1-Jacobi.
    pub smoother: Smoother,
    /// Relaxation factor of ℓ1-Jacobi, below 2: its spectrum is bounded by 1. Default: 4/3.
    pub relaxation: f64,
    /// Sweeps before and after the coarse correction. Default: 1 and 1.
    pub sweeps: [usize; 2],
    /// Largest number of unknowns of a coarse level that each of several ranks computes as a whole; larger levels are shared.
    /// Results do not depend on it. Default: none, which is 16 384 on the host and 65 536 on devices, where exchanges of
    /// smaller levels take longer than their rows.
    pub replicate_rows: Option<usize>,
}

impl CycleParams {
    /// The default of each parameter.
    pub const DEFAULT: CycleParams = CycleParams {
        cycle: Cycle::V,
        smoother: Smoother::L1Jacobi,
        relaxation: 4.0 / 3.0,
        sweeps: [1, 1],
        replicate_rows: None,
    };

    /// `replicate_rows`, by default that of a backend.
    fn replicate_rows(&self, backend: &Backend) -> usize {
        let of_backend = match backend.device() {
            None => HOST_REPLICATE_ROWS,
            Some(_) => DEVICE_REPLICATE_ROWS,
        };
        self.replicate_rows.unwrap_or(of_backend)
    }

    fn check(&self) -> Result<(), LinearError> {
        let wrong = |name, value, rule| Err(LinearError::Parameter { name, value, rule });
        if !(self.relaxation > 0.0 && self.relaxation < 2.0) {
            return wrong("relaxation", self.relaxation, "it lies between 0 and 2");
        }
        if self.sweeps == [0, 0] || self.sweeps.iter().any(|s| *s > 100) {
            let most = self.sweeps[0].max(self.sweeps[1]);
            return wrong("sweeps", most as f64, "they are at most 100 and not both 0");
        }
        if let Smoother::Chebyshev { degree } = self.smoother
            && !(1..=4).contains(&degree)
        {
            return wrong("degree", degree as f64, "it lies between 1 and 4");
        }
        Ok(())
    }
}

impl Default for CycleParams {
    fn default() -> Self {
        CycleParams::DEFAULT
    }
}

impl Default for AmgParams {
    fn default() -> Self {
        AmgParams::DEFAULT
    }
}

impl AmgParams {
    /// Whether the level `depth`, from 0, of `rows` unknowns is the last by its size or its number.
    pub(super) fn is_coarsest(&self, rows: usize, depth: usize) -> bool {
        rows <= self.coarse_rows || depth + 1 >= self.max_levels
    }

    /// The largest number of unknowns of a coarse level that each of several ranks computes as a whole.
    pub(super) fn most_whole_rows(&self, backend: &Backend) -> usize {
        self.cycling.replicate_rows(backend).max(self.coarse_rows)
    }

    /// The default of each parameter.
    pub const DEFAULT: AmgParams = AmgParams {
        coarsening: Coarsening::Pmis,
        pairwise_passes: 1,
        over_correction: 1.5,
        strength: 0.25,
        boundary_weight: 1.0,
        interpolation_entries: 3,
        drop_tolerance: 0.1,
        sparsification: None,
        cycling: CycleParams::DEFAULT,
        precision: HierarchyPrecision::Single,
        coarse_rows: 256,
        max_levels: 25,
    };

    /// Checks ranges.
    ///
    /// # Errors
    /// [`LinearError::Parameter`] for the first parameter out of range.
    pub fn check(&self) -> Result<(), LinearError> {
        let wrong = |name, value, rule| Err(LinearError::Parameter { name, value, rule });
        for AmgParameter { name, kind, .. } in AMG_PARAMETERS {
            match kind {
                ParameterKind::Number { range, rule, get, .. } if !range.contains(get(self)) => {
                    return wrong(*name, get(self), *rule);
                }
                ParameterKind::Count { least, most, rule, get, .. }
                    if !(*least..=*most).contains(&get(self)) =>
                {
                    return wrong(*name, get(self) as f64, *rule);
                }
                _ => {}
            }
        }
        if !(1.0..2.0).contains(&self.over_correction) {
            return wrong("over_correction", self.over_correction, "it lies in [1, 2)");
        }
        self.cycling.check()?;
        if self.interpolation_entries == 0 {
            return wrong("interpolation_entries", 0.0, "it is at least 1");
        }
        if !(1..=4096).contains(&self.coarse_rows) {
            return wrong("coarse_rows", self.coarse_rows as f64, "it lies between 1 and 4096");
        }
        if let Some(s) = self.sparsification
            && !(s.beta >= 0.0 && s.increment >= 0.0 && (s.beta + s.increment).is_finite())
        {
            return wrong("beta", s.beta.min(s.increment), "β and its increment are not negative");
        }
        Ok(())
    }

    /// The parameters that determine the coarse levels, by name and as numbers: equal keys give equal
    /// hierarchies of a matrix.
    pub fn setup_key(&self) -> [(&'static str, f64); 12] {
        let coarsening = match self.coarsening {
            Coarsening::Pmis => 0.0,
            Coarsening::RugeStuben => 1.0,
            Coarsening::Aggregation => 2.0,
        };
        let dropping = self.sparsification.map_or([-1.0, 0.0, 0.0], |s| {
            [s.beta, s.increment, if s.symmetric { 1.0 } else { 0.0 }]
        });
        [
            ("coarsening", coarsening),
            ("pairwise_passes", self.pairwise_passes as f64),
            ("over_correction", self.over_correction),
            ("strength", self.strength),
            ("boundary_weight", self.boundary_weight),
            ("interpolation_entries", self.interpolation_entries as f64),
            ("drop_tolerance", self.drop_tolerance),
            ("sparsification.beta", dropping[0]),
            ("sparsification.increment", dropping[1]),
            ("sparsification.symmetric", dropping[2]),
            ("coarse_rows", self.coarse_rows as f64),
            ("max_levels", self.max_levels as f64),
        ]
    }

    /// Divisor of the coarse matrix below level `depth`.
    pub(super) fn over_correction_at(&self, depth: usize) -> f64 {
        let is_paired =
            self.coarsening == Coarsening::Pmis && depth == 0 && self.pairwise_passes > 0;
        if is_paired { self.over_correction } else { 1.0 }
    }

    /// Relaxation factor of a sweep.
    pub(super) fn sweep_factor(&self) -> f64 {
        let CycleParams { smoother, relaxation, .. } = self.cycling;
        if smoother == Smoother::L1Jacobi { relaxation } else { 1.0 }
    }

    /// Whether the cycle is a fixed symmetric operator for a symmetric matrix.
    pub fn is_symmetric(&self) -> bool {
        let [before, after] = self.cycling.sweeps;
        before == after
            && matches!(self.cycling.cycle, Cycle::V | Cycle::W)
            && self.sparsification.is_none_or(|s| s.symmetric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_named() {
        let good = AmgParams::default;
        let cycling = |cycling| AmgParams { cycling, ..good() };
        assert_eq!(good().check(), Ok(()));
        let message = |p: AmgParams| p.check().unwrap_err().to_string();
        assert_eq!(
            message(AmgParams { strength: 1.5, ..good() }),
            "strength = 1.5: it lies between 0 and 1"
        );
        assert_eq!(
            message(AmgParams { boundary_weight: 0.0, ..good() }),
            "boundary_weight = 0: it lies between 0 and 1e6"
        );
        assert_eq!(
            message(AmgParams { over_correction: 2.0, ..good() }),
            "over_correction = 2: it lies in [1, 2)"
        );
        assert_eq!(
            message(AmgParams { drop_tolerance: -1.0, ..good() }),
            "drop_tolerance = -1: it lies in [0, 1)"
        );
        assert_eq!(
            message(cycling(CycleParams { relaxation: 2.0, ..CycleParams::DEFAULT })),
            "relaxation = 2: it lies between 0 and 2"
        );
        assert_eq!(
            message(AmgParams { pairwise_passes: 5, ..good() }),
            "pairwise_passes = 5: it is at most 4"
        );
        assert_eq!(
            message(AmgParams { interpolation_entries: 0, ..good() }),
            "interpolation_entries = 0: it is at least 1"
        );
        assert_eq!(
            message(cycling(CycleParams { sweeps: [0, 0], ..CycleParams::DEFAULT })),
            "sweeps = 0: they are at most 100 and not both 0"
        );
        assert_eq!(
            message(AmgParams { coarse_rows: 0, ..good() }),
            "coarse_rows = 0: it lies between 1 and 4096"
        );
        assert_eq!(
            message(AmgParams { max_levels: 0, ..good() }),
            "max_levels = 0: it is at least 1"
        );
        assert_eq!(
            message(cycling(CycleParams {
                smoother: Smoother::Chebyshev { degree: 9 },
                ..CycleParams::DEFAULT
            })),
            "degree = 9: it lies between 1 and 4"
        );
        let sparsification = Some(Sparsification { beta: -1.0, increment: 0.0, symmetric: true });
        assert_eq!(
            message(AmgParams { sparsification, ..good() }),
            "beta = -1: β and its increment are not negative"
        );
    }
}
