//! What the HTTP sink answers.

use clap::Args;
use steelyard_sink::{BodyEnd, HttpOptions};

use crate::quantity::size_bytes;

#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct HttpSinkArgs {
    /// Length of every HTTP body [default: 128].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) body_bytes: Option<u64>,
    /// Status of every good HTTP reply [default: 200].
    #[arg(long, value_name = "CODE")]
    pub(crate) status: Option<u16>,
    /// Send HTTP bodies in chunks.
    #[arg(long, conflicts_with = "close_delimited")]
    pub(crate) chunked: bool,
    /// End HTTP bodies by closing the connection, as in HTTP/1.0.
    #[arg(long)]
    pub(crate) close_delimited: bool,
    /// Interim reply before every good HTTP reply, as 103.
    #[arg(long, value_name = "CODE")]
    pub(crate) interim: Option<u16>,
    /// Say in every HTTP reply what its body must be; without it only where the request does so.
    #[arg(long)]
    pub(crate) payload: bool,
}

impl HttpSinkArgs {
    pub(crate) fn given(&self) -> Vec<&'static str> {
        super::named(&[
            (self.body_bytes.is_some(), "--body-bytes"),
            (self.status.is_some(), "--status"),
            (self.chunked, "--chunked"),
            (self.close_delimited, "--close-delimited"),
            (self.interim.is_some(), "--interim"),
            (self.payload, "--payload"),
        ])
    }

    pub(crate) fn options(&self) -> HttpOptions {
        let default = HttpOptions::default();
        HttpOptions {
            status: self.status.unwrap_or(default.status),
            body_bytes: self.body_bytes.unwrap_or(default.body_bytes),
            body_end: match (self.chunked, self.close_delimited) {
                (true, _) => BodyEnd::Chunked,
                (_, true) => BodyEnd::Close,
                _ => BodyEnd::Length,
            },
            interim: self.interim,
            payload: self.payload,
        }
    }
}
