//! What one end has counted of one endpoint, and how it is reported to the other in one line.

use rustix::io::Errno;

use crate::handshake::Line;
use crate::ledger::Row;
use crate::step::Ending;

/// What one end has counted of one endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointReport {
    /// Number of the flow.
    pub flow: u32,
    /// Whether this end sends.
    pub sending: bool,
    /// From the first byte to the last.
    pub total_bytes: u64,
    /// Of the window.
    pub window_bytes: u64,
    /// UDP only.
    pub datagrams: Option<Datagrams>,
    /// TCP only, where the kernel says it.
    pub tcp: Option<TcpFacts>,
    /// Zero-copy writes that were copied all the same; only with them.
    pub copied: Option<u64>,
    /// Intervals of the window.
    pub rows: Vec<Row>,
    /// How it came to its end.
    pub ending: Ending,
}

/// Datagrams of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Datagrams {
    /// Sent, or arrived for the first time.
    pub count: u64,
    /// Payload bytes of these.
    pub bytes: u64,
    /// Receiver: arrived after a later one.
    pub reordered: u64,
    /// Receiver: arrived once more.
    pub duplicated: u64,
    /// Receiver: after RFC 3550.
    pub jitter_ns: Option<u64>,
}

/// What TCP said at the window's end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpFacts {
    /// Smoothed round-trip time.
    pub rtt_ns: u64,
    /// Segments sent again in the window.
    pub retransmits: u64,
    /// Bytes that may be under way.
    pub congestion_window_bytes: u64,
}

impl EndpointReport {
    /// As one line.
    pub fn write(&self) -> String {
        let mut line = Line::new("endpoint");
        line.put("flow", self.flow)
            .put("way", if self.sending { "send" } else { "receive" })
            .put("total_bytes", self.total_bytes)
            .put("window_bytes", self.window_bytes);
        if let Some(datagrams) = &self.datagrams {
            line.put("datagrams", datagrams.count)
                .put("datagram_bytes", datagrams.bytes)
                .put("reordered", datagrams.reordered)
                .put("duplicated", datagrams.duplicated)
                .put_some("jitter_ns", datagrams.jitter_ns);
        }
        if let Some(tcp) = &self.tcp {
            line.put("rtt_ns", tcp.rtt_ns)
                .put("retransmits", tcp.retransmits)
                .put("congestion_window_bytes", tcp.congestion_window_bytes);
        }
        line.put_some("copied", self.copied);
        let rows: Vec<String> = self.rows.iter().map(write_row).collect();
        line.put("rows", rows.join(","));
        match self.ending {
            Ending::InOrder => {}
            Ending::Cut => _ = line.put("ending", "cut"),
            Ending::Closed => _ = line.put("ending", "closed"),
            Ending::Refused(errno) => _ = line.put("ending", errno.raw_os_error()),
        }
        line.text()
    }

    /// From one line; `None` if it is not one of these.
    pub fn read(line: &Line) -> Option<Self> {
        let datagrams = match line.number("datagrams") {
            Some(count) => Some(read_datagrams(line, count)?),
            None => None,
        };
        let tcp = match line.number("rtt_ns") {
            Some(rtt_ns) => Some(read_tcp(line, rtt_ns)?),
            None => None,
        };
        Some(Self {
            flow: line.number("flow")? as u32,
            sending: line.value("way")? == "send",
            total_bytes: line.number("total_bytes")?,
            window_bytes: line.number("window_bytes")?,
            datagrams,
            tcp,
            copied: line.number("copied"),
            rows: line
                .value("rows")
                .filter(|text| !text.is_empty())
                .map_or(Some(Vec::new()), |text| {
                    text.split(',').map(read_row).collect()
                })?,
            ending: match line.value("ending") {
                None => Ending::InOrder,
                Some("cut") => Ending::Cut,
                Some("closed") => Ending::Closed,
                Some(errno) => Ending::Refused(Errno::from_raw_os_error(errno.parse().ok()?)),
            },
        })
    }
}

/// A count that the other end did not tell is not 0: such a line is none of these.
fn read_datagrams(line: &Line, count: u64) -> Option<Datagrams> {
    Some(Datagrams {
        count,
        bytes: line.number("datagram_bytes")?,
        reordered: line.number("reordered")?,
        duplicated: line.number("duplicated")?,
        jitter_ns: line.number("jitter_ns"),
    })
}

fn read_tcp(line: &Line, rtt_ns: u64) -> Option<TcpFacts> {
    Some(TcpFacts {
        rtt_ns,
        retransmits: line.number("retransmits")?,
        congestion_window_bytes: line.number("congestion_window_bytes")?,
    })
}

fn write_row(row: &Row) -> String {
    let some = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    format!(
        "{}:{}:{}",
        row.bytes,
        some(row.retransmits),
        some(row.rtt_ns)
    )
}

fn read_row(text: &str) -> Option<Row> {
    let mut parts = text.split(':');
    let bytes = parts.next()?.parse().ok()?;
    let mut some = || match parts.next() {
        Some("") => Some(None),
        Some(digits) => digits.parse().ok().map(Some),
        None => None,
    };
    Some(Row {
        bytes,
        retransmits: some()?,
        rtt_ns: some()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let udp = EndpointReport {
            flow: 3,
            total_bytes: 10,
            window_bytes: 9,
            datagrams: Some(Datagrams {
                count: 8,
                bytes: 7,
                reordered: 6,
                duplicated: 5,
                jitter_ns: None,
            }),
            ending: Ending::Refused(Errno::CONNREFUSED),
            ..EndpointReport::default()
        };
        let tcp = EndpointReport {
            sending: true,
            tcp: Some(TcpFacts {
                rtt_ns: 1,
                retransmits: 2,
                congestion_window_bytes: 3,
            }),
            copied: Some(0),
            rows: vec![
                Row {
                    bytes: 5,
                    retransmits: Some(0),
                    rtt_ns: Some(4),
                },
                Row::default(),
            ],
            ending: Ending::Cut,
            ..EndpointReport::default()
        };
        for report in [udp, tcp, EndpointReport::default()] {
            let line = Line::parse(&report.write()).unwrap();
            assert_eq!(EndpointReport::read(&line), Some(report));
        }
    }

    #[test]
    fn a_line_without_counts_is_no_report() {
        for text in [
            "endpoint flow=1 way=send",
            "endpoint",
            "endpoint flow=x way=send total_bytes=1",
            "endpoint flow=1 way=receive total_bytes=1 window_bytes=1 datagrams=1 datagram_bytes=1",
            "endpoint flow=1 way=send total_bytes=1 window_bytes=1 rtt_ns=5 retransmits=0",
        ] {
            assert_eq!(
                EndpointReport::read(&Line::parse(text).unwrap()),
                None,
                "{text}"
            );
        }
    }
}
