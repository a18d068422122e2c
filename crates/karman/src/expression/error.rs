//! Errors of an expression.

use std::ops::Range;
use thiserror::Error;

/// An error in an expression, with its place.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{kind}")]
pub struct ExpressionError {
    /// Kind of error.
    pub kind: ExpressionErrorKind,
    /// Bytes of the text it concerns; empty at the end of the text.
    pub span: Range<usize>,
}

/// Kinds of errors in an expression.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ExpressionErrorKind {
    /// No text, or blanks alone.
    #[error("the expression is empty")]
    Empty,
    /// A character that no expression contains.
    #[error("unexpected `{found}`{hint}")]
    Character {
        /// The character or the pair of characters.
        found: String,
        /// Correction to suggest, or empty.
        hint: &'static str,
    },
    /// A token at the wrong place.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// Tokens allowed here.
        expected: &'static str,
        /// The token found.
        found: String,
    },
    /// A name that is neither a variable nor a function.
    #[error("unknown name `{name}`{}", did_you_mean(nearest))]
    UnknownName {
        /// The name as written.
        name: String,
        /// The known name closest to it, if one is close.
        nearest: Option<&'static str>,
        /// All names an expression may use here.
        known: Vec<&'static str>,
    },
    /// A variable or constant followed by parentheses.
    #[error("`{name}` is not a function: a product is written with `*`")]
    NotAFunction {
        /// The name.
        name: String,
    },
    /// A function without its arguments.
    #[error("`{name}` is a function: write `{name}(…)`")]
    MissingArguments {
        /// The name.
        name: &'static str,
    },
    /// Too few or too many arguments.
    #[error("`{name}` takes {expected}, {found} given")]
    ArgumentCount {
        /// The function.
        name: &'static str,
        /// Number of arguments it takes, in words.
        expected: &'static str,
        /// Number of arguments given.
        found: usize,
    },
    /// A number beyond the range of a 64-bit float.
    #[error("the number `{text}` is too large")]
    NumberTooLarge {
        /// The number as written.
        text: String,
    },
    /// `a < b < c`
    #[error("comparisons do not chain: write `a < b and b < c`")]
    ChainedComparison,
    /// Parentheses, arguments or signs nested too deeply.
    #[error("nested more than {limit} deep")]
    TooNested {
        /// The limit.
        limit: usize,
    },
    /// Too many values on the stack.
    #[error("more than {limit} values wait for their operators: regroup the expression")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// Too many operations.
    #[error("more than {limit} operations")]
    TooLong {
        /// The limit.
        limit: usize,
    },
}

fn did_you_mean(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(name) => format!(" (did you mean `{name}`?)"),
        None => String::new(),
    }
}
