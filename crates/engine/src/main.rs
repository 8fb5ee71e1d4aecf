//! The one binary: a load generator, its sink, a sampler, and an agent that serves all of these.

mod agent;
mod args;
mod console;
mod facts;
mod failure;
mod job;
mod load;
mod load_args;
mod quantity;
mod sample;
mod schema;
mod sink;
mod summary;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Mode};

fn main() -> ExitCode {
    let outcome = match Cli::parse().mode {
        Mode::Load(args) => load::run(&args),
        Mode::Sink(args) => sink::run(&args),
        Mode::Sample(args) => sample::run(&args),
        Mode::Facts(args) => facts::run(&args),
        Mode::Agent => agent::run(),
        Mode::Schema(args) => schema::run(&args),
    };
    outcome.unwrap_or_else(|failure| console::complain(&failure))
}
