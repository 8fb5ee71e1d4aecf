//! Bulk flows: bytes as fast as they go, or at a pace, and the latency beside them.
//!
//! Not a protocol of the generic worker: its operations have answers, a flow has none. The endpoints
//! of the flows are moved by [`steelyard_flow::drive`], the same loop as at the far end; what is
//! here opens them, agrees with the sink on window and counts, and makes the result.

mod coordinator;
mod dial;
mod merge;
mod probes;
mod shared;
mod work;

use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;

use steelyard_flow::{Spec, Transport};
use steelyard_net::socket::Address;
use steelyard_wire::job::{Direction, LoadJob, Mode, StreamOperation};
use steelyard_wire::result::LoadResult;

use crate::conduct::job_workers::About;
use crate::conduct::{Watch, conduct};
use crate::error::LoadError;
use crate::measurement::host;
use crate::plan::Plan;
use crate::plan::target::Target;
use crate::protocols::Protocol;
use crate::protocols::request_response::RequestResponse;
use crate::report;

/// Of one write, unless the job says otherwise: well above what a call costs, and it stays in the
/// cache between two of them.
const TCP_BLOCK: u32 = 128 * 1024;

/// Fits into one Ethernet frame, with room for a tunnel.
const UDP_BLOCK: u32 = 1_400;

/// From the decision to start until flows begin, beside the round trips: the sink has to start
/// its threads.
const START_AHEAD_NS: u64 = 20_000_000;

/// Runs the flows of `operation` to their end.
pub fn run(
    job: &LoadJob,
    operation: &StreamOperation,
    watch: &Watch<'_>,
) -> Result<LoadResult, LoadError> {
    let target = Target::resolve(&job.target, job.unix_socket.as_deref())?;
    let mut plan = Plan::new(job, target.address.clone())?;
    let peer = peer(&target)?;
    let spec = spec(&plan, operation, transport(&target)?)?;
    let host = host::facts();
    let mut call = if operation.handshake {
        Some(dial::Call::open(&plan, peer, &spec)?)
    } else {
        None
    };
    let flows = dial::flows(&plan, peer, &spec, call.as_ref())?;
    plan.start_ahead_ns = START_AHEAD_NS + 4 * call.as_ref().map_or(0, |call| call.round_trip_ns);
    let probes = probes::Probes::new(&plan, peer, operation.latency_probes_per_s)?;
    let unloaded = probes
        .as_ref()
        .map(|probes| probes.unloaded(watch))
        .transpose()?;
    let uncertainty_ns = call.as_ref().map(|call| call.round_trip_ns / 2);
    let shared = shared::StreamRun::new(&plan, &spec, call.as_ref().map_or(0, dial::Call::tag));
    let interval_ns = plan.interval_ns;
    let works = shared.works(flows, call.take(), probes.as_ref());
    let outcome = conduct(&plan, watch, works);
    let reports = shared.into_reports()?;
    let outcome = outcome.map_err(|error| match error {
        // No one has: the flows were over before the window began.
        LoadError::Cancelled if !watch.cancel.load(Relaxed) => merge::gone(peer, &reports),
        error => error,
    })?;
    let about = About {
        phases: RequestResponse::PHASES
            .iter()
            .map(ToString::to_string)
            .collect(),
        kinds: Vec::new(),
        // Flows have no rounds, so that no law of users holds.
        one_shot: true,
        slots: 1,
    };
    let mut result = report::result(&plan, &target, host, &about, outcome)?;
    merge::complete(
        &mut result,
        &spec,
        &reports,
        interval_ns,
        uncertainty_ns,
        probes.is_some(),
    );
    if let Some(unloaded) = unloaded {
        result.latency_ns.insert("unloaded".to_owned(), unloaded);
    }
    Ok(result)
}

fn transport(target: &Target) -> Result<Transport, LoadError> {
    match target.scheme.as_str() {
        "stream+tcp" => Ok(Transport::Tcp),
        "stream+udp" => Ok(Transport::Udp),
        scheme => Err(LoadError::bad_job(
            format!("the operation is not one of {scheme}://"),
            "operation and target must name the same protocol",
        )),
    }
}

fn peer(target: &Target) -> Result<SocketAddr, LoadError> {
    match target.address {
        Address::Inet(address) | Address::Datagram(address) => Ok(address),
        Address::Unix(_) => Err(LoadError::bad_job(
            "streams go over IP, not over a unix socket",
            "leave the unix socket out",
        )),
    }
}

/// What is to be sent, checked.
fn spec(plan: &Plan, operation: &StreamOperation, transport: Transport) -> Result<Spec, LoadError> {
    check(plan, operation, transport)?;
    let block_bytes = match (operation.block_bytes, transport) {
        (0, Transport::Tcp) => TCP_BLOCK,
        (0, Transport::Udp) => UDP_BLOCK,
        (bytes, _) => bytes,
    };
    let spec = Spec {
        transport,
        flows: plan.connections(),
        to_sink: operation.direction != Direction::Receive,
        from_sink: operation.direction != Direction::Send,
        block_bytes,
        bytes_per_s: operation.bytes_per_s as u64,
        buffer_bytes: operation.socket_buffer_bytes,
        congestion: operation.congestion.clone(),
        zero_copy: operation.zero_copy,
        offload: operation.segment_offload,
    };
    match spec.check() {
        Ok(()) => Ok(spec),
        Err(problem) => Err(LoadError::bad_job(problem, "change the size or the number")),
    }
}

fn check(plan: &Plan, operation: &StreamOperation, transport: Transport) -> Result<(), LoadError> {
    let refuse = |message: &str, hint: &'static str| Err(LoadError::bad_job(message, hint));
    if matches!(plan.job.mode, Mode::Open { .. }) {
        return refuse(
            "a stream has no operations to start at a rate",
            "leave the rate out; a pace in bytes a second is possible",
        );
    }
    if plan.ends_by_count() || plan.job.duration_ns.is_none() {
        return refuse(
            "a stream ends by time, not by a number of operations",
            "give a duration",
        );
    }
    if !operation.handshake && operation.latency_probes_per_s > 0.0 {
        return refuse(
            "latency probes need a sink that answers them",
            "leave them out, or stream to a sink with the handshake",
        );
    }
    if !operation.handshake && transport == Transport::Udp && operation.direction != Direction::Send
    {
        return refuse(
            "without a handshake no one sends numbered datagrams",
            "send, or stream from a sink with the handshake",
        );
    }
    let paced = operation.bytes_per_s;
    if !(0.0..=1e12).contains(&paced) || paced > 0.0 && paced < 1.0 {
        return refuse(
            "bytes_per_s is out of range",
            "between 1 and 1e12, or 0 for none",
        );
    }
    Ok(())
}
