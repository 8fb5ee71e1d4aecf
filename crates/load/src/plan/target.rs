//! Where the load goes: a URL, taken apart and resolved.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use steelyard_net::socket::Address;

use crate::error::LoadError;

/// A target that has an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As asked for.
    pub url: String,
    /// A word of [`SCHEMES`].
    pub scheme: String,
    /// TLS from the first byte.
    pub secured: bool,
    /// Host as it stands in the URL, without brackets.
    pub host: String,
    /// Host and port as they stand in the URL, for a `Host` header.
    pub authority: String,
    /// Path and query, at least `/`.
    pub path: String,
    /// The address of the host, or the unix socket instead of it.
    pub address: Address,
}

/// A scheme, its port where the URL names none, and whether it is TLS from the first byte.
const SCHEMES: &[(&str, Option<u16>, bool)] = &[
    ("http", Some(80), false),
    ("https", Some(443), true),
    ("smtp", Some(25), false),
    ("smtps", Some(465), true),
    ("lmtp", Some(24), false),
    ("pop3", Some(110), false),
    ("pop3s", Some(995), true),
    ("imap", Some(143), false),
    ("imaps", Some(993), true),
    ("ftp", Some(21), false),
    ("ftps", Some(990), true),
    ("tcp", None, false),
    ("rr+tcp", None, false),
    ("rr+udp", None, false),
    ("stream+tcp", None, false),
    ("stream+udp", None, false),
];

const WANTED: &str = "write SCHEME://HOST:PORT, for example http://127.0.0.1:8080/";

impl Target {
    /// Takes `url` apart and resolves its host, unless connections go to `unix_socket`.
    pub fn resolve(url: &str, unix_socket: Option<&str>) -> Result<Self, LoadError> {
        let parts = Parts::of(url)?;
        let address = match unix_socket {
            Some(path) => Address::Unix(PathBuf::from(path)),
            None => resolve(parts.host, parts.port)?,
        };
        Ok(Self {
            url: url.to_owned(),
            scheme: parts.scheme.to_owned(),
            secured: parts.secured,
            host: parts.host.to_owned(),
            authority: parts.authority.to_owned(),
            path: parts.path,
            address,
        })
    }
}

/// How long an address of several may take to accept a connection.
const ACCEPTS_WITHIN: Duration = Duration::from_secs(1);

/// The address of `host`; of several the first that accepts a connection.
///
/// `localhost` is `::1` before it is `127.0.0.1`, and most servers listen on one of them.
/// Where none accepts, the first is what the load fails on.
pub fn resolve(host: &str, port: u16) -> Result<Address, LoadError> {
    let addresses: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|error| unresolved(host, &error.to_string()))?
        .collect();
    first_accepting(&addresses)
        .map(Address::Inet)
        .ok_or_else(|| unresolved(host, "it has no address"))
}

fn first_accepting(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let first = *addresses.first()?;
    if addresses.iter().all(|address| *address == first) {
        return Some(first);
    }
    let accepting = addresses
        .iter()
        .find(|address| TcpStream::connect_timeout(address, ACCEPTS_WITHIN).is_ok());
    Some(*accepting.unwrap_or(&first))
}

struct Parts<'a> {
    scheme: &'a str,
    secured: bool,
    authority: &'a str,
    host: &'a str,
    port: u16,
    path: String,
}

impl<'a> Parts<'a> {
    fn of(url: &'a str) -> Result<Self, LoadError> {
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| LoadError::bad_job(format!("target {url:?} has no scheme"), WANTED))?;
        let (_, default_port, secured) = SCHEMES
            .iter()
            .find(|(name, _, _)| *name == scheme)
            .ok_or_else(|| LoadError::bad_job(format!("unknown scheme {scheme:?}"), WANTED))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let cut = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let (host, port) = host_and_port(authority, *default_port).ok_or_else(|| {
            LoadError::bad_job(format!("target {url:?} has no valid host and port"), WANTED)
        })?;
        let unprintable = |c: char| c.is_whitespace() || c.is_control();
        if path.contains(unprintable) || authority.contains(unprintable) {
            return Err(LoadError::bad_job(
                format!("target {url:?} contains blanks"),
                "write %20 for a blank",
            ));
        }
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        Ok(Self {
            scheme,
            secured: *secured,
            authority,
            host,
            port,
            path,
        })
    }
}

fn host_and_port(authority: &str, default_port: Option<u16>) -> Option<(&str, u16)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (
                host,
                after.strip_prefix(':').or(after.is_empty().then_some("")),
            )
        }
        None => authority
            .split_once(':')
            .map_or((authority, Some("")), |(host, port)| (host, Some(port))),
    };
    let port = match port? {
        "" => default_port?,
        digits => digits.parse().ok().filter(|port| *port > 0)?,
    };
    (!host.is_empty()).then_some((host, port))
}

fn unresolved(host: &str, reason: &str) -> LoadError {
    LoadError::Unresolved {
        host: host.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use steelyard_wire::agent::FailureKind;

    use super::*;

    fn inet(address: &str) -> Address {
        Address::Inet(address.parse().unwrap())
    }

    #[test]
    fn a_target_is_taken_apart_into_address_and_path() {
        let target = Target::resolve("http://127.0.0.1:8080/a?b=1#top", None).unwrap();
        assert_eq!(target.address, inet("127.0.0.1:8080"));
        assert_eq!(target.path, "/a?b=1");
        assert_eq!(target.authority, "127.0.0.1:8080");
    }

    #[test]
    fn ports_have_the_default_of_their_scheme() {
        let address = |url| Target::resolve(url, None).unwrap().address;
        assert_eq!(address("smtp://127.0.0.1"), inet("127.0.0.1:25"));
        assert_eq!(address("http://[::1]"), inet("[::1]:80"));
        assert_eq!(address("http://[::1]:81/"), inet("[::1]:81"));
        assert!(Target::resolve("tcp://127.0.0.1", None).is_err());
    }

    #[test]
    fn of_several_addresses_the_first_that_accepts_is_taken() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap();
        let closed: SocketAddr = "127.0.0.2:1".parse().unwrap();
        assert_eq!(first_accepting(&[closed, open]), Some(open));
        assert_eq!(first_accepting(&[closed, closed]), Some(closed));
        assert_eq!(first_accepting(&[]), None);
    }

    #[test]
    fn a_unix_socket_takes_the_place_of_the_host() {
        let target = Target::resolve("http://app.invalid/x", Some("/run/app")).unwrap();
        assert_eq!(target.address, Address::Unix(PathBuf::from("/run/app")));
        assert_eq!(target.authority, "app.invalid");
    }

    #[test]
    fn a_target_that_makes_no_sense_is_refused_with_a_hint() {
        for url in [
            "127.0.0.1:80",
            "http://",
            "http://:80/",
            "http://h:port/",
            "http://h:0/",
            "gopher://h/",
            "http://[::1",
            "http://h/a b",
        ] {
            let error = Target::resolve(url, None).unwrap_err();
            assert_eq!(error.kind(), FailureKind::BadRequest, "{url}");
            assert!(error.hint().is_some(), "{url}");
        }
    }

    #[test]
    fn a_host_without_an_address_is_unreachable() {
        let error = Target::resolve("http://no-such-host.invalid/", None).unwrap_err();
        assert_eq!(error.kind(), FailureKind::Unreachable);
    }
}
