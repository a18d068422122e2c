//! The temperature on the whole mesh, which several ranks compute, with the data of its functionals.

use super::dirichlet::DirichletNodes;
use super::system::HeatBoundary;
use super::{Heat, HeatError, HeatScheme};
use crate::backend::{Backend, Buffer};
use crate::finite_volume::{Condition, Functionals, Material, TimeDependentData};
use crate::mesh::{Geometry, Mesh};
use crate::real::Real;

/// The temperature on the whole mesh without its equations, which ranks have by parts.
pub struct WholeHeat<F: Real> {
    backend: Backend,
    scheme: HeatScheme,
    prescribed: TimeDependentData<F>,
    dirichlet_nodes: DirichletNodes<F>,
    temperature: Buffer<F>,
    /// Prescribed values and sources are those of this time.
    time: f64,
}

impl<F: Real> WholeHeat<F> {
    /// Of a cell-centred problem at time 0, with the temperature of each cell.
    ///
    /// # Errors
    /// As [`HeatScheme::of_cells`].
    pub fn of_cells(
        backend: &Backend,
        place: (&Mesh, &Geometry),
        (material, conditions, corrected): (&Material, &[Condition], bool),
        temperature: Vec<F>,
    ) -> Result<Self, HeatError> {
        let (scheme, prescribed) =
            HeatScheme::of_cells(backend, place, material, conditions, corrected)?;
        Ok(WholeHeat {
            backend: backend.clone(),
            scheme,
            prescribed,
            dirichlet_nodes: DirichletNodes::new(backend, vec![], vec![], vec![]),
            temperature: backend.upload(temperature),
            time: 0.0,
        })
    }

    /// Of a problem whose rows are with the ranks.
    pub fn of(heat: Heat<F>) -> Self {
        let Heat { backend, temperature, boundary, scheme, times: [time, _], .. } = heat;
        let HeatBoundary { prescribed, dirichlet_nodes, .. } = boundary;
        WholeHeat { backend, scheme, prescribed, dirichlet_nodes, temperature, time }
    }

    /// The data for functionals of the temperature.
    pub fn scheme(&self) -> &HeatScheme {
        &self.scheme
    }

    /// The temperature of each unknown.
    pub fn temperature(&self) -> &Buffer<F> {
        &self.temperature
    }

    /// Takes over the temperature from all ranks.
    pub fn set_temperature(&mut self, values: &[F]) {
        self.backend.write(&mut self.temperature, values);
    }

    /// Whether unknowns are prescribed.
    pub fn has_dirichlet_nodes(&self) -> bool {
        !self.dirichlet_nodes.load().is_empty()
    }

    /// Takes over dT/dt at the Dirichlet nodes from all ranks.
    pub fn set_dirichlet_rate(&mut self, rate: &[F]) {
        self.dirichlet_nodes.take_rate(&self.backend, rate);
    }

    /// Sets prescribed values and sources to time `t`.
    ///
    /// # Errors
    /// [`HeatError::Diffusion`] where a value is not a number.
    pub fn set_time(&mut self, t: f64) -> Result<(), HeatError> {
        self.time = t;
        Ok(self.prescribed.set_mean(&self.backend, [t; 2])?)
    }

    /// As [`Heat::evaluate`].
    ///
    /// # Errors
    /// As there.
    pub fn evaluate<'a>(
        &mut self,
        functionals: &'a mut Functionals<F>,
    ) -> Result<&'a Buffer<F>, HeatError> {
        if functionals.need_load() {
            self.dirichlet_nodes.update_load(&self.backend, [self.time; 2])?;
        }
        let (prescribed, load) = (self.prescribed.value(), self.dirichlet_nodes.load());
        Ok(functionals.evaluate(&self.backend, &self.temperature, prescribed, load))
    }

    /// As [`WholeHeat::evaluate`] of functionals that need no load, from the temperatures of the unknowns that they involve.
    pub fn evaluate_involved<'a>(
        &self,
        functionals: &'a mut Functionals<F>,
        temperatures: &[F],
    ) -> &'a Buffer<F> {
        let temperatures = self.backend.upload_slice(temperatures);
        let (prescribed, load) = (self.prescribed.value(), self.dirichlet_nodes.load());
        functionals.evaluate_involved(&self.backend, &temperatures, prescribed, load)
    }
}
