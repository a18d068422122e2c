//! The stretch of reversed flow along a line.

/// A stretch of reversed flow, by distances along a line; both 0 where nothing flows back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reversed {
    /// Where the speed becomes negative; the first sample where it is so from there on.
    pub start: f64,
    /// Where it becomes positive again.
    pub end: f64,
}

/// The last stretch along a line in which the speed along it is negative and after which it becomes
/// positive; the ends are linear between samples. Samples that are not numbers, outside the mesh, are passed
/// over.
pub fn reversed_stretch(distances: &[f64], speeds: &[f64]) -> Reversed {
    let inside: Vec<(f64, f64)> =
        distances.iter().copied().zip(speeds.iter().copied()).filter(|s| s.1.is_finite()).collect();
    let zero = |pair: &[(f64, f64)]| {
        let [(s0, u0), (s1, u1)] = [pair[0], pair[1]];
        s0 + (s1 - s0) * u0 / (u0 - u1)
    };
    let pairs = || inside.windows(2);
    let Some(turn) = pairs().rposition(|pair| pair[0].1 < 0.0 && pair[1].1 >= 0.0) else {
        return Reversed::default();
    };
    let before = inside[..=turn].windows(2).rfind(|pair| pair[0].1 >= 0.0 && pair[1].1 < 0.0);
    Reversed {
        start: before.map_or(inside[0].0, zero),
        end: inside[turn..].windows(2).next().map_or(0.0, zero),
    }
}

#[cfg(test)]
mod tests {
    use super::{Reversed, reversed_stretch};

    #[test]
    fn the_zero_of_the_speed_is_found_between_samples() {
        let distances: Vec<f64> = (0..=10).map(f64::from).collect();
        let speeds: Vec<f64> = distances.iter().map(|s| (s - 3.25) * (s + 1.0)).collect();
        let found = reversed_stretch(&distances, &speeds);
        // Between 3 and 4 the parabola is a chord here.
        let (u3, u4) = (-0.25 * 4.0, 0.75 * 5.0);
        assert!((found.end - (3.0 - u3 / (u4 - u3))).abs() < 1e-14);
        assert_eq!(found.start, 0.0);
        assert_eq!(reversed_stretch(&distances, &[1.0; 11]), Reversed::default());
        assert_eq!(reversed_stretch(&distances, &[-1.0; 11]), Reversed::default());
        let mut gap = speeds.clone();
        gap[0] = f64::NAN;
        assert_eq!(reversed_stretch(&distances, &gap), Reversed { start: 1.0, ..found });
    }

    #[test]
    fn a_bubble_away_from_the_first_sample_has_a_start() {
        let distances: Vec<f64> = (0..=100).map(|k| 0.1 * f64::from(k)).collect();
        let speeds: Vec<f64> = distances.iter().map(|s| (s - 2.53) * (s - 7.18)).collect();
        let found = reversed_stretch(&distances, &speeds);
        // The chord of a parabola between samples h apart is off by h²/8 over the slope at most.
        let bound = 0.1 * 0.1 / 4.0 / (7.18 - 2.53);
        assert!(
            (found.start - 2.53).abs() < bound && (found.end - 7.18).abs() < bound,
            "{found:?}"
        );
        // Of two bubbles the last.
        let two: Vec<f64> = distances.iter().map(|s| (1.3 * s).cos()).collect();
        let last = reversed_stretch(&distances, &two);
        let quarter = std::f64::consts::FRAC_PI_2 / 1.3;
        assert!((last.start - 5.0 * quarter).abs() < 1e-2, "{last:?}");
        assert!((last.end - 7.0 * quarter).abs() < 1e-2, "{last:?}");
    }
}
