//! Tables of two small measurements.

use super::*;

#[test]
fn every_part_of_every_form_is_measured_and_set_beside_the_source() {
    let mut points = vec![];
    for threads in [1, 2] {
        points.extend(measure_stages(&Backend::host(threads).unwrap(), 1000, 1e-3).unwrap());
    }
    assert_eq!(points.len(), 2 * 2 * 2 * 2);
    for point in &points {
        let [stage, parts @ ..] = &point.parts.iter().rev().collect::<Vec<_>>()[..] else {
            panic!("no parts: {point:?}")
        };
        assert_eq!((parts.len(), stage.name.trim()), (3, "stage"));
        let sum = |of: fn(&Row) -> f64| parts.iter().map(|row| of(row)).fold(0.0, |a, b| a + b);
        assert_eq!(
            (sum(|row| row.bytes), sum(|row| row.operations)),
            (stage.bytes, stage.operations)
        );
        assert!(point.peak > 1e7 && point.copy > 1e7, "{point:?}");
    }
    // Weights in single precision save 4 bytes each: nine an item of a coefficient's stencil, four of a tetrahedron with rows.
    let bytes = |k: usize| points[k].parts[0].bytes;
    let saved = |k: usize| bytes(k) - bytes(k + 1);
    assert!((saved(0) / saved(2) - 9.0 / 4.0).abs() < 0.01, "{} {}", saved(0), saved(2));
    assert!(bytes(2) < 0.6 * bytes(0));
    let report = StagesReport::new(points);
    let text = report.to_string();
    for part in [
        "table 1",
        "table 2",
        "table 3",
        "707.800",
        "14.000",
        "AMD HD 7970",
        "50.56",
        "3.400",
        "1 threads, stages, one point, weights f64",
        "2 threads, fused, third order, weights f32",
        "coefficients",
        "fluxes of traces",
        "sums",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["points"][2]["form"], "fused");
}

#[test]
fn a_budget_of_zero_is_refused() {
    let backend = Backend::host(1).unwrap();
    let error = measure_stages(&backend, 100, 0.0).unwrap_err().to_string();
    assert_eq!(error, "seconds = 0: it must be positive and finite");
}
