//! Least-squares gradients on meshes of mesh generators: bounded on every cell, exact for linear fields
//! wherever their stencil determines them.

use crate::backend::Backend;
use crate::backend::testing::values;
use crate::finite_volume::CellScheme;
use crate::finite_volume::diffusion::discretize;
use crate::finite_volume::least_squares::Use;
use crate::finite_volume::{
    CellGradient, Condition, GradientStencils, Material, NonOrthogonalCorrectionOnBackend,
};
use crate::mesh::check::flat_cells;
use crate::mesh::files::read_mesh;
use crate::mesh::generate::Element;
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::gradient_stencil::{Frame, face_neighbours, gradient_bound, second_moment};
use crate::mesh::testing::{built, gmsh, one_layer_channel, sheared_box, with_sliver};
use crate::mesh::{Geometry, Mesh, RawMesh};
use crate::operators::FaceCells;
use std::sync::Arc;

type Vector = [f64; 3];

const GMSH: [&str; 9] = [
    "pipe_coarse",
    "pipe_medium",
    "pipe_fine",
    "pipe_hxt",
    "ball",
    "tee",
    "triangles_coarse",
    "triangles_medium",
    "triangles_fine",
];

/// Meshes of Gmsh; others of poor quality; those in the folder `KARMAN_CORPUS`, if it is set.
fn corpus() -> Vec<(String, RawMesh)> {
    let mut meshes: Vec<_> = GMSH.iter().map(|name| (name.to_string(), gmsh(name))).collect();
    for name in ["wedge", "valve"] {
        meshes.push((name.to_string(), gmsh(name)));
    }
    for name in ["pipe_coarse", "ball"] {
        meshes.push((format!("{name} with a sliver"), with_sliver(&gmsh(name), 0.01).0));
    }
    for (element, dimension) in
        [(Element::Hexahedron, 3), (Element::Tetrahedron, 3), (Element::Triangle, 2)]
    {
        meshes.push((format!("{element:?} at 85°"), sheared_box(element, dimension, 4, 85.0)));
    }
    for (element, dimension) in [
        (Element::Tetrahedron, 3),
        (Element::Prism, 3),
        (Element::Hexahedron, 3),
        (Element::Triangle, 2),
        (Element::Quadrilateral, 2),
    ] {
        meshes.push((format!("one layer, {element:?}"), one_layer_channel(element, dimension)));
    }
    let mut stretched = gmsh("pipe_coarse");
    stretched.points.iter_mut().for_each(|x| x[1] *= 0.02);
    meshes.push(("stretched fiftyfold".into(), stretched));
    if let Some(folder) = std::env::var_os("KARMAN_CORPUS") {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|path| path.extension().is_some_and(|e| e == "msh")) {
            meshes.push((file.display().to_string(), read_mesh(&file).unwrap()));
        }
    }
    meshes
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Boundary {
    Dirichlet,
    Neumann,
    Unknown,
    /// The three in turn, patch by patch.
    Mixed,
}

const PURPOSES: [Use; 3] = [Use::Derivative, Use::Correction, Use::Extrapolation];

const BOUNDARIES: [Boundary; 4] =
    [Boundary::Dirichlet, Boundary::Neumann, Boundary::Unknown, Boundary::Mixed];

fn conditions(mesh: &Mesh, boundary: Boundary) -> Vec<Condition> {
    let of = |kind: Boundary| match kind {
        Boundary::Dirichlet => Condition::Dirichlet(Arc::new(0.0)),
        Boundary::Neumann => Condition::Neumann(Arc::new(0.0)),
        _ => Condition::Extrapolated,
    };
    let turn = [Boundary::Dirichlet, Boundary::Neumann, Boundary::Unknown];
    let kind = |k: usize| if boundary == Boundary::Mixed { turn[k % 3] } else { boundary };
    (0..mesh.patches.len()).map(|k| of(kind(k))).collect()
}

/// Gradients of a cell field with boundary values.
struct Gradients {
    gradient: CellGradient<f64>,
    stencils: GradientStencils,
    /// Prescribed values: `[n_values]`; the boundary face of each, and whether it is a normal derivative.
    faces: Vec<(usize, bool)>,
}

fn gradients(
    backend: &Backend,
    mesh: &Mesh,
    geometry: &Geometry,
    boundary: Boundary,
    purpose: Use,
) -> Gradients {
    let material = Material::uniform(mesh.n_cells(), 1.0, 1.0);
    let conditions = conditions(mesh, boundary);
    let (discrete, kinds) = discretize(mesh, geometry, &material, &conditions, true).unwrap();
    let correction = discrete.correction.unwrap();
    let mut stencils = correction.stencils.clone();
    let cells = Arc::new(FaceCells::new(backend, mesh));
    let correction = NonOrthogonalCorrectionOnBackend::new(backend, cells, correction);
    let scheme = CellScheme::new(mesh, geometry, &material.conductivity, &kinds, true);
    match purpose {
        Use::Derivative => {}
        Use::Correction => stencils = scheme.stencils(purpose),
        Use::Extrapolation => {
            let flat = flat_cells(mesh, geometry);
            stencils = scheme.extrapolation_of(0..mesh.n_cells(), &flat);
        }
    }
    let gradient = correction.gradient().with_stencils(backend, stencils.clone());
    let mut faces = vec![];
    for (patch, condition) in mesh.patches.iter().zip(&conditions) {
        let is_derivative = matches!(condition, Condition::Neumann(_));
        if is_derivative || matches!(condition, Condition::Dirichlet(_)) {
            faces.extend(patch.faces.clone().map(|face| (face, is_derivative)));
        }
    }
    Gradients { gradient, stencils, faces }
}

impl Gradients {
    /// ∇φ of each cell of `phi: [n_cells]` with `prescribed: [n_values]`.
    fn of(&self, backend: &Backend, phi: &[f64], prescribed: Vec<f64>) -> Vec<Vector> {
        let n = phi.len();
        let mut gradient = backend.zeros(3 * n);
        let at_boundary = if prescribed.is_empty() { vec![0.0] } else { prescribed };
        let (phi, at_boundary) = (backend.upload_slice(phi), backend.upload(at_boundary));
        self.gradient.apply(backend, &phi, (&at_boundary, 1.0), &mut gradient);
        let g = backend.read(&gradient).unwrap();
        (0..n).map(|c| [g[c], g[n + c], g[2 * n + c]]).collect()
    }
}

/// Least distance of a cell's centroid from its neighbours' and, along the normal, from its boundary faces.
fn spacing(mesh: &Mesh, geometry: &Geometry, cell: usize) -> f64 {
    let across = face_neighbours(mesh, geometry, cell).map(|n| norm(n.offset));
    let inner = mesh.n_interior_faces();
    let faces = mesh.cell_to_faces.of(cell).iter().map(|item| crate::mesh::index_of(*item));
    let outer = faces.filter(|face| *face >= inner).map(|face| {
        let area = geometry.area_vector_of(face);
        let d = subtract(geometry.face_centre_of(face), geometry.cell_centre_of(cell));
        dot(d, area) / norm(area)
    });
    across.chain(outer).fold(f64::INFINITY, f64::min)
}

/// ‖g‖ ≤ C (max|Δφ|/h + |q|) for random φ, C = √(d/0.1) times the stretching of the cells.
#[test]
fn gradients_are_bounded_on_every_cell_of_every_mesh() {
    let backend = Backend::host(2).unwrap();
    let mut worst = [0.0f64; 2];
    for (name, raw) in corpus() {
        let (mesh, geometry) = built(raw);
        let n = mesh.n_cells();
        let phi = values(n, 7);
        let range = phi.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for (boundary, purpose) in BOUNDARIES.into_iter().flat_map(|b| PURPOSES.map(|p| (b, p))) {
            let gradients = gradients(&backend, &mesh, &geometry, boundary, purpose);
            let prescribed = values(gradients.faces.len(), 8);
            let q = prescribed.iter().fold(range, |m, v| m.max(v.abs()));
            let found = gradients.of(&backend, &phi, prescribed);
            for (cell, g) in found.iter().enumerate() {
                let h = spacing(&mesh, &geometry, cell);
                let moment = second_moment(&mesh, &geometry, cell);
                let stretching = Frame::of_moment(moment, mesh.dimension).stretching;
                let size = norm(*g) / (2.0 * range.max(q) / h + q);
                worst[0] = worst[0].max(size);
                worst[1] = worst[1].max(size / stretching);
                assert!(
                    size <= stretching * gradient_bound(mesh.dimension),
                    "{name}, {boundary:?}, cell {cell}: {size}, stretched {stretching}"
                );
            }
        }
    }
    eprintln!("largest ‖g‖ / (max|Δφ|/h + |q|): {:.2}, over stretching {:.2}", worst[0], worst[1]);
}

#[test]
fn gradients_are_exact_for_linear_fields_where_their_stencil_determines_them() {
    let backend = Backend::host(2).unwrap();
    for (name, raw) in corpus() {
        let (mesh, geometry) = built(raw);
        let grad_phi = if mesh.dimension == 2 { [1.0, -0.7, 0.0] } else { [1.0, -0.7, 0.4] };
        let n = mesh.n_cells();
        let phi: Vec<f64> = (0..n).map(|c| dot(grad_phi, geometry.cell_centre_of(c))).collect();
        for (boundary, purpose) in BOUNDARIES.into_iter().flat_map(|b| PURPOSES.map(|p| (b, p))) {
            let gradients = gradients(&backend, &mesh, &geometry, boundary, purpose);
            let of_face = |(face, is_derivative): &(usize, bool)| {
                let area = geometry.area_vector_of(*face);
                match is_derivative {
                    true => dot(grad_phi, area) / norm(area),
                    false => dot(grad_phi, geometry.face_centre_of(*face)),
                }
            };
            let prescribed = gradients.faces.iter().map(of_face).collect();
            let found = gradients.of(&backend, &phi, prescribed);
            let is_off = |g: &&Vector| norm(subtract(**g, grad_phi)) > 1e-8;
            let off = found.iter().filter(is_off).count();
            let GradientStencils { dropped, limited, .. } = gradients.stencils;
            assert!(
                off <= dropped + limited,
                "{name}, {boundary:?}, {purpose:?}: {off} cells, {dropped} dropped, {limited} limited"
            );
            // Meshes of volume mesh generators determine every direction, even with unknown boundary values.
            if GMSH.contains(&name.as_str()) {
                assert_eq!(dropped, 0, "{name}, {boundary:?}");
                // 68 of 668 cells are limited in a pipe six cells across, 121 of 821 in a tee, most at rims.
                assert!(limited * 6 <= n, "{name}, {boundary:?}: {limited} of {n} limited");
            }
        }
    }
}

/// Between two walls of unknown value, one layer of cells leaves the normal derivative undetermined.
#[test]
fn one_layer_of_cells_has_no_normal_derivative() {
    let backend = Backend::host(1).unwrap();
    let (mesh, geometry) = built(one_layer_channel(Element::Quadrilateral, 2));
    let unknown = gradients(&backend, &mesh, &geometry, Boundary::Unknown, Use::Derivative);
    assert_eq!(unknown.stencils.dropped, mesh.n_cells());
    let dirichlet = gradients(&backend, &mesh, &geometry, Boundary::Dirichlet, Use::Derivative);
    assert_eq!((dirichlet.stencils.dropped, dirichlet.stencils.widened), (0, 0));
}

/// Face neighbours suffice for hexahedra and triangles. Tetrahedra need further cells: at walls for
/// derivatives, everywhere for upstream extrapolation.
#[test]
fn stencils_grow_where_they_must() {
    let backend = Backend::host(1).unwrap();
    let share = |name: &str, purpose| {
        let (mesh, geometry) = built(gmsh(name));
        let g = gradients(&backend, &mesh, &geometry, Boundary::Unknown, purpose);
        g.stencils.widened as f64 / mesh.n_cells() as f64
    };
    let [walls, all] = [Use::Derivative, Use::Extrapolation].map(|p| share("pipe_fine", p));
    let triangles = share("triangles_fine", Use::Extrapolation);
    eprintln!("widened: {walls:.2} and {all:.2} of tetrahedra, {triangles:.2} of triangles");
    assert!((0.02..0.4).contains(&walls) && all > 0.6 && triangles < 0.2);
    let box_of = crate::mesh::generate::BoxParams {
        size: vec![1.0; 3],
        cells: vec![4; 3],
        element: Some(Element::Hexahedron),
        ..Default::default()
    };
    let (mesh, geometry) = built(box_of.generate().unwrap());
    let g = gradients(&backend, &mesh, &geometry, Boundary::Dirichlet, Use::Extrapolation);
    assert_eq!((g.stencils.widened, g.stencils.limited), (0, 0));
}

/// Few cells of usual meshes need a larger stencil to bound the explicit fluxes of their gradient, more in acute corners and between
/// a disc and the wall of a pipe. The sum Σ (∇φ·t)² / a of explicit fluxes is bounded by that of two-point fluxes on every mesh.
#[test]
fn explicit_fluxes_are_bounded_by_those_of_two_points() {
    let backend = Backend::host(2).unwrap();
    let share = |name: &str| {
        let (mesh, geometry) = built(gmsh(name));
        let g = gradients(&backend, &mesh, &geometry, Boundary::Unknown, Use::Correction);
        let bound_ratio =
            g.stencils.bound_ratio.iter().filter(|bound_ratio| **bound_ratio > 1.0).count();
        bound_ratio as f64 / mesh.n_cells() as f64
    };
    let usual = ["pipe_medium", "pipe_fine", "ball", "cube_tetrahedron_fine"].map(share);
    let [wedge, valve] = ["wedge", "valve"].map(share);
    eprintln!("larger stencils: {usual:.4?}, wedge {wedge:.4}, valve {valve:.4}");
    assert!(usual.iter().all(|share| *share < 0.1) && wedge > 0.15 && valve > 0.15);
    for name in ["wedge", "valve", "pipe_fine"] {
        let (mesh, geometry) = built(gmsh(name));
        let n = mesh.n_cells();
        let material = Material::uniform(n, 1.0, 1.0);
        let conditions = conditions(&mesh, Boundary::Unknown);
        let (_, kinds) = discretize(&mesh, &geometry, &material, &conditions, true).unwrap();
        let scheme = CellScheme::new(&mesh, &geometry, &material.conductivity, &kinds, true);
        let correction = scheme.correction_with(scheme.stencils(Use::Correction));
        let (conductance, t) = (scheme.conductances(), &correction.tangential);
        let g = gradients(&backend, &mesh, &geometry, Boundary::Unknown, Use::Correction);
        let mut largest = 0.0f64;
        for seed in 0..20 {
            let phi = values(n, seed);
            let gradient = g.of(&backend, &phi, vec![]);
            let (mut explicit, mut two_point) = (0.0, 0.0);
            for face in 0..mesh.n_interior_faces() {
                let [l, r] = [mesh.face_left[face], mesh.face_right[face]].map(|c| c as usize);
                let w = correction.left_weight[face];
                let at_face = [0, 1, 2].map(|k| {
                    let tangential = t[k * mesh.n_faces() + face];
                    tangential * (w * gradient[l][k] + (1.0 - w) * gradient[r][k])
                });
                let flux: f64 = at_face.iter().sum();
                explicit += flux * flux / conductance[face];
                two_point += conductance[face] * (phi[r] - phi[l]).powi(2);
            }
            largest = largest.max((explicit / two_point).sqrt());
        }
        eprintln!("{name}: explicit fluxes over two-point fluxes {largest:.3}");
        assert!(largest < 1.0, "{name}: {largest}");
    }
}

/// Faces at 85° of non-orthogonality: the explicit part of their fluxes is limited; the operator is stable.
#[test]
fn explicit_parts_of_fluxes_are_limited_by_geometry() {
    let (mesh, geometry) = built(sheared_box(Element::Hexahedron, 3, 4, 85.0));
    let material = Material::uniform(mesh.n_cells(), 1.0, 1.0);
    let conditions = conditions(&mesh, Boundary::Dirichlet);
    let (discrete, boundary) = discretize(&mesh, &geometry, &material, &conditions, true).unwrap();
    let conductances =
        CellScheme::new(&mesh, &geometry, &material.conductivity, &boundary, true).conductances();
    let t = discrete.correction.unwrap().tangential;
    let n = mesh.n_faces();
    let mut largest = 0.0f64;
    for face in 0..mesh.n_interior_faces() {
        let area = geometry.area_vector_of(face);
        let explicit = norm([t[face], t[n + face], t[2 * n + face]]);
        // |k| / (|Δ| cos θ) = tan θ of the over-relaxed decomposition.
        largest = largest.max(explicit / norm(area));
        assert!(explicit <= norm(area) * 70f64.to_radians().tan() * (1.0 + 1e-12));
        assert!(conductances[face] > 0.0);
    }
    assert!(largest > 2.7, "{largest}");
}
