//! Streams as text.

use std::fmt::{Result, Write};

use steelyard_wire::job::{Direction, Operation};
use steelyard_wire::result::{CountedBy, Flow, LoadResult, Stream};

use super::{time, write_head, write_latency};

/// More flows than these are shown together only.
const MOST_FLOWS: usize = 16;

/// What was asked for.
pub(super) fn load(result: &LoadResult) -> String {
    let Operation::Stream(operation) = &result.load.job.operation else {
        return String::new();
    };
    let flows = result.load.connections_asked;
    let direction = match operation.direction {
        Direction::Send => "to the target",
        Direction::Receive => "from the target",
        Direction::Both => "in both directions",
    };
    let pace = match operation.bytes_per_s {
        0.0 => String::new(),
        per_s => format!(" at {} each", bits(per_s)),
    };
    format!(
        "{flows} flow{} {direction}{pace}",
        if flows == 1 { "" } else { "s" }
    )
}

/// What was moved, and at what cost.
pub(super) fn write(text: &mut String, result: &LoadResult, stream: &Stream) -> Result {
    for (name, outgoing, per_s, datagrams) in [
        (
            "sent",
            true,
            stream.sent_bytes_per_s,
            stream.sent_datagrams_per_s,
        ),
        (
            "received",
            false,
            stream.received_bytes_per_s,
            stream.received_datagrams_per_s,
        ),
    ] {
        let flows: Vec<&Flow> = (stream.flows.iter())
            .filter(|flow| flow.outgoing == outgoing)
            .collect();
        if !flows.is_empty() {
            write_way(text, name, per_s, datagrams, &flows)?;
        }
    }
    if stream.sent_counted_by == Some(CountedBy::Sender) {
        writeln!(
            text,
            "            counted by this end: part of it may not have arrived"
        )?;
    }
    write_cost(text, result, stream)?;
    if (2..=MOST_FLOWS).contains(&stream.flows.len()) {
        write_flows(text, result, stream)?;
    }
    for flow in &stream.flows {
        if let Some(kind) = &flow.broken {
            writeln!(text, "flow {} ended before its time: {kind}", flow.flow)?;
        }
    }
    write_probes(text, result)
}

fn write_way(
    text: &mut String,
    name: &str,
    per_s: Option<f64>,
    datagrams: Option<f64>,
    flows: &[&Flow],
) -> Result {
    let per_s = per_s.map_or("no figure: a flow broke".to_owned(), bits);
    writeln!(text, "{name:<12}{per_s}")?;
    let sum =
        |of: fn(&Flow) -> Option<u64>| -> Option<u64> { flows.iter().map(|flow| of(flow)).sum() };
    if let Some(per_s) = datagrams {
        writeln!(text, "datagrams   {per_s:.0}/s arrived")?;
    }
    if let (Some(sent), Some(lost)) = (sum(|f| f.datagrams_sent), sum(|f| f.datagrams_lost)) {
        let share = 100.0 * lost as f64 / sent.max(1) as f64;
        let jitter = flows.iter().filter_map(|flow| flow.jitter_ns).max();
        writeln!(
            text,
            "            {lost} of {sent} lost ({share:.3} %), {} reordered, {} duplicated, jitter {}",
            sum(|f| f.datagrams_reordered).unwrap_or(0),
            sum(|f| f.datagrams_duplicated).unwrap_or(0),
            jitter.map_or("-".to_owned(), time)
        )?;
    }
    if let Some(again) = sum(|flow| flow.retransmits) {
        let round_trip = flows.iter().filter_map(|flow| flow.rtt_ns).max();
        writeln!(
            text,
            "tcp         {again} segments sent again; round trip {}",
            round_trip.map_or("-".to_owned(), time)
        )?;
    }
    if let Some(copied) = sum(|flow| flow.zero_copy_copied).filter(|copied| *copied > 0) {
        writeln!(
            text,
            "            {copied} zero-copy writes were copied after all"
        )?;
    }
    Ok(())
}

/// CPU for the bytes, of both ends.
fn write_cost(text: &mut String, result: &LoadResult, stream: &Stream) -> Result {
    let moved = stream.sent_bytes_per_s.unwrap_or(0.0) + stream.received_bytes_per_s.unwrap_or(0.0);
    let gigabytes = moved * result.load.window_ns as f64 / 1e18;
    if gigabytes <= 0.0 {
        return Ok(());
    }
    let cpu = &result.cpu;
    let own_s = (cpu.user_ns + cpu.system_ns).saturating_sub(cpu.spin_ns) as f64 / 1e9;
    let peer = stream.peer_cpu_ns.map_or(String::new(), |ns| {
        format!(", {:.3} s at the far end", ns as f64 / 1e9 / gigabytes)
    });
    writeln!(
        text,
        "CPU         {:.3} s a GB here{peer}",
        own_s / gigabytes
    )
}

fn write_flows(text: &mut String, result: &LoadResult, stream: &Stream) -> Result {
    let window_s = result.load.window_ns as f64 / 1e9;
    writeln!(text)?;
    for flow in &stream.flows {
        let bytes = flow.received_bytes.or(flow.sent_bytes).unwrap_or(0);
        let way = if flow.outgoing { "sent" } else { "received" };
        let number = flow.flow;
        let per_s = bits(bytes as f64 / window_s);
        writeln!(text, "flow {number:<4} {way:<9} {per_s}")?;
    }
    Ok(())
}

fn write_probes(text: &mut String, result: &LoadResult) -> Result {
    let Some(unloaded) = result.latency_ns.get("unloaded") else {
        return Ok(());
    };
    write_head(text, "latency")?;
    write_latency(text, "unloaded", unloaded)?;
    for (name, shown) in [
        ("response", "under load"),
        ("service", "service"),
        ("lateness", "lateness"),
    ] {
        if let Some(latency) = result.latency_ns.get(name) {
            write_latency(text, shown, latency)?;
        }
    }
    Ok(())
}

/// Bytes a second in both of the units that people use.
fn bits(bytes_per_s: f64) -> String {
    let per_s = bytes_per_s * 8.0;
    let (value, unit) = match per_s {
        ..1e6 => (per_s / 1e3, "kbit/s"),
        ..1e9 => (per_s / 1e6, "Mbit/s"),
        _ => (per_s / 1e9, "Gbit/s"),
    };
    format!("{} ({value:.2} {unit})", super::bytes_rate(bytes_per_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_shown_in_bytes_and_in_bits() {
        assert_eq!(bits(125e6), "125.0 MB/s (1.00 Gbit/s)");
        assert_eq!(bits(1_000.0), "1.0 kB/s (8.00 kbit/s)");
    }
}
