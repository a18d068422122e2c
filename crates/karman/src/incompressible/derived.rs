//! Fields derived from the velocity: names and values.
#![allow(missing_docs)] // on the modules the kernel attribute generates

use super::{IncompressibleError, IncompressibleSolver};
use crate::backend::{Backend, Buffer};
use crate::descriptor::{Field, FieldData, FieldKey, Rank};
use crate::finite_volume::{Vectors, narrow_slice};
use crate::mesh::Mesh;
use crate::real::Real;
use karman_backend::prelude::*;
use karman_macros::Keyword;
use std::collections::VecDeque;

/// A field that follows from the velocity. The documentation of a variant is the text of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum DerivedField {
    /// the vorticity
    Vorticity,
    /// Q, positive where rotation dominates
    QCriterion,
    /// the streamfunction
    Streamfunction,
}

impl DerivedField {
    /// Its description.
    pub(super) const FIELDS: [Field; Self::ALL.len()] = {
        let mut fields = [Self::ALL[0].field(); Self::ALL.len()];
        let mut k = 0;
        while k < fields.len() {
            fields[k] = Self::ALL[k].field();
            k += 1;
        }
        fields
    };

    const fn field(self) -> Field {
        let scalar = Field {
            name: self.word(),
            rank: Rank::Scalar,
            units: "",
            meaning: self.meaning(),
            needs: &[],
            only_2d: false,
            initial: None,
            exact: None,
        };
        match self {
            DerivedField::Vorticity => Field {
                rank: Rank::Axial,
                units: "1/s",
                exact: Some(FieldKey {
                    default: "none",
                    meaning: "The exact vorticity ∂v/∂x − ∂u/∂y of a 2D flow.",
                    example: "vorticity = \"2*pi*cos(pi*x)\"",
                }),
                ..scalar
            },
            DerivedField::QCriterion => Field { units: "1/s²", ..scalar },
            DerivedField::Streamfunction => Field { units: "m²/s", only_2d: true, ..scalar },
        }
    }

    /// Its values in cells.
    ///
    /// # Errors
    /// Of the backend.
    pub fn evaluate<F: Real>(
        self,
        flow: &IncompressibleSolver<F>,
        mesh: &Mesh,
    ) -> Result<FieldData, IncompressibleError> {
        Ok(match self {
            DerivedField::Vorticity => FieldData::of_axial(mesh.dimension, &flow.vorticity(mesh)?),
            DerivedField::QCriterion => {
                let backend = &flow.flow.backend;
                let mut buffers = DerivedBuffers::new(backend, mesh.n_cells(), mesh.dimension);
                if flow.has_velocity_gradients() {
                    flow.derived(self, &mut buffers);
                } else {
                    let gradients = flow.velocity_gradients(mesh)?;
                    let gradients = gradients.iter().map(|g| narrow_slice(backend, g));
                    buffers.gradients = gradients.collect();
                    buffers.evaluate(backend, self);
                }
                FieldData::Scalar(flow.read_f64(&buffers.values[0])?)
            }
            DerivedField::Streamfunction => {
                FieldData::Scalar(streamfunction(mesh, &flow.read_f64(flow.flux())?))
            }
        })
    }
}

/// ∇u of the components of the velocity. In 2D `z` is not read.
#[derive(Group, Clone, Copy)]
pub(super) struct VelocityGradient<'a, F: Real> {
    /// ∇u.
    pub x: Vectors<'a, F>,
    /// ∇v.
    pub y: Vectors<'a, F>,
    /// ∇w.
    pub z: Vectors<'a, F>,
    /// 2 or 3.
    #[comptime]
    pub dimension: usize,
}

/// Q = (‖Ω‖² − ‖S‖²)/2 = −½ Σ ∂u_i/∂x_j ∂u_j/∂x_i (Hunt, Wray & Moin 1988), positive where rotation
/// dominates.
///
/// Traffic 10s, in 2D 7s.
#[kernel(out(q))]
pub(super) fn q_criterion<F: Real>(c: usize, gradient: &VelocityGradient<F>) -> F {
    let (u, v) = (gradient.x.at(c), gradient.y.at(c));
    let mut sum = u.x * u.x + v.y * v.y + 2.0 * u.y * v.x;
    if comptime!(gradient.dimension == 3) {
        let w = gradient.z.at(c);
        sum += w.z * w.z + 2.0 * (u.z * w.x + v.z * w.y);
    }
    -0.5 * sum
}

/// ∂u_i/∂x_j − ∂u_j/∂x_i, a component of the vorticity.
///
/// Traffic 3s.
#[kernel(out(vorticity))]
pub(super) fn vorticity_component<F: Real>(
    c: usize,
    of_i: &Vectors<F>,
    of_j: &Vectors<F>,
    i: usize,
    j: usize,
) -> F {
    of_i.components[j * of_i.stride + c] - of_j.components[i * of_j.stride + c]
}

/// A derived field on the backend, with the gradients from which it follows.
pub struct DerivedBuffers<F: Real> {
    /// ∇u of each component: `[3][n_cells]`.
    gradients: Vec<Buffer<F>>,
    /// The components of the field: `[n_cells]` each; a scalar is the first.
    values: Vec<Buffer<F>>,
}

impl<F: Real> DerivedBuffers<F> {
    /// Buffers for the fields of `n` cells.
    pub fn new(backend: &Backend, n: usize, dimension: usize) -> Self {
        let vectors = |count: usize, size: usize| (0..count).map(|_| backend.zeros(size)).collect();
        let components = if dimension == 2 { 1 } else { 3 };
        DerivedBuffers { gradients: vectors(dimension, 3 * n), values: vectors(components, n) }
    }

    /// The components of a local field from the gradients.
    fn evaluate(&mut self, backend: &Backend, field: DerivedField) -> &[Buffer<F>] {
        let DerivedBuffers { gradients, values } = self;
        let (n, dimension) = (values[0].len(), gradients.len());
        let of = |k: usize| Vectors::of(&gradients[k]);
        if field == DerivedField::QCriterion {
            let z = if dimension == 3 { of(2) } else { Vectors::absent() };
            let gradient = VelocityGradient { x: of(0), y: of(1), z, dimension };
            q_criterion(backend, n, &gradient, &mut values[0]);
            return &values[..1];
        }
        let axes: &[_] = if dimension == 2 { &[(1, 0)] } else { &[(2, 1), (0, 2), (1, 0)] };
        for ((i, j), value) in axes.iter().copied().zip(values.iter_mut()) {
            vorticity_component(backend, n, &of(i), &of(j), i, j, value);
        }
        values
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// The arrays of which a field is a linear function that is evaluated on the host, so that its mean over time is that of
    /// their means: the fluxes of a streamfunction; the fluxes and the velocity at the boundary, by component, of a staggered
    /// vorticity. None of other fields.
    pub fn linear_samples(&self, field: DerivedField) -> Option<Vec<&Buffer<F>>> {
        let at_boundary = self.flow.components.iter().map(|component| &component.at_boundary);
        match field {
            DerivedField::Streamfunction => Some(vec![self.flux()]),
            DerivedField::Vorticity if !self.has_velocity_gradients() => {
                Some([self.flux()].into_iter().chain(at_boundary).collect())
            }
            DerivedField::Vorticity | DerivedField::QCriterion => None,
        }
    }

    /// A field from the values of its [`IncompressibleSolver::linear_samples`]; for other fields it is empty.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn linear_field(
        &self,
        field: DerivedField,
        mesh: &Mesh,
        samples: &[Vec<f64>],
    ) -> Result<FieldData, IncompressibleError> {
        if field == DerivedField::Streamfunction {
            return Ok(FieldData::Scalar(streamfunction(mesh, &samples[0])));
        }
        Ok(FieldData::of_axial(mesh.dimension, &self.vorticity_of(mesh, samples)?))
    }

    /// Buffers for derived fields of the cells of this flow, of a part those of its own cells.
    pub fn derived_buffers(&self) -> DerivedBuffers<F> {
        let (backend, dimension) = (&self.flow.backend, self.dimension());
        let own = DerivedBuffers::new(backend, self.flow.n_cells(), dimension);
        let with_ghosts = self.flow.faces.cells.n_local();
        let gradients = (0..dimension).map(|_| backend.zeros(3 * with_ghosts)).collect();
        DerivedBuffers { gradients, ..own }
    }

    /// The components of a field that follows from the gradients of the scheme in each cell, `[components][n_cells]` with their number;
    /// none of other fields.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn local_field(
        &self,
        field: DerivedField,
    ) -> Result<Option<(usize, Vec<f64>)>, IncompressibleError> {
        if field == DerivedField::Streamfunction || !self.has_velocity_gradients() {
            return Ok(None);
        }
        let mut buffers = self.derived_buffers();
        let components = self.derived(field, &mut buffers);
        let read = components.iter().map(|component| self.read_f64(component));
        Ok(Some((components.len(), read.collect::<Result<Vec<_>, _>>()?.concat())))
    }

    /// The components of a local field at the current level, computed on the backend from the gradients of the
    /// scheme; see [`IncompressibleSolver::has_velocity_gradients`].
    pub fn derived<'b>(
        &self,
        field: DerivedField,
        buffers: &'b mut DerivedBuffers<F>,
    ) -> &'b [Buffer<F>] {
        for (k, gradient) in buffers.gradients.iter_mut().enumerate() {
            self.compute_velocity_gradient(k, gradient);
        }
        buffers.evaluate(&self.flow.backend, field)
    }
}

/// ψ with u = ∂ψ/∂y, v = −∂ψ/∂x on a 2D mesh, averaged over the nodes of each cell. Along a face from its
/// first to its second node, with the normal (dy, −dx), ψ grows by the flux through the face; divergence-free
/// fluxes make ψ independent of the path. Across periodic patches ψ grows by the flow between them. ψ is 0 at
/// the first boundary node of each connected component.
fn streamfunction(mesh: &Mesh, flux: &[f64]) -> Vec<f64> {
    let n = mesh.n_nodes();
    let mut around: Vec<Vec<(u32, f64)>> = vec![vec![]; n];
    let mut along = |nodes: &[u32], flux: f64| {
        around[nodes[0] as usize].push((nodes[1], flux));
        around[nodes[1] as usize].push((nodes[0], -flux));
    };
    flux.iter().enumerate().for_each(|(face, flux)| along(mesh.face_to_nodes.of(face), *flux));
    for (face, nodes) in mesh.periodic_pairs.iter().flat_map(|join| join.images(mesh)) {
        along(&nodes, flux[face]);
    }
    let mut psi = vec![f64::NAN; n];
    let boundary = (mesh.n_interior_faces()..mesh.n_faces()).map(|f| mesh.face_to_nodes.of(f)[0]);
    let mut queue = VecDeque::new();
    for start in boundary.chain(0..n as u32) {
        if psi[start as usize].is_nan() {
            psi[start as usize] = 0.0;
            queue.push_back(start);
        }
        while let Some(node) = queue.pop_front() {
            for (next, step) in &around[node as usize] {
                if psi[*next as usize].is_nan() {
                    psi[*next as usize] = psi[node as usize] + step;
                    queue.push_back(*next);
                }
            }
        }
    }
    let of_cell = |cell: usize| {
        let nodes = mesh.cells.nodes_of(cell);
        nodes.iter().map(|node| psi[*node as usize]).fold(0.0, |a, b| a + b) / nodes.len() as f64
    };
    (0..mesh.n_cells()).map(of_cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::testing::{SIZES, everywhere, values};
    use crate::mesh::generate::{BoxParams, Element};
    use crate::mesh::{Geometry, MeshOptions};

    /// The components of a field in a cell with these gradients.
    fn evaluated<const D: usize>(field: DerivedField, gradients: [[f64; 3]; D]) -> Vec<f64> {
        let backend = Backend::host(1).unwrap();
        let mut buffers = DerivedBuffers::<f64>::new(&backend, 1, D);
        buffers.gradients = gradients.map(|g| backend.upload(g.to_vec())).into();
        let found = buffers.evaluate(&backend, field);
        found.iter().map(|buffer| backend.read(buffer).unwrap()[0]).collect()
    }

    #[test]
    fn a_solid_rotation_has_its_q_and_streamfunction() {
        // u = (−2y, 2x): Q = 4, ψ = −(x² + y²) up to a constant.
        assert_eq!(evaluated(DerivedField::QCriterion, [[0.0, -2.0, 0.0], [2.0, 0.0, 0.0]]), [4.0]);
        assert_eq!(evaluated(DerivedField::Vorticity, [[0.0, -2.0, 0.0], [2.0, 0.0, 0.0]]), [4.0]);
        let params = BoxParams {
            size: vec![1.0, 1.0],
            cells: vec![6, 6],
            element: Some(Element::Triangle),
            jitter: 0.2,
            ..BoxParams::default()
        };
        let mesh = Mesh::new(params.generate().unwrap(), &MeshOptions::default()).unwrap();
        let geometry = Geometry::new(&mesh).unwrap();
        let at = |p: [f64; 3]| -(p[0] * p[0] + p[1] * p[1]);
        let flux: Vec<f64> = (0..mesh.n_faces())
            .map(|f| {
                let (x, s) = (geometry.face_centre_of(f), geometry.area_vector_of(f));
                -2.0 * x[1] * s[0] + 2.0 * x[0] * s[1]
            })
            .collect();
        let psi = streamfunction(&mesh, &flux);
        let mean = |c: usize| {
            let nodes = mesh.cells.nodes_of(c);
            nodes.iter().map(|n| at(mesh.points[*n as usize])).sum::<f64>() / nodes.len() as f64
        };
        let shift = psi[0] - mean(0);
        for (c, psi) in psi.iter().enumerate() {
            assert!((psi - mean(c) - shift).abs() < 1e-13, "{c}: {psi} {}", mean(c) + shift);
        }
    }

    #[test]
    fn a_rotation_about_an_oblique_axis_has_its_q() {
        // u = ω × x, ω = (1, 2, 3): Q = ω².
        let gradients = [[0.0, -3.0, 2.0], [3.0, 0.0, -1.0], [-2.0, 1.0, 0.0]];
        assert_eq!(evaluated(DerivedField::QCriterion, gradients), [14.0]);
        assert_eq!(evaluated(DerivedField::Vorticity, gradients), [2.0, 4.0, 6.0]);
    }

    #[test]
    fn local_fields_are_equal_on_every_backend() {
        let backends = everywhere();
        for n in SIZES {
            for dimension in [2, 3] {
                let fields = |backend: &Backend| -> Vec<Vec<f64>> {
                    let mut buffers = DerivedBuffers::<f64>::new(backend, n, dimension);
                    let gradients = (0..dimension).map(|k| values(3 * n, k as u64 + 1));
                    buffers.gradients = gradients.map(|g| backend.upload(g)).collect();
                    let mut read = vec![];
                    for field in [DerivedField::QCriterion, DerivedField::Vorticity] {
                        let found = buffers.evaluate(backend, field);
                        read.extend(found.iter().map(|b| backend.read(b).unwrap()));
                    }
                    read
                };
                let want = fields(&backends[0]);
                for backend in &backends {
                    let allowed = if backend.device().is_none() { 0.0 } else { 1e-13 };
                    for (found, want) in fields(backend).iter().flatten().zip(want.iter().flatten())
                    {
                        assert!((found - want).abs() <= allowed, "{backend:?} {n}: {found} {want}");
                    }
                }
            }
        }
    }
}
