//! The start of the control of the mean velocity, and the responses of the flow to its forces.

use super::flow::Flow;
use super::mean_velocity::{MeanVelocity, Response};
use super::stepper::Stepper;
use super::{Arrangement, IncompressibleError, IncompressibleSolver};
use crate::backend::group::gather_lists;
use crate::backend::{Backend, BackendError, Buffer, blas};
use crate::finite_volume::{Faces, narrow, widen};
use crate::mesh::geometry::{dot, norm};
use crate::mesh::{Geometry, Mesh};
use crate::real::{Real, epsilon};

/// Projections of a response at most; each reduces its divergence by the tolerance of the solver.
const PROJECTIONS: usize = 60;

/// Divergence of a response, over its largest flux, that is round-off.
const ROUND_OFF: f64 = 64.0;

/// Part of a translation or of a velocity outside a subspace that is round-off.
const PARALLEL: f64 = 1e-9;

/// Least mean of a response over that of the force: below, a wall blocks the flow.
const BLOCKED: f64 = 1e-6;

/// Responses, and R with the columns d_j as [`mean_correction`](super::mean_velocity::mean_correction) reads them.
type Responses<F> = (Vec<Response<F>>, Vec<f64>);

impl<F: Real> Flow<F> {
    /// The responses to unit forces along `directions`, whose fluxes are `driving`.
    fn responses(
        &mut self,
        stepper: &mut dyn Stepper<F>,
        directions: &[[f64; 3]],
        driving: &[Buffer<F>],
    ) -> Result<Responses<F>, IncompressibleError> {
        let (mut responses, mut means) = (vec![], vec![]);
        for (d, driving) in directions.iter().zip(driving) {
            let (response, mean) = self.response(stepper, *d, driving)?;
            responses.push(response);
            means.push(mean);
        }
        let product = |j: usize, l: usize| dot(directions[j], means[l]);
        let Some(inverse) = inverse(directions.len(), product) else {
            return Err(IncompressibleError::Blocked { directions: directions.to_vec() });
        };
        let mut coefficients = vec![0.0; 18];
        for j in 0..directions.len() {
            for k in 0..3 {
                coefficients[3 * j + k] = (0..directions.len())
                    .map(|l| inverse[j][l] * directions[l][k])
                    .fold(0.0, |a, b| a + b);
                coefficients[9 + 3 * k + j] = directions[j][k];
            }
        }
        Ok((responses, coefficients))
    }

    /// The response to the force `d` with the fluxes `driving`, and its mean velocity.
    fn response(
        &mut self,
        stepper: &mut dyn Stepper<F>,
        d: [f64; 3],
        driving: &Buffer<F>,
    ) -> Result<(Response<F>, [f64; 3]), IncompressibleError> {
        let Flow { backend, faces, pressure, components, numerics, .. } = self;
        let (n, dimension) = (faces.volume.len(), components.len());
        let mut flux = backend.scratch(driving.len());
        let mut steps = vec![1.0; n];
        match &pressure.poisson.local {
            Some(local) => {
                local.scale_faces(backend, &faces.cells, driving, &mut flux);
                steps = widen(backend, &local.relative)?;
            }
            None => blas::copy(backend, driving.len(), driving, &mut flux),
        }
        let mut potential = vec![0.0; n];
        let mut gradient = vec![0.0; 3 * n];
        let add = |sum: &mut Vec<f64>, values: Vec<f64>, sign: f64| {
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += sign * value);
        };
        let own = faces.cells.n_cells();
        let largest = |values: &Buffer<F>, n: usize| -> Result<f64, BackendError> {
            let range = blas::range(backend, n, values)?;
            Ok(range.map_or(0.0, |(low, high)| low.abs().max(high.abs())))
        };
        let scale = largest(&flux, flux.len())?;
        let mut before = f64::INFINITY;
        for _ in 0..PROJECTIONS {
            pressure.project_response(faces, &mut flux)?;
            add(&mut potential, widen(backend, &pressure.increment.value)?, -1.0);
            add(&mut gradient, widen(backend, &pressure.increment.gradient)?, 1.0);
            // Of the fluxes before this projection.
            let divergence = largest(&pressure.increment.divergence, own)?;
            if divergence <= ROUND_OFF * epsilon::<F>() * scale || divergence > 0.5 * before {
                break;
            }
            before = divergence;
        }
        stepper.clean_response(&mut flux);
        let is_collocated = numerics.arrangement == Arrangement::Collocated;
        let volume = of_all_cells(faces, backend, &faces.volume)?;
        let total = volume.iter().fold(0.0, |sum, v| sum + v);
        let mut velocity = vec![];
        let mut mean = [0.0; 3];
        for k in 0..dimension {
            let w = if is_collocated {
                let of_component = gradient[k * n..(k + 1) * n].iter().zip(&steps);
                narrow(backend, of_component.map(|(g, s)| s * d[k] + g).collect())
            } else {
                let mut w = backend.zeros(n);
                if let Some(staggered) = stepper.staggered() {
                    staggered.faces.to_cells(k, &flux, &mut w);
                }
                w
            };
            let values = of_all_cells(faces, backend, &w)?.into_iter().zip(&volume);
            mean[k] = values.fold(0.0, |sum, (w, v)| sum + w * v / total);
            velocity.push(w);
        }
        Ok((Response { flux, velocity, pressure: narrow(backend, potential) }, mean))
    }

    /// Computes the responses of the control, if any.
    fn update_responses(
        &mut self,
        stepper: &mut dyn Stepper<F>,
    ) -> Result<(), IncompressibleError> {
        let Some(mut mean) = self.mean_velocity.take() else { return Ok(()) };
        let (responses, coefficients) = self.responses(stepper, &mean.directions, &mean.driving)?;
        mean.responses = responses;
        mean.coefficients = self.backend.upload(coefficients);
        self.mean_velocity = Some(mean);
        Ok(())
    }

    /// Computes the responses anew after a change of the local steps.
    pub(super) fn update_mean_velocity(
        &mut self,
        stepper: &mut dyn Stepper<F>,
    ) -> Result<(), IncompressibleError> {
        if self.mean_velocity.is_none() {
            return Ok(());
        }
        self.update_responses(stepper)?;
        self.pressure.reset_guess();
        // The projections of the responses have used the scratch of its gradients.
        self.pressure.update_gradients(&self.faces);
        Ok(())
    }
}

impl<F: Real> IncompressibleSolver<F> {
    /// Prescribes the mean velocity Σ V u / Σ V of the flow, which a uniform force keeps at `target` at the end of each step
    /// (`mean_velocity.rs`) from [`IncompressibleSolver::keep_mean_velocity`] on.
    ///
    /// # Errors
    /// [`IncompressibleError::NotPeriodic`] where `target` is no combination of the translations of the periodic patches; a failure
    /// of the backend.
    pub fn prescribe_mean_velocity(
        &mut self,
        (mesh, geometry): (&Mesh, &Geometry),
        target: [f64; 3],
    ) -> Result<(), IncompressibleError> {
        let directions = directions(mesh);
        let along = |d: &[f64; 3]| dot(target, *d);
        let rest =
            directions.iter().fold(target, |rest, d| [0, 1, 2].map(|k| rest[k] - along(d) * d[k]));
        if directions.is_empty() || norm(rest) > PARALLEL * norm(target) {
            return Err(IncompressibleError::NotPeriodic { target, directions });
        }
        let Flow { backend, boundary, faces, .. } = &self.flow;
        let prescribed = backend.read(&boundary.dirichlet_index)?;
        let driving = match faces.are_at_boundary() {
            true => vec![],
            false => driving(backend, (mesh, geometry), &directions, |b| prescribed[b] > 0),
        };
        let inverse_volume = 1.0 / geometry.cell_volume.iter().fold(0.0, |sum, v| sum + v);
        let control = (directions, driving, inverse_volume);
        let mean = MeanVelocity::new(backend, control, &target, mesh.n_cells());
        self.flow.mean_velocity = Some(mean);
        Ok(())
    }

    /// Corrects the velocity to the prescribed mean, if any, and keeps it from now on; it follows
    /// [`IncompressibleSolver::project`]. All of several ranks call it.
    ///
    /// # Errors
    /// [`IncompressibleError::Blocked`] where a wall closes the way along the mean velocity; a failure of the backend.
    pub fn keep_mean_velocity(&mut self) -> Result<(), IncompressibleError> {
        if self.flow.mean_velocity.is_none() {
            return Ok(());
        }
        let IncompressibleSolver { flow, stepper, .. } = self;
        flow.update_responses(&mut **stepper)?;
        self.start_from_mean_velocity()
    }

    /// Corrects the velocity of the start.
    fn start_from_mean_velocity(&mut self) -> Result<(), IncompressibleError> {
        let IncompressibleSolver { flow, stepper, .. } = self;
        let n = flow.n_cells();
        // ψ of the responses is no part of the velocity and no guess of a pressure increment.
        let gradient = &mut flow.pressure.increment.gradient;
        blas::fill(&flow.backend, gradient.len(), F::literal(0.0), gradient);
        flow.pressure.reset_guess();
        for component in &mut flow.components {
            blas::copy(&flow.backend, n, &component.now, &mut component.predicted);
        }
        flow.correct_mean_velocity(None);
        stepper.follow_mean_velocity(flow);
        for component in &mut flow.components {
            blas::copy(&flow.backend, n, &component.predicted, &mut component.now);
            blas::copy(&flow.backend, n, &component.predicted, &mut component.before);
        }
        flow.fetch_velocity();
        flow.update_dependent_boundaries(0.0);
        flow.pressure.prescribe_of_flow(&flow.faces, &flow.flux);
        self.initialize_levels()
    }

    /// The force that keeps the mean velocity, per unit of mass; with `ab2_cn` that at the midpoint of the last step. None
    /// where the mean velocity is not prescribed.
    ///
    /// # Errors
    /// [`IncompressibleError::Backend`] where the device failed.
    pub fn mean_force(&self) -> Result<Option<[f64; 3]>, IncompressibleError> {
        let Some(mean) = &self.flow.mean_velocity else { return Ok(None) };
        let force = self.flow.backend.read(&mean.force)?;
        Ok(Some([force[0], force[1], force[2]]))
    }

    /// Whether a force keeps the mean velocity.
    pub fn has_mean_force(&self) -> bool {
        self.flow.mean_velocity.is_some()
    }

    /// Sets the force of [`IncompressibleSolver::mean_force`], of a checkpoint or of an earlier mesh.
    pub fn set_mean_force(&mut self, force: [f64; 3]) {
        if let Some(mean) = &mut self.flow.mean_velocity {
            self.flow.backend.write(&mut mean.force, &force);
        }
    }
}

/// Values of the cells, on one of several ranks of those of all, which all call it.
fn of_all_cells<F: Real>(
    faces: &Faces<F>,
    backend: &Backend,
    values: &Buffer<F>,
) -> Result<Vec<f64>, IncompressibleError> {
    let mut own = widen(backend, values)?;
    own.truncate(faces.cells.n_cells());
    Ok(match faces.cells.halo() {
        None => own,
        Some(halo) => gather_lists(&**halo.group(), &own)?.0,
    })
}

/// d·S of each direction, 0 at boundary faces that are closed: `[n_faces]` each.
pub(super) fn driving<F: Real>(
    backend: &Backend,
    (mesh, geometry): (&Mesh, &Geometry),
    directions: &[[f64; 3]],
    is_closed: impl Fn(usize) -> bool,
) -> Vec<Buffer<F>> {
    let inner = mesh.n_interior_faces();
    let of_direction = |d: &[f64; 3]| {
        let of_face = |face: usize| match face >= inner && is_closed(face - inner) {
            true => 0.0,
            false => dot(geometry.area_vector_of(face), *d),
        };
        narrow(backend, (0..mesh.n_faces()).map(of_face).collect())
    };
    directions.iter().map(of_direction).collect()
}

/// An orthonormal basis of the translations of the periodic pairs; the axes where they span it.
fn directions(mesh: &Mesh) -> Vec<[f64; 3]> {
    let mut basis: Vec<[f64; 3]> = vec![];
    for pair in mesh.periodic_pairs.iter() {
        let t = pair.translation;
        let rest = basis.iter().fold(t, |rest, d| {
            let along = dot(rest, *d);
            [0, 1, 2].map(|k| rest[k] - along * d[k])
        });
        let size = norm(rest);
        if size > PARALLEL * norm(t) {
            basis.push(rest.map(|x| x / size));
        }
    }
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let is_inside = |axis: &[f64; 3]| {
        let square = basis.iter().fold(0.0, |sum, d| sum + dot(*axis, *d) * dot(*axis, *d));
        square > 1.0 - PARALLEL
    };
    let inside: Vec<[f64; 3]> = axes.into_iter().filter(is_inside).collect();
    if inside.len() == basis.len() { inside } else { basis }
}

/// The inverse of a matrix of up to three rows; none where it is singular against the identity.
fn inverse(n: usize, entry: impl Fn(usize, usize) -> f64) -> Option<[[f64; 3]; 3]> {
    let mut rows = [[0.0; 6]; 3];
    for j in 0..n {
        (0..n).for_each(|l| rows[j][l] = entry(j, l));
        rows[j][3 + j] = 1.0;
    }
    // A projection is symmetric and positive: no pivoting.
    for j in 0..n {
        let pivot = rows[j][j];
        if pivot.is_nan() || pivot < BLOCKED {
            return None;
        }
        rows[j] = rows[j].map(|x| x / pivot);
        for l in (0..n).filter(|l| *l != j) {
            let factor = rows[l][j];
            let own = rows[j];
            rows[l].iter_mut().zip(own).for_each(|(x, y)| *x -= factor * y);
        }
    }
    Some(rows.map(|row| [row[3], row[4], row[5]]))
}
