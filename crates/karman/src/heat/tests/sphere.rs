//! Conduction from a sphere to the box around it, on a Gmsh mesh of tetrahedra and prisms and on a
//! generated mesh.

use super::*;
use crate::mesh::RawMesh;
use crate::mesh::files::parse_mesh;
use crate::mesh::generate::SphereInBoxParams;
use crate::mesh::testing::shared_mesh;
use std::f64::consts::PI;

/// A sphere of radius ½ about the origin in [−5, 10] × [−5, 5]²: the Gmsh mesh, if available, and a generated
/// mesh.
fn meshes() -> Vec<(&'static str, RawMesh)> {
    let name = "sphere_hybrid.msh";
    let real = shared_mesh(name).map(|bytes| (name, parse_mesh(name.as_ref(), &bytes).unwrap()));
    let generated = SphereInBoxParams {
        size: [15.0, 10.0, 10.0],
        origin: Some([-5.0; 3]),
        surface_size: 0.12,
        far_size: 1.2,
        ..SphereInBoxParams::default()
    };
    real.into_iter().chain([("generated", generated.generate().unwrap())]).collect()
}

struct Solved {
    /// Temperature, position and volume of each unknown.
    values: Vec<(f64, [f64; 3], f64)>,
    /// Heat flow into the domain through the sphere and through the box.
    heat: [f64; 2],
}

fn solved(
    mesh: &Mesh,
    geometry: &Geometry,
    discretization: Discretization,
    temperature: impl Fn(&str) -> Arc<dyn Prescribed>,
) -> Solved {
    let backend = Backend::host(2).unwrap();
    let conditions = mesh.patches.iter().map(|p| Condition::Dirichlet(temperature(&p.name)));
    let problem = Problem {
        discretization,
        material: Material::uniform(mesh.n_cells(), 1.0, 1.0),
        sources: vec![],
        conditions: conditions.collect(),
        initial: Arc::new(0.5),
    };
    let mut heat = Heat::<f64>::new(&backend, mesh, geometry, problem).unwrap();
    let outcome = heat.solve_steady(&with_multigrid()).unwrap();
    assert!(outcome.is_converged(), "{outcome}");
    let found = backend.read(heat.temperature()).unwrap();
    let through = heat_through_patches(&mut heat, mesh, geometry);
    let of_patch = |name: &str| through[mesh.patches.iter().position(|p| p.name == name).unwrap()];
    let nodes = node_centred::node_volumes(mesh);
    let place = |(i, t): (usize, &f64)| match discretization {
        Discretization::Cell { .. } => (*t, geometry.cell_centre_of(i), geometry.cell_volume[i]),
        Discretization::Node => (*t, mesh.points[i], nodes[i]),
    };
    let values = found.iter().enumerate().map(place).collect();
    Solved { values, heat: [of_patch("sphere"), of_patch("farfield")] }
}

const DISCRETIZATIONS: [Discretization; 2] =
    [Discretization::Cell { corrected: true }, Discretization::Node];

/// The sphere at 1, the box at 0. The heat flow lies between those of concentric spheres inscribed in and
/// circumscribed about the box, as a farther cold boundary reduces it: 4π/(1/a − 1/R) with a = ½, R = 5 and
/// R = |(10, 5, 5)|. Fluxes balance to the solver's tolerance. Two-point fluxes satisfy the maximum principle
/// on any mesh, corrected fluxes do not on stretched cells, as the generated ones far from the sphere.
#[test]
fn the_heat_flow_of_a_sphere_in_a_box_balances_and_is_within_bounds() {
    let between = |outer: f64| 4.0 * PI / (2.0 - 1.0 / outer);
    let (least, most) = (between(150f64.sqrt()), between(5.0));
    let two_point = Discretization::Cell { corrected: false };
    let mut problems = vec![];
    for (name, raw) in meshes() {
        let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        for discretization in [two_point, DISCRETIZATIONS[0], DISCRETIZATIONS[1]] {
            let Solved { values, heat: [inward, outward] } =
                solved(&mesh, &geometry, discretization, |patch| {
                    Arc::new(if patch == "sphere" { 1.0 } else { 0.0 })
                });
            let (low, high) = values
                .iter()
                .fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v.0), high.max(v.0)));
            let balance = inward + outward;
            let line = format!(
                "{name} {discretization:?}: {inward} in, balance {balance:e}, from {low} to {high}"
            );
            eprintln!("{line}");
            // The energy of elements exceeds the field's; on the coarse generated mesh it exceeds the bound.
            let is_bounded = match discretization {
                Discretization::Cell { corrected } => corrected,
                Discretization::Node => name == "sphere_hybrid.msh",
            };
            let has_maximum_principle = discretization == two_point || name == "sphere_hybrid.msh";
            if is_bounded && !(least < inward && inward < most)
                || has_maximum_principle && !(low >= 0.0 && high <= 1.0)
                || balance.abs() > 1e-8 * inward
            {
                problems.push(line);
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// L2 error of T = 1/|x − centre|, prescribed on both boundaries, and the relative error of the heat flow 4π
/// through the sphere and through the box.
fn errors_of_a_point_source(
    raw: RawMesh,
    centre: [f64; 3],
    discretization: Discretization,
) -> (f64, [f64; 2]) {
    let mesh = Mesh::new(raw, &MeshOptions::default()).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    let exact = move |p: [f64; 3]| {
        let square: f64 = p.iter().zip(centre).map(|(a, b)| (a - b).powi(2)).sum();
        1.0 / square.sqrt()
    };
    let Solved { values, heat } = solved(&mesh, &geometry, discretization, |_| of_place(exact));
    let square: f64 = values.iter().map(|(t, p, v)| v * (t - exact(*p)).powi(2)).sum();
    let volume: f64 = values.iter().map(|v| v.2).sum();
    ((square / volume).sqrt(), heat.map(|q| q.abs() / (4.0 * PI) - 1.0))
}

#[test]
fn the_field_of_a_point_source_is_accurate_on_a_gmsh_mesh() {
    let name = "sphere_hybrid.msh";
    let Some(bytes) = shared_mesh(name) else { return };
    for (discretization, allowed) in DISCRETIZATIONS.into_iter().zip([0.005, 0.012]) {
        let raw = parse_mesh(name.as_ref(), &bytes).unwrap();
        let (error, off) = errors_of_a_point_source(raw, [0.0; 3], discretization);
        eprintln!("{discretization:?}: L2 error {error:e}, heat flow off by {off:.5?}");
        assert!(error < 1e-3, "{error}");
        assert!(off.iter().all(|off| off.abs() < allowed), "{off:?}");
    }
}

#[test]
fn field_and_heat_of_a_point_source_converge_with_second_order_around_a_generated_sphere() {
    // The node-centred heat flow approaches second order slowly: 1.86 and 1.89 with 15 and 20 cells.
    for (discretization, least_of_heat) in DISCRETIZATIONS.into_iter().zip([1.9, 1.7]) {
        // 7 and 10 cells along an edge of the cube over which the sphere is meshed.
        let errors = [(0.12, 1.0), (0.08, 0.6667)].map(|(surface_size, far_size)| {
            let params = SphereInBoxParams {
                size: [10.0, 8.0, 8.0],
                origin: Some([0.0; 3]),
                centre: [4.0; 3],
                surface_size,
                far_size,
                ..SphereInBoxParams::default()
            };
            let raw = params.generate().unwrap();
            errors_of_a_point_source(raw, [4.0; 3], discretization)
        });
        let [(coarse, heat_coarse), (fine, heat_fine)] = errors;
        let order = |coarse: f64, fine: f64| (coarse / fine).ln() / (10f64 / 7.0).ln();
        let orders = [order(coarse, fine), order(heat_coarse[0], heat_fine[0])];
        eprintln!("{discretization:?} {errors:?}: orders of field and heat {orders:.3?}");
        assert!(orders[0] > 1.9 && orders[1] > least_of_heat, "{orders:?}");
    }
}
