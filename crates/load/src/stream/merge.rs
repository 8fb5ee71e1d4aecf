//! The result of a stream: what both ends have counted, side by side.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use steelyard_flow::{Ending, EndpointReport, Spec, Transport};
use steelyard_wire::result::{CountedBy, Flow, LoadResult, Stream, StreamInterval};

use super::shared::Reports;
use crate::conduct::failure_kind;
use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::report::verdict::{self, StreamEvidence};

/// The phase under which flows that broke are counted.
const PHASE: &str = "stream";

/// Both ends of one direction of one flow.
struct Ends<'a> {
    own: &'a EndpointReport,
    peer: Option<&'a EndpointReport>,
}

impl<'a> Ends<'a> {
    fn of(own: &'a EndpointReport, reports: &'a Reports) -> Self {
        let other = |peer: &&EndpointReport| peer.flow == own.flow && peer.sending != own.sending;
        Self {
            own,
            peer: reports.peer.iter().find(other),
        }
    }

    fn sender(&self) -> Option<&'a EndpointReport> {
        if self.own.sending {
            Some(self.own)
        } else {
            self.peer
        }
    }

    fn receiver(&self) -> Option<&'a EndpointReport> {
        if self.own.sending {
            self.peer
        } else {
            Some(self.own)
        }
    }

    /// Who counts: the receiver, if it says something.
    fn counter(&self) -> &'a EndpointReport {
        self.receiver().unwrap_or(self.own)
    }

    /// Why the flow ended before its time, if it did.
    fn broken(&self, spec: &Spec, handshake: bool) -> Option<ErrorKind> {
        let refused = |endpoint: &EndpointReport| match endpoint.ending {
            Ending::Refused(errno) => Some(ErrorKind::from(errno)),
            _ => None,
        };
        if let Some(kind) = refused(self.own) {
            return Some(kind);
        }
        let (Some(sender), Some(receiver)) = (self.sender(), self.receiver()) else {
            let early = handshake || self.own.ending == Ending::Closed;
            return early.then_some(ErrorKind::PeerClosedEarly);
        };
        if let Some(kind) = self.peer.and_then(refused) {
            return Some(kind);
        }
        let whole = sender.total_bytes == receiver.total_bytes;
        // What was still under way when the time to drain was over is no loss.
        let cut = receiver.ending == Ending::Cut;
        (spec.transport == Transport::Tcp && !whole && !cut).then_some(ErrorKind::ShortRead)
    }

    fn flow(&self, spec: &Spec, broken: Option<ErrorKind>) -> Flow {
        let (sender, receiver) = (self.sender(), self.receiver());
        let sent = sender.and_then(|endpoint| endpoint.datagrams);
        let arrived = receiver.and_then(|endpoint| endpoint.datagrams);
        let lost = sent.zip(arrived);
        let tcp = sender.and_then(|endpoint| endpoint.tcp);
        let udp = spec.transport == Transport::Udp;
        Flow {
            flow: self.own.flow,
            outgoing: self.own.sending,
            sent_bytes: sender.map(|endpoint| endpoint.window_bytes),
            received_bytes: receiver.map(|endpoint| endpoint.window_bytes),
            total_sent_bytes: sender.map(|endpoint| endpoint.total_bytes),
            total_received_bytes: receiver.map(|endpoint| endpoint.total_bytes),
            datagrams_sent: sent.map(|sent| sent.count),
            datagrams_received: arrived.map(|arrived| arrived.count),
            datagrams_lost: lost.map(|(sent, got)| sent.count.saturating_sub(got.count)),
            datagrams_reordered: arrived.map(|arrived| arrived.reordered),
            datagrams_duplicated: arrived.map(|arrived| arrived.duplicated),
            jitter_ns: arrived.and_then(|arrived| arrived.jitter_ns),
            rtt_ns: tcp.filter(|_| !udp).map(|tcp| tcp.rtt_ns),
            retransmits: tcp.filter(|_| !udp).map(|tcp| tcp.retransmits),
            congestion_window_bytes: tcp.map(|tcp| tcp.congestion_window_bytes),
            zero_copy_copied: sender.and_then(|endpoint| endpoint.copied),
            broken: broken.map(|kind| kind.word().to_owned()),
        }
    }
}

/// The error of flows that were over before the window began.
pub fn gone(peer: SocketAddr, reports: &Reports) -> LoadError {
    let refused = reports
        .own
        .iter()
        .find_map(|endpoint| match endpoint.ending {
            Ending::Refused(errno) => Some(ErrorKind::from(errno)),
            _ => None,
        });
    let kind = refused.unwrap_or(ErrorKind::PeerClosedEarly);
    LoadError::NoConnection {
        address: peer.to_string(),
        kind: failure_kind(kind),
        message: format!("the flows ended before the window began: {}", kind.word()),
        hint: "is `steelyard sink stream` listening there? For another far end see --no-handshake",
    }
}

/// Puts into `result` what both ends have reported.
pub fn complete(
    result: &mut LoadResult,
    spec: &Spec,
    reports: &Reports,
    interval_ns: u64,
    uncertainty_ns: Option<u64>,
    has_probes: bool,
) {
    let handshake = uncertainty_ns.is_some();
    let ends: Vec<_> = (reports.own.iter())
        .map(|own| Ends::of(own, reports))
        .collect();
    let mut flows = Vec::new();
    let mut broken: BTreeMap<String, u64> = BTreeMap::new();
    for ends in &ends {
        let why = ends.broken(spec, handshake);
        if let Some(kind) = why {
            *broken.entry(kind.word().to_owned()).or_default() += 1;
        }
        flows.push(ends.flow(spec, why));
    }
    flows.sort_by_key(|flow| (flow.flow, !flow.outgoing));
    let window_ns = result.load.window_ns;
    let rates = Rates::of(&ends, &flows, window_ns);
    let stream = Stream {
        sent_bytes_per_s: rates.bytes(true),
        sent_counted_by: spec.to_sink.then_some(if handshake {
            CountedBy::Receiver
        } else {
            CountedBy::Sender
        }),
        received_bytes_per_s: rates.bytes(false),
        sent_datagrams_per_s: rates.datagrams(true),
        received_datagrams_per_s: rates.datagrams(false),
        intervals: intervals(&ends, interval_ns, window_ns),
        peer_cpu_ns: reports.peer_cpu_ns,
        window_uncertainty_ns: uncertainty_ns,
        flows,
    };
    let evidence = StreamEvidence {
        broken: broken.values().sum(),
        flows: ends.len() as u64,
        moved_bytes: ends.iter().map(|ends| ends.counter().window_bytes).sum(),
        has_probes,
        asked_bytes_per_s: (spec.bytes_per_s > 0)
            .then_some(spec.bytes_per_s as f64 * ends.len() as f64),
        sent_bytes_per_s: rates.offered,
    };
    verdict::include_stream(&mut result.verdict, &evidence);
    if !broken.is_empty() {
        result.connection_errors.insert(PHASE.to_owned(), broken);
    }
    count_bytes(result, &ends);
    result.stream = Some(stream);
}

/// Bytes of the flows join those of the probes.
fn count_bytes(result: &mut LoadResult, ends: &[Ends<'_>]) {
    let own = |sending: bool| -> u64 {
        ends.iter()
            .filter(|ends| ends.own.sending == sending)
            .map(|ends| ends.own.window_bytes)
            .sum()
    };
    result.counts.bytes_out += own(true);
    result.counts.bytes_in += own(false);
    let window_s = result.load.window_ns as f64 / 1e9;
    result.rates.bytes_out_per_s = result.counts.bytes_out as f64 / window_s;
    result.rates.bytes_in_per_s = result.counts.bytes_in as f64 / window_s;
}

/// Per second of the window, of all flows of a direction.
struct Rates {
    /// `(outgoing, bytes, datagrams)`; none of a direction in which a flow broke.
    ways: Vec<(bool, f64, Option<f64>)>,
    /// What senders handed over, whether or not it arrived.
    offered: f64,
}

impl Rates {
    fn of(ends: &[Ends<'_>], flows: &[Flow], window_ns: u64) -> Self {
        let a_second = |count: u64| count as f64 * 1e9 / window_ns as f64;
        let ways = [true, false]
            .into_iter()
            .filter(|outgoing| {
                let mut own = flows.iter().filter(|flow| flow.outgoing == *outgoing);
                own.clone().count() > 0 && own.all(|flow| flow.broken.is_none())
            })
            .map(|outgoing| {
                let counters = || {
                    ends.iter()
                        .filter(move |ends| ends.own.sending == outgoing)
                        .map(Ends::counter)
                };
                let bytes = counters().map(|endpoint| endpoint.window_bytes).sum();
                let datagrams: Option<u64> = counters()
                    .map(|endpoint| endpoint.datagrams.map(|datagrams| datagrams.count))
                    .sum();
                (outgoing, a_second(bytes), datagrams.map(a_second))
            })
            .collect();
        let offered = ends.iter().filter_map(Ends::sender);
        Self {
            ways,
            offered: a_second(offered.map(|endpoint| endpoint.window_bytes).sum()),
        }
    }

    fn bytes(&self, outgoing: bool) -> Option<f64> {
        let way = self.ways.iter().find(|(way, ..)| *way == outgoing);
        way.map(|(_, bytes, _)| *bytes)
    }

    fn datagrams(&self, outgoing: bool) -> Option<f64> {
        let way = self.ways.iter().find(|(way, ..)| *way == outgoing);
        way.and_then(|(_, _, datagrams)| *datagrams)
    }
}

fn intervals(ends: &[Ends<'_>], interval_ns: u64, window_ns: u64) -> Vec<StreamInterval> {
    let rows = window_ns.div_ceil(interval_ns.max(1)).min(3_600);
    (0..rows as usize)
        .map(|index| {
            let counted = |sending: bool| -> u64 {
                ends.iter()
                    .filter(|ends| ends.own.sending == sending)
                    .filter_map(|ends| ends.counter().rows.get(index))
                    .map(|row| row.bytes)
                    .sum()
            };
            let senders = || {
                ends.iter()
                    .filter_map(Ends::sender)
                    .filter_map(|endpoint| endpoint.rows.get(index))
            };
            let times: Vec<u64> = senders().filter_map(|row| row.rtt_ns).collect();
            let again: Vec<u64> = senders().filter_map(|row| row.retransmits).collect();
            StreamInterval {
                start_ns: index as u64 * interval_ns,
                sent_bytes: counted(true),
                received_bytes: counted(false),
                retransmits: (!again.is_empty()).then(|| again.iter().sum()),
                rtt_ns: (!times.is_empty()).then(|| times.iter().sum::<u64>() / times.len() as u64),
            }
        })
        .collect()
}
