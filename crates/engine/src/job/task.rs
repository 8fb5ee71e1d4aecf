//! From the command line, or a file, to what is to be done.

use std::path::Path;

use clap::ArgMatches;
use steelyard_wire::agent::Failure;
use steelyard_wire::find::FindJob;
use steelyard_wire::job::LoadJob;

use super::{find, probe};
use crate::failure::{bad_request, refused_path};
use crate::load_args::LoadArgs;

/// What `load` is asked for.
#[derive(Debug)]
pub(crate) enum Task {
    /// One run.
    Run(Box<LoadJob>),
    /// Single operations, reported as they end.
    Probe(Box<LoadJob>),
    /// A search.
    Find(Box<FindJob>),
}

/// What arguments, or the file that they name, ask for.
pub(crate) fn task(args: &LoadArgs, matches: &ArgMatches) -> Result<Task, Failure> {
    if let Some(path) = &args.job {
        return of_file(Path::new(path));
    }
    let load = super::job(args, matches)?;
    Ok(match args.find.find {
        None if args.probe.probe => Task::Probe(Box::new(probe::job(args, load)?)),
        None => Task::Run(Box::new(load)),
        Some(over) => Task::Find(Box::new(find::job(args, over, load))),
    })
}

/// A job or a search as JSON; a search is known by its `limits`.
fn of_file(path: &Path) -> Result<Task, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| refused_path("read", path, &error))?;
    let wrong = |error: serde_json::Error| {
        bad_request(
            format!("{}: {error}", path.display()),
            "see schemas/load-job.schema.json and schemas/load-find-job.schema.json",
        )
    };
    let document: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
    // Read from the text again: a value would not know line and column of a mistake.
    if document.get("limits").is_some() {
        serde_json::from_str(&text).map(Task::Find).map_err(wrong)
    } else {
        serde_json::from_str(&text).map(Task::Run).map_err(wrong)
    }
}
