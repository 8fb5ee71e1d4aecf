//! What a sampler saw of one machine: columns of equal length over time.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleJob {
    /// 100 ms to 60 s.
    pub interval_ms: u64,
    /// Processes to follow by name, as `service` or `generator`; each with all below it.
    #[serde(default)]
    pub processes: BTreeMap<String, u32>,
    /// Paths whose block device is sampled, by name, as `store`.
    #[serde(default)]
    pub disks: BTreeMap<String, String>,
    /// Folders of control groups by name; of version 1 the folder below `cpuacct`.
    #[serde(default)]
    pub cgroups: BTreeMap<String, String>,
    /// Threads to follow together, by name.
    #[serde(default)]
    pub threads: BTreeMap<String, ThreadsJob>,
}

/// Some threads of one process, as those that are a guest's processors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadsJob {
    /// Process id.
    pub process: u32,
    /// Thread ids.
    pub ids: Vec<u32>,
}

/// Counters as read, one row per sample. Deltas and rates are the reader's business.
///
/// Column names:
/// `cpu.{user,nice,system,idle,iowait,irq,softirq,steal}_ns`, `cpu.frequency_hz`,
/// `process.NAME.{cpu_ns,run_delay_ns,user_ns,system_ns,rss_bytes,threads,blocked_threads,futex_threads,processes}`,
/// `process.NAME.{major_faults,read_bytes,write_bytes}`,
/// `cgroup.NAME.{cpu_ns,user_ns,system_ns,throttled_ns,periods,throttled_periods,memory_bytes,read_bytes,write_bytes}`,
/// `threads.NAME.{cpu_ns,run_delay_ns,user_ns,system_ns,threads}`,
/// `disk.NAME.{reads,read_bytes,read_ns,writes,write_bytes,write_ns,in_flight,io_ns,queue_ns}`,
/// `disk.NAME.{discards,discard_bytes,discard_ns,flushes,flush_ns}`,
/// `net.DEVICE.{rx_bytes,rx_packets,rx_drops,tx_bytes,tx_packets,tx_drops}`,
/// `queue.DEVICE.{packets,drops,requeues,overlimits,backlog_bytes,delayed_packets}`,
/// `memory.{total,free,available,buffers,cached,dirty,writeback,swap_free}_bytes`,
/// `memory.{major_faults,refault_anon_bytes,refault_file_bytes,swap_in_pages,swap_out_pages}`,
/// `psi.{cpu,memory,io}.{some,full}_ns`,
/// `ip.{out_requests,forwarded,out_transmits}`,
/// `tcp.{accept_queue,retransmits,listen_overflows,listen_drops,syn_retransmits,timeouts}`,
/// `tcp.dsacks_received`,
/// `switches.context`, `load.{running,blocked,average_1m_milli}`,
/// `temperature.SENSOR.millicelsius`, `power.ZONE.energy_uj`, `sampler.cpu_ns`.
/// Sources and meanings: `docs/reference/samples.md`.
/// A counter that the kernel does not offer is `null` in every row, never 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// `CLOCK_MONOTONIC` just before each row was read.
    pub monotonic_ns: Vec<u64>,
    /// How long reading each row took.
    pub read_ns: Vec<u64>,
    /// Counters by name, each as long as `monotonic_ns`.
    pub columns: BTreeMap<String, Vec<Option<u64>>>,
    /// Rows that had to be left out because the buffer was full.
    pub rows_lost: u64,
    /// What could not be sampled, and why.
    pub missing: BTreeMap<String, String>,
}
