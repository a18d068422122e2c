//! Evaluation of the bytecode on a backend.
//!
//! [`Expression::evaluate_many`] is for set-up and boundary tables on the host: it applies one
//! instruction to 64 points at a time and calls the standard library. [`DeviceExpression`] is for
//! time-dependent fields on a backend: one thread runs the whole program for its point, with the functions
//! of [`crate::backend::functions`], without transfers. The host backend runs this entity function too, so
//! that callers have one form; a caller that knows it is on the host may call `evaluate_many`.
//! Nanoseconds a point on one core, optimised:
//!
//! | formula | instructions | here | `evaluate_many` |
//! |---|---|---|---|
//! | `x + 10*y*t` | 7 | 13 | 1.0 |
//! | `exp(-100*((x-0.5-0.2*t)^2+(y-0.5)^2))` | 16 | 45 | 6.9 |
//! | `1e3*exp(-t)*sin(3*pi*x)*y + x*x*z` | 18 | 49 | 14 |
//! | `if(x < 0.5, sin(3*x)*y, sqrt(z)^3) + t^2*x^0.7` | 20 | 125 | 19 |
//!
//! The two differ by rounding only, a few units in the last place for each function.

#![allow(missing_docs)] // on the modules the kernel attribute generates
#![allow(clippy::manual_range_contains)] // ranges have no device form

use super::{Expression, MAXIMUM_STACK, Opcode};
use crate::backend::functions::{
    exponential, floor, hyperbolic_tangent, integer_power, logarithm, power, sine_and_cosine,
};
use crate::backend::{Backend, Buffer, Local, View};
use crate::real::Real;
use karman_backend::prelude::*;

macro_rules! codes {
    ($($name:ident = $opcode:ident),* $(,)?) => {
        $(const $name: u32 = Opcode::$opcode as u32;)*
    };
}
codes!(
    CONSTANT = Constant,
    COORDINATE = Coordinate,
    TIME = Time,
    ADD = Add,
    SUBTRACT = Subtract,
    MULTIPLY = Multiply,
    DIVIDE = Divide,
    POWER = Power,
    INTEGER_POWER = IntegerPower,
    NEGATE = Negate,
    LESS = Less,
    LESS_EQUAL = LessEqual,
    GREATER = Greater,
    GREATER_EQUAL = GreaterEqual,
    EQUAL = Equal,
    NOT_EQUAL = NotEqual,
    AND = And,
    OR = Or,
    NOT = Not,
    SELECT = Select,
    SINE = Sine,
    COSINE = Cosine,
    TANGENT = Tangent,
    EXPONENTIAL = Exponential,
    LOGARITHM = Logarithm,
    SQUARE_ROOT = SquareRoot,
    ABSOLUTE_VALUE = AbsoluteValue,
    FLOOR = Floor,
    HYPERBOLIC_TANGENT = HyperbolicTangent,
    MINIMUM = Minimum,
    // `Maximum` is the remaining code.
);

/// An [`Expression`] with its program and constants on a backend.
#[derive(Debug)]
pub struct DeviceExpression<F: Real> {
    code: Buffer<u32>,
    constants: Buffer<F>,
    instructions: usize,
    components: usize,
    uses_point: bool,
}

impl<F: Real> DeviceExpression<F> {
    /// Uploads the program; its constants are rounded to `F`.
    pub fn new(backend: &Backend, expression: &Expression) -> Self {
        let components = expression.variables().point.len();
        let constants = expression.constants().iter().map(|value| F::from_f64(*value)).collect();
        Self {
            code: backend.upload(expression.words()),
            constants: backend.upload(constants),
            instructions: expression.code().len(),
            components,
            uses_point: (0..components).any(|c| expression.depends_on_component(c)),
        }
    }

    /// Values at the first `n` of the points, computed in `F`.
    ///
    /// `points: [component][stride]` with every component of [`Expression::variables`], stride ≥ n
    /// (not read where the expression uses none); `time: [1]`, in a buffer so that a recorded
    /// launch sees each new time; `out: [≥ n]`. Panics where a buffer is shorter than that.
    pub fn evaluate(
        &self,
        backend: &Backend,
        n: usize,
        points: &Buffer<F>,
        time: &Buffer<f64>,
        out: &mut Buffer<F>,
    ) {
        let stride = points.len() / self.components.max(1);
        assert!(!self.uses_point || stride >= n, "{n} values of {stride} points");
        assert!(out.len() >= n && !time.is_empty(), "{n} values in a buffer of {}", out.len());
        let Self { code, constants, instructions, .. } = self;
        run_program(backend, n, *instructions, stride, code, constants, points, time, out);
    }
}

/// The value of a program at point `i`.
///
/// Traffic s for the value and s for each coordinate in the program, for scalars of `s` bytes;
/// code, constants and time are shared by all points and stay in cache. Work: about 5
/// operations an instruction besides its own.
#[kernel(out(out))]
pub(crate) fn run_program<F: Real>(
    i: usize,
    instructions: usize,
    stride: usize,
    code: &View<u32>,
    constants: &View<F>,
    points: &View<F>,
    time: &View<f64>,
) -> F {
    // The top of the stack is a separate variable; the first push stores a value below it that is never read.
    let mut stack = Local::<F, MAXIMUM_STACK>::uninitialised();
    let mut top = F::literal(0.0);
    let mut below = 0usize;
    for k in 0..instructions {
        let opcode = code[2 * k];
        let operand = code[2 * k + 1];
        if opcode <= TIME {
            stack[below] = top;
            below += 1;
            if opcode == CONSTANT {
                top = constants[operand as usize];
            } else if opcode == COORDINATE {
                top = points[operand as usize * stride + i];
            } else {
                top = F::from_f64(time[0]);
            }
        } else if opcode == SELECT {
            below -= 2;
            let fails = stack[below] == F::literal(0.0);
            if !fails {
                top = stack[below + 1];
            }
        } else if opcode == INTEGER_POWER || opcode == NEGATE || opcode == NOT {
            top = simple_unary::<F>(opcode, operand, top);
        } else if opcode >= SINE && opcode <= HYPERBOLIC_TANGENT {
            top = function::<F>(opcode, top);
        } else {
            below -= 1;
            top = binary::<F>(opcode, stack[below], top);
        }
    }
    top
}

#[device]
fn simple_unary<F: Real>(opcode: u32, operand: u32, a: F) -> F {
    if opcode == INTEGER_POWER {
        integer_power::<F>(a, operand as i32)
    } else if opcode == NEGATE {
        -a
    } else {
        truth::<F>(a == F::literal(0.0))
    }
}

#[device]
fn function<F: Real>(opcode: u32, a: F) -> F {
    if opcode <= TANGENT {
        let (sine, cosine) = sine_and_cosine::<F>(a);
        if opcode == SINE {
            sine
        } else if opcode == COSINE {
            cosine
        } else {
            sine / cosine
        }
    } else if opcode == EXPONENTIAL {
        exponential::<F>(a)
    } else if opcode == LOGARITHM {
        logarithm::<F>(a)
    } else if opcode == SQUARE_ROOT {
        a.sqrt()
    } else if opcode == ABSOLUTE_VALUE {
        a.abs()
    } else if opcode == FLOOR {
        floor::<F>(a)
    } else {
        hyperbolic_tangent::<F>(a)
    }
}

/// Comparisons are written so that a NaN is unequal to everything on a device too, where `≠` may be false
/// for it.
#[device]
fn binary<F: Real>(opcode: u32, a: F, b: F) -> F {
    let zero = F::literal(0.0);
    if opcode == ADD {
        a + b
    } else if opcode == SUBTRACT {
        a - b
    } else if opcode == MULTIPLY {
        a * b
    } else if opcode == DIVIDE {
        a / b
    } else if opcode == POWER {
        power::<F>(a, b)
    } else if opcode == LESS {
        truth::<F>(a < b)
    } else if opcode == LESS_EQUAL {
        truth::<F>(a <= b)
    } else if opcode == GREATER {
        truth::<F>(a > b)
    } else if opcode == GREATER_EQUAL {
        truth::<F>(a >= b)
    } else if opcode == EQUAL {
        truth::<F>(a == b)
    } else if opcode == NOT_EQUAL {
        F::literal(1.0) - truth::<F>(a == b)
    } else if opcode == AND {
        (F::literal(1.0) - truth::<F>(a == zero)) * (F::literal(1.0) - truth::<F>(b == zero))
    } else if opcode == OR {
        F::literal(1.0) - truth::<F>(a == zero) * truth::<F>(b == zero)
    } else {
        extreme::<F>(opcode, a, b)
    }
}

/// The minimum or maximum; where one operand is a NaN, the other.
#[device]
fn extreme<F: Real>(opcode: u32, a: F, b: F) -> F {
    let mut better = a > b;
    if opcode == MINIMUM {
        better = a < b;
    }
    let number = b.abs() >= F::literal(0.0);
    if better || !number { a } else { b }
}

#[device]
fn truth<F: Real>(holds: bool) -> F {
    if holds { F::literal(1.0) } else { F::literal(0.0) }
}

#[cfg(test)]
mod tests;
