//! Numbers as decimal text.

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
pub(super) fn push_integer(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}
