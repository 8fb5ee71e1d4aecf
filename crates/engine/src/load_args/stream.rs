//! Options of `stream+tcp://`, `stream+udp://`, `rr+tcp://` and `rr+udp://`.

use clap::{Args, ValueEnum};

use crate::quantity::size_bytes;

/// Only for `rr+tcp://` and `rr+udp://`.
#[derive(Debug, Args)]
pub(crate) struct RequestResponseArgs {
    /// Size of each request, at least 16 [default: 64].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) request_size: Option<u64>,
    /// Size of each response [default: 64].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) response_size: Option<u64>,
    /// A new connection for each request; TCP only.
    #[arg(long)]
    pub(crate) connect_each: bool,
}

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DirectionArg {
    /// To the target.
    Send,
    /// From the target.
    Receive,
    /// Both at the same time.
    Both,
}

/// Only for `stream+tcp://` and `stream+udp://`; `--connections` is the number of flows.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    /// Which way the bytes go [default: send].
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        value_name = "send|receive|both"
    )]
    pub(crate) direction: Option<DirectionArg>,
    /// Size of each write [default: 128KiB] or of each datagram's payload [default: 1400].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) block: Option<u64>,
    /// Bytes a second of each flow, as 10MB [default: as fast as it goes].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) pace: Option<u64>,
    /// Size of the socket buffers [default: left to the kernel].
    #[arg(long, value_parser = size_bytes, value_name = "SIZE")]
    pub(crate) socket_buffer: Option<u64>,
    /// Congestion control of TCP [default: the system's].
    #[arg(long, value_name = "NAME")]
    pub(crate) congestion: Option<String>,
    /// TCP: send without copying.
    #[arg(long)]
    pub(crate) zero_copy: bool,
    /// UDP: one datagram at a time, none cut or joined by the kernel.
    #[arg(long)]
    pub(crate) no_offload: bool,
    /// The target is no sink: send to it (or read from it) and believe the own count.
    #[arg(long)]
    pub(crate) no_handshake: bool,
    /// Small requests a second beside the flows, to see latency under load.
    #[arg(long, value_name = "PER_SECOND")]
    pub(crate) latency_probes: Option<f64>,
}
