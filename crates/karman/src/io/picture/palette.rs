//! Colours and numbers of a picture's scale.

/// Coefficients, lowest power first, of red, green and blue as polynomials of the position on the
/// scale: M. Zucker's least-squares fit (public domain, CC0) to the map "viridis" of N. Smith and
/// S. van der Walt (2015, CC0), whose lightness grows evenly.
const VIRIDIS: [[f64; 3]; 7] = [
    [0.2777273272234177, 0.005407344544966578, 0.3340998053353061],
    [0.1050930431085774, 1.404613529898575, 1.384590162594685],
    [-0.3308618287255563, 0.214847559468213, 0.09509516302823659],
    [-4.634230498983486, -5.799100973351585, -19.33244095627987],
    [6.228269936347081, 14.17993336680509, 56.69055260068105],
    [4.776384997670288, -13.74514537774601, -65.35303263337234],
    [-5.435455855934631, 4.645852612178535, 26.3124352495832],
];

/// Entries of a palette.
const ENTRIES: usize = 512;

/// Part of white in paler colours.
const WHITE: f64 = 0.36;

/// The colour of NaN.
pub(super) const MISSING: [u8; 3] = [205, 205, 205];

/// Pale colours of regions, which repeat.
const OF_REGIONS: [[u8; 3]; 8] = [
    [214, 226, 240],
    [246, 221, 190],
    [207, 232, 205],
    [240, 208, 214],
    [222, 212, 236],
    [244, 238, 190],
    [203, 232, 234],
    [224, 220, 212],
];

/// The colours of a range of values.
#[derive(Clone, Debug)]
pub(super) struct Palette {
    colours: Vec<[u8; 3]>,
    low: f64,
    high: f64,
}

impl Palette {
    /// Colours for values from `low` to `high`, `low < high`.
    pub(super) fn new(low: f64, high: f64) -> Self {
        let colours = (0..ENTRIES).map(|i| viridis(i as f64 / (ENTRIES - 1) as f64)).collect();
        Palette { colours, low, high }
    }

    /// The same colours mixed with white, on which dark lines are seen everywhere.
    pub(super) fn paler(mut self) -> Self {
        let mixed = |channel: u8| 255 - ((255.0 - f64::from(channel)) * (1.0 - WHITE)) as u8;
        self.colours.iter_mut().for_each(|colour| *colour = colour.map(mixed));
        self
    }

    /// A colour for each of the values 0, 1, …, `regions` − 1.
    pub(super) fn of_regions(regions: usize) -> Self {
        let count = regions.max(2);
        let colours = (0..count).map(|region| OF_REGIONS[region % OF_REGIONS.len()]).collect();
        Palette { colours, low: 0.0, high: (count - 1) as f64 }
    }

    /// The colour of a value, clamped to the range.
    pub(super) fn colour(&self, value: f64) -> [u8; 3] {
        if value.is_nan() {
            return MISSING;
        }
        // Halved before the subtraction, which otherwise overflows for huge values.
        let share = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        let last = self.colours.len() - 1;
        let entry = (share.clamp(0.0, 1.0) * last as f64).round() as usize;
        self.colours[entry.min(last)]
    }

    /// Ends of the range.
    pub(super) fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

fn viridis(t: f64) -> [u8; 3] {
    std::array::from_fn(|channel| {
        let value = VIRIDIS.iter().rev().fold(0.0, |sum, power| sum * t + power[channel]);
        (value.clamp(0.0, 1.0) * 255.0).round() as u8
    })
}

/// Smallest and largest finite value; 0 and 1 if there is none. A range within round-off of one value is
/// enlarged around it, so that noise is not drawn as a field.
pub(super) fn range_of(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(|value| value.is_finite()) {
        low = low.min(value);
        high = high.max(value);
    }
    if low > high {
        return (0.0, 1.0);
    }
    let magnitude = low.abs().max(high.abs());
    if high / 2.0 - low / 2.0 > 1e-11 * magnitude {
        return (low, high);
    }
    let half = if magnitude == 0.0 { 0.5 } else { 0.005 * magnitude };
    let middle = low / 2.0 + high / 2.0;
    (middle - half, middle + half)
}

/// About `target` round numbers (1, 2 or 5 times a power of ten apart) from `low` to `high`, with labels.
pub(crate) fn ticks(low: f64, high: f64, target: usize) -> Vec<(f64, String)> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return vec![];
    }
    let rough = span / target.max(1) as f64;
    let power = 10f64.powi(rough.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    // A step below the round-off of the ends gives no ticks.
    if step.is_nan() || step <= 0.0 || low + step == low {
        return vec![];
    }
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    let count = (last - first).max(-1.0) as usize + 1;
    let magnitude = low.abs().max(high.abs());
    (0..count.min(50))
        .map(|i| (first + i as f64) * step)
        .map(|value| (value, label(value, step, magnitude)))
        .collect()
}

/// A number with the digits that distinguish it from its neighbours `step` away.
pub(super) fn label(value: f64, step: f64, magnitude: f64) -> String {
    let digits_of_step = -(step * 1.0001).log10().floor() as i32;
    let text = if !(1e-3..1e6).contains(&magnitude) {
        let exponent = magnitude.log10().floor() as i32;
        let digits = (digits_of_step + exponent).clamp(0, 12) as usize;
        if value == 0.0 {
            return "0".to_owned();
        }
        let scaled = value / 10f64.powi(exponent);
        format!("{scaled:.digits$}e{exponent}")
    } else {
        let digits = digits_of_step.clamp(0, 12) as usize;
        format!("{value:.digits$}")
    };
    // Rounding may give a signed zero.
    let is_zero = text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.');
    if is_zero { text.trim_start_matches('-').to_owned() } else { text.replace('-', "\u{2212}") }
}

/// A number with four digits, for the ends of a range.
pub(super) fn short(value: f64) -> String {
    let magnitude = value.abs();
    let text = if magnitude == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e6).contains(&magnitude) {
        let digits = (3 - magnitude.log10().floor() as i32).clamp(0, 6) as usize;
        let fixed = format!("{value:.digits$}");
        match fixed.contains('.') {
            true => fixed.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => fixed,
        }
    } else {
        format!("{value:.3e}")
    };
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_colours_are_viridis_and_grow_lighter() {
        let known = [
            (0.0, [68, 1, 84]),
            (0.25, [59, 82, 139]),
            (0.5, [33, 145, 140]),
            (0.75, [94, 201, 98]),
            (1.0, [253, 231, 37]),
        ];
        for (t, expected) in known {
            let found = viridis(t);
            for channel in 0..3 {
                let difference = i32::from(found[channel]) - expected[channel];
                assert!(difference.abs() <= 6, "{t}: {found:?}, not {expected:?}");
            }
        }
        let lightness = |c: [u8; 3]| {
            let [r, g, b] = c.map(f64::from);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let steps: Vec<f64> = (0..=20).map(|i| lightness(viridis(f64::from(i) / 20.0))).collect();
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    }

    #[test]
    fn values_beyond_the_range_are_clamped_and_nan_is_grey() {
        let palette = Palette::new(300.0, 600.0);
        assert_eq!(palette.colour(-1e300), viridis(0.0));
        assert_eq!(palette.colour(f64::INFINITY), viridis(1.0));
        assert_eq!(palette.colour(f64::NAN), MISSING);
        assert_eq!(palette.range(), (300.0, 600.0));
    }

    #[test]
    fn ranges() {
        assert_eq!(range_of([3.0, f64::NAN, 1.0, f64::INFINITY].into_iter()), (1.0, 3.0));
        assert_eq!(range_of([f64::NAN].into_iter()), (0.0, 1.0));
        assert_eq!(range_of([0.0, 0.0].into_iter()), (-0.5, 0.5));
        let (low, high) = range_of([300.0, 300.0 + 1e-12].into_iter());
        assert!((low - 298.5).abs() < 1e-9 && (high - 301.5).abs() < 1e-9);
        let (low, high) = range_of([-f64::MAX, f64::MAX].into_iter());
        assert_eq!(Palette::new(low, high).colour(f64::MAX), viridis(1.0));
    }

    #[test]
    fn ticks_are_round_numbers() {
        let texts = |low, high| -> Vec<String> {
            ticks(low, high, 5).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(300.0, 600.0), ["300", "400", "500", "600"]);
        assert_eq!(texts(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(-0.013, 0.013), ["−0.01", "0.00", "0.01"]);
        assert_eq!(texts(0.0, 2.5e-7), ["0", "0.5e−7", "1.0e−7", "1.5e−7", "2.0e−7", "2.5e−7"]);
        assert_eq!(texts(2.0e6, 5.0e6), ["2e6", "3e6", "4e6", "5e6"]);
        assert_eq!(texts(298.5, 301.5), ["299", "300", "301"]);
        assert!(texts(1.0, 1.0).is_empty() && texts(0.0, f64::INFINITY).is_empty());
    }

    #[test]
    fn short_numbers() {
        let cases =
            [(300.0, "300"), (0.5, "0.5"), (-1.23456, "−1.235"), (123456.7, "123457"), (0.0, "0")];
        for (value, expected) in cases {
            assert_eq!(short(value), expected);
        }
        assert_eq!(short(1.5e-9), "1.500e−9");
    }

    proptest! {
        #[test]
        fn no_range_panics(low in any::<f64>(), high in any::<f64>(), value in any::<f64>()) {
            let (low, high) = range_of([low, high].into_iter());
            prop_assert!(low <= high);
            Palette::new(low, high).colour(value);
            prop_assert!(ticks(low, high, 6).len() <= 50);
            short(value);
        }
    }
}
