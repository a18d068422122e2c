//! The commands, one per file.

mod adapt;
mod bench;
mod check;
mod devices;
mod help;
mod mesh;
mod new;
mod plot;
mod run;
mod solve;
mod test;
mod validate;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::logging::Log;
use crate::processes::Started;
use karman::backend::Processes;

/// State shared by the commands.
pub(crate) struct Session {
    pub(crate) log: Log,
    /// Whether only warnings and errors are printed.
    pub(crate) quiet: bool,
    pub(crate) interrupt: Interrupt,
    /// The processes of which this is one, and the threads of each.
    pub(crate) processes: Processes,
    pub(crate) threads: usize,
}

/// Runs the command of the arguments.
pub(crate) fn run(arguments: Arguments, started: &Started) -> Result<(), Failure> {
    let processes = started.processes();
    let session = Session {
        log: Log::start(&arguments, processes.is_first()),
        quiet: arguments.quiet || !processes.is_first(),
        interrupt: Interrupt::default(),
        processes,
        threads: started.threads(),
    };
    let quiet = session.quiet;
    let done = match arguments.command {
        Command::Run(options) => run::run(&options, &session),
        Command::Check { case, json } => check::run(&case, json, quiet),
        Command::New { name, template } => new::run(&name, &template, quiet),
        Command::Mesh(command) => mesh::run(&command, quiet),
        Command::Adapt(options) => adapt::run(&options, quiet),
        Command::Plot(options) => plot::run(&options, quiet),
        Command::Devices { json } => devices::run(json),
        Command::Bench(options) => bench::run(&options),
        Command::Solve(options) => solve::run(&options),
        Command::Test { cases, backend, json } => test::run(&cases, backend, json, &session),
        Command::Validate(options) => validate::run(&options, &session),
        Command::Help { topic, section } => help::run(topic.as_deref(), section.as_deref()),
        Command::ProvokeBug => panic!("karman provoke-bug was called"),
    };
    if let Err(failure) = &done {
        session.log.note(&failure.to_string());
    }
    done
}
