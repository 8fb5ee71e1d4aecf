//! Options of `http://` and `https://`.

use clap::Args;

/// Only for `http://`.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    /// Header line, may be given several times.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// Request method [default: GET, POST with a body].
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// Request body, or @FILE to read it (any bytes).
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    /// A new connection for every request.
    #[arg(long)]
    pub(crate) disable_keepalive: bool,
    /// HTTP/2: by prior knowledge in clear text, by ALPN with https.
    #[arg(long)]
    pub(crate) http2: bool,
    /// HTTP/2: requests under way on one connection [default: 1].
    #[arg(long, value_name = "N", requires = "http2")]
    pub(crate) streams: Option<u32>,
    /// HTTP/1.1: requests sent ahead on one connection [default: 1].
    #[arg(long, value_name = "N", conflicts_with = "http2")]
    pub(crate) pipeline: Option<u32>,
    /// Ask for the URLs in FILE in turn, one a line; all on the host of the target.
    #[arg(long, value_name = "FILE")]
    pub(crate) urls: Option<String>,
    /// Run the full parser on every reply, never the learned shortcut.
    #[arg(long)]
    pub(crate) strict: bool,
}
