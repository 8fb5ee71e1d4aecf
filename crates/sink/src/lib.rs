//! Servers of known behaviour: what the load generator is calibrated and tested against.
//!
//! An HTTP/1.1 and an SMTP server on own event loops, with exact delays and injected faults.
//! A protocol is one implementation of `protocol::Protocol`; loops, timers, faults and the store
//! are shared. See `docs/reference/sink.md` for what each reply means.

mod acceptor;
mod connection;
mod context;
mod counters;
mod date;
mod delay;
mod dialogue;
mod discard;
mod echo;
mod error;
mod fault;
mod filler;
mod ftp;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
#[path = "../../../fuzz/laws/sink/mod.rs"]
pub mod fuzzing;
mod http;
mod http2;
mod imap;
mod inbox;
mod link;
mod listener;
mod maildrop;
mod options;
mod output;
mod pop3;
mod protocol;
mod sasl;
mod server;
mod shape;
mod side;
mod slab;
mod smtp;
mod stop;
mod store;
mod stream;
mod tally;
mod timers;
mod tls;
mod together;
mod worker;

pub use counters::{Lateness, SinkCounters};
pub use delay::Delay;
pub use error::SinkError;
pub use fault::{Fault, FaultKind, ParseError};
pub use options::{
    BodyEnd, Certificate, DEFAULT_STORE_THREADS, FtpOptions, HttpOptions, Listen, MailOptions,
    Protocol, SinkOptions, SmtpOptions, Store, Sync, TlsServerOptions, User,
};
pub use server::serve;
pub use stop::StopHandle;
pub use together::serve_together;
