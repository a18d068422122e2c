//! The entries of the arrays of a flow from which probes, loads and backflow are computed. Of several ranks those that own them hand
//! over these alone.

use super::flow::Flow;
use super::forces::LoadedFaces;
use super::part::FieldArray;
use super::places::{PartPlaces, Place};
use super::{Field, IncompressibleSolver};
use crate::backend::{Backend, BackendError, Buffer, Element, blas};
use crate::finite_volume::Functionals;
use crate::real::Real;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Entries of arrays of the whole mesh, by the place of the array; ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entries(BTreeMap<Place, Vec<u32>>);

/// The entries that one part hands over.
pub struct PartEntries {
    /// Their numbers in the arrays of the part and of the whole mesh, by place.
    lists: BTreeMap<Place, [Vec<u32>; 2]>,
}

/// The entries that a part hands over, on its backend.
pub struct PackedEntries<F: Real> {
    lists: BTreeMap<Place, Buffer<u32>>,
    /// Number of cells of the part with ghosts.
    cells: usize,
    packed: Buffer<F>,
}

/// An array of a flow that is on the host.
fn host<T: Element>(array: &Buffer<T>) -> &[T] {
    array.as_host().unwrap_or_default()
}

impl Entries {
    fn add(&mut self, place: Place, entries: impl IntoIterator<Item = u32>) {
        let list = self.0.entry(place).or_default();
        list.extend(entries);
        list.sort_unstable();
        list.dedup();
    }

    /// The fluxes through faces.
    pub fn of_fluxes(faces: Range<usize>) -> Entries {
        Entries([(Place::Faces, (faces.start as u32..faces.end as u32).collect())].into())
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// Adds the entries from which functionals of a field are computed; the flow is on the host.
    pub fn add_functionals(
        &self,
        field: Field,
        functionals: &Functionals<F>,
        entries: &mut Entries,
    ) {
        let prescribed = match field {
            Field::Velocity(_) => Place::Velocities,
            Field::Pressure => Place::Pressures,
            Field::Temperature => Place::Temperatures,
        };
        let [cells, values] = functionals.items();
        entries.add(Place::Cells, host(cells).iter().copied());
        entries.add(prescribed, host(values).iter().copied());
    }

    /// Adds the entries from which the loads of a group of faces are computed, of a collocated flow on the host.
    pub fn add_loads(&self, group: &LoadedFaces, entries: &mut Entries) {
        let Flow { faces, boundary, .. } = &self.flow;
        let (left, inner) = (host(&faces.cells.left), faces.cells.n_interior() as u32);
        let loaded = host(&group.faces);
        entries.add(Place::Cells, loaded.iter().map(|face| left[*face as usize]));
        entries.add(Place::Faces, loaded.iter().copied());
        let around = loaded.iter().flat_map(|face| boundary.divergence.faces_of(face - inner));
        entries.add(Place::Boundary, loaded.iter().map(|face| face - inner).chain(around));
    }

    /// The entries that this part hands over, on its backend.
    pub fn packed(&self, places: &PartPlaces, entries: &PartEntries) -> PackedEntries<F> {
        let backend = &self.flow.backend;
        let of_part = entries.lists.iter();
        let lists: BTreeMap<Place, Buffer<u32>> = of_part
            .filter(|(_, [own, _])| !own.is_empty())
            .map(|(place, [own, _])| (*place, backend.upload_slice(own)))
            .collect();
        let mut packed =
            PackedEntries { lists, cells: places.cells.len(), packed: backend.zeros(0) };
        let lengths = self.fields().into_iter().map(|FieldArray { place, array }| {
            packed.lists.get(&place).map_or(0, |list| packed.components(place, array) * list.len())
        });
        packed.packed = backend.zeros(lengths.sum());
        packed
    }

    /// The values that this part hands over.
    ///
    /// # Errors
    /// [`BackendError`] where the device failed.
    pub fn hand_over(&self, entries: &mut PackedEntries<F>) -> Result<Vec<F>, BackendError> {
        let backend: &Backend = &self.flow.backend;
        let mut to = 0;
        for FieldArray { place, array } in self.fields() {
            let components = entries.components(place, array);
            let Some(list) = entries.lists.get(&place) else { continue };
            for k in 0..components {
                let (n, from) = (list.len(), k * (array.len() / components));
                blas::copy_entries_to_range(backend, n, array, from, list, to, &mut entries.packed);
                to += n;
            }
        }
        backend.read(&entries.packed)
    }

    /// Writes what a part has handed over to the arrays of the whole mesh, which are on the host.
    pub fn take_over(&mut self, entries: &PartEntries, values: &[F]) {
        let (mut rest, n_cells) = (values, self.flow.n_cells());
        let places: Vec<Place> = self.fields().into_iter().map(|of| of.place).collect();
        for (place, array) in places.into_iter().zip(self.fields_mut()) {
            let Some([_, list]) = entries.lists.get(&place) else { continue };
            let Some(array) = array.as_host_mut() else { continue };
            let components = if place == Place::Cells { array.len() / n_cells } else { 1 };
            for component in 0..components {
                let (values, after) = rest.split_at(list.len());
                let first = component * (array.len() / components);
                list.iter().zip(values).for_each(|(i, value)| array[first + *i as usize] = *value);
                rest = after;
            }
        }
    }

    /// Makes the fields of the whole mesh NaN, so that one which was not handed over shows where it is read. For builds with debug
    /// assertions.
    pub fn poison(&mut self) {
        for array in self.fields_mut() {
            array.as_host_mut().into_iter().for_each(|array| array.fill(F::from_f64(f64::NAN)));
        }
    }
}

impl<F: Real> PackedEntries<F> {
    /// Components of an array of the part.
    fn components(&self, place: Place, array: &Buffer<F>) -> usize {
        if place == Place::Cells { array.len() / self.cells } else { 1 }
    }
}

impl PartPlaces {
    /// Those of some entries that this part hands over.
    pub fn entries(&self, wanted: &Entries) -> PartEntries {
        let of_place = |(place, wanted): (&Place, &Vec<u32>)| {
            // Most entries are outside the range of those wanted.
            let range = wanted.first().zip(wanted.last()).map(|(first, last)| *first..=*last);
            let is_wanted = |entry: &u32| {
                range.as_ref().is_some_and(|range| range.contains(entry))
                    && wanted.binary_search(entry).is_ok()
            };
            let handed_over = self.handed_over(*place).par_iter().enumerate();
            let found = handed_over.filter(|(_, entry)| is_wanted(entry));
            let (own, whole) = found.map(|(own, entry)| (own as u32, *entry)).unzip();
            (*place, [own, whole])
        };
        PartEntries { lists: wanted.0.iter().map(of_place).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_hands_over_the_entries_that_it_owns() {
        // Own cells 2 and 3 of five and the ghost 4, faces 6 and 1, two prescribed velocities; no other values.
        let numbers = [
            &[2, 4, 0, 0][..],
            &[5, 0, 0, 0, 0, 0, 0, 0, 0],
            &[3, 2, 3, 4],
            &[2, 6, 1],
            &[0],
            &[2, 7, 9],
            &[0; 5],
        ];
        let places = PartPlaces::from_numbers(&numbers.concat());
        let mut wanted = Entries::of_fluxes(2..7);
        wanted.add(Place::Cells, [4, 3, 0, 3]);
        wanted.add(Place::Velocities, [9]);
        let lists = places.entries(&wanted).lists;
        assert_eq!(lists[&Place::Cells], [vec![1], vec![3]]);
        assert_eq!(lists[&Place::Faces], [vec![0], vec![6]]);
        assert_eq!(lists[&Place::Velocities], [vec![1], vec![9]]);
        assert_eq!(lists.len(), 3);
    }
}
