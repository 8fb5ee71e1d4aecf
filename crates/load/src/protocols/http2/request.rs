//! Requests of HTTP/2: a header block for each path, written once.

use steelyard_hpack::write;
use steelyard_wire::job::HttpOperation;

use super::frame::{CONTINUATION, END_HEADERS, END_STREAM, HEADERS, LONGEST_PAYLOAD, write_head};
use crate::error::LoadError;
use crate::payload::Marker;
use crate::plan::target::Target;
use crate::protocols::http::request::{MARKER_FIELD, body, check, declares_length, paths};

const AUTHORITY: u8 = 1;
const METHOD_GET: u8 = 2;
const METHOD_POST: u8 = 3;
const PATH_ROOT: u8 = 4;
const SCHEME_HTTP: u8 = 6;
const SCHEME_HTTPS: u8 = 7;
const CONTENT_LENGTH: u8 = 28;

/// Fields that belong to a connection of HTTP/1.1 and may not be sent.
const FORBIDDEN: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// The requests of a job.
#[derive(Debug, Clone)]
pub struct Requests {
    blocks: Vec<Vec<u8>>,
    /// Of every request.
    pub body: Vec<u8>,
    scratch: Vec<u8>,
}

impl Requests {
    /// Writes the blocks of `operation`.
    pub fn new(operation: &HttpOperation, target: &Target) -> Result<Self, LoadError> {
        check(operation)?;
        check_fields(operation)?;
        let body = body(operation)?;
        let blocks = paths(operation, target)
            .iter()
            .map(|path| block(operation, target, path, body.len()))
            .collect();
        Ok(Self {
            blocks,
            body,
            scratch: Vec::new(),
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Appends request `index` on `stream`, without its body.
    pub fn write(&mut self, index: usize, stream: u32, marker: Option<&Marker>, out: &mut Vec<u8>) {
        let end = if self.body.is_empty() { END_STREAM } else { 0 };
        let block = &self.blocks[index];
        if marker.is_none() && block.len() <= LONGEST_PAYLOAD {
            write_head(block.len(), HEADERS, end | END_HEADERS, stream, out);
            out.extend_from_slice(block);
            return;
        }
        self.scratch.clear();
        self.scratch.extend_from_slice(block);
        if let Some(marker) = marker {
            let mut value = Vec::with_capacity(128);
            marker.write(&mut value);
            write::named_field(&mut self.scratch, MARKER_FIELD.as_bytes(), &value);
        }
        write_in_parts(&self.scratch, end, stream, out);
    }
}

fn write_in_parts(block: &[u8], end: u8, stream: u32, out: &mut Vec<u8>) {
    let parts = block.len().div_ceil(LONGEST_PAYLOAD);
    for (number, part) in (1..).zip(block.chunks(LONGEST_PAYLOAD)) {
        let (kind, end) = if number == 1 {
            (HEADERS, end)
        } else {
            (CONTINUATION, 0)
        };
        let last = if number == parts { END_HEADERS } else { 0 };
        write_head(part.len(), kind, end | last, stream, out);
        out.extend_from_slice(part);
    }
}

fn check_fields(operation: &HttpOperation) -> Result<(), LoadError> {
    for (name, _) in &operation.headers {
        if FORBIDDEN.iter().any(|word| name.eq_ignore_ascii_case(word)) {
            return Err(LoadError::bad_job(
                format!("header {name:?} does not exist in HTTP/2"),
                "leave it out, or speak HTTP/1.1",
            ));
        }
    }
    Ok(())
}

fn block(operation: &HttpOperation, target: &Target, path: &str, body_bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    match operation.method.as_str() {
        "GET" => write::indexed(&mut out, METHOD_GET),
        "POST" => write::indexed(&mut out, METHOD_POST),
        other => write::field(&mut out, METHOD_GET, other.as_bytes()),
    }
    let secure = target.scheme == "https";
    write::indexed(&mut out, if secure { SCHEME_HTTPS } else { SCHEME_HTTP });
    let is_host = |name: &str| name.eq_ignore_ascii_case("host");
    let host = operation.headers.iter().find(|(name, _)| is_host(name));
    let authority = host.map_or(&target.authority, |(_, value)| value);
    write::field(&mut out, AUTHORITY, authority.as_bytes());
    if path == "/" {
        write::indexed(&mut out, PATH_ROOT);
    } else {
        write::field(&mut out, PATH_ROOT, path.as_bytes());
    }
    if declares_length(operation, body_bytes) {
        let length = body_bytes.to_string();
        write::field(&mut out, CONTENT_LENGTH, length.as_bytes());
    }
    for (name, value) in operation.headers.iter().filter(|(name, _)| !is_host(name)) {
        let name = name.to_ascii_lowercase();
        write::named_field(&mut out, name.as_bytes(), value.as_bytes());
    }
    out
}
