//! The program `karman`: arguments, logging, exit codes. The solvers are in the library.

mod arguments;
mod commands;
mod console;
mod failure;
mod interrupt;
mod logging;
mod processes;
mod progress;

use arguments::{Arguments, Command};
use clap::Parser;
use processes::Started;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    karman::backend::return_large_arrays();
    std::panic::set_hook(Box::new(|panic| console::complain(&failure::bug_report(panic))));
    let arguments = Arguments::try_parse();
    let is_run = matches!(&arguments, Ok(Arguments { command: Command::Run(_), .. }));
    let started = match Started::of_environment(is_run || arguments.is_err()) {
        Ok(started) => started,
        Err(failure) => {
            if processes::is_first() {
                console::complain(&failure.to_string());
            }
            return ExitCode::from(failure.exit_code());
        }
    };
    let finished = std::panic::catch_unwind(AssertUnwindSafe(|| match arguments {
        Ok(arguments) => commands::run(arguments, &started),
        Err(usage) => console::usage(&usage),
    }));
    let (code, message) = match finished {
        Ok(Ok(())) => (0, None),
        Ok(Err(failure)) => (failure.exit_code(), Some(failure.to_string())),
        Err(_) => (failure::BUG, None),
    };
    ExitCode::from(started.end(code, message.as_deref()))
}
