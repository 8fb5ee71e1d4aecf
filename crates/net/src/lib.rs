//! The little that every event loop of the engine shares: clock, poller, non-blocking sockets.
//!
//! Own epoll loops instead of an async runtime: see `docs/decisions/`.

pub mod barrier;
pub mod bulk;
pub mod checksum;
pub mod clock;
pub mod datagram;
pub mod machine;
pub mod poller;
pub mod socket;
pub mod stream;
pub mod usage;
