//! The program as a user meets it: messages, exit codes, files.

mod common;
mod mesh;
mod program;
mod run;
