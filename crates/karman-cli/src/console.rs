//! Text for the user: results go to stdout, everything else to stderr.

use crate::failure::Failure;
use clap::error::ErrorKind;
use indicatif::ProgressBar;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Writes a result and a newline. A closed pipe, as of `head`, is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Input(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a status line, unless `quiet`.
pub(crate) fn tell(quiet: bool, text: &str) -> Result<(), Failure> {
    if quiet { Ok(()) } else { print(text) }
}

/// Writes a result as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::input)?;
    print(&text)
}

/// Prints help, version or the error of the argument parser; help and version are no failure.
pub(crate) fn usage(error: &clap::Error) -> Result<(), Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            print(error.render().to_string().trim_end())
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::Input(format!(
            "a command is missing\n\n{}",
            error.render().to_string().trim_end()
        ))),
        _ => {
            let text = error.render().to_string();
            Err(Failure::Input(text.trim_start_matches("error: ").trim_end().to_owned()))
        }
    }
}

/// A number with its noun: `1 case`, `2 cases`.
pub(crate) fn count(n: u64, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Writes an error. A closed stderr is ignored.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// stderr, shared by the log and the progress bar so that neither overwrites the other.
#[derive(Clone, Default)]
pub(crate) struct Screen {
    bar: Arc<Mutex<Option<ProgressBar>>>,
}

impl Screen {
    /// Whether stderr is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Shows a progress bar, or removes it.
    pub(crate) fn set_bar(&self, bar: Option<ProgressBar>) {
        let mut slot = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = slot.take() {
            old.finish_and_clear();
        }
        *slot = bar;
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        match bar.as_ref() {
            Some(bar) => bar.suspend(|| io::stderr().write(bytes)),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
