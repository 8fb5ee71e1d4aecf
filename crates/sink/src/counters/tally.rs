//! Counters of one event loop: plain integers, added up when all loops have ended.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::counters::{Lateness, SinkCounters};
use crate::options::fault::FaultKind;

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ok,
    Failed,
}

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    AcceptFdLimit,
    AcceptOther,
    PeerReset,
    PeerClosedEarly,
    BadRequest,
    HeadTooLarge,
    LineTooLong,
    UnknownCommand,
    BadArgument,
    BadSequence,
    BadRecipient,
    TooManyRecipients,
    MessageTooLarge,
    StoreNoSpace,
    StoreQuota,
    StorePermission,
    StoreResource,
    StoreIo,
    StoreCancelled,
    IdleTimeout,
    TlsNotTls,
    TlsNothingInCommon,
    TlsCertificateRefused,
    TlsRefusedByPeer,
    TlsClosedInHandshake,
    TlsHandshakeOther,
    TlsBroken,
    TlsCutShort,
    TlsInjected,
    LoginFailed,
    MailboxBusy,
    NoSuchMessage,
    MailboxFull,
}

impl ErrorKind {
    const NAMES: [&'static str; 33] = [
        "accept_fd_limit",
        "accept_other",
        "peer_reset",
        "peer_closed_early",
        "bad_request",
        "head_too_large",
        "line_too_long",
        "unknown_command",
        "bad_argument",
        "bad_sequence",
        "bad_recipient",
        "too_many_recipients",
        "message_too_large",
        "store_no_space",
        "store_quota",
        "store_permission",
        "store_resource",
        "store_io",
        "store_cancelled",
        "idle_timeout",
        "tls_not_tls",
        "tls_nothing_in_common",
        "tls_certificate_refused",
        "tls_refused_by_peer",
        "tls_closed_in_handshake",
        "tls_handshake_other",
        "tls_broken",
        "tls_cut_short",
        "tls_injected",
        "login_failed",
        "mailbox_busy",
        "no_such_message",
        "mailbox_full",
    ];
}

/// Lateness above a minute counts as a minute in the percentiles; the largest is kept exactly.
const LATEST_NS: u64 = 60_000_000_000;

/// One number for each kind; a type of its own because long arrays have no default.
#[derive(Debug)]
struct Errors([u64; ErrorKind::NAMES.len()]);

impl Default for Errors {
    fn default() -> Self {
        Self([0; ErrorKind::NAMES.len()])
    }
}

/// Counters of one event loop.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub connections: u64,
    pub open_at_stop: u64,
    pub commands: u64,
    pub received: u64,
    pub ok: u64,
    pub failed: u64,
    pub unanswered: u64,
    pub stored_files: u64,
    pub stored_bytes: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub tls_handshakes: u64,
    pub tls_resumed: u64,
    pub faults: [u64; FaultKind::ALL.len()],
    errors: Errors,
    lateness: Option<Histogram<u64>>,
    late_max_ns: u64,
}

impl Tally {
    /// One more of this kind.
    pub fn error(&mut self, kind: ErrorKind) {
        self.errors.0[kind as usize] += 1;
    }

    /// The end of an operation, if it is one.
    pub fn count(&mut self, verdict: Option<Verdict>) {
        match verdict {
            Some(Verdict::Ok) => self.ok += 1,
            Some(Verdict::Failed) => self.failed += 1,
            None => {}
        }
    }

    /// A delayed reply left so much too late.
    pub fn late(&mut self, late_ns: u64) {
        if self.lateness.is_none() {
            // Cannot fail: the bounds are in order and two digits are possible.
            self.lateness = Histogram::new_with_bounds(1, LATEST_NS, 2).ok();
        }
        if let Some(histogram) = &mut self.lateness {
            histogram.saturating_record(late_ns);
            self.late_max_ns = self.late_max_ns.max(late_ns);
        }
    }
}

/// The counters of the whole sink.
pub(crate) fn total(tallies: &[Tally]) -> SinkCounters {
    let sum = |field: fn(&Tally) -> u64| tallies.iter().map(field).sum::<u64>();
    SinkCounters {
        connections: sum(|tally| tally.connections),
        connections_open_at_stop: sum(|tally| tally.open_at_stop),
        commands: sum(|tally| tally.commands),
        received: sum(|tally| tally.received),
        ok: sum(|tally| tally.ok),
        failed: sum(|tally| tally.failed),
        unanswered: sum(|tally| tally.unanswered),
        stored_files: sum(|tally| tally.stored_files),
        stored_bytes: sum(|tally| tally.stored_bytes),
        bytes_in: sum(|tally| tally.bytes_in),
        bytes_out: sum(|tally| tally.bytes_out),
        tls_handshakes: sum(|tally| tally.tls_handshakes),
        tls_resumed: sum(|tally| tally.tls_resumed),
        errors: by_name(&ErrorKind::NAMES, tallies, |tally| &tally.errors.0),
        faults: by_name(&FaultKind::ALL.map(FaultKind::name), tallies, |tally| {
            &tally.faults
        }),
        lateness: lateness(tallies),
    }
}

fn by_name(
    names: &[&str],
    tallies: &[Tally],
    column: fn(&Tally) -> &[u64],
) -> BTreeMap<String, u64> {
    names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let count = tallies.iter().map(|tally| column(tally)[index]).sum();
            ((*name).to_owned(), count)
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn lateness(tallies: &[Tally]) -> Option<Lateness> {
    let mut parts = tallies.iter().filter_map(|tally| tally.lateness.as_ref());
    let mut all = parts.next()?.clone();
    for part in parts {
        // Cannot fail: all have the same bounds.
        let _ = all.add(part);
    }
    Some(Lateness {
        count: all.len(),
        p50_ns: all.value_at_quantile(0.5),
        p99_ns: all.value_at_quantile(0.99),
        max_ns: tallies.iter().map(|tally| tally.late_max_ns).max()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add_up_and_kinds_that_never_occurred_are_left_out() {
        let mut first = Tally::default();
        first.count(Some(Verdict::Ok));
        first.error(ErrorKind::StoreCancelled);
        first.late(10);
        let mut second = Tally::default();
        second.count(Some(Verdict::Ok));
        second.error(ErrorKind::StoreCancelled);
        second.late(1_000_003);
        let all = total(&[first, second]);
        assert_eq!(all.ok, 2);
        assert_eq!(
            all.errors,
            BTreeMap::from([("store_cancelled".to_owned(), 2)])
        );
        assert!(all.faults.is_empty());
        let lateness = all.lateness.unwrap();
        assert_eq!((lateness.count, lateness.max_ns), (2, 1_000_003));
        assert_eq!(lateness.p50_ns, 10);
        assert!(
            (1_000_003..1_020_000).contains(&lateness.p99_ns),
            "{lateness:?}"
        );
    }
}
