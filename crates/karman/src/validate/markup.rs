//! Numbers and texts of a page.

/// A text with the special characters of HTML and SVG escaped.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A text with a minus sign in place of each hyphen.
fn with_minus(text: &str) -> String {
    text.replace('-', "\u{2212}")
}

/// A number with at most `digits` significant digits, without trailing zeros.
pub(super) fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return "not finite".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&magnitude) {
        return scientific(value, digits.saturating_sub(1));
    }
    let places = (digits as i32 - 1 - magnitude).clamp(0, 12) as usize;
    let text = format!("{value:.places$}");
    with_minus(if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    })
}

fn scientific(value: f64, places: usize) -> String {
    let text = format!("{value:.places$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}·10<sup>{}</sup>", with_minus(mantissa), with_minus(exponent))
}

/// A number with decimal places down to a tenth of the leading digit of a tolerance.
pub(super) fn to_tolerance(value: f64, tolerance: f64) -> String {
    let least = if tolerance > 0.0 { tolerance } else { value.abs() * 1e-6 };
    let places = 1 - least.log10().floor() as i32;
    match places {
        _ if value == 0.0 => "0".to_owned(),
        _ if !value.is_finite() => "not finite".to_owned(),
        8.. => scientific(value, 3),
        ..0 => with_minus(&format!("{value:.0}")),
        places => with_minus(&format!("{value:.0$}", places as usize)),
    }
}

/// Bytes as base64, to embed them in the page.
pub(super) fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        assert_eq!(significant(-0.2140417, 4), "−0.214");
        assert_eq!(significant(1234567.0, 4), "1234567");
        assert_eq!(significant(2.0, 4), "2");
        assert_eq!(significant(0.0, 4), "0");
        assert_eq!(significant(1.2345e-9, 3), "1.23·10<sup>−9</sup>");
        assert_eq!(significant(f64::NAN, 3), "not finite");
        assert_eq!(to_tolerance(-0.2127345, 0.00214), "−0.2127");
        assert_eq!(to_tolerance(5.567, 0.0279), "5.567");
        assert_eq!(to_tolerance(350.0, 20.0), "350");
        assert_eq!(to_tolerance(12.0, 0.0), "12.000000");
        assert_eq!(to_tolerance(1e-9, 1e-10), "1.000·10<sup>−9</sup>");
        assert_eq!(to_tolerance(0.0, 0.1), "0");
    }

    #[test]
    fn texts_cannot_break_the_page() {
        assert_eq!(escaped("<b a=\"1\">&"), "&lt;b a=&quot;1&quot;&gt;&amp;");
    }
}
