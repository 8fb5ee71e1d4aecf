//! Replies of the SMTP server.

use std::io::Write;

use crate::counters::tally::ErrorKind;
use crate::options::SmtpOptions;
use crate::options::fault::FaultKind;
use crate::protocols::smtp::command::Verb;
use crate::store::StoreError;

pub(crate) const LINE_TOO_LONG: &str = "500 5.5.2 Line too long\r\n";

/// The answer to one command or message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    text: Text,
    /// Counted, if it is one.
    pub error: Option<ErrorKind>,
    /// The connection ends with it.
    pub close: bool,
    /// TLS begins after it.
    pub start_tls: bool,
}

#[derive(Debug, Clone, Copy)]
enum Text {
    Fixed(&'static str),
    Banner,
    Helo,
    /// With STARTTLS or without.
    Ehlo(bool),
}

impl Answer {
    const fn new(text: Text) -> Self {
        Self {
            text,
            error: None,
            close: false,
            start_tls: false,
        }
    }

    pub fn fixed(reply: &'static str) -> Self {
        Self::new(Text::Fixed(reply))
    }

    pub fn wrong(kind: ErrorKind, reply: &'static str) -> Self {
        Self {
            error: Some(kind),
            ..Self::fixed(reply)
        }
    }

    pub fn closing(self) -> Self {
        Self {
            close: true,
            ..self
        }
    }

    pub fn banner() -> Self {
        Self::new(Text::Banner)
    }

    pub fn helo() -> Self {
        Self::new(Text::Helo)
    }

    /// What is offered, TLS among it or not.
    pub fn ehlo(starttls: bool) -> Self {
        Self::new(Text::Ehlo(starttls))
    }

    pub fn starting_tls() -> Self {
        Self {
            start_tls: true,
            ..Self::fixed("220 2.0.0 Ready for TLS\r\n")
        }
    }

    pub fn accepted() -> Self {
        Self::fixed("250 2.0.0 Ok\r\n")
    }

    pub fn too_large() -> Self {
        Self::wrong(
            ErrorKind::MessageTooLarge,
            "552 5.3.4 Message exceeds the size limit\r\n",
        )
    }

    /// 452 where room may come back, 451 for the rest: the sender keeps the message either way.
    pub fn not_stored(error: StoreError) -> Self {
        Self::wrong(
            error.kind(),
            match error {
                StoreError::NoSpace | StoreError::Quota => {
                    "452 4.3.1 Insufficient system storage\r\n"
                }
                StoreError::Cancelled => "451 4.3.2 Shutting down, not stored\r\n",
                StoreError::Permission | StoreError::Resource | StoreError::Io => {
                    "451 4.3.0 Could not be stored\r\n"
                }
            },
        )
    }

    /// The answer a fault puts in place of the real one, if it is of that kind.
    pub fn refusing(verb: Verb, fault: Option<FaultKind>) -> Option<Self> {
        let first = verb == Verb::Connect;
        match fault? {
            FaultKind::Reject if first => {
                Some(Self::fixed("554 5.3.2 No service here\r\n").closing())
            }
            FaultKind::Tempfail if first => {
                Some(Self::fixed("421 4.3.2 Try again later\r\n").closing())
            }
            FaultKind::Reject => Some(Self::fixed("550 5.7.1 Rejected\r\n")),
            FaultKind::Tempfail => Some(Self::fixed("451 4.7.1 Try again later\r\n")),
            _ => None,
        }
    }

    /// 2xx or 3xx.
    pub fn is_positive(&self) -> bool {
        match self.text {
            Text::Fixed(reply) => reply.starts_with(['2', '3']),
            Text::Banner | Text::Helo | Text::Ehlo(_) => true,
        }
    }

    pub fn write(&self, name: Name<'_>, options: &SmtpOptions, out: &mut Vec<u8>) {
        let Name { host, protocol } = name;
        // Writing to a Vec cannot fail.
        let _ = match self.text {
            Text::Fixed(reply) => out.write_all(reply.as_bytes()),
            Text::Banner => write!(out, "220 {host} {protocol} Steelyard sink\r\n"),
            Text::Helo => write!(out, "250 {host}\r\n"),
            Text::Ehlo(starttls) => {
                let offer = |offered: bool, line| if offered { line } else { "" };
                write!(
                    out,
                    "250-{host}\r\n{}{}{}250-SIZE {}\r\n250-8BITMIME\r\n\
                     250-AUTH PLAIN LOGIN\r\n250 ENHANCEDSTATUSCODES\r\n",
                    offer(options.pipelining, "250-PIPELINING\r\n"),
                    offer(options.chunking, "250-CHUNKING\r\n"),
                    offer(starttls, "250-STARTTLS\r\n"),
                    options.max_message_bytes,
                )
            }
        };
    }
}

/// How the server calls itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name<'a> {
    pub host: &'a str,
    /// `ESMTP` or `LMTP`.
    pub protocol: &'static str,
}

/// The reply to open connections when the sink stops.
pub(crate) fn farewell(host: &str, out: &mut Vec<u8>) {
    // Writing to a Vec cannot fail.
    let _ = write!(out, "421 4.3.2 {host} is shutting down\r\n");
}

/// The reply to a connection that was idle for too long.
pub(crate) fn too_idle(host: &str, out: &mut Vec<u8>) {
    // Writing to a Vec cannot fail.
    let _ = write!(out, "421 4.4.2 {host} has waited long enough\r\n");
}
