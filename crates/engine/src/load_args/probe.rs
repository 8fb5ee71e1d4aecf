//! Options of the probe: one operation at a time, reported as it ends.

use clap::Args;

use crate::quantity::duration_ns;

/// `--probe`.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// As ping: one operation each --interval, on a connection of its own, and a line with its
    /// phases when it ends; figures at the end, or at Ctrl-C.
    #[arg(
        long,
        conflicts_with_all = [
            "job", "connections", "threads", "rate", "think", "warmup", "unbounded", "find",
        ]
    )]
    pub(crate) probe: bool,
    /// Time from one probe to the next, whether or not the earlier one is answered.
    #[arg(short, long, value_parser = duration_ns, default_value = "1s", requires = "probe", value_name = "TIME")]
    pub(crate) interval: u64,
}
