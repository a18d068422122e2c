//! The set-up of the pressure: of a whole mesh, of its boundary alone, and of the part of one of several ranks.

use super::flow_dependent_pressure::FlowDependentPressure;
use super::poisson_system::{PoissonSystem, PressureIncrement};
use super::pressure::{MidpointPressure, Pressure};
use super::pressure_conditions::PressureConditions;
use super::{
    Arrangement, Extent, FlowCondition, IncompressibleError, Numerics, Problem, TimeScheme,
};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::diffusion::discretize_boundary;
use crate::finite_volume::faces::{BlendedCells, Faces};
use crate::finite_volume::{
    BoundaryContributionOnBackend, BoundaryFaces, CellScheme, Condition, GradientStencils,
    LocalMesh, NonOrthogonalCorrectionOnBackend, PartMesh, PartValues, Use, check_finite, narrow,
};
use crate::linear::CsrMatrix;
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of};
use crate::real::Real;
use rayon::prelude::*;
use std::ops::Range;

/// The gradient stencils of some cells.
pub(super) struct PressureStencils {
    stencils: GradientStencils,
    /// The cells of other ranks across faces, with their bound ratios.
    of_layer: Vec<(u32, f64)>,
}

impl PressureStencils {
    /// The cells of stencils that are not in `own`.
    pub(super) fn cells_beyond(&self, own: &Range<usize>) -> Vec<u32> {
        self.stencils.cells_beyond(own)
    }
}

/// The fluxes of ψ and p.
fn scheme_of<'a>(
    mesh: &'a Mesh,
    geometry: &'a Geometry,
    boundary: &'a BoundaryFaces,
) -> CellScheme<'a> {
    CellScheme::new(mesh, geometry, 1.0, boundary, true)
}

/// The use of gradients. On triangles sheared throughout by 70° larger stencils are unstable, as larger conductances are.
fn use_of(mesh: &Mesh, numerics: &Numerics) -> Use {
    match numerics.arrangement {
        Arrangement::Collocated if mesh.dimension == 3 => Use::Correction,
        _ => Use::Derivative,
    }
}

/// Prescribed pressures, and C.
type AtBoundary<F> = (PressureConditions<F>, BoundaryContributionOnBackend<F>);

impl<F: Real> Pressure<F> {
    /// The pressure of a mesh; of [`Extent::Boundary`] without the equations of cells.
    pub(super) fn new(
        backend: &Backend,
        (mesh, geometry, extent): (&Mesh, &Geometry, Extent),
        faces: &Faces<F>,
        problem: &Problem,
        numerics: &Numerics,
    ) -> Result<Self, IncompressibleError> {
        let conditions: Vec<Condition> =
            problem.conditions.iter().map(FlowCondition::pressure_condition).collect();
        let is_singular = !problem.conditions.iter().any(FlowCondition::prescribes_pressure);
        let (contribution, values, boundary) =
            discretize_boundary(mesh, geometry, 1.0.into(), &conditions)?;
        let mut start = vec![0.0; mesh.n_cells()];
        problem.pressure.sample(&geometry.cell_centre, 0.0, &mut start);
        check_finite("the initial pressure", &start, 0.0)?;
        let prescribed = values.into_time_dependent_data(backend, "a pressure at the boundary")?;
        let dirichlet_index = boundary.dirichlet_indices();
        let of_flow = FlowDependentPressure::new(
            backend,
            (mesh, geometry),
            &problem.conditions,
            &dirichlet_index,
        )?;
        let conditions = PressureConditions::new(
            backend,
            mesh,
            is_singular,
            boundary,
            prescribed,
            of_flow,
            (dirichlet_index, &faces.area),
        );
        let coupling = BoundaryContributionOnBackend::new(backend, contribution);
        let (at_boundary, start) = ((conditions, coupling), narrow(backend, start));
        if extent == Extent::Boundary {
            return Self::at_boundary(backend, mesh, faces, (at_boundary, start), numerics);
        }
        let scheme = scheme_of(mesh, geometry, &at_boundary.0.boundary);
        let stencils = scheme.stencils(use_of(mesh, numerics));
        let ratios = stencils.bound_ratio.clone();
        let place = LocalMesh::whole(mesh, geometry);
        Self::of_cells(backend, place, faces, (at_boundary, start), (stencils, &ratios), numerics)
    }

    /// The gradient stencils of consecutive cells of the mesh, with the bound ratios of the cells `layer` across their faces.
    pub(super) fn stencils(
        &self,
        (mesh, geometry): (&Mesh, &Geometry),
        (cells, layer): (Range<usize>, &[u32]),
        numerics: &Numerics,
    ) -> PressureStencils {
        let scheme = scheme_of(mesh, geometry, &self.conditions.boundary);
        let purpose = use_of(mesh, numerics);
        PressureStencils {
            stencils: scheme.stencils_of(cells, purpose),
            of_layer: match purpose {
                Use::Correction => {
                    layer.iter().copied().zip(scheme.bound_ratios(layer, purpose)).collect()
                }
                _ => vec![],
            },
        }
    }

    /// The pressure of a part with the values that are prescribed there. `stencils` are those of its own cells. All ranks call it.
    pub(super) fn of_part(
        &self,
        part: &PartMesh<'_>,
        faces: &Faces<F>,
        PressureStencils { stencils, of_layer }: PressureStencils,
        numerics: &Numerics,
    ) -> Result<(Self, PartValues), IncompressibleError> {
        let PartMesh { numbers, sub, whole, .. } = part;
        let values = PartValues::new(&self.conditions.boundary, numbers);
        let conditions = self.conditions.of_part(numbers, &values);
        let coupling = self.poisson.coupling.of_part(numbers, &values);
        let mut ratios = stencils.bound_ratio.clone();
        ratios.resize(sub.global_cell.len(), 1.0);
        for (cell, ratio) in of_layer {
            ratios[numbers.cell(cell) as usize] = ratio;
        }
        let stencils = stencils.renumbered(sub, whole.0);
        let start = ((conditions, coupling), numbers.of_cells(&self.value));
        let place = LocalMesh::of_part(part);
        let of_cells = (stencils, &ratios[..]);
        let backend = &numbers.backend;
        let pressure = Self::of_cells(backend, place, faces, start, of_cells, numerics)?;
        Ok((pressure, values))
    }

    /// The pressure of cells, with their stencils and the bound ratios of cells and ghosts.
    fn of_cells(
        backend: &Backend,
        place: LocalMesh<'_>,
        faces: &Faces<F>,
        ((conditions, coupling), value): (AtBoundary<F>, Buffer<F>),
        (stencils, ratios): (GradientStencils, &[f64]),
        numerics: &Numerics,
    ) -> Result<Self, IncompressibleError> {
        let scheme = scheme_of(place.mesh, place.geometry, &conditions.boundary);
        let blended = BlendedCells::new(backend, &faces.skewed, &stencils.bound_ratio);
        let correction = scheme.correction_with(stencils);
        let mut conductances = scheme.conductances();
        let scaled = match numerics.arrangement {
            Arrangement::Collocated => scheme.projection_conductances(&conductances, ratios),
            Arrangement::Staggered | Arrangement::Exact => None,
        };
        // Local steps scale the conductances of the projection alone.
        let scaled = scaled.or_else(|| numerics.is_steady.then(|| conductances.clone()));
        let interpolation_conductance =
            scaled.map(|scaled| narrow(backend, std::mem::replace(&mut conductances, scaled)));
        let matrix = scheme.two_point_matrix(&conductances)?;
        let correction =
            NonOrthogonalCorrectionOnBackend::new(backend, faces.cells.clone(), correction);
        let poisson = PoissonSystem::new(
            backend,
            faces,
            (matrix, coupling, correction),
            narrow(backend, conductances),
            (conditions.is_singular, numerics),
        )?;
        let rotational_weight = match conditions.is_singular {
            true => backend.upload(vec![F::literal(1.0); place.owned()]),
            false => narrow(backend, rotational_weights(place)),
        };
        let of_cells = (poisson, interpolation_conductance, blended, rotational_weight);
        let counts = [place.owned(), place.n_local(), place.n_boundary()];
        Ok(Self::of(backend, (conditions, value), of_cells, (counts, numerics)))
    }

    /// The conditions of a mesh whose cells ranks compute, with room for the pressure of its cells.
    fn at_boundary(
        backend: &Backend,
        mesh: &Mesh,
        faces: &Faces<F>,
        ((conditions, coupling), value): (AtBoundary<F>, Buffer<F>),
        numerics: &Numerics,
    ) -> Result<Self, IncompressibleError> {
        let none = || backend.zeros(0);
        let correction =
            NonOrthogonalCorrectionOnBackend::at_boundary(backend, faces.cells.clone(), none());
        let operators = (CsrMatrix::from_entries(0, 0, vec![])?, coupling, correction);
        // Without the steps of cells.
        let unsteady = Numerics { is_steady: false, ..numerics.clone() };
        let of_system = (conditions.is_singular, &unsteady);
        let poisson = PoissonSystem::new(backend, faces, operators, none(), of_system)?;
        let of_cells = (poisson, None, BlendedCells::new(backend, &[], &[]), none());
        let counts = [0, 0, mesh.n_faces() - mesh.n_interior_faces()];
        let pressure = Self::of(backend, (conditions, value), of_cells, (counts, numerics));
        let midpoint = midpoint(backend, (mesh.n_cells(), counts[2]), numerics);
        Ok(Pressure { midpoint, ..pressure })
    }

    /// The pressure of `[own cells, with ghosts, boundary faces]`.
    fn of(
        backend: &Backend,
        (conditions, value): (PressureConditions<F>, Buffer<F>),
        (poisson, interpolation_conductance, blended, rotational_weight): OfCells<F>,
        ([own, n, n_boundary], numerics): ([usize; 3], &Numerics),
    ) -> Self {
        let values = conditions.prescribed_before.len();
        Pressure {
            backend: backend.clone(),
            value,
            gradient: backend.zeros(3 * n),
            at_boundary: backend.zeros(n_boundary),
            lsq_gradient: backend.zeros(3 * n),
            increment: PressureIncrement::new(backend, [own, n, n_boundary, values], numerics),
            poisson,
            interpolation_conductance,
            blended,
            rotational_weight,
            conditions,
            midpoint: midpoint(backend, (n, n_boundary), numerics),
        }
    }
}

/// The Poisson equation, the conductances of momentum interpolation, blended cells and the weights of the rotational term.
type OfCells<F> = (PoissonSystem<F>, Option<Buffer<F>>, BlendedCells<F>, Buffer<F>);

/// Midpoint pressures of `n` cells and `n_boundary` faces of the boundary, for a time scheme that centres the pressure.
fn midpoint<F: Real>(
    backend: &Backend,
    (n, n_boundary): (usize, usize),
    numerics: &Numerics,
) -> Option<MidpointPressure<F>> {
    (numerics.time_scheme == TimeScheme::Ab2Cn).then(|| {
        let both = || [backend.zeros(n), backend.zeros(n_boundary)];
        MidpointPressure { before: both(), at_end: both(), extrapolation: 0.0 }
    })
}

/// The weight of the rotational term in each own cell where a pressure is prescribed (decision 18),
/// min (1, (2 cos θ)⁴) × max (½, min (1, (1.2/ρ)²) min (1, (1.5/s)²)): θ is the largest angle between a face normal and the line between
/// centroids; ρ = V^(2/d − 2) Σ_f |S_f|², over its value in a regular simplex, grows with the aspect ratio; s is the largest ratio of the
/// distances of the two centroids from a face.
fn rotational_weights(place: LocalMesh<'_>) -> Vec<f64> {
    let LocalMesh { mesh, geometry, .. } = place;
    let (exponent, of_simplex) = match mesh.dimension {
        2 => (-1.0, 4.0 * 3.0_f64.sqrt()),
        _ => (-4.0 / 3.0, 0.75 * 72.0_f64.powf(2.0 / 3.0)),
    };
    let of_cell = |cell: usize| {
        let (mut cosine, mut ratio, mut squares) = (1.0_f64, 1.0_f64, 0.0);
        for face in mesh.cell_to_faces.of(cell).iter().map(|item| index_of(*item)) {
            let s = geometry.area_vector_of(face);
            squares += dot(s, s);
            if face >= mesh.n_interior_faces() {
                continue;
            }
            let centre = geometry.cell_centre_of(mesh.face_left[face] as usize);
            let d = subtract(geometry.right_centre_of(mesh, face), centre);
            let share = dot(subtract(geometry.face_centre_of(face), centre), s) / dot(d, s);
            cosine = cosine.min(dot(d, s) / (norm(d) * norm(s)));
            ratio = ratio.max(share / (1.0 - share)).max((1.0 - share) / share);
        }
        let aspect = squares * geometry.cell_volume[cell].powf(exponent) / of_simplex;
        let of_size = (1.2 / aspect).powi(2).min(1.0) * (1.5 / ratio).powi(2).min(1.0);
        (2.0 * cosine.max(0.0)).powi(4).min(1.0) * of_size.max(0.5)
    };
    (0..place.owned()).into_par_iter().with_min_len(1024).map(of_cell).collect()
}
