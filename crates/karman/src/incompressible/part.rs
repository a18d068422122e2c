//! The part of a flow that one of several ranks computes.
//!
//! A rank finds the stencils of its cells on the whole mesh, then its ghosts, and makes its arrays with the numbers of its part. Conditions
//! are those of the flow on the whole mesh, at the boundary faces of the part. Fields that are read across faces have ghosts; each function that
//! changes such a field fetches them. A flux through a face between two parts is computed by both, from equal numbers.

use super::flow::{Clock, Flow};
use super::mean_velocity::MeanVelocity;
use super::mean_velocity_control::driving;
use super::places::{LISTS, PartPlaces, Place};
use super::pressure_setup::PressureStencils;
use super::solver::largest_diffusive_rate;
use super::transport_equation::TransportEquation;
use super::transport_setup::EquationStencils;
use super::transported_field::TransportedField;
use super::{Arrangement, IncompressibleError, IncompressibleSolver, Problem};
use crate::backend::group::Group;
use crate::backend::{Backend, Buffer, Halo};
use crate::finite_volume::{PartMesh, PartValues, narrow_slice};
use crate::mesh::partition::Ranges;
use crate::mesh::{Geometry, Mesh};
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

/// An array that outputs of a flow read.
pub struct FieldArray<'a, F: Real> {
    /// Where its values are.
    pub place: Place,
    /// Its values.
    pub array: &'a Buffer<F>,
}

impl<'a, F: Real> FieldArray<'a, F> {
    fn new(place: Place, array: &'a Buffer<F>) -> Self {
        FieldArray { place, array }
    }
}

/// The arrays of a field.
fn arrays_of<F: Real>(field: &TransportedField<F>) -> [FieldArray<'_, F>; 3] {
    let TransportedField { now, gradient, at_boundary, .. } = field;
    [
        FieldArray::new(Place::Cells, now),
        FieldArray::new(Place::Cells, gradient),
        FieldArray::new(Place::Boundary, at_boundary),
    ]
}

/// The arrays of a field, to be written.
fn arrays_of_mut<F: Real>(field: &mut TransportedField<F>) -> [&mut Buffer<F>; 3] {
    let TransportedField { now, gradient, at_boundary, .. } = field;
    [now, gradient, at_boundary]
}

/// The stencils of the own cells of a rank.
struct FlowStencils {
    momentum: EquationStencils,
    thermal: Option<EquationStencils>,
    pressure: PressureStencils,
}

/// The values prescribed at the boundary faces of a part.
struct FlowValues {
    velocities: PartValues,
    pressures: PartValues,
    temperatures: Option<PartValues>,
}

impl<F: Real> Flow<F> {
    /// The stencils of own cells, and of the cells `layer` of other ranks across their faces.
    fn stencils(
        &self,
        place: (&Mesh, &Geometry),
        own: &Range<usize>,
        layer: &[u32],
    ) -> FlowStencils {
        let Flow { faces, momentum, thermal, pressure, numerics, .. } = self;
        let of_scheme = (&faces.flat[..], numerics);
        let of = |equation: &TransportEquation<F>| equation.stencils(place, own.clone(), of_scheme);
        FlowStencils {
            momentum: of(momentum),
            thermal: thermal.as_ref().map(|thermal| of(&thermal.equation)),
            pressure: pressure.stencils(place, (own.clone(), layer), numerics),
        }
    }

    /// The cells outside `own` that these stencils and those of convective outlets use.
    fn cells_beyond(&self, stencils: &FlowStencils, own: &Range<usize>) -> Vec<u32> {
        let FlowStencils { momentum, thermal, pressure } = stencils;
        let mut cells = momentum.cells_beyond(own);
        cells.extend(pressure.cells_beyond(own));
        cells.extend(thermal.iter().flat_map(|stencils| stencils.cells_beyond(own)));
        cells.extend(self.boundary.outflow.cells_beyond(&self.faces.cells.left, own));
        cells
    }

    /// The flow on a part. `stencils` are those of its own cells. All ranks call it.
    fn of_part(
        &self,
        part: &PartMesh<'_>,
        stencils: FlowStencils,
        problem: &Problem,
    ) -> Result<(Self, FlowValues), IncompressibleError> {
        let Flow { boundary, numerics, clock: Clock { time, steps, .. }, .. } = self;
        let numbers = &part.numbers;
        let backend = &numbers.backend;
        let faces = self.faces.of_part(part);
        let of_momentum = (numerics, &problem.source[..]);
        let (momentum, velocities) =
            self.momentum.of_part(part, &faces, stencils.momentum, of_momentum)?;
        let (pressure, pressures) =
            self.pressure.of_part(part, &faces, stencils.pressure, numerics)?;
        let of_thermal = self.thermal.as_ref().zip(problem.thermal.as_ref());
        let thermal = of_thermal.zip(stencils.thermal).map(|((thermal, problem), stencils)| {
            thermal.of_part(part, &faces, stencils, (numerics, problem))
        });
        let (thermal, temperatures) = thermal.transpose()?.unzip();
        let rate = largest_diffusive_rate(&momentum, thermal.as_ref());
        let diffusion = numbers.largest_of_ranks(rate)?;
        let rates = narrow_slice(backend, momentum.diffusive_rates());
        let mut flow = Flow {
            backend: backend.clone(),
            components: self.components.iter().map(|field| field.of_part(numbers)).collect(),
            flux: match numerics.arrangement {
                Arrangement::Collocated => backend.zeros(numbers.n_faces()),
                Arrangement::Staggered | Arrangement::Exact => numbers.of_faces(&self.flux),
            },
            boundary: boundary.of_part(numbers, &velocities)?,
            mean_velocity: self.mean_velocity.as_ref().map(|mean| self.mean_of_part(part, mean)),
            monitors: self.monitors.of_part(numbers, (rates, diffusion), numerics),
            faces,
            momentum,
            thermal,
            pressure,
            numerics: numerics.clone(),
            clock: self.clock,
        };
        if *steps > 0 {
            // Sources begin at time 0.
            flow.set_transport_time(*time)?;
        }
        Ok((flow, FlowValues { velocities, pressures, temperatures }))
    }

    /// The control of the mean velocity on a part.
    fn mean_of_part(&self, part: &PartMesh<'_>, mean: &MeanVelocity<F>) -> MeanVelocity<F> {
        let PartMesh { numbers, sub, geometry, .. } = part;
        let prescribed = self.boundary.dirichlet_index.as_host().unwrap_or_default();
        let faces: Vec<u32> = numbers.boundary_faces().collect();
        let is_closed = |b: usize| prescribed[faces[b] as usize] > 0;
        let place = (&sub.mesh, geometry);
        mean.of_part(numbers, driving(&numbers.backend, place, &mean.directions, is_closed))
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// The part of this flow, one of [`IncompressibleSolver::of_ranks`] that has made no step, that the rank of a group computes on
    /// `backend`: the cells of `ranges`, parts of its mesh. All ranks call it at the same time.
    ///
    /// # Errors
    /// [`IncompressibleError`] where a linear solver does not run on several ranks, or a rank failed.
    pub fn of_rank(
        &self,
        backend: &Backend,
        group: &Arc<dyn Group>,
        (mesh, geometry, ranges): (&Mesh, &Geometry, &Ranges<'_>),
        problem: &Problem,
    ) -> Result<(Self, PartPlaces), IncompressibleError> {
        let own = ranges.cells(group.rank());
        let layer = ranges.layer(group.rank());
        let stencils = self.flow.stencils((mesh, geometry), &own, &layer);
        let beyond = self.flow.cells_beyond(&stencils, &own);
        let sub = ranges.extract(group.rank(), &beyond);
        drop(beyond);
        let ghosts = sub.global_cell[sub.mesh.cell_count.owned..].to_vec();
        let halo = Arc::new(Halo::new(group.clone(), &ranges.starts, ghosts)?.on(backend)?);
        let part = PartMesh {
            numbers: Part::new(backend, &sub, halo, own, mesh),
            geometry: sub.geometry(geometry),
            sub,
            whole: (mesh, geometry),
        };
        self.of_part(&part, stencils, &ranges.starts, problem)
    }

    /// The arrays of a part; `starts` has the first cell of each rank, then their number.
    fn of_part(
        &self,
        part: &PartMesh<'_>,
        stencils: FlowStencils,
        starts: &[usize],
        problem: &Problem,
    ) -> Result<(Self, PartPlaces), IncompressibleError> {
        let (flow, values) = self.flow.of_part(part, stencils, problem)?;
        let part = &part.numbers;
        let (stepper, unknowns) = self.stepper.of_part(part, starts)?;
        let (_, outlets) = part.listed_faces(&self.flow.boundary.outflow.faces);
        let listed = |values: &PartValues| values.prescribed().to_vec();
        let places = PartPlaces {
            own: part.own.clone(),
            lengths: self.list_lengths(),
            cells: part.global_cells().to_vec(),
            faces: part.faces().to_vec(),
            boundary: part.boundary_faces().collect(),
            velocities: listed(&values.velocities),
            pressures: listed(&values.pressures),
            temperatures: values.temperatures.as_ref().map_or(vec![], listed),
            outlets,
            unknowns,
        };
        Ok((Self::with_memory(flow, stepper)?, places))
    }

    /// The lengths of arrays of the whole mesh by place, in the order of [`LISTS`]; of arrays in cells that of one component.
    fn list_lengths(&self) -> [usize; LISTS.len()] {
        let Flow { momentum, pressure, thermal, boundary, .. } = &self.flow;
        let (n_cells, n_faces) = (self.flow.n_cells(), self.flow.n_faces());
        let of_unknowns = self.stepper.arrays();
        LISTS.map(|place| match place {
            Place::Cells | Place::OwnCells => n_cells,
            Place::Faces => n_faces,
            Place::Boundary => n_faces - self.flow.faces.cells.n_interior(),
            Place::Velocities => momentum.quantities[0].prescribed.value().len(),
            Place::Pressures => pressure.conditions.prescribed_before.len(),
            Place::Temperatures => thermal
                .as_ref()
                .map_or(0, |thermal| thermal.equation.quantities[0].prescribed.value().len()),
            Place::Outlets => boundary.outflow.faces.len(),
            Place::Fluxes | Place::Potentials => {
                let of_place = of_unknowns.iter().find(|(_, other, _)| *other == place);
                of_place.map_or(0, |(_, _, array)| array.len())
            }
        })
    }

    /// The arrays that outputs read.
    pub fn fields(&self) -> Vec<FieldArray<'_, F>> {
        let Flow { components, momentum, flux, thermal, pressure, .. } = &self.flow;
        let mut arrays: Vec<FieldArray<'_, F>> = components.iter().flat_map(arrays_of).collect();
        let prescribed = momentum.quantities.iter().map(|of| of.prescribed.value());
        arrays.extend(prescribed.map(|values| FieldArray::new(Place::Velocities, values)));
        arrays.extend([
            FieldArray::new(Place::Faces, flux),
            FieldArray::new(Place::Cells, &pressure.value),
            FieldArray::new(Place::Boundary, &pressure.at_boundary),
            FieldArray::new(Place::Pressures, pressure.conditions.prescribed.value()),
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
        let Flow { components, momentum, flux, thermal, pressure, .. } = &mut self.flow;
        let mut arrays: Vec<&mut Buffer<F>> =
            components.iter_mut().flat_map(arrays_of_mut).collect();
        arrays.extend(momentum.quantities.iter_mut().map(|of| of.prescribed.value_mut()));
        arrays.extend([
            flux,
            &mut pressure.value,
            &mut pressure.at_boundary,
            pressure.conditions.prescribed.value_mut(),
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

    /// The largest diffusive rate of all cells.
    pub fn diffusive_rate(&self) -> f64 {
        self.flow.monitors.step_bounds.diffusion()
    }

    /// Takes over the largest diffusive rate from its parts.
    pub fn set_diffusive_rate(&mut self, rate: f64) {
        let Flow { monitors, numerics, .. } = &mut self.flow;
        monitors.set_diffusion(numerics, rate);
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
