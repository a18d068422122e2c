//! The pressure: its values, gradient and boundary data.

use super::flow_dependent_pressure::FlowDependentPressure;
use super::kernels::{advance_pressure, subtract_prescribed, subtract_smoothed_divergence};
use super::poisson_system::{PoissonSystem, PressureIncrement};
use super::pressure_conditions::PressureConditions;
use super::transport_equation::dirichlet_indices;
use super::{Arrangement, FlowCondition, IncompressibleError, Numerics, Problem, TimeScheme};
use crate::backend::{Backend, Buffer, blas};
use crate::finite_volume::CellScheme;
use crate::finite_volume::diffusion::discretize_boundary;
use crate::finite_volume::faces::{BlendedCells, Faces};
use crate::finite_volume::gradient::{blend_gradients, pressure_gradient};
use crate::finite_volume::interpolation::boundary_value;
use crate::finite_volume::{
    CellField, Condition, Discrete, FaceView, Material, NonOrthogonalCorrectionOnBackend,
    PartValues, Vectors, check_finite, narrow,
};
use crate::mesh::geometry::{dot, norm, subtract};
use crate::mesh::{Geometry, Mesh, index_of};
use crate::operators::Part;
use crate::real::Real;
use rayon::prelude::*;

/// The pressure and its increment by the projection.
pub(super) struct Pressure<F: Real> {
    pub(super) backend: Backend,
    /// p at the end of the step, with AB2/CN at its midpoint: `[n_cells]`.
    pub value: Buffer<F>,
    /// ∇p: `[3][n_cells]`.
    pub gradient: Buffer<F>,
    /// p at boundary faces: `[n_boundary]`.
    pub at_boundary: Buffer<F>,
    /// Scratch, the least-squares gradient: `[3][n_cells]`.
    pub(super) lsq_gradient: Buffer<F>,
    pub conditions: PressureConditions<F>,
    /// ψ of the last projection.
    pub increment: PressureIncrement<F>,
    pub poisson: PoissonSystem<F>,
    /// a of momentum interpolation: `[n_faces]`; None where it is that of the projection.
    interpolation_conductance: Option<Buffer<F>>,
    /// Cells whose gradient is not that of Gauss alone.
    pub(super) blended: BlendedCells<F>,
    /// w, the weight of the rotational term: `[n_cells]`.
    rotational_weight: Buffer<F>,
    /// Midpoint pressures, for time schemes that centre the pressure.
    pub midpoint: Option<MidpointPressure<F>>,
}

/// Pressures at the midpoints of steps and their extrapolation to the end of the step.
pub(super) struct MidpointPressure<F: Real> {
    /// p and p at the boundary at the midpoint of the previous step.
    pub before: [Buffer<F>; 2],
    /// p and p at the boundary at the end of the step.
    pub at_end: [Buffer<F>; 2],
    /// Factor of the last change of p in the extrapolation.
    extrapolation: f64,
}

impl<F: Real> Pressure<F> {
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &Faces<F>,
        problem: &Problem,
        numerics: &Numerics,
    ) -> Result<Self, IncompressibleError> {
        let n = mesh.n_cells();
        let n_boundary = mesh.n_faces() - mesh.n_interior_faces();
        let conditions: Vec<Condition> =
            problem.conditions.iter().map(FlowCondition::pressure_condition).collect();
        let is_singular = !problem.conditions.iter().any(FlowCondition::prescribes_pressure);
        let material = Material::uniform(n, 1.0, 1.0);
        let (discrete, boundary) = discretize_boundary(mesh, geometry, &material, &conditions)?;
        let scheme = CellScheme::new(mesh, geometry, &material.conductivity, &boundary, true);
        // On triangles sheared throughout by 70° larger stencils are unstable, as larger conductances are.
        let correction = match numerics.arrangement {
            Arrangement::Collocated if mesh.dimension == 3 => scheme.bounded_correction(),
            _ => scheme.correction(),
        };
        let bound_ratio = &correction.stencils.bound_ratio;
        let blended = BlendedCells::new(backend, &faces.skewed, bound_ratio);
        let mut conductances = scheme.conductances();
        let scaled = match numerics.arrangement {
            Arrangement::Collocated => scheme.projection_conductances(&conductances, bound_ratio),
            Arrangement::Staggered | Arrangement::Exact => None,
        };
        // Local steps scale the conductances of the projection alone.
        let scaled = scaled.or_else(|| numerics.is_steady.then(|| conductances.clone()));
        let interpolation_conductance =
            scaled.map(|scaled| narrow(backend, std::mem::replace(&mut conductances, scaled)));
        let matrix = scheme.two_point_matrix(&conductances)?;
        let mut start = vec![0.0; n];
        problem.pressure.sample(&geometry.cell_centre, 0.0, &mut start);
        check_finite("the initial pressure", &start, 0.0)?;
        let Discrete { boundary_contribution, values, .. } = discrete;
        let prescribed = values.into_time_dependent_data(backend, "a pressure at the boundary")?;
        let dirichlet_index = dirichlet_indices(mesh, &conditions);
        let of_flow = FlowDependentPressure::new(
            backend,
            (mesh, geometry),
            &problem.conditions,
            &dirichlet_index,
        )?;
        let faces_of = (dirichlet_index, &faces.area);
        let conditions = PressureConditions::new(
            backend,
            mesh,
            is_singular,
            boundary,
            prescribed,
            of_flow,
            faces_of,
        );
        let values = conditions.prescribed_before.len();
        Ok(Pressure {
            backend: backend.clone(),
            value: narrow(backend, start),
            gradient: backend.zeros(3 * n),
            at_boundary: backend.zeros(n_boundary),
            lsq_gradient: backend.zeros(3 * n),
            increment: PressureIncrement::new(backend, (n, n_boundary, values), numerics),
            poisson: PoissonSystem::new(
                backend,
                faces,
                (matrix, boundary_contribution, correction),
                narrow(backend, conductances),
                is_singular,
                numerics,
            )?,
            interpolation_conductance,
            blended,
            rotational_weight: match is_singular {
                true => backend.upload(vec![F::literal(1.0); n]),
                false => narrow(backend, rotational_weights(mesh, geometry)),
            },
            conditions,
            midpoint: (numerics.time_scheme == TimeScheme::Ab2Cn).then(|| {
                let both = || [backend.zeros(n), backend.zeros(n_boundary)];
                MidpointPressure { before: both(), at_end: both(), extrapolation: 0.0 }
            }),
        })
    }

    /// The pressure of a part, with the values prescribed there.
    pub(super) fn of_part(&self, part: &Part) -> Result<(Self, PartValues), IncompressibleError> {
        let values = PartValues::new(&self.conditions.boundary, part);
        let conditions = self.conditions.of_part(part, &values);
        let midpoint = self.midpoint.as_ref().map(|midpoint| {
            let both = |[p, b]: &[Buffer<F>; 2]| [part.of_cells(p), part.of_boundary(b)];
            MidpointPressure {
                before: both(&midpoint.before),
                at_end: both(&midpoint.at_end),
                extrapolation: midpoint.extrapolation,
            }
        });
        let pressure = Pressure {
            backend: part.backend.clone(),
            value: part.of_cells(&self.value),
            gradient: part.of_cells(&self.gradient),
            at_boundary: part.of_boundary(&self.at_boundary),
            lsq_gradient: part.of_cells(&self.lsq_gradient),
            increment: self.increment.of_part(part, &values),
            poisson: self.poisson.of_part(part, &values)?,
            interpolation_conductance: self
                .interpolation_conductance
                .as_ref()
                .map(|conductance| part.of_faces(conductance)),
            blended: self.blended.of_part(part),
            rotational_weight: part.of_own_cells(&self.rotational_weight),
            conditions,
            midpoint,
        };
        Ok((pressure, values))
    }

    /// Sets the prescribed pressures to their mean over a step by the trapezoidal rule.
    pub(super) fn set_trapezoidal_mean(
        &mut self,
        times: [f64; 2],
    ) -> Result<(), IncompressibleError> {
        let PressureConditions { prescribed, prescribed_before, .. } = &mut self.conditions;
        let values = prescribed_before.len();
        blas::copy(&self.backend, values, prescribed.value(), prescribed_before);
        prescribed.set_mean(&self.backend, times)?;
        self.conditions
            .of_flow
            .as_mut()
            .map_or(Ok(()), |of_flow| of_flow.set_trapezoidal_mean(&self.backend, times))
    }

    /// Sets the prescribed pressures that depend on the flow to those of fluxes.
    pub(super) fn prescribe_of_flow(&mut self, faces: &Faces<F>, flux: &Buffer<F>) {
        let PressureConditions { prescribed, of_flow, .. } = &mut self.conditions;
        if let Some(of_flow) = of_flow {
            of_flow.prescribe(&self.backend, &faces.area, flux, prescribed.value_mut());
        }
    }

    /// r ← r − p at faces of prescribed pressure.
    pub(super) fn subtract_prescribed(&self, faces: &Faces<F>, r: &mut Buffer<F>) {
        let PressureConditions { outlets, prescribed, dirichlet_index, .. } = &self.conditions;
        subtract_prescribed(
            &self.backend,
            outlets.len(),
            outlets,
            dirichlet_index,
            prescribed.value(),
            faces.cells.n_interior(),
            r,
        );
    }

    /// The inertia of the cells over the shift: V, of a steady flow V / s with the local steps s.
    pub(super) fn inertia<'a>(&'a self, volume: &'a Buffer<F>) -> &'a Buffer<F> {
        self.poisson.local.as_ref().map_or(volume, |local| &local.inertia)
    }

    /// a of momentum interpolation: `[n_faces]`.
    pub(super) fn interpolation_conductance(&self) -> &Buffer<F> {
        self.interpolation_conductance.as_ref().unwrap_or(&self.poisson.conductance)
    }

    /// p with its Gauss gradient as kernels read it.
    pub(super) fn view(&self) -> CellField<'_, F> {
        CellField {
            value: self.value.view(),
            gradient: Vectors::of(&self.gradient),
            at_boundary: self.at_boundary.view(),
        }
    }

    /// ∇p, and p at the boundary.
    pub(super) fn update_gradients(&mut self, faces: &Faces<F>) {
        let PressureConditions { dirichlet_index, prescribed, .. } = &self.conditions;
        let conditions = (dirichlet_index, prescribed.value());
        let into = (&mut self.lsq_gradient, &mut self.at_boundary, &mut self.gradient);
        let stencils = (&self.poisson.correction, &self.blended);
        compute_pressure_gradients(&self.backend, stencils, faces, conditions, &self.value, into);
        faces.cells.fetch(&mut [&mut self.gradient]);
    }

    /// p and p at the boundary at the end of the last step: `[n_cells]`, `[n_boundary]`.
    pub(super) fn at_end(&self) -> [&Buffer<F>; 2] {
        match &self.midpoint {
            None => [&self.value, &self.at_boundary],
            Some(MidpointPressure { at_end: [value, at_boundary], .. }) => [value, at_boundary],
        }
    }

    /// The pressures at the midpoint of a step before the first, and at its end: those at the start.
    pub(super) fn start_midpoint(&mut self) {
        let Some(MidpointPressure { before, at_end, .. }) = &mut self.midpoint else { return };
        for levels in [before, at_end] {
            for (from, to) in [&self.value, &self.at_boundary].into_iter().zip(levels) {
                blas::copy(&self.backend, from.len(), from, to);
            }
        }
    }

    /// Stores p for [`Pressure::extrapolate_to_end`] and the factor of its next change there.
    pub(super) fn store_midpoint(&mut self, factor: f64) {
        let Some(MidpointPressure { before, extrapolation, .. }) = &mut self.midpoint else {
            return;
        };
        *extrapolation = factor;
        for (from, to) in [&self.value, &self.at_boundary].into_iter().zip(before) {
            blas::copy(&self.backend, from.len(), from, to);
        }
    }

    /// p at the end of a step, p + extrapolation (p − p_before).
    pub(super) fn extrapolate_to_end(&mut self) {
        let Some(MidpointPressure { before, at_end, extrapolation }) = &mut self.midpoint else {
            return;
        };
        let (zero, extrapolation) = (F::literal(0.0), F::from_f64(*extrapolation));
        let now = [&self.value, &self.at_boundary];
        for ((now, before), at_end) in now.into_iter().zip(before).zip(at_end) {
            let (n, weight) = (now.len(), F::literal(1.0) + extrapolation);
            blas::axpbypcz(&self.backend, n, weight, now, -extrapolation, before, zero, at_end);
        }
    }

    /// p ← previous_weight p − shift ψ − ν q, q = D F* / V, smoothed where lines between centroids are not normal to faces
    /// or a pressure is prescribed.
    pub(super) fn advance(
        &mut self,
        faces: &Faces<F>,
        shift: f64,
        viscosity: f64,
        previous_weight: f64,
    ) {
        let is_bounded = faces.is_orthogonal && self.conditions.is_singular;
        let is_smoothed = viscosity > 0.0 && !is_bounded;
        let Pressure {
            backend,
            value,
            increment,
            interpolation_conductance,
            poisson,
            rotational_weight,
            ..
        } = self;
        let conductance = interpolation_conductance.as_ref().unwrap_or(&poisson.conductance);
        let n = faces.cells.n_cells();
        advance_pressure(
            backend,
            n,
            &increment.value,
            &increment.divergence,
            &faces.volume,
            F::from_f64(shift),
            F::from_f64(if is_smoothed { 0.0 } else { viscosity }),
            F::from_f64(previous_weight),
            value,
        );
        if is_smoothed {
            faces.cells.fetch(&mut [&mut increment.divergence]);
            subtract_smoothed_divergence(
                backend,
                n,
                &faces.of_cells(),
                faces.cells.neighbours(backend),
                conductance,
                &increment.divergence,
                rotational_weight,
                F::from_f64(viscosity),
                value,
            );
        }
    }
}

/// The weight of the rotational term in each cell where a pressure is prescribed (decision 18),
/// min (1, (2 cos θ)⁴) × max (½, min (1, (1.2/ρ)²) min (1, (1.5/s)²)): θ is the largest angle between a face normal and the line between
/// centroids; ρ = V^(2/d − 2) Σ_f |S_f|², over its value in a regular simplex, grows with the aspect ratio; s is the largest ratio of the
/// distances of the two centroids from a face.
fn rotational_weights(mesh: &Mesh, geometry: &Geometry) -> Vec<f64> {
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
    (0..mesh.n_cells()).into_par_iter().with_min_len(1024).map(of_cell).collect()
}

/// Least-squares gradient of a pressure, its boundary values (prescribed, or extrapolated by that gradient),
/// and its Gauss gradient, without ghosts.
pub(super) fn compute_pressure_gradients<F: Real>(
    backend: &Backend,
    (correction, blended): (&NonOrthogonalCorrectionOnBackend<F>, &BlendedCells<F>),
    faces: &Faces<F>,
    (dirichlet_index, prescribed): (&Buffer<u32>, &Buffer<F>),
    value: &Buffer<F>,
    (lsq_gradient, at_boundary, gradient): (&mut Buffer<F>, &mut Buffer<F>, &mut Buffer<F>),
) {
    correction.compute_gradient(backend, value, (prescribed, F::literal(1.0)), lsq_gradient);
    if !faces.is_unskewed || faces.is_cubic {
        faces.cells.fetch(&mut [&mut *lsq_gradient]);
    }
    let cells = &faces.cells;
    let lsq = Vectors::of(lsq_gradient);
    // Extrapolated from the centroid of the cell to that of the face.
    let to_boundary =
        FaceView { skewness: Vectors::of(&faces.delta), is_unskewed: false, ..faces.view() };
    boundary_value(
        backend,
        dirichlet_index.len(),
        &to_boundary,
        dirichlet_index,
        prescribed,
        value,
        &lsq,
        at_boundary,
    );
    let p = CellField { value: value.view(), gradient: lsq, at_boundary: at_boundary.view() };
    pressure_gradient(backend, cells.n_cells(), &faces.of_cells(), &faces.view(), &p, gradient);
    let BlendedCells { cells, share } = blended;
    if !cells.is_empty() {
        blend_gradients(backend, cells.len(), cells, share, &lsq, gradient);
    }
}
