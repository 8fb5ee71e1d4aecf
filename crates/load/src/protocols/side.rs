//! The data connection of FTP.
//!
//! A machine asks for it with [`super::Step::OpenSide`]; the worker then asks [`super::Protocol::side_plan`]
//! what it is for, and tells [`super::Protocol::side`] what becomes of it. It is closed with the operation.

use std::net::SocketAddr;

use crate::fault::ErrorKind;

/// What a side channel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SidePlan {
    /// Where it goes.
    pub address: SideAddress,
    /// Whether it is encrypted, resuming a session of the connection that it belongs to.
    pub secure: bool,
    /// What comes in.
    pub input: SideInput,
    /// Each second it takes and gives at most this; 0 for no limit.
    pub bytes_per_s: u64,
}

/// Where a side channel goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideAddress {
    /// To this port of the peer of the connection.
    PeerPort(u16),
    /// To this address.
    At(SocketAddr),
}

/// What a side channel takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideInput {
    /// Bytes to look at: [`SideEvent::Received`].
    Bytes,
    /// Bytes to count: [`SideEvent::Discarded`].
    Count,
    /// Nothing: this side sends.
    Nothing,
}

/// What has become of a side channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideEvent<'a> {
    /// It is there; TLS, if asked for, is still to be agreed on.
    Connected,
    /// TLS is agreed on.
    Secured,
    /// Bytes have arrived.
    Received(&'a [u8]),
    /// So many bytes have arrived and were not looked at.
    Discarded(usize),
    /// The peer has sent its last byte; `clean` unless TLS ended without saying so.
    Ended {
        /// Whether nothing can have been cut off.
        clean: bool,
    },
    /// The kernel has taken the last byte, and the end after it.
    SentAll,
    /// It could not be opened, or broke.
    Failed(ErrorKind),
}
