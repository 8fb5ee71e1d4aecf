//! Where the load goes: a URL, taken apart and resolved.

use std::net::{SocketAddr, ToSocketAddrs};

use crate::error::LoadError;

/// A target that has an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As asked for.
    pub url: String,
    /// `http` or `smtp`.
    pub scheme: String,
    /// Host and port as they stand in the URL, for a `Host` header.
    pub authority: String,
    /// Path and query, at least `/`.
    pub path: String,
    /// The first address of the host.
    pub address: SocketAddr,
}

/// Schemes that will come; they get a better answer than "unknown".
const LATER: &[&str] = &[
    "https", "smtps", "lmtp", "pop3", "pop3s", "imap", "imaps", "tcp", "udp",
];

const WANTED: &str = "write http://HOST:PORT/PATH or smtp://HOST:PORT";

impl Target {
    /// Takes `url` apart and resolves its host.
    pub fn resolve(url: &str) -> Result<Self, LoadError> {
        let parts = Parts::of(url)?;
        let mut addresses = (parts.host, parts.port)
            .to_socket_addrs()
            .map_err(|error| unresolved(parts.host, &error.to_string()))?;
        let address = addresses
            .next()
            .ok_or_else(|| unresolved(parts.host, "it has no address"))?;
        Ok(Self {
            url: url.to_owned(),
            scheme: parts.scheme.to_owned(),
            authority: parts.authority.to_owned(),
            path: parts.path,
            address,
        })
    }
}

struct Parts<'a> {
    scheme: &'a str,
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
        let default_port = default_port(scheme)?;
        let rest = rest.split('#').next().unwrap_or_default();
        let cut = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(cut);
        let (host, port) = host_and_port(authority, default_port).ok_or_else(|| {
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
            authority,
            host,
            port,
            path,
        })
    }
}

fn default_port(scheme: &str) -> Result<u16, LoadError> {
    match scheme {
        "http" => Ok(80),
        "smtp" => Ok(25),
        "ftp" => Ok(21),
        "ftps" => Ok(990),
        // No port is theirs: the target must name one.
        "rr+tcp" | "rr+udp" | "stream+tcp" | "stream+udp" => Ok(0),
        _ if LATER.contains(&scheme) => Err(LoadError::bad_job(
            format!("{scheme}:// is not spoken yet"),
            "this version speaks http:// and smtp://",
        )),
        _ => Err(LoadError::bad_job(
            format!("unknown scheme {scheme:?}"),
            WANTED,
        )),
    }
}

fn host_and_port(authority: &str, default_port: u16) -> Option<(&str, u16)> {
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
        "" => default_port,
        digits => digits.parse().ok()?,
    };
    (!host.is_empty() && port > 0).then_some((host, port))
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

    #[test]
    fn a_target_is_taken_apart_into_address_and_path() {
        let target = Target::resolve("http://127.0.0.1:8080/a?b=1#top").unwrap();
        assert_eq!(target.address, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(target.path, "/a?b=1");
        assert_eq!(target.authority, "127.0.0.1:8080");
    }

    #[test]
    fn ports_have_the_default_of_their_scheme() {
        assert_eq!(
            Target::resolve("smtp://127.0.0.1").unwrap().address.port(),
            25
        );
        assert_eq!(
            Target::resolve("http://[::1]").unwrap().address,
            "[::1]:80".parse().unwrap()
        );
        assert_eq!(
            Target::resolve("http://[::1]:81/").unwrap().address,
            "[::1]:81".parse().unwrap()
        );
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
            let error = Target::resolve(url).unwrap_err();
            assert_eq!(error.kind(), FailureKind::BadRequest, "{url}");
            assert!(error.hint().is_some(), "{url}");
        }
    }

    #[test]
    fn https_is_refused_as_not_yet_spoken() {
        let error = Target::resolve("https://127.0.0.1/").unwrap_err();
        assert_eq!(error.to_string(), "https:// is not spoken yet");
    }

    #[test]
    fn a_host_without_an_address_is_unreachable() {
        let error = Target::resolve("http://no-such-host.invalid/").unwrap_err();
        assert_eq!(error.kind(), FailureKind::Unreachable);
    }
}
