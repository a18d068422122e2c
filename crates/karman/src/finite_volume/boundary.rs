//! Boundary conditions of a scalar: Dirichlet, Neumann, Robin, zero gradient.

use super::prescribed::Prescribed;
use super::time_dependent::{Term, TimeDependentData};
use super::{DiffusionError, component_major};
use crate::backend::{Backend, Buffer};
use crate::mesh::{Geometry, Mesh};
use crate::operators::Part;
use crate::real::Real;
use std::sync::Arc;

/// The boundary condition of one patch, for a scalar T of conductivity k.
/// `V` is a prescribed value, as a case or as a solver has it.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundaryCondition<V> {
    /// T = value.
    Dirichlet(V),
    /// k ∂T/∂n = value, the flux into the domain.
    Neumann(V),
    /// k ∂T/∂n = h (T∞ − T); h does not change in time.
    Robin {
        /// Transfer coefficient h ≥ 0.
        coefficient: V,
        /// Ambient value T∞.
        ambient: V,
    },
    /// ∂T/∂n = 0: an adiabatic wall, a symmetry plane, an outlet.
    ZeroGradient,
    /// No flux in the matrix, no equation in the least-squares gradients: the pressure at a wall, whose
    /// normal gradient follows from the flow.
    Extrapolated,
}

/// The boundary condition of one patch of a solver.
pub type Condition = BoundaryCondition<Arc<dyn Prescribed>>;

impl<V> BoundaryCondition<V> {
    /// The condition with each of its values as `f` gives it.
    pub fn map<W>(&self, f: impl Fn(&V) -> W) -> BoundaryCondition<W> {
        match self {
            BoundaryCondition::Dirichlet(value) => BoundaryCondition::Dirichlet(f(value)),
            BoundaryCondition::Neumann(value) => BoundaryCondition::Neumann(f(value)),
            BoundaryCondition::Robin { coefficient, ambient } => {
                BoundaryCondition::Robin { coefficient: f(coefficient), ambient: f(ambient) }
            }
            BoundaryCondition::ZeroGradient => BoundaryCondition::ZeroGradient,
            BoundaryCondition::Extrapolated => BoundaryCondition::Extrapolated,
        }
    }

    /// Whether the condition fixes the additive constant of the solution.
    pub fn fixes_the_constant(&self) -> bool {
        matches!(self, BoundaryCondition::Dirichlet(_) | BoundaryCondition::Robin { .. })
    }
}

/// The values a boundary prescribes, one for each entry: a face (its temperature, flux or ambient
/// temperature) or, node-centred, a Dirichlet node.
#[derive(Default)]
pub struct BoundaryValues {
    patches: Vec<PatchValues>,
    len: usize,
}

struct PatchValues {
    /// Index of its first entry.
    first: usize,
    points: Vec<f64>,
    /// The values are the sum of these.
    terms: Vec<WeightedValue>,
}

/// A prescribed quantity with its factor at each entry of a patch.
pub struct WeightedValue {
    /// The quantity.
    pub value: Arc<dyn Prescribed>,
    /// The factors.
    pub factors: Vec<f64>,
}

impl BoundaryValues {
    /// Appends entries at `points` and returns the index of the first.
    pub fn push(&mut self, prescribed: &Arc<dyn Prescribed>, points: &[[f64; 3]]) -> usize {
        let factors = vec![1.0; points.len()];
        self.push_sum(points, vec![WeightedValue { value: prescribed.clone(), factors }])
    }

    /// Appends entries at `points` with a sum of values, 0 without any, and returns the index of the first.
    pub fn push_sum(&mut self, points: &[[f64; 3]], terms: Vec<WeightedValue>) -> usize {
        let first = self.len;
        self.len += points.len();
        self.patches.push(PatchValues { first, points: component_major(points), terms });
        first
    }

    /// Replaces the value of the patch whose first entry is `first` by a sum.
    pub fn set_terms(&mut self, first: usize, terms: Vec<WeightedValue>) {
        let is_it = |patch: &&mut PatchValues| patch.first == first && !patch.points.is_empty();
        if let Some(patch) = self.patches.iter_mut().find(is_it) {
            patch.terms = terms;
        }
    }

    /// All entries at time `t`.
    pub fn at(&self, t: f64) -> Vec<f64> {
        let mut values = vec![0.0; self.len];
        for patch in &self.patches {
            let mut of_term = vec![0.0; patch.points.len() / 3];
            for term in &patch.terms {
                term.value.sample(&patch.points, t, &mut of_term);
                let entries = values[patch.first..].iter_mut();
                let products =
                    of_term.iter().zip(&term.factors).map(|(value, factor)| value * factor);
                entries.zip(products).for_each(|(sum, product)| *sum += product);
            }
        }
        values
    }

    /// The values on a backend; `what` names them in messages. There is at least one value: a boundary
    /// face without a prescribed value refers to value 0 with the factor 0, and kernels read it.
    ///
    /// # Errors
    /// [`DiffusionError`] where a value is not a number, or the backend failed.
    pub fn into_time_dependent_data<F: Real>(
        self,
        backend: &Backend,
        what: &'static str,
    ) -> Result<TimeDependentData<F>, DiffusionError> {
        TimeDependentData::new(backend, what, self.len.max(1), self.into_terms())
    }

    /// The terms of all patches.
    fn into_terms(self) -> Vec<Term> {
        let mut all = vec![];
        for PatchValues { first, points, terms } in self.patches {
            let entries = first as u32..(first + points.len() / 3) as u32;
            for WeightedValue { value, factors } in terms {
                let (entries, points) = (entries.clone().collect(), points.clone());
                all.push(Term { value, entries, factors, points });
            }
        }
        all
    }
}

/// The condition of a boundary face without its value.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Dirichlet,
    Neumann,
    /// With the transfer coefficient.
    Robin(f64),
    ZeroGradient,
    Extrapolated,
}

/// Kind and index of the prescribed value of each boundary face.
pub struct BoundaryFaces {
    kinds: Vec<Kind>,
    values: Vec<u32>,
}

/// No prescribed value.
const NONE: u32 = u32::MAX;

impl BoundaryFaces {
    /// Index, among the prescribed values, of the Dirichlet value at a boundary face (counted from the
    /// first of these); none at a face of another condition.
    pub fn dirichlet_value(&self, boundary_face: usize) -> Option<u32> {
        let is_dirichlet = matches!(self.kinds[boundary_face], Kind::Dirichlet);
        self.value(boundary_face).filter(|_| is_dirichlet)
    }

    /// 1 + the index of each boundary face's Dirichlet value, 0 where it has none.
    pub fn dirichlet_indices(&self) -> Vec<u32> {
        let faces = 0..self.kinds.len();
        faces.map(|face| self.dirichlet_value(face).map_or(0, |value| value + 1)).collect()
    }

    /// The condition of a boundary face, counted from the first of these.
    pub(super) fn kind(&self, boundary_face: usize) -> Kind {
        self.kinds[boundary_face]
    }

    /// Index of the prescribed value of a boundary face.
    pub(super) fn value(&self, boundary_face: usize) -> Option<u32> {
        Some(self.values[boundary_face]).filter(|value| *value != NONE)
    }

    /// The boundary face of each prescribed value, counted from the first of these.
    pub fn faces_of_values(&self) -> Vec<u32> {
        let numbered =
            (0..self.values.len() as u32).filter(|face| self.values[*face as usize] != NONE);
        let mut faces: Vec<u32> = numbered.collect();
        faces.sort_unstable_by_key(|face| self.values[*face as usize]);
        faces
    }

    /// The conditions of the faces of a part with the values `values`.
    pub fn of_part(&self, part: &Part, values: &PartValues) -> BoundaryFaces {
        let number = |face: u32| self.value(face as usize).map_or(NONE, |v| values.local(v));
        BoundaryFaces {
            kinds: part.boundary_faces().map(|face| self.kinds[face as usize]).collect(),
            values: part.boundary_faces().map(number).collect(),
        }
    }

    /// The condition of each boundary face; appends the prescribed values to `values`.
    ///
    /// # Errors
    /// [`DiffusionError::Coefficient`] where a transfer coefficient is negative or not a number.
    pub(crate) fn new(
        mesh: &Mesh,
        geometry: &Geometry,
        conditions: &[Condition],
        values: &mut BoundaryValues,
    ) -> Result<BoundaryFaces, DiffusionError> {
        let n_interior = mesh.face_right.len();
        let n = mesh.face_left.len() - n_interior;
        let mut faces = BoundaryFaces { kinds: vec![Kind::ZeroGradient; n], values: vec![NONE; n] };
        for (patch, condition) in mesh.patches.iter().zip(conditions) {
            let points: Vec<[f64; 3]> =
                patch.faces.clone().map(|f| geometry.face_centre_of(f)).collect();
            let (kinds, prescribed) = match condition {
                Condition::ZeroGradient => continue,
                Condition::Extrapolated => {
                    for face in patch.faces.clone() {
                        faces.kinds[face - n_interior] = Kind::Extrapolated;
                    }
                    continue;
                }
                Condition::Dirichlet(v) => (vec![Kind::Dirichlet; points.len()], v),
                Condition::Neumann(v) => (vec![Kind::Neumann; points.len()], v),
                Condition::Robin { coefficient, ambient } => {
                    let h = coefficients_at(coefficient.as_ref(), &points);
                    check_coefficients(&patch.name, &h)?;
                    (h.into_iter().map(Kind::Robin).collect(), ambient)
                }
            };
            let first = values.push(prescribed, &points);
            for (i, (face, kind)) in patch.faces.clone().zip(kinds).enumerate() {
                faces.kinds[face - n_interior] = kind;
                faces.values[face - n_interior] = (first + i) as u32;
            }
        }
        Ok(faces)
    }
}

/// The prescribed values at the boundary faces of a part. It has one value at least, as a boundary has: where no value is
/// prescribed, value 0.
pub struct PartValues {
    /// The value of the whole mesh of each of its values, ascending.
    whole: Vec<u32>,
    /// Whether one of them is prescribed.
    is_prescribed: bool,
}

impl PartValues {
    /// Those of the faces of a part.
    pub fn new(boundary: &BoundaryFaces, part: &Part) -> PartValues {
        let values = part.boundary_faces().filter_map(|face| boundary.value(face as usize));
        let mut whole: Vec<u32> = values.collect();
        whole.sort_unstable();
        whole.dedup();
        let is_prescribed = !whole.is_empty();
        if !is_prescribed {
            whole.push(0);
        }
        PartValues { whole, is_prescribed }
    }

    /// The value of the whole mesh of each of its values.
    pub fn whole(&self) -> &[u32] {
        &self.whole
    }

    /// As [`PartValues::whole`], without one that is not prescribed at its faces.
    pub fn prescribed(&self) -> &[u32] {
        if self.is_prescribed { &self.whole } else { &[] }
    }

    /// Number of a value in the part; 0 where it is that of another part.
    pub fn local(&self, whole: u32) -> u32 {
        self.whole.binary_search(&whole).unwrap_or(0) as u32
    }

    /// 1 + the value of each boundary face of the part, 0 where it has none, from that in the whole mesh: `[n_boundary]`.
    pub fn indices(&self, part: &Part, whole: &Buffer<u32>) -> Buffer<u32> {
        let indices = whole.as_host().unwrap_or_default();
        let of_face = |face: u32| match indices[face as usize] {
            0 => 0,
            index => 1 + self.local(index - 1),
        };
        part.backend.upload(part.boundary_faces().map(of_face).collect())
    }
}

/// A coefficient at points, constant in time.
pub(crate) fn coefficients_at(coefficient: &dyn Prescribed, points: &[[f64; 3]]) -> Vec<f64> {
    let mut values = vec![0.0; points.len()];
    coefficient.sample(&component_major(points), 0.0, &mut values);
    values
}

pub(crate) fn check_coefficients(patch: &str, coefficients: &[f64]) -> Result<(), DiffusionError> {
    match coefficients.iter().find(|h| !(**h >= 0.0 && h.is_finite())) {
        Some(value) => Err(DiffusionError::Coefficient { patch: patch.to_owned(), value: *value }),
        None => Ok(()),
    }
}
