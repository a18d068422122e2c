//! The tables of grids small enough for every commit.

use super::*;
use crate::thesis_amg::Verdict;

fn grid(case: FlowCase, cells: f64) -> PressureGrid {
    let backend = Backend::host(2).unwrap();
    let published = *case.published().last().unwrap();
    let scale = cells / published.cells as f64;
    let plan = PressurePlan { scale, steps: 2, ..PressurePlan::default() };
    measure_pressure(&backend, case, &published, &plan).unwrap()
}

#[test]
fn systems_of_the_three_flows_are_solved() {
    for case in FlowCase::ALL {
        let grid = grid(case, 3000.0);
        let name = case.word();
        assert!((1500..6000).contains(&grid.cells), "{name}: {}", grid.cells);
        assert!(grid.boundary_cells > 300 && grid.boundary_cells < grid.cells, "{name}");
        assert!(grid.right_hand_side > 0.0 && grid.right_hand_side.is_finite(), "{name}");
        assert!(grid.step > 0.0 && grid.step_seconds > 0.0, "{name}");
        for solved in [&grid.jacobi, &grid.untransformed, &grid.default] {
            assert_eq!(solved.verdict, Verdict::Converged, "{name}: {solved:?}");
            assert!(solved.iterations > 0 && solved.work_units > 0.0 && solved.seconds > 0.0);
            assert!(solved.relative_residual.unwrap() <= 1e-8, "{name}");
        }
        assert!(grid.default.iterations < grid.jacobi.iterations, "{name}");
        assert!(grid.kamakolanu.levels.len() > 2 && grid.kamakolanu.iterations > 0, "{name}");
    }
}

#[test]
fn the_domains_are_those_described() {
    for (case, volume, inlet_area) in [
        (FlowCase::Cavity, 1.0, 1.0),
        (FlowCase::SquareCylinder, 4.0 * 239.0, 32.0),
        (FlowCase::Jet, 7.0 * 7.0 * 12.0 + 2.0, 1.0),
    ] {
        let mesh = Mesh::new(case.mesh(3000).unwrap(), &MeshOptions::default()).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        let found: f64 = geometry.cell_volume.iter().sum();
        assert!((found - volume).abs() < 0.02 * volume, "{case:?}: {found}");
        let moving = ["ymax", "xmin", "inlet"][case as usize];
        let inlet = mesh.patches.iter().find(|p| p.name == moving).unwrap();
        let area =
            |face: usize| geometry.area_vector_of(face).iter().map(|a| a * a).sum::<f64>().sqrt();
        let found: f64 = inlet.faces.clone().map(area).sum();
        assert!((found - inlet_area).abs() < 1e-9 * inlet_area, "{case:?}: {found}");
        assert_eq!(FlowCase::from_word(case.word()), Some(case));
    }
    assert_eq!(FlowCase::from_word("pipe"), None);
}

#[test]
fn tables_show_the_thesis_beside_its_own_cells_alone() {
    let backend = Backend::host(1).unwrap();
    let grid = grid(FlowCase::Cavity, 700.0);
    let scaled = PressurePlan { scale: 0.5, ..PressurePlan::default() };
    let text = PressureReport::new(&backend, &scaled, vec![grid.clone()]).to_string();
    for part in ["Table 6.5:", "Table 6.6:", "Table 6.7:", "0.5 of the thesis' cells", "1 + 1"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("8644.2") && !text.contains("Table 6.8"), "{text}");
    let diverging = Solved { verdict: Verdict::Diverging, ..grid.kamakolanu.clone() };
    let full = PressureGrid { kamakolanu: diverging, ..grid };
    let report = PressureReport::new(&backend, &PressurePlan::default(), vec![full]);
    let text = report.to_string();
    assert!(
        text.contains("8644.2") && text.contains("72517") && text.contains("diverging"),
        "{text}"
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["grids"][0]["source"]["verdict"], "diverging");
    assert_eq!(json["grids"][0]["case"], "cavity");
}

#[test]
fn published_figures_are_in_order() {
    for case in FlowCase::ALL {
        let rows = case.published();
        assert!(rows.is_sorted_by_key(|row| row.cells));
        assert!(rows.iter().all(|row| row.work_units[1] < row.work_units[0]), "{case:?}");
        assert!(rows.iter().all(|row| row.seconds[3] < row.seconds[2]), "{case:?}");
    }
    // 1 day 17 hr 53 min 41 sec.
    assert_eq!(FlowCase::Jet.published()[3].seconds[0], 150_821.0);
}

#[test]
fn plans_out_of_range_are_refused() {
    let backend = Backend::host(1).unwrap();
    let good = PressurePlan { scale: 1e-3, ..PressurePlan::default() };
    for (plan, message) in [
        (
            PressurePlan { steps: 0, ..good },
            "steps = 0: at least one step is needed for a right-hand side",
        ),
        (PressurePlan { cycles: 0, ..good }, "cycles = 0: at least one cycle is needed"),
        (PressurePlan { scale: 0.0, ..good }, "scale = 0: it lies above 0 and up to 100"),
        (PressurePlan { scale: f64::NAN, ..good }, "scale = NaN: it lies above 0 and up to 100"),
        (
            PressurePlan { beta: Some(-1.0), ..good },
            "beta = -1: β and its increment are not negative",
        ),
        (PressurePlan { tolerance: 2.0, ..good }, "relative_tolerance = 2: it lies in [0, 1)"),
    ] {
        let published = &FlowCase::Cavity.published()[0];
        let error = measure_pressure(&backend, FlowCase::Cavity, published, &plan).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}
