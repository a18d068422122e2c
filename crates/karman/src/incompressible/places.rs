//! Where the arrays of a part of a flow are in those of the whole mesh.

use crate::real::Real;
use std::ops::Range;

/// Where the values of an array of a flow are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Unknown fluxes of a staggered flow, those of own faces with ghosts; of the whole mesh `[n_faces]`.
    Fluxes,
    /// Potentials of the exact fractional step, with ghosts; of the whole mesh `[unknowns]`.
    Potentials,
}

/// The lists of a part.
pub(super) const LISTS: [Place; 9] = [
    Place::Cells,
    Place::Faces,
    Place::Boundary,
    Place::Velocities,
    Place::Pressures,
    Place::Temperatures,
    Place::Outlets,
    Place::Fluxes,
    Place::Potentials,
];

/// The places of a part in arrays of the whole mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct PartPlaces {
    /// Own cells.
    pub(super) own: Range<usize>,
    /// Entries of an array of the whole mesh in each list, of one component of those in cells.
    pub(super) lengths: [usize; LISTS.len()],
    pub(super) cells: Vec<u32>,
    pub(super) faces: Vec<u32>,
    pub(super) boundary: Vec<u32>,
    pub(super) velocities: Vec<u32>,
    pub(super) pressures: Vec<u32>,
    pub(super) temperatures: Vec<u32>,
    pub(super) outlets: Vec<u32>,
    pub(super) unknowns: UnknownPlaces,
}

/// The unknowns of a rank where they are not in cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UnknownPlaces {
    pub fluxes: OwnFirst,
    pub potentials: OwnFirst,
}

/// Entries of an array of the whole mesh: those that a rank owns, then its ghosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OwnFirst {
    /// Number of those that it owns.
    pub own: usize,
    pub entries: Vec<u32>,
}

impl OwnFirst {
    fn own(&self) -> &[u32] {
        &self.entries[..self.own]
    }
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
            Place::Fluxes => &self.unknowns.fluxes.entries,
            Place::Potentials => &self.unknowns.potentials.entries,
        }
    }

    /// Entries of the whole mesh whose values the part hands over: its own in cells and of unknowns, else all that it has.
    pub(super) fn handed_over(&self, place: Place) -> &[u32] {
        match place {
            Place::Cells => self.all(Place::OwnCells),
            Place::Fluxes => self.unknowns.fluxes.own(),
            Place::Potentials => self.unknowns.potentials.own(),
            _ => self.all(place),
        }
    }

    /// Components of an array of the whole mesh with `length` entries.
    fn components(&self, place: Place, length: usize) -> usize {
        match place {
            Place::Cells | Place::OwnCells => length / self.lengths[0],
            _ => 1,
        }
    }

    /// Components of an array of the part with `length` entries.
    fn own_components(&self, place: Place, length: usize) -> usize {
        match place {
            Place::Cells | Place::OwnCells => length / self.all(place).len(),
            _ => 1,
        }
    }

    /// Entries of the array of the whole mesh of which the part has one of `length` entries.
    pub fn whole_length(&self, place: Place, length: usize) -> usize {
        let components = self.own_components(place, length);
        // Of own cells as of cells.
        let list = LISTS.iter().position(|list| *list == place).unwrap_or(0);
        components * self.lengths[list]
    }

    /// Appends what the part hands over of its array, `[components][its entries]`.
    pub fn hand_over<F: Real>(&self, place: Place, own: &[F], values: &mut Vec<F>) {
        let components = self.own_components(place, own.len());
        let (count, stride) = (self.handed_over(place).len(), own.len() / components);
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
            let whole = &mut whole[k * n..(k + 1) * n];
            if let Place::Cells | Place::OwnCells = place {
                whole[self.own.clone()].copy_from_slice(component);
            } else {
                component.iter().zip(entries).for_each(|(value, i)| whole[*i as usize] = *value);
            }
            *values = rest;
        }
    }

    /// Number of values that the part hands over of an array of the whole mesh with `length` entries.
    pub fn value_count(&self, place: Place, length: usize) -> usize {
        self.handed_over(place).len() * self.components(place, length)
    }

    /// As numbers, for another process: the own cells, counts, the lengths, and each list after its length.
    pub fn to_numbers(&self) -> Vec<u32> {
        let PartPlaces { own, unknowns: UnknownPlaces { fluxes, potentials }, .. } = self;
        let counts = [own.start, own.end, fluxes.own, potentials.own];
        let mut numbers: Vec<u32> =
            counts.iter().chain(&self.lengths).map(|number| *number as u32).collect();
        for place in LISTS {
            let list = self.all(place);
            numbers.push(list.len() as u32);
            numbers.extend_from_slice(list);
        }
        numbers
    }

    /// From the numbers of [`PartPlaces::to_numbers`].
    pub fn from_numbers(numbers: &[u32]) -> PartPlaces {
        let (counts, mut rest) = numbers.split_at(4 + LISTS.len());
        let lists = LISTS.map(|_| {
            let (list, after) = rest[1..].split_at(rest[0] as usize);
            rest = after;
            list.to_vec()
        });
        let [cells, faces, boundary, velocities, pressures, temperatures, outlets, rest @ ..] =
            lists;
        let [fluxes, potentials] = rest;
        let of =
            |place: usize, entries: Vec<u32>| OwnFirst { own: counts[place] as usize, entries };
        PartPlaces {
            own: counts[0] as usize..counts[1] as usize,
            lengths: std::array::from_fn(|list| counts[4 + list] as usize),
            cells,
            faces,
            boundary,
            velocities,
            pressures,
            temperatures,
            outlets,
            unknowns: UnknownPlaces { fluxes: of(2, fluxes), potentials: of(3, potentials) },
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

#[cfg(test)]
mod tests {
    use super::{OwnFirst, PartPlaces, Place, UnknownPlaces};

    /// Own cells 2 and 3 of five, the ghost 4.
    fn places() -> PartPlaces {
        PartPlaces {
            own: 2..4,
            lengths: [5, 7, 3, 1, 1, 8, 4, 7, 3],
            cells: vec![2, 3, 4],
            faces: vec![1, 6],
            boundary: vec![],
            velocities: vec![0],
            pressures: vec![],
            temperatures: vec![2, 5, 7],
            outlets: vec![3],
            unknowns: UnknownPlaces {
                fluxes: OwnFirst { own: 2, entries: vec![6, 1, 4] },
                potentials: OwnFirst { own: 1, entries: vec![2, 0] },
            },
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
        places.hand_over(Place::Cells, &[1.0, 2.0, 9.0, 3.0, 4.0, 9.0], &mut values);
        places.hand_over(Place::Faces, &[5.0, 6.0], &mut values);
        places.hand_over(Place::Fluxes, &[7.0, 8.0, 9.0], &mut values);
        let lengths = [(Place::Cells, 6), (Place::OwnCells, 4), (Place::Outlets, 1)];
        assert_eq!(lengths.map(|(place, own)| places.whole_length(place, own)), [10, 10, 4]);
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let (mut cells, mut faces, mut rest) = ([0.0; 10], [0.0; 7], &values[..]);
        places.take_over(Place::Cells, &mut rest, &mut cells);
        places.take_over(Place::Faces, &mut rest, &mut faces);
        assert_eq!(cells, [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 3.0, 4.0, 0.0]);
        assert_eq!(faces, [0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 6.0]);
        let mut fluxes = [0.0; 7];
        places.take_over(Place::Fluxes, &mut rest, &mut fluxes);
        assert_eq!(fluxes, [0.0, 8.0, 0.0, 0.0, 0.0, 0.0, 7.0]);
        assert!(rest.is_empty());
        let whole = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(places.read(Place::Fluxes, &whole, 3), [6.0, 1.0, 4.0]);
    }
}
