//! `schema --out FOLDER`: the JSON schemas of every document that crosses a process boundary.

use std::path::Path;
use std::process::ExitCode;

use steelyard_wire::agent::{Failure, FailureKind};

use crate::args::SchemaArgs;
use crate::console::Outcome;
use crate::failure::{failure, refused_path};

pub(crate) fn run(args: &SchemaArgs) -> Outcome {
    for (name, text) in documents()? {
        write(&args.out.join(name), &text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| refused_path("write", path, &error))
}

/// File name and content of every schema.
fn documents() -> Result<Vec<(String, String)>, Failure> {
    steelyard_wire::schema::all()
        .iter()
        .map(|(name, schema)| {
            let text = serde_json::to_string_pretty(schema)
                .map_err(|error| failure(FailureKind::System, error.to_string(), None))?;
            Ok((format!("{name}.schema.json"), text + "\n"))
        })
        .collect()
}
