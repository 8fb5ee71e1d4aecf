//! Where a sink listens: an address of this machine, or a path.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Before the path of a unix socket.
const UNIX: &str = "unix:";

/// An address and port, or `unix:/path`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Listen {
    /// Port 0 lets the system choose.
    Tcp(SocketAddr),
    /// A socket file. It is made at the start and removed at the end; one no one listens on is
    /// replaced.
    Unix(PathBuf),
}

impl Listen {
    /// The address, unless it is a path.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl From<SocketAddr> for Listen {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

/// Without a port any free one is meant.
impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(UNIX) {
            Some("") => Err(format!(
                "{text:?} lacks the path; write unix:/run/sink.socket"
            )),
            Some(path) => Ok(Self::Unix(path.into())),
            None => address(text).map(Self::Tcp),
        }
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let bare = || text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 0));
    text.parse()
        .or_else(|_| format!("{text}:0").parse())
        .or_else(|_| bare())
        .map_err(|_| {
            format!("{text:?} is no address; write 127.0.0.1:8080, [::1]:8080 or unix:/path")
        })
}

impl TryFrom<String> for Listen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Listen> for String {
    fn from(listen: Listen) -> Self {
        listen.to_string()
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_lack_its_port() {
        let read = |text: &str| text.parse::<Listen>().map(|listen| listen.to_string());
        assert_eq!(read("127.0.0.1").unwrap(), "127.0.0.1:0");
        assert_eq!(read("[::1]").unwrap(), "[::1]:0");
        assert_eq!(read("::1").unwrap(), "[::1]:0");
        assert_eq!(read("127.0.0.1:25").unwrap(), "127.0.0.1:25");
        assert_eq!(read("unix:/run/a").unwrap(), "unix:/run/a");
        assert!(read("localhost").is_err() && read("unix:").is_err());
    }
}
