//! Probes of the network: connects, requests and responses, streams.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One TCP connection, reset as soon as it is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectOperation {
    /// Further targets, `HOST:PORT`; probes take all in turn, figures are kept for each.
    pub targets: Vec<String>,
}

/// So many bytes there, so many back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RequestResponseOperation {
    /// Size of the request; at least 16.
    pub request_bytes: u32,
    /// Size of the response.
    pub response_bytes: u32,
    /// TCP only: a new connection for each (netperf's CRR).
    pub connect_each: bool,
}

impl Default for RequestResponseOperation {
    fn default() -> Self {
        Self {
            request_bytes: 64,
            response_bytes: 64,
            connect_each: false,
        }
    }
}

/// Bytes as fast as they go, or at a pace.
///
/// The users of a closed job are its flows; each has a connection of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StreamOperation {
    /// Which way the bytes go.
    pub direction: Direction,
    /// Bytes of one write (TCP; 0 for 128 KiB) or one datagram's payload (UDP; 0 for 1400, at
    /// least 24).
    pub block_bytes: u32,
    /// Pace of each flow and direction; 0 for as fast as it goes.
    pub bytes_per_s: f64,
    /// Socket buffers; 0 leaves them to the kernel (UDP: 4 MiB, as far as the system allows).
    pub socket_buffer_bytes: u32,
    /// Congestion control of TCP, for example `bbr`; the system's without.
    pub congestion: Option<String>,
    /// TCP: send without copying (`MSG_ZEROCOPY`).
    pub zero_copy: bool,
    /// UDP: let the kernel cut and join datagrams (`UDP_SEGMENT`, `UDP_GRO`), where it can.
    pub segment_offload: bool,
    /// Agree with a sink on flows, window and counts; without it the target may be any server
    /// that takes or gives bytes, and only what this end counts is known.
    pub handshake: bool,
    /// Small requests a second beside the flows, to see latency under load; 0 for none.
    pub latency_probes_per_s: f64,
}

impl Default for StreamOperation {
    fn default() -> Self {
        Self {
            direction: Direction::Send,
            block_bytes: 0,
            bytes_per_s: 0.0,
            socket_buffer_bytes: 0,
            congestion: None,
            zero_copy: false,
            segment_offload: true,
            handshake: true,
            latency_probes_per_s: 0.0,
        }
    }
}

/// Which way the bytes of a stream go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From here to the target.
    Send,
    /// From the target to here.
    Receive,
    /// Both at the same time.
    Both,
}
