//! Regions that the section of an equation names, each with its place in the text.

use std::ops::Range;
use toml::Spanned;

/// The regions that the section of an equation names.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegionNames {
    /// Their names, each with its place.
    pub(crate) named: Vec<(String, Range<usize>)>,
    /// Quantities given as `{ region = number }`, which must cover all regions: key, place and the regions they name.
    pub(crate) by_region: Vec<(&'static str, Range<usize>, Vec<String>)>,
}

/// A name and its place.
pub(super) fn text_and_span(name: &Spanned<String>) -> (String, Range<usize>) {
    (name.get_ref().clone(), name.span())
}
