//! Requests, serialised once.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steelyard_wire::job::{HttpOperation, HttpVersion};

use crate::error::LoadError;
use crate::payload::Marker;
use crate::plan::target::Target;
use crate::protocols::Output;

/// Name of the field that carries a payload's marker.
pub const MARKER_FIELD: &str = "x-steelyard-payload";

/// Most requests on one connection at the same time.
const MOST_AT_ONCE: u32 = 10_000;

/// One request for each path, in one buffer.
#[derive(Debug, Clone)]
pub struct Requests {
    bytes: Vec<u8>,
    each: Vec<Request>,
    marked: bool,
}

/// Where a request lies.
#[derive(Debug, Clone)]
struct Request {
    /// Copied for each operation: empty, or the head without its empty line where that differs
    /// from operation to operation, or with it where paths share a body.
    head: Range<usize>,
    /// Never copied with one slot.
    rest: Range<usize>,
}

impl Requests {
    /// Serialises the request of `operation` for each of its paths.
    pub fn new(operation: &HttpOperation, target: &Target) -> Result<Self, LoadError> {
        check(operation)?;
        let body = body(operation)?;
        let paths = paths(operation, target);
        let apart = operation.verify || (paths.len() > 1 && !body.is_empty());
        let mut bytes = if apart { body.clone() } else { Vec::new() };
        let shared = 0..bytes.len();
        let each = paths
            .iter()
            .map(|path| {
                let start = bytes.len();
                bytes.extend_from_slice(head(operation, target, path, body.len()).as_bytes());
                if !operation.verify {
                    bytes.extend_from_slice(b"\r\n");
                }
                if apart {
                    let (head, rest) = (start..bytes.len(), shared.clone());
                    return Request { head, rest };
                }
                bytes.extend_from_slice(&body);
                let (head, rest) = (0..0, start..bytes.len());
                Request { head, rest }
            })
            .collect();
        Ok(Self {
            bytes,
            each,
            marked: operation.verify,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.each.len()
    }

    /// What [`Output::tail`] points into.
    pub fn shared(&self) -> &[u8] {
        &self.bytes
    }

    /// The body of marked requests.
    pub fn marked_body(&self) -> &[u8] {
        &self.bytes[self.each[0].rest.clone()]
    }

    /// Request `index` as the only one of `out`.
    pub fn put(&self, index: usize, marker: Option<&Marker>, out: &mut Output) {
        let request = &self.each[index];
        if !request.head.is_empty() {
            out.head
                .extend_from_slice(&self.bytes[request.head.clone()]);
            self.mark(marker, &mut out.head);
        }
        out.tail = request.rest.clone();
    }

    /// Request `index` behind what is in `out` already.
    pub fn append(&self, index: usize, marker: Option<&Marker>, out: &mut Output) {
        let request = &self.each[index];
        if !request.head.is_empty() {
            out.head
                .extend_from_slice(&self.bytes[request.head.clone()]);
            self.mark(marker, &mut out.head);
        }
        out.head
            .extend_from_slice(&self.bytes[request.rest.clone()]);
    }

    fn mark(&self, marker: Option<&Marker>, head: &mut Vec<u8>) {
        if !self.marked {
            return;
        }
        if let Some(marker) = marker {
            head.extend_from_slice(MARKER_FIELD.as_bytes());
            head.extend_from_slice(b": ");
            marker.write(head);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
    }
}

/// The paths that are asked for in turn.
pub fn paths(operation: &HttpOperation, target: &Target) -> Vec<String> {
    if operation.paths.is_empty() {
        vec![target.path.clone()]
    } else {
        operation.paths.clone()
    }
}

/// The request body, whichever way the job writes it.
pub fn body(operation: &HttpOperation) -> Result<Vec<u8>, LoadError> {
    match &operation.body_base64 {
        None => Ok(operation.body.as_bytes().to_vec()),
        Some(_) if !operation.body.is_empty() => Err(LoadError::bad_job(
            "both body and body_base64 are given",
            "give one of them",
        )),
        Some(text) => STANDARD.decode(text).map_err(|error| {
            LoadError::bad_job(
                format!("body_base64 is no base64: {error}"),
                "use the alphabet with + and /, padded with =",
            )
        }),
    }
}

/// Whether a request with `length` bytes of body says so.
pub fn declares_length(operation: &HttpOperation, length: usize) -> bool {
    let expects_body = matches!(operation.method.as_str(), "POST" | "PUT" | "PATCH");
    (expects_body || length > 0) && !gives(operation, "content-length")
}

/// Whether the job has a header of this name.
pub fn gives(operation: &HttpOperation, wanted: &str) -> bool {
    operation
        .headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(wanted))
}

/// Refuses what would be no request, in either version.
pub fn check(operation: &HttpOperation) -> Result<(), LoadError> {
    if !operation.method.bytes().all(is_token_byte) || operation.method.is_empty() {
        return Err(LoadError::bad_job(
            format!("method {:?} is no word", operation.method),
            "for example GET",
        ));
    }
    for (name, value) in &operation.headers {
        let named = !name.is_empty() && name.bytes().all(is_token_byte);
        if !named || value.contains(['\r', '\n', '\0']) {
            return Err(LoadError::bad_job(
                format!("header {name:?} with {value:?} does not fit one line"),
                "write NAME: VALUE",
            ));
        }
    }
    for path in &operation.paths {
        let blank = |c: char| c.is_whitespace() || c.is_control();
        if !path.starts_with('/') || path.contains(blank) {
            return Err(LoadError::bad_job(
                format!("{path:?} is no path"),
                "write /PATH?QUERY, %20 for a blank",
            ));
        }
    }
    check_combination(operation)
}

fn check_combination(operation: &HttpOperation) -> Result<(), LoadError> {
    let at_once = operation.requests_at_once;
    if !(1..=MOST_AT_ONCE).contains(&at_once) {
        return Err(LoadError::bad_job(
            format!("{at_once} requests at once on a connection"),
            "ask for 1 to 10000",
        ));
    }
    if !operation.keep_alive && (at_once > 1 || operation.version == HttpVersion::Http2) {
        return Err(LoadError::bad_job(
            "a connection for each request can have neither a pipeline nor streams",
            "leave out one of them",
        ));
    }
    if operation.verify && operation.method == "HEAD" {
        return Err(LoadError::bad_job(
            "replies to HEAD have no body that could be verified",
            "use GET, or leave verify out",
        ));
    }
    Ok(())
}

/// Characters of methods and field names, after RFC 9110.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The head without its empty line.
fn head(operation: &HttpOperation, target: &Target, path: &str, body_bytes: usize) -> String {
    let mut text = format!("{} {} HTTP/1.1\r\n", operation.method, path);
    let mut line = |name: &str, value: &str| text.extend([name, ": ", value, "\r\n"]);
    if !gives(operation, "host") {
        line("Host", &target.authority);
    }
    if !operation.keep_alive && !gives(operation, "connection") {
        line("Connection", "close");
    }
    if declares_length(operation, body_bytes) {
        line("Content-Length", &body_bytes.to_string());
    }
    for (name, value) in &operation.headers {
        line(name, value);
    }
    text
}
