//! Non-blocking TCP sockets: listen, accept, connect.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, accept_with, bind, connect, getsockname, listen,
    socket_with, sockopt,
};

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

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

/// Starts a connection, with `TCP_NODELAY`; `true` when it is there at once.
///
/// Otherwise it is there, or has failed, when the socket becomes writable: ask [`connect_error`].
pub fn start_connect(address: SocketAddr) -> Result<(OwnedFd, bool)> {
    let fd = socket_with(family(address), SocketType::STREAM, FLAGS, None)?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    match connect(&fd, &address) {
        Ok(()) => Ok((fd, true)),
        Err(Errno::INPROGRESS) => Ok((fd, false)),
        Err(error) => Err(error),
    }
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
        let (client, _) = start_connect(local_address(&listener).unwrap()).unwrap();
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
    fn a_connection_to_a_closed_port_says_refused() {
        let listener = listen_on("127.0.0.1:0".parse().unwrap(), 16, false).unwrap();
        let address = local_address(&listener).unwrap();
        drop(listener);
        let refused = match start_connect(address) {
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
