//! The loads of pressure and of viscous stress on groups of boundary faces, from the polynomials of cells. Of several ranks each computes
//! the loads of its faces, and each process adds those of all in the order of one rank.
#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(non_camel_case_types)] // on the names it makes of `f64`

use super::error::CompressibleError;
use super::face_points::FacePoints;
use super::reconstruction::polynomial::Polynomials;
use super::residual::GasView;
use super::solver::{CompressibleSolver, gas};
use super::traces::boundary_point;
use super::viscous::ViscosityLaw;
use crate::backend::{Backend, Buffer, Components, Partials, View, blas};
use crate::finite_volume::{FaceView, Vectors, component_major, narrow};
use crate::mesh::geometry::{cross, subtract};
use crate::mesh::quadrature::centroid_of_cell;
use crate::mesh::{Geometry, Mesh};
use crate::real::{Real, Vec3};
use karman_backend::prelude::*;

type Vector = [f64; 3];

/// A part of the load on boundary faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LoadPart {
    /// Of the pressure, with the mass flow.
    Pressure,
    /// Of the viscous stress, with the heat flux.
    Viscous,
}

/// A part of the load on boundary faces.
#[device]
#[derive(Clone, Copy, Debug, Default, PartialEq, Components)]
pub struct BoundaryLoad<F: Real> {
    /// Force of the fluid, N.
    pub force_x: F,
    /// Along y.
    pub force_y: F,
    /// Along z.
    pub force_z: F,
    /// Its moment about the centre of the group, N m.
    pub moment_x: F,
    /// About y.
    pub moment_y: F,
    /// About z.
    pub moment_z: F,
    /// The flux into the domain: of mass, kg/s, with the force of the pressure; of heat, W, with that of the viscous stress.
    pub entering: F,
}

/// Numbers of a load.
const COMPONENTS: usize = <BoundaryLoad<f64> as Components>::COUNT;

/// Boundary faces with their loads.
pub struct FaceLoads<F: Real> {
    faces: Buffer<u32>,
    /// From the centre of moments to the centroid of the cell: `[3][faces]`.
    arms: Buffer<F>,
    /// Of the pressure and of the viscous stress: `[7][faces]`.
    loads: [Buffer<F>; 2],
}

impl<F: Real> FaceLoads<F> {
    /// Faces of a mesh and the centre x₀ of moments, for a solver that has the faces `local`.
    pub fn new(
        backend: &Backend,
        (mesh, geometry): (&Mesh, &Geometry),
        faces: &[u32],
        local: Vec<u32>,
        centre: Vector,
    ) -> FaceLoads<F> {
        let arm = |face: &u32| {
            let cell = mesh.face_left[*face as usize] as usize;
            subtract(centroid_of_cell(mesh, geometry, cell), centre)
        };
        let arms: Vec<Vector> = faces.iter().map(arm).collect();
        FaceLoads {
            faces: backend.upload(local),
            arms: narrow(backend, component_major(&arms)),
            loads: [0; 2].map(|_| backend.zeros(COMPONENTS * faces.len())),
        }
    }
}

/// The faces of each group that a part computes, on its backend.
pub struct PartLoads<F: Real> {
    groups: Vec<FaceLoads<F>>,
    /// Their loads, `[group][pressure, viscous stress][7][faces]`.
    packed: Buffer<F>,
}

/// Σ S, the force of a unit pressure on boundary faces, and Σ (x_f − x₀) × S, its moment.
pub fn of_unit_pressure(geometry: &Geometry, faces: &[u32], centre: Vector) -> [Vector; 2] {
    let (mut force, mut of_moment) = ([0.0; 3], [0.0; 3]);
    for face in faces {
        let s = geometry.area_vector_of(*face as usize);
        let moment = cross(subtract(geometry.face_centre_of(*face as usize), centre), s);
        (0..3).for_each(|k| force[k] += s[k]);
        (0..3).for_each(|k| of_moment[k] += moment[k]);
    }
    [force, of_moment]
}

/// The sums of the loads of a group of faces.
struct LoadSums {
    partials: Partials,
    load: Buffer<f64>,
}

impl LoadSums {
    fn new(backend: &Backend, faces: usize) -> LoadSums {
        let partials = Partials::new(backend, faces, COMPONENTS);
        LoadSums { partials, load: backend.zeros(COMPONENTS) }
    }

    /// The sum of loads `[7][faces]`.
    fn total<F: Real>(
        &mut self,
        backend: &Backend,
        loads: &Buffer<F>,
    ) -> Result<BoundaryLoad<f64>, CompressibleError> {
        let (n, LoadSums { partials, load }) = (loads.len() / COMPONENTS, self);
        boundary_loads(backend, n, loads, n, partials);
        total_boundary_load(backend, partials, load);
        Ok(BoundaryLoad::of_components(&backend.read(load)?))
    }
}

/// A group of boundary faces, for [`CompressibleSolver::loads`].
pub struct LoadedFaces<F: Real> {
    of_faces: FaceLoads<F>,
    sums: LoadSums,
}

impl<F: Real> LoadedFaces<F> {
    /// Faces of a mesh and the centre x₀ of moments.
    pub fn new(
        backend: &Backend,
        place: (&Mesh, &Geometry),
        faces: &[u32],
        centre: Vector,
    ) -> LoadedFaces<F> {
        let of_faces = FaceLoads::new(backend, place, faces, faces.to_vec(), centre);
        LoadedFaces { of_faces, sums: LoadSums::new(backend, faces.len()) }
    }
}

/// A group of boundary faces whose loads several ranks compute, on the host.
pub struct GatheredLoads<F: Real> {
    backend: Backend,
    /// The entries of the group that each rank computes.
    entries: Vec<Vec<usize>>,
    /// Of the pressure or of the viscous stress: `[7][faces]`.
    loads: Buffer<F>,
    sums: LoadSums,
}

impl<F: Real> GatheredLoads<F> {
    /// The entries of a group that each rank computes, in all `n`.
    pub fn new(backend: &Backend, entries: Vec<Vec<usize>>, n: usize) -> GatheredLoads<F> {
        let backend = backend.on_host();
        GatheredLoads {
            loads: backend.zeros(COMPONENTS * n),
            sums: LoadSums::new(&backend, n),
            backend,
            entries,
        }
    }

    /// The entries that a rank computes.
    pub fn entries(&self, rank: usize) -> &[usize] {
        &self.entries[rank]
    }

    /// The loads of pressure and of viscous stress on the group from those of each rank, `[pressure, viscous stress][7][entries]`, added in
    /// the order of one rank; `has_stress`: with the viscous stress. Leaves what follows in the lists.
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn totals(
        &mut self,
        lists: &mut [&[f64]],
        has_stress: bool,
    ) -> Result<[BoundaryLoad<f64>; 2], CompressibleError> {
        let GatheredLoads { backend, entries, loads, sums } = self;
        let n = loads.len() / COMPONENTS;
        let mut totals = [BoundaryLoad::default(); 2];
        for total in &mut totals[..1 + usize::from(has_stress)] {
            let all = loads.as_host_mut().unwrap_or_default();
            for (entries, list) in entries.iter().zip(&mut *lists) {
                let (own, rest) = list.split_at(COMPONENTS * entries.len());
                *list = rest;
                for (k, own) in own.chunks_exact(entries.len().max(1)).enumerate() {
                    let places = entries.iter().map(|entry| k * n + entry);
                    places.zip(own).for_each(|(place, value)| all[place] = F::from_f64(*value));
                }
            }
            *total = sums.total(backend, loads)?;
        }
        Ok(totals)
    }
}

/// Some faces with their arms.
#[derive(Group, Clone, Copy)]
struct ListedFaces<'a, F: Real> {
    faces: View<'a, u32>,
    arms: Vectors<'a, F>,
}

/// The load of each listed face.
///
/// Traffic a face: 12 + 24 + 56, a point 88, a cell 40 (1 + terms) (f64).
#[kernel(out(loads))]
fn face_loads<F: Real>(
    i: usize,
    listed: &ListedFaces<F>,
    faces: &FaceView<F>,
    points: &FacePoints<F>,
    polynomials: &Polynomials<F>,
    gas: &GasView<F>,
    #[comptime] part: LoadPart,
) -> BoundaryLoad<F> {
    let f = listed.faces[i] as usize;
    let c = faces.left[f] as usize;
    let (first, end) = points.range(f);
    let mut force = Vec3::<F>::zero();
    let mut moment = Vec3::<F>::zero();
    let mut entering = F::literal(0.0);
    for k in first..end {
        let at_point = boundary_point::<F>(f, c, k, faces, points, polynomials, gas);
        let mut of_point = at_point.pressure;
        if comptime!(part == LoadPart::Viscous) {
            of_point = at_point.viscous;
            entering += at_point.heat;
        } else {
            entering -= at_point.mass;
        }
        force += of_point;
        moment += (listed.arms.at(i) + points.from_left.at(k)).cross(of_point);
    }
    BoundaryLoad::<F> {
        force_x: force.x,
        force_y: force.y,
        force_z: force.z,
        moment_x: moment.x,
        moment_y: moment.y,
        moment_z: moment.z,
        entering,
    }
}

/// The load of each face, `[7][n]`, to be added up. Traffic 56 (f64).
#[kernel(reduce(sum, sum, sum, sum, sum, sum, sum))]
fn boundary_loads<F: Real>(i: usize, loads: &View<F>, n: usize) -> (F, F, F, F, F, F, F) {
    (
        loads[i],
        loads[n + i],
        loads[2 * n + i],
        loads[3 * n + i],
        loads[4 * n + i],
        loads[5 * n + i],
        loads[6 * n + i],
    )
}

/// The load of all faces.
#[kernel(combine(sum, sum, sum, sum, sum, sum, sum), out(load))]
fn total_boundary_load(
    force_x: f64,
    force_y: f64,
    force_z: f64,
    moment_x: f64,
    moment_y: f64,
    moment_z: f64,
    entering: f64,
) -> BoundaryLoad<f64> {
    BoundaryLoad::<f64> { force_x, force_y, force_z, moment_x, moment_y, moment_z, entering }
}

impl<F: Real> CompressibleSolver<F> {
    /// The parts of a load that are not zero everywhere.
    fn load_parts(&self) -> &'static [LoadPart] {
        match self.viscous.view().law {
            ViscosityLaw::Inviscid => &[LoadPart::Pressure],
            _ => &[LoadPart::Pressure, LoadPart::Viscous],
        }
    }

    /// The loads of pressure and of viscous stress on boundary faces, as [`CompressibleSolver::at_points`].
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn loads(
        &self,
        group: &mut LoadedFaces<F>,
    ) -> Result<[BoundaryLoad<f64>; 2], CompressibleError> {
        let LoadedFaces { of_faces, sums } = group;
        self.find_face_loads(of_faces);
        let mut totals = [BoundaryLoad::default(); 2];
        let parts = self.load_parts().len();
        for (total, loads) in totals.iter_mut().zip(&of_faces.loads[..parts]) {
            *total = sums.total(&self.backend, loads)?;
        }
        Ok(totals)
    }

    /// Computes the loads of faces from the polynomials of the last [`CompressibleSolver::refresh`].
    fn find_face_loads(&self, FaceLoads { faces, arms, loads }: &mut FaceLoads<F>) {
        for (part, loads) in self.load_parts().iter().zip(loads) {
            face_loads(
                &self.backend,
                faces.len(),
                &ListedFaces { faces: faces.view(), arms: Vectors::of(arms) },
                &self.mesh.faces(),
                &self.mesh.points.view(),
                &self.polynomials.view(&self.state.now),
                &gas(self.gamma, &self.numerics, &self.boundary, &self.viscous),
                *part,
                loads,
            );
        }
    }

    /// The faces of all groups of this part, for [`CompressibleSolver::loads_of_part`].
    pub fn part_loads(&self, groups: Vec<FaceLoads<F>>) -> PartLoads<F> {
        let entries: usize = groups.iter().map(|group| COMPONENTS * group.faces.len()).sum();
        PartLoads { groups, packed: self.backend.zeros(self.load_parts().len() * entries) }
    }

    /// The loads of the faces of this part, `[group][pressure, viscous stress][7][faces]`, as [`CompressibleSolver::loads`].
    ///
    /// # Errors
    /// [`CompressibleError::Backend`].
    pub fn loads_of_part(
        &self,
        PartLoads { groups, packed }: &mut PartLoads<F>,
    ) -> Result<Vec<f64>, CompressibleError> {
        let (backend, parts) = (&self.backend, self.load_parts().len());
        let mut first = 0;
        for group in groups {
            self.find_face_loads(group);
            for loads in &group.loads[..parts] {
                blas::copy_to_range(backend, loads.len(), loads, first, packed);
                first += loads.len();
            }
        }
        self.read(packed)
    }
}
