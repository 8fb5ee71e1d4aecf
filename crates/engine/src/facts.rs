//! `facts`: what is true of this machine while nothing runs.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use steelyard_wire::agent::FailureKind;
use steelyard_wire::facts::Facts;

use crate::args::FactsArgs;
use crate::console::{Outcome, print};
use crate::failure::failure;

/// Version of this binary.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run(args: &FactsArgs) -> Outcome {
    let facts = collect();
    print(&if args.json {
        let text = serde_json::to_string_pretty(&facts);
        text.map_err(|error| failure(FailureKind::System, error.to_string(), None))? + "\n"
    } else {
        table(&facts)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Facts of this machine and of this binary.
pub(crate) fn collect() -> Facts {
    let mut facts = steelyard_sampler::facts(Path::new("/"));
    let version = Some(VERSION.to_owned());
    facts.values.insert("engine.version".to_owned(), version);
    facts
}

fn table(facts: &Facts) -> String {
    let mut text = String::new();
    for (name, value) in &facts.values {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<44} {}", value.as_deref().unwrap_or("-"));
    }
    text
}
