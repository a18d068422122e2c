//! The part of a flow that one of several ranks computes.
//!
//! It is made of the flow on the whole mesh, whose arrays it has at its cells, faces and prescribed values: what depends on the mesh
//! alone is computed once, with the bits of one rank. Fields that are read across faces have ghosts; each function that changes such a
//! field fetches them. A flux through a face between two parts is computed by both, from equal numbers.

use super::acceleration::Acceleration;
use super::flow::{Clock, Flow};
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

/// Where the values of an array of a flow are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In cells, `[components][n_cells]`, with ghosts.
    Cells,
    /// In cells, without ghosts.
    OwnCells,
    /// At faces, `[n_faces]`: fluxes.
    Faces,
    /// At faces of the boundary, `[n_boundary]`.
    Boundary,
    /// Prescribed velocities.
    Velocities,
    /// Prescribed pressures.
    Pressures,
    /// Prescribed temperatures.
    Temperatures,
    /// At the faces of convective outlets.
    Outlets,
}

/// The lists of a part.
const LISTS: [Place; 7] = [
    Place::Cells,
    Place::Faces,
    Place::Boundary,
    Place::Velocities,
    Place::Pressures,
    Place::Temperatures,
    Place::Outlets,
];

/// The places of a part in arrays of the whole mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct PartPlaces {
    own: Range<usize>,
    /// Number of cells of the whole mesh.
    n_cells: usize,
    cells: Vec<u32>,
    faces: Vec<u32>,
    boundary: Vec<u32>,
    velocities: Vec<u32>,
    pressures: Vec<u32>,
    temperatures: Vec<u32>,
    outlets: Vec<u32>,
}

impl PartPlaces {
    /// Entries of an array of the whole mesh that its array has, ghosts included.
    fn all(&self, place: Place) -> &[u32] {
        match place {
            Place::Cells => &self.cells,
            Place::OwnCells => &self.cells[..self.own.len()],
            Place::Faces => &self.faces,
            Place::Boundary => &self.boundary,
            Place::Velocities => &self.velocities,
            Place::Pressures => &self.pressures,
            Place::Temperatures => &self.temperatures,
            Place::Outlets => &self.outlets,
        }
    }

    /// Entries of the whole mesh whose values the part hands over: its own in cells, else all that it has.
    fn handed_over(&self, place: Place) -> &[u32] {
        match place {
            Place::Cells => self.all(Place::OwnCells),
            _ => self.all(place),
        }
    }

    /// Components of an array of the whole mesh with `length` entries.
    fn components(&self, place: Place, length: usize) -> usize {
        match place {
            Place::Cells | Place::OwnCells => length / self.n_cells,
            _ => 1,
        }
    }

    /// Appends what the part hands over of its array, `[components][its entries]`, where that of the whole mesh has `length` entries.
    pub fn hand_over<F: Real>(&self, place: Place, length: usize, own: &[F], values: &mut Vec<F>) {
        let (count, components) = (self.handed_over(place).len(), self.components(place, length));
        let stride = own.len() / components;
        for k in 0..components {
            values.extend_from_slice(&own[k * stride..][..count]);
        }
    }

    /// Writes what a part has handed over of an array to that of the whole mesh, and takes it off `values`.
    pub fn take_over<F: Real>(&self, place: Place, values: &mut &[F], whole: &mut [F]) {
        let (entries, components) = (self.handed_over(place), self.components(place, whole.len()));
        let n = whole.len() / components;
        for k in 0..components {
            let (component, rest) = values.split_at(entries.len());
            for (value, i) in component.iter().zip(entries) {
                whole[k * n + *i as usize] = *value;
            }
            *values = rest;
        }
    }

    /// As numbers, for another process: the own cells, the number of all, and each list after its length.
    pub fn to_numbers(&self) -> Vec<u32> {
        let PartPlaces { own, n_cells, .. } = self;
        let mut numbers = vec![own.start as u32, own.end as u32, *n_cells as u32];
        for place in LISTS {
            let list = self.all(place);
            numbers.push(list.len() as u32);
            numbers.extend_from_slice(list);
        }
        numbers
    }

    /// From the numbers of [`PartPlaces::to_numbers`].
    pub fn from_numbers(numbers: &[u32]) -> PartPlaces {
        let mut rest = &numbers[3..];
        let lists = LISTS.map(|_| {
            let (list, after) = rest[1..].split_at(rest[0] as usize);
            rest = after;
            list.to_vec()
        });
        let [cells, faces, boundary, velocities, pressures, temperatures, outlets] = lists;
        PartPlaces {
            own: numbers[0] as usize..numbers[1] as usize,
            n_cells: numbers[2] as usize,
            cells,
            faces,
            boundary,
            velocities,
            pressures,
            temperatures,
            outlets,
        }
    }

    /// The array of the part, of `length` entries, from one of the whole mesh.
    pub fn read<F: Real>(&self, place: Place, whole: &[F], length: usize) -> Vec<F> {
        let places = self.all(place);
        // A boundary without prescribed values has a value that none reads.
        if places.is_empty() || length == 0 {
            return vec![F::from_f64(0.0); length];
        }
        let components = length / places.len();
        let n = whole.len() / components;
        let component = |k: usize| places.iter().map(move |i| whole[k * n + *i as usize]);
        (0..components).flat_map(component).collect()
    }
}

/// The numbers that the flow on the whole mesh takes over after a step of its parts.
#[derive(Clone, Debug)]
pub struct Progress {
    clock: Clock,
    /// max Σ|F| / 2V, and max |D F| / V over it.
    rates: [f64; 2],
    force: Option<[f64; 3]>,
}

/// The arrays of a field.
fn arrays_of<F: Real>(field: &TransportedField<F>) -> [(Place, &Buffer<F>); 4] {
    let TransportedField { now, before, gradient, at_boundary, .. } = field;
    let cells = Place::Cells;
    [(cells, now), (cells, before), (cells, gradient), (Place::Boundary, at_boundary)]
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

    /// The part of this flow, which is collocated and on the host, that the rank of a group computes on `backend`: the cells of
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
        self.of_part(&Part::new(backend, &sub, Arc::new(halo), own, mesh))
    }

    /// The arrays of a part.
    fn of_part(&self, part: &Part) -> Result<(Self, PartPlaces), IncompressibleError> {
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
        let Some(stepper) = self.stepper.of_part(part) else {
            unreachable!("only collocated flows have parts")
        };
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
        };
        let old_level = self.old_level.is_some().then(|| OldLevel::new(&flow));
        let acceleration = self.acceleration.is_some().then(|| Acceleration::new(&flow));
        let acceleration = acceleration.transpose()?;
        Ok((IncompressibleSolver { flow, stepper, old_level, acceleration }, places))
    }

    /// The arrays that functions of the flow read, besides its steps.
    pub fn fields(&self) -> Vec<(Place, &Buffer<F>)> {
        let Flow { components, momentum, flux, thermal, pressure, monitors, .. } = &self.flow;
        let mut arrays: Vec<(Place, &Buffer<F>)> = components.iter().flat_map(arrays_of).collect();
        let prescribed = momentum.quantities.iter().map(|of| of.prescribed.value());
        arrays.extend(prescribed.map(|values| (Place::Velocities, values)));
        arrays.extend([
            (Place::Faces, flux),
            (Place::Cells, &pressure.value),
            (Place::Cells, &pressure.gradient),
            (Place::Boundary, &pressure.at_boundary),
            (Place::Pressures, pressure.conditions.prescribed.value()),
            (Place::Cells, &monitors.momentum_diagonal),
        ]);
        if let Some(midpoint) = &pressure.midpoint {
            let [value, at_boundary] = &midpoint.at_end;
            arrays.extend([(Place::Cells, value), (Place::Boundary, at_boundary)]);
        }
        if let Some(thermal) = thermal {
            arrays.extend(arrays_of(&thermal.field));
            arrays.push((Place::Temperatures, thermal.equation.quantities[0].prescribed.value()));
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
            Place::Cells | Place::OwnCells | Place::Faces | Place::Boundary => return None,
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

#[cfg(test)]
mod tests {
    use super::{PartPlaces, Place};

    /// Own cells 2 and 3 of five, the ghost 4.
    fn places() -> PartPlaces {
        PartPlaces {
            own: 2..4,
            n_cells: 5,
            cells: vec![2, 3, 4],
            faces: vec![1, 6],
            boundary: vec![],
            velocities: vec![0],
            pressures: vec![],
            temperatures: vec![2, 5, 7],
            outlets: vec![3],
        }
    }

    #[test]
    fn places_survive_as_numbers() {
        assert_eq!(PartPlaces::from_numbers(&places().to_numbers()), places());
    }

    #[test]
    fn own_entries_are_handed_over() {
        let (places, mut values) = (places(), vec![]);
        // Two components with ghosts.
        places.hand_over(Place::Cells, 10, &[1.0, 2.0, 9.0, 3.0, 4.0, 9.0], &mut values);
        places.hand_over(Place::Faces, 7, &[5.0, 6.0], &mut values);
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let (mut cells, mut faces, mut rest) = ([0.0; 10], [0.0; 7], &values[..]);
        places.take_over(Place::Cells, &mut rest, &mut cells);
        places.take_over(Place::Faces, &mut rest, &mut faces);
        assert_eq!(cells, [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 3.0, 4.0, 0.0]);
        assert_eq!(faces, [0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 6.0]);
        assert!(rest.is_empty());
    }
}
