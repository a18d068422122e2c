//! Running the bytecode: every instruction over a chunk of points at a time.

use super::{Expression, Instruction, MAXIMUM_STACK, Opcode};
use rayon::prelude::*;

/// Points an instruction is applied to at once; the values of one stack entry fill 8 cache lines.
const LANES: usize = 64;
/// Points one task evaluates.
const CHUNK: usize = 4096;

impl Expression {
    /// Value at one point; components that `point` lacks are 0.
    pub fn evaluate(&self, point: &[f64], t: f64) -> f64 {
        let mut stack = [[0.0; 1]; MAXIMUM_STACK];
        let load = |component: usize, lane: &mut [f64; 1]| {
            lane[0] = point.get(component).copied().unwrap_or(0.0);
        };
        self.run(&mut stack, load, t);
        stack[0][0]
    }

    /// Values at many points at time `t`.
    ///
    /// `points: [component][n]` with the components of [`Expression::variables`], component-major,
    /// `out: [n]`. Components that `points` lacks are 0. The bits do not depend on the number of
    /// threads: each value depends on its own point alone.
    pub fn evaluate_many(&self, points: &[f64], t: f64, out: &mut [f64]) {
        if let Some(value) = self.is_constant() {
            return out.fill(value);
        }
        let n = out.len();
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, values)| {
            let mut stack = vec![[0.0; LANES]; self.stack_depth];
            for (part, lane) in values.chunks_mut(LANES).enumerate() {
                let first = chunk * CHUNK + part * LANES;
                let count = lane.len();
                let load = |component: usize, lane: &mut [f64; LANES]| {
                    let start = component * n + first;
                    match points.get(start..start + count) {
                        Some(coordinates) => lane[..count].copy_from_slice(coordinates),
                        None => lane.fill(0.0),
                    }
                };
                self.run(&mut stack, load, t);
                lane.copy_from_slice(&stack[0][..count]);
            }
        });
    }

    /// Leaves the values of all lanes in `stack[0]`.
    fn run<const N: usize>(
        &self,
        stack: &mut [[f64; N]],
        load: impl Fn(usize, &mut [f64; N]),
        t: f64,
    ) {
        let mut height = 0;
        for &instruction in &self.code {
            match instruction.opcode {
                Opcode::Constant => {
                    stack[height] = [self.constants[instruction.operand as usize]; N];
                    height += 1;
                }
                Opcode::Coordinate => {
                    load(instruction.operand as usize, &mut stack[height]);
                    height += 1;
                }
                Opcode::Time => {
                    stack[height] = [t; N];
                    height += 1;
                }
                _ => height = operate(instruction, stack, height),
            }
        }
    }
}

/// Applies an operation to the top of a stack of `height` values and returns the new height. Loads leave the
/// stack unchanged.
pub(super) fn operate<const N: usize>(
    instruction: Instruction,
    stack: &mut [[f64; N]],
    height: usize,
) -> usize {
    match instruction.opcode {
        Opcode::Constant | Opcode::Coordinate | Opcode::Time => height,
        Opcode::Negate => unary(stack, height, |a| -a),
        Opcode::Not => unary(stack, height, |a| truth(a == 0.0)),
        Opcode::IntegerPower => {
            let exponent = instruction.operand as i32;
            unary(stack, height, |a| integer_power(a, exponent))
        }
        Opcode::Sine => unary(stack, height, f64::sin),
        Opcode::Cosine => unary(stack, height, f64::cos),
        Opcode::Tangent => unary(stack, height, f64::tan),
        Opcode::Exponential => unary(stack, height, f64::exp),
        Opcode::Logarithm => unary(stack, height, f64::ln),
        Opcode::SquareRoot => unary(stack, height, f64::sqrt),
        Opcode::AbsoluteValue => unary(stack, height, f64::abs),
        Opcode::Floor => unary(stack, height, f64::floor),
        Opcode::HyperbolicTangent => unary(stack, height, f64::tanh),
        Opcode::Add => binary(stack, height, |a, b| a + b),
        Opcode::Subtract => binary(stack, height, |a, b| a - b),
        Opcode::Multiply => binary(stack, height, |a, b| a * b),
        Opcode::Divide => binary(stack, height, |a, b| a / b),
        Opcode::Power => binary(stack, height, f64::powf),
        Opcode::Less => binary(stack, height, |a, b| truth(a < b)),
        Opcode::LessEqual => binary(stack, height, |a, b| truth(a <= b)),
        Opcode::Greater => binary(stack, height, |a, b| truth(a > b)),
        Opcode::GreaterEqual => binary(stack, height, |a, b| truth(a >= b)),
        Opcode::Equal => binary(stack, height, |a, b| truth(a == b)),
        Opcode::NotEqual => binary(stack, height, |a, b| truth(a != b)),
        Opcode::And => binary(stack, height, |a, b| truth(a != 0.0 && b != 0.0)),
        Opcode::Or => binary(stack, height, |a, b| truth(a != 0.0 || b != 0.0)),
        Opcode::Minimum => binary(stack, height, f64::min),
        Opcode::Maximum => binary(stack, height, f64::max),
        Opcode::Select => select(stack, height),
    }
}

fn unary<const N: usize>(
    stack: &mut [[f64; N]],
    height: usize,
    apply: impl Fn(f64) -> f64,
) -> usize {
    for value in &mut stack[height - 1] {
        *value = apply(*value);
    }
    height
}

fn binary<const N: usize>(
    stack: &mut [[f64; N]],
    height: usize,
    apply: impl Fn(f64, f64) -> f64,
) -> usize {
    let (lower, upper) = stack.split_at_mut(height - 1);
    for (a, b) in lower[height - 2].iter_mut().zip(&upper[0]) {
        *a = apply(*a, *b);
    }
    height - 1
}

fn select<const N: usize>(stack: &mut [[f64; N]], height: usize) -> usize {
    let (lower, upper) = stack.split_at_mut(height - 2);
    for (lane, condition) in lower[height - 3].iter_mut().enumerate() {
        *condition = if *condition != 0.0 { upper[0][lane] } else { upper[1][lane] };
    }
    height - 2
}

fn truth(value: bool) -> f64 {
    if value { 1.0 } else { 0.0 }
}

/// `base` to an integer power by repeated squaring: identical operations on every machine.
fn integer_power(base: f64, exponent: i32) -> f64 {
    let mut remaining = exponent.unsigned_abs();
    let mut square = base;
    let mut power = 1.0;
    while remaining > 0 {
        if remaining & 1 == 1 {
            power *= square;
        }
        square *= square;
        remaining >>= 1;
    }
    if exponent < 0 { 1.0 / power } else { power }
}
