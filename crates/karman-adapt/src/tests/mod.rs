//! Tests of adaptation as a whole.

mod cube;
mod invariants;
