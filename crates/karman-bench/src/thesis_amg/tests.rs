//! The tables of a grid small enough for every commit.

use super::*;

fn grid(steps: usize) -> (Backend, ThesisAmgPlan, Grid) {
    let backend = Backend::host(2).unwrap();
    let plan = ThesisAmgPlan { steps, ..ThesisAmgPlan::default() };
    let grid = measure_grid(&backend, 3000, &plan).unwrap();
    (backend, plan, grid)
}

#[test]
fn kamakolanus_amg_converges_and_its_levels_and_work_units_add_up() {
    let (_, _, grid) = grid(0);
    assert_eq!((grid.cells, grid.strength, grid.levels), (3072, 0.15, 4));
    // The two triangles of a square on a face belong to different cells; most of these have one boundary
    // face.
    assert!(grid.boundary_cells > 500 && grid.boundary_cells <= 768, "{}", grid.boundary_cells);
    for improved in [&grid.variants[1], &grid.variants[3]] {
        assert_eq!(improved.verdict, Verdict::Converged, "{improved:?}");
        assert!(improved.relative_residual.unwrap() <= 1e-8);
    }
    for variant in &grid.variants {
        assert_eq!(variant.levels[0].rows, 3072);
        assert_eq!(variant.levels[0].boundary, Some(grid.boundary_cells));
        assert!(variant.levels.len() > 2 && variant.levels.len() <= 4);
        assert!(variant.levels.windows(2).all(|l| l[1].rows < l[0].rows));
        let updates: usize = variant.levels.iter().map(|level| 4 * level.rows).sum();
        let expected = variant.iterations as f64 * updates as f64 / 3072.0;
        assert!((variant.work_units - expected).abs() < 1e-9 * expected);
    }
    // Level 2 is a checkerboard on a mesh of boxes cut in six, whatever the weights.
    let boundary = |k: usize| grid.variants[k].levels[2].boundary.unwrap();
    assert!(boundary(1) > boundary(0) && boundary(3) > boundary(2), "{:?}", grid.variants);
    let coarsest = |k: usize| grid.variants[k].levels.last().unwrap().degree;
    assert!(coarsest(3) < coarsest(1));
    for solved in [&grid.plain, &grid.jacobi, &grid.default] {
        assert_eq!(solved.verdict, Verdict::Converged, "{solved:?}");
    }
    assert_eq!(grid.plain.work_units, 10.0 * grid.plain.iterations as f64);
    assert!(grid.plain.work_units > 2.0 * grid.variants[3].work_units);
    assert!(grid.unsteady.is_none());
    for solved in [&grid.plain, &grid.variants[3]] {
        assert_eq!(solved.history.len(), solved.iterations + 1);
        let half = solved.work_units / solved.iterations as f64 * (solved.iterations / 2) as f64;
        let residual = solved.residual_after(half).unwrap();
        assert!(residual < 1.0 && residual > 1e-8, "{residual}");
        assert!((solved.work_units_to(residual).unwrap() - half).abs() < 1e-9 * half);
        assert_eq!(solved.work_units_to(1e-30), None);
    }
}

#[test]
fn every_table_is_shown_and_extrapolation_says_so() {
    let (backend, plan, grid) = grid(3);
    let marches = grid.unsteady.clone().unwrap();
    for march in &marches {
        assert_eq!((march.verdict, march.steps), (Verdict::Converged, 3));
        assert!(
            (march.extrapolated() - march.seconds * 8000.0).abs() < 1e-9 * march.extrapolated()
        );
    }
    assert!(marches[1].work_units > 0.0 && marches[0].work_units >= 2.0);
    let levels = grid.variants[3].levels.clone();
    let report = ThesisAmgReport::new(&backend, &plan, vec![grid]);
    let text = report.to_string();
    let titles =
        ["6.1:", "6.2:", "6.3:", "6.4:", "6.14:", "6.15:", "6.16:", "6.17:", "Figure 6.20:"];
    let places = titles.map(|title| text.find(title).unwrap_or_else(|| panic!("{title}: {text}")));
    assert!(places.is_sorted() && text.contains("EXTRAPOLATED from the first 3 steps"), "{text}");
    for level in &levels {
        assert!(text.contains(&level.rows.to_string()), "{text}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["grids"][0]["variants"][3]["verdict"], "converged");
    let without = ThesisAmgReport::new(&backend, &ThesisAmgPlan { steps: 0, ..plan }, vec![]);
    assert!(!without.to_string().contains("6.16"));
}

#[test]
fn published_figures_stand_by_their_grid() {
    assert_eq!(published().len(), 7);
    assert!(published().is_sorted_by_key(|row| row.cells));
    for row in published() {
        // Tables 6.2 and 6.3 repeat columns of tables 6.14 and 6.15.
        assert_eq!(row.variant_work_units[3], Some(row.work_units[1]));
        assert_eq!(row.variant_seconds[3], Some(row.steady_seconds[3]));
        assert_eq!(published::parameters(row.cells), (row.strength, row.levels));
        for k in [0, 2] {
            let diverges = row.variant_work_units[k].is_none();
            assert_eq!(row.variant_seconds[k].is_none(), diverges);
        }
    }
    let [nodes, boundary_nodes] = published_levels();
    assert_eq!(nodes[0], [LEVELS_OF as f64; 4]);
    assert_eq!((nodes.len(), boundary_nodes[5]), (6, [316.0, 2580.0, 268.0, 2314.0]));
    assert!(published::published_for(3000).is_none());
}

#[test]
fn a_tolerance_out_of_range_is_refused() {
    let backend = Backend::host(1).unwrap();
    let plan = ThesisAmgPlan { tolerance: 2.0, steps: 0, ..ThesisAmgPlan::default() };
    let error = measure_grid(&backend, 100, &plan).unwrap_err().to_string();
    assert_eq!(error, "relative_tolerance = 2: it lies in [0, 1)");
}
