//! Separation and reattachment along a line.

/// A zone of reversed flow, by distances along a line; both are 0 without reversed flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecirculationZone {
    /// Where the speed becomes negative, or the first sample.
    pub separation: f64,
    /// Where the speed becomes positive again.
    pub reattachment: f64,
}

/// The last zone of negative speed along a line that ends in positive speed. Its ends are interpolated
/// linearly between samples. NaN samples, outside the mesh, are skipped.
pub fn recirculation_zone(distances: &[f64], speeds: &[f64]) -> RecirculationZone {
    let inside: Vec<(f64, f64)> =
        distances.iter().copied().zip(speeds.iter().copied()).filter(|s| s.1.is_finite()).collect();
    let zero = |pair: &[(f64, f64)]| {
        let [(s0, u0), (s1, u1)] = [pair[0], pair[1]];
        s0 + (s1 - s0) * u0 / (u0 - u1)
    };
    let pairs = || inside.windows(2);
    let Some(turn) = pairs().rposition(|pair| pair[0].1 < 0.0 && pair[1].1 >= 0.0) else {
        return RecirculationZone::default();
    };
    let before = inside[..=turn].windows(2).rfind(|pair| pair[0].1 >= 0.0 && pair[1].1 < 0.0);
    RecirculationZone {
        separation: before.map_or(inside[0].0, zero),
        reattachment: inside[turn..].windows(2).next().map_or(0.0, zero),
    }
}

#[cfg(test)]
mod tests {
    use super::{RecirculationZone, recirculation_zone};

    #[test]
    fn the_zero_of_the_speed_is_found_between_samples() {
        let distances: Vec<f64> = (0..=10).map(f64::from).collect();
        let speeds: Vec<f64> = distances.iter().map(|s| (s - 3.25) * (s + 1.0)).collect();
        let found = recirculation_zone(&distances, &speeds);
        // The chord of the parabola between 3 and 4.
        let (u3, u4) = (-0.25 * 4.0, 0.75 * 5.0);
        assert!((found.reattachment - (3.0 - u3 / (u4 - u3))).abs() < 1e-14);
        assert_eq!(found.separation, 0.0);
        assert_eq!(recirculation_zone(&distances, &[1.0; 11]), RecirculationZone::default());
        assert_eq!(recirculation_zone(&distances, &[-1.0; 11]), RecirculationZone::default());
        let mut gap = speeds.clone();
        gap[0] = f64::NAN;
        assert_eq!(
            recirculation_zone(&distances, &gap),
            RecirculationZone { separation: 1.0, ..found }
        );
    }

    #[test]
    fn a_bubble_away_from_the_first_sample_has_a_separation_point() {
        let distances: Vec<f64> = (0..=100).map(|k| 0.1 * f64::from(k)).collect();
        let speeds: Vec<f64> = distances.iter().map(|s| (s - 2.53) * (s - 7.18)).collect();
        let found = recirculation_zone(&distances, &speeds);
        // The zero of the chord between samples h apart is off by at most h²/8 · |u''| / |u'|.
        let bound = 0.1 * 0.1 / 4.0 / (7.18 - 2.53);
        assert!(
            (found.separation - 2.53).abs() < bound && (found.reattachment - 7.18).abs() < bound,
            "{found:?}"
        );
        // The last of two bubbles.
        let two: Vec<f64> = distances.iter().map(|s| (1.3 * s).cos()).collect();
        let last = recirculation_zone(&distances, &two);
        let quarter = std::f64::consts::FRAC_PI_2 / 1.3;
        assert!((last.separation - 5.0 * quarter).abs() < 1e-2, "{last:?}");
        assert!((last.reattachment - 7.0 * quarter).abs() < 1e-2, "{last:?}");
    }
}
