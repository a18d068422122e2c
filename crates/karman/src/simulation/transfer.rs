//! The transfer of fields to another mesh.

use crate::finite_volume::Prescribed;
use karman_adapt::{ConservativeTransfer, FieldSampler, KeptParts, Limiter};
use std::sync::Arc;

/// Whether the values of all fields in a cell are a state of the equation; such states are a convex set.
pub type IsAdmissible<'a> = &'a (dyn Fn(&[f64]) -> bool + Sync);

/// A transfer of fields to another mesh: from the values of a field at the unknowns of the old mesh, `[n_old]`, to its
/// values at points of the new mesh, `points: [3][n]` component-major. The points are the cell centres or nodes of the
/// unknowns; for a staggered flow also the centroids of its faces.
pub trait FieldTransfer: Send + Sync {
    /// The values at points: `[n]`.
    fn at_points(&self, values: &[f64], points: &[f64]) -> Vec<f64>;

    /// The values of fields at the unknowns of the new mesh, which lie at `points`: those at the points by default.
    /// With `is_admissible` the states of the new mesh are admissible where those of the old mesh are.
    fn at_unknowns(
        &self,
        fields: &[&[f64]],
        points: &[f64],
        _is_admissible: Option<IsAdmissible<'_>>,
    ) -> Vec<Vec<f64>> {
        fields.iter().map(|values| self.at_points(values, points)).collect()
    }
}

/// A transfer by a function of values and points.
impl<E: Fn(&[f64], &[f64]) -> Vec<f64> + Send + Sync> FieldTransfer for E {
    fn at_points(&self, values: &[f64], points: &[f64]) -> Vec<f64> {
        self(values, points)
    }
}

/// A transfer that equations share.
#[derive(Clone)]
pub struct Transfer(Arc<dyn FieldTransfer>);

impl Transfer {
    /// The transfer by `evaluate(values, points)`, which returns `n` values.
    pub fn new(evaluate: impl Fn(&[f64], &[f64]) -> Vec<f64> + Send + Sync + 'static) -> Transfer {
        Transfer::of(evaluate)
    }

    /// The transfer by `transfer`.
    pub fn of(transfer: impl FieldTransfer + 'static) -> Transfer {
        Transfer(Arc::new(transfer))
    }

    /// The values of a field of the old mesh at the unknowns of the new one, which lie at `points`, `[3][n]`.
    pub(super) fn values(&self, values: &[f64], points: &[f64]) -> Vec<f64> {
        let mut fields = self.0.at_unknowns(&[values], points, None);
        fields.pop().unwrap_or_default()
    }

    /// Fields of the old mesh together at the unknowns of the new one.
    pub(super) fn states(
        &self,
        fields: &[&[f64]],
        points: &[f64],
        is_admissible: IsAdmissible<'_>,
    ) -> Vec<Vec<f64>> {
        self.0.at_unknowns(fields, points, Some(is_admissible))
    }

    /// A field of the old mesh as a field of space.
    pub(super) fn field(&self, values: Vec<f64>) -> Arc<dyn Prescribed> {
        Arc::new(Transferred { values, transfer: self.0.clone(), unknowns: None })
    }

    /// A field of the old mesh as a field of space that has the transferred values at the unknowns of the new mesh, which
    /// lie at `points`, `[3][n]`.
    pub(super) fn field_with_unknowns(
        &self,
        values: Vec<f64>,
        points: &[f64],
    ) -> Arc<dyn Prescribed> {
        let unknowns = Some((points.to_vec(), self.values(&values, points)));
        Arc::new(Transferred { values, transfer: self.0.clone(), unknowns })
    }
}

/// A field of the old mesh, evaluated anywhere.
struct Transferred {
    values: Vec<f64>,
    transfer: Arc<dyn FieldTransfer>,
    /// Places of the unknowns of the new mesh and the values there.
    unknowns: Option<(Vec<f64>, Vec<f64>)>,
}

impl Prescribed for Transferred {
    fn sample(&self, points: &[f64], _: f64, out: &mut [f64]) {
        match &self.unknowns {
            Some((places, values)) if places == points => out.copy_from_slice(values),
            _ => out.copy_from_slice(&self.transfer.at_points(&self.values, points)),
        }
    }

    fn depends_on_time(&self) -> bool {
        false
    }
}

/// The transfer to an adapted mesh.
pub(super) struct MeshTransfer {
    pub(super) sampler: Arc<FieldSampler>,
    /// None where fields are interpolated.
    pub(super) conservative: Option<ConservativeTransfer>,
    /// The parts of the new mesh whose values stay as they are.
    pub(super) kept: KeptParts,
    /// Whether the unknowns are at nodes.
    pub(super) has_nodes: bool,
}

impl FieldTransfer for MeshTransfer {
    fn at_points(&self, values: &[f64], points: &[f64]) -> Vec<f64> {
        match self.has_nodes {
            true => self.sampler.nodes(values, points),
            false => self.sampler.cells(&[values], points, Limiter::None).pop().unwrap_or_default(),
        }
    }

    fn at_unknowns(
        &self,
        fields: &[&[f64]],
        points: &[f64],
        is_admissible: Option<IsAdmissible<'_>>,
    ) -> Vec<Vec<f64>> {
        let limiter = is_admissible.map_or(Limiter::None, Limiter::Admissible);
        match (&self.conservative, self.has_nodes) {
            (Some(conservative), true) => {
                fields.iter().flat_map(|values| conservative.nodes(values).fields).collect()
            }
            (Some(conservative), false) => conservative.cells(fields, limiter).fields,
            (None, true) => {
                let mut new: Vec<Vec<f64>> =
                    fields.iter().map(|values| self.sampler.nodes(values, points)).collect();
                self.keep(fields, &mut new, |node| self.kept.node(node));
                new
            }
            (None, false) => {
                let mut new = self.sampler.cells(fields, points, limiter);
                self.keep(fields, &mut new, |cell| self.kept.cell(cell));
                new
            }
        }
    }
}

impl MeshTransfer {
    /// Gives the unknowns that were kept their old values.
    fn keep(&self, old: &[&[f64]], new: &mut [Vec<f64>], before: impl Fn(usize) -> Option<usize>) {
        for (old, new) in old.iter().zip(new) {
            for (unknown, value) in new.iter_mut().enumerate() {
                if let Some(before) = before(unknown) {
                    *value = old[before];
                }
            }
        }
    }
}
