//! What streams have moved, flow by flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What streams have moved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// Of each flow and direction.
    pub flows: Vec<Flow>,
    /// Payload that left here, counted by `sent_counted_by`; `null` when a flow broke.
    pub sent_bytes_per_s: Option<f64>,
    /// Who counted what left here; `null` if nothing should.
    pub sent_counted_by: Option<CountedBy>,
    /// Payload that arrived here; `null` when a flow broke.
    pub received_bytes_per_s: Option<f64>,
    /// UDP: datagrams that left here, a second, as the receiver counted them.
    pub sent_datagrams_per_s: Option<f64>,
    /// UDP: datagrams that arrived here, a second.
    pub received_datagrams_per_s: Option<f64>,
    /// Of each interval of `series`, over all flows: payload bytes sent and received.
    pub intervals: Vec<StreamInterval>,
    /// CPU time of the far end in the window, if it is a sink that says so.
    pub peer_cpu_ns: Option<u64>,
    /// How far apart the two ends may have begun and ended their windows.
    pub window_uncertainty_ns: Option<u64>,
}

/// The end of a flow that counted its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountedBy {
    /// Who read them: they did arrive.
    Receiver,
    /// Who handed them to the kernel: some may have stayed there.
    Sender,
}

/// One direction of one flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Number of the flow, from 0; with `both` there are two of each number.
    pub flow: u32,
    /// Whether it is sent from here; otherwise it is received here.
    pub outgoing: bool,
    /// Payload bytes handed to the kernel at the sending end, in the window.
    pub sent_bytes: Option<u64>,
    /// Payload bytes read at the receiving end, in the window.
    pub received_bytes: Option<u64>,
    /// The same from the first byte of the flow to its last, warm-up included.
    pub total_sent_bytes: Option<u64>,
    /// Equal to `total_sent_bytes` when a TCP flow ended in order.
    pub total_received_bytes: Option<u64>,
    /// Datagrams sent in the window; UDP only, like the five below.
    pub datagrams_sent: Option<u64>,
    /// Datagrams of these that arrived.
    pub datagrams_received: Option<u64>,
    /// Datagrams of these that did not arrive.
    pub datagrams_lost: Option<u64>,
    /// Datagrams of these that arrived after a later one.
    pub datagrams_reordered: Option<u64>,
    /// Datagrams of these that arrived once more; in no other count.
    pub datagrams_duplicated: Option<u64>,
    /// Jitter after RFC 3550, at the end.
    pub jitter_ns: Option<u64>,
    /// TCP only, of the sending end, like the two below: smoothed round-trip time at the end.
    pub rtt_ns: Option<u64>,
    /// Segments sent again in the window.
    pub retransmits: Option<u64>,
    /// Congestion window at the end.
    pub congestion_window_bytes: Option<u64>,
    /// Writes with `zero_copy` whose bytes the kernel copied all the same.
    pub zero_copy_copied: Option<u64>,
    /// Why it ended before its time, a kind of failure; its counts are not to be used.
    pub broken: Option<String>,
}

/// One interval of a stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamInterval {
    /// Start of the interval from the window's start.
    pub start_ns: u64,
    /// Payload bytes sent from here, counted by `sent_counted_by`.
    pub sent_bytes: u64,
    /// Payload bytes received here.
    pub received_bytes: u64,
    /// TCP: segments sent again, of the flows whose sender said so.
    pub retransmits: Option<u64>,
    /// TCP: mean smoothed round-trip time over the flows.
    pub rtt_ns: Option<u64>,
}
