//! Time-dependent data against their formula, on every backend.

use super::*;
use crate::backend::testing::{everywhere, values};
use crate::expression::{DeviceExpression, Expression, Variables};
use crate::finite_volume::Function;

/// A formula evaluated by kernels on every backend, the host too.
struct Formula(Expression);

impl Formula {
    fn shared(text: &str) -> Arc<dyn Prescribed> {
        Arc::new(Formula(Expression::parse(text, Variables::CARTESIAN).unwrap()))
    }
}

impl Prescribed for Formula {
    fn sample(&self, points: &[f64], t: f64, out: &mut [f64]) {
        self.0.evaluate_many(points, t, out);
    }
    fn depends_on_time(&self) -> bool {
        self.0.depends_on_time()
    }
    fn evaluation(&self, backend: &Backend) -> Evaluation {
        Evaluation::OnBackend(Box::new(DeviceExpression::<f64>::new(backend, &self.0)))
    }
}

/// A function of the time alone.
struct Signal(fn(f64) -> f64);

impl Prescribed for Signal {
    fn sample(&self, _: &[f64], t: f64, out: &mut [f64]) {
        out.fill(self.0(t));
    }
    fn depends_on_time(&self) -> bool {
        true
    }
    fn evaluation(&self, _: &Backend) -> Evaluation {
        Evaluation::Uniform
    }
}

/// Every third entry from `first` on, with factors of its own.
fn term(value: Arc<dyn Prescribed>, n: usize, first: usize) -> Term {
    let entries: Vec<u32> = (first..n).step_by(3).map(|e| e as u32).collect();
    let factors = values(entries.len(), first as u64);
    let points = values(3 * entries.len(), 10 + first as u64);
    Term { value, entries, factors, points }
}

const WAVE: &str = "sin(3*x + t)*y - z*t";

fn terms(n: usize) -> Vec<Term> {
    let moving = Function(|p: [f64; 3], t: f64| p[0] * t + p[2]);
    vec![
        term(Formula::shared(WAVE), n, 0),
        term(Formula::shared("exp(x)"), n, 0),
        term(Arc::new(Signal(|t| 2.0 * t - 1.0)), n, 1),
        term(Arc::new(moving), n, 1),
        term(Arc::new(4.5), n, 2),
    ]
}

fn expected(n: usize, t: f64) -> Vec<f64> {
    let mut sum = vec![0.0; n];
    for term in terms(n) {
        let mut values = vec![0.0; term.entries.len()];
        term.value.sample(&term.points, t, &mut values);
        for ((e, w), p) in term.entries.iter().zip(&term.factors).zip(values) {
            sum[*e as usize] += w * p;
        }
    }
    sum
}

#[test]
fn data_are_the_sum_of_their_terms_at_one_time_or_two() {
    for n in [0, 1, 33, 20_000] {
        for backend in everywhere() {
            backend.install(|| {
                let mut double =
                    TimeDependentData::<f64>::new(&backend, "it", n, terms(n)).unwrap();
                let mut single =
                    TimeDependentData::<f32>::new(&backend, "it", n, terms(n)).unwrap();
                // The midpoint in time and the mean of two times differ; going back gives the same bits.
                let mut first: Vec<f64> = vec![];
                for times in [[0.0; 2], [0.3; 2], [0.0, 0.6], [0.3; 2]] {
                    double.set_mean(&backend, times).unwrap();
                    single.set_mean(&backend, times).unwrap();
                    let (old, new) = (expected(n, times[0]), expected(n, times[1]));
                    let got = backend.read(double.value()).unwrap();
                    let rounded = backend.read(single.value()).unwrap();
                    for e in 0..n {
                        let want = 0.5 * (old[e] + new[e]);
                        assert!((got[e] - want).abs() < 1e-14, "{backend:?} {} {want}", got[e]);
                        assert_eq!(rounded[e], got[e] as f32, "{backend:?}");
                    }
                    if times == [0.3; 2] {
                        assert!(first.is_empty() || first == got, "{backend:?}");
                        first = got;
                    }
                }
            });
        }
    }
}

#[test]
fn a_value_that_is_not_finite_is_an_error_with_its_time() {
    let n = 5000;
    let cases: [(Arc<dyn Prescribed>, f64, &str); 6] = [
        (Formula::shared("1/(t - 0.5)"), 0.5, "it is inf at t = 0.5"),
        (Formula::shared("-(1 + x*x)/(t - 0.5)"), 0.5, "it is -inf at t = 0.5"),
        (Formula::shared("if(x < -0.9, sqrt(1 - t), 1)"), 2.0, "it is NaN at t = 2"),
        (Arc::new(Signal(|t| 1.0 / (t - 0.25))), 0.25, "it is inf at t = 0.25"),
        (Arc::new(Function(|p: [f64; 3], t: f64| p[1] + t.ln())), 0.0, "it is -inf at t = 0"),
        (Arc::new(f64::NAN), 0.0, "it is NaN at t = 0"),
    ];
    for backend in everywhere() {
        for (value, t, message) in &cases {
            let terms = || vec![term(Arc::new(1.0), n, 0), term(value.clone(), n, 1)];
            let at = |times: [f64; 2]| {
                let mut data = TimeDependentData::<f32>::new(&backend, "it", n, terms())?;
                data.set_mean(&backend, times).map(|()| data)
            };
            for times in [[*t; 2], [1.0, *t], [*t, 1.0]] {
                let Err(error) = backend.install(|| at(times)) else {
                    panic!("{backend:?} accepts what should give: {message}")
                };
                assert!(error.to_string().starts_with(message), "{backend:?} {error}: {message}");
            }
        }
    }
}

#[test]
fn a_refused_time_leaves_no_stale_value_behind() {
    let backend = Backend::host(1).unwrap();
    let term = term(Formula::shared("1/(t - 0.5)"), 10, 0);
    let mut data = TimeDependentData::<f64>::new(&backend, "it", 10, vec![term]).unwrap();
    assert!(data.set_mean(&backend, [0.5; 2]).is_err());
    assert!(data.set_mean(&backend, [0.5; 2]).is_err());
    assert!(data.set_mean(&backend, [0.0; 2]).is_ok());
}
