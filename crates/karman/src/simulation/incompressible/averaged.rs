//! The fields of a flow as averages over time sample them.

use super::super::SimulationError;
use super::super::averages::{Averages, Sampling};
use super::super::sampled::Sampled;
use crate::backend::{Backend, Buffer};
use crate::case::Case;
use crate::descriptor::{FieldData, Rank};
use crate::incompressible::descriptor::{PRESSURE, TEMPERATURE};
use crate::incompressible::{DESCRIPTOR, DerivedBuffers, DerivedField, IncompressibleSolver};
use crate::mesh::Mesh;
use crate::real::Real;

const AXES: [&str; 3] = ["x", "y", "z"];

/// The averages of a flow; `unknowns` are the names of the fields solved for.
pub(super) fn averages<F: Real>(
    flow: &IncompressibleSolver<F>,
    (backend, case, mesh): (&Backend, &Case, &Mesh),
    unknowns: &[&str],
) -> Averages<F> {
    let names = |name: &str| -> Vec<String> {
        let rank = DESCRIPTOR.fields().find(|field| field.name == name).map(|field| field.rank);
        let axes = match rank {
            Some(Rank::Vector(_)) => &AXES[..mesh.dimension],
            Some(Rank::Axial) if mesh.dimension == 3 => &AXES[..],
            _ => return vec![name.to_owned()],
        };
        axes.iter().map(|axis| format!("{name}_{axis}")).collect()
    };
    let sampling = |name: &str| {
        let names = names(name);
        let derived = DerivedField::from_word(name);
        match derived.and_then(|field| flow.linear_samples(field)) {
            Some(arrays) => {
                let lengths = arrays.into_iter().map(Buffer::len).collect();
                Sampling { names, lengths, is_direct: false }
            }
            None => Sampling { lengths: vec![mesh.n_cells(); names.len()], names, is_direct: true },
        }
    };
    Averages::new(backend, case, unknowns, sampling)
}

/// The components of a derived field from the means of [`IncompressibleSolver::linear_samples`].
///
/// # Errors
/// [`SimulationError`] where the device failed.
pub(super) fn linear<F: Real>(
    flow: &IncompressibleSolver<F>,
    mesh: &Mesh,
    field: &str,
    means: Vec<Vec<f64>>,
) -> Result<Vec<Vec<f64>>, SimulationError> {
    let Some(field) = DerivedField::from_word(field) else {
        unreachable!("only derived fields are sampled by other arrays")
    };
    Ok(match flow.linear_field(field, mesh, &means)? {
        FieldData::Scalar(values) => vec![values],
        FieldData::Vector(values) => values.into(),
    })
}

/// Buffers for derived fields, empty where no average has one, and where ranks have them.
pub(super) fn buffers<F: Real>(backend: &Backend, case: &Case, mesh: &Mesh) -> DerivedBuffers<F> {
    let mut fields = case.output.averages.iter().flat_map(|average| &average.fields);
    let has_derived = fields.any(|field| DerivedField::from_word(field).is_some());
    let n = if has_derived && case.run.ranks == 1 { mesh.n_cells() } else { 0 };
    DerivedBuffers::new(backend, n, mesh.dimension)
}

/// The fields of a flow on the backend.
pub(super) struct Fields<'a, F: Real> {
    pub flow: &'a IncompressibleSolver<F>,
    pub derived: &'a mut DerivedBuffers<F>,
}

impl<F: Real> Sampled<F> for Fields<'_, F> {
    fn components(&mut self, field: &str) -> Result<Vec<&Buffer<F>>, SimulationError> {
        if let Some(derived) = DerivedField::from_word(field) {
            if let Some(arrays) = self.flow.linear_samples(derived) {
                return Ok(arrays);
            }
            return Ok(self.flow.derived(derived, self.derived).iter().collect());
        }
        Ok(match field {
            PRESSURE => vec![self.flow.pressure()],
            TEMPERATURE => self.flow.temperature().into_iter().collect(),
            _ => (0..self.flow.dimension()).map(|k| self.flow.velocity(k)).collect(),
        })
    }
}
