//! Tokens to bytecode in one pass: precedence climbing, operators emitted behind their operands.

use super::error::{ExpressionError, ExpressionErrorKind};
use super::evaluate::operate;
use super::nearest::nearest_name;
use super::token::{Token, Tokens};
use super::{Instruction, MAXIMUM_INSTRUCTIONS, MAXIMUM_NESTING, MAXIMUM_STACK, Opcode, Variables};
use std::ops::Range;

/// Precedence of the operators; an operand binds more tightly than its operator.
const OR: u8 = 1;
const AND: u8 = 3;
const NOT: u8 = 5;
const COMPARISON: u8 = 7;
const SUM: u8 = 9;
const PRODUCT: u8 = 11;
const SIGN: u8 = 13;
const POWER: u8 = 15;

/// Largest exponent for which a power is a chain of multiplications.
const LARGEST_INTEGER_POWER: f64 = 64.0;

/// Functions with their number of arguments; `usize::MAX` stands for two or more.
const FUNCTIONS: [(&str, Opcode, usize); 12] = [
    ("if", Opcode::Select, 3),
    ("sin", Opcode::Sine, 1),
    ("cos", Opcode::Cosine, 1),
    ("tan", Opcode::Tangent, 1),
    ("exp", Opcode::Exponential, 1),
    ("log", Opcode::Logarithm, 1),
    ("sqrt", Opcode::SquareRoot, 1),
    ("abs", Opcode::AbsoluteValue, 1),
    ("min", Opcode::Minimum, usize::MAX),
    ("max", Opcode::Maximum, usize::MAX),
    ("tanh", Opcode::HyperbolicTangent, 1),
    ("floor", Opcode::Floor, 1),
];

/// The result of compilation.
pub(super) struct Program {
    pub(super) code: Vec<Instruction>,
    pub(super) constants: Vec<f64>,
    pub(super) stack_depth: usize,
}

/// Compiles `text`; see [`super::Expression::parse`].
pub(super) fn compile(text: &str, variables: Variables) -> Result<Program, ExpressionError> {
    if text.trim().is_empty() {
        let kind = ExpressionErrorKind::Empty;
        return Err(ExpressionError { kind, span: 0..text.len() });
    }
    let mut tokens = Tokens::new(text);
    let (token, span) = tokens.next()?;
    let program = Program { code: Vec::new(), constants: Vec::new(), stack_depth: 0 };
    let mut compiler =
        Compiler { text, tokens, token, span, variables, program, depth: 0, nesting: 0 };
    compiler.expression(0)?;
    match compiler.token {
        Token::End => Ok(compiler.program),
        Token::Number(_) | Token::Name(_) | Token::Symbol("(") => {
            Err(compiler.unexpected("an operator (a product is written with `*`)"))
        }
        _ => Err(compiler.unexpected("an operator or the end of the expression")),
    }
}

struct Compiler<'t> {
    text: &'t str,
    tokens: Tokens<'t>,
    token: Token<'t>,
    span: Range<usize>,
    variables: Variables,
    program: Program,
    /// Values on the stack after the instructions emitted so far.
    depth: usize,
    nesting: usize,
}

impl<'t> Compiler<'t> {
    fn advance(&mut self) -> Result<(), ExpressionError> {
        (self.token, self.span) = self.tokens.next()?;
        Ok(())
    }

    fn unexpected(&self, expected: &'static str) -> ExpressionError {
        let found = self.token.describe(&self.text[self.span.clone()]);
        self.error(ExpressionErrorKind::Unexpected { expected, found })
    }

    fn error(&self, kind: ExpressionErrorKind) -> ExpressionError {
        ExpressionError { kind, span: self.span.clone() }
    }

    fn expect(
        &mut self,
        symbol: &'static str,
        expected: &'static str,
    ) -> Result<(), ExpressionError> {
        if self.token != Token::Symbol(symbol) {
            return Err(self.unexpected(expected));
        }
        self.advance()
    }

    /// An expression of operators of precedence `weakest` or higher.
    fn expression(&mut self, weakest: u8) -> Result<(), ExpressionError> {
        self.nesting += 1;
        if self.nesting > MAXIMUM_NESTING {
            return Err(self.error(ExpressionErrorKind::TooNested { limit: MAXIMUM_NESTING }));
        }
        self.operand(weakest)?;
        let mut compared = false;
        while let Some((opcode, precedence)) = infix(&self.token) {
            if precedence < weakest {
                break;
            }
            if precedence == COMPARISON && std::mem::replace(&mut compared, true) {
                return Err(self.error(ExpressionErrorKind::ChainedComparison));
            }
            let span = self.span.clone();
            self.advance()?;
            self.expression(if precedence == POWER { POWER } else { precedence + 1 })?;
            self.emit(opcode, 0, &span)?;
        }
        self.nesting -= 1;
        Ok(())
    }

    fn operand(&mut self, weakest: u8) -> Result<(), ExpressionError> {
        let span = self.span.clone();
        match self.token {
            Token::Number(value) => {
                self.push_constant(value, &span)?;
                self.advance()
            }
            Token::Symbol("(") => {
                self.advance()?;
                self.expression(0)?;
                self.expect(")", "an operator or `)`")
            }
            Token::Symbol("-") => {
                self.advance()?;
                self.expression(SIGN)?;
                self.emit(Opcode::Negate, 0, &span)
            }
            Token::Symbol("+") => {
                self.advance()?;
                self.expression(SIGN)
            }
            Token::Name("not") if weakest <= NOT => {
                self.advance()?;
                self.expression(NOT)?;
                self.emit(Opcode::Not, 0, &span)
            }
            Token::Name("not") => Err(self.unexpected("a value (put `not …` in parentheses here)")),
            Token::Name("and" | "or") | Token::Symbol(_) | Token::End => {
                Err(self.unexpected("a value"))
            }
            Token::Name(name) => self.name(name, span),
        }
    }

    fn name(&mut self, name: &'t str, span: Range<usize>) -> Result<(), ExpressionError> {
        self.advance()?;
        let called = self.token == Token::Symbol("(");
        let variable = self.variables.point.iter().position(|known| *known == name);
        let time = self.variables.time == Some(name);
        if variable.is_some() || time || name == "pi" {
            if called {
                let kind = ExpressionErrorKind::NotAFunction { name: name.to_owned() };
                return Err(ExpressionError { kind, span });
            }
            return match variable {
                Some(component) => self.emit(Opcode::Coordinate, component as u32, &span),
                None if time => self.emit(Opcode::Time, 0, &span),
                None => self.push_constant(std::f64::consts::PI, &span),
            };
        }
        let function = FUNCTIONS.into_iter().find(|(known, _, _)| *known == name);
        let Some((known, opcode, count)) = function else {
            return Err(self.unknown(name, span));
        };
        if !called {
            let kind = ExpressionErrorKind::MissingArguments { name: known };
            return Err(ExpressionError { kind, span });
        }
        self.arguments(known, opcode, count, span)
    }

    /// Arguments in parentheses, then the operation; `min` and `max` fold from the left.
    fn arguments(
        &mut self,
        name: &'static str,
        opcode: Opcode,
        count: usize,
        span: Range<usize>,
    ) -> Result<(), ExpressionError> {
        self.advance()?;
        let mut given = 0;
        while self.token != Token::Symbol(")") {
            if given > 0 {
                self.expect(",", "an operator, `,` or `)`")?;
            }
            self.expression(0)?;
            given += 1;
            if count == usize::MAX && given > 1 {
                self.emit(opcode, 0, &span)?;
            } else if count != usize::MAX && given > count {
                break;
            }
        }
        if given == 0 || (given != count && (count != usize::MAX || given < 2)) {
            let expected = match count {
                1 => "1 argument",
                3 => "3 arguments",
                _ => "2 or more arguments",
            };
            let kind = ExpressionErrorKind::ArgumentCount { name, expected, found: given };
            return Err(ExpressionError { kind, span: span.start..self.span.end });
        }
        self.advance()?;
        if count == usize::MAX { Ok(()) } else { self.emit(opcode, 0, &span) }
    }

    fn unknown(&self, name: &str, span: Range<usize>) -> ExpressionError {
        let known: Vec<&'static str> = (self.variables.point.iter().copied())
            .chain(self.variables.time)
            .chain(["pi"])
            .chain(FUNCTIONS.iter().map(|(name, _, _)| *name))
            .collect();
        let nearest = nearest_name(name, known.iter().copied());
        let kind = ExpressionErrorKind::UnknownName { name: name.to_owned(), nearest, known };
        ExpressionError { kind, span }
    }

    fn push_constant(&mut self, value: f64, span: &Range<usize>) -> Result<(), ExpressionError> {
        let index = self.program.constants.len() as u32;
        self.program.constants.push(value);
        self.emit(Opcode::Constant, index, span)
    }

    /// Appends an instruction, or its value where all its operands are constants.
    fn emit(
        &mut self,
        opcode: Opcode,
        operand: u32,
        span: &Range<usize>,
    ) -> Result<(), ExpressionError> {
        let count = operand_count(opcode);
        if count > 0 && self.constant_operands(count) {
            let first = self.program.constants.len() - count;
            let mut stack = [[0.0]; 3];
            for (slot, value) in stack.iter_mut().zip(&self.program.constants[first..]) {
                *slot = [*value];
            }
            operate(Instruction { opcode, operand }, &mut stack, count);
            self.program.constants.truncate(first);
            self.program.code.truncate(self.program.code.len() - count);
            self.depth -= count;
            return self.push_constant(stack[0][0], span);
        }
        if opcode == Opcode::Power && self.constant_operands(1) {
            let exponent = self.program.constants[self.program.constants.len() - 1];
            if exponent.fract() == 0.0 && exponent.abs() <= LARGEST_INTEGER_POWER {
                self.program.constants.pop();
                self.program.code.pop();
                self.depth -= 1;
                return self.emit(Opcode::IntegerPower, exponent as i32 as u32, span);
            }
        }
        self.program.code.push(Instruction { opcode, operand });
        self.depth = self.depth + 1 - count;
        self.program.stack_depth = self.program.stack_depth.max(self.depth);
        if self.depth > MAXIMUM_STACK {
            let kind = ExpressionErrorKind::TooDeep { limit: MAXIMUM_STACK };
            return Err(ExpressionError { kind, span: span.clone() });
        }
        if self.program.code.len() > MAXIMUM_INSTRUCTIONS {
            let kind = ExpressionErrorKind::TooLong { limit: MAXIMUM_INSTRUCTIONS };
            return Err(ExpressionError { kind, span: span.clone() });
        }
        Ok(())
    }

    /// Whether the last `count` operands are constants. An operand that ends in a constant instruction
    /// is that constant, because an operator follows its operands.
    fn constant_operands(&self, count: usize) -> bool {
        let code = &self.program.code;
        code.len() >= count
            && code[code.len() - count..].iter().all(|step| step.opcode == Opcode::Constant)
    }
}

/// The operation of an infix token and its precedence.
fn infix(token: &Token<'_>) -> Option<(Opcode, u8)> {
    Some(match token {
        Token::Name("or") => (Opcode::Or, OR),
        Token::Name("and") => (Opcode::And, AND),
        Token::Symbol("<") => (Opcode::Less, COMPARISON),
        Token::Symbol("<=") => (Opcode::LessEqual, COMPARISON),
        Token::Symbol(">") => (Opcode::Greater, COMPARISON),
        Token::Symbol(">=") => (Opcode::GreaterEqual, COMPARISON),
        Token::Symbol("==") => (Opcode::Equal, COMPARISON),
        Token::Symbol("!=") => (Opcode::NotEqual, COMPARISON),
        Token::Symbol("+") => (Opcode::Add, SUM),
        Token::Symbol("-") => (Opcode::Subtract, SUM),
        Token::Symbol("*") => (Opcode::Multiply, PRODUCT),
        Token::Symbol("/") => (Opcode::Divide, PRODUCT),
        Token::Symbol("^") => (Opcode::Power, POWER),
        _ => return None,
    })
}

/// Number of values an operation pops from the stack; it pushes one.
fn operand_count(opcode: Opcode) -> usize {
    use Opcode::*;
    match opcode {
        Constant | Coordinate | Time => 0,
        IntegerPower | Negate | Not | Sine | Cosine | Tangent | Exponential | Logarithm
        | SquareRoot | AbsoluteValue | Floor | HyperbolicTangent => 1,
        Select => 3,
        _ => 2,
    }
}
