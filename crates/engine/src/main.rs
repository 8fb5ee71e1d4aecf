//! The one binary: a load generator, its sink, a sampler, and an agent that serves all of these.

mod agent;
mod args;
mod console;
mod facts;
mod failure;
mod job;
mod join;
mod kernel;
mod load;
mod load_args;
mod probe;
mod quantity;
mod reaper;
mod sample;
mod schema;
mod search_summary;
mod sink;
mod sink_args;
mod summary;

use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches};

use args::{Cli, Mode};

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let given = matches
        .subcommand()
        .map_or_else(ArgMatches::default, |(_, given)| given.clone());
    let outcome = match cli.mode {
        Mode::Load(args) => load::run(&args, &given),
        Mode::Sink(args) => sink::run(&args),
        Mode::Sample(args) => sample::run(&args),
        Mode::Kernel(args) => kernel::run(&args),
        Mode::Facts(args) => facts::run(&args),
        Mode::Agent => agent::run(),
        Mode::Join(args) => join::run(&args),
        Mode::Hold(args) => reaper::run(&args),
        Mode::Schema(args) => schema::run(&args),
    };
    outcome.unwrap_or_else(|failure| console::complain(&failure))
}
