//! What an FTP connection remembers between two lines.

use std::net::IpAddr;

use crate::options::fault::FaultKind;
use crate::protocols::ftp::verb::Verb;

/// How a data connection is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passive {
    Extended,
    /// With the address in the reply.
    Plain,
}

/// What the data connection is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Data {
    None,
    /// The port is being opened.
    Opening(Passive, Option<FaultKind>),
    /// A port was announced to the client.
    Open,
    /// A transfer is under way.
    Moving {
        verb: Verb,
        fault: Option<FaultKind>,
        /// Where an upload goes.
        path: Option<String>,
    },
}

/// One FTP connection.
#[derive(Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is one thing that holds or not, whatever the others are"
)]
pub(crate) struct Session {
    /// Where the client has connected to; `None` without an internet address.
    pub local: Option<IpAddr>,
    /// The control connection is under TLS.
    pub secure: bool,
    /// Data connections are to be.
    pub protects: bool,
    pub named: bool,
    pub logged_in: bool,
    pub folder: String,
    pub data: Data,
    /// The rest of a line that was too long is being skipped.
    pub skips: bool,
}

impl Session {
    pub fn new(local: Option<IpAddr>, secure: bool) -> Self {
        Self {
            local,
            secure,
            protects: false,
            named: false,
            logged_in: false,
            folder: "/".to_owned(),
            data: Data::None,
            skips: false,
        }
    }

    pub fn is_moving(&self) -> bool {
        matches!(self.data, Data::Moving { .. })
    }
}
