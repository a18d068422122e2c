//! Every operation of an expression, and random programs, on every backend.

use super::*;
use crate::backend::Recording;
use crate::backend::testing::{SIZES, everywhere, values};
use crate::expression::{Instruction, Variables};
use std::collections::BTreeSet;

const T: f64 = 0.7;

fn parse(text: &str) -> Expression {
    match Expression::parse(text, Variables::CARTESIAN) {
        Ok(expression) => expression,
        Err(error) => panic!("{text}: {error}"),
    }
}

/// Points in [−3, 3)³, every seventh coordinate 0.
fn points(n: usize) -> Vec<f64> {
    values(3 * n, 5).into_iter().map(|v| 3.0 * v).collect()
}

fn on_backend<F: Real>(backend: &Backend, expression: &Expression, points: &[f64]) -> Vec<f64> {
    let n = points.len() / 3;
    backend.install(|| {
        let program = DeviceExpression::<F>::new(backend, expression);
        let points = backend.upload(points.iter().map(|v| F::from_f64(*v)).collect());
        let time = backend.upload(vec![T]);
        let mut out = backend.zeros::<F>(n);
        program.evaluate(backend, n, &points, &time, &mut out);
        backend.read(&out).unwrap().into_iter().map(Into::into).collect()
    })
}

fn close(got: f64, want: f64, relative: f64) -> bool {
    got == want || (got - want).abs() <= relative * want.abs()
}

/// Formulas that together use every instruction, with arguments of moderate size.
const FORMULAS: [&str; 31] = [
    "x",
    "4.5",
    "t",
    "x + y",
    "x - y",
    "x * y",
    "x / (y*y + 1)",
    "abs(x)^y",
    "x^3",
    "(x*x + 1)^-5",
    "-x",
    "x < 0.5",
    "x <= 0",
    "x > 0.5",
    "x >= 0",
    "x == 0",
    "x != 0",
    "x and y",
    "x or y",
    "not x",
    "if(x, y, z)",
    "sin(x)",
    "cos(x)",
    "tan(x)",
    "exp(x*y)",
    "log(abs(x) + t)",
    "sqrt(abs(x))",
    "floor(4*x)",
    "tanh(x)",
    "min(x, y, z)",
    "max(x, y, z)",
];

#[test]
fn every_instruction_on_every_backend() {
    let mut seen = BTreeSet::new();
    for text in FORMULAS {
        let expression = parse(text);
        seen.extend(expression.code().iter().map(|step| step.opcode as u32));
    }
    assert_eq!(seen, (0..=Opcode::Maximum as u32).collect());
    let n = 1000;
    let points = points(n);
    for backend in everywhere() {
        for text in FORMULAS {
            let expression = parse(text);
            let double = on_backend::<f64>(&backend, &expression, &points);
            let single = on_backend::<f32>(&backend, &expression, &points);
            for i in 0..n {
                let point = [points[i], points[n + i], points[2 * n + i]];
                let want = expression.evaluate(&point, T);
                assert!(close(double[i], want, 1e-14), "{backend:?} {text} {} {want}", double[i]);
                let smooth = !text.starts_with("floor");
                let is_close = (single[i] - want).abs() <= 1e-4 * (1.0 + want * want);
                assert!(
                    is_close || !smooth || want.is_infinite(),
                    "{backend:?} {text} at {point:?}: {} {want}",
                    single[i]
                );
            }
        }
    }
}

#[test]
fn sizes_and_a_deep_stack() {
    let deep = format!("{}y*z{}", "x+t*(".repeat(15), ")".repeat(15));
    let expression = parse(&deep);
    assert_eq!(expression.stack_depth, MAXIMUM_STACK);
    for backend in everywhere() {
        for n in SIZES {
            let points = points(n);
            let mut want = vec![0.0; n];
            expression.evaluate_many(&points, T, &mut want);
            for (got, want) in on_backend::<f64>(&backend, &expression, &points).iter().zip(want) {
                assert!(
                    (got - want).abs() <= 1e-14 * (1.0 + want.abs()),
                    "{backend:?} {got} {want}"
                );
            }
        }
    }
}

#[test]
fn results_that_are_not_a_number() {
    let texts =
        ["log(x)", "sqrt(x) == sqrt(x)", "sqrt(x) != sqrt(x)", "sqrt(x) < 1", "not sqrt(x)"];
    let more =
        ["sqrt(x) and 1", "if(sqrt(x), 2, 3)", "min(sqrt(x), y)", "max(z, sqrt(x))", "x^0.5"];
    for backend in everywhere() {
        for text in texts.iter().chain(&more) {
            let expression = parse(text);
            let want = expression.evaluate(&[-2.0, 3.0, 4.0], T);
            let got = on_backend::<f64>(&backend, &expression, &[-2.0, 3.0, 4.0])[0];
            assert!(
                got == want || (got.is_nan() && want.is_nan()),
                "{backend:?} {text} {got} {want}"
            );
        }
    }
}

#[test]
fn a_recorded_launch_reads_the_new_time_and_leaves_ghosts_unchanged() {
    struct State {
        program: DeviceExpression<f64>,
        points: Buffer<f64>,
        time: Buffer<f64>,
        out: Buffer<f64>,
    }
    for backend in everywhere() {
        let mut state = State {
            program: DeviceExpression::new(&backend, &parse("z + 10*t")),
            points: backend.upload(points(40)),
            time: backend.zeros(1),
            out: backend.upload(vec![-1.0; 40]),
        };
        let z = backend.read(&state.points).unwrap()[80..].to_vec();
        let work = |backend: &Backend, s: &mut State| {
            s.program.evaluate(backend, 30, &s.points, &s.time, &mut s.out);
        };
        let mut recording = Recording::new(&backend, &mut state, work, |_, _| {}).unwrap();
        for t in [1.0, 2.5] {
            backend.write(&mut state.time, &[t]);
            recording.replay(&mut state).unwrap();
            let out = backend.read(&state.out).unwrap();
            for (i, got) in out.iter().enumerate() {
                let want = if i < 30 { z[i] + 10.0 * t } else { -1.0 };
                assert!((got - want).abs() <= 1e-14 * want.abs(), "{backend:?} {i} {got} {want}");
            }
        }
    }
}

/// Reproducible pseudo-random choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn formula(&mut self, depth: usize) -> String {
        const LEAVES: [&str; 8] = ["x", "y", "z", "t", "pi", "0.3", "2", "1.7"];
        const UNARY: [&str; 11] =
            ["-", "not ", "sin", "cos", "tan", "exp", "log", "sqrt", "abs", "floor", "tanh"];
        const BINARY: [&str; 15] =
            ["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or", "min", "max"];
        let kind = if depth == 0 { 0 } else { self.below(8) };
        match kind {
            0 => LEAVES[self.below(LEAVES.len())].to_owned(),
            1..=3 => {
                let name = UNARY[self.below(UNARY.len())];
                format!("({name}({}))", self.formula(depth - 1))
            }
            4..=6 => {
                let name = BINARY[self.below(BINARY.len())];
                let (a, b) = (self.formula(depth - 1), self.formula(depth - 1));
                match name {
                    "min" | "max" => format!("{name}({a}, {b})"),
                    _ => format!("({a} {name} {b})"),
                }
            }
            _ => {
                let (a, b) = (self.formula(depth - 1), self.formula(depth - 1));
                format!("if({}, {a}, {b})", self.formula(depth - 1))
            }
        }
    }
}

/// A value and its rounding error bound to first order: infinite where the error may cross a discontinuity,
/// or a device may flush or overflow an intermediate result.
#[derive(Clone, Copy)]
struct Bounded {
    value: f64,
    error: f64,
}

impl Bounded {
    fn discontinuity_at(self, place: f64) -> f64 {
        let close = self.error > 0.0 && (self.value - place).abs() <= self.error;
        if close || self.error.is_nan() { f64::INFINITY } else { 0.0 }
    }
}

/// Propagates error bounds through a program, with 2.5 ulp for each operation.
fn bounded(expression: &Expression, point: &[f64], t: f64) -> Bounded {
    let mut stack: Vec<Bounded> = vec![];
    for &Instruction { opcode, operand } in expression.code() {
        let exact = |value| Bounded { value, error: 0.0 };
        let next = match opcode {
            Opcode::Constant => exact(expression.constants()[operand as usize]),
            Opcode::Coordinate => exact(point[operand as usize]),
            Opcode::Time => exact(t),
            Opcode::Select => {
                let (b, a, condition) =
                    (stack.pop().unwrap(), stack.pop().unwrap(), stack.pop().unwrap());
                let taken = if condition.value != 0.0 { a } else { b };
                Bounded { value: taken.value, error: taken.error + condition.discontinuity_at(0.0) }
            }
            _ => {
                let last = stack.pop().unwrap();
                match unary_bound(opcode, operand, last) {
                    Some(result) => result,
                    None => binary_bound(opcode, stack.pop().unwrap(), last),
                }
            }
        };
        let tiny = next.value != 0.0 && next.value.abs() < 1e-290;
        let is_out_of_range = tiny || next.value.abs() > 1e290;
        stack.push(if is_out_of_range { Bounded { error: f64::INFINITY, ..next } } else { next });
    }
    stack[0]
}

fn unary_bound(opcode: Opcode, operand: u32, a: Bounded) -> Option<Bounded> {
    let Bounded { value: v, error: e } = a;
    let far = if v.abs() + e > 1e5 { f64::INFINITY } else { 0.0 };
    let (value, derivative) = match opcode {
        Opcode::IntegerPower => {
            let n = operand as i32;
            let value = v.powi(n);
            let error = (value / v * f64::from(n)).abs() * (e + v.abs() * f64::EPSILON);
            return Some(Bounded { value, error });
        }
        Opcode::Negate => return Some(Bounded { value: -v, error: e }),
        Opcode::AbsoluteValue => return Some(Bounded { value: v.abs(), error: e }),
        Opcode::Not => {
            let value = f64::from(u8::from(v == 0.0));
            return Some(Bounded { value, error: a.discontinuity_at(0.0) });
        }
        Opcode::Floor => {
            let error = a.discontinuity_at(v.floor()) + a.discontinuity_at(v.ceil());
            return Some(Bounded { value: v.floor(), error });
        }
        Opcode::Sine => (v.sin(), 1.0 + far),
        Opcode::Cosine => (v.cos(), 1.0 + far),
        Opcode::Tangent => (v.tan(), 1.0 + v.tan().powi(2) + far),
        Opcode::Exponential => (v.exp(), v.exp()),
        Opcode::Logarithm => (v.ln(), 1.0 / v),
        Opcode::SquareRoot => (v.sqrt(), 0.5 / v.sqrt()),
        Opcode::HyperbolicTangent => (v.tanh(), 1.0),
        _ => return None,
    };
    let propagated = if e == 0.0 && far == 0.0 { 0.0 } else { e * derivative };
    let value_error = if far > 0.0 { far } else { propagated };
    Some(Bounded { value, error: value_error + 2.5 * value.abs() * f64::EPSILON })
}

fn binary_bound(opcode: Opcode, a: Bounded, b: Bounded) -> Bounded {
    let difference = Bounded { value: a.value - b.value, error: a.error + b.error };
    let (u, v) = (a.value, b.value);
    let truth = |holds: bool| f64::from(u8::from(holds));
    let decided = |value, error| Bounded { value, error };
    let compared = difference.discontinuity_at(0.0);
    let (value, error) = match opcode {
        Opcode::Less => return decided(truth(u < v), compared),
        Opcode::LessEqual => return decided(truth(u <= v), compared),
        Opcode::Greater => return decided(truth(u > v), compared),
        Opcode::GreaterEqual => return decided(truth(u >= v), compared),
        Opcode::Equal => return decided(truth(u == v), compared),
        Opcode::NotEqual => return decided(truth(u != v), compared),
        Opcode::And => {
            let value = truth(u != 0.0 && v != 0.0);
            return decided(value, a.discontinuity_at(0.0) + b.discontinuity_at(0.0));
        }
        Opcode::Or => {
            let value = truth(u != 0.0 || v != 0.0);
            return decided(value, a.discontinuity_at(0.0) + b.discontinuity_at(0.0));
        }
        Opcode::Minimum => return decided(u.min(v), a.error.max(b.error)),
        Opcode::Maximum => return decided(u.max(v), a.error.max(b.error)),
        Opcode::Add => (u + v, a.error + b.error),
        Opcode::Subtract => (u - v, a.error + b.error),
        Opcode::Multiply => (u * v, u.abs() * b.error + v.abs() * a.error),
        Opcode::Divide => (u / v, (a.error + (u / v).abs() * b.error) / v.abs()),
        _ => {
            let value = u.powf(v);
            // With a negative base the power is discontinuous in the exponent.
            let discontinuity = if u <= 0.0 {
                b.discontinuity_at(v.round()) + a.discontinuity_at(0.0)
            } else {
                0.0
            };
            let of_base = if a.error == 0.0 { 0.0 } else { (v / u).abs() * a.error };
            let of_exponent = if b.error == 0.0 { 0.0 } else { u.abs().ln().abs() * b.error };
            (value, value.abs() * (of_base + of_exponent) + discontinuity)
        }
    };
    Bounded { value, error: error + 2.5 * value.abs() * f64::EPSILON }
}

#[test]
fn random_formulas_on_every_backend() {
    let n = 129;
    let points = points(n);
    let mut choices = Choices(2);
    let formulas: Vec<String> = (0..300).map(|_| choices.formula(5)).collect();
    for backend in everywhere() {
        let (mut compared, mut all) = (0, 0);
        for text in &formulas {
            let expression = parse(text);
            let got = on_backend::<f64>(&backend, &expression, &points);
            for (i, got) in got.iter().enumerate() {
                let point = [points[i], points[n + i], points[2 * n + i]];
                let want = expression.evaluate(&point, T);
                all += 1;
                // Values whose rounding error may exceed 10⁻¹³ are not compared.
                if bounded(&expression, &point, T).error <= 1e-13 * want.abs() {
                    compared += 1;
                    assert!(
                        close(*got, want, 1e-12),
                        "{backend:?} {text} at {point:?}: {got} {want}"
                    );
                }
            }
        }
        assert!(2 * compared > all, "{backend:?}: {compared} of {all}");
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let expression = parse("if(x < 0.5, sin(3*x)*y, sqrt(abs(z))^3) + t^2*abs(x)^0.7");
    let points = points(10_001);
    let bits = |threads| {
        let host = Backend::host(threads).unwrap();
        let values = on_backend::<f64>(&host, &expression, &points);
        values.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    let one = bits(1);
    assert_eq!(one, bits(2));
    assert_eq!(one, bits(7));
}
