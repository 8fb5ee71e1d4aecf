//! Options of `tcp://`, the connect probe.

use clap::Args;

/// Only for `tcp://`.
#[derive(Debug, Args)]
pub(crate) struct ConnectArgs {
    /// A further target; may be given several times, probes take all in turn.
    #[arg(long = "target", value_name = "HOST:PORT")]
    pub(crate) targets: Vec<String>,
}
