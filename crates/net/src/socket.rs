//! Non-blocking stream sockets: listen, accept, connect.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, Shutdown, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect,
    getsockname, listen, shutdown, socket_with, sockopt,
};

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// Where a stream socket connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Over IP.
    Inet(SocketAddr),
    /// Over IP, without connections: datagrams of a socket that knows one peer.
    Datagram(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inet(address) | Self::Datagram(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Inet(address)
    }
}

/// A listening socket. `shared` sets `SO_REUSEPORT`, one listener for each worker.
pub fn listen_on(address: SocketAddr, backlog: i32, shared: bool) -> Result<OwnedFd> {
    let fd = socket_with(family(address), SocketType::STREAM, FLAGS, None)?;
    sockopt::set_socket_reuseaddr(&fd, true)?;
    if shared {
        sockopt::set_socket_reuseport(&fd, true)?;
    }
    bind(&fd, &address)?;
    listen(&fd, backlog)?;
    Ok(fd)
}

/// The address a socket is bound to (its port after asking for port 0).
pub fn local_address(fd: impl AsFd) -> Result<SocketAddr> {
    SocketAddr::try_from(getsockname(fd)?).map_err(|_| Errno::AFNOSUPPORT)
}

/// The next waiting connection, with `TCP_NODELAY`; `None` when none waits.
pub fn accept_one(listener: impl AsFd) -> Result<Option<OwnedFd>> {
    match accept_with(listener, FLAGS) {
        Ok(fd) => {
            match sockopt::set_tcp_nodelay(&fd, true) {
                // A unix socket delays nothing.
                Ok(()) | Err(Errno::OPNOTSUPP) => Ok(Some(fd)),
                Err(error) => Err(error),
            }
        }
        Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Starts a connection, with `TCP_NODELAY`, from `source` if given; `true` when it is there at
/// once.
///
/// Over the loopback interface, or to another name space of this machine, the handshake is over
/// when `connect` returns, which says `EINPROGRESS` all the same: asking again tells, at a
/// hundredth of the price of waiting for an event. Otherwise the connection is there, or has
/// failed, when the socket becomes writable: ask [`connect_error`].
/// With `source` only the address is bound; the port is chosen at the connect, so that a port
/// may serve several destinations.
pub fn start_connect(address: &Address, source: Option<IpAddr>) -> Result<(OwnedFd, bool)> {
    let fd = match address {
        Address::Datagram(peer) => {
            return crate::datagram::open_to(*peer, source).map(|fd| (fd, true));
        }
        Address::Inet(address) => socket_with(family(*address), SocketType::STREAM, FLAGS, None)?,
        Address::Unix(_) => socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?,
    };
    let connected = match address {
        Address::Inet(address) => {
            sockopt::set_tcp_nodelay(&fd, true)?;
            if let Some(source) = source {
                bind_without_port(&fd, source)?;
            }
            connect_eagerly(&fd, *address)
        }
        Address::Unix(path) => connect(&fd, &SocketAddrUnix::new(path)?),
        Address::Datagram(_) => Ok(()),
    };
    match connected {
        Ok(()) => Ok((fd, true)),
        Err(Errno::INPROGRESS) => Ok((fd, false)),
        Err(error) => Err(error),
    }
}

fn connect_eagerly(fd: &OwnedFd, address: SocketAddr) -> Result<()> {
    match connect(fd, &address) {
        Err(Errno::INPROGRESS) => match connect(fd, &address) {
            Err(Errno::ALREADY) => Err(Errno::INPROGRESS),
            Err(Errno::ISCONN) => Ok(()),
            outcome => outcome,
        },
        outcome => outcome,
    }
}

/// Makes the close of `fd` a reset: what is unsent is thrown away, no `TIME_WAIT` remains.
pub fn reset_on_close(fd: impl AsFd) -> Result<()> {
    sockopt::set_socket_linger(fd, Some(Duration::ZERO))
}

/// Bounds what the kernel takes in before anybody reads it, so that the sender notices soon.
pub fn set_receive_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_recv_buffer_size(fd, bytes)
}

/// Bounds what the kernel takes for sending before the peer has it.
pub fn set_send_buffer(fd: impl AsFd, bytes: usize) -> Result<()> {
    sockopt::set_socket_send_buffer_size(fd, bytes)
}

/// Says that nothing more will be sent; what was sent is still delivered.
pub fn end_sending(fd: impl AsFd) -> Result<()> {
    shutdown(fd, Shutdown::Write)
}

fn bind_without_port(fd: &OwnedFd, source: IpAddr) -> Result<()> {
    let yes: libc::c_int = 1;
    // SAFETY: the option's value is an int that lives on this stack frame, with its own size.
    let refused = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const yes).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if refused != 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL));
    }
    bind(fd, &SocketAddr::new(source, 0))
}

/// Why a started connection failed, `None` if it did not.
pub fn connect_error(fd: impl AsFd) -> Result<Option<Errno>> {
    Ok(sockopt::socket_error(fd)?.err())
}

fn family(address: SocketAddr) -> AddressFamily {
    match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::poller::{Poller, READ_WRITE};

    #[test]
    fn a_connection_to_a_listener_becomes_writable_and_is_accepted() {
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = listen_on(any, 16, false).unwrap();
        let (client, _) = start_connect(&local_address(&listener).unwrap().into(), None).unwrap();
        let poller = Poller::new().unwrap();
        poller.add(&client, 7, READ_WRITE).unwrap();
        let mut events = Vec::with_capacity(8);
        poller
            .wait(&mut events, Some(Duration::from_secs(5)))
            .unwrap();
        assert_eq!(events[0].data.u64(), 7);
        assert_eq!(connect_error(&client).unwrap(), None);
        assert!(accept_one(&listener).unwrap().is_some());
        assert!(accept_one(&listener).unwrap().is_none());
    }

    #[test]
    fn a_connection_within_this_machine_is_there_at_once() {
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = listen_on(any, 16, false).unwrap();
        let address = local_address(&listener).unwrap();
        assert!(start_connect(&address.into(), None).unwrap().1);
    }

    #[test]
    fn a_connection_comes_from_the_source_that_was_asked_for() {
        let any = "127.0.0.1:0".parse().unwrap();
        let listener = listen_on(any, 16, false).unwrap();
        let address = local_address(&listener).unwrap().into();
        let source = "127.0.0.9".parse().unwrap();
        let (client, _) = start_connect(&address, Some(source)).unwrap();
        assert_eq!(local_address(&client).unwrap().ip(), source);
    }

    #[test]
    fn a_unix_socket_is_connected_to_by_its_path() {
        let folder = std::env::temp_dir().join(format!("steelyard-net-{}", std::process::id()));
        let listener = std::os::unix::net::UnixListener::bind(&folder).unwrap();
        let connected = start_connect(&Address::Unix(folder.clone()), None);
        std::fs::remove_file(&folder).unwrap();
        assert!(connected.unwrap().1);
        assert!(listener.accept().is_ok());
    }

    #[test]
    fn a_connection_to_a_closed_port_says_refused() {
        let listener = listen_on("127.0.0.1:0".parse().unwrap(), 16, false).unwrap();
        let address = local_address(&listener).unwrap();
        drop(listener);
        let refused = match start_connect(&address.into(), None) {
            Err(errno) => errno,
            Ok((client, _)) => {
                let poller = Poller::new().unwrap();
                poller.add(&client, 0, READ_WRITE).unwrap();
                let mut events = Vec::with_capacity(8);
                poller
                    .wait(&mut events, Some(Duration::from_secs(5)))
                    .unwrap();
                connect_error(&client).unwrap().unwrap()
            }
        };
        assert_eq!(refused, Errno::CONNREFUSED);
    }
}
