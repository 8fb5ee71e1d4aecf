//! What the HTTP sink answers.

use clap::Args;

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
}

impl HttpSinkArgs {
    pub(crate) fn given(&self) -> Vec<&'static str> {
        super::named(&[
            (self.body_bytes.is_some(), "--body-bytes"),
            (self.status.is_some(), "--status"),
        ])
    }
}
