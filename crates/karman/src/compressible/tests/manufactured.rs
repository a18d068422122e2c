//! Orders of manufactured solutions on meshes of Gmsh.

use super::exact::{error_at, manufactured, numerics};
use crate::compressible::Reconstruction;
use crate::mesh::testing::{built, gmsh};

/// The order between two meshes of a series, over a fixed time.
fn order(names: [&str; 2], viscosity: f64, reconstruction: Reconstruction) -> f64 {
    let [coarse, fine] = names.map(|name| {
        let (mesh, geometry) = built(gmsh(name));
        let problem = manufactured(&mesh, viscosity);
        let numerics = numerics(reconstruction);
        let error = error_at((&mesh, &geometry), &problem, &numerics, (0.6, 0.1));
        (error, (mesh.n_cells() as f64).powf(-1.0 / mesh.dimension as f64))
    });
    let order = (coarse.0 / fine.0).ln() / (coarse.1 / fine.1).ln();
    eprintln!("{names:?} μ = {viscosity} {reconstruction:?}: {coarse:?} {fine:?} order {order:.2}");
    order
}

#[test]
fn inviscid_flow_in_2d_has_the_order_of_its_reconstruction() {
    for names in [
        ["triangles_coarse", "triangles_medium"],
        ["quadrilaterals_coarse", "quadrilaterals_medium"],
    ] {
        assert!(order(names, 0.0, Reconstruction::Quadratic) > 2.8);
        assert!(order(names, 0.0, Reconstruction::Linear) > 1.9);
        assert!(order(names, 0.0, Reconstruction::Constant) > 0.85);
    }
}

#[test]
fn viscous_flow_in_2d_is_second_order() {
    for names in [
        ["triangles_coarse", "triangles_medium"],
        ["quadrilaterals_coarse", "quadrilaterals_medium"],
    ] {
        assert!(order(names, 0.02, Reconstruction::Quadratic) > 1.9);
    }
}

#[test]
fn flow_in_3d_has_the_order_of_its_reconstruction() {
    // The prisms are too coarse for the asymptotic order: 4 and 7 cells a side.
    for (element, least) in [("tetrahedron", 2.8), ("prism", 2.5)] {
        let names = ["coarse", "medium"].map(|size| format!("cube_{element}_{size}"));
        let names = [names[0].as_str(), names[1].as_str()];
        assert!(order(names, 0.0, Reconstruction::Quadratic) > least);
        if element == "tetrahedron" {
            assert!(order(names, 0.0, Reconstruction::Linear) > 1.9);
        }
    }
}
