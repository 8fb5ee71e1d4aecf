//! One HTTP request and its whole reply.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One HTTP request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpOperation {
    /// Request method.
    pub method: String,
    /// Extra header lines, `(name, value)`; a `Host` here replaces the default.
    pub headers: Vec<(String, String)>,
    /// Request body.
    pub body: String,
    /// Request body that is no text, in base64; instead of `body`.
    pub body_base64: Option<String>,
    /// Reuse the connection for the next request (HTTP/1.1 only).
    pub keep_alive: bool,
    /// Run the full parser on every reply, never the learned shortcut.
    pub strict: bool,
    /// The version of HTTP on the connection.
    pub version: HttpVersion,
    /// Requests under way on one connection: pipelined by HTTP/1.1, streams of HTTP/2.
    /// A user (closed mode) is a connection and keeps so many under way.
    pub requests_at_once: u32,
    /// Paths that are asked for in turn instead of the target's; figures are kept for each.
    pub paths: Vec<String>,
    /// Send a checked payload (`x-steelyard-payload`) and verify the body that comes back.
    pub verify: bool,
}

impl Default for HttpOperation {
    fn default() -> Self {
        Self {
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: String::new(),
            body_base64: None,
            keep_alive: true,
            strict: false,
            version: HttpVersion::Http1,
            requests_at_once: 1,
            paths: Vec::new(),
            verify: false,
        }
    }
}

/// The version of HTTP on the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HttpVersion {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2: by prior knowledge in clear text, by ALPN with TLS.
    Http2,
}
