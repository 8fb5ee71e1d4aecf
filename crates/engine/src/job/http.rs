//! From the options of `http://` to an operation.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steelyard_wire::agent::Failure;
use steelyard_wire::job::{HttpOperation, HttpVersion};

use super::urls;
use crate::failure::{bad_request, refused_path};
use crate::load_args::LoadArgs;

/// What one request is.
pub(super) fn operation(all: &LoadArgs) -> Result<HttpOperation, Failure> {
    let (args, target) = (&all.http, all.url.as_deref().unwrap_or_default());
    let headers = args.headers.iter().map(|line| header(line));
    let (body, body_base64) = args
        .body
        .as_deref()
        .map_or(Ok((String::new(), None)), body)?;
    let usual = if body.is_empty() && body_base64.is_none() {
        "GET"
    } else {
        "POST"
    };
    Ok(HttpOperation {
        method: args.method.clone().unwrap_or_else(|| usual.to_owned()),
        headers: headers.collect::<Result<_, _>>()?,
        body,
        body_base64,
        keep_alive: !args.disable_keepalive,
        strict: args.strict,
        version: if args.http2 {
            HttpVersion::Http2
        } else {
            HttpVersion::Http1
        },
        requests_at_once: args.pipeline.or(args.streams).unwrap_or(1),
        paths: args
            .urls
            .as_deref()
            .map_or(Ok(Vec::new()), |file| urls::paths(file, target))?,
        verify: all.payload.verify,
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

/// The body as text, or in base64 if it is none.
fn body(text: &str) -> Result<(String, Option<String>), Failure> {
    let Some(path) = text.strip_prefix('@').map(Path::new) else {
        return Ok((text.to_owned(), None));
    };
    let bytes = std::fs::read(path).map_err(|error| refused_path("read", path, &error))?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(binary) => (String::new(), Some(STANDARD.encode(binary.as_bytes()))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_no_text_travels_in_base64() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("body");
        std::fs::write(&path, [0xff, 0, 1]).unwrap();
        let read = body(&format!("@{}", path.display())).unwrap();
        assert_eq!(read, (String::new(), Some("/wAB".to_owned())));
        std::fs::write(&path, "text").unwrap();
        let read = body(&format!("@{}", path.display())).unwrap();
        assert_eq!(read, ("text".to_owned(), None));
    }
}
