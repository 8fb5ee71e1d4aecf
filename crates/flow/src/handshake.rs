//! What generator and sink say to each other, in lines of text: `WORD key=value ...`.
//!
//! The generator opens a connection and asks for a session; the sink gives it a number. Each flow
//! names that number in its own first line (TCP) or datagram (UDP). Then the generator asks for
//! the sink's clock a few times and says when to begin, on that clock. At the end the sink tells
//! what it has counted of each endpoint.
//!
//! | from | line |
//! |---|---|
//! | generator | `steelyard-stream/2 session transport=tcp flows=1 ...` |
//! | sink | `ok session=NUMBER`, or `refused reason=...` |
//! | generator, for each flow | `steelyard-stream/2 flow session=NUMBER flow=0` |
//! | sink | `ok` |
//! | generator | `clock`, some times |
//! | sink | `clock ns=...` |
//! | generator | `begin start_ns=... window_start_ns=... window_end_ns=... interval_ns=... drain_ns=...` |
//! | sink | `ok` |
//! | generator, to end early | `end at_ns=...` |
//! | sink, when all endpoints are over | `endpoint ...` for each, then `over cpu_ns=...` |

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;

use crate::run::{LEAST_DATAGRAM, MOST_BLOCK, Run, Spec, Transport};

/// What the first line of every connection begins with.
pub const NAME: &str = "steelyard-stream/2";

/// Lines are cut off there: a peer that sends more is none of ours.
pub const LONGEST_LINE: usize = 1 << 20;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    word: String,
    pairs: Vec<(String, String)>,
}

impl Line {
    /// A line of one word.
    pub fn new(word: &str) -> Self {
        Self {
            word: word.to_owned(),
            pairs: Vec::new(),
        }
    }

    /// From text without its line feed; `None` if a pair has no value.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace().peekable();
        words.next_if_eq(&NAME);
        let word = words.next()?.to_owned();
        let pairs = words
            .map(|pair| {
                let (key, value) = pair.split_once('=')?;
                Some((key.to_owned(), value.to_owned()))
            })
            .collect::<Option<_>>()?;
        Some(Self { word, pairs })
    }

    /// The first word.
    pub fn word(&self) -> &str {
        &self.word
    }

    /// The value of `key`.
    pub fn value(&self, key: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(name, _)| name == key)?;
        Some(&pair.1)
    }

    /// The value of `key`, if it is a number.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.value(key)?.parse().ok()
    }

    #[allow(clippy::needless_pass_by_value, reason = "numbers and words alike")]
    /// Adds a pair; blanks in the value become `_`.
    pub fn put(&mut self, key: &str, value: impl ToString) -> &mut Self {
        let value = value.to_string().replace([' ', '\n', '\r', '\t'], "_");
        self.pairs.push((key.to_owned(), value));
        self
    }

    /// Adds a pair, if there is a value.
    pub fn put_some(&mut self, key: &str, value: Option<impl ToString>) -> &mut Self {
        if let Some(value) = value {
            self.put(key, value);
        }
        self
    }

    /// As sent, with its line feed.
    pub fn text(&self) -> String {
        let mut text = self.word.clone();
        for (key, value) in &self.pairs {
            text.extend([" ", key, "=", value]);
        }
        text.push('\n');
        text
    }

    /// As sent at the start of a connection.
    pub fn first_text(&self) -> String {
        format!("{NAME} {}", self.text())
    }
}

/// Lines that come over a connection, one after the other.
#[derive(Debug)]
pub struct Lines {
    stream: TcpStream,
    text: Vec<u8>,
}

impl Lines {
    /// Lines of `stream`, none of which were read.
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            text: Vec::new(),
        }
    }

    /// Where they come from.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// The connection, when no line is due any more.
    pub fn into_stream(self) -> TcpStream {
        self.stream
    }

    /// The next line; `None` when the read timeout of the stream passes first.
    ///
    /// Fails when the connection ends, or says what no line of this handshake can be.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut piece = [0; 4_096];
        loop {
            if let Some(end) = self.text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.text.drain(..=end).collect();
                let line = std::str::from_utf8(&line).ok().and_then(Line::parse);
                return line.map(Some).ok_or_else(|| ErrorKind::InvalidData.into());
            }
            if self.text.len() > LONGEST_LINE {
                return Err(ErrorKind::InvalidData.into());
            }
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.text.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Spec {
    /// The generator's first line.
    pub fn line(&self) -> Line {
        let flag = |yes: bool| u8::from(yes);
        let mut line = Line::new("session");
        line.put(
            "transport",
            match self.transport {
                Transport::Tcp => "tcp",
                Transport::Udp => "udp",
            },
        )
        .put("flows", self.flows)
        .put("to_sink", flag(self.to_sink))
        .put("from_sink", flag(self.from_sink))
        .put("block_bytes", self.block_bytes)
        .put("bytes_per_s", self.bytes_per_s)
        .put("buffer_bytes", self.buffer_bytes)
        .put_some("congestion", self.congestion.as_ref())
        .put("zero_copy", flag(self.zero_copy))
        .put("offload", flag(self.offload));
        line
    }

    /// The inverse of [`Spec::line`]; what is wrong otherwise.
    pub fn of(line: &Line) -> Result<Self, String> {
        let number = |key: &str| {
            line.number(key)
                .ok_or_else(|| format!("{key} is missing or no number"))
        };
        let spec = Self {
            transport: match line.value("transport") {
                Some("tcp") => Transport::Tcp,
                Some("udp") => Transport::Udp,
                _ => return Err("transport is neither tcp nor udp".to_owned()),
            },
            flows: number("flows")? as u32,
            to_sink: number("to_sink")? == 1,
            from_sink: number("from_sink")? == 1,
            block_bytes: number("block_bytes")? as u32,
            bytes_per_s: number("bytes_per_s")?,
            buffer_bytes: number("buffer_bytes")? as u32,
            congestion: line.value("congestion").map(str::to_owned),
            zero_copy: number("zero_copy")? == 1,
            offload: number("offload")? == 1,
        };
        spec.check()?;
        Ok(spec)
    }

    /// What is wrong with it, if something is.
    pub fn check(&self) -> Result<(), String> {
        let sizes = match self.transport {
            Transport::Tcp => 1..=MOST_BLOCK,
            Transport::Udp => LEAST_DATAGRAM..=steelyard_net::datagram::LONGEST as u32,
        };
        if !sizes.contains(&self.block_bytes) {
            return Err(format!(
                "a block of {} bytes is out of range: {} to {}",
                self.block_bytes,
                sizes.start(),
                sizes.end()
            ));
        }
        if self.flows == 0 || self.flows > 10_000 {
            return Err(format!("{} flows: 1 to 10000", self.flows));
        }
        Ok(())
    }
}

impl Run {
    /// The line that begins a run, on a clock that is `ahead_ns` ahead of this one.
    pub fn line(&self, ahead_ns: i64) -> Line {
        let there = |at_ns: u64| at_ns.saturating_add_signed(ahead_ns);
        let mut line = Line::new("begin");
        line.put("start_ns", there(self.start_ns))
            .put("window_start_ns", there(self.window_start_ns))
            .put("window_end_ns", there(self.window_end_ns()))
            .put("interval_ns", self.interval_ns)
            .put("drain_ns", self.drain_ns);
        line
    }

    /// The inverse of [`Run::line`].
    pub fn of(line: &Line) -> Option<Self> {
        Some(Self::new(
            line.number("start_ns")?,
            line.number("window_start_ns")?,
            line.number("window_end_ns")?,
            line.number("interval_ns")?,
            line.number("drain_ns")?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec {
            transport: Transport::Udp,
            flows: 2,
            to_sink: true,
            from_sink: false,
            block_bytes: 64,
            bytes_per_s: 1_000,
            buffer_bytes: 0,
            congestion: Some("bbr".to_owned()),
            zero_copy: false,
            offload: true,
        }
    }

    #[test]
    fn a_session_is_read_as_it_was_asked_for() {
        let text = spec().line().first_text();
        assert!(text.starts_with("steelyard-stream/2 session transport=udp"));
        assert_eq!(Spec::of(&Line::parse(&text).unwrap()), Ok(spec()));
    }

    #[test]
    fn a_datagram_too_small_for_its_head_is_refused() {
        let small = Spec {
            block_bytes: 23,
            ..spec()
        };
        assert!(Spec::of(&small.line()).unwrap_err().contains("24"));
    }

    #[test]
    fn a_run_is_sent_on_the_clock_of_the_listener() {
        let line = Run::new(1_000, 2_000, 3_000, 10, 5).line(-500);
        let run = Run::of(&line).unwrap();
        assert_eq!((run.start_ns, run.window_end_ns()), (500, 2_500));
        assert_eq!((run.interval_ns, run.drain_ns), (10, 5));
    }

    #[test]
    fn blanks_in_a_value_do_not_tear_a_line() {
        let mut line = Line::new("refused");
        line.put("reason", "no such\nthing");
        assert_eq!(
            Line::parse(&line.text()).unwrap().value("reason"),
            Some("no_such_thing")
        );
        assert_eq!(Line::parse("word pair"), None);
    }
}
