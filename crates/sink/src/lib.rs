//! Servers of known behaviour: what the load generator is calibrated and tested against.
//!
//! An HTTP/1.1 and an SMTP server on own event loops, with exact delays and injected faults.
//! A protocol is one implementation of `protocols::Protocol`; loops, timers, faults and the store
//! are shared. See `docs/reference/sink.md` for what each reply means.

mod counters;
mod date;
mod error;
mod event_loop;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
#[path = "../../../fuzz/laws/sink/mod.rs"]
pub mod fuzzing;
mod maildrop;
mod options;
mod protocols;
mod server;
mod stop;
mod store;
mod stream;
mod tls;

pub use counters::{Lateness, SinkCounters};
pub use error::SinkError;
pub use options::delay::Delay;
pub use options::fault::{Fault, FaultKind, ParseError};
pub use options::{
    BodyEnd, Certificate, DEFAULT_STORE_THREADS, FtpOptions, HttpOptions, Listen, MailOptions,
    Protocol, SinkOptions, SmtpOptions, Store, Sync, TlsServerOptions, User,
};
pub use server::serve;
pub use server::together::serve_together;
pub use stop::StopHandle;
