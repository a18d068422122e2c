//! Steps of variable length: the part of the set-up that does not depend on values is reused.

use super::*;
use crate::linear::amg::HierarchySource;
use crate::linear::{AmgParams, PreconditionerKind};

#[test]
fn a_change_of_step_updates_multigrid_unless_inertia_falls_too_far() {
    let (mesh, geometry) = box_mesh(Element::Tetrahedron, 6, 0.2);
    let march = |discretization, scheme, preconditioner, steps: &[f64]| {
        let problem = Problem {
            discretization,
            material: Material::uniform(mesh.n_cells(), 1.0, 1.0),
            sources: vec![],
            conditions: conditions(&mesh),
            initial: Arc::new(0.0),
        };
        let backend = Backend::host(2).unwrap();
        let mut heat = Heat::<f64>::new(&backend, &mesh, &geometry, problem).unwrap();
        let mut march = March::new(&heat, scheme, &Params { preconditioner, ..tight() });
        let mut seen = vec![];
        for step in steps {
            let (outcome, _) = march.step(&mut heat, *step).unwrap();
            assert!(outcome.is_converged(), "{outcome}");
            let setup = heat.solver_setup().unwrap();
            seen.push((heat.solver_setups(), setup.hierarchy.as_ref().map(|h| h.source)));
        }
        (backend.read(heat.temperature()).unwrap(), seen)
    };
    // Inertia shift / θ in units of the first step's: 1, 1.5, 1.5, 2 · 1.33, 0.2.
    let steps = [0.01, 0.01, 0.01, 0.005, 0.05];
    let amg = AmgParams { coarse_rows: 30, ..AmgParams::default() };
    for discretization in [Discretization::Cell { corrected: true }, Discretization::Node] {
        let (got, seen) =
            march(discretization, TimeScheme::Bdf2, PreconditionerKind::Amg(amg), &steps);
        let [computed, reused] = [Some(HierarchySource::Computed), Some(HierarchySource::Reused)];
        assert_eq!(seen, [(1, computed), (2, reused), (2, reused), (3, reused), (4, computed)]);
        let (want, seen) =
            march(discretization, TimeScheme::Bdf2, PreconditionerKind::Jacobi, &steps);
        assert_eq!(seen[4], (4, None));
        let size = want.iter().fold(0.0f64, |most, t| most.max(t.abs()));
        for (got, want) in got.iter().zip(&want) {
            assert!((got - want).abs() < 1e-8 * size, "{discretization:?} {got} {want}");
        }
    }
}
