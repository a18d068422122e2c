//! The set-up of a compressible flow from its case, and its checks of the mesh.

use super::super::SimulationError;
use super::super::equation::{Equation, EquationSetup, FreeLevel};
use super::super::initial::InitialFields;
use super::super::location::Location;
use super::super::warning::SetupWarning;
use super::CompressibleRun;
use crate::backend::Backend;
use crate::case::{Case, CompressibleCase, Precision, Value};
use crate::compressible::descriptor::{DENSITY, PRESSURE, VELOCITY};
use crate::compressible::{CompressibleBoundaryCondition, CompressibleError};
use crate::mesh::check::require_regular;
use crate::mesh::{Geometry, Mesh};

impl EquationSetup for CompressibleCase {
    fn start(
        &self,
        case: &Case,
        backend: &Backend,
        place: (&Mesh, &Geometry),
        initial: &InitialFields,
    ) -> Result<Box<dyn Equation>, SimulationError> {
        let given = &self.initial;
        let [x, y, z] = [0, 1, 2].map(|k| initial.field(VELOCITY[k], &given.velocity[k]));
        let density = initial.field(DENSITY, &given.density);
        let fields = [density, x, y, z, initial.field(PRESSURE, &given.pressure)];
        let set_up = || -> Result<Box<dyn Equation>, SimulationError> {
            Ok(match case.run.precision {
                Precision::F64 => {
                    Box::new(CompressibleRun::<f64>::start(case, self, backend, place, fields)?)
                }
                Precision::F32 => {
                    Box::new(CompressibleRun::<f32>::start(case, self, backend, place, fields)?)
                }
            })
        };
        backend.install(set_up)
    }

    fn location(&self) -> Location {
        Location::Cells
    }

    fn third_components(&self) -> Vec<(String, f64)> {
        let of = |value: &Value| value.constant().unwrap_or(0.0);
        let source = self.source.as_ref().map_or(0.0, |source| of(&source[3]));
        let mut third = vec![
            ("the source of momentum".to_owned(), source),
            ("the initial velocity".to_owned(), of(&self.initial.velocity[2])),
        ];
        for patch in &self.boundary {
            let velocity = match patch.condition.condition() {
                Some(CompressibleBoundaryCondition::State(state)) => &state.velocity,
                Some(CompressibleBoundaryCondition::MovingWall { velocity, .. }) => velocity,
                _ => continue,
            };
            third.push((format!("the velocity of patch \"{}\"", patch.patch), of(&velocity[2])));
        }
        third
    }

    fn free_level(&self, _case: &Case) -> Option<FreeLevel<'_>> {
        None
    }

    fn max_iterations(&self) -> Option<usize> {
        self.steady.map(|steady| steady.settings.max_iterations)
    }

    fn check_mesh(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
    ) -> Result<Vec<SetupWarning>, SimulationError> {
        require_regular(mesh, geometry)?;
        Ok(vec![])
    }
}

impl From<CompressibleError> for SimulationError {
    fn from(error: CompressibleError) -> Self {
        SimulationError::Equation(Box::new(error))
    }
}
