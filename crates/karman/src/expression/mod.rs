//! Formulas of position and time, written where a case expects a number.
//!
//! ```text
//! x y z t pi      + - * / ^      < <= > >= == !=      and or not      if(condition, a, b)
//! sin cos tan exp log sqrt abs floor tanh      min max (two or more arguments)
//! ```
//!
//! From loose to tight: `or`, `and`, `not`, comparisons, `+ -`, `* /`, sign, `^`. So `-x^2` is
//! `-(x^2)`; `^` groups from the right, `2^3^2 = 2^9`; comparisons do not chain. A comparison
//! gives 1 or 0, and any number but 0 counts as true. `log` is the natural logarithm. Both
//! branches of `if` are computed and one is taken, so an undefined value in the other is harmless.
//!
//! Text becomes bytecode for a stack machine in one pass, constants folded on the way. The code
//! is plain data ([`Instruction`] and a table of constants): evaluated here over points in chunks,
//! or uploaded to a device as it stands.

mod compile;
mod device;
mod error;
mod evaluate;
mod nearest;
mod token;

pub use device::DeviceExpression;
pub use error::{ExpressionError, ExpressionErrorKind};
pub use nearest::nearest_name;

/// Most values on the stack of the machine.
pub const MAXIMUM_STACK: usize = 32;
/// Most instructions of one expression.
pub const MAXIMUM_INSTRUCTIONS: usize = 4096;
/// Deepest nesting of parentheses, arguments and signs.
pub const MAXIMUM_NESTING: usize = 100;

/// The names an expression may use besides `pi` and the functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variables {
    /// Names of the components of a point, in the order in which points are stored.
    pub point: &'static [&'static str],
    /// Name of the time, where there is one.
    pub time: Option<&'static str>,
}

impl Variables {
    /// `x y z` and the time `t`.
    pub const CARTESIAN: Self = Self { point: &["x", "y", "z"], time: Some("t") };
}

/// The operation of an instruction. A binary operation has its second operand on top of the stack; truth is 1
/// or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[rustfmt::skip]
pub enum Opcode {
    /// Push entry `operand` of the table of constants.
    Constant = 0,
    /// Push component `operand` of the point.
    Coordinate = 1,
    /// Push the time.
    Time = 2,
    /// a + b
    Add = 3,
    /// a − b
    Subtract = 4,
    /// a b
    Multiply = 5,
    /// a / b
    Divide = 6,
    /// aᵇ for any real exponent.
    Power = 7,
    /// aⁿ by repeated multiplication, n = `operand` read as `i32`.
    IntegerPower = 8,
    /// −a
    Negate = 9,
    /// a < b
    Less = 10,
    /// a ≤ b
    LessEqual = 11,
    /// a > b
    Greater = 12,
    /// a ≥ b
    GreaterEqual = 13,
    /// a = b
    Equal = 14,
    /// a ≠ b
    NotEqual = 15,
    /// a and b
    And = 16,
    /// a or b
    Or = 17,
    /// not a
    Not = 18,
    /// Of condition, a, b (b on top): a where the condition holds, else b.
    Select = 19,
    /// sin a
    Sine = 20,
    /// cos a
    Cosine = 21,
    /// tan a
    Tangent = 22,
    /// eᵃ
    Exponential = 23,
    /// ln a
    Logarithm = 24,
    /// √a
    SquareRoot = 25,
    /// |a|
    AbsoluteValue = 26,
    /// Largest integer ≤ a
    Floor = 27,
    /// tanh a
    HyperbolicTangent = 28,
    /// The smaller of a and b
    Minimum = 29,
    /// The larger of a and b
    Maximum = 30,
}

/// One step of the stack machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    /// The operation.
    pub opcode: Opcode,
    /// Its index or exponent, if it has one; else 0.
    pub operand: u32,
}

/// A compiled formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    variables: Variables,
    code: Vec<Instruction>,
    constants: Vec<f64>,
    /// Most values of the program on the stack, at most [`MAXIMUM_STACK`].
    stack_depth: usize,
}

impl Expression {
    /// Checks and compiles `text`.
    ///
    /// # Errors
    /// Anything the grammar of this module does not allow, an unknown name, and expressions
    /// beyond the limits above; with the place in `text`.
    pub fn parse(text: &str, variables: Variables) -> Result<Self, ExpressionError> {
        let program = compile::compile(text, variables)?;
        Ok(Self {
            text: text.to_owned(),
            variables,
            code: program.code,
            constants: program.constants,
            stack_depth: program.stack_depth,
        })
    }

    /// The variables of the expression.
    pub fn variables(&self) -> Variables {
        self.variables
    }

    /// Whether the expression depends on the time.
    pub fn depends_on_time(&self) -> bool {
        self.code.iter().any(|instruction| instruction.opcode == Opcode::Time)
    }

    /// Whether the expression depends on component `component` of the point.
    pub fn depends_on_component(&self, component: usize) -> bool {
        self.code.iter().any(|instruction| {
            instruction.opcode == Opcode::Coordinate && instruction.operand as usize == component
        })
    }

    /// The value of a constant expression.
    pub fn is_constant(&self) -> Option<f64> {
        match self.code.as_slice() {
            [Instruction { opcode: Opcode::Constant, operand }] => {
                self.constants.get(*operand as usize).copied()
            }
            _ => None,
        }
    }

    /// The program, in the order of execution.
    pub fn code(&self) -> &[Instruction] {
        &self.code
    }

    /// The constants that [`Opcode::Constant`] pushes.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// The program as words for a device: opcode and operand in turn.
    pub fn words(&self) -> Vec<u32> {
        self.code.iter().flat_map(|step| [step.opcode as u32, step.operand]).collect()
    }
}

impl std::fmt::Display for Expression {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
