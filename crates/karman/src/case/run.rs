//! `[run]` and `[checkpoint]`: backend, precision, threads, ranks; checkpoints.

use super::error::Problem;
use super::value::{Maybe, Sign, number, required};
use crate::backend::BackendKind;
use crate::mesh::partition::Partition;
use karman_macros::Keyword;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// Backend, precision, threads, ranks and checkpoints of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCase {
    /// The backend; default `auto`.
    pub backend: BackendKind,
    /// Precision of the fields; default `f64`.
    pub precision: Precision,
    /// Threads of the CPU, 0 for all; default 0.
    pub threads: usize,
    /// Parts of the mesh, each computed by threads of its own; at least 1, the default.
    pub ranks: usize,
    /// The choice of these parts; default `hilbert`.
    pub partition: Partition,
    /// Checkpoints, the section `[checkpoint]`; default none.
    pub checkpoint: Option<CheckpointCase>,
}

/// Checkpoints for a restart.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckpointCase {
    /// Time between checkpoints, > 0.
    pub every: f64,
}

/// Precision of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Precision {
    /// 64 bits.
    F64,
    /// 32 bits.
    F32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunFile {
    backend: Option<BackendKind>,
    precision: Option<Precision>,
    threads: Option<usize>,
    ranks: Option<Spanned<usize>>,
    partition: Option<Partition>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckpointFile {
    every: Maybe<f64>,
}

/// The place of the section where it asks for single precision.
pub(crate) fn single_precision(file: Option<&Spanned<RunFile>>) -> Option<Range<usize>> {
    file.filter(|file| file.get_ref().precision == Some(Precision::F32)).map(Spanned::span)
}

/// Checks both sections; `time` is the place of `[time]`.
pub(crate) fn check(
    file: Option<&Spanned<RunFile>>,
    checkpoint: Option<&Spanned<CheckpointFile>>,
    time: Option<&Range<usize>>,
) -> Result<RunCase, Problem> {
    let keys = file.map(Spanned::get_ref);
    let ranks = keys.and_then(|keys| keys.ranks.as_ref());
    if let Some(none) = ranks.filter(|ranks| *ranks.get_ref() == 0) {
        return Err(Problem::at(none.span(), "`ranks` is at least 1"));
    }
    Ok(RunCase {
        backend: keys.and_then(|keys| keys.backend).unwrap_or(BackendKind::Auto),
        precision: keys.and_then(|keys| keys.precision).unwrap_or(Precision::F64),
        threads: keys.and_then(|keys| keys.threads).unwrap_or(0),
        ranks: ranks.map_or(1, |ranks| *ranks.get_ref()),
        partition: keys.and_then(|keys| keys.partition).unwrap_or_default(),
        checkpoint: checkpoint.map(|file| check_checkpoint(file, time)).transpose()?,
    })
}

fn check_checkpoint(
    file: &Spanned<CheckpointFile>,
    time: Option<&Range<usize>>,
) -> Result<CheckpointCase, Problem> {
    required(&file.get_ref().every, "every", &file.span())?;
    let every = number(&file.get_ref().every, 0.0, "every", Sign::Positive)?;
    if time.is_none() {
        let message = "checkpoints need [time]: this case is steady";
        return Err(Problem::at(file.span(), message));
    }
    Ok(CheckpointCase { every })
}
