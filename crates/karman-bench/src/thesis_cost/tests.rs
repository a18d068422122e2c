//! Curves of two points.

use super::*;

#[test]
fn iterations_on_the_three_systems_are_timed() {
    let backend = Backend::host(2).unwrap();
    let mut points = vec![];
    for cells in [800, 2000] {
        points.extend(measure_cost(&backend, cells, 0.01).unwrap());
    }
    for (point, system) in points.iter().zip(CostSystem::ALL.iter().cycle()) {
        let (cells, m) = (point.cells, ((point.cells / 2) as f64).sqrt() as usize);
        assert_eq!((point.system, cells), (*system, 2 * m * m));
        let unknowns = match system {
            CostSystem::Momentum => 3 * m * m + 2 * m,
            CostSystem::Pressure => cells,
            CostSystem::Streamfunction => (m - 1) * (m - 1),
        };
        assert_eq!(point.unknowns, unknowns, "{point:?}");
        assert!(point.iterations > 0 && point.iterations <= 96, "{point:?}");
        assert!(point.seconds > 0.0 && point.nanoseconds().is_finite(), "{point:?}");
    }
    assert_eq!(points.len(), 6);
    let report = CostReport::new(std::slice::from_ref(&backend), points);
    let text = report.to_string();
    for part in ["Figure 7.3: momentum", "Figure 7.4", "Figure 7.5", "roughly 3x", "| cpu: us"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let svg = report.svg();
    for part in [">momentum, cpu<", ">streamfunction, cpu<", ">unknowns<"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["points"][2]["system"], "streamfunction");
}

#[test]
fn solves_do_not_converge_before_they_are_timed() {
    let backend = Backend::host(1).unwrap();
    let points = measure_cost(&backend, 2000, 0.01).unwrap();
    for point in points {
        // On a loaded machine the longer solve replaces the difference.
        let all = ITERATIONS[1];
        assert!([all, all - ITERATIONS[0]].contains(&point.iterations), "{point:?}");
    }
}

#[test]
fn two_backends_are_compared() {
    let backends = [Backend::host(1).unwrap(), Backend::host(2).unwrap()];
    let point = |backend, seconds| CostPoint {
        backend,
        system: CostSystem::Pressure,
        cells: 800,
        unknowns: 800,
        iterations: 64,
        seconds,
    };
    let mut report = CostReport::new(&backends, vec![point("cpu", 8e-6), point("cuda", 2e-6)]);
    report.backends[1].name = "cuda";
    let text = report.to_string();
    assert!(text.contains("4.00") && text.contains("10.000") && text.contains("2.500"), "{text}");
    assert!(report.svg().contains(">pressure, cuda<"));
}

#[test]
fn a_budget_of_zero_is_refused() {
    let backend = Backend::host(1).unwrap();
    let error = measure_cost(&backend, 100, 0.0).unwrap_err().to_string();
    assert_eq!(error, "seconds = 0: it must be positive and finite");
}
