//! The program as a user meets it: messages, exit codes, files.

#![allow(clippy::unwrap_used)]

mod adapt;
mod bench;
mod common;
mod endings;
mod mesh;
mod plot;
mod program;
mod run;
mod solve;
mod validate;
