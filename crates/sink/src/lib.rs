//! Servers of known behaviour: what the load generator is calibrated and tested against.

mod counters;
mod delay;
mod error;
mod fault;
mod options;
mod stop;

use std::net::SocketAddr;

pub use counters::{Lateness, SinkCounters};
pub use delay::Delay;
pub use error::SinkError;
pub use fault::{Fault, FaultKind, ParseError};
pub use options::{
    DEFAULT_STORE_THREADS, HttpOptions, Protocol, SinkOptions, SmtpOptions, Store, Sync,
};
pub use stop::StopHandle;

/// Serves until `stop` is pulled; `ready` is told the bound address once, before the first accept.
pub fn serve(
    options: &SinkOptions,
    _stop: &StopHandle,
    _ready: impl FnOnce(SocketAddr),
) -> Result<SinkCounters, SinkError> {
    Err(SinkError::AddressInUse(options.listen))
}
