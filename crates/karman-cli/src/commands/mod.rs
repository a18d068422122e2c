//! One file a command.

mod bench;
mod check;
mod devices;
mod help;
mod mesh;
mod new;
mod run;
mod solve;
mod test;
mod validate;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;
use crate::logging::Log;

/// Does what the arguments say.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let log = Log::start(&arguments);
    let quiet = arguments.quiet;
    match arguments.command {
        Command::Run(options) => run::run(&options, &log, quiet),
        Command::Check { case, json } => check::run(&case, json),
        Command::New { name, template } => new::run(&name, &template),
        Command::Mesh(command) => mesh::run(&command),
        Command::Devices { json } => devices::run(json),
        Command::Bench(options) => bench::run(&options),
        Command::Solve(options) => solve::run(&options),
        Command::Test { cases, backend, json } => test::run(&cases, backend, json, &log),
        Command::Validate(options) => validate::run(&options, &log, quiet),
        Command::Help { topic, section } => help::run(topic.as_deref(), section.as_deref()),
        Command::ProvokeBug => panic!("karman provoke-bug was called"),
    }
}
