//! The program `karman`: arguments, logging, exit codes. The solvers are in the library.

mod arguments;
mod commands;
mod console;
mod failure;
mod interrupt;
mod logging;
mod progress;

use arguments::Arguments;
use clap::Parser;
use std::process::ExitCode;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    karman::backend::return_large_arrays();
    std::panic::set_hook(Box::new(|panic| console::complain(&failure::bug_report(panic))));
    let finished = std::panic::catch_unwind(|| match Arguments::try_parse() {
        Ok(arguments) => commands::run(arguments),
        Err(usage) => console::usage(&usage),
    });
    match finished {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            console::complain(&failure.to_string());
            ExitCode::from(failure.exit_code())
        }
        Err(_) => ExitCode::from(failure::BUG),
    }
}
