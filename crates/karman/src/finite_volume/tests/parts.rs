//! The arrays of a part of a mesh, made with its own numbers, are those of the whole mesh at its cells and faces.

use crate::backend::group::{Group, ThreadGroup, run_ranks};
use crate::backend::{Backend, BackendError, Halo};
use crate::finite_volume::boundary::BoundaryValues;
use crate::finite_volume::majorant::majorant_conductances;
use crate::finite_volume::{
    BoundaryFaces, CellScheme, Condition, Faces, LocalMesh, PartMesh, PartValues, Use, Vectors,
};
use crate::mesh::generate::Element;
use crate::mesh::partition::Ranges;
use crate::mesh::testing::{built, gmsh, with_sliver};
use crate::mesh::{Geometry, Mesh};
use crate::operators::Part;
use crate::operators::tests::sample;
use crate::real::Vec3;
use std::sync::Arc;

/// Values at the entities `list` of each component.
fn at(values: &[f64], list: &[u32], n: usize) -> Vec<f64> {
    values.chunks(n).flat_map(|of| list.iter().map(|i| of[*i as usize])).collect()
}

/// Face arrays of a mesh, or of a part: weights of interior faces, then vectors.
fn arrays(backend: &Backend, faces: &Faces<f64>) -> Result<[Vec<f64>; 5], BackendError> {
    let [plain, momentum, velocity] = [faces.view(), faces.momentum_view(), faces.velocity_view()];
    let vectors = |of: &Vectors<'_, f64>| -> Vec<f64> {
        let all: Vec<_> = (0..faces.cells.n_faces()).map(|face| of.at(face)).collect();
        let component = |of: fn(&Vec3<f64>) -> f64| all.iter().map(of).collect::<Vec<_>>();
        [component(|v| v.x), component(|v| v.y), component(|v| v.z)].concat()
    };
    Ok([
        backend.read(&faces.weight)?,
        vectors(&plain.skewness),
        vectors(&plain.delta),
        vectors(&momentum.delta),
        vectors(&velocity.skewness),
    ])
}

fn compare(name: &str, (mesh, geometry): (&Mesh, &Geometry)) {
    let host = Backend::host(1).unwrap();
    let dirichlet = |k: usize| match k % 2 {
        0 => Condition::Dirichlet(Arc::new(1.0)),
        _ => Condition::ZeroGradient,
    };
    let conditions: Vec<Condition> = (0..mesh.patches.len()).map(dirichlet).collect();
    let mut values = BoundaryValues::default();
    let boundary = BoundaryFaces::new(mesh, geometry, &conditions, &mut values).unwrap();
    let scheme = CellScheme::new(mesh, geometry, 0.3, &boundary, true);
    let conductances = scheme.conductances();
    let bounded = scheme.stencils(Use::Correction);
    let scaled = scheme.projection_conductances(&conductances, &bounded.bound_ratio);
    let scaled = scaled.unwrap_or_else(|| conductances.clone());
    let correction = scheme.correction_with(scheme.stencils(Use::Derivative));
    let majorant = majorant_conductances(
        LocalMesh::whole(mesh, geometry),
        &correction,
        &conductances,
        &scheme,
    );
    let whole = Faces::<f64>::new(&host, mesh, geometry, false);
    let of_whole = arrays(&host, &whole).unwrap();
    let (n_faces, inner) = (mesh.n_faces(), mesh.n_interior_faces());
    let ranges = Ranges::new(mesh, 3, 1);
    run_ranks(&ThreadGroup::new(3), |group| -> Result<(), BackendError> {
        let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
        let (own, layer) = (ranges.cells(group.rank()), ranges.layer(group.rank()));
        let stencils = scheme.stencils_of(own.clone(), Use::Derivative);
        let sub = ranges.extract(group.rank(), &stencils.cells_beyond(&own));
        let ghosts = sub.global_cell[own.len()..].to_vec();
        let halo = Arc::new(Halo::new(Arc::new(group.clone()), &ranges.starts, ghosts)?);
        let part = PartMesh {
            numbers: Part::new(&backend, &sub, halo, own.clone(), mesh),
            geometry: sub.geometry(geometry),
            sub,
            whole: (mesh, geometry),
        };
        let (numbers, place) = (&part.numbers, LocalMesh::of_part(&part));
        let faces = whole.of_part(&part);
        let (all, interior) = (numbers.faces(), &numbers.faces()[..place.mesh.n_interior_faces()]);
        let found = arrays(&backend, &faces)?;
        assert_eq!(found[0], at(&of_whole[0], interior, inner), "{name}: weights");
        for (found, want) in found.iter().zip(&of_whole).skip(1) {
            assert_eq!(*found, at(want, all, n_faces), "{name}: vectors of faces");
        }
        let in_part = |(cell, share): &(u32, f64)| Some((numbers.own_cell(*cell)?, *share));
        let skewed: Vec<(u32, f64)> = whole.skewed.iter().filter_map(in_part).collect();
        assert_eq!(faces.skewed, skewed, "{name}");
        let boundary_of_part = boundary.of_part(numbers, &PartValues::new(&boundary, numbers));
        let of_part = CellScheme::new(place.mesh, place.geometry, 0.3, &boundary_of_part, true);
        let own_conductances = of_part.conductances();
        assert_eq!(own_conductances, at(&conductances, all, n_faces), "{name}: conductances");
        let mut ratios = scheme.stencils_of(own.clone(), Use::Correction).bound_ratio;
        ratios.resize(place.n_local(), 1.0);
        for (cell, ratio) in layer.iter().zip(scheme.bound_ratios(&layer, Use::Correction)) {
            ratios[numbers.cell(*cell) as usize] = ratio;
        }
        let own_scaled = of_part.projection_conductances(&own_conductances, &ratios);
        let own_scaled = own_scaled.unwrap_or_else(|| own_conductances.clone());
        assert_eq!(own_scaled, at(&scaled, all, n_faces), "{name}: projection");
        let correction = of_part.correction_with(stencils.renumbered(&part.sub, mesh));
        let own_majorant = majorant_conductances(place, &correction, &own_conductances, &scheme);
        assert_eq!(own_majorant, at(&majorant, all, n_faces), "{name}: majorants");
        Ok(())
    })
    .unwrap();
}

#[test]
fn parts_have_the_bits_of_the_whole_mesh() {
    // A thin plate has flat cells, the valve slivers and widened stencils, the airfoil skewed quadrilaterals.
    for name in ["plate", "valve", "wedge", "airfoil", "triangles_medium", "two_boxes"] {
        let (mesh, geometry) = built(gmsh(name));
        compare(name, (&mesh, &geometry));
    }
    let (mesh, geometry) = built(with_sliver(&gmsh("ball"), 0.01).0);
    compare("ball with a sliver", (&mesh, &geometry));
    for element in [Element::Tetrahedron, Element::Hexahedron] {
        let pairs = [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]];
        let mesh = sample(element, 3, 4, 0.2).mesh.connect_periodic(&pairs).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        compare("periodic", (&mesh, &geometry));
    }
}
