//! Warnings of patches whose condition is not meant for the speed of the flow there: at an outlet or an inlet the side of the
//! speed of sound decides which variables the outside determines.

use super::super::SimulationError;
use super::computation::Computation;
use crate::compressible::{CompressibleCondition, PrescribedState};
use crate::finite_volume::Prescribed;
use crate::mesh::geometry::{dot, norm};
use crate::mesh::{Geometry, Mesh, Patch};
use crate::real::Real;
use std::sync::Arc;

/// Distance of a Mach number from 1 that counts as another side of the speed of sound.
const MARGIN: f64 = 0.05;
/// Least part of the area of a patch for a warning.
const LEAST_SHARE: f64 = 0.01;
/// As `LEAST_SHARE`, in viscous flow, whose boundary layers are slower than sound at every outlet.
const LEAST_SHARE_OF_VISCOUS: f64 = 0.1;

/// The state that the condition of a patch prescribes outside.
enum Outside {
    /// Nothing.
    SupersonicOutlet,
    /// A pressure of outflow below the speed of sound.
    PressureOutlet,
    /// A state.
    State(PrescribedState<Arc<dyn Prescribed>>),
}

/// A patch through which gas flows.
struct OpenPatch {
    name: String,
    outside: Outside,
    faces: Vec<u32>,
    areas: Vec<f64>,
    normals: Vec<[f64; 3]>,
    /// Centres of the faces: `[3][n]`.
    centres: Vec<f64>,
}

/// The patches of a flow through which gas flows.
pub(super) struct OpenPatches {
    patches: Vec<OpenPatch>,
    least_share: f64,
}

/// The faces of a patch on another side of the speed of sound than its condition is meant for.
#[derive(Clone, Copy, Debug, Default)]
struct Misplaced {
    area: f64,
    /// The Mach number normal to the patch that is farthest from 1 there.
    farthest: f64,
}

impl Misplaced {
    fn add(&mut self, area: f64, mach: f64) {
        if self.area == 0.0 || (mach - 1.0).abs() > (self.farthest - 1.0).abs() {
            self.farthest = mach;
        }
        self.area += area;
    }
}

impl OpenPatches {
    pub(super) fn new(
        (mesh, geometry): (&Mesh, &Geometry),
        conditions: &[CompressibleCondition],
        is_viscous: bool,
    ) -> Self {
        let open = |(patch, condition): (&Patch, &CompressibleCondition)| {
            let outside = match condition {
                CompressibleCondition::SupersonicOutlet => Outside::SupersonicOutlet,
                CompressibleCondition::PressureOutlet(_) => Outside::PressureOutlet,
                CompressibleCondition::State(state) => Outside::State(state.clone()),
                CompressibleCondition::Slip
                | CompressibleCondition::NoSlip
                | CompressibleCondition::Isothermal(_)
                | CompressibleCondition::MovingWall { .. } => return None,
            };
            let faces: Vec<u32> = patch.faces.clone().map(|face| face as u32).collect();
            let of_faces = |of: &dyn Fn(usize) -> [f64; 3]| -> Vec<[f64; 3]> {
                patch.faces.clone().map(of).collect()
            };
            let vectors = of_faces(&|face| geometry.area_vector_of(face));
            let centres = of_faces(&|face| geometry.face_centre_of(face));
            let areas: Vec<f64> = vectors.iter().map(|s| norm(*s)).collect();
            Some(OpenPatch {
                name: patch.name.clone(),
                outside,
                faces,
                normals: vectors.iter().zip(&areas).map(|(s, area)| s.map(|x| x / area)).collect(),
                areas,
                centres: (0..3).flat_map(|k| centres.iter().map(move |x| x[k])).collect(),
            })
        };
        let least_share = if is_viscous { LEAST_SHARE_OF_VISCOUS } else { LEAST_SHARE };
        OpenPatches {
            patches: mesh.patches.iter().zip(conditions).filter_map(open).collect(),
            least_share,
        }
    }

    /// The warnings of a flow.
    pub(super) fn warnings<F: Real>(
        &self,
        flow: &Computation<F>,
    ) -> Result<Vec<String>, SimulationError> {
        let patches = self.patches.iter().filter(|patch| !patch.faces.is_empty());
        let mut warnings = vec![];
        for patch in patches {
            let mach = normal_mach(flow.on_boundary(&patch.faces)?, &patch.normals, flow.gamma());
            let (time, _) = flow.clock();
            warnings.extend(patch.warnings(&mach, (time, flow.gamma()), self.least_share));
        }
        Ok(warnings)
    }
}

/// u·n/c of ρ, u and p.
fn normal_mach(
    [density, x, y, z, pressure]: [Vec<f64>; 5],
    normals: &[[f64; 3]],
    gamma: f64,
) -> Vec<f64> {
    let of = |(i, normal): (usize, &[f64; 3])| {
        dot([x[i], y[i], z[i]], *normal) / (gamma * pressure[i] / density[i]).sqrt()
    };
    normals.iter().enumerate().map(of).collect()
}

impl OpenPatch {
    /// The warnings of the Mach numbers u·n/c of the flow at its faces.
    fn warnings(&self, mach: &[f64], (time, gamma): (f64, f64), least_share: f64) -> Vec<String> {
        let total: f64 = self.areas.iter().sum();
        let found = |is_misplaced: &dyn Fn(usize) -> bool, sign: f64| {
            let mut misplaced = Misplaced::default();
            let faces = (0..mach.len()).filter(|face| is_misplaced(*face));
            faces.for_each(|face| misplaced.add(self.areas[face], sign * mach[face]));
            (misplaced.area > least_share * total)
                .then(|| (format!("{:.1} %", 100.0 * misplaced.area / total), misplaced.farthest))
        };
        let name = &self.name;
        match &self.outside {
            Outside::SupersonicOutlet => {
                let slow = found(&|face| mach[face] < 1.0 - MARGIN, 1.0);
                let said = |(share, least): (String, f64)| {
                    format!(
                        "the flow leaves `supersonic_outlet` \"{name}\" below the speed of sound at {share} of its area, its \
                         Mach number normal to the patch down to {least:.3}: no pressure is prescribed, and such a \
                         flow is not determined; use `pressure_outlet`, or move the patch to where the flow is \
                         faster than sound"
                    )
                };
                slow.map(said).into_iter().collect()
            }
            Outside::PressureOutlet => {
                let fast = found(&|face| mach[face] > 1.0 + MARGIN, 1.0);
                let said = |(share, most): (String, f64)| {
                    format!(
                        "the flow leaves `pressure_outlet` \"{name}\" faster than sound at {share} of its area, its Mach \
                         number normal to the patch up to {most:.3}: there the pressure has no effect; lower it where a \
                         shock is to stand elsewhere, or use `supersonic_outlet`"
                    )
                };
                fast.map(said).into_iter().collect()
            }
            Outside::State(state) => {
                let prescribed = self.prescribed_mach(state, time, gamma);
                let is_slow = |mach: f64| mach > -1.0 + MARGIN;
                let is_fast = |mach: f64| mach < -1.0 - MARGIN;
                let slow = found(&|face| is_fast(prescribed[face]) && is_slow(mach[face]), -1.0);
                let slow = slow.map(|(share, least)| {
                    format!(
                        "the state prescribed at patch \"{name}\" enters faster than sound, the gas inside is slower at \
                         {share} of the area, its Mach number into the domain down to {least:.3}: a shock stands at the \
                         patch, and another flow than the prescribed one enters; move the patch upstream"
                    )
                });
                let enters = |mach: f64| mach < 0.0 && is_slow(mach);
                let fast = found(&|face| enters(prescribed[face]) && is_fast(mach[face]), -1.0);
                let fast = fast.map(|(share, most)| {
                    format!(
                        "the state prescribed at patch \"{name}\" enters below the speed of sound, the gas inside is \
                         faster at {share} of the area, its Mach number into the domain up to {most:.3}: another flow \
                         than the prescribed one enters; prescribe a state faster than sound, or move the patch"
                    )
                });
                slow.into_iter().chain(fast).collect()
            }
        }
    }

    /// u·n/c of the prescribed state at the centres of the faces.
    fn prescribed_mach(
        &self,
        state: &PrescribedState<Arc<dyn Prescribed>>,
        time: f64,
        gamma: f64,
    ) -> Vec<f64> {
        let values = state.variables().map(|value| {
            let mut values = vec![0.0; self.faces.len()];
            value.sample(&self.centres, time, &mut values);
            values
        });
        normal_mach(values, &self.normals, gamma)
    }
}
