//! Values of a case as prescribed values of the equations.

use crate::backend::{Backend, Buffer};
use crate::case::Value;
use crate::expression::DeviceExpression;
use crate::finite_volume::{Evaluation, Evaluator, Prescribed};
use std::sync::Arc;

/// A value of a case for an equation.
pub(super) fn shared(value: &Value) -> Arc<dyn Prescribed> {
    Arc::new(value.clone())
}

impl Prescribed for Value {
    fn sample(&self, points: &[f64], t: f64, out: &mut [f64]) {
        self.evaluate_many(points, t, out);
    }
    fn depends_on_time(&self) -> bool {
        Value::depends_on_time(self)
    }
    fn evaluation(&self, backend: &Backend) -> Evaluation {
        match self {
            Value::Expression(formula) if (0..3).any(|c| formula.depends_on_component(c)) => {
                match backend.device() {
                    // On the host, evaluation of each instruction for many points at once is faster.
                    None => Evaluation::OnHost,
                    Some(_) => {
                        let program = DeviceExpression::<f64>::new(backend, formula);
                        Evaluation::OnBackend(Box::new(program))
                    }
                }
            }
            _ => Evaluation::Uniform,
        }
    }
}

impl Evaluator for DeviceExpression<f64> {
    fn evaluate(
        &self,
        backend: &Backend,
        points: &Buffer<f64>,
        time: &Buffer<f64>,
        out: &mut Buffer<f64>,
    ) {
        DeviceExpression::evaluate(self, backend, out.len(), points, time, out);
    }
}
