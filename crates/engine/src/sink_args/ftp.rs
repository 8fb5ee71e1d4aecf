//! What the FTP sink keeps and asks for.

use clap::Args;
use steelyard_sink::FtpOptions;

use crate::quantity::size_bytes;

#[derive(Debug, Args)]
#[command(next_help_heading = "FTP")]
pub(crate) struct FtpSinkArgs {
    /// Most bytes of uploaded files kept in memory, 0 for none [default: 64MiB].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) keep_bytes: Option<u64>,
    /// Refuse data connections whose TLS resumes no session (522).
    #[arg(long)]
    pub(crate) require_reuse: bool,
}

impl FtpSinkArgs {
    pub(crate) fn given(&self) -> Vec<&'static str> {
        super::named(&[
            (self.keep_bytes.is_some(), "--keep-bytes"),
            (self.require_reuse, "--require-reuse"),
        ])
    }

    pub(crate) fn options(&self) -> FtpOptions {
        FtpOptions {
            keep_bytes: self.keep_bytes.unwrap_or(FtpOptions::default().keep_bytes),
            require_reuse: self.require_reuse,
        }
    }
}
