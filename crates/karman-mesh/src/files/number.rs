//! Decimal text to `f64`, correctly rounded, without going through a `String`.

/// Powers of ten that are exact in `f64`.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Most digits of a decimal number that always fit in 64 bits.
const MAX_DIGITS: usize = 19;

/// The number at the start of `text`, and its length. `None` without a number, or where neither white
/// space nor the end follows it.
///
/// A mantissa of at most 2⁵³ and a power of ten of at most 10²² are both exact, so that one
/// multiplication or division rounds correctly (Clinger 1990, doi:10.1145/93542.93557); other
/// numbers go to the standard library. `nan` and `inf` are numbers here; callers refuse them.
#[inline]
pub(super) fn leading_float(text: &[u8]) -> Option<(f64, usize)> {
    if let Some(found) = short_decimal(text) {
        return Some(found);
    }
    let length = text.iter().position(|b| b.is_ascii_whitespace()).unwrap_or(text.len());
    let value = std::str::from_utf8(&text[..length]).ok()?.parse().ok()?;
    Some((value, length))
}

/// The fast path of [`leading_float`]; `None` also for numbers beyond its range.
#[inline]
fn short_decimal(text: &[u8]) -> Option<(f64, usize)> {
    let mut at = 0;
    let negative = text.first() == Some(&b'-');
    if negative || text.first() == Some(&b'+') {
        at = 1;
    }
    let mut mantissa = 0_u64;
    let start = at;
    at = digits(text, at, &mut mantissa);
    let mut n_digits = at - start;
    let mut exponent = 0_i32;
    if text.get(at) == Some(&b'.') {
        let fraction = at + 1;
        at = digits(text, fraction, &mut mantissa);
        n_digits += at - fraction;
        exponent = -i32::try_from(at - fraction).ok()?;
    }
    if n_digits == 0 || n_digits > MAX_DIGITS {
        return None;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        let down = text.get(at) == Some(&b'-');
        if down || text.get(at) == Some(&b'+') {
            at += 1;
        }
        let mut written = 0_u64;
        let first = at;
        at = digits(text, at, &mut written);
        if at == first || at - first > 4 {
            return None;
        }
        exponent += if down { -(written as i32) } else { written as i32 };
    }
    if text.get(at).is_some_and(|b| !b.is_ascii_whitespace())
        || mantissa > 1 << 53
        || exponent.unsigned_abs() as usize >= EXACT_POWERS.len()
    {
        return None;
    }
    let power = EXACT_POWERS[exponent.unsigned_abs() as usize];
    let value = if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
    Some((if negative { -value } else { value }, at))
}

/// Appends the digits from `at` on to `value` (wrapping, the caller counts them); returns the place after.
#[inline]
fn digits(text: &[u8], mut at: usize, value: &mut u64) -> usize {
    while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        *value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

/// The shortest decimal text that reads back as `value`, appended to `out`.
pub(super) fn push_float(out: &mut Vec<u8>, value: f64) {
    use std::io::Write;
    let size = value.abs();
    // Writing to a vector cannot fail.
    let _ = if value == 0.0 || (1e-5..1e16).contains(&size) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };
}

/// The decimal text of `value`, appended to `out`.
pub(super) fn push_integer(out: &mut Vec<u8>, mut value: u64) {
    let mut text = [0_u8; 20];
    let mut at = text.len();
    loop {
        at -= 1;
        text[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&text[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<f64> {
        leading_float(text.as_bytes()).map(|(value, _)| value)
    }

    #[test]
    fn forms_of_decimal_numbers() {
        assert_eq!(leading_float(b"1.5 2"), Some((1.5, 3)));
        assert_eq!(leading_float(b"-12\n"), Some((-12.0, 3)));
        assert_eq!(read("+.5e+1"), Some(5.0));
        assert_eq!(read("3."), Some(3.0));
        assert_eq!(read("1E-3"), Some(1e-3));
        assert_eq!(read("0.03333333333333344"), Some(0.03333333333333344));
        assert_eq!(read("1e999"), Some(f64::INFINITY));
        assert!(read("nan").is_some_and(f64::is_nan));
        assert!(read("-0").is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()));
    }

    #[test]
    fn other_text_is_no_number() {
        for text in ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "12abc", "1,5", "0x10", "$End"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_beyond_the_fast_path() {
        for text in [
            "9007199254740993",
            "123456789012345678901234567890",
            "4.9e-324",
            "1.7976931348623157e308",
        ] {
            assert_eq!(read(text), text.parse().ok(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn written_numbers_read_back_to_the_bit(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let mut text = Vec::new();
            push_float(&mut text, value);
            let (read, length) = leading_float(&text).unwrap();
            prop_assert_eq!(read.to_bits(), bits);
            prop_assert_eq!(length, text.len());
        }

        #[test]
        fn rounds_as_the_standard_library_does(
            text in "[+-]?[0-9]{1,22}(\\.[0-9]{0,22})?(e[+-]?[0-9]{1,3})?"
        ) {
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(read(&text).unwrap().to_bits(), expected.to_bits());
        }

        #[test]
        fn integers_are_written_in_full(value in any::<u64>()) {
            let mut text = Vec::new();
            push_integer(&mut text, value);
            prop_assert_eq!(String::from_utf8(text).unwrap(), value.to_string());
        }
    }
}
