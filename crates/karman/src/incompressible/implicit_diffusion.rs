//! Implicit diffusive terms of transported fields: the velocity components, which share a matrix, or a
//! temperature.

use super::implicit_convection::ImplicitConvection;
use super::{Convection, ConvectionTreatment, FlowCondition, IncompressibleError};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::diffusion::{CellScheme, discretize, discretize_boundary};
use crate::finite_volume::{
    BoundaryContributionOnBackend, BoundaryFaces, CellGradient, Condition, CorrectedOperator,
    Faces, Material, NonOrthogonalCorrectionOnBackend, Prescribed, TimeDependentData, narrow,
    widen,
};
use crate::linear::{
    CsrMatrix, Matrix, Method, Operator, Params, SolveOutcome, Solver, SolverSetup,
};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;
use crate::time::{ImplicitOperator, TimeCoefficients};
use std::sync::Arc;
use std::time::Instant;

/// Boundary conditions and source of a transport equation.
pub(super) struct EquationSpec {
    /// Name of its boundary values in messages.
    pub what: &'static str,
    /// One condition per patch, of equal kind for all quantities of an [`ImplicitDiffusion`].
    pub conditions: Vec<Condition>,
    /// Source per unit of volume and time.
    pub source: Arc<dyn Prescribed>,
}

/// Diffusive terms of quantities that share a matrix, and the solver of their implicit steps.
pub(super) struct ImplicitDiffusion<F: Real> {
    terms: DiffusiveTerms<F>,
    /// Prescribed values of the boundary faces.
    pub(super) boundary: BoundaryFaces,
    /// Quantities whose conditions apply to the same faces with different values.
    pub quantities: Vec<Quantity<F>>,
    solver: ImplicitOperator<Solver<F>>,
    /// The implicit operator with convection, in place of `solver`; none where convection is explicit.
    convection: Option<ImplicitConvection<F>>,
    /// Scratch of the correction: `[3][n_cells]`.
    gradient: Buffer<F>,
    /// Gradients of linear upwinding that differ from those of the non-orthogonal correction.
    upwind: Option<UpwindGradient<F>>,
}

/// ∇·(D ∇φ) of each quantity, without boundary values.
struct DiffusiveTerms<F: Real> {
    backend: Backend,
    /// D.
    diffusivity: f64,
    /// A: `[n_cells]` squared.
    matrix: Arc<Matrix<F>>,
    /// V: `[n_cells]`.
    volume: Vec<f64>,
    correction: Arc<NonOrthogonalCorrectionOnBackend<F>>,
    /// D a of each face: `[n_faces]`.
    conductance: Arc<Buffer<F>>,
    /// Whether lines between centroids are normal to their faces.
    is_orthogonal: bool,
    params: Params,
}

/// Gradients of linear upwinding.
struct UpwindGradient<F: Real> {
    gradient: CellGradient<F>,
    /// Scratch: `[3][n_cells]`.
    value: Buffer<F>,
}

/// Boundary values and source of a quantity.
pub(super) struct Quantity<F: Real> {
    coupling: BoundaryContributionOnBackend<F>,
    /// Values at the boundary.
    pub prescribed: TimeDependentData<F>,
    /// V s.
    pub source: TimeDependentData<F>,
}

/// 1 + the index of each boundary face's Dirichlet value among those prescribed, 0 where the face has none.
pub(super) fn dirichlet_indices(mesh: &Mesh, conditions: &[Condition]) -> Vec<u32> {
    let inner = mesh.n_interior_faces();
    let mut dirichlet_index = vec![0; mesh.n_faces() - inner];
    let mut next = 1;
    for (patch, condition) in mesh.patches.iter().zip(conditions) {
        match condition {
            Condition::ZeroGradient | Condition::Extrapolated => continue,
            Condition::Dirichlet(_) => {
                for (k, face) in patch.faces.clone().enumerate() {
                    dirichlet_index[face - inner] = next + k as u32;
                }
            }
            Condition::Neumann(_) | Condition::Robin { .. } => (),
        }
        next += patch.faces.len() as u32;
    }
    dirichlet_index
}

/// The faces of the patches whose condition `matches`, and the indices of their values among those
/// prescribed.
pub(super) fn faces_where(
    mesh: &Mesh,
    conditions: &[FlowCondition],
    dirichlet_index: &[u32],
    matches: impl Fn(&FlowCondition) -> bool,
) -> (Vec<u32>, Vec<u32>) {
    let inner = mesh.n_interior_faces();
    let patches = mesh.patches.iter().zip(conditions).filter(|(_, condition)| matches(condition));
    let faces = patches.flat_map(|(patch, _)| patch.faces.clone());
    faces.map(|face| (face as u32, dirichlet_index[face - inner] - 1)).unzip()
}

impl<F: Real> ImplicitDiffusion<F> {
    pub(super) fn new(
        backend: &Backend,
        mesh: &Mesh,
        geometry: &Geometry,
        faces: &Faces<F>,
        (diffusivity, convection, treatment): (f64, Convection, ConvectionTreatment),
        specs: Vec<EquationSpec>,
        mut params: Params,
    ) -> Result<Self, IncompressibleError> {
        let n = mesh.n_cells();
        // Gradients do not depend on the diffusivity; at 0 the diffusive terms are zeroed.
        let diffuses = diffusivity > 0.0;
        let material = Material::uniform(n, if diffuses { diffusivity } else { 1.0 }, 1.0);
        let is_orthogonal = faces.is_orthogonal;
        let mut first = None;
        let mut quantities = vec![];
        for EquationSpec { what, conditions, source } in specs {
            let (mut discrete, boundary) = match &first {
                None => discretize(mesh, geometry, &material, &conditions, true)?,
                Some(_) => discretize_boundary(mesh, geometry, &material, &conditions)?,
            };
            if !diffuses {
                discrete.zero_diffusion()?;
            }
            let prescribed = discrete.values.into_time_dependent_data(backend, what)?;
            let source = TimeDependentData::of_cells(backend, "the source", source, geometry)?;
            let coupling =
                BoundaryContributionOnBackend::new(backend, discrete.boundary_contribution);
            quantities.push(Quantity { coupling, prescribed, source });
            if let (None, Some(correction)) = (&first, discrete.correction) {
                let cells = faces.cells.clone();
                let correction = NonOrthogonalCorrectionOnBackend::new(backend, cells, correction);
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
                let upwind = stencils.map(|stencils| UpwindGradient {
                    gradient: correction.gradient().with_stencils(backend, stencils),
                    value: backend.zeros(3 * n),
                });
                let correction = Arc::new(correction);
                first = Some((Arc::new(matrix), correction, conductance, boundary, upwind));
            }
        }
        let Some((matrix, correction, conductance, boundary, upwind)) = first else {
            unreachable!("one quantity at least")
        };
        let is_implicit = treatment == ConvectionTreatment::Implicit;
        if is_implicit && params.method != Method::BiCgStab {
            // BiCGStab breaks down where convection dominates and the initial guess is far off.
            params.method = Method::Fgmres;
        } else if !is_orthogonal && params.method != Method::Fgmres {
            params.method = Method::BiCgStab;
        }
        let conductance = Arc::new(conductance);
        let implicit_convection = is_implicit.then(|| {
            let conductance = conductance.clone();
            let cells = faces.cells.clone();
            ImplicitConvection::new(backend, cells, conductance, is_orthogonal, params.clone())
        });
        Ok(ImplicitDiffusion {
            convection: implicit_convection,
            gradient: backend.zeros(if is_orthogonal { 0 } else { 3 * n }),
            terms: DiffusiveTerms {
                backend: backend.clone(),
                diffusivity,
                matrix,
                volume: geometry.cell_volume.clone(),
                correction,
                conductance,
                is_orthogonal,
                params,
            },
            boundary,
            quantities,
            solver: ImplicitOperator::default(),
            upwind,
        })
    }

    /// D.
    pub(super) fn diffusivity(&self) -> f64 {
        self.terms.diffusivity
    }

    /// Diffusivity times Σ a / V of each cell: the diffusive rate.
    pub(super) fn diffusive_rates(&self) -> Result<Buffer<F>, IncompressibleError> {
        let mut rates = widen(&self.terms.backend, &self.terms.matrix.diagonal())?;
        rates.iter_mut().zip(&self.terms.volume).for_each(|(a, v)| *a /= v);
        Ok(narrow(&self.terms.backend, rates))
    }

    /// Coefficients of the difference and of the gradient in the flux of each face: `[n_faces]`,
    /// `[3][n_faces]`.
    pub(super) fn face_coefficients(&self) -> (&Buffer<F>, &Buffer<F>) {
        (&self.terms.conductance, self.terms.correction.face_coefficients().0)
    }

    /// r ← A u, the diffusive terms without the contribution of [`ImplicitDiffusion::add_boundary`].
    pub(super) fn multiply(&self, u: &Buffer<F>, r: &mut Buffer<F>) {
        self.terms.matrix.multiply(u, r);
    }

    /// r ← r + C v + K(u, v) of a component.
    pub(super) fn add_boundary(&mut self, component: usize, u: &Buffer<F>, r: &mut Buffer<F>) {
        let own = &self.quantities[component];
        own.coupling.add(&self.terms.backend, own.prescribed.value(), r);
        if !self.terms.is_orthogonal {
            let one = F::literal(1.0);
            let prescribed = (own.prescribed.value(), one);
            self.terms.correction.add(
                &self.terms.backend,
                u,
                prescribed,
                one,
                &mut self.gradient,
                r,
            );
        }
    }

    /// ∇ of a component with its boundary values.
    pub(super) fn differentiate(&self, component: usize, u: &Buffer<F>, gradient: &mut Buffer<F>) {
        let prescribed = (self.quantities[component].prescribed.value(), F::literal(1.0));
        self.terms.correction.differentiate(&self.terms.backend, u, prescribed, gradient);
    }

    /// The gradient of a component for linear upwinding, where it differs from that of
    /// [`ImplicitDiffusion::differentiate`].
    pub(super) fn upwind_gradient(
        &mut self,
        component: usize,
        u: &Buffer<F>,
    ) -> Option<&Buffer<F>> {
        let UpwindGradient { gradient, value } = self.upwind.as_mut()?;
        let prescribed = (self.quantities[component].prescribed.value(), F::literal(1.0));
        gradient.apply(&self.terms.backend, u, prescribed, value);
        Some(value)
    }

    /// Sets up the solver of shift V + θ A − θ K unless shift and θ are unchanged; with implicit convection that of
    /// shift V + θ W for the fluxes F; `volume` is V or, with local steps, V / s.
    pub(super) fn prepare(
        &mut self,
        coefficients: &TimeCoefficients,
        flux: &Buffer<F>,
        volume: &Buffer<F>,
    ) -> Result<(), IncompressibleError> {
        if let Some(convection) = &mut self.convection {
            return convection.prepare(coefficients, flux, volume);
        }
        let (shift, theta) = (coefficients.bdf.shift, coefficients.theta);
        let ImplicitDiffusion { terms, quantities, solver, .. } = self;
        let values = quantities[0].prescribed.value().len();
        // Set up from scratch: a restarted run has no previous solver to reuse.
        solver.prepare(shift, theta, |last| {
            drop(last);
            terms.solver(shift, theta, values)
        })?;
        Ok(())
    }

    /// With implicit convection, r ← r + θ e ((W − A) δ_before + K(δ_before)): the extrapolation of the terms that the
    /// operator replaces by W.
    pub(super) fn add_extrapolation(
        &mut self,
        component: usize,
        now: &Buffer<F>,
        before: &Buffer<F>,
        r: &mut Buffer<F>,
    ) {
        let ImplicitDiffusion { terms, convection, quantities, gradient, .. } = self;
        let Some(convection) = convection else { return };
        let Some((difference, factor)) = convection.add_extrapolation(now, before, r) else {
            return;
        };
        if !terms.is_orthogonal {
            let none = (quantities[component].prescribed.value(), F::literal(0.0));
            let factor = F::from_f64(factor);
            terms.correction.add(&terms.backend, difference, none, factor, gradient, r);
        }
    }

    /// Solves (shift V + θ A − θ K) δ = r, with implicit convection (shift V + θ W) δ = r, from the initial guess δ.
    pub(super) fn solve(
        &mut self,
        r: &Buffer<F>,
        increment: &mut Buffer<F>,
    ) -> Result<SolveOutcome, IncompressibleError> {
        if let Some(convection) = &mut self.convection {
            return convection.solve(r, increment);
        }
        let Some(solver) = self.solver.last_mut() else { unreachable!("prepared before") };
        Ok(solver.solve(r, increment)?)
    }

    /// Sets boundary values and sources to their mean at two times.
    pub(super) fn set_mean_time(&mut self, times: [f64; 2]) -> Result<(), IncompressibleError> {
        for quantity in &mut self.quantities {
            quantity.prescribed.set_mean(&self.terms.backend, times)?;
            quantity.source.set_mean(&self.terms.backend, times)?;
        }
        Ok(())
    }
}

impl<F: Real> DiffusiveTerms<F> {
    /// The solver of shift V + θ A − θ K for quantities of `values` prescribed values each.
    fn solver(
        &self,
        shift: f64,
        theta: f64,
        values: usize,
    ) -> Result<Solver<F>, IncompressibleError> {
        let start = Instant::now();
        let matrix = Arc::new(self.implicit_matrix(shift, theta)?);
        let correction = self.correction.clone();
        let operator: Box<dyn Operator<F>> = match self.is_orthogonal {
            true => Box::new(matrix.clone()),
            false => Box::new(CorrectedOperator::new(
                &self.backend,
                matrix.clone(),
                correction,
                theta,
                values,
            )),
        };
        let solver = Solver::with_operator(&self.backend, operator, Some(matrix), &self.params)?;
        let setup = SolverSetup::of(&solver, start.elapsed().as_secs_f64());
        tracing::debug!("implicit diffusion: {setup}");
        Ok(solver)
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
}
