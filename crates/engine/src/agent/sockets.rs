//! Who listens where, as the kernel lists it below `/proc/net`.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use steelyard_wire::listening::Transport;

/// State of a TCP socket that listens, and of a UDP socket that is bound to no peer.
const TCP_LISTEN: &str = "0A";
const UDP_UNCONNECTED: &str = "07";
/// Flag of a unix socket that takes connections (`__SO_ACCEPTCON`).
const ACCEPTS: u32 = 1 << 16;
const UNIX_STREAM: &str = "0001";
const UNIX_DATAGRAM: &str = "0002";

/// Where somebody is to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    Port {
        address: Option<IpAddr>,
        port: u16,
        transport: Transport,
    },
    Unix {
        path: String,
        transport: Transport,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix { path, .. } => write!(f, "the unix socket {path}"),
            Self::Port {
                address,
                port,
                transport,
            } => {
                let word = match transport {
                    Transport::Tcp => "TCP",
                    Transport::Udp => "UDP",
                };
                match address {
                    Some(address) => write!(f, "{word} {}", SocketAddr::new(*address, *port)),
                    None => write!(f, "{word} port {port}"),
                }
            }
        }
    }
}

/// Whether somebody listens at a place, and who else is close to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Somebody does.
    Yes,
    /// No one does; these listen on the same port or path, elsewhere or otherwise.
    No(Vec<String>),
}

/// Looks once; `root` stands for `/`.
pub(super) fn look(root: &Path, place: &Place) -> io::Result<Found> {
    match place {
        Place::Port {
            address,
            port,
            transport,
        } => look_at_port(root, *address, *port, *transport),
        Place::Unix { path, transport } => {
            let table = std::fs::read_to_string(root.join("proc/net/unix"))?;
            Ok(look_at_unix(&table, path, *transport))
        }
    }
}

fn look_at_port(
    root: &Path,
    wanted: Option<IpAddr>,
    port: u16,
    transport: Transport,
) -> io::Result<Found> {
    let (tables, state) = match transport {
        Transport::Tcp => (["proc/net/tcp", "proc/net/tcp6"], TCP_LISTEN),
        Transport::Udp => (["proc/net/udp", "proc/net/udp6"], UDP_UNCONNECTED),
    };
    let mut there = bound(&std::fs::read_to_string(root.join(tables[0]))?, state);
    // A kernel without IPv6 has no such file.
    if let Ok(table) = std::fs::read_to_string(root.join(tables[1])) {
        there.extend(bound(&table, state));
    }
    there.retain(|address| address.port() == port);
    let six_only = std::fs::read_to_string(root.join("proc/sys/net/ipv6/bindv6only"));
    let six_only = six_only.is_ok_and(|value| value.trim() == "1");
    if there.iter().any(|own| serves(own.ip(), wanted, six_only)) {
        return Ok(Found::Yes);
    }
    Ok(Found::No(there.iter().map(ToString::to_string).collect()))
}

/// Whether a socket bound to `own` is reached under `wanted`.
fn serves(own: IpAddr, wanted: Option<IpAddr>, six_only: bool) -> bool {
    let Some(wanted) = wanted else {
        return true;
    };
    own == wanted
        || (own.is_unspecified() && (own.is_ipv4() == wanted.is_ipv4()))
        || (own.is_unspecified() && own.is_ipv6() && !six_only)
}

/// Local addresses of sockets in `state`: `0: 0100007F:0019 00000000:0000 0A ...`
fn bound(table: &str, state: &str) -> Vec<SocketAddr> {
    let of_line = |line: &str| {
        let mut parts = line.split_ascii_whitespace().skip(1);
        let local = parts.next()?;
        (parts.nth(1)? == state).then(|| address(local)).flatten()
    };
    table.lines().skip(1).filter_map(of_line).collect()
}

/// Hexadecimal words as they lie in memory, then the port: `0100007F:0019`.
fn address(text: &str) -> Option<SocketAddr> {
    let (words, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let bytes: Vec<u8> = (0..words.len())
        .step_by(8)
        .map(|at| u32::from_str_radix(words.get(at..at + 8)?, 16).ok())
        .collect::<Option<Vec<u32>>>()?
        .into_iter()
        .flat_map(u32::to_ne_bytes)
        .collect();
    let ip = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => IpAddr::V4(Ipv4Addr::from(four)),
        Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?)),
    };
    Some(SocketAddr::new(ip.to_canonical(), port))
}

/// `0000000000000000: 00000002 00000000 00010000 0001 01 19427 /run/socket`
fn look_at_unix(table: &str, path: &str, transport: Transport) -> Found {
    let mut near = Vec::new();
    for line in table.lines().skip(1) {
        let Some((flags, kind)) = unix_socket(line, path) else {
            continue;
        };
        let accepts = u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & ACCEPTS != 0);
        match (transport, kind, accepts) {
            (Transport::Tcp, UNIX_STREAM, true) | (Transport::Udp, UNIX_DATAGRAM, _) => {
                return Found::Yes;
            }
            (_, UNIX_STREAM, true) => near.push("one that takes connections".to_owned()),
            (_, UNIX_STREAM, false) => near.push("one that takes no connections".to_owned()),
            (_, UNIX_DATAGRAM, _) => near.push("one for datagrams".to_owned()),
            _ => near.push("one of another type".to_owned()),
        }
    }
    near.sort();
    near.dedup();
    Found::No(near)
}

/// Flags and type of the socket on this line, if it is the one at `path`, which may hold blanks.
fn unix_socket<'a>(line: &'a str, path: &str) -> Option<(&'a str, &'a str)> {
    let mut rest = line;
    let mut columns = [""; 7];
    for column in &mut columns {
        (*column, rest) = rest.trim_start().split_once(' ')?;
    }
    (rest == path).then_some((columns[3], columns[4]))
}

#[cfg(test)]
#[path = "sockets_tests.rs"]
mod tests;
