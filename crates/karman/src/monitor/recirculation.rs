//! The length of a region of reversed flow along a line.

/// Where the speed along a line, negative behind a body, becomes positive for the last time: the distance
/// of that point, linear between samples; 0 where nothing flows back. Samples that are not numbers, outside
/// the mesh, are passed over.
pub fn reversed_length(distances: &[f64], speeds: &[f64]) -> f64 {
    let inside: Vec<(f64, f64)> =
        distances.iter().copied().zip(speeds.iter().copied()).filter(|s| s.1.is_finite()).collect();
    let mut turns = inside.windows(2).filter(|pair| pair[0].1 < 0.0 && pair[1].1 >= 0.0);
    turns.next_back().map_or(0.0, |pair| {
        let [(s0, u0), (s1, u1)] = [pair[0], pair[1]];
        s0 + (s1 - s0) * u0 / (u0 - u1)
    })
}

#[cfg(test)]
mod tests {
    use super::reversed_length;

    #[test]
    fn the_zero_of_the_speed_is_found_between_samples() {
        let distances: Vec<f64> = (0..=10).map(f64::from).collect();
        let speeds: Vec<f64> = distances.iter().map(|s| (s - 3.25) * (s + 1.0)).collect();
        let length = reversed_length(&distances, &speeds);
        // Between 3 and 4 the parabola is a chord here.
        let (u3, u4) = (-0.25 * 4.0, 0.75 * 5.0);
        assert!((length - (3.0 - u3 / (u4 - u3))).abs() < 1e-14);
        assert_eq!(reversed_length(&distances, &[1.0; 11]), 0.0);
        let mut gap = speeds.clone();
        gap[0] = f64::NAN;
        assert_eq!(reversed_length(&distances, &gap), length);
    }
}
