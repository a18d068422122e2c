//! The set-up of a flow from its case, and its checks of the mesh.

use super::super::SimulationError;
use super::super::equation::{Equation, EquationSetup, FreeLevel};
use super::super::initial::InitialFields;
use super::super::location::Location;
use super::super::warning::SetupWarning;
use super::{FlowRun, Start};
use crate::backend::Backend;
use crate::case::{Case, IncompressibleCase, Precision, Value};
use crate::incompressible::descriptor::{PRESSURE, TEMPERATURE, VELOCITY};
use crate::incompressible::{Arrangement, FlowBoundaryCondition, IncompressibleError};
use crate::mesh::check::{refuse_distorted, require_regular, warn_of_flat, warn_of_one_layer};
use crate::mesh::geometry::{dot, norm};
use crate::mesh::{Geometry, Mesh, Patch};

/// Cosine to the normal up to which a velocity is tangential.
const TANGENTIAL: f64 = 1e-6;

impl IncompressibleCase {
    /// The condition of a patch; none of a periodic patch or of one without an entry.
    fn condition_of(&self, patch: &str) -> Option<&FlowBoundaryCondition<Value>> {
        self.boundary.iter().find(|given| given.patch == patch)?.condition.condition()
    }

    /// Warnings of patches of prescribed velocity through which fluid leaves at each face at t = 0, where it can leave through
    /// another patch: without an outlet it must leave through such a patch.
    fn outward_inlets(&self, mesh: &Mesh, geometry: &Geometry) -> Vec<SetupWarning> {
        let conditions = mesh.patches.iter().filter_map(|patch| self.condition_of(&patch.name));
        if !conditions.into_iter().any(|condition| condition.data().is_outlet) {
            return vec![];
        }
        let leaves = |face: usize, velocity: &[&Value; 3]| {
            let (centre, area) = (geometry.face_centre_of(face), geometry.area_vector_of(face));
            let velocity = velocity.map(|component| component.at(&centre, 0.0));
            dot(velocity, area) > TANGENTIAL * norm(velocity) * norm(area)
        };
        let is_outward = |patch: &&Patch| {
            let velocity = self.condition_of(&patch.name).and_then(FlowBoundaryCondition::velocity);
            let mut faces = patch.faces.clone();
            !faces.is_empty()
                && velocity.is_some_and(|velocity| faces.all(|face| leaves(face, &velocity)))
        };
        let outward = mesh.patches.iter().filter(is_outward);
        outward.map(|patch| SetupWarning::OutwardInlet { patch: patch.name.clone() }).collect()
    }
}

impl EquationSetup for IncompressibleCase {
    fn start(
        &self,
        case: &Case,
        backend: &Backend,
        place: (&Mesh, &Geometry),
        initial: &InitialFields,
    ) -> Result<Box<dyn Equation>, SimulationError> {
        let thermal = self.thermal.as_ref();
        let start = Start {
            velocity: [0, 1, 2].map(|k| initial.field(VELOCITY[k], &self.initial_velocity[k])),
            pressure: initial.field(PRESSURE, &self.initial_pressure),
            temperature: thermal.map(|own| initial.field(TEMPERATURE, &own.initial_temperature)),
            clock: (0.0, 0),
        };
        let set_up = || -> Result<Box<dyn Equation>, SimulationError> {
            Ok(match case.run.precision {
                Precision::F64 => {
                    Box::new(FlowRun::<f64>::start(case, self, backend, place, start)?)
                }
                Precision::F32 => {
                    Box::new(FlowRun::<f32>::start(case, self, backend, place, start)?)
                }
            })
        };
        backend.install(set_up)
    }

    fn location(&self) -> Location {
        Location::Cells
    }

    fn third_components(&self) -> Vec<(String, f64)> {
        let of = |values: &[Value; 3]| values[2].constant().unwrap_or(0.0);
        let mut third = vec![
            ("the source".to_owned(), of(&self.source)),
            ("the initial velocity".to_owned(), of(&self.initial_velocity)),
            ("the mean velocity".to_owned(), self.mean_velocity.map_or(0.0, |mean| mean[2])),
        ];
        for patch in &self.boundary {
            if let Some([_, _, w]) = patch.condition.condition().and_then(|c| c.velocity()) {
                let w = w.constant().unwrap_or(0.0);
                third.push((format!("the velocity of patch \"{}\"", patch.patch), w));
            }
        }
        let gravity = self.thermal.as_ref().map(|thermal| thermal.gravity[2]);
        third.extend(gravity.map(|gravity| ("gravity".to_owned(), gravity)));
        third
    }

    fn free_level(&self, _case: &Case) -> Option<FreeLevel<'_>> {
        Some(FreeLevel {
            quantity: PRESSURE,
            remedy: "an outlet",
            is_fixed_by: Box::new(|patch| {
                let condition = self.condition_of(patch);
                condition.is_some_and(FlowBoundaryCondition::prescribes_pressure)
            }),
        })
    }

    fn max_iterations(&self) -> Option<usize> {
        self.steady.map(|steady| steady.max_iterations)
    }

    /// Requires cells that a flow can be computed on, and warns of one layer of tetrahedra between walls and of flat cells.
    fn check_mesh(
        &self,
        mesh: &Mesh,
        geometry: &Geometry,
    ) -> Result<Vec<SetupWarning>, SimulationError> {
        require_regular(mesh, geometry)?;
        if mesh.dimension == 3 && self.numerics.arrangement == Arrangement::Collocated {
            refuse_distorted(mesh, geometry)?;
        }
        let is_wall = |patch: usize| {
            let velocity = self.condition_of(&mesh.patches[patch].name).and_then(|c| c.velocity());
            velocity.is_some_and(|velocity| velocity.iter().all(|u| u.constant() == Some(0.0)))
        };
        let one_layer = warn_of_one_layer(mesh, geometry, is_wall);
        let is_collocated = self.numerics.arrangement == Arrangement::Collocated;
        let flat = is_collocated.then(|| warn_of_flat(mesh, geometry)).flatten();
        let of_cells = one_layer.into_iter().chain(flat).map(SetupWarning::from);
        Ok(of_cells.chain(self.outward_inlets(mesh, geometry)).collect())
    }
}

impl From<IncompressibleError> for SimulationError {
    fn from(error: IncompressibleError) -> Self {
        SimulationError::Equation(Box::new(error))
    }
}
