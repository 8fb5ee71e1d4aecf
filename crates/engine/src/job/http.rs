//! From the options of `http://` to an operation.

use std::path::Path;

use steelyard_wire::agent::Failure;
use steelyard_wire::job::HttpOperation;

use crate::failure::{bad_request, refused_path};
use crate::load_args::HttpArgs;

/// What one request is.
pub(super) fn operation(args: &HttpArgs) -> Result<HttpOperation, Failure> {
    let headers = args.headers.iter().map(|line| header(line));
    let body = args.body.as_deref().map_or(Ok(String::new()), body)?;
    let usual = if body.is_empty() { "GET" } else { "POST" };
    Ok(HttpOperation {
        method: args.method.clone().unwrap_or_else(|| usual.to_owned()),
        headers: headers.collect::<Result<_, _>>()?,
        body,
        keep_alive: !args.disable_keepalive,
        strict: args.strict,
        ..HttpOperation::default()
    })
}

fn header(line: &str) -> Result<(String, String), Failure> {
    match line.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(bad_request(
            format!("{line:?} is no header"),
            "write it as 'Name: value'",
        )),
    }
}

fn body(text: &str) -> Result<String, Failure> {
    let Some(path) = text.strip_prefix('@').map(Path::new) else {
        return Ok(text.to_owned());
    };
    std::fs::read_to_string(path).map_err(|error| refused_path("read", path, &error))
}
