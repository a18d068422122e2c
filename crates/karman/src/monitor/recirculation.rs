//! Separation and reattachment along a line.

/// A zone of reversed flow, by distances along a line; both are 0 without reversed flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecirculationZone {
    /// Where the speed becomes negative, or the first sample.
    pub separation: f64,
    /// Where the speed becomes positive again.
    pub reattachment: f64,
}

/// The longest zone of negative speed along a line that ends in positive speed: interpolation along a wall, where speeds
/// are small, makes short ones beside it. Its ends are interpolated linearly between samples. NaN samples, outside the
/// mesh, are skipped.
pub fn recirculation_zone(distances: &[f64], speeds: &[f64]) -> RecirculationZone {
    let inside: Vec<(f64, f64)> =
        distances.iter().copied().zip(speeds.iter().copied()).filter(|s| s.1.is_finite()).collect();
    let mut longest = RecirculationZone::default();
    let mut separation = inside.first().filter(|(_, speed)| *speed < 0.0).map(|(s, _)| *s);
    for pair in inside.windows(2) {
        let [(s0, u0), (s1, u1)] = [pair[0], pair[1]];
        let zero = s0 + (s1 - s0) * u0 / (u0 - u1);
        if u0 >= 0.0 && u1 < 0.0 {
            separation = Some(zero);
        } else if u0 < 0.0
            && u1 >= 0.0
            && let Some(separation) = separation
            && zero - separation > longest.reattachment - longest.separation
        {
            longest = RecirculationZone { separation, reattachment: zero };
        }
    }
    longest
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
        // The longer of two bubbles, whichever comes first.
        for sign in [1.0, -1.0] {
            let of = |s: &f64| {
                let s = if sign > 0.0 { *s } else { 10.0 - s };
                (s - 1.0) * (s - 2.0) * (s - 4.0) * (s - 9.0)
            };
            let two: Vec<f64> = distances.iter().map(of).collect();
            let longer = recirculation_zone(&distances, &two);
            let want = if sign > 0.0 { [4.0, 9.0] } else { [1.0, 6.0] };
            assert!((longer.separation - want[0]).abs() < 1e-2, "{longer:?}");
            assert!((longer.reattachment - want[1]).abs() < 1e-2, "{longer:?}");
        }
    }
}
