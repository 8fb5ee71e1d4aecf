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
    /// Request body, or @FILE to read it.
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    /// A new connection for every request.
    #[arg(long)]
    pub(crate) disable_keepalive: bool,
    /// Run the full parser on every reply, never the learned shortcut.
    #[arg(long)]
    pub(crate) strict: bool,
}
