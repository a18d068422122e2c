//! The part of a flow that one of several ranks computes.
//!
//! It is made of the flow on the whole mesh, whose arrays it has at its cells, faces and prescribed values: what depends on the mesh
//! alone is computed once, with the bits of one rank. Fields that are read across faces have ghosts; each function that changes such a
//! field fetches them. A flux through a face between two parts is computed by both, from equal numbers.

use super::acceleration::Acceleration;
use super::flow::{Clock, Flow};
use super::places::{PartPlaces, Place};
use super::stage::OldLevel;
use super::transported_field::TransportedField;
use super::{IncompressibleError, IncompressibleSolver};
use crate::backend::group::Group;
use crate::backend::{Backend, Buffer, Halo};
use crate::mesh::Mesh;
use crate::mesh::partition::Ranges;
use crate::operators::Part;
use crate::real::Real;
use std::ops::Range;
use std::sync::Arc;

/// The numbers that the flow on the whole mesh takes over after a step of its parts.
#[derive(Clone, Debug)]
pub struct Progress {
    clock: Clock,
    /// max Σ|F| / 2V, and max |D F| / V over it.
    rates: [f64; 2],
    force: Option<[f64; 3]>,
}

/// An array that functions of a flow read.
pub struct FieldArray<'a, F: Real> {
    /// Where its values are.
    pub place: Place,
    /// Whether probes and loads are computed from it.
    pub is_monitored: bool,
    /// Its values.
    pub array: &'a Buffer<F>,
}

impl<'a, F: Real> FieldArray<'a, F> {
    fn new(place: Place, array: &'a Buffer<F>) -> Self {
        FieldArray { place, is_monitored: true, array }
    }

    /// One of which neither probes nor loads are computed.
    fn unmonitored(place: Place, array: &'a Buffer<F>) -> Self {
        FieldArray { is_monitored: false, ..FieldArray::new(place, array) }
    }
}

/// The arrays of a field.
fn arrays_of<F: Real>(field: &TransportedField<F>) -> [FieldArray<'_, F>; 4] {
    let TransportedField { now, before, gradient, at_boundary, .. } = field;
    [
        FieldArray::new(Place::Cells, now),
        FieldArray::unmonitored(Place::Cells, before),
        FieldArray::new(Place::Cells, gradient),
        FieldArray::new(Place::Boundary, at_boundary),
    ]
}

/// The arrays of a field, to be written.
fn arrays_of_mut<F: Real>(field: &mut TransportedField<F>) -> [&mut Buffer<F>; 4] {
    let TransportedField { now, before, gradient, at_boundary, .. } = field;
    [now, before, gradient, at_boundary]
}

impl<F: Real> IncompressibleSolver<F> {
    /// The cells outside `own` that stencils of these cells use, besides those across their faces.
    fn cells_beyond(&self, own: &Range<usize>) -> Vec<u32> {
        let Flow { faces, momentum, thermal, pressure, boundary, .. } = &self.flow;
        let mut cells = momentum.cells_beyond(own);
        cells.extend(pressure.poisson.correction.gradient().cells_beyond(own));
        cells.extend(thermal.iter().flat_map(|thermal| thermal.equation.cells_beyond(own)));
        cells.extend(boundary.outflow.cells_beyond(&faces.cells.left, own));
        cells
    }

    /// The part of this flow, which is on the host and has made no step, that the rank of a group computes on `backend`: the cells of
    /// `ranges`, parts of its mesh. All ranks call it at the same time.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a linear solver does not run on several ranks, or a rank failed.
    pub fn of_rank(
        &self,
        backend: &Backend,
        group: &Arc<dyn Group>,
        (mesh, ranges): (&Mesh, &Ranges<'_>),
    ) -> Result<(Self, PartPlaces), IncompressibleError> {
        let own = ranges.cells(group.rank());
        let sub = ranges.extract(group.rank(), &self.cells_beyond(&own));
        let ghosts = sub.global_cell[sub.mesh.cell_count.owned..].to_vec();
        let halo = Halo::new(group.clone(), &ranges.starts, ghosts)?.on(backend)?;
        self.of_part(&Part::new(backend, &sub, Arc::new(halo), own, mesh), &ranges.starts)
    }

    /// The arrays of a part; `starts` has the first cell of each rank, then their number.
    fn of_part(
        &self,
        part: &Part,
        starts: &[usize],
    ) -> Result<(Self, PartPlaces), IncompressibleError> {
        let Flow { boundary, mean_velocity, numerics, clock, .. } = &self.flow;
        let (momentum, velocities) = self.flow.momentum.of_part(part);
        let (pressure, pressures) = self.flow.pressure.of_part(part)?;
        let thermal = self.flow.thermal.as_ref().map(|thermal| thermal.of_part(part));
        let (thermal, temperatures) = thermal.unzip();
        let (_, outlets) = part.listed_faces(&boundary.outflow.faces);
        let flow = Flow {
            backend: part.backend.clone(),
            faces: self.flow.faces.of_part(part),
            momentum,
            components: self.flow.components.iter().map(|field| field.of_part(part)).collect(),
            flux: part.of_faces(&self.flow.flux),
            thermal,
            pressure,
            boundary: boundary.of_part(part, &velocities)?,
            mean_velocity: mean_velocity.as_ref().map(|mean| mean.of_part(part)),
            monitors: self.flow.monitors.of_part(part),
            numerics: numerics.clone(),
            clock: *clock,
        };
        let (stepper, unknowns) = self.stepper.of_part(part, starts)?;
        let places = PartPlaces {
            own: part.own.clone(),
            n_cells: part.n_whole(),
            cells: part.global_cells().to_vec(),
            faces: part.faces().to_vec(),
            boundary: part.boundary_faces().collect(),
            velocities: velocities.prescribed().to_vec(),
            pressures: pressures.prescribed().to_vec(),
            temperatures: temperatures.map_or(vec![], |values| values.prescribed().to_vec()),
            outlets,
            unknowns,
        };
        let old_level = self.old_level.is_some().then(|| OldLevel::new(&flow));
        let acceleration = self.acceleration.is_some().then(|| Acceleration::new(&flow));
        let acceleration = acceleration.transpose()?;
        Ok((IncompressibleSolver { flow, stepper, old_level, acceleration }, places))
    }

    /// The arrays that functions of the flow read, besides its steps.
    pub fn fields(&self) -> Vec<FieldArray<'_, F>> {
        let Flow { components, momentum, flux, thermal, pressure, monitors, .. } = &self.flow;
        let mut arrays: Vec<FieldArray<'_, F>> = components.iter().flat_map(arrays_of).collect();
        let prescribed = momentum.quantities.iter().map(|of| of.prescribed.value());
        arrays.extend(prescribed.map(|values| FieldArray::new(Place::Velocities, values)));
        arrays.extend([
            FieldArray::new(Place::Faces, flux),
            FieldArray::new(Place::Cells, &pressure.value),
            FieldArray::unmonitored(Place::Cells, &pressure.gradient),
            FieldArray::new(Place::Boundary, &pressure.at_boundary),
            FieldArray::new(Place::Pressures, pressure.conditions.prescribed.value()),
            FieldArray::unmonitored(Place::Cells, &monitors.momentum_diagonal),
        ]);
        if let Some(midpoint) = &pressure.midpoint {
            let [value, at_boundary] = &midpoint.at_end;
            arrays.push(FieldArray::new(Place::Cells, value));
            arrays.push(FieldArray::new(Place::Boundary, at_boundary));
        }
        if let Some(thermal) = thermal {
            arrays.extend(arrays_of(&thermal.field));
            let prescribed = thermal.equation.quantities[0].prescribed.value();
            arrays.push(FieldArray::new(Place::Temperatures, prescribed));
        }
        arrays
    }

    /// The face of each value of a place that is a list of faces of the boundary; none of other places.
    pub fn listed_faces(&self, place: Place) -> Option<Vec<u32>> {
        let Flow { faces, momentum, thermal, pressure, boundary, .. } = &self.flow;
        let conditions = match place {
            Place::Velocities => &momentum.boundary,
            Place::Pressures => &pressure.conditions.boundary,
            Place::Temperatures => &thermal.as_ref()?.equation.boundary,
            Place::Outlets => return boundary.outflow.faces.as_host().map(<[u32]>::to_vec),
            Place::Cells
            | Place::OwnCells
            | Place::Faces
            | Place::Boundary
            | Place::Fluxes
            | Place::Potentials => return None,
        };
        let inner = faces.cells.n_interior() as u32;
        Some(conditions.faces_of_values().into_iter().map(|face| inner + face).collect())
    }

    /// The arrays of [`IncompressibleSolver::fields`], to be written.
    pub fn fields_mut(&mut self) -> Vec<&mut Buffer<F>> {
        let Flow { components, momentum, flux, thermal, pressure, monitors, .. } = &mut self.flow;
        let mut arrays: Vec<&mut Buffer<F>> =
            components.iter_mut().flat_map(arrays_of_mut).collect();
        arrays.extend(momentum.quantities.iter_mut().map(|of| of.prescribed.value_mut()));
        arrays.extend([
            flux,
            &mut pressure.value,
            &mut pressure.gradient,
            &mut pressure.at_boundary,
            pressure.conditions.prescribed.value_mut(),
            &mut monitors.momentum_diagonal,
        ]);
        arrays.extend(pressure.midpoint.iter_mut().flat_map(|midpoint| &mut midpoint.at_end));
        if let Some(thermal) = thermal {
            arrays.extend(arrays_of_mut(&mut thermal.field));
            arrays.push(thermal.equation.quantities[0].prescribed.value_mut());
        }
        arrays
    }

    /// The numbers that the flow on the whole mesh takes over after a step of this part.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where a rank failed.
    pub fn progress(&self) -> Result<Progress, IncompressibleError> {
        let monitors = &self.flow.monitors;
        let rates = [monitors.convective_rate, monitors.divergence];
        Ok(Progress { clock: self.flow.clock, rates, force: self.mean_force()? })
    }

    /// Takes over the progress of its parts.
    pub fn follow(&mut self, progress: &Progress) {
        self.flow.clock = progress.clock;
        let monitors = &mut self.flow.monitors;
        [monitors.convective_rate, monitors.divergence] = progress.rates;
        if let Some(force) = progress.force {
            self.set_mean_force(force);
        }
    }
}
