//! Options that the target's protocol does not know are refused by name.

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};
use steelyard_wire::agent::Failure;

use crate::args::Cli;
use crate::failure::bad_request;

/// Refuses what was given under a heading that is not among `allowed`.
pub(super) fn refuse(matches: &ArgMatches, allowed: &[&str]) -> Result<(), Failure> {
    let given = foreign(matches, allowed);
    if given.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = given.iter().map(|(name, _)| format!("--{name}")).collect();
    Err(bad_request(
        format!("{}: only for {}", names.join(", "), given[0].1),
        "leave it out, or choose a target of that protocol",
    ))
}

fn foreign(matches: &ArgMatches, allowed: &[&str]) -> Vec<(String, String)> {
    let command = Cli::command();
    let load = command.find_subcommand("load");
    load.into_iter()
        .flat_map(clap::Command::get_arguments)
        .filter_map(|argument| {
            let heading = argument.get_help_heading()?;
            let id = argument.get_id().as_str();
            let given = matches.value_source(id) == Some(ValueSource::CommandLine);
            let name = argument.get_long().unwrap_or(id);
            (given && !["Search", "Probe"].contains(&heading) && !allowed.contains(&heading))
                .then(|| (name.to_owned(), heading.to_owned()))
        })
        .collect()
}
