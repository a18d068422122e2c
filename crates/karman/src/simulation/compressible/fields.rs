//! The fields of a compressible flow by name, in cells for output and averages.

use super::super::SimulationError;
use super::super::averages::{Averages, Sampling};
use super::super::sampled::Sampled;
use crate::backend::{Backend, Buffer};
use crate::case::Case;
use crate::compressible::descriptor::{
    DENSITY, ENTROPY, MACH, PRESSURE, SCHLIEREN, TEMPERATURE, VELOCITY, VORTICITY,
};
use crate::compressible::{CellQuantity, CompressibleSolver};
use crate::descriptor;
use crate::mesh::Mesh;
use crate::real::Real;

const AXES: [&str; 3] = ["x", "y", "z"];

/// The components of a field, or one of them by its name; none where compressible flow has no such field.
pub(super) fn quantities(name: &str, dimension: usize) -> Vec<CellQuantity> {
    let component = VELOCITY.iter().position(|known| *known == name);
    match name {
        DENSITY => vec![CellQuantity::Density],
        PRESSURE => vec![CellQuantity::Pressure],
        TEMPERATURE => vec![CellQuantity::Temperature],
        MACH => vec![CellQuantity::Mach],
        ENTROPY => vec![CellQuantity::Entropy],
        SCHLIEREN => vec![CellQuantity::Schlieren],
        VORTICITY if dimension == 2 => vec![CellQuantity::VorticityZ],
        VORTICITY => CellQuantity::VORTICITY.to_vec(),
        descriptor::VELOCITY => CellQuantity::VELOCITY[..dimension].to_vec(),
        _ => component.map(|k| CellQuantity::VELOCITY[k]).into_iter().collect(),
    }
}

/// The averages of a flow; `unknowns` are the names of the fields solved for.
pub(super) fn averages<F: Real>(
    backend: &Backend,
    case: &Case,
    mesh: &Mesh,
    unknowns: &[&str],
) -> Averages<F> {
    let sampling = |name: &str| {
        let count = quantities(name, mesh.dimension).len();
        let names = match count {
            1 => vec![name.to_owned()],
            several => AXES[..several].iter().map(|axis| format!("{name}_{axis}")).collect(),
        };
        Sampling { names, lengths: vec![mesh.n_cells(); count], is_direct: true }
    };
    Averages::new(backend, case, unknowns, sampling)
}

/// The components of a field on the backend.
pub(super) type FieldBuffers<F> = [Buffer<F>; 3];

/// Buffers for fields, empty where there are no averages or several ranks accumulate them.
pub(super) fn buffers<F: Real>(backend: &Backend, case: &Case, mesh: &Mesh) -> FieldBuffers<F> {
    let is_needed = !case.output.averages.is_empty() && case.run.ranks == 1;
    let n = if is_needed { mesh.n_cells() } else { 0 };
    [0; 3].map(|_| backend.zeros(n))
}

/// The fields of a flow as averages over time sample them.
pub(super) struct Fields<'a, F: Real> {
    pub flow: &'a CompressibleSolver<F>,
    pub buffers: &'a mut FieldBuffers<F>,
    pub gas_constant: f64,
    pub dimension: usize,
}

impl<F: Real> Sampled<F> for Fields<'_, F> {
    fn components(&mut self, field: &str) -> Result<Vec<&Buffer<F>>, SimulationError> {
        let quantities = quantities(field, self.dimension);
        for (quantity, buffer) in quantities.iter().zip(self.buffers.iter_mut()) {
            self.flow.cell_quantity(*quantity, self.gas_constant, buffer);
        }
        Ok(self.buffers.iter().take(quantities.len()).collect())
    }
}
