//! What an endpoint does next, and how it ends.

use rustix::io::Errno;

/// "No instant": never reached.
pub const NEVER: u64 = u64::MAX;

/// What an endpoint does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// There is more to do at once.
    Again,
    /// Nothing until the socket is ready, or that instant.
    Wait(u64),
    /// It has come to its end.
    Over(Ending),
}

/// How an endpoint came to its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ending {
    /// Sent or read to the end.
    #[default]
    InOrder,
    /// The time to drain was over before the end was read.
    Cut,
    /// The peer closed while bytes were due from it.
    Closed,
    /// The system refused to go on.
    Refused(Errno),
}
