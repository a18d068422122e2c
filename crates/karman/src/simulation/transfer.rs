//! The transfer of fields to another mesh.

use crate::finite_volume::Prescribed;
use std::sync::Arc;

/// The values of a field at new places.
type Evaluate = dyn Fn(&[f64], &[f64]) -> Vec<f64> + Send + Sync;

/// A transfer of fields to another mesh: from the values of a field at the unknowns of the old mesh, `[n_old]`, to its
/// values at points of the new mesh, `points: [3][n]` component-major. The points are the cell centres or nodes of the
/// unknowns; for a staggered flow also the centroids of its faces.
#[derive(Clone)]
pub struct Transfer(Arc<Evaluate>);

impl Transfer {
    /// The transfer by `evaluate(values, points)`, which returns `n` values.
    pub fn new(evaluate: impl Fn(&[f64], &[f64]) -> Vec<f64> + Send + Sync + 'static) -> Transfer {
        Transfer(Arc::new(evaluate))
    }

    /// The values at points, `[3][n]`, of a field of the old mesh.
    pub(super) fn values(&self, values: &[f64], points: &[f64]) -> Vec<f64> {
        (self.0)(values, points)
    }

    /// A field of the old mesh as a field of space.
    pub(super) fn field(&self, values: Vec<f64>) -> Arc<dyn Prescribed> {
        Arc::new(Transferred { values, evaluate: self.0.clone() })
    }
}

/// A field of the old mesh, evaluated anywhere.
struct Transferred {
    values: Vec<f64>,
    evaluate: Arc<Evaluate>,
}

impl Prescribed for Transferred {
    fn sample(&self, points: &[f64], _: f64, out: &mut [f64]) {
        out.copy_from_slice(&(self.evaluate)(&self.values, points));
    }

    fn depends_on_time(&self) -> bool {
        false
    }
}
