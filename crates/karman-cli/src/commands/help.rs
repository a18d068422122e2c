//! `karman help`

use crate::arguments::Arguments;
use crate::console;
use crate::failure::Failure;
use clap::CommandFactory;
use karman::case::reference;

pub(crate) fn run(topic: Option<&str>, section: Option<&str>) -> Result<(), Failure> {
    let mut program = Arguments::command();
    let text = match (topic, section) {
        (None, _) => program.render_long_help().to_string(),
        (Some("case"), section) => reference::help(section).ok_or_else(|| {
            let known: Vec<&str> = reference::SECTIONS
                .iter()
                .map(|section| section.path)
                .filter(|path| !path.is_empty())
                .collect();
            let name = section.unwrap_or_default();
            Failure::Input(format!(
                "a case has no section `{name}`; sections: {}",
                known.join(", ")
            ))
        })?,
        (Some(topic), inner) => {
            program.build();
            let named = [Some(topic), inner].into_iter().flatten();
            let mut command = &mut program;
            for name in named {
                command = command.find_subcommand_mut(name).ok_or_else(|| {
                    Failure::Input(format!(
                        "there is no command `{name}`; `karman help` lists them, `karman help \
                         case` explains the case file"
                    ))
                })?;
            }
            command.render_long_help().to_string()
        }
    };
    console::print(text.trim_end())
}
