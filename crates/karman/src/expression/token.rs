//! Text to tokens.

use super::error::{ExpressionError, ExpressionErrorKind};
use std::ops::Range;

/// A lexical token of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'t> {
    Number(f64),
    Name(&'t str),
    /// One of `+ - * / ^ < <= > >= == != ( ) ,`.
    Symbol(&'static str),
    End,
}

impl Token<'_> {
    /// The token as a message quotes it.
    pub(super) fn describe(&self, text: &str) -> String {
        match self {
            Token::End => "the end of the expression".to_owned(),
            _ => format!("`{text}`"),
        }
    }
}

/// Longest first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 14] =
    ["<=", ">=", "==", "!=", "+", "-", "*", "/", "^", "<", ">", "(", ")", ","];

/// Operators of other languages, with their form here.
const FOREIGN: [(&str, &str); 6] = [
    ("**", ": a power is written `^`"),
    ("&&", ": write `and`"),
    ("||", ": write `or`"),
    ("!", ": write `not`"),
    ("=", ": equality is written `==`"),
    ("%", ": write `a - b*floor(a/b)`"),
];

/// Reads the tokens of a text one after another.
pub(super) struct Tokens<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, position: 0 }
    }

    /// The next token and the bytes it covers.
    pub(super) fn next(&mut self) -> Result<(Token<'t>, Range<usize>), ExpressionError> {
        let rest = &self.text[self.position..];
        let start = self.position + (rest.len() - rest.trim_start().len());
        let rest = rest.trim_start();
        let Some(first) = rest.chars().next() else {
            self.position = self.text.len();
            return Ok((Token::End, self.text.len()..self.text.len()));
        };
        if first.is_ascii_digit() || first == '.' {
            return self.number(start);
        }
        if first.is_alphabetic() || first == '_' {
            let length =
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            self.position = start + length;
            return Ok((Token::Name(&rest[..length]), start..self.position));
        }
        if let Some((sign, hint)) = foreign(rest) {
            let kind = ExpressionErrorKind::Character { found: sign.to_owned(), hint };
            return Err(ExpressionError { kind, span: start..start + sign.len() });
        }
        match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            Some(symbol) => {
                self.position = start + symbol.len();
                Ok((Token::Symbol(symbol), start..self.position))
            }
            None => {
                let kind = ExpressionErrorKind::Character { found: first.to_string(), hint: "" };
                Err(ExpressionError { kind, span: start..start + first.len_utf8() })
            }
        }
    }

    /// Digits, a point, digits, and an exponent only where digits follow it.
    fn number(&mut self, start: usize) -> Result<(Token<'t>, Range<usize>), ExpressionError> {
        let bytes = self.text.as_bytes();
        let digits = |from: usize| {
            from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        let mut end = digits(start);
        if bytes.get(end) == Some(&b'.') {
            end = digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = end + 1 + sign;
            if bytes.get(exponent).is_some_and(u8::is_ascii_digit) {
                end = digits(exponent);
            }
        }
        let text = &self.text[start..end];
        self.position = end;
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok((Token::Number(value), start..end)),
            Ok(_) => {
                let kind = ExpressionErrorKind::NumberTooLarge { text: text.to_owned() };
                Err(ExpressionError { kind, span: start..end })
            }
            Err(_) => {
                let kind = ExpressionErrorKind::Character { found: text.to_owned(), hint: "" };
                Err(ExpressionError { kind, span: start..end })
            }
        }
    }
}

/// An operator of another language at the start of `rest`, unless a symbol of this one begins there.
fn foreign(rest: &str) -> Option<(&'static str, &'static str)> {
    let ours = SYMBOLS.iter().any(|symbol| symbol.len() == 2 && rest.starts_with(symbol));
    FOREIGN.into_iter().find(|(sign, _)| rest.starts_with(sign) && !ours)
}
