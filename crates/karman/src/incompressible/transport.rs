//! What a flow carries and what diffuses: the components of the velocity, of one matrix, or a temperature.

use super::faces::Faces;
use super::scheme::Formula;
use super::{Convection, FlowCondition, IncompressibleError};
use crate::backend::{Backend, Buffer};
use crate::diffusion::cell_centred::{BoundaryFaces, CellScheme, discretize};
use crate::diffusion::{
    CellGradient, Condition, CorrectedOperator, CorrectionOnBackend, CouplingOnBackend, Forcing,
    Material, Part, Prescribed, narrow,
};
use crate::linear::{
    CsrMatrix, Matrix, Method, Operator, Params, SolveOutcome, Solver, SolverSetup,
};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use std::sync::Arc;
use std::time::Instant;

/// A quantity as posed.
pub(super) struct Posed {
    /// What its values at the boundary are, in messages.
    pub what: &'static str,
    /// One condition a patch; of the same kind for all quantities of one [`Transport`].
    pub conditions: Vec<Condition>,
    /// What is released in a unit of volume and time.
    pub source: Arc<dyn Prescribed>,
}

/// The diffusive terms of some quantities, and a solver of what is implicit in their steps.
pub(super) struct Transport<F: Real> {
    backend: Backend,
    matrix: Arc<Matrix<F>>,
    volume: Vec<f64>,
    correction: Arc<CorrectionOnBackend<F>>,
    /// Diffusivity times a of each face: `[n_faces]`.
    conductance: Buffer<F>,
    /// What the boundary holds.
    pub(super) boundary: BoundaryFaces,
    /// Whether lines between centroids are normal to their faces.
    is_plain: bool,
    /// Of each quantity, as their values differ and their faces do not.
    pub quantities: Vec<Quantity<F>>,
    params: Params,
    solver: Option<(f64, f64, Solver<F>)>,
    /// Scratch of the correction: `[3][n_cells]`.
    gradient: Buffer<F>,
    /// Gradients that extrapolate from upstream, where they are not those of the correction.
    upstream: Option<Upstream<F>>,
}

/// Gradients that extrapolate from upstream.
struct Upstream<F: Real> {
    gradient: CellGradient<F>,
    /// Scratch: `[3][n_cells]`.
    value: Buffer<F>,
}

/// What differs from quantity to quantity.
pub(super) struct Quantity<F: Real> {
    coupling: CouplingOnBackend<F>,
    /// Values at the boundary.
    pub prescribed: Forcing<F>,
    /// V s.
    pub source: Forcing<F>,
}

/// Held faces: 1 + the place of each boundary face's value among those prescribed, 0 where the face's own
/// value is not prescribed.
pub(super) fn held_faces(mesh: &Mesh, conditions: &[Condition]) -> Vec<u32> {
    let inner = mesh.n_interior_faces();
    let mut held = vec![0; mesh.n_faces() - inner];
    let mut next = 1;
    for (patch, condition) in mesh.patches.iter().zip(conditions) {
        match condition {
            Condition::Insulated | Condition::Extrapolated => continue,
            Condition::Temperature(_) => {
                for (k, face) in patch.faces.clone().enumerate() {
                    held[face - inner] = next + k as u32;
                }
            }
            Condition::HeatFlux(_) | Condition::Convection { .. } => (),
        }
        next += patch.faces.len() as u32;
    }
    held
}

/// The faces of the patches that `are` so, and the places of their values among those prescribed.
pub(super) fn faces_where(
    mesh: &Mesh,
    conditions: &[FlowCondition],
    held: &[u32],
    are: impl Fn(&FlowCondition) -> bool,
) -> (Vec<u32>, Vec<u32>) {
    let inner = mesh.n_interior_faces();
    let patches = mesh.patches.iter().zip(conditions).filter(|(_, condition)| are(condition));
    let faces = patches.flat_map(|(patch, _)| patch.faces.clone());
    faces.map(|face| (face as u32, held[face - inner] - 1)).unzip()
}

impl<F: Real> Transport<F> {
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &Faces<F>,
        (diffusivity, convection): (f64, Convection),
        posed: Vec<Posed>,
        mut params: Params,
    ) -> Result<Self, IncompressibleError> {
        let n = mesh.n_cells();
        // Gradients are those of any diffusivity; without one nothing diffuses.
        let diffuses = diffusivity > 0.0;
        let material = Material::uniform(n, if diffuses { diffusivity } else { 1.0 }, 1.0);
        let is_plain = faces.is_orthogonal;
        let mut first = None;
        let mut quantities = vec![];
        for Posed { what, conditions, source } in posed {
            let (mut discrete, boundary) =
                discretize(mesh, geometry, &material, &conditions, true)?;
            if !diffuses {
                discrete.still()?;
            }
            let prescribed = discrete.values.into_forcing(backend, what)?;
            let source = Part {
                value: source,
                entries: (0..n as u32).collect(),
                factors: geometry.cell_volume.clone(),
                points: geometry.cell_centre.clone(),
            };
            let source = Forcing::new(backend, "the source", n, vec![source])?;
            let coupling = CouplingOnBackend::new(backend, discrete.coupling);
            quantities.push(Quantity { coupling, prescribed, source });
            if let (None, Some(correction)) = (&first, discrete.correction) {
                let cells = faces.cells.clone();
                let correction = CorrectionOnBackend::new(backend, cells, correction);
                let matrix = Matrix::new(backend, discrete.matrix.into_converted())?;
                let k = &material.conductivity;
                let scheme = CellScheme::new(mesh, geometry, k, &boundary, true);
                let mut conductance = scheme.conductances();
                if !diffuses {
                    conductance.fill(0.0);
                }
                let conductance = narrow(backend, conductance);
                let extrapolates = convection == Convection::LinearUpwind;
                let stencils = extrapolates.then(|| scheme.extrapolation()).flatten();
                let upstream = stencils.map(|stencils| Upstream {
                    gradient: correction.gradient().with_stencils(backend, stencils),
                    value: backend.zeros(3 * n),
                });
                let correction = Arc::new(correction);
                first = Some((Arc::new(matrix), correction, conductance, boundary, upstream));
            }
        }
        let Some((matrix, correction, conductance, boundary, upstream)) = first else {
            unreachable!("one quantity at least")
        };
        if !is_plain && params.method != Method::Fgmres {
            params.method = Method::BiCgStab;
        }
        Ok(Transport {
            backend: backend.clone(),
            gradient: backend.zeros(if is_plain { 0 } else { 3 * n }),
            matrix,
            volume: geometry.cell_volume.clone(),
            correction,
            conductance,
            boundary,
            is_plain,
            quantities,
            params,
            solver: None,
            upstream,
        })
    }

    /// Diffusivity times Σ a / V of each cell: the rate at which diffusion exchanges what a cell holds.
    pub(super) fn diffusive_rates(&self) -> Result<Buffer<F>, IncompressibleError> {
        let diagonal = self.matrix.to_csr()?.diagonal();
        let rates = diagonal.iter().zip(&self.volume).map(|(a, v)| Into::<f64>::into(*a) / v);
        Ok(narrow(&self.backend, rates.collect()))
    }

    /// What a unit of difference and of gradient carry through each face: `[n_faces]`, `[3][n_faces]`.
    pub(super) fn of_faces(&self) -> (&Buffer<F>, &Buffer<F>) {
        (&self.conductance, self.correction.of_faces().0)
    }

    /// r ← A u: what [`Transport::add_boundary`] and the residual make the diffusive terms of.
    pub(super) fn multiply(&self, u: &Buffer<F>, r: &mut Buffer<F>) {
        self.matrix.multiply(u, r);
    }

    /// r ← r + C v + K(u, v) of a component.
    pub(super) fn add_boundary(&mut self, component: usize, u: &Buffer<F>, r: &mut Buffer<F>) {
        let own = &self.quantities[component];
        own.coupling.add(&self.backend, own.prescribed.value(), r);
        if !self.is_plain {
            let one = F::literal(1.0);
            let prescribed = (own.prescribed.value(), one);
            self.correction.add(&self.backend, u, prescribed, one, &mut self.gradient, r);
        }
    }

    /// ∇ of a component with its values at the boundary.
    pub(super) fn differentiate(&self, component: usize, u: &Buffer<F>, gradient: &mut Buffer<F>) {
        let prescribed = (self.quantities[component].prescribed.value(), F::literal(1.0));
        self.correction.differentiate(&self.backend, u, prescribed, gradient);
    }

    /// The gradient of a component that extrapolates from upstream, where it is not that of
    /// [`Transport::differentiate`].
    pub(super) fn upstream_gradient(
        &mut self,
        component: usize,
        u: &Buffer<F>,
    ) -> Option<&Buffer<F>> {
        let Upstream { gradient, value } = self.upstream.as_mut()?;
        let prescribed = (self.quantities[component].prescribed.value(), F::literal(1.0));
        gradient.apply(&self.backend, u, prescribed, value);
        Some(value)
    }

    /// Makes the solver of shift V + θ A − θ K current.
    pub(super) fn prepare(&mut self, formula: &Formula) -> Result<(), IncompressibleError> {
        let (shift, theta) = (formula.bdf.shift, formula.theta);
        if self.solver.as_ref().is_some_and(|(s, t, _)| *s == shift && *t == theta) {
            return Ok(());
        }
        let start = Instant::now();
        let matrix = Arc::new(self.implicit_matrix(shift, theta)?);
        let operator: Box<dyn Operator<F>> = match self.is_plain {
            true => Box::new(matrix.clone()),
            false => Box::new(CorrectedOperator::new(
                &self.backend,
                matrix.clone(),
                self.correction.clone(),
                theta,
                self.quantities[0].prescribed.value().len(),
            )),
        };
        // Made anew, not of the one before: a run that goes on from a checkpoint has none before.
        self.solver = None;
        let solver = Solver::with_operator(&self.backend, operator, Some(matrix), &self.params)?;
        let setup = SolverSetup::of(&solver, start.elapsed().as_secs_f64());
        tracing::debug!("transport: {setup}");
        self.solver = Some((shift, theta, solver));
        Ok(())
    }

    fn implicit_matrix(&self, shift: f64, theta: f64) -> Result<Matrix<F>, IncompressibleError> {
        let (a, volume) = (self.matrix.to_csr()?, &self.volume[..]);
        let n = a.rows();
        let length = |row: usize| a.row_length(row);
        let b = CsrMatrix::from_rows(n, n, length, |row, columns, values| {
            for (k, (column, value)) in a.row(row).enumerate() {
                let inertia = if column == row { shift * volume[row] } else { 0.0 };
                let value: f64 = value.into();
                (columns[k], values[k]) = (column as u32, F::from_f64(theta * value + inertia));
            }
        })?;
        Ok(Matrix::new(&self.backend, b)?)
    }

    /// Solves (shift V + θ A − θ K) δ = r from δ as first guess.
    pub(super) fn solve(
        &mut self,
        r: &Buffer<F>,
        increment: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        let Some((_, _, solver)) = &mut self.solver else { unreachable!("prepared before") };
        Ok(solver.solve(r, increment)?)
    }

    /// Takes boundary values and sources as the mean of two times.
    pub(super) fn set_mean_time(&mut self, times: [f64; 2]) -> Result<(), IncompressibleError> {
        for quantity in &mut self.quantities {
            quantity.prescribed.set_mean(&self.backend, times)?;
            quantity.source.set_mean(&self.backend, times)?;
        }
        Ok(())
    }
}
